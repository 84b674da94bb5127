/*
 * recorder - the part of hpcview that lives inside the measured program (libhpcview-record.so, libhpcview-record.a).
 *
 *   program's threads                         helper thread (one, all signals blocked)
 *   kernel ring or signal handler  -- pc -->  drained 20 times a second, placed in (module, address), counted in cells,
 *                                             appended to the file twice a second
 *
 * Rules of the house:
 *  - A signal handler of ours only writes into the queues of its thread: no lock, no memory, no system call (but to
 *    read, for a call path, a stack that is not the thread's own).
 *  - Memory comes from mmap, never from the program's heap, and descriptors are kept high and close-on-exec.
 *  - One lock (hpcrec_lock) guards all tables. Who takes it has its signals blocked meanwhile. It is never held over
 *    file output.
 *  - Only the helper writes the file. Others ask it to (hpcrec_ask) and wait.
 *  - After fork the child forgets everything and starts anew; a vfork child (our memory, not our process) does nothing:
 *    hpcrec_active() tells.
 *  - Silence: nothing is ever printed. What goes wrong is noted in the file.
 */
#ifndef HPCPROF_RECORDER_BASE_REC_H
#define HPCPROF_RECORDER_BASE_REC_H

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "hpcprof/format/format.h"
#include "hpcprof/recorder/protocol.h"
#include "hpcprof/recorder/base/syscalls.h"

enum {
    EVENTS_MAX = RECORD_EVENTS_MAX,
    DRAIN_MS = 50,       /* how often rings are emptied: 20 times a second */
    PATHS_DRAIN_MS = 20, /* with call paths, where a sample takes a thousand times the room */
    FLUSH_MS = 500,      /* how often counts go to the file: SIGKILL loses at most that much */
    QUEUE_ENTRIES = 512, /* samples of one thread that signal handlers hold until drained */
    MARKS = 128,         /* region changes of one thread between two drains */
};

/* ---- memory that is not the program's (memory.c) -------------------------------------- */

/* Grows by mapping; items stay valid until the next grow. full: the system gave no more. */
struct area {
    void *items;
    size_t count, room; /* in items */
    bool full;
};
bool hpcrec_area_room(struct area *, size_t items, size_t item_size); /* room for that many in all */
void hpcrec_area_free(struct area *, size_t item_size);
void *hpcrec_map(size_t bytes); /* cleared; NULL: none */
void hpcrec_unmap(void *, size_t bytes);
uint64_t hpcrec_page_bytes(void); /* 4 KiB on x86-64; up to 64 KiB elsewhere */

/* Bytes to be written; an area of bytes with the file's number formats. */
struct out {
    struct area bytes;
};
void hpcrec_put(struct out *, const void *, size_t);
void hpcrec_put_crc(struct out *, size_t from); /* of the bytes from there on */
void hpcrec_put_u32(struct out *, uint32_t);
void hpcrec_put_uleb(struct out *, uint64_t);
void hpcrec_put_sleb(struct out *, int64_t);
void hpcrec_put_string(struct out *, const char *);
/* A block is what is put between begin and end. */
size_t hpcrec_block_begin(struct out *, uint32_t type);
void hpcrec_block_end(struct out *, size_t begin);

/* Text without stdio: appends and keeps NUL-terminated, cutting what does not fit. */
struct text {
    char *at, *end;
};
struct text hpcrec_text(char *buffer, size_t size);
void hpcrec_text_str(struct text *, const char *);
void hpcrec_text_strn(struct text *, const char *, size_t n);
void hpcrec_text_u64(struct text *, uint64_t);

/* ---- system (system.c) ------------------------------------------------------------------- */

