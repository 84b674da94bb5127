/*
 * A measurement from a drawing, so that tests know its exact contents:
 *
 *     make_measurement OUT.hpcprof < drawing
 *
 *     event NAME PERIOD UNIT [FLAGS]  an event for counts; flags as numbers (enum hpcprof_event_flags)
 *     module PATH [BUILD_ID]          the module of the following lines
 *     process COMMAND [RANK]          a new process (with its main thread)
 *     ended STATUS BEGIN END [cut]    its lifetime in ns and its exit status; cut: before its final data were written
 *     noted NAME VALUE                another fact about it
 *     thread NAME                     a new thread of it
 *     lived BEGIN END CPU             the thread's lifetime and CPU time
 *     at HEX EVENT SAMPLES            samples at an address of the module
 *     from HEX...                     callers of the following lines, outermost first; without addresses: unknown
 *     cut WORDS...                    as from, for an incomplete path: the reason ("_" for blanks)
 *     line PROC FILE LINE EVENT N     samples at a line; "-" omits PROC or FILE; PROC@FILE: the procedure's file
 *     region NAME                     enters a region, inside those already open; "-" leaves the innermost
 *     total EVENT VALUE               the final value of the thread's counter
 *     lost EVENT N                    samples lost by the kernel
 *     evict HEX HEX N                 a row of the table "evictors": the second address evicted the data of the
 *                                     first, N times, in this thread and region
 *     fact TABLE NAME N               a row of the table: its name and its value
 */
#include "hpcprof/hpcprof.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_WORDS = 8 };

struct maker {
    struct hpcprof *p;
    uint32_t module, process, thread, threads_of_process, region, caller;
};

static void fail(const char *what, const char *word)
{
    fprintf(stderr, "make_measurement: %s '%s'\n", what, word);
    exit(1);
}

static uint32_t event_named(const struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->p->event_count; i++)
        if (strcmp(strtab_get(m->p->strings, m->p->events[i].name), name) == 0)
            return (uint32_t)i;
    fail("no event", name);
    return 0;
}

static void add_thread(struct maker *m, const char *name)
{
    struct hpcprof_thread t = {
        .process = m->process, .number = m->threads_of_process++, .name = strtab_add(m->p->strings, name)};
    m->thread = hpcprof_add_thread(m->p, &t);
}

static void add_samples(struct maker *m, struct hpcprof_context context, const char *event, const char *samples)
{
    uint32_t e = event_named(m, event);
    uint64_t n = strtoull(samples, NULL, 10), period = m->p->events[e].period;
    context.parent = m->caller;
    context.module = m->module;
    struct hpcprof_count c = {.thread = m->thread,
                              .context = hpcprof_add_context(m->p, &context),
                              .event = e,
                              .region = m->region,
                              .samples = period ? n : 0,
                              .value = period ? n * period : n};
    hpcprof_add_count(m->p, &c);
}

static void call_from(struct maker *m, char **addresses, int n)
{
    for (int i = 0; i < n; i++) {
        struct hpcprof_context c = {
            .parent = m->caller, .module = m->module, .address = strtoull(addresses[i], NULL, 16)};
        m->caller = hpcprof_add_context(m->p, &c);
    }
}

static void cut_path(struct maker *m, char *why)
{
    for (char *blank; (blank = strchr(why, '_'));)
        *blank = ' ';
    char *name = mem_printf("[path cut: %s]", why);
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(m->p, name, "")};
    m->caller = hpcprof_add_context(m->p, &c);
    mem_free(name);
}

static void lose(struct maker *m, const char *event, const char *samples)
{
    struct hpcprof_event lost = m->p->events[event_named(m, event)];
    lost.flags |= HPCPROF_LOST;
    struct hpcprof_total t = {m->thread, hpcprof_add_event(m->p, &lost), strtoull(samples, NULL, 10)};
    hpcprof_add_total(m->p, &t);
}

static uint32_t context_at(struct maker *m, const char *address)
{
    struct hpcprof_context c = {
        .parent = HPCPROF_NO_PARENT, .module = m->module, .address = strtoull(address, NULL, 16)};
    return hpcprof_add_context(m->p, &c);
}

