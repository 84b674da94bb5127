/* Where the parts of hpcview are, and where results go by default. */
#include "driver/driver.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the folder above the command's, what is called `name`; NULL: there is nothing to be read. */
static char *beside_command(const char *name)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    char *beside = slash ? mem_printf("%.*s/../%s", (int)(slash - exe), exe, name) : NULL;
    if (beside && access(beside, R_OK) == 0)
        return beside;
    mem_free(beside);
    return NULL;
}

char *driver_library_path(const char *name)
{
    char *built = mem_printf(".libs/%s", name), *path = beside_command(built);
    mem_free(built);
    return path ? path : mem_printf("%s/%s", PKGLIBDIR, name);
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
    char *built = mem_printf("share/%s", name), *tree = beside_command("config.status");
    char *path = tree ? beside_command(built) : NULL;
    mem_free(tree);
    mem_free(built);
    return path ? path : mem_printf("%s/%s", PKGDATADIR, name);
}

char *driver_measurement_dir(const char *program)
{
    struct stat st;
    char *dir = mem_printf("%s.measurements", path_base(program));
    for (unsigned i = 2; lstat(dir, &st) == 0; i++) {
        mem_free(dir);
        dir = mem_printf("%s.measurements-%u", path_base(program), i);
    }
    return dir;
}
