/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview info: contents of a measurement, from header to totals, and whether all of its blocks are sound. */
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"
#include "htmlgen/htmlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct settings {
    bool blocks, threads;
} opt;

static const struct option_row rows[] = {
    {"blocks", 'b', OPT_FLAG, offsetof(struct settings, blocks), NULL, "list every block with position and length"},
    {"threads", 't', OPT_FLAG, offsetof(struct settings, threads), NULL, "list every thread"},
    {0},
};

/* ---- blocks --------------------------------------------------------------------------------------------- */

struct blocks {
    size_t sound, bad;
    uint64_t bytes, bad_bytes;
    const char *why;
};

static void count_block(void *ctx, const struct hpcprof_block *b)
{
    struct blocks *blocks = ctx;
    if (opt.blocks)
        printf("  block  %10llu %10llu  %s%s%s\n", (unsigned long long)b->offset, (unsigned long long)b->length,
               b->type, b->why_not ? ": " : "", b->why_not ? b->why_not : "");
    if (!b->why_not) {
        blocks->sound++;
        blocks->bytes += b->length;
        return;
    }
    blocks->bad++;
    blocks->bad_bytes += b->length;
    blocks->why = b->why_not;
}

static int show_file(const char *path, bool *sound, struct err *err)
{
    struct filemap map;
    struct blocks b = {0};
    if (filemap_open(&map, path, err) < 0)
        return -1;
    printf("%s: %zu bytes\n", path, map.len);
    int status = hpcprof_list_blocks(map.bytes, map.len, path, count_block, &b, err);
    filemap_release(&map);
    if (status < 0)
        return -1;
    if (b.bad)
        printf("  blocks       %zu intact; the %llu bytes after them cannot be used: the next block, %s\n", b.sound,
               (unsigned long long)b.bad_bytes, b.why);
    else
        printf("  blocks       %zu, all intact\n", b.sound);
    *sound &= b.bad == 0;
    return 0;
}

/* ---- what is in it ------------------------------------------------------------------------------------------- */

static const char *text_of(const struct hpcprof *p, str_id id)
{
    return strtab_get(p->strings, id);
}

static void show_time(const char *what, uint64_t ns)
{
    char text[64];
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (ns == 0 || !gmtime_r(&seconds, &tm))
        return;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    printf("  %-12s %s.%03u UTC\n", what, text, (unsigned)(ns / 1000000 % 1000));
}

static void show_status(const struct hpcprof_process *process)
{
    int s = process->exit_status;
    const char *rest = process->complete ? "" : ", before it could write its last counts";
    if (s == -1 && !process->complete)
        printf("  ended        unknown: killed, or still running\n");
    else if (s == -1 && process->end_ns == 0) /* imports seldom say */
        printf("  ended        unknown\n");
    else if (s == -1)
        printf("  ended        executed another program\n");
    else if (WIFSIGNALED(s))
        printf("  ended        by signal %d%s\n", WTERMSIG(s), rest);
    else
        printf("  ended        with exit status %d%s\n", WEXITSTATUS(s), rest);
}

static void show_process(const struct hpcprof *p, uint32_t i)
{
    const struct hpcprof_process *process = &p->processes[i];
    printf("process %u on %s: %s\n", process->pid, text_of(p, process->host), text_of(p, process->command));
    if (process->rank >= 0)
        printf("  rank         %d\n", process->rank);
    printf("  parent       %u\n  directory    %s\n  machine      %s\n  kernel       %s\n  sampler      %s\n",
           process->parent_pid, text_of(p, process->working_dir), text_of(p, process->machine),
           text_of(p, process->kernel), text_of(p, process->sampler));
    show_time("started", process->start_ns);
    show_time("finished", process->end_ns);
    show_status(process);
    size_t first = sorted_front(p->note_count, n, p->notes[n].process < i);
    for (size_t n = first; n < p->note_count && p->notes[n].process == i; n++)
        printf("  %-12s %s\n", text_of(p, p->notes[n].name), text_of(p, p->notes[n].value));
    printf("  threads      %u\n", process->thread_count);
}

/* Counts of one thread, of one region, or of all, by event. */
struct sums {
    uint64_t samples, value, total;
    size_t totals;
};

