/*
 * Places of several runs brought together. Where runs used different builds of a module, each build's files, and all
 * below them, were made apart (correlate.c); here what the programmer wrote once becomes one place again:
 *
 *     files       of one path; else of one name, in the module's other builds, that share the longest end of their paths
 *     lines       by a diff of the texts, where both are here; else by number, moved as far as their procedure was
 *     procedures, inlined calls, files         by name; a clone of a procedure also by the name of what it is a clone of
 *     loops       by their first line, else by the lines they share, in order: compilers differ in where one begins
 *
 * Numbers of lines are those of the latest run's source. What has no counterpart stays a place of its own, in its own
 * version of the file: it is shown, and never taken for what has its number now.
 */
#include "metrics/join/join.h"

#include <stdlib.h>

struct position {
    uint32_t file, line;
    bool matched; /* it is in the latest version */
};

struct version { /* of a file in the debug information of one build or several */
    uint64_t runs;
    uint32_t tree;   /* the file's first version: they are in one set */
    uint32_t latest; /* the version that its lines are shown in */
    bool by_text;    /* it differs from the latest in text, and `lines` says how */
    uint32_t *lines; /* metrics_line_diff; NULL: equal */
    size_t line_count;
};

struct matcher {
    struct correlation *c;
    struct warnings *warnings;
    struct version *files;
    uint64_t *place_runs;     /* by old place: runs whose builds have it. Run 63 stands for all after it, too */
    struct row_index extents; /* old PROC and INLINE places by file and name: where functions are */
    int32_t *votes;           /* by old PROC or INLINE place: lines that say that it has moved, less those against */
    struct VEC(struct procedure) procedures; /* distinct ones, of all builds */
    uint32_t *procedure_of;                  /* by old PROC place: of these */
    uint32_t *loops, *loop_first;            /* old loops of old place p: loops[loop_first[p] .. loop_first[p + 1]) */
    /* the new places, and for each */
    struct VEC(struct place) places;
    struct VEC(struct made) made;
    struct row_index index;
    place_ix *new_of;
    uint32_t moved_file; /* the first file whose procedures have moved, without its text; SOURCE_NONE: none */
};

struct procedure {
    struct identity key, origin; /* origin: of what it is a clone of */
    uint64_t runs;
    uint32_t as; /* the one that it is another clone of, in other runs; or itself */
};

struct made {
    struct identity key;
    uint64_t runs;
    place_ix first_loop, next_loop; /* below it; beside it */
    bool latest;                    /* as the latest version has it */
};

/* ---- which runs ------------------------------------------------------------------------------------- */

static uint64_t run_bit(uint32_t run)
{
    return 1ull << (run < 63 ? run : 63);
}

static void find_runs(struct matcher *m)
{
    struct correlation *c = m->c;
    uint64_t *module_runs = mem_calloc(c->modules.count, sizeof *module_runs);
    for (size_t i = 0; i < c->uses.count; i++)
        module_runs[c->uses.items[i].module] |= run_bit(c->uses.items[i].run);
    for (size_t i = 0; i < c->sites.count; i++)
        m->place_runs[c->site_place[i]] |= module_runs[c->sites.items[i].module];
    for (size_t i = c->places.count; i-- > 1;)
        m->place_runs[c->places.items[i].parent] |= m->place_runs[i];
    for (size_t i = 1; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        if (p->file != SOURCE_NONE)
            m->files[p->file].runs |= m->place_runs[i];
        if (p->call_file != SOURCE_NONE)
            m->files[p->call_file].runs |= m->place_runs[i];
    }
    mem_free(module_runs);
}

/* ---- which files ------------------------------------------------------------------------------------ */

static const char *path_of(const struct matcher *m, uint32_t file)
{
    return strtab_get(m->c->strings, m->c->files.items[file].name);
}

static const char *text_of(const struct matcher *m, uint32_t file)
{
    return strtab_get(m->c->strings, m->c->files.items[file].found);
}

/* The first one of the file's set, whose runs are the set's. */
static uint32_t root(const struct matcher *m, uint32_t file)
{
    while (m->files[file].tree != file)
        file = m->files[file].tree = m->files[m->files[file].tree].tree;
    return file;
}

static void unite(struct matcher *m, uint32_t a, uint32_t b)
{
    uint32_t to = root(m, a), from = root(m, b);
    m->files[to].runs |= m->files[from].runs;
    m->files[from].tree = to;
}

static void unite_same_paths(struct matcher *m)
{
    struct hashmap first = {0};
    for (uint32_t i = 0; i < m->c->files.count; i++) {
        uint32_t *slot = hashmap_put(&first, m->c->files.items[i].name);
        if (*slot == HASHMAP_NONE)
            *slot = i;
        else {
            m->files[i].tree = *slot;
            m->files[*slot].runs |= m->files[i].runs;
        }
    }
    hashmap_release(&first);
}

