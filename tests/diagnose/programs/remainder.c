/* planted: Remainder|TinyLoop; by: record; flags: -O3 -mavx2. The loop runs seven times: all of it is remainder. */
#include <stdio.h>
static float x[8000], y[8000];
__attribute__((noinline)) static void axpy(float *restrict a, const float *restrict b, int n)
{
    for (int i = 0; i < n; i++) /* HERE */
        a[i] += 0.5f * b[i];
}
int main(void)
{
    for (int k = 0; k < 60000; k++)
        for (int i = 0; i < 1000; i++)
            axpy(x + i * 7, y + i * 7, 7);
    printf("%g\n", x[17]);
    return 0;
}
