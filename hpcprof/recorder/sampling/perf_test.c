/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the kernel (perf.c): events, rings and their sizes, messages if it refuses, values read. The kernel is
 * fake; tests/record/perf.cases. Records in rings are tested by recorder_test.
 */
#undef syscall
#undef getrlimit
#undef geteuid
#undef sysconf
#include "config.h"

#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/steps.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct recorder hpcrec = {.dir.fd = -1, .file_fd = -1, .temp_fd = -1};

enum { FDS = 60, FIRST_FD = 0, PAGE = 4096 };

/* ---- the kernel ------------------------------------------------------------------------------------------------------ */

static unsigned opened, kept, refuse_from = 1000; /* events from this one on are refused */
static bool no_kernel, no_output, closed[FDS];
static uint64_t lock_most = UINT64_MAX; /* bytes that a ring may have */
static uint64_t counted[FDS][3];
static uint64_t mlock_kb = 516, memlock = RLIM_INFINITY, nofile = 1024;
static bool is_root = true, no_mlock_file, silent;
static long processors = 4;

static long open_event(const struct perf_event_attr *a, pid_t tid)
{
    bool refused = opened >= refuse_from || (no_kernel && !a->exclude_kernel);
    static const struct {
        uint64_t bit;
        const char *word;
    } bits[] = {{PERF_SAMPLE_IP, "ip"},           {PERF_SAMPLE_IDENTIFIER, "id"},  {PERF_SAMPLE_PERIOD, "period"},
                {PERF_SAMPLE_CALLCHAIN, "chain"}, {PERF_SAMPLE_REGS_USER, "regs"}, {PERF_SAMPLE_STACK_USER, "stack"}};
    if (!silent) {
        hear("open(%u:%llx,%llx,%llx of %d, %s %llu,", a->type, (unsigned long long)a->config,
             (unsigned long long)a->config1, (unsigned long long)a->config2, (int)tid, a->freq ? "frequency" : "period",
             (unsigned long long)a->sample_period);
        for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
            hear("%s%s", a->sample_type & bits[i].bit ? " " : "", a->sample_type & bits[i].bit ? bits[i].word : "");
        hear(", read %llx, not in %s%s%s, frames %u, regs %llx, stack %u, wake%u at %x%s)%s ",
             (unsigned long long)a->read_format, a->exclude_kernel ? "kernel" : "", a->exclude_hv ? " hv" : "",
             a->exclude_callchain_kernel ? " chains" : "", a->sample_max_stack, (unsigned long long)a->sample_regs_user,
             a->sample_stack_user, a->watermark, a->wakeup_watermark, a->disabled && a->size == sizeof *a ? "" : " ?",
             refused ? " no" : "");
    }
    return refused ? -1 : FIRST_FD + (long)opened++ % FDS;
}

static long control(int fd, unsigned long what, void *arg)
{
    unsigned i = (unsigned)(fd - FIRST_FD);
    if (i >= FDS || closed[i])
        return -1;
    if (what == PERF_EVENT_IOC_ID) {
        uint64_t id = 70 + i;
        memcpy(arg, &id, 8);
    } else if (what == PERF_EVENT_IOC_SET_OUTPUT) {
        hear("output(%u to %d) ", i, (int)(intptr_t)arg - FIRST_FD);
        return no_output ? -1 : 0;
    } else
        hear("%s(%u) ", what == PERF_EVENT_IOC_ENABLE ? "on" : what == PERF_EVENT_IOC_DISABLE ? "off" : "?", i);
    return 0;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = i < (number == SYS_close                         ? 1
                    : number == SYS_munmap                      ? 2
                    : number == SYS_ioctl || number == SYS_read ? 3
                    : number == SYS_perf_event_open             ? 5
                                                                : 6)
                   ? va_arg(list, long)
                   : 0;
    va_end(list);
    switch (number) {
    case SYS_perf_event_open:
        if ((int)a[2] != -1 || (int)a[3] != -1 || a[4] != PERF_FLAG_FD_CLOEXEC)
            hear("for whom? ");
        return open_event((const struct perf_event_attr *)a[0], (pid_t)a[1]);
    case SYS_ioctl:
        return control((int)a[0], (unsigned long)a[1], (void *)a[2]);
    case SYS_mmap:
        if (!silent)
            hear("map(%ld pages) ", a[1] / PAGE);
        if ((uint64_t)a[1] > lock_most || (int)a[4] < FIRST_FD)
            return -1;
        return (long)(intptr_t)mem_calloc((size_t)a[1], 1);
    case SYS_munmap:
        hear("unmap(%ld pages) ", a[1] / PAGE);
        mem_free((void *)a[0]);
        return 0;
    case SYS_read:
        if (closed[(int)a[0] - FIRST_FD] || a[2] != 24)
            return 8;
        memcpy((void *)a[1], counted[(int)a[0] - FIRST_FD], 24);
        return 24;
    case SYS_close:
        hear("close(%d) ", (int)a[0] - FIRST_FD);
        return 0;
    default:
        hear("system call %ld ", number);
        return -1;
    }
}

