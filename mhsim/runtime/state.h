/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the runtime. */
#ifndef MHSIM_RUNTIME_STATE_H
#define MHSIM_RUNTIME_STATE_H

#include "mhsim/engine/mmap_store.h"
#include "mhsim/runtime/runtime.h"

#define NOT_WANTED UINT32_MAX /* the row of code that was not asked for */

enum { GRAIN = 16 }; /* of remembered addresses: malloc's own */
enum phase { NOT_YET, COUNTING, WARMING, PAUSE, OVER };

struct runtime {
    struct raw_head *head;
    struct mhsim *sim;
    struct store rows, pairs, objects, modules, threads;
    uint64_t left; /* accesses until the phase changes; UINT64_MAX: never */
    enum phase phase;
    bool has_variables;               /* see variables.h */
    bool stopped;                     /* hpcview_stop */
    bool outside;                     /* of the region, or in another of its times */
    bool of_nothing;                  /* some place remembers that its addresses are */
    uint32_t in_region, region_times; /* threads in it; how often the first of them entered it */
    volatile bool many;               /* threads: each access is locked */
    struct runtime_thread *first_thread;
};
extern struct runtime runtime;

/* lock.c */
void runtime_lock_init(void);
void runtime_lock_forked(void);   /* in the child of a fork */
bool runtime_enter(void);         /* false: this thread is in the simulator */
void runtime_leave(bool locked);  /* locked: the value of `many` seen by runtime_enter */
bool runtime_thread_begins(void); /* its first access; false: it is not counted */

/* window.c */
void runtime_first_phase(const struct raw_orders *);
void runtime_next_phase(void);
void runtime_set_quiet(void); /* consequences of when and where something is to be counted */

/* Accesses that may wait: the one that changes the phase does not. */
static inline uint32_t runtime_room_left(void)
{
    return runtime.left > BATCH ? BATCH : (uint32_t)runtime.left - 1;
}

static inline bool runtime_counts(void)
{
    return runtime.phase == COUNTING && !runtime.outside;
}

/* objects.c: rows of objects; 0: of nothing known, or beyond the limit. */
/* The object with this key of its kind, created on demand. */
uint32_t runtime_object_of_key(uint32_t kind, uint32_t module, uint64_t address, const char *name);
/* Of addresses not on this thread's stack. lo, hi: the range with the same result. */
uint32_t runtime_object_elsewhere(uint64_t address, bool on_stack, uint64_t *lo, uint64_t *hi);
void runtime_look_again(void); /* at the maps: at once, then ever more seldom */
void runtime_objects_forget(void);

/* frames.c */
bool runtime_on_this_stack(uint64_t address);
/* The variable at an address of this thread's stack, and in the place the range for which it is remembered. */
uint32_t runtime_stack_object(struct place *, uint64_t address, uint64_t frame);
/* Whether the frame that a place remembers is still the one that the address is in. */
bool runtime_same_frame(const struct place *, uint64_t address, uint64_t frame);

#endif
