/* What formats that know procedures, files and lines have in common: one process, one thread as a rule, places by line.
 */
#ifndef FILTERS_SINK_H
#define FILTERS_SINK_H

#include "filters/filters_int.h"

struct sink {
    struct hpcprof *into;
    uint32_t thread;
    uint32_t region; /* of what is added; 0: none */
    size_t left_out; /* numbers that are no counts */
};

/* The process's row and its first thread. */
struct sink sink_begin(struct hpcprof *into, const struct filter_input *, const char *sampler, const char *command);
/* A further thread of that name. */
uint32_t sink_thread(struct sink *, const char *name, uint32_t number);
uint32_t sink_event(struct sink *, const char *name, const char *description, const char *unit, uint64_t period);

struct sink_place {
    uint32_t parent; /* a context, or HPCPROF_NO_PARENT */
    const char *module, *procedure, *file;
    uint64_t line;
};
uint32_t sink_context(struct sink *, const struct sink_place *);
/* samples 0: exact. A value of 0 is none. */
void sink_add(struct sink *, uint32_t context, uint32_t event, uint64_t samples, uint64_t value);

/* Threads of many processes, in whatever order a file names them: all are met first, and then become rows in the order
   of their numbers. */
struct sink_threads {
    struct VEC(struct sink_worker) met;
    struct hashmap index;
};
struct sink_worker {
    uint32_t rank, thread; /* rank SINK_NO_RANK: none */
    uint32_t row;
};
#define SINK_NO_RANK UINT32_MAX
/* false: there are more than LIMIT_THREADS. */
bool sink_threads_meet(struct sink_threads *, uint32_t rank, uint32_t thread);
/* Begins the sink: its processes and threads are those that were met, or one. */
struct sink sink_threads_begin(struct sink_threads *, struct hpcprof *into, const struct filter_input *,
                               const char *sampler, const char *command);
uint32_t sink_threads_row(const struct sink_threads *, uint32_t rank, uint32_t thread); /* it was met */
void sink_threads_release(struct sink_threads *);

/* Adds a file's decimal number, rounded. What is negative, infinite or no number is left out. */
void sink_add_number(struct sink *, uint32_t context, uint32_t event, double value);
/* Says how much was left out. */
void sink_end(const struct sink *, const struct filter_input *, struct warnings *);

#endif
