/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of functions, from all evidence of their beginnings: symbols, .eh_frame, entry points, PLT stubs, and DWARF if
 * there is no symbol table; in ranges without any, code that looks like functions (gaps.c).
 *
 * Precedence of evidence, if it differs: a symbol of type FUNC with a size; an entry of .eh_frame, or a FUNC symbol without
 * size; any other name or pointer to code. Weaker evidence inside the range of a stronger one is a label (loops of
 * hand-written assembly have them), not a function.
 */
#include "bloop/debug/debug.h"
#include "bloop/functions/functions_int.h"
#include "support/sort.h"

#include <stdlib.h>

struct start_candidate {
    vaddr begin, end; /* end == begin: unknown */
    const char *name; /* "" none */
    uint32_t order;   /* among equals: as found */
    uint8_t strength; /* WEAK.. */
    uint8_t origin;
    bool plt, ifunc;
};
enum { WEAK = 1, FIRM = 2, STRONG = 3 };
struct candidate_list VEC(struct start_candidate);
struct name_list VEC(const char *);

static struct start_candidate *add(struct candidate_list *list, vaddr begin, vaddr end, const char *name,
                                   uint8_t strength, uint8_t origin)
{
    struct start_candidate *c = vec_push(list);
    *c = (struct start_candidate){begin, end, name, (uint32_t)list->count, strength, origin, false, false};
    return c;
}

/* ---- symbols ---- */

/* AArch64 and others mark code and data in text with "$x", "$d.1": no names of anything. */
static bool mapping_symbol(const char *name)
{
    return name[0] == '$' && name[1] && strchr("xdtab", name[1]) && (name[2] == 0 || name[2] == '.');
}

static void add_symbols(const struct image *im, struct candidate_list *list)
{
    const struct image_section *section = NULL;
    vec_reserve(list, im->symbol_count);
    for (size_t i = 0; i < im->symbol_count; i++) {
        const struct image_symbol *s = &im->symbols[i];
        if (s->kind == SYM_OBJECT || (s->kind == SYM_NOTYPE && (mapping_symbol(s->name) || (!s->global && !s->weak))))
            continue;
        if (!section || s->addr - section->addr >= section->size)
            section = image_section_at(im, s->addr);
        if (!section)
            continue;
        bool external = im->relocatable && strcmp(section->name, "[external]") == 0;
        if (!section->exec && !external)
            continue;
        bool function = s->kind == SYM_FUNC || s->kind == SYM_IFUNC || external;
        vaddr left = section->addr + section->size - s->addr, size = s->size < left ? s->size : left;
        struct start_candidate *c =
            add(list, s->addr, s->addr + size, s->name, function ? (size ? STRONG : FIRM) : WEAK,
                s->dynamic ? FROM_DYNSYM : FROM_SYMTAB);
        c->ifunc = s->kind == SYM_IFUNC;
        c->plt = external;
    }
}

/* ---- PLT ---- */

static bool plt_section(const char *name)
{
    return strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 || strcmp(name, ".plt.got") == 0 ||
           strcmp(name, ".iplt") == 0 || strcmp(name, ".plt.bnd") == 0;
}

static bool in_plt(const struct image *im, vaddr addr)
{
    const struct image_section *s = image_section_at(im, addr);
    return s && plt_section(s->name);
}

static void add_stub(const struct image *im, struct arena *names, vaddr begin, vaddr slot, struct candidate_list *list)
{
    const char *name = image_slot_name(im, slot);
    struct start_candidate *c =
        add(list, begin, begin, name ? arena_printf(names, "%s@plt", name) : "", FIRM, FROM_PLT);
    c->plt = true;
}

static uint32_t read_u32(const uint8_t *p)
{
    struct cursor c = cursor_make(p, 4);
    return cursor_u32(&c);
}

/* Each stub jumps through one slot: jmp *slot(%rip) is ff 25 and four bytes, in units of 16 bytes or (.plt.got without
 * endbr64) 8. */
static void add_plt_x86_64(const struct image *im, const struct image_section *s, struct arena *names,
                           struct candidate_list *list)
{
    uint64_t unit =
        s->size >= 16 && s->bytes[0] == 0xff && s->bytes[1] == 0x25 && s->bytes[8] == 0xff && s->bytes[9] == 0x25 ? 8
                                                                                                                  : 16;
    for (uint64_t at = 0; at < s->size; at += unit) {
        uint64_t slot = 0;
        for (uint64_t i = at; i < at + unit && i + 6 <= s->size && !slot; i++)
            if (s->bytes[i] == 0xff && s->bytes[i + 1] == 0x25)
                slot = s->addr + i + 6 + (uint64_t)(int64_t)(int32_t)read_u32(s->bytes + i + 2);
        add_stub(im, names, s->addr + at, slot, list);
    }
}

