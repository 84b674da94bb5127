/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview phases: barriers and phases of a measurement, also while it is being made: which threads wait now, and for
   which. */
#include "bloop/bloop.h"
#include "driver/driver.h"
#include "phases/phases.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct settings {
    bool follow;
    unsigned times;
    double every;
} opt;

static const struct option_row rows[] = {
    {"follow", 'f', OPT_FLAG, offsetof(struct settings, follow), NULL, "update until the program ends"},
    {"every", 0, OPT_SECONDS, offsetof(struct settings, every), "SECONDS",
     "with --follow: update interval (default: 1)"},
    {"times", 'n', OPT_COUNT, offsetof(struct settings, times), "N", "with --follow: stop after N updates"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

static struct bloop_symbolizer *symbolizer;

/* ---- text ------------------------------------------------------------------------------------------------------- */

static union table_cell cell(const struct table *t, size_t row, const char *column)
{
    size_t at = table_column_of(t, column);
    union table_cell none = {.count = TABLE_NO_COUNT};
    return at == SIZE_MAX ? none : table_row(t, row)[at];
}

static const char *place_of(const struct hpcprof *p, uint32_t context)
{
    if (context >= p->context_count)
        return "an unknown place";
    const struct hpcprof_context *c = &p->contexts[context];
    return bloop_symbolize(symbolizer, strtab_get(p->strings, p->modules[c->module].path), c->address);
}

/* The first frame with a line of the source: of a thread in a library, where the program called it. */
static const char *source_of(const struct hpcprof *p, uint32_t context)
{
    for (uint32_t c = context; c < p->context_count; c = p->contexts[c].parent) {
        const char *text = place_of(p, c), *colon = strchr(text, ':');
        if (colon && isdigit((unsigned char)colon[1]))
            return text;
    }
    return place_of(p, context);
}

/* "radix.c:33 in sort (pthread_barrier_wait)" */
static void say_barrier(FILE *out, const struct hpcprof *p, const struct table *barriers, uint32_t row)
{
    const char *name = strtab_get(p->strings, cell(barriers, row, "name").text);
    fprintf(out, "%s%s%s (%s)", name, *name ? " at " : "", place_of(p, cell(barriers, row, "place").row),
            strtab_get(p->strings, cell(barriers, row, "kind").text));
}

static void say_thread(FILE *out, const struct hpcprof *p, uint32_t thread)
{
    if (thread >= p->thread_count)
        return;
    const struct hpcprof_process *process = &p->processes[p->threads[thread].process];
    if (process->rank >= 0)
        fprintf(out, "rank %d ", (int)process->rank);
    else if (p->process_count > 1)
        fprintf(out, "process %u ", process->pid);
    fprintf(out, "thread %u", p->threads[thread].number);
}

/* ---- what was ----------------------------------------------------------------------------------------------------- */

static double ms(union table_cell c)
{
    return c.count == TABLE_NO_COUNT ? 0 : (double)c.count / 1e6;
}

static int by_phase(const void *left, const void *right, const struct table *t)
{
    uint64_t a = cell(t, *(const uint32_t *)left, "phase").count, b = cell(t, *(const uint32_t *)right, "phase").count;
    return a != b ? (a > b ? -1 : 1) : *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

static void show_barriers(const struct hpcprof *p, const struct table *t)
{
    uint32_t n = (uint32_t)table_row_count(t), *order = mem_calloc(n + 1, sizeof *order);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        for (uint32_t k = i; k > 0 && by_phase(&order[k - 1], &order[k], t) > 0; k--) {
            uint32_t swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    }
    printf("%10s %12s %12s %9s %10s %12s  %s\n", "episodes", "phase ms", "barrier ms", "of phase", "imbalance",
           "longest ms", "ended by");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = order[i];
        if (cell(t, row, "episodes").count == 0 && cell(t, row, "broken").count == 0)
            continue; /* of two calls for one line (compilers make them) episodes stand with the first */
        double phase = ms(cell(t, row, "phase")), barrier = ms(cell(t, row, "barrier")),
               idle = ms(cell(t, row, "idle")), threads = (double)cell(t, row, "threads").count;
        printf("%10llu %12.3f %12.3f %8.1f%% %9.1f%% %12.3f  ", (unsigned long long)cell(t, row, "episodes").count,
               phase, barrier, phase > 0 ? barrier / phase * 100 : 0,
               phase > 0 && threads > 0 ? idle / phase / threads * 100 : 0, ms(cell(t, row, "worst")));
        say_barrier(stdout, p, t, row);
        putchar('\n');
    }
    mem_free(order);
}

/* ---- what is ------------------------------------------------------------------------------------------------------- */

static double seconds_since(uint64_t then)
{
    uint64_t now = time_wall_ns();
    return then < now ? (double)(now - then) / 1e9 : 0;
}

static void show_missing(const struct hpcprof *p, const struct table *states, uint32_t row)
{
    uint32_t place = cell(states, row, "place").row;
    printf("    missing: ");
    say_thread(stdout, p, cell(states, row, "thread").row);
    printf(", %s", strtab_get(p->strings, cell(states, row, "state").text));
    if (place < p->context_count)
        printf(", last seen at %s", source_of(p, place));
    putchar('\n');
}

enum { NAMED_MOST = 16 };

static void show_stuck(const struct hpcprof *p, const struct phases_stuck *s)
{
    const struct table *barriers = table_list_find(&p->tables, "barriers"),
                       *states = table_list_find(&p->tables, "thread_states");
    printf("%.1f s at ", seconds_since(s->since));
    say_barrier(stdout, p, barriers, s->barrier);
    printf(": %zu arrived, %zu missing\n    arrived:", s->arrived_count, s->missing_count);
    for (size_t i = 0; i < s->arrived_count && i < NAMED_MOST; i++) {
        printf(i ? ", " : " ");
        say_thread(stdout, p, cell(states, s->arrived[i], "thread").row);
    }
    printf(s->arrived_count > NAMED_MOST ? ", ...\n" : "\n");
    for (size_t i = 0; i < s->missing_count && i < NAMED_MOST; i++)
        show_missing(p, states, s->missing[i]);
}

static bool is_running(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].end_ns == 0)
            return true;
    return false;
}

