/* SPDX-License-Identifier: BSD-3-Clause */
/* The scope tree: look-up, checks, and that both text forms give back what was written. */
#include "bloop/scope/scope_int.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 *   a.out / src/heat.f90
 *     solve          40-71  [0x1000-0x1100) [0x2000-0x2010)
 *       stmt 40             [0x1000-0x1008)
 *       loop 52-60          [0x1010-0x1050)
 *         dot, called at 54
 *           loop 12-14 vector 1/2 [0x1020-0x1030)
 *             stmt 13             [0x1020-0x1028)
 *           loop 12-14 remainder 2/2 [0x1030-0x1040)
 *             stmt 13                [0x1030-0x1038)
 *         stmt 52           [0x1040-0x1048)
 */
static struct scope_tree *example(void)
{
    struct scope_tree *t = scope_tree_create();
    struct scope_builder b = {.tree = t};
    struct strtab *st = t->strings;
    str_id heat = strtab_add(st, "src/heat.f90"), blas = strtab_add(st, "src/b<l>as.f90");
    struct scope *s = scope_builder_begin(&b, SCOPE_MODULE);
    s->name = strtab_add(st, "a.out");
    s = scope_builder_begin(&b, SCOPE_FILE);
    s->name = s->file = heat;
    s = scope_builder_begin(&b, SCOPE_PROC);
    *s = (struct scope){.kind = SCOPE_PROC,
                        .parent = s->parent,
                        .range_first = s->range_first,
                        .file = heat,
                        .line_first = 40,
                        .line_last = 71,
                        .entry = 0x1000};
    s->name = strtab_add(st, "heat::solve(int, double&)");
    s->short_name = strtab_add(st, "heat::solve");
    s->link_name = strtab_add(st, "_ZN4heat5solveEiRd");
    s->origin = strtab_add(st, "heat::advance");
    s->outlined = true;
    scope_builder_range(&b, 0x1000, 0x1100);
    scope_builder_range(&b, 0x2000, 0x2010);
    s = scope_builder_begin(&b, SCOPE_STMT);
    s->file = heat, s->line_first = s->line_last = 40;
    scope_builder_range(&b, 0x1000, 0x1008);
    scope_builder_end(&b);
    s = scope_builder_begin(&b, SCOPE_LOOP);
    s->file = heat, s->line_first = 52, s->line_last = 60, s->entry = 0x1010, s->irreducible = true;
    scope_builder_range(&b, 0x1010, 0x1050);
    s = scope_builder_begin(&b, SCOPE_INLINE);
    s->name = s->short_name = strtab_add(st, "dot \"<&");
    s->call_file = heat, s->call_line = 54, s->file = blas, s->line_first = 10, s->line_last = 14;
    for (uint32_t k = 0; k < 2; k++) {
        s = scope_builder_begin(&b, SCOPE_LOOP);
        s->file = blas, s->line_first = 12, s->line_last = 14, s->entry = 0x1020 + 0x10 * k;
        s->role = k ? LOOP_REMAINDER : LOOP_VECTOR, s->instance = k + 1, s->instances = 2;
        s->on_line = 3 * k;
        scope_builder_range(&b, 0x1020 + 0x10 * k, 0x1030 + 0x10 * k);
        s = scope_builder_begin(&b, SCOPE_STMT);
        s->file = blas, s->line_first = s->line_last = 13;
        scope_builder_range(&b, 0x1020 + 0x10 * k, 0x1028 + 0x10 * k);
        scope_builder_end(&b);
        scope_builder_end(&b);
    }
    scope_builder_end(&b);
    s = scope_builder_begin(&b, SCOPE_STMT);
    s->file = heat, s->line_first = s->line_last = 52;
    scope_builder_range(&b, 0x1040, 0x1048);
    scope_builder_release(&b);
    return t;
}

