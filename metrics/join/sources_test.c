/* SPDX-License-Identifier: BSD-3-Clause */
/* Displayed names of files, and the matching files on this machine. */
#include "metrics/join/join.h"
#include "tests/cases.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *files[6];   /* "module:path"; "module+path" where structure names it; "module/path/" is its folder */
    const char *sources[2]; /* "dir" or "dir=view" */
    const char *want[6];
} names[] = {
    {"below the common folder",
     {"0:/home/me/heat/src/a.c", "0:/home/me/heat/main.c", "0:/home/me/heat/src/sub/b.h"},
     {NULL},
     {"src/a.c", "main.c", "src/sub/b.h"}},
    {"one file alone", {"0:/home/me/heat/src/a.c"}, {NULL}, {"a.c"}},
    {"files of the system do not count",
     {"0:/home/me/heat/a.c", "0:/usr/include/c++/12/bits/stl_vector.h", "0:/usr/include/stdio.h"},
     {NULL},
     {"a.c", "bits/stl_vector.h", "include/stdio.h"}},
    {"each module has its own folder",
     {"0:/home/me/heat/a.c", "0:/home/me/heat/x/b.c", "1:/build/lib-1.2/src/c.c"},
     {NULL},
     {"a.c", "x/b.c", "c.c"}},
    {"equal names grow until they differ",
     {"0:/home/me/heat/a.c", "1:/build/lib/a.c", "2:/build/lob/a.c"},
     {NULL},
     {"heat/a.c", "lib/a.c", "lob/a.c"}},
    {"nothing in common but the root", {"0:/one/a/x.c", "0:/two/b/y.c"}, {NULL}, {"a/x.c", "b/y.c"}},
    {"relative ones stay, without leading dots", {"0:src/a.c", "0:../../lib/b.c"}, {NULL}, {"src/a.c", "lib/b.c"}},
    {"relative to a source folder that is not here",
     {"0:/nowhere/tree/x/a.c", "0:/nowhere/tree/b.c", "0:/elsewhere/c.c"},
     {"/nowhere/tree", "/elsewhere=other"},
     {"x/a.c", "b.c", "other/c.c"}},
    {"the same to the end", {"0:/a/b.c", "0:a/b.c"}, {NULL}, {"b.c", "a/b.c"}},
    {"below the folder of all sources, whichever was sampled",
     {"0/home/me/heat/", "0:/home/me/heat/src/a.c"},
     {NULL},
     {"src/a.c"}},
    {"beside it",
     {"0/home/me/heat/src/", "0:/home/me/heat/include/a.h", "0:/home/me/heat/src/b.c"},
     {NULL},
     {"include/a.h", "b.c"}},
    {"that folder is nowhere near", {"0/build/x/", "0:/home/me/heat/a.c"}, {NULL}, {"a.c"}},
};

static struct correlation correlation_with(struct strtab *strings, const char *const *files)
{
    struct correlation c;
    correlation_init(&c, strings);
    for (uint32_t i = 0; i < 3; i++)
        *vec_push(&c.modules) = (struct module){.group = i};
    for (; *files; files++) {
        if ((*files)[1] == '/') {
            c.modules.items[**files - '0'].folder = strtab_add(strings, *files + 1);
            continue;
        }
        *vec_push(&c.files) =
            (struct source_file){.name = strtab_add(strings, *files + 2), .raw_name = strtab_add(strings, *files + 2)};
        *vec_push(&c.file_module) = (uint32_t)(**files - '0');
        *vec_push(&c.file_known) = (*files)[1] == '+';
    }
    return c;
}

