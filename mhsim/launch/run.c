/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a program so that its references reach the simulator: as it is where it was compiled for that, else under
 * QEMU. */
#include "config.h"
#include "mhsim/collect/collect.h"
#include "mhsim/launch/libraries.h"
#include "mhsim/mhsim.h"
#include "mhsim/shared_layout.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct launch {
    const struct mhsim_run_options *options;
    char *program, *real, *folder, *qemu; /* qemu: NULL where the program needs none */
    struct text_list libraries;           /* compiled for it as the program is */
    struct raw_orders orders;
    int machine; /* ELF's number */
};

/* ---- the program ------------------------------------------------------------------------ */

static int check_elf(struct launch *l, const struct filemap *file, bool *compiled_in, struct err *err)
{
    const Elf64_Ehdr *e = (const void *)file->bytes;
    if (file->len >= 2 && memcmp(file->bytes, "#!", 2) == 0)
        return err_set(err, ERR_UNSUPPORTED, "%s is a script: simulate the program that it starts", l->program);
    if (file->len < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_ident[EI_DATA] != ELFDATA2LSB)
        return err_set(err, ERR_UNSUPPORTED, "%s is not a 64-bit ELF program", l->program);
    if (e->e_machine != EM_X86_64 && e->e_machine != EM_AARCH64)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s is for another processor (ELF machine %u); x86-64 and AArch64 can be simulated", l->program,
                       e->e_machine);
    l->machine = e->e_machine;
    *compiled_in = mhsim_libraries_compiled_in(file);
    return 0;
}

/* ---- functions: where in the program's file their code is ------------------------------------- */

struct wanted {
    const char *name;
    bool found;
};

static bool add_range(struct launch *l, const char *module, uint64_t from, uint64_t to)
{
    struct raw_orders *o = &l->orders;
    if (o->range_count == RAW_RANGES)
        return false;
    struct raw_range *r = &o->ranges[o->range_count++];
    *r = (struct raw_range){.from = from, .to = to};
    snprintf(r->module, sizeof r->module, "%s", module);
    return true;
}

/* "f" is also f's parts (f.cold, f._omp_fn.0) and, as gfortran calls them, f_ and __module_MOD_f. */
static bool is_function(const char *symbol, const char *name)
{
    size_t n = strlen(name);
    const char *mod = str_starts(symbol, "__") ? strstr(symbol, "_MOD_") : NULL;
    const char *base = mod ? mod + 5 : symbol;
    return strcmp(symbol, name) == 0 || (strncmp(base, name, n) == 0 && (base[n] == '\0' || base[n] == '.' ||
                                                                         (base[n] == '_' && base[n + 1] == '\0')));
}

static int find_functions(struct launch *l, const struct filemap *file, struct err *err)
{
    const char *const *names = l->options->functions;
    const Elf64_Ehdr *e = (const void *)file->bytes;
    const Elf64_Shdr *h = (const void *)(file->bytes + e->e_shoff);
    bool sections = e->e_shoff % 8 == 0 && e->e_shoff <= file->len && e->e_shentsize == sizeof *h &&
                    e->e_shnum <= (file->len - e->e_shoff) / sizeof *h;
    for (; *names; names++) {
        uint32_t before = l->orders.range_count;
        for (unsigned i = 0; sections && i < e->e_shnum; i++) {
            const Elf64_Shdr *s = &h[i], *t = s->sh_link < e->e_shnum ? &h[s->sh_link] : NULL;
            if (s->sh_type != SHT_SYMTAB || !t || s->sh_offset % 8 || s->sh_offset > file->len ||
                s->sh_size > file->len - s->sh_offset || t->sh_offset > file->len ||
                t->sh_size > file->len - t->sh_offset || t->sh_size == 0 || file->bytes[t->sh_offset + t->sh_size - 1])
                continue;
            const Elf64_Sym *sym = (const void *)(file->bytes + s->sh_offset);
            for (uint64_t k = 0; k < s->sh_size / sizeof *sym; k++)
                if (ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC && sym[k].st_size && sym[k].st_name < t->sh_size &&
                    is_function((const char *)file->bytes + t->sh_offset + sym[k].st_name, *names) &&
                    !add_range(l, l->real, sym[k].st_value, sym[k].st_value + sym[k].st_size))
                    return err_set(err, ERR_LIMIT, "--function: more than %d pieces of code", RAW_RANGES);
        }
        if (l->orders.range_count == before)
            return err_set(err, ERR_USAGE, "--function: %s has no function '%s' in its symbol table", l->program,
                           *names);
    }
    return 0;
}

