/* Writing a measurement from its tables: what imports and merges use. The recorder writes the same format by itself
 * (recorder/file.c). */
#include "hpcprof/write_int.h"

#include <stdlib.h>

void write_text(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    if (n > FORMAT_PAYLOAD_MAX / 16) /* no name is: keep the block readable whatever came in */
        n = FORMAT_PAYLOAD_MAX / 16;
    buf_text(b, s, n);
}

static void put_string(struct buf *b, const struct hpcprof *p, str_id id)
{
    write_text(b, strtab_get(p->strings, id));
}

static void put_block(struct outfile *f, uint32_t type, const struct buf *payload)
{
    struct buf head = {0};
    buf_u32(&head, type);
    buf_u32(&head, (uint32_t)payload->len);
    buf_u32(&head, crc32_bytes(0, payload->bytes, payload->len));
    buf_u32(&head, crc32_bytes(0, head.bytes, head.len));
    outfile_write(f, head.bytes, head.len);
    outfile_write(f, payload->bytes, payload->len);
    buf_release(&head);
}

void write_rows(struct outfile *f, uint32_t type, const struct buf *fixed, struct buf *rows, uint64_t *count)
{
    struct buf payload = {0};
    if (*count == 0)
        return;
    if (fixed)
        buf_add(&payload, fixed->bytes, fixed->len);
    buf_uleb(&payload, *count);
    buf_add(&payload, rows->bytes, rows->len);
    put_block(f, type, &payload);
    buf_release(&payload);
    rows->len = 0;
    *count = 0;
}

bool write_full(const struct buf *rows, uint64_t count)
{
    return count >= ROWS_PER_BLOCK || rows->len >= BYTES_PER_BLOCK;
}

static void put_header(struct outfile *f)
{
    struct buf b = {0};
    buf_add(&b, FORMAT_MAGIC, 8);
    buf_u32(&b, HPCPROF_VERSION);
    buf_u32(&b, crc32_bytes(0, b.bytes, b.len));
    outfile_write(f, b.bytes, b.len);
    buf_release(&b);
}

static void put_events(struct outfile *f, const struct hpcprof *p)
{
    struct buf rows = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < p->event_count; i++, n++) {
        if (write_full(&rows, n))
            write_rows(f, FORMAT_EVENTS, NULL, &rows, &n);
        put_string(&rows, p, p->events[i].name);
        put_string(&rows, p, p->events[i].description);
        put_string(&rows, p, p->events[i].unit);
        buf_uleb(&rows, p->events[i].period);
        buf_uleb(&rows, p->events[i].flags);
    }
    write_rows(f, FORMAT_EVENTS, NULL, &rows, &n);
    buf_release(&rows);
}

static void put_modules(struct outfile *f, const struct hpcprof *p)
{
    struct buf rows = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < p->module_count; i++, n++) {
        if (write_full(&rows, n))
            write_rows(f, FORMAT_MODULES, NULL, &rows, &n);
        put_string(&rows, p, p->modules[i].path);
        put_string(&rows, p, p->modules[i].build_id);
        buf_uleb(&rows, 0); /* where it was loaded is not kept by hpcprof */
    }
    write_rows(f, FORMAT_MODULES, NULL, &rows, &n);
    buf_release(&rows);
}

static void put_regions(struct outfile *f, const struct hpcprof *p)
{
    struct buf rows = {0};
    uint64_t n = 0;
    for (size_t i = 1; i < p->region_count; i++, n++) {
        if (write_full(&rows, n))
            write_rows(f, FORMAT_REGIONS, NULL, &rows, &n);
        buf_uleb(&rows, p->regions[i].parent);
        put_string(&rows, p, p->regions[i].name);
    }
    write_rows(f, FORMAT_REGIONS, NULL, &rows, &n);
    buf_release(&rows);
}

/* Before the contexts they are of: those are told apart by them too. */
static void put_own_files(struct outfile *f, const struct hpcprof *p)
{
    struct buf rows = {0};
    uint64_t n = 0, last = 0;
    for (size_t i = 0; i < p->context_count; i++) {
        if (p->contexts[i].procedure_file == 0)
            continue;
        if (write_full(&rows, n)) {
            write_rows(f, FORMAT_OWN_FILES, NULL, &rows, &n);
            last = 0;
        }
        buf_uleb(&rows, i - last);
        put_string(&rows, p, p->contexts[i].procedure_file);
        last = i;
        n++;
    }
    write_rows(f, FORMAT_OWN_FILES, NULL, &rows, &n);
    buf_release(&rows);
}

static void put_contexts(struct outfile *f, const struct hpcprof *p)
{
    struct buf rows = {0};
    uint64_t n = 0, module = 0, address = 0;
    put_own_files(f, p);
    for (size_t i = 0; i < p->context_count; i++, n++) {
        const struct hpcprof_context *c = &p->contexts[i];
        bool has_parent = c->parent != HPCPROF_NO_PARENT;
        if (write_full(&rows, n)) {
            write_rows(f, FORMAT_CONTEXTS, NULL, &rows, &n);
            module = address = 0;
        }
        buf_uleb(&rows, (has_parent ? FORMAT_HAS_PARENT : 0u) | (c->by_line ? FORMAT_BY_LINE : 0u));
        if (has_parent)
            buf_uleb(&rows, c->parent);
        buf_sleb(&rows, (int64_t)(c->module - module));
        module = c->module;
        if (c->by_line) {
            put_string(&rows, p, c->procedure);
            put_string(&rows, p, c->file);
            buf_uleb(&rows, c->line);
        } else {
            buf_sleb(&rows, (int64_t)(c->address - address));
            address = c->address;
        }
    }
    write_rows(f, FORMAT_CONTEXTS, NULL, &rows, &n);
    buf_release(&rows);
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
    struct buf rows = {0};
    uint64_t n = 0;
    size_t first = sorted_front(p->note_count, i, p->notes[i].process < process);
    for (size_t i = first; i < p->note_count && p->notes[i].process == process; i++) {
        if (write_full(&rows, n))
            write_rows(f, FORMAT_NOTES, NULL, &rows, &n);
        put_string(&rows, p, p->notes[i].name);
        put_string(&rows, p, p->notes[i].value);
        n++;
    }
    write_rows(f, FORMAT_NOTES, NULL, &rows, &n);
    buf_release(&rows);
}

