/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that becomes shorter while it is mapped: no SIGBUS, a sentence, and no output of it. */
#include "support/support.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/hpcview-shrink.XXXXXX";

static char *make_file(const char *name, size_t n)
{
    char *path = path_join(folder, name), *bytes = mem_alloc(n);
    FILE *f = fopen(path, "w");
    memset(bytes, 'x', n);
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
    mem_free(bytes);
    return path;
}

static unsigned sum_of(const struct filemap *map)
{
    unsigned sum = 0;
    for (size_t i = 0; i < map->len; i++)
        sum += map->bytes[i] == 'x';
    return sum;
}

/* The maximum number is watched, and no more; released ones make room for others, in any order. */
static void a_thousand_are_watched(const char *path)
{
    enum { WATCHED = 1024, OPEN = WATCHED + 3 };
    static struct filemap maps[OPEN];
    struct err err = {0};
    for (unsigned round = 0; round < 2; round++) {
        unsigned mapped = 0, right = 0;
        for (unsigned i = 0; i < OPEN; i++) {
            right += filemap_open(&maps[i], path, &err) == 0 && maps[i].mapped == (i < WATCHED) && maps[i].len == 1000;
            mapped += maps[i].mapped && sum_of(&maps[i]) == 1000;
        }
        CHECK_INT(right, OPEN);
        CHECK_INT(mapped, WATCHED);
        filemap_release(&maps[WATCHED / 2]);
        CHECK_INT(filemap_open(&maps[WATCHED / 2], path, &err), 0);
        CHECK(maps[WATCHED / 2].mapped);
        for (unsigned i = 0; i < OPEN; i++)
            filemap_release(&maps[round ? i : OPEN - 1 - i]);
    }
    CHECK_INT(filemap_check(&err), 0);
}

int main(void)
{
    struct filemap whole, cut;
    struct err err = {0};
    struct outfile *out;
    struct outdir *dir;
    if (!mkdtemp(folder))
        return 99;
    char *stays = make_file("stays", 100000), *shrinks = make_file("shrinks", 1000000);
    char *small = make_file("small", 1000);
    a_thousand_are_watched(small);
    char *result = path_join(folder, "result"), *results = path_join(folder, "results");
    CHECK_INT(filemap_open(&whole, stays, &err), 0);
    CHECK_INT(filemap_open(&cut, shrinks, &err), 0);
    CHECK_INT(filemap_check(&err), 0);
    CHECK_INT(outfile_create(result, &out, &err), 0);
    CHECK_INT(outdir_create(results, "index", &dir, &err), 0);
    CHECK_INT(truncate(shrinks, 100), 0);
    unsigned left = sum_of(&cut);
    CHECK(left == 100);
    CHECK_INT(sum_of(&whole), 100000);
    CHECK_INT(filemap_check(&err), -1);
    CHECK(strstr(err.msg, "shrinks: the file shrank") != NULL);
    outfile_printf(out, "from what was read");
    CHECK_INT(outfile_commit(out, &err), -1);
    CHECK(access(result, F_OK) != 0);
    CHECK_INT(outdir_commit(dir, &err), -1);
    CHECK(access(results, F_OK) != 0);
    filemap_release(&cut);
    filemap_release(&whole);
    CHECK_INT(dir_remove_tree(folder, &err), 0);
    mem_free(small);
    mem_free(stays);
    mem_free(shrinks);
    mem_free(result);
    mem_free(results);
    return tap_done();
}
