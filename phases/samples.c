/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of each phase: a thread's samples carry the barrier it passed last, as they carry regions (tables.h). */
#include "phases/phases.h"
#include "phases/tables.h"

#include <math.h>

struct sorting {
    const struct hpcprof *p;
    struct table *samples, *places;
    uint32_t *begun; /* by region: the row of the barrier; TABLE_NONE: before the first one */
};

/* 0: not a phase. */
static uint64_t number_of(const char *region)
{
    uint64_t number = 0;
    if (!str_starts(region, PHASES_REGION))
        return 0;
    for (const char *c = region + strlen(PHASES_REGION); *c >= '0' && *c <= '9' && number < UINT32_MAX; c++)
        number = number * 10 + (uint64_t)(*c - '0');
    return number;
}

static struct hashmap barriers_by_number(const struct table *barriers)
{
    struct hashmap rows = {0};
    size_t column = table_column_of(barriers, "number");
    for (uint32_t row = 0; row < table_row_count(barriers); row++)
        *hashmap_put(&rows, table_row(barriers, row)[column].count) = row;
    return rows;
}

/* A region inside of a phase is of that phase, and so is a phase inside of a region. */
static uint32_t *phases_of_regions(const struct hpcprof *p, const struct table *barriers)
{
    uint32_t *begun = mem_alloc(p->region_count * sizeof *begun);
    struct hashmap rows = barriers_by_number(barriers);
    begun[0] = TABLE_NONE;
    for (size_t i = 1; i < p->region_count; i++) {
        uint64_t number = number_of(strtab_get(p->strings, p->regions[i].name));
        uint32_t row = number ? hashmap_get(&rows, number) : HASHMAP_NONE;
        begun[i] = row == HASHMAP_NONE ? begun[p->regions[i].parent] : row;
    }
    hashmap_release(&rows);
    return begun;
}

static void add_count(const struct sorting *s, const struct hpcprof_count *c)
{
    union table_cell begun = {.row = s->begun[c->region]}, ended = {.row = TABLE_NONE};
    table_add(s->samples,
              (union table_cell[]){
                  begun, ended, {.row = c->thread}, {.row = c->event}, {.count = c->samples}, {.count = c->value}});
    table_add(s->places, (union table_cell[]){begun,
                                              ended,
                                              {.row = c->context},
                                              {.row = c->event},
                                              {.count = c->samples},
                                              {.count = c->value},
                                              {.number = (double)NAN}});
}

static bool declare(struct hpcprof *p, enum phases_table which, struct table **t)
{
    return table_list_declare(&p->tables, &phases_tables[which], p->strings, t, NULL) == 0;
}

/* To millionths, which add up exactly: so that the sum over files does not depend on which of them were added first. */
static void round_squares(struct table *barriers)
{
    size_t column = table_column_of(barriers, "squares");
    const struct table_column *c = column == SIZE_MAX ? NULL : &table_declared(barriers)->columns[column];
    if (!c || c->type != TABLE_NUMBER || c->merge != TABLE_SUM)
        return;
    for (size_t row = 0; row < table_row_count(barriers); row++)
        table_set(barriers, row, column,
                  (union table_cell){.number = rint(table_row(barriers, row)[column].number * 0x1p20) * 0x1p-20});
}

void phases_add_samples(struct hpcprof *p)
{
    struct table *barriers = table_list_find(&p->tables, phases_tables[PHASES_BARRIERS].name);
    struct sorting s = {.p = p};
    if (barriers)
        round_squares(barriers);
    if (!barriers || table_column_of(barriers, "number") == SIZE_MAX || p->region_count < 2 ||
        table_list_find(&p->tables, phases_tables[PHASES_SAMPLES].name)) /* it was written with them */
        return;
    if (!declare(p, PHASES_SAMPLES, &s.samples) || !declare(p, PHASES_PLACES, &s.places))
        return;
    s.begun = phases_of_regions(p, barriers);
    for (size_t i = 0; i < p->count_count; i++)
        add_count(&s, &p->counts[i]);
    mem_free(s.begun);
}
