/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every sampled address in its own chain of scopes.
 *
 *     (a.out, 0x1184)  ->  a.out > heat.f90 > heat_solve > loop 52 > dot, called at 54 > loop 12 > line 13
 *
 * A place is created when the first sample needs it, so all places have data, or descendants with data.
 */
#include "metrics/join/join.h"
#include "support/sort.h"

#include <stdlib.h>

/* ---- places -------------------------------------------------------------------------- */

struct wanted { /* a place to be found */
    const struct correlation *c;
    struct identity identity;
};

static bool same_place(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    struct identity x = w->identity;
    struct identity y = metrics_identity_of(&w->c->places.items[i], w->c->ordinals.items[i]);
    return memcmp(&x, &y, sizeof x) == 0;
}

static place_ix child(struct correlation *c, const struct place *new, uint32_t ordinal)
{
    struct identity id = metrics_identity_of(new, ordinal);
    uint64_t hash = hash_bytes(&id, sizeof id, 0);
    place_ix known = row_index_find(&c->place_index, hash, same_place, &(struct wanted){c, id});
    if (known != ROW_NONE)
        return known;
    row_index_add(&c->place_index, hash, (place_ix)c->places.count);
    *vec_push(&c->places) = *new;
    *vec_push(&c->ordinals) = ordinal;
    return (place_ix)c->places.count - 1;
}

static struct place place_in(place_ix parent, enum place_kind kind)
{
    return (struct place){.parent = parent, .kind = (uint8_t)kind, .file = SOURCE_NONE, .call_file = SOURCE_NONE};
}

static place_ix module_place(struct correlation *c, uint32_t module)
{
    struct place p = place_in(0, PLACE_MODULE);
    p.name = p.full_name = c->modules.items[module].shown;
    return child(c, &p, c->modules.items[module].group);
}

/* The source file of a path as debug information has it; SOURCE_NONE for "". */
static uint32_t file_of(struct correlation *c, const struct config *config, const char *raw, uint32_t module)
{
    if (*raw == '\0')
        return SOURCE_NONE;
    str_id raw_id = strtab_add(c->strings, raw);
    uint64_t version = (uint64_t)c->modules.items[module].version << 33;
    uint32_t *known = hashmap_put(&c->file_index, version | (uint64_t)raw_id << 1);
    if (*known != HASHMAP_NONE)
        return *known;
    char *replaced = config_replaced(config, raw);
    char *normal = path_normal(replaced);
    str_id name = strtab_add(c->strings, normal);
    mem_free(normal);
    mem_free(replaced);
    /* "./a.c" and "a.c" are one file */
    uint32_t *same = hashmap_put(&c->file_index, version | (uint64_t)name << 1 | 1);
    if (*same == HASHMAP_NONE) {
        *same = (uint32_t)c->files.count;
        *vec_push(&c->files) = (struct source_file){.name = name, .raw_name = raw_id};
        *vec_push(&c->file_module) = c->modules.items[module].group;
        *vec_push(&c->file_known) = false;
    }
    uint32_t file = *same;
    *hashmap_put(&c->file_index, version | (uint64_t)raw_id << 1) = file;
    return file;
}

static place_ix file_place(struct correlation *c, uint32_t module, uint32_t file)
{
    struct place p = place_in(module_place(c, module), PLACE_FILE);
    p.file = file;
    return child(c, &p, 0);
}

static place_ix named_proc(struct correlation *c, uint32_t module, uint32_t file, const char *name)
{
    struct place p = place_in(file_place(c, module, file), PLACE_PROC);
    p.file = file;
    p.name = p.full_name = strtab_add(c->strings, name);
    return child(c, &p, UINT32_MAX);
}

static place_ix line_place(struct correlation *c, place_ix parent, uint32_t file, uint32_t line)
{
    struct place p = place_in(parent, PLACE_LINE);
    p.file = line ? file : SOURCE_NONE;
    p.line_first = p.line_last = line;
    return child(c, &p, 0);
}

