/* The configuration: what the file and the command line ask for. */
#include "metrics/config/config.h"

#include <sys/stat.h>

/* ---- the object ------------------------------------------------------------------ */

struct config *config_create(void)
{
    struct config *c = mem_calloc(1, sizeof *c);
    c->arena = arena_create();
    c->title = "";
    return c;
}

void config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->metrics.count; i++)
        expr_free(c->metrics.items[i].expr);
    vec_release(&c->runs);
    vec_release(&c->structures);
    vec_release(&c->debug_dirs);
    vec_release(&c->sources);
    vec_release(&c->replaces);
    vec_release(&c->roles);
    vec_release(&c->metrics);
    vec_release(&c->failed);
    expr_functions_release(&c->functions);
    arena_free(c->arena);
    mem_free(c);
}

void config_set_title(struct config *c, const char *title)
{
    c->title = arena_strdup(c->arena, title);
}

static bool run_name_taken(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->runs.count; i++)
        if (strcmp(c->runs.items[i].name, name) == 0)
            return true;
    return false;
}

/* "out/gcc.measurements/" is the run "gcc". */
static char *run_name_from(const char *path)
{
    static const char *const endings[] = {".measurements", "-measurements", ".hpcprof", ".m", ".data", ".db", ".html"};
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *whole = mem_strndup(path, n);
    char *name = mem_strdup(path_base(whole));
    mem_free(whole);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (str_ends(name, endings[i]) && strlen(name) > strlen(endings[i]))
            name[strlen(name) - strlen(endings[i])] = '\0';
    return name;
}

int config_add_run(struct config *c, const char *name, const char *path, const char *where, struct err *err)
{
    if (*where && c->runs.count >= LIMIT_RUNS)
        return err_set(err, ERR_LIMIT,
                       "%s: there are more than %d runs (LIMIT_RUNS); the files of one run belong into one folder",
                       where, LIMIT_RUNS);
    if (*name && run_name_taken(c, name))
        return err_set(err, ERR_FORMAT, "%s: there is a run '%s' already; every run needs its own name", where, name);
    char *own = *name ? mem_strdup(name) : run_name_from(path);
    const char *chosen = arena_strdup(c->arena, own);
    for (unsigned k = 2; run_name_taken(c, chosen); k++)
        chosen = arena_printf(c->arena, "%s-%u", own, k);
    mem_free(own);
    *vec_push(&c->runs) = (struct config_run){
        .name = chosen, .path = arena_strdup(c->arena, path), .where = arena_strdup(c->arena, where)};
    return 0;
}

size_t config_run_count(const struct config *c)
{
    return c->runs.count;
}

static const char *said(const char *s)
{
    return s ? s : "";
}

struct config_recipe config_recipe(const struct config *c, size_t run)
{
    const struct config_run *r = &c->runs.items[run];
    return (struct config_recipe){
        .name = r->name,
        .measurements = r->path,
        .where = r->where,
        .command = said(r->command),
        .folder = said(r->folder),
        .environment = said(r->environment),
        .events = said(r->events),
        .threads = said(r->threads),
        .host = said(r->host),
        .repetitions = said(r->repetitions),
        .no_call_paths = r->no_call_paths,
    };
}

int config_leave_out_run(struct config *c, size_t run, struct err *err)
{
    for (size_t i = 0; i < c->metrics.count; i++)
        if (c->metrics.items[i].run == run)
            return err_set(err, ERR_FORMAT, "%s: the metric '%s' wants the run '%s', which is not measured",
                           c->metrics.items[i].where, c->metrics.items[i].name, c->runs.items[run].name);
    for (size_t i = 0; i < c->metrics.count; i++)
        if (c->metrics.items[i].run != RUN_ALL && c->metrics.items[i].run > run)
            c->metrics.items[i].run--;
    for (size_t i = run; i + 1 < c->runs.count; i++)
        c->runs.items[i] = c->runs.items[i + 1];
    c->runs.count--;
    return 0;
}

