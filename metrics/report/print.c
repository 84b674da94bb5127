/* An experiment as a table: text for people, CSV and JSON for programs. */
#include "metrics/report/report.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *word;
    enum place_kind kind;
    bool exclusive; /* is a part of its own, beside what lies deeper, worth a column? */
} levels[] = {
    [PRINT_PROGRAM] = {"program", PLACE_PROGRAM, false},
    [PRINT_MODULE] = {"module", PLACE_MODULE, false},
    [PRINT_FILE] = {"file", PLACE_FILE, false},
    [PRINT_PROC] = {"procedure", PLACE_PROC, true},
    [PRINT_LOOP] = {"loop", PLACE_LOOP, true},
    [PRINT_LINE] = {"line", PLACE_LINE, false},
    [PRINT_FUNCTION] = {"function", PLACE_PROC, false},
    [PRINT_PATH] = {"path", PLACE_PROGRAM, true},
    [PRINT_CALLER] = {"caller", PLACE_PROGRAM, false},
    [PRINT_CALLS] = {"calls", PLACE_PROGRAM, true},
    [PRINT_INSTRUCTION] = {"instruction", PLACE_LINE, false},
};

static bool is_tree(const struct view *t)
{
    return t->options->level >= PRINT_PATH;
}

int print_level_parse(const char *word, enum print_level *level, struct err *err)
{
    static const char *const of_tables[] = {"barrier", "phase", "reference", "array", "evictor"}; /* the driver's */
    const char *words[ARRAY_SIZE(levels) + ARRAY_SIZE(of_tables) + 1] = {NULL};
    memcpy(words + ARRAY_SIZE(levels), of_tables, sizeof of_tables);
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
        words[i] = levels[i].word;
        if (strcmp(word, levels[i].word) == 0) {
            *level = (enum print_level)i;
            return 0;
        }
    }
    const char *near = str_nearest(word, words);
    if (near)
        return err_set(err, ERR_USAGE, "unknown level '%s'; did you mean '%s'?", word, near);
    return err_set(err, ERR_USAGE,
                   "unknown level '%s'; available: program, module, file, procedure, loop, line, function, "
                   "instruction, path, caller, calls, barrier, phase, reference, array, evictor",
                   word);
}

/* ---- rows ------------------------------------------------------------------------------- */

double *print_row_values(struct view *t, const struct row *r)
{
    return t->values.items + r->values;
}

static double value_of(const struct view *t, const struct row *r, size_t metric, bool exclusive)
{
    return t->values.items[r->values + metric + (exclusive ? t->e->metric_count : 0)];
}

static void find_surroundings(struct view *t)
{
    const struct experiment *e = t->e;
    t->module_name = mem_calloc(e->place_count, sizeof *t->module_name);
    t->procedure = mem_calloc(e->place_count, sizeof *t->procedure);
    for (place_ix i = 1; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        bool procedure = p->kind == PLACE_PROC || p->kind == PLACE_INLINE;
        t->module_name[i] = p->kind == PLACE_MODULE ? p->name : t->module_name[p->parent];
        t->procedure[i] = procedure ? i : t->procedure[p->parent];
    }
}

static size_t new_values(struct view *t)
{
    size_t at = t->values.count;
    for (size_t i = 0; i < 2 * t->e->metric_count; i++)
        *vec_push(&t->values) = NAN;
    return at;
}

