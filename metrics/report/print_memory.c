/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of a simulated memory hierarchy (the tables levels, objects, references, arrays and evictors of a
 * measurement), level by level, as on MHSim's page: shares and ratios instead of the counts they are made of. They are
 * computed as a table, which is shown like any other.
 */
#include "metrics/report/report.h"

#include <math.h>

/* The measured columns, by name: with several runs each table has one more in front. */
struct memory_source {
    const struct table *table;
    const struct table_decl *decl;
};

struct memory_view {
    const struct experiment *e;
    struct memory_source levels, objects, from;
    struct table *made;
    struct VEC(uint32_t) group; /* by row of the result: the level's display order */
    uint32_t *ranks;            /* by row of levels */
    double *misses;             /* by row of levels */
};

static union table_cell cell_of(const struct memory_source *s, size_t row, const char *column)
{
    size_t at = table_column_of(s->table, column);
    return at == SIZE_MAX ? (union table_cell){.count = TABLE_NO_COUNT} : table_row(s->table, row)[at];
}

static double count_of(const struct memory_source *s, size_t row, const char *column)
{
    uint64_t n = cell_of(s, row, column).count;
    return n == TABLE_NO_COUNT ? (double)NAN : (double)n;
}

/* Percent, to two decimals; none of zero. */
static union table_cell percent(double part, double whole)
{
    return (union table_cell){.number = whole > 0 ? round(part / whole * 1e4) / 100 : (double)NAN};
}

/* ---- what is read -------------------------------------------------------------------------------------- */

static int find_source(const struct experiment *e, const char *name, struct memory_source *s, struct err *err)
{
    s->table = table_list_find(&e->tables, name);
    if (!s->table)
        return err_set(err, ERR_USAGE,
                       "no table '%s': references, arrays and evictors exist only in measurements of hpcview simulate",
                       name);
    s->decl = table_declared(s->table);
    return 0;
}

/* Columns that are read below: the measurement may be anybody's. */
static int check_source(const struct memory_source *s, const char *const *columns, struct err *err)
{
    for (; *columns; columns++) {
        size_t at = table_column_of(s->table, *columns + 1);
        uint8_t type = **columns == 'r' ? TABLE_REF : **columns == 't' ? TABLE_TEXT : TABLE_COUNT;
        if (at == SIZE_MAX || s->decl->columns[at].type != type)
            return err_set(err, ERR_FORMAT, "the table '%s' lacks the column '%s' of hpcview simulate", s->decl->name,
                           *columns + 1);
    }
    return 0;
}

/* First letter: column of a reference, a text or a count. */
static const char *const level_needs[] = {"tlevel", "cline", "corder", NULL};
static const char *const object_needs[] = {"tname", NULL};
static const char *const count_needs[] = {"robject",      "rlevel",       "caccesses", "cmisses",    "ctemporal",
                                          "ccold",        "cconflict",    "cdistinct", "cevictions", "cused",
                                          "cwrite_backs", "cinvalidated", NULL};
static const char *const pair_needs[] = {"rvictim", "rvictim_object", "revictor",     "revictor_object",
                                         "rlevel",  "cblocks",        "cinvalidated", NULL};

static int find_sources(struct memory_view *v, enum print_memory by, struct err *err)
{
    static const char *const names[] = {"references", "arrays", "evictors"};
    const char *const *needs = by == PRINT_EVICTOR ? pair_needs : count_needs;
    if (find_source(v->e, names[by], &v->from, err) < 0 || find_source(v->e, "levels", &v->levels, err) < 0 ||
        find_source(v->e, "objects", &v->objects, err) < 0)
        return -1;
    return check_source(&v->from, needs, err) < 0 || check_source(&v->levels, level_needs, err) < 0 ||
                   check_source(&v->objects, object_needs, err) < 0
               ? -1
               : 0;
}

/* ---- levels --------------------------------------------------------------------------------------------- */

/* A run after the other, caches before TLBs. */
static void rank_levels(struct memory_view *v)
{
    size_t n = table_row_count(v->levels.table);
    v->ranks = mem_calloc(n, sizeof *v->ranks);
    v->misses = mem_calloc(n, sizeof *v->misses);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            uint32_t runs[] = {cell_of(&v->levels, i, "run").row, cell_of(&v->levels, k, "run").row};
            double orders[] = {count_of(&v->levels, i, "order"), count_of(&v->levels, k, "order")};
            v->ranks[i] += runs[1] < runs[0] ||
                           (runs[1] == runs[0] && (orders[1] < orders[0] || (orders[1] == orders[0] && k < i)));
        }
}

