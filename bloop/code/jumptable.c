/*
 * Where indirect jumps go.
 *
 * The address jumped to is followed backwards through the few instructions that made it, over blocks too, until it has
 * the form
 *
 *     constant + scale * entry,   entry = memory[table + step * index]      (a jump table)
 *
 * How many entries a table has is told by the comparison that guards the jump, by a mask, or by the size of the index;
 * where nothing tells (computed gotos), the table ends where the next known object begins or where an entry does not
 * lead into the function.
 *
 *     cmp  $5,%edi           index < 6: compare and index lead back to the same value, %edi at the function's start
 *     ja   default
 *     mov  %edi,%edi
 *     lea  table(%rip),%rdx
 *     movslq (%rdx,%rdi,4),%rax
 *     add  %rdx,%rax
 *     jmp  *%rax
 *
 * What leads to no table is a tail call if the function's frame is gone at that place (the stack pointer is back where
 * it was at the entry): C++ virtual calls, calls of function pointers, PLT stubs.  A jump with the frame in place in a
 * function that holds tables of its own labels is a computed goto whose table cannot be followed (threaded code): it
 * may go to every label whose address the function takes. All else is unresolved, and counted.
 *
 * The work for one jump is bounded (STEPS_MAX); nothing recurses deeper than DEPTH_MAX.
 */
#include "bloop/code/cfg_int.h"

#include <stdlib.h>

#define STEPS_MAX         8000   /* instructions and joins looked at for one jump */
#define STEPS_OF_FUNCTION 200000 /* and two for each byte: some hundred for each jump of the largest interpreters */
#define DEPTH_MAX         24     /* operands of operands */
#define ENTRIES_MAX       65536  /* of one table: larger ones are not made by compilers */
#define NEIGHBOUR_BYTES   16384  /* of code behind the function that is searched for addresses */
#define STRIDES_MAX       64     /* pieces of code of equal length in a row */
#define JOIN_MAX          64     /* ways into a block that are followed */

/* ---- values ------------------------------------------------------------------------------- */

/* A register, or a memory slot base + disp that is treated as one. */
struct place {
    bool slot;
    uint8_t reg; /* of a slot: its base, or ARCH_NO_REG */
    int64_t disp;
};

/* A value `place` had before the instruction at `at` if it could not be followed further (a join, the entry, a lost
   base), or that the instruction at `at` gave it. */
struct root {
    struct place place;
    pos at;
    bool defined; /* by the instruction at `at` */
};

enum form_kind { FORM_CONST, FORM_LINEAR, FORM_ENTRY };
struct form {
    uint8_t kind; /* enum form_kind */
    uint64_t add; /* CONST: the value; LINEAR: add + scale * root; ENTRY: add + scale * entry */
    int64_t scale;
    struct root root;
    uint64_t limit; /* of the root's value: below; 0: not known */
    /* ENTRY: memory[table + step * index], index = index_add + root (limited so) */
    vaddr table;
    uint64_t index_add;
    int64_t step;
    uint8_t size;
    bool sign;
    struct root self; /* as a value like others: what the load at self.at gave */
};

struct VEC_vaddr VEC(vaddr);

struct height { /* of the stack */
    pos at;
    int64_t added; /* to the stack pointer from `at` on to the jump */
};

struct branch_pred {
    pos target, from;
};
struct constant { /* an address the code makes */
    vaddr value;
    pos at;
    uint8_t reg;
};

struct lifted {
    uint32_t round;
    pos at;
    struct op op;
};

struct jumptable_work {
    uint32_t round;            /* of settling: tells what is cached from what is left over */
    struct lifted lifted[256]; /* by position: one jump looks at the same few instructions again and again */
    struct VEC(struct branch_pred) preds;
    struct VEC(struct constant) constants; /* in the order of `at` */
    struct VEC_vaddr ends;                 /* the same, sorted by value: where known objects begin */
    struct VEC_vaddr neighbours;           /* what the next functions make, sorted */
    bool have_neighbours;
    bool guarded_only;         /* in this round tables without a guard wait */
    struct VEC(pos) tentative; /* set in the tentative maps */
    struct VEC(pos) labels;    /* whose address the function takes */
    uint64_t entries_left;     /* to be read for this function: an ordinary one reads each entry of its tables once */
    unsigned steps;
    int64_t steps_left;                /* for this function */
    bool have_labels, labels_used;     /* in this round: */
    uint32_t label_first, label_count; /* into cfg_work.targets */
    bool searching;                    /* in search_constant */
    struct VEC(pos) found;             /* targets of the jump at work */
    struct VEC(pos) visited;
    struct VEC(struct height) heights;
};

void jumptable_release(struct jumptable_work *j)
{
    if (j == NULL)
        return;
    vec_release(&j->preds);
    vec_release(&j->constants);
    vec_release(&j->ends);
    vec_release(&j->labels);
    vec_release(&j->neighbours);
    vec_release(&j->tentative);
    vec_release(&j->found);
    vec_release(&j->visited);
    vec_release(&j->heights);
    mem_free(j);
}

static bool same_place(struct place a, struct place b)
{
    return a.slot == b.slot && a.reg == b.reg && a.disp == b.disp;
}

static bool same_root(const struct root *a, const struct root *b)
{
    return a->at == b->at && a->defined == b->defined && same_place(a->place, b->place);
}

/* ---- moving about ---------------------------------------------------------------------------- */

static void count_step(struct jumptable_work *j)
{
    j->steps++;
    j->steps_left--;
}

