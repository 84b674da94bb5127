/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From places where properties hold to findings: each problem is reported once.
 *
 *     copies of a loop or line of the source      one finding, severities added up
 *     a loop, and the procedure around it         the loop, where it has most of the severity
 *     a procedure, and many lines in it           the procedure, where each has little
 *     a property, and one that refines it         the finer one, where it has half the severity
 *     the same in several runs                    the worst, with the runs' names
 */
#include "diagnose/search/search.h"

#include <math.h>
#include <stdlib.h>

#define PART_THAT_EXPLAINS 0.6 /* descendants have so much of it: reported there */
#define PART_TO_MENTION    0.3 /* descendants have less: reported only above */
#define PART_THAT_REFINES  0.5

struct group { /* copies of one thing */
    const struct resolved *of;
    struct candidate worst;
    place_ix place; /* of the worst; PLACE_NONE */
    size_t copies;
    double severity, least, most, squares; /* added up */
    double below;                          /* the largest severity of its descendants */
    bool dropped;
    struct buf runs; /* names, where several have it */
};

struct merging {
    struct evaluator *ev;
    struct VEC(struct group) groups;
    struct hashmap at; /* of the property at hand: (place or node) to its group */
};

static bool is_places(const struct resolved *of)
{
    return !of->domain->table && of->domain->tree == TREE_SCOPES;
}

/* Places with the same source have one key. */
static uint64_t source_key(const struct merging *u, const struct resolved *of, uint32_t id)
{
    place_ix place = domain_place(u->ev, of->domain, id);
    if (is_places(of) || of->domain->table)
        return place == PLACE_NONE ? (uint64_t)id << 32 : u->ev->e->places[place].same;
    return id;
}

static double square_of_error(const struct candidate *c)
{
    return isnan(c->error) ? 0 : c->error * c->error;
}

/* Rows of one place count as the worst of them (`known`, NULL: this is the first one); copies at other places add up. */
static void add_to_group(struct group *g, const struct candidate *c, const struct candidate *known)
{
    g->copies++;
    if (known && c->severity <= known->severity)
        return;
    g->severity += c->severity - (known ? known->severity : 0);
    g->least += c->least - (known ? known->least : 0);
    g->most += c->most - (known ? known->most : 0);
    g->squares += known ? -square_of_error(known) : 0;
    g->squares += square_of_error(c);
}

static void limit_gain(struct group *g)
{
    g->severity = fmin(g->severity, 100);
    g->least = fmin(g->least, 100);
    g->most = fmin(g->most, 100);
}

static void group_copies(struct merging *u, const struct resolved *of, size_t first)
{
    struct hashmap by_source = {0}, by_place = {0}; /* to its group; of a table: to the worst row there */
    for (uint32_t i = 0; i < of->candidates.count; i++) {
        const struct candidate *all = of->candidates.items, *c = &all[i];
        place_ix place = domain_place(u->ev, of->domain, c->id);
        uint32_t *slot = hashmap_put(&by_source, source_key(u, of, c->id)), *worst = NULL;
        if (of->domain->table && place != PLACE_NONE)
            worst = hashmap_put(&by_place, place);
        if (*slot == HASHMAP_NONE) {
            *slot = (uint32_t)u->groups.count;
            *vec_push(&u->groups) = (struct group){.of = of, .worst = *c, .place = place};
        }
        struct group *g = &u->groups.items[*slot];
        const struct candidate *known = worst && *worst != HASHMAP_NONE ? &all[*worst] : NULL;
        add_to_group(g, c, known);
        if (worst && (!known || c->severity > known->severity))
            *worst = i;
        if (c->severity > g->worst.severity) {
            g->worst = *c;
            g->place = place;
        }
        *hashmap_put(&u->at, of->domain->table ? place : c->id) = *slot;
    }
    for (size_t i = first; i < u->groups.count; i++)
        limit_gain(&u->groups.items[i]);
    hashmap_release(&by_source);
    hashmap_release(&by_place);
}

static uint32_t node_of(const struct resolved *of, const struct candidate *c, place_ix place)
{
    return of->domain->table ? place : c->id;
}

