/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory one instruction reads or writes at once, for joining the pieces in which QEMU reports it. */
#ifndef MHSIM_INSTRUMENT_DECODE_H
#define MHSIM_INSTRUMENT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoded {
    uint16_t bytes;  /* of one access that QEMU cuts into pieces; 0: it does not */
    bool memory;     /* reads or writes memory */
    bool stack_read; /* its reads all go through the stack pointer; its writes */
    bool stack_written;
    bool unreported; /* QEMU reports no access of it */
};

bool decode_x86_64(const uint8_t *code, size_t n, struct decoded *);
bool decode_aarch64(const uint8_t *code, size_t n, struct decoded *);

#endif
