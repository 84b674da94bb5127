/* SPDX-License-Identifier: BSD-3-Clause */
/* All instructions of procedures: text, cost on the core, and loop. */
#include "quality/quality_int.h"

#include <math.h>

struct listing_work {
    const struct scope_tree *tree; /* NULL: only what they cost is asked for */
    const struct machine_core *machine;
    const uint8_t *wanted; /* by scope: a PROC to be listed */
    uint64_t most_bytes;   /* if there is no tree to choose from */
    struct quality_listing *listing;
    struct VEC(struct quality_insn) insns;
    struct arch_writer *writer;
    struct body body, straight; /* a loop; instructions in no loop, whose body has a machine and no more */
    struct hashmap chained;     /* addresses on chains of the function */
    struct hashmap bound;       /* addresses on the shortest way of an innermost loop to `bounds` */
    struct VEC(struct quality_loop) bounds;
};

/* ---- one function ---------------------------------------------------------------------- */

static void note_bound(struct listing_work *w, const struct quality_loop *q)
{
    *vec_push(&w->bounds) = *q;
    for (size_t k = 0; k < w->body.path.count; k++)
        *hashmap_put(&w->bound, path_step(&w->body, k)->addr) = (uint32_t)w->bounds.count - 1;
}

/* Results for each innermost loop: the cost of its iteration, and addresses on its longest chain; a chain that only
   counts iterations is ignored. */
static void look_at_loops(struct listing_work *w, const struct bloop_code *code)
{
    hashmap_release(&w->chained);
    hashmap_release(&w->bound);
    w->bounds.count = 0;
    for (uint32_t i = 0; w->machine && i < code->forest->loop_count; i++) {
        struct quality_loop q = {0};
        if (!body_make(&w->body, code, i, w->machine))
            continue;
        cost_find(&w->body);
        body_find_addresses(&w->body);
        bounds_find(&w->body, &q, NAN);
        note_bound(w, &q);
        for (size_t k = 0; k < w->body.path.count && fmax(q.cycles[BOUND_CHAIN], q.cycles[BOUND_STORE_CHAIN]) > 1; k++)
            if (path_step(&w->body, k)->chained)
                *hashmap_put(&w->chained, path_step(&w->body, k)->addr) = 1;
    }
}

static vaddr header_of(const struct bloop_code *code, uint32_t loop)
{
    return loop == LOOP_NONE ? QUALITY_NO_ADDRESS : code->cfg->blocks[code->forest->loops[loop].header].begin;
}

/* The target of a call, by name. */
static const char *callee(const struct bloop_code *code, vaddr target)
{
    uint32_t f = functions_at(code->functions, target);
    return f != FUNCTION_NONE && code->functions->functions[f].begin == target ? code->functions->functions[f].link_name
                                                                               : "";
}

static str_id text_of(struct listing_work *w, const struct bloop_code *code, const struct step *s, size_t n)
{
    enum { NAME_MOST = 60 }; /* names of C++ templates can be endless */
    char text[256];
    arch_write(w->writer, s->bytes, n, s->addr, text, sizeof text);
    const char *name = s->f.insn.kind == INSN_CALL ? callee(code, s->f.insn.target) : "";
    return *name ? strtab_printf(w->listing->strings, "%s <%.*s>", text, NAME_MOST, name)
                 : strtab_add(w->listing->strings, text);
}

static bool has_target(const struct step *s)
{
    return s->f.insn.kind == INSN_BRANCH || s->f.insn.kind == INSN_JUMP || s->f.insn.kind == INSN_CALL;
}

