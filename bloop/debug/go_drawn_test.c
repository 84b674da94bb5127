/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random tables of Go, of each version, compared with the code unit by unit: the file, the line
 * and the inlined call of each.
 */
#include "bloop/debug/debug_int.h"
#include "bloop/image/image.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

enum {
    TEXT = 0x400000,
    TABLE = 0x500000,
    MODULE = 0x600000,
    TREES = 0x700000,
    GO_FUNCTIONS = 12,
    UNITS = 40,
    NODES = 8
};
enum { FILES = 6, NO_NODE = -1 };

static struct go_function_made {
    unsigned units;                            /* of code */
    int file[UNITS], line[UNITS], node[UNITS]; /* file FILES: no file has that number */
    unsigned node_count, call_at[NODES], tree; /* call_at: unit of a node's call site; `units`: damaged */
    unsigned name_of[NODES];                   /* which name */
    unsigned known;                            /* number of units before the damage in its line table */
    bool inlined;                              /* its record has the tables of that */
} made[GO_FUNCTIONS];
static size_t made_count;

static unsigned version, quantum;

static struct image image;
static struct image_private priv;
static struct image_section *sections; /* nothing follows the last section or its contents */
static uint32_t by_addr[5];
static struct buf table, module, trees;
static uint32_t list_at, list_end; /* the functions, in the table */

/* ---- drawing ---- */

/* Stretches of values below `most`, each other than the one before. */
static void draw_values(int *values, unsigned n, int most)
{
    for (unsigned i = 0; i < n;) {
        unsigned end = i + 1 + below(8);
        int v = (int)below((uint32_t)most);
        if (i > 0 && v == values[i - 1])
            v = (v + 1) % most;
        for (; i < end && i < n; i++)
            values[i] = v;
    }
}

static void draw_function(struct go_function_made *f)
{
    static const int odd[] = {INT32_MAX, INT32_MIN, -1, 0, INT32_MAX - 1};
    *f = (struct go_function_made){.units = 1 + below(UNITS), .node_count = below(NODES), .inlined = below(4) > 0};
    if (below(8) == 0) { /* empty: not an entry */
        f->units = f->node_count = 0;
        return;
    }
    f->known = below(5) ? f->units : below(f->units);
    draw_values(f->file, f->units, FILES + (below(6) == 0));
    draw_values(f->line, f->units, below(3) ? 300 : 4);
    for (unsigned i = 0; i < f->units; i++) {
        f->node[i] = NO_NODE;
        if (below(20) == 0)
            f->line[i] = odd[below(ARRAY_SIZE(odd))];
    }
    for (unsigned k = 0; k < f->node_count; k++) {
        unsigned begin = below(f->units), end = begin + 1 + below(12);
        for (unsigned i = begin; i < end && i < f->units; i++)
            f->node[i] = (int)k;
        f->name_of[k] = below(GO_FUNCTIONS);
    }
    f->node[below(f->units)] = NO_NODE; /* something is the function's own */
    for (unsigned i = f->known; i < f->units; i++)
        f->file[i] = 99, f->line[i] = 0, f->node[i] = NO_NODE;
    for (unsigned k = 0; k < f->node_count; k++)
        do
            f->call_at[k] = below(f->units);
        while (f->node[f->call_at[k]] >= (int)k);
    if (below(4) == 0 && f->node_count > 0)
        f->call_at[below(f->node_count)] = f->units;
}

/* ---- writing ---- */

static void put_difference(struct buf *b, int64_t difference, uint64_t length)
{
    buf_uleb(b, (uint64_t)(difference < 0 ? (-difference << 1) - 1 : difference << 1));
    buf_uleb(b, length);
}

