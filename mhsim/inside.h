/*
 * Inside the simulated process: the simulator with its lock, what code and data addresses are of, and when to count.
 * Both ways in use it: the hooks (hooks.c) and QEMU's plugin (qemu.c). No heap, no output, no lock of the program's.
 */
#ifndef MHSIM_INSIDE_H
#define MHSIM_INSIDE_H

#include "mhsim/engine.h"
#include "mhsim/raw.h"

/* What a thread knows of a reference: which row is meant while its addresses stay within lo <= a < hi and, of variables in
   frames, while the frame `depth` calls up is this one, and its code at this point. */
struct place {
    uint64_t code, lo, hi;
    uint64_t frame, frame_code; /* frame 0: any */
    uint32_t row, generation, depth;
};

enum { PLACES = 1 << 12 }; /* of a thread, by hash of the code's address */

struct inside_thread {
    struct place *places;
    uint64_t stack_lo, stack_hi;
    uint32_t core;
    bool ready;
    volatile bool busy; /* in the simulator: signal handlers keep out */
};

extern __thread struct inside_thread inside_me __attribute__((tls_model("initial-exec")));
extern volatile bool inside_on; /* anything to do at all */

/* Reads the orders and opens what is counted into; false: nobody asked, or it cannot be had. */
bool inside_open(enum raw_way way);
/* In the child of a fork: counts anew, for itself. */
void inside_forked(void);
void inside_close(void);

/* One access of `code`. on_stack: known to be on the stack, whatever else is known. frame: the code's frame pointer, which
   points to that of its caller and the return address; 0: not known. */
void inside_access(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame);
/* The program got `size` bytes at `address` from the heap, asked for by `site`. */
void inside_allocated(uint64_t address, uint64_t size, uint64_t site);
void inside_measure(bool on); /* hpcview_start, hpcview_stop */
/* hpcview_region_begin, hpcview_region_end: outside of the region that is asked for, accesses only change the levels. */
void inside_region(const char *name, bool begins);

struct raw_head *inside_head(void); /* NULL: not open */

#endif
