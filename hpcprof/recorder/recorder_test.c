/* SPDX-License-Identifier: BSD-3-Clause */
/* From a ring of planned records to the file read back: each sample keeps its thread, event, region, place and weight,
   regardless of wrapping and draining. A plain list next to the recorder's tables adds up the planned samples. */
#include "hpcprof/hpcprof.h"
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- not tested here ----------------------------------------------------------------------------------------- */

bool hpcrec_active(void)
{
    return true;
}
static bool is_helper;
bool hpcrec_is_helper(void)
{
    return is_helper;
}
bool hpcrec_needs_papi(void)
{
    return false;
}
void hpcrec_papi_begin(struct thread *t)
{
    (void)t;
}
/* The second event's count as PAPI would have measured it. */
enum { PAPI_TOTAL = 77 };
void hpcrec_papi_end(struct thread *t, struct thread_row *row)
{
    (void)t;
    row->total[1] = PAPI_TOTAL;
    row->has_total = 1 << 1;
}
void hpcrec_papi_totals(struct thread *t, struct thread_row *row)
{
    (void)t, (void)row;
}
void hpcrec_timers_begin(struct thread *t, pid_t tid)
{
    (void)t, (void)tid;
}
void hpcrec_timers_end(struct thread *t)
{
    (void)t;
}
void hpcrec_timers_totals(struct thread *t, struct thread_row *row)
{
    (void)t, (void)row;
}
uint32_t hpcrec_path_of_record(struct thread *t, const uint8_t *p, const uint8_t *end, uint64_t *pc)
{
    (void)t, (void)p, (void)end, (void)pc;
    return CONTEXT_NONE;
}
void hpcrec_path_put(struct thread *t, struct queued *entry, const void *context)
{
    (void)t, (void)entry, (void)context;
}
uint32_t hpcrec_path_take(struct thread *t, const struct queued *entry)
{
    (void)t, (void)entry;
    return CONTEXT_NONE;
}
void hpcrec_paths_begin(struct thread *t)
{
    (void)t;
}
void hpcrec_paths_create(struct thread *t)
{
    (void)t;
}
void hpcrec_paths_free(struct thread *t)
{
    (void)t;
}
void hpcrec_paths_moved(const uint32_t *moved)
{
    (void)moved;
}

/* ---- the plan ------------------------------------------------------------------------------------------------------ */

/* Anonymous executable memory: each address is its own place. */
enum { CODE_BYTES = 1 << 17, EVENTS = 3, REGIONS = 4, THREADS = 3, PERIOD = 1000, IDS = 700 };
static uint64_t code;

/* By thread, region (0: none), event, and place in the code. */
static uint32_t planned[THREADS][REGIONS][EVENTS][CODE_BYTES];
static size_t planned_rows; /* that are not 0 */
static uint64_t lost_planned[THREADS][EVENTS], throttled_planned[THREADS][EVENTS];

static void plan(uint32_t thread, uint32_t region, unsigned event, uint32_t at, uint32_t worth)
{
    uint32_t *row = &planned[thread][region][event][at];
    planned_rows += *row == 0 && worth > 0;
    *row += worth;
}

static uint32_t drawn = 1;
static uint32_t draw(uint32_t below)
{
    drawn = drawn * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)drawn * below >> 32);
}

/* ---- a ring, as the kernel fills it ------------------------------------------------------------------------------ */

static struct perf_event_mmap_page *page_of(const struct thread *t)
{
    return (struct perf_event_mmap_page *)t->ring;
}

static struct thread *thread_with_ring(uint32_t row, uint64_t data_bytes)
{
    struct thread *t = hpcrec_thread_create();
    t->row = row;
    t->begun = true;
    t->ring_bytes = hpcrec_page_bytes() + data_bytes;
    t->ring = hpcrec_map(t->ring_bytes);
    page_of(t)->data_offset = hpcrec_page_bytes();
    page_of(t)->data_size = data_bytes;
    for (unsigned e = 0; e < EVENTS; e++)
        t->perf_id[e] = IDS + e;
    return t;
}

static void put_record(struct thread *t, uint32_t type, const uint64_t *words, size_t n)
{
    struct perf_event_mmap_page *page = page_of(t);
    struct perf_event_header head = {.type = type, .size = (uint16_t)(sizeof head + n * 8)};
    uint8_t bytes[256], *data = t->ring + page->data_offset;
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, words, n * 8);
    for (size_t i = 0; i < head.size; i++)
        data[(page->data_head + i) % page->data_size] = bytes[i];
    page->data_head += head.size;
}

static uint64_t room(const struct thread *t)
{
    return page_of(t)->data_size - (page_of(t)->data_head - page_of(t)->data_tail);
}

static bool by_frequency;

