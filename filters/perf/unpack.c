/* SPDX-License-Identifier: BSD-3-Clause */
/* perf.data: records that `perf record -z` packed with zstd into others. */
#include "config.h"

#include "filters/perf/data.h"

bool perf_data_is_packed(uint32_t type)
{
    return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

#ifdef HAVE_ZSTD
#include <zstd.h>

struct unpacking { /* all packed records are one stream */
    ZSTD_DStream *stream;
    struct buf rest; /* unpacked, and not a whole record yet */
    uint64_t total;  /* bytes unpacked */
};

/* Takes the records that are whole by now. */
static int read_unpacked(struct perf_data *d, perf_data_reader *read)
{
    struct buf *rest = &d->unpacking->rest;
    const uint8_t *begin = (const uint8_t *)rest->bytes, *end = begin + rest->len, *at = begin;
    int status = 0;
    struct record r;
    for (uint64_t size; status == 0 && (size = perf_data_whole_size(d, at, end, &r)); at += size)
        status = perf_data_is_packed(r.type)
                     ? perf_data_wrong(d, at, "a compressed record contains another compressed one")
                     : read(d, at, &r);
    if (status == 0 && end - at >= 8 && perf_data_record_at(d, at).size < 8)
        return perf_data_wrong(d, at, "it is not a record");
    rest->len = (size_t)(end - at);
    if (at > begin)
        memmove(rest->bytes, at, rest->len);
    return status;
}

/* A piece of the rest of `in`: 1; 0: there is no more. */
static int unpack_piece(struct perf_data *d, ZSTD_inBuffer *in)
{
    struct unpacking *u = d->unpacking;
    uint8_t room[1 << 16];
    ZSTD_outBuffer out = {room, sizeof room, 0};
    size_t before = in->pos, status = ZSTD_decompressStream(u->stream, &out, in);
    if (ZSTD_isError(status))
        return perf_data_wrong(d, d->packed_place, "it is damaged");
    u->total += out.pos;
    if (u->total > LIMIT_IMPORT_BYTES)
        return perf_data_wrong(d, d->packed_place, "decompressed it exceeds the limit of 4 GiB (LIMIT_IMPORT_BYTES)");
    buf_add(&u->rest, room, out.pos);
    return out.pos || in->pos != before;
}

static struct unpacking *begin_unpacking(void)
{
    struct unpacking *u = mem_calloc(1, sizeof *u);
    u->stream = ZSTD_createDStream();
    return u;
}

int perf_data_unpack(struct perf_data *d, const uint8_t *at, perf_data_reader *read)
{
    struct record r = perf_data_record_at(d, at);
    uint64_t n = r.type == RECORD_COMPRESSED2 ? cursor_u64(&r.body) : (uint64_t)(r.body.end - r.body.p);
    const uint8_t *packed = cursor_bytes(&r.body, n);
    ZSTD_inBuffer in = {packed, n, 0};
    int status = 1;
    if (!packed)
        return perf_data_wrong(d, at, "a compressed record is truncated");
    if (!d->unpacking)
        d->unpacking = begin_unpacking();
    d->packed_place = at;
    while (status > 0 && (status = unpack_piece(d, &in)) > 0)
        status = read_unpacked(d, read) < 0 ? -1 : 1;
    if (status == 0)
        d->packed_place = NULL;
    return status;
}

bool perf_data_ends_inside(const struct perf_data *d)
{
    return d->unpacking && d->unpacking->rest.len;
}

void perf_data_release_unpacking(struct perf_data *d)
{
    if (!d->unpacking)
        return;
    ZSTD_freeDStream(d->unpacking->stream);
    buf_release(&d->unpacking->rest);
    mem_free(d->unpacking);
}
#else
int perf_data_unpack(struct perf_data *d, const uint8_t *at, perf_data_reader *read)
{
    (void)read;
    return perf_data_wrong(d, at, "its records are compressed with zstd, and this hpcview was built without it");
}

bool perf_data_ends_inside(const struct perf_data *d)
{
    (void)d;
    return false;
}

void perf_data_release_unpacking(struct perf_data *d)
{
    (void)d;
}
#endif
