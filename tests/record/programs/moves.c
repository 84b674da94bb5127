/* Changes directory, root and user; a thread that is started afterwards counts too. */
#define _GNU_SOURCE
#include "burn.h"
#include <grp.h>
#include <pthread.h>
#include <unistd.h>

static void *more(void *arg)
{
    burn(150);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    burn(100);
    if (argc < 2 || chdir(argv[1]) < 0)
        return 1;
    if (geteuid() == 0 &&
        (chroot(".") < 0 || chdir("/") < 0 || setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0))
        return 1;
    burn(100);
    pthread_create(&t, NULL, more, NULL);
    pthread_join(t, NULL);
    say_burned(350);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
