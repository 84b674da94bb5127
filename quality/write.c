/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as text, CSV, JSON. One table of columns says what there is. */
#include "quality/quality_int.h"

#include <math.h>

enum field_type { FIELD_TEXT, FIELD_NUMBER };
struct report_field {
    const char *name;
    uint8_t type;
    double (*number)(const struct quality_loop *);
    const char *(*text)(const struct quality_report *, const struct quality_loop *);
};

#define NUMBER(name, expression)                                                                                       \
    static double get_##name(const struct quality_loop *q)                                                             \
    {                                                                                                                  \
        return (double)(expression);                                                                                   \
    }
#define WORD(name, expression)                                                                                         \
    static const char *get_##name(const struct quality_report *r, const struct quality_loop *q)                        \
    {                                                                                                                  \
        (void)r, (void)q;                                                                                              \
        return expression;                                                                                             \
    }

WORD(procedure, strtab_get(r->strings, q->procedure))
WORD(file, strtab_get(r->strings, q->file))
WORD(role, quality_role_name(q->role))
WORD(bound_by, quality_bound_name(q->bound_by))
WORD(note, strtab_get(r->strings, q->note))
WORD(machine, strtab_get(r->strings, r->machine))
NUMBER(line, q->line_first)
NUMBER(header, q->header)
NUMBER(instructions, q->instructions)
NUMBER(bytes, q->bytes)
NUMBER(uops, q->uops)
NUMBER(paths, q->paths)
NUMBER(flops, q->flops)
NUMBER(fma, q->fma)
NUMBER(vector_ratio, q->vector_ratio[MIX_ALL])
NUMBER(vector_load, q->vector_ratio[MIX_LOAD])
NUMBER(vector_store, q->vector_ratio[MIX_STORE])
NUMBER(vector_add, q->vector_ratio[MIX_ADD])
NUMBER(vector_multiply, q->vector_ratio[MIX_MULTIPLY])
NUMBER(vector_other, q->vector_ratio[MIX_OTHER])
NUMBER(efficiency, q->vector_efficiency[MIX_ALL])
NUMBER(loaded, q->loaded)
NUMBER(stored, q->stored)
NUMBER(intensity, q->intensity)
NUMBER(stack, q->stack_references)
NUMBER(spills, q->spills)
NUMBER(address_share, q->address_share)
NUMBER(calls, q->calls)
NUMBER(stride_none, q->strides[STRIDE_NONE])
NUMBER(stride_one, q->strides[STRIDE_ONE])
NUMBER(stride_more, q->strides[STRIDE_MORE])
NUMBER(indirect, q->strides[STRIDE_INDIRECT])
NUMBER(stride_unknown, q->strides[STRIDE_UNKNOWN])
NUMBER(step, q->step)
NUMBER(unroll, q->unroll)
NUMBER(elements, q->elements)
NUMBER(bound, q->bound)
NUMBER(bound_short, q->bound_short)
NUMBER(ahead, q->ahead)
NUMBER(front_end, q->cycles[BOUND_FRONT_END])
NUMBER(ports, q->cycles[BOUND_PORTS])
NUMBER(memory, q->cycles[BOUND_MEMORY])
NUMBER(divider, q->cycles[BOUND_DIVIDER])
NUMBER(chain, q->cycles[BOUND_CHAIN])
NUMBER(store_chain, q->cycles[BOUND_STORE_CHAIN])
NUMBER(if_vectorized, q->if_vectorized)
NUMBER(if_clean, q->if_clean)
NUMBER(if_no_chain, q->if_no_chain)
NUMBER(if_next, q->if_next)
NUMBER(llvm_mca, q->model)
WORD(llvm_model, strtab_get(r->strings, r->model))

#define N(name)                                                                                                        \
    {                                                                                                                  \
#name, FIELD_NUMBER, get_##name, NULL                                                                          \
    }
#define T(name)                                                                                                        \
    {                                                                                                                  \
#name, FIELD_TEXT, NULL, get_##name                                                                            \
    }
static const struct report_field fields[] = {
    T(procedure),    T(file),        N(line),          N(header),         T(machine),
    T(role),         N(unroll),      N(elements),      N(step),           N(instructions),
    N(bytes),        N(uops),        N(paths),         N(flops),          N(fma),
    N(vector_ratio), N(vector_load), N(vector_store),  N(vector_add),     N(vector_multiply),
    N(vector_other), N(efficiency),  N(loaded),        N(stored),         N(intensity),
    N(stack),        N(spills),      N(address_share), N(calls),          N(stride_none),
    N(stride_one),   N(stride_more), N(indirect),      N(stride_unknown), N(bound),
    N(bound_short),  N(ahead),       T(bound_by),      N(front_end),      N(ports),
    N(memory),       N(divider),     N(chain),         N(store_chain),    N(if_vectorized),
    N(if_clean),     N(if_no_chain), N(if_next),       N(llvm_mca),       T(llvm_model),
    T(note),
};

