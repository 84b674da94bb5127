/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random functions, compared with a graph built address by address; and the set of noreturn functions, compared with a
 * fixed-point iteration.
 */
#include "tests/fixtures/code_image.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <stdlib.h>

enum { F = 1, G, STOP, THUNK, COLD, FUNCTIONS }; /* by address; the first is outside of the function, before it */
enum { PARTS = 2, PART_MOST = 200, ITEMS = 60 };
static const vaddr begins[FUNCTIONS] = {0x800, 0x1000, 0x2000, 0x3000, 0x3800, 0x4000};
static const vaddr nowhere = 0x9000;

/* ---- random functions ---- */

static struct part {
    vaddr begin;
    uint32_t size;
    uint8_t bytes[PART_MOST + 16];
    uint32_t items[ITEMS], item_count; /* where instructions begin */
    bool called[ITEMS];                /* by calls from inside alone */
} parts[PARTS];
static uint32_t part_count;

static struct fix { /* the last four bytes of the instruction are its target */
    uint32_t part, end;
    enum { TO_LABEL, TO_SUBROUTINE, TO_OTHER } to;
} fixes[2 * ITEMS];
static uint32_t fix_count;

static void put(struct part *p, const char *bytes, uint32_t n)
{
    memcpy(p->bytes + p->size, bytes, n);
    p->size += n;
}

static void put_jump(struct part *p, const char *opcode, uint32_t n, int to)
{
    put(p, opcode, n);
    put(p, "\0\0\0\0", 4);
    fixes[fix_count++] = (struct fix){(uint32_t)(p - parts), p->size, to};
}

static void draw_item(struct part *p)
{
    static const char *const branches[] = {"\x0f\x84", "\x0f\x85", "\x0f\x87"};
    static const struct {
        const char *bytes;
        uint32_t size;
    } plain[] = {{"\x90", 1},
                 {"\xff\xc1", 2},
                 {"\x66\x0f\x1f\x44\x00\x00", 6},
                 {"\xb9\x90\xc3\xff\xc1", 5},
                 {"\xff\xd0", 2},
                 {"\xcc", 1},
                 {"\x06", 1},
                 {"\x62\xf6\x7d\x48\xff\xc0", 6},
                 {"\x0f\x0b", 2},
                 {"\xff\xe0", 2},
                 {"\xc3", 1},
                 {"\xc3\0\0\0", 4},
                 {"\xc3\0\x90", 3},
                 {"\xf4", 1},
                 {"\xff\xc9", 2},
                 {"\xc3\x41\x90", 3}};
    uint32_t what = below(32), which = below(below(2) ? 5 : ARRAY_SIZE(plain)); /* the first ones go on */
    p->called[p->item_count] = false;
    p->items[p->item_count++] = p->size;
    if (what < 9)
        put_jump(p, branches[below(3)], 2, below(8) ? TO_LABEL : TO_OTHER);
    else if (what < 12)
        put_jump(p, "\xe9", 1, below(3) ? TO_LABEL : TO_OTHER);
    else if (what < 15)
        put_jump(p, "\xe8", 1, below(5) ? TO_OTHER : TO_SUBROUTINE);
    else
        put(p, plain[which].bytes, plain[which].size);
}

static bool ends_line(const struct part *p, uint32_t item)
{
    uint8_t first = p->bytes[p->items[item]];
    return first == 0xc3 || first == 0xe9 || first == 0xf4;
}

static vaddr any_label(void)
{
    for (;;) {
        const struct part *p = &parts[below(part_count)];
        uint32_t item = below(p->item_count);
        if (!p->called[item])
            return p->begin + p->items[item] + (below(16) == 0);
    }
}

static vaddr any_subroutine(void)
{
    for (uint32_t i = 0; i < parts[0].item_count; i++)
        if (parts[0].called[i] && below(2))
            return parts[0].begin + parts[0].items[i];
    return begins[G];
}

static vaddr any_other(void)
{
    const vaddr others[] = {begins[G],     begins[G], begins[STOP], begins[STOP],    begins[G] + 4,
                            begins[THUNK], nowhere,   begins[0],    begins[STOP] + 1};
    return others[below(ARRAY_SIZE(others))];
}

