/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of calls. */
#include "filters/base/call_edges.h"

int call_edges_declare(struct hpcprof *into, struct table **table, struct err *err)
{
    static const struct table_column columns[] = {
        {.name = "caller", .title = "called at", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
        {.name = "callee", .title = "function", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
        {.name = "calls", .type = TABLE_COUNT, .merge = TABLE_SUM},
        {.name = "cost",
         .title = "inclusive cost",
         .type = TABLE_COUNT,
         .merge = TABLE_SUM,
         .description = "Inclusive cost of the calls in the first event of the file, usually Ir."},
    };
    static const struct table_decl decl = {
        "call_edges", "Calls", "Calls by caller and callee, with their number and cost.", columns, ARRAY_SIZE(columns)};
    return table_list_declare(&into->tables, &decl, into->strings, table, err);
}

void call_edges_add(struct table *t, const struct call_edge *e)
{
    table_add(t, (union table_cell[]){{.row = e->caller}, {.row = e->callee}, {.count = e->calls}, {.count = e->cost}});
}
