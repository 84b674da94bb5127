/* Variables that no symbol names: statics first, by address, then those in frames, by procedure. */
#include "config.h"
#include "mhsim/variables.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct mhsim_variable *statics, *frames;
static uint64_t static_count, frame_count;

bool variables_open(const char *folder, const struct raw_orders *o)
{
    char path[RAW_PATH + 16];
    uint64_t bytes = (o->static_variables + o->frame_variables) * sizeof *statics;
    struct stat st;
    if (statics || !bytes)
        return statics != NULL;
    snprintf(path, sizeof path, "%s/" RAW_VARIABLES, folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes
                  ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return false;
    statics = p;
    frames = statics + o->static_variables;
    static_count = o->static_variables;
    frame_count = o->frame_variables;
    return true;
}

const struct mhsim_variable *variables_static(uint64_t address)
{
    size_t i = sorted_front(static_count, k, (uint64_t)statics[k].lo <= address);
    return i && address < (uint64_t)statics[i - 1].hi ? &statics[i - 1] : NULL;
}

const struct mhsim_variable *variables_in_frame(uint64_t pc, int64_t offset, int64_t *lo, int64_t *hi)
{
    const struct mhsim_variable *best = NULL;
    size_t i = sorted_front(frame_count, k, frames[k].from <= pc);
    for (uint64_t from = i ? frames[i - 1].from : 0; i && frames[i - 1].from == from && pc < frames[i - 1].to; i--) {
        const struct mhsim_variable *v = &frames[i - 1];
        if (pc < v->code_from || pc >= v->code_to)
            continue;
        if (offset >= v->lo && offset < v->hi)
            best = !best || v->hi - v->lo < best->hi - best->lo ? v : best;
        else if (v->hi <= offset)
            *lo = v->hi > *lo ? v->hi : *lo;
        else
            *hi = v->lo < *hi ? v->lo : *hi;
    }
    return best;
}

uint64_t variables_number(const struct mhsim_variable *v)
{
    return (uint64_t)(v - statics);
}
