/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher without a recorder: accepted programs, its requests, how programs end. An empty library replaces the
   recorder. */
#include "config.h"

#include "hpcprof/hpcprof.h"
#include "hpcprof/recorder/protocol.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* PAPI keeps its event tables allocated (LeakSanitizer calls this function, which must be visible to it). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpapi.so\n";
}

/* ---- fake answers of the system, if enabled ---------------------------------------------------------------------- */

static bool counts_all;   /* perf_event_open: null devices are counters */
static bool no_processes; /* pidfd_open: an older kernel */

long syscall(long number, ...)
{
    va_list list;
    long a[5]; /* arguments in registers: the sixth may be missing */
    va_start(list, number);
    for (int i = 0; i < 5; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (counts_all && number == SYS_perf_event_open)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (no_processes && number == SYS_pidfd_open) {
        errno = ENOSYS;
        return -1;
    }
    long (*real)(long, ...);
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4]);
}

static int disk_status = -1; /* statvfs's */
static unsigned disk_blocks, disk_left;

int statvfs(const char *path, struct statvfs *fs)
{
    (void)path;
    *fs = (struct statvfs){.f_blocks = disk_blocks, .f_bavail = disk_left};
    return disk_status;
}

/* ---- a folder of our own, and runs in it ------------------------------------------------------------------------- */

static char *folder;                                      /* its absolute path */
static const char *library;                               /* which is preloaded */
static const char *const one_event[] = {"CPUTIME", NULL}; /* a timer, which always works */
static const char *const no_event[] = {"xyzzy@0", NULL};  /* does not start */
static const char *const two_events[] = {"CPUTIME", "REALTIME", NULL};

static char *in_folder(const char *name)
{
    return path_join(folder, name);
}

/* Mode 0755 by default. */
static char *put_file(const char *name, const void *bytes, size_t n)
{
    char *path = in_folder(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || fchmod(fd, 0755) < 0)
        printf("# %s cannot be written\n", path);
    close(fd);
    return path;
}

static char *text_of(const char *name)
{
    char *path = in_folder(name);
    struct filemap map = {0};
    char *text =
        filemap_open(&map, path, NULL) == 0 ? mem_strndup((const char *)map.bytes, map.len) : mem_strdup("none");
    filemap_release(&map);
    mem_free(path);
    return text;
}

/* `text` with every occurrence of the folder replaced by "DIR". */
static char *shortened(const char *text)
{
    struct buf out = {0};
    buf_str(&out, "");
    for (const char *at = text; *at;)
        if (str_starts(at, folder)) {
            buf_str(&out, "DIR");
            at += strlen(folder);
        } else
            buf_char(&out, *at++);
    return out.bytes;
}

static struct warnings *said;

/* Records a shell command; returns "" or the error. */
static char *recorded(struct hpcprof_record_options o, const char *const *argv, int *status)
{
    struct err err = {0};
    char *out = in_folder("out");
    o.out_dir = o.out_dir ? o.out_dir : out;
    o.events = o.events ? o.events : one_event;
    o.preload = o.preload ? o.preload : library;
    *status = -1;
    if (said)
        warnings_free(said);
    said = warnings_create();
    int result = hpcprof_record(&o, (char *const *)(uintptr_t)argv, status, said, &err);
    mem_free(out);
    return shortened(result < 0 ? err.msg : "");
}

static int run_shell(struct hpcprof_record_options o, const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    int status;
    char *got = recorded(o, argv, &status);
    CHECK_STR(got, "");
    mem_free(got);
    return status;
}

static void empty_out(void)
{
    char *command = mem_printf("rm -rf '%s/out'", folder);
    CHECK_INT(system(command), 0);
    mem_free(command);
}

/* ---- which programs ---------------------------------------------------------------------------------------------- */

#if defined __x86_64__
#define MACHINE "x86-64"
enum { OURS = EM_X86_64 };
#else
#define MACHINE "AArch64"
enum { OURS = EM_AARCH64 };
#endif

struct made_elf {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    uint32_t notes[2][6]; /* sizes of name and description, type, name, description */
    Elf64_Dyn dynamic[3];
};

/* Takes the recorder: it names its interpreter. */
static struct made_elf good_elf(void)
{
    struct made_elf e = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                                  .e_type = ET_DYN,
                                  .e_machine = OURS,
                                  .e_phoff = offsetof(struct made_elf, segments),
                                  .e_phentsize = sizeof(Elf64_Phdr),
                                  .e_phnum = 2}};
    e.segments[0].p_type = PT_LOAD;
    e.segments[1].p_type = PT_INTERP;
    for (int i = 0; i < 2; i++) {
        e.notes[i][0] = sizeof RECORD_NOTE_OWNER;
        e.notes[i][1] = 4;
        e.notes[i][2] = RECORD_NOTE_TYPE;
        memcpy(&e.notes[i][3], RECORD_NOTE_OWNER, sizeof RECORD_NOTE_OWNER);
    }
    e.dynamic[0].d_tag = DT_NEEDED;
    e.dynamic[1].d_tag = DT_SONAME;
    return e;
}

#define TAKEN ""
#define STATIC                                                                                                         \
    "DIR/p: the program is statically linked, so the recorder cannot be preloaded; link it with libhpcview-record.a "  \
    "(hpcview-record(1), STATIC PROGRAMS)"
#define FOR(m) "DIR/p: the program is for " m "; this hpcview records " MACHINE " programs"
#define NO(t)  "DIR/p: this ELF file is not a program but " t
#define BAD    "DIR/p: the program headers of this ELF file are damaged"
#define OFF(m) offsetof(struct made_elf, m)
#define NOTE                                                                                                           \
    {OFF(segments[1].p_type), 4, PT_NOTE},                                                                             \
    {                                                                                                                  \
        OFF(segments[1].p_offset), 8, OFF(notes)                                                                       \
    }