static void test_find(void)
{
    static const struct {
        vaddr addr;
        int kind, line;
    } cases[] = {
        {0xfff, -1, 0},           {0x1000, SCOPE_STMT, 40}, {0x1007, SCOPE_STMT, 40}, {0x1008, SCOPE_PROC, 40},
        {0x1010, SCOPE_LOOP, 52}, {0x1020, SCOPE_STMT, 13}, {0x1028, SCOPE_LOOP, 12}, {0x1037, SCOPE_STMT, 13},
        {0x103f, SCOPE_LOOP, 12}, {0x1040, SCOPE_STMT, 52}, {0x104f, SCOPE_LOOP, 52}, {0x1050, SCOPE_PROC, 40},
        {0x10ff, SCOPE_PROC, 40}, {0x1100, -1, 0},          {0x2000, SCOPE_PROC, 40}, {0x2010, -1, 0},
        {UINT64_MAX, -1, 0},
    };
    struct scope_tree *t = example(), *empty = scope_tree_create();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        scope_ix at = scope_tree_find(t, cases[i].addr);
        char name[32];
        snprintf(name, sizeof name, "find 0x%llx", (unsigned long long)cases[i].addr);
        bool ok = cases[i].kind < 0 ? at == SCOPE_NONE
                                    : at != SCOPE_NONE && t->scopes[at].kind == cases[i].kind &&
                                          (int)t->scopes[at].line_first == cases[i].line;
        CHECK_NAMED(ok, name);
    }
    CHECK(scope_tree_find(empty, 0) == SCOPE_NONE);
    scope_tree_free(empty);
    scope_tree_free(t);
}

/* The loop that begins at 0x1030 is scope 8, its statement 9; see example(). */
static void test_check(void)
{
    static const struct {
        const char *name, *want;
        size_t scope;
        size_t offset;
        uint32_t value;
    } cases[] = {
        {"parent behind", "scope 4 (LOOP): its parent does not come before it", 4, offsetof(struct scope, parent), 5},
        {"statement under statement", "scope 4 (LOOP): not allowed under its parent", 4, offsetof(struct scope, parent),
         3},
        {"lines reversed", "scope 4 (LOOP): its last line comes before its first", 4, offsetof(struct scope, line_last),
         51},
        {"instance 3 of 2", "scope 8 (LOOP): its instance number is outside 1 to instances", 8,
         offsetof(struct scope, instance), 3},
        {"string id", "scope 2 (PROC): a string id is outside the string table", 2, offsetof(struct scope, origin),
         1000},
        {"range pool", "scope 9 (STMT): its ranges lie outside the pool", 9, offsetof(struct scope, range_first), 1000},
        {"overlap", "scope 9 (STMT): its addresses also belong to another statement", 9,
         offsetof(struct scope, range_first), 5},
        {"range pool, one beyond", "scope 10 (STMT): its ranges lie outside the pool", 10,
         offsetof(struct scope, range_count), 2},
        {"a kind that is none", "scope 4 (?): no such kind", 4, offsetof(struct scope, kind), 6},
        {"first string id beyond", "scope 0 (MODULE): a string id is outside the string table", 0,
         offsetof(struct scope, name), 1000},
        {"instance 0", "scope 8 (LOOP): its instance number is outside 1 to instances", 8,
         offsetof(struct scope, instance), 0},
        {"not in document order", "scope 6 (LOOP): it does not follow its parent in document order", 5,
         offsetof(struct scope, parent), 2},
    };
    struct scope_tree *t = example();
    struct err err = {0};
    CHECK(scope_tree_check(t, &err) == 0);
    scope_tree_free(t);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        t = example();
        memcpy((char *)&t->scopes[cases[i].scope] + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        if (i == ARRAY_SIZE(cases) - 1)
            t->scopes[6].parent = 4;
        err.msg[0] = '\0';
        CHECK_NAMED(scope_tree_check(t, &err) < 0, cases[i].name);
        CHECK_STR(err.msg, cases[i].want);
        scope_tree_free(t);
    }
}

