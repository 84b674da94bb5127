/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public calls: which functions, on how many threads, in which order.
 *
 *   targets    functions of the table, in the order of addresses
 *   chunks     runs of targets with about the same amount of code; each chunk's scopes come to one slot, whichever
 * thread makes them join       slots in order -> PROCs sorted by file and address -> one scope tree
 *
 * Nothing in a slot depends on the others, so the result is the same for any number of threads.
 */
#include "bloop/assemble/assemble.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    CHUNK_BYTES = 1 << 15,  /* of code: some milliseconds, so that threads end together */
    CHUNKS_KEPT = 256,      /* the file's pages that so many have read are given back */
    THREAD_BYTES = 1 << 18, /* less code than this per thread is not worth a debug reader of its own */
    MOST_ROUNDS = 32        /* of finding functions by calls; each round that finds any costs only these */
};

struct bloop_binary {
    struct image *image;
    struct function_table *functions;
    const struct arch *arch;
    char *path;
    struct bloop_options options;
    struct VEC(struct debug *) readers; /* of debug information, one per thread; made when first needed */
    bool no_debug_info;
    bool debug_entries_known;
    bool gaps_filled;  /* all of them; else the ones requested */
    uint8_t *noreturn; /* by name only, for work on demand; by closure once the whole binary was asked for */
    bool noreturn_whole;
    struct hashmap prepared;     /* by where it begins: functions of which all is known that work on them needs */
    struct function_index index; /* of the table as it is while functions are worked on */
    struct bloop_stats stats;
};

/* ---- life ---- */

int bloop_open(const char *path, const struct bloop_options *opts, struct bloop_binary **out, struct warnings *warnings,
               struct err *err)
{
    struct bloop_binary *b = mem_calloc(1, sizeof *b);
    *out = NULL;
    if (opts)
        b->options = *opts;
    b->path = mem_strdup(path);
    int opened = b->options.procedures_only ? image_open_alone(path, &b->image, warnings, err)
                                            : image_open(path, b->options.debug_dirs, &b->image, warnings, err);
    if (opened < 0) {
        bloop_close(b);
        return -1;
    }
    b->functions = functions_list(b->image, warnings);
    b->arch = arch_get(b->image->arch);
    *out = b;
    return 0;
}

void bloop_close(struct bloop_binary *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->readers.count; i++)
        debug_close(b->readers.items[i]);
    vec_release(&b->readers);
    function_index_release(&b->index);
    hashmap_release(&b->prepared);
    mem_free(b->noreturn);
    if (b->functions)
        functions_free(b->functions);
    if (b->image)
        image_close(b->image);
    mem_free(b->path);
    mem_free(b);
}

const char *bloop_build_id(const struct bloop_binary *b)
{
    return b->image->build_id ? b->image->build_id : "";
}

bool bloop_is_aarch64(const struct bloop_binary *b)
{
    return b->arch->kind == ARCH_AARCH64;
}

struct bloop_stats bloop_stats(const struct bloop_binary *b)
{
    return b->stats;
}

/* ---- indices on the function table; rebuilt when it changes ---- */

typedef void table_change(struct function_table *, const vaddr *, size_t);

/* Which functions never return is kept by index, and indices change; so do the bounds of functions. */
static void change_functions(struct bloop_binary *b, table_change *change, const vaddr *addrs, size_t count)
{
    struct vaddr_list never = {0};
    for (size_t i = 0; b->noreturn && i < b->functions->count; i++)
        if (b->noreturn[i])
            *vec_push(&never) = b->functions->functions[i].begin;
    change(b->functions, addrs, count);
    hashmap_release(&b->prepared);
    if (b->noreturn) {
        mem_free(b->noreturn);
        b->noreturn = mem_calloc(b->functions->count + 1, 1);
    }
    size_t f = 0; /* (all that were there still are, in the same order) */
    for (size_t i = 0; i < never.count; i++) {
        for (; b->functions->functions[f].begin != never.items[i]; f++)
            assert(f + 1 < b->functions->count);
        b->noreturn[f] = 1;
    }
    vec_release(&never);
}

