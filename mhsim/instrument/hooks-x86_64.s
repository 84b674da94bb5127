/* SPDX-License-Identifier: BSD-3-Clause */
# What hpcview-cc puts before each file for the assembler (GNU as), so that accesses which are only numbered call nothing:
#
#     call __asan_load8_noabort  ->  if (me->numbered < me->until) me->numbered++; else call hpcview_simulate__asan_load8_noabort
#
# where `me` is the thread's (struct runtime_thread). Registers: those that the call would have changed. Any other call stays what
# it is; {load} changes nothing, it only keeps the word from being this macro's name again.
.macro hpcview_simulate_hook hook
    movq hpcview_simulate_thread@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    movq (%rax), %r10
    cmpq 8(%rax), %r10
    jae .Lhpcview_call\@
    addq $1, %r10
    movq %r10, (%rax)
    jmp .Lhpcview_done\@
    .Lhpcview_call\@:
    {load} call *hpcview_simulate\hook@GOTPCREL(%rip)
    .Lhpcview_done\@:
.endm

.macro call target:vararg
    .set .Lhpcview_is_hook, 0
    .irp hook, __asan_load1_noabort, __asan_load2_noabort, __asan_load4_noabort, __asan_load8_noabort, __asan_load16_noabort, __asan_store1_noabort, __asan_store2_noabort, __asan_store4_noabort, __asan_store8_noabort, __asan_store16_noabort
        .ifc \target,\hook
            .set .Lhpcview_is_hook, 1
            hpcview_simulate_hook \hook
        .endif
        .ifc \target,\hook@PLT
            .set .Lhpcview_is_hook, 1
            hpcview_simulate_hook \hook
        .endif
    .endr
    .if .Lhpcview_is_hook == 0
        {load} call \target
    .endif
.endm
