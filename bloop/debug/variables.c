/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables by their location in memory: members of COMMON blocks, and locals in the frames of procedures. Others have
 * symbols. DWARF 5: 2.5, 3.3.5, 4.1, 4.2, 5.
 */
#include "bloop/debug/debug_int.h"

#define TYPE_HOPS 16 /* typedef of const array of ...; a cycle would never end */

struct variable_scope {
    size_t depth; /* of its entry */
    struct addr_range procedure, code;
    int64_t frame_base; /* from the frame's canonical address */
    const char *name;   /* of the procedure or the COMMON block; lent */
    bool common;
};
struct variable_scopes VEC(struct variable_scope);

struct variable_walk {
    struct bloop_variables *out;
    struct dwarf_file *file;
    struct die_walk walk;
    uint16_t language;
    const struct unit_base *base;
    uint64_t known_type, known_bytes; /* the last one: neighbours are often alike */
    struct range_list ranges;
    struct variable_scopes scopes;
};

static struct variable_scope *innermost(const struct variable_walk *k)
{
    return k->scopes.count ? &k->scopes.items[k->scopes.count - 1] : NULL;
}

/* ---- types ---- */

static uint64_t dimension(const struct variable_walk *k, Dwarf_Die die)
{
    uint64_t count;
    int64_t lower = language_is_fortran(k->language), upper;
    if (die_number(k->file, die, DW_AT_count, (int64_t *)&count))
        return count;
    die_number(k->file, die, DW_AT_lower_bound, &lower);
    if (!die_number(k->file, die, DW_AT_upper_bound, &upper) || upper < lower)
        return 0;
    return (uint64_t)upper - (uint64_t)lower + 1;
}

/* How many elements; 0: not known. */
static uint64_t elements(const struct variable_walk *k, Dwarf_Die array)
{
    struct die_walk w;
    uint64_t n = 1;
    for (bool more = die_walk_begin(&w, k->file, array); more; more = die_walk_next(&w))
        if (die_tag(w.levels[w.depth - 1].die) == DW_TAG_subrange_type) {
            uint64_t d = dimension(k, w.levels[w.depth - 1].die);
            n = d && n < UINT32_MAX && d < UINT32_MAX ? n * d : 0;
        }
    die_walk_end(&w);
    return n;
}

/* 0: not known when it was compiled. */
static uint64_t type_bytes(struct variable_walk *k, uint64_t type)
{
    uint64_t factor = 1, at = type;
    if (type == k->known_type)
        return k->known_bytes;
    k->known_type = type;
    k->known_bytes = 0;
    for (int hop = 0; hop < TYPE_HOPS && at != NO_OFFSET && factor; hop++) {
        Dwarf_Die die = dwarf_die_at(k->file, at);
        int64_t bytes = 0;
        if (!die)
            return 0;
        bool known = die_number(k->file, die, DW_AT_byte_size, &bytes);
        at = die_reference(k->file, die, DW_AT_type);
        if (!known && die_tag(die) == DW_TAG_array_type)
            factor = factor < UINT32_MAX ? factor * elements(k, die) : 0;
        dwarf_dealloc_die(die);
        if (known)
            return k->known_bytes = bytes > 0 && bytes < UINT32_MAX ? factor * (uint64_t)bytes : 0;
    }
    return 0;
}

/* ---- places ---- */

enum { OP_addr = 0x03, OP_plus_uconst = 0x23, OP_breg6 = 0x76, OP_reg6 = 0x56, OP_fbreg = 0x91, OP_cfa = 0x9c };

/* For variables that do not move while the procedure runs; false: it does. */
static bool place_of(struct cursor c, int64_t frame_base, bool *in_frame, int64_t *at)
{
    uint8_t op = cursor_u8(&c);
    *in_frame = op == OP_fbreg;
    if (op == OP_fbreg) {
        *at = cursor_sleb(&c);
        *at = *at > -(1ll << 40) && *at < 1ll << 40 ? *at + frame_base : 0;
    } else if (op == OP_addr) {
        uint64_t address = cursor_u64(&c);
        if (cursor_left(&c)) {
            if (cursor_u8(&c) != OP_plus_uconst)
                return false; /* of a thread, say, or what the address there points to */
            address += cursor_uleb(&c);
        }
        *at = (int64_t)address;
    }
    return (op == OP_fbreg || op == OP_addr) && !c.bad && cursor_left(&c) == 0 && *at;
}

/* From the frame's canonical address, where that is so of the whole procedure: as GCC has it, or by the frame pointer as
   clang has it on x86-64 (which points 16 bytes below). */
