/* OpenMP: threads that a library starts. */
#include "burn.h"

int main(void)
{
#pragma omp parallel num_threads(4)
    burn(100);
    say_burned(400);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