static void lift_at(struct cfg_work *w, pos at, struct op *op)
{
    struct lifted *cached = &w->jumptable->lifted[at % ARRAY_SIZE(w->jumptable->lifted)];
    count_step(w->jumptable);
    if (cached->round == w->jumptable->round && cached->at == at) {
        *op = cached->op;
        return;
    }
    const struct cfg_part *part = cfg_part_at(w, at);
    const uint8_t *p = part->bytes + (at - part->first);
    size_t n = (size_t)(part->end - part->begin) - (at - part->first);
    vaddr a = part->begin + (at - part->first);
    struct insn in;
    w->in->arch->decode(p, n, a, &in);
    w->in->arch->detail->lift(p, n, a, op);
    if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT) {
        op->clobbers |= w->in->arch->detail->call_clobbers;
        op->compare = COMPARE_UNKNOWN;
        op->stack = 0; /* what it pushes, the return pops */
        op->stack_lost = false;
        op->calls = true;
    }
    *cached = (struct lifted){w->jumptable->round, at, *op};
}

static unsigned length_at(const struct cfg_work *w, pos at)
{
    const struct cfg_part *part = cfg_part_at(w, at);
    struct insn in;
    w->in->arch->decode(part->bytes + (at - part->first), (size_t)(part->end - part->begin) - (at - part->first), 0,
                        &in);
    return in.length;
}

/* The instruction that control runs from into p, or POS_NONE. */
static pos line_pred(const struct cfg_work *w, pos p)
{
    const struct cfg_part *part = cfg_part_at(w, p);
    for (pos q = p; q-- > part->first && p - q <= 16;) {
        if (!bit_get(w->start, q) || q + length_at(w, q) != p)
            continue;
        size_t t = cfg_term_from(w, q);
        bool ends = t < w->terms.count && w->terms.items[t].at == q && !w->terms.items[t].goes_on;
        return ends ? POS_NONE : q;
    }
    return POS_NONE;
}

static int by_target(const void *a, const void *b)
{
    const struct branch_pred *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void list_branch_preds(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    j->preds.count = 0;
    for (size_t i = 0; i < w->terms.count; i++)
        if (w->terms.items[i].target != POS_NONE)
            *vec_push(&j->preds) = (struct branch_pred){w->terms.items[i].target, w->terms.items[i].at};
    for (size_t i = 0; i < w->indirects.count; i++)
        for (uint32_t k = 0; !w->indirects.items[i].shares && k < w->indirects.items[i].target_count; k++)
            *vec_push(&j->preds) = (struct branch_pred){w->targets.items[w->indirects.items[i].target_first + k],
                                                        w->indirects.items[i].at};
    if (j->preds.count > 1)
        qsort(j->preds.items, j->preds.count, sizeof *j->preds.items, by_target);
}

struct ways { /* into a place: one by the line, the others by branches */
    pos line; /* or POS_NONE */
    const struct branch_pred *branches;
    size_t branch_count, count;
};

static struct ways ways_into(const struct cfg_work *w, pos p)
{
    struct jumptable_work *j = w->jumptable;
    count_step(j);
    struct ways r = {.line = line_pred(w, p)};
    if (bit_get(w->leader, p) && j->preds.count) {
        size_t lo = 0, hi = j->preds.count;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (j->preds.items[mid].target < p)
                lo = mid + 1;
            else
                hi = mid;
        }
        r.branches = j->preds.items + lo;
        while (lo + r.branch_count < j->preds.count && j->preds.items[lo + r.branch_count].target == p &&
               r.branch_count <= JOIN_MAX) /* more than are followed */
            r.branch_count++;
    }
    r.count = r.branch_count + (r.line != POS_NONE);
    return r;
}

static pos way(const struct ways *v, size_t i)
{
    return i < v->branch_count ? v->branches[i].from : v->line;
}

/* The only instruction control comes from to p, or POS_NONE. */
static pos only_pred(const struct cfg_work *w, pos p)
{
    struct ways v = ways_into(w, p);
    return v.count == 1 ? way(&v, 0) : POS_NONE;
}

static bool out_of_steps(const struct cfg_work *w)
{
    return w->jumptable->steps > STEPS_MAX || w->jumptable->steps_left < 0;
}

/* ---- following values back ------------------------------------------------------------------------ */

/* Does this instruction give the place another value, or make us lose it? */
static bool redefines(const struct op *op, struct place place)
{
    if (!place.slot)
        return op->clobbers >> place.reg & 1;
    if (place.reg != ARCH_NO_REG && (op->clobbers >> place.reg & 1))
        return true;
    return op->kind == OP_STORE && op->index == ARCH_NO_REG && op->base == place.reg && op->disp == place.disp;
}

/* Back from before p to what gave the place its value. */
static struct root find_root(struct cfg_work *w, struct place place, pos p, struct op *op)
{
    while (!out_of_steps(w)) {
        pos q = only_pred(w, p);
        if (q == POS_NONE)
            break;
        lift_at(w, q, op);
        if (redefines(op, place))
            return (struct root){place, q, true};
        p = q;
    }
    return (struct root){place, p, false};
}

static struct form constant_form(uint64_t value)
{
    return (struct form){.kind = FORM_CONST, .add = value};
}

static struct form root_form(struct root r, uint64_t limit)
{
    return (struct form){.kind = FORM_LINEAR, .scale = 1, .root = r, .limit = limit};
}

static struct form eval(struct cfg_work *w, struct place place, pos p, unsigned depth);
static bool search_constant(struct cfg_work *w, uint8_t reg, pos p, uint64_t *value);
static pos plausible(const struct cfg_work *w, vaddr target);

