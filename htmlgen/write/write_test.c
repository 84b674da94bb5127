/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a database's files, decoded again as doc/formats/database.md describes. */
#include "config.h"

#include "htmlgen/write/write.h"
#include "tests/fixtures/sample_experiments.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char *folder; /* of this test, removed at the end */

static char *in_folder(const char *name)
{
    return path_join(folder, name);
}

static char *read_text(const char *path)
{
    struct filemap map;
    if (filemap_open(&map, path, NULL) < 0)
        return NULL;
    char *text = mem_strndup((const char *)map.bytes, map.len);
    filemap_release(&map);
    return text;
}

/* ---- the bundle's hashes: of the very bytes that the page gets ---- */

static void check_hash(const unsigned char *bytes, size_t n, const char *hash)
{
    char *path = in_folder("hashed"), *command = mem_printf("sha256sum <'%s'", path), hex[65] = "";
    struct buf digest = {0}, base64 = {0};
    struct outfile *out;
    struct err err;
    CHECK_INT(outfile_create(path, &out, &err), 0);
    outfile_write(out, bytes, n);
    CHECK_INT(outfile_commit(out, &err), 0);
    FILE *sum = popen(command, "r");
    CHECK(sum && fread(hex, 1, 64, sum) == 64);
    for (size_t i = 0; i < 64; i += 2) {
        char byte[] = {hex[i], hex[i + 1], 0};
        buf_u8(&digest, (uint8_t)strtoul(byte, NULL, 16));
    }
    buf_base64(&base64, (const uint8_t *)digest.bytes, digest.len);
    CHECK_STR(hash, base64.bytes);
    if (sum)
        pclose(sum);
    unlink(path);
    buf_release(&digest);
    buf_release(&base64);
    mem_free(path);
    mem_free(command);
}

static void test_hashes(void)
{
    check_hash(htmlgen_script, htmlgen_script_len, htmlgen_script_hash);
    check_hash(htmlgen_style, htmlgen_style_len, htmlgen_style_hash);
}

/* ---- text ---- */

