/* Actions of threads and processes while they are counted: `migrate` between processors, `fork`, `exec`. */
#include "programs.h"

#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, noclone)) static void work(unsigned long rounds)
{
    BLOCK(rounds);
    __asm__ volatile("");
}

static void go_to(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        perror("sched_setaffinity");
}

static int fork_and_work(unsigned long unit)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        work(unit);
        exit(0);
    }
    work(unit);
    return waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    const char *how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "fork") == 0)
        return fork_and_work(unit);
    for (unsigned i = 0; strcmp(how, "migrate") == 0 && i < 20; i++) {
        go_to(i % 2);
        work(unit / 20);
    }
    if (strcmp(how, "exec") == 0) {
        work(unit);
        execl(argv[0], argv[0], argv[1], "work", (char *)NULL);
    }
    if (strcmp(how, "work") == 0)
        work(unit);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
