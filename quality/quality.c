/* The innermost loops of a tree, one after the other. */
#include "quality/quality_int.h"

#include <math.h>

static const char *const bound_names[BOUNDS] = {"front end", "ports", "loads and stores",
                                                "divider",   "chain", "chain through memory"};
static const char *const mix_names[MIXES] = {"all", "load", "store", "add", "multiply", "other"};
static const char *const stride_names[STRIDES] = {"none", "one", "more", "indirect", "unknown"};
static const char *const role_names[] = {"", "main", "remainder", "version"};

const char *quality_bound_name(enum quality_bound b)
{
    return bound_names[b];
}

const char *quality_mix_name(enum quality_mix m)
{
    return mix_names[m];
}

const char *quality_stride_name(enum quality_stride s)
{
    return stride_names[s];
}

const char *quality_role_name(enum quality_role r)
{
    return role_names[r];
}

struct work {
    const struct scope_tree *tree;
    const struct quality_options *options;
    struct hashmap loop_at; /* header to scope; of several procedures, the last */
    struct body body;
    struct quality_report *report;
    struct VEC(struct quality_loop) loops;
};

static void say_note(struct work *w, struct quality_loop *q)
{
    const struct body *b = &w->body;
    if (b->cut)
        q->note =
            strtab_printf(w->report->strings, "only its first %u instructions were looked at", LIMIT_LOOP_INSTRUCTIONS);
    else if (b->undecodable)
        q->note =
            strtab_printf(w->report->strings, "%u of its instructions are of a kind that is not known", b->undecodable);
    else if (b->tangled)
        q->note = strtab_add(w->report->strings,
                             "entered at several places, or with jumps back inside: all of it counts as one iteration");
    else if (q->calls)
        q->note =
            strtab_printf(w->report->strings, "without what its %u call%s cost", q->calls, q->calls > 1 ? "s" : "");
}

static scope_ix procedure_of(const struct scope_tree *t, scope_ix s)
{
    while (s != SCOPE_NONE && t->scopes[s].kind != SCOPE_PROC)
        s = t->scopes[s].parent;
    return s;
}

static void name_loop(struct work *w, struct quality_loop *q)
{
    const struct scope_tree *t = w->tree;
    const struct scope *s = &t->scopes[q->scope];
    scope_ix proc = procedure_of(t, q->scope);
    q->procedure =
        strtab_add(w->report->strings, proc == SCOPE_NONE ? "" : strtab_get(t->strings, t->scopes[proc].short_name));
    q->file = strtab_add(w->report->strings, strtab_get(t->strings, s->file));
    q->line_first = s->line_first;
    q->line_last = s->line_last;
}

static void look_at_loop(struct work *w, const struct bloop_code *code, uint32_t loop)
{
    vaddr header = code->cfg->blocks[code->forest->loops[loop].header].begin;
    scope_ix scope = hashmap_get(&w->loop_at, header);
    if (scope == HASHMAP_NONE || (w->options->wanted && !w->options->wanted[scope]))
        return;
    if (!body_make(&w->body, code, loop, w->options->machine))
        return;
    struct quality_loop *q = vec_push(&w->loops);
    *q = (struct quality_loop){.scope = scope, .header = header};
    name_loop(w, q);
    cost_find(&w->body);
    body_find_addresses(&w->body);
    mix_count(&w->body, q);
    bounds_find(&w->body, q);
    say_note(w, q);
}

static void visit(void *ctx, const struct bloop_code *code)
{
    for (uint32_t i = 0; i < code->forest->loop_count; i++)
        look_at_loop(ctx, code, i);
}

static int by_scope(const void *a, const void *b)
{
    const struct quality_loop *x = a, *y = b;
    return x->scope < y->scope ? -1 : x->scope > y->scope;
}

struct address_list VEC(vaddr);

/* Entries of the procedures that have a loop to look at. */
static void list_entries(struct work *w, struct address_list *entries)
{
    const struct scope_tree *t = w->tree;
    scope_ix last = SCOPE_NONE;
    for (scope_ix i = 0; i < t->scope_count; i++) {
        const struct scope *s = &t->scopes[i];
        if (s->kind != SCOPE_LOOP || (w->options->wanted && !w->options->wanted[i]))
            continue;
        *hashmap_put(&w->loop_at, s->entry) = i;
        scope_ix proc = procedure_of(t, i);
        if (proc != SCOPE_NONE && proc != last)
            *vec_push(entries) = t->scopes[proc].entry;
        last = proc;
    }
}

int quality_analyze(struct bloop_binary *binary, const struct scope_tree *tree, const struct quality_options *options,
                    struct quality_report **result, struct warnings *warnings, struct err *err)
{
    struct address_list entries = {0};
    struct quality_report *r = mem_calloc(1, sizeof *r);
    struct work w = {.tree = tree, .options = options, .report = r};
    (void)err;
    r->strings = strtab_create();
    r->machine = strtab_add(r->strings, options->machine->name);
    r->assumed = strtab_add(r->strings, options->machine->assumed);
    list_entries(&w, &entries);
    bloop_code_at(binary, entries.items, entries.count, visit, &w, warnings);
    vec_sort(&w.loops, by_scope);
    r->loops = w.loops.items;
    r->loop_count = w.loops.count;
    roles_find(tree, r);
    body_release(&w.body);
    hashmap_release(&w.loop_at);
    vec_release(&entries);
    *result = r;
    return 0;
}

void quality_free(struct quality_report *r)
{
    if (!r)
        return;
    strtab_free(r->strings);
    mem_free(r->loops);
    mem_free(r);
}
