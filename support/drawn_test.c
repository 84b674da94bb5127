/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths, names and merged tables: random cases, compared with naive implementations of their documentation.
 */
#include "config.h"
#include "support/demangle.h"
#include "support/support.h"
#include "support/table.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <wchar.h>

static uint64_t state = 20011;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* ---- paths ---- */

/* Its parts one by one: "." and empty ones go, ".." takes the one before it along. */
static void normal_by_parts(const char *path, char *out)
{
    char parts[16][8];
    size_t n = 0;
    for (const char *at = path; *at; at += *at == '/') {
        size_t length = strcspn(at, "/");
        snprintf(parts[n], sizeof parts[n], "%.*s", (int)length, at);
        at += length;
        if (strcmp(parts[n], "..") == 0 && (n ? strcmp(parts[n - 1], "..") != 0 : path[0] == '/'))
            n -= n > 0;
        else if (strcmp(parts[n], "") != 0 && strcmp(parts[n], ".") != 0)
            n++;
    }
    strcpy(out, path[0] == '/' ? "/" : n ? "" : ".");
    for (size_t i = 0; i < n; i++)
        strcat(strcat(out, i ? "/" : ""), parts[i]);
}

static void draw_path(char *out)
{
    static const char *const pieces[] = {"a", "bc", ".", "..", "..", "...", ".d", ""};
    strcpy(out, draw(3) ? "" : "/");
    for (unsigned n = draw(7); n > 0; n--)
        strcat(strcat(out, pieces[draw(ARRAY_SIZE(pieces))]), n > 1 || draw(3) == 0 ? "/" : "");
}

/* Only n bytes are read: memory ends after them. */
static size_t shared_of(const char *path, const char *other, size_t n)
{
    static struct guarded_room rooms[2];
    return path_common_folder(guarded_copy(&rooms[0], path, n), guarded_copy(&rooms[1], other, n), n);
}

/* The bytes after the end of a path do not belong to it: they are filled beforehand and must be ignored. */
static void test_paths(void)
{
    char path[64], other[64], want[64];
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20000 && !wrong; i++) {
        for (size_t k = 0; k < sizeof path; k++)
            path[k] = (k + i) % 2 ? '/' : 'z';
        path[sizeof path - 1] = '\0';
        draw_path(path);
        normal_by_parts(path, want);
        char *got = path_normal(path);
        if (strcmp(got, want) != 0)
            wrong += !!printf("# %s is %s, and not %s\n", path, got, want);
        mem_free(got);
        draw_path(other);
        size_t n = draw((unsigned)(strlen(path) < strlen(other) ? strlen(path) : strlen(other)) + 1), shared = n;
        while (shared > 0 && (path[shared - 1] != '/' || strncmp(path, other, shared) != 0))
            shared--;
        if (shared_of(path, other, n) != shared)
            wrong += !!printf("# %s and %s share %zu of %zu\n", path, other, shared, n);
    }
    CHECK_NAMED(wrong == 0, "paths, drawn by chance");
}

/* ---- texts ---- */

/* The bytes of a character and their number; 0: not a character. */
static size_t encode(uint32_t c, uint8_t *out)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
    out[0] = (uint8_t)(heads[n] | c);
    return n;
}

/* Decodes n bytes as a character; it is valid if encoding gives the same bytes. */
static size_t plain_utf8(const uint8_t *p, size_t n)
{
    static const uint32_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    for (size_t length = 1; length <= n && length <= 4; length++) {
        uint8_t again[4];
        uint32_t c = p[0] & masks[length];
        for (size_t i = 1; i < length; i++)
            c = c << 6 | (p[i] & 0x3f);
        if (encode(c, again) == length && memcmp(p, again, length) == 0)
            return length;
    }
    return 0;
}

