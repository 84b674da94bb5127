/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview init: a commented configuration for measurements, to be changed by hand. */
#include "driver/overrides.h"

#include <stdio.h>
#include <unistd.h>

static struct settings {
    const char *out;
    bool force;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE",
     "write to FILE (default: hpcview.xml); - is standard output"},
    {"force", 0, OPT_FLAG, offsetof(struct settings, force), NULL, "replace an existing file"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

static int run(struct session *s, int argc, char **argv)
{
    const char *path = opt.out ? opt.out : "hpcview.xml";
    struct config *config = config_create();
    struct outfile *out = NULL;
    int status = 0;
    if (argc == 0)
        status = err_set(&s->err, ERR_USAGE, "init: usage: hpcview init MEASUREMENTS...");
    else if (!opt.force && strcmp(path, "-") != 0 && access(path, F_OK) == 0)
        status = err_set(&s->err, ERR_SYSTEM,
                         "%s: already exists; replace it with --force, or choose another name with -o", path);
    for (int i = 0; i < argc; i++)
        config_add_measurement(config, argv[i]);
    if (status == 0)
        status = overrides_apply(&(struct overrides){0}, "init", config, &s->err);
    if (status == 0)
        status = outfile_create(path, &out, &s->err);
    if (status == 0 && (status = config_write_start(config, path, &s->progress, out, s->warnings, &s->err)) < 0)
        outfile_abandon(out);
    else if (status == 0)
        status = outfile_commit(out, &s->err);
    if (status == 0 && strcmp(path, "-") != 0)
        fprintf(stderr, "hpcview: wrote %s; edit it, then: hpcview build %s\n", path, path);
    config_free(config);
    return status;
}

const struct command command_init = {
    .name = "init",
    .synopsis = "[options] MEASUREMENTS...",
    .summary = "write a commented configuration to start from",
    .options = tables,
    .run = run,
};
