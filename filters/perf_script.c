/*
 * The text of `perf script`. What is wanted of it:
 *
 *     perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso
 *
 *     heat 6428/6428  3557.728871: PERF_RECORD_MMAP2 6428/6428: [0x5583(0x5000) @ 0x1000 fe:00 11 20]: r-xp
 * /home/me/heat heat 6428/6428  3557.761850:    1001001 cpu-clock:      5583078a17e8 main+0x338 (/home/me/heat)
 *
 * A mapping tells where in its file an address lies; the file's program headers tell the link-time address of that.
 * Default output (without pid, without mappings) is read too; then samples go by function. With call chains the header
 * line has no address and the frames follow, innermost first, each on a line of its own.
 */
#include "filters/filters_int.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct mapping {
    uint64_t begin, end, offset;
    str_id path;
};

struct process { /* what it has mapped now: by address, without overlap */
    uint32_t pid;
    struct VEC(struct mapping) mappings;
};

struct segment { /* what of a file lies at which link-time address */
    uint64_t offset, size, address;
};

struct binary {
    bool read;
    struct VEC(struct segment) segments;
};

struct event_sum {
    str_id name;
    uint64_t samples, total, least, most;
    uint32_t event;
};

struct thread_seen {
    uint32_t pid, tid;
    str_id comm;
    uint32_t thread; /* in the measurement */
};

struct sample { /* one line, its texts lent */
    uint32_t pid, tid;
    char *comm, *event, *symbol, *dso;
    uint64_t period, ip;
    bool has_ip, inlined;
};

struct perf {
    struct hpcprof *into;
    struct strtab *strings; /* own: paths, event names, thread names */
    struct VEC(struct process) processes;
    struct hashmap process_index;
    struct VEC(struct event_sum) events;
    struct VEC(struct thread_seen) threads;
    struct VEC(struct binary) binaries; /* by path */
    struct hashmap thread_index, event_index;
    uint64_t samples, without_mapping, without_binary;
};

/* ---- one line ------------------------------------------------------------------------------- */

static bool number(char **at, int base, uint64_t *value)
{
    char *end;
    if (base == 16 ? !isxdigit((unsigned char)**at) : !isdigit((unsigned char)**at))
        return false;
    *value = strtoull(*at, &end, base);
    *at = end;
    return true;
}

/* "PID/TID" or "TID", then maybe "[CPU]", then "TIME:": where it begins in the line ends the command's name, which may
 * hold blanks. */
static bool read_who(char *line, struct sample *s, char **rest)
{
    for (char *at = line; *at; at++) {
        uint64_t pid, tid, ignored;
        char *c = at;
        if (at == line || !isblank((unsigned char)at[-1]) || !isdigit((unsigned char)*at) || !number(&c, 10, &pid))
            continue;
        tid = pid;
        if (*c == '/') {
            c++;
            if (!number(&c, 10, &tid))
                continue;
        }
        if (!isblank((unsigned char)*c))
            continue;
        c = skip_blanks(c);
        if (*c == '[') {
            c = strchr(c, ']');
            c = c ? skip_blanks(c + 1) : at;
        }
        if (!number(&c, 10, &ignored) || *c != '.')
            continue;
        c++;
        if (!number(&c, 10, &ignored) || *c != ':')
            continue;
        *rest = skip_blanks(c + 1);
        s->pid = (uint32_t)pid;
        s->tid = (uint32_t)tid;
        for (char *end = at; end > line && isblank((unsigned char)end[-1]); end--)
            end[-1] = '\0';
        s->comm = skip_blanks(line);
        return true;
    }
    return false;
}

