/* SPDX-License-Identifier: BSD-3-Clause */
/* Places, each once. */
#include "filters/callgrind/cost_positions.h"

#include <stdlib.h>

static bool same(const struct cost_position *a, const struct cost_position *b)
{
    return a->address == b->address && a->line == b->line && a->group == b->group;
}

/* The ascending key of a stretch: addresses, or lines if there are none. */
static uint64_t height(const struct cost_position *s)
{
    return s->address ? s->address : s->line;
}

static size_t stretch_end(const struct cost_positions *s, size_t stretch)
{
    return stretch + 1 < s->stretches.count ? s->stretches.items[stretch + 1] : s->rows.count;
}

static uint32_t find_in_stretch(const struct cost_positions *s, size_t stretch, uint64_t wanted)
{
    uint32_t first = s->stretches.items[stretch];
    size_t n = stretch_end(s, stretch) - first;
    size_t at = sorted_front(n, i, height(&s->rows.items[first + i]) < wanted);
    return at < n && height(&s->rows.items[first + at]) == wanted ? first + (uint32_t)at : ROW_NONE;
}

/* ---- one after the other ------------------------------------------------------------------------------------- */

void callgrind_positions_enter(struct cost_positions *s, uint32_t thread, uint32_t object, uint32_t function,
                               uint32_t file, uint32_t own_file)
{
    struct interner_key key = {{thread, object, function, file, own_file}, {0}};
    const struct cost_group *last = s->groups.count ? &s->groups.items[s->group] : NULL;
    if (!last || last->thread != thread || last->object != object || last->function != function) {
        s->function_first = (uint32_t)s->rows.count;
        s->function_stretch = s->stretches.count;
    }
    s->group = interner_row(&s->group_keys, &key);
    if (s->group == s->groups.count)
        *vec_push(&s->groups) = (struct cost_group){.thread = thread,
                                                    .object = object,
                                                    .function = function,
                                                    .file = file,
                                                    .own_file = own_file,
                                                    .first = (uint32_t)s->rows.count};
}

static bool is_beyond(const struct cost_position *position, const struct cost_position *most)
{
    return position->address != most->address ? position->address > most->address : position->line > most->line;
}

static uint32_t append(struct cost_positions *s, const struct cost_position *position)
{
    struct cost_group *g = &s->groups.items[position->group];
    uint32_t row = (uint32_t)s->rows.count;
    if (s->stretches.count == s->function_stretch || height(position) <= height(&s->rows.items[row - 1]))
        *vec_push(&s->stretches) = row;
    *vec_push(&s->rows) = *position;
    if (row == g->first || is_beyond(position, &g->most))
        g->most = *position;
    return row;
}

/* 1: *row; 0: it is certainly new; -1: not known; *row is ROW_NONE in both. */
static int find_in_function(const struct cost_positions *s, const struct cost_position *position, uint32_t *row)
{
    enum { MOST_TRIED = 8 };
    size_t tried = 0, count = s->stretches.count - s->function_stretch;
    for (; tried < MOST_TRIED && tried < count; tried++) {
        *row = find_in_stretch(s, s->stretches.count - 1 - tried, height(position));
        if (*row != ROW_NONE && same(&s->rows.items[*row], position))
            return 1;
    }
    *row = ROW_NONE;
    return tried == count && s->groups.items[position->group].first >= s->function_first ? 0 : -1;
}

static uint64_t hash_of(const struct cost_position *position)
{
    return hash_near(position->address, position->line, position->group);
}

struct wanted {
    const struct cost_positions *positions;
    const struct cost_position *position;
};

static bool is_wanted(const void *ctx, uint32_t row)
{
    const struct wanted *w = ctx;
    return same(&w->positions->rows.items[row], w->position);
}

static uint32_t find_anywhere(struct cost_positions *s, const struct cost_position *position)
{
    for (; s->indexed < s->rows.count; s->indexed++)
        row_index_add(&s->index, hash_of(&s->rows.items[s->indexed]), (uint32_t)s->indexed);
    return row_index_find(&s->index, hash_of(position), is_wanted, &(struct wanted){s, position});
}

static uint32_t find_or_append(struct cost_positions *s, const struct cost_position *position)
{
    uint32_t row;
    const struct cost_group *g = &s->groups.items[position->group];
    if (g->first == s->rows.count || is_beyond(position, &g->most))
        return append(s, position);
    if (find_in_function(s, position, &row) < 0)
        row = find_anywhere(s, position);
    return row != ROW_NONE ? row : append(s, position);
}

uint32_t callgrind_positions_row(struct cost_positions *s, uint64_t address, uint64_t line)
{
    const struct cost_position position = {address, line <= UINT32_MAX ? (uint32_t)line : 0, s->group};
    if (s->last < s->rows.count && same(&s->rows.items[s->last], &position))
        return s->last;
    bool is_next = s->last + 1 < s->rows.count && same(&s->rows.items[s->last + 1], &position);
    return s->last = is_next ? s->last + 1 : find_or_append(s, &position);
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

struct stretch {
    uint64_t begin, last; /* addresses */
    uint32_t object, index;
};

static int compare_stretches(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    return order_of(a->object, b->object) ?: order_of(a->begin, b->begin);
}

bool callgrind_positions_order(struct cost_positions *s)
{
    struct VEC(struct stretch) all = {0};
    bool distinct = true;
    for (size_t i = 0; i < s->stretches.count; i++) {
        uint32_t first = s->stretches.items[i];
        *vec_push(&all) = (struct stretch){height(&s->rows.items[first]), height(&s->rows.items[stretch_end(s, i) - 1]),
                                           cost_positions_group(s, first)->object, (uint32_t)i};
    }
    vec_sort(&all, compare_stretches);
    s->by_address.count = 0;
    for (size_t i = 0; i < all.count; i++) {
        const struct stretch *x = &all.items[i];
        distinct = distinct && (i == 0 || x[-1].object != x->object || x[-1].last < x->begin);
        *vec_push(&s->by_address) = x->index;
    }
    vec_release(&all);
    return distinct;
}

static bool begins_by(const struct cost_positions *s, uint32_t stretch, uint32_t object, uint64_t address)
{
    uint32_t first = s->stretches.items[stretch], its = cost_positions_group(s, first)->object;
    return its != object ? its < object : height(&s->rows.items[first]) <= address;
}

uint32_t callgrind_positions_at(const struct cost_positions *s, uint32_t object, uint64_t address)
{
    size_t n = sorted_front(s->by_address.count, i, begins_by(s, s->by_address.items[i], object, address));
    uint32_t row = n ? find_in_stretch(s, s->by_address.items[n - 1], address) : ROW_NONE;
    bool here =
        row != ROW_NONE && s->rows.items[row].address == address && cost_positions_group(s, row)->object == object;
    return here ? row : ROW_NONE;
}

void callgrind_positions_release(struct cost_positions *s)
{
    vec_release(&s->rows);
    vec_release(&s->groups);
    vec_release(&s->stretches);
    vec_release(&s->by_address);
    interner_release(&s->group_keys);
    row_index_release(&s->index);
}
