/* Writes through io_uring, using only system calls, with and without a kernel thread that polls the queue. Exits with
   125 if the kernel does not support it. */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES = 8, ROUNDS = 2000 };

struct ring {
    int fd;
    unsigned flags, *tail, *mask, *array, *wakeup, *done_head, *done_tail, *done_mask;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *done;
};

static int open_ring(struct ring *r, unsigned flags)
{
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    p.flags = flags;
    p.sq_thread_idle = 50;
    r->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
    if (r->fd < 0)
        return -1;
    size_t sq_size = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq_size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    char *sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
    r->entries =
        mmap(NULL, p.sq_entries * sizeof *r->entries, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || r->entries == MAP_FAILED)
        return -1;
    r->flags = flags;
    r->tail = (unsigned *)(sq + p.sq_off.tail);
    r->mask = (unsigned *)(sq + p.sq_off.ring_mask);
    r->array = (unsigned *)(sq + p.sq_off.array);
    r->wakeup = (unsigned *)(sq + p.sq_off.flags);
    r->done_head = (unsigned *)(cq + p.cq_off.head);
    r->done_tail = (unsigned *)(cq + p.cq_off.tail);
    r->done_mask = (unsigned *)(cq + p.cq_off.ring_mask);
    r->done = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    return 0;
}

/* The result of one entry, awaited. */
static int through(struct ring *r, int op, int fd, const void *text, unsigned size)
{
    unsigned tail = *r->tail, at = tail & *r->mask, head = *r->done_head;
    struct io_uring_sqe *e = &r->entries[at];
    memset(e, 0, sizeof *e);
    e->opcode = (unsigned char)op;
    e->fd = fd;
    e->addr = (unsigned long)text;
    e->len = size;
    e->off = (unsigned long long)-1;
    r->array[at] = at;
    __atomic_store_n(r->tail, tail + 1, __ATOMIC_SEQ_CST);
    unsigned flags = IORING_ENTER_GETEVENTS;
    if (__atomic_load_n(r->wakeup, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
        flags |= IORING_ENTER_SQ_WAKEUP;
    while (__atomic_load_n(r->done_tail, __ATOMIC_ACQUIRE) == head)
        syscall(SYS_io_uring_enter, r->fd, r->flags & IORING_SETUP_SQPOLL ? 0 : 1, 1, flags, NULL, 0);
    int result = r->done[head & *r->done_mask].res;
    __atomic_store_n(r->done_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

static int go(unsigned flags, const char *text)
{
    struct ring r;
    if (open_ring(&r, flags) != 0)
        return 125;
    for (int i = 0; i < ROUNDS; i++)
        if (through(&r, IORING_OP_NOP, -1, NULL, 0) != 0)
            return 2;
    int n = (int)strlen(text);
    return through(&r, IORING_OP_WRITE, 1, text, (unsigned)n) == n ? close(r.fd) : 2;
}

int main(void)
{
    int status = go(0, "written through a ring\n");
    if (status == 0)
        status = go(IORING_SETUP_SQPOLL, "and through a polled one\n");
    return status != 0 ? status : 4;
}
/* SPDX-License-Identifier: BSD-3-Clause */
