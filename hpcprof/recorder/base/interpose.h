/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that we stand in front of. In the shared library ours have the library's names and find
 * theirs with dlsym(RTLD_NEXT); in a static program the linker's --wrap gives ours the calls (__wrap_x) and theirs to
 * us (__real_x).
 */
#ifndef HPCPROF_RECORDER_BASE_INTERPOSE_H
#define HPCPROF_RECORDER_BASE_INTERPOSE_H

#define EXPORT __attribute__((visibility("default")))

#ifdef HPCREC_STATIC
#define WRAP(type, name, args)                                                                                         \
    extern type __real_##name args;                                                                                    \
    EXPORT type __wrap_##name args;                                                                                    \
    EXPORT type __wrap_##name args
#define REAL(name) __real_##name
#define OURS(name) __wrap_##name
#else
#include <dlfcn.h>
/* Looked up at the first call, which may come before our constructor. */
#define WRAP(type, name, args)                                                                                         \
    static type(*real_##name) args;                                                                                    \
    static void *find_##name(void)                                                                                     \
    {                                                                                                                  \
        if (!real_##name)                                                                                              \
            real_##name = (type(*) args)dlsym(RTLD_NEXT, #name);                                                       \
        return (void *)real_##name;                                                                                    \
    }                                                                                                                  \
    EXPORT type name args;                                                                                             \
    EXPORT type name args
#define REAL(name) (*(find_##name(), real_##name))
#define OURS(name) name
#endif

#endif
