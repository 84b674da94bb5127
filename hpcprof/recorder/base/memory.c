/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory by mmap, bytes for the file, text without stdio. */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/base/base.h"
#include "hpcprof/recorder/base/syscalls.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *hpcrec_map(size_t bytes)
{
    void *p = raw_mmap(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return p == MAP_FAILED ? NULL : p;
}

void hpcrec_unmap(void *p, size_t bytes)
{
    if (p)
        raw_munmap(p, bytes);
}

uint64_t hpcrec_page_bytes(void)
{
    static uint64_t bytes;
    if (bytes == 0)
        bytes = getauxval(AT_PAGESZ);
    return bytes ? bytes : 4096;
}

static size_t page_up(size_t n)
{
    return (n + hpcrec_page_bytes() - 1) & ~(size_t)(hpcrec_page_bytes() - 1);
}

bool hpcrec_area_room(struct area *a, size_t items, size_t item_size)
{
    if (items <= a->room)
        return true;
    size_t old_bytes = page_up(a->room * item_size), bytes = page_up(items * item_size);
    if (bytes < old_bytes * 2)
        bytes = old_bytes * 2;
    void *p = a->items ? raw_mremap(a->items, old_bytes, bytes) : hpcrec_map(bytes);
    if (!p || p == MAP_FAILED) {
        a->full = true;
        return false;
    }
    a->items = p;
    /* Whole pages belong to it: the capacity is derived from bytes the same way when it grows again. */
    a->room = bytes / item_size;
    while (page_up(a->room * item_size) != bytes)
        a->room--; /* never: item_size is below a page */
    return true;
}

void hpcrec_area_free(struct area *a, size_t item_size)
{
    if (a->items)
        hpcrec_unmap(a->items, page_up(a->room * item_size));
    *a = (struct area){0};
}

/* ---- bytes ------------------------------------------------------------------------------------- */

void hpcrec_put(struct out *o, const void *bytes, size_t n)
{
    if (!hpcrec_area_room(&o->bytes, o->bytes.count + n, 1))
        return;
    memcpy((uint8_t *)o->bytes.items + o->bytes.count, bytes, n);
    o->bytes.count += n;
}

void hpcrec_put_u32(struct out *o, uint32_t v)
{
    uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    hpcrec_put(o, b, 4);
}

void hpcrec_put_uleb(struct out *o, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    do {
        b[n] = v & 0x7f;
        v >>= 7;
        b[n++] |= v ? 0x80 : 0;
    } while (v);
    hpcrec_put(o, b, n);
}

void hpcrec_put_sleb(struct out *o, int64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    bool more = true;
    while (more) {
        uint8_t low = v & 0x7f;
        v >>= 7;
        more = !((v == 0 && !(low & 0x40)) || (v == -1 && (low & 0x40)));
        b[n++] = low | (more ? 0x80 : 0);
    }
    hpcrec_put(o, b, n);
}

void hpcrec_put_string(struct out *o, const char *s)
{
    size_t n = strlen(s);
    hpcrec_put_uleb(o, n);
    hpcrec_put(o, s, n);
}

/* CRC-32 (IEEE), four bits at a time: a table of 64 bytes is fast enough for our amount of data. */
static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~0u;
    for (; n > 0; n--) {
        crc ^= *p++;
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return ~crc;
}

static void store_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

void hpcrec_put_crc(struct out *o, size_t from)
{
    hpcrec_put_u32(o, crc32_of((uint8_t *)o->bytes.items + from, o->bytes.count - from));
}

size_t hpcrec_block_begin(struct out *o, uint32_t type)
{
    size_t begin = o->bytes.count;
    uint8_t head[FORMAT_BLOCK_BYTES] = {0};
    store_u32(head, type);
    hpcrec_put(o, head, sizeof head);
    return begin;
}

void hpcrec_block_end(struct out *o, size_t begin)
{
    if (o->bytes.full) /* incomplete: the writer discards the buffer */
        return;
    uint8_t *head = (uint8_t *)o->bytes.items + begin, *payload = head + FORMAT_BLOCK_BYTES;
    size_t length = o->bytes.count - begin - FORMAT_BLOCK_BYTES;
    store_u32(head + 4, (uint32_t)length);
    store_u32(head + 8, crc32_of(payload, length));
    store_u32(head + 12, crc32_of(head, 12));
}

/* ---- text ----------------------------------------------------------------------------------------- */

struct text hpcrec_text(char *buffer, size_t size)
{
    buffer[0] = '\0';
    return (struct text){buffer, buffer + size - 1};
}

void hpcrec_text_strn(struct text *t, const char *s, size_t n)
{
    if (n > (size_t)(t->end - t->at))
        n = (size_t)(t->end - t->at);
    memcpy(t->at, s, n);
    t->at += n;
    *t->at = '\0';
}

void hpcrec_text_str(struct text *t, const char *s)
{
    hpcrec_text_strn(t, s, strlen(s));
}

void hpcrec_text_u64(struct text *t, uint64_t v)
{
    char digits[20];
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    hpcrec_text_strn(t, digits + n, sizeof digits - n);
}