/* "5583078a17e8 main+0x338 (/home/me/heat)"; symbols may hold blanks and brackets. */
static bool read_frame(char *c, struct sample *s)
{
    c = skip_blanks(c);
    if (!number(&c, 16, &s->ip) || (*c && !isblank((unsigned char)*c)))
        return false;
    s->has_ip = true;
    c = skip_blanks(c);
    s->symbol = c;
    s->dso = c + strlen(c);
    char *open = NULL;
    for (char *p = c; (p = strstr(p, "(")); p++)
        if (p == c || p[-1] == ' ')
            open = p;
    size_t n = strlen(c);
    /* the last bracket that opens after a blank is the object, or says that there is none: "(inlined)" */
    if (open && n) {
        char *close = strrchr(open, ')');
        s->inlined = strcmp(open, "(inlined)") == 0;
        if (close && close > open && !s->inlined) {
            *close = '\0';
            s->dso = open + 1;
        }
        for (*open = '\0'; open > c && open[-1] == ' '; open--)
            open[-1] = '\0';
    }
    char *offset = strrchr(s->symbol, '+');
    if (offset && offset[1] == '0' && offset[2] == 'x')
        *offset = '\0';
    return true;
}

/* A sample's header, with its frame where there is one on the line. */
static bool read_sample(char *line, struct sample *s)
{
    char *c;
    *s = (struct sample){.period = 1, .symbol = (char *)"", .dso = (char *)""};
    if (!read_who(line, s, &c))
        return false;
    char *after = c;
    uint64_t period;
    if (number(&after, 10, &period) && isblank((unsigned char)*after)) {
        s->period = period;
        c = skip_blanks(after);
    }
    /* the event's name ends at the colon before a blank: "cycles:u:", "perf::TASK-CLOCK:" */
    char *end = c;
    while (*end && !isblank((unsigned char)*end))
        end++;
    if (end == c || end[-1] != ':')
        return false;
    s->event = c;
    c = *end ? end + 1 : end;
    end[-1] = '\0';
    read_frame(c, s);
    return true;
}

/* "PERF_RECORD_MMAP2 PID/TID: [0xADDR(0xLEN) @ OFFSET ...]: r-xp PATH" */
static bool read_mapping(char *line, uint32_t *process, struct mapping *m, char **path)
{
    char *c = strstr(line, "PERF_RECORD_MMAP");
    uint64_t pid, length;
    if (!c || !(c = strchr(c, ' ')))
        return false;
    c = skip_blanks(c);
    if (*c == '-') /* the kernel's own: -1/0 */
        return false;
    if (!number(&c, 10, &pid) || !(c = strchr(c, '[')))
        return false;
    c++;
    if (!str_starts(c, "0x") || (c += 2, !number(&c, 16, &m->begin)) || !str_starts(c, "(0x") ||
        (c += 3, !number(&c, 16, &length)) || !str_starts(c, ") @ "))
        return false;
    c += 4;
    if (str_starts(c, "0x"))
        c += 2;
    if (!number(&c, 16, &m->offset) || !(c = strstr(c, "]: ")))
        return false;
    c = strchr(c + 3, ' ');
    if (!c)
        return false;
    *process = (uint32_t)pid;
    m->end = m->begin + length;
    *path = c + 1;
    return m->end > m->begin;
}

/* ---- first pass: who, what and where ---------------------------------------------------------- */

static void see_event(struct perf *p, const struct sample *s)
{
    str_id name = strtab_add(p->strings, s->event);
    uint32_t *slot = hashmap_put(&p->event_index, name);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)p->events.count;
        *vec_push(&p->events) = (struct event_sum){.name = name, .least = s->period, .most = s->period};
    }
    struct event_sum *e = &p->events.items[*slot];
    e->samples++;
    e->total += s->period;
    e->least = s->period < e->least ? s->period : e->least;
    e->most = s->period > e->most ? s->period : e->most;
}

static void see_thread(struct perf *p, const struct sample *s)
{
    uint32_t *slot = hashmap_put(&p->thread_index, (uint64_t)s->pid << 32 | s->tid);
    if (*slot != HASHMAP_NONE)
        return;
    *slot = (uint32_t)p->threads.count;
    *vec_push(&p->threads) =
        (struct thread_seen){.pid = s->pid, .tid = s->tid, .comm = strtab_add(p->strings, s->comm)};
}

