/* SPDX-License-Identifier: BSD-3-Clause */
/* The one reader of machine files: their parts are <memory> (memory.c) and <core> (core.c). */
#ifndef MACHINES_FILE_H
#define MACHINES_FILE_H

#include "support/support.h"

struct machine_file { /* which is read */
    const char *name; /* for messages */
    char machine[64]; /* as <machine name="..."> has it */
};

struct machine_part {
    const char *element;
    /* the part's element, and each in it */
    int (*begin)(void *ctx, const struct machine_file *, const struct xml_event *, struct err *);
    int (*begin_inner)(void *ctx, const struct machine_file *, const struct xml_event *, struct err *);
};

/* 1: the file has that part; 0: it has not. */
int machine_file_parse(const void *bytes, size_t len, const char *name, const struct machine_part *, void *ctx,
                       struct err *);

#endif
