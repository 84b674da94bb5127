/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backward value tracking: the value of a register or a slot of the stack before an instruction, as a form (jump_int.h).
 *
 * A place is followed to the instruction that defined it, and that one's operands in turn; at a join it is unknown, except
 * for constants, which may be the same on all paths.
 */
#include "bloop/code/jump_int.h"

static bool same_place(struct jump_place a, struct jump_place b)
{
    return a.slot == b.slot && a.reg == b.reg && a.disp == b.disp;
}

bool jump_same_root(const struct root *a, const struct root *b)
{
    return a->at == b->at && a->defined == b->defined && same_place(a->place, b->place);
}

/* Does this instruction give the place another value, or make us lose it? */
static bool redefines(const struct op *op, struct jump_place place)
{
    if (!place.slot)
        return op->clobbers >> place.reg & 1;
    if (place.reg != ARCH_NO_REG && (op->clobbers >> place.reg & 1))
        return true;
    return op->kind == OP_STORE && op->index == ARCH_NO_REG && op->base == place.reg && op->disp == place.disp;
}

/* Backward from before p to the definition of the place's value. */
static struct root find_root(struct cfg_work *w, struct jump_place place, pos p, struct op *op)
{
    while (!jump_out_of_steps(w)) {
        pos q = jump_only_pred(w, p);
        if (q == POS_NONE)
            break;
        jump_lift(w, q, op);
        if (redefines(op, place))
            return (struct root){place, q, true};
        p = q;
    }
    return (struct root){place, p, false};
}

struct form jump_constant(uint64_t value)
{
    return (struct form){.kind = FORM_CONST, .add = value};
}

static struct form root_form(struct root r, uint64_t limit)
{
    return (struct form){.kind = FORM_LINEAR, .scale = 1, .root = r, .limit = limit};
}

struct form jump_eval(struct cfg_work *w, struct jump_place place, pos p, unsigned depth);

struct form jump_eval_register(struct cfg_work *w, uint8_t reg, pos p, unsigned depth)
{
    return reg == ARCH_NO_REG ? jump_constant(0) : jump_eval(w, (struct jump_place){.reg = reg}, p, depth);
}

/* *f *= by; false: no index of a table is scaled that much. */
static bool scale_form(struct form *f, int64_t by)
{
    f->add *= (uint64_t)by;
    return !__builtin_mul_overflow(f->scale, by, &f->scale) && f->scale <= SCALE_MOST && f->scale >= -SCALE_MOST;
}

/* A table entry that is not a target but a number: the index into another table. */
void jump_demote_entry(struct form *f)
{
    if (f->kind != FORM_ENTRY)
        return;
    struct form number = root_form(f->self, f->sign ? 0 : f->size == 1 ? 256 : f->size == 2 ? 65536 : 0);
    number.add = f->add;
    number.scale = f->scale;
    *f = number;
}

/* *a += b; false: the sum cannot be expressed as a form. */
static bool add_forms(struct form *a, const struct form *b)
{
    if (b->kind == FORM_CONST) {
        a->add += b->add;
        return true;
    }
    if (a->kind != FORM_CONST)
        return false;
    uint64_t add = a->add + b->add;
    *a = *b;
    a->add = add;
    return true;
}

/* base + index * scale + disp before p. If one of two registers is a value that is unknown at a join, it may still be one
 * constant on all paths. */
static bool eval_address(struct cfg_work *w, const struct op *op, pos p, unsigned depth, struct form *sum)
{
    struct form base = jump_eval_register(w, op->base, p, depth), index = jump_eval_register(w, op->index, p, depth);
    uint64_t value;
    if (op->kind != OP_ADDRESS) {
        jump_demote_entry(&base);
        jump_demote_entry(&index);
    }
    if (base.kind != FORM_CONST && index.kind != FORM_CONST) {
        if (base.kind == FORM_LINEAR && jump_search_constant(w, op->base, p, &value))
            base = jump_constant(value);
        else if (index.kind == FORM_LINEAR && op->scale == 1 && jump_search_constant(w, op->index, p, &value))
            index = jump_constant(value);
    }
    if (index.kind == FORM_ENTRY && op->index_size != 0) {
        index.size = op->index_size < index.size ? op->index_size : index.size;
        index.sign = op->index_sign;
    }
    *sum = jump_constant((uint64_t)op->disp);
    if (!scale_form(&index, op->scale))
        return false;
    return add_forms(sum, &index) && add_forms(sum, &base);
}

static uint64_t values_of_size(unsigned bytes)
{
    return bytes == 1 ? 256 : bytes == 2 ? 65536 : 0;
}

