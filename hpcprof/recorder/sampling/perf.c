/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's ring buffer: each thread has its events, and one ring they all write to; no signals. perf_event_open(2),
 * linux/perf_event.h. The ring's memory counts against perf_event_mlock_kb and RLIMIT_MEMLOCK, which many threads
 * share, so it is as small as the sampling rate permits.
 */
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RECORD_LARGEST = 1 << 16, SAMPLE_BYTES = 40 };

/* One ring holds what comes in this many drains at the rate asked for. */
enum { DRAINS_HELD = 4 };

/* Locked memory is shared out as if so many threads were still to come. */
enum { THREADS_TO_COME = 16, RING_BYTES_MOST = 8 << 20, RING_BYTES_LEAST = 256 << 10 };

static unsigned perf_events(void)
{
    unsigned n = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        n += hpcrec.config.events[e].conf.kind == RECORD_PERF;
    return n;
}

bool hpcrec_kernel_permitted(void)
{
    static enum { UNKNOWN, NO, YES } answer;
    if (answer == UNKNOWN) {
        struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .disabled = 1};
        attr.config = PERF_COUNT_SW_TASK_CLOCK;
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        answer = fd >= 0 ? YES : NO;
        if (fd >= 0)
            syscall(SYS_close, fd);
    }
    return answer == YES;
}

/* Time spent in the kernel is time the program took, and a context switch happens nowhere else; so the kernel's
   software events count there too, and are charged to the instruction that went there: the system call, the load that
   faulted. Hardware events keep to PAPI's default domain, user code. */
static bool counts_kernel(const struct record_event *e)
{
    return e->type == PERF_TYPE_SOFTWARE && hpcrec_kernel_permitted();
}

static bool any_counts_kernel(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PERF && counts_kernel(&hpcrec.config.events[e].conf))
            return true;
    return false;
}

bool hpcrec_kernel_is_hidden(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        const struct record_event *conf = &hpcrec.config.events[e].conf;
        if ((conf->kind == RECORD_PERF || conf->kind == RECORD_PAPI) && conf->type == PERF_TYPE_SOFTWARE)
            return !hpcrec_kernel_permitted();
    }
    return false;
}

/* Records carry the event's id only if there are several, and the innermost user address only if samples in the kernel
 * are taken: among the registers, if call paths are requested. */
static uint64_t sample_type(bool frequency)
{
    return PERF_SAMPLE_IP | (perf_events() > 1 ? PERF_SAMPLE_IDENTIFIER : 0) | (frequency ? PERF_SAMPLE_PERIOD : 0) |
           (hpcrec.config.call_paths ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
            : any_counts_kernel()    ? PERF_SAMPLE_CALLCHAIN
                                     : 0);
}

/* With several events in one ring all records must have the same fields. */
static bool any_frequency(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PERF && hpcrec.config.events[e].conf.frequency)
            return true;
    return false;
}

/* Samples a second that one thread can make of an event. Events that are not time come in bursts: faults by the ten
 * thousand. */
static uint64_t rate_of(const struct record_event *e)
{
    if (e->frequency)
        return e->frequency;
    if (strcmp(e->unit, "ns") == 0)
        return 1000000000 / e->period;
    if (strcmp(e->unit, "cycles") == 0)
        return 4000000000u / e->period;
    return 10000;
}

static uint64_t sample_bytes(uint32_t stack_bytes)
{
    return SAMPLE_BYTES + (hpcrec.config.call_paths ? HPCREC_REGISTERS_BYTES + stack_bytes : 0);
}

/* At least one a drain, also at low rates: each may come with a whole stack. */
static uint64_t samples_held(const struct record_event *e)
{
    uint64_t held = rate_of(e) * hpcrec_drain_ms() / 1000 * DRAINS_HELD;
    return held > DRAINS_HELD ? held : DRAINS_HELD;
}

