/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Experiments on a running program. The first asks where the time is; each later one for the events and tables that
 * properties need whose parents hold. No event is measured twice, but for one experiment at a higher rate where too few
 * samples left something unknown.
 */
#include "campaign/campaign.h"
#include "mhsim/mhsim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_EXPERIMENTS = 6 };

struct experiments {
    const struct campaign_user *user;
    struct err *err;
    const struct properties *p;
    const struct campaign_experiments *options;
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

struct event_list VEC(const char *);
struct plan {
    struct event_list events;
    struct VEC(struct mhsim_code) code;
    bool simulate, phases;
    struct buf words; /* for the history */
};

/* NULL-terminated; lent until the list changes. */
static const char *const *array(struct event_list *list)
{
    vec_reserve(list, list->count + 1);
    list->items[list->count] = NULL;
    return list->items;
}

static void plan_release(struct plan *plan)
{
    vec_release(&plan->events);
    vec_release(&plan->code);
    buf_release(&plan->words);
}

static void PRINTF_LIKE(2, 3) report(const struct experiments *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *sentence = mem_vprintf(fmt, args);
    va_end(args);
    l->user->report(l->user->ctx, sentence);
    mem_free(sentence);
}

static int simulate(struct experiments *l, struct plan *plan, const char *dir, int *status)
{
    struct machine_memory machine;
    const struct campaign_experiments *given = l->options;
    if (machine_memory_here("/sys", &machine, l->err) < 0)
        return -1;
    struct mhsim_run_options o = {.machine = &machine,
                                  .out_dir = dir,
                                  .plugin = given->simulator,
                                  .heap = given->heap,
                                  .code = plan->code.items,
                                  .code_count = plan->code.count,
                                  .region = given->region,
                                  .region_time = given->region_time};
    return mhsim_run(&o, l->argv, status, l->user->warnings, l->err);
}

static int record(struct experiments *l, struct plan *plan, const char *dir, int *status)
{
    const struct campaign_experiments *given = l->options;
    struct hpcprof_record_options o = {.out_dir = dir,
                                       .events = array(&plan->events),
                                       .preload = plan->phases ? given->barrier_recorder : given->recorder,
                                       .call_paths = true,
                                       .phases = plan->phases,
                                       .delay = given->delay,
                                       .duration = given->duration,
                                       .region = given->region,
                                       .region_time = given->region_time,
                                       .follow_children = true,
                                       .repeat = plan->events.count > 1 ? HPCPROF_REPEAT : HPCPROF_ONCE,
                                       .say = given->warn};
    return hpcprof_record(&o, l->argv, status, l->user->warnings, l->err);
}

/* The program's output is not ours: it goes where its complaints go. */
static int run_apart(struct experiments *l, struct plan *plan, const char *dir, int *status)
{
    fflush(stdout);
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* the program does not get it */
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_errno(l->err, "standard output", "cannot be redirected");
    int result = plan->simulate ? simulate(l, plan, dir, status) : record(l, plan, dir, status);
    if (dup2(out, STDOUT_FILENO) < 0)
        result = err_errno(l->err, "standard output", "cannot be restored");
    close(out);
    return result;
}

static int experiment(struct experiments *l, struct plan *plan)
{
    int wait_status = 0;
    size_t number = l->number = l->measured.count + 1;
    char *dir = mem_printf("%s/experiment-%zu", l->dir, number);
    report(l, "experiment %zu: %s", number, plan->words.bytes);
    int status = run_apart(l, plan, dir, &wait_status);
    if (status < 0) {
        mem_free(dir);
        return -1;
    }
    *vec_push(&l->measured) = dir;
    if (WIFSIGNALED(wait_status))
        warnings_add(l->user->warnings, "experiment %zu: %s was killed by signal %d; its counts until then are used",
                     number, path_base(l->argv[0]), WTERMSIG(wait_status));
    else if (WEXITSTATUS(wait_status))
        warnings_add(l->user->warnings, "experiment %zu: %s ended with status %d", number, path_base(l->argv[0]),
                     WEXITSTATUS(wait_status));
    return 0;
}

/* ---- what is known after it ---------------------------------------------------------------------------- */

static int look(struct experiments *l)
{
    struct experiment *e = NULL;
    struct diagnosis *d = NULL;
    struct config *config = config_create();
    for (size_t i = 0; i < l->measured.count; i++)
        config_add_measurement(config, l->measured.items[i]);
    config_want_statistics(config, properties_statistics(l->p));
    config_set_thread_values(config, true); /* the database shows them */
    config_list_instructions(config);
    int status = l->options->configure(l->options->ctx, config, l->err);
    if (status == 0)
        status = experiment_build(config, l->user->progress, &e, l->user->warnings, l->err);
    config_free(config);
    if (status == 0)
        status = diagnose(e, l->p, &l->options->diagnose, &d, l->err);
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
static void note_experiments(struct experiments *l)
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
    struct experiments *l = ctx;
    if (!info->why_not)
        strtab_add(l->possible, info->name);
}

static bool is_possible(struct experiments *l, const char *event)
{
    bool known = false;
    for (str_id i = 1; i < strtab_count(l->possible) && !known; i++)
        known = strcmp(strtab_get(l->possible, i), event) == 0;
    return known;
}

static void ask_events(struct experiments *l, const struct diagnose_measurements *w, struct plan *plan)
{
    for (size_t i = 0; i < w->count; i++) {
        const char *event = w->items[i].event;
        if (!event || !is_possible(l, event) || is_in(l->asked, event))
            continue;
        *vec_push(&plan->events) = event;
        buf_printf(&plan->words, "%s%s (for %s)", plan->words.len ? ", " : "", event, w->items[i].property);
    }
}

static void ask_phases(struct experiments *l, const struct diagnose_measurements *w, struct plan *plan)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].made_by && strcmp(w->items[i].made_by, "record --phases") == 0 &&
            !is_in(l->asked, w->items[i].made_by)) {
            plan->phases = true;
            buf_printf(&plan->words, "%sbarriers and waits (for %s)", plan->words.len ? ", " : "",
                       w->items[i].property);
        }
}

