/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks by MPI: `mpirun -n 8 hpcview build ...`, if configured --with-mpi. Without it there is one process, and this
 * file is empty.
 *
 * Waiting ranks sleep between polls instead of spinning, as there may be more ranks than processors.
 */
#include "config.h"
#include "driver/driver.h"

#ifdef HAVE_MPI

#include <mpi.h>
#include <time.h>

enum {
    PIECE = 1 << 30,   /* MPI counts in int */
    SHORTEST = 20000,  /* ns of sleep between two looks */
    LONGEST = 2000000, /* the same, once it takes long */
    PATIENCE = 10      /* seconds that a failed rank waits for the others to fail alike */
};

struct pause {
    long ns;
};

static void sleep_longer(struct pause *p)
{
    p->ns = p->ns == 0 ? SHORTEST : p->ns < LONGEST / 2 ? 2 * p->ns : LONGEST;
    nanosleep(&(struct timespec){0, p->ns}, NULL);
}

static void finish(MPI_Request *request)
{
    struct pause pause = {0};
    int done = 0;
    for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE))
        sleep_longer(&pause);
}

static void send_piece(const void *bytes, size_t len, unsigned to)
{
    MPI_Request request;
    MPI_Isend(bytes, (int)len, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD, &request);
    finish(&request);
}

static void receive_piece(void *bytes, size_t len, unsigned from)
{
    MPI_Request request;
    MPI_Irecv(bytes, (int)len, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, &request);
    finish(&request);
}

static int send_bytes(void *ctx, unsigned to, const void *bytes, size_t len, struct err *err)
{
    uint64_t size = len;
    (void)ctx;
    (void)err; /* MPI ends all ranks where it fails */
    send_piece(&size, sizeof size, to);
    for (size_t at = 0, n; at < len; at += n) {
        n = len - at < PIECE ? len - at : PIECE;
        send_piece((const char *)bytes + at, n, to);
    }
    return 0;
}

static int receive_bytes(void *ctx, unsigned from, struct buf *into, struct err *err)
{
    uint64_t size = 0;
    (void)ctx;
    (void)err;
    receive_piece(&size, sizeof size, from);
    char *bytes = mem_alloc(size + 1);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        receive_piece(bytes + at, n, from);
    }
    buf_add(into, bytes, size);
    mem_free(bytes);
    return 0;
}

static struct ranks ranks = {.count = 1, .send = send_bytes, .receive = receive_bytes};
static bool begun;

const struct ranks *driver_ranks_begin(void)
{
    int me = 0, count = 1, threads;
    if (!begun) {
        begun = true;
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads);
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        MPI_Comm_size(MPI_COMM_WORLD, &count);
        ranks.me = (unsigned)me;
        ranks.count = (unsigned)count;
    }
    return ranks.count > 1 ? &ranks : NULL;
}

bool driver_ranks_begun(struct warnings *w)
{
    (void)w;
    return true;
}

bool driver_ranks_speak(void)
{
    return ranks.me == 0;
}

/* Usually all fail alike, and the first one has reported it. A rank that fails alone reports it too, and ends the
   others, which would wait for it. */
bool driver_ranks_end(bool failed)
{
    double start = time_seconds();
    struct pause pause = {0};
    MPI_Request request;
    int done = 0;
    if (!begun)
        return true;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
        sleep_longer(&pause);
        if (failed && time_seconds() - start > PATIENCE)
            return false;
    }
    MPI_Finalize();
    begun = false;
    return true;
}

void driver_ranks_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

#else

#include "hpcprof/hpcprof.h"

const struct ranks *driver_ranks_begin(void)
{
    return NULL;
}

bool driver_ranks_begun(struct warnings *w)
{
    if (hpcprof_own_rank() == 0 && hpcprof_own_ranks() > 1)
        warnings_add(w,
                     "this hpcview was built without MPI (configure --with-mpi): of the %d ranks, the first one builds "
                     "the database alone",
                     hpcprof_own_ranks());
    return hpcprof_own_rank() <= 0;
}

bool driver_ranks_speak(void)
{
    return true;
}

bool driver_ranks_end(bool failed)
{
    (void)failed;
    return true;
}

void driver_ranks_abort(int status)
{
    (void)status;
}

#endif
