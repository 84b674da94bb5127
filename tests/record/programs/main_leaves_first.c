/* The main thread ends by pthread_exit; the process lives on, and ends with status 0 when its last thread does. */
#include "burn.h"
#include <pthread.h>
#include <unistd.h>

static void *last(void *arg)
{
    (void)arg;
    usleep(100000);
    burn(200);
    say_burned(300);
    return NULL;
}

int main(void)
{
    pthread_t t;
    burn(100);
    pthread_create(&t, NULL, last, NULL);
    pthread_exit(NULL);
}
/* SPDX-License-Identifier: BSD-3-Clause */
