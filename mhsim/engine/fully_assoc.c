/* SPDX-License-Identifier: BSD-3-Clause */
/* The fully associative cache of the same size. */
#include "config.h"
#include "mhsim/engine/fully_assoc.h"
#include "mhsim/engine/mmap_store.h"

#include <string.h>

#define NO_NODE UINT32_MAX

bool fully_assoc_open(struct fully_assoc *f, uint64_t blocks)
{
    f->capacity = (uint32_t)blocks;
    f->mask = (2u << (63 - __builtin_clzll(blocks))) - 1;
    f->nodes = pages_get(blocks * sizeof *f->nodes);
    f->heads = pages_get((f->mask + 1ull) * sizeof *f->heads);
    f->oldest = f->newest = NO_NODE;
    if (!f->nodes || !f->heads)
        return false;
    memset(f->heads, 0xff, (f->mask + 1ull) * sizeof *f->heads);
    return true;
}

void fully_assoc_close(struct fully_assoc *f)
{
    pages_put(f->nodes, f->capacity * sizeof *f->nodes);
    pages_put(f->heads, (f->mask + 1ull) * sizeof *f->heads);
}

static void fully_assoc_unlink(struct fully_assoc *f, uint32_t i)
{
    struct fully_assoc_node *n = &f->nodes[i];
    *(n->older == NO_NODE ? &f->oldest : &f->nodes[n->older].newer) = n->newer;
    *(n->newer == NO_NODE ? &f->newest : &f->nodes[n->newer].older) = n->older;
}

static void fully_assoc_append(struct fully_assoc *f, uint32_t i)
{
    f->nodes[i].older = f->newest;
    f->nodes[i].newer = NO_NODE;
    *(f->newest == NO_NODE ? &f->oldest : &f->nodes[f->newest].newer) = i;
    f->newest = i;
}

static uint32_t *fully_assoc_chain(struct fully_assoc *f, uint64_t block)
{
    uint32_t *at = &f->heads[map_hash(block) & f->mask];
    while (*at != NO_NODE && f->nodes[*at].block != block)
        at = &f->nodes[*at].chain;
    return at;
}

bool fully_assoc_touch(struct fully_assoc *f, uint64_t block)
{
    uint32_t i = *fully_assoc_chain(f, block);
    if (i != NO_NODE) {
        fully_assoc_unlink(f, i);
        fully_assoc_append(f, i);
        return true;
    }
    if (f->count < f->capacity) {
        i = f->count++;
    } else {
        i = f->oldest;
        fully_assoc_unlink(f, i);
        *fully_assoc_chain(f, f->nodes[i].block) = f->nodes[i].chain;
    }
    f->nodes[i].block = block;
    f->nodes[i].chain = f->heads[map_hash(block) & f->mask];
    f->heads[map_hash(block) & f->mask] = i;
    fully_assoc_append(f, i);
    return false;
}