static size_t tree_of(const struct resolved *of)
{
    return of->domain->table ? TREE_SCOPES : of->domain->tree;
}

/* Calls for every candidate and every group around it. */
static void each_around(struct merging *u, const struct resolved *of,
                        void (*call)(struct group *inner, struct group *outer))
{
    for (size_t i = 0; i < of->candidates.count; i++) {
        const struct candidate *c = &of->candidates.items[i];
        uint32_t node = node_of(of, c, domain_place(u->ev, of->domain, c->id));
        uint32_t own = node == NODE_NONE ? HASHMAP_NONE : hashmap_get(&u->at, node);
        while (own != HASHMAP_NONE && (node = experiment_node_parent(u->ev->e, tree_of(of), node)) != NODE_NONE) {
            uint32_t around = hashmap_get(&u->at, node);
            if (around != HASHMAP_NONE && around != own)
                call(&u->groups.items[own], &u->groups.items[around]);
        }
    }
}

static void note_below(struct group *inner, struct group *outer)
{
    outer->below = fmax(outer->below, inner->severity);
}

static void drop_small(struct group *inner, struct group *outer)
{
    inner->dropped = inner->dropped || (!outer->dropped && inner->severity < PART_TO_MENTION * outer->severity);
}

static double own_certainty(const struct candidate *c)
{
    return c->error > 0 ? fmax(erf(c->severity / c->error / sqrt(2)), 0.01) : 1;
}

/* A place inside another one that the property holds at is a part of that one: an inlined call of the same name. */
static void leave_out_nested(struct merging *u, const struct resolved *of)
{
    for (size_t i = 0; i < of->candidates.count; i++) {
        const struct candidate *c = &of->candidates.items[i];
        uint32_t node = node_of(of, c, domain_place(u->ev, of->domain, c->id));
        uint32_t own = node == NODE_NONE ? HASHMAP_NONE : hashmap_get(&u->at, node);
        bool nested = false;
        for (uint32_t up = node; own != HASHMAP_NONE && !nested && up != NODE_NONE;) {
            up = experiment_node_parent(u->ev->e, tree_of(of), up);
            nested = up != NODE_NONE && hashmap_get(&u->at, up) != HASHMAP_NONE;
        }
        if (nested) {
            struct group *g = &u->groups.items[own];
            g->severity -= c->severity;
            g->least -= c->least;
            g->most -= c->most;
            g->squares -= square_of_error(c);
            g->copies--;
        }
    }
}

/* All of them as one, at the worst place; below the threshold, or within chance, none. */
static void put_together(struct merging *u, size_t first)
{
    struct group *all = &u->groups.items[first];
    for (size_t i = first + 1; i < u->groups.count; i++) {
        const struct group *g = &u->groups.items[i];
        if (g->worst.severity > all->worst.severity) {
            all->worst = g->worst;
            all->place = g->place;
        }
        all->severity += g->severity;
        all->least += g->least;
        all->most += g->most;
        limit_gain(all);
        all->squares += g->squares;
        all->copies += g->copies;
    }
    u->groups.count = first + 1;
    if (all->squares > 0) /* of the sum, not of its worst part */
        all->worst.confidence *= erf(all->severity / sqrt(2 * all->squares)) / own_certainty(&all->worst);
    all->dropped = all->severity < u->ev->options.threshold || all->severity < 2 * sqrt(all->squares);
}

static void merge_property(struct merging *u, const struct resolved *of)
{
    size_t first = u->groups.count;
    group_copies(u, of, first);
    if (of->property->together) {
        if (!of->domain->table)
            leave_out_nested(u, of);
        if (u->groups.count > first)
            put_together(u, first);
        hashmap_release(&u->at);
        return;
    }
    each_around(u, of, note_below);
    for (size_t i = first; i < u->groups.count; i++)
        u->groups.items[i].dropped = u->groups.items[i].below >= PART_THAT_EXPLAINS * u->groups.items[i].severity;
    each_around(u, of, drop_small);
    hashmap_release(&u->at);
}

/* ---- properties that refine others ------------------------------------------------------------------ */

