/* Folded stacks: "module;outermost;...;innermost 12" in each line, as stackcollapse-perf.pl and many others write them.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* The value at the end of the line, which is cut off; false: there is none. Fractions are cut. */
static bool cut_value(char *line, uint64_t *value)
{
    char *blank = strrchr(line, ' '), *end;
    if (!blank || !isdigit((unsigned char)blank[1]))
        return false;
    errno = 0; /* who converts looks at it */
    *value = strtoull(blank + 1, &end, 10);
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    if (*end)
        return false;
    *blank = '\0';
    return blank > line;
}

bool folded_sniff(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    bool fits = true, stacks = false;
    while (fits && r.number < 20 && filter_line_reader_next(&r)) {
        uint64_t value;
        if (r.at == r.end && r.end[-1] != '\n' && r.number > 1) /* may be cut */
            break;
        fits = r.text.len == 0 ||
               (!isblank((unsigned char)r.text.bytes[0]) && r.text.bytes[0] != '{' && cut_value(r.text.bytes, &value));
        stacks = stacks || (r.text.len && strchr(r.text.bytes, ';'));
    }
    filter_line_reader_release(&r);
    return fits && stacks;
}

/* Frames of the kernel end in "_[k]" where stackcollapse was asked for that, inlined ones in "_[i]". */
static void add_stack(struct builder *s, uint32_t event, char *stack, uint64_t value)
{
    struct builder_place p = {HPCPROF_NO_PARENT, "[unknown]", "", "", 0};
    char *frame;
    for (size_t depth = 0; depth < LIMIT_PATH_DEPTH && (frame = strsep(&stack, ";")); depth++) {
        bool kernel = str_ends(frame, "_[k]");
        if (kernel || str_ends(frame, "_[i]") || str_ends(frame, "_[j]"))
            frame[strlen(frame) - 4] = '\0';
        p.module = kernel ? "[kernel]" : "[unknown]";
        p.procedure = frame;
        p.parent = builder_context(s, &p);
    }
    builder_add(s, p.parent, event, 0, value);
}

int folded_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct builder s = builder_begin(into, in, "folded stacks", "");
    uint32_t event = builder_event(&s, "samples", "the numbers of folded stacks", "", 0);
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    int status = 0;
    (void)warnings;
    while (status == 0 && filter_line_reader_next(&r)) {
        uint64_t value;
        if (r.text.len == 0)
            continue;
        bool has_value = cut_value(r.text.bytes, &value);
        if (has_value && errno == ERANGE)
            status = err_set(err, ERR_FORMAT, "%s:%lu: the number exceeds 64 bits", in->name, r.number);
        else if (has_value)
            add_stack(&s, event, r.text.bytes, value);
        else
            status = err_set(err, ERR_FORMAT, "%s:%lu: a stack must end in a blank and a number", in->name, r.number);
    }
    filter_line_reader_release(&r);
    return status;
}
