/* The computed columns that compare an event of two runs: difference, ratio, and what was lost by scaling. */
#include "metrics/ingest/ingest.h"

/* A thread that did less than a twentieth of what the busiest did has no share in the work: one that waits for others. */
static size_t working_threads(const struct hpcprof *p)
{
    uint64_t most = 0;
    size_t working = 0;
    for (size_t i = 0; i < p->thread_count; i++)
        most = p->threads[i].cpu_ns > most ? p->threads[i].cpu_ns : most;
    for (size_t i = 0; i < p->thread_count; i++)
        working += p->threads[i].cpu_ns >= most / 20;
    return working;
}

static uint32_t threads_of(const struct input *inputs, size_t n, uint32_t run)
{
    size_t threads = 0;
    for (size_t i = 0; i < n; i++) /* of repetitions, the first */
        threads += inputs[i].repetition > 1 ? 0 : inputs[i].run == run ? working_threads(inputs[i].profile) : 0;
    return threads ? (uint32_t)threads : 1;
}

/* The formula of one column of a comparison; both names are in quotes where they need them. */
static char *formula_of(enum comparison what, enum scaling scaling, const char *base, const char *new,
                        const struct input *inputs, size_t n)
{
    switch (what) {
    case COMPARE_DIFFERENCE:
        return mem_printf("%s - %s", new, base);
    case COMPARE_RATIO:
        return mem_printf("%s / %s", new, base);
    default:
        if (scaling == SCALING_WEAK)
            return mem_printf("(%s - %s * %u / %u) / total(%s)", new, base, threads_of(inputs, n, 1),
                              threads_of(inputs, n, 0), new);
        return mem_printf("(%s - %s) / total(%s)", new, base, new);
    }
}

void metrics_compare_columns(const struct config *config, const struct input *inputs, size_t input_count,
                             const char *event, const char *base, const char *new,
                             void (*add)(void *ctx, enum comparison, const char *name, const char *formula), void *ctx)
{
    static const char *const names[] = {"difference", "ratio", "loss"}; /* in the order of enum comparison */
    struct buf base_name = {0}, new_name = {0};
    expr_quote_name(&base_name, base);
    expr_quote_name(&new_name, new);
    for (enum comparison what = COMPARE_DIFFERENCE; what <= COMPARE_LOSS; what++) {
        if (what == COMPARE_LOSS && config->scaling == SCALING_NONE)
            continue;
        char *name = mem_printf("%s.%s", event, names[what]);
        char *formula = formula_of(what, config->scaling, base_name.bytes, new_name.bytes, inputs, input_count);
        add(ctx, what, name, formula);
        mem_free(name);
        mem_free(formula);
    }
    buf_release(&base_name);
    buf_release(&new_name);
}
