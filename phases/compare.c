/* SPDX-License-Identifier: BSD-3-Clause */
/* The same barriers in several runs: each run compared with the first one. */
#include "phases/phases.h"

#include <math.h>

static const struct table_column compared_columns[] = {
    {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
    {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "base", .type = TABLE_REF, .refers = "run", .merge = TABLE_KEY},
    {.name = "run", .type = TABLE_REF, .refers = "run", .merge = TABLE_KEY},
    {.name = "base_threads", .title = "threads before", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "threads", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "base_phase", .title = "phase time before", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "phase", .title = "phase time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "base_barrier", .title = "barrier time before", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "barrier", .title = "barrier time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "base_imbalance", .title = "imbalance before", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "imbalance", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "growth",
     .title = "phase time by phase time before",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "below 1: faster than in the first run"},
};
static const struct table_decl compared = {"barriers_compared", "Barriers compared",
                                           "each barrier of the first run, compared with the other runs",
                                           compared_columns, ARRAY_SIZE(compared_columns)};

enum { KEYS = 3, NUMBERS = 4 };
struct compared_columns {
    size_t run, keys[KEYS], numbers[NUMBERS]; /* numbers: threads, phase, barrier, imbalance */
};

static bool find_columns(const struct table *t, struct compared_columns *c)
{
    static const char *const keys[] = {"place", "kind", "name"}, *const numbers[] = {"threads", "phase", "barrier",
                                                                                     "imbalance"};
    bool all = (c->run = table_column_of(t, "run")) != SIZE_MAX;
    for (size_t i = 0; i < KEYS; i++)
        all &= (c->keys[i] = table_column_of(t, keys[i])) != SIZE_MAX;
    for (size_t i = 0; i < NUMBERS; i++)
        all &= (c->numbers[i] = table_column_of(t, numbers[i])) != SIZE_MAX;
    return all;
}

static uint64_t key_of(const struct compared_columns *c, const union table_cell *row)
{
    uint32_t key[KEYS] = {row[c->keys[0]].row, row[c->keys[1]].text, row[c->keys[2]].text};
    return hash_bytes(key, sizeof key, 0);
}

static bool same_barrier(const struct compared_columns *c, const union table_cell *a, const union table_cell *b)
{
    return a[c->keys[0]].row == b[c->keys[0]].row && a[c->keys[1]].text == b[c->keys[1]].text &&
           a[c->keys[2]].text == b[c->keys[2]].text;
}

static void add_pair(struct table *to, const struct compared_columns *c, const union table_cell *a,
                     const union table_cell *b)
{
    union table_cell cells[ARRAY_SIZE(compared_columns)];
    size_t n = 0;
    for (size_t i = 0; i < KEYS; i++)
        cells[n++] = b[c->keys[i]];
    cells[n++] = a[c->run];
    cells[n++] = b[c->run];
    for (size_t i = 0; i < NUMBERS; i++) {
        cells[n++] = a[c->numbers[i]];
        cells[n++] = b[c->numbers[i]];
    }
    double before = (double)a[c->numbers[1]].count, now = (double)b[c->numbers[1]].count;
    cells[n++].number = before > 0 ? now / before : (double)NAN;
    table_add(to, cells);
}

void phases_compare(struct table_list *tables, struct strtab *strings)
{
    const struct table *t = table_list_find(tables, "barriers");
    struct hashmap first = {0};
    struct table *to = NULL;
    struct compared_columns c;
    if (!t || !find_columns(t, &c) || table_list_declare(tables, &compared, strings, &to, NULL) < 0)
        return;
    for (uint32_t i = 0; i < table_row_count(t); i++) {
        const union table_cell *row = table_row(t, i);
        uint32_t *base = hashmap_put(&first, key_of(&c, row));
        if (*base == HASHMAP_NONE)
            *base = i;
        else if (same_barrier(&c, table_row(t, *base), row))
            add_pair(to, &c, table_row(t, *base), row);
    }
    hashmap_release(&first);
}
