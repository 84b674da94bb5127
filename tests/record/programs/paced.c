/*
 * For tests of wall time, --delay and --duration: burns for the first SECONDS of its life, yields for a while, burns
 * 300 ms more, and prints its CPU time at each of these points. On any load, "early" was used before SECONDS had
 * passed, and the last 300 ms long after; so a test need not know how much CPU time it got.
 */
#include "burn.h"
#include <unistd.h>

static double wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* When this process was started, rounded down to the kernel's tick; before the recorder began, that is. proc(5) */
static double birth_ms(void)
{
    char line[4096];
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/self/stat", "r");
    if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
        sscanf(strrchr(line, ')') + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &ticks);
    if (f)
        fclose(f);
    return (double)ticks * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
    double end = birth_ms() + (argc > 1 ? atof(argv[1]) : 1) * 1e3, early = 0;
    for (double now = cpu_ms(); wall_ms() < end; now = cpu_ms()) {
        early = now;
        burn(1);
    }
    /* The recorder's helper needs a processor to see that the time has come: it gets a hundred chances, each of which
       takes the longer the busier the machine is. */
    for (int i = 0; i < 100; i++) {
        usleep(10000);
        burn(1);
    }
    double late = cpu_ms();
    burn(300);
    printf("early %.0f\nlate %.0f\nall %.0f\n", early, late, cpu_ms());
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
