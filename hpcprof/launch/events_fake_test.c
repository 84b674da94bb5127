/* SPDX-License-Identifier: BSD-3-Clause */
/* Events in a fake environment: a kernel, a PAPI and a libpfm4 that answer as each case specifies. */
#include "config.h"

#include "hpcprof/launch/events.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

static int refuses;                 /* errno of perf_event_open; 0: counts */
static unsigned refused_type = 99;  /* only of this type; 99: of all */
static int room;                    /* number of counters in a group */
static int opened, leader_seen;     /* number of counters in the group; -1: a group without leader */
static int leader = -1;             /* the counter that was opened last without a group */
static int odd_calls;               /* with unexpected attributes: it must be this thread, any CPU, user code only */
static const uint64_t *group_times; /* values read from a counter: count, time enabled, time running; NULL: none */
static struct perf_event_attr asked_last;
static struct buf asked_of; /* the requests, in order */

static void note_asked(const struct perf_event_attr *a, int thread, int processor, long flags)
{
    const struct perf_event_attr want = {.size = sizeof want,
                                         .type = a->type,
                                         .config = a->config,
                                         .config1 = a->config1,
                                         .config2 = a->config2,
                                         .disabled = a->disabled,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .sample_period = a->sample_period,
                                         .read_format =
                                             PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    odd_calls += memcmp(a, &want, sizeof want) != 0 || thread != 0 || processor != -1 || flags != PERF_FLAG_FD_CLOEXEC;
    asked_last = *a;
    buf_printf(&asked_of, " %u.%llu@%llu", a->type, (unsigned long long)a->config,
               (unsigned long long)a->sample_period);
}

/* Null devices represent counters. */
static int open_fake(const struct perf_event_attr *attr, int group)
{
    if (refuses && (refused_type == 99 || attr->type == refused_type)) {
        errno = refuses;
        return -1;
    }
    if (group >= 0 && (group != leader || fcntl(group, F_GETFD) < 0))
        leader_seen = -1;
    opened = group < 0 ? 1 : opened + 1;
    if (opened > room || (group < 0) != attr->disabled) {
        errno = EINVAL;
        return -1;
    }
    int fd = group_times ? memfd_create("counter", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (group_times && (write(fd, group_times, 3 * sizeof *group_times) < 0 || lseek(fd, 0, SEEK_SET) < 0))
        return -1;
    if (group < 0)
        leader = fd;
    return fd;
}

long syscall(long number, ...)
{
    va_list list;
    long a[5]; /* arguments in registers: the sixth may be missing */
    va_start(list, number);
    for (int i = 0; i < 5; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open) {
        note_asked((const struct perf_event_attr *)a[0], (int)a[1], (int)a[2], a[4]);
        return open_fake((const struct perf_event_attr *)a[0], (int)a[3]);
    }
    long (*real)(long, ...);
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4]);
}

static const char *paranoid; /* contents of the kernel's file; NULL: it does not exist, "!": it is unreadable */

int open(const char *path, int flags, ...)
{
    int ends[2];
    if (strcmp(path, "/proc/sys/kernel/perf_event_paranoid") != 0)
        return openat(AT_FDCWD, path, flags, 0600);
    if (!paranoid) {
        errno = ENOENT;
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], paranoid, strlen(paranoid)) < 0)
        return -1;
    if (strcmp(paranoid, "!") == 0) {
        close(ends[0]);
        return ends[1];
    }
    close(ends[1]);
    return ends[0];
}

/* ---- PAPI ---------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_PAPI
#include <papi.h>

enum { PRESET = (int)PAPI_PRESET_MASK, NATIVE = PAPI_NATIVE_MASK };

static const struct {
    const char *name;
    int code;
    unsigned counters; /* number of counters of a preset; 0: not available on this machine */
    const char *native;
    int add, overflow, start; /* statuses */
} papis[] = {
    {"PAPI_TOT_CYC", PRESET | 1, 1, "cyc", 0, 0, 0},
    {"PAPI_ONE_INS", PRESET | 2, 1, "nat:one", 0, 0, 0},
    {"PAPI_L2_DCM", PRESET | 3, 2, "nat:one", 0, 0, 0},
    {"PAPI_NONE", PRESET | 4, 0, "", 0, 0, 0},
    {"PAPI_BR_MSP", PRESET | 5, 0, "", 0, 0, 0},
    {"nat:one", NATIVE | 1, 0, "", 0, 0, 0},
    {"nat:two", NATIVE | 2, 0, "", 0, 0, 0},
    {"nat:FULL", NATIVE | 3, 0, "", PAPI_ECNFLCT, 0, 0},
    {"nat:NO_OVERFLOW", NATIVE | 4, 0, "", 0, PAPI_EINVAL, 0},
    {"nat:NO_START", NATIVE | 5, 0, "", 0, 0, PAPI_ESYS},
    {"perf::PAGE-FAULTS", NATIVE | 6, 0, "", 0, 0, 0},
    {"nat:CYCLES", NATIVE | 7, 0, "", 0, 0, 0}, /* not listed, nor are the following */
    {"perf::BRANCH-MISSES", NATIVE | 8, 0, "", 0, 0, 0},
    {"r10", NATIVE | 9, 0, "", 0, 0, 0},
};
static const struct {
    int disabled, has; /* native events: from here on, two each */
} components[] = {{0, 0}, {1, 2}, {0, -1}, {0, 4}};