static void fill_gaps(struct function_table *t, const vaddr *addrs, size_t count)
{
    (void)addrs;
    (void)count;
    functions_fill_gaps(t);
}

static void index_functions(struct bloop_binary *b)
{
    function_index_release(&b->index);
    function_index_make(&b->index, b->functions);
}

/* By name; anything already known about the whole binary stays. */
static void know_noreturn(struct bloop_binary *b, bool anew)
{
    if (b->noreturn && (b->noreturn_whole || !anew))
        return;
    mem_free(b->noreturn);
    b->noreturn = noreturn_find(b->image, b->functions, false, b->options.threads);
}

static int by_begin(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return order_of(x->begin, y->begin);
}

/* The function and its cold parts, in the order of addresses. */
static void collect_parts(const struct bloop_binary *b, uint32_t function, struct range_list *ranges)
{
    const struct function *f = b->functions->functions;
    ranges->count = 0;
    *vec_push(ranges) = (struct addr_range){f[function].begin, f[function].end};
    size_t count;
    const struct part_of *parts = function_index_parts(&b->index, function, &count);
    for (size_t i = 0; i < count; i++)
        *vec_push(ranges) = (struct addr_range){f[parts[i].part].begin, f[parts[i].part].end};
    vec_sort(ranges, by_begin);
}

/* ---- work ---- */

typedef struct VEC(str_id) id_map; /* a chunk's string ids to the tree's; UINT32_MAX: not met yet */

struct counted { /* facts found about one function */
    vaddr begin;
    struct bloop_stats stats;
    bool too_deep; /* some of its scopes joined what is around them */
};

struct chunk {
    size_t first, end; /* into job.targets */
    struct function_scopes scopes;
    struct vaddr_list calls; /* out of the functions, for the search for more of them */
    struct noreturn_notes notes;
    id_map map; /* while chunks are joined */
};

struct target_list VEC(uint32_t);
struct chunk_list { /* a vector of chunks, and in one more piece, freed before they are joined, the counts */
    struct chunk *items;
    size_t count, capacity;
    struct VEC(struct counted) counted; /* as the targets of one run after the other */
};

struct job {
    struct bloop_binary *binary;
    const uint32_t *targets;   /* function indices, ascending */
    struct chunk_list *chunks; /* those from first_chunk on are to be done */
    size_t first_chunk, chunk_count;
    struct counted *counted; /* of each target */
    bool want_calls, want_notes;
    atomic_size_t next;
    atomic_size_t done;
    atomic_bool no_debug_info;
    struct warnings *warnings;
};

/* Working memory of one thread. */
struct worker {
    struct debug *debug;
    struct cfg cfg;
    struct loop_forest forest;
    struct assembler *assembler;
    struct arena *arena; /* debug information of the current function */
    struct range_list ranges;
    struct noreturn_notes notes;
};

static void count_function(const struct worker *w, struct bloop_stats *s)
{
    vaddr at = 0;
    s->functions++;
    s->blocks += w->cfg.block_count;
    s->instructions += w->cfg.instructions;
    s->loops += w->forest.loop_count;
    for (size_t i = 0; i < w->forest.loop_count; i++)
        s->irreducible_loops += w->forest.loops[i].irreducible;
    s->undecodable_bytes += w->cfg.bad_bytes;
    s->padding_bytes += w->cfg.padding_bytes;
    s->table_bytes += w->cfg.table_bytes;
    s->indirect_jumps += w->cfg.indirect_jumps;
    s->unresolved_jumps += w->cfg.unresolved_jumps;
    for (size_t i = 0; i < w->cfg.block_count; i++) {
        const struct cfg_block *b = &w->cfg.blocks[i];
        vaddr begin = b->begin > at ? b->begin : at;
        if (b->end > begin)
            s->code_bytes += b->end - begin;
        if (b->end > at)
            at = b->end;
    }
}

