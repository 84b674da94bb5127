/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A module's structure: from a structure file if one was given for it, else from the binary itself, on demand for the
 * sampled addresses.
 *
 * A binary that has another build id than the one that ran would put samples into the wrong functions with a straight
 * face, so it is not used.
 */
#include "metrics/code/code.h"

#include <sys/stat.h>

struct module_in_file { /* one MODULE of a structure file */
    struct scope_tree *tree;
    scope_ix module;
    const char *name;
    const char *build_id; /* the only one that it is of, or NULL: of any; lent by the tree */
    bool alone;           /* the file has no other: its tree can be used as it is */
};

struct structures {
    struct VEC(struct scope_tree *) trees;
    struct VEC(struct module_in_file) modules;
    struct VEC(struct module_in_file) kept; /* functions alone, of measurements */
    struct VEC(const char *) debug_dirs;
    struct bloop_options options;
    struct loop_machines machines;
    bool instructions; /* are requested */
};

static void list_modules(struct structures *s, struct scope_tree *tree)
{
    size_t first = s->modules.count;
    for (size_t i = 0; i < tree->scope_count; i++)
        if (tree->scopes[i].kind == SCOPE_MODULE)
            *vec_push(&s->modules) = (struct module_in_file){
                .tree = tree, .module = (scope_ix)i, .name = strtab_get(tree->strings, tree->scopes[i].name)};
    if (s->modules.count == first + 1 && s->modules.items[first].module == 0)
        s->modules.items[first].alone = true;
}

static int failed(struct structures *s, struct structures **result)
{
    structures_free(s);
    *result = NULL;
    return -1;
}

int structures_open(const struct config *config, const struct progress *progress, struct structures **result,
                    struct warnings *warnings, struct err *err)
{
    struct structures *s = mem_calloc(1, sizeof *s);
    struct err_gathered errors = {0};
    *result = s;
    for (size_t i = 0; i < config->debug_dirs.count; i++)
        *vec_push(&s->debug_dirs) = config->debug_dirs.items[i];
    *vec_push(&s->debug_dirs) = NULL;
    s->options =
        (struct bloop_options){.debug_dirs = s->debug_dirs.items, .threads = config->threads, .progress = progress};
    s->machines = (struct loop_machines){.folder = config->machines, .named = config->machine, .llvm = config->llvm};
    s->instructions = config->instructions;
    for (size_t i = 0; i < config->structures.count; i++) {
        struct scope_tree *tree = NULL;
        int status = scope_tree_read(config->structures.items[i], &tree, warnings, err);
        if (status == 0) {
            *vec_push(&s->trees) = tree;
            list_modules(s, tree);
        } else if (!err_gather(&errors, err))
            return failed(s, result);
    }
    return err_gathered(&errors, err) < 0 ? failed(s, result) : 0;
}

static void free_trees(void *ctx)
{
    struct structures *s = ctx;
    for (size_t i = 0; i < s->trees.count; i++)
        scope_tree_free(s->trees.items[i]);
    s->trees.count = 0;
    vec_release(&s->modules);
    vec_release(&s->kept);
}

void structures_free(struct structures *s)
{
    if (!s)
        return;
    free_trees(s);
    vec_release(&s->trees);
    vec_release(&s->debug_dirs);
    loops_machines_release(&s->machines);
    mem_free(s);
}

static str_id moved(struct scope_tree *to, const struct scope_tree *from, str_id id)
{
    return strtab_add(to->strings, strtab_get(from->strings, id));
}

static scope_ix copy_scope(struct scope_tree *to, const struct scope_tree *from, const struct scope *given,
                           scope_ix parent)
{
    struct scope s = *given;
    s.parent = parent;
    s.name = moved(to, from, s.name);
    s.short_name = moved(to, from, s.short_name);
    s.link_name = moved(to, from, s.link_name);
    s.origin = moved(to, from, s.origin);
    s.file = moved(to, from, s.file);
    s.call_file = moved(to, from, s.call_file);
    to->scopes[to->scope_count] = s;
    return (scope_ix)to->scope_count++;
}

