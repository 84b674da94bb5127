/*
 * Graphs of single functions from their bytes. The bytes were made from the assembly beside them with
 *
 *     as t.s -o t.o && ld -e 0x1000 -Ttext=0x1000 --section-start=.cold=0x4000 --section-start=.rodata=0x5000 t.o
 *
 * where g = 0x2000 is another function and stop = 0x3000 one that never returns.
 *
 * A graph is written block by block, "begin-end>successors", in hex from the function's begin (cold part: from c000);
 * "^" an entry, "!" undecodable end, "~" before a landing pad; then "j" resolved/all indirect jumps, "p" padding, "t"
 * table and "b" undecodable bytes where there are any.
 */
#include "bloop/code/test_image.h"
#include "tests/tap.h"

#include <stdlib.h>

#define HEX(s) s

static const struct {
    const char *name, *assembly, *text, *cold, *rodata, *graph;
} cases[] = {
    {"straight line", "push %rbp; mov %rsp,%rbp; pop %rbp; ret", HEX("554889e55dc3"), HEX(""), HEX(""), "^0-6"},
    {"diamond", "test %edi,%edi; je 1f; mov $1,%eax; jmp 2f; 1: mov $2,%eax; 2: ret",
     HEX("85ff7407b801000000eb05b802000000c3"), HEX(""), HEX(""), "^0-4>4,b 4-b>10 b-10>10 10-11"},
    {"loop", "xor %eax,%eax; 1: add %edi,%eax; dec %edi; jne 1b; ret", HEX("31c001f8ffcf75fac3"), HEX(""), HEX(""),
     "^0-2>2 2-8>8,2 8-9"},
    {"the entry is a header", "0: dec %edi; jne 0b; ret", HEX("ffcf75fcc3"), HEX(""), HEX(""), "^0-4>4,0 4-5"},
    {"a call ends no block", "call g; ret", HEX("e8fb0f0000c3"), HEX(""), HEX(""), "^0-6"},
    {"a call that never returns does", "test %edi,%edi; je 1f; call stop; 1: ret", HEX("85ff7405e8f71f0000c3"), HEX(""),
     HEX(""), "^0-4>4,9 4-9 9-a"},
    {"a call at the wall never returns", "test %edi,%edi; je 1f; ret; 1: call g", HEX("85ff7401c3e8f60f0000"), HEX(""),
     HEX(""), "^0-4>4,5 4-5 5-a"},
    {"tail calls", "test %edi,%edi; je g; jmp stop", HEX("85ff0f84f80f0000e9f31f0000"), HEX(""), HEX(""), "^0-8>8 8-d"},
    {"a jump into the middle of another function leaves", "jmp g+4", HEX("e9ff0f0000"), HEX(""), HEX(""), "^0-5"},
    {"running out of the end", "nop; nop", HEX("9090"), HEX(""), HEX(""), "^0-2"},
    {"cold part and back", "test %edi,%edi; jne 2f; 1: ret; .section .cold,\"ax\"; 2: inc %edi; jmp 1b",
     HEX("85ff0f85f82f0000c3"), HEX("ffc7e901d0ffff"), HEX(""), "^0-8>8,c000 8-9 c000-c007>8"},
    {"locked or not: overlapping code", "cmpl $0,%fs:0x18; je 1f; .byte 0xf0; 1: cmpxchg %esi,(%rdi); jne 1b; ret",
     HEX("64833c2518000000007401f00fb13775fbc3"), HEX(""), HEX(""), "^0-b>b,c b-f>f c-f>f f-11>11,c 11-12"},
    {"an undecodable byte stops the block only", "test %edi,%edi; je 1f; .byte 0x06; 1: ret", HEX("85ff740106c3"),
     HEX(""), HEX(""), "^0-4>4,5 4-5! 5-6 b1"},
    {"a vector instruction nobody knows has a length", "1: .byte 0x62,0xf6,0x7d,0x48,0xff,0xc0; dec %edi; jne 1b; ret",
     HEX("62f67d48ffc0ffcf75f6c3"), HEX(""), HEX(""), "^0-6!>6 6-a>a,0 a-b b6"},
    {"rep ret and padding", "rep ret; nopw 0(%rax,%rax,1); int3", HEX("f3c3660f1f0400cc"), HEX(""), HEX(""), "^0-2 p6"},
    {"ud2 and hlt", "test %edi,%edi; je 1f; ud2; 1: hlt", HEX("85ff74020f0bf4"), HEX(""), HEX(""), "^0-4>4,6 4-6 6-7"},
    {"endbr64", "endbr64; ret", HEX("f30f1efac3"), HEX(""), HEX(""), "^0-5"},
    {"retpoline in line", "call 1f; 2: pause; lfence; jmp 2b; 1: mov %rax,(%rsp); ret",
     HEX("e807000000f3900faee8ebf948890424c3"), HEX(""), HEX(""), "^0-5>5 5-c>5 ^c-11"},
    {"xbegin falls through", "xbegin 1f; nop; 1: xend; ret", HEX("c7f801000000900f01d5c3"), HEX(""), HEX(""), "^0-b"},
    {"landing pad", "push %rbx; call g; pop %rbx; ret; mov %rax,%rdi; call stop",
     HEX("53e8fa0f00005bc34889c7e8f01f0000"), HEX(""), HEX(""), "^0-8>~8 8-10"},
    {"table of offsets, guarded",
     "cmp $2,%edi; ja 9f; lea T(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; notrack jmp *%rax; 1: ret; 2: "
     "nop; ret; 3: xor %eax,%eax; ret; 9: ret; .section .rodata; T: .long 1b-T, 2b-T, 3b-T, 9b-T",
     HEX("83ff027717488d15f43f0000486304ba4801d03effe0c390c331c0c3c3"), HEX(""),
     HEX("16c0ffff17c0ffff19c0ffff1cc0ffff"), "^0-5>5,1c 5-16>16,17,19 16-17 17-19 19-1c 1c-1d j1/1"},
    {"the same at -O0: index in a stack slot",
     "push %rbp; mov %rsp,%rbp; mov %edi,-4(%rbp); cmpl $2,-4(%rbp); ja 9f; mov -4(%rbp),%eax; lea 0(,%rax,4),%rdx; "
     "lea T(%rip),%rax; mov (%rdx,%rax),%eax; cltq; lea T(%rip),%rdx; add %rdx,%rax; jmp *%rax; 1: nop; 2: nop; 9: pop "
     "%rbp; ret; .section .rodata; T: .long 1b-T, 2b-T, 9b-T, 0x7fffffff",
     HEX("554889e5897dfc837dfc0277258b45fc488d148500000000488d05e13f00008b04024898488d15d53f00004801d0ffe090905dc3"),
     HEX(""), HEX("30c0ffff31c0ffff32c0ffffffffff7f"), "^0-d>d,32 d-30>30,31,32 30-31>31 31-32>32 32-34 j1/1"},
    {"table of addresses, mask",
     "and $3,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: hlt; .section .rodata; T: .quad 1b, 2b, "
     "3b, 4b",
     HEX("83e703ff24fd00500000c390c39090c3f4"), HEX(""),
     HEX("0a100000000000000b100000000000000d100000000000001010000000000000"), "^0-a>a,b,d,10 a-b b-d d-10 10-11 j1/1"},
    {"bytes as a table",
     "movzbl %dil,%eax; cmp $3,%al; jae 9f; lea T(%rip),%rcx; movzbl (%rcx,%rax),%eax; lea 1f(%rip),%rdx; add "
     "%rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 3: hlt; 9: ret; .section .rodata; T: .byte 0, 2b-1b, 3b-1b, 0xff",
     HEX("400fb6c73c03731b488d0df13f00000fb60401488d15050000004801d0ffe0c390c3f4c3"), HEX(""), HEX("000103ff"),
     "^0-8>8,23 8-1f>1f,20,22 1f-20 20-22 22-23 23-24 j1/1"},
    {"no guard: the table ends where an entry leads nowhere",
     "lea T(%rip),%rdx; mov %edi,%edi; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 1: xor %eax,%eax; ret; 2: "
     "mov $2,%eax; ret; .section .rodata; T: .long 1b-T, 2b-T, 0x1000000, 1b-T",
     HEX("488d15f93f000089ff486304ba4801d0ffe031c0c3b802000000c3"), HEX(""), HEX("12c0ffff15c0ffff0000000112c0ffff"),
     "^0-12>12,15 12-15 15-1b j1/1"},
    {"a hole at the end of the function",
     "lea T(%rip),%rdx; mov %edi,%edi; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: "
     ".section .rodata; T: .long 1b-T, 9b-T, 2b-T, 0x1000000",
     HEX("488d15f93f000089ff486304ba4801d0ffe0c390c3"), HEX(""), HEX("12c0ffff15c0ffff13c0ffff00000001"),
     "^0-12>12,13 12-13 13-15 j1/1"},
    {"subtracted first, base set before a loop",
     "push %rbx; lea T(%rip),%rbx; 5: lea -10(%rdi),%eax; cmp $1,%eax; ja 9f; movslq (%rbx,%rax,4),%rax; add "
     "%rbx,%rax; jmp *%rax; 1: inc %edi; jmp 5b; 2: dec %edi; jmp 5b; 9: pop %rbx; ret; .section .rodata; T: .long "
     "1b-T, 2b-T, 9b-T, 9b-T",
     HEX("53488d1df83f00008d47f683f8017711486304834801d8ffe0ffc7ebebffcfebe75bc3"), HEX(""),
     HEX("19c0ffff1dc0ffff21c0ffff21c0ffff"), "^0-8>8 8-10>10,21 10-19>19,1d 19-1d>8 1d-21>8 21-23 j1/1"},
    {"two dispatches through one table are one",
     "movzbl (%rdi),%eax; jmp *T(,%rax,8); 1: inc %rdi; movzbl (%rdi),%eax; jmp *T(,%rax,8); 2: inc %rdi; nop; movzbl "
     "(%rdi),%eax; jmp *T(,%rax,8); 3: ret; .section .rodata; T: .quad 1b, 2b, 3b, 0",
     HEX("0fb607ff24c50050000048ffc70fb607ff24c50050000048ffc7900fb607ff24c500500000c3"), HEX(""),
     HEX("0a10000000000000171000000000000025100000000000000000000000000000"),
     "^0-3>3 3-a>a,17,25 a-17>3 17-25>3 25-26 j3/3"},
    {"table within the code",
     "cmp $1,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); T: .quad 1f, 9f; 1: ret; 9: nop; ret",
     HEX("83ff01771a89ffff24fd0e1000001e100000000000001f10000000000000c390c3"), HEX(""), HEX(""),
     "^0-5>5,1f 5-e>1e,1f 1e-1f 1f-21 j1/1 t16"},
    {"a function pointer with the frame gone is a tail call", "push %rbx; mov (%rdi),%rax; pop %rbx; jmp *16(%rax)",
     HEX("53488b075bff6010"), HEX(""), HEX(""), "^0-8"},
    {"leave, and a jump through a register", "push %rbp; mov %rsp,%rbp; call g; leave; jmp *%rax",
     HEX("554889e5e8f70f0000c9ffe0"), HEX(""), HEX(""), "^0-c"},
    {"a table of other functions is a tail call",
     "cmp $1,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); 9: ret; .section .rodata; T: .quad g, stop",
     HEX("83ff01770989ffff24fd00500000c3"), HEX(""), HEX("00200000000000000030000000000000"), "^0-5>5,e 5-e e-f"},
    {"with the frame in place and no table: unresolved", "push %rbx; mov (%rdi),%rax; jmp *%rax", HEX("53488b07ffe0"),
     HEX(""), HEX(""), "^0-6 j0/1"},
    {"threaded code: every label the function takes",
     "push %rbx; lea T(%rip),%rbx; mov (%rdi),%rax; jmp *(%rax); 1: add $8,%rdi; jmp *(%rdi); 2: pop %rbx; ret; "
     ".section .rodata; T: .quad 1b, 2b, 0",
     HEX("53488d1df83f0000488b07ff204883c708ff275bc3"), HEX(""),
     HEX("0d1000000000000013100000000000000000000000000000"), "^0-b>b b-d>d,13 d-13>b 13-15 j2/2"},
};