static void test_names(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct strtab *strings = strtab_create();
        struct config *config = config_create();
        const char *files[7] = {NULL};
        memcpy(files, names[i].files, sizeof names[i].files);
        struct correlation c = correlation_with(strings, files);
        for (size_t k = 0; k < ARRAY_SIZE(names[i].sources) && names[i].sources[k]; k++) {
            const char *equals = strchr(names[i].sources[k], '=');
            char *dir = equals ? mem_strndup(names[i].sources[k], (size_t)(equals - names[i].sources[k]))
                               : mem_strdup(names[i].sources[k]);
            config_add_source_view(config, dir, equals ? equals + 1 : "");
            mem_free(dir);
        }
        printf("# %s\n", names[i].name);
        sources_name_files(&c, config);
        for (size_t k = 0; k < c.files.count; k++)
            CHECK_STR(strtab_get(strings, c.files.items[k].name), names[i].want[k]);
        correlation_release(&c);
        config_free(config);
        strtab_free(strings);
    }
}

/* ---- texts --------------------------------------------------------------------------------- */

static void touch(const char *path)
{
    char *dir = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
    dir_make(dir, NULL);
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
    mem_free(dir);
}

/* `path`: template for mkdtemp; false: `what` is skipped. */
static bool enter_new_folder(char *path, const char *what)
{
    if (mkdtemp(path) && chdir(path) == 0)
        return true;
    SKIP(what, "no folder can be made in /tmp");
    return false;
}

static void leave_folder(const char *path)
{
    if (chdir("/") == 0)
        dir_remove_tree(path, NULL);
}

static const struct {
    const char *raw, *want; /* "": none; otherwise below the scratch folder */
    const char *sources[3];
    const char *replace[2];
} texts[] = {
    {"/gone/src/a.c", "", {NULL}, {NULL}},
    {"/gone/src/a.c", "tree/src/a.c", {"tree"}, {NULL}},
    {"/gone/src/a.c", "flat/a.c", {"flat"}, {NULL}},
    {"/gone/src/a.c", "flat/a.c", {"flat", "tree"}, {NULL}}, /* in the order given */
    {"/gone/src/a.c", "tree/src/a.c", {"tree/*"}, {NULL}},
    {"/gone/other/a.c", "tree/other/a.c", {"tree/*"}, {NULL}}, /* the longest end */
    {"/gone/deep/b.c", "tree/x/y/deep/b.c", {"tree/*"}, {NULL}},
    {"/gone/deep/b.c", "tree/b.c", {"tree"}, {NULL}}, /* without subfolders */
    {"/gone/x/none.c", "", {"tree/*"}, {NULL}},
    {"b.c", "tree/b.c", {"tree/*"}, {NULL}}, /* the shorter path of equals */
    {"/gone/src/a.c", "tree/src/a.c", {NULL}, {"/gone", "tree"}},
    {"../src/a.c", "tree/src/a.c", {"tree"}, {NULL}},
    {"/etc/passwd", "", {NULL}, {NULL}},
    {"/x/../etc/passwd", "", {NULL}, {NULL}},
    {"/proc/version", "", {NULL}, {NULL}},
};

