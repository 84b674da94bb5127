/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind of file an operand is: users give programs for measurements, and measurements for databases. */
#include "driver/driver.h"
#include "filters/filters.h"
#include "hpcprof/hpcprof.h"
#include "htmlgen/htmlgen.h"

#include <sys/stat.h>
#include <unistd.h>

/* (A pipe is not opened: its reader would wait for a writer.) */
static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool begins_with(const char *path, const char *magic)
{
    struct filemap map;
    size_t n = strlen(magic);
    if (!is_file(path) || filemap_open(&map, path, NULL) < 0)
        return false;
    bool does = map.len >= n && memcmp(map.bytes, magic, n) == 0;
    filemap_release(&map);
    return does;
}

bool driver_is_program(const char *path)
{
    return access(path, X_OK) == 0 && (begins_with(path, "\177ELF") || begins_with(path, "#!"));
}

/* A folder of measurement files, or a file that begins like one. */
bool driver_is_measurement(const char *path)
{
    struct text_list files = {0};
    if (dir_list(path, HPCPROF_SUFFIX, "reading the folder", &files, NULL) == 0) {
        bool any = files.count > 0;
        text_list_release(&files);
        return any;
    }
    return is_file(path) && (filters_know(path) || begins_with(path, "hpcprof"));
}

int driver_check_measurement(const char *command, const char *path, struct err *err)
{
    if (driver_is_program(path) && !driver_is_measurement(path))
        return err_set(err, ERR_USAGE, "%s: %s is a program, not a measurement; to measure it: hpcview record -- %s%s",
                       command, path, strchr(path, '/') ? "" : "./", path);
    return 0;
}

int driver_check_binary(const char *command, const char *path, struct err *err)
{
    if (!begins_with(path, "\177ELF") && (experiment_is_database(path) || driver_is_measurement(path)))
        return err_set(err, ERR_USAGE,
                       "%s: %s is not a binary but a result; to print its loops: hpcview print --by loop %s", command,
                       path, path);
    return 0;
}