/* Is this an address where no function begins? */
static bool is_news(const struct function_table *t, vaddr called)
{
    uint32_t f = functions_at(t, called);
    return f == FUNCTION_NONE || (t->functions[f].begin != called && !t->functions[f].sized);
}

static void keep_new_calls(const struct job *job, struct vaddr_list *calls, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < calls->count; i++)
        if (is_news(job->binary->functions, calls->items[i]))
            calls->items[kept++] = calls->items[i];
    calls->count = kept;
}

static uint32_t last_line_of(const struct debug_function *d, uint32_t file)
{
    uint32_t last = 0;
    for (size_t i = 0; i < d->row_count; i++)
        if (d->rows[i].line > last && d->rows[i].file < d->file_count && file < d->file_count &&
            strcmp(d->files[d->rows[i].file], d->files[file]) == 0)
            last = d->rows[i].line;
    return last;
}

/* clang before 17 puts a region behind the procedure it is from, under a name that says nothing of it: the closest
   procedure in front that has the region's line inside. */
static uint32_t find_outlined_from(const struct bloop_binary *b, struct worker *w, uint32_t region,
                                   const struct debug_function *debug, struct debug_function *origin)
{
    enum { FURTHEST = 32 };
    const struct function *f = b->functions->functions;
    struct range_list parts = {0};
    uint32_t found = FUNCTION_NONE;
    if (debug->decl_file >= debug->file_count)
        return FUNCTION_NONE;
    for (uint32_t i = region; i-- > 0 && region - i <= FURTHEST && found == FUNCTION_NONE;) {
        if (f[i].part_of != FUNCTION_NONE || f[i].plt || str_starts(f[i].link_name, ".omp"))
            continue;
        collect_parts(b, i, &parts);
        if (debug_function_at(w->debug, f[i].begin, parts.items, parts.count, w->arena, origin) == 1 &&
            origin->decl_file < origin->file_count &&
            strcmp(origin->files[origin->decl_file], debug->files[debug->decl_file]) == 0 &&
            origin->decl_line <= debug->decl_line && debug->decl_line <= last_line_of(origin, origin->decl_file))
            found = i;
    }
    vec_release(&parts);
    return found;
}

static void add_counts(struct bloop_stats *sum, const struct bloop_stats *one)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static void make_graph(const struct job *job, struct worker *w, uint32_t function, struct vaddr_list *calls)
{
    const struct bloop_binary *b = job->binary;
    const struct cfg_input input = {.image = b->image,
                                    .functions = b->functions,
                                    .arch = b->arch,
                                    .noreturn = b->noreturn,
                                    .function = function,
                                    .calls = calls};
    cfg_build(&input, &w->cfg);
    loop_forest_find(&w->cfg, &w->forest);
}

static void do_function(struct job *job, struct worker *w, struct chunk *c, size_t target)
{
    struct bloop_binary *b = job->binary;
    uint32_t function = job->targets[target];
    struct counted *counted = &job->counted[target];
    size_t calls_before = c->calls.count;
    if (!b->options.procedures_only)
        make_graph(job, w, function, job->want_calls ? &c->calls : NULL);
    if (job->want_notes)
        noreturn_note(&w->notes, b->functions, b->noreturn, function, &w->cfg);
    collect_parts(b, function, &w->ranges);
    struct debug_function debug;
    if (arena_bytes(w->arena) > 0) {
        arena_free(w->arena);
        w->arena = arena_create();
    }
    bool known = w->debug && debug_function_at(w->debug, b->functions->functions[function].begin, w->ranges.items,
                                               w->ranges.count, w->arena, &debug) == 1;
    struct debug_function origin;
    uint32_t from = FUNCTION_NONE;
    if (known && assemble_is_orphan_region(&b->functions->functions[function]))
        from = find_outlined_from(b, w, function, &debug, &origin);
    const struct assemble_input in = {.image = b->image,
                                      .functions = b->functions,
                                      .function = function,
                                      .parts = w->ranges.items,
                                      .part_count = w->ranges.count,
                                      .cfg = &w->cfg,
                                      .forest = &w->forest,
                                      .debug = known ? &debug : NULL,
                                      .outlined_from = from,
                                      .outlined_from_debug = from == FUNCTION_NONE ? NULL : &origin};
    *counted = (struct counted){.begin = b->functions->functions[function].begin};
    counted->too_deep = !assemble_function(w->assembler, &in, &c->scopes);
    count_function(w, &counted->stats);
    keep_new_calls(job, &c->calls, calls_before);
}

