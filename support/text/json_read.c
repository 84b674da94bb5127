/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading JSON (RFC 8259): every value is a row of one table, children behind their parent. */
#include "support/support.h"

#include <stdio.h>

struct node {
    uint8_t type; /* enum json_type */
    bool empty;   /* ARRAY, OBJECT: without children */
    json_ix next; /* the next one in the same array or object, or JSON_NONE */
    const char *key, *text;
    double number;
    uint64_t count;
    uint32_t line;
};

struct json {
    struct arena *arena;
    struct VEC(struct node) nodes;
};

struct json_parser {
    struct json *json;
    const char *at, *end, *name;
    uint32_t line;
    struct buf text;
    struct VEC(json_ix) open; /* arrays and objects around, and the last child of each */
    struct VEC(json_ix) last;
    struct err *err;
};

static int wrong(struct json_parser *p, const char *what)
{
    return err_set(p->err, ERR_FORMAT, "%s:%u: %s", p->name, p->line, what);
}

static void skip_space(struct json_parser *p)
{
    for (; p->at < p->end && strchr(" \t\r\n", *p->at) && *p->at; p->at++)
        p->line += *p->at == '\n';
}

static bool next_is(struct json_parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

/* ---- strings ------------------------------------------------------------------------------------- */

static bool hex4(struct json_parser *p, uint32_t *value)
{
    *value = 0;
    if (p->end - p->at < 4)
        return false;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = *p->at;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (unsigned)digit;
    }
    return true;
}

static void add_utf8(struct buf *out, uint32_t c)
{
    if (c < 0x80)
        buf_char(out, (char)c);
    else if (c < 0x800) {
        buf_char(out, (char)(0xc0 | c >> 6));
        buf_char(out, (char)(0x80 | (c & 63)));
    } else {
        if (c < 0x10000)
            buf_char(out, (char)(0xe0 | c >> 12));
        else {
            buf_char(out, (char)(0xf0 | c >> 18));
            buf_char(out, (char)(0x80 | (c >> 12 & 63)));
        }
        buf_char(out, (char)(0x80 | (c >> 6 & 63)));
        buf_char(out, (char)(0x80 | (c & 63)));
    }
}

