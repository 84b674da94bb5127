/*
 * callgrind.out files (the format of kcachegrind) and cachegrind.out files, which are a part of it: costs at lines of
 * functions, and of the calls they make.
 *
 *     events: Ir Dr
 *     fl=(1) heat.c           a name is given once, "(1)" alone afterwards
 *     fn=(1) main
 *     16 400 20               line 16
 *     +3 400                  line 19; costs left out are 0
 *     cfn=(2) step
 *     calls=1 50
 *     * 9000                  what the call cost, inclusive: not a cost of this line
 *
 * With --dump-instr=yes a line begins with an address too, and its Ir is how often the instruction was executed. With
 * --collect-jumps=yes the jumps between them are known as well, and so are the loops (instr_loops.c).
 */
#include "filters/instr_loops.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_EVENTS = 64, MOST_POSITIONS = 2 };

struct name_table VEC(str_id); /* by the file's own numbers */

struct callgrind {
    struct hpcprof *into;
    const char *name;     /* of the input */
    const char *at, *end; /* what is left of the line */
    unsigned long line;   /* for messages */
    bool cachegrind;
    struct name_table objects, files, functions;
    str_id object, file, function, command;
    str_id own_file; /* of the function: `file` goes on to those inlined into it */
    uint32_t module;
    bool has_module;
    bool module_here;                 /* its file is on this machine: addresses can be placed */
    struct VEC(uint8_t) objects_here; /* by name: 0 not yet looked, 1 no, 2 yes */
    uint32_t process, thread;
    struct hashmap threads; /* by callgrind's number */
    bool has_process, has_thread;
    uint64_t pid, thread_number;
    uint32_t events[MOST_EVENTS];
    size_t event_count, ir; /* ir: which of them is Ir, or event_count */
    bool has_addresses, has_lines;
    uint64_t address, source_line; /* where the last line was */
    bool skip_next;                /* the line after calls= */
    struct instr_jump jump;        /* count 0: none is waiting for the line that says where it stands */
    str_id called;                 /* the object of the next call, if it has one of its own */
    bool has_called;
    struct instr_loops *loops;
    struct err *err;
};

static int wrong(struct callgrind *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s:%lu: %s", c->name, c->line, what);
}

/* ---- pieces of a line ------------------------------------------------------------------------------- */

static void blanks(struct callgrind *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static bool digit_next(const struct callgrind *c)
{
    return c->at < c->end && isdigit((unsigned char)*c->at);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "16" or "0x10". */
static bool number(struct callgrind *c, uint64_t *value)
{
    uint64_t v = 0;
    if (!digit_next(c))
        return false;
    if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] | 0x20) == 'x') {
        for (c->at += 2; c->at < c->end && hex_digit(*c->at) >= 0; c->at++)
            v = v << 4 | (unsigned)hex_digit(*c->at);
    } else
        for (; digit_next(c); c->at++)
            v = v * 10 + (unsigned)(*c->at - '0');
    *value = v;
    return true;
}

/* "16", "+3", "-2" or "*", after what the last line had. */
static bool position(struct callgrind *c, uint64_t last, uint64_t *position)
{
    uint64_t v;
    blanks(c);
    if (c->at == c->end)
        return false;
    char sign = *c->at;
    if (sign == '*') {
        c->at++;
        *position = last;
        return true;
    }
    if (sign == '+' || sign == '-')
        c->at++;
    if (!number(c, &v))
        return false;
    *position = sign == '+' ? last + v : sign == '-' ? last - v : v;
    return true;
}

static bool positions(struct callgrind *c, uint64_t *address, uint64_t *line)
{
    *address = c->address;
    *line = c->source_line;
    return (!c->has_addresses || position(c, c->address, address)) &&
           (!c->has_lines || position(c, c->source_line, line));
}

static str_id rest_of_line(struct callgrind *c)
{
    blanks(c);
    return strtab_addn(c->into->strings, c->at, (size_t)(c->end - c->at));
}

/* "(12) name" gives number 12 that name, "(12)" is the name it has, anything else is the name itself. */
static int read_name(struct callgrind *c, struct name_table *table, str_id *name)
{
    uint64_t n;
    blanks(c);
    const char *begin = c->at;
    if (c->end - c->at < 3 || *c->at != '(' || !isdigit((unsigned char)c->at[1])) {
        *name = rest_of_line(c);
        return 0;
    }
    c->at++;
    if (!number(c, &n) || c->at == c->end || *c->at != ')' || n > LIMIT_SOURCE_INDEX * 10 || c->at - begin > 10)
        return wrong(c, "a name's number is not '(N)', or too large");
    c->at++;
    while (table->count <= n)
        *vec_push(table) = 0;
    blanks(c);
    if (c->at < c->end)
        table->items[n] = rest_of_line(c);
    *name = table->items[n];
    return 0;
}

