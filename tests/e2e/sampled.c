/*
 * sampled MEASUREMENTS - the sum of samples times period of the first sampled event, from the raw counts: the expected
 * value at the root of its column.
 */
#include "hpcprof/hpcprof.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct hpcprof *p;
    struct err err = {0};
    if (argc != 2 || hpcprof_read(argv[1], &p, NULL, &err) < 0) {
        fprintf(stderr, "sampled: %s\n", argc == 2 ? err.msg : "usage: sampled MEASUREMENTS");
        return 1;
    }
    size_t event = 0;
    while (event < p->event_count && (p->events[event].period == 0 || p->events[event].flags & HPCPROF_LOST))
        event++;
    uint64_t sum = 0;
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].event == event) {
            if (!(p->events[event].flags & HPCPROF_FREQUENCY) &&
                p->counts[i].value != p->counts[i].samples * p->events[event].period) {
                fprintf(stderr, "sampled: a count is not samples times period\n");
                return 1;
            }
            sum += p->counts[i].value;
        }
    printf("%llu\n", (unsigned long long)sum);
    hpcprof_free(p);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
