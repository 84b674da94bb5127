/*
 * What `build`, `print` and `init` have in common: operands and options that become a configuration.
 */
#ifndef DRIVER_WANTED_H
#define DRIVER_WANTED_H

#include "driver/driver.h"
#include "metrics/metrics.h"

/* Rows -m, -S, -I, --replace, --title, --debug-dir, -j: what a configuration file can say too. */
extern const struct option_row wanted_rows[];

/* The configuration of the operands (one CONFIG.xml, or measurements) and the options; `command` for messages. The
   options' strings are argv's; call once. */
int wanted_config(struct session *, const char *command, int argc, char **argv, struct config **);

/* Is it a configuration, by its content? */
bool wanted_is_configuration(const char *path);

/* What the options alone say, added to `config`. */
int wanted_options(struct session *, const char *command, struct config *);

/* A finished database as it is; fold: with recursion on its call paths folded. */
int wanted_database(struct session *, const char *path, bool fold, struct experiment **);

bool wanted_columns(void); /* do options make columns: metrics, blocks, statistics? */

/* The metric blocks that the options name, for those who record. */
const struct string_list *wanted_blocks(void);

/* ---- cmd_build.c, for run too ---- */

extern const struct option_row build_rows[]; /* -o, --single-file, --no-sources, --no-instructions, --anonymize */
const char *build_output(void);              /* what -o says; NULL: nothing */
bool build_single_file(void);
char *build_database_name(const char *operand); /* where -o says nothing; caller frees */
/* Builds the database at `path` and says on standard error where to open it. */
int build_database(struct session *, struct config *, const char *path);

#endif
