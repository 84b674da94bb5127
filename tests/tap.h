/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests in TAP, the Test Anything Protocol: one line a case, a plan at the end.
 *
 *     static void test_sum(void) { CHECK(1 + 1 == 2); CHECK_INT(f(3), 9); CHECK_STR(g(), "x"); }
 *     int main(void) { RUN(test_sum); return tap_done(); }
 *
 * CASE=test_sum in the environment runs that one alone.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failures;

static inline bool tap_result(bool ok, const char *what, const char *file, int line)
{
    printf("%s %d - %s\n", ok ? "ok" : "not ok", ++tap_count, what);
    if (!ok) {
        tap_failures++;
        printf("# at %s:%d\n", file, line);
    }
    fflush(stdout);
    return ok;
}

static inline bool tap_int(long long got, long long want, const char *what, const char *file, int line)
{
    bool ok = tap_result(got == want, what, file, line);
    if (!ok)
        printf("# got %lld, wanted %lld\n", got, want);
    return ok;
}

static inline bool tap_str(const char *got, const char *want, const char *what, const char *file, int line)
{
    bool ok = tap_result(got && want && strcmp(got, want) == 0, what, file, line);
    if (!ok)
        printf("# got    \"%s\"\n# wanted \"%s\"\n", got ? got : "(null)", want ? want : "(null)");
    return ok;
}

static bool tap_asked_any;

/* Is it the case selected by CASE, or is CASE unset? */
static inline bool tap_is_asked(const char *name)
{
    const char *one = getenv("CASE");
    bool asked = !one || strcmp(one, name) == 0;
    tap_asked_any |= asked;
    return asked;
}

static inline int tap_done(void)
{
    if (getenv("CASE") && !tap_asked_any)
        tap_result(false, "a case of the name in CASE", __FILE__, __LINE__);
    printf("1..%d\n", tap_count);
    return tap_failures != 0;
}

/* One of the functions of a test. */
#define RUN(test)               (tap_is_asked(#test) ? test() : (void)0)
#define CHECK(cond)             tap_result((cond), #cond, __FILE__, __LINE__)
#define CHECK_NAMED(cond, name) tap_result((cond), (name), __FILE__, __LINE__)
#define CHECK_INT(got, want)    tap_int((long long)(got), (long long)(want), #got " is " #want, __FILE__, __LINE__)
#define CHECK_STR(got, want)    tap_str((got), (want), #got, __FILE__, __LINE__)
#define SKIP(what, why)         printf("ok %d - %s # SKIP %s\n", ++tap_count, (what), (why))

#endif