static struct debug *reader_open(struct job *job, size_t thread)
{
    struct debug **reader = &job->binary->readers.items[thread];
    struct err err;
    if (*reader || job->binary->no_debug_info)
        return *reader;
    int status = debug_open(job->binary->image, reader, job->warnings, &err);
    if (status < 0)
        warnings_add(job->warnings, "%s; its lines and inlined calls are not shown", err.msg);
    if (status <= 0)
        atomic_store(&job->no_debug_info, true);
    return status > 0 ? *reader : NULL;
}

static void work(void *ctx, size_t thread)
{
    struct job *job = ctx;
    struct worker w = {.debug = reader_open(job, thread), .assembler = assembler_create(), .arena = arena_create()};
    for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->chunk_count;) {
        struct chunk *c = &job->chunks->items[job->first_chunk + i];
        for (size_t k = c->first; k < c->end; k++)
            do_function(job, &w, c, k);
        noreturn_notes_take(&w.notes, &c->notes);
        if (i % CHUNKS_KEPT == CHUNKS_KEPT - 1)
            image_forget(job->binary->image);
        progress_report(job->binary->options.progress, "structure", atomic_fetch_add(&job->done, 1) + 1,
                        job->chunk_count);
    }
    cfg_release(&w.cfg);
    loop_forest_release(&w.forest);
    assembler_free(w.assembler);
    arena_free(w.arena);
    vec_release(&w.ranges);
    noreturn_notes_release(&w.notes);
}

static uint64_t size_of(const struct bloop_binary *b, uint32_t function)
{
    return b->functions->functions[function].end - b->functions->functions[function].begin;
}

static void make_chunks(const struct bloop_binary *b, const struct target_list *targets, struct chunk_list *chunks)
{
    uint64_t bytes = 0;
    for (size_t i = 0, first = 0; i < targets->count; i++) {
        bytes += size_of(b, targets->items[i]) + 64;
        if (bytes < CHUNK_BYTES && i + 1 < targets->count)
            continue;
        *vec_push(chunks) = (struct chunk){.first = first, .end = i + 1};
        first = i + 1;
        bytes = 0;
    }
}

static unsigned threads_for(const struct bloop_binary *b, const struct target_list *targets)
{
    uint64_t bytes = 0;
    unsigned threads = b->options.threads ? b->options.threads : parallel_default();
    for (size_t i = 0; i < targets->count; i++)
        bytes += size_of(b, targets->items[i]);
    uint64_t useful = bytes / THREAD_BYTES + 1;
    return threads < useful ? threads : (unsigned)useful;
}

enum run_mode { RUN_WANTED, RUN_ALL, RUN_ALL_AND_NOTE };

static void warn_of_depth(const struct job *job, size_t count)
{
    const struct function *f = job->binary->functions->functions;
    for (size_t i = 0; i < count; i++)
        if (job->counted[i].too_deep)
            warnings_add(job->warnings,
                         "%s: the procedure at 0x%llx (%s) has more than 200 loops and inlined calls within "
                         "each other: those further inside are shown as part of the innermost that is shown",
                         job->binary->path, (unsigned long long)f[job->targets[i]].begin, f[job->targets[i]].link_name);
}

