/* SPDX-License-Identifier: BSD-3-Clause */
#include "hpcprof/recorder/base/state.h"

struct recorder hpcrec = {.dir.fd = -1, .file_fd = -1, .temp_fd = -1};
_Thread_local struct thread *hpcrec_self __attribute__((tls_model("initial-exec")));
_Thread_local uint64_t hpcrec_waiting_pc __attribute__((tls_model("initial-exec")));

void hpcrec_threads_each(void (*each)(struct thread *, void *ctx), void *ctx)
{
    for (struct thread *t = hpcrec.living; t; t = t->next)
        each(t, ctx);
}

uint32_t hpcrec_thread_last_context(uint32_t row)
{
    return ((struct thread_row *)hpcrec.thread_rows.items)[row].last_context - 1;
}