static int sets_open, in_set, started, armed, threshold, start_status;
static int most_armed = 99, in_turn; /* maximum number that can overflow at once; the set is multiplexed */
static int start_answer = 1;         /* 1: the requested version, 2: another, or this status */
static int create_status, starts;

static int find_code(int code)
{
    for (size_t i = 0; i < ARRAY_SIZE(papis); i++)
        if (papis[i].code == code)
            return (int)i;
    return -1;
}

int PAPI_library_init(int version)
{
    starts++;
    return start_answer > 0 ? version + start_answer - 1 : start_answer;
}

char *PAPI_strerror(int status)
{
    static char words[30];
    snprintf(words, sizeof words, "status %d", status);
    return words;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    for (size_t i = 0; i < ARRAY_SIZE(papis); i++)
        if (strcmp(papis[i].name, name) == 0) {
            *code = papis[i].code;
            return PAPI_OK;
        }
    return PAPI_ENOEVNT;
}

int PAPI_get_event_info(int code, PAPI_event_info_t *info)
{
    int i = find_code(code);
    if (i < 0)
        return PAPI_ENOEVNT;
    memset(info, 0, sizeof *info);
    snprintf(info->symbol, sizeof info->symbol, "%s", papis[i].name);
    snprintf(info->long_descr, sizeof info->long_descr, "about %s", papis[i].name);
    snprintf(info->name[0], sizeof info->name[0], "%s", papis[i].native);
    info->count = papis[i].counters;
    for (size_t n = 0; n < ARRAY_SIZE(papis); n++)
        if (strcmp(papis[n].name, papis[i].native) == 0)
            info->code[0] = (unsigned)papis[n].code;
    info->event_code = (unsigned)code;
    return PAPI_OK;
}

int PAPI_enum_event(int *code, int how)
{
    int next = how == PAPI_ENUM_FIRST ? PRESET | 1 : *code + 1, i = find_code(next);
    while (how == PAPI_PRESET_ENUM_AVAIL && i >= 0 && papis[i].counters == 0)
        i = find_code(++next);
    *code = next;
    return i < 0 ? PAPI_ENOEVNT : PAPI_OK;
}

int PAPI_num_components(void)
{
    return (int)ARRAY_SIZE(components);
}

const PAPI_component_info_t *PAPI_get_component_info(int c)
{
    static PAPI_component_info_t info;
    info.disabled = components[c].disabled;
    return components[c].has < -1 ? NULL : &info;
}

int PAPI_enum_cmp_event(int *code, int how, int c)
{
    int first = NATIVE | (components[c].has + 1);
    if (components[c].has < 0)
        return PAPI_ENOEVNT;
    *code = how == PAPI_ENUM_FIRST ? first : *code + 1;
    return *code - first < 2 && find_code(*code) >= 0 ? PAPI_OK : PAPI_ENOEVNT;
}

int PAPI_create_eventset(int *set)
{
    if (create_status != PAPI_OK)
        return create_status;
    *set = 1;
    in_set = in_turn = 0;
    sets_open++;
    return PAPI_OK;
}

int PAPI_add_event(int set, int code)
{
    int i = find_code(code), status = set == 1 && i >= 0 ? papis[i].add : PAPI_ENOEVNT;
    if (status == PAPI_OK && in_set >= room && !in_turn)
        status = PAPI_ECNFLCT;
    in_set += status == PAPI_OK;
    start_status = i >= 0 ? papis[i].start : PAPI_OK;
    return status;
}

int PAPI_overflow(int set, int code, int period, int flags, PAPI_overflow_handler_t handler)
{
    int i = find_code(code);
    int status = set == 1 && i >= 0 && flags == 0 && handler ? papis[i].overflow : PAPI_EINVAL;
    if (period)
        threshold = period;
    if (period && armed >= most_armed)
        return PAPI_ECNFLCT;
    if (status == PAPI_OK)
        armed += period ? 1 : -1;
    return status;
}

int PAPI_start(int set)
{
    (void)set;
    int status = in_set > 0 && refuses == EBUSY ? PAPI_ESYS : start_status;
    started += status == PAPI_OK;
    return status;
}

int PAPI_stop(int set, long long *values)
{
    (void)set;
    for (int i = 0; i < in_set; i++)
        values[i] = 0;
    started--;
    return PAPI_OK;
}

int PAPI_multiplex_init(void)
{
    return PAPI_OK;
}

int PAPI_assign_eventset_component(int set, int component)
{
    return set == 1 && component == 0 && in_set == 0 ? PAPI_OK : PAPI_EINVAL;
}

int PAPI_set_multiplex(int set)
{
    in_turn = set == 1;
    return PAPI_OK;
}

int PAPI_cleanup_eventset(int set)
{
    if (set != 1 || started || armed)
        return PAPI_EISRUN;
    in_set = 0;
    return PAPI_OK;
}

int PAPI_destroy_eventset(int *set)
{
    sets_open -= *set == 1 && in_set == 0;
    *set = PAPI_NULL;
    return PAPI_OK;
}

