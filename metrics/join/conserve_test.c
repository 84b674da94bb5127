/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariants of all measurements: nothing is lost or counted twice. Programs and samples are random, and the experiment
 * is compared with independent sums.
 */
#include "metrics/join/join.h"
#include "tests/tap.h"

#include <math.h>

static uint64_t state;

static uint32_t any(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* ---- programs ------------------------------------------------------------------------------------- */

enum { MODULES = 3, PROCS = 6, BLOCK = 16, BLOCKS = 12 };

static void add_scope(struct scope_tree *t, struct scope s, vaddr begin, vaddr end)
{
    s.range_first = (uint32_t)t->range_count;
    s.range_count = end > begin;
    if (end > begin) {
        t->ranges = mem_realloc(t->ranges, t->range_count + 1, sizeof *t->ranges);
        t->ranges[t->range_count++] = (struct addr_range){begin, end};
    }
    t->scopes = mem_realloc(t->scopes, t->scope_count + 1, sizeof *t->scopes);
    t->scopes[t->scope_count++] = s;
}

/* Loops, inlined calls and statements, in each other as it comes. */
static void add_body(struct scope_tree *t, scope_ix proc, str_id file, vaddr base, const char *prefix)
{
    scope_ix around = proc;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t line = 1 + any(40);
        struct scope s = {.parent = around, .file = file, .line_first = line, .line_last = line + any(9)};
        uint32_t what = any(6);
        if (what == 0)
            around = proc;
        if (what == 1 || what == 2) {
            s.kind = what == 1 ? SCOPE_LOOP : SCOPE_INLINE;
            s.entry = base + b * BLOCK;
            s.instance = s.instances = what == 1;
            if (what == 2) {
                char *name = mem_printf("%sinlined%u", prefix, any(3));
                s.name = s.short_name = strtab_add(t->strings, name);
                s.call_file = file;
                s.call_line = 1 + any(40);
                mem_free(name);
            }
            around = (scope_ix)t->scope_count;
            add_scope(t, s, 0, 0);
        }
        struct scope stmt = {.kind = SCOPE_STMT, .parent = around, .file = file, .line_first = any(4) ? line : 0};
        add_scope(t, stmt, base + b * BLOCK, base + b * BLOCK + BLOCK / 2); /* the rest is of the procedure alone */
    }
}

static struct scope_tree *any_tree(uint64_t seed, const char *prefix)
{
    struct scope_tree *t = scope_tree_create();
    state = seed;
    add_scope(t, (struct scope){.kind = SCOPE_MODULE, .parent = SCOPE_NONE, .name = strtab_add(t->strings, "module")},
              0, 0);
    for (uint32_t p = 0; p < PROCS; p++) {
        char *file = mem_printf("/src/%sfile%u.c", prefix, p / 2), *name = mem_printf("%sproc%u", prefix, p);
        str_id file_id = strtab_add(t->strings, file), name_id = strtab_add(t->strings, name);
        scope_ix file_scope = (scope_ix)t->scope_count - 1;
        if (p % 2 == 0) {
            file_scope = (scope_ix)t->scope_count;
            add_scope(t, (struct scope){.kind = SCOPE_FILE, .parent = 0, .name = file_id}, 0, 0);
        } else
            while (t->scopes[file_scope].kind != SCOPE_FILE)
                file_scope--;
        vaddr base = 0x1000 * (p + 1);
        scope_ix proc = (scope_ix)t->scope_count;
        add_scope(t,
                  (struct scope){.kind = SCOPE_PROC,
                                 .parent = file_scope,
                                 .name = name_id,
                                 .short_name = name_id,
                                 .link_name = name_id,
                                 .file = file_id,
                                 .line_first = 1,
                                 .line_last = 60,
                                 .entry = base},
                  base, base + BLOCKS * BLOCK);
        add_body(t, proc, file_id, base, prefix);
        mem_free(file);
        mem_free(name);
    }
    return t;
}

