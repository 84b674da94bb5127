/* SPDX-License-Identifier: BSD-3-Clause */
// As hooks-x86_64.s. A branch and link to a symbol is written as its bits and their relocation: the word is this macro's name.
.macro bl target:vararg
    .set .Lhpcview_is_hook, 0
    .irp hook, __asan_load1_noabort, __asan_load2_noabort, __asan_load4_noabort, __asan_load8_noabort, __asan_load16_noabort, __asan_store1_noabort, __asan_store2_noabort, __asan_store4_noabort, __asan_store8_noabort, __asan_store16_noabort
        .ifc \target,\hook
            .set .Lhpcview_is_hook, 1
        .endif
    .endr
    .if .Lhpcview_is_hook
        mrs x9, tpidr_el0
        adrp x10, :gottprel:hpcview_simulate_thread
        ldr x10, [x10, #:gottprel_lo12:hpcview_simulate_thread]
        ldr x9, [x9, x10]
        ldp x10, x11, [x9]
        cmp x10, x11
        b.hs .Lhpcview_call\@
        add x10, x10, #1
        str x10, [x9]
        b .Lhpcview_done\@
    .endif
    .Lhpcview_call\@:
    .reloc ., R_AARCH64_CALL26, \target
    .inst 0x94000000
    .Lhpcview_done\@:
.endm
