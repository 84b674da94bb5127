/* Several loops on one line, for goldens: they are distinguished by column. */
void one_behind_the_other(int *a, int n)
{
    for (int i = 0; i < n; i++) a[i] = i; for (int j = 0; j < n; j++) a[j] *= 3;
}

void one_in_the_other(int *a, int n)
{
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] += i;
}

void both(int *a, int *b, int n)
{
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] += b[i]; for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) b[l] ^= a[k];
}

#define FILL(v) for (int i = 0; i < n; i++) v[i] = i; for (int j = 0; j < n; j++) v[j] *= 3
void by_a_macro(int *a, int n) /* has one column */
{
    FILL(a);
}

void and_goes_on(int *a, int *b, int n)
{
    for (int i = 0; i < n; i++) a[i] = i; for (int j = 0; j < n; j++) {
        a[j] *= 3;
        b[j] += a[j];
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