static void add_count(struct sums *by_event, const struct hpcprof_count *c)
{
    by_event[c->event].samples += c->samples;
    by_event[c->event].value += c->value;
}

static void add_total(struct sums *by_event, const struct hpcprof_total *t)
{
    by_event[t->event].total += t->value;
    by_event[t->event].totals++;
}

/* Samples by how their paths end: at the thread's first function, or where they were cut, outermost. */
static void show_paths(const struct hpcprof *p, uint32_t e, uint64_t all)
{
    uint32_t *module = mem_alloc(p->context_count * sizeof *module); /* + 1; 0: that path is whole */
    uint64_t *samples = mem_calloc(p->module_count + 1, sizeof *samples);
    for (uint32_t i = 0; i < p->context_count; i++) { /* parents come first */
        const struct hpcprof_context *c = &p->contexts[i];
        module[i] = c->parent == HPCPROF_NO_PARENT ? 0 : module[c->parent];
        if (module[i] == 0 && hpcprof_cut_reason(p, i))
            module[i] = c->module + 1;
    }
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].event == e)
            samples[module[p->counts[i].context]] += p->counts[i].samples;
    printf("  paths        %.2f%% complete (from the thread's first function)\n",
           100.0 * (double)samples[0] / (double)all);
    for (uint32_t i = 0; i < p->module_count; i++)
        if (samples[i + 1])
            printf("               %.2f%% %s\n", 100.0 * (double)samples[i + 1] / (double)all,
                   text_of(p, p->modules[i].path));
    mem_free(samples);
    mem_free(module);
}

/* The sampled estimate and the exact total side by side; the difference happened in the kernel, or was lost. The
   share is of the threads that have a total. */
static void show_event(const struct hpcprof *p, uint32_t e, const struct sums *s, const struct hpcprof_share *share)
{
    const struct hpcprof_event *event = &p->events[e];
    printf("event %s (%s)\n", text_of(p, event->name), text_of(p, event->description));
    if (event->flags & HPCPROF_LOST) {
        printf("  count        %llu\n", (unsigned long long)s->total);
        return;
    }
    printf("  period       %llu %s%s%s\n", (unsigned long long)event->period, text_of(p, event->unit),
           event->flags & HPCPROF_FREQUENCY ? ", adapted by the kernel" : "",
           event->flags & HPCPROF_ESTIMATED ? ", multiplexed: estimates" : "");
    printf("  samples      %llu\n  sampled      %llu %s\n", (unsigned long long)s->samples,
           (unsigned long long)s->value, text_of(p, event->unit));
    if (s->totals)
        printf("  counted      %llu %s (sampled: %.1f%%)\n", (unsigned long long)s->total, text_of(p, event->unit),
               share->counted ? 100.0 * (double)share->sampled / (double)share->counted : 0.0);
    if (s->samples && hpcprof_has_paths(p))
        show_paths(p, e, s->samples);
}

static void show_events(const struct hpcprof *p)
{
    struct sums *s = mem_calloc(p->event_count + 1, sizeof *s);
    struct hpcprof_share *shares = hpcprof_shares(p);
    for (size_t i = 0; i < p->count_count; i++)
        add_count(s, &p->counts[i]);
    for (size_t i = 0; i < p->total_count; i++)
        add_total(s, &p->totals[i]);
    for (uint32_t e = 0; e < p->event_count; e++)
        show_event(p, e, &s[e], &shares[e]);
    mem_free(shares);
    mem_free(s);
}

