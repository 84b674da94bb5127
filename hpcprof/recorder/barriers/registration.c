/* SPDX-License-Identifier: BSD-3-Clause */
/* By what the recorder knows of barriers: entered before its own constructor begins. */
#include "hpcprof/recorder/barriers/barriers.h"

static const struct barrier_calls calls = {
    .begin = hpcrec_phases_begin,
    .thread_create = hpcrec_phases_thread_create,
    .thread_begin = hpcrec_phases_thread_begin,
    .thread_end = hpcrec_phases_thread_end,
    .thread_discard = hpcrec_phases_thread_discard,
    .forget = hpcrec_phases_forget,
    .declare = hpcrec_phases_declare,
    .resolve = hpcrec_phases_resolve,
    .moved = hpcrec_phases_moved,
    .write = hpcrec_phases_write,
    .notify = hpcrec_phases_notify,
    .seen = hpcrec_phases_seen,
    .region = hpcrec_phases_region,
    .user_region = hpcrec_phases_user_region,
};

__attribute__((constructor(101))) static void enter(void)
{
    hpcrec.barriers = &calls;
}
