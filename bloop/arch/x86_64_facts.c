/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of x86-64 instructions, including AVX-512. Zydis lists the operands, hidden ones too, with types and actions; the
 * kind of operation follows from the mnemonic.
 */
#include "bloop/arch/facts.h"
#include "bloop/arch/x86_64.h"

#include <stdatomic.h>

/* ---- kind of calculation ---- */

struct name_class {
    uint8_t class;
    const char *prefixes;
};

/* Names as Zydis has them, without the v of VEX and EVEX forms; the longest prefix of a name counts. */
static const struct name_class names[] = {
    {CLASS_MULTIPLY, "mulx mul imul pmul"},
    {CLASS_ADD, "subadd inc adc add adox sub sbb dec neg xadd hadd hsub padd psub phadd phsub"},
    {CLASS_SELECT, "cmov pblend blend set"},
    {CLASS_MOVE, "cmpxchg pscatter pgather mov lddqu xchg lods stos gather scatter cb cwd cdq "
                 "cqo"},
    {CLASS_COMPARE, "comiss comisd ptest cmp ucomis test bt pcmp scas fpclass"},
    {CLASS_SHUFFLE, "compress movmsk movddup movshdup movsldup movhl movlh pmovmskb pmovm2 punpck "
                    "shuf insert bswap psh unpck perm pperm pextr pinsr extract broadcast "
                    "pbroadcast palign align pack pcompress pexpand expand"},
    {CLASS_CONVERT, "pmov cvt"},
    {CLASS_MULTIPLY_ADD, "pmadd pdp dpbf fmadd fmsub fnmadd fnmsub dpp"},
    {CLASS_PREFETCH, "prefetch"},
    {CLASS_ARITHMETIC, "popcnt rsqrt pabs pavg psad mpsad dbpsad psign ppopcnt rcp round rndscale "
                       "reduce range getexp getmant scalef fixupimm lzcnt tzcnt bsf bsr"},
    {CLASS_STACK, "popf pop push enter"},
    {CLASS_LOGIC, "pand ptern and or xor not por pxor bls bzhi bts btr btc"},
    {CLASS_OTHER, "setss sha"},
    {CLASS_MINMAX, "minp mins max pmin pmax phmin"},
    {CLASS_ADDRESS, "lea"},
    {CLASS_DIVIDE, "div idiv"},
    {CLASS_SQUARE_ROOT, "sqrt"},
    {CLASS_SHIFT, "bextr sh sa ro rc psll psrl psra prol pror"},
    {CLASS_FENCE, "mfence lfence sfence"},
    {CLASS_NOP, "endbr"},
};

/* The same for x87, without the f; others are arithmetic. */
static const struct name_class x87_names[] = {
    {CLASS_ADD, "add sub iadd isub"}, {CLASS_MULTIPLY, "mul imul"},
    {CLASS_DIVIDE, "div idiv"},       {CLASS_SQUARE_ROOT, "sqrt"},
    {CLASS_COMPARE, "com ucom icom"}, {CLASS_SELECT, "cmov"},
    {CLASS_CONVERT, "ild ist"},       {CLASS_MOVE, "ld st xch"},
    {CLASS_LOGIC, "chs abs"},         {CLASS_NOP, "nop"},
};

static enum insn_class look_up(const struct name_class *rows, size_t count, const char *name, enum insn_class other)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        for (const char *p = rows[i].prefixes; *p;) {
            size_t n = strcspn(p, " ");
            if (n > longest && strncmp(name, p, n) == 0) {
                longest = n;
                other = rows[i].class;
            }
            p += n + (p[n] == ' ');
        }
    return other;
}

