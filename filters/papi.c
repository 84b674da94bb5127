/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of PAPI's high-level interface, a file for each process (papi_hl_output/rank_N.json):
 *
 *     {"papi_version": "7.0.0.0", "event_definitions": {"PAPI_TOT_CYC": {"type": "delta"}}, "threads": {"0": {"regions":
 *      {"0": {"name": "solve", "parent_region_id": "-1", "cycles": "470", "PAPI_TOT_CYC": {"region_value": "9", ...}}}}}}
 *
 * A value is inclusive of inner regions: the counts here are exclusive.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <stdlib.h>

struct region {
    json_ix at;
    uint32_t parent;  /* an earlier one, or UINT32_MAX */
    uint32_t context; /* in the measurement */
    uint32_t name;
};

struct papi {
    const struct filter_input *in;
    struct json *json;
    struct builder builder;
    const char *module;
    struct VEC(struct region) regions; /* of the thread that is read */
    struct VEC(uint64_t) inner;        /* sums of inner regions, of the event that is read */
    struct hashmap by_id;
    bool below, instant; /* regions had less than their inner regions; events that are not sums */
    struct err *err;
};

static int wrong(struct papi *p, json_ix i, const char *what)
{
    return err_set(p->err, ERR_FORMAT, "%s:%u: %s", p->in->name, json_line(p->json, i), what);
}

bool papi_sniff(const void *bytes, size_t len)
{
    return filter_text_begins(bytes, len, '{', "\"papi_version\"");
}

/* Numbers are texts there. */
static long long number(const struct json *j, json_ix i)
{
    return json_type_of(j, i) == JSON_STRING ? strtoll(json_string_of(j, i), NULL, 10) : (long long)json_number(j, i);
}

/* "123", or {"region_value": "123", "read_1": "50"}. */
static uint64_t value_of(const struct json *j, json_ix i)
{
    long long v = number(j, json_type_of(j, i) == JSON_OBJECT ? json_get(j, i, "region_value") : i);
    return v > 0 ? (uint64_t)v : 0;
}

static const char *unit_of(const char *event)
{
    static const char *const units[][2] = {{"real_time_nsec", "ns"},   {"cycles", "cycles"},
                                           {"PAPI_TOT_CYC", "cycles"}, {"PAPI_REF_CYC", "cycles"},
                                           {"perf::TASK-CLOCK", "ns"}, {"perf::CPU-CLOCK", "ns"}};
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (strcmp(units[i][0], event) == 0)
            return units[i][1];
    return "";
}

static int add_region(struct papi *p, json_ix at)
{
    const struct json *j = p->json;
    json_ix name = json_get(j, at, "name"), parent = json_get(j, at, "parent_region_id");
    long long around = number(j, parent);
    struct region r = {.at = at, .parent = UINT32_MAX};
    if (name == JSON_NONE || parent == JSON_NONE)
        return wrong(p, at, "a region must have a name and a parent_region_id, as written by PAPI 6.0.1 and later");
    if (around >= 0)
        r.parent = hashmap_get(&p->by_id, (uint64_t)around);
    if (around >= 0 && r.parent == HASHMAP_NONE)
        return wrong(p, parent, "no earlier region has this number");
    const struct region *outer = r.parent == UINT32_MAX ? NULL : &p->regions.items[r.parent];
    struct builder_place place = {outer ? outer->context : HPCPROF_NO_PARENT, p->module, json_string_of(j, name), "",
                                  0};
    r.context = builder_context(&p->builder, &place);
    r.name = hpcprof_add_region(p->builder.into, place.procedure, outer ? outer->name : 0);
    *hashmap_put(&p->by_id, strtoull(json_key_of(j, at), NULL, 10)) = (uint32_t)p->regions.count;
    *vec_push(&p->regions) = r;
    return 0;
}

