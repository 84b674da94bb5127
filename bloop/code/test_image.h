/*
 * Stands in for image.c and ehframe.c in tests of control flow: a few pieces of memory at chosen addresses.
 * Included once, by the test's own file; it defines what cfg.c, jumptable.c and noreturn.c ask of an image.
 */
#ifndef BLOOP_TEST_IMAGE_H
#define BLOOP_TEST_IMAGE_H

#include "bloop/code/code.h"

static struct call_site test_sites[4];
static size_t test_site_count;

const struct image_section *image_section_at(const struct image *im, vaddr a)
{
    for (size_t i = 0; i < im->section_count; i++)
        if (a >= im->sections[i].addr && a - im->sections[i].addr < im->sections[i].size)
            return &im->sections[i];
    return NULL;
}

const uint8_t *image_bytes(const struct image *im, vaddr a, size_t *avail)
{
    const struct image_section *s = image_section_at(im, a);
    *avail = s != NULL ? s->size - (a - s->addr) : 0;
    return s != NULL ? s->bytes + (a - s->addr) : NULL;
}

bool image_pointer(const struct image *im, vaddr a, vaddr *value)
{
    size_t avail;
    const uint8_t *p = image_bytes(im, a, &avail);
    if (p == NULL || avail < 8)
        return false;
    memcpy(value, p, 8);
    return true;
}

const char *image_slot_name(const struct image *im, vaddr a)
{
    (void)im;
    return a == 0x5ff8 ? "abort" : NULL;
}

void image_call_sites(const struct image *im, vaddr begin, struct call_site_list *sites)
{
    (void)im;
    for (size_t i = 0; i < test_site_count; i++)
        if (test_sites[i].begin - begin < 0x1000)
            *vec_push(sites) = test_sites[i];
}

#endif