static enum insn_class class_by_name(const ZydisDecodedInstruction *z)
{
    const char *name = ZydisMnemonicGetString(z->mnemonic);
    if (z->meta.category == ZYDIS_CATEGORY_X87_ALU)
        return look_up(x87_names, ARRAY_SIZE(x87_names), name + (*name == 'f'), CLASS_ARITHMETIC);
    if (z->mnemonic == ZYDIS_MNEMONIC_LEAVE)
        return CLASS_STACK;
    if (z->meta.category == ZYDIS_CATEGORY_KMASK) /* kmovw, kandq, kortestb */
        name++;
    else if (*name == 'v' && z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        name++;
    return look_up(names, ARRAY_SIZE(names), name, CLASS_OTHER);
}

static enum insn_class class_of(const ZydisDecodedInstruction *z, const struct insn *in)
{
    /* Each name is looked up once: the list is long, and libraries have millions of instructions. 0: not yet. */
    static _Atomic uint8_t known[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    if (in->kind == INSN_PADDING)
        return CLASS_NOP;
    if (in->kind != INSN_PLAIN)
        return CLASS_CONTROL;
    if (z->meta.category == ZYDIS_CATEGORY_NOP || z->mnemonic == ZYDIS_MNEMONIC_PAUSE)
        return CLASS_NOP;
    uint8_t class = atomic_load_explicit(&known[z->mnemonic], memory_order_relaxed);
    if (!class) {
        class = (uint8_t)(class_by_name(z) + 1);
        atomic_store_explicit(&known[z->mnemonic], class, memory_order_relaxed);
    }
    return (enum insn_class)(class - 1);
}

/* ---- registers ---- */

static void add_register(struct reg_set *set, ZydisRegister r)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    int id = ZydisRegisterGetId(whole != ZYDIS_REGISTER_NONE ? whole : r);
    switch (ZydisRegisterGetClass(whole != ZYDIS_REGISTER_NONE ? whole : r)) {
    case ZYDIS_REGCLASS_GPR64:
        set->general |= 1u << (id & 31);
        break;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        set->vector |= 1u << (id & 31);
        break;
    case ZYDIS_REGCLASS_MASK:
        set->mask |= (uint16_t)(1u << (id & 7));
        break;
    case ZYDIS_REGCLASS_FLAGS:
        set->flags = true;
        break;
    case ZYDIS_REGCLASS_IP:
        break;
    default:
        set->other |= r != ZYDIS_REGISTER_NONE;
    }
}

static bool is_vector(ZydisRegister r)
{
    ZydisRegisterClass c = ZydisRegisterGetClass(r);
    return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
}

static bool is_mask(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_MASK;
}

static uint8_t general(ZydisRegister r)
{
    return r == ZYDIS_REGISTER_NONE || r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP
               ? FACTS_NO_REG
               : (uint8_t)ZydisRegisterGetId(r);
}

static void take_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn_facts *f)
{
    add_register(&f->reads, o->mem.base);
    add_register(&f->reads, o->mem.index);
    bool touches = o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_MASK_WRITE);
    if (!touches || f->class == CLASS_NOP || f->class == CLASS_PREFETCH || f->memory_count == ARRAY_SIZE(f->memory))
        return;
    struct insn_memory *m = &f->memory[f->memory_count++];
    *m = (struct insn_memory){.base = general(o->mem.base),
                              .index = general(o->mem.index),
                              .scale = o->mem.index != ZYDIS_REGISTER_NONE ? o->mem.scale : 1,
                              .vector_index = is_vector(o->mem.index),
                              .reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
                              .writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
                              .segment = o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS,
                              .disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
                              .size = (uint16_t)(o->size / 8)};
    if (o->mem.base == ZYDIS_REGISTER_RIP)
        m->disp = (int64_t)(f->insn.addr + z->length + (uint64_t)m->disp);
    if ((f->class == CLASS_STACK || f->class == CLASS_CONTROL) && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
        m->writes)
        m->disp -= m->size; /* below where the stack pointer was */
}

/* Without VEX: loads of half a vector register (with VEX an operand names the register of the other half), and
   scalar operations on its lowest element. */
