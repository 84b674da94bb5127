/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings as text for people, as CSV and JSON for programs. */
#include "diagnose/report/report.h"

#include <math.h>

static const char *const format_words[] = {"text", "csv", "json", "sarif", "periscope", "graph"};

int diagnose_format_parse(const char *word, enum diagnose_format *f, struct err *err)
{
    size_t i = str_index(word, format_words, ARRAY_SIZE(format_words));
    *f = (enum diagnose_format)i;
    if (i < ARRAY_SIZE(format_words))
        return 0;
    return err_set(err, ERR_USAGE, "unknown format '%s'; available: text, csv, json, sarif, periscope, graph", word);
}

/* ---- text ------------------------------------------------------------------------------------------- */

enum { TEXT_WIDTH = 100, TEXT_INDENT = 4 };

/* A paragraph, broken between words. */
static void add_paragraph(struct buf *out, const char *label, const char *text)
{
    struct buf safe = {0};
    if (!*text)
        return;
    buf_safe(&safe, text);
    buf_printf(out, "%*s%s", TEXT_INDENT, "", label);
    size_t column = TEXT_INDENT + strlen(label);
    for (const char *c = safe.bytes; *c;) {
        size_t n = strcspn(c, " ");
        if (column + n + 1 > TEXT_WIDTH && column > TEXT_INDENT) {
            buf_printf(out, "\n%*s", TEXT_INDENT, "");
            column = TEXT_INDENT;
        } else if (column > TEXT_INDENT) {
            buf_char(out, ' ');
            column++;
        }
        buf_add(out, c, n);
        column += n;
        c += n + strspn(c + n, " ");
    }
    buf_char(out, '\n');
    buf_release(&safe);
}

/* "5 to 48%", or "59%" where both ends are the same to the digit. */
static void add_gain(struct buf *out, const struct finding *f)
{
    double low = isnan(f->gain_low) ? f->severity : f->gain_low,
           high = isnan(f->gain_high) ? f->severity : f->gain_high;
    int digits = high < 9.95 ? 1 : 0;
    if (high - low < 0.5)
        buf_printf(out, "%.*f%%", digits, high);
    else
        buf_printf(out, "%.*f to %.*f%%", digits, low, digits, high);
}

static void add_finding(struct buf *out, size_t number, const struct finding *f, bool explained)
{
    buf_printf(out, "%zu. ", number);
    add_gain(out, f);
    buf_printf(out, " (confidence %.0f%%)  ", 100 * f->confidence);
    buf_safe(out, f->title);
    buf_str(out, "\n");
    add_paragraph(out, "where:", f->where);
    add_paragraph(out, "evidence:", f->evidence);
    if (explained)
        add_paragraph(out, "", f->explanation);
    add_paragraph(out, "remedy:", f->remedy);
}

static size_t count_states(const struct diagnosis *d, enum diagnose_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < d->search.count; i++)
        n += d->search.items[i].state == state;
    return n;
}

/* Properties that need the same are named together. */
static void add_not_tested(struct buf *out, const struct diagnosis *d)
{
    struct strtab *said = strtab_create();
    for (size_t i = 0; i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        size_t before = strtab_count(said);
        if (s->state != SEARCH_NOT_MEASURABLE || strtab_add(said, s->note) < before)
            continue;
        struct buf names = {0};
        struct strtab *listed = strtab_create();
        for (size_t k = i; k < d->search.count; k++) {
            const struct search_step *other = &d->search.items[k];
            size_t known = strtab_count(listed);
            if (other->state == SEARCH_NOT_MEASURABLE && strcmp(other->note, s->note) == 0 &&
                strtab_add(listed, other->property) >= known)
                buf_printf(&names, "%s%s", names.len ? ", " : "", other->property);
        }
        buf_printf(&names, ": %s", s->note);
        add_paragraph(out, "not tested:", names.bytes);
        strtab_free(listed);
        buf_release(&names);
    }
    strtab_free(said);
}

static void add_unknown(struct buf *out, const struct diagnosis *d)
{
    for (size_t i = 0; i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        if (s->state != SEARCH_UNKNOWN || !*s->note)
            continue;
        char *text = mem_printf("%s: %s", s->property, s->note);
        add_paragraph(out, "unknown:", text);
        mem_free(text);
    }
}