static struct form eval_register(struct cfg_work *w, uint8_t reg, pos p, unsigned depth)
{
    return reg == ARCH_NO_REG ? constant_form(0) : eval(w, (struct place){.reg = reg}, p, depth);
}

static void scale_form(struct form *f, int64_t by)
{
    f->add *= (uint64_t)by;
    f->scale *= by;
}

/* An entry of a table that is no target but a number: the index into another table. */
static void demote_entry(struct form *f)
{
    if (f->kind == FORM_ENTRY)
        *f = root_form(f->self, f->sign ? 0 : f->size == 1 ? 256 : f->size == 2 ? 65536 : 0);
}

/* *a += b; false: the sum has no form of ours. */
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

/* base + index * scale + disp before p. Where one of two registers is a value we lost at a join, it may still be one
 * constant on all ways. */
static bool eval_address(struct cfg_work *w, const struct op *op, pos p, unsigned depth, struct form *sum)
{
    struct form base = eval_register(w, op->base, p, depth), index = eval_register(w, op->index, p, depth);
    uint64_t value;
    if (op->kind != OP_ADDRESS) {
        demote_entry(&base);
        demote_entry(&index);
    }
    if (base.kind != FORM_CONST && index.kind != FORM_CONST) {
        if (base.kind == FORM_LINEAR && search_constant(w, op->base, p, &value))
            base = constant_form(value);
        else if (index.kind == FORM_LINEAR && op->scale == 1 && search_constant(w, op->index, p, &value))
            index = constant_form(value);
    }
    if (index.kind == FORM_ENTRY && op->index_size != 0) {
        index.size = op->index_size < index.size ? op->index_size : index.size;
        index.sign = op->index_sign;
    }
    scale_form(&index, op->scale);
    *sum = constant_form((uint64_t)op->disp);
    if (base.kind == FORM_CONST)
        return add_forms(sum, &base), add_forms(sum, &index);
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
        f->add = (uint64_t)(int64_t)(int32_t)f->add; /* what is added wraps: an index is a small number */
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
    size_t avail;
    if (s == NULL || (s->writable && !str_starts(s->name, ".data.rel.ro")))
        return false;
    *f = constant_form(0);
    if (op->size == 8)
        return image_pointer(w->in->image, at, &f->add);
    const uint8_t *p = image_bytes(w->in->image, at, &avail);
    if (p == NULL || avail < op->size || op->size > 4)
        return false;
    for (unsigned k = op->size; k-- > 0;)
        f->add = f->add << 8 | p[k];
    narrow(f, op);
    return true;
}

/* table + step * (index_add + root): what is added to the root before it is scaled belongs to the index, which begins
 * at zero. */
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
    struct form part = eval_register(w, op->index, def.at, depth);
    int64_t scale = op->scale;
    demote_entry(&part);
    if (part.kind != FORM_LINEAR) { /* -O0: the scaled index is the base, the table the index */
        part = eval_register(w, op->base, def.at, depth);
        demote_entry(&part);
        scale = 1;
    }
    if (part.kind == FORM_LINEAR && part.scale > 0 && (int64_t)part.add % part.scale == 0) {
        f.index_add = (uint64_t)((int64_t)part.add / part.scale);
        f.table -= part.add * (uint64_t)scale;
    }
    return f;
}

static struct form eval_load(struct cfg_work *w, struct op op, struct root def, unsigned depth)
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
    f = eval(w, (struct place){.slot = true, .reg = op.base, .disp = op.disp}, def.at, depth);
    uint64_t limit = op.sign ? 0 : values_of_size(op.size);
    if (f.kind == FORM_LINEAR && limit != 0 && (f.limit == 0 || f.limit > limit))
        f.limit = limit;
    return f;
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
        return eval_load(w, *op, def, depth);
    case OP_AND:
        if (op->dst == def.place.reg && op->disp >= 0 && op->disp < ENTRIES_MAX)
            return root_form(def, (uint64_t)op->disp + 1);
        break;
    case OP_SHIFT_R:
        if (op->dst == def.place.reg && op->disp > 0 && op->disp < 8 * op->size) {
            f = eval_register(w, op->base, def.at, depth);
            uint64_t limit = f.kind == FORM_LINEAR && f.scale == 1 && f.add == 0 ? f.limit : 0;
            if (limit == 0 && 8 * op->size - op->disp <= 16)
                limit = 1ull << (8 * op->size);
            return root_form(def, limit >> op->disp);
        }
        break;
    default:
        break;
    }
    return root_form(def, 0);
}

static struct form eval_root(struct cfg_work *w, struct root r, const struct op *op, unsigned depth)
{
    if (!r.defined || depth == 0 || out_of_steps(w))
        return root_form(r, 0);
    if (!r.place.slot)
        return eval_definition(w, op, r, depth - 1);
    if (op->kind == OP_STORE && op->src != ARCH_NO_REG && op->base == r.place.reg && op->disp == r.place.disp)
        return eval_register(w, op->src, r.at, depth - 1);
    return root_form(r, 0);
}

/* The value of a place before the instruction at p. Always a form: at worst "what the place holds here". */
static struct form eval(struct cfg_work *w, struct place place, pos p, unsigned depth)
{
    struct op op;
    struct root r = find_root(w, place, p, &op);
    return eval_root(w, r, &op, depth);
}

/* The same behind the instruction at p. */
static struct root find_root_after(struct cfg_work *w, struct place place, pos p, struct op *op)
{
    lift_at(w, p, op);
    return redefines(op, place) ? (struct root){place, p, true} : find_root(w, place, p, op);
}

