/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files on AArch64. */
#ifndef BLOOP_AARCH64_H
#define BLOOP_AARCH64_H

#include "bloop/arch/ops.h"

struct insn_facts;
bool aarch64_facts(const uint8_t *p, size_t n, vaddr addr, struct insn_facts *);

#endif
