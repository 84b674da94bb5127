/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events by name: a table of those we know without PAPI, with everyone's default period; PAPI and libpfm4 for the rest.
 */
#include "config.h"

#include "hpcprof/launch/events.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_PAPI
#include <papi.h>
#endif
#ifdef HAVE_PFM
#include <perfmon/pfmlib_perf_event.h>
#endif

/* ---- what we know ourselves ----------------------------------------------------------------------- */

/* Default periods give about 250 samples a second of a busy core (time, cycles), or a few hundred in a program that
   has a problem with the event. Those of counters are odd, so that they do not beat with loops. least: costs about a
   fifth of the time with the ring; PAPI's is three times that. */
static const struct known {
    const char *name, *unit;
    uint64_t period, least;
    uint32_t kind, type;
    uint64_t config;
    const char *description;
    const char *papi; /* PAPI's other name of it */
} known[] = {
    {"perf::TASK-CLOCK", "ns", 4000000, 65000, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
     "CPU time of the thread", NULL},
    {"perf::CPU-CLOCK", "ns", 4000000, 65000, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
     "CPU time of the thread, by the processor's clock", NULL},
    {"perf::PAGE-FAULTS", "faults", 10, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults",
     NULL},
    {"perf::MINOR-FAULTS", "faults", 10, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN,
     "minor page faults", NULL},
    {"perf::MAJOR-FAULTS", "faults", 1, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     "major page faults (waited for the disk)", NULL},
    {"perf::ALIGNMENT-FAULTS", "faults", 10, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS,
     "alignment faults fixed up by the kernel", NULL},
    {"perf::CONTEXT-SWITCHES", "switches", 1, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
     "context switches", NULL},
    {"perf::CPU-MIGRATIONS", "migrations", 1, 1, RECORD_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
     "migrations to another CPU", NULL},
    {"CPUTIME", "us", 4000, 200, RECORD_CPUTIME, 0, 0, "CPU time of the thread, by a timer; needs no permission", NULL},
    {"REALTIME", "us", 4000, 200, RECORD_REALTIME, 0, 0,
     "wall-clock time including waiting, by a timer; needs no permission", NULL},
    {"PAPI_TOT_CYC", "cycles", 12000017, 200003, RECORD_PERF, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
     "Total cycles", "perf::CYCLES"},
    {"PAPI_TOT_INS", "instructions", 12000017, 200003, RECORD_PERF, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
     "Instructions completed", "perf::INSTRUCTIONS"},
};

/* Presets for which PAPI has no counter here, as its libpfm does not know the processor (PAPI 7.0: Neoverse N1): the
   kernel's equivalents. Arm's architecture numbers such events for all processors (Arm ARM, "PMU events and event
   numbers"); elsewhere the kernel knows each processor's own by a generic name. */
static const struct substitute {
    const char *preset, *description, *of; /* of: whose event it is, by which name */
    uint32_t type;
    uint64_t config;
    const char *papi; /* PAPI's name of the same; NULL: it has none */
} substitutes[] = {
#ifdef __aarch64__
#define ARM(name, number) "Arm's " name, PERF_TYPE_RAW, 0x##number, "r" #number
    {"PAPI_BR_MSP", "Branches mispredicted", ARM("BR_MIS_PRED", 10)},
    {"PAPI_BR_INS", "Branch instructions", ARM("BR_RETIRED", 21)},
    {"PAPI_L1_DCM", "Level 1 data cache misses", ARM("L1D_CACHE_REFILL", 3)},
    {"PAPI_L1_DCA", "Level 1 data cache accesses", ARM("L1D_CACHE", 4)},
    {"PAPI_L1_ICM", "Level 1 instruction cache misses", ARM("L1I_CACHE_REFILL", 1)},
    {"PAPI_L1_ICA", "Level 1 instruction cache accesses", ARM("L1I_CACHE", 14)},
    {"PAPI_L2_DCM", "Level 2 data cache misses", ARM("L2D_CACHE_REFILL", 17)},
    {"PAPI_L2_DCA", "Level 2 data cache accesses", ARM("L2D_CACHE", 16)},
    {"PAPI_L3_TCM", "Level 3 cache misses", ARM("L3D_CACHE_REFILL", 2a)},
    {"PAPI_L3_TCA", "Level 3 cache accesses", ARM("L3D_CACHE", 2b)},
    {"PAPI_TLB_DM", "Data translation lookaside buffer misses", ARM("L1D_TLB_REFILL", 5)},
    {"PAPI_TLB_IM", "Instruction translation lookaside buffer misses", ARM("L1I_TLB_REFILL", 2)},
    {"PAPI_TOT_IIS", "Instructions issued", ARM("INST_SPEC", 1b)},
    {"PAPI_LD_INS", "Load instructions", ARM("LD_SPEC", 70)},
    {"PAPI_SR_INS", "Store instructions", ARM("ST_SPEC", 71)},
    {"PAPI_FP_INS", "Floating point instructions", ARM("VFP_SPEC", 75)},
    {"PAPI_VEC_INS", "Vector/SIMD instructions", ARM("ASE_SPEC", 74)},
#else
#define GENERIC(perf, papi, event) "the kernel's " perf, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, "perf::" papi
#define CACHE(perf, papi, cache, result)                                                                               \
    "the kernel's " perf, PERF_TYPE_HW_CACHE,                                                                          \
        PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16,    \
        "perf::" papi
    {"PAPI_BR_MSP", "Branches mispredicted", GENERIC("branch-misses", "BRANCH-MISSES", BRANCH_MISSES)},
    {"PAPI_BR_INS", "Branch instructions", GENERIC("branches", "BRANCHES", BRANCH_INSTRUCTIONS)},
    {"PAPI_L1_DCM", "Level 1 data cache misses", CACHE("L1-dcache-load-misses", "L1-DCACHE-LOAD-MISSES", L1D, MISS)},
    {"PAPI_L1_ICM", "Level 1 instruction cache misses",
     CACHE("L1-icache-load-misses", "L1-ICACHE-LOAD-MISSES", L1I, MISS)},
    /* (cache-misses are those of the second level on AMD's processors, of the third on Intel's) */
    {"PAPI_L3_LDM", "Level 3 load misses", CACHE("LLC-load-misses", "LLC-LOAD-MISSES", LL, MISS)},
    {"PAPI_TLB_DM", "Data translation lookaside buffer misses of loads",
     CACHE("dTLB-load-misses", "DTLB-LOAD-MISSES", DTLB, MISS)},
    {"PAPI_TLB_IM", "Instruction translation lookaside buffer misses",
     CACHE("iTLB-load-misses", "ITLB-LOAD-MISSES", ITLB, MISS)},
#endif
};

