/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes for every filter, whether it recognises them or not, and as a file that may be packed, as a user would give it:
   a sound measurement, or a sentence that names the input. Mutations of a text (callgrind's, perf script's, ...) are of lines
   and of numbers in them. */
#include "filters/filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak)); /* libFuzzer's */

static void check_tables(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].context >= p->context_count || p->counts[i].event >= p->event_count ||
            p->counts[i].thread >= p->thread_count)
            __builtin_trap();
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count)
            __builtin_trap();
}

static const struct filter_options options = {.columns = "file,line,procedure,CYCLES,-", .units = "cycles"};

/* The content determines the format: alone, then with a table description. */
static void as_file(const uint8_t *data, size_t size)
{
    char path[64];
    struct err err = {0};
    struct hpcprof *p = NULL;
    struct warnings *warnings = warnings_create();
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    filters_know(path);
    if (filters_read(path, &p, warnings, &err) == 0)
        check_tables(p);
    else if (!strstr(err.msg, path) && !str_starts(err.msg, "/proc/self/fd/meta.db"))
        __builtin_trap();
    hpcprof_free(p);
    p = hpcprof_create();
    if (filters_import(path, NULL, &options, p, warnings, &err) == 0) {
        hpcprof_finish(p);
        check_tables(p);
    }
    hpcprof_free(p);
    warnings_free(warnings);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_file(data, size);
    for (const struct filter *f = filter_table; f->name; f++) {
        struct hpcprof *p = hpcprof_create();
        struct err err = {0};
        struct filter_input input = {.bytes = data, .len = size, .name = "fuzz", .options = &options};
        f->sniff(data, size);
        if (f->convert(&input, p, NULL, &err) < 0) {
            if (!str_starts(err.msg, "fuzz") &&
                !str_starts(err.msg, "meta.db")) /* which is expected next to it and is missing */
                __builtin_trap();
        } else {
            hpcprof_finish(p);
            check_tables(p);
        }
        hpcprof_free(p);
    }
    return 0;
}

/* ---- mutations of text ------------------------------------------------------------------------------ */

struct span {
    size_t begin, end; /* with its newline */
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static bool is_text(const uint8_t *data, size_t size)
{
    return size > 0 && memchr(data, 0, size) == NULL && memchr(data, '\n', size) != NULL;
}

static struct span line_at(const uint8_t *data, size_t size, size_t at)
{
    struct span line = {at, at};
    while (line.begin > 0 && data[line.begin - 1] != '\n')
        line.begin--;
    while (line.end < size && data[line.end++] != '\n')
        ;
    return line;
}

/* Replaces a piece by text, moving the rest. Returns the new size, or the old one if there is no room. */
static size_t put(uint8_t *data, size_t size, size_t max_size, struct span piece, const void *text, size_t n)
{
    size_t now = size - (piece.end - piece.begin) + n;
    if (now > max_size)
        return size;
    memmove(data + piece.begin + n, data + piece.end, size - piece.end);
    memcpy(data + piece.begin, text, n);
    return now;
}

/* Repeats a line elsewhere. */
static size_t repeat_line(uint8_t *data, size_t size, size_t max_size, struct span line, size_t to)
{
    size_t n = line.end - line.begin, now = size;
    uint8_t *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, data + line.begin, n);
        now = put(data, size, max_size, (struct span){to, to}, copy, n);
    }
    free(copy);
    return now;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Changes the first number after that position: names in parentheses, lines, addresses, costs. */
static size_t change_number(uint8_t *data, size_t size, size_t max_size, size_t from, uint32_t *r)
{
    static const char *const numbers[] = {
        "0", "1", "2", "3", "+1", "-1", "*", "+3", "0x10", "4294967295", "18446744073709551615", "99", "()", ""};
    struct span number = {from, from};
    while (number.begin < size && !is_digit(data[number.begin]))
        number.begin++;
    for (number.end = number.begin; number.end < size && is_digit(data[number.end]);)
        number.end++;
    const char *text = numbers[next_random(r) % ARRAY_SIZE(numbers)];
    return put(data, size, max_size, number, text, strlen(text));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint32_t r = seed;
    unsigned what = next_random(&r) % 8;
    if (what < 2 || !is_text(data, size))
        return LLVMFuzzerMutate(data, size, max_size);
    struct span line = line_at(data, size, next_random(&r) % size);
    if (what == 2)
        return put(data, size, max_size, line, "", 0);
    if (what == 3)
        return repeat_line(data, size, max_size, line, line_at(data, size, next_random(&r) % size).begin);
    return change_number(data, size, max_size, line.begin + next_random(&r) % (line.end - line.begin), &r);
}
