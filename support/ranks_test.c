/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks: distribution of work, and collection of results. */
#include "support/support.h"
#include "tests/ranks.h"
#include "tests/tap.h"

#include <stdio.h>

static void shares_follow_each_other(void)
{
    static const size_t things[] = {0, 1, 2, 7, 8, 9, 65536};
    for (size_t k = 0; k < ARRAY_SIZE(things); k++)
        for (unsigned count = 1; count <= 9; count++) {
            size_t next = 0, least = SIZE_MAX, most = 0, from, to;
            for (unsigned me = 0; me < count; me++) {
                ranks_share(&(struct ranks){.me = me, .count = count}, things[k], &from, &to);
                CHECK(from == next && to >= from);
                least = to - from < least ? to - from : least;
                most = to - from > most ? to - from : most;
                next = to;
            }
            CHECK_NAMED(next == things[k], "all are somebody's");
            CHECK_NAMED(most - least <= 1, "and nobody has two more than another");
        }
    size_t from, to;
    ranks_share(NULL, 5, &from, &to);
    CHECK_NAMED(from == 0 && to == 5, "without ranks all are this process's");
}

static void pack(void *ctx, struct buf *out)
{
    struct buf *mine = ctx;
    buf_add(out, mine->bytes, mine->len);
}

static int add(void *ctx, const void *bytes, size_t len, struct err *err)
{
    (void)err;
    buf_add(ctx, bytes, len);
    return 0;
}

static int take(void *ctx, const void *bytes, size_t len, struct err *err)
{
    struct buf *mine = ctx;
    mine->len = 0;
    return add(ctx, bytes, len, err);
}

/* Every rank sends its letter, repeated by its number: the last ones more than a socket buffers. */
static void all_have_all_in_order(unsigned count, bool back)
{
    struct test_ranks t;
    struct buf mine = {0}, want = {0};
    struct err err = {0};
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < (i + 1) * 100000; k++)
            buf_char(&want, (char)('a' + i));
    test_ranks_begin(&t, count);
    for (unsigned k = 0; k < (t.ranks.me + 1) * 100000; k++)
        buf_char(&mine, (char)('a' + t.ranks.me));
    int status = ranks_unite(&t.ranks, &(struct ranks_work){&mine, pack, add, back ? take : NULL}, &err);
    bool all = mine.len == want.len && memcmp(mine.bytes, want.bytes, want.len) == 0;
    bool well = status == 0 && (all || (t.ranks.me && !back));
    well = test_ranks_end(&t, well);
    char name[64];
    snprintf(name, sizeof name, "%u ranks have all in order%s", count, back ? "" : ", the first one alone");
    CHECK_NAMED(well, name);
    buf_release(&mine);
    buf_release(&want);
}

int main(void)
{
    shares_follow_each_other();
    for (unsigned count = 1; count <= TEST_RANKS_MOST; count++) {
        all_have_all_in_order(count, true);
        all_have_all_in_order(count, false);
    }
    struct buf nothing = {0};
    CHECK(ranks_unite(NULL, &(struct ranks_work){&nothing, pack, add, take}, NULL) == 0);
    return tap_done();
}