static bool same_bytes(const struct matcher *m, uint32_t a, uint32_t b)
{
    struct filemap x, y;
    if (!*text_of(m, a) || !*text_of(m, b) || filemap_open(&x, text_of(m, a), NULL) < 0)
        return false;
    bool same = false;
    if (filemap_open(&y, text_of(m, b), NULL) == 0) {
        same = x.len == y.len && (x.len == 0 || memcmp(x.bytes, y.bytes, x.len) == 0);
        filemap_release(&y);
    }
    filemap_release(&x);
    return same;
}

struct file_pair {
    uint32_t a, b, score;
};

/* Best first; equal ones in the order of the files. */
static int compare_pairs(const void *a, const void *b)
{
    const struct file_pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static int compare_bases(const void *a, const void *b, void *ctx)
{
    const struct matcher *m = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = strcmp(path_base(path_of(m, i)), path_base(path_of(m, k)));
    return order ? order : (i > k) - (i < k);
}

static bool may_be_one(const struct matcher *m, uint32_t a, uint32_t b)
{
    return m->c->file_module.items[a] == m->c->file_module.items[b] &&
           !(m->files[root(m, a)].runs & m->files[root(m, b)].runs);
}

/* Both are in one run, and are not one. */
static bool are_rivals(const struct matcher *m, uint32_t a, uint32_t b)
{
    return root(m, a) != root(m, b) && !may_be_one(m, a, b);
}

/* Two candidates as good as each other: nobody but the user knows. */
static bool is_ambiguous(const struct matcher *m, const struct file_pair *pairs, size_t count, size_t at)
{
    const struct file_pair *p = &pairs[at];
    bool again = false;
    for (size_t i = 0; i < count && !again; i++) {
        const struct file_pair *q = &pairs[i];
        if (q->score == p->score && (q->a == p->a) != (q->b == p->b) && may_be_one(m, q->a, q->b))
            again = q->a == p->a ? are_rivals(m, q->b, p->b) : are_rivals(m, q->a, p->a);
    }
    return again;
}

static void unite_pairs(struct matcher *m, struct file_pair *pairs, size_t count)
{
    if (count)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        if (!may_be_one(m, pairs[i].a, pairs[i].b))
            continue;
        if (!is_ambiguous(m, pairs, count, i)) {
            unite(m, pairs[i].a, pairs[i].b);
            continue;
        }
        warnings_add(m->warnings,
                     "%s is in several folders, and which of one run is which of another is not known: they are "
                     "compared as different files; <replace in=\"...\" out=\"...\"/> gives them one name",
                     path_base(path_of(m, pairs[i].a)));
        return;
    }
}

enum { SAME_NAMES_MOST = 200 }; /* files of one name that are compared with each other */

/* Files of one name in files_of_name[0..n): the first of each set with the others. */
static void unite_by_name(struct matcher *m, const uint32_t *files, size_t n)
{
    struct VEC(struct file_pair) pairs = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && n <= SAME_NAMES_MOST; k++)
            if (m->files[files[i]].tree == files[i] && m->files[files[k]].tree == files[k] &&
                may_be_one(m, files[i], files[k]))
                *vec_push(&pairs) =
                    (struct file_pair){files[i], files[k],
                                       2 * metrics_path_shared_end(path_of(m, files[i]), path_of(m, files[k])) +
                                           same_bytes(m, files[i], files[k])};
    unite_pairs(m, pairs.items, pairs.count);
    vec_release(&pairs);
}

