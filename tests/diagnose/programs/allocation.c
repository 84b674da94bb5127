/* planted: Allocation; also: CallsInLoop; by: record; flags: -O2. A block is allocated in each iteration. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 8000000; i++) {
        int *volatile block = malloc(40 + i % 1600); /* HERE */
        block[0] = i;
        sum += block[0];
        free(block);
    }
    printf("%ld\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
