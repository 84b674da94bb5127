/* Any bytes for every filter, whether it recognises them or not: a sound measurement, or a sentence that names the
 * input. */
#include "filters/filters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tables(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].context >= p->context_count || p->counts[i].event >= p->event_count ||
            p->counts[i].thread >= p->thread_count)
            __builtin_trap();
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count)
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (const struct filter *f = filter_table; f->name; f++) {
        struct hpcprof *p = hpcprof_create();
        struct err err = {0};
        static const struct filter_options options;
        struct filter_input input = {.bytes = data, .len = size, .name = "fuzz", .options = &options};
        f->sniff(data, size);
        if (f->convert(&input, p, NULL, &err) < 0) {
            if (!str_starts(err.msg, "fuzz"))
                __builtin_trap();
        } else {
            hpcprof_finish(p);
            check_tables(p);
        }
        hpcprof_free(p);
    }
    return 0;
}
