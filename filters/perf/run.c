/* SPDX-License-Identifier: BSD-3-Clause */
/* perf's records become contexts and counts. */
#include "filters/perf/run.h"

#include "filters/base/image.h"
#include "filters/perf/chain_cache.h"

struct process { /* its current mappings: by address, without overlap */
    struct VEC(struct perf_mapping) mappings;
    uint32_t version; /* counts changes: earlier look-ups may be wrong after one */
};

struct binary {
    bool read;
    struct filter_image image;
};

struct event_sum {
    str_id name, unit; /* unit: given, or 0 */
    bool extra;        /* in addition to the samples: not sampled itself */
    uint64_t samples, total, least, most, lost, throttled;
    uint32_t event; /* in the measurement */
};

struct thread_seen {
    uint32_t pid, tid;
    str_id name;
    uint32_t thread; /* in the measurement */
};

struct found_frame { /* perf's own resolution, as in perf_frame */
    str_id symbol, object;
};

/* Sums of samples of one thread and event at a context: an unfinished count. There may be millions, which in the end
   become the measurement's in place; until then `region` is another one of the step, or NONE. */
#define next_sum region

#define NONE UINT32_MAX

enum placed { PLACED, WITHOUT_MAPPING, WITHOUT_BINARY, NAMED_OTHERWISE };

struct perf_run {
    struct hpcprof *into;
    const struct filter_input *in;
    const char *name, *sampler;
    struct strtab *strings; /* own: paths, event names, thread names */
    struct VEC(struct process) processes;
    struct hashmap process_index;                 /* by pid */
    uint32_t last_pid, last_process, last_thread; /* of the last sample; NONE: there was none */
    size_t mappings;                              /* of all of them */
    struct VEC(struct event_sum) events;
    struct hashmap event_index;
    struct VEC(struct thread_seen) threads;
    struct hashmap thread_index; /* by pid and tid */
    struct hashmap names;        /* by tid */
    struct names words;          /* of symbols */
    struct hashmap agree;        /* by address, symbol and path: names_agree */
    struct VEC(struct binary) binaries;
    struct chain_cache steps;
    struct VEC(struct found_frame) found; /* row 0: nothing */
    struct hashmap found_index;
    struct VEC(
        struct chain_step *) last; /* of the last sample, the outermost first: the next one shares most of them */
    struct VEC(uint8_t) placed;    /* by context */
    struct VEC(struct hpcprof_count) sums;
    struct hashmap sum_index;
    uint64_t samples, without_mapping, without_binary, named_otherwise;
    bool has_offsets;                      /* frames of chains are offsets in files */
    str_id host, machine, kernel, command; /* of into */
};

struct perf_run *perf_run_create(struct hpcprof *into, const struct filter_input *in)
{
    struct perf_run *r = mem_calloc(1, sizeof *r);
    r->into = into;
    r->in = in;
    r->name = in->name;
    r->sampler = "perf";
    r->strings = strtab_create();
    r->last_process = r->last_thread = NONE;
    *vec_push(&r->found) = (struct found_frame){0};
    return r;
}

void perf_run_free(struct perf_run *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->binaries.count; i++)
        filter_image_release(&r->binaries.items[i].image);
    for (size_t i = 0; i < r->processes.count; i++)
        vec_release(&r->processes.items[i].mappings);
    vec_release(&r->binaries);
    vec_release(&r->processes);
    vec_release(&r->events);
    vec_release(&r->threads);
    chain_cache_release(&r->steps);
    vec_release(&r->found);
    vec_release(&r->last);
    vec_release(&r->placed);
    vec_release(&r->sums);
    hashmap_release(&r->process_index);
    hashmap_release(&r->event_index);
    hashmap_release(&r->thread_index);
    hashmap_release(&r->names);
    hashmap_release(&r->agree);
    names_release(&r->words);
    hashmap_release(&r->found_index);
    hashmap_release(&r->sum_index);
    strtab_free(r->strings);
    mem_free(r);
}

