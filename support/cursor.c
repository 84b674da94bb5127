/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading bytes without ever passing the end. */
#include "support/support.h"

struct cursor cursor_make(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    return (struct cursor){.p = p, .end = len ? p + len : p};
}

/* LEB128 (DWARF 5, 7.6). More than ten bytes cannot be a 64-bit number: bad. */
static uint64_t leb(struct cursor *c, unsigned *bits, uint8_t *last)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = cursor_u8(c);
        if (shift > 63)
            c->bad = true;
        if (c->bad)
            return 0;
        v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    *bits = shift;
    *last = byte;
    return v;
}

uint64_t cursor_uleb(struct cursor *c)
{
    unsigned bits;
    uint8_t last;
    return leb(c, &bits, &last);
}

int64_t cursor_sleb(struct cursor *c)
{
    unsigned bits = 0;
    uint8_t last = 0;
    uint64_t v = leb(c, &bits, &last);
    if (bits < 64 && (last & 0x40))
        v |= ~(uint64_t)0 << bits;
    return (int64_t)v;
}

const char *cursor_text(struct cursor *c, size_t *len)
{
    uint64_t n = cursor_uleb(c);
    const uint8_t *bytes = n <= cursor_left(c) ? cursor_bytes(c, n) : NULL;
    c->bad = c->bad || !bytes;
    *len = bytes ? n : 0;
    return (const char *)bytes;
}

const char *cursor_cstr(struct cursor *c)
{
    const uint8_t *nul = c->bad || c->p == c->end ? NULL : memchr(c->p, 0, cursor_left(c));
    if (!nul) {
        c->bad = true;
        return "";
    }
    const char *s = (const char *)c->p;
    c->p = nul + 1;
    return s;
}