/* A search step by step: each step indented under its parent. */
static void add_history(struct buf *out, const struct diagnosis *d)
{
    buf_printf(out, "\nThe search: %zu steps in %u rounds\n", d->search.count, d->experiments);
    for (size_t i = 0; i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        buf_printf(out, "  %3u  %-14s ", s->experiment, diagnose_state_word(s->state));
        if (isnan(s->value))
            buf_str(out, "       ");
        else
            buf_printf(out, "%5.1f%% ", s->value);
        buf_printf(out, "%s: ", s->property);
        buf_safe(out, s->where);
        if (*s->note) {
            buf_str(out, "; ");
            buf_safe(out, s->note);
        }
        if (s->parent != STEP_NONE)
            buf_printf(out, "  (from %s)", d->search.items[s->parent].property);
        buf_str(out, "\n");
    }
}

static size_t count_properties(const struct diagnosis *d)
{
    struct strtab *names = strtab_create();
    size_t none = strtab_count(names);
    for (size_t i = 0; i < d->search.count; i++)
        strtab_add(names, d->search.items[i].property);
    size_t n = strtab_count(names) - none;
    strtab_free(names);
    return n;
}

/* The measurements for untested properties, with counts: "19 need hpcview record --phases". */
static void add_what_tests(struct buf *out, const struct diagnosis *d)
{
    struct strtab *makers = strtab_create();
    struct VEC(size_t) counts = {0};
    size_t none = strtab_count(makers);
    struct buf text = {0};
    for (size_t i = 0; i < d->search.count; i++) {
        const char *note = d->search.items[i].note, *from = strrchr(note, '('), *to = from ? strchr(from, ')') : NULL;
        if (d->search.items[i].state != SEARCH_NOT_MEASURABLE)
            continue;
        char *maker = to ? mem_printf("%.*s", (int)(to - from - 1), from + 1) : mem_strdup("other events (record -e)");
        size_t at = strtab_add(makers, maker) - none;
        mem_free(maker);
        while (counts.count <= at)
            *vec_push(&counts) = 0;
        counts.items[at]++;
    }
    for (size_t i = 0; i < counts.count; i++)
        buf_printf(&text, "%s%zu need%s %s", i ? "; " : "", counts.items[i], counts.items[i] == 1 ? "s" : "",
                   strtab_get(makers, (str_id)(none + i)));
    if (counts.count)
        add_paragraph(out, "not tested (--untested lists them):", text.bytes);
    buf_release(&text);
    vec_release(&counts);
    strtab_free(makers);
}

/* The first finding in a sentence. */
static void add_verdict(struct buf *out, const struct diagnosis *d)
{
    const struct finding *f = &d->findings.items[0];
    buf_safe(out, f->title);
    if (*f->where && !strstr(f->title, f->where)) {
        buf_str(out, ": ");
        buf_safe(out, f->where);
    }
    buf_str(out, ". Likely gain: ");
    add_gain(out, f);
    buf_str(out, " of the run.\n\n");
}

static void write_text(const struct diagnosis *d, struct diagnose_text detail, struct outfile *out)
{
    enum { FINDINGS_SHOWN = 5 };
    struct buf b = {0};
    size_t shown = !detail.all && d->findings.count > FINDINGS_SHOWN ? FINDINGS_SHOWN : d->findings.count;
    if (d->findings.count) {
        add_verdict(&b, d);
        buf_printf(&b, "%zu finding%s (>= %g%% of the run), ordered by likely gain\n", d->findings.count,
                   d->findings.count == 1 ? "" : "s", d->threshold);
    } else
        buf_printf(&b, "No finding costs %g%% of the run or more.\n", d->threshold);
    for (size_t i = 0; i < shown; i++) {
        buf_char(&b, '\n');
        add_finding(&b, i + 1, &d->findings.items[i], detail.all);
    }
    if (shown < d->findings.count)
        buf_printf(&b, "\n%zu more findings: --all shows them\n", d->findings.count - shown);
    if (d->strategy != DIAGNOSE_WHOLE)
        add_history(&b, d);
    else {
        buf_printf(&b, "\n%zu properties checked: %zu hold, %zu do not, %zu unknown, %zu not tested\n",
                   count_properties(d), count_states(d, SEARCH_TRUE), count_states(d, SEARCH_FALSE),
                   count_states(d, SEARCH_UNKNOWN), count_states(d, SEARCH_NOT_MEASURABLE));
        add_unknown(&b, d);
        if (detail.untested)
            add_not_tested(&b, d);
        else
            add_what_tests(&b, d);
    }
    outfile_take(out, &b);
}

