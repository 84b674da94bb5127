/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime of programs compiled by hpcview-cc and its siblings: the compiler's sanitizer hooks, called at each
 * access, are here. GCC and clang, kernel-address: __asan_load8_noabort and siblings; clang and GCC, thread:
 * __tsan_read8 and siblings. Without `hpcview simulate` each is a test of one variable.
 *
 * The program's heap calls come through here as well, for the allocation sites, and memcpy, memmove and memset as the
 * program (not a library) calls them: a kernel-style sanitizer does not report their accesses. While the simulator
 * itself calls them it is busy.
 */
#include "config.h"
#include "mhsim/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK       __attribute__((visibility("default"), used))
#define SITE       ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)
#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))
/* The caller's frame pointer, read here as long as there is a frame of ours that keeps it; on x86-64 it stands 16 bytes
   below the frame's canonical address. Elsewhere that distance is each procedure's own. */
#ifdef __x86_64__
#define FRAME (*(const uint64_t *)__builtin_frame_address(0))
#else
#define FRAME 0
#endif

/* ---- accesses ----------------------------------------------------------------------- */

/* Everything of a known size: both sanitizers' names. Returning into the caller one byte earlier is inside the call,
   whose line is the access's. */
#define ACCESS_BY(name, size, write, call)                                                                             \
    HOOK void name(uint64_t address);                                                                                  \
    void name(uint64_t address)                                                                                        \
    {                                                                                                                  \
        if (__builtin_expect(runtime_on, 1))                                                                           \
            call(SITE, address, size, write, false, FRAME);                                                            \
    }
