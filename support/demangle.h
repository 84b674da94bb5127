/* SPDX-License-Identifier: BSD-3-Clause */
/* Demangling of linker names: C++ and Rust, through libiberty if hpcview was built with it. */
#ifndef SUPPORT_DEMANGLE_H
#define SUPPORT_DEMANGLE_H

struct arena;

/* Into `a`; the symbol itself if it is not mangled, or would grow beyond LIMIT_DEMANGLED_BYTES. */
const char *demangle_full(struct arena *a, const char *link_name);
/* Without parameter list, template arguments kept. */
const char *demangle_short(struct arena *a, const char *full_name);

#endif