static struct form eval_after(struct cfg_work *w, struct place place, pos p, unsigned depth)
{
    struct op op;
    struct root r = find_root_after(w, place, p, &op);
    return eval_root(w, r, &op, depth);
}

/* ---- constants lost at joins ------------------------------------------------------------------------- */

static bool visit(struct jumptable_work *j, pos p)
{
    for (size_t i = 0; i < j->visited.count; i++)
        if (j->visited.items[i] == p)
            return false;
    *vec_push(&j->visited) = p;
    return true;
}

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

/* What one definition of a register says: a constant, or nothing. */
static bool defined_constant(struct cfg_work *w, const struct op *op, struct root r, uint64_t *value)
{
    struct form f = root_form(r, 0);
    if (op->kind == OP_ADDRESS && op->dst == r.place.reg &&
        op->index == ARCH_NO_REG) { /* lea, a copy, the add after adrp */
        f = eval_register(w, op->base, r.at, 4);
        f.add += (uint64_t)op->disp;
    } else if (op->kind == OP_LOAD && op->dst == r.place.reg && op->index == ARCH_NO_REG) { /* spilled */
        f = eval(w, (struct place){.slot = true, .reg = op->base, .disp = op->disp}, r.at, 4);
    }
    *value = f.add;
    return f.kind == FORM_CONST;
}

/* Is the register the same constant on all ways to p? j->visited: instructions behind which its value is asked for. */
static bool same_constant_on_all_ways(struct cfg_work *w, uint8_t reg, pos p, uint64_t *value)
{
    struct jumptable_work *j = w->jumptable;
    struct place place = {.reg = reg};
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
            struct ways v = ways_into(w, r.at);
            if (v.count == 0) /* the function's start: it came from the caller */
                return false;
            for (size_t i = 0; i < v.count; i++)
                visit(j, way(&v, i));
        }
        if (done == j->visited.count)
            return any;
        r = find_root_after(w, place, j->visited.items[done], &op);
    }
}

/* The same; where ways differ or are lost, a label of this function that the register is given nearby will do: tables
   of differences of labels (printf's) have one label as their base throughout. */
static bool search_constant(struct cfg_work *w, uint8_t reg, pos p, uint64_t *value)
{
    struct jumptable_work *j = w->jumptable;
    if (j->searching) /* a value made from another that was lost at a join: too far away */
        return false;
    j->searching = true;
    bool found = same_constant_on_all_ways(w, reg, p, value);
    j->searching = false;
    return found || (nearest_constant_of(j, reg, p, value) && plausible(w, *value) != POS_NONE);
}

/* ---- how many entries ----------------------------------------------------------------------------------- */

/* index = f->index_add + root of f */
struct index {
    uint64_t add;
    struct root root;
};

/* The comparison whose flags a branch at b uses. */
static bool find_compare(struct cfg_work *w, pos b, struct op *op, pos *at)
{
    pos p = b;
    for (int i = 0; i < 16; i++) {
        p = only_pred(w, p);
        if (p == POS_NONE || out_of_steps(w))
            return false;
        lift_at(w, p, op);
        if (op->compare != COMPARE_NONE) {
            *at = p;
            return op->compare != COMPARE_UNKNOWN;
        }
    }
    return false;
}

/* Values that pass: 0 .. result - 1. 0: the test says nothing of the kind. */
static uint64_t passing(enum branch_test test, bool taken, uint64_t c)
{
    switch (test) {
    case TEST_ABOVE:
    case TEST_GREATER_SIGNED:
        return taken ? 0 : c + 1;
    case TEST_ABOVE_EQUAL:
        return taken ? 0 : c;
    case TEST_BELOW:
        return taken ? c : 0;
    case TEST_BELOW_EQUAL:
    case TEST_LESS_EQUAL_SIGNED:
        return taken ? c + 1 : 0;
    case TEST_EQUAL:
        return taken ? c + 1 : 0;
    case TEST_NOT_EQUAL:
        return taken ? 0 : c + 1;
    default:
        return 0;
    }
}

/* How many values the index can have when control came by this branch, taken or not; 0: it does not say. */
static uint64_t guarded(struct cfg_work *w, const struct index *x, pos b, bool taken)
{
    const struct cfg_part *part = cfg_part_at(w, b);
    struct op op = {0}, branch = {0};
    pos at;
    enum branch_test test = w->in->arch->detail->test(part->bytes + (b - part->first),
                                                      (size_t)(part->end - part->begin) - (b - part->first),
                                                      part->begin + (b - part->first), &branch);
    if (test == TEST_OTHER || !find_compare(w, b, &op, &at))
        return 0;
    struct form c = {.kind = FORM_CONST, .add = (uint64_t)op.cmp_const}, value;
    if (op.compare == COMPARE_REG)
        c = eval_register(w, op.cmp_reg2, at, 6);
    if (op.compare == COMPARE_MEM_CONST) {
        if (op.index != ARCH_NO_REG)
            return 0;
        value = eval(w, (struct place){.slot = true, .reg = op.base, .disp = op.disp}, at, DEPTH_MAX);
    } else {
        value = eval_register(w, op.cmp_reg, at, DEPTH_MAX);
    }
    demote_entry(&value);
    if (c.kind != FORM_CONST || value.kind != FORM_LINEAR || value.scale <= 0 || !same_root(&value.root, &x->root))
        return 0;
    uint64_t constant = op.cmp_size < 8 && op.cmp_size > 0 ? c.add & ((1ull << (8 * op.cmp_size)) - 1) : c.add;
    uint64_t n = passing(test, taken, constant);
    if (n == 0 || n > INT32_MAX)
        return 0;
    /* add + scale * root < n, so root < (n - add) / scale */
    int64_t roots = ((int64_t)n - (int64_t)value.add + value.scale - 1) / value.scale;
    return (uint64_t)roots + x->add;
}