#define DYN                                                                                                            \
    {OFF(segments[1].p_type), 4, PT_DYNAMIC},                                                                          \
    {                                                                                                                  \
        OFF(segments[1].p_offset), 8, OFF(dynamic)                                                                     \
    }
#define SIZE OFF(segments[1].p_filesz), 8

static const struct {
    const char *name;
    struct change {
        size_t at, bytes;
        uint64_t value;
    } changes[5];
    size_t cut; /* truncated to this size; 0: not truncated */
    const char *want;
} elves[] = {
    {"a program", {{0}}, 0, TAKEN},
    {"one at a fixed place", {{OFF(head.e_type), 2, ET_EXEC}}, 0, TAKEN},
    {"an object file", {{OFF(head.e_type), 2, ET_REL}}, 0, NO("an object file")},
    {"a core dump", {{OFF(head.e_type), 2, ET_CORE}}, 0, NO("a core dump")},
    {"of no type", {{OFF(head.e_type), 2, 99}}, 0, NO("of an unknown type")},
    {"of 32 bits",
     {{OFF(head.e_ident[EI_CLASS]), 1, ELFCLASS32}, {OFF(head.e_machine), 2, EM_386}},
     0,
     FOR("32-bit x86")},
    {"of the other byte order",
     {{OFF(head.e_ident[EI_DATA]), 1, ELFDATA2MSB}, {OFF(head.e_machine), 2, EM_PPC64}},
     0,
     FOR("POWER (big endian)")},
    {"of 32 bits of ours", {{OFF(head.e_ident[EI_CLASS]), 1, ELFCLASS32}}, 0, FOR(MACHINE)},
    {"ARM", {{OFF(head.e_machine), 2, EM_ARM}}, 0, FOR("ARM")},
    {"RISC-V", {{OFF(head.e_machine), 2, EM_RISCV}}, 0, FOR("RISC-V")},
    {"any", {{OFF(head.e_machine), 2, 9999}}, 0, FOR("another machine")},
    {"a head cut short", {{0}}, sizeof(Elf64_Ehdr) - 1, "DIR/p: truncated ELF file"},
    {"a head alone", {{OFF(head.e_phnum), 2, 0}}, sizeof(Elf64_Ehdr), STATIC},
    {"headers cut short", {{0}}, OFF(notes) - 1, BAD},
    {"headers that end the file", {{0}}, OFF(notes), TAKEN},
    {"headers outside", {{OFF(head.e_phoff), 8, sizeof(struct made_elf) + 1}, {OFF(head.e_phnum), 2, 0}}, 0, BAD},
    {"headers far outside", {{OFF(head.e_phoff), 8, UINT64_MAX}}, 0, BAD},
    {"headers of another size", {{OFF(head.e_phentsize), 2, sizeof(Elf64_Phdr) + 8}}, 0, BAD},
    {"static", {{OFF(segments[1].p_type), 4, PT_LOAD}}, 0, STATIC},
    {"the interpreter is named first",
     {{OFF(segments[1].p_type), 4, PT_LOAD}, {OFF(segments[0].p_type), 4, PT_INTERP}},
     0,
     TAKEN},
    {"a note of the recorder's", {NOTE, {SIZE, 24}}, 0, TAKEN},
    {"a note of another owner", {NOTE, {SIZE, 24}, {OFF(notes[0][3]), 1, 'x'}}, 0, STATIC},
    {"a note whose owner goes on", {NOTE, {SIZE, 24}, {OFF(notes[0][0]), 4, sizeof RECORD_NOTE_OWNER - 1}}, 0, STATIC},
    {"a note of another type", {NOTE, {SIZE, 24}, {OFF(notes[0][2]), 4, 2}}, 0, STATIC},
    {"the second note", {NOTE, {SIZE, 48}, {OFF(notes[0][2]), 4, 2}}, 0, TAKEN},
    {"the second note, whose first has a rest",
     {NOTE, {SIZE, 48}, {OFF(notes[0][2]), 4, 2}, {OFF(notes[0][1]), 4, 1}},
     0,
     TAKEN},
    {"a note cut in its description", {NOTE, {SIZE, 23}}, 0, STATIC},
    {"a note cut in its head", {NOTE, {SIZE, 11}}, 0, STATIC},
    {"notes behind the end", {NOTE, {SIZE, sizeof(struct made_elf)}}, 0, STATIC},
    {"notes far outside", {NOTE, {SIZE, 24}, {OFF(segments[1].p_offset), 8, UINT64_MAX - 8}}, 0, STATIC},
    {"the dynamic loader", {DYN, {SIZE, 32}}, 0, TAKEN},
    {"a static program that moves", {DYN, {SIZE, 16}}, 0, STATIC},
    {"one with more to it", {DYN, {SIZE, 48}, {OFF(dynamic[1].d_tag), 8, DT_NEEDED}}, 0, STATIC},
    {"the dynamic loader, at last",
     {DYN, {SIZE, 48}, {OFF(dynamic[1].d_tag), 8, DT_NEEDED}, {OFF(dynamic[2].d_tag), 8, DT_SONAME}},
     0,
     TAKEN},
    {"a name cut short", {DYN, {SIZE, 31}}, 0, STATIC},
    {"a dynamic section behind the end", {DYN, {SIZE, 49}}, 0, STATIC},
    {"one that ends the file", {DYN, {SIZE, 48}}, 0, TAKEN},
};

/* The path is accepted: recording fails at its event, and the program is never started. */
static void check_program(const char *path, const char *want, const char *name)
{
    int status;
    const char *argv[] = {path, NULL};
    char *got = recorded((struct hpcprof_record_options){.events = no_event}, argv, &status);
    tap_str(str_starts(got, "xyzzy") || strstr(got, "'xyzzy'") ? TAKEN : got, want, name, __FILE__, __LINE__);
    mem_free(got);
}

