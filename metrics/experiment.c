/*
 * The experiment: measurements, joined with structure, summed up.
 *
 *     read the runs -> columns -> sites and cells -> structure of the sampled functions -> places -> names -> sums ->
 * formulas
 *
 * Sums are made in whole numbers and turned into doubles at the very end, so that a total is exact to the last digit a
 * double has.
 */
#include "metrics/metrics_int.h"

#include "filters/filters.h"

#include <math.h>
#include <stdlib.h>

/* ---- order --------------------------------------------------------------------------------- */

struct sorter {
    const struct correlation *c;
    const uint32_t *file_rank; /* by file: its place in the order of names */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t rank_of(const struct sorter *s, uint32_t file)
{
    return file == SOURCE_NONE ? 0 : (uint64_t)s->file_rank[file] + 1;
}

static int compare_places(const void *a, const void *b, void *ctx)
{
    const struct sorter *s = ctx;
    place_ix i = *(const place_ix *)a, k = *(const place_ix *)b;
    const struct place *x = &s->c->places.items[i], *y = &s->c->places.items[k];
    int order = compare_numbers(x->parent, y->parent);
    if (order == 0)
        order = compare_numbers(x->kind, y->kind);
    if (order == 0 && x->name != y->name)
        order = strcmp(strtab_get(s->c->strings, x->name), strtab_get(s->c->strings, y->name));
    if (order == 0)
        order = compare_numbers(rank_of(s, x->file), rank_of(s, y->file));
    if (order == 0)
        order = compare_numbers(x->line_first, y->line_first);
    if (order == 0)
        order = compare_numbers(x->call_line, y->call_line);
    if (order == 0)
        order = compare_numbers(x->instance, y->instance);
    if (order == 0)
        order = compare_numbers(x->address, y->address);
    return order ? order : compare_numbers(i, k);
}

static int compare_files(const void *a, const void *b, void *ctx)
{
    const struct correlation *c = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = strcmp(strtab_get(c->strings, c->files.items[i].name), strtab_get(c->strings, c->files.items[k].name));
    return order ? order : compare_numbers(i, k);
}

/* Files in the order of their names; rank[old] = new. */
static uint32_t *order_files(struct correlation *c, struct experiment *e)
{
    size_t n = c->files.count;
    uint32_t *order = mem_alloc((n + 1) * sizeof *order), *rank = mem_alloc((n + 1) * sizeof *rank);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_files, c);
    e->files = mem_calloc(n + 1, sizeof *e->files);
    e->file_count = n;
    for (size_t i = 0; i < n; i++) {
        rank[order[i]] = (uint32_t)i;
        e->files[i] = c->files.items[order[i]];
    }
    mem_free(order);
    return rank;
}

static void name_files_as_shown(struct correlation *c)
{
    for (size_t i = 0; i < c->places.count; i++) {
        struct place *p = &c->places.items[i];
        if (p->kind == PLACE_FILE)
            p->name = p->full_name =
                p->file == SOURCE_NONE ? strtab_add(c->strings, "(no source)") : c->files.items[p->file].name;
    }
}