static void test_text(void)
{
    static const struct {
        const char *text, *utf8, *escaped;
    } cases[] = {
        {"plain", "plain", "plain"},
        {"a<b>&\"'", "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
        {"caf\xe9!", "caf\xef\xbf\xbd!", "caf\xef\xbf\xbd!"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe2\x82\xac", "\xe2\x82\xac", "\xe2\x82\xac"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf utf8 = {0}, escaped = {0};
        htmlgen_utf8(&utf8, cases[i].text, strlen(cases[i].text));
        htmlgen_escape(&escaped, cases[i].text);
        CHECK_STR(utf8.bytes, cases[i].utf8);
        CHECK_STR(escaped.bytes, cases[i].escaped);
        buf_release(&utf8);
        buf_release(&escaped);
    }
}

/* ---- columns ---- */

static void test_planes(void)
{
    const uint64_t values[] = {0x04030201, 0x14131211};
    struct buf out = {0};
    htmlgen_planes(&out, values, 2, 4);
    CHECK_INT(out.len, 8);
    CHECK(memcmp(out.bytes, "\x01\x11\x02\x12\x03\x13\x04\x14", 8) == 0);
    buf_release(&out);
}

static void test_metric_column(void)
{
    const double inclusive[] = {1.5, NAN, 0, 2}, exclusive[] = {0.5, NAN, 0, NAN};
    struct buf out = {0};
    uint64_t scale = 1;
    htmlgen_metric_column(&out, inclusive, exclusive, 4, 0, &scale);
    CHECK_INT(scale, 0);
    CHECK_INT(out.len, 4 + 8 * 4); /* 1.5, 0, 2 and the exclusive 0.5 */
    CHECK_INT(out.bytes[0], STATE_INCLUSIVE | STATE_EXCLUSIVE);
    CHECK_INT(out.bytes[1], 0); /* missing is not 0 */
    CHECK_INT(out.bytes[2], STATE_INCLUSIVE | STATE_EQUAL);
    CHECK_INT(out.bytes[3], STATE_INCLUSIVE);
    buf_release(&out);
    htmlgen_metric_column(&out, inclusive, NULL, 4, 0, &scale);
    CHECK_INT(out.len, 4 + 8 * 3);
    buf_release(&out);
}

/* Values are stored as multiples of the period only if that is lossless. */
static void test_multiples(void)
{
    static const struct {
        const char *name;
        double value;
        uint64_t period, want;
    } cases[] = {
        {"a sample", 4e6, 4000000, 4000000},
        {"none", 0, 4000000, 4000000},
        {"many", 4294967295.0 * 1000003, 1000003, 1000003},
        {"too many", 4294967296.0 * 1000003, 1000003, 0},
        {"not a multiple", 4e6 + 1, 4000000, 0},
        {"negative", -4e6, 4000000, 0},
        {"negative zero", -0.0, 4000000, 0},
        {"not sampled", 4e6, 0, 0},
        {"the largest period", 0x1p53, 1ull << 53, 1ull << 53},
        {"a larger one", 0x1p54, 1ull << 54, 0},
        {"beyond what a double holds", 0x1p60 + 0x1p30, 3, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf out = {0};
        uint64_t scale = 1;
        htmlgen_metric_column(&out, &cases[i].value, NULL, 1, cases[i].period, &scale);
        CHECK_NAMED(scale == cases[i].want && out.len == (scale ? 5 : 9), cases[i].name);
        buf_release(&out);
    }
}

/* ---- the database ---- */

static int count_entries(const char *path, char *names, size_t size)
{
    char *command = mem_printf("cd '%s' && find . -type f | LC_ALL=C sort | tr '\\n' ' '", path);
    FILE *list = popen(command, "r");
    mem_free(command);
    size_t n = list ? fread(names, 1, size - 1, list) : 0;
    names[n] = '\0';
    if (list)
        pclose(list);
    int count = 0;
    for (const char *p = names; *p; p++)
        count += *p == ' ';
    return count;
}

/* 1 if both folders have identical contents. */
static bool same_folders(const char *a, const char *b)
{
    char *command = mem_printf("diff -r '%s' '%s' >/dev/null", a, b);
    int status = system(command);
    mem_free(command);
    return status == 0;
}

static void test_folder(void)
{
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    char *db = in_folder("db"), *again = in_folder("again"), *page = in_folder("db/index.html"), names[1000];
    struct experiment *e = sample_heat(folder);
    CHECK_INT(htmlgen_write(e, db, NULL, warnings, &err), 0);
    CHECK_INT(htmlgen_write(e, again, NULL, warnings, &err), 0);
    CHECK_INT(count_entries(db, names, sizeof names), 6);
    CHECK_STR(
        names,
        "./data/metric-0.js ./data/metric-1.js ./data/metric-2.js ./data/places.js ./data/source-0.js ./index.html ");
    CHECK_NAMED(same_folders(db, again), "the same experiment gives the same bytes");
    CHECK_INT(warnings_count(warnings), 0);

    char *text = read_text(page);
    CHECK_NAMED(text && strstr(text, "\"version\":3,"), "the head tells the version");
    CHECK_NAMED(text && strstr(text, "\"planes\":[1,1,1,4,1,1,4,1,1,1,2,1]"), "and which planes the places have");
    CHECK_NAMED(text && strstr(text, "[\"mesh.c\",\"missing\"]"), "a file that was not found is told as such");
    CHECK_NAMED(text && !strstr(text, folder), "no path of this machine");
    CHECK_NAMED(text && !strstr(text, "/home/someone") && strstr(text, "\"command\":\"heat 20\""),
                "the command without the program's folder");
    mem_free(text);

    CHECK_NAMED(htmlgen_write(e, db, &(struct htmlgen_options){.no_sources = true}, warnings, &err) == 0,
                "an older database is replaced");
    CHECK_INT(count_entries(db, names, sizeof names), 5);
    text = read_text(page);
    CHECK_NAMED(text && strstr(text, "[\"heat.f90\",\"left-out\"]"), "sources left out are told as such");
    mem_free(text);
    experiment_free(e);
    mem_free(db);
    mem_free(again);
    mem_free(page);
    warnings_free(warnings);
}

static void test_second_tree(void)
{
    struct err err = {0};
    struct experiment *e = sample_heat(folder);
    char *db = in_folder("calls"), *page = in_folder("calls/index.html"), names[1000];
    uint32_t *parent = mem_calloc(2, sizeof *parent);
    place_ix *place = mem_calloc(2, sizeof *place);
    double own[2] = {NAN, 4e6};
    struct buf nodes = {0};
    parent[0] = NODE_NONE;
    place[1] = 0x102;
    size_t tree = experiment_add_tree(e, "calls", "Calls", 2, parent, place);
    htmlgen_node_columns(&nodes, e, tree);
    CHECK_INT(nodes.len, 16);
    CHECK(memcmp(nodes.bytes, "\0\1\0\0\0\0\0\0\0\2\0\1\0\0\0\0", 16) == 0);
    place[1] = 1;
    experiment_sum_column(e, tree, 0, own);
    CHECK_INT(htmlgen_write(e, db, NULL, NULL, &err), 0);
    CHECK_INT(count_entries(db, names, sizeof names), 10);
    char *text = read_text(page);
    CHECK_NAMED(text && strstr(text, "{\"name\":\"calls\",\"title\":\"Calls\",\"nodes\":2,\"values\":[[3,0,"),
                "a tree's values are its own");
    CHECK_NAMED(text && strstr(text, "\"blocks\":[[\"places\",") && strstr(text, ",[\"tree-1\",16],") &&
                    strstr(text, "[\"source-0\","),
                "blocks are listed");
    CHECK_NAMED(text && strstr(text, "\"runs\":[{\"name\":\"heat\",") && strstr(text, "\"run\":0"),
                "runs, and whose a metric is");
    mem_free(text);
    buf_release(&nodes);
    experiment_free(e);
    mem_free(db);
    mem_free(page);
}

/* A table: every column type, followed by its strings, and its description in the head. */
static void test_table(void)
{
    static const struct table_column columns[] = {
        {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
        {.name = "what", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "share", .type = TABLE_NUMBER, .merge = TABLE_SUM},
        {.name = "blocks", .unit = "lines", .type = TABLE_COUNT, .merge = TABLE_SUM},
    };
    static const struct table_decl decl = {"findings", "Findings", NULL, columns, ARRAY_SIZE(columns)};
    struct err err = {0};
    struct experiment *e = sample_heat(folder);
    char *db = in_folder("tables"), *page = in_folder("tables/index.html");
    struct table *t = NULL;
    struct buf bytes = {0};
    size_t strings;
    CHECK_INT(table_list_declare(&e->tables, &decl, e->strings, &t, &err), 0);
    table_add(t, (union table_cell[]){
                     {.row = 2}, {.text = strtab_add(e->strings, "slow")}, {.number = 1.0}, {.count = 0x0102}});
    table_add(t, (union table_cell[]){{.row = TABLE_NONE}, {.text = 0}, {.number = 0}, {.count = TABLE_NO_COUNT}});
    htmlgen_table_columns(&bytes, e, t, &strings);
    CHECK_INT(strings, 2);
    CHECK_INT(bytes.len, 8 + 8 + 16 + 16 + 5 + 1);
    CHECK_NAMED(memcmp(bytes.bytes,
                       "\2\xff\0\xff\0\xff\0\xff"
                       "\0\1\0\0\0\0\0\0",
                       16) == 0,
                "references and texts");
    CHECK_NAMED(memcmp(bytes.bytes + 16 + 12, "\xf0\0\x3f\0\x02\xff\x01\xff", 8) == 0, "numbers and counts");
    CHECK_NAMED(memcmp(bytes.bytes + 48, "slow\0\0", 6) == 0, "strings");
    CHECK_INT(htmlgen_write(e, db, NULL, NULL, &err), 0);
    char *text = read_text(page);
    CHECK_NAMED(text &&
                    strstr(text, "\"tables\":[{\"name\":\"findings\",\"title\":\"Findings\",\"description\":\"\","
                                 "\"rows\":2,\"strings\":2,\"block\":\"table-0\",\"columns\":[{\"name\":\"place\","),
                "the head tells of the table");
    CHECK_NAMED(text && strstr(text, "\"type\":\"ref\",\"to\":\"place\"}") && strstr(text, "[\"table-0\",54]"),
                "what it refers to, and its block");
    mem_free(text);
    mem_free(db);
    mem_free(page);
    buf_release(&bytes);
    experiment_free(e);
}

static void test_replaces_only_databases(void)
{
    struct err err = {0};
    struct experiment *e = sample_heat(folder);
    char *precious = in_folder("precious"), *file = in_folder("precious/index.html");
    mkdir(precious, 0777);
    FILE *out = fopen(file, "w");
    CHECK(out && fclose(out) == 0);
    CHECK_INT(htmlgen_write(e, precious, NULL, NULL, &err), -1);
    CHECK(err.kind == ERR_SYSTEM && strstr(err.msg, "contains other files"));
    CHECK(access(file, F_OK) == 0);
    mem_free(precious);
    mem_free(file);
    experiment_free(e);
}

static void test_single_file(void)
{
    struct err err = {0};
    struct experiment *e = sample_heat(folder);
    char *path = in_folder("single.html");
    CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
    char *text = read_text(path);
    CHECK(text && strstr(text, "id=\"data-places\">") && strstr(text, "id=\"data-metric-2\">") &&
          strstr(text, "id=\"data-source-0\">"));
    CHECK_NAMED(text && !strstr(text, "'self'"), "a single file may load nothing");
    mem_free(text);
    mem_free(path);
    experiment_free(e);
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* Names cannot add elements to the page; tests/page/page.sh tests that in the browser. */
static void test_hostile(void)
{
    struct err err = {0};
    struct experiment *e = sample_hostile(folder);
    char *path = in_folder("hostile.html");
    CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
    char *text = read_text(path);
    CHECK_INT(text ? count_of(text, "</title>") : 0, 1);
    CHECK_INT(text ? count_of(text, "<img") : 99, 0);
    CHECK_INT(text ? count_of(text, "<svg") : 99, 0);
    CHECK_INT(text ? count_of(text, "</script>") : 0,
              1 + 1 + 1 + 2 + 1); /* head, bundle, places, two metrics, one chunk of source */
    CHECK_NAMED(!memmem(htmlgen_script, htmlgen_script_len, "</script", 8) &&
                    !memmem(htmlgen_script, htmlgen_script_len, "<!--", 4),
                "the bundle can stand in a script element");
    mem_free(text);
    mem_free(path);
    experiment_free(e);
}

static void test_unreadable_source(void)
{
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    struct experiment *e = sample_heat(folder);
    char *db = in_folder("unreadable"), *page = in_folder("unreadable/index.html");
    unlink(strtab_get(e->strings, e->files[1].found));
    CHECK_INT(htmlgen_write(e, db, NULL, warnings, &err), 0);
    CHECK_INT(warnings_count(warnings), 1);
    char *text = read_text(page);
    CHECK(text && strstr(text, "[\"heat.f90\",\"unreadable\"]"));
    mem_free(text);
    mem_free(db);
    mem_free(page);
    experiment_free(e);
    warnings_free(warnings);
}

/* The page's head for each sample, compared verbatim: tests/page/heads/, a line for each object. GOLDEN=write rewrites
   them. */
static void test_heads(void)
{
    static const struct {
        const char *name;
        struct experiment *(*make)(const char *dir);
    } samples[] = {
        {"heat", sample_heat}, {"facts", sample_facts}, {"memory", sample_memory}, {"two-runs", sample_two_runs}};
    const char *top = getenv("top_srcdir"), *golden = getenv("GOLDEN");
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        struct err err = {0};
        struct warnings *warnings = warnings_create();
        struct experiment *e = samples[i].make(folder);
        char *path = in_folder("head.html"),
             *kept = mem_printf("%s/tests/page/heads/%s.json", top ? top : ".", samples[i].name);
        warnings_add(warnings, "the \"first\" <warning>");
        warnings_add(warnings, "the second");
        CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, warnings, &err), 0);
        char *text = read_text(path), *head = text ? strstr(text, "id=\"hpcview-head\">") : NULL;
        struct buf lines = {0};
        for (head = head ? strchr(head, '>') + 1 : NULL; head && *head != '<'; head++) {
            if (str_starts(head, PACKAGE_STRING))
                head += strlen(PACKAGE_STRING);
            buf_printf(&lines, *head == '{' ? "\n%c" : "%c", *head);
        }
        buf_str(&lines, "\n");
        FILE *out = golden && strcmp(golden, "write") == 0 ? fopen(kept, "w") : NULL;
        if (out) {
            fputs(lines.bytes, out);
            fclose(out);
        }
        char *want = read_text(kept);
        tap_str(lines.bytes, want ? want : "", samples[i].name, __FILE__, __LINE__);
        buf_release(&lines);
        mem_free(want);
        mem_free(text);
        mem_free(path);
        mem_free(kept);
        experiment_free(e);
        warnings_free(warnings);
    }
}

/* The page contains all of its parts in their places. */
static void test_page_parts(void)
{
    struct err err = {0};
    struct experiment *e = sample_heat(folder);
    char *path = in_folder("parts.html");
    e->title = strtab_add(e->strings, "a <b> & \"c\"");
    CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
    char *text = read_text(path);
    size_t n = text ? strlen(text) : 0;
    CHECK_NAMED(text && strstr(text, "<title>a &lt;b&gt; &amp; &quot;c&quot; — hpcview</title>"), "the title, escaped");
    CHECK_NAMED(text && memmem(text, n, htmlgen_script, htmlgen_script_len), "the script");
    CHECK_NAMED(text && memmem(text, n, htmlgen_style, htmlgen_style_len), "the style");
    struct buf policy = {0};
    buf_printf(&policy, "style-src 'sha256-%s'; script-src 'sha256-%s'; worker-src blob:", htmlgen_style_hash,
               htmlgen_script_hash);
    CHECK_NAMED(text && strstr(text, "default-src 'none'; ") && count_of(text, policy.bytes) == 1,
                "what it may load: this style and this script");
    CHECK_NAMED(text && !strstr(text, "@TITLE@") && !strstr(text, "@HEAD@"), "and nothing is left to be filled in");
    buf_release(&policy);
    mem_free(text);
    mem_free(path);
    experiment_free(e);
}

static void test_empty(void)
{
    struct err err = {0};
    for (int with_program = 0; with_program < 2; with_program++) {
        struct experiment *e = sample_empty(with_program);
        char *db = in_folder("empty");
        CHECK_INT(htmlgen_write(e, db, NULL, NULL, &err), 0);
        char *page = in_folder("empty/index.html"), *text = read_text(page), names[1000];
        CHECK_NAMED(text && strstr(text, with_program ? "\"places\":1,\"strings\":1," : "\"places\":0,\"strings\":0,"),
                    "an empty database tells how little it holds");
        CHECK_NAMED(text && strstr(text, with_program ? "\"values\":[[0,0,1," : "\"metrics\":[],"), "and where");
        count_entries(db, names, sizeof names);
        CHECK_STR(names, with_program ? "./data/metric-0.js ./data/places.js ./index.html "
                                      : "./data/places.js ./index.html ");
        mem_free(text);
        mem_free(page);
        mem_free(db);
        experiment_free(e);
    }
}

/* ---- which text goes into which chunk ---- */

enum { SIZE_MISSING = -1, SIZE_GONE = -2, MB = 1 << 20, FILES_MOST = 40 };

static str_id file_of_size(struct strtab *strings, long size)
{
    char *name = mem_printf("size-%ld", size), *path = in_folder(name);
    FILE *out = size < 0 ? NULL : fopen(path, "w");
    if (out && (ftruncate(fileno(out), size) < 0 || fclose(out) != 0))
        exit(99);
    str_id id = size == SIZE_MISSING ? 0 : strtab_add(strings, path);
    mem_free(name);
    mem_free(path);
    return id;
}

static void test_sources_plan(void)
{
    static const struct {
        const char *name;
        long sizes[FILES_MOST];
        size_t count, repeated; /* repetitions of the last one */
        bool no_sources;
        const char *want; /* one letter per file: its chunk, or the reason for its absence */
        size_t chunks, warnings;
    } cases[] = {
        {"none", {0}, 0, 0, false, "", 0, 0},
        {"small ones share a chunk", {10, 0, 2 * MB - 11, 5}, 4, 1, false, "aaaa", 1, 0},
        {"a full chunk takes no more", {10, 2 * MB - 10, 5, 2 * MB, 1}, 5, 1, false, "aabbc", 3, 0},
        {"a chunk may end far behind", {1, 9 * MB, 1}, 3, 1, false, "aab", 2, 0},
        {"without sources", {10, SIZE_MISSING, SIZE_GONE}, 3, 1, true, "LML", 0, 0},
        {"those that are not there", {SIZE_MISSING, 10, SIZE_GONE, 10}, 4, 1, false, "MaUa", 1, 1},
        {"the largest there may be", {16 * MB, 1}, 2, 1, false, "ab", 2, 0},
        {"one that is too large", {10, 16 * MB + 1, 10}, 3, 1, false, "aTa", 1, 1},
        {"as much as there may be, larger chunks",
         {SIZE_MISSING, 16 * MB},
         2,
         32,
         false,
         "Maabbccddeeffgghhiijjkkllmmnnoopp",
         16,
         0},
        {"what is left out is told once",
         {16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB,
          16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB,
          16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 16 * MB, 1,       1},
         34,
         1,
         false,
         "aabbccddeeffgghhiijjkkllmmnnooppLL",
         16,
         1},
        {"and no more", {1, 16 * MB}, 2, 33, false, "aaabbccddeeffgghhiijjkkllmmnnoopLL", 16, 1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct experiment *e = sample_empty(false);
        struct warnings *warnings = warnings_create();
        size_t n = cases[i].count ? cases[i].count - 1 + cases[i].repeated : 0, chunks;
        struct source_text texts[FILES_MOST] = {{0}};
        char got[FILES_MOST + 1] = "";
        e->files = mem_calloc(n + 1, sizeof *e->files);
        e->file_count = n;
        for (size_t k = 0; k < n; k++) {
            e->files[k].found = file_of_size(e->strings, cases[i].sizes[k < cases[i].count ? k : cases[i].count - 1]);
            e->files[k].name = strtab_printf(e->strings, "file %zu", k);
        }
        chunks = htmlgen_sources_plan(e, cases[i].no_sources, texts, warnings);
        for (size_t k = 0; k < n; k++)
            got[k] = texts[k].state == SOURCE_TEXT ? (char)('a' + texts[k].chunk) : " MLTU"[texts[k].state];
        tap_str(got, cases[i].want, cases[i].name, __FILE__, __LINE__);
        CHECK_INT(chunks, cases[i].chunks);
        CHECK_INT(warnings_count(warnings), cases[i].warnings);
        warnings_free(warnings);
        experiment_free(e);
    }
}

/* Offsets refer to the written text; a file that became too large or was removed has none. */
static void test_sources_chunk(void)
{
    static const char *const contents[] = {"one\n", "caf\xe9\n", "", "four\n", "five\n", "six\n"};
    static const struct {
        uint32_t chunk;
        enum source_state state, after;
        size_t offset, bytes;
    } files[] = {
        {0, SOURCE_TEXT, SOURCE_TEXT, 0, 4},        {1, SOURCE_TEXT, SOURCE_TEXT, 0, 7},
        {1, SOURCE_TEXT, SOURCE_TEXT, 7, 0},        {1, SOURCE_LEFT_OUT, SOURCE_LEFT_OUT, 0, 0},
        {1, SOURCE_TEXT, SOURCE_UNREADABLE, 7, 0},  {1, SOURCE_TEXT, SOURCE_TOO_LARGE, 7, 0},
        {1, SOURCE_TEXT, SOURCE_TEXT, 7, 16 << 20},
    };
    struct experiment *e = sample_empty(false);
    struct warnings *warnings = warnings_create();
    struct source_text texts[ARRAY_SIZE(files)] = {{0}};
    struct buf text = {0};
    e->files = mem_calloc(ARRAY_SIZE(files), sizeof *e->files);
    e->file_count = ARRAY_SIZE(files);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char *name = mem_printf("chunk-%zu", i), *path = in_folder(name);
        FILE *out = fopen(path, "w");
        if (!out || fputs(i < ARRAY_SIZE(contents) ? contents[i] : "", out) < 0 || fclose(out) != 0)
            exit(99);
        if (i == 4)
            unlink(path);
        if (i >= 5 && truncate(path, (16 << 20) + (i == 5)) < 0)
            exit(99);
        e->files[i].found = strtab_add(e->strings, path);
        texts[i] = (struct source_text){.state = files[i].state, .chunk = files[i].chunk};
        mem_free(name);
        mem_free(path);
    }
    htmlgen_sources_chunk(e, texts, 1, &text, warnings);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        bool asked = files[i].chunk == 1;
        CHECK_INT(texts[i].state, files[i].after);
        CHECK_INT(texts[i].offset, asked ? files[i].offset : 0);
        CHECK_INT(texts[i].bytes, asked ? files[i].bytes : 0);
    }
    CHECK_INT(text.len, 7 + (16 << 20));
    CHECK_NAMED(memcmp(text.bytes, "caf\xef\xbf\xbd\n", 7) == 0, "the text of that chunk alone");
    CHECK_INT(warnings_count(warnings), 1);
    buf_release(&text);
    warnings_free(warnings);
    experiment_free(e);
}

/* For each file, the head contains the chunk, the offset and the length of its text. */
static void test_sources_in_head(void)
{
    static const long sizes[] = {10, 2 * MB, 7, 5, SIZE_GONE};
    struct err err = {0};
    struct experiment *e = sample_empty(false);
    char *path = in_folder("chunks.html");
    e->files = mem_calloc(ARRAY_SIZE(sizes), sizeof *e->files);
    e->file_count = ARRAY_SIZE(sizes);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        e->files[i].found = file_of_size(e->strings, sizes[i]);
        e->files[i].name = strtab_printf(e->strings, "file %zu", i);
    }
    CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
    char *text = read_text(path);
    CHECK(text && strstr(text, "\"files\":[[\"file 0\",\"text\",0,0,10],[\"file 1\",\"text\",0,10,2097152],"
                               "[\"file 2\",\"text\",1,0,7],[\"file 3\",\"text\",1,7,5],[\"file 4\",\"unreadable\"]]"));
    mem_free(text);
    mem_free(path);
    experiment_free(e);
}

