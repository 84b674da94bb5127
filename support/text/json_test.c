/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading JSON: every kind of value, and every kind of error. */
#include "support/support.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <stdlib.h>

static const struct {
    const char *text, *want; /* want: the error message after "j:" */
} wrong[] = {
    {"", "1: the text ends where a value is expected"},
    {"[1,", "1: the text ends where a value is expected"},
    {"[1 2]", "1: expected ',' or ']'"},
    {"[1,]", "1: not a JSON value"},
    {"{\"a\" 1}", "1: expected \"name\": value in an object"},
    {"{1: 2}", "1: expected \"name\": value in an object"},
    {"{\"a\": 1 \"b\": 2}", "1: expected ',' or '}'"},
    {"[\n\"abc", "2: unterminated string"},
    {"\"a\\x\"", "1: a string contains a control character or an invalid escape"},
    {"\"a\nb\"", "1: a string contains a control character or an invalid escape"},
    {"1 2", "1: extra text after the value"},
    {"nul", "1: not a JSON value"},
    {"1.2.3", "1: not a JSON value"},
    {"\"\\u00g9\"", "1: a string contains a control character or an invalid escape"},
    {"\"\\u00@9\"", "1: a string contains a control character or an invalid escape"},
    {"\"\\u00:9\"", "1: a string contains a control character or an invalid escape"},
    {"\"\\u00/9\"", "1: a string contains a control character or an invalid escape"},
    {"\"\\u00e\"", "1: a string contains a control character or an invalid escape"},
    {"\"\\x\"", "1: a string contains a control character or an invalid escape"},
    {"\"a\tb\"", "1: a string contains a control character or an invalid escape"},
    {"\"abc", "1: unterminated string"},
    {"\"\\u00e9", "1: unterminated string"},
    {"+", "1: not a JSON value"},
};

static void test_wrong(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct err err = {0};
        struct json *j;
        CHECK_INT(json_read(wrong[i].text, strlen(wrong[i].text), "j", &j, &err), -1);
        CHECK_STR(err.msg + (str_starts(err.msg, "j:") ? 2 : 0), wrong[i].want);
    }
}

static struct json *parsed(const char *text)
{
    struct json *j = NULL;
    CHECK_INT(json_read(text, strlen(text), "j", &j, NULL), 0);
    return j;
}

static void test_values(void)
{
    struct json *j = parsed("\xef\xbb\xbf {\"a\": [1, -2.5e1, 18446744073709551615, true, null, [], {}],\n \"b\": "
                            "\"x\\u00e9\\ud83d\\ude00\\ud83d\\u0000\\n\"}\n");
    static const enum json_type types[] = {JSON_NUMBER, JSON_NUMBER, JSON_NUMBER, JSON_BOOL,
                                           JSON_NULL,   JSON_ARRAY,  JSON_OBJECT};
    json_ix a = json_get(j, 0, "a"), i = json_first(j, a);
    CHECK_STR(json_key_of(j, a), "a");
    for (size_t k = 0; k < ARRAY_SIZE(types); k++, i = json_next(j, i)) {
        CHECK_INT(json_type_of(j, i), types[k]);
        CHECK_INT(json_first(j, i), JSON_NONE);
    }
    CHECK_INT(i, JSON_NONE);
    i = json_first(j, a);
    CHECK_INT(json_count(j, i), 1);
    i = json_next(j, i);
    CHECK(json_number(j, i) == -25 && json_count(j, i) == 0);
    i = json_next(j, i);
    CHECK(json_count(j, i) == UINT64_MAX);
    i = json_next(j, i);
    CHECK_INT(json_count(j, i), 1);
    json_ix b = json_get(j, 0, "b");
    CHECK_STR(json_string_of(j, b), "x\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\n");
    struct json *hex = parsed("\"\\u00E9\\u0aF0\\u20ac\\u0019\\\"\\/\"");
    CHECK_STR(json_string_of(hex, 0), "\xc3\xa9\xe0\xab\xb0\xe2\x82\xac\x19\"/");
    json_free(hex);
    struct json *pairs = parsed(
        "\"\\ud800\\udc00 \\udbff\\udfff \\ud800\\ue000 \\ud800\\udbff\""); /* the limits, and their neighbours */
    CHECK_STR(json_string_of(pairs, 0),
              "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf \xef\xbf\xbd\xee\x80\x80 \xef\xbf\xbd\xef\xbf\xbd");
    json_free(pairs);
    CHECK_INT(json_line(j, b), 2);
    CHECK_INT(json_get(j, 0, "c"), JSON_NONE);
    CHECK_STR(json_string_of(j, json_get(j, json_get(j, 0, "c"), "d")), "");
    CHECK_INT(json_next(j, b), JSON_NONE);
    json_free(j);
}

