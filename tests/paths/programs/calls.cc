// SPDX-License-Identifier: BSD-3-Clause
// Calls of all kinds that C++ has: virtual ones, through templates, out of exceptions' handlers.
#define _Thread_local thread_local
#include "known.h"

#include <algorithm>
#include <functional>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual void draw(int depth) const = 0;
};
struct round : shape {
    FUNCTION void draw(int depth) const override;
};
struct square : shape {
    FUNCTION void draw(int depth) const override;
};
static round the_round;
static square the_square;

FUNCTION void round::draw(int depth) const
{
    known_stack[known_depth++] = "round::draw";
    if (depth == 0)
        work(10);
    else
        static_cast<const shape &>(the_square).draw(depth - 1);
    LEAVE();
}
FUNCTION void square::draw(int depth) const
{
    known_stack[known_depth++] = "square::draw";
    if (depth == 0)
        work(10);
    else
        static_cast<const shape &>(the_round).draw(depth - 1);
    LEAVE();
}
FUNCTION static void virtuals()
{
    ENTER();
    const shape *shapes[] = {&the_round, &the_square};
    for (int i = 0; i < 30; i++)
        shapes[i % 2]->draw(i % 5);
    LEAVE();
}

FUNCTION static void throws(int n)
{
    ENTER();
    if (n == 0)
        throw n;
    throws(n - 1);
    LEAVE();
}
FUNCTION static void exceptions()
{
    ENTER();
    for (int i = 0; i < 30; i++) {
        int depth = known_depth;
        try {
            throws(i % 7);
        } catch (int) {
            known_depth = depth;
            work(10);
        }
    }
    LEAVE();
}

FUNCTION static bool less(int a, int b)
{
    ENTER();
    if (a % 7 == 0)
        work(1);
    LEAVE();
    return a < b;
}
FUNCTION static void templates()
{
    ENTER();
    std::vector<int> v;
    for (int i = 0; i < 200; i++)
        v.push_back(i * 7919 % 200);
    std::function<bool(int, int)> compare = less;
    std::sort(v.begin(), v.end(), compare);
    LEAVE();
}

int main(int argc, char **argv)
{
    ENTER();
    if (argc == 2 && strcmp(argv[1], "virtuals") == 0)
        virtuals();
    if (argc == 2 && strcmp(argv[1], "exceptions") == 0)
        exceptions();
    if (argc == 2 && strcmp(argv[1], "templates") == 0)
        templates();
    LEAVE();
    known_report();
    return 0;
}