struct module_scopes { /* the places of one module's scopes, made when first needed */
    struct correlation *c;
    const struct config *config;
    uint32_t module;
    const struct scope_tree *tree;
    place_ix *place;   /* by scope */
    uint32_t *ordinal; /* by scope: how many siblings before it look the same */
    uint32_t *file;    /* by string of the tree: our file, or FILE_UNKNOWN */
    struct VEC(scope_ix) chain;
    /* Of by-line look-ups, built on first use: procedures of a name (3 x scope + which of its names), children. */
    struct hashmap first_named;
    uint32_t *next_named;
    scope_ix *first_child, *next_child;
};
#define FILE_UNKNOWN (UINT32_MAX - 1)

/* The same function inlined twice on one line, clones of a procedure: distinguished by their order. */
static void count_ordinals(struct module_scopes *m)
{
    struct strtab *keys = strtab_create();
    struct VEC(uint32_t) seen = {0}; /* by key */
    m->ordinal = mem_calloc(m->tree->scope_count, sizeof *m->ordinal);
    for (size_t i = 0; i < m->tree->scope_count; i++) {
        const struct scope *s = &m->tree->scopes[i];
        if (s->kind != SCOPE_PROC && s->kind != SCOPE_INLINE && s->kind != SCOPE_LOOP)
            continue;
        uint32_t line = s->kind == SCOPE_LOOP ? s->line_first : 0;
        struct identity id = {s->parent,    s->kind,      s->name,    s->file,     line,
                              s->call_file, s->call_line, s->on_line, s->instance, 0};
        str_id key = strtab_addn(keys, (const char *)&id, sizeof id);
        while (seen.count <= key)
            *vec_push(&seen) = 0;
        m->ordinal[i] = seen.items[key]++;
    }
    vec_release(&seen);
    strtab_free(keys);
}

static uint32_t scope_file(struct module_scopes *m, str_id file)
{
    if (m->file[file] == FILE_UNKNOWN) {
        m->file[file] = file_of(m->c, m->config, strtab_get(m->tree->strings, file), m->module);
        if (m->file[file] != SOURCE_NONE)
            m->c->file_known.items[m->file[file]] = true;
    }
    return m->file[file];
}

static place_ix make_module_place(struct module_scopes *m, const struct scope *s)
{
    const char *folder = strtab_get(m->tree->strings, s->origin);
    if (*folder) {
        char *replaced = config_replaced(m->config, folder);
        m->c->modules.items[m->module].folder = strtab_add(m->c->strings, replaced);
        mem_free(replaced);
    }
    return module_place(m->c, m->module);
}

static place_ix make_place(struct module_scopes *m, scope_ix ix, place_ix parent)
{
    static const uint8_t kinds[] = {
        [SCOPE_MODULE] = PLACE_MODULE, [SCOPE_FILE] = PLACE_FILE, [SCOPE_PROC] = PLACE_PROC,
        [SCOPE_INLINE] = PLACE_INLINE, [SCOPE_LOOP] = PLACE_LOOP,
    };
    const struct scope *s = &m->tree->scopes[ix];
    if (s->kind == SCOPE_MODULE)
        return make_module_place(m, s);
    if (s->kind == SCOPE_FILE)
        return file_place(m->c, m->module, scope_file(m, s->name));
    if (s->kind == SCOPE_STMT)
        return line_place(m->c, parent, scope_file(m, s->file), s->line_first);
    struct place p = place_in(parent, (enum place_kind)kinds[s->kind]);
    p.role = s->kind == SCOPE_LOOP ? s->role : 0;
    p.irreducible = s->irreducible;
    p.file = scope_file(m, s->file);
    p.line_first = s->line_first;
    p.line_last = s->line_last;
    p.on_line = (uint8_t)(s->on_line < ON_LINE_MOST ? s->on_line : ON_LINE_MOST);
    p.instance = s->instance;
    p.instances = s->instances;
    p.address = s->entry;
    if (s->kind != SCOPE_LOOP) {
        const char *full = strtab_get(m->tree->strings, s->name), *brief = strtab_get(m->tree->strings, s->short_name);
        p.full_name = strtab_add(m->c->strings, full);
        p.name = *brief ? strtab_add(m->c->strings, brief) : p.full_name;
    }
    if (s->kind == SCOPE_INLINE) {
        p.call_file = scope_file(m, s->call_file);
        p.call_line = s->call_line;
    }
    return child(m->c, &p, m->ordinal[ix]);
}

