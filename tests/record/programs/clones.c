/* Children by clone3 itself: like fork, like vfork, with a pidfd, in a process group of their own; and, as in
   checkpoints, a copy of the process that is stopped until the original has ended, and then replaces it. */
#define _GNU_SOURCE
#include "burn.h"
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t make(unsigned long flags, int *pidfd)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    if (pidfd)
        args.pidfd = (unsigned long)pidfd;
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static int status_of(pid_t pid)
{
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int forked(void)
{
    pid_t pid = make(0, NULL);
    if (pid == 0) {
        burn(60);
        _exit(3);
    }
    return pid < 0 ? 125 : status_of(pid);
}

static int watched(void)
{
    int pidfd = -1;
    pid_t pid = make(CLONE_PIDFD | CLONE_FS | CLONE_FILES, &pidfd);
    if (pid == 0) {
        burn(60);
        _exit(4);
    }
    struct pollfd wait = {.fd = pidfd, .events = POLLIN};
    return pid > 0 && poll(&wait, 1, -1) == 1 ? status_of(pid) : -1;
}

static int checkpointed(void)
{
    pid_t original = fork();
    if (original == 0) {
        pid_t keeper = getpid();
        pid_t copy = fork();
        if (copy == 0) { /* the checkpoint */
            prctl(PR_SET_PDEATHSIG, 0);
            raise(SIGSTOP);
            burn(60);
            _exit(5);
        }
        int status;
        waitpid(copy, &status, WUNTRACED);
        burn(60);
        if (fork() == 0) { /* resumes the checkpoint when its original has ended */
            while (getppid() == keeper)
                usleep(1000);
            kill(copy, SIGCONT);
            _exit(0);
        }
        raise(SIGKILL);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int status, last = -1;
    while (wait(&status) > 0)
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
            last = WEXITSTATUS(status);
    return last;
}

int main(void)
{
    int a = forked(), b;
    if (a == 125)
        return 125;
    b = watched();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    printf("%d %d %d\n", a, b, checkpointed());
    return 6;
}
/* SPDX-License-Identifier: BSD-3-Clause */
