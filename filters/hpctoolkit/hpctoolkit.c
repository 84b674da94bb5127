/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCToolkit's databases: those since 2022 are several files (v4.c); before that there was experiment.xml, with
 * the values in it, which is read here.
 *
 *     <Metric i="3" n="CPUTIME (usec):Sum (E)" t="exclusive" .../> <LoadModule i="2" n="a.out"/> <Procedure i="7" n="main"/>
 *     <PF n="7" lm="2" f="3" l="19">  <C l="27">  <PF ...>  <S l="31"> <M n="3" v="1.2e+06"/> </S>
 *
 * Numbers refer to names of the tables, or names are written directly. A statement's exclusive value is its measured
 * cost; all others are sums of these.
 */
#include "filters/hpctoolkit/hpctoolkit.h"
#include "filters/hpctoolkit/hpctoolkit_int.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- metrics' names ------------------------------------------------------------------------------------------- */

struct hpctoolkit_metric hpctoolkit_metric(const char *name)
{
    static const struct {
        const char *text, *unit;
        double scale;
    } units[] = {{" (sec)", "ns", 1e9}, {" (usec)", "us", 1}, {" (nsec)", "ns", 1}, {" (us)", "us", 1}};
    struct hpctoolkit_metric m = {mem_strdup(name), "", 1};
    static const char *const ends[] = {" (E)", ":Sum", " (I)"};
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (str_ends(m.name, ends[i]))
            m.name[strlen(m.name) - strlen(ends[i])] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        char *unit = strstr(m.name, units[i].text);
        if (!unit)
            continue;
        size_t n = strlen(units[i].text);
        memmove(unit, unit + n, strlen(unit + n) + 1);
        m.unit = units[i].unit;
        m.scale = units[i].scale;
        break;
    }
    return m;
}

/* ---- experiment.xml ------------------------------------------------------------------------------------------- */

struct open_frame { /* an open element */
    str_id module, procedure, file;
    uint64_t line;
    uint32_t caller, context; /* HPCPROF_NO_PARENT: not made yet */
    bool statement;
};

struct value_kind {
    uint32_t event;
    double scale;
};

struct experiment_xml {
    const struct filter_input *in;
    struct builder builder;
    struct strtab *strings; /* into's */
    struct VEC(struct open_frame) open;
    struct hashmap modules, files, procedures; /* by number: names */
    struct hashmap metrics;                    /* by number: into kinds */
    struct VEC(struct value_kind) kinds;
    bool values; /* there are some */
};

static uint64_t number(const char *text)
{
    return text ? strtoull(text, NULL, 10) : 0;
}

/* Of a table's row. */
static void name_row(struct experiment_xml *x, struct hashmap *table, const struct xml_event *event)
{
    const char *name = xml_attr_get(event, "n");
    bool unknown = name && *name == '<' && str_starts(name, "<unknown");
    *hashmap_put(table, number(xml_attr_get(event, "i"))) = strtab_add(x->strings, unknown ? "" : name);
}

/* A number of the table, else a name; NULL: the one of `around`. */
static str_id named(struct experiment_xml *x, const struct hashmap *table, const char *text, str_id around)
{
    if (!text)
        return around;
    uint32_t name = isdigit((unsigned char)*text) ? hashmap_get(table, number(text)) : HASHMAP_NONE;
    return name == HASHMAP_NONE ? strtab_add(x->strings, text) : name;
}

/* Statistics but sums, derived metrics and inclusive values are computed from these. */
static void add_metric(struct experiment_xml *x, const struct xml_event *event)
{
    const char *name = xml_attr_get(event, "n"), *type = xml_attr_get(event, "t"), *kind = xml_attr_get(event, "v");
    static const char *const no[] = {":Mean", ":StdDev", ":Min", ":Max", ":CfVar", ":CoefVar", ":Num"};
    if (!name || (type && strcmp(type, "inclusive") == 0) || (kind && strcmp(kind, "derived") == 0))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(no); i++)
        if (strstr(name, no[i]))
            return;
    struct hpctoolkit_metric m = hpctoolkit_metric(name);
    *hashmap_put(&x->metrics, number(xml_attr_get(event, "i"))) = (uint32_t)x->kinds.count;
    *vec_push(&x->kinds) =
        (struct value_kind){builder_event(&x->builder, m.name, "as HPCToolkit has it", m.unit, 0), m.scale};
    mem_free(m.name);
}

