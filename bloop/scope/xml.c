/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope tree as XML: PGM > LM > F > P > (A | L | S), in the tradition of bloop's PGM. doc/formats/structure.md
 * describes it, share/schemas/structure.rng is its schema.
 *
 * Version 4: address ranges, inlined calls (A), kinds, roles and instances of loops; one file per tree.
 * Version 3 (bloop 1, HPCView): P, L and S with lines only; read, not written. G elements are passed through as if not
 * there.
 */
#include "bloop/scope/scope_int.h"

#include <errno.h>
#include <stdlib.h>

/* ---- out ---- */

struct writer {
    const struct scope_tree *tree;
    struct xmlout *xml;
    struct buf ranges;
};

static const char *text(const struct writer *w, str_id id)
{
    return strtab_get(w->tree->strings, id);
}

static void attr_text(struct writer *w, const char *name, str_id id)
{
    if (id)
        xmlout_attr(w->xml, name, text(w, id));
}

static void attr_lines(struct writer *w, const struct scope *s)
{
    if (s->line_first)
        xmlout_attr_u64(w->xml, "b", s->line_first);
    if (s->line_last && s->line_last != s->line_first)
        xmlout_attr_u64(w->xml, "e", s->line_last);
}

static void attr_ranges(struct writer *w, const struct scope *s)
{
    static const char digits[] = "0123456789abcdef";
    w->ranges.len = 0;
    for (uint32_t r = 0; r < s->range_count; r++) {
        const struct addr_range *range = &w->tree->ranges[s->range_first + r];
        const vaddr ends[2] = {range->begin, range->end};
        if (r)
            buf_char(&w->ranges, ' ');
        for (int k = 0; k < 2; k++) {
            char hex[16];
            unsigned n = 0;
            for (vaddr v = ends[k]; v || n == 0; v >>= 4)
                hex[15 - n++] = digits[v & 15];
            buf_add(&w->ranges, hex + 16 - n, n);
            if (k == 0)
                buf_char(&w->ranges, '-');
        }
    }
    if (s->range_count)
        xmlout_attr(w->xml, "v", w->ranges.bytes);
}

/* The default file of a scope's own lines. */
static str_id inherited_file(const struct scope_tree *t, const struct scope *s)
{
    if (s->parent == SCOPE_NONE)
        return 0;
    const struct scope *parent = &t->scopes[s->parent];
    return parent->kind == SCOPE_FILE ? parent->name : parent->file;
}

static void attr_file(struct writer *w, const struct scope *s)
{
    if (s->file != inherited_file(w->tree, s))
        xmlout_attr(w->xml, "f", text(w, s->file));
}

static void write_proc(struct writer *w, const struct scope *s)
{
    xmlout_begin(w->xml, "P");
    xmlout_attr(w->xml, "n", text(w, s->name));
    if (s->short_name != s->name)
        xmlout_attr(w->xml, "sn", text(w, s->short_name));
    if (s->link_name != s->name)
        xmlout_attr(w->xml, "ln", text(w, s->link_name));
    attr_text(w, "of", s->origin);
    if (s->outlined)
        xmlout_attr(w->xml, "k", "outlined");
    attr_file(w, s);
    attr_lines(w, s);
    xmlout_attr_printf(w->xml, "a", "%llx", (unsigned long long)s->entry);
    attr_ranges(w, s);
}

static void write_inline(struct writer *w, const struct scope *s)
{
    xmlout_begin(w->xml, "A");
    xmlout_attr(w->xml, "n", text(w, s->name));
    if (s->short_name != s->name)
        xmlout_attr(w->xml, "sn", text(w, s->short_name));
    attr_text(w, "ln", s->link_name);
    if (s->call_file != inherited_file(w->tree, s))
        xmlout_attr(w->xml, "cf", text(w, s->call_file));
    if (s->call_line)
        xmlout_attr_u64(w->xml, "cb", s->call_line);
    attr_file(w, s);
    attr_lines(w, s);
}

static void write_loop(struct writer *w, const struct scope *s)
{
    xmlout_begin(w->xml, "L");
    attr_file(w, s);
    attr_lines(w, s);
    if (s->irreducible)
        xmlout_attr(w->xml, "k", "irreducible");
    if (s->role != LOOP_PLAIN)
        xmlout_attr(w->xml, "r", loop_role_name(s->role));
    if (s->instances > 1)
        xmlout_attr_printf(w->xml, "i", "%u/%u", s->instance, s->instances);
    if (s->on_line)
        xmlout_attr_u64(w->xml, "o", s->on_line);
    xmlout_attr_printf(w->xml, "a", "%llx", (unsigned long long)s->entry);
    attr_ranges(w, s);
}