/* Common names of some of them. */
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"TASK-CLOCK", "perf::TASK-CLOCK"},
    {"task-clock", "perf::TASK-CLOCK"},
    {"CPU-CLOCK", "perf::CPU-CLOCK"},
    {"cpu-clock", "perf::CPU-CLOCK"},
    {"PAGE-FAULTS", "perf::PAGE-FAULTS"},
    {"page-faults", "perf::PAGE-FAULTS"},
    {"perf::FAULTS", "perf::PAGE-FAULTS"},
    {"perf::CS", "perf::CONTEXT-SWITCHES"},
    {"perf::PERF_COUNT_SW_CONTEXT_SWITCHES", "perf::CONTEXT-SWITCHES"},
    {"perf::PERF_COUNT_SW_CPU_MIGRATIONS", "perf::CPU-MIGRATIONS"},
    {"perf::MIGRATIONS", "perf::CPU-MIGRATIONS"},
    {"context-switches", "perf::CONTEXT-SWITCHES"},
    {"perf::PERF_COUNT_SW_CPU_CLOCK", "perf::CPU-CLOCK"},
    {"perf::PERF_COUNT_SW_TASK_CLOCK", "perf::TASK-CLOCK"},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PAGE-FAULTS"},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS_MIN", "perf::MINOR-FAULTS"},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS_MAJ", "perf::MAJOR-FAULTS"},
    {"cycles", "PAPI_TOT_CYC"},
    {"instructions", "PAPI_TOT_INS"},
    {"faults", "perf::PAGE-FAULTS"},
};

/* Default periods of PAPI's events by substrings of their names; the first match counts. */
static const struct {
    const char *glob;
    uint64_t period;
    const char *unit;
} default_periods[] = {
    {"*CYC*", 12000017, "cycles"},           {"PAPI_STL_*", 12000017, "cycles"},
    {"PAPI_*_INS", 4000037, "instructions"}, {"PAPI_TLB_*", 20011, "misses"},
    {"PAPI_L3_*M", 20011, "misses"},         {"PAPI_L2_*M", 100003, "misses"},
    {"PAPI_L1_*M", 200003, "misses"},        {"PAPI_L[123]_*", 1000003, "accesses"},
    {"PAPI_BR_MSP", 40009, "branches"},      {"PAPI_BR_*", 4000037, "branches"},
    {"PAPI_*_OPS", 4000037, "operations"},   {"*MISS*", 100003, "misses"},
    {"*INST*", 12000017, "instructions"},    {"*", 1000003, "events"},
};

static const struct known *find_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
        if (strcmp(aliases[i].alias, name) == 0)
            name = aliases[i].name;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static const struct substitute *find_substitute(const char *preset)
{
    for (size_t i = 0; i < ARRAY_SIZE(substitutes); i++)
        if (strcmp(substitutes[i].preset, preset) == 0)
            return &substitutes[i];
    return NULL;
}