struct row print_row(struct view *t, place_ix i)
{
    const struct experiment *e = t->e;
    const struct place *p = &e->places[i], *procedure = &e->places[t->procedure[i]];
    bool inner = p->kind == PLACE_LOOP || p->kind == PLACE_LINE;
    /* a line that is not known lies in its procedure's file, as far as anybody knows */
    uint32_t file = p->kind == PLACE_LINE && p->line_first == 0 ? procedure->file : p->file;
    struct row r = {.kind = p->kind,
                    .module = t->module_name[i],
                    .file = file == SOURCE_NONE ? 0 : e->files[file].name,
                    .name = inner ? procedure->name : p->name,
                    .line = p->line_first,
                    .line_last = p->line_last,
                    .on_line = p->on_line,
                    .instance = p->instance,
                    .instances = p->instances,
                    .address = p->kind == PLACE_LOOP && p->line_first == 0 ? p->address : 0};
    r.full_name = p->kind == PLACE_PROC ? p->full_name : r.name;
    if (t->options->level == PRINT_FUNCTION) {
        r.name = experiment_same_function_name(e->strings, r.name);
        r.full_name = experiment_same_function_name(e->strings, r.full_name);
    }
    r.values = new_values(t);
    return r;
}

/* What is in a module, file or procedure whose name matches, and that itself. */
static void find_scope(struct view *t)
{
    const struct experiment *e = t->e;
    t->in_scope = mem_calloc(e->place_count, 1);
    for (place_ix i = 1; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        bool named =
            p->kind == PLACE_MODULE || p->kind == PLACE_FILE || p->kind == PLACE_PROC || p->kind == PLACE_INLINE;
        t->in_scope[i] =
            t->in_scope[p->parent] || (named && fnmatch(t->options->scope, strtab_get(e->strings, p->name), 0) == 0);
    }
}

static bool is_wanted(const struct view *t, place_ix place)
{
    return !t->in_scope || t->in_scope[place];
}

static void rows_of_places(struct view *t)
{
    const struct experiment *e = t->e;
    for (place_ix i = 0; i < e->place_count; i++) {
        if (e->places[i].kind != levels[t->options->level].kind || !is_wanted(t, i))
            continue;
        struct row r = print_row(t, i);
        for (size_t m = 0; m < e->metric_count; m++) {
            print_row_values(t, &r)[m] = experiment_value(e, m, i, VALUE_INCLUSIVE);
            print_row_values(t, &r)[e->metric_count + m] = experiment_value(e, m, i, VALUE_EXCLUSIVE);
        }
        *vec_push(&t->rows) = r;
    }
}

