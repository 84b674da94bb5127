/* A library loaded into a separate namespace. */
#define _GNU_SOURCE
#include "burn.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *lib = argc > 1 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : NULL;
    if (!lib) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no library");
        return 1;
    }
    void (*f)(long) = (void (*)(long))dlsym(lib, "first");
    double end = cpu_ms() + 300;
    while (cpu_ms() < end)
        f(100000);
    say_burned(300);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
