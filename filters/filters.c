/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of filters, and the door: whose file is it? */
#include "filters/base/base.h"
#include "filters/callgrind/callgrind.h"
#include "filters/formats.h"
#include "filters/hpctoolkit/hpctoolkit.h"
#include "filters/perf/perf.h"

#include <sys/stat.h>

const struct filter filter_table[] = {
    {"perf", "a perf.data file, or the output of `perf record -o -`", perf_data_sniff, perf_data_convert},
    {"perf-script", "the text of `perf script --show-mmap-events`", perf_script_sniff, perf_script_convert},
    {"callgrind", "a callgrind.out file", callgrind_sniff, callgrind_convert},
    {"cachegrind", "a cachegrind.out file", cachegrind_sniff, cachegrind_convert},
    {"pprof", "pprof's profile.proto, as written by Go and others", pprof_sniff, pprof_convert},
    {"gperftools", "a CPU profile of gperftools (CPUPROFILE)", gperftools_sniff, gperftools_convert},
    {"folded", "folded stacks, as written by stackcollapse-perf.pl", folded_sniff, folded_convert},
    {"speedscope", "speedscope's JSON", speedscope_sniff, speedscope_convert},
    {"gprof", "a gmon.out file of a program compiled with -pg", gmon_sniff, gmon_convert},
    {"gcov", "JSON of `gcov --json-format`", gcov_sniff, gcov_convert},
    {"lcov", "an lcov .info file", lcov_sniff, lcov_convert},
    {"llvm-cov", "JSON of `llvm-cov export`", llvm_cov_sniff, llvm_cov_convert},
    {"caliper", "Caliper's JSON (formatters json-split and json)", caliper_sniff, caliper_convert},
    {"likwid", "output of `likwid-perfctr -m -O`: CSV by region and group", likwid_sniff, likwid_convert},
    {"papi", "JSON of PAPI's high-level interface", papi_sniff, papi_convert},
    {"hpctoolkit", "an HPCToolkit database: its folder, meta.db, or experiment.xml", hpctoolkit_sniff,
     hpctoolkit_convert},
    {"table", "any table, with columns named by --columns; never recognized by content", table_sniff, table_convert},
    {"profile", "PROFILE 3.0 (.pxml) of the original HPCView", profile_sniff, profile_convert},
    {0},
};

const struct filter *filter_named(const char *name, struct err *err)
{
    const char *names[ARRAY_SIZE(filter_table)] = {NULL};
    struct buf list = {0};
    for (size_t i = 0; filter_table[i].name; i++) {
        if (strcmp(filter_table[i].name, name) == 0) {
            buf_release(&list);
            return &filter_table[i];
        }
        names[i] = filter_table[i].name;
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = str_nearest(name, names);
    if (near)
        err_set(err, ERR_USAGE, "unknown format '%s'; did you mean '%s'?", name, near);
    else
        err_set(err, ERR_USAGE, "unknown format '%s'; available: %s", name, list.bytes);
    buf_release(&list);
    return NULL;
}

/* ---- whose file is it? ------------------------------------------------------------------------ */

/* Reports that look like data, and the files that can be read instead. */
static int refuse(const void *bytes, size_t len, const char *name, struct err *err)
{
    static const struct {
        const char *begins, *is;
    } reports[] = {
        {"Flat profile:", "is gprof's report as text; give its gmon.out"},
        {"\t\t     Call graph", "is gprof's report as text; give its gmon.out"},
        {"__rec=", "is Caliper's own format; 'cali-query -q \"select * format json-split\"' writes what can be read"}};
    const char *text = bytes;
    while (len && (*text == '\n' || *text == '\r'))
        text++, len--;
    for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
        size_t n = strlen(reports[i].begins);
        if (len >= n && memcmp(text, reports[i].begins, n) == 0)
            return err_set(err, ERR_FORMAT, "%s: %s", name, reports[i].is);
    }
    return 0;
}

/* 1: *found; 0: none; -1: of two, and the user has to choose. */
static int recognise(const void *bytes, size_t len, const char *name, const struct filter **found, struct err *err)
{
    *found = NULL;
    if (refuse(bytes, len, name, err) < 0)
        return -1;
    for (const struct filter *f = filter_table; f->name; f++) {
        if (!f->sniff(bytes, len))
            continue;
        if (*found)
            return err_set(err, ERR_FORMAT,
                           "%s: could be %s or %s; convert it with 'hpcview import %s' or 'hpcview import %s'", name,
                           (*found)->name, f->name, (*found)->name, f->name);
        *found = f;
    }
    return *found ? 1 : 0;
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int filters_open(const char *path, struct filemap *map, struct err *err)
{
    if (!is_regular(path)) /* a name in somebody's file may be that of a pipe or a device */
        return err_set(err, ERR_SYSTEM, "%s: is not there, or no regular file", path);
    return filemap_open(map, path, err);
}

struct opened { /* a file's plain bytes */
    char *path;
    struct filemap map;
};

/* The other tool's file: `path` itself, or the one that identifies its folder. NULL: there is none. */
static char *foreign_file(const char *path)
{
    static const char *const heads[] = {"meta.db", "experiment.xml"};
    if (is_regular(path))
        return mem_strdup(path);
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        char *file = path_join(path, heads[i]);
        if (is_regular(file))
            return file;
        mem_free(file);
    }
    return NULL;
}