/* Bytes after the last value: none, a value for other code, or one that no table contains, as if it continued. */
static void put_end(struct buf *b, int before, bool any, bool damaged)
{
    switch (damaged ? 1 + below(any ? 5 : 4) : below(2) * 6) {
    case 1:
        put_difference(b, (int64_t)INT32_MAX + 1 - before, 1);
        break;
    case 2:
        put_difference(b, (int64_t)INT32_MIN - 1 - before, 1);
        break;
    case 3:
        put_difference(b, before > 0 ? -1 : 1, 0);
        break;
    case 4:
        put_difference(b, before > 0 ? -1 : 1, (uint64_t)UINT32_MAX + 1);
        break;
    case 5: /* (in the first entry this means -1) */
        buf_add(b, "\0\1", 2);
        break;
    case 6:
        put_difference(b, before > 0 ? -1 : 1, 1 + below(3));
        break;
    default:
        break;
    }
    if (damaged)
        put_difference(b, 1, 1);
    buf_u8(b, 0);
}

/* Differences and lengths; only the first difference may be zero. Returns their offset. */
static uint32_t put_values(struct buf *b, const int *values, unsigned n, bool damaged)
{
    static const uint32_t more[] = {0, 1, 7, UINT32_MAX - UNITS};
    uint32_t at = (uint32_t)b->len;
    int before = -1;
    for (unsigned i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && values[end] == values[i];)
            end++;
        uint64_t length = end - i;
        if (end == n && !damaged && below(3) == 0) /* further than the code goes */
            length = below(2) ? UINT32_MAX : length + more[below(ARRAY_SIZE(more))];
        put_difference(b, (int64_t)values[i] - before, length);
        before = values[i];
    }
    put_end(b, before, n > 0, damaged);
    return at;
}

static void put_tree(struct go_function_made *f)
{
    f->tree = (unsigned)trees.len;
    for (unsigned k = 0; k < f->node_count; k++) {
        buf_u32(&trees, 0xeeeeeeee);
        if (version < 20) {
            buf_u32(&trees, 0xeeeeeeee);
            buf_u32(&trees, 77);
        }
        buf_u32(&trees, 1 + 8 * f->name_of[k]);
        buf_u32(&trees, f->call_at[k] * quantum);
        if (version >= 20)
            buf_u32(&trees, 77);
    }
}

struct value_tables {
    uint32_t files, lines, nodes;
};

/* `names`, `values`: bases of these offsets. */
static void put_record(struct buf *b, size_t i, vaddr begin, const struct value_tables *v, uint32_t names,
                       uint32_t values)
{
    const struct go_function_made *f = &made[i];
    bool without_data = !f->inlined && below(2); /* or without the table */
    unsigned tables = f->inlined || without_data ? 3 + below(3) : below(3);
    unsigned data = without_data ? below(4) : f->inlined ? 4 + below(3) : below(6);
    if (version >= 18)
        buf_u32(b, (uint32_t)(begin - TEXT));
    else
        buf_u64(b, begin);
    buf_u32(b, names + 1 + 8 * (uint32_t)i);
    for (int k = 0; k < 3; k++)
        buf_u32(b, below(100));
    buf_u32(b, values + v->files);
    buf_u32(b, values + v->lines);
    buf_u32(b, tables);
    if (version >= 16)
        buf_u32(b, (uint32_t)(i % 3)); /* the first file of its unit */
    if (version >= 20)
        buf_u32(b, 9);
    buf_add(b, "\1\1\1", 3);
    buf_u8(b, (uint8_t)data);
    for (unsigned k = 0; k < tables; k++)
        buf_u32(b, k == 2 ? v->nodes : 1);
    for (unsigned k = 0; k < data; k++)
        buf_u32(b, k == 3 ? f->tree : f->inlined ? UINT32_MAX : v->nodes);
    buf_u32(b, f->tree); /* (nothing of it) */
}

/* Names of seven letters, so that the i-th starts at 1 + 8 * i. */
static void put_names(struct buf *b, const char *what, unsigned n)
{
    buf_u8(b, 0);
    for (unsigned i = 0; i < n; i++) {
        buf_printf(b, "%s.%03u", what, i);
        buf_u8(b, 0);
    }
}

