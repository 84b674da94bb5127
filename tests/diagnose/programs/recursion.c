/* planted: Recursion; by: record; flags: -O1 -fno-inline -fno-optimize-sibling-calls. */
#include <stdio.h>
static long fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); /* HERE */
}
int main(void)
{
    printf("%ld\n", fibonacci(40));
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