static void unite_files(struct matcher *m)
{
    size_t n = m->c->files.count;
    uint32_t *order = mem_alloc(n * sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = m->files[i].tree = i;
    unite_same_paths(m);
    qsort_r(order, n, sizeof *order, compare_bases, m);
    for (size_t from = 0, to; from < n; from = to) {
        const char *base = path_base(path_of(m, order[from]));
        for (to = from; to < n && strcmp(path_base(path_of(m, order[to])), base) == 0;)
            to++;
        unite_by_name(m, order + from, to - from);
    }
    for (uint32_t i = 0; i < n; i++)
        m->files[i].tree = root(m, i);
    mem_free(order);
}

/* ---- which lines ------------------------------------------------------------------------------------ */

static void compare_texts(struct matcher *m, uint32_t file)
{
    struct version *v = &m->files[file];
    struct filemap old, new;
    if (!*text_of(m, file) || !*text_of(m, v->latest) || strcmp(text_of(m, file), text_of(m, v->latest)) == 0 ||
        filemap_open(&old, text_of(m, file), NULL) < 0)
        return;
    if (filemap_open(&new, text_of(m, v->latest), NULL) == 0) {
        v->by_text = old.len <= LIMIT_SOURCE_BYTES && new.len <= LIMIT_SOURCE_BYTES;
        if (v->by_text && (old.len != new.len || (old.len && memcmp(old.bytes, new.bytes, old.len) != 0)))
            v->lines = metrics_line_diff(old.bytes, old.len, new.bytes, new.len, &v->line_count);
        filemap_release(&new);
    }
    filemap_release(&old);
}

/* The version of the latest run; of several there, the last one found. */
static void find_latest(struct matcher *m, const uint64_t *own_runs)
{
    size_t n = m->c->files.count;
    uint32_t *latest = mem_alloc(n * sizeof *latest);
    for (uint32_t i = 0; i < n; i++)
        latest[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *best = &latest[m->files[i].tree];
        if (own_runs[i] >= own_runs[*best])
            *best = i;
    }
    for (uint32_t i = 0; i < n; i++)
        m->files[i].latest = latest[m->files[i].tree];
    mem_free(latest);
}

static void warn_texts(struct matcher *m)
{
    size_t count = 0;
    uint32_t first = 0;
    for (uint32_t i = m->c->files.count ? (uint32_t)m->c->files.count - 1 : 0; i-- > 0;) {
        const struct version *v = &m->files[i];
        if (v->latest == i || v->by_text || m->c->files.items[i].name == m->c->files.items[v->latest].name)
            continue;
        first = i;
        count++;
    }
    if (count)
        warnings_add(m->warnings,
                     "%s%s lies in different folders in the runs, and not both texts are here: its lines are compared "
                     "by number, and by where their procedures begin; <sources path=\"...\"/> for each run's folder "
                     "lets them be followed",
                     path_base(path_of(m, first)), count > 1 ? ", as other files," : "");
}

static void find_versions(struct matcher *m)
{
    size_t n = m->c->files.count;
    uint64_t *own_runs = mem_calloc(n, sizeof *own_runs);
    for (size_t i = 0; i < n; i++)
        own_runs[i] = m->files[i].runs;
    unite_files(m);
    find_latest(m, own_runs);
    for (uint32_t i = 0; i < n; i++)
        if (m->files[i].latest != i)
            compare_texts(m, i);
    warn_texts(m);
    mem_free(own_runs);
}

/* ---- where a function is --------------------------------------------------------------------------- */

static uint32_t function_around(const struct matcher *m, place_ix i)
{
    const struct place *p = &m->c->places.items[i];
    while (p->kind != PLACE_PROC && p->kind != PLACE_INLINE && p->parent != PLACE_NONE)
        p = &m->c->places.items[p->parent];
    return p->full_name;
}

struct function {
    const struct matcher *m;
    uint32_t file, name, kind;
};

static bool is_function(const void *ctx, uint32_t i)
{
    const struct function *f = ctx;
    const struct place *p = &f->m->c->places.items[i];
    return p->file == f->file && p->full_name == f->name && p->kind == f->kind;
}

static uint64_t hash_of(const struct function *f)
{
    uint32_t key[] = {f->file, f->name, f->kind};
    return hash_bytes(key, sizeof key, 0);
}

static void find_functions(struct matcher *m)
{
    for (uint32_t i = 0; i < m->c->places.count; i++) {
        const struct place *p = &m->c->places.items[i];
        struct function f = {m, p->file, p->full_name, p->kind};
        bool is = (p->kind == PLACE_PROC && p->address) || p->kind == PLACE_INLINE;
        if (is && p->line_first && row_index_find(&m->extents, hash_of(&f), is_function, &f) == ROW_NONE)
            row_index_add(&m->extents, hash_of(&f), i);
    }
}

static uint32_t function_in(const struct matcher *m, uint32_t file, uint32_t name, uint32_t kind)
{
    struct function f = {m, file, name, kind};
    return row_index_find(&m->extents, hash_of(&f), is_function, &f);
}

/* How far both ends of the function have moved from this version of its file to the latest; an inlined one has only its
   beginning. *old: the function in this version. */
static int64_t ends_moved(const struct matcher *m, uint32_t file, uint32_t name, uint32_t *old)
{
    uint32_t latest = m->files[file].latest;
    for (uint32_t kind = PLACE_PROC; kind <= PLACE_INLINE; kind++) {
        uint32_t a = function_in(m, file, name, kind), b = function_in(m, latest, name, kind);
        if (a == ROW_NONE || b == ROW_NONE)
            continue;
        const struct place *x = &m->c->places.items[a], *y = &m->c->places.items[b];
        int64_t by = (int64_t)y->line_first - x->line_first;
        *old = a;
        return kind == PLACE_INLINE || by == (int64_t)y->line_last - x->line_last ? by : 0;
    }
    return 0;
}

static uint64_t line_key(uint32_t file, uint32_t name, int64_t line)
{
    uint32_t key[] = {file, name, (uint32_t)line};
    return hash_bytes(key, sizeof key, 0);
}

/* Compilers differ in where a function begins and ends, too: has it moved, lines in it meet lines of the latest version
   when they are moved, and else as they are. */
static void count_votes(struct matcher *m)
{
    const struct correlation *c = m->c;
    struct hashmap latest = {0};
    for (uint32_t i = 0; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        if (p->kind >= PLACE_LOOP && p->file != SOURCE_NONE && m->files[p->file].latest == p->file)
            *hashmap_put(&latest, line_key(p->file, function_around(m, i), p->line_first)) = 1;
    }
    for (uint32_t i = 0; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        uint32_t old, name = function_around(m, i);
        if (p->kind < PLACE_LOOP || p->file == SOURCE_NONE || m->files[p->file].latest == p->file)
            continue;
        int64_t by = ends_moved(m, p->file, name, &old);
        uint32_t file = m->files[p->file].latest;
        if (by)
            m->votes[old] += (hashmap_get(&latest, line_key(file, name, p->line_first + by)) == 1) -
                             (hashmap_get(&latest, line_key(file, name, p->line_first)) == 1);
    }
    hashmap_release(&latest);
}

/* How far the function has moved. */
static int64_t moved(struct matcher *m, uint32_t file, uint32_t name)
{
    uint32_t old;
    int64_t by = ends_moved(m, file, name, &old);
    if (by == 0 || m->votes[old] <= 0)
        return 0;
    bool named = m->c->files.items[file].name != m->c->files.items[m->files[file].latest].name; /* warn_texts did */
    m->moved_file = m->moved_file == SOURCE_NONE && !named ? file : m->moved_file;
    return by;
}

/* ---- a line's place now ----------------------------------------------------------------------------- */

/* name: of the function that the line is in. */
static struct position position_of(struct matcher *m, uint32_t file, uint32_t line, uint32_t name)
{
    if (file == SOURCE_NONE || m->files[file].latest == file)
        return (struct position){file, line, true};
    const struct version *v = &m->files[file];
    if (line == 0)
        return (struct position){v->latest, line, true};
    if (!v->by_text) {
        int64_t now = line + moved(m, file, name);
        return (struct position){v->latest, now > 0 ? (uint32_t)now : line, true};
    }
    if (!v->lines)
        return (struct position){v->latest, line, true};
    uint32_t now = line <= v->line_count ? v->lines[line - 1] : 0;
    return now ? (struct position){v->latest, now, true} : (struct position){file, line, false};
}

/* The lines first..last, those that are gone left out. */
static bool move_lines(struct matcher *m, struct place *p, uint32_t name)
{
    struct position first = position_of(m, p->file, p->line_first, name), last = first;
    for (uint32_t line = p->line_last; line > p->line_first; line--)
        if ((last = position_of(m, p->file, line, name)).matched)
            break;
    for (uint32_t line = p->line_first; line < p->line_last && !first.matched; line++)
        first = position_of(m, p->file, line, name);
    if (!first.matched)
        return false;
    p->file = first.file;
    p->line_first = first.line;
    p->line_last = last.matched && last.line >= first.line ? last.line : first.line;
    return true;
}

/* ---- places ----------------------------------------------------------------------------------------- */

struct wanted {
    const struct matcher *m;
    struct identity key;
};

static bool same_key(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    return memcmp(&w->m->made.items[i].key, &w->key, sizeof w->key) == 0;
}

static place_ix find_made(const struct matcher *m, const struct identity *key)
{
    struct wanted w = {m, *key};
    return row_index_find(&m->index, hash_bytes(key, sizeof *key, 0), same_key, &w);
}

/* The place as it is in the latest version, as far as it is there; what tells it from others. */
static struct identity bring_forward(struct matcher *m, place_ix i, struct place *p)
{
    uint32_t file = p->file == SOURCE_NONE ? SOURCE_NONE : m->files[p->file].latest;
    bool first = position_of(m, p->file, p->line_first, function_around(m, i)).matched;
    bool moves = move_lines(m, p, function_around(m, i));
    if (p->kind == PLACE_INLINE && p->parent != PLACE_NONE) {
        struct position call = position_of(m, p->call_file, p->call_line, function_around(m, p->parent));
        p->call_file = call.file;
        p->call_line = call.line;
    }
    if (p->kind == PLACE_FILE)
        p->file = file;
    p->parent = m->new_of[p->parent];
    struct identity key = metrics_identity_of(p, m->c->ordinals.items[i]);
    if (p->kind == PLACE_PROC || p->kind == PLACE_INLINE)
        key.file = file;
    if (p->kind == PLACE_LOOP && moves && !first)
        key.ordinal |= 1u << 31; /* it begins with what is gone: another one may begin where it goes on */
    return key;
}

static bool is_latest(const struct matcher *m, const struct place *old)
{
    bool latest = old->file == SOURCE_NONE || m->files[old->file].latest == old->file;
    return latest && (old->kind != PLACE_PROC || old->address);
}

static void make(struct matcher *m, place_ix i, const struct place *p, const struct identity *key)
{
    place_ix made = m->new_of[i] = (place_ix)m->places.count;
    row_index_add(&m->index, hash_bytes(key, sizeof *key, 0), made);
    *vec_push(&m->places) = *p;
    *vec_push(&m->made) = (struct made){.key = *key,
                                        .runs = m->place_runs[i],
                                        .first_loop = PLACE_NONE,
                                        .next_loop = PLACE_NONE,
                                        .latest = is_latest(m, &m->c->places.items[i])};
    if (p->kind == PLACE_LOOP) {
        m->made.items[made].next_loop = m->made.items[p->parent].first_loop;
        m->made.items[p->parent].first_loop = made;
    }
}

static void join(struct matcher *m, place_ix i, const struct place *p, place_ix made)
{
    struct made *to = &m->made.items[made];
    bool latest = is_latest(m, &m->c->places.items[i]);
    m->new_of[i] = made;
    to->runs |= m->place_runs[i];
    if (latest && !to->latest)
        m->places.items[made] = *p;
    to->latest = to->latest || latest;
}

static void put(struct matcher *m, place_ix i)
{
    struct place p = m->c->places.items[i];
    struct identity key = bring_forward(m, i, &p);
    if (p.kind == PLACE_PROC)
        key = m->procedures.items[m->procedures.items[m->procedure_of[i]].as].key;
    place_ix known = find_made(m, &key);
    if (known == ROW_NONE)
        make(m, i, &p, &key);
    else
        join(m, i, &p, known);
}

#define OPENMP_REGION "[OpenMP region" /* and its number; bloop/assemble/names.c */

/* ---- clones -------------------------------------------------------------------------------------------- */

static bool same_procedure(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    return memcmp(&w->m->procedures.items[i].key, &w->key, sizeof w->key) == 0;
}

/* Compilers count parallel regions in their own ways, gcc those of a function, clang all functions it makes: a region is
   the one that begins at this line. */
static struct identity origin_of(const struct matcher *m, struct identity key, const struct place *p)
{
    const char *name = strtab_get(m->c->strings, key.name), *region = strstr(name, OPENMP_REGION);
    if (region) {
        key.name = strtab_addn(m->c->strings, name, (size_t)(region - name) + strlen(OPENMP_REGION));
        key.line = p->line_first;
    } else {
        key.name = experiment_same_function_name(m->c->strings, key.name);
    }
    key.ordinal = 0;
    return key;
}

/* All procedures by their own names, with the runs that have them. Their files are in place. */
static void list_procedures(struct matcher *m)
{
    struct row_index known = {0};
    for (place_ix i = 1; i < m->c->places.count; i++) {
        struct place p = m->c->places.items[i];
        if (p.kind != PLACE_PROC)
            continue;
        struct wanted w = {m, bring_forward(m, i, &p)};
        uint64_t hash = hash_bytes(&w.key, sizeof w.key, 0);
        uint32_t at = row_index_find(&known, hash, same_procedure, &w);
        if (at == ROW_NONE) {
            at = (uint32_t)m->procedures.count;
            row_index_add(&known, hash, at);
            *vec_push(&m->procedures) = (struct procedure){.key = w.key, .origin = origin_of(m, w.key, &p), .as = at};
        }
        m->procedures.items[at].runs |= m->place_runs[i];
        m->procedure_of[i] = at;
    }
    row_index_release(&known);
}

static int compare_origins(const void *a, const void *b, void *ctx)
{
    const struct matcher *m = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = memcmp(&m->procedures.items[i].origin, &m->procedures.items[k].origin, sizeof(struct identity));
    return order ? order : (i > k) - (i < k);
}

/* Procedures of one origin that wait for a counterpart, by the runs that have them: of the same runs first come, first
   served. There may be as many clones as a hostile binary likes, but few sets of runs. */
enum { SETS_OF_RUNS_MOST = 64 };
struct waiting {
    uint64_t runs;
    uint32_t first, last; /* procedures; ROW_NONE: none */
};

/* Whom no run has beside what these runs have: one compiler made a clone, or another one, where the other did not. */
static struct waiting *counterpart(struct waiting *sets, size_t count, uint64_t runs)
{
    struct waiting *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (sets[i].first != ROW_NONE && !(sets[i].runs & runs) && (!best || sets[i].first < best->first))
            best = &sets[i];
    return best;
}

static void wait_for_counterpart(struct waiting *sets, size_t *count, uint64_t runs, uint32_t procedure, uint32_t *next)
{
    size_t i = 0;
    while (i < *count && sets[i].runs != runs)
        i++;
    if (i == SETS_OF_RUNS_MOST) /* it stays alone */
        return;
    if (i == *count)
        sets[(*count)++] = (struct waiting){runs, ROW_NONE, ROW_NONE};
    next[procedure] = ROW_NONE;
    if (sets[i].first == ROW_NONE)
        sets[i].first = procedure;
    else
        next[sets[i].last] = procedure;
    sets[i].last = procedure;
}

/* Those of one origin, in order. */
static void pair_clones_of(struct matcher *m, const uint32_t *procedures, size_t n, uint32_t *next)
{
    struct waiting sets[SETS_OF_RUNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct procedure *p = &m->procedures.items[procedures[i]];
        struct waiting *of = counterpart(sets, count, p->runs);
        if (of) {
            p->as = of->first;
            of->first = next[p->as];
            m->procedures.items[p->as].runs |= p->runs;
        }
        wait_for_counterpart(sets, &count, m->procedures.items[p->as].runs, p->as, next);
    }
}

static void pair_clones(struct matcher *m)
{
    list_procedures(m);
    size_t n = m->procedures.count;
    uint32_t *order = mem_alloc(n * sizeof *order), *next = mem_alloc(n * sizeof *next);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (n)
        qsort_r(order, n, sizeof *order, compare_origins, m);
    for (size_t from = 0, to; from < n; from = to) {
        const struct identity *origin = &m->procedures.items[order[from]].origin;
        for (to = from; to < n && memcmp(&m->procedures.items[order[to]].origin, origin, sizeof *origin) == 0;)
            to++;
        pair_clones_of(m, order + from, to - from, next);
    }
    mem_free(order);
    mem_free(next);
}

/* ---- loops ------------------------------------------------------------------------------------------- */

struct loop {
    struct place p;
    struct identity key;
    place_ix old;
};
struct loops VEC(struct loop);

static int compare_loops(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;
    if (x->p.line_first != y->p.line_first)
        return x->p.line_first < y->p.line_first ? -1 : 1;
    if (x->p.on_line != y->p.on_line)
        return x->p.on_line < y->p.on_line ? -1 : 1;
    if (x->p.instance != y->p.instance)
        return x->p.instance < y->p.instance ? -1 : 1;
    return (x->old > y->old) - (x->old < y->old);
}

/* Half of the smaller one's lines are the other's too. */
static bool share_lines(const struct place *a, const struct place *b)
{
    uint32_t first = a->line_first > b->line_first ? a->line_first : b->line_first;
    uint32_t last = a->line_last < b->line_last ? a->line_last : b->line_last;
    uint32_t n = a->line_last - a->line_first, m = b->line_last - b->line_first;
    return a->file == b->file && a->line_first && b->line_first && first <= last &&
           2 * ((uint64_t)last - first + 1) > (n < m ? n : m);
}

/* Of several loops on one line another one than that; a build that has only one of them does not say which. */
static bool are_told_apart(const struct place *a, const struct place *b)
{
    return a->line_first == b->line_first && a->on_line && b->on_line && a->on_line != b->on_line;
}

static uint32_t distance(const struct place *a, const struct place *b)
{
    return a->line_first > b->line_first ? a->line_first - b->line_first : b->line_first - a->line_first;
}

enum { LOOPS_LOOKED_AT = 1000 }; /* of one place, for each loop: what people write has fewer */

/* A loop of the same parent that no build of these runs has: the nearest of those that share lines. */
static place_ix near_loop(const struct matcher *m, const struct loop *l)
{
    place_ix best = PLACE_NONE;
    unsigned looked = 0;
    for (place_ix i = m->made.items[l->p.parent].first_loop; i != PLACE_NONE && looked < LOOPS_LOOKED_AT;
         i = m->made.items[i].next_loop, looked++) {
        const struct place *p = &m->places.items[i];
        bool fits =
            !(m->made.items[i].runs & m->place_runs[l->old]) && share_lines(p, &l->p) && !are_told_apart(p, &l->p);
        if (fits && (best == PLACE_NONE || distance(p, &l->p) < distance(&m->places.items[best], &l->p) ||
                     (distance(p, &l->p) == distance(&m->places.items[best], &l->p) && i < best)))
            best = i;
    }
    return best;
}

/* All loops of a place together: those that begin at the same line have precedence. */
static void put_loops(struct matcher *m, place_ix parent)
{
    struct loops rest = {0};
    for (uint32_t k = m->loop_first[parent]; k < m->loop_first[parent + 1]; k++) {
        struct loop l = {.p = m->c->places.items[m->loops[k]], .old = m->loops[k]};
        l.key = bring_forward(m, l.old, &l.p);
        place_ix known = find_made(m, &l.key);
        if (known != ROW_NONE)
            join(m, l.old, &l.p, known);
        else
            *vec_push(&rest) = l;
    }
    vec_sort(&rest, compare_loops);
    for (size_t i = 0; i < rest.count; i++) {
        place_ix known = near_loop(m, &rest.items[i]);
        if (known == PLACE_NONE)
            make(m, rest.items[i].old, &rest.items[i].p, &rest.items[i].key);
        else
            join(m, rest.items[i].old, &rest.items[i].p, known);
    }
    vec_release(&rest);
}

static void list_loops(struct matcher *m)
{
    const struct correlation *c = m->c;
    size_t n = c->places.count;
    m->loops = mem_alloc(n * sizeof *m->loops);
    m->loop_first = mem_calloc(n + 2, sizeof *m->loop_first);
    for (size_t i = 1; i < n; i++)
        if (c->places.items[i].kind == PLACE_LOOP)
            m->loop_first[c->places.items[i].parent + 2]++;
    for (size_t i = 2; i <= n; i++)
        m->loop_first[i] += m->loop_first[i - 1];
    for (uint32_t i = 1; i < n; i++)
        if (c->places.items[i].kind == PLACE_LOOP)
            m->loops[m->loop_first[c->places.items[i].parent + 1]++] = i;
}

static void put_all(struct matcher *m)
{
    size_t n = m->c->places.count;
    memset(m->new_of, 0xff, n * sizeof *m->new_of);
    make(m, 0, &m->c->places.items[0], &(struct identity){.parent = PLACE_NONE});
    for (uint32_t i = 1; i < n; i++)
        if (m->c->places.items[i].kind < PLACE_PROC)
            put(m, i);
    pair_clones(m);
    for (uint32_t i = 1; i < n; i++) {
        const struct place *p = &m->c->places.items[i];
        if (p->kind < PLACE_PROC)
            continue;
        if (p->kind != PLACE_LOOP)
            put(m, i);
        else if (m->new_of[i] == PLACE_NONE)
            put_loops(m, p->parent);
    }
}

/* ---- the new places in the place of the old ------------------------------------------------------------ */

/* Where tables refer to a version of a file: the latest, unless its lines are others there. */
static uint32_t version_for_tables(const struct matcher *m, uint32_t file)
{
    return m->files[file].lines ? file : m->files[file].latest;
}

static void mark_files_of_table(const struct matcher *m, const struct table *t, bool *used)
{
    const struct table_decl *d = table_declared(t);
    for (size_t k = 0; k < d->column_count; k++) {
        if (d->columns[k].type != TABLE_REF || strcmp(d->columns[k].refers, TABLE_FOUND_FILE) != 0)
            continue;
        for (size_t i = 0; i < table_row_count(t); i++)
            if (table_row(t, i)[k].row < m->c->files.count)
                used[version_for_tables(m, table_row(t, i)[k].row)] = true;
    }
}

static void mark_files(const struct matcher *m, bool *used)
{
    for (size_t i = 0; i < m->places.count; i++) {
        const struct place *p = &m->places.items[i];
        if (p->file != SOURCE_NONE)
            used[p->file] = true;
        if (p->call_file != SOURCE_NONE)
            used[p->call_file] = true;
    }
    for (size_t i = 0; i < m->c->tables.count; i++)
        mark_files_of_table(m, m->c->tables.items[i], used);
}

/* Files that nothing refers to any more are left out; by old file, its number as tables see it. mem_free. */
static uint32_t *renumber_files(struct matcher *m)
{
    struct correlation *c = m->c;
    size_t n = c->files.count, kept = 0;
    uint32_t *number = mem_calloc(n, sizeof *number), *for_tables = mem_calloc(n, sizeof *for_tables);
    bool *used = mem_calloc(n, sizeof *used);
    mark_files(m, used);
    for (size_t i = 0; i < n; i++) {
        if (!used[i])
            continue;
        number[i] = (uint32_t)kept;
        c->files.items[kept] = c->files.items[i];
        c->file_module.items[kept] = c->file_module.items[i];
        c->file_known.items[kept++] = c->file_known.items[i];
    }
    for (size_t i = 0; i < m->places.count; i++) {
        struct place *p = &m->places.items[i];
        p->file = p->file == SOURCE_NONE ? SOURCE_NONE : number[p->file];
        p->call_file = p->call_file == SOURCE_NONE ? SOURCE_NONE : number[p->call_file];
    }
    for (uint32_t i = 0; i < n; i++)
        for_tables[i] = number[version_for_tables(m, i)];
    c->files.count = c->file_module.count = c->file_known.count = kept;
    mem_free(number);
    mem_free(used);
    return for_tables;
}

/* Rows of the tables that are of one place now are one. */
static void renumber_tables(struct matcher *m, const uint32_t *files, size_t file_count)
{
    struct correlation *c = m->c;
    struct table_list tables = {0};
    const struct table_mapping mappings[] = {
        {TABLE_FOUND_PLACE, TABLE_FOUND_PLACE, m->new_of, c->places.count},
        {TABLE_FOUND_FILE, TABLE_FOUND_FILE, files, file_count},
    };
    struct err err = {0};
    if (table_list_merge(&tables, c->strings, &c->tables, mappings, ARRAY_SIZE(mappings), &err) < 0)
        warnings_add(m->warnings, "a part of the tables beside the places is left out: %s", err.msg);
    table_list_release(&c->tables);
    c->tables = tables;
}

static void take_over(struct matcher *m)
{
    struct correlation *c = m->c;
    for (size_t i = 0; i < c->sites.count; i++)
        c->site_place[i] = m->new_of[c->site_place[i]];
    size_t files = c->files.count;
    uint32_t *for_tables = renumber_files(m);
    if (c->tables.count)
        renumber_tables(m, for_tables, files);
    mem_free(for_tables);
    vec_release(&c->places);
    vec_reserve(&c->places, m->places.count);
    c->places.count = m->places.count;
    memcpy(c->places.items, m->places.items, m->places.count * sizeof *m->places.items);
}

static void release(struct matcher *m, size_t files)
{
    for (size_t i = 0; i < files; i++)
        mem_free(m->files[i].lines);
    mem_free(m->files);
    mem_free(m->place_runs);
    row_index_release(&m->extents);
    mem_free(m->votes);
    mem_free(m->loops);
    mem_free(m->loop_first);
    vec_release(&m->procedures);
    mem_free(m->procedure_of);
    vec_release(&m->places);
    vec_release(&m->made);
    row_index_release(&m->index);
    mem_free(m->new_of);
}

/* The module that a run's program is; UINT32_MAX: not known. */
static uint32_t program_of(const struct correlation *c, uint32_t run)
{
    for (size_t i = 0; i < c->uses.count; i++)
        if (c->uses.items[i].run == run && c->modules.items[c->uses.items[i].module].program)
            return c->uses.items[i].module;
    return UINT32_MAX;
}

void metrics_match_warn_programs(const struct correlation *c, struct warnings *warnings)
{
    uint32_t a = program_of(c, 0), b = program_of(c, 1);
    if (a == UINT32_MAX || b == UINT32_MAX || c->modules.items[a].group == c->modules.items[b].group)
        return;
    const char *x = correlate_module_name(c, a), *y = correlate_module_name(c, b);
    warnings_add(warnings,
                 "%s and %s are compared as different programs: nothing in their names is the same; "
                 "<module name=\"%s\" role=\"%s\"/> in a configuration says that they are one",
                 x, y, y, x);
}

void metrics_match_runs(struct correlation *c, struct warnings *warnings)
{
    struct matcher m = {.c = c,
                        .warnings = warnings,
                        .files = mem_calloc(c->files.count, sizeof *m.files),
                        .place_runs = mem_calloc(c->places.count, sizeof *m.place_runs),
                        .new_of = mem_alloc(c->places.count * sizeof *m.new_of),
                        .procedure_of = mem_calloc(c->places.count, sizeof *m.procedure_of),
                        .votes = mem_calloc(c->places.count, sizeof *m.votes),
                        .moved_file = SOURCE_NONE};
    find_runs(&m);
    find_versions(&m);
    find_functions(&m);
    count_votes(&m);
    list_loops(&m);
    put_all(&m);
    if (m.moved_file != SOURCE_NONE)
        warnings_add(warnings,
                     "%s has changed between the runs, and only its latest text is here: older lines are compared by "
                     "where their procedures begin",
                     path_base(path_of(&m, m.moved_file)));
    size_t files = c->files.count;
    take_over(&m);
    release(&m, files);
}
