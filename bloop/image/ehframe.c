/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .eh_frame: Linux Standard Base Core, "Exception Frames"; pointer encodings there too (DW_EH_PE_*).
 * .gcc_except_table: the call-site table as in the Itanium C++ ABI, "Exception Handling Tables".
 */
#include "bloop/image/image.h"

#include "bloop/image/elf.h"

#include <stdlib.h>

enum {
    PE_ABSPTR = 0,
    PE_ULEB = 1,
    PE_UDATA2 = 2,
    PE_UDATA4 = 3,
    PE_UDATA8 = 4,
    PE_SLEB = 9,
    PE_SDATA2 = 10,
    PE_SDATA4 = 11,
    PE_SDATA8 = 12
};
enum { PE_PCREL = 0x10, PE_INDIRECT = 0x80, PE_OMIT = 0xff };

/* `c` reads bytes that lie at address `base` + (c->p - start). */
struct at {
    const uint8_t *start;
    vaddr base;
};

static vaddr place(const struct at *at, const struct cursor *c)
{
    return at->base + (vaddr)(c->p - at->start);
}

/* An encoded pointer. Forms relative to text or data segment, aligned and indirect ones do not occur for code; they
   set bad, and so does an unknown form. 0 stays 0 (no address) in every form. */
static vaddr encoded(struct cursor *c, uint8_t encoding, const struct at *at)
{
    vaddr here = place(at, c), v;
    switch (encoding & 0x0f) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        v = cursor_u64(c);
        break;
    case PE_ULEB:
        v = cursor_uleb(c);
        break;
    case PE_UDATA2:
        v = cursor_u16(c);
        break;
    case PE_UDATA4:
        v = cursor_u32(c);
        break;
    case PE_SLEB:
        v = (vaddr)cursor_sleb(c);
        break;
    case PE_SDATA2:
        v = (vaddr)(int64_t)(int16_t)cursor_u16(c);
        break;
    case PE_SDATA4:
        v = (vaddr)(int64_t)(int32_t)cursor_u32(c);
        break;
    default:
        c->bad = true;
        return 0;
    }
    unsigned relative = encoding & 0x70;
    if (relative != 0 && relative != PE_PCREL)
        c->bad = true;
    return relative == PE_PCREL && v != 0 ? here + v : v;
}

struct cie {
    size_t offset; /* of the entry in the section; SIZE_MAX: none read yet */
    bool ok, has_length;
    uint8_t pointer_encoding, lsda_encoding;
};

static struct cie read_cie(struct cursor c, size_t offset, const struct at *at)
{
    struct cie cie = {.offset = offset, .pointer_encoding = PE_ABSPTR, .lsda_encoding = PE_OMIT};
    uint8_t version = cursor_u8(&c);
    const char *augmentation = cursor_cstr(&c);
    if (version != 1 && version != 3 && version != 4)
        return cie;
    if (strncmp(augmentation, "eh", 2) == 0) /* GCC 2: an unused pointer */
        cursor_u64(&c);
    if (version == 4)
        cursor_u16(&c); /* size of addresses and segment selectors */
    cursor_uleb(&c);    /* code and data alignment */
    cursor_sleb(&c);
    if (version == 1)
        cursor_u8(&c); /* return address register */
    else
        cursor_uleb(&c);
    if (augmentation[0] == 'z') {
        cie.has_length = true;
        cursor_uleb(&c);
    }
    for (const char *a = augmentation; *a && !c.bad; a++) {
        if (*a == 'R')
            cie.pointer_encoding = cursor_u8(&c);
        else if (*a == 'L')
            cie.lsda_encoding = cursor_u8(&c);
        else if (*a == 'P') { /* personality: only to get past it */
            uint8_t encoding = cursor_u8(&c);
            encoded(&c, encoding & 0x0f, at);
        } else if (!strchr("zSBGeh", *a))
            break;
    }
    cie.ok = !c.bad;
    return cie;
}

/* The entry's code must lie in an executable section: linkers leave entries of discarded functions at 0. */
static void add_fde(const struct image *im, vaddr begin, vaddr size, vaddr lsda, const struct image_section **last,
                    struct fde_list *list)
{
    if (!*last || begin - (*last)->addr >= (*last)->size)
        *last = image_section_at(im, begin);
    if (!*last || !(*last)->exec || begin == 0 || size == 0)
        return;
    vaddr left = (*last)->addr + (*last)->size - begin;
    *vec_push(list) = (struct fde){begin, begin + (size < left ? size : left), lsda};
}

