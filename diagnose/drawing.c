/*
 * Experiments from drawings:
 *
 *     run NAME SECONDS PROCESSES THREADS      a run; every metric below is of it. The first of its processes have a
 *                                             thread more where they are not of one number. Several are ranks, or
 *                                             the first N of them: ... THREADS ranks N
 *     metric ID PERIOD UNIT NAME              measured; UNIT "-": none. Lines' values are summed up
 *     column ID NAME                          computed: each place has the value that is given there
 *     MODULE NAME                             places, as deep as their blanks, below the PROGRAM
 *      PROC NAME LINE                         FILE, PROC, INLINE NAME LINE; LOOP LINE [ROLE]; LINE N
 *       LINE 7 ID=VALUE ...                   values; "@LABEL" names the place for rows
 *                                             lines are a.c's, but for those in FILE NAME own; "!nofile": nobody's,
 *                                             "!irreducible", "!0xADDRESS"
 *     root ID=VALUE ...                       of the PROGRAM
 *     call LABEL ID=VALUE ...                 nodes of the tree of calls, as deep as their blanks: of a labelled place
 *     table NAME COLUMN:TYPE ...              TYPE: count, number, text, or what is referred to
 *     row CELL ...                            "-": missing; places by label; in texts '_' for ' '
 */
#include "diagnose/drawing.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { WORDS_MOST = 40, DEPTH_MOST = 20 };

struct drawn_value {
    size_t place;
    char *id;
    double value;
};
struct drawn_call {
    uint32_t parent;
    char *label;
    struct drawn_value value;
};
struct drawing {
    struct experiment *e;
    struct VEC(struct place) places;
    struct VEC(struct metric) metrics;
    struct VEC(char *) ids; /* by metric */
    struct VEC(struct drawn_value) values;
    struct VEC(char *) labels; /* by place, or NULL */
    struct VEC(struct experiment_run) runs;
    struct VEC(struct hpcprof_process) processes;
    struct VEC(struct drawn_call) calls;
    struct VEC(struct source_file) files;
    uint32_t file; /* whose lines come */
    place_ix at_depth[DEPTH_MOST];
    uint32_t call_at_depth[DEPTH_MOST];
    struct table *table;
    const char *where;
};

static void fail(const struct drawing *d, const char *what, const char *word)
{
    fprintf(stderr, "%s: %s '%s'\n", d->where, what, word);
    exit(99);
}

static str_id text(struct drawing *d, const char *s)
{
    return strtab_add(d->e->strings, s);
}

static place_ix add_place(struct drawing *d, uint8_t kind, place_ix parent, const char *name, const char *line)
{
    uint32_t number = line ? (uint32_t)atoi(line) : 0;
    *vec_push(&d->places) = (struct place){.kind = kind,
                                           .parent = parent,
                                           .name = text(d, name),
                                           .full_name = text(d, name),
                                           .file = number ? d->file : SOURCE_NONE,
                                           .line_first = number,
                                           .line_last = number,
                                           .call_file = SOURCE_NONE};
    *vec_push(&d->labels) = NULL;
    return (place_ix)(d->places.count - 1);
}

static void add_mark(struct drawing *d, place_ix place, const char *mark)
{
    struct place *p = &d->places.items[place];
    if (strcmp(mark, "irreducible") == 0)
        p->irreducible = true;
    else if (strcmp(mark, "nofile") == 0)
        p->file = SOURCE_NONE;
    else if (mark[0] == '0')
        p->address = strtoull(mark, NULL, 16);
    else
        fail(d, "no such mark", mark);
}

static void add_values(struct drawing *d, place_ix place, char **words, int n)
{
    for (int i = 0; i < n; i++) {
        char *equals = strchr(words[i], '=');
        if (words[i][0] == '@') {
            d->labels.items[place] = mem_strdup(words[i] + 1);
            continue;
        }
        if (words[i][0] == '!') {
            add_mark(d, place, words[i] + 1);
            continue;
        }
        if (!equals)
            fail(d, "no value", words[i]);
        *equals = '\0';
        *vec_push(&d->values) = (struct drawn_value){place, mem_strdup(words[i]), strtod(equals + 1, NULL)};
    }
}