/* Truncated anywhere it is rejected, and nothing after it is read; with any byte changed it is read or rejected. */
static void test_cut_off(void)
{
    static const char text[] =
        "{\"a\": [1, -2.5e1, true, null, false, {}, []],\n \"b\\n\": \"x\\u00e9\\ud83d\\ude00\"}";
    struct guarded_room edge = {0};
    struct json *j = NULL;
    size_t refused = 0, untold = 0;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct err err = {0};
        refused += json_read(guarded_copy(&edge, text, n), n, "j", &j, &err) == -1 && !j;
        untold += !str_starts(err.msg, "j:");
    }
    CHECK_INT(refused, sizeof text - 1);
    CHECK_INT(untold, 0);
    CHECK_INT(json_read(guarded_copy(&edge, text, sizeof text - 1), sizeof text - 1, "j", &j, NULL), 0);
    json_free(j);
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (const char *other = "\"\\{}[]:,0e\n"; *other; other++) {
            uint8_t *p = guarded_copy(&edge, text, sizeof text - 1);
            struct err err = {0};
            p[at] = (uint8_t)*other;
            untold += json_read(p, sizeof text - 1, "j", &j, &err) < 0 ? !str_starts(err.msg, "j:") : !j;
            json_free(j);
            p = guarded_copy(&edge, text, at + 1); /* as the last one */
            p[at] = (uint8_t)*other;
            untold += json_read(p, at + 1, "j", &j, &err) < 0 ? !str_starts(err.msg, "j:") : !j;
            json_free(j);
        }
    CHECK_INT(untold, 0);
}

/* ---- random documents: text and expected contents ---- */

struct document {
    struct buf text, want;
    uint32_t line;
};

static void put_blanks(struct document *d)
{
    for (uint32_t n = below(3); n > 0; n--) {
        char c = " \t\r\n"[below(4)];
        buf_char(&d->text, c);
        d->line += c == '\n';
    }
}

static void put_text(struct document *d)
{
    static const struct {
        const char *text, *want;
    } pieces[] = {{"a", "a"},
                  {"\xc3\xa9", "\xc3\xa9"},
                  {"\\n", "\n"},
                  {"\\\"", "\""},
                  {"\\\\", "\\"},
                  {"\\/", "/"},
                  {"\\t", "\t"},
                  {"\\u0041", "A"},
                  {"\\u07ff", "\xdf\xbf"},
                  {"\\u0800", "\xe0\xa0\x80"},
                  {"\\uD83d\\uDe00", "\xf0\x9f\x98\x80"},
                  {" ", " "},
                  {"{[,:", "{[,:"},
                  {"\\u0080", "\xc2\x80"},
                  {"\\u0000", "\xef\xbf\xbd"}};
    buf_char(&d->text, '"');
    buf_char(&d->want, '"');
    for (uint32_t n = below(5); n > 0; n--) {
        uint32_t i = below(ARRAY_SIZE(pieces));
        buf_str(&d->text, pieces[i].text);
        buf_str(&d->want, pieces[i].want);
    }
    buf_char(&d->text, '"');
    buf_char(&d->want, '"');
}

