/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the formats: the chosen metrics, exclusive values of nodes, and stacks of frames. */
#ifndef EXPORT_INT_H
#define EXPORT_INT_H

#include "export/export.h"

struct exported {
    const struct experiment *e;
    size_t tree, node_count;
    size_t *metrics, metric_count;
    double **own; /* by metric and node: the inclusive value without the children's; NaN: none */
    const char *generator;
    bool no_loops; /* in stacks */
};

const char *export_metric_name(const struct exported *, size_t metric);
const char *export_text(const struct exported *, str_id);
/* "procedure", "loop", ... */
const char *export_kind_word(enum place_kind);
/* The name of a place without its surroundings: "main", "loop at a.c:5", "a.c:7". */
void export_place_name(const struct exported *, place_ix, struct buf *);
/* A node's exclusive value, as an integer for formats without fractions. */
uint64_t export_count(const struct exported *, size_t metric, uint32_t node);
bool export_has_own(const struct exported *, uint32_t node);
double export_total(const struct exported *, size_t metric);
/* The file's displayed name, "" if there is none. */
const char *export_file(const struct exported *, uint32_t file);

struct export_children { /* of each node the first child, and the next one of the same parent; NODE_NONE: none */
    uint32_t *first, *next;
};
struct export_children export_children(const struct exported *); /* mem_free both */

struct frame {
    place_ix place; /* a procedure, inlined call or loop; else what there is */
    uint32_t line;  /* where in it the next frame, or the cost, is; 0: unknown */
    uint32_t file;
};
struct frames VEC(struct frame);
/* The frames of a node, the innermost first. Lines belong to the frame around them; program, module and file are not
   frames, unless there are no others. */
void export_frames(const struct exported *, uint32_t node, struct frames *);

int export_csv(const struct exported *, struct outfile *, struct err *);
int export_json(const struct exported *, struct outfile *, struct err *);
int export_hatchet(const struct exported *, struct outfile *, struct err *);
int export_folded(const struct exported *, struct outfile *, struct err *);
int export_speedscope(const struct exported *, struct outfile *, struct err *);
int export_pprof(const struct exported *, struct outfile *, struct err *);
int export_callgrind(const struct exported *, struct outfile *, struct err *);
int export_profile(const struct exported *, struct outfile *, struct err *);

#endif
