/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results for small loops, number by number: tests/quality/loops.cases contains machine code (with its assembly), a
 * fake core with distinct costs, and all results. The results were written by GOLDEN=write, and many of them, not all,
 * were checked by hand against the definitions in quality.h and doc/formats/machine.md.
 *
 *     -- core         a machine file; -- read: its contents as read, or the error
 *     -- code         one line each: the bytes, a semicolon, the instruction. It is a complete procedure. Options:
 *                     arch=arm, trips=N
 *     -- producer     the compiler. Option: language=N, as in DWARF
 *     -- kinds        for each instruction its cost kind, ports, uops, latency
 *     -- loops        for each innermost loop all its counts; -- checks: the findings about it
 *     -- remedies     the remedy of each check
 *     -- listing      for each instruction its cost in its loop
 *     -- text, csv, json: the report in that format, with invented lines, files, roles and estimates
 *
 * Below that: the detection of this machine's core, and llvm-mca, which this program replaces under its name.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "quality/quality_int.h"
#include "tests/cases.h"
#include "tests/elf.h"

#include <math.h>

enum { TEXT = 0x400000 };

/* ---- a binary of one procedure -------------------------------------------------------------------------- */

/* Writes FOLDER/made, an executable with a symbol "work"; returns the path, which the caller frees. */
static char *write_binary(const struct buf *code, bool arm)
{
    struct buf file = {0};
    struct elf_procedure work = {"work", 0, code->len};
    elf_write(&file, &(struct elf_program){arm, TEXT, code->bytes, code->len, &work, 1, NULL});
    write_file("made", file.bytes, file.len);
    buf_release(&file);
    return scratch("made");
}

/* ---- cases ------------------------------------------------------------------------------------------------ */

struct given {
    struct machine_core *machine;
    char *wrong; /* error in the machine file; NULL: none */
    struct buf code;
    bool arm;
    double trips;
    char *producer;    /* the compiler and the source language */
    uint16_t language; /* DW_LANG_* */
};

/* Replaces bloop_producer: the producer of the case. */
static const struct given *being_asked;
char *fake_producer(struct bloop_binary *binary, vaddr addr, uint16_t *language, struct warnings *warnings)
{
    (void)binary, (void)addr, (void)warnings;
    *language = being_asked ? being_asked->language : 0;
    return mem_strdup(being_asked && being_asked->producer ? being_asked->producer : "");
}

static void begin_case(void *ctx, const char *name)
{
    struct given *g = ctx;
    g->arm = false;
    g->trips = 0;
    g->language = 0;
    mem_free(g->producer);
    g->producer = NULL;
    if (!*name) {
        machine_core_free(g->machine);
        mem_free(g->wrong);
        buf_release(&g->code);
    }
}

static void take_option(void *ctx, const char *word)
{
    struct given *g = ctx;
    g->arm |= strcmp(word, "arch=arm") == 0;
    if (str_starts(word, "trips="))
        g->trips = strtod(word + strlen("trips="), NULL);
    if (str_starts(word, "language="))
        g->language = (uint16_t)strtoul(word + strlen("language="), NULL, 0);
}

static void read_core(struct given *g, const char *text)
{
    struct err err = {0};
    machine_core_free(g->machine);
    mem_free(g->wrong);
    g->wrong = NULL;
    write_file("made.xml", text, strlen(text));
    char *path = scratch("made.xml");
    int answer = machine_core_read(path, NULL, &g->machine, &err);
    if (answer > 0)
        exit(99);
    if (answer < 0) /* without the scratch folder's name */
        g->wrong = mem_strdup(str_starts(err.msg, path) ? err.msg + strlen(path) - strlen("made.xml") : err.msg);
    mem_free(path);
}

static void read_code(struct buf *code, const char *text)
{
    code->len = 0;
    buf_str(code, "");
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        for (const char *p = line; p[strspn(p, " ")] != ';' && *p && *p != '\n'; p += 2) {
            unsigned byte;
            p += strspn(p, " ");
            if (sscanf(p, "%2x", &byte) != 1)
                break;
            buf_char(code, (char)byte);
        }
}

static void take_input(void *ctx, const char *which, const char *text)
{
    struct given *g = ctx;
    if (strcmp(which, "core") == 0)
        read_core(g, text);
    else if (strcmp(which, "producer") == 0)
        g->producer = mem_strndup(text, strcspn(text, "\n"));
    else
        read_code(&g->code, text);
}