static void test_utf8(void)
{
    static const uint8_t edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
                                    0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    static struct guarded_room room;
    unsigned wrong = 0;
    for (unsigned i = 0; i < 100000 && !wrong; i++) {
        uint8_t bytes[4] = {0};
        size_t n = draw(5);
        for (size_t k = 0; k < n; k++) /* mostly valid bytes after the first */
            bytes[k] = k && draw(4) ? (uint8_t)(0x80 | draw(0x40)) : edges[draw(ARRAY_SIZE(edges))];
        if (utf8_length(guarded_copy(&room, bytes, n), n) != plain_utf8(bytes, n))
            wrong += !!printf("# %02x %02x %02x %02x, %zu of these\n", bytes[0], bytes[1], bytes[2], bytes[3], n);
    }
    CHECK_NAMED(wrong == 0, "characters, drawn by chance");
}

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Edit distance (replacements, insertions, deletions), by trying all steps. */
static unsigned steps_between(const char *a, const char *b)
{
    if (!*a || !*b)
        return (unsigned)(strlen(a) + strlen(b));
    if (small_letter(*a) == small_letter(*b))
        return steps_between(a + 1, b + 1);
    unsigned change = steps_between(a + 1, b + 1), less = steps_between(a + 1, b), more = steps_between(a, b + 1);
    unsigned best = change < less ? change : less;
    return 1 + (best < more ? best : more);
}

static void draw_word(char *out, unsigned longest)
{
    static const char letters[] = "aAbBzZ@`[{";
    unsigned n = draw(longest + 1);
    for (unsigned i = 0; i < n; i++)
        out[i] = letters[draw(sizeof letters - 1)];
    out[n] = '\0';
}

static void test_nearest(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < 3000 && !wrong; i++) {
        char word[8], words[3][8];
        const char *names[] = {words[0], words[1], words[2], NULL}, *want = NULL;
        draw_word(word, 6);
        names[draw(4)] = NULL;
        unsigned best = (unsigned)strlen(word) / 3 + 2; /* it has to be nearer */
        for (size_t k = 0; k < 3; k++)
            draw_word(words[k], 6);
        for (size_t k = 0; names[k]; k++) {
            unsigned steps = steps_between(word, names[k]);
            if (steps < best) {
                best = steps;
                want = names[k];
            }
        }
        if (str_nearest(word, names) != want)
            wrong += !!printf("# %s of %s, %s, %s\n", word, words[0], words[1], words[2]);
    }
    CHECK_NAMED(wrong == 0, "words that are near, drawn by chance");
}

/* Ids come in the order of first sight, one for each text. */
static void test_interned(void)
{
    enum { TEXTS = 4000 };
    static char texts[TEXTS][8];
    struct strtab *t = strtab_create();
    size_t count = 1, wrong = 0;
    for (unsigned i = 0; i < TEXTS && !wrong; i++) {
        char text[8];
        draw_word(text, draw(8) ? 3 : 6);
        size_t id = 0;
        while (id < count && strcmp(texts[id], text) != 0)
            id++;
        if (id == count)
            strcpy(texts[count++], text);
        str_id got = draw(2) ? strtab_add(t, text) : strtab_printf(t, "%s", text);
        wrong += got != id || strtab_count(t) != count || strcmp(strtab_get(t, got), text) != 0;
        wrong += strtab_get(t, (str_id)count)[0] != '\0';
    }
    for (size_t id = 0; id < count; id++)
        wrong += strcmp(strtab_get(t, (str_id)id), texts[id]) != 0;
    CHECK_INT(wrong, 0);
    CHECK_NAMED(strtab_printf(t, "%lc", (wint_t)0x20ac) == 0, "what cannot be written in \"C\" is no text");
    strtab_free(t);
}

