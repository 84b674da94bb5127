/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of our own format of configuration. */
#include "metrics/config/config_reader.h"

#include <stdlib.h>

int config_take_formula(struct config_reader *r, const char *formula, uint64_t line, struct err *err)
{
    if (r->has_body)
        return err_set(err, ERR_FORMAT, "%s: second formula; a metric has only one", config_where(r, line));
    if (config_is_blank(formula))
        return err_set(err, ERR_FORMAT, "%s: the formula is empty", config_where(r, line));
    r->has_body = true;
    r->metric.formula = arena_strdup(r->config->arena, formula);
    return 0;
}

/* ---- our own format (doc/formats/configuration.md) --------------------------------- */

static int begin_root(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *version = config_attribute(r, event, "version");
    if (strcmp(version, "1") != 0)
        return err_set(err, ERR_UNSUPPORTED, "%s: configuration of version '%s'; this hpcview reads version 1",
                       config_where(r, event->line), version);
    return 0;
}

static int end_title(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *title = str_trimmed(event->text);
    (void)err;
    config_set_title(r->config, title);
    mem_free(title);
    return 0;
}

static int begin_sources(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_source_view(r->config, config_path(r, config_attribute(r, event, "path")),
                           config_attribute(r, event, "show-as"));
    return 0;
}

int config_begin_replace(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *in = config_attribute(r, event, "in"), *out = config_attribute(r, event, "out");
    (void)err;
    if (strcmp(in, out) == 0)
        warnings_add(r->warnings, "%s: replacing '%s' by itself has no effect", config_where(r, event->line), in);
    else
        config_add_replace(r->config, in, *out ? config_path(r, out) : "");
    return 0;
}

static int begin_module(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *name = config_attribute(r, event, "name"), *role = config_attribute(r, event, "role");
    (void)err;
    *vec_push(&r->config->roles) =
        (struct config_role){arena_strdup(r->config->arena, name), arena_strdup(r->config->arena, role)};
    return 0;
}

static int check_number(struct config_reader *r, const struct xml_event *event, const char *name, struct err *err)
{
    const char *number = config_attribute(r, event, name);
    unsigned long n = strtoul(number, NULL, 10);
    if (*number && (number[strspn(number, "0123456789")] != '\0' || n == 0 || n > LIMIT_RUNS))
        return err_set(err, ERR_FORMAT, "%s: %s must be a number from 1 to %u, not '%s'", config_where(r, event->line),
                       name, LIMIT_RUNS, number);
    return 0;
}

static int begin_run(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    uint8_t call_paths, phases;
    const char *threads = config_attribute(r, event, "threads"), *folder = config_attribute(r, event, "folder");
    if (config_flag(r, event, "call-paths", &call_paths, err) < 0 || config_flag(r, event, "phases", &phases, err) < 0)
        return -1;
    if (check_number(r, event, "threads", err) < 0 || check_number(r, event, "repetitions", err) < 0)
        return -1;
    if (config_add_run(r->config, config_attribute(r, event, "name"),
                       config_path(r, config_attribute(r, event, "measurements")), config_where(r, event->line),
                       err) < 0)
        return -1;
    struct config_run *run = &r->config->runs.items[r->config->runs.count - 1];
    run->command = config_attribute(r, event, "command");
    run->folder = *folder ? config_path(r, folder) : *r->folder ? arena_strdup(r->config->arena, r->folder) : "";
    run->environment = config_attribute(r, event, "environment");
    run->events = config_attribute(r, event, "events");
    run->threads = threads;
    run->repetitions = config_attribute(r, event, "repetitions");
    run->host = config_attribute(r, event, "host");
    run->only = config_attribute(r, event, "only");
    run->no_call_paths = call_paths == CHOICE_NO;
    run->phases = phases == CHOICE_YES;
    return 0;
}

static int begin_structure(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_structure(r->config, config_path(r, config_attribute(r, event, "file")));
    return 0;
}

static int begin_block(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    return config_add_block_at(r->config, config_attribute(r, event, "block"), config_where(r, event->line), err);
}