/* ---- results ---------------------------------------------------------------------------------------------- */

static void write_ports(struct buf *out, const uint16_t *uops)
{
    for (int i = 0; i < UOPS_MAX && uops[i]; i++)
        buf_printf(out, " %x", uops[i]);
    buf_str(out, ";");
}

static void write_core(struct buf *out, const struct machine_core *m)
{
    buf_printf(out, "%s, %s, %s%s; %s; features '%s' vendor '%s' part '%s' models '%s'\n", m->name, m->core, m->arch,
               m->aarch64 ? " (AArch64)" : "", m->assumed, m->processors.features, m->processors.vendor,
               m->processors.part, m->llvm);
    buf_printf(out, "issue %u vector %u line %u window %u forward %g stack %g taken %g load %g%s%s%s\n", m->issue,
               m->vector, m->line, m->window, (double)m->forward, (double)m->forward_stack, (double)m->taken,
               (double)m->load_vector, m->moves_free ? " moves-free" : "", m->fuses ? " fuses" : "",
               m->splits_indexed ? " splits" : "");
    for (size_t i = 0; i < COST_KINDS_COUNT; i++) {
        const struct cost *c = &m->costs[i];
        buf_printf(out, "%s %g %g;", machine_cost_words[i], (double)c->latency, (double)c->chain);
        for (int w = 0; w < WIDTHS; w++)
            write_ports(out, c->uops[w]);
        buf_printf(out, " %g %g %g; %x%s\n", (double)c->busy[0], (double)c->busy[1], (double)c->busy[2], c->per_element,
                   c->given ? "" : " (not given)");
    }
}

/* NaN as "-", whatever its sign. */
static const char *number(double v)
{
    static char texts[16][32];
    static unsigned next;
    char *to = texts[next++ % 16];
    if (isnan(v))
        return "-";
    snprintf(to, sizeof *texts, "%.6g", v);
    return to;
}

static void write_mixes(struct buf *out, const char *name, const double *mixes)
{
    buf_printf(out, "; %s", name);
    for (int i = 0; i < MIXES; i++)
        buf_printf(out, " %s", number(mixes[i]));
}

static void write_loop(struct buf *out, const struct quality_report *r, const struct quality_loop *q)
{
    static const char *const bounds[BOUNDS] = {"front", "ports", "memory", "divider", "chain", "store-chain"};
    buf_printf(out, "0x%llx: %u instructions, %u bytes; %u ways, the shortest of %u; %u uops\n",
               (unsigned long long)q->header, q->instructions, q->bytes, q->paths, q->path_instructions, q->uops);
    buf_printf(out, "  flops %s fma %u loaded %s stored %s intensity %s", number(q->flops), q->fma, number(q->loaded),
               number(q->stored), number(q->intensity));
    write_mixes(out, "packed", q->vector_ratio);
    write_mixes(out, "used", q->vector_efficiency);
    buf_printf(out, "%s\n  stack %u spills %u addresses %s calls %u; strides", q->vector ? "; vector" : "",
               q->stack_references, q->spills, number(q->address_share), q->calls);
    for (int i = 0; i < STRIDES; i++)
        buf_printf(out, " %u", q->strides[i]);
    buf_printf(out, "; step %lld unroll %u elements %u %s%s\n ", (long long)q->step, q->unroll, q->elements,
               quality_role_name(q->role), q->unrolled ? "unrolled" : "");
    for (int i = 0; i < BOUNDS; i++)
        buf_printf(out, " %s %s", bounds[i], number(q->cycles[i]));
    buf_printf(out, "\n  bound %s by %s, in short entries %s; longest chain %s by %s; trips %s ahead %s\n",
               number(q->bound), quality_bound_name(q->bound_by), number(q->bound_short), number(q->chain_long),
               quality_bound_name(q->chain_by), number(q->trips), number(q->ahead));
    buf_printf(out, "  if vectorized %s clean %s no chain %s next %s; model %s\n", number(q->if_vectorized),
               number(q->if_clean), number(q->if_no_chain), number(q->if_next), number(q->model));
    buf_printf(out, "  %s%s%s\n", strtab_get(r->strings, q->summary), q->note ? "; note: " : "",
               strtab_get(r->strings, q->note));
}

