/* All signals blocked; some handled, some ignored; the default action is reported as such; a mask of its own in
   sigwait; and an alternate stack. */
#define _GNU_SOURCE
#include "burn.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t got_usr1, got_on_stack;
static char stack[65536];

static void on_usr1(int sig)
{
    (void)sig;
    char here;
    got_usr1++;
    got_on_stack = &here >= stack && &here < stack + sizeof stack;
}

static int fail(const char *what)
{
    fprintf(stderr, "wrong: %s\n", what);
    return 1;
}

int main(void)
{
    struct sigaction old, act = {.sa_flags = SA_ONSTACK};
    sigset_t all, saved, wait_set;
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack};
    int sig, status;
    for (sig = 1; sig < 32; sig++)
        if (sig != SIGKILL && sig != SIGSTOP && (sigaction(sig, NULL, &old) < 0 || old.sa_handler != SIG_DFL))
            return fail("a signal does not have its default action");
    act.sa_handler = on_usr1;
    sigaltstack(&alt, NULL);
    if (sigaction(SIGUSR1, &act, &old) < 0 || old.sa_handler != SIG_DFL)
        return fail("old action of SIGUSR1");
    raise(SIGUSR1);
    if (got_usr1 != 1 || !got_on_stack)
        return fail("the handler of SIGUSR1");
    if (signal(SIGUSR1, SIG_DFL) != on_usr1 || signal(SIGUSR1, SIG_IGN) != SIG_DFL ||
        signal(SIGUSR1, SIG_DFL) != SIG_IGN)
        return fail("what signal() says was there before");
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &saved);
    burn(200);
    raise(SIGUSR2);
    sigemptyset(&wait_set);
    sigaddset(&wait_set, SIGUSR2);
    if (sigwait(&wait_set, &sig) != 0 || sig != SIGUSR2)
        return fail("sigwait");
    sigprocmask(SIG_SETMASK, &saved, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGUSR1); /* the default again: this ends the child */
        _exit(0);
    }
    if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGUSR1)
        return fail("a child that SIGUSR1 should have ended");
    burn(100);
    say_burned(300);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
