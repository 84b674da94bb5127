/* SPDX-License-Identifier: BSD-3-Clause */
/* Folded stacks: "module;outermost;...;innermost 12" in each line, as stackcollapse-perf.pl and many others write them.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_DECIMALS = 6 };

/* Where the value at the end of the line begins, and how many decimals it has; NULL: there is none. */
static char *value_of(char *line, size_t *decimals)
{
    char *blank = strrchr(line, ' ');
    if (!blank || blank == line || !isdigit((unsigned char)blank[1]))
        return NULL;
    char *end = blank + 1 + strspn(blank + 1, "0123456789");
    *decimals = *end == '.' ? strspn(end + 1, "0123456789") : 0;
    end += *end == '.' ? 1 + *decimals : 0;
    return *end ? NULL : blank + 1;
}

/* "1.25" in units of so many decimals; further ones are cut. false: it exceeds 64 bits. */
static bool scaled(const char *text, size_t decimals, uint64_t *value)
{
    bool fits = true;
    size_t left = decimals;
    uint64_t v = 0;
    for (bool behind = false; *text && (!behind || left); text++) {
        if (*text == '.') {
            behind = true;
            continue;
        }
        fits = fits && !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, (unsigned)(*text - '0'), &v);
        left -= behind;
    }
    for (; left > 0; left--)
        fits = fits && !__builtin_mul_overflow(v, 10, &v);
    *value = v;
    return fits;
}

/* One line in three may be something else; comments always. */
bool folded_sniff(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    size_t good = 0, bad = 0;
    bool stacks = false, refused = false;
    while (!refused && r.number < 20 && filter_line_reader_next(&r)) {
        size_t decimals;
        char *line = r.text.bytes, *value;
        if (r.at == r.end && r.end[-1] != '\n' && r.number > 1) /* may be cut */
            break;
        if (r.text.len == 0 || *line == '#')
            continue;
        refused = isblank((unsigned char)*line) || *line == '{';
        value = value_of(line, &decimals);
        good += value != NULL;
        bad += value == NULL;
        stacks = stacks || (value && memchr(line, ';', (size_t)(value - line)));
    }
    filter_line_reader_release(&r);
    return !refused && stacks && 2 * bad <= good;
}

struct folded {
    struct builder builder;
    uint32_t event;
    struct names names;
    size_t decimals;      /* of the values; they are counted in units of that */
    size_t deep, ignored; /* truncated stacks; invalid lines */
    bool any;
    struct err *err;
};

/* Of a stack that is too deep the outermost frames are left out: the costs are its leaf's. */
static char *cut_stack(struct folded *f, char *stack)
{
    size_t frames = 1;
    for (const char *c = stack; (c = strchr(c, ';')); c++)
        frames++;
    f->deep += frames > LIMIT_PATH_DEPTH;
    for (; frames > LIMIT_PATH_DEPTH; frames--)
        stack = strchr(stack, ';') + 1;
    return stack;
}

/* Frames of the kernel end in "_[k]" where stackcollapse was asked for that, inlined ones in "_[i]". */
static void add_stack(struct folded *f, char *stack, uint64_t value)
{
    struct builder_place p = {HPCPROF_NO_PARENT, "[unknown]", "", "", 0};
    char *frame;
    stack = cut_stack(f, stack);
    while ((frame = strsep(&stack, ";"))) {
        bool kernel = str_ends(frame, "_[k]");
        if (kernel || str_ends(frame, "_[i]") || str_ends(frame, "_[j]"))
            frame[strlen(frame) - 4] = '\0';
        p.module = kernel ? "[kernel]" : "[unknown]";
        p.procedure = names_in_words(&f->names, f->builder.into->strings, frame);
        p.parent = builder_context(&f->builder, &p);
    }
    builder_add(&f->builder, p.parent, f->event, 0, value);
}

static int add_line(struct folded *f, struct line_reader *r, const char *name)
{
    uint64_t value;
    size_t decimals;
    char *line = r->text.bytes, *text = r->text.len && *line != '#' ? value_of(line, &decimals) : NULL;
    if (r->text.len == 0 || *line == '#')
        return 0;
    if (!text) {
        f->ignored++;
        return 0;
    }
    if (!scaled(text, f->decimals, &value))
        return err_set(f->err, ERR_FORMAT, "%s:%lu: the number exceeds 64 bits", name, r->number);
    text[-1] = '\0';
    add_stack(f, line, value);
    f->any = true;
    return 0;
}

/* Fractions are kept: the counts are tenths, hundredths, ... then, as far as 64 bits hold them. */
static size_t most_decimals(const struct filter_input *in)
{
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    size_t most = 0, room = MOST_DECIMALS, decimals;
    uint64_t value;
    while (filter_line_reader_next(&r)) {
        const char *text = r.text.len && r.text.bytes[0] != '#' ? value_of(r.text.bytes, &decimals) : NULL;
        if (!text)
            continue;
        most = decimals > most ? decimals : most;
        while (room > 0 && !scaled(text, room, &value))
            room--;
    }
    filter_line_reader_release(&r);
    return most < room ? most : room;
}

int folded_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct folded f = {.builder = builder_begin(into, in, "folded stacks", ""), .err = err};
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    int status = 0;
    static const char *const units[] = {"", "tenths", "hundredths", "thousandths", "1/10000", "1/100000", "millionths"};
    f.decimals = most_decimals(in);
    f.event = builder_event(&f.builder, "samples", "the numbers of folded stacks", units[f.decimals], 0);
    while (status == 0 && filter_line_reader_next(&r))
        status = add_line(&f, &r, in->name);
    if (status == 0 && !f.any)
        status = err_set(err, ERR_FORMAT, "%s: has no stacks; a stack must end in a blank and a number", in->name);
    if (f.ignored)
        warnings_add(warnings,
                     "%s: %zu of %lu lines are no stacks, which end in a blank and a number; they are ignored",
                     in->name, f.ignored, r.number);
    if (f.deep)
        warnings_add(warnings, "%s: %zu stacks have more than %d frames; the outermost ones are left out", in->name,
                     f.deep, LIMIT_PATH_DEPTH);
    filter_line_reader_release(&r);
    names_release(&f.names);
    return status;
}
