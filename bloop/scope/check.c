/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify what every scope tree promises: indices, kinds, order, ranges. */
#include "bloop/scope/scope_int.h"

#include <stdlib.h>

struct check {
    const struct scope_tree *tree;
    struct err *err;
};

static int wrong(struct check *c, size_t i, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "scope %zu (%s): %s", i, scope_kind_name(c->tree->scopes[i].kind), what);
}

/* Which kinds may stand directly under which. */
static bool may_hold(uint8_t parent, uint8_t child)
{
    switch (parent) {
    case SCOPE_MODULE:
        return child == SCOPE_FILE;
    case SCOPE_FILE:
        return child == SCOPE_PROC;
    case SCOPE_PROC:
    case SCOPE_INLINE:
    case SCOPE_LOOP:
        return child == SCOPE_INLINE || child == SCOPE_LOOP || child == SCOPE_STMT;
    default:
        return false;
    }
}

static int check_strings(struct check *c, size_t i)
{
    const struct scope *s = &c->tree->scopes[i];
    const str_id ids[] = {s->name, s->short_name, s->link_name, s->origin, s->file, s->call_file};
    for (size_t k = 0; k < ARRAY_SIZE(ids); k++)
        if (ids[k] >= strtab_count(c->tree->strings))
            return wrong(c, i, "a string id is outside the string table");
    return 0;
}

static int check_ranges(struct check *c, size_t i)
{
    const struct scope *s = &c->tree->scopes[i];
    if (s->range_first > c->tree->range_count || s->range_count > c->tree->range_count - s->range_first)
        return wrong(c, i, "its ranges lie outside the pool");
    for (uint32_t r = 0; r < s->range_count; r++) {
        const struct addr_range *range = &c->tree->ranges[s->range_first + r];
        if (range->begin >= range->end)
            return wrong(c, i, "a range is empty or ends before it begins");
        if (r > 0 && range[-1].end > range->begin)
            return wrong(c, i, "its ranges overlap or are not in order");
    }
    return 0;
}

static int check_fields(struct check *c, size_t i)
{
    const struct scope *s = &c->tree->scopes[i];
    if (s->kind > SCOPE_STMT)
        return wrong(c, i, "no such kind");
    if (s->kind == SCOPE_MODULE ? s->parent != SCOPE_NONE : s->parent >= i)
        return wrong(c, i, "its parent does not come before it");
    if (s->kind != SCOPE_MODULE && !may_hold(c->tree->scopes[s->parent].kind, s->kind))
        return wrong(c, i, "not allowed under its parent");
    if (s->line_last && s->line_last < s->line_first)
        return wrong(c, i, "its last line comes before its first");
    if (s->kind == SCOPE_LOOP && (s->instance < 1 || s->instance > s->instances))
        return wrong(c, i, "its instance number is outside 1 to instances");
    return 0;
}

/* Pre-order: the parent of each scope is the scope before it or one of that one's ancestors. Walking up costs no more
   than was walked down before. */
static int check_preorder(struct check *c)
{
    const struct scope *scopes = c->tree->scopes;
    for (size_t i = 1; i < c->tree->scope_count; i++) {
        scope_ix up = (scope_ix)(i - 1);
        while (up != SCOPE_NONE && up != scopes[i].parent)
            up = scopes[up].parent;
        if (up != scopes[i].parent)
            return wrong(c, i, "it does not follow its parent in document order");
    }
    return 0;
}

static int check_order(struct check *c)
{
    const struct scope_tree *t = c->tree;
    vaddr *lowest = scope_lowest_addresses(t);
    scope_ix *last = mem_alloc((t->scope_count + 1) * sizeof *last); /* last child seen */
    int status = 0;
    for (size_t i = 0; i < t->scope_count; i++)
        last[i] = SCOPE_NONE;
    for (size_t i = 0; i < t->scope_count && status == 0; i++) {
        const struct scope *s = &t->scopes[i];
        if (s->parent == SCOPE_NONE)
            continue;
        scope_ix before = last[s->parent];
        last[s->parent] = (scope_ix)i;
        if (before == SCOPE_NONE)
            continue;
        if (s->kind == SCOPE_FILE) {
            if (strcmp(strtab_get(t->strings, t->scopes[before].name), strtab_get(t->strings, s->name)) >= 0)
                status = wrong(c, i, "files are not in the order of their names, or one is repeated");
        } else if (lowest[i] != UINT64_MAX && lowest[before] != UINT64_MAX && lowest[before] > lowest[i]) {
            status = wrong(c, i, "it comes after a scope of higher addresses");
        }
    }
    mem_free(lowest);
    mem_free(last);
    return status;
}

struct stmt_range {
    struct addr_range range;
    scope_ix scope;
};

static int by_begin(const void *a, const void *b)
{
    const struct stmt_range *x = a, *y = b;
    return order_of(x->range.begin, y->range.begin) ?: order_of(x->scope, y->scope);
}

static int check_overlap(struct check *c)
{
    const struct scope_tree *t = c->tree;
    struct VEC(struct stmt_range) all = {0};
    int status = 0;
    for (size_t i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_STMT)
            for (uint32_t r = 0; r < t->scopes[i].range_count; r++)
                *vec_push(&all) = (struct stmt_range){t->ranges[t->scopes[i].range_first + r], (scope_ix)i};
    vec_sort(&all, by_begin);
    for (size_t i = 1; i < all.count && status == 0; i++)
        if (all.items[i - 1].range.end > all.items[i].range.begin &&
            scope_tree_enclosing(t, all.items[i - 1].scope, SCOPE_MODULE) ==
                scope_tree_enclosing(t, all.items[i].scope, SCOPE_MODULE))
            status = wrong(c, all.items[i].scope, "its addresses also belong to another statement");
    vec_release(&all);
    return status;
}

int scope_check_indices(const struct scope_tree *t, struct err *err)
{
    struct check c = {t, err};
    if (t->scope_count >= SCOPE_NONE || t->range_count > UINT32_MAX)
        return err_set(err, ERR_LIMIT, "a scope tree of %zu scopes and %zu ranges exceeds its 32-bit indices",
                       t->scope_count, t->range_count);
    for (size_t i = 0; i < t->scope_count; i++)
        if (check_fields(&c, i) < 0 || check_strings(&c, i) < 0 || check_ranges(&c, i) < 0)
            return -1;
    return check_preorder(&c);
}

int scope_tree_check(const struct scope_tree *t, struct err *err)
{
    struct check c = {t, err};
    return scope_check_indices(t, err) < 0 || check_order(&c) < 0 || check_overlap(&c) < 0 ? -1 : 0;
}
