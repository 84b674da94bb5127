/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next measurements: for each property that could not be tested, and whose parent holds (or that has none), its
 * requirements. Tables are requested for the procedures in which the parent was found, as they cost more than counts.
 */
#include "diagnose/search/search.h"

enum { ASKED_MOST = 64 };

static bool is_asked(const struct diagnose_measurements *w, const char *event, const char *made_by, place_ix procedure)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct diagnose_measurement *x = &w->items[i];
        bool same = event ? x->event && strcmp(x->event, event) == 0
                          : x->made_by && made_by && strcmp(x->made_by, made_by) == 0 &&
                                (x->procedure == PLACE_NONE || x->procedure == procedure);
        if (same)
            return true;
    }
    return w->count == ASKED_MOST;
}

/* Steps of the parent that hold; SIZE_MAX if it has no parent. */
static bool parent_holds(const struct diagnosis *d, const struct properties *p, const struct property *of)
{
    if (of->refines == NONE)
        return true;
    const char *parent = p->list.items[of->refines]->name;
    for (size_t i = 0; i < d->search.count; i++)
        if (d->search.items[i].state == SEARCH_TRUE && strcmp(d->search.items[i].property, parent) == 0)
            return true;
    return false;
}

static void ask_event(struct diagnose_measurements *w, const struct property *of, const char *event)
{
    if (!is_asked(w, event, NULL, PLACE_NONE))
        *vec_push(w) = (struct diagnose_measurement){.event = event, .procedure = PLACE_NONE, .property = of->name};
}

static void ask_table(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                      struct diagnose_measurements *w, const struct property *of, const char *table)
{
    const char *made_by = properties_table_maker(p, table), *parent = of->refines_name;
    bool any = false;
    for (size_t i = 0; made_by && parent && i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        place_ix procedure = s->state == SEARCH_TRUE && strcmp(s->property, parent) == 0
                                 ? experiment_enclosing(e, s->place, PLACE_PROC)
                                 : PLACE_NONE;
        any = any || procedure != PLACE_NONE;
        if (procedure != PLACE_NONE && !is_asked(w, NULL, made_by, procedure))
            *vec_push(w) =
                (struct diagnose_measurement){.made_by = made_by, .procedure = procedure, .property = of->name};
    }
    if (made_by && !any && !is_asked(w, NULL, made_by, PLACE_NONE))
        *vec_push(w) = (struct diagnose_measurement){.made_by = made_by, .procedure = PLACE_NONE, .property = of->name};
}

void diagnosis_next_measurements(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                                 struct diagnose_measurements *w)
{
    struct evaluator ev;
    evaluator_init(&ev, e, p, &(struct diagnose_options){.one_program = true});
    evaluator_resolve(&ev);
    for (size_t i = 0; i < ev.resolved.count; i++) {
        const struct resolved *of = ev.resolved.items[i];
        if (of->domain || !parent_holds(d, p, of->property))
            continue;
        for (size_t k = 0; k < of->lacking.count; k++) {
            const char *lacking = of->lacking.items[k];
            if (str_starts(lacking, "table "))
                ask_table(e, p, d, w, of->property, lacking + strlen("table "));
            else { /* METRIC's names are the properties' own, and live as long as they do */
                const struct alias *a = properties_alias(p, lacking);
                for (size_t n = 0; !a && n < p->aliases.count; n++)
                    a = strcmp(p->aliases.items[n].names.items[0], lacking) == 0 ? &p->aliases.items[n] : NULL;
                ask_event(w, of->property, a ? a->names.items[0] : arena_strdup(d->arena, lacking));
            }
        }
    }
    evaluator_release(&ev);
}
