/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview merge: folders that the nodes of a parallel program have written become one. */
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

static struct settings {
    const char *out;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "DIR", "the new folder (required)"},
    {0},
};

static int run(struct session *s, int argc, char **argv)
{
    if (argc == 0 || !opt.out)
        return err_set(&s->err, ERR_USAGE, "merge: usage: hpcview merge FOLDERS... -o DIR");
    return hpcprof_gather((const char *const *)argv, opt.out, s->warnings, &s->err);
}

static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

const struct command command_merge = {
    .name = "merge",
    .synopsis = "FOLDERS... -o DIR",
    .summary = "unite the measurements of a parallel program's nodes",
    .options = tables,
    .run = run,
};
