/* What single addresses are called in the source: for what is told while a program runs. */
#ifndef DRIVER_LINES_H
#define DRIVER_LINES_H

#include "support/support.h"

/* "radix.c:33 in sort"; where the binary says less, the procedure or the module and the address. Lent, until lines_release. */
const char *lines_of(const char *module, uint64_t address);
void lines_release(void);

#endif
