/* OpenMP tasks that make tasks: run by whichever thread of the team comes by. */
#include "known.h"

FUNCTION void leaf_task(void)
{
    ENTER();
    work(5);
    LEAVE();
}
FUNCTION void branch_task(int n)
{
    ENTER();
    if (n == 0)
        leaf_task();
    else
        for (int i = 0; i < 2; i++) {
#pragma omp task
            branch_task(n - 1);
        }
    LEAVE();
}

int main(void)
{
    ENTER();
#pragma omp parallel num_threads(2)
#pragma omp single
    branch_task(6);
    LEAVE();
    known_report();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
