/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that contain sampled addresses, kept in the measurement as a table: if a binary has been rebuilt or
 * removed since, samples are still shown by function, under the files and lines of its debug information at that time.
 *
 * A row is a range of a function's code; its entry distinguishes two functions of one name.
 */
#include "metrics/code/code.h"

#include <stdlib.h>

enum { MODULE, BUILD_ID, ADDRESS, BYTES, ENTRY, NAME, SHORT_NAME, SOURCE, FIRST, LAST };
static const struct table_column function_columns[] = {
    [MODULE] = {.name = "module", .type = TABLE_TEXT, .merge = TABLE_KEY},
    [BUILD_ID] = {.name = "build_id", .title = "build id", .type = TABLE_TEXT, .merge = TABLE_KEY},
    [ADDRESS] = {.name = "address", .type = TABLE_COUNT, .merge = TABLE_KEY},
    [BYTES] = {.name = "bytes", .type = TABLE_COUNT, .merge = TABLE_LAST},
    [ENTRY] = {.name = "entry", .type = TABLE_COUNT, .merge = TABLE_LAST},
    [NAME] = {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST},
    [SHORT_NAME] = {.name = "short", .title = "short name", .type = TABLE_TEXT, .merge = TABLE_LAST},
    [SOURCE] = {.name = "file", .type = TABLE_TEXT, .merge = TABLE_LAST},
    [FIRST] = {.name = "first", .title = "first line", .type = TABLE_COUNT, .merge = TABLE_LAST},
    [LAST] = {.name = "last", .title = "last line", .type = TABLE_COUNT, .merge = TABLE_LAST},
};
static const struct table_decl functions = {"functions", "Functions", "Sampled functions", function_columns,
                                            ARRAY_SIZE(function_columns)};

/* ---- kept ------------------------------------------------------------------------------------------ */

static void keep_procedure(struct hpcprof *to, struct table *t, const struct hpcprof_module *m, const struct strtab *s,
                           const struct scope_tree *tree, const struct scope *proc)
{
    const char *name = strtab_get(tree->strings, proc->name), *brief = strtab_get(tree->strings, proc->short_name);
    union table_cell cells[] = {
        [MODULE] = {.text = strtab_add(to->strings, strtab_get(s, m->path))},
        [BUILD_ID] = {.text = strtab_add(to->strings, strtab_get(s, m->build_id))},
        [ENTRY] = {.count = proc->entry},
        [NAME] = {.text = strtab_add(to->strings, name)},
        [SHORT_NAME] = {.text = strtab_add(to->strings, strcmp(brief, name) == 0 ? "" : brief)},
        [SOURCE] = {.text = strtab_add(to->strings, strtab_get(tree->strings, proc->file))},
        [FIRST] = {.count = proc->line_first},
        [LAST] = {.count = proc->line_last},
    };
    for (uint32_t i = 0; i < proc->range_count; i++) {
        struct addr_range range = tree->ranges[proc->range_first + i];
        cells[ADDRESS].count = range.begin;
        cells[BYTES].count = range.end - range.begin;
        table_add(t, cells);
    }
}

/* The module as it is here, if it is still what ran. */
static void keep_module(struct hpcprof *to, struct table *t, const struct hpcprof *p, uint32_t module,
                        const vaddr *addresses, size_t count)
{
    const struct hpcprof_module *m = &p->modules[module];
    const char *path = strtab_get(p->strings, m->path), *build_id = strtab_get(p->strings, m->build_id);
    struct bloop_options options = {.procedures_only = true};
    struct bloop_binary *binary = NULL;
    struct scope_tree *tree = NULL;
    struct warnings *unused = warnings_create(); /* `build` reports it */
    if (path[0] == '/' && bloop_open(path, &options, &binary, unused, NULL) == 0 &&
        (!*build_id || strcmp(build_id, bloop_build_id(binary)) == 0) &&
        bloop_scopes_at(binary, addresses, count, &tree, unused, NULL) == 0)
        for (size_t i = 0; i < tree->scope_count; i++)
            if (tree->scopes[i].kind == SCOPE_PROC)
                keep_procedure(to, t, m, p->strings, tree, &tree->scopes[i]);
    scope_tree_free(tree);
    bloop_close(binary);
    warnings_free(unused);
}