static void test_texts(void)
{
    char scratch[] = "/tmp/hpcview-sources-XXXXXX";
    static const char *const files[] = {"tree/src/a.c", "tree/other/a.c", "tree/x/y/deep/b.c", "tree/b.c",
                                        "tree/z/b.c",   "flat/a.c",       "tree/.git/b.c"};
    if (!enter_new_folder(scratch, "texts of sources"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        touch(files[i]);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct strtab *strings = strtab_create();
        struct config *config = config_create();
        char *file = mem_printf("0:%s", texts[i].raw);
        const char *list[] = {file, NULL};
        struct correlation c = correlation_with(strings, list);
        for (size_t k = 0; k < ARRAY_SIZE(texts[i].sources) && texts[i].sources[k]; k++)
            config_add_source_path(config, texts[i].sources[k]);
        if (texts[i].replace[0])
            config_add_replace(config, texts[i].replace[0], texts[i].replace[1]);
        sources_find(&c, config, NULL, 0);
        const char *got = strtab_get(strings, c.files.items[0].found);
        printf("# %s\n", texts[i].raw);
        CHECK_STR(str_starts(got, "./") ? got + 2 : got, texts[i].want);
        correlation_release(&c);
        config_free(config);
        strtab_free(strings);
        mem_free(file);
    }
    leave_folder(scratch);
}

/* ---- readable files: SCRATCH represents the folder ------------------------------------------------ */

static const struct {
    const char *name, *raw; /* raw: ":path" a measurement's, "+path" debug information's */
    const char *also;       /* another file's name, or NULL */
    bool taken;
} readings[] = {
    {"an absolute name that nobody vouches for", ":SCRATCH/out/secret.txt", NULL, false},
    {"the same in debug information", "+SCRATCH/out/secret.txt", NULL, true},
    {"a folder of the debug information", ":SCRATCH/out/secret.txt", "+SCRATCH/out/main.c", true},
    {"another folder of the debug information", ":SCRATCH/out/secret.txt", "+SCRATCH/here/main.c", false},
    {"a file that a measurement names opens no folder", ":SCRATCH/out/secret.txt", ":SCRATCH/out/main.c", false},
    {"below the current folder", ":SCRATCH/here/main.c", NULL, true},
    {"up and out", ":../out/secret.txt", NULL, false},
    {"up and out in the middle", ":./sub/../../out/secret.txt", NULL, false},
    {"up and in again", ":./../here/main.c", NULL, true},
    {"a link to a file outside", ":link.c", NULL, false},
    {"a link to a folder outside", ":away/secret.txt", NULL, false},
    {"a link that stays inside", ":stays.c", NULL, true},
    {"a hidden folder", ":.ssh/key.c", NULL, false},
    {"a hidden file", ":.rc", NULL, false},
    {"a hidden folder of the debug information", "+SCRATCH/here/.ssh/key.c", NULL, true},
    {"/etc by another spelling", ":./../../../../../etc/passwd", NULL, false},
    {"/etc in debug information", "+/etc/passwd", NULL, false},
    {"/etc with two slashes", "+//etc/./passwd", NULL, false},
    {"/etc through a link", "+SCRATCH/here/etc/passwd", NULL, false},
    {"/etc through /proc", "+/proc/self/root/etc/passwd", NULL, false},
    {"a program in /etc opens nothing", ":passwd", "+/etc/main.c", false},
};

static char *below_scratch(const char *scratch, const char *text)
{
    const char *at = strstr(text, "SCRATCH");
    return at ? mem_printf("0%.*s%s%s", (int)(at - text), text, scratch, at + strlen("SCRATCH"))
              : mem_printf("0%s", text);
}

static void read_one(const char *scratch, size_t i)
{
    struct strtab *strings = strtab_create();
    struct config *config = config_create();
    char *raw = below_scratch(scratch, readings[i].raw),
         *also = readings[i].also ? below_scratch(scratch, readings[i].also) : NULL;
    const char *list[] = {raw, also, NULL};
    struct correlation c = correlation_with(strings, list);
    sources_find(&c, config, NULL, 0);
    printf("# %s\n", readings[i].name);
    CHECK((c.files.items[0].found != 0) == readings[i].taken);
    correlation_release(&c);
    config_free(config);
    strtab_free(strings);
    mem_free(raw);
    mem_free(also);
}

static void test_readings(void)
{
    char scratch[] = "/tmp/hpcview-readings-XXXXXX";
    if (!enter_new_folder(scratch, "what may be read"))
        return;
    touch("out/secret.txt");
    touch("out/main.c");
    touch("here/main.c");
    touch("here/sub/x.c");
    touch("here/.ssh/key.c");
    touch("here/.rc");
    bool linked = symlink("../out/secret.txt", "here/link.c") == 0 && symlink("../out", "here/away") == 0 &&
                  symlink("main.c", "here/stays.c") == 0 && symlink("/etc", "here/etc") == 0;
    CHECK(linked && chdir("here") == 0);
    for (size_t i = 0; i < ARRAY_SIZE(readings); i++)
        read_one(scratch, i);
    leave_folder(scratch);
}

/* The measurement's own folder, and the recorded working directory of the program. */
static void test_own_folders(void)
{
    static const struct {
        const char *raw, *run, *working_dir;
        bool taken;
    } cases[] = {
        {"0:SCRATCH/m/a.c", "SCRATCH/m/x.hpcprof", "", true},
        {"0:SCRATCH/m/a.c", "SCRATCH/m", "", true},
        {"0:SCRATCH/m/a.c", "SCRATCH/x.hpcprof", "", true},
        {"0:SCRATCH/m/a.c", "SCRATCH/n/x.hpcprof", "", false},
        {"0:a.c", "SCRATCH/n/x.hpcprof", "SCRATCH/m", false},
        {"0+a.c", "SCRATCH/n/x.hpcprof", "SCRATCH/m", true},
        {"0+../m/a.c", "SCRATCH/n/x.hpcprof", "SCRATCH/n", false},
        {"0+m/a.c", "SCRATCH/n/x.hpcprof", "/", false},
    };
    char scratch[] = "/tmp/hpcview-own-XXXXXX";
    if (!enter_new_folder(scratch, "the measurement's folders"))
        return;
    touch("m/a.c");
    touch("n/b.c");
    touch("away/c.c");
    CHECK(chdir("away") == 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct strtab *strings = strtab_create();
        struct config *config = config_create();
        struct hpcprof *p = hpcprof_create();
        char *raw = below_scratch(scratch, cases[i].raw), *run = below_scratch(scratch, cases[i].run),
             *dir = below_scratch(scratch, cases[i].working_dir);
        const char *list[] = {raw + 1, NULL};
        struct hpcprof_process process = {.working_dir = strtab_add(p->strings, dir + 1)};
        struct input input = {.profile = p, .run = 0};
        hpcprof_add_process(p, &process);
        config_add_measurement(config, run + 1);
        struct correlation c = correlation_with(strings, list);
        sources_find(&c, config, &input, 1);
        printf("# %s of %s\n", cases[i].raw, cases[i].run);
        CHECK((c.files.items[0].found != 0) == cases[i].taken);
        correlation_release(&c);
        config_free(config);
        hpcprof_free(p);
        strtab_free(strings);
        mem_free(raw);
        mem_free(run);
        mem_free(dir);
    }
    leave_folder(scratch);
}

/* Sources next to the measurement of each run, for any run. */
static void test_folders_of_runs(void)
{
    char scratch[] = "/tmp/hpcview-runs-XXXXXX";
    if (!enter_new_folder(scratch, "the measurements' folders"))
        return;
    touch("m/a.c");
    touch("n/b.c");
    touch("o/c.c");
    touch("away/d.c");
    CHECK(chdir("away") == 0);
    struct strtab *strings = strtab_create();
    struct config *config = config_create();
    static const char *const runs[] = {"m/x", "n", "o/y"}, *const files[] = {"m/a.c", "n/b.c", "o/c.c"};
    struct input inputs[4] = {{.run = 0}, {.run = 1}, {.run = 2}, {.run = UINT32_MAX}};
    char *raw[3];
    for (size_t i = 0; i < 3; i++) {
        char *run = path_join(scratch, runs[i]);
        raw[i] = mem_printf("0:%s/%s", scratch, files[i]);
        inputs[i].profile = hpcprof_create();
        config_add_measurement(config, run);
        mem_free(run);
    }
    struct correlation c = correlation_with(strings, (const char *[]){raw[0], raw[1], raw[2], NULL});
    sources_find(&c, config, inputs, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_NAMED(c.files.items[i].found != 0, files[i]);
        hpcprof_free(inputs[i].profile);
        mem_free(raw[i]);
    }
    correlation_release(&c);
    config_free(config);
    strtab_free(strings);
    leave_folder(scratch);
}

/* The folders of modules whose debug information names existing files; each once. */
static void test_kept_folders(void)
{
    static const struct {
        const char *files[7], *want;
    } kept[] = {
        {{"0+SCRATCH/one/x/a.c", "0+SCRATCH/one/b.c"}, "SCRATCH/one "},
        {{"0+SCRATCH/one/a.c", "1+SCRATCH/two/b.c", "2+SCRATCH/one/c.c"}, "SCRATCH/one SCRATCH/two "},
        {{"0+SCRATCH/two/a.c", "1+SCRATCH/one/b.c", "2+SCRATCH/one/c.c"}, "SCRATCH/two SCRATCH/one "},
        {{"0+SCRATCH/one/x/a.c", "1+SCRATCH/one/b.c"}, "SCRATCH/one/x SCRATCH/one "},
        {{"0+SCRATCH/one/a.c", "0:SCRATCH/one/b.c", "1+SCRATCH/two/c.c"}, "SCRATCH/two "},
        {{"0+SCRATCH/one/a.c", "0:b.c", "0:/usr/include/c.h"}, "SCRATCH/one "},
        {{"0+SCRATCH/gone/a.c", "1+SCRATCH/file/b.c"}, ""},
        {{"0+/a.c", "1+a.c", "2+/usr/include/stdio.h"}, ""},
    };
    char scratch[] = "/tmp/hpcview-kept-XXXXXX";
    if (!enter_new_folder(scratch, "folders that are kept"))
        return;
    touch("one/x/y");
    touch("two/y");
    touch("./file");
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        struct strtab *strings = strtab_create();
        struct experiment *e = mem_calloc(1, sizeof *e);
        struct buf got = {0}, want = {0};
        char *files[ARRAY_SIZE(kept[i].files)] = {NULL};
        const char *list[ARRAY_SIZE(files)] = {NULL};
        for (size_t k = 0; kept[i].files[k]; k++) {
            files[k] = below_scratch(scratch, kept[i].files[k]);
            list[k] = files[k] + 1;
        }
        struct correlation c = correlation_with(strings, list);
        e->strings = strings;
        sources_keep_folders(&c, e);
        buf_str(&got, "");
        buf_str(&want, "");
        for (size_t k = 0; k < e->source_folder_count; k++)
            buf_printf(&got, "%s ", strtab_get(strings, e->source_folders[k]));
        for (const char *at = kept[i].want; *at;) {
            bool here = str_starts(at, "SCRATCH");
            if (here)
                buf_str(&want, scratch);
            else
                buf_char(&want, *at);
            at += here ? strlen("SCRATCH") : 1;
        }
        CHECK_STR(got.bytes, want.bytes);
        for (size_t k = 0; k < ARRAY_SIZE(files); k++)
            mem_free(files[k]);
        buf_release(&got);
        buf_release(&want);
        correlation_release(&c);
        experiment_free(e);
    }
    leave_folder(scratch);
}

