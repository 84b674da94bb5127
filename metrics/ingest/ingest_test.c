/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repeated measurements of many threads in many processes, in folders of files: every sum and statistic at every place,
 * each thread's column and its rows in the thread table, compared with plain definitions. Random samples in two runs;
 * the files are read as a whole, then thread by thread, and by several ranks.
 */
#include "tests/fixtures/experiment_outline.h"
#include "tests/ranks.h"

#include <sys/stat.h>

static const char drawing[] = "F /s/a.c\n"
                              " P f 1-20 1000-1100\n"
                              "  S 2 1000-1010\n"
                              "  L 4-9 1010\n"
                              "   S 5 1010-1020\n"
                              "   L 6-8 1020\n"
                              "    S 7 1020-1030\n"
                              "  S 12 1030-1040\n"
                              "F /s/b.c\n"
                              " P g 30-40 2000-2100\n"
                              "  S 31 2000-2010\n"
                              "  L 33-36 2010\n"
                              "   S 34 2010-2020\n";
static const struct drawn_module modules[] = {{"/opt/app", drawing}, {NULL, NULL}};
static const struct {
    unsigned address, line;
} spots[] = {{0x1000, 2}, {0x1010, 5}, {0x1020, 7}, {0x1030, 12}, {0x2000, 31}, {0x2010, 34}};
static const char *const callers[] = {"", "0x2004>", "0x1034>0x2004>"};

enum { RUNS = 2, REPETITIONS = 3, FILES = 3, THREADS = 3, SAMPLES = 150, METRICS = 3 };
static const char *const metrics[METRICS] = {"C", "D", "in"}; /* in: C in the region r */
static const char shown[] = "<measured event='C'/><measured event='D'/><measured event='C' name='in' region='r'/>";

struct who { /* -1: all */
    int run, repetition, file, thread;
    bool rank; /* the file's rank: all its files */
};

struct sample {
    struct who who;
    unsigned spot, caller, samples;
    char event;
    bool in_region;
};

struct world {
    unsigned runs, repetitions, files, threads[RUNS][REPETITIONS][FILES];
    struct sample samples[SAMPLES];
    size_t count;
    char folder[64];
};

static uint64_t seed = 88172645463325252ull;

static unsigned below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 20) % n;
}

/* In the first run, two files are of the same rank; in the second, one is of a launcher. */
static int32_t rank_of(struct who w)
{
    return w.file < 2 ? w.file : w.run ? -1 : 1;
}

static bool is_of(struct who w, struct who wanted)
{
    return w.run == wanted.run && (wanted.repetition < 0 || w.repetition == wanted.repetition) &&
           (wanted.file < 0 || (wanted.rank ? rank_of(w) == rank_of(wanted) : w.file == wanted.file)) &&
           (wanted.thread < 0 || w.thread == wanted.thread);
}

/* ---- samples to files ---------------------------------------------------------------------- */

static void add_sample(struct world *w, struct who who, char event)
{
    w->samples[w->count++] = (struct sample){.who = who,
                                             .spot = below(ARRAY_SIZE(spots)),
                                             .caller = below(ARRAY_SIZE(callers)),
                                             .samples = 1 + below(500),
                                             .event = event,
                                             .in_region = below(3) == 0};
}

/* Both events are in the first file, with and without the region; the other files may have no samples. */
static void make_world(struct world *w)
{
    *w = (struct world){.runs = 1 + below(RUNS), .repetitions = 1 + below(REPETITIONS), .files = 1 + below(FILES)};
    for (unsigned run = 0; run < w->runs; run++)
        for (unsigned k = 0; k < w->repetitions; k++) {
            for (unsigned f = 0; f < w->files; f++)
                w->threads[run][k][f] = 1 + below(THREADS);
            for (unsigned i = 0; i < 4; i++) {
                add_sample(w, (struct who){(int)run, (int)k, 0, 0, false}, "CD"[i & 1]);
                w->samples[w->count - 1].in_region = i & 2;
            }
        }
    for (unsigned more = below(SAMPLES - (unsigned)w->count); more > 0; more--) {
        struct who who = {(int)below(w->runs), (int)below(w->repetitions), (int)below(w->files), 0, false};
        who.thread = (int)below(w->threads[who.run][who.repetition][who.file]);
        add_sample(w, who, "CD"[below(2)]);
    }
}

