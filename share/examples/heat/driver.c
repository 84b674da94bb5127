/*
 * Heat conduction in a plate, on an unstructured mesh.
 *
 *     heat [NODES-PER-SIDE [STEPS]]
 *
 * The unit square is cut into triangles with jittered corners, numbered at random, as a mesh is that was refined
 * and never renumbered. The rim is kept at 0; the plate begins as sin(pi x) sin(pi y), which cools by
 * exp(-2 pi^2 t) without changing its shape, so that the result can be checked.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct mesh {
    int nodes, triangles;
    int (*corners)[3]; /* counting from 1, as Fortran does */
    double (*xy)[2];
    int *on_rim;
};

void heat_run(int nodes, int triangles, const int (*corners)[3], const double (*xy)[2], const int *on_rim, int steps,
              double dt, double *temperature, int *iterations, double *residual);

static const double pi = 3.14159265358979323846;

/* xorshift64: the same numbers everywhere, so that every run of the same size does the same work. */
static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double next_uniform(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        fprintf(stderr, "heat: out of memory\n");
        exit(1);
    }
    return p;
}

/* number[i] is the place of the i-th node of the grid in the mesh: 1 to n, shuffled. */
static int *random_numbering(int n)
{
    int *number = allocate((size_t)n, sizeof *number);
    for (int i = 0; i < n; i++)
        number[i] = i + 1;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next_random() % (uint64_t)(i + 1)), kept = number[i];
        number[i] = number[j];
        number[j] = kept;
    }
    return number;
}

static void place_nodes(struct mesh *m, const int *number, int side)
{
    double h = 1.0 / (side - 1);
    for (int row = 0; row < side; row++)
        for (int column = 0; column < side; column++) {
            int node = number[row * side + column] - 1;
            m->on_rim[node] = row == 0 || row == side - 1 || column == 0 || column == side - 1;
            double jitter = m->on_rim[node] ? 0 : 0.4 * h;
            m->xy[node][0] = column * h + jitter * (next_uniform() - 0.5);
            m->xy[node][1] = row * h + jitter * (next_uniform() - 0.5);
        }
}

static void add_triangle(struct mesh *m, int a, int b, int c)
{
    int *corner = m->corners[m->triangles++];
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

/* Each cell of the grid becomes two triangles, cut along one diagonal or the other. */
static void cut_cells(struct mesh *m, const int *number, int side)
{
    for (int row = 0; row + 1 < side; row++)
        for (int column = 0; column + 1 < side; column++) {
            const int *low = number + row * side + column, *high = low + side;
            if (next_random() & 1024) {
                add_triangle(m, low[0], low[1], high[1]);
                add_triangle(m, low[0], high[1], high[0]);
            } else {
                add_triangle(m, low[0], low[1], high[0]);
                add_triangle(m, low[1], high[1], high[0]);
            }
        }
}

static struct mesh mesh_create(int side)
{
    struct mesh m = {.nodes = side * side};
    m.corners = allocate(2 * (size_t)(side - 1) * (size_t)(side - 1), sizeof *m.corners);
    m.xy = allocate((size_t)m.nodes, sizeof *m.xy);
    m.on_rim = allocate((size_t)m.nodes, sizeof *m.on_rim);
    int *number = random_numbering(m.nodes);
    place_nodes(&m, number, side);
    cut_cells(&m, number, side);
    free(number);
    return m;
}

static void mesh_release(struct mesh *m)
{
    free(m->corners);
    free(m->xy);
    free(m->on_rim);
}

static double *initial_temperature(const struct mesh *m)
{
    double *t = allocate((size_t)m->nodes, sizeof *t);
    for (int i = 0; i < m->nodes; i++)
        t[i] = m->on_rim[i] ? 0 : sin(pi * m->xy[i][0]) * sin(pi * m->xy[i][1]);
    return t;
}

/* The largest deviation from the exact solution of the time-discrete problem: each step divides by 1 + 2 pi^2 dt. */
static double largest_error(const struct mesh *m, const double *temperature, double factor)
{
    double largest = 0;
    for (int i = 0; i < m->nodes; i++) {
        double exact = factor * sin(pi * m->xy[i][0]) * sin(pi * m->xy[i][1]);
        largest = fmax(largest, fabs(temperature[i] - exact));
    }
    return largest;
}

static double maximum(const double *values, int n)
{
    double largest = values[0];
    for (int i = 1; i < n; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 3;
    const double dt = 0.001;
    if (side < 3 || side > 20000 || steps < 1 || argc > 3) {
        fprintf(stderr, "usage: heat [NODES-PER-SIDE [STEPS]]\n");
        return 2;
    }

    struct mesh mesh = mesh_create(side);
    double *temperature = initial_temperature(&mesh);
    int iterations;
    double residual;
    heat_run(mesh.nodes, mesh.triangles, (const int(*)[3])mesh.corners, (const double(*)[2])mesh.xy, mesh.on_rim, steps,
             dt, temperature, &iterations, &residual);

    double error = largest_error(&mesh, temperature, pow(1 + 2 * pi * pi * dt, -steps));
    printf("%d nodes, %d triangles, %d steps, %d iterations\n", mesh.nodes, mesh.triangles, steps, iterations);
    printf("residual %.1e, highest temperature %.6f, largest error %.1e\n", residual, maximum(temperature, mesh.nodes),
           error);
    free(temperature);
    mesh_release(&mesh);
    if (!(error < 0.5 / side)) {
        fprintf(stderr, "heat: the result is wrong\n");
        return 1;
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
