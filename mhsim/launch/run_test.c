/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a program is started for simulation: this test acts as the program and, under other names, as QEMU, and records
 * the arguments, orders and variables of each. It leaves a minimal measurement.
 */
#include "mhsim/shared_layout.h"

#include "config.h"
#include "mhsim/launch/libraries.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER_VARIABLE "RUN_TEST_FOLDER"

/* ---- started programs ------------------------------------------------------------------------------------------- */

static void copy_file(const char *from_folder, const char *to_folder, const char *name)
{
    static char bytes[1 << 16];
    char *from = path_join(from_folder, name), *to = path_join(to_folder, name);
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    for (size_t n; out && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    mem_free(from);
    mem_free(to);
}

/* An empty measurement of this process. */
static void leave_raw(const char *folder)
{
    static struct raw_head head;
    char *path = path_join(folder, RAW_ORDERS), *raw = mem_printf("%s/%d-0000" RAW_SUFFIX, folder, (int)getpid());
    FILE *f = fopen(path, "rb");
    if (!f || fread(&head.orders, sizeof head.orders, 1, f) != 1)
        exit(70);
    fclose(f);
    head.magic = RAW_MAGIC;
    head.size = RAW_SIZES;
    head.pid = (uint32_t)getpid();
    head.parent_pid = (uint32_t)getppid();
    head.ended = 1;
    head.start_ns = 5;
    head.end_ns = 9;
    head.counts[RAW_ROWS] = head.counts[RAW_PAIRS] = 1;
    head.counts[RAW_OBJECTS] = 2;
    int fd = open(raw, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        ftruncate(fd, (off_t)(RAW_TABLE_AT(RAW_ROWS) + sizeof(struct mhsim_row))) != 0)
        exit(71);
    close(fd);
    mem_free(path);
    mem_free(raw);
}

/* Terminal signals reach both, but only the parent handles them; a signal sent to the waiting parent is forwarded, and
 * sent again in case the child is not waiting yet. */
static bool signals_come(void)
{
    static const int both[] = {SIGINT, SIGQUIT}, passed[] = {SIGTERM, SIGHUP};
    const struct timespec soon = {0, 20 * 1000 * 1000};
    struct sigaction act;
    sigset_t set;
    pid_t parent = getppid();
    for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
        if (sigaction(both[i], NULL, &act) != 0 || act.sa_handler != (i ? SIG_IGN : SIG_DFL))
            return false;
        kill(parent, both[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
        int came = -1;
        if (sigaction(passed[i], NULL, &act) != 0 || act.sa_handler != SIG_DFL)
            return false;
        sigemptyset(&set);
        sigaddset(&set, passed[i]);
        sigprocmask(SIG_BLOCK, &set, NULL);
        for (int n = 0; n < 500 && came < 0 && getppid() == parent; n++) {
            kill(parent, passed[i]);
            came = sigtimedwait(&set, NULL, &soon);
        }
        if (came != passed[i])
            return false;
    }
    return true;
}

static int play(char **argv, const char *folder)
{
    char *words = path_join(folder, "words"), *mode_path = path_join(folder, "mode"), mode[64] = "";
    const char *simulate = getenv(RAW_VARIABLE);
    FILE *f = fopen(words, "w"), *m = fopen(mode_path, "r");
    if (!f || !m || !fgets(mode, sizeof mode, m) || !simulate)
        return 72;
    for (; *argv; argv++)
        fprintf(f, "%s\n", *argv);
    fclose(f);
    fclose(m);
    mem_free(words);
    mem_free(mode_path);
    copy_file(simulate, folder, RAW_ORDERS);
    copy_file(simulate, folder, RAW_VARIABLES);
    if (strstr(mode, "raw"))
        leave_raw(simulate);
    if (strstr(mode, "ill"))
        raise(SIGILL);
    if (strstr(mode, "shot"))
        raise(SIGKILL);
    if (strstr(mode, "signals") && !signals_come())
        return 73;
    return strstr(mode, "three") ? 3 : 0;
}

/* ---- asking for it ---------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/run_test.XXXXXX";
static char *own, *program, *qemu, *plugin, *heap, *out;
static struct machine_memory machine;
static struct raw_orders orders; /* that the program was given */
static struct warnings *said;
static struct err err;

static char *in_folder(const char *name)
{
    return path_join(folder, name);
}

static void put_file(const char *name, const char *text)
{
    char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) == EOF || fclose(f) != 0)
        exit(99);
    mem_free(path);
}

