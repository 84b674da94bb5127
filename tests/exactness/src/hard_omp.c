/* OpenMP: the directive is far from the first statement, or another one is in between. */
extern int work(int);

void declarations(double *a, const int *list, int n)
{
#pragma omp parallel for /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++) {
        double part[3];
        int first;
        int second;

        /* the runtime is called before the first statement */

        first = work(list[i]);
        second = work(first);
        part[0] = first;
        part[1] = second;
        part[2] = a[i];
        for (int k = 0; k < second; k++) /* LOOP depth=2 */
            part[k % 3] += work(k);
        a[i] = part[0] + part[1] + part[2];
    }
}

void orphaned(double *a, int n)
{
#pragma omp for /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) /* LOOP depth=2 */
            a[i * n + j] += work(j);
}

/* The program itself queries the number of threads. */
extern int omp_get_num_threads(void);
void repeated(double *a, int n, int rounds)
{
    int count = 0;
    work(omp_get_num_threads());
    do {                            /* LOOP depth=1 near=1 */
        for (int i = 0; i < n; i++) /* LOOP depth=2 */
            a[i] += work(i);
        count++;
    } while (count < rounds);
}

/* A loop that requests chunks encloses the source's loop: LOOP depth=2 near=5, on the same line. */
void by_parts(double *a, const int *list, int n)
{

#pragma omp parallel for schedule(dynamic, 4) /* LOOP depth=1 near=1 */
    for (int i = 0; i < n; i++) {
        double part[2];

        /* no control code in here has a line of its own */

        part[0] = work(list[i]);
        part[1] = work(i);
        a[i] = part[0] + part[1];
    }
}

/* The bounds are computed before the runtime is called. */
extern int last;
void bounds_first(double *a)
{
    for (int k = 0; k < last; k++) { /* LOOP depth=1 */
#pragma omp for nowait               /* LOOP depth=2 near=1 */
        for (int j = k + 1; j < last; j++)
            if (a[j] > 0)
                a[j] += work(k);
    }
}

/* One runtime call for both loops: the code before the first loop does not belong to the second. */
void one_question(double *a, double *b, int n)
{
#pragma omp parallel /* LOOP depth=1 near=3 */
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            int part = work(i);
            a[i] = part;
        }
#pragma omp for nowait /* LOOP depth=1 near=2 */
        for (int i = 0; i < n; i++) {
            int part = work(-i);
            b[i] = part;
        }
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
