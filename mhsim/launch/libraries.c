/* SPDX-License-Identifier: BSD-3-Clause */
/* Which shared libraries the loader will give a program, before it runs. */
#include "config.h"
#include "mhsim/launch/libraries.h"

#include <elf.h>
#include <stdlib.h>

bool mhsim_libraries_compiled_in(const struct filemap *file)
{
    static const char library[] = "libhpcview-simulate.so";
    return memmem(file->bytes, file->len, library, sizeof library) != NULL;
}

/* PT_INTERP's; NULL: there is none, or another than the GNU C library's, which may interpret the option differently. */
static const char *loader_of(const struct filemap *file)
{
    const Elf64_Ehdr *e = (const void *)file->bytes;
    const Elf64_Phdr *p = (const void *)(file->bytes + e->e_phoff);
    if (e->e_phoff % 8 || e->e_phoff > file->len || e->e_phnum > (file->len - e->e_phoff) / sizeof *p)
        return NULL;
    for (unsigned i = 0; i < e->e_phnum; i++) {
        if (p[i].p_type != PT_INTERP || p[i].p_offset > file->len || p[i].p_filesz > file->len - p[i].p_offset ||
            p[i].p_filesz == 0 || file->bytes[p[i].p_offset + p[i].p_filesz - 1])
            continue;
        const char *loader = (const char *)file->bytes + p[i].p_offset;
        return str_starts(path_base(loader), "ld-linux") ? loader : NULL;
    }
    return NULL;
}

static void add_library(struct text_list *list, const char *path)
{
    struct filemap file;
    struct err err = {0};
    char *real = realpath(path, NULL);
    if (real && filemap_open(&file, real, &err) == 0) {
        if (mhsim_libraries_compiled_in(&file) && strcmp(path_base(real), "libhpcview-simulate.so") != 0)
            *vec_push(list) = mem_strdup(real);
        filemap_release(&file);
    }
    free(real);
}

/* "\tlibm.so.6 => /lib/libm.so.6 (0x00007f...)" */
static void read_line(struct text_list *list, char *line)
{
    char *path = strstr(line, " => "), *end = path ? strrchr(path, ' ') : NULL;
    if (!path || end <= path + 4 || end[1] != '(')
        return;
    *end = '\0';
    add_library(list, path + 4);
}

void mhsim_libraries_list(const char *program, const struct filemap *file, const char *path, struct text_list *list)
{
    enum { SECONDS = 20 };
    const char *loader = loader_of(file);
    const char *plain[] = {loader, "--list", program, NULL},
               *with_path[] = {loader, "--library-path", path, "--list", program, NULL};
    struct buf in = {0}, out = {0}, messages = {0};
    struct err err = {0};
    if (loader && child_run(path && *path ? with_path : plain, &in, SECONDS, &out, &messages, &err) == 0) {
        char *next, *line = out.len ? out.bytes : NULL;
        for (; line && (next = strchr(line, '\n')); line = next + 1) {
            *next = '\0';
            read_line(list, line);
        }
    }
    buf_release(&out);
    buf_release(&messages);
}