static void test_elves(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(elves); i++) {
        struct made_elf e = good_elf();
        for (const struct change *c = elves[i].changes; c < elves[i].changes + 5 && c->bytes; c++)
            for (size_t k = 0; k < c->bytes; k++)
                ((uint8_t *)&e)[c->at + k] = (uint8_t)(c->value >> 8 * k);
        char *path = put_file("p", &e, elves[i].cut ? elves[i].cut : sizeof e);
        check_program(path, elves[i].want, elves[i].name);
        mem_free(path);
    }
}

static void test_files(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"#!/bin/sh\n", TAKEN},
        {"#!/bin/sh", TAKEN},
        {"#! \t/bin/sh -e\r\n", TAKEN},
        {"#!/bin/sh\r\n", TAKEN},
        {"#!/nowhere/sh -e\n", "DIR/p, a script: /nowhere/sh: program not found (No such file or directory)"},
        {"#!/tmp\n", "DIR/p, a script: /tmp: a folder, not a program"},
        {"#", "DIR/p: neither an ELF program nor a script that begins with \"#!\""},
        {"", "DIR/p: neither an ELF program nor a script that begins with \"#!\""},
        {"\x7f"
         "EL",
         "DIR/p: neither an ELF program nor a script that begins with \"#!\""},
        {"\x7f"
         "ELF",
         "DIR/p: truncated ELF file"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *path = put_file("p", cases[i].text, strlen(cases[i].text));
        check_program(path, cases[i].want, "a file");
        mem_free(path);
    }
    char *none = in_folder("none");
    check_program(none, "DIR/none: program not found (No such file or directory)", "none");
    check_program("no-such-program", "no-such-program: not found in PATH", "none in PATH");
    check_program(folder, "DIR: a folder, not a program", "a directory");
    mem_free(none);
    char *plain = put_file("plain", "#!/bin/sh\n", 10);
    chmod(plain, 0644);
    check_program(plain, "DIR/plain: not executable (permission denied)", "may not be executed");
    mem_free(plain);
}

/* Scripts that name scripts: one more than four deep is too deep. */
static void test_scripts(void)
{
    enum { SCRIPTS = 6 };
    char *last = mem_strdup("/bin/sh");
    for (int i = 0; i < SCRIPTS; i++) {
        char *text = mem_printf("#!%s\n", last), name[] = {'s', (char)('0' + i), '\0'};
        mem_free(last);
        last = put_file(name, text, strlen(text));
        check_program(last,
                      i < 5 ? TAKEN
                            : "DIR/s5, a script: DIR/s4, a script: DIR/s3, a script: DIR/s2, a script: DIR/s1, a "
                              "script: DIR/s0: more than four scripts as interpreters of scripts",
                      name);
        mem_free(text);
    }
    mem_free(last);
}

/* Forms of interpreter lines, in files of every length up to more than is examined. */
static void test_first_lines(void)
{
#define GONE(program) "DIR/s, a script: " program ": program not found (No such file or directory)"
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"#!/bin/sh", TAKEN},
        {"#!/bin/sh\n", TAKEN},
        {"#! \t /bin/sh\t-e\n", TAKEN},
        {"#!/bin/sh\r\n", TAKEN},
        {"#!/bin/sh -e\nno program", TAKEN},
        {"#!/no/sh", GONE("/no/sh")},
        {"#!/no/sh -e /bin/sh", GONE("/no/sh")},
        {"#!\n/bin/sh", GONE("")},
        {"#!", GONE("")},
        {"#", "DIR/s: neither an ELF program nor a script that begins with \"#!\""},
        {"", "DIR/s: neither an ELF program nor a script that begins with \"#!\""},
        {"\177EL", "DIR/s: neither an ELF program nor a script that begins with \"#!\""},
        {"\177ELF", "DIR/s: truncated ELF file"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *path = put_file("s", cases[i].text, strlen(cases[i].text));
        check_program(path, cases[i].want, "how a script begins");
        mem_free(path);
    }
    for (size_t n = PATH_MAX - 2; n < PATH_MAX + 3; n++) {
        char *text = mem_alloc(n);
        memset(text, 'x', n);
        memcpy(text, "#!/bin/sh ", 10);
        char *path = put_file("s", text, n);
        check_program(path, TAKEN, "a line that is longer than paths are");
        mem_free(path);
        mem_free(text);
    }
}

static void test_rights(void)
{
    char *path = put_file("p", "#!/bin/sh\n", 10);
    if (geteuid() == 0) {
        static const struct {
            unsigned user, group, mode;
            const char *want;
        } cases[] = {
#define RIGHTS(id)                                                                                                     \
    "DIR/p: the program is set" id ", so the system allows no recorder in it; record it as the user it changes to"
            {1, 0, 04755, RIGHTS("uid")}, {0, 1, 04755, TAKEN},         {0, 1, 02755, RIGHTS("gid")},
            {1, 0, 02755, TAKEN},         {1, 1, 06755, RIGHTS("uid")}, {1, 1, 0755, TAKEN},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
            if (chown(path, cases[i].user, cases[i].group) == 0 && chmod(path, cases[i].mode) == 0)
                check_program(path, cases[i].want, "rights");
    } else
        SKIP("programs that change their rights", "only root can make them");
    unlink(path);
    mem_free(path);
}

/* ---- invalid requests -------------------------------------------------------------------------------------------- */

#define TWO_AT_ONCE                                                                                                    \
    "these events cannot be counted at the same time: CPUTIME fit together, REALTIME does not fit with them; "         \
    "--repeat runs the program once for each group, --multiplex shares the counters (estimates)"

static void test_options(void)
{
    static const char *const twice[] = {"CPUTIME", "REALTIME", "CPUTIME@9000", NULL};
    static const char *const second[] = {"CPUTIME", "REALTIME@0", NULL};
    static const struct {
        struct hpcprof_record_options o;
        const char *want;
    } cases[] = {
        {{.events = second}, "REALTIME@0: the period must be above 0"},
        {{.sampler = "x"}, "unknown sampler 'x'; available: papi, ring"},
        {{.multiplex = true, .repeat = HPCPROF_REPEAT}, "--multiplex and --repeat exclude each other"},
        {{.events = twice}, "CPUTIME is requested twice"},
        {{.events = two_events, .counters = 1}, TWO_AT_ONCE},
        {{.preload = "/no/recorder.so"},
         "/no/recorder.so: recorder library not found (No such file or directory); set HPCVIEW_RECORDER to its path"},
    };
    const char *argv[] = {"true", NULL};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int status;
        char *got = recorded(cases[i].o, argv, &status);
        tap_str(got, cases[i].want, "options that do not go", __FILE__, __LINE__);
        mem_free(got);
    }
}

