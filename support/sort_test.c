/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting by runs: compared with a known, stable order, for any distribution of runs. */
#include "support/sort.h"

#include "support/support.h"
#include "tests/tap.h"

struct thing {
    uint32_t key, order;
    char tail[5]; /* sizes that no machine word has */
};

static size_t compared;

static int by_thing_key(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    compared++;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint32_t next_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

enum shape { RANDOM, UP, DOWN, EQUAL, FILES, APPENDED, SHAPES };

static uint32_t key_for(enum shape shape, size_t i, size_t count, uint32_t *state)
{
    switch (shape) {
    case UP:
        return (uint32_t)i;
    case DOWN:
        return (uint32_t)(count - i);
    case EQUAL:
        return 7;
    case FILES: /* consecutive runs */
        return (uint32_t)(i / 16 * 16 + (i * 5) % 16);
    case APPENDED: /* a second list after the first */
        return (uint32_t)(i % (count / 2 + 1));
    default:
        return next_number(state) % 50;
    }
}

static bool is_sorted(const struct thing *t, size_t count)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = ok && memcmp(t[i].tail, "tail", 5) == 0 &&
             (i == 0 || t[i - 1].key < t[i].key || (t[i - 1].key == t[i].key && t[i - 1].order < t[i].order));
    return ok;
}

static uint64_t sum_of_keys(const struct thing *t, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += t[i].key * (uint64_t)(t[i].order + 1);
    return sum;
}

static void test_shapes(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 17, 100, 1000};
    uint32_t state = 1;
    bool sorted = true, kept = true;
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
            struct thing *t = mem_calloc(counts[c] + 1, sizeof *t);
            for (size_t i = 0; i < counts[c]; i++)
                t[i] = (struct thing){key_for((enum shape)shape, i, counts[c], &state), (uint32_t)i, "tail"};
            uint64_t sum = sum_of_keys(t, counts[c]);
            sort_items(counts[c] ? t : NULL, counts[c], sizeof *t, by_thing_key);
            sorted = sorted && is_sorted(t, counts[c]);
            kept = kept && sum == sum_of_keys(t, counts[c]);
            mem_free(t);
        }
    CHECK_NAMED(sorted, "six shapes of seven sizes are sorted, equal ones as they came");
    CHECK_NAMED(kept, "and nothing is lost");
}

/* Sorted input costs one comparison per element; two concatenated sorted lists cost little more. */
static void test_cost(void)
{
    enum { COUNT = 10000 };
    struct thing *t = mem_calloc(COUNT, sizeof *t);
    for (uint32_t i = 0; i < COUNT; i++)
        t[i] = (struct thing){i, i, "tail"};
    compared = 0;
    sort_items(t, COUNT, sizeof *t, by_thing_key);
    CHECK_INT(compared, COUNT - 1);
    for (uint32_t i = 0; i < COUNT; i++)
        t[i].key = (i + COUNT - 100) % COUNT; /* the last hundred come first */
    compared = 0;
    sort_items(t, COUNT, sizeof *t, by_thing_key);
    CHECK_NAMED(compared < 2 * COUNT + 100 && t[0].key == 0, "two runs");
    mem_free(t);
}

/* Digit 0 is the least. The keys' upper byte is constant, or is not, as the case has it. */
static uint8_t digit_of_thing(const void *things, uint32_t row, unsigned which)
{
    return (uint8_t)(((const struct thing *)things)[row].key >> 8 * which);
}

static void test_digits(void)
{
    static const uint32_t masks[] = {0xff, 0x30ff, 0xff00ffff, UINT32_MAX, 0};
    uint32_t state = 5;
    for (size_t m = 0; m < ARRAY_SIZE(masks); m++)
        for (size_t count = 0; count <= 4000; count = 3 * count + 1) {
            struct thing *t = mem_calloc(count + 1, sizeof *t), *in_order = mem_calloc(count + 1, sizeof *t);
            for (size_t i = 0; i < count; i++)
                t[i] =
                    (struct thing){(next_number(&state) ^ next_number(&state) << 11) & masks[m], (uint32_t)i, "tail"};
            uint32_t *order = sort_digits(t, count, 4, digit_of_thing);
            for (size_t i = 0; i < count; i++)
                in_order[i] = t[order[i]];
            CHECK(is_sorted(in_order, count) && sum_of_keys(in_order, count) == sum_of_keys(t, count));
            mem_free(order);
            mem_free(in_order);
            mem_free(t);
        }
}

int main(void)
{
    RUN(test_shapes);
    RUN(test_digits);
    RUN(test_cost);
    return tap_done();
}
