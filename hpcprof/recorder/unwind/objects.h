/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are loaded, and where their rows come from. */
#ifndef HPCPROF_RECORDER_UNWIND_OBJECTS_H
#define HPCPROF_RECORDER_UNWIND_OBJECTS_H

#include "hpcprof/recorder/unwind/unwind.h"

const struct unwind_map *hpcrec_unwind_map(void); /* NULL: not made yet */
/* Locked. in_use: whether some handler may still look at maps and rows from before; they are freed when none does. */
void hpcrec_unwind_refresh(bool compile_all, bool (*in_use)(void));
const struct unwind_rows *hpcrec_unwind_missing(const struct unwind_object *); /* locked */

#endif