static void add_value(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

/* ---- rows of what is one thing in the source ------------------------------------------------ */

/* What the place counts for: a line for itself or for its function, a loop for itself; PLACE_NONE: for nothing. */
static place_ix united_place(const struct view *t, place_ix i)
{
    uint8_t kind = t->e->places[i].kind;
    if (t->options->level == PRINT_LOOP)
        return kind == PLACE_LOOP ? i : PLACE_NONE;
    if (kind != PLACE_LINE)
        return PLACE_NONE;
    return t->options->level == PRINT_FUNCTION ? t->procedure[i] : i;
}

/* Lines: one row per line of the source, whatever loops and calls it was copied into, and without a line one per
   procedure. Functions: one row, whether they were called or inlined. Loops: one row for all copies. */
static str_id united_key(const struct view *t, place_ix i, struct strtab *keys)
{
    const struct experiment *e = t->e;
    const struct place *p = &e->places[i], *procedure = &e->places[t->procedure[i]];
    uint32_t file = p->kind == PLACE_LINE && p->line_first == 0 ? procedure->file : p->file;
    uint32_t key[] = {t->module_name[i], file, p->line_first, p->line_first ? 0 : procedure->name};
    if (p->kind == PLACE_LOOP)
        key[1] = key[2] = key[3] = p->same;
    else if (p->kind != PLACE_LINE) {
        key[2] = experiment_same_function_name(e->strings, p->full_name);
        key[3] = 0;
    }
    return strtab_addn(keys, (const char *)key, sizeof key);
}

/* Is it inside of what is the same in the source (a function inlined into itself)? Its cost is counted there. */
static bool inside_same(const struct experiment *e, place_ix i)
{
    place_ix up = e->places[i].parent;
    while (up != PLACE_NONE && e->places[up].same != e->places[i].same)
        up = e->places[up].parent;
    return up != PLACE_NONE;
}

static void add_to_row(struct view *t, struct row *row, place_ix i)
{
    const struct experiment *e = t->e;
    bool whole = e->places[i].kind != PLACE_LOOP || !inside_same(e, i);
    double *values = print_row_values(t, row);
    row->places++;
    for (size_t m = 0; m < e->metric_count; m++) {
        if (whole)
            add_value(&values[m], experiment_value(e, m, i, VALUE_INCLUSIVE));
        if (e->places[i].kind == PLACE_LOOP)
            add_value(&values[e->metric_count + m], experiment_value(e, m, i, VALUE_EXCLUSIVE));
    }
}

/* What cannot be added up is computed from what can. */
static void compute_united(struct view *t, struct row *row)
{
    size_t n = t->e->metric_count;
    double *values = print_row_values(t, row), *sums = mem_alloc(2 * n * sizeof *sums);
    memcpy(sums, values, 2 * n * sizeof *sums);
    for (size_t m = 0; m < n; m++) {
        values[m] = experiment_compute(t->e, m, sums);
        values[n + m] = experiment_compute(t->e, m, sums + n);
    }
    mem_free(sums);
}

static void united_rows(struct view *t)
{
    const struct experiment *e = t->e;
    struct strtab *keys = strtab_create();
    struct VEC(size_t) row_of_key = {0};
    for (place_ix i = 1; i < e->place_count; i++) { /* below the program */
        place_ix united = united_place(t, i);
        if (united == PLACE_NONE || !is_wanted(t, i))
            continue;
        str_id k = united_key(t, united, keys);
        while (row_of_key.count <= k)
            *vec_push(&row_of_key) = SIZE_MAX;
        if (row_of_key.items[k] == SIZE_MAX) {
            row_of_key.items[k] = t->rows.count;
            *vec_push(&t->rows) = print_row(t, united);
        }
        struct row *row = &t->rows.items[row_of_key.items[k]];
        const struct place *procedure = &e->places[t->procedure[i]];
        if (t->options->level == PRINT_LINE && row->name != procedure->name)
            row->name = row->full_name = 0; /* in several procedures */
        if (row->kind == PLACE_LOOP && e->places[united].instances > 1 && row->instance != e->places[united].instance)
            row->instance = row->instances = 1; /* all copies */
        add_to_row(t, row, i);
    }
    for (size_t i = 0; i < t->rows.count; i++)
        if (t->rows.items[i].places > 1)
            compute_united(t, &t->rows.items[i]);
    vec_release(&row_of_key);
    strtab_free(keys);
}

static bool has_data(const struct view *t, const struct row *r)
{
    for (size_t i = 0; i < t->shown.count; i++)
        if (!isnan(value_of(t, r, t->shown.items[i], false)) || !isnan(value_of(t, r, t->shown.items[i], true)))
            return true;
    return false;
}

static void drop_empty_rows(struct view *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->rows.count; i++)
        if (has_data(t, &t->rows.items[i]) && !(t->options->format == PRINT_TEXT && t->rows.items[i].quiet))
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = kept;
}

/* What a row is a part of, in the metric that sorts: for a difference of runs, which may be 0 in all, the larger run.
 */
static double whole_of(const struct view *t)
{
    double whole = fabs(experiment_value(t->e, t->sort_metric, 0, VALUE_INCLUSIVE));
    for (size_t i = 0; i < t->shown.count && t->e->metrics[t->sort_metric].formula; i++) {
        const struct metric *m = &t->e->metrics[t->shown.items[i]];
        double other = experiment_value(t->e, t->shown.items[i], 0, VALUE_INCLUSIVE);
        if (m->formula == 0 && m->unit == t->e->metrics[t->sort_metric].unit && !(other <= whole))
            whole = other;
    }
    return isnan(whole) ? 0 : whole;
}

static void drop_small_rows(struct view *t)
{
    double least = whole_of(t) * t->options->threshold / 100;
    size_t kept = 0;
    for (size_t i = 0; i < t->rows.count && t->options->threshold > 0; i++)
        if (fabs(value_of(t, &t->rows.items[i], t->sort_metric, t->sort_exclusive)) >= least)
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = t->options->threshold > 0 ? kept : t->rows.count;
}

