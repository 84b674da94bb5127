/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcprof - measurements: recording them, their file, reading them back.
 *
 * Knows:    PAPI, the preload library, the measurement file (doc/formats/measurement.md).
 * Does not: structure, source, metrics, pages.
 *
 * Usual life, reading:   hpcprof_read (a file or a directory) -> look at the tables -> hpcprof_free
 * Usual life, recording: hpcprof_record (runs the program, returns its status)
 *
 * Memory:   struct hpcprof owns all its tables and strings until hpcprof_free.
 * Errors:   a file cut short gives all complete blocks before the cut, and a warning;
 *           a block whose checksum fails is never used.
 * Threads:  after reading, read-only and shareable.
 */
#ifndef HPCPROF_H
#define HPCPROF_H

#include "support/support.h"

/* ---- what was measured ---------------------------------------------------------- */

enum hpcprof_event_flags {
    HPCPROF_FREQUENCY = 1, /* asked for as samples a second; period is then the mean one */
    HPCPROF_ESTIMATED = 2, /* multiplexed: scaled up from part of the time */
    HPCPROF_LOST = 4,      /* counts samples the kernel lost or throttled, not a cost in the program */
};

struct hpcprof_event {
    str_id name;        /* as given: "PAPI_TOT_CYC", "perf::TASK-CLOCK", "CPUTIME" */
    str_id description; /* PAPI's description, or "" */
    str_id unit;        /* "cycles", "ns", "us", "faults", ..., or "" */
    uint64_t period;    /* counts per sample; 0: counts are exact, not sampled */
    unsigned flags;
};

struct hpcprof_module {
    str_id path;     /* as loaded; "[vdso]", "[anonymous]", "[kernel]" for code without a file; "" never */
    str_id build_id; /* lower-case hex, or "" */
};

/* One place in the code, and with call paths the call it was called by: a place inside of a call instruction. */
#define HPCPROF_NO_PARENT UINT32_MAX
struct hpcprof_context {
    uint32_t parent; /* index of an earlier context, or HPCPROF_NO_PARENT */
    uint32_t module; /* index into modules */
    uint64_t
        address; /* link-time virtual address in the module; meaningless where `line` or `procedure` is given instead */
    str_id procedure, file; /* only from imports that know no addresses; else "" */
    str_id procedure_file; /* where the procedure is, if that is known and not `file` (a line inlined from elsewhere) */
    uint32_t line;
    bool by_line; /* placed by (procedure, file, line), not by address */
};

/* One process; measurements of a run have one per process (rank). */
struct hpcprof_process {
    str_id source_file; /* the file this was read from, its last component */
    str_id host, command, working_dir, machine /* CPU model */, kernel, sampler;
    uint64_t start_ns, end_ns; /* UNIX time; 0: unknown */
    uint32_t pid, parent_pid;
    int32_t rank;                        /* -1: none */
    int32_t exit_status;                 /* as by wait(2); -1: unknown (still running, or killed without a launcher) */
    uint32_t first_thread, thread_count; /* into threads */
    bool complete;                       /* the process itself wrote its end; else its last moments are missing */
};

struct hpcprof_thread {
    uint32_t process;
    uint32_t number; /* 0 is the main thread; in order of creation */
    str_id name;
    uint64_t start_ns, end_ns, cpu_ns; /* 0: unknown */
};

/* The event's exact total in one thread, read from the counter at its end; the sampled estimate is the sum over
   counts. For events with HPCPROF_LOST: how many of its samples were lost. */
struct hpcprof_total {
    uint32_t thread, event;
    uint64_t value;
};

/* Counts: sorted by thread, context, event, region; no (thread, context, event, region) twice. Sum over regions if
   they do not matter. */
struct hpcprof_count {
    uint32_t thread, context, event;
    uint32_t region;  /* the innermost one the thread was in; 0: none */
    uint64_t samples; /* 0 for events that are not sampled */
    uint64_t value;   /* in the event's unit: samples x period, or the sum of periods */
};

/* A named region of the program (hpcview.h). Row 0 stands for "in no region" and has the name "". */
struct hpcprof_region {
    str_id name;
    uint32_t parent; /* the region around it, an earlier row; 0: none */
};

/* Other properties of a process: caches, clock, noted environment variables ("env:NAME"), and gaps in the
   measurement ("missing", a sentence). */
struct hpcprof_note {
    uint32_t process;
    str_id name, value;
};

struct hpcprof {
    struct strtab *strings;
    struct hpcprof_event *events;
    struct hpcprof_module *modules;
    struct hpcprof_context *contexts;
    struct hpcprof_process *processes;
    struct hpcprof_thread *threads;
    struct hpcprof_total *totals;
    struct hpcprof_count *counts;
    struct hpcprof_region *regions; /* at least row 0 */
    struct hpcprof_note *notes;
    size_t event_count, module_count, context_count, process_count, thread_count, total_count, count_count,
        region_count, note_count;
    size_t rows_read; /* counts before those of threads were added up; 0: they were not */
    uint32_t
        processes_before; /* how many processes are of files that ranks before this one have read; see hpcprof_reading */
    struct table_list tables; /* tables of other folders: evictors, episodes, ...; their texts are in strings */
};

