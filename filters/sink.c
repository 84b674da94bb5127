/* Places by line, and what happened there. */
#include "filters/sink.h"

struct sink sink_begin(struct hpcprof *into, const struct filter_input *in, const char *sampler, const char *command)
{
    struct hpcprof_process process = {.source_file = strtab_add(into->strings, path_base(in->name)),
                                      .command = strtab_add(into->strings, command),
                                      .sampler = strtab_add(into->strings, sampler),
                                      .rank = -1,
                                      .exit_status = -1,
                                      .complete = true};
    struct hpcprof_thread thread = {.process = hpcprof_add_process(into, &process)};
    return (struct sink){into, hpcprof_add_thread(into, &thread)};
}

uint32_t sink_thread(struct sink *s, const char *name, uint32_t number)
{
    struct hpcprof_thread thread = {.number = number, .name = strtab_add(s->into->strings, name)};
    return hpcprof_add_thread(s->into, &thread);
}

uint32_t sink_event(struct sink *s, const char *name, const char *description, const char *unit, uint64_t period)
{
    struct hpcprof_event event = {.name = strtab_add(s->into->strings, name),
                                  .description = strtab_add(s->into->strings, description),
                                  .unit = strtab_add(s->into->strings, unit),
                                  .period = period};
    return hpcprof_add_event(s->into, &event);
}

uint32_t sink_context(struct sink *s, const struct sink_place *p)
{
    struct hpcprof_context context = {.parent = p->parent,
                                      .module = hpcprof_add_module(s->into, p->module, ""),
                                      .procedure = strtab_add(s->into->strings, p->procedure),
                                      .file = strtab_add(s->into->strings, p->file),
                                      .line = p->line <= UINT32_MAX ? (uint32_t)p->line : 0,
                                      .by_line = true};
    return hpcprof_add_context(s->into, &context);
}

void sink_add(struct sink *s, uint32_t context, uint32_t event, uint64_t samples, uint64_t value)
{
    if (value)
        hpcprof_add_count(
            s->into, &(struct hpcprof_count){
                         .thread = s->thread, .context = context, .event = event, .samples = samples, .value = value});
}
