/* The options of `hpcview record`, which `hpcview run` has too. */
#ifndef DRIVER_RECORD_OPTIONS_H
#define DRIVER_RECORD_OPTIONS_H

#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

extern const struct option_row record_option_rows[];
struct record_wish {
    const struct string_list *events; /* "EVENT[@PERIOD]", "@BLOCK"; NULL: those of the options */
    const struct string_list *blocks; /* metric blocks besides */
    bool no_call_paths;               /* where the options do not ask for them */
};
/* Runs the program as the options and the wish say, and gives its wait(2) status. */
int record_program(struct session *, const char *out_dir, const struct record_wish *, char **argv, int *wait_status);
/* "NAME[@N]" of --region, which the options keep; NULL: none. */
int record_region(const char *text, struct hpcprof_record_options *, struct err *);
/* The exit status to pass on: the program's own, or 128 + the signal that killed it. */
int record_exit_status(int wait_status);

#endif