/* adrp x16, page; ldr x17, [x16, #low]; ...; maybe behind a bti c. */
static void add_plt_aarch64(const struct image *im, const struct image_section *s, struct arena *names,
                            struct candidate_list *list)
{
    uint32_t before = 0;
    add_stub(im, names, s->addr, 0, list); /* the resolver's; replaced where the first stub is an ordinary one */
    for (uint64_t at = 0; at + 8 <= s->size; at += 4) {
        uint32_t adrp = read_u32(s->bytes + at), ldr = read_u32(s->bytes + at + 4);
        if ((adrp & 0x9f00001f) == 0x90000010 && (ldr & 0xffc003ff) == 0xf9400211) {
            uint64_t imm = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
            imm = (imm ^ 1u << 20) - (1u << 20); /* 21 bits, signed */
            uint64_t slot = ((s->addr + at) & ~0xfffull) + (imm << 12) + ((uint64_t)(ldr >> 10 & 0xfff) << 3);
            if (image_slot_name(im, slot))
                add_stub(im, names, s->addr + at - (before == 0xd503245f ? 4 : 0), slot, list);
        }
        before = adrp;
    }
}

static void add_plts(const struct image *im, struct arena *names, struct candidate_list *list)
{
    for (size_t i = 0; i < im->section_count; i++) {
        const struct image_section *s = &im->sections[i];
        if (!plt_section(s->name) || !s->exec || !s->bytes || s->size < 8 || image_section_at(im, s->addr) != s)
            continue;
        if (im->arch == ARCH_X86_64)
            add_plt_x86_64(im, s, names, list);
        else
            add_plt_aarch64(im, s, names, list);
    }
}

/* ---- the other witnesses ---- */

/* Of the first `count`, which are sorted: one with an extent that begins there, from *at on. */
static struct start_candidate *strong_at(struct candidate_list *list, size_t count, size_t *at, vaddr begin)
{
    while (*at < count && list->items[*at].begin < begin)
        ++*at;
    for (size_t i = *at; i < count && list->items[i].begin == begin; i++)
        if (list->items[i].strength == STRONG)
            return &list->items[i];
    return NULL;
}

/* Behind the symbols, of which most say the same and more. */
static void add_fdes(const struct image *im, struct candidate_list *list, struct warnings *w)
{
    const struct fde_list *fdes = image_fdes(im, w);
    size_t at = 0, count = list->count;
    for (size_t i = 0; i < fdes->count; i++) {
        struct start_candidate *known = strong_at(list, count, &at, fdes->items[i].begin);
        if (known)
            known->origin |= FROM_EH_FRAME;
        else if (!in_plt(im, fdes->items[i].begin)) /* one entry for all stubs */
            add(list, fdes->items[i].begin, fdes->items[i].end, "", FIRM, FROM_EH_FRAME);
    }
}

static void add_pointers(const struct image *im, const char *section, struct candidate_list *list)
{
    const struct image_section *s = image_section_named(im, section);
    vaddr target;
    for (uint64_t at = 0; s && s->bytes && at + 8 <= s->size; at += 8)
        if (image_pointer(im, s->addr + at, &target) && function_in_code(im, target))
            add(list, target, target, "", WEAK, FROM_ENTRY);
}

static void add_entries(const struct image *im, struct candidate_list *list)
{
    static const char *const pieces[] = {".init", ".fini"}, *const arrays[] = {".preinit_array", ".init_array",
                                                                               ".fini_array"};
    if (im->entry && function_in_code(im, im->entry))
        add(list, im->entry, im->entry, "", WEAK, FROM_ENTRY);
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        const struct image_section *s = image_section_named(im, pieces[i]);
        if (s && s->bytes && s->size && function_in_code(im, s->addr))
            add(list, s->addr, s->addr, "", WEAK, FROM_ENTRY);
    }
    for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
        add_pointers(im, arrays[i], list);
}

/* ---- from witnesses to functions ---- */

static int by_place(const void *a, const void *b)
{
    const struct start_candidate *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(y->strength, x->strength) ?: order_of(x->order, y->order);
}

static unsigned leading_underscores(const char *name)
{
    return (unsigned)strspn(name, "_");
}

/* Of several names at one address the best known one: FUNC before others, few underscores ("write", not
   "__libc_write"), else the symbols' order. */
