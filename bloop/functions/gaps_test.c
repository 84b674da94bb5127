/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stripped programs generated for both processors: functions side by side, with padding or data between, that call each
 * other. The planted functions must be found: all at once, or around single addresses.
 */
#include "bloop/functions/functions_int.h"
#include "bloop/image/image.h"
#include "bloop/image/elf.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

enum { BASE = 0x100000, BYTES = 300000, CODE_SECTIONS = 6, ENTRIES = CODE_SECTIONS, SECTIONS, MOST = 1500, NEAR = 12 };

static struct planted {
    vaddr begin, end; /* after its last instruction */
    size_t section;
    bool named, unwound; /* extent known */
    bool entry;          /* only the start is known */
    bool by_call;        /* found only through a call */
    bool calls_end;      /* ends in a call of the next, which may return */
    bool found;
} functions[MOST];
static size_t count;

static struct made {
    struct image image;
    struct image_private priv;
    struct elf_file file;
    struct image_section sections[SECTIONS];
    uint32_t by_addr[SECTIONS];
    struct image_symbol symbols[MOST];
    struct fde_list fdes;
    struct vaddr_list data; /* sorted, if any */
} m;

static uint8_t bytes[BYTES];
static size_t at;            /* where the next byte goes */
static bool aarch64, across; /* across: calls from one gap into another also reveal functions */

/* Calls and jumps, whose targets are set at the end. */
enum { NOT_YET = -1 };
struct transfer {
    size_t at, from;
    int to; /* a function */
};
static struct VEC(struct transfer) transfers;

/* ---- instructions ---- */

static void put(const char *p, size_t n)
{
    memcpy(bytes + at, p, n);
    at += n;
}
#define PUT(s) put((s), sizeof(s) - 1)

static void put_word(uint32_t w)
{
    const char p[] = {(char)w, (char)(w >> 8), (char)(w >> 16), (char)(w >> 24)};
    put(p, 4);
}

static void put_plain(void)
{
    if (aarch64)
        put_word(0x11000400 + below(31)); /* add w?, w0, #1 */
    else if (below(2))
        PUT("\xb8\x07\x01\x00\x00\x01\xc7"); /* mov $0x107,%eax; add %eax,%edi */
    else
        PUT("\x83\xe8\x01"); /* sub $1,%eax */
}

/* A prologue that only functions have, or one that other code may have too. */
static void put_prologue(bool sure)
{
    static const uint32_t words[] = {0xa9bf7bfd, 0xd503233f, 0xd503245f, 0xd10083ff};
    if (aarch64) {
        put_word(words[sure ? below(3) : 3]);
        return;
    }
    switch (sure ? below(4) : 4 + below(3)) {
    case 0:
        PUT("\xf3\x0f\x1e\xfa");
        break;
    case 1:
        PUT("\x55\x48\x89\xe5");
        break;
    case 2:
        PUT("\x55\x41\x54\x90");
        break;
    case 3:
        PUT("\x41\x57\x41\x56");
        break;
    case 4:
        PUT("\x53");
        break;
    case 5:
        PUT("\x48\x83\xec\x08");
        break;
    default:
        PUT("\x41\x55");
    }
}

static void put_padding(void)
{
    if (aarch64)
        put_word(below(2) ? 0 : 0xd503201f);
    else if (below(2))
        PUT("\0");
    else
        PUT("\xcc");
}

static void put_padding_to(size_t alignment)
{
    for (unsigned form = below(2); at % alignment;) {
        if (!aarch64 && form && at % alignment + 5 <= alignment)
            PUT("\x0f\x1f\x44\x00\x00");
        else
            put_padding();
    }
}

static void put_loop(void)
{
    while (at % 16) {
        if (aarch64)
            put_word(0xd503201f);
        else
            PUT("\x90");
    }
    if (aarch64) {
        put_word(0x71000400); /* 1: subs w0, w0, #1; b.ne 1b */
        put_word(0x54ffffe1);
    } else {
        PUT("\x83\xe8\x01\x75\xfb"); /* 1: sub $1,%eax; jne 1b */
    }
}

static void put_return(void)
{
    if (aarch64)
        put_word(0xd65f03c0);
    else
        PUT("\xc3");
}