/* What callgrind writes where debug information has no name. */
static str_id known(struct callgrind *c, str_id name)
{
    return strcmp(strtab_get(c->into->strings, name), "???") == 0 ? 0 : name;
}

/* ---- the header ------------------------------------------------------------------------------------------ */

static int add_events(struct callgrind *c)
{
    c->event_count = 0;
    c->ir = MOST_EVENTS;
    for (blanks(c); c->at < c->end; blanks(c)) {
        const char *begin = c->at;
        while (c->at < c->end && *c->at != ' ' && *c->at != '\t')
            c->at++;
        if (c->event_count == MOST_EVENTS)
            return wrong(c, "there are more than 64 events");
        str_id name = strtab_addn(c->into->strings, begin, (size_t)(c->at - begin));
        bool ir = strcmp(strtab_get(c->into->strings, name), "Ir") == 0;
        struct hpcprof_event event = {.name = name,
                                      .description =
                                          strtab_add(c->into->strings, c->cachegrind ? "as cachegrind simulated it"
                                                                                     : "as callgrind simulated it"),
                                      .unit = strtab_add(c->into->strings, ir ? "instructions" : "")};
        if (ir)
            c->ir = c->event_count;
        c->events[c->event_count++] = hpcprof_add_event(c->into, &event);
    }
    return 0;
}

static int read_positions(struct callgrind *c)
{
    str_id kinds = rest_of_line(c);
    const char *text = strtab_get(c->into->strings, kinds);
    c->has_addresses = strstr(text, "instr") || strstr(text, "addr");
    c->has_lines = strstr(text, "line") != NULL;
    return c->has_addresses || c->has_lines ? 0 : wrong(c, "no kind of position is named");
}

static int read_header(struct callgrind *c, const char *key, size_t n)
{
    uint64_t value = 0;
    blanks(c);
#define IS(word) (n == strlen(word) && memcmp(key, word, n) == 0)
    if (IS("events"))
        return add_events(c);
    if (IS("positions"))
        return read_positions(c);
    if (IS("cmd"))
        c->command = rest_of_line(c);
    else if (IS("pid") && number(c, &value))
        c->pid = value;
    else if (IS("thread") && number(c, &value)) {
        c->thread_number = value;
        c->has_thread = false;
    } else if (IS("part"))
        c->address = c->source_line = 0; /* a part is a file of its own */
    return 0;                            /* version, creator, desc, summary, totals, event: nothing that is wanted */
}

/* ---- whose cost it is -------------------------------------------------------------------------------------- */

/* A process's row comes with the first cost, when the lines about it have been read; threads follow one another. */
static void settle_thread(struct callgrind *c)
{
    if (!c->has_process) {
        struct hpcprof_process process = {.source_file = strtab_add(c->into->strings, path_base(c->name)),
                                          .command = c->command,
                                          .sampler =
                                              strtab_add(c->into->strings, c->cachegrind ? "cachegrind" : "callgrind"),
                                          .pid = (uint32_t)c->pid,
                                          .rank = -1,
                                          .exit_status = -1,
                                          .complete = true};
        c->process = hpcprof_add_process(c->into, &process);
        c->has_process = true;
    }
    uint32_t *slot = hashmap_put(&c->threads, c->thread_number);
    if (*slot == HASHMAP_NONE) {
        struct hpcprof_thread thread = {.process = c->process, .number = (uint32_t)c->threads.count - 1};
        *slot = hpcprof_add_thread(c->into, &thread);
    }
    c->thread = *slot;
    c->has_thread = true;
}

static bool object_here(struct callgrind *c, str_id object)
{
    while (c->objects_here.count <= object)
        *vec_push(&c->objects_here) = 0;
    uint8_t *here = &c->objects_here.items[object];
    if (*here == 0)
        *here = access(strtab_get(c->into->strings, object), R_OK) == 0 ? 2 : 1;
    return *here == 2;
}

/* cachegrind does not say in which object a function is: that of the program, as far as it tells. */
static const char *program_of(struct callgrind *c, char **owned)
{
    const char *command = strtab_get(c->into->strings, c->command);
    *owned = mem_strndup(command, strcspn(command, " "));
    return **owned ? *owned : "[unknown]";
}