/* The caller frees the result; "" if there is no file. */
static char *take_file(const char *name, size_t *n)
{
    static char bytes[1 << 16];
    char *path = in_folder(name);
    FILE *f = fopen(path, "rb");
    *n = f ? fread(bytes, 1, sizeof bytes - 1, f) : 0;
    if (f)
        fclose(f);
    unlink(path);
    mem_free(path);
    char *copy = mem_alloc(*n + 1);
    memcpy(copy, bytes, *n);
    copy[*n] = '\0';
    return copy;
}

/* Returns the result; words: the programs started, one per line. */
static int run(const struct mhsim_run_options *o, const char *const *argv, const char *mode, int *status, char **words)
{
    size_t n;
    put_file("mode", mode);
    warnings_free(said);
    said = warnings_create();
    err = (struct err){0};
    *status = -1;
    memset(&orders, 0, sizeof orders);
    int result = mhsim_run(o, (char *const *)(uintptr_t)argv, status, said, &err);
    *words = take_file("words", &n);
    char *given = take_file(RAW_ORDERS, &n);
    if (n == sizeof orders)
        memcpy(&orders, given, n);
    mem_free(given);
    return result;
}

static unsigned left_behind(void)
{
    struct text_list files = {0};
    unsigned n = 0;
    struct err e = {0};
    if (dir_list(out, "", "looking", &files, &e) == 0)
        n = (unsigned)files.count;
    text_list_release(&files);
    return n;
}

static struct mhsim_run_options options(void)
{
    return (struct mhsim_run_options){
        .machine = &machine, .out_dir = out, .plugin = plugin, .heap = heap, .qemu = qemu};
}

/* ---- functions, as compilers name them ------------------------------------------------------------------------------------ */

int plain(int) __asm__("run_test_alpha");
int part(int) __asm__("run_test_alpha.part.0");
int longer(int) __asm__("run_test_alphabet");
int fortran(int) __asm__("run_test_beta_");
int module(int) __asm__("__grid_MOD_run_test_gamma");
__attribute__((noinline)) int plain(int x)
{
    return x * 3 + getpid();
}
__attribute__((noinline)) int part(int x)
{
    return x * 5 + getpid();
}
__attribute__((noinline)) int longer(int x)
{
    return x * 7 + getpid();
}
__attribute__((noinline)) int fortran(int x)
{
    return x * 11 + getpid();
}
__attribute__((noinline)) int module(int x)
{
    return x * 13 + getpid();
}

static uint64_t bias;
static int first_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    bias = info->dlpi_addr;
    return 1;
}

static bool has_range(int (*f)(int))
{
    uint64_t at = (uint64_t)(uintptr_t)f - bias;
    for (uint32_t i = 0; i < orders.range_count; i++)
        if (orders.ranges[i].from == at && orders.ranges[i].to > at && orders.ranges[i].to < at + 4096 &&
            strcmp(orders.ranges[i].module, orders.program) == 0)
            return true;
    return false;
}

static void test_functions(void)
{
    static const char *const names[] = {"run_test_alpha", "run_test_beta", "run_test_gamma", NULL},
                             *const none[] = {"run_test_alpha", "run_test_delta", NULL};
    const char *argv[] = {program, NULL};
    struct mhsim_run_options o = options();
    char *words;
    int status;
    o.functions = names;
    CHECK_INT(run(&o, argv, "raw", &status, &words), 0);
    CHECK_INT(orders.range_count, 4);
    CHECK(has_range(plain) && has_range(part) && has_range(fortran) && has_range(module) && !has_range(longer));
    mem_free(words);
    o.functions = NULL;
    o.code = (const struct mhsim_code[]){{"lib.so", 10, 20}, {"bin/prog", 30, 40}};
    o.code_count = 2;
    CHECK_INT(run(&o, argv, "raw", &status, &words), 0);
    CHECK_INT(orders.range_count, 2);
    CHECK(orders.ranges[1].from == 30 && orders.ranges[1].to == 40 && strcmp(orders.ranges[1].module, "bin/prog") == 0);
    mem_free(words);
    o.code_count = 0;
    o.functions = none;
    CHECK_INT(run(&o, argv, "raw", &status, &words), -1);
    CHECK(strstr(err.msg, "has no function 'run_test_delta' in its symbol table") != NULL);
    CHECK_STR(words, "");
    mem_free(words);
}

