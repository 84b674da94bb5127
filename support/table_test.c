/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables: rows of equal keys unite by their columns' rules, references follow rows, order does not show. */
#include "support/support.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>

static const struct table_column array_columns[] = {
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "misses", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
static const struct table_decl arrays = {"arrays", NULL, NULL, array_columns, ARRAY_SIZE(array_columns)};

static const struct table_column pair_columns[] = {
    {.name = "victim", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "context"},
    {.name = "array", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "arrays"},
    {.name = "blocks", .title = "blocks lost", .unit = "blocks", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "least", .type = TABLE_NUMBER, .merge = TABLE_MIN},
    {.name = "most", .type = TABLE_NUMBER, .merge = TABLE_MAX},
    {.name = "last", .type = TABLE_TIME, .merge = TABLE_LAST},
};
static const struct table_decl pairs = {"pairs", "Pairs", "who and what", pair_columns, ARRAY_SIZE(pair_columns)};

struct document {
    struct strtab *strings;
    struct table_list tables;
    struct table *arrays, *pairs;
};

static struct document document(void)
{
    struct document d = {.strings = strtab_create()};
    struct err err = {0};
    CHECK_INT(table_list_declare(&d.tables, &pairs, d.strings, &d.pairs, &err), 0);
    CHECK_INT(table_list_declare(&d.tables, &arrays, d.strings, &d.arrays, &err), 0);
    return d;
}

static void release(struct document *d)
{
    table_list_release(&d->tables);
    strtab_free(d->strings);
}

static uint32_t add_array(struct document *d, const char *name, uint64_t misses)
{
    return table_add(d->arrays, (union table_cell[]){{.text = strtab_add(d->strings, name)}, {.count = misses}});
}

static uint32_t add_pair(struct document *d, uint32_t victim, uint32_t array, uint64_t blocks, double value,
                         uint64_t last)
{
    return table_add(
        d->pairs,
        (union table_cell[]){
            {.row = victim}, {.row = array}, {.count = blocks}, {.number = value}, {.number = value}, {.count = last}});
}

/* All rows as text, one per line, in a readable form. */
static char *drawn(const struct table_list *l, const char *name, const struct strtab *strings)
{
    struct buf b = {0};
    const struct table *t = table_list_find(l, name);
    const struct table_decl *d = table_declared(t);
    for (size_t row = 0; row < table_row_count(t); row++)
        for (size_t i = 0; i < d->column_count; i++) {
            union table_cell cell = table_row(t, row)[i];
            if (table_cell_missing(&d->columns[i], cell))
                buf_str(&b, "-");
            else if (d->columns[i].type == TABLE_TEXT)
                buf_str(&b, strtab_get(strings, cell.text));
            else if (d->columns[i].type == TABLE_NUMBER)
                buf_double(&b, cell.number);
            else
                buf_printf(&b, "%llu",
                           d->columns[i].type == TABLE_REF ? (unsigned long long)cell.row
                                                           : (unsigned long long)cell.count);
            buf_char(&b, i + 1 < d->column_count ? ' ' : '\n');
        }
    buf_str(&b, "");
    return b.bytes ? b.bytes : mem_strdup("");
}

static void check_drawn(const struct document *d, const char *table, const char *want, const char *what)
{
    char *got = drawn(&d->tables, table, d->strings);
    tap_str(got, want, what, __FILE__, __LINE__);
    mem_free(got);
}

static void test_unite(void)
{
    struct document d = document();
    uint32_t a = add_array(&d, "a", 1), b = add_array(&d, "b", 2);
    CHECK_INT(add_array(&d, "a", 10), a);
    check_drawn(&d, "arrays", "a 11\nb 2\n", "equal keys add up");
    CHECK_INT(add_pair(&d, 7, a, 1, 5, 100), 0);
    CHECK_INT(add_pair(&d, 7, b, 2, 6, 200), 1);
    CHECK_INT(add_pair(&d, 7, a, TABLE_NO_COUNT, 3, 50), 0);
    CHECK_INT(add_pair(&d, 7, a, 4, NAN, TABLE_NO_COUNT), 0);
    CHECK_INT(add_pair(&d, 7, a, 8, 9, 60), 0);
    check_drawn(&d, "pairs", "7 0 13 3 9 60\n7 1 2 6 6 200\n", "sum, least, greatest, last; missing changes nothing");
    CHECK_INT(add_pair(&d, TABLE_NONE, a, UINT64_MAX - 5, NAN, 1), 2);
    CHECK_INT(add_pair(&d, TABLE_NONE, a, 100, NAN, 1), 2);
    CHECK_NAMED(table_row(d.pairs, 2)[2].count == TABLE_NO_COUNT - 1, "a sum beyond 64 bits stays at the greatest");
    CHECK_INT(table_column_of(d.pairs, "blocks"), 2);
    CHECK_NAMED(table_column_of(d.pairs, "nosuch") == SIZE_MAX, "no such column");
    CHECK_STR(table_declared(d.arrays)->title, "arrays");
    CHECK_STR(table_declared(d.pairs)->columns[2].title, "blocks lost");
    CHECK_STR(table_declared(d.pairs)->columns[1].refers, "arrays");
    release(&d);
}

static void test_many(void)
{
    struct document d = document();
    for (uint32_t i = 0; i < 30000; i++)
        add_pair(&d, i % 10000, i % 3 ? 0 : TABLE_NONE, 1, i, i);
    size_t rows = table_row_count(d.pairs);
    uint64_t sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += table_row(d.pairs, i)[2].count;
    CHECK_INT(rows, 20000);
    CHECK_INT(sum, 30000);
    release(&d);
}

static void test_keyless(void)
{
    static const struct table_column columns[] = {{.name = "at", .type = TABLE_TIME, .merge = TABLE_LAST}};
    static const struct table_decl decl = {"marks", NULL, NULL, columns, 1};
    struct document d = document();
    struct table *t;
    CHECK_INT(table_list_declare(&d.tables, &decl, d.strings, &t, NULL), 0);
    table_add(t, (union table_cell[]){{.count = 3}});
    table_add(t, (union table_cell[]){{.count = 3}});
    check_drawn(&d, "marks", "3\n3\n", "without a key every row stays");
    release(&d);
}

static void test_merge(void)
{
    struct document from = document(), to = document();
    static const uint32_t places[] = {4, 4, TABLE_NONE};
    const struct table_mapping mapping = {"context", "context", places, 3};
    struct err err = {0};
    add_array(&to, "z", 5);
    uint32_t b = add_array(&from, "b", 1), z = add_array(&from, "z", 2);
    add_pair(&from, 0, b, 1, 1, 1);
    add_pair(&from, 1, b, 2, 2, 2);
    add_pair(&from, 2, z, 4, 4, 4);
    add_pair(&from, 9, TABLE_NONE, 8, 8, 8);
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, &mapping, 1, &err), 0);
    check_drawn(&to, "arrays", "z 7\nb 1\n", "rows of one key are one over both");
    check_drawn(&to, "pairs", "4 1 3 1 2 2\n- 0 4 4 4 4\n- - 8 8 8 8\n",
                "references follow; places that became one unite");
    release(&from);
    release(&to);
}