struct place_in_module {
    uint32_t module;
    vaddr address;
};

static int compare_places(const void *a, const void *b)
{
    const struct place_in_module *x = a, *y = b;
    return order_of(x->module, y->module) ?: order_of(x->address, y->address);
}

static void keep_all(struct hpcprof *to, struct table *t, const struct hpcprof *p)
{
    struct VEC(struct place_in_module) all = {0};
    vaddr *addresses = mem_alloc(p->context_count * sizeof *addresses);
    for (size_t i = 0; i < p->context_count; i++)
        if (!p->contexts[i].by_line)
            *vec_push(&all) = (struct place_in_module){p->contexts[i].module, p->contexts[i].address};
    vec_sort(&all, compare_places);
    for (size_t from = 0, next; from < all.count; from = next) {
        for (next = from; next < all.count && all.items[next].module == all.items[from].module; next++)
            addresses[next - from] = all.items[next].address;
        keep_module(to, t, p, all.items[from].module, addresses, next - from);
    }
    mem_free(addresses);
    vec_release(&all);
}

int measurement_keep_functions(const char *measured, const char *file, struct err *err)
{
    struct hpcprof *p = NULL, *kept = hpcprof_create();
    struct table *t = NULL;
    int status = hpcprof_read_as(measured, &(struct hpcprof_reading){.summed = true}, &p, NULL, err);
    if (status == 0)
        status = table_list_declare(&kept->tables, &functions, kept->strings, &t, err);
    if (status == 0)
        keep_all(kept, t, p);
    if (status == 0 && table_row_count(t))
        status = hpcprof_add_tables(file, kept, err);
    hpcprof_free(kept);
    hpcprof_free(p);
    return status;
}

/* ---- found again ------------------------------------------------------------------------------------ */

struct kept_rows {
    const struct table *t;
    const struct strtab *strings;
};

static int by_text(const struct kept_rows *k, const union table_cell *a, const union table_cell *b, size_t column)
{
    return strcmp(strtab_get(k->strings, a[column].text), strtab_get(k->strings, b[column].text));
}

/* In the order of a scope tree. */
static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct kept_rows *k = ctx;
    const union table_cell *a = table_row(k->t, *(const uint32_t *)left),
                           *b = table_row(k->t, *(const uint32_t *)right);
    return by_text(k, a, b, MODULE)
               ?: by_text(k, a, b, BUILD_ID)
               ?: by_text(k, a, b, SOURCE)
               ?: order_of(a[ENTRY].count, b[ENTRY].count)
               ?: order_of(a[ADDRESS].count, b[ADDRESS].count);
}

struct rebuilding {
    const struct kept_rows *rows;
    struct scope_tree *tree;
    const union table_cell *last; /* row, NULL: none */
    scope_ix file;
};

static str_id text(const struct rebuilding *r, const union table_cell *row, size_t column)
{
    return strtab_add(r->tree->strings, strtab_get(r->rows->strings, row[column].text));
}

static scope_ix add_scope(struct scope_tree *tree, enum scope_kind kind, scope_ix parent, str_id name)
{
    tree->scopes[tree->scope_count] = (struct scope){
        .kind = (uint8_t)kind, .parent = parent, .name = name, .range_first = (uint32_t)tree->range_count};
    return (scope_ix)tree->scope_count++;
}