/* ---- order ------------------------------------------------------------------------------ */

static int compare_text(const struct view *t, str_id a, str_id b)
{
    return a == b ? 0 : strcmp(strtab_get(t->e->strings, a), strtab_get(t->e->strings, b));
}

/* Largest first, blanks last; equal ones by where they are. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct view *t = ctx;
    const struct row *x = a, *y = b;
    double v = value_of(t, x, t->sort_metric, t->sort_exclusive), w = value_of(t, y, t->sort_metric, t->sort_exclusive);
    if (isnan(v) != isnan(w))
        return isnan(v) ? 1 : -1;
    if (!isnan(v) && v != w)
        return v < w ? 1 : -1;
    int order = compare_text(t, x->module, y->module);
    if (order == 0)
        order = compare_text(t, x->file, y->file);
    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    if (order == 0)
        order = compare_text(t, x->name, y->name);
    if (order == 0)
        order = compare_text(t, x->full_name, y->full_name);
    return order ? order : (x->values > y->values) - (x->values < y->values);
}

static bool sorts_by(const struct view *t, size_t metric, const char *wanted, bool *exclusive)
{
    str_id names[] = {t->e->metrics[metric].name, t->e->metrics[metric].display_name};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *name = strtab_get(t->e->strings, names[i]);
        size_t n = strlen(name);
        if (strncmp(name, wanted, n) != 0)
            continue;
        *exclusive = strcmp(wanted + n, " (E)") == 0;
        if (wanted[n] == '\0' || (*exclusive && levels[t->options->level].exclusive))
            return true;
    }
    return false;
}

static int no_such_metric(const struct view *t, const char *wanted, struct err *err)
{
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < t->e->metric_count; i++)
        *vec_push(&names) = strtab_get(t->e->strings, t->e->metrics[i].name);
    *vec_push(&names) = NULL;
    const char *near = expr_metric_nearest(wanted, names.items);
    if (!near)
        near = names.items[0];
    err_set(err, ERR_USAGE, "there is no metric '%s' to sort by%s%s%s", wanted, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    vec_release(&names);
    return -1;
}

static int choose_order(struct view *t, struct err *err)
{
    const struct experiment *e = t->e;
    const char *wanted = t->options->sort_by;
    t->sort_metric = t->shown.count ? t->shown.items[0] : 0;
    for (size_t i = 0; i < e->metric_count; i++)
        if (!wanted && e->metrics[i].sort_by)
            t->sort_metric = i;
    for (size_t i = 0; wanted && i < e->metric_count; i++)
        if (sorts_by(t, i, wanted, &t->sort_exclusive)) {
            t->sort_metric = i;
            return 0;
        }
    return wanted ? no_such_metric(t, wanted, err) : 0;
}

/* ---- text ------------------------------------------------------------------------------- */

static char *percent_text(double v, double whole)
{
    return isnan(v) || isnan(whole) || whole == 0 ? mem_strdup("") : mem_printf("%.1f", 100 * v / whole);
}

/* The metric that says how far chance goes in this one; SIZE_MAX: none does. */
static size_t error_of(const struct experiment *e, size_t metric)
{
    char *name = mem_printf("%s.error", strtab_get(e->strings, e->metrics[metric].name));
    size_t i = 0;
    while (i < e->metric_count && strcmp(strtab_get(e->strings, e->metrics[i].name), name) != 0)
        i++;
    mem_free(name);
    return i < e->metric_count ? i : SIZE_MAX;
}

/* A number; with '~' where two standard errors are more than it. */
static char *number_text(const struct view *t, const struct row *r, size_t metric, bool exclusive, size_t error)
{
    double value = value_of(t, r, metric, exclusive);
    char *text = print_text_of_value(value);
    if (error == SIZE_MAX || !(fabs(value) < 2 * value_of(t, r, error, exclusive)))
        return text;
    char *marked = mem_printf("~%s", text);
    mem_free(text);
    return marked;
}