static void first_pass(struct perf *p, const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, len);
    while (line_reader_next(&r)) {
        struct sample s;
        if (r.text.len && r.text.bytes[0] != '#' && !strstr(r.text.bytes, "PERF_RECORD_") &&
            read_sample(r.text.bytes, &s)) {
            see_event(p, &s);
            see_thread(p, &s);
            p->samples++;
        }
    }
    line_reader_release(&r);
}

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
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (str_starts(event, units[i].begins) && strchr(":", event[strlen(units[i].begins)]))
            return units[i].unit;
    return "";
}

static void add_events(struct perf *p)
{
    for (size_t i = 0; i < p->events.count; i++) {
        struct event_sum *e = &p->events.items[i];
        const char *name = strtab_get(p->strings, e->name);
        struct hpcprof_event event = {.name = strtab_add(p->into->strings, name),
                                      .description = strtab_add(p->into->strings, "as perf measured it"),
                                      .unit = strtab_add(p->into->strings, unit_of(name)),
                                      .period = e->total / e->samples,
                                      .flags = e->least == e->most ? 0 : HPCPROF_FREQUENCY};
        if (event.period == 0)
            event.period = 1;
        e->event = hpcprof_add_event(p->into, &event);
    }
}

static int compare_threads(const void *a, const void *b)
{
    const struct thread_seen *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void add_threads(struct perf *p, const char *name)
{
    vec_sort(&p->threads, compare_threads);
    uint32_t process = 0, order = 0;
    for (size_t i = 0; i < p->threads.count; i++) {
        struct thread_seen *t = &p->threads.items[i];
        str_id comm = strtab_add(p->into->strings, strtab_get(p->strings, t->comm));
        if (i == 0 || t[-1].pid != t->pid) {
            struct hpcprof_process row = {.source_file = strtab_add(p->into->strings, path_base(name)),
                                          .command = comm,
                                          .sampler = strtab_add(p->into->strings, "perf"),
                                          .pid = t->pid,
                                          .rank = -1,
                                          .exit_status = -1,
                                          .complete = true};
            process = hpcprof_add_process(p->into, &row);
            order = 0;
        }
        struct hpcprof_thread row = {.process = process, .number = order++, .name = comm};
        t->thread = hpcprof_add_thread(p->into, &row);
        *hashmap_put(&p->thread_index, (uint64_t)t->pid << 32 | t->tid) = (uint32_t)i;
    }
}

/* ---- from run-time to link-time addresses --------------------------------------------------------- */

static void read_segments(struct binary *b, const char *path)
{
    Elf64_Ehdr head;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return;
    bool elf = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
               head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_ident[EI_DATA] == ELFDATA2LSB &&
               head.e_phentsize == sizeof(Elf64_Phdr);
    for (unsigned i = 0; elf && i < head.e_phnum; i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof ph, (off_t)(head.e_phoff + i * sizeof ph)) != (ssize_t)sizeof ph)
            break;
        if (ph.p_type == PT_LOAD)
            *vec_push(&b->segments) = (struct segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
    }
    close(fd);
}

/* Where offset `offset` of the file is linked to; false: the file cannot be read, or has nothing there. */
static bool linked_at(struct perf *p, str_id path, uint64_t offset, uint64_t *address)
{
    while (p->binaries.count <= path)
        *vec_push(&p->binaries) = (struct binary){0};
    struct binary *b = &p->binaries.items[path];
    if (!b->read)
        read_segments(b, strtab_get(p->strings, path));
    b->read = true;
    for (size_t i = 0; i < b->segments.count; i++)
        if (offset - b->segments.items[i].offset < b->segments.items[i].size) {
            *address = offset - b->segments.items[i].offset + b->segments.items[i].address;
            return true;
        }
    return false;
}

static struct process *process_of(struct perf *p, uint32_t pid)
{
    uint32_t *slot = hashmap_put(&p->process_index, pid);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)p->processes.count;
        *vec_push(&p->processes) = (struct process){.pid = pid};
    }
    return &p->processes.items[*slot];
}

/* The first mapping that ends behind the address. */
static size_t mapping_behind(const struct process *process, uint64_t address)
{
    size_t low = sorted_front(process->mappings.count, i, process->mappings.items[i].end <= address);
    return low;
}

