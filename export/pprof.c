/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed with gzip as it
   requires. */
#include "export/export_int.h"
#include "support/profile_proto.h"

#include <zlib.h>

struct writer {
    const struct exported *x;
    struct buf out;
    struct strtab *strings; /* id is the index in the string table */
    struct VEC(struct frame) locations;
    struct hashmap location_index; /* by place and line */
};

static void put_varint(struct buf *b, unsigned field, uint64_t v)
{
    if (v == 0)
        return; /* missing fields are 0 */
    buf_uleb(b, field << 3 | WIRE_VARINT);
    buf_uleb(b, v);
}

static void put_bytes(struct buf *b, unsigned field, const char *bytes, size_t n)
{
    buf_uleb(b, field << 3 | WIRE_BYTES);
    buf_uleb(b, n);
    if (n)
        buf_add(b, bytes, n);
}

static void put_message(struct buf *b, unsigned field, struct buf *message)
{
    put_bytes(b, field, message->bytes, message->len);
    buf_release(message);
}

static uint64_t location(struct writer *w, const struct frame *f)
{
    uint32_t *slot = hashmap_put(&w->location_index, (uint64_t)f->place << 32 | f->line);
    if (*slot == HASHMAP_NONE) {
        *vec_push(&w->locations) = *f;
        *slot = (uint32_t)w->locations.count; /* from 1 */
    }
    return *slot;
}

static void put_types(struct writer *w)
{
    for (size_t m = 0; m < w->x->metric_count; m++) {
        struct buf type = {0};
        const char *unit = export_text(w->x, w->x->e->metrics[w->x->metrics[m]].unit);
        put_varint(&type, VALUE_TYPE_TYPE, strtab_add(w->strings, export_metric_name(w->x, m)));
        put_varint(&type, VALUE_TYPE_UNIT,
                   strtab_add(w->strings, strcmp(unit, "ns") == 0 ? "nanoseconds"
                                          : *unit                 ? unit
                                                                  : "count"));
        put_message(&w->out, PROFILE_SAMPLE_TYPE, &type);
    }
}

static void put_samples(struct writer *w)
{
    struct frames frames = {0};
    for (uint32_t i = 0; i < w->x->node_count; i++) {
        struct buf sample = {0}, ids = {0}, values = {0};
        if (!export_has_own(w->x, i))
            continue;
        export_frames(w->x, i, &frames);
        for (size_t k = 0; k < frames.count; k++)
            buf_uleb(&ids, location(w, &frames.items[k]));
        for (size_t m = 0; m < w->x->metric_count; m++)
            buf_uleb(&values, export_count(w->x, m, i));
        put_message(&sample, SAMPLE_LOCATION_ID, &ids);
        put_message(&sample, SAMPLE_VALUE, &values);
        put_message(&w->out, PROFILE_SAMPLE, &sample);
    }
    vec_release(&frames);
}

/* A function for each place, and a location for each line in it that is left for the next frame. */
static void put_locations(struct writer *w)
{
    struct hashmap functions = {0};
    struct buf name = {0};
    for (size_t i = 0; i < w->locations.count; i++) {
        const struct frame *f = &w->locations.items[i];
        uint32_t *slot = hashmap_put(&functions, f->place);
        struct buf message = {0}, line = {0}, function = {0};
        if (*slot == HASHMAP_NONE) {
            *slot = (uint32_t)functions.count; /* from 1 */
            name.len = 0;
            export_place_name(w->x, f->place, &name);
            put_varint(&function, FUNCTION_ID, *slot);
            put_varint(&function, FUNCTION_NAME, strtab_add(w->strings, name.len ? name.bytes : "?"));
            put_varint(&function, FUNCTION_FILENAME,
                       strtab_add(w->strings, export_file(w->x, w->x->e->places[f->place].file)));
            put_varint(&function, FUNCTION_START_LINE, w->x->e->places[f->place].line_first);
            put_message(&w->out, PROFILE_FUNCTION, &function);
        }
        put_varint(&line, LINE_FUNCTION_ID, *slot);
        put_varint(&line, LINE_LINE, f->line);
        put_varint(&message, LOCATION_ID, i + 1);
        put_message(&message, LOCATION_LINE, &line);
        put_message(&w->out, PROFILE_LOCATION, &message);
    }
    buf_release(&name);
    hashmap_release(&functions);
}

static void put_strings(struct writer *w)
{
    for (str_id id = 0; id < strtab_count(w->strings); id++)
        put_bytes(&w->out, PROFILE_STRING_TABLE, strtab_get(w->strings, id), strlen(strtab_get(w->strings, id)));
}

static int pack(const struct buf *plain, struct outfile *out, struct err *err)
{
    z_stream z = {0};
    uint8_t room[1 << 14];
    int status = Z_OK;
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ERR_SYSTEM, "zlib cannot start compressing");
    z.next_in = (Bytef *)plain->bytes;
    for (size_t left = plain->len; status != Z_STREAM_END;) {
        z.avail_in = left > 1u << 30 ? 1u << 30 : (uInt)left;
        left -= z.avail_in;
        do {
            z.next_out = room;
            z.avail_out = sizeof room;
            status = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
            outfile_write(out, room, sizeof room - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    return 0;
}

int export_pprof(const struct exported *x, struct outfile *out, struct err *err)
{
    struct writer w = {.x = x, .strings = strtab_create()};
    put_types(&w);
    put_samples(&w);
    put_locations(&w);
    put_varint(&w.out, PROFILE_DEFAULT_SAMPLE_TYPE, strtab_add(w.strings, export_metric_name(x, 0)));
    put_strings(&w);
    int status = pack(&w.out, out, err);
    buf_release(&w.out);
    vec_release(&w.locations);
    hashmap_release(&w.location_index);
    strtab_free(w.strings);
    return status;
}
