/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files that read perf.data; data.c is the entry, and explains such a file.
 *
 *     data.c      the file, the pipe, and the records one after the other
 *     filter_unpack.c    records that are packed in others
 *     order.c     records wait until nothing earlier can come
 *     records.c   what each record says, for perf_run
 *     attrs.c     events, and what is known of the recording
 *
 * Each knows those below it and none above.
 */
#ifndef FILTERS_PERF_DATA_H
#define FILTERS_PERF_DATA_H

#include "filters/base/interner.h"
#include "filters/perf/run.h"

enum record_type {
    RECORD_MMAP = 1,
    RECORD_LOST = 2,
    RECORD_COMM = 3,
    RECORD_THROTTLE = 5,
    RECORD_FORK = 7,
    RECORD_SAMPLE = 9,
    RECORD_MMAP2 = 10,
    RECORD_LOST_SAMPLES = 13,
    RECORD_USER = 64, /* from here on perf's own, without a time */
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_BUILD_ID = 67,
    RECORD_FINISHED_ROUND = 68,
    RECORD_AUXTRACE = 71,
    RECORD_EVENT_UPDATE = 78,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
};

enum sample_bit {
    SAMPLE_IP = 1u << 0,
    SAMPLE_TID = 1u << 1,
    SAMPLE_TIME = 1u << 2,
    SAMPLE_ADDR = 1u << 3,
    SAMPLE_READ = 1u << 4,
    SAMPLE_CALLCHAIN = 1u << 5,
    SAMPLE_ID = 1u << 6,
    SAMPLE_CPU = 1u << 7,
    SAMPLE_PERIOD = 1u << 8,
    SAMPLE_STREAM_ID = 1u << 9,
    SAMPLE_RAW = 1u << 10,
    SAMPLE_BRANCH_STACK = 1u << 11,
    SAMPLE_REGS_USER = 1u << 12,
    SAMPLE_STACK_USER = 1u << 13,
    SAMPLE_WEIGHT = 1u << 14,
    SAMPLE_DATA_SRC = 1u << 15,
    SAMPLE_IDENTIFIER = 1u << 16,
    SAMPLE_WEIGHT_STRUCT = 1u << 24,
};

enum { ATTR_LEAST = 64 }; /* bytes of the oldest kind */

struct attr {
    uint32_t type;
    uint64_t config, sample_type, read_format, branch_type, user_registers, flags, period;
    str_id name;    /* of the run's strings; 0: not given */
    uint32_t event; /* of the run; UINT32_MAX: not yet asked for */
};

struct waiting { /* a record until its round is over */
    uint64_t time;
    const uint8_t *bytes;
};

struct unpacking;

struct counter {
    uint64_t id, value;
};

struct perf_data {
    struct perf_run *run;
    const char *name; /* of the input */
    const uint8_t *begin, *end;
    struct filemap *map;         /* of the file */
    bool big;                    /* numbers are in big-endian order */
    const uint8_t *packed_place; /* the compressed record that is read, or that the current record came from; NULL */
    struct arena *kept;          /* packed records that wait, each behind its place */
    struct unpacking *unpacking; /* NULL: nothing was packed yet */
    struct VEC(struct attr) attrs;
    struct hashmap ids; /* event id to attribute */
    struct VEC(struct waiting) queue, spare;
    uint64_t round_limit, latest; /* times: the last of the previous round; that of this one */
    struct VEC(struct perf_frame) frames;
    struct VEC(struct counter) counters; /* of the sample that is read; none: its period is in it */
    struct interner counted;     /* whose values are known: the counter's id, and its thread where each has its own */
    struct VEC(uint64_t) values; /* by that */
    char *host, *machine, *kernel, *command;
    struct hashmap build_ids; /* path to build id, of the run's strings */
    struct err *err;
};

struct record {
    uint32_t type;
    uint16_t misc, size;
    struct cursor body;
};

/* Bytes of the file, or of its decompressed part. */
static inline struct cursor perf_data_part(const struct perf_data *d, const uint8_t *begin, const uint8_t *end)
{
    return (struct cursor){.p = begin, .end = end, .big = d->big};
}

static inline struct record perf_data_record_at(const struct perf_data *d, const uint8_t *at)
{
    struct cursor b = perf_data_part(d, at, at + 8);
    struct record r = {.type = cursor_u32(&b)};
    r.misc = cursor_u16(&b);
    r.size = cursor_u16(&b);
    r.body = perf_data_part(d, at + 8, at + (r.size < 8 ? 8 : r.size));
    return r;
}

/* ---- attrs.c */

/* Text up to its NUL or to the end of the bytes, as a copy to be freed. */
char *perf_data_text(struct cursor *, uint64_t most);
/* An error about what stands at `at`: -1. */
int perf_data_wrong(const struct perf_data *, const uint8_t *at, const char *what);
/* Reads the attribute at the beginning of b, and moves b behind it. false: invalid. */
bool perf_data_read_attr(struct perf_data *, struct cursor *b, uint64_t size);
/* Ids of an attribute, as many as there are. */
void perf_data_read_ids(struct perf_data *, struct cursor *, uint32_t attr);
void perf_data_read_feature(struct perf_data *, uint64_t feature, struct cursor);
void perf_data_read_build_id(struct perf_data *, struct cursor, uint16_t misc);
void perf_data_update_event(struct perf_data *, struct cursor);
/* Of the run. */
uint32_t perf_data_event(struct perf_data *, struct attr *);
/* Of an unknown id: the first one. */
struct attr *perf_data_attr(struct perf_data *, uint64_t id);
/* As digits, of the run's strings. */
str_id perf_data_hex(struct perf_data *, const uint8_t *bytes, size_t n);
void perf_data_release_attrs(struct perf_data *);

/* ---- records.c */

/* The record there, and its size with its trailing data; 0: none, or incomplete. */
uint64_t perf_data_whole_size(const struct perf_data *, const uint8_t *at, const uint8_t *end, struct record *);
/* When it happened; 0: that is not in it. */
uint64_t perf_data_time(const struct perf_data *, const struct record *);
/* Gives the run what it says. */
int perf_data_take(struct perf_data *, const uint8_t *at);
void perf_data_release_records(struct perf_data *);

/* ---- order.c */

/* Processes it in the order of time, or at once if it has none. */
int perf_data_put(struct perf_data *, const uint8_t *at, const struct record *);
int perf_data_finish_round(struct perf_data *);
/* All that waits. */
int perf_data_finish_all(struct perf_data *);
void perf_data_release_order(struct perf_data *);

/* ---- filter_unpack.c */

typedef int perf_data_reader(struct perf_data *, const uint8_t *at, const struct record *);
bool perf_data_is_packed(uint32_t type);
/* Reads what is packed in the record; one may end in the next. */
int perf_data_unpack(struct perf_data *, const uint8_t *at, perf_data_reader *);
/* Whether what was unpacked ends in the middle of a record. */
bool perf_data_ends_inside(const struct perf_data *);
void perf_data_release_unpacking(struct perf_data *);

#endif