static uint32_t add_file(struct drawing *d, const char *name)
{
    *vec_push(&d->files) = (struct source_file){.name = text(d, name), .raw_name = text(d, name)};
    return (uint32_t)d->files.count - 1;
}

static void take_place(struct drawing *d, size_t depth, char **w, int n)
{
    static const char *const kinds[] = {"PROGRAM", "MODULE", "FILE", "PROC", "INLINE", "LOOP", "LINE"};
    static const char *const roles[] = {"plain", "vector", "remainder", "unrolled"};
    uint8_t kind = 0;
    while (kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind], w[0]) != 0)
        kind++;
    if (kind == ARRAY_SIZE(kinds) || n < 2)
        fail(d, "no place", w[0]);
    bool own = kind == PLACE_FILE && n > 2 && strcmp(w[2], "own") == 0;
    if (kind <= PLACE_FILE)
        d->file = own ? add_file(d, w[1]) : 0;
    bool named = kind<PLACE_LOOP, lined = kind> PLACE_FILE;
    int used = 2 + ((named && lined && n > 2) || own);
    place_ix place = add_place(d, kind, d->at_depth[depth], named ? w[1] : "",
                               !lined  ? NULL
                               : named ? (n > 2 ? w[2] : NULL)
                                       : w[1]);
    for (uint8_t r = 0; kind == PLACE_LOOP && n > 2 && r < ARRAY_SIZE(roles); r++)
        if (strcmp(roles[r], w[2]) == 0) {
            d->places.items[place].role = r;
            used = 3;
        }
    d->at_depth[depth + 1] = place;
    add_values(d, place, w + used, n - used);
}

static void take_run(struct drawing *d, char **w, int n)
{
    if (n < 5)
        fail(d, "too few words for", w[0]);
    uint32_t processes = (uint32_t)atoi(w[3]), threads = (uint32_t)atoi(w[4]);
    uint32_t ranks = n > 6 && strcmp(w[5], "ranks") == 0 ? (uint32_t)atoi(w[6]) : processes > 1 ? processes : 0;
    *vec_push(&d->runs) = (struct experiment_run){
        .name = text(d, w[1]), .process_first = (uint32_t)d->processes.count, .process_count = processes};
    for (uint32_t i = 0; i < processes; i++)
        *vec_push(&d->processes) = (struct hpcprof_process){.start_ns = 1000000000,
                                                            .end_ns = 1000000000 + (uint64_t)(strtod(w[2], NULL) * 1e9),
                                                            .rank = i < ranks ? (int32_t)i : -1,
                                                            .thread_count = (threads + processes - 1 - i) / processes};
}

/* The words from `first` on are the name. */
static void take_metric(struct drawing *d, char **w, int n, bool measured)
{
    struct buf name = {0};
    int first = measured ? 4 : 2;
    for (int i = first; i < n; i++)
        buf_printf(&name, "%s%s", i > first ? " " : "", w[i]);
    if (!name.len)
        fail(d, "too few words for", w[0]);
    uint32_t run = d->runs.count ? (uint32_t)d->runs.count - 1 : 0;
    const char *of = d->runs.count > 1 || run ? strtab_get(d->e->strings, d->runs.items[run].name) : NULL;
    str_id plain = text(d, name.bytes), full = of ? strtab_printf(d->e->strings, "%s.%s", of, name.bytes) : plain;
    *vec_push(&d->metrics) = (struct metric){.name = full,
                                             .display_name = full,
                                             .event = measured ? plain : 0,
                                             .formula = measured ? 0 : plain,
                                             .period = measured ? strtoull(w[2], NULL, 10) : 0,
                                             .unit = measured && w[3][0] != '-' ? text(d, w[3]) : 0,
                                             .run = run,
                                             .summed = measured};
    *vec_push(&d->ids) = mem_strdup(w[1]);
    buf_release(&name);
}

