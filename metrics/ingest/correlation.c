/* SPDX-License-Identifier: BSD-3-Clause */
/* Data shared by the steps of the join: begun empty, released at the end. */
#include "metrics/ingest/ingest.h"

void correlation_init(struct correlation *c, struct strtab *strings)
{
    *c = (struct correlation){.strings = strings};
    *vec_push(&c->places) =
        (struct place){.kind = PLACE_PROGRAM, .parent = PLACE_NONE, .file = SOURCE_NONE, .call_file = SOURCE_NONE};
    *vec_push(&c->ordinals) = 0;
}

void correlate_free_structure(struct module *m)
{
    if (!m->lent)
        scope_tree_free(m->tree);
    m->tree = NULL;
    quality_free(m->quality);
    quality_listing_free(m->listing);
    m->quality = NULL;
    m->listing = NULL;
}

void correlation_release(struct correlation *c)
{
    for (size_t i = 0; i < c->modules.count; i++) {
        correlate_free_structure(&c->modules.items[i]);
        mem_free(c->modules.items[i].why);
        mem_free(c->modules.items[i].built);
    }
    vec_release(&c->modules);
    vec_release(&c->uses);
    vec_release(&c->sites);
    vec_release(&c->calls);
    vec_release(&c->with_paths);
    for (size_t i = 0; i < c->cells.count; i++)
        vec_release(&c->cells.items[i]);
    vec_release(&c->cells);
    vec_release(&c->loop_counts);
    hashmap_release(&c->loop_at);
    table_list_release(&c->tables);
    vec_release(&c->places);
    vec_release(&c->files);
    vec_release(&c->file_module);
    vec_release(&c->file_known);
    mem_free(c->site_place);
    mem_free(c->site_state);
    mem_free(c->site_weight);
    mem_free(c->site_samples);
    mem_free(c->call_node);
    mem_free(c->site_in_mpi);
    mem_free(c->call_in_mpi);
    mem_free(c->file_rank);
    hashmap_release(&c->listed);
    row_index_release(&c->module_index);
    row_index_release(&c->site_index);
    row_index_release(&c->call_index);
    row_index_release(&c->place_index);
    vec_release(&c->ordinals);
    hashmap_release(&c->file_index);
}

const char *correlate_module_name(const struct correlation *c, uint32_t module)
{
    const struct module *m = &c->modules.items[module];
    const char *path = strtab_get(c->strings, m->role ? m->role : m->path);
    return m->role ? path : module_base_name(path);
}

struct identity metrics_identity_of(const struct place *p, uint32_t ordinal)
{
    bool by_line = p->kind == PLACE_LINE || p->kind == PLACE_LOOP;
    return (struct identity){p->parent,    p->kind,      p->full_name, p->file,     by_line ? p->line_first : 0,
                             p->call_file, p->call_line, p->on_line,   p->instance, ordinal};
}
