/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches and computed gotos as compilers generate them: the source below is compiled with the installed compilers for
 * x86-64 and AArch64, at all levels, position independent or not. Every indirect jump must be resolved, and every byte
 * of every function must be code, padding or table: a missing target leaves code unreached, and a surplus one causes an
 * overlap or undecodable bytes.
 */
#include "bloop/code/code.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>

static const char source[] =
    "int g(int), h(int);\n"
    "int dense(int x) { switch (x) {\n"
    "  case 0: return g(1); case 1: return h(2); case 2: return g(7) + 1; case 3: return h(9) * 3; case 4: return g(x) "
    "- h(x);\n"
    "  case 5: return 17 * g(4); case 6: return h(5); case 7: return g(g(3)); default: return -1; } }\n"
    "int shifted(unsigned char x) { switch (x) {\n"
    "  case 'a': return g(1); case 'b': return h(2); case 'c': return g(7) + 1; case 'd': return h(9) * 3; case 'e': "
    "return g(x) - h(x);\n"
    "  case 'g': return 17 * g(4); case 'h': return h(5); case 'j': return g(g(3)); } return 0; }\n"
    "int masked(int x) { switch (x & 7) {\n"
    "  case 0: return g(1); case 1: return h(2); case 2: return g(7) + 1; case 3: return h(9) * 3; case 4: return g(x) "
    "- h(x);\n"
    "  case 5: return 17 * g(4); case 6: return h(5); case 7: return g(g(3)); } return 0; }\n"
    "int top(unsigned long x) { switch (x >> 61) {\n"
    "  case 0: return g(1); case 1: return h(2); case 2: return g(7) + 1; case 3: return h(9) * 3; case 4: return g(3) "
    "- h(4);\n"
    "  case 5: return 17 * g(4); case 6: return h(5); case 7: return g(g(3)); } return 0; }\n"
    "int in_loop(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) switch (p[i]) {\n"
    "  case 10: s += g(1); break; case 11: s ^= h(2); break; case 12: s -= g(7); break; case 13: s += h(9) * 3; "
    "break;\n"
    "  case 14: s = g(s); break; case 15: s *= 17; g(s); break; case 16: h(s); break; default: s++; } return s; }\n"
    "int nested(int x, int y) { switch (x) {\n"
    "  case 0: switch (y) { case 1: return g(5); case 2: return h(6); case 3: return g(8); case 4: return h(1); case "
    "5: return g(2); default: break; }\n"
    "  case 1: return h(2); case 2: return g(7) + 1; case 3: return h(9) * 3; case 4: return g(x) - h(x); case 5: "
    "return g(9); }\n"
    "  return 3; }\n"
    "int interpret(const unsigned char *p) {\n"
    "  static const void *const at[] = {&&push, &&add, &&sub, &&mul, &&stop};\n"
    "  int a = 0, b = 1;\n"
    "  goto *at[*p++];\n"
    "  push: b = a; a = *p++; goto *at[*p++];\n"
    "  add: a += b; goto *at[*p++];\n"
    "  sub: a -= b; g(a); goto *at[*p++];\n"
    "  mul: a *= b; h(b); goto *at[*p++];\n"
    "  stop: return a; }\n"
    "int dispatch(const int *p) { int s = 0; for (;;) switch (*p++) {\n"
    "  case 0: s += g(1); continue; case 1: s ^= h(2); continue; case 2: s -= g(7); continue; case 3: s += h(9) * 3; "
    "continue;\n"
    "  case 4: s = g(s); continue; case 5: return s; default: __builtin_unreachable(); } }\n"
    "int through(int (*const *f)(int), int x) { g(x); return f[x](x + 1); }\n";

static const struct {
    const char *name;
    size_t loops_least, loops_most;
} functions[] = {{"dense", 0, 0},  {"shifted", 0, 0},   {"masked", 0, 0},   {"top", 0, 0},    {"in_loop", 1, 2},
                 {"nested", 0, 0}, {"interpret", 1, 1}, {"dispatch", 1, 2}, {"through", 0, 0}};

static const struct {
    const char *compiler, *options;
} builds[] = {
    {"gcc", "-fPIC"},
    {"gcc", "-fno-pic -no-pie"},
    {"gcc", "-fPIC -fcf-protection"},
    {"clang", "-fPIC"},
    {"clang", "-fno-pic"},
    {"aarch64-linux-gnu-gcc", "-fPIC"},
    {"aarch64-linux-gnu-gcc", "-fno-pic -no-pie"},
    {"clang --target=aarch64-linux-gnu", "-fPIC -fuse-ld=/usr/bin/aarch64-linux-gnu-ld"},
};
static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};

