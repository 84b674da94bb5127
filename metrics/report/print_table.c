/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table as text, CSV or JSON, one mechanism for all of them. A reference to a place is shown by name and location in
 * text, as kind, module, file, line and name for programs; one to a row of another table by that row's key: its columns
 * up to the first text.
 */
#include "metrics/report/report.h"

#include <math.h>

struct table_view {
    const struct experiment *e;
    const struct table *table;
    const struct table_decl *decl;
    const uint32_t *group; /* by row: the part of the table it stands in; NULL: all are one */
    size_t rows;           /* shown */
    uint32_t *order;       /* which ones; NULL: as they are */
    str_id *module_name;   /* by place */
    place_ix *procedure;   /* by place: the innermost procedure or inlined call around it; 0: none */
};

static const char *const place_kinds[] = {"program", "module", "file", "procedure", "inline", "loop", "line"};

static const struct table *find_table(const struct experiment *e, const char *name, struct err *err)
{
    struct VEC(const char *) names = {0};
    const struct table *found = table_list_find(&e->tables, name);
    if (found)
        return found;
    struct buf list = {0};
    for (size_t i = 0; i < e->tables.count; i++) {
        *vec_push(&names) = table_declared(e->tables.items[i])->name;
        buf_printf(&list, "%s%s", i ? ", " : "", names.items[i]);
    }
    *vec_push(&names) = NULL;
    const char *near = str_nearest(name, names.items);
    if (near)
        err_set(err, ERR_USAGE, "no table '%s'; did you mean '%s'?", name, near);
    else if (list.len)
        err_set(err, ERR_USAGE, "no table '%s'; available: %s", name, list.bytes);
    else
        err_set(err, ERR_USAGE, "no table '%s'; these measurements have no tables", name);
    vec_release(&names);
    buf_release(&list);
    return NULL;
}

static const char *place_name(const struct table_view *v, place_ix place)
{
    bool inner = v->e->places[place].kind >= PLACE_LOOP;
    return strtab_get(v->e->strings, v->e->places[inner ? v->procedure[place] : place].name);
}

static const char *place_file(const struct table_view *v, place_ix place)
{
    uint32_t file = v->e->places[place].file;
    return file == SOURCE_NONE ? "" : strtab_get(v->e->strings, v->e->files[file].name);
}

static const union table_cell *shown_row(const struct table_view *v, size_t r)
{
    return table_row(v->table, v->order ? v->order[r] : r);
}

static bool is_place(const struct table_column *c)
{
    return c->type == TABLE_REF && strcmp(c->refers, "place") == 0;
}

/* ---- what a cell says -------------------------------------------------------------------------- */

/* "" if there is no such process. */
static char *process_text(const struct experiment *e, uint32_t row)
{
    if (row >= e->process_count)
        return mem_strdup("");
    if (e->processes[row].rank >= 0)
        return mem_printf("rank %d", (int)e->processes[row].rank);
    return mem_printf("process %u", e->processes[row].pid);
}

static char *reference_text(const struct table_view *, const char *refers, uint32_t row, int depth);

/* "vec.h:13" */
static char *place_in_short(const struct table_view *v, place_ix place)
{
    if (place >= v->e->place_count)
        return mem_strdup("");
    uint32_t line = v->e->places[place].line_first;
    const char *file = place_file(v, place);
    return line && *file ? mem_printf("%s:%u", path_base(file), line) : mem_strdup(place_name(v, place));
}

/* Its run has no other process. */
static bool is_alone(const struct experiment *e, uint32_t process)
{
    for (size_t i = 0; i < e->run_count; i++)
        if (e->runs[i].process_count == 1 && e->runs[i].process_first == process)
            return true;
    return e->process_count == 1;
}

static char *key_text(const struct table_view *v, const struct table_column *c, union table_cell cell, int depth)
{
    if (table_cell_missing(c, cell) || c->type == TABLE_TIME || c->type == TABLE_NUMBER)
        return mem_strdup("");
    if (c->type == TABLE_TEXT)
        return mem_strdup(strtab_get(v->e->strings, cell.text));
    if (c->type == TABLE_COUNT)
        return mem_printf("#%llu", (unsigned long long)cell.count);
    if (strcmp(c->refers, "process") == 0 && is_alone(v->e, cell.row))
        return mem_strdup("");
    return is_place(c) ? place_in_short(v, cell.row) : reference_text(v, c->refers, cell.row, depth + 1);
}

