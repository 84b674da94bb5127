/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table "thread_values": each thread's cost at the most expensive places, for plots by thread and rank. All of it
 * would be threads times places; kept are the whole program and, of each shown metric, the procedures, loops and lines
 * with most of it, inclusive or exclusive.
 */
#include "metrics/model/model.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROWS_MOST = 1 << 20, /* of the table: some 20 MB in a database, before it is packed */
    PLACES_MOST = 64,    /* of one metric and form: the number a user looks at */
    PLACES_LEAST = 4     /* for jobs of very many threads */
};

static const struct table_column columns[] = {
    {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
    {.name = "metric", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "process",
     .type = TABLE_COUNT,
     .merge = TABLE_KEY,
     .description = "its rank; a number if the run has no ranks"},
    {.name = "thread", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST, .description = "the thread's"},
    {.name = "value", .type = TABLE_NUMBER, .merge = TABLE_SUM, .description = "including everything below the place"},
};
static const struct table_decl decl = {
    TABLE_THREAD_VALUES, "Values by thread",
    "values of each thread at the places with most of a metric; a thread without a row at a place has none there",
    columns, ARRAY_SIZE(columns)};

struct costly_place {
    double value;
    place_ix place;
};

/* Largest first; of equal ones the one that stands first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct costly_place *x = a, *y = b;
    return order_of(y->value, x->value) ?: order_of(x->place, y->place);
}

static void keep_top(const struct experiment *e, size_t metric, enum value_form form, size_t most, uint8_t *kept)
{
    struct VEC(struct costly_place) all = {0};
    for (place_ix i = 0; i < e->place_count; i++) {
        double value = e->places[i].kind >= PLACE_PROC ? experiment_value(e, metric, i, form) : NAN;
        if (value > 0)
            *vec_push(&all) = (struct costly_place){value, i};
    }
    vec_sort(&all, compare_candidates);
    for (size_t i = 0; i < all.count && i < most; i++)
        kept[all.items[i].place] = 1;
    vec_release(&all);
}

uint8_t *thread_values_places(const struct experiment *e, size_t metric, size_t threads, size_t metrics)
{
    size_t most = ROWS_MOST / (VALUE_FORMS * (threads + 1) * (metrics + 1));
    uint8_t *kept = mem_calloc(e->place_count, 1);
    most = most > PLACES_MOST ? PLACES_MOST : most < PLACES_LEAST ? PLACES_LEAST : most;
    kept[0] = 1;
    for (enum value_form form = 0; form < VALUE_FORMS; form++)
        keep_top(e, metric, form, most, kept);
    return kept;
}

int thread_values_declare(struct experiment *e, struct table **table, struct err *err)
{
    return table_list_declare(&e->tables, &decl, e->strings, table, err);
}

void thread_values_note(struct experiment *e, struct table *table, size_t metric, const struct thread_values_of *who,
                        place_ix place, uint64_t value)
{
    table_add(table, (union table_cell[]){{.row = place},
                                          {.text = e->metrics[metric].name},
                                          {.count = who->process},
                                          {.count = who->thread},
                                          {.text = who->name},
                                          {.number = (double)value}});
}

bool thread_values_is_one(const struct table *table)
{
    return table_is(table, &decl);
}

struct thread_values_row thread_values_row(const struct table *table, size_t row)
{
    const union table_cell *c = table_row(table, row);
    return (struct thread_values_row){.place = c[0].row,
                                      .metric = c[1].text,
                                      .who = {.process = c[2].count, .thread = c[3].count, .name = c[4].text},
                                      .value = c[5].number};
}

static void put_text(struct buf *out, const struct experiment *e, str_id text)
{
    const char *s = strtab_get(e->strings, text);
    buf_text(out, s, strlen(s));
}

static str_id get_text(struct experiment *e, struct cursor *c)
{
    size_t len;
    const char *s = cursor_text(c, &len);
    return strtab_addn(e->strings, s, len);
}

void thread_values_pack(const struct experiment *e, const struct table *table, size_t row, struct buf *out)
{
    const union table_cell *c = table_row(table, row);
    buf_uleb(out, c[0].row);
    put_text(out, e, c[1].text);
    buf_uleb(out, c[2].count);
    buf_uleb(out, c[3].count);
    put_text(out, e, c[4].text);
    buf_u64(out, c[5].count); /* its bits */
}

bool thread_values_unpack(struct experiment *e, struct table *table, struct cursor *from)
{
    union table_cell c[ARRAY_SIZE(columns)];
    c[0].row = (uint32_t)cursor_uleb(from);
    c[1].text = get_text(e, from);
    c[2].count = cursor_uleb(from);
    c[3].count = cursor_uleb(from);
    c[4].text = get_text(e, from);
    c[5].count = cursor_u64(from);
    if (from->bad || c[0].row >= e->place_count)
        return false;
    table_add(table, c);
    return true;
}
