/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorded process: its beginning and end, the helper thread, the program's threads, fork and exec, its environment. */
#ifndef HPCPROF_RECORDER_PROCESS_H
#define HPCPROF_RECORDER_PROCESS_H

#include "hpcprof/recorder/base/state.h"

#include <pthread.h>

/* Entry points of hpcview.h: exported as hpcview_calls_1. */
struct hpcview_calls {
    void (*start)(void);
    void (*stop)(void);
    void (*region_begin)(const char *name);
    void (*region_end)(const char *name);
};

/* ---- main.c ------------------------------------------------------------------------------------------------ */

enum hpcrec_task { TASK_FLUSH = 1, TASK_EXEC, TASK_FINISH };
/* Lets the helper do that and waits for it, at most a few seconds. Async-signal-safe. status: as by wait(2), -1
 * unknown. */
void hpcrec_ask(enum hpcrec_task, int status);
void hpcrec_finish(int status); /* the process is about to end */
void hpcrec_fork_child(void);   /* in the child: forget the parent's recording */
void hpcrec_fork_restart(void); /* in the child: begin its own */
void hpcrec_switch(bool on);
void hpcrec_set_exit_status(int status);
extern _Thread_local bool hpcrec_in_fork_wrapper __attribute__((tls_model("initial-exec")));

/* ---- threads.c ----------------------------------------------------------------------------------------------- */

struct thread *hpcrec_thread_create(void);   /* a free slot; NULL: none */
void hpcrec_thread_discard(struct thread *); /* one that never began */
void hpcrec_thread_begin(struct thread *);   /* by the thread itself, as its first act */
void hpcrec_thread_end(struct thread *);     /* by the thread itself, as its last act */
void hpcrec_thread_totals(struct thread *);  /* PAPI's, by the thread itself */
void hpcrec_drain_thread(struct thread *);   /* locked: ring and queue */
void hpcrec_threads_drain(void);             /* locked */
void hpcrec_threads_init(void);
void hpcrec_threads_look(pid_t helper); /* locked: threads that did not register, and their ends */
/* The program has no thread left: ours is the last, and its exit ends the process. */
enum hpcrec_left { STILL_THERE, LEFT_BY_LIBRARY /* which would exit(0) now */, LEFT_BY_KERNEL /* with *status */ };
enum hpcrec_left hpcrec_threads_left(int *status); /* locked */
void hpcrec_remember_ended(pid_t tid);             /* locked */
void hpcrec_threads_totals(void);                  /* locked: of all the living */
void hpcrec_threads_stop(void);                    /* locked: no more samples */
void hpcrec_threads_forget(void);                  /* after fork, in the child */
void hpcrec_threads_switch(bool on);               /* locked: measuring on or off */
void hpcrec_threads_move_fd(int from, int to);     /* locked */

/* ---- environment.c ------------------------------------------------------------------------------------------ */

int hpcrec_rank(void); /* of MPI; -1: none */
void hpcrec_environment_gather(void);

/* ---- wrap.c --------------------------------------------------------------------------------------------------- */

void hpcrec_wrap_init(void);
void hpcrec_remember_environment(void); /* contents of a child's environment */
void hpcrec_clean_environment(void);    /* so that children are not recorded */
int hpcrec_real_pthread_create(pthread_t *, const void *attr, void *(*)(void *), void *);

#endif
