/* SPDX-License-Identifier: BSD-3-Clause */
/* A fully associative LRU cache of a cache's size, for distinguishing conflict from capacity misses: nodes in a list
   by age, and chains by hash. */
#ifndef MHSIM_ENGINE_FULLY_ASSOC_H
#define MHSIM_ENGINE_FULLY_ASSOC_H

#include <stdbool.h>
#include <stdint.h>

struct fully_assoc {
    struct fully_assoc_node {
        uint64_t block;
        uint32_t older, newer, chain;
    } * nodes;
    uint32_t *heads;
    uint32_t capacity, count, oldest, newest, mask;
};

bool fully_assoc_open(struct fully_assoc *, uint64_t blocks); /* false: no memory */
void fully_assoc_close(struct fully_assoc *);
/* Whether it has the block; it has it afterwards. */
bool fully_assoc_touch(struct fully_assoc *, uint64_t block);

#endif
