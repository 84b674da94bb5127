/*
 * callgrind.out files (the format of kcachegrind): costs at lines of functions, and of the calls they make.
 *
 *     events: Ir Dr
 *     fl=(1) heat.c           a name is given once, "(1)" alone afterwards
 *     fn=(1) main
 *     16 400 20               line 16
 *     +3 400                  line 19; costs left out are 0
 *     cfn=(2) step
 *     calls=1 50
 *     * 9000                  what the call cost, inclusive: not a cost of this line
 */
#include "filters/filters_int.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_EVENTS = 64, MOST_POSITIONS = 3 };

struct name_table VEC(str_id); /* by the file's own numbers */

struct callgrind {
    struct hpcprof *into;
    const char *name;
    unsigned long line; /* for messages */
    struct name_table objects, files, functions;
    str_id object, file, function, command;
    uint32_t process, thread;
    struct hashmap threads; /* by callgrind's number */
    bool has_process;
    uint64_t pid, thread_number;
    uint32_t events[MOST_EVENTS];
    size_t event_count;
    size_t positions, line_position; /* how many a line begins with, and which of them is the line */
    uint64_t position[MOST_POSITIONS];
    bool skip_next; /* the line after calls= */
    struct err *err;
};

static int wrong(struct callgrind *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s:%lu: %s", c->name, c->line, what);
}

/* "(12) name" gives number 12 that name, "(12)" is the name it has, anything else is the name itself. */
static int read_name(struct callgrind *c, struct name_table *table, char *text, str_id *name)
{
    text = skip_blanks(text);
    if (*text != '(' || !isdigit((unsigned char)text[1])) {
        *name = strtab_add(c->into->strings, text);
        return 0;
    }
    char *end;
    unsigned long number = strtoul(text + 1, &end, 10);
    if (*end != ')' || number > LIMIT_SOURCE_INDEX * 10)
        return wrong(c, "a name's number is not '(N)', or too large");
    end = skip_blanks(end + 1);
    while (table->count <= number)
        *vec_push(table) = 0;
    if (*end)
        table->items[number] = strtab_add(c->into->strings, end);
    *name = table->items[number];
    return 0;
}

static int add_events(struct callgrind *c, char *list)
{
    char *word;
    c->event_count = 0;
    while ((word = strsep(&list, " \t"))) {
        if (*word == '\0')
            continue;
        if (c->event_count == MOST_EVENTS)
            return wrong(c, "there are more than 64 events");
        struct hpcprof_event event = {.name = strtab_add(c->into->strings, word),
                                      .description = strtab_add(c->into->strings, "as callgrind simulated it"),
                                      .unit = strtab_add(c->into->strings, strcmp(word, "Ir") ? "" : "instructions")};
        c->events[c->event_count++] = hpcprof_add_event(c->into, &event);
    }
    return 0;
}

static int read_positions(struct callgrind *c, char *list)
{
    char *word;
    c->positions = 0;
    c->line_position = MOST_POSITIONS;
    while ((word = strsep(&list, " \t"))) {
        if (*word == '\0')
            continue;
        if (c->positions == MOST_POSITIONS)
            return wrong(c, "there are more than three kinds of position");
        if (strcmp(word, "line") == 0)
            c->line_position = c->positions;
        c->positions++;
    }
    return c->positions ? 0 : wrong(c, "no kind of position is named");
}

