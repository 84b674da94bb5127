/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration itself, as filled by a file or the command line. */
#include "metrics/config/config_reader.h"

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
        return err_set(err, ERR_LIMIT, "%s: more than %d runs (LIMIT_RUNS); put the files of one run in one folder",
                       where, LIMIT_RUNS);
    if (*name && run_name_taken(c, name))
        return err_set(err, ERR_FORMAT, "%s: the run '%s' already exists; every run needs its own name", where, name);
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
        .only = said(r->only),
        .no_call_paths = r->no_call_paths,
        .phases = r->phases,
    };
}

int config_leave_out_run(struct config *c, size_t run, struct err *err)
{
    for (size_t i = 0; i < c->metrics.count; i++)
        if (c->metrics.items[i].run == run)
            return err_set(err, ERR_FORMAT, "%s: the metric '%s' needs the run '%s', which is not measured",
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
        return err_set(err, ERR_USAGE, "a comparison takes two runs, the base first, not %zu", c->runs.count);
    if (scaling && strcmp(scaling, "strong") != 0 && strcmp(scaling, "weak") != 0)
        return err_set(err, ERR_USAGE, "scaling must be strong or weak, not '%s'", scaling);
    c->compare = true;
    c->scaling = !scaling ? SCALING_NONE : *scaling == 's' ? SCALING_STRONG : SCALING_WEAK;
    return 0;
}

int config_add_gate(struct config *c, const char *formula, struct err *err)
{
    char *where = mem_printf("'%s'", formula);
    struct config_metric m = {.name = CONFIG_GATE, .formula = formula, .display = CHOICE_NO, .where = where};
    int status =
        *formula ? config_add_full_metric(c, &m, err) : err_set(err, ERR_USAGE, "the formula of --fail-if is empty");
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

int config_add_block_at(struct config *c, const char *name, const char *where, struct err *err)
{
    if (!*name)
        return err_set(err, ERR_USAGE, "%s%sa metric block needs a name: cpi, cache, ...", where, *where ? ": " : "");
    if (c->metrics.count == LIMIT_METRICS)
        return err_set(err, ERR_LIMIT, "%s: more than %d metrics (LIMIT_METRICS)", where, LIMIT_METRICS);
    struct config_metric m = {.block = kept(c, name), .where = kept(c, where), .run = RUN_ALL};
    m.name = m.display_name = m.unit = m.description = m.event = m.formula = m.region = m.run_name = "";
    *vec_push(&c->metrics) = m;
    return 0;
}

int config_add_block(struct config *c, const char *name, struct err *err)
{
    return config_add_block_at(c, name, "", err);
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
        return err_set(err, ERR_LIMIT, "%s: more than %d metrics (LIMIT_METRICS)", m.where, LIMIT_METRICS);
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
                          : err_set(err, ERR_USAGE, "'%s': the formula after '=' is missing", definition);
    if (status < 0 && err)
        err->kind = ERR_USAGE; /* a user typed it */
    mem_free(where);
    mem_free(name);
    return status;
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
