/* Any bytes as a database of one page: an experiment that every format can write, or a sentence that names the input.
 */
#include "export/export.h"

#include <fcntl.h>
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct experiment *e;
    struct err err = {0};
    if (experiment_read_page(data, size, "fuzz", &e, NULL, &err) == 0)
        write_all(e);
    else if (!str_starts(err.msg, "fuzz"))
        __builtin_trap();
    else
        return 0;
    experiment_free(e);
    return 0;
}
