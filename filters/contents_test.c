/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of reading a file: tests/filters/contents.cases (tests/cases.h). A case has
 *
 *     format=NAME        the format to read it in
 *     text               the file, with the escapes `\t`, `\r` and `\s` (a blank at a line's end); or
 *     example=NAME       that of tests/filters, without counts, which depend on the installed binaries
 *     corpus=NAME        one of tests/corpus/filter; its format is given by format=NAME
 *     every=N            one of N bytes is damaged
 *     recognised         the shortest recognized prefix, and the longest meaningless text before it, if that matters
 *     damaged            a digest of the results if it is truncated, or a byte is changed, removed or duplicated
 *     facts              events, processes, threads, notes, regions, tables, counts, and warnings; or the error
 */
#include "config.h"

#include "tests/cases.h"
#include "tests/fixtures/import_dump.h"
#include "tests/guarded.h"

struct at_hand {
    char *text, *format, *example, *corpus;
    size_t every;
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    mem_free(h->format);
    mem_free(h->example);
    mem_free(h->corpus);
    h->format = h->example = h->corpus = NULL;
    h->every = 1;
}

static void take_option(void *ctx, const char *word)
{
    struct at_hand *h = ctx;
    if (str_starts(word, "format="))
        h->format = mem_strdup(word + strlen("format="));
    else if (str_starts(word, "example="))
        h->example = mem_strdup(word + strlen("example="));
    else if (str_starts(word, "corpus="))
        h->corpus = mem_strdup(word + strlen("corpus="));
    else if (str_starts(word, "every="))
        h->every = strtoul(word + strlen("every="), NULL, 10);
    else
        exit(99);
}

static void take_input(void *ctx, const char *which, const char *text)
{
    static const char from[] = "trs", to[] = "\t\r ";
    struct at_hand *h = ctx;
    (void)which;
    mem_free(h->text);
    char *at = h->text = mem_strdup(text);
    for (const char *c = text; *c; c++) {
        const char *meant = *c == '\\' && c[1] ? strchr(from, c[1]) : NULL;
        *at++ = meant ? to[meant - from] : *c;
        c += meant != NULL;
    }
    *at = '\0';
}

static const char *text_of(const struct hpcprof *p, str_id id)
{
    return strtab_get(p->strings, id);
}

static void add_processes(struct buf *out, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->process_count; i++) {
        const struct hpcprof_process *r = &p->processes[i];
        buf_printf(out, "process %u rank %d of %s: '%s' on '%s' in '%s', machine '%s', kernel '%s', sampler '%s', ",
                   r->pid, r->rank, text_of(p, r->source_file), text_of(p, r->command), text_of(p, r->host),
                   text_of(p, r->working_dir), text_of(p, r->machine), text_of(p, r->kernel), text_of(p, r->sampler));
        buf_printf(out, "%llu to %llu, parent %u, status %d, complete %d\n", (unsigned long long)r->start_ns,
                   (unsigned long long)r->end_ns, r->parent_pid, r->exit_status, r->complete);
    }
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct hpcprof_thread *t = &p->threads[i];
        buf_printf(out, "thread %u.%u '%s' %llu to %llu, %llu\n", t->process, t->number, text_of(p, t->name),
                   (unsigned long long)t->start_ns, (unsigned long long)t->end_ns, (unsigned long long)t->cpu_ns);
    }
}

static void add_cell(struct buf *out, const struct hpcprof *p, const struct table_column *c, union table_cell cell)
{
    if (c->type == TABLE_TEXT)
        buf_printf(out, " '%s'", text_of(p, cell.text));
    else if (c->type == TABLE_NUMBER)
        buf_printf(out, " %g", cell.number);
    else if (c->type == TABLE_COUNT)
        buf_printf(out, " %llu", (unsigned long long)cell.count);
    else if (cell.row == TABLE_NONE)
        buf_str(out, " -");
    else if (strcmp(c->refers, "context") == 0) {
        buf_str(out, " <");
        dump_context(out, p, cell.row);
        buf_str(out, ">");
    } else
        buf_printf(out, " %s %u", c->refers, cell.row);
}