#ifdef __aarch64__
/* The kernel accepts any number for an event of the processor, and unsupported ones count 0. It lists the supported
   ones. */
static bool processor_has(const struct substitute *s)
{
    char listed[128] = "/sys/bus/event_source/devices/arm*/events/";
    glob_t found;
    size_t n = strlen(listed);
    bool lists = glob(listed, 0, NULL, &found) == 0, has;
    globfree(&found);
    for (const char *name = s->of + strlen("Arm's "); *name && n + 1 < sizeof listed; name++)
        listed[n++] = (char)tolower((unsigned char)*name);
    has = !lists || glob(listed, 0, NULL, &found) == 0;
    if (lists)
        globfree(&found);
    return has;
}
#else
static bool processor_has(const struct substitute *s)
{
    (void)s;
    return true;
}
#endif

static void describe(const struct substitute *s, char *text, size_t size)
{
    snprintf(text, size, "%s, by %s", s->description, s->of);
}

static void default_period(const char *name, uint64_t *period, const char **unit)
{
    size_t i = 0;
    while (fnmatch(default_periods[i].glob, name, 0) != 0)
        i++;
    *period = default_periods[i].period;
    *unit = default_periods[i].unit;
}

/* ---- the kernel --------------------------------------------------------------------------------------- */

static int open_counter(const struct record_event *e, int group)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    attr.type = e->type;
    attr.config = e->config;
    attr.config1 = e->config1;
    attr.config2 = e->config2;
    attr.disabled = group < 0;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.sample_period = e->period;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

int hpcprof_perf_event_paranoid(void)
{
    char text[16] = "";
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 99; /* the kernel has no perf events */
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? atoi(text) : 99;
}

/* Why the kernel refused, as a short text for a list and as a sentence. */
static const char *why_refused(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "the kernel does not permit it (/proc/sys/kernel/perf_event_paranoid, or a container's rules)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case ENXIO:
        return "this machine has no counter for it (a virtual machine without PMU?)";
    case ENOSYS:
        return "this kernel has no perf events";
    default:
        return strerror(error);
    }
}

static int refuse(const struct record_event *e, int error, struct err *err)
{
    if (error == EACCES || error == EPERM) {
        int level = hpcprof_perf_event_paranoid();
        if (level > 2 && level < 99)
            return err_set(err, ERR_SYSTEM,
                           "%s: not permitted, because /proc/sys/kernel/perf_event_paranoid is %d; 'sudo sysctl "
                           "kernel.perf_event_paranoid=2' permits it, and '-e CPUTIME' needs no permission",
                           e->name, level);
        return err_set(
            err, ERR_SYSTEM,
            "%s: not permitted: rules of a container or security module forbid perf_event_open "
            "(/proc/sys/kernel/perf_event_paranoid is %d, which would permit it); '-e CPUTIME' needs no permission",
            e->name, level);
    }
    return err_set(err, ERR_UNSUPPORTED, "%s cannot be sampled: %s; 'hpcview events' lists available events", e->name,
                   why_refused(error));
}

int events_check(const struct record_event *e, struct err *err)
{
    if (e->kind != RECORD_PERF)
        return 0; /* PAPI has answered already; timers always work */
    int fd = open_counter(e, -1);
    if (fd < 0)
        return refuse(e, errno, err);
    close(fd);
    return 0;
}

