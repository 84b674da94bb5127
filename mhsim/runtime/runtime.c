/* Inside the simulated process: lock, threads, what addresses are of, when to count. */
#include "config.h"
#include "mhsim/runtime/runtime.h"
#include "mhsim/runtime/modules.h"
#include "mhsim/engine/state.h"
#include "mhsim/runtime/variables.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct inside_thread runtime_nobody = {.busy = true};
__thread struct inside_thread *inside_me = &runtime_nobody;
volatile bool runtime_on;
uint32_t runtime_generation;

#define NOT_WANTED UINT32_MAX /* the row of code that was not asked for */

enum phase { NOT_YET, COUNTING, WARMING, PAUSE, OVER };

#define MIXED (1ull << 63)
enum { PAGE = 4096, GRAIN = 16, DETAIL_CHUNK = 1 << 12, DETAIL_CHUNKS = 1 << 12 }; /* GRAIN: malloc's own */

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
    struct raw_head *head;
    struct mhsim *sim;
    struct store rows, pairs, objects, modules, threads;
    struct map pages; /* page -> object + 1, or MIXED and the number of its details */
    struct map objects_by_key, data_pages;
    struct details *details[DETAIL_CHUNKS]; /* as many as there was a need for: see details_at */
    uint64_t detail_count;
    struct large_block large[LARGE_BLOCKS];
    uint32_t large_next;
    char folder[RAW_PATH], path[RAW_PATH + 64]; /* of the orders; of what is counted into */
    uint64_t left;                              /* accesses until the phase changes; UINT64_MAX: never */
    uint64_t refreshed;                         /* unknown addresses until the maps are read again */
    enum phase phase;
    bool has_variables;               /* see variables.h */
    bool stopped;                     /* hpcview_stop */
    bool outside;                     /* of the region, or in another of its times */
    bool of_nothing;                  /* some place remembers that its addresses are */
    uint32_t in_region, region_times; /* threads in it; how often the first of them entered it */
} in;

struct raw_head *runtime_head(void)
{
    return in.head;
}

/* ---- one at a time ---------------------------------------------------------------------
 *
 * With one thread the lock would be most of an access's cost, so it is only taken from the second on. The second, at
 * its first access, says so and then waits until the first is seen outside: a barrier on all cores (membarrier) makes
 * the first's plain store to `busy` come before its look at `many`. */

static int lock_word;
static volatile bool many;
static struct inside_thread *first_thread;
static bool no_membarrier;

static void take_lock(void)
{
    for (unsigned spins = 0; __atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE); spins++)
        if (spins > 100)
            sched_yield();
}

static void drop_lock(void)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

/* Accesses that may wait: the one that changes the phase does not. */
static uint32_t room_left(void)
{
    return in.left > BATCH ? BATCH : (uint32_t)in.left - 1;
}

static bool counts(void)
{
    return in.phase == COUNTING && !in.outside;
}

/* A signal handler that was at it between the thread's look and its store may have been forgotten: never more than there are. */
static void see_numbered(struct inside_thread *t)
{
    uint64_t numbered = t->numbered, n = numbered > t->counted ? numbered - t->counted : 0;
    n = n < in.left ? n : in.left - 1;
    in.head->seen += n;
    in.left -= n;
    t->counted = numbered;
}

/* What waits comes before whatever is done next. Of the first thread; it is busy, or stands still. */
static void simulate_waiting(void)
{
    struct inside_thread *t = first_thread;
    if (t)
        see_numbered(t);
    uint32_t n = t ? t->waiting : 0, wanted = 0;
    if (n == 0)
        return;
    in.head->seen += n;
    in.left -= n;
    for (uint32_t i = 0; i < n && in.head->orders.range_count; i++)
        if (t->batch[i].row != NOT_WANTED)
            t->batch[wanted++] = t->batch[i];
    wanted = in.head->orders.range_count ? wanted : n;
    in.head->simulated += counts() ? wanted : 0;
    mhsim_accesses(in.sim, t->batch, wanted);
    t->waiting = 0;
    if (t->room)
        t->room = room_left();
}

