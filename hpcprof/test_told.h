/* For tests of the recorder: notes of what the made-up world around it was told, in order, until they are taken. */
#ifndef HPCPROF_TEST_TOLD_H
#define HPCPROF_TEST_TOLD_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char told[4096];

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    size_t n = strlen(told);
    va_list args;
    va_start(args, format);
    vsnprintf(told + n, sizeof told - n, format, args);
    va_end(args);
}

/* Lent until the next time. */
static const char *take_told(void)
{
    static char copy[sizeof told];
    memcpy(copy, told, sizeof copy);
    *told = '\0';
    return copy;
}

#endif
