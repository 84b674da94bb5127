/* SPDX-License-Identifier: BSD-3-Clause */
/* New places made of old ones: the same thing in several builds is one. */
#include "metrics/align/align_int.h"

/* ---- places ----------------------------------------------------------------------------------------- */

static bool same_key(const void *ctx, uint32_t i)
{
    const struct align_key *w = ctx;
    return memcmp(&w->m->made.items[i].key, &w->key, sizeof w->key) == 0;
}

place_ix align_find(const struct matcher *m, const struct identity *key)
{
    struct align_key w = {m, *key};
    return row_index_find(&m->index, hash_bytes(key, sizeof *key, 0), same_key, &w);
}

/* The place in terms of the latest version, as far as it exists there; the key that distinguishes it from others. */
struct identity align_bring_forward(struct matcher *m, place_ix i, struct place *p)
{
    uint32_t file = p->file == SOURCE_NONE ? SOURCE_NONE : m->files[p->file].latest;
    bool first = align_position(m, p->file, p->line_first, align_function_around(m, i)).matched;
    bool moves = align_move_lines(m, p, align_function_around(m, i));
    if (p->kind == PLACE_INLINE && p->parent != PLACE_NONE) {
        struct position call = align_position(m, p->call_file, p->call_line, align_function_around(m, p->parent));
        p->call_file = call.file;
        p->call_line = call.line;
    }
    if (p->kind == PLACE_FILE)
        p->file = file;
    p->parent = m->new_of[p->parent];
    struct identity key = metrics_identity_of(p, m->c->ordinals.items[i]);
    if (p->kind == PLACE_PROC || p->kind == PLACE_INLINE)
        key.file = file;
    if (p->kind == PLACE_LOOP && moves && !first)
        key.ordinal |= 1u << 31; /* its beginning was deleted: another one may begin at its first remaining line */
    return key;
}

static bool is_latest(const struct matcher *m, const struct place *old)
{
    bool latest = old->file == SOURCE_NONE || m->files[old->file].latest == old->file;
    return latest && (old->kind != PLACE_PROC || old->address);
}

void align_make(struct matcher *m, place_ix i, const struct place *p, const struct identity *key)
{
    place_ix made = m->new_of[i] = (place_ix)m->places.count;
    row_index_add(&m->index, hash_bytes(key, sizeof *key, 0), made);
    *vec_push(&m->places) = *p;
    *vec_push(&m->made) = (struct made){.key = *key,
                                        .runs = m->place_runs[i],
                                        .first_loop = PLACE_NONE,
                                        .next_loop = PLACE_NONE,
                                        .latest = is_latest(m, &m->c->places.items[i])};
    if (p->kind == PLACE_LOOP) {
        m->made.items[made].next_loop = m->made.items[p->parent].first_loop;
        m->made.items[p->parent].first_loop = made;
    }
}

void align_join(struct matcher *m, place_ix i, const struct place *p, place_ix made)
{
    struct made *to = &m->made.items[made];
    bool latest = is_latest(m, &m->c->places.items[i]);
    m->new_of[i] = made;
    to->runs |= m->place_runs[i];
    if (latest && !to->latest)
        m->places.items[made] = *p;
    to->latest = to->latest || latest;
}

void align_put(struct matcher *m, place_ix i)
{
    struct place p = m->c->places.items[i];
    struct identity key = align_bring_forward(m, i, &p);
    if (p.kind == PLACE_PROC)
        key = m->procedures.items[m->procedures.items[m->procedure_of[i]].as].key;
    place_ix known = align_find(m, &key);
    if (known == ROW_NONE)
        align_make(m, i, &p, &key);
    else
        align_join(m, i, &p, known);
}