/* How much of the stack comes with a sample of the event, `most` at most: less where samples come so often that the
   ring could not hold them. A sample is worth more than the outer end of its path. */
static uint32_t stack_of(const struct record_event *e, uint32_t most)
{
    uint32_t bytes = most;
    while (bytes && samples_held(e) * sample_bytes(bytes) > RING_BYTES_MOST)
        bytes = bytes > HPCREC_STACK_LEAST ? bytes / 2 : 0;
    return bytes;
}

static int open_event(const struct record_event *e, pid_t tid, uint32_t stack_bytes)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    attr.type = e->type;
    attr.config = e->config;
    attr.config1 = e->config1;
    attr.config2 = e->config2;
    attr.sample_type = sample_type(any_frequency());
    attr.freq = e->frequency != 0;
    attr.sample_period = e->frequency ? e->frequency : e->period;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.disabled = 1;
    attr.exclude_kernel = !counts_kernel(e);
    attr.exclude_hv = 1;
    attr.exclude_callchain_kernel = 1;
    attr.sample_max_stack = attr.sample_type & PERF_SAMPLE_CALLCHAIN ? 1 : 0;
    attr.sample_regs_user = hpcrec.config.call_paths ? HPCREC_REGISTERS_MASK : 0;
    attr.sample_stack_user = stack_of(e, stack_bytes);
    attr.watermark = 1; /* nobody waits for the ring: no wake-ups, which cost an interrupt each */
    attr.wakeup_watermark = UINT32_MAX;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && !attr.exclude_kernel) { /* the program has given up the rights it began with */
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd >= 0)
            hpcrec_missing(
                "the program dropped privileges: kernel time of its later threads is counted but not sampled");
    }
    return hpcrec_fd_keep(fd);
}

static size_t ring_pages(uint32_t stack_bytes)
{
    uint64_t bytes = 0, pages = 1, page = hpcrec_page_bytes(), most = hpcrec.config.call_paths ? 2048 : 128;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        const struct record_event *conf = &hpcrec.config.events[e].conf;
        if (conf->kind == RECORD_PERF)
            bytes += samples_held(conf) * sample_bytes(stack_of(conf, stack_bytes));
    }
    while (pages * page < bytes && pages < most)
        pages *= 2;
    return pages;
}

static uint64_t ring_bytes_in_use; /* of all threads; all this is locked */

void hpcrec_perf_forget(void)
{
    ring_bytes_in_use = 0;
}

/* perf_event_open(2), perf_event_mlock_kb: so much for each processor, then RLIMIT_MEMLOCK; root has no limit. */
static uint64_t lockable_bytes(void)
{
    static uint64_t limit;
    char text[32];
    struct rlimit r;
    if (limit == 0) {
        uint64_t each = hpcrec_slurp("/proc/sys/kernel/perf_event_mlock_kb", text, sizeof text) > 0
                            ? strtoull(text, NULL, 10) << 10
                            : 0;
        bool has_none = geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &r) < 0 || r.rlim_cur == RLIM_INFINITY;
        limit = has_none ? UINT64_MAX : each * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + r.rlim_cur;
    }
    return limit > ring_bytes_in_use ? limit - ring_bytes_in_use : 0;
}

/* Locking and clearing a ring takes longer than many threads live: very numerous threads get small ones. */
static uint64_t ring_bytes_most(void)
{
    uint64_t bytes = RING_BYTES_MOST / (1 + hpcrec.threads_seen / THREADS_TO_COME),
             shared = lockable_bytes() / THREADS_TO_COME;
    bytes = bytes > RING_BYTES_LEAST ? bytes : RING_BYTES_LEAST;
    return bytes < shared ? bytes : shared;
}

/* The most stack bytes in a sample: leaves space for other threads' rings. If memory is short the path suffers, not
   the sample. */
