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
#include "filters/base/call_edges.h"
#include "filters/callgrind/callgrind.h"
#include "filters/callgrind/cost_positions.h"
#include "filters/callgrind/instr_loops.h"

#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_EVENTS = 64, MOST_POSITIONS = 2 };

struct name_table VEC(str_id); /* by the file's own numbers */

struct object { /* a module, once it is needed */
    uint32_t module;
    bool settled, here; /* here: its file is on this machine, addresses can be placed */
};

struct callee {
    str_id object, file, function;
    bool has_object, has_file;
};

struct call { /* to which place, how often */
    struct callee callee;
    uint64_t address, line, count;
};

struct call_sum {
    uint64_t calls, cost; /* cost: inclusive, of the first event */
};

struct callgrind {
    struct hpcprof *into;
    const char *name;     /* of the input */
    struct filemap *map;  /* which it is of */
    const char *at, *end; /* what is left of the line */
    const char *text_end; /* of the file */
    unsigned long line;   /* for messages */
    bool cachegrind;
    struct name_table objects, files, functions;
    str_id object, file, function, command;
    str_id nameless;                         /* "???" */
    str_id own_file;                         /* of the function: `file` goes on to those inlined into it */
    struct VEC(struct object) known_objects; /* by name */
    uint32_t process, thread;
    struct hashmap threads; /* by callgrind's number */
    bool has_process, has_thread;
    bool whole_line;     /* the line that is read has its end */
    bool has_end, ended; /* has_end: it is of a tool that writes totals behind the costs; ended: they were there */
    uint64_t pid, thread_number;
    uint32_t events[MOST_EVENTS];
    size_t event_count, ir; /* ir: which of them is Ir, or event_count */
    bool has_addresses, has_lines;
    uint64_t address, source_line; /* where the last line was */
    bool skip_next;                /* the line after a jump that was never taken */
    struct instr_jump jump;        /* count 0: none is waiting for the line that says where it stands */
    struct callee called;          /* by the next call */
    struct call call;              /* that waits for the line that says where it stands */
    bool has_call;
    unsigned parts;
    /* what was counted, each place once: a file has as many parts as there were dumps */
    struct cost_positions positions;
    bool group_changed; /* callgrind_positions_enter is to be told */
    struct interner calls, jumps;
    struct VEC(uint64_t) costs;    /* by row and event, since the events were named */
    struct VEC(uint64_t) executed; /* by row: Ir, where there are addresses */
    struct VEC(uint32_t) contexts; /* by row; UINT32_MAX: not made yet */
    bool first_file, distinct;     /* distinct: each row with an address is a context of its own */
    struct VEC(struct call_sum) call_sums;
    struct VEC(uint64_t) jump_counts;
    bool again; /* the second reading: each part's loops */
    struct instr_loops *loops;
    struct err *err;
};

static int wrong(struct callgrind *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s:%lu: %s", c->name, c->line, what);
}

/* ---- pieces of a line ------------------------------------------------------------------------------- */

static const char *behind_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static void blanks(struct callgrind *c)
{
    c->at = behind_blanks(c->at, c->end);
}

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

static bool digit_next(const struct callgrind *c)
{
    return c->at < c->end && is_digit(*c->at);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Digits one by one, or hexadecimal. */
static const char *read_digits(const char *at, const char *end, uint64_t *value)
{
    uint64_t v = 0;
    if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
        for (at += 2; at < end && hex_digit(*at) >= 0; at++)
            v = v << 4 | (unsigned)hex_digit(*at);
    } else
        for (; at < end && is_digit(*at); at++)
            v = v * 10 + (unsigned)(*at - '0');
    *value = v;
    return at;
}

/* Up to seven digits at once, as most numbers have: no branch depends on how many. Each byte's carry into its highest bit
   says whether it is a digit; then neighbours are joined (Mula, "SIMD-ized conversion of decimal strings", 2014). 0: they are
   more, none, or not decimal. */
static inline unsigned few_digits(const char *at, uint64_t *value)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    v = le64toh(v) ^ 0x3030303030303030;
    uint64_t others = (v | (v + 0x7676767676767676)) & 0x8080808080808080;
    unsigned bits = others ? (unsigned)__builtin_ctzll(others) & ~7u : 0;
    if (bits == 0 || (at[1] | 0x20) == 'x')
        return 0;
    v <<= 64 - bits;
    v = v * 10 + (v >> 8);
    v = (v & 0x000000ff000000ff) * 0x000f424000000064 + (v >> 16 & 0x000000ff000000ff) * 0x0000271000000001;
    *value = v >> 32;
    return bits / 8;
}

