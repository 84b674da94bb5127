/* planted: HashChains|ListWalk|Chains|CacheMisses; at: look_up; set: b; before: -O2; after: -O2 -DAFTER. A hash table with far too few buckets. */
#include <stdio.h>
#include <stdlib.h>
struct entry { struct entry *next; unsigned key; int value; };
#ifdef AFTER
enum { BUCKETS = 1 << 17 };
#else
enum { BUCKETS = 1 << 10 };
#endif
static struct entry *heads[1 << 17];
__attribute__((noinline)) static int look_up(unsigned key)
{
    for (struct entry *e = heads[key * 2654435761u >> 12 & (BUCKETS - 1)]; e; e = e->next)
        if (e->key == key)
            return e->value;
    return 0;
}
int main(void)
{
    long total = 0;
    for (unsigned i = 0; i < 100000; i++) {
        struct entry *e = malloc(sizeof *e);
        struct entry **head = &heads[i * 7 * 2654435761u >> 12 & (BUCKETS - 1)];
        *e = (struct entry){*head, i * 7, (int)i};
        *head = e;
    }
    for (unsigned r = 0; r < 150000; r++)
        total += look_up(r % 100000 * 7);
    printf("%ld\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
