/* SPDX-License-Identifier: BSD-3-Clause */
/* libxml2 behind a stream of elements; XML text out. */
#include "support/support.h"

#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <stdio.h>

/* ---- in ---- */

struct xml_reader {
    const struct xml_handler *handler;
    struct err *err;
    const char *name;
    xmlParserCtxtPtr parser;
    struct VEC(bool) open; /* elements: whether there are others in it */
    struct VEC(struct xml_attr) attrs;
    struct buf text, values; /* text: of the innermost, while there are no elements in it */
    bool failed;
};

static void stop(struct xml_reader *r)
{
    r->failed = true;
    xmlStopParser(r->parser);
}

static uint64_t line_of(const struct xml_reader *r)
{
    int line = xmlSAX2GetLineNumber(r->parser);
    return line > 0 ? (uint64_t)line : 0;
}

/* SAX2 gives attributes in fives: local name, prefix, namespace, begin and end of the value. */
static void collect_attributes(struct xml_reader *r, int count, const xmlChar **given)
{
    r->attrs.count = 0;
    r->values.len = 0;
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += (size_t)(given[i * 5 + 4] - given[i * 5 + 3]) + 1;
    if (r->values.capacity < total + 1) /* so that no later growth moves what attrs point at */
        r->values.bytes = vec_grow_(r->values.bytes, &r->values.capacity, total + 1, 1);
    for (int i = 0; i < count; i++) {
        const xmlChar **five = given + i * 5;
        const char *value = r->values.bytes + r->values.len;
        buf_add(&r->values, five[3], (size_t)(five[4] - five[3]));
        buf_add(&r->values, "", 1);
        *vec_push(&r->attrs) = (struct xml_attr){(const char *)five[0], value};
    }
}

static void on_begin(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int ns_count,
                     const xmlChar **namespaces, int attr_count, int defaulted, const xmlChar **attrs)
{
    struct xml_reader *r = ctx;
    (void)prefix, (void)uri, (void)ns_count, (void)namespaces, (void)defaulted;
    if (r->failed)
        return;
    if (r->open.count >= LIMIT_XML_DEPTH) {
        err_set(r->err, ERR_LIMIT, "%s:%llu: elements are nested more than %d deep (LIMIT_XML_DEPTH)", r->name,
                (unsigned long long)line_of(r), LIMIT_XML_DEPTH);
        stop(r);
        return;
    }
    if (r->open.count)
        r->open.items[r->open.count - 1] = true;
    r->text.len = 0;
    *vec_push(&r->open) = false;
    collect_attributes(r, attr_count, attrs);
    struct xml_event event = {(const char *)local, r->attrs.items, r->attrs.count, line_of(r), ""};
    if (r->handler->begin && r->handler->begin(r->handler->ctx, &event, r->err) < 0)
        stop(r);
}

static void on_end(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
    struct xml_reader *r = ctx;
    (void)prefix, (void)uri;
    if (r->failed || r->open.count == 0)
        return;
    bool has_children = r->open.items[--r->open.count];
    buf_add(&r->text, "", 0); /* terminates */
    struct xml_event event = {(const char *)local, NULL, 0, line_of(r), has_children ? "" : r->text.bytes};
    if (r->handler->end && r->handler->end(r->handler->ctx, &event, r->err) < 0)
        stop(r);
}

static void on_text(void *ctx, const xmlChar *text, int len)
{
    struct xml_reader *r = ctx;
    if (!r->failed && r->open.count && !r->open.items[r->open.count - 1])
        buf_add(&r->text, text, (size_t)len);
}

static void on_error(void *ctx, xmlErrorPtr error)
{
    struct xml_reader *r = ctx;
    /* errors below "fatal", as an undeclared prefix, are ignored */
    if (r->failed || error->level < XML_ERR_FATAL || r->err->kind != ERR_NONE)
        return;
    size_t n = error->message ? strcspn(error->message, "\n") : 0;
    err_set(r->err, ERR_FORMAT, "%s:%d: not well-formed XML: %.*s", r->name, error->line, (int)n,
            error->message ? error->message : "");
}

static void no_words(void *ctx, const char *format, ...)
{
    (void)ctx;
    (void)format;
}

/* No entity is ever looked up but the five of XML itself; documents of ours need none. */
static xmlEntityPtr no_entity(void *ctx, const xmlChar *name)
{
    (void)ctx;
    return xmlGetPredefinedEntity(name);
}

int xml_read(const void *bytes, size_t len, const char *name, const struct xml_handler *handler, struct err *err)
{
    struct err own = {0};
    struct xml_reader r = {.handler = handler, .err = err ? err : &own, .name = name};
    xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = on_begin,
                         .endElementNs = on_end,
                         .characters = on_text,
                         .cdataBlock = on_text,
                         .getEntity = no_entity,
                         .serror = (xmlStructuredErrorFunc)on_error};
    enum { PART = 1 << 20 };
    r.err->kind = ERR_NONE;
    r.err->msg[0] = '\0';
    if (len > LIMIT_XML_BYTES)
        return err_set(err, ERR_LIMIT, "%s: is larger than %llu bytes (LIMIT_XML_BYTES)", name, LIMIT_XML_BYTES);
    if (len == 0) /* libxml2 would speak of content at its end */
        return err_set(err, ERR_FORMAT, "%s: not well-formed XML: the file is empty", name);
    xmlInitParser();
    xmlSetGenericErrorFunc(NULL, no_words); /* the library's way to standard error; a thread's own */
    r.parser = xmlCreatePushParserCtxt(&sax, &r, NULL, 0, NULL);
    if (!r.parser)
        return err_set(err, ERR_SYSTEM, "%s: libxml2 cannot be initialized", name);
    /* NOENT: without it "&amp;" in attributes arrives as "&#38;"; no_entity keeps it to the five. */
    xmlCtxtUseOptions(r.parser, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES);
    const char *at = bytes;
    int status = 0;
    for (size_t left = len; left && !r.failed && status == 0;) {
        size_t n = left < PART ? left : PART;
        status = xmlParseChunk(r.parser, at, (int)n, 0);
        at += n;
        left -= n;
    }
    if (!r.failed && status == 0)
        status = xmlParseChunk(r.parser, NULL, 0, 1);
    if (status != 0 && !r.failed && r.err->kind == ERR_NONE)
        err_set(r.err, ERR_FORMAT, "%s: not well-formed XML", name);
    bool failed = r.failed || status != 0;
    /* The parser makes a document of its own for entities declared in the file, and leaves it to us. */
    xmlFreeDoc(r.parser->myDoc);
    r.parser->myDoc = NULL;
    xmlFreeParserCtxt(r.parser);
    vec_release(&r.open);
    vec_release(&r.attrs);
    buf_release(&r.text);
    buf_release(&r.values);
    return failed ? -1 : 0;
}

