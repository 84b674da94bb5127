/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two texts given as words, one a line; prints the new number of each line of the first. */
#include "metrics/align/align.h"
#include "tests/cases.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <stdlib.h>

static const struct {
    const char *name, *a, *b, *want;
} cases[] = {
    {"the same", "a b c", "a b c", "1 2 3"},
    {"nothing before", "", "a b", ""},
    {"nothing after", "a b", "", "0 0"},
    {"lines before", "a b c", "x y a b c", "3 4 5"},
    {"a line gone", "a b c", "a c", "1 0 2"},
    {"a line more", "a c", "a b c", "1 3"},
    {"one changed", "a b c", "a x c", "1 2 3"},
    {"two have become one", "a b c d", "a x d", "1 0 0 3"},
    {"blocks that changed places: the longer one stayed", "a b x y z", "x y z a b", "0 0 1 2 3"},
    {"nothing is there once", "{ } { } { }", "{ } { }", "1 2 3 4 0 0"},
    {"lines that are there twice follow their neighbours", "} a } b } c }", "} a } n } b } c }", "1 2 3 6 7 8 9"},
    {"nothing in common, as many", "a b", "c d", "1 2"},
    {"nothing in common, more", "a b", "c d e", "0 0"},
    {"blanks at the ends", "a b", "__a_ b", "1 2"},
};

static char *text_of(const char *words, size_t *len)
{
    char *text = mem_strdup(words);
    for (char *c = text; *c; c++)
        *c = *c == ' ' ? '\n' : *c == '_' ? ' ' : *c;
    *len = strlen(text);
    return text;
}

static void test_cases(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t n, m, lines;
        char *a = text_of(cases[i].a, &n), *b = text_of(cases[i].b, &m);
        uint32_t *to = metrics_line_diff(a, n, b, m, &lines);
        struct buf got = {0};
        buf_str(&got, "");
        for (size_t k = 0; k < lines; k++)
            buf_printf(&got, "%s%u", k ? " " : "", to[k]);
        if (!CHECK_NAMED(strcmp(got.bytes, cases[i].want) == 0, cases[i].name))
            printf("# got    %s\n# wanted %s\n", got.bytes, cases[i].want);
        buf_release(&got);
        mem_free(to);
        mem_free(a);
        mem_free(b);
    }
}

/* For any texts: matched lines are in increasing order, within bounds, and cover the length of the texts. */
static void test_random(void)
{
    uint32_t state = 1;
    bool forward = true, some = true;
    for (int round = 0; round < 300; round++) {
        struct buf texts[2] = {{0}, {0}};
        int kinds = 1 + round % 9;
        for (int t = 0; t < 2; t++)
            for (int i = round * 7 % 40; i >= 0; i--) {
                state = state * 1664525 + 1013904223;
                buf_printf(&texts[t], "%c\n", 'a' + (int)(state >> 16) % kinds);
            }
        size_t lines;
        uint32_t *to = metrics_line_diff(texts[0].bytes, texts[0].len, texts[1].bytes, texts[1].len, &lines);
        uint32_t last = 0;
        for (size_t k = 0; k < lines; k++) {
            forward = forward && (to[k] == 0 || to[k] > last) && to[k] <= texts[1].len / 2;
            last = to[k] ? to[k] : last;
        }
        some = some && (kinds > 1 || lines == 0 || last == lines);
        mem_free(to);
        buf_release(&texts[0]);
        buf_release(&texts[1]);
    }
    CHECK_NAMED(forward, "what is the same goes forward");
    CHECK_NAMED(some, "texts of one line again and again are the same");
}

/* Worst-case texts: half a million lines, none of them unique, in random order. */
static void test_bounded(void)
{
    struct buf a = {0}, b = {0};
    for (uint32_t i = 0, state = 7; i < 500000; i++) {
        state = state * 1664525 + 1013904223;
        buf_printf(&a, "%u\n", (state >> 20) % 1000);
        buf_printf(&b, "%u\n", (state >> 10) % 1000);
    }
    size_t lines;
    uint32_t *to = metrics_line_diff(a.bytes, a.len, b.bytes, b.len, &lines);
    CHECK_INT(lines, 500000);
    mem_free(to);
    buf_release(&a);
    buf_release(&b);
}

/* ---- given texts, as letters ------------------------------------------------------------------------ */

enum { LETTERS_MOST = 40 };

