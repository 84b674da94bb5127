/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process and which thread asks. */
#include "hpcprof/recorder/base/state.h"

#include <sys/syscall.h>
#include <unistd.h>

bool hpcrec_active(void)
{
    pid_t pid = atomic_load_explicit(&hpcrec.pid, memory_order_relaxed);
    return pid != 0 && pid == (pid_t)syscall(SYS_getpid);
}

bool hpcrec_is_helper(void)
{
    return atomic_load(&hpcrec.helper) == hpcrec_gettid();
}