/* The place of a scope, and of all around it. */
static place_ix scope_place(struct module_scopes *m, scope_ix ix)
{
    m->chain.count = 0;
    for (scope_ix s = ix; s != SCOPE_NONE && m->place[s] == PLACE_NONE; s = m->tree->scopes[s].parent)
        *vec_push(&m->chain) = s;
    for (size_t i = m->chain.count; i-- > 0;) {
        scope_ix s = m->chain.items[i], parent = m->tree->scopes[s].parent;
        m->place[s] = make_place(m, s, parent == SCOPE_NONE ? 0 : m->place[parent]);
    }
    return m->place[ix];
}

/* ---- sources that know lines alone ----------------------------------------------------- */

/* Two names of a file that differ in how much of the path they give. */
static bool same_file(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n < m)
        return same_file(b, a);
    return m && strcmp(a + n - m, b) == 0 && (n == m || a[n - m - 1] == '/' || b[0] == '/');
}

/* A procedure's full, short and linker's name, and the name of the procedure it is a clone or a part of. */
enum { NAME_OF_ORIGIN = 3, NAMES_OF_PROC = 4 };

/* Procedures by each of their names, and the scopes' children, for looking up lines without walking the tree each time.
 */
static void index_procedures(struct module_scopes *m)
{
    const struct scope_tree *t = m->tree;
    m->next_named = mem_alloc(NAMES_OF_PROC * t->scope_count * sizeof *m->next_named);
    for (size_t i = t->scope_count; i-- > 0;) {
        const struct scope *s = &t->scopes[i];
        str_id names[NAMES_OF_PROC] = {s->name, s->short_name, s->link_name, s->origin};
        for (size_t k = 0; k < NAMES_OF_PROC && s->kind == SCOPE_PROC; k++) {
            uint32_t *first = hashmap_put(&m->first_named, names[k]);
            m->next_named[NAMES_OF_PROC * i + k] = *first;
            *first = (uint32_t)(NAMES_OF_PROC * i + k);
        }
    }
    m->first_child = mem_alloc(t->scope_count * sizeof *m->first_child);
    m->next_child = mem_alloc(t->scope_count * sizeof *m->next_child);
    memset(m->first_child, 0xff, t->scope_count * sizeof *m->first_child);
    for (size_t i = t->scope_count; i-- > 1;) {
        scope_ix parent = t->scopes[i].parent;
        m->next_child[i] = parent == SCOPE_NONE ? SCOPE_NONE : m->first_child[parent];
        if (parent != SCOPE_NONE)
            m->first_child[parent] = (scope_ix)i;
    }
}

/* The procedure of that name in that file ("": not known), else of that name elsewhere; in each, one so named rather
   than a clone of it (the source calls `sum` what the compiler made `sum.constprop.0`). SCOPE_NONE: none. */
static scope_ix proc_by_name(struct module_scopes *m, const char *procedure, const char *file)
{
    const struct scope_tree *t = m->tree;
    scope_ix found = SCOPE_NONE;
    int least = 4;
    if (!m->next_named)
        index_procedures(m);
    str_id name = strtab_add(t->strings, procedure);
    for (uint32_t i = hashmap_get(&m->first_named, name); i != HASHMAP_NONE && least > 0; i = m->next_named[i]) {
        scope_ix proc = i / NAMES_OF_PROC;
        bool elsewhere = *file && !same_file(strtab_get(t->strings, t->scopes[proc].file), file);
        int rank = 2 * elsewhere + (i % NAMES_OF_PROC == NAME_OF_ORIGIN);
        found = rank < least ? proc : found;
        least = rank < least ? rank : least;
    }
    return found;
}

/* The innermost loop of the procedure whose lines include line `line` of `file` ("": unknown), without inlined
   calls: measurements by line do not have them. A line of a header that was inlined has the numbers of that file, and
   is in no loop of this one. */
static scope_ix loop_by_line(const struct module_scopes *m, scope_ix proc, const char *file, uint32_t line)
{
    scope_ix innermost = proc;
    for (scope_ix i = m->first_child[proc]; i != SCOPE_NONE;) {
        const struct scope *s = &m->tree->scopes[i];
        bool holds = s->kind == SCOPE_LOOP && s->line_first <= line && line <= s->line_last &&
                     (*file == '\0' || same_file(strtab_get(m->tree->strings, s->file), file));
        innermost = holds ? i : innermost;
        i = holds ? m->first_child[i] : m->next_child[i];
    }
    return innermost;
}

