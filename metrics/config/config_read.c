/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a configuration file: the allowed elements and attributes of each element; all errors, one by one. */
#include "metrics/config/config_reader.h"

/* ---- reading any format ------------------------------------------------------------ */

const char *config_where(struct config_reader *r, uint64_t line)
{
    return arena_printf(r->config->arena, "%s:%llu", r->name, (unsigned long long)line);
}

const char *config_path(struct config_reader *r, const char *path)
{
    char *joined = path_join(r->folder, path);
    const char *lasting = arena_strdup(r->config->arena, joined);
    mem_free(joined);
    return lasting;
}

const char *config_attribute(struct config_reader *r, const struct xml_event *event, const char *name)
{
    const char *value = xml_attr_get(event, name);
    return value ? arena_strdup(r->config->arena, value) : "";
}

int config_flag(struct config_reader *r, const struct xml_event *event, const char *attribute, uint8_t *choice,
                struct err *err)
{
    const char *value = xml_attr_get(event, attribute);
    *choice = CHOICE_OPEN;
    if (!value)
        return 0;
    if (strcmp(value, "yes") == 0 || strcmp(value, "true") == 0)
        *choice = CHOICE_YES;
    else if (strcmp(value, "no") == 0 || strcmp(value, "false") == 0)
        *choice = CHOICE_NO;
    else
        return err_set(err, ERR_FORMAT, "%s: %s must be yes or no, not '%s'", config_where(r, event->line), attribute,
                       value);
    return 0;
}

static const struct config_element *find_element(const struct config_reader *r, const char *name, const char *parent)
{
    for (const struct config_element *e = r->elements; e->name; e++)
        if (strcmp(e->name, name) == 0 && (parent ? e->parent && strcmp(e->parent, parent) == 0 : !e->parent))
            return e;
    return NULL;
}

static int no_such_element(struct config_reader *r, const struct xml_event *event, const char *parent, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    struct buf list = {0};
    for (const struct config_element *e = r->elements; e->name && n < ARRAY_SIZE(names) - 1; e++)
        if (e->parent && strcmp(e->parent, parent) == 0) {
            buf_printf(&list, "%s%s", n ? ", " : "", e->name);
            names[n++] = e->name;
        }
    names[n] = NULL;
    const char *near = str_nearest(event->element, names);
    const char *where = config_where(r, event->line);
    if (near)
        err_set(err, ERR_FORMAT, "%s: unknown element <%s> in <%s>; did you mean <%s>?", where, event->element, parent,
                near);
    else if (n)
        err_set(err, ERR_FORMAT, "%s: unknown element <%s> in <%s>; available: %s", where, event->element, parent,
                list.bytes);
    else
        err_set(err, ERR_FORMAT, "%s: <%s> cannot contain elements, but contains <%s>", where, parent, event->element);
    buf_release(&list);
    return -1;
}

/* Is `name` (n bytes) among the blank-separated words; *required: with a '!'. */
static bool attribute_known(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        size_t bare = len - (len && w[len - 1] == '!');
        if (bare == n && memcmp(w, name, n) == 0)
            return true;
        w += len;
    }
    return false;
}

