/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of instructions, one a row: as the assemblers encode it, and its decoded effects.
 *
 * The text: class; type and size of a number, xN where there are several (xV: as many as fit), "from" of conversions;
 * registers read < and written > (r general, v vector, k mask, f flags, o others); memory as L or S (load, store) and
 * [base+index*scale+disp]:bytes; $n a constant.
 */
#include "config.h"

#include "bloop/arch/facts.h"
#include "bloop/arch/ops.h"
#include "tests/tap.h"

#include <stdlib.h>

static const struct {
    enum arch_kind arch;
    const char *assembly, *bytes, *text;
} rows[] = {
#define X ARCH_X86_64
#define A ARCH_AARCH64
    {X, "addsd %xmm1,%xmm0", "f20f58c1", "add double64 w16 1flop <v0v1 >v0"},
    {X, "addpd (%rdi,%rcx,8),%xmm0", "660f5804cf", "add double64xN w16 1flop <r1r7v0 >v0 L[r7+r1*8+0]:16"},
    {X, "vaddps %ymm1,%ymm2,%ymm3", "c5ec58d9", "add float32xN w32 1flop <v1v2 >v3"},
    {X, "vfmadd231pd (%rsi),%zmm1,%zmm2{%k1}", "62f2f549b816",
     "multiply-add double64xN w64 2flop <r6v1v2k1 >v2 L[r6+0]:64 masked"},
    {X, "vfmadd231sd %xmm0,%xmm1,%xmm2", "c4e2f1b9d0", "multiply-add double64 w16 2flop <v0v1v2 >v2"},
    {X, "vfmadd132ps -64(%rax,%rdx,4),%zmm17,%zmm31", "62627540987c90ff",
     "multiply-add float32xN w64 2flop <r0r2v17v31 >v31 L[r0+r2*4-64]:64"},
    {X, "vaddph %zmm1,%zmm2,%zmm3", "62f56c4858d9", "add half16xN w64 1flop <v1v2 >v3"},
    {X, "cvtsi2sd %rax,%xmm0", "f2480f2ac0", "convert double64 from int w16 <r0v0 >v0"},
    {X, "cvttsd2si (%rax),%ecx", "f20f2c08", "convert int64 from double w4 <r0 >r1 L[r0+0]:8"},
    {X, "cvtss2sd %xmm0,%xmm1", "f30f5ac8", "convert double32 from float w16 <v0v1 >v1"},
    {X, "vcvttps2dq %ymm0,%ymm1", "c5fe5bc8", "convert int32xN from float w32 <v0 >v1"},
    {X, "vcvtps2pd (%rax),%zmm1", "62f17c485a08", "convert double32xN from float w64 <r0 >v1 L[r0+0]:32"},
    {X, "movhpd (%rax),%xmm3", "660f1618", "move int64 w16 <r0v3 >v3 L[r0+0]:8"},
    {X, "movlps 8(%rax),%xmm3", "0f125808", "move float32xN w16 <r0v3 >v3 L[r0+8]:8"},
    {X, "movhpd %xmm3,(%rax)", "660f1718", "move double64 w16 <r0v3 > S[r0+0]:8"},
    {X, "vmovhpd (%rax),%xmm1,%xmm0", "c5f11600", "move double64 w16 <r0v1 >v0 L[r0+0]:8"},
    {X, "vgatherdpd %ymm1,(%rax,%xmm2,8),%ymm0", "c4e2f59204d0", "move double64xN w32 <r0v0v1v2 >v0v1 L[r0+v2*8+0]:32"},
    {X, "vgatherqpd (%rax,%zmm2,8),%zmm0{%k1}", "62f2fd499304d0",
     "move double64xN w64 <r0v0v2k1 >v0k1 L[r0+v2*8+0]:64 masked"},
    {X, "vscatterdps %zmm0,(%rax,%zmm2,4){%k1}", "62f27d49a20490",
     "move float32xN w64 <r0v0v2k1 >k1 S[r0+v2*4+0]:64 masked"},
    {X, "paddd %xmm1,%xmm2", "660ffed1", "add int32xN w16 <v1v2 >v2"},
    {X, "vpaddq %zmm1,%zmm2,%zmm3", "62f1ed48d4d9", "add int64xN w64 <v1v2 >v3"},
    {X, "vpmulld (%rax),%ymm2,%ymm3", "c4e26d4018", "multiply int32xN w32 <r0v2 >v3 L[r0+0]:32"},
    {X, "vpmaddwd %ymm1,%ymm2,%ymm3", "c5edf5d9", "multiply-add int16xN w32 <v1v2 >v3"},
    {X, "vpdpbusd %zmm1,%zmm2,%zmm3", "62f26d4850d9", "multiply-add int8xN w64 <v1v2v3 >v3"},
    {X, "movapd %xmm0,%xmm1", "660f28c8", "move double64xN w16 <v0 >v1"},
    {X, "movsd (%rax),%xmm0", "f20f1000", "move double64 w16 <r0 >v0 L[r0+0]:8"},
    {X, "movsd %xmm0,8(%rsp)", "f20f11442408", "move double64 w16 <r4v0 > S[r4+8]:8"},
    {X, "movups %xmm0,16(%rdi)", "0f114710", "move float32xN w16 <r7v0 > S[r7+16]:16"},
    {X, "vmovdqu8 (%rax),%zmm0{%k1}{z}", "62f17fc96f00", "move int8xN w64 <r0k1 >v0 L[r0+0]:64 masked"},
    {X, "vmovntpd %ymm0,(%rdi)", "c5fd2b07", "move double64xN w32 <r7v0 > S[r7+0]:32"},
    {X, "pxor %xmm0,%xmm0", "660fefc0", "logic int32xN w16 < >v0 new"},
    {X, "vpxor %xmm1,%xmm1,%xmm0", "c5f1efc1", "logic int128 w16 < >v0 new"},
    {X, "vxorps %xmm1,%xmm2,%xmm0", "c5e857c1", "logic int32xN w16 <v1v2 >v0"},
    {X, "xor %eax,%eax", "31c0", "logic int32 w4 < >r0f new"},
    {X, "xor %eax,%ecx", "31c1", "logic int32 w4 <r0r1 >r1f"},
    {X, "lock addl $1,(%rdi)", "f0830701", "add int32 <r7 >f LS[r7+0]:4 $1 locked"},
    {X, "xchg %eax,(%rdi)", "8707", "move int32 w4 <r0r7 >r0 LS[r7+0]:4 locked"},
    {X, "lock cmpxchg %rcx,(%rdi)", "f0480fb10f", "move int64 w8 <r0r1r7 >r0f LS[r7+0]:8 locked"},
    {X, "add $8,%rdi", "4883c708", "add int64 w8 <r7 >r7f $8"},
    {X, "sub %rcx,%rax", "4829c8", "add int64 w8 <r0r1 >r0f"},
    {X, "inc %ecx", "ffc1", "add int32 w4 <r1 >r1f"},
    {X, "imul %rax,%rbx", "480fafd8", "multiply int64 w8 <r0r3 >r3f"},
    {X, "imul $24,%rdi,%rax", "486bc718", "multiply int64 w8 <r7 >r0f $24"},
    {X, "mul %rcx", "48f7e1", "multiply int64 w8 <r0r1 >r0r2f"},
    {X, "div %rcx", "48f7f1", "divide int64 w8 <r0r1r2 >r0r2f"},
    {X, "push %rbx", "53", "stack int64 w8 <r3r4 >r4 S[r4-8]:8"},
    {X, "pop %rbx", "5b", "stack int64 w8 <r4 >r3r4 L[r4+0]:8"},
    {X, "leave", "c9", "stack <r4r5 >r4r5 L[r5+0]:8"},
    {X, "lea 8(%rax,%rbx,4),%rcx", "488d4c9808", "address int64 w8 <r0r3 >r1"},
    {X, "mov $1,%cl", "b101", "move int8 w1 <r1 >r1 $1"},
    {X, "mov %ax,%cx", "6689c1", "move int16 w2 <r0r1 >r1"},
    {X, "movzbl (%rsi),%eax", "0fb606", "move int8 w4 <r6 >r0 L[r6+0]:1"},
    {X, "movslq %edi,%rax", "4863c7", "move int32 w8 <r7 >r0"},
    {X, "mov %fs:40,%rax", "64488b042528000000", "move int64 w8 < >r0 L[+40 segment]:8"},
    {X, "mov 0x2000(%rip),%eax", "8b0500200000", "move int32 w4 < >r0 L[+12294]:4"},
    {X, "cmovg %eax,%ebx", "0f4fd8", "select int32 w4 <r0r3f >r3"},
    {X, "sete %al", "0f94c0", "select int8 w1 <r0f >r0"},
    {X, "cmp $10,%rdi", "4883ff0a", "compare int64 w8 <r7 >f $10"},
    {X, "cmpl $3,8(%rbp)", "837d0803", "compare int32 <r5 >f L[r5+8]:4 $3"},
    {X, "test %eax,%eax", "85c0", "compare int32 w4 <r0 >f"},
    {X, "shl $3,%rax", "48c1e003", "shift int64 w8 <r0 >r0f $3"},
    {X, "sarx %eax,%ecx,%edx", "c4e27af7d1", "shift int32 w4 <r0r1 >r2"},
    {X, "popcnt %rax,%rcx", "f3480fb8c8", "arithmetic int64 w8 <r0 >r1f"},
    {X, "bsf %rax,%rcx", "480fbcc8", "arithmetic int64 w8 <r0r1 >r1f"},
    {X, "and $-32,%rsp", "4883e4e0", "logic int64 w8 <r4 >r4f $-32"},
    {X, "not %rax", "48f7d0", "logic int64 w8 <r0 >r0"},
    {X, "fldt (%rdi)", "db2f", "move extended80 <r7 >o L[r7+0]:10"},
    {X, "fldl (%rdi)", "dd07", "move double64 <r7 >o L[r7+0]:8"},
    {X, "faddp", "dec1", "add extended80 1flop <o >o"},
    {X, "fmulp", "dec9", "multiply extended80 1flop <o >o"},
    {X, "fstpt (%rdi)", "db3f", "move extended80 <r7o >o S[r7+0]:10"},
    /* (one register: according to Zydis 4.1 the other half of the target is read, according to 4.0 it is not) */
    {X, "sqrtsd %xmm1,%xmm1", "f20f51c9", "sqrt double64 w16 1flop <v1 >v1"},
    {X, "sqrtpd %xmm0,%xmm1", "660f51c8", "sqrt double64xN w16 1flop <v0 >v1"},
    {X, "divps %xmm1,%xmm0", "0f5ec1", "divide float32xN w16 1flop <v0v1 >v0"},
    {X, "vdivpd %ymm1,%ymm2,%ymm3", "c5ed5ed9", "divide double64xN w32 1flop <v1v2 >v3"},
    {X, "maxsd %xmm1,%xmm0", "f20f5fc1", "minmax double64 w16 <v0v1 >v0"},
    {X, "rsqrtps %xmm1,%xmm0", "0f52c1", "arithmetic float32xN w16 <v1 >v0"},
    {X, "vrndscalepd $1,%zmm0,%zmm1", "62f3fd4809c801", "arithmetic double64xN w64 <v0 >v1 $1"},
    {X, "ucomisd %xmm0,%xmm1", "660f2ec8", "compare double64 w16 <v0v1 >f"},
    {X, "vcmppd $1,%zmm0,%zmm1,%k1", "62f1f548c2c801", "compare double64xN w64 <v0v1 >k1 $1"},
    {X, "pcmpeqd %xmm0,%xmm1", "660f76c8", "compare int32xN w16 <v0v1 >v1"},
    {X, "andpd %xmm0,%xmm1", "660f54c8", "logic double64xN w16 <v0v1 >v1"},
    {X, "vpternlogd $0x96,%zmm0,%zmm1,%zmm2", "62f3754825d096", "logic int32xN w64 <v0v1v2 >v2 $150"},
    {X, "psllq $4,%xmm0", "660f73f004", "shift int64xN w16 <v0 >v0 $4"},
    {X, "shufps $1,%xmm0,%xmm1", "0fc6c801", "shuffle float32xN w16 <v0v1 >v1 $1"},
    {X, "vpermpd $1,%ymm0,%ymm1", "c4e3fd01c801", "shuffle double64xN w32 <v0 >v1 $1"},
    {X, "unpcklpd %xmm0,%xmm1", "660f14c8", "shuffle double64xN w16 <v0v1 >v1"},
    {X, "haddpd %xmm0,%xmm1", "660f7cc8", "add double64xN w16 1flop <v0v1 >v1"},
    {X, "vbroadcastsd (%rax),%ymm0", "c4e27d1900", "shuffle double64xN w32 <r0 >v0 L[r0+0]:8"},
    {X, "vextractf128 $1,%ymm0,%xmm1", "c4e37d19c101", "shuffle double64xN w32 <v0 >v1 $1"},
    {X, "vblendvpd %ymm0,%ymm1,%ymm2,%ymm3", "c4e36d4bd900", "select int64xN w32 <v0v1v2 >v3"},
    {X, "kandw %k1,%k2,%k3", "c5ec41d9", "logic <k1k2 >k3"},
    {X, "kmovw %eax,%k1", "c5f892c8", "move int32 w4 <r0 >k1"},
    {X, "prefetcht0 64(%rax)", "0f184840", "prefetch int64 <r0 >"},
    {X, "mfence", "0faef0", "fence < >"},
    {X, "pause", "f390", "nop < >"},
    {X, "nopw 0(%rax,%rax,1)", "660f1f0400", "nop int16 w2 <r0 >"},
    {X, "rep movsb", "f3a4", "move <r1r6r7f >r1r6r7 S[r7+0]:1 L[r6+0]:1"},
    {X, "call *8(%rax)", "ff5008", "control int64 <r0r4 >r4 L[r0+8]:8 S[r4-8]:8"},
    {X, "jmp *%rax", "ffe0", "control int64 w8 <r0 >"},
    {X, "vzeroupper", "c5f877", "other < >"},
    {X, "pmovmskb %xmm0,%eax", "660fd7c0", "shuffle int32 w16 <v0 >r0"},
    {X, "vpmovzxbd (%rax),%ymm0", "c4e27d3100", "convert int8xN from int w32 <r0 >v0 L[r0+0]:8"},
    {X, "movd %xmm0,%eax", "660f7ec0", "move int32 w16 <v0 >r0"},
    {A, "add x0, x1, #16", "20400091", "add int64 w8 <r1 >r0 $16"},
    {A, "sub sp, sp, #32", "ff8300d1", "add int64 w8 <r31 >r31 $-32"},
    {A, "mov x0, sp", "e0030091", "move int64 w8 <r31 >r0 $0"},
    {A, "subs x2, x2, #1", "420400f1", "add int64 w8 <r2 >r2f $-1"},
    {A, "cmp x2, #100", "5f9001f1", "compare int64 w8 <r2 >f $100"},
    {A, "cmp w1, w2", "3f00026b", "compare int32 w4 <r1r2 >f"},
    {A, "add x0, x1, x2, lsl #3", "200c028b", "add int64 w8 <r1r2 >r0"},
    {A, "add x0, sp, w2, sxtw #2", "e0cb228b", "add int64 w8 <r2r31 >r0"},
    {A, "mov x3, x4", "e30304aa", "move int64 w8 <r4 >r3"},
    {A, "mov x3, #5", "a30080d2", "move int64 w8 < >r3 $5"},
    {A, "movk x3, #1, lsl #16", "2300a0f2", "move int64 w8 <r3 >r3 $65536"},
    {A, "adrp x0, 0x1000", "00000090", "address int64 w8 < >r0 $4096"},
    {A, "and w0, w1, #7", "20080012", "logic int32 w4 <r1 >r0 $0"},
    {A, "tst w0, #1", "1f000072", "compare int32 w4 <r0 >f $0"},
    {A, "orr x0, x1, x2", "200002aa", "logic int64 w8 <r1r2 >r0"},
    {A, "lsl x0, x1, #3", "20f07dd3", "shift int64 w8 <r1 >r0"},
    {A, "sxtw x0, w1", "207c4093", "move int64 w8 <r1 >r0"},
    {A, "madd x0, x1, x2, x3", "200c029b", "multiply-add int64 w8 <r1r2r3 >r0"},
    {A, "mul x0, x1, x2", "207c029b", "multiply int64 w8 <r1r2 >r0"},
    {A, "sdiv x0, x1, x2", "200cc29a", "divide int64 w8 <r1r2 >r0"},
    {A, "lslv x0, x1, x2", "2020c29a", "shift int64 w8 <r1r2 >r0"},
    {A, "clz x0, x1", "2010c0da", "arithmetic int64 w8 <r1 >r0"},
    {A, "rev x0, x1", "200cc0da", "shuffle int64 w8 <r1 >r0"},
    {A, "csel x0, x1, x2, gt", "20c0829a", "select int64 w8 <r1r2f >r0"},
    {A, "ccmp x0, #3, #4, ne", "041843fa", "compare int64 w8 <r0f >f $3"},
    {A, "adc x0, x1, x2", "2000029a", "add int64 w8 <r1r2f >r0"},
    {A, "ldr x0, [x1, #8]", "200440f9", "move int64 w8 <r1 >r0 L[r1+8]:8"},
    {A, "ldr x0, [x1, x2, lsl #3]", "207862f8", "move int64 w8 <r1r2 >r0 L[r1+r2*8+0]:8"},
    {A, "ldr w0, [x1, w2, sxtw #2]", "20d862b8", "move int32 w4 <r1r2 >r0 L[r1+r2*4+0]:4"},
    {A, "ldrb w0, [x1], #1", "20144038", "move int8 w4 <r1 >r0r1 L[r1+1]:1 updates behind"},
    {A, "ldrsw x0, [x1, #4]", "200480b9", "move int32 w4 <r1 >r0 L[r1+4]:4"},
    {A, "str x0, [x1, #8]!", "208c00f8", "move int64 w8 <r0r1 >r1 S[r1+8]:8 updates"},
    {A, "stp x29, x30, [sp, #-32]!", "fd7bbea9", "move int64 w8 <r29r30r31 >r31 S[r31-32]:16 updates"},
    {A, "ldp d0, d1, [x0, #16]", "0004416d", "move 64 w8 <r0 >v0v1 L[r0+16]:16"},
    {A, "ldp q0, q1, [x0], #32", "0004c1ac", "move 128xN w16 <r0 >r0v0v1 L[r0+32]:32 updates behind"},
    {A, "ldr q0, [x1, x2]", "2068e23c", "move 128xN w16 <r1r2 >v0 L[r1+r2*1+0]:16"},
    {A, "ldr d0, [x1, #8]", "200440fd", "move 64 w8 <r1 >v0 L[r1+8]:8"},
    {A, "str q3, [x0, #16]", "0304803d", "move 128xN w16 <r0v3 > S[r0+16]:16"},
    {A, "str s0, [x1], #4", "204400bc", "move 32 w4 <r1v0 >r1 S[r1+4]:4 updates behind"},
    {A, "ldr x0, 0x1100", "00080058", "move int64 w8 < >r0 L[+4352]:8"},
    {A, "ldur d0, [x1, #-8]", "20805ffc", "move 64 w8 <r1 >v0 L[r1-8]:8"},
    {A, "prfm pldl1keep, [x0, #256]", "008080f9", "prefetch int64 w8 <r0 >"},
    {A, "ldxr x0, [x1]", "207c5fc8", "move int64 w8 <r1 >r0 L[r1+0]:8 locked"},
    {A, "stxr w2, x0, [x1]", "207c02c8", "move int64 w8 <r0r1 >r2 S[r1+0]:8 locked"},
    {A, "ldadd x0, x2, [x1]", "220020f8", "other int64 w8 <r0r1 >r2 LS[r1+0]:8 locked"},
    {A, "ldar x0, [x1]", "20fcdfc8", "move int64 w8 <r1 >r0 L[r1+0]:8"},
    {A, "stlr x0, [x1]", "20fc9fc8", "move int64 w8 <r0r1 > S[r1+0]:8"},
    {A, "ldxp x1, x2, [x3]", "61087fc8", "move int64 w8 <r3 >r1r2 L[r3+0]:16 locked"},
    {A, "ldaxp w1, w2, [sp]", "e18b7f88", "move int32 w4 <r31 >r1r2 L[r31+0]:8 locked"},
    {A, "stxp w0, x1, x2, [x3]", "610820c8", "move int64 w8 <r1r2r3 >r0 S[r3+0]:16 locked"},
    {A, "stlxp w0, w1, w2, [x3]", "61882088", "move int32 w4 <r1r2r3 >r0 S[r3+0]:8 locked"},
    {A, "cas x0, x1, [x2]", "417ca0c8", "other int64 w8 <r0r1r2 >r0 LS[r2+0]:8 locked"},
    {A, "casalb w0, w1, [x2]", "41fce008", "other int8 w4 <r0r1r2 >r0 LS[r2+0]:1 locked"},
    {A, "casp x0, x1, x2, x3, [x4]", "827c2048", "other int64 w8 <r0r1r2r3r4 >r0r1 LS[r4+0]:16 locked"},
    {A, "caspal w6, w7, w2, w3, [x4]", "82fc6608", "other int32 w4 <r2r3r4r6r7 >r6r7 LS[r4+0]:8 locked"},
    {A, "ldapr x0, [x1]", "20c0bff8", "move int64 w8 <r1 >r0 L[r1+0]:8"},
    {A, "ldaprb w0, [x1]", "20c0bf38", "move int8 w4 <r1 >r0 L[r1+0]:1"},
    {A, "ldapur x0, [x1, #-8]", "20805fd9", "move int64 w8 <r1 >r0 L[r1-8]:8"},
    {A, "ldapursw x0, [x1, #4]", "20408099", "move int32 w4 <r1 >r0 L[r1+4]:4"},
    {A, "stlurh w0, [x1, #16]", "20000159", "move int16 w4 <r0r1 > S[r1+16]:2"},
    {A, "swpal x0, x1, [x2]", "4180e0f8", "other int64 w8 <r0r2 >r1 LS[r2+0]:8 locked"},
    {A, "stadd w0, [x1]", "3f0020b8", "other int32 w4 <r0r1 > LS[r1+0]:4 locked"},
    {A, "ldlarh w0, [x1]", "207cdf48", "move int16 w4 <r1 >r0 L[r1+0]:2"},
    {A, "svc #0", "010000d4", "other <o >o"},
    {A, "sqrdmulh v13.4h, v8.4h, v2.h[7]", "0dd9720f", "multiply int16xN w8 <v2v8 >v13"},
    {A, "sqrdmlah v13.4h, v8.4h, v2.h[7]", "0dd9722f", "multiply-add int16xN w8 <v2v8v13 >v13"},
    {A, "suqadd v12.4s, v19.4s", "6c3aa04e", "arithmetic int32xN w16 <v12v19 >v12"},
    {A, "sadalp v20.4h, v14.8b", "d469200e", "add int8xN w8 <v14v20 >v20"},
    {A, "uaddlp v16.4s, v24.8h", "102b606e", "add int16xN w16 <v24 >v16"},
    {A, "sqxtn h11, s15", "eb49615e", "convert int16 from int w8 <v15 >v11"},
    {A, "sqxtn2 v11.8h, v15.4s", "eb49614e", "convert int16xN from int w16 <v11v15 >v11"},
    {A, "shrn2 v17.4s, v6.2d, #5", "d1843b4f", "shift int32xN w16 <v6v17 >v17 $5"},
    {A, "shrn v17.2s, v6.2d, #5", "d1843b0f", "shift int32xN w16 <v6 >v17 $5"},
    {A, "addhn2 v17.4s, v6.2d, v5.2d", "d140a54e", "add int32xN w16 <v5v6v17 >v17"},
    {A, "addhn v17.2s, v6.2d, v5.2d", "d140a50e", "add int32xN w16 <v5v6 >v17"},
    {A, "fmlal v0.4s, v1.4h, v2.4h", "20ec224e", "multiply-add float32xN w16 2flop <v0v1v2 >v0"},
    {A, "aese v12.16b, v23.16b", "ec4a284e", "other w16 <v12v23 >v12"},
    {A, "aesmc v12.16b, v23.16b", "ec6a284e", "other w16 <v23 >v12"},
    {A, "sha1m q14, s9, v3.4s", "2e21035e", "other w16 <v3v9v14 >v14"},
    {A, "sha1h s14, s9", "2e09285e", "other w16 <v9 >v14"},
    {A, "sha1su1 v14.4s, v9.4s", "2e19285e", "other w16 <v9v14 >v14"},
    {A, "sha256su0 v14.4s, v9.4s", "2e29285e", "other w16 <v9v14 >v14"},
    {A, "sha256h q12, q7, v2.4s", "ec40025e", "other w16 <v2v7v12 >v12"},
    {A, "sysl x10, #5, c1, c6, #3", "6a162dd5", "other <o >r10o"},
    {A, "ld1 {v0.4s}, [x0], #16", "0078df4c", "move 32xN w16 <r0 >r0v0 L[r0+16]:16 updates behind"},
    {A, "ld2 {v0.2d, v1.2d}, [x0]", "008c404c", "shuffle 64xN w16 <r0 >v0v1 L[r0+0]:32"},
    {A, "st1 {v0.2d, v1.2d}, [x0], x3", "00ac834c", "shuffle 64xN w16 <r0r3v0v1 >r0 S[r0+0]:32 updates behind"},
    {A, "ld1 {v0.s}[1], [x0]", "0090400d", "shuffle 32xN w8 <r0v0 >v0 L[r0+0]:4"},
    {A, "ld1r {v0.2d}, [x0]", "00cc404d", "shuffle 64xN w16 <r0 >v0 L[r0+0]:8"},
    {A, "fadd d0, d1, d2", "2028621e", "add double64 w8 1flop <v1v2 >v0"},
    {A, "fmul s0, s1, s2", "2008221e", "multiply float32 w4 1flop <v1v2 >v0"},
    {A, "fmadd d0, d1, d2, d3", "200c421f", "multiply-add double64 w8 2flop <v1v2v3 >v0"},
    {A, "fdiv d0, d1, d2", "2018621e", "divide double64 w8 1flop <v1v2 >v0"},
    {A, "fsqrt d0, d1", "20c0611e", "sqrt double64 w8 1flop <v1 >v0"},
    {A, "fabs d0, d1", "20c0601e", "logic double64 w8 <v1 >v0"},
    {A, "fneg s0, s1", "2040211e", "logic float32 w4 <v1 >v0"},
    {A, "fmax d0, d1, d2", "2048621e", "minmax double64 w8 <v1v2 >v0"},
    {A, "fcmp d0, d1", "0020611e", "compare double64 w8 <v0v1 >f"},
    {A, "fcmp d0, #0.0", "0820601e", "compare double64 w8 <v0 >f"},
    {A, "fcsel d0, d1, d2, gt", "20cc621e", "select double64 w8 <v1v2f >v0"},
    {A, "fmov d0, #1.0", "00106e1e", "move double64 w8 < >v0 $0"},
    {A, "fmov d0, x1", "2000679e", "move double64 w8 <r1 >v0"},
    {A, "fmov x0, d1", "2000669e", "move double64 w8 <v1 >r0"},
    {A, "fmov d0, d1", "2040601e", "move double64 w8 <v1 >v0"},
    {A, "scvtf d0, x1", "2000629e", "convert double64 from int w8 <r1 >v0"},
    {A, "fcvtzs w0, d1", "2000781e", "convert int64 from double w8 <v1 >r0"},
    {A, "fcvt d0, s1", "20c0221e", "convert double32 from float w4 <v1 >v0"},
    {A, "frintm d0, d1", "2040651e", "arithmetic double64 w8 <v1 >v0"},
    {A, "fadd v0.2d, v1.2d, v2.2d", "20d4624e", "add double64xN w16 1flop <v1v2 >v0"},
    {A, "fmul v0.4s, v1.4s, v2.4s", "20dc226e", "multiply float32xN w16 1flop <v1v2 >v0"},
    {A, "fmla v0.2d, v1.2d, v2.2d", "20cc624e", "multiply-add double64xN w16 2flop <v0v1v2 >v0"},
    {A, "fmla v0.2d, v1.2d, v2.d[1]", "2018c24f", "multiply-add double64xN w16 2flop <v0v1v2 >v0"},
    {A, "fmul v0.4s, v1.4s, v2.s[0]", "2090824f", "multiply float32xN w16 1flop <v1v2 >v0"},
    {A, "fmul d0, d1, v2.d[1]", "2098c25f", "multiply double64 w8 1flop <v1v2 >v0"},
    {A, "fdiv v0.2d, v1.2d, v2.2d", "20fc626e", "divide double64xN w16 1flop <v1v2 >v0"},
    {A, "fsqrt v0.2d, v1.2d", "20f8e16e", "sqrt double64xN w16 1flop <v1 >v0"},
    {A, "fabs v0.2d, v1.2d", "20f8e04e", "logic double64xN w16 <v1 >v0"},
    {A, "fmax v0.4s, v1.4s, v2.4s", "20f4224e", "minmax float32xN w16 <v1v2 >v0"},
    {A, "fcmgt v0.2d, v1.2d, v2.2d", "20e4e26e", "compare double64xN w16 <v1v2 >v0"},
    {A, "fcmgt v0.2d, v1.2d, #0.0", "20c8e04e", "compare double64xN w16 <v1 >v0"},
    {A, "scvtf v0.2d, v1.2d", "20d8614e", "convert double64xN from int w16 <v1 >v0"},
    {A, "fcvtzs v0.4s, v1.4s", "20b8a14e", "convert int32xN from float w16 <v1 >v0"},
    {A, "fcvtl v0.2d, v1.2s", "2078610e", "convert double32xN from float w16 <v1 >v0"},
    {A, "fcvtn2 v0.4s, v1.2d", "2068614e", "convert float64xN from double w16 <v0v1 >v0"},
    {A, "faddp d0, v1.2d", "20d8707e", "add double64 w8 1flop <v1 >v0"},
    {A, "faddp v0.2d, v1.2d, v2.2d", "20d4626e", "add double64xN w16 1flop <v1v2 >v0"},
    {A, "addv s0, v1.4s", "20b8b14e", "add int32xN w16 <v1 >v0"},
    {A, "add v0.4s, v1.4s, v2.4s", "2084a24e", "add int32xN w16 <v1v2 >v0"},
    {A, "mul v0.4s, v1.4s, v2.4s", "209ca24e", "multiply int32xN w16 <v1v2 >v0"},
    {A, "mla v0.4s, v1.4s, v2.4s", "2094a24e", "multiply-add int32xN w16 <v0v1v2 >v0"},
    {A, "smull v0.2d, v1.2s, v2.2s", "20c0a20e", "multiply int32xN w16 <v1v2 >v0"},
    {A, "smlal v0.2d, v1.2s, v2.2s", "2080a20e", "multiply-add int32xN w16 <v0v1v2 >v0"},
    {A, "saddw v0.2d, v1.2d, v2.2s", "2010a20e", "add int32xN w16 <v1v2 >v0"},
    {A, "sdot v0.4s, v1.16b, v2.16b", "2094824e", "multiply-add int32xN w16 <v0v1v2 >v0"},
    {A, "and v0.16b, v1.16b, v2.16b", "201c224e", "logic int8xN w16 <v1v2 >v0"},
    {A, "mov v0.16b, v1.16b", "201ca14e", "move int8xN w16 <v1 >v0"},
    {A, "bsl v0.16b, v1.16b, v2.16b", "201c626e", "select int8xN w16 <v0v1v2 >v0"},
    {A, "cmeq v0.4s, v1.4s, v2.4s", "208ca26e", "compare int32xN w16 <v1v2 >v0"},
    {A, "smax v0.4s, v1.4s, v2.4s", "2064a24e", "minmax int32xN w16 <v1v2 >v0"},
    {A, "shl v0.4s, v1.4s, #3", "2054234f", "shift int32xN w16 <v1 >v0 $3"},
    {A, "ssra v0.4s, v1.4s, #3", "20143d4f", "shift int32xN w16 <v0v1 >v0 $3"},
    {A, "sshll v0.2d, v1.2s, #0", "20a4200f", "shift int32xN w16 <v1 >v0 $0"},
    {A, "movi v0.4s, #0", "0004004f", "move w16 < >v0 $0 new"},
    {A, "fmov v0.2d, #1.0", "00f6036f", "move w16 < >v0 $0 new"},
    {A, "dup v0.2d, v1.d[0]", "2004084e", "shuffle 64xN w16 <v1 >v0"},
    {A, "dup v0.2d, x1", "200c084e", "shuffle 64xN w16 <r1 >v0"},
    {A, "ins v0.d[1], x1", "201c184e", "shuffle 64xN w16 <r1v0 >v0"},
    {A, "umov x0, v1.d[1]", "203c184e", "shuffle 64 w16 <v1 >r0"},
    {A, "zip1 v0.4s, v1.4s, v2.4s", "2038824e", "shuffle 32xN w16 <v1v2 >v0"},
    {A, "ext v0.16b, v1.16b, v2.16b, #8", "2040026e", "shuffle 8xN w16 <v1v2 >v0"},
    {A, "tbl v0.16b, {v1.16b, v2.16b}, v3.16b", "2020034e", "shuffle 8xN w16 <v1v2v3 >v0"},
    {A, "dmb ish", "bf3b03d5", "fence <o >o"},
    {A, "nop", "1f2003d5", "nop < >"},
    {A, "mrs x0, tpidr_el0", "40d03bd5", "other <o >r0o"},
    {A, "bl 0x1100", "40000094", "control < >r30"},
    {A, "cbz x3, 0x1100", "030800b4", "control <r3 >"},
    {A, "ret", "c0035fd6", "control <r30 >"},
    {A, "fadd z0.d, z1.d, z2.d", "2000c265", "add double64xV 1flop <v1v2 >v0"},
    {A, "fmul z0.d, z1.d, z2.d", "2008c265", "multiply double64xV 1flop <v1v2 >v0"},
    {A, "fadd z0.d, p0/m, z0.d, z2.d", "4080c065", "add double64xV 1flop <v0v2k0 >v0 masked"},
    {A, "fmla z0.d, p0/m, z1.d, z2.d", "2000e265", "multiply-add double64xV 2flop <v0v1v2k0 >v0 masked"},
    {A, "fmad z0.s, p1/m, z1.s, z2.s", "2084a265", "multiply-add float32xV 2flop <v0v1v2k1 >v0 masked"},
    {A, "fdiv z0.d, p0/m, z0.d, z2.d", "4080cd65", "divide double64xV 1flop <v0v2k0 >v0 masked"},
    {A, "fsqrt z0.d, p0/m, z1.d", "20a0cd65", "sqrt double64xV 1flop <v1k0 >v0 masked"},
    {A, "faddv d0, p0, z1.d", "2020c065", "add double64xV 1flop <v1k0 >v0 masked"},
    {A, "fadda d0, p0, d0, z1.d", "2020d865", "add double64xV 1flop <v0v1k0 >v0 masked"},
    {A, "scvtf z0.d, p0/m, z1.d", "20a0d665", "convert double64xV from int <v1k0 >v0 masked"},
    {A, "fcvtzs z0.d, p0/m, z1.d", "20a0de65", "convert int64xV from double <v1k0 >v0 masked"},
    {A, "fcmgt p1.d, p0/z, z1.d, z2.d", "3140c265", "compare double64xV <v1v2k0 >k1 masked"},
    {A, "fmla z0.d, z1.d, z2.d[1]", "2000f264", "multiply-add double64xV 2flop <v0v1v2 >v0"},
    {A, "add z0.s, z1.s, z2.s", "2000a204", "add int32xV <v1v2 >v0"},
    {A, "mul z0.s, p0/m, z0.s, z2.s", "40009004", "multiply int32xV <v0v2k0 >v0 masked"},
    {A, "mla z0.s, p0/m, z1.s, z2.s", "20408204", "multiply-add int32xV <v0v1v2k0 >v0 masked"},
    {A, "sdiv z0.s, p0/m, z0.s, z2.s", "40009404", "divide int32xV <v0v2k0 >v0 masked"},
    {A, "and z0.d, z1.d, z2.d", "20302204", "logic <v1v2 >v0"},
    {A, "mov z0.d, z1.d", "20306104", "move <v1 >v0"},
    {A, "lsl z0.s, z1.s, #3", "209c6304", "shift int32xV <v1 >v0"},
    {A, "sel z0.d, p0, z1.d, z2.d", "20c0e205", "select int64xV <v1v2k0 >v0 masked"},
    {A, "mov z0.d, x1", "2038e005", "shuffle int64xV <r1 >v0"},
    {A, "mov z0.d, #0", "00c0f825", "move int64xV < >v0"},
    {A, "whilelo p0.d, x1, x2", "201ce225", "compare int64xV <r1r2 >k0f"},
    {A, "ptrue p0.d", "e0e3d825", "move int64xV < >k0"},
    {A, "cntd x0", "e0e3e004", "move int64xV < >r0"},
    {A, "incd x0", "e0e3f004", "add int64xV <r0 >r0"},
    {A, "index z0.d, #0, #1", "0040e104", "move int64xV < >v0"},
    {A, "movprfx z0, z1", "20bc2004", "move <v1 >v0"},
    {A, "uzp1 z0.d, z1.d, z2.d", "2068e205", "shuffle int64xV <v1v2 >v0"},
    {A, "sxtw z0.d, p0/m, z1.d", "20a0d404", "move int64xV <v1k0 >v0 masked"},
    {A, "ld1d {z0.d}, p0/z, [x0, x1, lsl #3]", "0040e1a5", "move 64xV <r0r1k0 >v0 L[r0+r1*8+0]:V masked"},
    {A, "ld1w {z0.s}, p0/z, [x0]", "00a040a5", "move 32xV <r0k0 >v0 L[r0+0]:V masked"},
    {A, "ld1sb {z0.s}, p0/z, [x0, x1]", "0040a1a5", "move 8xV <r0r1k0 >v0 L[r0+r1*1+0]:V masked"},
    {A, "ld1d {z0.d}, p0/z, [x0, z1.d, lsl #3]", "00c0e1c5", "move 64xV <r0v1k0 >v0 L[r0+v1*8+0]:V masked"},
    {A, "ld1d {z0.d}, p0/z, [z1.d, #8]", "20c0a1c5", "move 64xV <v1k0 >v0 L[+v1*1+8]:V masked"},
    {A, "ld1rd {z0.d}, p0/z, [x0, #16]", "00e0c285", "move 64xV <r0k0 >v0 L[r0+16]:8 masked"},
    {A, "st1d {z0.d}, p0, [x0, x1, lsl #3]", "0040e1e5", "move 64xV <r0r1v0k0 > S[r0+r1*8+0]:V masked"},
    {A, "st1w {z0.s}, p0, [x0]", "00e040e5", "move 32xV <r0v0k0 > S[r0+0]:V masked"},
    {A, "st1d {z0.d}, p0, [x0, z1.d, lsl #3]", "00a0a1e5", "move 64xV <r0v0v1k0 > S[r0+v1*8+0]:V masked"},
    {A, "ldr z0, [x0]", "00408085", "move <r0 >v0 L[r0+0]:V"},
    {A, "str z0, [x0]", "004080e5", "move <r0v0 > S[r0+0]:V"},
};

