/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metric blocks: formulas over quantities ("cycles"), and the names of these in processors, PAPI and perf. The events
 * of a measurement, or those this machine can count, decide which of them can be computed (doc/formats/metrics.md).
 */
#include "metrics/formula/formula.h"

#include <fnmatch.h>
#include <stdlib.h>

struct quantity {
    const char *name, *spelled; /* patterns, a blank between; the best comes first */
};

struct block_metric {
    const char *name, *formula, *unit, *description;
    uint8_t percent; /* enum choice */
    struct expr *expr;
};

struct block {
    const char *name, *title;
    struct VEC(struct block_metric) metrics; /* several of one name: the first that can be computed */
};

struct blocks {
    struct arena *arena;
    struct VEC(struct quantity) quantities;
    struct VEC(struct block) list;
};

void blocks_free(struct blocks *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->list.count; i++) {
        for (size_t k = 0; k < b->list.items[i].metrics.count; k++)
            expr_free(b->list.items[i].metrics.items[k].expr);
        vec_release(&b->list.items[i].metrics);
    }
    vec_release(&b->quantities);
    vec_release(&b->list);
    arena_free(b->arena);
    mem_free(b);
}

size_t blocks_count(const struct blocks *b)
{
    return b->list.count;
}

const char *blocks_name(const struct blocks *b, size_t block)
{
    return b->list.items[block].name;
}

const char *blocks_title(const struct blocks *b, size_t block)
{
    return b->list.items[block].title;
}

static const struct quantity *find_quantity(const struct blocks *b, const char *name)
{
    for (size_t i = 0; i < b->quantities.count; i++)
        if (strcmp(b->quantities.items[i].name, name) == 0)
            return &b->quantities.items[i];
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct block_reader {
    struct blocks *blocks;
    const char *name; /* of the file */
    struct block_metric metric;
    unsigned depth;
    bool in_block;
};

static const char *attribute(struct block_reader *r, const struct xml_event *event, const char *name)
{
    const char *value = xml_attr_get(event, name);
    return arena_strdup(r->blocks->arena, value ? value : "");
}

static int lacks(struct block_reader *r, const struct xml_event *event, const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "%s:%llu: <%s> lacks its attribute '%s'", r->name, (unsigned long long)event->line,
                   event->element, what);
}

static int begin_quantity(struct block_reader *r, const struct xml_event *event, struct err *err)
{
    struct quantity q = {attribute(r, event, "name"), attribute(r, event, "spelled")};
    if (*q.name == '\0' || *q.spelled == '\0')
        return lacks(r, event, *q.name ? "spelled" : "name", err);
    if (find_quantity(r->blocks, q.name))
        return err_set(err, ERR_FORMAT, "%s:%llu: the quantity '%s' is defined twice", r->name,
                       (unsigned long long)event->line, q.name);
    *vec_push(&r->blocks->quantities) = q;
    return 0;
}

static int begin_block(struct block_reader *r, const struct xml_event *event, struct err *err)
{
    struct block b = {.name = attribute(r, event, "name"), .title = attribute(r, event, "title")};
    if (*b.name == '\0')
        return lacks(r, event, "name", err);
    *vec_push(&r->blocks->list) = b;
    r->in_block = true;
    return 0;
}

static int begin_computed(struct block_reader *r, const struct xml_event *event, struct err *err)
{
    const char *percent = attribute(r, event, "percent");
    r->metric = (struct block_metric){.name = attribute(r, event, "name"),
                                      .formula = attribute(r, event, "formula"),
                                      .unit = attribute(r, event, "unit"),
                                      .percent = strcmp(percent, "yes") == 0 ? CHOICE_YES : CHOICE_NO};
    if (*r->metric.name == '\0' || *r->metric.formula == '\0')
        return lacks(r, event, *r->metric.name ? "formula" : "name", err);
    char *what = mem_printf("%s:%llu: %s", r->name, (unsigned long long)event->line, r->metric.name);
    int status = expr_parse(r->metric.formula, what, &r->metric.expr, err);
    mem_free(what);
    return status;
}

static int on_begin(void *ctx, const struct xml_event *event, struct err *err)
{
    struct block_reader *r = ctx;
    const char *element = event->element;
    r->depth++;
    if (r->depth == 1 && strcmp(element, "metrics") == 0)
        return 0;
    if (r->depth == 2 && strcmp(element, "quantity") == 0)
        return begin_quantity(r, event, err);
    if (r->depth == 2 && strcmp(element, "block") == 0)
        return begin_block(r, event, err);
    if (r->depth == 3 && r->in_block && strcmp(element, "computed") == 0)
        return begin_computed(r, event, err);
    return err_set(err, ERR_FORMAT,
                   "%s:%llu: unknown element <%s>; metric blocks have <quantity>, <block> and <computed>", r->name,
                   (unsigned long long)event->line, element);
}

