/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for tests, the same on every machine: xorshift (Marsaglia, Xorshift RNGs, J. Stat. Soft. 8, 2003). */
#ifndef TESTS_CHANCE_H
#define TESTS_CHANCE_H

#include <stdint.h>

static uint64_t seed = 88172645463325252; /* anything but 0 */

static inline uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static inline uint32_t below(uint32_t n)
{
    return (uint32_t)((random64() >> 32) % n);
}

#endif