static struct hpcprof *file_of(const struct world *w, struct who who)
{
    struct buf text = {0};
    buf_str(&text, "");
    for (who.thread = 0; who.thread < (int)w->threads[who.run][who.repetition][who.file]; who.thread++) {
        buf_str(&text, who.thread ? "thread\n" : "");
        for (size_t i = 0; i < w->count; i++) { /* the order of events differs in every second file */
            const struct sample *s = &w->samples[who.file & 1 ? w->count - 1 - i : i];
            if (is_of(s->who, who))
                buf_printf(&text, "/opt/app %s0x%x %c%s %u\n", callers[s->caller], spots[s->spot].address, s->event,
                           s->in_region ? "%r" : "", s->samples);
        }
    }
    struct hpcprof *p = profile_from(text.bytes);
    p->processes[0].rank = rank_of(who);
    buf_release(&text);
    return p;
}

static char *folder_of(const struct world *w, unsigned run, unsigned repetition)
{
    return mem_printf("%s/%u.%u", w->folder, run, repetition);
}

static void write_file(const struct world *w, struct who who)
{
    struct err err = {0};
    struct outfile *out;
    char *folder = folder_of(w, (unsigned)who.run, (unsigned)who.repetition);
    char *path =
        mem_printf("%s/%c.hpcprof", folder, (who.run ? "zya" : "zbc")[who.file]); /* not in the order of ranks */
    struct hpcprof *p = file_of(w, who);
    mkdir(folder, 0777);
    if (outfile_create(path, &out, &err) < 0 || hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0)
        CHECK_STR(err.msg, "");
    hpcprof_free(p);
    mem_free(path);
    mem_free(folder);
}

/* ---- the definitions ------------------------------------------------------------------------ */

static place_ix line_place(const struct experiment *e, unsigned line)
{
    for (place_ix i = 0; i < e->place_count; i++)
        if (e->places[i].kind == PLACE_LINE && e->places[i].line_first == line)
            return i;
    return PLACE_NONE;
}

/* Inclusive: everything below the place; exclusive: its own lines. */
static bool counts_at(const struct experiment *e, place_ix line, place_ix place, enum value_form form)
{
    if (line == PLACE_NONE || line == place || e->places[line].parent == place)
        return line != PLACE_NONE;
    for (place_ix up = line; form == VALUE_INCLUSIVE && up != PLACE_NONE; up = e->places[up].parent)
        if (up == place)
            return true;
    return false;
}

static uint64_t spent(const struct world *w, const struct experiment *e, struct who who, size_t metric, place_ix place,
                      enum value_form form)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct sample *s = &w->samples[i];
        if (is_of(s->who, who) && s->event == (metric == 1 ? 'D' : 'C') && (metric != 2 || s->in_region) &&
            counts_at(e, line_place(e, spots[s->spot].line), place, form))
            sum += s->samples * 10;
    }
    return sum;
}

/* The next of the threads, processes or repetitions of a run; begins with all -1 but the run. */
static bool next_part(const struct world *w, struct who *who, enum statistic_over over)
{
    bool first = who->repetition < 0;
    if (first)
        who->repetition = 0;
    if (over == STAT_REPETITIONS)
        return first || ++who->repetition < (int)w->repetitions;
    if (first)
        who->file = 0;
    if (over == STAT_THREADS && who->thread + 1 < (int)w->threads[who->run][who->repetition][who->file])
        return ++who->thread, true;
    who->thread = over == STAT_THREADS ? 0 : -1;
    if (first)
        return true;
    if (++who->file < (int)w->files)
        return true;
    who->file = 0;
    return ++who->repetition < (int)w->repetitions;
}

/* Launchers are excluded, and the second file of a rank is not a rank of its own. */
static bool is_part(struct who who, enum statistic_over over)
{
    return over == STAT_REPETITIONS || who.file < 2 || (who.run == 0 && over == STAT_THREADS);
}