uint64_t hpcrec_now(clockid_t);
pid_t hpcrec_gettid(void);
void hpcrec_lock(sigset_t *saved);
void hpcrec_unlock(const sigset_t *saved);
void hpcrec_lock_reset(void); /* after fork, in the child */
/* Our descriptors: moved out of the way of the program's, known so that the program's close() loops pass them over. */
void hpcrec_fd_adopt(int fd); /* one that PAPI opened for us: stays where it is */
int hpcrec_fd_keep(int fd);   /* the new number; fd if it cannot be moved */
void hpcrec_fd_close(int *fd);
bool hpcrec_fd_is_ours(int fd);
void hpcrec_fd_disown(int fd);    /* the number is the program's now */
void hpcrec_fd_move_away(int fd); /* because the program wants the number */
unsigned hpcrec_fd_count(void);
int hpcrec_fd_next(int from); /* the first one of ours at or above; INT_MAX: none */
void hpcrec_fd_forget_all(void);
/* A file kept open by us. */
struct held {
    int fd;
    uint64_t dev, ino;
};
void hpcrec_hold(struct held *, const char *path, int flags);
int hpcrec_held(struct held *, const char *path,
                int flags); /* opened again where it was closed behind our back; or -1 */
/* Has the process' first thread not ended yet? Asked without /proc, which may not be there; -1: the system does not
 * say. */
int hpcrec_first_thread_lives(void);
/* Reads our own memory; false where nothing is mapped. */
bool hpcrec_peek(uint64_t address, void *to, size_t n);
/* Calls run(arg) where what it opens and closes takes none of the program's numbers, not for a moment (private_fds.c): by the
 * helper; others, and where the system does not permit it, call it as it is. Errno is as run left it. */
void hpcrec_apart(void (*run)(void *), void *arg);
/* At most size-1 bytes of a small file, NUL-terminated; the count, or -1. */
ssize_t hpcrec_slurp(const char *path, char *to, size_t size);

/* ---- configuration (config.c) -------------------------------------------------------------- */

struct event {
    struct record_event conf;
};

struct config {
    char dir[4096], only[256], papi_library[1024], note_env[1024];
    struct event events[EVENTS_MAX];
    unsigned event_count;
    bool papi; /* --sampler papi */
    bool multiplex;
    bool children;    /* follow fork and exec */
    bool call_paths;  /* with each sample, who called whom */
    size_t paths_max; /* contexts that are kept then; 0: as many as is usual */
    bool phases;      /* barriers and waits, in the library that has barriers */
    bool watch;       /* each episode of a barrier is told of, */
    uint64_t warn_ns; /* or those whose barrier time is this or longer; 0: none */
    char tell[4096];  /* into this pipe */
    unsigned run;     /* of --repeat, from 1; 0: no repeating */
    uint64_t delay_ns, duration_ns;
    char region[256];     /* nothing is measured outside of it; "": everywhere */
    unsigned region_time; /* but the first, second, ... time the process enters it; 0: each time */
};
/* Reads RECORD_VARIABLE; false: not there or not for us. */
bool hpcrec_config_read(struct config *, const char *text);

/* ---- where code is (maps.c) ------------------------------------------------------------------ */

struct module_row {
    uint32_t path, build_id;       /* offsets into the string pool */
    uint64_t start, length, vaddr; /* the mapping it was first seen with */
};
void hpcrec_maps_open(void);
void hpcrec_maps_forget(void);
void hpcrec_maps_move_fd(int from, int to);
void hpcrec_maps_stale(void); /* something was loaded or unloaded */
void hpcrec_maps_check(void); /* asks the loader whether something was */
/* The row of the module that holds pc, and the link-time address in it. Always finds one ("[anonymous]", "[unknown]").
 */
uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address);
uint32_t hpcrec_maps_named(const char *name); /* the row of "[...]", which is no file */
void hpcrec_maps_name_all(void);              /* gives rows to the files of code in which nothing was sampled, too */
void hpcrec_maps_new_round(void);             /* permits one more reading of the maps for addresses that are nowhere */
const char *hpcrec_string(uint32_t offset);
uint32_t hpcrec_string_add(const char *);

/* ---- counts (counts.c) -------------------------------------------------------------------------- */