/* One sample, of any event, somewhere in the code; in the region that the thread is in. */
static void put_sample(struct thread *t, uint32_t region)
{
    unsigned e = draw(EVENTS);
    uint32_t at = draw(4) ? draw(5000) : draw(CODE_BYTES), worth = by_frequency && e == 1 ? draw(9) : PERIOD + e;
    uint64_t words[] = {IDS + e, code + at, worth};
    put_record(t, PERF_RECORD_SAMPLE, words, by_frequency ? 3 : 2);
    plan(t->row, region, e, at, worth);
}

static void put_loss(struct thread *t)
{
    unsigned e = draw(EVENTS);
    uint64_t lost[] = {IDS + e, 5 + e}, throttled[] = {12345, IDS + e, 1};
    put_record(t, PERF_RECORD_LOST, lost, 2);
    put_record(t, PERF_RECORD_THROTTLE, throttled, 3);
    put_record(t, PERF_RECORD_EXIT, throttled, 3); /* ignored */
    lost_planned[t->row][e] += 5 + e;
    throttled_planned[t->row][e]++;
}

/* Region 1 is alone, 3 is in 2. */
static uint32_t region_rows[REGIONS];

static void fill_and_drain(struct thread *t, int records)
{
    uint32_t region = 0;
    for (int i = 0; i < records; i++) {
        if (draw(7) == 0)
            hpcrec_mark_region(t, region_rows[region = draw(REGIONS)]);
        put_sample(t, region);
        if (draw(50) == 0)
            put_loss(t);
        if (room(t) < 256)
            hpcrec_drain_thread(t);
    }
    hpcrec_drain_thread(t);
    CHECK_INT(page_of(t)->data_tail, page_of(t)->data_head);
    hpcrec_mark_region(t, 0);
}

/* ---- contents of the file ---------------------------------------------------------------------------------------- */

static uint32_t region_number(const struct hpcprof *m, uint32_t region)
{
    static const char *const names[REGIONS] = {"", "alone", "outer", "inner"};
    for (uint32_t i = 0; i < REGIONS; i++)
        if (strcmp(strtab_get(m->strings, m->regions[region].name), names[i]) == 0)
            return i;
    return REGIONS;
}

/* Each row occurs once: the number of rows and their contents are as planned. */
static void check_counts(const struct hpcprof *m)
{
    size_t wrong = 0;
    CHECK_INT(m->count_count, planned_rows);
    for (size_t i = 0; i < m->count_count; i++) {
        const struct hpcprof_count *c = &m->counts[i];
        const struct hpcprof_context *x = &m->contexts[c->context];
        uint32_t region = region_number(m, c->region);
        uint64_t at = x->address - code;
        bool there = c->thread < THREADS && region < REGIONS && c->event < EVENTS && at < CODE_BYTES &&
                     x->parent == HPCPROF_NO_PARENT &&
                     strcmp(strtab_get(m->strings, m->modules[x->module].path), "[anonymous]") == 0;
        wrong += !there || planned[c->thread][region][c->event][at] != c->value ||
                 c->samples * (PERIOD + c->event) != c->value;
    }
    CHECK_INT(wrong, 0);
}

static uint64_t total_of(const struct hpcprof *m, uint32_t thread, const char *event)
{
    uint64_t v = 0;
    for (size_t i = 0; i < m->total_count; i++)
        if (m->totals[i].thread == thread &&
            strcmp(strtab_get(m->strings, m->events[m->totals[i].event].name), event) == 0)
            v += m->totals[i].value;
    return v;
}

static void check_losses(const struct hpcprof *m)
{
    for (uint32_t t = 0; t < THREADS; t++)
        for (unsigned e = 0; e < EVENTS; e++) {
            char name[40];
            snprintf(name, sizeof name, "event%u lost", e);
            CHECK_INT(total_of(m, t, name), lost_planned[t][e]);
            snprintf(name, sizeof name, "event%u throttled", e);
            CHECK_INT(total_of(m, t, name), throttled_planned[t][e]);
        }
}

static char folder[] = "/tmp/hpcview_recorderXXXXXX";

static struct hpcprof *write_and_read(bool end)
{
    char path[PATH_MAX];
    struct hpcprof *m = NULL;
    struct warnings *w = warnings_create();
    struct err err = {0};
    hpcrec_file_encode(end, end ? 3 << 8 : -1);
    hpcrec_file_write(end);
    snprintf(path, sizeof path, "%s/%s", folder, hpcrec.file_name);
    if (!CHECK_INT(hpcprof_read(path, &m, w, &err), 0))
        printf("# %s\n", err.msg);
    warnings_free(w);
    return m;
}

static void check_facts(const struct hpcprof *);

static void check_file(bool end)
{
    struct hpcprof *m = write_and_read(end);
    if (!m)
        return;
    check_counts(m);
    check_losses(m);
    CHECK_INT(m->processes[0].complete, end);
    CHECK_INT(m->processes[0].exit_status, end ? 3 << 8 : -1);
    CHECK_INT(m->thread_count, THREADS);
    if (end)
        check_facts(m);
    hpcprof_free(m);
}

/* ---- description of the process --------------------------------------------------------------------------------- */

