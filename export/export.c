/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats, and their shared code. */
#include "export/export_int.h"

#include <math.h>

const struct export_format export_table[] = {
    {"csv", "every node of the tree with all columns, for pandas, R and spreadsheets", false, false, export_csv},
    {"json", "the same as JSON", false, false, export_json},
    {"hatchet", "for Hatchet's GraphFrame.from_literal", true, false, export_hatchet},
    {"folded", "folded stacks, for flamegraph.pl", true, true, export_folded},
    {"speedscope", "speedscope.app's JSON", true, true, export_speedscope},
    {"pprof", "pprof's profile.proto, compressed with gzip", true, true, export_pprof},
    {"callgrind", "for KCachegrind and callgrind_annotate", false, true, export_callgrind},
    {"profile", "PROFILE 3.0 (.pxml) of the original HPCView", false, true, export_profile},
    {0},
};

const struct export_format *export_named(const char *name, struct err *err)
{
    const char *names[ARRAY_SIZE(export_table)] = {NULL};
    struct buf list = {0};
    const struct export_format *found = NULL;
    for (size_t i = 0; export_table[i].name; i++) {
        found = strcmp(export_table[i].name, name) == 0 ? &export_table[i] : found;
        names[i] = export_table[i].name;
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = str_nearest(name, names);
    if (!found && near)
        err_set(err, ERR_USAGE, "unknown format '%s'; did you mean '%s'?", name, near);
    else if (!found)
        err_set(err, ERR_USAGE, "unknown format '%s'; available: %s", name, list.bytes);
    buf_release(&list);
    return found;
}

/* ---- what is chosen ----------------------------------------------------------------------------------- */

static int choose_tree(struct exported *x, const struct export_format *format, const char *wanted, struct err *err)
{
    const struct experiment *e = x->e;
    x->tree = TREE_SCOPES;
    for (size_t i = 0; i < e->tree_count; i++) {
        const char *name = strtab_get(e->strings, e->trees[i].name);
        if (wanted ? strcmp(name, wanted) == 0 : format->paths && strcmp(name, "calls") == 0) {
            x->tree = i;
            break;
        }
        if (wanted && i + 1 == e->tree_count)
            return err_set(err, ERR_USAGE, "unknown tree '%s'; available: '%s'", wanted,
                           strtab_get(e->strings, e->trees[0].name));
    }
    x->node_count = e->trees[x->tree].node_count;
    return 0;
}

static int add_metric(struct exported *x, const struct export_format *format, const char *name, struct err *err)
{
    const struct experiment *e = x->e;
    for (size_t i = 0; i < e->metric_count; i++) {
        if (strcmp(strtab_get(e->strings, e->metrics[i].name), name) != 0)
            continue;
        if (format->sums && !e->metrics[i].summed)
            return err_set(err, ERR_USAGE, "metric '%s' cannot be added up over scopes, as format %s requires", name,
                           format->name);
        x->metrics[x->metric_count++] = i;
        return 0;
    }
    const char **names = mem_calloc(e->metric_count + 1, sizeof *names);
    for (size_t i = 0; i < e->metric_count; i++)
        names[i] = strtab_get(e->strings, e->metrics[i].name);
    const char *near = str_nearest(name, names);
    err_set(err, ERR_USAGE, near ? "unknown metric '%s'; did you mean '%s'?" : "no metric '%s'", name, near);
    mem_free(names);
    return -1;
}

static int choose_metrics(struct exported *x, const struct export_format *format, const char *const *wanted,
                          struct err *err)
{
    const struct experiment *e = x->e;
    size_t asked = 0;
    while (wanted && wanted[asked])
        asked++;
    x->metrics = mem_calloc(asked + e->metric_count + 1, sizeof *x->metrics);
    for (size_t i = 0; i < asked; i++)
        if (add_metric(x, format, wanted[i], err) < 0)
            return -1;
    for (size_t i = 0; i < e->metric_count && asked == 0; i++)
        if (e->metrics[i].display && (e->metrics[i].summed || !format->sums))
            x->metrics[x->metric_count++] = i;
    return x->metric_count ? 0
                           : err_set(err, ERR_FORMAT, "there is no metric that format %s can represent", format->name);
}

struct export_children export_children(const struct exported *x)
{
    struct export_children c = {mem_alloc((x->node_count + 1) * sizeof *c.first),
                                mem_alloc((x->node_count + 1) * sizeof *c.next)};
    for (size_t i = 0; i < x->node_count; i++)
        c.first[i] = c.next[i] = NODE_NONE;
    for (size_t i = x->node_count; i-- > 1;) {
        uint32_t parent = experiment_node_parent(x->e, x->tree, (uint32_t)i);
        c.next[i] = c.first[parent];
        c.first[parent] = (uint32_t)i;
    }
    return c;
}

/* ---- what a node itself has ------------------------------------------------------------------------------- */

static void take_children_off(struct exported *x, double *own)
{
    double *inclusive = mem_alloc((x->node_count + 1) * sizeof *inclusive);
    memcpy(inclusive, own, x->node_count * sizeof *own);
    for (size_t i = 1; i < x->node_count; i++) {
        uint32_t parent = experiment_node_parent(x->e, x->tree, (uint32_t)i);
        if (parent != NODE_NONE && !isnan(inclusive[i]))
            own[parent] -= inclusive[i];
    }
    for (size_t i = 0; i < x->node_count; i++)
        if (own[i] == 0 || fabs(own[i]) < 1e-9 * fabs(inclusive[i])) /* rounding errors of computed ones */
            own[i] = NAN;
    mem_free(inclusive);
}

static void find_own(struct exported *x)
{
    x->own = mem_calloc(x->metric_count + 1, sizeof *x->own);
    for (size_t m = 0; m < x->metric_count; m++) {
        x->own[m] = mem_alloc((x->node_count + 1) * sizeof **x->own);
        experiment_column(x->e, x->tree, x->metrics[m], VALUE_INCLUSIVE, 0, x->node_count, x->own[m]);
        take_children_off(x, x->own[m]);
    }
}

int export_write(const struct experiment *e, const struct export_format *format, const struct export_options *options,
                 struct outfile *out, struct err *err)
{
    struct exported x = {
        .e = e, .generator = options->generator ? options->generator : "hpcview", .no_loops = options->no_loops};
    int status = choose_tree(&x, format, options->tree, err);
    if (status == 0)
        status = choose_metrics(&x, format, options->metrics, err);
    if (status == 0) {
        find_own(&x);
        status = format->write(&x, out, err);
    }
    for (size_t m = 0; x.own && m < x.metric_count; m++)
        mem_free(x.own[m]);
    mem_free(x.own);
    mem_free(x.metrics);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------- */

const char *export_text(const struct exported *x, str_id id)
{
    return strtab_get(x->e->strings, id);
}

const char *export_metric_name(const struct exported *x, size_t metric)
{
    return export_text(x, x->e->metrics[x->metrics[metric]].name);
}

const char *export_kind_word(enum place_kind kind)
{
    static const char *const words[] = {"program", "module", "file", "procedure", "inlined", "loop", "line"};
    return kind < ARRAY_SIZE(words) ? words[kind] : "other";
}

const char *export_file(const struct exported *x, uint32_t file)
{
    return file < x->e->file_count ? export_text(x, x->e->files[file].name) : "";
}

static void add_position(const struct exported *x, const struct place *p, struct buf *out)
{
    const char *file = export_file(x, p->file);
    if (*file)
        buf_str(out, path_base(file));
    if (p->line_first)
        buf_printf(out, ":%u", p->line_first);
    else if (p->address)
        buf_printf(out, "%s%#llx", *file ? "," : "", (unsigned long long)p->address);
    else if (!*file)
        buf_str(out, "?");
}

void export_place_name(const struct exported *x, place_ix place, struct buf *out)
{
    const struct place *p = &x->e->places[place];
    if (p->kind == PLACE_LOOP)
        buf_str(out, "loop at ");
    if (p->kind == PLACE_LOOP || p->kind == PLACE_LINE)
        add_position(x, p, out);
    else
        buf_str(out, export_text(x, p->name));
    if (p->kind == PLACE_LOOP && p->on_line)
        buf_printf(out, ", loop %u of its line", p->on_line);
    if (p->kind == PLACE_LOOP && p->instances > 1)
        buf_printf(out, " (%u of %u)", p->instance, p->instances);
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

uint64_t export_count(const struct exported *x, size_t metric, uint32_t node)
{
    double v = x->own[metric][node];
    return v > 0 && v < 1.8e19 ? (uint64_t)(v + 0.5) : 0;
}

bool export_has_own(const struct exported *x, uint32_t node)
{
    for (size_t m = 0; m < x->metric_count; m++)
        if (export_count(x, m, node))
            return true;
    return false;
}

double export_total(const struct exported *x, size_t metric)
{
    double sum = 0;
    for (uint32_t i = 0; i < x->node_count; i++)
        sum += (double)export_count(x, metric, i);
    return sum;
}

/* ---- stacks --------------------------------------------------------------------------------------------------- */

static bool is_frame(const struct exported *x, const struct place *p)
{
    return p->kind == PLACE_PROC || p->kind == PLACE_INLINE || (p->kind == PLACE_LOOP && !x->no_loops) ||
           (p->kind == PLACE_MODULE && x->tree != TREE_SCOPES); /* why a path was cut */
}

void export_frames(const struct exported *x, uint32_t node, struct frames *frames)
{
    const struct place *inner = NULL; /* the start of the next outer frame */
    place_ix first = experiment_node_place(x->e, x->tree, node);
    frames->count = 0;
    for (uint32_t n = node; n != NODE_NONE; n = experiment_node_parent(x->e, x->tree, n)) {
        place_ix place = experiment_node_place(x->e, x->tree, n);
        const struct place *p = &x->e->places[place];
        if (is_frame(x, p)) {
            struct frame f = {place, p->line_first, p->file};
            if (inner && inner->kind == PLACE_INLINE)
                f = (struct frame){place, inner->call_line, inner->call_file};
            else if (inner && inner->kind != PLACE_PROC)
                f = (struct frame){place, inner->line_first, inner->file};
            *vec_push(frames) = f;
        }
        if (is_frame(x, p) || p->kind == PLACE_LINE)
            inner = p;
    }
    if (frames->count == 0)
        *vec_push(frames) = (struct frame){first, 0, SOURCE_NONE};
}
