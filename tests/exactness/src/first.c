/* gcc -O0 has one place for where `while (1)` and the loop that is its first statement begin. */
void flush_out(int *);

void partition(int *v, int n, int pivot)
{
    int *a = v - 1, *b = v + n, t;
    while (1) { /* LOOP depth=1 near=1 */
        while (*++a < pivot) /* LOOP depth=2 */
            flush_out(a);
        while (*--b > pivot || (*b == pivot && b > v)) /* LOOP depth=2 */
            flush_out(b);
        if (a >= b)
            return;
        t = *a;
        *a = *b;
        *b = t;
    }
}

/* The first has a condition of two parts, and a loop in it. */
int merge(int *v, int n)
{
    for (;;) { /* LOOP depth=1 near=1 */
        while (*v || (v[1] && v[2])) { /* LOOP depth=2 */
            for (int i = 0; i < n; i++) /* LOOP depth=3 */
                v[i] += n;
            flush_out(v);
        }
        v++;
        if (*v == 3)
            break;
    }
    return *v;
}

/* And this is one loop. */
int go_on(int *v)
{
    while (*v) { /* LOOP depth=1 */
        if (*v < 7) {
            v++;
            continue;
        }
        v += 2;
    }
    return *v;
}
/* SPDX-License-Identifier: BSD-3-Clause */
