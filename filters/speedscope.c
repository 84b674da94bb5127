/* SPDX-License-Identifier: BSD-3-Clause */
/* speedscope's JSON (https://www.speedscope.app/file-format-schema.json): profiles of samples, or of opened and closed
 * frames. */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>

struct speedscope {
    const struct filter_input *in;
    struct json *json;
    struct builder builder;
    struct VEC(json_ix) frames;
    struct VEC(uint32_t) open; /* contexts of the frames that are open */
    size_t deep;               /* frames that were opened too deep, or stacks that are */
    struct err *err;
};

static int wrong(struct speedscope *s, json_ix i, const char *what)
{
    return err_set(s->err, ERR_FORMAT, "%s:%u: %s", s->in->name, json_line(s->json, i), what);
}

bool speedscope_sniff(const void *bytes, size_t len)
{
    static const char schema[] = "speedscope.app/file-format-schema.json";
    const char *text = bytes;
    return filter_looks_like_text(bytes, len) && (*text == '{' || isspace((unsigned char)*text)) &&
           (memmem(text, len < 4096 ? len : 4096, schema, sizeof schema - 1) ||
            memmem(text + (len > 4096 ? len - 4096 : 0), len < 4096 ? len : 4096, schema, sizeof schema - 1));
}

/* The context of frame `index` called from `parent`; 0: no such frame. */
static int context(struct speedscope *s, json_ix at, uint32_t parent, uint32_t *context)
{
    uint64_t index = json_count(s->json, at);
    if (json_type_of(s->json, at) != JSON_NUMBER || index >= s->frames.count)
        return wrong(s, at, "no frame has this number");
    json_ix f = s->frames.items[index];
    struct builder_place p = {parent, "[unknown]", json_string_of(s->json, json_get(s->json, f, "name")),
                              json_string_of(s->json, json_get(s->json, f, "file")),
                              json_count(s->json, json_get(s->json, f, "line"))};
    *context = builder_context(&s->builder, &p);
    return 0;
}

static int read_sampled(struct speedscope *s, json_ix profile, uint32_t event, double scale)
{
    const struct json *j = s->json;
    json_ix weight = json_first(j, json_get(j, profile, "weights"));
    for (json_ix i = json_first(j, json_get(j, profile, "samples")); i != JSON_NONE; i = json_next(j, i)) {
        uint32_t at = HPCPROF_NO_PARENT;
        size_t frames = 0;
        for (json_ix f = json_first(j, i); f != JSON_NONE; f = json_next(j, f))
            frames++;
        s->deep += frames > LIMIT_PATH_DEPTH;
        for (json_ix f = json_first(j, i); f != JSON_NONE; f = json_next(j, f))
            if (frames-- <= LIMIT_PATH_DEPTH && context(s, f, at, &at) < 0) /* the innermost ones */
                return -1;
        if (weight == JSON_NONE)
            return wrong(s, i, "fewer weights than samples");
        if (at != HPCPROF_NO_PARENT)
            builder_add_number(&s->builder, at, event, json_number(j, weight) * scale);
        weight = json_next(j, weight);
    }
    return 0;
}

/* Between two events the time goes to the innermost open frame. */
static int read_evented(struct speedscope *s, json_ix profile, uint32_t event, double scale)
{
    const struct json *j = s->json;
    double last = json_number(j, json_get(j, profile, "startValue"));
    s->open.count = 0;
    for (json_ix i = json_first(j, json_get(j, profile, "events")); i != JSON_NONE; i = json_next(j, i)) {
        double at = json_number(j, json_get(j, i, "at"));
        uint32_t around = s->open.count ? s->open.items[s->open.count - 1] : HPCPROF_NO_PARENT, opened;
        if (around != HPCPROF_NO_PARENT)
            builder_add_number(&s->builder, around, event, (at - last) * scale);
        last = at;
        if (strcmp(json_string_of(j, json_get(j, i, "type")), "O") == 0) {
            /* of a stack that is too deep the frames in between are left out: the costs are its leaf's */
            bool is_deep = s->open.count >= LIMIT_PATH_DEPTH;
            uint32_t caller = is_deep ? s->open.items[LIMIT_PATH_DEPTH - 2] : around;
            s->deep += is_deep;
            if (context(s, json_get(j, i, "frame"), caller, &opened) < 0)
                return -1;
            *vec_push(&s->open) = opened;
        } else if (s->open.count == 0)
            return wrong(s, i, "a frame is closed that was not open");
        else
            s->open.count--;
    }
    return 0;
}

/* Times are in whole nanoseconds here: py-spy and others give fractions of a second. */
static const char *unit_of(const char *unit, double *scale)
{
    static const struct {
        const char *theirs, *ours;
        double scale;
    } units[] = {{"nanoseconds", "ns", 1},
                 {"microseconds", "ns", 1e3},
                 {"milliseconds", "ns", 1e6},
                 {"seconds", "ns", 1e9},
                 {"bytes", "bytes", 1}};
    *scale = 1;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (strcmp(unit, units[i].theirs) == 0) {
            *scale = units[i].scale;
            return units[i].ours;
        }
    return "";
}

/* Profiles of several threads are one event in as many threads; of several metrics, an event each: the unit decides,
   and the name if it is not a thread's. */
static int read_profile(struct speedscope *s, json_ix profile, uint32_t number)
{
    const struct json *j = s->json;
    const char *name = json_string_of(j, json_get(j, profile, "name"));
    const char *type = json_string_of(j, json_get(j, profile, "type"));
    double scale;
    const char *unit = unit_of(json_string_of(j, json_get(j, profile, "unit")), &scale);
    uint32_t event = builder_event(&s->builder, *name ? name : "weight", "a profile of speedscope's", unit, 0);
    (void)number;
    if (strcmp(type, "sampled") == 0)
        return read_sampled(s, profile, event, scale);
    if (strcmp(type, "evented") == 0)
        return read_evented(s, profile, event, scale);
    return wrong(s, profile, "a profile must be of type \"sampled\" or \"evented\"");
}

int speedscope_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct speedscope s = {.in = in, .err = err};
    uint32_t number = 0;
    int status = json_read(in->bytes, in->len, in->name, &s.json, err);
    if (status < 0)
        return -1;
    const struct json *j = s.json;
    json_ix frames = json_get(j, json_get(j, 0, "shared"), "frames");
    if (json_type_of(j, frames) != JSON_ARRAY)
        status = wrong(&s, 0, "has no shared frames");
    for (json_ix i = json_first(j, frames); i != JSON_NONE; i = json_next(j, i))
        *vec_push(&s.frames) = i;
    if (status == 0)
        s.builder = builder_begin(into, in, "speedscope", json_string_of(j, json_get(j, 0, "name")));
    for (json_ix i = json_first(j, json_get(j, 0, "profiles")); i != JSON_NONE && status == 0; i = json_next(j, i))
        status = read_profile(&s, i, number++);
    if (status == 0)
        builder_end(&s.builder, in, warnings);
    if (s.deep)
        warnings_add(warnings, "%s: %zu stacks have more than %d frames; those beyond are left out, but the innermost",
                     in->name, s.deep, LIMIT_PATH_DEPTH);
    vec_release(&s.frames);
    vec_release(&s.open);
    json_free(s.json);
    return status;
}