static void sum_misses(struct memory_view *v)
{
    for (size_t r = 0; r < table_row_count(v->from.table); r++) {
        uint32_t level = cell_of(&v->from, r, "level").row;
        if (level < table_row_count(v->levels.table))
            v->misses[level] += count_of(&v->from, r, "misses");
    }
}

static union table_cell name_of(const struct memory_view *v, union table_cell object)
{
    if (object.row >= table_row_count(v->objects.table))
        return (union table_cell){.text = strtab_add(v->e->strings, "")};
    return cell_of(&v->objects, object.row, "name");
}

/* ---- what is made ---------------------------------------------------------------------------------------- */

/* A row of the table that is made, with its cells one after the other. */
struct line {
    union table_cell cells[LIMIT_TABLE_COLUMNS];
    size_t count;
};

static void put(struct line *l, union table_cell cell)
{
    l->cells[l->count++] = cell;
}

static bool has_runs(const struct memory_view *v)
{
    return table_column_of(v->levels.table, "run") != SIZE_MAX;
}

static void begin_line(const struct memory_view *v, struct line *l, uint32_t level)
{
    l->count = 0;
    if (has_runs(v))
        put(l, cell_of(&v->levels, level, "run"));
    put(l, cell_of(&v->levels, level, "level"));
}

static void end_line(struct memory_view *v, const struct line *l, uint32_t level)
{
    if (table_add(v->made, l->cells) != TABLE_NONE)
        *vec_push(&v->group) = v->ranks[level];
}

static void add_counts(struct memory_view *v, enum print_memory by, size_t r)
{
    static const char *const last[] = {"cold", "conflict", "distinct", "evictions", "write_backs", "invalidated"};
    const struct memory_source *s = &v->from;
    uint32_t level = cell_of(s, r, "level").row;
    struct line l;
    if (level >= table_row_count(v->levels.table))
        return;
    double accesses = count_of(s, r, "accesses"), misses = count_of(s, r, "misses");
    begin_line(v, &l, level);
    if (by == PRINT_REFERENCE)
        put(&l, cell_of(s, r, "reference"));
    put(&l, name_of(v, cell_of(s, r, "object")));
    if (by == PRINT_ARRAY)
        put(&l, cell_of(s, r, "where"));
    put(&l, cell_of(s, r, "accesses"));
    put(&l, cell_of(s, r, "misses"));
    put(&l, percent(misses, v->misses[level]));
    put(&l, percent(misses, accesses));
    put(&l, percent(count_of(s, r, "temporal"), accesses - misses));
    put(&l, percent(count_of(s, r, "used"), count_of(s, r, "evictions") * count_of(&v->levels, level, "line")));
    for (size_t i = 0; i < ARRAY_SIZE(last); i++)
        put(&l, cell_of(s, r, last[i]));
    end_line(v, &l, level);
}

/* Numbers of victims: a reference on an array, and that at one level. */
struct victims {
    struct hashmap references, levels;
};

static uint32_t number_of(struct hashmap *keys, uint32_t high, uint32_t low, size_t fresh)
{
    uint32_t *number = hashmap_put(keys, (uint64_t)high << 32 | low);
    if (*number == HASHMAP_NONE)
        *number = (uint32_t)fresh;
    return *number;
}

static uint32_t victim_of(const struct memory_source *s, size_t r, struct victims *known)
{
    uint32_t reference =
        number_of(&known->references, cell_of(s, r, "victim").row, cell_of(s, r, "victim_object").row, r);
    return number_of(&known->levels, reference, cell_of(s, r, "level").row, r);
}

static void add_pair(struct memory_view *v, size_t r, double left)
{
    const struct memory_source *s = &v->from;
    uint32_t level = cell_of(s, r, "level").row;
    struct line l;
    if (level >= table_row_count(v->levels.table))
        return;
    begin_line(v, &l, level);
    put(&l, cell_of(s, r, "victim"));
    put(&l, name_of(v, cell_of(s, r, "victim_object")));
    put(&l, cell_of(s, r, "evictor"));
    put(&l, name_of(v, cell_of(s, r, "evictor_object")));
    put(&l, cell_of(s, r, "blocks"));
    put(&l, percent(count_of(s, r, "blocks"), left));
    put(&l, cell_of(s, r, "invalidated"));
    end_line(v, &l, level);
}