static size_t first_check(const struct quality_report *r, const struct quality_loop *q)
{
    size_t loop = (size_t)(q - r->loops);
    return sorted_front(r->check_count, i, r->checks[i].loop < loop);
}

static bool is_of(const struct quality_report *r, size_t check, const struct quality_loop *q)
{
    return check < r->check_count && r->checks[check].loop == (size_t)(q - r->loops);
}

/* Their names, each once, with a + between. */
static void check_words(struct buf *b, const struct quality_report *r, const struct quality_loop *q)
{
    size_t first = first_check(r, q);
    for (size_t i = first; is_of(r, i, q); i++)
        if (i == first || r->checks[i].kind != r->checks[i - 1].kind)
            buf_printf(b, "%s%s", i > first ? "+" : "", quality_check_word(r->checks[i].kind));
}

/* ---- CSV, JSON --------------------------------------------------------------------------- */

/* Three digits behind the point are more than a model knows. */
static double rounded(double v)
{
    return isnan(v) ? v : round(v * 1000) / 1000;
}

static void csv_row(struct csvout *c, const struct quality_report *r, const struct quality_loop *q)
{
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (fields[i].type == FIELD_TEXT)
            csv_text(c, fields[i].text(r, q));
        else if (fields[i].number == get_header) {
            csv_empty(c);
            buf_printf(c->out, "0x%llx", (unsigned long long)q->header);
        } else
            csv_double(c, rounded(fields[i].number(q)));
    csv_empty(c);
    check_words(c->out, r, q);
    csv_end_line(c);
}

static void write_csv(const struct quality_report *r, struct buf *b)
{
    struct csvout c = {.out = b};
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        csv_text(&c, fields[i].name);
    csv_text(&c, "checks");
    csv_end_line(&c);
    for (size_t i = 0; i < r->loop_count; i++)
        csv_row(&c, r, &r->loops[i]);
}