#define HPCPROF_VERSION 1
#define HPCPROF_SUFFIX  ".hpcprof"

/* `path`: a measurement file, or a directory with any number of them (other files there are passed over). Equal events
   and modules of several processes are one row. */
int hpcprof_read(const char *path, struct hpcprof **, struct warnings *, struct err *);
/* The same from bytes in memory, `name` being what messages call them. */
int hpcprof_read_bytes(const void *bytes, size_t len, const char *name, struct hpcprof **, struct warnings *,
                       struct err *);
/* The same with overrides, for many files: they are read a few at a time, on several threads, and dropped. */
struct hpcprof_reading {
    unsigned threads; /* 0: all processors */
    bool summed;      /* counts of threads are added up: counts[].thread is 0 in every row */
    /* May add tables to each file's own measurement, which still knows its threads; files in any order, on several threads;
       may be NULL. */
    void (*prepare)(struct hpcprof *);
    /* Sees each file's own measurement, in the order of the files, before it becomes part of the whole; may be NULL. */
    void (*each)(void *ctx, const struct hpcprof *);
    void *ctx;
    const struct progress *progress; /* may be NULL */
    /* Each rank reads its part of a folder's files, and `each` sees those; the whole is the same at all ranks. A file by
       itself is read by all, and seen by the first. May be NULL. */
    const struct ranks *ranks;
};
/* The rank of the first process of a file; -1: it has none, or the file cannot be read. */
int32_t hpcprof_rank_in(const char *path);
/* The measurement goes to *out; with out NULL only `each` is called, and ranks do not wait for each other. */
int hpcprof_read_as(const char *path, const struct hpcprof_reading *, struct hpcprof **, struct warnings *,
                    struct err *);
/* Adds all of one measurement to another. Errors: a table of the same name and another shape. */
int hpcprof_add_all(struct hpcprof *into, const struct hpcprof *from, bool summed, struct err *);
/* Frees contexts and counts when they are no longer needed; the rest stays. Nothing can be added afterwards. */
void hpcprof_drop_counts(struct hpcprof *);
/* Frees the counts from number `kept` on, for callers that process them from the end. */
void hpcprof_drop_counts_from(struct hpcprof *, size_t kept);
/* The files of several folders (NULL-terminated) of one parallel program, copied into a new folder. Errors: folders of two
   starts of a program, or one given twice. */
int hpcprof_gather(const char *const *dirs, const char *out, struct warnings *, struct err *);
void hpcprof_free(struct hpcprof *);
/* Writes `p` as one measurement file (with all its processes), for imports and merges. */
int hpcprof_write(const struct hpcprof *p, struct outfile *, struct err *);
/* Adds the tables of `p`, which refer to nothing, to the file of a process that has ended. Errors: it has not. */
int hpcprof_add_tables(const char *path, const struct hpcprof *p, struct err *);
/* Whether the bytes begin like a measurement file (of any version). */
bool hpcprof_sniff(const void *bytes, size_t len);
/* A fresh, empty measurement for imports to fill through the hpcprof_add_* functions; each returns the row's index, an
   equal row's if there is one. */
struct hpcprof *hpcprof_create(void);
uint32_t hpcprof_add_event(struct hpcprof *, const struct hpcprof_event *);
uint32_t hpcprof_add_module(struct hpcprof *, const char *path, const char *build_id);
uint32_t hpcprof_add_context(struct hpcprof *, const struct hpcprof_context *);
/* The same for a file known not to be a measurement, which saves the search. */
uint32_t hpcprof_append_context(struct hpcprof *, const struct hpcprof_context *);
uint32_t hpcprof_add_process(struct hpcprof *, const struct hpcprof_process *); /* never shared */
uint32_t hpcprof_add_thread(struct hpcprof *, const struct hpcprof_thread *);   /* never shared; of the last process */
uint32_t hpcprof_add_region(struct hpcprof *, const char *name, uint32_t parent);
void hpcprof_add_count(struct hpcprof *, const struct hpcprof_count *); /* adds to an equal one */
/* Takes `count` rows, in memory of mem_alloc; the measurement has none yet. */
void hpcprof_take_counts(struct hpcprof *, struct hpcprof_count *rows, size_t count);
/* Reserves space for so many more at once, if their number is known. */
void hpcprof_reserve_counts(struct hpcprof *, size_t more);
void hpcprof_add_total(struct hpcprof *, const struct hpcprof_total *); /* replaces an equal one */
void hpcprof_add_note(struct hpcprof *, const struct hpcprof_note *);   /* of the last process */
/* The samples of an event in threads whose exact total is known, and that total: these can be compared. */
struct hpcprof_share {
    uint64_t sampled, counted;
};
struct hpcprof_share *hpcprof_shares(const struct hpcprof *); /* by event; the caller's to mem_free */
/* A warning for each event of which more than chance explains was counted and not sampled; hpcprof_read gives them. */
void hpcprof_warn_unsampled(const struct hpcprof *, struct warnings *);

