/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process's description in the file (environment.c): its command line, machine, caches, environment, rank and name,
 * of a fake system; as text, to the letter.
 */
#undef syscall
#undef uname
#undef readlink
#undef getenv
#undef sched_getaffinity
#include "config.h"

#include "hpcprof/format/format.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "support/support.h"
#include "tests/tap.h"

#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

struct recorder hpcrec;

/* ---- the system ------------------------------------------------------------------------------------------------------ */

static struct {
    const char *path, *text;
    size_t n; /* of bytes; 0: as long as the text */
} files[24];
static const char *variables[12][2], *folder = "/home/me", *program = "/usr/bin/prog";
static struct utsname names = {"Linux", "node7", "6.1.0", "#1", "x86_64", ""};
static unsigned processors = 3;
static bool hidden;

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = i < 2 || number != SYS_getcwd ? va_arg(list, long) : 0;
    va_end(list);
    if (number != SYS_getcwd)
        return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    snprintf((char *)a[0], (size_t)a[1], "%s", folder ? folder : "what was there before");
    return folder ? (long)strlen(folder) + 1 : -1;
}
int fake_uname(struct utsname *u);
int fake_uname(struct utsname *u)
{
    *u = names;
    return 0;
}
ssize_t fake_readlink(const char *path, char *to, size_t size);
ssize_t fake_readlink(const char *path, char *to, size_t size)
{
    if (!program || strcmp(path, "/proc/self/exe") != 0)
        return -1;
    size_t n = strlen(program) < size ? strlen(program) : size;
    memset(to, '/', size);
    memcpy(to, program, n);
    return (ssize_t)n;
}
char *fake_getenv(const char *name);
char *fake_getenv(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
        if (variables[i][0] && strcmp(variables[i][0], name) == 0)
            return (char *)(uintptr_t)variables[i][1];
    return NULL;
}
int fake_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int fake_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    memset(set, 0, size);
    for (unsigned i = 0; i < processors; i++)
        CPU_SET(2 * i, set);
    return pid == 0 && processors ? 0 : -1;
}
ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (files[i].path && strcmp(files[i].path, path) == 0) {
            size_t n = files[i].n ? files[i].n : strlen(files[i].text);
            n = n < size - 1 ? n : size - 1;
            memcpy(to, files[i].text, n);
            to[n] = '\0';
            return (ssize_t)n;
        }
    *to = '\0';
    return -1;
}
bool hpcrec_kernel_is_hidden(void)
{
    return hidden;
}

static void set_file(const char *path, const char *text, size_t n)
{
    size_t i = 0;
    while (files[i].path && strcmp(files[i].path, path) != 0)
        i++;
    files[i].path = path;
    files[i].text = text;
    files[i].n = n;
}

static void set_variable(const char *name, const char *value)
{
    size_t i = 0;
    while (variables[i][0] && strcmp(variables[i][0], name) != 0)
        i++;
    variables[i][0] = name;
    variables[i][1] = value;
}

/* ---- output as text ---------------------------------------------------------------------------------------------- */

static void show_string(struct buf *out, struct cursor *c)
{
    size_t n = 0;
    const char *s = cursor_text(c, &n);
    buf_printf(out, "<%.*s>", (int)n, s ? s : "");
}

static void show_block(struct buf *out, uint32_t type, struct cursor *c)
{
    if (type == FORMAT_PROCESS) {
        for (int i = 0; i < 6; i++)
            show_string(out, c);
        for (int i = 0; i < 4; i++)
            buf_printf(out, " %llu", (unsigned long long)cursor_uleb(c));
    } else {
        for (uint64_t n = cursor_uleb(c); n > 0; n--) {
            for (int i = 0; i < (type == FORMAT_NOTES ? 2 : 3); i++)
                show_string(out, c);
            for (int i = 0; i < 2 && type == FORMAT_EVENTS; i++)
                buf_printf(out, " %llu", (unsigned long long)cursor_uleb(c));
            buf_str(out, n > 1 ? "\n" : "");
        }
    }
    buf_str(out, cursor_left(c) || c->bad ? " and more\n" : "\n");
}

/* Requested blocks of the header. */
static const char *gathered(uint32_t wanted)
{
    static struct buf out;
    hpcrec_environment_gather();
    struct cursor all = cursor_make(hpcrec.head.bytes.items, hpcrec.head.bytes.count);
    out.len = 0;
    buf_str(&out, "");
    while (cursor_left(&all) > 0) {
        uint32_t type = cursor_u32(&all), length = cursor_u32(&all);
        cursor_u64(&all); /* checksums */
        struct cursor c = cursor_make(cursor_bytes(&all, length), length);
        if (type == wanted)
            show_block(&out, type, &c);
    }
    return out.bytes;
}

/* ---- the tests --------------------------------------------------------------------------------------------------------- */