static bool frame_base_of(const struct variable_walk *k, Dwarf_Die die, int64_t *base)
{
    struct cursor c = die_block(k->file, die, DW_AT_frame_base);
    uint8_t op = cursor_u8(&c);
    *base = op == OP_reg6 ? -16 : 0;
    return !c.bad && cursor_left(&c) == 0 && (op == OP_cfa || op == OP_reg6);
}

/* ---- entries ---- */

/* The entry, or what it is a copy of, says it. */
static bool whole_entry(const struct variable_walk *k, Dwarf_Die die, const char **name, uint64_t *type)
{
    struct die_info info;
    die_read(k->file, die, &info);
    uint64_t origin = info.origin != NO_OFFSET ? info.origin : info.specification;
    *name = info.name;
    *type = die_reference(k->file, die, DW_AT_type);
    Dwarf_Die other =
        (!*name || *type == NO_OFFSET) && origin != NO_OFFSET && !info.origin_alternate && !info.specification_alternate
            ? dwarf_die_at(k->file, origin)
            : NULL;
    if (other) {
        struct die_info said;
        die_read(k->file, other, &said);
        *name = *name ? *name : said.name;
        *type = *type == NO_OFFSET ? die_reference(k->file, other, DW_AT_type) : *type;
        dwarf_dealloc_die(other);
    }
    return *name != NULL;
}

static void add_variable(struct variable_walk *k, const struct variable_scope *in, Dwarf_Die die)
{
    const char *name;
    uint64_t type, bytes;
    int64_t at = 0;
    bool in_frame;
    struct cursor location = die_block(k->file, die, DW_AT_location);
    if (k->out->count == LIMIT_VARIABLES || location.bad || !place_of(location, in->frame_base, &in_frame, &at) ||
        in_frame == in->common || !whole_entry(k, die, &name, &type) || (bytes = type_bytes(k, type)) == 0)
        return;
    struct bloop_variable *v = vec_push(k->out);
    *v = (struct bloop_variable){.in_frame = in_frame, .at = at, .bytes = bytes};
    v->name = in->common ? mem_printf("COMMON /%s/ %s", in->name, name) : mem_printf("%s::%s", in->name, name);
    if (in_frame) {
        v->procedure = in->procedure;
        v->code = in->code;
    }
}

static struct addr_range hull(struct variable_walk *k, const struct die_info *info)
{
    struct addr_range r = {0, 0};
    k->ranges.count = 0;
    die_ranges(k->file, k->base, info, &k->ranges);
    for (size_t i = 0; i < k->ranges.count; i++) {
        r.begin = i == 0 || k->ranges.items[i].begin < r.begin ? k->ranges.items[i].begin : r.begin;
        r.end = k->ranges.items[i].end > r.end ? k->ranges.items[i].end : r.end;
    }
    return r;
}

/* True: visit the children. */
static bool enter_scope(struct variable_walk *k, Dwarf_Die die)
{
    struct variable_scope s = {.depth = k->walk.depth}, *in = innermost(k);
    struct die_info info;
    uint64_t type;
    unsigned tag = die_tag(die);
    die_read(k->file, die, &info);
    if (tag == DW_TAG_common_block) {
        s.common = true;
        s.name = info.name ? info.name : "";
    } else {
        s.code = hull(k, &info);
        s.procedure = tag == DW_TAG_subprogram || !in ? s.code : in->procedure;
        s.name = in ? in->name : "";
        s.frame_base = in ? in->frame_base : 0;
        if (s.code.end == 0 && in)
            s.code = in->code;
    }
    if (tag == DW_TAG_subprogram &&
        (s.code.end == 0 || !frame_base_of(k, die, &s.frame_base) || !whole_entry(k, die, &s.name, &type)))
        return false;
    *vec_push(&k->scopes) = s;
    return true;
}

static bool look_at_entry(struct variable_walk *k, Dwarf_Die die)
{
    switch (die_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_common_block:
        return enter_scope(k, die);
    case DW_TAG_variable:
        if (k->scopes.count)
            add_variable(k, innermost(k), die);
        return false;
    default:
        return false;
    }
}

void unit_variables(struct dwarf_file *f, Dwarf_Die root, const struct unit_base *base, uint16_t language,
                    struct bloop_variables *out)
{
    struct variable_walk k = {.out = out, .file = f, .language = language, .base = base, .known_type = NO_OFFSET};
    bool at = die_walk_begin(&k.walk, f, root);
    while (at) {
        while (k.scopes.count && innermost(&k)->depth >= k.walk.depth)
            k.scopes.count--;
        at = (look_at_entry(&k, k.walk.levels[k.walk.depth - 1].die) && die_walk_into(&k.walk)) ||
             die_walk_next(&k.walk);
    }
    die_walk_end(&k.walk);
    vec_release(&k.scopes);
    vec_release(&k.ranges);
}
