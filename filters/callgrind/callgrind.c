/* SPDX-License-Identifier: BSD-3-Clause */
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
 * --collect-jumps=yes the jumps between them are known as well (jumps.c).
 */
#include "filters/callgrind/callgrind.h"
#include "filters/callgrind/reader.h"

#include <ctype.h>
#include <stdlib.h>

int callgrind_wrong(struct callgrind *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s:%lu: %s", c->name, c->line, what);
}

/* ---- the header ------------------------------------------------------------------------------------------ */

/* Each part names its events; as a rule they are the same again. */
static int add_events(struct callgrind *c)
{
    uint32_t events[MOST_EVENTS];
    size_t count = 0, ir_at = MOST_EVENTS;
    for (blanks(c); c->at < c->end; blanks(c)) {
        const char *begin = c->at;
        while (c->at < c->end && *c->at != ' ' && *c->at != '\t')
            c->at++;
        if (count == MOST_EVENTS)
            return callgrind_wrong(c, "more than 64 events");
        str_id name = strtab_addn(c->into->strings, begin, (size_t)(c->at - begin));
        bool ir = strcmp(strtab_get(c->into->strings, name), "Ir") == 0;
        struct hpcprof_event event = {.name = name,
                                      .description =
                                          strtab_add(c->into->strings, c->cachegrind ? "as cachegrind simulated it"
                                                                                     : "as callgrind simulated it"),
                                      .unit = strtab_add(c->into->strings, ir ? "instructions" : "")};
        if (ir)
            ir_at = count;
        events[count++] = hpcprof_add_event(c->into, &event);
    }
    if (count == c->event_count && memcmp(events, c->events, count * sizeof *events) == 0)
        return 0;
    callgrind_flush(c, false);
    memcpy(c->events, events, count * sizeof *events);
    c->event_count = count;
    c->ir = ir_at;
    return 0;
}

static int read_positions(struct callgrind *c)
{
    str_id kinds = callgrind_rest_of_line(c);
    const char *text = strtab_get(c->into->strings, kinds);
    c->has_addresses = strstr(text, "instr") || strstr(text, "addr");
    c->has_lines = strstr(text, "line") != NULL;
    return c->has_addresses || c->has_lines ? 0 : callgrind_wrong(c, "the kind of position is missing");
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
        c->command = callgrind_rest_of_line(c);
    else if (IS("creator"))
        c->has_end = c->has_end || (c->end - c->at > 10 && memcmp(c->at, "callgrind-", 10) == 0);
    else if (IS("totals") || (IS("summary") && c->cachegrind))
        c->ended = c->whole_line;
    else if (IS("pid") && callgrind_number(c, &value))
        c->pid = value;
    else if (IS("thread") && callgrind_number(c, &value)) {
        c->thread_number = value;
        c->has_thread = false;
    } else if (IS("part")) {
        c->address = c->source_line = 0; /* a part is a file of its own */
        if (c->parts++ && c->again)
            return callgrind_jumps_add(c, c->parts - 1);
    }
    return 0; /* version, desc, summary, event: not needed */
}

/* ---- lines with costs ------------------------------------------------------------------------------------------ */

/* The costs behind the position: how many, in `values`. */
static int read_values(struct callgrind *c, uint64_t values[MOST_EVENTS], size_t *count)
{
    const char *at = behind_blanks(c->at, c->end), *end = c->end;
    size_t n = 0;
    while (at < end) {
        uint64_t value = 0;
        const char *behind = c->cachegrind && *at == '.' ? at + 1 : read_number(c, at, &value);
        if (!behind)
            return callgrind_wrong(c, "a cost must be an integer");
        if (n >= c->event_count)
            return callgrind_wrong(c, "more costs than events");
        values[n++] = value;
        at = behind_blanks(behind, end);
    }
    c->at = at;
    *count = n;
    return 0;
}

static void add_costs(struct callgrind *c, const uint64_t *values, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || values[i];
    if (!any)
        return;
    uint32_t row = callgrind_position(c);
    if (c->again) {
        if (c->has_addresses && c->ir < count)
            jumps_executed(&c->jumps, row, values[c->ir]);
        return;
    }
    while (c->costs.count < ((size_t)row + 1) * c->event_count)
        *vec_push(&c->costs) = 0;
    for (size_t i = 0; i < count; i++)
        c->costs.items[row * c->event_count + i] += values[i];
}

