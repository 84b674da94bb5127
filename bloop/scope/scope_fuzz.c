/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any bytes as a structure file, ours or hpcstruct's. Indices of the result are valid; our own form
 * is lossless: written, read and written again, it has the same bytes. The cache returns the stored tree or nothing.
 */
#include "bloop/bloop.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

/* Puts the bytes in a memory file: its name goes to `path`, and its descriptor is returned. */
static int file_of(const void *bytes, size_t size, char path[64])
{
    int fd = memfd_create("structure", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static struct scope_tree *read_tree(const void *bytes, size_t size)
{
    char path[64];
    struct scope_tree *tree = NULL;
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    int fd = file_of(bytes, size, path);
    if (scope_tree_read(path, &tree, warnings, &err) < 0)
        promise(err.msg[0] != 0 && !tree);
    warnings_free(warnings);
    close(fd);
    return tree;
}

static void write_tree(struct scope_tree *tree, enum scope_format format, struct buf *text)
{
    struct err err = {0};
    struct outfile *out = outfile_into(text);
    scope_tree_write(tree, format, out);
    promise(outfile_commit(out, &err) == 0);
}

static void look_up(struct scope_tree *tree)
{
    scope_tree_find(tree, 0);
    for (size_t i = 0; i < tree->range_count && i < 256; i++) {
        scope_ix at = scope_tree_find(tree, tree->ranges[i].begin);
        promise(at == SCOPE_NONE || at < tree->scope_count);
    }
}

/* Our own form of a valid tree is lossless. */
static void round_trip(struct scope_tree *tree)
{
    struct buf first = {0}, second = {0};
    write_tree(tree, SCOPE_XML, &first);
    struct scope_tree *back = read_tree(first.bytes, first.len);
    promise(back != NULL);
    write_tree(back, SCOPE_XML, &second);
    promise(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0);
    scope_tree_free(back);
    buf_release(&first);
    buf_release(&second);
}

static void kept(const uint8_t *data, size_t size)
{
    char path[64];
    struct scope_tree *tree;
    int fd = file_of(data, size, path);
    if (bloop_cache_get(path, "module", &tree) == 1) {
        promise(strcmp(strtab_get(tree->strings, tree->scopes[0].name), "module") == 0);
        scope_tree_free(tree);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scope_tree *tree = read_tree(data, size);
    kept(data, size);
    if (!tree)
        return 0;
    struct buf text = {0};
    look_up(tree);
    write_tree(tree, SCOPE_OUTLINE, &text);
    write_tree(tree, SCOPE_HPCSTRUCT, &text);
    buf_release(&text);
    if (scope_tree_check(tree, NULL) == 0)
        round_trip(tree);
    scope_tree_free(tree);
    return 0;
}