struct strtab *perf_run_strings(struct perf_run *r)
{
    return r->strings;
}

void perf_run_is(struct perf_run *r, const char *sampler, uint32_t event, const char *unit)
{
    r->sampler = sampler;
    r->events.items[event].unit = strtab_add(r->strings, unit);
}

void perf_run_about(struct perf_run *r, const char *host, const char *machine, const char *kernel, const char *command)
{
    r->host = strtab_add(r->into->strings, host);
    r->machine = strtab_add(r->into->strings, machine);
    r->kernel = strtab_add(r->into->strings, kernel);
    r->command = strtab_add(r->into->strings, command);
}

/* ---- processes and their mappings -------------------------------------------------------------- */

static uint32_t process_index(struct perf_run *r, uint32_t pid)
{
    uint32_t *slot = hashmap_put(&r->process_index, pid);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)r->processes.count;
        *vec_push(&r->processes) = (struct process){.version = 0};
    }
    return *slot;
}

static struct process *process_of(struct perf_run *r, uint32_t pid)
{
    uint32_t i = process_index(r, pid); /* which may move them */
    return &r->processes.items[i];
}

/* The first mapping that ends behind the address. */
static size_t mapping_behind(const struct process *process, uint64_t address)
{
    return sorted_front(process->mappings.count, i, process->mappings.items[i].end <= address);
}

static void insert_mapping(struct perf_run *r, struct process *process, size_t at, struct perf_mapping m)
{
    vec_push(&process->mappings);
    struct perf_mapping *items = process->mappings.items;
    memmove(items + at + 1, items + at, (process->mappings.count - 1 - at) * sizeof *items);
    items[at] = m;
    r->mappings++;
}

/* A new mapping takes its addresses from those before it: covered ones are removed, overlapping ones truncated. */
void perf_run_map(struct perf_run *r, uint32_t pid, const struct perf_mapping *m)
{
    struct process *process = process_of(r, pid);
    size_t from = mapping_behind(process, m->begin), to = from;
    struct perf_mapping *items = process->mappings.items;
    struct perf_mapping before = {0}, after = {0};
    enum { MOST_OF_ONE = 65536 };
    if (m->end <= m->begin || process->mappings.count >= MOST_OF_ONE || r->mappings >= LIMIT_MAPPINGS)
        return; /* there will be samples without a mapping, with a warning */
    if (from < process->mappings.count && items[from].begin < m->begin) {
        before = items[from];
        before.end = m->begin;
    }
    for (; to < process->mappings.count && items[to].begin < m->end; to++)
        if (items[to].end > m->end) {
            after = items[to];
            after.offset += m->end - after.begin;
            after.begin = m->end;
        }
    if (to > from)
        memmove(items + from, items + to, (process->mappings.count - to) * sizeof *items);
    process->mappings.count -= to - from;
    r->mappings -= to - from;
    if (after.end)
        insert_mapping(r, process, from, after);
    insert_mapping(r, process, from, *m);
    if (before.end)
        insert_mapping(r, process, from, before);
    process->version++;
}

void perf_run_fork(struct perf_run *r, uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid)
{
    uint32_t name = hashmap_get(&r->names, parent_tid);
    if (name != HASHMAP_NONE)
        *hashmap_put(&r->names, tid) = name;
    if (pid == parent_pid)
        return;
    uint32_t child = process_index(r, pid), parent = process_index(r, parent_pid);
    struct process *to = &r->processes.items[child];
    const struct process *from = &r->processes.items[parent];
    r->mappings -= to->mappings.count;
    to->mappings.count = 0;
    if (child != parent && r->mappings + from->mappings.count <= LIMIT_MAPPINGS)
        for (size_t i = 0; i < from->mappings.count; i++)
            *vec_push(&to->mappings) = from->mappings.items[i];
    r->mappings += to->mappings.count;
    to->version++;
}