/* The cost of a call is inclusive: not of this line, but of the edge. */
static int add_call(struct callgrind *c)
{
    uint64_t values[MOST_EVENTS];
    size_t count;
    c->has_call = false;
    if (read_values(c, values, &count) < 0)
        return -1;
    const struct callee *to = &c->call.callee;
    struct interner_key key = {{callgrind_position(c), to->has_object ? to->object : c->object, to->function,
                                to->has_file ? to->file : c->file},
                               {c->call.address, c->call.line}};
    uint32_t call = interner_row(&c->calls, &key);
    if (c->again)
        return 0;
    if (call == c->call_sums.count)
        *vec_push(&c->call_sums) = (struct call_sum){0};
    c->call_sums.items[call].calls += c->call.count;
    c->call_sums.items[call].cost += count ? values[0] : 0;
    return 0;
}

static int read_costs(struct callgrind *c)
{
    uint64_t values[MOST_EVENTS];
    size_t count;
    if (!callgrind_positions(c, &c->address, &c->source_line))
        return callgrind_wrong(c, "a line with costs must begin with its position");
    c->ended = false;
    if (!c->has_thread)
        callgrind_settle_thread(c);
    if (c->jump_count) { /* the line after a jump is where the jump stands */
        if (c->has_addresses)
            jumps_count(&c->jumps, c->thread, c->object, c->address, c->jump_to, c->jump_count);
        c->jump_count = 0;
        return 0;
    }
    if (c->skip_next) {
        c->skip_next = false;
        return 0;
    }
    if (c->has_call)
        return add_call(c);
    if (read_values(c, values, &count) < 0)
        return -1;
    add_costs(c, values, count);
    return 0;
}

/* "calls=1 0x1139 -1": how many, and where the function called begins. */
static int read_calls(struct callgrind *c)
{
    blanks(c);
    c->call = (struct callgrind_call){.callee = c->called};
    c->called = (struct callee){0};
    c->has_call = true;
    if (!callgrind_number(c, &c->call.count))
        return callgrind_wrong(c, "calls= must have the number of calls and the target");
    if (!callgrind_positions(c, &c->call.address, &c->call.line)) /* old files may leave it out */
        c->call.address = c->call.line = 0;
    if (!c->has_addresses)
        c->call.address = 0;
    return 0;
}

/* "jump=3 0x1139 -1" or "jcnd=3/5 +7 +1": how often it jumped (of how often it was reached), and where to. */
static int read_jump(struct callgrind *c)
{
    uint64_t ignored, address, line;
    blanks(c);
    c->jump_count = 0;
    if (!callgrind_number(c, &c->jump_count))
        return callgrind_wrong(c, "a jump must begin with the number of its executions");
    if (c->at < c->end && *c->at == '/') {
        c->at++;
        callgrind_number(c, &ignored);
    }
    if (!callgrind_positions(c, &address, &line))
        return callgrind_wrong(c, "a jump must name its target");
    c->jump_to = address;
    c->skip_next = c->jump_count == 0;
    return 0;
}

/* --demangle=no leaves names as the linker knows them. */
static str_id function_name(struct callgrind *c, str_id name)
{
    const char *text = strtab_get(c->into->strings, name), *words = names_in_words(&c->names, c->into->strings, text);
    return callgrind_known(c, words == text ? name : strtab_add(c->into->strings, words));
}

static int read_assignment(struct callgrind *c, const char *key, size_t n)
{
    str_id name = 0;
    int status = 0;
    if (IS("ob")) {
        status = callgrind_name(c, &c->objects, &name);
        c->object = callgrind_known(c, name);
        c->group_changed = true;
    } else if (IS("fl") || IS("fi") || IS("fe")) {
        status = callgrind_name(c, &c->files, &name);
        c->file = callgrind_known(c, name);
        c->own_file = IS("fl") ? c->file : c->own_file;
        c->group_changed = true;
    } else if (IS("fn")) {
        status = callgrind_name(c, &c->functions, &name);
        c->function = function_name(c, name);
        c->own_file = c->file;
        c->group_changed = true;
    } else if (IS("cob")) {
        status = callgrind_name(c, &c->objects, &name);
        c->called.object = callgrind_known(c, name);
        c->called.has_object = true;
    } else if (IS("cfi") || IS("cfl")) {
        status = callgrind_name(c, &c->files, &name);
        c->called.file = callgrind_known(c, name);
        c->called.has_file = true;
    } else if (IS("cfn")) {
        status = callgrind_name(c, &c->functions, &name);
        c->called.function = function_name(c, name);
    } else if (IS("jfi") || IS("jfl"))
        status = callgrind_name(c, &c->files, &name);
    else if (IS("jfn"))
        status = callgrind_name(c, &c->functions, &name);
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
    return sign == ':' ? read_header(c, key, n) : callgrind_wrong(c, "is not a line of a callgrind file");
}