static void add_tables(struct buf *out, const struct hpcprof *p, bool rows)
{
    for (size_t i = 0; i < p->tables.count; i++) {
        const struct table *t = p->tables.items[i];
        const struct table_decl *d = table_declared(t);
        buf_printf(out, "table %s:", d->name);
        for (size_t c = 0; c < d->column_count; c++)
            buf_printf(out, " %s", d->columns[c].name);
        buf_str(out, "\n");
        for (size_t k = 0; rows && k < table_row_count(t); k++) {
            for (size_t c = 0; c < d->column_count; c++)
                add_cell(out, p, &d->columns[c], table_row(t, k)[c]);
            buf_str(out, "\n");
        }
    }
}

static void add_facts(struct buf *out, const struct hpcprof *p, bool counts)
{
    for (size_t i = 0; i < p->event_count; i++) {
        const struct hpcprof_event *e = &p->events[i];
        buf_printf(out, "event %s (%s) unit '%s' period %llu flags %u\n", text_of(p, e->name),
                   text_of(p, e->description), text_of(p, e->unit), (unsigned long long)e->period, e->flags);
    }
    add_processes(out, p);
    for (size_t i = 0; i < p->note_count; i++)
        buf_printf(out, "note of %u: %s = %s\n", p->notes[i].process, text_of(p, p->notes[i].name),
                   text_of(p, p->notes[i].value));
    for (size_t i = 1; i < p->region_count; i++)
        buf_printf(out, "region %s in %u\n", text_of(p, p->regions[i].name), p->regions[i].parent);
    for (size_t i = 0; i < p->total_count; i++)
        buf_printf(out, "total of thread %u, event %u: %llu\n", p->totals[i].thread, p->totals[i].event,
                   (unsigned long long)p->totals[i].value);
    add_tables(out, p, counts);
    if (counts) {
        char *text = dump(p);
        buf_str(out, text);
        mem_free(text);
    }
}

static void convert(struct buf *out, const struct filter *f, const struct filter_input *in, bool counts)
{
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    struct hpcprof *p = hpcprof_create();
    if (f->convert(in, p, warnings, &err) == 0) {
        hpcprof_finish(p);
        add_facts(out, p, counts);
        for (size_t i = 0; counts && i < warnings_count(warnings); i++)
            buf_printf(out, "! %s\n", warnings_get(warnings, i));
    } else
        buf_printf(out, "error: %s\n", err.msg);
    if (!f->sniff(in->bytes, in->len))
        buf_str(out, "which is not recognised\n");
    hpcprof_free(p);
    warnings_free(warnings);
}

/* ---- length required for recognition ----------------------------------------------------------------------------- */

/* A copy of exactly that length, so that reads past its end are detected. */
static bool is_recognised(const struct filter *f, const struct buf *b, size_t n)
{
    char *copy = memcpy(mem_alloc(n ? n : 1), b->bytes, n);
    bool is = f->sniff(copy, n);
    mem_free(copy);
    return is;
}

static void add_change(struct buf *out, bool *before, bool now, const char *what, size_t n)
{
    if (now != *before)
        buf_printf(out, "%s %s %zu\n", what, now ? "from" : "not from", n);
    *before = now;
}

