/* planted: none; false: SerialPart|LoadImbalance; set: a; by: record; before: -O2 -pthread; after: -O2 -pthread. Seventeen threads of different functions on few processors, all of them with work. */
#include <pthread.h>
#include <stdio.h>
#define WORK(n) \
    static void *work##n(void *unused) \
    { \
        double s = n; \
        for (long k = 0; k < 30000000; k++) \
            s = s * 0.5 + k; \
        sums[n] = s; \
        return unused; \
    }
static double sums[17];
WORK(0) WORK(1) WORK(2) WORK(3) WORK(4) WORK(5) WORK(6) WORK(7) WORK(8) WORK(9) WORK(10) WORK(11) WORK(12) WORK(13) WORK(14) WORK(15) WORK(16)
int main(void)
{
    void *(*all[])(void *) = {work0, work1, work2, work3, work4, work5, work6, work7, work8, work9, work10, work11, work12, work13, work14, work15, work16};
    pthread_t threads[17];
    for (int i = 0; i < 17; i++)
        pthread_create(&threads[i], NULL, all[i], NULL);
    for (int i = 0; i < 17; i++)
        pthread_join(threads[i], NULL);
    printf("%g\n", sums[3]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
