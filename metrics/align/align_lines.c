/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of the latest version that corresponds to a line of an older one: by text, or by the offset of its
   function. */
#include "metrics/align/align_int.h"

/* ---- where a function is --------------------------------------------------------------------------- */

uint32_t align_function_around(const struct matcher *m, place_ix i)
{
    const struct place *p = &m->c->places.items[i];
    while (p->kind != PLACE_PROC && p->kind != PLACE_INLINE && p->parent != PLACE_NONE)
        p = &m->c->places.items[p->parent];
    return p->full_name;
}

struct aligned_function {
    const struct matcher *m;
    uint32_t file, name, kind;
};

static bool is_function(const void *ctx, uint32_t i)
{
    const struct aligned_function *f = ctx;
    const struct place *p = &f->m->c->places.items[i];
    return p->file == f->file && p->full_name == f->name && p->kind == f->kind;
}

static uint64_t hash_of(const struct aligned_function *f)
{
    uint32_t key[] = {f->file, f->name, f->kind};
    return hash_bytes(key, sizeof key, 0);
}

void align_find_functions(struct matcher *m)
{
    for (uint32_t i = 0; i < m->c->places.count; i++) {
        const struct place *p = &m->c->places.items[i];
        struct aligned_function f = {m, p->file, p->full_name, p->kind};
        bool is = (p->kind == PLACE_PROC && p->address) || p->kind == PLACE_INLINE;
        if (is && p->line_first && row_index_find(&m->extents, hash_of(&f), is_function, &f) == ROW_NONE)
            row_index_add(&m->extents, hash_of(&f), i);
    }
}

static uint32_t function_in(const struct matcher *m, uint32_t file, uint32_t name, uint32_t kind)
{
    struct aligned_function f = {m, file, name, kind};
    return row_index_find(&m->extents, hash_of(&f), is_function, &f);
}

/* How far both ends of the function have moved from this version of its file to the latest; an inlined one has only its
   beginning. *old: the function in this version. */
static int64_t ends_moved(const struct matcher *m, uint32_t file, uint32_t name, uint32_t *old)
{
    uint32_t latest = m->files[file].latest;
    for (uint32_t kind = PLACE_PROC; kind <= PLACE_INLINE; kind++) {
        uint32_t a = function_in(m, file, name, kind), b = function_in(m, latest, name, kind);
        if (a == ROW_NONE || b == ROW_NONE)
            continue;
        const struct place *x = &m->c->places.items[a], *y = &m->c->places.items[b];
        int64_t by = (int64_t)y->line_first - x->line_first;
        *old = a;
        return kind == PLACE_INLINE || by == (int64_t)y->line_last - x->line_last ? by : 0;
    }
    return 0;
}

static uint64_t line_key(uint32_t file, uint32_t name, int64_t line)
{
    uint32_t key[] = {file, name, (uint32_t)line};
    return hash_bytes(key, sizeof key, 0);
}

/* Compilers differ in where a function begins and ends, too: has it moved, lines in it meet lines of the latest version
   when they are moved, and else as they are. */
void align_count_votes(struct matcher *m)
{
    const struct correlation *c = m->c;
    struct hashmap latest = {0};
    for (uint32_t i = 0; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        if (p->kind >= PLACE_LOOP && p->file != SOURCE_NONE && m->files[p->file].latest == p->file)
            *hashmap_put(&latest, line_key(p->file, align_function_around(m, i), p->line_first)) = 1;
    }
    for (uint32_t i = 0; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        uint32_t old, name = align_function_around(m, i);
        if (p->kind < PLACE_LOOP || p->file == SOURCE_NONE || m->files[p->file].latest == p->file)
            continue;
        int64_t by = ends_moved(m, p->file, name, &old);
        uint32_t file = m->files[p->file].latest;
        if (by)
            m->votes[old] += (hashmap_get(&latest, line_key(file, name, p->line_first + by)) == 1) -
                             (hashmap_get(&latest, line_key(file, name, p->line_first)) == 1);
    }
    hashmap_release(&latest);
}

/* How far the function has moved. */
static int64_t moved(struct matcher *m, uint32_t file, uint32_t name)
{
    uint32_t old;
    int64_t by = ends_moved(m, file, name, &old);
    if (by == 0 || m->votes[old] <= 0)
        return 0;
    bool named = m->c->files.items[file].name != m->c->files.items[m->files[file].latest].name; /* warn_texts did */
    m->moved_file = m->moved_file == SOURCE_NONE && !named ? file : m->moved_file;
    return by;
}

/* ---- a line's place now ----------------------------------------------------------------------------- */

/* name: of the function that the line is in. */
struct position align_position(struct matcher *m, uint32_t file, uint32_t line, uint32_t name)
{
    if (file == SOURCE_NONE || m->files[file].latest == file)
        return (struct position){file, line, true};
    const struct version *v = &m->files[file];
    if (line == 0)
        return (struct position){v->latest, line, true};
    if (!v->by_text) {
        int64_t now = line + moved(m, file, name);
        return (struct position){v->latest, now > 0 ? (uint32_t)now : line, true};
    }
    if (!v->lines)
        return (struct position){v->latest, line, true};
    uint32_t now = line <= v->line_count ? v->lines[line - 1] : 0;
    return now ? (struct position){v->latest, now, true} : (struct position){file, line, false};
}

/* The lines first..last without deleted ones. */
bool align_move_lines(struct matcher *m, struct place *p, uint32_t name)
{
    struct position first = align_position(m, p->file, p->line_first, name), last = first;
    for (uint32_t line = p->line_last; line > p->line_first; line--)
        if ((last = align_position(m, p->file, line, name)).matched)
            break;
    for (uint32_t line = p->line_first; line < p->line_last && !first.matched; line++)
        first = align_position(m, p->file, line, name);
    if (!first.matched)
        return false;
    p->file = first.file;
    p->line_first = first.line;
    p->line_last = last.matched && last.line >= first.line ? last.line : first.line;
    return true;
}