static bool can_count(uint32_t type, uint64_t config)
{
    const struct record_event e = {.type = type, .config = config, .period = 1000000};
    int fd = open_counter(&e, -1);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- PAPI ------------------------------------------------------------------------------------------------ */

#ifdef HAVE_PAPI

static int start_papi(struct err *err)
{
    static int state; /* 0: not tried, 1: up, -1: failed */
    static int code;
    if (state == 0) {
        code = PAPI_library_init(PAPI_VER_CURRENT);
        state = code == PAPI_VER_CURRENT ? 1 : -1;
    }
    if (state < 0)
        return err_set(err, ERR_SYSTEM, "PAPI cannot be initialized: %s",
                       code > 0 ? "its version differs from the one hpcview was built with" : PAPI_strerror(code));
    return 0;
}

const char *events_papi_path(void)
{
    Dl_info info;
    return dladdr((void *)(uintptr_t)PAPI_library_init, &info) && info.dli_fname && info.dli_fname[0] == '/'
               ? info.dli_fname
               : NULL;
}

static void for_each_papi_name(bool all, void (*each)(void *ctx, const PAPI_event_info_t *), void *ctx)
{
    PAPI_event_info_t info;
    int code = (int)PAPI_PRESET_MASK;
    if (PAPI_enum_event(&code, PAPI_ENUM_FIRST) == PAPI_OK)
        do
            if (PAPI_get_event_info(code, &info) == PAPI_OK)
                each(ctx, &info);
        while (PAPI_enum_event(&code, all ? PAPI_ENUM_EVENTS : PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
    for (int cid = 0; cid < PAPI_num_components(); cid++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(cid);
        if (!component || component->disabled)
            continue;
        code = (int)PAPI_NATIVE_MASK;
        if (PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid) != PAPI_OK)
            continue;
        do
            if (PAPI_get_event_info(code, &info) == PAPI_OK)
                each(ctx, &info);
        while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
    }
}

struct event_names VEC(const char *);

static void gather_name(void *ctx, const PAPI_event_info_t *info)
{
    *vec_push((struct event_names *)ctx) = mem_strdup(info->symbol);
}

/* PAPI is up: it does not know the name either. */
static int unknown_event(const char *name, struct err *err)
{
    struct event_names names = {0};
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        *vec_push(&names) = mem_strdup(known[i].name);
    for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
        *vec_push(&names) = mem_strdup(aliases[i].alias);
    for_each_papi_name(true, gather_name, &names);
    *vec_push(&names) = NULL;
    const char *near = str_nearest(name, names.items);
    if (near)
        err_set(err, ERR_USAGE, "no event '%s'; did you mean '%s'? 'hpcview events' lists those that work here", name,
                near);
    else
        err_set(err, ERR_USAGE, "no event '%s'; 'hpcview events' lists those that work here", name);
    for (size_t i = 0; i < names.count; i++)
        mem_free((char *)(uintptr_t)names.items[i]);
    vec_release(&names);
    return -1;
}

/* Can PAPI take overflow samples of it? Tried for real, in an event set of its own. */
static int try_overflow_handler(int code, uint64_t period);

static void ignore_overflow(int set, void *address, long long vector, void *context)
{
    (void)set;
    (void)address;
    (void)vector;
    (void)context;
}

static int try_overflow_handler(int code, uint64_t period)
{
    int set = PAPI_NULL, status = PAPI_create_eventset(&set);
    if (status != PAPI_OK)
        return status;
    status = PAPI_add_event(set, code);
    if (status == PAPI_OK)
        status = PAPI_overflow(set, code, (int)period, 0, ignore_overflow);
    if (status == PAPI_OK) {
        long long value;
        status = PAPI_start(set);
        if (status == PAPI_OK)
            PAPI_stop(set, &value);
        PAPI_overflow(set, code, 0, 0, ignore_overflow);
    }
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
    return status;
}

#ifdef HAVE_PFM
/* libpfm4's encoding of a native event for perf_event_open, user level only; false if it has none. */
static bool encode(const char *native, struct record_event *e)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg};
    static bool up, tried;
    if (!tried)
        up = pfm_initialize() == PFM_SUCCESS;
    tried = true;
    if (!up || pfm_get_os_event_encoding(native, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
        return false;
    e->type = attr.type;
    e->config = attr.config;
    e->config1 = attr.config1;
    e->config2 = attr.config2;
    return true;
}
#else
static bool encode(const char *native, struct record_event *e)
{
    (void)native;
    (void)e;
    return false;
}
#endif

static bool is_preset(int code)
{
    return code & (int)PAPI_PRESET_MASK && !(code & (int)PAPI_NATIVE_MASK);
}

/* Its name in libpfm4: NULL if PAPI derives a preset from several events. */
static const char *native_name(int code, const PAPI_event_info_t *info)
{
    return !is_preset(code) ? info->symbol : info->count == 1 ? info->name[0] : NULL;
}

/* The reason why all of the kernel's events are missing in PAPI is more informative than its error for one of them. */
static const char *papi_says(int status)
{
    for (int i = 0; i < PAPI_num_components(); i++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(i);
        if (component && component->disabled && strcmp(component->name, "perf_event") == 0 &&
            component->disabled_reason[0])
            return component->disabled_reason;
    }
    return PAPI_strerror(status);
}

/* Does PAPI know the name, and if it is a preset, a counter of this machine for it? */
static bool papi_has(const char *name, int *code, PAPI_event_info_t *info)
{
    return start_papi(NULL) == 0 && PAPI_event_name_to_code(name, code) == PAPI_OK &&
           PAPI_get_event_info(*code, info) == PAPI_OK && (!is_preset(*code) || info->count > 0);
}

static int papi_event(const char *name, bool papi, struct record_event *e, struct err *err)
{
    int code;
    PAPI_event_info_t info;
    if (start_papi(err) < 0)
        return -1;
    if (PAPI_event_name_to_code(name, &code) != PAPI_OK || PAPI_get_event_info(code, &info) != PAPI_OK) {
        e->kind = RECORD_PERF; /* libpfm4 knows the kernel's events also where PAPI has none of any processor */
        return !papi && encode(name, e) ? 0 : unknown_event(name, err);
    }
    const char *native = is_preset(code) ? native_name(code, &info) : name;
    if (is_preset(code) && info.count == 0)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s cannot be sampled: this machine has no counter for it (a virtual machine without PMU?); "
                       "'hpcview events' lists available events",
                       name);
    snprintf(e->description, sizeof e->description, "%s", info.long_descr);
    e->kind = RECORD_PAPI;
    if (!papi && native && encode(native, e)) {
        e->kind = RECORD_PERF;
        return 0;
    }
    int status = try_overflow_handler(code, e->period ? e->period : 1000003);
    if (status != PAPI_OK)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s cannot be sampled: PAPI reports \"%s\"; 'hpcview events' lists available events", name,
                       papi_says(status));
    return 0;
}

