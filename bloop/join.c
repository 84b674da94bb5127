/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks become one scope tree: procedures by file and address. */
#include "bloop/binary.h"

#include <assert.h>
#include <fnmatch.h>

/* A procedure of some chunk on its way to its place. */
struct found_proc {
    const char *file; /* lent by the chunk */
    vaddr entry;
    uint32_t chunk;
    scope_ix first, next; /* its scopes in the chunk */
};
struct proc_list VEC(struct found_proc);

static int by_entry_then_newest(const void *a, const void *b)
{
    const struct found_proc *x = a, *y = b;
    return order_of(x->entry, y->entry) ?: order_of(y->chunk, x->chunk);
}

static int by_file_then_entry(const void *a, const void *b)
{
    const struct found_proc *x = a, *y = b;
    return strcmp(x->file, y->file) ?: order_of(x->entry, y->entry);
}

static bool glob_matches(const char *glob, const char *name)
{
    return name[0] && fnmatch(glob, name, 0) == 0;
}

static bool wanted(const struct bloop_binary *b, const struct function_scopes *f, const struct scope *proc)
{
    const char *function = b->options.function_glob, *source = b->options.source_glob;
    const char *file = strtab_get(f->strings, proc->file);
    if (function && !glob_matches(function, strtab_get(f->strings, proc->name)) &&
        !glob_matches(function, strtab_get(f->strings, proc->short_name)) &&
        !glob_matches(function, strtab_get(f->strings, proc->link_name)))
        return false;
    return !source || glob_matches(source, file) || glob_matches(source, path_base(file));
}

static void list_procs(const struct bloop_binary *b, const struct chunk_list *chunks, struct proc_list *procs)
{
    for (size_t c = 0; c < chunks->count; c++) {
        const struct function_scopes *f = &chunks->items[c].scopes;
        for (size_t i = 0, next; i < f->scopes.count; i = next) {
            const struct scope *proc = &f->scopes.items[i];
            for (next = i + 1; next < f->scopes.count && f->scopes.items[next].kind != SCOPE_PROC;)
                next++;
            if (!wanted(b, f, proc))
                continue;
            *vec_push(procs) = (struct found_proc){.file = strtab_get(f->strings, proc->file),
                                                   .entry = proc->entry,
                                                   .chunk = (uint32_t)c,
                                                   .first = (scope_ix)i,
                                                   .next = (scope_ix)next};
        }
    }
    /* A function that was cut in two by a call into it has been made again: the newest counts. */
    vec_sort(procs, by_entry_then_newest);
    size_t kept = 0;
    for (size_t i = 0; i < procs->count; i++)
        if (kept == 0 || procs->items[kept - 1].entry != procs->items[i].entry)
            procs->items[kept++] = procs->items[i];
    procs->count = kept;
    vec_sort(procs, by_file_then_entry);
}

static str_id map_string(struct scope_tree *t, const struct function_scopes *f, id_map *map, str_id id)
{
    while (map->count <= id)
        *vec_push(map) = UINT32_MAX;
    if (map->items[id] == UINT32_MAX)
        map->items[id] = strtab_add(t->strings, strtab_get(f->strings, id));
    return map->items[id];
}

static void copy_proc(struct scope_tree *t, struct code_chunk *c, const struct found_proc *p, scope_ix file)
{
    const struct function_scopes *f = &c->scopes;
    scope_ix shift = (scope_ix)t->scope_count - p->first;
    for (scope_ix i = p->first; i < p->next; i++) {
        struct scope s = f->scopes.items[i];
        str_id *ids[] = {&s.name, &s.short_name, &s.link_name, &s.origin, &s.file, &s.call_file};
        for (size_t k = 0; k < ARRAY_SIZE(ids); k++)
            *ids[k] = map_string(t, f, &c->map, *ids[k]);
        if (s.range_count)
            memcpy(t->ranges + t->range_count, f->ranges.items + s.range_first, s.range_count * sizeof *t->ranges);
        s.range_first = (uint32_t)t->range_count;
        t->range_count += s.range_count;
        s.parent = i == p->first ? file : s.parent + shift;
        t->scopes[t->scope_count++] = s;
    }
}

/* Sizes first, so that the tree's tables are asked for once and hold nothing in reserve. */
static int reserve_tree(struct scope_tree *t, const struct chunk_list *chunks, const struct proc_list *procs,
                        size_t *room, struct err *err)
{
    size_t scopes = 1, ranges = 0;
    for (size_t i = 0; i < procs->count; i++) {
        const struct found_proc *p = &procs->items[i];
        const struct function_scopes *f = &chunks->items[p->chunk].scopes;
        scopes += p->next - p->first;
        scopes += i == 0 || strcmp(p[-1].file, p->file) != 0;
        for (scope_ix s = p->first; s < p->next; s++)
            ranges += f->scopes.items[s].range_count;
    }
    if (scopes >= SCOPE_NONE || ranges > UINT32_MAX)
        return err_set(err, ERR_LIMIT,
                       "the binary has %zu scopes, more than 32-bit indices can address (use --function or --source)",
                       scopes);
    *room = scopes;
    t->scopes = mem_alloc(scopes * sizeof *t->scopes);
    t->ranges = mem_alloc((ranges + 1) * sizeof *t->ranges);
    return 0;
}

static void warn_of_no_match(const struct bloop_binary *b, struct warnings *warnings)
{
    const char *function = b->options.function_glob, *source = b->options.source_glob;
    if (function)
        warnings_add(warnings, "%s: no procedure name matches '%s'%s%s%s: the result is empty", b->path, function,
                     source ? " in a source file that matches '" : "", source ? source : "", source ? "'" : "");
    else if (source)
        warnings_add(warnings, "%s: no procedure is from a source file that matches '%s': the result is empty", b->path,
                     source);
}

/* Not only of the procedures in the tree: names below it must be the same for every request. */
static str_id source_folder(const struct bloop_binary *b, struct strtab *strings)
{
    struct debug *reader = b->readers.count ? b->readers.items[0] : NULL;
    char *folder = reader ? debug_source_folder(reader) : NULL;
    str_id id = folder ? strtab_add(strings, folder) : 0;
    mem_free(folder);
    return id;
}

int bloop_join(const struct bloop_binary *b, struct chunk_list *chunks, struct scope_tree **out,
               struct warnings *warnings, struct err *err)
{
    struct scope_tree *t = scope_tree_create();
    struct proc_list procs = {0};
    list_procs(b, chunks, &procs);
    if (procs.count == 0)
        warn_of_no_match(b, warnings);
    size_t room = 0;
    int status = reserve_tree(t, chunks, &procs, &room, err);
    if (status == 0) {
        scope_ix file = SCOPE_NONE;
        t->scopes[t->scope_count++] = (struct scope){.kind = SCOPE_MODULE,
                                                     .parent = SCOPE_NONE,
                                                     .name = strtab_add(t->strings, b->path),
                                                     .origin = source_folder(b, t->strings)};
        for (size_t i = 0; i < procs.count; i++) {
            const struct found_proc *p = &procs.items[i];
            if (i == 0 || strcmp(p[-1].file, p->file) != 0) {
                str_id name = strtab_add(t->strings, p->file);
                file = (scope_ix)t->scope_count;
                t->scopes[t->scope_count++] =
                    (struct scope){.kind = SCOPE_FILE, .parent = 0, .name = name, .file = name};
            }
            copy_proc(t, &chunks->items[p->chunk], p, file);
        }
        assert(t->scope_count == room);
    }
    vec_release(&procs);
    if (status < 0) {
        scope_tree_free(t);
        return -1;
    }
    *out = t;
    return 0;
}
