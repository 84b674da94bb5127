/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies. A step is a property tested at a place; a round is all steps that are open at once, which one experiment
 * can answer.
 *
 *     whole            every property everywhere; one step is noted for each property
 *     property-first   Periscope's: what refines a property that holds, in the same place; then the places inside
 *     location-first   the same property in the places inside; where it ends, what refines it
 *     loop-aware       Paradyn's: a procedure leads to its outermost loops and to what it calls outside of loops; a loop
 *                      to the loops in it and to what they call. What is false prunes all below
 *     functions        a procedure leads to all it calls
 *
 * With call paths these walk the tree of calls, where a procedure's cost is with all it calls; without, the scopes.
 */
#include "diagnose/search/search.h"

#include <math.h>

enum { STEPS_MOST = 200000 };

static const char *const state_words[] = {"true", "false", "unknown", "pruned", "not measurable", "not reached"};
static const char *const strategy_words[] = {"whole", "location-first", "property-first", "loop-aware", "functions"};

const char *diagnose_state_word(enum diagnose_state s)
{
    return state_words[s];
}

int diagnose_strategy_parse(const char *word, enum diagnose_strategy *s, struct err *err)
{
    size_t i = str_index(word, strategy_words, ARRAY_SIZE(strategy_words));
    *s = (enum diagnose_strategy)i;
    if (i < ARRAY_SIZE(strategy_words))
        return 0;
    return err_set(err, ERR_USAGE,
                   "unknown strategy '%s'; available: whole, location-first, property-first, loop-aware, functions",
                   word);
}

/* ---- whole --------------------------------------------------------------------------------------------- */

static const char *note_of(struct diagnosis *d, const struct resolved *of)
{
    if (of->candidates.count)
        return arena_printf(d->arena, "in %zu place%s", of->candidates.count, of->candidates.count == 1 ? "" : "s");
    if (of->uncertain)
        return arena_printf(d->arena, "holds in %zu place%s, but within the statistical error", of->uncertain,
                            of->uncertain == 1 ? "" : "s");
    if (of->without_value)
        return arena_printf(d->arena, "holds in %zu place%s without a value for its severity", of->without_value,
                            of->without_value == 1 ? "" : "s");
    return "";
}

/* Of a group of places, the whole: it may be known although its parts are not. */
static enum diagnose_state state_of(const struct evaluator *ev, const struct resolved *of, double *value)
{
    double squares = 0;
    *value = NAN;
    for (size_t i = 0; i < of->candidates.count; i++) {
        const struct candidate *c = &of->candidates.items[i];
        bool first = isnan(*value);
        squares += isnan(c->error) ? 0 : c->error * c->error;
        *value = first ? c->severity : of->property->together ? *value + c->severity : fmax(*value, c->severity);
    }
    if (!of->domain)
        return SEARCH_NOT_MEASURABLE;
    if (isnan(*value))
        return of->uncertain || of->without_value ? SEARCH_UNKNOWN : SEARCH_FALSE;
    if (!of->property->together)
        return SEARCH_TRUE;
    return *value < ev->options.threshold ? SEARCH_FALSE : *value < 2 * sqrt(squares) ? SEARCH_UNKNOWN : SEARCH_TRUE;
}

/* There is a step for each resolved property, in their order. */
static uint32_t step_of_refined(const struct evaluator *ev, const struct resolved *of)
{
    for (uint32_t i = 0; of->property->refines != NONE && i < ev->resolved.count; i++) {
        const struct resolved *other = ev->resolved.items[i];
        if (other->index == of->property->refines && (other->run == of->run || other->run == RUN_NONE))
            return i;
    }
    return NONE;
}