int fake_getrlimit(int what, struct rlimit *r);
int fake_getrlimit(int what, struct rlimit *r)
{
    r->rlim_cur = what == RLIMIT_MEMLOCK ? memlock : nofile;
    return 0;
}
uid_t fake_geteuid(void);
uid_t fake_geteuid(void)
{
    return is_root ? 0 : 1000;
}
long fake_sysconf(int what);
long fake_sysconf(int what)
{
    return what == _SC_NPROCESSORS_ONLN ? processors : -1;
}

/* ---- the rest of the recorder ---------------------------------------------------------------------------------------- */

uint64_t hpcrec_page_bytes(void)
{
    return PAGE;
}
int hpcrec_fd_keep(int fd)
{
    kept += fd >= 0;
    return fd;
}
void hpcrec_fd_close(int *fd)
{
    if (*fd < 0)
        return;
    hear("close(%d) ", *fd - FIRST_FD);
    kept--;
    *fd = -1;
}
void hpcrec_fd_disown(int fd)
{
    hear("disown(%d) ", fd - FIRST_FD);
    kept--;
}
unsigned hpcrec_fd_count(void)
{
    return kept;
}
void hpcrec_missing(const char *sentence)
{
    hear("missing(%s) ", sentence);
}
ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    if (no_mlock_file || strcmp(path, "/proc/sys/kernel/perf_event_mlock_kb") != 0)
        return -1;
    return snprintf(to, size, "%llu\n", (unsigned long long)mlock_kb);
}
void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value)
{
    hear("count(%u %u %u %llx %d %u %llu) ", thread, event, region, (unsigned long long)pc, (int)parent, samples,
         (unsigned long long)value);
}
uint32_t hpcrec_path_of_record(struct thread *t, const uint8_t *p, const uint8_t *end, uint64_t *pc)
{
    (void)t;
    hear("path(%d bytes) ", (int)(end - p));
    *pc += 1;
    return 33;
}

/* ---- one case -------------------------------------------------------------------------------------------------------- */

static struct thread threads[40];
static struct thread_row rows[40];

static void add_event(const char *text)
{
    struct record_event *e = &hpcrec.config.events[hpcrec.config.event_count++].conf;
    char kind[20] = "", unit[16] = "";
    unsigned long long period = 0, frequency = 0, config = 0;
    unsigned type = 0;
    sscanf(text, "%19s %u %llu %llu %llu %15s", kind, &type, &config, &period, &frequency, unit);
    e->kind = strcmp(kind, "perf") == 0 ? RECORD_PERF : strcmp(kind, "papi") == 0 ? RECORD_PAPI : RECORD_CPUTIME;
    e->type = type, e->config = config, e->config1 = config + 1, e->config2 = config + 2;
    e->period = period, e->frequency = frequency;
    snprintf(e->unit, sizeof e->unit, "%s", unit);
}

/* A record into a thread's ring. */
static void put_record(struct thread *t, uint32_t type, const uint64_t *words, size_t n)
{
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)t->ring;
    struct perf_event_header head = {.type = type, .size = (uint16_t)(sizeof head + n * 8)};
    uint8_t bytes[256];
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, words, n * 8);
    for (size_t i = 0; i < head.size; i++)
        t->ring[PAGE + (page->data_head + i) % (t->ring_bytes - PAGE)] = bytes[i];
    page->data_head += head.size;
}

