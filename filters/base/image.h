/* SPDX-License-Identifier: BSD-3-Clause */
/* Link-time addresses of a binary's bytes, and its symbols: as much of an ELF file as names in a text are compared
   with. */
#ifndef FILTERS_IMAGE_H
#define FILTERS_IMAGE_H

#include "filters/base/base.h"

struct filter_image {
    struct VEC(
        struct filter_image_segment) segments;      /* none: unreadable, or not a 64-bit ELF file of this byte order */
    struct VEC(struct filter_image_symbol) symbols; /* of functions, by address */
    struct strtab *names;                           /* of them; NULL: symbols have not been read */
    bool x86;
};
struct filter_image_symbol {
    uint64_t address, size;
    str_id name;
};
struct filter_image_segment {
    uint64_t offset, size, address;
};

void filter_image_read(struct filter_image *, const void *bytes, size_t len);
/* Adds those of the file, or of the one with its debug information; the latter's name is "" if there is none. */
void filter_image_read_symbols(struct filter_image *, const void *bytes, size_t len);
void filter_image_debug_file(const void *bytes, size_t len, char path[128]);
/* Has it a function of that name there, however its name is written, that begins so far before? name NULL, offset UINT64_MAX: any. */
bool filter_image_has_symbol(const struct filter_image *, uint64_t address, const char *name, uint64_t offset);
/* false: the file has nothing there. */
bool filter_image_linked_at(const struct filter_image *, uint64_t offset, uint64_t *address);
bool filter_image_offset_of(const struct filter_image *, uint64_t address, uint64_t *offset);
void filter_image_release(struct filter_image *);

#endif