static void insert_mapping(struct process *process, size_t at, struct mapping m)
{
    vec_push(&process->mappings);
    struct mapping *items = process->mappings.items;
    memmove(items + at + 1, items + at, (process->mappings.count - 1 - at) * sizeof *items);
    items[at] = m;
}

/* A new mapping takes its addresses from those before it: what it covers goes, what it cuts is cut. */
static void add_mapping(struct process *process, struct mapping m)
{
    size_t from = mapping_behind(process, m.begin), to = from;
    struct mapping *items = process->mappings.items;
    struct mapping before = {0}, after = {0};
    if (from < process->mappings.count && items[from].begin < m.begin) {
        before = items[from];
        before.end = m.begin;
    }
    for (; to < process->mappings.count && items[to].begin < m.end; to++)
        if (items[to].end > m.end) {
            after = items[to];
            after.offset += m.end - after.begin;
            after.begin = m.end;
        }
    if (to > from)
        memmove(items + from, items + to, (process->mappings.count - to) * sizeof *items);
    process->mappings.count -= to - from;
    if (after.end)
        insert_mapping(process, from, after);
    insert_mapping(process, from, m);
    if (before.end)
        insert_mapping(process, from, before);
}

static const struct mapping *mapping_in(const struct process *process, uint64_t address)
{
    size_t i = mapping_behind(process, address);
    return i < process->mappings.count && process->mappings.items[i].begin <= address ? &process->mappings.items[i]
                                                                                      : NULL;
}

/* The process's own mapping, else one of the same object in a process it may have been forked from. */
static const struct mapping *mapping_at(struct perf *p, const struct sample *s)
{
    enum { PROCESSES_TRIED = 64 };
    const struct mapping *m = mapping_in(process_of(p, s->pid), s->ip);
    for (size_t i = 0; !m && i < p->processes.count && i < PROCESSES_TRIED; i++) {
        m = mapping_in(&p->processes.items[i], s->ip);
        if (m && strcmp(strtab_get(p->strings, m->path), s->dso) != 0)
            m = NULL;
    }
    return m;
}

/* Is the line about a mapping or another event of the process's life, no sample? */
static bool take_record(struct perf *p, char *line)
{
    struct mapping m = {0};
    uint32_t pid;
    char *path;
    if (!strstr(line, "PERF_RECORD_"))
        return false;
    if (read_mapping(line, &pid, &m, &path)) {
        m.path = strtab_add(p->strings, path);
        add_mapping(process_of(p, pid), m);
    }
    return true;
}

static const char *module_name(const char *dso)
{
    if (*dso == '\0' || strcmp(dso, "[unknown]") == 0)
        return "[unknown]";
    if (str_starts(dso, "[kernel") || str_starts(dso, "[guest.kernel"))
        return "[kernel]";
    return strcmp(dso, "//anon") == 0 || str_starts(dso, "anon_inode:") ? "[anonymous]" : dso;
}

static struct hpcprof_context context_of(struct perf *p, const struct sample *s)
{
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT};
    const struct mapping *m = mapping_at(p, s);
    const char *path = m ? strtab_get(p->strings, m->path) : s->dso;
    c.module = hpcprof_add_module(p->into, module_name(path), "");
    uint64_t offset = m ? s->ip - m->begin + m->offset : 0;
    if (m && path[0] == '/' && linked_at(p, m->path, offset, &c.address))
        return c;
    if (m && strcmp(path, "[vdso]") == 0) {
        c.address = offset;
        return c;
    }
    /* What perf found out itself is all there is. */
    c.by_line = true;
    if (strcmp(s->symbol, "[unknown]") != 0)
        c.procedure = strtab_add(p->into->strings, s->symbol);
    if (path[0] == '/')
        *(m ? &p->without_binary : &p->without_mapping) += 1;
    return c;
}

/* ---- second pass: the counts -------------------------------------------------------------------------- */

