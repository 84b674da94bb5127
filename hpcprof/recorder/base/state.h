/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's state: the configuration, threads, the tables while they grow, the file. One process has one of it. */
#ifndef HPCPROF_RECORDER_BASE_STATE_H
#define HPCPROF_RECORDER_BASE_STATE_H

#include "hpcprof/recorder/base/base.h"

#include <stdatomic.h>

/* ---- configuration (config.c) -------------------------------------------------------------- */

struct event {
    struct record_event conf;
};

struct config {
    char dir[4096], only[256], ranks[RECORD_RANKS_BYTES], papi_library[1024], note_env[1024];
    struct event events[EVENTS_MAX];
    unsigned event_count;
    bool papi; /* --sampler papi */
    bool multiplex;
    bool children;     /* follow fork and exec */
    bool call_paths;   /* the call path of each sample */
    size_t paths_max;  /* contexts that are kept then; 0: as many as is usual */
    bool phases;       /* barriers and waits, in the library that has barriers/ */
    bool watch;        /* each episode of a barrier is reported, */
    uint64_t warn_ns;  /* or those whose barrier time is this or longer; 0: none */
    char notify[4096]; /* into this pipe */
    unsigned run;      /* of --repeat, from 1; 0: no repeating */
    uint64_t write_ns, delay_ns, duration_ns;
    char region[256];     /* nothing is measured outside of it; "": everywhere */
    unsigned region_time; /* but the first, second, ... time the process enters it; 0: each time */
};
/* Reads RECORD_VARIABLE; false: not there or not for us. */
bool hpcrec_config_read(struct config *, const char *text);

/* ---- threads ---------------------------------------------------------------------------- */

/* One row of the file's thread table; stays after the thread's end. */
struct thread_row {
    uint32_t number;
    char name[16];
    uint64_t start_ns, end_ns, cpu_ns;
    bool ended, changed;
    uint8_t has_total; /* bit per event */
    uint64_t total[EVENTS_MAX], lost[EVENTS_MAX], throttled[EVENTS_MAX];
    uint32_t last_context; /* where it was last sampled, + 1; 0: nowhere yet */
};

struct queued { /* a sample on its way from a signal handler */
    uint64_t pc;
    uint16_t region;
    uint8_t event, path_end; /* enum unwind_end */
    uint32_t samples;
    uint16_t fresh, shared; /* its path: frames in the path's queue, and outermost ones it has from the path before */
};

struct mark { /* from this position of the ring on, the thread is in that region */
    uint64_t position;
    uint32_t region;
};

struct thread {
    struct thread *next, *previous; /* of the living */
    uint32_t row;
    pid_t tid;
    uint32_t stack_bytes;     /* how much of the stack comes with each sample of the ring */
    struct path_queue *paths; /* paths.c; NULL: none asked for. Of handlers' samples */
    struct path_queue
        *ring_paths; /* of the ring's: the path before is a different one. The same if there are no others */
    struct phases_thread *phases; /* barriers/; NULL: not asked for */
    size_t stack_size;            /* of its stack; 0: unknown, or the main thread */
    bool found;                   /* found by looking into /proc: its end will not be reported to us */
    bool begun;

    /* kernel ring (perf.c) */
    int fd[EVENTS_MAX];
    uint64_t perf_id[EVENTS_MAX];
    uint8_t *ring; /* control page and data pages; NULL: none */
    size_t ring_bytes;
    uint64_t base[EVENTS_MAX]; /* counted while measuring was off */

    /* PAPI and timers */
    int event_set;
    bool papi_running;
    long long papi_before[EVENTS_MAX]; /* counted before the set was started again, by PAPI's position */
    timer_t timer[EVENTS_MAX];
    uint8_t has_timer; /* bit per event */
    uint64_t timer_start[EVENTS_MAX];

    /* regions */
    uint32_t region;         /* where the thread is */
    uint32_t drained_region; /* where the drain of the ring is */
    struct mark marks[MARKS];
    _Atomic uint32_t mark_head, mark_tail;

    /* written by handlers of this thread, read by the owner of the lock */
    _Atomic uint32_t queue_head, queue_tail;
    _Atomic uint64_t dropped[EVENTS_MAX];
    struct queued queue[QUEUE_ENTRIES];