/* ---- variables --------------------------------------------------------------------------------------------------------------- */

static void add_variable(struct mhsim_variables *list, uint64_t from, int64_t lo, int64_t hi, const char *name)
{
    struct mhsim_variable *v = vec_push(list);
    *v = (struct mhsim_variable){.from = from, .to = from ? from + 64 : 0, .lo = lo, .hi = hi};
    snprintf(v->name, sizeof v->name, "%s", name);
}

static void list_variables(const char *path, struct mhsim_variables *list, struct warnings *w)
{
    warnings_add(w, "of %s", path);
    add_variable(list, 0x500, -8, 0, "in frame");
    add_variable(list, 0, 0x2000, 0x2010, "second");
    add_variable(list, 0, 0x1000, 0x1008, "first");
    add_variable(list, 0, 0x2008, 0x2018, "overlaps second");
    add_variable(list, 0, 0x2010, 0x2020, "third");
    add_variable(list, 0x400, -32, -16, "in another");
    add_variable(list, 0x400, -32, -24, "beside it");
}

static void test_variables(void)
{
    static const char *const wanted[] = {"first", "second", "third", "beside it", "in another", "in frame"};
    const char *argv[] = {program, NULL};
    struct mhsim_run_options o = options();
    char *words;
    int status;
    size_t n;
    o.variables = list_variables;
    CHECK_INT(run(&o, argv, "raw", &status, &words), 0);
    char *bytes = take_file(RAW_VARIABLES, &n);
    struct raw_variables head = {.first = 1};
    bool whole = CHECK_INT(n, sizeof head + 6 * sizeof(struct mhsim_variable));
    for (size_t i = 0; i < 6 && whole; i++) {
        struct mhsim_variable v;
        memcpy(&v, bytes + sizeof head + i * sizeof v, sizeof v);
        CHECK_STR(v.name, wanted[i]);
    }
    if (whole)
        memcpy(&head, bytes, sizeof head);
    CHECK_STR(head.path, own);
    CHECK(head.first == 0 && head.statics == 3 && head.frames == 3);
    CHECK(orders.variable_files == 1 && orders.variables == 6);
    char *of = mem_printf("of %s", own);
    CHECK(warnings_count(said) >= 1 && strcmp(warnings_get(said, 0), of) == 0);
    mem_free(of);
    mem_free(bytes);
    mem_free(words);
}

/* ---- compiled for it, and under QEMU ---------------------------------------------------------------------------------------- */

