/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of bytes as text: zlib, as base64. */
#include "htmlgen/format/format.h"

#include <zlib.h>

int htmlgen_pack(struct buf *base64, const void *bytes, size_t n, struct err *err)
{
    if (n > UINT32_MAX)
        return err_set(err, ERR_LIMIT, "a part of the database would have %zu bytes; the limit is %lu", n,
                       (unsigned long)UINT32_MAX);
    uLongf len = compressBound((uLong)n);
    uint8_t *packed = mem_alloc(len ? len : 1);
    int status = compress2(packed, &len, n ? bytes : packed, (uLong)n, 6);
    if (status != Z_OK) {
        mem_free(packed);
        return err_set(err, ERR_SYSTEM, "zlib cannot compress %zu bytes (its status %d)", n, status);
    }
    buf_base64(base64, packed, len);
    mem_free(packed);
    return 0;
}

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static uint8_t *decode_base64(const char *text, size_t n, size_t *len)
{
    uint8_t *bytes = mem_alloc(n / 4 * 3 + 4);
    uint32_t bits = 0;
    unsigned have = 0;
    *len = 0;
    for (size_t i = 0; i < n && base64_digit(text[i]) >= 0; i++) {
        bits = bits << 6 | (unsigned)base64_digit(text[i]);
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes[(*len)++] = (uint8_t)(bits >> have);
        }
    }
    return bytes;
}

static bool inflate_block(const uint8_t *packed, size_t n, struct htmlgen_block *b)
{
    z_stream z = {0};
    size_t capacity = n < (1u << 20) ? 1u << 16 : 4 * n;
    int status = Z_OK;
    if (n > 1u << 30 || inflateInit(&z) != Z_OK)
        return false;
    *b = (struct htmlgen_block){mem_alloc(capacity), 0};
    z.next_in = (Bytef *)packed;
    z.avail_in = (uInt)n;
    while (status == Z_OK && capacity <= LIMIT_BLOCK_BYTES) {
        if (b->len == capacity)
            b->bytes = mem_realloc(b->bytes, capacity *= 2, 1);
        size_t room = capacity - b->len;
        z.next_out = b->bytes + b->len;
        z.avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
        status = inflate(&z, Z_NO_FLUSH);
        b->len = (size_t)(z.next_out - b->bytes);
    }
    inflateEnd(&z);
    if (status != Z_STREAM_END)
        mem_free(b->bytes);
    return status == Z_STREAM_END;
}

bool htmlgen_unpack(const char *base64, size_t n, struct htmlgen_block *b)
{
    size_t len;
    uint8_t *packed = decode_base64(base64, n, &len);
    bool is = inflate_block(packed, len, b);
    mem_free(packed);
    return is;
}