#ifdef HAVE_PFM
#include <perfmon/pfmlib_perf_event.h>
#define ONE         "ring 4.17"
#define WITHOUT_SET "nat:one " ONE " every 1000003 events: about nat:one"
static int pfm_starts;
static pfm_err_t pfm_status = PFM_SUCCESS;

pfm_err_t pfm_initialize(void)
{
    pfm_starts++;
    return pfm_status;
}

pfm_err_t pfm_get_os_event_encoding(const char *name, int levels, pfm_os_t os, void *arg)
{
    struct perf_event_attr *attr = ((pfm_perf_encode_arg_t *)arg)->attr;
    if (strcmp(name, "nat:one") != 0 || levels != PFM_PLM3 || os != PFM_OS_PERF_EVENT)
        return PFM_ERR_NOTFOUND;
    attr->type = 4;
    attr->config = 17;
    attr->config1 = 18;
    attr->config2 = 19;
    return PFM_SUCCESS;
}
#else
#define ONE         "papi 0.0"
#define WITHOUT_SET "nat:one cannot be sampled: PAPI reports \"status -2\"; 'hpcview events' lists available events"
#endif

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static const char *const kinds[] = {
    [RECORD_PERF] = "ring", [RECORD_PAPI] = "papi", [RECORD_CPUTIME] = "cpu timer", [RECORD_REALTIME] = "timer"};

#ifdef __aarch64__
#define MISPREDICTED_TYPE  "4.16"
#define MISPREDICTED_WORDS "Branches mispredicted, by Arm's BR_MIS_PRED"
#define ALSO               "r10"
#else
#define MISPREDICTED_TYPE  "0.5"
#define MISPREDICTED_WORDS "Branches mispredicted, by the kernel's branch-misses"
#define ALSO               "perf::BRANCH-MISSES"
#endif
#define MISPREDICTED MISPREDICTED_TYPE " every 40009 branches: " MISPREDICTED_WORDS

static const struct {
    const char *text;
    bool papi, multiplex;
    const char *want; /* warnings follow the '|' */
} asked[] = {
    {"nat:one", false, false, "nat:one " ONE " every 1000003 events: about nat:one"},
    {"nat:one", true, false, "nat:one papi 0.0 every 1000003 events: about nat:one"},
    {"nat:two", false, false, "nat:two papi 0.0 every 1000003 events: about nat:two"},
    {"nat:two", false, true, "nat:two papi 0.0 every 1000003 events estimated: about nat:two"},
    {"nat:two@5000", false, false, "nat:two papi 0.0 every 5000 events: about nat:two"},
    {"nat:two@3000", false, false, "nat:two papi 0.0 every 3000 events: about nat:two"},
    {"nat:two@2999", false, false,
     "nat:two papi 0.0 every 3000 events: about nat:two|nat:two@2999 would cost more than 20% of the run time; using a "
     "period of 3000 events"},
    {"nat:two@2147483647", false, false, "nat:two papi 0.0 every 2147483647 events: about nat:two"},
    {"nat:two@2147483648", false, false, "nat:two@2147483648: PAPI supports periods up to 2147483647"},
    {"nat:two@f100", false, false,
     "nat:two@f100: PAPI samples by period, not by frequency; give a period, or use --sampler ring"},
    {"PAPI_ONE_INS", false, false, "PAPI_ONE_INS " ONE " every 4000037 instructions: about PAPI_ONE_INS"},
    {"PAPI_ONE_INS", true, false, "PAPI_ONE_INS papi 0.0 every 4000037 instructions: about PAPI_ONE_INS"},
    {"PAPI_ONE_INS@600009", true, false, "PAPI_ONE_INS papi 0.0 every 600009 instructions: about PAPI_ONE_INS"},
    {"PAPI_ONE_INS@600008", true, false,
     "PAPI_ONE_INS papi 0.0 every 600009 instructions: about PAPI_ONE_INS|PAPI_ONE_INS@600008 would cost more than 20% "
     "of the run time; using a period of 600009 instructions"},
    {"nat:CYCLES@600009", true, false, "nat:CYCLES papi 0.0 every 600009 cycles: about nat:CYCLES"},
    {"nat:CYCLES@600008", true, false,
     "nat:CYCLES papi 0.0 every 600009 cycles: about nat:CYCLES|nat:CYCLES@600008 would cost more than 20% of the run "
     "time; using a period of 600009 cycles"},
    {"PAPI_L2_DCM@3000", true, false, "PAPI_L2_DCM papi 0.0 every 3000 misses: about PAPI_L2_DCM"},
    {"PAPI_L2_DCM", false, false, "PAPI_L2_DCM papi 0.0 every 100003 misses: about PAPI_L2_DCM"},
    {"PAPI_NONE", false, false,
     "PAPI_NONE cannot be sampled: this machine has no counter for it (a virtual machine without PMU?); 'hpcview "
     "events' lists available events"},
    {"nat:FULL", false, false,
     "nat:FULL cannot be sampled: PAPI reports \"status -8\"; 'hpcview events' lists available events"},
    {"nat:NO_OVERFLOW", false, false,
     "nat:NO_OVERFLOW cannot be sampled: PAPI reports \"status -1\"; 'hpcview events' lists available events"},
    {"nat:NO_START", false, false,
     "nat:NO_START cannot be sampled: PAPI reports \"status -3\"; 'hpcview events' lists available events"},
    {"nat:twoo", false, false,
     "no event 'nat:twoo'; did you mean 'nat:two'? 'hpcview events' lists those that work here"},
    {"TASK-CLOCKS", false, false,
     "no event 'TASK-CLOCKS'; did you mean 'TASK-CLOCK'? 'hpcview events' lists those that work here"},
    {"faultss", false, false, "no event 'faultss'; did you mean 'faults'? 'hpcview events' lists those that work here"},
    {"PAPI_NON", false, false,
     "no event 'PAPI_NON'; did you mean 'PAPI_NONE'? 'hpcview events' lists those that work here"},
    {"CPUTIM", false, false, "no event 'CPUTIM'; did you mean 'CPUTIME'? 'hpcview events' lists those that work here"},
    {"cycle", false, false, "no event 'cycle'; did you mean 'cycles'? 'hpcview events' lists those that work here"},
    {"qwertyuiop", false, false, "no event 'qwertyuiop'; 'hpcview events' lists those that work here"},
    {"cycles", true, false, "PAPI_TOT_CYC papi 0.0 every 12000017 cycles: Total cycles"},
    {"cycles@600009", true, false, "PAPI_TOT_CYC papi 0.0 every 600009 cycles: Total cycles"},
    {"cycles@600008", true, false,
     "PAPI_TOT_CYC papi 0.0 every 600009 cycles: Total cycles|PAPI_TOT_CYC@600008 would cost more than 20% of the run "
     "time; using a period of 600009 cycles"},
    {"perf::PAGE-FAULTS@1", true, false, "perf::PAGE-FAULTS papi 1.2 every 1 faults: page faults"},
    {"instructions", true, false, "PAPI does not know PAPI_TOT_INS; use --sampler ring"},
    /* PAPI has no counter for it, or no such event: the kernel's event under PAPI's name */
    {"PAPI_BR_MSP", false, false, "PAPI_BR_MSP ring " MISPREDICTED},
    {"PAPI_BR_MSP", true, false, "PAPI_BR_MSP papi " MISPREDICTED " as " ALSO},
    {"PAPI_BR_MSP@2999", true, true,
     "PAPI_BR_MSP papi " MISPREDICTED_TYPE " every 3000 branches estimated: " MISPREDICTED_WORDS " as " ALSO
     "|PAPI_BR_MSP@2999 would cost more than 20% of the run time; using a period of 3000 branches"},
    {"PAPI_BR_INS", true, false, "PAPI does not know PAPI_BR_INS; use --sampler ring"},
    {"CPUTIME", true, false,
     "CPUTIME cpu timer 0.0 every 4000 us: CPU time of the thread, by a timer; needs no permission"},
    {"REALTIME", true, true,
     "REALTIME timer 0.0 every 4000 us: wall-clock time including waiting, by a timer; needs no permission"},
};

