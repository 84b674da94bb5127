/* SPDX-License-Identifier: BSD-3-Clause */
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
#include "tests/fixtures/code_image.h"
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
    {"a branch at the wall", "0: dec %edi; jne 0b", HEX("ffcf75fc"), HEX(""), HEX(""), "^0-4>0"},
    {"a branch at the wall does not go on in the cold part",
     "0: dec %edi; je 2f; jne 0b; .section .cold,\"ax\"; 2: hlt", HEX("ffcf0f84f82f000075f6"), HEX("f4"), HEX(""),
     "^0-8>8,c000 8-a>0 c000-c001"},
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
    {"the lower of two dispatches is met last",
     "movzbl (%rdi),%eax; jmp 2f; 1: movzbl (%rdi),%eax; jmp *T(,%rax,8); 2: jmp *T(,%rax,8); 3: ret; .section "
     ".rodata; "
     "T: .quad 1b, 3b, 0",
     HEX("0fb607eb0a0fb607ff24c500500000ff24c500500000c3"), HEX(""),
     HEX("051000000000000016100000000000000000000000000000"), "^0-5>f 5-8>8 8-f>5,16 f-16>8 16-17 j2/2"},
    {"a guard beyond a table within the code: code stays code",
     "cmp $2,%edi; ja 9f; jmp *T(,%rdi,8); T: .quad 1f, 9f; 9: .fill 7,1,0x90; ret; 1: ret",
     HEX("83ff027717ff24fd0c10000024100000000000001c10000000000000{90*7}c3c3"), HEX(""), HEX(""),
     "^0-5>5,1c 5-c>1c,24 1c-24 24-25 j1/1 t16"},
    {"table within the code",
     "cmp $1,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); T: .quad 1f, 9f; 1: ret; 9: nop; ret",
     HEX("83ff01771a89ffff24fd0e1000001e100000000000001f10000000000000c390c3"), HEX(""), HEX(""),
     "^0-5>5,1f 5-e>1e,1f 1e-1f 1f-21 j1/1 t16"},
    {"a loop at the entry changes the index: what the caller gave is not known",
     "0: sub $1,%edi; jne 0b; cmp $2,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); T: .quad 1f, 2f, 9f; 1: nop; 2: nop; "
     "9: "
     "ret",
     HEX("83ef0175fb83ff02772389ffff24fd131000002b100000000000002c100000000000002d100000000000009090c3"), HEX(""),
     HEX(""), "^0-5>5,0 5-a>a,2d a-13>2b,2c,2d 2b-2c>2c 2c-2d>2d 2d-2e j1/1 t24"},
    {"the same at the entry of a subroutine",
     "call 5f; ret; 5: sub $1,%edi; jne 5b; cmp $2,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); T: .quad 1f, 2f, 9f; "
     "1: nop; 2: nop; 9: "
     "ret",
     HEX("e801000000c383ef0175fb83ff02772389ffff24fd191000003110000000000000321000000000000033100000000000009090c3"),
     HEX(""), HEX(""), "^0-6 ^6-b>b,6 b-10>10,33 10-19>31,32,33 31-32>32 32-33>33 33-34 j1/1 t24"},
    {"a function pointer with the frame gone is a tail call", "push %rbx; mov (%rdi),%rax; pop %rbx; jmp *16(%rax)",
     HEX("53488b075bff6010"), HEX(""), HEX(""), "^0-8"},
    {"leave, and a jump through a register", "push %rbp; mov %rsp,%rbp; call g; leave; jmp *%rax",
     HEX("554889e5e8f70f0000c9ffe0"), HEX(""), HEX(""), "^0-c"},
    {"a table of other functions is a tail call",
     "cmp $1,%edi; ja 9f; mov %edi,%edi; jmp *T(,%rdi,8); 9: ret; .section .rodata; T: .quad g, stop",
     HEX("83ff01770989ffff24fd00500000c3"), HEX(""), HEX("00200000000000000030000000000000"), "^0-5>5,e 5-e e-f"},
    {"with the frame in place through a pointer, as the linker's first entry does: a tail call",
     "push %rbx; jmp *P(%rip); .section .rodata; P: .quad 0", HEX("53ff25f93f0000"), HEX(""), HEX("0000000000000000"),
     "^0-7"},
    {"with the frame in place and no table: unresolved", "push %rbx; mov (%rdi),%rax; jmp *%rax", HEX("53488b07ffe0"),
     HEX(""), HEX(""), "^0-6 j0/1"},
    {"the same behind so much that the frame is long out of sight",
     "push %rbx; mov (%rdi),%rax; .fill 40,1,0x90; jmp *%rax", HEX("53488b07{90*40}ffe0"), HEX(""), HEX(""),
     "^0-2e j0/1"},
    {"threaded code: every label the function takes",
     "push %rbx; lea T(%rip),%rbx; mov (%rdi),%rax; jmp *(%rax); 1: add $8,%rdi; jmp *(%rdi); 2: pop %rbx; ret; "
     ".section .rodata; T: .quad 1b, 2b, 0",
     HEX("53488d1df83f0000488b07ff204883c708ff275bc3"), HEX(""),
     HEX("0d1000000000000013100000000000000000000000000000"), "^0-b>b b-d>d,13 d-13>b 13-15 j2/2"},
    {"guard: ja falls through for 0 to 2",
     "cmp $2,%edi; ja 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff027711ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f1000000000000012100000000000001610000000000000"),
     "^0-5>5,16 5-c>c,d,f c-d d-f f-12 16-17 j1/1 p3"},
    {"guard: jae falls through for 0 to 1",
     "cmp $2,%edi; jae 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff027311ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f1000000000000012100000000000001610000000000000"),
     "^0-5>5,16 5-c>c,d c-d d-f 16-17 j1/1 p2"},
    {"guard: jb leads there for 0 to 1",
     "cmp $2,%edi; jb 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff0272020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f10000000000000111000000000000014100000000000001810000000000000"),
     "^0-5>5,7 5-7 7-e>e,f e-f f-11 j1/1 p2"},
    {"guard: jbe leads there for 0 to 2",
     "cmp $2,%edi; jbe 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff0276020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f10000000000000111000000000000014100000000000001810000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11 e-f f-11 11-14 j1/1 p3"},
    {"guard: jg falls through for 0 to 2",
     "cmp $2,%edi; jg 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff027f11ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f1000000000000012100000000000001610000000000000"),
     "^0-5>5,16 5-c>c,d,f c-d d-f f-12 16-17 j1/1 p3"},
    {"guard: jle leads there for 0 to 2",
     "cmp $2,%edi; jle 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff027e020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f10000000000000111000000000000014100000000000001810000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11 e-f f-11 11-14 j1/1 p3"},
    {"guard: je leads there for 2",
     "cmp $2,%edi; je 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff0274020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f10000000000000111000000000000014100000000000001810000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11 e-f f-11 11-14 j1/1 p3"},
    {"guard: jne falls through for 2",
     "cmp $2,%edi; jne 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff027511ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f1000000000000012100000000000001610000000000000"),
     "^0-5>5,16 5-c>c,d,f c-d d-f f-12 16-17 j1/1 p3"},
    {"guard: jl says nothing; every label",
     "cmp $2,%edi; jl 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027c020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard: ja the wrong way says nothing",
     "cmp $2,%edi; ja 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff0277020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard with a constant in a register",
     "mov $2,%esi; cmp %esi,%edi; ja 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; "
     "ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("be0200000039f77711ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("10100000000000001110000000000000131000000000000016100000000000001a10000000000000"),
     "^0-9>9,1a 9-10>10,11,13 10-11 11-13 13-16 1a-1b j1/1 p3"},
    {"guard of another register says nothing",
     "cmp $1,%esi; ja 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83fe017711ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f10000000000000121000000000000016100000000000000000000000000000"),
     "^0-5>5,16 5-c>c,d,f,12,16 c-d d-f f-12 12-16 16-17 j1/1"},
    {"guard of an older value says nothing",
     "cmp $1,%edi; ja 9f; mov %esi,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; "
     "ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff01771389f7ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,18 5-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"flags of something else in between",
     "cmp $1,%edi; inc %esi; ja 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff01ffc67711ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-7>7,18 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard of a byte: 0x82 is 130",
     "movzbl %dil,%eax; cmpb $0x82,%dil; ja 9f; movzbl T(,%rax,1),%eax; add $B,%rax; jmp *%rax; T: .fill 131,1,1; B: "
     "ret; 1: nop; ret; 9: hlt",
     HEX("400fb6c74080ff820f87960000000fb604051e1000004805a1100000ffe0{01*131}c390c3f4"), HEX(""), HEX(""),
     "^0-e>e,a4 e-1e>a2 a2-a4 a4-a5 j1/1 t131"},
    {"guard of 8 times the index: below 17",
     "lea 0(,%rdi,8),%rax; cmp $17,%rax; jae 9f; jmp *T(%rax); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; "
     "nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("488d04fd000000004883f8117310ffa000500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1410000000000000151000000000000017100000000000001a100000000000001e10000000000000"),
     "^0-e>e,1e e-14>14,15,17 14-15 15-17 17-1a 1e-1f j1/1 p3"},
    {"guard of 8 times the index: below 16",
     "lea 0(,%rdi,8),%rax; cmp $16,%rax; jae 9f; jmp *T(%rax); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; "
     "nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("488d04fd000000004883f8107310ffa000500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1410000000000000151000000000000017100000000000001a100000000000001e10000000000000"),
     "^0-e>e,1e e-14>14,15 14-15 15-17 1e-1f j1/1 p2"},
    {"added before the guard, wrapping around",
     "lea 5(%rdi),%eax; cmp $2,%eax; ja 9f; mov %eax,%eax; jmp *T(,%rax,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: "
     "nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("8d470583f802771389c0ff24c500500000c390c39090c3909090c3f4"), HEX(""),
     HEX("11100000000000001210000000000000141000000000000017100000000000001b10000000000000"),
     "^0-8>8,1b 8-11>11,12,14 11-12 12-14 14-17 1b-1c j1/1 p3"},
    {"a mask",
     "and $2,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section "
     ".rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83e702ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0a100000000000000b100000000000000d10000000000000101000000000000014100000000000000000000000000000"),
     "^0-a>a,b,d a-b b-d d-10 j1/1 p3"},
    {"three bits of 64",
     "shr $61,%rdi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; .section .rodata; T: .quad 1b, 1b, 1b, 1b, 1b, 1b, 1b, 2b, "
     "1b+1",
     HEX("48c1ef3dff24fd00500000c390c3"), HEX(""), HEX("{0b10000000000000*7}0c100000000000000c10000000000000"),
     "^0-b>b,c b-c c-e j1/1"},
    {"two bits of 64, shifted twice",
     "shr $40,%rdi; shr $22,%rdi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("48c1ef2848c1ef16ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0f100000000000001010000000000000121000000000000015100000000000001910000000000000"),
     "^0-f>f,10,12,15 f-10 10-12 12-15 15-19 j1/1"},
    {"two bits of 32",
     "shr $30,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section "
     ".rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("c1ef1eff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0a100000000000000b100000000000000d1000000000000010100000000000001410000000000000"),
     "^0-a>a,b,d,10 a-b b-d d-10 10-14 j1/1"},
    {"three bits of a byte",
     "movzbl %dil,%eax; shr $5,%eax; jmp *T(,%rax,8); 1: ret; 2: nop; ret; .section .rodata; T: .quad 1b, 1b, 1b, 1b, "
     "1b, 1b, 1b, 2b, 1b+1",
     HEX("400fb6c7c1e805ff24c500500000c390c3"), HEX(""), HEX("{0e10000000000000*7}0f100000000000000f10000000000000"),
     "^0-e>e,f e-f f-11 j1/1"},
    {"a mask, shifted: 0 to 2",
     "and $4,%edi; shr $1,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt; "
     " .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83e704d1efff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f1000000000000012100000000000001610000000000000"),
     "^0-c>c,d,f c-d d-f f-12 j1/1 p3"},
    {"shifted to nothing",
     "push %rbx; and $7,%edi; shr $3,%edi; jmp *T(,%rdi,8); 1: ret; .section .rodata; T: .quad 1b, 1b, 1b",
     HEX("5383e707c1ef03ff24fd00500000c3"), HEX(""), HEX("{0e10000000000000*3}"), "^0-e j0/1"},
    {"shifted up beyond 64 bits: a new value",
     "push %rbx; .rept 12; shl $6,%rdi; .endr; jmp *T(,%rdi,8); 1: ret; .section .rodata; T: .quad 1b, 1b, 1b",
     HEX("53{48c1e706*12}ff24fd00500000c3"), HEX(""), HEX("{3810000000000000*3}"), "^0-38>38 38-39 j1/1"},
    {"guarded on one way, constant on the other",
     "cmp $1,%edi; jbe 5f; mov $2,%edi; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; "
     "ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff017605bf02000000ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("11100000000000001210000000000000141000000000000017100000000000001b10000000000000"),
     "^0-5>5,a 5-a>a a-11>11,12,14 11-12 12-14 14-17 j1/1 p3"},
    {"guarded on one way only: no guard",
     "cmp $1,%edi; jbe 5f; mov %esi,%edi; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; "
     "ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff01760289f7ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7>7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guarded on two ways: the larger",
     "test %esi,%esi; je 6f; cmp $1,%edi; ja 9f; jmp 5f; 6: cmp $2,%edi; ja 9f; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; "
     "ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("85f6740783ff017718eb0583ff027711ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("171000000000000018100000000000001a100000000000001d100000000000002110000000000000"),
     "^0-4>4,b 4-9>9,21 9-b>10 b-10>10,21 10-17>17,18,1a 17-18 18-1a 1a-1d 21-22 j1/1 p3"},
    {"two tables behind a join",
     "cmp $1,%edi; ja 9f; test %esi,%esi; je 5f; mov T(,%rdi,8),%rax; jmp 6f; 5: mov T+16(,%rdi,8),%rax; 6: jmp *%rax; "
     "1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, "
     "4b, 9b",
     HEX("83ff01772285f6740a488b04fd00500000eb08488b04fd10500000ffe0c390c39090c3909090c3f4"), HEX(""),
     HEX("1d100000000000001e10000000000000201000000000000023100000000000002710000000000000"),
     "^0-5>5,27 5-9>9,13 9-13>1b 13-1b>1b 1b-1d>1d,1e,20,23 1d-1e 1e-20 20-23 23-27 27-28 j1/1"},
    {"one of the two is none",
     "push %rbx; cmp $1,%edi; ja 9f; test %esi,%esi; je 5f; mov T(,%rdi,8),%rax; jmp 6f; 5: mov (%rsi),%rax; 6: jmp "
     "*%rax; 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, "
     "3b, 4b, 9b",
     HEX("5383ff01771d85f6740a488b04fd00500000eb03488b06ffe0c390c39090c3909090c3f4"), HEX(""),
     HEX("19100000000000001a100000000000001c100000000000001f100000000000002310000000000000"),
     "^0-6>6,23 6-a>a,14 a-14>17 14-17>17 17-19>19,1a 19-1a 1a-1c 23-24 j1/1 p2"},
    {"no guard: up to the next address the code makes",
     "lea T+16(%rip),%rcx; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("488d0d09400000ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-e>e,f e-f f-11 j1/1 p2"},
    {"no guard: up to an address the next function makes",
     "jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; .fill "
     "0x170,1,0; T: .quad 1b, 2b, 3b, 4b",
     HEX("ff24fd70510000c390c39090c3909090c3f4"), HEX(""),
     HEX("{00*368}071000000000000008100000000000000a100000000000000d10000000000000"), "^0-7>7,8 7-8 8-a j1/1 p2"},
    {"no guard: one entry is no table", "push %rbx; jmp *T(,%rdi,8); 1: ret; .section .rodata; T: .quad 1b, 0",
     HEX("53ff24fd00500000c3"), HEX(""), HEX("08100000000000000000000000000000"), "^0-8 j0/1"},
    {"no guard: an entry in the middle of code ends it",
     "jmp *T(,%rdi,8); 1: ret; 2: mov $1,%eax; ret; 3: ret; .section .rodata; T: .quad 1b, 2b, 2b+1, 3b",
     HEX("ff24fd00500000c3b801000000c3c3"), HEX(""),
     HEX("0710000000000000081000000000000009100000000000000e10000000000000"), "^0-7>7,8 7-8 8-e j1/1"},
    {"no guard: another function's start is a tail call", "push %rbx; jmp *T(,%rdi,8); .section .rodata; T: .quad g, g",
     HEX("53ff24fd00500000"), HEX(""), HEX("00200000000000000020000000000000"), "^0-8"},
    {"no guard: and of 32 bits is not", "push %rbx; mov T(,%rdi,4),%eax; jmp *%rax; .section .rodata; T: .long g, g",
     HEX("538b04bd00500000ffe0"), HEX(""), HEX("0020000000200000"), "^0-a j0/1"},
    {"guarded: half of the entries may lead nowhere",
     "cmp $3,%edi; ja 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 9: hlt; .section .rodata; T: .quad 1b, 0, 2b, 0",
     HEX("83ff03770aff24fd00500000c390c3f4"), HEX(""),
     HEX("0c1000000000000000000000000000000d100000000000000000000000000000"), "^0-5>5,f 5-c>c,d c-d d-f f-10 j1/1"},
    {"guarded: more may not",
     "push %rbx; cmp $3,%edi; ja 9f; jmp *T(,%rdi,8); 1: ret; 9: hlt; .section .rodata; T: .quad 1b, 0, 0, 0",
     HEX("5383ff037708ff24fd00500000c3f4"), HEX(""), HEX("0d10{00*30}"), "^0-6>6,e 6-d e-f j0/1"},
    {"guarded: some lead to other functions",
     "push %rbx; cmp $2,%edi; ja 9f; jmp *T(,%rdi,8); 1: ret; 9: hlt; .section .rodata; T: .quad g, 1b, stop",
     HEX("5383ff027708ff24fd00500000c3f4"), HEX(""), HEX("00200000000000000d100000000000000030000000000000"),
     "^0-6>6,e 6-d>d d-e e-f j1/1"},
    {"guarded: all into the middle of others",
     "push %rbx; cmp $1,%edi; ja 9f; jmp *T(,%rdi,8); 9: hlt; .section .rodata; T: .quad g+4, stop+4",
     HEX("5383ff017707ff24fd00500000f4"), HEX(""), HEX("04200000000000000430000000000000"), "^0-6>6,d 6-d d-e j1/1"},
    {"signed bytes",
     "cmp $2,%edi; ja 9f; movsbq T(,%rdi,1),%rax; lea 2f(%rip),%rdx; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 3: "
     "hlt; 9: ret; .section .rodata; T: .byte 1b-2b, 0, 3b-2b",
     HEX("83ff027719480fbe043d00500000488d15060000004801d0ffe0c390c3f4c3"), HEX(""), HEX("ff0002"),
     "^0-5>5,1e 5-1a>1a,1b,1d 1a-1b 1b-1d 1d-1e 1e-1f j1/1"},
    {"unsigned words, scaled by 4",
     "cmp $2,%edi; ja 9f; movzwl T(,%rdi,2),%eax; lea 1f(%rip),%rdx; lea (%rdx,%rax,4),%rax; jmp *%rax; 1: ret; nop; "
     "nop; nop; 2: nop; ret; nop; nop; 3: hlt; 9: ret; .section .rodata; T: .word 0, 1, 2",
     HEX("83ff02771e0fb7047d00500000488d1506000000488d0482ffe0c390909090c39090f4c3"), HEX(""), HEX("000001000200"),
     "^0-5>5,23 5-1a>1a,1e,22 1a-1b 1e-20 22-23 23-24 j1/1 p5"},
    {"signed words",
     "cmp $1,%edi; ja 9f; movswq T(,%rdi,2),%rax; lea 2f(%rip),%rdx; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: "
     "ret; .section .rodata; T: .word 1b-2b, 0",
     HEX("83ff017718480fbf047d00500000488d15060000004801d0ffe0c390c3c3"), HEX(""), HEX("ffff0000"),
     "^0-5>5,1d 5-1a>1a,1b 1a-1b 1b-1d 1d-1e j1/1"},
    {"one entry of a table, by a constant",
     "push %rbx; mov $2,%edi; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("53bf02000000ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0d100000000000000e10000000000000101000000000000013100000000000001710000000000000"), "^0-d>10 10-13 j1/1 p3"},
    {"pieces of code of 4 bytes",
     "lea 1f(%rip),%rax; lea (%rax,%rdi,4),%rax; jmp *%rax; 1: mov %rax,%rcx; nop; mov %rax,%rdx; nop; mov %rax,%rsi; "
     "ret",
     HEX("488d0506000000488d04b8ffe04889c1904889c2904889c6c3"), HEX(""), HEX(""),
     "^0-d>d,11,15 d-11>11 11-15>15 15-19 j1/1"},
    {"the same base on two ways",
     "test %esi,%esi; je 5f; lea T(%rip),%rbx; jmp 6f; 5: lea T(%rip),%rbx; 6: cmp $1,%edi; ja 9f; movslq "
     "(%rbx,%rdi,4),%rax; add %rbx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, "
     "2b-T, 9b-T",
     HEX("85f67409488d1df53f0000eb07488d1dec3f000083ff01770c486304bb4801d8ffe0c390c3f4"), HEX(""),
     HEX("22c0ffff23c0ffff25c0ffff"), "^0-4>4,d 4-d>14 d-14>14 14-19>19,25 19-22>22,23 22-23 23-25 25-26 j1/1"},
    {"another base on the second way",
     "push %rcx; test %esi,%esi; je 5f; lea T(%rip),%rbx; jmp 6f; 5: lea T+8(%rip),%rbx; 6: cmp $1,%edi; ja 9f; movslq "
     "(%rbx,%rdi,4),%rax; add %rbx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, "
     "2b-T, 9b-T, 9b-T",
     HEX("5185f67409488d1df43f0000eb07488d1df33f000083ff01770c486304bb4801d8ffe0c390c3f4"), HEX(""),
     HEX("23c0ffff24c0ffff26c0ffff26c0ffff"), "^0-5>5,e 5-e>15 e-15>15 15-1a>1a,26 1a-23 26-27 j0/1"},
    {"base spilled to the stack",
     "sub $24,%rsp; lea T(%rip),%rax; mov %rax,8(%rsp); cmp $1,%edi; ja 9f; mov 8(%rsp),%rdx; movslq "
     "(%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, "
     "2b-T, 9b-T",
     HEX("4883ec18488d05f53f0000488944240883ff017711488b542408486304ba4801d0ffe0c390c3f4"), HEX(""),
     HEX("23c0ffff24c0ffff26c0ffff"), "^0-15>15,26 15-23>23,24 23-24 24-26 26-27 j1/1"},
    {"another slot than the spilled one",
     "sub $24,%rsp; lea T(%rip),%rax; mov %rax,8(%rsp); cmp $1,%edi; ja 9f; mov 16(%rsp),%rdx; movslq "
     "(%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, "
     "2b-T, 9b-T",
     HEX("4883ec18488d05f53f0000488944240883ff017711488b542410486304ba4801d0ffe0c390c3f4"), HEX(""),
     HEX("23c0ffff24c0ffff26c0ffff"), "^0-15>15,26 15-23 26-27 j0/1"},
    {"a call loses the base",
     "push %rbx; lea T(%rip),%rdx; call g; cmp $1,%edi; ja 9f; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 1: "
     "ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, 2b-T, 9b-T",
     HEX("53488d15f83f0000e8f30f000083ff01770c486304ba4801d0ffe0c390c3f4"), HEX(""), HEX("1bc0ffff1cc0ffff1ec0ffff"),
     "^0-12>12,1e 12-1b 1e-1f j0/1"},
    {"a register that is saved over calls keeps it",
     "push %rbx; lea T(%rip),%rbx; call g; cmp $1,%edi; ja 9f; movslq (%rbx,%rdi,4),%rax; add %rbx,%rax; jmp *%rax; 1: "
     "ret; 2: nop; ret; 9: hlt; .section .rodata; T: .long 1b-T, 2b-T, 9b-T",
     HEX("53488d1df83f0000e8f30f000083ff01770c486304bb4801d8ffe0c390c3f4"), HEX(""), HEX("1bc0ffff1cc0ffff1ec0ffff"),
     "^0-12>12,1e 12-1b>1b,1c 1b-1c 1c-1e 1e-1f j1/1"},
    {"a label in a register all the time", "lea 1f(%rip),%rbx; 1: dec %edi; je 2f; jmp *%rbx; 2: ret",
     HEX("488d1d00000000ffcf7402ffe3c3"), HEX(""), HEX(""), "^0-7>7 7-b>b,d b-d>7 d-e j1/1"},
    {"tail call: all of the frame is given back", "sub $24,%rsp; mov (%rdi),%rax; add $24,%rsp; jmp *%rax",
     HEX("4883ec18488b074883c418ffe0"), HEX(""), HEX(""), "^0-d"},
    {"tail call: no frame at all", "mov (%rdi),%rax; jmp *%rax", HEX("488b07ffe0"), HEX(""), HEX(""), "^0-5"},
    {"no tail call: the frame is in place", "sub $24,%rsp; mov (%rdi),%rax; jmp *%rax", HEX("4883ec18488b07ffe0"),
     HEX(""), HEX(""), "^0-9 j0/1"},
    {"tail call: the last change gives back", "push %rbx; push %rbp; mov (%rdi),%rax; pop %rbp; jmp *%rax",
     HEX("5355488b075dffe0"), HEX(""), HEX(""), "^0-8"},
    {"no tail call: arguments of a call are given back", "push %rbx; push %rdi; call g; pop %rcx; jmp *%rax",
     HEX("5357e8f90f000059ffe0"), HEX(""), HEX(""), "^0-a j0/1"},
    {"tail call: arguments of a call, then the frame",
     "push %rbx; push %rdi; call g; pop %rcx; mov (%rax),%rax; pop %rbx; jmp *%rax",
     HEX("5357e8f90f000059488b005bffe0"), HEX(""), HEX(""), "^0-e"},
    {"no tail call: given back, then taken again", "push %rbx; pop %rcx; push %rbp; mov (%rdi),%rax; jmp *%rax",
     HEX("535955488b07ffe0"), HEX(""), HEX(""), "^0-8 j0/1"},
    {"tail call: through the frame pointer",
     "push %rbp; mov %rsp,%rbp; push %rbx; mov (%rdi),%rax; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; jmp *%rax",
     HEX("554889e553488b07488d65f85b5dffe0"), HEX(""), HEX(""), "^0-10"},
    {"no tail call: one word is left",
     "push %rbp; mov %rsp,%rbp; push %rbx; mov (%rdi),%rax; lea -8(%rbp),%rsp; pop %rbx; jmp *%rax",
     HEX("554889e553488b07488d65f85bffe0"), HEX(""), HEX(""), "^0-f j0/1"},
    {"no tail call: an aligned stack is lost", "push %rbp; and $-32,%rsp; mov (%rdi),%rax; jmp *%rax",
     HEX("554883e4e0488b07ffe0"), HEX(""), HEX(""), "^0-a j0/1"},
    {"tail call: on both ways to the jump",
     "push %rbx; test %edi,%edi; je 1f; pop %rbx; mov (%rdi),%rax; jmp 2f; 1: pop %rbx; mov 8(%rdi),%rax; 2: jmp *%rax",
     HEX("5385ff74065b488b07eb055b488b4708ffe0"), HEX(""), HEX(""), "^0-5>5,b 5-b>10 b-10>10 10-12"},
    {"guard: jae leads there for 2 and more",
     "cmp $2,%edi; jae 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff0273020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard: jbe falls through for 3 and more",
     "cmp $2,%edi; jbe 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027611ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f10000000000000121000000000000016100000000000000000000000000000"),
     "^0-5>5,16 5-c>c,d,f,12,16 c-d d-f f-12 12-16 16-17 j1/1"},
    {"guard: jb falls through for 2 and more",
     "cmp $2,%edi; jb 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027211ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f10000000000000121000000000000016100000000000000000000000000000"),
     "^0-5>5,16 5-c>c,d,f,12,16 c-d d-f f-12 12-16 16-17 j1/1"},
    {"guard: jg leads there for 3 and more",
     "cmp $2,%edi; jg 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027f020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard: jle falls through for 3 and more",
     "cmp $2,%edi; jle 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027e11ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f10000000000000121000000000000016100000000000000000000000000000"),
     "^0-5>5,16 5-c>c,d,f,12,16 c-d d-f f-12 12-16 16-17 j1/1"},
    {"guard: je falls through for all but 2",
     "cmp $2,%edi; je 9f; jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  "
     ".section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff027411ff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0c100000000000000d100000000000000f10000000000000121000000000000016100000000000000000000000000000"),
     "^0-5>5,16 5-c>c,d,f,12,16 c-d d-f f-12 12-16 16-17 j1/1"},
    {"guard: jne leads there for all but 2",
     "cmp $2,%edi; jne 5f; ud2; 5: jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: "
     "hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("83ff0275020f0bff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0e100000000000000f100000000000001110000000000000141000000000000018100000000000000000000000000000"),
     "^0-5>5,7 5-7 7-e>e,f,11,14,18 e-f f-11 11-14 14-18 18-19 j1/1"},
    {"guard by a subtraction",
     "lea -4(%rdi),%ecx; mov %edi,%eax; sub $4,%eax; jb 9f; cmp $1,%ecx; ja 9f; mov %ecx,%ecx; jmp *T(,%rcx,8); 1: "
     "ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, "
     "9b",
     HEX("8d4ffc89f883e804721883f901771389c9ff24cd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("181000000000000019100000000000001b100000000000001e100000000000002210000000000000"),
     "^0-a>a,22 a-f>f,22 f-18>18,19 18-19 19-1b 22-23 j1/1 p2"},
    {"guard of a slot",
     "sub $24,%rsp; mov %edi,8(%rsp); cmpl $1,8(%rsp); ja 9f; mov 8(%rsp),%eax; jmp *T(,%rax,8); 1: ret; 2: nop; ret; "
     "3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("4883ec18897c2408837c24080177158b442408ff24c500500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1a100000000000001b100000000000001d1000000000000020100000000000002410000000000000"),
     "^0-f>f,24 f-1a>1a,1b 1a-1b 1b-1d 24-25 j1/1 p2"},
    {"guard of an element: not of a slot",
     "sub $24,%rsp; mov %edi,8(%rsp); cmpl $1,8(%rsp,%rcx,8); ja 9f; mov 8(%rsp),%eax; jmp *T(,%rax,8); 1: ret; 2: "
     "nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("4883ec18897c2408837ccc080177158b442408ff24c500500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1a100000000000001b100000000000001d10000000000000201000000000000024100000000000000000000000000000"),
     "^0-f>f,24 f-1a>1a,1b,1d,20,24 1a-1b 1b-1d 1d-20 20-24 24-25 j1/1"},
    {"guard of the slot beside",
     "sub $24,%rsp; mov %edi,8(%rsp); cmpl $1,16(%rsp); ja 9f; mov 8(%rsp),%eax; jmp *T(,%rax,8); 1: ret; 2: nop; ret; "
     "3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b, 0",
     HEX("4883ec18897c2408837c24100177158b442408ff24c500500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1a100000000000001b100000000000001d10000000000000201000000000000024100000000000000000000000000000"),
     "^0-f>f,24 f-1a>1a,1b,1d,20,24 1a-1b 1b-1d 1d-20 20-24 24-25 j1/1"},
    {"guard in front of a diamond",
     "cmp $1,%edi; ja 9f; test %esi,%esi; je 5f; inc %esi; jmp 6f; 5: dec %esi; 6: jmp *T(,%rdi,8); 1: ret; 2: nop; "
     "ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff01771b85f67404ffc6eb02ffceff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("1610000000000000171000000000000019100000000000001c100000000000002010000000000000"),
     "^0-5>5,20 5-9>9,d 9-d>f d-f>f f-16>16,17 16-17 17-19 20-21 j1/1 p2"},
    {"guard in front of a diamond that gives another value",
     "cmp $1,%edi; ja 9f; test %esi,%esi; je 5f; lea 1(%rdi),%edi; jmp 6f; 5: dec %esi; 6: jmp *T(,%rdi,8); 1: ret; 2: "
     "nop; ret; 3: nop; nop; ret; 4: nop; nop; nop; ret; 9: hlt;  .section .rodata; T: .quad 1b, 2b, 3b, 4b, 9b",
     HEX("83ff01771c85f674058d7f01eb02ffceff24fd00500000c390c39090c3909090c3f4"), HEX(""),
     HEX("171000000000000018100000000000001a100000000000001d100000000000002110000000000000"),
     "^0-5>5,21 5-9>9,e 9-e>10 e-10>10 10-17>17,18,1a 17-18 18-1a 1a-1d 21-22 j1/1 p3"},
    {"guard 256 bytes in front of the jump",
     "cmp $2,%edi; ja 9f; .rept 27; nopw 0(%rax,%rax,1); .endr; nop; nop; nop; nop; jmp *T(,%rdi,8); 1: ret; 2: nop; "
     "ret; 3: nop; nop; ret; 4: hlt; 9: hlt; .section .rodata; T: .quad 1b, 2b, 3b, 4b",
     HEX("83ff020f870501{0000660f1f84000000*27}000090909090ff24fd00500000c390c39090c3f4f4"), HEX(""),
     HEX("071100000000000008110000000000000a110000000000000d11000000000000"),
     "^0-9>9,10e 9-107>107,108,10a 107-108 108-10a 10a-10d 10e-10f j1/1"},
    {"a byte has 256 values",
     "movzbl %dil,%eax; movzbl T(,%rax,1),%eax; lea B(%rip),%rdx; add %rdx,%rax; jmp *%rax; B: ret; 1: nop; ret; 2: "
     "hlt; .section .rodata; T: .fill 255,1,0; .byte 1, 3",
     HEX("400fb6c70fb6040500500000488d15050000004801d0ffe0c390c3f4"), HEX(""), HEX("{00*255}0103"),
     "^0-18>18,19 18-19 19-1b j1/1"},
    {"a byte of memory has 256 values",
     "movzbl (%rsi),%eax; movzbl T(,%rax,1),%eax; lea B(%rip),%rdx; add %rdx,%rax; jmp *%rax; B: ret; 1: nop; ret; 2: "
     "hlt; .section .rodata; T: .fill 255,1,0; .byte 1, 3",
     HEX("0fb6060fb6040500500000488d15050000004801d0ffe0c390c3f4"), HEX(""), HEX("{00*255}0103"),
     "^0-17>17,18 17-18 18-1a j1/1"},
    {"a signed byte of memory has not",
     "movsbl (%rsi),%eax; movzbl T(,%rax,1),%eax; lea B(%rip),%rdx; add %rdx,%rax; jmp *%rax; B: ret; 1: nop; ret; 2: "
     "hlt; .section .rodata; T: .fill 255,1,0; .byte 1, 3",
     HEX("0fbe060fb6040500500000488d15050000004801d0ffe0c390c3f4"), HEX(""), HEX("{00*255}0103"),
     "^0-17>17,18,1a 17-18 18-1a 1a-1b j1/1"},
    {"no guard: what is no code ends it",
     "jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: nop; nop; .byte 6; ret; .section .rodata; T: .quad 1b, 2b, 3b, 2b",
     HEX("ff24fd00500000c390c3909006c3"), HEX(""),
     HEX("071000000000000008100000000000000a100000000000000810000000000000"), "^0-7>7,8 7-8 8-a j1/1 p2"},
    {"no guard: what jumps away is code",
     "jmp *T(,%rdi,8); 1: ret; 2: nop; jmp 1b; .byte 6; ret; .section .rodata; T: .quad 1b, 2b, 0",
     HEX("ff24fd00500000c390ebfc06c3"), HEX(""), HEX("071000000000000008100000000000000000000000000000"),
     "^0-7>7,8 7-8 8-b>7 j1/1"},
    {"no guard: a call at the wall is code",
     "jmp *T(,%rdi,8); 1: ret; 2: call stop; .section .rodata; T: .quad 1b, 2b, 0", HEX("ff24fd00500000c3e8f31f0000"),
     HEX(""), HEX("071000000000000008100000000000000000000000000000"), "^0-7>7,8 7-8 8-d j1/1"},
    {"no guard: running into the wall is not",
     "jmp *T(,%rdi,8); 1: ret; 2: nop; ret; 3: inc %eax; .section .rodata; T: .quad 1b, 2b, 3b, 0",
     HEX("ff24fd00500000c390c3ffc0"), HEX(""), HEX("071000000000000008100000000000000a100000000000000000000000000000"),
     "^0-7>7,8 7-8 8-a j1/1"},
    {"guarded: one leads to another function, one nowhere",
     "push %rbx; cmp $1,%edi; ja 9f; jmp *T(,%rdi,8); 9: hlt; .section .rodata; T: .quad g, 0",
     HEX("5383ff017707ff24fd00500000f4"), HEX(""), HEX("00200000000000000000000000000000"), "^0-6>6,d 6-d d-e"},
    {"a table that the index walks by 65: none",
     "push %rbx; cmp $2,%edi; ja 9f; imul $65,%rdi,%rdi; mov T(%rdi),%rax; jmp *%rax; 9: ret; .section .rodata; T: "
     ".quad 9b, 9b",
     HEX("5383ff02770d486bff41488b8700500000ffe0c3"), HEX(""), HEX("13100000000000001310000000000000"),
     "^0-6>6,13 6-13 13-14 j0/1"},
    {"sign of an entry told by a later extension",
     "cmp $1,%edi; ja 9f; mov T(,%rdi,4),%eax; cltq; lea 2f(%rip),%rdx; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret; "
     "9: hlt; .section .rodata; T: .long 1b-2b, 0, 9b-2b",
     HEX("83ff0177188b04bd005000004898488d15060000004801d0ffe0c390c3f4"), HEX(""), HEX("ffffffff0000000002000000"),
     "^0-5>5,1d 5-1a>1a,1b 1a-1b 1b-1d 1d-1e j1/1"},
    {"an index out of a table of bytes",
     "cmp $3,%edi; ja 9f; movzbl B(,%rdi,1),%eax; jmp *T(,%rax,8); 1: ret; 2: nop; ret; 3: nop; nop; ret; 4: nop; nop; "
     "nop; ret; 9: hlt;  .section .rodata; B: .byte 0, 1, 1, 0; .balign 8; T: .quad 1b, 2b, 0",
     HEX("83ff0377190fb6043d00500000ff24c508500000c390c39090c3909090c3f4"), HEX(""),
     HEX("0001010000000000141000000000000015100000000000000000000000000000"),
     "^0-5>5,1e 5-14>14,15 14-15 15-17 1e-1f j1/1 p2"},
};

