/* Loops in procedures that are inlined: found in the callee, under each call. */
extern int work(int);
extern void use(int);

static inline int sum_of(const int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        s += a[i] * work(i);
    return s;
}

int call_once(const int *a, int n)
{
    return sum_of(a, n) + 1;
}

int call_in_loop(const int *a, int n, int m)
{
    int total = 0;
    for (int j = 0; j < m; j++) /* LOOP depth=1 */
        total += sum_of(a + j * n, n);
    return total;
}

static inline int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

void call_small(int *a, int n)
{
    for (int i = 0; i < n; i++) { /* LOOP depth=1 */
        int v = work(a[i]);
        a[i] = clamp(v, 0, 255);
    }
}

static inline int next_value(int *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

int condition_inlined(int seed)
{
    int n = 0;
    while (next_value(&seed) % 10 != 0) { /* LOOP depth=1 */
        use(n);
        n++;
    }
    return n;
}

int recursive(const int *tree, int n, int at)
{
    int sum = 0;
    for (int child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++) /* LOOP depth=1 */
        sum += recursive(tree, n, child);
    return sum + tree[at];
}

static inline __attribute__((always_inline)) void each(int *a, int n, int (*f)(int))
{
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        a[i] = f(a[i]);
}

void each_work(int *a, int n)
{
    each(a, n, work);
}

void each_twice(int *a, int *b, int n)
{
    each(a, n, work);
    each(b, n, work);
}

static inline int outer_of(int n)
{
    int sum = 0;
    do { /* LOOP depth=1 near=1 */
        sum += work(n);
        n--;
    } while (n > 0);
    return sum;
}

int chain(int n, int m)
{
    int total = 0;
    while (m-- > 0) /* LOOP depth=1 */
        total += outer_of(n);
    return total;
}
/* SPDX-License-Identifier: BSD-3-Clause */