/* Makes the scopes of the targets (ascending) and appends their chunks. */
static void run(struct bloop_binary *b, const struct target_list *targets, enum run_mode mode,
                struct chunk_list *chunks, struct warnings *warnings)
{
    size_t before = chunks->count;
    size_t counted = chunks->counted.count;
    make_chunks(b, targets, chunks);
    vec_reserve(&chunks->counted, counted + targets->count);
    chunks->counted.count += targets->count;
    struct job job = {.binary = b,
                      .targets = targets->items,
                      .chunks = chunks,
                      .first_chunk = before,
                      .chunk_count = chunks->count - before,
                      .counted = chunks->counted.items ? chunks->counted.items + counted : NULL,
                      .want_calls = mode != RUN_WANTED,
                      .want_notes = mode == RUN_ALL_AND_NOTE,
                      .warnings = warnings};
    unsigned threads = threads_for(b, targets);
    while (b->readers.count < threads)
        *vec_push(&b->readers) = NULL;
    parallel_for(threads, threads, work, &job);
    warn_of_depth(&job, targets->count);
    if (atomic_load(&job.no_debug_info))
        b->no_debug_info = true;
}

/* ---- join ---- */

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

static void copy_proc(struct scope_tree *t, struct chunk *c, const struct found_proc *p, scope_ix file)
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

static int join(const struct bloop_binary *b, struct chunk_list *chunks, struct scope_tree **out,
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

static void release_chunks(struct chunk_list *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        function_scopes_release(&chunks->items[i].scopes);
        vec_release(&chunks->items[i].calls);
        vec_release(&chunks->items[i].map);
    }
    vec_release(chunks);
    vec_release(&chunks->counted);
}

/* Of a function that was rebuilt the newest counts, as when they are joined. */
static void add_stats(struct bloop_binary *b, struct chunk_list *chunks)
{
    struct hashmap seen = {0};
    for (size_t i = chunks->counted.count; i-- > 0;) {
        const struct counted *f = &chunks->counted.items[i];
        uint32_t *known = hashmap_put(&seen, f->begin);
        if (*known == HASHMAP_NONE)
            add_counts(&b->stats, &f->stats);
        *known = 1;
    }
    hashmap_release(&seen);
    vec_release(&chunks->counted);
}

static void begin_stats(struct bloop_binary *b)
{
    b->stats = (struct bloop_stats){0};
    for (size_t i = 0; i < b->image->section_count; i++)
        if (b->image->sections[i].alloc && b->image->sections[i].exec && b->image->sections[i].bytes)
            b->stats.text_bytes += b->image->sections[i].size;
}

/* ---- on demand ---- */

/* The function that holds the address, the whole one if it is in a cold part. */
static uint32_t whole_function_at(const struct bloop_binary *b, vaddr addr)
{
    uint32_t f = functions_at(b->functions, addr);
    for (int steps = 0; f != FUNCTION_NONE && b->functions->functions[f].part_of != FUNCTION_NONE && steps < 8; steps++)
        f = b->functions->functions[f].part_of;
    return f;
}

/* Procedures that DWARF knows and no symbol names (a stripped file with a separate debug file cut in the same way,
   -fvisibility games): asked for only where an address would stay unknown, because it reads all units. */
static bool add_debug_entries(struct bloop_binary *b, struct warnings *warnings)
{
    struct vaddr_list entries = {0};
    struct job job = {.binary = b, .warnings = warnings};
    size_t before = b->functions->count;
    if (b->debug_entries_known)
        return false;
    b->debug_entries_known = true;
    if (b->readers.count == 0)
        *vec_push(&b->readers) = NULL;
    struct debug *reader = reader_open(&job, 0);
    if (atomic_load(&job.no_debug_info))
        b->no_debug_info = true;
    if (!reader)
        return false;
    debug_entries(reader, &entries);
    vec_sort_unique(&entries, order_u64);
    if (entries.count)
        change_functions(b, functions_add, entries.items, entries.count);
    vec_release(&entries);
    return b->functions->count != before;
}

static bool find_targets(const struct bloop_binary *b, const vaddr *addrs, size_t count, struct target_list *targets)
{
    bool all = true;
    targets->count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t f = whole_function_at(b, addrs[i]);
        if (f == FUNCTION_NONE)
            all = false;
        else if (targets->count == 0 || targets->items[targets->count - 1] != f)
            *vec_push(targets) = f;
    }
    vec_sort_unique(targets, order_u32);
    return all;
}

