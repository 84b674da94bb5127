/* SPDX-License-Identifier: BSD-3-Clause */
/* All properties that were read, by name. */
#include "diagnose/read/read.h"

struct properties *properties_create(void)
{
    struct properties *p = mem_calloc(1, sizeof *p);
    p->arena = arena_create();
    return p;
}

void property_release(struct property *p)
{
    struct text *texts[] = {&p->title, &p->evidence, &p->explanation, &p->remedy};
    for (size_t i = 0; i < p->conditions.count; i++)
        expr_free(p->conditions.items[i].expr);
    for (size_t i = 0; i < p->confidences.count; i++)
        expr_free(p->confidences.items[i].expr);
    for (size_t i = 0; i < p->severities.count; i++)
        expr_free(p->severities.items[i].expr);
    for (size_t i = 0; i < p->leasts.count; i++)
        expr_free(p->leasts.items[i].expr);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        for (size_t k = 0; k < texts[i]->count; k++)
            expr_free(texts[i]->items[k].expr);
        vec_release(texts[i]);
    }
    vec_release(&p->conditions);
    vec_release(&p->confidences);
    vec_release(&p->severities);
    vec_release(&p->leasts);
    vec_release(&p->filters);
    vec_release(&p->needs);
}

void properties_free(struct properties *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->list.count; i++)
        property_release(p->list.items[i]);
    for (size_t i = 0; i < p->aliases.count; i++)
        vec_release(&p->aliases.items[i].names);
    for (size_t i = 0; i < p->templates.count; i++) {
        vec_release(&p->templates.items[i]->parameters);
        vec_release(&p->templates.items[i]->body);
    }
    for (size_t i = 0; i < p->files.count; i++)
        vec_release(&p->files.items[i]);
    vec_release(&p->list);
    vec_release(&p->aliases);
    vec_release(&p->sources);
    vec_release(&p->templates);
    vec_release(&p->files);
    vec_release(&p->statistics);
    expr_functions_release(&p->definitions);
    arena_free(p->arena);
    mem_free(p);
}

uint32_t properties_find(const struct properties *p, const char *name)
{
    for (size_t i = 0; i < p->list.count; i++)
        if (strcmp(p->list.items[i]->name, name) == 0)
            return (uint32_t)i;
    return NONE;
}

const struct alias *properties_alias(const struct properties *p, const char *name)
{
    for (size_t i = p->aliases.count; i-- > 0;) /* the last: a user's file comes after ours */
        if (strcmp(p->aliases.items[i].name, name) == 0)
            return &p->aliases.items[i];
    return NULL;
}

const char *properties_table_maker(const struct properties *p, const char *table)
{
    for (size_t i = 0; i < p->sources.count; i++)
        if (strcmp(p->sources.items[i].table, table) == 0)
            return p->sources.items[i].made_by;
    return NULL;
}

size_t properties_count(const struct properties *p)
{
    return p->list.count;
}

const char *const *properties_statistics(const struct properties *p)
{
    return p->statistics.items;
}

void property_each_expr(const struct property *p, void (*each)(void *ctx, const struct expr *), void *ctx)
{
    for (size_t i = 0; i < p->conditions.count; i++)
        each(ctx, p->conditions.items[i].expr);
    for (size_t i = 0; i < p->confidences.count; i++)
        each(ctx, p->confidences.items[i].expr);
    for (size_t i = 0; i < p->severities.count; i++)
        each(ctx, p->severities.items[i].expr);
    for (size_t i = 0; i < p->leasts.count; i++)
        each(ctx, p->leasts.items[i].expr);
}
