/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview structure (installed as bloop too): the scope tree of a binary as XML, .hpcstruct or an outline. */
#include "config.h"
#include "bloop/bloop.h"
#include "driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct settings {
    const char *out, *format, *function, *source;
    struct string_list debug_dirs;
    unsigned threads;
    bool no_cache, stats;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE", "write to FILE (default: standard output)"},
    {"format", 'f', OPT_STRING, offsetof(struct settings, format), "FORMAT",
     "xml, hpcstruct or outline (default: xml)"},
    {"function", 0, OPT_STRING, offsetof(struct settings, function), "GLOB", "only procedures whose name matches"},
    {"source", 0, OPT_STRING, offsetof(struct settings, source), "GLOB", "only procedures from matching source files"},
    {"jobs", 'j', OPT_COUNT, offsetof(struct settings, threads), "N", "number of threads (default: all processors)"},
    {"debug-dir", 0, OPT_LIST, offsetof(struct settings, debug_dirs), "DIR",
     "search for separate debug files here too"},
    {"no-cache", 0, OPT_FLAG, offsetof(struct settings, no_cache), NULL, "neither read nor write cached results"},
    {"stats", 0, OPT_FLAG, offsetof(struct settings, stats), NULL, "print statistics on standard error"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

static int parse_format(enum scope_format *format, struct err *err)
{
    static const char *const names[] = {"xml", "hpcstruct", "outline", NULL};
    *format = SCOPE_XML;
    if (!opt.format)
        return 0;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], opt.format) == 0) {
            *format = (enum scope_format)i;
            return 0;
        }
    const char *near = str_nearest(opt.format, names);
    if (near)
        return err_set(err, ERR_USAGE, "structure: unknown format '%s'; did you mean '%s'?", opt.format, near);
    return err_set(err, ERR_USAGE, "structure: unknown format '%s'; available: xml, hpcstruct, outline", opt.format);
}

static void print_stats(const struct bloop_stats *s)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"text bytes", s->text_bytes},
        {"code bytes", s->code_bytes},
        {"padding bytes", s->padding_bytes},
        {"table bytes", s->table_bytes},
        {"functions", s->functions},
        {"blocks", s->blocks},
        {"instructions", s->instructions},
        {"loops", s->loops},
        {"irreducible loops", s->irreducible_loops},
        {"undecodable bytes", s->undecodable_bytes},
        {"indirect jumps", s->indirect_jumps},
        {"unresolved jumps", s->unresolved_jumps},
    };
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        fprintf(stderr, "%-18s %llu\n", counts[i].name, (unsigned long long)counts[i].value);
}

/* $XDG_CACHE_HOME/NAME, or ~/.cache/NAME; NULL where neither is known. */
static char *cache_folder(const char *name)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base == '/')
        return mem_printf("%s/%s", base, name);
    return home && *home == '/' ? mem_printf("%s/.cache/%s", home, name) : NULL;
}

static const char *debuginfod_folder(void)
{
    static char *folder;
    const char *named = getenv("DEBUGINFOD_CACHE_PATH");
    if (!folder)
        folder = named && *named ? mem_strdup(named) : cache_folder("debuginfod_client");
    return folder;
}

struct string_list driver_debug_dirs(const struct string_list *given)
{
    struct string_list all = {0};
    for (size_t i = 0; i < given->count; i++)
        *vec_push(&all) = given->items[i];
    if (debuginfod_folder())
        *vec_push(&all) = debuginfod_folder();
    return all;
}

/* Has debuginfod brought its debug information? */
static bool was_fetched(const struct bloop_binary *binary)
{
    const char *folder = debuginfod_folder();
    char *path = folder ? mem_printf("%s/%s/debuginfo", folder, bloop_build_id(binary)) : NULL;
    bool was = path && access(path, R_OK) == 0;
    mem_free(path);
    return was;
}

/* A structure file is read back and written in another format. */
static bool is_xml(const char *path)
{
    char head[6] = "";
    struct stat st; /* a pipe without a writer would be waited for */
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    bool yes = fread(head, 1, 5, f) == 5 && strcmp(head, "<?xml") == 0;
    fclose(f);
    return yes;
}