/* How many values the index can have before p; 0: cannot tell. */
static uint64_t bound(struct cfg_work *w, const struct index *x, pos p, unsigned depth)
{
    for (int i = 0; i < 200 && !out_of_steps(w); i++) {
        struct ways v = ways_into(w, p);
        if (v.count == 0 || (v.count > 1 && (depth == 0 || v.count > JOIN_MAX)))
            break;
        if (v.count == 1) {
            pos from = way(&v, 0);
            size_t t = cfg_term_from(w, from);
            if (t < w->terms.count && w->terms.items[t].at == from && w->terms.items[t].kind == INSN_BRANCH) {
                uint64_t n = guarded(w, x, from, v.branch_count == 1);
                if (n > 0 && n <= ENTRIES_MAX)
                    return n;
            }
            if (x->root.defined && from == x->root.at)
                break;
            p = from;
            continue;
        }
        uint64_t most = 0;
        for (size_t k = 0; k < v.count; k++) {
            pos from = way(&v, k);
            struct index here = *x;
            uint64_t n = 0;
            if (!x->root.defined && x->root.at == p) {
                struct form f = eval_after(w, x->root.place, from, DEPTH_MAX);
                demote_entry(&f);
                if (f.kind == FORM_CONST)
                    n = f.add + x->add + 1;
                else if (f.kind != FORM_LINEAR || f.scale != 1)
                    return 0;
                here = (struct index){x->add + f.add, f.root};
            }
            size_t t = cfg_term_from(w, from);
            if (n == 0 && t < w->terms.count && w->terms.items[t].at == from && w->terms.items[t].kind == INSN_BRANCH)
                n = guarded(w, &here, from, k < v.branch_count);
            if (n == 0)
                n = bound(w, &here, from, depth - 1);
            if (n == 0 || n > ENTRIES_MAX)
                return 0;
            most = n > most ? n : most;
        }
        return most;
    }
    return 0;
}

/* ---- reading tables ---------------------------------------------------------------------------------------- */

static bool read_entry(const struct cfg_work *w, const struct form *f, uint64_t i, uint64_t *entry)
{
    const struct image *im = w->in->image;
    vaddr a = f->table + i * (uint64_t)f->step;
    size_t avail = 0;
    if (f->size == 8)
        return image_pointer(im, a, entry);
    const uint8_t *p = image_bytes(im, a, &avail);
    if (p == NULL || avail < f->size || f->size == 0 || f->size > 4)
        return false;
    uint64_t v = 0;
    for (unsigned k = f->size; k-- > 0;)
        v = v << 8 | p[k];
    unsigned shift = 64 - 8u * f->size;
    *entry = f->sign ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
    return true;
}

/* A place in this function where an instruction is or may be. */
static pos plausible(const struct cfg_work *w, vaddr target)
{
    pos p = cfg_position(w, target);
    if (p == POS_NONE || bit_get(w->table, p) || (target & (w->in->arch->min_length - 1)) != 0)
        return POS_NONE;
    return bit_get(w->covered, p) && !bit_get(w->start, p) ? POS_NONE : p;
}

static int by_address(const void *a, const void *b)
{
    vaddr x = *(const vaddr *)a, y = *(const vaddr *)b;
    return x < y ? -1 : x > y;
}

static vaddr next_in(const struct VEC_vaddr *sorted, vaddr after)
{
    size_t lo = 0, hi = sorted->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (sorted->items[mid] <= after)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < sorted->count ? sorted->items[lo] : UINT64_MAX;
}

/* Compilers put the tables of one function after those of the one before. So the addresses that the next functions make
   tell where our last table ends. Their instructions are swept in a line: that is good enough for addresses. */
static void list_neighbours(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    const struct function_index *x = &w->index;
    uint64_t swept = 0;
    j->neighbours.count = 0;
    j->have_neighbours = true;
    for (uint32_t f = w->in->function + 1; f < x->count && swept < NEIGHBOUR_BYTES; f++) {
        size_t avail = 0;
        vaddr a = x->functions[f].begin, size = x->functions[f].end - a;
        const uint8_t *p = image_bytes(w->in->image, a, &avail);
        size = size < avail ? size : avail;
        size = size < NEIGHBOUR_BYTES ? size : NEIGHBOUR_BYTES;
        for (uint64_t at = 0; p != NULL && at < size;) {
            struct insn in;
            uint8_t reg;
            vaddr value;
            if (w->in->arch->detail->constant(p + at, size - at, a + at, &reg, &value))
                *vec_push(&j->neighbours) = value;
            w->in->arch->decode(p + at, size - at, a + at, &in);
            at += in.length;
        }
        swept += size;
    }
    if (j->neighbours.count > 1)
        qsort(j->neighbours.items, j->neighbours.count, sizeof *j->neighbours.items, by_address);
}

/* Where the object that follows the one at `table` begins, as far as code here and in the next functions tells. */
static vaddr next_object(struct cfg_work *w, vaddr table)
{
    struct jumptable_work *j = w->jumptable;
    if (!j->have_neighbours)
        list_neighbours(w);
    vaddr own = next_in(&j->ends, table), other = next_in(&j->neighbours, table);
    return own < other ? own : other;
}

