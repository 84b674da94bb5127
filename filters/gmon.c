/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gmon.out of programs compiled with -pg (glibc's sys/gmon_out.h): how often each range of code was seen, and arcs
 * between callers and callees. Addresses are link-time ones, as glibc writes them for any program; the file does not
 * name the program, so that is an option, "a.out" by default as with gprof.
 *
 *     "gmon", version, 12 bytes | records: tag 0 histogram, 1 arc, 2 basic blocks
 */
#include "filters/base/builder.h"
#include "filters/base/call_edges.h"
#include "filters/base/image.h"
#include "filters/formats.h"

enum { HEADER_BYTES = 20, HISTOGRAM = 0, ARC = 1, BLOCKS = 2 };

struct gmon {
    const struct filter_input *in;
    struct builder builder;
    const char *module;
    struct filter_image image; /* of the program, if it is here */
    struct filemap code;
    uint32_t calls;
    struct table *edges; /* NULL: no arc so far */
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
        .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(g->builder.into, g->module, ""), .address = address};
    return hpcprof_add_context(g->builder.into, &c);
}

/* Each count is of an equal share of the stretch; the sample is put at the share's beginning. */
static int read_histogram(struct gmon *g, struct cursor *c)
{
    uint64_t low = cursor_u64(c), high = cursor_u64(c);
    uint32_t n = cursor_u32(c), rate = cursor_u32(c);
    cursor_bytes(c, 16);
    if (c->bad || n == 0 || high <= low || rate == 0 || cursor_left(c) < (uint64_t)n * 2)
        return wrong(g, c, "a histogram is truncated or inconsistent");
    uint64_t period = 1000000 / rate;
    uint32_t event = builder_event(&g->builder, "time", "gprof's samples", "us", period ? period : 1);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t samples = cursor_u16(c), offset = (uint64_t)((unsigned __int128)(high - low) * i / n);
        if (samples)
            builder_add(&g->builder, context_at(g, low + offset), event, samples, samples * (period ? period : 1));
    }
    return 0;
}

/* Of a return address glibc keeps 16-byte blocks (HASHFRACTION), and of the called function the address after its
   call of mcount. So the call is the one in that block that leads to just before that address, if there is one. */
enum { BLOCK_BYTES = 16, PROLOGUE_BYTES = 64, CALL = 0xe8, CALL_BYTES = 5 };

static uint64_t call_at(const struct gmon *g, uint64_t from, uint64_t to)
{
    uint64_t offset;
    if (!g->image.x86 || from < CALL_BYTES || !filter_image_offset_of(&g->image, from - CALL_BYTES, &offset))
        return from;
    struct cursor c = cursor_make(g->code.bytes, g->code.len);
    cursor_bytes(&c, offset);
    for (uint64_t returns = from; returns < from + BLOCK_BYTES; returns++) {
        struct cursor instruction = c;
        uint8_t code = cursor_u8(&instruction);
        uint64_t target = returns + (uint64_t)(int64_t)(int32_t)cursor_u32(&instruction);
        if (!instruction.bad && code == CALL && to - target <= PROLOGUE_BYTES)
            return returns - 1;
        cursor_u8(&c);
    }
    return from;
}

/* How often a function was called, at its entry, and from where. */
static int read_arc(struct gmon *g, struct cursor *c)
{
    uint64_t from = cursor_u64(c), to = cursor_u64(c), count = cursor_u32(c);
    if (c->bad)
        return wrong(g, c, "an arc is truncated");
    if (count == 0)
        return 0;
    if (!g->edges && call_edges_declare(g->builder.into, &g->edges, g->err) < 0)
        return -1;
    uint32_t caller = from ? context_at(g, call_at(g, from, to)) : TABLE_NONE, callee = context_at(g, to);
    builder_add(&g->builder, callee, g->calls, 0, count);
    call_edges_add(g->edges, &(struct call_edge){caller, callee, count, TABLE_NO_COUNT});
    return 0;
}

static int read_blocks(struct gmon *g, struct cursor *c)
{
    uint64_t n = cursor_u32(c);
    if (c->bad || cursor_left(c) / 16 < n)
        return wrong(g, c, "counts of basic blocks are truncated");
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
        return err_set(err, ERR_FORMAT, "%s: not a gmon.out file of this byte order", in->name);
    if (!in->options->program)
        warnings_add(warnings, "%s: does not name its program; a.out assumed (name it with 'hpcview import --program')",
                     in->name);
    cursor_bytes(&c, HEADER_BYTES);
    g.builder = builder_begin(into, in, "gprof", g.module);
    g.calls = builder_event(&g.builder, "calls", "number of calls of the function", "calls", 0);
    if (in->options->program && input_open(in, in->options->program, &g.code))
        filter_image_read(&g.image, g.code.bytes, g.code.len);
    while (status == 0 && cursor_left(&c)) {
        uint8_t tag = cursor_u8(&c);
        status = tag == HISTOGRAM ? read_histogram(&g, &c)
                 : tag == ARC     ? read_arc(&g, &c)
                 : tag == BLOCKS  ? read_blocks(&g, &c)
                                  : wrong(&g, &c, "is not a record of a gmon.out file");
    }
    filter_image_release(&g.image);
    filemap_release(&g.code);
    return status;
}
