/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Separate debug files, in the places of GDB and the distributions: by build id (DIR/.build-id/ab/cdef.debug; in the folder
 * of debuginfod's client DIR/abcdef/debuginfo), by .gnu_debuglink (next to the binary, in .debug/, under DIR with the
 * binary's own path), and dwz's file shared by several (.gnu_debugaltlink). See "Debugging Information in Separate Files" in
 * GDB's manual.
 */
#include "bloop/image/elf.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char system_dir[] = "/usr/lib/debug";

static const char *dir_at(const char *const *dirs, size_t i)
{
    size_t n = 0;
    while (dirs && dirs[n])
        n++;
    return i < n ? dirs[i] : i == n ? system_dir : NULL;
}

bool regular_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* Opens a candidate if it exists and is for the same machine. A file that is there but damaged is worth a sentence. */
static struct elf_file *try_open(const char *path, const struct elf_file *of, struct warnings *w)
{
    struct elf_file *f;
    struct err err = {0};
    if (!regular_file(path))
        return NULL;
    if (elf_file_open(path, &f, w, &err) < 0) {
        warnings_add(w, "%s (searched for a debug file of %s)", err.msg, of->path);
        return NULL;
    }
    if (f->header.e_machine != of->header.e_machine) {
        warnings_add(w, "%s: made for %s, so it is not the debug file of %s", path,
                     elf_machine_name(f->header.e_machine), of->path);
        elf_file_close(f);
        return NULL;
    }
    return f;
}

static bool same_file(const struct elf_file *a, const struct elf_file *b)
{
    return a->map.len == b->map.len && a->map.len &&
           memcmp(a->map.bytes, b->map.bytes, a->map.len < 4096 ? a->map.len : 4096) == 0;
}

static struct elf_file *try_build_id(const char *path, const char *build_id, const struct elf_file *of,
                                     struct warnings *w)
{
    struct elf_file *f = try_open(path, of, w);
    if (!f || strcmp(f->build_id, build_id) == 0)
        return f;
    warnings_add(w, "%s: has build id %s, not that of %s (%s); it is not used", path,
                 *f->build_id ? f->build_id : "none", of->path, build_id);
    elf_file_close(f);
    return NULL;
}

/* `whole_build_id` in hex; NULL if there is no such file, or its own build id differs. */
static struct elf_file *by_build_id(const char *build_id, const struct elf_file *of, const char *const *dirs,
                                    struct warnings *w)
{
    const char *dir;
    struct elf_file *f = NULL;
    for (size_t i = 0; !f && strlen(build_id) > 2 && (dir = dir_at(dirs, i)); i++) {
        char *usual = mem_printf("%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2);
        char *fetched = mem_printf("%s/%s/debuginfo", dir, build_id);
        f = try_build_id(usual, build_id, of, w);
        f = f ? f : try_build_id(fetched, build_id, of, w);
        mem_free(usual);
        mem_free(fetched);
    }
    return f;
}

/* ---- .gnu_debuglink ---- */

static struct elf_file *try_link(const char *path, const struct elf_file *of, uint32_t crc, struct warnings *w)
{
    struct elf_file *f = try_open(path, of, w);
    if (!f || same_file(f, of)) { /* a link may name the file it stands in */
        elf_file_close(f);
        return NULL;
    }
    if (*of->build_id && strcmp(of->build_id, f->build_id) == 0)
        return f; /* says as much as the checksum, without reading all of it */
    uint32_t got = crc32_bytes(0, f->map.bytes, f->map.len);
    if (got == crc)
        return f;
    warnings_add(w, "%s: its checksum is %08x, but %s requires %08x: the debug file of another build; it is not used",
                 path, got, of->path, crc);
    elf_file_close(f);
    return NULL;
}

static struct elf_file *by_debuglink(struct elf_file *of, const char *const *dirs, struct warnings *w)
{
    struct elf_section *s = elf_section_named(of, ".gnu_debuglink");
    if (!s || !s->raw)
        return NULL;
    struct cursor c = cursor_make(s->raw, s->size);
    const char *name = cursor_cstr(&c);
    size_t used = (size_t)(c.p - s->raw);
    cursor_bytes(&c, -used & 3);
    uint32_t crc = cursor_u32(&c);
    if (c.bad || !*name || strlen(name) > NAME_MAX || strchr(name, '/')) {
        warnings_add(w, "%s: .gnu_debuglink is damaged; its debug file is not searched", of->path);
        return NULL;
    }
    char *real = realpath(of->path, NULL);
    const char *at = real ? real : of->path;
    char *folder = mem_strndup(at, (size_t)(path_base(at) - at));
    struct elf_file *found = NULL;
    const char *dir;
    char *path = mem_printf("%s%s", folder, name);
    found = try_link(path, of, crc, w);
    mem_free(path);
    if (!found) {
        path = mem_printf("%s.debug/%s", folder, name);
        found = try_link(path, of, crc, w);
        mem_free(path);
    }
    for (size_t i = 0; !found && (dir = dir_at(dirs, i)); i++) {
        path = mem_printf("%s/%s%s", dir, folder[0] == '/' ? folder + 1 : folder, name);
        found = try_link(path, of, crc, w);
        mem_free(path);
        if (!found && dir != system_dir) {
            path = mem_printf("%s/%s", dir, name);
            found = try_link(path, of, crc, w);
            mem_free(path);
        }
    }
    free(real);
    mem_free(folder);
    return found;
}

struct elf_file *debug_file_find(struct elf_file *f, const char *const *debug_dirs, struct warnings *w)
{
    struct elf_file *found = by_build_id(f->build_id, f, debug_dirs, w);
    if (found && same_file(found, f)) {
        elf_file_close(found);
        found = NULL;
    }
    return found ? found : by_debuglink(f, debug_dirs, w);
}

/* ---- .gnu_debugaltlink ---- */

struct elf_file *debug_alt_find(struct elf_file *f, const char *const *debug_dirs, struct warnings *w)
{
    struct elf_section *s = elf_section_named(f, ".gnu_debugaltlink");
    if (!s || !s->raw)
        return NULL;
    struct cursor c = cursor_make(s->raw, s->size);
    const char *name = cursor_cstr(&c);
    size_t id_size = cursor_left(&c);
    if (c.bad || !*name || strlen(name) > PATH_MAX || id_size == 0 || id_size > 64) {
        warnings_add(w, "%s: .gnu_debugaltlink is damaged; the debug information in that shared file is missing",
                     f->path);
        return NULL;
    }
    struct buf id = {0};
    while (cursor_left(&c))
        buf_printf(&id, "%02x", cursor_u8(&c));
    char *real = realpath(f->path, NULL);
    const char *at = real ? real : f->path;
    char *folder = mem_strndup(at, (size_t)(path_base(at) - at)), *path = path_join(folder, name);
    struct elf_file *found = try_open(path, f, w);
    if (found && *found->build_id && strcmp(found->build_id, id.bytes) != 0) {
        warnings_add(w, "%s: has build id %s, but %s requires %s; it is not used", path, found->build_id, f->path,
                     id.bytes);
        elf_file_close(found);
        found = NULL;
    }
    if (!found)
        found = by_build_id(id.bytes, f, debug_dirs, w);
    if (!found)
        warnings_add(w,
                     "%s: part of its debug information is in \"%s\" (build id %s), which was not found: names and "
                     "inlined calls described there are missing",
                     f->path, name, id.bytes);
    free(real);
    mem_free(folder);
    mem_free(path);
    buf_release(&id);
    return found;
}
