/* planted: SlowRank; also: Chains|LoopCheck; by: ranks; flags: -O2. The third of four ranks has three times as much to do. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    double x = 1;
    long n = rank && atoi(rank) == 2 ? 300000000 : 100000000;
    for (long i = 0; i < n; i++) /* HERE */
        x = x * 0.999999 + 1e-7;
    printf("%g\n", x);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