void config_add_measurement(struct config *c, const char *path)
{
    config_add_run(c, "", path, "", NULL);
}

void config_add_structure(struct config *c, const char *path)
{
    *vec_push(&c->structures) = arena_strdup(c->arena, path);
}

void config_add_source_view(struct config *c, const char *dir, const char *view)
{
    bool subfolders = str_ends(dir, "/*") || strcmp(dir, "*") == 0;
    char *plain = mem_strndup(dir, strlen(dir) - (subfolders ? 1 : 0));
    char *normal = path_normal(plain);
    *vec_push(&c->sources) =
        (struct config_path){arena_strdup(c->arena, normal), arena_strdup(c->arena, view), subfolders};
    mem_free(normal);
    mem_free(plain);
}

void config_add_source_path(struct config *c, const char *dir)
{
    config_add_source_view(c, dir, "");
}

void config_add_replace(struct config *c, const char *in, const char *out)
{
    /* As in HPCVIEW: whole components are replaced, so both sides end in a slash. */
    bool slash = *in && !str_ends(in, "/");
    *vec_push(&c->replaces) =
        (struct config_replace){arena_printf(c->arena, "%s%s", in, slash ? "/" : ""),
                                arena_printf(c->arena, "%s%s", out, *out && !str_ends(out, "/") ? "/" : "")};
}

char *config_replaced(const struct config *c, const char *path)
{
    for (size_t i = 0; i < c->replaces.count; i++) {
        const struct config_replace *r = &c->replaces.items[i];
        if (str_starts(path, r->in) && strlen(path) > strlen(r->in))
            return mem_printf("%s%s", r->out, path + strlen(r->in));
    }
    return mem_strdup(path);
}

void config_add_debug_dir(struct config *c, const char *dir)
{
    *vec_push(&c->debug_dirs) = arena_strdup(c->arena, dir);
}

void config_judge_loops(struct config *c, const char *folder, const char *machine)
{
    c->machines = arena_strdup(c->arena, folder);
    c->machine = machine ? arena_strdup(c->arena, machine) : NULL;
}

void config_ask_llvm(struct config *c, const struct quality_tools *tools)
{
    c->llvm = tools;
}

void config_list_instructions(struct config *c)
{
    c->instructions = true;
}

void config_set_threads(struct config *c, unsigned threads)
{
    c->threads = threads;
}

void config_set_reader(struct config *c, const struct experiment_reader *reader)
{
    c->reader = reader;
}

void config_set_ranks(struct config *c, const struct ranks *ranks)
{
    c->ranks = ranks;
}

void config_set_per_thread(struct config *c, bool per_thread)
{
    c->per_thread = per_thread;
}

void config_set_thread_values(struct config *c, bool thread_values)
{
    c->thread_values = thread_values;
}

void config_set_fold_recursion(struct config *c, bool fold)
{
    c->fold_recursion = fold;
}

int config_compare(struct config *c, const char *scaling, struct err *err)
{
    if (c->runs.count != 2)
        return err_set(err, ERR_USAGE, "a comparison is of two runs, the base first; available: %zu", c->runs.count);
    if (scaling && strcmp(scaling, "strong") != 0 && strcmp(scaling, "weak") != 0)
        return err_set(err, ERR_USAGE, "scaling is strong or weak, not '%s'", scaling);
    c->compare = true;
    c->scaling = !scaling ? SCALING_NONE : *scaling == 's' ? SCALING_STRONG : SCALING_WEAK;
    return 0;
}

int config_add_gate(struct config *c, const char *formula, struct err *err)
{
    char *where = mem_printf("'%s'", formula);
    struct config_metric m = {.name = CONFIG_GATE, .formula = formula, .display = CHOICE_NO, .where = where};
    int status = *formula ? config_add_full_metric(c, &m, err) : err_set(err, ERR_USAGE, "an empty formula is no gate");
    if (status < 0 && err)
        err->kind = ERR_USAGE; /* a user typed it */
    mem_free(where);
    return status;
}

void config_set_blocks(struct config *c, const struct blocks *blocks)
{
    c->known_blocks = blocks;
}

