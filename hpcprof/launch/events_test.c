/* SPDX-License-Identifier: BSD-3-Clause */
/* Events in command line syntax: sampler, period and error messages. */
#include "config.h"

#include "hpcprof/launch/events.h"
#include "tests/tap.h"

#include <stdlib.h>

/* PAPI keeps its event tables allocated (LeakSanitizer calls this function, which must be visible to it). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpapi.so\n";
}

static const char *const kinds[] = {
    [RECORD_PERF] = "ring", [RECORD_PAPI] = "papi", [RECORD_CPUTIME] = "cpu timer", [RECORD_REALTIME] = "timer"};

#define ABOVE  "task-clock@"
#define NUMBER " must be an integer above 0, not '"
#define PERIOD ": the period must be an integer above 0 or a time such as 4ms, not '"
#define WANTED "' is not an event; expected EVENT, EVENT@PERIOD or EVENT@fFREQUENCY"

/* "name kind type.config every PERIOD unit", with " fN" and " estimated" if they apply; or the error. Followed by
   warnings. */
static const struct {
    const char *text;
    bool multiplex;
    const char *want;
} cases[] = {
    {"perf::TASK-CLOCK", false, "perf::TASK-CLOCK ring 1.1 every 4000000 ns"},
    {"task-clock", false, "perf::TASK-CLOCK ring 1.1 every 4000000 ns"},
    {"TASK-CLOCK", false, "perf::TASK-CLOCK ring 1.1 every 4000000 ns"},
    {"faults", false, "perf::PAGE-FAULTS ring 1.2 every 10 faults"},
    {"perf::CS", false, "perf::CONTEXT-SWITCHES ring 1.3 every 1 switches"},
    {"cycles", false, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles"},
    {"instructions@9000001", false, "PAPI_TOT_INS ring 0.1 every 9000001 instructions"},
    {"CPUTIME", true, "CPUTIME cpu timer 0.0 every 4000 us"},
    {"REALTIME@200", true, "REALTIME timer 0.0 every 200 us"},
    {"cycles", true, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles estimated"},
    /* a clock's frequency is a period */
    {"task-clock@f1000", false, "perf::TASK-CLOCK ring 1.1 every 1000000 ns"},
    {"REALTIME@f250", false, "REALTIME timer 0.0 every 4000 us"},
    {"cycles@f1000", false, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles f1000"},
    {"cycles@f15000", false, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles f15000"},
    /* periods that would cost too much are raised; those just below the limit are not */
    {"task-clock@65000", false, "perf::TASK-CLOCK ring 1.1 every 65000 ns"},
    {"task-clock@64999", false,
     "perf::TASK-CLOCK ring 1.1 every 65000 ns | perf::TASK-CLOCK@64999 would cost more than 20% of the run time; "
     "using a period of 65000 ns"},
    {"CPUTIME@199", false,
     "CPUTIME cpu timer 0.0 every 200 us | CPUTIME@199 would cost more than 20% of the run time; using a period of 200 "
     "us"},
    {"CPUTIME@f2000000", false,
     "CPUTIME cpu timer 0.0 every 200 us | CPUTIME@1 would cost more than 20% of the run time; using a period of 200 "
     "us"},
    /* a time */
    {"task-clock@1ms", false, "perf::TASK-CLOCK ring 1.1 every 1000000 ns"},
    {"CPUTIME@2.5ms", false, "CPUTIME cpu timer 0.0 every 2500 us"},
    {"cycles@1ms", false, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles f1000"},
    {"cycles@3s", false, "PAPI_TOT_CYC ring 0.0 every 12000017 cycles f1"},
    {"task-clock@1ns", false,
     "perf::TASK-CLOCK ring 1.1 every 65000 ns | perf::TASK-CLOCK@1 would cost more than 20% of the run time; using a "
     "period of 65000 ns"},
    {ABOVE "0s", false, ABOVE "0s" PERIOD "0s'"},
    {ABOVE "s", false, ABOVE "s" PERIOD "s'"},
    {"faults@1", false, "perf::PAGE-FAULTS ring 1.2 every 1 faults"},
    {"cycles@f15001", false,
     "PAPI_TOT_CYC ring 0.0 every 12000017 cycles f15000 | PAPI_TOT_CYC@f15001 would cost more than 20% of the run "
     "time; using 15000 samples per second"},
    {"cycles@9223372036854775807", false, "PAPI_TOT_CYC ring 0.0 every 9223372036854775807 cycles"},
    /* no numbers */
    {ABOVE "0", false, ABOVE "0: the period must be above 0"},
    {ABOVE "f0", false, ABOVE "f0: the frequency must be above 0"},
    {ABOVE, false, ABOVE PERIOD "'"},
    {ABOVE "f", false, ABOVE "f: the frequency" NUMBER "'"},
    {ABOVE "1x", false, ABOVE "1x" PERIOD "1x'"},
    {ABOVE "-1", false, ABOVE "-1" PERIOD "-1'"},
    {ABOVE "+1", false, ABOVE "+1" PERIOD "+1'"},
    {ABOVE " 1", false, ABOVE " 1" PERIOD " 1'"},
    {ABOVE ":", false, ABOVE ":" PERIOD ":'"},
    {ABOVE "9223372036854775808", false, ABOVE "9223372036854775808" PERIOD "9223372036854775808'"},
    {ABOVE "99999999999999999999", false, ABOVE "99999999999999999999" PERIOD "99999999999999999999'"},
    {"", false, "'" WANTED},
    {"@5", false, "'@5" WANTED},
};

static char *parsed(const char *text, bool multiplex)
{
    struct record_event e;
    struct err err = {0};
    struct warnings *w = warnings_create();
    struct buf b = {0};
    if (events_parse(text, false, multiplex, &e, w, &err) < 0)
        buf_str(&b, err.msg);
    else {
        buf_printf(&b, "%s %s %u.%llu every %llu %s", e.name, kinds[e.kind], e.type, (unsigned long long)e.config,
                   (unsigned long long)e.period, e.unit);
        if (e.frequency)
            buf_printf(&b, " f%llu", (unsigned long long)e.frequency);
        if (!(e.flags & HPCPROF_FREQUENCY) != !e.frequency)
            buf_str(&b, " (and its flag is not so)");
        if (e.flags & HPCPROF_ESTIMATED)
            buf_str(&b, " estimated");
    }
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(&b, " | %s", warnings_get(w, i));
    warnings_free(w);
    return b.bytes;
}

static void test_parse(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = parsed(cases[i].text, cases[i].multiplex);
        CHECK_STR(got, cases[i].want);
        mem_free(got);
    }
    char long_name[200];
    memset(long_name, 'x', sizeof long_name);
    strcpy(long_name + sizeof((struct record_event *)0)->name, "@5");
    char *got = parsed(long_name, false); /* one byte longer than the limit */
    CHECK(strstr(got, "is not an event") != NULL);
    mem_free(got);
}

static void note_event(void *ctx, const struct hpcprof_event_info *info)
{
    buf_printf(ctx, "%s %llu %s%s\n", info->name, (unsigned long long)info->default_period, info->unit,
               info->why_not ? " not" : "");
}

/* Timers are always listed; a pattern without wildcards matches any part of a name, ignoring case. */
static void test_list(void)
{
    static const struct {
        const char *pattern, *want;
    } lists[] = {{"putim", "CPUTIME 4000 us\n"},
                 {"CPUTIM?", "CPUTIME 4000 us\n"},
                 {"realtime", "REALTIME 4000 us\n"},
                 {"putim*", ""},
                 {"[R]*altime", "REALTIME 4000 us\n"}};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct buf b = {0};
        struct err err = {0};
        if (hpcprof_list_events(i % 2, lists[i].pattern, note_event, &b, &err) < 0)
            SKIP(lists[i].pattern, err.msg);
        else
            CHECK_STR(b.bytes ? b.bytes : "", lists[i].want);
        buf_release(&b);
    }
    /* all of them, those too that this machine cannot count; ours first */
    struct buf b = {0};
    struct err err = {0};
    if (hpcprof_list_events(true, NULL, note_event, &b, &err) == 0)
        CHECK(str_starts(b.bytes, "perf::TASK-CLOCK 4000000 ns") && strstr(b.bytes, "\nperf::CPU-CLOCK 4000000 ns") &&
              strstr(b.bytes, "\nPAPI_TOT_INS 12000017 instructions") && strstr(b.bytes, "\nCPUTIME 4000 us\n"));
    buf_release(&b);
    /* and those that can be counted are given without a reason */
    struct buf fine = {0};
    if (hpcprof_list_events(false, NULL, note_event, &fine, &err) == 0)
        CHECK(!strstr(fine.bytes, " not\n"));
    buf_release(&fine);
}

int main(void)
{
    RUN(test_parse);
    RUN(test_list);
    return tap_done();
}
