/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of `perf script`. The parts used:
 *
 *     perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso
 *
 *     heat 6428/6428  3557.728871: PERF_RECORD_MMAP2 6428/6428: [0x5583(0x5000) @ 0x1000 fe:00 11 20]: r-xp
 * /home/me/heat heat 6428/6428  3557.761850:    1001001 cpu-clock:      5583078a17e8 main+0x338 (/home/me/heat)
 *
 * A mapping gives the file of an address; the file's program headers give the link-time address of that. Default output
 * (without pid, without mappings) is read too; then samples go by function. With call chains the header line has no
 * address and the frames follow, innermost first, each on a line of its own.
 *
 * -F may leave out anything but an address: the meaning of a word is then decided by its form, and for numbers by
 * perf's alignment. A source line (-F +srcline) is on the line after its frame, behind two blanks.
 */
#include "filters/perf/perf.h"
#include "filters/perf/run.h"

#include <ctype.h>
#include <stdlib.h>

struct sample { /* one line, its texts lent and with their lengths */
    uint32_t pid, tid;
    const char *comm, *event;
    size_t comm_length, event_length;
    uint64_t period;   /* 1 if the line has none */
    const char *frame; /* the rest of the line */
    bool has_frame, has_period;
};

struct known_frame { /* the interpretation of a line of text, which is in the input */
    const char *text;
    uint32_t length;
    bool inlined;
    struct perf_frame frame;
};
enum { KNOWN_FRAMES = 1 << 14, LONGEST_KNOWN = 4096 };

struct script_reader {
    struct perf_run *run;
    struct line_reader lines;
    struct sample header;  /* of the sample whose frames are being read, its texts not lent any more */
    bool has_header, sure; /* sure: it says more than a name, which any text does */
    uint32_t event;        /* of it */
    struct VEC(struct perf_frame) frames;
    struct perf_frame inlined; /* has_inlined: the last frame, which the next one stands for if it is of its address */
    bool has_inlined;
    struct known_frame *known; /* by hash: the last one of it */
    struct buf last_event, last_name;
    bool last_has_period, lacks_periods;
    uint32_t last_tid;
    struct buf frame; /* the one that is being taken to pieces */
};

/* ---- one line ------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static bool number(const char **at, unsigned base, uint64_t *value)
{
    const char *begin = *at;
    uint64_t v = 0;
    for (int digit; (digit = hex_digit(**at)) >= 0 && (unsigned)digit < base; (*at)++)
        v = v * base + (unsigned)digit;
    *value = v;
    return *at > begin;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* "PID/TID" or "TID", then maybe "[CPU]", then "TIME:": where it begins in the line ends the command's name, which may
 * hold blanks. */
static bool read_who(const char *line, struct sample *s, const char **rest)
{
    for (const char *at = line; *at; at++) {
        uint64_t pid, tid, ignored;
        const char *c = at;
        if (at == line || !is_blank(at[-1]) || !number(&c, 10, &pid))
            continue;
        tid = pid;
        if (*c == '/') {
            c++;
            if (!number(&c, 10, &tid))
                continue;
        }
        if (!is_blank(*c))
            continue;
        c = filter_skip_blanks(c);
        if (*c == '[') {
            c = strchr(c, ']');
            c = c ? filter_skip_blanks(c + 1) : at;
        }
        if (!number(&c, 10, &ignored) || *c != '.')
            continue;
        c++;
        if (!number(&c, 10, &ignored) || *c != ':')
            continue;
        *rest = filter_skip_blanks(c + 1);
        s->pid = (uint32_t)pid;
        s->tid = (uint32_t)tid;
        s->comm = filter_skip_blanks(line);
        while (at > s->comm && is_blank(at[-1]))
            at--;
        s->comm_length = at > s->comm ? (size_t)(at - s->comm) : 0;
        return true;
    }
    return false;
}

/* Does it begin with an address? */
static bool is_frame(const char *c)
{
    uint64_t ip;
    return number(&c, 16, &ip) && (*c == '\0' || is_blank(*c));
}