static void test_mapping_renames(void)
{
    struct document from = document(), to = {.strings = strtab_create()};
    static const uint32_t places[] = {11};
    const struct table_mapping mapping = {"context", "place", places, 1};
    struct err err = {0};
    add_pair(&from, 0, TABLE_NONE, 1, 1, 1);
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, &mapping, 1, &err), 0);
    const struct table *t = table_list_find(&to.tables, "pairs");
    CHECK_STR(table_declared(t)->columns[0].refers, "place");
    CHECK_INT(table_row(t, 0)[0].row, 11);
    release(&from);
    release(&to);
}

/* Rows may refer to earlier ones of their own table, e.g. nested regions. */
static void test_own_rows(void)
{
    static const struct table_column columns[] = {
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "within", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "phases"},
    };
    static const struct table_decl decl = {"phases", NULL, NULL, columns, 2};
    struct document from = {.strings = strtab_create()}, to = {.strings = strtab_create()};
    struct table *t;
    struct err err = {0};
    table_list_declare(&from.tables, &decl, from.strings, &t, &err);
    uint32_t outer = table_add(t, (union table_cell[]){{.text = strtab_add(from.strings, "z")}, {.row = TABLE_NONE}});
    table_add(t, (union table_cell[]){{.text = strtab_add(from.strings, "a")}, {.row = outer}});
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, NULL, 0, &err), 0);
    check_drawn(&to, "phases", "z -\na 0\n", "merged, the inner one is still in the outer one");
    table_list_sort(&to.tables);
    check_drawn(&to, "phases", "a 1\nz -\n", "sorted, too");
    release(&from);
    release(&to);
}