static uint32_t append(const struct buf *part)
{
    while (table.len % 8)
        buf_u8(&table, 0);
    uint32_t at = (uint32_t)table.len;
    buf_add(&table, part->bytes, part->len);
    return at;
}

static uint32_t place_behind(uint32_t at, const struct buf *part)
{
    return (uint32_t)((at + part->len + 7) / 8 * 8);
}

static void make_table(void)
{
    uint32_t magic = version == 2 ? 0xfffffffb : version == 16 ? 0xfffffffa : version == 18 ? 0xfffffff0 : 0xfffffff1;
    struct buf names = {0}, units = {0}, strings = {0}, values = {0}, records = {0}, list = {0};
    struct value_tables tables[GO_FUNCTIONS];
    vaddr at = TEXT;
    put_names(&names, "fun", GO_FUNCTIONS);
    put_names(&strings, "src", FILES);
    buf_u8(&values, 0);
    for (size_t i = 0; i < made_count; i++) {
        if (version >= 18)
            put_tree(&made[i]);
        tables[i].files = put_values(&values, made[i].file, made[i].known, false);
        tables[i].lines = put_values(&values, made[i].line, made[i].known, made[i].known < made[i].units);
        tables[i].nodes = put_values(&values, made[i].node, made[i].known, false);
    }
    size_t list_size = made_count * (version >= 18 ? 8 : 16) + (version >= 18 ? 4 : 8);
    uint32_t header = 8 + 8 * (version == 2 ? 1 : version == 16 ? 7 : 8), names_at, strings_at, values_at;
    if (version == 2) { /* the list, where its files are, then these: all counted from the table's begin */
        list_at = header;
        names_at = (uint32_t)((list_at + list_size + 4 + 4 * (FILES + 1) + 7) / 8 * 8);
        strings_at = place_behind(names_at, &names);
    } else {
        names_at = (header + 7) / 8 * 8;
        for (unsigned u = 0; u < FILES + 2; u++)
            buf_u32(&units, 1 + 8 * (u % FILES));
        buf_u32(&units, UINT32_MAX);
        buf_u32(&units, UINT32_MAX);
        strings_at = place_behind(place_behind(names_at, &names), &units);
    }
    values_at = place_behind(strings_at, &strings);
    uint32_t behind = place_behind(values_at, &values),
             records_at = version == 2 ? behind : behind + (uint32_t)list_size;
    if (version != 2)
        list_at = behind;
    list_end = list_at + (uint32_t)list_size;
    for (size_t i = 0; i < made_count; i++) {
        uint32_t record = records_at + (uint32_t)records.len - (version == 2 ? 0 : list_at);
        if (version >= 18) {
            buf_u32(&list, (uint32_t)(at - TEXT));
            buf_u32(&list, record);
        } else {
            buf_u64(&list, at);
            buf_u64(&list, record);
        }
        put_record(&records, i, at, &tables[i], version == 2 ? names_at : 0, version == 2 ? values_at : 0);
        at += made[i].units * quantum;
    }
    if (version >= 18)
        buf_u32(&list, (uint32_t)(at - TEXT));
    else
        buf_u64(&list, at);
    buf_u32(&table, magic);
    buf_add(&table, "\0\0", 2);
    buf_u8(&table, (uint8_t)(quantum == 1 && below(2) ? 0 : quantum)); /* (0 means 1) */
    buf_u8(&table, 8);
    buf_u64(&table, made_count);
    if (version == 2) {
        buf_add(&table, list.bytes, list.len);
        buf_u32(&table, (uint32_t)table.len + 4);
        for (unsigned k = 0; k <= FILES; k++)
            buf_u32(&table, k < FILES ? strings_at + 1 + 8 * k : UINT32_MAX);
    } else {
        uint32_t parts[] = {names_at, place_behind(names_at, &names), strings_at, values_at, list_at};
        buf_u64(&table, FILES);
        if (version >= 18)
            buf_u64(&table, TEXT);
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
            buf_u64(&table, parts[i]);
    }
    append(&names);
    if (version != 2)
        append(&units);
    append(&strings);
    append(&values);
    if (version != 2)
        append(&list);
    while (table.len < records_at)
        buf_u8(&table, 0);
    buf_add(&table, records.bytes, records.len);
    buf_release(&names);
    buf_release(&units);
    buf_release(&strings);
    buf_release(&values);
    buf_release(&records);
    buf_release(&list);
}

