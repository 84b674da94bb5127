/* Arrays in frames: two callers whose arrays have the same address, a frame two calls up, a recursion. With -DLIBRARY
   and -DPROGRAM in two halves. */
#include <stdio.h>

double add(const double *p, int n);
double work(void);
#ifndef PROGRAM

#define APART __attribute__((noinline))

APART double add(const double *p, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += p[i]; /* ADD */
    return s + n % 2;
}

static APART double deeper(const double *p, int n)
{
    return add(p, n) + 1;
}

static APART double first(int n)
{
    double red[300];
    for (int i = 0; i < n; i++)
        red[i] = i;
    return deeper(red, n) + n;
}

static APART double second(int n)
{
    double blue[300];
    for (int i = 0; i < n; i++)
        blue[i] = i;
    return deeper(blue, n) - n;
}

static APART double down(int depth)
{
    double own[100];
    for (int i = 0; i < 100; i++)
        own[i] = depth;
    return (depth ? down(depth - 1) : 0) + add(own, 100);
}

APART double work(void)
{
    return first(300) + second(300) + first(200) + down(4);
}
#endif

#ifdef PROGRAM
int main(void)
{
    double green[40];
    for (int i = 0; i < 40; i++)
        green[i] = i;
    printf("%g\n", work() + add(green, 40));
}
#elif !defined LIBRARY
int main(void)
{
    printf("%g\n", work());
}
#endif
/* SPDX-License-Identifier: BSD-3-Clause */