static const char *kept(struct config *c, const char *s)
{
    return s ? arena_strdup(c->arena, s) : "";
}

static int add_block(struct config *c, const char *name, const char *where, struct err *err)
{
    if (!*name)
        return err_set(err, ERR_USAGE, "%s%sa block of metrics has a name: cpi, cache, ...", where, *where ? ": " : "");
    if (c->metrics.count == LIMIT_METRICS)
        return err_set(err, ERR_LIMIT, "%s: there are more than %d metrics (LIMIT_METRICS)", where, LIMIT_METRICS);
    struct config_metric m = {.block = kept(c, name), .where = kept(c, where), .run = RUN_ALL};
    m.name = m.display_name = m.unit = m.description = m.event = m.formula = m.region = m.run_name = "";
    *vec_push(&c->metrics) = m;
    return 0;
}

int config_add_block(struct config *c, const char *name, struct err *err)
{
    return add_block(c, name, "", err);
}

void config_add_all_blocks(struct config *c)
{
    c->all_blocks = !c->from_file;
}

void config_name_runs(struct config *c, const char *const *names)
{
    for (size_t i = 0; i < c->runs.count && names[i]; i++)
        c->runs.items[i].name = arena_strdup(c->arena, names[i]);
}

void config_want_statistics(struct config *c, const char *const *names)
{
    c->wanted_statistics = names;
}

int config_add_statistics(struct config *c, const char *over, struct err *err)
{
    enum statistic_over which;
    if (statistic_over_parse(over, &which, err) < 0)
        return -1;
    c->statistics[which] = true;
    return 0;
}

int config_add_full_metric(struct config *c, const struct config_metric *given, struct err *err)
{
    struct config_metric m = *given;
    if (c->metrics.count == LIMIT_METRICS)
        return err_set(err, ERR_LIMIT, "%s: there are more than %d metrics (LIMIT_METRICS)", m.where, LIMIT_METRICS);
    for (size_t i = 0; i < c->metrics.count; i++)
        if (strcmp(c->metrics.items[i].name, m.name) == 0)
            return err_set(err, ERR_FORMAT, "%s: the metric '%s' is defined twice; first at %s", m.where, m.name,
                           c->metrics.items[i].where);
    m.name = kept(c, m.name);
    m.block = "";
    m.display_name = kept(c, m.display_name);
    m.unit = kept(c, m.unit);
    m.description = kept(c, m.description);
    m.event = kept(c, m.event);
    m.formula = kept(c, m.formula);
    m.run_name = kept(c, m.run_name);
    m.region = kept(c, m.region);
    m.where = kept(c, m.where);
    m.run = RUN_ALL;
    m.expr = NULL;
    if (*m.formula) {
        char *what = mem_printf("%s: %s", m.where, m.name);
        int status = expr_parse_with(m.formula, what, &c->functions, &m.expr, err);
        mem_free(what);
        if (status < 0)
            return -1;
    }
    *vec_push(&c->metrics) = m;
    return 0;
}

int config_add_metric(struct config *c, const char *definition, struct err *err)
{
    const char *formula;
    char *name;
    if (expr_split_definition(definition, &name, &formula, err) < 0)
        return -1;
    char *where = mem_printf("'%s'", definition);
    struct config_metric m = {.name = name, .formula = formula, .where = where};
    int status = *formula ? config_add_full_metric(c, &m, err)
                          : err_set(err, ERR_USAGE, "'%s': there is no formula after '='", definition);
    if (status < 0 && err)
        err->kind = ERR_USAGE; /* a user typed it */
    mem_free(where);
    mem_free(name);
    return status;
}

/* ---- reading any format ------------------------------------------------------------ */

const char *config_where(struct config_reader *r, uint64_t line)
{
    return arena_printf(r->config->arena, "%s:%llu", r->name, (unsigned long long)line);
}

const char *config_path(struct config_reader *r, const char *path)
{
    char *joined = path_join(r->folder, path);
    const char *lasting = arena_strdup(r->config->arena, joined);
    mem_free(joined);
    return lasting;
}