enum { CONTEXT_NONE = UINT32_MAX };
struct context_row {
    uint64_t address; /* link-time: of an instruction; with contexts below it, inside of a call */
    uint32_t module;
    uint32_t parent; /* the call it was called by: an earlier row; CONTEXT_NONE: not known */
};
struct cell {
    uint32_t thread, context;
    uint16_t region;
    uint8_t event;
    bool dirty;
    uint32_t new_samples; /* not in the file yet */
    uint64_t new_value;
    uint64_t samples, value;
};
/* The row of code that was called from the row `parent`. CONTEXT_NONE: there are as many as we keep. */
uint32_t hpcrec_context(uint64_t pc, uint32_t parent);
/* The row above all paths that were cut for this reason. */
uint32_t hpcrec_context_cut(unsigned why);
void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value);
/* Puts COUNTS blocks of what is new (all: of everything) and takes note that it is written. */
void hpcrec_put_counts(struct out *, bool all);
uint32_t hpcrec_region_row(const char *name, uint32_t parent); /* locked */
void hpcrec_counts_forget(void);
void hpcrec_contexts_stale(void); /* addresses mean something else from now on */
/* Soon there will be as many as we keep. */
bool hpcrec_contexts_are_many(void);
/* Cuts paths where they were visited least: rows have new numbers then, and the next file is a full one. moved[row] is
   the new one, CONTEXT_NONE where there is none; rows without a parent stay. tell may be called more than once; NULL: it
   cannot be now. */
void hpcrec_contexts_thin(void (*tell)(const uint32_t *moved));

struct region_row {
    uint32_t name, parent;
};

/* ---- threads (threads.c) ---------------------------------------------------------------------------- */

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
        *ring_paths; /* of the ring's: the path before is another one. The same where there are no others */
    struct phases_thread *phases; /* barriers; NULL: not asked for */
    size_t stack_size;            /* of its stack; 0: unknown, or the main thread */
    bool found;                   /* by looking into /proc: nobody will tell us of its end */
    bool begun;

    /* kernel ring (perf.c) */
    int fd[EVENTS_MAX];
    uint64_t perf_id[EVENTS_MAX];
    uint8_t *ring; /* control page and data pages; NULL: none */
    size_t ring_bytes;
    uint64_t base[EVENTS_MAX]; /* what was counted while measuring was off */

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

    /* written by handlers of this thread, read by who holds the lock */
    _Atomic uint32_t queue_head, queue_tail;
    _Atomic uint64_t dropped[EVENTS_MAX];
    struct queued queue[QUEUE_ENTRIES];

    /* how it begins, from pthread_create to the new thread */
    void *(*run)(void *);
    int (*run_c11)(void *);
    void *arg;
};

extern _Thread_local struct thread *hpcrec_self __attribute__((tls_model("initial-exec")));

struct thread *hpcrec_thread_create(void);   /* room for one; NULL: none */
void hpcrec_thread_discard(struct thread *); /* one that never began */
void hpcrec_thread_begin(struct thread *);   /* by the thread itself, as its first act */
void hpcrec_thread_end(struct thread *);     /* by the thread itself, as its last act */
void hpcrec_thread_totals(struct thread *);  /* PAPI's, by the thread itself */
void hpcrec_threads_drain(void);             /* locked */
void hpcrec_threads_init(void);
void hpcrec_threads_look(pid_t helper); /* locked: threads nobody told us of, and their ends */
/* The program has no thread left: ours is the last, and what it does now ends the process. */
enum hpcrec_left { STILL_THERE, LEFT_BY_LIBRARY /* which would exit(0) now */, LEFT_BY_KERNEL /* with *status */ };
enum hpcrec_left hpcrec_threads_left(int *status); /* locked */
void hpcrec_remember_ended(pid_t tid);             /* locked */
void hpcrec_threads_totals(void);                  /* locked: of all the living */
void hpcrec_threads_stop(void);                    /* locked: no more samples */
bool hpcrec_threads_are_walking(void);             /* locked: some handler is looking at a stack */
void hpcrec_threads_forget(void);                  /* after fork, in the child */
void hpcrec_threads_switch(bool on);               /* locked: measuring on or off */
void hpcrec_threads_move_fd(int from, int to);     /* locked */
void hpcrec_drain_thread(struct thread *);         /* locked */
void hpcrec_mark_region(struct thread *, uint32_t region);
void hpcrec_threads_each(void (*)(struct thread *, void *ctx), void *ctx); /* locked: the living */
uint32_t hpcrec_thread_last_context(uint32_t row);                         /* locked; CONTEXT_NONE: not known */