/* "5583078a17e8 main+0x338 (/home/me/heat)"; symbols may hold blanks and brackets. The text is cut into pieces. */
static bool read_frame(char *text, uint64_t *ip, const char **symbol, const char **object, uint64_t *into,
                       bool *inlined)
{
    const char *after = text;
    if (!number(&after, 16, ip) || (*after && !is_blank(*after)))
        return false;
    char *c = text + (filter_skip_blanks(after) - text), *open = NULL;
    *symbol = c;
    *object = "";
    *inlined = false;
    for (char *p = c; (p = strchr(p, '(')); p++)
        if ((p == c || p[-1] == ' ') && strcmp(p, "(deleted))") != 0) /* which is in the object's brackets */
            open = p;
    /* the last parenthesis that opens after a blank contains the object, or marks that there is none: "(inlined)" */
    if (open) {
        char *close = strrchr(open, ')');
        *inlined = strcmp(open, "(inlined)") == 0;
        if (close && close > open && !*inlined) {
            *close = '\0';
            *object = open + 1;
        }
        for (*open = '\0'; open > c && open[-1] == ' '; open--)
            open[-1] = '\0';
    }
    char *offset = strrchr(c, '+');
    *into = UINT64_MAX;
    if (offset && offset[1] == '0' && offset[2] == 'x') {
        *into = strtoull(offset + 1, NULL, 16);
        *offset = '\0';
    }
    return true;
}

static void take_rest(struct sample *s, const char *rest)
{
    s->frame = filter_skip_blanks(rest);
    s->has_frame = is_frame(s->frame);
}

/* A sample's header, with its frame if there is one on the line. */
static bool read_sample(const char *line, struct sample *s)
{
    const char *c;
    *s = (struct sample){.period = 1, .frame = ""};
    if (!read_who(line, s, &c))
        return false;
    const char *after = c;
    uint64_t period;
    if (number(&after, 10, &period) && is_blank(*after)) {
        s->period = period;
        s->has_period = true;
        c = filter_skip_blanks(after);
    }
    /* the event's name ends at the colon before a blank: "cycles:u:", "perf::TASK-CLOCK:" */
    const char *end = c;
    while (*end && !is_blank(*end))
        end++;
    if (end == c || end[-1] != ':' || str_starts(c, "PERF_RECORD_"))
        return false;
    s->event = c;
    s->event_length = (size_t)(end - c) - 1;
    take_rest(s, end);
    return true;
}

/* Fields that -F leaves out make a header of fewer words. Of those with blanks before them perf aligns a period to
   10 columns, an address to 16. */
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

static void take_word(struct sample *s, enum word word, const char *c, size_t n)
{
    if (word == PROCESS) {
        uint64_t v = 0;
        number(&c, 10, &v);
        s->pid = s->tid = (uint32_t)v;
        if (*c == '/' && (c++, number(&c, 10, &v)))
            s->tid = (uint32_t)v;
    } else if (word == PERIOD)
        s->has_period = number(&c, 10, &s->period);
    else if (word == EVENT) {
        s->event = c;
        s->event_length = n - 1;
    }
}

static const char nameless_event[] = "samples";

static struct sample nameless_sample(void)
{
    return (struct sample){
        .period = 1, .comm = "", .event = nameless_event, .event_length = strlen(nameless_event), .frame = ""};
}

