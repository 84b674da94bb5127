/* Findings and the search as tables beside the places: databases, pages, print and exports show them as they do all. */
#include "diagnose/diagnose_int.h"

#include <math.h>

static const struct table_column finding_columns[] = {
    {.name = "place", .title = "where", .type = TABLE_REF, .refers = "place", .merge = TABLE_LAST},
    {.name = "property", .title = "what", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "severity",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Percent of the run that is lost."},
    {.name = "confidence",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "From 0 to 1; 1 is proven by measurement."},
    {.name = "error",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "Of the severity: one standard error, as samples are counts."},
    {.name = "evidence", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "explanation", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "remedy", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "path", .title = "called by", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "copies",
     .type = TABLE_COUNT,
     .merge = TABLE_LAST,
     .description = "Places of the same thing in the source."},
    {.name = "name", .title = "property", .type = TABLE_TEXT, .merge = TABLE_LAST},
};
static const struct table_decl findings_decl = {"findings", "Findings", "What is wrong, and where; the worst first.",
                                                finding_columns, ARRAY_SIZE(finding_columns)};

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
                                              "What was looked for, where, and what came of it.", search_columns,
                                              ARRAY_SIZE(search_columns)};

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
                                      {.text = strtab_add(s, f->property)}});
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

/* A database that is read back has them already: what is found now takes their place. */
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
    if (fresh(e, &findings_decl, &findings, err) < 0 || fresh(e, &search_decl, &steps, err) < 0)
        return -1;
    for (size_t i = 0; i < d->findings.count; i++)
        add_finding(findings, e->strings, &d->findings.items[i]);
    for (size_t i = 0; i < d->search.count; i++)
        add_step(steps, e->strings, &d->search.items[i]);
    return 0;
}