/* References to later or missing rows are dropped when rows are merged. */
static void test_later_rows(void)
{
    static const struct table_column columns[] = {
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "next", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "chain"},
    };
    static const struct table_decl decl = {"chain", NULL, NULL, columns, 2};
    struct document from = {.strings = strtab_create()}, to = {.strings = strtab_create()};
    struct table *t;
    table_list_declare(&from.tables, &decl, from.strings, &t, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        const uint32_t next[] = {0, 6, 5, 0, 9, 3}; /* there are six */
        table_add(t, (union table_cell[]){{.text = strtab_add(from.strings, name)}, {.row = next[i]}});
    }
    /* one after the last, which was never initialized */
    static const struct table_column many_columns[] = {{.name = "n", .merge = TABLE_KEY},
                                                       {.name = "of", .type = TABLE_REF, .refers = "many"}};
    static const struct table_decl many = {"many", NULL, NULL, many_columns, 2};
    enum { MANY = 400 };
    table_list_declare(&from.tables, &many, from.strings, &t, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        table_add(t, (union table_cell[]){{.count = i}, {.row = MANY}});
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, NULL, 0, NULL), 0);
    check_drawn(&to, "chain", "a -\nb -\nc -\nd 0\ne -\nf 3\n", "references to earlier rows alone are kept");
    const struct table *merged = table_list_find(&to.tables, "many");
    size_t none = 0;
    for (size_t i = 0; i < table_row_count(merged); i++)
        none += table_row(merged, i)[1].row == TABLE_NONE;
    CHECK_INT(none, MANY);
    release(&from);
    release(&to);
}