static void put_number(struct document *d)
{
    struct buf number = {0};
    bool whole = below(2);
    if (whole)
        buf_printf(&number, "%llu", (unsigned long long)(random64() >> below(64)));
    else
        buf_printf(&number, "%s%u.%03ue%s%u", below(2) ? "-" : "", below(1000), below(1000), below(2) ? "-" : "+",
                   below(22));
    double value = strtod(number.bytes, NULL);
    uint64_t count = whole ? strtoull(number.bytes, NULL, 10) : value >= 0 && value < 1.8e19 ? (uint64_t)value : 0;
    buf_str(&d->text, number.bytes);
    buf_printf(&d->want, "%.17g %llu", value, (unsigned long long)count);
    buf_release(&number);
}

static void put_value(struct document *d, unsigned depth)
{
    static const char *const words[] = {"null", "false", "true"};
    uint32_t what = below(depth < 6 ? 9 : 5), children = below(4);
    bool object = what > 6;
    put_blanks(d);
    buf_printf(&d->want, "@%u ", d->line);
    if (what < 3) {
        buf_str(&d->text, words[what]);
        buf_str(&d->want, words[what]);
    } else if (what == 3)
        put_number(d);
    else if (what == 4)
        put_text(d);
    else {
        buf_char(&d->text, object ? '{' : '[');
        buf_char(&d->want, object ? '{' : '[');
        for (uint32_t i = 0; i < children; i++) {
            put_blanks(d);
            if (i)
                buf_char(&d->text, ',');
            put_blanks(d);
            if (object) {
                put_text(d);
                put_blanks(d);
                buf_char(&d->text, ':');
            }
            put_value(d, depth + 1);
        }
        put_blanks(d);
        buf_char(&d->text, object ? '}' : ']');
        buf_char(&d->want, object ? '}' : ']');
    }
    put_blanks(d);
}

static void say(struct buf *out, const struct json *j, json_ix i)
{
    enum json_type type = json_type_of(j, i);
    buf_printf(out, "@%u ", json_line(j, i));
    if (type == JSON_NUMBER)
        buf_printf(out, "%.17g %llu", json_number(j, i), (unsigned long long)json_count(j, i));
    else if (type == JSON_STRING)
        buf_printf(out, "\"%s\"", json_string_of(j, i));
    else if (type == JSON_ARRAY || type == JSON_OBJECT) {
        buf_char(out, type == JSON_OBJECT ? '{' : '[');
        for (json_ix k = json_first(j, i); k != JSON_NONE; k = json_next(j, k)) {
            if (type == JSON_OBJECT)
                buf_printf(out, "\"%s\"", json_key_of(j, k));
            say(out, j, k);
        }
        buf_char(out, type == JSON_OBJECT ? '}' : ']');
    } else
        buf_str(out, type == JSON_NULL ? "null" : json_count(j, i) && json_number(j, i) == 1 ? "true" : "false");
}

static void test_documents(void)
{
    enum { ROUNDS = 1000 };
    struct guarded_room edge = {0};
    unsigned same = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct document d = {.line = 1};
        struct buf got = {0};
        struct json *j = NULL;
        struct err err = {0};
        put_value(&d, 0);
        if (json_read(guarded_copy(&edge, d.text.bytes, d.text.len), d.text.len, "j", &j, &err) == 0)
            say(&got, j, 0);
        bool good = got.len && strcmp(got.bytes, d.want.bytes) == 0;
        same += good;
        if (!good && round - same < 3)
            printf("# %s\n# got    %s\n# wanted %s\n", err.msg, got.len ? got.bytes : "", d.want.bytes);
        json_free(j);
        buf_release(&got);
        buf_release(&d.text);
        buf_release(&d.want);
    }
    CHECK_INT(same, ROUNDS);
}

static void test_depth(void)
{
    struct buf deep = {0};
    struct json *j;
    struct err err = {0};
    for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
        buf_char(&deep, '[');
    CHECK_INT(json_read(deep.bytes, deep.len, "j", &j, &err), -1);
    CHECK_INT(err.kind, ERR_LIMIT);
    buf_release(&deep);
}

int main(void)
{
    RUN(test_wrong);
    RUN(test_values);
    RUN(test_cut_off);
    RUN(test_documents);
    RUN(test_depth);
    return tap_done();
}
