/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that look at binaries: compile a few lines of source into a scratch folder, with the compilers the build
 * uses. */
#ifndef BLOOP_BINARY_TEST_H
#define BLOOP_BINARY_TEST_H

#include "bloop/assemble/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *scratch_folder;

static inline void scratch_make(void)
{
    scratch_folder = mem_strdup("/tmp/hpcview-test.XXXXXX");
    if (!mkdtemp(scratch_folder)) {
        perror(scratch_folder);
        exit(1);
    }
}

static inline void scratch_remove(void)
{
    dir_remove_tree(scratch_folder, NULL);
    mem_free(scratch_folder);
}

/* "FOLDER/name"; caller frees. */
static inline char *scratch(const char *name)
{
    return path_join(scratch_folder, name);
}

static inline void write_file(const char *name, const void *bytes, size_t n)
{
    char *path = scratch(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
    mem_free(path);
}

/* Runs a shell command in the scratch folder; true if it succeeded. Its output goes to a file there. */
static inline bool shell(const char *command)
{
    char *line = mem_printf("cd '%s' && { %s; } >said 2>&1", scratch_folder, command);
    bool ok = system(line) == 0;
    mem_free(line);
    return ok;
}

/* The variable of the test environment (tests/README.md), or what is usual. */
static inline const char *tool(const char *variable, const char *usual)
{
    const char *v = getenv(variable);
    return v && *v && strcmp(v, "no") != 0 ? v : usual;
}

/* `compiler` with `flags` makes FOLDER/out of the source; the path (caller frees), or NULL where that cannot be done
 * here. */
static inline char *compile(const char *compiler, const char *flags, const char *source_name, const char *source,
                            const char *out)
{
    write_file(source_name, source, strlen(source));
    char *command = mem_printf("%s %s %s -o %s", compiler, flags, source_name, out);
    bool ok = shell(command);
    mem_free(command);
    return ok ? scratch(out) : NULL;
}

static inline const struct image_symbol *symbol_named(const struct image *im, const char *name)
{
    for (size_t i = 0; i < im->symbol_count; i++)
        if (strcmp(im->symbols[i].name, name) == 0)
            return &im->symbols[i];
    return NULL;
}

static inline const struct function *function_named(const struct function_table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->functions[i].link_name, name) == 0)
            return &t->functions[i];
    return NULL;
}

/* Does one of the warnings contain this text? */
static inline bool warned(const struct warnings *w, const char *words)
{
    for (size_t i = 0; i < warnings_count(w); i++)
        if (strstr(warnings_get(w, i), words))
            return true;
    return false;
}

#endif
