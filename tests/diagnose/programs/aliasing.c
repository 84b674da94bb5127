/* planted: Versions; by: record; flags: -O3. The arrays may overlap: the compiler makes a loop for each case. */
#include <stdio.h>
static float a[4096], b[4096], c[4096];
__attribute__((noipa)) static void add(float *x, float *y, float *z, int n)
{
    for (int i = 0; i < n; i++) /* HERE */
        x[i] = y[i] + z[i];
}
int main(void)
{
    for (int k = 0; k < 300000; k++)
        add(a, a + 1, c, 4000);
    printf("%g\n", a[17] + b[3]);
    return 0;
}
