/*
 * Waves on a square drum, with OpenMP.
 *
 *     wave [POINTS-PER-SIDE [STEPS]]
 *
 * The drum begins in one of its own modes, which then swings as a cosine, so that the result can be checked.
 * OMP_NUM_THREADS sets the number of threads, as always.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct drum {
    int side;
    double *before, *now, *next; /* side x side heights; the rim stays at 0 */
};

static const double pi = 3.14159265358979323846;

static double *heights(int side)
{
    double *h = calloc((size_t)side * (size_t)side, sizeof *h);
    if (!h) {
        fprintf(stderr, "wave: out of memory\n");
        exit(1);
    }
    return h;
}

/* The mode with 2 x 3 half waves, at phase 0 now and at -phase one step ago. */
static void strike(struct drum *d, double phase)
{
    int n = d->side;
#pragma omp parallel for
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            double shape = sin(2 * pi * x / (n - 1)) * sin(3 * pi * y / (n - 1));
            d->now[y * n + x] = shape;
            d->before[y * n + x] = shape * cos(phase);
        }
}

static void step(struct drum *d, double courant2)
{
    int n = d->side;
    const double *restrict now = d->now, *restrict before = d->before;
    double *restrict next = d->next;
#pragma omp parallel for schedule(static)
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            int i = y * n + x;
            double pull = now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i];
            next[i] = 2 * now[i] - before[i] + courant2 * pull;
        }
    double *free_one = d->before;
    d->before = d->now;
    d->now = d->next;
    d->next = free_one;
}

static double largest_height(const struct drum *d)
{
    double largest = 0;
    int n = d->side * d->side;
#pragma omp parallel for reduction(max : largest)
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(d->now[i]));
    return largest;
}

static double largest_error(const struct drum *d, double factor)
{
    double largest = 0;
    int n = d->side;
#pragma omp parallel for reduction(max : largest)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double exact = factor * sin(2 * pi * x / (n - 1)) * sin(3 * pi * y / (n - 1));
            largest = fmax(largest, fabs(d->now[y * n + x] - exact));
        }
    return largest;
}

/* The phase one step adds to the mode, on the grid: cos(phase) = 1 - courant2 (2 - cos kx - cos ky). */
static double phase_of_step(int side, double courant2)
{
    return acos(1 - courant2 * (2 - cos(2 * pi / (side - 1)) - cos(3 * pi / (side - 1))));
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 1500, steps = argc > 2 ? atoi(argv[2]) : 600;
    if (side < 10 || side > 30000 || steps < 1 || argc > 3) {
        fprintf(stderr, "usage: wave [POINTS-PER-SIDE [STEPS]]\n");
        return 2;
    }
    const double courant2 = 0.4;
    double phase = phase_of_step(side, courant2);
    struct drum d = {side, heights(side), heights(side), heights(side)};
    double highest = 0;
    strike(&d, phase);
    for (int i = 0; i < steps; i++) {
        step(&d, courant2);
        if (i % 50 == 0)
            highest = fmax(highest, largest_height(&d));
    }
    double error = largest_error(&d, cos(steps * phase));
    printf("%d x %d points, %d steps, at most %d threads\n", side, side, steps, omp_get_max_threads());
    printf("highest %.6f, largest error %.1e\n", highest, error);
    free(d.before);
    free(d.now);
    free(d.next);
    if (!(error < 1e-6)) {
        fprintf(stderr, "wave: the result is wrong\n");
        return 1;
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