/* Permitted contents of the folder: none, except for other ranks of a parallel program. */
static void test_folders(void)
{
    static const char
        other[] = "DIR/out: the folder contains other files ('x.txt'); choose an empty or new one with -o",
        earlier[] = "DIR/out: the folder contains an earlier measurement; remove it, or choose another one with -o",
        locked[] = "DIR/out: another 'hpcview record' is writing to this folder; choose another one with -o";
    static const char *const ranks[] = {
        NULL,           "OMPI_COMM_WORLD_RANK", "PMIX_RANK",     "PMI_RANK", "PMI_ID", "MV2_COMM_WORLD_RANK",
        "SLURM_PROCID", "PALS_RANKID",          "FLUX_TASK_RANK"};
    static const struct {
        const char *file, *alone, *of_many;
    } cases[] = {{"x.txt", other, other}, {"x.hpcprof", earlier, ""}, {".done.7", "", ""}};
    const char *argv[] = {"true", NULL};
    char *out = in_folder("out");
    int status;
    for (size_t r = 0; r < ARRAY_SIZE(ranks); r++)
        if (ranks[r])
            unsetenv(ranks[r]);
    for (size_t r = 0; r < ARRAY_SIZE(ranks); r++) {
        if (ranks[r])
            setenv(ranks[r], "0", 1), setenv("SLURM_STEP_NUM_TASKS", "2", 1);
        for (size_t i = 0; i < (r < 2 ? ARRAY_SIZE(cases) : 2) && i < ARRAY_SIZE(cases); i++) {
            empty_out();
            mkdir(out, 0755);
            char *name = mem_printf("out/%s", cases[i].file), *file = put_file(name, "", 0);
            char *got = recorded((struct hpcprof_record_options){0}, argv, &status);
            tap_str(got, r ? cases[i].of_many : cases[i].alone, cases[i].file, __FILE__, __LINE__);
            mem_free(got);
            mem_free(name);
            mem_free(file);
        }
        if (ranks[r])
            unsetenv(ranks[r]);
    }
    for (int of_many = 0; of_many < 2; of_many++) {
        empty_out();
        mkdir(out, 0755);
        int fd = open(out, O_RDONLY | O_CLOEXEC);
        CHECK_INT(flock(fd, LOCK_SH), 0);
        if (of_many)
            setenv("PMI_RANK", "1", 1);
        char *got = recorded((struct hpcprof_record_options){0}, argv, &status);
        CHECK_STR(got, of_many ? "" : locked);
        unsetenv("PMI_RANK");
        close(fd);
        mem_free(got);
    }
    mem_free(out);
    empty_out();
    char *file = put_file("out", "", 0);
    char *got = recorded((struct hpcprof_record_options){0}, argv, &status);
    CHECK(*got);
    unlink(file);
    mem_free(file);
    mem_free(got);
}

/* ---- environment of the recorded program ------------------------------------------------------------------------- */

static void count_sentence(const char *sentence);
static size_t sentences;

static void count_sentence(const char *sentence)
{
    sentences += strstr(sentence, "running the program 2 times, once for each group") != NULL;
}

/* The settings, without the installed PAPI and with "PID" for our process id. */
static char *orders_of(struct hpcprof_record_options o)
{
    char *script = mem_printf("printf '%%s\\n--\\n' \"$" RECORD_VARIABLE "\" >>'%s/orders'", folder);
    const char *argv[] = {"sh", "-c", script, NULL};
    char *path = in_folder("orders");
    int status;
    setenv("TMPDIR", folder, 1); /* of the pipe */
    unlink(path);
    empty_out();
    char *error = recorded(o, argv, &status);
    CHECK_STR(error, "");
    char *text = text_of("orders"), *brief = shortened(text), *rest = brief, *line;
    char *own = mem_printf("%d", (int)getpid());
    struct buf out = {0};
    buf_str(&out, "");
    while ((line = strsep(&rest, "\n"))) {
        if (*line && !str_starts(line, "papi="))
            buf_printf(&out, "%.*s%s ", (int)(strlen(line) - (str_ends(line, own) ? strlen(own) : 0)), line,
                       str_ends(line, own) ? "PID" : "");
    }
    mem_free(own);
    mem_free(error);
    mem_free(script);
    mem_free(path);
    mem_free(text);
    mem_free(brief);
    return out.bytes;
}

static void tell_nobody(void *ctx, char *line)
{
    (void)ctx, (void)line;
}