/* The key of cached results: a build from the repository keeps its version while its code changes. */
static char *version_of_results(void)
{
    struct stat self;
    if (stat("/proc/self/exe", &self) < 0)
        return mem_printf("%s", PACKAGE_VERSION);
    return mem_printf("%s-%llx.%lx-%llx", PACKAGE_VERSION, (long long)self.st_mtim.tv_sec, self.st_mtim.tv_nsec,
                      (long long)self.st_size);
}

static int structure_of_binary(struct session *s, const char *path, struct scope_tree **tree)
{
    struct string_list dirs = driver_debug_dirs(&opt.debug_dirs);
    struct bloop_options options = {.debug_dirs = string_list_array(&dirs),
                                    .threads = opt.threads,
                                    .function_glob = opt.function,
                                    .source_glob = opt.source,
                                    .progress = &s->progress};
    struct bloop_binary *binary;
    if (bloop_open(path, &options, &binary, s->warnings, &s->err) < 0) {
        vec_release(&dirs);
        return -1;
    }
    /* A separate debug file may come or go without the build id changing, so results with a custom search path are not
     * cached. */
    bool cached =
        !opt.no_cache && !opt.stats && !opt.function && !opt.source && !opt.debug_dirs.count && !was_fetched(binary);
    char *folder = cached ? cache_folder("hpcview") : NULL;
    char *version = folder ? version_of_results() : NULL;
    char *entry = folder ? bloop_cache_path(binary, folder, version) : NULL;
    int status = 0;
    if (!entry || bloop_cache_get(entry, path, tree) == 0) {
        struct err kept;
        status = bloop_scopes_all(binary, tree, s->warnings, &s->err);
        if (status == 0 && entry && warnings_count(s->warnings) == 0 && bloop_cache_put(entry, *tree, &kept) < 0)
            warnings_add(s->warnings, "the result is not cached: %s", kept.msg);
        struct bloop_stats stats = bloop_stats(binary);
        if (status == 0 && opt.stats)
            print_stats(&stats);
    }
    mem_free(entry);
    mem_free(version);
    mem_free(folder);
    bloop_close(binary);
    vec_release(&dirs);
    return status;
}

/* Say once what the whole result lacks. */
static void warn_of_missing_lines(struct session *s, const char *path, const struct scope_tree *tree)
{
    bool procedures = false;
    if (opt.function || opt.source)
        return;
    for (size_t i = 0; i < tree->scope_count; i++) {
        procedures |= tree->scopes[i].kind == SCOPE_PROC;
        if (tree->scopes[i].kind == SCOPE_FILE && tree->scopes[i].name)
            return;
    }
    if (procedures)
        warnings_add(s->warnings,
                     "no debug information in %s: procedures and loops are shown without source files and lines", path);
}

static int write_tree(struct scope_tree *tree, enum scope_format format, struct err *err)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, err) < 0)
        return -1;
    scope_tree_write(tree, format, out);
    return outfile_commit(out, err);
}

static int structure(struct session *s, int argc, char **argv, enum scope_format format)
{
    struct scope_tree *tree = NULL;
    if (argc != 1)
        return err_set(&s->err, ERR_USAGE, "structure: expected one binary, not %d; usage: hpcview structure BINARY",
                       argc);
    if (driver_check_binary("structure", argv[0], &s->err) < 0)
        return -1;
    int status = is_xml(argv[0]) ? scope_tree_read(argv[0], &tree, s->warnings, &s->err)
                                 : structure_of_binary(s, argv[0], &tree);
    if (status == 0)
        warn_of_missing_lines(s, argv[0], tree);
    if (status == 0)
        status = write_tree(tree, format, &s->err);
    scope_tree_free(tree);
    vec_release(&opt.debug_dirs);
    return status;
}

int structure_to_hpcstruct(struct session *s, int argc, char **argv, const char *out)
{
    opt.out = out;
    return structure(s, argc, argv, SCOPE_HPCSTRUCT);
}

static int run(struct session *s, int argc, char **argv)
{
    enum scope_format format;
    return parse_format(&format, &s->err) < 0 ? -1 : structure(s, argc, argv, format);
}

const struct command command_structure = {
    .name = "structure",
    .synopsis = "[options] BINARY | STRUCTURE.xml",
    .summary = "print the loops of a binary",
    .options = tables,
    .run = run,
};
