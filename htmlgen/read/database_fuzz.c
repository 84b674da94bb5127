/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a database of one page: an experiment that every format can write, or a sentence that names the input;
   and as a run, an experiment that is sound, or a sentence again. */
#include "export/export.h"
#include "htmlgen/htmlgen.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const struct experiment *e)
{
    for (const struct export_format *f = export_table; f->name; f++) {
        struct export_options options = {.tree = NULL};
        struct outfile *out;
        if (outfile_create("/dev/null", &out, NULL) < 0)
            return;
        export_write(e, f, &options, out, NULL);
        outfile_abandon(out);
    }
}

static void check_run(const char *path)
{
    struct config *config = config_create();
    struct experiment *e = NULL;
    struct err err = {0};
    config_set_reader(config, &htmlgen_reader);
    config_add_measurement(config, path);
    config_set_threads(config, 1);
    int status = experiment_build(config, NULL, &e, NULL, &err);
    if (status < 0 ? *err.msg == '\0' : experiment_check(e, &err) < 0)
        __builtin_trap();
    experiment_free(e);
    config_free(config);
}

static void take_as_run(const uint8_t *data, size_t size)
{
    int fd = memfd_create("page", 0);
    char *path = mem_printf("/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
        check_run(path);
    mem_free(path);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct experiment *e;
    struct err err = {0};
    if (experiment_read_page(data, size, "fuzz", &e, NULL, &err) == 0)
        write_all(e), take_as_run(data, size);
    else if (!str_starts(err.msg, "fuzz"))
        __builtin_trap();
    else
        return 0;
    experiment_free(e);
    return 0;
}