/* Sixteen bytes each, all with the same hash: the second half cancels the first (see hash_bytes). */
static void test_one_hash(void)
{
    enum { TEXTS = 5 };
    const uint64_t step = 0x9e3779b97f4a7c15u, seed = 16 * step;
    uint64_t texts[TEXTS][2];
    struct strtab *t = strtab_create();
    for (uint64_t i = 0; i < TEXTS; i++) {
        texts[i][0] = i;
        texts[i][1] = (hash_mix(seed ^ i) + step) ^ 7;
        CHECK(hash_bytes(texts[i], 16, 0) == hash_bytes(texts[0], 16, 0));
    }
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < TEXTS; i++)
            CHECK_INT(strtab_addn(t, (const char *)texts[i], 16), i + 1);
    for (unsigned i = 0; i < TEXTS; i++)
        CHECK(memcmp(strtab_get(t, i + 1), texts[i], 16) == 0);
    strtab_free(t);
}

/* ---- names ---- */

static void put_type(struct buf *out, unsigned depth)
{
    static const char *const plain[] = {"int", "char*", "unsigned long const&", "a::b", "(anonymous namespace)::c"};
    unsigned which = draw(depth < 2 ? 8 : 5);
    if (which < ARRAY_SIZE(plain))
        buf_str(out, plain[which]);
    else if (which == 7)
        buf_str(out, "decltype (f()(1))");
    else {
        buf_str(out, which == 5 ? "std::vector<" : "std::map<int, ");
        put_type(out, depth + 1);
        buf_str(out, which == 5 ? ">" : " >");
    }
}

static void put_types(struct buf *out, const char *open, const char *close)
{
    buf_str(out, open);
    for (unsigned i = draw(3); i > 0; i--) {
        put_type(out, 0);
        buf_str(out, i > 1 ? ", " : "");
    }
    buf_str(out, close);
}

/* A full C++ function name, and the short one without type, parameters and suffixes. */
static void draw_name(struct buf *full, struct buf *brief)
{
    static const char *const scopes[] = {
        "ns", "(anonymous namespace)", "S<int, a::b>", "f(int, char*)", "{lambda(int)#2}", "operators"};
    static const char *const names[] = {
        "f",           "~S",          "operator()",      "operator<<",   "operator->",
        "operator->*", "operator,",   "operator[]",      "operator new", "operator unsigned int",
        "operator<=>", "my_operator", "operator\"\" _km"};
    struct buf name = {0};
    for (unsigned i = draw(4); i > 0; i--)
        buf_printf(&name, "%s::", scopes[draw(ARRAY_SIZE(scopes))]);
    unsigned which = draw(ARRAY_SIZE(names));
    bool is_template = which == 0 && draw(2);
    buf_str(&name, names[which]);
    if (is_template)
        put_types(&name, "<", ">");
    if (which == 3 && draw(2)) {
        put_types(&name, " <", ">");
        is_template = true;
    }
    if (is_template && draw(2)) {
        put_type(full, 0);
        buf_char(full, ' ');
    }
    buf_add(full, name.bytes, name.len);
    put_types(full, "(", ")");
    buf_str(full, draw(4) ? "" : " const");
    const char *clone = draw(4) ? "" : " [clone .part.0] [clone .cold]";
    buf_str(full, clone);
    buf_add(brief, name.bytes, name.len);
    buf_str(brief, clone);
    buf_release(&name);
}

static void test_names(void)
{
    struct arena *a = arena_create();
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20000 && !wrong; i++) {
        struct buf full = {0}, brief = {0};
        draw_name(&full, &brief);
        buf_char(&full, '\0');
        buf_char(&brief, '\0');
        const char *got = demangle_short(a, full.bytes);
        if (strcmp(got, brief.bytes) != 0)
            wrong += !!printf("# %s\n# got    %s\n# wanted %s\n", full.bytes, got, brief.bytes);
        buf_release(&full);
        buf_release(&brief);
    }
    CHECK_NAMED(wrong == 0, "names, drawn by chance");
    arena_free(a);
}

