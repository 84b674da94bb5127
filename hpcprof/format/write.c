/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a measurement from its tables, for imports and merges. The recorder writes the same format by itself
 * (recorder/output/file.c). */
#include "hpcprof/format/writer.h"

#include <stdlib.h>

void hpcprof_write_text(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    if (n > FORMAT_PAYLOAD_MAX / 16) /* no name is: keep the block readable for any input */
        n = FORMAT_PAYLOAD_MAX / 16;
    buf_text(b, s, n);
}

static void put_string(struct buf *b, const struct hpcprof *p, str_id id)
{
    hpcprof_write_text(b, strtab_get(p->strings, id));
}

void hpcprof_write_block_head(struct buf *to, uint32_t type, const struct buf *payload)
{
    size_t begin = to->len;
    buf_u32(to, type);
    buf_u32(to, (uint32_t)payload->len);
    buf_u32(to, crc32_bytes(0, payload->bytes, payload->len));
    buf_u32(to, crc32_bytes(0, to->bytes + begin, to->len - begin));
}

static void put_block(struct outfile *f, uint32_t type, const struct buf *payload)
{
    struct buf head = {0};
    hpcprof_write_block_head(&head, type, payload);
    outfile_write(f, head.bytes, head.len);
    outfile_write(f, payload->bytes, payload->len);
    buf_release(&head);
}

static void write_block(struct block_rows *b)
{
    struct buf payload = {0};
    if (b->count == 0)
        return;
    if (b->fixed)
        buf_add(&payload, b->fixed->bytes, b->fixed->len);
    buf_uleb(&payload, b->count);
    buf_add(&payload, b->rows.bytes, b->rows.len);
    put_block(b->f, b->type, &payload);
    buf_release(&payload);
    b->rows.len = 0;
    b->count = 0;
}

bool hpcprof_write_row(struct block_rows *b)
{
    if (b->count >= ROWS_PER_BLOCK || b->rows.len >= BYTES_PER_BLOCK)
        write_block(b);
    return b->count++ == 0;
}

void hpcprof_write_rows_end(struct block_rows *b)
{
    write_block(b);
    buf_release(&b->rows);
}

static void put_header(struct outfile *f)
{
    struct buf b = {0};
    buf_add(&b, FORMAT_MAGIC, 8);
    buf_u32(&b, HPCPROF_VERSION);
    buf_u32(&b, crc32_bytes(0, b.bytes, b.len));
    outfile_take(f, &b);
}

static void put_events(struct outfile *f, const struct hpcprof *p)
{
    struct block_rows b = {.f = f, .type = FORMAT_EVENTS};
    for (size_t i = 0; i < p->event_count; i++) {
        hpcprof_write_row(&b);
        put_string(&b.rows, p, p->events[i].name);
        put_string(&b.rows, p, p->events[i].description);
        put_string(&b.rows, p, p->events[i].unit);
        buf_uleb(&b.rows, p->events[i].period);
        buf_uleb(&b.rows, p->events[i].flags);
    }
    hpcprof_write_rows_end(&b);
}

static void put_modules(struct outfile *f, const struct hpcprof *p)
{
    struct block_rows b = {.f = f, .type = FORMAT_MODULES};
    for (size_t i = 0; i < p->module_count; i++) {
        hpcprof_write_row(&b);
        put_string(&b.rows, p, p->modules[i].path);
        put_string(&b.rows, p, p->modules[i].build_id);
        buf_uleb(&b.rows, 0); /* where it was loaded is not kept by hpcprof */
    }
    hpcprof_write_rows_end(&b);
}

static void put_regions(struct outfile *f, const struct hpcprof *p)
{
    struct block_rows b = {.f = f, .type = FORMAT_REGIONS};
    for (size_t i = 1; i < p->region_count; i++) {
        hpcprof_write_row(&b);
        buf_uleb(&b.rows, p->regions[i].parent);
        put_string(&b.rows, p, p->regions[i].name);
    }
    hpcprof_write_rows_end(&b);
}

/* Before the contexts they belong to: contexts are distinguished by them too. */
static void put_own_files(struct outfile *f, const struct hpcprof *p)
{
    struct block_rows b = {.f = f, .type = FORMAT_OWN_FILES};
    for (size_t i = 0, last = 0; i < p->context_count; i++) {
        if (p->contexts[i].procedure_file == 0)
            continue;
        if (hpcprof_write_row(&b))
            last = 0;
        buf_uleb(&b.rows, i - last);
        put_string(&b.rows, p, p->contexts[i].procedure_file);
        last = i;
    }
    hpcprof_write_rows_end(&b);
}

