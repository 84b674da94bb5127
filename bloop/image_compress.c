/* Compressed sections: zlib and zstd as in the gABI (SHF_COMPRESSED), and GNU's older .zdebug_*. */
#include "config.h"

#include "bloop/image_int.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* zlib packs at most 1032:1; a size beyond that is a lie that would cost memory. */
#define ZLIB_MOST 1040

static bool unpack_zlib(uint8_t *out, uint64_t out_size, const uint8_t *in, uint64_t in_size)
{
    z_stream z = {0};
    bool ok = false;
    if (inflateInit(&z) != Z_OK)
        return false;
    z.next_in = (Bytef *)in;
    z.next_out = out;
    for (;;) { /* zlib counts in 32 bits: feed it piecewise */
        uint64_t in_left = in_size - (uint64_t)(z.next_in - in), out_left = out_size - (uint64_t)(z.next_out - out);
        z.avail_in = in_left > 1u << 30 ? 1u << 30 : (uInt)in_left;
        z.avail_out = out_left > 1u << 30 ? 1u << 30 : (uInt)out_left;
        int status = inflate(&z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            ok = (uint64_t)(z.next_out - out) == out_size;
            break;
        }
        if (status != Z_OK)
            break;
    }
    inflateEnd(&z);
    return ok;
}

static bool unpack_zstd(uint8_t *out, uint64_t out_size, const uint8_t *in, uint64_t in_size)
{
#ifdef HAVE_ZSTD
    size_t n = ZSTD_decompress(out, out_size, in, in_size);
    return !ZSTD_isError(n) && n == out_size;
#else
    (void)out, (void)out_size, (void)in, (void)in_size;
    return false;
#endif
}

uint8_t *section_decompress(const struct elf_section *s, uint64_t *size, const char *what, struct warnings *w)
{
    struct cursor c = cursor_make(s->raw, s->size);
    bool zstd = false;
    *size = 0;
    if (s->zdebug) {
        const uint8_t *magic = cursor_bytes(&c, 4);
        if (!magic || memcmp(magic, "ZLIB", 4) != 0) {
            warnings_add(w, "%s is called compressed but does not begin with \"ZLIB\"; it is left out", what);
            return NULL;
        }
        for (int i = 0; i < 8; i++) /* the one big-endian number in the file */
            *size = *size << 8 | cursor_u8(&c);
    } else {
        uint32_t type = cursor_u32(&c);
        cursor_u32(&c);
        *size = cursor_u64(&c);
        cursor_u64(&c); /* alignment */
        zstd = type == ELFCOMPRESS_ZSTD;
        if (!c.bad && !zstd && type != ELFCOMPRESS_ZLIB) {
            warnings_add(w, "%s is compressed in an unknown way (%u); it is left out", what, type);
            *size = 0;
            return NULL;
        }
    }
    uint64_t packed = cursor_left(&c);
    if (c.bad || *size > LIMIT_SECTION_BYTES || (!zstd && *size / ZLIB_MOST > packed)) {
        warnings_add(w, "%s: its compression header is damaged (it claims %llu bytes in %llu); it is left out", what,
                     (unsigned long long)*size, (unsigned long long)packed);
        *size = 0;
        return NULL;
    }
#ifndef HAVE_ZSTD
    if (zstd) {
        warnings_add(w, "%s is compressed with zstd, and this hpcview was built without libzstd; it is left out", what);
        *size = 0;
        return NULL;
    }
#endif
    uint8_t *out = mem_alloc(*size ? *size : 1);
    if (!(zstd ? unpack_zstd : unpack_zlib)(out, *size, c.p, packed)) {
        warnings_add(w, "%s cannot be decompressed: it is damaged; it is left out", what);
        mem_free(out);
        *size = 0;
        return NULL;
    }
    return out;
}
