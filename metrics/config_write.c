/* The configuration `hpcview init` writes: all there is, with a word on each, what is not needed in comments. */
#include "metrics/metrics_int.h"

#include <stdlib.h>

/* Text for an attribute; what XML cannot hold becomes U+FFFD, and "--" may not stand in a comment. */
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

static bool has_event(const struct hpcprof *const *profiles, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < profiles[i]->event_count; e++)
            if (strcmp(strtab_get(profiles[i]->strings, profiles[i]->events[e].name), name) == 0)
                return true;
    return false;
}

static void add_measured(struct buf *out, const struct hpcprof *const *profiles, size_t n)
{
    struct strtab *seen = strtab_create();
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < profiles[i]->event_count; e++) {
            const struct hpcprof_event *event = &profiles[i]->events[e];
            size_t before = strtab_count(seen);
            const char *name = strtab_get(profiles[i]->strings, event->name);
            strtab_add(seen, name);
            if (strtab_count(seen) == before || event->flags & HPCPROF_LOST)
                continue;
            buf_str(out, "  <measured");
            add_attribute(out, "event", name);
            if (event->unit)
                add_attribute(out, "unit", strtab_get(profiles[i]->strings, event->unit));
            buf_str(out, "/>\n");
        }
    strtab_free(seen);
}

/* Formulas that can be evaluated with the events that are there. */
static void add_computed(struct buf *out, const struct hpcprof *const *profiles, size_t n)
{
    static const struct {
        const char *name, *above, *below, *what;
    } known[] = {
        {"CPI", "PAPI_TOT_CYC", "PAPI_TOT_INS", "cycles per instruction"},
        {"L1_MISS_RATE", "PAPI_L1_DCM", "PAPI_LST_INS", "level 1 misses per load and store"},
        {"L2_MISS_RATE", "PAPI_L2_DCM", "PAPI_L2_DCA", "level 2 misses per access"},
        {"BRANCH_MISS_RATE", "PAPI_BR_MSP", "PAPI_BR_CN", "mispredictions per conditional branch"},
        {"NS_PER_FAULT", "perf::TASK-CLOCK", "perf::PAGE-FAULTS", "time per page fault"},
    };
    bool any = false;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        struct buf formula = {0};
        if (!has_event(profiles, n, known[i].above) || !has_event(profiles, n, known[i].below))
            continue;
        expr_quote_name(&formula, known[i].above);
        buf_str(&formula, " / ");
        expr_quote_name(&formula, known[i].below);
        buf_str(out, "  <computed");
        add_attribute(out, "name", known[i].name);
        add_attribute(out, "formula", formula.bytes);
        buf_printf(out, ">\n    <description>%s</description>\n  </computed>\n", known[i].what);
        buf_release(&formula);
        any = true;
    }
    if (!any)
        buf_str(out, "  <!-- <computed name=\"STALL\" formula=\"CYCLES - ICYCLES\"/> -->\n");
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

static void add_title(struct buf *out, const struct config *c, const struct hpcprof *const *profiles)
{
    const struct hpcprof *first = c->runs.count ? profiles[0] : NULL;
    const char *command = first && first->process_count ? strtab_get(first->strings, first->processes[0].command) : "";
    char *program = mem_strndup(command, strcspn(command, " "));
    buf_str(out, "  <title>");
    add_escaped(out, *program ? path_base(program) : c->runs.count ? c->runs.items[0].name : "");
    buf_str(out, "</title>\n\n");
    mem_free(program);
}

static void write_all(const struct config *c, const char *path, const struct hpcprof *const *profiles, struct buf *out)
{
    size_t n = c->runs.count;
    buf_str(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!-- What `hpcview build` and `hpcview print` show. Paths are relative to this file.\n"
            "     Everything is explained in doc/formats/configuration.md; hpcview-build(1) has the short form. -->\n"
            "<hpcview version=\"1\">\n");
    add_title(out, c, profiles);
    buf_str(out, "  <!-- Where sources are looked for, after this folder; with /* in its subfolders too.\n"
                 "       Names of files below are shown relative to it. -->\n"
                 "  <!-- <sources path=\"src/*\"/> -->\n\n"
                 "  <!-- Where binaries and sources lay when they were built or measured, and where they are now. -->\n"
                 "  <!-- <replace in=\"/home/me/build\" out=\".\"/> -->\n\n"
                 "  <!-- What was measured: each run has its own columns. -->\n");
    add_runs(out, c, path);
    buf_str(out,
            "\n  <!-- Structure from `hpcview structure`, for binaries that are not on this machine. -->\n"
            "  <!-- <structure file=\"app.structure.xml\"/> -->\n\n"
            "  <!-- The columns, in this order. Also: name, run, display-name, percent, display and sort (yes or no).\n"
            "       Without any of them, every event is a column. -->\n");
    add_measured(out, profiles, n);
    buf_str(out, "\n  <!-- Columns computed from those above: + - * / ^ ( ) min max sum. Names with other characters "
                 "than letters,\n"
                 "       digits, '_', '.' and ':' stand in quotes. A blank stays a blank, and division by zero gives "
                 "one. -->\n");
    add_computed(out, profiles, n);
    buf_str(out, "</hpcview>\n");
}

int config_write_start(const struct config *c, const char *path, struct outfile *out, struct warnings *warnings,
                       struct err *err)
{
    size_t n = c->runs.count;
    struct hpcprof **profiles = mem_calloc(n + 1, sizeof *profiles);
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++)
        status = measurement_read(c, &c->runs.items[i], NULL, &profiles[i], warnings, err);
    if (status == 0) {
        struct buf text = {0};
        write_all(c, path, (const struct hpcprof *const *)profiles, &text);
        outfile_write(out, text.bytes, text.len);
        buf_release(&text);
    }
    for (size_t i = 0; i < n; i++)
        hpcprof_free(profiles[i]);
    mem_free(profiles);
    return status;
}