/* "16" or "0x10", and what is behind it; NULL: it is no number. */
static inline const char *read_number(const struct callgrind *c, const char *at, uint64_t *value)
{
    unsigned digits = c->text_end - at >= 8 ? few_digits(at, value) : 0;
    if (digits)
        return at + digits;
    return at < c->end && is_digit(*at) ? read_digits(at, c->end, value) : NULL;
}

static bool number(struct callgrind *c, uint64_t *value)
{
    const char *behind = read_number(c, c->at, value);
    c->at = behind ? behind : c->at;
    return behind != NULL;
}

/* "16", "+3", "-2" or "*", after what the last line had. */
static bool position(struct callgrind *c, uint64_t last, uint64_t *position)
{
    uint64_t v = 0;
    const char *at = behind_blanks(c->at, c->end), *end = c->end;
    char sign = at < end ? *at : '\0';
    if (sign == '*') {
        c->at = at + 1;
        *position = last;
        return true;
    }
    at = read_number(c, at + (sign == '+' || sign == '-'), &v);
    *position = sign == '+' ? last + v : sign == '-' ? last - v : v;
    c->at = at ? at : c->at;
    return at != NULL;
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
    if (c->end - c->at < 3 || *c->at != '(' || !is_digit(c->at[1])) {
        *name = rest_of_line(c);
        return 0;
    }
    c->at++;
    if (!number(c, &n) || c->at == c->end || *c->at != ')' || n > LIMIT_SOURCE_INDEX * 10 || c->at - begin > 10)
        return wrong(c, "the number of a name is not '(N)' or too large");
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
static str_id known(const struct callgrind *c, str_id name)
{
    return name == c->nameless ? 0 : name;
}

/* ---- the header ------------------------------------------------------------------------------------------ */

static void flush_costs(struct callgrind *c, bool last);

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
            return wrong(c, "more than 64 events");
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
    flush_costs(c, false);
    memcpy(c->events, events, count * sizeof *events);
    c->event_count = count;
    c->ir = ir_at;
    return 0;
}

static int read_positions(struct callgrind *c)
{
    str_id kinds = rest_of_line(c);
    const char *text = strtab_get(c->into->strings, kinds);
    c->has_addresses = strstr(text, "instr") || strstr(text, "addr");
    c->has_lines = strstr(text, "line") != NULL;
    return c->has_addresses || c->has_lines ? 0 : wrong(c, "the kind of position is missing");
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
    else if (IS("creator"))
        c->has_end = c->has_end || (c->end - c->at > 10 && memcmp(c->at, "callgrind-", 10) == 0);
    else if (IS("totals") || (IS("summary") && c->cachegrind))
        c->ended = c->whole_line;
    else if (IS("pid") && number(c, &value))
        c->pid = value;
    else if (IS("thread") && number(c, &value)) {
        c->thread_number = value;
        c->has_thread = false;
    } else if (IS("part")) {
        c->address = c->source_line = 0; /* a part is a file of its own */
        if (c->parts++ && c->again)
            instr_loops_part_end(c->loops);
    }
    return 0; /* version, desc, summary, event: nothing that is wanted */
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
    c->has_thread = c->group_changed = true;
}

/* cachegrind does not say in which object a function is: that of the program, as far as it tells. */
static const char *program_of(struct callgrind *c, char **owned)
{
    const char *command = strtab_get(c->into->strings, c->command);
    *owned = mem_strndup(command, strcspn(command, " "));
    return **owned ? *owned : "[unknown]";
}

static const struct object *settle_object(struct callgrind *c, str_id name)
{
    while (c->known_objects.count <= name)
        *vec_push(&c->known_objects) = (struct object){0};
    struct object *o = &c->known_objects.items[name];
    char *owned = NULL;
    const char *path = strtab_get(c->into->strings, name);
    if (*path == '\0')
        path = c->cachegrind ? program_of(c, &owned) : "[unknown]";
    *o = (struct object){hpcprof_add_module(c->into, path, ""), true, *path == '/' && access(path, R_OK) == 0};
    mem_free(owned);
    return o;
}

