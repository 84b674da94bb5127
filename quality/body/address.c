/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses: the address of each reference of the path, in terms of the registers at the beginning of the iteration,
 * and its change until the next one.
 *
 *     loop: movsd (%rdi,%rax,8), %xmm0      rdi + 8*rax        moves by 8: rax does by 1
 *           movslq (%rsi,%rax,4), %rcx      rsi + 4*rax        moves by 4
 *           addsd (%rdx,%rcx,8), %xmm0      rdx + 8*(loaded)   indirect
 *           inc %rax
 *
 * Additions are assumed not to wrap: programs do not rely on a 32-bit index that does.
 */
#include "quality/body/body.h"

#include <math.h>

static struct quality_form of_root(uint32_t root)
{
    return (struct quality_form){.terms = {{root, 1}}, .count = 1};
}

/* a += b * factor; false: too many terms. */
static bool form_add(struct quality_form *a, const struct quality_form *b, int64_t factor)
{
    a->add = (int64_t)((uint64_t)a->add + (uint64_t)b->add * (uint64_t)factor);
    for (uint8_t i = 0; i < b->count; i++) {
        uint8_t k = 0;
        while (k < a->count && a->terms[k].root != b->terms[i].root)
            k++;
        int64_t more = (int64_t)((uint64_t)b->terms[i].factor * (uint64_t)factor);
        if (k == a->count) {
            if (a->count == FORM_TERMS)
                return false;
            a->terms[a->count++] = (struct form_term){b->terms[i].root, more};
        } else {
            a->terms[k].factor = (int64_t)((uint64_t)a->terms[k].factor + (uint64_t)more);
            if (a->terms[k].factor == 0)
                a->terms[k] = a->terms[--a->count];
        }
    }
    return true;
}

static int64_t factor_of(const struct quality_form *f, uint32_t root)
{
    for (uint8_t i = 0; i < f->count; i++)
        if (f->terms[i].root == root)
            return f->terms[i].factor;
    return 0;
}

bool quality_form_same_terms(const struct quality_form *a, const struct quality_form *b)
{
    if (a->count != b->count)
        return false;
    for (uint8_t i = 0; i < a->count; i++)
        if (factor_of(b, a->terms[i].root) != a->terms[i].factor)
            return false;
    return true;
}

/* ---- registers ----------------------------------------------------------------------- */

struct state {
    struct body *b;
    struct quality_form regs[ARCH_REGS];
};

static bool form_loaded(const struct body *b, const struct quality_form *f)
{
    for (uint8_t i = 0; i < f->count; i++)
        if (f->terms[i].root >= ARCH_REGS && b->loaded[f->terms[i].root - ARCH_REGS])
            return true;
    return false;
}

static bool form_computed(const struct quality_form *f)
{
    for (uint8_t i = 0; i < f->count; i++)
        if (f->terms[i].root >= ARCH_REGS)
            return true;
    return false;
}

static bool sum_address(const struct state *s, uint8_t base, uint8_t index, int64_t scale, int64_t disp,
                        struct quality_form *sum)
{
    *sum = (struct quality_form){.add = disp};
    return (base >= ARCH_REGS || form_add(sum, &s->regs[base], 1)) &&
           (index >= ARCH_REGS || form_add(sum, &s->regs[index], scale));
}

static void note_reference(struct state *s, size_t at, uint8_t operand)
{
    const struct insn_memory *m = &path_step(s->b, at)->f.memory[operand];
    struct ref *r = vec_push(&s->b->refs);
    *r = (struct ref){.step = (uint32_t)at, .operand = operand, .stride = STRIDE_UNKNOWN};
    bool gathers = m->vector_index;
    r->stack = m->base == s->b->code->arch->detail->stack_pointer && !gathers;
    if (m->segment ||
        !sum_address(s, m->base, gathers ? FACTS_NO_REG : m->index, m->scale, m->post_disp ? 0 : m->disp, &r->form))
        r->form = of_root((uint32_t)(ARCH_REGS + at));
    if (gathers || form_loaded(s->b, &r->form))
        r->stride = STRIDE_INDIRECT;
}

static bool depends_on_load(const struct state *s, const struct step *p)
{
    for (uint8_t i = 0; i < p->f.memory_count; i++)
        if (p->f.memory[i].reads)
            return true;
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if ((p->f.reads.general >> r & 1) && form_loaded(s->b, &s->regs[r]))
            return true;
    return p->f.reads.vector != 0 && p->f.writes.general != 0; /* out of a vector: not followed */
}