static void note_property(struct evaluator *ev, struct diagnosis *d, const struct resolved *of)
{
    const struct candidate *worst = NULL;
    for (size_t i = 0; i < of->candidates.count; i++)
        if (!worst || of->candidates.items[i].severity > worst->severity)
            worst = &of->candidates.items[i];
    double value;
    enum diagnose_state state = state_of(ev, of, &value);
    place_ix place = worst ? domain_place(ev, of->domain, worst->id) : 0;
    bool node = worst && !of->domain->table;
    *vec_push(&d->search) = (struct search_step){
        .property = of->property->name,
        .place = place,
        .where = node ? diagnose_node_label(d->arena, ev->e, of->domain->tree, worst->id)
                      : diagnose_place_label(d->arena, ev->e, place),
        .state = state,
        .value = value > 100 ? 100 : value,
        .threshold = ev->options.threshold,
        .experiment = 1,
        .parent = step_of_refined(ev, of),
        .note = !of->domain ? arena_strdup(d->arena, of->why_not) : note_of(d, of),
    };
}

static void search_whole(struct evaluator *ev, struct diagnosis *d)
{
    d->experiments = 1;
    for (size_t i = 0; i < ev->resolved.count; i++)
        note_property(ev, d, ev->resolved.items[i]);
}

/* ---- step by step ------------------------------------------------------------------------------------------ */

struct hypothesis {
    uint32_t property, node, parent;
};
struct searcher {
    struct evaluator *ev;
    struct diagnosis *d;
    size_t tree;         /* that places are looked for in */
    size_t *first_child; /* see experiment_children */
    uint32_t *child;
    struct VEC(struct hypothesis) open, next;
    struct hashmap asked; /* (property, node) */
    bool *was_asked;      /* by property: anywhere */
};

static void ask(struct searcher *s, uint32_t property, uint32_t node, uint32_t parent)
{
    uint32_t *slot = hashmap_put(&s->asked, (uint64_t)property << 32 | node);
    if (*slot != HASHMAP_NONE || s->d->search.count + s->next.count > STEPS_MOST)
        return;
    *slot = 1;
    s->was_asked[property] = true;
    *vec_push(&s->next) = (struct hypothesis){property, node, parent};
}

static uint8_t kind_at(const struct searcher *s, uint32_t node)
{
    return s->ev->e->places[experiment_node_place(s->ev->e, s->tree, node)].kind;
}

struct nodes VEC(uint32_t);

/* The nearest nodes below that a search stops at: procedures and loops, or procedures alone. */
static void list_below(const struct searcher *s, uint32_t node, struct nodes *found)
{
    bool loops = s->ev->options.strategy != DIAGNOSE_FUNCTIONS;
    struct nodes stack = {0};
    *vec_push(&stack) = node;
    while (stack.count) {
        uint32_t at = stack.items[--stack.count];
        for (size_t i = s->first_child[at + 1]; i-- > s->first_child[at];) {
            uint32_t child = s->child[i];
            uint8_t kind = kind_at(s, child);
            *vec_push(kind == PLACE_PROC || (kind == PLACE_LOOP && loops) ? found : &stack) = child;
        }
    }
    vec_release(&stack);
}

static void ask_below(struct searcher *s, uint32_t property, uint32_t node, uint32_t parent)
{
    struct nodes below = {0};
    list_below(s, node, &below);
    for (size_t i = 0; i < below.count; i++)
        ask(s, property, below.items[i], parent);
    vec_release(&below);
}

static void ask_finer(struct searcher *s, const struct hypothesis *h, uint32_t step)
{
    const struct resolved *of = s->ev->resolved.items[h->property];
    for (uint32_t i = 0; i < s->ev->resolved.count; i++)
        if (s->ev->resolved.items[i]->property->refines == of->index &&
            (s->ev->resolved.items[i]->run == of->run || s->ev->resolved.items[i]->run == RUN_NONE))
            ask(s, i, h->node, step);
}

/* A property of rows, or of another tree, is asked once, of all. */
static bool is_of_nodes(const struct searcher *s, const struct resolved *of)
{
    return of->domain && !of->domain->table && of->domain->tree == s->tree;
}