void perf_run_name(struct perf_run *r, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
    *hashmap_put(&r->names, tid) = strtab_add(r->strings, name);
    if (exec) {
        struct process *process = process_of(r, pid);
        r->mappings -= process->mappings.count;
        process->mappings.count = 0;
        process->version++;
    }
}

static const struct perf_mapping *mapping_in(const struct process *process, uint64_t address)
{
    size_t i = mapping_behind(process, address);
    bool in = i < process->mappings.count && process->mappings.items[i].begin <= address;
    return in ? &process->mappings.items[i] : NULL;
}

/* The process's own mapping, else, where perf's text says which object it is in, one of that object in a process it may
   have been forked from. */
static const struct perf_mapping *mapping_at(struct perf_run *r, uint32_t process, const struct perf_frame *f)
{
    enum { PROCESSES_TRIED = 64 };
    const struct perf_mapping *m = mapping_in(&r->processes.items[process], f->ip);
    for (size_t i = 0; !m && f->object && i < r->processes.count && i < PROCESSES_TRIED; i++) {
        m = mapping_in(&r->processes.items[i], f->ip);
        if (m && m->path != f->object)
            m = NULL;
    }
    return m;
}

/* ---- from run-time to link-time addresses --------------------------------------------------------- */

/* The link-time address of offset `offset` of the file; false: the file cannot be read, or has nothing there. */
static bool linked_at(struct perf_run *r, str_id path, uint64_t offset, uint64_t *address)
{
    while (r->binaries.count <= path)
        *vec_push(&r->binaries) = (struct binary){0};
    struct binary *b = &r->binaries.items[path];
    struct filemap map;
    if (!b->read && input_open(r->in, strtab_get(r->strings, path), &map)) {
        filter_image_read(&b->image, map.bytes, map.len);
        filemap_release(&map);
    }
    b->read = true;
    return filter_image_linked_at(&b->image, offset, address);
}

/* ---- contexts ------------------------------------------------------------------------------------------ */

static const char *module_name(const char *object)
{
    if (*object == '\0' || strcmp(object, "[unknown]") == 0)
        return "[unknown]";
    if (str_starts(object, "[kernel") || str_starts(object, "[guest.kernel"))
        return "[kernel]";
    return strcmp(object, "//anon") == 0 || str_starts(object, "anon_inode:") ? "[anonymous]" : object;
}

static uint32_t add_context(struct perf_run *r, const struct hpcprof_context *c, enum placed placed)
{
    uint32_t context = hpcprof_add_context(r->into, c);
    while (r->placed.count <= context)
        *vec_push(&r->placed) = PLACED;
    r->placed.items[context] = (uint8_t)placed;
    return context;
}

/* Of two interpretations of a number the one that other frames confirmed. */
static bool is_offset(struct perf_run *r, const struct perf_frame *f, const struct perf_mapping *m, uint64_t *address)
{
    if (!f->may_be_offset || strtab_get(r->strings, f->object)[0] != '/')
        return false;
    bool is_address = m && m->path == f->object;
    if (is_address && !r->has_offsets)
        return false;
    bool is = linked_at(r, f->object, f->ip, address);
    r->has_offsets = r->has_offsets || (is && !is_address);
    return is;
}

/* Symbols of the file, and of the one with its debug information, which perf uses too. */
static void read_symbols(struct perf_run *r, struct binary *b, const char *path)
{
    char debug[128] = "";
    struct filemap map;
    if (input_open(r->in, path, &map)) {
        filter_image_read_symbols(&b->image, map.bytes, map.len);
        filter_image_debug_file(map.bytes, map.len, debug);
        filemap_release(&map);
    }
    if (*debug && input_open(r->in, debug, &map)) {
        filter_image_read_symbols(&b->image, map.bytes, map.len);
        filemap_release(&map);
    }
}

/* The function names of a text are evidence; the file under that path on this machine may be another build. Only if
   both agree the address is kept. */
