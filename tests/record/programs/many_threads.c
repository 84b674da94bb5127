/* 10,000 short threads, a few at a time. */
#include "burn.h"
#include <pthread.h>

static void *nothing(void *arg)
{
    volatile int x = 0;
    for (int i = 0; i < 1000; i++)
        x += i;
    return arg;
}

int main(void)
{
    pthread_t t[4];
    char line[256];
    long before = 0, after = 0;
    for (int i = 0; i < 2500; i++) {
        for (int k = 0; k < 4; k++)
            if (pthread_create(&t[k], NULL, nothing, NULL) != 0)
                return 1;
        for (int k = 0; k < 4; k++)
            pthread_join(t[k], NULL);
        if (i == 100 || i == 2499) {
            FILE *f = fopen("/proc/self/status", "r");
            while (fgets(line, sizeof line, f))
                if (strncmp(line, "VmRSS:", 6) == 0)
                    *(i == 100 ? &before : &after) = atol(line + 6);
            fclose(f);
        }
    }
    /* Rows of 10,000 threads may be kept, but not their buffers: 20 KiB each would be 200 MB. */
    if (after - before > 16 << 10) {
        fprintf(stderr, "memory grew from %ld to %ld KiB\n", before, after);
        return 1;
    }
    burn(100);
    say_burned(100);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