/* ---- places, field by field ---- */

struct decoder { /* of doc/formats/database.md */
    const uint8_t *at;
    size_t n;
};

static uint64_t *next_column(struct decoder *d, unsigned planes)
{
    uint64_t *values = mem_calloc(d->n + 1, sizeof *values);
    for (unsigned plane = 0; plane < planes; plane++)
        for (size_t i = 0; i < d->n; i++)
            values[i] |= (uint64_t)*d->at++ << 8 * plane;
    return values;
}

static unsigned planes_of(const uint64_t *values, size_t n)
{
    unsigned planes = 0;
    for (size_t i = 0; i < n; i++)
        while (planes < 8 && values[i] >> 8 * planes)
            planes++;
    return planes;
}

enum { DECODED_COLUMNS = 14 };

static uint64_t field(const struct experiment *e, size_t column, size_t i)
{
    const struct place *p = &e->places[i];
    const uint64_t fields[DECODED_COLUMNS] = {p->kind,
                                              p->role | (unsigned)p->on_line << 2 | (p->irreducible ? 0x80u : 0u),
                                              p->parent == PLACE_NONE ? 0 : i - p->parent,
                                              0,
                                              0,
                                              p->file,
                                              p->line_first,
                                              (uint32_t)(p->line_last - p->line_first),
                                              p->call_file,
                                              p->call_line,
                                              p->instance,
                                              p->instances,
                                              p->address,
                                              i - p->same};
    return fields[column];
}

