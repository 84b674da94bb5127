/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings and the search as tables: databases, pages, print and exports show them like all others. */
#include "diagnose/evaluate/evaluate.h"
#include "diagnose/report/report.h"

#include <math.h>

static const struct table_column finding_columns[] = {
    {.name = "place", .title = "where", .type = TABLE_REF, .refers = "place", .merge = TABLE_LAST},
    {.name = "property", .title = "what", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "severity",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Percent of the run that is likely gained."},
    {.name = "confidence",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "From 0 to 1; 1 means proven by measurement."},
    {.name = "error",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Standard error of the severity, from the number of samples."},
    {.name = "evidence", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "explanation", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "remedy", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "path", .title = "called by", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "copies",
     .type = TABLE_COUNT,
     .merge = TABLE_LAST,
     .description = "Number of copies of the same scope in the source."},
    {.name = "name", .title = "property", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "gain_low",
     .title = "gain at least",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Percent of the run: the lower end of what removing the cause gains."},
    {.name = "gain_high",
     .title = "gain at most",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Percent of the run: the upper end."},
    /* only of several runs */
    {.name = "run", .type = TABLE_REF, .refers = "run", .merge = TABLE_LAST},
};

static const struct table_column search_columns[] = {
    {.name = "hypothesis", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "place", .title = "focus", .type = TABLE_REF, .refers = "place", .merge = TABLE_LAST},
    {.name = "state", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "value", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST, .description = "The severity there."},
    {.name = "threshold", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "experiment", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "parent", .title = "from", .type = TABLE_REF, .refers = "search", .merge = TABLE_LAST},
    {.name = "note", .type = TABLE_TEXT, .merge = TABLE_LAST},
};
static const struct table_decl search_decl = {"search", "Search for findings",
                                              "The checks of the search, with their places and results.",
                                              search_columns, ARRAY_SIZE(search_columns)};

static void add_finding(struct table *t, struct strtab *s, const struct finding *f)
{
    bool path = f->node != NODE_NONE;
    table_add(t, (union table_cell[]){{.row = f->place},
                                      {.text = strtab_add(s, f->title)},
                                      {.number = f->severity},
                                      {.number = f->confidence},
                                      {.number = f->error},
                                      {.text = strtab_add(s, f->evidence)},
                                      {.text = strtab_add(s, f->explanation)},
                                      {.text = strtab_add(s, f->remedy)},
                                      {.text = strtab_add(s, path ? f->where : "")},
                                      {.count = f->copies},
                                      {.text = strtab_add(s, f->property)},
                                      {.number = f->gain_low},
                                      {.number = f->gain_high},
                                      {.row = f->run}});
}

static void add_step(struct table *t, struct strtab *s, const struct search_step *step)
{
    table_add(t, (union table_cell[]){{.text = strtab_add(s, step->property)},
                                      {.row = step->place},
                                      {.text = strtab_add(s, diagnose_state_word(step->state))},
                                      {.number = step->value},
                                      {.number = step->threshold},
                                      {.count = step->experiment},
                                      {.row = step->parent},
                                      {.text = strtab_add(s, step->note)}});
}

/* A database that is read back has them already: the new ones replace them. */
static int fresh(struct experiment *e, const struct table_decl *decl, struct table **t, struct err *err)
{
    for (size_t i = 0; i < e->tables.count; i++)
        if (strcmp(table_declared(e->tables.items[i])->name, decl->name) == 0) {
            table_free(e->tables.items[i]);
            e->tables.count--;
            memmove(&e->tables.items[i], &e->tables.items[i + 1], (e->tables.count - i) * sizeof *e->tables.items);
        }
    return table_list_declare(&e->tables, decl, e->strings, t, err);
}

int diagnosis_add_tables(struct experiment *e, const struct diagnosis *d, struct err *err)
{
    struct table *findings, *steps;
    const struct table_decl findings_decl = {"findings", "Findings", "Performance problems, worst first.",
                                             finding_columns, ARRAY_SIZE(finding_columns) - (e->run_count < 2)};
    if (fresh(e, &findings_decl, &findings, err) < 0 || fresh(e, &search_decl, &steps, err) < 0)
        return -1;
    for (size_t i = 0; i < d->findings.count; i++)
        add_finding(findings, e->strings, &d->findings.items[i]);
    for (size_t i = 0; i < d->search.count; i++)
        add_step(steps, e->strings, &d->search.items[i]);
    return 0;
}

/* ---- and back ----------------------------------------------------------------------------------- */

/* A cell by its column's name; 0: the table, or the row, has none. */
static bool cell_named(const struct table *t, uint32_t row, const char *name, enum table_type type,
                       union table_cell *cell)
{
    size_t column = table_column_of(t, name);
    if (column == SIZE_MAX || table_declared(t)->columns[column].type != type)
        return false;
    *cell = table_row(t, row)[column];
    return !table_cell_missing(&table_declared(t)->columns[column], *cell);
}

static const char *text_of(const struct experiment *e, struct arena *arena, const struct table *t, uint32_t row,
                           const char *name)
{
    union table_cell cell;
    return cell_named(t, row, name, TABLE_TEXT, &cell) ? arena_strdup(arena, strtab_get(e->strings, cell.text)) : "";
}

static double number_of(const struct table *t, uint32_t row, const char *name)
{
    union table_cell cell;
    return cell_named(t, row, name, TABLE_NUMBER, &cell) ? cell.number : (double)NAN;
}

static uint32_t ref_of(const struct table *t, uint32_t row, const char *name)
{
    union table_cell cell;
    return cell_named(t, row, name, TABLE_REF, &cell) ? cell.row : TABLE_NONE;
}

static uint64_t count_of(const struct table *t, uint32_t row, const char *name)
{
    union table_cell cell;
    return cell_named(t, row, name, TABLE_COUNT, &cell) ? cell.count : 0;
}

static place_ix place_of(const struct experiment *e, const struct table *t, uint32_t row)
{
    uint32_t place = ref_of(t, row, "place");
    return place < e->place_count ? place : PLACE_NONE;
}

static void read_finding(const struct experiment *e, struct diagnosis *d, const struct table *t, uint32_t row)
{
    struct arena *a = d->arena;
    const char *path = text_of(e, a, t, row, "path");
    uint32_t run = ref_of(t, row, "run");
    *vec_push(&d->findings) = (struct finding){
        .property = text_of(e, a, t, row, "name"),
        .title = text_of(e, a, t, row, "property"),
        .run = run < e->run_count ? run : RUN_NONE,
        .place = place_of(e, t, row),
        .tree = TREE_SCOPES,
        .node = NODE_NONE,
        .severity = number_of(t, row, "severity"),
        .gain_low = number_of(t, row, "gain_low"),
        .gain_high = number_of(t, row, "gain_high"),
        .error = number_of(t, row, "error"),
        .confidence = number_of(t, row, "confidence"),
        .copies = (size_t)count_of(t, row, "copies"),
        .where = *path ? path : diagnose_place_label(a, e, place_of(e, t, row)),
        .evidence = text_of(e, a, t, row, "evidence"),
        .explanation = text_of(e, a, t, row, "explanation"),
        .remedy = text_of(e, a, t, row, "remedy"),
    };
}

static enum diagnose_state state_named(const char *word)
{
    enum diagnose_state state = SEARCH_TRUE;
    while (state < SEARCH_NOT_REACHED && strcmp(diagnose_state_word(state), word) != 0)
        state++;
    return state;
}

static void read_step(const struct experiment *e, struct diagnosis *d, const struct table *t, uint32_t row)
{
    uint32_t experiment = (uint32_t)count_of(t, row, "experiment"), parent = ref_of(t, row, "parent");
    *vec_push(&d->search) = (struct search_step){
        .property = text_of(e, d->arena, t, row, "hypothesis"),
        .place = place_of(e, t, row),
        .where = diagnose_place_label(d->arena, e, place_of(e, t, row)),
        .state = state_named(text_of(e, d->arena, t, row, "state")),
        .value = number_of(t, row, "value"),
        .threshold = number_of(t, row, "threshold"),
        .experiment = experiment,
        .parent = parent < table_row_count(t) ? parent : STEP_NONE,
        .note = text_of(e, d->arena, t, row, "note"),
    };
    d->experiments = experiment > d->experiments ? experiment : d->experiments;
    if (!isnan(number_of(t, row, "threshold")))
        d->threshold = number_of(t, row, "threshold");
}

static void drop_below(struct diagnosis *d, double threshold)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        if (d->findings.items[i].severity >= threshold)
            d->findings.items[kept++] = d->findings.items[i];
    d->findings.count = kept;
    d->threshold = threshold;
}

int diagnosis_stored(const struct experiment *e, double threshold, struct diagnosis **result)
{
    const struct table *findings = table_list_find(&e->tables, "findings"),
                       *steps = table_list_find(&e->tables, search_decl.name);
    if (!findings || !steps)
        return 0;
    struct diagnosis *d = mem_calloc(1, sizeof *d);
    d->arena = arena_create();
    for (uint32_t i = 0; i < table_row_count(findings); i++)
        read_finding(e, d, findings, i);
    for (uint32_t i = 0; i < table_row_count(steps); i++)
        read_step(e, d, steps, i);
    if (threshold < d->threshold) {
        diagnosis_free(d);
        return 0;
    }
    if (threshold > d->threshold)
        drop_below(d, threshold);
    *result = d;
    return 1;
}
