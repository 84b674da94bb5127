/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables: rows of 8-byte cells, found by a hash of their key columns. */
#include "support/sort.h"
#include "support/support.h"

#include <assert.h>
#include <math.h>

struct table {
    struct table_decl decl;
    struct arena *arena; /* the declaration's own copy */
    struct strtab *strings;
    union table_cell *cells; /* row by row */
    size_t row_count, row_room;
    bool keyed;
    struct hashmap rows;        /* hash of the keys to the last row that has it */
    struct VEC(uint32_t) older; /* by row: the one before with the same hash */
};

/* ---- declarations -------------------------------------------------------------------------- */

static const char *copied(struct arena *a, const char *text, const char *otherwise)
{
    return arena_strdup(a, text ? text : otherwise);
}

static int check_column(const struct table_decl *d, const struct table_column *c, struct err *err)
{
    bool adds = c->merge == TABLE_SUM || c->merge == TABLE_MIN || c->merge == TABLE_MAX;
    if (!c->name || !*c->name)
        return err_set(err, ERR_FORMAT, "the table '%s' has a column without a name", d->name);
    if (c->type >= TABLE_TYPES || c->merge >= TABLE_MERGES)
        return err_set(err, ERR_FORMAT, "column '%s' of the table '%s' has an unknown type", c->name, d->name);
    if (adds && (c->type == TABLE_TEXT || c->type == TABLE_REF))
        return err_set(err, ERR_FORMAT, "column '%s' of the table '%s' contains %s, which cannot be summed", c->name,
                       d->name, c->type == TABLE_TEXT ? "texts" : "references");
    if (c->type == TABLE_REF && (!c->refers || !*c->refers))
        return err_set(err, ERR_FORMAT, "column '%s' of the table '%s' refers to nothing", c->name, d->name);
    return 0;
}

