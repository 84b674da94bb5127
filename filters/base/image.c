/* Offsets in a binary's file, and link-time addresses. */
#include "filters/base/image.h"

#include <elf.h>

void image_read(struct image *b, const void *bytes, size_t len)
{
    Elf64_Ehdr head = {0};
    memcpy(&head, bytes, len < sizeof head ? 0 : sizeof head);
    bool elf = memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
               head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_phentsize == sizeof(Elf64_Phdr);
    b->x86 = elf && head.e_machine == EM_X86_64;
    for (unsigned i = 0; elf && i < head.e_phnum; i++) {
        Elf64_Phdr ph;
        uint64_t at = head.e_phoff + i * sizeof ph;
        if (at > len || len - at < sizeof ph)
            break;
        memcpy(&ph, (const char *)bytes + at, sizeof ph);
        if (ph.p_type == PT_LOAD)
            *vec_push(&b->segments) = (struct image_segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
    }
}

bool image_linked_at(const struct image *b, uint64_t offset, uint64_t *address)
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

bool image_offset_of(const struct image *b, uint64_t address, uint64_t *offset)
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

void image_release(struct image *b)
{
    vec_release(&b->segments);
}