/* An event that the kernel counts, by PAPI: under its name, or, if PAPI has no counter for that, under `other`. */
static int papi_status(struct record_event *e, const char *other)
{
    const char *const names[] = {e->name, other};
    int code, status = PAPI_ENOEVNT;
    PAPI_event_info_t info;
    for (size_t i = 0; i < ARRAY_SIZE(names) && names[i] && status != PAPI_OK; i++) {
        if (!papi_has(names[i], &code, &info))
            continue;
        status = try_overflow_handler(code, e->period);
        snprintf(e->papi_name, sizeof e->papi_name, "%s", i ? names[i] : "");
    }
    return status;
}

static int papi_check(struct record_event *e, const char *other, struct err *err)
{
    if (start_papi(err) < 0)
        return -1;
    int status = papi_status(e, other);
    if (status == PAPI_OK)
        return 0;
    struct record_event copy = *e;
    copy.kind = RECORD_PERF;
    if (events_check(&copy, err) < 0) /* the kernel's own reason is the better one */
        return -1;
    if (status == PAPI_ENOEVNT)
        return err_set(err, ERR_UNSUPPORTED, "PAPI does not know %s; use --sampler ring", e->name);
    return err_set(err, ERR_UNSUPPORTED, "%s cannot be sampled: PAPI reports \"%s\"; use --sampler ring", e->name,
                   papi_says(status));
}

#else

const char *events_papi_path(void)
{
    return NULL;
}

static int unknown_event(const char *name, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "no event '%s' (hpcview was built without PAPI); 'hpcview events' lists those that work here", name);
}

static int papi_event(const char *name, bool papi, struct record_event *e, struct err *err)
{
    (void)papi;
    (void)e;
    return unknown_event(name, err);
}

static int papi_check(struct record_event *e, const char *other, struct err *err)
{
    (void)other;
    return err_set(err, ERR_UNSUPPORTED, "%s: hpcview was built without PAPI; use --sampler ring", e->name);
}

#endif

#ifndef HAVE_PAPI
#define papi_lacks(name) true
#else
static bool papi_lacks(const char *name)
{
    int code;
    PAPI_event_info_t info;
    return !papi_has(name, &code, &info);
}
#endif

static int kernel_event(const struct known *k, bool papi, struct record_event *e, struct err *err)
{
    snprintf(e->name, sizeof e->name, "%s", k->name);
    snprintf(e->description, sizeof e->description, "%s", k->description);
    snprintf(e->unit, sizeof e->unit, "%s", k->unit);
    e->kind = papi && k->kind == RECORD_PERF ? RECORD_PAPI : k->kind;
    e->type = k->type;
    e->config = k->config;
    e->period = e->period ? e->period : k->period;
    return e->kind == RECORD_PAPI ? papi_check(e, k->papi, err) : 0;
}

static int substitute_event(const struct substitute *s, bool papi, struct record_event *e, struct err *err)
{
    if (!processor_has(s))
        return refuse(e, ENOENT, err);
    describe(s, e->description, sizeof e->description);
    e->kind = papi ? RECORD_PAPI : RECORD_PERF;
    e->type = s->type;
    e->config = s->config;
    return papi ? papi_check(e, s->papi, err) : 0;
}

/* The default without -e: the first of these that can be sampled. */
const char *events_default(bool papi, struct warnings *w)
{
    static const char *const names[] = {"PAPI_TOT_CYC", "perf::TASK-CLOCK"};
    struct err why = {0};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct record_event e = {0};
        if (kernel_event(find_known(names[i]), papi, &e, &why) == 0 && events_check(&e, &why) == 0)
            return names[i];
    }
    if (can_count(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK))
        warnings_add(w, "CPUTIME, a timer, is measured: %s", why.msg);
    else
        warnings_add(
            w,
            "perf events are not permitted here (/proc/sys/kernel/perf_event_paranoid is %d; 2 or less permits "
            "them, unless a container's rules forbid perf_event_open); using the timer CPUTIME",
            hpcprof_perf_event_paranoid());
    return "CPUTIME";
}

