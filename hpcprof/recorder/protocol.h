/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher's message to the recorder, in one environment variable: "key=value" separated by newlines; in values,
 * bytes that are '%', ';', newline or not printable are written %XX.
 *
 *   dir=/absolute/path        where the file goes            papi=/path/libpapi.so   the PAPI of the launcher
 *   event=NAME;DESCRIPTION;UNIT;PERIOD;FREQUENCY;KIND;TYPE;CONFIG;CONFIG1;CONFIG2;FLAGS[;PAPI]
 *   phases=1  watch=1  warn=NS  notify=/path/of/a/pipe
 *   region=NAME  region_time=N
 *   sampler=ring|papi  multiplex=1  children=1  paths=1  delay=NS  duration=NS  only=GLOB  env=NAME,NAME  run=N
 *   paths_max=N               contexts that are kept with call paths: for tests
 */
#ifndef HPCPROF_RECORDER_PROTOCOL_H
#define HPCPROF_RECORDER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_VARIABLE   "HPCVIEW_RECORD"
#define RECORD_EVENTS_MAX 8

enum record_kind {
    RECORD_PERF,     /* by perf_event_open with type, config, ...: sampled through the ring */
    RECORD_PAPI,     /* by PAPI_overflow under its name */
    RECORD_CPUTIME,  /* a timer on the thread's CPU clock */
    RECORD_REALTIME, /* a timer on the wall clock */
};

struct record_event {
    char name[128], description[128], unit[16];
    uint64_t period;    /* counts per sample; for RECORD_PERF with frequency: the kernel's starting value is its own */
    uint64_t frequency; /* samples a second; 0: by period */
    uint32_t kind, type, flags;
    uint64_t config, config1, config2;
    char papi_name[32]; /* PAPI's name, if it differs */
};

static inline const char *record_papi_name(const struct record_event *e)
{
    return e->papi_name[0] ? e->papi_name : e->name;
}

/* The same numbers as enum hpcprof_event_flags. */
enum { RECORD_FLAG_FREQUENCY = 1, RECORD_FLAG_ESTIMATED = 2, RECORD_FLAG_LOST = 4 };

/* AddressSanitizer's runtime insists on being the first library: the number of bytes of an LD_PRELOAD list that stay
   before the recorder. */
static inline size_t record_preload_front(const char *list)
{
    size_t n = strcspn(list, ": ");
    const char *name = strstr(list, "libasan.so");
    if (!name)
        name = strstr(list, "libclang_rt.asan");
    return name && name < list + n ? n : 0;
}

/* Static programs that were linked with libhpcview-record.a carry a note (ELF PT_NOTE) of this owner and type. */
#define RECORD_NOTE_OWNER "hpcview"
#define RECORD_NOTE_TYPE  1

#endif
