/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of paths: open addressing with linear probing, at most three quarters full. */
#include "filters/perf/chain_cache.h"

static struct chain_step *slot_of(const struct chain_cache *t, const struct chain_step *s)
{
    uint64_t around = ((uint64_t)s->parent << 32 | s->found) ^ (uint64_t)(s->process << 1 | s->caller) << 20;
    size_t i = hash_near(s->ip, 0, around) & (t->capacity - 1);
    while (t->slots[i].process != CHAIN_STEP_NONE && !chain_step_is(&t->slots[i], s))
        i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

bool chain_cache_reserve(struct chain_cache *t, size_t more)
{
    if (t->count + more <= t->capacity / 4 * 3)
        return false;
    struct chain_cache bigger = {.count = t->count, .capacity = t->capacity ? t->capacity : 64};
    while (t->count + more > bigger.capacity / 4 * 3)
        bigger.capacity *= 2;
    bigger.slots = mem_alloc(bigger.capacity * sizeof *bigger.slots);
    memset(bigger.slots, 0xff, bigger.capacity * sizeof *bigger.slots);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].process != CHAIN_STEP_NONE)
            *slot_of(&bigger, &t->slots[i]) = t->slots[i];
    chain_cache_release(t);
    *t = bigger;
    return true;
}

struct chain_step *chain_cache_put(struct chain_cache *t, const struct chain_step *s, bool *is_new)
{
    struct chain_step *slot = slot_of(t, s);
    *is_new = slot->process == CHAIN_STEP_NONE;
    if (*is_new) {
        *slot = *s;
        t->count++;
    }
    return slot;
}

void chain_cache_release(struct chain_cache *t)
{
    mem_free(t->slots);
    *t = (struct chain_cache){0};
}