static void print_set(struct buf *out, const char *mark, const struct reg_set *s)
{
    buf_str(out, mark);
    for (unsigned i = 0; i < 32; i++)
        if (s->general >> i & 1)
            buf_printf(out, "r%u", i);
    for (unsigned i = 0; i < 32; i++)
        if (s->vector >> i & 1)
            buf_printf(out, "v%u", i);
    for (unsigned i = 0; i < 16; i++)
        if (s->mask >> i & 1)
            buf_printf(out, "k%u", i);
    buf_printf(out, "%s%s", s->flags ? "f" : "", s->other ? "o" : "");
}

static void print_memory(struct buf *out, const struct insn_memory *m)
{
    buf_printf(out, " %s%s[", m->reads ? "L" : "", m->writes ? "S" : "");
    if (m->base != FACTS_NO_REG)
        buf_printf(out, "r%u", m->base);
    if (m->index != FACTS_NO_REG)
        buf_printf(out, "+%s%u*%u", m->vector_index ? "v" : "r", m->index, m->scale);
    buf_printf(out, "%+lld%s]:", (long long)m->disp, m->segment ? " segment" : "");
    if (m->scalable)
        buf_str(out, "V");
    else
        buf_printf(out, "%u", m->size);
    buf_printf(out, "%s%s", m->updates ? " updates" : "", m->post_disp ? " behind" : "");
}

