/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCToolkit's .hpcstruct, version 4.9, out and in.
 *
 * What that format lacks: more than one line per scope, ranges except those of statements, loop kinds. What it requires: all
 * code in some S. So instructions without a line become an S of line 0 under the scope they are in.
 *
 * An inlined call is a double A, the outer one for the call site, the inner one for the callee. A single A called
 * "<inline>" guards an S or L that is not in the file of its surroundings, or stands before the procedure's first line.
 */
#include "bloop/scope/scope_int.h"

/* Its cache check looks for the comment with the version. */
static const char doctype[] = "<!DOCTYPE HPCToolkitStructure [\n"
                              "<!-- Version 4.9 -->\n"
                              "<!ELEMENT HPCToolkitStructure (LM)*>\n"
                              "<!ATTLIST HPCToolkitStructure\n"
                              "          i       CDATA #REQUIRED\n"
                              "          version CDATA #REQUIRED\n"
                              "          n       CDATA #REQUIRED>\n"
                              "<!ELEMENT LM (F|P)*>\n"
                              "<!ATTLIST LM\n"
                              "          i         CDATA #REQUIRED\n"
                              "          n         CDATA #REQUIRED\n"
                              "          has-calls CDATA #IMPLIED\n"
                              "          v         CDATA #IMPLIED>\n"
                              "<!ELEMENT F (P|L|S)*>\n"
                              "<!ATTLIST F\n"
                              "          i CDATA #REQUIRED\n"
                              "          n CDATA #REQUIRED>\n"
                              "<!ELEMENT P (P|A|L|S|C)*>\n"
                              "<!ATTLIST P\n"
                              "          i  CDATA #REQUIRED\n"
                              "          n  CDATA #REQUIRED\n"
                              "          ln CDATA #IMPLIED\n"
                              "          s  CDATA #IMPLIED\n"
                              "          l  CDATA #IMPLIED\n"
                              "          v  CDATA #IMPLIED>\n"
                              "<!ELEMENT A (A|L|S|C)*>\n"
                              "<!ATTLIST A\n"
                              "          i  CDATA #REQUIRED\n"
                              "          f  CDATA #IMPLIED\n"
                              "          n  CDATA #IMPLIED\n"
                              "          ln CDATA #IMPLIED\n"
                              "          l  CDATA #IMPLIED\n"
                              "          v  CDATA #IMPLIED>\n"
                              "<!ELEMENT L (A|L|S|C)*>\n"
                              "<!ATTLIST L\n"
                              "          i CDATA #REQUIRED\n"
                              "          l CDATA #IMPLIED\n"
                              "          f CDATA #IMPLIED\n"
                              "          v CDATA #IMPLIED>\n"
                              "<!ELEMENT S EMPTY>\n"
                              "<!ATTLIST S\n"
                              "          i CDATA #REQUIRED\n"
                              "          l CDATA #IMPLIED\n"
                              "          v CDATA #IMPLIED>\n"
                              "<!ELEMENT C EMPTY>\n"
                              "<!ATTLIST C\n"
                              "          i CDATA #REQUIRED\n"
                              "          l CDATA #IMPLIED\n"
                              "          v CDATA #IMPLIED\n"
                              "          t CDATA #IMPLIED\n"
                              "          d CDATA #IMPLIED>\n"
                              "]>";

#define NO_FILE   "[binary]"
#define GUARD     "<inline>"
#define NO_RANGES "{}"

/* ---- out ---- */

/* Addresses of each scope that are in none of its children: [first[i], first[i + 1]) of `ranges`. */
struct own_code {
    uint32_t *first;
    struct addr_range *ranges;
};

struct writer {
    const struct scope_tree *tree;
    struct xmlout *xml;
    struct own_code own;
    struct buf ranges;
    uint64_t id;
    uint8_t *elements; /* per scope: how many end tags it takes */
    uint32_t proc_line;
};

static struct own_code own_code_make(struct scope_tree *t)
{
    const struct scope_lookup *l = scope_lookup_get(t);
    struct own_code own = {mem_calloc(t->scope_count + 2, sizeof *own.first),
                           mem_alloc((l->count + 1) * sizeof *own.ranges)};
    for (size_t i = 0; i + 1 < l->count; i++)
        if (l->scopes[i] != SCOPE_NONE)
            own.first[l->scopes[i] + 2]++;
    for (size_t i = 2; i < t->scope_count + 2; i++)
        own.first[i] += own.first[i - 1];
    for (size_t i = 0; i + 1 < l->count; i++)
        if (l->scopes[i] != SCOPE_NONE)
            own.ranges[own.first[l->scopes[i] + 1]++] = (struct addr_range){l->begins[i], l->begins[i + 1]};
    return own;
}