static int on_end(void *ctx, const struct xml_event *event, struct err *err)
{
    struct block_reader *r = ctx;
    (void)err;
    if (r->depth == 3) {
        char *text = str_trimmed(event->text);
        r->metric.description = arena_strdup(r->blocks->arena, text);
        mem_free(text);
        struct block *b = &r->blocks->list.items[r->blocks->list.count - 1];
        *vec_push(&b->metrics) = r->metric;
        r->metric.expr = NULL;
    } else if (r->depth == 2)
        r->in_block = false;
    r->depth--;
    return 0;
}

static int read_file(struct blocks *b, const char *path, struct err *err)
{
    struct filemap map;
    struct block_reader r = {.blocks = b, .name = path};
    struct xml_handler handler = {on_begin, on_end, &r};
    if (filemap_open(&map, path, err) < 0)
        return -1;
    int status =
        map.len > LIMIT_CONFIG_BYTES
            ? err_set(err, ERR_LIMIT, "%s: is larger than %u bytes (LIMIT_CONFIG_BYTES)", path, LIMIT_CONFIG_BYTES)
            : xml_read(map.bytes, map.len, path, &handler, err);
    expr_free(r.metric.expr);
    filemap_release(&map);
    return status;
}

/* Every name in a formula is a quantity, or a metric before it in its block. */
static int check_names(const struct blocks *b, const struct block *block, size_t metric, struct err *err)
{
    const struct block_metric *m = &block->metrics.items[metric];
    for (size_t i = 0; i < expr_name_count(m->expr); i++) {
        size_t earlier = 0;
        while (earlier < metric && strcmp(block->metrics.items[earlier].name, expr_name(m->expr, i)) != 0)
            earlier++;
        if (earlier == metric && !find_quantity(b, expr_name(m->expr, i)))
            return err_set(err, ERR_FORMAT, "block '%s': %s: '%s' is neither a quantity nor an earlier metric",
                           block->name, m->name, expr_name(m->expr, i));
    }
    return 0;
}

static int check_blocks(const struct blocks *b, struct err *err)
{
    for (size_t i = 0; i < b->list.count; i++)
        for (size_t k = 0; k < b->list.items[i].metrics.count; k++)
            if (check_names(b, &b->list.items[i], k, err) < 0)
                return -1;
    return 0;
}

int blocks_read(const char *folder, struct blocks **result, struct err *err)
{
    struct text_list files = {0};
    struct blocks *b = mem_calloc(1, sizeof *b);
    b->arena = arena_create();
    int status = dir_list(folder, ".xml", "the metric blocks cannot be read", &files, err);
    for (size_t i = 0; i < files.count && status == 0; i++)
        status = read_file(b, files.items[i], err);
    text_list_release(&files);
    if (status == 0)
        status = check_blocks(b, err);
    if (status < 0) {
        blocks_free(b);
        b = NULL;
    }
    *result = b;
    return status;
}

/* ---- what can be computed from events ---------------------------------------------------------------- */

/* "cycles:u" is cycles: perf's modifiers restrict where it counts. PAPI's names have two colons, and masks behind
   one. */
static size_t without_modifiers(const char *event)
{
    size_t n = strlen(event);
    const char *colon = strrchr(event, ':');
    bool modifiers = colon && colon > event && colon[-1] != ':' && !strstr(event, "::") && colon[1] != '\0' &&
                     colon[1 + strspn(colon + 1, "ukhpPGHSDW")] == '\0';
    return modifiers ? (size_t)(colon - event) : n;
}

static bool is_spelled(const char *pattern, const char *event)
{
    char *bare = mem_strndup(event, without_modifiers(event));
    bool is = fnmatch(pattern, bare, FNM_CASEFOLD) == 0;
    mem_free(bare);
    return is;
}

/* The first of the events that is the quantity; NULL: none. */
static const char *event_of(const struct quantity *q, const char *const *events)
{
    char *patterns = mem_strdup(q->spelled), *rest = patterns, *pattern;
    const char *found = NULL;
    while (!found && (pattern = strsep(&rest, " \t\n")))
        for (size_t i = 0; *pattern && !found && events[i]; i++)
            if (is_spelled(pattern, events[i]))
                found = events[i];
    mem_free(patterns);
    return found;
}

bool blocks_same_quantity(const struct blocks *b, const char *x, const char *y)
{
    const char *const one[] = {x, NULL}, *const other[] = {y, NULL};
    bool same = false;
    for (size_t i = 0; b && i < b->quantities.count && !same; i++)
        same = event_of(&b->quantities.items[i], one) && event_of(&b->quantities.items[i], other);
    return same;
}

/* The formula's text with each quantity as the event is called. */
static void write_formula(const struct blocks *b, const char *formula, const char *const *events, struct buf *out)
{
    static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:";
    for (const char *p = formula; *p;) {
        size_t n = strspn(p, name_characters);
        char *word = mem_strndup(p, n);
        const struct quantity *q = n ? find_quantity(b, word) : NULL;
        const char *event = q ? event_of(q, events) : NULL;
        if (event)
            expr_quote_name(out, event);
        else
            buf_add(out, p, n ? n : 1);
        mem_free(word);
        p += n ? n : 1;
    }
}