static bool refines(const struct properties *p, uint32_t fine, uint32_t coarse)
{
    for (uint32_t up = p->list.items[fine]->refines; up != NONE; up = p->list.items[up]->refines)
        if (up == coarse)
            return true;
    return false;
}

static bool within(const struct experiment *e, place_ix inner, place_ix outer)
{
    while (inner != PLACE_NONE && inner > outer)
        inner = e->places[inner].parent;
    return inner == outer;
}

static bool touch(const struct experiment *e, place_ix a, place_ix b)
{
    return a == PLACE_NONE || b == PLACE_NONE || within(e, a, b) || within(e, b, a);
}

static void drop_refined(struct merging *u)
{
    for (size_t i = 0; i < u->groups.count; i++) {
        struct group *coarse = &u->groups.items[i];
        for (size_t k = 0; k < u->groups.count && !coarse->dropped; k++) {
            const struct group *fine = &u->groups.items[k];
            coarse->dropped = !fine->dropped && refines(u->ev->p, fine->of->index, coarse->of->index) &&
                              touch(u->ev->e, fine->place, coarse->place) &&
                              fine->severity >= PART_THAT_REFINES * coarse->severity;
        }
    }
}

/* ---- several runs ---------------------------------------------------------------------------------------- */

static void add_run(const struct merging *u, struct group *g, uint32_t run)
{
    const char *name = run < u->ev->e->run_count ? strtab_get(u->ev->e->strings, u->ev->e->runs[run].name) : "";
    buf_printf(&g->runs, "%s%s", g->runs.len ? ", " : "", name);
}

static bool same_thing(const struct merging *u, const struct group *a, const struct group *b)
{
    return a->of->index == b->of->index && a->of->domain->table == b->of->domain->table &&
           source_key(u, a->of, a->worst.id) == source_key(u, b->of, b->worst.id);
}

static void merge_runs(struct merging *u)
{
    for (size_t i = 0; i < u->groups.count; i++) {
        struct group *g = &u->groups.items[i];
        for (size_t k = 0; k < i && !g->dropped && g->of->run != RUN_NONE; k++) {
            struct group *other = &u->groups.items[k];
            if (other->dropped || other->of->run == g->of->run || !same_thing(u, g, other))
                continue;
            struct group *kept = g->severity > other->severity ? g : other, *gone = kept == g ? other : g;
            if (!other->runs.len)
                add_run(u, other, other->of->run);
            add_run(u, other, g->of->run);
            if (kept == g) {
                buf_release(&g->runs);
                g->runs = other->runs;
                other->runs = (struct buf){0};
            }
            gone->dropped = true;
        }
    }
}

/* ---- findings ------------------------------------------------------------------------------------------------ */

static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return order_of(y->severity, x->severity)
               ?: order_of(y->confidence, x->confidence)
               ?: strcmp(x->property, y->property)
               ?: order_of(x->place, y->place);
}

static const char *evidence(struct merging *u, struct diagnosis *d, const struct group *g)
{
    struct evaluator *ev = u->ev;
    struct buf b = {0};
    bool own = g->of->property->evidence.count > 0;
    buf_str(&b, own ? resolved_text(ev, d->arena, g->of, 1, g->worst.id)
                    : resolved_evidence(ev, d->arena, g->of, &g->worst));
    if (g->copies > 1)
        buf_printf(&b, "%s%zu %s; this is the worst", b.len ? "; " : "", g->copies,
                   g->of->property->together ? "places together"
                   : g->of->domain->table    ? "rows of the table"
                                             : "copies of it in the binary");
    if (g->runs.len)
        buf_printf(&b, "%sin the runs %s", b.len ? "; " : "", g->runs.bytes);
    else if (ev->e->run_count > 1 && g->of->run < ev->e->run_count)
        buf_printf(&b, "%sin the run %s", b.len ? "; " : "", strtab_get(ev->e->strings, ev->e->runs[g->of->run].name));
    const char *text = arena_strdup(d->arena, b.bytes);
    buf_release(&b);
    return text;
}

