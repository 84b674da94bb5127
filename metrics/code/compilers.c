/* SPDX-License-Identifier: BSD-3-Clause */
/* By which compilers, with which options, the code was made that was sampled most: DW_AT_producer of its units. */
#include "metrics/code/code.h"

#define MOST_PROCEDURES 24 /* that are asked for how they were compiled: those with most samples */
#define MOST_COMPILERS  3  /* that are named */

char *compilers_of_sampled(struct bloop_binary *binary, struct scope_tree *tree, const struct sampled *sampled,
                           struct warnings *warnings)
{
    struct sampled_procedures procedures = {0};
    char *found[MOST_COMPILERS];
    size_t n = 0;
    struct buf text = {0};
    instructions_choose(tree, sampled, &procedures);
    for (size_t i = 0; i < procedures.count && i < MOST_PROCEDURES && n < MOST_COMPILERS; i++) {
        uint16_t language;
        char *producer = bloop_producer(binary, tree->scopes[procedures.items[i]].entry, &language, warnings);
        if (producer && *producer && str_index(producer, (const char *const *)found, n) == n)
            found[n++] = producer;
        else
            mem_free(producer);
    }
    for (size_t i = 0; i < n; i++) {
        buf_printf(&text, "%s%s", i ? "; " : "", found[i]);
        mem_free(found[i]);
    }
    vec_release(&procedures);
    char *built = n ? mem_strdup(text.bytes) : NULL;
    buf_release(&text);
    return built;
}
