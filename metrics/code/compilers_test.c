/* SPDX-License-Identifier: BSD-3-Clause */
/* The compilers of a module, by its most sampled procedures: each once, three at most. */
#include "metrics/code/code.h"
#include "tests/tap.h"

#include <stdlib.h>

struct bloop_binary {
    const char *const *producers; /* by procedure; NULL: unknown */
    size_t asked;
};

static size_t chosen;

void fake_choose(struct scope_tree *tree, const struct sampled *sampled, struct sampled_procedures *procedures)
{
    (void)tree, (void)sampled;
    for (size_t i = 0; i < chosen; i++)
        *vec_push(procedures) = (scope_ix)i;
}

char *fake_producer(struct bloop_binary *b, vaddr entry, uint16_t *language, struct warnings *w)
{
    (void)language, (void)w;
    b->asked++;
    return b->producers[entry] ? mem_strdup(b->producers[entry]) : NULL;
}

static const struct {
    const char *producers[30]; /* a missing one has no effect */
    size_t count;
    const char *built;
    size_t asked;
} cases[] = {
    {{0}, 0, NULL, 0},
    {{NULL, "", NULL}, 3, NULL, 3},
    {{"GNU C"}, 1, "GNU C", 1},
    {{"GNU C", "GNU C", "GNU C"}, 3, "GNU C", 3},
    {{"GNU C", "clang"}, 2, "GNU C; clang", 2},
    {{"clang", "GNU C", "clang", "GNU C"}, 4, "clang; GNU C", 4},
    {{"", "a", NULL, "b", "a", "b", "c", "d"}, 8, "a; b; c", 7},
    {{"a", "b", "a", "d"}, 4, "a; b; d", 4},
    {{"a", [23] = "b", [24] = "c"}, 25, "a; b", 24},
    {{[24] = "c"}, 25, NULL, 24},
};

int main(void)
{
    struct scope scopes[30] = {{0}};
    struct scope_tree tree = {.scopes = scopes, .scope_count = ARRAY_SIZE(scopes)};
    for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
        scopes[i].entry = i;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct bloop_binary b = {cases[i].producers, 0};
        chosen = cases[i].count;
        char *built = compilers_of_sampled(&b, &tree, NULL, NULL);
        CHECK_STR(built ? built : "nothing", cases[i].built ? cases[i].built : "nothing");
        CHECK_INT(b.asked, cases[i].asked);
        mem_free(built);
    }
    return tap_done();
}