static void test_orders(void)
{
#define BEGIN                                                                                                          \
    "dir=DIR/out event=CPUTIME;CPU time of the thread, by a timer%3B needs no permission;us;4000;0;2;0;0;0;0;0 "
#define SECOND                                                                                                         \
    "event=REALTIME;wall-clock time including waiting, by a timer%3B needs no permission;us;4000;0;3;0;0;0;0;0 "
    static const char *const names[] = {"HOME", "A;B%\n\x7f", NULL};
    static const struct {
        struct hpcprof_record_options o;
        const char *want;
        size_t sentences;
    } cases[] = {
        {{0}, BEGIN "-- ", 0},
        {{.sampler = "ring"}, BEGIN "sampler=ring -- ", 0},
        {{.follow_children = true}, BEGIN "children=1 -- ", 0},
        {{.call_paths = true}, BEGIN "paths=1 -- ", 0},
        {{.phases = true}, BEGIN "phases=1 -- ", 0},
        {{.phases = true, .notice = tell_nobody},
         BEGIN "phases=1 watch=0 warn=0 notify=DIR/hpcview-notices.PID -- ",
         0},
        {{.phases = true, .notice = tell_nobody, .watch = true, .warn_ms = 7},
         BEGIN "phases=1 watch=1 warn=7000000 notify=DIR/hpcview-notices.PID -- ",
         0},
        {{.notice = tell_nobody}, BEGIN "-- ", 0},
        {{.delay = 1.5}, BEGIN "delay=1500000000 -- ", 0},
        {{.duration = 0.25}, BEGIN "duration=250000000 -- ", 0},
        {{.region = "a b;c"}, BEGIN "region=a b%3Bc region_time=0 -- ", 0},
        {{.region = "r", .region_time = 3}, BEGIN "region=r region_time=3 -- ", 0},
        {{.only_processes = "s*"}, BEGIN "only=s* -- ", 0},
        {{.environment = names}, BEGIN "env=HOME,A%3BB%25%0A%7F -- ", 0},
        {{.events = two_events}, BEGIN SECOND "-- ", 0},
        {{.events = two_events, .counters = 2}, BEGIN SECOND "-- ", 0},
        {{.events = two_events, .counters = 1, .repeat = HPCPROF_AS_NEEDED},
         BEGIN "run=1 -- dir=DIR/out " SECOND "run=2 -- ",
         1},
        {{.events = two_events, .counters = 1, .repeat = HPCPROF_REPEAT},
         BEGIN "run=1 -- dir=DIR/out " SECOND "run=2 -- ",
         0},
        {{.events = two_events, .repeat = HPCPROF_AS_NEEDED}, BEGIN SECOND "-- ", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof_record_options o = cases[i].o;
        o.say = count_sentence;
        sentences = 0;
        char *got = orders_of(o);
        CHECK_STR(got, cases[i].want);
        CHECK_INT(sentences, cases[i].sentences);
        mem_free(got);
    }
}

/* Existing preloaded libraries are kept, except for another recorder and for a runtime that must come first. The loader
   prints on standard error that they do not exist. */
static void test_preload(void)
{
    static const struct {
        const char *old, *want;
    } cases[] = {
        {NULL, "LIB"},
        {"", "LIB"},
        {"a.so", "LIB:a.so"},
        {"a.so:b.so c.so", "LIB:a.so:b.so:c.so"},
        {" :a.so: ", "LIB:a.so"},
        {"/x/libhpcview-record.so", "LIB"},
        {"a.so:/x/libhpcview-record-phases.so:b.so", "LIB:a.so:b.so"},
        {"libhpcview-record.so libhpcview-record-phases.so", "LIB"},
        {"/x/libhpcview-record.so.1", "LIB:/x/libhpcview-record.so.1"},
        {"record.so", "LIB:record.so"},
        {"LIB", "LIB"},
        {"a.so LIB", "LIB:a.so"},
        {"LIB.5", "LIB:LIB.5"},
        {"/x/libasan.so.9:a.so", "/x/libasan.so.9:LIB:a.so"},
        {"a.so:/x/libasan.so.9", "LIB:a.so:/x/libasan.so.9"},
        {"/x/libclang_rt.asan-x.so", "/x/libclang_rt.asan-x.so:LIB"},
    };
    char *script = mem_printf("printf %%s \"$LD_PRELOAD\" >'%s/preload'", folder), *real = realpath(library, NULL);
    int errors = dup(2), none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const char *env = getenv("LD_PRELOAD");
    char *before = env ? mem_strdup(env) : NULL;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf old = {0}, want = {0};
        buf_str(&want, "");
        for (int k = 0; k < 2; k++)
            for (const char *at = k ? cases[i].want : cases[i].old; at && *at;) {
                bool lib = str_starts(at, "LIB");
                buf_printf(k ? &want : &old, "%.*s", lib ? (int)strlen(real) : 1, lib ? real : at);
                at += lib ? 3 : 1;
            }
        if (cases[i].old)
            setenv("LD_PRELOAD", old.len ? old.bytes : "", 1);
        else
            unsetenv("LD_PRELOAD");
        dup2(none, 2);
        empty_out();
        run_shell((struct hpcprof_record_options){0}, script);
        dup2(errors, 2);
        char *got = text_of("preload");
        CHECK_STR(got, want.bytes);
        mem_free(got);
        buf_release(&old);
        buf_release(&want);
    }
    if (before)
        setenv("LD_PRELOAD", before, 1);
    else
        unsetenv("LD_PRELOAD");
    close(errors);
    close(none);
    mem_free(before);
    mem_free(script);
    free(real);
}

/* A path that cannot be in the list is replaced by a symbolic link. */
static void test_blanks(void)
{
    char *script = mem_printf("printf %%s \"$LD_PRELOAD\" >'%s/preload'", folder), *real = realpath(library, NULL);
    static const char *const names[] = {"a b.so", "a:b.so", "a$b.so", "a\tb.so", "ab.so"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct filemap map = {0};
        CHECK_INT(filemap_open(&map, real, NULL), 0);
        char *path = put_file(names[i], map.bytes, map.len);
        filemap_release(&map);
        empty_out();
        run_shell((struct hpcprof_record_options){.preload = path}, script);
        char *got = text_of("preload"), target[PATH_MAX] = "";
        if (i == 4)
            CHECK_STR(got, path);
        else {
            CHECK(str_starts(got, "/tmp/.hpcview-") && str_ends(got, ".so") && !strpbrk(got, " :\t$"));
            CHECK(readlink(got, target, sizeof target - 1) > 0 && strcmp(target, path) == 0);
            unlink(got);
        }
        mem_free(got);
        mem_free(path);
    }
    mem_free(script);
    free(real);
}

