/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of cases: inputs and their exact results.
 *
 *     case NAME, with blanks; words with '=' in them, or "-x" are options
 *     -- INPUT            lines of it, up to the next "--" or "case"; a missing input is that of the previous case
 *     -- WHAT             the result, with a '|' before each line
 *
 * GOLDEN=write writes the current results into the file: review the difference. CASE='name' runs only that case.
 */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "support/support.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>

struct cases {
    const char *const *inputs; /* NULL-terminated: the words of parts that are given */
    void (*begin)(void *ctx, const char *name);
    void (*option)(void *ctx, const char *word);
    void (*input)(void *ctx, const char *which, const char *text);
    void (*output)(void *ctx, const char *what, struct buf *);
    void *ctx;
    char *name; /* of the case at hand */
    struct buf fresh;
};

/* Set if an output cannot be produced here: the reason. */
static const char *cases_lack;

/* The output of a file writer, as text. */
static inline void cases_written(struct buf *out, void (*write)(void *ctx, struct outfile *), void *ctx)
{
    char path[] = "/tmp/cases.XXXXXX";
    struct outfile *file;
    struct filemap map;
    struct err err = {0};
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) < 0 || outfile_create(path, &file, &err) < 0)
        exit(99);
    write(ctx, file);
    if (outfile_commit(file, &err) < 0 || filemap_open(&map, path, &err) < 0)
        exit(99);
    buf_add(out, map.bytes, map.len);
    filemap_release(&map);
    unlink(path);
}

/* As few digits as every libm agrees on. */
static inline const char *cases_rounded(struct buf *out, const char *number)
{
    char *end;
    double v = strtod(number, &end);
    if (end - number > 8 && memchr(number, '.', (size_t)(end - number)))
        buf_printf(out, "%.6g", v);
    else
        buf_add(out, number, (size_t)(end - number));
    return end;
}

/* Each with a '|' before it; elements of JSON lists on separate lines, so that differences are visible. */
static inline void cases_lines(struct buf *out, const char *text)
{
    buf_str(out, "|");
    for (const char *c = text; *c;) {
        if (c > text && *c == '{' && c[-1] == ',')
            buf_str(out, "\n| ");
        if (*c >= '0' && *c <= '9') {
            c = cases_rounded(out, c);
            continue;
        }
        size_t n = utf8_length(c, strlen(c));
        if (n == 0 || ((unsigned char)*c < 32 && *c != '\n'))
            buf_printf(out, "\\x%02x", (unsigned char)*c);
        else
            buf_add(out, c, n);
        c += n ? n : 1;
        if (c[-1] == '\n' && *c)
            buf_str(out, "|");
    }
    if (out->bytes[out->len - 1] != '\n')
        buf_str(out, "\\\n"); /* the last line is not terminated */
}

static inline void cases_begin(struct cases *c, char *line)
{
    struct buf name = {0};
    c->begin(c->ctx, line);
    for (char *word; (word = strsep(&line, " "));)
        if (strchr(word, '=') || word[0] == '-')
            c->option(c->ctx, word);
        else
            buf_printf(&name, "%s%s", name.len ? " " : "", word);
    mem_free(c->name);
    c->name = mem_strdup(name.bytes);
    buf_release(&name);
}

static inline void cases_part(struct cases *c, const char *head, const char *body)
{
    struct buf out = {0}, lines = {0};
    for (size_t i = 0; c->inputs[i]; i++)
        if (strcmp(c->inputs[i], head) == 0) {
            c->input(c->ctx, head, body);
            buf_printf(&c->fresh, "-- %s\n%s", head, body);
            return;
        }
    if (!tap_is_asked(c->name)) {
        buf_printf(&c->fresh, "-- %s\n%s", head, body);
        return;
    }
    buf_str(&out, "");
    c->output(c->ctx, head, &out);
    char *name = mem_printf("%s: %s", c->name, head);
    if (cases_lack) {
        SKIP(name, cases_lack);
        buf_str(&lines, body);
        cases_lack = NULL;
    } else {
        cases_lines(&lines, out.bytes);
        tap_str(lines.bytes, body, name, __FILE__, __LINE__);
    }
    buf_printf(&c->fresh, "-- %s\n%s", head, lines.bytes);
    mem_free(name);
    buf_release(&out);
    buf_release(&lines);
}

/* The number of differing lines, and the text of the first difference. */
static inline void cases_difference(struct buf *out, const char *a, const char *b)
{
    size_t lines = 0, a_len, b_len;
    for (; *a || *b; a += a_len + (a[a_len] != '\0'), b += b_len + (b[b_len] != '\0')) {
        a_len = strcspn(a, "\n");
        b_len = strcspn(b, "\n");
        if (a_len == b_len && memcmp(a, b, a_len) == 0)
            continue;
        if (lines++ == 0) {
            size_t same = 0;
            while (same < a_len && same < b_len && a[same] == b[same])
                same++;
            buf_printf(out, "'%.*s' is '%.*s'", (int)(a_len - same < 16 ? a_len - same : 16), a + same,
                       (int)(b_len - same < 16 ? b_len - same : 16), b + same);
        }
    }
    if (lines > 1)
        buf_printf(out, ", %zu lines", lines);
    else if (lines == 0)
        buf_str(out, "the same");
}

/* The next line that begins a part or a case, from a line's begin on. */
static inline char *cases_next(char *at)
{
    while (*at && !str_starts(at, "case ") && !str_starts(at, "-- ")) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return at;
}

static inline void cases_check(struct cases *c, char *all)
{
    char *at = cases_next(all);
    buf_add(&c->fresh, all, (size_t)(at - all));
    while (*at) {
        size_t n = strcspn(at, "\n");
        char *next = cases_next(at + n + (at[n] == '\n'));
        char *head = mem_strndup(at, n), *body = mem_strndup(at + n + 1, (size_t)(next - at - (long)n - 1));
        if (str_starts(head, "case ")) {
            buf_printf(&c->fresh, "%s\n%s", head, body);
            cases_begin(c, head + strlen("case "));
        } else
            cases_part(c, head + strlen("-- "), body);
        mem_free(head);
        mem_free(body);
        at = next;
    }
    c->begin(c->ctx, ""); /* frees the state of the last one */
}

/* `path` from the top of the sources. */
static inline void cases_run(struct cases *c, const char *path)
{
    const char *top = getenv("top_srcdir"), *golden = getenv("GOLDEN");
    char *whole = path_join(top ? top : ".", path);
    struct filemap map;
    struct err err = {0};
    if (filemap_open(&map, whole, &err) < 0)
        exit(99);
    char *all = mem_strndup((const char *)map.bytes, map.len);
    filemap_release(&map);
    cases_check(c, all);
    FILE *out = golden && strcmp(golden, "write") == 0 ? fopen(whole, "w") : NULL;
    if (out && (fwrite(c->fresh.bytes, 1, c->fresh.len, out) != c->fresh.len || fclose(out) != 0))
        exit(99);
    buf_release(&c->fresh);
    mem_free(c->name);
    mem_free(all);
    mem_free(whole);
}

#endif
