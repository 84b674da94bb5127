/* SPDX-License-Identifier: BSD-3-Clause */
/* The function table for given file contents: hand-made symbols and unwind entries, then compiler output. */
#include "bloop/binary_test.h"
#include "bloop/image/image.h"
#include "bloop/image/elf.h"
#include "tests/tap.h"

/* ---- a hand-made image: .text at 0x1000-0x2000, .eh_frame at 0x3000, .gcc_except_table at 0x4000 ---- */

static uint8_t text[0x1000];

struct made {
    struct image image;
    struct image_private priv;
    struct elf_file file;
    struct image_section sections[3];
    uint32_t by_addr[3];
};

static void made_init(struct made *m, const struct buf *eh_frame, const struct buf *except)
{
    *m = (struct made){0};
    m->sections[0] = (struct image_section){".text", 0x1000, sizeof text, text, true, true, false};
    m->sections[1] = (struct image_section){
        ".eh_frame", 0x3000, eh_frame ? eh_frame->len : 0, eh_frame ? (const uint8_t *)eh_frame->bytes : NULL, true,
        false,       false};
    m->sections[2] = (struct image_section){".gcc_except_table",
                                            0x4000,
                                            except ? except->len : 0,
                                            except ? (const uint8_t *)except->bytes : NULL,
                                            true,
                                            false,
                                            false};
    for (uint32_t i = 0; i < 3; i++)
        m->by_addr[i] = i;
    m->priv.file = &m->file;
    m->priv.by_addr = m->by_addr;
    m->priv.by_addr_count = 3;
    pthread_mutex_init(&m->priv.lock, NULL);
    m->image = (struct image){.path = "made",
                              .build_id = "",
                              .sections = m->sections,
                              .section_count = 3,
                              .position_independent = true,
                              .priv = &m->priv};
}

static void made_release(struct made *m)
{
    if (m->priv.fdes)
        vec_release(m->priv.fdes);
    mem_free(m->priv.fdes);
    vec_release(&m->priv.pointers);
    vec_release(&m->priv.slots);
}

/* ---- .eh_frame ---- */

/* Patches the length before an entry that started at `start`. */
static void close_entry(struct buf *b, size_t start)
{
    while (b->len % 4)
        buf_u8(b, 0);
    uint32_t n = (uint32_t)(b->len - start - 4);
    memcpy(b->bytes + start, &n, 4);
}

static size_t add_cie(struct buf *b, const char *augmentation, uint8_t pointer_encoding, uint8_t lsda_encoding)
{
    size_t start = b->len;
    buf_u32(b, 0);
    buf_u32(b, 0);
    buf_u8(b, 1);
    buf_add(b, augmentation, strlen(augmentation) + 1);
    buf_uleb(b, 1);
    buf_sleb(b, -8);
    buf_u8(b, 16);
    if (augmentation[0] == 'z') {
        buf_uleb(b, 9); /* ignored: the letters define the fields */
        for (const char *a = augmentation + 1; *a; a++) {
            if (*a == 'R')
                buf_u8(b, pointer_encoding);
            else if (*a == 'L')
                buf_u8(b, lsda_encoding);
            else if (*a == 'P') {
                buf_u8(b, 0x9b);
                buf_u32(b, 0x1234);
            }
        }
    }
    close_entry(b, start);
    return start;
}

/* Pointers relative to their location, in four bytes (0x1b), as written by compilers; lsda 0: none. */
static void add_fde(struct buf *b, size_t cie, uint64_t begin, uint32_t size, uint64_t lsda)
{
    size_t start = b->len;
    buf_u32(b, 0);
    buf_u32(b, (uint32_t)(b->len - cie));
    buf_u32(b, (uint32_t)(begin - (0x3000 + b->len)));
    buf_u32(b, size);
    if (lsda) {
        buf_uleb(b, 4);
        buf_u32(b, (uint32_t)(lsda - (0x3000 + b->len)));
    } else {
        buf_uleb(b, 0);
    }
    close_entry(b, start);
}

static char *fdes_text(const struct buf *eh_frame, struct warnings *w)
{
    struct made m;
    struct buf out = {0};
    made_init(&m, eh_frame, NULL);
    const struct fde_list *list = image_fdes(&m.image, w);
    buf_str(&out, "");
    for (size_t i = 0; i < list->count; i++)
        buf_printf(&out, "%s%llx-%llx%s", i ? " " : "", (unsigned long long)list->items[i].begin,
                   (unsigned long long)list->items[i].end, list->items[i].lsda ? "L" : "");
    made_release(&m);
    return out.bytes;
}

static void test_eh_frame(void)
{
    struct warnings *w = warnings_create();
    struct buf b = {0};
    size_t plain = add_cie(&b, "zR", 0x1b, 0xff), full = add_cie(&b, "zPLR", 0x1b, 0x1b);
    add_fde(&b, plain, 0x1100, 0x20, 0);
    add_fde(&b, full, 0x1000, 0x40, 0x4000);
    add_fde(&b, plain, 0, 0x20, 0);      /* dropped by the linker */
    add_fde(&b, plain, 0x1ff0, 0x20, 0); /* past the section's end */
    add_fde(&b, plain, 0x1200, 0, 0);    /* empty */
    add_fde(&b, plain, 0x4000, 0x10, 0); /* not code */
    size_t good = b.len;
    char *t = fdes_text(&b, w);
    CHECK_STR(t, "1000-1040L 1100-1120 1ff0-2000");
    CHECK_INT(warnings_count(w), 0);
    mem_free(t);

    buf_u32(&b, 0); /* the terminator; the rest is ignored */
    add_fde(&b, plain, 0x1300, 0x20, 0);
    t = fdes_text(&b, w);
    CHECK_STR(t, "1000-1040L 1100-1120 1ff0-2000");
    mem_free(t);

    b.len = good;
    buf_u32(&b, 0x10000); /* longer than the section */
    t = fdes_text(&b, w);
    CHECK_STR(t, "1000-1040L 1100-1120 1ff0-2000");
    CHECK(warned(w, "damaged"));
    mem_free(t);

    b.len = 0; /* 64-bit entry whose CIE is elsewhere; an unknown encoding; an invalid CIE */
    plain = add_cie(&b, "zR", 0x1b, 0xff);
    size_t odd = add_cie(&b, "zR", 0x57, 0xff);
    add_fde(&b, odd, 0x1100, 0x20, 0);
    add_fde(&b, plain + 4, 0x1200, 0x20, 0);
    add_fde(&b, plain, 0x1300, 0x20, 0);
    t = fdes_text(&b, w);
    CHECK_STR(t, "1300-1320");
    mem_free(t);
    bool bounded = true;
    for (size_t cut = 0; cut < b.len; cut++) { /* truncated at any byte: fewer entries or none, but no crash */
        struct buf part = {0};
        buf_add(&part, b.bytes, cut);
        t = part.len ? fdes_text(&part, NULL) : mem_strdup("");
        bounded = bounded && strlen(t) <= strlen("1300-1320");
        mem_free(t);
        buf_release(&part);
    }
    CHECK(bounded);
    buf_release(&b);
    warnings_free(w);
}

