/* SPDX-License-Identifier: BSD-3-Clause */
/* Which shared libraries the loader will give a program, before it runs. */
#ifndef MHSIM_LAUNCH_LIBRARIES_H
#define MHSIM_LAUNCH_LIBRARIES_H

#include "support/support.h"

/* Whether the file was linked with the simulator by hpcview-cc: its name among what it needs. */
bool mhsim_libraries_compiled_in(const struct filemap *);
/* Appends the real paths of those libraries of the program that were. The C library's loader lists them (ld.so
   --list, which runs nothing); without one, as in a static program, there are none. Libraries loaded by dlopen are
   unknown. The file, the program's, is 64-bit ELF; library_path: LD_LIBRARY_PATH, or NULL. */
void mhsim_libraries_list(const char *program, const struct filemap *, const char *library_path, struct text_list *);

#endif
