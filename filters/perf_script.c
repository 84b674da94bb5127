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
 *
 * -F may leave out anything but an address: what a word is, is then told by its form, and for numbers by how far perf
 * aligns them. A source line (-F +srcline) is on the line after its frame, behind two blanks.
 */
#include "filters/perf_run.h"

#include <ctype.h>
#include <stdlib.h>

struct sample { /* one line, its texts lent */
    uint32_t pid, tid;
    char *comm, *event, *symbol, *dso;
    uint64_t period, ip;
    bool has_ip, inlined;
};

struct reader {
    struct perf_run *run;
    struct buf header; /* of the sample whose frames are being read; empty: none */
    bool loose;        /* the header leaves fields out */
    struct VEC(struct perf_frame) frames;
    const struct line_reader *lines;
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

/* Fields that -F leaves out make a header of fewer words. Of those with blanks before them perf aligns a period to 10
   columns, an address to 16. */
enum { PERIOD_COLUMNS = 10, ADDRESS_COLUMNS = 16, MOST_WORDS = 64 };

enum word { NAME, PROCESS, CPU, TIME, PERIOD, EVENT, ADDRESS };

static size_t digits_of(const char *c, size_t n, const char *set)
{
    size_t k = strspn(c, set);
    return k < n ? k : n;
}

static enum word word_of(const char *c, size_t n, size_t columns)
{
    static const char decimal[] = "0123456789", hex[] = "0123456789abcdef";
    size_t digits = digits_of(c, n, decimal);
    if (n >= 4 && columns >= ADDRESS_COLUMNS && digits_of(c, n, hex) == n)
        return ADDRESS;
    if (digits == n)
        return columns >= PERIOD_COLUMNS ? PERIOD : PROCESS;
    if (digits && c[digits] == '/' && digits + 1 + digits_of(c + digits + 1, n - digits - 1, decimal) == n)
        return PROCESS;
    if (digits && c[digits] == '.' && c[n - 1] == ':')
        return TIME;
    if (*c == '[' && c[n - 1] == ']')
        return CPU;
    return n > 1 && c[n - 1] == ':' ? EVENT : NAME;
}

static void take_word(struct sample *s, enum word word, char *c, size_t n)
{
    if (word == PROCESS) {
        char *tid = c;
        uint64_t v = 0;
        number(&tid, 10, &v);
        s->pid = s->tid = (uint32_t)v;
        if (*tid == '/' && (tid++, number(&tid, 10, &v)))
            s->tid = (uint32_t)v;
    } else if (word == PERIOD)
        s->period = strtoull(c, NULL, 10);
    else if (word == EVENT) {
        s->event = c;
        c[n - 1] = '\0';
    }
}

/* *sure: it says more than a name, which any text does. */
static bool read_loose(char *line, struct sample *s, bool *sure)
{
    char *c = line, *begin = skip_blanks(line), *name_end = begin;
    enum word last = NAME;
    *s = (struct sample){.period = 1, .symbol = (char *)"", .dso = (char *)"", .event = (char *)"samples"};
    *sure = false;
    for (size_t words = 0; words < MOST_WORDS; words++) {
        char *word = skip_blanks(c);
        size_t n = strcspn(word, " \t"), columns = (size_t)(word - c) + n;
        enum word kind = n ? word_of(word, n, columns) : NAME;
        if (n == 0 || (kind == NAME && last != NAME) || kind == ADDRESS)
            break;
        if (kind != NAME && kind <= last && last != NAME)
            return false;
        if (kind == NAME)
            name_end = word + n;
        c = word + n;
        c += *c != '\0';
        take_word(s, kind, word, n);
        *sure = *sure || kind != NAME;
        last = kind;
    }
    c = skip_blanks(c);
    if (*c && !read_frame(c, s))
        return false;
    *sure = *sure || s->has_ip;
    s->comm = (char *)"";
    if (name_end > begin) {
        *name_end = '\0';
        s->comm = begin;
    }
    return true;
}

/* "  heat.c:12", maybe with " (discriminator 3)", behind the line of a frame. */
static bool read_source(const char *line, size_t n, const char **file, size_t *length, uint32_t *number)
{
    size_t digits = 0;
    const char *more = memmem(line, n, " (", 2);
    n = more ? (size_t)(more - line) : n;
    if (n < 5 || line[0] != ' ' || line[1] != ' ' || isblank((unsigned char)line[2]))
        return false;
    while (digits < n && isdigit((unsigned char)line[n - 1 - digits]))
        digits++;
    if (digits == 0 || digits > 9 || n < digits + 4 || line[n - 1 - digits] != ':')
        return false;
    *file = line + 2;
    *length = n - digits - 3;
    *number = 0;
    for (size_t i = n - digits; i < n; i++)
        *number = *number * 10 + (uint32_t)(line[i] - '0');
    return true;
}

/* "PERF_RECORD_MMAP2 PID/TID: [0xADDR(0xLEN) @ OFFSET ...]: r-xp PATH" */
static bool read_mapping(char *line, uint32_t *process, struct perf_mapping *m, char **path)
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

/* ---- records and samples ------------------------------------------------------------------------------ */

/* Is the line about a mapping or another event of the process's life, no sample? */
static bool take_record(struct reader *r, char *line)
{
    struct perf_mapping m = {0};
    uint32_t pid;
    char *path;
    if (!strstr(line, "PERF_RECORD_"))
        return false;
    if (read_mapping(line, &pid, &m, &path)) {
        m.path = strtab_add(perf_run_strings(r->run), path);
        perf_run_map(r->run, pid, &m);
    }
    return true;
}

static struct perf_frame frame_of(struct reader *r, const struct sample *s)
{
    struct strtab *strings = perf_run_strings(r->run);
    struct perf_frame f = {.ip = s->ip,
                           .symbol = strtab_add(strings, s->symbol),
                           .object = strtab_add(strings, s->dso),
                           .may_be_offset = r->header.len != 0};
    const char *next = r->lines->at, *file;
    const char *end = next < r->lines->end ? memchr(next, '\n', (size_t)(r->lines->end - next)) : NULL;
    size_t length;
    uint32_t line;
    if (end && read_source(next, (size_t)(end - next), &file, &length, &line) && line) {
        f.file = strtab_addn(strings, file, length);
        f.line = line;
    }
    return f;
}

static void add_sample(struct reader *r, const struct sample *s)
{
    struct perf_sample sample = {.pid = s->pid,
                                 .tid = s->tid,
                                 .event = perf_run_event(r->run, s->event),
                                 .period = s->period,
                                 .frames = r->frames.items,
                                 .frame_count = r->frames.count};
    perf_run_name(r->run, s->pid, s->tid, s->comm, false);
    perf_run_sample(r->run, &sample);
    r->frames.count = 0;
}

/* The sample whose header waits is whole. Where -F leaves all but addresses out, frames have no header. */
static void end_sample(struct reader *r)
{
    struct sample s = {.period = 1, .comm = (char *)"", .event = (char *)"samples"};
    bool sure = true, header = r->header.len != 0;
    if (header && r->loose ? read_loose(r->header.bytes, &s, &sure) && (sure || r->frames.count)
        : header           ? read_sample(r->header.bytes, &s)
                           : r->frames.count != 0)
        add_sample(r, &s);
    r->header.len = 0;
    r->frames.count = 0;
}

/* Is it a frame of the sample that is being read? Those that perf made up from debug information, "(inlined)", stand
   before the one whose object and address they share. */
static bool take_frame(struct reader *r, char *line)
{
    struct sample frame = {0};
    if ((r->header.len == 0 && *line != '\t') || !isblank((unsigned char)*line) || !read_frame(line, &frame))
        return false;
    if (!frame.inlined && r->frames.count < LIMIT_PATH_DEPTH)
        *vec_push(&r->frames) = frame_of(r, &frame);
    return true;
}

static void take_sample(struct reader *r, char *line)
{
    struct sample s;
    size_t before = r->header.len, n = strlen(line);
    bool sure;
    buf_add(&r->header, line, n); /* read_sample cuts the line into pieces */
    r->loose = !read_sample(line, &s);
    if (r->loose)
        memcpy(line, r->header.bytes + before, n);
    if (r->loose && !read_loose(line, &s, &sure))
        r->header.len = before;
    else if (s.has_ip) {
        r->header.len = 0;
        *vec_push(&r->frames) = frame_of(r, &s);
        add_sample(r, &s);
    }
}

/* Of lines that leave fields out: an address of six digits or more, aligned as perf does, that is not just a number. */
static bool sniff_loose(char *line)
{
    char *c = line;
    for (size_t n; *(c = skip_blanks(c)); c += n) {
        n = strcspn(c, " \t");
        size_t digits = digits_of(c, n, "0123456789abcdef");
        bool aligned = c - line >= 2 && (c[-1] == ' ' && c[-2] == ' ') && (size_t)(c - line) + n >= ADDRESS_COLUMNS;
        if (aligned && digits == n && n >= 6 && (digits_of(c, n, "0123456789") < n || line[strlen(line) - 1] == ')'))
            return true;
        if (aligned && line[0] == '\t' && digits == n && n >= 4)
            return true;
    }
    return false;
}

/* Such a line, whatever perf says there ("libc.so.6[1f0]", "??:0"). */
static bool is_source(char *line)
{
    return line[0] == ' ' && line[1] == ' ' && line[2] && !isblank((unsigned char)line[2]) && !strstr(line, ": ") &&
           !sniff_loose(line);
}

static void read_lines(struct reader *r, const void *bytes, size_t len)
{
    struct line_reader lines = line_reader_make(bytes, len);
    r->lines = &lines;
    while (line_reader_next(&lines)) {
        char *line = lines.text.bytes;
        if (take_record(r, line) || take_frame(r, line) || is_source(line))
            continue;
        end_sample(r);
        if (lines.text.len && line[0] != '#')
            take_sample(r, line);
    }
    end_sample(r);
    line_reader_release(&lines);
}

bool perf_script_sniff(const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, looks_like_text(bytes, len) ? len : 0);
    bool found = false;
    while (!found && r.number < 50 && line_reader_next(&r)) {
        struct sample s;
        struct perf_mapping m;
        uint32_t pid;
        char *path;
        if (r.text.len == 0 || r.text.len > 4096 || r.text.bytes[0] == '#')
            continue;
        if (strstr(r.text.bytes, ": PERF_RECORD_"))
            found = read_mapping(r.text.bytes, &pid, &m, &path);
        else
            found = sniff_loose(r.text.bytes) || read_sample(r.text.bytes, &s);
    }
    line_reader_release(&r);
    return found;
}

int perf_script_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct reader r = {.run = perf_run_create(into, in->name)};
    read_lines(&r, in->bytes, in->len);
    int status = perf_run_finish(r.run,
                                 " of perf script; 'perf script --show-mmap-events -F "
                                 "comm,pid,tid,time,event,period,ip,sym,symoff,dso' writes what is wanted",
                                 warnings, err);
    perf_run_free(r.run);
    buf_release(&r.header);
    vec_release(&r.frames);
    return status;
}
