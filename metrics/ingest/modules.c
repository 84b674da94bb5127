/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching modules of several runs: by build id and path, by name, or by their role.
 */
#include "metrics/ingest/ingest.h"

/* A measurement with lines only names a module without its build id: it is the one of that path which has one. */
static void find_same_paths(struct correlation *c)
{
    struct hashmap known = {0};
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t *slot = hashmap_put(&known, c->modules.items[i].path);
        if (*slot == HASHMAP_NONE || !c->modules.items[*slot].build_id)
            *slot = i;
    }
    for (uint32_t i = 0; i < c->modules.count; i++)
        c->modules.items[i].lines_in = c->modules.items[i].build_id ? i : hashmap_get(&known, c->modules.items[i].path);
    hashmap_release(&known);
}

/* Or else the one that shares its place. */
static void find_same_places(struct correlation *c)
{
    struct hashmap known = {0};
    for (uint32_t i = 0; i < c->modules.count; i++)
        if (c->modules.items[i].build_id && hashmap_get(&known, c->modules.items[i].group) == HASHMAP_NONE)
            *hashmap_put(&known, c->modules.items[i].group) = i;
    for (uint32_t i = 0; i < c->modules.count; i++) {
        struct module *m = &c->modules.items[i];
        uint32_t same = hashmap_get(&known, m->group);
        if (!m->build_id && m->lines_in == i && same != HASHMAP_NONE)
            m->lines_in = same;
    }
    hashmap_release(&known);
}

/* Gives the modules of one key, one in each run, to the first of them; key 0: to none. */
static void group_by(struct correlation *c, const str_id *key)
{
    struct hashmap leader = {0}, in_run = {0}; /* by key, HASHMAP_NONE: two of one run have it; by key and run */
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t *slot = hashmap_put(&leader, key[i]);
        *slot = *slot == HASHMAP_NONE ? i : *slot;
    }
    for (size_t i = 0; i < c->uses.count; i++) {
        uint32_t module = c->modules.items[c->uses.items[i].module].lines_in;
        uint32_t *slot = hashmap_put(&in_run, (uint64_t)key[module] << 32 | c->uses.items[i].run);
        if (*slot != HASHMAP_NONE && *slot != module)
            *hashmap_put(&leader, key[module]) = HASHMAP_NONE;
        *slot = module;
    }
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t first = hashmap_get(&leader, key[i]);
        if (key[i] && first != HASHMAP_NONE && c->modules.items[i].group == c->modules.items[i].lines_in)
            c->modules.items[i].group = first;
    }
    hashmap_release(&leader);
    hashmap_release(&in_run);
}

/* "libm-2.31.so", "libm.so.6": libm; "" if it is not a library. */
static char *library_name(const char *name)
{
    const char *end = strstr(name, ".so");
    if (!end || (end[3] && end[3] != '.'))
        return mem_strdup("");
    while (end > name && ((end[-1] >= '0' && end[-1] <= '9') || end[-1] == '.' || end[-1] == '-'))
        end--;
    return mem_strndup(name, (size_t)(end - name));
}

/* A text that may identify a module with another build of it; "" none. */
static char *role_of(const struct correlation *c, uint32_t module, bool has_namesake, bool among_programs)
{
    const struct module *m = &c->modules.items[module];
    if (m->program && among_programs && !m->role)
        return mem_strdup("program");
    char *library = library_name(correlate_module_name(c, module));
    char *role = *library && !has_namesake ? mem_printf("library %s", library) : mem_strdup("");
    mem_free(library);
    return role;
}

/* The program of one run is the program of another, whatever the files are called, unless that name is in the other run
   something else (a script's interpreter is its program), or a configuration gives it a role; libraries without a
   namesake in another run may be versions of one. */
static void group_similar(struct correlation *c)
{
    size_t n = c->modules.count;
    str_id *key = mem_calloc(n, sizeof *key);
    bool *has_namesake = mem_calloc(n, 1), *among_programs = mem_alloc(n); /* the latter by group */
    memset(among_programs, true, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct module *m = &c->modules.items[i];
        if (m->group != i)
            has_namesake[i] = has_namesake[m->group] = true;
        among_programs[m->group] = among_programs[m->group] && m->program;
    }
    for (uint32_t i = 0; i < n; i++) {
        char *role = role_of(c, i, has_namesake[i], among_programs[c->modules.items[i].group]);
        key[i] = strtab_add(c->strings, role);
        mem_free(role);
    }
    group_by(c, key);
    mem_free(key);
    mem_free(has_namesake);
    mem_free(among_programs);
}

/* Builds of one module have each their version of its sources. */
static void number_versions(struct correlation *c)
{
    uint32_t *builds = mem_calloc(c->modules.count, sizeof *builds);
    for (uint32_t i = 0; i < c->modules.count; i++)
        if (c->modules.items[i].lines_in == i)
            c->modules.items[i].version = builds[c->modules.items[i].group]++;
    for (uint32_t i = 0; i < c->modules.count; i++)
        c->modules.items[i].version = c->modules.items[c->modules.items[i].lines_in].version;
    mem_free(builds);
}

void correlate_group_modules(struct correlation *c)
{
    str_id *key = mem_calloc(c->modules.count, sizeof *key);
    find_same_paths(c);
    for (uint32_t i = 0; i < c->modules.count; i++) {
        c->modules.items[i].group = c->modules.items[i].lines_in;
        key[i] = strtab_add(c->strings, correlate_module_name(c, i));
    }
    group_by(c, key);
    group_similar(c);
    find_same_places(c);
    number_versions(c);
    mem_free(key);
}