static const struct object *object_of(struct callgrind *c, str_id name)
{
    bool settled = name < c->known_objects.count && c->known_objects.items[name].settled;
    return settled ? &c->known_objects.items[name] : settle_object(c, name);
}

struct code_place {
    str_id object, function, file, own_file;
    uint64_t address, line;
};

/* An instruction has its address where its object is here to tell what is there; else the line. */
static struct hpcprof_context context_of(struct callgrind *c, const struct code_place *p)
{
    const struct object *o = object_of(c, p->object);
    if (p->address && o->here)
        return (struct hpcprof_context){.parent = HPCPROF_NO_PARENT, .module = o->module, .address = p->address};
    /* cachegrind names the file of each line, and the procedure's own is not known */
    bool own = !c->cachegrind && p->own_file != p->file;
    return (struct hpcprof_context){.parent = HPCPROF_NO_PARENT,
                                    .module = o->module,
                                    .procedure = p->function,
                                    .file = p->file,
                                    .procedure_file = own ? p->own_file : 0,
                                    .line = p->line <= UINT32_MAX ? (uint32_t)p->line : 0,
                                    .by_line = true};
}

/* ---- what was counted --------------------------------------------------------------------------------------- */

static uint32_t position_here(struct callgrind *c)
{
    if (c->group_changed)
        callgrind_positions_enter(&c->positions, c->thread, c->object, c->function, c->file, c->own_file);
    c->group_changed = false;
    return callgrind_positions_row(&c->positions, c->has_addresses ? c->address : 0, c->has_lines ? c->source_line : 0);
}

/* Instructions of one line follow one another. */
static bool is_of_line_before(const struct callgrind *c, uint32_t row)
{
    const struct cost_position *s = &c->positions.rows.items[row];
    bool same = row > 0 && s[-1].group == s->group && s[-1].line == s->line && !s[-1].address == !s->address;
    return same && c->contexts.items[row - 1] != UINT32_MAX;
}

static uint32_t make_context(struct callgrind *c, uint32_t row)
{
    const struct cost_position *s = &c->positions.rows.items[row];
    const struct cost_group *g = cost_positions_group(&c->positions, row);
    struct code_place place = {g->object, g->function, g->file, g->own_file, s->address, s->line};
    struct hpcprof_context context = context_of(c, &place);
    if (context.by_line && is_of_line_before(c, row))
        return c->contexts.items[row - 1];
    return c->distinct && !context.by_line ? hpcprof_append_context(c->into, &context)
                                           : hpcprof_add_context(c->into, &context);
}

static uint32_t position_context(struct callgrind *c, uint32_t row)
{
    uint32_t *context = &c->contexts.items[row];
    return *context != UINT32_MAX ? *context : (*context = make_context(c, row));
}

static void add_executed(struct callgrind *c, uint32_t row, uint64_t times)
{
    while (c->executed.count <= row)
        *vec_push(&c->executed) = 0;
    c->executed.items[row] += times;
}

static size_t counts_wanted(const struct callgrind *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->costs.count; i++)
        n += c->costs.items[i] != 0;
    return n;
}

static void add_counts(struct callgrind *c, uint32_t row, const uint64_t *costs)
{
    struct hpcprof_count count = {.thread = cost_positions_group(&c->positions, row)->thread};
    for (size_t i = 0; i < c->event_count; i++) {
        if (costs[i] == 0)
            continue;
        count.context = position_context(c, row);
        count.event = c->events[i];
        count.value = costs[i];
        hpcprof_add_count(c->into, &count);
    }
}

/* Costs become counts when other events are named, and at the end; then it is known whether there are jumps. */
static void flush_costs(struct callgrind *c, bool last)
{
    bool executed = c->ir < c->event_count && (!last || c->jumps.rows.count);
    c->distinct = c->first_file && callgrind_positions_order(&c->positions);
    vec_reserve(&c->contexts, c->positions.rows.count);
    while (c->contexts.count < c->positions.rows.count)
        *vec_push(&c->contexts) = UINT32_MAX;
    hpcprof_reserve_counts(c->into, counts_wanted(c));
    for (size_t i = 0, row = 0; i < c->costs.count; i += c->event_count, row++) {
        add_counts(c, (uint32_t)row, c->costs.items + i);
        if (executed && c->positions.rows.items[row].address)
            add_executed(c, (uint32_t)row, c->costs.items[i + c->ir]);
    }
    vec_release(&c->costs);
}