static void test_call_sites(void)
{
    struct made m;
    struct buf eh = {0}, lsda = {0};
    size_t cie = add_cie(&eh, "zLR", 0x1b, 0x1b);
    add_fde(&eh, cie, 0x1000, 0x100, 0x4000);
    buf_u8(&lsda, 0xff); /* pads count from the function */
    buf_u8(&lsda, 0xff); /* no types */
    buf_u8(&lsda, 0x01); /* uleb */
    buf_uleb(&lsda, 12);
    buf_add(&lsda, "\x10\x05\x40\x01", 4); /* 1010-1015 to 1040 */
    buf_add(&lsda, "\x20\x05\x00\x00", 4); /* no pad */
    buf_add(&lsda, "\x30\x02\x50\x00", 4); /* 1030-1032 to 1050 */
    made_init(&m, &eh, &lsda);
    struct call_site_list sites = {0};
    image_call_sites(&m.image, 0x1000, &sites);
    CHECK_INT(sites.count, 2);
    CHECK(sites.count == 2 && sites.items[0].begin == 0x1010 && sites.items[0].end == 0x1015 &&
          sites.items[0].pad == 0x1040 && sites.items[1].begin == 0x1030 && sites.items[1].pad == 0x1050);
    image_call_sites(&m.image, 0x1010, &sites);
    CHECK_INT(sites.count, 2);
    made_release(&m);
    vec_release(&sites);
    buf_release(&eh);
    buf_release(&lsda);
}

/* ---- precedence ---- */

#define SYMBOL(a, s, n, ...)                                                                                           \
    {                                                                                                                  \
        .addr = a, .size = s, .name = n, .kind = __VA_ARGS__                                                           \
    }

static char *functions_text(const struct function_table *t)
{
    struct buf out = {0};
    buf_str(&out, "");
    for (size_t i = 0; i < t->count; i++) {
        const struct function *f = &t->functions[i];
        buf_printf(&out, "%s%s:%llx-%llx", i ? " " : "", *f->link_name ? f->link_name : "?",
                   (unsigned long long)f->begin, (unsigned long long)f->end);
        if (f->part_of != FUNCTION_NONE)
            buf_printf(&out, "<%s", t->functions[f->part_of].link_name);
        for (uint32_t a = 0; a < f->alias_count; a++)
            buf_printf(&out, "=%s", t->aliases[f->aliases_first + a]);
    }
    return out.bytes;
}