static uint32_t context_of(struct experiment_xml *x, struct open_frame *f)
{
    if (f->context == HPCPROF_NO_PARENT && (f->procedure || f->file || f->module)) {
        const char *module = strtab_get(x->strings, f->module);
        struct builder_place p = {f->caller, *module ? module : "[unknown]", strtab_get(x->strings, f->procedure),
                                  strtab_get(x->strings, f->file), f->line};
        f->context = builder_context(&x->builder, &p);
    }
    return f->context == HPCPROF_NO_PARENT ? f->caller : f->context;
}

static int add_value(struct experiment_xml *x, const struct xml_event *event, struct err *err)
{
    struct open_frame *f = &x->open.items[x->open.count - 1];
    uint32_t k = hashmap_get(&x->metrics, number(xml_attr_get(event, "n")));
    const char *text = xml_attr_get(event, "v");
    char *end;
    double value = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end)
        return err_set(err, ERR_FORMAT, "%s:%llu: the value '%s' is not a number", x->in->name,
                       (unsigned long long)event->line, text ? text : "");
    if (k == HASHMAP_NONE || !f->statement)
        return 0;
    uint32_t context = context_of(x, f);
    if (context == HPCPROF_NO_PARENT) {
        struct builder_place nowhere = {HPCPROF_NO_PARENT, "[unknown]", "", "", 0};
        context = builder_context(&x->builder, &nowhere);
    }
    x->values = true;
    builder_add_number(&x->builder, context, x->kinds.items[k].event, value * x->kinds.items[k].scale);
    return 0;
}

/* Frames for the whole program, and for unknown callers, are skipped. */
static bool is_root(const char *name)
{
    return strcmp(name, "<program root>") == 0 || strcmp(name, "<thread root>") == 0 ||
           strcmp(name, "<partial call paths>") == 0;
}

static void enter_procedure(struct experiment_xml *x, struct open_frame *f, const struct xml_event *event, bool called)
{
    f->caller = called && x->open.count ? context_of(x, &x->open.items[x->open.count - 1]) : f->caller;
    f->module = named(x, &x->modules, xml_attr_get(event, "lm"), f->module);
    f->file = named(x, &x->files, xml_attr_get(event, "f"), f->file);
    f->procedure = named(x, &x->procedures, xml_attr_get(event, "n"), 0);
    if (is_root(strtab_get(x->strings, f->procedure)))
        f->module = f->file = f->procedure = 0;
    f->line = 0;
}

static bool is(const struct xml_event *event, const char *element)
{
    return strcmp(event->element, element) == 0;
}

/* The caller of inlined procedures is the procedure they are inlined into: Pr of call paths if they are alien, A of
   flat profiles. */
static void enter_scope(struct experiment_xml *x, struct open_frame *f, const struct xml_event *event)
{
    const char *alien = xml_attr_get(event, "a"), *line = xml_attr_get(event, "l"), *name = xml_attr_get(event, "n");
    if (is(event, "PF"))
        enter_procedure(x, f, event, true);
    else if (is(event, "Pr") || is(event, "P"))
        enter_procedure(x, f, event, alien && *alien == '1');
    else if (is(event, "A") && name && *name)
        enter_procedure(x, f, event, true);
    else if (is(event, "LM"))
        f->module = strtab_add(x->strings, name);
    else if (is(event, "F"))
        f->file = strtab_add(x->strings, name);
    else if (is(event, "L") || is(event, "S") || is(event, "C")) {
        f->file = named(x, &x->files, xml_attr_get(event, "f"), f->file);
        f->line = number(line);
        f->statement = !is(event, "L");
    }
}

