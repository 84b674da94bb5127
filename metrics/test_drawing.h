/*
 * Experiments from drawings, for tests: a structure as an outline, samples as a list, the tree with its sums as text.
 *
 *     F heat.f90                    file
 *      P solve 40-71 1000-1100      procedure, its lines, its ranges from its entry on ("f.part.0<f": a clone of f)
 *       L 52-60 1010                loop, its header; then may come its instance, of how many, and which it is on its line
 *        I dot 10 heat.f90:54       inlined procedure, its line, the call
 *         S 12 1020-1030            statement: line and addresses (one more range may follow)
 *
 * Depth is the number of blanks; a line's own file is that of the FILE, or given as FILE:LINE.
 */
#ifndef METRICS_TEST_DRAWING_H
#define METRICS_TEST_DRAWING_H

#include "metrics/metrics_int.h"
#include "tests/tap.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* ---- drawings to trees --------------------------------------------------------------------- */

static inline str_id in(struct scope_tree *t, const char *s)
{
    return strtab_add(t->strings, s);
}

/* "file:12-15", "12-15" or "12". */
static inline void read_lines(struct scope_tree *t, const char *word, struct scope *s)
{
    const char *colon = strrchr(word, ':');
    if (colon) {
        char *file = mem_strndup(word, (size_t)(colon - word));
        s->file = in(t, file);
        mem_free(file);
        word = colon + 1;
    }
    s->line_first = s->line_last = (uint32_t)strtoul(word, NULL, 10);
    if (strchr(word, '-'))
        s->line_last = (uint32_t)strtoul(strchr(word, '-') + 1, NULL, 10);
}

/* Room for one item behind `count` that came one by one. */
static inline void *one_more(void *items, size_t count, size_t size)
{
    return count & (count - 1) ? items : mem_realloc(items, count ? 2 * count : 1, size);
}

static inline void add_range(struct scope_tree *t, struct scope *s, const char *word)
{
    char *end;
    vaddr begin = strtoull(word, &end, 16);
    t->ranges = one_more(t->ranges, t->range_count, sizeof *t->ranges);
    if (s->range_count == 0)
        s->range_first = (uint32_t)t->range_count;
    t->ranges[t->range_count++] = (struct addr_range){begin, strtoull(end + 1, NULL, 16)};
    s->range_count++;
}

/* "f", or "f.part.0<f" and "f.omp.0<f", which are called as structure calls clones and parallel regions. */
static inline void read_procedure_name(struct scope_tree *t, char *word, struct scope *s)
{
    char *origin = strchr(word, '<');
    s->origin = in(t, origin ? origin + 1 : "");
    word[strcspn(word, "<")] = '\0';
    s->name = s->short_name = s->link_name = in(t, word);
    if (origin && strstr(word, ".omp"))
        s->name = s->short_name =
            strtab_printf(t->strings, "%s [OpenMP region%s]", origin + 1, strstr(word, ".omp") + strlen(".omp"));
    else if (origin)
        s->name = s->short_name = strtab_printf(t->strings, "%s [clone %s]", origin + 1, word + strlen(origin + 1));
}

static inline struct scope scope_from(struct scope_tree *t, char **w, int n, str_id file)
{
    struct scope s = {.file = file};
    switch (w[0][0]) {
    case 'F':
        s = (struct scope){.kind = SCOPE_FILE, .name = in(t, n > 1 ? w[1] : "")};
        break;
    case 'P':
        s.kind = SCOPE_PROC;
        read_procedure_name(t, w[1], &s);
        read_lines(t, w[2], &s);
        s.entry = strtoull(w[3], NULL, 16);
        for (int i = 3; i < n; i++)
            add_range(t, &s, w[i]);
        break;
    case 'L':
        s.kind = SCOPE_LOOP;
        s.instance = s.instances = 1;
        read_lines(t, w[1], &s);
        s.entry = strtoull(w[2], NULL, 16);
        if (n > 4) {
            s.instance = (uint32_t)atoi(w[3]);
            s.instances = (uint32_t)atoi(w[4]);
            s.on_line = n > 5 ? (uint32_t)atoi(w[5]) : 0;
        }
        break;
    case 'I': {
        s.kind = SCOPE_INLINE;
        s.name = s.short_name = in(t, w[1]);
        struct scope call = {.file = file};
        read_lines(t, w[3], &call);
        read_lines(t, w[2], &s);
        s.call_file = call.file;
        s.call_line = call.line_first;
        break;
    }
    default:
        s.kind = SCOPE_STMT;
        read_lines(t, w[1], &s);
        for (int i = 2; i < n; i++)
            add_range(t, &s, w[i]);
    }
    return s;
}