/* Numbers as keys: all NaNs are the same key. */
static void test_number_keys(void)
{
    static const struct table_column columns[] = {
        {.name = "at", .type = TABLE_NUMBER, .merge = TABLE_KEY},
        {.name = "when", .type = TABLE_TIME, .merge = TABLE_KEY},
        {.name = "n", .type = TABLE_COUNT, .merge = TABLE_SUM},
    };
    static const struct table_decl decl = {"numbers", NULL, NULL, columns, 3};
    static const struct {
        double at;
        uint64_t when;
    } rows[] = {{1.5, 1}, {NAN, 1},   {-NAN, 1},      {1.5, 2},  {1.5, 1}, {-1.5, 1},       {INFINITY, 1},
                {NAN, 1}, {1e300, 1}, {1.5000001, 1}, {-1.5, 1}, {NAN, 2}, {2, UINT64_MAX}, {1.5, 0}};
    struct document d = {.strings = strtab_create()};
    struct table *t;
    table_list_declare(&d.tables, &decl, d.strings, &t, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        table_add(t, (union table_cell[]){{.number = rows[i].at}, {.count = rows[i].when}, {.count = 1}});
    check_drawn(&d, "numbers",
                "1.5 1 2\n- 1 3\n1.5 2 1\n-1.5 1 2\ninf 1 1\n1e+300 1 1\n1.5000001 1 1\n- 2 1\n2 - 1\n1.5 0 1\n",
                "equal numbers, and what is none, are one row");
    table_list_sort(&d.tables);
    check_drawn(&d, "numbers",
                "-1.5 1 2\n1.5 0 1\n1.5 1 2\n1.5 2 1\n1.5000001 1 1\n2 - 1\n1e+300 1 1\ninf 1 1\n- 1 3\n- 2 1\n",
                "sorted as numbers, what is none behind them");
    release(&d);
}

/* Each rule for each type, compared with the result when missing values are skipped. */
static void test_rules(void)
{
    enum { KEYS = 7, TYPES = 2, RULES = 4, ROWS = 600 };
    static const uint8_t types[TYPES] = {TABLE_COUNT, TABLE_NUMBER},
                         rules[RULES] = {TABLE_SUM, TABLE_MIN, TABLE_MAX, TABLE_LAST};
    static const char *const names[TYPES * RULES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct table_column columns[1 + TYPES * RULES] = {{.name = "key", .type = TABLE_COUNT, .merge = TABLE_KEY}};
    struct table_decl decl = {"rules", NULL, NULL, columns, ARRAY_SIZE(columns)};
    struct document d = {.strings = strtab_create()};
    double want[KEYS][TYPES * RULES];
    bool known[KEYS][TYPES * RULES] = {{false}};
    struct table *t;
    unsigned wrong = 0;
    for (size_t i = 0; i < TYPES * RULES; i++)
        columns[1 + i] = (struct table_column){.name = names[i], .type = types[i / RULES], .merge = rules[i % RULES]};
    CHECK_INT(table_list_declare(&d.tables, &decl, d.strings, &t, NULL), 0);
    for (unsigned row = 0; row < ROWS; row++) {
        uint32_t key = below(KEYS);
        union table_cell cells[1 + TYPES * RULES] = {{.count = key}};
        for (size_t i = 0; i < TYPES * RULES; i++) {
            double *w = &want[key][i], v = below(100);
            bool number = types[i / RULES] == TABLE_NUMBER, missing = below(4) == 0, first = !known[key][i];
            v = number ? v / 8 - 6 : v;
            cells[1 + i] = number ? (union table_cell){.number = missing ? NAN : v}
                                  : (union table_cell){.count = missing ? TABLE_NO_COUNT : (uint64_t)v};
            if (missing)
                continue;
            known[key][i] = true;
            switch (rules[i % RULES]) {
            case TABLE_SUM:
                *w = first ? v : *w + v;
                break;
            case TABLE_MIN:
                *w = first || v < *w ? v : *w;
                break;
            case TABLE_MAX:
                *w = first || v > *w ? v : *w;
                break;
            default:
                *w = v;
            }
        }
        uint32_t at = table_add(t, cells);
        for (size_t i = 0; i < TYPES * RULES; i++) {
            union table_cell cell = table_row(t, at)[1 + i];
            bool missing = table_cell_missing(&columns[1 + i], cell);
            double is = types[i / RULES] == TABLE_NUMBER ? cell.number : (double)cell.count;
            wrong += missing == known[key][i] || (!missing && is != want[key][i]);
        }
    }
    CHECK_INT(table_row_count(t), KEYS);
    CHECK_INT(wrong, 0);
    release(&d);
}

/* Tables are identified by their name and by the names and types of their columns. An identical declaration may be
   repeated; one that differs in any part is rejected. */
static void test_is(void)
{
    static const struct table_column
        one[] = {{.name = "a", .type = TABLE_REF, .refers = "x"}, {.name = "b", .merge = TABLE_SUM}},
        other_name[] = {{.name = "c", .type = TABLE_REF, .refers = "x"}, {.name = "b", .merge = TABLE_SUM}},
        other_last[] = {{.name = "a", .type = TABLE_REF, .refers = "x"}, {.name = "c", .merge = TABLE_SUM}},
        other_type[] = {{.name = "a", .type = TABLE_TEXT}, {.name = "b", .merge = TABLE_SUM}},
        other_rule[] = {{.name = "a", .type = TABLE_REF, .refers = "x"}, {.name = "b", .merge = TABLE_MAX}},
        other_refers[] = {{.name = "a", .type = TABLE_REF, .refers = "y"}, {.name = "b", .merge = TABLE_SUM}},
        more[] = {{.name = "a", .type = TABLE_REF, .refers = "x"}, {.name = "b", .merge = TABLE_SUM}, {.name = "c"}};
    static const struct {
        struct table_decl decl;
        bool is, may;
    } cases[] = {{{"t", NULL, NULL, one, 2}, true, true},           {{"u", NULL, NULL, one, 2}, false, true},
                 {{"t", "T", "words", one, 2}, true, true},         {{"t", NULL, NULL, one, 1}, false, false},
                 {{"t", NULL, NULL, other_name, 2}, false, false},  {{"t", NULL, NULL, other_last, 2}, false, false},
                 {{"t", NULL, NULL, other_type, 2}, false, false},  {{"t", NULL, NULL, other_rule, 2}, true, false},
                 {{"t", NULL, NULL, other_refers, 2}, true, false}, {{"t", NULL, NULL, more, 3}, false, false}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct document d = {.strings = strtab_create()};
        struct table *t = NULL, *again = NULL;
        struct err err = {0};
        CHECK_INT(table_list_declare(&d.tables, &cases[0].decl, d.strings, &t, &err), 0);
        CHECK_INT(table_is(t, &cases[i].decl), cases[i].is);
        CHECK_INT(table_list_declare(&d.tables, &cases[i].decl, d.strings, &again, &err), cases[i].may ? 0 : -1);
        CHECK_INT(d.tables.count, cases[i].may && !cases[i].is ? 2 : 1);
        release(&d);
    }
}

/* The maximum number of tables, and one more; after one is dropped, the others keep their order. */
static void test_tables(void)
{
    static const struct table_column columns[] = {{.name = "n", .merge = TABLE_SUM}};
    struct document d = {.strings = strtab_create()};
    struct err err = {0};
    char name[16];
    struct table *t;
    int refused = 0;
    for (int i = 0; i <= LIMIT_TABLES; i++) {
        struct table_decl decl = {name, NULL, NULL, columns, 1};
        snprintf(name, sizeof name, "t%d", i);
        refused += table_list_declare(&d.tables, &decl, d.strings, &t, &err) < 0;
    }
    CHECK_INT(refused, 1);
    CHECK_INT(err.kind, ERR_LIMIT);
    CHECK_INT(d.tables.count, LIMIT_TABLES);
    table_list_drop(&d.tables, 1);
    CHECK_INT(d.tables.count, LIMIT_TABLES - 1);
    CHECK_STR(table_declared(d.tables.items[0])->name, "t0");
    CHECK_STR(table_declared(d.tables.items[1])->name, "t2");
    snprintf(name, sizeof name, "t%d", LIMIT_TABLES - 1);
    CHECK_STR(table_declared(d.tables.items[LIMIT_TABLES - 2])->name, name);
    CHECK(table_list_find(&d.tables, "t1") == NULL && table_list_find(&d.tables, "t2") == d.tables.items[1]);
    release(&d);
}

static void test_sort(void)
{
    struct document d = document();
    uint32_t b = add_array(&d, "b", 2), a = add_array(&d, "a", 1);
    add_pair(&d, 3, b, 1, 0.5, 1);
    add_pair(&d, 3, a, 1, -2, 1);
    add_pair(&d, 1, a, 1, 7, 1);
    table_list_sort(&d.tables);
    check_drawn(&d, "arrays", "a 1\nb 2\n", "texts in the order of their letters");
    check_drawn(&d, "pairs", "1 0 1 7 7 1\n3 1 1 0.5 0.5 1\n3 0 1 -2 -2 1\n",
                "rows by their cells as they were, references follow");
    CHECK_NAMED(add_array(&d, "b", 10) == 1, "after sorting keys are still found");
    check_drawn(&d, "arrays", "a 1\nb 12\n", "and unite");
    release(&d);
}

static void test_refused(void)
{
    static const struct table_column text_sum[] = {{.name = "t", .type = TABLE_TEXT, .merge = TABLE_SUM}};
    static const struct table_column nowhere[] = {{.name = "r", .type = TABLE_REF, .merge = TABLE_KEY}};
    static const struct table_column twice[] = {{.name = "x", .type = TABLE_COUNT, .merge = TABLE_SUM},
                                                {.name = "x", .type = TABLE_COUNT, .merge = TABLE_SUM}};
    static const struct table_column nameless[] = {{.type = TABLE_COUNT}}, empty[] = {{.name = ""}};
    static const struct table_column text_min[] = {{.name = "t", .type = TABLE_TEXT, .merge = TABLE_MIN}};
    static const struct table_column ref_max[] = {
        {.name = "r", .type = TABLE_REF, .merge = TABLE_MAX, .refers = "context"}};
    static const struct table_column of_nothing[] = {{.name = "r", .type = TABLE_REF, .refers = ""}};
    static const struct table_column last_wrong[] = {{.name = "a"}, {.name = "b"}, {.name = "a"}};
    static const struct table_column strange_rule[] = {{.name = "x", .type = TABLE_COUNT, .merge = TABLE_MERGES}};
    static const struct table_column strange[] = {{.name = "x", .type = TABLE_TYPES, .merge = TABLE_KEY}};
    static const struct {
        struct table_decl decl;
        const char *want;
    } cases[] = {
        {{"", NULL, NULL, text_sum, 1}, "a table without a name"},
        {{"t", NULL, NULL, text_sum, 0}, "the table 't' has 0 columns; a table has 1 to 64"},
        {{"t", NULL, NULL, text_sum, 65}, "the table 't' has 65 columns; a table has 1 to 64"},
        {{"t", NULL, NULL, text_sum, 1}, "column 't' of the table 't' contains texts, which cannot be summed"},
        {{"t", NULL, NULL, nowhere, 1}, "column 'r' of the table 't' refers to nothing"},
        {{"t", NULL, NULL, twice, 2}, "the table 't' has two columns named 'x'"},
        {{"t", NULL, NULL, strange, 1}, "column 'x' of the table 't' has an unknown type"},
        {{NULL, NULL, NULL, text_sum, 1}, "a table without a name"},
        {{"t", NULL, NULL, last_wrong, 3}, "the table 't' has two columns named 'a'"},
        {{"t", NULL, NULL, nameless, 1}, "the table 't' has a column without a name"},
        {{"t", NULL, NULL, empty, 1}, "the table 't' has a column without a name"},
        {{"t", NULL, NULL, text_min, 1}, "column 't' of the table 't' contains texts, which cannot be summed"},
        {{"t", NULL, NULL, ref_max, 1}, "column 'r' of the table 't' contains references, which cannot be summed"},
        {{"t", NULL, NULL, of_nothing, 1}, "column 'r' of the table 't' refers to nothing"},
        {{"t", NULL, NULL, strange_rule, 1}, "column 'x' of the table 't' has an unknown type"},
        {{"arrays", NULL, NULL, twice, 1}, "two tables named 'arrays' have different columns"},
    };
    struct document d = document();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {0};
        struct table *t;
        CHECK_INT(table_list_declare(&d.tables, &cases[i].decl, d.strings, &t, &err), -1);
        CHECK_STR(err.msg, cases[i].want);
    }
    CHECK_INT(d.tables.count, 2);
    release(&d);
}

/* Omitted parts of a declaration are rejected with a message; references require columns that hold them. */
static void test_said(void)
{
    static const struct table_column columns[] = {{.name = "a", .type = TABLE_COUNT, .refers = "context"},
                                                  {.name = "b", .title = "B", .unit = "s", .description = "bs"}};
    static const struct table_decl decl = {"t", NULL, NULL, columns, 2}, full = {"u", "U", "us", columns, 2};
    struct document d = {.strings = strtab_create()};
    struct table *t, *u;
    CHECK_INT(table_list_declare(&d.tables, &decl, d.strings, &t, NULL), 0);
    CHECK_INT(table_list_declare(&d.tables, &full, d.strings, &u, NULL), 0);
    const struct table_decl *is = table_declared(t);
    CHECK(strcmp(is->name, "t") == 0 && strcmp(is->title, "t") == 0 && strcmp(is->description, "") == 0);
    const struct table_column *c = is->columns;
    CHECK(strcmp(c[0].title, "a") == 0 && !*c[0].unit && !*c[0].description && !*c[0].refers);
    CHECK(strcmp(c[1].title, "B") == 0 && strcmp(c[1].unit, "s") == 0 && strcmp(c[1].description, "bs") == 0);
    CHECK(strcmp(table_declared(u)->title, "U") == 0 && strcmp(table_declared(u)->description, "us") == 0);
    CHECK_INT(table_column_of(t, "a"), 0);
    CHECK_INT(table_column_of(t, "b"), 1);
    release(&d);
}

/* The maximum number of columns, each a key in turn: every one is compared, and no memory after a row is read. */
static void test_columns(void)
{
    static struct guarded_room rooms[2];
    struct table_column columns[LIMIT_TABLE_COLUMNS];
    char names[LIMIT_TABLE_COLUMNS][16];
    union table_cell row[LIMIT_TABLE_COLUMNS] = {{.count = 0}};
    struct document from = {.strings = strtab_create()}, to = {.strings = strtab_create()};
    struct table *t;
    for (int i = 0; i < LIMIT_TABLE_COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        columns[i] = (struct table_column){.name = names[i], .type = TABLE_COUNT, .merge = TABLE_KEY};
    }
    const struct table_decl decl = {"wide", NULL, NULL, guarded_copy(&rooms[0], columns, sizeof columns),
                                    LIMIT_TABLE_COLUMNS};
    CHECK_INT(table_list_declare(&from.tables, &decl, from.strings, &t, NULL), 0);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i <= LIMIT_TABLE_COLUMNS; i++) {
            if (i)
                row[i - 1].count = 7;
            CHECK_INT(table_add(t, guarded_copy(&rooms[1], row, sizeof row)), i);
            if (i)
                row[i - 1].count = 0;
        }
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, NULL, 0, NULL), 0);
    table_list_sort(&to.tables);
    const struct table *sorted = table_list_find(&to.tables, "wide");
    unsigned wrong = table_row_count(sorted) != LIMIT_TABLE_COLUMNS + 1;
    for (int i = 0; i < LIMIT_TABLE_COLUMNS && !wrong;
         i++) /* the last column's row is the second, the first's the last */
        wrong += table_row(sorted, (size_t)(LIMIT_TABLE_COLUMNS - i))[i].count != 7;
    CHECK_INT(wrong, 0);
    release(&from);
    release(&to);
}

