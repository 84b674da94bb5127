/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Experiments on a running program: which requests in which order, against plain rules. Programs, measurements and
 * diagnoses are random; functions that would run programs print a line instead (local.mk replaces the names below).
 */
#include "campaign/campaign.h"

#include "metrics/join/join.h"
#include "mhsim/mhsim.h"
#include "tests/chance.h"
#include "tests/fixtures/outline.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, WISHES = 6, STEPS = 5, EVENTS = 9, EXPERIMENTS_USUAL = 6 };
#define CLOCK "perf::TASK-CLOCK"

static const char *const event_names[EVENTS] = {"E0", "E1", "E2", "E3", "E4", "E5", "E6", "E7", CLOCK};
static const char *const makers[] = {"record --phases", "simulate", "record --walks"};
static const char *const property_names[] = {"Slow", "Idle", "Far", "Late", "Odd"};
enum { PROCEDURES = 3, FIRST_PROCEDURE = 3 }; /* places: after the program, its module and file */
static const char *const procedure_names[PROCEDURES] = {"solve(int)", "m::main", NULL};

enum failure { NOTHING_FAILS, LISTING, MACHINE, RUN, BUILD, OPTIONS, DIAGNOSIS };

struct round_drawn { /* the result of an experiment, and the following request */
    enum failure failure;
    int wait_status;
    double takes;
    bool says; /* something while the program runs */
    unsigned wish_count, step_count;
    struct diagnose_measurement wishes[WISHES];
    struct search_step steps[STEPS];
};

struct session {
    struct warnings *warnings;
    struct progress progress;
    struct err err;
};

static struct world {
    bool possible[EVENTS];
    bool listing_fails;
    unsigned metric; /* the event that is measured by default */
    struct round_drawn rounds[ROUNDS];
    struct campaign_experiments options;
    struct experiment *last;       /* that was built */
    struct experiment *kept;       /* its copy, which was analysed */
    struct diagnosis *last_result; /* the same */
    struct session *s;
    unsigned run, looked; /* experiments so far */
    unsigned inherited;   /* descriptors that a program gets */
    double now;
} world;

static char *folder;

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* ---- fakes of programs ------------------------------------------------------------------------------------------- */

static const struct round_drawn *begun(void)
{
    world.now += world.rounds[world.run].takes;
    return &world.rounds[world.run++];
}

static void add_words(struct buf *b, const char *what, const char *const *words)
{
    buf_printf(b, " %s=", what);
    for (size_t i = 0; words && words[i]; i++)
        buf_printf(b, "%s%s", i ? "," : "", words[i]);
}

int fake_list_events(bool all, const char *pattern, void (*each)(void *, const struct hpcprof_event_info *), void *ctx,
                     struct err *err)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        struct hpcprof_event_info info = {.name = event_names[i], .why_not = world.possible[i] ? NULL : "not here"};
        each(ctx, &info);
    }
    return world.listing_fails || all || pattern ? err_set(err, ERR_SYSTEM, "no list") : 0;
}

static int ended(const struct round_drawn *round, int *status, struct err *err)
{
    *status = round->wait_status;
    return round->failure == RUN ? err_set(err, ERR_SYSTEM, "it cannot run") : 0;
}

/* Descriptors that a program would get. */
static unsigned inherited(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 64; fd++) {
        int flags = fcntl(fd, F_GETFD);
        n += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return n;
}

/* Printed on standard output, as the program's output would be. */
int fake_record(const struct hpcprof_record_options *o, char *const *argv, int *status, struct warnings *w,
                struct err *err)
{
    const struct round_drawn *round = begun();
    struct buf b = {0};
    buf_printf(&b, "record %s %s %s", argv[0], argv[1], o->out_dir + strlen(folder));
    add_words(&b, "events", o->events);
    buf_printf(&b, " %s phases=%d paths=%d children=%d repeat=%d %g+%g %s@%u", o->preload, o->phases, o->call_paths,
               o->follow_children, o->repeat, o->delay, o->duration, o->region ? o->region : "-", o->region_time);
    printf("%s%s\n", b.bytes, w == world.s->warnings ? "" : " without warnings");
    if (inherited() != world.inherited)
        printf("%u descriptors, not %u\n", inherited(), world.inherited);
    fflush(stdout);
    buf_release(&b);
    if (round->says)
        o->say("it is slow");
    return ended(round, status, err);
}