/* SVE's incd and its like: they add how many elements vectors have. */
static bool counts_elements(const struct state *s, const struct step *p, unsigned r, int64_t *added)
{
    if (!p->f.scalable || p->f.class != CLASS_ADD || !p->f.has_constant || p->f.element == 0 ||
        p->f.reads.general != 1u << r)
        return false;
    *added = p->f.constant * (s->b->machine->vector / p->f.element);
    return true;
}

static void take_step(struct state *s, size_t at)
{
    const struct step *p = path_step(s->b, at);
    struct quality_form sum;
    int64_t added;
    bool plain = !p->f.scalable && p->op.kind == OP_ADDRESS && p->op.dst < ARCH_REGS &&
                 (p->op.size >= 4 || p->op.size == 0) &&
                 sum_address(s, p->op.base, p->op.index, p->op.scale, p->op.disp, &sum);
    bool calls = p->f.insn.kind == INSN_CALL || p->f.insn.kind == INSN_CALL_INDIRECT;
    uint32_t written = p->f.writes.general | (calls ? s->b->code->arch->detail->call_clobbers : 0);
    if (!p->known)
        written = UINT32_MAX;
    s->b->loaded[at] = depends_on_load(s, p);
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (written >> r & 1) {
            if (plain && p->op.dst == r)
                s->regs[r] = sum;
            else if (counts_elements(s, p, r, &added))
                s->regs[r].add += added;
            else
                s->regs[r] = of_root((uint32_t)(ARCH_REGS + at));
        }
}

/* The base that an access moves is the sum of both. */
static void update_base(struct state *s, size_t at, const struct quality_form *before)
{
    const struct step *p = path_step(s->b, at);
    for (uint8_t i = 0; i < p->f.memory_count; i++) {
        const struct insn_memory *m = &p->f.memory[i];
        if (m->updates && m->base < ARCH_REGS && m->disp != 0) {
            s->regs[m->base] = *before;
            s->regs[m->base].add += m->disp;
        }
    }
    if (p->f.class == CLASS_STACK || p->f.class == CLASS_CONTROL) /* push, pop, call: none of the loop's own */
        s->regs[s->b->code->arch->detail->stack_pointer] = of_root(s->b->code->arch->detail->stack_pointer);
}

/* ---- from one iteration to the next -------------------------------------------------- */

static void find_moves(struct body *b)
{
    bool again = true;
    memset(b->moved_known, 0, sizeof b->moved_known);
    memset(b->moved, 0, sizeof b->moved);
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (b->final[r].count == 1 && b->final[r].terms[0].root == r && b->final[r].terms[0].factor == 1) {
            b->moved[r] = b->final[r].add;
            b->moved_known[r] = true;
        }
    for (int round = 0; again && round < 4; round++) { /* a copy of a register moves with it */
        again = false;
        for (unsigned r = 0; r < ARCH_REGS; r++) {
            const struct quality_form *f = &b->final[r];
            if (b->moved_known[r] || f->count > 1)
                continue;
            if (f->count == 1 && (f->terms[0].root >= ARCH_REGS || !b->moved_known[f->terms[0].root]))
                continue;
            b->moved[r] = f->count ? (int64_t)((uint64_t)f->terms[0].factor * (uint64_t)b->moved[f->terms[0].root]) : 0;
            b->moved_known[r] = again = true;
        }
    }
}

/* By a number that no iteration changes: `add %rdx, %rax`. */
static bool moves_at_run_time(const struct body *b, unsigned r)
{
    const struct quality_form *f = &b->final[r];
    if (factor_of(f, r) != 1)
        return false;
    for (uint8_t i = 0; i < f->count; i++) {
        uint32_t root = f->terms[i].root;
        if (root != r && (root >= ARCH_REGS || !b->moved_known[root] || b->moved[root] != 0))
            return false;
    }
    return true;
}

static void classify(struct body *b, struct ref *r)
{
    const struct insn_memory *m = &path_step(b, r->step)->f.memory[r->operand];
    int64_t moves = 0, size = quality_memory_size(m, b->machine);
    bool known = true;
    if (r->stride == STRIDE_INDIRECT)
        return;
    if (form_computed(&r->form)) {
        r->stride = STRIDE_UNKNOWN;
        return;
    }
    for (uint8_t i = 0; i < r->form.count; i++) {
        uint32_t root = r->form.terms[i].root;
        if (b->moved_known[root])
            moves = (int64_t)((uint64_t)moves + (uint64_t)r->form.terms[i].factor * (uint64_t)b->moved[root]);
        else if (moves_at_run_time(b, root))
            r->runtime = true;
        else if (form_loaded(b, &b->final[root])) { /* p = p->next */
            r->stride = STRIDE_INDIRECT;
            return;
        } else
            known = false;
    }
    if (!known)
        return;
    r->known = !r->runtime;
    r->moves = r->runtime ? 0 : moves;
    /* SVE's loops add the vectors' length, which a register holds. */
    r->stride = r->runtime             ? (m->scalable ? STRIDE_ONE : STRIDE_MORE)
                : moves == 0           ? STRIDE_NONE
                : llabs(moves) == size ? STRIDE_ONE
                                       : STRIDE_MORE;
}