static void take_table(struct drawing *d, char **w, int n)
{
    struct table_column columns[WORDS_MOST] = {{0}};
    struct table_decl decl = {.name = w[1], .columns = columns, .column_count = (size_t)(n - 2)};
    struct err err = {0};
    for (int i = 2; i < n; i++) {
        char *colon = strchr(w[i], ':');
        if (!colon)
            fail(d, "a column without a type", w[i]);
        *colon = '\0';
        struct table_column *c = &columns[i - 2];
        c->name = w[i];
        c->merge = TABLE_LAST;
        c->type = strcmp(colon + 1, "count") == 0    ? TABLE_COUNT
                  : strcmp(colon + 1, "number") == 0 ? TABLE_NUMBER
                  : strcmp(colon + 1, "text") == 0   ? TABLE_TEXT
                                                     : TABLE_REF;
        c->refers = c->type == TABLE_REF ? colon + 1 : NULL;
    }
    if (table_list_declare(&d->e->tables, &decl, d->e->strings, &d->table, &err) < 0)
        fail(d, err.msg, w[1]);
}

static uint32_t labelled(const struct drawing *d, const char *label)
{
    for (uint32_t i = 0; i < d->labels.count; i++)
        if (d->labels.items[i] && strcmp(d->labels.items[i], label) == 0)
            return i;
    fail(d, "no place is labelled", label);
    return 0;
}

static void take_row(struct drawing *d, char **w, int n)
{
    union table_cell cells[WORDS_MOST];
    const struct table_decl *decl = d->table ? table_declared(d->table) : NULL;
    if (!decl || decl->column_count != (size_t)(n - 1))
        fail(d, "a row with other columns than its table", w[0]);
    for (size_t i = 0; i < decl->column_count; i++) {
        char *word = w[i + 1];
        bool missing = strcmp(word, "-") == 0;
        for (char *blank; decl->columns[i].type == TABLE_TEXT && (blank = strchr(word, '_'));)
            *blank = ' ';
        switch (decl->columns[i].type) {
        case TABLE_TEXT:
            cells[i].text = missing ? 0 : text(d, word);
            break;
        case TABLE_NUMBER:
            cells[i].number = missing ? (double)NAN : strtod(word, NULL);
            break;
        case TABLE_REF:
            cells[i].row = missing                                         ? TABLE_NONE
                           : strcmp(decl->columns[i].refers, "place") == 0 ? labelled(d, word)
                                                                           : (uint32_t)atoi(word);
            break;
        default:
            cells[i].count = missing ? TABLE_NO_COUNT : strtoull(word, NULL, 10);
        }
    }
    table_add(d->table, cells);
}

static void take_call(struct drawing *d, size_t depth, char **w, int n)
{
    if (n < 2)
        fail(d, "too few words for", w[0]);
    struct drawn_call c = {.parent = d->call_at_depth[depth], .label = mem_strdup(w[1])};
    char *equals = n > 2 ? strchr(w[2], '=') : NULL;
    if (equals) {
        *equals = '\0';
        c.value = (struct drawn_value){.id = mem_strdup(w[2]), .value = strtod(equals + 1, NULL)};
    }
    *vec_push(&d->calls) = c;
    d->call_at_depth[depth + 1] = (uint32_t)d->calls.count;
}

static bool is_of_table(const char *line)
{
    return strncmp(line, "table ", 6) == 0 || strncmp(line, "row ", 4) == 0;
}

static void take_line(struct drawing *d, char *line)
{
    size_t depth = strspn(line, " ");
    char *w[WORDS_MOST], *word;
    int n = 0;
    for (line += depth; n < WORDS_MOST && (word = strsep(&line, " "));)
        if (*word)
            w[n++] = word;
    if (n == 0 || w[0][0] == '#')
        return;
    if (depth + 1 >= DEPTH_MOST)
        fail(d, "too deep", w[0]);
    if (isupper((unsigned char)w[0][0]))
        take_place(d, depth, w, n);
    else if (strcmp(w[0], "run") == 0)
        take_run(d, w, n);
    else if (strcmp(w[0], "metric") == 0 || strcmp(w[0], "column") == 0)
        take_metric(d, w, n, w[0][0] == 'm');
    else if (strcmp(w[0], "call") == 0)
        take_call(d, depth, w, n);
    else if (strcmp(w[0], "root") == 0)
        add_values(d, 0, w + 1, n - 1);
    else if (strcmp(w[0], "table") == 0 && n > 2)
        take_table(d, w, n);
    else if (strcmp(w[0], "row") == 0)
        take_row(d, w, n);
    else
        fail(d, "no such line", w[0]);
}

