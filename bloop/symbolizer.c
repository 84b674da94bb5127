/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of single addresses in the source: each binary is opened once, each address looked up once. */
#include "bloop/bloop.h"

struct named {
    char *module, *text;
    uint64_t address;
};
struct opened {
    char *path;
    struct bloop_binary *binary; /* NULL: it cannot be read */
};
struct bloop_symbolizer {
    struct VEC(struct named) names;
    struct VEC(struct opened) binaries;
};

struct bloop_symbolizer *bloop_symbolizer_create(void)
{
    return mem_calloc(1, sizeof(struct bloop_symbolizer));
}

static struct bloop_binary *binary_of(struct bloop_symbolizer *s, const char *path)
{
    for (size_t i = 0; i < s->binaries.count; i++)
        if (strcmp(s->binaries.items[i].path, path) == 0)
            return s->binaries.items[i].binary;
    struct warnings *ignored = warnings_create();
    struct opened o = {.path = mem_strdup(path)};
    if (*path != '[' && bloop_open(path, NULL, &o.binary, ignored, NULL) < 0)
        o.binary = NULL;
    warnings_free(ignored);
    *vec_push(&s->binaries) = o;
    return o.binary;
}

static const char *procedure_of(const struct scope_tree *t, scope_ix i)
{
    while (i != SCOPE_NONE && t->scopes[i].kind != SCOPE_PROC && t->scopes[i].kind != SCOPE_INLINE)
        i = t->scopes[i].parent;
    return i == SCOPE_NONE ? "" : strtab_get(t->strings, t->scopes[i].short_name);
}

static char *look_up(struct bloop_symbolizer *s, const char *module, uint64_t address)
{
    struct bloop_binary *b = binary_of(s, module);
    struct warnings *ignored = warnings_create();
    struct scope_tree *t = NULL;
    char *text = NULL;
    vaddr at = address;
    if (b && bloop_scopes_at(b, &at, 1, &t, ignored, NULL) == 0 && t) {
        scope_ix i = scope_tree_find(t, at);
        const char *procedure = i == SCOPE_NONE ? "" : procedure_of(t, i);
        const char *file = i == SCOPE_NONE ? "" : strtab_get(t->strings, t->scopes[i].file);
        if (i != SCOPE_NONE && t->scopes[i].kind == SCOPE_STMT && *file)
            text =
                mem_printf("%s:%u%s%s", path_base(file), t->scopes[i].line_first, *procedure ? " in " : "", procedure);
        else if (*procedure)
            text = mem_printf("%s in %s", procedure, path_base(module));
    }
    scope_tree_free(t);
    warnings_free(ignored);
    return text ? text : mem_printf("%s+0x%llx", path_base(module), (unsigned long long)address);
}

const char *bloop_symbolize(struct bloop_symbolizer *s, const char *module, uint64_t address)
{
    for (size_t i = 0; i < s->names.count; i++)
        if (s->names.items[i].address == address && strcmp(s->names.items[i].module, module) == 0)
            return s->names.items[i].text;
    *vec_push(&s->names) = (struct named){mem_strdup(module), look_up(s, module, address), address};
    return s->names.items[s->names.count - 1].text;
}

void bloop_symbolizer_free(struct bloop_symbolizer *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->names.count; i++) {
        mem_free(s->names.items[i].module);
        mem_free(s->names.items[i].text);
    }
    for (size_t i = 0; i < s->binaries.count; i++) {
        mem_free(s->binaries.items[i].path);
        bloop_close(s->binaries.items[i].binary);
    }
    vec_release(&s->names);
    vec_release(&s->binaries);
    mem_free(s);
}
