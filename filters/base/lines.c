/* SPDX-License-Identifier: BSD-3-Clause */
/* Text by lines, and further files. */
#include "filters/base/base.h"

#include <ctype.h>

struct line_reader filter_line_reader_make(const void *bytes, size_t len)
{
    return (struct line_reader){.at = bytes, .end = len ? (const char *)bytes + len : bytes};
}

bool filter_line_reader_step(struct line_reader *r)
{
    if (r->at == r->end)
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->line = r->at;
    r->len = (size_t)((newline ? newline : r->end) - r->at);
    if (r->len && r->line[r->len - 1] == '\r')
        r->len--;
    r->at = newline ? newline + 1 : r->end;
    r->number++;
    return true;
}

char *filter_line_reader_copy(struct line_reader *r)
{
    r->text.len = 0;
    buf_add(&r->text, r->line, r->len);
    return r->text.bytes;
}

bool filter_line_reader_next(struct line_reader *r)
{
    return filter_line_reader_step(r) && filter_line_reader_copy(r);
}

void filter_line_reader_release(struct line_reader *r)
{
    buf_release(&r->text);
}

bool filter_looks_like_text(const void *bytes, size_t len)
{
    return len && !memchr(bytes, '\0', len < 1024 ? len : 1024);
}

bool filter_text_begins(const void *bytes, size_t len, char first, const char *has)
{
    const char *text = bytes;
    size_t n = len < 4096 ? len : 4096, i = 0;
    while (i < n && isspace((unsigned char)text[i]))
        i++;
    return filter_looks_like_text(bytes, len) && i < n && text[i] == first && memmem(text, n, has, strlen(has));
}

const char *filter_skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

bool input_open(const struct filter_input *in, const char *path, struct filemap *map)
{
    return in->open && in->open(path, map, NULL) == 0;
}
