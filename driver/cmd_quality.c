/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview quality: the quality of loops in a binary's machine code, and their minimal cost. */
#include "config.h"
#include "driver/driver.h"
#include "quality/quality.h"

#include <stdio.h>
#include <unistd.h>

static struct settings {
    const char *out, *format, *function, *source, *machine;
    struct string_list debug_dirs;
    bool without_llvm;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE", "write to FILE (default: standard output)"},
    {"format", 'f', OPT_STRING, offsetof(struct settings, format), "FORMAT", "text, csv or json (default: text)"},
    {"function", 0, OPT_STRING, offsetof(struct settings, function), "GLOB", "only procedures whose name matches"},
    {"source", 0, OPT_STRING, offsetof(struct settings, source), "GLOB", "only procedures from matching source files"},
    {"machine", 'm', OPT_STRING, offsetof(struct settings, machine), "FILE|NAME",
     "CPU model used for loop bounds (default: this machine's)"},
    {"debug-dir", 0, OPT_LIST, offsetof(struct settings, debug_dirs), "DIR",
     "search for separate debug files here too"},
    {"no-llvm-mca", 0, OPT_FLAG, offsetof(struct settings, without_llvm), NULL, "omit llvm-mca's estimates"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

static int parse_format(enum quality_format *format, struct err *err)
{
    static const char *const names[] = {"text", "csv", "json"};
    size_t i = opt.format ? str_index(opt.format, names, ARRAY_SIZE(names)) : 0;
    *format = (enum quality_format)i;
    return i < ARRAY_SIZE(names)
               ? 0
               : err_set(err, ERR_USAGE, "quality: unknown format '%s'; available: text, csv, json", opt.format);
}

static int get_machine(bool aarch64, struct machine_core **machine, struct err *err)
{
    char *dir = driver_machines_dir();
    int status = opt.machine ? machine_core_read(opt.machine, dir, machine, err)
                             : machine_core_here(dir, "/proc/cpuinfo", aarch64, machine, err);
    mem_free(dir);
    return status;
}

static int write_report(const struct quality_report *report, enum quality_format format, struct err *err)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, err) < 0)
        return -1;
    quality_write(report, format, out);
    return outfile_commit(out, err);
}

/* PROGRAM-VERSION, or PROGRAM where version is 0; NULL: it is not there. */
static char *program_on_path(const char *program, int version)
{
    char *name = version ? mem_printf("%s-%d", program, version) : mem_strdup(program);
    char *found = path_search(getenv("PATH"), name);
    mem_free(name);
    return found;
}

const struct quality_tools *driver_llvm_tools(void)
{
    enum { OLDEST = 13, NEWEST = 40 };
    static struct quality_tools tools;
    for (int version = NEWEST + 1; version >= OLDEST && !tools.mca; version--) {
        char *mc = program_on_path("llvm-mc", version > NEWEST ? 0 : version);
        char *mca = mc ? program_on_path("llvm-mca", version > NEWEST ? 0 : version) : NULL;
        if (mca)
            tools = (struct quality_tools){mc, mca};
        else
            mem_free(mc);
    }
    return tools.mca ? &tools : NULL;
}

static int analyze(struct session *s, struct bloop_binary *binary, struct quality_report **report)
{
    struct scope_tree *tree = NULL;
    struct machine_core *machine = NULL;
    int status = get_machine(bloop_is_aarch64(binary), &machine, &s->err);
    if (status == 0)
        status = bloop_scopes_all(binary, &tree, s->warnings, &s->err);
    if (status == 0)
        status = quality_analyze(
            binary, tree,
            &(struct quality_options){.machine = machine, .tools = opt.without_llvm ? NULL : driver_llvm_tools()},
            report, s->warnings, &s->err);
    scope_tree_free(tree);
    machine_core_free(machine);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    enum quality_format format = QUALITY_TEXT;
    struct bloop_binary *binary = NULL;
    struct quality_report *report = NULL;
    if (argc != 1)
        return err_set(&s->err, ERR_USAGE, "quality: expected one binary, not %d; usage: hpcview quality BINARY", argc);
    if (parse_format(&format, &s->err) < 0 || driver_check_binary("quality", argv[0], &s->err) < 0)
        return -1;
    struct string_list dirs = driver_debug_dirs(&opt.debug_dirs);
    struct bloop_options options = {.debug_dirs = string_list_array(&dirs),
                                    .function_glob = opt.function,
                                    .source_glob = opt.source,
                                    .progress = &s->progress};
    int status = bloop_open(argv[0], &options, &binary, s->warnings, &s->err);
    if (status == 0)
        status = analyze(s, binary, &report);
    bloop_close(binary);
    if (status == 0)
        status = write_report(report, format, &s->err);
    quality_free(report);
    vec_release(&dirs);
    vec_release(&opt.debug_dirs);
    return status;
}

const struct command command_quality = {
    .name = "quality",
    .synopsis = "[options] BINARY",
    .summary = "analyse the machine code of a binary's loops",
    .options = tables,
    .run = run,
};
