/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our own versions of the few functions on bytes and text we use: calls do not reach those that a sanitizer's runtime
 * interposes on the C library's, which would take our helper's work for the program's. (In a static program a second
 * memcpy would be everybody's; there the library's are used.)
 */
#ifndef HPCREC_STATIC

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Keeps the compiler from seeing the loop as the very function it is in. */
#define AS_WRITTEN()                                                                                                   \
    ((void)({                                                                                                          \
        __asm__ volatile("" ::: "memory");                                                                             \
        0;                                                                                                             \
    }))

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
#ifdef __x86_64__
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n)::"memory");
#else
    for (size_t i = 0; i < n; i++) {
        ((char *)to)[i] = ((const char *)from)[i];
        AS_WRITTEN();
    }
#endif
    return to;
}

void *memset(void *to, int value, size_t n)
{
#ifdef __x86_64__
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(value) : "memory");
#else
    for (size_t i = 0; i < n; i++) {
        ((char *)to)[i] = (char)value;
        AS_WRITTEN();
    }
#endif
    return to;
}

int memcmp(const void *left, const void *right, size_t n)
{
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < n; i++, AS_WRITTEN())
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    for (; s[n]; n++)
        AS_WRITTEN();
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++, AS_WRITTEN())
        if (a[i] != b[i] || !a[i])
            return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}

int strcmp(const char *a, const char *b)
{
    size_t i = 0;
    for (; a[i] && a[i] == b[i]; i++)
        AS_WRITTEN();
    return (unsigned char)a[i] - (unsigned char)b[i];
}

char *(strchr)(const char *s, int c)
{
    for (;; s++, AS_WRITTEN()) {
        if (*s == (char)c)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}

char *(strrchr)(const char *s, int c)
{
    const char *last = NULL;
    for (;; s++, AS_WRITTEN()) {
        if (*s == (char)c)
            last = s;
        if (!*s)
            return (char *)(uintptr_t)last;
    }
}

size_t strcspn(const char *s, const char *stop)
{
    size_t n = 0;
    while (s[n] && !strchr(stop, s[n]))
        n++;
    return n;
}

size_t strspn(const char *s, const char *pass)
{
    size_t n = 0;
    while (s[n] && strchr(pass, s[n]))
        n++;
    return n;
}

char *(strstr)(const char *s, const char *wanted)
{
    size_t n = strlen(wanted);
    for (; *s; s++)
        if (strncmp(s, wanted, n) == 0)
            return (char *)(uintptr_t)s;
    return n ? NULL : (char *)(uintptr_t)s;
}

#endif

typedef int hpcrec_bytes_not_empty; /* ISO C requires a declaration in a file */