int fake_machine_here(const char *sys, struct machine_memory *machine, struct err *err)
{
    *machine = (struct machine_memory){.level_count = 3};
    printf("machine of %s\n", sys);
    fflush(stdout);
    return world.rounds[world.run].failure == MACHINE ? err_set(err, ERR_SYSTEM, "no machine") : 0;
}

int fake_simulate(const struct mhsim_run_options *o, char *const *argv, int *status, struct warnings *w,
                  struct err *err)
{
    struct buf b = {0};
    const struct round_drawn *round = begun();
    buf_printf(&b, "simulate %s %s %s", argv[0], argv[1], o->out_dir + strlen(folder));
    buf_str(&b, o->functions ? " functions" : o->code_count ? " code" : " all");
    for (size_t i = 0; i < o->code_count; i++)
        buf_printf(&b, " %s:%llu-%llu", o->code[i].module, (unsigned long long)o->code[i].from,
                   (unsigned long long)o->code[i].to);
    buf_printf(&b, " %s %s %u levels %s@%u", o->plugin, o->heap, o->machine->level_count, o->region ? o->region : "-",
               o->region_time);
    printf("%s%s\n", b.bytes, w == world.s->warnings ? "" : " without warnings");
    fflush(stdout);
    buf_release(&b);
    return ended(round, status, err);
}

int fake_clock(clockid_t clock, struct timespec *t)
{
    *t = (struct timespec){(time_t)(clock == CLOCK_MONOTONIC ? world.now : 0),
                           (long)((world.now - floor(world.now)) * 1e9)};
    return 0;
}

/* ---- fakes of the analysis --------------------------------------------------------------------------------------- */

static enum failure looking(void)
{
    return world.rounds[world.run - 1].failure;
}

static int configure(void *ctx, struct config *config, struct err *err)
{
    fprintf(stderr, "options\n");
    config_set_threads(config, 7);
    return looking() == OPTIONS || ctx != &world ? err_set(err, ERR_USAGE, "wrong options") : 0;
}

static void report(void *ctx, const char *sentence)
{
    fprintf(stderr, "hpcview: %s%s\n", sentence, ctx == &world ? "" : ", to another user");
}

static void warn(const char *sentence)
{
    fprintf(stderr, "hpcview: warning: %s\n", sentence);
}

const char *const *fake_statistics(const struct properties *p)
{
    static const char *const names[] = {"mean", NULL};
    return p ? names : NULL;
}

int fake_build(const struct config *c, const struct progress *progress, struct experiment **e, struct warnings *w,
               struct err *err)
{
    fprintf(stderr, "build");
    for (size_t i = 0; i < config_run_count(c); i++)
        fprintf(stderr, " %s", config_recipe(c, i).measurements + strlen(folder));
    fprintf(stderr, " %s values=%d instructions=%d threads=%u%s\n", c->wanted_statistics[0], c->thread_values,
            c->instructions, c->threads,
            progress == &world.s->progress && w == world.s->warnings ? "" : " without a word");
    if (looking() == BUILD)
        return err_set(err, ERR_FORMAT, "it cannot be built");
    *e = world.last = outline_read(
        "metric a 1 - A\nmetric b 1 - B\nMODULE prog\n FILE a.c\n  PROC solve(int) 1\n  PROC m::main 9\n", "a drawing");
    world.last->metrics[1].event = strtab_add(world.last->strings, event_names[world.metric]);
    return 0;
}