static void test_compiled(void)
{
    const char *argv[] = {program, "one", "two words", "", NULL};
    struct mhsim_run_options o = options();
    char *words, *wanted = mem_printf("%s\none\ntwo words\n\n", program),
                 *command = mem_printf("%s one two words ", program);
    int status;
    o.simulator = (struct mhsim_options){.classify = true, .sample_sets = 8};
    o.delay = 1, o.window = 2, o.burst = 3, o.period = 4, o.warm_up = 5;
    o.region = "solve";
    o.region_time = 7;
    CHECK_INT(run(&o, argv, "raw three", &status, &words), 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK_STR(words, wanted);
    CHECK_STR(orders.command, command);
    CHECK_STR(orders.program, own);
    CHECK_STR(orders.region, "solve");
    CHECK(orders.magic == RAW_MAGIC && orders.size == sizeof orders && orders.region_time == 7 && orders.delay == 1 &&
          orders.window == 2 && orders.burst == 3 && orders.period == 4 && orders.warm_up == 5 &&
          orders.options.classify && orders.options.sample_sets == 8 && orders.range_count == 0);
    CHECK(memcmp(&orders.machine, &machine, sizeof machine) == 0);
    CHECK_INT(left_behind(), 1); /* a measurement, and no folder of ours */
    mem_free(words);
    CHECK_INT(run(&o, argv, "nothing", &status, &words), -1);
    CHECK(strstr(err.msg, "did not load the simulator it was compiled with") != NULL);
    mem_free(words);
    CHECK_INT(run(&o, argv, "shot", &status, &words), -1);
    CHECK(strstr(err.msg, "was killed by signal 9 before it started") != NULL);
    mem_free(words);
    mem_free(wanted);
    mem_free(command);
}

/* Afterwards all are as they were. */
static void test_signals(void)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    const char *argv[] = {program, NULL};
    struct mhsim_run_options o = options();
    struct sigaction before[ARRAY_SIZE(all)], act = {.sa_handler = SIG_IGN};
    char *words;
    int status;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        act.sa_handler = all[i] == SIGQUIT ? SIG_IGN : SIG_DFL;
        CHECK_INT(sigaction(all[i], &act, &before[i]), 0);
    }
    CHECK_INT(run(&o, argv, "raw signals", &status, &words), 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    mem_free(words);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        CHECK_INT(sigaction(all[i], &before[i], &act), 0);
        CHECK(act.sa_handler == (all[i] == SIGQUIT ? SIG_IGN : SIG_DFL));
    }
}

static void test_qemu(void)
{
    char *real = realpath("/bin/true", NULL);
    const char *argv[] = {"true", "x", NULL};
    struct mhsim_run_options o = options();
    int status;
    char *words;
    if (!real) {
        SKIP("QEMU", "no /bin/true");
        return;
    }
    for (int preloads = 0; preloads < 3; preloads++) {
        char *load = preloads == 0   ? mem_strdup("")
                     : preloads == 1 ? mem_printf("-E\nLD_PRELOAD=%s\n", heap)
                                     : mem_printf("-E\nLD_PRELOAD=%s:libc.so.6\n", heap);
        char *wanted = mem_printf("%s\n-plugin\nfile=%s\n%s-0\ntrue\n%s\nx\n", qemu, plugin, load, real);
        o.heap = preloads ? heap : NULL;
        if (preloads == 2)
            setenv("LD_PRELOAD", "libc.so.6", 1);
        CHECK_INT(run(&o, argv, "raw", &status, &words), 0);
        unsetenv("LD_PRELOAD");
        CHECK_STR(words, wanted);
        CHECK_STR(orders.command, "true x");
        CHECK_STR(orders.program, real);
        CHECK_INT(warnings_count(said), 0);
        mem_free(words);
        mem_free(wanted);
        mem_free(load);
    }
    CHECK_INT(run(&o, argv, "raw ill", &status, &words), 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
    bool told = false;
    for (size_t i = 0; i < warnings_count(said); i++)
        told |= strstr(warnings_get(said, i), "ended by an instruction that QEMU does not support") != NULL;
    CHECK(told);
    mem_free(words);
    CHECK_INT(run(&o, argv, "nothing", &status, &words), -1);
    CHECK(strstr(err.msg, "nothing was simulated: ") && strstr(err.msg, " did not load the plugin"));
    mem_free(words);
    o.plugin = "/nowhere/plugin.so";
    CHECK_INT(run(&o, argv, "raw", &status, &words), -1);
    CHECK(strstr(err.msg, "/nowhere/plugin.so") != NULL);
    CHECK_STR(words, "");
    mem_free(words);
    o.plugin = plugin;
    o.qemu = "qemu-of-nobody";
    CHECK_INT(run(&o, argv, "raw", &status, &words), -1);
    CHECK(strstr(err.msg, "qemu-of-nobody is not installed, and ") != NULL);
    mem_free(words);
    free(real);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"#!/bin/sh\n", "is a script: simulate the program that it starts"},
        {"short", "is not a 64-bit ELF program"},
        {"\177ELF\1\1\1", "is not a 64-bit ELF program"},
#define MORE "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        {"\177ELF\1\1\1" MORE, "is not a 64-bit ELF program"},
        {"\177ELF\2\2\1" MORE, "is not a 64-bit ELF program"},
        {"\177FLE\2\1\1" MORE, "is not a 64-bit ELF program"},
        {"\177ELF\2\1\1" MORE, "is for another processor (ELF machine 30840); x86-64 and AArch64 can be simulated"}};
    struct mhsim_run_options o = options();
    int status;
    char *words, *path = in_folder("refused");
    const char *argv[] = {path, NULL}, *nobody[] = {"/nowhere/at/all", NULL};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        put_file("refused", cases[i].text);
        chmod(path, 0755);
        CHECK_INT(run(&o, argv, "raw", &status, &words), -1);
        if (!CHECK(strstr(err.msg, cases[i].says) != NULL))
            printf("# %s\n", err.msg);
        mem_free(words);
    }
    CHECK_INT(run(&o, nobody, "raw", &status, &words), -1);
    CHECK(str_starts(err.msg, "/nowhere/at/all: "));
    mem_free(words);
    mem_free(path);
}