static void add_metric_columns(struct view *t, struct text_table *text, size_t metric, bool exclusive)
{
    const struct experiment *e = t->e;
    const struct metric *m = &e->metrics[metric];
    double whole = experiment_value(e, metric, 0, VALUE_INCLUSIVE);
    const char *suffix = exclusive ? " (E)" : "";
    size_t error = error_of(e, metric);
    if (m->percent) {
        struct text_column *c = print_text_table_add(text, "%", suffix, false);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, percent_text(value_of(t, &t->rows.items[i], metric, exclusive), whole));
    }
    struct text_column *c = print_text_table_add(text, strtab_get(e->strings, m->display_name), suffix, false);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, number_text(t, &t->rows.items[i], metric, exclusive, error));
}

void print_location(const struct experiment *e, const struct row *r, struct buf *out)
{
    buf_safe(out, strtab_get(e->strings, r->file));
    if (r->file && r->line)
        buf_printf(out, ":%u", r->line);
    else if (r->address)
        buf_printf(out, "%s%#llx", r->file ? ", " : "", (unsigned long long)r->address);
    if (r->file && r->line && r->line_last > r->line)
        buf_printf(out, "-%u", r->line_last);
    if (r->on_line)
        buf_printf(out, ", loop %u of its line", r->on_line);
    if (r->instances > 1)
        buf_printf(out, " (%u of %u)", r->instance, r->instances);
}

static char *location_of(const struct view *t, const struct row *r)
{
    struct buf b = {0};
    struct row at = *r;
    if (t->options->level != PRINT_LOOP)
        at.line_last = 0;
    buf_str(&b, "");
    print_location(t->e, &at, &b);
    return b.bytes;
}

/* Indented by how deep it is; beyond what fits beside numbers, by how much is said in words. */
static char *tree_text(const struct view *t, const struct row *r)
{
    enum { INDENTED_MOST = 30 };
    unsigned shown = r->indent < INDENTED_MOST ? r->indent : INDENTED_MOST;
    char *name = print_text_of_name(strtab_get(t->e->strings, r->name)), *text;
    const char *kind = r->kind == PLACE_LOOP ? "loop in " : r->kind == PLACE_INLINE ? "inlined " : "";
    kind = !r->relation ? kind : strcmp(r->relation, "caller") == 0 ? "called by " : "calls ";
    if (shown < r->indent)
        text = mem_printf("%*s(+%u) %s%s", 2 * (int)shown, "", r->indent - shown, kind, name);
    else
        text = mem_printf("%*s%s%s", 2 * (int)shown, "", kind, name);
    mem_free(name);
    return text;
}

/* What was called, and where. */
static void add_tree_columns(struct view *t, struct text_table *text)
{
    static const char *const heads[][2] = {[PRINT_PATH] = {"calls", "called at"},
                                           [PRINT_CALLER] = {"procedure, its callers below it", "calls at"},
                                           [PRINT_CALLS] = {"procedure, its callers and what it calls", "at"}};
    struct text_column *c = print_text_table_add(text, heads[t->options->level][0], "", true);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, tree_text(t, &t->rows.items[i]));
    c = print_text_table_add(text, heads[t->options->level][1], "", true);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct row *r = &t->rows.items[i];
        struct buf b = {0};
        buf_str(&b, "");
        buf_safe(&b, strtab_get(t->e->strings, r->at_file));
        if (r->at_file && r->at_line)
            buf_printf(&b, ":%u", r->at_line);
        print_text_column_add(c, b.bytes);
    }
}

