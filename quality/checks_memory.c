/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of loads and stores: origin of addresses, strides, and use of the cache. */
#include "quality/checks_int.h"

#include <math.h>

static bool gathers(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].vector_index && s->f.memory[0].reads;
}

static bool inserts(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_SHUFFLE && s->f.memory_count && s->f.memory[0].reads && s->f.reads.vector &&
           s->f.width == 16 && s->f.memory[0].size < 16;
}

/* What is waited for at loads is what an order of data by use could save at most. */
static struct gain waited_gain(const struct finder *f)
{
    double waits = 100 * f->q->waits_memory;
    return f->q->from_memory_known == 1 ? (struct gain){waits / 2, waits} : GAIN_UNKNOWN;
}

void check_gather(struct finder *f)
{
    finder_say_steps(f, gathers, false, 0.9, waited_gain(f), "gather");
    if (f->q->strides[STRIDE_INDIRECT] > 1 || f->q->strides[STRIDE_MORE] > 1)
        finder_say_steps(f, inserts, false, 0.6, GAIN_UNKNOWN, "single-element vector load");
}

static bool scatters(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].vector_index && s->f.memory[0].writes;
}

void check_scatter(struct finder *f)
{
    finder_say_steps(f, scatters, false, 0.9, GAIN_UNKNOWN, "scatter");
}

/* If neighbours in memory were used one after the other: data from memory would be as many bytes as are used. */
static struct gain contiguous_gain(const struct finder *f)
{
    const struct quality_loop *q = f->q;
    double bytes = 0, before = fmax(q->bound, q->from_memory);
    for (size_t i = 0; i < f->b->refs.count; i++)
        bytes += f->b->refs.items[i].stride == STRIDE_NONE
                     ? 0
                     : quality_memory_size(finder_memory(f, &f->b->refs.items[i]), f->b->machine);
    double saved = finder_saved(before, fmax(q->bound, fmin(q->from_memory, bytes / QUALITY_MEMORY_BYTES)));
    if (q->bound <= 0 || q->from_memory_known == 0)
        return GAIN_UNKNOWN;
    return (struct gain){q->from_memory_known == 1 ? saved / 2 : 0, saved};
}

void check_strided(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        unsigned size = quality_memory_size(finder_memory(f, r), f->b->machine);
        if (r->stride != STRIDE_MORE)
            continue;
        unsigned line = f->b->machine->line;
        double used =
            r->runtime ? (double)size / line : (double)size / (double)(llabs(r->moves) < line ? llabs(r->moves) : line);
        if (r->runtime)
            finder_say(f, path_step(f->b, r->step), 0.7, contiguous_gain(f),
                       "the stride of the reference at 0x%llx is known only at run time; at worst %.0f%% of a cache "
                       "line is used",
                       (unsigned long long)path_step(f->b, r->step)->addr, 100 * used);
        else
            finder_say(f, path_step(f->b, r->step), 0.9, contiguous_gain(f),
                       "the reference at 0x%llx uses %u of every %lld bytes",
                       (unsigned long long)path_step(f->b, r->step)->addr, size, (long long)llabs(r->moves));
        return;
    }
}

void check_indirect(struct finder *f)
{
    struct found found = {0};
    for (size_t i = 0; i < f->b->refs.count; i++)
        if (f->b->refs.items[i].stride == STRIDE_INDIRECT && !finder_memory(f, &f->b->refs.items[i])->vector_index)
            finder_note(&found, path_step(f->b, f->b->refs.items[i].step));
    if (found.count)
        finder_say(f, found.first, 0.9, waited_gain(f),
                   "%u indirect reference%s (address loaded in the same iteration), at %s%s", found.count,
                   finder_plural(found.count), found.where.bytes, found.count > 4 ? " and more" : "");
    buf_release(&found.where);
}

void check_spilled(struct finder *f)
{
    if (f->q->spills && !f->q->calls)
        finder_say(f, NULL, 0.8, GAIN_UNKNOWN, "%u value%s spilled to the stack and reloaded in every iteration",
                   f->q->spills, finder_plural(f->q->spills));
}

static bool is_stored(const struct finder *f, const struct ref *load)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        if (finder_memory(f, r)->writes && r->form.add == load->form.add &&
            quality_form_same_terms(&r->form, &load->form))
            return true;
    }
    return false;
}

void check_invariant_load(struct finder *f)
{
    bool stores = f->q->stored > 0 || f->q->calls > 0;
    struct found found = {0};
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        const struct insn_memory *m = finder_memory(f, r);
        if (r->stride == STRIDE_NONE && m->reads && r->form.count > 0 && !r->stack && stores && !is_stored(f, r) &&
            !m->segment)
            finder_note(&found, path_step(f->b, r->step));
    }
    if (found.count)
        finder_say(f, found.first, 0.6, GAIN_UNKNOWN,
                   "%u loop-invariant load%s, at %s%s, because the loop's stores might alias", found.count,
                   finder_plural(found.count), found.where.bytes, found.count > 4 ? " and more" : "");
    buf_release(&found.where);
}

