/* .eh_frame and .gcc_except_table, read with bounds by ourselves: what unwinders see of functions. */
#ifndef BLOOP_EHFRAME_H
#define BLOOP_EHFRAME_H

#include "bloop/bloop_int.h"

struct fde {
    vaddr begin, end; /* code it describes; inside one executable section */
    vaddr lsda;       /* of its language-specific data in .gcc_except_table; 0: none */
};
struct fde_list VEC(struct fde);

/* All entries of one section, appended in file order; what is damaged ends the reading with a warning and keeps what
 * came before. */
void ehframe_read(const struct image *, const struct image_section *, struct fde_list *, struct warnings *);
/* Those of the image, sorted by (begin, end); made on first use, lent until image_close. Safe from several threads. */
const struct fde_list *image_fdes(const struct image *, struct warnings *);

#endif