static void narrow(struct form *f, const struct op *op)
{
    if (f->kind == FORM_CONST && op->size < 8) {
        unsigned shift = 64 - 8u * op->size;
        f->add = op->sign ? (uint64_t)((int64_t)(f->add << shift) >> shift) : f->add << shift >> shift;
    } else if (f->kind == FORM_ENTRY && f->add == 0 && f->scale == 1 && f->size == op->size) {
        f->sign = op->sign; /* mov (table,index,4),%eax; cltq */
    } else if (f->kind == FORM_LINEAR && f->scale == 1 && op->size == 4) {
        f->add = (uint64_t)(int64_t)(int32_t)f->add; /* additions wrap: an index is a small number */
    } else if (f->kind == FORM_LINEAR && f->scale == 1 && !op->sign) {
        uint64_t limit = values_of_size(op->size);
        if (limit != 0 && (f->limit == 0 || f->limit > limit))
            f->limit = limit;
    }
}

/* An entry at a known place of a table that is not written: state machines jump through their table with constants. */
static bool constant_entry(const struct cfg_work *w, const struct op *op, vaddr at, struct form *f)
{
    const struct image_section *s = image_section_at(w->in->image, at);
    if (s == NULL || (s->writable && !str_starts(s->name, ".data.rel.ro")))
        return false;
    *f = jump_constant(0);
    if (op->size == 8)
        return image_pointer(w->in->image, at, &f->add);
    if (!jump_read_bytes(w->in->image, at, op->size, &f->add))
        return false;
    narrow(f, op);
    return true;
}

/* table + step * (index_add + root): a constant added to the root before scaling belongs to the index, which begins at zero. */
static struct form table_entry(struct cfg_work *w, const struct op *op, const struct form *address, struct root def,
                               unsigned depth)
{
    struct form f = {.kind = FORM_ENTRY,
                     .scale = 1,
                     .root = address->root,
                     .limit = address->limit,
                     .table = address->add,
                     .step = address->scale,
                     .size = op->size,
                     .sign = op->sign,
                     .self = def};
    if (op->index == ARCH_NO_REG)
        return f;
    struct form part = jump_eval_register(w, op->index, def.at, depth);
    int64_t scale = op->scale;
    jump_demote_entry(&part);
    if (part.kind != FORM_LINEAR) { /* -O0: the scaled index is the base, the table the index */
        part = jump_eval_register(w, op->base, def.at, depth);
        jump_demote_entry(&part);
        scale = 1;
    }
    if (part.kind == FORM_LINEAR && part.scale > 0 && (int64_t)part.add % part.scale == 0) {
        f.index_add = (uint64_t)((int64_t)part.add / part.scale);
        f.table -= part.add * (uint64_t)scale;
    }
    return f;
}

struct form jump_eval_load(struct cfg_work *w, struct op op, struct root def, unsigned depth)
{
    struct form address, f;
    bool indexed = op.index != ARCH_NO_REG;
    if (eval_address(w, &op, def.at, depth, &address)) {
        if (indexed && address.kind == FORM_CONST && constant_entry(w, &op, address.add, &f))
            return f;
        if (address.kind == FORM_LINEAR && (indexed || address.scale > 1) && address.scale > 0 && address.scale <= 64) {
            f = table_entry(w, &op, &address, def, depth);
            if (image_section_at(w->in->image, f.table) != NULL)
                return f;
        }
    }
    if (indexed)
        return root_form(def, op.sign ? 0 : values_of_size(op.size));
    f = jump_eval(w, (struct jump_place){.slot = true, .reg = op.base, .disp = op.disp}, def.at, depth);
    uint64_t limit = op.sign ? 0 : values_of_size(op.size);
    if (f.kind == FORM_LINEAR && limit != 0 && (f.limit == 0 || f.limit > limit))
        f.limit = limit;
    return f;
}

/* How many values base >> disp has, 0 < disp < the base's bits: limited by the remaining bits and by the base. */
static uint64_t values_of_shift(struct cfg_work *w, const struct op *op, struct root def, unsigned depth)
{
    struct form base = jump_eval_register(w, op->base, def.at, depth);
    uint64_t most = 1ull << (8 * op->size - op->disp);
    jump_demote_entry(&base);
    if (base.kind != FORM_LINEAR || base.scale != 1 || base.add != 0 || base.limit == 0)
        return most;
    uint64_t of_base = ((base.limit - 1) >> op->disp) + 1;
    return of_base < most ? of_base : most;
}

static struct form eval_definition(struct cfg_work *w, const struct op *op, struct root def, unsigned depth)
{
    struct form f;
    switch (op->kind) {
    case OP_ADDRESS:
        if (op->dst != def.place.reg || !eval_address(w, op, def.at, depth, &f))
            break;
        narrow(&f, op);
        return f;
    case OP_LOAD:
        if (op->dst != def.place.reg)
            break;
        return jump_eval_load(w, *op, def, depth);
    case OP_AND:
        if (op->dst == def.place.reg && op->disp >= 0 && op->disp < ENTRIES_MAX)
            return root_form(def, (uint64_t)op->disp + 1);
        break;
    case OP_SHIFT_R:
        if (op->dst == def.place.reg && op->disp > 0 && op->disp < 8 * op->size)
            return root_form(def, values_of_shift(w, op, def, depth));
        break;
    default:
        break;
    }
    return root_form(def, 0);
}

