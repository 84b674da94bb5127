/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place where a programmer can change the use of a library: the first frame, from the inside out, with source of
 * the program's own. The system's headers (templates, inline functions) count as library.
 */
#include "diagnose/search/search.h"

#include <math.h>

static bool is_system_file(const char *path)
{
    static const char *const folders[] = {"/usr/include/", "/usr/lib/", "/opt/"};
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        if (str_starts(path, folders[i]))
            return true;
    return false;
}

static bool is_in_library(const struct experiment *e, place_ix place)
{
    place_ix module = experiment_enclosing(e, place, PLACE_MODULE);
    return module != PLACE_NONE && strstr(strtab_get(e->strings, e->places[module].name), ".so") != NULL;
}

/* A procedure, inlined call, loop or line with source of the program's own: a library's counts if its text is here. */
static bool is_own_source(const struct experiment *e, place_ix place)
{
    const struct place *p = &e->places[place];
    if (p->kind < PLACE_PROC || !p->line_first || p->file >= e->file_count)
        return false;
    const struct source_file *f = &e->files[p->file];
    return !is_system_file(strtab_get(e->strings, f->raw_name)) &&
           (*strtab_get(e->strings, f->found) || !is_in_library(e, place));
}

/* The innermost scope with own source around the place: the function it was inlined into. */
static place_ix own_scope_around(const struct experiment *e, place_ix place)
{
    while (place != PLACE_NONE && e->places[place].kind >= PLACE_PROC && !is_own_source(e, place))
        place = e->places[place].parent;
    return place != PLACE_NONE && e->places[place].kind >= PLACE_PROC ? place : PLACE_NONE;
}

static size_t calls_tree(const struct experiment *e)
{
    for (size_t i = 0; i < e->tree_count; i++)
        if (i != TREE_SCOPES && strcmp(strtab_get(e->strings, e->trees[i].name), TREE_CALLS_NAME) == 0)
            return i;
    return SIZE_MAX;
}

/* The first frame with own source around this one; PLACE_NONE: there is none. */
static place_ix own_frame(const struct experiment *e, size_t tree, uint32_t node, const uint8_t *inside)
{
    for (uint32_t up = node; up != NODE_NONE; up = experiment_node_parent(e, tree, up)) {
        place_ix place = experiment_node_place(e, tree, up),
                 own = place == PLACE_NONE ? place : own_scope_around(e, place);
        if (own != PLACE_NONE && !inside[own])
            return own;
    }
    return PLACE_NONE;
}

/* The module of a finding is a place inside it only if it is a library's: samples of the program's callbacks in MPI do not
   make the program one. "[unknown]" has no name to decide by. */
static bool is_program(const struct experiment *e, place_ix module)
{
    return !is_in_library(e, module) && *strtab_get(e->strings, e->places[module].name) != '[';
}

static bool is_inside(const struct experiment *e, size_t tree, uint32_t node, const uint8_t *inside)
{
    place_ix place = node == NODE_NONE ? PLACE_NONE : experiment_node_place(e, tree, node);
    return place != PLACE_NONE && inside[place];
}

/* Adds the values of the nodes inside to the callers' costs, and gives the caller with most. Inclusive values are those of
   the outermost nodes, which contain the others. */
static place_ix add_costs(const struct experiment *e, size_t metric, size_t tree, enum value_form form,
                          const uint8_t *inside, double *cost, double *all)
{
    place_ix most = PLACE_NONE;
    for (uint32_t node = 1; node < e->trees[tree].node_count; node++) {
        if (!is_inside(e, tree, node, inside) ||
            (form == VALUE_INCLUSIVE && is_inside(e, tree, experiment_node_parent(e, tree, node), inside)))
            continue;
        double value = experiment_node_value(e, tree, metric, node, form);
        place_ix own = value > 0 ? own_frame(e, tree, node, inside) : PLACE_NONE;
        *all += value > 0 ? value : 0;
        if (own == PLACE_NONE)
            continue;
        cost[own] += value;
        most = most == PLACE_NONE || cost[own] > cost[most] ? own : most;
    }
    return most;
}

place_ix diagnosis_own_caller(const struct experiment *e, size_t metric, const place_ix *places, size_t count,
                              double *part)
{
    size_t tree = calls_tree(e);
    uint8_t *inside = mem_calloc(e->place_count + 1, 1);
    double *cost = mem_calloc(e->place_count + 1, sizeof *cost), all = 0;
    place_ix most = PLACE_NONE;
    for (size_t i = 0; i < count; i++)
        inside[places[i]] = e->places[places[i]].kind != PLACE_MODULE || !is_program(e, places[i]);
    for (place_ix i = 1; i < e->place_count; i++)
        inside[i] = inside[i] || inside[e->places[i].parent];
    if (tree != SIZE_MAX)
        most = add_costs(e, metric, tree, VALUE_EXCLUSIVE, inside, cost, &all);
    if (tree != SIZE_MAX && most == PLACE_NONE) {
        all = 0; /* a function that only calls others has no value of its own: then with what it calls */
        most = add_costs(e, metric, tree, VALUE_INCLUSIVE, inside, cost, &all);
    }
    *part = most == PLACE_NONE ? 0 : cost[most] / all;
    mem_free(inside);
    mem_free(cost);
    return most;
}

place_ix diagnosis_own_scope(const struct experiment *e, place_ix place)
{
    return place == PLACE_NONE ? PLACE_NONE : own_scope_around(e, place);
}
