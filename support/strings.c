/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned strings and small questions about text. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

/* Text is in an arena; the table maps hashes to the first id with that hash, `next` chains the rest. */
struct entry {
    const char *text;
    uint32_t length;
    uint32_t next;
};

struct strtab {
    struct arena *arena;
    struct VEC(struct entry) entries;
    struct hashmap by_hash;
    size_t bytes;
};

struct strtab *strtab_create(void)
{
    struct strtab *t = mem_calloc(1, sizeof *t);
    t->arena = arena_create();
    strtab_addn(t, "", 0);
    return t;
}

void strtab_free(struct strtab *t)
{
    if (!t)
        return;
    arena_free(t->arena);
    vec_release(&t->entries);
    hashmap_release(&t->by_hash);
    mem_free(t);
}

str_id strtab_addn(struct strtab *t, const char *s, size_t n)
{
    if (n == 0 && t->entries.count)
        return 0;
    uint32_t *first = hashmap_put(&t->by_hash, hash_bytes(s, n, 0));
    for (uint32_t i = *first; i != HASHMAP_NONE; i = t->entries.items[i].next)
        if (t->entries.items[i].length == n && memcmp(t->entries.items[i].text, s, n) == 0)
            return i;
    struct entry *e = vec_push(&t->entries);
    *e = (struct entry){arena_strndup(t->arena, s, n), (uint32_t)n, *first};
    *first = (uint32_t)(t->entries.count - 1);
    return *first;
}

str_id strtab_add(struct strtab *t, const char *s)
{
    return s ? strtab_addn(t, s, strlen(s)) : 0;
}

str_id strtab_printf(struct strtab *t, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        return 0;
    str_id id = strtab_addn(t, text, (size_t)n);
    free(text);
    return id;
}

const char *strtab_get(const struct strtab *t, str_id id)
{
    return id < t->entries.count ? t->entries.items[id].text : "";
}

size_t strtab_count(const struct strtab *t)
{
    return t->entries.count;
}

size_t str_index(const char *word, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(words[i], word) != 0)
        i++;
    return i;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

char *str_trimmed(const char *s)
{
    while (is_space(*s))
        s++;
    size_t n = strlen(s);
    while (n && is_space(s[n - 1]))
        n--;
    return mem_strndup(s, n);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein distance ignoring case; words longer than the row are not near to anything. */
static unsigned distance(const char *a, const char *b)
{
    enum { LONGEST = 100 };
    unsigned row[LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

double str_seconds(const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    char *end;
    double n = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
    for (size_t i = 0; n >= 0 && i < ARRAY_SIZE(units); i++)
        if (strcmp(end, units[i].name) == 0 && n * units[i].seconds < 1e9)
            return n * units[i].seconds;
    return -1;
}

const char *str_nearest(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)strlen(word) / 3 + 2;
    for (; *names; names++) {
        unsigned d = distance(word, *names);
        if (d < best) {
            best = d;
            nearest = *names;
        }
    }
    return nearest;
}

size_t utf8_length(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return len;
}

int str_words(const char *text, struct text_list *words, const char *where, struct err *err)
{
    struct buf word = {0};
    char quote = '\0';
    bool in_word = false;
    for (const char *p = text;; p++) {
        if (*p == '\0' || (!quote && strchr(" \t\r\n", *p))) {
            if (in_word)
                *vec_push(words) = mem_strndup(word.bytes, word.len);
            word.len = 0;
            in_word = false;
            if (*p == '\0')
                break;
        } else if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\'')) {
            quote = *p;
            in_word = true;
        } else {
            if (*p == '\\' && quote != '\'' && p[1])
                p++;
            buf_char(&word, *p);
            in_word = true;
        }
    }
    buf_release(&word);
    *vec_push(words) = NULL;
    words->count--;
    return quote ? err_set(err, ERR_FORMAT, "%s: '%s': unmatched %c", where, text, quote) : 0;
}
