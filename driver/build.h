/* SPDX-License-Identifier: BSD-3-Clause */
/* Building databases, for `build` and `run`. */
#ifndef DRIVER_BUILD_H
#define DRIVER_BUILD_H

#include "driver/driver.h"

struct build_options {
    const char *out;
    bool single_file, no_sources, no_instructions, anonymize;
};
extern const struct option_row build_rows[];

struct config;
/* Builds the database at `path` and says on standard error where to open it. */
int build_database(struct session *, const struct build_options *, struct config *, const char *path);
/* The default name of the database of an operand; caller frees. */
char *build_database_name(const struct build_options *, const char *operand);

#endif
