/* Kernels for tests/bench/quality.sh: each makes one pass over n numbers that fit into the L1 cache. */
#define R restrict
#define KERNEL(name)                                                                                                   \
    __attribute__((noinline)) double k_##name(int n, double *R a, const double *R b, const double *R c, const int *R ix)
#define UNUSED (void)a, (void)b, (void)c, (void)ix

/* clang-format off: one a line */
KERNEL(copy)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
    return 0;
}
KERNEL(scale)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = 3 * b[i];
    return 0;
}
KERNEL(triad)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
    return 0;
}
KERNEL(daxpy)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] += 3 * b[i];
    return 0;
}
KERNEL(sum)
{
    UNUSED;
    double s = 0;
    for (int i = 0; i < n; i++)
        s += b[i];
    return s;
}
KERNEL(dot)
{
    UNUSED;
    double s = 0;
    for (int i = 0; i < n; i++)
        s += b[i] * c[i];
    return s;
}
KERNEL(stencil)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = 0.25 * b[i] + 0.5 * b[i + 1] + 0.25 * b[i + 2];
    return 0;
}
KERNEL(recurrence)
{
    UNUSED;
    for (int i = 1; i <= n; i++)
        a[i] = a[i - 1] * 0.5 + b[i];
    return 0;
}
__attribute__((noinline)) double k_memory(int n, double *a, const double *b, const double *c, const int *ix)
{
    (void)c;
    (void)ix;
    for (int i = 2; i < n + 2; i++)
        a[i] = a[i - 2] * 0.5 + b[i];
    return 0;
}
KERNEL(divide)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = b[i] / c[i];
    return 0;
}
KERNEL(root)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = __builtin_sqrt(b[i]);
    return 0;
}
KERNEL(gather)
{
    UNUSED;
    double s = 0;
    for (int i = 0; i < n; i++)
        s += b[i] * c[ix[i]];
    return s;
}
KERNEL(convert)
{
    UNUSED;
    for (int i = 0; i < n; i++)
        a[i] = ix[i];
    return 0;
}
KERNEL(polynomial)
{
    UNUSED;
    for (int i = 0; i < n; i++) {
        double x = b[i];
        a[i] = (((((x * 0.1 + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * x + 0.6) * x + 0.7;
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