static void check_places(const struct experiment *e, const char *name)
{
    struct buf out = {0};
    struct place_layout layout;
    htmlgen_place_columns(&out, e, &layout);
    struct decoder d = {(const uint8_t *)out.bytes, e->place_count};
    uint64_t *columns[DECODED_COLUMNS];
    bool same = layout.columns == DECODED_COLUMNS - 2, least = true;
    for (size_t c = 0; c < DECODED_COLUMNS; c++) {
        columns[c] = next_column(&d, c < 2 ? 1 : layout.planes[c - 2]);
        least = least && (c < 2 || layout.planes[c - 2] == planes_of(columns[c], d.n));
        for (size_t i = 0; i < d.n && c != 3 && c != 4; i++)
            same = same && columns[c][i] == field(e, c, i);
    }
    const char **strings = mem_calloc(layout.strings + 1, sizeof *strings), *at = (const char *)d.at;
    for (size_t i = 0; i < layout.strings; i++, at += strlen(at) + 1)
        strings[i] = at;
    for (size_t i = 0; i < d.n; i++) {
        struct buf want[2] = {{0}, {0}};
        htmlgen_utf8(&want[0], strtab_get(e->strings, e->places[i].name),
                     strlen(strtab_get(e->strings, e->places[i].name)));
        htmlgen_utf8(&want[1], strtab_get(e->strings, e->places[i].full_name),
                     strlen(strtab_get(e->strings, e->places[i].full_name)));
        for (size_t k = 0; k < 2; k++) {
            same = same && columns[3 + k][i] < layout.strings &&
                   strcmp(strings[columns[3 + k][i]], want[k].bytes ? want[k].bytes : "") == 0;
            buf_release(&want[k]);
        }
    }
    CHECK_NAMED(same, name);
    CHECK_NAMED(least, "with no plane that is 0 everywhere");
    CHECK_NAMED(at == out.bytes + out.len, "and nothing behind it");
    for (size_t c = 0; c < DECODED_COLUMNS; c++)
        mem_free(columns[c]);
    mem_free(strings);
    buf_release(&out);
}