static bool names_agree(struct perf_run *r, const struct chain_step *s, const struct perf_frame *f, str_id path,
                        uint64_t address)
{
    const char *symbol = strtab_get(r->strings, f->symbol);
    struct binary *b = &r->binaries.items[path];
    if (!f->object || !*symbol || str_ends(symbol, "@plt"))
        return true;
    uint32_t *known = hashmap_put(&r->agree, hash_near(address, f->symbol, path));
    if (*known != HASHMAP_NONE)
        return *known;
    if (!b->image.names)
        read_symbols(r, b, strtab_get(r->strings, path));
    if (strcmp(symbol, "[unknown]") == 0) /* nothing there here either, in a file that was mapped and not just named */
        *known = r->mappings > 0 && !filter_image_has_symbol(&b->image, address, NULL, UINT64_MAX);
    else
        *known =
            filter_image_has_symbol(&b->image, address, symbol, f->into == UINT64_MAX ? f->into : f->into - s->caller);
    return *known;
}

/* A caller is where the call stands: its frame has the address behind that. */
static uint32_t resolve(struct perf_run *r, const struct chain_step *s, struct perf_frame f)
{
    struct hpcprof_context c = {.parent = s->parent};
    f.ip -= s->caller && f.ip;
    const struct perf_mapping *m = mapping_at(r, s->process, &f);
    const char *path = strtab_get(r->strings, m ? m->path : f.object);
    uint64_t offset = m ? f.ip - m->begin + m->offset : 0;
    bool differs = false;
    if (is_offset(r, &f, m, &c.address)) {
        c.module = hpcprof_add_module(r->into, strtab_get(r->strings, f.object), "");
        if (names_agree(r, s, &f, f.object, c.address))
            return add_context(r, &c, PLACED);
        differs = true;
    }
    c.module = hpcprof_add_module(r->into, module_name(path), m ? strtab_get(r->strings, m->build_id) : "");
    if (!differs && m && path[0] == '/' && linked_at(r, m->path, offset, &c.address)) {
        if (names_agree(r, s, &f, m->path, c.address))
            return add_context(r, &c, PLACED);
        differs = true;
    }
    if (m && strcmp(path, "[vdso]") == 0) {
        c.address = offset;
        return add_context(r, &c, PLACED);
    }
    /* perf's own resolution is all there is. */
    c.by_line = true;
    c.address = 0;
    const char *symbol = strtab_get(r->strings, f.symbol);
    if (strcmp(symbol, "[unknown]") != 0)
        c.procedure = strtab_add(r->into->strings, names_in_words(&r->words, r->into->strings, symbol));
    c.file = strtab_add(r->into->strings, strtab_get(r->strings, f.file));
    c.line = f.line;
    return add_context(r, &c,
                       differs          ? NAMED_OTHERWISE
                       : path[0] != '/' ? PLACED
                       : m              ? WITHOUT_BINARY
                                        : WITHOUT_MAPPING);
}

/* The number of perf's own resolution, if there is one. */
static uint32_t found_of(struct perf_run *r, const struct perf_frame *f)
{
    if (!f->symbol && !f->object)
        return 0;
    uint32_t *slot = hashmap_put(&r->found_index, (uint64_t)f->symbol << 32 | f->object);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)r->found.count;
        *vec_push(&r->found) = (struct found_frame){f->symbol, f->object};
    }
    return *slot & INT32_MAX; /* the parts of a file that are read have fewer frames than that */
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static bool is_sum_of(const struct hpcprof_count *sum, const struct chain_step *s, uint32_t thread, uint32_t event)
{
    return sum->context == s->context && sum->thread == thread && sum->event == event;
}