/* Behind "\u". A NUL, and half of a pair, is U+FFFD: our texts end at a NUL. */
static bool read_unicode(struct json_parser *p)
{
    uint32_t c, low;
    if (!hex4(p, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u') {
        const char *before = p->at;
        p->at += 2;
        if (!hex4(p, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
        else
            p->at = before;
    }
    add_utf8(&p->text, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
    return true;
}

static bool read_escape(struct json_parser *p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at == p->end)
        return false;
    char c = *p->at++;
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        buf_char(&p->text, to[found - from]);
    return found || (c == 'u' && read_unicode(p));
}

/* Behind the quote; the text is the document's. */
static int read_string(struct json_parser *p, const char **text)
{
    p->text.len = 0;
    for (;;) {
        const char *begin = p->at;
        while (p->at < p->end && *p->at != '"' && *p->at != '\\' && (unsigned char)*p->at >= 32)
            p->at++;
        buf_add(&p->text, begin, (size_t)(p->at - begin));
        if (p->at == p->end)
            return wrong(p, "unterminated string");
        char c = *p->at++;
        if (c == '"')
            break;
        if (c != '\\' || !read_escape(p))
            return wrong(p, "a string contains a control character or an invalid escape");
    }
    *text = arena_strndup(p->json->arena, p->text.len ? p->text.bytes : "", p->text.len);
    return 0;
}

/* ---- values ------------------------------------------------------------------------------------------ */

static bool number_char(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static int read_number(struct json_parser *p, struct node *n)
{
    char text[64], *end;
    size_t len = 0;
    bool whole = true;
    for (; p->at < p->end && number_char(*p->at) && len < sizeof text - 1; p->at++) {
        text[len++] = *p->at;
        whole = whole && *p->at >= '0' && *p->at <= '9';
    }
    text[len] = '\0';
    n->type = JSON_NUMBER;
    n->number = strtod(text, &end);
    if (len == 0 || *end || (p->at < p->end && number_char(*p->at)))
        return wrong(p, "not a JSON value");
    for (size_t i = 0; i < len && whole; i++)
        whole = !__builtin_mul_overflow(n->count, 10, &n->count) &&
                !__builtin_add_overflow(n->count, (uint64_t)(text[i] - '0'), &n->count);
    if (!whole)
        n->count = n->number >= 0 && n->number < 1.8e19 ? (uint64_t)n->number : 0;
    return 0;
}

static bool word(struct json_parser *p, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* Any value but the inside of an array or object, whose bracket is taken. */
static int read_value(struct json_parser *p, struct node *n)
{
    skip_space(p);
    if (p->at == p->end)
        return wrong(p, "the text ends where a value is expected");
    n->line = p->line;
    if (next_is(p, '{'))
        n->type = JSON_OBJECT;
    else if (next_is(p, '['))
        n->type = JSON_ARRAY;
    else if (next_is(p, '"')) {
        n->type = JSON_STRING;
        return read_string(p, &n->text);
    } else if (word(p, "true"))
        n->type = JSON_BOOL, n->count = 1, n->number = 1;
    else if (word(p, "false"))
        n->type = JSON_BOOL;
    else if (word(p, "null"))
        n->type = JSON_NULL;
    else
        return read_number(p, n);
    return 0;
}

static int add_value(struct json_parser *p, const char *key)
{
    struct node n = {.next = JSON_NONE, .key = key, .text = ""};
    if (read_value(p, &n) < 0)
        return -1;
    json_ix index = (json_ix)p->json->nodes.count;
    if (p->json->nodes.count >= LIMIT_JSON_VALUES)
        return err_set(p->err, ERR_LIMIT, "%s:%u: has more than %u values", p->name, p->line, LIMIT_JSON_VALUES);
    *vec_push(&p->json->nodes) = n;
    if (p->open.count) {
        json_ix *last = &p->last.items[p->last.count - 1];
        if (*last != JSON_NONE)
            p->json->nodes.items[*last].next = index;
        *last = index;
    }
    if (n.type == JSON_ARRAY || n.type == JSON_OBJECT) {
        if (p->open.count == LIMIT_JSON_DEPTH)
            return err_set(p->err, ERR_LIMIT, "%s:%u: is nested deeper than %d levels", p->name, p->line,
                           LIMIT_JSON_DEPTH);
        *vec_push(&p->open) = index;
        *vec_push(&p->last) = JSON_NONE;
    }
    return 0;
}

/* One more child of the innermost open one, or its end. */
static int read_child(struct json_parser *p)
{
    bool object = p->json->nodes.items[p->open.items[p->open.count - 1]].type == JSON_OBJECT;
    bool first = p->last.items[p->last.count - 1] == JSON_NONE;
    const char *key = NULL;
    if (next_is(p, object ? '}' : ']')) {
        p->json->nodes.items[p->open.items[p->open.count - 1]].empty = first;
        p->open.count--;
        p->last.count--;
        return 0;
    }
    if (!first && !next_is(p, ','))
        return wrong(p, object ? "expected ',' or '}'" : "expected ',' or ']'");
    if (object && (!next_is(p, '"') || read_string(p, &key) < 0 || !next_is(p, ':')))
        return wrong(p, "expected \"name\": value in an object");
    return add_value(p, key);
}

int json_read(const void *bytes, size_t len, const char *name, struct json **result, struct err *err)
{
    const char *text = bytes;
    struct json *json = mem_calloc(1, sizeof *json);
    struct json_parser p = {
        .json = json, .at = text, .end = len ? text + len : text, .name = name, .line = 1, .err = err};
    json->arena = arena_create();
    *result = NULL;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        p.at += 3;
    int status = add_value(&p, NULL);
    while (status == 0 && p.open.count)
        status = read_child(&p);
    skip_space(&p);
    if (status == 0 && p.at != p.end)
        status = wrong(&p, "extra text after the value");
    buf_release(&p.text);
    vec_release(&p.open);
    vec_release(&p.last);
    if (status < 0)
        json_free(json);
    else
        *result = json;
    return status;
}

void json_free(struct json *json)
{
    if (!json)
        return;
    arena_free(json->arena);
    vec_release(&json->nodes);
    mem_free(json);
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

static const struct node *node_at(const struct json *j, json_ix i)
{
    return i < j->nodes.count ? &j->nodes.items[i] : NULL;
}

enum json_type json_type_of(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n ? (enum json_type)n->type : JSON_NULL;
}

json_ix json_first(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n && (n->type == JSON_ARRAY || n->type == JSON_OBJECT) && !n->empty ? i + 1 : JSON_NONE;
}

json_ix json_next(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n ? n->next : JSON_NONE;
}

const char *json_key_of(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n && n->key ? n->key : "";
}

json_ix json_get(const struct json *j, json_ix object, const char *key)
{
    if (json_type_of(j, object) != JSON_OBJECT)
        return JSON_NONE;
    json_ix i = json_first(j, object);
    while (i != JSON_NONE && strcmp(json_key_of(j, i), key) != 0)
        i = json_next(j, i);
    return i;
}

const char *json_string_of(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n && n->type == JSON_STRING ? n->text : "";
}

double json_number(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n && (n->type == JSON_NUMBER || n->type == JSON_BOOL) ? n->number : 0;
}

uint64_t json_count(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n && (n->type == JSON_NUMBER || n->type == JSON_BOOL) ? n->count : 0;
}

uint32_t json_line(const struct json *j, json_ix i)
{
    const struct node *n = node_at(j, i);
    return n ? n->line : 0;
}
