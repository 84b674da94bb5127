/* OpenMP: the loops of a region are in the procedure the compiler cuts out; depth is counted in that one. Such a loop begins with
   its directive. */
extern int work(int);
extern void use(int);

void parallel_for(double *a, int n)
{
#pragma omp parallel for /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++)
        a[i] = work(i);
}

void nest(double *a, int n, int m)
{
#pragma omp parallel for /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) /* LOOP depth=2 */
            a[i * m + j] = work(j);
}

double reduce(const double *a, int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s) /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++)
        s += a[i] * work(i);
    return s;
}

void region(double *a, int n, int steps)
{
#pragma omp parallel
    for (int s = 0; s < steps; s++) { /* LOOP depth=1 */
#pragma omp for /* LOOP depth=2 near=1 */
        for (int i = 0; i < n; i++)
            a[i] += work(s);
    }
}

void in_serial_loop(double *a, int n, int steps)
{
    for (int s = 0; s < steps; s++) { /* LOOP depth=1 */
#pragma omp parallel for /* LOOP depth=1 near=1 */
        for (int i = 0; i < n; i++)
            a[i] += work(i);
    }
}

void simd(float *restrict a, const float *restrict b, int n)
{
#pragma omp simd /* LOOP depth=1 near=2: gcc gives the control of such a loop no line */
    for (int i = 0; i < n; i++)
        a[i] = a[i] * b[i] + 1;
}
/* SPDX-License-Identifier: BSD-3-Clause */
