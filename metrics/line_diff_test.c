/* Two texts as words, one a line; what each line of the first has become, as numbers. */
#include "metrics/metrics_int.h"
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
        uint32_t *to = line_diff(a, n, b, m, &lines);
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

/* Of any texts: what is said to be the same goes forward, is there, and is as long as the texts. */
static void test_random(void)
{
    uint32_t seed = 1;
    bool forward = true, some = true;
    for (int round = 0; round < 300; round++) {
        struct buf texts[2] = {{0}, {0}};
        int kinds = 1 + round % 9;
        for (int t = 0; t < 2; t++)
            for (int i = round * 7 % 40; i >= 0; i--) {
                seed = seed * 1664525 + 1013904223;
                buf_printf(&texts[t], "%c\n", 'a' + (int)(seed >> 16) % kinds);
            }
        size_t lines;
        uint32_t *to = line_diff(texts[0].bytes, texts[0].len, texts[1].bytes, texts[1].len, &lines);
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

/* Texts that are made to be slow: half a million lines, none there once, nothing in order. */
static void test_bounded(void)
{
    struct buf a = {0}, b = {0};
    for (uint32_t i = 0, seed = 7; i < 500000; i++) {
        seed = seed * 1664525 + 1013904223;
        buf_printf(&a, "%u\n", (seed >> 20) % 1000);
        buf_printf(&b, "%u\n", (seed >> 10) % 1000);
    }
    size_t lines;
    uint32_t *to = line_diff(a.bytes, a.len, b.bytes, b.len, &lines);
    CHECK_INT(lines, 500000);
    mem_free(to);
    buf_release(&a);
    buf_release(&b);
}

int main(void)
{
    test_cases();
    test_random();
    test_bounded();
    return tap_done();
}