static uint32_t stack_bytes_for_all(void)
{
    uint32_t bytes = HPCREC_STACK_BYTES;
    uint64_t most = ring_bytes_most();
    while (bytes && ring_pages(bytes) * hpcrec_page_bytes() > most)
        bytes = bytes > HPCREC_STACK_LEAST ? bytes / 2 : 0;
    return bytes;
}

/* Less than two samples: no ring. */
static void map_ring(struct thread *t, int fd)
{
    uint64_t sample = sample_bytes(t->stack_bytes);
    for (size_t pages = ring_pages(t->stack_bytes); pages * hpcrec_page_bytes() >= 2 * sample; pages /= 2) {
        size_t bytes = (1 + pages) * hpcrec_page_bytes();
        void *p = raw_mmap(bytes, MAP_SHARED, fd);
        if (p == MAP_FAILED)
            continue;
        t->ring = p;
        t->ring_bytes = bytes;
        ring_bytes_in_use += bytes;
        return;
    }
}

/* How many descriptors we take at most: the program's own files come first. */
static bool fd_to_spare(void)
{
    static unsigned taken_checked, limit;
    if (taken_checked++ % 64 == 0) {
        struct rlimit r;
        limit = getrlimit(RLIMIT_NOFILE, &r) < 0 ? 256 : r.rlim_cur > 40000 ? 10000 : (unsigned)r.rlim_cur / 4;
    }
    return hpcrec_fd_count() < limit;
}

/* The first event, which has the ring. */
static void open_first(struct thread *t, unsigned e, pid_t tid)
{
    t->stack_bytes = hpcrec.config.call_paths ? stack_bytes_for_all() : 0;
    for (;; t->stack_bytes = t->stack_bytes > HPCREC_STACK_LEAST ? t->stack_bytes / 2 : 0) {
        t->fd[e] = open_event(&hpcrec.config.events[e].conf, tid, t->stack_bytes);
        if (t->fd[e] >= 0)
            map_ring(t, t->fd[e]);
        if (t->fd[e] < 0 || t->ring || t->stack_bytes == 0)
            break;
        hpcrec_fd_close(&t->fd[e]);
    }
}

void hpcrec_perf_begin(struct thread *t, pid_t tid)
{
    int leader = -1;
    if (perf_events() == 0)
        return;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        if (hpcrec.config.events[e].conf.kind != RECORD_PERF)
            continue;
        if (leader < 0)
            open_first(t, e, tid);
        else
            t->fd[e] = open_event(&hpcrec.config.events[e].conf, tid, t->stack_bytes);
        if (t->fd[e] < 0) {
            hpcrec_missing("the kernel refused an event in some threads: they are missing from the measurement");
            continue;
        }
        raw_ioctl(t->fd[e], PERF_EVENT_IOC_ID, &t->perf_id[e]);
        if (leader < 0)
            leader = t->fd[e];
        else if (t->ring && raw_ioctl(t->fd[e], PERF_EVENT_IOC_SET_OUTPUT, (void *)(intptr_t)leader) < 0)
            hpcrec_missing("some events could not share a ring buffer and were not sampled");
    }
    if (leader >= 0 && !t->ring)
        hpcrec_missing("not enough locked memory for the ring buffers of some threads "
                       "(/proc/sys/kernel/perf_event_mlock_kb, ulimit -l): they are not sampled");
    if (hpcrec.measuring)
        hpcrec_perf_switch(t, true);
    /* The mapping keeps the event alive without its descriptor; only the exact total is lost. */
    if (!fd_to_spare() && perf_events() == 1 && t->ring) {
        for (unsigned e = 0; e < hpcrec.config.event_count; e++)
            hpcrec_fd_close(&t->fd[e]);
        hpcrec_missing("more threads than free descriptors: exact totals of some threads are missing");
    }
}

/* A program may close everything without asking the C library; then the number may be a file of its own by now. The
   ring lives on without its descriptors, so samples go on; the counter can no longer be read. */