/* ---- preparing ------------------------------------------------------------------------------------ */

static int find_qemu(struct launch *l, struct err *err)
{
    const char *name = l->machine == EM_AARCH64 ? "qemu-aarch64" : "qemu-x86_64";
    if (l->options->qemu)
        name = l->options->qemu;
    l->qemu = path_search(getenv("PATH"), name);
    if (!l->qemu)
        return err_set(
            err, ERR_SYSTEM,
            "%s is not installed, and %s was not compiled by hpcview-cc: install it (Debian, Ubuntu: apt-get install "
            "qemu-user; Fedora: dnf install qemu-user), or compile the program with hpcview-cc, hpcview-c++, "
            "hpcview-fc",
            name, l->program);
    if (access(l->options->plugin, R_OK) != 0)
        return err_errno(err, l->options->plugin, "the plugin for QEMU");
    return 0;
}

static int look_at_program(struct launch *l, const char *name, struct err *err)
{
    struct filemap file;
    bool compiled_in = false;
    l->program = path_program(getenv("PATH"), name, err);
    if (!l->program)
        return -1;
    l->real = realpath(l->program, NULL);
    if (!l->real)
        return err_errno(err, l->program, "finding the program");
    if (filemap_open(&file, l->real, err) < 0)
        return -1;
    int status = check_elf(l, &file, &compiled_in, err);
    if (status == 0 && l->options->functions)
        status = find_functions(l, &file, err);
    for (size_t i = 0; i < l->options->code_count; i++) /* the first ones are those that matter most */
        add_range(l, l->options->code[i].module, l->options->code[i].from, l->options->code[i].to);
    if (status == 0 && compiled_in)
        mhsim_libraries_list(l->real, &file, getenv("LD_LIBRARY_PATH"), &l->libraries);
    filemap_release(&file);
    return status < 0 || compiled_in ? status : find_qemu(l, err);
}

static void put_command(char *to, size_t room, char *const *argv)
{
    size_t at = 0;
    for (; *argv && at + 1 < room; argv++)
        at += (size_t)snprintf(to + at, room - at, "%s%s", at ? " " : "", *argv);
}

/* ---- variables: addresses of members of COMMON blocks and of variables in frames ------------------- */

static int by_place(const void *a, const void *b)
{
    const struct mhsim_variable *x = a, *y = b;
    return order_of(x->from, y->from) ?: order_of(x->lo, y->lo) ?: order_of(x->hi, y->hi) ?: strcmp(x->name, y->name);
}

/* Subroutines may divide a COMMON block in different ways: a variable that begins within another member is not
   distinguished from it. */
static void drop_overlaps(struct mhsim_variables *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct mhsim_variable *v = &list->items[i], *last = kept ? &list->items[kept - 1] : NULL;
        if (v->to || !last || last->to || v->lo >= last->hi)
            list->items[kept++] = *v;
    }
    list->count = kept;
}