/* The second is often the first with changes: letters gone, others in between, a part moved to the end. */
static void draw_texts(char *a, char *b)
{
    uint32_t kinds = 1 + below(26), n = below(LETTERS_MOST / 2), m = 0;
    for (uint32_t i = 0; i < n; i++)
        a[i] = (char)('a' + below(kinds));
    a[n] = '\0';
    uint32_t from = below(3) ? 0 : below(n + 1), kind = below(4);
    for (uint32_t i = 0; i < n && m + 2 < LETTERS_MOST; i++) {
        if (kind == 3 || below(6) == 0)
            b[m++] = (char)('a' + below(kinds));
        if (kind != 3 && below(6) > 0)
            b[m++] = a[(from + i) % n];
    }
    b[m] = '\0';
}

static uint32_t *diff_of(const char *a, const char *b, size_t *lines)
{
    struct buf texts[2] = {{0}, {0}};
    const char *const words[] = {a, b};
    for (int t = 0; t < 2; t++)
        for (const char *c = words[t]; *c; c++)
            buf_printf(&texts[t], "%c%s", *c, c[1] ? "\n" : "");
    uint32_t *to = metrics_line_diff(texts[0].bytes, texts[0].len, texts[1].bytes, texts[1].len, lines);
    buf_release(&texts[0]);
    buf_release(&texts[1]);
    return to;
}

static size_t times(const char *text, size_t n, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += text[i] == letter;
    return count;
}

/* Is there a letter that is unique in both, between the common prefix and suffix? Then the result need not be the
   longest common subsequence. */
static bool has_anchor(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    bool has = false;
    for (; n && m && *a == *b; a++, b++, n--, m--)
        ;
    for (; n && m && a[n - 1] == b[m - 1]; n--, m--)
        ;
    for (size_t i = 0; i < n; i++)
        has = has || (times(a, n, a[i]) == 1 && times(b, m, a[i]) == 1);
    return has;
}

static size_t longest_common(const char *a, const char *b)
{
    size_t longest[LETTERS_MOST + 1][LETTERS_MOST + 1] = {{0}}, n = strlen(a), m = strlen(b);
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++) {
            size_t other = longest[i - 1][k] > longest[i][k - 1] ? longest[i - 1][k] : longest[i][k - 1];
            longest[i][k] = a[i - 1] == b[k - 1] ? longest[i - 1][k - 1] + 1 : other;
        }
    return longest[n][m];
}

/* If no line is unique, the number of equal lines is maximal. */
static void test_longest(void)
{
    size_t wrong = 0, tried = 0;
    for (int round = 0; round < 20000; round++) {
        char a[LETTERS_MOST], b[LETTERS_MOST];
        size_t lines, same = 0;
        draw_texts(a, b);
        if (has_anchor(a, b))
            continue;
        uint32_t *to = diff_of(a, b, &lines);
        for (size_t i = 0; i < lines; i++)
            same += to[i] && b[to[i] - 1] == a[i];
        if (same != longest_common(a, b) && wrong++ == 0)
            printf("# %s %s: %zu\n", a, b, same);
        mem_free(to);
        tried++;
    }
    CHECK_INT(wrong, 0);
    CHECK(tried > 2000);
}

/* Diffs of given texts, as letters: tests/compare/lines.cases. Prints the new position of each line; 0: deleted, !:
   changed. */
static void say_drawn(void *ctx, const char *what, struct buf *out)
{
    (void)ctx;
    for (unsigned long n = strtoul(what, NULL, 10); n > 0; n--) {
        char a[LETTERS_MOST], b[LETTERS_MOST];
        size_t lines;
        draw_texts(a, b);
        uint32_t *to = diff_of(a, b, &lines);
        buf_printf(out, "%s, %s:", a, b);
        for (size_t i = 0; i < lines; i++)
            buf_printf(out, " %u%s", to[i], to[i] && b[to[i] - 1] != a[i] ? "!" : "");
        buf_char(out, '\n');
        mem_free(to);
    }
}

static void nothing_before(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
}

int main(void)
{
    static const char *const inputs[] = {NULL};
    struct cases drawn = {inputs, nothing_before, NULL, NULL, say_drawn, NULL, NULL, {0}};
    RUN(test_cases);
    RUN(test_random);
    RUN(test_bounded);
    RUN(test_longest);
    cases_run(&drawn, "tests/compare/lines.cases");
    return tap_done();
}
