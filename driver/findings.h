/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties and findings, for `diagnose`, `build` and `run`. */
#ifndef DRIVER_FINDINGS_H
#define DRIVER_FINDINGS_H

#include "diagnose/diagnose.h"
#include "driver/driver.h"

/* The properties that come with hpcview, and those of the folders. Each mistake in a file is a line on standard error. */
int findings_properties(struct session *, const struct string_list *folders, struct properties **);
/* The same for implicit use: if our property files cannot be read, a warning and NULL. */
struct properties *findings_properties_unasked(struct session *);
/* Every property everywhere, as tables of the experiment; `p` may be NULL: none. */
int findings_add(struct session *, const struct properties *p, struct experiment *);
/* A database (or an .html file) of these findings and the search that led to them; says where to open it. */
int findings_database(struct session *, struct experiment *, const struct diagnosis *, const char *path);

#endif