static bool keeps_vector(const ZydisDecodedInstruction *z)
{
    if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_MOVSS: /* (from memory, the rest becomes 0) */
    case ZYDIS_MNEMONIC_MOVSD:
        return z->raw.modrm.mod == 3;
    case ZYDIS_MNEMONIC_MOVHPD:
    case ZYDIS_MNEMONIC_MOVHPS:
    case ZYDIS_MNEMONIC_MOVLPD:
    case ZYDIS_MNEMONIC_MOVLPS:
    case ZYDIS_MNEMONIC_MOVHLPS:
    case ZYDIS_MNEMONIC_MOVLHPS:
    case ZYDIS_MNEMONIC_SQRTSS:
    case ZYDIS_MNEMONIC_SQRTSD:
    case ZYDIS_MNEMONIC_RCPSS:
    case ZYDIS_MNEMONIC_RSQRTSS:
    case ZYDIS_MNEMONIC_ROUNDSS:
    case ZYDIS_MNEMONIC_ROUNDSD:
    case ZYDIS_MNEMONIC_CVTSS2SD:
    case ZYDIS_MNEMONIC_CVTSD2SS:
    case ZYDIS_MNEMONIC_EXTRQ:
    case ZYDIS_MNEMONIC_INSERTQ:
        return true;
    default:
        return false;
    }
}

/* A write of 8 or 16 bits leaves the rest of a general register as it was; bsf and bsr leave all of it where they find no bit. */
static bool keeps_rest(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
    ZydisRegisterClass c = ZydisRegisterGetClass(o->reg.value);
    if (z->mnemonic == ZYDIS_MNEMONIC_BSF || z->mnemonic == ZYDIS_MNEMONIC_BSR)
        return c != ZYDIS_REGCLASS_FLAGS;
    return c == ZYDIS_REGCLASS_GPR8 || c == ZYDIS_REGCLASS_GPR16 || (is_vector(o->reg.value) && keeps_vector(z));
}

static void take_operand(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn_facts *f)
{
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        take_memory(z, o, f);
    } else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        f->has_constant = true;
        f->constant = o->imm.value.s;
    } else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value != ZYDIS_REGISTER_RIP) {
        if (o->reg.value == ZYDIS_REGISTER_K0 && o->encoding == ZYDIS_OPERAND_ENCODING_MASK) /* no mask */
            return;
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
            keeps_rest(z, o))
            add_register(&f->reads, o->reg.value);
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            add_register(&f->writes, o->reg.value);
        f->masked |= o->encoding == ZYDIS_OPERAND_ENCODING_MASK;
        if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && !is_mask(o) && o->size / 8 > f->width &&
            !f->reads.other)
            f->width = (uint8_t)(o->size / 8);
        if (is_vector(o->reg.value)) {
            unsigned bytes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) / 8;
            f->width = bytes > f->width ? (uint8_t)bytes : f->width;
        }
    }
}

/* ---- numbers ---- */

static enum number_type type_of(const ZydisDecodedOperand *o)
{
    switch (o->element_type) {
    case ZYDIS_ELEMENT_TYPE_FLOAT16:
        return NUMBER_HALF;
    case ZYDIS_ELEMENT_TYPE_FLOAT32:
        return NUMBER_FLOAT;
    case ZYDIS_ELEMENT_TYPE_FLOAT64:
        return NUMBER_DOUBLE;
    case ZYDIS_ELEMENT_TYPE_FLOAT80:
        return NUMBER_EXTENDED;
    case ZYDIS_ELEMENT_TYPE_INT:
    case ZYDIS_ELEMENT_TYPE_UINT:
        return NUMBER_INTEGER;
    default:
        return NUMBER_NONE;
    }
}

static bool is_number(const ZydisDecodedOperand *o)
{
    return o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE && !is_mask(o) &&
           type_of(o) != NUMBER_NONE;
}

/* The operand that determines the element type: a source, because scalar forms write a whole register; for gathers
   and broadcasts the destination. NULL: none. */