static void print_facts(struct buf *out, const struct insn_facts *f)
{
    static const char *const types[] = {"", "int", "half", "float", "double", "extended"};
    buf_printf(out, "%s", insn_class_name(f->class));
    if (f->element)
        buf_printf(out, " %s%u%s", types[f->type], 8 * f->element,
                   f->scalable && f->packed ? "xV"
                   : f->packed              ? "xN"
                                            : "");
    if (f->source_type)
        buf_printf(out, " from %s", types[f->source_type]);
    if (f->width)
        buf_printf(out, " w%u", f->width);
    if (f->flops)
        buf_printf(out, " %uflop", f->flops);
    print_set(out, " <", &f->reads);
    print_set(out, " >", &f->writes);
    for (unsigned i = 0; i < f->memory_count; i++)
        print_memory(out, &f->memory[i]);
    if (f->has_constant)
        buf_printf(out, " $%lld", (long long)f->constant);
    buf_printf(out, "%s%s%s", f->masked ? " masked" : "", f->locked ? " locked" : "", f->constant_result ? " new" : "");
}

static size_t from_hex(const char *hex, uint8_t *bytes, size_t room)
{
    size_t n = 0;
    for (; hex[2 * n] && n < room; n++)
        bytes[n] = (uint8_t)strtoul((char[]){hex[2 * n], hex[2 * n + 1], 0}, NULL, 16);
    return n;
}

