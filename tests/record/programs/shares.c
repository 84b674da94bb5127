/* Four functions that take 1, 2, 3 and 4 tenths of the time: arithmetic, a dependent load chain, divisions, and a
 * table. */
#include "burn.h"

enum { SLICE_MS = 1 };
static unsigned chain[1 << 12];
static volatile unsigned sink;

#define UNTIL(ms) for (double end = cpu_ms() + (ms); cpu_ms() < end;)

__attribute__((noinline)) static void one(void)
{
    burn(SLICE_MS * 10);
}

__attribute__((noinline)) static void two(void)
{
    UNTIL(SLICE_MS * 20)
    {
        unsigned at = 0;
        for (int i = 0; i < 50000; i++)
            at = chain[at];
        sink = at;
    }
}

__attribute__((noinline)) static void three(void)
{
    UNTIL(SLICE_MS * 30)
    {
        unsigned x = 123456789;
        for (unsigned i = 1; i < 20000; i++)
            x = 4000000000u / (x % 1000 + i);
        sink = x;
    }
}

__attribute__((noinline)) static void four(void)
{
    UNTIL(SLICE_MS * 40)
    {
        for (unsigned i = 0; i < 50000; i++)
            chain[i & 4095] ^= i ^ chain[i & 4095];
        for (unsigned i = 0; i < 4096; i++)
            chain[i] = (i * 1103515245u + 12345u) & 4095;
    }
}

int main(void)
{
    four();
    for (int i = 0; i < 15; i++) {
        one();
        two();
        three();
        four();
    }
    say_burned(1540);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