static void test_witnesses(void)
{
    static const struct {
        const char *name;
        struct image_symbol symbols[6];
        struct {
            uint64_t begin;
            uint32_t size;
        } fdes[4];
        const char *gives;
    } cases[] = {
        {"sizes",
         {SYMBOL(0x1000, 0x20, "a", SYM_FUNC, .global = true), SYMBOL(0x1040, 0x10, "b", SYM_FUNC, .global = true)},
         {{0}},
         "a:1000-1020 b:1040-1050"},
        {"no sizes: to the next",
         {SYMBOL(0x1000, 0, "a", SYM_FUNC, .global = true), SYMBOL(0x1040, 0, "b", SYM_FUNC, .global = true)},
         {{0}},
         "a:1000-1040 b:1040-2000"},
        {"no size, but an unwind entry",
         {SYMBOL(0x1000, 0, "a", SYM_NOTYPE, .global = true)},
         {{0x1000, 0x30}},
         "a:1000-1030"},
        {"unwind entries alone", {{0}}, {{0x1000, 0x30}, {0x1030, 0x10}}, "?:1000-1030 ?:1030-1040"},
        {"a label in a function",
         {SYMBOL(0x1000, 0x40, "a", SYM_FUNC, .global = true), SYMBOL(0x1010, 0, "loop", SYM_NOTYPE, .global = true)},
         {{0}},
         "a:1000-1040"},
        {"local labels are none", {SYMBOL(0x1000, 0, "L1", SYM_NOTYPE)}, {{0}}, ""},
        {"an unwind entry in a function",
         {SYMBOL(0x1000, 0x40, "a", SYM_FUNC, .global = true)},
         {{0x1000, 0x20}, {0x1020, 0x20}},
         "a:1000-1040"},
        {"functions in one unwind entry",
         {SYMBOL(0x1000, 0x10, "a", SYM_FUNC, .global = true), SYMBOL(0x1010, 0x10, "b", SYM_FUNC, .global = true)},
         {{0x1000, 0x40}},
         "a:1000-1010 b:1010-1020"},
        {"overlap",
         {SYMBOL(0x1000, 0x40, "a", SYM_FUNC, .global = true), SYMBOL(0x1020, 0x40, "b", SYM_FUNC, .global = true)},
         {{0}},
         "a:1000-1020 b:1020-1060"},
        {"a function within another",
         {SYMBOL(0x1000, 0x40, "a", SYM_FUNC, .global = true), SYMBOL(0x1010, 0x10, "b", SYM_FUNC, .global = true)},
         {{0}},
         "a:1000-1010 b:1010-1020 a:1020-1040<a"},
        {"aliases",
         {SYMBOL(0x1000, 0x10, "__write", SYM_FUNC, .global = true),
          SYMBOL(0x1000, 0x10, "write", SYM_FUNC, .weak = true)},
         {{0}},
         "write:1000-1010=__write"},
        {"cold part",
         {SYMBOL(0x1000, 0x10, "f.cold", SYM_FUNC), SYMBOL(0x1100, 0x10, "f", SYM_FUNC, .global = true)},
         {{0}},
         "f.cold:1000-1010<f f:1100-1110"},
        {"cold parts of two statics",
         {SYMBOL(0x1000, 4, "i.cold", SYM_FUNC, .source = 1), SYMBOL(0x1010, 4, "i.cold", SYM_FUNC, .source = 2),
          SYMBOL(0x1100, 4, "i", SYM_FUNC, .source = 2), SYMBOL(0x1200, 4, "i", SYM_FUNC, .source = 1)},
         {{0}},
         "i.cold:1000-1004<i i.cold:1010-1014<i i:1100-1104 i:1200-1204"},
        {"cold parts of several, in no order",
         {SYMBOL(0x1000, 4, "delta.cold", SYM_FUNC), SYMBOL(0x1010, 4, "alpha.cold", SYM_FUNC),
          SYMBOL(0x1020, 4, "charly.cold", SYM_FUNC), SYMBOL(0x1100, 4, "alpha", SYM_FUNC),
          SYMBOL(0x1200, 4, "charly", SYM_FUNC), SYMBOL(0x1300, 4, "delta", SYM_FUNC)},
         {{0}},
         "delta.cold:1000-1004<delta alpha.cold:1010-1014<alpha charly.cold:1020-1024<charly "
         "alpha:1100-1104 charly:1200-1204 delta:1300-1304"},
        {"a cold part alone", {SYMBOL(0x1000, 0x10, "f.cold", SYM_FUNC)}, {{0}}, "f.cold:1000-1010"},
        {"clones are functions",
         {SYMBOL(0x1000, 4, "f.constprop.0", SYM_FUNC), SYMBOL(0x1010, 4, "f", SYM_FUNC)},
         {{0}},
         "f.constprop.0:1000-1004 f:1010-1014"},
        {"data ends a function",
         {SYMBOL(0x1000, 0, "a", SYM_FUNC, .global = true), SYMBOL(0x1080, 8, "table", SYM_OBJECT, .global = true)},
         {{0}},
         "a:1000-1080"},
        {"mapping symbols are no names",
         {SYMBOL(0x1000, 0, "$x", SYM_NOTYPE, .global = true), SYMBOL(0x1010, 0, "$d.3", SYM_NOTYPE, .global = true)},
         {{0}},
         ""},
        {"a size past the section", {SYMBOL(0x1f00, UINT64_MAX, "a", SYM_FUNC, .global = true)}, {{0}}, "a:1f00-2000"},
        {"not in code",
         {SYMBOL(0x4000, 0x10, "a", SYM_FUNC, .global = true), SYMBOL(0x9000, 1, "b", SYM_FUNC, .global = true)},
         {{0}},
         ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m;
        struct buf eh = {0};
        struct function_table *t = NULL;
        size_t cie = add_cie(&eh, "zR", 0x1b, 0xff), n = 0;
        for (size_t k = 0; k < 4 && cases[i].fdes[k].size; k++)
            add_fde(&eh, cie, cases[i].fdes[k].begin, cases[i].fdes[k].size, 0);
        made_init(&m, &eh, NULL);
        m.sections[2].size = 16;
        while (n < 6 && cases[i].symbols[n].name)
            n++;
        m.image.symbols = (struct image_symbol *)cases[i].symbols;
        m.image.symbol_count = n;
        t = functions_find(&m.image, NULL);
        char *got = functions_text(t);
        if (!tap_result(strcmp(got, cases[i].gives) == 0, cases[i].name, __FILE__, __LINE__))
            printf("# got    %s\n# wanted %s\n", got, cases[i].gives);
        if (strcmp(cases[i].name, "cold parts of two statics") == 0)
            CHECK(t->functions[0].part_of == 3 && t->functions[1].part_of == 2);
        mem_free(got);
        functions_free(t);
        made_release(&m);
        buf_release(&eh);
    }
}

static void test_add(void)
{
    static const struct image_symbol symbols[] = {SYMBOL(0x1000, 0x20, "f.cold", SYM_FUNC),
                                                  SYMBOL(0x1100, 0, "guessed", SYM_FUNC, .global = true),
                                                  SYMBOL(0x1200, 0x40, "f", SYM_FUNC, .global = true)};
    static const vaddr calls[] = {0x1010, 0x1050, 0x1180, 0x1200, 0x1300, 0x4000};
    struct made m;
    struct function_table *t = NULL;
    made_init(&m, NULL, NULL);
    m.image.symbols = (struct image_symbol *)symbols;
    m.image.symbol_count = ARRAY_SIZE(symbols);
    t = functions_find(&m.image, NULL);
    functions_add(t, calls, ARRAY_SIZE(calls));
    char *got = functions_text(t);
    CHECK_STR(got, "f.cold:1000-1020<f ?:1050-1100 guessed:1100-1180 ?:1180-1200 f:1200-1240 ?:1300-2000");
    CHECK(t->count == 6 && t->functions[4].origin == (FROM_SYMTAB | FROM_CALL) && t->functions[5].origin == FROM_CALL);
    CHECK(functions_at(t, 0x1240) == FUNCTION_NONE && functions_at(t, 0x1fff) == 5 &&
          functions_at(t, 0xfff) == FUNCTION_NONE);
    mem_free(got);
    functions_free(t);
    made_release(&m);
}

/* ---- gaps ---- */

/* Finds functions in bytes at 0x1000, with a function known by a symbol after or before it. */
static void test_gaps(void)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
        struct image_symbol symbols[3];
        const char *gives;
    } cases[] = {
#define BYTES(s) s, sizeof(s) - 1
        {"two functions, padded",
         BYTES("\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
               "\x89\xf8\xc3"),
         {{0}},
         "?:1000-1010 ?:1010-2000"},
        {"padded with zeros",
         BYTES("\x31\xc0\xc3\0\0\0\0\0\0\0\0\0\0\0\0\0\x89\xf8\xc3"),
         {{0}},
         "?:1000-1010 ?:1010-2000"},
        {"not padded: nothing leads there", BYTES("\x31\xc0\xc3\x89\xf8\xc3"), {{0}}, "?:1000-1003 ?:1003-2000"},
        {"a branch leads across the return: test, je +1, ret, ret",
         BYTES("\x85\xff\x74\x01\xc3\xc3"),
         {{0}},
         "?:1000-2000"},
        {"a jump into the loop's test leads across",
         BYTES("\xeb\x02\xff\xcf\x85\xff\x75\xfa\xc3"),
         {{0}},
         "?:1000-2000"},
        {"a call into the middle begins one",
         BYTES("\xe8\x03\0\0\0\x90\x90\xc3\x31\xc0\xc3"),
         {{0}},
         "?:1000-1008 ?:1008-2000"},
        {"a call of what never returns ends one",
         BYTES("\xe8\xfb\x07\0\0\x31\xc0\xc3"),
         {SYMBOL(0x1800, 0x10, "abort", SYM_FUNC, .global = true)},
         "?:1000-1005 ?:1005-1800 abort:1800-1810"},
        {"no return, no function", BYTES("\x31\xc0\x31\xc9"), {{0}}, ""},
        {"bytes that decode to nothing", BYTES("\x06\x07\x0e\x16\xc3"), {{0}}, ""},
        {"input and output", BYTES("\x31\xc0\xee\xc3"), {{0}}, ""},
        {"a branch into an instruction", BYTES("\xb8\x01\x02\x03\x04\x74\xfb\x74\xfa\x74\xfa\xc3"), {{0}}, ""},
        {"a jump to nowhere", BYTES("\x31\xc0\xe9\0\0\0\x40"), {{0}}, ""},
        {"text", BYTES("Usage: program [options] file\0"), {{0}}, ""},
        {"data right behind a function",
         BYTES("\xc3\x31\xc0\xc3"),
         {SYMBOL(0x1000, 1, "f", SYM_FUNC, .global = true)},
         "f:1000-1001"},
        {"a prologue behind a function, aligned",
         BYTES("\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
               "\xf3\x0f\x1e\xfa\xc3"),
         {SYMBOL(0x1000, 1, "f", SYM_FUNC, .global = true)},
         "f:1000-1001 ?:1010-2000"},
        {"a jump to the next known one does not lead across what is between",
         BYTES("\xe9\x0b\0\0\0\x89\xf8\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xc3"),
         {SYMBOL(0x1010, 1, "f", SYM_FUNC, .global = true)},
         "?:1000-1005 ?:1005-1010 f:1010-1011"},
        {"a jump to in front of it does",
         BYTES("\xe9\x0a\0\0\0\x89\xf8\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xc3\xc3"),
         {SYMBOL(0x1010, 1, "f", SYM_FUNC, .global = true)},
         "?:1000-1010 f:1010-1011"},
        {"a branch to the next known one does not either",
         BYTES("\x74\x0e\xc3\x89\xf8\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xc3"),
         {SYMBOL(0x1010, 1, "f", SYM_FUNC, .global = true)},
         "?:1000-1003 ?:1003-1010 f:1010-1011"},
        {"what a symbol covers is left alone",
         BYTES("\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
               "\xf3\x0f\x1e\xfa\xc3"),
         {SYMBOL(0x1000, 0x20, "f", SYM_FUNC, .global = true)},
         "f:1000-1020"},
        {"so is a symbol without a size",
         BYTES("\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
               "\xf3\x0f\x1e\xfa\xc3"),
         {SYMBOL(0x1000, 0, "f", SYM_FUNC, .global = true)},
         "f:1000-2000"},
#undef BYTES
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m;
        struct function_table *t = NULL;
        size_t n = 0;
        made_init(&m, NULL, NULL);
        memset(text, 0, sizeof text);
        memcpy(text, cases[i].bytes, cases[i].size);
        while (n < 3 && cases[i].symbols[n].name)
            n++;
        m.image.symbols = (struct image_symbol *)cases[i].symbols;
        m.image.symbol_count = n;
        t = functions_find(&m.image, NULL);
        char *got = functions_text(t);
        if (!tap_result(strcmp(got, cases[i].gives) == 0, cases[i].name, __FILE__, __LINE__))
            printf("# got    %s\n# wanted %s\n", got, cases[i].gives);
        for (size_t k = 0; k < t->count; k++)
            if (!*t->functions[k].link_name && t->functions[k].origin != FROM_GAP)
                CHECK_NAMED(false, "found in a gap, and said so");
        mem_free(got);
        functions_free(t);
        made_release(&m);
    }
    memset(text, 0, sizeof text);
}

