/* Steps of paths: open addressing with linear probing, at most three quarters full. */
#include "filters/perf_steps.h"

static struct step *slot_of(const struct steps *t, const struct step *s)
{
    uint64_t around = ((uint64_t)s->parent << 32 | s->found) ^ (uint64_t)(s->process << 1 | s->caller) << 20;
    size_t i = hash_near(s->ip, 0, around) & (t->capacity - 1);
    while (t->slots[i].process != STEP_NONE && !step_is(&t->slots[i], s))
        i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

bool steps_make_room(struct steps *t, size_t more)
{
    if (t->count + more <= t->capacity / 4 * 3)
        return false;
    struct steps bigger = {.count = t->count, .capacity = t->capacity ? t->capacity : 64};
    while (t->count + more > bigger.capacity / 4 * 3)
        bigger.capacity *= 2;
    bigger.slots = mem_alloc(bigger.capacity * sizeof *bigger.slots);
    memset(bigger.slots, 0xff, bigger.capacity * sizeof *bigger.slots);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].process != STEP_NONE)
            *slot_of(&bigger, &t->slots[i]) = t->slots[i];
    steps_release(t);
    *t = bigger;
    return true;
}

struct step *steps_put(struct steps *t, const struct step *s, bool *is_new)
{
    struct step *slot = slot_of(t, s);
    *is_new = slot->process == STEP_NONE;
    if (*is_new) {
        *slot = *s;
        t->count++;
    }
    return slot;
}

void steps_release(struct steps *t)
{
    mem_free(t->slots);
    *t = (struct steps){0};
}