/* Files without variables have no head. */
static void list_file(struct launch *l, const char *path, struct buf *heads, struct buf *variables, struct warnings *w)
{
    struct raw_variables head = {.first = l->orders.variables};
    struct mhsim_variables list = {0};
    l->options->variables(path, &list, w);
    vec_sort(&list, by_place); /* statics, whose procedure is at 0, come first */
    drop_overlaps(&list);
    for (size_t i = 0; i < list.count; i++)
        ++*(list.items[i].to ? &head.frames : &head.statics);
    if (list.count && strlen(path) < sizeof head.path) {
        memcpy(head.path, path, strlen(path));
        buf_add(heads, &head, sizeof head);
        buf_add(variables, list.items, list.count * sizeof *list.items);
        l->orders.variable_files++;
        l->orders.variables += list.count;
    }
    vec_release(&list);
}

static int write_file(const struct launch *l, const char *name, const void *bytes, size_t n, struct err *err)
{
    struct outfile *out;
    char *path = path_join(l->folder, name);
    int status = outfile_create(path, &out, err);
    mem_free(path);
    if (status < 0)
        return -1;
    outfile_write(out, bytes, n);
    return outfile_commit(out, err);
}

static int write_variables(struct launch *l, struct warnings *w, struct err *err)
{
    struct buf heads = {0}, variables = {0};
    if (!l->options->variables)
        return 0;
    list_file(l, l->real, &heads, &variables, w);
    for (size_t i = 0; i < l->libraries.count; i++)
        list_file(l, l->libraries.items[i], &heads, &variables, w);
    buf_add(&heads, variables.bytes, variables.len);
    int status = heads.len ? write_file(l, RAW_VARIABLES, heads.bytes, heads.len, err) : 0;
    buf_release(&heads);
    buf_release(&variables);
    return status;
}

static int write_orders(struct launch *l, char *const *argv, struct err *err)
{
    const struct mhsim_run_options *o = l->options;
    l->orders.magic = RAW_MAGIC;
    l->orders.size = sizeof l->orders;
    l->orders.machine = *o->machine;
    l->orders.options = o->simulator;
    l->orders.delay = o->delay;
    l->orders.window = o->window;
    l->orders.burst = o->burst;
    l->orders.period = o->period;
    l->orders.warm_up = o->warm_up;
    if (o->region) {
        snprintf(l->orders.region, sizeof l->orders.region, "%s", o->region);
        l->orders.region_time = o->region_time;
    }
    snprintf(l->orders.program, sizeof l->orders.program, "%s", l->real);
    put_command(l->orders.command, sizeof l->orders.command, argv);
    return write_file(l, RAW_ORDERS, &l->orders, sizeof l->orders, err);
}

