/* A parent that traces its child: every system call of it, then each instruction for a while; and lets it go. */
#include "burn.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 125;
    raise(SIGSTOP);
    burn(50);
    raise(SIGUSR1); /* suppressed by the tracer */
    burn(50);
    return 7;
}

int main(void)
{
    int status = 0, calls = 0, steps = 0, asked = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(child());
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        int sig = WSTOPSIG(status);
        if (sig == SIGSTOP)
            ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD);
        asked |= sig == SIGUSR1;
        calls += sig == (SIGTRAP | 0x80);
        steps += sig == SIGTRAP;
        int pass = sig == SIGSTOP || sig == SIGUSR1 || sig == SIGTRAP || sig == (SIGTRAP | 0x80) ? 0 : sig;
        int how = asked && steps < 1000 ? PTRACE_SINGLESTEP : asked ? PTRACE_CONT : PTRACE_SYSCALL;
        if (ptrace(how, pid, NULL, (void *)(long)pass) != 0)
            break;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 125)
        return 125;
    printf("%s, %s, %s\n", asked ? "asked" : "not asked", steps == 1000 ? "1000 steps" : "other steps",
           calls > 0 ? "calls" : "no calls");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
/* SPDX-License-Identifier: BSD-3-Clause */
