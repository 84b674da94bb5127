/*
 * Functions that are drawn, instruction by instruction, against a graph made address by address; which of several never
 * return, against a set that grows until nothing changes; and jumps through tables, against what was meant.
 */
#include "bloop/code/test_image.h"
#include "tests/chance.h"
#include "tests/edge.h"
#include "tests/tap.h"

#include <stdlib.h>

enum { F = 1, G, STOP, THUNK, COLD, FUNCTIONS }; /* by address; the first is not of the function, and in front of it */
enum { PARTS = 2, PART_MOST = 200, ITEMS = 60 };
static const vaddr begins[FUNCTIONS] = {0x800, 0x1000, 0x2000, 0x3000, 0x3800, 0x4000};
static const vaddr nowhere = 0x9000;

/* ---- what is drawn ---- */

static struct part {
    vaddr begin;
    uint32_t size;
    uint8_t bytes[PART_MOST + 16];
    uint32_t items[ITEMS], item_count; /* where instructions begin */
    bool called[ITEMS];                /* by calls from inside alone */
} parts[PARTS];
static uint32_t part_count;

static struct fix { /* the last four bytes of an instruction lead there */
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
    static const char branches[][2] = {"\x0f\x84", "\x0f\x85", "\x0f\x87"};
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
    uint32_t what = below(32), which = below(ARRAY_SIZE(plain));
    p->called[p->item_count] = false;
    p->items[p->item_count++] = p->size;
    if (what < 9)
        put_jump(p, branches[below(3)], 2, below(8) ? TO_LABEL : TO_OTHER);
    else if (what < 12)
        put_jump(p, "\xe9", 1, below(3) ? TO_LABEL : TO_OTHER);
    else if (what < 15)
        put_jump(p, "\xe8", 1, below(5) ? TO_OTHER : TO_SUBROUTINE);
    else
        put(p, plain[which < 5 || below(2) ? which : below(5)].bytes, plain[which < 5 ? which : 0].size);
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

static void make_image(void)
{
    static uint8_t other[16] = {0xc3};
    static struct edge edges[PARTS];
    static const char *const names[FUNCTIONS] = {"before", "f", "g", "stop", "__x86_indirect_thunk_rax", "f.cold"};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const struct part *p = i == F ? &parts[0] : i == COLD ? &parts[1] : NULL;
        uint64_t size = p ? p->size : sizeof other;
        sections[i] = (struct image_section){.name = ".text",
                                             .addr = begins[i],
                                             .bytes = p ? edge_copy(&edges[p - parts], p->bytes, p->size) : other,
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

static struct place *place_at(vaddr a);

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

/* Is it of a part that there is, and leads to one? */
static bool is_site(size_t i)
{
    return place_at(test_sites[i].begin) && place_at(test_sites[i].pad);
}

/* ---- the naive graph ---- */

static struct place { /* each byte of each part */
    struct insn in;
    bool starts, leads, called, flowed_to;
    uint32_t covered, falls_into; /* by how many instructions */
    uint32_t entries;             /* how often it is one */
    bool ends;                    /* a block */
    bool goes_on, tail, padded;
    uint8_t kind; /* of what ends it */
    uint32_t callee;
    bool calls; /* callee is valid */
} places[PARTS][PART_MOST + 16];
static bool odd; /* what depends on the order of work, or on tables, was met: not for here */

static struct place *place_at(vaddr a)
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
    struct place *at = place_at(a);
    at->leads = true;
    *(by_call ? &at->called : &at->flowed_to) = true;
    odd |= at->called && at->flowed_to; /* (an entry or not, as it comes) */
    explore(a);
}

/* The instruction there, and where control goes from it. */
static void explore(vaddr a)
{
    for (struct place *at; (at = place_at(a)) && !at->starts;) {
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
                if (callee == THUNK && at->in.kind == INSN_JUMP)
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

/* Nothing behind a call but padding up to the wall: it never returns. */
static void end_at_walls(void)
{
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < parts[i].size; k++) {
            struct place *at = &places[i][k];
            uint32_t behind = k + at->in.length;
            if (!at->starts || (at->in.kind != INSN_CALL && at->in.kind != INSN_CALL_INDIRECT))
                continue;
            if (at->ends && behind < parts[i].size)
                continue;
            struct place *last = at;
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

/* The block that the instruction at `a` is in begins there. */
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
    static struct place none;
    const struct place *at = place_at(a);
    vaddr begin = a, next, to[2];
    uint32_t count = 0;
    bool first = true;
    for (;; at = place_at(a)) {
        next = a + at->in.length;
        const struct place *then = place_at(next) ? place_at(next) : &none;
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
            const struct place *at = &places[i][k];
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

/* Each calls some, branches, and ends in one of the ways there are; most names are of nothing. */
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
            if (what == 0) { /* a branch over what follows, or away */
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
        /* (What leads to nothing but padding behind a call is another matter: no compiler makes it.) */
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

/* By the least there is to it: any block that can be reached leaves. */
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

/* What calls of `wanted` lead to: they, what they call, and what that calls. */
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

/* By notes of graphs that were made with names alone, in two lists; and who calls what was found. */
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

/* ---- tables ---- */

/*
 * A jump through a table in one of many ways compilers write it, and which entries it may read. Behind these lie others, that lead
 * to places of the function as well, so that one too many is seen as one too few is.
 */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NO_REG = -1 };
enum {
    TEXT_AT = 0x1000,
    TABLE_AT = 0x5000,
    BYTES_AT = 0x5800,
    LABELS = 8,
    ENTRIES = 48,
    FAR_AWAY = 0x01000000,
    JOINS_SEEN_THROUGH = 4
};

static struct dispatch {
    uint8_t text[1024], table[8 * ENTRIES + 8], bytes[ENTRIES];
    uint32_t size, labels[LABELS], head, leave_at[8], leave_count; /* leave: jumps to what is done otherwise */
    uint32_t to[ENTRIES];                                          /* of `labels` */
    uint32_t read, joins;
    bool cut;    /* what ends a table leads to where code is cut off */
    bool masked; /* no comparison says how many there are */
    bool narrow; /* nothing is added to the index: where the table is known late, what is not needed is not read */
} t;

static void byte(uint32_t value)
{
    t.text[t.size++] = (uint8_t)value;
}

static void word(uint32_t value)
{
    for (int i = 0; i < 4; i++)
        byte(value >> 8 * i & 255);
}

/* An instruction of one or two bytes with a register and another, or memory. */
static void rex(bool wide, int reg, int index, int base)
{
    byte(0x40 | (uint32_t)wide << 3 | (uint32_t)(reg & 8) >> 1 | (uint32_t)(index > 0 ? index & 8 : 0) >> 2 |
         (uint32_t)(base > 0 ? base & 8 : 0) >> 3);
}

static void opcode(uint32_t code)
{
    if (code > 255)
        byte(code >> 8);
    byte(code & 255);
}

static void registers(uint32_t code, bool wide, int reg, int rm)
{
    rex(wide, reg, NO_REG, rm);
    opcode(code);
    byte(0xc0 | (uint32_t)(reg & 7) << 3 | (uint32_t)(rm & 7));
}

static void memory(uint32_t code, bool wide, int reg, int base, int index, uint32_t scale, int32_t disp)
{
    rex(wide, reg, index, base);
    opcode(code);
    byte((base == NO_REG ? 0 : 0x80) | (uint32_t)(reg & 7) << 3 | 4);
    byte((uint32_t)__builtin_ctz(scale) << 6 | (uint32_t)(index == NO_REG ? 4 : index & 7) << 3 |
         (uint32_t)(base == NO_REG ? 5 : base & 7));
    word((uint32_t)disp);
}

static void address_into(int reg, uint32_t address)
{
    rex(true, reg, NO_REG, NO_REG);
    byte(0x8d);
    byte(5 | (uint32_t)(reg & 7) << 3);
    word(address - (TEXT_AT + t.size + 4));
}

static void compare(int reg, uint32_t with)
{
    rex(false, 0, NO_REG, reg);
    byte(with < 128 && below(2) ? 0x83 : 0x81);
    bool small = t.text[t.size - 1] == 0x83;
    byte(0xf8 | (uint32_t)(reg & 7));
    if (small)
        byte(with);
    else
        word(with);
}

static void leave_if(uint32_t condition)
{
    byte(0x0f);
    byte(0x80 | condition);
    t.leave_at[t.leave_count++] = t.size;
    word(0);
}

/* What is in between, and does nothing to registers at hand. */
static void fill(void)
{
    for (uint32_t n = below(3); n > 0; n--)
        switch (below(4)) {
        case 0:
            byte(0x90);
            break;
        case 1:
            registers(0xff, false, 0, RBX); /* inc */
            break;
        case 2:
            memory(0x89, false, RBX, RBP, NO_REG, 1, -64);
            break;
        default:
            registers(0x85, true, RSI, RSI); /* test: flags */
        }
}

enum { ABOVE = 7, ABOVE_EQUAL = 3, BELOW_EQUAL = 6, BELOW = 2, GREATER = 15, LESS_EQUAL = 14 };

/* Leaves for elsewhere unless reg < n. */
static void guard(int reg, uint32_t n)
{
    uint32_t way = below(n > 1 ? 7 : 6);
    int slot = -8 * (int)(1 + below(4));
    if (way == 0) {
        byte(0x40 | (reg & 8 ? 4 : 0) | 1); /* mov $c,%r11d; cmp %r11d,reg */
        byte(0xbb);
        word(n - 1);
        rex(false, 11, NO_REG, reg);
        byte(0x39);
        byte(0xc0 | 3 << 3 | (uint32_t)(reg & 7));
        leave_if(ABOVE);
        return;
    }
    if (way == 1) { /* in memory */
        memory(0x89, false, reg, RBP, NO_REG, 1, slot);
        fill();
        memory(0x83, false, 7, RBP, NO_REG, 1, slot);
        byte(n - 1);
        leave_if(ABOVE);
        memory(0x8b, false, reg, RBP, NO_REG, 1, slot);
        return;
    }
    if (way == 2 || way == 3) { /* over what leaves */
        compare(reg, way == 2 ? n - 1 : n);
        byte(0x70 | (way == 2 ? BELOW_EQUAL : BELOW));
        byte(5);
        byte(0xe9);
        t.leave_at[t.leave_count++] = t.size;
        word(0);
        return;
    }
    compare(reg, way == 4 || way == 6 ? n - 1 : n);
    if (below(2)) /* flags stay */
        byte(0x90);
    leave_if(way == 4 ? ABOVE : way == 6 ? GREATER : ABOVE_EQUAL);
}

/* From `reg`, whose value is below n, on: what is an index into n entries, in the register that is given back. */
static int index_of(int reg, uint32_t *n)
{
    static const int others[] = {RCX, RDI, 8, 9};
    int other = others[below(4)];
    uint32_t k = 1 + below(3);
    switch (below(6)) {
    case 0:
        registers(0x89, below(2), reg, other); /* mov */
        return other;
    case 1:
        if (t.narrow)
            return reg;
        memory(0x8d, below(2), other, reg, NO_REG, 1,
               (int32_t)k); /* lea k(reg): reads from the first on all the same */
        *n += k;
        return other;
    case 2:
        registers(0x89, false, reg, reg);
        return reg;
    case 3:
        memory(0x89, true, reg, RSP, NO_REG, 1, 16);
        fill();
        memory(0x8b, true, other, RSP, NO_REG, 1, 16);
        return other;
    default:
        return reg;
    }
}

/* The index, told to be below *n in some way; what register it is in. */
static int bounded(uint32_t *n)
{
    int reg = (const int[]){RDI, RSI, 8, 10, RCX}[below(5)];
    uint32_t k = 1 + below(20), other = 1 + below(8);
    if (t.head)
        memory(0x8b, false, reg, RSI, NO_REG, 1, 4);
    switch (below(7)) {
    case 0: /* and */
        *n = 2u << below(3);
        t.masked = true;
        rex(false, 0, NO_REG, reg);
        byte(0x83);
        byte(0xe0 | (uint32_t)(reg & 7));
        byte(*n - 1);
        break;
    case 1: /* less a number first */
        memory(0x8d, false, RAX, reg, NO_REG, 1, -(int32_t)k);
        guard(RAX, *n);
        return RAX;
    case 2: /* and after that */
        guard(reg, *n + k);
        memory(0x8d, false, RAX, reg, NO_REG, 1, -(int32_t)k);
        return RAX;
    case 3: /* what is compared is four times as much */
        memory(0x8d, false, RAX, NO_REG, reg, 4, 0);
        compare(RAX, 4 * (*n - 1) + below(4));
        leave_if(ABOVE);
        break;
    case 4: /* in two ways: as the greater number says */
        t.joins++;
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        uint32_t over = t.size;
        byte(0);
        guard(reg, *n);
        byte(0xeb);
        uint32_t on = t.size;
        byte(0);
        t.text[over] = (uint8_t)(t.size - over - 1);
        if (below(2)) {
            guard(reg, other);
        } else { /* one of them a constant */
            rex(false, 0, NO_REG, reg);
            byte(0xb8 | (uint32_t)(reg & 7));
            word(other - 1);
        }
        t.text[on] = (uint8_t)(t.size - on - 1);
        *n = other > *n ? other : *n;
        break;
    case 5: /* the last two bits, by shifts */
        *n = 4;
        t.masked = true;
        registers(0xc1, false, 5, reg); /* shr */
        byte(30);
        break;
    default:
        guard(reg, *n);
    }
    fill();
    return index_of(reg, n);
}

/* The jump through the table, with an index in a register. */
static void jump_through(int index, uint32_t form, int base)
{
    int target = (const int[]){RAX, RDX, 11}[below(3)];
    bool outside = base == NO_REG;
    if (outside)
        base = target == RDX ? 10 : RDX;
    if (base == index)
        base = 9;
    switch (form) {
    case 0: /* jmp *T(,index,8) */
        memory(0xff, false, 4, NO_REG, index, 8, TABLE_AT);
        return;
    case 1:
        memory(0x8b, true, target, NO_REG, index, 8, TABLE_AT);
        break;
    case 2: /* from the table on, with a sign; in either order */
        if (outside)
            address_into(base, TABLE_AT);
        memory(0x63, true, target, base, index, 4, 0);
        registers(0x01, true, base, target);
        break;
    case 3: /* the same in steps */
        memory(0x8d, true, target, NO_REG, index, 4, 0);
        if (outside)
            address_into(base, TABLE_AT);
        memory(0x8b, false, target, target, base, 1, 0);
        registers(0x63, true, target, target);
        registers(0x01, true, base, target);
        break;
    case 4: /* four bytes of address */
        memory(0x8b, false, target, NO_REG, index, 4, TABLE_AT);
        break;
    default: /* a byte that is the index of the table, of which nobody says how many there are */
        memory(0x0fb6, false, target, NO_REG, index, 1, BYTES_AT);
        memory(0x8b, true, target, NO_REG, target, 8, TABLE_AT);
    }
    fill();
    if (below(4) == 0) { /* through memory */
        memory(0x89, true, target, RBP, NO_REG, 1, -72);
        memory(0x8b, true, target, RBP, NO_REG, 1, -72);
    }
    registers(0xff, false, 4, target);
}

static void put_places(void)
{
    for (uint32_t i = 0; i < LABELS; i++) {
        t.labels[i] = t.size;
        for (uint32_t n = below(3); n > 0; n--)
            byte(0x90);
        if (t.head && below(2)) {
            byte(0xe9);
            word(t.head - (t.size + 4));
        } else
            byte(0xc3);
    }
    for (uint32_t i = 0; i < t.leave_count; i++) {
        uint32_t distance = t.size - (t.leave_at[i] + 4);
        memcpy(t.text + t.leave_at[i], &distance, 4);
    }
    if (t.narrow) /* what is done otherwise has another use for the register of the table */
        address_into(12, TEXT_AT + t.labels[0]);
    byte(0xf4);
    byte(0x0f); /* half an instruction: where no code is, no entry leads */
    byte(0x84);
}

/* `open`: nothing says how many there are, but what is behind them. */
static void put_entries(uint32_t form, bool open)
{
    uint32_t size = form == 2 || form == 3 || form == 4 ? 4 : 8, from = form == 2 || form == 3 ? TABLE_AT : 0;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t to =
            open && i == t.read ? (t.cut ? TEXT_AT + t.size - 2 - from : FAR_AWAY) : TEXT_AT + t.labels[t.to[i]] - from;
        memcpy(t.table + i * size, &to, 4);
    }
}

/* The table's address in a register, once for all that comes: at once, by a copy, a sum or memory, or the same in two ways. */
static void set_base(int base)
{
    uint32_t way = below(5);
    if (way == 4) {
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        byte(9);
        address_into(base, TABLE_AT);
        byte(0xeb);
        byte(7);
    }
    address_into(way == 0 || way == 4 ? base : RAX, TABLE_AT - (way == 2 ? 48 : 0));
    if (way == 1)
        registers(0x89, true, RAX, base);
    if (way == 2)
        memory(0x8d, true, base, RAX, NO_REG, 1, 48);
    if (way == 3) {
        memory(0x89, true, RAX, RBP, NO_REG, 1, -80);
        fill();
        memory(0x8b, true, base, RBP, NO_REG, 1, -80);
    }
}

static void draw_dispatch(void)
{
    uint32_t form = below(6), n = 1 + below(12);
    bool open = below(6) == 0;
    int base = NO_REG;
    t = (struct dispatch){0};
    byte(0x53); /* (a frame, so that no jump is a tail call) */
    if (form == 2 && below(2)) {
        base = 12;
        set_base(base);
        t.narrow = true;
    }
    if (base != NO_REG || below(3) == 0)
        t.head = t.size;
    if (open) {
        n = n < 2 ? 2 : n;
        if (t.head)
            memory(0x8b, false, RDI, RSI, NO_REG, 1, 4);
        jump_through(RDI, form, base);
    } else {
        int index = bounded(&n);
        for (uint32_t joins = below(3) ? 0 : below(7); joins > 0; joins--, t.joins++) { /* so many are looked through */
            registers(0x85, false, RBX, RBX);
            byte(0x74);
            byte(1);
            byte(0x90);
        }
        open = t.joins > (t.masked ? 0 : JOINS_SEEN_THROUGH);
        n = open ? ENTRIES / 2 : n;
        jump_through(index, form, base);
    }
    t.read = form == 5 ? 2 + below(8) : n;
    for (uint32_t i = 0; i < ENTRIES; i++)
        t.to[i] = below(i < t.read ? LABELS / 2 : LABELS);
    for (uint32_t i = 0; i < ENTRIES; i++)
        t.bytes[i] = (uint8_t)below(t.read);
    t.cut = below(2);
    put_places();
    put_entries(form, open || form == 5);
}

/* Where the entries lead that may be read. */
static void put_wanted(struct buf *out)
{
    bool led_to[LABELS] = {false};
    for (uint32_t i = 0; i < t.read; i++)
        led_to[t.to[i]] = true;
    for (uint32_t i = 0; i < LABELS; i++)
        if (led_to[i])
            buf_printf(out, " %x", t.labels[i]);
}

static void test_tables(void)
{
    enum { ROUNDS = 4000 };
    struct cfg g = {0};
    unsigned alike = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        static struct edge edges[3];
        struct buf got = {0}, want = {0};
        draw_dispatch();
        struct image_section memory_of[] = {{.name = ".text",
                                             .addr = TEXT_AT,
                                             .bytes = edge_copy(&edges[0], t.text, t.size),
                                             .size = t.size,
                                             .alloc = true,
                                             .exec = true},
                                            {.name = ".rodata",
                                             .addr = TABLE_AT,
                                             .bytes = edge_copy(&edges[1], t.table, sizeof t.table),
                                             .size = sizeof t.table,
                                             .alloc = true},
                                            {.name = ".rodata",
                                             .addr = BYTES_AT,
                                             .bytes = edge_copy(&edges[2], t.bytes, sizeof t.bytes),
                                             .size = sizeof t.bytes,
                                             .alloc = true}};
        struct image im = {.arch = ARCH_X86_64, .sections = memory_of, .section_count = ARRAY_SIZE(memory_of)};
        struct function f = {.begin = TEXT_AT, .end = TEXT_AT + t.size, .link_name = "f", .part_of = FUNCTION_NONE};
        struct function_table one = {.functions = &f, .count = 1};
        struct cfg_input in = {.image = &im, .functions = &one, .arch = arch_get(ARCH_X86_64)};
        test_site_count = 0;
        cfg_build(&in, &g);
        for (size_t i = 0; i < g.block_count; i++)
            for (uint32_t k = 0; g.blocks[i].last_kind == INSN_JUMP_INDIRECT && k < g.blocks[i].succ_count; k++)
                buf_printf(&got, " %x", (unsigned)(g.blocks[g.succs[g.blocks[i].succ_first + k]].begin - TEXT_AT));
        put_wanted(&want);
        buf_str(&got, "");
        buf_str(&want, "");
        bool good =
            strcmp(got.bytes, want.bytes) == 0 && g.indirect_jumps == 1 && g.unresolved_jumps == 0 && g.bad_bytes == 0;
        alike += good;
        if (!good && round - alike < 10) {
            for (uint32_t i = 0; i < t.labels[0]; i++)
                printf("%s%02x", i ? "" : "# ", t.text[i]);
            printf("\n# %u: got%s, wanted%s\n", t.read, got.bytes, want.bytes);
        }
        buf_release(&got);
        buf_release(&want);
    }
    cfg_release(&g);
    CHECK_INT(alike, ROUNDS);
}

/* ---- frames ---- */

/* A jump to anywhere is a tail call where the stack is as high as at the entry: what is said of it, by adding up. */
enum { STEPS_MOST = 60, LOOKED_BACK = 32 };

static struct step {
    const char *bytes;
    uint32_t size;
    int added; /* to the stack pointer */
    bool calls, from_frame, lost;
} const steps_known[] = {{"\x53", 1, -8, false, false, false},                /* push %rbx */
                         {"\x48\x83\xec\x10", 4, -16, false, false, false},   /* sub $16,%rsp */
                         {"\x5b", 1, 8, false, false, false},                 /* pop %rbx */
                         {"\x48\x83\xc4\x10", 4, 16, false, false, false},    /* add $16,%rsp */
                         {"\x48\x8d\x64\x24\x08", 5, 8, false, false, false}, /* lea 8(%rsp),%rsp */
                         {"\xff\xd1", 2, 0, true, false, false},              /* call *%rcx */
                         {"\xff\xc6", 2, 0, false, false, false},             /* inc %esi */
                         {"\xff\xc6", 2, 0, false, false, false},             /* and once more */
                         {"\xc9", 1, 8, false, true, true},                   /* leave */
                         {"\x48\x8d\x65\xf0", 4, -16, false, true, true},     /* lea -16(%rbp),%rsp */
                         {"\x48\x83\xe4\xf0", 4, 0, false, false, true}};     /* and $-16,%rsp */

static bool gives_back(const struct step *s)
{
    return s->added > 0 || s->lost;
}

static bool taken_down(const struct step *steps, int count)
{
    int last = count - 1;
    while (last >= 0 && steps[last].added == 0 && !steps[last].lost && !steps[last].calls)
        last--;
    if (last < 0 || count - last > LOOKED_BACK || steps[last].added < 0 || steps[last].calls)
        return false;
    while (last >= 0 && gives_back(&steps[last]))
        last--;
    return last < 0 || !steps[last].calls;
}

static bool is_tail_call(const struct step *steps, int count)
{
    int added = 0;
    for (int i = count - 1; i >= 0; i--) {
        added += steps[i].added;
        if (steps[i].lost)
            return steps[i].from_frame && added == 8;
    }
    return added == 0 || taken_down(steps, count);
}

static void test_frames(void)
{
    enum { ROUNDS = 4000 };
    struct cfg g = {0};
    unsigned right = 0, tails = 0, round = 0;
    for (; round < ROUNDS && right == round; round++) {
        struct step steps[STEPS_MOST];
        uint8_t text[8 * STEPS_MOST];
        uint32_t size = 0, known = below(4) ? 8 : ARRAY_SIZE(steps_known);
        int count = 0, wanted = (int)below(10);
        while (count < wanted)
            steps[count++] = steps_known[below(known)];
        for (uint32_t n = below(3) ? 0 : 28 + below(10); n > 0; n--) /* and long nothing */
            steps[count++] = steps_known[6];
        for (int i = 0; i < count; size += steps[i++].size)
            memcpy(text + size, steps[i].bytes, steps[i].size);
        memcpy(text + size, "\xff\xe0", 2); /* jmp *%rax */
        struct image_section code = {
            .name = ".text", .addr = TEXT_AT, .bytes = text, .size = size + 2, .alloc = true, .exec = true};
        struct image im = {.arch = ARCH_X86_64, .sections = &code, .section_count = 1};
        struct function f = {.begin = TEXT_AT, .end = TEXT_AT + size + 2, .link_name = "f", .part_of = FUNCTION_NONE};
        struct function_table one = {.functions = &f, .count = 1};
        struct cfg_input in = {.image = &im, .functions = &one, .arch = arch_get(ARCH_X86_64)};
        test_site_count = 0;
        cfg_build(&in, &g);
        bool tail = is_tail_call(steps, count);
        tails += tail;
        right += g.indirect_jumps == !tail && g.unresolved_jumps == !tail;
        if (right != round + 1) {
            printf("# %stail call, %u/%u:", tail ? "" : "no ", g.unresolved_jumps, g.indirect_jumps);
            for (uint32_t i = 0; i < size + 2; i++)
                printf("%02x", text[i]);
            printf("\n");
        }
    }
    cfg_release(&g);
    CHECK(tails > ROUNDS / 10);
    CHECK_INT(right, ROUNDS);
}

int main(void)
{
    test_frames();
    test_graphs();
    test_programs();
    test_tables();
    return tap_done();
}
