/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of places in the source. A loop that the compiler copied (unrolled with its remainder, inlined into five
 * callers, two builds of a module) is many places and one source loop.
 *
 *     LINE          the same line of the same file
 *     LOOP          begins at the same line of the same file, is as deep among loops that begin there, and the same
 *                   one of those beside each other
 *     PROC, INLINE  the same function, with its parameters, of the same file; compilers' clones of it too
 *     FILE          the same file, in whatever modules
 *
 * The loop's last line is not compared: copies of one loop often differ in it, because the compiler moved the rest of
 * the body out of one of them. The depth distinguishes the two loops of `for (...) for (...)` on one line, one in the
 * other; the ordinal from the left distinguishes those of `for (...) a; for (...) b;`. Neither are copies.
 */
#include "metrics/model/model.h"

str_id source_function_name(struct strtab *strings, str_id name)
{
    const char *text = strtab_get(strings, name);
    size_t n = strlen(text);
    const char *clone = n && text[n - 1] == ']' ? strstr(text, " [clone ") : NULL;
    return clone && clone != text ? strtab_addn(strings, text, (size_t)(clone - text)) : name;
}

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
        key[3] = depth_on_line(e, p) << 8 | p->on_line;
        return p->line_first != 0;
    case PLACE_LINE:
        return p->line_first != 0;
    case PLACE_PROC:
    case PLACE_INLINE:
        key[2] = source_function_name(e->strings, p->full_name);
        return true;
    case PLACE_FILE:
        key[2] = 0;
        return true;
    default:
        return false;
    }
}

struct like {
    const struct experiment *e;
    uint32_t key[4];
};

static bool is_like(const void *ctx, uint32_t place)
{
    const struct like *wanted = ctx;
    uint32_t key[4];
    return key_of(wanted->e, &wanted->e->places[place], key) && memcmp(key, wanted->key, sizeof key) == 0;
}

void experiment_find_same(struct experiment *e)
{
    struct row_index first = {0}; /* places that others are the same as */
    for (place_ix i = 0; i < e->place_count; i++) {
        struct place *p = &e->places[i];
        struct like like = {.e = e};
        p->same = i;
        if (!key_of(e, p, like.key))
            continue;
        uint64_t hash = hash_bytes(like.key, sizeof like.key, 0);
        uint32_t known = row_index_find(&first, hash, is_like, &like);
        if (known == ROW_NONE)
            row_index_add(&first, hash, i);
        else
            p->same = known;
    }
    row_index_release(&first);
}
