/* hpcview info: what a measurement holds, from header to totals, and whether all of its blocks are sound. */
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static bool show_blocks, show_threads;

static const struct option_row rows[] = {
    {"blocks", 'b', OPT_FLAG, &show_blocks, NULL, "every block of the file, with its place and length"},
    {"threads", 't', OPT_FLAG, &show_threads, NULL, "every thread"},
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
    if (show_blocks)
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
        printf("  blocks       %zu sound; the %llu bytes after them cannot be used: the next block, %s\n", b.sound,
               (unsigned long long)b.bad_bytes, b.why);
    else
        printf("  blocks       %zu, all sound\n", b.sound);
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
    const char *rest = process->complete ? "" : ", before it could write what it did last";
    if (s == -1 && !process->complete)
        printf("  ended        not seen: killed, or still running\n");
    else if (s == -1)
        printf("  ended        became another program\n");
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
    for (size_t n = 0; n < p->note_count; n++)
        if (p->notes[n].process == i)
            printf("  %-12s %s\n", text_of(p, p->notes[n].name), text_of(p, p->notes[n].value));
    printf("  threads      %u\n", process->thread_count);
}

struct sums {
    uint64_t samples, value, total;
    size_t totals;
};

static struct sums sum_of(const struct hpcprof *p, uint32_t event, uint32_t first, uint32_t count)
{
    struct sums s = {0};
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].event == event && p->counts[i].thread - first < count) {
            s.samples += p->counts[i].samples;
            s.value += p->counts[i].value;
        }
    for (size_t i = 0; i < p->total_count; i++)
        if (p->totals[i].event == event && p->totals[i].thread - first < count) {
            s.total += p->totals[i].value;
            s.totals++;
        }
    return s;
}

/* Samples by how their paths end: 0 at the thread's first function, else by the context at the end. */
static void show_paths(const struct hpcprof *p, uint32_t e, uint64_t all)
{
    uint32_t *root = mem_alloc((p->context_count + 1) * sizeof *root);
    uint64_t *samples = mem_calloc(p->context_count + 1, sizeof *samples), cut = 0;
    for (uint32_t i = 0; i < p->context_count; i++) /* parents come first */
        root[i] = p->contexts[i].parent == HPCPROF_NO_PARENT ? i : root[p->contexts[i].parent];
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].event == e)
            samples[root[p->counts[i].context]] += p->counts[i].samples;
    for (uint32_t i = 0; i < p->context_count; i++)
        cut += hpcprof_cut_reason(p, i) ? samples[i] : 0;
    printf("  paths        %.2f%% from the thread's first function on\n", 100.0 * (double)(all - cut) / (double)all);
    for (uint32_t i = 0; i < p->context_count; i++)
        if (samples[i] && hpcprof_cut_reason(p, i))
            printf("               %.2f%% %s\n", 100.0 * (double)samples[i] / (double)all, hpcprof_cut_reason(p, i));
    mem_free(samples);
    mem_free(root);
}

/* The sampled estimate and the exact total side by side; what they differ by happened in the kernel, or was lost.
   The share is of the threads that have a total. */
static void show_event(const struct hpcprof *p, uint32_t e)
{
    const struct hpcprof_event *event = &p->events[e];
    struct sums s = sum_of(p, e, 0, UINT32_MAX);
    struct hpcprof_share share = hpcprof_share_of(p, e);
    printf("event %s (%s)\n", text_of(p, event->name), text_of(p, event->description));
    if (event->flags & HPCPROF_LOST) {
        printf("  count        %llu\n", (unsigned long long)s.total);
        return;
    }
    printf("  period       %llu %s%s%s\n", (unsigned long long)event->period, text_of(p, event->unit),
           event->flags & HPCPROF_FREQUENCY ? ", adapted by the kernel" : "",
           event->flags & HPCPROF_ESTIMATED ? ", multiplexed: estimates" : "");
    printf("  samples      %llu\n  sampled      %llu %s\n", (unsigned long long)s.samples, (unsigned long long)s.value,
           text_of(p, event->unit));
    if (s.totals)
        printf("  counted      %llu %s (sampled: %.1f%%)\n", (unsigned long long)s.total, text_of(p, event->unit),
               share.counted ? 100.0 * (double)share.sampled / (double)share.counted : 0.0);
    if (s.samples && hpcprof_has_paths(p))
        show_paths(p, e, s.samples);
}