static void write_scope(struct writer *w, const struct scope *s)
{
    switch (s->kind) {
    case SCOPE_MODULE:
        xmlout_begin(w->xml, "LM");
        xmlout_attr(w->xml, "n", text(w, s->name));
        attr_text(w, "d", s->origin);
        break;
    case SCOPE_FILE:
        xmlout_begin(w->xml, "F");
        xmlout_attr(w->xml, "n", text(w, s->name));
        break;
    case SCOPE_PROC:
        write_proc(w, s);
        break;
    case SCOPE_INLINE:
        write_inline(w, s);
        break;
    case SCOPE_LOOP:
        write_loop(w, s);
        break;
    default:
        xmlout_begin(w->xml, "S");
        attr_file(w, s);
        attr_lines(w, s);
        attr_ranges(w, s);
    }
}

static void end_scope(void *ctx, scope_ix scope)
{
    struct writer *w = ctx;
    (void)scope;
    xmlout_end(w->xml);
}

void scope_write_xml(const struct scope_tree *t, struct outfile *out)
{
    struct writer w = {.tree = t, .xml = xmlout_create(out, NULL)};
    struct scope_walk walk = {.tree = t};
    xmlout_begin(w.xml, "PGM");
    xmlout_attr_u64(w.xml, "version", SCOPE_XML_VERSION);
    for (size_t i = 0; i < t->scope_count; i++) {
        scope_walk_close(&walk, (scope_ix)i, end_scope, &w);
        write_scope(&w, &t->scopes[i]);
    }
    scope_walk_close(&walk, SCOPE_NONE, end_scope, &w);
    xmlout_end(w.xml);
    xmlout_finish(w.xml);
    buf_release(&w.ranges);
}

/* ---- in ---- */

enum mark { MARK_NOTHING, MARK_SCOPE };

static int fail(struct scope_reader *r, const struct xml_event *e, struct err *err, const char *what)
{
    return err_set(err, ERR_FORMAT, "%s:%llu: %s: %s", r->name, (unsigned long long)e->line, e->element, what);
}

int scope_attr_line(struct scope_reader *r, const struct xml_event *e, const char *attr, uint32_t *value,
                    struct err *err)
{
    const char *s = xml_attr_get(e, attr);
    *value = 0;
    if (!s)
        return 0;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || n > UINT32_MAX)
        return err_set(err, ERR_FORMAT, "%s:%llu: %s: %s=\"%.40s\" is not a number below 2^32", r->name,
                       (unsigned long long)e->line, e->element, attr, s);
    *value = (uint32_t)n;
    return 0;
}

