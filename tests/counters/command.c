/* The guest's command has record, events and info. Other commands, and the functions that they use, are stubs. */
#include "driver/driver.h"
#include "bloop/bloop.h"
#include "filters/filters.h"
#include "metrics/metrics.h"

#define ABSENT(X) const struct command command_##X = {.name = #X, .summary = "(not in the guest)"};
ABSENT(run)
ABSENT(compare)
ABSENT(doctor)
ABSENT(simulate)
ABSENT(phases)
ABSENT(structure)
ABSENT(quality)
ABSENT(import)
ABSENT(init)
ABSENT(build)
ABSENT(print)
ABSENT(diagnose)
ABSENT(export)
ABSENT(open)

bool filters_know(const char *path)
{
    (void)path;
    return false;
}

bool experiment_is_database(const char *path)
{
    (void)path;
    return false;
}

int measurement_keep_functions(const char *measured, const char *file, struct err *err)
{
    (void)measured;
    (void)file;
    (void)err;
    return 0;
}

/* (used by --phases --watch) */
int bloop_open(const char *path, const struct bloop_options *options, struct bloop_binary **out, struct warnings *w,
               struct err *err)
{
    (void)options;
    (void)out;
    (void)w;
    return err_set(err, ERR_UNSUPPORTED, "%s: binaries are not read in the guest", path);
}

void bloop_close(struct bloop_binary *b)
{
    (void)b;
}

int bloop_scopes_at(struct bloop_binary *b, const vaddr *addresses, size_t count, struct scope_tree **out,
                    struct warnings *w, struct err *err)
{
    (void)b;
    (void)addresses;
    (void)count;
    (void)out;
    (void)w;
    return err_set(err, ERR_UNSUPPORTED, "binaries are not read in the guest");
}

scope_ix scope_tree_find(struct scope_tree *t, vaddr address)
{
    (void)t;
    (void)address;
    return 0;
}

void scope_tree_free(struct scope_tree *t)
{
    (void)t;
}
/* SPDX-License-Identifier: BSD-3-Clause */
