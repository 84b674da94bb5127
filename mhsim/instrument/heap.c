/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into programs that run under QEMU: reports allocations to the plugin (qemu.c) outside, by a system call
 * that no kernel has. The program does not notice: QEMU answers that there is no such call.
 */
#include "config.h"
#include "mhsim/shared_layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default"), used))
#define SITE ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

static void tell(void *p, size_t n, uint64_t site)
{
    int before = errno;
    if (p)
        syscall(RAW_HEAP_CALL, p, n, site);
    errno = before;
}

static void start_measuring(void)
{
    syscall(RAW_MEASURE_CALL, 1L);
}

static void stop_measuring(void)
{
    syscall(RAW_MEASURE_CALL, 0L);
}

static void tell_region(const char *name, bool begins)
{
    syscall(RAW_REGION_CALL, name, (long)begins);
}

#define ALLOCATED(p, n, site) tell(p, n, site)
#include "mhsim/instrument/heap_calls.inc"