static const char *note(const struct hpcprof *m, const char *name)
{
    for (size_t i = 0; i < m->note_count; i++)
        if (strcmp(strtab_get(m->strings, m->notes[i].name), name) == 0)
            return strtab_get(m->strings, m->notes[i].value);
    return "none";
}

/* Cache description from the kernel, read independently. */
static void sys_word(int cache, const char *what, char word[static 64])
{
    char path[100];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", cache, what);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%63s", word) != 1)
        strcpy(word, "");
    if (f)
        fclose(f);
}

static void check_facts(const struct hpcprof *m)
{
    const struct hpcprof_process *p = &m->processes[0];
    char *here = getcwd(NULL, 0), text[300], size[64], level[64], type[64];
    struct utsname u;
    uname(&u);
    CHECK_STR(strtab_get(m->strings, p->host), u.nodename);
    CHECK_STR(strtab_get(m->strings, p->working_dir), here);
    CHECK(strstr(strtab_get(m->strings, p->command), "recorder_test") != NULL);
    snprintf(text, sizeof text, "%s %s", u.sysname, u.release);
    CHECK_STR(strtab_get(m->strings, p->kernel), text);
    CHECK_STR(strtab_get(m->strings, p->sampler), "ring");
    CHECK_NAMED(p->pid == (uint32_t)getpid() && p->parent_pid == (uint32_t)hpcrec.parent && p->rank == 12,
                "its numbers");
    CHECK_STR(note(m, "env:HPCVIEW_A"), "first");
    CHECK_STR(note(m, "env:HPCVIEW_B"), "");
    CHECK_STR(note(m, "env:HPCVIEW_NONE"), "none");
    CHECK_STR(note(m, "run"), "2");
    CHECK(strtol(note(m, "processors usable"), NULL, 10) >= 1);
    for (int i = 0; i < 6; i++) {
        sys_word(i, "size", size), sys_word(i, "level", level), sys_word(i, "type", type);
        snprintf(text, sizeof text, "cache L%s %s", level, type);
        if (size[0])
            CHECK_STR(note(m, text), size);
    }
    for (unsigned e = 0; e < EVENTS; e++) {
        const struct record_event *c = &hpcrec.config.events[e].conf;
        CHECK_STR(strtab_get(m->strings, m->events[e].name), c->name);
        CHECK_STR(strtab_get(m->strings, m->events[e].description), c->description);
        CHECK_STR(strtab_get(m->strings, m->events[e].unit), c->unit);
        CHECK_NAMED(m->events[e].period == PERIOD + e && m->events[e].flags == c->flags, "what a sample stands for");
    }
    free(here);
}