/* A file of the same name from another program is recognized by its length. */
static void test_length(void)
{
    static const struct {
        const char *raw;
        uint32_t line;
        bool taken;
    } cases[] = {{"0:/gone/three.c", 3, true}, {"0:/gone/three.c", 4, false}, {"0:three.c", 4, false}};
    char path[] = "/tmp/hpcview-length-XXXXXX";
    if (!enter_new_folder(path, "length of sources"))
        return;
    FILE *f = fopen("three.c", "w");
    fputs("1\n2\n3\n", f);
    fclose(f);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct strtab *strings = strtab_create();
        struct config *config = config_create();
        const char *list[] = {cases[i].raw, NULL};
        struct correlation c = correlation_with(strings, list);
        *vec_push(&c.places) = (struct place){.kind = PLACE_LINE, .file = 0, .line_first = cases[i].line};
        sources_find(&c, config, NULL, 0);
        CHECK((c.files.items[0].found != 0) == cases[i].taken);
        correlation_release(&c);
        config_free(config);
        strtab_free(strings);
    }
    leave_folder(path);
}

/* ---- names of given files, compared verbatim: tests/print/sources.cases ------------------------------- */

/* "/x/y/a.c", "x/a.c", "../z/b.c": of few words, so that many ends are alike. mem_free. */
static char *draw_path(void)
{
    static const char *const begins[] = {"/", "/", "/home/me/", "", "", "../", "/usr/include/", "/usr/include/c++/12/",
                                         "./"};
    static const char *const folders[] = {"x/", "y/", "z/", "xy/", "x.d/"};
    static const char *const bases[] = {"a.c", "b.c", "xa.c", "a.h"};
    struct buf b = {0};
    buf_str(&b, begins[below(ARRAY_SIZE(begins))]);
    for (uint32_t n = below(4); n > 0; n--)
        buf_str(&b, folders[below(ARRAY_SIZE(folders))]);
    buf_str(&b, bases[below(ARRAY_SIZE(bases))]);
    return b.bytes;
}

