/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads and progress. */
#include "support/support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct job {
    atomic_size_t next;
    size_t count;
    void (*work)(void *ctx, size_t i);
    void *ctx;
};

static void *worker(void *arg)
{
    struct job *job = arg;
    for (;;) {
        size_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->count)
            return NULL;
        job->work(job->ctx, i);
    }
}

unsigned parallel_default(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

void parallel_for(size_t n, unsigned threads, void (*work)(void *ctx, size_t i), void *ctx)
{
    enum { MOST = 256 };
    pthread_t handles[MOST];
    struct job job = {0, n, work, ctx};
    unsigned started = 0;
    if (threads == 0)
        threads = parallel_default();
    if (threads > MOST)
        threads = MOST;
    /* A thread that cannot be started is one helper less: the caller's own does the work in any case. */
    while (started + 1 < threads && started + 1 < n && pthread_create(&handles[started], NULL, worker, &job) == 0)
        started++;
    worker(&job);
    for (unsigned i = 0; i < started; i++)
        pthread_join(handles[i], NULL);
}

void progress_report(const struct progress *p, const char *what, uint64_t done, uint64_t total)
{
    if (p && p->report)
        p->report(p->ctx, what, done, total);
}
