/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of gperftools (CPUPROFILE=prof.out, libprofiler): words of the machine that wrote them, then the contents of
 * /proc/self/maps at the end.
 *
 *     0, 3, 0, period in us, 0 | times, n, n addresses (the innermost first), ... | 0, 1, 0 | text
 */
#include "filters/perf/perf.h"
#include "filters/perf/run.h"

#include <stdio.h>

enum { HEAD_WORDS = 5, MOST_PERIOD = 10000000 };

struct words {
    struct cursor c;
    unsigned size; /* of a word: 4 or 8 */
};

static uint64_t next_word(struct words *w)
{
    return w->size == 8 ? cursor_u64(&w->c) : cursor_u32(&w->c);
}

/* The words behind the head, and the period. */
static bool read_head(const void *bytes, size_t len, struct words *w, uint64_t *period)
{
    static const struct {
        unsigned size;
        bool big;
    } kinds[] = {{8, false}, {8, true}, {4, false}, {4, true}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        *w = (struct words){cursor_make(bytes, len), kinds[i].size};
        w->c.big = kinds[i].big;
        uint64_t head[HEAD_WORDS];
        for (unsigned k = 0; k < HEAD_WORDS; k++)
            head[k] = next_word(w);
        *period = head[3];
        if (!w->c.bad && head[0] == 0 && head[1] == 3 && head[2] == 0 && head[4] == 0 && *period > 0 &&
            *period <= MOST_PERIOD)
            return true;
    }
    return false;
}

bool gperftools_sniff(const void *bytes, size_t len)
{
    struct words w;
    uint64_t period;
    return read_head(bytes, len, &w, &period);
}

struct gperftools {
    const struct filter_input *in;
    struct perf_run *run;
    uint32_t event;
    uint64_t period;
    struct VEC(struct perf_frame) frames;
    struct err *err;
};

static int wrong(const struct gperftools *g, const struct words *w, const char *what)
{
    return err_set(g->err, ERR_FORMAT, "%s, byte %zu: %s", g->in->name,
                   (size_t)(w->c.p - (const uint8_t *)g->in->bytes), what);
}

/* "55d0c0a00000-55d0c0a01000 r-xp 00001000 fe:00 1234   /home/me/heat" */
static void read_mapping(struct gperftools *g, const char *line)
{
    struct perf_mapping m = {0};
    unsigned long long begin, end, offset;
    int path = 0;
    if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &begin, &end, &offset, &path) < 3 || path == 0 || !line[path])
        return;
    m.begin = begin;
    m.end = end;
    m.offset = offset;
    m.path = strtab_add(perf_run_strings(g->run), line + path);
    perf_run_map(g->run, 0, &m);
}

static void read_mappings(struct gperftools *g, const struct words *w)
{
    struct line_reader lines = filter_line_reader_make(w->c.p, (size_t)(w->c.end - w->c.p));
    while (filter_line_reader_next(&lines))
        read_mapping(g, lines.text.bytes);
    filter_line_reader_release(&lines);
}

static void add_stack(struct gperftools *g, struct words *w, uint64_t times, uint64_t depth)
{
    g->frames.count = 0;
    for (uint64_t i = 0; i < depth; i++) {
        uint64_t ip = next_word(w);
        if (i < LIMIT_PATH_DEPTH)
            *vec_push(&g->frames) = (struct perf_frame){.ip = ip};
    }
    perf_run_sample(g->run, &(struct perf_sample){.event = g->event,
                                                  .samples = times,
                                                  .period = times * g->period,
                                                  .frames = g->frames.items,
                                                  .frame_count = g->frames.count});
}

/* Stacks up to the trailer, behind which w is left; add false: they are only passed over. */
static int read_stacks(struct gperftools *g, struct words *w, bool add)
{
    uint64_t most_times = UINT32_MAX;
    while (cursor_left(&w->c)) {
        uint64_t times = next_word(w), depth = next_word(w);
        if (w->c.bad || depth == 0 || depth > cursor_left(&w->c) / w->size || times > most_times)
            return wrong(g, w, "a stack is cut short or makes no sense; was it copied whole?");
        if (times == 0) {
            next_word(w);
            return 0;
        }
        if (add)
            add_stack(g, w, times, depth);
        else
            cursor_bytes(&w->c, depth * w->size);
    }
    return wrong(g, w, "ends without the trailer of its stacks; was it copied whole?");
}

int gperftools_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct gperftools g = {.in = in, .run = perf_run_create(into, in), .err = err};
    struct words begin, w;
    int status = read_head(in->bytes, in->len, &begin, &g.period) ? 0 : -1;
    if (status < 0)
        err_set(err, ERR_FORMAT, "%s: does not begin as a profile of gperftools'", in->name);
    g.event = perf_run_event(g.run, "cpu");
    perf_run_is(g.run, "gperftools", g.event, "us");
    w = begin;
    if (status == 0)
        status = read_stacks(&g, &w, false);
    if (status == 0) {
        read_mappings(&g, &w);
        read_stacks(&g, &begin, true);
        status = perf_run_finish(g.run, "", warnings, err);
    }
    perf_run_free(g.run);
    vec_release(&g.frames);
    return status;
}
