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
 *   ranks=0,7,1000-1007       or "sample N": no others    write=NS                 between two writes
 *   paths_max=N               contexts that are kept with call paths: for tests
 */
#ifndef HPCPROF_RECORDER_PROTOCOL_H
#define HPCPROF_RECORDER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define RECORD_VARIABLE    "HPCVIEW_RECORD"
#define RECORD_EVENTS_MAX  8
#define RECORD_RANKS_BYTES 4096 /* of "ranks" */

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

/* ---- the parallel program that a process is of, as its launcher tells in variables ------------------------------- */

static inline int record_number_in(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(names[i]);
        if (value && *value >= '0' && *value <= '9')
            return (int)strtol(value, NULL, 10);
    }
    return -1;
}

/* Open MPI, PMIx, MPICH and Intel MPI (PMI), MVAPICH2, Slurm, PALS, Flux; -1: none. */
static inline int record_rank(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_RANK",   "PMIX_RANK",   "PMI_RANK",      "PMI_ID", "MV2_COMM_WORLD_RANK",
        "MPI_LOCALRANKID_GLOBAL", "PALS_RANKID", "FLUX_TASK_RANK"};
    int rank = record_number_in(names, sizeof names / sizeof *names);
    /* Slurm sets it for every job step, also for a batch script, which has one task. */
    const char *slurm = getenv("SLURM_PROCID"), *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return rank >= 0 ? rank : slurm && tasks && strtol(tasks, NULL, 10) > 1 ? (int)strtol(slurm, NULL, 10) : -1;
}

/* -1: not known. */
static inline int record_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    return record_number_in(names, sizeof names / sizeof *names);
}

/* MPICH's launcher has the same port on all nodes, in the command line of its proxy, an ancestor of the rank. `slurp` reads
   a small file. */
static inline void record_hydra(char *to, size_t size, ssize_t (*slurp)(const char *, char *, size_t))
{
    static const char option[] = "--control-port";
    char path[64], text[2048], digits[16];
    long pid = getppid();
    for (int up = 0; up < 32 && pid > 1; up++) {
        char *end = digits + sizeof digits - 1;
        *end = '\0';
        for (long n = pid; n > 0; n /= 10)
            *--end = (char)('0' + n % 10);
        strcat(strcat(strcpy(path, "/proc/"), end), "/cmdline");
        ssize_t n = slurp(path, text, sizeof text);
        for (const char *at = text; n > 0 && at < text + n; at += strlen(at) + 1)
            if (strcmp(at, option) == 0 && at + sizeof option < text + n) {
                strncat(to, at + sizeof option, size - strlen(to) - 1);
                return;
            }
        strcat(strcat(strcpy(path, "/proc/"), end), "/stat");
        const char *behind = slurp(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
        pid = behind && strlen(behind) > 4 ? strtol(behind + 4, NULL, 10) : 0;
    }
}

/* What is the same in all ranks of one start of a program, and in no other; "": not known. */
static inline void record_job(char *to, size_t size, ssize_t (*slurp)(const char *, char *, size_t))
{
    static const char *const names[] = {"OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE", "SLURM_JOB_ID",
                                        "PALS_APID", "FLUX_JOB_ID"};
    *to = '\0';
    for (size_t i = 0; !*to && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]), *step = i == 2 ? getenv("SLURM_STEP_ID") : NULL;
        if (!value || (i == 2 && !step))
            continue;
        strncat(to, value, size / 2);
        to[strcspn(to, "@")] = '\0'; /* behind it, PMIx numbers what a program spawns */
        if (step)
            strncat(strcat(to, "."), step, size / 4);
    }
    if (!*to && (getenv("PMI_FD") || getenv("PMI_PORT")))
        record_hydra(to, size, slurp);
}

/* Static programs that were linked with libhpcview-record.a carry a note (ELF PT_NOTE) of this owner and type. */
#define RECORD_NOTE_OWNER "hpcview"
#define RECORD_NOTE_TYPE  1

#endif
