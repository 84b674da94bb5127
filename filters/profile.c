/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PROFILE 3.0, the vendor-neutral line profile of the original HPCView: values (M) at scopes of a PGM tree.
 *
 *     <PROFILE version="3.0"> <PROFILEPARAMS> <TARGET name="a.out"/> <METRICS>
 *       <METRIC shortName="0" nativeName="PAPI_TOT_CYC" period="100000"/> </METRICS> </PROFILEPARAMS>
 *     <PROFILESCOPETREE> <PGM n="a.out"> <F n="a.f"> <P n="solve" b="3" e="9">
 *       <S b="5" e="5"> <M n="0" v="3000000"/> </S>
 *
 * The loops of such a tree are dropped: they come from the structure file, which has them all.
 */
#include "filters/base/base.h"
#include "filters/formats.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_METRICS = 10000 };

struct profile_scope { /* the kind of an open element, and its addition to those around it */
    str_id module, file, procedure;
    uint32_t line;
};

struct profile {
    struct hpcprof *into;
    const char *name;
    struct VEC(struct profile_scope) open;
    struct VEC(str_id) short_names;
    struct VEC(uint32_t) events;
    str_id target;
    uint32_t thread;
    bool has_thread;
};

static int add_metric(struct profile *p, const struct xml_event *event, struct err *err)
{
    const char *brief = xml_attr_get(event, "shortName"), *native = xml_attr_get(event, "nativeName");
    const char *period = xml_attr_get(event, "period"), *units = xml_attr_get(event, "units");
    if (!brief || !*brief)
        return err_set(err, ERR_FORMAT, "%s:%llu: METRIC lacks its shortName", p->name,
                       (unsigned long long)event->line);
    if (p->events.count == MOST_METRICS)
        return err_set(err, ERR_LIMIT, "%s:%llu: has more than %d metrics", p->name, (unsigned long long)event->line,
                       MOST_METRICS);
    /* A short name is usually a number, which does not inform a reader. */
    bool number = brief[strspn(brief, "0123456789")] == '\0';
    const char *name = number && native && *native ? native : brief;
    struct hpcprof_event row = {.name = strtab_add(p->into->strings, name),
                                .unit =
                                    strtab_add(p->into->strings, units && !isupper((unsigned char)*units) ? units : ""),
                                .period = period ? strtoull(period, NULL, 10) : 0};
    for (size_t i = 0; i < p->events.count; i++)
        if (p->into->events[p->events.items[i]].name == row.name) /* two metrics of one event */
            row.name = strtab_printf(p->into->strings, "%s %s", name, brief);
    *vec_push(&p->short_names) = strtab_add(p->into->strings, brief);
    *vec_push(&p->events) = hpcprof_add_event(p->into, &row);
    return 0;
}

static int add_value(struct profile *p, const struct xml_event *event, struct err *err)
{
    const char *name = xml_attr_get(event, "n"), *text = xml_attr_get(event, "v");
    str_id brief = name ? strtab_add(p->into->strings, name) : 0;
    char *end;
    size_t i = 0;
    while (i < p->events.count && p->short_names.items[i] != brief)
        i++;
    if (!name || i == p->events.count)
        return err_set(err, ERR_FORMAT, "%s:%llu: M names the metric '%s', which is not in METRICS", p->name,
                       (unsigned long long)event->line, name ? name : "");
    double value = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end || !(value >= 0 && value < 1.8e19))
        return err_set(err, ERR_FORMAT, "%s:%llu: the value '%s' is not a number, 0 or more", p->name,
                       (unsigned long long)event->line, text ? text : "");
    const struct profile_scope *s = &p->open.items[p->open.count - 1];
    const struct hpcprof_event *e = &p->into->events[p->events.items[i]];
    const char *module = strtab_get(p->into->strings, s->module ? s->module : p->target);
    struct hpcprof_context context = {.parent = HPCPROF_NO_PARENT,
                                      .module = hpcprof_add_module(p->into, *module ? module : "[unknown]", ""),
                                      .procedure = s->procedure,
                                      .file = s->file,
                                      .line = s->line,
                                      .by_line = true};
    struct hpcprof_count count = {.thread = p->thread,
                                  .context = hpcprof_add_context(p->into, &context),
                                  .event = p->events.items[i],
                                  .value = (uint64_t)llround(value)};
    count.samples = e->period ? count.value / e->period : 0;
    hpcprof_add_count(p->into, &count);
    return 0;
}