static size_t from_hex(const char *hex, uint8_t *bytes, size_t room)
{
    size_t n = 0;
    for (; hex[2 * n] != 0 && n < room; n++)
        bytes[n] = (uint8_t)strtoul((char[]){hex[2 * n], hex[2 * n + 1], 0}, NULL, 16);
    return n;
}

static bool is_entry(const struct cfg *g, uint32_t b)
{
    for (size_t i = 0; i < g->entry_count; i++)
        if (g->entries[i] == b)
            return true;
    return false;
}

static unsigned place(vaddr a)
{
    return (unsigned)(a >= 0x4000 ? a - 0x4000 + 0xc000 : a - 0x1000);
}

static void print_graph(struct buf *out, const struct cfg *g)
{
    for (uint32_t i = 0; i < g->block_count; i++) {
        const struct cfg_block *b = &g->blocks[i];
        buf_printf(out, "%s%s%x-%x%s", i > 0 ? " " : "", is_entry(g, i) ? "^" : "", place(b->begin), place(b->end),
                   b->bad_end ? "!" : "");
        for (uint32_t k = 0; k < b->succ_count; k++)
            buf_printf(out, "%s%s%x", k == 0 ? ">" : ",", k + b->pad_count >= b->succ_count ? "~" : "",
                       place(g->blocks[g->succs[b->succ_first + k]].begin));
    }
    if (g->indirect_jumps > 0)
        buf_printf(out, " j%u/%u", g->indirect_jumps - g->unresolved_jumps, g->indirect_jumps);
    if (g->padding_bytes > 0)
        buf_printf(out, " p%u", (unsigned)g->padding_bytes);
    if (g->table_bytes > 0)
        buf_printf(out, " t%u", (unsigned)g->table_bytes);
    if (g->bad_bytes > 0)
        buf_printf(out, " b%u", (unsigned)g->bad_bytes);
}