int fake_diagnose(const struct experiment *e, const struct properties *p, const struct diagnose_options *o,
                  struct diagnosis **d, struct err *err)
{
    (void)p;
    fprintf(stderr, "diagnose %g%s\n", o->threshold, e == world.last ? "" : " another");
    if (looking() == DIAGNOSIS)
        return err_set(err, ERR_FORMAT, "no diagnosis");
    *d = world.last_result = mem_calloc(1, sizeof **d);
    (*d)->arena = arena_create();
    const struct round_drawn *round = &world.rounds[world.run - 1];
    for (unsigned i = 0; i < round->step_count; i++)
        *vec_push(&(*d)->search) = round->steps[i];
    world.kept = world.last;
    world.looked++;
    return 0;
}

/* Two pieces, the second one in a library. */
void fake_code_of(const struct experiment *e, place_ix procedure, struct experiment_code_list *list)
{
    if (e != world.last)
        fprintf(stderr, "code of another\n");
    *vec_push(list) = (struct experiment_code){"prog", procedure, procedure + 10};
    *vec_push(list) = (struct experiment_code){"lib.so", procedure + 100, procedure + 110};
}

void fake_wishes(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                 struct diagnose_measurements *wishes)
{
    const struct round_drawn *round = &world.rounds[world.run - 1];
    if (e != world.last || d != world.last_result || !p)
        fprintf(stderr, "wishes of another\n");
    for (unsigned i = 0; i < round->wish_count; i++)
        *vec_push(wishes) = round->wishes[i];
}

/* ---- drawing ---------------------------------------------------------------------------------------------------------------- */

static void draw_wish(struct diagnose_measurement *w)
{
    *w = (struct diagnose_measurement){.property = property_names[below(ARRAY_SIZE(property_names))]};
    if (chance(60))
        w->event = event_names[below(EVENTS)];
    else {
        w->made_by = makers[below(ARRAY_SIZE(makers))];
        w->procedure = below(PROCEDURES);
        w->procedure = procedure_names[w->procedure] ? FIRST_PROCEDURE + w->procedure : PLACE_NONE;
    }
}

static void draw_round(struct round_drawn *round)
{
    static const int ends[] = {0, 0, 0, 0, 3 << 8, 1 << 8, SIGKILL, SIGSEGV};
    *round = (struct round_drawn){.wait_status = ends[below(ARRAY_SIZE(ends))], .takes = 0.5 + below(4)};
    round->failure = chance(6) ? (enum failure)(MACHINE + below(5)) : NOTHING_FAILS;
    round->says = chance(20);
    for (round->wish_count = 0; round->wish_count < below(WISHES); round->wish_count++)
        draw_wish(&round->wishes[round->wish_count]);
    for (round->step_count = 0; round->step_count < below(STEPS); round->step_count++)
        round->steps[round->step_count] =
            (struct search_step){.property = property_names[below(ARRAY_SIZE(property_names))],
                                 .state = (enum diagnose_state)below(6),
                                 .experiment = 77,
                                 .note = chance(50) ? "a note" : ""};
}

static void draw_world(struct session *s)
{
    world = (struct world){.s = s, .now = 1000.25, .listing_fails = chance(3), .metric = below(EVENTS)};
    for (unsigned i = 0; i < EVENTS; i++)
        world.possible[i] = chance(70);
    for (unsigned i = 0; i < ROUNDS; i++)
        draw_round(&world.rounds[i]);
    world.options = (struct campaign_experiments){.experiments = below(8),
                                                  .region = chance(30) ? "solve" : NULL,
                                                  .recorder = "LIB/libhpcview-record.so",
                                                  .barrier_recorder = "LIB/libhpcview-record-phases.so",
                                                  .simulator = "LIB/libhpcview-simulate-qemu.so",
                                                  .heap = "LIB/libhpcview-simulate-heap.so",
                                                  .warn = warn,
                                                  .configure = configure,
                                                  .ctx = &world};
    world.options.region_time = world.options.region ? 3 : 0;
    world.options.seconds = chance(30) ? 0.5 * (1 + below(12)) : 0;
    world.options.delay = chance(30) ? 0.25 : 0;
    world.options.duration = chance(30) ? 1.5 : 0;
    world.options.diagnose.threshold = 1 + below(5);
}

