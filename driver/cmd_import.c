/* hpcview import: another tool's output becomes a measurement. */
#include "driver/driver.h"
#include "filters/filters.h"

#include <stdio.h>

static struct {
    const char *out;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, &opt.out, "FILE", "the measurement (the first FILE's name with .hpcprof)"},
    {NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};
static const struct option_row *const tables[] = {rows, NULL};

static const struct filter *filter_named(const char *name)
{
    for (const struct filter *f = filter_table; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static int no_such_format(const char *name, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    struct buf list = {0};
    for (const struct filter *f = filter_table; f->name && n + 1 < ARRAY_SIZE(names); f++) {
        buf_printf(&list, "%s%s", n ? ", " : "", f->name);
        names[n++] = f->name;
    }
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    if (near)
        err_set(err, ERR_USAGE, "import: no format '%s'; did you mean '%s'?", name, near);
    else
        err_set(err, ERR_USAGE, "import: no format '%s'; there are %s", name, list.bytes);
    buf_release(&list);
    return -1;
}

static int import_file(struct session *s, const struct filter *filter, const char *path, struct hpcprof *into)
{
    struct filemap map;
    int status;
    if (filemap_open(&map, path, &s->err) < 0)
        return -1;
    if (filter->sniff(map.bytes, map.len))
        status = filter->convert(map.bytes, map.len, path, into, s->warnings, &s->err);
    else
        status = err_set(&s->err, ERR_FORMAT, "%s: is not what format %s reads: %s", path, filter->name,
                         filter->description);
    filemap_release(&map);
    return status;
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
        fprintf(stderr, "hpcview: %s holds %zu counts of %zu event%s\n", path, p->count_count, p->event_count,
                p->event_count == 1 ? "" : "s");
    mem_free(path);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    if (argc < 2)
        return err_set(&s->err, ERR_USAGE, "import: a format and files are wanted; 'hpcview import --help' shows how");
    const struct filter *filter = filter_named(argv[0]);
    if (!filter)
        return no_such_format(argv[0], &s->err);
    struct hpcprof *p = hpcprof_create();
    int status = 0;
    for (int i = 1; i < argc && status == 0; i++)
        status = import_file(s, filter, argv[i], p);
    if (status == 0) {
        hpcprof_finish(p);
        status = write_measurement(p, argv[1], &s->err);
    }
    hpcprof_free(p);
    return status;
}

const struct command command_import = {
    .name = "import",
    .synopsis = "[options] FORMAT FILE...",
    .summary = "make a measurement from another tool's output",
    .options = tables,
    .run = run,
};
