/* Every barrier of OpenMP, N threads with planned arrivals: openmp [THREADS [EPISODES [STEP_MS]]]. */
#include "planned.h"

#include <omp.h>

static struct plan explicit_one = {.name = "barrier"}, loop = {.name = "for"}, dynamic = {.name = "dynamic"},
                   sections = {.name = "sections"}, single = {.name = "single"}, join = {.name = "join"};
static int threads = 4, episodes = 3;
static double step = 2;

static void prepare(struct plan *p)
{
    p->threads = threads;
    p->episodes = episodes;
}

static void late(struct plan *p, int e, int place)
{
    plan_sleep(1 + place * step);
    plan_arrive(p, e, omp_get_thread_num());
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : threads;
    episodes = argc > 2 ? atoi(argv[2]) : episodes;
    step = argc > 3 ? atof(argv[3]) : step;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    prepare(&explicit_one), prepare(&loop), prepare(&dynamic), prepare(&sections), prepare(&single), prepare(&join);
    for (int e = 0; e < episodes; e++) {
#pragma omp parallel
        {
            int me = omp_get_thread_num(), others = threads - 1 - me;
            late(&explicit_one, e, me);
#pragma omp barrier              /* BARRIER */
#pragma omp for schedule(static) /* FOR */
            for (int i = 0; i < threads; i++)
                late(&loop, e, others);
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < threads; i++)
                plan_sleep(0.1);
            late(&dynamic, e, me);
#pragma omp barrier  /* DYNAMIC */
#pragma omp sections /* SECTIONS */
            {
#pragma omp section
                plan_sleep(1);
#pragma omp section
                plan_sleep(1);
            }
#pragma omp single nowait
            plan_sleep(1);
            late(&single, e, others);
#pragma omp barrier /* SINGLE */
            late(&join, e, me);
        }
    }
    plan_end(&explicit_one);
    plan_end(&loop);
    plan_end(&dynamic);
    plan_end(&single);
    plan_end(&join);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