    /* how it begins, from pthread_create to the new thread */
    void *(*run)(void *);
    int (*run_c11)(void *);
    void *arg;
};

/* ---- barriers and waits ------------------------------------------------------------------------------------- */

/* Functions of barriers/ that the recorder calls; one of the libraries has none, the other registers itself in
   hpcrec.barriers. */
struct barrier_calls {
    void (*begin)(void); /* when the process begins to record */
    void (*thread_create)(struct thread *);
    void (*thread_begin)(struct thread *);
    void (*thread_end)(struct thread *);
    void (*thread_discard)(struct thread *);
    void (*forget)(void);                  /* after fork, in the child */
    void (*declare)(struct out *);         /* the tables, for the file's head */
    void (*resolve)(void);                 /* locked: places become contexts */
    void (*moved)(const uint32_t *);       /* locked: contexts have new rows */
    void (*write)(struct out *, bool all); /* locked */
    void (*notify)(void);                  /* locked: to the observer */
    bool (*seen)(void);                    /* a barrier or a wait */
    /* The thread is in that region of the program's now, and in its phase of it. */
    void (*region)(struct thread *, uint32_t region);
    uint32_t (*user_region)(const struct thread *);
};

/* ---- the whole --------------------------------------------------------------------------- */

struct recorder {
    _Atomic pid_t pid;    /* whose process this state belongs to; 0: not recording */
    _Atomic pid_t helper; /* the helper thread; 0: not there */
    struct config config;
    unsigned in_region, region_times; /* threads in config.region; how often the first of them entered it */
    bool measuring;                   /* not before --delay, between hpcview_stop and hpcview_start */
    uint64_t start_ns, start_mono;
    pid_t parent;
    bool from_fork;           /* no file unless something was sampled */
    char preload_entry[4096]; /* our own path, for the environment of children */
    const char *record_entry; /* "HPCVIEW_RECORD=..." */

    struct area modules, contexts, cells, regions, thread_rows; /* rows */
    uint32_t threads_seen;
    struct thread *living;
    const struct barrier_calls *barriers; /* NULL: not in this library */

    /* the file */
    struct held dir;
    int file_fd;
    uint64_t file_dev, file_ino;
    char file_name[256], plain_name[256], temp_name[272];
    uint64_t file_end, full_bytes, journal_bytes; /* good bytes; of the last full write; appended since */
    size_t modules_written, contexts_written, regions_written, threads_written, extra_events_written;
    struct area extra_events; /* rows for lost and throttled samples, created when there are some */
    bool must_rewrite;        /* an append failed: the next write is a full one */
    int last_errno;
    bool created, writing_full, nothing_to_write, keep_empty, delay_over, duration_over, was_switched;
    int temp_fd;
    unsigned failures, turns_waited; /* since the last success */
    struct out head;                 /* the blocks that stand at the beginning */
    struct out out;
    char missing[8][200]; /* sentences for the file */
    unsigned missing_count, missing_written;
};
extern struct recorder hpcrec;

extern _Thread_local struct thread *hpcrec_self __attribute__((tls_model("initial-exec")));
/* The function in which the thread waits with our signals blocked: samples delivered afterwards happened in there. 0:
 * none. */
extern _Thread_local uint64_t hpcrec_waiting_pc __attribute__((tls_model("initial-exec")));

static inline bool hpcrec_recording(void)
{
    return atomic_load_explicit(&hpcrec.pid, memory_order_relaxed) != 0;
}
/* This very process is being recorded: not a vfork child, not a fork child that did not start yet. */
bool hpcrec_active(void);
bool hpcrec_is_helper(void);                                               /* is the calling thread the helper? */
uint32_t hpcrec_thread_last_context(uint32_t row);                         /* locked; UINT32_MAX: not known */
void hpcrec_threads_each(void (*)(struct thread *, void *ctx), void *ctx); /* locked: the living */

static inline struct thread_row *hpcrec_row_of(const struct thread *t)
{
    return (struct thread_row *)hpcrec.thread_rows.items + t->row;
}

#endif
