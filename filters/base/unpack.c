/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed files: gzip (RFC 1952) and zstd (RFC 8878). zlib and zstd live behind this. */
#include "config.h"

#include "filters/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Unpacked data are in memory up to LIMIT_UNPACKED_IN_MEMORY, and beyond that in a file without a name, which is
   mapped like any other: the memory used does not grow with the recording. */
struct output {
    struct filemap *from; /* packed data */
    uint8_t *bytes;
    size_t used, capacity;
    int fd;       /* of the file; -1: none */
    size_t filed; /* bytes in it */
};

static const char *const too_large = "decompressed it exceeds the limit of 4 GiB (LIMIT_IMPORT_BYTES)";
static const char *const no_room = "decompressed it does not fit into a temporary file (in /var/tmp or /tmp)";

static int temporary_file(void)
{
    char *names[] = {mem_strdup("/var/tmp/hpcview-XXXXXX"), mem_strdup("/tmp/hpcview-XXXXXX")};
    int fd = -1;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (fd < 0 && (fd = mkostemp(names[i], O_CLOEXEC)) >= 0)
            unlink(names[i]);
        mem_free(names[i]);
    }
    return fd;
}

/* The bytes in memory go to the file. */
static bool file_away(struct output *o)
{
    for (size_t at = 0; at < o->used;) {
        ssize_t n = write(o->fd, o->bytes + at, o->used - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    o->filed += o->used;
    o->used = 0;
    return true;
}

/* Space for more: NULL, or why there is none. */
static const char *make_room(struct output *o)
{
    if (o->used < o->capacity)
        return NULL;
    if (o->capacity < LIMIT_UNPACKED_IN_MEMORY) {
        o->capacity *= 2;
        o->bytes = mem_realloc(o->bytes, o->capacity, 1);
        return NULL;
    }
    if (o->filed + o->used >= LIMIT_IMPORT_BYTES)
        return too_large;
    if (o->fd < 0)
        o->fd = temporary_file();
    return o->fd >= 0 && file_away(o) ? NULL : no_room;
}

/* NULL, or the fault. Members may follow each other; other bytes after the last one are skipped, as by gzip. */
static const char *unpack_gzip(struct output *o, const uint8_t *in, size_t in_len)
{
    z_stream z = {0};
    const char *wrong = NULL;
    int status = Z_OK;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return "out of memory while decompressing it";
    z.next_in = (Bytef *)in;
    while (!wrong) {
        size_t left = in_len - (size_t)(z.next_in - in);
        if (status == Z_STREAM_END) {
            if (left < 2 || z.next_in[0] != 0x1f || z.next_in[1] != 0x8b || inflateReset(&z) != Z_OK)
                break;
        }
        filemap_pass(o->from, z.next_in);
        if ((wrong = make_room(o)))
            break;
        size_t room = o->capacity - o->used;
        z.avail_in = left > 1u << 30 ? 1u << 30 : (uInt)left; /* zlib counts in 32 bits */
        z.avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
        z.next_out = o->bytes + o->used;
        status = inflate(&z, Z_NO_FLUSH);
        o->used = (size_t)(z.next_out - o->bytes);
        if (status != Z_OK && status != Z_STREAM_END)
            wrong = left == 0 || status == Z_BUF_ERROR ? "its gzip data are truncated" : "its gzip data are damaged";
    }
    inflateEnd(&z);
    return wrong;
}

static const char *unpack_zstd(struct output *o, const uint8_t *in, size_t in_len)
{
#ifdef HAVE_ZSTD
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer from = {in, in_len, 0};
    const char *wrong = z ? NULL : "out of memory while decompressing it";
    size_t status = 1;
    while (!wrong && (from.pos < in_len || status != 0)) {
        filemap_pass(o->from, in + from.pos);
        if ((wrong = make_room(o)))
            break;
        ZSTD_outBuffer to = {o->bytes, o->capacity, o->used};
        size_t before = from.pos;
        status = ZSTD_decompressStream(z, &to, &from);
        if (ZSTD_isError(status))
            wrong = "its zstd data are damaged";
        else if (from.pos == before && to.pos == o->used && status != 0)
            wrong = "its zstd data are truncated";
        o->used = to.pos;
    }
    ZSTD_freeDStream(z);
    return wrong;
#else
    (void)o, (void)in, (void)in_len;
    return "is compressed with zstd, and this hpcview was built without it";
#endif
}

/* The bytes as a file of its own: those in memory, or all of them in the temporary one. */
static const char *map_output(struct output *o, struct filemap *plain)
{
    char path[32];
    *plain = (struct filemap){.bytes = o->bytes, .len = o->used};
    if (o->fd < 0)
        return NULL;
    bool whole = file_away(o);
    mem_free(o->bytes);
    *plain = (struct filemap){0};
    snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
    return whole && filemap_open(plain, path, NULL) == 0 ? NULL : no_room;
}

int filter_unpack(struct filemap *packed, const char *name, struct filemap *plain, struct err *err)
{
    const uint8_t *in = packed->bytes;
    size_t len = packed->len;
    bool gzip = len >= 2 && in[0] == 0x1f && in[1] == 0x8b, zstd = len >= 4 && memcmp(in, "\x28\xb5\x2f\xfd", 4) == 0;
    if (!gzip && !zstd)
        return 0;
    struct output o = {.from = packed, .capacity = 1u << 16, .fd = -1};
    o.bytes = mem_alloc(o.capacity);
    const char *wrong = gzip ? unpack_gzip(&o, in, len) : unpack_zstd(&o, in, len);
    if (wrong)
        mem_free(o.bytes);
    else
        wrong = map_output(&o, plain);
    if (o.fd >= 0)
        close(o.fd);
    return wrong ? err_set(err, ERR_FORMAT, "%s: %s", name, wrong) : 1;
}