static inline struct scope_tree *tree_from(const char *drawing)
{
    struct scope_tree *t = scope_tree_create();
    scope_ix at_depth[32] = {0};
    str_id file = 0;
    t->scopes = mem_calloc(1, sizeof *t->scopes);
    t->scopes[t->scope_count++] = (struct scope){.kind = SCOPE_MODULE, .parent = SCOPE_NONE, .name = in(t, "module")};
    char *copy = mem_strdup(drawing), *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        size_t depth = strspn(line, " ");
        char *words[8], *word;
        int n = 0;
        for (line += depth; (word = strsep(&line, " ")) && n < 8;)
            if (*word)
                words[n++] = word;
        if (n == 0)
            continue;
        struct scope s = scope_from(t, words, n, file);
        if (s.kind == SCOPE_FILE)
            file = s.name;
        s.parent = depth ? at_depth[depth - 1] : 0;
        at_depth[depth] = (scope_ix)t->scope_count;
        t->scopes = one_more(t->scopes, t->scope_count, sizeof *t->scopes);
        t->scopes[t->scope_count++] = s;
    }
    mem_free(copy);
    return t;
}

struct drawn_module {
    const char *path, *drawing; /* drawing NULL: no structure; "!": it fails */
};

static inline void drawn_scopes(void *ctx, struct module *m, const struct strtab *strings,
                                const struct sampled *sampled, struct warnings *warnings)
{
    (void)warnings;
    for (const struct drawn_module *d = ctx; d->path && sampled->count; d++)
        if (strcmp(d->path, strtab_get(strings, m->path)) == 0 && d->drawing) {
            m->state = STRUCTURE_FOUND;
            if (strcmp(d->drawing, "!") == 0) {
                m->state = STRUCTURE_FAILED;
                m->why = mem_strdup("cannot be opened");
            } else
                m->tree = tree_from(d->drawing);
        }
}

/* ---- drawings to measurements ------------------------------------------------------------------ */

/* "=NAME" is exact, with blanks for '_'; others are sampled. */
static inline uint32_t event_of(struct hpcprof *p, char *name)
{
    bool exact = name[0] == '=';
    for (char *c = name += exact; exact && *c; c++)
        *c = *c == '_' ? ' ' : *c;
    for (size_t i = 0; i < p->event_count; i++)
        if (strcmp(strtab_get(p->strings, p->events[i].name), name) == 0)
            return (uint32_t)i;
    struct hpcprof_event e = {
        .name = strtab_add(p->strings, name), .unit = strtab_add(p->strings, "u"), .period = exact ? 0 : 10};
    return hpcprof_add_event(p, &e);
}

/* "0x2004>0x1012": the address called from, then the address; in the context's module. */
static inline uint64_t called_at(struct hpcprof *p, char *word, struct hpcprof_context *c)
{
    for (char *next; (next = strchr(word, '>')); word = next + 1) {
        c->address = strtoull(word, NULL, 16);
        c->parent = hpcprof_add_context(p, c);
    }
    return strtoull(word, NULL, 16);
}