/* Ranges, and the order of siblings, changed in the pool: see example(). */
static void test_check_ranges(void)
{
    static const struct {
        const char *name, *want;
        size_t range;
        struct addr_range value;
    } cases[] = {
        {"empty", "scope 2 (PROC): a range is empty or ends before it begins", 0, {0x1000, 0x1000}},
        {"reversed", "scope 2 (PROC): a range is empty or ends before it begins", 1, {0x2010, 0x2000}},
        {"overlapping", "scope 2 (PROC): its ranges overlap or are not in order", 1, {0x10ff, 0x2010}},
        {"side by side", "", 1, {0x1100, 0x2010}},
        {"one statement's end in the next",
         "scope 7 (STMT): its addresses also belong to another statement",
         2,
         {0x1000, 0x1021}},
        {"one statement's end at the next", "", 2, {0x1000, 0x1020}},
        {"after one of higher addresses",
         "scope 10 (STMT): it comes after a scope of higher addresses",
         8,
         {0x1008, 0x1010}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scope_tree *t = example();
        struct err err = {0};
        t->ranges[cases[i].range] = cases[i].value;
        CHECK_INT(scope_tree_check(t, &err), *cases[i].want ? -1 : 0);
        if (!tap_result(strcmp(err.msg, cases[i].want) == 0, cases[i].name, __FILE__, __LINE__))
            printf("# got %s\n", err.msg);
        scope_tree_free(t);
    }
}

static char *write_to(struct scope_tree *t, enum scope_format format, const char *path)
{
    struct outfile *out;
    struct err err = {0};
    struct filemap map;
    bool created = outfile_create(path, &out, &err) == 0;
    if (created)
        scope_tree_write(t, format, out);
    if (!created || outfile_commit(out, &err) < 0 || filemap_open(&map, path, &err) < 0) {
        printf("# %s\n", err.msg);
        return mem_strdup("");
    }
    char *text = mem_strndup((const char *)map.bytes, map.len);
    filemap_release(&map);
    return text;
}

static void test_round_trip(enum scope_format format, const char *folder)
{
    char *path = mem_printf("%s/tree", folder);
    struct scope_tree *t = example(), *back = NULL;
    struct warnings *warnings = warnings_create();
    struct err err = {0};
    char *first = write_to(t, format, path);
    CHECK_NAMED(scope_tree_read(path, &back, warnings, &err) == 0,
                format == SCOPE_XML ? "XML is read" : "hpcstruct is read");
    if (!back)
        printf("# %s\n", err.msg);
    if (back) {
        CHECK_INT(warnings_count(warnings), 0);
        char *second = write_to(back, format, path);
        CHECK_STR(second, first);
        CHECK_INT(back->scope_count, format == SCOPE_XML ? t->scope_count : back->scope_count);
        bool equal = format != SCOPE_XML || back->scope_count == t->scope_count;
        for (size_t i = 0; format == SCOPE_XML && equal && i < t->scope_count; i++) {
            struct scope a = t->scopes[i], b = back->scopes[i];
            str_id *ai[] = {&a.name, &a.short_name, &a.link_name, &a.origin, &a.file, &a.call_file};
            str_id *bi[] = {&b.name, &b.short_name, &b.link_name, &b.origin, &b.file, &b.call_file};
            for (size_t k = 0; k < ARRAY_SIZE(ai); k++)
                equal = equal && strcmp(strtab_get(t->strings, *ai[k]), strtab_get(back->strings, *bi[k])) == 0;
            equal = equal && a.kind == b.kind && a.role == b.role && a.irreducible == b.irreducible &&
                    a.outlined == b.outlined && a.parent == b.parent && a.line_first == b.line_first &&
                    a.line_last == b.line_last && a.entry == b.entry && a.range_count == b.range_count &&
                    a.instance == b.instance && a.instances == b.instances && a.on_line == b.on_line &&
                    a.call_line == b.call_line;
        }
        CHECK_NAMED(equal, "all fields come back");
        mem_free(second);
        scope_tree_free(back);
    }
    unlink(path);
    mem_free(first);
    mem_free(path);
    warnings_free(warnings);
    scope_tree_free(t);
}

static void test_outline(const char *folder)
{
    char *path = mem_printf("%s/outline", folder);
    struct scope_tree *t = example();
    char *text = write_to(t, SCOPE_OUTLINE, path);
    CHECK_STR(text, "a.out\n"
                    "  src/heat.f90\n"
                    "    heat::solve(int, double&)  40-71  outlined from heat::advance  [0x1000-0x2010) in 2 pieces\n"
                    "      irreducible loop  52-60  [0x1010-0x1050)\n"
                    "        inlined dot \"<&, called at 54 in src/b<l>as.f90\n"
                    "          loop  12-14  vector  1 of 2  [0x1020-0x1030)\n"
                    "          loop  12-14  loop 3 of its line  remainder  2 of 2  [0x1030-0x1040)\n");
    unlink(path);
    mem_free(text);
    mem_free(path);
    scope_tree_free(t);
}

/* Both forms, compared verbatim: a wrongly written file might be read back as the same tree. */
static void test_written(const char *folder)
{
    char *path = mem_printf("%s/written", folder);
    struct scope_tree *t = example();
    char *xml = write_to(t, SCOPE_XML, path), *hpcstruct = write_to(t, SCOPE_HPCSTRUCT, path);
    CHECK_STR(strstr(xml, "<LM"),
              "<LM n=\"a.out\">\n"
              "  <F n=\"src/heat.f90\">\n"
              "   <P n=\"heat::solve(int, double&amp;)\" sn=\"heat::solve\" ln=\"_ZN4heat5solveEiRd\" "
              "of=\"heat::advance\" k=\"outlined\" b=\"40\" e=\"71\" a=\"1000\" v=\"1000-1100 2000-2010\">\n"
              "    <S b=\"40\" v=\"1000-1008\"/>\n"
              "    <L b=\"52\" e=\"60\" k=\"irreducible\" a=\"1010\" v=\"1010-1050\">\n"
              "     <A n=\"dot &quot;&lt;&amp;\" cb=\"54\" f=\"src/b&lt;l&gt;as.f90\" b=\"10\" e=\"14\">\n"
              "      <L b=\"12\" e=\"14\" r=\"vector\" i=\"1/2\" a=\"1020\" v=\"1020-1030\">\n"
              "       <S b=\"13\" v=\"1020-1028\"/>\n"
              "      </L>\n"
              "      <L b=\"12\" e=\"14\" r=\"remainder\" i=\"2/2\" o=\"3\" a=\"1030\" v=\"1030-1040\">\n"
              "       <S b=\"13\" v=\"1030-1038\"/>\n"
              "      </L>\n"
              "     </A>\n"
              "     <S b=\"52\" v=\"1040-1048\"/>\n"
              "    </L>\n"
              "   </P>\n"
              "  </F>\n"
              " </LM>\n"
              "</PGM>\n");
    CHECK_STR(strstr(hpcstruct, "<LM"),
              "<LM i=\"2\" n=\"a.out\" has-calls=\"0\" v=\"{}\">\n"
              "  <F i=\"3\" n=\"src/heat.f90\">\n"
              "   <P i=\"4\" n=\"heat::solve(int, double&amp;)\" ln=\"_ZN4heat5solveEiRd\" l=\"40\" "
              "v=\"{[0x1000-0x1001)}\">\n"
              "    <S i=\"5\" l=\"0\" v=\"{[0x1008-0x1010) [0x1050-0x1100) [0x2000-0x2010)}\"/>\n"
              "    <S i=\"6\" l=\"40\" v=\"{[0x1000-0x1008)}\"/>\n"
              "    <L i=\"7\" l=\"52\" f=\"src/heat.f90\" v=\"{[0x1010-0x1011)}\">\n"
              "     <S i=\"8\" l=\"0\" v=\"{[0x1010-0x1020) [0x1048-0x1050)}\"/>\n"
              "     <A i=\"9\" f=\"src/heat.f90\" n=\"\" l=\"54\" v=\"{}\">\n"
              "      <A i=\"10\" f=\"src/b&lt;l&gt;as.f90\" n=\"dot &quot;&lt;&amp;\" l=\"10\" v=\"{}\">\n"
              "       <L i=\"11\" l=\"12\" f=\"src/b&lt;l&gt;as.f90\" v=\"{[0x1020-0x1021)}\">\n"
              "        <S i=\"12\" l=\"0\" v=\"{[0x1028-0x1030)}\"/>\n"
              "        <S i=\"13\" l=\"13\" v=\"{[0x1020-0x1028)}\"/>\n"
              "       </L>\n"
              "       <L i=\"14\" l=\"12\" f=\"src/b&lt;l&gt;as.f90\" v=\"{[0x1030-0x1031)}\">\n"
              "        <S i=\"15\" l=\"0\" v=\"{[0x1038-0x1040)}\"/>\n"
              "        <S i=\"16\" l=\"13\" v=\"{[0x1030-0x1038)}\"/>\n"
              "       </L>\n"
              "      </A>\n"
              "     </A>\n"
              "     <S i=\"17\" l=\"52\" v=\"{[0x1040-0x1048)}\"/>\n"
              "    </L>\n"
              "   </P>\n"
              "  </F>\n"
              " </LM>\n"
              "</HPCToolkitStructure>\n");
    unlink(path);
    mem_free(xml);
    mem_free(hpcstruct);
    mem_free(path);
    scope_tree_free(t);
}

/* Reads the text, as a file, into a tree. */
static int read_text(const char *path, const char *text, struct scope_tree **t, struct err *err)
{
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    return scope_tree_read(path, t, NULL, err);
}

static void test_bad_files(const char *folder)
{
    static const struct {
        const char *text, *want; /* after the file's name */
    } cases[] = {
        {"<X/>", ":1: the root element is X; a structure file has PGM or HPCToolkitStructure"},
        {"<PGM version=\"99\"/>", ":1: this is version 99 of the format; this hpcview reads up to 4"},
        {"<PGM><S b=\"1\"/></PGM>", ":1: S: not allowed here; the order is PGM, LM, F, P, then A, L and S"},
        {"<PGM><LM n=\"a\"><P n=\"p\"/></LM></PGM>",
         ":1: P: not allowed here; the order is PGM, LM, F, P, then A, L and S"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"x\"/></F></LM></PGM>",
         ":1: P: b=\"x\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"\"/></F></LM></PGM>", ":1: P: b=\"\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"-1\"/></F></LM></PGM>",
         ":1: P: b=\"-1\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\":1\"/></F></LM></PGM>",
         ":1: P: b=\":1\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"12x\"/></F></LM></PGM>",
         ":1: P: b=\"12x\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"99999999999999999999\"/></F></LM></PGM>",
         ":1: P: b=\"99999999999999999999\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"10-10\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"10-20x\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"10+20\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"10g-20\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"0x-20\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\"><L i=\"0/2\"/></P></F></LM></PGM>",
         ":1: L: i is not an instance like 1/2"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"4294967296\"/></F></LM></PGM>",
         ":1: P: b=\"4294967296\" is not a number below 2^32"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"3\" e=\"2\"/></F></LM></PGM>",
         ":1: P: the last line e comes before the first line b"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"20-10\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"1-\"/></F></LM></PGM>",
         ":1: P: v is not a list of address ranges like 1180-11a4"},
        {"<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\"><L i=\"3/2\"/></P></F></LM></PGM>",
         ":1: L: i is not an instance like 1/2"},
        {"<HPCToolkitStructure><LM n=\"a\"><F n=\"\"/></LM></HPCToolkitStructure>", ":1: F: a file needs a name n"},
        {"<HPCToolkitStructure><LM n=\"a\"><Q/></LM></HPCToolkitStructure>",
         ":1: Q: no such element in an .hpcstruct file (LM, F, P, A, L, S, C)"},
        {"<HPCToolkitStructure><LM n=\"a\"><F n=\"f\"><P n=\"p\"><P n=\"q\"/></P></F></LM></HPCToolkitStructure>",
         ":1: P: not allowed here; the order is LM, F, P, then A, L, S and C"},
    };
    char *path = mem_printf("%s/bad", folder);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scope_tree *t = NULL;
        struct err err = {0};
        CHECK_NAMED(read_text(path, cases[i].text, &t, &err) < 0 && !t, cases[i].text);
        CHECK_STR(err.msg + (str_starts(err.msg, path) ? strlen(path) : 0), cases[i].want);
        scope_tree_free(t);
    }
    unlink(path);
    mem_free(path);
}