static double statistic(enum statistic which, const double *values, size_t n)
{
    double sum = 0, least = values[0], most = 0, squares = 0, with = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
        with += values[i] > 0;
    }
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
    return with == 0                 ? NAN
           : which == STAT_MEAN      ? sum / (double)n
           : which == STAT_MIN       ? least
           : which == STAT_MAX       ? most
           : which == STAT_STDDEV    ? sqrt(squares / (double)n)
           : which == STAT_IMBALANCE ? most / (sum / (double)n) - 1
                                     : with;
}

static bool near(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9 * (1 + fabs(b)) || (fabs(a - b) < 1e-3 && fabs(b) < 1e-3);
}

/* ---- comparison with the built experiment ------------------------------------------------------ */

static size_t metric_named(const struct experiment *e, const char *name)
{
    size_t i = 0;
    while (i < e->metric_count && strcmp(strtab_get(e->strings, e->metrics[i].name), name) != 0)
        i++;
    return i;
}

static char *name_in(const struct world *w, unsigned run, size_t metric)
{
    return mem_printf("%s%s", w->runs == 1 ? "" : run ? "b." : "a.", metrics[metric]);
}

static size_t metric_of(const struct experiment *e, const struct world *w, unsigned run, size_t metric)
{
    char *name = name_in(w, run, metric);
    size_t i = metric_named(e, name);
    mem_free(name);
    return i;
}

static unsigned wrong_sums(const struct world *w, const struct experiment *e, unsigned run, size_t metric)
{
    unsigned wrong = 0;
    size_t column = metric_of(e, w, run, metric);
    if (column == e->metric_count)
        return 1;
    for (place_ix i = 0; i < e->place_count; i++)
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            uint64_t sum = spent(w, e, (struct who){(int)run, -1, -1, -1, false}, metric, i, form);
            wrong += !near(experiment_value(e, column, i, form), sum ? (double)sum / w->repetitions : NAN);
        }
    return wrong;
}

static unsigned wrong_statistics(const struct world *w, const struct experiment *e, unsigned run, size_t metric,
                                 enum statistic_over over)
{
    unsigned wrong = 0;
    for (enum statistic which = STAT_MEAN; which < STATISTICS; which++) {
        struct buf name = {0};
        char *base = name_in(w, run, metric);
        statistic_name(&name, which, base, over);
        size_t column = metric_named(e, name.bytes);
        mem_free(base);
        if (column == e->metric_count)
            printf("# no %s of run %u\n", name.bytes, run);
        for (place_ix i = 0; i < e->place_count; i++)
            for (enum value_form form = 0; form < VALUE_FORMS && column < e->metric_count; form++) {
                double values[REPETITIONS * FILES * THREADS], got = experiment_value(e, column, i, form);
                struct who who = {(int)run, -1, -1, -1, false};
                size_t n = 0;
                who.rank = over == STAT_RANKS;
                while (next_part(w, &who, over))
                    if (is_part(who, over))
                        values[n++] = (double)spent(w, e, who, metric, i, form);
                wrong += !near(got, statistic(which, values, n));
            }
        wrong += column == e->metric_count;
        buf_release(&name);
    }
    return wrong;
}

/* The order of columns by thread is that of the threads. */
static unsigned wrong_columns(const struct world *w, const struct experiment *e, unsigned run, size_t metric)
{
    unsigned wrong = 0;
    struct who who = {(int)run, -1, -1, -1, false};
    size_t column = 0;
    char *begin = mem_printf("%s%s[", w->runs == 1 ? "" : run ? "b." : "a.", metrics[metric]);
    while (column < e->metric_count && !str_starts(strtab_get(e->strings, e->metrics[column].name), begin))
        column++;
    mem_free(begin);
    for (; next_part(w, &who, STAT_THREADS); column++) {
        if (column >= e->metric_count || !strchr(strtab_get(e->strings, e->metrics[column].name), '['))
            return wrong + 1;
        for (place_ix i = 0; i < e->place_count; i++)
            for (enum value_form form = 0; form < VALUE_FORMS; form++) {
                uint64_t sum = spent(w, e, who, metric, i, form);
                wrong += !near(experiment_value(e, column, i, form), sum ? (double)sum : NAN);
            }
    }
    return wrong;
}

static double row_of(const struct experiment *e, const struct table *t, size_t column, uint64_t process,
                     uint64_t thread, place_ix place)
{
    double value = NAN;
    for (size_t i = 0; i < table_row_count(t); i++) {
        struct thread_values_row r = thread_values_row(t, i);
        if (r.metric == e->metrics[column].name && r.who.process == process && r.who.thread == thread &&
            r.place == place)
            value = r.value;
    }
    return value;
}