static void test_case(size_t i, struct cfg *g)
{
    uint8_t text[512], cold[64], rodata[256], other[16] = {0xc3};
    struct image_section sections[] = {
        {.name = ".text",
         .addr = 0x1000,
         .bytes = text,
         .size = from_hex(cases[i].text, text, sizeof text),
         .alloc = true,
         .exec = true},
        {.name = ".text", .addr = 0x2000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
        {.name = ".text", .addr = 0x3000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
        {.name = ".cold",
         .addr = 0x4000,
         .bytes = cold,
         .size = from_hex(cases[i].cold, cold, sizeof cold),
         .alloc = true,
         .exec = true},
        {.name = ".rodata",
         .addr = 0x5000,
         .bytes = rodata,
         .size = from_hex(cases[i].rodata, rodata, sizeof rodata),
         .alloc = true},
    };
    struct image im = {.arch = ARCH_X86_64, .sections = sections, .section_count = ARRAY_SIZE(sections)};
    struct function functions[] = {
        {.begin = 0x1000, .end = 0x1000 + sections[0].size, .link_name = "f", .part_of = FUNCTION_NONE},
        {.begin = 0x2000, .end = 0x2010, .link_name = "g", .part_of = FUNCTION_NONE},
        {.begin = 0x3000, .end = 0x3010, .link_name = "stop", .part_of = FUNCTION_NONE},
        {.begin = 0x4000, .end = 0x4000 + sections[3].size, .link_name = "f.cold", .part_of = 0},
    };
    struct function_table table = {.functions = functions, .count = sections[3].size > 0 ? 4 : 3};
    const uint8_t noreturn[] = {0, 0, 1, 0};
    struct vaddr_list calls = {0};
    struct cfg_input in = {.image = &im,
                           .functions = &table,
                           .arch = arch_get(ARCH_X86_64),
                           .all = &table,
                           .noreturn = noreturn,
                           .calls = &calls};
    struct buf out = {0};
    test_site_count = strcmp(cases[i].name, "landing pad") == 0;
    test_sites[0] = (struct call_site){0x1001, 0x1006, 0x1008};
    cfg_build(&in, g);
    print_graph(&out, g);
    tap_str(out.bytes, cases[i].graph, cases[i].name, __FILE__, __LINE__);
    buf_release(&out);
    vec_release(&calls);
}

/* The function "f" of each case, by the closure: does it never return? */
static void test_noreturn(void)
{
    static const struct {
        const char *name, *text;
        bool never;
    } rows[] = {
        {"ret", "c3", false},
        {"endless loop", "ebfe", true},
        {"call of what never returns, then ret", "e8fb1f0000c3", true},  /* call stop; ret */
        {"that call on one of two ways", "85ff7405e8f71f0000c3", false}, /* test; je 1f; call stop; 1: ret */
        {"tail call of what returns", "e9fb0f0000", false},              /* jmp g */
        {"tail call of what never returns", "e9fb1f0000", true},         /* jmp stop */
        {"hlt", "f4", true},
        {"call through a slot named abort", "ff15f24f0000c3", true}, /* call *0x5ff8(%rip) */
        {"jump through a pointer", "ff27", false},
        {"runs out of its end", "9090", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint8_t text[64], other[16] = {0xc3};
        struct image_section sections[] = {
            {.name = ".text",
             .addr = 0x1000,
             .bytes = text,
             .size = from_hex(rows[i].text, text, sizeof text),
             .alloc = true,
             .exec = true},
            {.name = ".text", .addr = 0x2000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
            {.name = ".text", .addr = 0x3000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
        };
        struct image im = {.arch = ARCH_X86_64, .sections = sections, .section_count = ARRAY_SIZE(sections)};
        struct function functions[] = {
            {.begin = 0x1000, .end = 0x1000 + sections[0].size, .link_name = "f", .part_of = FUNCTION_NONE},
            {.begin = 0x2000, .end = 0x2010, .link_name = "g", .part_of = FUNCTION_NONE},
            {.begin = 0x3000, .end = 0x3010, .link_name = "exit@@GLIBC_2.2.5", .part_of = FUNCTION_NONE},
        };
        struct function_table table = {.functions = functions, .count = 3};
        uint8_t *noreturn = noreturn_find(&im, &table, true, 2);
        tap_int(noreturn[0], rows[i].never, rows[i].name, __FILE__, __LINE__);
        mem_free(noreturn);
    }
}

/* A chain of functions, each calling the next and then returning; the last one calls abort: none returns. And no names
 * at all: all do. */
static void test_noreturn_chain(void)
{
    enum { COUNT = 2000 };
    static uint8_t text[COUNT * 16];
    static struct function functions[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        int32_t to = 16 - 5;
        text[16 * i] = 0xe8; /* call the next; ret */
        memcpy(text + 16 * i + 1, &to, 4);
        text[16 * i + 5] = 0xc3;
        functions[i] = (struct function){
            .begin = 0x10000 + 16 * i, .end = 0x10010 + 16 * i, .link_name = "", .part_of = FUNCTION_NONE};
    }
    text[16 * (COUNT - 1)] = 0xc3;
    struct image_section section = {
        .name = ".text", .addr = 0x10000, .bytes = text, .size = sizeof text, .alloc = true, .exec = true};
    struct image im = {.arch = ARCH_X86_64, .sections = &section, .section_count = 1};
    struct function_table table = {.functions = functions, .count = COUNT};
    for (int named = 0; named < 2; named++) {
        functions[COUNT - 1].link_name = named ? "abort" : "";
        uint8_t *noreturn = noreturn_find(&im, &table, true, 3);
        size_t never = 0;
        for (size_t i = 0; i < COUNT; i++)
            never += noreturn[i];
        CHECK_INT(never, named ? COUNT : 0);
        mem_free(noreturn);
        /* On demand: two calls away from the name it is known; a long way off it is not looked for. */
        noreturn = noreturn_find(&im, &table, false, 1);
        noreturn_follow(&im, &table, noreturn, (const uint32_t[]){COUNT - 3, 5}, 2);
        CHECK_INT(noreturn[COUNT - 3], named);
        CHECK_INT(noreturn[5], 0);
        mem_free(noreturn);
    }
}

int main(int argc, char **argv)
{
    struct cfg g = {0};
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        test_case(i, &g);
    cfg_release(&g);
    test_noreturn();
    test_noreturn_chain();
    return tap_done();
}