static void draw_function(void)
{
    fix_count = 0;
    part_count = 1 + below(PARTS);
    for (uint32_t i = 0; i < part_count; i++) {
        struct part *p = &parts[i];
        *p = (struct part){.begin = begins[i ? COLD : F]};
        for (uint32_t n = 1 + below(ITEMS / 2 - 1); n > 0 && p->size < PART_MOST - 16; n--)
            draw_item(p);
    }
    for (uint32_t i = 1; i < parts[0].item_count; i++)
        parts[0].called[i] = ends_line(&parts[0], i - 1) && below(3) == 0;
    for (uint32_t i = 0; i < fix_count; i++) {
        struct part *p = &parts[fixes[i].part];
        vaddr to = fixes[i].to == TO_LABEL ? any_label() : fixes[i].to == TO_OTHER ? any_other() : any_subroutine();
        uint32_t distance = (uint32_t)(to - (p->begin + fixes[i].end));
        memcpy(p->bytes + fixes[i].end - 4, &distance, 4);
    }
}

static struct image image;
static struct image_section sections[FUNCTIONS];
static struct function functions[FUNCTIONS];
static struct function_table table = {.functions = functions};
static const uint8_t noreturn[FUNCTIONS] = {[STOP] = 1};
static uint32_t thunk; /* selected by name: the first two are thunks that jump through a register */

static void make_image(void)
{
    static uint8_t other[16] = {0xc3};
    static struct guarded_room edges[PARTS];
    static const char *const thunks[] = {"__x86_indirect_thunk_rax", "__llvm_retpoline_r11", "__x86_direct", "x86_"};
    const char *const names[FUNCTIONS] = {"before", "f", "g", "stop", thunks[thunk = below(4)], "f.cold"};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const struct part *p = i == F ? &parts[0] : i == COLD ? &parts[1] : NULL;
        uint64_t size = p ? p->size : sizeof other;
        sections[i] = (struct image_section){.name = ".text",
                                             .addr = begins[i],
                                             .bytes = p ? guarded_copy(&edges[p - parts], p->bytes, p->size) : other,
                                             .size = size,
                                             .alloc = true,
                                             .exec = true};
        functions[i] = (struct function){.begin = begins[i],
                                         .end = begins[i] + size,
                                         .link_name = names[i],
                                         .part_of = i == COLD ? F : FUNCTION_NONE};
    }
    table.count = image.section_count = part_count == 1 ? COLD : FUNCTIONS;
    image.arch = ARCH_X86_64;
    image.sections = sections;
}

static struct jump_place *place_at(vaddr a);

static void draw_sites(void)
{
    test_site_count = below(2) ? 0 : below(ARRAY_SIZE(test_sites) + 1);
    for (size_t i = 0; i < test_site_count; i++) {
        uint32_t in = below(4) == 0, size = in < part_count ? parts[in].size : 8;
        uint32_t begin = in < part_count ? parts[in].items[below(parts[in].item_count)] : 0;
        vaddr from = begins[in ? COLD : F] + begin;
        test_sites[i] = (struct call_site){from, from + below(size - begin + 1), below(8) ? any_label() : nowhere};
    }
}

/* Is the site in an existing part, and is its target in one? */
static bool is_site(size_t i)
{
    return place_at(test_sites[i].begin) && place_at(test_sites[i].pad);
}

/* ---- the naive graph ---- */

static struct jump_place { /* each byte of each part */
    struct insn in;
    bool starts, leads, called, flowed_to;
    uint32_t covered, falls_into; /* by how many instructions */
    uint32_t entries;             /* number of entries at this address */
    bool ends;                    /* a block */
    bool goes_on, tail, padded;
    uint8_t kind; /* kind of its last instruction */
    uint32_t callee;
    bool calls; /* callee is valid */
} places[PARTS][PART_MOST + 16];
static bool odd; /* the case depends on the order of work or on tables: not tested here */

static struct jump_place *place_at(vaddr a)
{
    for (uint32_t i = 0; i < part_count; i++)
        if (a >= parts[i].begin && a < parts[i].begin + parts[i].size)
            return &places[i][a - parts[i].begin];
    return NULL;
}

static uint32_t function_at(vaddr a)
{
    for (uint32_t i = 0; i < table.count; i++)
        if (a >= functions[i].begin && a < functions[i].end)
            return i;
    return FUNCTION_NONE;
}

