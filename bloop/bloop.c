/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public calls: which functions, on how many threads, in which order.
 *
 *   targets    functions of the table, in the order of addresses
 *   chunks     runs of targets with about the same amount of code; each chunk's scopes come to one slot (work.c)
 *   join       slots in order -> PROCs sorted by file and address -> one scope tree (join.c)
 */
#include "bloop/binary.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 32 /* of finding functions by calls; each round that finds any costs only these */ };

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

/* ---- statistics ---- */

static void add_counts(struct bloop_stats *sum, const struct bloop_stats *one)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
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

static struct debug *first_reader(struct bloop_binary *b, struct warnings *warnings)
{
    if (b->readers.count == 0)
        *vec_push(&b->readers) = NULL;
    return bloop_reader(b, 0, warnings);
}

/* Procedures that DWARF knows and no symbol names (a stripped file with a separate debug file cut in the same way,
   -fvisibility games): asked for only where an address would stay unknown, because it reads all units. */
static bool add_debug_entries(struct bloop_binary *b, struct warnings *warnings)
{
    struct vaddr_list entries = {0};
    size_t before = b->functions->count;
    if (b->debug_entries_known)
        return false;
    b->debug_entries_known = true;
    struct debug *reader = first_reader(b, warnings);
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
        if (in.kind == INSN_CALL && bloop_is_news(b->functions, in.target))
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
    bloop_run(b, &targets, RUN_WANTED, &chunks, warnings);
    add_stats(b, &chunks);
    int status = bloop_join(b, &chunks, tree, warnings, err);
    bloop_release_chunks(&chunks);
    vec_release(&targets);
    return status;
}

void bloop_code_at(struct bloop_binary *b, const vaddr *addrs, size_t count, bloop_code_visit *visit, void *ctx,
                   struct warnings *warnings)
{
    struct target_list targets = {0};
    struct cfg cfg = {0};
    struct loop_forest forest = {0};
    prepare_at(b, addrs, count, &targets, warnings);
    for (size_t i = 0; i < targets.count; i++) {
        bloop_make_graph(b, targets.items[i], NULL, &cfg, &forest);
        visit(ctx, &(struct bloop_code){.arch = b->arch,
                                        .image = b->image,
                                        .functions = b->functions,
                                        .function = targets.items[i],
                                        .cfg = &cfg,
                                        .forest = &forest});
        progress_report(b->options.progress, "instructions", i + 1, targets.count);
    }
    cfg_release(&cfg);
    loop_forest_release(&forest);
    vec_release(&targets);
}

char *bloop_producer(struct bloop_binary *b, vaddr addr, uint16_t *language, struct warnings *warnings)
{
    uint32_t f = whole_function_at(b, addr);
    struct arena *arena = arena_create();
    struct debug_function found = {.producer = ""};
    struct debug *reader = f != FUNCTION_NONE ? first_reader(b, warnings) : NULL;
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
    struct debug *reader = first_reader(b, warnings);
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
    bloop_run(b, targets, RUN_ALL_AND_NOTE, chunks, warnings);
    struct noreturn_notes *notes = mem_calloc(chunks->count + 1, sizeof *notes);
    for (size_t i = 0; i < chunks->count; i++)
        noreturn_notes_take(&chunks->items[i].notes, &notes[i]);
    noreturn_close(b->image, b->functions, b->noreturn, notes, chunks->count, &changed);
    b->noreturn_whole = true;
    for (size_t i = 0; i < changed.count; i++)
        *vec_push(&again) = changed.items[i];
    bloop_run(b, &again, RUN_ALL, chunks, warnings);
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
            bloop_run(b, &targets, code ? RUN_ALL : RUN_WANTED, &chunks, warnings);
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
    int status = bloop_join(b, &chunks, tree, warnings, err);
    bloop_release_chunks(&chunks);
    vec_release(&targets);
    vec_release(&done);
    return status;
}
