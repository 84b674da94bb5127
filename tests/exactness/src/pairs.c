/* Vector bodies without arithmetic: numbers are only moved. See loops.c for the marks. */
struct pair {
    int first, second;
};

void zip(struct pair *restrict to, const int *restrict first, const int *restrict second, long n)
{
    for (long i = 0; i < n; i++) /* LOOP depth=1 */
        to[i] = (struct pair){first[i], second[i]};
}

/* The first loop is completely unrolled: its marks precede the second loop, and are further left than all of it. */
void planes(unsigned long *data, const unsigned char *bytes, unsigned least)
{
    unsigned i, k, n;
    unsigned long x;
    for (i = 0; i < 4; i++)
        data[i] = 0;

    /* from the highest */
    for (k = 64, n = 0; k-- > least;) {
        x = bytes[n];
        for (; n < 4 && bytes[n]; n++)
            x += (unsigned long)1 << n;
        for (i = 0; x; i++, x >>= 1)
            data[i] += (x & 1u) << k;
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
