/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by formats that know procedures, files and lines: one process, usually one thread, places by line. */
#ifndef FILTERS_BUILDER_H
#define FILTERS_BUILDER_H

#include "filters/base/base.h"

struct builder {
    struct hpcprof *into;
    uint32_t thread;
    uint32_t region; /* of additions; 0: none */
    size_t left_out; /* numbers that are not counts */
};

/* The process's row and its first thread. */
struct builder builder_begin(struct hpcprof *into, const struct filter_input *, const char *sampler,
                             const char *command);
/* A further thread of that name. */
uint32_t builder_thread(struct builder *, const char *name, uint32_t number);
uint32_t builder_event(struct builder *, const char *name, const char *description, const char *unit, uint64_t period);

struct builder_place {
    uint32_t parent; /* a context, or HPCPROF_NO_PARENT */
    const char *module, *procedure, *file;
    uint64_t line;
};
uint32_t builder_context(struct builder *, const struct builder_place *);
/* samples 0: exact. A value of 0 is none. */
void builder_add(struct builder *, uint32_t context, uint32_t event, uint64_t samples, uint64_t value);

/* Threads of many processes, in the order in which a file names them: all are registered first, and then become rows
   in the order of their numbers. */
struct builder_threads {
    struct VEC(struct builder_worker) met;
    struct hashmap index;
};
struct builder_worker {
    uint32_t rank, thread; /* rank BUILDER_NO_RANK: none */
    uint32_t row;
};
#define BUILDER_NO_RANK UINT32_MAX
/* false: there are more than LIMIT_THREADS. */
bool builder_threads_meet(struct builder_threads *, uint32_t rank, uint32_t thread);
/* Begins the builder: its processes and threads are the registered ones, or one. */
struct builder builder_threads_begin(struct builder_threads *, struct hpcprof *into, const struct filter_input *,
                                     const char *sampler, const char *command);
uint32_t builder_threads_row(const struct builder_threads *, uint32_t rank, uint32_t thread); /* it was met */
void builder_threads_release(struct builder_threads *);

/* Adds a file's decimal number, rounded. Negative and infinite values and NaN are left out. */
void builder_add_number(struct builder *, uint32_t context, uint32_t event, double value);
/* Says how much was left out. */
void builder_end(const struct builder *, const struct filter_input *, struct warnings *);

#endif