static void write_checks(struct buf *out, const struct quality_report *r)
{
    for (size_t i = 0; i < r->check_count; i++) {
        const struct quality_check *c = &r->checks[i];
        buf_printf(out, "%u %s at 0x%llx, line %u, confidence %s, gain ", c->loop, quality_check_word(c->kind),
                   (unsigned long long)c->address, c->line, number(c->confidence));
        if (!isnan(c->gain) && c->gain_low != c->gain)
            buf_printf(out, "%s to ", number(c->gain_low));
        buf_printf(out, "%s: %s\n", number(c->gain), strtab_get(r->strings, c->found));
    }
}

static const char *place(vaddr a)
{
    static char texts[4][24];
    static unsigned next;
    char *to = texts[next++ % 4];
    if (a == QUALITY_NO_ADDRESS)
        return "-";
    snprintf(to, sizeof *texts, "0x%llx", (unsigned long long)a);
    return to;
}

static void write_listing(struct buf *out, const struct quality_listing *l, bool whole)
{
    if (whole)
        buf_printf(out, "%zu instructions, %llu bytes, %zu left out; %s\n", l->count, (unsigned long long)l->bytes,
                   l->left_out, strtab_get(l->strings, l->assumed));
    for (size_t i = 0; i < l->count; i++) {
        const struct quality_insn *n = &l->insns[i];
        buf_printf(out, "0x%llx%s%s", (unsigned long long)n->address, n->chained ? " chained" : "",
                   n->calls ? " calls" : "");
        if (n->target != QUALITY_NO_ADDRESS)
            buf_printf(out, " to %s", place(n->target));
        if (n->loop != QUALITY_NO_ADDRESS)
            buf_printf(out, " in %s of %s", place(n->loop), place(n->around));
        buf_printf(out, ": %s uops (%s), latency %s, ideal %s, apart %s, ahead %s of %u\n", number(n->uops),
                   strtab_get(l->strings, n->ports), number(n->latency), number(n->ideal), number(n->ideal_apart),
                   number(n->ahead), n->loop_uops);
    }
}

/* Decodes all instructions from the first byte on. */
static void write_kinds(struct buf *out, const struct given *g)
{
    const struct arch *arch = arch_get(g->arm ? ARCH_AARCH64 : ARCH_X86_64);
    const struct bloop_code code = {.arch = arch};
    const struct body b = {.code = &code, .machine = g->machine};
    for (size_t i = 0; i < g->code.len;) {
        const uint8_t *bytes = (const uint8_t *)g->code.bytes + i;
        struct step s = {.addr = TEXT + i, .bytes = bytes};
        struct buf ports = {0};
        s.known = arch->facts(bytes, g->code.len - i, s.addr, &s.f);
        s.cost = cost_of(&s);
        bounds_ports(&b, &s, &ports);
        buf_printf(out, "%zu %s%s%s%s, width %u, %u uops (%s), latency %s of load %s\n", i, machine_cost_words[s.cost],
                   s.known ? "" : " unknown", cost_is_free(&b, &s) ? " free" : "", step_is_avx(&s) ? " avx" : "",
                   cost_width(&b, &s), bounds_uops(&b, &s), ports.bytes, number(cost_latency(&b, &s)),
                   number(cost_load_latency(&b, &s)));
        buf_release(&ports);
        i += s.f.insn.length ? s.f.insn.length : 1;
    }
}

/* Adds data that would come from sources, loop copies and llvm-mca. */
static void dress(struct quality_report *r)
{
    static const char *const files[] = {"/src/plain.f90", "/src/with, comma.c", "/src/a \"b\".c", ""};
    r->model = strtab_add(r->strings, "a model");
    for (size_t i = 0; i < r->loop_count; i++) {
        struct quality_loop *q = &r->loops[i];
        q->file = strtab_add(r->strings, files[i % 4]);
        q->line_first = (uint32_t)(10 * i + 7);
        q->role = (uint8_t)(i % 4);
        q->model = i % 2 ? 2.5 + (double)i / 3 : NAN;
        if (i == 2)
            q->procedure = strtab_add(r->strings, "another");
    }
    for (size_t i = 0; i < r->check_count; i++)
        r->checks[i].line = i % 3 ? (uint32_t)i : 0;
}

struct written {
    const struct quality_report *r;
    enum quality_format format;
};

static void write_in_format(void *ctx, struct outfile *out)
{
    const struct written *w = ctx;
    quality_write(w->r, w->format, out);
}