/* How many components both end with, one by one. */
static unsigned plain_shared_end(const char *a, const char *b)
{
    unsigned n = 0;
    const char *p = path_base(a), *q = path_base(b);
    while (strcmp(p, q) == 0) {
        n++;
        if (p == a || q == b)
            break;
        for (p--; p > a && p[-1] != '/'; p--)
            ;
        for (q--; q > b && q[-1] != '/'; q--)
            ;
    }
    return n;
}

static void test_shared_ends(void)
{
    size_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        char *a = draw_path(), *b = draw_path();
        if (metrics_path_shared_end(a, b) != plain_shared_end(a, b) && wrong++ == 0)
            printf("# %s %s: %u\n", a, b, metrics_path_shared_end(a, b));
        mem_free(a);
        mem_free(b);
    }
    CHECK_INT(wrong, 0);
}

static struct correlation draw_files(struct strtab *strings)
{
    const char *files[16] = {NULL};
    size_t n = 1 + below(12);
    for (size_t i = 0; i < n; i++) {
        char *path = draw_path();
        bool again = false;
        uint32_t module = below(3), unknown = below(3) == 0; /* one after the other: compilers differ in order */
        const char *file = mem_printf("%u%c%s", module, unknown ? ':' : '+', path);
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(files[k] + 2, path) == 0;
        mem_free(path);
        if (again) {
            mem_free((char *)file);
            n = i;
            break;
        }
        files[i] = file;
    }
    struct correlation c = correlation_with(strings, files);
    for (uint32_t i = 0; i < 3; i++)
        if (below(3) == 0) {
            char *path = draw_path();
            path[path_base(path) - path] = '\0';
            c.modules.items[i].folder = strtab_add(strings, path);
            mem_free(path);
        }
    for (size_t i = 0; i < n; i++)
        mem_free((char *)files[i]);
    return c;
}

