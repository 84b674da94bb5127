/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which loops are analysed, for which core, and which rows are stored: random trees, samples and reports, compared with
 * plain definitions. (local.mk replaces the functions that would read machine code with those below.)
 */
#include "tests/fixtures/experiment_outline.h"
#include "quality/quality.h"
#include "tests/chance.h"

enum { LOOPS = 6, SAMPLES = 8 };

struct bloop_binary {
    bool aarch64;
};

struct machine_core {
    const char *from;
};

bool fake_is_aarch64(const struct bloop_binary *);
int fake_machine_read(const char *, const char *, struct machine_core **, struct err *);
int fake_machine_here(const char *, const char *, bool, struct machine_core **, struct err *);
void fake_machine_free(struct machine_core *);
double fake_trips(const struct correlation *, uint32_t module, vaddr header);
int fake_analyze(struct bloop_binary *, const struct scope_tree *, const struct quality_options *,
                 struct quality_report **, struct warnings *, struct err *);

static struct buf asked; /* for machines */
static bool fails, analysis_fails;
static int machines_open;
static struct quality_report *report; /* that comes of the next analysis */
static const struct quality_options *options;
static uint8_t wanted[100];
static double trips[100];

bool fake_is_aarch64(const struct bloop_binary *b)
{
    return b->aarch64;
}

static int give_machine(struct machine_core **machine, struct err *err)
{
    if (fails)
        return err_set(err, ERR_FORMAT, "no core");
    *machine = mem_calloc(1, sizeof **machine);
    machines_open++;
    return 0;
}

int fake_machine_read(const char *named, const char *folder, struct machine_core **machine, struct err *err)
{
    buf_printf(&asked, " read %s in %s", named, folder);
    return give_machine(machine, err);
}

int fake_machine_here(const char *folder, const char *cpuinfo, bool aarch64, struct machine_core **machine,
                      struct err *err)
{
    buf_printf(&asked, " here %s %d in %s", cpuinfo, aarch64, folder);
    return give_machine(machine, err);
}

void fake_machine_free(struct machine_core *machine)
{
    machines_open -= machine != NULL;
    mem_free(machine);
}

double fake_trips(const struct correlation *c, uint32_t module, vaddr header)
{
    return c && module == 7 ? (double)header : -1;
}

int fake_analyze(struct bloop_binary *b, const struct scope_tree *tree, const struct quality_options *o,
                 struct quality_report **result, struct warnings *w, struct err *err)
{
    (void)b, (void)w;
    options = o;
    memcpy(wanted, o->wanted, tree->scope_count);
    memcpy(trips, o->trips, tree->scope_count * sizeof *trips);
    if (analysis_fails)
        return err_set(err, ERR_FORMAT, "it cannot be read");
    *result = report;
    return 0;
}

/* ---- the core ---------------------------------------------------------------------------------------------- */

/* Requested once for each processor; a missing one is reported once. */
static void test_machines(void)
{
    struct loop_machines none = {0}, here = {.folder = "F"}, named = {.folder = "F", .named = "N"}, lacks = here;
    struct warnings *w = warnings_create();
    buf_str(&asked, "");
    CHECK(!loops_machine(&none, false, w) && !loops_machine(&none, true, w));
    CHECK_STR(asked.bytes, "");
    const struct machine_core *x86 = loops_machine(&here, false, w), *arm = loops_machine(&here, true, w);
    CHECK(x86 && arm && x86 != arm && loops_machine(&here, false, w) == x86 && loops_machine(&here, true, w) == arm);
    CHECK_STR(asked.bytes, " here /proc/cpuinfo 0 in F here /proc/cpuinfo 1 in F");
    CHECK(loops_machine(&named, true, w) && loops_machine(&named, true, w));
    CHECK_STR(strstr(asked.bytes, " read"), " read N in F");
    CHECK_INT(warnings_count(w), 0);
    fails = true;
    for (int i = 0; i < 3; i++)
        CHECK(!loops_machine(&lacks, true, w));
    CHECK_INT(warnings_count(w), 1);
    CHECK_STR(warnings_get(w, 0), "no core; the machine code of loops is not analysed");
    fails = false;
    CHECK(loops_machine(&lacks, false, w) != NULL);
    loops_machines_release(&here);
    loops_machines_release(&named);
    loops_machines_release(&lacks);
    CHECK_INT(machines_open, 0);
    warnings_free(w);
    buf_release(&asked);
}

/* ---- loops ------------------------------------------------------------------------------------------------- */

/* A procedure with nested loops; each has sixteen bytes of its own after its header, the procedure those before and
   after the loops. */
struct drawn {
    unsigned depth[LOOPS], count;
    struct buf text;
};