static inline char *with_blanks(char *word)
{
    for (char *c = word; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return word;
}

static inline uint32_t region_of(struct hpcprof *p, const char *name, uint32_t parent)
{
    for (uint32_t i = 1; i < p->region_count; i++)
        if (strcmp(strtab_get(p->strings, p->regions[i].name), name) == 0)
            return i;
    return hpcprof_add_region(p, name, parent);
}

/* "NAME COLUMN:TYPE[:MERGE[:REFERS]]...", with the numbers of enum table_type and enum table_merge. */
static inline struct table *table_from(struct hpcprof *p, char **w, int n)
{
    struct table_column columns[16] = {{0}};
    struct table_decl decl = {.name = w[0], .columns = columns, .column_count = (size_t)n - 1};
    struct table *t = NULL;
    for (int i = 1; i < n; i++) {
        columns[i - 1].name = strsep(&w[i], ":");
        columns[i - 1].type = (uint8_t)atoi(strsep(&w[i], ":"));
        columns[i - 1].merge = w[i] ? (uint8_t)atoi(strsep(&w[i], ":")) : TABLE_LAST;
        columns[i - 1].refers = w[i] ? with_blanks(w[i]) : NULL;
    }
    struct err err;
    if (table_list_declare(&p->tables, &decl, p->strings, &t, &err) < 0)
        printf("# %s\n", err.msg);
    return t;
}

/* A cell each: "-" is missing; MODULE@0xADDRESS for a context. */
static inline void row_from(struct hpcprof *p, struct table *t, char **w)
{
    const struct table_decl *d = table_declared(t);
    union table_cell cells[16];
    for (size_t i = 0; i < d->column_count; i++) {
        bool missing = strcmp(w[i], "-") == 0;
        char *at = strrchr(w[i], '@'), *id = strchr(w[i], '#');
        if (d->columns[i].type == TABLE_NUMBER)
            cells[i].number = missing ? NAN : strtod(w[i], NULL);
        else if (d->columns[i].type == TABLE_TEXT)
            cells[i].text = strtab_add(p->strings, missing ? "" : with_blanks(w[i]));
        else if (d->columns[i].type != TABLE_REF)
            cells[i].count = missing ? TABLE_NO_COUNT : strtoull(w[i], NULL, 0);
        else if (at) {
            *at = '\0';
            w[i][strcspn(w[i], "#")] = '\0';
            cells[i].row = hpcprof_add_context(
                p, &(struct hpcprof_context){.parent = HPCPROF_NO_PARENT,
                                             .module = hpcprof_add_module(p, w[i], id && id < at ? id + 1 : ""),
                                             .address = strtoull(at + 1, NULL, 16)});
        } else
            cells[i].row = missing ? TABLE_NONE : (uint32_t)strtoul(w[i], NULL, 0);
    }
    table_add(t, cells);
}

static inline void say_of_process(struct hpcprof *p, const char *what, const char *value)
{
    struct hpcprof_process *process = &p->processes[p->process_count - 1];
    str_id text = strtab_add(p->strings, value);
    if (strcmp(what, "start") == 0)
        process->start_ns = strtoull(value, NULL, 10);
    else
        *(strcmp(what, "command") == 0   ? &process->command
          : strcmp(what, "machine") == 0 ? &process->machine
          : strcmp(what, "host") == 0    ? &process->host
          : strcmp(what, "folder") == 0  ? &process->working_dir
          : strcmp(what, "kernel") == 0  ? &process->kernel
                                         : &process->source_file) = text;
}

/* What is not samples; in names and texts '_' is a blank:
 *
 *     !event NAME PERIOD UNIT FLAGS
 *     !total EVENT VALUE, !name TEXT           of the thread
 *     !note NAME VALUE, !pid NUMBER            of the process
 *     !process WHAT TEXT                       likewise: command, machine, host, folder, kernel, file or start
 *     !region NAME PARENT
 *     !table ..., !row ...                     a row of the table before
 */
static inline void take_other(struct hpcprof *p, uint32_t thread, struct table **table, char **w, int n)
{
    if (strcmp(w[0], "!event") == 0)
        hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, with_blanks(w[1])),
                                                     .period = strtoull(w[2], NULL, 10),
                                                     .unit = strtab_add(p->strings, w[3]),
                                                     .flags = (unsigned)atoi(w[4])});
    else if (strcmp(w[0], "!total") == 0)
        hpcprof_add_total(p, &(struct hpcprof_total){thread, event_of(p, w[1]), strtoull(w[2], NULL, 10)});
    else if (strcmp(w[0], "!note") == 0)
        hpcprof_add_note(p, &(struct hpcprof_note){(uint32_t)p->process_count - 1,
                                                   strtab_add(p->strings, with_blanks(w[1])),
                                                   strtab_add(p->strings, with_blanks(w[2]))});
    else if (strcmp(w[0], "!pid") == 0)
        p->processes[p->process_count - 1].pid = (uint32_t)atoi(w[1]);
    else if (strcmp(w[0], "!process") == 0)
        say_of_process(p, w[1], with_blanks(w[2]));
    else if (strcmp(w[0], "!name") == 0)
        p->threads[thread].name = strtab_add(p->strings, with_blanks(w[1]));
    else if (strcmp(w[0], "!region") == 0)
        region_of(p, w[1], (uint32_t)atoi(w[2]));
    else if (strcmp(w[0], "!table") == 0)
        *table = table_from(p, w + 1, n - 1);
    else if (*table)
        row_from(p, *table, w + 1);
}