static bool vector_access(const struct finder *f, const struct ref *r)
{
    return path_step(f->b, r->step)->f.packed && quality_memory_size(finder_memory(f, r), f->b->machine) >= 16;
}

/* Do the accesses overlap in the last 12 bits of the address? apart: from the store to the load. */
static bool meet_in_page(int64_t apart, int64_t stored, int64_t loaded)
{
    int64_t from = ((apart % 4096) + 4096) % 4096;
    return from < stored || 4096 - from < loaded;
}

/* Two accesses of a stream whose distance is not a multiple of their size: one of them is not aligned. */
void check_splits(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *a = &f->b->refs.items[i];
        int64_t size = quality_memory_size(finder_memory(f, a), f->b->machine);
        if (!a->known || !vector_access(f, a) || size < 32)
            continue;
        for (size_t k = 0; k < f->b->refs.count; k++) {
            const struct ref *b = &f->b->refs.items[k];
            bool off = (b->form.add - a->form.add) % size != 0 || a->moves % size != 0;
            if (b->known && vector_access(f, b) && b->moves == a->moves &&
                quality_form_same_terms(&a->form, &b->form) && off) {
                finder_say(f, path_step(f->b, a->step), 0.6, GAIN_UNKNOWN,
                           "vectors of %lld bytes at unaligned distances (0x%llx, 0x%llx): some cross cache lines",
                           (long long)size, (unsigned long long)path_step(f->b, a->step)->addr,
                           (unsigned long long)path_step(f->b, b->step)->addr);
                return;
            }
        }
    }
}

void check_pages(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++)
        for (size_t k = 0; k < f->b->refs.count; k++) {
            const struct ref *w = &f->b->refs.items[i], *r = &f->b->refs.items[k];
            const struct insn_memory *store = finder_memory(f, w), *load = finder_memory(f, r);
            int64_t apart = r->form.add - w->form.add;
            if (store->writes && load->reads && w->known && quality_form_same_terms(&w->form, &r->form) &&
                llabs(apart) >= 4096 - 64 && llabs(apart) > store->size &&
                meet_in_page(apart, store->size, load->size)) {
                finder_say(f, path_step(f->b, r->step), 0.5, GAIN_UNKNOWN,
                           "4K aliasing: the load at 0x%llx and the store at 0x%llx are %lld bytes apart, so the core "
                           "assumes the same address and the load waits",
                           (unsigned long long)path_step(f->b, r->step)->addr,
                           (unsigned long long)path_step(f->b, w->step)->addr, (long long)llabs(apart));
                return;
            }
        }
}

void check_locked(struct finder *f)
{
    finder_say_steps(f, finder_is_locked, true, 0.9, GAIN_UNKNOWN, "atomic instruction");
}

static bool is_small(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].reads && s->f.memory[0].size <= 2 && s->f.memory[0].size > 0 &&
           !(s->f.reads.vector | s->f.writes.vector);
}

void check_small_loads(struct finder *f)
{
    finder_say_steps(f, is_small, false, 0.5, GAIN_UNKNOWN, "byte or 16-bit load");
}

static bool is_prefetch(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_PREFETCH;
}

void check_no_prefetch(struct finder *f)
{
    struct found found = finder_look(f, is_prefetch, true);
    if (f->q->strides[STRIDE_INDIRECT] && !found.count && f->q->strides[STRIDE_ONE])
        finder_say(f, NULL, 0.3, GAIN_UNKNOWN,
                   "no software prefetch, and hardware cannot prefetch indirect references");
    buf_release(&found.where);
}

/* Moves as many bytes as it loads, and calculates nothing. In Fortran, compilers make many of these, for arguments. */
void check_copy(struct finder *f)
{
    const struct quality_loop *q = f->q;
    const struct step *store = NULL;
    if (q->calls || q->flops > 0 || q->stored <= 0 || q->loaded != q->stored || q->paths > 1)
        return;
    for (size_t i = 0; i < f->b->path.count; i++)
        if (step_calculates(path_step(f->b, i)) || step_whole_number_data(path_step(f->b, i)))
            return;
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        if (r->stride == STRIDE_NONE || r->stride == STRIDE_UNKNOWN)
            return;
        if (finder_memory(f, r)->writes)
            store = path_step(f->b, r->step);
    }
    if (store)
        finder_say(f, store, 0.8, quality_is_fortran(f->built) ? (struct gain){30, 100} : (struct gain){0, 50},
                   "the loop only copies, %.0f bytes per iteration", q->stored);
}