/* Calls out of the function at `entry` to addresses where no function is known to begin. */
static void list_new_calls(const struct bloop_binary *b, vaddr entry, struct vaddr_list *calls, uint64_t *most)
{
    uint32_t f = functions_at(b->functions, entry);
    size_t avail;
    const uint8_t *bytes = f != FUNCTION_NONE ? image_bytes(b->image, entry, &avail) : NULL;
    struct insn in;
    if (!bytes)
        return;
    if (avail > b->functions->functions[f].end - entry)
        avail = b->functions->functions[f].end - entry;
    for (size_t at = 0; *most > 0 && at < avail; at += in.length, --*most) {
        b->arch->decode(bytes + at, avail - at, entry + at, &in);
        if (in.kind == INSN_CALL && is_news(b->functions, in.target))
            *vec_push(calls) = in.target;
    }
}

/* The callees of the targets, and theirs in turn, as deep as noreturn analysis goes: in gaps they are not known yet. */
static void fill_gaps_called(struct bloop_binary *b, const struct target_list *targets)
{
    struct vaddr_list entries = {0}, calls = {0};
    uint64_t most = NORETURN_BYTES; /* instructions, so that it ends soon */
    for (size_t i = 0; i < targets->count; i++)
        *vec_push(&entries) = b->functions->functions[targets->items[i]].begin;
    for (int depth = 0; depth < NORETURN_DEPTH && entries.count > 0; depth++) {
        calls.count = 0;
        for (size_t i = 0; i < entries.count; i++)
            list_new_calls(b, entries.items[i], &calls, &most);
        vec_sort_unique(&calls, order_u64);
        change_functions(b, functions_fill_gaps_called, calls.items, calls.count);
        struct vaddr_list done = entries;
        entries = calls;
        calls = done;
    }
    vec_release(&entries);
    vec_release(&calls);
}

static void fill_gaps_at(struct bloop_binary *b, const vaddr *addrs, size_t count)
{
    struct vaddr_list sorted = {0};
    struct target_list targets = {0};
    for (size_t i = 0; i < count; i++)
        *vec_push(&sorted) = addrs[i];
    vec_sort_unique(&sorted, order_u64);
    change_functions(b, functions_fill_gaps_at, sorted.items, sorted.count);
    find_targets(b, sorted.items, sorted.count, &targets);
    fill_gaps_called(b, &targets);
    image_forget(b->image);
    vec_release(&sorted);
    vec_release(&targets);
}

static size_t count_unprepared(const struct bloop_binary *b, const struct target_list *targets)
{
    size_t n = 0;
    for (size_t i = 0; i < targets->count; i++)
        n += hashmap_get(&b->prepared, b->functions->functions[targets->items[i]].begin) == HASHMAP_NONE;
    return n;
}

/* Needed before functions at these addresses are processed: done once, so that a request for the code of functions whose
 * scopes exist already costs nothing more and sees the same functions. */
static void prepare_at(struct bloop_binary *b, const vaddr *addrs, size_t count, struct target_list *targets,
                       struct warnings *warnings)
{
    bool procedures_only = b->options.procedures_only;
    if (find_targets(b, addrs, count, targets) && count_unprepared(b, targets) == 0)
        return;
    if (!b->gaps_filled && !procedures_only)
        fill_gaps_at(b, addrs, count);
    if (!find_targets(b, addrs, count, targets) && add_debug_entries(b, warnings))
        find_targets(b, addrs, count, targets);
    index_functions(b);
    for (size_t i = 0; i < targets->count; i++)
        *hashmap_put(&b->prepared, b->functions->functions[targets->items[i]].begin) = 1;
    if (procedures_only)
        return;
    know_noreturn(b, false);
    if (!b->noreturn_whole)
        noreturn_follow(b->image, b->functions, b->noreturn, targets->items, targets->count);
}