static char *parsed(const char *text, bool papi, bool multiplex)
{
    struct record_event e;
    struct err err = {0};
    struct warnings *w = warnings_create();
    struct buf b = {0};
    if (events_parse(text, papi, multiplex, &e, w, &err) < 0)
        buf_str(&b, err.msg);
    else
        buf_printf(&b, "%s %s %u.%llu every %llu %s%s: %s%s%s", e.name, kinds[e.kind], e.type,
                   (unsigned long long)e.config, (unsigned long long)e.period, e.unit,
                   e.flags & HPCPROF_ESTIMATED ? " estimated" : "", e.description, e.papi_name[0] ? " as " : "",
                   e.papi_name);
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(&b, "|%s", warnings_get(w, i));
    warnings_free(w);
    return b.bytes;
}

static void test_asked(void)
{
    room = 4;
    for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
        threshold = 0;
        char *got = parsed(asked[i].text, asked[i].papi, asked[i].multiplex);
        CHECK_STR(got, asked[i].want);
        mem_free(got);
    }
    mem_free(parsed("nat:two@7777", false, false));
    CHECK_INT(threshold, 7777); /* the trial uses the final settings */
    mem_free(parsed("nat:two", true, false));
    CHECK_INT(threshold, 1000003);
    CHECK_INT(sets_open, 0);
    CHECK_INT(started, 0);
    refuses = EBUSY;
    char *got = parsed("nat:two", false, false);
    CHECK_STR(got, "nat:two cannot be sampled: PAPI reports \"status -3\"; 'hpcview events' lists available events");
    mem_free(got);
    got = parsed("cycles", true, false); /* the kernel's own reason is the better one */
    CHECK(str_starts(got, "PAPI_TOT_CYC cannot be sampled: ") && !strstr(got, "PAPI reports"));
    mem_free(got);
    refused_type = PERF_TYPE_RAW; /* the kernel lacks it */
    got = parsed("cycles", true, false);
    CHECK_STR(got, "PAPI_TOT_CYC cannot be sampled: PAPI reports \"status -3\"; use --sampler ring");
    mem_free(got);
    refused_type = 99;
    refuses = 0;
    CHECK_INT(sets_open, 0);
}

/* ---- the list ------------------------------------------------------------------------------------------------------- */

static unsigned ways_seen; /* of the event that was listed last */