/* Finds functions in `size` bytes at 0x1000, after a function of one byte if `behind` is set. */
static char *found_in(const char *bytes, size_t size, bool behind)
{
    static const struct image_symbol f[] = {SYMBOL(0x1000, 1, "f", SYM_FUNC, .global = true)};
    struct made m;
    struct function_table *t = NULL;
    made_init(&m, NULL, NULL);
    memset(text, 0, sizeof text);
    memcpy(text, bytes, size);
    m.image.symbols = (struct image_symbol *)f;
    m.image.symbol_count = behind;
    t = functions_find(&m.image, NULL);
    char *got = functions_text(t);
    functions_free(t);
    made_release(&m);
    memset(text, 0, sizeof text);
    return got;
}

/* Functions that are detected only by their prologues (after padding, at an unaligned address, or after the jump of a
   jump table). */
static void test_prologues(void)
{
    enum { NONE, SOME, SURE };
    static const struct {
        const char *name, *bytes;
        int is;
    } cases[] = {
        {"endbr64", "\xf3\x0f\x1e\xfa", SURE},
        {"push %rbp; mov %rsp,%rbp", "\x55\x48\x89\xe5", SURE},
        {"push %rbp; mov, the other encoding", "\x55\x48\x8b\xec", SURE},
        {"push %rbp; push %r12", "\x55\x41\x54\x90", SURE},
        {"push %rbp; push %r15", "\x55\x41\x57\x90", SURE},
        {"push %r15; push %r14", "\x41\x57\x41\x56", SURE},
        {"push %r15; push %r12", "\x41\x57\x41\x54", SOME},
        {"push %r14; push %r14", "\x41\x56\x41\x56", SOME},
        {"push %rbp; push %r11", "\x55\x41\x53\x90", SOME},
        {"push %rbp; xor", "\x55\x31\xc0\x90", SOME},
        {"push %rbx", "\x53\x31\xc0\x90", SOME},
        {"push %r12", "\x41\x54\x31\xc0", SOME},
        {"push %r11", "\x41\x53\x31\xc0", NONE},
        {"pop %r8", "\x41\x58\x31\xc0", NONE},
        {"sub $8,%rsp", "\x48\x83\xec\x08", SOME},
        {"sub $8,%rbp", "\x48\x83\xed\x08", NONE},
        {"add $8,%rsp", "\x48\x83\xc4\x08", NONE},
        {"mov %rdi,%rax", "\x48\x89\xf8\x90", NONE},
        {"xor %eax,%eax", "\x31\xc0\x31\xc9", NONE},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char padded[16] = "\xc3\xcc\xcc\xcc\xcc", jump[16] = "\xff\xe0"; /* jmp *%rax */
        memcpy(padded + 5, cases[i].bytes, 4);
        padded[9] = '\xc3';
        memcpy(jump + 2, cases[i].bytes, 4);
        jump[6] = '\xc3';
        char *behind = found_in(padded, 10, true), *next = found_in(jump, 7, false);
        CHECK_STR(behind, cases[i].is == NONE ? "f:1000-1001" : "f:1000-1001 ?:1005-2000");
        CHECK_STR(next, cases[i].is == SURE ? "?:1000-1002 ?:1002-2000" : "?:1000-2000");
        CHECK_NAMED(strlen(behind) > 0, cases[i].name);
        mem_free(behind);
        mem_free(next);
    }
    char *sub = found_in("\xc3\xcc\xcc\xcc\xcc\x48\x81\xec\x00\x10\x00\x00\xc3", 13, true);
    CHECK_STR(sub, "f:1000-1001 ?:1005-2000");
    mem_free(sub);
}

