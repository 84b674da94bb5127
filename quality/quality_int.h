/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of quality/. In the order of work:
 *
 *     body/        one loop: its instructions, and what an iteration costs at least
 *     models.c     llvm-mca's estimates beside that, where it is installed
 *     roles.c      what of one source loop's copies each is
 *     checks.c     what a person would point at: checks_vectors.c, checks_memory.c and checks_ways.c have the rules,
 *                  remedies.c what to do about it
 *     quality.c    the loops of a tree, one after the other
 *     listing.c    all instructions of procedures, one after the other
 *     write.c      as text, CSV, JSON
 */
#ifndef QUALITY_INT_H
#define QUALITY_INT_H

#include "quality/body/body.h"

/* ---- models.c --------------------------------------------------------------------------- */

struct models; /* NULL if not requested, or there is none */
struct models *models_create(const struct quality_tools *, const struct machine_core *);
/* The loop that will be the `loop`th of models_run's. */
void models_add(struct models *, const struct body *, const struct quality_loop *, size_t loop);
void models_run(struct models *, struct quality_loop *loops, struct quality_report *, struct warnings *);
void models_free(struct models *);

/* ---- checks.c, remedies.c ------------------------------------------------------------- */

struct quality_built {    /* how the loop's procedure was compiled */
    const char *producer; /* "" unknown */
    uint16_t language;    /* DW_LANG_* */
};
bool quality_is_fortran(const struct quality_built *);
const char *quality_remedy(enum quality_check_kind, const struct quality_built *);
/* Adds the checks' results for the loop with this body to the report; the checks' `loop` is its scope for now. */
void checks_find(const struct body *, const struct quality_loop *, const struct scope_tree *,
                 const struct quality_built *, struct quality_report *);

/* ---- roles.c ------------------------------------------------------------------------ */

/* Of the loops of one procedure. */
void quality_roles_find(const struct scope_tree *, struct quality_loop *, size_t count);

#endif
