/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any bytes in a thread's ring buffer, which is in the memory of a program that may write anywhere.
 * Every sample is counted once, with an existing event; damage ends the drain.
 *
 *     byte 0     bit 0: call paths; bits 1, 2: number of events; bit 3: by frequency; bit 4: not measuring
 *     byte 1     start of the ring, in units of eight bytes
 *     byte 2     bits 0 to 3: damage of the control page: the head is after the written data, or before the read data
 *     the rest   records
 */
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "hpcprof/recorder/unwind/objects.h"

#include <linux/perf_event.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING = 1 << 16, CODE = 0x1000, CODE_END = 0x100000, CONTEXTS = 1000 };

struct recorder hpcrec;
_Thread_local uint64_t hpcrec_waiting_pc;
static uint64_t counted;

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

/* ---- fakes of the rest of the recorder ---------------------------------------------------------------------- */

void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value)
{
    (void)pc, (void)value;
    promise(thread == 0 && event < hpcrec.config.event_count && samples == 1 && region < 2);
    promise(parent == CONTEXT_NONE || parent < CONTEXTS || parent - CONTEXTS < UNWIND_END_COUNT);
    counted++;
}

uint32_t hpcrec_context(uint64_t pc, uint32_t parent)
{
    return (uint32_t)((pc ^ parent) % CONTEXTS);
}

uint32_t hpcrec_context_cut(unsigned why)
{
    promise(why < UNWIND_END_COUNT);
    return CONTEXTS + why;
}

void hpcrec_missing(const char *what)
{
    promise(*what);
}

/* The code has one kind of function: it has pushed nothing, so the stack pointer points to its return address. */
static struct unwind_rows rows;

const struct unwind_map *hpcrec_unwind_map(void)
{
    static union {
        struct unwind_map map;
        uint8_t room[sizeof(struct unwind_map) + sizeof(struct unwind_object)];
    } one;
    one.map.count = 1;
    one.map.object[0] = (struct unwind_object){CODE, CODE_END, &rows};
    return &one.map;
}

static void make_rows(void)
{
    static const uint8_t frames[] = {
        16, 0, 0, 0, 0,  0, 0, 0, 1, 0,    1, 0x78, 16, 0x0c, 7, 8, 0x90, 1,    0,    0, /* CFA = r7 + 8; r16 at CFA - 8 */
        20, 0, 0, 0, 24, 0, 0, 0, 0, 0x10, 0, 0,    0,  0,    0, 0, 0,    0xf0, 0x0f, 0, 0, 0, 0, 0,
    };
    const struct unwind_section s = {frames, sizeof frames, 0x200000, false, CODE, CODE_END};
    unwind_rows_compile(&rows, &s, UNWIND_X86_64);
    promise(unwind_rows_find(&rows, 1) != NULL);
}

const struct unwind_rows *hpcrec_unwind_missing(const struct unwind_object *o)
{
    return o->rows;
}

void hpcrec_unwind_refresh(bool compile_all, bool (*in_use)(void))
{
    (void)in_use;
    (void)compile_all;
}

bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    memset(to, (int)address & 0xff, n);
    return address % 3 != 0;
}

void hpcrec_threads_each(void (*each)(struct thread *, void *ctx), void *ctx)
{
    (void)each, (void)ctx;
}

int hpcrec_fd_keep(int fd)
{
    return fd;
}

void hpcrec_fd_close(int *fd)
{
    *fd = -1;
}

void hpcrec_fd_disown(int fd)
{
    (void)fd;
}

unsigned hpcrec_fd_count(void)
{
    return 0;
}

ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    (void)path, (void)to, (void)size;
    return -1;
}

/* ---- the ring ------------------------------------------------------------------------------------------------- */

static void configure(unsigned flags)
{
    struct config *c = &hpcrec.config;
    c->call_paths = flags & 1;
    c->event_count = 1 + (flags >> 1 & 3) % 3;
    for (unsigned e = 0; e < c->event_count; e++)
        c->events[e].conf = (struct record_event){
            .kind = RECORD_PERF, .type = PERF_TYPE_SOFTWARE, .period = 1000, .frequency = flags & 8 ? 250 : 0};
    hpcrec.measuring = !(flags & 16);
    if (hpcrec_area_room(&hpcrec.thread_rows, 1, sizeof(struct thread_row)))
        hpcrec.thread_rows.count = 1;
}

/* Whole records of samples at the beginning; a record may wrap, and each has its header in one piece. */
static uint64_t samples_in(const uint8_t *p, size_t size)
{
    uint64_t n = 0;
    struct perf_event_header h;
    for (; size >= sizeof h; p += h.size, size -= h.size) {
        memcpy(&h, p, sizeof h);
        if (h.size < sizeof h || h.size % 8 || h.size > size)
            break;
        n += h.type == PERF_RECORD_SAMPLE;
    }
    return n;
}

static void drain(struct thread *t, unsigned begin, unsigned damage, const uint8_t *records, size_t n)
{
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)t->ring;
    uint8_t *ring = t->ring + hpcrec_page_bytes();
    uint64_t at = RING * 3 - (uint64_t)begin * 8;
    for (size_t i = 0; i < n; i++)
        ring[(at + i) % RING] = records[i];
    page->data_tail = at + (damage & 1);
    page->data_head = damage & 2 ? at + n + ((uint64_t)damage << 60) : damage & 4 ? at - n : at + n;
    bool sound = (damage & 7) == 0;
    counted = 0;
    hpcrec_perf_drain(t);
    promise(page->data_tail == page->data_head);
    promise(!sound || counted == (hpcrec.measuring ? samples_in(records, n) : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct thread t = {.perf_id = {1, 2, 3}};
    if (size < 3 || size - 3 > RING)
        return 0;
    if (rows.begin.count == 0)
        make_rows();
    configure(data[0]);
    hpcrec_paths_create(&t);
    t.ring_bytes = hpcrec_page_bytes() + RING;
    t.ring = calloc(1, t.ring_bytes); /* not mapped, so that one byte too far is seen */
    t.marks[0] = (struct mark){RING * 3 + 64, 1};
    atomic_store(&t.mark_head, 1);
    for (int i = 0; t.ring && i < 2; i++) /* the second time with the paths of the first */
        drain(&t, data[1], data[2], data + 3, (size - 3) & ~(size_t)7);
    free(t.ring);
    hpcrec_paths_free(&t);
    return 0;
}
