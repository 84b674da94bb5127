/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCToolkit's databases since 2022 (its FORMATS.md, "meta.db version 4.0" and "profile.db version 4.0"): meta.db says
 * what the metrics, contexts, functions, files and modules are, profile.db has the values of each thread. All of them
 * are structures at absolute offsets, little-endian; sizes of structures stand in the file, so that later minor versions
 * can be read. Values are taken in the scope "execution", which includes all that is below a context, and made the
 * context's own: those of scope "point" may be of instructions that meta.db does not have.
 */
#include "filters/hpctoolkit/hpctoolkit_int.h"

enum { SECTIONS_AT = 16, IDS = 1, METRICS = 2, CONTEXTS = 3 }; /* sections of meta.db */
enum { EXECUTION = 2 };                                        /* type of a propagation scope */
enum { FUNCTION = 0, HAS_FUNCTION = 1, HAS_SOURCE = 2, HAS_POINT = 4 };

struct bytes { /* one of the files */
    const uint8_t *p;
    size_t len;
    const char *file; /* for messages */
};

struct value_kind { /* by the file's number */
    bool wanted;
    uint32_t event;
    double scale;
};

struct v4_place {     /* a context: its parent, so far */
    uint64_t at, end; /* children that are not read yet */
    const char *module, *name, *file;
    uint64_t line;
    uint32_t caller;  /* context that called the function */
    uint32_t context; /* its own, or HPCPROF_NO_PARENT */
    uint32_t node;
};

struct node { /* a context of the file; the first is the one around all others */
    uint32_t parent, context;
};

struct sum { /* in one thread's profile */
    uint32_t node, kind;
    double own;
};

struct v4 {
    struct bytes meta, profile;
    const struct filter_input *in;
    struct hpcprof *into;
    struct builder builder;
    struct VEC(struct value_kind) kinds; /* by propMetricId */
    struct VEC(struct v4_place) open;
    struct VEC(struct node) nodes;
    struct hashmap node_index; /* by the file's number */
    struct VEC(struct sum) sums;
    struct hashmap sum_index;
    struct builder_threads threads;
    struct strtab *texts; /* names that were cut */
    uint8_t rank_kind, thread_kind;
    struct warnings *warnings;
    struct err *err;
};

static int wrong(struct v4 *v, const struct bytes *b, uint64_t at, const char *what)
{
    return err_set(v->err, ERR_FORMAT, "%s: %s, byte %llu: %s", v->in->name, b->file, (unsigned long long)at, what);
}

/* ---- structures ------------------------------------------------------------------------------------------------ */

static bool inside(const struct bytes *b, uint64_t at, uint64_t size)
{
    return at <= b->len && size <= b->len - at;
}

/* The structure of `size` bytes at `at`; bad if it is not in the file. */
static struct cursor structure(const struct bytes *b, uint64_t at, uint64_t size)
{
    bool in = inside(b, at, size);
    struct cursor c = cursor_make(in ? b->p + at : NULL, in ? size : 0);
    c.bad = !in;
    return c;
}

static uint64_t u64_at(const struct bytes *b, uint64_t at)
{
    struct cursor c = structure(b, at, 8);
    return cursor_u64(&c);
}

/* "" for 0, and for an invalid text of the file. */
static const char *text_at(const struct bytes *b, uint64_t at)
{
    struct cursor c = structure(b, at, at && at < b->len ? b->len - at : UINT64_MAX);
    return cursor_cstr(&c);
}

