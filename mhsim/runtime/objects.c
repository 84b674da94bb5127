/* SPDX-License-Identifier: BSD-3-Clause */
/* The object at an address that is not on a stack: a variable, a module, a block of the heap. */
#include "config.h"
#include "mhsim/runtime/modules.h"
#include "mhsim/runtime/state.h"
#include "mhsim/runtime/variables.h"

#include <stdio.h>
#include <string.h>

#define MIXED (1ull << 63)
enum { PAGE = 4096, DETAIL_CHUNK = 1 << 12, DETAIL_CHUNKS = 1 << 12 };

/* Of a page that is not one object's. */
struct details {
    uint16_t object[PAGE / GRAIN]; /* + 1; 0: none */
};

/* Blocks of the heap that are large, the last: their addresses need not be looked for page by page. */
enum { LARGE = 1 << 16, LARGE_BLOCKS = 16 };
struct large_block {
    uint64_t from, to;
    uint32_t object;
};

static struct {
    struct map pages; /* page -> object + 1, or MIXED and the number of its details */
    struct map by_key;
    struct details *details[DETAIL_CHUNKS]; /* as many as there was a need for: see details_at */
    uint64_t detail_count;
    struct large_block large[LARGE_BLOCKS];
    uint32_t large_next;
    uint64_t refreshed; /* unknown addresses until the maps are read again */
} objects;

/* ---- details of pages -----------------------------------------------------------------------
 *
 * They come in chunks: programs run under limits of address space. */

static struct details *details_at(uint64_t i)
{
    return &objects.details[i / DETAIL_CHUNK][i % DETAIL_CHUNK];
}

/* Cleared; NULL: the limit, or no memory. */
static struct details *details_add(void)
{
    uint64_t i = objects.detail_count, chunk = i / DETAIL_CHUNK;
    if (chunk == DETAIL_CHUNKS)
        return NULL;
    if (!objects.details[chunk])
        objects.details[chunk] = pages_get(DETAIL_CHUNK * sizeof(struct details));
    if (!objects.details[chunk])
        return NULL;
    objects.detail_count++;
    return details_at(i);
}

static void details_close(void)
{
    for (unsigned i = 0; i < DETAIL_CHUNKS; i++) {
        pages_put(objects.details[i], DETAIL_CHUNK * sizeof(struct details));
        objects.details[i] = NULL;
    }
    objects.detail_count = 0;
    memset(objects.large, 0, sizeof objects.large);
}

/* ---- what an address is of --------------------------------------------------------------------- */

/* The object with this key of its kind, created on demand; 0 beyond the limit. */
uint32_t runtime_object_of_key(uint32_t kind, uint32_t module, uint64_t address, const char *name)
{
    uint64_t *there = map_put(&objects.by_key, map_hash(address ^ (uint64_t)kind << 60 ^ (uint64_t)module << 48) >> 1);
    if (there && !*there) {
        struct raw_object *o = mmap_store_add(&runtime.objects, 1);
        if (!o)
            return 0;
        *o = (struct raw_object){.kind = kind, .module = module, .address = address};
        snprintf(o->name, sizeof o->name, "%s", name);
        *there = *runtime.objects.count - 1;
    }
    return there ? (uint32_t)*there : 0;
}

/* The debug information may say more than the symbols: of a COMMON block, the member. */
static bool static_variable(uint32_t module, uint64_t address, struct data_symbol *d)
{
    const struct raw_module *m = store_get(&runtime.modules, module);
    const struct raw_variables *of = runtime.has_variables ? variables_of(m->path) : NULL;
    const struct mhsim_variable *v = of ? variables_static(of, address - m->bias) : NULL;
    if (v)
        *d = (struct data_symbol){.lo = (uint64_t)v->lo + m->bias, .hi = (uint64_t)v->hi + m->bias, .name = v->name};
    return v != NULL;
}

static uint32_t module_object(uint64_t address, uint64_t *lo, uint64_t *hi)
{
    struct data_symbol d;
    int64_t m = modules_find(&runtime.modules, address);
    if (m < 0)
        return 0;
    bool known =
        static_variable((uint32_t)m, address, &d) || modules_symbol(&runtime.modules, (uint32_t)m, address, &d);
    uint32_t object = known ? runtime_object_of_key(RAW_STATIC, (uint32_t)m, d.lo, d.name)
                            : runtime_object_of_key(RAW_MODULE_DATA, (uint32_t)m, 0, "");
    struct raw_object *o = store_get(&runtime.objects, object);
    if (object && known) {
        o->bytes = d.hi - d.lo;
        o->count = 1;
    }
    *lo = d.lo;
    *hi = d.hi;
    return object;
}