static void note_event(void *ctx, const struct hpcprof_event_info *info)
{
    buf_printf(ctx, "%s %llu %s%s%s\n", info->name, (unsigned long long)info->default_period, info->unit,
               info->why_not ? ": " : "", info->why_not ? info->why_not : "");
    ways_seen = info->ways;
}

static void test_list(void)
{
#define KERNEL_HAS_NOT ": this machine has no counter for it (a virtual machine without PMU?)\n"
    static const struct {
        bool all;
        const char *pattern;
        int refuses;
        const char *want;
    } lists[] = {
        {false, "nat", 0, "nat:one 1000003 events\nnat:two 1000003 events\n"},
        {true, "nat", 0, "nat:one 1000003 events\nnat:two 1000003 events\nnat:NO_START 1000003 events: status -3\n"},
        {true, "nat:*_*", 0, "nat:NO_START 1000003 events: status -3\n"},
        {true, "PAPI_[ONT]*N*", 0,
         "PAPI_TOT_INS 12000017 instructions\nPAPI_ONE_INS 4000037 instructions\n"
         "PAPI_NONE 1000003 "
         "events" KERNEL_HAS_NOT},
        {false, "PAPI_*ONE*", 0, "PAPI_ONE_INS 4000037 instructions\n"},
        /* of those that PAPI lacks, the ones that the kernel provides */
        {false, "papi_br_m*", 0, "PAPI_BR_MSP 40009 branches\n"},
        {true, "papi_br_m*", ENOENT, "PAPI_BR_MSP 40009 branches" KERNEL_HAS_NOT},
        {true, "papi_tot_[ci][yn]*", ENOENT,
         "PAPI_TOT_CYC 12000017 cycles" KERNEL_HAS_NOT "PAPI_TOT_INS 12000017 instructions" KERNEL_HAS_NOT},
        {false, "papi_tot", ENOENT, ""},
        {false, "time", ENOENT, "CPUTIME 4000 us\nREALTIME 4000 us\n"},
        {true, "perf::CPU-M*", ENOSYS, "perf::CPU-MIGRATIONS 1 migrations: this kernel has no perf events\n"},
        {true, "faults", 0, /* listed by PAPI and by us: only ours */
         "perf::PAGE-FAULTS 10 faults\nperf::MINOR-FAULTS 10 faults\nperf::MAJOR-FAULTS 1 faults\n"
         "perf::ALIGNMENT-FAULTS 10 faults\n"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct buf b = {0};
        buf_str(&b, "");
        refuses = lists[i].refuses;
        CHECK_INT(hpcprof_list_events(lists[i].all, lists[i].pattern, note_event, &b, NULL), 0);
        CHECK_STR(b.bytes, lists[i].want);
        buf_release(&b);
    }
    refuses = 0;
    CHECK_INT(sets_open, 0);
}

/* The samplers that are chosen. */
static void test_ways(void)
{
    static const struct {
        const char *event;
        unsigned ways;
    } cases[] = {
        {"CPUTIME", HPCPROF_BY_TIMER},
        {"PAPI_TOT_CYC", HPCPROF_BY_RING | HPCPROF_BY_PAPI},
        {"PAPI_TOT_INS", HPCPROF_BY_RING},
        {"PAPI_BR_MSP", HPCPROF_BY_RING | HPCPROF_BY_PAPI},
        {"PAPI_BR_INS", HPCPROF_BY_RING},
        {"nat:two", HPCPROF_BY_PAPI},
        {"nat:NO_START", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        ways_seen = 99;
        CHECK_INT(hpcprof_list_events(true, cases[i].event, note_event, &b, NULL), 0);
        CHECK_INT(ways_seen, cases[i].ways);
        buf_release(&b);
    }
}

/* Events that PAPI samples by default; others become timers, with the reason. */
static void test_default_by_papi(void)
{
    struct warnings *w = warnings_create();
    CHECK_STR(events_default(true, w), "PAPI_TOT_CYC");
    CHECK_INT(warnings_count(w), 0);
    create_status = PAPI_ENOMEM;
    CHECK_STR(events_default(true, w), "CPUTIME");
    CHECK_STR(warnings_get(w, 0), "CPUTIME, a timer, is measured: PAPI does not know perf::TASK-CLOCK; use --sampler "
                                  "ring");
    CHECK_STR(events_default(false, w), "PAPI_TOT_CYC");
    create_status = PAPI_OK;
    warnings_free(w);
}

/* ---- failures at start ------------------------------------------------------------------------------------------- */

#define NOT_STARTED "PAPI cannot be initialized: "
static const struct {
    const char *name;
    int start, create, encoder; /* their return values */
    const char *asked[3];       /* of nat:one, nat:two, and of cycles by PAPI */
    const char *list;           /* of "nat:t" */
} failing[] = {
    {"another version",
     2,
     0,
     0,
     {NOT_STARTED "its version differs from the one hpcview was built with",
      NOT_STARTED "its version differs from the one hpcview was built with",
      NOT_STARTED "its version differs from the one hpcview was built with"},
     NOT_STARTED "its version differs from the one hpcview was built with"},
    {"no start",
     PAPI_ESYS,
     0,
     0,
     {NOT_STARTED "status -3", NOT_STARTED "status -3", NOT_STARTED "status -3"},
     NOT_STARTED "status -3"},
    {"a start without a version",
     0,
     0,
     0,
     {NOT_STARTED "status 0", NOT_STARTED "status 0", NOT_STARTED "status 0"},
     NOT_STARTED "status 0"},
    {"no event sets",
     1,
     PAPI_ENOMEM,
     0,
     {WITHOUT_SET, "nat:two cannot be sampled: PAPI reports \"status -2\"; 'hpcview events' lists available events",
      "PAPI_TOT_CYC cannot be sampled: PAPI reports \"status -2\"; use --sampler ring"},
     "nat:two 1000003 events: status -2\n"},
    {"no encoder",
     1,
     0,
     1,
     {"nat:one papi 0.0 every 1000003 events: about nat:one", "nat:two papi 0.0 every 1000003 events: about nat:two",
      "PAPI_TOT_CYC papi 0.0 every 12000017 cycles: Total cycles"},
     "nat:two 1000003 events\n"},
};

/* A start is attempted only once, and its result is kept. */
static bool fails_as_wanted(size_t i)
{
    static const char *const texts[] = {"nat:one", "nat:two", "cycles"};
    const struct record_event e = {.name = "nat:two", .kind = RECORD_PAPI, .period = 1000};
    bool started_once = true;
    int wrong = 0;
    room = 4;
    start_answer = failing[i].start;
    create_status = failing[i].create;
#ifdef HAVE_PFM
    pfm_status = failing[i].encoder ? PFM_ERR_NOTSUPP : PFM_SUCCESS;
#endif
    for (size_t k = 0; k < 6; k++) {
        char *got = parsed(texts[k % 3], k % 3 == 2, false);
        if (strcmp(got, failing[i].asked[k % 3]) != 0)
            wrong++, printf("# got    %s\n# wanted %s\n", got, failing[i].asked[k % 3]);
        mem_free(got);
    }
    struct buf b = {0};
    struct err err = {0};
    if (hpcprof_list_events(true, "nat:t", note_event, &b, &err) < 0)
        buf_str(&b, err.msg);
    if (!b.bytes || strcmp(b.bytes, failing[i].list) != 0)
        wrong++, printf("# listed %s\n", b.bytes ? b.bytes : "nothing");
    buf_release(&b);
#ifdef HAVE_PFM
    started_once = pfm_starts <= 1;
#endif
    return !wrong && started_once && starts == 1 && events_fit(&e, 1) == 1 && !sets_open && !started;
}

/* Each in its own process, because a library is started only once. */
static void test_failing(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(failing); i++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            bool well = fails_as_wanted(i);
            buf_release(&asked_of);
            exit(!well);
        }
        waitpid(child, &status, 0);
        CHECK_NAMED(status == 0, failing[i].name);
    }
    CHECK_INT(starts, 0);
}
#endif

