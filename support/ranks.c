/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining the data of ranks.
 *
 *     rank   0   1   2   3   4        1 sends to 0, 3 to 2;  2 sends to 0;  4 sends to 0: each sends once, and receives
 *            +---+   +---+   |        as often as there are steps. Who receives holds neighbours in order, so that what
 *            +-------+       |        comes is added behind it. The way back is the same one.
 *            +---------------+
 */
#include "support/support.h"

void ranks_share(const struct ranks *r, size_t n, size_t *from, size_t *to)
{
    size_t count = r ? r->count : 1, me = r ? r->me : 0, each = n / count, more = n % count;
    *from = me * each + (me < more ? me : more);
    *to = *from + each + (me < more);
}

static int send_up(const struct ranks *r, const struct ranks_work *w, unsigned to, struct err *err)
{
    struct buf mine = {0};
    w->pack(w->ctx, &mine);
    int status = r->send(r->ctx, to, mine.bytes, mine.len, err);
    buf_release(&mine);
    return status;
}

static int add_from(const struct ranks *r, const struct ranks_work *w, unsigned from, struct err *err)
{
    struct buf theirs = {0};
    int status = r->receive(r->ctx, from, &theirs, err);
    if (status == 0)
        status = w->add(w->ctx, theirs.bytes, theirs.len, err);
    buf_release(&theirs);
    return status;
}

/* In its 64 bits, twice the last step below the count still fits. */
static int gather(const struct ranks *r, const struct ranks_work *w, struct err *err)
{
    for (uint64_t step = 1; step < r->count; step *= 2) {
        if (r->me & step)
            return send_up(r, w, r->me - (unsigned)step, err);
        if (r->me + step < r->count && add_from(r, w, r->me + (unsigned)step, err) < 0)
            return -1;
    }
    return 0;
}

static int spread(const struct ranks *r, const struct ranks_work *w, struct err *err)
{
    struct buf all = {0};
    uint64_t step = 1;
    int status = 0;
    while (step < r->count && !(r->me & step))
        step *= 2;
    if (r->me == 0)
        w->pack(w->ctx, &all);
    else
        status = r->receive(r->ctx, r->me - (unsigned)step, &all, err);
    while (status == 0 && (step /= 2) > 0)
        if (r->me + step < r->count)
            status = r->send(r->ctx, r->me + (unsigned)step, all.bytes, all.len, err);
    if (status == 0)
        status = w->take(w->ctx, all.bytes, all.len, err);
    buf_release(&all);
    return status;
}

int ranks_unite(const struct ranks *r, const struct ranks_work *w, struct err *err)
{
    if (!r || r->count < 2)
        return 0;
    int status = gather(r, w, err);
    return status == 0 && w->take ? spread(r, w, err) : status;
}