/* The runtime's description of the module, preceded by similar data. */
static void make_module(void)
{
    for (unsigned n = below(4); n > 0; n--)
        buf_u64(&module, below(2) ? TABLE : TEXT);
    for (unsigned word = 0; word < 48; word++)
        buf_u64(&module, word == 0 ? TABLE : word == 22 ? TEXT : word == (version >= 20 ? 40u : 38u) ? TREES : 7);
}

static void make_image(void)
{
    static const char *const names[] = {".text", ".gopclntab", ".data", ".rodata", ".data.rest"};
    static struct guarded_room rooms[4], room;
    struct image_section all[5];
    uint32_t count = 4;
    const struct buf *const parts[] = {NULL, &table, &module, &trees};
    static const vaddr addrs[] = {TEXT, TABLE, MODULE, TREES};
    for (uint32_t i = 0; i < 4; i++) {
        all[i] = (struct image_section){names[i],
                                        addrs[i],
                                        parts[i] ? parts[i]->len : 0x10000,
                                        parts[i] ? guarded_copy(&rooms[i], parts[i]->bytes, parts[i]->len) : NULL,
                                        true,
                                        i == 0,
                                        i == 2};
        by_addr[i] = i;
    }
    if (below(3) == 0) { /* its first pointer is the last of a section */
        size_t first = module.len - 47 * 8;
        all[2].size = first;
        all[4] = (struct image_section){names[4], MODULE + first, module.len - first, all[2].bytes + first, true, false,
                                        true};
        by_addr[3] = 4; /* (before the trees) */
        by_addr[4] = 3;
        count = 5;
    }
    if (below(4) == 0)
        all[1].name = ".data.rel.ro.gopclntab";
    priv = (struct image_private){.by_addr = by_addr, .by_addr_count = count, .pointers_ready = true};
    sections = guarded_copy(&room, all, count * sizeof *all);
    image = (struct image){.path = "made", .sections = sections, .section_count = count, .priv = &priv};
}

/* ---- expected result ---- */

static int file_at(size_t function, unsigned unit)
{
    int f = made[function].file[unit];
    if (version == 2)
        return f < FILES ? f : -1;
    f += (int)(function % 3); /* of its unit */
    return f < FILES + 2 ? f % FILES : -1;
}

static void put_place(struct buf *b, size_t function, unsigned unit)
{
    int file = file_at(function, unit);
    buf_printf(b, file < 0 ? ":" : "src.%03d:", file);
    buf_printf(b, "%d", made[function].line[unit] > 0 ? made[function].line[unit] : 0);
}

/* "NAME at PLACE in (CALLER)", out to the function. */
static void put_call(struct buf *b, size_t function, int node)
{
    for (; node != NO_NODE; node = made[function].node[made[function].call_at[node]]) {
        buf_printf(b, " fun.%03u at ", made[function].name_of[node]);
        put_place(b, function, made[function].call_at[node]);
    }
}

/* Does the call site belong to code of the function, also for all enclosing calls? Otherwise it is ignored. */
static bool is_called(size_t function, int node)
{
    for (; node != NO_NODE; node = made[function].node[made[function].call_at[node]])
        if (made[function].call_at[node] == made[function].units)
            return false;
    return true;
}