/* Keys with the same hash (the second cancels the first, see hash_bytes) are separate rows, found and merged again,
   also after sorting. */
static void test_one_hash(void)
{
    enum { KEYS = 5 };
    static const struct table_column columns[] = {
        {.name = "x", .merge = TABLE_KEY}, {.name = "n", .merge = TABLE_SUM}, {.name = "y", .merge = TABLE_KEY}};
    static const struct table_decl decl = {"t", NULL, NULL, columns, 3};
    const uint64_t step = 0x9e3779b97f4a7c15u, seed_of_two = 16 * step;
    struct document d = {.strings = strtab_create()};
    struct table *t;
    table_list_declare(&d.tables, &decl, d.strings, &t, NULL);
    for (uint64_t round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t x = round < 2 ? KEYS - 1 - i : i, y = (hash_mix(seed_of_two ^ x) + step) ^ 7;
            CHECK_INT(table_add(t, (union table_cell[]){{.count = x}, {.count = x + 1}, {.count = y}}), i);
        }
        if (round == 1)
            table_list_sort(&d.tables);
    }
    CHECK_INT(table_row_count(t), KEYS);
    for (uint64_t i = 0; i < KEYS; i++)
        CHECK_INT(table_row(t, i)[1].count, 4 * (i + 1));
    for (int round = 0; round < 2; round++) /* more with the same hash, after the sorted ones */
        for (uint64_t x = KEYS; x < 2 * KEYS; x++) {
            uint64_t y = (hash_mix(seed_of_two ^ x) + step) ^ 7;
            CHECK_INT(table_add(t, (union table_cell[]){{.count = x}, {.count = 1}, {.count = y}}), x);
        }
    release(&d);
}