/* ---- EVENT@PERIOD ------------------------------------------------------------------------------------------- */

static int parse_number(const char *event, const char *digits, const char *what, uint64_t *n, struct err *err)
{
    char *end;
    errno = 0;
    *n = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || errno || *n > INT64_MAX)
        return err_set(err, ERR_USAGE, "%s: the %s must be an integer above 0%s, not '%s'", event, what,
                       *what == 'p' ? " or a time such as 4ms" : "", digits);
    if (*n == 0)
        return err_set(err, ERR_USAGE, "%s: the %s must be above 0", event, what);
    return 0;
}

/* Samples that would take more than about a fifth of the time are not asked for. */
static void raise_period(struct record_event *e, uint64_t least, struct warnings *w)
{
    bool papi = e->kind == RECORD_PAPI;
    if (papi && least > 1)
        least *= 3;
    if (e->period < least) {
        warnings_add(w, "%s@%llu would cost more than 20%% of the run time; using a period of %llu %s", e->name,
                     (unsigned long long)e->period, (unsigned long long)least, e->unit);
        e->period = least;
    }
    uint64_t most = papi ? 5000 : 15000;
    if (e->frequency > most) {
        warnings_add(w, "%s@f%llu would cost more than 20%% of the run time; using %llu samples per second", e->name,
                     (unsigned long long)e->frequency, (unsigned long long)most);
        e->frequency = most;
    }
}

static uint64_t least_period(const struct record_event *e)
{
    if (strcmp(e->unit, "cycles") == 0 || strcmp(e->unit, "instructions") == 0)
        return 200003;
    return 1000;
}

/* Of clocks; other events: 0. */
static uint64_t units_per_second(const struct record_event *e)
{
    return strcmp(e->unit, "ns") == 0 ? 1000000000 : strcmp(e->unit, "us") == 0 ? 1000000 : 0;
}

/* A clock's frequency is a period; other events keep it, and the kernel adapts the period while it samples. */
static int use_frequency(struct record_event *e, struct err *err)
{
    uint64_t per_second = units_per_second(e);
    if (per_second) {
        e->period = per_second / e->frequency ? per_second / e->frequency : 1;
        e->frequency = 0;
    } else if (e->kind != RECORD_PERF) {
        return err_set(err, ERR_USAGE,
                       "%s@f%llu: PAPI samples by period, not by frequency; give a period, or use --sampler ring",
                       e->name, (unsigned long long)e->frequency);
    } else {
        e->flags |= HPCPROF_FREQUENCY;
    }
    return 0;
}

/* "4ms": a period of clocks, a frequency of other events. */
static void use_interval(struct record_event *e, double seconds)
{
    double period = seconds * (double)units_per_second(e) + 0.5;
    if (period >= 1)
        e->period = (uint64_t)period;
    else
        e->frequency = seconds < 1 ? (uint64_t)(1 / seconds + 0.5) : 1;
}

static int split(const char *text, char *name, size_t size, const char **after, struct err *err)
{
    const char *at = strrchr(text, '@');
    size_t n = at ? (size_t)(at - text) : strlen(text);
    if (n == 0 || n >= size)
        return err_set(err, ERR_USAGE, "'%s' is not an event; expected EVENT, EVENT@PERIOD or EVENT@fFREQUENCY", text);
    memcpy(name, text, n);
    name[n] = '\0';
    *after = at ? at + 1 : NULL;
    return 0;
}

int events_parse(const char *text, bool papi, bool multiplex, struct record_event *e, struct warnings *w,
                 struct err *err)
{
    const char *after = NULL, *unit;
    uint64_t least;
    double interval = 0;
    *e = (struct record_event){0};
    if (split(text, e->name, sizeof e->name, &after, err) < 0)
        return -1;
    if (after && after[0] == 'f') {
        if (parse_number(text, after + 1, "frequency", &e->frequency, err) < 0)
            return -1;
    } else if (after && str_ends(after, "s") && str_seconds(after) >= 1e-9) {
        interval = str_seconds(after);
    } else if (after && parse_number(text, after, "period", &e->period, err) < 0) {
        return -1;
    }
    const struct known *k = find_known(e->name);
    const struct substitute *s = k ? NULL : find_substitute(e->name);
    if (k) {
        least = k->least;
        if (kernel_event(k, papi, e, err) < 0)
            return -1;
    } else {
        uint64_t period;
        default_period(e->name, &period, &unit);
        snprintf(e->unit, sizeof e->unit, "%s", unit);
        e->period = e->period ? e->period : period;
        if ((s && papi_lacks(e->name) ? substitute_event(s, papi, e, err) : papi_event(e->name, papi, e, err)) < 0)
            return -1;
        least = least_period(e);
    }
    if (interval > 0)
        use_interval(e, interval);
    if (e->frequency && use_frequency(e, err) < 0)
        return -1;
    raise_period(e, least, w);
    if (e->kind == RECORD_PAPI && e->period > INT32_MAX)
        return err_set(err, ERR_USAGE, "%s: PAPI supports periods up to %d", text, INT32_MAX);
    if (multiplex && e->kind != RECORD_CPUTIME && e->kind != RECORD_REALTIME)
        e->flags |= HPCPROF_ESTIMATED;
    return 0;
}

