/*
 * What becomes of properties on a drawing, to the letter: tests/diagnose/findings.cases. A case is
 *
 *     case NAME [OPTION...]            strategy=WORD, threshold=N, rounds=N, one-program
 *     properties
 *     PROPERTY ...                     in place of it, "same properties": those of the case before
 *     drawing
 *     MODULE ...                       see drawing.c; "same drawing"
 *     WHAT                             text, csv, json, sarif, periscope, graph: as they are written; wishes: what is
 *     ...                              asked for next; stored N: as it is read back from the tables, from N percent on
 *
 * Lines of output have a '|' before them. GOLDEN=write rewrites them: read what has become of them.
 */
#include "diagnose/diagnose_int.h"
#include "diagnose/drawing.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

struct at_hand { /* of the case */
    char *name, *properties, *drawing;
    struct diagnose_options options;
    struct experiment *e;
    struct properties *p;
    struct diagnosis *d;
    const char *written; /* a file for what is written */
};

static void take_option(struct diagnose_options *o, const char *word)
{
    struct err err = {0};
    if (str_starts(word, "strategy=") && diagnose_strategy_parse(word + 9, &o->strategy, &err) == 0)
        return;
    if (str_starts(word, "threshold="))
        o->threshold = strtod(word + 10, NULL);
    else if (str_starts(word, "rounds="))
        o->experiments = strtoul(word + 7, NULL, 10);
    else if (strcmp(word, "one-program") == 0)
        o->one_program = true;
    else
        exit(99);
}

/* "case some name threshold=3": what has a '=' or a '-' in it is an option. */
static void begin_case(struct at_hand *h, char *line)
{
    struct buf name = {0};
    h->options = (struct diagnose_options){.threshold = 1, .threads = 1};
    for (char *word; (word = strsep(&line, " "));)
        if (strpbrk(word, "=-"))
            take_option(&h->options, word);
        else
            buf_printf(&name, "%s%s", name.len ? " " : "", word);
    mem_free(h->name);
    h->name = mem_strdup(name.bytes);
    buf_release(&name);
}

static void end_case(struct at_hand *h)
{
    diagnosis_free(h->d);
    if (h->e)
        experiment_free(h->e);
    properties_free(h->p);
    h->d = NULL;
    h->e = NULL;
    h->p = NULL;
}

static void look(struct at_hand *h)
{
    struct warnings *problems = warnings_create();
    struct err err = {0};
    h->p = properties_create();
    properties_add(h->p, h->properties, strlen(h->properties), "p.asl", problems);
    properties_finish(h->p, problems);
    for (size_t i = 0; i < warnings_count(problems); i++)
        printf("# %s\n", warnings_get(problems, i));
    CHECK_NAMED(warnings_count(problems) == 0, h->name);
    warnings_free(problems);
    h->e = drawing_read(h->drawing, h->name);
    CHECK_INT(diagnosis_stored(h->e, 0, &h->d), 0);
    if (diagnose(h->e, h->p, &h->options, &h->d, &err) < 0)
        exit(99);
}

/* ---- what is asked for ---------------------------------------------------------------------------------- */

static void add_written(struct at_hand *h, const struct diagnosis *d, enum diagnose_format format, struct buf *out)
{
    struct outfile *file;
    struct filemap map;
    struct err err = {0};
    if (outfile_create(h->written, &file, &err) < 0)
        exit(99);
    diagnosis_write(h->e, h->p, d, format, "1.0", file);
    if (outfile_commit(file, &err) < 0 || filemap_open(&map, h->written, &err) < 0)
        exit(99);
    buf_add(out, map.bytes, map.len);
    filemap_release(&map);
}

static void add_wishes(struct at_hand *h, struct buf *out)
{
    struct diagnose_wishes wishes = {0};
    diagnosis_wishes(h->e, h->p, h->d, &wishes);
    for (size_t i = 0; i < wishes.count; i++) {
        const struct diagnose_wish *w = &wishes.items[i];
        if (w->event)
            buf_printf(out, "event %s", w->event);
        else
            buf_printf(out, "%s of %s", w->made_by, w->procedure ? w->procedure : "all");
        buf_printf(out, " for %s\n", w->property);
    }
    if (!wishes.count)
        buf_str(out, "nothing\n");
    vec_release(&wishes);
}

/* Written into the experiment twice, as into a database that had findings already. */
static void add_stored(struct at_hand *h, double threshold, struct buf *out)
{
    struct diagnosis *stored = NULL;
    struct err err = {0};
    CHECK_INT(diagnosis_add_tables(h->e, h->d, &err), 0);
    size_t tables = h->e->tables.count;
    CHECK_INT(diagnosis_add_tables(h->e, h->d, &err), 0);
    CHECK_INT(h->e->tables.count, tables);
    if (diagnosis_stored(h->e, threshold, &stored) == 1) {
        buf_printf(out, "threshold %g, rounds %u\n", stored->threshold, stored->experiments);
        add_written(h, stored, DIAGNOSE_JSON, out);
    } else
        buf_str(out, "nothing\n");
    diagnosis_free(stored);
}