static void write_report(struct buf *out, struct quality_report *r, const char *format)
{
    struct written w = {r, strcmp(format, "text") == 0  ? QUALITY_TEXT
                           : strcmp(format, "csv") == 0 ? QUALITY_CSV
                                                        : QUALITY_JSON};
    dress(r);
    cases_written(out, write_in_format, &w);
}

static void write_analysis(struct buf *out, const struct given *g, const char *what)
{
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    struct bloop_binary *binary;
    struct scope_tree *tree;
    struct quality_report *r;
    char *path = write_binary(&g->code, g->arm);
    if (bloop_open(path, NULL, &binary, warnings, &err) < 0 || bloop_scopes_all(binary, &tree, warnings, &err) < 0)
        exit(99);
    double *trips = mem_calloc(tree->scope_count, sizeof *trips);
    scope_ix procedure = SCOPE_NONE;
    for (scope_ix i = 0; i < tree->scope_count; i++) {
        trips[i] = g->trips;
        procedure = tree->scopes[i].kind == SCOPE_PROC ? i : procedure;
    }
    const struct quality_options o = {.machine = g->machine, .trips = trips};
    const struct quality_listing_options lo = {
        .machine = g->machine, .procedures = &procedure, .procedure_count = 1, .most_bytes = g->code.len};
    if (quality_analyze(binary, tree, &o, &r, warnings, &err) < 0)
        exit(99);
    for (size_t i = 0; i < r->loop_count && strcmp(what, "loops") == 0; i++)
        write_loop(out, r, &r->loops[i]);
    if (strcmp(what, "checks") == 0)
        write_checks(out, r);
    if (strcmp(what, "text") == 0 || strcmp(what, "csv") == 0 || strcmp(what, "json") == 0)
        write_report(out, r, what);
    if (strcmp(what, "listing") == 0) {
        struct quality_listing *l = quality_list(binary, tree, &lo, warnings);
        write_listing(out, l, true);
        quality_listing_free(l);
    }
    quality_free(r);
    mem_free(trips);
    scope_tree_free(tree);
    bloop_close(binary);
    warnings_free(warnings);
    mem_free(path);
}

static void write_remedies(struct buf *out, const struct given *g)
{
    const struct quality_built built = {g->producer ? g->producer : "", g->language};
    for (int i = 0; i < QUALITY_CHECKS; i++)
        buf_printf(out, "%s: %s\n", quality_check_word((enum quality_check_kind)i),
                   quality_remedy((enum quality_check_kind)i, &built));
}

static void write_output(void *ctx, const char *what, struct buf *out)
{
    const struct given *g = ctx;
    being_asked = g;
    if (strcmp(what, "remedies") == 0)
        write_remedies(out, g);
    else if (g->wrong)
        buf_printf(out, "%s\n", g->wrong);
    else if (strcmp(what, "read") == 0)
        write_core(out, g->machine);
    else if (strcmp(what, "kinds") == 0)
        write_kinds(out, g);
    else
        write_analysis(out, g, what);
}

/* ---- llvm-mc and llvm-mca: this program under their names ---------------------------------------------------
 *
 * FOLDER/plan contains their planned errors; FOLDER/calls logs each call: "mc", or "mca MODEL ITERATIONS REGIONS".
 * An iteration takes half a cycle for each instruction. */

static bool planned(const char *plan, const char *word)
{
    return strstr(plan, word) != NULL;
}

/* Lines of bytes become lines of instructions. */
static int play_mc(const char *plan)
{
    char line[400];
    unsigned b[10], at = 0, loop = 0;
    if (planned(plan, "mc-fails"))
        return fprintf(stderr, "warning: none\nllvm-mc: error: it is Monday\nmore\n"), 3;
    printf("\t.text\n");
    while (fgets(line, sizeof line, stdin)) {
        uint64_t mark = 0;
        int n = sscanf(line, "%x %x %x %x %x %x %x %x %x %x", b, b + 1, b + 2, b + 3, b + 4, b + 5, b + 6, b + 7, b + 8,
                       b + 9);
        bool arm = n == 4 && b[3] == 0xd4 && b[2] >> 5 == 2 && !(b[0] & 0x1f); /* hlt */
        if (arm || (n == 10 && b[0] == 0x48 && b[1] == 0xb8)) {
            for (int i = 8; i-- > 0 && !arm;)
                mark = mark << 8 | b[2 + i];
            if (arm)
                mark = (b[0] | b[1] << 8 | b[2] << 16) >> 5 & 0xffff;
            if (planned(plan, "marks") && loop == 1)
                mark--; /* a loop for the second time */
            printf(arm ? "\thlt\t#%#llx\n" : "\tmovabsq\t$%llu, %%rax\n", (unsigned long long)mark);
            loop++;
            at = 0;
            continue;
        }
        if (planned(plan, "drops") && loop == 3 && at++ == 1)
            continue;
        line[strcspn(line, "\n")] = '\0';
        printf("%s\tinsn %s%s\n", planned(plan, "locks") && loop == 2 ? "\tlock\n" : "", line,
               planned(plan, "bad") && loop % (planned(plan, "all-bad") ? 1 : 5) == 0 ? " bad" : "");
    }
    return 0;
}