/* ---- expected messages ------------------------------------------------------------------------------------------- */

struct wanted { /* as it goes on */
    FILE *out;
    bool asked[EVENTS], phases, simulated, faster;
    unsigned done;     /* experiments */
    double spent;      /* seconds */
    char *failed;      /* prefixed with the experiment's number */
    unsigned warnings; /* of how programs ended */
    unsigned since[ARRAY_SIZE(property_names)];
};

struct plan_wanted {
    char events[200], procedures[200], code[600], words[600];
    unsigned event_count;
    bool phases, simulate;
};

static void append(char *to, const char *between, const char *text)
{
    if (*to)
        strcat(to, between);
    strcat(to, text);
}

static unsigned event_number(const char *name)
{
    unsigned i = 0;
    while (strcmp(event_names[i], name) != 0)
        i++;
    return i;
}

static unsigned property_number(const char *name)
{
    unsigned i = 0;
    while (strcmp(property_names[i], name) != 0)
        i++;
    return i;
}

static void ask_of(struct plan_wanted *plan, const char *what, const char *property)
{
    char *words = mem_printf("%s (for %s)", what, property);
    append(plan->words, ", ", words);
    mem_free(words);
}

/* Events and barriers are measured together, each once and only if possible; when none of these are left, memory is
   simulated, once; finally there is one experiment with more samples. */
static bool plan_wanted(struct wanted *w, const struct round_drawn *round, struct plan_wanted *plan)
{
    for (unsigned i = 0; i < round->wish_count; i++) {
        const struct diagnose_measurement *wish = &round->wishes[i];
        unsigned event = wish->event ? event_number(wish->event) : 0;
        if (!wish->event || !world.possible[event] || w->asked[event])
            continue;
        w->asked[event] = true;
        append(plan->events, ",", wish->event);
        plan->event_count++;
        ask_of(plan, wish->event, wish->property);
    }
    for (unsigned i = 0; i < round->wish_count && !w->phases; i++)
        if (round->wishes[i].made_by == makers[0]) {
            w->phases = plan->phases = true;
            ask_of(plan, "barriers and waits", round->wishes[i].property);
        }
    const char *first = NULL;
    for (unsigned i = 0; i < round->wish_count && !*plan->words; i++)
        if (round->wishes[i].made_by == makers[1]) {
            first = first ? first : round->wishes[i].property;
            place_ix p = round->wishes[i].procedure;
            if (p != PLACE_NONE) {
                append(plan->procedures, " ", procedure_names[p - FIRST_PROCEDURE]);
                char *code = mem_printf("prog:%u-%u lib.so:%u-%u", p, p + 10, p + 100, p + 110);
                append(plan->code, " ", code);
                mem_free(code);
            }
        }
    if (first && !w->simulated) {
        w->simulated = plan->simulate = true;
        ask_of(plan, "simulated memory", first);
        append(plan->words, " of ", *plan->procedures ? plan->procedures : "all procedures");
    }
    bool unknown = false;
    for (unsigned i = 0; i < round->step_count; i++)
        unknown |= round->steps[i].state == SEARCH_UNKNOWN && *round->steps[i].note;
    if (!*plan->words && !w->faster && unknown && world.possible[EVENTS - 1]) {
        w->faster = true;
        append(plan->events, ",", CLOCK "@f2000");
        plan->event_count++;
        append(plan->words, "", CLOCK ", 2000 samples per second (too few samples left something unknown)");
    }
    return *plan->words;
}

static int fails(struct wanted *w, unsigned number, const char *why)
{
    w->failed = mem_printf("experiment %u: %s; earlier findings are kept", number, why);
    return -1;
}

static void put_record(FILE *out, const struct plan_wanted *plan, unsigned number)
{
    const struct campaign_experiments *o = &world.options;
    fprintf(out,
            "record /bin/prog arg /experiment-%u events=%s LIB/libhpcview-record%s.so phases=%d paths=1 children=1 "
            "repeat=%d "
            "%g+%g %s@%u\n",
            number, plan->events, plan->phases ? "-phases" : "", plan->phases,
            plan->event_count > 1 ? HPCPROF_REPEAT : HPCPROF_ONCE, o->delay, o->duration, o->region ? o->region : "-",
            o->region ? 3 : 0);
    if (world.rounds[number - 1].says)
        fprintf(out, "hpcview: warning: it is slow\n");
}

