/*
 * A plugin for QEMU's user mode: how often each instruction of the program was executed, in callgrind's format with addresses. What sampling
 * by cycles must show, where each instruction takes the same number of them.
 *
 *     qemu-aarch64 -plugin count.so,out=FILE,program=/path/of/it PROGRAM ARGS
 *
 * Programs without -pie: addresses are those of the file. What is executed elsewhere, in libraries, is one line of the procedure "elsewhere".
 */
#include "mhsim/instrument/qemu_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* (the rest of the interface is declared there; this is interface 1, from QEMU 6.0 on) */
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, enum qemu_plugin_op, void *, uint64_t);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

enum { PROGRAM_BEGIN = 0x400000, INSTRUCTIONS = 1 << 20, INSTRUCTION_BYTES = 4 };
static uint64_t executed[INSTRUCTIONS], elsewhere;
static const char *out, *program;

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = (qemu_plugin_insn_vaddr(insn) - PROGRAM_BEGIN) / INSTRUCTION_BYTES;
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   at < INSTRUCTIONS ? &executed[at] : &elsewhere, 1);
    }
}

static void at_end(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    FILE *f = fopen(out, "w");
    if (!f)
        return;
    fprintf(f,
            "# callgrind format\nversion: 1\ncreator: count.c\npositions: instr line\nevents: "
            "Ir\n\nob=%s\nfl=???\nfn=executed\n",
            program);
    for (uint64_t i = 0; i < INSTRUCTIONS; i++)
        if (executed[i])
            fprintf(f, "0x%llx 0 %llu\n", (unsigned long long)(PROGRAM_BEGIN + i * INSTRUCTION_BYTES),
                    (unsigned long long)executed[i]);
    fprintf(f, "ob=elsewhere\nfn=elsewhere\n0x0 0 %llu\n", (unsigned long long)elsewhere);
    fclose(f);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0)
            out = argv[i] + 4;
        if (strncmp(argv[i], "program=", 8) == 0)
            program = argv[i] + 8;
    }
    if (!out || !program)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
