/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcview.h - say in the program what hpcview is to measure.
 *
 *     #include <hpcview.h>
 *
 *     hpcview_region_begin("solve");
 *     ...
 *     hpcview_region_end("solve");
 *
 * Without `hpcview record` every call is a test of one variable. There is nothing to link; glibc before 2.34 needs
 * -ldl. C99, C++, and Fortran (share/hpcview/fortran/hpcview.f90: `use hpcview`). Regions belong to the thread that
 * begins them and nest; they end in the reverse order they began. Names are compared as text, and should be few: not
 * one per iteration.
 *
 * With `hpcview record --region solve` nothing else is measured, with `solve@3` its third time alone.
 *
 * hpcview_stop and hpcview_start switch measuring off and on for the whole process; it is on at the start unless
 * `hpcview record --delay` says otherwise. All four may be called from any thread, none from a signal handler.
 */
#ifndef HPCVIEW_H
#define HPCVIEW_H

#include <dlfcn.h>

#define HPCVIEW_VERSION 0x000100 /* 0.1.0, as `pkg-config --modversion hpcview` */

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's side. Tables get new names (_2, ...) when they change; old programs keep working. */
struct hpcview_calls {
    void (*start)(void);
    void (*stop)(void);
    void (*region_begin)(const char *name);
    void (*region_end)(const char *name);
};
/* Statically linked programs reach the recorder by the linker, others through the dynamic linker's search. */
extern const struct hpcview_calls hpcview_calls_1 __attribute__((weak));

static const struct hpcview_calls *hpcview_recorder_;
static int hpcview_looked_;

static __attribute__((noinline, cold, unused)) const struct hpcview_calls *hpcview_look_(void)
{
    const struct hpcview_calls *found = &hpcview_calls_1;
#ifndef HPCVIEW_STATIC
    if (!found)
        found = (const struct hpcview_calls *)dlsym((void *)0 /* RTLD_DEFAULT */, "hpcview_calls_1");
#endif
    hpcview_recorder_ = found;
    __atomic_store_n(&hpcview_looked_, 1, __ATOMIC_RELEASE);
    return found;
}

static inline const struct hpcview_calls *hpcview_calls_(void)
{
    return __builtin_expect(__atomic_load_n(&hpcview_looked_, __ATOMIC_ACQUIRE), 1) ? hpcview_recorder_
                                                                                    : hpcview_look_();
}

/* Measuring on; off. No effect if nothing is recorded. */
static inline void hpcview_start(void)
{
    const struct hpcview_calls *c = hpcview_calls_();
    if (c)
        c->start();
}

static inline void hpcview_stop(void)
{
    const struct hpcview_calls *c = hpcview_calls_();
    if (c)
        c->stop();
}

/* The calling thread enters a region, or leaves the innermost one of that name and those inside it. */
static inline void hpcview_region_begin(const char *name)
{
    const struct hpcview_calls *c = hpcview_calls_();
    if (c)
        c->region_begin(name);
}

static inline void hpcview_region_end(const char *name)
{
    const struct hpcview_calls *c = hpcview_calls_();
    if (c)
        c->region_end(name);
}

/*
 * Barriers of the program's own, or with names (hpcview record --phases):
 *
 *     HPCVIEW_BARRIER_ARRIVE("exchange");          "" : anonymous, known by its line
 *     while (count != all) ;
 *     HPCVIEW_BARRIER_LEAVE("exchange");
 *
 * Every thread calls ARRIVE when it arrives, and LEAVE when it continues; no thread continues before all have arrived.
 * A name is one barrier wherever it is used. LOOP_ARRIVE is for barriers in loops, which are summed and not reported
 * one by one. Compiled with HPCVIEW_NO_BARRIERS the macros are empty.
 */
struct hpcview_barrier_calls {
    void (*arrive)(const char *name, int loop);
    void (*leave)(const char *name);
};
extern const struct hpcview_barrier_calls hpcview_barrier_calls_1 __attribute__((weak));

static const struct hpcview_barrier_calls *hpcview_barrier_recorder_;
static int hpcview_barrier_looked_;

static inline const struct hpcview_barrier_calls *hpcview_barrier_calls_(void)
{
    if (__builtin_expect(!__atomic_load_n(&hpcview_barrier_looked_, __ATOMIC_ACQUIRE), 0)) {
        const struct hpcview_barrier_calls *found = &hpcview_barrier_calls_1;
#ifndef HPCVIEW_STATIC
        if (!found)
            found = (const struct hpcview_barrier_calls *)dlsym((void *)0, "hpcview_barrier_calls_1");
#endif
        hpcview_barrier_recorder_ = found;
        __atomic_store_n(&hpcview_barrier_looked_, 1, __ATOMIC_RELEASE);
    }
    return hpcview_barrier_recorder_;
}

/* The call stands where the macro does: its line is the barrier's. */
#define HPCVIEW_BARRIER_CALL_(call)                                                                                    \
    do {                                                                                                               \
        const struct hpcview_barrier_calls *hpcview_calls__ = hpcview_barrier_calls_();                                \
        if (hpcview_calls__)                                                                                           \
            hpcview_calls__->call;                                                                                     \
    } while (0)

#ifdef HPCVIEW_NO_BARRIERS
#define HPCVIEW_BARRIER_ARRIVE(name)      ((void)0)
#define HPCVIEW_BARRIER_LOOP_ARRIVE(name) ((void)0)
#define HPCVIEW_BARRIER_LEAVE(name)       ((void)0)
#else
#define HPCVIEW_BARRIER_ARRIVE(name)      HPCVIEW_BARRIER_CALL_(arrive(name, 0))
#define HPCVIEW_BARRIER_LOOP_ARRIVE(name) HPCVIEW_BARRIER_CALL_(arrive(name, 1))
#define HPCVIEW_BARRIER_LEAVE(name)       HPCVIEW_BARRIER_CALL_(leave(name))
#endif

#ifdef __cplusplus
}
#endif

#endif
