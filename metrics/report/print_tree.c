/* SPDX-License-Identifier: BSD-3-Clause */
/* The scope tree as indented text with bars, for terminals and mails. Children are ordered by cost; cheap ones are
 * omitted. */
#include "metrics/report/report.h"

#include <math.h>
#include <stdlib.h>

struct tree_view {
    const struct view *view;
    double whole, least; /* of the metric that sorts: total, and the threshold of a place */
    size_t *first;       /* children of p are children[first[p] .. first[p + 1]) */
    place_ix *children;
};

enum { BAR = 20 };

static double cost(const struct tree_view *t, place_ix place)
{
    return experiment_value(t->view->e, t->view->sort_metric, place, VALUE_INCLUSIVE);
}

static int compare_cost(const void *a, const void *b, void *ctx)
{
    place_ix i = *(const place_ix *)a, k = *(const place_ix *)b;
    return order_largest(cost(ctx, i), cost(ctx, k)) ?: order_of(i, k);
}

static void list_children(struct tree_view *t)
{
    const struct experiment *e = t->view->e;
    t->first = mem_calloc(e->place_count + 2, sizeof *t->first);
    t->children = mem_alloc(e->place_count * sizeof *t->children);
    for (size_t i = 1; i < e->place_count; i++)
        t->first[e->places[i].parent + 2]++;
    for (size_t i = 0; i < e->place_count; i++)
        t->first[i + 2] += t->first[i + 1];
    for (place_ix i = 1; i < e->place_count; i++)
        t->children[t->first[e->places[i].parent + 1]++] = i;
    for (size_t i = 0; i < e->place_count; i++)
        if (t->first[i + 1] > t->first[i])
            qsort_r(t->children + t->first[i], t->first[i + 1] - t->first[i], sizeof *t->children, compare_cost, t);
}

static void add_where(const struct tree_view *t, place_ix place, struct buf *out)
{
    const struct experiment *e = t->view->e;
    const struct place *p = &e->places[place];
    char *name = print_text_of_name(strtab_get(e->strings, p->name));
    buf_str(out, name);
    mem_free(name);
    if (p->kind < PLACE_PROC || (p->kind == PLACE_LINE && p->line_first == 0)) {
        buf_str(out, p->kind == PLACE_LINE ? "(no line)" : "");
        return;
    }
    buf_str(out, p->kind == PLACE_LOOP    ? "loop at "
                 : p->kind == PLACE_LINE  ? ""
                 : p->file == SOURCE_NONE ? ""
                                          : " at ");
    bool loop = p->kind == PLACE_LOOP;
    print_location(e,
                   &(struct row){.file = p->file == SOURCE_NONE ? 0 : e->files[p->file].name,
                                 .line = p->line_first,
                                 .line_last = loop ? p->line_last : 0,
                                 .instance = p->instance,
                                 .on_line = p->on_line,
                                 .instances = p->instances,
                                 .address = loop ? p->address : 0},
                   out);
}

static void write_place(const struct tree_view *t, place_ix place, unsigned depth, struct outfile *out)
{
    double value = cost(t, place), part = t->whole > 0 ? value / t->whole : 0;
    int full = part > 0 ? (int)(part * BAR + 0.5) : 0;
    struct buf b = {0};
    struct print_scale scale = print_metric_scale(t->view->e, t->view->sort_metric);
    char *number = print_text_scaled(value, &scale);
    full = full > BAR ? BAR : full;
    buf_printf(&b, "%6.1f%%  %16s  ", 100 * part, number);
    for (int i = 0; i < BAR; i++)
        buf_char(&b, i < full ? '#' : ' ');
    buf_printf(&b, "  %*s", (int)(2 * depth), "");
    add_where(t, place, &b);
    while (b.len && b.bytes[b.len - 1] == ' ')
        b.len--;
    buf_char(&b, '\n');
    outfile_write(out, b.bytes, b.len);
    mem_free(number);
    buf_release(&b);
}

void print_tree(const struct view *view, double whole, struct outfile *out)
{
    const struct experiment *e = view->e;
    double percent = view->options->threshold > 0 ? view->options->threshold : 1;
    struct tree_view t = {.view = view, .whole = whole, .least = whole * percent / 100};
    struct VEC(place_ix) stack = {0};
    struct VEC(unsigned) depth = {0};
    size_t shown = 0;
    if (e->place_count == 0)
        return;
    list_children(&t);
    *vec_push(&stack) = 0;
    *vec_push(&depth) = 0;
    while (stack.count && (view->options->top == 0 || shown < view->options->top)) {
        place_ix place = stack.items[--stack.count];
        unsigned d = depth.items[--depth.count];
        double value = cost(&t, place);
        bool within = !view->in_scope || view->in_scope[place];
        if (isnan(value) || fabs(value) < t.least)
            continue;
        if (within) {
            write_place(&t, place, d, out);
            shown++;
        }
        for (size_t k = t.first[place + 1]; k-- > t.first[place];) {
            *vec_push(&stack) = t.children[k];
            *vec_push(&depth) = d + within;
        }
    }
    vec_release(&stack);
    vec_release(&depth);
    mem_free(t.first);
    mem_free(t.children);
}