static bool still_ours(struct thread *t, unsigned e)
{
    uint64_t id;
    if (t->fd[e] < 0 || (raw_ioctl(t->fd[e], PERF_EVENT_IOC_ID, &id) == 0 && id == t->perf_id[e]))
        return t->fd[e] >= 0;
    struct thread_row *row = (struct thread_row *)hpcrec.thread_rows.items + t->row;
    hpcrec_fd_disown(t->fd[e]);
    t->fd[e] = -1;
    row->has_total &= (uint8_t) ~(1u << e);
    hpcrec.must_rewrite = true; /* the file may have an older total */
    hpcrec_missing("the program closed descriptors of the recorder: exact totals of some threads are missing");
    return false;
}

void hpcrec_perf_switch(struct thread *t, bool on)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (still_ours(t, e))
            raw_ioctl(t->fd[e], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, NULL);
}

/* ---- reading the ring ------------------------------------------------------------------------------------------ */

uint64_t hpcrec_perf_position(const struct thread *t)
{
    return t->ring ? __atomic_load_n(&((struct perf_event_mmap_page *)t->ring)->data_head, __ATOMIC_ACQUIRE) : 0;
}

static unsigned event_of(const struct thread *t, uint64_t id)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PERF && (t->perf_id[e] == id || id == 0))
            return e;
    return 0;
}

/* The region the thread was in when it wrote the record at `position`. */
static uint32_t region_at(struct thread *t, uint64_t position)
{
    uint32_t tail = atomic_load_explicit(&t->mark_tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&t->mark_head, memory_order_acquire);
    for (; tail != head && t->marks[tail % MARKS].position <= position; tail++)
        t->drained_region = t->marks[tail % MARKS].region;
    atomic_store_explicit(&t->mark_tail, tail, memory_order_release);
    return t->drained_region;
}

/* The remainder of a record. Rings are in the program's memory, and a program may overwrite them: missing fields of
   a record are 0. */
struct fields {
    const uint8_t *at, *end;
};

static uint64_t take_u64(struct fields *f)
{
    uint64_t v = 0;
    if (f->end - f->at < 8)
        return 0;
    memcpy(&v, f->at, 8);
    f->at += 8;
    return v;
}

/* A call chain of one frame: its length, then PERF_CONTEXT_USER and the address; of a kernel thread's work, nothing. */
static uint64_t user_address(struct fields f, uint64_t otherwise)
{
    for (uint64_t n = take_u64(&f); n > 0 && n <= 4; n--) {
        uint64_t address = take_u64(&f);
        if (address < (uint64_t)PERF_CONTEXT_MAX)
            return address;
    }
    return otherwise;
}

static void use_sample(struct thread *t, struct fields f, uint64_t position)
{
    uint64_t type = sample_type(any_frequency());
    uint64_t id = type & PERF_SAMPLE_IDENTIFIER ? take_u64(&f) : 0;
    uint64_t pc = take_u64(&f);
    unsigned e = event_of(t, id);
    uint64_t period = hpcrec.config.events[e].conf.period;
    if (type & PERF_SAMPLE_PERIOD) {
        uint64_t given = take_u64(&f);
        if (hpcrec.config.events[e].conf.frequency)
            period = given;
    }
    if (pc >> 63 && type & PERF_SAMPLE_CALLCHAIN)
        pc = user_address(f, pc);
    uint32_t parent = type & PERF_SAMPLE_STACK_USER ? hpcrec_path_of_record(t, f.at, f.end, &pc) : CONTEXT_NONE;
    uint32_t region = region_at(t, position);
    if (hpcrec.measuring)
        hpcrec_count(t->row, e, region, pc, parent, 1, period);
}