/* Whether there are call paths; and why the path that ends in this context, which has no parent, does not begin with
   the thread's first function: a text, or NULL if it does. */
bool hpcprof_has_paths(const struct hpcprof *);
/* What a run consists of. With ranks, processes without one (mpirun) are launchers and no part of it; a rank is its number,
   of one process or of several (a shell, numactl, the program). */
struct hpcprof_parts {
    uint32_t ranks; /* different numbers; 0: no process has one */
    uint32_t processes, threads;
};
/* What all ranks of one start of a parallel program have in common, as the first process with such a note has it; "": none. */
const char *hpcprof_job(const struct hpcprof *);
/* Larger numbers of ranks are those of damaged files: no array is made for so many. */
#define HPCPROF_RANKS_MOST (1 << 24)
/* "0-3, 7" of the ranks that are `in`, cut if it is long; gives how many they are. */
size_t hpcprof_ranges(const bool *in, size_t ranks, struct buf *);
struct hpcprof_parts hpcprof_parts(const struct hpcprof_process *, size_t count);
const char *hpcprof_cut_reason(const struct hpcprof *, uint32_t context);
/* Brings counts, totals and notes into their order; call it once after the last hpcprof_add_*. */
void hpcprof_finish(struct hpcprof *);

/* The contents of a file, block by block, for `hpcview info`; unused bytes are the last one, with `why_not`. */
struct hpcprof_block {
    const char *type; /* "counts", "threads", ... */
    uint64_t offset, length;
    const char *why_not; /* NULL: sound */
};
int hpcprof_list_blocks(const void *bytes, size_t len, const char *name,
                        void (*each)(void *ctx, const struct hpcprof_block *), void *ctx, struct err *);

/* ---- recording -------------------------------------------------------------------- */

enum hpcprof_repeat {                    /* the program, once for each group of events that fit together */
                      HPCPROF_ONCE,      /* events that do not fit are an error */
                      HPCPROF_AS_NEEDED, /* and it is reported */
                      HPCPROF_REPEAT
};

struct hpcprof_record_options {
    const char *out_dir;                   /* made where missing */
    const char *const *events;             /* "EVENT[@PERIOD|@fN]", NULL-terminated; NULL or empty: the default event */
    const char *preload;                   /* path of libhpcview-record.so */
    const char *sampler;                   /* "papi", "ring" or NULL for the default */
    bool call_paths;                       /* the call path of each sample */
    bool phases;                           /* barriers and waits: preload is libhpcview-record-phases.so */
    bool watch;                            /* report every episode of a barrier, else only those of */
    unsigned warn_ms;                      /* so long a barrier time; 0: none */
    void (*notice)(void *ctx, char *line); /* hpcprof/recorder/barriers/notify.c has its format; NULL: do not report */
    void *notice_ctx;
    bool multiplex, follow_children;
    enum hpcprof_repeat repeat;
    unsigned counters;                 /* as if no more events than that fitted together; 0: as many as do */
    double delay, duration;            /* seconds; 0: none */
    const char *region;                /* nothing is measured outside of it; NULL: everywhere */
    unsigned region_time;              /* but in the first, second, ... time; 0: each time */
    const char *only_processes;        /* glob on the program's base name; NULL: all */
    const char *ranks;                 /* of a parallel program: "0,7,1000-1007", "sample 16"; NULL: all */
    double write_interval;             /* seconds between writes; 0: half a second, longer for many ranks */
    void (*say)(const char *sentence); /* messages for the user while the program runs; NULL: none */
    const char *const *environment;    /* names of variables to note; NULL-terminated or NULL */
    /* When the program has ended: its measurement (a folder; one file if other ranks share the folder), and a file
       of it that nobody writes any more; NULL: no call. */
    void (*ended)(const char *measured, const char *file);
};

/* This process's rank in a parallel program, by its launcher's variables, and the number of ranks; -1: none, not known. */
int hpcprof_own_rank(void);
int hpcprof_own_ranks(void);
/* Whether ranks of another start of a program have measured into the folder. False if that is not known. */
bool hpcprof_has_other_job(const char *dir);

/* Runs argv (NULL-terminated) recorded, waits, and gives its wait(2) status in *status. Errors: the program or the
   events cannot be used at all; found before anything is started. */
int hpcprof_record(const struct hpcprof_record_options *, char *const *argv, int *status, struct warnings *,
                   struct err *);

/* The kernel's setting perf_event_paranoid; 99: it has no perf events. */
int hpcprof_perf_event_paranoid(void);
/* The events that can be sampled here: name, description, default period, and samplers, or why it cannot be used
   (NULL: it can). */
enum hpcprof_ways { HPCPROF_BY_RING = 1, HPCPROF_BY_PAPI = 2, HPCPROF_BY_TIMER = 4 };
struct hpcprof_event_info {
    const char *name, *description, *unit, *why_not;
    uint64_t default_period;
    unsigned ways;
};
int hpcprof_list_events(bool all, const char *pattern, void (*each)(void *ctx, const struct hpcprof_event_info *),
                        void *ctx, struct err *);

#endif
