/* What single addresses are called in the source: each binary is opened once, each address looked up once. */
#include "driver/lines.h"
#include "bloop/bloop.h"

struct line {
    char *module, *text;
    uint64_t address;
};
static struct VEC(struct line) lines;

struct opened {
    char *path;
    struct bloop_binary *binary; /* NULL: it cannot be read */
};
static struct VEC(struct opened) binaries;

static struct bloop_binary *binary_of(const char *path)
{
    for (size_t i = 0; i < binaries.count; i++)
        if (strcmp(binaries.items[i].path, path) == 0)
            return binaries.items[i].binary;
    struct warnings *unsaid = warnings_create();
    struct opened o = {.path = mem_strdup(path)};
    if (*path != '[' && bloop_open(path, NULL, &o.binary, unsaid, NULL) < 0)
        o.binary = NULL;
    warnings_free(unsaid);
    *vec_push(&binaries) = o;
    return o.binary;
}

static const char *procedure_of(const struct scope_tree *t, scope_ix i)
{
    while (i != SCOPE_NONE && t->scopes[i].kind != SCOPE_PROC && t->scopes[i].kind != SCOPE_INLINE)
        i = t->scopes[i].parent;
    return i == SCOPE_NONE ? "" : strtab_get(t->strings, t->scopes[i].short_name);
}

static char *look_up(const char *module, uint64_t address)
{
    struct bloop_binary *b = binary_of(module);
    struct warnings *unsaid = warnings_create();
    struct scope_tree *t = NULL;
    char *text = NULL;
    vaddr at = address;
    if (b && bloop_scopes_at(b, &at, 1, &t, unsaid, NULL) == 0 && t) {
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
    warnings_free(unsaid);
    return text ? text : mem_printf("%s+0x%llx", path_base(module), (unsigned long long)address);
}

const char *lines_of(const char *module, uint64_t address)
{
    for (size_t i = 0; i < lines.count; i++)
        if (lines.items[i].address == address && strcmp(lines.items[i].module, module) == 0)
            return lines.items[i].text;
    *vec_push(&lines) = (struct line){mem_strdup(module), look_up(module, address), address};
    return lines.items[lines.count - 1].text;
}

void lines_release(void)
{
    for (size_t i = 0; i < lines.count; i++) {
        mem_free(lines.items[i].module);
        mem_free(lines.items[i].text);
    }
    for (size_t i = 0; i < binaries.count; i++) {
        mem_free(binaries.items[i].path);
        bloop_close(binaries.items[i].binary);
    }
    vec_release(&lines);
    vec_release(&binaries);
}
