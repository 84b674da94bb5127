/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * driver - the hpcview command: options, help, terminal output, exit status.
 *
 * Knows:    which folder does what, and what the user typed. Does not: how anything is done.
 *
 * To add a command: one file cmd_x.c with its `const struct command command_x`, a line in main.c's table and in local.mk,
 * doc/man/hpcview-x.1. tests/driver/manual.sh notices what was forgotten.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "support/support.h"

/* ---- options: rows of a table; help, manual check and parsing all use the rows ---- */

enum option_type {
    OPT_FLAG,    /* bool *: set true */
    OPT_STRING,  /* const char ** */
    OPT_LIST,    /* struct string_list *: may be given several times */
    OPT_COUNT,   /* unsigned *: a whole number, 0 or more */
    OPT_SECONDS, /* double *: 0 or more */
    OPT_OTHERS   /* an option of other tools that users type: refused, and the help is what to do instead */
};

struct string_list VEC(const char *);
/* The list as a NULL-terminated array, lent until the list changes. */
const char *const *string_list_array(struct string_list *);
/* vec_release; the texts are lent. */
struct string_list string_list_copy(const struct string_list *);

struct option_row {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum option_type type;
    size_t at;       /* in the structure of the values */
    const char *arg; /* name of the argument in help; NULL for flags */
    const char *help;
};

/* Rows, the structure that holds their values, and the heading that --help prints above them. */
struct option_table {
    const struct option_row *rows; /* NULL ends the tables */
    void *values;
    const char *title;
};

struct quality_tools;
struct session {
    struct warnings *warnings;
    struct progress progress;
    struct err err;
    bool quiet;        /* report only errors */
    bool after_dashes; /* the operands stand after "--" */
    bool silent;       /* another rank prints the warnings */
};

struct command {
    const char *name;                   /* "build" */
    const char *synopsis;               /* "[options] CONFIG.xml | MEASUREMENTS..." */
    const char *summary;                /* one line, lower case, no full stop */
    const struct option_table *options; /* several, so that run can use record's rows too */
    bool stops_at_operand;              /* options end at the first operand, as for `record PROGRAM ARGS` */
    /* argv: the operands, NULL-terminated. Returns an exit status, or -1 with s->err filled. */
    int (*run)(struct session *s, int argc, char **argv);
};

extern const struct command command_run, command_record, command_simulate, command_events, command_structure,
    command_import, command_init, command_build, command_print, command_info, command_merge, command_open;
extern const struct command command_doctor, command_export, command_quality, command_diagnose, command_phases,
    command_compare;

/* `hpcview structure --format=hpcstruct`, which is `hpcview export hpcstruct` too. */
int structure_to_hpcstruct(struct session *, int argc, char **argv, const char *out);

/* Parses into the rows' places and leaves the operands in argv[0..*argc); -1 with a usage error. *help is set by --help. */
int options_parse(const struct command *, int *argc, char **argv, bool *help, struct err *);
void options_help(const struct command *);
void options_words(const struct command *); /* for shells: option, tab, help */

/* For what each rank of a program does: the first one prints warnings and where results are. */
bool session_speaks(struct session *);
/* Prints what has come together in s->warnings on standard error and empties nothing; each is printed once. */
void session_print_warnings(struct session *);

/* Prints a sentence on standard error. For campaign_user.report; ctx is not looked at. */
void driver_report(void *ctx, const char *sentence);

/* The ranks that do a command together (ranks.c); NULL: there is one. */
const struct ranks *driver_ranks_begin(void);
/* Has this process a part in it? Without MPI only the first rank has, and there is a warning. */
bool driver_ranks_begun(struct warnings *);
bool driver_ranks_speak(void); /* is this the one that says what all have to say? */
/* At a command's end: waits for the others. false: they do not come, because this one alone has failed. */
bool driver_ranks_end(bool failed);
void driver_ranks_abort(int status); /* ends all of them */

/* A library that goes into other programs: of the folder HPCVIEW_LIB; of the build tree; or the installed one,
   which may have been moved with all of hpcview. Caller frees. */
char *driver_library_path(const char *name);
/* The folder of machine files: HPCVIEW_MACHINES, the build tree's, or the installed one. Caller frees. */
char *driver_machines_dir(void);
/* llvm-mc and llvm-mca in the folders of PATH, both of the same version: without one in their names, or the latest. Lent
   until the end; NULL: they are not installed. */
const struct quality_tools *driver_llvm_tools(void);
/* Folders that are given for debug files, and that of debuginfod's client: DEBUGINFOD_CACHE_PATH, or where it puts it
   itself. vec_release; the texts are lent. */
struct string_list driver_debug_dirs(const struct string_list *given);
/* Data that is installed ("metrics" is the folder of metric blocks), found likewise; HPCVIEW_SHARE is its folder. Caller
   frees. */
char *driver_share_path(const char *name);
/* hpcview-NAME.measurements, with a number if it or a database of that name exists; ranks of one start of a program share
   it. Caller frees. */
char *driver_measurement_dir(const char *program);
/* A file that can be executed: ELF, or a script that names its interpreter. */
bool driver_is_program(const char *path);
/* An error if the operand is of another kind than the command reads, with what to do about it. */
int driver_check_measurement(const char *command, const char *path, struct err *);
bool driver_is_measurement(const char *path);
int driver_check_binary(const char *command, const char *path, struct err *);

#endif