static char folder[] = "/tmp/jumptable_test.XXXXXX";

static bool compile(size_t build, const char *level)
{
    char *command = mem_printf("cd %s && %s -w %s %s -shared -nostdlib -o t.so t.c >/dev/null 2>&1", folder,
                               builds[build].compiler, level, builds[build].options);
    /* Code at fixed addresses cannot be a shared object. */
    if (strstr(builds[build].options, "-fno-pic") != NULL) {
        mem_free(command);
        const char *extra = strncmp(builds[build].compiler, "clang", 5) == 0 ? "-no-pie" : "";
        command =
            mem_printf("cd %s && %s -w %s %s %s -static -nostdlib -Wl,-e,dense -o t.so t.c rest.c >/dev/null 2>&1",
                       folder, builds[build].compiler, level, builds[build].options, extra);
    }
    bool good = system(command) == 0;
    mem_free(command);
    return good;
}

static bool check_function(const struct image *im, const struct function_table *t, const uint8_t *noreturn, uint32_t f,
                           size_t which, struct cfg *g, struct loop_forest *forest, const char *build)
{
    struct cfg_input in = {
        .image = im, .functions = t, .arch = arch_get(im->arch), .noreturn = noreturn, .function = f};
    cfg_build(&in, g);
    loop_forest_find(g, forest);
    uint64_t code = 0, size = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (i == f || t->functions[i].part_of == f)
            size += t->functions[i].end - t->functions[i].begin;
    for (size_t i = 0; i < g->block_count; i++)
        code += g->blocks[i].end - g->blocks[i].begin;
    bool good = g->unresolved_jumps == 0 && g->bad_bytes == 0 && code + g->padding_bytes + g->table_bytes == size &&
                forest->loop_count >= functions[which].loops_least && forest->loop_count <= functions[which].loops_most;
    if (!good)
        printf("# %s, %s: %u of %u jumps unresolved, %llu of %llu bytes code, %llu bad, %zu loops\n", build,
               functions[which].name, g->unresolved_jumps, g->indirect_jumps, (unsigned long long)code,
               (unsigned long long)size, (unsigned long long)g->bad_bytes, forest->loop_count);
    return good;
}

static void test_build(size_t build, const char *level, struct cfg *g, struct loop_forest *forest)
{
    char *name = mem_printf("%s %s %s", builds[build].compiler, level, builds[build].options);
    char *path = mem_printf("%s/t.so", folder);
    struct image *im = NULL;
    struct function_table *t = NULL;
    struct err err = {0};
    if (!compile(build, level)) {
        SKIP(name, "cannot compile this here");
    } else if (image_open(path, NULL, &im, NULL, &err) < 0) {
        tap_result(false, err.msg, __FILE__, __LINE__);
    } else {
        t = functions_find(im, NULL);
        uint8_t *noreturn = noreturn_find(im, t, true, 1);
        size_t found = 0, good = 0;
        for (uint32_t f = 0; f < t->count; f++)
            for (size_t k = 0; k < ARRAY_SIZE(functions); k++)
                if (strcmp(t->functions[f].link_name, functions[k].name) == 0) {
                    found++;
                    good += check_function(im, t, noreturn, f, k, g, forest, name);
                }
        tap_result(found == ARRAY_SIZE(functions) && good == found, name, __FILE__, __LINE__);
        mem_free(noreturn);
    }
    functions_free(t);
    image_close(im);
    mem_free(path);
    mem_free(name);
}

static void write_file(const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (f != NULL) {
        fputs(text, f);
        fclose(f);
    }
    mem_free(path);
}

int main(void)
{
    struct cfg g = {0};
    struct loop_forest forest = {0};
    if (mkdtemp(folder) == NULL)
        return 99;
    write_file("t.c", source);
    write_file("rest.c", "int g(int x) { return x + 1; } int h(int x) { return x * 3; }\n");
    for (size_t b = 0; b < ARRAY_SIZE(builds); b++)
        for (size_t l = 0; l < ARRAY_SIZE(levels); l++)
            test_build(b, levels[l], &g, &forest);
    cfg_release(&g);
    loop_forest_release(&forest);
    char *command = mem_printf("rm -r %s", folder);
    if (system(command) != 0)
        printf("# %s stays\n", folder);
    mem_free(command);
    return tap_done();
}