/* Instructions that decode but that compilers do not emit: bytes that contain one are data. */
static void test_never_written(void)
{
    static const struct {
        const char *bytes;
        bool code;
    } cases[] = {
        {"\x90", true},
        {"\x6a\x01", true},
        {"\x6c", false},
        {"\x6d", false},
        {"\x6e", false},
        {"\x6f", false},
        {"\xe4\x10", false},
        {"\xe5\x10", false},
        {"\xe6\x10", false},
        {"\xe7\x10", false},
        {"\xec", false},
        {"\xed", false},
        {"\xef", false},
        {"\xfa", false},
        {"\xfb", false},
        {"\xfc", true},
        {"\xf8", true},
        {"\xca\x10\x10", false},
        {"\xcb", false},
        {"\xcf", false},
        {"\xf1", false},
        {"\xd7", false},
        {"\xc8\x10\x10\x01", false},
        {"\xc9", true},
        {"\x66\xed", false},
        {"\xf3\x6d", false},
        {"\xf2\x6d", false},
        {"\x48\x6d", false},
        {"\x66\x90", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char bytes[16] = "\x31\xc0";
        size_t n = strlen(cases[i].bytes);
        memcpy(bytes + 2, cases[i].bytes, n);
        bytes[2 + n] = '\xc3';
        char *got = found_in(bytes, 3 + n, false), *name = mem_printf("%02x", (unsigned char)cases[i].bytes[0]);
        CHECK_NAMED(strcmp(got, cases[i].code ? "?:1000-2000" : "") == 0, name);
        mem_free(got);
        mem_free(name);
    }
    static const struct {
        const char *bytes, *gives;
    } adds[] = {{"\x31\xc0\0\0\xc3", ""}, {"\x31\xc0\0\1\xc3", "?:1000-2000"}, {"\x31\xc0\1\0\xc3", "?:1000-2000"}};
    for (size_t i = 0; i < ARRAY_SIZE(adds); i++) { /* the target of a pointer, which is its own last byte */
        char *got = found_in(adds[i].bytes, 5, false);
        CHECK_STR(got, adds[i].gives);
        mem_free(got);
    }
}

/* Longer than the maximum that is read of a function. */
static void test_long_gap(void)
{
    struct made m;
    struct function_table *t = NULL;
    size_t size = 3 << 20;
    uint8_t *bytes = mem_calloc(size, 1);
    memcpy(bytes, "\x31\xc0\xc3", 3);
    made_init(&m, NULL, NULL);
    m.sections[0] = (struct image_section){".text", 0x1000, size, bytes, true, true, false};
    m.image.section_count = m.priv.by_addr_count = 1;
    t = functions_find(&m.image, NULL);
    CHECK(t->count == 1 && t->functions[0].begin == 0x1000 && t->functions[0].origin == FROM_GAP);
    functions_free(t);
    made_release(&m);
    mem_free(bytes);
}

/* The index answers as the table does, at each address in and around it, close together and far apart. */
static void test_index(void)
{
    struct function functions[40];
    vaddr at = 0x1000;
    for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++) {
        functions[i] = (struct function){
            .begin = at, .end = at + 1 + i * 5 % 7, .part_of = i % 4 == 3 ? (i / 8) * 2 : FUNCTION_NONE};
        at = functions[i].end + (i % 3 ? i % 5 : 0) + (i == 20 ? 3000 : 0);
    }
    struct function_table t = {.functions = functions, .count = ARRAY_SIZE(functions)};
    struct function_index x = {0};
    function_index_make(&x, &t);
    bool same = true;
    for (vaddr a = 0xff0; a < at + 20; a++)
        same = same && function_index_find(&x, a) == functions_at(&t, a);
    CHECK_NAMED(same, "found by the index as by the table");
    CHECK_INT(function_index_find(&x, 0x1000), 0);
    CHECK_INT(function_index_find(&x, functions[39].end - 1), 39);
    CHECK_INT(function_index_find(&x, functions[39].end), FUNCTION_NONE);
    size_t n = 0, parts = 0;
    for (uint32_t owner = 0; owner < ARRAY_SIZE(functions); owner++) {
        const struct part_of *p = function_index_parts(&x, owner, &n);
        for (size_t i = 0; i < n; i++)
            same = same && p[i].owner == owner && functions[p[i].part].part_of == owner &&
                   (i == 0 || p[i].part > p[i - 1].part);
        parts += n;
    }
    CHECK_NAMED(same && parts == 10, "parts by owner, in the order of addresses");
    CHECK_NAMED(function_index_parts(&x, 0, &n)[1].part == 7 && n == 2, "both parts of the first");
    t.count = 1;
    function_index_make(&x, &t);
    CHECK_INT(function_index_find(&x, functions[1].begin), FUNCTION_NONE);
    CHECK_INT(function_index_find(&x, 0x1000), 0);
    t.count = 0;
    function_index_make(&x, &t);
    CHECK_INT(function_index_find(&x, 0x1000), FUNCTION_NONE);
    function_index_release(&x);
}

/* ---- gaps, queried by address ---- */

enum { LARGE_BASE = 0x100000, LARGE_SIZE = 500000 };
static uint8_t large[LARGE_SIZE];

static void put(size_t *at, const char *bytes, size_t n)
{
    memcpy(large + *at, bytes, n);
    *at += n;
}

static void align(size_t *at, char padding)
{
    while (*at % 16 != 0)
        put(at, &padding, 1);
}

/* A function of `units` pieces, some with an aligned loop, as only the beginnings of functions are otherwise. */
static void put_function(size_t *at, unsigned units, bool frame)
{
    if (frame)
        put(at, "\x55\x48\x89\xe5", 4); /* push %rbp; mov %rsp,%rbp */
    for (unsigned i = 0; i < units; i++) {
        put(at, "\xb8\x07\x01\x00\x00\x01\xc7", 7); /* mov $0x107,%eax; add %eax,%edi */
        if (i % 20 == 4) {
            align(at, '\x90');
            put(at, "\x83\xe8\x01\x75\xfb", 5); /* 1: sub $1,%eax; jne 1b */
        }
    }
    put(at, frame ? "\x5d\xc3" : "\xc3", frame ? 2 : 1);
    align(at, '\xcc');
}

static const struct function *only_at(const struct function_table *t, vaddr addr)
{
    uint32_t f = functions_at(t, addr);
    return f == FUNCTION_NONE ? NULL : &t->functions[f];
}