/* One module of a tree that may hold several, whose addresses overlap: a tree of its own. */
static struct scope_tree *one_module(const struct scope_tree *from, scope_ix module)
{
    struct scope_tree *to = scope_tree_create();
    scope_ix *copy = mem_alloc(from->scope_count * sizeof *copy);
    to->scopes = mem_calloc(from->scope_count, sizeof *to->scopes);
    to->ranges = mem_calloc(from->range_count, sizeof *to->ranges);
    if (from->range_count)
        memcpy(to->ranges, from->ranges, from->range_count * sizeof *to->ranges);
    to->range_count = from->range_count;
    for (size_t i = 0; i < from->scope_count; i++) {
        const struct scope *s = &from->scopes[i];
        bool inside = i == module || (s->parent != SCOPE_NONE && copy[s->parent] != SCOPE_NONE);
        copy[i] = inside ? copy_scope(to, from, s, i == module ? SCOPE_NONE : copy[s->parent]) : SCOPE_NONE;
    }
    mem_free(copy);
    return to;
}

void structures_add(struct structures *s, struct scope_tree *tree, const char *build_id)
{
    size_t first = s->modules.count;
    *vec_push(&s->trees) = tree;
    list_modules(s, tree);
    s->modules.count = first + 1; /* of one name twice: it is one module */
    s->modules.items[first].build_id = strtab_get(tree->strings, strtab_add(tree->strings, build_id));
    s->modules.items[first].alone = true;
}

void structures_add_kept(struct structures *s, struct scope_tree *tree, const char *build_id)
{
    *vec_push(&s->trees) = tree;
    *vec_push(&s->kept) =
        (struct module_in_file){.tree = tree,
                                .name = strtab_get(tree->strings, tree->scopes[0].name),
                                .build_id = strtab_get(tree->strings, strtab_add(tree->strings, build_id))};
}

/* The structure given for a module: of the same path, else of the same base name. */
static const struct module_in_file *given_for(const struct structures *s, const char *path, const char *raw_path,
                                              const char *build_id)
{
    for (size_t i = 0; i < s->modules.count; i++)
        if (s->modules.items[i].build_id && strcmp(s->modules.items[i].build_id, build_id) == 0 &&
            strcmp(s->modules.items[i].name, raw_path) == 0)
            return &s->modules.items[i];
    for (size_t i = 0; i < s->modules.count; i++)
        if (!s->modules.items[i].build_id &&
            (strcmp(s->modules.items[i].name, path) == 0 || strcmp(s->modules.items[i].name, raw_path) == 0))
            return &s->modules.items[i];
    for (size_t i = 0; i < s->modules.count; i++)
        if (!s->modules.items[i].build_id && strcmp(path_base(s->modules.items[i].name), path_base(path)) == 0)
            return &s->modules.items[i];
    return NULL;
}

/* "/home/x/libfoo.so: reason" without its first part, which the warning that uses it repeats. */
static char *without_path(const char *message, const char *path)
{
    size_t n = strlen(path);
    if (strncmp(message, path, n) == 0 && str_starts(message + n, ": "))
        message += n + 2;
    return mem_strdup(message);
}

static void from_binary(struct structures *s, struct module *m, const char *path, const char *build_id,
                        const struct sampled *sampled, struct warnings *warnings)
{
    struct bloop_binary *binary = NULL;
    struct err err = {0};
    m->state = STRUCTURE_FAILED;
    if (bloop_open(path, &s->options, &binary, warnings, &err) < 0) {
        m->why = without_path(err.msg, path);
        return;
    }
    const char *own_id = bloop_build_id(binary);
    if (*build_id && *own_id && strcmp(build_id, own_id) != 0) {
        if (path[0] == '[')
            m->why = mem_strdup("was measured with another kernel");
        else
            m->why = mem_printf("was rebuilt since it was measured (build id %.12s... here, %.12s... measured)", own_id,
                                build_id);
    } else if (bloop_scopes_at(binary, sampled->addresses, sampled->count, &m->tree, warnings, &err) < 0)
        m->why = without_path(err.msg, path);
    else {
        m->state = STRUCTURE_FOUND;
        m->built = compilers_of_sampled(binary, m->tree, sampled, warnings);
        m->quality = loops_analyze(&s->machines, binary, m->tree, sampled, warnings);
        if (s->instructions)
            m->listing = instructions_list(&s->machines, binary, m->tree, sampled, warnings);
    }
    bloop_close(binary);
}

