/* Packed files: gzip (RFC 1952) and zstd (RFC 8878). zlib and zstd live behind this. */
#include "config.h"

#include "filters/filters_int.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

struct output {
    uint8_t *bytes;
    size_t used, capacity;
};

/* Room for more; false at the limit. */
static bool make_room(struct output *o)
{
    if (o->used < o->capacity)
        return true;
    if (o->capacity == LIMIT_IMPORT_BYTES)
        return false;
    o->capacity = o->capacity < LIMIT_IMPORT_BYTES / 2 ? o->capacity * 2 : LIMIT_IMPORT_BYTES;
    o->bytes = mem_realloc(o->bytes, o->capacity, 1);
    return true;
}

static const char *const too_large = "unpacked it has more than the 4 GiB that are read of a file (LIMIT_IMPORT_BYTES)";

/* NULL, or what is wrong. Members may follow each other; bytes after the last one that are none are passed over, as
   gzip does. */
static const char *unpack_gzip(struct output *o, const uint8_t *in, size_t in_len)
{
    z_stream z = {0};
    const char *wrong = NULL;
    int status = Z_OK;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return "there is no memory to unpack it";
    z.next_in = (Bytef *)in;
    while (!wrong) {
        size_t left = in_len - (size_t)(z.next_in - in);
        if (status == Z_STREAM_END) {
            if (left < 2 || z.next_in[0] != 0x1f || z.next_in[1] != 0x8b || inflateReset(&z) != Z_OK)
                break;
        }
        if (!make_room(o)) {
            wrong = too_large;
            break;
        }
        size_t room = o->capacity - o->used;
        z.avail_in = left > 1u << 30 ? 1u << 30 : (uInt)left; /* zlib counts in 32 bits */
        z.avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
        z.next_out = o->bytes + o->used;
        status = inflate(&z, Z_NO_FLUSH);
        o->used = (size_t)(z.next_out - o->bytes);
        if (status != Z_OK && status != Z_STREAM_END)
            wrong = left == 0 || status == Z_BUF_ERROR ? "its gzip data end too early" : "its gzip data are damaged";
    }
    inflateEnd(&z);
    return wrong;
}

static const char *unpack_zstd(struct output *o, const uint8_t *in, size_t in_len)
{
#ifdef HAVE_ZSTD
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer from = {in, in_len, 0};
    const char *wrong = z ? NULL : "there is no memory to unpack it";
    size_t status = 1;
    while (!wrong && (from.pos < in_len || status != 0)) {
        if (!make_room(o)) {
            wrong = too_large;
            break;
        }
        ZSTD_outBuffer to = {o->bytes, o->capacity, o->used};
        size_t before = from.pos;
        status = ZSTD_decompressStream(z, &to, &from);
        if (ZSTD_isError(status))
            wrong = "its zstd data are damaged";
        else if (from.pos == before && to.pos == o->used && status != 0)
            wrong = "its zstd data end too early";
        o->used = to.pos;
    }
    ZSTD_freeDStream(z);
    return wrong;
#else
    (void)o, (void)in, (void)in_len;
    return "is packed with zstd, and this hpcview was built without it";
#endif
}

int unpack(const void *bytes, size_t len, const char *name, const void **plain, size_t *plain_len, void **owned,
           struct err *err)
{
    const uint8_t *in = bytes;
    bool gzip = len >= 2 && in[0] == 0x1f && in[1] == 0x8b, zstd = len >= 4 && memcmp(in, "\x28\xb5\x2f\xfd", 4) == 0;
    *plain = bytes;
    *plain_len = len;
    *owned = NULL;
    if (!gzip && !zstd)
        return 0;
    struct output o = {.capacity = len < (1u << 20) ? 1u << 16 : len};
    o.bytes = mem_alloc(o.capacity);
    const char *wrong = gzip ? unpack_gzip(&o, in, len) : unpack_zstd(&o, in, len);
    if (wrong) {
        mem_free(o.bytes);
        return err_set(err, ERR_FORMAT, "%s: %s", name, wrong);
    }
    *plain = *owned = o.bytes;
    *plain_len = o.used;
    return 0;
}
