/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which line of a text has become which one of another.
 *
 * Patience: lines that occur once in each text match; of those that crossed, the longest chain in order. Between them
 * the same again, with lines that are unique there; if there are none, Myers' greedy way (E. W. Myers, An O(ND)
 * difference algorithm and its variations, 1986), as far as a bound on differences allows. Blanks at the ends of a line
 * do not count: re-indented code is the same code. If as many lines were in the same place before, they are those
 * lines, changed.
 */
#include "metrics/align/align.h"

enum {
    EDITS_MOST = 1000,     /* of one stretch without a line that is there once: 4 MB of steps */
    WORK_MOST = 256 << 20, /* lines looked at in all: some seconds */
};

struct span {
    size_t a, a_end, b, b_end;
};

struct diff {
    const uint32_t *a, *b; /* lines, as numbers of their texts */
    uint32_t *to;          /* by line of a: the line of b, from 1; 0: none yet */
    uint32_t *in_a, *in_b; /* by text: how often it is in the span at hand */
    uint32_t *at_b;        /* by text: where, in b */
    uint64_t work;
    struct VEC(struct span) todo;
};

struct lines VEC(uint32_t);

static void read_lines(struct strtab *texts, const char *text, size_t len, struct lines *lines)
{
    for (const char *end = text + len, *next; text < end; text = next) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        while (text < stop && (*text == ' ' || *text == '\t'))
            text++;
        while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
            stop--;
        *vec_push(lines) = strtab_addn(texts, text, (size_t)(stop - text));
    }
}

static void match(struct diff *d, size_t a, size_t b)
{
    d->to[a] = (uint32_t)b + 1;
}

static void trim(struct diff *d, struct span *s)
{
    while (s->a < s->a_end && s->b < s->b_end && d->a[s->a] == d->b[s->b])
        match(d, s->a++, s->b++);
    while (s->a < s->a_end && s->b < s->b_end && d->a[s->a_end - 1] == d->b[s->b_end - 1])
        match(d, --s->a_end, --s->b_end);
}

/* ---- lines that are there once ------------------------------------------------------------------ */

struct anchor {
    size_t a, b;
    size_t before; /* in the longest chain that ends here; SIZE_MAX: the first */
};
struct anchors VEC(struct anchor);

static void find_unique(struct diff *d, const struct span *s, struct anchors *found)
{
    for (size_t i = s->a; i < s->a_end; i++)
        d->in_a[d->a[i]]++;
    for (size_t i = s->b; i < s->b_end; i++) {
        d->in_b[d->b[i]]++;
        d->at_b[d->b[i]] = (uint32_t)i;
    }
    for (size_t i = s->a; i < s->a_end; i++)
        if (d->in_a[d->a[i]] == 1 && d->in_b[d->a[i]] == 1)
            *vec_push(found) = (struct anchor){i, d->at_b[d->a[i]], SIZE_MAX};
    for (size_t i = s->a; i < s->a_end; i++)
        d->in_a[d->a[i]] = 0;
    for (size_t i = s->b; i < s->b_end; i++)
        d->in_b[d->b[i]] = 0;
}

/* The last anchor of the longest chain that goes forward in both texts. */
static size_t longest_chain(struct anchors *found)
{
    struct VEC(size_t) ends = {0}; /* by length - 1: where the chain of that length ends earliest in b */
    for (size_t i = 0; i < found->count; i++) {
        size_t low = 0, high = ends.count;
        while (low < high) {
            size_t mid = (low + high) / 2;
            if (found->items[ends.items[mid]].b < found->items[i].b)
                low = mid + 1;
            else
                high = mid;
        }
        found->items[i].before = low ? ends.items[low - 1] : SIZE_MAX;
        if (low == ends.count)
            *vec_push(&ends) = i;
        else
            ends.items[low] = i;
    }
    size_t last = ends.count ? ends.items[ends.count - 1] : SIZE_MAX;
    vec_release(&ends);
    return last;
}

/* Matches what is there once, and leaves the stretches between for later. */
static bool split_at_unique(struct diff *d, struct span s)
{
    struct anchors found = {0};
    find_unique(d, &s, &found);
    size_t at = longest_chain(&found);
    bool any = at != SIZE_MAX;
    for (; at != SIZE_MAX; at = found.items[at].before) {
        const struct anchor *x = &found.items[at];
        match(d, x->a, x->b);
        *vec_push(&d->todo) = (struct span){x->a + 1, s.a_end, x->b + 1, s.b_end};
        s.a_end = x->a;
        s.b_end = x->b;
    }
    if (any)
        *vec_push(&d->todo) = s;
    vec_release(&found);
    return any;
}

/* ---- Myers --------------------------------------------------------------------------------------- */

/* The line of a at which diagonal k (a - b) is entered with one edit more than `before` (NULL: with none); -1: it cannot
   be. Down: by a line of b, else by one of a. */