static uint32_t heap_object(uint64_t address, uint64_t *lo, uint64_t *hi)
{
    const uint64_t *page = map_get(&objects.pages, address / PAGE);
    if (!page || !*page)
        return 0;
    *lo = address & ~(uint64_t)(PAGE - 1);
    *hi = *lo + PAGE;
    for (unsigned i = 0; i < LARGE_BLOCKS; i++)
        if (address >= objects.large[i].from && address < objects.large[i].to) {
            *lo = objects.large[i].from;
            *hi = objects.large[i].to;
            return objects.large[i].object;
        }
    if (!(*page & MIXED))
        return (uint32_t)*page - 1;
    const struct details *d = details_at(*page & ~MIXED);
    *lo = address & ~(uint64_t)(GRAIN - 1);
    *hi = *lo + GRAIN;
    uint32_t object = d->object[address % PAGE / GRAIN];
    return object ? object - 1 : 0;
}

/* Maps are read again when addresses come that are in no known module: at once, then ever more seldom. */
void runtime_look_again(void)
{
    static uint64_t unknown;
    if (++unknown < objects.refreshed)
        return;
    objects.refreshed = unknown * 2;
    modules_refresh(&runtime.modules);
}

/* Of addresses not on this thread's stack. */
uint32_t runtime_object_elsewhere(uint64_t address, bool on_stack, uint64_t *lo, uint64_t *hi)
{
    uint32_t object = heap_object(address, lo, hi);
    if (!object && on_stack) {
        uint64_t *page = map_put(&objects.pages, address / PAGE);
        if (page && !*page)
            *page = RAW_STACK + 1;
        return RAW_STACK;
    }
    if (!object)
        object = module_object(address, lo, hi);
    if (!object) {
        runtime_look_again();
        object = module_object(address, lo, hi);
    }
    return object;
}

/* ---- the heap -------------------------------------------------------------------------------------- */

static struct details *details_of(uint64_t *page)
{
    if (*page & MIXED)
        return details_at(*page & ~MIXED);
    struct details *d = details_add();
    if (!d)
        return NULL;
    for (unsigned i = 0; i < PAGE / GRAIN; i++)
        d->object[i] = (uint16_t)*page;
    *page = MIXED | (objects.detail_count - 1);
    return d;
}

/* Remembered places of the address may be invalid. */
static void changes_object(uint64_t was, uint64_t is)
{
    if (was ? was == is : !runtime.of_nothing)
        return;
    runtime_generation++;
    runtime.of_nothing = false;
}

static void mark_part(uint64_t from, uint64_t to, uint32_t object)
{
    uint64_t *page = map_put(&objects.pages, from / PAGE);
    struct details *d = page ? details_of(page) : NULL;
    for (uint64_t a = from & ~(uint64_t)(GRAIN - 1); d && a < to; a += GRAIN) {
        uint16_t *at = &d->object[a % PAGE / GRAIN];
        changes_object(*at, object + 1);
        *at = (uint16_t)(object + 1);
    }
}

static void note_large(uint64_t from, uint64_t to, uint32_t object)
{
    for (unsigned i = 0; i < LARGE_BLOCKS; i++)
        if (from < objects.large[i].to && to > objects.large[i].from)
            objects.large[i] = (struct large_block){0};
    if (to - from >= LARGE)
        objects.large[objects.large_next++ % LARGE_BLOCKS] = (struct large_block){from, to, object};
}

static void mark(uint64_t from, uint64_t to, uint32_t object)
{
    note_large(from, to, object);
    while (from < to) {
        uint64_t end = (from & ~(uint64_t)(PAGE - 1)) + PAGE;
        if (end > to || from % PAGE) {
            mark_part(from, end < to ? end : to, object);
        } else {
            uint64_t *page = map_put(&objects.pages, from / PAGE);
            if (page) {
                changes_object(*page, object + 1);
                *page = object + 1;
            }
        }
        from = end;
    }
}

void runtime_allocated(uint64_t address, uint64_t size, uint64_t site)
{
    if (!runtime_on || !address || (!runtime_me->ready && !runtime_thread_begins()) || !runtime_enter())
        return;
    bool locked = runtime.many;
    if (modules_find(&runtime.modules, site) < 0)
        runtime_look_again();
    uint32_t object = runtime_object_of_key(RAW_HEAP, 0, site, "");
    if (object) {
        struct raw_object *o = store_get(&runtime.objects, object);
        o->bytes = size > o->bytes ? size : o->bytes;
        o->count++;
        mark(address, address + size, object);
    }
    runtime_leave(locked);
}

/* In the child of a fork. */
void runtime_objects_forget(void)
{
    details_close();
    map_close(&objects.pages);
    map_close(&objects.by_key);
    objects.refreshed = 0;
}