static void add_code(const struct experiments *l, place_ix procedure, struct plan *plan)
{
    struct experiment_code_list pieces = {0};
    experiment_code_of(l->e, procedure, &pieces);
    for (size_t i = 0; i < pieces.count; i++) {
        const struct experiment_code *c = &pieces.items[i];
        *vec_push(&plan->code) = (struct mhsim_code){c->module, c->from, c->to};
    }
    vec_release(&pieces);
}

/* Alone, and only of the procedures in question, where any are named: it is slower by far than counting. They go by
   their addresses, because many have other names in the file than are shown. */
static void ask_simulation(struct experiments *l, const struct diagnose_measurements *w, struct plan *plan)
{
    const char *property = NULL;
    struct buf of = {0};
    for (size_t i = 0; i < w->count; i++) {
        const struct diagnose_measurement *wish = &w->items[i];
        if (!wish->made_by || strcmp(wish->made_by, "simulate") != 0)
            continue;
        property = property ? property : wish->property;
        if (wish->procedure == PLACE_NONE)
            continue;
        add_code(l, wish->procedure, plan);
        buf_printf(&of, " %s", strtab_get(l->e->strings, l->e->places[wish->procedure].name));
    }
    if (property && !is_in(l->asked, "simulate")) {
        plan->simulate = true;
        buf_printf(&plan->words, "simulated memory (for %s) of%s", property, of.len ? of.bytes : " all procedures");
    }
    buf_release(&of);
}

static bool has_unknown(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->search.count; i++)
        if (d->search.items[i].state == SEARCH_UNKNOWN && *d->search.items[i].note)
            return true;
    return false;
}

static void ask_faster(struct experiments *l, struct plan *plan)
{
    if (l->faster || !has_unknown(l->d) || !is_possible(l, "perf::TASK-CLOCK"))
        return;
    l->faster = true;
    *vec_push(&plan->events) = "perf::TASK-CLOCK@f2000";
    buf_str(&plan->words, "perf::TASK-CLOCK, 2000 samples per second (too few samples left something unknown)");
}

/* 0: nothing is left to ask. */
static int plan_next(struct experiments *l, struct plan *plan)
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

static int first_experiment(struct experiments *l)
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

static bool within_limits(const struct experiments *l)
{
    unsigned most = l->options->experiments ? l->options->experiments : DEFAULT_EXPERIMENTS;
    return l->measured.count < most && (l->options->seconds == 0 || time_seconds() - l->begun < l->options->seconds);
}

static int go_on(struct experiments *l)
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

/* The folders that a program which could not be started would leave, if they are empty. */
static void leave_nothing(const struct experiments *l)
{
    char *first = mem_printf("%s/experiment-1", l->dir);
    rmdir(first);
    rmdir(l->dir);
    mem_free(first);
}

static void experiments_release(struct experiments *l)
{
    text_list_release(&l->measured);
    vec_release(&l->since);
    strtab_free(l->asked);
    strtab_free(l->possible);
    strtab_free(l->known);
    mem_free(l->dir);
}

int campaign_diagnose(const struct campaign_user *user, const struct properties *p,
                      const struct campaign_experiments *options, char **argv, struct experiment **e,
                      struct diagnosis **d, char **failed, struct err *err)
{
    struct experiments l = {.user = user,
                            .err = err,
                            .p = p,
                            .options = options,
                            .argv = argv,
                            .dir = mem_strdup(options->keep),
                            .asked = strtab_create(),
                            .possible = strtab_create(),
                            .known = strtab_create(),
                            .begun = time_seconds()};
    *failed = NULL;
    int status = dir_make(l.dir, err);
    if (status == 0)
        status = hpcprof_list_events(false, NULL, note_possible, &l, err);
    if (status == 0)
        status = first_experiment(&l);
    if (status == 0 && go_on(&l) < 0)
        *failed = mem_printf("experiment %zu: %s; earlier findings are kept", l.number, err->msg);
    if (status == 0)
        report(&l, "the measurements are in %s", l.dir);
    else
        leave_nothing(&l);
    *e = l.e;
    *d = l.d;
    experiments_release(&l);
    return status;
}
