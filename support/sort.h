/*
 * Sorting what is nearly in order: symbols of one object file after the other, lists that were appended to each other.
 *
 * Knows:    nothing of what it sorts.
 * Memory:   a copy of the shorter of two runs, while they are merged.
 * Errors:   none.
 * Threads:  any.
 */
#ifndef SUPPORT_SORT_H
#define SUPPORT_SORT_H

#include <stddef.h>

/* Stable. What is in order already is looked at once; runs that go up are merged. NULL is fine where count is 0. */
void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
