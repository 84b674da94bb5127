/* Teams that do not end as they began: odd_openmp nested | cancel. OMP_CANCELLATION=true for the second. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static void inner(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier /* INNER */
    }
}

static void nested(void)
{
    omp_set_max_active_levels(2);
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2)
        {
            inner();
#pragma omp barrier /* OUTER */
        }
    }
}

static void cancelled(void)
{
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
            }
#pragma omp barrier /* CANCELLED */
        }
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier /* AFTER */
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "nested") == 0)
        nested();
    else
        cancelled();
    puts("done");
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
