/* SPDX-License-Identifier: BSD-3-Clause */
/* Random jumps in random parts, against sums of them. */
#include "filters/callgrind/jumps.h"
#include "tests/chance.h"
#include "tests/tap.h"

enum { THREADS = 2, OBJECTS = 3, ADDRESSES = 6, PARTS = 3, NOWHERE = 2 }; /* NOWHERE: an object without addresses */

static uint64_t taken[THREADS][OBJECTS][ADDRESSES][ADDRESSES], executed[THREADS][OBJECTS][ADDRESSES];

static uint32_t context_of(void *ctx, uint32_t object, uint64_t address)
{
    (void)ctx;
    return object == NOWHERE ? ROW_NONE : object * 100 + (uint32_t)address;
}

static uint32_t position_of(unsigned thread, unsigned object, unsigned address, unsigned line)
{
    return ((thread * OBJECTS + object) * ADDRESSES + address) * 2 + line;
}

static void count_some(struct jumps *j, unsigned most)
{
    for (unsigned n = below(most); n > 0; n--) {
        unsigned thread = below(THREADS), object = below(OBJECTS), from = below(ADDRESSES), to = below(ADDRESSES);
        uint64_t times = 1 + below(9);
        jumps_count(j, thread, object, from, to, times);
        taken[thread][object][from][to] += times;
    }
}

static void execute_some(struct jumps *j)
{
    for (unsigned n = below(60); n > 0; n--) {
        unsigned thread = below(THREADS), object = below(OBJECTS), address = below(ADDRESSES);
        uint64_t times = 1 + below(30);
        jumps_executed(j, position_of(thread, object, address, below(2)), times);
        executed[thread][object][address] += times;
    }
}

static uint64_t row_times(const struct table *t, unsigned part, unsigned thread, uint32_t from, uint32_t to)
{
    uint64_t times = 0;
    for (size_t i = 0; i < table_row_count(t); i++) {
        const union table_cell *r = table_row(t, i);
        if (r[0].count == part && r[1].row == thread && r[2].row == from && r[3].row == to)
            times += r[4].count;
    }
    return times;
}

/* Compares the table's rows of the part; `is_target` covers all parts. */
static bool part_is_right(const struct table *t, unsigned part, const bool (*is_target)[OBJECTS][ADDRESSES])
{
    bool right = true;
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (unsigned object = 0; object < NOWHERE; object++)
            for (unsigned to = 0; to < ADDRESSES; to++) {
                uint32_t target = context_of(NULL, object, to);
                uint64_t jumped = 0, all = executed[thread][object][to];
                for (unsigned from = 0; from < ADDRESSES; from++) {
                    uint64_t times = taken[thread][object][from][to];
                    jumped += times;
                    right &= row_times(t, part, thread, context_of(NULL, object, from), target) == times;
                }
                uint64_t others = is_target[thread][object][to] && all > jumped ? all - jumped : 0;
                right &= row_times(t, part, thread, TABLE_NONE, target) == others;
            }
    return right;
}

static void check_random(void)
{
    struct hpcprof *p = hpcprof_create();
    struct jumps j = {0};
    bool is_target[THREADS][OBJECTS][ADDRESSES] = {{{false}}}, right = true;
    memset(taken, 0, sizeof taken);
    count_some(&j, 40); /* the first reading: all of them */
    jumps_find_targets(&j);
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (unsigned object = 0; object < OBJECTS; object++)
            for (unsigned to = 0; to < ADDRESSES; to++) {
                uint32_t target = jumps_target(&j, thread, object, to);
                for (unsigned from = 0; from < ADDRESSES; from++)
                    is_target[thread][object][to] |= taken[thread][object][from][to] != 0;
                right &= is_target[thread][object][to] == (target != ROW_NONE);
                for (unsigned line = 0; line < 2; line++)
                    jumps_note_target(&j, position_of(thread, object, to, line), target);
            }
    CHECK_NAMED(right, "where jumps lead");
    for (unsigned part = 0; part < PARTS; part++) {
        memset(executed, 0, sizeof executed);
        if (part) { /* the jumps of the parts are those of the whole */
            jumps_clear(&j);
            memset(taken, 0, sizeof taken);
            for (size_t i = 0; i < j.rows.rows.count; i++) {
                const struct interner_key *k = &j.rows.rows.items[i].key;
                uint64_t times = below(4);
                if (times)
                    jumps_count(&j, k->a[0], k->a[1], k->b[0], k->b[1], times);
                taken[k->a[0]][k->a[1]][k->b[0]][k->b[1]] = times;
            }
        }
        execute_some(&j);
        CHECK_INT(jumps_add(&j, p, part, context_of, NULL, NULL), 0);
        const struct table *t = table_list_find(&p->tables, "jumps");
        CHECK_NAMED(t && part_is_right(t, part, is_target), "the rows of a part");
    }
    jumps_release(&j);
    hpcprof_free(p);
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        check_random();
    return tap_done();
}