struct program {
    uint64_t seed;
    const char *folder, *prefix; /* of its modules; before the names of its files and functions */
};

static void scopes(void *ctx, struct module *m, const struct strtab *strings, const struct sampled *sampled,
                   struct warnings *warnings)
{
    const struct program *program = ctx;
    const char *name = path_base(strtab_get(strings, m->path));
    (void)warnings;
    if (sampled->count == 0 || str_ends(name, "0")) { /* the first module has no structure */
        m->state = STRUCTURE_NONE;
        return;
    }
    uint64_t kept = state;
    m->tree = any_tree(program->seed + (unsigned char)name[strlen(name) - 1], program->prefix);
    m->state = STRUCTURE_FOUND;
    state = kept;
}

/* ---- samples ---------------------------------------------------------------------------------------- */

enum { PARTS_MOST = 4, EVENTS = 2 };

static struct hpcprof *new_part(void)
{
    struct hpcprof *p = hpcprof_create();
    struct hpcprof_process process = {.command = strtab_add(p->strings, "/bin/app"), .rank = -1, .complete = true};
    struct hpcprof_thread t = {.process = hpcprof_add_process(p, &process)};
    hpcprof_add_thread(p, &t);
    for (uint32_t e = 0; e < EVENTS; e++)
        hpcprof_add_event(
            p, &(struct hpcprof_event){.name = strtab_add(p->strings, e ? "MISS" : "CYC"), .period = e ? 0 : 1000});
    return p;
}

/* One sample in one of `parts` measurements and one of several threads, as chosen by `where`. */
static void add_sample(struct hpcprof *const *parts, size_t part_count, const struct program *program, uint32_t where)
{
    struct hpcprof *p = parts[where % part_count];
    uint32_t event = any(EVENTS), samples = 1 + any(1000);
    char *module = mem_printf("%s/module%u", program->folder, any(MODULES));
    struct hpcprof_context context = {.parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, module, "")};
    context.address = 0x1000 * (1 + any(PROCS + 1)) + any(BLOCKS * BLOCK + 40); /* some in no procedure */
    if (where / part_count % 5 == 0 && p->thread_count < 6)
        hpcprof_add_thread(p, &(struct hpcprof_thread){.process = 0, .number = (uint32_t)p->thread_count});
    struct hpcprof_count count = {.thread = (uint32_t)(where / part_count % p->thread_count),
                                  .context = hpcprof_add_context(p, &context),
                                  .event = event,
                                  .samples = samples,
                                  .value = event ? samples : 1000ull * samples};
    hpcprof_add_count(p, &count);
    mem_free(module);
}

struct made {
    struct experiment *e;
    uint64_t sums[EVENTS]; /* of the samples */
};

/* The same seed gives the same samples, regardless of the program's name and of the distribution over files. */
static struct made make(const struct program *program, size_t parts, uint32_t deal)
{
    struct made m = {0};
    struct input inputs[PARTS_MOST];
    struct hpcprof *profiles[PARTS_MOST];
    struct structure_source source = {scopes, (void *)(uintptr_t)program, NULL};
    struct warnings *warnings = warnings_create();
    struct config *config = config_create();
    struct err err = {0};
    config_add_run(config, "r", "r", "", NULL);
    for (size_t i = 0; i < parts; i++)
        profiles[i] = new_part();
    state = program->seed;
    for (uint32_t i = 0, n = 1 + any(400); i < n; i++)
        add_sample(profiles, parts, program, i * deal);
    for (size_t i = 0; i < parts; i++) {
        hpcprof_finish(profiles[i]);
        inputs[i] = (struct input){.profile = profiles[i]};
        for (size_t k = 0; k < profiles[i]->count_count; k++)
            m.sums[profiles[i]->counts[k].event] += profiles[i]->counts[k].value;
    }
    if (experiment_from(config, inputs, parts, &source, NULL, &m.e, warnings, &err) < 0)
        printf("# %s\n", err.msg);
    for (size_t i = 0; i < parts; i++)
        hpcprof_free(profiles[i]);
    config_free(config);
    warnings_free(warnings);
    return m;
}