/* One address at a time, then all together: the same functions as when everything is read. */
static void test_gaps_at(void)
{
    struct made m;
    struct function_table *all = NULL, *t = NULL;
    struct vaddr_list addrs = {0}, begins = {0};
    size_t at = 0, same = 0, together = 0, called = 0;
    for (unsigned i = 0; at + 2000 < LARGE_SIZE; i++) {
        put_function(&at, 1 + i * 7 % 61, i % 3 != 0);
        if (i == 300)
            put_function(&at, 18000, true); /* longer than the part that is read first */
    }
    made_init(&m, NULL, NULL);
    m.sections[0] = (struct image_section){".text", LARGE_BASE, at, large, true, true, false};
    m.image.section_count = m.priv.by_addr_count = 1;
    all = functions_find(&m.image, NULL);
    CHECK(all->count > 500);
    for (size_t i = 0; i < all->count; i += 7 + i % 23) {
        const struct function *want = &all->functions[i], *got;
        vaddr addr = want->begin + (want->end - want->begin) / 2;
        *vec_push(&addrs) = addr;
        *vec_push(&begins) = want->begin;
        t = functions_list(&m.image, NULL);
        functions_fill_gaps_at(t, &addr, 1);
        got = only_at(t, addr);
        same += got && got->begin == want->begin && got->end == want->end && t->count == 1;
        functions_free(t);
    }
    CHECK_INT(same, addrs.count);
    t = functions_list(&m.image, NULL);
    functions_fill_gaps_at(t, addrs.items, addrs.count);
    for (size_t i = 0; i < addrs.count; i++) {
        const struct function *want = only_at(all, addrs.items[i]), *got = only_at(t, addrs.items[i]);
        together += got && got->begin == want->begin && got->end == want->end;
    }
    CHECK_INT(together, addrs.count);
    CHECK_INT(t->count, addrs.count);
    functions_free(t);
    t = functions_list(&m.image, NULL);
    functions_fill_gaps_called(t, begins.items, begins.count);
    for (size_t i = 0; i < begins.count; i++) {
        const struct function *want = only_at(all, begins.items[i]), *got = only_at(t, begins.items[i]);
        called += got && got->begin == want->begin && got->end <= want->end && got->end + 16 > want->end;
    }
    CHECK_INT(called, begins.count);
    functions_free(t);
    functions_free(all);
    vec_release(&addrs);
    vec_release(&begins);
    made_release(&m);
}

/* Two jumps at `begin`, possibly a cold part; functions at 0x1100 and 0x1140; all known only from unwind entries. */
static void test_nameless_parts(void)
{
    static const struct {
        const char *name;
        uint32_t begin, targets[2];
        const char *owner; /* in the order of addresses: the part, then the two functions */
    } cases[] = {
        {"it jumps back into the middle of one", 0x1003, {0x1108, 0x1110}, "1--"},
        {"what it calls in the end does not count", 0x1003, {0x1108, 0x1140}, "1--"},
        {"nor what it calls in the beginning", 0x1003, {0x1140, 0x1108}, "1--"},
        {"nor does where it goes in itself", 0x1003, {0x1008, 0x1110}, "1--"},
        {"or comes to its own middle", 0x1003, {0x1005, 0x1110}, "1--"},
        {"only tail calls", 0x1003, {0x1100, 0x1140}, "---"},
        {"into the middle of two", 0x1003, {0x1108, 0x1144}, "---"},
        {"aligned: a function", 0x1010, {0x1108, 0x1110}, "---"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m;
        struct buf eh = {0};
        struct function_table *t = NULL;
        char owner[4] = "???";
        size_t cie = add_cie(&eh, "zR", 0x1b, 0xff);
        add_fde(&eh, cie, cases[i].begin, 10, 0);
        add_fde(&eh, cie, 0x1100, 0x20, 0);
        add_fde(&eh, cie, 0x1140, 0x20, 0);
        made_init(&m, &eh, NULL);
        memset(text, 0x90, sizeof text);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t at = cases[i].begin + 5 * k, distance = cases[i].targets[k] - (at + 5);
            text[at - 0x1000] = 0xe9;
            memcpy(text + (at - 0x1000) + 1, &distance, 4);
        }
        t = functions_find(&m.image, NULL);
        for (size_t k = 0; k < t->count && k < 3; k++)
            owner[k] = t->functions[k].part_of == FUNCTION_NONE ? '-' : (char)('0' + t->functions[k].part_of);
        CHECK_NAMED(t->count == 3 && strcmp(owner, cases[i].owner) == 0, cases[i].name);
        functions_free(t);
        made_release(&m);
        buf_release(&eh);
    }
    memset(text, 0, sizeof text);
}

/* ---- names ---- */

static void test_demangle(void)
{
    static const struct {
        const char *symbol, *full, *short_name;
    } cases[] = {
        {"main", "main", "main"},
        {"_ZN4heat5solveERKNS_4MeshEi", "heat::solve(heat::Mesh const&, int)", "heat::solve"},
        {"_ZNK4heat4Mesh2atEi", "heat::Mesh::at(int) const", "heat::Mesh::at"},
        {"_GLOBAL__sub_I__Z3fooPi", "global constructors keyed to foo(int*)", "global constructors keyed to foo(int*)"},
        {"_GLOBAL__sub_D_main.cpp", "global destructors keyed to main.cpp", "global destructors keyed to main.cpp"},
        {"_GLOBAL__sub_", "_GLOBAL__sub_", "_GLOBAL__sub_"},
        {"_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()", "(anonymous namespace)::run"},
        {"_ZSt3maxImERKT_S2_S2_",
         "unsigned long const& std::max<unsigned long>(unsigned long const&, unsigned long const&)",
         "std::max<unsigned long>"},
        {"_ZlsRSoRK1A", "operator<<(std::ostream&, A const&)", "operator<<"},
        {"_ZN1AclEi", "A::operator()(int)", "A::operator()"},
        {"_ZmiIiE1AS0_S0_", NULL, NULL},
        {"_ZN1AcvjEv", "A::operator unsigned int()", "A::operator unsigned int"},
        {"_Z1fi.constprop.0", "f(int) [clone .constprop.0]", "f [clone .constprop.0]"},
        {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"_Z1fi@plt", "f(int)@plt", NULL},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
         "core::fmt::Write::write_fmt"},
        {"_RNvC7mycrate3run", "mycrate::run", "mycrate::run"},
        {"_Z", "_Z", "_Z"},
        {"_Zzzzz", "_Zzzzz", "_Zzzzz"},
    };
    struct arena *a = arena_create();
    if (strcmp(demangle_full(a, "_Z1fv"), "f()") != 0) {
        SKIP("demangling", "built without libiberty");
        arena_free(a);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *full = demangle_full(a, cases[i].symbol);
        if (cases[i].full)
            CHECK_STR(full, cases[i].full);
        if (cases[i].short_name)
            CHECK_STR(demangle_short(a, full), cases[i].short_name);
    }
    CHECK_STR(demangle_short(a, "A operator-<int*, A>(A, A)"), "operator-<int*, A>");
    CHECK_STR(demangle_short(a, "void operator< <int>(A<int>)"), "operator< <int>");
    CHECK_STR(demangle_short(a, "f(int (*)(char))"), "f");
    CHECK_STR(demangle_short(a, "A<(B)1>::g(int)"), "A<(B)1>::g");
    /* Each step doubles the output: thirty steps exceed the available memory. */
    struct buf bomb = {0};
    buf_str(&bomb, "_Z1fI1AIiiE");
    for (unsigned i = 0; i < 30; i++)
        buf_printf(&bomb, i ? "1AIS%c_S%c_E" : "1AIS0_S0_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                   "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
    buf_str(&bomb, "Evv");
    CHECK_NAMED(strlen(demangle_full(a, bomb.bytes)) <= LIMIT_DEMANGLED_BYTES,
                "a name that grows without end is cut off");
    buf_release(&bomb);
    arena_free(a);
}