static int check_decl(const struct table_decl *d, struct err *err)
{
    if (!d->name || !*d->name)
        return err_set(err, ERR_FORMAT, "a table without a name");
    if (d->column_count == 0 || d->column_count > LIMIT_TABLE_COLUMNS)
        return err_set(err, ERR_LIMIT, "the table '%s' has %zu columns; a table has 1 to %d", d->name, d->column_count,
                       LIMIT_TABLE_COLUMNS);
    for (size_t i = 0; i < d->column_count; i++) {
        if (check_column(d, &d->columns[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(d->columns[k].name, d->columns[i].name) == 0)
                return err_set(err, ERR_FORMAT, "the table '%s' has two columns named '%s'", d->name,
                               d->columns[i].name);
    }
    return 0;
}

static struct table *table_create(const struct table_decl *d, struct strtab *strings)
{
    struct table *t = mem_calloc(1, sizeof *t);
    t->arena = arena_create();
    t->strings = strings;
    struct table_column *columns = arena_alloc(t->arena, d->column_count * sizeof *columns);
    for (size_t i = 0; i < d->column_count; i++) {
        const struct table_column *from = &d->columns[i];
        columns[i] = (struct table_column){
            .name = copied(t->arena, from->name, ""),
            .title = copied(t->arena, from->title, from->name),
            .unit = copied(t->arena, from->unit, ""),
            .description = copied(t->arena, from->description, ""),
            .type = from->type,
            .merge = from->merge,
            .refers = copied(t->arena, from->type == TABLE_REF ? from->refers : NULL, ""),
        };
        t->keyed = t->keyed || from->merge == TABLE_KEY;
    }
    t->decl = (struct table_decl){
        .name = copied(t->arena, d->name, ""),
        .title = copied(t->arena, d->title, d->name),
        .description = copied(t->arena, d->description, ""),
        .columns = columns,
        .column_count = d->column_count,
    };
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    mem_free(t->cells);
    hashmap_release(&t->rows);
    vec_release(&t->older);
    arena_free(t->arena);
    mem_free(t);
}

const struct table_decl *table_declared(const struct table *t)
{
    return &t->decl;
}

size_t table_column_of(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->decl.column_count; i++)
        if (strcmp(t->decl.columns[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- rows --------------------------------------------------------------------------------------- */

size_t table_row_count(const struct table *t)
{
    return t->row_count;
}

const union table_cell *table_row(const struct table *t, size_t row)
{
    return t->cells + row * t->decl.column_count;
}

void table_set(struct table *t, size_t row, size_t column, union table_cell cell)
{
    assert(row < t->row_count && column < t->decl.column_count && t->decl.columns[column].merge != TABLE_KEY);
    t->cells[row * t->decl.column_count + column] = cell;
}

/* One number for each value of a cell, of any type; every NaN is the same. */
static uint64_t bits_of(const struct table_column *c, union table_cell cell)
{
    uint64_t bits;
    if (c->type == TABLE_TEXT || c->type == TABLE_REF)
        return cell.row;
    if (c->type != TABLE_NUMBER)
        return cell.count;
    double number = isnan(cell.number) ? (double)NAN : cell.number;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

bool table_cell_missing(const struct table_column *c, union table_cell cell)
{
    switch (c->type) {
    case TABLE_NUMBER:
        return isnan(cell.number);
    case TABLE_TEXT:
        return cell.text == 0;
    case TABLE_REF:
        return cell.row == TABLE_NONE;
    default:
        return cell.count == TABLE_NO_COUNT;
    }
}

static uint64_t hash_keys(const struct table *t, const union table_cell *row)
{
    uint64_t keys[LIMIT_TABLE_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < t->decl.column_count; i++)
        if (t->decl.columns[i].merge == TABLE_KEY)
            keys[n++] = bits_of(&t->decl.columns[i], row[i]);
    return hash_bytes(keys, n * sizeof *keys, 0);
}

static bool same_keys(const struct table *t, const union table_cell *a, const union table_cell *b)
{
    for (size_t i = 0; i < t->decl.column_count; i++) {
        const struct table_column *c = &t->decl.columns[i];
        if (c->merge == TABLE_KEY && bits_of(c, a[i]) != bits_of(c, b[i]))
            return false;
    }
    return true;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum == TABLE_NO_COUNT ? TABLE_NO_COUNT - 1 : sum;
}

/* A missing value takes the other one. */
static union table_cell united(const struct table_column *c, union table_cell old, union table_cell now)
{
    bool number = c->type == TABLE_NUMBER;
    if (table_cell_missing(c, now))
        return old;
    if (table_cell_missing(c, old) || c->merge == TABLE_LAST)
        return now;
    if (c->merge == TABLE_SUM && number)
        return (union table_cell){.number = old.number + now.number};
    if (c->merge == TABLE_SUM)
        return (union table_cell){.count = add_saturating(old.count, now.count)};
    bool smaller = number ? now.number < old.number : now.count < old.count;
    return smaller == (c->merge == TABLE_MIN) ? now : old;
}

static uint32_t append(struct table *t, const union table_cell *row)
{
    size_t n = t->decl.column_count;
    if (t->row_count == LIMIT_TABLE_ROWS)
        return TABLE_NONE;
    if (t->row_count == t->row_room)
        t->cells = vec_grow_(t->cells, &t->row_room, t->row_count + 1, n * sizeof *t->cells);
    memcpy(t->cells + t->row_count * n, row, n * sizeof *row);
    return (uint32_t)t->row_count++;
}

uint32_t table_add(struct table *t, const union table_cell *row)
{
    if (!t->keyed)
        return append(t, row);
    uint64_t hash = hash_keys(t, row);
    uint32_t newest = hashmap_get(&t->rows, hash);
    for (uint32_t i = newest; i != HASHMAP_NONE; i = t->older.items[i]) {
        union table_cell *known = t->cells + i * t->decl.column_count;
        if (!same_keys(t, known, row))
            continue;
        for (size_t k = 0; k < t->decl.column_count; k++)
            if (t->decl.columns[k].merge != TABLE_KEY)
                known[k] = united(&t->decl.columns[k], known[k], row[k]);
        return i;
    }
    uint32_t added = append(t, row);
    if (added == TABLE_NONE)
        return TABLE_NONE;
    *hashmap_put(&t->rows, hash) = added;
    *vec_push(&t->older) = newest;
    return added;
}

bool table_is(const struct table *t, const struct table_decl *d)
{
    bool is = strcmp(t->decl.name, d->name) == 0 && t->decl.column_count == d->column_count;
    for (size_t i = 0; is && i < d->column_count; i++)
        is = t->decl.columns[i].type == d->columns[i].type && strcmp(t->decl.columns[i].name, d->columns[i].name) == 0;
    return is;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

struct table *table_list_find(const struct table_list *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i]->decl.name, name) == 0)
            return l->items[i];
    return NULL;
}

static bool same_shape(const struct table_decl *a, const struct table_decl *b)
{
    bool same = a->column_count == b->column_count;
    for (size_t i = 0; same && i < a->column_count; i++) {
        const struct table_column *x = &a->columns[i], *y = &b->columns[i];
        same = x->type == y->type && x->merge == y->merge && strcmp(x->name, y->name) == 0 &&
               (x->type != TABLE_REF || strcmp(x->refers, y->refers) == 0);
    }
    return same;
}

int table_list_declare(struct table_list *l, const struct table_decl *d, struct strtab *strings, struct table **out,
                       struct err *err)
{
    if (check_decl(d, err) < 0)
        return -1;
    *out = table_list_find(l, d->name);
    if (*out && !same_shape(&(*out)->decl, d))
        return err_set(err, ERR_FORMAT, "two tables named '%s' have different columns", d->name);
    if (*out)
        return 0;
    if (l->count == LIMIT_TABLES)
        return err_set(err, ERR_LIMIT, "there are more than %d tables", LIMIT_TABLES);
    *out = table_create(d, strings);
    l->items = mem_realloc(l->items, l->count + 1, sizeof *l->items);
    l->items[l->count++] = *out;
    return 0;
}

void table_list_drop(struct table_list *l, size_t at)
{
    table_free(l->items[at]);
    memmove(&l->items[at], &l->items[at + 1], (--l->count - at) * sizeof *l->items);
}

void table_list_release(struct table_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        table_free(l->items[i]);
    mem_free(l->items);
    *l = (struct table_list){0};
}

/* ---- merging ------------------------------------------------------------------------------------------ */

struct merger {
    const struct table_list *from;
    const struct table_mapping *given;
    size_t given_count;
    uint32_t **rows; /* by table of `from`: its rows' new numbers; NULL: not merged yet */
};

static const struct table_mapping *given_mapping(const struct merger *m, const char *refers)
{
    for (size_t i = 0; i < m->given_count; i++)
        if (strcmp(m->given[i].refers, refers) == 0)
            return &m->given[i];
    return NULL;
}

static uint32_t mapped_row(const struct merger *m, const char *refers, uint32_t row)
{
    const struct table_mapping *given = given_mapping(m, refers);
    if (given)
        return row < given->count ? given->rows[row] : TABLE_NONE;
    for (size_t i = 0; i < m->from->count; i++)
        if (strcmp(m->from->items[i]->decl.name, refers) == 0)
            return m->rows[i] && row < m->from->items[i]->row_count ? m->rows[i][row] : TABLE_NONE;
    return row;
}

static int merge_table(struct merger *m, size_t ix, struct table_list *to, struct strtab *strings, struct err *err)
{
    const struct table *from = m->from->items[ix];
    struct table_column columns[LIMIT_TABLE_COLUMNS];
    struct table_decl decl = from->decl;
    struct table *t;
    size_t n = decl.column_count;
    memcpy(columns, decl.columns, n * sizeof *columns);
    decl.columns = columns;
    for (size_t i = 0; i < n; i++) {
        const struct table_mapping *given = given_mapping(m, columns[i].refers);
        columns[i].refers = given && columns[i].type == TABLE_REF ? given->becomes : columns[i].refers;
    }
    if (table_list_declare(to, &decl, strings, &t, err) < 0)
        return -1;
    uint32_t *rows = mem_alloc((from->row_count + 1) * sizeof *rows);
    memset(rows, 0xff, from->row_count * sizeof *rows);
    m->rows[ix] = rows; /* rows may refer to earlier ones of their own table */
    for (size_t row = 0; row < from->row_count; row++) {
        union table_cell cells[LIMIT_TABLE_COLUMNS];
        memcpy(cells, table_row(from, row), n * sizeof *cells);
        for (size_t i = 0; i < n; i++) {
            if (columns[i].type == TABLE_TEXT)
                cells[i].text = strtab_add(strings, strtab_get(from->strings, cells[i].text));
            if (columns[i].type == TABLE_REF && cells[i].row != TABLE_NONE)
                cells[i].row = mapped_row(m, from->decl.columns[i].refers, cells[i].row);
        }
        rows[row] = table_add(t, cells);
    }
    return 0;
}

/* Does the table refer to one of the list that was not merged yet? (To itself it may: see merge_table.) */
static bool must_wait(const struct merger *m, size_t ix)
{
    const struct table_decl *d = &m->from->items[ix]->decl;
    for (size_t i = 0; i < m->from->count; i++)
        for (size_t k = 0; i != ix && !m->rows[i] && k < d->column_count; k++)
            if (d->columns[k].type == TABLE_REF && strcmp(d->columns[k].refers, m->from->items[i]->decl.name) == 0)
                return true;
    return false;
}

int table_list_merge(struct table_list *to, struct strtab *strings, const struct table_list *from,
                     const struct table_mapping *given, size_t given_count, struct err *err)
{
    struct merger m = {from, given, given_count, mem_calloc(from->count + 1, sizeof *m.rows)};
    int status = 0;
    size_t merged = 0;
    for (size_t before = SIZE_MAX; merged < from->count && status == 0;) {
        /* tables that others refer to come first; in a cycle there is none, and the first one is taken */
        bool stuck = merged == before;
        before = merged;
        for (size_t i = 0; i < from->count && status == 0; i++)
            if (!m.rows[i] && (stuck || !must_wait(&m, i))) {
                status = merge_table(&m, i, to, strings, err);
                merged++;
                stuck = false;
            }
    }
    for (size_t i = 0; i < from->count; i++)
        mem_free(m.rows[i]);
    mem_free(m.rows);
    return status;
}

/* ---- order --------------------------------------------------------------------------------------------- */

static int compare_cells(const struct table *t, const struct table_column *c, union table_cell a, union table_cell b)
{
    if (c->type == TABLE_TEXT)
        return strcmp(strtab_get(t->strings, a.text), strtab_get(t->strings, b.text));
    if (c->type == TABLE_NUMBER && !isnan(a.number) && !isnan(b.number))
        return (a.number > b.number) - (a.number < b.number);
    uint64_t x = bits_of(c, a), y = bits_of(c, b);
    return order_of(x, y);
}

static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct table *t = ctx;
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const union table_cell *a = table_row(t, i), *b = table_row(t, k);
    for (size_t c = 0; c < t->decl.column_count; c++) {
        int order = compare_cells(t, &t->decl.columns[c], a[c], b[c]);
        if (order)
            return order;
    }
    return order_of(i, k);
}

/* new_of[old row] = new row; the caller's. The hashes are rebuilt by the next addition: there is none after sorting. */
static uint32_t *sort_table(struct table *t)
{
    size_t n = t->decl.column_count;
    uint32_t *order = mem_alloc((t->row_count + 1) * sizeof *order);
    uint32_t *new_of = mem_alloc((t->row_count + 1) * sizeof *new_of);
    union table_cell *cells = mem_alloc((t->row_count * n + 1) * sizeof *cells);
    for (size_t i = 0; i < t->row_count; i++)
        order[i] = (uint32_t)i;
    sort_items_with(order, t->row_count, sizeof *order, compare_rows, t); /* rows come function by function */
    for (size_t i = 0; i < t->row_count; i++) {
        new_of[order[i]] = (uint32_t)i;
        memcpy(cells + i * n, table_row(t, order[i]), n * sizeof *cells);
    }
    mem_free(t->cells);
    mem_free(order);
    t->cells = cells;
    t->row_room = t->row_count;
    return new_of;
}

static void index_again(struct table *t)
{
    hashmap_release(&t->rows);
    t->older.count = 0;
    for (size_t i = 0; t->keyed && i < t->row_count; i++) {
        uint32_t *slot = hashmap_put(&t->rows, hash_keys(t, table_row(t, i)));
        *vec_push(&t->older) = *slot;
        *slot = (uint32_t)i;
    }
}

static void follow(struct table *t, const char *name, const uint32_t *new_of, size_t count)
{
    for (size_t c = 0; c < t->decl.column_count; c++) {
        if (t->decl.columns[c].type != TABLE_REF || strcmp(t->decl.columns[c].refers, name) != 0)
            continue;
        for (size_t row = 0; row < t->row_count; row++) {
            union table_cell *cell = &t->cells[row * t->decl.column_count + c];
            cell->row = cell->row < count ? new_of[cell->row] : TABLE_NONE;
        }
    }
}

void table_list_sort(struct table_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct table *t = l->items[i];
        uint32_t *new_of = sort_table(t);
        for (size_t k = 0; k < l->count; k++)
            follow(l->items[k], t->decl.name, new_of, t->row_count);
        mem_free(new_of);
    }
    for (size_t i = 0; i < l->count; i++)
        index_again(l->items[i]);
}
