/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope tree as an outline: procedures with their loops, and the inlined calls that contain loops.
 *
 *     src/heat.f90
 *       heat::solve  40-71  0x1180
 *         loop 52-60  [0x11a0-0x1240)
 *           inlined dot, called at 54
 *             loop 12-14  vector, 1 of 2  [0x11c0-0x11e0)
 */
#include "bloop/scope/scope_int.h"

struct outline {
    const struct scope_tree *tree;
    struct outfile *out;
    uint32_t *depth;
};

/* Inlined calls without a loop inside and statements are left out: an outline shows structure. */
static bool *shown_scopes(const struct scope_tree *t)
{
    bool *shown = mem_calloc(t->scope_count + 1, sizeof *shown);
    for (size_t i = t->scope_count; i-- > 0;) {
        uint8_t kind = t->scopes[i].kind;
        shown[i] = shown[i] || (kind != SCOPE_INLINE && kind != SCOPE_STMT);
        if (shown[i] && t->scopes[i].parent != SCOPE_NONE)
            shown[t->scopes[i].parent] = true;
    }
    return shown;
}

static const char *text(const struct outline *o, str_id id)
{
    return strtab_get(o->tree->strings, id);
}

static void put_lines(struct outline *o, const struct scope *s)
{
    if (s->line_first && s->line_last > s->line_first)
        outfile_printf(o->out, "  %u-%u", s->line_first, s->line_last);
    else if (s->line_first)
        outfile_printf(o->out, "  %u", s->line_first);
}

/* The addresses from first to last; the number of pieces if there are several. */
static void put_extent(struct outline *o, const struct scope *s)
{
    if (!s->range_count)
        return;
    const struct addr_range *ranges = o->tree->ranges + s->range_first;
    outfile_printf(o->out, "  [0x%llx-0x%llx)", (unsigned long long)ranges[0].begin,
                   (unsigned long long)ranges[s->range_count - 1].end);
    if (s->range_count > 1)
        outfile_printf(o->out, " in %u pieces", s->range_count);
}

static void put_foreign_file(struct outline *o, const struct scope *s, str_id file)
{
    const struct scope *parent = &o->tree->scopes[s->parent];
    if (file && file != (parent->kind == SCOPE_FILE ? parent->name : parent->file))
        outfile_printf(o->out, " in %s", text(o, file));
}

static void put_loop(struct outline *o, const struct scope *s)
{
    outfile_printf(o->out, "%s", s->irreducible ? "irreducible loop" : "loop");
    put_lines(o, s);
    put_foreign_file(o, s, s->file);
    if (s->on_line)
        outfile_printf(o->out, "  loop %u of its line", s->on_line);
    if (s->role != LOOP_PLAIN)
        outfile_printf(o->out, "  %s", loop_role_name(s->role));
    if (s->instances > 1)
        outfile_printf(o->out, "  %u of %u", s->instance, s->instances);
    put_extent(o, s);
}

static void put_scope(struct outline *o, const struct scope *s)
{
    switch (s->kind) {
    case SCOPE_MODULE:
        outfile_printf(o->out, "%s", text(o, s->name));
        break;
    case SCOPE_FILE:
        outfile_printf(o->out, "%s", s->name ? text(o, s->name) : "(no source known)");
        break;
    case SCOPE_PROC:
        outfile_printf(o->out, "%s", text(o, s->name));
        put_lines(o, s);
        if (s->outlined && s->origin)
            outfile_printf(o->out, "  outlined from %s", text(o, s->origin));
        put_extent(o, s);
        break;
    case SCOPE_INLINE:
        outfile_printf(o->out, "inlined %s, called at %u", text(o, s->short_name), s->call_line);
        put_foreign_file(o, s, s->file);
        break;
    case SCOPE_LOOP:
        put_loop(o, s);
        break;
    default:
        break;
    }
    outfile_printf(o->out, "\n");
}

void scope_write_outline(const struct scope_tree *t, struct outfile *out)
{
    struct outline o = {t, out, mem_calloc(t->scope_count + 1, sizeof *o.depth)};
    bool *shown = shown_scopes(t);
    for (size_t i = 0; i < t->scope_count; i++) {
        const struct scope *s = &t->scopes[i];
        o.depth[i] = s->parent == SCOPE_NONE ? 0 : o.depth[s->parent] + 1;
        if (!shown[i])
            continue;
        for (uint32_t d = 0; d < o.depth[i]; d++)
            outfile_write(out, "  ", 2);
        put_scope(&o, s);
    }
    mem_free(o.depth);
    mem_free(shown);
}