/* *sure: it says more than a name, which any text does. */
static bool read_loose(const char *line, struct sample *s, bool *sure)
{
    const char *c = line, *begin = filter_skip_blanks(line), *name_end = begin;
    enum word last = NAME;
    *s = nameless_sample();
    *sure = false;
    for (size_t words = 0; words < MOST_WORDS; words++) {
        const char *word = filter_skip_blanks(c);
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
    take_rest(s, c);
    if (*s->frame && !s->has_frame)
        return false;
    *sure = *sure || s->has_frame;
    s->comm = begin;
    s->comm_length = (size_t)(name_end - begin);
    return true;
}

/* "  heat.c:12", maybe with " (discriminator 3)", behind the line of a frame. */
static bool read_source(const char *line, size_t n, const char **file, size_t *length, uint32_t *number)
{
    size_t digits = 0;
    const char *more = memmem(line, n, " (", 2);
    n = more ? (size_t)(more - line) : n;
    if (n < 5)
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
static bool read_mapping(const char *line, uint32_t *process, struct perf_mapping *m, const char **path)
{
    const char *c = strstr(line, "PERF_RECORD_MMAP");
    uint64_t pid, length;
    if (!c || !(c = strchr(c, ' ')))
        return false;
    c = filter_skip_blanks(c);
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
static bool take_record(struct script_reader *r, const char *line)
{
    struct perf_mapping m = {0};
    uint32_t pid;
    const char *path;
    if (!strstr(line, "PERF_RECORD_"))
        return false;
    if (read_mapping(line, &pid, &m, &path)) {
        m.path = strtab_add(perf_run_strings(r->run), path);
        perf_run_map(r->run, pid, &m);
    }
    return true;
}

/* ---- frames, and the forms of their lines ------------------------------------------------------------------- */

static struct known_frame *known_slot(struct script_reader *r, const char *text, size_t n)
{
    uint64_t words[3] = {0};
    memcpy(words, text, n < sizeof words ? n : sizeof words);
    uint64_t h = ((words[0] * 0x9e3779b97f4a7c15) ^ words[1]) * 0xbf58476d1ce4e5b9;
    h = (h ^ h >> 29 ^ words[2]) * 0x94d049bb133111eb + n;
    return &r->known[(h ^ h >> 32) % KNOWN_FRAMES];
}

/* The lines of one address are as a rule the same text: it is taken to pieces once. */
static const struct known_frame *known_frame(struct script_reader *r, const char *text, size_t n)
{
    struct known_frame *known = known_slot(r, text, n);
    struct strtab *strings = perf_run_strings(r->run);
    const char *symbol, *object;
    if (known->text && known->length == n && memcmp(known->text, text, n) == 0)
        return known;
    r->frame.len = 0;
    buf_add(&r->frame, text, n);
    *known = (struct known_frame){0};
    if (!read_frame(r->frame.bytes, &known->frame.ip, &symbol, &object, &known->frame.into, &known->inlined))
        return NULL;
    known->frame.symbol = strtab_add(strings, symbol);
    known->frame.object = strtab_add(strings, object);
    known->text = n <= LONGEST_KNOWN ? text : NULL;
    known->length = (uint32_t)n;
    return known;
}

/* The source line, which -F +srcline puts behind that of the frame. */
static void take_source(struct script_reader *r, struct perf_frame *f)
{
    const char *next = r->lines.at, *file;
    if (r->lines.end - next < 3 || next[0] != ' ' || next[1] != ' ' || is_blank(next[2]))
        return;
    const char *end = memchr(next, '\n', (size_t)(r->lines.end - next));
    size_t length;
    uint32_t line;
    if (end && read_source(next, (size_t)(end - next), &file, &length, &line) && line) {
        f->file = strtab_addn(perf_run_strings(r->run), file, length);
        f->line = line;
    }
}

static struct perf_frame frame_here(struct script_reader *r, const struct known_frame *known)
{
    struct perf_frame f = known->frame;
    f.may_be_offset = r->has_header;
    take_source(r, &f);
    return f;
}

static void add_frame(struct script_reader *r, struct perf_frame f)
{
    if (r->frames.count < LIMIT_PATH_DEPTH)
        *vec_push(&r->frames) = f;
}

/* No frame with its address came: it is the function itself, which the debug information calls by another name than the
   symbol that perf knows. */
static void add_inlined(struct script_reader *r)
{
    if (r->has_inlined)
        add_frame(r, r->inlined);
    r->has_inlined = false;
}

/* A frame that has lost its indentation: an address, and an object at the end of the line. */
static bool is_bare_frame(const struct script_reader *r, const char *text, const char *end)
{
    size_t digits = digits_of(text, (size_t)(end - text), "0123456789abcdef");
    return r->has_header && digits && text + digits < end && text[digits] == ' ' && end[-1] == ')';
}

/* Is it a frame of the sample that is being read? Those that perf made up from debug information, "(inlined)", stand
   before the one whose object and address they share. */
static bool take_frame(struct script_reader *r)
{
    const char *text = r->lines.line, *end = text + r->lines.len;
    bool is_indented = text < end && is_blank(*text);
    if (text == end || (!is_indented && !is_bare_frame(r, text, end)) || (!r->has_header && *text != '\t'))
        return false;
    while (text < end && is_blank(*text))
        text++;
    const struct known_frame *known = known_frame(r, text, (size_t)(end - text));
    if (!known)
        return false;
    if (r->has_inlined && r->inlined.ip != known->frame.ip)
        add_inlined(r);
    r->has_inlined = known->inlined;
    if (known->inlined)
        r->inlined = frame_here(r, known);
    else
        add_frame(r, frame_here(r, known));
    return true;
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

static bool is_last(struct buf *last, const char *text, size_t n)
{
    if (last->bytes && last->len == n && memcmp(last->bytes, text, n) == 0)
        return true;
    last->len = 0;
    buf_add(last, text, n);
    return false;
}

/* Samples without a period are not cycles: they are an event of their own, which no ratio can use by mistake. */
static uint32_t event_of(struct script_reader *r, const struct sample *s)
{
    const char *name = r->last_event.bytes;
    if (s->has_period || s->event == nameless_event)
        return perf_run_event(r->run, name);
    char *samples = mem_printf("samples of %s", name);
    uint32_t event = perf_run_event(r->run, samples);
    r->lacks_periods = true;
    mem_free(samples);
    return event;
}

/* The names are looked up only if they differ from the previous ones. */
static void take_names(struct script_reader *r, const struct sample *s)
{
    bool same_thread = r->last_name.bytes && r->last_tid == s->tid;
    if (!is_last(&r->last_event, s->event, s->event_length) || s->has_period != r->last_has_period)
        r->event = event_of(r, s);
    r->last_has_period = s->has_period;
    if (!is_last(&r->last_name, s->comm, s->comm_length) || !same_thread)
        perf_run_name(r->run, s->pid, s->tid, r->last_name.bytes, false);
    r->last_tid = s->tid;
}

static void add_sample(struct script_reader *r, const struct sample *s)
{
    perf_run_sample(r->run, &(struct perf_sample){.pid = s->pid,
                                                  .tid = s->tid,
                                                  .event = r->event,
                                                  .period = s->period,
                                                  .frames = r->frames.items,
                                                  .frame_count = r->frames.count});
    r->frames.count = 0;
}

/* The pending sample is complete. If -F leaves out everything except addresses, frames have no header. */
static void end_sample(struct script_reader *r)
{
    add_inlined(r);
    if (!r->has_header && r->frames.count) {
        r->header = nameless_sample();
        take_names(r, &r->header);
        r->sure = true;
    }
    if (r->frames.count || (r->has_header && r->sure))
        add_sample(r, &r->header);
    r->has_header = false;
    r->frames.count = 0;
}

static void take_sample(struct script_reader *r, const struct sample *s, bool sure)
{
    take_names(r, s);
    r->header = *s;
    r->sure = sure;
    if (!s->has_frame) {
        r->has_header = true;
        return;
    }
    const char *text = r->lines.line + (s->frame - r->lines.text.bytes), *end = r->lines.line + r->lines.len;
    const struct known_frame *known = known_frame(r, text, (size_t)(end - text));
    if (known)
        add_frame(r, frame_here(r, known));
    add_sample(r, s);
}

/* In lines without some fields: an address of six digits or more, aligned as perf does, that is not just a number. */
static bool sniff_loose(const char *line)
{
    const char *c = line;
    for (size_t n; *(c = filter_skip_blanks(c)); c += n) {
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

/* The output of -F +insn and +insnlen behind a sample. */
static bool is_instruction(const char *line)
{
    const char *word = filter_skip_blanks(line);
    return word > line && (str_starts(word, "insn:") || str_starts(word, "ilen:"));
}

/* Such a line, in all of perf's forms ("libc.so.6[1f0]", "??:0"). */
static bool is_source(const char *line)
{
    return line[0] == ' ' && line[1] == ' ' && line[2] && !isblank((unsigned char)line[2]) && !strstr(line, ": ") &&
           !sniff_loose(line);
}

static void take_line(struct script_reader *r)
{
    struct sample s;
    bool sure = true, strict;
    if (r->lines.len && r->lines.line[0] == '\t' && take_frame(r))
        return;
    const char *line = filter_line_reader_copy(&r->lines);
    strict = read_sample(line, &s);
    if (!strict && (is_instruction(line) || take_record(r, line) || take_frame(r) || is_source(line)))
        return;
    end_sample(r);
    if (strict || (*line && *line != '#' && read_loose(line, &s, &sure)))
        take_sample(r, &s, sure);
}

bool perf_script_sniff(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    bool found = false, after_header = false;
    while (!found && r.number < 50 && filter_line_reader_next(&r)) {
        bool sure, is_header;
        struct sample s;
        struct perf_mapping m;
        uint32_t pid;
        const char *path;
        if (r.text.len == 0 || r.text.len > 4096 || r.text.bytes[0] == '#')
            continue;
        if (strstr(r.text.bytes, ": PERF_RECORD_"))
            found = read_mapping(r.text.bytes, &pid, &m, &path);
        else
            found =
                (after_header && is_bare_frame(&(struct script_reader){.has_header = true}, r.line, r.line + r.len)) ||
                sniff_loose(r.text.bytes) || read_sample(r.text.bytes, &s);
        is_header = read_loose(r.text.bytes, &s, &sure);
        after_header = is_header && sure && !s.has_frame && s.event != nameless_event;
    }
    filter_line_reader_release(&r);
    return found;
}

/* A last line without its end may be truncated: a whole frame is used, anything else is not, and this sample ends
   with the previous line. True: the line is processed. */
static bool take_last_line(struct script_reader *r, const struct filter_input *in, struct warnings *warnings)
{
    const char *bytes = in->bytes;
    if (bytes[in->len - 1] == '\n')
        return false;
    warnings_add(warnings, "%s:%lu: the last line has no end; is the file truncated?", in->name, r->lines.number);
    bool is_whole = r->lines.len && r->lines.line[r->lines.len - 1] == ')';
    r->has_header = r->has_header && (is_whole || r->frames.count);
    return !is_whole;
}

int perf_script_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct script_reader r = {.run = perf_run_create(into, in), .lines = filter_line_reader_make(in->bytes, in->len)};
    r.known = mem_calloc(KNOWN_FRAMES, sizeof *r.known);
    while (filter_line_reader_step(&r.lines)) {
        if (r.lines.at == r.lines.end && take_last_line(&r, in, warnings))
            break;
        take_line(&r);
        filemap_pass(in->map, r.lines.line);
    }
    end_sample(&r);
    if (r.lacks_periods)
        warnings_add(warnings,
                     "%s: samples have no periods, so that they are counted, and ratios of events cannot be computed; "
                     "'perf script -F +period' writes them",
                     in->name);
    int status = perf_run_finish(r.run,
                                 " of perf script; 'perf script --show-mmap-events -F "
                                 "comm,pid,tid,time,event,period,ip,sym,symoff,dso' writes the required text",
                                 warnings, err);
    perf_run_free(r.run);
    filter_line_reader_release(&r.lines);
    buf_release(&r.last_event);
    buf_release(&r.last_name);
    buf_release(&r.frame);
    vec_release(&r.frames);
    mem_free(r.known);
    return status;
}
