/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages about barriers while a program runs, from the lines that its recorder sends; the addresses are of this
 * program, and of binaries generated here (local.mk replaces bloop's functions with those below). */
#include "bloop/bloop.h"
#include "phases/phases.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#undef bloop_open
#undef bloop_scopes_at
#undef bloop_close
int bloop_open(const char *path, const struct bloop_options *, struct bloop_binary **, struct warnings *, struct err *);
int bloop_scopes_at(struct bloop_binary *, const vaddr *addrs, size_t count, struct scope_tree **, struct warnings *,
                    struct err *);
void bloop_close(struct bloop_binary *);

/* ---- a fake binary ----------------------------------------------------------------------------------------------- */

static struct bloop_binary *const made_up = (struct bloop_binary *)&made_up;
static char structure_path[] = "/tmp/barrier_log_test.XXXXXX"; /* its structure file */
static int opened, looked, closed;

int fake_open(const char *path, const struct bloop_options *o, struct bloop_binary **b, struct warnings *w,
              struct err *err)
{
    if (!str_starts(path, "/made/") && *path != '[')
        return bloop_open(path, o, b, w, err);
    opened++;
    *b = made_up;
    return strcmp(path, "/made/up") == 0 ? 0 : -1;
}

/* It may fail or return nothing. */
int fake_scopes_at(struct bloop_binary *b, const vaddr *at, size_t count, struct scope_tree **t, struct warnings *w,
                   struct err *err)
{
    if (b != made_up)
        return bloop_scopes_at(b, at, count, t, w, err);
    looked++;
    *t = NULL;
    if (count != 1 || *at == 0x3000)
        return 0;
    int status = scope_tree_read(structure_path, t, w, err);
    return *at == 0x3001 ? -1 : status;
}

void fake_close(struct bloop_binary *b)
{
    if (b != made_up)
        bloop_close(b);
    closed += b == made_up;
}

/* ---- the log -------------------------------------------------------------------------------------------------------- */

/* Returns the output for a line; '|' represents tabs. The caller frees it. */
static struct bloop_symbolizer *symbolizer;

static const char *locate(void *ctx, const char *module, uint64_t address)
{
    return bloop_symbolize(ctx, module, address);
}

/* One for all lines: warnings are counted. */
static struct phases_barrier_log barrier_log = {.locate = locate};

static char *tell(const char *const *watched, const char *sent)
{
    char *text = NULL, *line = mem_strdup(sent);
    size_t size = 0;
    barrier_log.out = open_memstream(&text, &size);
    barrier_log.watched = watched;
    barrier_log.locate_ctx = symbolizer;
    for (char *bar = line; (bar = strchr(bar, '|'));)
        *bar = '\t';
    phases_barrier_log_line(&barrier_log, line);
    fclose(barrier_log.out);
    mem_free(line);
    return text;
}

static void check(const char *const *watched, const char *sent, const char *wanted)
{
    char *got = tell(watched, sent);
    CHECK_STR(got, wanted);
    free(got);
}

#define EPISODE  "|pthread_barrier_wait|step|/nowhere/prog|4660|7|4|1500000|250000|thread 3"
#define NAMELESS "|pthread_barrier_wait||/nowhere/prog|4660|7|4|1500000|250000|thread 3"

static void test_watched(void)
{
    static const char *const all[] = {"nothing", "all", NULL}, *const name[] = {"step", NULL},
                             *const other[] = {"ste", "steps", "prog+0x123", "prog+0x12345", "", NULL},
                             *const place[] = {"prog+0x1234", NULL}, *const empty[] = {NULL};
    static const char said[] = "hpcview: step at prog+0x1234 (pthread_barrier_wait): episode 7, 4 threads: phase 1.500 "
                               "ms, barrier 0.250 ms, thread 3 last\n";
    static const char nameless[] = "hpcview: prog+0x1234 (pthread_barrier_wait): episode 7, 4 threads: phase 1.500 ms, "
                                   "barrier 0.250 ms, thread 3 last\n";
    check(all, "E|0" EPISODE, said);
    check(name, "E|0" EPISODE, said);
    check(place, "E|0" EPISODE, said);
    check(other, "E|0" EPISODE, "");
    check(empty, "E|0" EPISODE, "");
    check(NULL, "E|0" EPISODE, "");
    check(all, "E|0" NAMELESS, nameless);
    check(name, "E|0" NAMELESS, "");
    check(all, "P|0|MPI_Barrier||/nowhere/prog|4661|7|16|1500000|250000|rank 3",
          "hpcview: prog+0x1235 (MPI_Barrier): collective 7 of 16 ranks: rank 3 worked 1.500 ms, waited 0.250 ms\n");
    check(all, "W|0" EPISODE, ""); /* a long wait is not an episode */
}

static void test_no_line(void)
{
    static const char *const all[] = {"all", NULL};
    check(all, "", "");
    check(all, "E", "");
    check(all, "E|1|2|3|4|5|6|7|8|9", "");
    check(all, "E|0|k|n|/nowhere/m|0|6|7|8000000|9000000|t|more",
          "hpcview: n at m+0x0 (k): episode 6, 7 threads: phase 8.000 ms, barrier 9.000 ms, t last\n");
}

/* For each place ten times, then no more. */
static void test_warnings(void)
{
    static const char first[] =
        "hpcview: warning: prog+0x%x (k): episode 7 had a barrier time of 1500 ms; thread 3 was last\n";
    for (unsigned at = 0x9000; at < 0x9003; at++)
        for (unsigned n = 1; n <= 12; n++) {
            char *sent = mem_printf("E|1|k||/nowhere/prog|%u|7|4|100|1500000000|thread 3", at), *got = tell(NULL, sent),
                 *said = mem_printf(first, at),
                 *last = mem_printf("%shpcview: warning: prog+0x%x (k): no more warnings for this place\n", said, at);
            CHECK_STR(got, n < 10 ? said : n == 10 ? last : "");
            free(got);
            mem_free(sent);
            mem_free(said);
            mem_free(last);
        }
    check(NULL, "P|1|MPI_Wait||/nowhere/prog|1|7|4|100|2000000|rank 1",
          "hpcview: warning: prog+0x1 (MPI_Wait): rank 1 waited for 2 ms\n");
    check(NULL, "W|1|MPI_Wait||/nowhere/prog|2|7|4|100|2000000|rank 1",
          "hpcview: warning: prog+0x2 (MPI_Wait): rank 1 has been waiting for 2 ms\n");
}

/* Each procedure of this program, queried twice and in any order, compared with its structure. */
static void test_lines(void)
{
    struct bloop_binary *b;
    struct scope_tree *t = NULL;
    struct err err;
    unsigned asked = 0, wrong = 0;
    if (bloop_open("/proc/self/exe", NULL, &b, NULL, &err) < 0 || bloop_scopes_all(b, &t, NULL, &err) < 0) {
        SKIP("lines of this program", "it cannot be read");
        return;
    }
    for (int again = 0; again < 2; again++)
        for (size_t i = again; i < t->scope_count && asked < 400; i += 1 + again) {
            const struct scope *s = &t->scopes[i], *p = s;
            if (s->kind != SCOPE_STMT || s->range_count == 0)
                continue;
            while (p->kind != SCOPE_PROC && p->kind != SCOPE_INLINE)
                p = &t->scopes[p->parent];
            vaddr at = t->ranges[s->range_first].begin;
            const char *file = strtab_get(t->strings, s->file);
            char *wanted =
                *file ? mem_printf("%s:%u in %s", path_base(file), s->line_first, strtab_get(t->strings, p->short_name))
                      : NULL;
            const char *got = bloop_symbolize(symbolizer, "/proc/self/exe", at);
            if (wanted && strcmp(got, wanted) != 0 && wrong++ < 3)
                printf("# %llx: got %s, wanted %s\n", (unsigned long long)at, got, wanted);
            asked += wanted != NULL;
            mem_free(wanted);
        }
    printf("# %u addresses\n", asked);
    CHECK_INT(wrong, 0);
    CHECK_STR(bloop_symbolize(symbolizer, "[vdso]", 0x10), "[vdso]+0x10");
    CHECK_STR(bloop_symbolize(symbolizer, "/nowhere/a", 0x10), "a+0x10");
    CHECK_STR(bloop_symbolize(symbolizer, "/nowhere/b", 0x10), "b+0x10");
    CHECK_STR(bloop_symbolize(symbolizer, "/nowhere/a", 0x11), "a+0x11");
    CHECK_STR(bloop_symbolize(symbolizer, "/proc/self/exe", 8), "exe+0x8");
    scope_tree_free(t);
    bloop_close(b);
}

/* Each twice; the second time the binary is not queried. */
static void test_made_up(void)
{
    static const char structure[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PGM version=\"4\">\n<LM n=\"/made/up\">\n"
        "<F n=\"\">\n<P n=\"_start\" ln=\"_start\" a=\"2000\" v=\"2000-2010\">\n<S b=\"0\" "
        "v=\"2000-2008\"/>\n</P>\n</F>\n"
        "<F n=\"/a/main.c\">\n"
        "<P n=\"main(int)\" sn=\"main\" ln=\"main\" b=\"3\" e=\"9\" a=\"1000\" v=\"1000-1100\">\n<S b=\"5\" "
        "v=\"1000-1010\"/>\n"
        "<L b=\"6\" e=\"8\" a=\"1010\" v=\"1010-1060\">\n<S b=\"7\" v=\"1010-1020\"/>\n"
        "<A n=\"dot(double*)\" sn=\"dot\" f=\"/a/vec.h\" b=\"10\" cf=\"/a/main.c\" cl=\"7\" v=\"1020-1040\">\n"
        "<S f=\"/b/vec.h\" b=\"13\" v=\"1020-1030\"/>\n</A>\n</L>\n</P>\n</F>\n</LM>\n</PGM>\n";
    static const struct {
        const char *module;
        uint64_t at;
        const char *is;
    } known[] = {
        {"/made/up", 0x1000, "main.c:5 in main"},  {"/made/up", 0x100f, "main.c:5 in main"},
        {"/made/up", 0x1010, "main.c:7 in main"},  {"/made/up", 0x1020, "vec.h:13 in dot"},
        {"/made/up", 0x1030, "main in up"},        {"/made/up", 0x1040, "main in up"},
        {"/made/up", 0x1060, "main in up"},        {"/made/up", 0x10ff, "main in up"},
        {"/made/up", 0x1100, "up+0x1100"},         {"/made/up", 0xfff, "up+0xfff"},
        {"/made/up", 0x2000, "_start in up"},      {"/made/up", 0x2008, "_start in up"},
        {"/made/up", 0x3000, "up+0x3000"},         {"/made/up", 0x3001, "up+0x3001"},
        {"/made/broken", 0x1000, "broken+0x1000"}, {"/made/broken", 0x1010, "broken+0x1010"},
        {"[made]", 0x1000, "[made]+0x1000"},
    };
    int fd = mkstemp(structure_path);
    if (!CHECK(fd >= 0 && write(fd, structure, sizeof structure - 1) == sizeof structure - 1))
        return;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
            CHECK_STR(bloop_symbolize(symbolizer, known[i].module, known[i].at), known[i].is);
        CHECK_INT(opened, 2);
        CHECK_INT(looked, 14);
    }
    close(fd);
    unlink(structure_path);
    CHECK_INT(closed, 0);
    bloop_symbolizer_free(symbolizer);
    CHECK_INT(closed, 1);
    symbolizer = bloop_symbolizer_create();
    CHECK_STR(bloop_symbolize(symbolizer, "/made/up", 0x3000), "up+0x3000");
    CHECK_INT(opened, 3);
}

int main(void)
{
    symbolizer = bloop_symbolizer_create();
    RUN(test_watched);
    RUN(test_no_line);
    RUN(test_warnings);
    RUN(test_lines);
    RUN(test_made_up);
    phases_barrier_log_release(&barrier_log);
    bloop_symbolizer_free(symbolizer);
    return tap_done();
}
