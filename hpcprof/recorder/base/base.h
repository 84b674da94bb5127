/* SPDX-License-Identifier: BSD-3-Clause */
/* The foundation of the recorder: memory, bytes for the file, text, clocks, the lock, descriptors. */
#ifndef HPCPROF_RECORDER_BASE_H
#define HPCPROF_RECORDER_BASE_H

#include "hpcprof/recorder/recorder.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

/* ---- memory that is not the program's (memory.c) -------------------------------------- */

/* Grows by mapping; items stay valid until the next grow. full: the system gave no more. */
struct area {
    void *items;
    size_t count, room; /* in items */
    bool full;
};
bool hpcrec_area_room(struct area *, size_t items, size_t item_size); /* capacity */
void hpcrec_area_free(struct area *, size_t item_size);
void *hpcrec_map(size_t bytes); /* cleared; NULL: none */
void hpcrec_unmap(void *, size_t bytes);
uint64_t hpcrec_page_bytes(void); /* 4 KiB on x86-64; up to 64 KiB elsewhere */

/* Bytes to be written; an area of bytes with the file's number formats. */
struct out {
    struct area bytes;
};
void hpcrec_put(struct out *, const void *, size_t);
void hpcrec_put_crc(struct out *, size_t from); /* of the bytes from there on */
void hpcrec_put_u32(struct out *, uint32_t);
void hpcrec_put_uleb(struct out *, uint64_t);
void hpcrec_put_sleb(struct out *, int64_t);
void hpcrec_put_string(struct out *, const char *);
/* A block is the bytes put between begin and end. */
size_t hpcrec_block_begin(struct out *, uint32_t type);
void hpcrec_block_end(struct out *, size_t begin);

/* Text without stdio: appends and keeps NUL-terminated, cutting what does not fit. */
struct text {
    char *at, *end;
};
struct text hpcrec_text(char *buffer, size_t size);
void hpcrec_text_str(struct text *, const char *);
void hpcrec_text_strn(struct text *, const char *, size_t n);
void hpcrec_text_u64(struct text *, uint64_t);

/* ---- system (system.c) ------------------------------------------------------------------- */

uint64_t hpcrec_now(clockid_t);
pid_t hpcrec_gettid(void);
void hpcrec_lock(sigset_t *saved);
void hpcrec_unlock(const sigset_t *saved);
void hpcrec_lock_reset(void); /* after fork, in the child */
/* Our descriptors: moved out of the way of the program's, known so that the program's close() loops pass them over. */
void hpcrec_fd_adopt(int fd); /* one that PAPI opened for us: stays where it is */
int hpcrec_fd_keep(int fd);   /* the new number; fd if it cannot be moved */
void hpcrec_fd_close(int *fd);
bool hpcrec_fd_is_ours(int fd);
void hpcrec_fd_disown(int fd);    /* the number is the program's now */
void hpcrec_fd_move_away(int fd); /* because the program needs the number */
unsigned hpcrec_fd_count(void);
int hpcrec_fd_next(int from); /* the first one of ours at or above; INT_MAX: none */
void hpcrec_fd_forget_all(void);
/* A file kept open by us. */
struct held {
    int fd;
    uint64_t dev, ino;
};
void hpcrec_hold(struct held *, const char *path, int flags);
int hpcrec_held(struct held *, const char *path,
                int flags); /* opened again where it was closed behind our back; or -1 */
/* Is the process' first thread alive? Checked without /proc, which may not be mounted; -1: unknown. */
int hpcrec_first_thread_lives(void);
/* Reads our own memory; false if nothing is mapped. */
bool hpcrec_peek(uint64_t address, void *to, size_t n);
/* Calls run(arg) where what it opens and closes takes none of the program's numbers, not for a moment (private_fds.c): by the
 * helper; others, and where the system does not permit it, call it as it is. Errno is as run left it. */
void hpcrec_with_private_fds(void (*run)(void *), void *arg);
/* At most size-1 bytes of a small file, NUL-terminated; the count, or -1. */
ssize_t hpcrec_slurp(const char *path, char *to, size_t size);

#endif