static void evict(struct maker *m, const char *victim, const char *evictor, const char *times)
{
    static const struct table_column columns[] = {
        {.name = "victim", .title = "evicted", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
        {.name = "evictor", .title = "by", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
        {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
        {.name = "region", .type = TABLE_REF, .refers = "region", .merge = TABLE_KEY},
        {.name = "blocks", .unit = "lines", .type = TABLE_COUNT, .merge = TABLE_SUM},
    };
    static const struct table_decl evictors = {"evictors", "Evictors", NULL, columns, ARRAY_SIZE(columns)};
    struct table *t;
    struct err err = {0};
    if (table_list_declare(&m->p->tables, &evictors, m->p->strings, &t, &err) < 0)
        fail(err.msg, "evictors");
    table_add(t, (union table_cell[]){{.row = context_at(m, victim)},
                                      {.row = context_at(m, evictor)},
                                      {.row = m->thread},
                                      {.row = m->region},
                                      {.count = strtoull(times, NULL, 10)}});
}

static void add_fact(struct maker *m, const char *table, const char *name, const char *value)
{
    static const struct table_column columns[] = {
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "value", .type = TABLE_COUNT, .merge = TABLE_LAST},
    };
    const struct table_decl facts = {table, NULL, NULL, columns, ARRAY_SIZE(columns)};
    struct table *t;
    struct err err = {0};
    if (table_list_declare(&m->p->tables, &facts, m->p->strings, &t, &err) < 0)
        fail(err.msg, table);
    table_add(t, (union table_cell[]){{.text = strtab_add(m->p->strings, name)}, {.count = strtoull(value, NULL, 10)}});
}

static struct hpcprof_context at_line(struct strtab *s, char **w)
{
    char *own = strchr(w[1], '@');
    struct hpcprof_context c = {
        .by_line = true, .file = strtab_add(s, strcmp(w[2], "-") ? w[2] : ""), .line = (uint32_t)atoi(w[3])};
    if (own)
        *own++ = '\0';
    c.procedure = strtab_add(s, strcmp(w[1], "-") ? w[1] : "");
    c.procedure_file = strtab_add(s, own ? own : "");
    return c;
}

static void take_line(struct maker *m, char **w, int n)
{
    struct strtab *s = m->p->strings;
    if (strcmp(w[0], "event") == 0 && n >= 3) {
        struct hpcprof_event e = {.name = strtab_add(s, w[1]),
                                  .unit = strtab_add(s, n > 3 ? w[3] : ""),
                                  .period = strtoull(w[2], NULL, 10),
                                  .flags = n > 4 ? (unsigned)atoi(w[4]) : 0};
        hpcprof_add_event(m->p, &e);
    } else if (strcmp(w[0], "module") == 0 && n >= 2)
        m->module = hpcprof_add_module(m->p, w[1], n > 2 ? w[2] : "");
    else if (strcmp(w[0], "process") == 0 && n >= 2) {
        struct hpcprof_process p = {.command = strtab_add(s, w[1]),
                                    .host = strtab_add(s, "host"),
                                    .pid = 100 + (uint32_t)m->p->process_count,
                                    .rank = n > 2 ? atoi(w[2]) : -1,
                                    .complete = true};
        m->process = hpcprof_add_process(m->p, &p);
        m->threads_of_process = 0;
        add_thread(m, "main");
    } else if (strcmp(w[0], "ended") == 0 && n >= 4) {
        struct hpcprof_process *p = &m->p->processes[m->process];
        p->exit_status = atoi(w[1]);
        p->start_ns = strtoull(w[2], NULL, 10);
        p->end_ns = strtoull(w[3], NULL, 10);
        p->complete = n == 4;
    } else if (strcmp(w[0], "noted") == 0 && n == 3) {
        struct hpcprof_note note = {.process = m->process, .name = strtab_add(s, w[1]), .value = strtab_add(s, w[2])};
        hpcprof_add_note(m->p, &note);
    } else if (strcmp(w[0], "thread") == 0 && n == 2)
        add_thread(m, w[1]);
    else if (strcmp(w[0], "lived") == 0 && n == 4) {
        struct hpcprof_thread *t = &m->p->threads[m->thread];
        t->start_ns = strtoull(w[1], NULL, 10);
        t->end_ns = strtoull(w[2], NULL, 10);
        t->cpu_ns = strtoull(w[3], NULL, 10);
    } else if (strcmp(w[0], "at") == 0 && n == 4)
        add_samples(m, (struct hpcprof_context){.address = strtoull(w[1], NULL, 16)}, w[2], w[3]);
    else if (strcmp(w[0], "from") == 0) {
        m->caller = HPCPROF_NO_PARENT;
        call_from(m, w + 1, n - 1);
    } else if (strcmp(w[0], "cut") == 0 && n >= 2) {
        cut_path(m, w[1]);
        call_from(m, w + 2, n - 2);
    } else if (strcmp(w[0], "line") == 0 && n == 6)
        add_samples(m, at_line(s, w), w[4], w[5]);
    else if (strcmp(w[0], "region") == 0 && n == 2)
        m->region = strcmp(w[1], "-") ? hpcprof_add_region(m->p, w[1], m->region) : m->p->regions[m->region].parent;
    else if (strcmp(w[0], "total") == 0 && n == 3) {
        struct hpcprof_total t = {m->thread, event_named(m, w[1]), strtoull(w[2], NULL, 10)};
        hpcprof_add_total(m->p, &t);
    } else if (strcmp(w[0], "lost") == 0 && n == 3)
        lose(m, w[1], w[2]);
    else if (strcmp(w[0], "evict") == 0 && n == 4)
        evict(m, w[1], w[2], w[3]);
    else if (strcmp(w[0], "fact") == 0 && n == 4)
        add_fact(m, w[1], w[2], w[3]);
    else
        fail("what is", w[0]);
}

int main(int argc, char **argv)
{
    struct maker m = {.p = hpcprof_create(), .caller = HPCPROF_NO_PARENT};
    struct outfile *out;
    struct err err;
    char text[4096];
    if (argc != 2)
        fail("usage: make_measurement", "OUT");
    while (fgets(text, sizeof text, stdin)) {
        char *words[MOST_WORDS], *rest = text, *word;
        int n = 0;
        while ((word = strsep(&rest, " \t\n")) && n < MOST_WORDS)
            if (*word)
                words[n++] = word;
        if (n && words[0][0] != '#')
            take_line(&m, words, n);
    }
    hpcprof_finish(m.p);
    if (outfile_create(argv[1], &out, &err) < 0 || hpcprof_write(m.p, out, &err) < 0 || outfile_commit(out, &err) < 0)
        fail("cannot write:", err.msg);
    hpcprof_free(m.p);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
