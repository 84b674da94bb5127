/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals and tests of paired differences. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

/* ---- Student's t ------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 300; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
               odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step = 1;
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            f *= step;
        }
        if (fabs(step - 1) < 1e-14)
            break;
    }
    return f;
}

double compare_t_probability(double t, unsigned freedom)
{
    double a = freedom / 2.0, b = 0.5, x = freedom / (freedom + t * t);
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (t == 0 || isnan(t))
        return 1;
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double compare_t_quantile(double p, unsigned freedom)
{
    double low = 0, high = 1;
    while (compare_t_probability(high, freedom) > p)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(compare_t_probability(middle, freedom) > p ? &low : &high) = middle;
    }
    return high;
}

/* ---- intervals --------------------------------------------------------------------------------- */

struct compare_interval compare_interval_of(const double *values, size_t n, double alpha)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    double mean = n ? sum / (double)n : NAN;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    if (n < 2)
        return (struct compare_interval){mean, -INFINITY, INFINITY, NAN};
    double spread = sqrt(squares / (double)(n - 1));
    double half = compare_t_quantile(alpha, (unsigned)n - 1) * spread / sqrt((double)n);
    return (struct compare_interval){mean, mean - half, mean + half, spread};
}

/* After an even number of pairs, so that each side was first as often as the other: in time each half as far again. */
static unsigned next_look(unsigned pairs)
{
    return pairs < 8 ? pairs + 2 : (pairs + pairs / 2) / 2 * 2;
}

bool compare_looks_after(unsigned pairs, unsigned most)
{
    unsigned look = 4;
    while (look < pairs)
        look = next_look(look);
    return pairs == look || pairs == most;
}

unsigned compare_look_count(unsigned most)
{
    unsigned count = 0;
    for (unsigned pairs = 1; pairs <= most; pairs++)
        count += compare_looks_after(pairs, most);
    return count;
}

/* ---- many tests -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    return order_of(*(const double *)a, *(const double *)b);
}

void compare_discoveries(const double *p, size_t n, double q, bool *rejected)
{
    double *sorted = mem_alloc(n * sizeof *sorted), limit = -1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = p[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++)
        if (sorted[i] <= q * (double)(i + 1) / (double)n)
            limit = sorted[i];
    for (size_t i = 0; i < n; i++)
        rejected[i] = p[i] <= limit;
    mem_free(sorted);
}