/* What the graph of each function is made of: instructions, jumps, and where functions begin. */
static void gather_graph(struct callgrind *c)
{
    for (uint32_t i = 0; i < c->executed.count; i++)
        if (c->executed.items[i]) {
            const struct cost_group *g = cost_positions_group(&c->positions, i);
            struct instr_place place = {g->thread, g->object, g->function, c->positions.rows.items[i].address};
            instr_loops_executed(c->loops, i, place, position_context(c, i), c->executed.items[i]);
        }
    for (uint32_t i = 0; i < c->jumps.rows.count; i++) {
        const struct interner_key *k = &c->jumps.rows.items[i].key;
        struct instr_jump jump = {k->b[0], k->b[1], c->jump_counts.items[i]};
        instr_loops_jump(c->loops, i, (struct instr_place){k->a[0], k->a[1], k->a[2], 0}, &jump);
    }
    for (uint32_t i = 0; i < c->calls.rows.count; i++)
        if (c->calls.rows.items[i].key.b[0])
            instr_loops_entry(c->loops, c->calls.rows.items[i].key.a[1], c->calls.rows.items[i].key.b[0]);
}

/* Where a function begins that was called, something was executed as a rule. */
static uint32_t callee_context(struct callgrind *c, const struct code_place *p)
{
    struct hpcprof_context context = context_of(c, p);
    uint32_t row =
        c->distinct && !context.by_line ? callgrind_positions_at(&c->positions, p->object, p->address) : ROW_NONE;
    return row != ROW_NONE ? position_context(c, row) : hpcprof_add_context(c->into, &context);
}

static int add_call_edges(struct callgrind *c)
{
    struct table *t;
    if (c->calls.rows.count == 0)
        return 0;
    if (call_edges_declare(c->into, &t, c->err) < 0)
        return -1;
    for (uint32_t i = 0; i < c->calls.rows.count; i++) {
        const struct interner_key *k = &c->calls.rows.items[i].key;
        struct code_place callee = {k->a[1], k->a[2], k->a[3], 0, k->b[0], k->b[1]};
        struct call_sum sum = c->call_sums.items[i];
        uint32_t caller = position_context(c, k->a[0]);
        call_edges_add(t, &(struct call_edge){caller, callee_context(c, &callee), sum.calls, sum.cost});
    }
    return 0;
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
            return wrong(c, "a cost must be an integer");
        if (n >= c->event_count)
            return wrong(c, "more costs than events");
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
    uint32_t row = position_here(c);
    if (c->again) {
        if (c->has_addresses && c->ir < count)
            instr_loops_part_executed(c->loops, row, values[c->ir]);
        return;
    }
    while (c->costs.count < ((size_t)row + 1) * c->event_count)
        *vec_push(&c->costs) = 0;
    for (size_t i = 0; i < count; i++)
        c->costs.items[row * c->event_count + i] += values[i];
}

static void add_jump(struct callgrind *c)
{
    struct interner_key key = {{c->thread, c->object, c->function}, {c->address, c->jump.to}};
    uint32_t jump = interner_row(&c->jumps, &key);
    if (c->again)
        instr_loops_part_jump(c->loops, jump, c->jump.count);
    else {
        if (jump == c->jump_counts.count)
            *vec_push(&c->jump_counts) = 0;
        c->jump_counts.items[jump] += c->jump.count;
    }
    c->jump.count = 0;
}

