/* Loops for tests/quality/quality.sh: each has a problem that hpcview quality reports, or is similar without having it.
 * make.sh describes how the objects next to it were built; the expected results contain line numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define R restrict
extern double cold(int), out(int);
extern void stop(void) __attribute__((noreturn, cold));

void copy(int n, double *R a, const double *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
void scale(int n, double *R a, const double *R b, double c)
{
    for (int i = 0; i < n; i++)
        a[i] = c * b[i];
}
void triad(int n, double *R a, const double *R b, const double *R c, double s)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
void triad_float(int n, float *R a, const float *R b, const float *R c, float s)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
double sum(int n, const double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
double dot(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
int sum_int(int n, const int *a)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
double gather(int n, const int *ix, const double *a, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * x[ix[i]];
    return s;
}
void scatter(int n, const int *R ix, double *R a, const double *R x)
{
    for (int i = 0; i < n; i++)
        a[ix[i]] = x[i];
}
void strided(int n, double *R a, const double *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[3 * i];
}
void column(int n, int ld, double *R a, const double *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[(long)i * ld];
}
void recurrence(int n, double *R a, const double *R b, double c)
{
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] * c + b[i];
}
void recurrence_memory(int n, double *a, const double *b, double c)
{
    for (int i = 4; i < n; i++)
        a[i] = a[i - 4] * c + b[i];
}
void divide(int n, double *R a, const double *R b, const double *R c)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] / c[i];
}
void divide_invariant(int n, double *R a, const double *R b, double c)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] / c;
}
void root(int n, double *R a, const double *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = sqrt(b[i]);
}
void divide_int(int n, int *R a, const int *R b, const int *R c)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] / c[i];
}
void convert_int(int n, double *R a, const int *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
void convert_float(int n, double *R a, const float *R b)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[i];
}
double call(int n, const double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += cold(i) * a[i];
    return s;
}
double call_math(int n, const double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += exp(a[i]);
    return s;
}
double virtual_call(int n, double (**f)(int))
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += f[i](i);
    return s;
}
double branch(int n, const double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        if (a[i] > 0)
            s += out(i);
        else
            s -= a[i] * a[i];
    return s;
}
double bounds(int n, int m, const int *ix, const double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        if ((unsigned)ix[i] >= (unsigned)m)
            stop();
        s += a[ix[i]];
    }
    return s;
}
void alias(int n, double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
}
long list(const long **p)
{
    long s = 0;
    while (p) {
        s++;
        p = (const long **)*p;
    }
    return s;
}
long double extended(int n, const long double *a)
{
    long double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
void atomic(int n, int *a, const int *ix)
{
    for (int i = 0; i < n; i++)
        __atomic_fetch_add(&a[ix[i]], 1, __ATOMIC_SEQ_CST);
}
void fence(int n, volatile int *a)
{
    for (int i = 0; i < n; i++) {
        a[i] = 1;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}
long bytes(int n, const unsigned char *a, const short *b)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            s += b[i];
    return s;
}
double invariant(int n, const double *a, double *b, const double *c)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] * *c;
    return *b;
}
void stencil(int n, double *R a, const double *R b)
{
    for (int i = 1; i < n - 1; i++)
        a[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1];
}
void complex_scale(int n, double *R a, const double *R b, double re, double im)
{
    for (int i = 0; i < n; i++) {
        a[2 * i] = re * b[2 * i] - im * b[2 * i + 1];
        a[2 * i + 1] = re * b[2 * i + 1] + im * b[2 * i];
    }
}
struct point {
    double x, y, z;
};
void structs(int n, struct point *R p)
{
    for (int i = 0; i < n; i++)
        p[i].x += p[i].y * p[i].z;
}
double polynomial(int n, const double *c, double x)
{
    double s = 0;
    for (int i = n - 1; i >= 0; i--)
        s = s * x + c[i];
    return s;
}
double largest(int n, const double *a)
{
    double s = a[0];
    for (int i = 1; i < n; i++)
        s = a[i] > s ? a[i] : s;
    return s;
}
void matrix(int n, double (*R c)[64], double (*R a)[64], double (*R b)[64])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 64; j++)
            for (int k = 0; k < 64; k++)
                c[i][j] += a[i][k] * b[k][j];
}
void histogram(int n, int *h, const unsigned char *a)
{
    for (int i = 0; i < n; i++)
        h[a[i]]++;
}
void multiply_index(int n, int s, double *R a, const double *R b)
{
    for (int i = 0; i < n; i += s)
        a[i * 3] = b[i] * i;
}
void aliasing_4k(int n, double *a)
{
    for (int i = 0; i < n; i++)
        a[i + 512] = a[i] + 1.0;
}
void fused_missed(int n, double *R a, const double *R b, const double *R c)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] * b[i] + c[i];
}
void many(int n, const double *a, double *o)
{
    double s[20] = {0};
    for (int i = 0; i < n; i++) {
        double t = a[i];
        for (int k = 0; k < 20; k++) {
            s[k] = s[k] * t + (k + 1);
            t = t * 1.5 + s[k];
        }
    }
    for (int k = 0; k < 20; k++)
        o[k] = s[k];
}

void squares(int n, double *R a, const double *b)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i * i];
}

#ifdef __x86_64__
void mixed(int n)
{
    for (int i = 0; i < n; i++)
        __asm__ volatile("vaddps %%ymm0, %%ymm0, %%ymm0\n\taddps %%xmm1, %%xmm1" : : : "xmm0", "xmm1");
}
#endif
/* SPDX-License-Identifier: BSD-3-Clause */