static void draw_tree(struct drawn *d)
{
    *d = (struct drawn){.count = below(LOOPS + 1)};
    buf_str(&d->text, "F /s/a.c\n P f 1-99 1000-2000\n  S 2 1000-1010\n");
    for (unsigned i = 0; i < d->count; i++) {
        d->depth[i] = i ? below(d->depth[i - 1] + 2) : 0;
        buf_printf(&d->text, "%*sL %u-%u %x\n%*sS %u %x-%x\n", 2 + (int)d->depth[i], "", i + 3, i + 3, 0x1010 + 16 * i,
                   3 + (int)d->depth[i], "", i + 3, 0x1010 + 16 * i, 0x1020 + 16 * i);
    }
}

/* Column contents for fields that are elements of arrays. */
struct part {
    const char *column;
    double value;
};
enum { PARTS = 16 };

static void parts_of(const struct quality_loop *q, struct part parts[PARTS])
{
    const struct part all[PARTS] = {{"vectorized", 100 * q->vector_ratio[MIX_ALL]},
                                    {"vector_load", 100 * q->vector_ratio[MIX_LOAD]},
                                    {"vector_store", 100 * q->vector_ratio[MIX_STORE]},
                                    {"vector_add", 100 * q->vector_ratio[MIX_ADD]},
                                    {"vector_multiply", 100 * q->vector_ratio[MIX_MULTIPLY]},
                                    {"vector_other", 100 * q->vector_ratio[MIX_OTHER]},
                                    {"efficiency", 100 * q->vector_efficiency[MIX_ALL]},
                                    {"front_end", q->cycles[BOUND_FRONT_END]},
                                    {"ports", q->cycles[BOUND_PORTS]},
                                    {"memory", q->cycles[BOUND_MEMORY]},
                                    {"divider", q->cycles[BOUND_DIVIDER]},
                                    {"chain", q->cycles[BOUND_CHAIN]},
                                    {"store_chain", q->cycles[BOUND_STORE_CHAIN]},
                                    {"stride_one", q->strides[STRIDE_ONE]},
                                    {"stride_more", q->strides[STRIDE_MORE]},
                                    {"indirect", q->strides[STRIDE_INDIRECT]}};
    memcpy(parts, all, sizeof all);
}

static void draw_parts(struct quality_loop *q)
{
    for (size_t i = 0; i < MIXES; i++) {
        q->vector_ratio[i] = below(1000);
        q->vector_efficiency[i] = below(1000);
    }
    for (size_t i = 0; i < BOUNDS; i++)
        q->cycles[i] = below(1000);
    for (size_t i = 0; i < ARRAY_SIZE(q->strides); i++)
        q->strides[i] = below(1000);
}

static bool has_parts(const struct table *t, const union table_cell *cells, const struct quality_loop *q)
{
    struct part parts[PARTS];
    size_t right = 0;
    parts_of(q, parts);
    for (size_t i = 0; i < PARTS; i++) {
        size_t column = table_column_of(t, parts[i].column);
        right += column != SIZE_MAX && cells[column].number == parts[i].value;
    }
    return right == PARTS;
}

static struct quality_report *draw_report(const struct scope_tree *t)
{
    struct quality_report *r = mem_calloc(1, sizeof *r);
    r->strings = strtab_create();
    r->loops = mem_calloc(LOOPS, sizeof *r->loops);
    r->checks = mem_calloc(3 * LOOPS, sizeof *r->checks);
    for (scope_ix s = 0; s < t->scope_count; s++)
        if (t->scopes[s].kind == SCOPE_LOOP && below(4)) {
            for (unsigned i = below(3); i > 0; i--)
                r->checks[r->check_count++] =
                    (struct quality_check){.loop = (uint32_t)r->loop_count, .line = 1 + below(99), .confidence = 0.5};
            r->loops[r->loop_count] =
                (struct quality_loop){.scope = s, .unrolled = below(2), .uops = 1 + below(1000), .model = NAN};
            draw_parts(&r->loops[r->loop_count++]);
        }
    return r;
}

static void report_free(struct quality_report *r)
{
    strtab_free(r->strings);
    mem_free(r->loops);
    mem_free(r->checks);
    mem_free(r);
}

static void check_looked_at(const struct scope_tree *t, const struct drawn *d, const struct sampled *at, bool has_trips)
{
    size_t wrong = 0;
    for (scope_ix s = 0; s < t->scope_count; s++) {
        bool sampled = false, loop = t->scopes[s].kind == SCOPE_LOOP;
        for (size_t i = 0; loop && i < at->count; i++)
            sampled |= at->addresses[i] / 16 * 16 == t->scopes[s].entry;
        wrong += wanted[s] != sampled || trips[s] != (loop && has_trips ? (double)t->scopes[s].entry : 0);
    }
    if (wrong)
        printf("# of\n%s\n", d->text.bytes);
    CHECK_INT(wrong, 0);
}

