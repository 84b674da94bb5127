/* Calls of all kinds that C has: calls CASE. */
#define _GNU_SOURCE
#include "known.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

enum { MS = 600 };

/* ---- recursion ---- */

FUNCTION void odd(int n);
FUNCTION void even(int n)
{
    ENTER();
    if (n == 0)
        work(1);
    else
        odd(n - 1);
    LEAVE();
}
FUNCTION void odd(int n)
{
    ENTER();
    if (n == 0)
        work(1);
    else
        even(n - 1);
    LEAVE();
}
FUNCTION void mutual(void)
{
    ENTER();
    for (int i = 0; i < MS; i++)
        even(i % 30);
    LEAVE();
}

FUNCTION int deeper(int n)
{
    int below = 0;
    ENTER();
    if (n > 1)
        below = deeper(n - 1);
    else
        work(MS / 2);
    if (n == 5000)
        work(MS / 2);
    LEAVE();
    return below + 1;
}
FUNCTION void deep(void)
{
    ENTER();
    deeper(10000);
    LEAVE();
}

/* ---- callbacks ---- */

FUNCTION int compare(const void *a, const void *b)
{
    ENTER();
    if (*(const int *)a % 7 == 0)
        work(1);
    LEAVE();
    return *(const int *)a - *(const int *)b;
}
FUNCTION void sorting(void)
{
    int v[200];
    ENTER();
    for (int i = 0; i < 200; i++)
        v[i] = i * 7919 % 200;
    qsort(v, 200, sizeof *v, compare);
    LEAVE();
}

FUNCTION void on_signal(int sig)
{
    ENTER();
    (void)sig;
    work(10);
    LEAVE();
}
FUNCTION void interrupted(void)
{
    ENTER();
    for (int i = 0; i < MS / 10; i++)
        raise(SIGUSR1);
    LEAVE();
}
FUNCTION void signals(void)
{
    ENTER();
    signal(SIGUSR1, on_signal);
    interrupted();
    LEAVE();
}
/* The handler runs on an alternate stack. */
FUNCTION void other_stack(void)
{
    stack_t stack = {.ss_size = 1 << 18};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    ENTER();
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &act, NULL);
    interrupted();
    LEAVE();
}

/* ---- jumps ---- */

static jmp_buf back;
FUNCTION void jumps(int n)
{
    ENTER();
    if (n == 0)
        longjmp(back, 1);
    jumps(n - 1);
    LEAVE();
}
FUNCTION void longjumps(void)
{
    ENTER();
    for (volatile int i = 0; i < MS / 5; i++) {
        int depth = known_depth;
        if (setjmp(back) == 0)
            jumps(i % 10);
        known_depth = depth;
        work(5);
    }
    LEAVE();
}

FUNCTION void last(void)
{
    ENTER();
    work(MS);
    LEAVE();
}
/* The call is a jump: only `last` is left when it works. */
FUNCTION __attribute__((optimize("O2"))) void jumping(void)
{
    return last();
}
FUNCTION void tail(void)
{
    ENTER();
    jumping();
    LEAVE();
}

/* ---- stacks ---- */

FUNCTION void sized(int n)
{
    ENTER();
    volatile char *p = alloca((size_t)n);
    p[0] = p[n - 1] = 1;
    work(MS / 10);
    LEAVE();
}
FUNCTION void variable(void)
{
    ENTER();
    for (int i = 1; i <= 10; i++)
        sized(i * 1000);
    LEAVE();
}
FUNCTION void aligned(int n)
{
    _Alignas(64) volatile char wide[128];
    ENTER();
    volatile char *p = alloca((size_t)n);
    wide[n % 128] = p[0] = 1;
    work(MS / 10);
    LEAVE();
}
FUNCTION void realigned(void)
{
    ENTER();
    for (int i = 1; i <= 10; i++)
        aligned(i * 8);
    LEAVE();
}

static ucontext_t here, there;
FUNCTION void inside(void)
{
    for (int i = 0; i < 10; i++) {
        ENTER();
        work(MS / 10);
        LEAVE();
        swapcontext(&there, &here);
    }
}
FUNCTION void coroutine(void)
{
    getcontext(&there);
    there.uc_stack.ss_size = 1 << 18;
    there.uc_stack.ss_sp = malloc(there.uc_stack.ss_size);
    there.uc_link = &here;
    makecontext(&there, inside, 0);
    int depth = known_depth;
    known_depth = 0; /* the outermost frame on the other stack */
    for (int i = 0; i < 10; i++)
        swapcontext(&here, &there);
    known_depth = depth;
}

/* ---- threads ---- */

FUNCTION void *early(void *arg)
{
    ENTER();
    work((int)(long)arg);
    LEAVE();
    return NULL;
}
FUNCTION void *exits(void *arg)
{
    ENTER();
    work((int)(long)arg);
    pthread_exit(NULL);
}
FUNCTION void threads(void)
{
    pthread_t id[20];
    ENTER();
    for (int i = 0; i < 20; i++)
        pthread_create(&id[i], NULL, i % 2 ? early : exits, (void *)(long)20);
    for (int i = 0; i < 20; i++)
        pthread_join(id[i], NULL);
    LEAVE();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"mutual", mutual},           {"deep", deep},           {"sorting", sorting}, {"signals", signals},
             {"other_stack", other_stack}, {"longjumps", longjumps}, {"tail", tail},       {"variable", variable},
             {"realigned", realigned},     {"coroutine", coroutine}, {"threads", threads}};

int main(int argc, char **argv)
{
    ENTER();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc == 2 && strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run();
    LEAVE();
    known_report();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
