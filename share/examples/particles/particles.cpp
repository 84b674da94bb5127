// Particles that repel each other in a periodic box (velocity Verlet), with everything small in templates.
//
//     particles [PARTICLES-PER-SIDE [STEPS]]
//
// Energy and momentum are kept by the equations of motion, so that the result can be checked.
#include "cells.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace
{

using real = double;
using point = vec<real, 3>;

struct state {
    std::vector<point> where, speed, force;
    real potential = 0;
};

// A soft sphere: energy (1 - r)^3 / 3 up to r = 1, nothing beyond. The force fades smoothly, so energy drifts little.
struct soft_sphere {
    static constexpr real reach = 1;
    static real energy(real r)
    {
        return (1 - r) * (1 - r) * (1 - r) / 3;
    }
    static real push(real r)
    {
        return (1 - r) * (1 - r);
    }
};

template <typename Law> void find_forces(state &s, cells<real> &box)
{
    box.sort(s.where);
    std::fill(s.force.begin(), s.force.end(), point{});
    s.potential = 0;
    box.each_pair([&](std::uint32_t i, std::uint32_t j) {
        point d = box.apart(s.where[i], s.where[j]);
        real r2 = dot(d, d);
        if (r2 >= Law::reach * Law::reach || r2 == 0)
            return;
        real r = std::sqrt(r2);
        point f = (Law::push(r) / r) * d;
        s.force[i] += f;
        s.force[j] -= f;
        s.potential += Law::energy(r);
    });
}

state initial_state(int side, real spacing)
{
    std::mt19937 random(1);
    state s;
    // not uniform_real_distribution: the standard leaves its numbers to the library
    auto uniform = [&] { return random() / 4294967296.0 - 0.5; };
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                s.where.push_back(spacing * point{{{x + 0.2 * uniform(), y + 0.2 * uniform(), z + 0.2 * uniform()}}});
                s.speed.push_back(point{{{uniform(), uniform(), uniform()}}});
            }
    // As in memory after many steps: neighbours in the box are not neighbours in the arrays.
    for (std::size_t i = s.where.size() - 1; i > 0; i--)
        std::swap(s.where[i], s.where[random() % (i + 1)]);
    s.force.resize(s.where.size());
    return s;
}

template <typename Law> void step(state &s, cells<real> &box, real dt)
{
    auto kick = [&] {
        for (std::size_t i = 0; i < s.speed.size(); i++)
            s.speed[i] += (dt / 2) * s.force[i];
    };
    kick();
    for (std::size_t i = 0; i < s.where.size(); i++)
        s.where[i] += dt * s.speed[i];
    find_forces<Law>(s, box);
    kick();
}

real kinetic(const state &s)
{
    return std::accumulate(s.speed.begin(), s.speed.end(), real{},
                           [](real sum, const point &v) { return sum + dot(v, v) / 2; });
}

real momentum(const state &s)
{
    point p = std::accumulate(s.speed.begin(), s.speed.end(), point{});
    return std::sqrt(dot(p, p));
}

} // namespace

int main(int argc, char **argv)
{
    int side = argc > 1 ? std::atoi(argv[1]) : 32, steps = argc > 2 ? std::atoi(argv[2]) : 30;
    if (side < 6 || side > 500 || steps < 1 || argc > 3) {
        std::fprintf(stderr, "usage: particles [PARTICLES-PER-SIDE [STEPS]]\n");
        return 2;
    }
    const real spacing = 0.6;
    state s = initial_state(side, spacing);
    cells<real> box(side * spacing, soft_sphere::reach);
    find_forces<soft_sphere>(s, box);
    real energy = kinetic(s) + s.potential, push = momentum(s);
    for (int i = 0; i < steps; i++)
        step<soft_sphere>(s, box, 0.005);
    real drift = std::fabs((kinetic(s) + s.potential) / energy - 1), drift_p = std::fabs(momentum(s) - push);
    std::printf("%zu particles, %d steps, energy %.6f\n", s.where.size(), steps, kinetic(s) + s.potential);
    std::printf("energy drift %.1e, momentum drift %.1e\n", drift, drift_p);
    if (!(drift < 1e-3 && drift_p < 1e-6)) {
        std::fprintf(stderr, "particles: the result is wrong\n");
        return 1;
    }
    return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