static void read_fde(struct cursor c, const struct cie *cie, const struct image *im, const struct at *at,
                     const struct image_section **last, struct fde_list *list)
{
    vaddr begin = encoded(&c, cie->pointer_encoding, at);
    vaddr size = encoded(&c, cie->pointer_encoding & 0x0f, at), lsda = 0;
    if (c.bad)
        return;
    if (cie->has_length) {
        uint64_t length = cursor_uleb(&c);
        if (length && cie->lsda_encoding != PE_OMIT && !(cie->lsda_encoding & PE_INDIRECT))
            lsda = encoded(&c, cie->lsda_encoding, at);
        if (c.bad)
            lsda = 0;
    }
    add_fde(im, begin, size, lsda, last, list);
}

/* All entries of one section, appended in file order; damage ends the reading with a warning and keeps the entries before
   it. */
static void read_section(const struct image *im, const struct image_section *s, struct fde_list *list,
                         struct warnings *w)
{
    struct cursor all = cursor_make(s->bytes, s->bytes ? s->size : 0);
    struct at at = {s->bytes, s->addr};
    struct cie cie = {.offset = SIZE_MAX};
    const struct image_section *last = NULL;
    while (cursor_left(&all) >= 4) {
        size_t offset = (size_t)(all.p - s->bytes);
        uint64_t length = cursor_u32(&all);
        if (length == 0) /* the end */
            break;
        bool wide = length == 0xffffffff;
        if (wide)
            length = cursor_u64(&all);
        if (length > cursor_left(&all) || length < 4) {
            warnings_add(w,
                         "%s: the entry at byte %zu of .eh_frame is damaged; functions known only from what follows it "
                         "are missing",
                         im->path, offset);
            return;
        }
        size_t id_at = (size_t)(all.p - s->bytes);
        struct cursor c = cursor_make(cursor_bytes(&all, length), length);
        uint64_t id = wide ? cursor_u64(&c) : cursor_u32(&c);
        if (id == 0) {
            cie = read_cie(c, offset, &at);
            continue;
        }
        if (id > id_at)
            continue;
        size_t cie_at = id_at - id;
        if (cie.offset != cie_at) { /* seldom: entries follow their common part */
            struct cursor back = cursor_make(s->bytes + cie_at, s->size - cie_at);
            uint64_t cie_length = cursor_u32(&back);
            if (cie_length == 0xffffffff)
                continue;
            struct cursor body = cursor_make(back.p, cie_length < cursor_left(&back) ? cie_length : cursor_left(&back));
            if (cursor_u32(&body) != 0 || body.bad)
                continue;
            cie = read_cie(body, cie_at, &at);
        }
        if (cie.ok)
            read_fde(c, &cie, im, &at, &last, list);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct fde *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->end, y->end);
}

const struct fde_list *image_fdes(const struct image *im, struct warnings *w)
{
    struct image_private *p = im->priv;
    pthread_mutex_lock(&p->lock);
    if (!p->fdes) {
        p->fdes = mem_calloc(1, sizeof *p->fdes);
        for (size_t i = 0; i < im->section_count; i++)
            if (strcmp(im->sections[i].name, ".eh_frame") == 0)
                read_section(im, &im->sections[i], p->fdes, w);
        sort_items(p->fdes->items, p->fdes->count, sizeof *p->fdes->items, by_begin);
    }
    pthread_mutex_unlock(&p->lock);
    return p->fdes;
}

/* ---- landing pads ---- */

static void read_call_sites(const struct image *im, const struct fde *fde, struct call_site_list *sites)
{
    size_t avail;
    const uint8_t *bytes = image_bytes(im, fde->lsda, &avail);
    if (!bytes)
        return;
    struct cursor c = cursor_make(bytes, avail);
    struct at at = {bytes, fde->lsda};
    vaddr pads = fde->begin;
    uint8_t encoding = cursor_u8(&c);
    if (encoding != PE_OMIT)
        pads = encoded(&c, encoding, &at);
    encoding = cursor_u8(&c);
    if (encoding != PE_OMIT)
        cursor_uleb(&c); /* where the table of types is */
    encoding = cursor_u8(&c);
    uint64_t length = cursor_uleb(&c);
    if (c.bad || length > cursor_left(&c))
        return;
    c.end = c.p + length;
    while (cursor_left(&c)) {
        vaddr begin = encoded(&c, encoding & 0x0f, &at), size = encoded(&c, encoding & 0x0f, &at),
              pad = encoded(&c, encoding & 0x0f, &at);
        cursor_uleb(&c); /* the action */
        if (c.bad)
            break;
        if (pad && begin < fde->end - fde->begin && size <= fde->end - fde->begin - begin)
            *vec_push(sites) = (struct call_site){fde->begin + begin, fde->begin + begin + size, pads + pad};
    }
}

void image_call_sites(const struct image *im, vaddr begin, struct call_site_list *sites)
{
    const struct fde_list *fdes = image_fdes(im, NULL);
    size_t low = sorted_front(fdes->count, i, fdes->items[i].begin < begin);
    if (low < fdes->count && fdes->items[low].begin == begin && fdes->items[low].lsda)
        read_call_sites(im, &fdes->items[low], sites);
}