/* "operator" inside a longer name is not an operator; the following signs are brackets then. */
static void test_names_that_go_on(void)
{
    static const char *const inside[] = {"a", "m", "z", "A", "M", "Z", "0", "5", "9", "_", "$"}, *const others =
                                                                                                     "`@/:~.";
    struct arena *a = arena_create();
    char full[40], want[40];
    for (size_t i = 0; i < ARRAY_SIZE(inside); i++) {
        snprintf(full, sizeof full, "int %soperator<a, b>(int)", inside[i]);
        snprintf(want, sizeof want, "%soperator<a, b>", inside[i]);
        CHECK_STR(demangle_short(a, full), want);
    }
    for (const char *c = others; *c; c++) {
        snprintf(full, sizeof full, "%coperator<<(int)", *c);
        snprintf(want, sizeof want, "%coperator<<", *c);
        CHECK_STR(demangle_short(a, full), want);
    }
    arena_free(a);
}

/* Text that resembles parameters or the end of a bracket; a plain name is unchanged. */
static void test_names_by_hand(void)
{
    static const char *const cases[][2] = {
        {"void (*f<int>())(char)", "void (*f<int>())(char)"},
        {"void (&ns::f<int>())(char)", "void (&ns::f<int>())(char)"},
        {"void (A::*f<int>())(char)", "void (A::*f<int>())(char)"},
        {"int (&f<int>()) [3]", "int (&f<int>()) [3]"},
        {"int (*f)", "int (*f)"},
        {"p.(*T).f", "p.(*T).f"},
        {"p.(&T).f", "p.(&T).f"},
        {"a::(anonymous namespace)", "a::(anonymous namespace)"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"},
        {"f(int):x", "f"},
        {"f(int)::x", "f(int)::x"},
        {"f<(x->y), int>(int)", "f<(x->y), int>"},
        {"f(int", "f(int"},
        {"", ""},
    };
    struct arena *a = arena_create();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        CHECK_STR(demangle_short(a, cases[i][0]), cases[i][1]);
    arena_free(a);
}

/* "xoperator<(int)" is a name in which a bracket is never closed; "~operator<(int)" is an operator with one. */
static void test_letters_of_names(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$",
                      others[] = "~.,*&:@`/;^-+!";
    struct arena *a = arena_create();
    char full[] = "?operator<(int)", want[] = "?operator<";
    for (const char *c = letters; *c; c++) {
        full[0] = *c;
        CHECK_STR(demangle_short(a, full), full);
    }
    for (const char *c = others; *c; c++) {
        full[0] = want[0] = *c;
        CHECK_STR(demangle_short(a, full), want);
    }
    arena_free(a);
}

/* As linkers have them. A name that would grow without bound, each of its types being two of the one before, stays as it is. */
static void test_mangled(void)
{
#ifdef HAVE_IBERTY
    static const char *const names[][2] = {
        {"_ZN4heat5solveEi@plt", "heat::solve(int)@plt"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_ZN4core3fmt18h0123456789abcdefgE", "core::fmt::h0123456789abcdefg"},
        {"_ZN4core3fmt17h0123456789abcdegE", "core::fmt::h0123456789abcdeg"}, /* not a hash of Rust's: C++ */
        {"_RNvC5crate4main", "crate::main"},
        {"_RNvwrong", "_RNvwrong"},
        {"_Zwrong", "_Zwrong"},
        {"_main", "_main"},
        {"xZ1fv", "xZ1fv"},
        {"_Z1fv", "f()"},
    };
    struct arena *a = arena_create();
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        CHECK_STR(demangle_full(a, names[i][0]), names[i][1]);
    struct buf grown = {0};
    buf_str(&grown, "_Z1fSt4pairIiiE");
    for (unsigned i = 0; i < 30; i++) {
        char id[] = {i < 10 ? (char)('0' + i) : (char)('A' + i - 10), '\0'};
        buf_printf(&grown, "S_IS%s_S%s_E", id, id);
    }
    buf_char(&grown, '\0');
    CHECK_STR(demangle_full(a, grown.bytes), grown.bytes);
    buf_release(&grown);
    arena_free(a);
#else
    SKIP("mangled names", "built without libiberty");
#endif
}

/* ---- tables ---- */

enum { TABLES = 5, ROWS = 400, TEXT = 160 };

/* Tables that refer to those of lower numbers, to themselves or to contexts, declared in any order. */
struct shape {
    char names[TABLES][4];
    struct table_column columns[TABLES][5];
    unsigned refers[TABLES], order[TABLES]; /* refers: TABLES: contexts */
};

/* A row's keys, independent of row numbers, and its values. */
struct said {
    char text[TEXT];
    uint64_t sum, least, last;
};

static void draw_shape(struct shape *s)
{
    for (unsigned i = 0; i < TABLES; i++) {
        snprintf(s->names[i], sizeof s->names[i], "t%u", i);
        s->refers[i] = draw(4) ? draw(i + 1) : TABLES;
        s->columns[i][0] = (struct table_column){.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY};
        s->columns[i][1] = (struct table_column){.name = "of", .type = TABLE_REF, .merge = TABLE_KEY};
        s->columns[i][1].refers = s->refers[i] == TABLES ? "context" : s->names[s->refers[i]];
        s->columns[i][2] = (struct table_column){.name = "sum", .type = TABLE_COUNT, .merge = TABLE_SUM};
        s->columns[i][3] = (struct table_column){.name = "least", .type = TABLE_COUNT, .merge = TABLE_MIN};
        s->columns[i][4] = (struct table_column){.name = "last", .type = TABLE_COUNT, .merge = TABLE_LAST};
        unsigned at = draw(i + 1);
        s->order[i] = s->order[at];
        s->order[at] = i;
    }
}

static struct said *find_said(struct said *all, size_t *n, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(all[i].text, text) == 0)
            return &all[i];
    all[*n] = (struct said){.least = UINT64_MAX};
    strcpy(all[*n].text, text);
    return &all[(*n)++];
}

static struct table *declared(const struct shape *s, unsigned i, struct table_list *l, struct strtab *strings)
{
    struct table_decl decl = {s->names[i], NULL, NULL, s->columns[i], 5};
    struct table *t = NULL;
    return table_list_declare(l, &decl, strings, &t, NULL) == 0 ? t : NULL;
}

/* Random rows, also added to the expected result: contexts are identified by `contexts`. */
static void draw_rows(const struct shape *s, struct table_list *l, struct strtab *strings, const uint32_t *contexts,
                      struct said wanted[TABLES][ROWS], size_t *counts)
{
    static char texts[TABLES][ROWS][TEXT];
    struct table *tables[TABLES];
    for (unsigned i = 0; i < TABLES; i++)
        tables[s->order[i]] = declared(s, s->order[i], l, strings);
    for (unsigned i = 0; i < TABLES; i++)
        for (unsigned n = draw(30); n > 0; n--) {
            unsigned refers = s->refers[i], there = refers == TABLES ? 4 : (unsigned)table_row_count(tables[refers]);
            uint32_t of = there && draw(6) ? draw(there) : TABLE_NONE;
            char name[] = {(char)('a' + draw(4)), '\0'}, text[TEXT], within[TEXT] = "-";
            if (of != TABLE_NONE && refers < TABLES)
                strcpy(within, texts[refers][of]);
            else if (of != TABLE_NONE && contexts[of] != TABLE_NONE)
                snprintf(within, sizeof within, "%u", contexts[of]);
            if (snprintf(text, sizeof text, "%s(%.*s)", name, TEXT - 8, within) >= TEXT - 8)
                continue;
            uint64_t value = draw(9);
            uint32_t row = table_add(tables[i], (union table_cell[]){{.text = strtab_add(strings, name)},
                                                                     {.row = of},
                                                                     {.count = value},
                                                                     {.count = value},
                                                                     {.count = value}});
            strcpy(texts[i][row], text);
            find_said(wanted[i], &counts[i], text)->sum += value;
        }
    for (unsigned i = 0; i < TABLES; i++) /* values of each row as stored in its document, merged there */
        for (size_t row = 0; row < table_row_count(tables[i]); row++) {
            const union table_cell *cells = table_row(tables[i], row);
            struct said *w = find_said(wanted[i], &counts[i], texts[i][row]);
            w->least = cells[3].count < w->least ? cells[3].count : w->least;
            w->last = cells[4].count;
        }
}

static void say(const struct shape *s, const struct table_list *l, const struct strtab *strings, unsigned i,
                uint32_t row, char *out)
{
    const union table_cell *cells = table_row(table_list_find(l, s->names[i]), row);
    char within[TEXT] = "-";
    if (cells[1].row != TABLE_NONE && s->refers[i] < TABLES)
        say(s, l, strings, s->refers[i], cells[1].row, within);
    else if (cells[1].row != TABLE_NONE)
        snprintf(within, sizeof within, "%u", cells[1].row);
    snprintf(out, TEXT, "%s(%.*s)", strtab_get(strings, cells[0].text), TEXT - 8, within);
}

/* Number of rows that are unexpected, duplicate, or have wrong values. */
static unsigned wrong_rows(const struct shape *s, const struct table_list *l, const struct strtab *strings, unsigned i,
                           struct said *wanted, size_t count)
{
    const struct table *t = table_list_find(l, s->names[i]);
    unsigned wrong = table_row_count(t) != count;
    for (uint32_t row = 0; row < table_row_count(t); row++) {
        char text[TEXT];
        size_t n = count;
        const union table_cell *cells = table_row(t, row);
        say(s, l, strings, i, row, text);
        const struct said *w = find_said(wanted, &n, text);
        wrong += n > count || w->sum != cells[2].count || w->least != cells[3].count || w->last != cells[4].count;
    }
    return wrong;
}

static bool in_order(const struct table *t, const struct strtab *strings)
{
    for (size_t row = 1; row < table_row_count(t); row++) {
        const union table_cell *a = table_row(t, row - 1), *b = table_row(t, row);
        int names = strcmp(strtab_get(strings, a[0].text), strtab_get(strings, b[0].text));
        if (names > 0 || (names == 0 && a[1].row > b[1].row))
            return false;
    }
    return true;
}

/* Two documents are merged: every row of both is present once, with its keys and the values of both. */
static void test_merged(void)
{
    static struct said wanted[TABLES][ROWS];
    unsigned wrong = 0;
    for (unsigned round = 0; round < 200 && !wrong; round++) {
        struct shape s = {0};
        struct strtab *strings = strtab_create();
        struct table_list all = {0};
        size_t counts[TABLES] = {0};
        draw_shape(&s);
        for (unsigned document = 0; document < 2; document++) {
            struct strtab *its_strings = strtab_create();
            struct table_list its = {0};
            uint32_t contexts[4];
            for (unsigned i = 0; i < 4; i++)
                contexts[i] = draw(5) ? 10 + draw(3) : TABLE_NONE;
            draw_rows(&s, &its, its_strings, contexts, wanted, counts);
            const struct table_mapping mapping = {"context", "context", contexts, 4};
            wrong += table_list_merge(&all, strings, &its, &mapping, 1, NULL) != 0;
            table_list_release(&its);
            strtab_free(its_strings);
        }
        for (unsigned i = 0; i < TABLES; i++)
            wrong += wrong_rows(&s, &all, strings, i, wanted[i], counts[i]);
        table_list_sort(&all);
        for (unsigned i = 0; i < TABLES; i++)
            wrong += wrong_rows(&s, &all, strings, i, wanted[i], counts[i]) +
                     (s.refers[i] != i && !in_order(table_list_find(&all, s.names[i]), strings));
        table_list_release(&all);
        strtab_free(strings);
    }
    CHECK_NAMED(wrong == 0, "merged tables, drawn by chance");
}

int main(void)
{
    RUN(test_paths);
    RUN(test_utf8);
    RUN(test_nearest);
    RUN(test_interned);
    RUN(test_one_hash);
    RUN(test_names);
    RUN(test_names_that_go_on);
    RUN(test_names_by_hand);
    RUN(test_letters_of_names);
    RUN(test_mangled);
    RUN(test_merged);
    return tap_done();
}