/* Input from other tools and from hand-written files: ranges in any order and spelling, the greatest line, an inlined
   call's own name; and our tree in HPCToolkit's form, which represents less. */
#define HPC "<HPCToolkitStructure><LM n=\"a\"><F n=\"f\">"
#define CPH "</F></LM></HPCToolkitStructure>"
static void test_spellings(const char *folder)
{
    static const struct {
        const char *name, *text, *want; /* from the first procedure on */
    } cases[] = {
        {"ranges in any order and spelling",
         "<PGM version=\"4\"><LM n=\"a\"><F n=\"f\"><P n=\"p\" b=\"4294967295\" v=\"{[0X2000-0x20aF) [10-20)}\">"
         "<A n=\"g(int)\" sn=\"g\" ln=\"_Z1gi\" cb=\"7\" cf=\"h.h\" b=\"3\">"
         "<S b=\"3\" v=\"18-20 10-14 14-18\"/></A></P></F></LM></PGM>",
         "<P n=\"p\" b=\"4294967295\" a=\"0\" v=\"10-20 2000-20af\">\n"
         "    <A n=\"g(int)\" sn=\"g\" ln=\"_Z1gi\" cf=\"h.h\" cb=\"7\" b=\"3\">\n"
         "     <S b=\"3\" v=\"10-20\"/>\n    </A>\n   </P>\n  </F>\n </LM>\n</PGM>\n"},
        {"every digit",
         "<PGM><LM n=\"a\"><F n=\"f\"><P n=\"p\" v=\"0123456789abcdef-FEDCBA9876543210\"/></F></LM></PGM>",
         "<P n=\"p\" a=\"0\" v=\"123456789abcdef-fedcba9876543210\"/>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: code without a line in front is the procedure's own",
         HPC "<P n=\"p\" l=\"4\" v=\"{[0x10-0x11)}\"><S l=\"0\" v=\"{[0x10-0x20)}\"/><S l=\"5\" "
             "v=\"{[0x20-0x28)}\"/></P>" CPH,
         "<P n=\"p\" b=\"4\" e=\"5\" a=\"10\" v=\"10-20\">\n"
         "    <S b=\"5\" v=\"20-28\"/>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: and so is a loop's",
         HPC "<P n=\"p\" l=\"4\"><L l=\"5\" f=\"h\" v=\"{[0x20-0x21)}\"><S l=\"0\" v=\"{[0x28-0x30)}\"/>"
             "<S l=\"6\" v=\"{[0x20-0x28)}\"/></L></P>" CPH,
         "<P n=\"p\" b=\"4\" a=\"0\">\n"
         "    <L f=\"h\" b=\"5\" e=\"6\" a=\"20\" v=\"28-30\">\n"
         "     <S b=\"6\" v=\"20-28\"/>\n"
         "    </L>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: with a line it is a statement", HPC "<P n=\"p\" l=\"4\"><S l=\"4\" v=\"{[0x10-0x20)}\"/></P>" CPH,
         "<P n=\"p\" b=\"4\" a=\"0\">\n"
         "    <S b=\"4\" v=\"10-20\"/>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: without a line behind others it is one too",
         HPC "<P n=\"p\" l=\"4\"><S l=\"4\" v=\"{[0x10-0x20)}\"/><S l=\"0\" v=\"{[0x20-0x30)}\"/></P>" CPH,
         "<P n=\"p\" b=\"4\" a=\"0\">\n"
         "    <S b=\"4\" v=\"10-20\"/>\n"
         "    <S v=\"20-30\"/>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: calls are passed over, files go down to what has none",
         HPC
         "<P n=\"p\" l=\"4\" ln=\"_p\"><C l=\"4\" v=\"{[0x10-0x20)}\" t=\"0\"/><L l=\"5\" f=\"h\" v=\"{[0x20-0x21)}\">"
         "<S l=\"6\" v=\"{[0x20-0x28)}\"/></L><S l=\"7\" v=\"{[0x30-0x38)}\"/></P>" CPH,
         "<P n=\"p\" ln=\"_p\" b=\"4\" e=\"7\" a=\"0\">\n"
         "    <L f=\"h\" b=\"5\" e=\"6\" a=\"20\">\n"
         "     <S b=\"6\" v=\"20-28\"/>\n"
         "    </L>\n"
         "    <S b=\"7\" v=\"30-38\"/>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
        {"hpcstruct: an inlined call in two elements",
         HPC "<P n=\"p\" l=\"4\"><A l=\"5\" f=\"f\" n=\"\" v=\"{}\"><A l=\"12\" f=\"h\" n=\"g\" v=\"{}\">"
             "<S l=\"13\" v=\"{[0x20-0x28)}\"/></A></A></P>" CPH,
         "<P n=\"p\" b=\"4\" a=\"0\">\n"
         "    <A n=\"g\" cb=\"5\" f=\"h\" b=\"12\" e=\"13\">\n"
         "     <S b=\"13\" v=\"20-28\"/>\n"
         "    </A>\n"
         "   </P>\n"
         "  </F>\n"
         " </LM>\n"
         "</PGM>\n"},
    };
    char *path = mem_printf("%s/spellings", folder);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scope_tree *t = NULL;
        struct err err = {0};
        CHECK_INT(read_text(path, cases[i].text, &t, &err), 0);
        char *written = t ? write_to(t, SCOPE_XML, path) : mem_strdup(err.msg);
        const char *from = strstr(written, "<P n");
        CHECK_NAMED(strcmp(from ? from : written, cases[i].want) == 0, cases[i].name);
        CHECK_STR(from ? from : written, cases[i].want);
        mem_free(written);
        scope_tree_free(t);
        unlink(path);
    }
    mem_free(path);
}

