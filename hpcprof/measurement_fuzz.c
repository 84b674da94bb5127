/* libFuzzer target: reading a measurement: every index it hands out is within its table. */
#include "hpcprof/hpcprof_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        if (c->thread >= p->thread_count || c->context >= p->context_count || c->event >= p->event_count ||
            c->region >= p->region_count)
            __builtin_trap();
    }
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count ||
            (p->contexts[i].parent != HPCPROF_NO_PARENT && p->contexts[i].parent >= i))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hpcprof *p;
    struct err err = {0};
    if (hpcprof_read_bytes(data, size, "fuzz", &p, NULL, &err) < 0) {
        if (err.msg[0] == '\0') /* an error without words is a bug */
            __builtin_trap();
        return 0;
    }
    check(p);
    hpcprof_free(p);
    return 0;
}
