// SPDX-License-Identifier: BSD-3-Clause
// A coroutine that goes through another one: both are resumed from ever other places, on the stack of who resumes them.
#define _Thread_local thread_local
#include "known.h"

#include <coroutine>

struct routine {
    struct promise_type {
        routine get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};

static routine inner()
{
    for (;;) {
        ENTER();
        work(5);
        LEAVE();
        co_await std::suspend_always();
    }
}
static routine outer()
{
    routine in = inner();
    for (;;) {
        ENTER();
        in.handle.resume();
        work(5);
        LEAVE();
        co_await std::suspend_always();
    }
}
FUNCTION static void above(std::coroutine_handle<> handle, int n)
{
    ENTER();
    if (n == 0)
        handle.resume();
    else
        above(handle, n - 1);
    LEAVE();
}

int main()
{
    ENTER();
    routine out = outer();
    for (int i = 0; i < 30; i++)
        above(out.handle, i % 4);
    LEAVE();
    known_report();
    return 0;
}