static void put_simulate(FILE *out, const struct plan_wanted *plan, unsigned number)
{
    fprintf(
        out,
        "simulate /bin/prog arg /experiment-%u %s%s LIB/libhpcview-simulate-qemu.so LIB/libhpcview-simulate-heap.so 3 "
        "levels %s@%u\n",
        number, *plan->code ? "code " : "all", plan->code, world.options.region ? world.options.region : "-",
        world.options.region ? 3 : 0);
}

static int run_wanted(struct wanted *w, const struct plan_wanted *plan)
{
    unsigned number = w->done + 1;
    const struct round_drawn *round = &world.rounds[w->done];
    fprintf(w->out, "hpcview: experiment %u: %s\n", number, plan->words);
    if (plan->simulate) {
        fprintf(w->out, "machine of /sys\n");
        if (round->failure == MACHINE)
            return fails(w, number, "no machine");
        put_simulate(w->out, plan, number);
    } else
        put_record(w->out, plan, number);
    w->spent += round->takes;
    if (round->failure == RUN)
        return fails(w, number, "it cannot run");
    w->done++;
    w->warnings += round->wait_status != 0;
    return 0;
}

static int look_wanted(struct wanted *w)
{
    const struct round_drawn *round = &world.rounds[w->done - 1];
    fprintf(w->out, "options\n");
    if (round->failure == OPTIONS)
        return fails(w, w->done, "wrong options");
    fprintf(w->out, "build");
    for (unsigned i = 1; i <= w->done; i++)
        fprintf(w->out, " /experiment-%u", i);
    fprintf(w->out, " mean values=1 instructions=1 threads=7\n");
    if (round->failure == BUILD)
        return fails(w, w->done, "it cannot be built");
    fprintf(w->out, "diagnose %g\n", world.options.diagnose.threshold);
    if (round->failure == DIAGNOSIS)
        return fails(w, w->done, "no diagnosis");
    for (unsigned i = 0; i < round->step_count; i++) {
        unsigned *since = &w->since[property_number(round->steps[i].property)];
        bool tested = round->steps[i].state != SEARCH_NOT_MEASURABLE && round->steps[i].state != SEARCH_PRUNED;
        *since = tested && !*since ? w->done : *since;
    }
    return 0;
}

/* 0, or -1 where the first one fails. */
static int all_wanted(struct wanted *w)
{
    struct plan_wanted first = {.words = "where the time goes"};
    unsigned most = world.options.experiments ? world.options.experiments : EXPERIMENTS_USUAL;
    if (world.listing_fails || run_wanted(w, &first) < 0 || look_wanted(w) < 0)
        return -1;
    w->asked[world.metric] = true;
    while (!w->failed && w->done < most && (world.options.seconds == 0 || w->spent < world.options.seconds)) {
        struct plan_wanted plan = {.event_count = 0};
        if (!plan_wanted(w, &world.rounds[w->done - 1], &plan))
            break;
        if (run_wanted(w, &plan) == 0)
            look_wanted(w);
    }
    fprintf(w->out, "hpcview: the measurements are in %s\n", folder);
    return 0;
}

/* ---- the comparison -------------------------------------------------------------------------------------------------------------- */

static void check_steps(const struct wanted *w, const struct diagnosis *d)
{
    /* the diagnosis is based on the last experiment that could be read */
    const struct round_drawn *round = &world.rounds[world.looked - 1];
    bool right = d == world.last_result && d->search.count == round->step_count;
    for (unsigned i = 0; right && i < round->step_count; i++) {
        bool tested = round->steps[i].state != SEARCH_NOT_MEASURABLE && round->steps[i].state != SEARCH_PRUNED;
        right = d->search.items[i].experiment == (tested ? w->since[property_number(round->steps[i].property)] : 77);
    }
    CHECK_NAMED(right, "since which experiment each property is tested");
    CHECK_INT(d->experiments, world.looked);
}

