/* SPDX-License-Identifier: BSD-3-Clause */
/* The function behind ours, of a library that may have been loaded for one caller alone (dlopen without RTLD_GLOBAL). */
#include "hpcprof/recorder/barriers/barriers.h"

#include <dlfcn.h>

/* By the caller's own libraries: an object's handle searches the object and what it needs. */
static void *by_caller(const char *name, const void *caller)
{
    Dl_info info;
    void *handle, *found = NULL;
    if (!dladdr(caller, &info) || !info.dli_fname || !(handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
        return NULL;
    found = dlsym(handle, name);
    dlclose(handle);
    return found;
}

void *phases_real_symbol(const char *name, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : by_caller(name, caller);
}
