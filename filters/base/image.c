/* Offsets in a binary's file, and link-time addresses. */
#include "filters/base/image.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

void filter_image_read(struct filter_image *b, const char *path)
{
    Elf64_Ehdr head;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return;
    bool elf = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
               head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_ident[EI_DATA] == ELFDATA2LSB &&
               head.e_phentsize == sizeof(Elf64_Phdr);
    b->x86 = elf && head.e_machine == EM_X86_64;
    for (unsigned i = 0; elf && i < head.e_phnum; i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof ph, (off_t)(head.e_phoff + i * sizeof ph)) != (ssize_t)sizeof ph)
            break;
        if (ph.p_type == PT_LOAD)
            *vec_push(&b->segments) = (struct image_segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
    }
    close(fd);
}

bool filter_image_linked_at(const struct filter_image *b, uint64_t offset, uint64_t *address)
{
    for (size_t i = 0; i < b->segments.count; i++) {
        const struct image_segment *s = &b->segments.items[i];
        if (offset - s->offset < s->size) {
            *address = offset - s->offset + s->address;
            return true;
        }
    }
    return false;
}

bool filter_image_offset_of(const struct filter_image *b, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < b->segments.count; i++) {
        const struct image_segment *s = &b->segments.items[i];
        if (address - s->address < s->size) {
            *offset = address - s->address + s->offset;
            return true;
        }
    }
    return false;
}

void filter_image_release(struct filter_image *b)
{
    vec_release(&b->segments);
}
