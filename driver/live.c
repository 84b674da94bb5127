/*
 * Experiments on a running program. The first asks where the time is; each later one for the events and tables that
 * properties need whose parents hold. No event is measured twice, but for one experiment at a higher rate where too few
 * samples left something unknown.
 */
#include "config.h"

#include "driver/live.h"
#include "driver/record_options.h"
#include "driver/wanted.h"
#include "mhsim/mhsim.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_EXPERIMENTS = 6 };

struct live {
    struct session *s;
    const struct properties *p;
    const struct live_options *options;
    char **argv;
    char *dir;
    struct text_list measured;  /* folders */
    size_t number;              /* of the experiment at hand */
    struct strtab *asked;       /* events and commands */
    struct strtab *possible;    /* events that can be recorded here */
    struct strtab *known;       /* properties that could be tested, and since when */
    struct VEC(uint32_t) since; /* by their id */
    struct experiment *e;
    struct diagnosis *d;
    bool faster;
    double begun;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_in(struct strtab *set, const char *word)
{
    size_t before = strtab_count(set);
    struct buf copy = {0};
    buf_str(&copy, word);
    bool in = strtab_add(set, copy.bytes) < before;
    buf_release(&copy);
    return in;
}

/* ---- one experiment -------------------------------------------------------------------------------- */

struct plan {
    struct string_list events, procedures;
    bool simulate, phases;
    struct buf words; /* for the history */
};

static void plan_release(struct plan *plan)
{
    vec_release(&plan->events);
    vec_release(&plan->procedures);
    buf_release(&plan->words);
}

static void say(const char *sentence)
{
    fprintf(stderr, "hpcview: warning: %s\n", sentence);
}

static int simulate(struct live *l, struct plan *plan, const char *dir, int *status)
{
    struct mhsim_machine machine;
    struct err *err = &l->s->err;
    if (mhsim_machine_here("/sys", &machine, err) < 0)
        return -1;
    char *plugin = driver_library_path("libhpcview-simulate-qemu.so"),
         *heap = driver_library_path("libhpcview-simulate-heap.so");
    struct mhsim_run_options o = {.machine = &machine, .out_dir = dir, .plugin = plugin, .heap = heap};
    struct hpcprof_record_options region = {0};
    if (plan->procedures.count)
        o.functions = string_list_array(&plan->procedures);
    if (record_region(l->options->region, &region, err) < 0)
        return -1;
    o.region = region.region;
    o.region_time = region.region_time;
    int result = mhsim_run(&o, l->argv, status, l->s->warnings, err);
    mem_free(plugin);
    mem_free(heap);
    return result;
}

static int record(struct live *l, struct plan *plan, const char *dir, int *status)
{
    char *preload = driver_library_path(plan->phases ? "libhpcview-record-phases.so" : "libhpcview-record.so");
    struct hpcprof_record_options o = {.out_dir = dir,
                                       .events = string_list_array(&plan->events),
                                       .preload = preload,
                                       .call_paths = true,
                                       .phases = plan->phases,
                                       .delay = l->options->delay,
                                       .duration = l->options->duration,
                                       .follow_children = true,
                                       .repeat = plan->events.count > 1 ? HPCPROF_REPEAT : HPCPROF_ONCE,
                                       .say = say};
    int result = record_region(l->options->region, &o, &l->s->err);
    if (result == 0)
        result = hpcprof_record(&o, l->argv, status, l->s->warnings, &l->s->err);
    mem_free(preload);
    return result;
}

/* The program's output is not ours: it goes where its complaints go. */
static int run_apart(struct live *l, struct plan *plan, const char *dir, int *status)
{
    fflush(stdout);
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* the program does not get it */
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_errno(&l->s->err, "standard output", "cannot be redirected");
    int result = plan->simulate ? simulate(l, plan, dir, status) : record(l, plan, dir, status);
    if (dup2(out, STDOUT_FILENO) < 0)
        result = err_errno(&l->s->err, "standard output", "cannot be restored");
    close(out);
    return result;
}

static int experiment(struct live *l, struct plan *plan)
{
    int wait_status = 0;
    size_t number = l->number = l->measured.count + 1;
    char *dir = mem_printf("%s/experiment-%zu", l->dir, number);
    fprintf(stderr, "hpcview: experiment %zu: %s\n", number, plan->words.bytes);
    int status = run_apart(l, plan, dir, &wait_status);
    if (status < 0) {
        mem_free(dir);
        return -1;
    }
    *vec_push(&l->measured) = dir;
    if (WIFSIGNALED(wait_status))
        warnings_add(l->s->warnings, "experiment %zu: %s was ended by signal %d; what was measured until then counts",
                     number, path_base(l->argv[0]), WTERMSIG(wait_status));
    else if (WEXITSTATUS(wait_status))
        warnings_add(l->s->warnings, "experiment %zu: %s ended with status %d", number, path_base(l->argv[0]),
                     WEXITSTATUS(wait_status));
    return 0;
}

/* ---- what is known after it ---------------------------------------------------------------------------- */

static int look(struct live *l)
{
    struct experiment *e = NULL;
    struct diagnosis *d = NULL;
    struct config *config = config_create();
    for (size_t i = 0; i < l->measured.count; i++)
        config_add_measurement(config, l->measured.items[i]);
    config_want_statistics(config, properties_statistics(l->p));
    config_set_thread_values(config, true); /* the database shows them */
    config_list_instructions(config);
    int status = wanted_options(l->s, "diagnose", config);
    if (status == 0)
        status = experiment_build(config, &l->s->progress, &e, l->s->warnings, &l->s->err);
    config_free(config);
    if (status == 0)
        status = diagnose(e, l->p, &l->options->diagnose, &d, &l->s->err);
    if (status < 0) {
        experiment_free(e);
        return -1;
    }
    diagnosis_free(l->d);
    experiment_free(l->e);
    l->e = e;
    l->d = d;
    return 0;
}

/* Since which experiment each property can be tested. */
static void note_experiments(struct live *l)
{
    for (size_t i = 0; i < l->d->search.count; i++) {
        struct search_step *step = &l->d->search.items[i];
        str_id id = strtab_add(l->known, step->property);
        while (l->since.count <= id)
            *vec_push(&l->since) = 0;
        if (step->state == SEARCH_NOT_MEASURABLE || step->state == SEARCH_PRUNED)
            continue;
        if (!l->since.items[id])
            l->since.items[id] = (uint32_t)l->measured.count;
        step->experiment = l->since.items[id];
    }
    l->d->experiments = (uint32_t)l->measured.count;
}

/* ---- what to ask next -------------------------------------------------------------------------------------- */

static void note_possible(void *ctx, const struct hpcprof_event_info *info)
{
    struct live *l = ctx;
    if (!info->why_not)
        strtab_add(l->possible, info->name);
}

static bool is_possible(struct live *l, const char *event)
{
    bool known = false;
    for (str_id i = 1; i < strtab_count(l->possible) && !known; i++)
        known = strcmp(strtab_get(l->possible, i), event) == 0;
    return known;
}

static void ask_events(struct live *l, const struct diagnose_measurements *w, struct plan *plan)
{
    for (size_t i = 0; i < w->count; i++) {
        const char *event = w->items[i].event;
        if (!event || !is_possible(l, event) || is_in(l->asked, event))
            continue;
        *vec_push(&plan->events) = event;
        buf_printf(&plan->words, "%s%s (for %s)", plan->words.len ? ", " : "", event, w->items[i].property);
    }
}

static void ask_phases(struct live *l, const struct diagnose_measurements *w, struct plan *plan)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].made_by && strcmp(w->items[i].made_by, "record --phases") == 0 &&
            !is_in(l->asked, w->items[i].made_by)) {
            plan->phases = true;
            buf_printf(&plan->words, "%sbarriers and waits (for %s)", plan->words.len ? ", " : "",
                       w->items[i].property);
        }
}

