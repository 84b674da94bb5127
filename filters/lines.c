/* Text by lines. */
#include "filters/filters_int.h"

struct line_reader line_reader_make(const void *bytes, size_t len)
{
    return (struct line_reader){.at = bytes, .end = len ? (const char *)bytes + len : bytes};
}

bool line_reader_next(struct line_reader *r)
{
    if (r->at == r->end)
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *stop = newline ? newline : r->end;
    r->text.len = 0;
    buf_add(&r->text, r->at, (size_t)(stop - r->at));
    if (r->text.len && r->text.bytes[r->text.len - 1] == '\r')
        r->text.bytes[--r->text.len] = '\0';
    r->at = newline ? newline + 1 : r->end;
    r->number++;
    return true;
}

void line_reader_release(struct line_reader *r)
{
    buf_release(&r->text);
}

bool looks_like_text(const void *bytes, size_t len)
{
    return len && !memchr(bytes, '\0', len < 1024 ? len : 1024);
}

char *skip_blanks(char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}
