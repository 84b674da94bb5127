/* make_database KIND SOURCE_DIR OUT [PLACES METRICS] [--single-file] - the database of a hand-made experiment. */
#include "htmlgen/htmlgen.h"
#include "htmlgen/sample.h"

#include <stdio.h>
#include <stdlib.h>

static struct experiment *make(int argc, char **argv)
{
    if (strcmp(argv[1], "heat") == 0)
        return sample_heat(argv[2]);
    if (strcmp(argv[1], "facts") == 0)
        return sample_facts(argv[2]);
    if (strcmp(argv[1], "memory") == 0)
        return sample_memory(argv[2]);
    if (strcmp(argv[1], "waits") == 0)
        return sample_waits(argv[2]);
    if (strcmp(argv[1], "runs") == 0)
        return sample_two_runs(argv[2]);
    if (strcmp(argv[1], "hostile") == 0)
        return sample_hostile(argv[2]);
    if (strcmp(argv[1], "unmeasured") == 0 || strcmp(argv[1], "empty") == 0)
        return sample_empty(strcmp(argv[1], "unmeasured") == 0);
    if (strcmp(argv[1], "large") == 0 && argc > 5)
        return sample_large(strtoul(argv[4], NULL, 10), strtoul(argv[5], NULL, 10));
    return NULL;
}

int main(int argc, char **argv)
{
    struct htmlgen_options opts = {0};
    struct err err = {0};
    struct experiment *e = argc > 3 ? make(argc, argv) : NULL;
    if (!e) {
        fprintf(stderr,
                "usage: make_database heat|facts|memory|waits|runs|hostile|unmeasured|empty|large SOURCE_DIR OUT "
                "[PLACES METRICS] [--single-file]\n");
        return 2;
    }
    opts.single_file = strcmp(argv[argc - 1], "--single-file") == 0;
    struct warnings *warnings = warnings_create();
    if (strcmp(argv[1], "heat") == 0)
        warnings_add(warnings, "libc.so.6 has no line table: 1.0%% of TIME is shown by function only");
    int status = htmlgen_write(e, argv[3], &opts, warnings, &err);
    if (status < 0)
        fprintf(stderr, "%s\n", err.msg);
    warnings_free(warnings);
    experiment_free(e);
    return status < 0;
}
