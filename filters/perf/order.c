/* SPDX-License-Identifier: BSD-3-Clause */
/* perf.data: records wait until nothing earlier can come, and are taken in the order of their time. */
#include "filters/perf/data.h"

/* ---- records that were packed wait in memory ----------------------------------------------------------------- */

/* A copy that stays until its round is over, and behind which place_of_kept finds where in the file it was packed. */
static const uint8_t *keep(struct perf_data *d, const uint8_t *record, size_t size, const uint8_t *place)
{
    d->kept = d->kept ? d->kept : arena_create();
    uint8_t *copy = arena_alloc(d->kept, sizeof place + size);
    memcpy(copy, &place, sizeof place);
    memcpy(copy + sizeof place, record, size);
    return copy + sizeof place;
}

static const uint8_t *place_of_kept(const uint8_t *record)
{
    const uint8_t *place;
    memcpy(&place, record - sizeof place, sizeof place);
    return place;
}

static bool is_kept(const struct perf_data *d, const uint8_t *record)
{
    return (uintptr_t)record < (uintptr_t)d->begin || (uintptr_t)record >= (uintptr_t)d->end;
}

/* Those that still wait after a round came in it, so each is moved once; the memory of the others is given back. */
static void keep_only_waiting(struct perf_data *d)
{
    struct arena *old = d->kept;
    d->kept = NULL;
    for (size_t i = 0; old && i < d->queue.count; i++) {
        const uint8_t *at = d->queue.items[i].bytes;
        if (is_kept(d, at))
            d->queue.items[i].bytes = keep(d, at, perf_data_record_at(d, at).size, place_of_kept(at));
    }
    arena_free(old);
}

/* ---- in the order of time --------------------------------------------------------------------------------------- */

/* Merges runs that are in order already, as they come from each processor: records of one time keep their order. */
static void sort_queue(struct perf_data *d)
{
    size_t n = d->queue.count;
    vec_reserve(&d->spare, n);
    for (size_t runs = 2; runs > 1;) {
        size_t out = 0, at = 0;
        struct waiting *in = d->queue.items, *to = d->spare.items;
        for (runs = 0; at < n; runs++) {
            size_t middle = at + 1, end;
            while (middle < n && in[middle - 1].time <= in[middle].time)
                middle++;
            if (at == 0 && middle == n)
                return;
            for (end = middle < n ? middle + 1 : n; end < n && in[end - 1].time <= in[end].time;)
                end++;
            for (size_t left = at, right = middle; left < middle || right < end;)
                to[out++] =
                    right == end || (left < middle && in[left].time <= in[right].time) ? in[left++] : in[right++];
            at = end;
        }
        d->queue.items = to;
        d->spare.items = in;
        size_t capacity = d->queue.capacity;
        d->queue.capacity = d->spare.capacity;
        d->spare.capacity = capacity;
    }
}

/* Takes what has waited up to that time. */
static int take_until(struct perf_data *d, uint64_t time)
{
    const uint8_t *place = d->packed_place;
    size_t n = 0;
    int status = 0;
    sort_queue(d);
    for (; n < d->queue.count && d->queue.items[n].time <= time && status == 0; n++) {
        const uint8_t *at = d->queue.items[n].bytes;
        d->packed_place = is_kept(d, at) ? place_of_kept(at) : NULL;
        status = perf_data_take(d, at);
    }
    if (status < 0)
        return -1;
    d->packed_place = place;
    if (n)
        memmove(d->queue.items, d->queue.items + n, (d->queue.count - n) * sizeof *d->queue.items);
    d->queue.count -= n;
    keep_only_waiting(d);
    return 0;
}

int perf_data_finish_round(struct perf_data *d)
{
    int status = take_until(d, d->round_limit);
    d->round_limit = d->latest;
    return status;
}

/* A record without a time is processed at once: perf's records of processes that ran before it. */
int perf_data_put(struct perf_data *d, const uint8_t *at, const struct record *r)
{
    uint64_t time = perf_data_time(d, r);
    if (time == 0)
        return perf_data_take(d, at);
    d->latest = time > d->latest ? time : d->latest;
    if (d->packed_place)
        at = keep(d, at, r->size, d->packed_place);
    *vec_push(&d->queue) = (struct waiting){time, at};
    return 0;
}

int perf_data_finish_all(struct perf_data *d)
{
    return take_until(d, UINT64_MAX);
}

void perf_data_release_order(struct perf_data *d)
{
    vec_release(&d->queue);
    vec_release(&d->spare);
    arena_free(d->kept);
}
