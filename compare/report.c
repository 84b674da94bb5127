/* SPDX-License-Identifier: BSD-3-Clause */
/* A comparison as text, and for programs: JSON, JUnit's XML, SARIF 2.1.0, and Markdown for a code host's comment. */
#include "compare/compare.h"

#include <math.h>

static const char *const clocks[] = {"CPU time", "wall time"}, *const clock_words[] = {"cpu", "wall"},
                         *const verdicts[] = {"not worse", "worse", "not known"};

int compare_format_parse(const char *word, enum compare_format *format, struct err *err)
{
    static const char *const words[] = {"text", "markdown", "json", "junit", "sarif"};
    size_t i = str_index(word, words, ARRAY_SIZE(words));
    if (i == ARRAY_SIZE(words))
        return err_set(err, ERR_USAGE, "unknown format '%s'; available: text, markdown, json, junit, sarif", word);
    *format = (enum compare_format)i;
    return 0;
}

/* ---- words ------------------------------------------------------------------------------------- */

static double mean_seconds(const struct comparison *c, enum compare_side side, enum compare_clock clock)
{
    double sum = 0;
    for (size_t i = 0; i < c->pairs.count; i++)
        sum += c->pairs.items[i].side[side].seconds[clock];
    return c->pairs.count ? sum / (double)c->pairs.count : NAN;
}

static void put_percents(struct buf *b, const struct compare_interval *d)
{
    buf_printf(b, "%+.1f%% (%+.1f%% to %+.1f%%)", 100 * d->mean, 100 * d->low, 100 * d->high);
}

/* The first sentence of all reports. */
static char *sentence(const struct compare_report *r)
{
    const struct comparison *c = r->comparison;
    const struct compare_options *o = r->options;
    const struct compare_interval *d = &c->difference[o->clock];
    struct buf b = {0};
    if (c->verdict == COMPARE_WORSE)
        buf_printf(&b, "Worse by more than %g%%: ", 100 * o->threshold);
    else if (c->verdict == COMPARE_UNKNOWN)
        buf_printf(&b, "Not known whether it is worse by more than %g%%: ", 100 * o->threshold);
    else
        buf_str(&b, d->high < 0 ? "Better: " : d->low > 0 ? "Slower, but by less than the threshold: " : "Not worse: ");
    buf_printf(&b, "%s ", clocks[o->clock]);
    put_percents(&b, d);
    buf_printf(&b, ", %zu pairs of runs", c->pairs.count);
    return b.bytes;
}

/* Why it is not known; "" where it is. */
static char *reason(const struct compare_report *r)
{
    const struct comparison *c = r->comparison;
    struct buf b = {0};
    buf_str(&b, "");
    if (c->verdict != COMPARE_UNKNOWN)
        return b.bytes;
    double needed = compare_pairs_needed(c, r->options);
    buf_printf(&b, "The ratio of a pair varies by %.1f%% here (%s)%s.", 100 * c->difference[r->options->clock].spread,
               r->machine, c->out_of_time ? ", and the time limit was reached" : "");
    if (needed > (double)c->pairs.count && needed < 1e6)
        buf_printf(&b, " About %.0f pairs would be needed.", needed);
    else if (!(needed < 1e6) || needed == 0)
        buf_str(&b, " The difference is close to the threshold.");
    return b.bytes;
}

