/* SPDX-License-Identifier: BSD-3-Clause */
/* How often loops went round, where a measurement counted that: by module and address of their first instruction. */
#include "metrics/ingest/ingest.h"

static uint64_t loop_key(const struct correlation *c, uint32_t module, vaddr address)
{
    uint64_t key[] = {c->modules.items[module].lines_in, address};
    return hash_bytes(key, sizeof key, 0);
}

void correlate_loop_counts(struct correlation *c)
{
    for (uint32_t i = 0; i < c->loop_counts.count; i++) {
        struct loop_count *n = &c->loop_counts.items[i];
        const struct site *s = &c->sites.items[i];
        if (s->by_line || n->entries <= 0)
            continue;
        uint32_t first = hashmap_get(&c->loop_at, loop_key(c, s->module, s->address));
        if (first == HASHMAP_NONE) {
            *hashmap_put(&c->loop_at, loop_key(c, s->module, s->address)) = i;
            continue;
        }
        c->loop_counts.items[first].iterations += n->iterations;
        c->loop_counts.items[first].entries += n->entries;
    }
}

double correlate_trips(const struct correlation *c, uint32_t module, vaddr header)
{
    uint32_t at = hashmap_get(&c->loop_at, loop_key(c, module, header));
    return at == HASHMAP_NONE ? 0 : c->loop_counts.items[at].iterations / c->loop_counts.items[at].entries;
}