static void explore(vaddr a);

static void lead(vaddr a, bool by_call)
{
    struct jump_place *at = place_at(a);
    at->leads = true;
    *(by_call ? &at->called : &at->flowed_to) = true;
    odd |= at->called && at->flowed_to; /* (an entry or not, as it comes) */
    explore(a);
}

/* Decodes the instruction at `a` and follows its successors. */
static void explore(vaddr a)
{
    for (struct jump_place *at; (at = place_at(a)) && !at->starts;) {
        const struct part *p = &parts[(at - &places[0][0]) / ARRAY_SIZE(places[0])];
        uint32_t offset = (uint32_t)(a - p->begin);
        arch_get(ARCH_X86_64)->decode(p->bytes + offset, p->size - offset, a, &at->in);
        vaddr next = a + at->in.length, target = at->in.target;
        bool wall = next >= p->begin + p->size, local;
        uint32_t callee = function_at(target);
        at->starts = true;
        at->kind = at->in.kind;
        for (uint32_t i = 0; i < at->in.length; i++)
            at[i].covered++;
        switch (at->in.kind) {
        case INSN_CALL:
            callee = callee != FUNCTION_NONE && functions[callee].begin == target ? callee : FUNCTION_NONE;
            local = place_at(target) && callee != F;
            at->calls = true;
            at->callee = callee;
            at->ends = callee == STOP;
            if (local) {
                const struct part *in = &parts[target >= begins[COLD]];
                bool drawn = false;
                for (uint32_t i = 0; i < in->item_count; i++)
                    drawn |= in->called[i] && in->begin + in->items[i] == target;
                odd |= !drawn;
                place_at(target)->entries = 1;
                lead(target, true);
            }
            break;
        case INSN_CALL_INDIRECT:
            at->calls = true;
            at->callee = FUNCTION_NONE;
            odd |= at->in.length != 2;
            break;
        case INSN_BRANCH:
        case INSN_JUMP:
            at->ends = true;
            at->goes_on = at->in.kind == INSN_BRANCH;
            if (place_at(target)) {
                lead(target, false);
            } else {
                at->tail = true;
                if (callee == THUNK && thunk < 2 && at->in.kind == INSN_JUMP)
                    at->kind = INSN_JUMP_INDIRECT;
                at->calls = callee != FUNCTION_NONE && at->kind != INSN_JUMP_INDIRECT;
                at->callee = callee;
            }
            break;
        case INSN_JUMP_INDIRECT:
            at->ends = true;
            odd |= at->in.length != 2 || p->bytes[offset] != 0xff || p->bytes[offset + 1] != 0xe0;
            break;
        case INSN_BAD:
            at->ends = true;
            at->goes_on = at->in.length > 1;
            break;
        case INSN_PLAIN:
        case INSN_PADDING:
            break;
        default:
            at->ends = true;
        }
        if (at->ends && !at->goes_on)
            return;
        if (wall) {
            at->goes_on = false;
            if (!at->ends)
                at->kind = INSN_PLAIN;
            at->ends = true;
            return;
        }
        place_at(next)->flowed_to = true;
        odd |= place_at(next)->called;
        if (at->ends || ++place_at(next)->falls_into > 1)
            place_at(next)->leads = true;
        a = next;
    }
}

/* A call followed only by padding up to the wall does not return. */
static void end_at_walls(void)
{
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++) {
            struct jump_place *at = &places[i][k];
            uint32_t behind = k + at->in.length;
            if (!at->starts || (at->in.kind != INSN_CALL && at->in.kind != INSN_CALL_INDIRECT))
                continue;
            if (at->ends && behind < parts[i].size)
                continue;
            struct jump_place *last = at;
            bool led_to = false;
            while (behind < parts[i].size && places[i][behind].starts && places[i][behind].in.kind == INSN_PADDING) {
                last = &places[i][behind];
                led_to |= last->leads;
                behind += last->in.length;
            }
            odd |= led_to && behind == parts[i].size;
            if (behind == parts[i].size)
                last->kind = INSN_CALL;
        }
}

static void make_graph(void)
{
    memset(places, 0, sizeof places);
    odd = false;
    places[0][0].entries = 1;
    lead(begins[F], false);
    for (size_t i = 0; i < test_site_count; i++)
        if (is_site(i))
            lead(test_sites[i].pad, false);
    end_at_walls();
}