/* "loop heat.c:12-14 in step", "step at heat.c:9" */
static char *scope_text(const struct experiment *e, place_ix place)
{
    const struct place *p = &e->places[place];
    struct buf b = {0};
    place_ix procedure = place;
    while (e->places[procedure].kind > PLACE_INLINE)
        procedure = e->places[procedure].parent;
    const char *file = p->file == SOURCE_NONE ? "" : path_base(strtab_get(e->strings, e->files[p->file].name));
    const char *name = strtab_get(e->strings, e->places[procedure].name);
    if (p->kind != PLACE_LOOP)
        buf_safe(&b, name);
    buf_str(&b, p->kind == PLACE_LOOP ? "loop " : *file ? " at " : "");
    buf_safe(&b, file);
    if (p->line_first)
        buf_printf(&b, "%s%u", *file ? ":" : "", p->line_first);
    else if (p->kind == PLACE_LOOP)
        buf_printf(&b, "%#llx", (unsigned long long)p->address);
    if (p->kind == PLACE_LOOP && p->line_last > p->line_first)
        buf_printf(&b, "-%u", p->line_last);
    if (p->kind == PLACE_LOOP) {
        buf_str(&b, " in ");
        buf_safe(&b, name);
    }
    return b.bytes;
}

static size_t changed_count(const struct comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->scopes.count; i++)
        n += c->scopes.items[i].changed;
    return n;
}

static char *scopes_sentence(const struct comparison *c)
{
    return mem_printf(
        "%zu of %zu loops and functions with at least 1%% of the time changed (false discovery rate at most %g%%)",
        changed_count(c), c->scopes.count, 100 * COMPARE_ERROR);
}

/* ---- text and Markdown ------------------------------------------------------------------------- */

static void put_rows(const struct compare_report *r, bool markdown, struct buf *b)
{
    const struct comparison *c = r->comparison;
    const char *row = markdown ? "| %s | %.4g s | %.4g s | " : "  %-10s %9.4g s %9.4g s  ";
    buf_str(b, markdown ? "| | base | new | difference (95% interval) |\n|---|---:|---:|---:|\n"
                        : "                   base         new  difference (95% interval)\n");
    for (enum compare_clock clock = 0; clock < COMPARE_CLOCKS; clock++) {
        char *numbers =
            mem_printf(row, clocks[clock], mean_seconds(c, COMPARE_BASE, clock), mean_seconds(c, COMPARE_NEW, clock));
        buf_str(b, numbers);
        mem_free(numbers);
        put_percents(b, &c->difference[clock]);
        buf_str(b, markdown ? " |\n" : "\n");
    }
    char *words = scopes_sentence(c);
    buf_printf(b, "\n%s%s\n", words, changed_count(c) ? ":" : ".");
    if (markdown && changed_count(c))
        buf_str(b, "\n| scope | base | new | difference (95% interval) |\n|---|---:|---:|---:|\n");
    for (size_t i = 0; i < c->scopes.count; i++) {
        const struct compare_scope *s = &c->scopes.items[i];
        if (!s->changed)
            continue;
        char *text = scope_text(r->experiment, s->place);
        if (markdown)
            buf_printf(b, "| `%s` | %.4g s | %.4g s | %+.3g s (%+.3g to %+.3g s) |\n", text, s->seconds[COMPARE_BASE],
                       s->seconds[COMPARE_NEW], s->difference.mean, s->difference.low, s->difference.high);
        else
            buf_printf(b, "  %+9.3g s (%+.3g to %+.3g s)  %s\n", s->difference.mean, s->difference.low,
                       s->difference.high, text);
        mem_free(text);
    }
    mem_free(words);
}

