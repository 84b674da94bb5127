/* A thousand paths that are hardly ever gone twice, and then one that is gone all the time. */
#include "known.h"

enum { DEPTH = 10, ROUNDS = 700 };

FUNCTION void left(unsigned way, int n);
FUNCTION void right(unsigned way, int n);

static void either(unsigned way, int n)
{
    if (n == 0)
        work(1);
    else
        (way & 1 ? left : right)(way >> 1, n - 1);
}
FUNCTION void left(unsigned way, int n)
{
    ENTER();
    either(way, n);
    LEAVE();
}
FUNCTION void right(unsigned way, int n)
{
    ENTER();
    either(way, n);
    LEAVE();
}
FUNCTION void inner(void)
{
    ENTER();
    work(1);
    LEAVE();
}
FUNCTION void outer(void)
{
    ENTER();
    inner();
    LEAVE();
}

int main(void)
{
    unsigned way = 1;
    ENTER();
    for (int i = 0; i < 2 * ROUNDS; i++) {
        way = way * 1664525u + 1013904223u;
        if (i < ROUNDS || i % 4 == 0)
            either(way >> 16, DEPTH);
        else
            outer();
    }
    LEAVE();
    known_report();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