/* Start of the block that contains the instruction at `a`. */
static vaddr block_of(vaddr a)
{
    while (!place_at(a)->leads)
        a--;
    return a;
}

static int by_number(const void *a, const void *b)
{
    const vaddr *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void put_pads(struct buf *out, vaddr block, bool *first)
{
    struct vaddr_list pads = {0};
    for (size_t i = 0; i < test_site_count; i++)
        for (vaddr a = test_sites[i].begin; a < test_sites[i].end; a++)
            if (place_at(test_sites[i].pad) && place_at(a) && place_at(a)->starts && place_at(a)->calls) {
                place_at(test_sites[i].pad)->padded = true;
                if (block_of(a) == block)
                    *vec_push(&pads) = test_sites[i].pad;
            }
    vec_sort_unique(&pads, by_number);
    for (size_t i = 0; i < pads.count; i++, *first = false)
        buf_printf(out, "%s~%llx", *first ? ">" : ",", (unsigned long long)pads.items[i]);
    vec_release(&pads);
}

static void put_block(struct buf *out, vaddr a)
{
    static struct jump_place none;
    const struct jump_place *at = place_at(a);
    vaddr begin = a, next, to[2];
    uint32_t count = 0;
    bool first = true;
    for (;; at = place_at(a)) {
        next = a + at->in.length;
        const struct jump_place *then = place_at(next) ? place_at(next) : &none;
        if (at->ends || then->leads || !then->starts)
            break;
        a = next;
    }
    if ((at->ends ? at->goes_on : true) && place_at(next) && place_at(next)->leads)
        to[count++] = next;
    if (at->ends && (at->in.kind == INSN_BRANCH || at->in.kind == INSN_JUMP) && !at->tail &&
        (count == 0 || to[0] != at->in.target))
        to[count++] = at->in.target;
    buf_printf(out, "%llx-%llx %u%s", (unsigned long long)begin, (unsigned long long)next,
               at->ends ? at->kind : INSN_PLAIN, at->ends && at->kind == INSN_BAD ? "!" : "");
    for (uint32_t i = 0; i < count; i++, first = false)
        buf_printf(out, "%s%llx", i ? "," : ">", (unsigned long long)to[i]);
    put_pads(out, begin, &first);
    buf_char(out, '\n');
}

static uint64_t naive_padding(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++) {
            uint32_t end = k;
            while (end < parts[i].size && !places[i][end].covered)
                end++;
            for (uint32_t at = k; at < end;) {
                struct insn in;
                arch_get(ARCH_X86_64)->decode(parts[i].bytes + at, end - at, parts[i].begin + at, &in);
                if (in.kind != INSN_PADDING && parts[i].bytes[at] != 0)
                    break;
                in.length = in.kind == INSN_PADDING ? in.length : 1;
                at += in.length;
                n += in.length;
            }
            k = end;
        }
    return n;
}

static void put_naive(struct buf *out)
{
    uint64_t instructions = 0, bad = 0;
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++) {
            const struct jump_place *at = &places[i][k];
            instructions += at->starts;
            bad += at->starts && at->in.kind == INSN_BAD ? at->in.length : 0;
            if (at->leads)
                put_block(out, parts[i].begin + k);
        }
    for (size_t i = 0; i < test_site_count; i++) /* to which no call leads */
        if (is_site(i) && !place_at(test_sites[i].pad)->padded) {
            place_at(test_sites[i].pad)->padded = true;
            place_at(test_sites[i].pad)->entries++;
        }
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++)
            for (uint32_t n = places[i][k].entries; n > 0; n--)
                buf_printf(out, "^%llx ", (unsigned long long)parts[i].begin + k);
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++)
            if (places[i][k].starts && places[i][k].calls)
                buf_printf(out, "call %llx:%d ", (unsigned long long)parts[i].begin + k, (int)places[i][k].callee);
    buf_printf(out, "%llu instructions, %llu bad, %llu padding\n", (unsigned long long)instructions,
               (unsigned long long)bad, (unsigned long long)naive_padding());
}

/* ---- comparing ---- */