/* gcc's sanitizer ends a program in which anything is loaded before itself. */
static void allow_preload(void)
{
    const char *given = getenv("ASAN_OPTIONS");
    char *all = mem_printf("%s%sverify_asan_link_order=0", given ? given : "", given ? ":" : "");
    setenv("ASAN_OPTIONS", all, 1);
    mem_free(all);
}

/* ---- libraries: the loader is a script that prints a list given by the test -------------------------------------- */

static void put_bytes(const char *name, const void *bytes, size_t n)
{
    char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        exit(99);
    mem_free(path);
}

struct made_program {
    Elf64_Ehdr head;
    Elf64_Phdr parts[2];
    char loader[200];
};

/* The libraries of a program, a line each, and the words that its loader was given, as text. */
static void check_libraries(const struct made_program *made, size_t size, const char *path, const char *want,
                            const char *asked, const char *name)
{
    struct text_list list = {0};
    struct buf got = {0};
    size_t n;
    const struct filemap file = {.bytes = (const uint8_t *)made, .len = size};
    mhsim_libraries_list("/the program", &file, path, &list);
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&got, "%s\n", path_base(list.items[i]));
    char *words = take_file("asked", &n);
    tap_str(got.len ? got.bytes : "", want, name, __FILE__, __LINE__);
    tap_str(words, asked, name, __FILE__, __LINE__);
    mem_free(words);
    buf_release(&got);
    text_list_release(&list);
}

