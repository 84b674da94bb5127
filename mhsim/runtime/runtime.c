/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's file: its tables and the simulator in them, from the orders to the end. */
#include "config.h"
#include "mhsim/runtime/modules.h"
#include "mhsim/runtime/state.h"
#include "mhsim/runtime/variables.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char orders_folder[RAW_PATH], file_path[RAW_PATH + 64]; /* of the orders; of the file of counts */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool read_orders(struct raw_orders *o)
{
    char path[RAW_PATH + 16];
    snprintf(path, sizeof path, "%s/" RAW_ORDERS, orders_folder);
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
        snprintf(file_path, sizeof file_path, "%s/%d-%04u" RAW_SUFFIX, orders_folder, (int)getpid(), i);
        int fd = open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || access(orders_folder, W_OK) != 0)
            return fd;
    }
    return -1;
}

static bool open_table(struct store *s, enum raw_table i, size_t row, uint64_t most)
{
    return mmap_store_open(s, row, most, file_path, RAW_TABLE_AT(i), &runtime.head->counts[i]) == 0;
}

_Static_assert(PAIRS_MOST * sizeof(struct mhsim_pair) <= 1 << 28 &&
                   RAW_OBJECTS_MOST * sizeof(struct raw_object) <= 1 << 24 &&
                   RAW_MODULES_MOST * sizeof(struct raw_module) <= 1 << 24 &&
                   RAW_THREADS_MOST * sizeof(struct raw_thread) <= 1 << 24,
               "each table has room before the next one");

static bool open_tables(void)
{
    return open_table(&runtime.rows, RAW_ROWS, sizeof(struct mhsim_row), ROWS_MOST) &&
           open_table(&runtime.pairs, RAW_PAIRS, sizeof(struct mhsim_pair), PAIRS_MOST) &&
           open_table(&runtime.objects, RAW_OBJECTS, sizeof(struct raw_object), RAW_OBJECTS_MOST) &&
           open_table(&runtime.modules, RAW_MODULES, sizeof(struct raw_module), RAW_MODULES_MOST) &&
           open_table(&runtime.threads, RAW_THREADS, sizeof(struct raw_thread), RAW_THREADS_MOST) &&
           mmap_store_add(&runtime.objects, 2);
}

/* All or none of them. */
static bool open_simulator(const struct raw_orders *o)
{
    runtime.sim = NULL;
    runtime.rows = runtime.pairs = runtime.objects = runtime.modules = runtime.threads = (struct store){0};
    if (!open_tables()) {
        mmap_store_close(&runtime.rows);
        mmap_store_close(&runtime.pairs);
        return false;
    }
    runtime.sim = mhsim_create_in(&o->machine, &o->options, &runtime.rows, &runtime.pairs);
    return runtime.sim != NULL;
}

static void close_file(void)
{
    munmap(runtime.head, RAW_HEAD_BYTES);
    mhsim_free(runtime.sim); /* its rows and pairs with it: our mappings of them */
    mmap_store_close(&runtime.objects);
    mmap_store_close(&runtime.modules);
    mmap_store_close(&runtime.threads);
    runtime.head = NULL;
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

/* The work of the simulator's own thread is not the program's. */
static void helper_begins(void)
{
    static struct runtime_thread helper;
    helper.busy = true;
    runtime_me = &helper;
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
    runtime.head = mmap(NULL, RAW_HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (runtime.head == MAP_FAILED) {
        runtime.head = NULL;
        return false;
    }
    *runtime.head = (struct raw_head){.size = RAW_SIZES,
                                      .pid = (uint32_t)getpid(),
                                      .parent_pid = (uint32_t)getppid(),
                                      .way = way,
                                      .start_ns = now_ns(),
                                      .orders = *o};
    if (way == RAW_QEMU)
        memcpy(runtime.head->command, o->command, sizeof runtime.head->command);
    else
        read_command(runtime.head->command, sizeof runtime.head->command);
    if (!open_simulator(o)) {
        close_file();
        return false;
    }
    ((struct raw_object *)store_get(&runtime.objects, 0))->kind = RAW_OTHER;
    ((struct raw_object *)store_get(&runtime.objects, RAW_STACK))->kind = RAW_STACK;
    runtime_first_phase(o);
    runtime.outside = *o->region;
    runtime.in_region = runtime.region_times = 0;
    runtime_set_quiet();
    mhsim_help(runtime.sim, other_processors(), helper_begins);
    runtime_generation++;
    runtime.has_variables = variables_open(orders_folder, o);
    runtime.head->magic = RAW_MAGIC;
    return true;
}

bool runtime_open(enum raw_way way)
{
    static struct raw_orders orders;
    const char *folder = getenv(RAW_VARIABLE);
    if (!folder || !*folder || strlen(folder) >= RAW_PATH)
        return false;
    strcpy(orders_folder, folder);
    runtime_lock_init();
    runtime_on = read_orders(&orders) && open_file(way, &orders);
    return runtime_on;
}

void runtime_forked(void)
{
    if (!runtime.head)
        return;
    struct raw_orders orders = runtime.head->orders;
    enum raw_way way = (enum raw_way)runtime.head->way;
    runtime_on = false;
    if (runtime_me != &runtime_nobody)
        runtime_me->ready = runtime_me->busy = false;
    runtime_me->waiting = runtime_me->room = 0;
    runtime_me->numbered = runtime_me->until = runtime_me->counted = 0;
    close_file();
    modules_close();
    runtime_objects_forget();
    runtime_lock_forked();
    runtime_on = open_file(way, &orders);
}

void runtime_close(void)
{
    if (!runtime.head)
        return;
    runtime_settle();
    runtime.head->end_ns = now_ns();
    runtime.head->ended = 1;
}
