/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands and options that become a configuration. */
#include "driver/overrides.h"

#include "campaign/campaign.h"
#include "filters/filters.h"
#include "htmlgen/htmlgen.h"

#include <sys/stat.h>
#include <unistd.h>

const struct option_row override_rows[] = {
    {"metric", 'm', OPT_LIST, offsetof(struct overrides, metrics), "'NAME = FORMULA'",
     "add a computed metric, e.g. 'STALL = CYCLES - ICYCLES'"},
    {"metrics", 0, OPT_LIST, offsetof(struct overrides, blocks), "BLOCK",
     "add the metrics of this block (cpi, cache, ...) that the events allow"},
    {"statistics", 0, OPT_LIST, offsetof(struct overrides, statistics), "OVER",
     "mean, spread and imbalance of every event over threads, ranks or repetitions"},
    {"structure", 'S', OPT_LIST, offsetof(struct overrides, structures), "FILE",
     "read the loops from this file instead of the binary"},
    {"source", 'I', OPT_LIST, offsetof(struct overrides, sources), "DIR",
     "search for source files here; DIR/* includes subfolders"},
    {"replace", 0, OPT_LIST, offsetof(struct overrides, replaces), "IN=OUT",
     "in paths of binaries and sources, replace the leading IN by OUT"},
    {"debug-dir", 0, OPT_LIST, offsetof(struct overrides, debug_dirs), "DIR",
     "search for separate debug files here too"},
    {"title", 0, OPT_STRING, offsetof(struct overrides, title), "TEXT", "title of the result"},
    {"machine", 0, OPT_STRING, offsetof(struct overrides, machine), "FILE|NAME",
     "CPU model used for loop bounds (default: this machine's)"},
    {"no-quality", 0, OPT_FLAG, offsetof(struct overrides, no_quality), NULL,
     "do not analyse the machine code of sampled loops"},
    {"llvm-mca", 0, OPT_FLAG, offsetof(struct overrides, llvm), NULL,
     "add llvm-mca's estimates of sampled loops, if installed"},
    {"jobs", 'j', OPT_COUNT, offsetof(struct overrides, threads), "N", "number of threads (default: all processors)"},
    {0},
};

/* A configuration is XML; no measurement of ours is, another tool's is recognized by its filter, and a page by its
   head. */
bool driver_is_configuration(const char *path)
{
    struct stat st;
    struct filemap map;
    size_t i = 0;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || filemap_open(&map, path, NULL) < 0)
        return false;
    while (i < map.len && strchr(" \t\r\n\xef\xbb\xbf", map.bytes[i]) && map.bytes[i])
        i++;
    bool is = i < map.len && map.bytes[i] == '<';
    filemap_release(&map);
    return is && !filters_know(path) && !experiment_is_database(path);
}

static int add_operands(struct session *s, const char *command, int argc, char **argv, struct config **config)
{
    if (argc == 0)
        return err_set(
            &s->err, ERR_USAGE,
            "%s: no input: give a measurement folder, a database or a configuration file ('hpcview %s --help')",
            command, command);
    if (argc == 1 && driver_is_configuration(argv[0])) {
        int status = config_read(argv[0], config, s->warnings, &s->err);
        bool here = status == 0 && strcmp(command, "run") != 0 && config_is_sound(*config);
        return here ? campaign_leave_out(*config, true, s->warnings, &s->err) : status;
    }
    *config = config_create();
    for (int i = 0; i < argc; i++) {
        if (driver_is_configuration(argv[i]))
            return err_set(&s->err, ERR_USAGE,
                           "%s: %s is a configuration and must be the only operand; it names its runs", command,
                           argv[i]);
        if (driver_check_measurement(command, argv[i], &s->err) < 0)
            return -1;
        config_add_measurement(*config, argv[i]);
    }
    return 0;
}

static int add_replace(struct config *config, const char *command, const char *given, struct err *err)
{
    const char *equals = strchr(given, '=');
    if (!equals)
        return err_set(err, ERR_USAGE, "%s: --replace needs IN=OUT, not '%s'", command, given);
    char *in = mem_strndup(given, (size_t)(equals - given));
    config_add_replace(config, in, equals + 1);
    mem_free(in);
    return 0;
}

static int add_options(struct config *config, const struct overrides *o, const char *command, struct err *err)
{
    if (o->title)
        config_set_title(config, o->title);
    config_set_threads(config, o->threads);
    for (size_t i = 0; i < o->statistics.count; i++)
        if (config_add_statistics(config, o->statistics.items[i], err) < 0)
            return err_in(err, "%s", command);
    for (size_t i = 0; i < o->structures.count; i++)
        config_add_structure(config, o->structures.items[i]);
    for (size_t i = 0; i < o->sources.count; i++)
        config_add_source_path(config, o->sources.items[i]);
    struct string_list dirs = driver_debug_dirs(&o->debug_dirs);
    for (size_t i = 0; i < dirs.count; i++)
        config_add_debug_dir(config, dirs.items[i]);
    vec_release(&dirs);
    for (size_t i = 0; i < o->replaces.count; i++)
        if (add_replace(config, command, o->replaces.items[i], err) < 0)
            return -1;
    for (size_t i = 0; i < o->blocks.count; i++)
        if (config_add_block(config, o->blocks.items[i], err) < 0)
            return err_in(err, "%s", command);
    for (size_t i = 0; i < o->metrics.count; i++)
        if (config_add_metric(config, o->metrics.items[i], err) < 0)
            return -1;
    return 0;
}

int driver_read_database(struct session *s, const char *path, bool fold, struct experiment **e)
{
    int status = experiment_read_database(path, e, s->warnings, &s->err);
    if (status == 0 && fold)
        experiment_fold_recursion(*e);
    return status;
}

bool overrides_add_columns(const struct overrides *o)
{
    return o->metrics.count || o->blocks.count || o->statistics.count;
}

/* Read once, and kept until the end: configurations borrow them. */
static int set_blocks(struct config *config, struct err *err)
{
    static struct blocks *blocks;
    char *folder = driver_share_path("metrics");
    int status = blocks || access(folder, R_OK) != 0 ? 0 : blocks_read(folder, &blocks, err);
    mem_free(folder);
    config_set_blocks(config, blocks);
    return status;
}

static void set_machine(struct config *config, const struct overrides *o)
{
    char *folder = driver_machines_dir();
    if (!o->no_quality)
        config_judge_loops(config, folder, o->machine);
    if (o->llvm)
        config_ask_llvm(config, driver_llvm_tools());
    mem_free(folder);
}

int overrides_apply(const struct overrides *o, const char *command, struct config *config, struct err *err)
{
    int status = set_blocks(config, err);
    config_set_reader(config, &htmlgen_reader);
    if (status == 0)
        status = add_options(config, o, command, err);
    set_machine(config, o);
    return status;
}

int overrides_config(struct session *s, const struct overrides *o, const char *command, int argc, char **argv,
                     struct config **config)
{
    *config = NULL;
    int status = add_operands(s, command, argc, argv, config);
    if (status == 0)
        status = overrides_apply(o, command, *config, &s->err);
    if (status < 0) {
        config_free(*config);
        *config = NULL;
    }
    return status;
}