/* A return that a branch leads across. */
static void put_early_return(void)
{
    if (aarch64)
        put_word(0x34000040); /* cbz w0, over */
    else
        PUT("\x85\xff\x74\x01");
    put_return();
}

static void put_indirect_jump(void)
{
    if (aarch64)
        put_word(0xd61f0000);
    else
        PUT("\xff\xe0");
}

static void put_transfer(bool call, size_t from, int to)
{
    *vec_push(&transfers) = (struct transfer){at, from, to};
    if (aarch64)
        put_word(call ? 0x94000000 : 0x14000000);
    else if (call)
        PUT("\xe8\0\0\0\0");
    else
        PUT("\xe9\0\0\0\0");
}

static void aim(const struct transfer *t, vaddr target)
{
    uint64_t to = target - BASE;
    uint32_t distance = (uint32_t)(aarch64 ? (to - t->at) / 4 & 0x3ffffff : to - (t->at + 5));
    for (size_t i = 0; i < 4; i++)
        bytes[t->at + i + !aarch64] |= (uint8_t)(distance >> 8 * i);
}

/* Undecodable bytes, preceded by what looks like a function except for a branch into the middle of an instruction. */
static void put_data(void)
{
    if (!aarch64 && below(3) == 0)
        PUT("\x48\x83\xec\x08\x75\x01\xb8\xc3\xc3\xc3\xc3\xc3");
    *vec_push(&m.data) = BASE + at;
    for (unsigned n = 1 + below(9); n > 0 || at % 16 == 0; n -= n > 0) {
        if (aarch64)
            put_word(0x02000000);
        else
            PUT("\x06");
    }
}

/* ---- functions ---- */

static bool is_known(const struct planted *f)
{
    return f->named || f->unwound;
}

/* `indirect`: it jumps through a register, possibly past its end. */
static void put_body(size_t number, bool sure, bool straight, bool *indirect)
{
    if (!straight && (sure || below(3)))
        put_prologue(sure || below(2));
    for (unsigned units = 1 + below(below(12) ? 20 : 90); units > 0; units--) {
        put_plain();
        switch (straight ? 15 : below(16)) {
        case 0:
            put_loop();
            break;
        case 1:
            put_early_return();
            break;
        case 2:
            if (below(3) == 0) {
                put_indirect_jump();
                *indirect = true;
            }
            break;
        case 3:
        case 4:
            put_transfer(true, number, NOT_YET);
            break;
        default:;
        }
    }
    put_plain();
}

/* How it ends: a return; a jump to a function before or after it; a noreturn call; a call of the next function. */
enum end { RETURN, JUMP_BACK, JUMP_ON, STOP, CALL_NEXT, ENDS };

static bool never_returns(size_t f)
{
    return functions[f].named && f % 3 == 0;
}

static enum end put_end(size_t number, size_t first, bool last)
{
    enum end end = below(2) ? RETURN : (enum end)below(ENDS);
    int target = NOT_YET;
    for (size_t i = number; i-- > first && number - i < NEAR;)
        if (end == STOP ? never_returns(i) : functions[i].found)
            target = (int)i;
    if ((end == JUMP_BACK || end == STOP) && target == NOT_YET)
        end = RETURN;
    if (last)
        end = RETURN;
    if (end == RETURN)
        put_return();
    else if (end == JUMP_BACK || end == STOP)
        put_transfer(end == STOP, number, target);
    else
        put_transfer(end == CALL_NEXT, number, (int)(number + 1 + (end == JUMP_ON ? below(3) : 0)));
    return end;
}

/* Gaps are the ranges between known functions. */
static bool in_one_gap(size_t a, size_t b)
{
    for (size_t i = a < b ? a : b; i <= (a < b ? b : a); i++)
        if (is_known(&functions[i]))
            return false;
    return true;
}

/* A function known only through a call is called by a nearby function that is read; otherwise it is not found. */
static bool call_it(size_t number)
{
    for (size_t i = 0; i < transfers.count; i++) {
        struct transfer *t = &transfers.items[i];
        if (t->to == NOT_YET && (across ? !is_known(&functions[t->from]) : in_one_gap(t->from, number)) &&
            t->from + NEAR >= number && number + NEAR >= t->from) {
            t->to = (int)number;
            return true;
        }
    }
    return false;
}

