/* Branches that depend on data: a sieve, and Collatz's sequences. */
#include "programs.h"

enum { N = 20000 };
static char composite[N];

__attribute__((noinline, noclone)) static unsigned sieve(void)
{
    unsigned primes = 0;
    for (int i = 2; i < N; i++)
        composite[i] = 0;
    for (int i = 2; i < N; i++) {
        if (composite[i])
            continue;
        primes++;
        for (int j = 2 * i; j < N; j += i)
            composite[j] = 1;
    }
    return primes;
}

__attribute__((noinline, noclone)) static unsigned collatz(unsigned long n)
{
    unsigned steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv), sum = 0;
    for (unsigned long i = 0; i < unit / 50000; i++) {
        sum += sieve();
        for (unsigned long n = 1; n < 500; n++)
            sum += collatz(n);
    }
    printf("%lu\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
