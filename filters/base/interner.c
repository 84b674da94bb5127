/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that come again and again. */
#include "filters/base/interner.h"

static bool equal(const struct interner_key *x, const struct interner_key *y)
{
    return x->b[0] == y->b[0] && x->b[1] == y->b[1] && memcmp(x->a, y->a, sizeof x->a) == 0;
}

struct wanted {
    const struct interner *keys;
    const struct interner_key *key;
};

static bool is_wanted(const void *ctx, uint32_t row)
{
    const struct wanted *w = ctx;
    return equal(&w->keys->rows.items[row].key, w->key);
}

static uint32_t look_up(struct interner *k, const struct interner_key *key)
{
    uint64_t hash = hash_near(key->b[0], key->b[1], hash_bytes(key->a, sizeof key->a, 0));
    uint32_t row = row_index_find(&k->index, hash, is_wanted, &(struct wanted){k, key});
    if (row != ROW_NONE)
        return row;
    row = (uint32_t)k->rows.count;
    *vec_push(&k->rows) = (struct interner_row){*key, ROW_NONE};
    row_index_add(&k->index, hash, row);
    return row;
}

uint32_t interner_row(struct interner *k, const struct interner_key *key)
{
    if (k->rows.count == 0)
        return k->last = look_up(k, key);
    uint32_t next = k->rows.items[k->last].next;
    if (next == ROW_NONE || !equal(&k->rows.items[next].key, key)) {
        next = look_up(k, key);
        k->rows.items[k->last].next = next;
    }
    return k->last = next;
}

void interner_release(struct interner *k)
{
    vec_release(&k->rows);
    row_index_release(&k->index);
}