static int play_mca(const char *plan, char **argv, FILE *calls)
{
    char line[400], name[64] = "", text[4096] = "";
    const char *cpu = "", *times = "0", *comma = "";
    unsigned regions = 0, lines = 0;
    bool bad = false;
    for (; *argv; argv++) {
        cpu = str_starts(*argv, "-mcpu=") ? *argv + 6 : cpu;
        times = str_starts(*argv, "-iterations=") ? *argv + 12 : times;
    }
    double iterations = strtod(times, NULL);
    while (fgets(line, sizeof line, stdin)) {
        size_t n = strlen(text);
        if (sscanf(line, "# LLVM-MCA-BEGIN %63s", name) == 1) {
            regions++;
            lines = 0;
        } else if (str_starts(line, "# LLVM-MCA-END") && strcmp(name, "divider") != 0) {
            bool still = planned(plan, "still") && strcmp(name, "3") == 0;
            snprintf(text + n, sizeof text - n, "%s{\"Name\":\"%s\",\"SummaryView\":{\"TotalCycles\":%g}}", comma, name,
                     7 + (still ? 0 : iterations * lines / 2));
            comma = ",";
        } else if (!str_starts(line, "#")) {
            lines += strcmp(line, "\tlock\n") != 0;
            bad |= strstr(line, " bad\n") != NULL;
        }
    }
    fprintf(calls, "mca %s %s %u\n", cpu, times, regions);
    if (strcmp(cpu, "unknown") == 0)
        return fprintf(stderr, "'unknown' is not a recognized processor for this target\n"), 0;
    if (bad)
        return fprintf(stderr, "<stdin>:3:1: error: unsupported instruction\n"), 1;
    if (planned(plan, "no-json"))
        return printf("Iterations: %s\n", times), 0;
    printf("{\"CodeRegions\":[%s", text);
    if (!planned(plan, "no-division"))
        printf("%s{\"Name\":\"divider\",\"SummaryView\":{\"TotalCycles\":%g}}", comma,
               iterations * (strcmp(cpu, "undivided") == 0 ? 1
                             : strcmp(cpu, "barely") == 0  ? 2
                                                           : 8));
    printf("]}\n");
    return 0;
}

static int play(const char *self, char **argv)
{
    char plan[64] = "";
    char *folder = mem_strndup(self, (size_t)(path_base(self) - self));
    char *at = mem_printf("%splan", folder), *log = mem_printf("%scalls", folder);
    FILE *f = fopen(at, "r"), *calls = fopen(log, "a");
    if (!f || !calls || !fgets(plan, sizeof plan, f))
        return 99;
    fclose(f);
    bool mca = strcmp(path_base(self), "llvm-mca") == 0;
    if (!mca)
        fprintf(calls, "mc\n");
    int status = mca ? play_mca(plan, argv, calls) : play_mc(plan);
    fclose(calls);
    mem_free(folder);
    mem_free(at);
    mem_free(log);
    return status;
}

/* Loops of an instruction more than the one before: add $1,%eax; ...; jmp back if not zero. */
static void make_loops(struct buf *code, unsigned count, bool arm)
{
    for (unsigned i = 0; i < count && arm; i++) { /* subs w0,w0,#1; ...; b.ne */
        for (unsigned k = 0; k <= i % 4; k++)
            buf_add(code, "\x00\x04\x00\x71", 4);
        const uint32_t branch = 0x54000001u | ((0x80000u - (i % 4 + 1)) & 0x7ffff) << 5;
        for (unsigned k = 0; k < 4; k++)
            buf_char(code, (char)(branch >> 8 * k));
    }
    if (arm)
        buf_add(code, "\xc0\x03\x5f\xd6", 4);
    for (unsigned i = 0; i < count && !arm; i++) {
        for (unsigned k = 0; k <= i % 4; k++)
            buf_add(code, "\x83\xc0\x01", 3);
        buf_add(code, "\x75", 1);
        buf_char(code, (char)-(int)(3 * (i % 4 + 1) + 2));
    }
    if (!arm)
        buf_add(code, "\xc3", 1);
}