/* ---- ways to sample ------------------------------------------------------------------------------------- */

/* perf.c: the kernel's ring buffer; tid 0 is the caller. */
void hpcrec_perf_begin(struct thread *, pid_t tid);
void hpcrec_perf_drain(struct thread *);
uint64_t hpcrec_perf_pause_ms(void); /* until the next drain of all: shorter while rings fill fast */
void hpcrec_perf_totals(struct thread *, struct thread_row *);
void hpcrec_perf_switch(struct thread *, bool on);
void hpcrec_perf_end(struct thread *);
void hpcrec_perf_forget(void); /* in a fork child, which has no rings */
/* Where the signal met the thread: a handler's third argument tells. */
static inline uint64_t hpcrec_pc_of(const void *context)
{
    const ucontext_t *uc = context;
#if defined __x86_64__
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return uc->uc_mcontext.pc;
#else
#error "where is the program counter on this machine?"
#endif
}

/* May we see what happens in the kernel (perf_event_paranoid 1 or less, or CAP_PERFMON)? Asked once. */
bool hpcrec_kernel_permitted(void);
/* Some event is one that counts in the kernel, and we may not. */
bool hpcrec_kernel_is_hidden(void);
uint64_t hpcrec_perf_position(const struct thread *);
/* papi.c: a signal for each sample */
bool hpcrec_papi_load(void);
bool hpcrec_needs_papi(void);
extern _Thread_local bool hpcrec_in_papi
    __attribute__((tls_model("initial-exec"))); /* what is called now is called by PAPI for us */
void hpcrec_papi_begin(struct thread *);
void hpcrec_papi_totals(struct thread *, struct thread_row *); /* by the thread itself */
void hpcrec_papi_restart(struct thread *); /* the calling thread's own, after its signals were ignored */
void hpcrec_papi_end(struct thread *, struct thread_row *);
/* timers.c: CPUTIME and REALTIME */
void hpcrec_timers_begin(struct thread *, pid_t tid);
void hpcrec_timers_totals(struct thread *, struct thread_row *);
void hpcrec_timers_end(struct thread *);
int hpcrec_timers_signal(void);
int hpcrec_papi_signal(void);
/* The function the thread waits in with our signals held back: what they tell when they come happened in there. 0:
 * none. */
extern _Thread_local uint64_t hpcrec_waiting_pc __attribute__((tls_model("initial-exec")));
/* By a handler, with its third argument. */
void hpcrec_queue_sample(struct thread *, unsigned event, uint64_t pc, uint32_t samples, const void *context);

/* What hpcview.h calls: exported as hpcview_calls_1. */
struct hpcview_calls {
    void (*start)(void);
    void (*stop)(void);
    void (*region_begin)(const char *name);
    void (*region_end)(const char *name);
};

/* ---- barriers and waits (barriers/), in a library of their own --------------------------------------- */

#ifdef HPCREC_PHASES
void hpcrec_phases_begin(void); /* when the process begins to record */
void hpcrec_phases_thread_create(struct thread *);
void hpcrec_phases_thread_begin(struct thread *);
void hpcrec_phases_thread_end(struct thread *);
void hpcrec_phases_thread_discard(struct thread *);
void hpcrec_phases_forget(void);            /* after fork, in the child */
void hpcrec_phases_declare(struct out *);   /* the tables, for the file's head */
void hpcrec_phases_resolve(void);           /* locked: places become contexts */
void hpcrec_phases_moved(const uint32_t *); /* locked: contexts have new rows */
void hpcrec_phases_put(struct out *, bool); /* locked */
void hpcrec_phases_tell(void);              /* locked: to who watches */
bool hpcrec_phases_seen(void);              /* a barrier or a wait */
/* The thread is in that region of the program's now, and in its phase of it. */
void hpcrec_phases_region(struct thread *, uint32_t region);
uint32_t hpcrec_phases_user_region(const struct thread *);
#else
#define hpcrec_phases_begin()                                                                                          \
    (hpcrec.config.phases ? hpcrec_missing("barriers and phases: not in programs linked with libhpcview-record.a")     \
                          : (void)0)
