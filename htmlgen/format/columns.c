/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of numbers, in byte planes; which columns places have. */
#include "htmlgen/format/format.h"

const uint8_t htmlgen_place_widths[PLACE_COLUMNS] = {1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4};

const char *const htmlgen_cell_types[TABLE_TYPES] = {"count", "number", "text", "time", "ref"};

uint8_t *htmlgen_zeros(struct buf *out, size_t n)
{
    static const uint8_t nothing[4096];
    size_t at = out->len;
    for (size_t left = n; left;) {
        size_t part = left < sizeof nothing ? left : sizeof nothing;
        buf_add(out, nothing, part);
        left -= part;
    }
    return n ? (uint8_t *)out->bytes + at : NULL;
}

void htmlgen_planes(struct buf *out, const uint64_t *values, size_t n, unsigned width)
{
    uint8_t *planes = htmlgen_zeros(out, width * n);
    for (unsigned byte = 0; byte < width; byte++)
        for (size_t i = 0; i < n; i++)
            planes[byte * n + i] = (uint8_t)(values[i] >> 8 * byte);
}

uint64_t htmlgen_number(const uint8_t *at, size_t n, size_t i, unsigned width)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < width; k++)
        v |= (uint64_t)at[k * n + i] << 8 * k;
    return v;
}
