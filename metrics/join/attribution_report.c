/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaps in the result, and the share of the cost that they affect: sentences for the driver and the page. */
#include "metrics/join/join.h"

#include <math.h>
#include <stdlib.h>

struct shares { /* the cost of one module that is shown less exactly than by line, in the column with most of it */
    double no_line, no_symbol, no_module;
    size_t column;
    double part; /* the most of the three as a part of the column's total */
};

#define WORTH_NAMING 0.001 /* as a part of the total; less does not matter */

static const char *percent_text(char *text, size_t size, double part, double whole)
{
    snprintf(text, size, "%.1f%%", whole > 0 ? 100 * part / whole : 0);
    return text;
}

/* The sum of all cells of a column: of a mean over repetitions, all of them. */
static double total_of_cells(const struct experiment *e, size_t column)
{
    uint32_t repetitions = e->metrics[column].repetitions;
    return experiment_value(e, column, 0, VALUE_INCLUSIVE) * (repetitions > 1 ? repetitions : 1);
}

static void warn_module(const struct experiment *e, const struct module *m, const struct shares *s,
                        struct warnings *warnings)
{
    const char *name = strtab_get(e->strings, m->shown),
               *metric = strtab_get(e->strings, e->metrics[s->column].display_name);
    double total = total_of_cells(e, s->column);
    char share[32];
    if (m->state == STRUCTURE_FAILED)
        warnings_add(warnings, "%s: %s: %s of %s shown by module only", name, m->why,
                     percent_text(share, sizeof share, s->no_module, total), metric);
    if (m->state != STRUCTURE_FOUND)
        return;
    if (m->why)
        warnings_add(warnings, "%s: %s: %s of %s shown by function only, from %s", name, m->why,
                     percent_text(share, sizeof share, s->no_line, total), metric, m->names_from);
    else if (m->stripped && s->no_line >= total * WORTH_NAMING)
        warnings_add(warnings, "no debug information in %s: %s of %s shown by function only", name,
                     percent_text(share, sizeof share, s->no_line, total), metric);
    else if (s->no_line > 0 && s->no_line * 100 >= total)
        warnings_add(warnings, "%s: %s of %s at instructions without a line, shown by function only", name,
                     percent_text(share, sizeof share, s->no_line, total), metric);
    if (s->no_symbol > 0 && s->no_symbol >= total * WORTH_NAMING)
        warnings_add(warnings, "%s: %s of %s outside any known function", name,
                     percent_text(share, sizeof share, s->no_symbol, total), metric);
}

/* Sentences in the order of their shares would move with noise; the order of the modules' names does not. */
static int compare_modules(const void *a, const void *b, void *ctx)
{
    const struct correlation *c = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return strcmp(strtab_get(c->strings, c->modules.items[i].shown), strtab_get(c->strings, c->modules.items[k].shown));
}

static double most_of(const struct shares *s)
{
    double most = s->no_line > s->no_symbol ? s->no_line : s->no_symbol;
    return most > s->no_module ? most : s->no_module;
}

/* The shares in one column; if they are larger than those found so far, they replace them. */
static void share_column(const struct experiment *e, const struct correlation *c, size_t column, struct shares *worst)
{
    const struct cell_list *cells = &c->cells.items[column];
    size_t n = c->modules.count;
    double total = total_of_cells(e, column);
    struct shares *here = mem_calloc(n, sizeof *here);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->items[i];
        struct shares *s = &here[c->sites.items[cell->site].module];
        double value = (double)cell->value;
        switch (c->site_state[cell->site]) {
        case SITE_NO_LINE:
            s->no_line += value;
            break;
        case SITE_NO_SYMBOL:
            s->no_symbol += value;
            break;
        case SITE_NO_MODULE:
            s->no_module += value;
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        here[i].column = column;
        here[i].part = total > 0 ? most_of(&here[i]) / total : 0;
        if (here[i].part > worst[i].part)
            worst[i] = here[i];
    }
    mem_free(here);
}

/* Does the column have cells whose places matter to users? */
static bool is_shown(const struct correlation *c, const struct columns *columns, size_t column)
{
    const struct column *of = &columns->list.items[column];
    return c->cells.items[column].count && of->metric.display && !of->of_thread;
}