/* The place where a programmer can change something: the place itself if it has own source; else the function it was
   inlined into, or its most expensive caller. *part: of the group's time, called from there. */
static place_ix own_place(const struct merging *u, const struct group *g, double *part)
{
    enum { PLACES_MOST = 256 };
    const struct experiment *e = u->ev->e;
    const struct resolved *of = g->of;
    size_t metric = evaluator_time(u->ev, of->run), n = 0;
    place_ix own = diagnosis_own_scope(e, g->place), places[PLACES_MOST];
    *part = 1;
    if (g->place == PLACE_NONE || e->places[g->place].kind == PLACE_PROGRAM || own != PLACE_NONE || metric == SIZE_MAX)
        return own == PLACE_NONE ? g->place : own;
    for (size_t i = 0; of->property->together && i < of->candidates.count && n < PLACES_MOST; i++)
        if ((places[n] = domain_place(u->ev, of->domain, of->candidates.items[i].id)) != PLACE_NONE)
            n++;
    if (n == 0)
        places[n++] = g->place;
    own = diagnosis_own_caller(e, metric, places, n, part);
    return own == PLACE_NONE ? g->place : own;
}

/* "malloc in libc.so.6", and how much of it is called from where the finding is. */
static const char *evidence_in_library(const struct merging *u, struct diagnosis *d, const struct group *g, double part)
{
    const struct experiment *e = u->ev->e;
    place_ix module = experiment_enclosing(e, g->place, PLACE_MODULE);
    const char *name = strtab_get(e->strings, e->places[g->place].name),
               *in = module == PLACE_NONE ? "" : strtab_get(e->strings, e->places[module].name);
    if (module == g->place || !*in)
        return arena_printf(d->arena, "in %s, %.0f%% of it called from here", name, 100 * part);
    return arena_printf(d->arena, "%s in %s, %.0f%% of it called from here", name, in, 100 * part);
}

static void make_finding(struct merging *u, struct diagnosis *d, const struct group *g)
{
    struct evaluator *ev = u->ev;
    const struct resolved *of = g->of;
    uint32_t id = g->worst.id;
    double part;
    place_ix own = of->domain->table ? g->place : own_place(u, g, &part);
    const char *text = evidence(u, d, g);
    if (own != g->place)
        text = arena_printf(d->arena, "%s%s%s", text, *text ? "; " : "", evidence_in_library(u, d, g, part));
    bool node = !of->domain->table && of->domain->tree != TREE_SCOPES;
    const char *title = resolved_text(ev, d->arena, of, 0, id);
    *vec_push(&d->findings) = (struct finding){
        .property = of->property->name,
        .title = *title ? title : of->property->name,
        .run = of->run,
        .place = own,
        .tree = of->domain->table ? TREE_SCOPES : of->domain->tree,
        .node = node ? id : NODE_NONE,
        .severity = g->severity,
        .gain_low = g->least,
        .gain_high = g->most,
        .error = g->squares > 0 ? sqrt(g->squares) : NAN,
        .confidence = g->worst.confidence,
        .copies = g->copies,
        .where = node ? diagnose_node_label(d->arena, ev->e, of->domain->tree, id)
                      : diagnose_place_label(d->arena, ev->e, own),
        .evidence = text,
        .explanation = resolved_text(ev, d->arena, of, 2, id),
        .remedy = resolved_text(ev, d->arena, of, 3, id),
    };
}

void diagnosis_make_findings(struct evaluator *ev, struct diagnosis *d)
{
    struct merging u = {.ev = ev};
    for (size_t i = 0; i < ev->resolved.count; i++)
        if (ev->resolved.items[i]->domain && !ev->resolved.items[i]->property->hypothesis)
            merge_property(&u, ev->resolved.items[i]);
    drop_refined(&u);
    merge_runs(&u);
    for (size_t i = 0; i < u.groups.count; i++) {
        if (!u.groups.items[i].dropped)
            make_finding(&u, d, &u.groups.items[i]);
        buf_release(&u.groups.items[i].runs);
    }
    vec_sort(&d->findings, compare_findings);
    vec_release(&u.groups);
}