static void use_record(struct thread *t, const uint8_t *record, uint64_t position)
{
    struct thread_row *row = (struct thread_row *)hpcrec.thread_rows.items + t->row;
    struct perf_event_header head;
    memcpy(&head, record, sizeof head);
    struct fields f = {record + sizeof head, record + head.size};
    switch (head.type) {
    case PERF_RECORD_SAMPLE:
        use_sample(t, f, position);
        break;
    case PERF_RECORD_LOST: {
        uint64_t id = take_u64(&f);
        row->lost[event_of(t, id)] += take_u64(&f);
        row->changed = true;
        break;
    }
    case PERF_RECORD_THROTTLE: {
        take_u64(&f); /* time */
        row->throttled[event_of(t, take_u64(&f))]++;
        row->changed = true;
        break;
    }
    default:
        break;
    }
}

/* The record at `at`, in one piece: it may begin at the ring's end and go on at its beginning. */
static const uint8_t *whole_record(const uint8_t *data, uint64_t size, uint64_t at, size_t n)
{
    static uint8_t copy[RECORD_LARGEST]; /* all this is locked */
    uint64_t first = size - at;
    if (first >= n)
        return data + at;
    memcpy(copy, data + at, first);
    memcpy(copy + first, data, n - first);
    return copy;
}

static _Atomic bool rings_fill,
    rings_idle = true; /* since the last pause: one was half full; none was an eighth full */

uint64_t hpcrec_perf_pause_ms(void)
{
    static uint64_t pause;
    uint64_t most = hpcrec_drain_ms();
    bool fill = atomic_exchange(&rings_fill, false), idle = atomic_exchange(&rings_idle, true);
    if (pause == 0 || pause > most)
        pause = most;
    if (fill)
        pause = pause > 1 ? pause / 2 : 1;
    else if (idle)
        pause = pause * 2 < most ? pause * 2 : most;
    return pause;
}

static void note_fill(uint64_t bytes, uint64_t size)
{
    if (bytes > size / 2)
        atomic_store(&rings_fill, true);
    if (bytes > size / 8)
        atomic_store(&rings_idle, false);
}

void hpcrec_perf_drain(struct thread *t)
{
    if (!t->ring)
        return;
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)t->ring;
    const uint8_t *data = t->ring + hpcrec_page_bytes();
    uint64_t size = t->ring_bytes - hpcrec_page_bytes(), tail = page->data_tail, head = hpcrec_perf_position(t);
    note_fill(head - tail, size);
    if (head - tail > size || tail % 8) /* the kernel never goes so far ahead of us: the program has written here */
        tail = head;
    while (tail < head) {
        struct perf_event_header header;
        memcpy(&header, data + tail % size, sizeof header); /* records are multiples of 8, so a header never wraps */
        if (header.size < sizeof header || header.size % 8 || header.size > head - tail)
            break;
        use_record(t, whole_record(data, size, tail % size, header.size), tail);
        tail += header.size;
    }
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

void hpcrec_perf_totals(struct thread *t, struct thread_row *row)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        uint64_t v[3]; /* count, time enabled, time running */
        if (hpcrec.config.events[e].conf.kind != RECORD_PERF || !still_ours(t, e) ||
            raw_read(t->fd[e], v, sizeof v) != sizeof v)
            continue;
        if (v[0] == 0 && v[1] > 0 && v[2] == 0) { /* not 0: their number is unknown */
            hpcrec_missing("other users held all counters: some threads were neither counted nor sampled");
            continue;
        }
        if (v[2] > 0 && v[2] < v[1]) {
            v[0] = (uint64_t)((double)v[0] * ((double)v[1] / (double)v[2]));
            hpcrec_missing(
                "more events than counters: the kernel counted only part of the time, and totals are estimates");
        }
        row->total[e] = v[0];
        row->has_total |= (uint8_t)(1u << e);
    }
}

void hpcrec_perf_end(struct thread *t)
{
    if (t->ring) {
        raw_munmap(t->ring, t->ring_bytes);
        ring_bytes_in_use -= t->ring_bytes;
    }
    t->ring = NULL;
    for (unsigned e = 0; e < EVENTS_MAX; e++)
        if (still_ours(t, e))
            hpcrec_fd_close(&t->fd[e]);
}
