/* DWARF, on demand. */
#include "bloop/bloop_int.h"

int debug_open(const struct image *im, struct debug **out, struct warnings *w, struct err *err)
{
    (void)im, (void)w, (void)err;
    *out = NULL;
    return 0;
}
void debug_close(struct debug *d)
{
    (void)d;
}
void debug_entries(struct debug *d, struct vaddr_list *list)
{
    (void)d, (void)list;
}
int debug_function_at(struct debug *d, vaddr entry, const struct addr_range *parts, size_t part_count, struct arena *a, struct debug_function *f)
{
    (void)d, (void)entry, (void)parts, (void)part_count, (void)a, (void)f;
    return 0;
}
