/*
 * Which places are the same thing in the source. A loop that the compiler copied (unrolled with its remainder, inlined
 * into five callers, two builds of a module) is many places; people wrote one.
 *
 *     LINE          the same line of the same file
 *     LOOP          begins at the same line of the same file, and is as deep among loops that begin there
 *     PROC, INLINE  the same function, with its parameters, of the same file
 *     FILE          the same file, in whatever modules
 *
 * Where a loop ends is not asked: copies of one loop often differ in their last line, because the compiler moved the
 * rest of the body out of one of them. The depth keeps `for (...) for (...)` on one line apart: two loops there, one in
 * the other, are not copies.
 */
#include "metrics/metrics.h"

/* How many loops directly around this one, in the same function, begin at its line. */
static uint32_t depth_on_line(const struct experiment *e, const struct place *loop)
{
    uint32_t depth = 0;
    for (place_ix up = loop->parent; up != PLACE_NONE && e->places[up].kind == PLACE_LOOP; up = e->places[up].parent)
        depth += e->places[up].file == loop->file && e->places[up].line_first == loop->line_first;
    return depth;
}

/* Fills the key; false: the place is like no other. */
static bool key_of(const struct experiment *e, const struct place *p, uint32_t key[4])
{
    key[0] = p->kind;
    key[1] = p->file;
    key[2] = p->line_first;
    key[3] = 0;
    if (p->file == SOURCE_NONE)
        return false;
    switch (p->kind) {
    case PLACE_LOOP:
        key[3] = depth_on_line(e, p);
        return p->line_first != 0;
    case PLACE_LINE:
        return p->line_first != 0;
    case PLACE_PROC:
    case PLACE_INLINE:
        key[2] = p->full_name;
        return true;
    case PLACE_FILE:
        key[2] = 0;
        return true;
    default:
        return false;
    }
}

void experiment_find_same(struct experiment *e)
{
    struct strtab *keys = strtab_create();
    struct VEC(place_ix) first = {0}; /* by key */
    for (place_ix i = 0; i < e->place_count; i++) {
        struct place *p = &e->places[i];
        uint32_t key[4];
        p->same = i;
        if (!key_of(e, p, key))
            continue;
        str_id id = strtab_addn(keys, (const char *)key, sizeof key);
        while (first.count <= id)
            *vec_push(&first) = PLACE_NONE;
        if (first.items[id] == PLACE_NONE)
            first.items[id] = i;
        p->same = first.items[id];
    }
    vec_release(&first);
    strtab_free(keys);
}