/* The variables of each launcher. */
static void test_ranks(void)
{
    static const struct {
        const char *name, *value, *tasks;
        int want;
    } cases[] = {
        {"OMPI_COMM_WORLD_RANK", "3", NULL, 3},
        {"PMIX_RANK", "0", NULL, 0},
        {"PMI_RANK", "9", NULL, 9},
        {"PMI_ID", "10", NULL, 10},
        {"PALS_RANKID", "1", NULL, 1},
        {"PMI_RANK", "x", NULL, -1},
        {"PMI_RANK", "", NULL, -1},
        {"SLURM_PROCID", "4", "2", 4},
        {"SLURM_PROCID", "0", "1", -1},
        {"SLURM_PROCID", "4", NULL, -1},
        {"NO_RANK", "4", NULL, -1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        setenv(cases[i].name, cases[i].value, 1);
        if (cases[i].tasks)
            setenv("SLURM_STEP_NUM_TASKS", cases[i].tasks, 1);
        tap_int(hpcrec_rank(), cases[i].want, cases[i].name, __FILE__, __LINE__);
        unsetenv(cases[i].name);
        unsetenv("SLURM_STEP_NUM_TASKS");
    }
}

/* ---- the tests ------------------------------------------------------------------------------------------------- */

static void configure(void)
{
    char text[PATH_MAX];
    CHECK(mkdtemp(folder) != NULL);
    hpcrec.config = (struct config){.papi = true};
    snprintf(text, sizeof text,
             "dir=%s\nwatch=1\nenv=HPCVIEW_A,HPCVIEW_NONE,HPCVIEW_B\nevent=event0;of%%3Ball%%0Akinds%%7E;u;1000;0;0;4;"
             "7;8;9;0\n"
             "event=event1;;;1001;0;0;4;0;0;0;2\nno sign "
             "here\nunknown=1\nevent=event2;d;cycles;1002;0;0;4;0;0;0;0\nsampler=ring\nrun=2",
             folder);
    CHECK(hpcrec_config_read(&hpcrec.config, text));
    const struct record_event *e = &hpcrec.config.events[0].conf;
    CHECK_INT(hpcrec.config.event_count, EVENTS);
    CHECK_STR(hpcrec.config.dir, folder);
    CHECK_STR(e->name, "event0");
    CHECK_STR(e->description, "of;all\nkinds~");
    CHECK_STR(e->unit, "u");
    CHECK_NAMED(e->period == 1000 && e->frequency == 0 && e->kind == RECORD_PERF && e->type == 4, "what is sampled");
    CHECK_NAMED(e->config == 7 && e->config1 == 8 && e->config2 == 9 && e->flags == 0, "the rest of an event");
    CHECK_INT(hpcrec.config.events[1].conf.flags, 2);
    CHECK_STR(hpcrec.config.events[2].conf.unit, "cycles");
    CHECK_NAMED(!hpcrec.config.papi && hpcrec.config.watch && hpcrec.config.run == 2, "the lines that are no events");
    CHECK_NAMED(!hpcrec.config.children && !hpcrec.config.call_paths && !hpcrec.config.multiplex, "what was not said");
    struct config other = {0};
    CHECK_NAMED(!hpcrec_config_read(&other, "dir=/tmp"), "no event");
    CHECK_NAMED(!hpcrec_config_read(&other, "dir=tmp\nevent=e"), "a folder that depends on where one is");
    CHECK_INT(other.events[0].conf.period, 1);
    CHECK_NAMED(!hpcrec_config_read(&other, NULL), "nothing");
    for (int i = 0; i < EVENTS_MAX + 1; i++)
        hpcrec_config_read(&other, "event=again");
    CHECK_INT(other.event_count, EVENTS_MAX);
}

static void begin(void)
{
    void *p = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    code = (uint64_t)(uintptr_t)p;
    test_ranks();
    setenv("OMPI_COMM_WORLD_RANK", "12", 1);
    setenv("HPCVIEW_A", "first", 1);
    setenv("HPCVIEW_B", "", 1);
    hpcrec.measuring = true;
    hpcrec.parent = getppid();
    atomic_store(&hpcrec.pid, getpid());
    hpcrec_hold(&hpcrec.dir, folder, O_DIRECTORY);
    hpcrec_environment_gather();
    hpcrec_maps_open();
    hpcrec_area_room(&hpcrec.thread_rows, THREADS, sizeof(struct thread_row));
    hpcrec.thread_rows.count = THREADS;
    for (uint32_t i = 0; i < THREADS; i++)
        ((struct thread_row *)hpcrec.thread_rows.items)[i] = (struct thread_row){.number = i, .changed = true};
    region_rows[1] = hpcrec_region_row("alone", 0);
    region_rows[2] = hpcrec_region_row("outer", 0);
    region_rows[3] = hpcrec_region_row("inner", region_rows[2]);
    CHECK_INT(hpcrec_region_row("outer", 0), region_rows[2]);
}

static void test_rings(void)
{
    struct thread *small = thread_with_ring(0, 4096), *large = thread_with_ring(1, 1 << 16);
    check_file(false);
    fill_and_drain(small, 2000);
    check_file(false);
    fill_and_drain(large, 20000);
    fill_and_drain(small, 10);
    check_file(false);
    hpcrec.measuring = false; /* samples from now on are discarded, with their addresses */
    for (int i = 0; i < 50; i++) {
        uint64_t words[] = {IDS, code, 0};
        put_record(small, PERF_RECORD_SAMPLE, words, 2);
    }
    hpcrec_drain_thread(small);
    hpcrec.measuring = true;
    fill_and_drain(small, 100);
    check_file(false);
    hpcrec_thread_discard(small);
    hpcrec_thread_discard(large);
}

/* The helper's pause: halved if a ring was more than half full, up to doubled if none was more than an eighth full, and
   at least 1 ms. */
static void test_pause(void)
{
    struct thread *t = thread_with_ring(0, 4096);
    uint64_t most = hpcrec_drain_ms(), pause = most, word = 0;
    static const unsigned records[] = {0, 1, 32, 33, 128, 129, 200, 200}; /* of 16 bytes */
    unsigned wrong = 0, shortest = 0;
    for (int i = 0; i < 64; i++)
        hpcrec_perf_pause_ms();
    for (int i = 0; i < 2000; i++) {
        unsigned n = records[i / 100 % 2 ? 4 + draw(4) : draw(6)];
        for (unsigned k = 0; k < n; k++)
            put_record(t, 100, &word, 1);
        hpcrec_drain_thread(t);
        if (n > 128)
            pause = pause > 1 ? pause / 2 : 1;
        else if (n <= 32)
            pause = 2 * pause < most ? 2 * pause : most;
        wrong += hpcrec_perf_pause_ms() != pause;
        shortest += pause == 1;
    }
    CHECK_INT(wrong, 0);
    CHECK(shortest > 0);
    hpcrec_thread_discard(t);
}

/* A handler's queue: samples that do not fit are counted as lost. */
static void test_queue(void)
{
    struct thread *t = hpcrec_thread_create();
    t->row = 2;
    t->region = region_rows[3];
    hpcrec_queue_sample(t, 0, code, 1, NULL); /* it has not begun */
    t->begun = true;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < QUEUE_ENTRIES + 3; i++)
            hpcrec_queue_sample(t, i % EVENTS, code + i, 2, NULL);
        for (uint32_t i = 0; i < QUEUE_ENTRIES; i++)
            plan(2, 3, i % EVENTS, i, 2 * (PERIOD + i % EVENTS));
        for (uint32_t i = QUEUE_ENTRIES; i < QUEUE_ENTRIES + 3; i++)
            lost_planned[2][i % EVENTS] += 2;
        hpcrec_drain_thread(t);
    }
    hpcrec_waiting_pc = code + 77;
    hpcrec_queue_sample(t, 1, code, 1, NULL);
    hpcrec_waiting_pc = 0;
    plan(2, 3, 1, 77, PERIOD + 1);
    hpcrec_drain_thread(t);
    check_file(false);
    hpcrec_thread_discard(t);
}