/* bloop 1's own files, with lines only. */
static void test_version_3(const char *folder)
{
    char *path = mem_printf("%s/old", folder);
    struct scope_tree *t = NULL;
    struct err err = {0};
    int status = read_text(
        path,
        "<PGM version=\"3.0\" n=\"x\"><LM n=\"a.out\"><F n=\"x.f\"><G n=\"hot\"><P n=\"p\" b=\"1\" e=\"9\"><L "
        "b=\"2\" e=\"5\"><S b=\"3\" "
        "e=\"3\" id=\"1\"/></L></P></G></F></LM></PGM>",
        &t, &err);
    CHECK(status == 0);
    if (t) {
        CHECK_INT(t->scope_count, 5);
        CHECK_INT(t->scopes[3].kind, SCOPE_LOOP);
        CHECK_INT(t->scopes[3].line_last, 5);
        CHECK_STR(strtab_get(t->strings, t->scopes[4].file), "x.f");
    }
    scope_tree_free(t);
    unlink(path);
    mem_free(path);
}

int main(void)
{
    char folder[] = "/tmp/scope_test.XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    RUN(test_find);
    RUN(test_check);
    RUN(test_check_ranges);
    test_round_trip(SCOPE_XML, folder);
    test_round_trip(SCOPE_HPCSTRUCT, folder);
    test_outline(folder);
    test_written(folder);
    test_spellings(folder);
    test_bad_files(folder);
    test_version_3(folder);
    rmdir(folder);
    return tap_done();
}