static bool enter(void)
{
    if (inside_me->busy)
        return false;
    inside_me->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (many)
        take_lock();
    simulate_waiting();
    return true;
}

static void leave(bool locked)
{
    if (locked)
        drop_lock();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    inside_me->busy = false;
}

static void wait_for_first(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (first_thread->busy)
        sched_yield();
}

/* There is a first one. `room` follows from `many`: the first thread may just be working it out from what `many` was. */
static void become_many(void)
{
    many = true;
    if (no_membarrier)
        return;
    wait_for_first();
    first_thread->until = first_thread->room = 0;
    wait_for_first();
}

/* ---- details of pages -----------------------------------------------------------------------
 *
 * They come in chunks: programs run under limits of address space. */

static struct details *details_at(uint64_t i)
{
    return &in.details[i / DETAIL_CHUNK][i % DETAIL_CHUNK];
}

/* Cleared; NULL: the limit, or no memory. */
static struct details *details_add(void)
{
    uint64_t i = in.detail_count, chunk = i / DETAIL_CHUNK;
    if (chunk == DETAIL_CHUNKS)
        return NULL;
    if (!in.details[chunk])
        in.details[chunk] = pages_get(DETAIL_CHUNK * sizeof(struct details));
    if (!in.details[chunk])
        return NULL;
    in.detail_count++;
    return details_at(i);
}

static void details_close(void)
{
    for (unsigned i = 0; i < DETAIL_CHUNKS; i++) {
        pages_put(in.details[i], DETAIL_CHUNK * sizeof(struct details));
        in.details[i] = NULL;
    }
    in.detail_count = 0;
    memset(in.large, 0, sizeof in.large);
}

/* ---- opening ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool read_orders(const char *folder, struct raw_orders *o)
{
    char path[RAW_PATH + 16];
    snprintf(path, sizeof path, "%s/" RAW_ORDERS, folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good =
        fd >= 0 && read(fd, o, sizeof *o) == (ssize_t)sizeof *o && o->magic == RAW_MAGIC && o->size == sizeof *o;
    if (fd >= 0)
        close(fd);
    return good;
}

static int make_file(void)
{
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(in.path, sizeof in.path, "%s/%d-%04u" RAW_SUFFIX, in.folder, (int)getpid(), i);
        int fd = open(in.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || access(in.folder, W_OK) != 0)
            return fd;
    }
    return -1;
}

static bool open_table(struct store *s, enum raw_table i, size_t row, uint64_t most)
{
    return mmap_store_open(s, row, most, in.path, RAW_TABLE_AT(i), &in.head->counts[i]) == 0;
}

_Static_assert(PAIRS_MOST * sizeof(struct mhsim_pair) <= 1 << 28 &&
                   RAW_OBJECTS_MOST * sizeof(struct raw_object) <= 1 << 24 &&
                   RAW_MODULES_MOST * sizeof(struct raw_module) <= 1 << 24 &&
                   RAW_THREADS_MOST * sizeof(struct raw_thread) <= 1 << 24,
               "each table has room before the next one");

static bool open_tables(void)
{
    return open_table(&in.rows, RAW_ROWS, sizeof(struct mhsim_row), ROWS_MOST) &&
           open_table(&in.pairs, RAW_PAIRS, sizeof(struct mhsim_pair), PAIRS_MOST) &&
           open_table(&in.objects, RAW_OBJECTS, sizeof(struct raw_object), RAW_OBJECTS_MOST) &&
           open_table(&in.modules, RAW_MODULES, sizeof(struct raw_module), RAW_MODULES_MOST) &&
           open_table(&in.threads, RAW_THREADS, sizeof(struct raw_thread), RAW_THREADS_MOST) &&
           mmap_store_add(&in.objects, 2);
}

/* All or none of them. */
static bool open_simulator(const struct raw_orders *o)
{
    in.sim = NULL;
    in.rows = in.pairs = in.objects = in.modules = in.threads = (struct store){0};
    if (!open_tables()) {
        mmap_store_close(&in.rows);
        mmap_store_close(&in.pairs);
        return false;
    }
    in.sim = mhsim_create_in(&o->machine, &o->options, &in.rows, &in.pairs);
    return in.sim != NULL;
}