static void add_sample(struct perf *p, const struct sample *s)
{
    struct hpcprof_context context = context_of(p, s);
    uint32_t thread = hashmap_get(&p->thread_index, (uint64_t)s->pid << 32 | s->tid);
    uint32_t event = hashmap_get(&p->event_index, strtab_add(p->strings, s->event));
    struct hpcprof_count count = {.thread = p->threads.items[thread].thread,
                                  .context = hpcprof_add_context(p->into, &context),
                                  .event = p->events.items[event].event,
                                  .samples = 1,
                                  .value = s->period};
    hpcprof_add_count(p->into, &count);
}

/* The header of a sample waits in `header` for its first frame, which `line` may be. Frames that perf made up from
   debug information, "(inlined)", stand before the one whose object and address they share. */
static bool take_frame(struct perf *p, struct buf *header, const char *line)
{
    struct sample s, frame = {0};
    char *copy = mem_strdup(line);
    bool is_frame = read_frame(copy, &frame);
    if (is_frame && frame.inlined) {
        mem_free(copy);
        return true;
    }
    if (read_sample(header->bytes, &s)) {
        s.has_ip = is_frame;
        s.ip = frame.ip;
        s.symbol = is_frame ? frame.symbol : s.symbol;
        s.dso = is_frame ? frame.dso : s.dso;
        add_sample(p, &s);
    }
    mem_free(copy);
    header->len = 0;
    return is_frame;
}

static void second_pass(struct perf *p, const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, len);
    struct buf header = {0};
    while (line_reader_next(&r)) {
        struct sample s;
        if (take_record(p, r.text.bytes))
            continue;
        if (header.len && take_frame(p, &header, r.text.bytes))
            continue;
        if (r.text.len == 0 || r.text.bytes[0] == '#')
            continue;
        char *copy = mem_strdup(r.text.bytes);
        bool is_sample = read_sample(r.text.bytes, &s);
        if (is_sample && s.has_ip)
            add_sample(p, &s);
        else if (is_sample)
            buf_str(&header, copy);
        mem_free(copy);
    }
    if (header.len)
        take_frame(p, &header, "");
    buf_release(&header);
    line_reader_release(&r);
}

bool perf_script_sniff(const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, looks_like_text(bytes, len) ? len : 0);
    bool found = false;
    while (!found && r.number < 50 && line_reader_next(&r)) {
        struct sample s;
        struct mapping m;
        uint32_t pid;
        char *path;
        if (r.text.len == 0 || r.text.len > 4096 || r.text.bytes[0] == '#')
            continue;
        if (strstr(r.text.bytes, ": PERF_RECORD_"))
            found = read_mapping(r.text.bytes, &pid, &m, &path);
        else
            found = read_sample(r.text.bytes, &s);
    }
    line_reader_release(&r);
    return found;
}

int perf_script_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct perf p = {.into = into, .strings = strtab_create()};
    int status = 0;
    first_pass(&p, in->bytes, in->len);
    if (p.samples == 0)
        status = err_set(err, ERR_FORMAT,
                         "%s: holds no samples of perf script; "
                         "'perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso' writes "
                         "what is wanted",
                         in->name);
    else {
        add_events(&p);
        add_threads(&p, in->name);
        second_pass(&p, in->bytes, in->len);
    }
    if (p.without_mapping)
        warnings_add(warnings,
                     "%s: %.1f%% of the samples are known by function only, because their mappings are not in it; use "
                     "'perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso'",
                     in->name, 100.0 * (double)p.without_mapping / (double)p.samples);
    if (p.without_binary)
        warnings_add(
            warnings,
            "%s: %.1f%% of the samples are known by function only, because their binaries are not on this machine",
            in->name, 100.0 * (double)p.without_binary / (double)p.samples);
    for (size_t i = 0; i < p.binaries.count; i++)
        vec_release(&p.binaries.items[i].segments);
    vec_release(&p.binaries);
    for (size_t i = 0; i < p.processes.count; i++)
        vec_release(&p.processes.items[i].mappings);
    vec_release(&p.processes);
    hashmap_release(&p.process_index);
    vec_release(&p.events);
    vec_release(&p.threads);
    hashmap_release(&p.thread_index);
    hashmap_release(&p.event_index);
    strtab_free(p.strings);
    return status;
}