/* Its cost; an instruction that the core fuses with the branch behind it costs nothing of its own. */
static void say_cost(struct listing_work *w, const struct step *s, const struct step *next, struct quality_insn *out)
{
    const struct body *b = &w->straight;
    struct buf ports = {0};
    out->uops = out->latency = out->ideal = out->ideal_apart = out->ahead = NAN;
    if (!w->machine || !s->known)
        return;
    bool joined = next && next->known && bounds_fuses(b, s, next), reads = false;
    for (uint8_t i = 0; i < s->f.memory_count; i++)
        reads |= s->f.memory[i].reads;
    out->uops = joined ? 0 : bounds_uops(b, s);
    uint32_t bound = hashmap_get(&w->bound, s->addr);
    const struct quality_loop *q = bound == HASHMAP_NONE ? NULL : &w->bounds.items[bound];
    out->loop_uops = q ? q->uops : 0;
    out->ideal = out->uops * (out->loop_uops ? q->bound / q->uops : 1.0 / w->machine->issue);
    out->ideal_apart = out->uops * (out->loop_uops ? q->if_no_chain / q->uops : 1.0 / w->machine->issue);
    out->ahead = out->loop_uops ? q->ahead : NAN;
    out->latency = cost_latency(b, s) + (reads ? cost_load_latency(b, s) : 0);
    if (s->f.class == CLASS_CONTROL || s->f.class == CLASS_NOP || s->f.class == CLASS_FENCE)
        out->latency = NAN;
    if (joined || !w->tree)
        return;
    bounds_ports(b, s, &ports);
    out->ports = strtab_add(w->listing->strings, ports.bytes);
    buf_release(&ports);
}

/* The place of the instruction, and its text; false: not requested. */
static bool place_step(struct listing_work *w, const struct bloop_code *code, const struct step *s, size_t n,
                       struct quality_insn *out)
{
    out->scope = out->procedure = SCOPE_NONE;
    if (!w->tree)
        return true;
    out->scope = scope_tree_find((struct scope_tree *)w->tree, s->addr);
    out->procedure = scope_tree_enclosing(w->tree, out->scope, SCOPE_PROC);
    if (out->procedure == SCOPE_NONE || !w->wanted[out->procedure])
        return false;
    out->text = text_of(w, code, s, n);
    return true;
}

static void list_step(struct listing_work *w, const struct bloop_code *code, uint32_t block, const struct step *s,
                      const struct step *next, size_t n)
{
    uint32_t loop = code->forest->block_loop[block];
    struct quality_insn out = {.address = s->addr,
                               .target = has_target(s) ? s->f.insn.target : QUALITY_NO_ADDRESS,
                               .loop = header_of(code, loop),
                               .around =
                                   header_of(code, loop == LOOP_NONE ? LOOP_NONE : code->forest->loops[loop].parent),

                               .chained = hashmap_get(&w->chained, s->addr) != HASHMAP_NONE,
                               .calls = s->f.insn.kind == INSN_CALL};
    if (!place_step(w, code, s, n, &out))
        return;
    say_cost(w, s, next, &out);
    *vec_push(&w->insns) = out;
}

static void read_step(struct step *s, const struct bloop_code *code, const uint8_t *bytes, size_t n, vaddr addr)
{
    *s = (struct step){.addr = addr, .bytes = bytes};
    s->known = code->arch->facts(bytes, n, addr, &s->f);
    s->cost = cost_of(s);
    if (s->f.insn.length == 0 || s->f.insn.length > n)
        s->f.insn.length = 1;
}

static void list_block(struct listing_work *w, const struct bloop_code *code, uint32_t block)
{
    const struct cfg_block *at = &code->cfg->blocks[block];
    size_t n;
    const uint8_t *bytes = image_bytes(code->image, at->begin, &n);
    struct step s, next;
    if (!bytes || at->begin >= at->end)
        return;
    n = n > at->end - at->begin ? (size_t)(at->end - at->begin) : n;
    for (read_step(&s, code, bytes, n, at->begin); n; s = next) {
        size_t length = s.f.insn.length, rest = n - length;
        if (rest)
            read_step(&next, code, s.bytes + length, rest, s.addr + length);
        list_step(w, code, block, &s, rest ? &next : NULL, n);
        n = rest;
    }
}

static uint64_t bytes_of_code(const struct bloop_code *code)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < code->cfg->block_count; i++)
        bytes += code->cfg->blocks[i].end - code->cfg->blocks[i].begin;
    return bytes;
}

