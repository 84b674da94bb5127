/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of property files, and references between the properties. */
#include "diagnose/read/read.h"

int properties_add_folder(struct properties *p, const char *dir, struct warnings *problems, struct err *err)
{
    struct text_list files = {0};
    int status = dir_list(dir, ".asl", "cannot be read", &files, err);
    for (size_t i = 0; i < files.count && status == 0; i++) {
        struct filemap map;
        status = filemap_open(&map, files.items[i], err);
        if (status == 0) {
            properties_add(p, map.bytes ? (const void *)map.bytes : "", map.len, files.items[i], problems);
            filemap_release(&map);
        }
    }
    text_list_release(&files);
    return status;
}

/* ---- references --------------------------------------------------------------------------------- */

static void find_parent(struct properties *p, struct property *of, struct warnings *problems)
{
    struct VEC(const char *) names = {0};
    if (!of->refines_name)
        return;
    of->refines = properties_find(p, of->refines_name);
    for (size_t i = 0; i < p->list.count; i++)
        *vec_push(&names) = p->list.items[i]->name;
    *vec_push(&names) = NULL;
    const char *near = of->refines == NONE ? str_nearest(of->refines_name, names.items) : NULL;
    if (of->refines == NONE)
        token_problem(problems, of->refines_at, "no property '%.60s' to refine%s%s%s", of->refines_name,
                      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    vec_release(&names);
}

/* Walks up; more steps than there are properties means a cycle, which is cut where it is found. */
static void cut_circle(struct properties *p, struct property *from, struct warnings *problems)
{
    uint32_t up = from->refines;
    for (size_t steps = 0; up != NONE; up = p->list.items[up]->refines)
        if (p->list.items[up] == from || ++steps > p->list.count) {
            token_problem(problems, from->refines_at, "%s refines itself, through %s", from->name, from->refines_name);
            from->refines = NONE;
            return;
        }
}

struct ranking {
    struct properties *p;
    struct property *of;
    bool changed;
};

/* A, A.severity or A.confidence. */
static uint32_t component(const struct properties *p, const char *name)
{
    static const char *const parts[] = {".severity", ".confidence"};
    uint32_t found = properties_find(p, name);
    for (size_t i = 0; found == NONE && i < ARRAY_SIZE(parts); i++)
        if (str_ends(name, parts[i])) {
            char *bare = mem_strndup(name, strlen(name) - strlen(parts[i]));
            found = properties_find(p, bare);
            mem_free(bare);
        }
    return found;
}

static void rank_above(void *ctx, const struct expr *e)
{
    struct ranking *r = ctx;
    for (size_t i = 0; i < expr_name_count(e); i++) {
        uint32_t part = component(r->p, expr_name(e, i));
        if (part != NONE && r->p->list.items[part]->rank >= r->of->rank) {
            r->of->rank = r->p->list.items[part]->rank + 1;
            r->changed = true;
        }
    }
}

/* Meta properties above their parts; a rank beyond their number means a circle. */
static void rank_meta(struct properties *p, struct warnings *problems)
{
    struct ranking r = {.p = p, .changed = true};
    while (r.changed) {
        r.changed = false;
        for (size_t i = 0; i < p->list.count; i++) {
            r.of = p->list.items[i];
            if (!r.of->meta || r.of->rank > p->list.count)
                continue;
            property_each_expr(r.of, rank_above, &r);
            if (r.of->rank > p->list.count)
                token_problem(problems, r.of->at, "%s is defined in terms of itself", r.of->name);
        }
    }
}

struct gathering {
    struct properties *p;
    struct strtab *known;
};

static void add_statistic(struct gathering *g, const struct expr_operand *o, const char *name)
{
    struct buf text = {0};
    struct expr_operand plain = {.name = (char *)name, .run = (char *)"", .statistic = o->statistic, .over = o->over};
    expr_operand_text(&plain, &text);
    size_t before = strtab_count(g->known);
    if (strtab_add(g->known, text.bytes) >= before)
        *vec_push(&g->p->statistics) = arena_strdup(g->p->arena, text.bytes);
    buf_release(&text);
}

static void gather_statistics(void *ctx, const struct expr *e)
{
    struct gathering *g = ctx;
    for (size_t i = 0; i < expr_name_count(e); i++) {
        const struct expr_operand *o = expr_operand(e, i);
        const struct alias *a = properties_alias(g->p, o->name);
        if (o->statistic == EXPR_NO_STATISTIC || o->statistic == EXPR_STAT_SUM || o->over == EXPR_REPETITIONS)
            continue;
        if (!a)
            add_statistic(g, o, o->name);
        for (size_t k = 0; a && k < a->names.count; k++)
            add_statistic(g, o, a->names.items[k]);
    }
}

void properties_finish(struct properties *p, struct warnings *problems)
{
    struct gathering g = {.p = p, .known = strtab_create()};
    for (size_t i = 0; i < p->list.count; i++)
        find_parent(p, p->list.items[i], problems);
    for (size_t i = 0; i < p->list.count; i++)
        cut_circle(p, p->list.items[i], problems);
    rank_meta(p, problems);
    for (size_t i = 0; i < p->list.count; i++)
        property_each_expr(p->list.items[i], gather_statistics, &g);
    *vec_push(&p->statistics) = NULL;
    strtab_free(g.known);
    p->finished = true;
}