static void begin_procedure(struct rebuilding *r, const union table_cell *row)
{
    if (!r->last || by_text(r->rows, r->last, row, SOURCE) != 0)
        r->file = add_scope(r->tree, SCOPE_FILE, 0, text(r, row, SOURCE));
    scope_ix proc = add_scope(r->tree, SCOPE_PROC, r->file, text(r, row, NAME));
    struct scope *s = &r->tree->scopes[proc];
    str_id brief = text(r, row, SHORT_NAME);
    s->short_name = *strtab_get(r->tree->strings, brief) ? brief : s->name;
    s->file = text(r, row, SOURCE);
    s->entry = row[ENTRY].count;
    s->line_first = (uint32_t)row[FIRST].count;
    s->line_last = (uint32_t)row[LAST].count;
}

static void add_row(struct rebuilding *r, const union table_cell *row)
{
    bool same = r->last && by_text(r->rows, r->last, row, SOURCE) == 0 && r->last[ENTRY].count == row[ENTRY].count;
    vaddr end;
    if (row[BYTES].count == 0 || __builtin_add_overflow(row[ADDRESS].count, row[BYTES].count, &end))
        return;
    if (!same)
        begin_procedure(r, row);
    r->tree->ranges[r->tree->range_count++] = (struct addr_range){row[ADDRESS].count, end};
    r->tree->scopes[r->tree->scope_count - 1].range_count++;
    r->last = row;
}

/* The rows of one module as its scope tree; NULL: they are inconsistent. */
static struct scope_tree *tree_of(const struct kept_rows *k, const uint32_t *order, size_t n)
{
    struct scope_tree *tree = scope_tree_create();
    struct rebuilding r = {.rows = k, .tree = tree};
    tree->scopes = mem_calloc(2 * n + 1, sizeof *tree->scopes);
    tree->ranges = mem_calloc(n, sizeof *tree->ranges);
    add_scope(tree, SCOPE_MODULE, SCOPE_NONE, text(&r, table_row(k->t, order[0]), MODULE));
    for (size_t i = 0; i < n; i++)
        add_row(&r, table_row(k->t, order[i]));
    if (scope_tree_check(tree, NULL) == 0)
        return tree;
    scope_tree_free(tree);
    return NULL;
}

static bool one_module(const struct kept_rows *k, uint32_t a, uint32_t b)
{
    const union table_cell *x = table_row(k->t, a), *y = table_row(k->t, b);
    return x[MODULE].text == y[MODULE].text && x[BUILD_ID].text == y[BUILD_ID].text;
}

/* Each of several measurements has the functions that it sampled itself: together they are one tree. */
void measured_functions_take(struct hpcprof *p, struct kept_functions *kept)
{
    for (size_t i = p->tables.count; i-- > 0;) {
        const struct table *from = p->tables.items[i];
        struct table *t;
        if (!table_is(from, &functions))
            continue;
        if (!kept->strings)
            kept->strings = strtab_create();
        table_list_declare(&kept->tables, &functions, kept->strings, &t, NULL); /* the only one there */
        for (size_t row = 0; row < table_row_count(from); row++) {
            union table_cell cells[ARRAY_SIZE(function_columns)];
            memcpy(cells, table_row(from, row), sizeof cells);
            for (size_t k = 0; k < ARRAY_SIZE(function_columns); k++)
                if (function_columns[k].type == TABLE_TEXT)
                    cells[k].text = strtab_add(kept->strings, strtab_get(p->strings, cells[k].text));
            table_add(t, cells);
        }
        table_list_drop(&p->tables, i);
    }
}

void measured_functions_give(struct kept_functions *kept, struct structures *structures)
{
    const struct table *t = table_list_find(&kept->tables, functions.name);
    struct kept_rows k = {t, kept->strings};
    size_t n = t ? table_row_count(t) : 0;
    uint32_t *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_rows, &k);
    for (size_t from = 0, next; from < n; from = next) {
        for (next = from; next < n && one_module(&k, order[from], order[next]);)
            next++;
        struct scope_tree *tree = tree_of(&k, order + from, next - from);
        if (tree)
            structures_add_kept(structures, tree, strtab_get(k.strings, table_row(t, order[from])[BUILD_ID].text));
    }
    mem_free(order);
    table_list_release(&kept->tables);
    strtab_free(kept->strings);
    kept->strings = NULL;
}