/* Any bytes: registers and memory stay in their ranges, and classes have names. */
static void test_any_bytes(enum arch_kind kind)
{
    uint64_t state = 88172645463325252ull;
    size_t odd = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t bytes[16];
        struct insn_facts f;
        for (unsigned k = 0; k < 16; k += 8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            memcpy(bytes + k, &state, 8);
        }
        if (!arch_get(kind)->facts(bytes, sizeof bytes, 0x1000, &f))
            continue;
        odd += f.class >= CLASS_COUNT || f.memory_count > 2 || f.width > 64 || f.flops > 2 || f.insn.length == 0;
        for (unsigned m = 0; m < f.memory_count; m++)
            odd += (f.memory[m].base != FACTS_NO_REG && f.memory[m].base > 31) ||
                   (f.memory[m].index != FACTS_NO_REG && f.memory[m].index > 31) ||
                   (!f.memory[m].reads && !f.memory[m].writes);
    }
    CHECK_INT(odd, 0);
}

/* ---- AArch64 against capstone ------------------------------------------------------------------------------------ */

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

/* Version 4 output, compared verbatim: later versions decode atomics, pointer authentication and memory tags, and
   format them differently. */
#if defined HAVE_CAPSTONE && CS_API_MAJOR == 4
static csh capstone;