/* ---- which go together ----------------------------------------------------------------------------------------- */

/* With --multiplex the kernel shares the counters in turn. */
static bool keeps_counter(const struct record_event *e)
{
    return e->kind == RECORD_PERF && e->type != PERF_TYPE_SOFTWARE && !(e->flags & HPCPROF_ESTIMATED);
}

/* Hardware events in one group are counted all or none: a group fits that the kernel accepts and that counts. Arm's
   drivers accept one too many, and others' may be held by the watchdog. */
static bool group_counts(int leader)
{
    uint64_t v[3]; /* count, time enabled, time running */
    ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
    return read(leader, v, sizeof v) != sizeof v || v[1] == 0 || v[2] > 0;
}

static int ring_events_fit(const struct record_event *events, size_t n)
{
    int leader = -1, fits = 1, fds[RECORD_EVENTS_MAX];
    size_t opened = 0;
    for (size_t i = 0; i < n && fits; i++) {
        if (!keeps_counter(&events[i]))
            continue;
        int fd = open_counter(&events[i], leader);
        if (fd < 0)
            fits = 0;
        else
            fds[opened++] = fd;
        if (leader < 0)
            leader = fd;
    }
    if (fits && opened > 1)
        fits = group_counts(leader);
    for (size_t i = 0; i < opened; i++)
        close(fds[i]);
    return fits;
}

#ifdef HAVE_PAPI
/* In turn, as they are flagged by --multiplex. */
static bool multiplexed(int set, const struct record_event *e)
{
    static bool up;
    if (!(e->flags & HPCPROF_ESTIMATED))
        return true;
    up = up || PAPI_multiplex_init() == PAPI_OK;
    return up && PAPI_assign_eventset_component(set, 0) == PAPI_OK && PAPI_set_multiplex(set) == PAPI_OK;
}

/* Two names for one event share a counter in PAPI, and the period of the last one. */
static bool same_counter(const struct record_event *a, const struct record_event *b)
{
    const struct record_event *const events[] = {a, b};
    unsigned counter[2] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
        PAPI_event_info_t info;
        int code;
        if (papi_has(record_papi_name(events[i]), &code, &info))
            counter[i] = is_preset(code) && info.count == 1 ? info.code[0] : (unsigned)code;
    }
    return counter[0] && counter[0] == counter[1];
}

static bool has_own_counter(const struct record_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (same_counter(&events[i], &events[n]))
            return false;
    return true;
}

/* Arms them as the recorder does: PAPI counts more events than it samples. Gives how many are armed. */
static size_t arm(int set, const struct record_event *events, size_t n)
{
    int code;
    size_t armed = 0;
    while (armed < n && has_own_counter(events, armed) &&
           PAPI_event_name_to_code(record_papi_name(&events[armed]), &code) == PAPI_OK &&
           PAPI_add_event(set, code) == PAPI_OK &&
           PAPI_overflow(set, code, (int)events[armed].period, 0, ignore_overflow) == PAPI_OK)
        armed++;
    return armed;
}

static void disarm(int set, const struct record_event *events, size_t armed)
{
    int code;
    for (size_t i = 0; i < armed; i++)
        if (PAPI_event_name_to_code(record_papi_name(&events[i]), &code) == PAPI_OK)
            PAPI_overflow(set, code, 0, 0, ignore_overflow);
}

static int papi_events_fit(const struct record_event *events, size_t n)
{
    struct record_event of_papi[RECORD_EVENTS_MAX];
    long long values[RECORD_EVENTS_MAX];
    int set = PAPI_NULL, fits;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == RECORD_PAPI)
            of_papi[count++] = events[i];
    if (count == 0 || start_papi(NULL) < 0 || PAPI_create_eventset(&set) != PAPI_OK)
        return 1;
    size_t armed = multiplexed(set, &of_papi[0]) ? arm(set, of_papi, count) : 0;
    fits = armed == count && PAPI_start(set) == PAPI_OK;
    if (fits)
        PAPI_stop(set, values);
    disarm(set, of_papi, armed);
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
    return fits;
}
#else
static int papi_events_fit(const struct record_event *events, size_t n)
{
    (void)events;
    (void)n;
    return 1;
}
#endif

