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
    bool blocks, threads, all;
    struct string_list ranks;
} opt;

static const struct option_row rows[] = {
    {"blocks", 'b', OPT_FLAG, offsetof(struct settings, blocks), NULL, "list every block with position and length"},
    {"threads", 't', OPT_FLAG, offsetof(struct settings, threads), NULL, "list every thread"},
    {"all", 0, OPT_FLAG, offsetof(struct settings, all), NULL, "show every process, also if there are more than 8"},
    {"rank", 0, OPT_LIST, offsetof(struct settings, ranks), "N", "show only this rank; repeatable"},
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

/* Caller frees. */
static char *status_words(const struct hpcprof_process *process)
{
    int s = process->exit_status;
    const char *rest = process->complete ? "" : ", before it could write its last counts";
    if (s == -1 && !process->complete)
        return mem_strdup("unknown: killed, or still running");
    if (s == -1) /* imports seldom say */
        return mem_strdup(process->end_ns == 0 ? "unknown" : "executed another program");
    return WIFSIGNALED(s) ? mem_printf("by signal %d%s", WTERMSIG(s), rest)
                          : mem_printf("with exit status %d%s", WEXITSTATUS(s), rest);
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
    char *ended = status_words(process);
    printf("  ended        %s\n", ended);
    mem_free(ended);
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

static void show_spread(const struct hpcprof *p, const char *what, const double *values);

/* The exact totals of each process; NULL if there are none. Caller frees. */
static double *totals_of(const struct hpcprof *p, uint32_t e)
{
    double *values = mem_calloc(p->process_count + 1, sizeof *values);
    bool any = false;
    for (size_t i = 0; i < p->total_count; i++)
        if (p->totals[i].event == e) {
            values[p->threads[p->totals[i].thread].process] += (double)p->totals[i].value;
            any = true;
        }
    if (any)
        return values;
    mem_free(values);
    return NULL;
}

static void show_events(const struct hpcprof *p, bool spread)
{
    struct sums *s = mem_calloc(p->event_count + 1, sizeof *s);
    struct hpcprof_share *shares = hpcprof_shares(p);
    for (size_t i = 0; i < p->count_count; i++)
        add_count(s, &p->counts[i]);
    for (size_t i = 0; i < p->total_count; i++)
        add_total(s, &p->totals[i]);
    for (uint32_t e = 0; e < p->event_count; e++) {
        double *values = spread ? totals_of(p, e) : NULL;
        show_event(p, e, &s[e], &shares[e]);
        if (values)
            show_spread(p, "counted", values);
        mem_free(values);
    }
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

/* ---- many processes as one thing --------------------------------------------------------------------------------- */

enum { ROWS_MOST = 8, NAMED_MOST = 24 }; /* lines of one property; of what is missing */

/* Processes by what they have in common. */
struct group {
    char *text;
    bool *ranks; /* by number */
    size_t processes;
};
struct groups VEC(struct group);

static size_t rank_end(const struct hpcprof *p)
{
    size_t end = 0;
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].rank >= (int64_t)end && p->processes[i].rank < HPCPROF_RANKS_MOST)
            end = (size_t)p->processes[i].rank + 1;
    return end;
}

static bool has_rank(const struct hpcprof_process *process, size_t ranks)
{
    return process->rank >= 0 && (size_t)process->rank < ranks;
}

/* Takes the text. */
static void add_to_group(struct groups *g, const struct hpcprof *p, size_t ranks, uint32_t process, char *text)
{
    size_t i = g->count;
    while (i > 0 && strcmp(g->items[i - 1].text, text) != 0)
        i--;
    if (i == 0) {
        *vec_push(g) = (struct group){.text = text, .ranks = mem_calloc(ranks + 1, sizeof(bool))};
        i = g->count;
    } else
        mem_free(text);
    g->items[i - 1].processes++;
    if (has_rank(&p->processes[process], ranks))
        g->items[i - 1].ranks[p->processes[process].rank] = true;
}

/* Prints and releases them. `of`: so many processes have the property at all. */
static void show_groups(struct groups *g, const char *what, size_t of, size_t ranks, size_t most)
{
    if (g->count > most)
        printf("  %-12s %zu different values\n", what, g->count);
    for (size_t i = 0; i < g->count; i++) {
        struct buf which = {0};
        struct group *one = &g->items[i];
        bool all = g->count == 1 && one->processes == of;
        hpcprof_ranges(one->ranks, ranks, &which);
        if (g->count <= most && (all || !which.len))
            printf(all ? "  %-12s %s\n" : "  %-12s %s (%zu processes)\n", what, one->text, one->processes);
        else if (g->count <= most)
            printf("  %-12s %s (%zu processes, ranks %s)\n", what, one->text, one->processes, which.bytes);
        buf_release(&which);
        mem_free(one->text);
        mem_free(one->ranks);
    }
    vec_release(g);
}

static void show_texts(const struct hpcprof *p, const char *what, size_t offset)
{
    struct groups g = {0};
    size_t ranks = rank_end(p);
    for (uint32_t i = 0; i < p->process_count; i++)
        add_to_group(&g, p, ranks, i,
                     mem_strdup(text_of(p, *(const str_id *)((const char *)&p->processes[i] + offset))));
    show_groups(&g, what, p->process_count, ranks, ROWS_MOST);
}

static void show_ends(const struct hpcprof *p)
{
    struct groups g = {0};
    size_t ranks = rank_end(p);
    for (uint32_t i = 0; i < p->process_count; i++)
        add_to_group(&g, p, ranks, i, status_words(&p->processes[i]));
    show_groups(&g, "ended", p->process_count, ranks, NAMED_MOST);
}

static void show_notes(const struct hpcprof *p)
{
    size_t ranks = rank_end(p);
    bool *done = mem_calloc(p->note_count + 1, sizeof *done);
    for (size_t first = 0; first < p->note_count; first++) {
        const char *name = text_of(p, p->notes[first].name);
        struct groups g = {0};
        for (size_t i = first; !done[first] && i < p->note_count; i++)
            if (strcmp(text_of(p, p->notes[i].name), name) == 0) {
                done[i] = i > first;
                add_to_group(&g, p, ranks, p->notes[i].process, mem_strdup(text_of(p, p->notes[i].value)));
            }
        if (g.count)
            show_groups(&g, name, p->process_count, ranks, strcmp(name, "missing") == 0 ? NAMED_MOST : ROWS_MOST);
    }
    mem_free(done);
}

/* Of values by process: added up by rank, or without ranks by process. */
static void show_spread(const struct hpcprof *p, const char *what, const double *values)
{
    size_t ranks = rank_end(p), count = 0, least = 0, most = 0, end = ranks ? ranks : p->process_count;
    double *sums = mem_calloc(end + 1, sizeof *sums), total = 0;
    bool *here = mem_calloc(end + 1, sizeof *here);
    for (size_t i = 0; i < p->process_count; i++)
        if (!ranks || has_rank(&p->processes[i], ranks)) {
            size_t at = ranks ? (size_t)p->processes[i].rank : i;
            sums[at] += values[i];
            here[at] = true;
        }
    for (size_t i = 0; i < end; i++) {
        if (!here[i])
            continue;
        least = count == 0 || sums[i] < sums[least] ? i : least;
        most = count == 0 || sums[i] > sums[most] ? i : most;
        total += sums[i];
        count++;
    }
    if (count)
        printf("  %-12s least %.6g (%s %zu), mean %.6g, most %.6g (%s %zu)\n", what, sums[least],
               ranks ? "rank" : "process", ranks ? least : p->processes[least].pid, total / (double)count, sums[most],
               ranks ? "rank" : "process", ranks ? most : p->processes[most].pid);
    mem_free(sums);
    mem_free(here);
}

static void show_times(const struct hpcprof *p)
{
    double *cpu = mem_calloc(p->process_count + 1, sizeof *cpu);
    uint64_t start = 0, end = 0;
    for (size_t i = 0; i < p->process_count; i++) {
        const struct hpcprof_process *process = &p->processes[i];
        start = process->start_ns && (!start || process->start_ns < start) ? process->start_ns : start;
        end = process->end_ns > end ? process->end_ns : end;
    }
    for (size_t i = 0; i < p->thread_count; i++)
        cpu[p->threads[i].process] += (double)p->threads[i].cpu_ns * 1e-9;
    show_time("started", start);
    show_time("finished", end);
    show_spread(p, "CPU time, s", cpu);
    mem_free(cpu);
}

static void show_together(const struct hpcprof *p)
{
    struct hpcprof_parts parts = hpcprof_parts(p->processes, p->process_count);
    if (parts.ranks)
        printf("%u ranks", parts.ranks);
    else
        printf("%u processes", parts.processes);
    printf(", %u threads\n", parts.threads);
    static const struct {
        const char *what;
        size_t offset;
    } texts[] = {{"node", offsetof(struct hpcprof_process, host)},
                 {"command", offsetof(struct hpcprof_process, command)},
                 {"machine", offsetof(struct hpcprof_process, machine)},
                 {"kernel", offsetof(struct hpcprof_process, kernel)},
                 {"sampler", offsetof(struct hpcprof_process, sampler)}};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        show_texts(p, texts[i].what, texts[i].offset);
    show_times(p);
    show_ends(p);
    show_notes(p);
}

static void show_all(const struct hpcprof *p, bool together)
{
    if (together)
        show_together(p);
    for (uint32_t i = 0; !together && i < p->process_count; i++)
        show_process(p, i);
    show_events(p, together);
    size_t count = 0, total = 0;
    for (uint32_t i = 0; opt.threads && i < p->thread_count; i++)
        show_thread(p, i, &count, &total);
    show_regions(p);
    printf("modules %zu, contexts %zu, counts %zu\n", p->module_count, p->context_count,
           p->rows_read ? p->rows_read : p->count_count);
}

/* ---- files and directories --------------------------------------------------------------------------------------- */

enum { ALONE_MOST = 8 }; /* processes; more are shown together */

static void show_each_file(const struct text_list *files, bool *sound)
{
    for (size_t i = 0; i < files->count; i++) {
        struct err one = {0};
        if (show_file(files->items[i], sound, &one) < 0) {
            printf("  cannot be used: %s\n", one.msg);
            *sound = false;
        }
    }
}

static void show_file_sums(const char *path, const struct text_list *files, bool *sound)
{
    size_t cut = 0, unusable = 0, first_cut = 0, first_unusable = 0;
    uint64_t bytes = 0;
    for (size_t i = files->count; i-- > 0;) {
        struct filemap map;
        struct blocks b = {0};
        bool usable = filemap_open(&map, files->items[i], NULL) == 0;
        if (usable) {
            bytes += map.len;
            usable = hpcprof_list_blocks(map.bytes, map.len, "", count_block, &b, NULL) == 0;
            filemap_release(&map);
        }
        unusable += !usable;
        cut += usable && b.bad;
        first_unusable = usable ? first_unusable : i;
        first_cut = usable && b.bad ? i : first_cut;
    }
    printf("%s: %zu files, %llu bytes\n", path, files->count, (unsigned long long)bytes);
    printf("  intact       %zu files\n", files->count - cut - unusable);
    if (cut)
        printf("  cut          %zu files, of which all complete blocks are used: %s%s\n", cut,
               path_base(files->items[first_cut]), cut > 1 ? ", ..." : "");
    if (unusable)
        printf("  unusable     %zu files: %s%s\n", unusable, path_base(files->items[first_unusable]),
               unusable > 1 ? ", ..." : "");
    *sound &= cut + unusable == 0;
}

static bool is_asked_for(int32_t rank)
{
    for (size_t i = 0; i < opt.ranks.count; i++)
        if (rank >= 0 && strtoul(opt.ranks.items[i], NULL, 10) == (unsigned long)rank)
            return true;
    return false;
}

/* --rank: the files of these, each by itself. */
static int show_ranks(struct session *s, const char *path, const struct text_list *files, bool *sound)
{
    size_t shown = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct hpcprof *p;
        struct hpcprof_reading how = {.summed = !opt.threads};
        struct warnings *w = warnings_create();
        if (is_asked_for(hpcprof_rank_in(files->items[i])) &&
            hpcprof_read_as(files->items[i], &how, &p, w, NULL) == 0) {
            if (p->process_count && show_file(files->items[i], sound, NULL) == 0) {
                show_all(p, false);
                shown++;
            }
            hpcprof_free(p);
        }
        warnings_free(w);
    }
    return shown ? 0 : err_set(&s->err, ERR_USAGE, "info: %s has no file of rank %s", path, opt.ranks.items[0]);
}

