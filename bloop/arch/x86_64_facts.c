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
    const char *prefix;
    uint8_t class;
};

/* Names as Zydis has them, without the v of VEX and EVEX forms; the first row that a name begins with counts. */
static const struct name_class names[] = {
    /* before shorter ones */
    {"mulx", CLASS_MULTIPLY},
    {"subadd", CLASS_ADD},
    {"cmov", CLASS_SELECT},
    {"cmpxchg", CLASS_MOVE},
    {"comiss", CLASS_COMPARE},
    {"comisd", CLASS_COMPARE},
    {"compress", CLASS_SHUFFLE},
    {"movmsk", CLASS_SHUFFLE},
    {"movddup", CLASS_SHUFFLE},
    {"movshdup", CLASS_SHUFFLE},
    {"movsldup", CLASS_SHUFFLE},
    {"movhl", CLASS_SHUFFLE},
    {"movlh", CLASS_SHUFFLE},
    {"pmovmskb", CLASS_SHUFFLE},
    {"pmovm2", CLASS_SHUFFLE},
    {"pmov", CLASS_CONVERT},
    {"pmadd", CLASS_MULTIPLY_ADD},
    {"pdp", CLASS_MULTIPLY_ADD},
    {"dpbf", CLASS_MULTIPLY_ADD},
    {"fmadd", CLASS_MULTIPLY_ADD},
    {"fmsub", CLASS_MULTIPLY_ADD},
    {"fnmadd", CLASS_MULTIPLY_ADD},
    {"fnmsub", CLASS_MULTIPLY_ADD},
    {"pblend", CLASS_SELECT},
    {"blend", CLASS_SELECT},
    {"pscatter", CLASS_MOVE},
    {"pgather", CLASS_MOVE},
    {"prefetch", CLASS_PREFETCH},
    {"popcnt", CLASS_ARITHMETIC},
    {"popf", CLASS_STACK},
    {"pop", CLASS_STACK},
    {"punpck", CLASS_SHUFFLE},
    {"push", CLASS_STACK},
    {"pand", CLASS_LOGIC},
    {"ptern", CLASS_LOGIC},
    {"ptest", CLASS_COMPARE},
    {"rsqrt", CLASS_ARITHMETIC},
    {"setss", CLASS_OTHER},
    {"shuf", CLASS_SHUFFLE},
    {"sha", CLASS_OTHER},
    {"insert", CLASS_SHUFFLE},
    {"inc", CLASS_ADD},
    {"minp", CLASS_MINMAX},
    {"mins", CLASS_MINMAX},
    /* whole names or beginnings */
    {"mov", CLASS_MOVE},
    {"lddqu", CLASS_MOVE},
    {"xchg", CLASS_MOVE},
    {"lods", CLASS_MOVE},
    {"stos", CLASS_MOVE},
    {"gather", CLASS_MOVE},
    {"scatter", CLASS_MOVE},
    {"cb", CLASS_MOVE},
    {"cwd", CLASS_MOVE},
    {"cdq", CLASS_MOVE},
    {"cqo", CLASS_MOVE},
    {"bswap", CLASS_SHUFFLE},
    {"lea", CLASS_ADDRESS},
    {"enter", CLASS_STACK},
    {"adc", CLASS_ADD},
    {"add", CLASS_ADD},
    {"adox", CLASS_ADD},
    {"sub", CLASS_ADD},
    {"sbb", CLASS_ADD},
    {"dec", CLASS_ADD},
    {"neg", CLASS_ADD},
    {"xadd", CLASS_ADD},
    {"hadd", CLASS_ADD},
    {"hsub", CLASS_ADD},
    {"padd", CLASS_ADD},
    {"psub", CLASS_ADD},
    {"phadd", CLASS_ADD},
    {"phsub", CLASS_ADD},
    {"mul", CLASS_MULTIPLY},
    {"imul", CLASS_MULTIPLY},
    {"pmul", CLASS_MULTIPLY},
    {"dpp", CLASS_MULTIPLY_ADD},
    {"div", CLASS_DIVIDE},
    {"idiv", CLASS_DIVIDE},
    {"sqrt", CLASS_SQUARE_ROOT},
    {"max", CLASS_MINMAX},
    {"pmin", CLASS_MINMAX},
    {"pmax", CLASS_MINMAX},
    {"phmin", CLASS_MINMAX},
    {"pabs", CLASS_ARITHMETIC},
    {"pavg", CLASS_ARITHMETIC},
    {"psad", CLASS_ARITHMETIC},
    {"mpsad", CLASS_ARITHMETIC},
    {"dbpsad", CLASS_ARITHMETIC},
    {"psign", CLASS_ARITHMETIC},
    {"ppopcnt", CLASS_ARITHMETIC},
    {"rcp", CLASS_ARITHMETIC},
    {"round", CLASS_ARITHMETIC},
    {"rndscale", CLASS_ARITHMETIC},
    {"reduce", CLASS_ARITHMETIC},
    {"range", CLASS_ARITHMETIC},
    {"getexp", CLASS_ARITHMETIC},
    {"getmant", CLASS_ARITHMETIC},
    {"scalef", CLASS_ARITHMETIC},
    {"fixupimm", CLASS_ARITHMETIC},
    {"lzcnt", CLASS_ARITHMETIC},
    {"tzcnt", CLASS_ARITHMETIC},
    {"bsf", CLASS_ARITHMETIC},
    {"bsr", CLASS_ARITHMETIC},
    {"and", CLASS_LOGIC},
    {"or", CLASS_LOGIC},
    {"xor", CLASS_LOGIC},
    {"not", CLASS_LOGIC},
    {"por", CLASS_LOGIC},
    {"pxor", CLASS_LOGIC},
    {"bls", CLASS_LOGIC},
    {"bextr", CLASS_SHIFT},
    {"bzhi", CLASS_LOGIC},
    {"bts", CLASS_LOGIC},
    {"btr", CLASS_LOGIC},
    {"btc", CLASS_LOGIC},
    {"sh", CLASS_SHIFT},
    {"sa", CLASS_SHIFT},
    {"ro", CLASS_SHIFT},
    {"rc", CLASS_SHIFT},
    {"psll", CLASS_SHIFT},
    {"psrl", CLASS_SHIFT},
    {"psra", CLASS_SHIFT},
    {"psh", CLASS_SHUFFLE},
    {"prol", CLASS_SHIFT},
    {"pror", CLASS_SHIFT},
    {"cmp", CLASS_COMPARE},
    {"ucomis", CLASS_COMPARE},
    {"test", CLASS_COMPARE},
    {"bt", CLASS_COMPARE},
    {"pcmp", CLASS_COMPARE},
    {"scas", CLASS_COMPARE},
    {"fpclass", CLASS_COMPARE},
    {"set", CLASS_SELECT},
    {"cvt", CLASS_CONVERT},
    {"unpck", CLASS_SHUFFLE},
    {"perm", CLASS_SHUFFLE},
    {"pperm", CLASS_SHUFFLE},
    {"pextr", CLASS_SHUFFLE},
    {"pinsr", CLASS_SHUFFLE},
    {"extract", CLASS_SHUFFLE},
    {"broadcast", CLASS_SHUFFLE},
    {"pbroadcast", CLASS_SHUFFLE},
    {"palign", CLASS_SHUFFLE},
    {"align", CLASS_SHUFFLE},
    {"pack", CLASS_SHUFFLE},
    {"pcompress", CLASS_SHUFFLE},
    {"pexpand", CLASS_SHUFFLE},
    {"expand", CLASS_SHUFFLE},
    {"mfence", CLASS_FENCE},
    {"lfence", CLASS_FENCE},
    {"sfence", CLASS_FENCE},
    {"endbr", CLASS_NOP},
};