/* More marks than fit between two drains. */
static void test_marks(void)
{
    struct thread *t = thread_with_ring(0, 1 << 16);
    uint32_t region = 0;
    for (int i = 0; i < 3 * MARKS; i++) {
        put_sample(t, region);
        hpcrec_mark_region(t, region_rows[region = (uint32_t)i % REGIONS]);
        put_sample(t, region);
    }
    hpcrec_drain_thread(t);
    check_file(false);
    hpcrec_thread_discard(t);
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

/* The program removes the file, closes its descriptor, or opens another file with that number. */
static void test_lost_file(struct thread *t)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, hpcrec.file_name);
    for (int way = 0; way < 4; way++) {
        int theirs = open("/dev/null", O_RDWR), number = hpcrec.file_fd;
        if (way == 0 || way == 3)
            CHECK_INT(unlink(path), 0);
        if (way == 1)
            close(number);
        if (way >= 2)
            CHECK_INT(dup2(theirs, number), number);
        close(theirs);
        fill_and_drain(t, 50);
        check_file(false);
        CHECK_INT(hpcrec_fd_is_ours(number), number == hpcrec.file_fd);
        if (way >= 2)
            close(number);
    }
}

static off_t size_of_file(void)
{
    struct stat st;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, hpcrec.file_name);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

static void one_turn(void)
{
    hpcrec_file_encode(false, -1);
    hpcrec_file_write(false);
}

/* The disk is full for a time: the existing file stays valid, retries become less frequent, and finally nothing is
   lost. Nothing is printed meanwhile, because the output may go to the same disk. */
static void test_no_room(struct thread *t)
{
    static const unsigned tries[] = {1, 3, 7, 15, 31};
    struct rlimit was, now;
    bool created = hpcrec.created;
    unsigned tried[40], n = 0, turn = 0;
    off_t size = size_of_file(), left;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    getrlimit(RLIMIT_FSIZE, &was);
    now = (struct rlimit){50, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
    fill_and_drain(t, 50);
    for (turn = 1; turn <= ARRAY_SIZE(tried); turn++) {
        unsigned before = hpcrec.failures;
        one_turn();
        if (hpcrec.failures > before)
            tried[n++] = turn;
    }
    left = size_of_file();
    int files = files_in_folder();
    setrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, handler);
    CHECK(n == ARRAY_SIZE(tries) && memcmp(tried, tries, sizeof tries) == 0);
    CHECK_INT(left, size);
    CHECK_INT(files, created);
    CHECK_INT(hpcrec.created, created);
    fill_and_drain(t, 50);
    for (turn = 0; hpcrec.failures > 0 && turn < 64; turn++)
        one_turn();
    CHECK_INT(turn, 32 - (ARRAY_SIZE(tried) - 31)); /* 2 to the failures, but for those that passed */
    check_file(false);
    struct hpcprof *m = write_and_read(false);
    CHECK_STR(m ? note(m, "missing") : "",
              "the file could not be written for some time: counts were kept in memory until then");
    hpcprof_free(m);
}

/* Enough places for two blocks, and enough appended data for the file to be rewritten. */
static void test_many(void)
{
    struct thread *t = thread_with_ring(1, 1 << 16);
    for (uint32_t i = 0; i < 110000; i++) {
        uint64_t words[] = {IDS + 2, code + i, 0};
        put_record(t, PERF_RECORD_SAMPLE, words, 2);
        plan(1, 0, 2, i, PERIOD + 2);
        if (room(t) < 256)
            hpcrec_drain_thread(t);
    }
    hpcrec_drain_thread(t);
    check_file(false);
    for (int i = 0; i < 2; i++) {
        fill_and_drain(t, 8000);
        check_file(false);
    }
    test_no_room(t);
    test_lost_file(t);
    hpcrec_thread_discard(t);
    check_file(true);
    CHECK_INT(files_in_folder(), 1);
}

/* The same before the file exists. */
static void test_first_write(void)
{
    struct thread *t = thread_with_ring(0, 4096);
    CHECK_INT(hpcrec.created, false);
    test_no_room(t);
    CHECK_INT(files_in_folder(), 1);
    hpcrec_thread_discard(t);
}