struct estimates {
    struct quality_report *report;
    struct warnings *warnings;
    char *calls;
    uint64_t found; /* a bit for each loop that has the estimate it should have */
};

static char *read_scratch(const char *name)
{
    char *path = scratch(name);
    struct filemap map;
    struct err err = {0};
    char *text = filemap_open(&map, path, &err) < 0 ? mem_strdup("") : mem_strndup((const char *)map.bytes, map.len);
    if (*text)
        filemap_release(&map);
    unlink(path);
    mem_free(path);
    return text;
}

static struct estimates estimate(const char *plan, const char *models, unsigned loops, bool arm)
{
    struct estimates e = {.warnings = warnings_create()};
    struct err err = {0};
    struct buf code = {0};
    struct given g = {0};
    struct bloop_binary *binary;
    struct scope_tree *tree;
    char *core =
        mem_printf("<machine><core name=\"Made\" arch=\"%s\" issue=\"4\" vector=\"32\" llvm=\"%s\">"
                   "<op kind=\"int\" uops=\"0\" latency=\"1\"/><op kind=\"branch\" uops=\"0\"/>"
                   "<op kind=\"load\" uops=\"1\"/><op kind=\"store\" uops=\"1\"/><op kind=\"fp-add\" uops=\"0\"/>"
                   "<op kind=\"fp-multiply\" uops=\"0\"/></core></machine>",
                   arm ? "aarch64" : "x86-64", models);
    read_core(&g, core);
    write_file("plan", plan, strlen(plan));
    make_loops(&code, loops, arm);
    char *path = write_binary(&code, arm), *mc = scratch("llvm-mc"), *mca = scratch("llvm-mca");
    const struct quality_tools tools = {mc, mca};
    const struct quality_options o = {.machine = g.machine, .tools = &tools};
    if (bloop_open(path, NULL, &binary, e.warnings, &err) < 0 ||
        bloop_scopes_all(binary, &tree, e.warnings, &err) < 0 ||
        quality_analyze(binary, tree, &o, &e.report, e.warnings, &err) < 0)
        exit(99);
    e.calls = read_scratch("calls");
    for (size_t i = 0; i < e.report->loop_count; i++)
        e.found |= (uint64_t)(e.report->loops[i].model == (i % 4 + 2) / 2.0) << i;
    machine_core_free(g.machine);
    buf_release(&code);
    scope_tree_free(tree);
    bloop_close(binary);
    mem_free(core);
    mem_free(path);
    mem_free(mc);
    mem_free(mca);
    return e;
}

static void estimates_release(struct estimates *e)
{
    quality_free(e->report);
    warnings_free(e->warnings);
    mem_free(e->calls);
}

/* found: bits of the loops that have an estimate; words: contained in the only warning, NULL: no warning. */
static void check_estimate(const char *plan, const char *models, uint64_t found, const char *model, const char *calls,
                           const char *words)
{
    const bool arm = str_starts(plan, "arm");
    struct estimates e = estimate(plan, models, 10, arm);
    CHECK_INT(e.report->loop_count, 10);
    CHECK_INT(e.found, found);
    CHECK_STR(strtab_get(e.report->strings, e.report->model), model);
    CHECK_STR(e.calls, calls);
    CHECK_INT(warnings_count(e.warnings), words != NULL);
    if (words && warnings_count(e.warnings))
        CHECK_STR(warnings_get(e.warnings, 0), words);
    for (size_t i = 0; i < e.report->loop_count && *model; i++)
        CHECK(isnan(e.report->loops[i].model) == !(found >> i & 1) &&
              (strstr(strtab_get(e.report->strings, e.report->loops[i].note), "no llvm-mca estimate") != NULL) ==
                  !(found >> i & 1));
    estimates_release(&e);
}

