/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by `build`, `print`, `export`, `diagnose` and `run`: operands and options that become a configuration. */
#ifndef DRIVER_OVERRIDES_H
#define DRIVER_OVERRIDES_H

#include "driver/driver.h"
#include "metrics/metrics.h"

/* Values of override_rows: settings that a configuration file has too. */
struct overrides {
    struct string_list metrics, structures, sources, replaces, debug_dirs, statistics, blocks;
    const char *title, *machine;
    unsigned threads;
    bool no_quality, llvm;
};
extern const struct option_row override_rows[];

/* The configuration of the operands (one CONFIG.xml, or measurements) with the overrides; `command` for messages. Strings
   are lent. */
int overrides_config(struct session *, const struct overrides *, const char *command, int argc, char **argv,
                     struct config **);
/* The overrides, added to `config`. */
int overrides_apply(const struct overrides *, const char *command, struct config *, struct err *);
/* Do they add columns: metrics, blocks, statistics? */
bool overrides_add_columns(const struct overrides *);

/* Is it a configuration, by its content? */
bool driver_is_configuration(const char *path);
/* A finished database as it is; fold: with recursion on its call paths folded. */
int driver_read_database(struct session *, const char *path, bool fold, struct experiment **);

#endif