static void add_where_columns(struct view *t, struct text_table *text)
{
    if (is_tree(t)) {
        add_tree_columns(t, text);
        return;
    }
    enum print_level level = t->options->level;
    const struct strtab *strings = t->e->strings;
    static const char *const heads[] = {"program",      "module",       "file",    "procedure",
                                        "in procedure", "in procedure", "function"};
    struct text_column *c = print_text_table_add(text, heads[level], "", true);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, print_text_of_name(strtab_get(strings, t->rows.items[i].name)));
    if (level >= PRINT_PROC) {
        c = print_text_table_add(text, "location", "", true);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, location_of(t, &t->rows.items[i]));
    }
    if (level >= PRINT_FILE) {
        c = print_text_table_add(text, "module", "", true);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, print_text_of_name(strtab_get(strings, t->rows.items[i].module)));
    }
}

/* What each column is, above the table. */
static void write_legend(const struct view *t, struct outfile *out)
{
    const struct experiment *e = t->e;
    struct buf b = {0};
    if (t->options->no_legend)
        return;
    buf_safe(&b, strtab_get(e->strings, e->title));
    buf_char(&b, '\n');
    for (size_t i = 0; i < t->shown.count; i++) {
        const struct metric *m = &e->metrics[t->shown.items[i]];
        double whole = experiment_value(e, t->shown.items[i], 0, VALUE_INCLUSIVE);
        buf_safe(&b, strtab_get(e->strings, m->display_name));
        if (m->formula && m->formula != m->name) {
            buf_str(&b, " = ");
            buf_safe(&b, strtab_get(e->strings, m->formula));
        }
        char *value = print_text_of_value(whole);
        buf_printf(&b, ": %s", *value ? value : "nothing");
        mem_free(value);
        if (m->unit) {
            buf_char(&b, ' ');
            buf_safe(&b, strtab_get(e->strings, m->unit));
        }
        buf_str(&b, m->formula ? "" : " in all");
        if (m->period)
            buf_printf(&b, ", a sample every %llu", (unsigned long long)m->period);
        if (m->repetitions > 1)
            buf_printf(&b, ", the mean of %u runs", m->repetitions);
        if (!isnan(m->exact_total))
            buf_printf(&b, "; the counters say %.15g", m->exact_total);
        buf_str(&b, m->estimated ? ", estimated\n" : "\n");
    }
    buf_char(&b, '\n');
    outfile_write(out, b.bytes, b.len);
    buf_release(&b);
}

static void write_text(struct view *t, struct outfile *out)
{
    struct text_table text = {0};
    for (size_t i = 0; i < t->shown.count; i++) {
        add_metric_columns(t, &text, t->shown.items[i], false);
        if (levels[t->options->level].exclusive && t->e->metrics[t->shown.items[i]].has_exclusive)
            add_metric_columns(t, &text, t->shown.items[i], true);
    }
    add_where_columns(t, &text);
    write_legend(t, out);
    print_text_table_write(&text, t->rows.count, out);
}

/* Of a row that is a caller, or a call: does it say where? */
static bool says_where(const struct view *t)
{
    return t->options->level == PRINT_CALLER || t->options->level == PRINT_CALLS;
}

/* ---- CSV, RFC 4180 but for the line ends, which are the system's -------------------------- */

static void csv_head(const struct view *t, struct buf *out)
{
    buf_str(out, is_tree(t) ? "depth,kind,module,file,line,name" : "kind,module,file,line,name");
    buf_str(out, says_where(t) ? ",at_file,at_line" : "");
    for (size_t i = 0; i < t->shown.count; i++) {
        const struct metric *m = &t->e->metrics[t->shown.items[i]];
        const char *name = strtab_get(t->e->strings, m->name);
        buf_char(out, ',');
        print_csv_text(out, name);
        if (levels[t->options->level].exclusive && m->has_exclusive) {
            char *exclusive = mem_printf("%s (E)", name);
            buf_char(out, ',');
            print_csv_text(out, exclusive);
            mem_free(exclusive);
        }
    }
    buf_str(out, t->options->level == PRINT_LOOP ? ",line_last,on_line,instance,instances\n" : "\n");
}

