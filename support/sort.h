/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting what is nearly in order: symbols of one object file after the other, lists that were appended to each other;
 * and many rows that are in no order, by their digits.
 *
 * Knows:    nothing of the items it sorts.
 * Memory:   a copy of the shorter of two runs, while they are merged; eight bytes a row, while digits are looked at.
 * Errors:   none.
 * Threads:  any.
 */
#ifndef SUPPORT_SORT_H
#define SUPPORT_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Stable. Sorted input is scanned once; ascending runs are merged. NULL is allowed if count is 0. */
void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
void sort_items_with(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *ctx),
                     void *ctx);

/* The numbers 0 to count - 1 of `rows`, ordered by keys of so many digits, 0 to 255 each: digit(rows, row, 0) is the
 * least of them. Stable, and linear: digit by digit from the least on (Knuth, The Art of Computer Programming 3,
 * 5.2.5); digits equal in all rows cost one scan. At most 2^32 rows. Never NULL; mem_free. */
uint32_t *sort_digits(const void *rows, size_t count, unsigned digits,
                      uint8_t (*digit)(const void *rows, uint32_t row, unsigned which));

#endif