/* The procedure's first line is unknown; its first measured line stands for it. */
static void widen(struct place *proc, uint32_t line)
{
    if (line && (proc->line_first == 0 || line < proc->line_first))
        proc->line_first = line;
    if (line > proc->line_last)
        proc->line_last = line;
}

static place_ix place_by_line(struct correlation *c, const struct config *config, struct module_scopes *m,
                              const struct site *s, uint8_t *state)
{
    const char *procedure = strtab_get(c->strings, s->procedure), *file_name = strtab_get(c->strings, s->file);
    const char *own_name = s->own_file ? strtab_get(c->strings, s->own_file) : file_name;
    scope_ix scope = m && *procedure ? proc_by_name(m, procedure, own_name) : SCOPE_NONE;
    *state = s->line ? SITE_LINE : *procedure ? SITE_NO_LINE : SITE_NO_SYMBOL;
    if (scope != SCOPE_NONE) {
        scope = loop_by_line(m, scope, file_name, s->line);
        /* the structure has the file's full path; the measurement usually its last component */
        str_id own = m->tree->scopes[scope].file;
        uint32_t file = *file_name == '\0' || same_file(strtab_get(m->tree->strings, own), file_name)
                            ? scope_file(m, own)
                            : file_of(c, config, file_name, s->module);
        return line_place(c, scope_place(m, scope), file, s->line);
    }
    uint32_t own = file_of(c, config, own_name, s->module), file = file_of(c, config, file_name, s->module);
    place_ix proc = named_proc(c, s->module, own, *procedure ? procedure : "(no symbol)");
    if (file == own)
        widen(&c->places.items[proc], s->line);
    return line_place(c, proc, file, s->line);
}

/* ---- by address ------------------------------------------------------------------------ */

static const char *nothing_known_of(const struct module *m)
{
    return m->state == STRUCTURE_FAILED ? "(no symbols)" : "(no symbol)";
}

static place_ix place_by_address(struct correlation *c, struct module_scopes *m, const struct site *s, uint8_t *state)
{
    scope_ix scope = m ? scope_tree_find((struct scope_tree *)m->tree, s->address) : SCOPE_NONE;
    if (scope != SCOPE_NONE && m->tree->scopes[scope].kind >= SCOPE_PROC) {
        const struct scope *found = &m->tree->scopes[scope];
        place_ix place = scope_place(m, scope);
        *state = found->kind == SCOPE_STMT && found->line_first ? SITE_LINE : SITE_NO_LINE;
        return found->kind == SCOPE_STMT ? place : line_place(c, place, SOURCE_NONE, 0);
    }
    const struct module *module = &c->modules.items[s->module];
    *state = module->state == STRUCTURE_FAILED ? SITE_NO_MODULE : SITE_NO_SYMBOL;
    place_ix proc = named_proc(c, s->module, SOURCE_NONE, nothing_known_of(module));
    return line_place(c, proc, SOURCE_NONE, 0);
}

/* The module whose structure has the site. */
static uint32_t module_of_site(const struct correlation *c, uint32_t site)
{
    const struct site *s = &c->sites.items[site];
    return s->by_line ? c->modules.items[s->module].lines_in : s->module;
}

enum { DIGITS_OF_ADDRESS = 8, DIGITS = 12 };

/* Sites by module, then by address; lines keep their order. */
static uint8_t digit(const void *correlation, uint32_t site, unsigned which)
{
    const struct correlation *c = correlation;
    const struct site *s = &c->sites.items[site];
    if (which >= DIGITS_OF_ADDRESS)
        return (uint8_t)(module_of_site(c, site) >> 8 * (which - DIGITS_OF_ADDRESS));
    return s->by_line ? 0 : (uint8_t)(s->address >> 8 * which);
}

static bool has_lines(const struct scope_tree *tree)
{
    bool procedures = false;
    for (size_t i = 0; i < tree->scope_count; i++) {
        if (tree->scopes[i].kind == SCOPE_STMT && tree->scopes[i].line_first)
            return true;
        procedures = procedures || tree->scopes[i].kind == SCOPE_PROC;
    }
    return !procedures;
}