/* A process's row comes with the first cost, when the lines about it have been read; threads follow one another. */
static void settle_thread(struct callgrind *c)
{
    if (!c->has_process) {
        struct hpcprof_process process = {.source_file = strtab_add(c->into->strings, path_base(c->name)),
                                          .command = c->command,
                                          .sampler = strtab_add(c->into->strings, "callgrind"),
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
}

/* "16", "+3", "-2", "*" or "0x1f". */
static bool read_position(char **at, uint64_t *position)
{
    char *s = *at, *end;
    if (*s == '*') {
        *at = s + 1;
        return true;
    }
    char sign = *s == '+' || *s == '-' ? *s++ : '\0';
    if (!isdigit((unsigned char)*s))
        return false;
    uint64_t value = strtoull(s, &end, 0);
    if (s[0] == '0' && isdigit((unsigned char)s[1])) /* no octal here */
        value = strtoull(s, &end, 10);
    *position = sign == '+' ? *position + value : sign == '-' ? *position - value : value;
    *at = end;
    return true;
}

static void add_cost(struct callgrind *c, size_t event, uint64_t value)
{
    uint64_t line = c->line_position < c->positions ? c->position[c->line_position] : 0;
    const char *object = strtab_get(c->into->strings, c->object);
    struct hpcprof_context context = {.parent = HPCPROF_NO_PARENT,
                                      .module = hpcprof_add_module(c->into, *object ? object : "[unknown]", ""),
                                      .procedure = c->function,
                                      .file = c->file,
                                      .line = line <= UINT32_MAX ? (uint32_t)line : 0,
                                      .by_line = true};
    struct hpcprof_count count = {.thread = c->thread,
                                  .context = hpcprof_add_context(c->into, &context),
                                  .event = c->events[event],
                                  .value = value};
    hpcprof_add_count(c->into, &count);
}

static int read_costs(struct callgrind *c, char *at)
{
    for (size_t i = 0; i < c->positions; i++) {
        at = skip_blanks(at);
        if (!read_position(&at, &c->position[i]))
            return wrong(c, "a line with costs begins with its position");
    }
    bool skip = c->skip_next;
    c->skip_next = false;
    settle_thread(c);
    for (size_t i = 0; *(at = skip_blanks(at)); i++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return wrong(c, "a cost is a whole number");
        uint64_t value = strtoull(at, &end, str_starts(at, "0x") ? 16 : 10);
        at = end;
        if (i >= c->event_count)
            return wrong(c, "there are more costs than events");
        if (value && !skip)
            add_cost(c, i, value);
    }
    return 0;
}

/* What callgrind writes where debug information has no name. */
static void drop_unknown(struct callgrind *c, str_id *name)
{
    if (strcmp(strtab_get(c->into->strings, *name), "???") == 0)
        *name = 0;
}

static int read_assignment(struct callgrind *c, char *key, char *value)
{
    str_id ignored;
    int status = 0;
    if (strcmp(key, "ob") == 0)
        status = read_name(c, &c->objects, value, &c->object);
    else if (strcmp(key, "fl") == 0 || strcmp(key, "fi") == 0 || strcmp(key, "fe") == 0)
        status = read_name(c, &c->files, value, &c->file);
    else if (strcmp(key, "fn") == 0)
        status = read_name(c, &c->functions, value, &c->function);
    else if (strcmp(key, "cob") == 0)
        status = read_name(c, &c->objects, value, &ignored);
    else if (strcmp(key, "cfi") == 0 || strcmp(key, "cfl") == 0)
        status = read_name(c, &c->files, value, &ignored);
    else if (strcmp(key, "cfn") == 0)
        status = read_name(c, &c->functions, value, &ignored);
    else if (strcmp(key, "calls") == 0)
        c->skip_next = true;
    else if (strcmp(key, "jump") == 0 || strcmp(key, "jcnd") == 0)
        c->skip_next = true; /* the line after it is where the jump stands */
    drop_unknown(c, &c->object);
    drop_unknown(c, &c->file);
    drop_unknown(c, &c->function);
    return status;
}

static int read_header(struct callgrind *c, const char *key, char *value)
{
    value = skip_blanks(value);
    if (strcmp(key, "events") == 0)
        return add_events(c, value);
    if (strcmp(key, "positions") == 0)
        return read_positions(c, value);
    if (strcmp(key, "cmd") == 0)
        c->command = strtab_add(c->into->strings, value);
    else if (strcmp(key, "pid") == 0)
        c->pid = strtoull(value, NULL, 10);
    else if (strcmp(key, "thread") == 0)
        c->thread_number = strtoull(value, NULL, 10);
    return 0; /* version, creator, desc, part, summary, totals, event: nothing that is wanted */
}

static int read_line(struct callgrind *c, char *text)
{
    text = skip_blanks(text);
    if (*text == '\0' || *text == '#')
        return 0;
    if (isdigit((unsigned char)*text) || *text == '+' || *text == '-' || *text == '*')
        return read_costs(c, text);
    size_t key = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    char sign = text[key];
    text[key] = '\0';
    if (key && sign == '=')
        return read_assignment(c, text, text + key + 1);
    if (key && sign == ':')
        return read_header(c, text, text + key + 1);
    return wrong(c, "is no line of a callgrind file");
}

bool callgrind_sniff(const void *bytes, size_t len)
{
    struct line_reader r = line_reader_make(bytes, looks_like_text(bytes, len) ? len : 0);
    bool found = false, events = false;
    while (!found && r.number < 100 && line_reader_next(&r)) {
        found = str_starts(r.text.bytes, "# callgrind format") || str_starts(r.text.bytes, "creator: callgrind") ||
                (events && (str_starts(r.text.bytes, "fn=") || str_starts(r.text.bytes, "fl=")));
        events = events || str_starts(r.text.bytes, "events:");
        if (str_starts(r.text.bytes, "PERF") || r.text.len > 65536)
            break;
    }
    line_reader_release(&r);
    return found;
}

int callgrind_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct callgrind c = {.into = into, .name = in->name, .positions = 1, .err = err};
    struct line_reader r = line_reader_make(in->bytes, in->len);
    int status = 0;
    (void)warnings;
    while (status == 0 && line_reader_next(&r)) {
        c.line = r.number;
        status = read_line(&c, r.text.bytes);
    }
    if (status == 0 && !c.has_process)
        status = err_set(err, ERR_FORMAT, "%s: holds no costs", in->name);
    line_reader_release(&r);
    vec_release(&c.objects);
    vec_release(&c.files);
    vec_release(&c.functions);
    hashmap_release(&c.threads);
    return status;
}
