/*
 * Every path of a measurement that has samples, one a line: samples, then the contexts from the outermost on, as
 * MODULE+ADDRESS separated by blanks.
 */
#include "hpcprof/hpcprof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_path(const struct hpcprof *p, uint32_t context)
{
    struct VEC(uint32_t) chain = {0};
    for (uint32_t c = context; c != HPCPROF_NO_PARENT; c = p->contexts[c].parent)
        *vec_push(&chain) = c;
    for (size_t i = chain.count; i-- > 0;) {
        const struct hpcprof_context *c = &p->contexts[chain.items[i]];
        printf(" %s+%" PRIx64, path_base(strtab_get(p->strings, p->modules[c->module].path)), c->address);
    }
    vec_release(&chain);
}

int main(int argc, char **argv)
{
    struct warnings *w = warnings_create();
    struct hpcprof *p;
    struct err err;
    if (argc != 2 || hpcprof_read(argv[1], &p, w, &err) < 0) {
        fprintf(stderr, "%s\n", argc == 2 ? err.msg : "dump MEASUREMENT");
        return 2;
    }
    uint64_t *samples = mem_calloc(p->context_count + 1, sizeof *samples);
    for (size_t i = 0; i < p->count_count; i++)
        samples[p->counts[i].context] += p->counts[i].samples;
    for (uint32_t i = 0; i < p->context_count; i++)
        if (samples[i]) {
            printf("%" PRIu64, samples[i]);
            print_path(p, i);
            printf("\n");
        }
    mem_free(samples);
    hpcprof_free(p);
    warnings_free(w);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
