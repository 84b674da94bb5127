/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences between runs, in addition to command and machine: how its modules were compiled, and the environment
 * variables that the recorder noted.
 */
#include "metrics/join/join.h"

#include <stdlib.h>

struct entries {
    struct VEC(struct environment_entry) list;
    struct hashmap at; /* by name, where in the list */
    const struct strtab *strings;
};

/* If processes disagree, the first one read counts. */
static void add(struct entries *entries, str_id name, str_id value)
{
    uint32_t *at = hashmap_put(&entries->at, name);
    if (*at == HASHMAP_NONE) {
        *at = (uint32_t)entries->list.count;
        *vec_push(&entries->list) = (struct environment_entry){name, value};
    }
    struct environment_entry *known = &entries->list.items[*at];
    if (strcmp(strtab_get(entries->strings, value), strtab_get(entries->strings, known->value)) < 0)
        known->value = value;
}

static int by_name(const void *a, const void *b, void *strings)
{
    const struct environment_entry *x = a, *y = b;
    return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static void take_notes(struct experiment *e, const struct hpcprof *p, struct entries *entries)
{
    for (size_t i = 0; i < p->note_count; i++) {
        const char *name = strtab_get(p->strings, p->notes[i].name);
        if (str_starts(name, ENVIRONMENT_VARIABLE) || str_starts(name, ENVIRONMENT_BUILT))
            add(entries, strtab_add(e->strings, name),
                strtab_add(e->strings, strtab_get(p->strings, p->notes[i].value)));
    }
}

/* The program itself has no name in comparisons: two builds of it have two. */
static const char *name_of(const struct correlation *c, const struct module *m)
{
    return m->program ? "the program" : module_base_name(strtab_get(c->strings, m->path));
}

void environment_take(struct experiment *e, const struct correlation *c, const struct input *inputs, size_t input_count,
                      uint32_t run)
{
    struct entries entries = {.strings = e->strings};
    for (size_t i = 0; i < c->uses.count; i++) {
        const struct module *m = &c->modules.items[c->uses.items[i].module];
        if (c->uses.items[i].run == run && m->built)
            add(&entries, strtab_printf(e->strings, ENVIRONMENT_BUILT "%s", name_of(c, m)),
                strtab_add(e->strings, m->built));
    }
    for (size_t i = 0; i < input_count; i++)
        if (inputs[i].run == run)
            take_notes(e, inputs[i].profile, &entries);
    if (entries.list.count)
        qsort_r(entries.list.items, entries.list.count, sizeof *entries.list.items, by_name, e->strings);
    e->runs[run].environment = entries.list.items;
    e->runs[run].environment_count = (uint32_t)entries.list.count;
    hashmap_release(&entries.at);
}
