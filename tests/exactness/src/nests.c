/* Nests whose outer loops have little code of their own: a counter was merged into another one, or an inner loop starts
   one after the outer. The statement marks give their starts. */
void symmetric(int n, double f, const double *a, const double *x, double *y)
{
    int i, j;
    for (i = 0; i < n; i++) { /* LOOP depth=1 */
        double t = f * x[i];
        double u = 0.0;
        y[i] += t * a[n * i + i];
        for (j = i + 1; j < n; j++) { /* LOOP depth=2 */
            y[j] += t * a[n * i + j];
            u += x[j] * a[n * i + j];
        }
        y[i] += f * u;
    }
}

void factor(int n, double *a)
{
    int i, j, k;
    for (k = 0; k < n; k++) { /* LOOP depth=1 */
        double p = 1.0 / a[k * n + k];
        for (i = k + 1; i < n; i++) { /* LOOP depth=2 */
            double f = a[i * n + k] *= p;
            for (j = k + 1; j < n; j++) /* LOOP depth=3 */
                a[i * n + j] -= f * a[k * n + j];
        }
    }
}

void pairs(int n, const double *x, double *f)
{
    int i, j;
    for (i = 0; i < n; i++) { /* LOOP depth=1 */
        double s = 0;
        for (j = i + 1; j < n; j++) { /* LOOP depth=2 */
            double d = x[i] - x[j];
            s += d;
            f[j] -= d;
        }
        f[i] += s;
    }
}

/* The outer loop begins with the inner one. */
void update(int n, int m, const double *a, const double *b, double *c)
{
    int i, j, k;
    for (i = 0; i < n; i++) { /* LOOP depth=1 */
        {
            double t = 0.0;
            for (k = 0; k < m; k++) { /* LOOP depth=2 */
                const double x = a[2 * (i * m + k)];
                const double y = b[2 * (i * m + k)];
                t += x * y;
            }
            c[2 * (i * n + i)] += 2 * t;
            c[2 * (i * n + i) + 1] = 0.0;
        }
        for (j = i + 1; j < n; j++) { /* LOOP depth=2 */
            double t = 0.0;
            double u = 0.0;
            for (k = 0; k < m; k++) { /* LOOP depth=3 */
                const double x = a[2 * (i * m + k)];
                const double y = b[2 * (j * m + k)];
                t += x * y;
                u += x - y;
            }
            c[2 * (i * n + j)] += t;
            c[2 * (i * n + j) + 1] += u;
        }
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