static int read_lines(struct callgrind *c, const char *at, const char *end)
{
    int status = 0;
    c->text_end = end;
    while (at < end && status == 0) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        c->at = at;
        c->end = newline ? newline : end;
        c->whole_line = newline != NULL;
        c->line++;
        at = newline ? newline + 1 : end;
        status = read_line(c);
        filemap_pass(c->map, c->at);
    }
    return status;
}

/* Each part once more, for how often jumps were taken in it. */
static int read_again(struct callgrind *c, const char *at, const char *end)
{
    c->again = true;
    c->parts = 0;
    c->line = 0;
    c->has_addresses = c->has_thread = c->has_call = c->skip_next = false;
    c->has_lines = true;
    c->jump_count = c->thread_number = c->address = c->source_line = 0;
    c->object = c->file = c->own_file = c->function = 0;
    c->group_changed = true;
    c->called = (struct callee){0};
    return read_lines(c, at, end) < 0 ? -1 : callgrind_jumps_add(c, c->parts);
}

static int finish(struct callgrind *c, const char *text, const char *end)
{
    callgrind_flush(c, true);
    if (!c->has_process)
        return err_set(c->err, ERR_FORMAT, "%s: contains no costs", c->name);
    if (c->has_end && !c->ended)
        return err_set(c->err, ERR_FORMAT, "%s:%lu: has no line of totals; is the file truncated?", c->name, c->line);
    if (callgrind_call_edges(c) < 0)
        return -1;
    if (c->jumps.rows.rows.count == 0)
        return 0;
    callgrind_jumps_executed(c);
    if (c->parts < 2)
        return callgrind_jumps_add(c, 0);
    jumps_clear(&c->jumps);
    return read_again(c, text, end);
}

static int convert(const struct filter_input *in, bool cachegrind, struct hpcprof *into, struct err *err)
{
    struct callgrind c = {.into = into,
                          .in = in,
                          .name = in->name,
                          .map = in->map,
                          .cachegrind = cachegrind,
                          .has_lines = true,
                          .has_end = cachegrind,
                          .group_changed = true,
                          .first_file = into->context_count == 0,
                          .err = err};
    const char *text = in->bytes, *end = in->len ? text + in->len : text;
    c.nameless = strtab_add(into->strings, "???");
    int status = read_lines(&c, text, end);
    if (status == 0)
        status = finish(&c, text, end);
    vec_release(&c.objects);
    vec_release(&c.files);
    vec_release(&c.functions);
    vec_release(&c.known_objects);
    vec_release(&c.costs);
    vec_release(&c.executed);
    vec_release(&c.contexts);
    vec_release(&c.call_sums);
    callgrind_positions_release(&c.positions);
    interner_release(&c.calls);
    jumps_release(&c.jumps);
    names_release(&c.names);
    hashmap_release(&c.threads);
    return status;
}

int callgrind_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    (void)warnings;
    return convert(in, false, into, err);
}

int cachegrind_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    (void)warnings;
    return convert(in, true, into, err);
}

/* ---- whose file is it? ------------------------------------------------------------------------------------------- */

enum dialect { NEITHER, CALLGRIND, CACHEGRIND };

/* cachegrind's files have "desc:" and "cmd:" before "events:", and nothing that callgrind alone writes. */
static enum dialect dialect_of(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    enum dialect found = NEITHER;
    bool events = false, command = false;
    while (found == NEITHER && r.number < 100 && filter_line_reader_next(&r)) {
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
    filter_line_reader_release(&r);
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
