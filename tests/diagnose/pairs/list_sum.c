/* planted: ListWalk|Chains; false: Reduction; set: a; before: -O2; after: -O2 -DAFTER. A list's sum: the next pointer is as long a chain as the sum. */
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; double value; };
enum { N = 1 << 20, ROUNDS = 3 };
__attribute__((noinline)) static double sum(const struct node *n, const double *flat)
{
    double total = 0;
#ifdef AFTER
    (void)n;
    for (int i = 0; i < N; i++)
        total += flat[i];
#else
    (void)flat;
    for (; n; n = n->next)
        total += n->value;
#endif
    return total;
}
int main(void)
{
    struct node *nodes = malloc(N * sizeof *nodes);
    double *flat = malloc(N * sizeof *flat), total = 0;
    unsigned *order = malloc(N * sizeof *order), seed = 1;
    for (unsigned i = 0; i < N; i++)
        order[i] = i;
    for (unsigned i = N - 1; i; i--) {
        seed = seed * 1664525 + 1013904223;
        unsigned j = seed % (i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    for (unsigned i = 0; i < N; i++) {
        flat[i] = nodes[order[i]].value = i;
        nodes[order[i]].next = i + 1 < N ? &nodes[order[i + 1]] : NULL;
    }
    for (int r = 0; r < ROUNDS; r++)
        total += sum(&nodes[order[0]], flat);
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
