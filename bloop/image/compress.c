/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed sections: zlib and zstd as in the gABI (SHF_COMPRESSED), and GNU's older .zdebug_*. */
#include "config.h"

#include "bloop/image/elf.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* zlib packs at most 1032:1; a larger size is false. zstd has no useful bound. */
#define ZLIB_MOST 1040

/* Memory is allocated as bytes come out, not when a header claims them: a few bytes can claim gigabytes. */
struct output {
    uint8_t *bytes;
    uint64_t used, capacity, size; /* size: claimed */
};

static bool make_room(struct output *o)
{
    if (o->used < o->capacity)
        return true;
    if (o->capacity == o->size)
        return false;
    o->capacity = o->capacity * 2 < o->size ? o->capacity * 2 : o->size;
    o->bytes = mem_realloc(o->bytes, o->capacity, 1);
    return true;
}

static bool unpack_zlib(struct output *o, const uint8_t *in, uint64_t in_size)
{
    z_stream z = {0};
    int status = Z_OK;
    if (inflateInit(&z) != Z_OK)
        return false;
    z.next_in = (Bytef *)in;
    while (status == Z_OK) { /* zlib counts in 32 bits: feed it piecewise */
        uint64_t in_left = in_size - (uint64_t)(z.next_in - in);
        bool room = make_room(o);
        uint64_t out_left = o->capacity - o->used;
        z.avail_in = in_left > 1u << 30 ? 1u << 30 : (uInt)in_left;
        z.avail_out = out_left > 1u << 30 ? 1u << 30 : (uInt)out_left;
        z.next_out = o->bytes + o->used;
        status = inflate(&z, Z_NO_FLUSH);
        o->used = (uint64_t)(z.next_out - o->bytes);
        if (!room && status == Z_OK) /* more comes than was claimed */
            break;
    }
    inflateEnd(&z);
    return status == Z_STREAM_END && o->used == o->size;
}

static bool unpack_zstd(struct output *o, const uint8_t *in, uint64_t in_size)
{
#ifdef HAVE_ZSTD
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer from = {in, in_size, 0};
    size_t status = 1;
    while (z && from.pos < from.size) {
        make_room(o); /* none: the end of a frame needs none */
        ZSTD_outBuffer to = {o->bytes, o->capacity, o->used};
        size_t before = from.pos;
        status = ZSTD_decompressStream(z, &to, &from);
        bool stands_still = from.pos == before && to.pos == o->used;
        o->used = to.pos;
        if (ZSTD_isError(status) || stands_still)
            break;
    }
    while (z && status != 0 && !ZSTD_isError(status) && from.pos == from.size &&
           make_room(o)) { /* bytes still buffered */
        ZSTD_outBuffer to = {o->bytes, o->capacity, o->used};
        status = ZSTD_decompressStream(z, &to, &from);
        if (to.pos == o->used)
            break;
        o->used = to.pos;
    }
    ZSTD_freeDStream(z);
    return status == 0 && o->used == o->size;
#else
    (void)o, (void)in, (void)in_size;
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
            warnings_add(w, "%s is marked as compressed but does not begin with \"ZLIB\"; it is ignored", what);
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
            warnings_add(w, "%s is compressed in an unknown way (%u); it is ignored", what, type);
            *size = 0;
            return NULL;
        }
    }
    uint64_t packed = cursor_left(&c);
    if (c.bad || *size > LIMIT_SECTION_BYTES || (!zstd && *size / ZLIB_MOST > packed)) {
        warnings_add(w, "%s: its compression header is damaged (it claims %llu bytes in %llu); it is ignored", what,
                     (unsigned long long)*size, (unsigned long long)packed);
        *size = 0;
        return NULL;
    }
#ifndef HAVE_ZSTD
    if (zstd) {
        warnings_add(w, "%s is compressed with zstd, and this hpcview was built without libzstd; it is ignored", what);
        *size = 0;
        return NULL;
    }
#endif
    struct output o = {.size = *size};
    o.capacity = *size < packed * 16 + 4096 ? *size : packed * 16 + 4096;
    o.bytes = mem_alloc(o.capacity ? o.capacity : 1);
    if (!(zstd ? unpack_zstd : unpack_zlib)(&o, c.p, packed)) {
        warnings_add(w, "%s cannot be decompressed: it is damaged; it is ignored", what);
        mem_free(o.bytes);
        *size = 0;
        return NULL;
    }
    return o.bytes;
}
