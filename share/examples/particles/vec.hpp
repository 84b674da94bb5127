// Small vectors of fixed length: everything here is inlined away.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

template <typename T, std::size_t N> struct vec {
    std::array<T, N> c{};

    T &operator[](std::size_t i)
    {
        return c[i];
    }
    const T &operator[](std::size_t i) const
    {
        return c[i];
    }

    vec &operator+=(const vec &o)
    {
        return combine(o, [](T a, T b) { return a + b; });
    }
    vec &operator-=(const vec &o)
    {
        return combine(o, [](T a, T b) { return a - b; });
    }
    friend vec operator+(vec a, const vec &b)
    {
        return a += b;
    }
    friend vec operator-(vec a, const vec &b)
    {
        return a -= b;
    }
    friend vec operator*(T s, vec a)
    {
        for (T &x : a.c)
            x *= s;
        return a;
    }

  private:
    template <typename F> vec &combine(const vec &o, F f)
    {
        for (std::size_t i = 0; i < N; i++)
            c[i] = f(c[i], o.c[i]);
        return *this;
    }
};

template <typename T, std::size_t N> T dot(const vec<T, N> &a, const vec<T, N> &b)
{
    T sum{};
    for (std::size_t i = 0; i < N; i++)
        sum += a[i] * b[i];
    return sum;
}