static void close_file(void)
{
    munmap(in.head, RAW_HEAD_BYTES);
    mhsim_free(in.sim); /* its rows and pairs with it: our mappings of them */
    mmap_store_close(&in.objects);
    mmap_store_close(&in.modules);
    mmap_store_close(&in.threads);
    in.head = NULL;
}

static void read_command(char *to, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, room - 1) : 0;
    for (ssize_t i = 0; i + 1 < n; i++)
        if (to[i] == '\0')
            to[i] = ' ';
    if (fd >= 0)
        close(fd);
}

/* What follows from when and where something is to be counted. */
static void set_quiet(void)
{
    bool simulating = (in.phase == COUNTING || in.phase == WARMING) && !in.stopped;
    struct inside_thread *t = first_thread;
    mhsim_quiet(in.sim, !counts());
    if (!t || many)
        return;
    t->room = simulating ? room_left() : 0;
    t->until = simulating ? 0 : in.left - 1 > UINT64_MAX - t->counted ? UINT64_MAX : t->counted + in.left - 1;
}

static void first_phase(const struct raw_orders *o)
{
    in.phase = o->delay ? NOT_YET : o->burst && o->warm_up ? WARMING : COUNTING;
    in.left = o->delay    ? o->delay
              : o->burst  ? (o->warm_up ? o->warm_up : o->burst)
              : o->window ? o->window
                          : UINT64_MAX;
}

/* What the simulator's own thread does is nothing that the program does. */
static void helper_begins(void)
{
    static struct inside_thread helper;
    helper.busy = true;
    inside_me = &helper;
}

static unsigned other_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) - 1 : 0;
}

static bool open_file(enum raw_way way, const struct raw_orders *o)
{
    int fd = make_file();
    if (fd < 0)
        return false;
    if (posix_fallocate(fd, 0, RAW_HEAD_BYTES) != 0) {
        close(fd);
        return false;
    }
    in.head = mmap(NULL, RAW_HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (in.head == MAP_FAILED) {
        in.head = NULL;
        return false;
    }
    *in.head = (struct raw_head){.size = RAW_SIZES,
                                 .pid = (uint32_t)getpid(),
                                 .parent_pid = (uint32_t)getppid(),
                                 .way = way,
                                 .start_ns = now_ns(),
                                 .orders = *o};
    if (way == RAW_QEMU)
        memcpy(in.head->command, o->command, sizeof in.head->command);
    else
        read_command(in.head->command, sizeof in.head->command);
    if (!open_simulator(o)) {
        close_file();
        return false;
    }
    ((struct raw_object *)store_get(&in.objects, 0))->kind = RAW_OTHER;
    ((struct raw_object *)store_get(&in.objects, RAW_STACK))->kind = RAW_STACK;
    first_phase(o);
    in.outside = *o->region;
    in.in_region = in.region_times = 0;
    set_quiet();
    mhsim_help(in.sim, other_processors(), helper_begins);
    runtime_generation++;
    in.has_variables = variables_open(in.folder, o);
    in.head->magic = RAW_MAGIC;
    return true;
}

bool runtime_open(enum raw_way way)
{
    static struct raw_orders orders;
    const char *folder = getenv(RAW_VARIABLE);
    if (!folder || !*folder || strlen(folder) >= RAW_PATH)
        return false;
    strcpy(in.folder, folder);
    no_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    many = no_membarrier;
    runtime_on = read_orders(folder, &orders) && open_file(way, &orders);
    return runtime_on;
}

void runtime_forked(void)
{
    if (!in.head)
        return;
    struct raw_orders orders = in.head->orders;
    enum raw_way way = (enum raw_way)in.head->way;
    runtime_on = false;
    lock_word = 0;
    if (inside_me != &runtime_nobody)
        inside_me->ready = inside_me->busy = false;
    inside_me->waiting = inside_me->room = 0;
    inside_me->numbered = inside_me->until = inside_me->counted = 0;
    close_file();
    details_close();
    map_close(&in.pages);
    map_close(&in.objects_by_key);
    map_close(&in.data_pages);
    modules_close();
    in.refreshed = 0;
    many = no_membarrier;
    first_thread = NULL;
    runtime_on = open_file(way, &orders);
}

void runtime_settle(void)
{
    if (!in.head || !first_thread)
        return;
    if (first_thread == inside_me) {
        if (!enter())
            return;
        mhsim_wait(in.sim);
        leave(many);
        return;
    }
    if ((first_thread->waiting == 0 && first_thread->until == 0) || !inside_out())
        return;
    become_many();
    take_lock();
    simulate_waiting();
    mhsim_wait(in.sim);
    drop_lock();
}

void runtime_close(void)
{
    if (!in.head)
        return;
    runtime_settle();
    in.head->end_ns = now_ns();
    in.head->ended = 1;
}

void runtime_measure(bool on)
{
    runtime_settle();
    in.stopped = !on;
    if (first_thread)
        first_thread->until = first_thread->room = 0; /* until the next access, which sees to it */
}

/* ---- threads ------------------------------------------------------------------------------- */

static void find_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        inside_me->stack_lo = (uint64_t)(uintptr_t)low;
        inside_me->stack_hi = inside_me->stack_lo + size;
    }
    pthread_attr_destroy(&attr);
}