/* What a call cost is inclusive: no cost of this line, but of the edge. */
static int add_call(struct callgrind *c)
{
    uint64_t values[MOST_EVENTS];
    size_t count;
    c->has_call = false;
    if (read_values(c, values, &count) < 0)
        return -1;
    const struct callee *to = &c->call.callee;
    struct interner_key key = {
        {position_here(c), to->has_object ? to->object : c->object, to->function, to->has_file ? to->file : c->file},
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
    if (!positions(c, &c->address, &c->source_line))
        return wrong(c, "a line with costs must begin with its position");
    c->ended = false;
    if (!c->has_thread)
        settle_thread(c);
    if (c->jump.count) { /* the line after a jump is where the jump stands */
        if (c->has_addresses)
            add_jump(c);
        c->jump.count = 0;
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
    c->call = (struct call){.callee = c->called};
    c->called = (struct callee){0};
    c->has_call = true;
    if (!number(c, &c->call.count))
        return wrong(c, "calls= must have the number of calls and the target");
    if (!positions(c, &c->call.address, &c->call.line)) /* old files may leave it out */
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
    c->jump = (struct instr_jump){0};
    if (!number(c, &c->jump.count))
        return wrong(c, "a jump must begin with the number of its executions");
    if (c->at < c->end && *c->at == '/') {
        c->at++;
        number(c, &ignored);
    }
    if (!positions(c, &address, &line))
        return wrong(c, "a jump must name its target");
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
        c->object = known(c, name);
        c->group_changed = true;
    } else if (IS("fl") || IS("fi") || IS("fe")) {
        status = read_name(c, &c->files, &name);
        c->file = known(c, name);
        c->own_file = IS("fl") ? c->file : c->own_file;
        c->group_changed = true;
    } else if (IS("fn")) {
        status = read_name(c, &c->functions, &name);
        c->function = known(c, name);
        c->own_file = c->file;
        c->group_changed = true;
    } else if (IS("cob")) {
        status = read_name(c, &c->objects, &name);
        c->called.object = known(c, name);
        c->called.has_object = true;
    } else if (IS("cfi") || IS("cfl")) {
        status = read_name(c, &c->files, &name);
        c->called.file = known(c, name);
        c->called.has_file = true;
    } else if (IS("cfn")) {
        status = read_name(c, &c->functions, &name);
        c->called.function = known(c, name);
    } else if (IS("jfi") || IS("jfl"))
        status = read_name(c, &c->files, &name);
    else if (IS("jfn"))
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
    return sign == ':' ? read_header(c, key, n) : wrong(c, "is not a line of a callgrind file");
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

/* Each part once more, for how often loops went round in it. */
static int read_again(struct callgrind *c, const char *at, const char *end)
{
    c->again = true;
    c->parts = 0;
    c->line = 0;
    c->has_addresses = c->has_thread = c->has_call = c->skip_next = false;
    c->has_lines = true;
    c->jump.count = c->thread_number = c->address = c->source_line = 0;
    c->object = c->file = c->own_file = c->function = 0;
    c->group_changed = true;
    c->called = (struct callee){0};
    int status = read_lines(c, at, end);
    instr_loops_part_end(c->loops);
    return status;
}

static int finish(struct callgrind *c, const char *text, const char *end, struct warnings *warnings)
{
    flush_costs(c, true);
    if (!c->has_process)
        return err_set(c->err, ERR_FORMAT, "%s: contains no costs", c->name);
    if (c->has_end && !c->ended)
        return err_set(c->err, ERR_FORMAT, "%s:%lu: has no line of totals; is the file truncated?", c->name, c->line);
    if (add_call_edges(c) < 0)
        return -1;
    if (c->jumps.rows.count == 0)
        return 0;
    gather_graph(c);
    if (!instr_loops_finish(c->loops, c->name, warnings) || c->parts < 2)
        return 0;
    if (read_again(c, text, end) < 0)
        return -1;
    return instr_loops_say_parts(c->loops, c->err);
}

static int convert(const struct filter_input *in, bool cachegrind, struct hpcprof *into, struct warnings *warnings,
                   struct err *err)
{
    struct callgrind c = {.into = into,
                          .name = in->name,
                          .map = in->map,
                          .cachegrind = cachegrind,
                          .has_lines = true,
                          .has_end = cachegrind,
                          .group_changed = true,
                          .first_file = into->context_count == 0,
                          .err = err};
    const char *text = in->bytes, *end = in->len ? text + in->len : text;
    c.loops = instr_loops_create(into);
    c.nameless = strtab_add(into->strings, "???");
    int status = read_lines(&c, text, end);
    if (status == 0)
        status = finish(&c, text, end, warnings);
    instr_loops_free(c.loops);
    vec_release(&c.objects);
    vec_release(&c.files);
    vec_release(&c.functions);
    vec_release(&c.known_objects);
    vec_release(&c.costs);
    vec_release(&c.executed);
    vec_release(&c.contexts);
    vec_release(&c.call_sums);
    vec_release(&c.jump_counts);
    callgrind_positions_release(&c.positions);
    interner_release(&c.calls);
    interner_release(&c.jumps);
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