/* Table bytes that lie in code are never decoded. */
static void mark_table(struct cfg_work *w, const struct form *f, uint64_t count)
{
    const struct image_section *s = image_section_at(w->in->image, f->table);
    if (s == NULL || !s->exec)
        return;
    uint64_t bytes = (count - 1) * (uint64_t)f->step + f->size;
    for (uint64_t i = 0; i < bytes; i++) {
        pos p = cfg_position(w, f->table + i);
        if (p == POS_NONE) {
            w->table_bytes++;
        } else if (!bit_get(w->covered, p) && !bit_get(w->table, p)) {
            bit_set(w->table, p);
            w->table_bytes++;
        }
    }
}

/* Would code at p fit in with the code that is known? Decodes ahead, remembering in the tentative maps, up to known
   code or a place where control does not go on. What was read beyond a table's end leads to arbitrary bytes, and soon
   comes in the middle of an instruction. */
static bool fits(struct cfg_work *w, pos p)
{
    struct jumptable_work *j = w->jumptable;
    const struct cfg_part *part = cfg_part_at(w, p);
    const pos end = part->first + (pos)(part->end - part->begin);
    bool after_call = false; /* that never returns, if the function ends there */
    for (int i = 0; i < 200 && p < end; i++) {
        if (bit_get(w->start, p) || bit_get(w->maybe_start, p))
            return true;
        struct insn in;
        w->in->arch->decode(part->bytes + (p - part->first), end - p, part->begin + (p - part->first), &in);
        for (pos k = p; k < p + in.length; k++)
            if (bit_get(w->covered, k) || bit_get(w->maybe_covered, k))
                return false;
        if (in.kind == INSN_BAD)
            return in.length > 1;
        bit_set(w->maybe_start, p);
        *vec_push(&j->tentative) = p;
        for (pos k = p; k < p + in.length; k++) {
            bit_set(w->maybe_covered, k);
            *vec_push(&j->tentative) = k;
        }
        if (in.kind == INSN_JUMP || in.kind == INSN_JUMP_INDIRECT || in.kind == INSN_RETURN || in.kind == INSN_STOP)
            return true;
        after_call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT || (after_call && in.kind == INSN_PADDING);
        p += in.length;
    }
    return p < end || after_call;
}

static void forget_tentative(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    for (size_t i = 0; i < j->tentative.count; i++) {
        bit_clear(w->maybe_start, j->tentative.items[i]);
        bit_clear(w->maybe_covered, j->tentative.items[i]);
    }
    j->tentative.count = 0;
}

enum reading { NO_TABLE, TABLE, LATER, FOREIGN_TABLE };

enum entry { ENTRY_NONE, ENTRY_LABEL, ENTRY_HOLE, ENTRY_ELSEWHERE, ENTRY_FUNCTION };

/* clang gives cases that cannot happen (__builtin_unreachable) the label of an empty block, which often is the last:
 * the end of the function. */
static bool is_end_of_part(const struct cfg_work *w, vaddr a)
{
    for (size_t i = 0; i < w->parts.count; i++)
        if (w->parts.items[i].end == a)
            return true;
    return false;
}

static enum entry read_target(struct cfg_work *w, const struct form *f, uint64_t i, pos *p)
{
    uint64_t entry;
    if (!read_entry(w, f, i, &entry))
        return ENTRY_NONE;
    vaddr target = f->add + entry * (uint64_t)f->scale;
    if (f->size == 4 && f->add == 0 && f->scale == 1)
        target = (uint32_t)target;
    *p = plausible(w, target);
    if (*p != POS_NONE)
        return ENTRY_LABEL;
    if (is_end_of_part(w, target))
        return ENTRY_HOLE;
    uint32_t other = function_index_find(&w->index, target);
    if (other == FUNCTION_NONE || other == w->in->function)
        return ENTRY_NONE;
    /* Into the middle of another function: a stripped binary does not say that this is our cold part. */
    return w->index.functions[other].begin == target ? ENTRY_FUNCTION : ENTRY_ELSEWHERE;
}

/* A guarded table may have entries that leave for other functions, or for nowhere. */
static enum reading read_guarded_table(struct cfg_work *w, const struct form *f, uint64_t n)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    uint64_t counts[5] = {0};
    for (uint64_t i = 0; i < n && j->entries_left > 0; i++, j->entries_left--) {
        pos p;
        enum entry e = read_target(w, f, i, &p);
        counts[e]++;
        if (e == ENTRY_LABEL)
            *vec_push(&j->found) = p;
    }
    if (counts[ENTRY_LABEL] == 0 && counts[ENTRY_FUNCTION] > 0)
        return FOREIGN_TABLE;
    if (counts[ENTRY_LABEL] + counts[ENTRY_ELSEWHERE] == 0 || counts[ENTRY_NONE] * 2 > n) {
        j->found.count = before;
        return NO_TABLE;
    }
    mark_table(w, f, n);
    return TABLE;
}

/* Where nothing says how long the table is. */
static enum reading read_open_table(struct cfg_work *w, const struct form *f, uint64_t most)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    vaddr end = next_object(w, f->table);
    uint64_t i;
    enum entry e = ENTRY_NONE;
    for (i = 0; i < most && f->table + i * (uint64_t)f->step < end && j->entries_left > 0; i++, j->entries_left--) {
        pos p;
        e = read_target(w, f, i, &p);
        if (e != ENTRY_HOLE && (e != ENTRY_LABEL || !fits(w, p)))
            break;
        if (e == ENTRY_LABEL)
            *vec_push(&j->found) = p;
    }
    forget_tentative(w);
    if (i == 0 && e == ENTRY_FUNCTION && f->size == 8)
        return FOREIGN_TABLE;
    if (i < 2 || j->found.count == before) { /* one entry may be chance */
        j->found.count = before;
        return NO_TABLE;
    }
    mark_table(w, f, i);
    return TABLE;
}