/* There are fewer places than the limit: each has rows of all threads with samples in it, and the program has rows of
   all threads. */
static unsigned wrong_rows(const struct world *w, const struct experiment *e, const struct table *t, unsigned run,
                           size_t metric, size_t *rows)
{
    unsigned wrong = 0;
    size_t column = metric_of(e, w, run, metric);
    struct who who = {(int)run, -1, -1, -1, false};
    while (next_part(w, &who, STAT_THREADS)) {
        uint64_t number = (uint64_t)rank_of(who);
        bool again = !is_part(who, STAT_THREADS); /* or in an earlier file */
        for (int k = 0; k <= who.repetition; k++)
            for (int f = 0; f < (k < who.repetition ? (int)w->files : who.file); f++) {
                struct who other = {who.run, k, f, who.thread, false};
                again |= (uint64_t)rank_of(other) == number && who.thread < (int)w->threads[run][k][f];
            }
        for (place_ix i = 0; i < e->place_count && !again; i++) {
            struct who all = {(int)run, -1, who.file, who.thread, true};
            uint64_t sum = spent(w, e, all, metric, i, VALUE_INCLUSIVE);
            bool has = i == 0 || (sum && e->places[i].kind >= PLACE_PROC);
            wrong += !near(row_of(e, t, column, number, (uint64_t)who.thread, i), has ? (double)sum : NAN);
            *rows += has;
        }
    }
    return wrong;
}

static unsigned wrong_table(const struct world *w, const struct experiment *e)
{
    unsigned wrong = 0, parts[RUNS] = {0};
    const struct table *t = NULL;
    size_t rows = 0;
    for (size_t i = 0; i < e->tables.count; i++)
        if (strcmp(table_declared(e->tables.items[i])->name, TABLE_THREAD_VALUES) == 0)
            t = e->tables.items[i];
    for (unsigned run = 0; run < w->runs; run++) {
        struct who who = {(int)run, -1, -1, -1, false};
        while (next_part(w, &who, STAT_THREADS))
            parts[run]++;
        for (size_t m = 0; m < METRICS && parts[run] > 1 && t; m++)
            wrong += wrong_rows(w, e, t, run, m, &rows);
    }
    return wrong + ((parts[0] > 1 || parts[1] > 1) != (t != NULL)) + (t && table_row_count(t) != rows);
}

/* All values of all trees. */
static char *all_of(const struct experiment *e)
{
    struct buf b = {0};
    for (size_t tree = 0; tree < e->tree_count; tree++)
        for (size_t m = 0; m < e->metric_count; m++) {
            buf_printf(&b, "\n%s:", strtab_get(e->strings, e->metrics[m].name));
            for (uint32_t i = 0; i < e->trees[tree].node_count; i++) {
                buf_printf(&b, " %u/%u", experiment_node_place(e, tree, i), experiment_node_parent(e, tree, i));
                draw_value(&b, experiment_node_value(e, tree, m, i, VALUE_INCLUSIVE));
                draw_value(&b, experiment_node_value(e, tree, m, i, VALUE_EXCLUSIVE));
            }
        }
    buf_str(&b, "");
    return b.bytes;
}

/* ---- ways to read the files -------------------------------------------------------------------- */

struct way {
    const char *name;
    bool again;     /* from the files, when statistics are computed */
    bool by_thread; /* with columns of each thread */
    unsigned ranks; /* 0: this process alone */
};

