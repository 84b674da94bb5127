/* What files are called, and which file on this machine is taken for one. */
#include "metrics/metrics_int.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *files[6];   /* "module:path" */
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
};

static struct correlation correlation_with(struct strtab *strings, const char *const *files)
{
    struct correlation c;
    correlation_init(&c, strings);
    for (uint32_t i = 0; i < 3; i++)
        *vec_push(&c.modules) = (struct module){.group = i};
    for (; *files; files++) {
        *vec_push(&c.files) =
            (struct source_file){.name = strtab_add(strings, *files + 2), .raw_name = strtab_add(strings, *files + 2)};
        *vec_push(&c.file_module) = (uint32_t)(**files - '0');
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

static const struct {
    const char *raw, *want; /* "" none; else below the scratch folder */
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
    {"/gone/deep/b.c", "tree/b.c", {"tree"}, {NULL}}, /* no subfolders asked for */
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
    if (!mkdtemp(scratch) || chdir(scratch) != 0) {
        SKIP("texts of sources", "no folder can be made in /tmp");
        return;
    }
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
    if (chdir("/") == 0)
        dir_remove_tree(scratch, NULL);
}

/* Another program's file of the same name is told by its length. */
static void test_length(void)
{
    static const struct {
        const char *raw;
        uint32_t line;
        bool taken;
    } cases[] = {{"0:/gone/three.c", 3, true}, {"0:/gone/three.c", 4, false}, {"0:three.c", 4, false}};
    char path[] = "/tmp/hpcview-length-XXXXXX";
    if (!mkdtemp(path) || chdir(path) != 0) {
        SKIP("length of sources", "no folder can be made in /tmp");
        return;
    }
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
    if (chdir("/") == 0)
        dir_remove_tree(path, NULL);
}

int main(void)
{
    test_length();
    test_names();
    test_texts();
    return tap_done();
}
