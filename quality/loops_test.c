/*
 * What is said of small loops, number by number: tests/quality/loops.cases has machine code (with what it is in words), a made core
 * whose costs are all different, and all that comes of it. What is there was worked out by hand from the definitions in
 * quality.h and doc/formats/machine.md before it was taken in.
 *
 *     -- core         a machine file; -- read: what is known after it was read, or what is wrong with it
 *     -- code         a line each: the bytes, a semicolon, the instruction. It is all of a procedure. Options: arch=arm, trips=N
 *     -- kinds        of each instruction the kind of its cost, ports, uops, latency
 *     -- loops        of each innermost loop all that is counted; -- checks: what is to be said of it
 *     -- listing      of each instruction what it costs in its loop
 *
 * Below that: which core this machine has, and llvm-mca, for whom this program stands in under its name.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "quality/quality_int.h"
#include "tests/cases.h"

#include <elf.h>
#include <math.h>

enum { TEXT = 0x400000 };

/* ---- a binary of one procedure -------------------------------------------------------------------------- */

/* FOLDER/made, an executable with a symbol "work"; the path, caller frees. */
static char *write_binary(const struct buf *code, bool arm)
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0work";
    enum { AT_TEXT = 1, AT_SYMTAB = 7, AT_STRTAB = 15, AT_WORK = 23, OFFSET = 0x1000 };
    struct buf file = {0};
    Elf64_Sym symbols[2] = {{0},
                            {.st_name = AT_WORK,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                             .st_shndx = 1,
                             .st_value = TEXT,
                             .st_size = code->len}};
    size_t at_symbols = (OFFSET + code->len + 7) & ~(size_t)7, at_names = at_symbols + sizeof symbols;
    Elf64_Shdr sections[4] = {{0},
                              {.sh_name = AT_TEXT,
                               .sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                               .sh_addr = TEXT,
                               .sh_offset = OFFSET,
                               .sh_size = code->len,
                               .sh_addralign = 16},
                              {.sh_name = AT_SYMTAB,
                               .sh_type = SHT_SYMTAB,
                               .sh_offset = at_symbols,
                               .sh_size = sizeof symbols,
                               .sh_link = 3,
                               .sh_info = 1,
                               .sh_addralign = 8,
                               .sh_entsize = sizeof *symbols},
                              {.sh_name = AT_STRTAB,
                               .sh_type = SHT_STRTAB,
                               .sh_offset = at_names,
                               .sh_size = sizeof names,
                               .sh_addralign = 1}};
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                    .e_type = ET_EXEC,
                    .e_machine = arm ? EM_AARCH64 : EM_X86_64,
                    .e_version = 1,
                    .e_ehsize = sizeof h,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1,
                    .e_shoff = (at_names + sizeof names + 7) & ~(size_t)7,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 4,
                    .e_shstrndx = 3};
    Elf64_Phdr p = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_offset = OFFSET,
                    .p_vaddr = TEXT,
                    .p_filesz = code->len,
                    .p_memsz = code->len,
                    .p_align = 0x1000};
    const struct {
        size_t at, size;
        const void *bytes;
    } parts[] = {{0, sizeof h, &h},
                 {sizeof h, sizeof p, &p},
                 {OFFSET, code->len, code->bytes},
                 {at_symbols, sizeof symbols, symbols},
                 {at_names, sizeof names, names},
                 {h.e_shoff, sizeof sections, sections}};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        while (file.len < parts[i].at)
            buf_char(&file, '\0');
        buf_add(&file, parts[i].bytes, parts[i].size);
    }
    write_file("made", file.bytes, file.len);
    buf_release(&file);
    return scratch("made");
}

/* ---- cases ------------------------------------------------------------------------------------------------ */

struct given {
    struct quality_machine *machine;
    char *wrong; /* with the machine file; NULL: nothing */
    struct buf code;
    bool arm;
    double trips;
};

static void begin_case(void *ctx, const char *name)
{
    struct given *g = ctx;
    g->arm = false;
    g->trips = 0;
    if (!*name) {
        quality_machine_free(g->machine);
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
}

static void read_core(struct given *g, const char *text)
{
    struct err err = {0};
    quality_machine_free(g->machine);
    mem_free(g->wrong);
    g->wrong = NULL;
    write_file("made.xml", text, strlen(text));
    char *path = scratch("made.xml");
    if (quality_machine_read(path, NULL, &g->machine, &err) < 0) /* without the scratch folder's name */
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
    else
        read_code(&g->code, text);
}

/* ---- what comes of it ------------------------------------------------------------------------------------- */

static void write_ports(struct buf *out, const uint16_t *uops)
{
    for (int i = 0; i < UOPS_MAX && uops[i]; i++)
        buf_printf(out, " %x", uops[i]);
    buf_str(out, ";");
}

static void write_core(struct buf *out, const struct quality_machine *m)
{
    buf_printf(out, "%s, %s, %s%s; %s; features '%s' vendor '%s' part '%s' models '%s'\n", m->name, m->core, m->arch,
               m->aarch64 ? " (AArch64)" : "", m->assumed, m->features, m->vendor, m->part, m->llvm);
    buf_printf(out, "issue %u vector %u line %u window %u forward %g stack %g taken %g load %g%s%s%s\n", m->issue,
               m->vector, m->line, m->window, (double)m->forward, (double)m->forward_stack, (double)m->taken,
               (double)m->load_vector, m->moves_free ? " moves-free" : "", m->fuses ? " fuses" : "",
               m->splits_indexed ? " splits" : "");
    for (size_t i = 0; i < COST_KINDS_COUNT; i++) {
        const struct cost *c = &m->costs[i];
        buf_printf(out, "%s %g %g;", cost_words[i], (double)c->latency, (double)c->chain);
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
        buf_printf(out, "%u %s at 0x%llx, line %u, confidence %s, gain %s: %s\n", c->loop, quality_check_word(c->kind),
                   (unsigned long long)c->address, c->line, number(c->confidence), number(c->gain),
                   strtab_get(r->strings, c->found));
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

/* Of each instruction from the first byte on. */
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
        buf_printf(out, "%zu %s%s%s%s, width %u, %u uops (%s), latency %s of load %s\n", i, cost_words[s.cost],
                   s.known ? "" : " unknown", cost_is_free(&b, &s) ? " free" : "", step_is_avx(&s) ? " avx" : "",
                   cost_width(&b, &s), bounds_uops(&b, &s), ports.bytes, number(cost_latency(&b, &s)),
                   number(cost_load_latency(&b, &s)));
        buf_release(&ports);
        i += s.f.insn.length ? s.f.insn.length : 1;
    }
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

static void write_output(void *ctx, const char *what, struct buf *out)
{
    const struct given *g = ctx;
    if (g->wrong)
        buf_printf(out, "%s\n", g->wrong);
    else if (strcmp(what, "read") == 0)
        write_core(out, g->machine);
    else if (strcmp(what, "kinds") == 0)
        write_kinds(out, g);
    else
        write_analysis(out, g, what);
}

int main(void)
{
    static const char *const inputs[] = {"core", "code", NULL};
    struct given given = {0};
    struct cases c = {.inputs = inputs,
                      .begin = begin_case,
                      .option = take_option,
                      .input = take_input,
                      .output = write_output,
                      .ctx = &given};
    scratch_make();
    cases_run(&c, "tests/quality/loops.cases");
    scratch_remove();
    return tap_done();
}