static unsigned number_of(unsigned reg)
{
    const char *name = cs_reg_name(capstone, reg);
    if (!name || strcmp(name, "xzr") == 0 || strcmp(name, "wzr") == 0)
        return FACTS_NO_REG;
    return strstr(name, "sp") ? 31 : (unsigned)strtoul(name + 1, NULL, 10);
}

static void add_named(struct reg_set *set, unsigned reg)
{
    const char *name = cs_reg_name(capstone, reg);
    unsigned n = number_of(reg);
    if (!name || n == FACTS_NO_REG || !strpbrk(name, "0123456789s"))
        return;
    bool is_general = *name == 'w' || *name == 'x' || strstr(name, "sp");
    *(is_general ? &set->general : &set->vector) |= 1u << n;
}

/* All that an instruction names, read or written. */
static bool names_alike(const struct insn_facts *f, const cs_insn *i)
{
    struct reg_set named = {0};
    for (unsigned k = 0; k < i->detail->arm64.op_count; k++) {
        const cs_arm64_op *o = &i->detail->arm64.operands[k];
        if (o->type == ARM64_OP_REG)
            add_named(&named, o->reg);
        if (o->type == ARM64_OP_MEM) {
            add_named(&named, o->mem.base);
            add_named(&named, o->mem.index);
        }
    }
    if (f->insn.kind == INSN_CALL || f->insn.kind == INSN_CALL_INDIRECT)
        named.general |= 1u << 30;
    return (f->reads.general | f->writes.general) == named.general &&
           (f->reads.vector | f->writes.vector) == named.vector;
}