static int by_form(const void *a, const void *b, void *ctx)
{
    const struct body *body = ctx;
    const struct ref *x = &body->refs.items[*(const uint32_t *)a], *y = &body->refs.items[*(const uint32_t *)b];
    const struct quality_form *f = &x->form, *g = &y->form;
    if (x->moves != y->moves)
        return x->moves < y->moves ? -1 : 1;
    if (f->count != g->count)
        return f->count < g->count ? -1 : 1;
    for (uint8_t i = 0; i < f->count; i++)
        if (f->terms[i].root != g->terms[i].root || f->terms[i].factor != g->terms[i].factor)
            return f->terms[i].root != g->terms[i].root ? (f->terms[i].root < g->terms[i].root ? -1 : 1)
                                                        : (f->terms[i].factor < g->terms[i].factor ? -1 : 1);
    return order_of(f->add, g->add);
}

static bool same_stream(const struct ref *a, const struct ref *b)
{
    return a->moves == b->moves && quality_form_same_terms(&a->form, &b->form);
}

static void sort_terms(struct quality_form *f)
{
    for (uint8_t i = 1; i < f->count; i++)
        for (uint8_t k = i; k > 0 && f->terms[k].root < f->terms[k - 1].root; k--) {
            struct form_term t = f->terms[k];
            f->terms[k] = f->terms[k - 1];
            f->terms[k - 1] = t;
        }
}

/* An unrolled loop makes several adjacent accesses, which together move by the bytes they cover: each of them has a
   stride of one. From `first` on, n references of one stream in the order of addresses. */
static void join_stream(struct body *b, const uint32_t *refs, size_t n)
{
    int64_t moves = llabs(b->refs.items[refs[0]].moves), covered = 0, end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        const struct ref *r = &b->refs.items[refs[i]];
        int64_t size = quality_memory_size(&path_step(b, r->step)->f.memory[r->operand], b->machine), at = r->form.add;
        int64_t from = at > end ? at : end;
        if (at + size > from)
            covered += at + size - from;
        end = at + size > end ? at + size : end;
    }
    for (size_t i = 0; i < n && covered >= moves; i++)
        b->refs.items[refs[i]].stride = STRIDE_ONE;
}

static void join_streams(struct body *b)
{
    struct VEC(uint32_t) refs = {0};
    for (uint32_t i = 0; i < b->refs.count; i++)
        if (b->refs.items[i].known && b->refs.items[i].moves != 0) {
            sort_terms(&b->refs.items[i].form);
            *vec_push(&refs) = i;
        }
    if (refs.count)
        qsort_r(refs.items, refs.count, sizeof *refs.items, by_form, b);
    for (size_t i = 0, end; i < refs.count; i = end) {
        for (end = i + 1;
             end < refs.count && same_stream(&b->refs.items[refs.items[i]], &b->refs.items[refs.items[end]]);)
            end++;
        join_stream(b, refs.items + i, end - i);
    }
    vec_release(&refs);
}

void body_find_addresses(struct body *b)
{
    struct state s = {.b = b};
    mem_free(b->loaded);
    b->loaded = mem_calloc(b->path.count + 1, 1);
    b->refs.count = 0;
    for (uint32_t r = 0; r < ARCH_REGS; r++)
        s.regs[r] = of_root(r);
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *p = path_step(b, i);
        struct quality_form before = {0};
        for (uint8_t m = 0; m < p->f.memory_count; m++) {
            note_reference(&s, i, m);
            if (p->f.memory[m].updates && p->f.memory[m].base < ARCH_REGS)
                before = s.regs[p->f.memory[m].base];
        }
        take_step(&s, i);
        update_base(&s, i, &before);
    }
    memcpy(b->final, s.regs, sizeof b->final);
    find_moves(b);
    for (size_t i = 0; i < b->refs.count; i++)
        classify(b, &b->refs.items[i]);
    join_streams(b);
}