static void test_places(void)
{
    struct experiment *samples[] = {sample_heat(folder),   sample_two_runs(folder), sample_hostile(folder),
                                    sample_large(5000, 1), sample_empty(true),      sample_heat(folder)};
    static const char *const names[] = {"heat's places", "of two runs", "hostile ones",
                                        "many places",   "one place",   "two places"};
    struct place *odd = &samples[0]->places[samples[0]->place_count - 1];
    *odd = (struct place){.kind = PLACE_LOOP,
                          .role = 3,
                          .irreducible = true,
                          .on_line = 29,
                          .parent = 1,
                          .name = odd->name,
                          .full_name = strtab_add(samples[0]->strings, "full"),
                          .file = 0x01020304,
                          .line_first = 0x00fedcba,
                          .line_last = 7,
                          .call_file = 0x10203,
                          .call_line = 0x405060,
                          .instance = 0x708,
                          .instances = 0x90a0b0c0,
                          .address = 0xf1e2d3c4b5a69788,
                          .same = 2};
    samples[5]->place_count = 2;
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        check_places(samples[i], names[i]);
        experiment_free(samples[i]);
    }
}

/* ---- random columns and texts ---- */

static double draw_value(uint64_t period)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0, 0.1, -3, 0x1p62, 4294967296.0, 1e300};
    return below(12) == 0 ? odd[below(ARRAY_SIZE(odd))] : (double)below(50) * (double)(period ? period : 7);
}