static struct form eval_root(struct cfg_work *w, struct root r, const struct op *op, unsigned depth)
{
    if (!r.defined || depth == 0 || jump_out_of_steps(w))
        return root_form(r, 0);
    if (!r.place.slot)
        return eval_definition(w, op, r, depth - 1);
    if (op->kind == OP_STORE && op->src != ARCH_NO_REG && op->base == r.place.reg && op->disp == r.place.disp)
        return jump_eval_register(w, op->src, r.at, depth - 1);
    return root_form(r, 0);
}

/* The value of a place before the instruction at p. Always a form: at worst "what the place holds here". */
struct form jump_eval(struct cfg_work *w, struct jump_place place, pos p, unsigned depth)
{
    struct op op;
    struct root r = find_root(w, place, p, &op);
    return eval_root(w, r, &op, depth);
}

/* The same behind the instruction at p. */
static struct root find_root_after(struct cfg_work *w, struct jump_place place, pos p, struct op *op)
{
    jump_lift(w, p, op);
    return redefines(op, place) ? (struct root){place, p, true} : find_root(w, place, p, op);
}

struct form jump_eval_after(struct cfg_work *w, struct jump_place place, pos p, unsigned depth)
{
    struct op op;
    struct root r = find_root_after(w, place, p, &op);
    return eval_root(w, r, &op, depth);
}

/* ---- constants that are unknown at joins ------------------------------------------------------------- */

/* For bases that are set once, far away, in a large function: the last constant that the code in front of p gives this
   register, in the order of addresses, or the first one behind it. Whether a table is there shows when it is read. */
static bool nearest_constant_of(const struct jumptable_work *j, uint8_t reg, pos p, uint64_t *value)
{
    bool any = false;
    for (size_t i = 0; i < j->constants.count; i++) {
        const struct constant *c = &j->constants.items[i];
        if (c->reg != reg)
            continue;
        if (c->at > p)
            return any || (*value = c->value, true);
        *value = c->value;
        any = true;
    }
    return any;
}

/* The value of one definition of a register: a constant, or unknown. */
static bool defined_constant(struct cfg_work *w, const struct op *op, struct root r, uint64_t *value)
{
    struct form f = root_form(r, 0);
    if (op->kind == OP_ADDRESS && op->dst == r.place.reg &&
        op->index == ARCH_NO_REG) { /* lea, a copy, the add after adrp */
        f = jump_eval_register(w, op->base, r.at, 4);
        f.add += (uint64_t)op->disp;
    } else if (op->kind == OP_LOAD && op->dst == r.place.reg && op->index == ARCH_NO_REG) { /* spilled */
        f = jump_eval(w, (struct jump_place){.slot = true, .reg = op->base, .disp = op->disp}, r.at, 4);
    }
    *value = f.add;
    return f.kind == FORM_CONST;
}

/* Is the register the same constant on all ways to p? j->visited: instructions behind which its value is asked for. */
static bool same_constant_on_all_ways(struct cfg_work *w, uint8_t reg, pos p, uint64_t *value)
{
    struct jumptable_work *j = w->jumptable;
    struct jump_place place = {.reg = reg};
    struct op op;
    bool any = false;
    unsigned limit = j->steps + 400 < STEPS_MAX ? j->steps + 400 : STEPS_MAX;
    struct root r = find_root(w, place, p, &op);
    j->visited.count = 0;
    for (size_t done = 0;; done++) {
        uint64_t one;
        if (j->steps > limit || j->visited.count > JOIN_MAX)
            return nearest_constant_of(j, reg, p, value);
        if (r.defined) {
            if (!defined_constant(w, &op, r, &one) || (any && one != *value))
                return false;
            *value = one;
            any = true;
        } else {
            struct ways v = jump_ways_into(w, r.at);
            if (v.count == 0 || v.entered) /* the function's start: it came from the caller */
                return false;
            for (size_t i = 0; i < v.count; i++)
                jump_visit(j, jump_way(&v, i));
        }
        if (done == j->visited.count)
            return any;
        r = find_root_after(w, place, j->visited.items[done], &op);
    }
}

/* The same; if paths differ or are unknown, a label of this function that the register is given nearby is taken:
   tables of differences of labels (printf's) have one label as their base throughout. */
bool jump_search_constant(struct cfg_work *w, uint8_t reg, pos p, uint64_t *value)
{
    struct jumptable_work *j = w->jumptable;
    if (j->searching) /* derived from another value that is unknown at a join: too far away */
        return false;
    j->searching = true;
    bool found = same_constant_on_all_ways(w, reg, p, value);
    j->searching = false;
    return found || (nearest_constant_of(j, reg, p, value) && jump_plausible(w, *value) != POS_NONE);
}