static void test_sanitizer_options(void)
{
    static const struct {
        const char *old, *want;
    } cases[] = {
        {NULL, "verify_asan_link_order=0"}, {"", "verify_asan_link_order=0"}, {"a=1", "a=1:verify_asan_link_order=0"}};
    const char *env = getenv("ASAN_OPTIONS");
    char *script = mem_printf("printf %%s \"$ASAN_OPTIONS\" >'%s/options'", folder),
         *before = env ? mem_strdup(env) : NULL;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (cases[i].old)
            setenv("ASAN_OPTIONS", cases[i].old, 1);
        else
            unsetenv("ASAN_OPTIONS");
        empty_out();
        run_shell((struct hpcprof_record_options){0}, script);
        char *got = text_of("options");
        CHECK_STR(got, cases[i].want);
        mem_free(got);
    }
    if (before)
        setenv("ASAN_OPTIONS", before, 1);
    else
        unsetenv("ASAN_OPTIONS");
    mem_free(before);
    mem_free(script);
}

/* ---- how it ends -------------------------------------------------------------------------------------------------- */

static bool warned(const char *words)
{
    for (size_t i = 0; i < warnings_count(said); i++)
        if (strstr(warnings_get(said, i), words))
            return true;
    return false;
}

static void test_ends(void)
{
    struct hpcprof_record_options o = {0};
    empty_out();
    CHECK_INT(run_shell(o, "exit 0"), 0);
    CHECK(warned("nothing was recorded: the program did not load the recorder, or ended before it could write"));
    CHECK_INT(WEXITSTATUS(run_shell(o, "exit 7")), 7);
    o.only_processes = "x";
    CHECK_INT(WTERMSIG(run_shell(o, "kill -TERM $$")), SIGTERM);
    CHECK(warned("nothing was recorded: no program of that name ran"));
    o.only_processes = NULL;
    char *script = mem_printf(": >'%s/out/x.hpcprof'", folder);
    CHECK_INT(run_shell(o, script), 0);
    CHECK_INT(warned("nothing was recorded"), 0);
    mem_free(script);
    empty_out();
    setenv(RECORD_VARIABLE, "x", 1);
    CHECK_INT(run_shell(o, "exit 0"), 0);
    CHECK(warned("hpcview record inside hpcview record: programs started by the inner one are recorded in "));
    unsetenv(RECORD_VARIABLE);
    CHECK_INT(run_shell(o, "exit 0"), 0);
    CHECK_INT(warned("inside hpcview record"), 0);
}

/* Files that look like programs but that the system does not start. */
static void test_not_started(void)
{
    struct made_elf e = good_elf();
    char *path = put_file("p", &e, sizeof e);
    const char *argv[] = {path, NULL};
    int status;
    empty_out();
    char *got = recorded((struct hpcprof_record_options){0}, argv, &status);
    CHECK(str_starts(got, "DIR/p: the program cannot be started: "));
    mem_free(got);
    mem_free(path);
}

/* Signals that are sent to the launcher reach the program; those of keys are left to it; afterwards all is as it was. */
static void test_signals(void)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct hpcprof_record_options o = {0};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        signal(all[i], SIG_DFL);
    empty_out();
    CHECK_INT(WEXITSTATUS(run_shell(o, "trap 'exit 9' TERM; while :; do kill -TERM $PPID; sleep 0.02; done")), 9);
    CHECK_INT(WEXITSTATUS(run_shell(o, "trap 'exit 8' HUP; while :; do kill -HUP $PPID; sleep 0.02; done")), 8);
    CHECK_INT(WEXITSTATUS(run_shell(o, "trap 'exit 1' INT QUIT; kill -INT $PPID; kill -QUIT $PPID; exit 7")), 7);
    CHECK_INT(WTERMSIG(run_shell(o, "kill -INT $$")), SIGINT);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        struct sigaction now;
        CHECK(sigaction(all[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    }
    signal(SIGHUP, SIG_IGN); /* nohup */
    CHECK_INT(WEXITSTATUS(run_shell(o, "kill -HUP $$; kill -HUP $PPID; exit 5")), 5);
    signal(SIGHUP, SIG_DFL);
}

/* ---- messages from the program ----------------------------------------------------------------------------------- */

static struct buf told;

static void tell(void *ctx, char *line)
{
    (void)ctx;
    size_t n = strlen(line);
    buf_printf(&told, n < 20 ? "%s|" : "%.3s...%zu|", line, n);
}

static void test_told(void)
{
    struct hpcprof_record_options o = {.phases = true, .notice = tell};
    char *script = mem_printf(
        "exec >'%s/hpcview-notices.%d'; echo one; echo; printf 'two '; echo three; printf '%%5000s\\n' x; "
        "printf '%%5000s\\n' y; printf '%%8190s\\n' z; echo four; printf '%%10000s\\n' x; echo five; printf rest",
        folder, (int)getpid());
    setenv("TMPDIR", folder, 1);
    empty_out();
    buf_str(&told, "");
    CHECK_INT(run_shell(o, script), 0);
    CHECK_STR(told.bytes, "one||two three|   ...5000|   ...5000|   ...8190|four|   ...1809|five|");
    buf_release(&told);
    mem_free(script);
    char *pipe_path = mem_printf("hpcview-notices.%d", (int)getpid()), *left = text_of(pipe_path);
    CHECK_STR(left, "none");
    mem_free(left);
    mem_free(pipe_path);
}

/* ---- how it ended ---------------------------------------------------------------------------------------------------- */

static uint64_t end_offset;

static void find_end(void *ctx, const struct hpcprof_block *b)
{
    (void)ctx;
    if (strcmp(b->type, "process end") == 0)
        end_offset = b->offset;
}

/* Files that a recorder leaves for this process, with or without an end block. */
static void leave_file(const char *path, bool another, bool whole)
{
    struct hpcprof *p = hpcprof_create();
    struct buf bytes = {0};
    struct outfile *out = outfile_into(&bytes);
    struct utsname host;
    struct timespec now;
    uname(&host);
    clock_gettime(CLOCK_REALTIME, &now);
    hpcprof_add_process(p,
                        &(struct hpcprof_process){.host = strtab_add(p->strings, host.nodename),
                                                  .start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                                                  .pid = (uint32_t)getpid() + another,
                                                  .rank = -1,
                                                  .exit_status = -1,
                                                  .complete = true});
    hpcprof_write(p, out, NULL);
    outfile_commit(out, NULL);
    hpcprof_list_blocks(bytes.bytes, bytes.len, path, find_end, NULL, NULL);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes.bytes, 1, whole ? bytes.len : end_offset, f) == 0 || fclose(f) != 0)
        exit(99);
    buf_release(&bytes);
    hpcprof_free(p);
}