static void json_checks(struct jsonout *j, const struct quality_report *r, const struct quality_loop *q)
{
    json_put_array(j, "checks");
    for (size_t i = first_check(r, q); is_of(r, i, q); i++) {
        const struct quality_check *c = &r->checks[i];
        json_begin_object(j);
        json_put_string(j, "check", quality_check_word(c->kind));
        json_put_u64(j, "line", c->line);
        json_put_u64(j, "address", c->address);
        json_put_double(j, "confidence", c->confidence);
        json_put_double(j, "gain", rounded(c->gain));
        json_put_string(j, "found", strtab_get(r->strings, c->found));
        json_put_string(j, "remedy", strtab_get(r->strings, c->remedy));
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_json(const struct quality_report *r, struct buf *b)
{
    struct jsonout j = {.out = b};
    json_begin_object(&j);
    json_put_string(&j, "machine", strtab_get(r->strings, r->machine));
    json_put_string(&j, "assumed", strtab_get(r->strings, r->assumed));
    json_put_array(&j, "loops");
    for (size_t i = 0; i < r->loop_count; i++) {
        json_begin_object(&j);
        for (size_t k = 0; k < ARRAY_SIZE(fields); k++) {
            json_key(&j, fields[k].name);
            if (fields[k].type == FIELD_TEXT)
                json_string(&j, fields[k].text(r, &r->loops[i]));
            else
                json_double(&j, rounded(fields[k].number(&r->loops[i])));
        }
        json_checks(&j, r, &r->loops[i]);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    buf_char(b, '\n');
}

/* ---- text ----------------------------------------------------------------------------------- */

static void percent(struct buf *b, const char *what, double v)
{
    if (!isnan(v))
        buf_printf(b, "%s %.0f%%", what, 100 * v);
}

static void write_numbers(const struct quality_loop *q, struct buf *b)
{
    buf_printf(b, "    %u instructions (%u bytes, %u uops)", q->path_instructions, q->bytes, q->uops);
    if (q->paths > 1)
        buf_printf(b, " on the shortest of %u%s paths, %u in total", q->paths, q->paths == 1000 ? " or more" : "",
                   q->instructions);
    if (q->elements)
        buf_printf(b, "; %u element%s per iteration", q->elements, q->elements > 1 ? "s" : "");
    if (q->unroll > 1)
        buf_printf(b, ", unrolled %u times", q->unroll);
    buf_str(b, "\n    ");
    if (isnan(q->vector_ratio[MIX_ALL]))
        buf_str(b, "nothing to vectorize");
    percent(b, "vectorized", q->vector_ratio[MIX_ALL]);
    percent(b, ", of the widest vectors", q->vector_efficiency[MIX_ALL]);
    buf_printf(b, "; %g flops", q->flops);
    if (q->fma)
        buf_printf(b, " (%u fused)", q->fma);
    buf_printf(b, ", %g bytes loaded, %g stored", q->loaded, q->stored);
    if (!isnan(q->intensity) && q->flops > 0)
        buf_printf(b, ", %.3g flops per byte", q->intensity);
    percent(b, "; addresses and conditions", q->address_share);
    buf_str(b, "\n    references: ");
    bool any = false;
    for (int s = 0; s < STRIDES; s++)
        if (q->strides[s]) {
            static const char *const words[STRIDES] = {"of stride zero", "of stride one", "of larger stride",
                                                       "indirect", "not understood"};
            buf_printf(b, "%s%u %s", any ? ", " : "", q->strides[s], words[s]);
            any = true;
        }
    buf_str(b, any ? "" : "none");
    if (q->spills)
        buf_printf(b, "; %u spilled register%s", q->spills, q->spills > 1 ? "s" : "");
    buf_char(b, '\n');
}

static void write_bounds(const struct quality_report *r, const struct quality_loop *q, struct buf *b)
{
    buf_printf(b, "    at least %.2f cycles per iteration, limited by %s (", q->bound, quality_bound_name(q->bound_by));
    for (int i = 0, any = 0; i < BOUNDS; i++)
        if (q->cycles[i] > 0)
            buf_printf(b, "%s%s %.2f", any++ ? ", " : "", quality_bound_name(i), q->cycles[i]);
    buf_char(b, ')');
    if (!isnan(q->if_vectorized) && q->if_vectorized < 0.95 * q->bound)
        buf_printf(b, "; fully vectorized %.2f", q->if_vectorized);
    if (!isnan(q->if_clean) && q->if_clean < 0.95 * q->bound)
        buf_printf(b, "; without address arithmetic %.2f", q->if_clean);
    if (q->if_no_chain < 0.95 * q->bound)
        buf_printf(b, "; without the loop-carried dependency, or at trip counts up to %.0f, %.2f", ceil(q->ahead),
                   q->if_no_chain);
    buf_char(b, '\n');
    if (!isnan(q->model))
        buf_printf(b, "    llvm-mca (model %s): %.2f cycles\n", strtab_get(r->strings, r->model), q->model);
}

static void write_checks(const struct quality_report *r, const struct quality_loop *q, struct buf *b)
{
    for (size_t i = first_check(r, q); is_of(r, i, q); i++) {
        const struct quality_check *c = &r->checks[i];
        buf_printf(b, "    * %s (confidence %.0f%%", quality_check_word(c->kind), 100 * c->confidence);
        if (c->gain >= 1)
            buf_printf(b, ", up to %.0f%% gain", c->gain);
        buf_str(b, ")");
        if (c->line)
            buf_printf(b, ", line %u", c->line);
        buf_printf(b, ": %s\n", strtab_get(r->strings, c->found));
        if (c->remedy)
            buf_printf(b, "      %s\n", strtab_get(r->strings, c->remedy));
    }
}

static void write_text(const struct quality_report *r, struct buf *b)
{
    buf_printf(b, "Cycles are those of %s.\n", strtab_get(r->strings, r->assumed));
    for (size_t i = 0; i < r->loop_count; i++) {
        const struct quality_loop *q = &r->loops[i];
        if (i == 0 || r->loops[i - 1].procedure != q->procedure)
            buf_printf(b, "\n%s\n", strtab_get(r->strings, q->procedure));
        buf_printf(b, "  loop %s:%u at 0x%llx", path_base(strtab_get(r->strings, q->file)), q->line_first,
                   (unsigned long long)q->header);
        if (q->role)
            buf_printf(b, ", %s", quality_role_name(q->role));
        buf_char(b, '\n');
        buf_printf(b, "    %s\n", strtab_get(r->strings, q->summary));
        write_numbers(q, b);
        write_bounds(r, q, b);
        if (q->note)
            buf_printf(b, "    %s\n", strtab_get(r->strings, q->note));
        write_checks(r, q, b);
    }
}

void quality_write(const struct quality_report *r, enum quality_format format, struct outfile *out)
{
    struct buf b = {0};
    if (format == QUALITY_TEXT)
        write_text(r, &b);
    else if (format == QUALITY_CSV)
        write_csv(r, &b);
    else
        write_json(r, &b);
    outfile_take(out, &b);
}