static void aim_transfers(size_t first, bool searched)
{
    for (size_t i = first; i < count; i++)
        if (functions[i].by_call && call_it(i))
            functions[i].found = searched;
    for (size_t i = 0; i < transfers.count; i++) {
        const struct transfer *t = &transfers.items[i];
        size_t low = t->from > first + NEAR ? t->from - NEAR : first;
        size_t to = t->to != NOT_YET ? (size_t)t->to : low + below(2 * NEAR);
        const struct planted *f = &functions[to < count ? to : count - 1];
        if (t->to != NOT_YET)
            aim(t, f->begin);
        else if (!f->found) /* the byte after the call, to compute its address */
            aim(t, BASE + t->at + (aarch64 ? 4 : 5));
        else /* calls into the middle of known functions reveal nothing */
            aim(t, f->begin + (never_returns((size_t)(f - functions)) || (is_known(f) && below(2)) ? 4 : 0));
    }
    transfers.count = 0;
}

static void plant(size_t section, bool searched, bool code)
{
    size_t first = count;
    bool sure = false, follows = false, data = false, call_next = false, hidden = false, last = false;
    for (unsigned n = below(12) == 0 ? 500 : 1 + below(40); !last; n--) {
        struct planted *f = &functions[count];
        last = n == 1 || at + 8000 > BYTES || count + CODE_SECTIONS > MOST;
        *f = (struct planted){.section = section, .by_call = data};
        if (data) {
            put_data();
        } else if (follows && !call_next && below(3) == 0) {
            if (below(2))
                put_padding_to(aarch64 ? 8 : 2);
        } else {
            if (call_next || hidden)
                put_padding();
            put_padding_to(16);
        }
        if (!data) {
            f->named = below(5) == 0;
            f->unwound = below(6) == 0;
            f->entry = below(8) == 0;
        }
        f->begin = BASE + at;
        f->found = code && (is_known(f) || f->entry || (searched && !data));
        bool indirect = false;
        put_body(count, sure, data, &indirect);
        enum end end = put_end(count, first, last || data);
        f->end = BASE + at;
        f->calls_end = call_next = end == CALL_NEXT;
        sure = indirect || end == JUMP_ON;
        hidden = data;
        follows = searched && !is_known(f) && !data;
        data = !call_next && !sure && below(8) == 0;
        count++;
    }
    if (below(3) == 0)
        put_padding_to(16);
    aim_transfers(first, searched);
}

static const struct {
    const char *name;
    bool exec, searched;
} kinds[CODE_SECTIONS] = {{".text.first", true, true}, {".plt.far", true, false}, {".text", true, true},
                          {".iplt.far", true, false},  {".rodata", false, false}, {".text.hot", true, true}};

static void make_layout(void)
{
    m = (struct made){0};
    memset(bytes, 0, sizeof bytes);
    count = at = 0;
    aarch64 = below(2);
    across = below(3) == 0;
    for (size_t i = 0; i < CODE_SECTIONS; i++) {
        size_t begin = at;
        plant(i, kinds[i].searched, kinds[i].exec);
        m.sections[i] = (struct image_section){kinds[i].name, BASE + begin,  at - begin,   bytes + begin,
                                               true,          kinds[i].exec, kinds[i].exec};
    }
    size_t entries = 0;
    m.sections[ENTRIES] = (struct image_section){".init_array", BASE + BYTES, 0, bytes, true, false, true};
    for (size_t i = 0; i < count; i++) {
        const struct planted *f = &functions[i];
        if (f->named)
            m.symbols[m.image.symbol_count++] = (struct image_symbol){.addr = f->begin,
                                                                      .size = f->end - f->begin,
                                                                      .name = never_returns(i) ? "exit" : "named",
                                                                      .kind = SYM_FUNC,
                                                                      .global = true};
        if (f->unwound && kinds[f->section].exec)
            *vec_push(&m.fdes) = (struct fde){f->begin, f->end, 0};
        if (f->entry)
            *vec_push(&m.priv.pointers) = (struct pointer){BASE + BYTES + 8 * entries++, f->begin};
    }
    m.sections[ENTRIES].size = 8 * entries;
    for (uint32_t i = 0; i < SECTIONS; i++)
        m.by_addr[i] = i;
    m.image = (struct image){.arch = aarch64 ? ARCH_AARCH64 : ARCH_X86_64,
                             .position_independent = true,
                             .path = "made",
                             .build_id = "",
                             .sections = m.sections,
                             .section_count = SECTIONS,
                             .symbols = m.symbols,
                             .symbol_count = m.image.symbol_count,
                             .priv = &m.priv};
    m.priv.file = &m.file;
    m.priv.by_addr = m.by_addr;
    m.priv.by_addr_count = SECTIONS;
    m.priv.fdes = &m.fdes;
    m.priv.pointers_ready = true;
    pthread_mutex_init(&m.priv.lock, NULL);
}