/* Most steps have a few: those of others are found by hashing. */
static struct hpcprof_count *find_sum(struct perf_run *r, struct chain_step *s, uint32_t thread, uint32_t event)
{
    enum { MOST_BY_LOOKING = 8 };
    unsigned looked = 0;
    for (uint32_t i = s->sum; i != NONE && looked < MOST_BY_LOOKING; i = r->sums.items[i].next_sum, looked++)
        if (is_sum_of(&r->sums.items[i], s, thread, event))
            return &r->sums.items[i];
    uint32_t row = (uint32_t)r->sums.count;
    if (looked == MOST_BY_LOOKING) {
        uint32_t *slot = hashmap_put(&r->sum_index, ((uint64_t)thread * LIMIT_EVENTS + event) << 32 | s->context);
        if (*slot != HASHMAP_NONE)
            return &r->sums.items[*slot];
        *slot = row;
    }
    *vec_push(&r->sums) =
        (struct hpcprof_count){.thread = thread, .context = s->context, .next_sum = s->sum, .event = event};
    s->sum = row;
    return &r->sums.items[row];
}

/* After its process has mapped something, the resolution of a step may be wrong. */
static bool is_settled(const struct perf_run *r, const struct chain_step *s)
{
    return s->version == r->processes.items[s->process].version;
}

static void settle_step(struct perf_run *r, struct chain_step *s, const struct perf_frame *f)
{
    s->version = r->processes.items[s->process].version;
    s->context = resolve(r, s, *f);
}

static struct chain_step *step_to(struct perf_run *r, const struct chain_step *sought, const struct perf_frame *f)
{
    bool is_new;
    struct chain_step *s = chain_cache_put(&r->steps, sought, &is_new);
    if (is_new || !is_settled(r, s))
        settle_step(r, s, f);
    return s;
}

static bool was_found(const struct perf_run *r, const struct chain_step *s, const struct perf_frame *f)
{
    const struct found_frame *found = &r->found.items[s->found];
    return found->symbol == f->symbol && found->object == f->object;
}

/* Step number `depth` of a path: the last sample's, where all is equal up to here. */
static struct chain_step *next_step(struct perf_run *r, size_t depth, struct chain_step *s, const struct perf_frame *f)
{
    struct chain_step *last = depth < r->last.count ? r->last.items[depth] : NULL;
    s->ip = f->ip;
    s->found = last && was_found(r, last, f) ? last->found : found_of(r, f) & INT32_MAX;
    if (last && chain_step_is(last, s) && is_settled(r, last))
        return last;
    r->last.count = depth < r->last.count ? depth : r->last.count;
    return *vec_push(&r->last) = step_to(r, s, f);
}

static uint32_t process_of_sample(struct perf_run *r, uint32_t pid)
{
    if (r->last_process == NONE || r->last_pid != pid)
        r->last_process = process_index(r, pid);
    r->last_pid = pid;
    return r->last_process;
}

/* The last step of a path, from the outermost frame on; frames beyond the deepest are left out at the outer end. */
static struct chain_step *step_of(struct perf_run *r, const struct perf_sample *sample)
{
    static const struct perf_frame nowhere;
    uint32_t user = process_of_sample(r, sample->pid), kernel = sample->kernel ? process_index(r, PERF_KERNEL) : user;
    size_t n = sample->frame_count < LIMIT_PATH_DEPTH ? sample->frame_count : LIMIT_PATH_DEPTH;
    if (chain_cache_reserve(&r->steps, n + 1))
        r->last.count = 0;
    struct chain_step s = {.parent = HPCPROF_NO_PARENT, .process = user, .sum = NONE};
    struct chain_step *step = n ? NULL : step_to(r, &s, &nowhere);
    for (size_t i = n; i > 0; i--) {
        const struct perf_frame *f = &sample->frames[i - 1];
        s.caller = i > 1;
        /* the kernel's half of the address space: bit 63 on all machines that perf knows */
        s.process = sample->kernel && (i == 1 || f->ip >> 63) ? kernel : user;
        step = next_step(r, n - i, &s, f);
        s.parent = step->context;
    }
    return step;
}

/* ---- events, threads, sums -------------------------------------------------------------------------------- */

uint32_t perf_run_event(struct perf_run *r, const char *name)
{
    str_id id = strtab_add(r->strings, name);
    uint32_t *slot = hashmap_put(&r->event_index, id);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)r->events.count;
        *vec_push(&r->events) = (struct event_sum){.name = id, .least = UINT64_MAX};
    }
    return *slot;
}

