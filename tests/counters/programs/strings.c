/* The C library's part: copying, comparing, sorting. */
#include "programs.h"

#include <string.h>

enum { N = 2000 };
static char from[16 * N], to[16 * N];
static int numbers[N];

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    unsigned seed = 1;
    int differ = 0;
    for (unsigned long i = 0; i < unit / 60000; i++) {
        for (int n = 0; n < N; n++)
            numbers[n] = (int)((seed = seed * 1103515245u + 12345u) >> 8);
        qsort(numbers, N, sizeof numbers[0], compare);
        memcpy(to, from, sizeof to);
        differ |= memcmp(from, to, sizeof to);
    }
    return differ;
}
/* SPDX-License-Identifier: BSD-3-Clause */