static int begin_debug(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)err;
    config_add_debug_dir(r->config, config_path(r, config_attribute(r, event, "path")));
    return 0;
}

int config_begin_metric(struct config_reader *r, const struct xml_event *event, const char *display_name,
                        const char *sort, struct err *err)
{
    struct config_metric *m = &r->metric;
    mathml_free(r->math);
    r->math = NULL;
    *m = (struct config_metric){.where = config_where(r, event->line)};
    m->name = config_attribute(r, event, "name");
    m->display_name = config_attribute(r, event, display_name);
    m->unit = config_attribute(r, event, "unit");
    r->has_body = false;
    if (config_flag(r, event, "percent", &m->percent, err) < 0 ||
        config_flag(r, event, "display", &m->display, err) < 0 || config_flag(r, event, sort, &m->sort_by, err) < 0)
        return -1;
    return 0;
}

static int begin_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    return config_begin_metric(r, event, "display-name", "sort", err);
}

static int begin_measured(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (begin_metric(r, event, err) < 0)
        return -1;
    r->metric.event = config_attribute(r, event, "event");
    r->metric.run_name = config_attribute(r, event, "run");
    r->metric.region = config_attribute(r, event, "region");
    if (*r->metric.name == '\0')
        r->metric.name = r->metric.event;
    return 0;
}

static int begin_computed(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (begin_metric(r, event, err) < 0)
        return -1;
    const char *from = config_attribute(r, event, "evaluate");
    if (*from && strcmp(from, "sums") != 0 && strcmp(from, "lines") != 0)
        return err_set(err, ERR_FORMAT, "%s: evaluate must be 'sums' or 'lines', not '%s'", r->metric.where, from);
    r->metric.by_line = strcmp(from, "lines") == 0;
    const char *formula = xml_attr_get(event, "formula");
    return formula ? config_take_formula(r, formula, event->line, err) : 0;
}

static int begin_function(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *name = config_attribute(r, event, "name");
    char *what = mem_printf("%s: function %s", config_where(r, event->line), name);
    int status = expr_functions_add(&r->config->functions, name, config_attribute(r, event, "parameters"),
                                    config_attribute(r, event, "formula"), what, err);
    mem_free(what);
    return status;
}

static int end_description(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *text = str_trimmed(event->text);
    (void)err;
    r->metric.description = arena_strdup(r->config->arena, text);
    mem_free(text);
    return 0;
}

static int end_formula(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    char *text = str_trimmed(event->text);
    int status = config_take_formula(r, text, event->line, err);
    mem_free(text);
    return status;
}

static int end_metric(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    (void)event;
    if (!r->metric.event && !r->has_body)
        return err_set(err, ERR_FORMAT, "%s: the computed metric '%s' has no formula", r->metric.where, r->metric.name);
    return config_add_full_metric(r->config, &r->metric, err);
}

const struct config_element config_elements[] = {
    {"hpcview", NULL, "version!", false, begin_root, NULL},
    {"title", "hpcview", "", true, NULL, end_title},
    {"sources", "hpcview", "path! show-as", false, begin_sources, NULL},
    {"replace", "hpcview", "in! out", false, config_begin_replace, NULL},
    {"module", "hpcview", "name! role!", false, begin_module, NULL},
    {"run", "hpcview",
     "measurements! name command folder environment events threads call-paths host repetitions only phases", false,
     begin_run, NULL},
    {"structure", "hpcview", "file!", false, begin_structure, NULL},
    {"debug", "hpcview", "path!", false, begin_debug, NULL},
    {"measured", "hpcview", "event! name run region display-name unit percent display sort", false, begin_measured,
     end_metric},
    {"description", "measured", "", true, NULL, end_description},
    {"computed", "hpcview", "name! formula evaluate display-name unit percent display sort", false, begin_computed,
     end_metric},
    {"description", "computed", "", true, NULL, end_description},
    {"formula", "computed", "", true, NULL, end_formula},
    {"math", "computed", "", false, NULL, NULL},
    {"function", "hpcview", "name! parameters! formula!", false, begin_function, NULL},
    {"metrics", "hpcview", "block!", false, begin_block, NULL},
    {0},
};