void metrics_warn_shares(const struct experiment *e, const struct correlation *c, const struct columns *columns,
                         struct warnings *warnings)
{
    size_t n = c->modules.count;
    struct shares *worst = mem_calloc(n, sizeof *worst);
    uint32_t *order = mem_calloc(n, sizeof *order);
    for (size_t column = 0; column < c->cells.count; column++)
        if (is_shown(c, columns, column))
            share_column(e, c, column, worst);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_modules, (void *)c);
    for (size_t i = 0; i < n; i++) {
        const struct module *m = &c->modules.items[order[i]];
        if (worst[order[i]].part >= WORTH_NAMING)
            warn_module(e, m, &worst[order[i]], warnings);
        else if (worst[order[i]].part == 0 && m->state == STRUCTURE_FAILED && c->calls.count)
            warnings_add(warnings, "%s: %s: call paths through it are shown by module only",
                         strtab_get(e->strings, m->shown), m->why);
    }
    if (c->unlisted)
        warnings_add(warnings,
                     "%zu procedures with the least cost are shown without instructions: a database contains at most "
                     "%u kB of machine code",
                     c->unlisted, LIMIT_LISTED_BYTES >> 10);
    mem_free(order);
    mem_free(worst);
}

enum { WORTH_A_WARNING = 5 }; /* percent; a little of libc has no text on most machines, which does not matter */

/* The cost of lines in files without text, and the file with most of it. */
static double cost_without_text(const struct experiment *e, size_t metric, uint32_t *worst, size_t *files)
{
    double *cost = mem_calloc(e->file_count, sizeof *cost), sum = 0;
    *worst = SOURCE_NONE;
    *files = 0;
    for (place_ix i = 0; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        double value = experiment_value(e, metric, i, VALUE_INCLUSIVE);
        if (p->kind == PLACE_LINE && p->file != SOURCE_NONE && e->files[p->file].found == 0 && !isnan(value))
            cost[p->file] += value;
    }
    for (uint32_t i = 0; i < e->file_count; i++) {
        sum += cost[i];
        *files += cost[i] > 0;
        if (cost[i] > 0 && (*worst == SOURCE_NONE || cost[i] > cost[*worst]))
            *worst = i;
    }
    mem_free(cost);
    return sum;
}

void experiment_warn_sources(const struct experiment *e, struct warnings *warnings)
{
    for (size_t m = 0; m < e->metric_count; m++) {
        uint32_t worst;
        size_t files;
        if (e->metrics[m].formula || !e->metrics[m].display)
            continue;
        double total = experiment_value(e, m, 0, VALUE_INCLUSIVE), cost = cost_without_text(e, m, &worst, &files);
        if (cost * 100 < total * WORTH_A_WARNING || worst == SOURCE_NONE)
            continue;
        char share[32];
        warnings_add(warnings,
                     "%zu source file%s with %s of %s (%s first) not found on this machine; give the folder with -I or "
                     "--replace",
                     files, files == 1 ? "" : "s", percent_text(share, sizeof share, cost, total),
                     strtab_get(e->strings, e->metrics[m].display_name), strtab_get(e->strings, e->files[worst].name));
        return;
    }
}

struct kernel_losses {
    uint64_t lost, taken; /* samples */
};

static struct kernel_losses kernel_losses(const struct input *inputs, size_t n)
{
    struct kernel_losses all = {0};
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; k < p->total_count; k++)
            if (p->totals[k].event < p->event_count && p->events[p->totals[k].event].flags & HPCPROF_LOST)
                all.lost += p->totals[k].value;
        for (size_t k = 0; k < p->count_count; k++)
            all.taken += p->counts[k].samples;
        all.taken += p->count_count ? 0 : inputs[i].samples; /* they were dropped */
    }
    return all;
}

static double percent_lost(const struct kernel_losses *all)
{
    return 100.0 * (double)all->lost / ((double)all->lost + (double)all->taken);
}

static void warn_lost(const struct input *inputs, size_t n, struct warnings *warnings)
{
    struct kernel_losses all = kernel_losses(inputs, n);
    if (all.lost)
        warnings_add(warnings,
                     "%llu samples (%.1f%%) were lost or throttled by the kernel and are missing from all columns",
                     (unsigned long long)all.lost, percent_lost(&all));
}