/* This program as the recorded one: the folder, and its actions as letters. */
static int be_recorded(const char *dir, const char *does)
{
    bool another = strchr(does, 'a'), whole = strchr(does, 'w'), linked = strchr(does, 'l');
    char *path = mem_printf("%s/out/app.node.%d.hpcprof", dir, (int)getpid() + another),
         *elsewhere = mem_printf("%s/elsewhere", dir);
    if (!strchr(does, '-'))
        leave_file(linked ? elsewhere : path, another, whole);
    if (linked && symlink(elsewhere, path) < 0)
        return 99;
    mem_free(path);
    mem_free(elsewhere);
    if (strchr(does, 'k'))
        kill(getpid(), SIGKILL);
    return 3;
}

static struct buf ended_with;

static void note_ended(const char *measured, const char *file)
{
    char *a = shortened(measured), *b = shortened(file);
    buf_printf(&ended_with, "%s %s", str_ends(a, ".hpcprof") ? "the file" : a, str_ends(b, ".hpcprof") ? "of it" : b);
    mem_free(a);
    mem_free(b);
}

/* The status in the only file; -2: no file, -3: unreadable. */
static int status_in_file(void)
{
    struct text_list files = {0};
    struct hpcprof *p;
    char *out = in_folder("out");
    int status = -2;
    if (dir_list(out, HPCPROF_SUFFIX, "", &files, NULL) == 0 && files.count == 1) {
        status = -3;
        if (hpcprof_read(files.items[0], &p, NULL, NULL) == 0) {
            status = p->processes[0].exit_status;
            hpcprof_free(p);
        }
    }
    text_list_release(&files);
    mem_free(out);
    return status;
}

static void test_how_it_ended(void)
{
    static const struct {
        const char *name, *does;
        bool rank;
        int in_file;
        const char *told, *warned;
    } cases[] = {
        {"without its end", "", false, 768, "DIR/out of it", NULL},
        {"killed", "k", false, SIGKILL, "DIR/out of it", NULL},
        {"with its end", "w", false, -1, "DIR/out of it", NULL},
        {"with its end, of many", "w", true, -1, "the file of it", NULL},
        {"another's without an end", "a", false, -1, "", NULL},
        {"another's with its end", "aw", false, -1, "DIR/out of it", NULL},
        {"another's, of many", "aw", true, -1, "", NULL},
        {"nothing", "-", false, -2, "", "nothing was recorded"},
        {"a link", "l", false, -1, "", "adding the exit status"},
    };
    struct hpcprof_record_options o = {.ended = note_ended};
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        SKIP("how the program ended", "there is no /proc");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *argv[] = {self, folder, cases[i].does, NULL};
        int status;
        empty_out();
        buf_str(&ended_with, "");
        if (cases[i].rank)
            setenv("PMI_RANK", "1", 1);
        char *got = recorded(o, argv, &status);
        unsetenv("PMI_RANK");
        printf("# %s\n", cases[i].name);
        CHECK_STR(got, "");
        CHECK_INT(status, strchr(cases[i].does, 'k') ? SIGKILL : 768);
        CHECK_INT(status_in_file(), cases[i].in_file);
        CHECK_STR(ended_with.bytes, cases[i].told);
        CHECK_INT(warnings_count(said), cases[i].warned != NULL);
        CHECK(!cases[i].warned || warned(cases[i].warned));
        buf_release(&ended_with);
        mem_free(got);
    }
}

static void pass_by(int number)
{
    (void)number;
}

