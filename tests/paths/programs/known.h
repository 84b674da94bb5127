/*
 * Shared by the programs of tests/paths: each function marks its entry and exit, so that the program itself knows its
 * call paths. work() uses time and records the current path; at the end each path is printed, outermost first, repeated
 * names as NAME*COUNT, with the milliseconds spent.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KNOWN_DEPTH = 20000, KNOWN_PATHS = 4000, KNOWN_TEXT = 4000 };

extern _Thread_local const char *known_stack[KNOWN_DEPTH];
extern _Thread_local int known_depth;

#define FUNCTION __attribute__((noinline, noclone))
#define ENTER()  (known_stack[known_depth++] = __func__)
/* The empty statement prevents a preceding call from being a tail call. */
#define LEAVE()                                                                                                        \
    (known_depth--, (void)({                                                                                           \
         __asm__ volatile("" ::: "memory");                                                                            \
         0;                                                                                                            \
     }))

void work(int ms);
void known_report(void);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: BSD-3-Clause */