static void set_columns(struct drawing *d)
{
    struct experiment *e = d->e;
    double *own = mem_alloc((e->place_count + 1) * sizeof *own);
    for (size_t m = 0; m < e->metric_count; m++) {
        for (size_t i = 0; i < e->place_count; i++)
            own[i] = NAN;
        for (size_t i = 0; i < d->values.count; i++)
            if (strcmp(d->values.items[i].id, d->ids.items[m]) == 0)
                own[d->values.items[i].place] = d->values.items[i].value;
        if (e->metrics[m].summed)
            experiment_sum_column(e, TREE_SCOPES, m, own);
        else
            for (enum value_form form = 0; form < VALUE_FORMS; form++)
                experiment_set_column(e, TREE_SCOPES, m, form, own);
    }
    mem_free(own);
}

/* What each node cost itself, in the measured metrics. */
static void add_calls(struct drawing *d)
{
    struct experiment *e = d->e;
    size_t n = d->calls.count + 1;
    uint32_t *parent = mem_alloc(n * sizeof *parent);
    place_ix *place = mem_alloc(n * sizeof *place);
    double *own = mem_alloc(n * sizeof *own);
    parent[0] = NODE_NONE;
    place[0] = 0;
    for (size_t i = 1; i < n; i++) {
        parent[i] = d->calls.items[i - 1].parent;
        place[i] = labelled(d, d->calls.items[i - 1].label);
    }
    size_t tree = experiment_add_tree(e, TREE_CALLS_NAME, "Calls", n, parent, place);
    for (size_t m = 0; m < e->metric_count; m++) {
        own[0] = NAN;
        for (size_t i = 1; i < n; i++) {
            const struct drawn_value *v = &d->calls.items[i - 1].value;
            own[i] = v->id && strcmp(v->id, d->ids.items[m]) == 0 ? v->value : (double)NAN;
        }
        if (e->metrics[m].summed)
            experiment_sum_column(e, tree, m, own);
    }
    for (size_t i = 0; i + 1 < n; i++) {
        mem_free(d->calls.items[i].label);
        mem_free(d->calls.items[i].value.id);
    }
    vec_release(&d->calls);
    mem_free(own);
}

static void finish(struct drawing *d)
{
    char usual[] = "run r 0 1 1";
    struct experiment *e = d->e;
    if (d->runs.count == 0)
        take_line(d, usual);
    e->places = d->places.items;
    e->place_count = d->places.count;
    e->metrics = d->metrics.items;
    e->metric_count = d->metrics.count;
    e->runs = d->runs.items;
    e->run_count = d->runs.count;
    e->processes = d->processes.items;
    e->process_count = d->processes.count;
    e->files = d->files.items;
    e->file_count = d->files.count;
    experiment_find_same(e);
    experiment_add_tree(e, "scopes", "Scopes", e->place_count, NULL, NULL);
    set_columns(d);
    if (d->calls.count)
        add_calls(d);
    for (size_t i = 0; i < d->values.count; i++)
        mem_free(d->values.items[i].id);
    for (size_t i = 0; i < d->ids.count; i++)
        mem_free(d->ids.items[i]);
    for (size_t i = 0; i < d->labels.count; i++)
        mem_free(d->labels.items[i]);
    vec_release(&d->values);
    vec_release(&d->ids);
    vec_release(&d->labels);
}

struct experiment *drawing_read(const char *drawing, const char *where)
{
    struct drawing d = {.e = mem_calloc(1, sizeof(struct experiment)), .where = where};
    d.e->strings = strtab_create();
    d.e->title = text(&d, "drawing");
    add_file(&d, "a.c");
    add_place(&d, PLACE_PROGRAM, PLACE_NONE, "drawing", NULL);
    for (int rows = 0; rows < 2; rows++) { /* rows name places that may stand below them */
        char *copy = mem_strdup(drawing), *rest = copy, *line;
        while ((line = strsep(&rest, "\n")))
            if (is_of_table(line) == (rows == 1))
                take_line(&d, line);
        mem_free(copy);
    }
    finish(&d);
    return d.e;
}