/* The displayed key of another table's row: its columns up to the first text, in a table without texts up to the
   first number. "process 77 #0 main", "radix.c:33 pthread_barrier_wait" */
static char *row_name(const struct table_view *v, const struct table *t, uint32_t row, int depth)
{
    const struct table_decl *d = table_declared(t);
    bool texts = false, done = false;
    struct buf b = {0};
    buf_str(&b, "");
    for (size_t i = 0; i < d->column_count; i++)
        texts = texts || d->columns[i].type == TABLE_TEXT;
    for (size_t i = 0; row < table_row_count(t) && i < d->column_count && !done; i++) {
        char *text = key_text(v, &d->columns[i], table_row(t, row)[i], depth);
        buf_printf(&b, "%s%s", b.len && *text ? " " : "", text);
        mem_free(text);
        done = d->columns[i].type == (texts ? TABLE_TEXT : TABLE_COUNT);
    }
    return b.bytes;
}

/* The referred row, except for places: a display name, else the number. */
static char *reference_text(const struct table_view *v, const char *refers, uint32_t row, int depth)
{
    const struct experiment *e = v->e;
    const struct table *other = table_list_find(&e->tables, refers);
    if (strcmp(refers, "metric") == 0 && row < e->metric_count)
        return mem_strdup(strtab_get(e->strings, e->metrics[row].name));
    if (strcmp(refers, "file") == 0 && row < e->file_count)
        return mem_strdup(strtab_get(e->strings, e->files[row].name));
    if (strcmp(refers, "process") == 0 && row < e->process_count)
        return process_text(e, row);
    if (strcmp(refers, "run") == 0 && row < e->run_count)
        return mem_strdup(strtab_get(e->strings, e->runs[row].name));
    char *name = other && depth < 3 ? row_name(v, other, row, depth) : mem_strdup("");
    if (*name)
        return name;
    mem_free(name);
    return mem_printf("%u", row);
}

/* Any cell except a place, as CSV and text have it; "" if it is missing. */
static char *cell_text(const struct table_view *v, const struct table_column *c, union table_cell cell)
{
    struct buf b = {0};
    if (table_cell_missing(c, cell))
        return mem_strdup("");
    switch (c->type) {
    case TABLE_NUMBER:
        buf_double(&b, cell.number);
        return b.bytes;
    case TABLE_TEXT:
        return mem_strdup(strtab_get(v->e->strings, cell.text));
    case TABLE_REF:
        return reference_text(v, c->refers, cell.row, 0);
    default:
        return mem_printf("%llu", (unsigned long long)cell.count);
    }
}

/* ---- text ------------------------------------------------------------------------------------------ */

/* "dot at vec.h:13" */
static char *place_text(const struct table_view *v, place_ix place)
{
    struct buf b = {0};
    if (place >= v->e->place_count)
        return mem_strdup("");
    const struct place *p = &v->e->places[place];
    char *name = print_text_of_name(place_name(v, place));
    buf_str(&b, name);
    mem_free(name);
    if (p->kind >= PLACE_PROC && p->file != SOURCE_NONE) {
        buf_str(&b, " at ");
        buf_safe(&b, place_file(v, place));
        if (p->line_first)
            buf_printf(&b, ":%u", p->line_first);
    }
    return b.bytes;
}

static double number_of(const struct table_column *c, union table_cell cell)
{
    return c->type == TABLE_COUNT ? (double)cell.count : c->type == TABLE_NUMBER ? cell.number : NAN;
}

/* Of a column of times, by its largest value. */
static struct print_scale column_scale(const struct table_view *v, size_t column)
{
    const struct table_column *c = &v->decl->columns[column];
    double largest = 0;
    for (size_t r = 0; r < v->rows; r++)
        largest = fmax(largest, fabs(number_of(c, shown_row(v, r)[column])));
    return print_scale_of(c->unit, largest);
}

