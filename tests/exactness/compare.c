/*
 * compare BINARY SOURCE...: the loops bloop finds in BINARY against those marked in its sources.
 *
 * A mark is a comment "LOOP depth=N [near=K]" on the loop's own line: nesting depth in its own procedure, and how many
 * lines further down are right too, because the keyword there makes no code. Prints every difference and one line of
 * counts:
 *
 *     wanted 65 found 66 right 65 recall 100.0 precision 98.5
 *
 * found: distinct (file, line, depth) of the loops whose file is one of the sources; copies of one source loop count
 * once.
 */
#include "bloop/bloop.h"

#include <stdio.h>
#include <stdlib.h>

struct mark {
    const char *file;
    uint32_t line, depth, near;
    bool found;
};

struct found {
    const char *file;
    uint32_t line, depth;
    bool right;
    const char *proc;
};

static struct VEC(struct mark) marks;
static struct VEC(struct found) found;

static int read_marks(const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    for (uint32_t n = 1; fgets(line, sizeof line, f); n++) {
        const char *at = strstr(line, "LOOP depth="), *near;
        if (!at || at[11] < '0' || at[11] > '9')
            continue;
        near = strstr(at, "near=");
        *vec_push(&marks) =
            (struct mark){path_base(path), n, (uint32_t)atoi(at + 11), near ? (uint32_t)atoi(near + 5) : 0, false};
    }
    fclose(f);
    return 0;
}

/* Number of enclosing loops within its procedure or inlined call. */
static uint32_t depth_of(const struct scope_tree *t, scope_ix loop)
{
    uint32_t depth = 0;
    for (scope_ix i = loop; t->scopes[i].kind == SCOPE_LOOP; i = t->scopes[i].parent)
        depth++;
    return depth;
}

static const char *proc_of(const struct scope_tree *t, scope_ix i)
{
    while (t->scopes[i].kind != SCOPE_PROC)
        i = t->scopes[i].parent;
    return strtab_get(t->strings, t->scopes[i].short_name);
}

static bool is_source(int argc, char **argv, const char *file)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(path_base(argv[i]), file) == 0)
            return true;
    return false;
}

static void add_found(const struct scope_tree *t, scope_ix i, const char *file)
{
    struct found f = {file, t->scopes[i].line_first, depth_of(t, i), false, proc_of(t, i)};
    for (size_t k = 0; k < found.count; k++)
        if (strcmp(found.items[k].file, file) == 0 && found.items[k].line == f.line && found.items[k].depth == f.depth)
            return;
    *vec_push(&found) = f;
}

static void match(void)
{
    for (size_t i = 0; i < marks.count; i++)
        for (size_t k = 0; k < found.count; k++) {
            struct mark *m = &marks.items[i];
            struct found *f = &found.items[k];
            if (strcmp(m->file, f->file) == 0 && f->line >= m->line && f->line <= m->line + m->near &&
                m->depth == f->depth)
                m->found = f->right = true;
        }
}

static void print(void)
{
    size_t right = 0, good = 0;
    for (size_t i = 0; i < marks.count; i++) {
        right += marks.items[i].found;
        if (!marks.items[i].found)
            printf("missing %s:%u depth %u\n", marks.items[i].file, marks.items[i].line, marks.items[i].depth);
    }
    for (size_t k = 0; k < found.count; k++) {
        good += found.items[k].right;
        if (!found.items[k].right)
            printf("extra   %s:%u depth %u in %s\n", found.items[k].file, found.items[k].line, found.items[k].depth,
                   found.items[k].proc);
    }
    printf("wanted %zu found %zu right %zu recall %.1f precision %.1f\n", marks.count, found.count, right,
           marks.count ? 100.0 * (double)right / (double)marks.count : 100.0,
           found.count ? 100.0 * (double)good / (double)found.count : 100.0);
}

int main(int argc, char **argv)
{
    struct bloop_binary *binary;
    struct scope_tree *tree;
    struct err err;
    if (argc < 3) {
        fprintf(stderr, "usage: compare BINARY SOURCE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (read_marks(argv[i]) < 0)
            return 1;
    if (bloop_open(argv[1], NULL, &binary, NULL, &err) < 0 || bloop_scopes_all(binary, &tree, NULL, &err) < 0 ||
        scope_tree_check(tree, &err) < 0) {
        fprintf(stderr, "compare: %s\n", err.msg);
        return 1;
    }
    for (scope_ix i = 0; i < tree->scope_count; i++) {
        const char *file = path_base(strtab_get(tree->strings, tree->scopes[i].file));
        if (tree->scopes[i].kind == SCOPE_LOOP && (is_source(argc, argv, file) || !*file))
            add_found(tree, i, file);
    }
    match();
    print();
    scope_tree_free(tree);
    bloop_close(binary);
    vec_release(&marks);
    vec_release(&found);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