static void see_event(struct event_sum *e, uint64_t samples, uint64_t all)
{
    uint64_t period = all / samples;
    e->samples += samples;
    e->total += all;
    e->least = period < e->least ? period : e->least;
    e->most = period > e->most ? period : e->most;
}

static uint32_t thread_of(struct perf_run *r, uint32_t pid, uint32_t tid)
{
    uint32_t *slot = hashmap_put(&r->thread_index, (uint64_t)pid << 32 | tid);
    if (*slot != HASHMAP_NONE)
        return *slot;
    *slot = (uint32_t)r->threads.count;
    uint32_t name = hashmap_get(&r->names, tid);
    *vec_push(&r->threads) = (struct thread_seen){.pid = pid, .tid = tid, .name = name == HASHMAP_NONE ? 0 : name};
    return *slot;
}

static uint32_t see_thread(struct perf_run *r, uint32_t pid, uint32_t tid)
{
    const struct thread_seen *last = r->last_thread == NONE ? NULL : &r->threads.items[r->last_thread];
    if (!last || last->pid != pid || last->tid != tid)
        r->last_thread = thread_of(r, pid, tid);
    return r->last_thread;
}

static void add_sum(struct perf_run *r, struct chain_step *s, uint32_t thread, uint32_t event, uint64_t samples,
                    uint64_t value)
{
    struct hpcprof_count *sum = find_sum(r, s, thread, event);
    sum->samples += samples;
    sum->value += value;
}

void perf_run_sample(struct perf_run *r, const struct perf_sample *sample)
{
    if (sample->event >= LIMIT_EVENTS) /* an error at the end */
        return;
    struct chain_step *step = step_of(r, sample);
    uint32_t thread = see_thread(r, sample->pid, sample->tid);
    if (thread >= LIMIT_THREADS) /* another */
        return;
    uint64_t samples = sample->samples ? sample->samples : 1;
    see_event(&r->events.items[sample->event], samples, sample->period);
    r->samples += samples;
    r->without_mapping += r->placed.items[step->context] == WITHOUT_MAPPING ? samples : 0;
    r->without_binary += r->placed.items[step->context] == WITHOUT_BINARY ? samples : 0;
    r->named_otherwise += r->placed.items[step->context] == NAMED_OTHERWISE ? samples : 0;
    add_sum(r, step, thread, sample->event, samples, sample->period);
}

void perf_run_extra(struct perf_run *r, const struct perf_sample *sample, const char *what, const char *unit,
                    uint64_t value)
{
    char *name = mem_printf("%s %s", strtab_get(r->strings, r->events.items[sample->event].name), what);
    uint32_t event = perf_run_event(r, name);
    mem_free(name);
    if (event >= LIMIT_EVENTS)
        return;
    uint32_t thread = see_thread(r, sample->pid, sample->tid);
    if (thread >= LIMIT_THREADS)
        return;
    r->events.items[event].extra = true;
    r->events.items[event].unit = strtab_add(r->strings, unit);
    add_sum(r, step_of(r, sample), thread, event, 0, value);
}

void perf_run_lost(struct perf_run *r, uint32_t event, uint64_t records, bool throttled)
{
    if (event < r->events.count)
        *(throttled ? &r->events.items[event].throttled : &r->events.items[event].lost) += records;
}

/* ---- the measurement ------------------------------------------------------------------------------------------ */

static const char *unit_of(const char *event)
{
    static const struct {
        const char *begins, *unit;
    } units[] = {{"cpu-clock", "ns"},
                 {"task-clock", "ns"},
                 {"cycles", "cycles"},
                 {"cpu-cycles", "cycles"},
                 {"instructions", "instructions"},
                 {"page-faults", "faults"},
                 {"faults", "faults"}};
    if (str_starts(event, "samples of "))
        return "samples";
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (str_starts(event, units[i].begins) && strchr(":", event[strlen(units[i].begins)]))
            return units[i].unit;
    return "";
}