static bool is_in(size_t function, int node, int around)
{
    if (!is_called(function, node))
        return false;
    while (node != NO_NODE && node != around)
        node = made[function].node[made[function].call_at[node]];
    return node == around;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One a line, in the order of their letters. */
static void put_sorted(struct buf *b, struct text_list *lines)
{
    vec_sort(lines, by_text);
    for (size_t i = 0; i < lines->count; i++)
        buf_printf(b, "%s\n", lines->items[i]);
    text_list_release(lines);
}

static void put_wanted(struct buf *b, size_t function, vaddr begin)
{
    const struct go_function_made *f = &made[function];
    bool inlined = version >= 18 && f->inlined;
    struct text_list lines = {0};
    buf_printf(b, "fun.%03zu ", function);
    put_place(b, function, 0);
    for (unsigned u = 0; u < f->known; u++)
        if (u == 0 || f->file[u] != f->file[u - 1] || f->line[u] != f->line[u - 1] ||
            (inlined && f->node[u] != f->node[u - 1])) {
            buf_printf(b, " %llx=", (unsigned long long)(begin + u * quantum));
            put_place(b, function, u);
        }
    buf_printf(b, " %llx=:0\n", (unsigned long long)(begin + f->known * quantum));
    for (int k = 0; inlined && k < (int)f->node_count; k++) {
        struct buf line = {0};
        if (!is_called(function, k))
            continue;
        unsigned own = 0;
        while (own < f->units && (f->node[own] != k || file_at(function, own) < 0))
            own++;
        put_call(&line, function, k);
        buf_str(&line, " of ");
        if (own < f->units) /* the unit of its own code, if known */
            buf_printf(&line, "src.%03d", file_at(function, own));
        bool any = false;
        for (unsigned u = 0, end; u < f->units; u = end) {
            for (end = u; end < f->units && is_in(function, f->node[end], k);)
                end++;
            if (end > u)
                buf_printf(&line, " %llx-%llx", (unsigned long long)(begin + u * quantum),
                           (unsigned long long)(begin + end * quantum));
            any |= end > u;
            end += end == u;
        }
        if (any)
            *vec_push(&lines) = line.bytes;
        else
            buf_release(&line);
    }
    put_sorted(b, &lines);
}

/* ---- actual result ---- */

static const char *file_of(const struct debug_function *f, uint32_t file)
{
    return file < f->file_count ? f->files[file] : "";
}

static void put_got(struct buf *b, const struct debug_function *f)
{
    struct text_list lines = {0};
    buf_printf(b, "%s %s:%u", f->name, file_of(f, f->decl_file), f->decl_line);
    for (size_t i = 0; i < f->row_count; i++)
        buf_printf(b, "%s %llx=%s:%u", f->rows[i].is_stmt ? "" : " no statement", (unsigned long long)f->rows[i].addr,
                   file_of(f, f->rows[i].file), f->rows[i].line);
    buf_char(b, '\n');
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct inline_call *c = &f->inlines[i];
        struct buf line = {0};
        for (uint32_t k = i; k != INLINE_NONE; k = f->inlines[k].parent)
            buf_printf(&line, " %s at %s:%u", f->inlines[k].name, file_of(f, f->inlines[k].call_file),
                       f->inlines[k].call_line);
        buf_printf(&line, " of %s", file_of(f, c->decl_file));
        for (uint32_t r = c->range_first; r < c->range_first + c->range_count; r++)
            buf_printf(&line, " %llx-%llx", (unsigned long long)f->ranges[r].begin,
                       (unsigned long long)f->ranges[r].end);
        *vec_push(&lines) = line.bytes;
    }
    put_sorted(b, &lines);
}

/* Number of entries that a table of this size describes; SIZE_MAX: invalid table. */
static size_t entries_within(size_t size)
{
    struct go_table *t = NULL;
    struct vaddr_list entries = {0};
    size_t count = SIZE_MAX;
    sections[1].size = size;
    if (go_table_open(&image, &t)) {
        go_table_entries(t, &entries);
        count = entries.count;
        go_table_close(t);
    }
    vec_release(&entries);
    return count;
}

/* The section may end at the end of the function list but not before it; with another pointer size or an unknown
   version it is invalid. */
