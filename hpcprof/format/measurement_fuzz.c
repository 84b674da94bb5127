/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: reading a measurement: every index in the result is within its table; the result is written, read
 * and written again the same; added to itself it is sound. Mutations go into the blocks, and their checksums follow, so
 * that they get further than the checksums.
 */
#include "hpcprof/format/tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak)); /* libFuzzer's */

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

static void check_tables(const struct table_list *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        const struct table *t = tables->items[i];
        const struct table_decl *d = table_declared(t);
        for (size_t row = 0; row < table_row_count(t); row++)
            for (size_t k = 0; k < d->column_count; k++)
                table_cell_missing(&d->columns[k], table_row(t, row)[k]);
    }
}

static void check(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        promise(c->thread < p->thread_count && c->context < p->context_count && c->event < p->event_count &&
                c->region < p->region_count);
    }
    for (size_t i = 0; i < p->context_count; i++)
        promise(p->contexts[i].module < p->module_count &&
                (p->contexts[i].parent == HPCPROF_NO_PARENT || p->contexts[i].parent < i));
    check_tables(&p->tables);
    mem_free(hpcprof_shares(p));
    hpcprof_has_paths(p);
}

static void write_into(const struct hpcprof *p, struct buf *text)
{
    struct err err = {0};
    struct outfile *out = outfile_into(text);
    promise(hpcprof_write(p, out, &err) == 0 && outfile_commit(out, &err) == 0);
}

/* Writing sorts the rows; from then on the bytes are stable. An empty measurement is not written. */
static void round_trip(const struct hpcprof *p)
{
    if (p->process_count == 0)
        return;
    struct buf written[2] = {{0}};
    struct hpcprof *back[2] = {NULL, NULL};
    struct err err = {0};
    for (int i = 0; i < 2; i++) {
        write_into(i ? back[i - 1] : p, &written[i]);
        promise(hpcprof_read_bytes(written[i].bytes, written[i].len, "again", &back[i], NULL, &err) == 0);
    }
    promise(back[0]->count_count == p->count_count && back[1]->count_count == p->count_count);
    promise(written[0].len == written[1].len && memcmp(written[0].bytes, written[1].bytes, written[0].len) == 0);
    for (int i = 0; i < 2; i++) {
        hpcprof_free(back[i]);
        buf_release(&written[i]);
    }
}

static void see_block(void *ctx, const struct hpcprof_block *b)
{
    promise(b->type && b->offset + b->length <= *(const size_t *)ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hpcprof *p, *whole;
    struct err err = {0};
    struct warnings *warnings = warnings_create();
    hpcprof_sniff(data, size);
    hpcprof_list_blocks(data, size, "fuzz", see_block, &size, &err);
    if (hpcprof_read_bytes(data, size, "fuzz", &p, warnings, &err) < 0) {
        promise(err.msg[0] != 0); /* an error without words is a bug */
    } else {
        check(p);
        round_trip(p);
        whole = hpcprof_create();
        for (int i = 0; i < 2; i++)
            promise(hpcprof_add_all(whole, p, i, &err) == 0);
        hpcprof_finish(whole);
        check(whole);
        hpcprof_free(whole);
        hpcprof_free(p);
    }
    warnings_free(warnings);
    return 0;
}

/* ---- mutations -------------------------------------------------------------------------------------- */

static uint32_t word_at(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void put_word(uint8_t *at, uint32_t word)
{
    memcpy(at, &word, sizeof word);
}

/* The block's lengths and checksums become those of its payload. */
static void seal(uint8_t *block, size_t length)
{
    put_word(block + 4, (uint32_t)length);
    put_word(block + 8, crc32_bytes(0, block + FORMAT_BLOCK_BYTES, length));
    put_word(block + 12, crc32_bytes(0, block, 12));
}

enum { BLOCKS_MAX = 256 };

/* Finds the start of each block, and the end of the last one. */
static size_t find_blocks(const uint8_t *data, size_t size, size_t at[BLOCKS_MAX + 1])
{
    size_t count = 0, here = FORMAT_HEADER_BYTES;
    while (count < BLOCKS_MAX && here + FORMAT_BLOCK_BYTES <= size &&
           word_at(data + here + 4) <= size - here - FORMAT_BLOCK_BYTES) {
        at[count++] = here;
        here += FORMAT_BLOCK_BYTES + word_at(data + here + 4);
    }
    at[count] = here;
    return count;
}

/* Changes a payload and its length; the following bytes move. */
static size_t mutate_block(uint8_t *data, size_t size, size_t max_size, size_t begin, size_t end)
{
    size_t length = end - begin - FORMAT_BLOCK_BYTES, room = length + 64, rest = size - end;
    room = room > max_size - (size - length) ? max_size - (size - length) : room;
    uint8_t *payload = malloc(room + 1);
    memcpy(payload, data + begin + FORMAT_BLOCK_BYTES, length < room ? length : room);
    size_t now = LLVMFuzzerMutate(payload, length < room ? length : room, room);
    memmove(data + begin + FORMAT_BLOCK_BYTES + now, data + end, rest);
    memcpy(data + begin + FORMAT_BLOCK_BYTES, payload, now);
    seal(data + begin, now);
    free(payload);
    return size - length + now;
}

static size_t repeat_block(uint8_t *data, size_t size, size_t begin, size_t end)
{
    memmove(data + end + (end - begin), data + end, size - end);
    memcpy(data + end, data + begin, end - begin);
    return size + (end - begin);
}

static size_t drop_block(uint8_t *data, size_t size, size_t begin, size_t end)
{
    memmove(data + begin, data + end, size - end);
    return size - (end - begin);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t at[BLOCKS_MAX + 1], count = size > FORMAT_HEADER_BYTES ? find_blocks(data, size, at) : 0;
    if (count == 0 || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t k = seed / 16 % count, length = at[k + 1] - at[k];
    if (seed % 16 == 1 && size + length <= max_size)
        return repeat_block(data, size, at[k], at[k + 1]);
    if (seed % 16 == 2)
        return drop_block(data, size, at[k], at[k + 1]);
    return mutate_block(data, size, max_size, at[k], at[k + 1]);
}
