/* SPDX-License-Identifier: BSD-3-Clause */
/* The mark by which the launcher knows that a static program brings its recorder along (protocol.h). */
#include "hpcprof/recorder/protocol.h"

static const struct {
    uint32_t name_size, desc_size, type;
    char name[8];
} note __attribute__((section(".note.hpcview"), aligned(4), used)) = {sizeof RECORD_NOTE_OWNER, 0, RECORD_NOTE_TYPE,
                                                                      RECORD_NOTE_OWNER};