/* Places in pre-order, siblings sorted; new_of[old] = new. No recursion: the stack holds the siblings still to come. */
static place_ix *order_places(struct correlation *c, const uint32_t *file_rank, struct experiment *e)
{
    size_t n = c->places.count;
    struct sorter sorter = {c, file_rank};
    place_ix *by_parent = mem_alloc((n + 1) * sizeof *by_parent), *new_of = mem_alloc((n + 1) * sizeof *new_of);
    size_t *first = mem_calloc(n + 2, sizeof *first); /* by_parent[first[p] .. first[p + 1]) are the children of p */
    struct VEC(place_ix) stack = {0};
    e->places = mem_calloc(n + 1, sizeof *e->places);
    for (size_t i = 1; i < n; i++) {
        by_parent[i - 1] = (place_ix)i;
        first[c->places.items[i].parent + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    qsort_r(by_parent, n - 1, sizeof *by_parent, compare_places, &sorter);
    *vec_push(&stack) = 0;
    while (stack.count) {
        place_ix old = stack.items[--stack.count];
        struct place *p = &e->places[e->place_count];
        new_of[old] = (place_ix)e->place_count++;
        *p = c->places.items[old];
        if (p->parent != PLACE_NONE)
            p->parent = new_of[p->parent];
        p->file = p->file == SOURCE_NONE ? SOURCE_NONE : file_rank[p->file];
        p->call_file = p->call_file == SOURCE_NONE ? SOURCE_NONE : file_rank[p->call_file];
        for (size_t k = first[old + 1]; k-- > first[old];)
            *vec_push(&stack) = by_parent[k];
    }
    vec_release(&stack);
    mem_free(first);
    mem_free(by_parent);
    return new_of;
}

/* ---- sums ------------------------------------------------------------------------------------- */

struct exact { /* one column, in whole numbers */
    uint64_t *inclusive, *exclusive;
    uint8_t *known; /* has it data: 1 inclusive, 2 exclusive */
};

static bool add_to(uint64_t *sum, uint64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum);
}

/* Children come after their parents, so one walk backwards sums everything up. */
static bool sum_up(const struct experiment *e, struct exact *x)
{
    bool fits = true;
    for (size_t i = e->place_count; i-- > 1;) {
        place_ix parent = e->places[i].parent;
        if (!x->known[i])
            continue;
        fits = add_to(&x->inclusive[parent], x->inclusive[i]) && fits;
        x->known[parent] |= 1;
        if (e->places[i].kind != PLACE_LINE)
            continue;
        x->exclusive[i] = x->inclusive[i];
        fits = add_to(&x->exclusive[parent], x->inclusive[i]) && fits;
        x->known[i] |= 2;
        x->known[parent] |= 2;
    }
    return fits;
}

static void store_column(struct experiment *e, size_t column, const struct exact *x)
{
    double *inclusive = e->inclusive + column * e->place_count, *exclusive = e->exclusive + column * e->place_count;
    for (size_t i = 0; i < e->place_count; i++) {
        inclusive[i] = x->known[i] & 1 ? (double)x->inclusive[i] : NAN;
        exclusive[i] = x->known[i] & 2 ? (double)x->exclusive[i] : NAN;
    }
}

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return compare_numbers(x->column, y->column);
}

static int sum_measured(struct experiment *e, struct correlation *c, const struct columns *columns,
                        const place_ix *new_of, struct err *err)
{
    struct exact x = {mem_alloc((e->place_count + 1) * sizeof(uint64_t)),
                      mem_alloc((e->place_count + 1) * sizeof(uint64_t)), mem_alloc(e->place_count + 1)};
    int status = 0;
    size_t at = 0;
    if (c->cells.count) /* qsort wants an array even for nothing */
        qsort(c->cells.items, c->cells.count, sizeof *c->cells.items, compare_cells);
    for (uint32_t column = 0; column < columns->list.count && status == 0; column++) {
        bool fits = true;
        memset(x.inclusive, 0, e->place_count * sizeof *x.inclusive);
        memset(x.exclusive, 0, e->place_count * sizeof *x.exclusive);
        memset(x.known, 0, e->place_count);
        for (; at < c->cells.count && c->cells.items[at].column == column; at++) {
            place_ix place = new_of[c->site_place[c->cells.items[at].site]];
            fits = add_to(&x.inclusive[place], c->cells.items[at].value) && fits;
            x.known[place] |= 1;
        }
        fits = sum_up(e, &x) && fits;
        if (!fits)
            status = err_set(err, ERR_FORMAT,
                             "the counts of '%s' add up to more than 64 bits hold; the measurement is damaged",
                             strtab_get(e->strings, e->metrics[column].name));
        store_column(e, column, &x);
    }
    mem_free(x.inclusive);
    mem_free(x.exclusive);
    mem_free(x.known);
    return status;
}