/* Alone, and only of the procedures in question, where any are named: it is slower by far than counting. */
static void ask_simulation(struct live *l, const struct diagnose_measurements *w, struct plan *plan)
{
    const char *property = NULL;
    for (size_t i = 0; i < w->count; i++) {
        const struct diagnose_measurement *wish = &w->items[i];
        if (!wish->made_by || strcmp(wish->made_by, "simulate") != 0)
            continue;
        property = property ? property : wish->property;
        if (wish->procedure)
            *vec_push(&plan->procedures) = wish->procedure;
    }
    if (!property || is_in(l->asked, "simulate"))
        return;
    plan->simulate = true;
    buf_printf(&plan->words, "simulated memory (for %s) of", property);
    for (size_t i = 0; i < plan->procedures.count; i++)
        buf_printf(&plan->words, " %s", plan->procedures.items[i]);
    if (!plan->procedures.count)
        buf_str(&plan->words, " all procedures");
}

static bool has_unknown(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->search.count; i++)
        if (d->search.items[i].state == SEARCH_UNKNOWN && *d->search.items[i].note)
            return true;
    return false;
}

static void ask_faster(struct live *l, struct plan *plan)
{
    if (l->faster || !has_unknown(l->d) || !is_possible(l, "perf::TASK-CLOCK"))
        return;
    l->faster = true;
    *vec_push(&plan->events) = "perf::TASK-CLOCK@f2000";
    buf_str(&plan->words, "perf::TASK-CLOCK, 2000 samples a second (too few left something unknown)");
}