static void put_threads(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    struct buf rows = {0};
    uint64_t n = 0;
    for (uint32_t i = 0; i < process->thread_count; i++, n++) {
        const struct hpcprof_thread *thread = &p->threads[process->first_thread + i];
        if (write_full(&rows, n))
            write_rows(f, FORMAT_THREADS, NULL, &rows, &n);
        buf_uleb(&rows, thread->number);
        buf_uleb(&rows, thread->start_ns);
        put_string(&rows, p, thread->name);
    }
    write_rows(f, FORMAT_THREADS, NULL, &rows, &n);
    buf_release(&rows);
}

static bool values_follow(const struct hpcprof *p, const struct hpcprof_count *const *rows, size_t n)
{
    uint64_t period = p->events[rows[0]->event].period, product;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(rows[i]->samples, period, &product) || rows[i]->value != product)
            return false;
    return true;
}

static void put_count_group(struct outfile *f, const struct hpcprof *p, const struct hpcprof_count *const *group,
                            size_t count)
{
    bool values = !values_follow(p, group, count);
    struct buf fixed = {0}, rows = {0};
    uint64_t n = 0;
    uint32_t context = 0;
    buf_uleb(&fixed, group[0]->thread);
    buf_uleb(&fixed, group[0]->event);
    buf_uleb(&fixed, group[0]->region);
    buf_uleb(&fixed, values ? FORMAT_HAS_VALUES : 0u);
    for (size_t i = 0; i < count; i++, n++) {
        if (write_full(&rows, n)) {
            write_rows(f, FORMAT_COUNTS, &fixed, &rows, &n);
            context = 0;
        }
        buf_uleb(&rows, group[i]->context - context);
        context = group[i]->context;
        buf_uleb(&rows, group[i]->samples);
        if (values)
            buf_uleb(&rows, group[i]->value);
    }
    write_rows(f, FORMAT_COUNTS, &fixed, &rows, &n);
    buf_release(&fixed);
    buf_release(&rows);
}

/* What one thread counted of an event in a region. */
struct count_group {
    uint32_t event, region;
    size_t count, at; /* at: where its rows begin, then where the next one goes */
};

static int compare_groups(const void *left, const void *right)
{
    const struct count_group *a = left, *b = right;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static uint32_t *group_of(struct hashmap *index, const struct hpcprof_count *row)
{
    return hashmap_put(index, (uint64_t)row->event << 32 | row->region);
}

/* Rows of one thread stand in the order of their contexts, and so do those of each group. */
static void put_thread_counts(struct outfile *f, const struct hpcprof *p, const struct hpcprof_count *rows,
                              size_t count)
{
    struct VEC(struct count_group) groups = {0};
    struct hashmap index = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t *group = group_of(&index, &rows[i]);
        if (*group == HASHMAP_NONE) {
            *group = (uint32_t)groups.count;
            *vec_push(&groups) = (struct count_group){rows[i].event, rows[i].region, 0, 0};
        }
        groups.items[*group].count++;
    }
    vec_sort(&groups, compare_groups);
    const struct hpcprof_count **sorted = mem_alloc((count + 1) * sizeof *sorted);
    for (size_t g = 0, at = 0; g < groups.count; at += groups.items[g++].count) {
        groups.items[g].at = at;
        *hashmap_put(&index, (uint64_t)groups.items[g].event << 32 | groups.items[g].region) = (uint32_t)g;
    }
    for (size_t i = 0; i < count; i++)
        sorted[groups.items[*group_of(&index, &rows[i])].at++] = &rows[i];
    for (size_t g = 0; g < groups.count; g++)
        put_count_group(f, p, sorted + groups.items[g].at - groups.items[g].count, groups.items[g].count);
    mem_free(sorted);
    vec_release(&groups);
    hashmap_release(&index);
}

static void put_counts(struct outfile *f, const struct hpcprof *p, const struct hpcprof_process *process)
{
    uint32_t end = process->first_thread + process->thread_count;
    size_t first = sorted_front(p->count_count, i, p->counts[i].thread < process->first_thread);
    for (size_t i = first, next; i < p->count_count && p->counts[i].thread < end; i = next) {
        for (next = i + 1; next < p->count_count && p->counts[next].thread == p->counts[i].thread;)
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
        struct buf fixed = {0}, rows = {0};
        uint64_t n = 0;
        for (next = i; next < p->total_count && p->totals[next].thread == thread; next++, n++) {
            buf_uleb(&rows, p->totals[next].event);
            buf_uleb(&rows, p->totals[next].value);
        }
        buf_uleb(&fixed, thread);
        write_rows(f, FORMAT_TOTALS, &fixed, &rows, &n);
        buf_release(&fixed);
        buf_release(&rows);
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
            write_tables(f, p); /* they may speak of any process; the end of one is what says that all is there */
        put_ends(f, p, &p->processes[i]);
    }
    return 0;
}
