/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings for other programs: SARIF 2.1.0 (OASIS), which code hosts show at the lines; the XML of Periscope, for its
 * graphical interface; the search as a graph in the language of dot.
 */
#include "diagnose/report/report.h"

#include <math.h>
#include <stdio.h>

static const char *file_of(const struct experiment *e, place_ix place)
{
    uint32_t file = place < e->place_count ? e->places[place].file : SOURCE_NONE;
    return file < e->file_count ? strtab_get(e->strings, e->files[file].name) : "";
}

/* ---- SARIF ---------------------------------------------------------------------------------------- */

static void put_text(struct jsonout *j, const char *key, const char *text)
{
    json_put_object(j, key);
    json_put_string(j, "text", text);
    json_end_object(j);
}

/* A relative reference: bytes that stand for something else in one are escaped. */
static void put_uri(struct jsonout *j, const char *path)
{
    struct buf b = {0};
    buf_str(&b, "");
    for (const char *c = path; *c; c++)
        if (strchr("%?#[]<>\" \\^`{|}:", *c) || (unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            buf_printf(&b, "%%%02X", (unsigned char)*c);
        else
            buf_char(&b, *c);
    json_put_string(j, "uri", b.bytes);
    buf_release(&b);
}

static void put_location(struct jsonout *j, const struct experiment *e, const struct finding *f)
{
    uint32_t line = f->place < e->place_count ? e->places[f->place].line_first : 0;
    json_put_array(j, "locations");
    json_begin_object(j);
    if (*file_of(e, f->place)) {
        json_put_object(j, "physicalLocation");
        json_put_object(j, "artifactLocation");
        put_uri(j, file_of(e, f->place));
        json_end_object(j);
        if (line) {
            json_put_object(j, "region");
            json_put_u64(j, "startLine", line);
            json_end_object(j);
        }
        json_end_object(j);
    }
    json_put_array(j, "logicalLocations");
    json_begin_object(j);
    json_put_string(j, "fullyQualifiedName", f->where);
    json_end_object(j);
    json_end_array(j);
    json_end_object(j);
    json_end_array(j);
}

static uint32_t rule_of(const struct finding *f, struct strtab *rules)
{
    return (uint32_t)strtab_add(rules, f->property) - 1; /* 0 is the empty string */
}

static void put_result(struct jsonout *j, const struct experiment *e, const struct finding *f, struct strtab *rules)
{
    struct buf message = {0};
    buf_printf(&message, "%s (%.1f%% of the run, confidence %.2f).", f->title, f->severity, f->confidence);
    if (*f->evidence)
        buf_printf(&message, " %s.", f->evidence);
    if (*f->remedy)
        buf_printf(&message, " %s", f->remedy);
    json_begin_object(j);
    json_put_string(j, "ruleId", f->property);
    json_put_u64(j, "ruleIndex", rule_of(f, rules));
    json_put_string(j, "level", f->severity >= 10 ? "error" : f->severity >= 3 ? "warning" : "note");
    put_text(j, "message", message.bytes);
    put_location(j, e, f);
    json_put_double(j, "rank", f->severity); /* 0 to 100 */
    json_put_object(j, "properties");
    json_put_double(j, "severity", f->severity);
    json_put_double(j, "gainLow", f->gain_low);
    json_put_double(j, "gainHigh", f->gain_high);
    json_put_double(j, "confidence", f->confidence);
    json_end_object(j);
    json_end_object(j);
    buf_release(&message);
}

static void put_rules(struct jsonout *j, const struct diagnosis *d, struct strtab *rules)
{
    json_put_array(j, "rules");
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct finding *f = &d->findings.items[i];
        size_t before = strtab_count(rules);
        if (strtab_add(rules, f->property) < before)
            continue;
        json_begin_object(j);
        json_put_string(j, "id", f->property);
        json_put_string(j, "name", f->property);
        put_text(j, "shortDescription", f->title);
        if (*f->explanation)
            put_text(j, "fullDescription", f->explanation);
        if (*f->remedy)
            put_text(j, "help", f->remedy);
        json_end_object(j);
    }
    json_end_array(j);
}

void diagnosis_write_sarif(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                           const char *version, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {.out = &b};
    struct strtab *rules = strtab_create();
    (void)p;
    json_begin_object(&j);
    json_put_string(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_put_string(&j, "version", "2.1.0");
    json_put_array(&j, "runs");
    json_begin_object(&j);
    json_put_object(&j, "tool");
    json_put_object(&j, "driver");
    json_put_string(&j, "name", "hpcview");
    json_put_string(&j, "version", version);
    put_rules(&j, d, rules);
    json_end_object(&j);
    json_end_object(&j);
    json_put_string(&j, "columnKind", "utf16CodeUnits");
    json_put_array(&j, "results");
    for (size_t i = 0; i < d->findings.count; i++)
        put_result(&j, e, &d->findings.items[i], rules);
    json_end_array(&j);
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&b, '\n');
    outfile_write(out, b.bytes, b.len);
    strtab_free(rules);
    buf_release(&b);
}

/* ---- Periscope -------------------------------------------------------------------------------------- */

static const char *region_of(const struct experiment *e, place_ix place)
{
    static const char *const regions[] = {"MAIN_REGION", "DATA_PARALLEL_REGION", "DATA_PARALLEL_REGION", "SUB_REGION",
                                          "CALL_REGION", "LOOP_REGION",          "USER_REGION"};
    return place < e->place_count ? regions[e->places[place].kind] : regions[PLACE_PROGRAM];
}

static void element(struct xmlout *x, const char *name, const char *text)
{
    xmlout_begin(x, name);
    xmlout_text(x, text);
    xmlout_end(x);
}

static void number(struct xmlout *x, const char *name, double v)
{
    char text[40];
    snprintf(text, sizeof text, "%.4f", v);
    element(x, name, text);
}

static void write_property(struct xmlout *x, const struct experiment *e, const struct finding *f, size_t ix,
                           size_t processes)
{
    uint32_t file = f->place < e->place_count ? e->places[f->place].file : SOURCE_NONE;
    uint32_t line = f->place < e->place_count ? e->places[f->place].line_first : 0;
    xmlout_begin(x, "property");
    xmlout_attr(x, "cluster", f->copies > 1 ? "true" : "false");
    xmlout_attr_printf(x, "ID", "1-%zu", ix + 1);
    element(x, "name", f->title);
    xmlout_begin(x, "context");
    xmlout_attr_u64(x, "FileID", file == SOURCE_NONE ? 0 : file + 1u);
    xmlout_attr(x, "FileName", file_of(e, f->place));
    xmlout_attr_u64(x, "RFL", line);
    xmlout_attr_printf(x, "Config", "%zux1", processes);
    xmlout_attr(x, "Region", region_of(e, f->place));
    xmlout_attr_printf(x, "RegionId", "%u-%u", file == SOURCE_NONE ? 0 : file + 1, line);
    xmlout_begin(x, "execObj");
    xmlout_attr(x, "process", "0");
    xmlout_attr(x, "thread", "0");
    xmlout_end(x);
    xmlout_end(x);
    number(x, "severity", f->severity);
    number(x, "confidence", f->confidence);
    xmlout_begin(x, "addInfo");
    element(x, "propertyName", f->property);
    element(x, "region", f->where);
    element(x, "evidence", f->evidence);
    xmlout_end(x);
    xmlout_end(x);
}

void diagnosis_write_periscope(const struct experiment *e, const struct diagnosis *d, struct outfile *out)
{
    struct xmlout *x = xmlout_create(out, NULL);
    size_t processes = e->process_count ? e->process_count : 1, threads = 0;
    for (size_t i = 0; i < e->process_count; i++)
        threads = e->processes[i].thread_count > threads ? e->processes[i].thread_count : threads;
    xmlout_begin(x, "Experiment");
    xmlout_attr(x, "xmlns", "http://www.lrr.in.tum.de/Periscope");
    xmlout_begin(x, "numProcs");
    char text[24];
    snprintf(text, sizeof text, "%zu", processes);
    xmlout_text(x, text);
    xmlout_end(x);
    snprintf(text, sizeof text, "%zu", threads ? threads : 1);
    element(x, "numThreads", text);
    element(x, "rts", strtab_get(e->strings, e->title));
    for (size_t i = 0; i < d->findings.count; i++)
        write_property(x, e, &d->findings.items[i], i, processes);
    xmlout_end(x);
    xmlout_finish(x);
}

/* ---- the search as a graph ----------------------------------------------------------------------------- */

static void dot_text(struct buf *b, const char *s)
{
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            buf_printf(b, "\\%c", *s);
        else
            buf_char(b, (unsigned char)*s < 0x20 ? ' ' : *s);
}

void diagnosis_write_graph(const struct diagnosis *d, struct outfile *out)
{
    static const char *const colours[] = {"orange", "white", "lightyellow", "grey90", "grey80", "grey95"};
    struct buf b = {0};
    buf_str(&b, "digraph search {\n  node [shape=box, style=filled];\n");
    for (size_t i = 0; i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        buf_printf(&b, "  s%zu [fillcolor=%s, label=\"", i, colours[s->state]);
        dot_text(&b, s->property);
        buf_str(&b, "\\n");
        dot_text(&b, s->where);
        buf_printf(&b, "\\n%s", diagnose_state_word(s->state));
        if (!isnan(s->value))
            buf_printf(&b, " %.1f%%", s->value);
        buf_str(&b, "\"];\n");
        if (s->parent != STEP_NONE)
            buf_printf(&b, "  s%u -> s%zu;\n", s->parent, i);
    }
    buf_str(&b, "}\n");
    outfile_take(out, &b);
}