int bloop_scopes_at(struct bloop_binary *b, const vaddr *addrs, size_t count, struct scope_tree **tree,
                    struct warnings *warnings, struct err *err)
{
    struct target_list targets = {0};
    struct chunk_list chunks = {0};
    *tree = NULL;
    begin_stats(b);
    prepare_at(b, addrs, count, &targets, warnings);
    run(b, &targets, RUN_WANTED, &chunks, warnings);
    add_stats(b, &chunks);
    int status = join(b, &chunks, tree, warnings, err);
    release_chunks(&chunks);
    vec_release(&targets);
    return status;
}

void bloop_code_at(struct bloop_binary *b, const vaddr *addrs, size_t count, bloop_code_visit *visit, void *ctx,
                   struct warnings *warnings)
{
    struct target_list targets = {0};
    struct worker w = {0};
    const struct job job = {.binary = b};
    prepare_at(b, addrs, count, &targets, warnings);
    for (size_t i = 0; i < targets.count; i++) {
        make_graph(&job, &w, targets.items[i], NULL);
        visit(ctx, &(struct bloop_code){.arch = b->arch,
                                        .image = b->image,
                                        .functions = b->functions,
                                        .function = targets.items[i],
                                        .cfg = &w.cfg,
                                        .forest = &w.forest});
        progress_report(b->options.progress, "instructions", i + 1, targets.count);
    }
    cfg_release(&w.cfg);
    loop_forest_release(&w.forest);
    vec_release(&targets);
}

char *bloop_producer(struct bloop_binary *b, vaddr addr, uint16_t *language, struct warnings *warnings)
{
    uint32_t f = whole_function_at(b, addr);
    struct job job = {.binary = b, .warnings = warnings};
    struct arena *arena = arena_create();
    struct debug_function found = {.producer = ""};
    if (b->readers.count == 0)
        *vec_push(&b->readers) = NULL;
    struct debug *reader = f != FUNCTION_NONE ? reader_open(&job, 0) : NULL;
    if (atomic_load(&job.no_debug_info))
        b->no_debug_info = true;
    const struct function *at = &b->functions->functions[reader ? f : 0];
    if (!reader ||
        debug_function_at(reader, at->begin, &(struct addr_range){at->begin, at->end}, 1, arena, &found) != 1)
        found.producer = "";
    *language = found.language;
    char *text = mem_strdup(found.producer);
    arena_free(arena);
    return text;
}

void bloop_variables(struct bloop_binary *b, struct bloop_variables *out, struct warnings *warnings)
{
    struct job job = {.binary = b, .warnings = warnings};
    if (b->readers.count == 0)
        *vec_push(&b->readers) = NULL;
    struct debug *reader = reader_open(&job, 0);
    if (atomic_load(&job.no_debug_info))
        b->no_debug_info = true;
    if (reader)
        debug_variables(reader, out);
}

void bloop_variables_release(struct bloop_variables *v)
{
    for (size_t i = 0; i < v->count; i++)
        mem_free(v->items[i].name);
    vec_release(v);
}

/* ---- everything ---- */

/* Which functions, begin and end, have been done. */
struct done_list VEC(struct addr_range);

static bool is_done(const struct done_list *done, const struct function *f)
{
    size_t low = sorted_front(done->count, i, done->items[i].begin < f->begin);
    return low < done->count && done->items[low].begin == f->begin && done->items[low].end == f->end;
}

static void list_undone(const struct bloop_binary *b, const struct done_list *done, struct target_list *targets)
{
    targets->count = 0;
    for (uint32_t i = 0; i < b->functions->count; i++)
        if (b->functions->functions[i].part_of == FUNCTION_NONE && !is_done(done, &b->functions->functions[i]))
            *vec_push(targets) = i;
}

static void mark_done(const struct bloop_binary *b, struct done_list *done)
{
    done->count = 0;
    for (uint32_t i = 0; i < b->functions->count; i++)
        *vec_push(done) = (struct addr_range){b->functions->functions[i].begin, b->functions->functions[i].end};
}