/* Gaps that the recorder itself noted. */
static void warn_notes(const struct input *inputs, size_t n, struct warnings *warnings)
{
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; k < p->note_count; k++)
            if (strcmp(strtab_get(p->strings, p->notes[k].name), "missing") == 0)
                warnings_add(warnings, "%s: %s",
                             p->notes[k].process < p->process_count
                                 ? strtab_get(p->strings, p->processes[p->notes[k].process].source_file)
                                 : "a measurement",
                             strtab_get(p->strings, p->notes[k].value));
    }
}

void metrics_warn_recording(const struct input *inputs, size_t n, struct warnings *warnings)
{
    warn_lost(inputs, n, warnings);
    warn_notes(inputs, n, warnings);
}

/* ---- the table of all this -------------------------------------------------------------------------- */

static const struct table_column placement_columns[] = {
    {.name = "metric", .type = TABLE_REF, .refers = "metric", .merge = TABLE_KEY},
    {.name = "how", .title = "placed", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "module", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "why", .title = "reason", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "value", .type = TABLE_NUMBER, .merge = TABLE_SUM},
    {.name = "percent", .title = "share", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_SUM},
};
static const struct table_decl placement = {
    "placement", "Attribution quality",
    "Share of each event attributed to lines, functions and modules, with the reason if not to lines",
    placement_columns, ARRAY_SIZE(placement_columns)};

/* The level by which a cost of the site is shown, and why it is not finer. */
static const char *how_placed(const struct correlation *c, uint32_t site, const char **why)
{
    const struct site *s = &c->sites.items[site];
    const struct module *m = &c->modules.items[s->module];
    *why = "";
    if (s->cut) {
        *why = "incomplete call path";
        return "by module";
    }
    switch (c->site_state[site]) {
    case SITE_NO_LINE:
        *why = m->why ? m->why : m->stripped ? "no debug information" : "instructions without a line";
        return "by function";
    case SITE_NO_SYMBOL:
        *why = m->state == STRUCTURE_NONE ? "no file to analyse" : "outside any known function";
        return "by module";
    case SITE_NO_MODULE:
        *why = m->why ? m->why : "its file could not be read";
        return "by module";
    default:
        return "by line";
    }
}

static void add_placements(struct experiment *e, const struct correlation *c, uint32_t column, struct table *t)
{
    const struct cell_list *cells = &c->cells.items[column];
    double total = total_of_cells(e, column), whole = experiment_value(e, column, 0, VALUE_INCLUSIVE);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->items[i];
        const char *why, *how = how_placed(c, cell->site, &why);
        double part = total > 0 ? (double)cell->value / total : 0;
        table_add(t, (union table_cell[]){
                         {.row = column},
                         {.text = strtab_add(e->strings, how)},
                         {.text = *why ? c->modules.items[c->sites.items[cell->site].module].shown : 0},
                         {.text = strtab_add(e->strings, why)},
                         {.number = total == whole ? (double)cell->value : part * whole},
                         {.number = 100 * part},
                     });
    }
}

int attribution_table(struct experiment *e, const struct correlation *c, const struct columns *columns,
                      const struct input *inputs, size_t n, struct err *err)
{
    struct kernel_losses kernel = kernel_losses(inputs, n);
    struct table *t = NULL;
    if (c->sites.count == 0 && kernel.lost == 0)
        return 0;
    if (table_list_declare(&e->tables, &placement, e->strings, &t, err) < 0)
        return -1;
    for (uint32_t column = 0; column < c->cells.count; column++)
        if (is_shown(c, columns, column))
            add_placements(e, c, column, t);
    if (kernel.lost)
        table_add(t, (union table_cell[]){
                         {.row = TABLE_NONE},
                         {.text = strtab_add(e->strings, "nowhere")},
                         {.text = 0},
                         {.text = strtab_add(e->strings, "samples that the kernel lost or throttled")},
                         {.number = (double)kernel.lost},
                         {.number = percent_lost(&kernel)},
                     });
    table_list_sort(&e->tables);
    return 0;
}