static void add_recognised(struct buf *out, const struct filter *f, const void *bytes, size_t len)
{
    static const struct {
        const char *what, *piece;
        size_t most;
    } fronts[] = {{"behind blanks", " ", 4200},
                  {"behind empty lines", "\n", 700},
                  {"behind comments", "# x\n", 700},
                  {"behind texts", "desc: x\n", 700},
                  {"behind NULs", "\0", 2}};
    struct buf all = {0};
    bool is = false;
    buf_add(&all, bytes, len);
    for (size_t n = 0; n <= len; n++)
        add_change(out, &is, is_recognised(f, &all, n), "bytes", n);
    for (size_t i = 0; i < ARRAY_SIZE(fronts); i++) {
        struct buf behind = {0};
        is = false;
        for (size_t n = 0; n <= fronts[i].most; n++) {
            size_t at = behind.len;
            buf_add(&behind, bytes, len);
            add_change(out, &is, is_recognised(f, &behind, behind.len), fronts[i].what, n);
            behind.len = at;
            buf_add(&behind, fronts[i].piece, *fronts[i].piece ? strlen(fronts[i].piece) : 1);
        }
        buf_release(&behind);
    }
    buf_release(&all);
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

enum { DIGESTED = 32, DIGESTS = 8 }; /* damaged bytes of which the outcomes are one digest, digests in a line */

enum damage { CUT, ONE_MORE, OTHER_BIT, LEFT_OUT, TWICE, DAMAGES };

/* At the end of readable memory, so that reads past it are detected. */
static struct filter_input damaged(const struct filter_input *whole, enum damage damage, size_t at)
{
    struct filter_input in = *whole;
    const char *bytes = whole->bytes;
    struct buf b = {0};
    buf_add(&b, bytes, at);
    if (damage == ONE_MORE || damage == OTHER_BIT)
        buf_add(&b, &(char){(char)(damage == ONE_MORE ? bytes[at] + 1 : bytes[at] ^ 16)}, 1);
    if (damage == TWICE)
        buf_add(&b, bytes + at, 1);
    if (damage != CUT)
        buf_add(&b, bytes + at + (damage != TWICE), whole->len - at - (damage != TWICE));
    static struct guarded_room lent;
    in.bytes = guarded_copy(&lent, b.bytes, b.len);
    in.len = b.len;
    buf_release(&b);
    return in;
}

/* FNV-1a. libxml2's message for invalid XML depends on its version and is left out. */
static uint32_t digest_on(uint32_t digest, const struct buf *outcome, bool xml)
{
    size_t n = xml && str_starts(outcome->bytes, "error: ") ? strlen("error: ") : outcome->len;
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ (unsigned char)outcome->bytes[i]) * 16777619;
    return digest;
}

static void add_damaged(struct buf *out, const struct filter *f, const struct filter_input *whole, size_t every)
{
#ifndef HAVE_ZSTD
    if (strcmp(f->name, "perf") == 0) /* damage may produce compressed records, too */
        cases_lack = "built without zstd";
#endif
    bool xml = strcmp(f->name, "profile") == 0 || strcmp(f->name, "hpctoolkit") == 0;
    uint32_t digest = 0;
    size_t digests = 0;
    for (size_t i = 0; i * every < whole->len; i++) {
        for (enum damage damage = CUT; damage < DAMAGES; damage++) {
            struct filter_input in = damaged(whole, damage, i * every);
            struct buf outcome = {0};
            convert(&outcome, f, &in, true);
            digest = digest_on(digest, &outcome, xml);
            buf_release(&outcome);
        }
        if (i % DIGESTED == DIGESTED - 1 || (i + 1) * every >= whole->len) {
            buf_printf(out, "%s%08x", digests == 0 ? "" : digests % DIGESTS ? " " : "\n", digest);
            digests++;
            digest = 0;
        }
    }
    buf_str(out, "\n");
}

static void make(struct buf *out, const struct at_hand *h, const char *what, const struct filter *f,
                 const struct filter_input *in)
{
    if (strcmp(what, "facts") == 0)
        convert(out, f, in, !h->example);
    else if (strcmp(what, "damaged") == 0)
        add_damaged(out, f, in, h->every);
    else
        add_recognised(out, f, in->bytes, in->len);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    static const struct filter_options none;
    const struct at_hand *h = ctx;
    const char *top = getenv("top_srcdir");
    const struct filter *f = filter_named(h->format ? h->format : h->example, NULL);
    struct filter_input in = {.name = "dir/input", .options = &none, .open = filters_open};
    if (!f)
        exit(99);
    if (!h->example && !h->corpus) {
        in.bytes = h->text;
        in.len = strlen(h->text);
        make(out, h, what, f, &in);
        return;
    }
    char *path = h->example ? mem_printf("%s/tests/filters/%s.example", top ? top : ".", h->example)
                            : mem_printf("%s/tests/corpus/filter/%s", top ? top : ".", h->corpus);
    struct filemap map;
    if (filemap_open(&map, path, NULL) < 0)
        exit(99);
    in.bytes = map.bytes;
    in.len = map.len;
    make(out, h, what, f, &in);
    filemap_release(&map);
    mem_free(path);
}

int main(void)
{
    static const char *const inputs[] = {"text", NULL};
    struct at_hand h = {0};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    cases_run(&c, "tests/filters/contents.cases");
    mem_free(h.text);
    return tap_done();
}
