/* Shared by the programs of the counters' tests. A block is a loop of exactly two instructions with a given trip count,
   in assembly, so that the number of instructions of each procedure, line and call path is known in advance. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>

#define INSTRUCTIONS_A_ROUND 2

/* 2 n instructions, attributed to the line of its use */
#define BLOCK(n)                                                                                                       \
    do {                                                                                                               \
        unsigned long block_rounds = (n);                                                                              \
        __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(block_rounds) : : "cc");                               \
    } while (0)

/* The first argument: how many thousand rounds a share of one is. */
static inline unsigned long unit_of(int argc, char **argv)
{
    return 1000ul * (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000);
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
