/* Reading bytes without ever passing the end. */
#include "support/support.h"

struct cursor cursor_make(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    return (struct cursor){p, len ? p + len : p, false};
}

size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
    if (c->bad || cursor_left(c) < n) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *at = c->p;
    if (n)
        c->p += n;
    return at;
}

static uint64_t fixed(struct cursor *c, size_t n)
{
    const uint8_t *p = cursor_bytes(c, n);
    uint64_t v = 0;
    if (p)
        for (size_t i = 0; i < n; i++)
            v |= (uint64_t)p[i] << 8 * i;
    return v;
}

uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)fixed(c, 1);
}

uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)fixed(c, 2);
}

uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)fixed(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
    return fixed(c, 8);
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