/* The regions' exclusive values of one event: parents come before their inner regions. */
static void read_event(struct papi *p, const char *event)
{
    const struct json *j = p->json;
    uint32_t row = builder_event(&p->builder, event, "counted by PAPI's high-level interface", unit_of(event), 0);
    vec_reserve(&p->inner, p->regions.count);
    memset(p->inner.items, 0, p->regions.count * sizeof *p->inner.items);
    for (size_t i = p->regions.count; i-- > 0;) {
        const struct region *r = &p->regions.items[i];
        uint64_t all = value_of(j, json_get(j, r->at, event)), inner = p->inner.items[i];
        p->below = p->below || all < inner;
        all = all > inner ? all : inner;
        p->builder.region = r->name;
        builder_add(&p->builder, r->context, row, 0, all - inner);
        if (r->parent != UINT32_MAX)
            p->inner.items[r->parent] += all;
    }
}

static bool is_event(struct papi *p, json_ix member)
{
    const struct json *j = p->json;
    const char *name = json_key_of(j, member);
    json_ix definition = json_get(j, json_get(j, 0, "event_definitions"), name);
    if (strcmp(name, "name") == 0 || strcmp(name, "parent_region_id") == 0)
        return false;
    bool instant = strcmp(json_string_of(j, json_get(j, definition, "type")), "instant") == 0;
    p->instant = p->instant || instant;
    return !instant;
}

static int read_thread(struct papi *p, json_ix thread)
{
    const struct json *j = p->json;
    int status = 0;
    p->regions.count = 0;
    hashmap_release(&p->by_id);
    for (json_ix i = json_first(j, json_get(j, thread, "regions")); i != JSON_NONE && status == 0; i = json_next(j, i))
        status = add_region(p, i);
    if (status < 0 || p->regions.count == 0)
        return status;
    size_t members = 0;
    for (json_ix i = json_first(j, p->regions.items[0].at); i != JSON_NONE; i = json_next(j, i)) {
        if (members++ == LIMIT_EVENTS)
            return wrong(p, i, "a region has too many events (LIMIT_EVENTS)");
        if (is_event(p, i))
            read_event(p, json_key_of(j, i));
    }
    return 0;
}

/* "rank_3.json" is of rank 3; without MPI the number is a random one, and above what ranks are. */
static uint32_t rank_of(const char *path)
{
    const char *name = path_base(path);
    char *end;
    unsigned long rank = str_starts(name, "rank_") ? strtoul(name + 5, &end, 10) : BUILDER_NO_RANK;
    return str_starts(name, "rank_") && end > name + 5 && rank < LIMIT_THREADS && strcmp(end, ".json") == 0
               ? (uint32_t)rank
               : BUILDER_NO_RANK;
}

static int read_threads(struct papi *p, struct hpcprof *into)
{
    const struct json *j = p->json;
    json_ix threads = json_get(j, 0, "threads");
    struct builder_threads rows = {0};
    uint32_t rank = rank_of(p->in->name), number = 0;
    int status = 0;
    if (json_first(j, threads) == JSON_NONE)
        return wrong(p, 0, "has no threads");
    for (json_ix i = json_first(j, threads); i != JSON_NONE && status == 0; i = json_next(j, i))
        if (!builder_threads_meet(&rows, rank, number++))
            status = wrong(p, i, "has too many threads (LIMIT_THREADS)");
    if (status == 0)
        p->builder = builder_threads_begin(&rows, into, p->in, "PAPI", "");
    number = 0;
    for (json_ix i = json_first(j, threads); i != JSON_NONE && status == 0; i = json_next(j, i)) {
        p->builder.thread = builder_threads_row(&rows, rank, number++);
        status = read_thread(p, i);
    }
    builder_threads_release(&rows);
    return status;
}

int papi_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct papi p = {.in = in, .module = in->options->program ? in->options->program : "[unknown]", .err = err};
    if (json_read(in->bytes, in->len, in->name, &p.json, err) < 0)
        return -1;
    int status = read_threads(&p, into);
    if (status == 0 && p.below)
        warnings_add(warnings, "%s: some regions have less than their nested regions; the nested values are used",
                     in->name);
    if (status == 0 && p.instant)
        warnings_add(warnings, "%s: instantaneous values are not sums and are omitted", in->name);
    vec_release(&p.regions);
    vec_release(&p.inner);
    hashmap_release(&p.by_id);
    json_free(p.json);
    return status;
}
