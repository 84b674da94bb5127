/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration that `hpcview init` writes: everything available, with a short explanation each; optional parts
   in comments. */
#include "metrics/join/join.h"

#include <stdlib.h>

/* Text for an attribute; characters that XML cannot represent become U+FFFD, and "--" is not allowed in a comment. */
static void add_escaped(struct buf *out, const char *s)
{
    for (size_t n = strlen(s); n;) {
        size_t len = utf8_length(s, n);
        static const char *const escapes[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
        unsigned char c = (unsigned char)*s;
        if (len == 1 && c < ARRAY_SIZE(escapes) && escapes[c])
            buf_str(out, escapes[c]);
        else if (len == 1 && c == '-' && s[1] == '-')
            buf_str(out, "&#45;");
        else if (len == 0 || c < 0x20)
            buf_str(out, "\xef\xbf\xbd");
        else
            buf_add(out, s, len);
        s += len ? len : 1;
        n -= len ? len : 1;
    }
}

static void add_attribute(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, " %s=\"", name);
    add_escaped(out, value);
    buf_str(out, "\"");
}

/* Is metric i the first one of its event? */
static bool first_of_event(const struct experiment *e, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (e->metrics[k].event == e->metrics[i].event && !e->metrics[k].formula)
            return false;
    return !e->metrics[i].formula;
}

static void add_measured(struct buf *out, const struct experiment *e)
{
    for (size_t i = 0; i < e->metric_count; i++) {
        if (!first_of_event(e, i))
            continue;
        buf_str(out, "  <measured");
        add_attribute(out, "event", strtab_get(e->strings, e->metrics[i].event));
        if (e->metrics[i].unit)
            add_attribute(out, "unit", strtab_get(e->strings, e->metrics[i].unit));
        buf_str(out, "/>\n");
    }
}

/* In a comment everything is allowed except "--" and characters that XML cannot represent. */
static void add_comment(struct buf *out, const char *s)
{
    for (size_t n; *s; s += n ? n : 1) {
        n = utf8_length(s, strlen(s));
        if (n == 0 || (unsigned char)*s < 0x20)
            buf_str(out, "\xef\xbf\xbd");
        else
            buf_add(out, s, n);
        if (*s == '-' && s[1] == '-')
            buf_char(out, ' ');
    }
}

static void explain_metric(void *ctx, const struct config_metric *m)
{
    struct buf *out = ctx;
    buf_str(out, "  <!-- ");
    add_comment(out, m->name);
    buf_str(out, " = ");
    add_comment(out, m->formula);
    buf_str(out, ": ");
    add_comment(out, m->description);
    buf_str(out, " -->\n");
}

/* The metric blocks that the available events allow, and their metrics. */
static void add_blocks(struct buf *out, const struct config *c, const struct experiment *e)
{
    struct VEC(const char *) events = {0};
    bool any = false;
    for (size_t i = 0; i < e->metric_count; i++)
        if (first_of_event(e, i))
            *vec_push(&events) = strtab_get(e->strings, e->metrics[i].event);
    *vec_push(&events) = NULL;
    for (size_t i = 0; c->known_blocks && i < blocks_count(c->known_blocks); i++) {
        size_t before = out->len;
        blocks_metrics(c->known_blocks, blocks_name(c->known_blocks, i), events.items, explain_metric, out);
        if (out->len == before)
            continue;
        buf_str(out, "  <metrics");
        add_attribute(out, "block", blocks_name(c->known_blocks, i));
        buf_str(out, "/>\n");
        any = true;
    }
    if (!any)
        buf_str(out, "  <!-- <metrics block=\"cpi\"/> -->\n");
    vec_release(&events);
}

/* The folder of a program's own sources in the debug information, if it exists here. */
static void add_source_folders(struct buf *out, const struct experiment *e)
{
    for (size_t i = 0; i < e->source_folder_count; i++) {
        buf_str(out, "  <sources");
        add_attribute(out, "path", strtab_get(e->strings, e->source_folders[i]));
        buf_str(out, "/>\n");
    }
    if (e->source_folder_count == 0)
        buf_str(out, "  <!-- <sources path=\"src/*\"/> -->\n");
}

/* The path as seen from the configuration's folder; absolute where that is not the current one. */
static char *seen_from(const char *config_path, const char *path)
{
    if (!strchr(config_path, '/') || path[0] == '/')
        return mem_strdup(path);
    char *real = realpath(path, NULL);
    char *copy = mem_strdup(real ? real : path);
    free(real);
    return copy;
}

static void add_runs(struct buf *out, const struct config *c, const char *path)
{
    for (size_t i = 0; i < c->runs.count; i++) {
        char *measurements = seen_from(path, c->runs.items[i].path);
        buf_str(out, "  <run");
        add_attribute(out, "name", c->runs.items[i].name);
        add_attribute(out, "measurements", measurements);
        buf_str(out, "/>\n");
        mem_free(measurements);
    }
}

static void write_all(const struct config *c, const char *path, const struct experiment *e, struct buf *out)
{
    buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Configuration for `hpcview build` and `hpcview "
                 "print`. Paths are relative to this file.\n     doc/formats/configuration.md describes all elements; "
                 "hpcview-build(1) has an example. -->\n<hpcview version=\"1\">\n  <title>");
    add_escaped(out, strtab_get(e->strings, e->title));
    buf_str(out, "</title>\n\n  <!-- Folders to search for sources, after this folder; /* includes subfolders.\n       "
                 "Names of files there are shown relative to it. -->\n");
    add_source_folders(out, e);
    buf_str(out, "\n  <!-- Replace the folder of binaries and sources when they were built or measured by the current "
                 "one. -->\n  <!-- <replace in=\"/home/me/build\" out=\".\"/> -->\n\n  <!-- The measurements: each run "
                 "has its own columns. -->\n");
    add_runs(out, c, path);
    buf_str(out,
            "\n  <!-- Output of `hpcview structure`, for binaries that are not on this machine. -->\n  <!-- <structure "
            "file=\"app.structure.xml\"/> -->\n\n  <!-- The columns, in this order. Also: name, run, display-name, "
            "percent, display and sort (yes or no).\n       Without these elements, every event is a column. -->\n");
    add_measured(out, e);
    buf_str(out, "\n  <!-- Metrics that these events allow; hpcview-events(1) lists all blocks. -->\n");
    add_blocks(out, c, e);
    buf_str(
        out,
        "\n  <!-- Columns computed from those above: + - * / ^ ( ) min max sum and more. Quote names with characters "
        "other than\n       letters, digits, '_', '.' and ':'. Operations with a blank, and division by zero, give a "
        "blank. -->\n  <!-- <computed name=\"STALL\" formula=\"CYCLES - ICYCLES\"/> -->\n</hpcview>\n");
}

int config_write_start(const struct config *c, const char *path, const struct progress *progress, struct outfile *out,
                       struct warnings *warnings, struct err *err)
{
    struct experiment *e;
    struct buf text = {0};
    if (experiment_build(c, progress, &e, warnings, err) < 0)
        return -1;
    write_all(c, path, e, &text);
    outfile_take(out, &text);
    experiment_free(e);
    return 0;
}