/* Columns, rows and lists are read only up to their ends: the bytes after the columns would request every type and
   rule, and no memory follows a row or a list. Of equal zeros the first is the least. */
static void test_ends(void)
{
    static struct guarded_room rooms[2];
    char name[400];
    memset(name, TABLE_REF, sizeof name);
    name[sizeof name - 1] = '\0';
    _Static_assert((int)TABLE_REF == (int)TABLE_LAST, "of both the same number");
    const struct table_column columns[] = {{.name = name, .type = TABLE_COUNT, .merge = TABLE_KEY},
                                           {.name = "least", .type = TABLE_NUMBER, .merge = TABLE_MIN},
                                           {.name = "most", .type = TABLE_NUMBER, .merge = TABLE_MAX}};
    struct document from = {.strings = strtab_create()}, to = {.strings = strtab_create()};
    struct table *t[3];
    for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
        const struct table_decl decl = {(const char *[]){"a", "b", "c"}[i], NULL, NULL, columns, 3};
        CHECK_INT(table_list_declare(&from.tables, &decl, from.strings, &t[i], NULL), 0);
        for (size_t k = 0; k < 4; k++) {
            const union table_cell row[] = {
                {.count = k / 2}, {.number = k % 2 ? -0.0 : 0.0}, {.number = k % 2 ? 0.0 : -0.0}};
            CHECK_INT(table_add(t[i], guarded_copy(&rooms[0], row, sizeof row)), k / 2);
        }
    }
    const struct table_list list = {
        .items = guarded_copy(&rooms[1], from.tables.items, ARRAY_SIZE(t) * sizeof *from.tables.items),
        .count = ARRAY_SIZE(t)};
    CHECK_INT(table_list_merge(&to.tables, to.strings, &list, NULL, 0, NULL), 0);
    CHECK_INT(to.tables.count, 3);
    const struct table_column time = {.name = name, .type = TABLE_TIME, .merge = TABLE_LAST};
    static const struct table_column who_columns[] = {
        {.name = "n", .merge = TABLE_LAST}, {.name = "of", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "m"}};
    const struct table_decl marks = {"m", NULL, NULL, &time, 1}, who = {"w", NULL, NULL, who_columns, 2};
    struct table *m, *w;
    CHECK_INT(table_list_declare(&to.tables, &marks, to.strings, &m, NULL), 0);
    CHECK_INT(table_list_declare(&to.tables, &who, to.strings, &w, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        table_add(m, (union table_cell[]){{.count = i < 2 ? 9 : 1}});
        table_add(w, (union table_cell[]){{.count = i}, {.row = 2 - i}});
    }
    table_list_sort(&to.tables);
    CHECK_INT(table_row(m, 0)[0].count, 1);
    check_drawn(&to, "w", "0 0\n1 2\n2 1\n", "of equal rows the first stays before the other");
    const union table_cell *cells = table_row(table_list_find(&to.tables, "c"), 1);
    CHECK(cells[0].count == 1 && !signbit(cells[1].number));
    release(&from);
    release(&to);
}