const char *config_attribute(struct config_reader *r, const struct xml_event *event, const char *name)
{
    const char *value = xml_attr_get(event, name);
    return value ? arena_strdup(r->config->arena, value) : "";
}

int config_flag(struct config_reader *r, const struct xml_event *event, const char *attribute, uint8_t *choice,
                struct err *err)
{
    const char *value = xml_attr_get(event, attribute);
    *choice = CHOICE_OPEN;
    if (!value)
        return 0;
    if (strcmp(value, "yes") == 0 || strcmp(value, "true") == 0)
        *choice = CHOICE_YES;
    else if (strcmp(value, "no") == 0 || strcmp(value, "false") == 0)
        *choice = CHOICE_NO;
    else
        return err_set(err, ERR_FORMAT, "%s: %s is yes or no, not '%s'", config_where(r, event->line), attribute,
                       value);
    return 0;
}

static const struct config_element *find_element(const struct config_reader *r, const char *name, const char *parent)
{
    for (const struct config_element *e = r->elements; e->name; e++)
        if (strcmp(e->name, name) == 0 && (parent ? e->parent && strcmp(e->parent, parent) == 0 : !e->parent))
            return e;
    return NULL;
}

static int no_such_element(struct config_reader *r, const struct xml_event *event, const char *parent, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    struct buf list = {0};
    for (const struct config_element *e = r->elements; e->name && n < ARRAY_SIZE(names) - 1; e++)
        if (e->parent && strcmp(e->parent, parent) == 0) {
            buf_printf(&list, "%s%s", n ? ", " : "", e->name);
            names[n++] = e->name;
        }
    names[n] = NULL;
    const char *near = str_nearest(event->element, names);
    const char *where = config_where(r, event->line);
    if (near)
        err_set(err, ERR_FORMAT, "%s: <%s> is not known in <%s>; did you mean <%s>?", where, event->element, parent,
                near);
    else if (n)
        err_set(err, ERR_FORMAT, "%s: <%s> is not known in <%s>; available: %s", where, event->element, parent,
                list.bytes);
    else
        err_set(err, ERR_FORMAT, "%s: <%s> holds no elements, but there is <%s>", where, parent, event->element);
    buf_release(&list);
    return -1;
}

/* Is `name` (n bytes) among the blank-separated words; *required: with a '!'. */
static bool attribute_known(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        size_t bare = len - (len && w[len - 1] == '!');
        if (bare == n && memcmp(w, name, n) == 0)
            return true;
        w += len;
    }
    return false;
}

