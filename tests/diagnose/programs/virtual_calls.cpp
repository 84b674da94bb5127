/* planted: CallsInLoop; by: record; flags: -O2. A virtual function for each element, of classes that are mixed. */
#include <cstdio>
#include <memory>
#include <vector>
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};
struct Circle : Shape {
    double radius;
    explicit Circle(double r) : radius(r) {}
    double area() const override { return 3.14159 * radius * radius; }
};
int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    unsigned r = 1;
    for (int i = 0; i < 20000; i++) {
        r = r * 1664525 + 1013904223;
        if (r >> 31)
            shapes.push_back(std::make_unique<Square>(i));
        else
            shapes.push_back(std::make_unique<Circle>(i));
    }
    double sum = 0;
    for (int k = 0; k < 3000; k++)
        for (const auto &s : shapes) /* HERE */
            sum += s->area();
    std::printf("%g\n", sum);
}
// SPDX-License-Identifier: BSD-3-Clause