static bool better_name(const struct start_candidate *a, const struct start_candidate *b)
{
    bool function_a = a->strength > WEAK, function_b = b->strength > WEAK;
    if (function_a != function_b)
        return function_a;
    return leading_underscores(a->name) < leading_underscores(b->name);
}

struct work {
    const struct image *im;
    struct function_list functions;
    struct name_list aliases;
    /* A function with another one's symbol in its middle: the code behind it is a part of it. */
    uint32_t outer, outer_parts;
    vaddr outer_end;
    bool last_strong;
};

/* The code behind an inner function that belongs to the outer one: [from, to). A blob with many functions in it has
   no such parts worth having. */
#define OUTER_PARTS_MOST 8

static void close_outer(struct work *k, vaddr to)
{
    if (k->outer == FUNCTION_NONE)
        return;
    vaddr from = k->functions.items[k->functions.count - 1].end, end = k->outer_end < to ? k->outer_end : to;
    if (from < end && k->outer_parts < OUTER_PARTS_MOST) {
        const struct function *outer = &k->functions.items[k->outer];
        struct function part = {.begin = from,
                                .end = end,
                                .link_name = outer->link_name,
                                .part_of = k->outer,
                                .origin = outer->origin,
                                .sized = true};
        *vec_push(&k->functions) = part;
        k->outer_parts++;
    }
    if (to >= k->outer_end)
        k->outer = FUNCTION_NONE;
}

/* Is the address in the outer function, and the code behind the inner one a part of it? */
static bool in_outer(const struct work *k, vaddr at)
{
    return k->outer != FUNCTION_NONE && at < k->outer_end && k->outer_parts < OUTER_PARTS_MOST;
}

/* Can a function be there, by evidence of that strength, given what is there already? Truncates the function before
   it. */
static bool makes_way(struct work *k, const struct function *new, uint8_t strength)
{
    if (k->functions.count == 0)
        return true;
    struct function *f = &k->functions.items[k->functions.count - 1];
    if (new->begin >= f->end)
        return true;
    if (f->sized && (strength == WEAK || (strength == FIRM && k->last_strong)))
        return false; /* a label inside of something whose extent is known */
    if (f->sized && k->last_strong && new->end < f->end && k->outer == FUNCTION_NONE) {
        k->outer = (uint32_t)k->functions.count - 1;
        k->outer_end = f->end;
        k->outer_parts = 0;
    }
    f->end = new->begin;
    return true;
}

/* What the candidates [first, last), which begin at one address, determine about the function there, except its
   names. */
static struct function unite(const struct start_candidate *first, const struct start_candidate *last, vaddr section_end)
{
    struct function f = {.begin = first->begin, .link_name = "", .part_of = FUNCTION_NONE};
    vaddr strong_end = 0, any_end = 0;
    for (const struct start_candidate *c = first; c < last; c++) {
        f.origin |= c->origin;
        f.plt |= c->plt;
        f.ifunc |= c->ifunc;
        if (c->strength == STRONG && c->end > strong_end)
            strong_end = c->end;
        if (c->end > c->begin && c->end > any_end)
            any_end = c->end;
    }
    f.end = strong_end ? strong_end : any_end ? any_end : section_end;
    f.sized = any_end != 0;
    return f;
}

static void name_function(struct work *k, const struct start_candidate *first, const struct start_candidate *last,
                          struct function *f)
{
    const struct start_candidate *best = NULL;
    for (const struct start_candidate *c = first; c < last; c++)
        if (*c->name && (!best || better_name(c, best)))
            best = c;
    f->link_name = best ? best->name : "";
    f->aliases_first = (uint32_t)k->aliases.count;
    for (const struct start_candidate *c = first; c < last; c++)
        if (*c->name && strcmp(c->name, f->link_name) != 0)
            *vec_push(&k->aliases) = c->name;
    f->alias_count = (uint32_t)k->aliases.count - f->aliases_first;
}

/* Data among the code end a function of unknown extent. */
static void stop_at_objects(const struct image *im, struct function_list *functions)
{
    size_t i = 0;
    for (size_t s = 0; s < im->symbol_count; s++) {
        const struct image_symbol *o = &im->symbols[s];
        if (o->kind != SYM_OBJECT || o->size == 0)
            continue;
        while (i < functions->count && functions->items[i].end <= o->addr)
            i++;
        if (i < functions->count && functions->items[i].begin < o->addr && !functions->items[i].sized)
            functions->items[i].end = o->addr;
    }
}