static void put_graph(struct buf *out, const struct cfg *g)
{
    struct vaddr_list entries = {0};
    for (size_t i = 0; i < g->block_count; i++) {
        const struct cfg_block *b = &g->blocks[i];
        buf_printf(out, "%llx-%llx %u%s", (unsigned long long)b->begin, (unsigned long long)b->end, b->last_kind,
                   b->bad_end ? "!" : "");
        for (uint32_t k = 0; k < b->succ_count; k++)
            buf_printf(out, "%s%s%llx", k ? "," : ">", k + b->pad_count >= b->succ_count ? "~" : "",
                       (unsigned long long)g->blocks[g->succs[b->succ_first + k]].begin);
        buf_char(out, '\n');
    }
    for (size_t i = 0; i < g->entry_count; i++)
        *vec_push(&entries) = g->blocks[g->entries[i]].begin;
    vec_sort(&entries, by_number);
    for (size_t i = 0; i < entries.count; i++)
        buf_printf(out, "^%llx ", (unsigned long long)entries.items[i]);
    vec_release(&entries);
    for (size_t i = 0; i < cfg_call_count(g); i++)
        buf_printf(out, "call %llx:%d ", (unsigned long long)cfg_call(g, i).at, (int)cfg_call(g, i).callee);
    buf_printf(out, "%llu instructions, %llu bad, %llu padding\n", (unsigned long long)g->instructions,
               (unsigned long long)g->bad_bytes, (unsigned long long)g->padding_bytes);
}

static bool same_text(struct buf *got, struct buf *want)
{
    buf_str(got, "");
    buf_str(want, "");
    bool same = strcmp(got->bytes, want->bytes) == 0;
    if (!same) {
        for (uint32_t i = 0; i < part_count; i++)
            for (uint32_t k = 0; k < parts[i].size; k++)
                printf("%s%02x", k ? "" : i ? "\n# cold " : "# ", parts[i].bytes[k]);
        for (size_t i = 0; i < test_site_count; i++)
            printf(" %llx-%llx~%llx", (unsigned long long)test_sites[i].begin, (unsigned long long)test_sites[i].end,
                   (unsigned long long)test_sites[i].pad);
        printf("\n# got\n%s# wanted\n%s", got->bytes, want->bytes);
    }
    buf_release(got);
    buf_release(want);
    return same;
}

static void test_graphs(void)
{
    enum { ROUNDS = 6000 };
    struct cfg g = {0};
    unsigned same = 0, looked = 0;
    for (unsigned round = 0; round < ROUNDS && same == looked; round++) {
        struct buf got = {0}, want = {0};
        struct vaddr_list calls = {0};
        draw_function();
        make_image();
        draw_sites();
        make_graph();
        if (odd)
            continue;
        struct cfg_input in = {.image = &image,
                               .functions = &table,
                               .arch = arch_get(ARCH_X86_64),
                               .noreturn = noreturn,
                               .function = F,
                               .calls = &calls};
        cfg_build(&in, &g);
        put_graph(&got, &g);
        put_naive(&want);
        looked++;
        same += same_text(&got, &want);
        vec_release(&calls);
    }
    cfg_release(&g);
    CHECK(looked > ROUNDS / 2);
    CHECK_INT(same, looked);
}

/* ---- which never return ---- */

enum { PROGRAM_AT = 0x10000, SLOT = 32, MOST = 24 };

static struct program {
    uint8_t text[MOST * SLOT];
    struct function functions[MOST];
    struct function_table table;
    struct image_section section;
    struct image image;
} program;

