/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * llvm-mca's estimate of loops, if it is installed: a simulation with a more detailed model of a core than our bounds,
 * and other errors. It is shown next to them.
 *
 * All loops go through one llvm-mc, which writes their bytes as assembly, and then through llvm-mca twice, with FEW and
 * MANY iterations: the difference is the steady state. A model is trusted if its division takes time (some of newer
 * cores have none); of those the machine file names, the first such one. If a batch fails, its halves are tried, until
 * the offending loop is found. Nothing takes longer than LIMIT_MODEL_SECONDS.
 */
#include "quality/quality_int.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { PROCESSES_MOST = 64, FEW = 24, MANY = 60 };

struct model_loop {
    uint32_t loop;         /* of the report */
    uint32_t instructions; /* that its text must have */
    size_t first, length;  /* of its text */
    double cycles[2];      /* of FEW and MANY iterations */
    char out[160];         /* why it is left out; "" it is not */
    bool written;
};

struct models {
    const struct quality_tools *tools;
    const struct machine_core *machine;
    struct VEC(struct model_loop) loops;
    struct buf bytes, text; /* input of llvm-mc; its output */
    char model[32];
    double deadline;
    unsigned processes;
};

enum { MARK_X86 = 0x48504356 /* movabs $MARK << 32 | n, %rax; no loop has it */ };

struct models *models_create(const struct quality_tools *tools, const struct machine_core *machine)
{
    if (!tools || !machine->llvm[0])
        return NULL;
    struct models *m = mem_calloc(1, sizeof *m);
    m->tools = tools;
    m->machine = machine;
    return m;
}

void models_free(struct models *m)
{
    if (!m)
        return;
    vec_release(&m->loops);
    buf_release(&m->bytes);
    buf_release(&m->text);
    mem_free(m);
}

/* ---- bytes ------------------------------------------------------------------------------ */

static void add_bytes(struct buf *b, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        char text[] = {'0', 'x', digits[bytes[i] >> 4], digits[bytes[i] & 15], ' '};
        buf_add(b, text, sizeof text);
    }
    buf_char(b, '\n');
}

/* In front of loop n: an instruction that no loop has. */
static void add_mark(struct models *m, uint32_t n)
{
    uint64_t number = (uint64_t)MARK_X86 << 32 | n;
    uint8_t x86[10] = {0x48, 0xb8}, arm[4];
    uint32_t halt = 0xd4400000u | (n & 0xffff) << 5;
    for (int i = 0; i < 8; i++)
        x86[2 + i] = (uint8_t)(number >> 8 * i);
    for (int i = 0; i < 4; i++)
        arm[i] = (uint8_t)(halt >> 8 * i);
    add_bytes(&m->bytes, m->machine->aarch64 ? arm : x86, m->machine->aarch64 ? sizeof arm : sizeof x86);
}

static const char *unfit(const struct body *b, const struct quality_loop *q)
{
    return q->calls                                             ? "it has calls"
           : b->undecodable                                     ? "it has unknown instructions"
           : b->tangled                                         ? "it is not a simple loop"
           : b->cut || b->path.count > LIMIT_MODEL_INSTRUCTIONS ? "it has too many instructions to simulate"
                                                                : "";
}

void models_add(struct models *m, const struct body *b, const struct quality_loop *q, size_t loop)
{
    struct model_loop *l = vec_push(&m->loops);
    *l = (struct model_loop){.loop = (uint32_t)loop, .instructions = (uint32_t)b->path.count};
    snprintf(l->out, sizeof l->out, "%s", unfit(b, q));
    if (l->out[0] || m->loops.count > LIMIT_MODEL_LOOPS)
        return;
    add_mark(m, (uint32_t)m->loops.count - 1);
    for (size_t i = 0; i < b->path.count; i++)
        add_bytes(&m->bytes, path_step(b, i)->bytes, path_step(b, i)->f.insn.length);
}

/* ---- one process ---------------------------------------------------------------------------- */

/* The error message: the first line with "error: " in it. */
static int said_error(const char *program, int status, const char *messages, struct err *err)
{
    const char *at = strstr(messages, "error: ");
    at = at ? at + strlen("error: ") : "no reason";
    return err_set(err, ERR_UNSUPPORTED, "%s ended with status %d: %.*s", path_base(program), status,
                   (int)strcspn(at, "\r\n"), at);
}

static int run(struct models *m, const char *const *argv, const struct buf *in, struct buf *out, struct buf *messages,
               struct err *err)
{
    double left = m->deadline - time_seconds();
    if (left <= 0 || m->processes >= PROCESSES_MOST)
        return err_set(err, ERR_LIMIT, "%s took too long, or failed too often", path_base(argv[0]));
    m->processes++;
    out->len = messages->len = 0;
    double enough = 10 + 0.02 * (double)m->loops.count;
    int status = child_run(argv, in, left < enough ? left : enough, out, messages, err);
    return status > 0 ? said_error(argv[0], status, messages->bytes, err) : status;
}

