/*
 * Planned arrivals: thread i works (1 + i x step) ms before each barrier, the last one longest, and records its arrival
 * by its own clock. plan_end prints the times at the barriers, for comparison with the recording:
 *
 *     NAME EPISODES THREADS BARRIER_MS IDLE_MS PHASE_MS LAST
 *     order NAME EPISODE THREAD@MS THREAD@MS ...               in order of arrival
 *
 * PHASE_MS is 0 if the program does not know the starts of the phases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PLAN_EPISODES = 1000, PLAN_THREADS = 64 };

struct plan {
    const char *name;
    int threads, episodes;
    double begun[PLAN_EPISODES]; /* of its phases, ms */
    double at[PLAN_EPISODES][PLAN_THREADS];
};

static inline double plan_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline void plan_sleep(double ms)
{
    struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};
    nanosleep(&t, NULL);
}

/* The last act before the barrier. */
static inline void plan_arrive(struct plan *p, int episode, int thread)
{
    p->at[episode][thread] = plan_now();
}

static inline double plan_last(const struct plan *p, int episode)
{
    double last = 0;
    for (int i = 0; i < p->threads; i++)
        last = p->at[episode][i] > last ? p->at[episode][i] : last;
    return last;
}

static inline void plan_say_order(const struct plan *p, int episode)
{
    int order[PLAN_THREADS];
    for (int i = 0; i < p->threads; i++) {
        int k = i;
        for (; k > 0 && p->at[episode][order[k - 1]] > p->at[episode][i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    printf("order %s %d", p->name, episode + 1);
    for (int i = 0; i < p->threads; i++)
        printf(" %d@%.3f", order[i], p->at[episode][order[i]]);
    putchar('\n');
}

static inline void plan_end(const struct plan *p)
{
    double barrier = 0, idle = 0, phase = 0;
    int last_count[PLAN_THREADS] = {0}, most = 0;
    for (int e = 0; e < p->episodes; e++) {
        int first = 0, last = 0;
        for (int i = 0; i < p->threads; i++) {
            first = p->at[e][i] < p->at[e][first] ? i : first;
            last = p->at[e][i] > p->at[e][last] ? i : last;
        }
        for (int i = 0; i < p->threads; i++)
            idle += p->at[e][last] - p->at[e][i];
        barrier += p->at[e][last] - p->at[e][first];
        phase += p->begun[e] > 0 ? p->at[e][last] - p->begun[e] : 0;
        last_count[last]++;
    }
    for (int i = 0; i < p->threads; i++)
        most = last_count[i] > last_count[most] ? i : most;
    printf("%s %d %d %.3f %.3f %.3f %d\n", p->name, p->episodes, p->threads, barrier, idle, phase, most);
    for (int e = 0; e < p->episodes; e++)
        plan_say_order(p, e);
}
/* SPDX-License-Identifier: BSD-3-Clause */