/* ---- formulas ------------------------------------------------------------------------------------ */

static void evaluate_everywhere(const struct experiment *e, const struct column *c, const double *in, double *out,
                                double *operands)
{
    size_t n = expr_name_count(c->expr);
    for (size_t i = 0; i < e->place_count; i++) {
        bool any = n == 0;
        for (size_t k = 0; k < n; k++) {
            operands[k] = in[c->operands[k] * e->place_count + i];
            any = any || !isnan(operands[k]);
        }
        out[i] = any ? expr_eval(c->expr, operands) : NAN;
    }
}

/* The formula at the lines, then sums of what came out; blanks are skipped. */
static void evaluate_lines(const struct experiment *e, double *inclusive, double *exclusive)
{
    for (size_t i = 0; i < e->place_count; i++) {
        exclusive[i] = e->places[i].kind == PLACE_LINE ? inclusive[i] : NAN;
        if (e->places[i].kind != PLACE_LINE)
            inclusive[i] = NAN;
    }
    for (size_t i = e->place_count; i-- > 1;) {
        place_ix parent = e->places[i].parent;
        if (isnan(inclusive[i]))
            continue;
        inclusive[parent] = isnan(inclusive[parent]) ? inclusive[i] : inclusive[parent] + inclusive[i];
        if (e->places[i].kind == PLACE_LINE)
            exclusive[parent] = isnan(exclusive[parent]) ? inclusive[i] : exclusive[parent] + inclusive[i];
    }
}

static void compute_formulas(struct experiment *e, const struct columns *columns)
{
    for (size_t i = 0; i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        if (!c->expr)
            continue;
        double *operands = mem_alloc((expr_name_count(c->expr) + 1) * sizeof *operands);
        double *inclusive = e->inclusive + i * e->place_count, *exclusive = e->exclusive + i * e->place_count;
        evaluate_everywhere(e, c, e->inclusive, inclusive, operands);
        if (c->by_line)
            evaluate_lines(e, inclusive, exclusive);
        else
            evaluate_everywhere(e, c, e->exclusive, exclusive, operands);
        mem_free(operands);
    }
}

/* ---- what the result lacks ------------------------------------------------------------------------- */

struct shares { /* what of one module is shown less exactly than by line, in the column where that is most */
    double no_line, no_symbol, no_module;
    size_t column;
    double part; /* the most of the three as a part of the column's total */
};

static const char *percent_text(char *text, size_t size, double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : 0;
    if (percent < 0.1)
        snprintf(text, size, "less than 0.1%%");
    else
        snprintf(text, size, "%.1f%%", percent);
    return text;
}

static void warn_module(const struct experiment *e, const struct module *m, const struct shares *s,
                        struct warnings *warnings)
{
    const char *name = strtab_get(e->strings, m->shown), *metric = strtab_get(e->strings, e->metrics[s->column].name);
    double total = e->inclusive[s->column * e->place_count];
    char share[32];
    if (m->state == STRUCTURE_FAILED)
        warnings_add(warnings, "%s: %s: %s of %s shown by module only", name, m->why,
                     percent_text(share, sizeof share, s->no_module, total), metric);
    if (m->state != STRUCTURE_FOUND)
        return;
    if (m->stripped)
        warnings_add(warnings, "%s has no line table: %s of %s shown by function only", name,
                     percent_text(share, sizeof share, s->no_line, total), metric);
    else if (s->no_line > 0 && s->no_line * 100 >= total)
        warnings_add(warnings, "%s: %s of %s fell on instructions without a line, shown by function only", name,
                     percent_text(share, sizeof share, s->no_line, total), metric);
    if (s->no_symbol > 0)
        warnings_add(warnings, "%s: %s of %s fell in no function known of it", name,
                     percent_text(share, sizeof share, s->no_symbol, total), metric);
}