static int no_such_attribute(struct config_reader *r, const struct config_element *e, const char *name, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    char *words = mem_strdup(e->attributes), *rest = words, *word;
    while ((word = strsep(&rest, " !")) && n < ARRAY_SIZE(names) - 1)
        if (*word)
            names[n++] = word;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    err_set(err, ERR_FORMAT, "%s: <%s> has no attribute '%s'%s%s%s", config_where(r, r->line), e->name, name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    mem_free(words);
    return -1;
}

static int check_required(struct config_reader *r, const struct config_element *e, const struct xml_event *event,
                          struct err *err)
{
    int status = 0;
    for (const char *w = e->attributes; *w && status == 0; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        if (len && w[len - 1] == '!') {
            char *name = mem_strndup(w, len - 1);
            const char *value = xml_attr_get(event, name);
            if (!value || (*value == '\0' && strcmp(name, "in") != 0))
                status = err_set(err, ERR_FORMAT, "%s: <%s> lacks its attribute '%s'", config_where(r, event->line),
                                 e->name, name);
            mem_free(name);
        }
        w += len;
    }
    return status;
}

/* What is written wrong is also what is lacking: only where nothing is unknown is asked what lacks. */
static int check_attributes(struct config_reader *r, const struct config_element *e, const struct xml_event *event,
                            struct err *err)
{
    struct err_gathered found = {0};
    for (size_t i = 0; i < event->attr_count; i++)
        if (!attribute_known(e->attributes, event->attrs[i].name) &&
            no_such_attribute(r, e, event->attrs[i].name, err) < 0 && !err_gather(&found, err))
            return -1;
    return found.count ? err_gathered(&found, err) : check_required(r, e, event, err);
}

static int pick_format(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (strcmp(event->element, "hpcview") == 0)
        r->elements = config_elements;
    else if (strcmp(event->element, "HPCVIEW") == 0 || strcmp(event->element, "HPCPROF") == 0)
        r->elements = config_elements_hpcview3;
    else
        return err_set(err, ERR_FORMAT,
                       "%s: is not a configuration: its root element is <%s>; <hpcview>, or <HPCVIEW> of the original "
                       "HPCView, is wanted",
                       config_where(r, event->line), event->element);
    return 0;
}

static int begin_element(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (r->in_math)
        return mathml_begin(r->math, event, config_where(r, event->line), err);
    if (!r->elements && pick_format(r, event, err) < 0)
        return -1;
    const char *parent = r->open.count ? r->open.items[r->open.count - 1]->name : NULL;
    const struct config_element *e = find_element(r, event->element, parent);
    if (!e)
        return no_such_element(r, event, parent ? parent : "", err);
    *vec_push(&r->open) = e;
    if (check_attributes(r, e, event, err) < 0)
        return -1;
    if (strcmp(e->name, "math") == 0) {
        if (r->math)
            return err_set(err, ERR_FORMAT, "%s: a metric has one formula; this is a second",
                           config_where(r, event->line));
        r->math = mathml_create();
        r->in_math = true;
    }
    return e->begin ? e->begin(r, event, err) : 0;
}

static int end_math(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *formula = mathml_finish(r->math, config_where(r, event->line), err);
    r->in_math = false;
    return formula ? config_take_formula(r, formula, event->line, err) : -1;
}

static bool blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static int end_element(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (r->in_math && strcmp(event->element, "math") != 0)
        return mathml_end(r->math, event, config_where(r, event->line), err);
    const struct config_element *e = r->open.items[--r->open.count];
    if (r->in_math)
        return end_math(r, event, err);
    if (!e->text && !blank(event->text))
        return err_set(err, ERR_FORMAT, "%s: <%s> holds no text", config_where(r, event->line), e->name);
    return e->end ? e->end(r, event, err) : 0;
}

enum { DEPTH_OF_PARTS = 2 }; /* what is in the root: each is read, or has an error, by itself */

static void begin_part(struct config_reader *r, const struct xml_event *event)
{
    const char *name = xml_attr_get(event, "name");
    name = name ? name : xml_attr_get(event, "event");
    r->part = arena_strdup(r->config->arena, name ? name : "");
    r->part_has_runs = r->elements != config_elements || strcmp(event->element, "run") == 0;
}

/* After an error the part that has it is passed over, and the next one read: all errors are told at once. */
static int next_part(struct config_reader *r, struct err *err)
{
    if (r->depth < DEPTH_OF_PARTS || !err_gather(&r->errors, err))
        return -1;
    r->failed = DEPTH_OF_PARTS;
    r->config->lacks_runs = r->config->lacks_runs || r->part_has_runs;
    if (*r->part)
        *vec_push(&r->config->failed) = r->part;
    r->in_math = false;
    if (r->open.count > DEPTH_OF_PARTS - 1)
        r->open.count = DEPTH_OF_PARTS - 1;
    return 0;
}

static int on_begin(void *ctx, const struct xml_event *event, struct err *err)
{
    struct config_reader *r = ctx;
    r->line = event->line;
    r->depth++;
    if (r->depth == DEPTH_OF_PARTS)
        begin_part(r, event);
    if (r->failed || begin_element(r, event, err) == 0)
        return 0;
    return next_part(r, err);
}

static int on_end(void *ctx, const struct xml_event *event, struct err *err)
{
    struct config_reader *r = ctx;
    r->line = event->line;
    int status = r->failed || end_element(r, event, err) == 0 ? 0 : next_part(r, err);
    if (r->failed == r->depth)
        r->failed = 0;
    r->depth--;
    return status;
}

/* Names in measured metrics, now that all runs are known. */
static int resolve_runs(struct config_reader *r, struct err *err)
{
    struct config *c = r->config;
    for (size_t i = 0; i < c->metrics.count; i++) {
        struct config_metric *m = &c->metrics.items[i];
        if (*m->run_name == '\0')
            continue;
        for (size_t k = 0; k < c->runs.count; k++)
            if (strcmp(c->runs.items[k].name, m->run_name) == 0)
                m->run = (uint32_t)k;
        if (m->run != RUN_ALL)
            continue;
        err_set(err, ERR_FORMAT, "%s: there is no run '%s' for the metric '%s'", m->where, m->run_name, m->name);
        if (!err_gather(&r->errors, err))
            return -1;
    }
    return 0;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup("");
}

static int is_there(const char *path, const char *where, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return 0;
    err_errno(err, path, "cannot be opened");
    return *where ? err_in(err, "%s", where) : -1;
}

bool config_is_sound(const struct config *c)
{
    return c->errors.count == 0;
}

int config_check(const struct config *c, struct err *err)
{
    struct err_gathered errors = c->errors;
    if (errors.count)
        config_gather_missing(c, false, &errors, err);
    return err_gathered(&errors, err);
}

int config_gather_missing(const struct config *c, bool planned, struct err_gathered *missing, struct err *err)
{
    for (size_t i = 0; i < c->runs.count; i++) {
        const struct config_run *run = &c->runs.items[i];
        bool wanted = planned || !run->command || !*run->command;
        if (wanted && is_there(run->path, run->where, err) < 0 && !err_gather(missing, err))
            return -1;
    }
    for (size_t i = 0; i < c->structures.count; i++)
        if (is_there(c->structures.items[i], "", err) < 0 && !err_gather(missing, err))
            return -1;
    return 0;
}

/* A configuration with errors is not used, but where its files are at hand it waits until all errors are known. */
static int read_bytes(const void *bytes, size_t len, const char *name, bool with_files, struct config **result,
                      struct warnings *warnings, struct err *err)
{
    struct err own = {0};
    char *folder = folder_of(name);
    struct config_reader r = {
        .config = config_create(), .name = name, .folder = folder, .warnings = warnings, .part = ""};
    struct xml_handler handler = {on_begin, on_end, &r};
    struct err *e = err ? err : &own;
    int status = len ? xml_read(bytes, len, name, &handler, e)
                     : err_set(e, ERR_FORMAT, "%s: is empty; a configuration is wanted", name);
    if (status == 0 && r.elements == config_elements_hpcview3)
        status = config_finish_hpcview3(&r, e);
    if (status == 0)
        status = resolve_runs(&r, e);
    r.config->from_file = true;
    r.config->errors = r.errors;
    if (r.errors.count && (status < 0 || !with_files)) { /* not well-formed further on: that is one more */
        if (status < 0)
            err_gather(&r.config->errors, e);
        status = with_files ? config_check(r.config, e) : err_gathered(&r.config->errors, e);
    }
    mathml_free(r.math);
    vec_release(&r.open);
    mem_free(folder);
    *result = status == 0 ? r.config : NULL;
    if (status < 0)
        config_free(r.config);
    return status;
}

int config_read_bytes(const void *bytes, size_t len, const char *name, struct config **result,
                      struct warnings *warnings, struct err *err)
{
    return read_bytes(bytes, len, name, false, result, warnings, err);
}

int config_read(const char *path, struct config **result, struct warnings *warnings, struct err *err)
{
    struct filemap map;
    int status;
    *result = NULL;
    if (filemap_open(&map, path, err) < 0)
        return -1;
    if (map.len > LIMIT_CONFIG_BYTES)
        status = err_set(err, ERR_LIMIT, "%s: is larger than %u bytes (LIMIT_CONFIG_BYTES); is it a configuration?",
                         path, LIMIT_CONFIG_BYTES);
    else
        status = read_bytes(map.bytes, map.len, path, true, result, warnings, err);
    filemap_release(&map);
    return status;
}

int config_take_formula(struct config_reader *r, const char *formula, uint64_t line, struct err *err)
{
    if (r->has_body)
        return err_set(err, ERR_FORMAT, "%s: a metric has one formula; this is a second", config_where(r, line));
    if (blank(formula))
        return err_set(err, ERR_FORMAT, "%s: the formula is empty", config_where(r, line));
    r->has_body = true;
    r->metric.formula = arena_strdup(r->config->arena, formula);
    return 0;
}

/* ---- our own format (doc/formats/configuration.md) --------------------------------- */

static int begin_root(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *version = config_attribute(r, event, "version");
    if (strcmp(version, "1") != 0)
        return err_set(err, ERR_UNSUPPORTED, "%s: is a configuration of version '%s'; this hpcview reads version 1",
                       config_where(r, event->line), version);
    return 0;
}

static int end_title(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *title = str_trimmed(event->text);
    (void)err;
    config_set_title(r->config, title);
    mem_free(title);
    return 0;
}

static int begin_sources(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_source_view(r->config, config_path(r, config_attribute(r, event, "path")),
                           config_attribute(r, event, "show-as"));
    return 0;
}

int config_begin_replace(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *in = config_attribute(r, event, "in"), *out = config_attribute(r, event, "out");
    (void)err;
    if (strcmp(in, out) == 0)
        warnings_add(r->warnings, "%s: replacing '%s' by itself does nothing", config_where(r, event->line), in);
    else
        config_add_replace(r->config, in, *out ? config_path(r, out) : "");
    return 0;
}

static int begin_module(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *name = config_attribute(r, event, "name"), *role = config_attribute(r, event, "role");
    (void)err;
    *vec_push(&r->config->roles) =
        (struct config_role){arena_strdup(r->config->arena, name), arena_strdup(r->config->arena, role)};
    return 0;
}

static int check_number(struct config_reader *r, const struct xml_event *event, const char *name, struct err *err)
{
    const char *number = config_attribute(r, event, name);
    unsigned long n = strtoul(number, NULL, 10);
    if (*number && (number[strspn(number, "0123456789")] != '\0' || n == 0 || n > LIMIT_RUNS))
        return err_set(err, ERR_FORMAT, "%s: %s is a number from 1 to %u, not '%s'", config_where(r, event->line), name,
                       LIMIT_RUNS, number);
    return 0;
}

static int begin_run(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    uint8_t call_paths;
    const char *threads = config_attribute(r, event, "threads"), *folder = config_attribute(r, event, "folder");
    if (config_flag(r, event, "call-paths", &call_paths, err) < 0)
        return -1;
    if (check_number(r, event, "threads", err) < 0 || check_number(r, event, "repetitions", err) < 0)
        return -1;
    if (config_add_run(r->config, config_attribute(r, event, "name"),
                       config_path(r, config_attribute(r, event, "measurements")), config_where(r, event->line),
                       err) < 0)
        return -1;
    struct config_run *run = &r->config->runs.items[r->config->runs.count - 1];
    run->command = config_attribute(r, event, "command");
    run->folder = *folder ? config_path(r, folder) : *r->folder ? arena_strdup(r->config->arena, r->folder) : "";
    run->environment = config_attribute(r, event, "environment");
    run->events = config_attribute(r, event, "events");
    run->threads = threads;
    run->repetitions = config_attribute(r, event, "repetitions");
    run->host = config_attribute(r, event, "host");
    run->no_call_paths = call_paths == CHOICE_NO;
    return 0;
}

static int begin_structure(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_structure(r->config, config_path(r, config_attribute(r, event, "file")));
    return 0;
}

static int begin_block(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    return add_block(r->config, config_attribute(r, event, "block"), config_where(r, event->line), err);
}

static int begin_debug(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_debug_dir(r->config, config_path(r, config_attribute(r, event, "path")));
    return 0;
}

int config_begin_metric(struct config_reader *r, const struct xml_event *event, const char *display_name,
                        const char *sort, struct err *err)
{
    struct config_metric *m = &r->metric;
    mathml_free(r->math);
    r->math = NULL;
    *m = (struct config_metric){.where = config_where(r, event->line)};
    m->name = config_attribute(r, event, "name");
    m->display_name = config_attribute(r, event, display_name);
    m->unit = config_attribute(r, event, "unit");
    r->has_body = false;
    if (config_flag(r, event, "percent", &m->percent, err) < 0 ||
        config_flag(r, event, "display", &m->display, err) < 0 || config_flag(r, event, sort, &m->sort_by, err) < 0)
        return -1;
    return 0;
}

static int begin_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    return config_begin_metric(r, event, "display-name", "sort", err);
}