static void check_warnings(const struct session *s, const struct wanted *w)
{
    CHECK_INT(warnings_count(s->warnings), w->warnings);
    for (unsigned i = 0, n = 0; i < w->done; i++) {
        int status = world.rounds[i].wait_status;
        char *said = status >= 256
                         ? mem_printf("experiment %u: prog ended with status %d", i + 1, status >> 8)
                         : mem_printf("experiment %u: prog was killed by signal %d; its counts until then are used",
                                      i + 1, status);
        if (status)
            CHECK_STR(warnings_get(s->warnings, n++), said);
        mem_free(said);
    }
}

/* Captures output to `fd`. */
struct caught {
    int fd, before;
    FILE *file;
};

static struct caught catch (FILE *stream)
{
    struct caught c = {fileno(stream), -1, tmpfile()};
    fflush(stream);
    c.before = dup(c.fd);
    dup2(fileno(c.file), c.fd);
    return c;
}

static char *caught_text(struct caught *c, FILE *stream)
{
    fflush(stream);
    dup2(c->before, c->fd);
    close(c->before);
    long n = lseek(fileno(c->file), 0, SEEK_END);
    char *text = mem_calloc((size_t)n + 1, 1);
    if (pread(fileno(c->file), text, (size_t)n, 0) != n)
        printf("# cannot be read\n");
    fclose(c->file);
    return text;
}

static int run_experiments(struct session *s, const struct properties *p, char **argv, struct experiment **e,
                           struct diagnosis **d, char **failed)
{
    struct campaign_user user = {.ctx = &world, .report = report, .warnings = s->warnings, .progress = &s->progress};
    return campaign_diagnose(&user, p, &world.options, argv, e, d, failed, &s->err);
}

static void check_drawn(void)
{
    struct session s = {.warnings = warnings_create()};
    struct wanted w = {.failed = NULL};
    char program[] = "/bin/prog", argument[] = "arg", *argv[] = {program, argument, NULL}, *want = NULL, *failed;
    struct experiment *e = NULL;
    struct diagnosis *d = NULL;
    struct properties *p = properties_create();
    size_t size;
    draw_world(&s);
    world.options.keep = folder;
    struct caught out = catch (stdout), err = catch (stderr);
    world.inherited = inherited();
    int status = run_experiments(&s, p, argv, &e, &d, &failed);
    char *error = caught_text(&err, stderr), *output = caught_text(&out, stdout);
    w.out = open_memstream(&want, &size);
    CHECK_INT(status, all_wanted(&w));
    fclose(w.out);
    CHECK_STR(error, want);
    CHECK_STR(output, "");
    CHECK_NAMED(status < 0 ? !failed : !failed == !w.failed && (!failed || strcmp(failed, w.failed) == 0),
                "why it ended");
    CHECK_INT(access(folder, F_OK) == 0, status == 0);
    CHECK_NAMED(status == 0 || *s.err.msg, "an error says why");
    if (status == 0) {
        CHECK(e == world.kept && world.looked);
        check_steps(&w, d);
        check_warnings(&s, &w);
    }
    rmdir(folder);
    experiment_free(e);
    diagnosis_free(d);
    properties_free(p);
    warnings_free(s.warnings);
    mem_free(error);
    mem_free(output);
    mem_free(failed);
    mem_free(w.failed);
    free(want);
}

/* ---- the folder --------------------------------------------------------------------------------------------------------------------- */

static void check_folder(const char *wanted)
{
    char *got = dir_unused("some/where/prog", "experiments", NULL);
    CHECK_STR(got, wanted);
    mem_free(got);
}