/* ---- answers of the kernel --------------------------------------------------------------------------------------- */

static void test_refused(void)
{
#define NO_COUNTER                                                                                                     \
    "X cannot be sampled: this machine has no counter for it (a virtual machine without PMU?); 'hpcview events' "      \
    "lists available events"
    static const struct {
        int error;
        const char *begins, *ends;
    } cases[] = {
        {ENOENT, NO_COUNTER, ""},
        {ENODEV, NO_COUNTER, ""},
        {EOPNOTSUPP, NO_COUNTER, ""},
        {ENXIO, NO_COUNTER, ""},
        {ENOSYS, "X cannot be sampled: this kernel has no perf events; 'hpcview events' lists available events", ""},
        {EMFILE, "X cannot be sampled: ", "; 'hpcview events' lists available events"},
        {EACCES, "X: not permitted", "'-e CPUTIME' needs no permission"},
        {EPERM, "X: not permitted", "'-e CPUTIME' needs no permission"},
    };
    room = 1;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct record_event e = {.name = "X"};
        struct err err = {0};
        refuses = cases[i].error;
        CHECK_INT(events_check(&e, &err), -1);
        if (!CHECK(str_starts(err.msg, cases[i].begins) && str_ends(err.msg, cases[i].ends)))
            printf("# got %s\n", err.msg);
        e.kind = RECORD_CPUTIME;
        CHECK_INT(events_check(&e, &err), 0);
        refuses = 0;
        e.kind = RECORD_PERF;
        CHECK_INT(events_check(&e, &err), 0);
    }
}

/* All that is counted by is passed on. */
static void test_counted(void)
{
    const struct record_event e = {.name = "X", .type = 4, .config = 5, .config1 = 6, .config2 = 7, .period = 8};
    room = 1;
    CHECK_INT(events_check(&e, NULL), 0);
    CHECK_INT(asked_last.type, 4);
    CHECK_INT(asked_last.config, 5);
    CHECK_INT(asked_last.config1, 6);
    CHECK_INT(asked_last.config2, 7);
    CHECK_INT(asked_last.sample_period, 8);
}