static void layout_release(void)
{
    vec_release(&m.fdes);
    vec_release(&m.data);
    vec_release(&m.priv.pointers);
}

/* ---- expected result ---- */

/* End of the function for the decoder: its known end, or the start of the next item. */
static vaddr wall_of(size_t i)
{
    const struct planted *f = &functions[i];
    if (is_known(f))
        return f->end;
    for (size_t k = i + 1; k < count && functions[k].section == f->section; k++)
        if (functions[k].found)
            return functions[k].begin;
    return m.sections[f->section].addr + m.sections[f->section].size;
}

static bool is_listed(const struct planted *f)
{
    return f->found && (is_known(f) || f->entry);
}

static int wanted_at(vaddr addr)
{
    for (size_t i = 0; i < count; i++)
        if (functions[i].found && functions[i].begin <= addr && addr < wall_of(i))
            return (int)i;
    return NOT_YET;
}

static bool is_right(const struct function *got, size_t i, vaddr end)
{
    const struct planted *f = &functions[i];
    int origin = (f->named ? FROM_SYMTAB : 0) | (f->unwound ? FROM_EH_FRAME : 0) | (f->entry ? FROM_ENTRY : 0);
    bool right = got && got->begin == f->begin && got->end == end && got->sized == is_known(f) && !got->plt &&
                 got->part_of == FUNCTION_NONE && got->origin == (origin ? origin : FROM_GAP);
    if (!right)
        printf("# %s %zu: %llx-%llx %x, %llx-%llx %x wanted; %s%s%s%sin %s\n", aarch64 ? "aarch64" : "x86-64", i,
               got ? (unsigned long long)got->begin : 0, got ? (unsigned long long)got->end : 0, got ? got->origin : 0u,
               (unsigned long long)f->begin, (unsigned long long)end, (unsigned)origin, f->by_call ? "called " : "",
               f->calls_end ? "calls " : "", f->entry ? "entry " : "", is_known(f) ? "known " : "",
               kinds[f->section].name);
    return right;
}

static const struct function *only_at(const struct function_table *t, vaddr addr)
{
    uint32_t f = functions_at(t, addr);
    return f == FUNCTION_NONE ? NULL : &t->functions[f];
}

/* Memory after the last function of a table is not read: the same number is found if it is inaccessible. */
static size_t found_at_edge(const struct function_table *t)
{
    static struct guarded_room edge;
    struct function_table at_edge = *t;
    struct range_list all = {0}, some = {0}, called = {0};
    vaddr addrs[3] = {BASE, BASE + (vaddr)at / 2, BASE + (vaddr)at - 1};
    at_edge.functions = (struct function *)(void *)guarded_copy(&edge, t->functions, t->count * sizeof *t->functions);
    gaps_find(&at_edge, &all);
    gaps_find_at(&at_edge, addrs, ARRAY_SIZE(addrs), &some);
    gaps_find_called(&at_edge, addrs, ARRAY_SIZE(addrs), &called);
    size_t n = all.count;
    vec_release(&all);
    vec_release(&some);
    vec_release(&called);
    return n;
}

static bool all_are_right(void)
{
    struct function_table *t = functions_list(&m.image, NULL);
    size_t n = 0, open = t->count, found = found_at_edge(t);
    functions_fill_gaps(t);
    bool right = true;
    for (size_t i = 0; i < count && right; i++)
        if (functions[i].found) {
            right = is_right(n < t->count ? &t->functions[n] : NULL, i, wall_of(i));
            n++;
        }
    right = right && n == t->count && found + open >= n;
    functions_free(t);
    return right;
}

