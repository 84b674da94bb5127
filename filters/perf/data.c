/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf.data, the file `perf record` writes, and its output to a pipe.
 *
 *     file:  header | attributes | ids | records | features (build ids, host, names of events, ...)
 *     pipe:  header | records, attributes and features among them
 *
 * Records come in the order the buffers of the processors were emptied; "finished round" records say up to when nothing
 * earlier can come. Between two of them records wait, as in perf itself, and are taken in the order of their time. All
 * numbers may be of the other byte order; `perf record -z` packs records with zstd into others.
 *
 * Layouts: include/uapi/linux/perf_event.h, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "filters/perf/data.h"
#include "filters/perf/perf.h"

enum { PIPE_HEADER_BYTES = 16, ATTR_MOST = 4096 };

static int read_attr_record(struct perf_data *d, struct cursor b)
{
    struct cursor size = b;
    cursor_bytes(&size, 4);
    uint64_t bytes = cursor_u32(&size);
    const uint8_t *at = b.p;
    if (bytes > ATTR_MOST || d->attrs.count >= LIMIT_EVENTS || !perf_data_read_attr(d, &b, bytes))
        return perf_data_wrong(d, at, "the description of an event is damaged");
    perf_data_read_ids(d, &b, (uint32_t)(d->attrs.count - 1));
    return 0;
}

static int read_user_record(struct perf_data *d, const struct record *r)
{
    struct cursor b = r->body;
    switch (r->type) {
    case RECORD_ATTR:
        return read_attr_record(d, b);
    case RECORD_BUILD_ID:
        perf_data_read_build_id(d, b, r->misc);
        return 0;
    case RECORD_FINISHED_ROUND:
        return perf_data_finish_round(d);
    case RECORD_EVENT_UPDATE:
        perf_data_update_event(d, b);
        return 0;
    case RECORD_FEATURE: {
        uint64_t feature = cursor_u64(&b);
        perf_data_read_feature(d, feature, b);
        return 0;
    }
    default:
        return 0;
    }
}