static int no_such_attribute(struct config_reader *r, const struct config_element *e, const char *name, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    char *words = mem_strdup(e->attributes), *rest = words, *word;
    while ((word = strsep(&rest, " !")) && n < ARRAY_SIZE(names) - 1)
        if (*word)
            names[n++] = word;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    err_set(err, ERR_FORMAT, "%s: <%s> has no attribute '%s'%s%s%s", config_where(r, r->line), e->name, name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    mem_free(words);
    return -1;
}

static int check_required(struct config_reader *r, const struct config_element *e, const struct xml_event *event,
                          struct err *err)
{
    int status = 0;
    for (const char *w = e->attributes; *w && status == 0; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        if (len && w[len - 1] == '!') {
            char *name = mem_strndup(w, len - 1);
            const char *value = xml_attr_get(event, name);
            if (!value || (*value == '\0' && strcmp(name, "in") != 0))
                status = err_set(err, ERR_FORMAT, "%s: <%s> lacks its attribute '%s'", config_where(r, event->line),
                                 e->name, name);
            mem_free(name);
        }
        w += len;
    }
    return status;
}

/* A misspelled name is also a missing one: missing ones are reported only if nothing is unknown. */
static int check_attributes(struct config_reader *r, const struct config_element *e, const struct xml_event *event,
                            struct err *err)
{
    struct err_gathered found = {0};
    for (size_t i = 0; i < event->attr_count; i++)
        if (!attribute_known(e->attributes, event->attrs[i].name) &&
            no_such_attribute(r, e, event->attrs[i].name, err) < 0 && !err_gather(&found, err))
            return -1;
    return found.count ? err_gathered(&found, err) : check_required(r, e, event, err);
}

static int pick_format(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (strcmp(event->element, "hpcview") == 0)
        r->elements = config_elements;
    else if (strcmp(event->element, "HPCVIEW") == 0 || strcmp(event->element, "HPCPROF") == 0)
        r->elements = config_elements_hpcview3;
    else
        return err_set(
            err, ERR_FORMAT,
            "%s: not a configuration: its root element is <%s>, not <hpcview> (or <HPCVIEW> of the original HPCView)",
            config_where(r, event->line), event->element);
    return 0;
}

static int begin_element(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (r->in_math)
        return mathml_begin(r->math, event, config_where(r, event->line), err);
    if (!r->elements && pick_format(r, event, err) < 0)
        return -1;
    const char *parent = r->open.count ? r->open.items[r->open.count - 1]->name : NULL;
    const struct config_element *e = find_element(r, event->element, parent);
    if (!e)
        return no_such_element(r, event, parent ? parent : "", err);
    *vec_push(&r->open) = e;
    if (check_attributes(r, e, event, err) < 0)
        return -1;
    if (strcmp(e->name, "math") == 0) {
        if (r->math)
            return err_set(err, ERR_FORMAT, "%s: second formula; a metric has only one", config_where(r, event->line));
        r->math = mathml_create();
        r->in_math = true;
    }
    return e->begin ? e->begin(r, event, err) : 0;
}

static int end_math(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    const char *formula = mathml_finish(r->math, config_where(r, event->line), err);
    r->in_math = false;
    return formula ? config_take_formula(r, formula, event->line, err) : -1;
}

bool config_is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static int end_element(struct config_reader *r, const struct xml_event *event, struct err *err)
{
    if (r->in_math && strcmp(event->element, "math") != 0)
        return mathml_end(r->math, event, config_where(r, event->line), err);
    const struct config_element *e = r->open.items[--r->open.count];
    if (r->in_math)
        return end_math(r, event, err);
    if (!e->text && !config_is_blank(event->text))
        return err_set(err, ERR_FORMAT, "%s: <%s> cannot contain text", config_where(r, event->line), e->name);
    return e->end ? e->end(r, event, err) : 0;
}

enum { DEPTH_OF_PARTS = 2 }; /* children of the root: each is read, or has an error, by itself */

static void begin_part(struct config_reader *r, const struct xml_event *event)
{
    const char *name = xml_attr_get(event, "name");
    name = name ? name : xml_attr_get(event, "event");
    r->part = arena_strdup(r->config->arena, name ? name : "");
    r->part_has_runs = r->elements != config_elements || strcmp(event->element, "run") == 0;
}

/* After an error the part that has it is skipped, and the next one read: all errors are reported at once. */
static int next_part(struct config_reader *r, struct err *err)
{
    if (r->depth < DEPTH_OF_PARTS || !err_gather(&r->errors, err))
        return -1;
    r->failed = DEPTH_OF_PARTS;
    r->config->lacks_runs = r->config->lacks_runs || r->part_has_runs;
    if (*r->part)
        *vec_push(&r->config->failed) = r->part;
    r->in_math = false;
    if (r->open.count > DEPTH_OF_PARTS - 1)
        r->open.count = DEPTH_OF_PARTS - 1;
    return 0;
}

static int on_begin(void *ctx, const struct xml_event *event, struct err *err)
{
    struct config_reader *r = ctx;
    r->line = event->line;
    r->depth++;
    if (r->depth == DEPTH_OF_PARTS)
        begin_part(r, event);
    if (r->failed || begin_element(r, event, err) == 0)
        return 0;
    return next_part(r, err);
}

static int on_end(void *ctx, const struct xml_event *event, struct err *err)
{
    struct config_reader *r = ctx;
    r->line = event->line;
    int status = r->failed || end_element(r, event, err) == 0 ? 0 : next_part(r, err);
    if (r->failed == r->depth)
        r->failed = 0;
    r->depth--;
    return status;
}

/* Names in measured metrics, now that all runs are known. */
static int resolve_runs(struct config_reader *r, struct err *err)
{
    struct config *c = r->config;
    for (size_t i = 0; i < c->metrics.count; i++) {
        struct config_metric *m = &c->metrics.items[i];
        if (*m->run_name == '\0')
            continue;
        for (size_t k = 0; k < c->runs.count; k++)
            if (strcmp(c->runs.items[k].name, m->run_name) == 0)
                m->run = (uint32_t)k;
        if (m->run != RUN_ALL)
            continue;
        err_set(err, ERR_FORMAT, "%s: no run '%s' for the metric '%s'", m->where, m->run_name, m->name);
        if (!err_gather(&r->errors, err))
            return -1;
    }
    return 0;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup("");
}

/* A configuration with errors is not used, but where its files are at hand it waits until all errors are known. */
static int read_bytes(const void *bytes, size_t len, const char *name, bool with_files, struct config **result,
                      struct warnings *warnings, struct err *err)
{
    struct err own = {0};
    char *folder = folder_of(name);
    struct config_reader r = {
        .config = config_create(), .name = name, .folder = folder, .warnings = warnings, .part = ""};
    struct xml_handler handler = {on_begin, on_end, &r};
    struct err *e = err ? err : &own;
    int status = len ? xml_read(bytes, len, name, &handler, e)
                     : err_set(e, ERR_FORMAT, "%s: the file is empty, not a configuration", name);
    if (status == 0 && r.elements == config_elements_hpcview3)
        status = config_finish_hpcview3(&r, e);
    if (status == 0)
        status = resolve_runs(&r, e);
    r.config->from_file = true;
    r.config->errors = r.errors;
    if (r.errors.count && (status < 0 || !with_files)) { /* not well-formed further on: that is one more */
        if (status < 0)
            err_gather(&r.config->errors, e);
        status = with_files ? config_check(r.config, e) : err_gathered(&r.config->errors, e);
    }
    mathml_free(r.math);
    vec_release(&r.open);
    mem_free(folder);
    *result = status == 0 ? r.config : NULL;
    if (status < 0)
        config_free(r.config);
    return status;
}

int config_read_bytes(const void *bytes, size_t len, const char *name, struct config **result,
                      struct warnings *warnings, struct err *err)
{
    return read_bytes(bytes, len, name, false, result, warnings, err);
}

int config_read(const char *path, struct config **result, struct warnings *warnings, struct err *err)
{
    struct filemap map;
    int status;
    *result = NULL;
    if (filemap_open(&map, path, err) < 0)
        return -1;
    if (map.len > LIMIT_CONFIG_BYTES)
        status = err_set(err, ERR_LIMIT, "%s: larger than %u bytes (LIMIT_CONFIG_BYTES); is it a configuration?", path,
                         LIMIT_CONFIG_BYTES);
    else
        status = read_bytes(map.bytes, map.len, path, true, result, warnings, err);
    filemap_release(&map);
    return status;
}