/* An older kernel has no process descriptors: the program is waited for, despite interruptions. */
static void test_older_kernel(void)
{
    no_processes = true;
    test_ends();
    test_told();
    test_signals();
    /* A handler of the caller, after which the wait is not restarted. */
    const struct sigaction ours = {.sa_handler = pass_by};
    const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    struct sigaction before;
    sigaction(SIGALRM, &ours, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    int status = run_shell((struct hpcprof_record_options){0}, "sleep 0.1; exit 6");
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    CHECK_INT(WEXITSTATUS(status), 6);
    no_processes = false;
}

/* ---- more events than go together ----------------------------------------------------------------------------------- */

static void test_many_events(void)
{
    static const char *const all[] = {"CPUTIME",
                                      "REALTIME",
                                      "perf::TASK-CLOCK",
                                      "perf::CPU-CLOCK",
                                      "perf::PAGE-FAULTS",
                                      "perf::MINOR-FAULTS",
                                      "perf::MAJOR-FAULTS",
                                      "perf::ALIGNMENT-FAULTS",
                                      "perf::CONTEXT-SWITCHES",
                                      "perf::CPU-MIGRATIONS",
                                      "PAPI_TOT_CYC",
                                      "PAPI_TOT_INS"};
    counts_all = true;
    for (size_t n = 1; n <= ARRAY_SIZE(all); n++)
        for (int repeat = 0; repeat < 2; repeat++) {
            const char *events[ARRAY_SIZE(all) + 1] = {NULL}, *script[] = {"sh", "-c", "echo >>\"$0\"", NULL, NULL};
            char *runs = in_folder("runs");
            int status;
            memcpy(events, all, n * sizeof *all);
            script[3] = runs;
            unlink(runs);
            empty_out();
            char *got = recorded(
                     (struct hpcprof_record_options){.events = events, .repeat = repeat ? HPCPROF_AS_NEEDED : 0},
                     script, &status),
                 *ran = text_of("runs");
            bool fit = n <= RECORD_EVENTS_MAX;
            CHECK_STR(got,
                      fit || repeat ? "" : "more than 8 events at once; --repeat runs the program once for each group");
            CHECK_STR(ran, fit ? "\n" : repeat ? "\n\n" : "none");
            mem_free(got);
            mem_free(ran);
            mem_free(runs);
        }
    counts_all = false;
    const char *script[] = {"sh", "-c", "exit 0", NULL};
    int status;
    empty_out();
    char *got = recorded((struct hpcprof_record_options){.events = two_events, .counters = 1}, script, &status);
    CHECK_STR(got, "these events cannot be counted at the same time: CPUTIME fit together, REALTIME does not fit with "
                   "them; --repeat runs the program once for each group, --multiplex shares the counters (estimates)");
    CHECK_INT(status, -1);
    mem_free(got);
    /* Nothing is created before all checks succeed. */
    char *out = in_folder("out");
    mem_free(recorded((struct hpcprof_record_options){.events = no_event}, script, &status));
    CHECK(access(out, F_OK) < 0);
    mem_free(out);
}

/* ---- a disk that is full -------------------------------------------------------------------------------------------- */

static unsigned disk_said;

static void note_disk(const char *sentence)
{
    char *brief = shortened(sentence);
    disk_said++;
    CHECK_STR(brief, "DIR/out: the disk is full; counts are kept in memory until space is available, and lost if none "
                     "is at the end");
    mem_free(brief);
    mem_free(put_file("said", "", 0));
}

static void test_disk(void)
{
    static const struct {
        const char *name;
        int status;
        unsigned blocks, left, said;
    } cases[] = {{"unknown", -1, 9, 0, 0},
                 {"of no size", 0, 0, 0, 0},
                 {"with room", 0, 9, 1, 0},
                 {"of one block, full", 0, 1, 0, 1},
                 {"full", 0, 9, 0, 1}};
    struct hpcprof_record_options o = {.say = note_disk};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        printf("# %s\n", cases[i].name);
        empty_out();
        disk_status = cases[i].status, disk_blocks = cases[i].blocks, disk_left = cases[i].left, disk_said = 0;
        CHECK_INT(run_shell(o, "exit 0"), 0);
        CHECK_INT(disk_said, cases[i].said);
        CHECK_INT(warned("nothing was recorded: the disk is full"), cases[i].said);
        o.say = NULL; /* invalid process */
        CHECK_INT(run_shell(o, "exit 0"), 0);
        CHECK_INT(disk_said, cases[i].said);
        o.say = note_disk;
    }
    /* While the program runs, and once. */
    char *script = mem_printf(
             "n=0; while ! [ -e '%s/said' ]; do sleep 0.1; n=$((n + 1)); [ $n -lt 300 ] || exit 9; done", folder),
         *said_file = in_folder("said");
    unlink(said_file);
    disk_said = 0;
    CHECK_INT(run_shell(o, script), 0);
    CHECK_INT(disk_said, 1);
    unlink(said_file);
    mem_free(said_file);
    mem_free(script);
    disk_status = -1;
}

static int next_descriptor(void)
{
    int fd = open("/", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* All descriptors are closed, including a former descriptor 0. */
static void test_closed(void)
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3), before = next_descriptor();
    test_told();
    CHECK_INT(next_descriptor(), before);
    close(0);
    test_told();
    test_ends();
    CHECK_INT(next_descriptor(), 0);
    dup2(saved, 0);
    close(saved);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_recorded(argv[1], argv[2]);
    const char *tmp = getenv("TMPDIR");
    char *made = mem_printf("%s/hpcview-record.XXXXXX", tmp ? tmp : "/tmp");
    Dl_info info;
    if (!mkdtemp(made) || !(folder = realpath(made, NULL)) || !dladdr(dlsym(RTLD_DEFAULT, "zlibVersion"), &info) ||
        access(info.dli_fname, R_OK) < 0) {
        SKIP("the launcher", "there is no library here that does nothing");
        return tap_done();
    }
    library = info.dli_fname;
    unsetenv(RECORD_VARIABLE);
    RUN(test_elves);
    RUN(test_files);
    RUN(test_scripts);
    RUN(test_first_lines);
    RUN(test_rights);
    RUN(test_options);
    RUN(test_folders);
    RUN(test_orders);
    RUN(test_preload);
    RUN(test_blanks);
    RUN(test_sanitizer_options);
    RUN(test_ends);
    RUN(test_not_started);
    RUN(test_signals);
    RUN(test_how_it_ended);
    RUN(test_older_kernel);
    RUN(test_many_events);
    RUN(test_disk);
    RUN(test_closed);
    if (said)
        warnings_free(said);
    char *command = mem_printf("rm -rf '%s'", folder);
    CHECK_INT(system(command), 0);
    mem_free(command);
    mem_free(made);
    free(folder);
    return tap_done();
}
