// SPDX-License-Identifier: BSD-3-Clause
// Loops of C++ for tests/quality/quality.sh, as in loops.c: what templates, iterators, references and members of classes
// make of them.
#include <array>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

struct point {
    double x, y, z;
};
struct shape {
    virtual double area() const = 0;
    virtual ~shape() {}
};
struct grid {
    std::size_t n;
    double *at, step;
    void grow();
};

// iterators and a lambda are gone at -O2: a sum
double accumulated(const std::vector<double> &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0);
}
// a field of a structure: one number of three
double field(const std::vector<point> &v)
{
    double s = 0;
    for (const point &p : v)
        s += p.x;
    return s;
}
// at() checks its index
double checked(const std::vector<double> &v, std::size_t n)
{
    double s = 0;
    for (std::size_t i = 0; i < n; i++)
        s += v.at(i);
    return s;
}
// a call through a table of functions
double virtual_calls(const std::vector<shape *> &v)
{
    double s = 0;
    for (const shape *p : v)
        s += p->area();
    return s;
}
// members of *this: what is stored might be the step
void grid::grow()
{
    for (std::size_t i = 0; i < n; i++)
        at[i] *= step;
}
// the length is known when compiling, and the work for each element too
template <class T, class F> static void apply(T *a, const T *b, std::size_t n, F f)
{
    for (std::size_t i = 0; i < n; i++)
        a[i] = f(b[i]);
}
void squared(double *__restrict a, const double *__restrict b, std::size_t n)
{
    apply(a, b, n, [](double x) { return x * x; });
}
void halved(float *__restrict a, const float *__restrict b, std::size_t n)
{
    apply(a, b, n, [](float x) { return x / 3; });
}
double nested(const std::vector<std::vector<double>> &v, std::size_t j)
{
    double s = 0;
    for (std::size_t i = 0; i < v.size(); i++)
        s += v[i][j];
    return s;
}
