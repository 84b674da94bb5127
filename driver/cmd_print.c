/* hpcview print: measurements as a table, without a database. */
#include "driver/wanted.h"

static struct {
    const char *by, *format, *sort, *out, *table;
    unsigned top;
    bool per_thread;
} opt;

static const struct option_row rows[] = {
    {"by", 'b', OPT_STRING, &opt.by, "LEVEL", "program, module, file, procedure, loop, line, path or caller (procedure)"},
    {"format", 'f', OPT_STRING, &opt.format, "FORMAT", "text, csv or json (text)"},
    {"top", 'n', OPT_COUNT, &opt.top, "N", "only the first N rows"},
    {"sort", 's', OPT_STRING, &opt.sort, "METRIC", "largest first by this metric; 'METRIC (E)' by its exclusive part"},
    {"per-thread", 't', OPT_FLAG, &opt.per_thread, NULL, "one more column for every thread"},
    {"table", 0, OPT_STRING, &opt.table, "NAME", "a table that was measured beside the counts, in place of these"},
    {"output", 'o', OPT_STRING, &opt.out, "FILE", "where the table goes (standard output)"},
    {NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};
static const struct option_row *const tables[] = {rows, wanted_rows, NULL};

static int parse_format(enum print_format *format, struct err *err)
{
    static const char *const names[] = {"text", "csv", "json", NULL};
    for (int i = 0; names[i]; i++)
        if (!opt.format || strcmp(opt.format, names[i]) == 0) {
            *format = (enum print_format)i;
            return 0;
        }
    return err_set(err, ERR_USAGE, "print: no format '%s'; there are text, csv and json", opt.format);
}

static int print(const struct experiment *e, const struct print_options *options, struct err *err)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, err) < 0)
        return -1;
    int status =
        opt.table ? experiment_print_table(e, opt.table, options, out, err) : experiment_print(e, options, out, err);
    if (status < 0) {
        outfile_abandon(out);
        return -1;
    }
    return outfile_commit(out, err);
}

static int run(struct session *s, int argc, char **argv)
{
    struct print_options options = {.level = PRINT_PROC, .top = opt.top, .sort_by = opt.sort};
    struct experiment *e = NULL;
    struct config *config;
    if (parse_format(&options.format, &s->err) < 0)
        return -1;
    if (opt.by && print_level_parse(opt.by, &options.level, &s->err) < 0)
        return err_in(&s->err, "print");
    if (wanted_config(s, "print", argc, argv, &config) < 0)
        return -1;
    config_set_per_thread(config, opt.per_thread);
    int status = experiment_build(config, &s->progress, &e, s->warnings, &s->err);
    config_free(config);
    if (status == 0)
        status = print(e, &options, &s->err);
    experiment_free(e);
    return status;
}

const struct command command_print = {
    .name = "print",
    .synopsis = "[options] CONFIG.xml | MEASUREMENTS...",
    .summary = "print measurements by module, procedure, loop or line",
    .options = tables,
    .run = run,
};