static int begin_measured(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (begin_metric(r, event, err) < 0)
        return -1;
    r->metric.event = config_attribute(r, event, "event");
    r->metric.run_name = config_attribute(r, event, "run");
    r->metric.region = config_attribute(r, event, "region");
    if (*r->metric.name == '\0')
        r->metric.name = r->metric.event;
    return 0;
}

static int begin_computed(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (begin_metric(r, event, err) < 0)
        return -1;
    const char *from = config_attribute(r, event, "evaluate");
    if (*from && strcmp(from, "sums") != 0 && strcmp(from, "lines") != 0)
        return err_set(err, ERR_FORMAT, "%s: evaluate is 'sums' or 'lines', not '%s'", r->metric.where, from);
    r->metric.by_line = strcmp(from, "lines") == 0;
    const char *formula = xml_attr_get(event, "formula");
    return formula ? config_take_formula(r, formula, event->line, err) : 0;
}

static int begin_function(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *name = config_attribute(r, event, "name");
    char *what = mem_printf("%s: function %s", config_where(r, event->line), name);
    int status = expr_functions_add(&r->config->functions, name, config_attribute(r, event, "parameters"),
                                    config_attribute(r, event, "formula"), what, err);
    mem_free(what);
    return status;
}

static int end_description(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *text = str_trimmed(event->text);
    (void)err;
    r->metric.description = arena_strdup(r->config->arena, text);
    mem_free(text);
    return 0;
}