static void add_pairs(struct memory_view *v)
{
    size_t n = table_row_count(v->from.table);
    struct victims known = {0};
    double *left = mem_calloc(n, sizeof *left);
    for (size_t r = 0; r < n; r++)
        left[victim_of(&v->from, r, &known)] += count_of(&v->from, r, "blocks");
    for (size_t r = 0; r < n; r++)
        add_pair(v, r, left[victim_of(&v->from, r, &known)]);
    hashmap_release(&known.references);
    hashmap_release(&known.levels);
    mem_free(left);
}

#define TEXT(n, t)                                                                                                     \
    {                                                                                                                  \
        .name = n, .title = t, .type = TABLE_TEXT, .merge = TABLE_LAST                                                 \
    }
#define PLACE(n, t)                                                                                                    \
    {                                                                                                                  \
        .name = n, .title = t, .type = TABLE_REF, .refers = "place", .merge = TABLE_LAST                               \
    }
#define COUNT(n, t)                                                                                                    \
    {                                                                                                                  \
        .name = n, .title = t, .type = TABLE_COUNT, .merge = TABLE_LAST                                                \
    }
#define PERCENT(n, t)                                                                                                  \
    {                                                                                                                  \
        .name = n, .title = t, .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST                                  \
    }
#define COUNTS                                                                                                         \
    COUNT("accesses", NULL), COUNT("misses", NULL), PERCENT("share", "share of the level's misses"),                   \
        PERCENT("miss_ratio", "miss ratio"), PERCENT("temporal", "temporal"), PERCENT("spatial", "spatial use"),       \
        COUNT("cold", NULL), COUNT("conflict", NULL), COUNT("distinct", "distinct lines"),                             \
        COUNT("evictions", "evicted lines"), COUNT("write_backs", "write-backs"), COUNT("invalidated", "invalidated")

static const struct table_column run_column[] = {
    {.name = "run", .type = TABLE_REF, .refers = "run", .merge = TABLE_LAST}};
static const struct table_column reference_columns[] = {TEXT("level", NULL), PLACE("reference", NULL),
                                                        TEXT("array", NULL), COUNTS};
static const struct table_column array_columns[] = {TEXT("level", NULL), TEXT("array", NULL),
                                                    PLACE("where", "allocated at"), COUNTS};
static const struct table_column evictor_columns[] = {TEXT("level", NULL),
                                                      PLACE("victim", "victim"),
                                                      TEXT("array", "victim's array"),
                                                      PLACE("evictor", "by"),
                                                      TEXT("by_array", "on array"),
                                                      COUNT("blocks", NULL),
                                                      PERCENT("share", "share of its evictions"),
                                                      COUNT("invalidated", "by another thread's store")};

#define SHAPE(n, c)                                                                                                    \
    {                                                                                                                  \
        .name = n, .columns = c, .column_count = ARRAY_SIZE(c)                                                         \
    }
static const struct table_decl shapes[] = {SHAPE("reference", reference_columns), SHAPE("array", array_columns),
                                           SHAPE("evictor", evictor_columns)};

static int make(struct memory_view *v, enum print_memory by, struct table_list *list, struct err *err)
{
    struct table_column columns[LIMIT_TABLE_COLUMNS];
    struct table_decl decl = shapes[by];
    size_t runs = has_runs(v) ? 1 : 0;
    memcpy(columns, run_column, sizeof run_column);
    memcpy(columns + runs, decl.columns, decl.column_count * sizeof *columns);
    decl.columns = columns;
    decl.column_count += runs;
    if (table_list_declare(list, &decl, v->e->strings, &v->made, err) < 0)
        return -1;
    rank_levels(v);
    if (by == PRINT_EVICTOR) {
        add_pairs(v);
        return 0;
    }
    sum_misses(v);
    for (size_t r = 0; r < table_row_count(v->from.table); r++)
        add_counts(v, by, r);
    return 0;
}

int experiment_print_memory(const struct experiment *e, enum print_memory by, const struct print_options *options,
                            struct outfile *out, struct err *err)
{
    struct memory_view v = {.e = e};
    struct table_list list = {0};
    struct print_options sorted = *options;
    if (!sorted.sort_by)
        sorted.sort_by = by == PRINT_EVICTOR ? "blocks" : "misses";
    int status = find_sources(&v, by, err);
    if (status == 0)
        status = make(&v, by, &list, err);
    if (status == 0)
        status = print_table(e, v.made, v.group.items, &sorted, out, err);
    table_list_release(&list);
    vec_release(&v.group);
    mem_free(v.ranks);
    mem_free(v.misses);
    return status;
}