static void test_process(void)
{
    static const char words[] = "prog\0a b\0\0it's\0plain-1.0\0a\tb\0$x\0*\0?\0\\\0\"\0\n";
    static char long_info[6000];
    hpcrec.start_ns = 1234567890123;
    hpcrec.parent = 41;
    atomic_store(&hpcrec.pid, 42);
    set_file("/proc/self/cmdline", words, sizeof words);
    set_file("/proc/cpuinfo",
             "processor\t: 0\nmodel name\t:  \tThe Model 3\nmodel name\t: another\ncpu MHz\t\t: 2400.5\n", 0);
    CHECK_STR(gathered(FORMAT_PROCESS),
              "<node7><prog 'a b' '' 'it's' plain-1.0 'a\tb' '$x' '*' '?' '\\' '\"' '\n'></home/me><The Model 3>"
              "<Linux 6.1.0><timer> 1234567890123 42 41 0\n");
    CHECK_STR(hpcrec.file_name, "prog.node7.42");
    folder = NULL;
    set_file("/proc/cpuinfo", "model name", 0); /* without a value */
    set_variable("PMI_RANK", "0");
    set_file("/proc/self/cmdline", "p", 2);
    CHECK_STR(gathered(FORMAT_PROCESS), "<node7><p><><x86_64><Linux 6.1.0><timer> 1234567890123 42 41 1\n");
    CHECK_STR(hpcrec.file_name, "prog.node7.42.0");
    set_file("/proc/cpuinfo", "model name : \n", 0);
    set_variable("PMI_RANK", "12");
    files[0].path = "/gone";
    CHECK_STR(gathered(FORMAT_PROCESS), "<node7><><><x86_64><Linux 6.1.0><timer> 1234567890123 42 41 13\n");
    CHECK_STR(hpcrec.file_name, "prog.node7.42.12");
    memset(long_info, 'x', sizeof long_info - 1); /* of a long file the beginning */
    memcpy(long_info + 4095 - 20, "\nmodel name: 1234567", 20);
    set_file("/proc/cpuinfo", long_info, 0);
    CHECK(strstr(gathered(FORMAT_PROCESS), "<1234567>") != NULL);
    set_variable("PMI_RANK", NULL);
    folder = "/home/me";
}

static void test_names(void)
{
    static char path[300], host[64 + 10], want[300];
    static const struct {
        const char *program, *name;
    } cases[] = {{"/a/b/c", "c"},        {"/x", "x"}, {"/a/with blank", "with"},
                 {"nothing", "unknown"}, {"/a/", ""}, {NULL, "unknown"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        program = cases[i].program;
        gathered(0);
        snprintf(want, sizeof want, "%s.node7.42", cases[i].name);
        CHECK_STR(hpcrec.file_name, want);
    }
    for (size_t n = 79; n <= 82; n++) {
        snprintf(path, sizeof path, "/%0*d", (int)n, 7);
        program = path;
        gathered(0);
        snprintf(want, sizeof want, "%.*s.node7.42", n < 80 ? (int)n : 80, path + 1);
        CHECK_STR(hpcrec.file_name, want);
    }
    program = "/usr/bin/prog";
    for (size_t n = 63; n <= 65; n++) { /* (nodename has 65 bytes) */
        memset(host, 'h', sizeof host);
        host[n] = '\0';
        snprintf(names.nodename, sizeof names.nodename, "%s", host);
        gathered(0);
        snprintf(want, sizeof want, "prog.%.*s.42", n < 64 ? (int)n : 64, host);
        CHECK_STR(hpcrec.file_name, want);
    }
    strcpy(names.nodename, "node7");
}

#define CACHE(i, what) "/sys/devices/system/cpu/cpu0/cache/index" #i "/" what

static void test_notes(void)
{
    set_file("/proc/cpuinfo", "cpu MHz\t\t: 2400.5\n", 0);
    processors = 0;
    CHECK_STR(gathered(FORMAT_NOTES), "<clock MHz><2400.5>\n");
    processors = 3;
    set_file("/proc/cpuinfo", "", 0);
    CHECK_STR(gathered(FORMAT_NOTES), "<processors usable><3>\n");
    set_file(CACHE(0, "size"), "32K\n", 0);
    set_file(CACHE(0, "level"), "1\n", 0);
    set_file(CACHE(0, "type"), "Data\n", 0);
    set_file(CACHE(1, "size"), "48K", 0);
    set_file(CACHE(1, "level"), "2", 0);
    set_file(CACHE(1, "type"), "Unified", 0);
    set_file(CACHE(3, "size"), "1K", 0); /* after a missing one */
    CHECK_STR(gathered(FORMAT_NOTES), "<processors usable><3>\n<cache L1 Data><32K>\n<cache L2 Unified><48K>\n");
    set_file(CACHE(2, "size"), "\n", 0); /* of no size */
    set_file(CACHE(4, "size"), "4K", 0);
    set_file(CACHE(5, "size"), "5K", 0);
    set_file(CACHE(6, "size"), "6K", 0);
    CHECK_STR(gathered(FORMAT_NOTES),
              "<processors usable><3>\n<cache L1 Data><32K>\n<cache L2 Unified><48K>\n<cache L ><1K>\n"
              "<cache L ><4K>\n<cache L ><5K>\n");
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) /* if the first one is missing, there are no others */
        if (files[i].path && strcmp(files[i].path, CACHE(0, "size")) == 0)
            files[i].path = "/gone too";
    hpcrec.config.run = 17;
    hidden = true;
    CHECK_STR(gathered(FORMAT_NOTES),
              "<processors usable><3>\n<run><17>\n<" FORMAT_NOTE_KERNEL
              "><counted, but not sampled: sampling it needs perf_event_paranoid 1 or less, or root>\n");
    hpcrec.config.run = 0;
    hidden = false;
    set_variable("A", "first");
    set_variable("BB", "");
    set_variable("C", "a,b");
    static const char *const lists[] = {"A,BB,NONE,C", "C", "NONE", "BB,", ",A"};
    static const char *const wanted[] = {"\n<env:A><first>\n<env:BB><>\n<env:C><a,b>\n", "\n<env:C><a,b>\n", "\n",
                                         "\n<env:BB><>\n", "\n<env:A><first>\n"};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        strcpy(hpcrec.config.note_env, lists[i]);
        CHECK_STR(gathered(FORMAT_NOTES) + strlen("<processors usable><3>"), wanted[i]);
    }
    *hpcrec.config.note_env = '\0';
}

