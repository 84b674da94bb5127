/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Information from Go's own table (.gopclntab) about a procedure, for binaries without DWARF (-ldflags=-w, or -s -w): its
 * name, begin and end, files and lines. Go's runtime prints stacks with it, so every program has it, even if stripped.
 *
 *     header      magic (which says the version), bytes of a pointer, how many functions, where the parts are
 *     functions   sorted: where the code begins, where the record is
 *     record      name, and by offset two tables: of the file's number and of the line, each as (difference of the
 *                 value, length of the code) after (difference, length), until a difference of 0
 *     files       number -> offset of the name, since 1.16 through a list for each unit
 *
 * Versions 1.2, 1.16, 1.18 and 1.20 (Go's debug/gosym/pclntab.go, runtime/symtab.go). Since 1.18 also inlined calls: a third
 * table maps code to nodes of the function's tree, and a node has the place of its call. Trees are relative to an address
 * that only the runtime's description of the module has, which begins with a pointer to the table.
 */
#include "bloop/debug/debug_int.h"

#include <dwarf.h>

enum { POINTER = 8 }; /* bytes: no other binary is read */

enum go_version { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

struct go_table {
    enum go_version version;
    uint8_t quantum; /* the smallest instruction: bytes */
    const uint8_t *bytes;
    uint64_t size;
    vaddr text;                                      /* added to the functions' addresses */
    uint64_t count;                                  /* functions */
    uint64_t names, units, files, values, functions; /* where the parts begin */
    const uint8_t *trees;                            /* of inlined calls, from here on; NULL: not known */
    size_t trees_size;
};

struct go_function {
    vaddr begin, end;
    const char *name;
    uint64_t files, lines; /* their tables */
    uint64_t unit;         /* the first of its files in the list of units */
    uint64_t nodes, tree;  /* the table of nodes, and their tree; 0: nothing inlined */
};

static struct cursor cursor_at(const struct go_table *t, uint64_t offset)
{
    struct cursor c = cursor_make(t->bytes, t->size);
    if (offset > t->size)
        c.bad = true;
    else
        cursor_bytes(&c, offset);
    return c;
}

static bool read_version(struct go_table *t, uint32_t magic)
{
    static const uint32_t magics[] = {
        [GO_1_2] = 0xfffffffb, [GO_1_16] = 0xfffffffa, [GO_1_18] = 0xfffffff0, [GO_1_20] = 0xfffffff1};
    for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
        if (magics[i] == magic) {
            t->version = (enum go_version)i;
            return true;
        }
    return false;
}

/* From 1.18 on functions have addresses relative to the first, and of 4 bytes. */
static bool is_relative(const struct go_table *t)
{
    return t->version >= GO_1_18;
}

static size_t entry_size(const struct go_table *t)
{
    return is_relative(t) ? 8 : 2 * POINTER;
}

static void read_parts(struct go_table *t, struct cursor *c)
{
    uint64_t *const parts[] = {&t->names, &t->units, &t->files, &t->values, &t->functions};
    t->count = cursor_u64(c);
    if (t->version == GO_1_2) { /* all offsets are counted from the table's begin; files are behind the functions */
        t->functions = 8 + POINTER;
        return;
    }
    cursor_u64(c); /* how many files */
    if (is_relative(t))
        t->text = cursor_u64(c);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        *parts[i] = cursor_u64(c);
}

/* Of the index-th function (the last one ends where `count` begins); 0: damaged. */
static vaddr begin_of(const struct go_table *t, uint64_t index, uint64_t *record)
{
    struct cursor c = cursor_at(t, t->functions + index * entry_size(t));
    vaddr begin = is_relative(t) ? t->text + cursor_u32(&c) : cursor_u64(&c);
    if (record) {
        *record = is_relative(t) ? cursor_u32(&c) : cursor_u64(&c);
        *record += t->version == GO_1_2 ? 0 : t->functions;
    }
    return c.bad ? 0 : begin;
}

static bool is_sorted(const struct go_table *t)
{
    for (uint64_t i = 0; i < t->count; i++)
        if (begin_of(t, i, NULL) > begin_of(t, i + 1, NULL))
            return false;
    return true;
}

/* ---- the module ---- */

/* The fields of runtime.moduledata that are read. */
enum { MODULE_TEXT = 22, MODULE_FUNCDATA = 38, MODULE_FUNCDATA_1_20 = 40 };

static vaddr module_in(const struct image *im, const struct image_section *s, const struct go_table *t, vaddr table)
{
    enum { MOST = 16 << 20 }; /* bytes of a section */
    vaddr value, end = s->addr + (s->size < MOST ? s->size : MOST);
    for (vaddr at = s->addr; at + POINTER <= end; at += POINTER)
        if (image_pointer(im, at, &value) && value == table && image_pointer(im, at + MODULE_TEXT * POINTER, &value) &&
            value == t->text)
            return at;
    return 0;
}

static void find_trees(const struct image *im, struct go_table *t, vaddr table)
{
    vaddr module = 0, base, words = t->version >= GO_1_20 ? MODULE_FUNCDATA_1_20 : MODULE_FUNCDATA;
    for (size_t i = 0; i < im->section_count && !module; i++)
        if (im->sections[i].alloc && im->sections[i].writable && im->sections[i].bytes)
            module = module_in(im, &im->sections[i], t, table);
    if (module && image_pointer(im, module + words * POINTER, &base))
        t->trees = image_bytes(im, base, &t->trees_size);
}

bool go_table_open(const struct image *im, struct go_table **out)
{
    const struct image_section *s = image_section_named(im, ".gopclntab");
    if (!s)
        s = image_section_named(im, ".data.rel.ro.gopclntab");
    if (!s || !s->bytes)
        return false;
    struct go_table t = {.bytes = s->bytes, .size = s->size};
    struct cursor c = cursor_make(s->bytes, s->size);
    bool known = read_version(&t, cursor_u32(&c));
    cursor_bytes(&c, 2);
    t.quantum = cursor_u8(&c);
    if (cursor_u8(&c) != POINTER || !known)
        return false;
    read_parts(&t, &c);
    if (c.bad || t.functions > t.size || t.count > (t.size - t.functions) / entry_size(&t))
        return false;
    if (t.version == GO_1_2) {
        c = cursor_at(&t, t.functions + t.count * entry_size(&t) + POINTER);
        t.files = cursor_u32(&c);
    } else if (is_relative(&t)) {
        /* a program that is loaded anywhere has the address in its relocations */
        vaddr text;
        if (image_pointer(im, s->addr + 8 + 2 * POINTER, &text))
            t.text = text;
        find_trees(im, &t, s->addr);
    }
    if (!is_sorted(&t))
        return false;
    *out = mem_alloc(sizeof t);
    **out = t;
    return true;
}

/* Behind the record: the offsets of `tables` more tables, and then of data. */
static void read_trees(const struct go_table *t, struct cursor c, uint32_t tables, struct go_function *f)
{
    enum { NODES = 2, TREE = 3 }; /* which of the tables, and of the data */
    f->nodes = f->tree = 0;
    if (!t->trees || tables <= NODES)
        return;
    cursor_bytes(&c, t->version >= GO_1_20 ? 4 + 3 : 3); /* its first line; its kind */
    uint8_t data = cursor_u8(&c);
    cursor_bytes(&c, NODES * 4);
    uint32_t nodes = cursor_u32(&c);
    cursor_bytes(&c, ((uint64_t)tables - NODES - 1) * 4 + TREE * 4);
    uint32_t tree = cursor_u32(&c);
    if (c.bad || data <= TREE || tree == UINT32_MAX || nodes == 0)
        return;
    f->nodes = t->values + nodes;
    f->tree = tree;
}

static bool read_function(const struct go_table *t, uint64_t index, struct go_function *f)
{
    uint64_t record;
    f->begin = begin_of(t, index, &record);
    f->end = begin_of(t, index + 1, NULL);
    struct cursor c = cursor_at(t, record);
    cursor_bytes(&c, is_relative(t) ? 4 : POINTER); /* its address again */
    uint64_t name = t->names + cursor_u32(&c);
    cursor_bytes(&c, 12); /* arguments, deferred calls, the stack */
    f->files = t->values + cursor_u32(&c);
    f->lines = t->values + cursor_u32(&c);
    uint32_t tables = cursor_u32(&c);
    f->unit = t->version == GO_1_2 ? 0 : cursor_u32(&c);
    read_trees(t, c, tables, f);
    struct cursor text = cursor_at(t, name);
    f->name = cursor_cstr(&text);
    return !c.bad && !text.bad;
}

void go_table_entries(const struct go_table *t, struct vaddr_list *entries)
{
    for (uint64_t i = 0; i < t->count; i++) {
        vaddr begin = begin_of(t, i, NULL);
        if (begin && begin < begin_of(t, i + 1, NULL))
            *vec_push(entries) = begin;
    }
}

/* ---- values by code ---- */

struct go_values {
    struct cursor c;
    vaddr to; /* `value` is that of the code in front of it */
    int64_t value;
    bool any;
};

/* To the next range of code; false: there is none. Each has at least one byte of code, so that damaged tables end. */
static bool next_value(const struct go_table *t, struct go_values *v)
{
    uint64_t difference = cursor_uleb(&v->c), length = cursor_uleb(&v->c);
    if (v->c.bad || (v->any && difference == 0) || length == 0 || length > UINT32_MAX)
        return false;
    v->any = true;
    v->value += (int64_t)(difference >> 1) ^ -(int64_t)(difference & 1);
    v->to += length * (t->quantum ? t->quantum : 1);
    return v->value >= INT32_MIN && v->value <= INT32_MAX;
}

static const char *file_name(const struct go_table *t, const struct go_function *f, int64_t number)
{
    uint64_t list = t->version == GO_1_2 ? t->files : t->units + f->unit * 4;
    struct cursor c = cursor_at(t, list), text;
    if (number < 0 || (uint64_t)number > t->size / 4)
        return NULL;
    cursor_bytes(&c, (uint64_t)number * 4);
    uint32_t offset = cursor_u32(&c);
    text = cursor_at(t, t->version == GO_1_2 ? offset : t->files + (uint64_t)offset);
    const char *name = cursor_cstr(&text);
    return c.bad || offset == UINT32_MAX || text.bad ? NULL : name;
}

/* ---- the answer ---- */

/* A stretch of code that is all of one line and one node. */
struct go_stretch {
    vaddr at;
    uint32_t file, line;
    int64_t node; /* -1: none */
};

struct go_answer {
    const struct go_table *t;
    const struct go_function *f;
    struct arena *arena;
    struct VEC(struct go_stretch) stretches;
    struct VEC(const char *) files;
    struct hashmap numbers; /* of a file -> its index */
    struct VEC(struct inline_call) calls;
    struct hashmap call_of; /* node -> its index */
    struct range_list ranges;
};

static uint32_t file_of(struct go_answer *a, int64_t number)
{
    uint32_t *index = hashmap_put(&a->numbers, (uint64_t)number + 1);
    if (*index != HASHMAP_NONE)
        return *index;
    const char *name = file_name(a->t, a->f, number);
    if (!name || !*name)
        return DEBUG_NO_FILE;
    *index = (uint32_t)a->files.count;
    *vec_push(&a->files) = arena_strdup(a->arena, name);
    return *index;
}

static struct go_values values_at(const struct go_answer *a, uint64_t table)
{
    return (struct go_values){.c = cursor_at(a->t, table), .to = a->f->begin, .value = -1};
}

static void list_stretches(struct go_answer *a)
{
    struct go_values file = values_at(a, a->f->files), line = values_at(a, a->f->lines),
                     node = values_at(a, a->f->nodes);
    vaddr at = a->f->begin;
    if (!a->f->nodes)
        node.to = a->f->end;
    while (at < a->f->end) {
        if ((file.to <= at && !next_value(a->t, &file)) || (line.to <= at && !next_value(a->t, &line)))
            break;
        if (node.to <= at && !next_value(a->t, &node)) {
            node.value = -1;
            node.to = a->f->end;
        }
        uint32_t number = line.value > 0 ? (uint32_t)line.value : 0;
        *vec_push(&a->stretches) = (struct go_stretch){at, file_of(a, file.value), number, node.value};
        vaddr to = file.to < line.to ? file.to : line.to;
        at = node.to < to ? node.to : to;
    }
    *vec_push(&a->stretches) = (struct go_stretch){at < a->f->end ? at : a->f->end, DEBUG_NO_FILE, 0, -1};
}

/* A node's contents: whose code it is, and the instruction of the caller that has the call's line. */
static bool read_node(const struct go_answer *a, int64_t node, const char **name, vaddr *call)
{
    uint64_t size = a->t->version >= GO_1_20 ? 16 : 20;
    struct cursor c = cursor_make(a->t->trees, a->t->trees_size);
    if (node < 0 || (uint64_t)node > a->t->trees_size / size)
        return false;
    cursor_bytes(&c, a->f->tree + (uint64_t)node * size + (a->t->version >= GO_1_20 ? 4 : 12));
    uint32_t offset = cursor_u32(&c);
    *call = a->f->begin + cursor_u32(&c);
    struct cursor text = cursor_at(a->t, a->t->names + offset);
    *name = cursor_cstr(&text);
    return !c.bad && !text.bad && *call < a->f->end;
}

static const struct go_stretch *stretch_at(const struct go_answer *a, vaddr at)
{
    size_t low = sorted_front(a->stretches.count, i, a->stretches.items[i].at <= at);
    return &a->stretches.items[low ? low - 1 : 0];
}

static uint32_t add_call(struct go_answer *a, int64_t node, uint32_t parent)
{
    const char *name;
    vaddr call;
    read_node(a, node, &name, &call);
    const struct go_stretch *from = stretch_at(a, call);
    *hashmap_put(&a->call_of, (uint64_t)node) = (uint32_t)a->calls.count;
    *vec_push(&a->calls) = (struct inline_call){.parent = parent,
                                                .name = arena_strdup(a->arena, name),
                                                .link_name = "",
                                                .decl_file = DEBUG_NO_FILE,
                                                .call_file = from->file,
                                                .call_line = from->line};
    return (uint32_t)a->calls.count - 1;
}

enum { DEEPEST = 64 }; /* calls in calls that are followed */

/* The call of a node, after those around it. A cycle, or a deeper chain, is damage. */
static uint32_t call_of_node(struct go_answer *a, int64_t node)
{
    int64_t chain[DEEPEST];
    uint32_t n = 0, found = HASHMAP_NONE;
    const char *name;
    vaddr call;
    while (node >= 0 && (found = hashmap_get(&a->call_of, (uint64_t)node)) == HASHMAP_NONE) {
        if (n == DEEPEST || a->calls.count + n >= LIMIT_INLINES_OF_PROCEDURE || !read_node(a, node, &name, &call))
            return INLINE_NONE;
        chain[n++] = node;
        node = stretch_at(a, call)->node;
    }
    uint32_t parent = node < 0 ? INLINE_NONE : found;
    while (n-- > 0)
        parent = add_call(a, chain[n], parent);
    return parent;
}

struct go_piece { /* of a call: its own code, or that of a call in it */
    uint32_t call;
    struct addr_range range;
};

static int by_call(const void *x, const void *y)
{
    const struct go_piece *a = x, *b = y;
    return order_of(a->call, b->call) ?: order_of(a->range.begin, b->range.begin);
}

/* Ranges: the procedure's, then those of one call after the other. */
static void list_calls(struct go_answer *a)
{
    struct VEC(struct go_piece) pieces = {0};
    for (size_t i = 0; i + 1 < a->stretches.count; i++) {
        const struct go_stretch *s = &a->stretches.items[i];
        uint32_t c = s->node < 0 ? INLINE_NONE : call_of_node(a, s->node);
        if (c != INLINE_NONE && a->calls.items[c].decl_file == DEBUG_NO_FILE)
            a->calls.items[c].decl_file = s->file; /* that of its code: nothing else says it */
        for (int k = 0; k < DEEPEST && c != INLINE_NONE; k++, c = a->calls.items[c].parent)
            *vec_push(&pieces) = (struct go_piece){c, {s->at, s[1].at}};
    }
    vec_sort(&pieces, by_call);
    *vec_push(&a->ranges) = (struct addr_range){a->f->begin, a->f->end};
    for (size_t i = 0, n; i < pieces.count; i += n) {
        struct inline_call *c = &a->calls.items[pieces.items[i].call];
        c->range_first = (uint32_t)a->ranges.count;
        for (n = 0; i + n < pieces.count && pieces.items[i + n].call == pieces.items[i].call; n++)
            *vec_push(&a->ranges) = pieces.items[i + n].range;
        ranges_normalize(&a->ranges, c->range_first);
        c->range_count = (uint32_t)a->ranges.count - c->range_first;
    }
    vec_release(&pieces);
}

static const void *keep(struct arena *arena, const void *items, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size)
        memcpy(copy, items, size);
    return copy;
}

static const struct line_row *rows_of(const struct go_answer *a)
{
    struct line_row *rows = arena_alloc(a->arena, a->stretches.count * sizeof *rows);
    for (size_t i = 0; i < a->stretches.count; i++) {
        const struct go_stretch *s = &a->stretches.items[i];
        rows[i] = (struct line_row){.addr = s->at, .file = s->file, .line = s->line, .is_stmt = true};
    }
    return rows;
}

bool go_table_function_at(const struct go_table *t, vaddr entry, struct arena *arena, struct debug_function *out)
{
    struct go_function f;
    size_t low = sorted_front(t->count, i, begin_of(t, i, NULL) <= entry);
    if (low == 0 || !read_function(t, low - 1, &f) || entry >= f.end)
        return false;
    struct go_answer a = {.t = t, .f = &f, .arena = arena};
    list_stretches(&a);
    list_calls(&a);
    *out = (struct debug_function){.name = arena_strdup(arena, f.name),
                                   .link_name = "",
                                   .comp_dir = "",
                                   .decl_file = a.stretches.items[0].file,
                                   .decl_line = a.stretches.items[0].line,
                                   .language = DW_LANG_Go,
                                   .producer = "Go",
                                   .file_count = (uint32_t)a.files.count,
                                   .rows = (struct line_row *)rows_of(&a),
                                   .row_count = a.stretches.count,
                                   .inline_count = a.calls.count,
                                   .own_range_count = 1,
                                   .range_count = a.ranges.count};
    out->files = keep(arena, a.files.items, a.files.count * sizeof *a.files.items);
    out->inlines = (struct inline_call *)keep(arena, a.calls.items, a.calls.count * sizeof *a.calls.items);
    out->ranges = (struct addr_range *)keep(arena, a.ranges.items, a.ranges.count * sizeof *a.ranges.items);
    vec_release(&a.stretches);
    vec_release(&a.files);
    vec_release(&a.calls);
    vec_release(&a.ranges);
    hashmap_release(&a.numbers);
    hashmap_release(&a.call_of);
    return true;
}

void go_table_close(struct go_table *t)
{
    mem_free(t);
}