static void put_text(const struct compare_report *r, bool markdown, struct buf *b)
{
    char *first = sentence(r), *why = reason(r);
    buf_printf(b, markdown ? "**%s**\n\n" : "%s\n", first);
    if (*why)
        buf_printf(b, "%s\n%s", why, markdown ? "\n" : "");
    buf_printf(b, markdown ? "Base: `%s`, new: `%s`\n\n" : "base: %s\nnew:  %s\n\n", r->name[COMPARE_BASE],
               r->name[COMPARE_NEW]);
    put_rows(r, markdown, b);
    buf_printf(b, "\n%s\n", r->machine);
    mem_free(first);
    mem_free(why);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void put_interval(struct jsonout *j, const char *key, const struct compare_interval *d)
{
    json_key(j, key);
    json_begin_object(j);
    json_put_double(j, "mean", d->mean);
    json_put_double(j, "low", d->low);
    json_put_double(j, "high", d->high);
    json_put_double(j, "spread", d->spread);
    json_end_object(j);
}

static void put_pairs(struct jsonout *j, const struct comparison *c)
{
    json_key(j, "pairs");
    json_begin_array(j);
    for (size_t i = 0; i < c->pairs.count; i++) {
        static const char *const keys[][COMPARE_CLOCKS] = {{"base_cpu", "base_wall"}, {"new_cpu", "new_wall"}};
        json_begin_object(j);
        for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
            for (enum compare_clock clock = 0; clock < COMPARE_CLOCKS; clock++)
                json_put_double(j, keys[side][clock], c->pairs.items[i].side[side].seconds[clock]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_scopes(struct jsonout *j, const struct compare_report *r)
{
    static const char *const kinds[] = {"program", "module", "file", "function", "function", "loop", "line"};
    const struct experiment *e = r->experiment;
    json_key(j, "scopes");
    json_begin_array(j);
    for (size_t i = 0; i < r->comparison->scopes.count; i++) {
        const struct compare_scope *s = &r->comparison->scopes.items[i];
        const struct place *p = &e->places[s->place];
        char *text = scope_text(e, s->place);
        json_begin_object(j);
        json_put_string(j, "scope", text);
        json_put_string(j, "kind", kinds[p->kind]);
        json_put_string(j, "file", p->file == SOURCE_NONE ? "" : strtab_get(e->strings, e->files[p->file].name));
        json_put_u64(j, "line", p->line_first);
        json_put_double(j, "base", s->seconds[COMPARE_BASE]);
        json_put_double(j, "new", s->seconds[COMPARE_NEW]);
        put_interval(j, "difference", &s->difference);
        json_put_double(j, "p", s->p);
        json_put_bool(j, "changed", s->changed);
        json_end_object(j);
        mem_free(text);
    }
    json_end_array(j);
}

static void put_json(const struct compare_report *r, struct buf *b)
{
    struct jsonout j = {b, false};
    const struct comparison *c = r->comparison;
    char *first = sentence(r), *why = reason(r);
    json_begin_object(&j);
    json_put_string(&j, "verdict", verdicts[c->verdict]);
    json_put_string(&j, "sentence", first);
    json_put_string(&j, "reason", why);
    json_put_string(&j, "base", r->name[COMPARE_BASE]);
    json_put_string(&j, "new", r->name[COMPARE_NEW]);
    json_put_string(&j, "machine", r->machine);
    json_put_string(&j, "clock", clock_words[r->options->clock]);
    json_put_double(&j, "threshold", r->options->threshold);
    json_put_u64(&j, "failed_runs", c->failed);
    for (enum compare_clock clock = 0; clock < COMPARE_CLOCKS; clock++)
        put_interval(&j, clock_words[clock], &c->difference[clock]);
    put_pairs(&j, c);
    put_scopes(&j, r);
    json_end_object(&j);
    buf_char(b, '\n');
    mem_free(first);
    mem_free(why);
}

/* ---- JUnit ------------------------------------------------------------------------------------- */

/* A test case is the program, and each scope that changed; what is not known is skipped, not passed. */
static void write_junit(const struct compare_report *r, struct outfile *out)
{
    const struct comparison *c = r->comparison;
    struct xmlout *x = xmlout_create(out, NULL);
    char *first = sentence(r), *why = reason(r);
    xmlout_begin(x, "testsuite");
    xmlout_attr(x, "name", "hpcview compare");
    xmlout_attr_u64(x, "tests", 1);
    xmlout_attr_u64(x, "failures", c->verdict == COMPARE_WORSE);
    xmlout_attr_u64(x, "skipped", c->verdict == COMPARE_UNKNOWN);
    xmlout_begin(x, "testcase");
    xmlout_attr(x, "classname", "hpcview.compare");
    xmlout_attr(x, "name", r->name[COMPARE_NEW]);
    xmlout_attr_printf(x, "time", "%.6f", mean_seconds(c, COMPARE_NEW, r->options->clock));
    if (c->verdict != COMPARE_NOT_WORSE) {
        xmlout_begin(x, c->verdict == COMPARE_WORSE ? "failure" : "skipped");
        xmlout_attr_printf(x, "message", "%s%s%s", first, *why ? ". " : "", why);
        xmlout_end(x);
    }
    struct buf text = {0};
    put_text(r, false, &text);
    xmlout_begin(x, "system-out");
    xmlout_text(x, text.bytes);
    xmlout_end(x);
    xmlout_end(x);
    xmlout_end(x);
    xmlout_finish(x);
    buf_release(&text);
    mem_free(first);
    mem_free(why);
}

/* ---- SARIF ------------------------------------------------------------------------------------- */

static void put_location(struct jsonout *j, const struct experiment *e, const struct place *p)
{
    json_key(j, "locations");
    json_begin_array(j);
    if (p->file != SOURCE_NONE) {
        json_begin_object(j);
        json_key(j, "physicalLocation");
        json_begin_object(j);
        json_key(j, "artifactLocation");
        json_begin_object(j);
        json_put_string(j, "uri", strtab_get(e->strings, e->files[p->file].name));
        json_end_object(j);
        if (p->line_first) {
            json_key(j, "region");
            json_begin_object(j);
            json_put_u64(j, "startLine", p->line_first);
            json_end_object(j);
        }
        json_end_object(j);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_message(struct jsonout *j, const char *text)
{
    json_key(j, "message");
    json_begin_object(j);
    json_put_string(j, "text", text);
    json_end_object(j);
}

/* Scopes that became slower are results at their lines: errors where the program is worse, else notes. */
static void put_sarif(const struct compare_report *r, struct buf *b)
{
    struct jsonout j = {b, false};
    const struct comparison *c = r->comparison;
    const char *level = c->verdict == COMPARE_WORSE ? "error" : "note";
    json_begin_object(&j);
    json_put_string(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_put_string(&j, "version", "2.1.0");
    json_key(&j, "runs");
    json_begin_array(&j);
    json_begin_object(&j);
    json_key(&j, "tool");
    json_begin_object(&j);
    json_key(&j, "driver");
    json_begin_object(&j);
    json_put_string(&j, "name", "hpcview compare");
    json_key(&j, "rules");
    json_begin_array(&j);
    json_begin_object(&j);
    json_put_string(&j, "id", "slower");
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);
    json_end_object(&j);
    json_key(&j, "results");
    json_begin_array(&j);
    for (size_t i = 0; i < c->scopes.count; i++) {
        const struct compare_scope *s = &c->scopes.items[i];
        if (!s->changed || s->difference.mean <= 0)
            continue;
        char *scope = scope_text(r->experiment, s->place);
        char *text =
            mem_printf("%s became slower: %.4g s, then %.4g s (%+.3g to %+.3g s)", scope, s->seconds[COMPARE_BASE],
                       s->seconds[COMPARE_NEW], s->difference.low, s->difference.high);
        json_begin_object(&j);
        json_put_string(&j, "ruleId", "slower");
        json_put_string(&j, "level", level);
        put_message(&j, text);
        put_location(&j, r->experiment, &r->experiment->places[s->place]);
        json_end_object(&j);
        mem_free(scope);
        mem_free(text);
    }
    json_end_array(&j);
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);
    buf_char(b, '\n');
}

void compare_write(const struct compare_report *r, enum compare_format format, struct outfile *out)
{
    struct buf b = {0};
    if (format == COMPARE_JUNIT)
        write_junit(r, out);
    else if (format == COMPARE_JSON)
        put_json(r, &b);
    else if (format == COMPARE_SARIF)
        put_sarif(r, &b);
    else
        put_text(r, format == COMPARE_MARKDOWN, &b);
    outfile_write(out, b.bytes ? b.bytes : "", b.len);
    buf_release(&b);
}