static uint64_t bits(double value)
{
    uint64_t b;
    memcpy(&b, &value, sizeof b);
    return b;
}

/* Inclusive values in order, then differing exclusive values; all as multiples of the period, or none. */
static void check_drawn_column(void)
{
    enum { MOST = 12 };
    double inclusive[MOST], exclusive[MOST], values[2 * MOST];
    uint8_t states[MOST];
    size_t n = below(MOST + 1), used = 0;
    uint64_t period = below(3) ? 1 + below(100000) : 0, scale;
    bool both = below(3), multiples = period != 0, right = true;
    struct buf out = {0};
    for (size_t i = 0; i < n; i++) {
        inclusive[i] = draw_value(below(20) ? period : 0);
        exclusive[i] = below(2) ? inclusive[i] : draw_value(period);
    }
    for (size_t i = 0; i < n; i++) {
        states[i] = isfinite(inclusive[i]) ? STATE_INCLUSIVE : 0;
        if (states[i])
            values[used++] = inclusive[i];
    }
    for (size_t i = 0; both && i < n; i++)
        if (isfinite(exclusive[i]) && states[i] && bits(exclusive[i]) == bits(inclusive[i]))
            states[i] |= STATE_EQUAL;
        else if (isfinite(exclusive[i])) {
            states[i] |= STATE_EXCLUSIVE;
            values[used++] = exclusive[i];
        }
    for (size_t i = 0; i < used; i++)
        multiples = multiples && !signbit(values[i]) && fmod(values[i], (double)period) == 0 &&
                    values[i] / (double)period <= UINT32_MAX;
    htmlgen_metric_column(&out, inclusive, both ? exclusive : NULL, n, period, &scale);
    right = scale == (multiples ? period : 0) && out.len == n + used * (multiples ? 4 : 8);
    for (size_t i = 0; right && i < n; i++)
        right = (uint8_t)out.bytes[i] == states[i];
    for (size_t i = 0; right && i < used; i++) {
        uint64_t value = 0;
        for (size_t plane = 0; plane < (multiples ? 4 : 8); plane++)
            value |= (uint64_t)(uint8_t)out.bytes[n + plane * used + i] << 8 * plane;
        right = multiples ? (double)value * (double)period == values[i] : value == bits(values[i]);
    }
    CHECK_NAMED(right, "a column that was drawn");
    buf_release(&out);
}

