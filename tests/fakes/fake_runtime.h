/* For tests of code that reports to the simulator: a fake runtime records the calls, also those of the test's child
   processes. */
#ifndef TESTS_FAKE_RUNTIME_H
#define TESTS_FAKE_RUNTIME_H

#include "mhsim/runtime/runtime.h"

#include <execinfo.h>
#include <stdlib.h>
#include <sys/mman.h>

enum recorded_what { ACCESS = 1, ALLOCATED, MEASURED, REGION, SETTLED, FORKED, OPENED, CLOSED };
struct recorded {
    enum recorded_what what;
    uint64_t code, address, size, frame;
    bool write, on_stack, from_call; /* from_call: `code` is in a call that has not returned yet */
    char name[32];
};
enum { RECORDED_MOST = 1 << 12 };
static struct {
    uint32_t count;
    struct recorded rows[RECORDED_MOST];
} * recorded;

struct runtime_thread runtime_nobody = {.busy = true};
__thread struct runtime_thread *runtime_me = &runtime_nobody;
volatile bool runtime_on;
uint32_t runtime_generation;
static struct raw_head recorded_head;
static bool recorded_refuses;

/* Records a call. */
static void recorded_note(struct recorded t)
{
    bool was_on = runtime_on;
    runtime_on = false;
    if (!recorded)
        recorded = mmap(NULL, sizeof *recorded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (recorded->count < RECORDED_MOST)
        recorded->rows[recorded->count++] = t;
    runtime_on = was_on;
}

static uint32_t recorded_count(enum recorded_what what)
{
    uint32_t n = 0;
    for (uint32_t i = 0; recorded && i < recorded->count; i++)
        n += recorded->rows[i].what == what;
    return n;
}

/* The last byte of a call that has not returned, made by one of the functions here. */
static bool recorded_from_call(uint64_t code)
{
    void *after[12];
    bool was_on = runtime_on;
    runtime_on = false;
    int n = backtrace(after, 12);
    runtime_on = was_on;
    for (int i = 0; i < n; i++)
        if ((uint64_t)(uintptr_t)after[i] == code + 1)
            return true;
    return false;
}

struct raw_head *runtime_head(void)
{
    return &recorded_head;
}

bool runtime_open(enum raw_way way)
{
    recorded_note((struct recorded){.what = OPENED, .code = way});
    return !recorded_refuses;
}

void runtime_forked(void)
{
    recorded_note((struct recorded){.what = FORKED});
}

void runtime_close(void)
{
    recorded_note((struct recorded){.what = CLOSED});
}

void runtime_settle(void)
{
    recorded_note((struct recorded){.what = SETTLED});
}

void runtime_allocated(uint64_t address, uint64_t size, uint64_t site)
{
    struct recorded t = {ALLOCATED, site, address, size, 0, false, false, recorded_from_call(site), ""};
    recorded_note(t);
}

void runtime_measure(bool on)
{
    recorded_note((struct recorded){.what = MEASURED, .code = on});
}

void runtime_region(const char *name, bool begins)
{
    struct recorded t = {.what = REGION, .code = begins};
    for (size_t i = 0; i + 1 < sizeof t.name && name[i]; i++)
        t.name[i] = name[i];
    recorded_note(t);
}

void runtime_access_slowly(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    struct recorded t = {ACCESS, code, address, size, frame, write, on_stack, recorded_from_call(code), ""};
    recorded_note(t);
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
