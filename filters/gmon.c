/*
 * gmon.out of programs compiled with -pg (glibc's sys/gmon_out.h): how often each stretch of code was seen, and arcs
 * between callers and callees. Addresses are link-time ones, as glibc writes them for any program; the file does not
 * say of which program, so that is an option, "a.out" as with gprof where it is not given.
 *
 *     "gmon", version, 12 bytes | records: tag 0 histogram, 1 arc, 2 basic blocks
 */
#include "filters/sink.h"

enum { HEADER_BYTES = 20, HISTOGRAM = 0, ARC = 1, BLOCKS = 2 };

struct gmon {
    const struct filter_input *in;
    struct sink sink;
    const char *module;
    uint32_t calls;
    struct err *err;
};

static int wrong(struct gmon *g, const struct cursor *c, const char *what)
{
    return err_set(g->err, ERR_FORMAT, "%s, byte %zu: %s", g->in->name, (size_t)(c->p - (const uint8_t *)g->in->bytes),
                   what);
}

static uint32_t context_at(struct gmon *g, uint64_t address)
{
    struct hpcprof_context c = {
        .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(g->sink.into, g->module, ""), .address = address};
    return hpcprof_add_context(g->sink.into, &c);
}

/* Each count is of an equal share of the stretch; the sample is put at the share's beginning. */
static int read_histogram(struct gmon *g, struct cursor *c)
{
    uint64_t low = cursor_u64(c), high = cursor_u64(c);
    uint32_t n = cursor_u32(c), rate = cursor_u32(c);
    cursor_bytes(c, 16);
    if (c->bad || n == 0 || high <= low || rate == 0 || cursor_left(c) < (uint64_t)n * 2)
        return wrong(g, c, "a histogram is cut short or makes no sense");
    uint64_t period = 1000000 / rate;
    uint32_t event = sink_event(&g->sink, "time", "gprof's samples", "us", period ? period : 1);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t samples = cursor_u16(c), offset = (uint64_t)((unsigned __int128)(high - low) * i / n);
        if (samples)
            sink_add(&g->sink, context_at(g, low + offset), event, samples, samples * (period ? period : 1));
    }
    return 0;
}

/* How often a function was called, at its entry. */
static int read_arc(struct gmon *g, struct cursor *c)
{
    cursor_u64(c);
    uint64_t to = cursor_u64(c), count = cursor_u32(c);
    if (c->bad)
        return wrong(g, c, "an arc is cut short");
    sink_add(&g->sink, context_at(g, to), g->calls, 0, count);
    return 0;
}

static int read_blocks(struct gmon *g, struct cursor *c)
{
    uint64_t n = cursor_u32(c);
    if (c->bad || cursor_left(c) / 16 < n)
        return wrong(g, c, "counts of basic blocks are cut short");
    cursor_bytes(c, n * 16);
    return 0;
}

bool gmon_sniff(const void *bytes, size_t len)
{
    return len >= HEADER_BYTES && memcmp(bytes, "gmon\1\0\0\0", 8) == 0;
}

int gmon_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct gmon g = {.in = in, .module = in->options->program ? in->options->program : "a.out", .err = err};
    struct cursor c = cursor_make(in->bytes, in->len);
    int status = 0;
    if (!gmon_sniff(in->bytes, in->len))
        return err_set(err, ERR_FORMAT, "%s: does not begin as a gmon.out file of a machine of this byte order",
                       in->name);
    if (!in->options->program)
        warnings_add(warnings,
                     "%s: does not say of which program it is; taken for a.out ('hpcview import --program' says)",
                     in->name);
    cursor_bytes(&c, HEADER_BYTES);
    g.sink = sink_begin(into, in, "gprof", g.module);
    g.calls = sink_event(&g.sink, "calls", "how often the function was called", "calls", 0);
    while (status == 0 && cursor_left(&c)) {
        uint8_t tag = cursor_u8(&c);
        status = tag == HISTOGRAM ? read_histogram(&g, &c)
                 : tag == ARC     ? read_arc(&g, &c)
                 : tag == BLOCKS  ? read_blocks(&g, &c)
                                  : wrong(&g, &c, "is no record of a gmon.out file");
    }
    return status;
}