/* ---- text ------------------------------------------------------------------------------------- */

/* The number of the loop whose mark the line is; UINT32_MAX: not a mark. */
static uint32_t mark_of(const struct models *m, const char *line)
{
    unsigned long long n = 0;
    if (m->machine->aarch64)
        return sscanf(line, " hlt #%lli", (long long *)&n) == 1 ? (uint32_t)n : UINT32_MAX;
    return sscanf(line, " movabsq $%llu", &n) == 1 && n >> 32 == MARK_X86 ? (uint32_t)n : UINT32_MAX;
}

/* An instruction, and not a directive or a prefix that stands on a line of its own. */
static bool is_instruction(const char *line, size_t n)
{
    size_t from = strspn(line, " \t");
    return n > from && line[from] != '.' && strncmp(line + from, "lock\n", 5) != 0;
}

/* Cuts what llvm-mc wrote into the loops' texts. */
static int cut_text(struct models *m, struct err *err)
{
    struct model_loop *l = NULL;
    uint32_t lines = 0;
    for (const char *p = m->text.bytes, *end; *p; p = end) {
        size_t n = strcspn(p, "\n");
        end = p + n + (p[n] == '\n');
        uint32_t mark = mark_of(m, p);
        if (mark != UINT32_MAX) {
            if (mark >= m->loops.count || m->loops.items[mark].written || m->loops.items[mark].out[0])
                return err_set(err, ERR_FORMAT, "llvm-mc's output differs from its input");
            l = &m->loops.items[mark];
            l->written = true;
            l->first = (size_t)(end - m->text.bytes);
            lines = 0;
        } else if (l && is_instruction(p, n)) {
            lines++;
            l->length = (size_t)(end - m->text.bytes) - l->first;
            snprintf(l->out, sizeof l->out, "%s",
                     lines == l->instructions ? "" : "llvm-mc does not know all of its instructions");
        }
    }
    for (size_t i = 0; i < m->loops.count; i++)
        if (!m->loops.items[i].written && !m->loops.items[i].out[0])
            return err_set(err, ERR_FORMAT, "llvm-mc's output differs from its input");
    return 0;
}

static int disassemble(struct models *m, struct err *err)
{
    const char *const argv[] = {
        m->tools->mc, "--disassemble", m->machine->aarch64 ? "-triple=aarch64" : "-triple=x86_64",
        m->machine->aarch64 ? "-mattr=+sve,+sve2,+fullfp16,+lse,+dotprod,+rcpc,+bf16,+i8mm" : NULL, NULL};
    struct buf messages = {0};
    int status = run(m, argv, &m->bytes, &m->text, &messages, err);
    buf_release(&messages);
    return status < 0 ? -1 : cut_text(m, err);
}

/* ---- estimates ---------------------------------------------------------------------------------- */

#define DIVIDER "divider" /* the region that shows whether the model has one */

static void add_region(struct buf *b, const char *name, const char *text, size_t n)
{

    buf_printf(b, "# LLVM-MCA-BEGIN %s\n", name);
    buf_add(b, text, n);
    buf_printf(b, "# LLVM-MCA-END %s\n", name);
}

static void add_regions(const struct models *m, const uint32_t *loops, size_t n, struct buf *b)
{
    const char *divides = m->machine->aarch64 ? "\tfdiv v0.2d, v1.2d, v2.2d\n" : "\tvdivpd %ymm1, %ymm1, %ymm2\n";
    b->len = 0;
    add_region(b, DIVIDER, divides, strlen(divides));
    for (size_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", loops[i]);
        add_region(b, name, m->text.bytes + m->loops.items[loops[i]].first, m->loops.items[loops[i]].length);
    }
}

/* cycles: of the loops, and of the division behind them; NaN before. */
static int read_estimates(struct models *m, const struct buf *out, int which, double *division, struct err *err)
{
    struct json *j = NULL;
    *division = NAN;
    if (json_read(out->bytes, out->len, "llvm-mca's output", &j, err) < 0)
        return -1;
    json_ix regions = json_get(j, 0, "CodeRegions");
    for (json_ix r = json_first(j, regions); r != JSON_NONE; r = json_next(j, r)) {
        json_ix cycles = json_get(j, json_get(j, r, "SummaryView"), "TotalCycles");
        const char *name = json_string_of(j, json_get(j, r, "Name"));
        char *end;
        unsigned long loop = strtoul(name, &end, 10);
        if (json_type_of(j, cycles) != JSON_NUMBER)
            continue;
        if (strcmp(name, DIVIDER) == 0)
            *division = json_number(j, cycles);
        else if (end > name && !*end && loop < m->loops.count)
            m->loops.items[loop].cycles[which] = json_number(j, cycles);
    }
    json_free(j);
    return isnan(*division) ? err_set(err, ERR_FORMAT, "llvm-mca's output has no cycles for this code") : 0;
}

