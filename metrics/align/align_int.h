/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that match places of several runs; align_runs.c explains the method. */
#ifndef METRICS_ALIGN_INT_H
#define METRICS_ALIGN_INT_H

#include "metrics/align/align.h"

struct position {
    uint32_t file, line;
    bool matched; /* it is in the latest version */
};

struct version { /* of a file in the debug information of one build or several */
    uint64_t runs;
    uint32_t tree;   /* the file's first version: they are in one set */
    uint32_t latest; /* the version that its lines are shown in */
    bool by_text;    /* it differs from the latest in text, and `lines` says how */
    uint32_t *lines; /* metrics_line_diff; NULL: equal */
    size_t line_count;
};

struct matcher {
    struct correlation *c;
    struct warnings *warnings;
    struct version *files;
    uint64_t *place_runs;     /* by old place: runs whose builds have it. Run 63 stands for all after it, too */
    struct row_index extents; /* old PROC and INLINE places by file and name: where functions are */
    int32_t *votes;           /* by old PROC or INLINE place: lines that say that it has moved, less those against */
    struct VEC(struct procedure) procedures; /* distinct ones, of all builds */
    uint32_t *procedure_of;                  /* by old PROC place: of these */
    uint32_t *loops, *loop_first;            /* old loops of old place p: loops[loop_first[p] .. loop_first[p + 1]) */
    /* the new places, and for each */
    struct VEC(struct place) places;
    struct VEC(struct made) made;
    struct row_index index;
    place_ix *new_of;
    uint32_t moved_file; /* the first file whose procedures have moved, without its text; SOURCE_NONE: none */
};

struct procedure {
    struct identity key, origin; /* origin: the procedure that it is a clone of */
    uint64_t runs;
    uint32_t as; /* the one that it is another clone of, in other runs; or itself */
};

struct made {
    struct identity key;
    uint64_t runs;
    place_ix first_loop, next_loop; /* first child; next sibling */
    bool latest;                    /* as the latest version has it */
};

struct align_key { /* the key searched for */
    const struct matcher *m;
    struct identity key;
};

/* align_files.c */
/* By place and file, the runs whose builds have it. */
void align_find_runs(struct matcher *m);
/* Lent. */
const char *align_path(const struct matcher *m, uint32_t file);
/* Files that are one, and how the lines of older ones have moved. */
void align_find_versions(struct matcher *m);

/* align_lines.c */
/* The full name of the innermost function that the place is in. */
uint32_t align_function_around(const struct matcher *m, place_ix i);
/* Positions of functions, and by how far the others have moved. */
void align_find_functions(struct matcher *m);
void align_count_votes(struct matcher *m);
/* A line's place now; `name`: of the function that it is in. */
struct position align_position(struct matcher *m, uint32_t file, uint32_t line, uint32_t name);
/* The lines first..last without deleted ones; false: all are deleted. */
bool align_move_lines(struct matcher *m, struct place *p, uint32_t name);

/* align_places.c */
/* ROW_NONE: none. */
place_ix align_find(const struct matcher *m, const struct identity *key);
/* The place in terms of the latest version, as far as it exists there; the key that distinguishes it from others. */
struct identity align_bring_forward(struct matcher *m, place_ix i, struct place *p);
/* The old place as a new one, or as another build of the new one `made`. */
void align_make(struct matcher *m, place_ix i, const struct place *p, const struct identity *key);
void align_join(struct matcher *m, place_ix i, const struct place *p, place_ix made);
/* Makes it, or joins the one that is the same. */
void align_put(struct matcher *m, place_ix i);

/* align_clones.c */
/* Lists all procedures, and finds clones of one in several builds. */
void align_clones(struct matcher *m);

/* align_loops.c */
/* All loops of a place together: those that begin at the same line have precedence. */
void align_loops(struct matcher *m, place_ix parent);
/* By place, the loops directly in it. */
void align_list_loops(struct matcher *m);

#endif
