// Deep call paths: an expression tree that is evaluated recursively through templates and virtual calls, and maps of strings.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct node {
    virtual ~node() = default;
    virtual double value(const std::map<std::string, double> &at) const = 0;
};
struct name : node {
    std::string text;
    explicit name(std::string t) : text(std::move(t)) {}
    double value(const std::map<std::string, double> &at) const override { return at.at(text); }
};
template <class Operation> struct pair : node {
    std::unique_ptr<node> left, right;
    pair(std::unique_ptr<node> l, std::unique_ptr<node> r) : left(std::move(l)), right(std::move(r)) {}
    double value(const std::map<std::string, double> &at) const override { return Operation()(left->value(at), right->value(at)); }
};

static std::unique_ptr<node> grow(int depth, unsigned &seed)
{
    seed = seed * 1664525 + 1013904223;
    if (depth == 0)
        return std::make_unique<name>("variable number " + std::to_string(seed >> 28));
    if (depth > 5) { // a long chain to the left
        auto left = grow(depth - 1, seed);
        return std::make_unique<pair<std::plus<double>>>(std::move(left), grow(0, seed));
    }
    auto left = grow(depth - 1, seed);
    return seed >> 31 ? std::unique_ptr<node>(new pair<std::plus<double>>(std::move(left), grow(depth - 1, seed)))
                      : std::unique_ptr<node>(new pair<std::multiplies<double>>(std::move(left), grow(depth - 1, seed)));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60000;
    unsigned seed = 1;
    std::unique_ptr<node> root = grow(60, seed);
    std::map<std::string, double> at;
    for (int i = 0; i < 16; i++)
        at["variable number " + std::to_string(i)] = 0.5 + i / 32.0;
    double sum = 0;
    for (int i = 0; i < rounds; i++) {
        at["variable number 3"] = i * 1e-6;
        sum += root->value(at);
    }
    std::printf("%g\n", sum);
}
// SPDX-License-Identifier: BSD-3-Clause