static void csv_value(struct buf *out, double v)
{
    buf_char(out, ',');
    if (!isnan(v))
        buf_double(out, v);
}

static const char *word_of(const struct view *t, const struct row *r)
{
    static const char *const words[] = {"program", "module", "file", "procedure", "inline", "loop", "line"};
    return r->relation ? r->relation : is_tree(t) ? words[r->kind] : levels[t->options->level].word;
}

/* Behind the metrics, where it moves no column. */
static void csv_which_loop(struct buf *out, const struct row *r)
{
    const uint32_t numbers[] = {r->line_last, r->on_line, r->instance, r->instances};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        buf_char(out, ',');
        if (numbers[i])
            buf_printf(out, "%u", numbers[i]);
    }
}

static void csv_row(const struct view *t, const struct row *r, struct buf *out)
{
    const struct strtab *strings = t->e->strings;
    str_id texts[] = {r->module, r->file};
    if (is_tree(t))
        buf_printf(out, "%u,", r->depth);
    buf_str(out, word_of(t, r));
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        buf_char(out, ',');
        print_csv_text(out, strtab_get(strings, texts[i]));
    }
    buf_char(out, ',');
    if (r->line)
        buf_printf(out, "%u", r->line);
    buf_char(out, ',');
    print_csv_text(out, strtab_get(strings, r->name));
    if (says_where(t)) {
        buf_char(out, ',');
        print_csv_text(out, strtab_get(strings, r->at_file));
        buf_char(out, ',');
        if (r->at_line)
            buf_printf(out, "%u", r->at_line);
    }
    for (size_t i = 0; i < t->shown.count; i++) {
        csv_value(out, value_of(t, r, t->shown.items[i], false));
        if (levels[t->options->level].exclusive && t->e->metrics[t->shown.items[i]].has_exclusive)
            csv_value(out, value_of(t, r, t->shown.items[i], true));
    }
    if (t->options->level == PRINT_LOOP)
        csv_which_loop(out, r);
    buf_char(out, '\n');
}

static void write_csv(const struct view *t, struct outfile *out)
{
    struct buf b = {0};
    csv_head(t, &b);
    for (size_t i = 0; i < t->rows.count; i++) {
        csv_row(t, &t->rows.items[i], &b);
        if (b.len > 60000) {
            outfile_write(out, b.bytes, b.len);
            b.len = 0;
        }
    }
    outfile_write(out, b.bytes, b.len);
    buf_release(&b);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_text(struct jsonout *j, const struct view *t, const char *key, str_id text)
{
    json_put_string(j, key, strtab_get(t->e->strings, text));
}

static void json_metric(struct jsonout *j, const struct view *t, size_t metric)
{
    const struct metric *m = &t->e->metrics[metric];
    json_begin_object(j);
    json_text(j, t, "name", m->name);
    json_text(j, t, "display_name", m->display_name);
    json_text(j, t, "unit", m->unit);
    json_text(j, t, "description", m->description);
    json_text(j, t, "event", m->event);
    json_text(j, t, "formula", m->formula);
    json_put_u64(j, "period", m->period);
    json_put_bool(j, "percent", m->percent);
    json_put_bool(j, "estimated", m->estimated);
    json_put_double(j, "total", experiment_value(t->e, metric, 0, VALUE_INCLUSIVE));
    json_put_double(j, "exact_total", m->exact_total);
    json_end_object(j);
}

static void json_values(struct jsonout *j, const struct view *t, const struct row *r, const char *key, bool exclusive)
{
    json_key(j, key);
    json_begin_object(j);
    for (size_t i = 0; i < t->shown.count; i++) {
        json_put_double(j, strtab_get(t->e->strings, t->e->metrics[t->shown.items[i]].name),
                        value_of(t, r, t->shown.items[i], exclusive));
    }
    json_end_object(j);
}

static void json_row(struct jsonout *j, const struct view *t, const struct row *r)
{
    json_begin_object(j);
    if (is_tree(t)) {
        json_put_u64(j, "depth", r->depth);
    }
    json_put_string(j, "kind", word_of(t, r));
    json_text(j, t, "module", r->module);
    json_text(j, t, "file", r->file);
    json_key(j, "line");
    if (r->line)
        json_u64(j, r->line);
    else
        json_null(j);
    json_text(j, t, "name", r->name);
    json_text(j, t, "full_name", r->full_name);
    if (says_where(t)) {
        json_text(j, t, "at_file", r->at_file);
        json_key(j, "at_line");
        if (r->at_line)
            json_u64(j, r->at_line);
        else
            json_null(j);
    }
    if (t->options->level == PRINT_LOOP) {
        json_put_u64(j, "line_last", r->line_last);
        if (r->on_line)
            json_put_u64(j, "on_line", r->on_line);
        json_put_u64(j, "instance", r->instance);
        json_put_u64(j, "instances", r->instances);
    }
    json_values(j, t, r, "values", false);
    if (levels[t->options->level].exclusive)
        json_values(j, t, r, "exclusive", true);
    json_end_object(j);
}

static void write_json(const struct view *t, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {&b, false};
    json_begin_object(&j);
    json_text(&j, t, "title", t->e->title);
    json_put_string(&j, "by", levels[t->options->level].word);
    json_key(&j, "metrics");
    json_begin_array(&j);
    for (size_t i = 0; i < t->shown.count; i++)
        json_metric(&j, t, t->shown.items[i]);
    json_end_array(&j);
    json_key(&j, "rows");
    json_begin_array(&j);
    for (size_t i = 0; i < t->rows.count; i++)
        json_row(&j, t, &t->rows.items[i]);
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&b, '\n');
    outfile_write(out, b.bytes, b.len);
    buf_release(&b);
}