static void write_text(const struct table_view *v, struct outfile *out)
{
    struct text_table text = {0};
    for (size_t i = 0; i < v->decl->column_count; i++) {
        const struct table_column *c = &v->decl->columns[i];
        struct print_scale scale = column_scale(v, i);
        char *unit = *scale.unit ? mem_printf(" (%s)", scale.unit) : mem_strdup("");
        struct text_column *column =
            print_text_table_add(&text, c->title, unit, c->type == TABLE_TEXT || c->type == TABLE_REF);
        mem_free(unit);
        for (size_t r = 0; r < v->rows; r++) {
            union table_cell cell = shown_row(v, r)[i];
            char *plain = is_place(c)           ? place_text(v, cell.row)
                          : scale.decimals >= 0 ? print_text_scaled(number_of(c, cell), &scale)
                                                : cell_text(v, c, cell);
            print_text_column_add(column, is_place(c) ? mem_strdup(plain) : print_text_of_name(plain));
            mem_free(plain);
        }
    }
    print_text_table_write(&text, v->rows, out);
}

/* ---- CSV -------------------------------------------------------------------------------------------- */

static const char *const place_parts[] = {"kind", "module", "file", "line", "name"};

static void csv_place(const struct table_view *v, struct csvout *c, place_ix place)
{
    if (place >= v->e->place_count) {
        for (size_t i = 0; i < ARRAY_SIZE(place_parts); i++)
            csv_empty(c);
        return;
    }
    csv_text(c, place_kinds[v->e->places[place].kind]);
    csv_text(c, strtab_get(v->e->strings, v->module_name[place]));
    csv_text(c, place_file(v, place));
    csv_nonzero(c, v->e->places[place].line_first);
    csv_text(c, place_name(v, place));
}

static void csv_head(const struct table_view *v, struct csvout *out)
{
    for (size_t i = 0; i < v->decl->column_count; i++) {
        const struct table_column *c = &v->decl->columns[i];
        for (size_t part = 0; part < (is_place(c) ? ARRAY_SIZE(place_parts) : 1); part++) {
            char *head = is_place(c) ? mem_printf("%s.%s", c->name, place_parts[part]) : mem_strdup(c->name);
            csv_text(out, head);
            mem_free(head);
        }
    }
    csv_end_line(out);
}

static void csv_row(const struct table_view *v, size_t row, struct csvout *out)
{
    for (size_t i = 0; i < v->decl->column_count; i++) {
        const struct table_column *c = &v->decl->columns[i];
        union table_cell cell = shown_row(v, row)[i];
        if (is_place(c)) {
            csv_place(v, out, cell.row);
            continue;
        }
        char *text = cell_text(v, c, cell);
        csv_text(out, text);
        mem_free(text);
    }
    csv_end_line(out);
}

