/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in the address space, and their data symbols. */
#ifndef MHSIM_RUNTIME_MODULES_H
#define MHSIM_RUNTIME_MODULES_H

#include "mhsim/shared_layout.h"
#include "mhsim/engine/mmap_store.h"

/* Reads /proc/self/maps again and adds what is new to `modules` (of struct raw_module). */
void modules_refresh(struct store *modules);
/* The row of the module at an address, or -1. */
int64_t modules_find(const struct store *modules, uint64_t address);

struct data_symbol {
    uint64_t lo, hi; /* at run time */
    const char *name;
    uint64_t number; /* among the module's */
};
/* The data symbol there; false: none, and the gap between symbols is in lo and hi. */
bool modules_symbol(const struct store *modules, uint32_t module, uint64_t address, struct data_symbol *);
void modules_close(void);

#endif
