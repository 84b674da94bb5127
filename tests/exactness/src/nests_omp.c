/* Loops that are shared out, of which gcc leaves no control: a sum that begins in the body, and atomic updates. */
void rows(float *y, float *x, float *w, int n, int d)
{
#pragma omp parallel for /* LOOP depth=1 near=1 */
    for (int i = 0; i < d; i++) {
        float v = 0.0f;
        for (int j = 0; j < n; j++) /* LOOP depth=2 */
            v += w[i * n + j] * x[j];
        y[i] = v;
    }
}

void histogram(int n, const int *j, int *m)
{
    int i;
#pragma omp parallel for private(i) /* LOOP depth=1 near=1 */
    for (i = 0; i < n; i++) {
#pragma omp atomic
        m[j[i]]++;
    }
}

/* The directive has no region of its own and is preceded by a statement. */
void columns(double *a, double *b, int n)
{
    int k, i;
    k = 1;
#pragma omp for /* LOOP depth=1 near=1 */
    for (int j = 0; j < n; j++) {
        for (i = 0; i < n; i++) /* LOOP depth=2 */
            a[j * n + i] -= b[i * n + k];
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
