/* planted: PageFaults|MappingMemory|Allocation|Copying; set: a; before: -O2; after: -O2 -DAFTER. A block of 4 MiB is allocated, filled and freed in each iteration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIZE = 4 << 20 };
__attribute__((noinline)) static long fill(char *keep, int r)
{
    char *block = keep ? keep : malloc(SIZE);
    memset(block, r, SIZE);
    long v = block[r * 977 % SIZE];
    if (!keep)
        free(block);
    return v;
}
int main(void)
{
    long sum = 0;
#ifdef AFTER
    char *keep = malloc(SIZE);
#else
    char *keep = NULL;
#endif
    for (int r = 0; r < 2000; r++)
        sum += fill(keep, r);
    printf("%ld\n", sum);
}
/* SPDX-License-Identifier: BSD-3-Clause */