static void show_now(const struct hpcprof *p)
{
    struct phases_stuck *list;
    size_t n = phases_stuck(p, &list);
    const struct table *states = table_list_find(&p->tables, "thread_states");
    for (size_t i = 0; i < n; i++)
        show_stuck(p, &list[i]);
    if (n == 0 && is_running(p) && states && table_row_count(states))
        printf("no thread waits at a barrier\n");
    phases_stuck_free(list, n);
}

/* ---- the command ----------------------------------------------------------------------------------------------------- */

static int look(struct session *s, const char *path, bool *running)
{
    struct hpcprof *p;
    struct warnings *cut = warnings_create(); /* the end of a file that is being written is not an error */
    int status = hpcprof_read(path, &p, cut, &s->err);
    warnings_free(cut);
    if (status < 0)
        return -1;
    const struct table *barriers = table_list_find(&p->tables, "barriers");
    *running = is_running(p);
    if (phases_finish(p, &s->err) < 0)
        status = -1;
    else if (!barriers || table_column_of(barriers, "place") == SIZE_MAX)
        status = *running && opt.follow
                     ? 0
                     : err_set(&s->err, ERR_FORMAT, "%s: no barriers were measured; record with --phases", path);
    else {
        show_barriers(p, barriers);
        show_now(p);
        fflush(stdout);
    }
    hpcprof_free(p);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    bool running = true;
    int status = 0;
    if (argc != 1)
        return err_set(&s->err, ERR_USAGE, "phases: usage: hpcview phases MEASUREMENT");
    symbolizer = bloop_symbolizer_create();
    for (unsigned i = 1; running && status == 0; i++) {
        status = look(s, argv[0], &running);
        if (!opt.follow || (opt.times && i >= opt.times))
            break;
        if (running && status == 0) {
            usleep((useconds_t)((opt.every > 0 ? opt.every : 1) * 1e6));
            putchar('\n');
        }
    }
    bloop_symbolizer_free(symbolizer);
    return status;
}

const struct command command_phases = {
    .name = "phases",
    .synopsis = "[options] MEASUREMENT",
    .summary = "show barriers and phases, also of a running program",
    .options = tables,
    .run = run,
};
