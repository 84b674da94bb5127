// SPDX-License-Identifier: BSD-3-Clause
// Templates, lambdas, iterators, range-for, exceptions, recursion.
extern int work(int);
extern void use(int);

namespace shapes {

template <class T> struct span {
    T *first, *last;
    T *begin() const { return first; }
    T *end() const { return last; }
};

template <class T> T sum(const T *a, int n)
{
    T s = 0;
    for (int i = 0; i < n; i++) // LOOP depth=1
        s += a[i] * work(i);
    return s;
}

template int sum<int>(const int *, int);
template double sum<double>(const double *, int);

int range(span<int> v)
{
    int s = 0;
    for (int x : v) // LOOP depth=1
        s += work(x);
    return s;
}

struct list {
    struct node {
        node *next;
        int value;
    };
    struct iterator {
        node *at;
        int operator*() const { return at->value; }
        iterator &operator++()
        {
            at = at->next;
            return *this;
        }
        bool operator!=(const iterator &o) const { return at != o.at; }
    };
    node *head;
    iterator begin() const { return {head}; }
    iterator end() const { return {nullptr}; }
};

int walk(const list &l)
{
    int s = 0;
    for (int x : l) // LOOP depth=1
        s += work(x);
    return s;
}

int walk_by_hand(const list &l)
{
    int s = 0;
    for (auto it = l.begin(); it != l.end(); ++it) { // LOOP depth=1
        use(*it);
        s++;
    }
    return s;
}

template <class F> void for_each(int n, F f)
{
    for (int i = 0; i < n; i++) // LOOP depth=1
        f(i);
}

void lambda(double *a, int n)
{
    for_each(n, [=](int i) { a[i] = work(i); });
}

void lambda_with_loop(double *a, int n, int m)
{
    for_each(n, [=](int i) {
        for (int j = 0; j < m; j++) // LOOP depth=1
            a[i * m + j] = work(j);
    });
}

void lambda_in_loop(double *a, int n, int m)
{
    for (int k = 0; k < m; k++) { // LOOP depth=1
        auto f = [&](int i) { a[i] += work(k); };
        for (int i = 0; i < n; i++) // LOOP depth=2
            f(i);
    }
}

struct guard {
    int v;
    explicit guard(int x) : v(x) { use(x); }
    ~guard() { use(-v); }
};

int with_cleanup(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { // LOOP depth=1
        guard g(i);
        s += work(i);
    }
    return s;
}

int with_try(int n)
{
    int s = 0;
    while (n > 0) { // LOOP depth=1
        try {
            s += work(n);
        } catch (int e) {
            s -= e;
        }
        n--;
    }
    return s;
}

template <int N> int unrolled(const int *a)
{
    int s = 0;
    for (int i = 0; i < N; i++) // LOOP depth=1
        s += work(a[i]);
    return s;
}

template int unrolled<100>(const int *);

class matrix {
    int n;
    double *a;

  public:
    double trace() const;
    void scale(double f);
    double operator()(int i, int j) const { return a[i * n + j]; }
    double total() const;
};

double matrix::trace() const
{
    double s = 0;
    for (int i = 0; i < n; i++) // LOOP depth=1
        s += (*this)(i, i);
    return s;
}

void matrix::scale(double f)
{
    for (int i = 0; i < n; i++)     // LOOP depth=1
        for (int j = 0; j < n; j++) // LOOP depth=2
            a[i * n + j] *= f * work(j);
}

double matrix::total() const
{
    double s = 0;
    for (int i = 0; i < n; i++)     // LOOP depth=1
        for (int j = 0; j < n; j++) // LOOP depth=2
            s += (*this)(i, j);
    return s;
}

} // namespace shapes