/* The binary as it was when it was measured, by build id: debuginfod's copy, else its debug file, there or in a tree
   of debug files. The latter has the functions' names and addresses, but no code for finding loops and lines. */
enum kept { KEPT_BINARY, KEPT_DEBUGINFO, KEPT_DEBUG_FILE, KEPT_KINDS };

static char *kept_path(const char *dir, const char *build_id, enum kept kind)
{
    if (kind == KEPT_DEBUG_FILE)
        return mem_printf("%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2);
    return mem_printf("%s/%s/%s", dir, build_id, kind == KEPT_BINARY ? "executable" : "debuginfo");
}

static void from_kept(struct structures *s, struct module *m, const char *dir, const char *build_id, enum kept kind,
                      const struct sampled *sampled, struct warnings *warnings)
{
    char *path = kept_path(dir, build_id, kind), *why = m->why;
    m->why = NULL;
    from_binary(s, m, path, build_id, sampled, warnings);
    if (m->state == STRUCTURE_FOUND && kind == KEPT_BINARY)
        mem_free(why);
    else { /* the fault of its own file is the reason */
        mem_free(m->why);
        m->why = why;
        m->names_from = "its debug file"; /* read where that was found */
    }
    mem_free(path);
}

/* Functions stored in the measurements themselves. */
static void from_measurements(const struct structures *s, struct module *m, const char *raw_path, const char *build_id,
                              const struct sampled *sampled)
{
    for (size_t i = 0; i < s->kept.count; i++) {
        struct scope_tree *tree = s->kept.items[i].tree;
        bool found = false;
        if (strcmp(s->kept.items[i].name, raw_path) != 0 || strcmp(s->kept.items[i].build_id, build_id) != 0)
            continue;
        for (size_t k = 0; k < sampled->count && !found; k++)
            found = scope_tree_find(tree, sampled->addresses[k]) != SCOPE_NONE;
        if (!found)
            return;
        m->tree = tree;
        m->lent = true;
        m->state = STRUCTURE_FOUND;
        m->names_from = "the measurement";
        return;
    }
}

/* The binary where it lay, or what was kept of it. */
static void from_any_binary(struct structures *s, struct module *m, const struct strtab *strings,
                            const struct sampled *sampled, struct warnings *warnings)
{
    static const char *const system = "/usr/lib/debug";
    const char *build_id = strtab_get(strings, m->build_id);
    from_binary(s, m, strtab_get(strings, m->path), build_id, sampled, warnings);
    bool hex = strlen(build_id) > 2 && build_id[strspn(build_id, "0123456789abcdef")] == '\0';
    for (enum kept kind = 0; hex && m->state == STRUCTURE_FAILED && kind < KEPT_KINDS; kind++)
        for (size_t i = 0; m->state == STRUCTURE_FAILED && i < s->debug_dirs.count; i++) {
            const char *dir = s->debug_dirs.items[i] ? s->debug_dirs.items[i] : system;
            from_kept(s, m, dir, build_id, kind, sampled, warnings);
        }
    if (m->state == STRUCTURE_FAILED)
        from_measurements(s, m, strtab_get(strings, m->raw_path), build_id, sampled);
}

static void scopes(void *ctx, struct module *m, const struct strtab *strings, const struct sampled *sampled,
                   struct warnings *warnings)
{
    struct structures *s = ctx;
    const char *path = strtab_get(strings, m->path);
    const struct module_in_file *given =
        given_for(s, path, strtab_get(strings, m->raw_path), strtab_get(strings, m->build_id));
    if (given) {
        m->lent = given->alone;
        m->tree = given->alone ? given->tree : one_module(given->tree, given->module);
        m->state = STRUCTURE_FOUND;
    } else if (sampled->count == 0 || (path[0] == '[' && strcmp(path, "[vdso]") != 0))
        m->state = STRUCTURE_NONE; /* lines alone, or code that no file holds */
    else
        from_any_binary(s, m, strings, sampled, warnings);
}

struct structure_source structures_source(struct structures *s)
{
    return (struct structure_source){scopes, s, free_trees};
}
