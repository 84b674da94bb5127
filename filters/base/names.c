/* SPDX-License-Identifier: BSD-3-Clause */
/* Demangling of linker names. */
#include "filters/base/base.h"
#include "support/demangle.h"

/* gfortran's "__heat_MOD_solve" is solve of module heat. */
static str_id fortran_name(struct strtab *strings, const char *name, const char *mark)
{
    const char *module = name + 2, *procedure = mark + strlen("_MOD_");
    return mark == module || !*procedure ? strtab_add(strings, name)
                                         : strtab_printf(strings, "%.*s::%s", (int)(mark - module), module, procedure);
}

const char *names_in_words(struct names *n, struct strtab *strings, const char *name)
{
    const char *mark = str_starts(name, "__") ? strstr(name + 2, "_MOD_") : NULL;
    if (!mark && !str_starts(name, "_Z") && !str_starts(name, "_R"))
        return name;
    uint32_t *slot = hashmap_put(&n->known, strtab_add(strings, name));
    if (*slot == HASHMAP_NONE) {
        struct arena *arena = arena_create();
        *slot = mark ? fortran_name(strings, name, mark) : strtab_add(strings, demangle_full(arena, name));
        arena_free(arena);
    }
    return strtab_get(strings, *slot);
}

void names_release(struct names *n)
{
    hashmap_release(&n->known);
}
