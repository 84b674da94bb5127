/* For tests: what the simulator asks of the system for memory has nothing behind its end, and there is none where the test says so.
   For sources that are compiled with -Dmmap=fake_mmap -Dmunmap=fake_munmap; in front of all other headers but config.h. */
#ifndef MHSIM_GUARDED_H
#define MHSIM_GUARDED_H

#undef mmap
#undef munmap

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void *fake_mmap(void *at, size_t bytes, int may, int how, int fd, off_t from);
int fake_munmap(void *p, size_t bytes);

/* Of mappings of so many bytes (0: of any) so many are granted first, then so many are refused. */
static struct {
    size_t bytes;
    unsigned first, times, refused;
} guarded;

static bool guarded_refuses(size_t bytes)
{
    if (guarded.times == 0 || (guarded.bytes && guarded.bytes != bytes))
        return false;
    if (guarded.first > 0)
        return guarded.first--, false;
    guarded.times -= guarded.times != UINT_MAX;
    guarded.refused++;
    return true;
}

static size_t guarded_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t guarded_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Up to the end of a page, as near as lines of memory allow, and a page that is nobody's; of a file whole pages. */
void *fake_mmap(void *at, size_t bytes, int may, int how, int fd, off_t from)
{
    size_t page = guarded_page(), whole = guarded_up(bytes, page);
    (void)at;
    if (guarded_refuses(bytes))
        return MAP_FAILED;
    uint8_t *p = mmap(NULL, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return MAP_FAILED;
    if (fd >= 0)
        return mmap(p, bytes, may, how | MAP_FIXED, fd, from);
    return mprotect(p, whole, may) == 0 ? p + whole - guarded_up(bytes, 64) : MAP_FAILED;
}

int fake_munmap(void *p, size_t bytes)
{
    size_t page = guarded_page();
    uint8_t *whole = (uint8_t *)p - (uintptr_t)p % page;
    return munmap(whole, guarded_up(bytes, page) + page);
}

#endif