/* A mapping given for a name takes precedence over a table of that name; references to rows missing from it are
   dropped. */
static void test_mapping_first(void)
{
    static const uint32_t places[] = {8, 9}, rows[] = {5};
    struct guarded_room rooms[3] = {{0}};
    const struct table_mapping given[] = {{"context", "context", guarded_copy(&rooms[0], places, sizeof places), 2},
                                          {"arrays", "objects", guarded_copy(&rooms[1], rows, sizeof rows), 1}};
    struct document from = document(), to = {.strings = strtab_create()};
    uint32_t a = add_array(&from, "a", 1), b = add_array(&from, "b", 2);
    for (uint32_t i = 0; i < 3; i++)
        add_pair(&from, i, i < 1 ? a : b, i, i, i);
    CHECK_INT(
        table_list_merge(&to.tables, to.strings, &from.tables, guarded_copy(&rooms[2], given, sizeof given), 2, NULL),
        0);
    check_drawn(&to, "pairs", "8 5 0 0 0 0\n9 - 1 1 1 1\n- - 2 2 2 2\n", "as it is given");
    CHECK_STR(table_declared(table_list_find(&to.tables, "pairs"))->columns[1].refers, "objects");
    check_drawn(&to, "arrays", "a 1\nb 2\n", "the table itself is there");
    release(&from);
    release(&to);
}

