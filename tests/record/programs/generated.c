/* Code without a file: generated at run time, generated again with other contents, and the kernel's (vdso). */
#define _GNU_SOURCE
#include "burn.h"
#include <sys/mman.h>

/* mov rax,rdi; 1: sub rax,1; jnz 1b; ret */
static const unsigned char loop_x86[] = {0x48, 0x89, 0xf8, 0x48, 0x83, 0xe8, 0x01, 0x75, 0xfa, 0xc3};

int main(void)
{
    struct timespec t;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, loop_x86, sizeof loop_x86);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    void (*f)(long) = (void (*)(long))code;
    double end = cpu_ms() + 200;
    while (cpu_ms() < end)
        f(100000);
    end = cpu_ms() + 200;
    while (cpu_ms() < end)
        for (int i = 0; i < 1000; i++)
            clock_gettime(CLOCK_MONOTONIC, &t);
    say_burned(400);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