static struct tested test(const struct searcher *s, const struct resolved *of, uint32_t node)
{
    struct tested t = {.state = SEARCH_FALSE, .candidate = {.severity = NAN}};
    if (is_of_nodes(s, of) && resolved_has(of, node))
        return evaluator_test_at(s->ev, of, node);
    for (size_t i = 0; of->domain && !is_of_nodes(s, of) && i < of->candidates.count; i++)
        if (t.state == SEARCH_FALSE || of->candidates.items[i].severity > t.candidate.severity)
            t = (struct tested){SEARCH_TRUE, of->candidates.items[i]};
    return t;
}

static uint32_t note_step(struct searcher *s, const struct hypothesis *h, const struct tested *t)
{
    const struct resolved *of = s->ev->resolved.items[h->property];
    place_ix place = experiment_node_place(s->ev->e, s->tree, h->node);
    *vec_push(&s->d->search) = (struct search_step){
        .property = of->property->name,
        .place = place,
        .where = diagnose_node_label(s->d->arena, s->ev->e, s->tree, h->node),
        .state = t->state,
        .value = t->candidate.severity,
        .threshold = s->ev->options.threshold,
        .experiment = s->d->experiments,
        .parent = h->parent,
        .note = of->why_not ? arena_strdup(s->d->arena, of->why_not) : "",
    };
    return (uint32_t)(s->d->search.count - 1);
}

/* Does it hold there, with enough severity to go on? A hypothesis has no severity of its own: its condition is the
   threshold. */
static bool goes_on(const struct searcher *s, const struct resolved *of, const struct tested *t)
{
    return t->state == SEARCH_TRUE && (of->property->hypothesis || t->candidate.severity >= s->ev->options.threshold);
}

/* One step for all that is not looked at because this one does not hold. */
static void note_pruned(struct searcher *s, const struct hypothesis *h, uint32_t step)
{
    struct nodes below = {0};
    list_below(s, h->node, &below);
    if (below.count && s->d->search.count < STEPS_MOST) {
        uint32_t at = note_step(s, &(struct hypothesis){h->property, h->node, step},
                                &(struct tested){SEARCH_PRUNED, {.severity = NAN}});
        s->d->search.items[at].note =
            arena_printf(s->d->arena, "%zu place%s in it", below.count, below.count == 1 ? "" : "s");
    }
    vec_release(&below);
}

static void take_step(struct searcher *s, const struct hypothesis *h)
{
    const struct resolved *of = s->ev->resolved.items[h->property];
    bool passes = is_of_nodes(s, of) && !resolved_has(of, h->node); /* it applies to descendants */
    struct tested t = test(s, of, h->node);
    if (!of->domain)
        t.state = SEARCH_NOT_MEASURABLE;
    if (passes) {
        ask_below(s, h->property, h->node, h->parent);
        return;
    }
    if (t.state == SEARCH_TRUE && !goes_on(s, of, &t))
        t.state = SEARCH_FALSE;
    uint32_t step = note_step(s, h, &t);
    if (t.state != SEARCH_TRUE) {
        if (is_of_nodes(s, of))
            note_pruned(s, h, step);
        return;
    }
    size_t before = s->next.count;
    if (s->ev->options.strategy == DIAGNOSE_PROPERTY_FIRST)
        ask_finer(s, h, step);
    if (s->next.count == before && is_of_nodes(s, of))
        ask_below(s, h->property, h->node, step);
    if (s->ev->options.strategy != DIAGNOSE_PROPERTY_FIRST)
        ask_finer(s, h, step);
}

static void one_round(struct searcher *s)
{
    s->d->experiments++;
    for (size_t i = 0; i < s->open.count; i++)
        take_step(s, &s->open.items[i]);
}

static void note_rest(struct searcher *s)
{
    struct tested t = {.state = SEARCH_NOT_REACHED, .candidate = {.severity = NAN}};
    for (size_t i = 0; i < s->open.count; i++)
        note_step(s, &s->open.items[i], &t);
}