static int read_record(struct perf_data *d, const uint8_t *at, const struct record *r)
{
    if (r->type >= RECORD_USER)
        return read_user_record(d, r);
    if (d->attrs.count == 0)
        return perf_data_wrong(d, at, "a record comes before the description of its event");
    return perf_data_put(d, at, r);
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static int read_records(struct perf_data *d, const uint8_t *at, const uint8_t *end)
{
    int status = 0;
    while (at < end && status == 0) {
        struct record r;
        uint64_t size = perf_data_whole_size(d, at, end, &r);
        if (size == 0)
            return perf_data_wrong(d, at, "a record is truncated or invalid; did the recording end normally?");
        status = perf_data_is_packed(r.type) ? perf_data_unpack(d, at, read_record) : read_record(d, at, &r);
        at += size;
        filemap_pass(d->map, at);
    }
    if (status == 0 && perf_data_ends_inside(d))
        return perf_data_wrong(
            d, at, "the compressed records before it end in the middle of one; did the recording end normally?");
    return status == 0 ? perf_data_finish_all(d) : status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

struct section {
    uint64_t offset, size;
};

static struct section read_section(struct cursor *b)
{
    struct section s = {.offset = cursor_u64(b)};
    s.size = cursor_u64(b);
    return s;
}

/* The bytes of a section; bad: it is not all there. */
static struct cursor section_bytes(const struct cursor *all, struct section s)
{
    struct cursor b = *all;
    cursor_bytes(&b, s.offset);
    if (!b.bad && s.size <= (uint64_t)(b.end - b.p))
        b.end = b.p + s.size;
    else
        b.bad = true;
    return b;
}

static int read_attrs(struct perf_data *d, const struct cursor *all, struct section where, uint64_t each)
{
    struct cursor b = section_bytes(all, where);
    if (b.bad || each < ATTR_LEAST + 16 || each > ATTR_MOST || where.size / each > LIMIT_EVENTS)
        return perf_data_wrong(d, d->begin, "the header's table of events is damaged");
    for (uint64_t n = where.size / each; n > 0; n--) {
        if (!perf_data_read_attr(d, &b, each - 16))
            return perf_data_wrong(d, b.p, "the description of an event is damaged");
        struct cursor ids = section_bytes(all, read_section(&b));
        if (ids.bad)
            return perf_data_wrong(d, b.p, "the IDs of an event are missing");
        perf_data_read_ids(d, &ids, (uint32_t)(d->attrs.count - 1));
    }
    return 0;
}

/* A section for each feature whose bit is set stands behind the data. */
static int read_features(struct perf_data *d, const struct cursor *all, struct section data, const uint64_t bits[4])
{
    struct cursor table = *all;
    if (data.size > UINT64_MAX - data.offset || data.size == 0) /* the fault of the data is reported there */
        return 0;
    cursor_bytes(&table, data.offset + data.size);
    for (unsigned i = 0; i < 256; i++) {
        if (!(bits[i / 64] >> i % 64 & 1))
            continue;
        struct cursor b = section_bytes(all, read_section(&table));
        if (table.bad || b.bad)
            return perf_data_wrong(d, all->end,
                                   "the file ends before the description of the recording; is it truncated?");
        perf_data_read_feature(d, i, b);
    }
    return 0;
}

static int read_file(struct perf_data *d, struct cursor all)
{
    struct cursor b = all;
    uint64_t features[4];
    cursor_bytes(&b, 16);
    uint64_t attr_size = cursor_u64(&b);
    struct section attrs = read_section(&b), data = read_section(&b);
    read_section(&b);
    for (size_t i = 0; i < 4; i++)
        features[i] = cursor_u64(&b);
    if (b.bad)
        return perf_data_wrong(d, d->begin, "the header is truncated");
    if (read_attrs(d, &all, attrs, attr_size) < 0)
        return -1;
    struct cursor records = section_bytes(&all, data);
    if (records.bad)
        return perf_data_wrong(d, all.end, "the file ends before its data; is it truncated?");
    if (read_features(d, &all, data, features) < 0)
        return -1;
    if (data.size == 0)
        return err_set(d->err, ERR_FORMAT, "%s: the recording did not end normally, or recorded nothing", d->name);
    return read_records(d, records.p, records.end);
}

/* The magic is a number of 8 bytes. */
static bool has_magic(const uint8_t *bytes, size_t len, bool *big)
{
    *big = len >= PIPE_HEADER_BYTES && memcmp(bytes, "2ELIFREP", 8) == 0;
    return *big || (len >= PIPE_HEADER_BYTES && memcmp(bytes, "PERFILE2", 8) == 0);
}

bool perf_data_sniff(const void *bytes, size_t len)
{
    bool big;
    return has_magic(bytes, len, &big);
}

int perf_data_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct perf_data d = {.run = perf_run_create(into, in),
                          .name = in->name,
                          .begin = in->bytes,
                          .end = (const uint8_t *)in->bytes + in->len,
                          .map = in->map,
                          .err = err};
    int status;
    if (!has_magic(in->bytes, in->len, &d.big))
        status = err_set(err, ERR_FORMAT, "%s: not a perf.data file", in->name);
    else {
        struct cursor all = perf_data_part(&d, d.begin, d.begin + in->len),
                      size = perf_data_part(&d, d.begin + 8, d.begin + 16);
        status = cursor_u64(&size) == PIPE_HEADER_BYTES ? read_records(&d, d.begin + PIPE_HEADER_BYTES, all.end)
                                                        : read_file(&d, all);
    }
    perf_run_about(d.run, d.host, d.machine, d.kernel, d.command);
    if (status == 0)
        status = perf_run_finish(d.run, "", warnings, err);
    perf_data_release_unpacking(&d);
    perf_data_release_order(&d);
    perf_data_release_records(&d);
    perf_data_release_attrs(&d);
    perf_run_free(d.run);
    return status;
}
