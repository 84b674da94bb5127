/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a scope tree in document order, and walking one in that order. */
#include "bloop/scope/scope_int.h"

struct scope *scope_builder_begin(struct scope_builder *b, enum scope_kind kind)
{
    struct scope_tree *t = b->tree;
    if (t->scope_count == b->scope_capacity)
        t->scopes = vec_grow_(t->scopes, &b->scope_capacity, t->scope_count + 1, sizeof *t->scopes);
    struct scope *s = &t->scopes[t->scope_count];
    *s = (struct scope){.kind = (uint8_t)kind, .range_first = (uint32_t)t->range_count};
    s->parent = b->open.count ? b->open.items[b->open.count - 1] : SCOPE_NONE;
    if (kind == SCOPE_LOOP)
        s->instance = s->instances = 1;
    *vec_push(&b->open) = (scope_ix)t->scope_count++;
    return s;
}

void scope_builder_range(struct scope_builder *b, vaddr begin, vaddr end)
{
    struct scope_tree *t = b->tree;
    if (t->range_count == b->range_capacity)
        t->ranges = vec_grow_(t->ranges, &b->range_capacity, t->range_count + 1, sizeof *t->ranges);
    t->ranges[t->range_count++] = (struct addr_range){begin, end};
    t->scopes[t->scope_count - 1].range_count++;
}

void scope_builder_end(struct scope_builder *b)
{
    b->open.count--;
}

struct scope *scope_builder_top(struct scope_builder *b)
{
    return b->open.count ? &b->tree->scopes[b->open.items[b->open.count - 1]] : NULL;
}

void scope_builder_release(struct scope_builder *b)
{
    vec_release(&b->open);
}

void scope_walk_close(struct scope_walk *w, scope_ix next, void (*end)(void *ctx, scope_ix), void *ctx)
{
    scope_ix parent = next == SCOPE_NONE ? SCOPE_NONE : w->tree->scopes[next].parent;
    while (w->open.count && w->open.items[w->open.count - 1] != parent)
        end(ctx, w->open.items[--w->open.count]);
    if (next == SCOPE_NONE)
        vec_release(&w->open);
    else
        *vec_push(&w->open) = next;
}

const char *scope_kind_name(enum scope_kind kind)
{
    static const char *const names[] = {"MODULE", "FILE", "PROC", "INLINE", "LOOP", "STMT"};
    return kind < ARRAY_SIZE(names) ? names[kind] : "?";
}

const char *loop_role_name(enum loop_role role)
{
    static const char *const names[] = {"", "vector", "remainder", "unrolled"};
    return role < ARRAY_SIZE(names) ? names[role] : "";
}

vaddr *scope_lowest_addresses(const struct scope_tree *t)
{
    vaddr *lowest = mem_alloc((t->scope_count + 1) * sizeof *lowest);
    for (size_t i = 0; i < t->scope_count; i++) {
        const struct scope *s = &t->scopes[i];
        lowest[i] = s->kind == SCOPE_PROC && s->entry ? s->entry : UINT64_MAX;
        if (s->kind != SCOPE_PROC)
            for (uint32_t r = 0; r < s->range_count; r++)
                if (t->ranges[s->range_first + r].begin < lowest[i])
                    lowest[i] = t->ranges[s->range_first + r].begin;
    }
    for (size_t i = t->scope_count; i-- > 0;) {
        scope_ix parent = t->scopes[i].parent;
        if (parent != SCOPE_NONE && t->scopes[parent].kind != SCOPE_PROC && lowest[i] < lowest[parent])
            lowest[parent] = lowest[i];
    }
    return lowest;
}