static void put_contexts(struct outfile *f, const struct hpcprof *p)
{
    struct block_rows b = {.f = f, .type = FORMAT_CONTEXTS};
    uint64_t module = 0, address = 0;
    put_own_files(f, p);
    for (size_t i = 0; i < p->context_count; i++) {
        const struct hpcprof_context *c = &p->contexts[i];
        bool has_parent = c->parent != HPCPROF_NO_PARENT;
        if (hpcprof_write_row(&b))
            module = address = 0;
        uint8_t *end = buf_room(&b.rows, 4 * LEB_MOST);
        end = uleb_put(end, (has_parent ? FORMAT_HAS_PARENT : 0u) | (c->by_line ? FORMAT_BY_LINE : 0u));
        if (has_parent)
            end = uleb_put(end, c->parent);
        end = sleb_put(end, (int64_t)(c->module - module));
        module = c->module;
        if (!c->by_line) {
            end = sleb_put(end, (int64_t)(c->address - address));
            address = c->address;
        }
        buf_used(&b.rows, end);
        if (c->by_line) {
            put_string(&b.rows, p, c->procedure);
            put_string(&b.rows, p, c->file);
            buf_uleb(&b.rows, c->line);
        }
    }
    hpcprof_write_rows_end(&b);
}

static void put_process(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *row)
{
    struct buf b = {0};
    put_string(&b, p, row->host);
    put_string(&b, p, row->command);
    put_string(&b, p, row->working_dir);
    put_string(&b, p, row->machine);
    put_string(&b, p, row->kernel);
    put_string(&b, p, row->sampler);
    buf_uleb(&b, row->start_ns);
    buf_uleb(&b, row->pid);
    buf_uleb(&b, row->parent_pid);
    buf_uleb(&b, (uint64_t)((int64_t)row->rank + 1));
    put_block(f, FORMAT_PROCESS, &b);
    buf_release(&b);
}

static void put_notes(struct outfile *f, const struct hpcprof *p, uint32_t process)
{
    struct block_rows b = {.f = f, .type = FORMAT_NOTES};
    size_t first = sorted_front(p->note_count, i, p->notes[i].process < process);
    for (size_t i = first; i < p->note_count && p->notes[i].process == process; i++) {
        hpcprof_write_row(&b);
        put_string(&b.rows, p, p->notes[i].name);
        put_string(&b.rows, p, p->notes[i].value);
    }
    hpcprof_write_rows_end(&b);
}

static void put_threads(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    struct block_rows b = {.f = f, .type = FORMAT_THREADS};
    for (uint32_t i = 0; i < process->thread_count; i++) {
        const struct hpcprof_thread *thread = &p->threads[process->first_thread + i];
        hpcprof_write_row(&b);
        buf_uleb(&b.rows, thread->number);
        buf_uleb(&b.rows, thread->start_ns);
        put_string(&b.rows, p, thread->name);
    }
    hpcprof_write_rows_end(&b);
}

/* One thread's counts of an event in a region: rows of a table, in the order of `order`; NULL: all of them. */
struct count_group {
    const struct hpcprof_count *rows;
    const uint32_t *order;
    size_t count;
};

static const struct hpcprof_count *group_row(const struct count_group *g, size_t i)
{
    return &g->rows[g->order ? g->order[i] : i];
}

static bool values_follow(const struct hpcprof *p, const struct count_group *g)
{
    uint64_t period = p->events[group_row(g, 0)->event].period, product;
    for (size_t i = 0; i < g->count; i++) {
        const struct hpcprof_count *row = group_row(g, i);
        if (__builtin_mul_overflow(row->samples, period, &product) || row->value != product)
            return false;
    }
    return true;
}

static void put_count_group(struct outfile *f, const struct hpcprof *p, const struct count_group *g)
{
    const struct hpcprof_count *first = group_row(g, 0);
    bool values = !values_follow(p, g);
    struct buf fixed = {0};
    struct block_rows b = {.f = f, .type = FORMAT_COUNTS, .fixed = &fixed};
    uint32_t context = 0;
    buf_uleb(&fixed, first->thread);
    buf_uleb(&fixed, first->event);
    buf_uleb(&fixed, first->region);
    buf_uleb(&fixed, values ? FORMAT_HAS_VALUES : 0u);
    for (size_t i = 0; i < g->count; i++) {
        const struct hpcprof_count *c = group_row(g, i);
        if (hpcprof_write_row(&b))
            context = 0;
        uint8_t *end = uleb_put(buf_room(&b.rows, 3 * LEB_MOST), c->context - context);
        context = c->context;
        end = uleb_put(end, c->samples);
        if (values)
            end = uleb_put(end, c->value);
        buf_used(&b.rows, end);
    }
    hpcprof_write_rows_end(&b);
    buf_release(&fixed);
}

struct group_size {
    uint32_t event, region;
    uint32_t next;    /* that of the row after the last one of this */
    size_t count, at; /* at: where its rows begin, then where the next one goes */
};

struct grouping {
    struct VEC(struct group_size) groups;
    struct hashmap index;
    uint32_t last;
};

