/*
 * Molecules that attract each other, by threads, in the manner of SPLASH-2's water: of the five phases of a step, each ended
 * by a barrier, two take nearly all the time: the forces between all pairs, and the potential energy.
 *
 *     water [THREADS [MOLECULES [STEPS]]]
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MOST = 64, MOLECULES_MOST = 20000 };

static double at[MOLECULES_MOST][3], speed[MOLECULES_MOST][3], force[MOLECULES_MOST][3], energy[THREADS_MOST], total;
static int molecules = 1500, steps = 3, threads = 4;
static pthread_barrier_t predicted, forces_done, corrected, energy_done, summed;

static double distance2(int i, int j, double d[3])
{
    double r = 0.01;
    for (int k = 0; k < 3; k++) {
        d[k] = at[j][k] - at[i][k];
        r += d[k] * d[k];
    }
    return r;
}

/* Only pairs (i, j > i), as in the original: the thread with the first molecules has the most pairs. */
static void pairs(int begin, int end, double *sum)
{
    double d[3];
    for (int i = begin; i < end; i++)
        for (int j = i + 1; j < molecules; j++)
            *sum -= 1 / sqrt(distance2(i, j, d));
}

static void forces(int begin, int end)
{
    double d[3];
    for (int i = begin; i < end; i++)
        for (int j = 0; j < molecules; j++) {
            double r = distance2(i, j, d), f = 1 / (r * sqrt(r));
            for (int k = 0; k < 3; k++)
                force[i][k] += f * d[k];
        }
}

static void *work(void *arg)
{
    int me = (int)(size_t)arg, begin = molecules * me / threads, end = molecules * (me + 1) / threads;
    for (int s = 0; s < steps; s++) {
        for (int i = begin; i < end; i++)
            for (int k = 0; k < 3; k++) {
                at[i][k] += speed[i][k] * 1e-4;
                force[i][k] = 0;
            }
        pthread_barrier_wait(&predicted); /* PREDICTED */
        forces(begin, end);
        pthread_barrier_wait(&forces_done); /* FORCES */
        for (int i = begin; i < end; i++)
            for (int k = 0; k < 3; k++)
                speed[i][k] += force[i][k] * 1e-4;
        pthread_barrier_wait(&corrected); /* CORRECTED */
        energy[me] = 0;
        pairs(begin, end, &energy[me]);
        pthread_barrier_wait(&energy_done); /* ENERGY */
        for (int i = 0; me == 0 && i < threads; i++)
            total += energy[i];
        pthread_barrier_wait(&summed); /* SUMMED */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[THREADS_MOST];
    unsigned seed = 1;
    threads = argc > 1 ? atoi(argv[1]) : threads;
    molecules = argc > 2 ? atoi(argv[2]) : molecules;
    steps = argc > 3 ? atoi(argv[3]) : steps;
    if (threads < 1 || threads > THREADS_MOST || molecules < 1 || molecules > MOLECULES_MOST)
        return 1;
    for (int i = 0; i < molecules; i++)
        for (int k = 0; k < 3; k++)
            at[i][k] = (double)((seed = seed * 1664525 + 1013904223) >> 8) / (1 << 24);
    pthread_barrier_init(&predicted, NULL, (unsigned)threads);
    pthread_barrier_init(&forces_done, NULL, (unsigned)threads);
    pthread_barrier_init(&corrected, NULL, (unsigned)threads);
    pthread_barrier_init(&energy_done, NULL, (unsigned)threads);
    pthread_barrier_init(&summed, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, (void *)(size_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    printf("%d molecules, %d steps: %.6f\n", molecules, steps, total);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