/* Lines: "thread", "process RANK", "cpu NS" (of the thread), "MODULE 0xADDRESS EVENT SAMPLES" or "MODULE PROC FILE LINE EVENT SAMPLES" ("-":
 * none; "PROC@FILE": where the procedure is; "MODULE#ID": its build id; "EVENT%REGION"; "=EVENT": exact). */
static inline struct hpcprof *profile_from(const char *drawing)
{
    struct hpcprof *p = hpcprof_create();
    struct hpcprof_process process = {.command = strtab_add(p->strings, "/bin/app -x"), .rank = -1, .complete = true};
    struct hpcprof_thread t = {.process = hpcprof_add_process(p, &process)};
    uint32_t thread = hpcprof_add_thread(p, &t);
    struct table *table = NULL;
    char *copy = mem_strdup(drawing), *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *w[16], *word;
        int n = 0;
        while ((word = strsep(&line, " ")) && n < (int)ARRAY_SIZE(w))
            if (*word)
                w[n++] = word;
        if (n && w[0][0] == '!') {
            take_other(p, thread, &table, w, n);
            continue;
        }
        if (n == 1) {
            t.number++;
            thread = hpcprof_add_thread(p, &t);
        }
        if (n == 2 && strcmp(w[0], "cpu") == 0)
            p->threads[thread].cpu_ns = strtoull(w[1], NULL, 10);
        else if (n == 2) {
            process.rank = atoi(w[1]);
            t = (struct hpcprof_thread){.process = hpcprof_add_process(p, &process)};
            thread = hpcprof_add_thread(p, &t);
        }
        if (n < 3)
            continue;
        char *id = strchr(w[0], '#');
        w[0][strcspn(w[0], "#")] = '\0';
        struct hpcprof_context c = {
            .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, w[0], id ? id + 1 : ""), .by_line = n == 6};
        if (n == 6) {
            char *own = strchr(w[1], '@');
            c.procedure_file = strtab_add(p->strings, own ? own + 1 : "");
            w[1][strcspn(w[1], "@")] = '\0';
            c.procedure = strtab_add(p->strings, strcmp(w[1], "-") ? w[1] : "");
            c.file = strtab_add(p->strings, strcmp(w[2], "-") ? w[2] : "");
            c.line = (uint32_t)atoi(w[3]);
        } else
            c.address = called_at(p, w[1], &c);
        uint64_t samples = strtoull(w[n - 1], NULL, 10);
        char *region = strchr(w[n - 2], '%');
        w[n - 2][strcspn(w[n - 2], "%")] = '\0';
        uint32_t event = event_of(p, w[n - 2]);
        struct hpcprof_count count = {.thread = thread,
                                      .context = hpcprof_add_context(p, &c),
                                      .event = event,
                                      .region = region ? region_of(p, region + 1, 0) : 0,
                                      .samples = samples,
                                      .value = p->events[event].period ? samples * 10 : samples};
        hpcprof_add_count(p, &count);
    }
    hpcprof_finish(p);
    mem_free(copy);
    return p;
}

/* ---- experiments to text ---------------------------------------------------------------------------- */

static inline void draw_value(struct buf *b, double v)
{
    if (isnan(v))
        buf_str(b, " .");
    else {
        buf_char(b, ' ');
        buf_double(b, v);
    }
}

static inline void draw_file(struct buf *b, const struct experiment *e, uint32_t file, uint32_t line)
{
    if (file != SOURCE_NONE)
        buf_printf(b, " %s:%u", strtab_get(e->strings, e->files[file].name), line);
    else if (line)
        buf_printf(b, " ?:%u", line);
}