static void test_libraries(void)
{
    static const char with[] = "...libhpcview-simulate.so", other[] = "...libhpcview-simulate.so.1";
    struct made_program made = {
        .head = {.e_phoff = offsetof(struct made_program, parts), .e_phnum = 2},
        .parts = {{.p_type = PT_LOAD}, {.p_type = PT_INTERP, .p_offset = offsetof(struct made_program, loader)}}};
    put_bytes("liba.so", with, sizeof with);
    put_bytes("libb.so", other, sizeof other);
    put_bytes("with blank.so", with, sizeof with);
    put_bytes("libhpcview-simulate.so", with, sizeof with);
    char *script = mem_printf("#!/bin/sh\necho \"$*\" >%s/asked\ncat %s/list\n", folder, folder);
    char *lines =
        mem_printf("\tlinux-vdso.so.1 (0x0000ffff)\n\tliba.so => %s/liba.so (0x00001000)\n\tlibn.so => not found\n"
                   "\tlibb.so => %s/libb.so (0x00002000)\n\tlibs.so => %s/libhpcview-simulate.so (0x00003000)\n"
                   "\tlibw.so =>  (0x00003000)\n\tblank => %s/with blank.so (0x00004000)\n"
                   "\tlibm.so => %s/missing.so (0x00005000)\n\tliba.so => %s/liba.so (0x0000",
                   folder, folder, folder, folder, folder, folder);
    put_file("ld-linux-made.so", script);
    put_file("ld-other.so", script);
    put_file("list", lines);
    for (int i = 0; i < 2; i++) {
        char *loader = in_folder(i ? "ld-other.so" : "ld-linux-made.so");
        CHECK_INT(chmod(loader, 0700), 0);
        made.parts[1].p_filesz = strlen(loader) + 1;
        strcpy(made.loader, loader);
        mem_free(loader);
        check_libraries(&made, sizeof made, NULL, i ? "" : "liba.so\nwith blank.so\n", i ? "" : "--list /the program\n",
                        i ? "another loader" : "its libraries");
        if (i == 0)
            check_libraries(&made, sizeof made, "/a:/b", "liba.so\nwith blank.so\n",
                            "--library-path /a:/b --list /the program\n", "found by a path");
        if (i == 0)
            check_libraries(&made, sizeof made, "", "liba.so\nwith blank.so\n", "--list /the program\n",
                            "found by a path of nothing");
    }
    char *loader = in_folder("ld-linux-made.so");
    strcpy(made.loader, loader);
    made.parts[1].p_filesz = strlen(loader) + 1;
    size_t end = offsetof(struct made_program, loader) + strlen(loader) + 1;
    const char *found = "liba.so\nwith blank.so\n", *asked = "--list /the program\n";
    check_libraries(&made, end, NULL, found, asked, "at the file's end");
    check_libraries(&made, end - 1, NULL, "", "", "behind the file's end");
    struct made_program bad = made;
    bad.parts[1].p_filesz--;
    check_libraries(&bad, sizeof bad, NULL, "", "", "a name without an end");
    bad.parts[1].p_filesz = 0;
    check_libraries(&bad, sizeof bad, NULL, "", "", "no name");
    bad = made;
    bad.parts[1].p_offset = sizeof bad + 1;
    check_libraries(&bad, sizeof bad, NULL, "", "", "a name elsewhere");
    bad = made;
    bad.head.e_phnum = 1;
    check_libraries(&bad, sizeof bad, NULL, "", "", "a static program");
    bad = made;
    bad.head.e_phoff += 4;
    check_libraries(&bad, sizeof bad, NULL, "", "", "a table at no such place");
    bad.head.e_phoff = sizeof bad + 8 - sizeof bad % 8;
    check_libraries(&bad, sizeof bad, NULL, "", "", "a table elsewhere");
    bad = made;
    bad.head.e_phnum = (uint16_t)((sizeof bad - bad.head.e_phoff) / sizeof *bad.parts + 1);
    check_libraries(&bad, sizeof bad, NULL, "", "", "a table that is too long");
    mem_free(loader);
    mem_free(script);
    mem_free(lines);
}

int main(int argc, char **argv)
{
    const char *given = getenv(FOLDER_VARIABLE);
    char real[4096] = "";
    (void)argc;
    if (given)
        return play(argv, given);
    if (readlink("/proc/self/exe", real, sizeof real - 1) < 0 || !mkdtemp(folder))
        return 99;
    own = real;
    program = in_folder("program"), qemu = in_folder("fake-qemu"), plugin = in_folder("plugin.so"),
    heap = in_folder("heap.so"), out = in_folder("out");
    put_file("plugin.so", "");
    put_file("heap.so", "");
    CHECK(symlink(own, program) == 0 && symlink(own, qemu) == 0);
    setenv(FOLDER_VARIABLE, folder, 1);
    allow_preload();
    machine = (struct machine_memory){
        .name = "toy",
        .level_count = 1,
        .levels = {{.name = "L1", .size = 4096, .line = 64, .ways = 4, .next = MACHINE_NO_LEVEL}}};
    dl_iterate_phdr(first_object, NULL);
    RUN(test_compiled);
    RUN(test_signals);
    RUN(test_functions);
    RUN(test_variables);
    RUN(test_qemu);
    RUN(test_refusals);
    RUN(test_libraries);
    warnings_free(said);
    dir_remove_tree(folder, NULL);
    mem_free(program);
    mem_free(qemu);
    mem_free(plugin);
    mem_free(heap);
    mem_free(out);
    return tap_done();
}