/* An event with a frequency: the kernel provides the weight of each sample. */
static void test_frequency(void)
{
    struct thread *t = thread_with_ring(0, 4096);
    hpcrec.config.events[1].conf.frequency = 100;
    by_frequency = true;
    memset(planned, 0, sizeof planned);
    hpcrec_counts_forget();
    hpcrec.contexts.count = hpcrec.cells.count = 0;
    fill_and_drain(t, 3000);
    uint64_t sums[EVENTS] = {0}, want[EVENTS] = {0};
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        sums[((struct cell *)hpcrec.cells.items)[i].event] += ((struct cell *)hpcrec.cells.items)[i].value;
    for (uint32_t r = 0; r < REGIONS; r++)
        for (unsigned e = 0; e < EVENTS; e++)
            for (size_t i = 0; i < CODE_BYTES; i++)
                want[e] += planned[0][r][e][i];
    for (unsigned e = 0; e < EVENTS; e++)
        CHECK_INT(sums[e], want[e]);
    hpcrec_thread_discard(t);
}

/* ---- a thread's life --------------------------------------------------------------------------------------------- */

/* NULL: not as it should be. */
static void *live(void *name)
{
    struct thread *t = hpcrec_thread_create();
    raw_prctl(PR_SET_NAME, name);
    hpcrec_thread_begin(t);
    hpcrec_queue_sample(t, 0, code + 5, 1, NULL);
    struct thread_row *row = (struct thread_row *)hpcrec.thread_rows.items + t->row;
    bool begun = hpcrec_self == t && t->begun && !row->ended && row->start_ns;
    hpcrec_thread_end(t);
    return begun && !hpcrec_self ? name : NULL;
}

static void count_living(struct thread *t, void *n)
{
    (void)t;
    ++*(int *)n;
}

static void test_lives(void)
{
    enum { LIVES = 3 };
    static char name[] = "a worker";
    size_t before = hpcrec.thread_rows.count;
    uint64_t now = hpcrec_now(CLOCK_REALTIME);
    int living = 0;
    for (unsigned e = 0; e < EVENTS; e++)
        hpcrec.config.events[e].conf.kind = RECORD_CPUTIME;
    hpcrec.contexts.count = hpcrec.cells.count = 0;
    hpcrec_counts_forget();
    for (int i = 0; i < LIVES; i++) { /* one after the other */
        void *lived = NULL;
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, live, name), 0);
        pthread_join(thread, &lived);
        CHECK_NAMED(lived == name, "it has begun, and ended");
    }
    CHECK_INT(hpcrec.thread_rows.count, before + LIVES);
    const struct thread_row *rows = hpcrec.thread_rows.items;
    for (size_t i = before; i < hpcrec.thread_rows.count; i++) {
        CHECK_STR(rows[i].name, "a worker");
        CHECK_INT(rows[i].number, i - before);
        CHECK_NAMED(rows[i].has_total == 1 << 1 && rows[i].total[1] == PAPI_TOTAL, "what PAPI counted");
        CHECK_NAMED(rows[i].ended && rows[i].changed && rows[i].end_ns >= rows[i].start_ns && rows[i].start_ns >= now &&
                        rows[i].cpu_ns > 0,
                    "when it was");
    }
    uint64_t sampled = 0;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        sampled += ((struct cell *)hpcrec.cells.items)[i].samples;
    CHECK_NAMED(sampled == LIVES, "what a handler left is taken at the end");
    hpcrec_threads_each(count_living, &living);
    CHECK_INT(living, 0);
    CHECK_INT(hpcrec_thread_last_context((uint32_t)before), ((struct cell *)hpcrec.cells.items)[0].context);
}

/* ---- where code is ------------------------------------------------------------------------------------------------ */

static const char *module_at(uint64_t pc, uint64_t *address)
{
    hpcrec_maps_new_round();
    uint32_t row = hpcrec_maps_find(pc, address);
    return hpcrec_string(((struct module_row *)hpcrec.modules.items)[row].path);
}