/* Sentences in the order of the shares they tell of would move with noise; the order of the modules' names does not. */
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

/* The shares in one column; where they tell of more than those found so far, they replace them. */
static void share_column(const struct experiment *e, const struct correlation *c, const struct cell *cells,
                         size_t count, struct shares *worst)
{
    size_t n = c->modules.count, column = cells[0].column;
    double total = e->inclusive[column * e->place_count];
    struct shares *here = mem_calloc(n + 1, sizeof *here);
    for (size_t i = 0; i < count; i++) {
        struct shares *s = &here[c->sites.items[cells[i].site].module];
        double value = (double)cells[i].value;
        switch (c->site_state[cells[i].site]) {
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

/* The cells are sorted by column. */
static void warn_shares(const struct experiment *e, const struct correlation *c, const struct columns *columns,
                        struct warnings *warnings)
{
    size_t n = c->modules.count;
    struct shares *worst = mem_calloc(n + 1, sizeof *worst);
    uint32_t *order = mem_calloc(n + 1, sizeof *order);
    for (size_t from = 0, to; from < c->cells.count; from = to) {
        for (to = from; to < c->cells.count && c->cells.items[to].column == c->cells.items[from].column;)
            to++;
        const struct column *column = &columns->list.items[c->cells.items[from].column];
        if (column->metric.display && !column->of_thread)
            share_column(e, c, c->cells.items + from, to - from, worst);
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_modules, (void *)c);
    for (size_t i = 0; i < n; i++)
        if (worst[order[i]].part > 0)
            warn_module(e, &c->modules.items[order[i]], &worst[order[i]], warnings);
    mem_free(order);
    mem_free(worst);
}

enum { WORTH_A_WARNING = 5 }; /* percent; a little of libc has no text on most machines, and nobody misses it */

/* The cost of lines in files without text, and the file with most of it. */
static double cost_without_text(const struct experiment *e, size_t metric, uint32_t *worst, size_t *files)
{
    double *cost = mem_calloc(e->file_count + 1, sizeof *cost), sum = 0;
    *worst = SOURCE_NONE;
    *files = 0;
    for (size_t i = 0; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        double value = e->inclusive[metric * e->place_count + i];
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
        double total = e->inclusive[m * e->place_count], cost = cost_without_text(e, m, &worst, &files);
        if (cost * 100 < total * WORTH_A_WARNING || worst == SOURCE_NONE)
            continue;
        char share[32];
        warnings_add(warnings,
                     "the text of %zu source file%s with %s of %s, %s first, was not found on this machine; -I or "
                     "--replace says where it is",
                     files, files == 1 ? "" : "s", percent_text(share, sizeof share, cost, total),
                     strtab_get(e->strings, e->metrics[m].name), strtab_get(e->strings, e->files[worst].name));
        return;
    }
}

static void warn_lost(const struct input *inputs, size_t n, struct warnings *warnings)
{
    uint64_t lost = 0, taken = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; k < p->total_count; k++)
            if (p->totals[k].event < p->event_count && p->events[p->totals[k].event].flags & HPCPROF_LOST)
                lost += p->totals[k].value;
        for (size_t k = 0; k < p->count_count; k++)
            taken += p->counts[k].samples;
    }
    if (lost)
        warnings_add(warnings, "%llu samples (%.1f%%) were lost or throttled by the kernel and are in no column",
                     (unsigned long long)lost, 100.0 * (double)lost / ((double)lost + (double)taken));
}

/* What the recorder itself could not note. */
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

/* ---- the experiment ---------------------------------------------------------------------------------- */

static void copy_processes(struct experiment *e, const struct input *inputs, size_t n)
{
    struct VEC(struct hpcprof_process) all = {0};
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; k < p->process_count; k++) {
            struct hpcprof_process one = p->processes[k];
            str_id *texts[] = {&one.source_file, &one.host,   &one.command, &one.working_dir,
                               &one.machine,     &one.kernel, &one.sampler};
            for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
                *texts[t] = strtab_add(e->strings, strtab_get(p->strings, *texts[t]));
            *vec_push(&all) = one;
        }
    }
    e->processes = all.items;
    e->process_count = all.count;
}