static int make_folder(struct launch *l, struct err *err)
{
    const char *dir = l->options->out_dir;
    if (dir_make(dir, err) < 0)
        return -1;
    char *absolute = realpath(dir, NULL);
    if (!absolute)
        return err_errno(err, dir, "finding the output directory");
    l->folder = mem_printf("%s/.simulate.XXXXXX", absolute);
    free(absolute);
    if (strlen(l->folder) >= RAW_PATH)
        return err_set(err, ERR_LIMIT, "%s: the path of the output directory is too long", dir);
    if (mkdtemp(l->folder))
        return 0;
    int status = err_errno(err, dir, "creating a folder in it");
    mem_free(l->folder);
    l->folder = NULL;
    return status;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t running;
static const int handled[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static void pass_on(int sig)
{
    if (running > 0)
        kill(running, sig);
}

/* qemu-x86_64 -plugin P [-E LD_PRELOAD=...] -0 NAME PROGRAM ARGS, or PROGRAM ARGS. The list and its strings are in the
 * arena. */
static char **command_line(const struct launch *l, char *const *argv, struct arena *arena)
{
    size_t n = 0, count = 0;
    while (argv[n])
        n++;
    char **words = arena_alloc(arena, (n + 12) * sizeof *words);
    if (l->qemu) {
        words[count++] = l->qemu;
        words[count++] = arena_strdup(arena, "-plugin");
        words[count++] = arena_printf(arena, "file=%s", l->options->plugin);
#if defined __x86_64__
        bool native = l->machine == EM_X86_64;
#else
        bool native = l->machine == EM_AARCH64;
#endif
        if (native && l->options->heap && access(l->options->heap, R_OK) == 0) {
            const char *old = getenv("LD_PRELOAD");
            words[count++] = arena_strdup(arena, "-E");
            words[count++] =
                arena_printf(arena, "LD_PRELOAD=%s%s%s", l->options->heap, old && *old ? ":" : "", old ? old : "");
        }
        words[count++] = arena_strdup(arena, "-0");
        words[count++] = argv[0];
        words[count++] = l->real;
        argv++;
    }
    while (*argv)
        words[count++] = *argv++;
    return words;
}

static _Noreturn void become(const struct launch *l, char *const *words, const struct sigaction *old, int report)
{
    for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
        sigaction(handled[i], &old[i], NULL);
    setenv(RAW_VARIABLE, l->folder, 1);
    execv(l->qemu ? l->qemu : l->program, words);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

static int start_and_wait(struct launch *l, char *const *argv, pid_t *pid, int *status, struct err *err)
{
    struct sigaction old[ARRAY_SIZE(handled)];
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return err_errno(err, "pipe", "starting the program");
    struct arena *arena = arena_create();
    char **words = command_line(l, argv, arena);
    running = 0;
    for (size_t i = 0; i < ARRAY_SIZE(handled); i++) {
        struct sigaction act = {.sa_flags = SA_RESTART};
        act.sa_handler = i < 2 ? SIG_IGN : pass_on;
        sigaction(handled[i], &act, &old[i]);
    }
    *pid = fork();
    if (*pid == 0)
        become(l, words, old, report[1]);
    running = *pid;
    close(report[1]);
    ssize_t n = read(report[0], &error, sizeof error);
    close(report[0]);
    while (*pid > 0 && waitpid(*pid, status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
        sigaction(handled[i], &old[i], NULL);
    arena_free(arena);
    if (*pid < 0 || n == (ssize_t)sizeof error)
        return err_set(err, ERR_SYSTEM, "%s: the program cannot be started: %s", l->program,
                       strerror(*pid < 0 ? errno : error));
    return 0;
}

static int explain_nothing(const struct launch *l, int status, struct err *err)
{
    if (l->qemu)
        return err_set(err, ERR_SYSTEM,
                       "nothing was simulated: %s did not load the plugin (its messages are above); use QEMU's user "
                       "mode 6.0 or later, built with plugins, such as Debian's qemu-user",
                       l->qemu);
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "nothing was simulated: %s was killed by signal %d before it started",
                       l->program, WTERMSIG(status));
    return err_set(
        err, ERR_SYSTEM,
        "nothing was simulated: %s did not load the simulator it was compiled with, or no file could be created in %s",
        l->program, l->options->out_dir);
}

int mhsim_run(const struct mhsim_run_options *o, char *const *argv, int *status, struct warnings *w, struct err *err)
{
    struct launch l = {.options = o};
    pid_t pid = 0;
    int result = look_at_program(&l, argv[0], err);
    if (result == 0 && (result = make_folder(&l, err)) == 0 && (result = write_variables(&l, w, err)) == 0 &&
        (result = write_orders(&l, argv, err)) == 0 && (result = start_and_wait(&l, argv, &pid, status, err)) == 0) {
        result = mhsim_collect(l.folder, o->out_dir, (uint32_t)pid, *status, w, err);
        if (result == 0)
            result = explain_nothing(&l, *status, err);
        if (result > 0 && l.qemu && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGILL)
            warnings_add(w,
                         "%s was ended by an instruction that QEMU does not support (such as AVX-512): compile it for "
                         "an older processor (-march=x86-64-v3), or with hpcview-cc",
                         l.program);
    }
    if (l.folder)
        dir_remove_tree(l.folder, NULL);
    mem_free(l.folder);
    mem_free(l.program);
    mem_free(l.qemu);
    text_list_release(&l.libraries);
    free(l.real);
    return result < 0 ? -1 : 0;
}