static const ZydisDecodedOperand *telling(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
                                          const struct insn_facts *f)
{
    const ZydisDecodedOperand *source = NULL, *dest = NULL;
    bool gathers = false;
    for (unsigned i = 0; i < z->operand_count; i++) {
        if (!is_number(&o[i]))
            continue;
        gathers |= o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && is_vector(o[i].mem.index);
        if (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            dest = dest ? dest : &o[i];
        else if (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            source = &o[i];
    }
    if (gathers) /* of a scatter the register is a source */
        return dest && dest->type == ZYDIS_OPERAND_TYPE_REGISTER ? dest : source;
    return source && !(f->class == CLASS_SHUFFLE && dest) ? source : dest ? dest : source;
}

static void take_numbers(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn_facts *f)
{
    const ZydisDecodedOperand *t = telling(z, o, f);
    if (!t)
        return;
    f->type = f->source_type = (uint8_t)type_of(t);
    f->element = (uint8_t)(t->element_size / 8);
    f->packed = t->element_count > 1;
    if (f->class == CLASS_CONVERT && is_number(&o[0]))
        f->type = (uint8_t)type_of(&o[0]);
    if (f->class != CLASS_CONVERT)
        f->source_type = NUMBER_NONE;
    if (f->class == CLASS_DIVIDE && t->type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector(t->reg.value))
        f->divisor = (uint8_t)ZydisRegisterGetId(t->reg.value);
    if (f->type >= NUMBER_HALF && f->class != CLASS_CONVERT)
        f->flops = f->class == CLASS_MULTIPLY_ADD ? 2
                                                  : f->class == CLASS_ADD || f->class == CLASS_MULTIPLY ||
                                                        f->class == CLASS_DIVIDE || f->class == CLASS_SQUARE_ROOT;
    for (unsigned i = 0; i < f->memory_count; i++)
        if (f->memory[i].vector_index)
            f->memory[i].size = t->size / 8;
}

/* kxnor of a mask and itself: all ones. */
static bool is_all_ones(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
    bool xnor = z->mnemonic == ZYDIS_MNEMONIC_KXNORB || z->mnemonic == ZYDIS_MNEMONIC_KXNORW ||
                z->mnemonic == ZYDIS_MNEMONIC_KXNORD || z->mnemonic == ZYDIS_MNEMONIC_KXNORQ;
    return xnor && o[1].reg.value == o[2].reg.value;
}

/* xor and sub of a register and itself, comparisons for equality: processors do not wait for it. */
static bool is_constant(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, const struct insn_facts *f)
{
    const ZydisDecodedOperand *a = NULL, *b = NULL;
    const char *name = ZydisMnemonicGetString(z->mnemonic);
    if (is_all_ones(z, o))
        return true;
    for (unsigned i = 0; i < z->operand_count; i++)
        if (o[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && !is_mask(&o[i])) {
            if (o[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
                return false;
            a = b ? b : &o[i];
            b = &o[i];
        }
    name += *name == 'v';
    return a && a != b && a->reg.value == b->reg.value && !f->masked && !keeps_rest(z, a) &&
           (str_starts(name, "xor") || str_starts(name, "pxor") || str_starts(name, "psub") ||
            (str_starts(name, "pcmpeq") && !f->writes.mask) || z->mnemonic == ZYDIS_MNEMONIC_SUB);
}

bool x86_64_facts(const uint8_t *p, size_t n, vaddr addr, struct insn_facts *f)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    *f = (struct insn_facts){.divisor = FACTS_NO_REG};
    arch_x86_64()->decode(p, n, addr, &f->insn);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(x86_64_decoder(), p, n, &z, o)))
        return false;
    f->class = (uint8_t)class_of(&z, &f->insn);
    for (unsigned i = 0; i < z.operand_count; i++)
        take_operand(&z, &o[i], f);
    const ZydisAccessedFlags *a = z.cpu_flags;
    if (a) /* (operands do not say all: cmc, adcx) */
        f->writes.flags |= (a->modified | a->set_0 | a->set_1 | a->undefined) != 0;
    if (z.mnemonic == ZYDIS_MNEMONIC_VZEROALL)
        f->writes.vector = 0xffff;
    take_numbers(&z, o, f);
    f->locked = z.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
                (z.mnemonic == ZYDIS_MNEMONIC_XCHG && f->memory_count > 0); /* implicitly locked */
    if (is_constant(&z, o, f)) {
        f->constant_result = true;
        f->reads = (struct reg_set){0};
    }
    return true;
}