/* Each function calls some others, branches, and ends in one of several ways. Most names have no special meaning. */
static void draw_program(void)
{
    static const char *const ends[] = {"\xc3", "\xf4", "\xeb\xfe", "\x90", "\xff\xe0", "\x06", "\x0f\x0b"};
    uint32_t count = 1 + below(MOST - 1), ways = 2 + below(6);
    program = (struct program){0};
    memset(program.text, 0x90, sizeof program.text);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *p = program.text + i * SLOT;
        bool branches = false;
        program.functions[i] = (struct function){.begin = PROGRAM_AT + i * SLOT,
                                                 .end = PROGRAM_AT + (i + 1) * SLOT,
                                                 .link_name = below(9)   ? ""
                                                              : below(2) ? "abort"
                                                                         : "exit@plt",
                                                 .plt = below(20) == 0,
                                                 .ifunc = below(20) == 0,
                                                 .part_of = FUNCTION_NONE};
        for (uint32_t n = below(4); n > 0; n--) {
            uint32_t to = below(count), what = below(8);
            if (what == 0) { /* a branch over the following code, or out of the function */
                branches = true;
                *p++ = 0x74;
                *p++ = (uint8_t)(below(2) ? 5 : 0);
                continue;
            }
            *p++ = what < 6 ? 0xe8 : what == 6 ? 0x0f : 0xe9;
            if (what == 6)
                *p++ = 0x84;
            int32_t distance = (int32_t)(program.functions[0].begin + to * SLOT + (to != i && below(12) == 0) -
                                         (below(12) ? 0 : 0x8000)) -
                               (int32_t)(program.functions[i].begin + (uint32_t)(p - program.text - i * SLOT) + 4);
            memcpy(p, &distance, 4);
            p += 4;
        }
        /* (Code that only reaches padding after a call is excluded: compilers do not generate it.) */
        const char *last = branches ? "\xc3" : ends[below(ways)];
        memcpy(p, last, strlen(last));
    }
    program.table = (struct function_table){.functions = program.functions, .count = count, .image = &program.image};
    program.section = (struct image_section){
        .name = ".text", .addr = PROGRAM_AT, .bytes = program.text, .size = count * SLOT, .alloc = true, .exec = true};
    program.image = (struct image){.arch = ARCH_X86_64, .sections = &program.section, .section_count = 1};
    program.table.image = &program.image;
    test_site_count = 0;
}

static struct cfg_input program_input(uint32_t f, const uint8_t *never)
{
    return (struct cfg_input){.image = &program.image,
                              .functions = &program.table,
                              .arch = arch_get(ARCH_X86_64),
                              .noreturn = never,
                              .function = f};
}

static uint32_t program_function(vaddr a)
{
    return a >= PROGRAM_AT && a < PROGRAM_AT + program.section.size ? (uint32_t)(a - PROGRAM_AT) / SLOT : FUNCTION_NONE;
}

static bool leaves(const struct cfg_block *b, uint32_t f, const uint8_t *never)
{
    struct insn in = {0};
    for (vaddr a = b->begin; a < b->end; a += in.length)
        arch_get(ARCH_X86_64)->decode(program.text + (a - PROGRAM_AT), b->end - a, a, &in);
    uint32_t to = program_function(in.target);
    switch (b->last_kind) {
    case INSN_RETURN:
    case INSN_JUMP_INDIRECT:
        return true;
    case INSN_PLAIN:
        return b->succ_count == 0;
    case INSN_BAD:
        return in.length == 1;
    case INSN_BRANCH:
    case INSN_JUMP:
        return to != f && (to == FUNCTION_NONE || !never[to]);
    default:
        return false;
    }
}

/* Minimal definition: some reachable block leaves the function. */
static bool may_return(struct cfg *g, uint32_t f, const uint8_t *never)
{
    struct cfg_input in = program_input(f, never);
    bool seen[SLOT] = {false}, more = true;
    cfg_build(&in, g);
    for (size_t i = 0; i < g->entry_count; i++)
        seen[g->entries[i]] = true;
    while (more) {
        more = false;
        for (size_t b = 0; b < g->block_count; b++)
            for (uint32_t k = 0; seen[b] && k < g->blocks[b].succ_count; k++) {
                uint32_t to = g->succs[g->blocks[b].succ_first + k];
                more |= !seen[to];
                seen[to] = true;
            }
    }
    for (size_t b = 0; b < g->block_count; b++)
        if (seen[b] && leaves(&g->blocks[b], f, never))
            return true;
    return false;
}

static bool is_looked_at(uint32_t f)
{
    return !program.functions[f].plt && !program.functions[f].ifunc;
}

/* The set that names begin, and `of` it that grows. */
static void grow(struct cfg *g, uint8_t *never, const bool *of)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t f = 0; f < program.table.count; f++)
            if (of[f] && !never[f] && is_looked_at(f) && !may_return(g, f, never))
                never[f] = more = true;
    }
}

static void set_by_names(uint8_t *never)
{
    for (uint32_t f = 0; f < program.table.count; f++)
        never[f] = *program.functions[f].link_name != 0;
}

