/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables on the thread's stack: the frame that an address is in, found by frame pointers. */
#include "config.h"
#include "mhsim/runtime/modules.h"
#include "mhsim/runtime/state.h"
#include "mhsim/runtime/variables.h"

bool runtime_on_this_stack(uint64_t address)
{
    return address >= runtime_me->stack_lo && address < runtime_me->stack_hi;
}

/* Only valid frame pointers of the code itself count: handlers may run on other stacks, and code without frame
   pointers keeps other values in that register. */
static bool is_frame(uint64_t fp)
{
    uint64_t here = (uint64_t)(uintptr_t)&here;
    return runtime_on_this_stack(here) && fp > here && fp % 8 == 0 && runtime_on_this_stack(fp + 16);
}

/* The next frame up, and the code in it that called; false: not a frame. */
static bool frame_up(uint64_t *fp, uint64_t *code)
{
    const uint64_t *at = (const uint64_t *)(uintptr_t)*fp;
    uint64_t up = at[0];
    *code = at[1] - 1;
    if (up <= *fp || up % 8 || !runtime_on_this_stack(up + 16))
        return false;
    *fp = up;
    return true;
}

enum { CANONICAL = 16, DEEPEST = 64 }; /* frame pointer to canonical address; calls looked up for a frame */

/* The first frame, from the code's own up, that reaches the address: how many calls up it is. NO_FRAME: none does. */
static uint32_t find_frame(uint64_t *fp, uint64_t *code, uint64_t address)
{
    uint32_t depth = 0;
    if (!is_frame(*fp))
        return NO_FRAME;
    for (; address >= *fp + CANONICAL; depth++)
        if (depth == DEEPEST || !frame_up(fp, code))
            return NO_FRAME;
    return depth;
}

/* The variable at an address of this thread's stack. The range for which it is remembered may begin below the frame:
   if that is another's, same_frame notices. */
uint32_t runtime_stack_object(struct place *p, uint64_t address, uint64_t frame)
{
    uint64_t fp = frame, code = p->code;
    p->depth = find_frame(&fp, &code, address);
    if (p->depth == NO_FRAME) {
        p->frame = frame;
        return RAW_STACK;
    }
    const int64_t m = modules_find(&runtime.modules, code);
    const struct raw_module *module = m >= 0 ? store_get(&runtime.modules, (uint64_t)m) : NULL;
    const struct raw_variables *of = module ? variables_of(module->path) : NULL;
    int64_t lo = (int64_t)(runtime_me->stack_lo - fp) - CANONICAL, hi = 0;
    const struct mhsim_variable *v =
        of ? variables_in_frame(of, code - module->bias, (int64_t)(address - fp) - CANONICAL, &lo, &hi) : NULL;
    p->lo = fp + CANONICAL + (uint64_t)lo;
    p->bytes = (uint64_t)(hi - lo);
    p->frame = fp;
    p->frame_code = code;
    uint32_t object = v ? runtime_object_of_key(RAW_STACK, 0, variables_number(v) + 1, v->name) : RAW_STACK;
    if (v && object)
        ((struct raw_object *)store_get(&runtime.objects, object))->bytes = (uint64_t)(v->hi - v->lo);
    return object ? object : RAW_STACK;
}

/* Those in between may be others than before, and reach it now. */
bool runtime_same_frame(const struct place *p, uint64_t address, uint64_t frame)
{
    uint64_t fp = frame, code = p->code;
    if (p->depth == 0)
        return frame == p->frame;
    return find_frame(&fp, &code, address) == p->depth &&
           (p->depth == NO_FRAME || (fp == p->frame && code == p->frame_code));
}