/* The same for x87, without the f. */
static const struct name_class x87_names[] = {
    {"add", CLASS_ADD},          {"sub", CLASS_ADD},       {"iadd", CLASS_ADD},     {"isub", CLASS_ADD},
    {"mul", CLASS_MULTIPLY},     {"imul", CLASS_MULTIPLY}, {"div", CLASS_DIVIDE},   {"idiv", CLASS_DIVIDE},
    {"sqrt", CLASS_SQUARE_ROOT}, {"com", CLASS_COMPARE},   {"ucom", CLASS_COMPARE}, {"icom", CLASS_COMPARE},
    {"cmov", CLASS_SELECT},      {"ild", CLASS_CONVERT},   {"ist", CLASS_CONVERT},  {"ld", CLASS_MOVE},
    {"st", CLASS_MOVE},          {"xch", CLASS_MOVE},      {"chs", CLASS_LOGIC},    {"abs", CLASS_LOGIC},
    {"nop", CLASS_NOP},          {"", CLASS_ARITHMETIC},
};

static enum insn_class look_up(const struct name_class *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts(name, rows[i].prefix))
            return rows[i].class;
    return CLASS_OTHER;
}

static enum insn_class class_by_name(const ZydisDecodedInstruction *z)
{
    const char *name = ZydisMnemonicGetString(z->mnemonic);
    if (z->meta.category == ZYDIS_CATEGORY_X87_ALU)
        return look_up(x87_names, ARRAY_SIZE(x87_names), name + (*name == 'f'));
    if (z->mnemonic == ZYDIS_MNEMONIC_LEAVE)
        return CLASS_STACK;
    if (z->meta.category == ZYDIS_CATEGORY_KMASK) /* kmovw, kandq, kortestb */
        name++;
    else if (*name == 'v' && z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        name++;
    return look_up(names, ARRAY_SIZE(names), name);
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