/* The build id of a loaded object, as hex text; "": no build id. */
static void build_id_of(const struct dl_phdr_info *info, char *hex, size_t room)
{
    hex[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uint8_t *bytes = (const uint8_t *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
        for (uint64_t at = 0; p->p_type == PT_NOTE && at + 12 <= p->p_memsz;) {
            ElfW(Nhdr) n;
            memcpy(&n, bytes + at, sizeof n);
            uint64_t desc = at + 12 + (n.n_namesz + 3) / 4 * 4;
            for (uint32_t k = 0; n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && k < n.n_descsz; k++)
                snprintf(hex + 2 * k, room - 2 * k, "%02x", bytes[desc + k]);
            at = desc + (n.n_descsz + 3) / 4 * 4;
        }
    }
}

static bool is_module(const char *path)
{
    for (size_t i = 0; i < hpcrec.modules.count; i++)
        if (strcmp(hpcrec_string(((struct module_row *)hpcrec.modules.items)[i].path), path) == 0)
            return true;
    return false;
}

static int check_object(struct dl_phdr_info *info, size_t size, void *objects)
{
    char self[PATH_MAX], path[PATH_MAX], id[100];
    uint64_t address;
    (void)size;
    self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
    bool vdso = strstr(info->dlpi_name, "vdso") != NULL;
    if (!info->dlpi_name[0])
        snprintf(path, sizeof path, "%s", self);
    else if (!realpath(info->dlpi_name, path))
        snprintf(path, sizeof path, "%s", vdso ? "[vdso]" : info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        for (int end = 0; end < 2; end++) {
            uint64_t want = p->p_vaddr + (end ? p->p_filesz - 1 : 0);
            CHECK_STR(module_at(info->dlpi_addr + want, &address), path);
            CHECK_INT(address, want);
        }
        build_id_of(info, id, sizeof id);
        if (!vdso)
            CHECK_STR(hpcrec_string(((struct module_row *)
                                         hpcrec.modules.items)[hpcrec_maps_find(info->dlpi_addr + p->p_vaddr, &address)]
                                        .build_id),
                      id);
        ++*(int *)objects;
    }
    return 0;
}

/* qemu-user lets no process read itself, and names other files in its maps than the loader does. */
static bool reads_itself(void)
{
    char from = 1, to;
    return hpcrec_peek((uint64_t)(uintptr_t)&from, &to, 1);
}

static void test_places(void)
{
    static const struct {
        uint64_t pc;
        const char *module;
    } cases[] = {
        {0xffffffffff5fffff, "[kernel]"}, {0xffffffffff600000, "[vsyscall]"}, {0xffffffffff600fff, "[vsyscall]"},
        {0xffffffffff601000, "[kernel]"}, {1ull << 63, "[kernel]"},           {8, "[unknown]"},
        {(1ull << 63) - 1, "[unknown]"},
    };
    uint64_t address, page = hpcrec_page_bytes();
    int objects = 0, data = 0;
    dl_iterate_phdr(check_object, &objects);
    CHECK(objects > 2);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CHECK_STR(module_at(cases[i].pc, &address), cases[i].module);
        CHECK(address == cases[i].pc);
    }
    CHECK_NAMED(strcmp(module_at((uint64_t)(uintptr_t)&data, &address), "[unknown]") == 0, "data is no code");
    CHECK_STR(module_at(code + CODE_BYTES - 1, &address), "[anonymous]");
    CHECK(address == code + CODE_BYTES - 1);
    char *path = mem_printf("%s/a b\nc\\", folder);
    int fd = open(path, O_CREAT | O_RDWR, 0666);
    CHECK(ftruncate(fd, (off_t)(3 * page)) == 0);
    uint8_t *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)page);
    close(fd);
    hpcrec_maps_stale();
    CHECK_STR(module_at((uint64_t)(uintptr_t)p, &address), path);
    CHECK_NAMED(address == page, "without an ELF header the place in the file");
    unlink(path);
    hpcrec_maps_stale();
    CHECK_STR(module_at((uint64_t)(uintptr_t)p + page - 1, &address), path);
    CHECK_NAMED(address == 2 * page - 1, "the last byte, of a file that is gone");
    munmap(p, page);
    hpcrec_maps_stale();
    CHECK_STR(module_at((uint64_t)(uintptr_t)p, &address), "[unknown]");
    char *other = mem_printf("%s/other", folder);
    fd = open(other, O_CREAT | O_RDWR, 0666);
    CHECK(ftruncate(fd, (off_t)page) == 0);
    p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    hpcrec_maps_stale();
    CHECK_NAMED(!is_module(other), "nothing was sampled there");
    hpcrec_maps_name_all();
    CHECK_NAMED(is_module(other), "and it is named at the end");
    munmap(p, page);
    mem_free(other);
    mem_free(path);
}

/* ---- numbers and text ------------------------------------------------------------------------------------------- */

static void test_numbers(void)
{
    struct out o = {0};
    for (int bit = 0; bit < 64; bit++)
        for (int d = -1; d <= 1; d++) {
            uint64_t v = (1ull << bit) + (uint64_t)d;
            hpcrec_put_uleb(&o, v);
            hpcrec_put_sleb(&o, (int64_t)v);
            hpcrec_put_sleb(&o, (int64_t)-v);
        }
    struct cursor c = cursor_make(o.bytes.items, o.bytes.count);
    size_t wrong = 0;
    for (int bit = 0; bit < 64; bit++)
        for (int d = -1; d <= 1; d++) {
            uint64_t v = (1ull << bit) + (uint64_t)d;
            wrong += cursor_uleb(&c) != v;
            wrong += cursor_sleb(&c) != (int64_t)v;
            wrong += cursor_sleb(&c) != (int64_t)-v;
        }
    CHECK_NAMED(wrong == 0 && !c.bad && cursor_left(&c) == 0, "numbers of every length are read back");
    hpcrec_area_free(&o.bytes, 1);
    char words[8];
    struct text t = hpcrec_text(words, sizeof words);
    hpcrec_text_u64(&t, 0);
    hpcrec_text_u64(&t, 1090);
    CHECK_STR(words, "01090");
    hpcrec_text_str(&t, "abc");
    CHECK_STR(words, "01090ab");
    hpcrec_text_u64(&t, 7);
    CHECK_STR(words, "01090ab");
}

