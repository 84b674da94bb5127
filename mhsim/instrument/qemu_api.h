/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of QEMU's plugin interface that is used, declared here because its header is not packaged. The interface is
 * versioned: 1 in QEMU 6.0 to 8.2, and from 9.0 on at least 2; these declarations have been the same in all of them.
 */
#ifndef MHSIM_INSTRUMENT_QEMU_API_H
#define MHSIM_INSTRUMENT_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct qemu_info_t {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_plugin_mem_cb)(unsigned int vcpu, qemu_plugin_meminfo_t, uint64_t address, void *data);
typedef void (*qemu_plugin_atexit_cb)(qemu_plugin_id_t, void *data);
typedef void (*qemu_plugin_syscall_cb)(qemu_plugin_id_t, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_cb);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_plugin_mem_cb, enum qemu_plugin_cb_flags,
                                      enum qemu_plugin_mem_rw, void *data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_plugin_syscall_cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_atexit_cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t i);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

#endif
