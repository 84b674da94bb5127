/* SPDX-License-Identifier: BSD-3-Clause */
/* The scopes of each function, on several threads. Nothing in a chunk depends on the others, so the result is the same for
   any number of threads. */
#include "bloop/binary.h"

enum {
    CHUNK_BYTES = 1 << 15,  /* of code: some milliseconds, so that threads end together */
    CHUNKS_KEPT = 256,      /* the file's pages that so many have read are given back */
    THREAD_BYTES = 1 << 18, /* less code than this per thread is not worth a debug reader of its own */
};

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

struct job {
    struct bloop_binary *binary;
    const uint32_t *targets;   /* function indices, ascending */
    struct chunk_list *chunks; /* those from first_chunk on are to be done */
    size_t first_chunk, chunk_count;
    struct counted *counted; /* of each target */
    bool want_calls, want_notes;
    atomic_size_t next;
    atomic_size_t done;
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

bool bloop_is_news(const struct function_table *t, vaddr called)
{
    uint32_t f = functions_at(t, called);
    return f == FUNCTION_NONE || (t->functions[f].begin != called && !t->functions[f].sized);
}

static void keep_new_calls(const struct job *job, struct vaddr_list *calls, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < calls->count; i++)
        if (bloop_is_news(job->binary->functions, calls->items[i]))
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

void bloop_make_graph(const struct bloop_binary *b, uint32_t function, struct vaddr_list *calls, struct cfg *cfg,
                      struct loop_forest *forest)
{
    const struct cfg_input input = {.image = b->image,
                                    .functions = b->functions,
                                    .arch = b->arch,
                                    .noreturn = b->noreturn,
                                    .function = function,
                                    .calls = calls};
    cfg_build(&input, cfg);
    loop_forest_find(cfg, forest);
}

static void do_function(struct job *job, struct worker *w, struct code_chunk *c, size_t target)
{
    struct bloop_binary *b = job->binary;
    uint32_t function = job->targets[target];
    struct counted *counted = &job->counted[target];
    size_t calls_before = c->calls.count;
    if (!b->options.procedures_only)
        bloop_make_graph(b, function, job->want_calls ? &c->calls : NULL, &w->cfg, &w->forest);
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

struct debug *bloop_reader(struct bloop_binary *b, size_t thread, struct warnings *warnings)
{
    struct debug **reader = &b->readers.items[thread];
    struct err err;
    if (*reader || atomic_load(&b->no_debug_info))
        return *reader;
    int status = debug_open(b->image, reader, warnings, &err);
    if (status < 0)
        warnings_add(warnings, "%s; its lines and inlined calls are not shown", err.msg);
    if (status <= 0)
        atomic_store(&b->no_debug_info, true);
    return status > 0 ? *reader : NULL;
}

static void work(void *ctx, size_t thread)
{
    struct job *job = ctx;
    struct worker w = {.debug = bloop_reader(job->binary, thread, job->warnings),
                       .assembler = assembler_create(),
                       .arena = arena_create()};
    for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->chunk_count;) {
        struct code_chunk *c = &job->chunks->items[job->first_chunk + i];
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
        *vec_push(chunks) = (struct code_chunk){.first = first, .end = i + 1};
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

void bloop_run(struct bloop_binary *b, const struct target_list *targets, enum run_mode mode, struct chunk_list *chunks,
               struct warnings *warnings)
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
}

void bloop_release_chunks(struct chunk_list *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        function_scopes_release(&chunks->items[i].scopes);
        vec_release(&chunks->items[i].calls);
        vec_release(&chunks->items[i].map);
    }
    vec_release(chunks);
    vec_release(&chunks->counted);
}
