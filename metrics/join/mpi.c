/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code inside of MPI: anything below a call of MPI_*, PMPI_* or, in a library, mpi_*_ (the C library, a transport, the
 * kernel); and MPI's libraries if there are no paths. Ranks spin there until others arrive, which is not work.
 */
#include "metrics/join/join.h"

static bool is_mpi_call(const char *name, bool in_program)
{
    return str_starts(name, "MPI_") || str_starts(name, "PMPI_") ||
           (!in_program && (str_starts(name, "mpi_") || str_starts(name, "pmpi_")));
}

static bool site_is_mpi(const struct correlation *c, const struct experiment *e, place_ix at, uint32_t module)
{
    const struct module *m = &c->modules.items[module];
    if (columns_module_is_mpi(strtab_get(c->strings, m->path)))
        return true;
    while (at && e->places[at].kind != PLACE_PROC)
        at = e->places[at].parent;
    return at && is_mpi_call(strtab_get(e->strings, e->places[at].name), m->program);
}

void metrics_find_mpi(struct correlation *c, const struct experiment *e, const struct columns *columns,
                      const place_ix *new_of)
{
    bool wanted = false;
    for (size_t i = 0; i < columns->list.count; i++)
        wanted = wanted || columns->list.items[i].outside_mpi;
    if (!wanted)
        return;
    c->site_in_mpi = mem_calloc(c->sites.count + 1, sizeof *c->site_in_mpi);
    c->call_in_mpi = mem_calloc(c->calls.count + 1, sizeof *c->call_in_mpi);
    for (size_t i = 0; i < c->sites.count; i++)
        c->site_in_mpi[i] = site_is_mpi(c, e, new_of[c->site_place[i]], c->sites.items[i].module);
    for (size_t i = 0; i < c->calls.count; i++) { /* callers come first */
        const struct sampled_call *call = &c->calls.items[i];
        c->call_in_mpi[i] = c->site_in_mpi[call->site] || (call->parent != CALL_NONE && c->call_in_mpi[call->parent]);
    }
}

bool metrics_in_mpi(const struct correlation *c, uint32_t site, uint32_t call)
{
    return c->site_in_mpi && (call == CALL_NONE ? c->site_in_mpi[site] : c->call_in_mpi[call]);
}
