/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview build: measurements, or what a configuration names, become a database. */
#include "driver/build.h"
#include "driver/findings.h"
#include "driver/overrides.h"
#include "htmlgen/htmlgen.h"

#include <stdio.h>
#include <sys/stat.h>

const struct option_row build_rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct build_options, out), "DB",
     "write the database to DB; an existing one is replaced only on success (default: hpcview-NAME.db)"},
    {"single-file", 0, OPT_FLAG, offsetof(struct build_options, single_file), NULL,
     "one .html file instead of a folder"},
    {"no-sources", 0, OPT_FLAG, offsetof(struct build_options, no_sources), NULL, "omit the source text"},
    {"no-instructions", 0, OPT_FLAG, offsetof(struct build_options, no_instructions), NULL,
     "omit the machine code of sampled procedures"},
    {"anonymize", 0, OPT_FLAG, offsetof(struct build_options, anonymize), NULL,
     "remove hosts, users, folders and arguments"},
    {0},
};
/* "out/heat.measurements" gives hpcview-heat.db, "heat.xml" too. */
char *build_database_name(const struct build_options *o, const char *operand)
{
    static const char *const endings[] = {".measurements", ".hpcprof", ".xml", ".txt", ".db", ".html"};
    size_t n = strlen(operand);
    while (n > 1 && operand[n - 1] == '/')
        n--;
    char *path = mem_strndup(operand, n), *name = mem_strdup(path_base(path));
    mem_free(path);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (str_ends(name, endings[i]) && strlen(name) > strlen(endings[i]))
            name[strlen(name) - strlen(endings[i])] = '\0';
    const char *bare = str_starts(name, "hpcview-") ? name + strlen("hpcview-") : name;
    char *database = mem_printf(o->single_file ? "hpcview-%s.html" : "hpcview-%s.db", *bare ? bare : "out");
    mem_free(name);
    return database;
}

int build_database(struct session *s, const struct build_options *o, struct config *config, const char *path)
{
    struct htmlgen_options options = {.single_file = o->single_file, .no_sources = o->no_sources};
    struct properties *properties = findings_properties_unasked(s);
    struct experiment *e = NULL;
    if (properties)
        config_want_statistics(config, properties_statistics(properties));
    config_set_thread_values(config, true);
    if (!o->no_instructions)
        config_list_instructions(config);
    int status = experiment_build(config, &s->progress, &e, s->warnings, &s->err);
    if (!driver_ranks_speak()) { /* the first one writes it */
        experiment_free(e);
        properties_free(properties);
        return status;
    }
    if (status == 0 && !o->no_sources)
        experiment_warn_sources(e, s->warnings);
    if (status == 0 && o->anonymize)
        experiment_anonymize(e);
    if (status == 0)
        status = findings_add(s, properties, e);
    if (status == 0)
        status = htmlgen_write(e, path, &options, s->warnings, &s->err);
    experiment_free(e);
    properties_free(properties);
    if (status == 0 && !s->quiet) {
        session_print_warnings(s);
        fprintf(stderr, "hpcview: open %s%s in a browser, or: hpcview open %s\n", path,
                o->single_file ? "" : "/index.html", path);
    }
    return status;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A run may be a database, whose name would also be the result's. */
static int check_not_replaced(const char *database, int argc, char **argv, struct err *err)
{
    for (int i = 0; i < argc; i++)
        if (same_file(database, argv[i]))
            return err_set(err, ERR_USAGE, "build: %s is input and would be overwritten; choose another name with -o",
                           database);
    return 0;
}

static struct {
    struct build_options build;
    struct overrides overrides;
} opt;
static const struct option_table tables[] = {
    {build_rows, &opt.build, "What to write"}, {override_rows, &opt.overrides, "Metrics, sources and analysis"}, {0}};

static int run(struct session *s, int argc, char **argv)
{
    struct config *config;
    const struct ranks *ranks = driver_ranks_begin();
    if (!driver_ranks_begun(s->warnings))
        return 0;
    if (!driver_ranks_speak())
        s->progress.report = NULL;
    if (overrides_config(s, &opt.overrides, "build", argc, argv, &config) < 0)
        return -1;
    config_set_ranks(config, ranks);
    config_add_all_blocks(config);
    char *database = opt.build.out ? mem_strdup(opt.build.out) : build_database_name(&opt.build, argv[0]);
    int status = check_not_replaced(database, argc, argv, &s->err);
    if (status == 0)
        status = build_database(s, &opt.build, config, database);
    mem_free(database);
    config_free(config);
    return status;
}

const struct command command_build = {
    .name = "build",
    .synopsis = "[options] CONFIG.xml | MEASUREMENTS...",
    .summary = "build a database that any browser opens",
    .options = tables,
    .run = run,
};