static void write_csv(const struct table_view *v, struct outfile *out)
{
    struct buf b = {0};
    struct csvout c = {.out = &b};
    csv_head(v, &c);
    for (size_t r = 0; r < v->rows; r++) {
        csv_row(v, r, &c);
        if (b.len > 60000)
            outfile_take(out, &b);
    }
    outfile_take(out, &b);
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void json_place(struct jsonout *j, const struct table_view *v, place_ix place)
{
    const struct place *p = &v->e->places[place];
    const char *texts[] = {place_kinds[p->kind], strtab_get(v->e->strings, v->module_name[place]), place_file(v, place),
                           NULL, place_name(v, place)};
    json_begin_object(j);
    for (size_t i = 0; i < ARRAY_SIZE(place_parts); i++) {
        json_key(j, place_parts[i]);
        if (texts[i])
            json_string(j, texts[i]);
        else if (p->line_first)
            json_u64(j, p->line_first);
        else
            json_null(j);
    }
    json_end_object(j);
}

static void json_cell(struct jsonout *j, const struct table_view *v, const struct table_column *c,
                      union table_cell cell)
{
    if (table_cell_missing(c, cell) || (is_place(c) && cell.row >= v->e->place_count))
        json_null(j);
    else if (is_place(c))
        json_place(j, v, cell.row);
    else if (c->type == TABLE_NUMBER)
        json_double(j, cell.number);
    else if (c->type == TABLE_COUNT || c->type == TABLE_TIME)
        json_u64(j, cell.count);
    else {
        char *text = cell_text(v, c, cell);
        json_string(j, text);
        mem_free(text);
    }
}

static void json_columns(struct jsonout *j, const struct table_view *v)
{
    static const char *const types[] = {"count", "number", "text", "time", "ref"}; /* in the order of enum table_type */
    json_put_array(j, "columns");
    for (size_t i = 0; i < v->decl->column_count; i++) {
        const struct table_column *c = &v->decl->columns[i];
        const char *members[][2] = {
            {"name", c->name}, {"title", c->title}, {"unit", c->unit}, {"type", types[c->type]}};
        json_begin_object(j);
        for (size_t k = 0; k < ARRAY_SIZE(members); k++) {
            json_put_string(j, members[k][0], members[k][1]);
        }
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_json(const struct table_view *v, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {&b, false};
    json_begin_object(&j);
    json_put_string(&j, "table", v->decl->name);
    json_columns(&j, v);
    json_put_array(&j, "rows");
    for (size_t r = 0; r < v->rows; r++) {
        json_begin_object(&j);
        for (size_t i = 0; i < v->decl->column_count; i++) {
            json_key(&j, v->decl->columns[i].name);
            json_cell(&j, v, &v->decl->columns[i], shown_row(v, r)[i]);
        }
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&b, '\n');
    outfile_take(out, &b);
}

/* ---- order ------------------------------------------------------------------------------------------- */

struct keyed {
    double key; /* NaN: missing, last */
    uint32_t row, group;
};

static int largest_first(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    return order_of(a->group, b->group) ?: order_largest(a->key, b->key) ?: order_of(a->row, b->row);
}

static double number_in(const struct table_column *c, union table_cell cell)
{
    if (table_cell_missing(c, cell))
        return (double)NAN;
    return c->type == TABLE_NUMBER ? cell.number : (double)cell.count;
}

static int sort_rows(struct table_view *v, const char *by, struct err *err)
{
    size_t at = table_column_of(v->table, by), n = table_row_count(v->table);
    uint8_t type = at == SIZE_MAX ? TABLE_TEXT : v->decl->columns[at].type;
    if (type == TABLE_TEXT || type == TABLE_REF)
        return err_set(err, ERR_USAGE, "the table '%s' has no column '%s' with numbers to sort by", v->decl->name, by);
    struct keyed *keys = mem_calloc(n, sizeof *keys);
    for (uint32_t r = 0; r < n; r++)
        keys[r] =
            (struct keyed){number_in(&v->decl->columns[at], table_row(v->table, r)[at]), r, v->group ? v->group[r] : 0};
    qsort(keys, n, sizeof *keys, largest_first);
    v->order = mem_alloc(n * sizeof *v->order);
    for (size_t r = 0; r < n; r++)
        v->order[r] = keys[r].row;
    mem_free(keys);
    return 0;
}

/* The first rows of each part. */
static void keep_top(struct table_view *v, size_t top)
{
    size_t kept = 0, here = 0;
    for (size_t r = 0; v->order && r < v->rows; r++) {
        bool next = r && v->group && v->group[v->order[r]] != v->group[v->order[r - 1]];
        here = next ? 0 : here;
        if (here++ < top)
            v->order[kept++] = v->order[r];
    }
    v->rows = v->order ? kept : v->rows < top ? v->rows : top;
}

int print_table(const struct experiment *e, const struct table *table, const uint32_t *group,
                const struct print_options *options, struct outfile *out, struct err *err)
{
    struct table_view v = {.e = e, .table = table, .group = group};
    v.decl = table_declared(v.table);
    v.rows = table_row_count(v.table);
    if (options->sort_by && sort_rows(&v, options->sort_by, err) < 0)
        return -1;
    if (options->top)
        keep_top(&v, options->top);
    print_find_surroundings(v.e, &v.module_name, &v.procedure);
    if (options->format == PRINT_TEXT)
        write_text(&v, out);
    else if (options->format == PRINT_CSV)
        write_csv(&v, out);
    else
        write_json(&v, out);
    mem_free(v.module_name);
    mem_free(v.procedure);
    mem_free(v.order);
    return 0;
}

int experiment_print_table(const struct experiment *e, const char *name, const struct print_options *options,
                           struct outfile *out, struct err *err)
{
    const struct table *table = find_table(e, name, err);
    return table ? print_table(e, table, NULL, options, out, err) : -1;
}