static void make_functions(struct work *k, const struct candidate_list *list)
{
    const struct image_section *section = NULL;
    for (size_t i = 0, next; i < list->count; i = next) {
        const struct start_candidate *c = &list->items[i];
        for (next = i + 1; next < list->count && list->items[next].begin == c->begin;)
            next++;
        if (!section || c->begin - section->addr >= section->size) {
            close_outer(k, UINT64_MAX);
            section = image_section_at(k->im, c->begin);
        }
        struct function f = unite(c, list->items + next, section->addr + section->size);
        if (c->strength != STRONG && in_outer(k, f.begin))
            continue; /* a label */
        close_outer(k, f.begin);
        if (!makes_way(k, &f, c->strength))
            continue;
        name_function(k, c, list->items + next, &f);
        k->last_strong = c->strength == STRONG;
        *vec_push(&k->functions) = f;
    }
    close_outer(k, UINT64_MAX);
    stop_at_objects(k->im, &k->functions);
}

/* ---- cold parts ---- */

/* Length of NAME in "NAME.cold", "NAME.cold.3", "NAME.__part.1", 0 for other names. */
static size_t cold_part_of(const char *name)
{
    static const char *const marks[] = {".cold", ".__part."};
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
        const char *at = strstr(name, marks[i]);
        if (!at || at == name)
            continue;
        const char *rest = at + strlen(marks[i]);
        if (i == 0 && *rest == '.')
            rest++;
        rest += strspn(rest, "0123456789");
        if (*rest == 0)
            return (size_t)(at - name);
    }
    return 0;
}

struct cold {
    uint64_t name_hash;
    uint32_t function, source; /* source: of its symbol, as in image_symbol */
};
struct cold_list VEC(struct cold);

static int by_cold(const void *a, const void *b)
{
    const struct cold *x = a, *y = b;
    return order_of(x->name_hash, y->name_hash) ?: order_of(x->function, y->function);
}

/* Symbols know which source file a static function came from: two files may each have an `init` and an `init.cold`. */
static uint32_t source_of(const struct image *im, vaddr addr, const char *name)
{
    size_t low = sorted_front(im->symbol_count, i, im->symbols[i].addr < addr);
    for (; low < im->symbol_count && im->symbols[low].addr == addr; low++)
        if (im->symbols[low].name == name)
            return im->symbols[low].source;
    return 0;
}

/* `function` bears `name` (its own or an alias): the parts of that name are its, if they come from the same file or the
 * name is global. */
static void claim_parts(struct function_table *t, const struct cold_list *colds, uint32_t function, const char *name)
{
    uint64_t hash = hash_bytes(name, strlen(name), 0);
    size_t low = sorted_front(colds->count, i, colds->items[i].name_hash < hash);
    for (; low < colds->count && colds->items[low].name_hash == hash; low++) {
        const struct cold *c = &colds->items[low];
        struct function *part = &t->functions[c->function];
        size_t n = cold_part_of(part->link_name);
        if (c->function == function || strlen(name) != n || strncmp(part->link_name, name, n) != 0)
            continue;
        uint32_t source = source_of(t->image, t->functions[function].begin, name);
        if (part->part_of == FUNCTION_NONE ||
            (source && source == c->source)) /* first come, but the same file is better */
            part->part_of = function;
    }
}

static void tie_cold_parts(struct function_table *t)
{
    struct cold_list colds = {0};
    for (size_t i = 0; i < t->count; i++) {
        const char *name = t->functions[i].link_name;
        size_t n = cold_part_of(name);
        if (n && t->functions[i].part_of == FUNCTION_NONE)
            *vec_push(&colds) =
                (struct cold){hash_bytes(name, n, 0), (uint32_t)i, source_of(t->image, t->functions[i].begin, name)};
    }
    if (colds.count == 0)
        return;
    vec_sort(&colds, by_cold);
    for (size_t i = 0; i < t->count; i++) {
        const struct function *f = &t->functions[i];
        if (!*f->link_name || cold_part_of(f->link_name))
            continue;
        claim_parts(t, &colds, (uint32_t)i, f->link_name);
        for (uint32_t a = 0; a < f->alias_count; a++)
            claim_parts(t, &colds, (uint32_t)i, t->aliases[f->aliases_first + a]);
    }
    vec_release(&colds);
}

/* ---- cold parts without a name ---- */

/* A stripped cold part has an unwind entry of its own, aligned to nothing, as gcc writes .text.unlikely. */
static bool may_be_part(const struct function *f)
{
    return f->origin == FROM_EH_FRAME && f->sized && f->part_of == FUNCTION_NONE && f->begin % 16 != 0;
}

