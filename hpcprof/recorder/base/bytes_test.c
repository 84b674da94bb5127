/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's own functions on bytes and text (bytes.c) against plain definitions, on random texts of few letters
 * that end at unreadable memory.
 */
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <limits.h>

/* Called through volatile pointers, because the compiler has built-ins of these names. */
static void *(*volatile copy)(void *restrict, const void *restrict, size_t) = memcpy;
static void *(*volatile fill)(void *, int, size_t) = memset;
static int (*volatile compare)(const void *, const void *, size_t) = memcmp;
static size_t (*volatile length)(const char *) = strlen;
static int (*volatile compare_most)(const char *, const char *, size_t) = strncmp;
static int (*volatile compare_all)(const char *, const char *) = strcmp;
static char *(*volatile first_of)(const char *, int) = strchr;
static char *(*volatile last_of)(const char *, int) = strrchr;
static size_t (*volatile without)(const char *, const char *) = strcspn;
static size_t (*volatile with)(const char *, const char *) = strspn;
static char *(*volatile within)(const char *, const char *) = strstr;

enum { LONGEST = 12, ROUNDS = 20000 };
static struct guarded_room rooms[3];

/* From a small alphabet that includes two non-ASCII bytes. */
static char *draw(unsigned which, size_t *n)
{
    static const char letters[] = "ab\xff\x80";
    char text[LONGEST + 1];
    *n = below(LONGEST);
    for (size_t i = 0; i < *n; i++)
        text[i] = letters[below(below(3) ? 2 : 4)];
    text[*n] = '\0';
    return guarded_copy(&rooms[which], text, *n + 1);
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

static bool has(const char *among, size_t n, char c)
{
    for (size_t i = 0; i < n; i++)
        if (among[i] == c)
            return true;
    return false;
}

/* Compares unsigned bytes; `stops`: at the end of the string. */
static int order(const char *a, const char *b, size_t most, bool stops)
{
    for (size_t i = 0; i < most; i++) {
        if (a[i] != b[i])
            return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (stops && !a[i])
            return 0;
    }
    return 0;
}

static const char *find(const char *s, size_t n, const char *wanted, size_t wanted_n)
{
    for (size_t i = 0; i + wanted_n <= n; i++) {
        size_t k = 0;
        while (k < wanted_n && s[i + k] == wanted[k])
            k++;
        if (k == wanted_n)
            return s + i;
    }
    return NULL;
}

static bool same_text(void)
{
    size_t n, m, most = below(LONGEST + 2), run = 0, stop = 0;
    char *s = draw(0, &n), *t = draw(1, &m), c = "ab\xff"[below(4)], *first = NULL, *last = NULL;
    for (size_t i = 0; i <= n; i++)
        if (s[i] == c) {
            first = first ? first : s + i;
            last = s + i;
        }
    while (run < n && has(t, m, s[run]))
        run++;
    while (stop < n && !has(t, m, s[stop]))
        stop++;
    return length(s) == n && sign(compare_all(s, t)) == order(s, t, SIZE_MAX, true) &&
           sign(compare_most(s, t, most)) == order(s, t, most, true) && first_of(s, c) == first &&
           last_of(s, c) == last && first_of(s, c + 256) == first && with(s, t) == run && without(s, t) == stop &&
           within(s, t) == find(s, n, t, m) && compare_all(s, s) == 0;
}

static bool same_bytes(void)
{
    size_t n, m, k, most;
    char *s = draw(0, &n), *t = draw(1, &m), *to = draw(2, &k);
    char before[LONGEST + 1];
    most = n < m ? n : m;
    if (most && below(2))
        s[below((uint32_t)most)] = t[below((uint32_t)most)] = '\0'; /* without effect on the string's end */
    bool good = sign(compare(s, t, most)) == order(s, t, most, false);
    k = k < n ? k : n;
    for (size_t i = 0; i <= k; i++)
        before[i] = to[i];
    good = good && copy(to, s, k) == to && order(to, s, k, false) == 0 && to[k] == before[k];
    int value = (int)below(600) - 300;
    good = good && fill(to, value, k) == to && to[k] == before[k];
    for (size_t i = 0; i < k; i++)
        good = good && to[i] == (char)value;
    return good;
}

int main(void)
{
    bool texts = true, bytes = true;
    for (int i = 0; i < ROUNDS; i++) {
        texts = texts && same_text();
        bytes = bytes && same_bytes();
    }
    CHECK_NAMED(texts, "texts");
    CHECK_NAMED(bytes, "bytes");
    return tap_done();
}