static void add_lost(struct perf_run *r, const struct event_sum *e, const char *what, uint64_t value)
{
    struct hpcprof_event lost = {.name =
                                     strtab_printf(r->into->strings, "%s %s", strtab_get(r->strings, e->name), what),
                                 .description = strtab_add(r->into->strings, "as perf says"),
                                 .flags = HPCPROF_LOST};
    if (value == 0)
        return;
    struct hpcprof_total total = {r->threads.items[0].thread, hpcprof_add_event(r->into, &lost), value};
    hpcprof_add_total(r->into, &total);
}

static void add_events(struct perf_run *r)
{
    for (size_t i = 0; i < r->events.count; i++) {
        struct event_sum *e = &r->events.items[i];
        const char *name = strtab_get(r->strings, e->name);
        if (e->samples == 0 && !e->extra)
            continue;
        struct hpcprof_event event = {
            .name = strtab_add(r->into->strings, name),
            .description = strtab_printf(r->into->strings, "as %s measured it", r->sampler),
            .unit = strtab_add(r->into->strings, e->extra || e->unit ? strtab_get(r->strings, e->unit) : unit_of(name)),
            .period = e->samples ? e->total / e->samples : 0,
            .flags = e->samples && e->least != e->most ? HPCPROF_FREQUENCY : 0};
        if (event.period == 0 && e->samples)
            event.period = 1;
        e->event = hpcprof_add_event(r->into, &event);
    }
}

struct by_id { /* where a thread comes in the order of processes and threads */
    uint32_t pid, tid, seen;
};

static int compare_threads(const void *a, const void *b)
{
    const struct by_id *x = a, *y = b;
    return order_of(x->pid, y->pid) ?: order_of(x->tid, y->tid);
}

static void add_process(struct perf_run *r, uint32_t pid, str_id name)
{
    struct hpcprof_process row = {.source_file = strtab_add(r->into->strings, path_base(r->name)),
                                  .host = r->host,
                                  .machine = r->machine,
                                  .kernel = r->kernel,
                                  .command = r->command ? r->command : name,
                                  .sampler = strtab_add(r->into->strings, r->sampler),
                                  .pid = pid,
                                  .rank = -1,
                                  .exit_status = -1,
                                  .complete = true};
    hpcprof_add_process(r->into, &row);
}

static void add_threads(struct perf_run *r)
{
    struct VEC(struct by_id) order = {0};
    uint32_t number = 0;
    for (uint32_t i = 0; i < r->threads.count; i++)
        *vec_push(&order) = (struct by_id){r->threads.items[i].pid, r->threads.items[i].tid, i};
    vec_sort(&order, compare_threads);
    for (size_t i = 0; i < order.count; i++) {
        struct thread_seen *t = &r->threads.items[order.items[i].seen];
        str_id name = strtab_add(r->into->strings, strtab_get(r->strings, t->name));
        if (i == 0 || order.items[i - 1].pid != t->pid) {
            add_process(r, t->pid, name);
            number = 0;
        }
        struct hpcprof_thread row = {.number = number++, .name = name};
        t->thread = hpcprof_add_thread(r->into, &row);
    }
    vec_release(&order);
}

enum sum_key { BY_EVENT, BY_CONTEXT, BY_THREAD };

static uint32_t key_of(const struct hpcprof_count *s, enum sum_key key)
{
    return key == BY_EVENT ? s->event : key == BY_CONTEXT ? s->context : s->thread;
}

/* Puts a chain of sums into the order of a key below `keys`, equal ones as they were: its first one. */
static uint32_t order_chain(struct perf_run *r, uint32_t first, enum sum_key key, size_t keys)
{
    struct hpcprof_count *sums = r->sums.items;
    struct {
        uint32_t first, last;
    } *of = mem_alloc((keys + 1) * sizeof *of);
    memset(of, 0xff, (keys + 1) * sizeof *of);
    for (uint32_t i = first, next; i != NONE; i = next) {
        uint32_t k = key_of(&sums[i], key);
        next = sums[i].next_sum;
        *(of[k].first == NONE ? &of[k].first : &sums[of[k].last].next_sum) = i;
        of[k].last = i;
    }
    uint32_t begin = NONE, *end = &begin;
    for (size_t k = 0; k < keys; k++)
        if (of[k].first != NONE) {
            *end = of[k].first;
            end = &sums[of[k].last].next_sum;
        }
    *end = NONE;
    mem_free(of);
    return begin;
}