/* Appends where the entries lead. LATER: it has no guard, and those that have one come first. */
static enum reading read_table(struct cfg_work *w, const struct form *f)
{
    struct jumptable_work *j = w->jumptable;
    struct index x = {f->index_add, f->root};
    uint64_t n = bound(w, &x, f->self.at, 4), most = ENTRIES_MAX;
    if (n > 0 && n <= ENTRIES_MAX)
        return read_guarded_table(w, f, n);
    if (j->guarded_only)
        return LATER;
    if (f->limit != 0 && f->limit + f->index_add < most)
        most = f->limit + f->index_add;
    return read_open_table(w, f, most);
}

/* ---- addresses the code makes --------------------------------------------------------------------------------- */

static void list_constants(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    bool (*constant)(const uint8_t *, size_t, vaddr, uint8_t *, vaddr *) = w->in->arch->detail->constant;
    j->constants.count = j->ends.count = 0;
    for (pos p = bit_next(w->start, 0, w->end); p < w->end; p = bit_next(w->start, p + 1, w->end)) {
        const struct cfg_part *part = cfg_part_at(w, p);
        struct constant c = {.at = p};
        if (constant(part->bytes + (p - part->first), (size_t)(part->end - part->begin) - (p - part->first),
                     part->begin + (p - part->first), &c.reg, &c.value)) {
            *vec_push(&j->constants) = c;
            *vec_push(&j->ends) = c.value;
        }
    }
    if (j->ends.count > 1)
        qsort(j->ends.items, j->ends.count, sizeof *j->ends.items, by_address);
}

/* Labels that code or tables of pointers, whose address the code makes, hold. */
static void list_labels(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    j->labels.count = 0;
    for (size_t i = 0; i < j->constants.count; i++) {
        vaddr a = j->constants.items[i].value, target;
        pos p = plausible(w, a);
        if (p != POS_NONE && a != w->in->functions->functions[w->in->function].begin)
            *vec_push(&j->labels) = p;
        size_t before = j->labels.count;
        if (a % 8 != 0 || p != POS_NONE)
            continue;
        for (unsigned k = 0; k < ENTRIES_MAX && image_pointer(w->in->image, a + 8 * k, &target); k++) {
            p = plausible(w, target);
            if (p == POS_NONE)
                break;
            *vec_push(&j->labels) = p;
        }
        if (j->labels.count == before + 1) /* one pointer is no table */
            j->labels.count = before;
    }
}

/* ---- tail calls ----------------------------------------------------------------------------------------------------
 */

/* Right before the jump, in its line, the frame is taken down: the last change of the stack pointer gives memory back,
   and not after a call, whose arguments it might be. */
static bool taken_down_before(struct cfg_work *w, pos p)
{
    struct op op = {0};
    for (int i = 0; i < 32 && op.stack <= 0 && !op.stack_lost; i++) {
        p = line_pred(w, p);
        if (p == POS_NONE || out_of_steps(w))
            return false;
        lift_at(w, p, &op);
        if (op.stack < 0 || op.calls)
            return false;
    }
    while (op.stack > 0 || op.stack_lost) {
        p = line_pred(w, p);
        if (p == POS_NONE || out_of_steps(w))
            return true;
        lift_at(w, p, &op);
    }
    return !op.calls;
}

/* The stack pointer was set from the frame pointer, and `added` bytes given back since. */
static bool back_at_entry(const struct cfg_work *w, int64_t added)
{
    int64_t height = w->in->arch->detail->frame_height;
    return height != 0 ? added == height : added > 0;
}

/* Is the stack pointer at this place where it was at the function's entry? Any way back to the entry tells, since code
   keeps its stack in order. The search goes back from place to place, each with what has been added to the stack
   pointer from there to the jump. */
static bool frame_is_gone(struct cfg_work *w, pos jump)
{
    struct jumptable_work *j = w->jumptable;
    pos entry = w->entries.items[0];
    j->heights.count = j->visited.count = 0;
    *vec_push(&j->heights) = (struct height){jump, 0};
    for (size_t done = 0; done < j->heights.count && !out_of_steps(w); done++) {
        struct height h = j->heights.items[done];
        for (bool more = true; more && !out_of_steps(w);) {
            if (h.at == entry)
                return h.added == 0 || taken_down_before(w, jump);
            struct ways v = ways_into(w, h.at);
            more = false;
            for (size_t i = v.count; i-- > 0;) { /* the line is the last of the ways, and taken first */
                pos from = way(&v, i);
                if (v.count > 1 && (j->visited.count >= JOIN_MAX || !visit(j, from)))
                    continue;
                struct op op;
                lift_at(w, from, &op);
                struct height next = {from, h.added + op.stack};
                if (op.stack_lost)
                    return op.from_frame && back_at_entry(w, next.added);
                if (v.count == 1) {
                    h = next;
                    more = true;
                } else {
                    *vec_push(&j->heights) = next;
                }
            }
        }
    }
    return taken_down_before(w, jump);
}

/* ---- one jump
 * --------------------------------------------------------------------------------------------------------- */

static int by_position(const void *a, const void *b)
{
    pos x = *(const pos *)a, y = *(const pos *)b;
    return x < y ? -1 : x > y;
}

