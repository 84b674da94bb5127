/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing byte buffer. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void buf_grow_(struct buf *b, size_t n)
{
    if (n > SIZE_MAX / 2 - b->len)
        n = SIZE_MAX / 2 - b->len; /* mem_realloc will say it */
    b->bytes = vec_grow_(b->bytes, &b->capacity, b->len + n + 1, 1);
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    buf_room(b, n);
    if (n)
        memcpy(b->bytes + b->len, bytes, n);
    b->len += n;
    b->bytes[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    buf_room(b, (size_t)n);
    va_start(args, fmt);
    vsnprintf(b->bytes + b->len, (size_t)n + 1, fmt, args);
    va_end(args);
    b->len += (size_t)n;
}

static void little_endian(struct buf *b, uint64_t v, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(v >> 8 * i);
    buf_add(b, bytes, n);
}

void buf_u8(struct buf *b, uint8_t v)
{
    little_endian(b, v, 1);
}

void buf_u16(struct buf *b, uint16_t v)
{
    little_endian(b, v, 2);
}

void buf_u32(struct buf *b, uint32_t v)
{
    little_endian(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
    little_endian(b, v, 8);
}

void buf_uleb(struct buf *b, uint64_t v)
{
    buf_used(b, uleb_put(buf_room(b, LEB_MOST), v));
}

void buf_text(struct buf *b, const char *s, size_t n)
{
    buf_uleb(b, n);
    buf_add(b, s, n);
}

void buf_sleb(struct buf *b, int64_t v)
{
    buf_used(b, sleb_put(buf_room(b, LEB_MOST), v));
}

void buf_base64(struct buf *b, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = bytes;
    buf_room(b, n / 3 * 4 + 4);
    for (; n >= 3; p += 3, n -= 3) {
        uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        char out[4] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63]};
        buf_add(b, out, 4);
    }
    if (n) {
        uint32_t v = (uint32_t)p[0] << 16 | (n == 2 ? (uint32_t)p[1] << 8 : 0);
        char out[4] = {digits[v >> 18], digits[v >> 12 & 63], n == 2 ? digits[v >> 6 & 63] : '=', '='};
        buf_add(b, out, 4);
    }
}

void buf_double(struct buf *b, double v)
{
    char text[40];
    if (v == trunc(v) && fabs(v) < 9007199254740992.0) {
        buf_printf(b, "%lld", (long long)v);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_str(b, text);
}

void buf_release(struct buf *b)
{
    mem_free(b->bytes);
    *b = (struct buf){0};
}

static bool is_harmless(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0], d = (unsigned char)s[1];
    if (len == 0 || c < 0x20 || c == 0x7f)
        return false;
    if (len == 2)
        return !(c == 0xc2 && d < 0xa0) && !(c == 0xd8 && d == 0x9c); /* U+0080..9F, U+061C */
    if (len == 3 && c == 0xe2 && (d == 0x80 || d == 0x81)) {
        unsigned char last = (unsigned char)s[2];
        /* U+200B..200F without width, U+2028..202E separators and embeddings, U+2060..206F joiners and isolates */
        return d == 0x80 ? !(last >= 0x8b && last <= 0x8f) && !(last >= 0xa8 && last <= 0xae)
                         : !(last >= 0xa0 && last <= 0xaf);
    }
    return true;
}

void buf_safe(struct buf *b, const char *s)
{
    for (size_t n = strlen(s); n;) {
        size_t len = utf8_length(s, n), taken = len ? len : 1;
        if (is_harmless(s, len))
            buf_add(b, s, len);
        else
            buf_char(b, '?');
        s += taken;
        n -= taken;
    }
}
