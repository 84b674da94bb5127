/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any text as /proc/self/maps, and any bytes as mapped memory. Every address has a row, the same one
 * when it is looked up again; names end.
 *
 *     text, 0, text of the second reading (none: the first again), 0, memory: the same page at every address
 */
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/output.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct recorder hpcrec;

enum { PAGE = 4096 };

struct part {
    const uint8_t *bytes;
    size_t size;
};

static int maps = -1; /* a file in memory, in /proc/self/maps' place */
static struct part memory;

void hpcrec_hold(struct held *h, const char *path, int flags)
{
    (void)path, (void)flags;
    h->fd = maps;
}

int hpcrec_held(struct held *h, const char *path, int flags)
{
    (void)path, (void)flags;
    return h->fd;
}

bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    uint64_t at = address % PAGE;
    if (at > memory.size || n > memory.size - at)
        return false;
    memcpy(to, memory.bytes + at, n);
    return true;
}

void hpcrec_contexts_stale(void)
{
}

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

/* Takes the part before the next NUL, and the NUL. */
static struct part take(struct part *rest)
{
    const uint8_t *end = rest->size ? memchr(rest->bytes, 0, rest->size) : NULL;
    struct part first = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size};
    size_t used = first.size + (end != NULL);
    *rest = (struct part){rest->bytes + used, rest->size - used};
    return first;
}

static void check_row(uint32_t row)
{
    promise(row < hpcrec.modules.count);
    const struct module_row *m = (const struct module_row *)hpcrec.modules.items + row;
    promise(*hpcrec_string(m->path) && strlen(hpcrec_string(m->build_id)) < 129);
}

static void ask(uint64_t pc)
{
    uint64_t address = 0, again = 1;
    uint32_t row = hpcrec_maps_find(pc, &address);
    check_row(row);
    promise(hpcrec_maps_find(pc, &again) == row && again == address);
}

/* The addresses in the text, and those just before them. */
static void ask_all(struct part text)
{
    char line[64];
    for (size_t i = 0, asked = 0; i < text.size && asked < 100; i++) {
        size_t n = text.size - i < sizeof line - 1 ? text.size - i : sizeof line - 1;
        memcpy(line, text.bytes + i, n);
        line[n] = '\0';
        unsigned long start = 0, end = 0;
        if (sscanf(line, "%lx-%lx", &start, &end) < 1)
            continue;
        ask(start);
        ask(start - 1);
        ask(start + (end - start) / 2);
        asked++;
        while (i < text.size && text.bytes[i] != '\n')
            i++;
    }
}

static void show(struct part text)
{
    if (maps < 0)
        maps = (int)syscall(SYS_memfd_create, "maps", 0u);
    if (maps < 0 || raw_ftruncate(maps, 0) < 0 || raw_pwrite(maps, text.bytes, text.size, 0) != (ssize_t)text.size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct part rest = {data, size}, first = take(&rest), second = take(&rest);
    memory = rest;
    show(first);
    hpcrec_maps_open();
    ask_all(first);
    if (second.size)
        show(second);
    hpcrec_maps_stale();
    hpcrec_maps_new_round();
    ask_all(second.size ? second : first);
    hpcrec_maps_check();
    hpcrec_maps_name_all();
    for (uint32_t row = 0; row < hpcrec.modules.count; row++)
        check_row(row);
    hpcrec_maps_move_fd(maps, maps);
    hpcrec_maps_forget();
    hpcrec_area_free(&hpcrec.modules, sizeof(struct module_row));
    return 0;
}
