/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address ranges of entries. Range lists and .debug_addr are read by ourselves: they are simple, and libdwarf has
 * three interfaces for them, none of which bounds a list.
 */
#include "bloop/debug/debug_int.h"

#include <stdlib.h>

static bool indexed_address(const struct unit_base *b, uint64_t index, vaddr *v)
{
    uint64_t base = b->addr_base != NO_OFFSET ? b->addr_base : b->version >= 5 ? 8 : 0;
    if (index > UINT32_MAX || base > (1ull << 48))
        return false;
    struct cursor c = die_section(b->addresses, ".debug_addr", base + index * 8, NULL);
    *v = cursor_u64(&c);
    return !c.bad;
}

vaddr die_low(const struct unit_base *b, const struct die_info *d)
{
    vaddr v = d->low;
    if (!d->has_low || (d->low_indexed && !indexed_address(b, d->low, &v)))
        return 0;
    return v;
}

vaddr die_entry(const struct unit_base *b, const struct die_info *d)
{
    vaddr v = d->entry;
    if (!d->has_entry || (d->entry_indexed && !indexed_address(b, d->entry, &v)))
        return 0;
    return v;
}

/* Linkers point the ranges of functions they dropped to 0 or 1 (ld) or to the top of the address space (lld). */
static void add_range(struct range_list *list, vaddr begin, vaddr end)
{
    if (begin > 1 && begin < end && begin < UINT64_MAX - 16)
        *vec_push(list) = (struct addr_range){begin, end};
}

static void ranges_v4(struct dwarf_file *f, const struct unit_base *b, uint64_t offset, struct range_list *list)
{
    if (b->gnu_ranges_base != NO_OFFSET)
        offset += b->gnu_ranges_base;
    struct cursor c = die_section(b->addresses, ".debug_ranges", offset, f->w);
    vaddr base = b->base;
    for (size_t n = 0; n < LIMIT_RANGES_OF_ENTRY; n++) {
        uint64_t begin = cursor_u64(&c), end = cursor_u64(&c);
        if (c.bad || (begin == 0 && end == 0))
            return;
        if (begin == UINT64_MAX)
            base = end;
        else
            add_range(list, base + begin, base + end);
    }
}

/* DWARF 5, 7.25 */
static void ranges_v5(struct dwarf_file *f, const struct unit_base *b, const struct die_info *d,
                      struct range_list *list)
{
    const char *section = elf_section_named(f->elf, ".debug_rnglists.dwo") ? ".debug_rnglists.dwo" : ".debug_rnglists";
    uint64_t offset = d->ranges;
    if (d->ranges_form == FORM_rnglistx) {
        uint64_t table = b->rnglists_base != NO_OFFSET ? b->rnglists_base
                         : b->offset_size == 8         ? 20
                                                       : 12; /* right behind the header */
        if (offset > UINT32_MAX || table > (1ull << 48))
            return;
        struct cursor entry = die_section(f->elf, section, table + offset * b->offset_size, f->w);
        offset = table + (b->offset_size == 8 ? cursor_u64(&entry) : cursor_u32(&entry));
        if (entry.bad)
            return;
    }
    struct cursor c = die_section(f->elf, section, offset, f->w);
    vaddr base = b->base, begin = 0, end = 0;
    for (size_t n = 0; n < LIMIT_RANGES_OF_ENTRY && !c.bad; n++) {
        bool known = true;
        uint8_t kind = cursor_u8(&c);
        switch (kind) {
        case 0:
            return; /* DW_RLE_end_of_list */
        case 1:     /* base_addressx */
            if (!indexed_address(b, cursor_uleb(&c), &base))
                return;
            continue;
        case 2: /* startx_endx */
            known = indexed_address(b, cursor_uleb(&c), &begin);
            known &= indexed_address(b, cursor_uleb(&c), &end);
            break;
        case 3: /* startx_length */
            known = indexed_address(b, cursor_uleb(&c), &begin);
            end = begin + cursor_uleb(&c);
            break;
        case 4: /* offset_pair */
            begin = base + cursor_uleb(&c);
            end = base + cursor_uleb(&c);
            break;
        case 5:
            base = cursor_u64(&c);
            continue; /* base_address */
        case 6:       /* start_end */
            begin = cursor_u64(&c);
            end = cursor_u64(&c);
            break;
        case 7: /* start_length */
            begin = cursor_u64(&c);
            end = begin + cursor_uleb(&c);
            break;
        default:
            return;
        }
        if (known && !c.bad)
            add_range(list, begin, end);
    }
}

void die_ranges(struct dwarf_file *f, const struct unit_base *b, const struct die_info *d, struct range_list *list)
{
    if (d->has_ranges) {
        if (b->version >= 5)
            ranges_v5(f, b, d, list);
        else
            ranges_v4(f, b, d->ranges, list);
        return;
    }
    vaddr low = die_low(b, d), high = d->high;
    if (!d->has_low || !d->has_high || (d->high_indexed && !indexed_address(b, d->high, &high)))
        return;
    add_range(list, low, d->high_is_size ? low + high : high);
}

static int by_range(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->end, y->end);
}

void ranges_normalize(struct range_list *list, size_t from)
{
    size_t kept = from;
    if (list->count < from + 2)
        return;
    sort_items(list->items + from, list->count - from, sizeof *list->items, by_range);
    for (size_t i = from; i < list->count; i++) {
        struct addr_range r = list->items[i];
        if (kept > from && r.begin <= list->items[kept - 1].end) {
            if (r.end > list->items[kept - 1].end)
                list->items[kept - 1].end = r.end;
        } else {
            list->items[kept++] = r;
        }
    }
    list->count = kept;
}