/* Digits; {digits*times} repeats. */
static size_t from_hex(const char *hex, uint8_t *bytes, size_t room)
{
    size_t n = 0, group = 0;
    while (*hex != 0 && n < room) {
        if (*hex == '{') {
            group = n;
            hex++;
        } else if (*hex == '*') {
            size_t size = n - group;
            for (size_t times = strtoul(hex + 1, NULL, 10); times > 1 && n + size <= room; times--, n += size)
                memcpy(bytes + n, bytes + group, size);
            hex = strchr(hex, '}') + 1;
        } else {
            bytes[n++] = (uint8_t)strtoul((char[]){hex[0], hex[1], 0}, NULL, 16);
            hex += 2;
        }
    }
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

/* With `shifted`, the function is preceded by unreachable code of its own; the graph must be the same. */
static void test_case(size_t i, bool shifted, struct cfg *g)
{
    uint8_t text[512], cold[64], rodata[512], other[16] = {0xc3};
    uint8_t g_text[16] = {0x90, 0x48, 0x8d, 0x05, 0x78, 0x31, 0, 0, 0xc3}; /* nop; lea 0x5180,%rax; ret */
    uint8_t before[5] = {0xc3, 0xc3, 0xc3, 0xc3, 0xc3};
    struct image_section sections[] = {
        {.name = ".text",
         .addr = 0x1000,
         .bytes = text,
         .size = from_hex(cases[i].text, text, sizeof text),
         .alloc = true,
         .exec = true},
        {.name = ".text", .addr = 0x2000, .bytes = g_text, .size = sizeof g_text, .alloc = true, .exec = true},
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
        {.name = ".before", .addr = 0x800, .bytes = before, .size = sizeof before, .alloc = true, .exec = true},
    };
    struct image im = {.arch = ARCH_X86_64, .sections = sections, .section_count = ARRAY_SIZE(sections)};
    struct function functions[] = {
        {.begin = 0x800, .end = 0x805, .link_name = "f.cold.1", .part_of = 1},
        {.begin = 0x1000, .end = 0x1000 + sections[0].size, .link_name = "f", .part_of = FUNCTION_NONE},
        {.begin = 0x2000, .end = 0x2010, .link_name = "g", .part_of = FUNCTION_NONE},
        {.begin = 0x3000, .end = 0x3010, .link_name = "stop", .part_of = FUNCTION_NONE},
        {.begin = 0x4000, .end = 0x4000 + sections[3].size, .link_name = "f.cold", .part_of = 1},
    };
    struct function_table table = {.functions = functions, .count = sections[3].size > 0 ? 5 : 4};
    const uint8_t noreturn[] = {0, 0, 0, 1, 0};
    if (!shifted)
        functions[0].part_of = FUNCTION_NONE;
    struct vaddr_list calls = {0};
    struct cfg_input in = {.image = &im,
                           .functions = &table,
                           .arch = arch_get(ARCH_X86_64),
                           .noreturn = noreturn,
                           .function = 1,
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
        {"call through a slot named abort", "ff15f24f0000c3", true},                            /* call *0x5ff8(%rip) */
        {"call through a slot with the address of what never returns", "ff15fa2f0000c3", true}, /* call *0x4000(%rip) */
        {"call through a slot with another address", "ff1502300000c3", false},
        {"call through a pointer that may change", "ff15fa3f0000c3", false},
        {"jump through a pointer", "ff27", false},
        {"runs out of its end", "9090", false},
        {"runs out of its end behind an instruction that nobody knows", "62f67d48ffc0", false},
        {"an endless loop with such an instruction", "62f67d48ffc0ebf8", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint8_t text[64], other[16] = {0xc3}, slots[16] = {0x00, 0x30, 0, 0, 0, 0, 0, 0, 0x00, 0x20};
        struct image_section sections[] = {
            {.name = ".text",
             .addr = 0x1000,
             .bytes = text,
             .size = from_hex(rows[i].text, text, sizeof text),
             .alloc = true,
             .exec = true},
            {.name = ".text", .addr = 0x2000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
            {.name = ".text", .addr = 0x3000, .bytes = other, .size = sizeof other, .alloc = true, .exec = true},
            {.name = ".got", .addr = 0x4000, .bytes = slots, .size = sizeof slots, .alloc = true, .writable = true},
            {.name = ".data", .addr = 0x5000, .bytes = slots, .size = sizeof slots, .alloc = true, .writable = true},
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

/* A chain of functions, each calling the next and then returning. The last one calls abort, so none returns. Without
 * names, all return. */
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
        /* On demand: detected two calls away from the named function, but not farther away. */
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
        for (int shifted = 0; shifted < 2; shifted++)
            test_case(i, shifted, &g);
    cfg_release(&g);
    RUN(test_noreturn);
    RUN(test_noreturn_chain);
    return tap_done();
}
