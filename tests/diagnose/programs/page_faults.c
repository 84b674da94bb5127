/* planted: PageFaults|MappingMemory; also: Allocation; by: record -e perf::TASK-CLOCK -e perf::PAGE-FAULTS; flags: -O2. Large blocks come and go. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    long sum = 0;
    for (int k = 0; k < 40; k++) {
        size_t n = 40 << 20; /* larger than the allocator keeps */
        volatile char *block = malloc(n);
        for (size_t i = 0; i < n; i += 4096) /* HERE */
            block[i] = (char)k;
        sum += block[4096 * (k % 1000)];
        free((void *)block);
    }
    printf("%ld\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
