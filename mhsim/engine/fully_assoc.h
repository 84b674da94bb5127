/* The fully associative LRU level of a cache's size, for telling conflict misses from those of capacity: nodes in a list by
   age, and chains by hash. */
#ifndef MHSIM_ENGINE_FULLY_ASSOC_H
#define MHSIM_ENGINE_FULLY_ASSOC_H

#include <stdbool.h>
#include <stdint.h>

struct full {
    struct full_node {
        uint64_t block;
        uint32_t older, newer, chain;
    } * nodes;
    uint32_t *heads;
    uint32_t capacity, count, oldest, newest, mask;
};

bool fully_assoc_open(struct full *, uint64_t blocks); /* false: no memory */
void fully_assoc_close(struct full *);
/* Whether it has the block; it has it afterwards. */
bool fully_assoc_touch(struct full *, uint64_t block);

#endif
