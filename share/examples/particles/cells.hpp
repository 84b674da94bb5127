// Particles sorted into the cells of a periodic box, so that neighbours are found without looking at all pairs.
#pragma once
#include "vec.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

template <typename T> class cells
{
  public:
    using point = vec<T, 3>;

    cells(T box, T reach) : box_(box), side_(static_cast<int>(box / reach))
    {
    }

    // Group the particles by cell; order()[start(c)] .. order()[start(c + 1) - 1] are those of cell c.
    void sort(const std::vector<point> &where)
    {
        key_.resize(where.size());
        order_.resize(where.size());
        std::transform(where.begin(), where.end(), key_.begin(), [this](const point &p) { return cell_of(p); });
        std::iota(order_.begin(), order_.end(), 0u);
        std::sort(order_.begin(), order_.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return key_[a] != key_[b] ? key_[a] < key_[b] : a < b; });
        start_.assign(static_cast<std::size_t>(count()) + 1, 0);
        for (std::uint32_t k : key_)
            start_[k + 1]++;
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
    }

    // Call visit(i, j) once for every pair of particles in the same or in neighbouring cells.
    template <typename F> void each_pair(F visit) const
    {
        for (int c = 0; c < count(); c++)
            for (int dz = -1; dz <= 1; dz++)
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        int other = neighbour(c, dx, dy, dz);
                        if (other >= c)
                            pairs_between(c, other, visit);
                    }
    }

    // The shortest way from one image of b to a.
    point apart(const point &a, const point &b) const
    {
        point d = a - b;
        for (T &x : d.c)
            x -= box_ * std::round(x / box_);
        return d;
    }

  private:
    int count() const
    {
        return side_ * side_ * side_;
    }

    std::uint32_t cell_of(const point &p) const
    {
        auto at = [this](T x) {
            return std::min(side_ - 1, static_cast<int>((x / box_ - std::floor(x / box_)) * side_));
        };
        return static_cast<std::uint32_t>((at(p[2]) * side_ + at(p[1])) * side_ + at(p[0]));
    }

    int neighbour(int c, int dx, int dy, int dz) const
    {
        auto wrap = [this](int i) { return (i + side_) % side_; };
        return (wrap(c / side_ / side_ + dz) * side_ + wrap(c / side_ % side_ + dy)) * side_ + wrap(c % side_ + dx);
    }

    template <typename F> void pairs_between(int c, int other, F visit) const
    {
        for (std::uint32_t i = start_[c]; i < start_[c + 1]; i++)
            for (std::uint32_t j = other == c ? i + 1 : start_[other]; j < start_[other + 1]; j++)
                visit(order_[i], order_[j]);
    }

    T box_;
    int side_;
    std::vector<std::uint32_t> key_, order_, start_;
};