/* Size in bytes of an element or register, by its assembly letter. */
static unsigned bytes_of(char letter)
{
    return letter == 'b' ? 1 : letter == 'h' ? 2 : letter == 's' || letter == 'w' ? 4 : letter == 'q' ? 16 : 8;
}

static unsigned size_by_text(const char *name, const char *operands)
{
    unsigned count = 0, each = 0, elements = 1;
    size_t end = strlen(name) - 1;
    for (const char *at = operands; *at && strncmp(at, "[x", 2) != 0 && strncmp(at, "[sp", 3) != 0; at++)
        if (*at != '{' && (at == operands || at[-1] == ' ' || at[-1] == '{')) {
            const char *dot = strchr(at, '.');
            bool is_vector = *at == 'v' && dot;
            if (is_vector)
                elements = (unsigned)strtoul(dot + 1, NULL, 10);
            each = bytes_of(is_vector ? dot[1 + strspn(dot + 1, "0123456789")] : *at);
            count++;
        }
    bool is_status = strncmp(name, "stx", 3) == 0 || strncmp(name, "stlx", 4) == 0;
    if (*operands == '{')
        return count * each * (name[3] == 'r' || !elements ? 1 : elements);
    if (name[end] == 'b' || name[end] == 'h' || (name[end] == 'w' && name[end - 1] == 's'))
        each = bytes_of(name[end]);
    if (strcmp(name, "ldpsw") == 0)
        each = 4;
    return (count - is_status) * each;
}