static void draw_config(struct config *config)
{
    for (uint32_t n = below(3); n > 0; n--) {
        char *path = draw_path(), *dir = mem_printf("%.*s%s", (int)(path_base(path) - path), path, below(2) ? "*" : "");
        config_add_source_view(config, dir, below(3) ? "" : "view");
        mem_free(path);
        mem_free(dir);
    }
    if (below(3) == 0) {
        char *in = draw_path(), *out = draw_path();
        in[path_base(in) - in] = out[path_base(out) - out] = '\0';
        config_add_replace(config, in, out);
        mem_free(in);
        mem_free(out);
    }
}

static void say_config(const struct config *config, struct buf *out)
{
    for (size_t i = 0; i < config->sources.count; i++)
        buf_printf(out, "from %s%s%s%s\n", config->sources.items[i].dir,
                   config->sources.items[i].subfolders ? "/*" : "", *config->sources.items[i].view ? " as " : "",
                   config->sources.items[i].view);
    for (size_t i = 0; i < config->replaces.count; i++)
        buf_printf(out, "%s by %s\n", config->replaces.items[i].in, config->replaces.items[i].out);
}

/* Names of given files; each is unique, and is a suffix of its path. */
static void say_names(struct buf *out)
{
    struct strtab *strings = strtab_create();
    struct config *config = config_create();
    struct correlation c = draw_files(strings);
    draw_config(config);
    say_config(config, out);
    for (size_t i = 0; i < c.modules.count; i++)
        if (c.modules.items[i].folder)
            buf_printf(out, "%zu is made in %s\n", i, strtab_get(strings, c.modules.items[i].folder));
    sources_name_files(&c, config);
    for (size_t i = 0; i < c.files.count; i++) {
        const char *name = strtab_get(strings, c.files.items[i].name);
        buf_printf(out, "%u %s: %s\n", c.file_module.items[i], strtab_get(strings, c.files.items[i].raw_name), name);
        for (size_t k = 0; k < i; k++)
            if (c.files.items[k].name == c.files.items[i].name)
                buf_str(out, "NOT ITS OWN\n");
    }
    correlation_release(&c);
    config_free(config);
    strtab_free(strings);
}