static void add_thread(struct profile *p)
{
    struct hpcprof_process process = {.source_file = strtab_add(p->into->strings, path_base(p->name)),
                                      .command = p->target,
                                      .sampler = strtab_add(p->into->strings, "PROFILE"),
                                      .rank = -1,
                                      .exit_status = -1,
                                      .complete = true};
    struct hpcprof_thread thread = {.process = hpcprof_add_process(p->into, &process)};
    p->thread = hpcprof_add_thread(p->into, &thread);
    p->has_thread = true;
}

static uint32_t line_attribute(const struct xml_event *event)
{
    const char *text = xml_attr_get(event, "b");
    unsigned long line = text ? strtoul(text, NULL, 10) : 0;
    return line <= UINT32_MAX ? (uint32_t)line : 0;
}

static int on_begin(void *ctx, const struct xml_event *event, struct err *err)
{
    struct profile *p = ctx;
    const char *element = event->element, *name = xml_attr_get(event, "n");
    struct profile_scope s = p->open.count ? p->open.items[p->open.count - 1] : (struct profile_scope){0};
    int status = 0;
    if (p->open.count == 0 && strcmp(element, "PROFILE") != 0)
        return err_set(err, ERR_FORMAT, "%s:%llu: the root element is <%s>, not <PROFILE>", p->name,
                       (unsigned long long)event->line, element);
    if (strcmp(element, "TARGET") == 0)
        p->target = strtab_add(p->into->strings, xml_attr_get(event, "name"));
    else if (strcmp(element, "METRIC") == 0)
        status = add_metric(p, event, err);
    else if (strcmp(element, "PROFILESCOPETREE") == 0)
        add_thread(p);
    else if (strcmp(element, "LM") == 0)
        s = (struct profile_scope){.module = strtab_add(p->into->strings, name)};
    else if (strcmp(element, "F") == 0) {
        s.file = strtab_add(p->into->strings, name);
        s.procedure = s.line = 0;
    } else if (strcmp(element, "P") == 0) {
        s.procedure = strtab_add(p->into->strings, name);
        s.line = 0;
    } else if (strcmp(element, "S") == 0 || strcmp(element, "L") == 0)
        s.line = line_attribute(event);
    else if (strcmp(element, "M") == 0)
        status = p->has_thread ? add_value(p, event, err)
                               : err_set(err, ERR_FORMAT, "%s:%llu: M outside PROFILESCOPETREE", p->name,
                                         (unsigned long long)event->line);
    *vec_push(&p->open) = s;
    return status;
}

static int on_end(void *ctx, const struct xml_event *event, struct err *err)
{
    struct profile *p = ctx;
    (void)event, (void)err;
    p->open.count--;
    return 0;
}

bool profile_sniff(const void *bytes, size_t len)
{
    return filter_text_begins(bytes, len, '<', "<PROFILE ") || filter_text_begins(bytes, len, '<', "<PROFILE>");
}

int profile_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct profile p = {.into = into, .name = in->name};
    struct xml_handler handler = {on_begin, on_end, &p};
    (void)warnings;
    int status = xml_read(in->bytes, in->len, in->name, &handler, err);
    if (status == 0 && !p.has_thread)
        status = err_set(err, ERR_FORMAT, "%s: has no PROFILESCOPETREE", in->name);
    vec_release(&p.open);
    vec_release(&p.short_names);
    vec_release(&p.events);
    return status;
}
