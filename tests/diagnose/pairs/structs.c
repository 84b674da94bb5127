/* planted: Strides|LowSpatialUse; set: a; before: -O2; after: -O2 -DAFTER. One member of structures of 128 bytes is used: an array of structures instead of arrays. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 20, ROUNDS = 40 };
struct particle { float x, rest[31]; };
__attribute__((noinline)) static void push(struct particle *p, float *x, float dt)
{
    for (int i = 0; i < N; i++) {
#ifdef AFTER
        x[i] += dt;
#else
        p[i].x += dt;
#endif
    }
}
int main(void)
{
    struct particle *p = calloc(N, sizeof *p);
    float *x = calloc(N, sizeof *x);
    for (int i = 0; i < N; i++)
        p[i].x = x[i] = i;
    for (int r = 0; r < ROUNDS; r++)
        push(p, x, 0.5f);
    printf("%g %g\n", p[7].x, x[7]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
