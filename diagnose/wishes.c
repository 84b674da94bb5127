/*
 * What to measure next: for each property that could not be tested, and whose parent holds (or that has none), what it
 * lacks. Tables are asked for the procedures in which the parent was found, as they cost more than counts.
 */
#include "diagnose/diagnose_int.h"

enum { WISHES_MOST = 64 };

static bool known_wish(const struct diagnose_wishes *w, const char *event, const char *made_by, const char *procedure)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct diagnose_wish *x = &w->items[i];
        bool same = event ? x->event && strcmp(x->event, event) == 0
                          : x->made_by && made_by && strcmp(x->made_by, made_by) == 0 &&
                                (!x->procedure || (procedure && strcmp(x->procedure, procedure) == 0));
        if (same)
            return true;
    }
    return w->count == WISHES_MOST;
}

/* Steps of the parent that hold; SIZE_MAX where it has none to hold. */
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

static const char *procedure_of(const struct experiment *e, place_ix place)
{
    while (place != PLACE_NONE && e->places[place].kind != PLACE_PROC)
        place = e->places[place].parent;
    return place == PLACE_NONE ? NULL : strtab_get(e->strings, e->places[place].name);
}

static void wish_event(struct diagnose_wishes *w, const struct property *of, const char *event)
{
    if (!known_wish(w, event, NULL, NULL))
        *vec_push(w) = (struct diagnose_wish){.event = event, .property = of->name};
}

static void wish_table(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                       struct diagnose_wishes *w, const struct property *of, const char *table)
{
    const char *made_by = table_made_by(p, table), *parent = of->refines_name;
    bool any = false;
    for (size_t i = 0; made_by && parent && i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        const char *procedure =
            s->state == SEARCH_TRUE && strcmp(s->property, parent) == 0 ? procedure_of(e, s->place) : NULL;
        any = any || procedure;
        if (procedure && !known_wish(w, NULL, made_by, procedure))
            *vec_push(w) = (struct diagnose_wish){.made_by = made_by, .procedure = procedure, .property = of->name};
    }
    if (made_by && !any && !known_wish(w, NULL, made_by, NULL))
        *vec_push(w) = (struct diagnose_wish){.made_by = made_by, .property = of->name};
}

void diagnosis_wishes(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                      struct diagnose_wishes *w)
{
    struct evaluator ev;
    evaluator_init(&ev, e, p, &(struct diagnose_options){.one_program = true});
    bind_all(&ev);
    for (size_t i = 0; i < ev.bounds.count; i++) {
        const struct bound *of = ev.bounds.items[i];
        if (of->domain || !parent_holds(d, p, of->property))
            continue;
        for (size_t k = 0; k < of->lacking.count; k++) {
            const char *lacking = of->lacking.items[k];
            if (str_starts(lacking, "table "))
                wish_table(e, p, d, w, of->property, lacking + strlen("table "));
            else { /* METRIC's names are the properties' own, and live as long as they do */
                const struct alias *a = alias_named(p, lacking);
                for (size_t n = 0; !a && n < p->aliases.count; n++)
                    a = strcmp(p->aliases.items[n].names.items[0], lacking) == 0 ? &p->aliases.items[n] : NULL;
                wish_event(w, of->property, a ? a->names.items[0] : arena_strdup(d->arena, lacking));
            }
        }
    }
    evaluator_release(&ev);
}
