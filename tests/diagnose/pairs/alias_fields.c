/* planted: NotVectorized|Versions|InvariantLoads|Chains; set: b; before: -O2; after: -O2 -DAFTER. A bound and a factor are loaded again in each iteration because stores may change them. */
#include <stdio.h>
struct field { int n; float factor; float *x; };
static float data[2000];
__attribute__((noinline)) static void scale(struct field *f)
{
#ifdef AFTER
    float *restrict x = f->x, factor = f->factor;
    int n = f->n;
    for (int i = 0; i < n; i++)
        x[i] = x[i] * factor + 0.25f;
#else
    for (int i = 0; i < f->n; i++)
        f->x[i] = f->x[i] * f->factor + 0.25f;
#endif
}
int main(void)
{
    struct field f = {2000, 0.5f, data};
    for (int r = 0; r < 400000; r++)
        scale(&f);
    printf("%g\n", data[7]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