static int end_formula(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *text = str_trimmed(event->text);
    int status = config_take_formula(r, text, event->line, err);
    mem_free(text);
    return status;
}

static int end_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)event;
    if (!r->metric.event && !r->has_body)
        return err_set(err, ERR_FORMAT, "%s: the computed metric '%s' has no formula", r->metric.where, r->metric.name);
    return config_add_full_metric(r->config, &r->metric, err);
}

const struct config_element config_elements[] = {
    {"hpcview", NULL, "version!", false, begin_root, NULL},
    {"title", "hpcview", "", true, NULL, end_title},
    {"sources", "hpcview", "path! show-as", false, begin_sources, NULL},
    {"replace", "hpcview", "in! out", false, config_begin_replace, NULL},
    {"module", "hpcview", "name! role!", false, begin_module, NULL},
    {"run", "hpcview", "measurements! name command folder environment events threads call-paths host repetitions",
     false, begin_run, NULL},
    {"structure", "hpcview", "file!", false, begin_structure, NULL},
    {"debug", "hpcview", "path!", false, begin_debug, NULL},
    {"measured", "hpcview", "event! name run region display-name unit percent display sort", false, begin_measured,
     end_metric},
    {"description", "measured", "", true, NULL, end_description},
    {"computed", "hpcview", "name! formula evaluate display-name unit percent display sort", false, begin_computed,
     end_metric},
    {"description", "computed", "", true, NULL, end_description},
    {"formula", "computed", "", true, NULL, end_formula},
    {"math", "computed", "", false, NULL, NULL},
    {"function", "hpcview", "name! parameters! formula!", false, begin_function, NULL},
    {"metrics", "hpcview", "block!", false, begin_block, NULL},
    {0},
};
