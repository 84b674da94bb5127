/*
 * Invalid stacks: astray CASE. The time is spent with the stack pointer outside of any stack, or with frames whose code
 * is unmapped; the program itself completes.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 400000000, AREA = 1 << 16 };

static volatile double sink;
static volatile int argc_of_main;

__attribute__((noinline)) static void spin(void)
{
    double x = 1;
    for (int i = 0; i < ROUNDS / 4; i++)
        x = x * 1.0000001 + 0.5;
    sink = x;
}

/* Counts with these values in the stack pointer and the frame pointer. */
static void count_at(uintptr_t sp, uintptr_t fp)
{
    long n = ROUNDS;
#if defined __x86_64__
    __asm__ volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %1, %%rsp; mov %2, %%rbp;"
                     "1: dec %0; jnz 1b;"
                     "mov %%r12, %%rsp; mov %%r13, %%rbp"
                     : "+r"(n)
                     : "r"(sp), "r"(fp)
                     : "r12", "r13", "memory", "cc");
#else
    __asm__ volatile("mov x20, sp; mov x21, x29; mov sp, %1; mov x29, %2;"
                     "1: subs %0, %0, #1; b.ne 1b;"
                     "mov sp, x20; mov x29, x21"
                     : "+r"(n)
                     : "r"(sp), "r"(fp)
                     : "x20", "x21", "memory", "cc");
#endif
}

/* No signal can be delivered here: the kernel has no room for its frame. */
static void nowhere(void)
{
    count_at(4096, 4096);
}

/* Each word claims that its caller's frame is the one below. */
static void circles(void)
{
    uintptr_t *area = aligned_alloc(AREA, AREA);
    size_t n = AREA / sizeof *area;
    for (size_t i = 0; i < n; i++)
        area[i] = (uintptr_t)&area[i % 2 ? (size_t)3 * n / 4 : i - i % 4];
    count_at((uintptr_t)&area[3 * n / 4], (uintptr_t)&area[3 * n / 4]);
    free(area);
}

static void random_words(void)
{
    uint64_t *area = aligned_alloc(AREA, AREA), r = 1;
    for (size_t i = 0; i < AREA / sizeof *area; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        area[i] = i % 3 == 0 ? r : i % 3 == 1 ? (uintptr_t)&area[r >> 51] : (uintptr_t)spin + (r >> 56);
    }
    count_at((uintptr_t)&area[AREA / 16], (uintptr_t)&area[AREA / 12]);
    free(area);
}

/* Generated code that called us and is unmapped while we work. */
static jmp_buf back;
static void *made;

__attribute__((noinline)) static void called(void)
{
    munmap(made, 4096);
    spin();
    longjmp(back, 1);
}

static void gone(void)
{
#if defined __x86_64__
    static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#else
    static const uint32_t code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
    volatile char room[2000]; /* the first functions' frames are recognized */
    room[argc_of_main] = 1;
    made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)made, (char *)made + sizeof code);
    if (setjmp(back) == 0)
        ((void (*)(void (*)(void)))made)(called);
}

/* Compiled with split stacks: frames on pieces at any address, too small for signals, which use a separate stack. */
__attribute__((noinline)) static int pieces_of(int n)
{
    volatile char room[2000];
    room[n % 2000] = 1;
    if (n == 0)
        spin();
    return n == 0 ? room[0] : pieces_of(n - 1) + room[n % 2000];
}

static void pieces(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 4; i++)
        pieces_of(i * 30);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"nowhere", nowhere}, {"circles", circles}, {"random", random_words}, {"gone", gone}, {"pieces", pieces}};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc == 2 && strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run();
    puts("came through");
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
