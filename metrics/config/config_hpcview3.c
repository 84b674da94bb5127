/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The original HPCVIEW configuration (HPCView 3.x): TITLE, PATH, REPLACE, STRUCTURE, GROUP, METRIC with FILE or
 * COMPUTE. Every distinct FILE becomes a run; every METRIC a column, in the order of the file.
 */
#include "metrics/config/config_reader.h"

static int begin_title(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_set_title(r->config, config_attribute(r, event, "name"));
    return 0;
}

static int begin_path(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_source_view(r->config, config_path(r, config_attribute(r, event, "name")),
                           config_attribute(r, event, "viewname"));
    return 0;
}

static int begin_structure(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_structure(r->config, config_path(r, config_attribute(r, event, "name")));
    return 0;
}

static int begin_group(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    warnings_add(r->warnings, "%s: groups of scopes are not supported; GROUP '%s' is ignored",
                 config_where(r, event->line), config_attribute(r, event, "name"));
    return 0;
}

static int begin_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (config_begin_metric(r, event, "displayName", "sortBy", err) < 0)
        return -1;
    if (r->metric.percent == CHOICE_OPEN) /* HPCVIEW's default, for computed metrics too */
        r->metric.percent = CHOICE_YES;
    return 0;
}

static int second_body(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (r->has_body || r->metric.event)
        return err_set(err, ERR_FORMAT, "%s: second FILE or COMPUTE; METRIC '%s' can have only one",
                       config_where(r, event->line), r->metric.name);
    return 0;
}

static const char *run_of_file(struct config_reader *r, const char *path)
{
    struct config *c = r->config;
    for (size_t i = 0; i < c->runs.count; i++)
        if (strcmp(c->runs.items[i].path, path) == 0)
            return c->runs.items[i].name;
    config_add_run(c, "", path, config_where(r, r->line), NULL);
    return c->runs.items[c->runs.count - 1].name;
}

static int begin_file(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *type = config_attribute(r, event, "type"), *select = config_attribute(r, event, "select");
    if (second_body(r, event, err) < 0)
        return -1;
    if (*type && strcmp(type, "PROFILE") != 0 && strcmp(type, "HPCRUN") != 0)
        return err_set(err, ERR_FORMAT, "%s: type must be PROFILE or HPCRUN, not '%s'", config_where(r, event->line),
                       type);
    r->metric.event = *select ? select : "0";
    r->metric.event_number = true;
    r->metric.run_name = run_of_file(r, config_path(r, config_attribute(r, event, "name")));
    return 0;
}

static int begin_compute(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *propagate = config_attribute(r, event, "propagate");
    if (second_body(r, event, err) < 0)
        return -1;
    if (*propagate && strcmp(propagate, "raw") != 0 && strcmp(propagate, "computed") != 0)
        return err_set(err, ERR_FORMAT, "%s: propagate must be raw or computed, not '%s'", config_where(r, event->line),
                       propagate);
    r->metric.by_line = strcmp(propagate, "computed") == 0;
    return 0;
}

static int end_compute(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (!r->has_body)
        return err_set(err, ERR_FORMAT, "%s: COMPUTE of METRIC '%s' contains no <math>", config_where(r, event->line),
                       r->metric.name);
    return 0;
}

static int end_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)event;
    if (!r->has_body && !r->metric.event)
        return err_set(err, ERR_FORMAT, "%s: METRIC '%s' has neither FILE nor COMPUTE", r->metric.where,
                       r->metric.name);
    return config_add_full_metric(r->config, &r->metric, err);
}

const struct config_element config_elements_hpcview3[] = {
    {"HPCVIEW", NULL, "", false, NULL, NULL},
    {"HPCPROF", NULL, "", false, NULL, NULL},
    {"TITLE", "HPCVIEW", "name!", false, begin_title, NULL},
    {"PATH", "HPCVIEW", "name! viewname", false, begin_path, NULL},
    {"REPLACE", "HPCVIEW", "in! out", false, config_begin_replace, NULL},
    {"STRUCTURE", "HPCVIEW", "name!", false, begin_structure, NULL},
    {"GROUP", "HPCVIEW", "name!", false, begin_group, NULL},
    {"METRIC", "HPCVIEW", "name! displayName display percent sortBy", false, begin_metric, end_metric},
    {"TITLE", "HPCPROF", "name!", false, begin_title, NULL},
    {"PATH", "HPCPROF", "name! viewname", false, begin_path, NULL},
    {"REPLACE", "HPCPROF", "in! out", false, config_begin_replace, NULL},
    {"STRUCTURE", "HPCPROF", "name!", false, begin_structure, NULL},
    {"GROUP", "HPCPROF", "name!", false, begin_group, NULL},
    {"METRIC", "HPCPROF", "name! displayName display percent sortBy", false, begin_metric, end_metric},
    {"FILE", "METRIC", "name! select type", false, begin_file, NULL},
    {"COMPUTE", "METRIC", "propagate", false, begin_compute, end_compute},
    {"math", "COMPUTE", "", false, NULL, NULL},
    {0},
};

/* A formula may name only metrics above it, as in HPCVIEW; this also keeps circles out. */
static int check_order(const struct config *c, struct err *err)
{
    for (size_t i = 0; i < c->metrics.count; i++) {
        const struct config_metric *m = &c->metrics.items[i];
        for (size_t k = 0; m->expr && k < expr_name_count(m->expr); k++) {
            size_t earlier = 0;
            while (earlier < i && strcmp(c->metrics.items[earlier].name, expr_name(m->expr, k)) != 0)
                earlier++;
            if (earlier == i)
                return err_set(err, ERR_FORMAT, "%s: %s: no earlier METRIC is named '%s'", m->where, m->name,
                               expr_name(m->expr, k));
        }
    }
    return 0;
}

int config_finish_hpcview3(struct config_reader *r, struct err *err)
{
    struct config *c = r->config;
    struct config_metric *first = NULL;
    bool sorted = false;
    if (c->metrics.count == 0)
        return err_set(err, ERR_FORMAT, "%s: has no METRIC; at least one with a FILE is required", r->name);
    if (check_order(c, err) < 0)
        return -1;
    for (size_t i = c->metrics.count; i-- > 0;) {
        struct config_metric *m = &c->metrics.items[i];
        if (m->display == CHOICE_NO)
            continue;
        first = m;
        sorted = sorted || m->sort_by == CHOICE_YES;
    }
    if (!first)
        return err_set(err, ERR_FORMAT, "%s: no METRIC is displayed; set display=\"true\" for at least one", r->name);
    if (!sorted) {
        warnings_add(r->warnings, "%s: no displayed METRIC has sortBy=\"true\"; tables are sorted by '%s'", r->name,
                     first->name);
        first->sort_by = CHOICE_YES;
    }
    return 0;
}