static void set_object(struct callgrind *c, str_id object)
{
    c->has_module = c->has_module && c->object == object;
    c->object = object;
}

static void settle_module(struct callgrind *c)
{
    char *owned = NULL;
    const char *path = strtab_get(c->into->strings, c->object);
    if (*path == '\0')
        path = c->cachegrind ? program_of(c, &owned) : "[unknown]";
    c->module = hpcprof_add_module(c->into, path, "");
    c->module_here = *path == '/' && object_here(c, c->object);
    c->has_module = true;
    mem_free(owned);
}

/* An instruction has its address where its object is here to tell what is there; else the line. */
static uint32_t context(struct callgrind *c)
{
    if (!c->has_module)
        settle_module(c);
    struct hpcprof_context context = {.parent = HPCPROF_NO_PARENT, .module = c->module};
    if (c->has_addresses && c->module_here)
        context.address = c->address;
    else {
        context.by_line = true;
        context.procedure = c->function;
        context.file = c->file;
        /* cachegrind names the file of each line, and the procedure's own is not known */
        context.procedure_file = c->cachegrind || c->own_file == c->file ? 0 : c->own_file;
        context.line = c->source_line <= UINT32_MAX ? (uint32_t)c->source_line : 0;
    }
    return hpcprof_add_context(c->into, &context);
}

static struct instr_place place(const struct callgrind *c, uint64_t address)
{
    return (struct instr_place){c->thread, c->object, c->function, address};
}

/* ---- lines with costs ------------------------------------------------------------------------------------------ */

/* The costs behind the position: how many, in `values`. */
static int read_values(struct callgrind *c, uint64_t values[MOST_EVENTS], size_t *count)
{
    *count = 0;
    for (blanks(c); c->at < c->end; blanks(c)) {
        uint64_t value = 0;
        if (c->cachegrind && *c->at == '.')
            c->at++;
        else if (!number(c, &value))
            return wrong(c, "a cost is a whole number");
        if (*count >= c->event_count)
            return wrong(c, "there are more costs than events");
        values[(*count)++] = value;
    }
    return 0;
}

static void add_costs(struct callgrind *c, const uint64_t *values, size_t count)
{
    uint32_t at = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (values[i] == 0)
            continue;
        if (at == UINT32_MAX)
            at = context(c);
        hpcprof_add_count(c->into, &(struct hpcprof_count){
                                       .thread = c->thread, .context = at, .event = c->events[i], .value = values[i]});
    }
    if (c->has_addresses && c->ir < count && values[c->ir])
        instr_loops_executed(c->loops, place(c, c->address), at, values[c->ir]);
}

static int read_costs(struct callgrind *c)
{
    uint64_t values[MOST_EVENTS];
    size_t count;
    if (!positions(c, &c->address, &c->source_line))
        return wrong(c, "a line with costs begins with its position");
    if (!c->has_thread)
        settle_thread(c);
    if (c->jump.count) {
        c->jump.from = c->address;
        instr_loops_jump(c->loops, place(c, 0), &c->jump);
        c->jump.count = 0;
        return 0; /* the line after a jump is where the jump stands */
    }
    if (c->skip_next) {
        c->skip_next = false;
        return 0;
    }
    if (read_values(c, values, &count) < 0)
        return -1;
    add_costs(c, values, count);
    return 0;
}

/* "calls=1 0x1139 -1": how many, and where the function called begins. */
static int read_calls(struct callgrind *c)
{
    uint64_t count, address, line;
    blanks(c);
    c->skip_next = true;
    if (!number(c, &count))
        return wrong(c, "calls= wants their number and the place called");
    if (c->has_addresses && positions(c, &address, &line))
        instr_loops_entry(c->loops, c->has_called ? c->called : c->object, address);
    c->has_called = false;
    return 0;
}

/* "jump=3 0x1139 -1" or "jcnd=3/5 +7 +1": how often it jumped (of how often it was reached), and where to. */
static int read_jump(struct callgrind *c)
{
    uint64_t ignored, address, line;
    blanks(c);
    c->jump = (struct instr_jump){0};
    if (!number(c, &c->jump.count))
        return wrong(c, "a jump begins with the number of its executions");
    if (c->at < c->end && *c->at == '/') {
        c->at++;
        number(c, &ignored);
    }
    if (!positions(c, &address, &line))
        return wrong(c, "a jump names the place it goes to");
    c->jump.to = address;
    c->skip_next = c->jump.count == 0;
    return 0;
}

