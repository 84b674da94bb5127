/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the simulated process: the simulator with its lock, attribution of code and data addresses, and when to count.
 * Both the hooks and QEMU's plugin (mhsim/instrument) use it. There, here and in mhsim/engine the rules of
 * hpcprof/recorder/recorder.h hold: no heap, no output, no lock of the program's.
 *
 *   access (code -> the row that is counted in)    -> objects, frames (what an address is of) -> modules, variables
 *   window (when something is counted)             -> lock (one at a time)
 *   runtime (the process's file, fork, the end)
 */
#ifndef MHSIM_RUNTIME_H
#define MHSIM_RUNTIME_H

#include "mhsim/engine/engine.h"
#include "mhsim/shared_layout.h"

/* A thread's memory of a reference: which row it counts in while its addresses stay within `bytes` from lo on and,
   for variables in frames, while the frame `depth` calls up is this one, and its code at this point; if no frame
   contained them (a depth of NO_FRAME), while none does. */
struct place {
    uint64_t code, lo, bytes;
    uint64_t frame, frame_code; /* frame 0: any */
    uint32_t row, generation, depth;
} __attribute__((aligned(64)));

#define NO_FRAME UINT32_MAX

/* Of a thread, by hash of the code's address; how many of them one code may have; accesses that wait. */
enum { PLACES = 1 << 12, FURTHER_PLACES = 4, BATCH = 512 };

/* Of a thread; never unmapped, so that others can read it at any time. While the first thread is alone, its accesses
   wait in `batch`, of which `room` may be used; if nothing is simulated they are only numbered, `until` the next event.
   Only the thread itself changes `numbered`. */
struct runtime_thread {
    volatile uint64_t numbered, until; /* in this order, and first: hooks-*.s */
    uint64_t counted;                  /* of `numbered`, those in counted parts */
    volatile bool busy;                /* in the simulator: signal handlers keep out */
    bool ready;
    uint32_t core;
    volatile uint32_t waiting, room;
    uint64_t stack_lo, stack_hi;
    struct mhsim_reference batch[BATCH];
    struct place places[PLACES];
};

extern struct runtime_thread runtime_nobody;
/* By this name the program itself numbers its accesses: hooks-*.s. */
extern __thread struct runtime_thread *runtime_me __asm__("hpcview_simulate_thread")
    __attribute__((tls_model("initial-exec"), visibility("default")));
extern volatile bool runtime_on;    /* anything to do at all */
extern uint32_t runtime_generation; /* of objects: remembered places are of one generation */

/* Reads the orders and opens the file of counts; false: not requested, or not possible. */
bool runtime_open(enum raw_way way);
/* In the child of a fork: counts anew, for itself. */
void runtime_forked(void);
void runtime_close(void);
/* Simulates the waiting accesses; before the process becomes another, or ends. */
void runtime_settle(void);
/* Whether this thread is not in the simulator. */
static inline bool runtime_out(void);

/* One access of `code`. on_stack: known to be on the stack, independent of the rest. frame: the code's frame
   pointer, which points to that of its caller and the return address; 0: unknown. */
static inline __attribute__((always_inline)) void runtime_access(uint64_t code, uint64_t address, uint32_t size,
                                                                 bool write, bool on_stack, uint64_t frame);
/* The program got `size` bytes at `address` from the heap, asked for by `site`. */
void runtime_allocated(uint64_t address, uint64_t size, uint64_t site);
void runtime_measure(bool on); /* hpcview_start, hpcview_stop */
/* hpcview_region_begin, hpcview_region_end: outside of the region that is asked for, accesses only change the levels. */
void runtime_region(const char *name, bool begins);

struct raw_head *runtime_head(void); /* NULL: not open */

/* ---- what each access does ------------------------------------------------------------------- */

/* Cases that take more than a few steps. */
void runtime_access_slowly(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame);

/* The code's place, and whether it is fit for this address, without checking frames further up. */
static inline struct place *place_of(struct runtime_thread *me, uint64_t code)
{
    return &me->places[(code ^ code >> 12) & (PLACES - 1)];
}

static inline bool place_fits_but_frame(const struct place *p, uint64_t code, uint64_t address)
{
    return p->code == code && address - p->lo < p->bytes && p->generation == runtime_generation;
}

static inline void runtime_append(struct runtime_thread *me, const struct place *p, uint64_t address, uint32_t size,
                                  bool write)
{
    uint32_t n = me->waiting;
    me->batch[n] = (struct mhsim_reference){address, p->row, (uint16_t)size, write};
    me->waiting = n + 1;
}

static inline bool runtime_out(void)
{
    return !runtime_me->busy || runtime_me == &runtime_nobody;
}

/* Of this thread, if there is more to do than to number it. */
static inline __attribute__((always_inline)) void runtime_access_numbered(struct runtime_thread *me, uint64_t code,
                                                                          uint64_t address, uint32_t size, bool write,
                                                                          bool on_stack, uint64_t frame)
{
    const struct place *p = place_of(me, code);
    bool was_busy = me->busy;
    me->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* looked at while busy: a thread that takes the space away waits for that */
    if (__builtin_expect(!was_busy && me->waiting < me->room && place_fits_but_frame(p, code, address) &&
                             (!p->frame || (p->depth == 0 && p->frame == frame)),
                         1)) {
        runtime_append(me, p, address, size, write);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        me->busy = false;
        return;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    me->busy = was_busy;
    runtime_access_slowly(code, address, size, write, on_stack, frame);
}

/* Into each hook by itself, where most of its arguments are known. */
static inline __attribute__((always_inline)) void runtime_access(uint64_t code, uint64_t address, uint32_t size,
                                                                 bool write, bool on_stack, uint64_t frame)
{
    struct runtime_thread *me = runtime_me;
    uint64_t numbered = me->numbered;
    if (__builtin_expect(numbered < me->until, 0))
        me->numbered = numbered + 1; /* a number only, so a signal or another thread that comes between does no harm */
    else
        runtime_access_numbered(me, code, address, size, write, on_stack, frame);
}

#endif