static void check_models(void)
{
    enum { ALL = (1 << 10) - 1 };
    check_estimate("good", "one two", ALL, "one", "mc\nmca one 24 11\nmca one 60 11\n", NULL);
    check_estimate("arm", "one", ALL, "one", "mc\nmca one 24 11\nmca one 60 11\n", NULL);
    check_estimate(
        "arm drops", "one", ALL & ~4, "one", "mc\nmca one 24 10\nmca one 60 10\n",
        "no llvm-mca estimate for 1 of 10 loops; reason for the first: llvm-mc does not know all of its instructions");
    check_estimate("locks", "one", ALL, "one", "mc\nmca one 24 11\nmca one 60 11\n", NULL);
    check_estimate("good", "unknown undivided barely two", ALL, "barely",
                   "mc\nmca unknown 24 11\nmca undivided 24 11\nmca barely 24 11\nmca barely 60 11\n", NULL);
    check_estimate("good", "unknown undivided", 0, "", "mc\nmca unknown 24 11\nmca undivided 24 11\n",
                   "llvm-mca's estimates are omitted: llvm-mca has no model of Made with latencies of divisions "
                   "(unknown undivided)");
    check_estimate("good", "", 0, "", "", NULL);
    check_estimate("mc-fails", "one", 0, "", "mc\n",
                   "llvm-mca's estimates are omitted: llvm-mc ended with status 3: it is Monday");
    check_estimate("marks", "one", 0, "", "mc\n",
                   "llvm-mca's estimates are omitted: llvm-mc's output differs from its input");
    check_estimate(
        "drops", "one", ALL & ~4, "one", "mc\nmca one 24 10\nmca one 60 10\n",
        "no llvm-mca estimate for 1 of 10 loops; reason for the first: llvm-mc does not know all of its instructions");
    check_estimate("still", "one", ALL & ~8, "one", "mc\nmca one 24 11\nmca one 60 11\n",
                   "no llvm-mca estimate for 1 of 10 loops; reason for the first: it reported nothing");
    check_estimate(
        "no-division", "one", 0, "one", "mc\nmca one 24 11\n",
        "no llvm-mca estimate for 10 of 10 loops; reason for the first: llvm-mca's output has no cycles for this code");
    struct estimates e = estimate("no-json", "one", 3, false);
    CHECK_INT(e.found, 0);
    CHECK(warned(e.warnings, "estimate for 3 of 3 loops; reason for the first: llvm-mca's output"));
    estimates_release(&e);
    /* the fifth and the tenth: halves of halves until each is alone */
    check_estimate(
        "bad", "one", ALL & ~(1 << 4) & ~(1 << 9), "one",
        "mc\nmca one 24 11\nmca one 24 6\nmca one 24 3\nmca one 60 3\nmca one 24 4\nmca one 24 2\nmca one 60 "
        "2\nmca one 24 3\nmca one 24 2\nmca one 60 2\nmca one 24 2\nmca one 24 6\nmca one 24 3\nmca one 60 "
        "3\nmca one 24 4\nmca one 24 2\nmca one 60 2\nmca one 24 3\nmca one 24 2\nmca one 60 2\nmca one 24 "
        "2\n",
        "no llvm-mca estimate for 2 of 10 loops; reason for the first: llvm-mca ended with status 1: unsupported "
        "instruction");
    e = estimate("all-bad", "one", 48, false); /* it is given up in time */
    unsigned processes = 0;
    for (const char *c = e.calls; *c; c++)
        processes += *c == '\n';
    CHECK_INT(e.found, 0);
    CHECK_INT(processes, 64);
    CHECK(strstr(strtab_get(e.report->strings, e.report->loops[47].note),
                 "llvm-mca took too long, or failed too often") != NULL);
    estimates_release(&e);
}

int main(int argc, char **argv)
{
    if (argc > 1 && str_starts(path_base(argv[0]), "llvm-mc"))
        return play(argv[0], argv);
    static const char *const inputs[] = {"core", "code", "producer", NULL};
    struct given given = {0};
    struct cases c = {.inputs = inputs,
                      .begin = begin_case,
                      .option = take_option,
                      .input = take_input,
                      .output = write_output,
                      .ctx = &given};
    scratch_make();
    cases_run(&c, "tests/quality/loops.cases");
    char own[4096] = "", *mc = scratch("llvm-mc"), *mca = scratch("llvm-mca");
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0 && symlink(own, mc) == 0 && symlink(own, mca) == 0);
    mem_free(mc);
    mem_free(mca);
    check_models();
    scratch_remove();
    return tap_done();
}
