/* Threads with work of 1, 2, 3 parts: pthreads, or OpenMP by the second argument. They share one processor in turn. */
#include "programs.h"

#include <pthread.h>
#include <string.h>

static unsigned long unit;

__attribute__((noinline, noclone)) static void work(unsigned long parts)
{
    BLOCK(parts * unit);
    __asm__ volatile("");
}

static void *run(void *parts)
{
    work((unsigned long)parts);
    return NULL;
}

static void by_openmp(void)
{
#pragma omp parallel for num_threads(3) schedule(static, 1)
    for (unsigned long i = 1; i <= 3; i++)
        work(i);
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    unit = unit_of(argc, argv);
    if (argc > 2 && strcmp(argv[2], "openmp") == 0) {
        by_openmp();
        return 0;
    }
    for (unsigned long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