static int entered(const int *before, int k, long n, long m, bool *down)
{
    *down = false;
    if (!before)
        return k == 0 ? 0 : -1;
    int by_a = before[k - 1] >= 0 && before[k - 1] < n ? before[k - 1] + 1 : -1;
    int by_b = before[k + 1] >= 0 && before[k + 1] - k <= m ? before[k + 1] : -1;
    *down = by_b > by_a;
    return *down ? by_b : by_a;
}

/* How far one gets on the diagonal from there. */
static int furthest(const struct diff *d, const struct span *s, int k, int a)
{
    long n = (long)(s->a_end - s->a), m = (long)(s->b_end - s->b);
    while (a >= 0 && a < n && a - k < m && d->a[s->a + (size_t)a] == d->b[s->b + (size_t)(a - k)])
        a++;
    return a;
}

/* Reached diagonals of one number of edits: [-edits - 2 .. edits + 2], -1 if there is none. */
static int *new_row(int edits, int **memory)
{
    size_t n = 2 * (size_t)edits + 5;
    *memory = mem_alloc(n * sizeof **memory);
    memset(*memory, 0xff, n * sizeof **memory);
    return *memory + edits + 2;
}

static const int *row_before(int *const *rows, int edits)
{
    return edits ? rows[edits - 1] + edits + 1 : NULL;
}

/* Back from the end: the matching lines that each step passed. */
static void trace_back(struct diff *d, const struct span *s, int *const *rows, int edits)
{
    long n = (long)(s->a_end - s->a), m = (long)(s->b_end - s->b), a = n, b = m;
    for (; edits >= 0; edits--) {
        bool down;
        int from = entered(row_before(rows, edits), (int)(a - b), n, m, &down);
        while (a > from) {
            a--;
            b--;
            match(d, s->a + (size_t)a, s->b + (size_t)b);
        }
        a -= edits && !down;
        b -= edits && down;
    }
}

static void greedy(struct diff *d, const struct span *s)
{
    long n = (long)(s->a_end - s->a), m = (long)(s->b_end - s->b);
    int **rows = mem_calloc(EDITS_MOST + 1, sizeof *rows);
    bool done = false;
    for (int edits = 0; edits <= EDITS_MOST && !done; edits++) {
        int *row = new_row(edits, &rows[edits]);
        for (int k = -edits; k <= edits; k += 2) {
            bool down;
            row[k] = furthest(d, s, k, entered(row_before(rows, edits), k, n, m, &down));
            done = done || (row[k] == n && row[k] - k == m);
        }
        d->work += (uint64_t)edits + 1;
        if (done)
            trace_back(d, s, rows, edits);
    }
    for (int i = 0; i <= EDITS_MOST; i++)
        mem_free(rows[i]);
    mem_free(rows);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static void compare(struct diff *d, size_t n, size_t m)
{
    *vec_push(&d->todo) = (struct span){0, n, 0, m};
    while (d->todo.count && d->work < WORK_MOST) {
        struct span s = d->todo.items[--d->todo.count];
        trim(d, &s);
        d->work += s.a_end - s.a + s.b_end - s.b + 1;
        if (s.a < s.a_end && s.b < s.b_end && !split_at_unique(d, s))
            greedy(d, &s);
    }
}

/* Between two lines that stayed: as many lines as there were. */
static void pair_changed(struct diff *d, size_t n, size_t m)
{
    for (size_t i = 0, end, before = 0; i < n; i = end) {
        for (end = i; end < n && d->to[end] == 0;)
            end++;
        size_t after = end < n ? d->to[end] - 1 : m;
        for (size_t k = i; k < end && end - i == after - before; k++)
            match(d, k, before + (k - i));
        before = end < n ? d->to[end] : m;
        end += end < n;
    }
}

uint32_t *metrics_line_diff(const void *a, size_t a_len, const void *b, size_t b_len, size_t *lines)
{
    struct strtab *texts = strtab_create();
    struct lines in_a = {0}, in_b = {0};
    read_lines(texts, a, a_len, &in_a);
    read_lines(texts, b, b_len, &in_b);
    size_t n = strtab_count(texts);
    struct diff d = {.a = in_a.items,
                     .b = in_b.items,
                     .to = mem_calloc(in_a.count, sizeof *d.to),
                     .in_a = mem_calloc(n, sizeof *d.in_a),
                     .in_b = mem_calloc(n, sizeof *d.in_b),
                     .at_b = mem_calloc(n, sizeof *d.at_b)};
    compare(&d, in_a.count, in_b.count);
    pair_changed(&d, in_a.count, in_b.count);
    *lines = in_a.count;
    mem_free(d.in_a);
    mem_free(d.in_b);
    mem_free(d.at_b);
    vec_release(&d.todo);
    vec_release(&in_a);
    vec_release(&in_b);
    strtab_free(texts);
    return d.to;
}