/* Adds what the new chunks called; false: nothing new. */
static bool add_called(struct bloop_binary *b, struct chunk_list *chunks, size_t from)
{
    struct vaddr_list all = {0};
    size_t before = b->functions->count;
    for (size_t c = from; c < chunks->count; c++) {
        for (size_t i = 0; i < chunks->items[c].calls.count; i++)
            *vec_push(&all) = chunks->items[c].calls.items[i];
        vec_release(&chunks->items[c].calls);
    }
    vec_sort_unique(&all, order_u64);
    if (all.count)
        change_functions(b, functions_add, all.items, all.count);
    vec_release(&all);
    return b->functions->count != before;
}

/* Bytes between functions that are padding. */
static void count_padding_between(struct bloop_binary *b)
{
    const struct function_table *t = b->functions;
    size_t next = 0;
    for (size_t i = 0; i < b->image->section_count; i++) {
        const struct image_section *s = &b->image->sections[i];
        if (!s->alloc || !s->exec || !s->bytes)
            continue;
        for (vaddr at = s->addr, end = s->addr + s->size; at < end;) {
            while (next < t->count && t->functions[next].end <= at)
                next++;
            vaddr stop = next < t->count && t->functions[next].begin < end ? t->functions[next].begin : end;
            while (at < stop) {
                struct insn insn;
                b->arch->decode(s->bytes + (at - s->addr), (size_t)(stop - at), at, &insn);
                if (insn.kind == INSN_PADDING || (insn.kind == INSN_BAD && s->bytes[at - s->addr] == 0))
                    b->stats.padding_bytes += insn.length;
                at += insn.length;
            }
            if (next < t->count && t->functions[next].begin < end && t->functions[next].end > at)
                at = t->functions[next].end;
        }
        next = 0;
    }
}

/* The first run of all, which knew only by name which functions never return, and noted what there is to know: the
   functions that call what turns out to are made again. */
static void run_and_learn(struct bloop_binary *b, const struct target_list *targets, struct chunk_list *chunks,
                          struct warnings *warnings)
{
    struct target_list again = {0};
    struct index_list changed = {0};
    run(b, targets, RUN_ALL_AND_NOTE, chunks, warnings);
    struct noreturn_notes *notes = mem_calloc(chunks->count + 1, sizeof *notes);
    for (size_t i = 0; i < chunks->count; i++)
        noreturn_notes_take(&chunks->items[i].notes, &notes[i]);
    noreturn_close(b->image, b->functions, b->noreturn, notes, chunks->count, &changed);
    b->noreturn_whole = true;
    for (size_t i = 0; i < changed.count; i++)
        *vec_push(&again) = changed.items[i];
    run(b, &again, RUN_ALL, chunks, warnings);
    mem_free(notes);
    vec_release(&again);
    vec_release(&changed);
}

int bloop_scopes_all(struct bloop_binary *b, struct scope_tree **tree, struct warnings *warnings, struct err *err)
{
    struct target_list targets = {0};
    struct chunk_list chunks = {0};
    struct done_list done = {0};
    size_t before = 0;
    const bool code = !b->options.procedures_only;
    *tree = NULL;
    begin_stats(b);
    if (!b->gaps_filled && code)
        change_functions(b, fill_gaps, NULL, 0);
    b->gaps_filled = code;
    add_debug_entries(b, warnings);
    know_noreturn(b, true);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        index_functions(b);
        list_undone(b, &done, &targets);
        if (b->noreturn_whole || !code)
            run(b, &targets, code ? RUN_ALL : RUN_WANTED, &chunks, warnings);
        else
            run_and_learn(b, &targets, &chunks, warnings);
        mark_done(b, &done);
        if (!add_called(b, &chunks, before))
            break;
        before = chunks.count;
    }
    add_stats(b, &chunks);
    if (code)
        count_padding_between(b);
    image_forget(b->image); /* the next step needs memory, and little of the file */
    int status = join(b, &chunks, tree, warnings, err);
    release_chunks(&chunks);
    vec_release(&targets);
    vec_release(&done);
    return status;
}
