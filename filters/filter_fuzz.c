/* Any bytes for every filter, whether it recognises them or not, and as a file that may be packed, as a user would give it:
   a sound measurement, or a sentence that names the input. */
#include "filters/filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tables(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].context >= p->context_count || p->counts[i].event >= p->event_count ||
            p->counts[i].thread >= p->thread_count)
            __builtin_trap();
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count)
            __builtin_trap();
}

static const struct filter_options options = {.columns = "file,line,procedure,CYCLES,-", .units = "cycles"};

/* Content decides what it is: by itself, then with the description of a table. */
static void as_file(const uint8_t *data, size_t size)
{
    char path[64];
    struct err err = {0};
    struct hpcprof *p = NULL;
    struct warnings *warnings = warnings_create();
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    filters_know(path);
    if (filters_read(path, &p, warnings, &err) == 0)
        check_tables(p);
    else if (!strstr(err.msg, path) && !str_starts(err.msg, "/proc/self/fd/meta.db"))
        __builtin_trap();
    hpcprof_free(p);
    p = hpcprof_create();
    if (filters_import(path, NULL, &options, p, warnings, &err) == 0) {
        hpcprof_finish(p);
        check_tables(p);
    }
    hpcprof_free(p);
    warnings_free(warnings);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_file(data, size);
    for (const struct filter *f = filter_table; f->name; f++) {
        struct hpcprof *p = hpcprof_create();
        struct err err = {0};
        struct filter_input input = {.bytes = data, .len = size, .name = "fuzz", .options = &options};
        f->sniff(data, size);
        if (f->convert(&input, p, NULL, &err) < 0) {
            if (!str_starts(err.msg, "fuzz") &&
                !str_starts(err.msg, "meta.db")) /* that lies beside it, and is not there */
                __builtin_trap();
        } else {
            hpcprof_finish(p);
            check_tables(p);
        }
        hpcprof_free(p);
    }
    return 0;
}
