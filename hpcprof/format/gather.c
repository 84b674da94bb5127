/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folders of one parallel program, for instance of each node's own disk, become one folder. Files are copied byte for byte; those that
 * cannot be read are left out, with a warning. A rank is on one node, so one that is in two folders was given twice, or belongs to another
 * start of the program.
 */
#include "hpcprof/format/tables.h"

#include <string.h>
#include <unistd.h>

struct gathering {
    const char *const *dirs;
    size_t dir; /* the current one */
    struct outdir *out;
    struct hpcprof *heads;  /* processes and notes of all files */
    struct hashmap folders; /* by rank */
};

static int add_head(struct gathering *g, const struct hpcprof *p, const char *file, struct err *err)
{
    struct strtab *texts = g->heads->strings;
    for (size_t i = 0; i < p->process_count; i++) {
        uint32_t *folder = p->processes[i].rank < 0 ? NULL : hashmap_put(&g->folders, (uint64_t)p->processes[i].rank);
        if (folder && *folder != HASHMAP_NONE && *folder != g->dir)
            return err_set(err, ERR_USAGE,
                           "%s: rank %d is in %s too; give each folder of one start of the program once", file,
                           p->processes[i].rank, g->dirs[*folder]);
        if (folder)
            *folder = (uint32_t)g->dir;
        hpcprof_add_process(g->heads, &(struct hpcprof_process){.rank = p->processes[i].rank});
    }
    for (size_t i = 0; i < p->note_count; i++)
        hpcprof_add_note(g->heads,
                         &(struct hpcprof_note){(uint32_t)g->heads->process_count - 1,
                                                strtab_add(texts, strtab_get(p->strings, p->notes[i].name)),
                                                strtab_add(texts, strtab_get(p->strings, p->notes[i].value))});
    return 0;
}

static int copy(const char *from, const char *to, struct err *err)
{
    struct filemap map;
    struct outfile *out;
    if (access(to, F_OK) == 0)
        return err_set(err, ERR_USAGE, "%s: a file of this name is in two of the folders; give each folder once", from);
    if (filemap_open(&map, from, err) < 0)
        return -1;
    int status = outfile_create(to, &out, err);
    if (status == 0) {
        outfile_write(out, map.bytes, map.len);
        status = outfile_commit(out, err);
    }
    filemap_release(&map);
    return status;
}

static int add_file(struct gathering *g, const char *file, struct warnings *w, struct err *err)
{
    struct hpcprof *p;
    struct err unreadable = {0};
    if (hpcprof_read(file, &p, w, &unreadable) < 0) {
        warnings_add(w, "%s", unreadable.msg);
        return 0;
    }
    char *to = path_join(outdir_path(g->out), path_base(file));
    int status = add_head(g, p, file, err);
    if (status == 0)
        status = copy(file, to, err);
    mem_free(to);
    hpcprof_free(p);
    return status;
}

static int add_folder(struct gathering *g, const char *out, struct warnings *w, struct err *err)
{
    struct text_list files = {0};
    int status = dir_list(g->dirs[g->dir], HPCPROF_SUFFIX, "reading the folder", &files, err);
    size_t before = g->heads->process_count;
    for (size_t i = 0; i < files.count && status == 0; i++)
        status = add_file(g, files.items[i], w, err);
    if (status == 0 && g->heads->process_count == before)
        status = err_set(err, ERR_FORMAT, "%s: no usable measurement file (*%s) in this folder", g->dirs[g->dir],
                         HPCPROF_SUFFIX);
    if (status == 0)
        status = hpcprof_check_jobs(g->heads, out, g->dirs[g->dir + 1] ? NULL : w, err);
    text_list_release(&files);
    return status;
}

int hpcprof_gather(const char *const *dirs, const char *out, struct warnings *w, struct err *err)
{
    if (access(out, F_OK) == 0)
        return err_set(err, ERR_SYSTEM, "%s: exists already; choose another name", out);
    struct gathering g = {.dirs = dirs, .heads = hpcprof_create()};
    int status = outdir_create(out, HPCPROF_SUFFIX, &g.out, err);
    for (; dirs[g.dir] && status == 0; g.dir++)
        status = add_folder(&g, out, w, err);
    if (status == 0)
        status = outdir_commit(g.out, err);
    else
        outdir_abandon(g.out);
    hashmap_release(&g.folders);
    hpcprof_free(g.heads);
    return status;
}