static void check_roles(const struct scope_tree *t, const uint8_t *before)
{
    size_t wrong = 0;
    for (scope_ix s = 0; s < t->scope_count; s++) {
        bool unrolled = false;
        for (size_t i = 0; !analysis_fails && i < report->loop_count; i++)
            unrolled |= report->loops[i].scope == s && report->loops[i].unrolled && before[s] == LOOP_PLAIN;
        wrong += t->scopes[s].role != (unrolled ? LOOP_UNROLLED : before[s]);
    }
    CHECK_INT(wrong, 0);
}

/* A row for each loop and for each finding about it, with the loop's place. */
static void check_noted(const struct scope_tree *t, struct correlation *c)
{
    place_ix place_of[100];
    size_t wrong = 0, loops = 0, checks = 0;
    for (scope_ix s = 0; s < t->scope_count; s++)
        place_of[s] = below(5) ? 1000 + 3 * s : PLACE_NONE;
    loops_note(c, report, place_of);
    const struct table *l = table_list_find(&c->tables, "loop_quality"),
                       *k = table_list_find(&c->tables, "loop_checks");
    CHECK_INT(l != NULL, report->loop_count > 0);
    size_t uops = l ? table_column_of(l, "uops") : 0, line = k ? table_column_of(k, "line") : 0;
    for (size_t i = 0; i < report->loop_count; i++) {
        place_ix place = place_of[report->loops[i].scope];
        if (place == PLACE_NONE)
            continue;
        const union table_cell *cells = loops < table_row_count(l) ? table_row(l, loops) : NULL;
        wrong += !cells || cells[0].row != place || cells[uops].number != report->loops[i].uops ||
                 !has_parts(l, cells, &report->loops[i]);
        loops++;
    }
    for (size_t i = 0; l && i < table_row_count(l); i++) { /* of one kind at one place the last is kept */
        const union table_cell *cells = table_row(l, i);
        uint64_t said = 0, row_line = 0;
        for (size_t m = 0; m < report->check_count; m++)
            if (place_of[report->loops[report->checks[m].loop].scope] == cells[0].row)
                said = report->checks[m].line;
        for (size_t m = 0; m < table_row_count(k); m++)
            if (table_row(k, m)[0].row == cells[0].row)
                row_line = table_row(k, m)[line].count;
        checks += said != 0;
        wrong += said != row_line;
    }
    CHECK_INT(l ? table_row_count(l) : 0, loops);
    CHECK_INT(k ? table_row_count(k) : 0, checks);
    CHECK_INT(wrong, 0);
}

static void check_drawn(void)
{
    struct drawn d;
    struct bloop_binary binary = {.aarch64 = below(2)};
    struct loop_machines machines = {.folder = below(9) ? "F" : NULL, .named = "N"};
    struct strtab *strings = strtab_create();
    struct correlation c;
    struct warnings *w = warnings_create();
    vaddr addresses[SAMPLES];
    uint8_t before[100];
    correlation_init(&c, strings);
    draw_tree(&d);
    struct scope_tree *t = tree_from(d.text.bytes);
    for (scope_ix s = 0; s < t->scope_count; s++)
        before[s] = t->scopes[s].role = t->scopes[s].kind == SCOPE_LOOP ? (uint8_t)below(3) : 0;
    struct sampled at = {.addresses = addresses, .count = below(SAMPLES), .module = 7, .c = below(2) ? &c : NULL};
    for (size_t i = 0; i < at.count; i++)
        addresses[i] = 0xff8 + below(16 * LOOPS + 64);
    report = draw_report(t);
    analysis_fails = below(8) == 0;
    options = NULL;
    struct quality_report *got = loops_analyze(&machines, &binary, t, &at, w);
    CHECK(got == (machines.folder && !analysis_fails ? report : NULL));
    CHECK_INT(options != NULL, machines.folder != NULL);
    if (options) {
        check_looked_at(t, &d, &at, at.c != NULL);
        check_roles(t, before);
        check_noted(t, &c);
    }
    report_free(report);
    loops_machines_release(&machines);
    scope_tree_free(t);
    warnings_free(w);
    correlation_release(&c);
    strtab_free(strings);
    buf_release(&d.text);
}

int main(void)
{
    test_machines();
    for (int i = 0; i < 200; i++)
        check_drawn();
    buf_release(&asked);
    return tap_done();
}