static void test_noreturn_names(void)
{
    static const struct {
        const char *name;
        bool never;
    } cases[] = {
        {"abort", true},
        {"abort@plt", true},
        {"exit@@GLIBC_2.2.5", true},
        {"exit@GLIBC_2.2.5", true},
        {"exits", false},
        {"", false},
        {"@plt", false},
        {"Perl_croak", true}, /* the first of the list */
        {"xabort", false},
        {"_ZSt20__throw_length_errorPKc", true},
        {"_ZNSt3__120__throw_length_errorB8ne180100EPKc", true},
        {"_ZNKSt3__16vectorIiE20__throw_length_errorEv", true},
        {"_ZSt4moveIRiEvOT_", false},
        {"_ZN3app12__throw_bothEv", false},
        {"_ZN4core5slice5index26slice_start_index_len_fail17h0123456789abcdefE", true},
        {"_ZN4core5slice4sort6insert17h0123456789abcdefE", false},
        {"_ZN3app9must_fail17h0123456789abcdefE", false},
        {"_RNvNtCs1_4core9panicking5panic", true},
        {"_RNvNtCs1_5alloc5alloc18handle_alloc_error", true},
        {"_RNvNtCs1_5alloc7raw_vec17capacity_overflow", true},
        {"_RNvNtCs1_4core6result13unwrap_failed", true},
        {"_RNvNtCs1_4core6option13expect_failed", true},
        {"_RNvNtCs1_4core3fmt5write", false},
        {"__ubsan_handle_add_overflow_abort", true},
        {"__ubsan_handle_add_overflow", false},
        {"__ubsan_handle_add_overflow_abort@plt", true},
        {"__ubsan_handle_add_overflow@_abort", false},
        {"my_abort", false},
        {"__asan_report_load8", true},
        {"__asan_report_load8_noabort", false},
        {"__asan_report_load8_noabort@plt", false},
        {"__asan_report_load8@@V_noabort", true},
        {"_noabort", false},
        {"abor", false},
        {"abort_", false},
        {"abort2@plt", false},
        {"__asan_register_globals", false},
        {"runtime.panicIndex", true},
        {"runtime.printnl", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (!CHECK_NAMED(noreturn_name(cases[i].name) == cases[i].never, cases[i].name))
            printf("# never returns: %d\n", !cases[i].never);
    static const struct {
        const char *begin, *end;
        bool never;
    } of_types[] = {
        {"", "", false},
        {"_ZNKSt3__16vectorI", "E20__throw_length_errorEv", true},
        {"_ZNKSt3__16vectorI", "E20__throw_length_errorEv@@V", true},
        {"_ZN4core5slice", "20_fail17h", true},
        {"__ubsan_handle_", "_abort", true},
        {"__asan_report_", "_noabort", false},
        {"abort", "", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(of_types); i++)
        for (unsigned letters = 190; letters < 400; letters += 3) { /* of any length */
            char types[400];
            memset(types, 'a', letters);
            types[letters] = '\0';
            char *name = mem_printf("%s%s%s", of_types[i].begin, types, of_types[i].end);
            if (noreturn_name(name) != of_types[i].never)
                CHECK_NAMED(false, name);
            mem_free(name);
        }
    static const char *aliases[] = {"bye", "other", "abort"};
    struct function_table t = {.aliases = aliases, .alias_count = 3};
    CHECK(function_noreturn_by_name(&t, &(struct function){.link_name = "a", .aliases_first = 1, .alias_count = 2}));
    CHECK(!function_noreturn_by_name(&t, &(struct function){.link_name = "a", .aliases_first = 0, .alias_count = 2}));
    CHECK(function_noreturn_by_name(&t, &(struct function){.link_name = "exit"}));
}

/* ---- compiler output ---- */

static void test_program(void)
{
    static const char source[] =
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "int target(int x) { return x * 3; }\n"
        "int other(int) __attribute__((alias(\"target\")));\n"
        "static int chosen(int x) { return x; }\n"
        "static void *choose(void) { return (void *)chosen; }\n"
        "int picked(int) __attribute__((ifunc(\"choose\")));\n"
        "__attribute__((constructor)) static void early(void) { puts(\"early\"); }\n"
        "int main(int argc, char **argv) { (void)argv; if (argc > 7) abort(); return picked(other(argc)); }\n";
    char *path = compile(tool("CC", "cc"), "-O1 -fno-inline -fasynchronous-unwind-tables -fcf-protection=none", "p.c",
                         source, "p");
    struct image *im = NULL;
    struct function_table *t = NULL;
    if (!path) {
        SKIP("compiled program", "no compiler, or no ifunc");
        return;
    }
    for (int stripped = 0; stripped < 2; stripped++) {
        if (stripped && !shell("strip -s p"))
            break;
        CHECK(image_open(path, NULL, &im, NULL, NULL) == 0 && (t = functions_find(im, NULL)) != NULL);
        const struct function *puts_stub = function_named(t, "puts@plt"), *target = function_named(t, "other");
        CHECK_NAMED(puts_stub && puts_stub->plt && puts_stub->origin & FROM_PLT,
                    stripped ? "PLT stub, stripped" : "PLT stub");
        CHECK_NAMED(functions_at(t, im->entry) != FUNCTION_NONE, "the entry is in a function");
        if (!stripped) {
            CHECK(target && target->alias_count == 1 && strcmp(t->aliases[target->aliases_first], "target") == 0);
            CHECK(target->sized && target->origin & FROM_SYMTAB && target->origin & FROM_EH_FRAME);
            const struct function *picked = function_named(t, "picked");
            const struct function *choose = function_named(t, "choose");
            CHECK((picked && picked->ifunc) || (choose && choose->ifunc));
            CHECK(function_named(t, "early") && function_named(t, "early")->origin & FROM_ENTRY);
        }
        functions_free(t);
        image_close(im);
    }
    mem_free(path);
}

/* Procedures of the debug information, used if no full symbol table exists; a dynamic one does not count. */
static void test_debug_entries(void)
{
    static const char source[] =
        "static volatile int kept;\n"
        "__attribute__((noinline)) static int first(int n) { for (int i = 0; i < n; i++) kept++; return kept; }\n"
        "__attribute__((noinline)) static int second(int n) { kept += n; return kept * n; }\n"
        "int third(int n) { return first(n) + second(n); }\n"
        "int main(int argc, char **argv) { (void)argv; return third(argc); }\n";
    static const char *const names[] = {"first", "second", "third", "main"}, *const flags[] = {"", "-shared -fPIC"};
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        char *all = mem_printf("-O1 -g -fno-asynchronous-unwind-tables -fno-unwind-tables %s", flags[i]);
        char *path = compile(tool("CC", "cc"), all, "d.c", source, "d"), *bare = scratch("bare");
        struct image *im = NULL, *stripped = NULL;
        mem_free(all);
        if (!path || !shell("objcopy --strip-all --keep-section='.debug_*' d bare")) {
            SKIP("procedures of the debug information", "no compiler or objcopy that does it");
        } else if (CHECK(image_open(path, NULL, &im, NULL, NULL) == 0 &&
                         image_open(bare, NULL, &stripped, NULL, NULL) == 0)) {
            struct function_table *t = functions_list(im, NULL), *without = functions_list(stripped, NULL);
            size_t asked = 0;
            for (size_t f = 0; f < t->count; f++)
                asked += t->functions[f].origin & FROM_DEBUG;
            CHECK_INT(asked, 0);
            for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
                const struct function *want = function_named(t, names[k]);
                const struct function *got = want ? only_at(without, want->begin) : NULL;
                CHECK_NAMED(got && got->begin == want->begin && got->origin & FROM_DEBUG, names[k]);
            }
            functions_free(t);
            functions_free(without);
        }
        image_close(im);
        image_close(stripped);
        mem_free(path);
        mem_free(bare);
    }
}

/* Functions of a stripped program, on demand, with their loops. */
static void test_stripped(void)
{
    static const char source[] =
        "#include <stdio.h>\n"
        "#define N __attribute__((noinline)) static int\n"
        "N sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * 3; return s; }\n"
        "N top(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i]; return s; }\n"
        "N nest(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = i; j < n; j++)\n"
        "    s ^= a[i] * a[j]; return s; }\n"
        "static int (*volatile table[])(const int *, int) = {sum, top, nest};\n"
        "int main(int argc, char **argv) { (void)argv; int a[8] = {argc}, r = 0;\n"
        "    for (int i = 0; i < 3; i++) r += table[i](a, 8);\n"
        "    return r == 3; }\n";
    static const char *const functions[] = {"sum", "top", "nest", "main"};
    static const unsigned loops[] = {1, 1, 2, 1};
    static const char *const levels[] = {"-O0", "-O1", "-Os -fno-tree-vectorize"};
    for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
        char *flags = mem_printf("%s -fno-asynchronous-unwind-tables -fno-unwind-tables", levels[l]);
        char *path = compile(tool("CC", "cc"), flags, "g.c", source, "g"), *bare = scratch("bare");
        struct image *im = NULL;
        struct bloop_binary *b = NULL;
        mem_free(flags);
        if (!path || !shell("strip -s -R .eh_frame -R .eh_frame_hdr -o bare g")) {
            SKIP(levels[l], "no compiler or strip");
            mem_free(path);
            mem_free(bare);
            continue;
        }
        CHECK(image_open(path, NULL, &im, NULL, NULL) == 0 && bloop_open(bare, NULL, &b, NULL, NULL) == 0);
        for (size_t i = 0; im && b && i < ARRAY_SIZE(functions); i++) {
            const struct image_symbol *s = symbol_named(im, functions[i]);
            struct scope_tree *tree = NULL;
            unsigned found = 0;
            vaddr inside = s ? s->addr + s->size / 2 : 0, begin = 0;
            CHECK(s && bloop_scopes_at(b, &inside, 1, &tree, NULL, NULL) == 0);
            for (size_t k = 0; tree && k < tree->scope_count; k++) {
                found += tree->scopes[k].kind == SCOPE_LOOP;
                if (tree->scopes[k].kind == SCOPE_PROC)
                    begin = tree->scopes[k].entry;
            }
            char *what = mem_printf("%s: %s, stripped", levels[l], functions[i]);
            CHECK_NAMED(s && begin == s->addr && found == loops[i], what);
            mem_free(what);
            if (tree)
                scope_tree_free(tree);
        }
        bloop_close(b);
        image_close(im);
        mem_free(path);
        mem_free(bare);
    }
}