static bool ends_are_right(size_t entries)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)sections[1].bytes;
    bool right = entries_within(list_end) == entries && entries_within(list_end - 1) == SIZE_MAX;
    for (size_t i = 0; i < 8; i += i == 0 ? 7 : 1) {
        bytes[i] ^= 0x55;
        right = right && entries_within(table.len) == SIZE_MAX;
        bytes[i] ^= 0x55;
    }
    sections[1].bytes = NULL;
    right = right && entries_within(table.len) == SIZE_MAX;
    sections[1].bytes = bytes;
    sections[1].name = ".other";
    right = right && entries_within(table.len) == SIZE_MAX;
    sections[1].name = ".gopclntab";
    for (uint32_t i = 2; i < image.section_count; i++) /* no module description: only the functions remain */
        memset((uint8_t *)(uintptr_t)sections[i].bytes, 0, sections[i].size);
    right = right && entries_within(table.len) == entries;
    memset(bytes + 8, 0, 8); /* without functions, their list may be where the table ends */
    right = right && entries_within(list_end) == 0;
    if (version != 2) {
        size_t at = version == 16 ? 8 + 6 * 8 : 8 + 7 * 8;
        for (uint64_t beyond = 0; beyond < 2; beyond++) {
            memcpy(bytes + at, &(uint64_t){list_end + beyond}, 8);
            right = right && entries_within(list_end) == (beyond ? SIZE_MAX : 0);
        }
    }
    return right;
}

static bool round_is_right(void)
{
    static const unsigned versions[] = {2, 16, 18, 20};
    struct go_table *t = NULL;
    struct vaddr_list entries = {0};
    vaddr begin = TEXT;
    version = versions[below(4)];
    quantum = below(2) ? 1 : 4;
    table = module = trees = (struct buf){0};
    if (version >= 18 && below(2))
        buf_u64(&trees, 0);
    made_count = 1 + below(below(2) ? 1 : GO_FUNCTIONS);
    for (size_t i = 0; i < made_count; i++)
        draw_function(&made[i]);
    make_table();
    make_module();
    if (version >= 20 && trees.len && below(2)) /* the last node is truncated after its last field that is read */
        trees.len -= 4;
    else
        buf_u64(&trees, 0);
    make_image();
    bool right = go_table_open(&image, &t);
    if (right)
        go_table_entries(t, &entries);
    size_t entry = 0;
    for (size_t i = 0; i < made_count && right; i++) {
        if (made[i].units == 0)
            continue;
        right = entry < entries.count && entries.items[entry++] == begin;
        vaddr end = begin + made[i].units * quantum;
        for (vaddr at = begin; at < end && right; at += at + 1 < end && at > begin ? end - 1 - at : 1) {
            struct arena *arena = arena_create();
            struct debug_function f = {.name = ""};
            struct buf got = {0}, wanted = {0};
            right = go_table_function_at(t, at, arena, &f);
            put_got(&got, &f);
            put_wanted(&wanted, i, begin);
            right = right && strcmp(got.bytes, wanted.bytes) == 0 && f.own_range_count == 1 &&
                    f.ranges[0].begin == begin && f.ranges[0].end == end;
            if (!right)
                printf("# version %u, units of %u: got\n%s# wanted\n%s", version, quantum, got.bytes, wanted.bytes);
            buf_release(&got);
            buf_release(&wanted);
            arena_free(arena);
        }
        begin = end;
    }
    right = right && entry == entries.count;
    if (right) {
        struct arena *arena = arena_create();
        struct debug_function f;
        right = !go_table_function_at(t, TEXT - 1, arena, &f) && !go_table_function_at(t, begin, arena, &f);
        arena_free(arena);
    }
    right = right && ends_are_right(entries.count);
    vec_release(&entries);
    if (t)
        go_table_close(t);
    buf_release(&table);
    buf_release(&module);
    buf_release(&trees);
    return right;
}

int main(void)
{
    enum { ROUNDS = 800 };
    int right = 0;
    while (right < ROUNDS && round_is_right())
        right++;
    CHECK_INT(right, ROUNDS);
    return tap_done();
}