/* The thread's first access: before the lock, because finding the stack may ask for memory. */
static bool thread_begins(void)
{
    struct inside_thread *me = inside_me == &runtime_nobody ? pages_get(sizeof *me) : inside_me;
    if (!me || me->busy)
        return false;
    inside_me = me;
    me->busy = true;
    if (in.head->way == RAW_HOOKS)
        find_stack();
    if (first_thread)
        become_many();
    take_lock();
    simulate_waiting();
    if (!first_thread)
        first_thread = me;
    me->core = mhsim_core(in.sim);
    struct raw_thread *t = mmap_store_add(&in.threads, 1);
    if (t)
        *t = (struct raw_thread){(uint64_t)syscall(SYS_gettid), me->core};
    me->ready = me->core != UINT32_MAX;
    drop_lock();
    me->busy = false;
    return me->ready;
}

/* ---- what an address is of --------------------------------------------------------------------- */

/* The object with this key of its kind, made where there is none; 0 beyond the limit. */
static uint32_t object_of_key(uint32_t kind, uint32_t module, uint64_t address, const char *name)
{
    uint64_t *there =
        map_put(&in.objects_by_key, map_hash(address ^ (uint64_t)kind << 60 ^ (uint64_t)module << 48) >> 1);
    if (there && !*there) {
        struct raw_object *o = mmap_store_add(&in.objects, 1);
        if (!o)
            return 0;
        *o = (struct raw_object){.kind = kind, .module = module, .address = address};
        snprintf(o->name, sizeof o->name, "%s", name);
        *there = *in.objects.count - 1;
    }
    return there ? (uint32_t)*there : 0;
}

/* The debug information may say more than the symbols: of a COMMON block, the member. */
static bool static_variable(uint32_t module, uint64_t address, struct data_symbol *d)
{
    const struct raw_module *m = store_get(&in.modules, module);
    const struct raw_variables *of = in.has_variables ? variables_of(m->path) : NULL;
    const struct mhsim_variable *v = of ? variables_static(of, address - m->bias) : NULL;
    if (v)
        *d = (struct data_symbol){.lo = (uint64_t)v->lo + m->bias, .hi = (uint64_t)v->hi + m->bias, .name = v->name};
    return v != NULL;
}

