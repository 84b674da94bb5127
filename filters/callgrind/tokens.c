/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, positions and names in a line of a callgrind file. */
#include "filters/callgrind/reader.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *callgrind_digits(const char *at, const char *end, uint64_t *value)
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

bool callgrind_number(struct callgrind *c, uint64_t *value)
{
    const char *behind = read_number(c, c->at, value);
    c->at = behind ? behind : c->at;
    return behind != NULL;
}

/* "16", "+3", "-2" or "*", relative to the last line's. */
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

bool callgrind_positions(struct callgrind *c, uint64_t *address, uint64_t *line)
{
    *address = c->address;
    *line = c->source_line;
    return (!c->has_addresses || position(c, c->address, address)) &&
           (!c->has_lines || position(c, c->source_line, line));
}

str_id callgrind_rest_of_line(struct callgrind *c)
{
    blanks(c);
    return strtab_addn(c->into->strings, c->at, (size_t)(c->end - c->at));
}

int callgrind_name(struct callgrind *c, struct name_table *table, str_id *name)
{
    uint64_t n;
    blanks(c);
    const char *begin = c->at;
    if (c->end - c->at < 3 || *c->at != '(' || !is_digit(c->at[1])) {
        *name = callgrind_rest_of_line(c);
        return 0;
    }
    c->at++;
    if (!callgrind_number(c, &n) || c->at == c->end || *c->at != ')' || n > LIMIT_SOURCE_INDEX * 10 ||
        c->at - begin > 10)
        return callgrind_wrong(c, "the number of a name is not '(N)' or too large");
    c->at++;
    while (table->count <= n)
        *vec_push(table) = 0;
    blanks(c);
    if (c->at < c->end)
        table->items[n] = callgrind_rest_of_line(c);
    *name = table->items[n];
    return 0;
}

str_id callgrind_known(const struct callgrind *c, str_id name)
{
    return name == c->nameless ? 0 : name;
}
