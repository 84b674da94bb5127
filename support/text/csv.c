/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV text: commas and quotes in one place. */
#include "support/support.h"

#include <math.h>

void csv_empty(struct csvout *c)
{
    if (c->need_comma)
        buf_char(c->out, ',');
    c->need_comma = true;
}

void csv_text(struct csvout *c, const char *s)
{
    csv_empty(c);
    if (!strpbrk(s, ",\"\r\n") && *s != ' ') {
        buf_str(c->out, s);
        return;
    }
    buf_char(c->out, '"');
    for (; *s; s++)
        buf_str(c->out, *s == '"' ? "\"\"" : (char[]){*s, '\0'});
    buf_char(c->out, '"');
}

void csv_u64(struct csvout *c, uint64_t v)
{
    csv_empty(c);
    buf_printf(c->out, "%llu", (unsigned long long)v);
}

void csv_nonzero(struct csvout *c, uint64_t v)
{
    if (v)
        csv_u64(c, v);
    else
        csv_empty(c);
}

void csv_double(struct csvout *c, double v)
{
    csv_empty(c);
    if (!isnan(v))
        buf_double(c->out, v);
}

void csv_end_line(struct csvout *c)
{
    buf_char(c->out, '\n');
    c->need_comma = false;
}