static struct group_size *group_of(struct grouping *g, const struct hpcprof_count *row)
{
    uint32_t next = g->groups.count ? g->groups.items[g->last].next : 0;
    if (next < g->groups.count && g->groups.items[next].event == row->event &&
        g->groups.items[next].region == row->region)
        return &g->groups.items[g->last = next];
    uint32_t *group = hashmap_put(&g->index, (uint64_t)row->event << 32 | row->region);
    if (*group == HASHMAP_NONE) {
        *group = (uint32_t)g->groups.count;
        *vec_push(&g->groups) = (struct group_size){.event = row->event, .region = row->region};
    }
    g->groups.items[g->last].next = *group;
    return &g->groups.items[g->last = *group];
}

static int compare_groups(const void *left, const void *right)
{
    const struct group_size *const *x = left, *const *y = right, *a = *x, *b = *y;
    return order_of(a->event, b->event) ?: order_of(a->region, b->region);
}

/* Rows of one thread stand in the order of their contexts, and so do those of each group. */
static void put_thread_counts(struct outfile *f, const struct hpcprof *p, const struct hpcprof_count *rows,
                              size_t count)
{
    struct grouping g = {0};
    struct VEC(struct group_size *) sorted = {0};
    for (size_t i = 0; i < count; i++)
        group_of(&g, &rows[i])->count++;
    for (size_t i = 0; i < g.groups.count; i++)
        *vec_push(&sorted) = &g.groups.items[i];
    vec_sort(&sorted, compare_groups);
    uint32_t *order = g.groups.count > 1 ? mem_alloc(count * sizeof *order) : NULL;
    for (size_t i = 0, at = 0; i < sorted.count; at += sorted.items[i++]->count)
        sorted.items[i]->at = at;
    for (size_t i = 0; order && i < count; i++)
        order[group_of(&g, &rows[i])->at++] = (uint32_t)i;
    for (size_t i = 0; i < sorted.count; i++) {
        const struct group_size *s = sorted.items[i];
        put_count_group(f, p, &(struct count_group){rows, order ? order + s->at - s->count : NULL, s->count});
    }
    mem_free(order);
    vec_release(&sorted);
    vec_release(&g.groups);
    hashmap_release(&g.index);
}

static void put_counts(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    uint32_t end = process->first_thread + process->thread_count;
    size_t first = sorted_front(p->count_count, i, p->counts[i].thread < process->first_thread);
    for (size_t i = first, next; i < p->count_count && p->counts[i].thread < end; i = next) {
        for (next = i + 1;
             next < p->count_count && next - i < UINT32_MAX && p->counts[next].thread == p->counts[i].thread;)
            next++;
        put_thread_counts(f, p, p->counts + i, next - i);
    }
}

static void put_totals(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    uint32_t end = process->first_thread + process->thread_count;
    size_t first = sorted_front(p->total_count, i, p->totals[i].thread < process->first_thread);
    for (size_t i = first, next; i < p->total_count && p->totals[i].thread < end; i = next) {
        uint32_t thread = p->totals[i].thread;
        struct buf fixed = {0};
        struct block_rows b = {.f = f, .type = FORMAT_TOTALS, .fixed = &fixed};
        buf_uleb(&fixed, thread);
        for (next = i; next < p->total_count && p->totals[next].thread == thread; next++) {
            hpcprof_write_row(&b);
            buf_uleb(&b.rows, p->totals[next].event);
            buf_uleb(&b.rows, p->totals[next].value);
        }
        hpcprof_write_rows_end(&b);
        buf_release(&fixed);
    }
}

static void put_ends(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    struct buf b = {0};
    for (uint32_t i = process->first_thread; i < process->first_thread + process->thread_count; i++) {
        b.len = 0;
        buf_uleb(&b, i);
        buf_uleb(&b, p->threads[i].end_ns);
        buf_uleb(&b, p->threads[i].cpu_ns);
        put_string(&b, p, p->threads[i].name);
        put_block(f, FORMAT_THREAD_END, &b);
    }
    b.len = 0;
    buf_uleb(&b, process->end_ns);
    buf_sleb(&b, process->exit_status);
    buf_u8(&b, process->complete);
    put_block(f, FORMAT_END, &b);
    buf_release(&b);
}

int hpcprof_write(const struct hpcprof *p, struct outfile *f, struct err *err)
{
    if (p->process_count == 0)
        return err_set(err, ERR_USAGE, "a measurement without a process cannot be written");
    put_header(f);
    put_events(f, p);
    put_modules(f, p);
    put_regions(f, p);
    put_contexts(f, p);
    for (uint32_t i = 0; i < p->process_count; i++) {
        put_process(f, p, &p->processes[i]);
        put_notes(f, p, i);
        put_threads(f, p, &p->processes[i]);
        put_counts(f, p, &p->processes[i]);
        put_totals(f, p, &p->processes[i]);
        if (i == p->process_count - 1)
            hpcprof_write_tables(f, p,
                                 0); /* they may refer to any process; the end of one means that all of it is there */
        put_ends(f, p, &p->processes[i]);
    }
    return 0;
}