/* Each byte of an invalid sequence is replaced by a character. */
static void check_drawn_text(void)
{
    static const char *const pieces[] = {"a",    "<",        "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                         "\xff", "\xe2\x82", "\xc0\x80", "\x80",         "\xf0\x9f"};
    static const size_t whole = 5; /* this many of them are characters */
    struct buf text = {0}, want = {0}, got = {0};
    buf_str(&text, "");
    buf_str(&want, "");
    for (unsigned n = below(12); n > 0; n--) {
        size_t k = below(ARRAY_SIZE(pieces));
        buf_str(&text, pieces[k]);
        if (k >= whole) /* the following byte must not complete it */
            buf_str(&text, "x");
        for (size_t i = 0; k >= whole && i < strlen(pieces[k]); i++)
            buf_str(&want, "\xef\xbf\xbd");
        buf_str(&want, k < whole ? pieces[k] : "x");
    }
    htmlgen_utf8(&got, text.bytes, text.len);
    CHECK_STR(got.len ? got.bytes : "", want.bytes);
    buf_release(&text);
    buf_release(&want);
    buf_release(&got);
}

/* ---- metrics: number of files, and their contents ---- */

static void test_metric_files(void)
{
    static const struct {
        size_t metrics, files;
    } cases[] = {{1, 1}, {23, 23}, {24, 12}, {25, 13}, {47, 24}, {48, 16}, {50, 17}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {0};
        struct experiment *e = sample_large(30, cases[i].metrics);
        char *path = in_folder("files.html"), *last = mem_printf(",[%zu,", cases[i].files - 1);
        CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
        char *text = read_text(path), *values = text ? strstr(text, "\"values\":[[0,0,") : NULL;
        size_t chunk = 0, offset = 0, metric = 0;
        bool good = values;
        for (char *p = values ? strchr(values, '[') + 1 : NULL; p && *p == '['; metric++) {
            unsigned long v[4];
            good = good && sscanf(p, "[%lu,%lu,%lu,%lu]", &v[0], &v[1], &v[2], &v[3]) == 4;
            if (!good)
                break;
            offset = v[0] == chunk ? offset : 0;
            good = v[0] == metric / (cases[i].metrics / 24 + 1) && v[1] == offset && v[3] == 1000003;
            chunk = v[0];
            offset += v[2];
            p = strchr(p, ']') + 1;
            p += *p == ',';
        }
        CHECK_NAMED(good && metric == cases[i].metrics, "each metric lies behind the one before");
        CHECK_INT(chunk + 1, cases[i].files);
        CHECK_INT(text ? count_of(text, "id=\"data-metric-") : 0, cases[i].files);
        mem_free(text);
        mem_free(last);
        mem_free(path);
        experiment_free(e);
    }
}

/* ---- runs and processes in the head ---- */

static void test_runs(void)
{
    static const struct {
        const char *command, *shown;
        uint64_t start, end;
        const char *seconds;
    } cases[] = {
        {"/opt/bin/heat 20 /tmp/x", "heat 20 /tmp/x", 1000000, 2500000, "\"start_ms\":1,\"seconds\":0.0015,"},
        {"heat /x", "heat /x", 2000000, 2000000, "\"start_ms\":2,\"seconds\":0,"},
        {"./heat", "heat", 3000001, 3000000, "\"start_ms\":3,\"seconds\":null,"},
        {"bin/", "bin/", 0, 3000000, "\"start_ms\":0,\"seconds\":null,"},
        {"/a/b/", "b/", 4999999, 1004999999, "\"start_ms\":4,\"seconds\":1,"},
        {"", "", 1, 2000000001, "\"start_ms\":0,\"seconds\":2,"},
        {"/", "/", 0, 0, "\"start_ms\":0,\"seconds\":null,"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {0};
        struct experiment *e = sample_heat(folder);
        struct experiment_run *run = &e->runs[0];
        char *path = in_folder("runs.html"), *command = mem_printf("\"command\":\"%s\"", cases[i].shown);
        run->command = e->processes[0].command = strtab_add(e->strings, cases[i].command);
        e->processes[0].start_ns = cases[i].start;
        e->processes[0].end_ns = cases[i].end;
        e->processes[0].source_file = strtab_add(e->strings, "/tmp/of/heat.hpcprof");
        run->modules = mem_calloc(i, sizeof *run->modules);
        run->environment = mem_calloc(i, sizeof *run->environment);
        for (run->module_count = run->environment_count = 0; run->environment_count < i;
             run->module_count++, run->environment_count++) {
            run->modules[run->module_count] = strtab_add(e->strings, run->environment_count ? "libc.so" : "heat");
            run->environment[run->environment_count].name =
                strtab_add(e->strings, run->environment_count ? "size" : "nodes");
            run->environment[run->environment_count].value =
                strtab_add(e->strings, run->environment_count ? "big" : "4");
        }
        CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = true}, NULL, &err), 0);
        char *text = read_text(path), *runs = text ? strstr(text, "\"runs\":[") : NULL;
        CHECK_NAMED(runs && count_of(runs, command) == 2, command);
        CHECK_NAMED(runs && strstr(runs, cases[i].seconds), cases[i].seconds);
        CHECK_NAMED(runs && strstr(runs, "\"source\":\"heat.hpcprof\""), "a measurement by its name alone");
        CHECK_NAMED(runs && strstr(runs, i == 0   ? "\"modules\":[],\"first_process\""
                                         : i == 1 ? "\"modules\":[\"heat\"],\"facts\":[[\"nodes\",\"4\"]],\"first"
                                         : i == 2 ? "\"modules\":[\"heat\",\"libc.so\"],\"facts\":[[\"nodes\",\"4\"],["
                                                    "\"size\",\"big\"]],\"first"
                                                  : "\"facts\":[["),
                    "modules and facts");
        mem_free(text);
        mem_free(command);
        mem_free(path);
        experiment_free(e);
    }
}