int events_fit(const struct record_event *events, size_t n)
{
    return ring_events_fit(events, n) && papi_events_fit(events, n);
}

/* ---- the list -----------------------------------------------------------------------------------------------------
 */

struct lister {
    bool all;
    const char *pattern;
    void (*each)(void *ctx, const struct hpcprof_event_info *);
    void *ctx;
};

/* A pattern without wildcards is looked for anywhere in the name. */
static bool wanted(const struct lister *l, const char *name)
{
    if (!l->pattern)
        return true;
    return strpbrk(l->pattern, "*?[") ? fnmatch(l->pattern, name, FNM_CASEFOLD) == 0
                                      : strcasestr(name, l->pattern) != NULL;
}

static void list_one(struct lister *l, const struct hpcprof_event_info *info)
{
    if (wanted(l, info->name) && (l->all || !info->why_not))
        l->each(l->ctx, info);
}

/* By PAPI, under the event's name or under `other`. */
static unsigned papi_way(const struct record_event *e, const char *other)
{
#ifdef HAVE_PAPI
    struct record_event copy = *e;
    return start_papi(NULL) == 0 && papi_status(&copy, other) == PAPI_OK ? HPCPROF_BY_PAPI : 0;
#else
    (void)e;
    (void)other;
    return 0;
#endif
}

/* Events that the kernel counts. */
static void list_kernel_event(struct lister *l, const struct record_event *e, const char *papi,
                              struct hpcprof_event_info *info)
{
    if (!wanted(l, info->name))
        return;
    int fd = open_counter(e, -1);
    if (fd < 0)
        info->why_not = why_refused(errno);
    else
        info->ways = HPCPROF_BY_RING | papi_way(e, papi);
    if (fd >= 0)
        close(fd);
    list_one(l, info);
}

static void list_known(struct lister *l)
{
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        const struct known *k = &known[i];
        struct record_event e = {.kind = k->kind, .type = k->type, .config = k->config, .period = k->period};
        struct hpcprof_event_info info = {k->name, k->description, k->unit, NULL, k->period, HPCPROF_BY_TIMER};
        snprintf(e.name, sizeof e.name, "%s", k->name);
        if (k->kind == RECORD_PERF)
            list_kernel_event(l, &e, k->papi, &info);
        else
            list_one(l, &info);
    }
}

static void list_substitute(struct lister *l, const struct substitute *s)
{
    char description[160];
    struct hpcprof_event_info info = {.name = s->preset, .description = description};
    describe(s, description, sizeof description);
    default_period(s->preset, &info.default_period, &info.unit);
    struct record_event e = {.type = s->type, .config = s->config, .period = info.default_period};
    snprintf(e.name, sizeof e.name, "%s", s->preset);
    if (processor_has(s)) {
        list_kernel_event(l, &e, s->papi, &info);
        return;
    }
    info.why_not = why_refused(ENOENT);
    list_one(l, &info);
}

static void list_substitutes(struct lister *l)
{
    for (size_t i = 0; i < ARRAY_SIZE(substitutes); i++)
        if (papi_lacks(substitutes[i].preset))
            list_substitute(l, &substitutes[i]);
}

#ifdef HAVE_PAPI
/* Each native event that the kernel refuses to PAPI has PAPI's reason; one try each, a few microseconds. */
static void list_papi(void *ctx, const PAPI_event_info_t *papi)
{
    struct lister *l = ctx;
    struct hpcprof_event_info info = {.name = papi->symbol, .description = papi->long_descr};
    int code = (int)papi->event_code;
    bool lacking = is_preset(code) && papi->count == 0;
    if (find_known(papi->symbol) || !wanted(l, papi->symbol) || (lacking && find_substitute(papi->symbol)))
        return;
    default_period(papi->symbol, &info.default_period, &info.unit);
    if (lacking) {
        info.why_not = "this machine has no counter for it (a virtual machine without PMU?)";
    } else {
        struct record_event e = {.period = info.default_period};
        const char *native = native_name(code, papi);
        int status = try_overflow_handler(code, info.default_period);
        info.ways = (status == PAPI_OK ? HPCPROF_BY_PAPI : 0) |
                    (native && encode(native, &e) && can_count(e.type, e.config) ? HPCPROF_BY_RING : 0);
        info.why_not = info.ways ? NULL : papi_says(status);
    }
    list_one(l, &info);
}
#endif

int hpcprof_list_events(bool all, const char *pattern, void (*each)(void *ctx, const struct hpcprof_event_info *),
                        void *ctx, struct err *err)
{
    struct lister l = {all, pattern, each, ctx};
    list_known(&l);
    list_substitutes(&l);
#ifdef HAVE_PAPI
    if (start_papi(err) < 0)
        return -1;
    for_each_papi_name(all, list_papi, &l);
#else
    (void)err;
#endif
    return 0;
}
