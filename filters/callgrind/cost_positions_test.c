/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a callgrind file: each once, in any order of a file. */
#include "filters/callgrind/cost_positions.h"
#include "tests/tap.h"

#include <stdlib.h>

enum { MOST = 4096 };

struct naive { /* the same by looking at all */
    struct {
        uint64_t address, line;
        uint32_t group[5];
    } rows[MOST];
    uint32_t count;
};

static uint32_t naive_row(struct naive *n, const uint32_t group[5], uint64_t address, uint64_t line)
{
    uint32_t i = 0;
    while (i < n->count && (n->rows[i].address != address || n->rows[i].line != line ||
                            memcmp(n->rows[i].group, group, sizeof n->rows[i].group) != 0))
        i++;
    if (i == n->count) {
        n->rows[i].address = address;
        n->rows[i].line = line;
        memcpy(n->rows[i].group, group, sizeof n->rows[i].group);
        n->count++;
    }
    return i;
}

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* A function's basic blocks as tools write them: ascending, some repeated or jumping back into another, with lines from
   two files. */
static bool write_function(struct cost_positions *s, struct naive *n, uint32_t thread, uint32_t function,
                           bool addresses, unsigned disorder)
{
    bool right = true;
    uint64_t address = 0x1000 + 0x200 * function;
    for (unsigned i = 0; i < 24 && n->count < MOST - 1; i++) {
        uint32_t group[5] = {thread, function % 2, function, below(4) == 0, 0};
        address = below(100) < disorder ? address - below(0x40) : address + 1 + below(5);
        uint64_t line = 1 + below(6), at = addresses ? address : 0;
        callgrind_positions_enter(s, group[0], group[1], group[2], group[3], group[4]);
        for (unsigned again = 1 + below(2); again > 0; again--)
            right = right && callgrind_positions_row(s, at, line) == naive_row(n, group, at, line);
    }
    return right;
}

static void check_order(struct cost_positions *s, const struct naive *n, const char *name)
{
    bool twice = false, found = true;
    for (uint32_t i = 0; i < n->count; i++)
        for (uint32_t k = 0; k < i; k++)
            twice = twice || (n->rows[i].address == n->rows[k].address && n->rows[i].group[1] == n->rows[k].group[1]);
    bool distinct = callgrind_positions_order(s);
    /* an address at two places is not treated as one */
    CHECK_NAMED(!(distinct && twice), name);
    for (uint32_t i = 0; distinct && i < n->count; i++)
        found = found && callgrind_positions_at(s, n->rows[i].group[1], n->rows[i].address) == i;
    /* an address leads to its place */
    CHECK_NAMED(found, name);
    /* other objects have none */
    CHECK_NAMED(callgrind_positions_at(s, 7, 0x1000) == ROW_NONE, name);
}

int main(void)
{
    static const struct {
        const char *name;
        unsigned functions, parts, threads, disorder;
        bool addresses, distinct;
    } cases[] = {
        {"one part in order", 40, 1, 1, 0, true, true}, {"blocks that overlap", 40, 1, 1, 10, true, false},
        {"in no order", 40, 1, 1, 50, true, false},     {"parts", 20, 3, 1, 10, true, false},
        {"threads", 20, 2, 2, 0, true, false},          {"lines alone", 40, 2, 1, 0, false, false},
    };
    static struct naive naive;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cost_positions s = {0};
        bool right = true;
        naive.count = 0;
        for (unsigned part = 0; part < cases[i].parts; part++)
            for (unsigned f = 0; f < cases[i].functions; f++) {
                seed = f * 7919 + (cases[i].disorder ? part / 2 : 0); /* parts repeat the same positions, or nearly */
                for (uint32_t thread = 0; thread < cases[i].threads; thread++)
                    right = write_function(&s, &naive, thread, f, cases[i].addresses, cases[i].disorder) && right;
            }
        /* each place has one row */
        CHECK_NAMED(right, cases[i].name);
        CHECK_INT(s.rows.count, naive.count);
        if (cases[i].distinct)
            /* the hash index is not used */
            CHECK_NAMED(callgrind_positions_order(&s) && s.indexed == 0, cases[i].name);
        check_order(&s, &naive, cases[i].name);
        callgrind_positions_release(&s);
    }
    return tap_done();
}
