/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files of several builds are versions of one, and how their lines correspond. */
#include "metrics/align/align_int.h"

#include <stdlib.h>

/* ---- which runs ------------------------------------------------------------------------------------- */

static uint64_t run_bit(uint32_t run)
{
    return 1ull << (run < 63 ? run : 63);
}

void align_find_runs(struct matcher *m)
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

const char *align_path(const struct matcher *m, uint32_t file)
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

static void merge(struct matcher *m, uint32_t a, uint32_t b)
{
    uint32_t to = root(m, a), from = root(m, b);
    m->files[to].runs |= m->files[from].runs;
    m->files[from].tree = to;
}

static void merge_same_paths(struct matcher *m)
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

unsigned metrics_path_shared_end(const char *a, const char *b)
{
    const char *p = a + strlen(a), *q = b + strlen(b);
    unsigned components = 0;
    for (; p > a && q > b && p[-1] == q[-1]; p--, q--)
        components += p[-1] == '/';
    bool whole = (p == a && (q == b || q[-1] == '/')) || (q == b && p[-1] == '/');
    return components + whole;
}

struct file_pair {
    uint32_t a, b, score;
};

/* Best first; equal ones in the order of the files. */
static int compare_pairs(const void *a, const void *b)
{
    const struct file_pair *x = a, *y = b;
    return order_of(y->score, x->score) ?: order_of(x->a, y->a) ?: order_of(x->b, y->b);
}

static int compare_bases(const void *a, const void *b, void *ctx)
{
    const struct matcher *m = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return strcmp(path_base(align_path(m, i)), path_base(align_path(m, k))) ?: order_of(i, k);
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

/* Two equally good candidates: only the user can decide. */
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

static void merge_pairs(struct matcher *m, struct file_pair *pairs, size_t count)
{
    if (count)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        if (!may_be_one(m, pairs[i].a, pairs[i].b))
            continue;
        if (!is_ambiguous(m, pairs, count, i)) {
            merge(m, pairs[i].a, pairs[i].b);
            continue;
        }
        warnings_add(m->warnings,
                     "%s is in several folders, and the match between runs is ambiguous: compared as different files; "
                     "<replace in=\"...\" out=\"...\"/> gives them one name",
                     path_base(align_path(m, pairs[i].a)));
        return;
    }
}

enum { SAME_NAMES_MOST = 200 }; /* files of one name that are compared with each other */

/* Files of one name in files_of_name[0..n): the first of each set with the others. */
static void merge_by_name(struct matcher *m, const uint32_t *files, size_t n)
{
    struct VEC(struct file_pair) pairs = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && n <= SAME_NAMES_MOST; k++)
            if (m->files[files[i]].tree == files[i] && m->files[files[k]].tree == files[k] &&
                may_be_one(m, files[i], files[k]))
                *vec_push(&pairs) =
                    (struct file_pair){files[i], files[k],
                                       2 * metrics_path_shared_end(align_path(m, files[i]), align_path(m, files[k])) +
                                           same_bytes(m, files[i], files[k])};
    merge_pairs(m, pairs.items, pairs.count);
    vec_release(&pairs);
}

static void merge_files(struct matcher *m)
{
    size_t n = m->c->files.count;
    uint32_t *order = mem_alloc(n * sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = m->files[i].tree = i;
    merge_same_paths(m);
    qsort_r(order, n, sizeof *order, compare_bases, m);
    for (size_t from = 0, to; from < n; from = to) {
        const char *base = path_base(align_path(m, order[from]));
        for (to = from; to < n && strcmp(path_base(align_path(m, order[to])), base) == 0;)
            to++;
        merge_by_name(m, order + from, to - from);
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
        warnings_add(
            m->warnings,
            "%s%s is in different folders in the runs, and not both texts are available: lines are compared by number "
            "and start of their procedure; add <sources path=\"...\"/> for each run's folder to match them by text",
            path_base(align_path(m, first)), count > 1 ? ", as other files," : "");
}

void align_find_versions(struct matcher *m)
{
    size_t n = m->c->files.count;
    uint64_t *own_runs = mem_calloc(n, sizeof *own_runs);
    for (size_t i = 0; i < n; i++)
        own_runs[i] = m->files[i].runs;
    merge_files(m);
    find_latest(m, own_runs);
    for (uint32_t i = 0; i < n; i++)
        if (m->files[i].latest != i)
            compare_texts(m, i);
    warn_texts(m);
    mem_free(own_runs);
}
