/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording programs, for `record`, `run`, and other commands that start programs. */
#ifndef DRIVER_RECORD_H
#define DRIVER_RECORD_H

#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

/* Values of record_rows. */
struct record_options {
    struct string_list events, environment, watch;
    const char *watch_file;
    unsigned warn;
    const char *sampler, *only, *region, *ranks;
    bool call_paths, no_call_paths, phases, multiplex, repeat, no_children;
    unsigned sample_ranks;
    double delay, duration, write_interval;
};
#define RECORD_DEFAULTS                                                                                                \
    {                                                                                                                  \
        .warn = 1000                                                                                                   \
    }
extern const struct option_row record_rows[];

struct record_request {
    const char *const *events;        /* "EVENT[@PERIOD]", "@BLOCK"; NULL: those of the options */
    const struct string_list *blocks; /* metric blocks in addition; NULL: none */
    bool no_call_paths;               /* unless the options ask for them */
};
/* Runs the program as the options and the request say, and gives its wait(2) status. */
int record_program(struct session *, const struct record_options *, const char *out_dir, const struct record_request *,
                   char **argv, int *wait_status, struct err *);
/* After record_program: prints what was measured, and adds warnings of what was not. false: nothing was, or another rank of
   the program has more to print. */
bool record_report(struct session *, const struct record_options *, const char *dir);
/* "NAME[@N]" of --region; NULL: none. The name is the caller's to mem_free. */
int record_region(const char *text, char **name, unsigned *time, struct err *);
/* The exit status to pass on: the program's own, or 128 + the signal that killed it. */
int record_exit_status(int wait_status);
/* For `warn` while a program runs: prints the sentence. */
void record_warn(const char *sentence);

#endif