/* ---- all of it -------------------------------------------------------------------------------- */

int experiment_print(const struct experiment *e, const struct print_options *options, struct outfile *out,
                     struct err *err)
{
    struct view t = {.e = e, .options = options};
    for (size_t i = 0; i < e->metric_count; i++)
        if (e->metrics[i].display)
            *vec_push(&t.shown) = i;
    int status = choose_order(&t, err);
    if (status == 0 && options->scope)
        find_scope(&t);
    if (status == 0 && options->tree) {
        write_legend(&t, out);
        print_tree(&t, whole_of(&t), out);
    } else if (status == 0 && options->level == PRINT_INSTRUCTION) {
        if (options->format == PRINT_TEXT)
            write_legend(&t, out);
        status = print_code(&t, out, err);
    } else if (status == 0) {
        find_surroundings(&t);
        if (options->level == PRINT_PATH)
            status = print_rows_of_paths(&t, err);
        else if (options->level == PRINT_CALLER)
            status = print_rows_of_callers(&t, err);
        else if (options->level == PRINT_CALLS)
            status = print_rows_of_calls(&t, err);
        else if (options->level == PRINT_LINE || options->level == PRINT_FUNCTION ||
                 (options->level == PRINT_LOOP && options->fused))
            united_rows(&t);
        else
            rows_of_places(&t);
        drop_empty_rows(&t);
        if (!is_tree(&t))
            drop_small_rows(&t);
        if (t.rows.count && !is_tree(&t)) /* qsort wants an array even for nothing */
            qsort_r(t.rows.items, t.rows.count, sizeof *t.rows.items, compare_rows, &t);
        if (options->top && options->top < t.rows.count)
            t.rows.count = options->top;
        if (status < 0)
            ; /* there is nothing to write */
        else if (options->format == PRINT_TEXT)
            write_text(&t, out);
        else if (options->format == PRINT_CSV)
            write_csv(&t, out);
        else
            write_json(&t, out);
    }
    mem_free(t.module_name);
    mem_free(t.procedure);
    mem_free(t.in_scope);
    vec_release(&t.rows);
    vec_release(&t.values);
    vec_release(&t.shown);
    return status;
}