/* Tables that refer to each other, one that refers to these, and one without references. */
static void test_circle(void)
{
    static const char *const names[] = {"last", "x", "y", "alone"}, *const refers[] = {"y", "y", "x", "context"};
    struct document from = {.strings = strtab_create()}, to = {.strings = strtab_create()};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct table_column columns[] = {{.name = "n", .merge = TABLE_KEY},
                                               {.name = "of", .type = TABLE_REF, .refers = refers[i]}};
        const struct table_decl decl = {names[i], NULL, NULL, columns, 2};
        struct table *t;
        CHECK_INT(table_list_declare(&from.tables, &decl, from.strings, &t, NULL), 0);
        for (uint32_t k = 0; k < 2; k++)
            table_add(t, (union table_cell[]){{.count = k}, {.row = 1 - k}});
    }
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, NULL, 0, NULL), 0);
    CHECK_INT(to.tables.count, 4);
    check_drawn(&to, "alone", "0 1\n1 0\n", "of no table: as it is");
    check_drawn(&to, "last", "0 -\n1 -\n", "the first goes ahead, of what is not there yet");
    check_drawn(&to, "x", "0 -\n1 -\n", "and so does the next");
    check_drawn(&to, "y", "0 1\n1 0\n", "what comes then has all it refers to");
    release(&from);
    release(&to);
}

/* If one of the tables cannot be merged, none after it is. */
static void test_merge_refused(void)
{
    static const struct table_column other[] = {{.name = "name", .type = TABLE_COUNT}};
    static const struct table_decl decl = {"arrays", NULL, NULL, other, 1};
    struct document from = document(), to = {.strings = strtab_create()};
    struct table *t;
    struct err err = {0};
    table_list_declare(&to.tables, &decl, to.strings, &t, NULL);
    add_pair(&from, 1, add_array(&from, "a", 1), 1, 1, 1);
    CHECK_INT(table_list_merge(&to.tables, to.strings, &from.tables, NULL, 0, &err), -1);
    CHECK_STR(err.msg, "two tables named 'arrays' have different columns");
    CHECK_NAMED(to.tables.count == 1 && table_row_count(t) == 0, "nothing was added");
    release(&from);
    release(&to);
}

/* Without keys, equal rows keep their order, and references follow; a cell may be set again. */
static void test_sort_plain(void)
{
    static const struct table_column columns[] = {{.name = "t", .type = TABLE_TIME, .merge = TABLE_LAST},
                                                  {.name = "of", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "m"},
                                                  {.name = "n", .type = TABLE_NUMBER, .merge = TABLE_LAST}};
    static const struct table_decl decl = {"m", NULL, NULL, columns, 3};
    struct document d = {.strings = strtab_create()};
    struct table *t;
    table_list_declare(&d.tables, &decl, d.strings, &t, NULL);
    for (uint32_t i = 0; i < 5; i++)
        table_add(t, (union table_cell[]){{.count = 9 - i / 2}, {.row = 4}, {.number = 1}});
    table_add(t, (union table_cell[]){{.count = 1}, {.row = 6}, {.number = NAN}});
    table_set(t, 2, 2, (union table_cell){.number = 5});
    check_drawn(&d, "m", "9 4 1\n9 4 1\n8 4 5\n8 4 1\n7 4 1\n1 6 -\n", "as they were added, one set anew");
    table_list_sort(&d.tables);
    check_drawn(&d, "m", "1 - -\n7 1 1\n8 1 1\n8 1 5\n9 1 1\n9 1 1\n", "by time, reference, number");
    CHECK_INT(table_add(t, (union table_cell[]){{.count = 1}, {.row = TABLE_NONE}, {.number = 0}}), 6);
    release(&d);
}

int main(void)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a); /* memory is filled, so that it is never zero by accident */
#endif
    RUN(test_unite);
    RUN(test_many);
    RUN(test_keyless);
    RUN(test_merge);
    RUN(test_mapping_renames);
    RUN(test_own_rows);
    RUN(test_later_rows);
    RUN(test_number_keys);
    RUN(test_rules);
    RUN(test_is);
    RUN(test_tables);
    RUN(test_sort);
    RUN(test_refused);
    RUN(test_said);
    RUN(test_columns);
    RUN(test_one_hash);
    RUN(test_ends);
    RUN(test_mapping_first);
    RUN(test_circle);
    RUN(test_merge_refused);
    RUN(test_sort_plain);
    return tap_done();
}
