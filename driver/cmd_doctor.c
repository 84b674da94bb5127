/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview doctor: what can be measured on this machine, what cannot, why, and what would change it. */
#include "config.h"

#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

static void show(bool works, const char *what, const char *found, const char *cure)
{
    printf("%-4s %-18s %s\n", works ? "yes" : "no", what, found);
    if (!works)
        printf("%-23s -> %s\n", "", cure);
}

/* Seccomp's mode 2 in the status of this process. */
static bool is_filtered(void)
{
    char text[4096];
    FILE *f = fopen("/proc/self/status", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    return strstr(text, "\nSeccomp:\t2\n") != NULL;
}

static bool in_container(void)
{
    const char *const files[] = {"/.dockerenv", "/run/.containerenv", "/singularity", "/.singularity.d"};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (access(files[i], F_OK) == 0)
            return true;
    return getenv("container") != NULL;
}

/* ---- sampling ------------------------------------------------------------------------------------------------- */

struct events { /* the reasons are the caller's to mem_free; NULL: the event works */
    char *clock, *cycles;
    unsigned counters;
};

static void look_at_event(void *ctx, const struct hpcprof_event_info *e)
{
    struct events *events = ctx;
    char **why = strcmp(e->name, "perf::TASK-CLOCK") == 0 ? &events->clock
                 : strcmp(e->name, "PAPI_TOT_CYC") == 0   ? &events->cycles
                                                          : NULL;
    if (why) {
        mem_free(*why);
        *why = e->why_not ? mem_strdup(e->why_not) : NULL;
    }
    events->counters += str_starts(e->name, "PAPI_") && !e->why_not;
}

static const char *permission(bool container, bool filtered)
{
    return container || filtered ? "start the container with --cap-add PERFMON and a seccomp profile that permits "
                                   "perf_event_open"
                                 : "sudo sysctl kernel.perf_event_paranoid=1";
}

static int show_sampling(struct err *err)
{
    struct events events = {mem_strdup("perf events are not available"), mem_strdup("no such counter"), 0};
    int paranoid = hpcprof_perf_event_paranoid();
    bool container = in_container(), filtered = is_filtered();
    const char *cure = permission(container, filtered);
    int status = hpcprof_list_events(true, NULL, look_at_event, &events, err);
    if (status == 0) {
        char found[160];
        snprintf(found, sizeof found, "perf_event_paranoid is %d%s%s%s", paranoid,
                 geteuid() == 0 ? ", and you are root" : "", container ? ", in a container" : "",
                 filtered ? ", with a seccomp filter" : "");
        show(!events.clock, "time", events.clock ? events.clock : "perf::TASK-CLOCK, by the kernel", cure);
        show(geteuid() == 0 || paranoid <= 1, "time in the kernel", found, cure);
        snprintf(found, sizeof found, "%u events; 'hpcview events' lists them", events.counters);
        show(!events.cycles, "hardware counters", events.cycles ? events.cycles : found,
             "give a virtual machine a virtual PMU, or measure time and simulate caches");
    }
    mem_free(events.clock);
    mem_free(events.cycles);
    return status;
}

/* ---- programs and files ----------------------------------------------------------------------------------------- */

static void show_program(const char *what, const char *name, const char *cure)
{
    char *path = path_search(getenv("PATH"), name);
    char *missing = mem_printf("no %s in PATH", name);
    show(path, what, path ? path : missing, cure);
    mem_free(missing);
    mem_free(path);
}

static void show_file(const char *what, char *path, const char *cure)
{
    show(access(path, R_OK) == 0, what, path, cure);
    mem_free(path);
}

/* Its section table names them, compressed or not; a file of their own is found by the build ID when results are read. */
static int show_debug_information(const char *program, struct err *err)
{
    static const char section[] = ".debug_line";
    struct filemap map;
    if (filemap_open(&map, program, err) < 0)
        return -1;
    show(memmem(map.bytes, map.len, section, sizeof section), "lines", program,
         "compile with -g, in addition to the usual -O2 or -O3");
    filemap_release(&map);
    return 0;
}

static int run(struct session *s, int argc, char **argv)
{
    struct utsname machine;
    if (argc > 1)
        return err_set(&s->err, ERR_USAGE, "doctor: usage: hpcview doctor [PROGRAM]");
    if ((argc == 1 && show_debug_information(argv[0], &s->err) < 0) || show_sampling(&s->err) < 0)
        return -1;
    show_file("recorder", driver_library_path("libhpcview-record.so"),
              "set HPCVIEW_LIB to the folder that contains it");
    show_file("metrics", driver_share_path("metrics"),
              "set HPCVIEW_SHARE to the folder share/hpcview of the installation");
#ifdef HAVE_PAPI
    show(true, "PAPI", "compiled in", NULL);
#else
    show(false, "PAPI", "not compiled in: native events of the processor are missing",
         "install libpapi-dev, and configure hpcview again");
#endif
    char *qemu = mem_printf("qemu-%s", uname(&machine) == 0 ? machine.machine : "x86_64");
    show_program("hpcview simulate", qemu, "sudo apt install qemu-user, or compile the program with hpcview-cc");
    mem_free(qemu);
    show_program("C compiler", "cc", "sudo apt install gcc (only to compile programs)");
    show_program("Fortran compiler", "gfortran", "sudo apt install gfortran (only to compile programs)");
    const char *servers = getenv("DEBUGINFOD_URLS");
    show(servers && *servers, "debuginfod", servers && *servers ? servers : "DEBUGINFOD_URLS is not set",
         "export DEBUGINFOD_URLS=https://debuginfod.debian.net (lines of system libraries)");
    return 0;
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[PROGRAM]",
    .summary = "show what can be measured on this machine, and why not",
    .run = run,
};
