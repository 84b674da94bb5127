/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview simulate: run a program on a simulated memory hierarchy and leave a measurement. */
#include "config.h"
#include "bloop/bloop.h"
#include "driver/driver.h"
#include "driver/record.h"
#include "mhsim/mhsim.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static struct settings {
    const char *out, *machine, *burst, *delay, *window, *sets, *qemu, *region;
    struct string_list functions;
    bool classify, show;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "DIR",
     "measurement folder (default: hpcview-NAME.measurements)"},
    {"machine", 'm', OPT_STRING, offsetof(struct settings, machine), "FILE|NAME",
     "the memory hierarchy (default: this machine's caches)"},
    {"show-machine", 0, OPT_FLAG, offsetof(struct settings, show), NULL,
     "describe the simulated machine, and run nothing"},
    {"function", 'f', OPT_LIST, offsetof(struct settings, functions), "NAME",
     "only references in this function; repeatable"},
    {"region", 0, OPT_STRING, offsetof(struct settings, region), "NAME[@N]",
     "count only in this region (hpcview.h); @N: the N-th time it is entered"},
    {"delay", 0, OPT_STRING, offsetof(struct settings, delay), "N", "start after N accesses (K, M, G: thousands, ...)"},
    {"window", 0, OPT_STRING, offsetof(struct settings, window), "N",
     "simulate N accesses, then continue without simulation"},
    {"burst", 0, OPT_STRING, offsetof(struct settings, burst), "N/M[+W]",
     "count N of every M accesses, after W (default: N) for warming up (estimates)"},
    {"sets", 0, OPT_STRING, offsetof(struct settings, sets), "1/N",
     "simulate one cache line in N, a power of two (estimates)"},
    {"classify", 0, OPT_FLAG, offsetof(struct settings, classify), NULL,
     "distinguish conflict from capacity misses (slower)"},
    {"qemu", 0, OPT_STRING, offsetof(struct settings, qemu), "PROGRAM", "use this qemu-x86_64 or qemu-aarch64"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

/* "250", "64K", "1.5M" */
static const char *read_count(const char *text, uint64_t *to)
{
    char *end;
    double v = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;
    if (v < 0)
        return NULL;
    double factor = *end == 'K' || *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (v * factor >= 1e18)
        return NULL;
    *to = (uint64_t)(v * factor);
    return factor > 1 ? end + 1 : end;
}

static int get_count(const char *name, const char *text, uint64_t *to, struct err *err)
{
    const char *end = text ? read_count(text, to) : "";
    if (!end || *end || (text && *to == 0))
        return err_set(err, ERR_USAGE, "simulate: --%s needs a number of accesses (100M), not '%s'", name, text);
    return 0;
}

static int get_burst(struct mhsim_run_options *o, struct err *err)
{
    const char *text = opt.burst, *at = text;
    if (!text)
        return 0;
    at = read_count(at, &o->burst);
    at = at && *at == '/' ? read_count(at + 1, &o->period) : NULL;
    o->warm_up = o->burst;
    if (at && *at == '+')
        at = read_count(at + 1, &o->warm_up);
    if (!at || *at)
        return err_set(err, ERR_USAGE, "simulate: --burst needs N/M or N/M+W, such as 1M/100M, not '%s'", text);
    if (o->burst == 0 || o->burst + o->warm_up > o->period)
        return err_set(err, ERR_USAGE,
                       "simulate: --burst %s: %llu counted and %llu for warming up do not fit into %llu accesses", text,
                       (unsigned long long)o->burst, (unsigned long long)o->warm_up, (unsigned long long)o->period);
    return 0;
}

static int get_sets(struct mhsim_run_options *o, struct err *err)
{
    char *end = NULL;
    unsigned long n = opt.sets && strncmp(opt.sets, "1/", 2) == 0 ? strtoul(opt.sets + 2, &end, 10) : 0;
    if (!opt.sets)
        return 0;
    if (!end || *end || n < 1 || n > 1024 || (n & (n - 1)))
        return err_set(err, ERR_USAGE, "simulate: --sets needs 1/N with N a power of two up to 1024, not '%s'",
                       opt.sets);
    o->simulator.sample_sets = (uint32_t)n;
    return 0;
}

static int get_machine(struct session *s, struct machine_memory *m)
{
    if (!opt.machine) {
        int known = machine_memory_here("/sys", m, &s->err);
        if (known == 0)
            warnings_add(s->warnings, "the kernel does not describe this machine's caches; typical ones are simulated");
        return known < 0 ? -1 : 0;
    }
    char *dir = driver_machines_dir();
    int status = machine_memory_read(opt.machine, dir, m, &s->err);
    mem_free(dir);
    return status;
}

static void show_machine(const struct machine_memory *m)
{
    struct buf b = {0};
    machine_memory_print(m, &b);
    printf("%s%s%s\n", m->name, *m->name ? ": " : "", b.bytes);
    buf_release(&b);
}

static void list_variables(const char *path, struct mhsim_variables *to, struct warnings *w)
{
    struct bloop_binary *b;
    struct bloop_variables found = {0};
    struct err err = {0};
    if (bloop_open(path, NULL, &b, w, &err) < 0) /* arrays have their symbols' names, then */
        return;
    bloop_variables(b, &found, w);
    for (size_t i = 0; i < found.count; i++) {
        const struct bloop_variable *v = &found.items[i];
        struct mhsim_variable *made = vec_push(to);
        *made = (struct mhsim_variable){.from = v->procedure.begin,
                                        .to = v->procedure.end,
                                        .code_from = v->code.begin,
                                        .code_to = v->code.end,
                                        .lo = v->at,
                                        .hi = v->at + (int64_t)v->bytes};
        snprintf(made->name, sizeof made->name, "%s", v->name);
    }
    bloop_variables_release(&found);
    bloop_close(b);
}

static int simulate(struct session *s, struct mhsim_run_options *o, char **argv)
{
    int wait_status = 0;
    char *plugin = driver_library_path("libhpcview-simulate-qemu.so"),
         *heap = driver_library_path("libhpcview-simulate-heap.so");
    char *dir = opt.out ? mem_strdup(opt.out) : dir_unused(argv[0], "measurements", NULL);
    o->out_dir = dir;
    o->plugin = plugin;
    o->heap = heap;
    o->variables = list_variables;
    int status = mhsim_run(o, argv, &wait_status, s->warnings, &s->err);
    if (status == 0 && !opt.out)
        fprintf(stderr, "hpcview: measurement written to %s\n", dir);
    mem_free(dir);
    mem_free(heap);
    mem_free(plugin);
    return status < 0 ? -1 : record_exit_status(wait_status);
}

static int run_with(struct session *s, struct mhsim_run_options o, int argc, char **argv)
{
    struct machine_memory machine;
    o.machine = &machine;
    if (get_machine(s, &machine) < 0 || get_count("delay", opt.delay, &o.delay, &s->err) < 0 ||
        get_count("window", opt.window, &o.window, &s->err) < 0 || get_burst(&o, &s->err) < 0 ||
        get_sets(&o, &s->err) < 0)
        return -1;
    if (opt.burst && opt.window)
        return err_set(&s->err, ERR_USAGE, "simulate: --burst and --window exclude each other");
    if (opt.show) {
        show_machine(&machine);
        return 0;
    }
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "simulate: usage: hpcview simulate [options] -- PROGRAM ARGS");
    return simulate(s, &o, argv);
}

static int run(struct session *s, int argc, char **argv)
{
    struct mhsim_run_options o = {.simulator.classify = opt.classify, .qemu = opt.qemu};
    char *region;
    if (opt.functions.count)
        o.functions = string_list_array(&opt.functions);
    if (record_region(opt.region, &region, &o.region_time, &s->err) < 0)
        return err_in(&s->err, "simulate");
    o.region = region;
    int status = run_with(s, o, argc, argv);
    mem_free(region);
    return status;
}

const struct command command_simulate = {
    .name = "simulate",
    .synopsis = "[options] [--] PROGRAM ARGS",
    .summary = "run a program on a simulated memory hierarchy",
    .options = tables,
    .stops_at_operand = true,
    .run = run,
};
