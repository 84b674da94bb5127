/*
 * The scopes of some addresses of a binary, as requested when a database is built.
 *
 *     scopes_at FILE FIRST SIZE COUNT     COUNT addresses in a fixed sequence over [FIRST, FIRST + SIZE)
 *     scopes_at --functions ...           also prints the procedure of each: begin, end, loops; one a line
 */
#include "bloop/bloop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Marsaglia, "Xorshift RNGs" (2003): the same sequence everywhere. */
static uint64_t next_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t count_loops(const struct scope_tree *t, scope_ix proc)
{
    size_t n = 0;
    for (size_t i = proc + 1; i < t->scope_count && t->scopes[i].kind != SCOPE_PROC && t->scopes[i].kind != SCOPE_FILE;
         i++)
        n += t->scopes[i].kind == SCOPE_LOOP;
    return n;
}

static void print_procedure(struct scope_tree *t, vaddr addr)
{
    scope_ix s = scope_tree_find(t, addr);
    while (s != SCOPE_NONE && t->scopes[s].kind != SCOPE_PROC)
        s = t->scopes[s].parent;
    if (s == SCOPE_NONE || t->scopes[s].range_count == 0)
        printf("%" PRIx64 " none\n", addr);
    else
        printf("%" PRIx64 " %" PRIx64 "-%" PRIx64 " %zu loops\n", addr, t->scopes[s].entry,
               t->ranges[t->scopes[s].range_first + t->scopes[s].range_count - 1].end, count_loops(t, s));
}

int main(int argc, char **argv)
{
    bool functions = argc > 1 && strcmp(argv[1], "--functions") == 0;
    char **arg = argv + functions;
    struct bloop_binary *b;
    struct scope_tree *t;
    struct err err = {0};
    if (argc != 5 + functions) {
        fprintf(stderr, "usage: scopes_at [--functions] FILE FIRST SIZE COUNT\n");
        return 2;
    }
    vaddr first = strtoull(arg[2], NULL, 0), size = strtoull(arg[3], NULL, 0);
    size_t count = strtoul(arg[4], NULL, 0);
    vaddr *addrs = mem_alloc((count + 1) * sizeof *addrs);
    uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < count; i++)
        addrs[i] = first + next_number(&state) % (size ? size : 1);
    if (bloop_open(arg[1], &(struct bloop_options){.threads = 1}, &b, NULL, &err) < 0 ||
        bloop_scopes_at(b, addrs, count, &t, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (size_t i = 0; functions && i < count; i++)
        print_procedure(t, addrs[i]);
    scope_tree_free(t);
    bloop_close(b);
    mem_free(addrs);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
