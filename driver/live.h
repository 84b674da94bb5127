/* Experiments on a running program, for `diagnose -- PROGRAM ARGS`. */
#ifndef DRIVER_LIVE_H
#define DRIVER_LIVE_H

#include "diagnose/diagnose.h"
#include "driver/driver.h"

struct live_options {
    const char *keep;       /* where the measurements go */
    unsigned experiments;   /* at most so many */
    double seconds;         /* none is begun after so long; 0: no limit */
    const char *region;     /* "NAME[@N]": all experiments measure there; NULL: everywhere */
    double delay, duration; /* seconds, of each; 0: none */
    struct diagnose_options diagnose;
};
/* NAME.experiments, with a number where that is there; the caller's to mem_free. */
char *live_folder(const char *program);
/* Runs the program again and again, each time asking for what the open hypotheses need, until nothing is left to ask or
   a limit is reached; what was found stays when a run fails. The experiment and the diagnosis are the caller's, also
   where *failed (not NULL: a sentence, mem_free) says what went wrong after the first. */
int live_diagnose(struct session *, const struct properties *, const struct live_options *, char **argv,
                  struct experiment **, struct diagnosis **, char **failed);

#endif