static void test_folder(void)
{
    CHECK_INT(chdir(folder), 0);
    check_folder("hpcview-prog.experiments");
    CHECK_INT(symlink("nowhere", "hpcview-prog.experiments"), 0);
    check_folder("hpcview-prog-2.experiments");
    CHECK_INT(mkdir("hpcview-prog-3.experiments", 0777), 0);
    check_folder("hpcview-prog-2.experiments");
    CHECK_INT(mkdir("hpcview-prog-2.experiments", 0777), 0);
    check_folder("hpcview-prog-4.experiments");
    CHECK_INT(rmdir("hpcview-prog-2.experiments") + rmdir("hpcview-prog-3.experiments") +
                  unlink("hpcview-prog.experiments"),
              0);
    CHECK_INT(chdir("/"), 0);
}

/* If a program could not be started, only the existing files remain. */
static void test_nothing_left(void)
{
    struct session s = {.warnings = warnings_create()};
    char program[] = "prog", *argv[] = {program, program, NULL}, *failed;
    struct experiment *e;
    struct diagnosis *d;
    struct properties *p = properties_create();
    char *inner = path_join(folder, "experiment-1");
    for (int mine = 0; mine < 2; mine++) {
        draw_world(&s);
        world.listing_fails = false;
        world.rounds[0].failure = RUN;
        world.options.keep = folder;
        CHECK_INT(mine ? mkdir(folder, 0777) || mkdir(inner, 0777) : 0, 0);
        char *file = path_join(folder, "mine");
        FILE *f = mine ? fopen(file, "w") : NULL;
        CHECK_INT(f ? fclose(f) : 0, 0);
        struct caught out = catch (stdout), err = catch (stderr);
        int status = run_experiments(&s, p, argv, &e, &d, &failed);
        mem_free(caught_text(&err, stderr));
        mem_free(caught_text(&out, stdout));
        CHECK_INT(status, -1);
        CHECK_STR(s.err.msg, "it cannot run");
        CHECK(!failed && !e && !d);
        CHECK_INT(access(inner, F_OK), -1);
        CHECK_INT(access(file, F_OK), mine ? 0 : -1);
        unlink(file);
        rmdir(folder);
        mem_free(file);
    }
    mem_free(inner);
    properties_free(p);
    warnings_free(s.warnings);
}

/* The descriptor of a closed stream is free: it may be reused for the temporary standard output. */
static void test_closed_stream(int closed, const char *said)
{
    struct session s = {.warnings = warnings_create()};
    char program[] = "prog", *argv[] = {program, program, NULL}, *failed;
    struct experiment *e;
    struct diagnosis *d;
    struct properties *p = properties_create();
    draw_world(&s);
    world.listing_fails = false;
    world.rounds[0] = (struct round_drawn){.failure = NOTHING_FAILS};
    world.options.experiments = 1;
    world.options.keep = folder;
    struct caught out = catch (stdout), err = catch (stderr);
    int before = fcntl(closed, F_DUPFD, 3);
    close(closed);
    world.inherited = inherited();
    int status = run_experiments(&s, p, argv, &e, &d, &failed);
    int is_open = fcntl(closed, F_GETFD);
    dup2(before, closed);
    close(before);
    char *error = caught_text(&err, stderr), *output = caught_text(&out, stdout);
    CHECK_INT(status, said ? -1 : 0);
    CHECK_STR(s.err.msg, said ? said : "");
    CHECK_INT(is_open, -1);
    CHECK_INT(strstr(error, "record prog") != NULL, !said);
    CHECK_STR(output, "");
    rmdir(folder);
    experiment_free(e);
    diagnosis_free(d);
    properties_free(p);
    warnings_free(s.warnings);
    mem_free(error);
    mem_free(output);
    mem_free(failed);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    folder = mem_printf("%s/hpcview-live.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(folder));
    RUN(test_folder);
    rmdir(folder);
    for (int i = 0; i < 150; i++)
        check_drawn();
    RUN(test_nothing_left);
    test_closed_stream(STDIN_FILENO, NULL);
    test_closed_stream(STDOUT_FILENO, "standard output: cannot be redirected: Bad file descriptor");
    test_closed_stream(STDERR_FILENO, "standard output: cannot be redirected: Bad file descriptor");
    mem_free(folder);
    return tap_done();
}