/* Counts and totals are in the order of threads: those of a thread follow those of the one before. */
static void show_thread(const struct hpcprof *p, uint32_t t, size_t *count, size_t *total)
{
    const struct hpcprof_thread *thread = &p->threads[t];
    struct sums *s = mem_calloc(p->event_count + 1, sizeof *s);
    printf("thread %u.%u %s: ", p->processes[thread->process].pid, thread->number, text_of(p, thread->name));
    if (thread->end_ns > thread->start_ns)
        printf("%.6f s", (double)(thread->end_ns - thread->start_ns) * 1e-9);
    if (thread->cpu_ns)
        printf(", CPU %.6f s", (double)thread->cpu_ns * 1e-9);
    for (; *count < p->count_count && p->counts[*count].thread == t; ++*count)
        add_count(s, &p->counts[*count]);
    for (; *total < p->total_count && p->totals[*total].thread == t; ++*total)
        add_total(s, &p->totals[*total]);
    for (uint32_t e = 0; e < p->event_count; e++)
        if (s[e].samples || s[e].totals)
            printf(", %s %llu/%llu", text_of(p, p->events[e].name), (unsigned long long)s[e].value,
                   (unsigned long long)s[e].total);
    printf("\n");
    mem_free(s);
}

static int compare_by_region(const void *left, const void *right)
{
    const struct hpcprof_count *a = left, *b = right;
    return order_of(a->region, b->region) ?: order_of(a->event, b->event);
}

static void show_regions(const struct hpcprof *p)
{
    struct VEC(struct hpcprof_count) in_regions = {0};
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].region)
            *vec_push(&in_regions) = p->counts[i];
    vec_sort(&in_regions, compare_by_region);
    for (size_t i = 0, next; i < in_regions.count; i = next) {
        uint64_t value = 0, samples = 0;
        for (next = i; next < in_regions.count && compare_by_region(&in_regions.items[i], &in_regions.items[next]) == 0;
             next++) {
            value += in_regions.items[next].value;
            samples += in_regions.items[next].samples;
        }
        if (samples)
            printf("region %s: %s %llu\n", text_of(p, p->regions[in_regions.items[i].region].name),
                   text_of(p, p->events[in_regions.items[i].event].name), (unsigned long long)value);
    }
    vec_release(&in_regions);
}

static void show_all(const struct hpcprof *p)
{
    for (uint32_t i = 0; i < p->process_count; i++)
        show_process(p, i);
    show_events(p);
    size_t count = 0, total = 0;
    for (uint32_t i = 0; opt.threads && i < p->thread_count; i++)
        show_thread(p, i, &count, &total);
    show_regions(p);
    printf("modules %zu, contexts %zu, counts %zu\n", p->module_count, p->context_count,
           p->rows_read ? p->rows_read : p->count_count);
}

/* ---- files and directories --------------------------------------------------------------------------------------- */

static int show_directory(const char *path, bool *sound, struct err *err)
{
    struct text_list files = {0};
    int status = dir_list(path, HPCPROF_SUFFIX, "reading the folder", &files, err);
    for (size_t i = 0; i < files.count; i++) {
        struct err one = {0};
        if (show_file(files.items[i], sound, &one) < 0) {
            printf("  cannot be used: %s\n", one.msg);
            *sound = false;
        }
    }
    text_list_release(&files);
    return status;
}

static int show_one(struct session *s, const char *path, bool *sound)
{
    struct stat st;
    struct hpcprof *p;
    struct hpcprof_reading how = {.summed = !opt.threads, .progress = &s->progress};
    if (driver_check_measurement("info", path, &s->err) < 0)
        return -1;
    if (experiment_is_database(path))
        return err_set(&s->err, ERR_USAGE, "info: %s is a database, not a measurement; to print it: hpcview print %s",
                       path, path);
    if (stat(path, &st) < 0)
        return err_errno(&s->err, path, "reading the measurement");
    int status = S_ISDIR(st.st_mode) ? show_directory(path, sound, &s->err) : show_file(path, sound, &s->err);
    if (status < 0 || hpcprof_read_as(path, &how, &p, s->warnings, &s->err) < 0)
        return -1;
    show_all(p);
    hpcprof_free(p);
    return 0;
}

static int run(struct session *s, int argc, char **argv)
{
    bool sound = true;
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "info: usage: hpcview info MEASUREMENTS...");
    for (int i = 0; i < argc; i++)
        if (show_one(s, argv[i], &sound) < 0)
            return -1;
    return sound ? 0 : 1;
}

static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

const struct command command_info = {
    .name = "info",
    .synopsis = "[--blocks] [--threads] MEASUREMENTS...",
    .summary = "show the contents and the state of a measurement",
    .options = tables,
    .run = run,
};