static int on_begin(void *ctx, const struct xml_event *event, struct err *err)
{
    struct experiment_xml *x = ctx;
    struct open_frame f = {.caller = HPCPROF_NO_PARENT};
    int status = 0;
    if (x->open.count)
        f = x->open.items[x->open.count - 1];
    else if (!is(event, "HPCToolkitExperiment"))
        return err_set(err, ERR_FORMAT, "%s:%llu: the root element is <%s>, not <HPCToolkitExperiment>", x->in->name,
                       (unsigned long long)event->line, event->element);
    f.context = HPCPROF_NO_PARENT;
    f.statement = false;
    if (is(event, "Metric"))
        add_metric(x, event);
    else if (is(event, "LoadModule"))
        name_row(x, &x->modules, event);
    else if (is(event, "File"))
        name_row(x, &x->files, event);
    else if (is(event, "Procedure"))
        name_row(x, &x->procedures, event);
    else if (is(event, "M"))
        status = x->open.count ? add_value(x, event, err) : 0;
    else
        enter_scope(x, &f, event);
    *vec_push(&x->open) = f;
    return status;
}

static int on_end(void *ctx, const struct xml_event *event, struct err *err)
{
    struct experiment_xml *x = ctx;
    (void)event, (void)err;
    x->open.count--;
    return 0;
}

static int read_xml(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct experiment_xml x = {.in = in, .strings = into->strings};
    struct xml_handler handler = {on_begin, on_end, &x};
    x.builder = builder_begin(into, in, "HPCToolkit", "");
    int status = xml_read(in->bytes, in->len, in->name, &handler, err);
    if (status == 0 && x.kinds.count == 0)
        status = err_set(err, ERR_FORMAT, "%s: has no metric with exclusive values", in->name);
    if (status == 0 && !x.values)
        warnings_add(warnings, "%s: has no values; they may be in the files *.metric-db, which are not read", in->name);
    if (status == 0)
        builder_end(&x.builder, in, warnings);
    vec_release(&x.open);
    vec_release(&x.kinds);
    hashmap_release(&x.modules);
    hashmap_release(&x.files);
    hashmap_release(&x.procedures);
    hashmap_release(&x.metrics);
    return status;
}

/* ---- the door --------------------------------------------------------------------------------------------------- */

static bool is_database(const void *bytes, size_t len)
{
    static const char *const formats[] = {"meta", "prof", "ctxt"};
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (len >= 16 && memcmp(bytes, "HPCTOOLKIT", 10) == 0 && memcmp((const char *)bytes + 10, formats[i], 4) == 0)
            return true;
    return false;
}

bool hpctoolkit_sniff(const void *bytes, size_t len)
{
    return is_database(bytes, len) || filter_text_begins(bytes, len, '<', "HPCToolkitExperiment");
}

static int open_file(const struct filter_input *in, const char *path, struct filemap *map, struct err *err)
{
    return in->open ? in->open(path, map, err)
                    : err_set(err, ERR_FORMAT, "%s: needs %s in the same folder", in->name, path);
}

/* If one of the files of a database was named, the others are in the same folder. */
static int read_files(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    char *folder = mem_strndup(in->name, (size_t)(path_base(in->name) - in->name));
    char *meta_path = path_join(folder, "meta.db"), *profile_path = path_join(folder, "profile.db");
    struct filemap meta = {0}, profile = {0};
    int status = open_file(in, meta_path, &meta, err);
    if (status == 0)
        status = open_file(in, profile_path, &profile, err);
    if (status == 0) {
        struct hpctoolkit_files files = {meta.bytes, profile.bytes, meta.len, profile.len};
        status = hpctoolkit_v4(&files, in, into, warnings, err);
    }
    filemap_release(&meta);
    filemap_release(&profile);
    mem_free(folder);
    mem_free(meta_path);
    mem_free(profile_path);
    return status;
}

int hpctoolkit_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    return is_database(in->bytes, in->len) ? read_files(in, into, warnings, err) : read_xml(in, into, warnings, err);
}