/* 1: done; 0: unknown model, or without a divider; -1: it failed. */
static int simulate(struct models *m, const struct buf *in, int which, struct err *err)
{
    int iterations = which ? MANY : FEW;
    char *cpu = mem_printf("-mcpu=%s", m->model), *times = mem_printf("-iterations=%d", iterations);
    const char *const argv[] = {m->tools->mca,
                                m->machine->aarch64 ? "-mtriple=aarch64" : "-mtriple=x86_64",
                                cpu,
                                times,
                                "--json",
                                "-instruction-info=0",
                                "-resource-pressure=0",
                                "-",
                                NULL};
    struct buf out = {0}, messages = {0};
    double division = NAN;
    int status = run(m, argv, in, &out, &messages, err);
    if (messages.bytes && strstr(messages.bytes, "is not a recognized processor"))
        status = 0;
    else if (status == 0)
        status = read_estimates(m, &out, which, &division, err) < 0 ? -1 : division >= 2 * iterations;
    buf_release(&out);
    buf_release(&messages);
    mem_free(cpu);
    mem_free(times);
    return status;
}

/* As simulate. Loops that it cannot take are left out, with why. */
static int ask(struct models *m, const uint32_t *loops, size_t n)
{
    struct buf in = {0};
    struct err why = {0};
    add_regions(m, loops, n, &in);
    int status = simulate(m, &in, 0, &why);
    if (status > 0)
        status = simulate(m, &in, 1, &why);
    buf_release(&in);
    if (status >= 0)
        return status;
    if (n > 1 && why.kind != ERR_FORMAT) {
        status = ask(m, loops, n / 2);
        return status == 0 ? 0 : ask(m, loops + n / 2, n - n / 2);
    }
    for (size_t i = 0; i < n; i++)
        snprintf(m->loops.items[loops[i]].out, sizeof m->loops.items[0].out, "%s", why.msg);
    return -1;
}

/* The first of the machine's models that is to be trusted, for all loops. */
static int ask_models(struct models *m, const uint32_t *loops, size_t n, struct err *err)
{
    for (const char *p = m->machine->llvm; *p;) {
        size_t length = strcspn(p, " ");
        snprintf(m->model, sizeof m->model, "%.*s", (int)length, p);
        if (length && ask(m, loops, n) != 0)
            return 0;
        p += length + strspn(p + length, " ");
    }
    return err_set(err, ERR_UNSUPPORTED, "llvm-mca has no model of %s with latencies of divisions (%s)",
                   m->machine->core, m->machine->llvm);
}

/* ---- all ------------------------------------------------------------------------------------------ */

static int estimate(struct models *m, struct err *err)
{
    struct VEC(uint32_t) fit = {0};
    int status = disassemble(m, err);
    for (uint32_t i = 0; i < m->loops.count && status == 0; i++)
        if (!m->loops.items[i].out[0])
            *vec_push(&fit) = i;
    if (status == 0 && fit.count)
        status = ask_models(m, fit.items, fit.count, err);
    vec_release(&fit);
    return status;
}

static void take_estimates(const struct models *m, struct quality_loop *loops, struct strtab *strings,
                           struct warnings *warnings)
{
    size_t left_out = 0, first = 0;
    for (size_t i = 0; i < m->loops.count; i++) {
        const struct model_loop *l = &m->loops.items[i];
        struct quality_loop *q = &loops[l->loop];
        double steady = (l->cycles[1] - l->cycles[0]) / (MANY - FEW);
        if (!l->out[0] && steady > 0) {
            q->model = steady;
            continue;
        }
        const char *note = strtab_get(strings, q->note), *why = l->out[0] ? l->out : "it reported nothing";
        q->note = strtab_printf(strings, "%s%sno llvm-mca estimate: %s", note, *note ? "; " : "", why);
        first = left_out++ ? first : i;
    }
    if (left_out)
        warnings_add(warnings, "no llvm-mca estimate for %zu of %zu loops; reason for the first: %s", left_out,
                     m->loops.count, m->loops.items[first].out[0] ? m->loops.items[first].out : "it reported nothing");
}

void models_run(struct models *m, struct quality_loop *loops, struct quality_report *r, struct warnings *warnings)
{
    struct err err = {0};
    int status = 0;
    if (!m || m->loops.count == 0)
        return;
    m->deadline = time_seconds() + LIMIT_MODEL_SECONDS;
    if (m->loops.count > LIMIT_MODEL_LOOPS)
        status = err_set(&err, ERR_LIMIT, "%zu loops would take too long (limit %u, LIMIT_MODEL_LOOPS)", m->loops.count,
                         LIMIT_MODEL_LOOPS);
    else if (m->bytes.len)
        status = estimate(m, &err);
    if (status < 0) {
        warnings_add(warnings, "llvm-mca's estimates are omitted: %s", err.msg);
        return;
    }
    r->model = strtab_add(r->strings, m->model);
    take_estimates(m, loops, r->strings, warnings);
}