/* One hexadecimal number with or without 0x, at *s; false: none there. */
static bool hex_number(const char **s, vaddr *value)
{
    const char *p = *s;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    const char *first = p;
    for (*value = 0; p - first < 16; p++) {
        int digit = *p >= '0' && *p <= '9'                 ? *p - '0'
                    : (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10
                                                           : -1;
        if (digit < 0)
            break;
        *value = *value << 4 | (vaddr)digit;
    }
    *s = p;
    return p > first;
}

/* Ranges of one attribute in order and merged if they touch: other tools write them in any order. */
static int by_begin(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return order_of(x->begin, y->begin);
}

int scope_attr_ranges(struct scope_reader *r, const struct xml_event *e, const char *attr, bool keep, vaddr *first,
                      struct err *err)
{
    const char *s = xml_attr_get(e, attr);
    struct VEC(struct addr_range) ranges = {0};
    int status = 0;
    if (!s)
        return 0;
    for (;;) {
        struct addr_range range;
        s += strspn(s, " \t\n{}[)");
        if (!*s)
            break;
        if (!hex_number(&s, &range.begin) || *s++ != '-' || !hex_number(&s, &range.end) || range.begin >= range.end ||
            (*s && !strchr(" \t\n)}", *s))) {
            status = err_set(err, ERR_FORMAT, "%s:%llu: %s: %s is not a list of address ranges like 1180-11a4", r->name,
                             (unsigned long long)e->line, e->element, attr);
            break;
        }
        *vec_push(&ranges) = range;
    }
    if (status == 0 && ranges.count) {
        qsort(ranges.items, ranges.count, sizeof *ranges.items, by_begin);
        *first = ranges.items[0].begin;
    }
    if (status == 0 && keep) {
        struct scope_tree *t = r->builder.tree;
        for (size_t i = 0; i < ranges.count; i++) {
            struct addr_range range = ranges.items[i];
            struct scope *s_open = &t->scopes[t->scope_count - 1];
            if (s_open->range_count && t->ranges[t->range_count - 1].end >= range.begin) {
                if (t->ranges[t->range_count - 1].end < range.end)
                    t->ranges[t->range_count - 1].end = range.end;
            } else {
                scope_builder_range(&r->builder, range.begin, range.end);
            }
        }
    }
    vec_release(&ranges);
    return status;
}

static str_id add(struct scope_reader *r, const struct xml_event *e, const char *attr, str_id otherwise)
{
    const char *s = xml_attr_get(e, attr);
    return s ? strtab_add(r->builder.tree->strings, s) : otherwise;
}

static int read_entry(struct scope_reader *r, const struct xml_event *e, struct scope *s, struct err *err)
{
    const char *a = xml_attr_get(e, "a");
    if (a && (!hex_number(&a, &s->entry) || *a))
        return fail(r, e, err, "a is not a hexadecimal address");
    return 0;
}

static int read_lines(struct scope_reader *r, const struct xml_event *e, struct scope *s, struct err *err)
{
    if (scope_attr_line(r, e, "b", &s->line_first, err) < 0 || scope_attr_line(r, e, "e", &s->line_last, err) < 0)
        return -1;
    if (s->line_last == 0)
        s->line_last = s->line_first;
    if (s->line_last < s->line_first)
        return fail(r, e, err, "the last line e comes before the first line b");
    return 0;
}

static int read_loop(struct scope_reader *r, const struct xml_event *e, struct scope *s, struct err *err)
{
    const char *kind = xml_attr_get(e, "k"), *role = xml_attr_get(e, "r"), *instance = xml_attr_get(e, "i");
    s->irreducible = kind && strcmp(kind, "irreducible") == 0;
    for (int k = LOOP_PLAIN; role && k <= LOOP_UNROLLED; k++)
        if (strcmp(role, loop_role_name((enum loop_role)k)) == 0)
            s->role = (uint8_t)k;
    if (instance) {
        char *slash, *end;
        unsigned long k = strtoul(instance, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
        if (*slash != '/' || *end || k < 1 || k > n || n > UINT32_MAX)
            return fail(r, e, err, "i is not an instance like 1/2");
        s->instance = (uint32_t)k;
        s->instances = (uint32_t)n;
    }
    return scope_attr_line(r, e, "o", &s->on_line, err);
}

static void read_names(struct scope_reader *r, const struct xml_event *e, struct scope *s)
{
    s->name = add(r, e, "n", 0);
    s->short_name = add(r, e, "sn", s->name);
    s->link_name = add(r, e, "ln", s->kind == SCOPE_PROC ? s->name : 0);
}

int scope_element_kind(const char *name)
{
    static const struct {
        const char *name;
        enum scope_kind kind;
    } kinds[] = {{"LM", SCOPE_MODULE}, {"F", SCOPE_FILE}, {"P", SCOPE_PROC},
                 {"A", SCOPE_INLINE},  {"L", SCOPE_LOOP}, {"S", SCOPE_STMT}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (int)kinds[i].kind;
    return -1;
}

/* The document order of kinds: files in modules, procedures in files, the rest in procedures. A version 3 file may
   leave a level out (an F right under PGM): then the missing one is made up. */
static int place(struct scope_reader *r, const struct xml_event *e, int kind, struct err *err)
{
    struct scope *top = scope_builder_top(&r->builder);
    int above = top ? top->kind : -1;
    bool ok;
    if (kind == SCOPE_MODULE)
        ok = above == -1;
    else if (kind == SCOPE_FILE)
        ok = above == SCOPE_MODULE;
    else if (kind == SCOPE_PROC)
        ok = above == SCOPE_FILE;
    else
        ok = above >= SCOPE_PROC && above != SCOPE_STMT;
    return ok ? 0 : fail(r, e, err, "not allowed here; the order is PGM, LM, F, P, then A, L and S");
}

int scope_read_xml_begin(void *ctx, const struct xml_event *e, struct err *err)
{
    struct scope_reader *r = ctx;
    int kind = scope_element_kind(e->element);
    *vec_push(&r->marks) = MARK_NOTHING;
    if (strcmp(e->element, "PGM") == 0 && r->marks.count == 1) {
        const char *version = xml_attr_get(e, "version");
        if (version && strtoul(version, NULL, 10) > SCOPE_XML_VERSION)
            return err_set(err, ERR_UNSUPPORTED,
                           "%s:%llu: this is version %.20s of the format; this hpcview reads up to %d", r->name,
                           (unsigned long long)e->line, version, SCOPE_XML_VERSION);
        return 0;
    }
    if (strcmp(e->element, "G") == 0)
        return 0;
    if (kind < 0)
        return fail(r, e, err, "no such element in a scope tree (PGM, LM, F, P, A, L, S)");
    if (place(r, e, kind, err) < 0)
        return -1;
    if (r->builder.tree->scope_count >= SCOPE_NONE - 1)
        return err_set(err, ERR_LIMIT, "%s: more scopes than 32-bit indices can address", r->name);
    r->marks.items[r->marks.count - 1] = MARK_SCOPE;
    struct scope *s = scope_builder_begin(&r->builder, (enum scope_kind)kind);
    const struct scope_tree *t = r->builder.tree;
    if (kind >= SCOPE_PROC)
        s->file = add(r, e, "f", inherited_file(t, s));
    if (kind <= SCOPE_INLINE)
        read_names(r, e, s);
    if (kind == SCOPE_FILE)
        s->file = s->name;
    if (kind == SCOPE_MODULE || kind == SCOPE_FILE)
        s->link_name = s->short_name = 0;
    if (kind == SCOPE_MODULE)
        s->origin = add(r, e, "d", 0);
    if (kind == SCOPE_PROC) {
        const char *k = xml_attr_get(e, "k");
        s->origin = add(r, e, "of", 0);
        s->outlined = k && strcmp(k, "outlined") == 0;
    }
    if (kind == SCOPE_INLINE) {
        s->call_file = add(r, e, "cf", inherited_file(t, s));
        if (scope_attr_line(r, e, "cb", &s->call_line, err) < 0)
            return -1;
    }
    if (read_lines(r, e, s, err) < 0 || read_entry(r, e, s, err) < 0 ||
        (kind == SCOPE_LOOP && read_loop(r, e, s, err) < 0))
        return -1;
    vaddr first = 0;
    bool holds = kind == SCOPE_PROC || kind == SCOPE_LOOP || kind == SCOPE_STMT;
    return scope_attr_ranges(r, e, "v", holds, &first, err);
}

int scope_read_xml_end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct scope_reader *r = ctx;
    (void)e, (void)err;
    if (r->marks.items[--r->marks.count] == MARK_SCOPE)
        scope_builder_end(&r->builder);
    return 0;
}

/* ---- the door for both formats ---- */

struct door {
    struct scope_reader reader;
    struct xml_handler inner;
};

/* The root element determines the format. */
static int door_begin(void *ctx, const struct xml_event *e, struct err *err)
{
    struct door *d = ctx;
    if (!d->inner.begin) {
        if (strcmp(e->element, "PGM") == 0)
            d->inner = (struct xml_handler){scope_read_xml_begin, scope_read_xml_end, &d->reader};
        else if (strcmp(e->element, "HPCToolkitStructure") == 0)
            d->inner = (struct xml_handler){scope_read_hpcstruct_begin, scope_read_hpcstruct_end, &d->reader};
        else
            return err_set(err, ERR_FORMAT,
                           "%s:%llu: the root element is %s; a structure file has PGM or HPCToolkitStructure",
                           d->reader.name, (unsigned long long)e->line, e->element);
    }
    return d->inner.begin(d->inner.ctx, e, err);
}

static int door_end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct door *d = ctx;
    return d->inner.end(d->inner.ctx, e, err);
}

int scope_tree_read(const char *path, struct scope_tree **tree, struct warnings *warnings, struct err *err)
{
    struct filemap file;
    struct scope_tree *t = NULL;
    *tree = NULL;
    if (filemap_open(&file, path, err) < 0)
        return -1;
    t = scope_tree_create();
    struct door d = {.reader = {.builder = {.tree = t}, .warnings = warnings, .name = path}};
    struct xml_handler handler = {door_begin, door_end, &d};
    int status = xml_read(file.bytes, file.len, path, &handler, err);
    if (d.inner.begin == scope_read_hpcstruct_begin)
        scope_reader_finish_hpcstruct(&d.reader);
    scope_builder_release(&d.reader.builder);
    vec_release(&d.reader.marks);
    vec_release(&d.reader.files);
    filemap_release(&file);
    if (status < 0) {
        scope_tree_free(t);
        return -1;
    }
    bool ours = d.inner.begin == scope_read_xml_begin;
    if ((ours ? scope_tree_check(t, err) : scope_check_indices(t, err)) < 0) {
        scope_tree_free(t);
        return err_in(err, "%s", path);
    }
    *tree = t;
    return 0;
}

void scope_tree_write(struct scope_tree *t, enum scope_format format, struct outfile *out)
{
    switch (format) {
    case SCOPE_XML:
        scope_write_xml(t, out);
        break;
    case SCOPE_HPCSTRUCT:
        scope_write_hpcstruct(t, out);
        break;
    case SCOPE_OUTLINE:
        scope_write_outline(t, out);
        break;
    }
}