/* The texts chosen for given files, from several folders, some of which are in the configuration. */
static void say_texts(const char *scratch, struct buf *out)
{
    struct strtab *strings = strtab_create();
    struct config *config = config_create();
    struct correlation c = draw_files(strings);
    for (uint32_t n = below(3); n > 0; n--) {
        static const char *const dirs[] = {"x", "x/y", "y", "*", "x/*", "xy/*"};
        char *dir = mem_printf("%s/%s", scratch, dirs[below(ARRAY_SIZE(dirs))]);
        config_add_source_view(config, dir, "");
        buf_printf(out, "from %s\n", dir + strlen(scratch) + 1);
        mem_free(dir);
    }
    if (below(3) == 0) {
        char *to = mem_printf("%s/x", scratch);
        config_add_replace(config, "/home/me", to);
        buf_str(out, "/home/me by x\n");
        mem_free(to);
    }
    sources_find(&c, config, NULL, 0);
    for (size_t i = 0; i < c.files.count; i++) {
        const char *found = strtab_get(strings, c.files.items[i].found);
        bool inside = str_starts(found, scratch);
        buf_printf(out, "%s%s: %s\n", c.file_known.items[i] ? "known " : "",
                   strtab_get(strings, c.files.items[i].raw_name),
                   *found ? found + (inside ? strlen(scratch) + 1 : 0) : "none");
    }
    correlation_release(&c);
    config_free(config);
    strtab_free(strings);
}

static void make_drawn_folder(const char *scratch)
{
    for (int i = 0; i < 40; i++) {
        char *path = draw_path(), *whole = mem_printf("%s/%s", scratch, path + strspn(path, "/."));
        touch(whole);
        mem_free(path);
        mem_free(whole);
    }
}

static void say_sources(void *ctx, const char *what, struct buf *out)
{
    const char *scratch = ctx;
    for (int i = 1; i <= 60; i++) {
        buf_printf(out, "-- %d\n", i);
        if (strcmp(what, "names") == 0)
            say_names(out);
        else
            say_texts(scratch, out);
    }
}

static void begin_sources(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    seed = 88172645463325252;
}

static void test_drawn(void)
{
    static const char *const inputs[] = {NULL};
    const char *top = getenv("top_srcdir");
    char scratch[] = "/tmp/hpcview-drawn-XXXXXX", *whole = realpath(top ? top : ".", NULL);
    struct cases drawn = {inputs, begin_sources, NULL, NULL, say_sources, scratch, NULL, {0}};
    if (!whole || setenv("top_srcdir", whole, 1) != 0)
        exit(99);
    free(whole);
    if (!enter_new_folder(scratch, "drawn sources"))
        return;
    begin_sources(NULL, "");
    make_drawn_folder(scratch);
    mkdir("away", 0777);
    CHECK_INT(chdir("away"), 0);
    cases_run(&drawn, "tests/print/sources.cases");
    leave_folder(scratch);
}

int main(void)
{
    RUN(test_shared_ends);
    RUN(test_drawn);
    RUN(test_length);
    RUN(test_names);
    RUN(test_texts);
    RUN(test_readings);
    RUN(test_own_folders);
    RUN(test_folders_of_runs);
    RUN(test_kept_folders);
    return tap_done();
}
