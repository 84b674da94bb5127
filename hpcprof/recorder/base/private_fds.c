/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file opened by the helper for a moment would take the lowest free number, which a program that closes 0 and opens
 * its own relies on. So such work is done by a thread of the kernel's that lives as long as the work does and has a
 * table of descriptors of its own: a copy (unshare(2), CLONE_FILES). If that is not permitted, in the program's table.
 *
 * The thread has the helper's thread-local data, errno with it, while the helper waits; the C library does not know it.
 */
#include "hpcprof/recorder/base/state.h"
#include "hpcprof/recorder/base/syscalls.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_BYTES = 32 << 10,
    AS_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID
};

struct work {
    void (*run)(void *);
    void *arg;
};

static void with_own_table(struct work *w)
{
    if (syscall(SYS_unshare, CLONE_FILES) != 0) /* which containers refuse, but not this: */
        syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_UNSHARE);
    w->run(w->arg);
}

/* clone(2), with a thread's flags as every emulator knows them. glibc's own is not asked: ThreadSanitizer stands in front
 * of it. The new thread calls `begin` and ends; *tid becomes 0 then. The thread's number, or less than 0. */
#if defined __x86_64__
static long start(uint8_t *stack_end, void (*begin)(struct work *), struct work *w, _Atomic int *tid)
{
    long result = SYS_clone;
    register _Atomic int *r10 __asm__("r10") = tid;
    register void (*r12)(struct work *) __asm__("r12") = begin;
    register struct work *r13 __asm__("r13") = w;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %[exit], %%eax\n\t"
                     "xor %%edi, %%edi\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "+a"(result)
                     : "D"((long)AS_THREAD), "S"(stack_end), "d"(0L), "r"(r10), "r"(r12), "r"(r13), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory", "cc");
    return result;
}
#elif defined __aarch64__
static long start(uint8_t *stack_end, void (*begin)(struct work *), struct work *w, _Atomic int *tid)
{
    register long x0 __asm__("x0") = AS_THREAD;
    register uint8_t *x1 __asm__("x1") = stack_end;
    register long x2 __asm__("x2") = 0, x3 __asm__("x3") = 0;
    register _Atomic int *x4 __asm__("x4") = tid;
    register long x8 __asm__("x8") = SYS_clone;
    register void (*x20)(struct work *) __asm__("x20") = begin;
    register struct work *x21 __asm__("x21") = w;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, #0\n\t"
                     "mov x0, x21\n\t"
                     "blr x20\n\t"
                     "mov x8, %[exit]\n\t"
                     "mov x0, #0\n\t"
                     "svc #0\n\t"
                     "brk #0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(x20), "r"(x21), [exit] "i"(SYS_exit)
                     : "memory", "cc");
    return x0;
}
#else
static long start(uint8_t *stack_end, void (*begin)(struct work *), struct work *w, _Atomic int *tid)
{
    (void)stack_end, (void)begin, (void)w, (void)tid;
    return -1;
}
#endif

/* A filter for all threads may kill a thread that makes an unknown system call. */
static bool permitted(void)
{
    return hpcrec_is_helper() && raw_prctl(PR_GET_SECCOMP, NULL) == 0;
}

void hpcrec_with_private_fds(void (*run)(void *), void *arg)
{
    static uint8_t stack[STACK_BYTES] __attribute__((aligned(64)));
    static _Atomic int tid;
    struct work w = {run, arg};
    atomic_store(&tid, 1);
    if (!permitted() || start(stack + sizeof stack, with_own_table, &w, &tid) < 0) {
        run(arg);
        return;
    }
    while (atomic_load(&tid) != 0)
        syscall(SYS_futex, &tid, FUTEX_WAIT, 1, NULL, NULL, 0);
}
