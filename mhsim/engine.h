/* The simulator's inside, for its own files: where its tables lie. */
#ifndef MHSIM_ENGINE_H
#define MHSIM_ENGINE_H

#include "mhsim/mhsim.h"
#include "mhsim/store.h"

enum {
    ROWS_MOST = 1 << 20,  /* references x objects x threads: row numbers have 20 bits */
    PAIRS_MOST = 1 << 22, /* 160 MB; nobody reads more */
};

/* As mhsim_create, its rows and pairs in tables that are open already. */
struct mhsim *mhsim_create_in(const struct mhsim_machine *, const struct mhsim_options *, const struct store *rows,
                              const struct store *pairs);

#endif
