/* Where the bytes of a binary's file are linked to: an ELF file's program headers, and nothing else of it. */
#ifndef FILTERS_IMAGE_H
#define FILTERS_IMAGE_H

#include "filters/base/base.h"

struct image {
    struct VEC(
        struct image_segment) segments; /* none: it cannot be read, or is no 64-bit ELF file of this byte order */
    bool x86;
};
struct image_segment {
    uint64_t offset, size, address;
};

void image_read(struct image *, const void *bytes, size_t len);
/* false: the file has nothing there. */
bool image_linked_at(const struct image *, uint64_t offset, uint64_t *address);
bool image_offset_of(const struct image *, uint64_t address, uint64_t *offset);
void image_release(struct image *);

#endif