/* Compares the memory accesses and their sizes; prefetches are not accesses. */
static bool refers_alike(const struct insn_facts *f, const cs_insn *i)
{
    const cs_arm64_op *o = NULL;
    for (unsigned k = 0; k < i->detail->arm64.op_count; k++)
        if (i->detail->arm64.operands[k].type == ARM64_OP_MEM)
            o = &i->detail->arm64.operands[k];
    if (!o || strncmp(i->mnemonic, "prf", 3) == 0)
        return f->memory_count == 0 || f->memory[0].base == FACTS_NO_REG; /* (a literal is an address there) */
    const struct insn_memory *m = f->memory;
    const char *where = strrchr(i->op_str, '[');
    bool behind = strstr(where, "], "), before = strchr(where, '!');
    const char *shift = strstr(where, " #");
    unsigned index = o->mem.index ? number_of(o->mem.index) : FACTS_NO_REG;
    unsigned scale = index != FACTS_NO_REG && shift ? 1u << strtoul(shift + 2, NULL, 0) : 1;
    bool load = strncmp(i->mnemonic, "ld", 2) == 0;
    return f->memory_count == 1 && m->base == number_of(o->mem.base) && m->index == index &&
           (m->scale == scale || index == FACTS_NO_REG) && (behind || m->disp == o->mem.disp) &&
           m->post_disp == behind && m->updates == (behind || before) && m->reads == load && m->writes == !load &&
           m->size == size_by_text(i->mnemonic, i->op_str);
}

