/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * campaign - programs that are measured several times: the runs that a configuration describes, and the experiments that a
 * diagnosis asks for.
 *
 * Knows:    the next measurement, and its requirements. Does not: print; options. Messages for the user go to
 * campaign_user.report while programs run.
 *
 * Errors:   -1 with a message; measurements made before a failure stay.
 */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include "diagnose/diagnose.h"
#include "metrics/metrics.h"

struct campaign_user {
    void *ctx;
    void (*report)(void *ctx, const char *sentence);
    struct warnings *warnings;
    const struct progress *progress;
};

/* ---- runs of a configuration -------------------------------------------------------------------- */

struct campaign_run {
    const char *out_dir;
    const char *const *events; /* NULL: the default ones */
    const char *only;          /* processes of such a name; NULL: all */
    bool no_call_paths, phases;
    char **argv;
};
struct campaign_runs_options {
    bool again; /* also those that are measured already */
    bool quiet; /* report only failures */
    /* Runs the program, and gives its wait(2) status. */
    int (*record)(void *ctx, const struct campaign_run *, int *wait_status, struct err *);
    void *ctx;
};
/* Measures the runs that have a command, are for this machine, and are not measured yet; failures are reported, and set
 *failed. Runs that are not measured in the end are left out of the configuration; -1: none is left. */
int campaign_measure(const struct campaign_user *, const struct campaign_runs_options *, struct config *, bool *failed,
                     struct err *);
/* Removes runs that are not measured yet; `planned`: only those that have a command. */
int campaign_leave_out(struct config *, bool planned, struct warnings *, struct err *);

/* ---- experiments for a diagnosis ------------------------------------------------------------------ */

struct campaign_experiments {
    const char *keep;       /* where the measurements go */
    unsigned experiments;   /* at most so many; 0: six */
    double seconds;         /* none is begun after so long; 0: no limit */
    const char *region;     /* all experiments measure there; NULL: everywhere */
    unsigned region_time;   /* which time it is entered; 0: every time */
    double delay, duration; /* seconds, of each; 0: none */
    struct diagnose_options diagnose;
    const char *recorder, *barrier_recorder, *simulator, *heap; /* libraries that go into the program */
    void (*warn)(const char *sentence);                         /* while it runs */
    /* Sets what the user has asked for of each experiment's configuration. */
    int (*configure)(void *ctx, struct config *, struct err *);
    void *ctx;
};
/* Runs the program again and again, each time measuring what the open hypotheses need, until nothing is left to measure or
   a limit is reached. The experiment and the diagnosis are the caller's, also where *failed (not NULL: a sentence, mem_free)
   is why an experiment after the first failed. */
int campaign_diagnose(const struct campaign_user *, const struct properties *, const struct campaign_experiments *,
                      char **argv, struct experiment **, struct diagnosis **, char **failed, struct err *);

#endif
