/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files on x86-64: one decoder, initialized once and then only read, by all threads. */
#ifndef BLOOP_X86_64_H
#define BLOOP_X86_64_H

#include "bloop/arch/ops.h"

#include <Zydis/Zydis.h>

struct insn_facts;
const ZydisDecoder *x86_64_decoder(void);
bool x86_64_facts(const uint8_t *p, size_t n, vaddr addr, struct insn_facts *);

#endif