int xml_attrs_known(const struct xml_event *e, const char *name, const char *const *known, struct err *err)
{
    for (size_t i = 0; i < e->attr_count; i++) {
        bool found = false;
        for (const char *const *k = known; *k; k++)
            found |= strcmp(*k, e->attrs[i].name) == 0;
        if (found)
            continue;
        const char *near = str_nearest(e->attrs[i].name, known);
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> has no attribute '%s'%s%s%s", name, (unsigned long long)e->line,
                       e->element, e->attrs[i].name, near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
    }
    return 0;
}

int xml_attr_wrong(const struct xml_event *e, const char *name, const char *attr, const char *value, const char *right,
                   struct err *err)
{
    return err_set(err, ERR_FORMAT, "%s:%llu: <%s %s=\"%s\">: %s", name, (unsigned long long)e->line, e->element, attr,
                   value, right);
}

const char *xml_attr_get(const struct xml_event *event, const char *name)
{
    for (size_t i = 0; i < event->attr_count; i++)
        if (strcmp(event->attrs[i].name, name) == 0)
            return event->attrs[i].value;
    return NULL;
}

/* ---- out ---- */

struct xmlout {
    struct outfile *file;
    struct VEC(const char *) open;
    bool tag_open; /* "<name ..." still lacks its ">" */
    bool text_inside;
};

struct xmlout *xmlout_create(struct outfile *file, const char *doctype)
{
    struct xmlout *x = mem_calloc(1, sizeof *x);
    x->file = file;
    outfile_printf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if (doctype)
        outfile_printf(file, "%s\n", doctype);
    return x;
}

static void put(struct xmlout *x, const char *s)
{
    outfile_write(x->file, s, strlen(s));
}

static void indent(struct xmlout *x)
{
    for (size_t i = 0; i < x->open.count; i++)
        outfile_write(x->file, " ", 1);
}

static void close_tag(struct xmlout *x)
{
    if (x->tag_open)
        put(x, ">");
    x->tag_open = false;
}

void xmlout_begin(struct xmlout *x, const char *element)
{
    if (x->tag_open)
        put(x, ">\n");
    x->tag_open = true;
    indent(x);
    put(x, "<");
    put(x, element);
    *vec_push(&x->open) = element;
}

static void escaped(struct xmlout *x, const char *s)
{
    size_t n = strlen(s), plain = 0;
    while (plain < n) {
        unsigned char c = (unsigned char)s[plain];
        size_t len = utf8_length(s + plain, n - plain);
        const char *instead = NULL;
        if (c == '<')
            instead = "&lt;";
        else if (c == '>')
            instead = "&gt;";
        else if (c == '&')
            instead = "&amp;";
        else if (c == '"')
            instead = "&quot;";
        else if (c == '\n')
            instead = "&#10;";
        else if (c == '\t')
            instead = "&#9;";
        else if (len == 0 || c < 0x20 || (len == 3 && memcmp(s + plain, "\xef\xbf\xbe", 3) == 0) ||
                 (len == 3 && memcmp(s + plain, "\xef\xbf\xbf", 3) == 0))
            instead = "\xef\xbf\xbd"; /* U+FFFD: not a character XML allows */
        if (!instead) {
            plain += len;
            continue;
        }
        outfile_write(x->file, s, plain);
        put(x, instead);
        s += plain + (len ? len : 1);
        n -= plain + (len ? len : 1);
        plain = 0;
    }
    outfile_write(x->file, s, n);
}

void xmlout_attr(struct xmlout *x, const char *name, const char *value)
{
    put(x, " ");
    put(x, name);
    put(x, "=\"");
    escaped(x, value);
    put(x, "\"");
}

void xmlout_attr_u64(struct xmlout *x, const char *name, uint64_t value)
{
    outfile_printf(x->file, " %s=\"%llu\"", name, (unsigned long long)value);
}

void xmlout_attr_printf(struct xmlout *x, const char *name, const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    text = mem_vprintf(fmt, args);
    va_end(args);
    xmlout_attr(x, name, text);
    mem_free(text);
}

void xmlout_text(struct xmlout *x, const char *text)
{
    close_tag(x);
    x->text_inside = true;
    escaped(x, text);
}

void xmlout_end(struct xmlout *x)
{
    const char *element = x->open.items[--x->open.count];
    if (x->tag_open)
        put(x, "/>\n");
    else {
        if (!x->text_inside)
            indent(x);
        put(x, "</");
        put(x, element);
        put(x, ">\n");
    }
    x->tag_open = x->text_inside = false;
}

void xmlout_finish(struct xmlout *x)
{
    while (x->open.count)
        xmlout_end(x);
    vec_release(&x->open);
    mem_free(x);
}
