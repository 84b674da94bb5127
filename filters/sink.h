/* What formats that know procedures, files and lines have in common: one process, one thread as a rule, places by line.
 */
#ifndef FILTERS_SINK_H
#define FILTERS_SINK_H

#include "filters/filters_int.h"

struct sink {
    struct hpcprof *into;
    uint32_t thread;
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

#endif