static struct experiment *build(const struct world *w, const struct way *way, const struct ranks *ranks)
{
    struct input inputs[RUNS * REPETITIONS];
    struct config *c = config_from(shown, w->runs);
    struct structure_source source = {drawn_scopes, (void *)modules, NULL};
    struct hpcprof_reading how = {.threads = 2, .summed = way->again && !way->by_thread, .ranks = ranks};
    struct warnings *warnings = warnings_create();
    struct experiment *e = NULL;
    struct err err = {0};
    size_t n = 0;
    int status = 0;
    config_set_ranks(c, ranks);
    config_set_per_thread(c, way->by_thread);
    config_set_thread_values(c, true);
    status = config_add_statistics(c, "threads", &err) | config_add_statistics(c, "ranks", &err);
    if (w->repetitions > 1)
        status |= config_add_statistics(c, "repetitions", &err);
    for (unsigned run = 0; run < w->runs; run++)
        for (unsigned k = 0; k < w->repetitions && status == 0; k++, n++) {
            char *folder = folder_of(w, run, k);
            inputs[n] = (struct input){.run = run, .repetition = w->repetitions > 1 ? k + 1 : 0};
            status = hpcprof_read_as(folder, &how, &inputs[n].profile, warnings, &err);
            inputs[n].path = way->again ? mem_strdup(folder) : NULL;
            mem_free(folder);
        }
    if (status == 0)
        status = experiment_from(c, inputs, n, &source, NULL, &e, warnings, &err);
    if (status < 0)
        printf("# %s: %s\n", way->name, err.msg);
    for (size_t i = 0; i < n; i++) {
        hpcprof_free(inputs[i].profile);
        mem_free((void *)(uintptr_t)inputs[i].path);
    }
    warnings_free(warnings);
    config_free(c);
    return e;
}

static void check_way(const struct world *w, const struct way *way, const struct experiment *e)
{
    unsigned sums = 0, statistics = 0, columns = 0, rows;
    struct err err = {0};
    for (unsigned run = 0; run < w->runs; run++)
        for (size_t m = 0; m < METRICS; m++) {
            sums += wrong_sums(w, e, run, m);
            statistics += wrong_statistics(w, e, run, m, STAT_THREADS) + wrong_statistics(w, e, run, m, STAT_RANKS);
            if (w->repetitions > 1)
                statistics += wrong_statistics(w, e, run, m, STAT_REPETITIONS);
            if (way->by_thread)
                columns += wrong_columns(w, e, run, m);
        }
    rows = wrong_table(w, e);
    if (!CHECK_NAMED(sums + statistics + columns + rows == 0 && experiment_check(e, &err) == 0, way->name))
        printf("# of %u runs, %u repetitions, %u files: %u sums, %u statistics, %u columns, %u rows wrong; %s\n",
               w->runs, w->repetitions, w->files, sums, statistics, columns, rows, err.msg);
}

/* (Only the first rank prints.) Returns all values as text; compares it with the result of another way, if given. */
static char *by_way(const struct world *w, const struct way *way, const char *same)
{
    struct test_ranks t;
    fflush(stdout);
    test_ranks_begin(&t, way->ranks ? way->ranks : 1);
    struct experiment *e = build(w, way, way->ranks ? &t.ranks : NULL);
    bool well = e != NULL;
    if (t.ranks.me == 0 && e)
        check_way(w, way, e);
    char *text = e ? all_of(e) : mem_strdup("");
    if (t.ranks.me == 0 && same)
        CHECK_STR(text, same);
    experiment_free(e);
    well = test_ranks_end(&t, well);
    CHECK(well);
    return text;
}

static void check_world(struct world *w)
{
    static const struct way ways[] = {{"in memory", false, false, 0},
                                      {"read again", true, false, 0},
                                      {"by two ranks", true, false, 2},
                                      {"by five ranks", true, false, 5}};
    static const struct way threads[] = {{"columns of threads", false, true, 0},
                                         {"columns of threads, read again", true, true, 0}};
    char *first = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        char *text = by_way(w, &ways[i], first);
        mem_free(i ? text : NULL);
        first = i ? first : text;
    }
    mem_free(first);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        mem_free(by_way(w, &threads[i], NULL));
}

int main(void)
{
    for (int round = 0; round < 12; round++) {
        struct world w;
        make_world(&w);
        snprintf(w.folder, sizeof w.folder, "gathered.XXXXXX");
        if (!CHECK(mkdtemp(w.folder) != NULL))
            break;
        for (unsigned run = 0; run < w.runs; run++)
            for (unsigned k = 0; k < w.repetitions; k++)
                for (unsigned f = 0; f < w.files; f++)
                    write_file(&w, (struct who){(int)run, (int)k, (int)f, 0, false});
        check_world(&w);
        char *command = mem_printf("rm -r %s", w.folder);
        CHECK(system(command) == 0);
        mem_free(command);
    }
    return tap_done();
}