static void begin(struct writer *w, const char *element)
{
    xmlout_begin(w->xml, element);
    xmlout_attr_u64(w->xml, "i", w->id++);
}

static void attr_name(struct writer *w, const char *attr, str_id id)
{
    xmlout_attr(w->xml, attr, strtab_get(w->tree->strings, id));
}

static void attr_file(struct writer *w, const char *attr, str_id id)
{
    xmlout_attr(w->xml, attr, id ? strtab_get(w->tree->strings, id) : NO_FILE);
}

static void attr_ranges(struct writer *w, const struct addr_range *of, size_t first, size_t count)
{
    w->ranges.len = 0;
    for (size_t r = first; r < first + count; r++)
        buf_printf(&w->ranges, "%s[0x%llx-0x%llx)", r > first ? " " : "{", (unsigned long long)of[r].begin,
                   (unsigned long long)of[r].end);
    buf_char(&w->ranges, '}');
    xmlout_attr(w->xml, "v", w->ranges.bytes);
}

static void attr_one_byte(struct writer *w, vaddr at)
{
    xmlout_attr_printf(w->xml, "v", "{[0x%llx-0x%llx)}", (unsigned long long)at, (unsigned long long)at + 1);
}

static str_id file_above(const struct scope_tree *t, const struct scope *s)
{
    const struct scope *parent = &t->scopes[s->parent];
    return parent->kind == SCOPE_FILE ? parent->name : parent->file;
}

/* An A around a scope that would otherwise be shown in the wrong file or outside its procedure's lines. */
static unsigned guard(struct writer *w, const struct scope *s)
{
    str_id above = file_above(w->tree, s);
    bool in_proc = w->tree->scopes[s->parent].kind == SCOPE_PROC;
    if (s->file == above && !(in_proc && s->line_first && s->line_first < w->proc_line))
        return 0;
    begin(w, "A");
    attr_file(w, "f", s->file);
    xmlout_attr(w->xml, "n", GUARD);
    xmlout_attr_u64(w->xml, "l", s->line_first);
    xmlout_attr(w->xml, "v", NO_RANGES);
    return 1;
}

static void write_own_code(struct writer *w, size_t i)
{
    uint32_t first = w->own.first[i], last = w->own.first[i + 1];
    if (first == last)
        return;
    begin(w, "S");
    xmlout_attr_u64(w->xml, "l", 0);
    attr_ranges(w, w->own.ranges, first, last - first);
    xmlout_end(w->xml);
}

static unsigned write_proc(struct writer *w, size_t i)
{
    const struct scope *s = &w->tree->scopes[i];
    begin(w, "P");
    attr_name(w, "n", s->name);
    if (s->link_name != s->name)
        attr_name(w, "ln", s->link_name);
    xmlout_attr_u64(w->xml, "l", s->line_first);
    attr_one_byte(w, s->entry);
    w->proc_line = s->line_first;
    write_own_code(w, i);
    return 1;
}

static unsigned write_inline(struct writer *w, size_t i)
{
    const struct scope *s = &w->tree->scopes[i];
    begin(w, "A");
    attr_file(w, "f", s->call_file);
    xmlout_attr(w->xml, "n", "");
    xmlout_attr_u64(w->xml, "l", s->call_line);
    xmlout_attr(w->xml, "v", NO_RANGES);
    begin(w, "A");
    attr_file(w, "f", s->file);
    attr_name(w, "n", s->name);
    if (s->link_name)
        attr_name(w, "ln", s->link_name);
    xmlout_attr_u64(w->xml, "l", s->line_first);
    xmlout_attr(w->xml, "v", NO_RANGES);
    return 2;
}

static unsigned write_loop(struct writer *w, size_t i)
{
    const struct scope *s = &w->tree->scopes[i];
    unsigned guards = guard(w, s);
    begin(w, "L");
    xmlout_attr_u64(w->xml, "l", s->line_first);
    attr_file(w, "f", s->file);
    attr_one_byte(w, s->entry);
    write_own_code(w, i);
    return guards + 1;
}