static void test_events(void)
{
    static const char *const samplers[] = {"<timer>", "<ring>", "<papi>", "<ring and papi>"};
    for (int e = 0; e < EVENTS_MAX; e++) /* entries after the last one are ignored */
        hpcrec.config.events[e].conf = (struct record_event){.kind = e % 2 ? RECORD_PERF : RECORD_PAPI, .name = "none"};
    hpcrec.config.event_count = 0;
    CHECK_STR(gathered(FORMAT_EVENTS), "\n");
    CHECK(strstr(gathered(FORMAT_PROCESS), "<timer>") != NULL);
    hpcrec.config.event_count = 2;
    for (int kinds = 0; kinds < 16; kinds++) {
        static const int of[] = {RECORD_CPUTIME, RECORD_PERF, RECORD_PAPI, RECORD_REALTIME};
        hpcrec.config.events[0].conf.kind = of[kinds % 4];
        hpcrec.config.events[1].conf.kind = of[kinds / 4];
        int bits = (kinds % 4 == 3 ? 0 : kinds % 4) | (kinds / 4 == 3 ? 0 : kinds / 4);
        CHECK(strstr(gathered(FORMAT_PROCESS), samplers[bits]) != NULL);
    }
    hpcrec.config.events[0].conf =
        (struct record_event){.name = "a", .description = "an event", .unit = "ns", .period = 300, .flags = 5};
    hpcrec.config.events[1].conf = (struct record_event){.name = "b", .period = 1};
    CHECK_STR(gathered(FORMAT_EVENTS), "<a><an event><ns> 300 5\n<b><><> 1 0\n");
}

/* Each launcher's variables, in order of precedence; Slurm's only with several tasks. */
static void test_ranks(void)
{
    static const char *const launchers[] = {
        "OMPI_COMM_WORLD_RANK",   "PMIX_RANK",   "PMI_RANK",      "PMI_ID", "MV2_COMM_WORLD_RANK",
        "MPI_LOCALRANKID_GLOBAL", "PALS_RANKID", "FLUX_TASK_RANK"};
    static const struct {
        const char *value;
        int rank;
    } values[] = {{"0", 0}, {"9", 9}, {"123", 123}, {"x", -1}, {"", -1}, {"/1", -1}, {":1", -1}, {"-1", -1}};
    memset(variables, 0, sizeof variables);
    CHECK_INT(hpcrec_rank(), -1);
    for (size_t i = ARRAY_SIZE(launchers); i-- > 0;) {
        for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
            variables[0][0] = launchers[i];
            variables[0][1] = values[k].value;
            CHECK_INT(hpcrec_rank(), values[k].rank);
        }
    }
    set_variable("PMIX_RANK", "5"); /* after OMPI's, which are not set */
    CHECK_INT(hpcrec_rank(), 5);
    memset(variables, 0, sizeof variables);
    set_variable("SLURM_PROCID", "4");
    CHECK_INT(hpcrec_rank(), -1);
    set_variable("SLURM_STEP_NUM_TASKS", "1");
    CHECK_INT(hpcrec_rank(), -1);
    set_variable("SLURM_STEP_NUM_TASKS", "2");
    CHECK_INT(hpcrec_rank(), 4);
    memset(variables, 0, sizeof variables);
    set_variable("SLURM_STEP_NUM_TASKS", "2");
    CHECK_INT(hpcrec_rank(), -1);
}

int main(void)
{
    RUN(test_process);
    RUN(test_names);
    RUN(test_notes);
    RUN(test_events);
    RUN(test_ranks);
    return tap_done();
}