static uint64_t section(const struct bytes *b, unsigned index)
{
    return u64_at(b, SECTIONS_AT + 16 * (uint64_t)index + 8);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

static int add_metric(struct v4 *v, const char *name, uint32_t id)
{
    struct hpctoolkit_metric m = hpctoolkit_metric(name);
    while (v->kinds.count <= id)
        *vec_push(&v->kinds) = (struct value_kind){0};
    v->kinds.items[id] =
        (struct value_kind){true, builder_event(&v->builder, m.name, "as HPCToolkit has it", m.unit, 0), m.scale};
    mem_free(m.name);
    return 0;
}

/* Is it the scope in which a value has all that is below it? */
static bool is_execution(const struct v4 *v, uint64_t scope)
{
    struct cursor c = structure(&v->meta, scope, 16);
    cursor_u64(&c);
    return cursor_u8(&c) == EXECUTION && !c.bad;
}

static int read_metric(struct v4 *v, uint64_t at, uint64_t instance_size)
{
    struct cursor c = structure(&v->meta, at, 28);
    const char *name = text_at(&v->meta, cursor_u64(&c));
    uint64_t instances = cursor_u64(&c);
    cursor_u64(&c);
    uint64_t n = cursor_u16(&c);
    if (c.bad || !inside(&v->meta, instances, n * instance_size))
        return wrong(v, &v->meta, at, "a metric is truncated");
    for (uint64_t i = 0; i < n; i++) {
        struct cursor instance = structure(&v->meta, instances + i * instance_size, 10);
        uint64_t scope = cursor_u64(&instance);
        if (is_execution(v, scope))
            return add_metric(v, name, cursor_u16(&instance));
    }
    warnings_add(v->warnings, "%s: %s is omitted: it has no values of scope 'execution'", v->in->name, name);
    return 0;
}

static int read_metrics(struct v4 *v)
{
    uint64_t at = section(&v->meta, METRICS);
    struct cursor c = structure(&v->meta, at, 15);
    uint64_t metrics = cursor_u64(&c), n = cursor_u32(&c), size = cursor_u8(&c), instance_size = cursor_u8(&c);
    int status = 0;
    if (c.bad || size < 28 || instance_size < 10 || n > LIMIT_EVENTS || !inside(&v->meta, metrics, n * size))
        return wrong(v, &v->meta, at, "its metrics are inconsistent");
    for (uint64_t i = 0; i < n && status == 0; i++)
        status = read_metric(v, metrics + i * size, instance_size);
    return status;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* "read_all [libio.so]": HPCToolkit says of a symbol without debug information which module it is of. */
static const char *without_module(struct v4 *v, const char *name, const char *module)
{
    const char *bracket = strrchr(name, '[');
    size_t n = strlen(name), m = strlen(path_base(module));
    if (!bracket || bracket < name + 2 || bracket[-1] != ' ' || n - (size_t)(bracket - name) != m + 2 ||
        strncmp(bracket + 1, path_base(module), m) != 0 || name[n - 1] != ']')
        return name;
    return strtab_get(v->texts, strtab_addn(v->texts, name, (size_t)(bracket - name) - 1));
}

/* A source that was copied into the database stands below its folder "src"; one that is not known is "[module]". */
static const char *source_at(const struct v4 *v, uint64_t at)
{
    struct cursor c = structure(&v->meta, at, at ? 16 : UINT64_MAX);
    bool copied = cursor_u64(&c) & 1;
    const char *path = text_at(&v->meta, cursor_u64(&c));
    if (*path == '[' || *path == '<')
        return "";
    return copied && str_starts(path, "src/") ? path + 3 : path;
}

static const char *module_at(const struct v4 *v, uint64_t at)
{
    const char *path = at ? text_at(&v->meta, u64_at(&v->meta, at + 8)) : "";
    return *path ? path : "[unknown]";
}

static void enter_function(struct v4 *v, struct v4_place *p, uint64_t at)
{
    struct cursor c = structure(&v->meta, at, 40);
    uint64_t name = cursor_u64(&c), module = cursor_u64(&c);
    cursor_u64(&c);
    uint64_t file = cursor_u64(&c);
    p->module = module_at(v, module);
    p->name = without_module(v, text_at(&v->meta, name), p->module);
    p->file = source_at(v, file);
    p->line = 0;
}

/* A context's own fields are packed behind it, as its flags say. */
static void enter_context(struct v4 *v, struct v4_place *p, struct cursor *flex, unsigned flags, bool function,
                          bool called)
{
    uint64_t at = flags & HAS_FUNCTION ? cursor_u64(flex) : 0;
    if (function || called) {
        p->module = "[unknown]";
        p->name = p->file = "";
        p->line = 0;
    }
    if (at && function)
        enter_function(v, p, at);
    if (flags & HAS_SOURCE) {
        const char *file = source_at(v, cursor_u64(flex));
        uint64_t line = cursor_u32(flex);
        cursor_u32(flex); /* the rest of its word: the following fields are of 8 bytes */
        if (!function && *file) {
            p->file = file;
            p->line = line;
        }
    }
    if (flags & HAS_POINT && p->name[0] == '\0')
        p->module = module_at(v, cursor_u64(flex));
}

static uint32_t context_of(struct v4 *v, struct v4_place *p)
{
    if (p->context == HPCPROF_NO_PARENT && (*p->name || strcmp(p->module, "[unknown]") != 0)) {
        struct builder_place place = {p->caller, p->module, p->name, p->file, p->line};
        p->context = builder_context(&v->builder, &place);
    }
    return p->context == HPCPROF_NO_PARENT ? p->caller : p->context;
}

static uint32_t add_node(struct v4 *v, uint32_t id, uint32_t parent, uint32_t context)
{
    *hashmap_put(&v->node_index, id) = (uint32_t)v->nodes.count;
    *vec_push(&v->nodes) = (struct node){parent, context};
    return (uint32_t)v->nodes.count - 1;
}

/* A context and where its children stand; *next: the one after it. */
static int read_context(struct v4 *v, uint64_t at, uint64_t *next)
{
    struct cursor c = structure(&v->meta, at, 32);
    uint64_t size = cursor_u64(&c), children = cursor_u64(&c);
    uint32_t id = cursor_u32(&c);
    unsigned flags = cursor_u8(&c), relation = cursor_u8(&c), type = cursor_u8(&c);
    uint64_t words = cursor_u8(&c);
    struct cursor flex = structure(&v->meta, at + 32, words * 8);
    if (c.bad || flex.bad || !inside(&v->meta, children, size) || v->open.count >= LIMIT_PATH_DEPTH * 4)
        return wrong(v, &v->meta, at, "a context is truncated, or nested too deep");
    if (v->nodes.count > v->meta.len / 20)
        return wrong(v, &v->meta, at, "contexts form a cycle");
    struct v4_place p = v->open.items[v->open.count - 1];
    if (relation != 0) /* a call, inlined or not */
        p.caller = context_of(v, &v->open.items[v->open.count - 1]);
    p.context = HPCPROF_NO_PARENT;
    p.at = children;
    p.end = size ? children + size : children;
    enter_context(v, &p, &flex, flags, type == FUNCTION, relation != 0);
    p.node = add_node(v, id, p.node, context_of(v, &p));
    *next = at + 32 + words * 8;
    *vec_push(&v->open) = p;
    return 0;
}

static int read_below(struct v4 *v)
{
    int status = 0;
    while (v->open.count && status == 0) {
        struct v4_place *p = &v->open.items[v->open.count - 1];
        uint64_t next = p->end;
        size_t here = v->open.count - 1;
        if (p->at >= p->end)
            v->open.count--;
        else if ((status = read_context(v, p->at, &next)) == 0)
            v->open.items[here].at = next;
    }
    return status;
}

static int read_contexts(struct v4 *v)
{
    uint64_t at = section(&v->meta, CONTEXTS);
    struct cursor c = structure(&v->meta, at, 11);
    uint64_t entries = cursor_u64(&c), n = cursor_u16(&c), size = cursor_u8(&c);
    int status = 0;
    if (c.bad || size < 20 || !inside(&v->meta, entries, n * size))
        return wrong(v, &v->meta, at, "its contexts are inconsistent");
    add_node(v, 0, UINT32_MAX, HPCPROF_NO_PARENT);
    for (uint64_t i = 0; i < n && status == 0; i++) {
        struct cursor entry = structure(&v->meta, entries + i * size, size);
        uint64_t bytes = cursor_u64(&entry), children = cursor_u64(&entry);
        uint32_t id = cursor_u32(&entry);
        if (!inside(&v->meta, children, bytes))
            return wrong(v, &v->meta, entries + i * size, "the contexts of an entry point are truncated");
        *vec_push(&v->open) = (struct v4_place){.at = children,
                                                .end = children + bytes,
                                                .module = "[unknown]",
                                                .name = "",
                                                .file = "",
                                                .caller = HPCPROF_NO_PARENT,
                                                .context = HPCPROF_NO_PARENT,
                                                .node = add_node(v, id, 0, HPCPROF_NO_PARENT)};
        status = read_below(v);
    }
    return status;
}

/* ---- threads and values ------------------------------------------------------------------------------------------ */

static void read_kinds(struct v4 *v)
{
    struct cursor c = structure(&v->meta, section(&v->meta, IDS), 9);
    uint64_t names = cursor_u64(&c), n = cursor_u8(&c);
    v->rank_kind = v->thread_kind = UINT8_MAX;
    for (uint64_t i = 0; i < n && !c.bad; i++) {
        const char *name = text_at(&v->meta, u64_at(&v->meta, names + 8 * i));
        if (strcmp(name, "RANK") == 0)
            v->rank_kind = (uint8_t)i;
        else if (strcmp(name, "THREAD") == 0)
            v->thread_kind = (uint8_t)i;
    }
}

struct profile {
    uint64_t values, value_count, indices, index_count;
    uint32_t rank, thread;
    bool summary;
};

static void read_ids(struct v4 *v, uint64_t at, struct profile *p)
{
    struct cursor c = structure(&v->profile, at, 8);
    uint64_t n = cursor_u16(&c);
    p->rank = BUILDER_NO_RANK;
    p->thread = 0;
    for (uint64_t i = 0; i < n && !c.bad; i++) {
        c = structure(&v->profile, at + 8 + 16 * i, 16);
        uint8_t kind = cursor_u8(&c);
        cursor_bytes(&c, 3);
        uint32_t id = cursor_u32(&c);
        if (kind == v->rank_kind)
            p->rank = id;
        else if (kind == v->thread_kind)
            p->thread = id;
    }
}

static int read_profile(struct v4 *v, uint64_t at, struct profile *p)
{
    struct cursor c = structure(&v->profile, at, 44);
    p->value_count = cursor_u64(&c);
    p->values = cursor_u64(&c);
    p->index_count = cursor_u32(&c);
    cursor_u32(&c);
    p->indices = cursor_u64(&c);
    read_ids(v, cursor_u64(&c), p);
    p->summary = cursor_u32(&c) & 1;
    bool values = p->value_count <= v->profile.len / 10 && inside(&v->profile, p->values, p->value_count * 10);
    return !c.bad && values && inside(&v->profile, p->indices, p->index_count * 12)
               ? 0
               : wrong(v, &v->profile, at, "the profile of a thread is truncated");
}

static uint64_t index_start(const struct v4 *v, const struct profile *p, uint64_t i)
{
    return i < p->index_count ? u64_at(&v->profile, p->indices + 12 * i + 4) : p->value_count;
}

static double f64(struct cursor *c)
{
    uint64_t bits = cursor_u64(c);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double *sum_at(struct v4 *v, uint32_t node, uint32_t kind)
{
    uint32_t *slot = hashmap_put(&v->sum_index, (uint64_t)node << 16 | kind);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)v->sums.count;
        *vec_push(&v->sums) = (struct sum){node, kind, 0};
    }
    return &v->sums.items[*slot].own;
}

/* A context's values are not its parent's own. Those of contexts missing in meta.db are their parents' own. */
static int read_values(struct v4 *v, const struct profile *p, uint64_t i)
{
    struct cursor c = structure(&v->profile, p->indices + 12 * i, 12);
    uint32_t node = hashmap_get(&v->node_index, cursor_u32(&c));
    uint64_t from = index_start(v, p, i), to = index_start(v, p, i + 1);
    if (from > to || to > p->value_count)
        return wrong(v, &v->profile, p->indices + 12 * i, "a context's values are out of order");
    for (uint64_t k = from; k < to && node != HASHMAP_NONE; k++) {
        struct cursor value = structure(&v->profile, p->values + 10 * k, 10);
        uint32_t kind = cursor_u16(&value);
        double number = f64(&value);
        if (kind >= v->kinds.count || !v->kinds.items[kind].wanted)
            continue;
        *sum_at(v, node, kind) += number;
        if (v->nodes.items[node].parent != UINT32_MAX)
            *sum_at(v, v->nodes.items[node].parent, kind) -= number;
    }
    return 0;
}

static void add_sum(struct v4 *v, const struct sum *sum)
{
    const struct value_kind *kind = &v->kinds.items[sum->kind];
    uint32_t context = v->nodes.items[sum->node].context;
    double value = sum->own * kind->scale;
    if (value >= 0.5 && context == HPCPROF_NO_PARENT) {
        struct builder_place nowhere = {HPCPROF_NO_PARENT, "[unknown]", "", "", 0};
        context = builder_context(&v->builder, &nowhere);
    }
    if (context != HPCPROF_NO_PARENT)
        builder_add_number(&v->builder, context, kind->event, value);
}

static int add_profile(struct v4 *v, const struct profile *p)
{
    int status = 0;
    v->builder.thread = builder_threads_row(&v->threads, p->rank, p->thread);
    v->sums.count = 0;
    hashmap_release(&v->sum_index);
    for (uint64_t i = 0; i < p->index_count && status == 0; i++)
        status = read_values(v, p, i);
    for (size_t i = 0; i < v->sums.count && status == 0; i++)
        add_sum(v, &v->sums.items[i]);
    return status;
}

/* Two passes: threads, and then their values. */
static int read_profiles(struct v4 *v, bool values)
{
    uint64_t at = section(&v->profile, 0);
    struct cursor c = structure(&v->profile, at, 13);
    uint64_t profiles = cursor_u64(&c), n = cursor_u32(&c), size = cursor_u8(&c);
    int status = 0;
    if (c.bad || size < 44 || !inside(&v->profile, profiles, n * size))
        return wrong(v, &v->profile, at, "its profiles are inconsistent");
    for (uint64_t i = 0; i < n && status == 0; i++) {
        struct profile p;
        status = read_profile(v, profiles + i * size, &p);
        if (status < 0 || p.summary)
            continue;
        if (values)
            status = add_profile(v, &p);
        else if (!builder_threads_meet(&v->threads, p.rank, p.thread))
            status = wrong(v, &v->profile, at, "has too many threads (LIMIT_THREADS)");
    }
    return status;
}

static int check_head(struct v4 *v, const struct bytes *b, const char *format)
{
    if (b->len < 16 || memcmp(b->p, "HPCTOOLKIT", 10) != 0 || memcmp(b->p + 10, format, 4) != 0)
        return wrong(v, b, 0, "does not begin like this file of an HPCToolkit database");
    if (b->p[14] != 4)
        return err_set(v->err, ERR_FORMAT, "%s: %s is of version %u of the HPCToolkit database; version 4 can be read",
                       v->in->name, b->file, b->p[14]);
    return 0;
}

static int read_database(struct v4 *v)
{
    if (check_head(v, &v->meta, "meta") < 0 || check_head(v, &v->profile, "prof") < 0)
        return -1;
    read_kinds(v);
    if (read_profiles(v, false) < 0)
        return -1;
    const char *title = text_at(&v->meta, u64_at(&v->meta, section(&v->meta, 0)));
    v->builder = builder_threads_begin(&v->threads, v->into, v->in, "HPCToolkit", title);
    return read_metrics(v) < 0 || read_contexts(v) < 0 || read_profiles(v, true) < 0 ? -1 : 0;
}

int hpctoolkit_v4(const struct hpctoolkit_files *files, const struct filter_input *in, struct hpcprof *into,
                  struct warnings *warnings, struct err *err)
{
    struct v4 v = {.meta = {files->meta, files->meta_len, "meta.db"},
                   .profile = {files->profile, files->profile_len, "profile.db"},
                   .in = in,
                   .into = into,
                   .texts = strtab_create(),
                   .warnings = warnings,
                   .err = err};
    int status = read_database(&v);
    if (status == 0)
        builder_end(&v.builder, in, warnings);
    vec_release(&v.kinds);
    vec_release(&v.open);
    vec_release(&v.nodes);
    vec_release(&v.sums);
    hashmap_release(&v.node_index);
    hashmap_release(&v.sum_index);
    builder_threads_release(&v.threads);
    strtab_free(v.texts);
    return status;
}