static unsigned write_stmt(struct writer *w, size_t i)
{
    const struct scope *s = &w->tree->scopes[i];
    unsigned guards = guard(w, s);
    begin(w, "S");
    xmlout_attr_u64(w->xml, "l", s->line_first);
    attr_ranges(w, w->tree->ranges, s->range_first, s->range_count);
    return guards + 1;
}

static unsigned write_scope(struct writer *w, size_t i)
{
    const struct scope *s = &w->tree->scopes[i];
    switch (s->kind) {
    case SCOPE_MODULE:
        begin(w, "LM");
        attr_name(w, "n", s->name);
        xmlout_attr(w->xml, "has-calls", "0");
        xmlout_attr(w->xml, "v", NO_RANGES);
        return 1;
    case SCOPE_FILE:
        begin(w, "F");
        attr_file(w, "n", s->name);
        return 1;
    case SCOPE_PROC:
        return write_proc(w, i);
    case SCOPE_INLINE:
        return write_inline(w, i);
    case SCOPE_LOOP:
        return write_loop(w, i);
    default:
        return write_stmt(w, i);
    }
}

static void end_scope(void *ctx, scope_ix scope)
{
    struct writer *w = ctx;
    for (unsigned n = w->elements[scope]; n; n--)
        xmlout_end(w->xml);
}

void scope_write_hpcstruct(struct scope_tree *t, struct outfile *out)
{
    struct writer w = {.tree = t, .xml = xmlout_create(out, doctype), .own = own_code_make(t), .id = 2};
    struct scope_walk walk = {.tree = t};
    w.elements = mem_calloc(t->scope_count + 1, 1);
    xmlout_begin(w.xml, "HPCToolkitStructure");
    xmlout_attr(w.xml, "i", "0");
    xmlout_attr(w.xml, "version", "4.9");
    xmlout_attr(w.xml, "n", "");
    for (size_t i = 0; i < t->scope_count; i++) {
        scope_walk_close(&walk, (scope_ix)i, end_scope, &w);
        w.elements[i] = (uint8_t)write_scope(&w, i);
    }
    scope_walk_close(&walk, SCOPE_NONE, end_scope, &w);
    xmlout_end(w.xml);
    xmlout_finish(w.xml);
    mem_free(w.own.first);
    mem_free(w.own.ranges);
    mem_free(w.elements);
    buf_release(&w.ranges);
}

/* ---- in ---- */

enum mark { MARK_NOTHING, MARK_SCOPE, MARK_CALL_SITE };

static int fail(struct scope_reader *r, const struct xml_event *e, struct err *err, const char *what)
{
    return err_set(err, ERR_FORMAT, "%s:%llu: %s: %s", r->name, (unsigned long long)e->line, e->element, what);
}

static str_id file_id(struct scope_reader *r, const char *name)
{
    return strcmp(name, NO_FILE) == 0 ? 0 : strtab_add(r->builder.tree->strings, name);
}

/* The element's own file, else that of the enclosing scope. */
static str_id file_of(struct scope_reader *r, const struct xml_event *e, const char *attr)
{
    const char *f = xml_attr_get(e, attr);
    return f && *f ? file_id(r, f) : r->files.items[r->files.count - 2];
}

static bool may_stand(int above, int kind)
{
    switch (kind) {
    case SCOPE_MODULE:
        return above == -1;
    case SCOPE_FILE:
        return above == SCOPE_MODULE;
    case SCOPE_PROC:
        return above == SCOPE_FILE;
    default:
        return above >= SCOPE_PROC && above != SCOPE_STMT;
    }
}

/* An A is a call site (the outer of two), a callee (the inner), or a guard; only the callee becomes a scope. */
static enum mark read_alien(struct scope_reader *r, const struct xml_event *e, uint32_t line)
{
    const char *n = xml_attr_get(e, "n");
    bool inner = r->marks.count > 1 && r->marks.items[r->marks.count - 2] == MARK_CALL_SITE;
    r->files.items[r->files.count - 1] = file_of(r, e, "f");
    if (!n || !*n) {
        r->call_file = r->files.items[r->files.count - 1];
        r->call_line = line;
        return MARK_CALL_SITE;
    }
    if (!inner && strcmp(n, GUARD) == 0)
        return MARK_NOTHING;
    struct scope *s = scope_builder_begin(&r->builder, SCOPE_INLINE);
    s->name = s->short_name = strtab_add(r->builder.tree->strings, n);
    s->link_name = strtab_add(r->builder.tree->strings, xml_attr_get(e, "ln"));
    s->file = r->files.items[r->files.count - 1];
    s->line_first = s->line_last = line;
    if (inner) {
        s->call_file = r->call_file;
        s->call_line = r->call_line;
    }
    return MARK_SCOPE;
}

