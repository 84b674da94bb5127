/* Through the linker's stubs, bound lazily, to a library and back; and to one that is opened and closed. */
#include "known.h"

#include <dlfcn.h>

void plug_call(void (*back)(int), int n);

FUNCTION static void back(int n)
{
    ENTER();
    if (n > 0)
        plug_call(back, n - 1);
    else
        work(10);
    LEAVE();
}
FUNCTION static void opened(const char *path)
{
    ENTER();
    for (int i = 0; i < 5; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void (*call)(void (*)(int), int) = (void (*)(void (*)(int), int))dlsym(library, "plug_call");
        nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL); /* the recorder looks twenty times a second */
        call(back, 1);
        dlclose(library);
    }
    LEAVE();
}

int main(int argc, char **argv)
{
    ENTER();
    for (int i = 0; i < 10; i++)
        plug_call(back, i % 4);
    if (argc == 2)
        opened(argv[1]);
    LEAVE();
    known_report();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
