/* A library for reload.c: compiled twice, with different NAMEs. */
static volatile double sink;

void NAME(long n);
void NAME(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 1.0000001 + 0.5;
    sink = x;
}
/* SPDX-License-Identifier: BSD-3-Clause */