/* The process that was there first is what was run; its files' names say nothing of that. NULL: none. */
static const struct hpcprof_process *first_process(const struct experiment *e)
{
    const struct hpcprof_process *first = NULL;
    for (size_t i = 0; i < e->process_count; i++)
        if (!first || (e->processes[i].start_ns && e->processes[i].start_ns < first->start_ns))
            first = &e->processes[i];
    return first;
}

/* Without a title: what was run. */
static str_id title_of(const struct experiment *e, const struct config *config, const struct correlation *c)
{
    const struct hpcprof_process *first = first_process(e);
    if (*config->title)
        return strtab_add(e->strings, config->title);
    if (first) {
        const char *command = strtab_get(e->strings, first->command);
        char *program = mem_strndup(command, strcspn(command, " "));
        str_id title = strtab_add(e->strings, path_base(program));
        mem_free(program);
        if (title)
            return title;
    }
    return c->modules.count ? c->modules.items[0].shown : strtab_add(e->strings, "hpcview");
}

struct computed {      /* a formula that outlives the configuration it came from */
    struct expr *expr; /* NULL: measured */
    uint32_t *operands;
    bool by_line;
};

static void keep_formulas(struct experiment *e, const struct columns *columns)
{
    e->computed = mem_calloc(e->metric_count + 1, sizeof *e->computed);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct column *c = &columns->list.items[i];
        struct computed *kept = &e->computed[i];
        if (!c->expr || expr_parse(strtab_get(e->strings, c->given_formula), "", &kept->expr, NULL) < 0)
            continue;
        size_t n = expr_name_count(c->expr);
        kept->by_line = c->by_line;
        kept->operands = mem_alloc((n + 1) * sizeof *kept->operands);
        if (n)
            memcpy(kept->operands, c->operands, n * sizeof *kept->operands);
    }
}

double experiment_compute(const struct experiment *e, size_t metric, const double *values)
{
    const struct computed *c = &e->computed[metric];
    size_t n = c->expr ? expr_name_count(c->expr) : 0;
    double small[16];
    bool any = n == 0;
    if (!c->expr || c->by_line)
        return values[metric];
    double *operands = n > ARRAY_SIZE(small) ? mem_alloc(n * sizeof *operands) : small;
    for (size_t i = 0; i < n; i++) {
        operands[i] = values[c->operands[i]];
        any = any || !isnan(operands[i]);
    }
    double value = any ? expr_eval(c->expr, operands) : NAN;
    if (operands != small)
        mem_free(operands);
    return value;
}

static int take_columns(struct experiment *e, const struct columns *columns, struct err *err)
{
    if (columns->list.count * e->place_count > LIMIT_EXPERIMENT_VALUES)
        return err_set(
            err, ERR_LIMIT,
            "%zu columns at %zu places are more than %u values (LIMIT_EXPERIMENT_VALUES); choose fewer columns",
            columns->list.count, e->place_count, LIMIT_EXPERIMENT_VALUES);
    e->metric_count = columns->list.count;
    e->metrics = mem_calloc(e->metric_count + 1, sizeof *e->metrics);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct column *c = &columns->list.items[i];
        e->metrics[i] = c->metric;
        e->metrics[i].summed = !c->expr || c->by_line;
    }
    keep_formulas(e, columns);
    e->inclusive = mem_calloc(e->metric_count * e->place_count + 1, sizeof *e->inclusive);
    e->exclusive = mem_calloc(e->metric_count * e->place_count + 1, sizeof *e->exclusive);
    return 0;
}