/* One place a line: its kind and name, where it is, then inclusive and exclusive values of every metric. */
static inline char *drawn(const struct experiment *e)
{
    static const char *const kinds[] = {"program", "module", "file", "proc", "inline", "loop", "line"};
    struct buf b = {0};
    for (place_ix i = 0; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        for (place_ix up = p->parent; up != PLACE_NONE; up = e->places[up].parent)
            buf_char(&b, ' ');
        buf_str(&b, kinds[p->kind]);
        if (p->name)
            buf_printf(&b, " %s", strtab_get(e->strings, p->name));
        if (p->kind >= PLACE_PROC)
            draw_file(&b, e, p->file, p->line_first);
        if (p->kind == PLACE_INLINE) {
            buf_str(&b, " from");
            draw_file(&b, e, p->call_file, p->call_line);
        }
        if (p->instances > 1)
            buf_printf(&b, " %u/%u", p->instance, p->instances);
        if (p->on_line)
            buf_printf(&b, " #%u", p->on_line);
        buf_str(&b, " =");
        for (size_t m = 0; m < e->metric_count; m++) {
            draw_value(&b, experiment_value(e, m, i, VALUE_INCLUSIVE));
            draw_value(&b, experiment_value(e, m, i, VALUE_EXCLUSIVE));
        }
        buf_char(&b, '\n');
    }
    return b.bytes;
}

static inline char *drawn_metrics(const struct experiment *e)
{
    struct buf b = {0};
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct metric *m = &e->metrics[i];
        buf_printf(&b, "%s%s%s%s%s%s\n", strtab_get(e->strings, m->name), m->formula ? " = " : "",
                   strtab_get(e->strings, m->formula), m->percent ? " %" : "", m->display ? "" : " hidden",
                   m->sort_by ? " sorts" : "");
    }
    return b.bytes;
}

/* ---- experiments from drawings ---------------------------------------------------------------------- */

struct made {
    struct config *config;
    struct hpcprof *profiles[6];
    struct experiment *e;
    struct warnings *warnings;
    struct err err;
    int status;
};

/* Each drawing of samples is a run; one that begins with '+' is one more measurement of the run before. */
static inline struct made make(struct config *config, const char *const *samples,
                               const struct drawn_module *drawn_modules)
{
    struct made m = {.config = config, .warnings = warnings_create()};
    struct input inputs[ARRAY_SIZE(m.profiles)];
    size_t n = 0;
    uint32_t run = 0;
    struct structure_source source = {drawn_scopes, (void *)drawn_modules, NULL};
    for (; samples[n]; n++) {
        bool again = *samples[n] == '+';
        run += n && !again;
        inputs[n] = (struct input){.profile = m.profiles[n] = profile_from(samples[n] + again), .run = run};
        inputs[n].repetition = !again ? 0 : inputs[n - 1].repetition ? inputs[n - 1].repetition + 1 : 2;
        if (inputs[n].repetition == 2)
            inputs[n - 1].repetition = 1;
    }
    m.status = experiment_from(config, inputs, n, &source, NULL, &m.e, m.warnings, &m.err);
    return m;
}

static inline void release(struct made *m)
{
    for (size_t i = 0; i < ARRAY_SIZE(m->profiles); i++)
        hpcprof_free(m->profiles[i]);
    experiment_free(m->e);
    warnings_free(m->warnings);
    config_free(m->config);
}

/* The first line of the drawn tree: the program's values. */
static inline char *root_values(const struct experiment *e)
{
    char *text = drawn(e);
    char *line = mem_strndup(strstr(text, " ="), strcspn(strstr(text, " ="), "\n"));
    mem_free(text);
    return line;
}

static inline struct config *config_from(const char *body, size_t runs)
{
    struct config *c = NULL;
    struct err err = {0};
    char *text = mem_printf("<hpcview version='1'>%s%s%s</hpcview>", "<run name='a' measurements='a'/>",
                            runs > 1 ? "<run name='b' measurements='b'/>" : "", body);
    if (config_read_bytes(text, strlen(text), "c.xml", &c, NULL, &err) < 0)
        printf("# %s\n", err.msg);
    mem_free(text);
    return c;
}

#endif