/* ---- separate processes ---- */

static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static void take_the_lowest(void *number)
{
    *(int *)number = open("/dev/null", O_RDONLY); /* and leaves it open */
}

static void test_apart(void)
{
    int before = lowest_free(), taken = -1;
    char text[64];
    is_helper = true;
    hpcrec_with_private_fds(take_the_lowest, &taken);
    CHECK_INT(taken, before); /* as anywhere */
    CHECK_INT(lowest_free(), before);
    CHECK(hpcrec_slurp("/proc/self/comm", text, sizeof text) > 1 && strchr(text, '\n'));
    CHECK_INT(hpcrec_slurp("/proc/self/nothing", text, sizeof text), -1);
    is_helper = false;
    hpcrec_with_private_fds(take_the_lowest, &taken);
    CHECK_INT(taken, before);
    int next = lowest_free();
    CHECK(next > before); /* by more than one if descriptors in between are in use */
    close(taken);
}

/* ---- last words ---- */

static void put_words(struct out *o, const char *words)
{
    size_t block = hpcrec_block_begin(o, FORMAT_NOTES);
    hpcrec_put_uleb(o, 1);
    hpcrec_put_string(o, "missing");
    hpcrec_put_string(o, words);
    hpcrec_block_end(o, block);
}

/* Writes more than the file size limit; `words` replaces its contents then (NULL: unchanged). Nothing is printed
   meanwhile. */
static void write_without_room(int fd, bool end, const char *words)
{
    enum { MAY_HAVE = 200 };
    static const uint8_t much[300] = {7};
    struct out want = {0};
    struct rlimit was, now;
    unsigned failures = hpcrec.failures;
    hpcrec.file_fd = fd;
    hpcrec.created = true;
    hpcrec.must_rewrite = hpcrec.writing_full = hpcrec.nothing_to_write = false;
    hpcrec.file_end = 0;
    hpcrec.missing_count = 0;
    hpcrec_missing("something earlier");
    hpcrec.out.bytes.count = 0;
    hpcrec_put(&hpcrec.out, much, sizeof much);
    if (words)
        put_words(&want, words);
    else
        hpcrec_put(&want, much, sizeof much);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    getrlimit(RLIMIT_FSIZE, &was);
    now = (struct rlimit){MAY_HAVE, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
    hpcrec_file_write(end);
    setrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, handler);
    CHECK_INT(hpcrec.out.bytes.count, want.bytes.count);
    CHECK(memcmp(hpcrec.out.bytes.items, want.bytes.items, want.bytes.count) == 0);
    CHECK(hpcrec.must_rewrite && hpcrec.failures == failures + 1);
    hpcrec_area_free(&want.bytes, 1);
}

/* The end block does not fit: that is recorded in the few bytes that may remain. */
static void test_last_words(void)
{
    static const char refused[] = "the file could not be written: the last counts are missing";
    char path[PATH_MAX];
    uint8_t got[300];
    struct out want = {0};
    int ours = hpcrec.file_fd;
    snprintf(path, sizeof path, "%s/limited", folder);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    write_without_room(file, false, NULL);
    CHECK_INT(pread(file, got, sizeof got, 0), 0); /* no part of it stays */
    write_without_room(file, true, refused);
    put_words(&want, refused);
    CHECK_INT(pread(file, got, sizeof got, 0), want.bytes.count);
    CHECK(memcmp(got, want.bytes.items, want.bytes.count) == 0);
    CHECK_INT(hpcrec.file_end, want.bytes.count);
    write_without_room(-1, true, NULL); /* no file to record it in */
    hpcrec_area_free(&want.bytes, 1);
    hpcrec.file_fd = ours;
    close(file);
}

int main(void)
{
    static const char *const ranks[] = {
        "OMPI_COMM_WORLD_RANK",   "PMIX_RANK",   "PMI_RANK",       "PMI_ID",      "MV2_COMM_WORLD_RANK",
        "MPI_LOCALRANKID_GLOBAL", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < ARRAY_SIZE(ranks); i++)
        unsetenv(ranks[i]);
    configure();
    begin();
    RUN(test_apart);
    RUN(test_numbers);
    RUN(test_first_write);
    RUN(test_rings);
    RUN(test_pause);
    RUN(test_queue);
    RUN(test_marks);
    RUN(test_many);
    RUN(test_frequency);
    RUN(test_lives);
    if (reads_itself())
        test_places();
    else
        SKIP("places", "no process_vm_readv here");
    RUN(test_last_words);
    struct err err = {0};
    CHECK_INT(dir_remove_tree(folder, &err), 0);
    return tap_done();
}
