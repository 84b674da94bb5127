/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind of file an operand is: users give programs for measurements, and measurements for databases. */
#include "driver/driver.h"
#include "filters/filters.h"
#include "hpcprof/hpcprof.h"
#include "htmlgen/htmlgen.h"

#include <sys/stat.h>
#include <unistd.h>

bool driver_is_program(const char *path)
{
    struct stat st;
    struct filemap map;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || access(path, X_OK) != 0 || filemap_open(&map, path, NULL) < 0)
        return false;
    bool is = map.len >= 4 && (memcmp(map.bytes, "\177ELF", 4) == 0 || memcmp(map.bytes, "#!", 2) == 0);
    filemap_release(&map);
    return is;
}

/* A folder of measurement files, or a file that begins like one. */
bool driver_is_measurement(const char *path)
{
    struct filemap map;
    struct text_list files = {0};
    if (dir_list(path, HPCPROF_SUFFIX, "reading the folder", &files, NULL) == 0) {
        bool any = files.count > 0;
        text_list_release(&files);
        return any;
    }
    if (filters_know(path))
        return true;
    if (filemap_open(&map, path, NULL) < 0)
        return false;
    bool is = map.len >= 7 && memcmp(map.bytes, "hpcprof", 7) == 0;
    filemap_release(&map);
    return is;
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
    if (experiment_is_database(path) || driver_is_measurement(path))
        return err_set(err, ERR_USAGE,
                       "%s: %s is not a binary but a result; to print its loops: hpcview print --by loop %s", command,
                       path, path);
    return 0;
}