/* ---- invariants ---------------------------------------------------------------------------------------- */

static double number(double v)
{
    return isnan(v) ? 0 : v;
}

static bool root_is_sum(const struct made *m)
{
    bool is = true;
    for (size_t k = 0; k < m->e->metric_count; k++)
        is = is && number(experiment_value(m->e, k, 0, VALUE_INCLUSIVE)) ==
                       (double)m->sums[strcmp(strtab_get(m->e->strings, m->e->metrics[k].name), "CYC") ? 1 : 0];
    return is;
}

/* Inclusive equals exclusive plus the children, except lines, which make up the exclusive part. */
static bool parts_are_whole(const struct experiment *e)
{
    bool are = true;
    double *parts = mem_alloc((e->place_count + 1) * sizeof *parts);
    for (size_t m = 0; m < e->metric_count; m++) {
        for (place_ix i = 0; i < e->place_count; i++)
            parts[i] = number(experiment_value(e, m, i, VALUE_EXCLUSIVE));
        for (place_ix i = 1; i < e->place_count; i++)
            if (e->places[i].kind != PLACE_LINE)
                parts[e->places[i].parent] += number(experiment_value(e, m, i, VALUE_INCLUSIVE));
        for (place_ix i = 0; i < e->place_count; i++)
            are = are && parts[i] == number(experiment_value(e, m, i, VALUE_INCLUSIVE));
    }
    mem_free(parts);
    return are;
}

static bool same_numbers(const struct experiment *a, const struct experiment *b)
{
    bool same = a->place_count == b->place_count && a->metric_count == b->metric_count;
    for (size_t m = 0; same && m < a->metric_count; m++)
        for (place_ix i = 0; i < a->place_count; i++)
            for (enum value_form form = 0; form < VALUE_FORMS; form++)
                same = same && a->places[i].kind == b->places[i].kind && a->places[i].parent == b->places[i].parent &&
                       number(experiment_value(a, m, i, form)) == number(experiment_value(b, m, i, form));
    return same;
}

/* Is the result the same if it is built in another way? */
static bool changes_nothing(const struct made *m, const struct program *program, size_t parts, uint32_t deal)
{
    struct made other = make(program, parts, deal);
    bool same = other.e && same_numbers(m->e, other.e);
    experiment_free(other.e);
    return same;
}

int main(void)
{
    enum { ROUNDS = 60 };
    bool made = true, sum = true, whole = true, checked = true, split = true, dealt = true, renamed = true;
    size_t places = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct program program = {seed, "/opt/app", "a"}, other = {seed, "/srv/elsewhere/bin", "b"};
        struct made m = make(&program, 1, 1);
        struct err err = {0};
        made = made && m.e;
        if (!m.e)
            continue;
        places += m.e->place_count;
        sum = sum && root_is_sum(&m);
        whole = whole && parts_are_whole(m.e);
        checked = checked && experiment_check(m.e, &err) == 0;
        split = split && changes_nothing(&m, &program, 1 + seed % PARTS_MOST, 1);
        dealt = dealt && changes_nothing(&m, &program, 1, 7);
        renamed = renamed && changes_nothing(&m, &other, 1, 1);
        experiment_free(m.e);
    }
    CHECK_NAMED(made, "experiments are made of anything");
    CHECK_NAMED(places > 30 * ROUNDS, "and have places");
    CHECK_NAMED(sum, "the root is the sum of all samples");
    CHECK_NAMED(whole, "inclusive is exclusive and the children's");
    CHECK_NAMED(checked, "experiment_check finds nothing");
    CHECK_NAMED(split, "splitting the input changes no number");
    CHECK_NAMED(dealt, "other threads change no number");
    CHECK_NAMED(renamed, "other names of folders, files and functions change no number");
    return tap_done();
}
