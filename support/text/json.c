/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON text: commas and escaping in one place. */
#include "support/support.h"

#include <math.h>

static void value(struct jsonout *j)
{
    if (j->need_comma)
        buf_char(j->out, ',');
    j->need_comma = true;
}

void json_begin_object(struct jsonout *j)
{
    value(j);
    buf_char(j->out, '{');
    j->need_comma = false;
}

void json_end_object(struct jsonout *j)
{
    buf_char(j->out, '}');
    j->need_comma = true;
}

void json_begin_array(struct jsonout *j)
{
    value(j);
    buf_char(j->out, '[');
    j->need_comma = false;
}

void json_end_array(struct jsonout *j)
{
    buf_char(j->out, ']');
    j->need_comma = true;
}

static void quoted(struct buf *out, const char *s)
{
    size_t n = strlen(s);
    buf_char(out, '"');
    while (n) {
        size_t len = utf8_length(s, n);
        unsigned char c = (unsigned char)*s;
        if (len == 0) {
            buf_str(out, "\xef\xbf\xbd"); /* U+FFFD */
            len = 1;
        } else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\u%04x", c);
        else if (c == '<') /* no "</script" and no "<!--" can come of it */
            buf_str(out, "\\u003c");
        else if (len == 3 && memcmp(s, "\xe2\x80\xa8", 3) == 0)
            buf_str(out, "\\u2028");
        else if (len == 3 && memcmp(s, "\xe2\x80\xa9", 3) == 0)
            buf_str(out, "\\u2029");
        else
            buf_add(out, s, len);
        s += len;
        n -= len;
    }
    buf_char(out, '"');
}

void json_key(struct jsonout *j, const char *key)
{
    value(j);
    quoted(j->out, key);
    buf_char(j->out, ':');
    j->need_comma = false;
}

void json_string(struct jsonout *j, const char *s)
{
    value(j);
    quoted(j->out, s);
}

void json_u64(struct jsonout *j, uint64_t v)
{
    value(j);
    buf_printf(j->out, "%llu", (unsigned long long)v);
}

void json_i64(struct jsonout *j, int64_t v)
{
    value(j);
    buf_printf(j->out, "%lld", (long long)v);
}

void json_double(struct jsonout *j, double v)
{
    value(j);
    if (isfinite(v))
        buf_double(j->out, v);
    else
        buf_str(j->out, "null");
}

void json_bool(struct jsonout *j, bool v)
{
    value(j);
    buf_str(j->out, v ? "true" : "false");
}

void json_null(struct jsonout *j)
{
    value(j);
    buf_str(j->out, "null");
}

void json_put_string(struct jsonout *j, const char *key, const char *s)
{
    json_key(j, key);
    json_string(j, s);
}

void json_put_u64(struct jsonout *j, const char *key, uint64_t v)
{
    json_key(j, key);
    json_u64(j, v);
}

void json_put_i64(struct jsonout *j, const char *key, int64_t v)
{
    json_key(j, key);
    json_i64(j, v);
}

void json_put_double(struct jsonout *j, const char *key, double v)
{
    json_key(j, key);
    json_double(j, v);
}

void json_put_bool(struct jsonout *j, const char *key, bool v)
{
    json_key(j, key);
    json_bool(j, v);
}

void json_put_array(struct jsonout *j, const char *key)
{
    json_key(j, key);
    json_begin_array(j);
}

void json_put_object(struct jsonout *j, const char *key)
{
    json_key(j, key);
    json_begin_object(j);
}
