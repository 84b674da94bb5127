/* OpenMP: iterations of 1, 2, 3 parts on three threads, and what the first thread does alone before them. */
#include "programs.h"

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    BLOCK(unit);
#pragma omp parallel for num_threads(3) schedule(static, 1)
    for (unsigned long i = 1; i <= 3; i++)
        BLOCK(i * unit);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
