/* SPDX-License-Identifier: BSD-3-Clause */
/* .eh_frame and .gcc_except_table, read with bounds checks: functions as unwinders see them. */
#ifndef BLOOP_EHFRAME_H
#define BLOOP_EHFRAME_H

#include "bloop/image/image.h"

/* All entries of one section, appended in file order; damage ends the reading with a warning and keeps the entries before it. */
void ehframe_read(const struct image *, const struct image_section *, struct fde_list *, struct warnings *);

#endif
