/* SPDX-License-Identifier: BSD-3-Clause */
/* Events by name: their meaning, samplers, and availability here. */
#ifndef HPCPROF_LAUNCH_EVENTS_H
#define HPCPROF_LAUNCH_EVENTS_H

#include "hpcprof/hpcprof.h"
#include "hpcprof/recorder/protocol.h"

/* "EVENT[@PERIOD|@fN]" into what the recorder needs. `papi`: PAPI takes the samples also if the ring could. Periods
   that would cost too much are raised, with a warning. */
int events_parse(const char *text, bool papi, bool multiplex, struct record_event *, struct warnings *, struct err *);
/* The default event: cycles if there is a counter, else the task clock; if the kernel permits neither, or PAPI is to
   take the samples and has neither, the CPUTIME timer, with a warning. */
const char *events_default(bool papi, struct warnings *);
/* 0 where the kernel lets us count it, else -1 with a sentence. */
int events_check(const struct record_event *, struct err *);
/* Whether the first n events can be counted at the same time: 1 or 0. */
int events_fit(const struct record_event *, size_t n);
/* The PAPI library this program runs with, for the recorder to open the same one; NULL: none. Lent. */
const char *events_papi_path(void);

#endif