static bool has_call(const struct cfg *g, uint32_t callee)
{
    for (size_t i = 0; i < cfg_call_count(g); i++)
        if (cfg_call(g, i).callee == callee)
            return true;
    return false;
}

/* Everything reachable through calls from `wanted`, including `wanted` itself. */
static void reach_from(struct cfg *g, const uint32_t *wanted, size_t count, const uint8_t *named, bool *of)
{
    bool now[MOST] = {false}, next[MOST];
    for (size_t i = 0; i < count; i++)
        now[wanted[i]] = true;
    for (int depth = 1; depth <= NORETURN_DEPTH; depth++, memcpy(now, next, sizeof now)) {
        memset(next, 0, sizeof next);
        for (uint32_t f = 0; f < program.table.count; f++) {
            if (!now[f] || of[f] || named[f] || !is_looked_at(f))
                continue;
            of[f] = true;
            struct cfg_input in = program_input(f, named);
            cfg_build(&in, g);
            for (uint32_t to = 0; to < program.table.count; to++)
                next[to] |= has_call(g, to);
        }
    }
}

/* From the notes of graphs that were built with names only, in two lists; also checks the callers that are found. */
static bool closes_alike(struct cfg *g, const uint8_t *named, const uint8_t *want)
{
    struct noreturn_notes notes[2], whole;
    struct index_list again = {0};
    uint8_t never[MOST] = {0};
    bool same = true;
    size_t at = 0;
    memset(&whole, 0, sizeof whole);
    memset(notes, 0, sizeof notes);
    memcpy(never, named, sizeof never);
    for (uint32_t f = 0; f < program.table.count; f++) {
        struct cfg_input in = program_input(f, named);
        cfg_build(&in, g);
        noreturn_note(&whole, &program.table, named, f, g);
        if (f == program.table.count / 2) {
            noreturn_notes_take(&whole, &notes[0]);
            same = same && whole.calls.count == 0 && whole.witnesses.count == 0 && whole.found.count == 0;
        }
    }
    noreturn_notes_take(&whole, &notes[1]);
    noreturn_notes_release(&whole);
    noreturn_close(&program.image, &program.table, never, notes, 2, &again);
    same = same && memcmp(never, want, program.table.count) == 0;
    for (uint32_t f = 0; f < program.table.count; f++) {
        bool calls = false;
        struct cfg_input in = program_input(f, named);
        cfg_build(&in, g);
        for (uint32_t to = 0; to < program.table.count; to++)
            calls |= want[to] && !named[to] && has_call(g, to);
        if (calls)
            same = same && at < again.count && again.items[at++] == f;
    }
    same = same && at == again.count;
    vec_release(&again);
    return same;
}

static void test_programs(void)
{
    enum { ROUNDS = 600 };
    static const bool all[MOST] = {[0 ... MOST - 1] = true};
    struct cfg g = {0};
    unsigned same = 0, same_notes = 0, same_part = 0, found = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t named[MOST] = {0}, want[MOST] = {0}, part[MOST] = {0};
        bool of[MOST] = {false};
        draw_program();
        set_by_names(named);
        memcpy(want, named, sizeof want);
        memcpy(part, named, sizeof part);
        uint32_t count = (uint32_t)program.table.count, wanted[3] = {below(count), below(count), below(count)};
        size_t asked = below(4);
        grow(&g, want, all);
        reach_from(&g, wanted, asked, named, of);
        grow(&g, part, of);
        uint8_t *got = noreturn_find(&program.image, &program.table, true, 1 + below(2));
        same += memcmp(got, want, count) == 0;
        mem_free(got);
        same_notes += closes_alike(&g, named, want);
        got = noreturn_find(&program.image, &program.table, false, 1);
        bool names_alone = memcmp(got, named, count) == 0;
        noreturn_follow(&program.image, &program.table, got, wanted, asked);
        same_part += names_alone && memcmp(got, part, count) == 0;
        mem_free(got);
        for (uint32_t f = 0; f < count; f++)
            found += want[f] && !named[f];
    }
    cfg_release(&g);
    CHECK(found > ROUNDS);
    CHECK_INT(same, ROUNDS);
    CHECK_INT(same_notes, ROUNDS);
    CHECK_INT(same_part, ROUNDS);
}

int main(void)
{
    RUN(test_graphs);
    RUN(test_programs);
    return tap_done();
}