/* The setting in the kernel's file, and that it is reported. */
static void test_paranoid(void)
{
#define LEVEL "/proc/sys/kernel/perf_event_paranoid is "
#define LOWER "'sudo sysctl kernel.perf_event_paranoid=2' permits it, and '-e CPUTIME' needs no permission"
#define RULES ", which would permit it); '-e CPUTIME' needs no permission"
    static const struct {
        const char *text;
        int level;
        bool lower; /* that would permit it */
    } cases[] = {
        {NULL, 99, false},   {"!", 99, false},    {"", 99, false},
        {"-1\n", -1, false}, {"0\n", 0, false},   {"2\n", 2, false},
        {"3\n", 3, true},    {"4\n", 4, true},    {"98\n", 98, true},
        {"99\n", 99, false}, {"100", 100, false}, {"00000000000000345", 3, true}, /* reads are limited to the buffer */
    };
    for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
        const struct record_event e = {.name = "X"};
        struct err err = {0};
        struct warnings *w = warnings_create();
        int level = cases[i / 2].level;
        paranoid = cases[i / 2].text;
        refuses = i % 2 ? EACCES : EPERM;
        char *sentence =
                 cases[i / 2].lower
                     ? mem_printf("X: not permitted, because " LEVEL "%d; " LOWER, level)
                     : mem_printf(
                           "X: not permitted: rules of a container or security module forbid perf_event_open (" LEVEL
                           "%d" RULES,
                           level),
             *warning = mem_printf("perf events are not permitted here (" LEVEL
                                   "%d; 2 or less permits them, unless a container's rules forbid perf_event_open); "
                                   "using the timer CPUTIME",
                                   level);
        CHECK_INT(events_check(&e, &err), -1);
        CHECK_INT(err.kind, ERR_SYSTEM);
        CHECK_STR(err.msg, sentence);
        CHECK_STR(events_default(false, w), "CPUTIME");
        CHECK_STR(warnings_count(w) == 1 ? warnings_get(w, 0) : "", warning);
        mem_free(sentence);
        mem_free(warning);
        warnings_free(w);
    }
    refuses = 0;
    paranoid = NULL;
}

/* Known events: the kernel attributes of each, and the reason if it is unavailable. */
static void note_reason(void *ctx, const struct hpcprof_event_info *info)
{
    buf_printf(ctx, "%s: %s\n", info->name, info->why_not ? info->why_not : "it is");
}

static void list_reasons(const char *pattern, int error, const char *want)
{
    struct buf b = {0};
    refuses = error;
    hpcprof_list_events(true, pattern, note_reason, &b, NULL);
    CHECK_STR(b.bytes, want);
    buf_release(&b);
    refuses = 0;
}

static void test_known(void)
{
#define FORBIDS "the kernel does not permit it (/proc/sys/kernel/perf_event_paranoid, or a container's rules)\n"
    static const int none[] = {ENOENT, ENODEV, EOPNOTSUPP, ENXIO};
    room = 1;
    buf_release(&asked_of);
    asked_of = (struct buf){0};
    list_reasons("perf::CPU-M", 0, "perf::CPU-MIGRATIONS: it is\n");
    CHECK_STR(asked_of.bytes, " 1.4@1");
    asked_of.len = 0;
    struct buf all = {0};
    hpcprof_list_events(true, NULL, note_reason, &all, NULL);
    buf_release(&all);
    CHECK(str_starts(asked_of.bytes, " 1.1@4000000 1.0@4000000 1.2@10 1.5@10 1.6@1 1.7@10 1.3@1 1.4@1 0.0@12000017 "
                                     "0.1@12000017"));
    list_reasons("perf::CPU-M", EACCES, "perf::CPU-MIGRATIONS: " FORBIDS);
    list_reasons("perf::CPU-M", EPERM, "perf::CPU-MIGRATIONS: " FORBIDS);
    list_reasons("perf::CPU-M", ENOSYS, "perf::CPU-MIGRATIONS: this kernel has no perf events\n");
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        list_reasons("perf::CPU-M", none[i],
                     "perf::CPU-MIGRATIONS: this machine has no counter for it (a virtual machine without PMU?)\n");
    char *other = mem_printf("perf::CPU-MIGRATIONS: %s\n", strerror(EMFILE));
    list_reasons("perf::CPU-M", EMFILE, other);
    mem_free(other);
}

static void test_default(void)
{
    struct warnings *w = warnings_create();
    room = 1;
    CHECK_STR(events_default(false, w), "PAPI_TOT_CYC");
    refuses = ENOENT;
    refused_type = PERF_TYPE_HARDWARE;
    CHECK_STR(events_default(false, w), "perf::TASK-CLOCK");
    CHECK_INT(warnings_count(w), 0);
    refused_type = 99;
    CHECK_STR(events_default(false, w), "CPUTIME");
    CHECK_INT(warnings_count(w), 1);
    refuses = 0;
    warnings_free(w);
}

