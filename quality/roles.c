/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The role of each copy of a source loop in the binary: the compiler makes a main body, unrolled or with vectors, a
 * remainder for single elements, sometimes a second version for arrays that overlap. The number of elements an
 * iteration processes distinguishes them.
 */
#include "quality/quality_int.h"

static bool copies(const struct scope_tree *t, const struct quality_loop *a, const struct quality_loop *b)
{
    const struct scope *x = &t->scopes[a->scope], *y = &t->scopes[b->scope];
    return x->line_first != 0 && x->line_first == y->line_first && x->file == y->file && x->on_line == y->on_line &&
           x->instances > 1 && x->instances == y->instances &&
           scope_tree_enclosing(t, a->scope, SCOPE_PROC) == scope_tree_enclosing(t, b->scope, SCOPE_PROC);
}

static void find_role(const struct scope_tree *t, struct quality_loop *loops, size_t count, size_t i)
{
    struct quality_loop *q = &loops[i];
    uint32_t most = 0, same = 0, others = 0;
    bool scalable = false; /* a copy takes as many as the vectors hold, however long these are */
    for (size_t k = 0; k < count; k++) {
        if (!copies(t, q, &loops[k]))
            continue;
        scalable |= loops[k].vector && loops[k].elements == 0;
        most = loops[k].elements > most ? loops[k].elements : most;
        same += loops[k].elements == q->elements;
        others += k != i;
    }
    if (others == 0)
        q->role = ROLE_ONLY;
    else if (scalable)
        q->role = q->vector && q->elements == 0 ? ROLE_MAIN : ROLE_REMAINDER;
    else if (q->elements == 0)
        q->role = ROLE_ONLY;
    else if (q->elements == most)
        q->role = same > 1 ? ROLE_VERSION : ROLE_MAIN;
    else
        q->role = ROLE_REMAINDER;
    /* Proved if a copy processes fewer at a time; a body that was unrolled by hand has no such copy. */
    q->unrolled = q->unroll > 1 && q->role == ROLE_MAIN;
}

void quality_roles_find(const struct scope_tree *t, struct quality_loop *loops, size_t count)
{
    enum { MOST = 4096 }; /* each is compared with all; no source has so many copies of a loop */
    for (size_t i = 0; i < count && count <= MOST; i++)
        find_role(t, loops, count, i);
}