/* ---- CSV ---------------------------------------------------------------------------------------------- */

static const char *file_of(const struct experiment *e, place_ix place)
{
    uint32_t file = place < e->place_count ? e->places[place].file : SOURCE_NONE;
    return file < e->file_count ? strtab_get(e->strings, e->files[file].name) : "";
}

static uint32_t line_of(const struct experiment *e, place_ix place)
{
    return place < e->place_count ? e->places[place].line_first : 0;
}

static void write_csv(const struct experiment *e, const struct diagnosis *d, struct outfile *out)
{
    struct buf b = {0};
    struct csvout c = {.out = &b};
    buf_str(
        &b,
        "property,title,severity,error,gain_low,gain_high,confidence,file,line,where,evidence,explanation,remedy\n");
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct finding *f = &d->findings.items[i];
        csv_text(&c, f->property);
        csv_text(&c, f->title);
        csv_double(&c, f->severity);
        csv_double(&c, f->error);
        csv_double(&c, f->gain_low);
        csv_double(&c, f->gain_high);
        csv_double(&c, f->confidence);
        csv_text(&c, file_of(e, f->place));
        csv_u64(&c, line_of(e, f->place));
        csv_text(&c, f->where);
        csv_text(&c, f->evidence);
        csv_text(&c, f->explanation);
        csv_text(&c, f->remedy);
        csv_end_line(&c);
    }
    outfile_take(out, &b);
}

/* ---- JSON ----------------------------------------------------------------------------------------------- */

static void put_finding(struct jsonout *j, const struct experiment *e, const struct finding *f)
{
    json_begin_object(j);
    json_put_string(j, "property", f->property);
    json_put_string(j, "title", f->title);
    json_put_double(j, "severity", f->severity);
    json_put_double(j, "error", f->error);
    json_put_double(j, "gain_low", f->gain_low);
    json_put_double(j, "gain_high", f->gain_high);
    json_put_double(j, "confidence", f->confidence);
    json_put_string(j, "file", file_of(e, f->place));
    json_put_double(j, "line", line_of(e, f->place));
    json_put_string(j, "where", f->where);
    json_put_double(j, "copies", (double)f->copies);
    json_put_string(j, "evidence", f->evidence);
    json_put_string(j, "explanation", f->explanation);
    json_put_string(j, "remedy", f->remedy);
    json_end_object(j);
}

static void put_step(struct jsonout *j, const struct search_step *s)
{
    json_begin_object(j);
    json_put_string(j, "hypothesis", s->property);
    json_put_string(j, "focus", s->where);
    json_put_string(j, "state", diagnose_state_word(s->state));
    json_put_double(j, "value", s->value);
    json_put_double(j, "threshold", s->threshold);
    json_put_double(j, "experiment", s->experiment);
    json_key(j, "parent");
    if (s->parent == STEP_NONE)
        json_null(j);
    else
        json_u64(j, s->parent);
    json_put_string(j, "note", s->note);
    json_end_object(j);
}

static void write_json(const struct experiment *e, const struct diagnosis *d, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {.out = &b};
    json_begin_object(&j);
    json_put_array(&j, "findings");
    for (size_t i = 0; i < d->findings.count; i++)
        put_finding(&j, e, &d->findings.items[i]);
    json_end_array(&j);
    json_put_array(&j, "search");
    for (size_t i = 0; i < d->search.count; i++)
        put_step(&j, &d->search.items[i]);
    json_end_array(&j);
    json_put_double(&j, "threshold", d->threshold);
    json_put_double(&j, "experiments", d->experiments);
    json_end_object(&j);
    buf_char(&b, '\n');
    outfile_take(out, &b);
}

void diagnosis_write(const struct experiment *e, const struct properties *p, const struct diagnosis *d,
                     enum diagnose_format format, struct diagnose_text detail, const char *version, struct outfile *out)
{
    switch (format) {
    case DIAGNOSE_TEXT:
        write_text(d, detail, out);
        break;
    case DIAGNOSE_CSV:
        write_csv(e, d, out);
        break;
    case DIAGNOSE_JSON:
        write_json(e, d, out);
        break;
    case DIAGNOSE_SARIF:
        diagnosis_write_sarif(e, p, d, version, out);
        break;
    case DIAGNOSE_PERISCOPE:
        diagnosis_write_periscope(e, d, out);
        break;
    case DIAGNOSE_GRAPH:
        diagnosis_write_graph(d, out);
        break;
    }
}