int experiment_from(const struct config *config, const struct input *inputs, size_t input_count,
                    const struct structure_source *source, const struct progress *progress, struct experiment **result,
                    struct warnings *warnings, struct err *err)
{
    struct experiment *e = mem_calloc(1, sizeof *e);
    struct correlation c;
    struct columns columns = {0};
    e->strings = strtab_create();
    correlation_init(&c, e->strings);
    int status = columns_make(config, inputs, input_count, e->strings, &columns, warnings, err);
    if (status == 0)
        status = correlate_gather(&c, config, inputs, input_count, &columns, err);
    if (status == 0) {
        correlate_group_modules(&c);
        sources_name_modules(&c);
        correlate_place(&c, config, source, warnings, progress);
        sources_find(&c, config, inputs, input_count);
        sources_name_files(&c, config);
        name_files_as_shown(&c);
        copy_processes(e, inputs, input_count);
        e->title = title_of(e, config, &c);
        c.places.items[0].name = c.places.items[0].full_name = e->title;
        uint32_t *file_rank = order_files(&c, e);
        place_ix *new_of = order_places(&c, file_rank, e);
        status = take_columns(e, &columns, err);
        if (status == 0)
            status = sum_measured(e, &c, &columns, new_of, err);
        if (status == 0) {
            compute_formulas(e, &columns);
            warn_shares(e, &c, &columns, warnings);
            warn_lost(inputs, input_count, warnings);
            warn_notes(inputs, input_count, warnings);
        }
        mem_free(file_rank);
        mem_free(new_of);
    }
    columns_release(&columns, inputs);
    correlation_release(&c);
    *result = status == 0 ? e : NULL;
    if (status < 0)
        experiment_free(e);
    return status;
}

void experiment_free(struct experiment *e)
{
    if (!e)
        return;
    for (size_t i = 0; e->computed && i < e->metric_count; i++) {
        expr_free(e->computed[i].expr);
        mem_free(e->computed[i].operands);
    }
    mem_free(e->computed);
    strtab_free(e->strings);
    mem_free(e->places);
    mem_free(e->files);
    mem_free(e->metrics);
    mem_free(e->inclusive);
    mem_free(e->exclusive);
    mem_free(e->processes);
    mem_free(e);
}

/* ---- from files ------------------------------------------------------------------------------------------ */

int measurement_read(const struct config_run *run, struct hpcprof **result, struct warnings *warnings, struct err *err)
{
    int status = filters_read(run->path, result, warnings, err);
    if (status < 0 && *run->where)
        err_in(err, "%s: run '%s'", run->where, run->name);
    return status;
}

static int read_inputs(const struct config *config, struct input *inputs, const struct progress *progress,
                       struct warnings *warnings, struct err *err)
{
    for (size_t i = 0; i < config->runs.count; i++) {
        progress_report(progress, "reading measurements", i, config->runs.count);
        inputs[i].run = (uint32_t)i;
        if (measurement_read(&config->runs.items[i], &inputs[i].profile, warnings, err) < 0)
            return -1;
        if (inputs[i].profile->count_count == 0)
            warnings_add(warnings, "%s: holds no samples; did the program run long enough?",
                         config->runs.items[i].path);
    }
    progress_report(progress, "reading measurements", config->runs.count, config->runs.count);
    return 0;
}

int experiment_build(const struct config *config, const struct progress *progress, struct experiment **result,
                     struct warnings *warnings, struct err *err)
{
    size_t n = config->runs.count;
    struct input *inputs = mem_calloc(n + 1, sizeof *inputs);
    struct structures *structures = NULL;
    *result = NULL;
    int status = n ? 0 : err_set(err, ERR_FORMAT, "no measurements are given");
    if (status == 0)
        status = read_inputs(config, inputs, progress, warnings, err);
    if (status == 0)
        status = structures_open(config, progress, &structures, warnings, err);
    if (status == 0) {
        struct structure_source source = structures_source(structures);
        status = experiment_from(config, inputs, n, &source, progress, result, warnings, err);
    }
    structures_free(structures);
    for (size_t i = 0; i < n; i++)
        hpcprof_free(inputs[i].profile);
    mem_free(inputs);
    return status;
}