/* r: a counter of the kernel's, s: a software event, p: one of PAPI's, t: a timer. */
static void test_fit(void)
{
    static const struct {
        const char *events;
        int room, fit;
    } cases[] = {
        {"", 0, 1},  {"r", 1, 1},  {"rr", 1, 0}, {"rr", 2, 1},       {"rrr", 2, 0},      {"srst", 1, 1}, {"srsr", 1, 0},
        {"t", 0, 1}, {"s", 0, 1},  {"r", 0, 0},  {"rrrrrrrr", 8, 1}, {"rrrrrrrr", 7, 0},
#ifdef HAVE_PAPI
        {"p", 1, 1}, {"pp", 1, 0}, {"pp", 2, 1}, {"ptsp", 2, 1},     {"ppp", 2, 0},      {"rp", 1, 1},   {"rrp", 1, 0},
#endif
    };
    static const char *const names[] = {"nat:one", "perf::PAGE-FAULTS", "r10", "nat:two"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct record_event events[RECORD_EVENTS_MAX];
        memset(events, 0, sizeof events);
        size_t n = strlen(cases[i].events);
        for (size_t k = 0; k < n; k++) {
            char kind = cases[i].events[k];
            snprintf(events[k].name, sizeof events[k].name, "%s", names[k % ARRAY_SIZE(names)]);
            events[k].period = 1000;
            events[k].kind = kind == 'p' ? RECORD_PAPI : kind == 't' ? RECORD_REALTIME : RECORD_PERF;
            events[k].type = kind == 's' ? PERF_TYPE_SOFTWARE : PERF_TYPE_RAW;
        }
        room = cases[i].room;
        opened = leader_seen = 0;
        printf("# %s with room for %d\n", cases[i].events, room);
        CHECK_INT(events_fit(events, n), cases[i].fit);
        CHECK_INT(leader_seen, 0);
    }
    /* accepted, but does it count? Alone it would, with others in turn. */
    static const struct {
        uint64_t times[3];
        size_t n;
        int fit;
    } groups[] = {{{0, 9, 0}, 2, 0}, {{0, 9, 0}, 1, 1}, {{0, 9, 9}, 2, 1}, {{0, 9, 1}, 2, 1}, {{0, 0, 0}, 2, 1}};
    struct record_event two[2] = {{.name = "a", .kind = RECORD_PERF, .period = 1000},
                                  {.name = "b", .kind = RECORD_PERF, .period = 1000}};
    room = 8;
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        group_times = groups[i].times;
        CHECK_INT(events_fit(two, groups[i].n), groups[i].fit);
    }
    group_times = NULL;
    room = 1; /* the kernel shares a counter of its own in turn, if that is requested */
    CHECK_INT(events_fit(two, 2), 0);
    two[0].flags = two[1].flags = HPCPROF_ESTIMATED;
    CHECK_INT(events_fit(two, 2), 1);
#ifdef HAVE_PAPI
    struct record_event e = {.name = "nat:one", .kind = RECORD_PAPI, .period = 1000};
    room = 1;
    refuses = EBUSY; /* an added event does not start */
    CHECK_INT(events_fit(&e, 1), 0);
    refuses = 0;
    snprintf(e.name, sizeof e.name, "nat:none");
    CHECK_INT(events_fit(&e, 1), 0);
    /* with multiplexing any number fits, but not all of them can overflow */
    struct record_event three[3] = {{.name = "nat:one", .kind = RECORD_PAPI, .flags = HPCPROF_ESTIMATED, .period = 5},
                                    {.name = "nat:two", .kind = RECORD_PAPI, .flags = HPCPROF_ESTIMATED, .period = 5},
                                    {.name = "cycles", .kind = RECORD_PAPI, .flags = HPCPROF_ESTIMATED, .period = 5}};
    snprintf(three[2].papi_name, sizeof three[2].papi_name, "nat:CYCLES");
    CHECK_INT(events_fit(three, 3), 1);
    most_armed = 2;
    CHECK_INT(events_fit(three, 3), 0);
    CHECK_INT(events_fit(three, 2), 1);
    most_armed = 99;
    /* a preset and the one event that it counts */
    room = 8;
    snprintf(three[2].papi_name, sizeof three[2].papi_name, "PAPI_ONE_INS");
    CHECK_INT(events_fit(three, 3), 0);
    CHECK_INT(events_fit(three, 2), 1);
    three[0].flags = three[2].flags = 0;
    three[1] = three[2];
    CHECK_INT(events_fit(three, 2), 0);
    CHECK_INT(events_fit(three + 1, 1), 1);

    CHECK_INT(sets_open, 0);
    CHECK_INT(started, 0);
#endif
}

static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* All counters and files are closed again. */
static void test_all(void)
{
    int before = next_descriptor();
    test_refused();
    test_counted();
    test_paranoid();
    test_known();
    buf_release(&asked_of);
    asked_of = (struct buf){0};
    test_default();
    CHECK_STR(asked_of.bytes, " 0.0@12000017 0.0@12000017 1.1@4000000 0.0@12000017 1.1@4000000 1.1@1000000");
    test_fit();
#ifdef HAVE_PAPI
    test_asked();
    test_list();
    test_ways();
    test_default_by_papi();
    CHECK_INT(armed, 0);
    CHECK_INT(starts, 1);
#ifdef HAVE_PFM
    CHECK_INT(pfm_starts, 1);
#endif
#endif
    CHECK_INT(odd_calls, 0);
    CHECK_INT(next_descriptor(), before);
}

int main(void)
{
#ifdef HAVE_PAPI
    RUN(test_failing);
#endif
    RUN(test_all);
    close(0); /* the first counter's number is 0 now */
    RUN(test_all);
    CHECK_INT(next_descriptor(), 0);
    buf_release(&asked_of);
    return tap_done();
}