/* 0: nothing is left to ask. */
static int plan_next(struct live *l, struct plan *plan)
{
    struct diagnose_measurements wishes = {0};
    buf_str(&plan->words, "");
    diagnosis_next_measurements(l->e, l->p, l->d, &wishes);
    ask_events(l, &wishes, plan);
    ask_phases(l, &wishes, plan);
    if (!plan->words.len)
        ask_simulation(l, &wishes, plan);
    if (!plan->words.len)
        ask_faster(l, plan);
    vec_release(&wishes);
    return plan->words.len > 0;
}

/* ---- until nothing is left ------------------------------------------------------------------------------------- */

static int first_experiment(struct live *l)
{
    struct plan plan = {0};
    buf_str(&plan.words, "where the time goes");
    int status = experiment(l, &plan);
    plan_release(&plan);
    if (status == 0)
        status = look(l);
    for (size_t i = 0; status == 0 && i < l->e->metric_count; i++) /* the default event is asked for */
        strtab_add(l->asked, strtab_get(l->e->strings, l->e->metrics[i].event));
    return status;
}

static bool within_limits(const struct live *l)
{
    unsigned most = l->options->experiments ? l->options->experiments : USUAL_EXPERIMENTS;
    return l->measured.count < most && (l->options->seconds == 0 || now() - l->begun < l->options->seconds);
}

static int go_on(struct live *l)
{
    int status = 0;
    note_experiments(l);
    while (status == 0 && within_limits(l)) {
        struct plan plan = {0};
        int more = plan_next(l, &plan);
        if (more)
            status = experiment(l, &plan);
        plan_release(&plan);
        if (!more)
            break;
        if (status == 0)
            status = look(l);
        if (status == 0)
            note_experiments(l);
    }
    return status;
}

char *live_folder(const char *program)
{
    struct stat st;
    char *dir = mem_printf("%s.experiments", path_base(program));
    for (unsigned i = 2; lstat(dir, &st) == 0; i++) {
        mem_free(dir);
        dir = mem_printf("%s.experiments-%u", path_base(program), i);
    }
    return dir;
}

/* The folders that a program which could not be started would leave, where they are empty. */
static void leave_nothing(const struct live *l)
{
    char *first = mem_printf("%s/experiment-1", l->dir);
    rmdir(first);
    rmdir(l->dir);
    mem_free(first);
}

static void live_release(struct live *l)
{
    text_list_release(&l->measured);
    vec_release(&l->since);
    strtab_free(l->asked);
    strtab_free(l->possible);
    strtab_free(l->known);
    mem_free(l->dir);
}

int live_diagnose(struct session *s, const struct properties *p, const struct live_options *options, char **argv,
                  struct experiment **e, struct diagnosis **d, char **failed)
{
    struct live l = {.s = s,
                     .p = p,
                     .options = options,
                     .argv = argv,
                     .dir = mem_strdup(options->keep),
                     .asked = strtab_create(),
                     .possible = strtab_create(),
                     .known = strtab_create(),
                     .begun = now()};
    *failed = NULL;
    int status = dir_make(l.dir, &s->err);
    if (status == 0)
        status = hpcprof_list_events(false, NULL, note_possible, &l, &s->err);
    if (status == 0)
        status = first_experiment(&l);
    if (status == 0 && go_on(&l) < 0)
        *failed = mem_printf("experiment %zu: %s; what was found before stays", l.number, s->err.msg);
    if (status == 0)
        fprintf(stderr, "hpcview: the measurements are in %s\n", l.dir);
    else
        leave_nothing(&l);
    *e = l.e;
    *d = l.d;
    live_release(&l);
    return status;
}