static int open_file(struct opened *o, const char *path, struct err *err)
{
    *o = (struct opened){.path = foreign_file(path)};
    if (!o->path)
        o->path = mem_strdup(path); /* opening it reports the error */
    int status = filemap_open(&o->map, o->path, err);
    if (status == 0) {
        struct filemap plain;
        status = filter_unpack(&o->map, o->path, &plain, err);
        if (status != 0)
            filemap_release(&o->map);
        if (status > 0)
            o->map = plain;
    }
    if (status < 0)
        mem_free(o->path);
    return status < 0 ? -1 : 0;
}

static void close_file(struct opened *o)
{
    mem_free(o->path);
    filemap_release(&o->map);
}

static bool is_foreign(const char *path)
{
    char *file = foreign_file(path);
    mem_free(file);
    return file != NULL;
}

bool filters_know(const char *path)
{
    struct opened o;
    const struct filter *f;
    if (!is_foreign(path) || open_file(&o, path, NULL) < 0)
        return false;
    bool know = recognise(o.map.bytes, o.map.len, o.path, &f, NULL) != 0;
    close_file(&o);
    return know;
}

static int convert(const struct filter *f, struct opened *o, const struct filter_options *options, struct hpcprof *into,
                   struct warnings *warnings, struct err *err)
{
    static const struct filter_options none;
    struct filter_input input = {o->map.bytes, o->map.len, o->path, options ? options : &none, &o->map, filters_open};
    return f->convert(&input, into, warnings, err);
}

int filters_import(const char *path, const struct filter *filter, const struct filter_options *options,
                   struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct opened o;
    int status = 0;
    if (open_file(&o, path, err) < 0)
        return -1;
    if (o.map.len == 0)
        status = err_set(err, ERR_FORMAT, "%s: is empty", path);
    else if (!filter) {
        status = recognise(o.map.bytes, o.map.len, o.path, &filter, err);
        if (status == 0)
            status = err_set(err, ERR_FORMAT, "%s: unknown format; hpcview-import(1) lists the known ones", path);
    } else if (!filter->sniff(o.map.bytes, o.map.len) && filter->sniff != table_sniff)
        status = err_set(err, ERR_FORMAT, "%s: not in format %s: %s", path, filter->name, filter->description);
    if (status >= 0)
        status = convert(filter, &o, options, into, warnings, err);
    close_file(&o);
    return status;
}

/* ---- opening any measurement ------------------------------------------------------------------- */

/* 1: *result; 0: not another tool's. */
static int read_foreign(const char *path, struct hpcprof **result, struct warnings *warnings, struct err *err)
{
    struct opened o;
    const struct filter *filter;
    if (!is_foreign(path))
        return 0;
    if (open_file(&o, path, err) < 0)
        return -1;
    int status = hpcprof_sniff(o.map.bytes, o.map.len) ? 0 : recognise(o.map.bytes, o.map.len, o.path, &filter, err);
    if (status == 1) {
        *result = hpcprof_create();
        if (convert(filter, &o, NULL, *result, warnings, err) == 0)
            hpcprof_finish(*result);
        else {
            hpcprof_free(*result);
            *result = NULL;
            status = -1;
        }
    }
    close_file(&o);
    return status;
}

int filters_read(const char *path, struct hpcprof **result, struct warnings *warnings, struct err *err)
{
    return filters_read_as(path, &(struct hpcprof_reading){0}, result, warnings, err);
}

int filters_read_as(const char *path, const struct hpcprof_reading *how, struct hpcprof **result,
                    struct warnings *warnings, struct err *err)
{
    struct hpcprof *foreign = NULL;
    int status = read_foreign(path, &foreign, warnings, err);
    if (status == 0)
        return hpcprof_read_as(path, how, result, warnings, err);
    if (status > 0 && how->prepare)
        how->prepare(foreign);
    bool seen_here = result || !how->ranks || how->ranks->me == 0;
    if (status > 0 && how->each && seen_here)
        how->each(how->ctx, foreign);
    if (result)
        *result = foreign;
    else
        hpcprof_free(foreign);
    return status < 0 ? -1 : 0;
}