static void list_function(void *ctx, const struct bloop_code *code)
{
    struct listing_work *w = ctx;
    if (!w->tree) {
        uint64_t bytes = bytes_of_code(code);
        if (bytes > w->most_bytes - w->listing->bytes) {
            w->listing->left_out++;
            return;
        }
        w->listing->bytes += bytes;
    }
    if (!w->writer)
        w->writer = arch_writer_create(code->arch->kind);
    w->straight = (struct body){.code = code, .machine = w->machine};
    look_at_loops(w, code);
    for (uint32_t i = 0; i < code->cfg->block_count; i++)
        list_block(w, code, i);
}

/* ---- all of them --------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct scope_tree *t, scope_ix proc)
{
    const struct scope *s = &t->scopes[proc];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->range_count; i++)
        bytes += t->ranges[s->range_first + i].end - t->ranges[s->range_first + i].begin;
    return bytes;
}

struct entry_list VEC(vaddr);

/* The most important ones that fit. */
static uint8_t *choose(const struct scope_tree *t, const struct quality_listing_options *o, struct entry_list *entries,
                       struct quality_listing *l)
{
    uint8_t *wanted = mem_calloc(t->scope_count + 1, 1);
    for (size_t i = 0; i < o->procedure_count; i++) {
        scope_ix proc = o->procedures[i];
        uint64_t own = bytes_of(t, proc);
        if (own > o->most_bytes - l->bytes) {
            l->left_out++;
            continue;
        }
        l->bytes += own;
        wanted[proc] = 1;
        *vec_push(entries) = t->scopes[proc].entry;
    }
    return wanted;
}

/* By procedure and address; code that two blocks share, or that several graphs show, once. */
static int by_procedure(const void *a, const void *b)
{
    const struct quality_insn *x = a, *y = b;
    return order_of(x->procedure, y->procedure) ?: order_of(x->address, y->address);
}

static void order(struct listing_work *w)
{
    struct quality_listing *l = w->listing;
    vec_sort(&w->insns, by_procedure);
    for (size_t i = 0; i < w->insns.count; i++)
        if (i == 0 || by_procedure(&w->insns.items[i - 1], &w->insns.items[i]) != 0)
            w->insns.items[l->count++] = w->insns.items[i];
    l->insns = w->insns.items;
}

static struct quality_listing *list_code(struct listing_work *w, struct bloop_binary *binary,
                                         const struct entry_list *at, struct warnings *warnings)
{
    struct quality_listing *l = w->listing;
    bloop_code_at(binary, at->items, at->count, list_function, w, warnings);
    order(w);
    arch_writer_free(w->writer);
    body_release(&w->body);
    hashmap_release(&w->chained);
    hashmap_release(&w->bound);
    vec_release(&w->bounds);
    return l;
}

struct quality_listing *quality_list(struct bloop_binary *binary, const struct scope_tree *tree,
                                     const struct quality_listing_options *options, struct warnings *warnings)
{
    struct entry_list entries = {0};
    struct quality_listing *l = mem_calloc(1, sizeof *l);
    struct listing_work w = {.tree = tree, .machine = options->machine, .listing = l};
    l->strings = strtab_create();
    l->assumed = strtab_add(l->strings, options->machine ? options->machine->assumed : "");
    uint8_t *wanted = choose(tree, options, &entries, l);
    w.wanted = wanted;
    scope_tree_find((struct scope_tree *)tree, 0); /* its look-up */
    list_code(&w, binary, &entries, warnings);
    vec_release(&entries);
    mem_free(wanted);
    return l;
}

struct quality_listing *quality_costs(struct bloop_binary *binary, const struct machine_core *machine,
                                      const vaddr *addresses, size_t count, uint64_t most_bytes)
{
    struct quality_listing *l = mem_calloc(1, sizeof *l);
    struct listing_work w = {.machine = machine, .listing = l, .most_bytes = most_bytes};
    struct entry_list at = {0};
    l->strings = strtab_create();
    for (size_t i = 0; i < count; i++)
        *vec_push(&at) = addresses[i];
    list_code(&w, binary, &at, NULL);
    vec_release(&at);
    return l;
}

void quality_listing_free(struct quality_listing *l)
{
    if (!l)
        return;
    strtab_free(l->strings);
    mem_free(l->insns);
    mem_free(l);
}