static void test_exceptions(void)
{
    static const char source[] = "void g(int);\nint f(int x) { int s = 0; for (int i = 0; i < x; i++) try { g(i); } "
                                 "catch (int e) { s += e; } return s; }\n"
                                 "void g(int x) { if (x > 3) throw x; }\nint main(int c, char **) { return f(c); }\n";
    char *path = compile(tool("CXX", "c++"), "-O1 -fno-inline", "e.cc", source, "e");
    struct image *im = NULL;
    struct function_table *t = NULL;
    if (!path) {
        SKIP("landing pads", "no C++ compiler");
        return;
    }
    struct call_site_list sites = {0};
    CHECK(image_open(path, NULL, &im, NULL, NULL) == 0 && (t = functions_find(im, NULL)) != NULL);
    const struct function *f = function_named(t, "_Z1fi");
    CHECK(f != NULL);
    if (f)
        image_call_sites(im, f->begin, &sites);
    CHECK_NAMED(sites.count >= 1 && sites.items[0].begin >= f->begin && sites.items[0].end <= f->end,
                "the call in the try block has a landing pad");
    vec_release(&sites);
    functions_free(t);
    image_close(im);
    mem_free(path);
}

int main(void)
{
    scratch_make();
    RUN(test_eh_frame);
    RUN(test_call_sites);
    RUN(test_witnesses);
    RUN(test_add);
    RUN(test_gaps);
    RUN(test_prologues);
    RUN(test_never_written);
    RUN(test_long_gap);
    RUN(test_index);
    RUN(test_gaps_at);
    RUN(test_nameless_parts);
    RUN(test_demangle);
    RUN(test_noreturn_names);
    RUN(test_program);
    RUN(test_debug_entries);
    RUN(test_stripped);
    RUN(test_exceptions);
    scratch_remove();
    return tap_done();
}