static int read_assignment(struct callgrind *c, const char *key, size_t n)
{
    str_id name = 0;
    int status = 0;
    if (IS("ob")) {
        status = read_name(c, &c->objects, &name);
        set_object(c, known(c, name));
    } else if (IS("fl") || IS("fi") || IS("fe")) {
        status = read_name(c, &c->files, &name);
        c->file = known(c, name);
        c->own_file = IS("fl") ? c->file : c->own_file;
    } else if (IS("fn")) {
        status = read_name(c, &c->functions, &name);
        c->function = known(c, name);
        c->own_file = c->file;
    } else if (IS("cob")) {
        status = read_name(c, &c->objects, &name);
        c->called = known(c, name);
        c->has_called = true;
    } else if (IS("cfi") || IS("cfl") || IS("jfi") || IS("jfl"))
        status = read_name(c, &c->files, &name);
    else if (IS("cfn") || IS("jfn"))
        status = read_name(c, &c->functions, &name);
    else if (IS("calls"))
        status = read_calls(c);
    else if (IS("jump") || IS("jcnd"))
        status = read_jump(c);
    return status;
#undef IS
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static int read_line(struct callgrind *c)
{
    blanks(c);
    if (c->at < c->end && c->end[-1] == '\r')
        c->end--;
    if (c->at == c->end || *c->at == '#')
        return 0;
    if (digit_next(c) || *c->at == '+' || *c->at == '-' || *c->at == '*')
        return read_costs(c);
    const char *key = c->at;
    while (c->at < c->end && isalpha((unsigned char)*c->at))
        c->at++;
    size_t n = (size_t)(c->at - key);
    char sign = n && c->at < c->end ? *c->at++ : '\0';
    if (sign == '=')
        return read_assignment(c, key, n);
    return sign == ':' ? read_header(c, key, n) : wrong(c, "is no line of a callgrind file");
}

static int read_lines(struct callgrind *c, const char *at, const char *end)
{
    int status = 0;
    while (at < end && status == 0) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        c->at = at;
        c->end = newline ? newline : end;
        c->line++;
        at = newline ? newline + 1 : end;
        status = read_line(c);
    }
    return status;
}

static int convert(const struct filter_input *in, bool cachegrind, struct hpcprof *into, struct warnings *warnings,
                   struct err *err)
{
    struct callgrind c = {.into = into, .name = in->name, .cachegrind = cachegrind, .has_lines = true, .err = err};
    const char *text = in->bytes;
    c.loops = instr_loops_create(into);
    int status = read_lines(&c, text, in->len ? text + in->len : text);
    if (status == 0 && !c.has_process)
        status = err_set(err, ERR_FORMAT, "%s: holds no costs", in->name);
    if (status == 0)
        instr_loops_finish(c.loops, in->name, warnings);
    instr_loops_free(c.loops);
    vec_release(&c.objects);
    vec_release(&c.files);
    vec_release(&c.functions);
    vec_release(&c.objects_here);
    hashmap_release(&c.threads);
    return status;
}

int callgrind_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    return convert(in, false, into, warnings, err);
}

int cachegrind_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    return convert(in, true, into, warnings, err);
}

/* ---- whose file is it? ------------------------------------------------------------------------------------------- */

enum dialect { NEITHER, CALLGRIND, CACHEGRIND };

/* cachegrind's files have "desc:" and "cmd:" before "events:", and nothing that callgrind alone writes. */
static enum dialect dialect_of(const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, looks_like_text(bytes, len) ? len : 0);
    enum dialect found = NEITHER;
    bool events = false, command = false;
    while (found == NEITHER && r.number < 100 && line_reader_next(&r)) {
        const char *line = r.text.bytes;
        bool begins = events && (str_starts(line, "fn=") || str_starts(line, "fl="));
        if (str_starts(line, "# callgrind format") || str_starts(line, "creator: callgrind") ||
            (events && str_starts(line, "ob=")))
            found = CALLGRIND;
        else if (begins)
            found = command ? CACHEGRIND : CALLGRIND;
        events = events || str_starts(line, "events:");
        command = command || (!events && r.number < 20 && str_starts(line, "cmd:"));
        if (str_starts(line, "version:") || str_starts(line, "positions:") || str_starts(line, "pid:"))
            command = false, r.number += 20;
        if (str_starts(line, "PERF") || r.text.len > 65536)
            break;
    }
    line_reader_release(&r);
    return found;
}

bool callgrind_sniff(const void *bytes, size_t len)
{
    return dialect_of(bytes, len) == CALLGRIND;
}

bool cachegrind_sniff(const void *bytes, size_t len)
{
    return dialect_of(bytes, len) == CACHEGRIND;
}