static void do_step(const char *word, const char *rest)
{
    unsigned long long a = 0, b = 0, c = 0, d = 0;
    int n = rest ? sscanf(rest, "%llu %llu %llu %llu", &a, &b, &c, &d) : 0;
    struct thread *t = &threads[a % 40];
    if (strcmp(word, "event") == 0)
        add_event(rest);
    else if (strcmp(word, "paths") == 0)
        hpcrec.config.call_paths = a != 0;
    else if (strcmp(word, "measure") == 0)
        hpcrec.measuring = a != 0;
    else if (strcmp(word, "begin") == 0) /* thread N, of a number; 0: itself */
        hpcrec_perf_begin(t, (pid_t)b);
    else if (strcmp(word, "end") == 0)
        hpcrec_perf_end(t);
    else if (strcmp(word, "switch") == 0)
        hpcrec_perf_switch(t, b != 0);
    else if (strcmp(word, "show") == 0) {
        hear("stack %u ring %zu", t->stack_bytes, t->ring_bytes);
        for (unsigned e = 0; e < hpcrec.config.event_count; e++)
            hear(" %d/%llu", t->fd[e] < 0 ? -1 : t->fd[e] - FIRST_FD, (unsigned long long)t->perf_id[e]);
        hear(" kept %u", kept);
    } else if (strcmp(word, "closed") == 0) /* without our knowledge */
        closed[a] = true;
    else if (strcmp(word, "counted") == 0)
        counted[a][0] = b, counted[a][1] = c, counted[a][2] = d;
    else if (strcmp(word, "totals") == 0) {
        hpcrec_perf_totals(t, &rows[t->row]);
        hear("has %u", rows[t->row].has_total);
        for (unsigned e = 0; e < hpcrec.config.event_count; e++)
            hear(" %llu", (unsigned long long)rows[t->row].total[e]);
        hear("%s ", hpcrec.must_rewrite ? " rewrite" : "");
    } else if (strcmp(word, "refuse") == 0)
        refuse_from = opened + (unsigned)a;
    else if (strcmp(word, "no-kernel") == 0)
        no_kernel = a != 0;
    else if (strcmp(word, "no-output") == 0)
        no_output = true;
    else if (strcmp(word, "lock") == 0) /* pages of a ring at most */
        lock_most = a * PAGE;
    else if (strcmp(word, "user") == 0) /* kB for each processor, bytes of RLIMIT_MEMLOCK, processors */
        is_root = false, mlock_kb = a, memlock = b, processors = n > 2 ? (long)c : 4, no_mlock_file = n > 3;
    else if (strcmp(word, "unlimited") == 0)
        is_root = false, memlock = RLIM_INFINITY;
    else if (strcmp(word, "seen") == 0)
        hpcrec.threads_seen = (uint32_t)a;
    else if (strcmp(word, "files") == 0)
        nofile = a;
    else if (strcmp(word, "kept") == 0)
        kept = (unsigned)a;
    else if (strcmp(word, "forget") == 0)
        hpcrec_perf_forget();
    else if (strcmp(word, "silent") == 0)
        silent = a != 0;
    else if (strcmp(word, "permitted") == 0)
        hear("%d %d ", hpcrec_kernel_permitted(), hpcrec_kernel_is_hidden());
    else if (strcmp(word, "sample") == 0) { /* of thread N: id, address, and further fields */
        uint64_t words[] = {b, c, d, 2, (uint64_t)PERF_CONTEXT_USER, 0x4321};
        put_record(t, PERF_RECORD_SAMPLE, words, 6);
    } else if (strcmp(word, "chain") == 0) { /* of one event, in the kernel: frames, from a mark on */
        uint64_t words[] = {0xffffffff81000000,
                            b,
                            c ? (uint64_t)PERF_CONTEXT_KERNEL : 0x77,
                            (uint64_t)PERF_CONTEXT_USER,
                            0x4321,
                            0x55,
                            0x66};
        put_record(t, PERF_RECORD_SAMPLE, words, d ? d : 7);
    } else if (strcmp(word, "full") == 0) { /* invalid record headers and a sample: b bytes less than fit */
        const struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)t->ring;
        uint64_t words[] = {c, 0, 0, 0};
        while (page->data_head - page->data_tail < t->ring_bytes - PAGE - 40 - b)
            put_record(t, 99, words, 0);
        put_record(t, PERF_RECORD_SAMPLE, words, 4);
    } else if (strcmp(word, "chain-most") == 0) { /* not a user address */
        uint64_t words[] = {0xffffffff81000000, 2, (uint64_t)PERF_CONTEXT_MAX, (uint64_t)PERF_CONTEXT_MAX - 1};
        put_record(t, PERF_RECORD_SAMPLE, words, 4);
    } else if (strcmp(word, "cut") == 0) /* a record that is shorter than it should be */
        put_record(t, (uint32_t)b, (uint64_t[]){c, 0, 0}, d % 4);
    else if (strcmp(word, "tail") == 0) /* the program overwrites the ring */
        ((struct perf_event_mmap_page *)t->ring)->data_tail += b;
    else if (strcmp(word, "drain") == 0) {
        hpcrec_perf_drain(t);
        hear("lost %llu throttled %llu ", (unsigned long long)rows[t->row].lost[0],
             (unsigned long long)rows[t->row].throttled[0]);
    } else
        hear("no such step: %s ", word);
}

static void be_process(char *script)
{
    for (unsigned i = 0; i < 40; i++) {
        threads[i].row = i;
        for (unsigned e = 0; e < EVENTS_MAX; e++)
            threads[i].fd[e] = -1;
    }
    for (unsigned e = 0; e < EVENTS_MAX; e++) /* entries after the last one are ignored */
        hpcrec.config.events[e].conf =
            (struct record_event){.kind = RECORD_PERF, .type = PERF_TYPE_SOFTWARE, .frequency = 999};
    hpcrec.thread_rows.items = rows;
    hpcrec.measuring = true;
    steps_take(script, do_step);
    for (unsigned i = 0; i < 40; i++)
        mem_free(threads[i].ring);
}

int main(void)
{
#if defined __x86_64__
    steps_run("tests/record/perf.cases", be_process);
#else
    (void)be_process;
    SKIP("what the kernel is asked for", "the cases have x86-64's registers");
#endif
    return tap_done();
}