/* Properties never tested, as their parents hold nowhere. */
static void note_unasked(struct searcher *s)
{
    struct tested t = {SEARCH_PRUNED, {.severity = NAN}};
    for (uint32_t i = 0; i < s->ev->resolved.count; i++) {
        const struct resolved *of = s->ev->resolved.items[i];
        if (s->was_asked[i] || of->property->refines == NONE)
            continue;
        uint32_t step = note_step(s, &(struct hypothesis){i, 0, NONE}, &t);
        s->d->search.items[step].note = arena_printf(s->d->arena, "%s does not hold", of->property->refines_name);
    }
}

static void begin_search(struct searcher *s)
{
    s->was_asked = mem_calloc(s->ev->resolved.count + 1, sizeof *s->was_asked);
    for (uint32_t i = 0; i < s->ev->resolved.count; i++)
        if (s->ev->resolved.items[i]->property->refines == NONE)
            ask(s, i, 0, NONE);
}

/* Findings are made of the steps that hold in the search. */
static void keep_what_was_found(struct searcher *s)
{
    for (size_t i = 0; i < s->ev->resolved.count; i++) {
        struct resolved *of = s->ev->resolved.items[i];
        size_t kept = 0;
        for (size_t k = 0; is_of_nodes(s, of) && k < of->candidates.count; k++)
            if (hashmap_get(&s->asked, (uint64_t)i << 32 | of->candidates.items[k].id) != HASHMAP_NONE)
                of->candidates.items[kept++] = of->candidates.items[k];
        if (is_of_nodes(s, of))
            of->candidates.count = kept;
    }
}

static void search_steps(struct evaluator *ev, struct diagnosis *d)
{
    struct searcher s = {.ev = ev, .d = d, .tree = ev->place_tree};
    experiment_children(s.ev->e, s.tree, &s.first_child, &s.child);
    begin_search(&s);
    while (s.next.count && (!ev->options.experiments || d->experiments < ev->options.experiments)) {
        vec_release(&s.open);
        s.open.items = s.next.items;
        s.open.count = s.next.count;
        s.open.capacity = s.next.capacity;
        s.next.items = NULL;
        s.next.count = s.next.capacity = 0;
        one_round(&s);
    }
    vec_release(&s.open);
    s.open.items = s.next.items;
    s.open.count = s.next.count;
    s.open.capacity = s.next.capacity;
    note_rest(&s);
    note_unasked(&s);
    keep_what_was_found(&s);
    vec_release(&s.open);
    mem_free(s.child);
    hashmap_release(&s.asked);
    mem_free(s.first_child);
    mem_free(s.was_asked);
}

/* ---- diagnose --------------------------------------------------------------------------------------------------- */

int diagnose(const struct experiment *e, const struct properties *p, const struct diagnose_options *options,
             struct diagnosis **result, struct err *err)
{
    struct evaluator ev;
    *result = NULL;
    if (!(options->threshold >= 0 && options->threshold <= 100))
        return err_set(err, ERR_USAGE, "a threshold is a percentage from 0 to 100");
    struct diagnosis *d = mem_calloc(1, sizeof *d);
    d->arena = arena_create();
    d->threshold = options->threshold;
    d->strategy = options->strategy;
    evaluator_init(&ev, e, p, options);
    if ((options->strategy == DIAGNOSE_LOOP_AWARE || options->strategy == DIAGNOSE_FUNCTIONS) &&
        experiment_calls(e) != SIZE_MAX)
        ev.place_tree = experiment_calls(e);
    evaluator_resolve(&ev);
    evaluator_run(&ev);
    if (options->strategy == DIAGNOSE_WHOLE)
        search_whole(&ev, d);
    else
        search_steps(&ev, d);
    diagnosis_make_findings(&ev, d);
    evaluator_release(&ev);
    *result = d;
    return 0;
}

void diagnosis_free(struct diagnosis *d)
{
    if (!d)
        return;
    vec_release(&d->findings);
    vec_release(&d->search);
    arena_free(d->arena);
    mem_free(d);
}