#define ACCESS(name, size, write) ACCESS_BY(name, size, write, runtime_access)
/* Called by hooks-x86_64.s, which numbers itself. */
#define NUMBERED(...) runtime_access_numbered(runtime_me, __VA_ARGS__)
#define ACCESS_NUMBERED(name, size, write)                                                                             \
    ACCESS(name, size, write)                                                                                          \
    ACCESS_BY(hpcview_simulate##name, size, write, NUMBERED)
#define ACCESS_N(name, write)                                                                                          \
    HOOK void name(uint64_t address, uint64_t size);                                                                   \
    void name(uint64_t address, uint64_t size)                                                                         \
    {                                                                                                                  \
        if (runtime_on)                                                                                                \
            access_range(SITE, address, size, write, FRAME);                                                           \
    }
#define NOTHING(name)                                                                                                  \
    HOOK void name(void);                                                                                              \
    void name(void)                                                                                                    \
    {                                                                                                                  \
    }

/* In pieces as wide as registers are. */
static void access_range(uint64_t site, uint64_t address, uint64_t size, bool write, uint64_t frame)
{
    enum { WIDEST = 32 };
    for (uint64_t done = 0; done < size;) {
        uint64_t piece = WIDEST - (address + done) % WIDEST;
        piece = piece < size - done ? piece : size - done;
        runtime_access(site, address + done, (uint32_t)piece, write, false, frame);
        done += piece;
    }
}

#define ASAN_SIZE(n)                                                                                                   \
    ACCESS(__asan_load##n, n, false)                                                                                   \
    ACCESS(__asan_store##n, n, true)                                                                                   \
    ACCESS_NUMBERED(__asan_load##n##_noabort, n, false)                                                                \
    ACCESS_NUMBERED(__asan_store##n##_noabort, n, true)
ASAN_SIZE(1)
ASAN_SIZE(2)
ASAN_SIZE(4)
ASAN_SIZE(8)
ASAN_SIZE(16)

/* Of any other size: vectors, structures. */
#define ACCESS_WIDE(name, write)                                                                                       \
    HOOK void name(uint64_t address, uint64_t size);                                                                   \
    void name(uint64_t address, uint64_t size)                                                                         \
    {                                                                                                                  \
        if (!runtime_on || size == 0)                                                                                  \
            return;                                                                                                    \
        if (size <= 64)                                                                                                \
            runtime_access(SITE, address, (uint32_t)size, write, false, FRAME);                                        \
        else                                                                                                           \
            access_range(SITE, address, size, write, FRAME);                                                           \
    }
ACCESS_WIDE(__asan_loadN, false)
ACCESS_WIDE(__asan_storeN, true)
ACCESS_WIDE(__asan_loadN_noabort, false)
ACCESS_WIDE(__asan_storeN_noabort, true)

#define TSAN_SIZE(n)                                                                                                   \
    ACCESS(__tsan_read##n, n, false)                                                                                   \
    ACCESS(__tsan_write##n, n, true)                                                                                   \
    ACCESS(__tsan_unaligned_read##n, n, false)                                                                         \
    ACCESS(__tsan_unaligned_write##n, n, true)                                                                         \
    ACCESS(__tsan_read_write##n, n, true)                                                                              \
    ACCESS(__tsan_unaligned_read_write##n, n, true)                                                                    \
    ACCESS(__tsan_volatile_read##n, n, false)                                                                          \
    ACCESS(__tsan_volatile_write##n, n, true)
TSAN_SIZE(1)
TSAN_SIZE(2)
TSAN_SIZE(4)
TSAN_SIZE(8)
TSAN_SIZE(16)
ACCESS_N(__tsan_read_range, false)
ACCESS_N(__tsan_write_range, true)
ACCESS(__tsan_vptr_read, 8, false)
NOTHING(__tsan_init)
NOTHING(__tsan_func_entry)
NOTHING(__tsan_func_exit)
NOTHING(__tsan_vptr_update)
NOTHING(__asan_handle_no_return)
NOTHING(__asan_register_globals)
NOTHING(__asan_unregister_globals)
NOTHING(__asan_before_dynamic_init)
NOTHING(__asan_after_dynamic_init)

/* ---- blocks of memory ------------------------------------------------------------------- */

/* The C library's own are reached behind our names: RTLD_NEXT, asked for once. Until then, byte by byte. */
static void *(*real_memcpy)(void *, const void *, size_t), *(*real_memmove)(void *, const void *, size_t),
    *(*real_memset)(void *, int, size_t);

HOOK void *memcpy(void *to, const void *from, size_t n)
{
    if (runtime_on && runtime_out()) {
        access_range(SITE, ADDRESS(from), n, false, FRAME);
        access_range(SITE, ADDRESS(to), n, true, FRAME);
    }
    if (real_memcpy)
        return real_memcpy(to, from, n);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    return to;
}

HOOK void *memmove(void *to, const void *from, size_t n)
{
    if (runtime_on && runtime_out()) {
        access_range(SITE, ADDRESS(from), n, false, FRAME);
        access_range(SITE, ADDRESS(to), n, true, FRAME);
    }
    if (real_memmove)
        return real_memmove(to, from, n);
    bool down = ADDRESS(to) > ADDRESS(from);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[down ? n - 1 - i : i] = ((const volatile char *)from)[down ? n - 1 - i : i];
    return to;
}

HOOK void *memset(void *to, int byte, size_t n)
{
    if (runtime_on && runtime_out())
        access_range(SITE, ADDRESS(to), n, true, FRAME);
    if (real_memset)
        return real_memset(to, byte, n);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = (char)byte;
    return to;
}

/* ---- the heap ------------------------------------------------------------------------------ */

#define ALLOCATED(p, n, site)                                                                                          \
    if (runtime_on)                                                                                                    \
    runtime_allocated(ADDRESS(p), n, site)

static void start_measuring(void)
{
    runtime_measure(true);
}

static void stop_measuring(void)
{
    runtime_measure(false);
}

static void tell_region(const char *name, bool begins)
{
    runtime_region(name, begins);
}

#include "mhsim/instrument/heap_calls.inc"

/* ---- ways to end ---------------------------------------------------------------------------
 *
 * ... that run no destructor: waiting accesses are simulated first. If the process ends by a fault the last accesses
 * are lost, as many as may wait. */

#define SETTLED(name, parameters, arguments)                                                                           \
    HOOK int name parameters                                                                                           \
    {                                                                                                                  \
        int(*real) parameters;                                                                                         \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                     \
        if (runtime_on)                                                                                                \
            runtime_settle();                                                                                          \
        return real arguments;                                                                                         \
    }
SETTLED(kill, (pid_t pid, int sig), (pid, sig))
SETTLED(raise, (int sig), (sig))
SETTLED(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
SETTLED(execv, (const char *path, char *const argv[]), (path, argv))
SETTLED(execvp, (const char *file, char *const argv[]), (file, argv))
SETTLED(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
SETTLED(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))

/* execl and siblings are those above, with their arguments one by one: counted, then copied to an array of that
   size. */
static size_t count_words(const char *first, va_list more)
{
    size_t n = 0;
    for (const char *word = first; word; word = va_arg(more, const char *))
        n++;
    return n;
}

#define EXEC_BY_WORDS(name, declare_environment, call)                                                                 \
    HOOK int name(const char *path, const char *first, ...)                                                            \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, first);                                                                                         \
        size_t n = count_words(first, more);                                                                           \
        va_end(more);                                                                                                  \
        char *argv[n + 1];                                                                                             \
        argv[0] = (char *)(uintptr_t)first;                                                                            \
        va_start(more, first);                                                                                         \
        for (size_t i = 1; i <= n; i++)                                                                                \
            argv[i] = va_arg(more, char *);                                                                            \
        declare_environment;                                                                                           \
        va_end(more);                                                                                                  \
        return call;                                                                                                   \
    }
EXEC_BY_WORDS(execl, , execv(path, argv))
EXEC_BY_WORDS(execlp, , execvp(path, argv))
EXEC_BY_WORDS(execle, char *const *envp = va_arg(more, char *const *), execve(path, argv, envp))

HOOK void abort(void)
{
    void (*real)(void) __attribute__((noreturn));
    *(void **)&real = dlsym(RTLD_NEXT, "abort");
    if (runtime_on)
        runtime_settle();
    real();
}

HOOK void _exit(int status)
{
    if (runtime_on)
        runtime_settle();
    for (;;)
        syscall(SYS_exit_group, status);
}

HOOK void _Exit(int status)
{
    _exit(status);
}

/* ---- life ---------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void begin(void)
{
    *(void **)&real_memcpy = dlsym(RTLD_NEXT, "memcpy");
    *(void **)&real_memmove = dlsym(RTLD_NEXT, "memmove");
    *(void **)&real_memset = dlsym(RTLD_NEXT, "memset");
    if (runtime_open(RAW_HOOKS))
        pthread_atfork(runtime_settle, NULL, runtime_forked);
}

__attribute__((destructor)) static void end(void)
{
    runtime_close();
}
