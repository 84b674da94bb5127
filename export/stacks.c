/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of frames: folded text, and speedscope's JSON (its schema:
 * https://www.speedscope.app/file-format-schema.json). */
#include "export/export_int.h"

#include <stdlib.h>

/* ---- folded ------------------------------------------------------------------------------------------- */

/* Frames stand between semicolons, a blank before the value. */
static void add_word(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_char(out, *text == ';' ? ':' : (unsigned char)*text < 32 ? ' ' : *text);
}

static str_id module_of(const struct exported *x, place_ix place)
{
    const struct place *p = &x->e->places[place];
    while (p->kind != PLACE_MODULE && p->parent != PLACE_NONE)
        p = &x->e->places[p->parent];
    return p->kind == PLACE_MODULE ? p->name : 0;
}

static void add_stack(const struct exported *x, const struct frames *frames, struct buf *out)
{
    struct buf name = {0};
    size_t outermost = frames->count - 1;
    add_word(out, export_text(x, module_of(x, frames->items[outermost].place)));
    bool cut = outermost > 0 && x->e->places[frames->items[outermost].place].kind == PLACE_MODULE; /* already written */
    for (size_t i = frames->count - cut; i > 0; i--) {
        name.len = 0;
        export_place_name(x, frames->items[i - 1].place, &name);
        buf_char(out, ';');
        add_word(out, name.len ? name.bytes : "?");
    }
    buf_release(&name);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Nodes of one stack (lines of a loop) are one line of text; sorted, as stackcollapse does. */
int export_folded(const struct exported *x, struct outfile *out, struct err *err)
{
    struct strtab *stacks = strtab_create();
    struct VEC(uint64_t) values = {0};
    struct VEC(const char *) order = {0};
    struct frames frames = {0};
    struct buf text = {0};
    for (uint32_t i = 0; i < x->node_count; i++) {
        if (!export_count(x, 0, i))
            continue;
        text.len = 0;
        export_frames(x, i, &frames);
        add_stack(x, &frames, &text);
        str_id id = strtab_add(stacks, text.bytes);
        while (values.count <= id)
            *vec_push(&values) = 0;
        values.items[id] += export_count(x, 0, i);
    }
    for (str_id id = 1; id < values.count; id++)
        *vec_push(&order) = strtab_get(stacks, id);
    vec_sort(&order, compare_text);
    for (size_t i = 0; i < order.count; i++)
        outfile_printf(out, "%s %llu\n", order.items[i],
                       (unsigned long long)values.items[strtab_add(stacks, order.items[i])]);
    (void)err;
    vec_release(&values);
    vec_release(&order);
    vec_release(&frames);
    buf_release(&text);
    strtab_free(stacks);
    return 0;
}

/* ---- speedscope ------------------------------------------------------------------------------------------ */

struct frame_table { /* distinct frames, in the order of first use */
    struct VEC(struct frame) rows;
    struct hashmap index; /* by place and line */
};

static uint32_t frame_index(struct frame_table *t, const struct frame *f)
{
    uint32_t *slot = hashmap_put(&t->index, (uint64_t)f->place << 32 | f->line);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)t->rows.count;
        *vec_push(&t->rows) = *f;
    }
    return *slot;
}

static const char *speedscope_unit(const char *unit)
{
    static const char *const known[][2] = {
        {"ns", "nanoseconds"}, {"us", "microseconds"}, {"ms", "milliseconds"}, {"s", "seconds"}, {"bytes", "bytes"}};
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(unit, known[i][0]) == 0)
            return known[i][1];
    return "none";
}

static void add_samples(const struct exported *x, size_t metric, struct frame_table *table, struct jsonout *j)
{
    struct frames frames = {0};
    json_put_array(j, "samples");
    for (uint32_t i = 0; i < x->node_count; i++) {
        if (!export_count(x, metric, i))
            continue;
        export_frames(x, i, &frames);
        json_begin_array(j);
        for (size_t k = frames.count; k > 0; k--)
            json_u64(j, frame_index(table, &frames.items[k - 1]));
        json_end_array(j);
    }
    json_end_array(j);
    json_put_array(j, "weights");
    for (uint32_t i = 0; i < x->node_count; i++)
        if (export_count(x, metric, i))
            json_u64(j, export_count(x, metric, i));
    json_end_array(j);
    vec_release(&frames);
}

static void add_profiles(const struct exported *x, struct frame_table *table, struct jsonout *j)
{
    json_put_array(j, "profiles");
    for (size_t m = 0; m < x->metric_count; m++) {
        json_begin_object(j);
        json_put_string(j, "type", "sampled");
        json_put_string(j, "name", export_metric_name(x, m));
        json_put_string(j, "unit", speedscope_unit(export_text(x, x->e->metrics[x->metrics[m]].unit)));
        json_put_u64(j, "startValue", 0);
        json_put_double(j, "endValue", export_total(x, m));
        add_samples(x, m, table, j);
        json_end_object(j);
    }
    json_end_array(j);
}

static void add_frames(const struct exported *x, const struct frame_table *table, struct jsonout *j)
{
    struct buf name = {0};
    json_put_object(j, "shared");
    json_put_array(j, "frames");
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct frame *f = &table->rows.items[i];
        name.len = 0;
        export_place_name(x, f->place, &name);
        json_begin_object(j);
        json_put_string(j, "name", name.len ? name.bytes : "?");
        if (*export_file(x, f->file)) {
            json_put_string(j, "file", export_file(x, f->file));
        }
        if (f->line) {
            json_put_u64(j, "line", f->line);
        }
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
    buf_release(&name);
}

int export_speedscope(const struct exported *x, struct outfile *out, struct err *err)
{
    struct buf text = {0};
    struct jsonout j = {.out = &text};
    struct frame_table table = {0};
    (void)err;
    json_begin_object(&j);
    json_put_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_put_string(&j, "exporter", x->generator);
    json_put_string(&j, "name", export_text(x, x->e->title));
    add_profiles(x, &table, &j);
    add_frames(x, &table, &j);
    json_end_object(&j);
    buf_char(&text, '\n');
    outfile_take(out, &text);
    vec_release(&table.rows);
    hashmap_release(&table.index);
    return 0;
}