/* ---- output errors ---- */

static void test_errors(void)
{
    static const struct {
        const char *path;
        bool single_file;
    } cases[] = {{"nowhere/at/all.html", true}, {"source-0/db", false}, {"a-folder", true}};
    char *blocking = in_folder("a-folder/x");
    struct err err = {0};
    struct buf out = {0};
    CHECK_INT(dir_make(blocking, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct experiment *e = sample_heat(folder);
        char *path = in_folder(cases[i].path);
        err = (struct err){0};
        CHECK_INT(htmlgen_write(e, path, &(struct htmlgen_options){.single_file = cases[i].single_file}, NULL, &err),
                  -1);
        CHECK_NAMED(strstr(err.msg, "writing the database") && strstr(err.msg, path), cases[i].path);
        mem_free(path);
        experiment_free(e);
    }
    CHECK_INT(htmlgen_pack(&out, NULL, (size_t)UINT32_MAX + 1, &err), -1);
    CHECK(err.kind == ERR_LIMIT);
    CHECK_INT(htmlgen_pack(&out, NULL, 0, &err), 0);
    CHECK_STR(out.bytes, "eJwDAAAAAAE="); /* empty input also gives a stream */
    buf_release(&out);
    mem_free(blocking);
}

static bool is_whole(const char *database)
{
    static const char *const files[] = {"index.html",       "data/places.js",   "data/metric-0.js",
                                        "data/metric-1.js", "data/metric-2.js", "data/source-0.js"};
    bool all = true;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char *path = path_join(database, files[i]);
        all = all && access(path, F_OK) == 0;
        mem_free(path);
    }
    return all;
}

/* Paths that are nearly too long, so that the folder can be created but not all of its files: the output is complete or
   absent. */
static void test_long_paths(void)
{
    enum { FOLDER = 200, LONGEST = 4096, ABOUT = 60 };
    char *base = mem_strdup(folder);
    while (strlen(base) + FOLDER + 1 < LONGEST - 2 * ABOUT) {
        char *inner = mem_printf("%s/%0*d", base, FOLDER, 0);
        mem_free(base);
        base = inner;
    }
    struct err err = {0};
    CHECK_INT(dir_make(base, &err), 0);
    struct experiment *e = sample_heat(folder);
    unsigned whole = 0, none = 0;
    bool right = true;
    for (size_t length = LONGEST - 2 * ABOUT; length <= LONGEST; length++) {
        char *path = mem_printf("%s/%0*d", base, (int)(length - strlen(base) - 1), 1);
        err = (struct err){0};
        int status = htmlgen_write(e, path, NULL, NULL, &err);
        bool there = access(path, F_OK) == 0;
        right =
            right && (status == 0 ? there && is_whole(path) : !there && str_starts(err.msg, "writing the database "));
        whole += status == 0;
        none += status != 0;
        if (there)
            dir_remove_tree(path, NULL);
        mem_free(path);
    }
    CHECK_NAMED(right, "a database is whole, or there is none, and why");
    CHECK(whole > 0 && none > 0);
    mem_free(base);
    experiment_free(e);
}

int main(void)
{
    char name[] = "/tmp/write_test.XXXXXX";
    folder = mkdtemp(name);
    if (!folder)
        return 1;
    RUN(test_hashes);
    RUN(test_text);
    RUN(test_planes);
    RUN(test_metric_column);
    RUN(test_multiples);
    RUN(test_folder);
    RUN(test_second_tree);
    RUN(test_table);
    RUN(test_replaces_only_databases);
    RUN(test_single_file);
    RUN(test_hostile);
    RUN(test_unreadable_source);
    RUN(test_heads);
    RUN(test_page_parts);
    RUN(test_empty);
    RUN(test_sources_plan);
    RUN(test_sources_chunk);
    RUN(test_sources_in_head);
    RUN(test_places);
    for (int i = 0; i < 200; i++) {
        check_drawn_column();
        check_drawn_text();
    }
    RUN(test_metric_files);
    RUN(test_runs);
    RUN(test_errors);
    RUN(test_long_paths);
    dir_remove_tree(folder, NULL);
    return tap_done();
}