/* The one function into whose middle it jumps back; FUNCTION_NONE: none, or several. */
static uint32_t jumps_back_to(const struct function_table *t, const struct arch *arch, const struct function *part)
{
    size_t avail;
    const uint8_t *bytes = image_bytes(t->image, part->begin, &avail);
    vaddr size = part->end - part->begin;
    uint32_t owner = FUNCTION_NONE;
    struct insn in;
    for (vaddr at = 0; bytes && at < size && at < avail; at += in.length) {
        arch->decode(bytes + at, avail - at, part->begin + at, &in);
        if ((in.kind != INSN_BRANCH && in.kind != INSN_JUMP) || in.target - part->begin < size)
            continue;
        uint32_t f = functions_at(t, in.target);
        if (f == FUNCTION_NONE || t->functions[f].begin == in.target || f == owner)
            continue;
        if (owner != FUNCTION_NONE)
            return FUNCTION_NONE;
        owner = f;
    }
    return owner;
}

struct nameless_part {
    uint32_t function, owner;
};
struct part_list VEC(struct nameless_part);

static void tie_nameless_parts(struct function_table *t)
{
    const struct arch *arch = arch_get(t->image->arch);
    if (!arch)
        return;
    struct part_list parts = {0};
    for (size_t i = 0; i < t->count; i++) {
        uint32_t owner = may_be_part(&t->functions[i]) ? jumps_back_to(t, arch, &t->functions[i]) : FUNCTION_NONE;
        if (owner != FUNCTION_NONE)
            *vec_push(&parts) = (struct nameless_part){(uint32_t)i, owner};
    }
    for (size_t i = 0; i < parts.count; i++) { /* two parts that jump into each other own nothing */
        const struct function *owner = &t->functions[parts.items[i].owner];
        if (owner->part_of == FUNCTION_NONE && owner->begin % 16 == 0)
            t->functions[parts.items[i].function].part_of = parts.items[i].owner;
    }
    vec_release(&parts);
}

/* ---- all of it ---- */

/* Takes the list. */
static void add_from_gaps(struct function_table *t, struct range_list *found)
{
    if (found->count)
        functions_add_found(t, found->items, found->count, FROM_GAP);
    vec_release(found);
    tie_nameless_parts(t);
}

void functions_fill_gaps(struct function_table *t)
{
    struct range_list found = {0};
    gaps_find(t, &found);
    add_from_gaps(t, &found);
}

void functions_fill_gaps_at(struct function_table *t, const vaddr *addrs, size_t count)
{
    struct range_list found = {0};
    gaps_find_at(t, addrs, count, &found);
    add_from_gaps(t, &found);
}

void functions_fill_gaps_called(struct function_table *t, const vaddr *entries, size_t count)
{
    struct range_list found = {0};
    gaps_find_called(t, entries, count, &found);
    add_from_gaps(t, &found);
}

/* Only where neither symbols nor unwinding say what is there: reading every unit's procedures is slow. */
static void add_debug_entries(const struct image *im, struct candidate_list *list, struct warnings *w)
{
    for (size_t i = 0; i < im->symbol_count; i++)
        if (!im->symbols[i].dynamic && im->symbols[i].kind == SYM_FUNC)
            return;
    struct debug *d = NULL;
    struct err err = {0};
    struct vaddr_list entries = {0};
    if (debug_open(im, &d, w, &err) == 1)
        debug_entries(d, &entries);
    for (size_t i = 0; i < entries.count; i++)
        if (function_in_code(im, entries.items[i]))
            add(list, entries.items[i], entries.items[i], "", WEAK, FROM_DEBUG);
    vec_release(&entries);
    debug_close(d);
}

struct function_table *functions_list(const struct image *im, struct warnings *w)
{
    struct function_table *t = mem_calloc(1, sizeof *t);
    struct candidate_list list = {0};
    struct work k = {.im = im, .outer = FUNCTION_NONE};
    t->arena = arena_create();
    t->image = im;
    add_symbols(im, &list);
    add_fdes(im, &list, w);
    add_plts(im, t->arena, &list);
    add_entries(im, &list);
    add_debug_entries(im, &list, w);
    sort_items(list.items, list.count, sizeof *list.items, by_place);
    make_functions(&k, &list);
    vec_release(&list);
    t->functions = k.functions.items;
    t->count = k.functions.count;
    t->aliases = k.aliases.items;
    t->alias_count = k.aliases.count;
    tie_cold_parts(t);
    return t;
}

struct function_table *functions_find(const struct image *im, struct warnings *w)
{
    struct function_table *t = functions_list(im, w);
    functions_fill_gaps(t);
    return t;
}