static void make_output(struct at_hand *h, const char *what, struct buf *out)
{
    enum diagnose_format format;
    struct err err = {0};
    if (!h->d)
        look(h);
    if (diagnose_format_parse(what, &format, &err) == 0)
        add_written(h, h->d, format, out);
    else if (strcmp(what, "wishes") == 0)
        add_wishes(h, out);
    else if (str_starts(what, "stored "))
        add_stored(h, strtod(what + 7, NULL), out);
    else
        exit(99);
}

/* As few digits as every libm agrees on. */
static const char *add_rounded(struct buf *out, const char *number)
{
    char *end;
    double v = strtod(number, &end);
    if (end - number > 8 && memchr(number, '.', (size_t)(end - number)))
        buf_printf(out, "%.6g", v);
    else
        buf_add(out, number, (size_t)(end - number));
    return end;
}

/* Each with a '|' before it; items of JSON's lists in lines of their own, so that differences are seen. */
static void add_lines(struct buf *out, const char *text)
{
    buf_str(out, "|");
    for (const char *c = text; *c;) {
        if (c > text && *c == '{' && c[-1] == ',')
            buf_str(out, "\n| ");
        if (*c >= '0' && *c <= '9') {
            c = add_rounded(out, c);
            continue;
        }
        buf_char(out, *c);
        if (*c++ == '\n' && *c)
            buf_str(out, "|");
    }
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

/* Lines up to one that begins a part; `after` is where it stands. */
static char *part_of(char *from, char **after)
{
    static const char *const words[] = {"case ",  "properties\n", "drawing\n",   "same ",   "text\n",   "csv\n",
                                        "json\n", "sarif\n",      "periscope\n", "graph\n", "wishes\n", "stored "};
    char *at = from;
    while (*at) {
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
            if (str_starts(at, words[i])) {
                *after = at;
                return mem_strndup(from, (size_t)(at - from));
            }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *after = at;
    return mem_strdup(from);
}

static void check_file(struct at_hand *h, char *all, struct buf *fresh)
{
    char *at = all;
    mem_free(part_of(all, &at));
    buf_add(fresh, all, (size_t)(at - all));
    while (*at) {
        char *head = mem_strndup(at, strcspn(at, "\n")), *body = part_of(at + strlen(head) + 1, &at);
        bool is_output = false;
        if (str_starts(head, "case ")) {
            buf_printf(fresh, "%s\n%s", head, body);
            end_case(h);
            begin_case(h, head + 5);
        } else if (strcmp(head, "properties") == 0 || strcmp(head, "drawing") == 0) {
            char **which = *head == 'p' ? &h->properties : &h->drawing;
            mem_free(*which);
            *which = mem_strdup(body);
        } else
            is_output = !str_starts(head, "same ");
        if (is_output) {
            struct buf out = {0}, lines = {0};
            make_output(h, head, &out);
            add_lines(&lines, out.bytes);
            char *name = mem_printf("%s: %s", h->name, head);
            tap_str(lines.bytes, body, name, __FILE__, __LINE__);
            buf_printf(fresh, "%s\n%s", head, lines.bytes);
            mem_free(name);
            buf_release(&out);
            buf_release(&lines);
        } else if (h->d == NULL && !str_starts(head, "case "))
            buf_printf(fresh, "%s\n%s", head, body);
        mem_free(head);
        mem_free(body);
    }
    end_case(h);
}

int main(void)
{
    const char *top = getenv("top_srcdir"), *golden = getenv("GOLDEN");
    char *path = path_join(top ? top : ".", "tests/diagnose/findings.cases"), written[] = "/tmp/findings_test.XXXXXX";
    struct at_hand h = {.written = written};
    struct filemap map;
    struct err err = {0};
    struct buf fresh = {0};
    int fd = mkstemp(written);
    if (fd < 0 || close(fd) < 0 || filemap_open(&map, path, &err) < 0)
        return 1;
    char *all = mem_strndup((const char *)map.bytes, map.len);
    filemap_release(&map);
    check_file(&h, all, &fresh);
    FILE *out = golden && strcmp(golden, "write") == 0 ? fopen(path, "w") : NULL;
    if (out) {
        fwrite(fresh.bytes, 1, fresh.len, out);
        fclose(out);
    }
    unlink(written);
    buf_release(&fresh);
    mem_free(all);
    mem_free(h.name);
    mem_free(h.properties);
    mem_free(h.drawing);
    mem_free(path);
    return tap_done();
}
