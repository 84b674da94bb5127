// SPDX-License-Identifier: BSD-3-Clause
// A landing pad lies in the range of calls that lead to it, for its own destructor call: no loop.
extern void use(int);
struct guard {
    int id;
    explicit guard(int);
    ~guard();
};
void pads(int n)
{
    guard a(n);
    for (int i = 0; i < n; i++) { // LOOP depth=1
        guard b(i);
        use(i);
    }
    guard c(n + 1);
    use(n);
}