static int show_files(struct session *s, const char *path, const struct text_list *files, bool *sound)
{
    struct hpcprof *p;
    struct hpcprof_reading how = {.summed = !opt.threads, .progress = &s->progress};
    bool together = files->count > ALONE_MOST && !opt.all && !opt.blocks && !opt.threads;
    if (opt.ranks.count)
        return show_ranks(s, path, files, sound);
    if (together)
        show_file_sums(path, files, sound);
    else if (files->count == 1 && strcmp(files->items[0], path) == 0) {
        if (show_file(path, sound, &s->err) < 0)
            return -1;
    } else
        show_each_file(files, sound);
    if (hpcprof_read_as(path, &how, &p, s->warnings, &s->err) < 0)
        return -1;
    show_all(p, together);
    hpcprof_free(p);
    return 0;
}

static int show_one(struct session *s, const char *path, bool *sound)
{
    struct stat st;
    struct text_list files = {0};
    if (driver_check_measurement("info", path, &s->err) < 0)
        return -1;
    if (experiment_is_database(path))
        return err_set(&s->err, ERR_USAGE, "info: %s is a database, not a measurement; to print it: hpcview print %s",
                       path, path);
    if (stat(path, &st) < 0)
        return err_errno(&s->err, path, "reading the measurement");
    int status = 0;
    if (S_ISDIR(st.st_mode))
        status = dir_list(path, HPCPROF_SUFFIX, "reading the folder", &files, &s->err);
    else
        *vec_push(&files) = mem_strdup(path);
    if (status == 0)
        status = show_files(s, path, &files, sound);
    text_list_release(&files);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    bool sound = true;
    for (size_t i = 0; i < opt.ranks.count; i++)
        if (!*opt.ranks.items[i] || opt.ranks.items[i][strspn(opt.ranks.items[i], "0123456789")])
            return err_set(&s->err, ERR_USAGE, "info: --rank needs a number, not '%s'", opt.ranks.items[i]);
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
    .synopsis = "[options] MEASUREMENTS...",
    .summary = "show the contents and the state of a measurement",
    .options = tables,
    .run = run,
};
