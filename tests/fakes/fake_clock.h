/* Included first in the sources of these tests: the clock is the test's own, and weak exchanges can fail spuriously
   (C11, 7.17.7.4). */
#ifndef TESTS_FAKE_CLOCK_H
#define TESTS_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

int fake_clock_gettime(clockid_t, struct timespec *);
#define clock_gettime fake_clock_gettime

bool fake_fails(void);
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(at, was, wanted)                                                                  \
    (fake_fails() ? (*(was) = atomic_load(at), false) : atomic_compare_exchange_strong(at, was, wanted))

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