static void ask_structure(struct correlation *c, uint32_t module, const uint32_t *sites, size_t count,
                          const struct structure_source *source, struct warnings *warnings)
{
    struct VEC(vaddr) addresses = {0};
    struct VEC(double) weights = {0}, samples = {0};
    struct module *m = &c->modules.items[module];
    m->state = STRUCTURE_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct site *s = &c->sites.items[sites[i]];
        if (s->by_line)
            continue;
        if (addresses.count == 0 || addresses.items[addresses.count - 1] != s->address) {
            *vec_push(&addresses) = s->address;
            *vec_push(&weights) = 0;
            *vec_push(&samples) = 0;
        }
        weights.items[weights.count - 1] += c->site_weight[sites[i]];
        samples.items[samples.count - 1] += c->site_samples ? c->site_samples[sites[i]] : 0;
    }
    const struct sampled sampled = {.addresses = addresses.items,
                                    .weights = weights.items,
                                    .samples = c->site_samples ? samples.items : NULL,
                                    .count = addresses.count,
                                    .listed = &c->listed_bytes,
                                    .c = c,
                                    .module = module};
    source->scopes(source->ctx, m, c->strings, &sampled, warnings);
    m->stripped = m->tree && !has_lines(m->tree);
    vec_release(&addresses);
    vec_release(&weights);
    vec_release(&samples);
}

static void place_module(struct correlation *c, const struct config *config, uint32_t module, const uint32_t *sites,
                         size_t count)
{
    struct module_scopes scopes = {.c = c, .config = config, .module = module, .tree = c->modules.items[module].tree};
    if (scopes.tree) {
        size_t strings = strtab_count(scopes.tree->strings);
        scopes.place = mem_alloc(scopes.tree->scope_count * sizeof *scopes.place);
        memset(scopes.place, 0xff, scopes.tree->scope_count * sizeof *scopes.place);
        scopes.file = mem_alloc(strings * sizeof *scopes.file);
        for (size_t i = 0; i < strings; i++)
            scopes.file[i] = FILE_UNKNOWN;
        count_ordinals(&scopes);
    }
    struct module_scopes *known = scopes.tree ? &scopes : NULL;
    for (size_t i = 0; i < count; i++) {
        struct site s = c->sites.items[sites[i]];
        s.module = module;
        uint8_t *state = &c->site_state[sites[i]];
        c->site_place[sites[i]] = s.cut       ? module_place(c, module)
                                  : s.by_line ? place_by_line(c, config, known, &s, state)
                                              : place_by_address(c, known, &s, state);
    }
    if (known) {
        loops_note(c, c->modules.items[module].quality, scopes.place);
        instructions_note(c, &(struct placed_scopes){module, scopes.place, scopes.file});
    }
    mem_free(scopes.place);
    mem_free(scopes.ordinal);
    mem_free(scopes.file);
    vec_release(&scopes.chain);
    hashmap_release(&scopes.first_named);
    mem_free(scopes.next_named);
    mem_free(scopes.first_child);
    mem_free(scopes.next_child);
}

void correlate_place(struct correlation *c, const struct config *config, const struct structure_source *source,
                     struct warnings *warnings, const struct progress *progress)
{
    size_t n = c->sites.count;
    uint32_t *order = sort_digits(c, c->sites.count, DIGITS, digit);
    c->site_weight = instructions_weigh_sites(c);
    c->site_samples = instructions_site_samples(c);
    correlate_loop_counts(c);
    c->site_place = mem_alloc(n * sizeof *c->site_place);
    c->site_state = mem_calloc(n, 1);
    for (size_t from = 0, to; from < n; from = to) {
        uint32_t module = module_of_site(c, order[from]);
        for (to = from; to < n && module_of_site(c, order[to]) == module;)
            to++;
        progress_report(progress, "analysing modules", from, n);
        ask_structure(c, module, order + from, to - from, source, warnings);
        place_module(c, config, module, order + from, to - from);
        correlate_free_structure(&c->modules.items[module]);
    }
    progress_report(progress, "analysing modules", n, n);
    mem_free(order);
    instructions_count(c);
    row_index_release(&c->place_index);
    if (source->end)
        source->end(source->ctx);
}