/* Code without a line, in front of all else in a procedure or loop: that scope's own, as the writer had it. */
static bool is_own_code(const struct scope_reader *r, const struct scope *top, int kind, uint32_t line)
{
    const struct scope_tree *t = r->builder.tree;
    return kind == SCOPE_STMT && line == 0 && (top->kind == SCOPE_PROC || top->kind == SCOPE_LOOP) &&
           top == &t->scopes[t->scope_count - 1];
}

static int read_scope(struct scope_reader *r, const struct xml_event *e, int kind, uint32_t line, struct err *err)
{
    const char *n = xml_attr_get(e, "n"), *ln = xml_attr_get(e, "ln");
    struct strtab *strings = r->builder.tree->strings;
    if (kind == SCOPE_FILE && (!n || !*n))
        return fail(r, e, err, "a file needs a name n");
    struct scope *s = scope_builder_begin(&r->builder, (enum scope_kind)kind);
    if (kind <= SCOPE_FILE) {
        s->name = kind == SCOPE_FILE ? file_id(r, n) : strtab_add(strings, n);
        s->file = kind == SCOPE_FILE ? s->name : 0;
        r->files.items[r->files.count - 1] = s->file;
        return 0;
    }
    s->file = r->files.items[r->files.count - 1] = file_of(r, e, "f");
    s->line_first = s->line_last = line;
    if (kind == SCOPE_PROC) {
        s->name = s->short_name = strtab_add(strings, n);
        s->link_name = ln ? strtab_add(strings, ln) : s->name;
    }
    /* A procedure's and a loop's range is one byte, to say where the entry is: nothing a look-up could use. */
    vaddr first = 0;
    if (scope_attr_ranges(r, e, "v", kind == SCOPE_STMT, &first, err) < 0)
        return -1;
    if (kind != SCOPE_STMT)
        r->builder.tree->scopes[r->builder.tree->scope_count - 1].entry = first;
    return 0;
}

int scope_read_hpcstruct_begin(void *ctx, const struct xml_event *e, struct err *err)
{
    struct scope_reader *r = ctx;
    int kind = scope_element_kind(e->element);
    uint32_t line;
    *vec_push(&r->marks) = MARK_NOTHING;
    str_id around = r->files.count ? r->files.items[r->files.count - 1] : 0;
    *vec_push(&r->files) = around;
    if (r->marks.count == 1 || strcmp(e->element, "C") == 0)
        return 0;
    struct scope *top = scope_builder_top(&r->builder);
    if (kind < 0)
        return fail(r, e, err, "no such element in an .hpcstruct file (LM, F, P, A, L, S, C)");
    if (!may_stand(top ? top->kind : -1, kind))
        return fail(r, e, err, "not allowed here; the order is LM, F, P, then A, L, S and C");
    if (scope_attr_line(r, e, "l", &line, err) < 0)
        return -1;
    if (top && is_own_code(r, top, kind, line)) {
        vaddr first;
        return scope_attr_ranges(r, e, "v", true, &first, err);
    }
    enum mark mark = MARK_SCOPE;
    if (kind == SCOPE_INLINE)
        mark = read_alien(r, e, line);
    else if (read_scope(r, e, kind, line, err) < 0)
        return -1;
    r->marks.items[r->marks.count - 1] = (uint8_t)mark;
    return 0;
}

int scope_read_hpcstruct_end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct scope_reader *r = ctx;
    (void)e, (void)err;
    r->files.count--;
    if (r->marks.items[--r->marks.count] == MARK_SCOPE)
        scope_builder_end(&r->builder);
    return 0;
}

void scope_reader_finish_hpcstruct(struct scope_reader *r)
{
    struct scope_tree *t = r->builder.tree;
    for (size_t i = t->scope_count; i-- > 0;) {
        const struct scope *s = &t->scopes[i];
        struct scope *parent = s->parent == SCOPE_NONE ? NULL : &t->scopes[s->parent];
        if (parent && parent->kind >= SCOPE_PROC && s->kind != SCOPE_INLINE && s->file == parent->file &&
            parent->line_first && s->line_last > parent->line_last)
            parent->line_last = s->line_last;
    }
}
