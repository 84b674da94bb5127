/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of the parts of hpcview, and default paths of results. */
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder that this command is in; "": unknown. Caller frees. */
static char *command_dir(void)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    return mem_strndup(exe, slash ? (size_t)(slash - exe) : 0);
}

/* A path relative to the folder that the command is in; NULL: not readable. Caller frees. */
static char *beside_command(const char *name)
{
    char *here = command_dir(), *path = mem_printf("%s/%s", here, name);
    mem_free(here);
    if (access(path, R_OK) == 0)
        return path;
    mem_free(path);
    return NULL;
}

static const char *below_prefix(const char *path)
{
    return str_starts(path, PREFIX) && path[strlen(PREFIX)] == '/' ? path + strlen(PREFIX) : NULL;
}

/* An installed file: where the whole tree has been moved to, or else where it was configured to be. Caller frees. */
static char *installed(const char *dir, const char *name)
{
    const char *bin = below_prefix(BINDIR), *below = below_prefix(dir);
    char *here = command_dir(), *moved = NULL;
    if (bin && below && str_ends(here, bin))
        moved = mem_printf("%.*s%s/%s", (int)(strlen(here) - strlen(bin)), here, below, name);
    mem_free(here);
    if (moved && access(moved, R_OK) == 0)
        return moved;
    mem_free(moved);
    return path_join(dir, name);
}

char *driver_library_path(const char *name)
{
    const char *named = getenv("HPCVIEW_LIB");
    if (named && *named)
        return path_join(named, name);
    char *built = mem_printf("../%s", name), *path = beside_command(built);
    mem_free(built);
    return path ? path : installed(PKGLIBDIR, name);
}

char *driver_machines_dir(void)
{
    const char *named = getenv("HPCVIEW_MACHINES");
    return named && *named ? mem_strdup(named) : driver_share_path("machines");
}

char *driver_share_path(const char *name)
{
    const char *named = getenv("HPCVIEW_SHARE");
    if (named && *named)
        return path_join(named, name);
    char *built = mem_printf("../share/%s", name), *tree = beside_command("../config.status");
    char *path = tree ? beside_command(built) : NULL;
    mem_free(tree);
    mem_free(built);
    return path ? path : installed(PKGDATADIR, name);
}

/* Ranks of one start of a program share a folder of measurements. */
static bool is_shared(const char *path)
{
    return hpcprof_own_rank() >= 0 && !hpcprof_has_other_job(path);
}

char *driver_measurement_dir(const char *program)
{
    return dir_unused(program, "measurements", is_shared);
}
