/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the public interface: bloop.c chooses functions, work.c makes the scopes of each, join.c makes one
   tree of them. */
#ifndef BLOOP_BINARY_H
#define BLOOP_BINARY_H

#include "bloop/assemble/assemble.h"

#include <stdatomic.h>

struct bloop_binary {
    struct image *image;
    struct function_table *functions;
    const struct arch *arch;
    char *path;
    struct bloop_options options;
    struct VEC(struct debug *) readers; /* of debug information, one per thread; made when first needed */
    atomic_bool no_debug_info;
    bool debug_entries_known;
    bool gaps_filled;  /* all of them; else the ones requested */
    uint8_t *noreturn; /* by name only, for work on demand; by closure once the whole binary was asked for */
    bool noreturn_whole;
    struct hashmap prepared;     /* by where it begins: functions of which all is known that work on them needs */
    struct function_index index; /* of the table as it is while functions are worked on */
    struct bloop_stats stats;
};

struct target_list VEC(uint32_t); /* functions, by index, ascending */

typedef struct VEC(str_id) id_map; /* a chunk's string ids to the tree's; UINT32_MAX: not met yet */

struct counted { /* facts found about one function */
    vaddr begin;
    struct bloop_stats stats;
    bool too_deep; /* some of its scopes joined what is around them */
};

struct code_chunk {
    size_t first, end; /* into job.targets */
    struct function_scopes scopes;
    struct vaddr_list calls; /* out of the functions, for the search for more of them */
    struct noreturn_notes notes;
    id_map map; /* while chunks are joined */
};

struct chunk_list { /* a vector of chunks, and in one more piece, freed before they are joined, the counts */
    struct code_chunk *items;
    size_t count, capacity;
    struct VEC(struct counted) counted; /* as the targets of one run after the other */
};

/* work.c */
enum run_mode { RUN_WANTED, RUN_ALL, RUN_ALL_AND_NOTE };
/* Makes the scopes of the targets and appends their chunks. */
void bloop_run(struct bloop_binary *, const struct target_list *, enum run_mode, struct chunk_list *,
               struct warnings *);
void bloop_release_chunks(struct chunk_list *);
void bloop_make_graph(const struct bloop_binary *, uint32_t function, struct vaddr_list *calls, struct cfg *,
                      struct loop_forest *);
/* Is this an address where no function begins? */
bool bloop_is_news(const struct function_table *, vaddr called);
/* Debug information, for the thread of that number; NULL: there is none. */
struct debug *bloop_reader(struct bloop_binary *, size_t thread, struct warnings *);

/* join.c */
int bloop_join(const struct bloop_binary *, struct chunk_list *, struct scope_tree **, struct warnings *, struct err *);

#endif
