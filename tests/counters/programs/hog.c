/* Another user of the counters: `pinned` takes all of this thread's; `late` does so after half of its work; `shared`
   opens some in the ordinary way and prints their counts; `hold` takes all of the first processor's until killed. */
#include "programs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COUNTERS = 7, SHARED = 4 };

static int open_counter(bool cycles, bool pinned, bool everyone)
{
    struct perf_event_attr attr = {
        .size = sizeof attr, .type = PERF_TYPE_HARDWARE, .pinned = pinned, .exclude_kernel = 1};
    attr.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
    return (int)syscall(SYS_perf_event_open, &attr, everyone ? -1 : 0, everyone ? 0 : -1, -1, 0);
}

static void take(int *fds, const char *how)
{
    bool shared = strcmp(how, "shared") == 0;
    for (int i = 0; i < (shared ? SHARED : COUNTERS); i++)
        if ((fds[i] = open_counter(i == 0, !shared, strcmp(how, "hold") == 0)) < 0)
            perror("perf_event_open");
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    const char *how = argc > 2 ? argv[2] : "";
    int fds[COUNTERS];
    long long counted;
    if (strcmp(how, "late") == 0)
        BLOCK(unit);
    take(fds, how);
    if (strcmp(how, "hold") == 0) {
        puts("held");
        fflush(stdout);
        pause();
    }
    BLOCK(unit);
    if (read(fds[1], &counted, sizeof counted) == sizeof counted)
        printf("%lld\n", counted);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