/* Whether all names of the formula are known: events, or metrics that were found before. */
static bool can_be_computed(const struct blocks *b, const struct block *block, const bool *found, size_t metric,
                            const char *const *events)
{
    const struct block_metric *m = &block->metrics.items[metric];
    for (size_t i = 0; i < expr_name_count(m->expr); i++) {
        const struct quantity *q = find_quantity(b, expr_name(m->expr, i));
        bool known = q && event_of(q, events);
        for (size_t k = 0; k < metric && !known; k++)
            known = found[k] && strcmp(block->metrics.items[k].name, expr_name(m->expr, i)) == 0;
        if (!known)
            return false;
    }
    return true;
}

/* By metric of the block: is it the one of its name that is computed? mem_free. */
static bool *choose(const struct blocks *b, const struct block *block, const char *const *events)
{
    bool *found = mem_calloc(block->metrics.count, sizeof *found);
    for (size_t i = 0; i < block->metrics.count; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || (found[k] && strcmp(block->metrics.items[k].name, block->metrics.items[i].name) == 0);
        found[i] = !again && can_be_computed(b, block, found, i, events);
    }
    return found;
}

static const struct block *find_block(const struct blocks *b, const char *name, struct err *err)
{
    struct VEC(const char *) names = {0};
    const struct block *found = NULL;
    for (size_t i = 0; i < b->list.count; i++) {
        *vec_push(&names) = b->list.items[i].name;
        if (strcmp(b->list.items[i].name, name) == 0)
            found = &b->list.items[i];
    }
    *vec_push(&names) = NULL;
    if (!found) {
        const char *near = str_nearest(name, names.items);
        struct buf list = {0};
        for (size_t i = 0; names.items[i]; i++)
            buf_printf(&list, "%s%s", i ? ", " : "", names.items[i]);
        err_set(err, ERR_USAGE, "no metric block '%s'%s%s%s", name, near ? "; did you mean '" : "; available: ",
                near       ? near
                : list.len ? list.bytes
                           : "none",
                near ? "'?" : "");
        buf_release(&list);
    }
    vec_release(&names);
    return found;
}

int blocks_check_name(const struct blocks *b, const char *name, struct err *err)
{
    return find_block(b, name, err) ? 0 : -1;
}

void blocks_metrics(const struct blocks *b, const char *name, const char *const *events,
                    void (*each)(void *ctx, const struct config_metric *), void *ctx)
{
    for (size_t i = 0; i < b->list.count; i++) {
        const struct block *block = &b->list.items[i];
        if (name && strcmp(block->name, name) != 0)
            continue;
        bool *found = choose(b, block, events);
        for (size_t k = 0; k < block->metrics.count; k++) {
            const struct block_metric *m = &block->metrics.items[k];
            struct buf formula = {0};
            if (!found[k])
                continue;
            write_formula(b, m->formula, events, &formula);
            struct config_metric given = {.name = m->name,
                                          .display_name = "",
                                          .unit = m->unit,
                                          .description = m->description,
                                          .block = "",
                                          .event = "",
                                          .formula = formula.bytes,
                                          .region = "",
                                          .run_name = "",
                                          .run = RUN_ALL,
                                          .percent = m->percent,
                                          .where = block->name};
            each(ctx, &given);
            buf_release(&formula);
        }
        mem_free(found);
    }
}

/* The events that a block needs and lacks. */
static int nothing_usable(const struct blocks *b, const struct block *block, const char *const *usable, struct err *err)
{
    struct strtab *seen = strtab_create();
    struct buf wanted = {0};
    for (size_t k = 0; k < block->metrics.count; k++)
        for (size_t i = 0; i < expr_name_count(block->metrics.items[k].expr) && wanted.len < 300; i++) {
            const struct quantity *q = find_quantity(b, expr_name(block->metrics.items[k].expr, i));
            size_t before = strtab_count(seen);
            if (q && strtab_add(seen, q->name) == before && !event_of(q, usable))
                buf_printf(&wanted, "%s%s", wanted.len ? ", " : "", q->name);
        }
    err_set(err, ERR_UNSUPPORTED, "no metric of the block '%s' can be measured on this machine, which cannot count %s",
            block->name, wanted.len ? wanted.bytes : "that");
    buf_release(&wanted);
    strtab_free(seen);
    return -1;
}

int blocks_events(const struct blocks *b, const char *name, const char *const *usable,
                  void (*each)(void *ctx, const char *event), void *ctx, struct err *err)
{
    const struct block *block = find_block(b, name, err);
    if (!block)
        return -1;
    struct strtab *seen = strtab_create();
    bool *found = choose(b, block, usable), any = false;
    for (size_t k = 0; k < block->metrics.count; k++)
        for (size_t i = 0; found[k] && i < expr_name_count(block->metrics.items[k].expr); i++) {
            const struct quantity *q = find_quantity(b, expr_name(block->metrics.items[k].expr, i));
            size_t before = strtab_count(seen);
            if (!q || strtab_add(seen, q->name) < before)
                continue;
            each(ctx, event_of(q, usable));
            any = true;
        }
    mem_free(found);
    strtab_free(seen);
    return any ? 0 : nothing_usable(b, block, usable, err);
}
