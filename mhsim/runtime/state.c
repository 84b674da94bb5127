/* SPDX-License-Identifier: BSD-3-Clause */
#include "mhsim/runtime/state.h"

struct runtime runtime;
struct runtime_thread runtime_nobody = {.busy = true};
__thread struct runtime_thread *runtime_me = &runtime_nobody;
volatile bool runtime_on;
uint32_t runtime_generation;

struct raw_head *runtime_head(void)
{
    return runtime.head;
}
