/* Two libraries, one after the other, at the same addresses: counts belong to the one loaded at the time. Three parts
   of the work are in the first one, one in the second. */
#define _GNU_SOURCE
#include "burn.h"
#include <dlfcn.h>
#include <link.h>

static unsigned long run(const char *path, const char *name, int ms)
{
    void *lib = dlopen(path, RTLD_NOW);
    struct link_map *map;
    if (!lib || dlinfo(lib, RTLD_DI_LINKMAP, &map) < 0) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    void (*f)(long) = (void (*)(long))dlsym(lib, name);
    unsigned long base = map->l_addr;
    double end = cpu_ms() + ms;
    while (cpu_ms() < end)
        f(100000);
    dlclose(lib);
    return base;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    /* Mostly at the same addresses: the recorder, too, maps memory now and then, and may take those. */
    unsigned long last = run(argv[1], "first", 150);
    int again = 0;
    for (int i = 0; i < 11; i++) {
        unsigned long base = i ? run(argv[1], "first", 15) : run(argv[2], "second", 100);
        again += base == last;
        last = base;
    }
    fprintf(stderr, "%d of 11 times where the one before had been\n", again);
    say_burned(400);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