static uint32_t module_object(uint64_t address, uint64_t *lo, uint64_t *hi)
{
    struct data_symbol d;
    int64_t m = modules_find(&in.modules, address);
    if (m < 0)
        return 0;
    bool known = static_variable((uint32_t)m, address, &d) || modules_symbol(&in.modules, (uint32_t)m, address, &d);
    uint32_t object = known ? object_of_key(RAW_STATIC, (uint32_t)m, d.lo, d.name)
                            : object_of_key(RAW_MODULE_DATA, (uint32_t)m, 0, "");
    struct raw_object *o = store_get(&in.objects, object);
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
    const uint64_t *page = map_get(&in.pages, address / PAGE);
    if (!page || !*page)
        return 0;
    *lo = address & ~(uint64_t)(PAGE - 1);
    *hi = *lo + PAGE;
    for (unsigned i = 0; i < LARGE_BLOCKS; i++)
        if (address >= in.large[i].from && address < in.large[i].to) {
            *lo = in.large[i].from;
            *hi = in.large[i].to;
            return in.large[i].object;
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
static void look_again(void)
{
    static uint64_t unknown;
    if (++unknown < in.refreshed)
        return;
    in.refreshed = unknown * 2;
    modules_refresh(&in.modules);
}

static bool on_this_stack(uint64_t address)
{
    return address >= inside_me->stack_lo && address < inside_me->stack_hi;
}

/* What the frame pointer of the code itself says, where it says anything: handlers may run on other stacks, and code
   without frame pointers keep other things in that register. */
static bool is_frame(uint64_t fp)
{
    uint64_t here = (uint64_t)(uintptr_t)&here;
    return on_this_stack(here) && fp > here && fp % 8 == 0 && on_this_stack(fp + 16);
}

/* The next frame up, and the code in it that called; false: what is there is none. */
static bool frame_up(uint64_t *fp, uint64_t *code)
{
    const uint64_t *at = (const uint64_t *)(uintptr_t)*fp;
    uint64_t up = at[0];
    *code = at[1] - 1;
    if (up <= *fp || up % 8 || !on_this_stack(up + 16))
        return false;
    *fp = up;
    return true;
}

enum { CANONICAL = 16, DEEPEST = 64 }; /* frame pointer to canonical address; calls looked up for a frame */

/* The first frame, from the code's own up, that reaches the address: how many calls up it is. NO_FRAME: none does. */
static uint32_t find_frame(uint64_t *fp, uint64_t *code, uint64_t address)
{
    uint32_t depth = 0;
    if (!is_frame(*fp))
        return NO_FRAME;
    for (; address >= *fp + CANONICAL; depth++)
        if (depth == DEEPEST || !frame_up(fp, code))
            return NO_FRAME;
    return depth;
}

/* The variable at an address of this thread's stack. What it is remembered for may begin below the frame: where that is another's,
   same_frame says so. */
static uint32_t stack_object(struct place *p, uint64_t address, uint64_t frame)
{
    uint64_t fp = frame, code = p->code;
    p->depth = find_frame(&fp, &code, address);
    if (p->depth == NO_FRAME) {
        p->frame = frame;
        return RAW_STACK;
    }
    const int64_t m = modules_find(&in.modules, code);
    const struct raw_module *module = m >= 0 ? store_get(&in.modules, (uint64_t)m) : NULL;
    const struct raw_variables *of = module ? variables_of(module->path) : NULL;
    int64_t lo = (int64_t)(inside_me->stack_lo - fp) - CANONICAL, hi = 0;
    const struct mhsim_variable *v =
        of ? variables_in_frame(of, code - module->bias, (int64_t)(address - fp) - CANONICAL, &lo, &hi) : NULL;
    p->lo = fp + CANONICAL + (uint64_t)lo;
    p->bytes = (uint64_t)(hi - lo);
    p->frame = fp;
    p->frame_code = code;
    uint32_t object = v ? object_of_key(RAW_STACK, 0, variables_number(v) + 1, v->name) : RAW_STACK;
    if (v && object)
        ((struct raw_object *)store_get(&in.objects, object))->bytes = (uint64_t)(v->hi - v->lo);
    return object ? object : RAW_STACK;
}

/* Those in between may be others than before, and reach it now. */
static bool same_frame(const struct place *p, uint64_t address, uint64_t frame)
{
    uint64_t fp = frame, code = p->code;
    if (p->depth == 0)
        return frame == p->frame;
    return find_frame(&fp, &code, address) == p->depth &&
           (p->depth == NO_FRAME || (fp == p->frame && code == p->frame_code));
}

static bool place_fits(const struct place *p, uint64_t code, uint64_t address, uint64_t frame)
{
    return place_fits_but_frame(p, code, address) && (!p->frame || same_frame(p, address, frame));
}

/* Of what is not on this thread's stack. */
static uint32_t object_elsewhere(uint64_t address, bool on_stack, uint64_t *lo, uint64_t *hi)
{
    uint32_t object = heap_object(address, lo, hi);
    if (!object && on_stack) {
        uint64_t *page = map_put(&in.pages, address / PAGE);
        if (page && !*page)
            *page = RAW_STACK + 1;
        return RAW_STACK;
    }
    if (!object)
        object = module_object(address, lo, hi);
    if (!object) {
        look_again();
        object = module_object(address, lo, hi);
    }
    return object;
}

static uint32_t object_at(struct place *p, uint64_t address, bool on_stack, uint64_t frame)
{
    uint64_t lo = address & ~(uint64_t)(GRAIN - 1), hi = lo + GRAIN;
    p->frame = 0;
    p->lo = lo;
    p->bytes = GRAIN;
    if (on_this_stack(address)) {
        if (in.has_variables && frame)
            return stack_object(p, address, frame);
        p->lo = inside_me->stack_lo;
        p->bytes = inside_me->stack_hi - p->lo;
        return RAW_STACK;
    }
    uint32_t object = object_elsewhere(address, on_stack, &lo, &hi);
    p->lo = lo;
    p->bytes = hi - lo;
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
    *page = MIXED | (in.detail_count - 1);
    return d;
}

/* What places remember of the address may be over. */
static void changes_object(uint64_t was, uint64_t is)
{
    if (was ? was == is : !in.of_nothing)
        return;
    runtime_generation++;
    in.of_nothing = false;
}

static void mark_part(uint64_t from, uint64_t to, uint32_t object)
{
    uint64_t *page = map_put(&in.pages, from / PAGE);
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
        if (from < in.large[i].to && to > in.large[i].from)
            in.large[i] = (struct large_block){0};
    if (to - from >= LARGE)
        in.large[in.large_next++ % LARGE_BLOCKS] = (struct large_block){from, to, object};
}

static void mark(uint64_t from, uint64_t to, uint32_t object)
{
    note_large(from, to, object);
    while (from < to) {
        uint64_t end = (from & ~(uint64_t)(PAGE - 1)) + PAGE;
        if (end > to || from % PAGE) {
            mark_part(from, end < to ? end : to, object);
        } else {
            uint64_t *page = map_put(&in.pages, from / PAGE);
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
    if (!runtime_on || !address || (!inside_me->ready && !thread_begins()) || !enter())
        return;
    bool locked = many;
    if (modules_find(&in.modules, site) < 0)
        look_again();
    uint32_t object = object_of_key(RAW_HEAP, 0, site, "");
    if (object) {
        struct raw_object *o = store_get(&in.objects, object);
        o->bytes = size > o->bytes ? size : o->bytes;
        o->count++;
        mark(address, address + size, object);
    }
    leave(locked);
}

void runtime_region(const char *name, bool begins)
{
    if (!runtime_on || !*in.head->orders.region || strncmp(name, in.head->orders.region, RAW_REGION) != 0 ||
        (!inside_me->ready && !thread_begins()) || !enter())
        return;
    bool locked = many;
    uint32_t time = in.head->orders.region_time;
    if (begins && in.in_region++ == 0)
        in.outside = ++in.region_times != time && time;
    else if (!begins && in.in_region > 0 && --in.in_region == 0)
        in.outside = true;
    set_quiet();
    leave(locked);
}

/* ---- when ---------------------------------------------------------------------------------------------- */

static void next_phase(void)
{
    const struct raw_orders *o = &in.head->orders;
    if (in.phase == COUNTING && !o->burst) {
        in.phase = OVER;
    } else if (in.phase == COUNTING) {
        in.phase = PAUSE;
    } else if (in.phase == NOT_YET || in.phase == PAUSE) {
        in.phase = o->burst && o->warm_up ? WARMING : COUNTING;
    } else if (in.phase == WARMING) {
        in.phase = COUNTING;
    }
    in.left = in.phase == OVER      ? UINT64_MAX
              : in.phase == WARMING ? o->warm_up
              : in.phase == PAUSE   ? o->period - o->burst - o->warm_up
              : o->burst            ? o->burst
              : o->window           ? o->window
                                    : UINT64_MAX;
    if (in.left == 0)
        next_phase();
    set_quiet();
}

static bool is_program(const struct raw_module *m)
{
    return strcmp(m->path, in.head->orders.program) == 0;
}

/* ---- an access ------------------------------------------------------------------------------------------- */

static bool wanted_code(uint64_t code)
{
    const struct raw_orders *o = &in.head->orders;
    if (!o->range_count)
        return true;
    int64_t i = modules_find(&in.modules, code);
    if (i < 0) {
        modules_refresh(&in.modules);
        i = modules_find(&in.modules, code);
    }
    const struct raw_module *m = i >= 0 ? store_get(&in.modules, (uint64_t)i) : NULL;
    for (uint32_t k = 0; m && k < o->range_count && is_program(m); k++)
        if (code - m->bias >= o->ranges[k].from && code - m->bias < o->ranges[k].to)
            return true;
    return false;
}

static void find_place(struct place *p, uint64_t code, uint64_t address, bool on_stack, uint64_t frame)
{
    if (p->code != code) {
        p->code = code;
        p->row = wanted_code(code) ? 0 : NOT_WANTED;
    }
    p->generation = runtime_generation;
    if (p->row == NOT_WANTED) {
        p->lo = 0;
        p->bytes = UINT64_MAX;
        p->frame = 0;
        return;
    }
    if (modules_find(&in.modules, code) < 0)
        look_again();
    uint32_t object = object_at(p, address, on_stack, frame);
    in.of_nothing |= object == 0;
    p->row = mhsim_row(in.sim, inside_me->core, code, object);
}

static void swap_places(struct place *a, struct place *b)
{
    struct place was = *a;
    *a = *b;
    *b = was;
}

/* One of those which the code may have its place from besides its own. */
static struct place *further_place(const struct place *own, uint32_t i)
{
    return &inside_me->places[(uint32_t)(own - inside_me->places) ^ i * (PLACES / FURTHER_PLACES)];
}

/* The code's place, made fit. Code that goes from array to array and back (a merge, a copy) keeps what it knew of the others
   further on; the one that fits comes to the front, where it is looked for. */
static const struct place *fit_place(uint64_t code, uint64_t address, bool on_stack, uint64_t frame)
{
    static uint32_t turn;
    struct place *own = place_of(inside_me, code);
    if (place_fits(own, code, address, frame))
        return own;
    for (uint32_t i = 1; i < FURTHER_PLACES; i++)
        if (place_fits(further_place(own, i), code, address, frame)) {
            swap_places(own, further_place(own, i));
            return own;
        }
    *further_place(own, 1 + turn++ % (FURTHER_PLACES - 1)) = *own;
    find_place(own, code, address, on_stack, frame);
    return own;
}

/* What waits as well, but took more steps to find out. */
static bool append_further(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    struct inside_thread *me = inside_me;
    me->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bool room = me->waiting < me->room;
    if (room)
        inside_append(me, fit_place(code, address, on_stack, frame), address, size, write);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    me->busy = false;
    return room;
}

void runtime_access_slowly(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    if (!inside_me->ready && !thread_begins())
        return;
    if (inside_me->busy) {
        in.head->lost++;
        return;
    }
    if (append_further(code, address, size, write, on_stack, frame) || !enter())
        return;
    bool locked = many;
    if (inside_me->waiting < inside_me->room) { /* what waited made room */
        inside_append(inside_me, fit_place(code, address, on_stack, frame), address, size, write);
        leave(locked);
        return;
    }
    in.head->seen++;
    if (in.phase <= WARMING && in.phase != NOT_YET && !in.stopped) {
        const struct place *p = fit_place(code, address, on_stack, frame);
        if (p->row != NOT_WANTED) {
            in.head->simulated += counts();
            mhsim_access(in.sim, p->row, address, size, write);
        }
    }
    if (--in.left == 0)
        next_phase();
    else if (!locked)
        set_quiet();
    leave(locked);
}