static void keep_targets(struct cfg_work *w, struct indirect *in)
{
    struct jumptable_work *j = w->jumptable;
    vec_sort(&j->found, by_position);
    in->target_first = (uint32_t)w->targets.count;
    for (size_t i = 0; i < j->found.count; i++)
        if (i == 0 || j->found.items[i] != j->found.items[i - 1])
            *vec_push(&w->targets) = j->found.items[i];
    in->target_count = (uint32_t)w->targets.count - in->target_first;
}

/* All jumps of a round that may go to every label share one list of targets. */
static void keep_labels(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    struct indirect in = {0};
    list_labels(w);
    j->found.count = 0;
    for (size_t i = 0; i < j->labels.count; i++)
        *vec_push(&j->found) = j->labels.items[i];
    keep_targets(w, &in);
    j->label_first = in.target_first;
    j->label_count = in.target_count;
    j->have_labels = true;
}

/* label + scale * number: pieces of code of equal length, as in hand-written memcpy. */
static enum reading read_stride(struct cfg_work *w, const struct form *f)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    for (uint64_t i = 0; i < STRIDES_MAX && j->entries_left > 0; i++, j->entries_left--) {
        pos p = plausible(w, f->add + i * (uint64_t)f->scale);
        if (p == POS_NONE || !fits(w, p))
            break;
        *vec_push(&j->found) = p;
    }
    forget_tentative(w);
    return j->found.count > before ? TABLE : NO_TABLE;
}

/* Forms of the address jumped to, on each way where a join came between the table and the jump. */
static enum reading follow(struct cfg_work *w, struct form f, unsigned depth)
{
    struct jumptable_work *j = w->jumptable;
    if (f.kind == FORM_ENTRY)
        return read_table(w, &f);
    if (f.kind == FORM_LINEAR && f.scale > 1 && plausible(w, f.add) != POS_NONE)
        return j->guarded_only ? LATER : read_stride(w, &f);
    if (f.kind != FORM_LINEAR || f.root.defined || f.root.place.slot || f.scale != 1 || f.add != 0 || depth == 0)
        return NO_TABLE;
    struct ways v = ways_into(w, f.root.at);
    enum reading result = NO_TABLE;
    for (size_t i = 0; v.count > 1 && i < v.count && i < JOIN_MAX; i++) {
        enum reading one = follow(w, eval_after(w, f.root.place, way(&v, i), DEPTH_MAX), depth - 1);
        if (one == LATER)
            return LATER;
        if (result == NO_TABLE || one == TABLE)
            result = one;
    }
    return result;
}

static struct form address_of_jump(struct cfg_work *w, pos at)
{
    struct op op;
    lift_at(w, at, &op);
    if (op.kind == OP_JUMP)
        return eval_register(w, op.base, at, DEPTH_MAX);
    if (op.kind == OP_JUMP_LOAD)
        return eval_load(w, op, (struct root){.at = at, .defined = true}, DEPTH_MAX);
    return constant_form(0);
}

static void resolve(struct cfg_work *w, struct indirect *in)
{
    struct jumptable_work *j = w->jumptable;
    if (j->steps_left < 0) {
        in->state = INDIRECT_UNKNOWN;
        return;
    }
    j->steps = 0;
    j->found.count = 0;
    struct form f = address_of_jump(w, in->at);
    uint64_t value;
    if (f.kind == FORM_LINEAR && f.scale == 1 && f.add == 0 && !f.root.defined && !f.root.place.slot &&
        search_constant(w, f.root.place.reg, f.root.at, &value)) /* a label that a register holds all the time */
        f = constant_form(value);
    enum reading reading = NO_TABLE;
    if (f.kind == FORM_CONST && f.add != 0 && plausible(w, f.add) != POS_NONE) {
        *vec_push(&j->found) = plausible(w, f.add);
        reading = TABLE;
    } else {
        reading = follow(w, f, 2);
    }
    if (reading == LATER)
        return;
    if (reading == TABLE) {
        in->state = INDIRECT_RESOLVED;
        keep_targets(w, in);
        return;
    }
    j->steps = 0;
    if (reading == FOREIGN_TABLE || frame_is_gone(w, in->at)) {
        in->state = INDIRECT_TAIL_CALL;
        return;
    }
    if (j->guarded_only) /* more code may show more labels */
        return;
    if (!j->have_labels)
        keep_labels(w);
    in->state = j->label_count >= 2 ? INDIRECT_RESOLVED : INDIRECT_UNKNOWN;
    in->target_first = j->label_first;
    in->target_count = j->label_count >= 2 ? j->label_count : 0;
    in->shares = j->labels_used;
    j->labels_used = true;
}

/* First those whose table has a known length: what they lead to helps to tell where the others' tables end. */
bool jumptable_resolve(struct cfg_work *w, bool new_function)
{
    if (w->jumptable == NULL)
        w->jumptable = mem_calloc(1, sizeof *w->jumptable);
    struct jumptable_work *j = w->jumptable;
    j->round++;
    j->have_labels = j->labels_used = false;
    if (new_function) {
        j->have_neighbours = false;
        j->entries_left = ENTRIES_MAX + 4ull * w->end;
        j->steps_left = STEPS_OF_FUNCTION + 2ll * w->end;
    }
    list_branch_preds(w);
    list_constants(w);
    bool progress = false;
    j->guarded_only = true;
    for (int pass = 0; pass < 2 && !progress; pass++, j->guarded_only = false)
        for (size_t i = 0; i < w->indirects.count; i++)
            if (w->indirects.items[i].state == INDIRECT_NEW) {
                resolve(w, &w->indirects.items[i]);
                progress |= w->indirects.items[i].state != INDIRECT_NEW;
            }
    return progress;
}
