/* SPDX-License-Identifier: BSD-3-Clause */
/* From an address to a unit, and the tables of the units that were asked for last. DWARF 5: 2.17, 6.1.2. */
#include "bloop/debug/units.h"

static void list_units(struct debug *d)
{
    struct unit_header h = {0};
    while (dwarf_file_next(d->main, &h))
        *vec_push(&d->units) = (struct unit){.header = h.header, .die = h.die, .signature = h.signature};
}

static uint32_t unit_of_header(const struct debug *d, uint64_t header)
{
    size_t low = sorted_front(d->units.count, i, d->units.items[i].header <= header);
    return low ? (uint32_t)low - 1 : UINT32_MAX;
}

static void add_span(struct debug *d, vaddr begin, vaddr end, uint32_t unit)
{
    if (begin && begin < end)
        *vec_push(&d->spans) = (struct unit_span){begin, end, unit};
}

static int by_span(const void *a, const void *b)
{
    const struct unit_span *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->unit, y->unit);
}

static void sort_spans(struct debug *d)
{
    sort_items(d->spans.items, d->spans.count, sizeof *d->spans.items, by_span);
    d->reach = mem_realloc(d->reach, d->spans.count + 1, sizeof *d->reach);
    for (size_t i = 0; i < d->spans.count; i++)
        d->reach[i] = i && d->reach[i - 1] > d->spans.items[i].end ? d->reach[i - 1] : d->spans.items[i].end;
}

static void read_aranges(struct debug *d)
{
    struct elf_section *s = elf_section_named(d->main->elf, ".debug_aranges");
    if (!s || !elf_section_load(d->main->elf, s, d->w))
        return;
    struct cursor all = cursor_make(s->data, s->data_size);
    while (cursor_left(&all) > 12) {
        const uint8_t *start = all.p;
        uint64_t length = cursor_u32(&all);
        bool wide = length == 0xffffffff;
        if (wide)
            length = cursor_u64(&all);
        if (length > cursor_left(&all))
            return;
        struct cursor c = cursor_make(cursor_bytes(&all, length), length);
        uint16_t version = cursor_u16(&c);
        uint64_t header = wide ? cursor_u64(&c) : cursor_u32(&c);
        uint8_t address_size = cursor_u8(&c), segment_size = cursor_u8(&c);
        uint32_t unit = unit_of_header(d, header);
        if (c.bad || version != 2 || address_size != 8 || segment_size != 0 || unit == UINT32_MAX ||
            d->units.items[unit].header != header)
            continue;
        cursor_bytes(&c, -(size_t)(c.p - start) & 15);
        while (cursor_left(&c) >= 16) {
            vaddr begin = cursor_u64(&c), size = cursor_u64(&c);
            if (begin && size && begin + size > begin) {
                add_span(d, begin, begin + size, unit);
                d->units.items[unit].spanned = true;
            }
        }
    }
}

bool unit_read(struct debug *d, uint32_t unit, struct die_info *info, struct unit_base *base)
{
    dwarf_file_seek(d->main, unit);
    Dwarf_Die die = dwarf_die_at(d->main, d->units.items[unit].die);
    if (!die)
        return false;
    die_read(d->main, die, info);
    unit_base_set(base, d->main, die, info);
    dwarf_dealloc_die(die);
    return true;
}

/* Units that .debug_aranges does not mention (clang writes none) say their ranges themselves. */
static void span_unit(struct debug *d, uint32_t unit)
{
    struct die_info info;
    struct unit_base base;
    struct range_list ranges = {0};
    if (unit_read(d, unit, &info, &base)) {
        die_ranges(d->main, &base, &info, &ranges);
        for (size_t i = 0; i < ranges.count; i++)
            add_span(d, ranges.items[i].begin, ranges.items[i].end, unit);
        d->units.items[unit].spanned = ranges.count > 0;
    }
    vec_release(&ranges);
}

void unit_list(struct debug *d)
{
    list_units(d);
    read_aranges(d);
    for (uint32_t i = 0; i < d->units.count; i++)
        if (!d->units.items[i].spanned)
            span_unit(d, i);
    sort_spans(d);
}

void unit_release(struct unit_tables *t)
{
    line_table_release(&t->lines);
    vec_release(&t->procedures);
    vec_release(&t->enclosing);
    vec_release(&t->callees);
    hashmap_release(&t->callee_of);
    mem_free(t->file_memo);
    dwarf_file_close(t->split);
    elf_file_close(t->split_elf);
    *t = (struct unit_tables){0};
}

void unit_load(struct debug *d, uint32_t unit, bool rows, struct unit_tables *t)
{
    *t = (struct unit_tables){.unit = unit,
                              .number = unit,
                              .file = d->main,
                              .root = d->units.items[unit].die,
                              .parts = {NO_OFFSET, NO_OFFSET}};
    if (!unit_read(d, unit, &t->info, &t->base)) {
        t->lines.arena = arena_create();
        t->lines.comp_dir = "";
        return;
    }
    line_table_read(d->main, d->image, &t->info, rows, &t->lines);
    t->language = t->info.language;
    if (t->info.dwo_name)
        unit_open_split(d, t);
    t->file_memo = mem_calloc(t->lines.files.count + 1, sizeof *t->file_memo);
    unit_index(t, false);
}

size_t kept_slot(struct kept *kept, size_t count, uint64_t key, uint64_t now, bool *there)
{
    size_t slot = 0;
    *there = false;
    for (size_t i = 0; i < count && !*there; i++) {
        *there = kept[i].last_use && kept[i].key == key;
        if (*there || kept[i].last_use < kept[slot].last_use)
            slot = i;
    }
    kept[slot] = (struct kept){key, now};
    return slot;
}

struct unit_tables *unit_tables_of(struct debug *d, uint32_t unit)
{
    bool there;
    struct unit_tables *t = &d->tables[kept_slot(d->tables_kept, TABLES_KEPT, unit, ++d->clock, &there)];
    if (there) {
        unit_use_strings(t);
        if (t->file != t->split)
            dwarf_file_seek(t->file, t->number);
        return t;
    }
    unit_release(t);
    unit_load(d, unit, true, t);
    return t;
}

size_t unit_all_at(const struct debug *d, vaddr addr, uint32_t *units)
{
    size_t low = sorted_front(d->spans.count, i, d->spans.items[i].begin <= addr), n = 0;
    for (size_t seen = 0; low && d->reach[low - 1] > addr && n < UNITS_AT && seen < 1024; low--, seen++) {
        const struct unit_span *s = &d->spans.items[low - 1];
        bool known = addr >= s->end;
        for (size_t i = 0; i < n && !known; i++)
            known = units[i] == s->unit;
        if (!known)
            units[n++] = s->unit;
    }
    return n;
}

void unit_span_the_rest(struct debug *d)
{
    for (uint32_t i = 0; i < d->units.count; i++) {
        if (d->units.items[i].spanned)
            continue;
        struct unit_tables t;
        unit_load(d, i, false, &t);
        for (size_t p = 0; p < t.procedures.count; p++)
            add_span(d, t.procedures.items[p].begin, t.procedures.items[p].end, i);
        unit_release(&t);
        d->units.items[i].spanned = true;
    }
    d->all_spanned = true;
    sort_spans(d);
}
