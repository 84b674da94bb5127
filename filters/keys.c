/* Keys that come again and again. */
#include "filters/keys.h"

static bool equal(const struct key *x, const struct key *y)
{
    return x->b[0] == y->b[0] && x->b[1] == y->b[1] && memcmp(x->a, y->a, sizeof x->a) == 0;
}

static uint32_t look_up(struct keys *k, const struct key *key)
{
    uint32_t *slot = hashmap_put(&k->index, hash_bytes(key, sizeof *key, 0));
    for (uint32_t i = *slot; i != HASHMAP_NONE; i = k->rows.items[i].same_hash)
        if (equal(&k->rows.items[i].key, key))
            return i;
    *vec_push(&k->rows) = (struct key_row){*key, *slot, HASHMAP_NONE};
    return *slot = (uint32_t)k->rows.count - 1;
}

uint32_t keys_row(struct keys *k, const struct key *key)
{
    if (k->rows.count == 0)
        return k->last = look_up(k, key);
    uint32_t next = k->rows.items[k->last].next;
    if (next == HASHMAP_NONE || !equal(&k->rows.items[next].key, key)) {
        next = look_up(k, key);
        k->rows.items[k->last].next = next;
    }
    return k->last = next;
}

void keys_release(struct keys *k)
{
    vec_release(&k->rows);
    hashmap_release(&k->index);
}
