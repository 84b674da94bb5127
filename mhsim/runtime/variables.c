/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that no symbol names: of each file statics first, by address, then those in frames, by procedure. */
#include "config.h"
#include "mhsim/runtime/variables.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct raw_variables *files;
static uint64_t file_count;
static const struct mhsim_variable *all;

/* Each file's follow the ones of the file before. */
static bool add_up(const struct raw_orders *o)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < o->variable_files && files[i].first == n; i++)
        n += files[i].statics + files[i].frames;
    return n == o->variables;
}

bool variables_open(const char *folder, const struct raw_orders *o)
{
    char path[RAW_PATH + 16];
    uint64_t heads = o->variable_files * sizeof *files, bytes = heads + o->variables * sizeof *all;
    struct stat st;
    if (files || !o->variables)
        return files != NULL;
    snprintf(path, sizeof path, "%s/" RAW_VARIABLES, folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes
                  ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return false;
    files = p;
    file_count = o->variable_files;
    all = (const void *)((const char *)p + heads);
    if (add_up(o))
        return true;
    munmap(p, bytes);
    files = NULL;
    file_count = 0;
    return false;
}

const struct raw_variables *variables_of(const char *path)
{
    for (uint64_t i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}

const struct mhsim_variable *variables_static(const struct raw_variables *of, uint64_t address)
{
    const struct mhsim_variable *statics = &all[of->first];
    size_t i = sorted_front(of->statics, k, (uint64_t)statics[k].lo <= address);
    return i && address < (uint64_t)statics[i - 1].hi ? &statics[i - 1] : NULL;
}

const struct mhsim_variable *variables_in_frame(const struct raw_variables *of, uint64_t pc, int64_t offset,
                                                int64_t *lo, int64_t *hi)
{
    const struct mhsim_variable *best = NULL, *frames = &all[of->first + of->statics];
    size_t i = sorted_front(of->frames, k, frames[k].from <= pc);
    for (uint64_t from = i ? frames[i - 1].from : 0; i && frames[i - 1].from == from && pc < frames[i - 1].to; i--) {
        const struct mhsim_variable *v = &frames[i - 1];
        if (pc < v->code_from || pc >= v->code_to)
            continue;
        if (offset >= v->lo && offset < v->hi)
            best = !best || v->hi - v->lo < best->hi - best->lo ? v : best;
        else if (v->hi <= offset)
            *lo = v->hi > *lo ? v->hi : *lo;
        else
            *hi = v->lo < *hi ? v->lo : *hi;
    }
    if (best && best->lo > *lo)
        *lo = best->lo;
    if (best && best->hi < *hi)
        *hi = best->hi;
    return best;
}

uint64_t variables_number(const struct mhsim_variable *v)
{
    return (uint64_t)(v - all);
}