/* In the order of counts, so that they are not sorted again, which takes twice their memory. */
static uint32_t order_sums(struct perf_run *r)
{
    for (uint32_t i = 0; i < r->sums.count; i++) {
        struct hpcprof_count *s = &r->sums.items[i];
        s->thread = r->threads.items[s->thread].thread;
        s->event = r->events.items[s->event].event;
        s->next_sum = i + 1 < r->sums.count ? i + 1 : NONE;
    }
    uint32_t first = r->sums.count ? 0 : NONE;
    first = order_chain(r, first, BY_EVENT, r->into->event_count);
    first = order_chain(r, first, BY_CONTEXT, r->into->context_count);
    return order_chain(r, first, BY_THREAD, r->into->thread_count);
}

/* Puts the sums themselves into the order of their chain (MacLaren 1966; Knuth 5.2, exercise 12): the element
   displaced by the right one moves to that one's old position, which the position before remembers. */
static void follow_chain(struct hpcprof_count *sums, uint32_t count, uint32_t first)
{
    for (uint32_t k = 0, at = first; k < count; k++) {
        while (at < k)
            at = sums[at].next_sum;
        struct hpcprof_count next = sums[at];
        sums[at] = sums[k];
        sums[k] = next;
        sums[k].next_sum = at;
        at = next.next_sum;
    }
    for (uint32_t k = 0; k < count; k++)
        sums[k].region = 0;
}

static void add_counts(struct perf_run *r)
{
    chain_cache_release(&r->steps); /* before as much again is needed */
    vec_release(&r->last);
    hashmap_release(&r->sum_index);
    follow_chain(r->sums.items, (uint32_t)r->sums.count, order_sums(r));
    hpcprof_take_counts(r->into, r->sums.items, r->sums.count);
    r->sums.items = NULL;
    vec_release(&r->sums);
}

int perf_run_finish(struct perf_run *r, const char *advice, struct warnings *warnings, struct err *err)
{
    double all = (double)r->samples;
    if (r->events.count > LIMIT_EVENTS)
        return err_set(err, ERR_LIMIT, "%s: has more than %d different events", r->name, LIMIT_EVENTS);
    if (r->threads.count > LIMIT_THREADS)
        return err_set(err, ERR_LIMIT, "%s: has more than %u threads", r->name, LIMIT_THREADS);
    if (r->samples == 0)
        return err_set(err, ERR_FORMAT, "%s: contains no samples%s", r->name, advice);
    add_events(r);
    add_threads(r);
    add_counts(r);
    for (size_t i = 0; i < r->events.count; i++) {
        add_lost(r, &r->events.items[i], "lost", r->events.items[i].lost);
        add_lost(r, &r->events.items[i], "throttled", r->events.items[i].throttled);
    }
    if (r->without_mapping)
        warnings_add(warnings,
                     "%s: %.1f%% of the samples are by function only, because the file has no mappings for them; use "
                     "'perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso'",
                     r->name, 100.0 * (double)r->without_mapping / all);
    if (r->named_otherwise)
        warnings_add(warnings,
                     "%s: %.1f%% of the samples are known by function only, because the binaries on this machine have "
                     "other symbols there, or none; were they rebuilt, or are they of another machine?",
                     r->name, 100.0 * (double)r->named_otherwise / all);
    if (r->without_binary)
        warnings_add(warnings,
                     "%s: %.1f%% of the samples are by function only, because their binaries are not on this machine",
                     r->name, 100.0 * (double)r->without_binary / all);
    return 0;
}