#define hpcrec_phases_thread_create(t)  ((void)(t))
#define hpcrec_phases_thread_begin(t)   ((void)(t))
#define hpcrec_phases_thread_end(t)     ((void)(t))
#define hpcrec_phases_thread_discard(t) ((void)(t))
#define hpcrec_phases_forget()          ((void)0)
#define hpcrec_phases_declare(o)        ((void)(o))
#define hpcrec_phases_resolve()         ((void)0)
#define hpcrec_phases_moved(rows)       ((void)(rows))
#define hpcrec_phases_put(o, all)       ((void)(o))
#define hpcrec_phases_tell()            ((void)0)
#define hpcrec_phases_seen()            false
#define hpcrec_phases_region            hpcrec_mark_region
#define hpcrec_phases_user_region(t)    ((t)->region)
#endif

/* ---- the whole (main.c, file.c) --------------------------------------------------------------------------- */

struct recorder {
    _Atomic pid_t pid; /* whose process this state belongs to; 0: not recording */
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

    /* the file */
    struct held dir;
    int file_fd;
    uint64_t file_dev, file_ino;
    char file_name[256], plain_name[256], temp_name[272];
    uint64_t file_end, full_bytes, journal_bytes; /* good bytes; of the last full write; appended since */
    size_t modules_written, contexts_written, regions_written, threads_written, extra_events_written;
    struct area extra_events; /* rows for lost and throttled samples, made when there are some */
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

struct extra_event {
    unsigned event;
    bool throttled;
};

static inline bool hpcrec_recording(void)
{
    return atomic_load_explicit(&hpcrec.pid, memory_order_relaxed) != 0;
}
/* This very process is being recorded: not a vfork child, not a fork child that did not start yet. */
bool hpcrec_active(void);
/* Something the measurement lacks, a sentence for the file; a repeated one is kept once. Locked. */
void hpcrec_missing(const char *sentence);

enum hpcrec_task { TASK_FLUSH = 1, TASK_EXEC, TASK_FINISH };
/* Lets the helper do that and waits for it, at most a few seconds. Async-signal-safe. status: as by wait(2), -1
 * unknown. */
void hpcrec_ask(enum hpcrec_task, int status);
bool hpcrec_is_helper(void);    /* is that who asks? */
void hpcrec_finish(int status); /* the process is about to end */
void hpcrec_fork_child(void);   /* in the child: forget the parent's recording */
void hpcrec_fork_restart(void); /* in the child: begin its own */
void hpcrec_switch(bool on);

/* environment.c */
int hpcrec_rank(void); /* of MPI; -1: none */
void hpcrec_facts_gather(void);
/* file.c; helper only */
void hpcrec_file_encode(bool end, int status); /* locked: fills hpcrec.out, decides whether in full */
void hpcrec_file_write(bool end);              /* not locked */
void hpcrec_file_forget(void);

/* wrap.c */
void hpcrec_wrap_init(void);
void hpcrec_remember_environment(void); /* what a child's environment must hold */
void hpcrec_clean_environment(void);    /* so that children are not recorded */
int hpcrec_real_sigmask(int how, const sigset_t *, sigset_t *);
extern _Thread_local bool hpcrec_in_fork_wrapper __attribute__((tls_model("initial-exec")));
int hpcrec_real_pthread_create(pthread_t *, const void *attr, void *(*)(void *), void *);
int hpcrec_real_sigaction(int, const struct sigaction *, struct sigaction *);
void hpcrec_signals_begin(void);
void hpcrec_signals_init(void);
void hpcrec_signals_ignore(bool ignore); /* while the process may become another program */
bool hpcrec_signals_used(void);          /* by a sampler of ours, now */
void hpcrec_set_exit_status(int status);

#endif
