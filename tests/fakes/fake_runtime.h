/* For tests of what reports to the simulator: in place of it an inside that notes what it is told, where children of the test's
   can tell it as well. */
#ifndef TESTS_FAKE_RUNTIME_H
#define TESTS_FAKE_RUNTIME_H

#include "mhsim/runtime/runtime.h"

#include <execinfo.h>
#include <stdlib.h>
#include <sys/mman.h>

enum told_what { ACCESS = 1, ALLOCATED, MEASURED, REGION, SETTLED, FORKED, OPENED, CLOSED };
struct told {
    enum told_what what;
    uint64_t code, address, size, frame;
    bool write, on_stack, from_call; /* from_call: `code` is in a call that has not returned yet */
    char name[32];
};
enum { TOLD_MOST = 1 << 12 };
static struct {
    uint32_t count;
    struct told rows[TOLD_MOST];
} * told;

struct inside_thread runtime_nobody = {.busy = true};
__thread struct inside_thread *inside_me = &runtime_nobody;
volatile bool runtime_on;
uint32_t runtime_generation;
static struct raw_head told_head;
static bool told_refuses;

/* What notes it may be told of itself. */
static void told_note(struct told t)
{
    bool was_on = runtime_on;
    runtime_on = false;
    if (!told)
        told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told->count < TOLD_MOST)
        told->rows[told->count++] = t;
    runtime_on = was_on;
}

static uint32_t told_count(enum told_what what)
{
    uint32_t n = 0;
    for (uint32_t i = 0; told && i < told->count; i++)
        n += told->rows[i].what == what;
    return n;
}

/* The last byte of a call that waits for one of the functions here. */
static bool told_from_call(uint64_t code)
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
    return &told_head;
}

bool runtime_open(enum raw_way way)
{
    told_note((struct told){.what = OPENED, .code = way});
    return !told_refuses;
}

void runtime_forked(void)
{
    told_note((struct told){.what = FORKED});
}

void runtime_close(void)
{
    told_note((struct told){.what = CLOSED});
}

void runtime_settle(void)
{
    told_note((struct told){.what = SETTLED});
}

void runtime_allocated(uint64_t address, uint64_t size, uint64_t site)
{
    struct told t = {ALLOCATED, site, address, size, 0, false, false, told_from_call(site), ""};
    told_note(t);
}

void runtime_measure(bool on)
{
    told_note((struct told){.what = MEASURED, .code = on});
}

void runtime_region(const char *name, bool begins)
{
    struct told t = {.what = REGION, .code = begins};
    for (size_t i = 0; i + 1 < sizeof t.name && name[i]; i++)
        t.name[i] = name[i];
    told_note(t);
}

void runtime_access_slowly(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    struct told t = {ACCESS, code, address, size, frame, write, on_stack, told_from_call(code), ""};
    told_note(t);
}

#endif