static int by_address(const void *a, const void *b)
{
    const vaddr *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Queries one or several random addresses; those outside all functions are ignored. */
static bool some_are_right(size_t n)
{
    struct function_table *t = functions_list(&m.image, NULL);
    vaddr addrs[16];
    size_t wanted = t->count;
    int last = NOT_YET;
    bool right = true;
    for (size_t i = 0; i < n; i++)
        addrs[i] = BASE + below((uint32_t)at);
    qsort(addrs, n, sizeof *addrs, by_address);
    functions_fill_gaps_at(t, addrs, n);
    for (size_t i = 0; i < n && right; i++) {
        int f = wanted_at(addrs[i]);
        if (f == NOT_YET)
            right = !only_at(t, addrs[i]);
        else
            right = is_right(only_at(t, addrs[i]), (size_t)f, wall_of((size_t)f));
        wanted += f != NOT_YET && f != last && !is_listed(&functions[f]);
        last = f;
    }
    if (right && t->count != wanted)
        printf("# %zu functions, %zu wanted\n", t->count, wanted);
    right = right && t->count == wanted;
    functions_free(t);
    return right;
}

/* By calls from elsewhere: they end at their last instruction. Every function, or one in `step`. */
static bool called_are_right(size_t first, size_t step)
{
    struct function_table *t = functions_list(&m.image, NULL);
    struct vaddr_list entries = {0};
    bool right = true;
    for (size_t i = first; i < count; i += step) /* known functions are not in gaps */
        if (is_known(&functions[i]) ||
            (functions[i].found && !functions[i].calls_end && kinds[functions[i].section].searched))
            *vec_push(&entries) = functions[i].begin;
    functions_fill_gaps_called(t, entries.items, entries.count);
    for (size_t i = first; i < count && right; i += step)
        if (functions[i].found && !is_known(&functions[i]) && !functions[i].calls_end &&
            kinds[functions[i].section].searched)
            right = is_right(only_at(t, functions[i].begin), i, functions[i].end);
    vec_release(&entries);
    functions_free(t);
    return right;
}

/* A call into data creates a function of one byte there. */
static bool data_is_right(void)
{
    if (m.data.count == 0)
        return true;
    vaddr addr = m.data.items[below((uint32_t)m.data.count)];
    struct function_table *t = functions_list(&m.image, NULL);
    functions_fill_gaps_called(t, &addr, 1);
    const struct function *f = only_at(t, addr);
    bool searched = false;
    for (size_t i = 0; i < CODE_SECTIONS; i++)
        searched |= kinds[i].searched && addr - m.sections[i].addr < m.sections[i].size;
    bool right = searched ? f && f->begin == addr && f->end == addr + 1 : !f || f->begin != addr;
    functions_free(t);
    return right;
}

int main(void)
{
    enum { ROUNDS = 120 };
    int all = 0, one = 0, some = 0, called = 0, data = 0, hidden = 0, round = 0;
    for (; round < ROUNDS; round++) {
        make_layout();
        for (size_t i = 0; i < count; i++)
            hidden += functions[i].by_call && functions[i].found;
        all += all_are_right();
        bool right = true;
        for (int k = 0; k < 10 && right && !across; k++)
            right = some_are_right(1);
        one += right;
        for (int k = 0; k < 4 && right && !across; k++)
            right = some_are_right(2 + below(15));
        some += right;
        right = called_are_right(0, 1) && called_are_right(below(3), 3);
        for (int k = 0; k < 6 && right; k++)
            right = called_are_right(below((uint32_t)count), count);
        called += right;
        data += data_is_right();
        layout_release();
    }
    CHECK_INT(all, ROUNDS);
    CHECK_INT(one, ROUNDS);
    CHECK_INT(some, ROUNDS);
    CHECK_INT(called, ROUNDS);
    CHECK_INT(data, ROUNDS);
    CHECK(hidden > ROUNDS);
    vec_release(&transfers);
    return tap_done();
}