/* Sets should-be-one bits that carry no information to one. */
static uint32_t proper(uint32_t w)
{
    if ((w & 0x3f000000) == 0x08000000 && !(w & 0x00200000))
        w |= 31 << 10;
    if ((w & 0x3f000000) == 0x08000000 && (w & 0x00c00000))
        w |= 31 << 16;
    return (w & 0xff600000) == 0x9b400000 ? w | 31 << 10 : w;
}

static void test_against_capstone(void)
{
    struct insn_facts f;
    cs_insn *i;
    uint64_t state = 1;
    unsigned known = 0, references = 0, wrong = 0;
    if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone) != CS_ERR_OK) {
        SKIP("what AArch64's instructions name, as capstone has it", "capstone without ARM64");
        return;
    }
    cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
    for (unsigned n = 0; n < 60000; n++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t w = (uint32_t)(state >> 32);
        w = proper(n % 2 ? w : (w & ~0x0a000000u) | 0x08000000); /* half of them load and store */
        uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
        if (w >> 24 == 0xd5 || cs_disasm(capstone, bytes, 4, 0x1000, 1, &i) != 1) /* (0xd5: system registers) */
            continue;
        bool same = arch_get(ARCH_AARCH64)->facts(bytes, 4, 0x1000, &f) && names_alike(&f, i) && refers_alike(&f, i);
        known++;
        references += f.memory_count;
        if (!same && wrong++ < 20)
            printf("# %08x %s %s\n", w, i->mnemonic, i->op_str);
        cs_free(i, 1);
    }
    cs_close(&capstone);
    CHECK(known > 15000 && references > 8000);
    CHECK_INT(wrong, 0);
}
#else
static void test_against_capstone(void)
{
    SKIP("what AArch64's instructions name, as capstone has it", "built without capstone 4");
}
#endif

/* ---- all of AArch64 -------------------------------------------------------------------------------------------- */

static void put_op(struct buf *b, const struct op *o)
{
    buf_printf(b, "%u %u %u %u %u %u %u %d %lld %u %d %d %d %lld %x %u %u %u %u %lld;", o->kind, o->dst, o->src,
               o->base, o->index, o->scale, o->size, o->sign, (long long)o->disp, o->index_size, o->index_sign,
               o->stack_lost, o->from_frame, (long long)o->stack, o->clobbers, o->compare, o->cmp_reg, o->cmp_reg2,
               o->cmp_size, (long long)o->cmp_const);
}

static void put_set(struct buf *b, const struct reg_set *s)
{
    buf_printf(b, "%x %x %x %d%d;", s->general, s->vector, s->mask, s->flags, s->other);
}

static void put_facts(struct buf *b, const struct insn_facts *f)
{
    buf_printf(b, "%u %u %u %u %u %u %d%d%d%d%d%d %lld;", f->class, f->type, f->source_type, f->element, f->width,
               f->flops, f->packed, f->scalable, f->masked, f->locked, f->constant_result, f->has_constant,
               (long long)f->constant);
    put_set(b, &f->reads);
    put_set(b, &f->writes);
    for (unsigned i = 0; i < f->memory_count; i++) {
        const struct insn_memory *m = &f->memory[i];
        buf_printf(b, "%u %u %u %d%d%d%d%d%d%d %lld %u;", m->base, m->index, m->scale, m->vector_index, m->reads,
                   m->writes, m->segment, m->scalable, m->post_disp, m->updates, (long long)m->disp, m->size);
    }
}

static uint64_t digest_word(const struct arch *arch, struct buf *b, uint32_t word, uint64_t before)
{
    uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)}, reg = 0;
    struct insn in;
    struct insn_facts facts = {0};
    struct op op = {0};
    vaddr value = 0;
    b->len = 0;
    arch->decode(bytes, 4, 0x40000, &in);
    buf_printf(b, "%u %u %llx;", in.kind, in.length, in.kind == INSN_PLAIN ? 0 : (unsigned long long)in.target);
    arch->detail->lift(bytes, 4, 0x40000, &op);
    put_op(b, &op);
    if (in.kind == INSN_BRANCH)
        buf_printf(b, "%d;", arch->detail->test(bytes, 4));
    if (arch->detail->constant(bytes, 4, 0x40000, &reg, &value))
        buf_printf(b, "%u %llx;", reg, (unsigned long long)value);
    if (arch->facts(bytes, 4, 0x40000, &facts))
        put_facts(b, &facts);
    return hash_bytes(b->bytes, b->len, before);
}

/* A digest of all facts for a hundred thousand words, by encoding class (bits 28 to 25), width and variant (bits 31 to
   29): the rows above check correctness, this one detects any other change. GOLDEN=write rewrites aarch64.words. */
static void test_aarch64_words(void)
{
    const struct arch *arch = arch_get(ARCH_AARCH64);
    const char *top = getenv("top_srcdir"), *golden = getenv("GOLDEN");
    char *kept = mem_printf("%s/bloop/arch/aarch64.words", top ? top : ".");
    struct buf line = {0}, all = {0};
    uint64_t random = 1;
    for (uint32_t group = 0; group < 128; group++) {
        uint64_t digest = 0;
        for (uint32_t i = 0; i < 1024; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            uint32_t word = ((uint32_t)(random >> 32) & 0x01ffffff) | (group & 15) << 25 | group >> 4 << 29;
            /* few registers and short distances: most variation is in the bits in between */
            digest = digest_word(arch, &line, i & 1 ? word & 0xfffffc63 : word, digest);
        }
        buf_printf(&all, "%02x......: %016llx\n", ((group & 15) << 1) | group >> 4 << 5, (unsigned long long)digest);
    }
    FILE *out = golden && strcmp(golden, "write") == 0 ? fopen(kept, "w") : NULL;
    if (out) {
        fputs(all.bytes, out);
        fclose(out);
    }
    struct filemap map = {0};
    struct err err = {0};
    if (filemap_open(&map, kept, &err) < 0)
        printf("# %s\n", err.msg);
    size_t at = 0;
    for (const char *p = all.bytes; *p; p = strchr(p, '\n') + 1) {
        size_t n = strcspn(p, "\n") + 1;
        bool same = at + n <= map.len && memcmp(map.bytes + at, p, n) == 0;
        char name[64];
        snprintf(name, sizeof name, "the words from 0x%.2s000000 on are what they were", p);
        CHECK_NAMED(same, name);
        at += n;
    }
    filemap_release(&map);
    buf_release(&line);
    buf_release(&all);
    mem_free(kept);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct buf out = {0};
        struct insn_facts f;
        uint8_t bytes[16];
        size_t n = from_hex(rows[i].bytes, bytes, sizeof bytes);
        if (arch_get(rows[i].arch)->facts(bytes, n, 0x1000, &f))
            print_facts(&out, &f);
        else
            buf_str(&out, "unknown");
        CHECK_INT(f.insn.length, n);
        tap_str(out.bytes, rows[i].text, rows[i].assembly, __FILE__, __LINE__);
        buf_release(&out);
    }
    test_any_bytes(ARCH_X86_64);
    test_any_bytes(ARCH_AARCH64);
    RUN(test_against_capstone);
    RUN(test_aarch64_words);
    return tap_done();
}