static void show_thread(const struct hpcprof *p, uint32_t t)
{
    const struct hpcprof_thread *thread = &p->threads[t];
    printf("thread %u.%u %s: ", p->processes[thread->process].pid, thread->number, text_of(p, thread->name));
    if (thread->end_ns > thread->start_ns)
        printf("%.6f s", (double)(thread->end_ns - thread->start_ns) * 1e-9);
    if (thread->cpu_ns)
        printf(", CPU %.6f s", (double)thread->cpu_ns * 1e-9);
    for (uint32_t e = 0; e < p->event_count; e++) {
        struct sums s = sum_of(p, e, t, 1);
        if (s.samples || s.totals)
            printf(", %s %llu/%llu", text_of(p, p->events[e].name), (unsigned long long)s.value,
                   (unsigned long long)s.total);
    }
    printf("\n");
}

static void show_regions(const struct hpcprof *p)
{
    for (size_t r = 1; r < p->region_count; r++)
        for (uint32_t e = 0; e < p->event_count; e++) {
            uint64_t value = 0, samples = 0;
            for (size_t i = 0; i < p->count_count; i++)
                if (p->counts[i].region == r && p->counts[i].event == e) {
                    value += p->counts[i].value;
                    samples += p->counts[i].samples;
                }
            if (samples)
                printf("region %s: %s %llu\n", text_of(p, p->regions[r].name), text_of(p, p->events[e].name),
                       (unsigned long long)value);
        }
}

static void show_all(const struct hpcprof *p)
{
    for (uint32_t i = 0; i < p->process_count; i++)
        show_process(p, i);
    for (uint32_t i = 0; i < p->event_count; i++)
        show_event(p, i);
    for (uint32_t i = 0; show_threads && i < p->thread_count; i++)
        show_thread(p, i);
    show_regions(p);
    printf("modules %zu, contexts %zu, counts %zu\n", p->module_count, p->context_count, p->count_count);
}

/* ---- files and directories --------------------------------------------------------------------------------------- */

static int is_measurement(const struct dirent *entry)
{
    return str_ends(entry->d_name, HPCPROF_SUFFIX);
}

static int show_directory(const char *path, bool *sound, struct err *err)
{
    struct dirent **list;
    int n = scandir(path, &list, is_measurement, alphasort);
    if (n < 0)
        return err_errno(err, path, "reading the directory");
    for (int i = 0; i < n; i++) {
        char *file = path_join(path, list[i]->d_name);
        struct err one = {0};
        if (show_file(file, sound, &one) < 0) {
            printf("  cannot be used: %s\n", one.msg);
            *sound = false;
        }
        mem_free(file);
        free(list[i]);
    }
    free(list);
    return 0;
}

static int show_one(struct session *s, const char *path, bool *sound)
{
    struct stat st;
    struct hpcprof *p;
    if (stat(path, &st) < 0)
        return err_errno(&s->err, path, "reading the measurement");
    int status = S_ISDIR(st.st_mode) ? show_directory(path, sound, &s->err) : show_file(path, sound, &s->err);
    if (status < 0 || hpcprof_read(path, &p, s->warnings, &s->err) < 0)
        return -1;
    show_all(p);
    hpcprof_free(p);
    return 0;
}

static int run(struct session *s, int argc, char **argv)
{
    bool sound = true;
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "info: which measurement? hpcview info MEASUREMENTS");
    for (int i = 0; i < argc; i++)
        if (show_one(s, argv[i], &sound) < 0)
            return -1;
    return sound ? 0 : 1;
}

static const struct option_row *const tables[] = {rows, NULL};

const struct command command_info = {
    .name = "info",
    .synopsis = "[--blocks] [--threads] MEASUREMENTS...",
    .summary = "show what a measurement holds and whether it is sound",
    .options = tables,
    .run = run,
};
