/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview import: another tool's output becomes a measurement. */
#include "driver/driver.h"
#include "filters/filters.h"

#include <stdio.h>
#include <unistd.h>

static struct settings {
    const char *out, *program, *columns, *units, *separator;
    unsigned skip;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE",
     "write the measurement to FILE (default: the first FILE's name plus .hpcprof)"},
    {"program", 'p', OPT_STRING, offsetof(struct settings, program), "FILE",
     "the measured program, if the format does not name it"},
    {"columns", 'c', OPT_STRING, offsetof(struct settings, columns), "LIST",
     "table: meaning of each column: file, line, procedure, module, thread, - or a metric"},
    {"separator", 's', OPT_STRING, offsetof(struct settings, separator), "CHAR",
     "table: column separator, or 'tab' (default: blanks)"},
    {"skip", 'k', OPT_COUNT, offsetof(struct settings, skip), "N",
     "table: number of lines to skip before the first row"},
    {"units", 'u', OPT_STRING, offsetof(struct settings, units), "LIST", "table: units of the metrics, in order"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

/* The first operand is a format if it is the name of one, and not a file. Returns how many operands that took. */
static int read_format(struct session *s, int argc, char **argv, const struct filter **filter)
{
    struct err none;
    *filter = argc ? filter_named(argv[0], &none) : NULL;
    if (*filter)
        return 1;
    if (argc >= 2 && access(argv[0], F_OK) != 0 && !strpbrk(argv[0], "./"))
        return filter_named(argv[0], &s->err) ? 1 : err_in(&s->err, "import");
    return 0;
}

static int write_measurement(const struct hpcprof *p, const char *first_input, struct err *err)
{
    char *path = opt.out ? mem_strdup(opt.out) : mem_printf("%s.hpcprof", path_base(first_input));
    struct outfile *out;
    int status = outfile_create(path, &out, err);
    if (status == 0 && (status = hpcprof_write(p, out, err)) < 0)
        outfile_abandon(out);
    else if (status == 0)
        status = outfile_commit(out, err);
    if (status == 0 && strcmp(path, "-") != 0)
        fprintf(stderr, "hpcview: %s: %zu counts of %zu event%s\n", path, p->count_count, p->event_count,
                p->event_count == 1 ? "" : "s");
    mem_free(path);
    return status;
}

static int read_options(struct filter_options *options, struct err *err)
{
    *options =
        (struct filter_options){.program = opt.program, .columns = opt.columns, .units = opt.units, .skip = opt.skip};
    if (!opt.separator)
        return 0;
    bool tab = strcmp(opt.separator, "tab") == 0;
    if (!tab && strlen(opt.separator) != 1)
        return err_set(err, ERR_USAGE, "import: --separator needs one character, or 'tab', not '%s'", opt.separator);
    options->separator = tab ? '\t' : *opt.separator;
    return 0;
}

static int run(struct session *s, int argc, char **argv)
{
    struct filter_options options;
    const struct filter *filter;
    int words = read_format(s, argc, argv, &filter);
    if (words < 0 || read_options(&options, &s->err) < 0)
        return -1;
    if (argc == words)
        return err_set(&s->err, ERR_USAGE, "import: usage: hpcview import [FORMAT] FILE...");
    struct hpcprof *p = hpcprof_create();
    int status = 0;
    for (int i = words; i < argc && status == 0; i++)
        status = filters_import(argv[i], filter, &options, p, s->warnings, &s->err);
    if (status == 0) {
        hpcprof_finish(p);
        status = write_measurement(p, argv[words], &s->err);
    }
    hpcprof_free(p);
    return status;
}

const struct command command_import = {
    .name = "import",
    .synopsis = "[options] [FORMAT] FILE...",
    .summary = "convert other tools' output to a measurement",
    .options = tables,
    .run = run,
};