/* ---- checks ------------------------------------------------------------------------------------------------ */

static int check_place(const struct experiment *e, size_t i, struct err *err)
{
    const struct place *p = &e->places[i];
    if (i == 0 ? p->kind != PLACE_PROGRAM || p->parent != PLACE_NONE : p->kind == PLACE_PROGRAM || p->parent >= i)
        return err_set(err, ERR_FORMAT, "place %zu: its parent does not come before it", i);
    static const uint8_t below[] = {
        [PLACE_PROGRAM] = 1 << PLACE_MODULE,
        [PLACE_MODULE] = 1 << PLACE_FILE,
        [PLACE_FILE] = 1 << PLACE_PROC,
        [PLACE_PROC] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_INLINE] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_LOOP] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_LINE] = 0,
    };
    if (i && !(below[e->places[p->parent].kind] >> p->kind & 1))
        return err_set(err, ERR_FORMAT, "place %zu: a place of kind %d cannot stand in one of kind %d", i, p->kind,
                       e->places[p->parent].kind);
    if ((p->file != SOURCE_NONE && p->file >= e->file_count) ||
        (p->call_file != SOURCE_NONE && p->call_file >= e->file_count))
        return err_set(err, ERR_FORMAT, "place %zu: its file is not in the table", i);
    return 0;
}

static bool equal_sums(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    /* whole numbers below 2^53 add up exactly in any order */
    return a < 9007199254740992.0 ? a == b : fabs(a - b) <= a * 1e-12;
}

static int check_sums(const struct experiment *e, size_t metric, struct err *err)
{
    const double *inclusive = e->inclusive + metric * e->place_count,
                 *exclusive = e->exclusive + metric * e->place_count;
    double *parts = mem_alloc((e->place_count + 1) * sizeof *parts),
           *own = mem_alloc((e->place_count + 1) * sizeof *own);
    int status = 0;
    for (size_t i = 0; i < e->place_count; i++)
        parts[i] = own[i] = e->places[i].kind == PLACE_LINE ? inclusive[i] : NAN;
    for (size_t i = e->place_count; i-- > 0 && status == 0;) {
        if (!equal_sums(inclusive[i], parts[i]) || !equal_sums(exclusive[i], own[i]))
            status = err_set(err, ERR_FORMAT, "place %zu: its '%s' is not the sum of its parts", i,
                             strtab_get(e->strings, e->metrics[metric].name));
        if (i == 0 || isnan(inclusive[i]))
            continue;
        double *up = &parts[e->places[i].parent], *own_up = &own[e->places[i].parent];
        *up = isnan(*up) ? inclusive[i] : *up + inclusive[i];
        if (e->places[i].kind == PLACE_LINE)
            *own_up = isnan(*own_up) ? inclusive[i] : *own_up + inclusive[i];
    }
    mem_free(parts);
    mem_free(own);
    return status;
}

int experiment_check(const struct experiment *e, struct err *err)
{
    if (e->place_count == 0)
        return err_set(err, ERR_FORMAT, "the experiment has no PROGRAM");
    for (size_t i = 0; i < e->place_count; i++)
        if (check_place(e, i, err) < 0)
            return -1;
    for (size_t i = 1; i < e->file_count; i++)
        if (strcmp(strtab_get(e->strings, e->files[i - 1].name), strtab_get(e->strings, e->files[i].name)) >= 0)
            return err_set(err, ERR_FORMAT, "file %zu is not in the order of names", i);
    for (size_t i = 0; i < e->metric_count; i++)
        if (e->metrics[i].formula == 0 && check_sums(e, i, err) < 0)
            return -1;
    return 0;
}
