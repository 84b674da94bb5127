/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin for QEMU's user mode: each access that QEMU reports goes to the simulator, with the address of its
 * instruction. Pieces of one access are put together first: QEMU reports 16 and 32 bytes as pieces of 8, and each piece
 * but the first would be a hit.
 */
#include "config.h"
#include "mhsim/instrument/decode.h"
#include "mhsim/runtime/runtime.h"
#include "mhsim/instrument/qemu_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

/* QEMU reads the number after our constructors have run. From interface 2 on (which has this function) it refuses 1. */
__attribute__((constructor)) static void choose_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_num_vcpus"))
        qemu_plugin_version = 2;
}

/* One for each instruction, never freed: translations come and go, a callback's data must stay. */
struct site {
    uint64_t code;
    uint64_t last;    /* QEMU's description of its last access, and its meaning: see access_meaning */
    uint16_t bytes;   /* of an access in pieces; 0: as it comes */
    bool on_stack[2]; /* what it reads, what it writes */
};

static struct store sites;
static struct map site_of;
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static bool (*decode)(const uint8_t *, size_t, struct decoded *);
static long exec_number, execveat_number;
static uint64_t guest_base; /* host address - guest's */

/* ---- accesses ---------------------------------------------------------------------------- */

/* State of an access in pieces. */
static __thread struct pending {
    const struct site *site;
    uint64_t address;
    uint32_t bytes;
    bool write;
} pending __attribute__((tls_model("initial-exec")));

static void flush(struct pending *p)
{
    if (p->bytes)
        runtime_access(p->site->code, p->address, p->bytes, p->write, p->site->on_stack[p->write], 0);
    p->bytes = 0;
}

static void join(const struct site *site, uint64_t address, uint32_t size, bool write)
{
    struct pending *p = &pending;
    if (p->bytes && (p->site != site || p->write != write || p->address + p->bytes != address))
        flush(p);
    if (p->bytes == 0)
        *p = (struct pending){site, address, 0, write};
    else
        runtime_head()->joined++;
    p->bytes += size;
    if (p->bytes >= site->bytes)
        flush(p);
}

/* QEMU returns size and direction by two calls, which give the same for the same `info`; an instruction's accesses
   are mostly alike. One word, because threads share it: info | size << 32 | written << 48. */
static uint64_t access_meaning(struct site *site, qemu_plugin_meminfo_t info)
{
    uint64_t last = __atomic_load_n(&site->last, __ATOMIC_RELAXED);
    if (__builtin_expect(last >> 32 != 0 && (uint32_t)last == info, 1))
        return last;
    last = info | 1ull << (32 + qemu_plugin_mem_size_shift(info)) | (uint64_t)qemu_plugin_mem_is_store(info) << 48;
    __atomic_store_n(&site->last, last, __ATOMIC_RELAXED);
    return last;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct site *site = data;
    (void)vcpu;
    if (!runtime_on)
        return;
    const uint64_t meaning = access_meaning(site, info);
    const uint32_t size = (uint16_t)(meaning >> 32);
    const bool write = meaning >> 48;
    if (__builtin_expect(site->bytes > size || pending.bytes, 0))
        join(site, address + guest_base, size, write);
    else
        runtime_access(site->code, address + guest_base, size, write, site->on_stack[write], 0);
}

/* ---- translation ---------------------------------------------------------------------------- */

static struct site *site_at(uint64_t code, const struct decoded *d)
{
    pthread_mutex_lock(&sites_lock);
    uint64_t *there = map_put(&site_of, code);
    struct site *site = NULL;
    if (there && *there) {
        site = store_get(&sites, *there - 1);
    } else if (there && (site = mmap_store_add(&sites, 1))) {
        *there = *sites.count;
        runtime_head()->instructions += d->memory;
        runtime_head()->unreported += d->unreported;
    }
    if (site)
        *site = (struct site){code, 0, d->bytes, {d->stack_read, d->stack_written}};
    pthread_mutex_unlock(&sites_lock);
    return site;
}

static void on_instruction(struct qemu_plugin_insn *insn)
{
    struct decoded d = {0};
    uint64_t guest = qemu_plugin_insn_vaddr(insn);
    const uint8_t *host = qemu_plugin_insn_haddr(insn);
    if (host) {
        guest_base = (uint64_t)(uintptr_t)host - guest;
        decode(host, qemu_plugin_insn_size(insn), &d);
        if (!d.memory)
            d.bytes = 0;
    }
    struct site *site = site_at(guest + guest_base, &d);
    if (site)
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, site);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; runtime_on && i < qemu_plugin_tb_n_insns(tb); i++)
        on_instruction(qemu_plugin_tb_get_insn(tb, i));
}

/* ---- what the program asks the kernel ------------------------------------------------------------ */

/* libhpcview-simulate-heap.so, in the program, reports its heap by a system call that no kernel has (heap.c). */
static void on_syscall(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (!runtime_on)
        return;
    if (number != RAW_HEAP_CALL && number != RAW_REGION_CALL)
        runtime_settle(); /* it may be the last */
    if (number == RAW_HEAP_CALL)
        runtime_allocated(a1 + guest_base, a2, a3 + guest_base);
    else if (number == RAW_MEASURE_CALL)
        runtime_measure(a1 != 0);
    else if (number == RAW_REGION_CALL)
        runtime_region((const char *)(uintptr_t)(a1 + guest_base), a2 != 0);
    else if (number == exec_number)
        snprintf(runtime_head()->execs, sizeof runtime_head()->execs, "%s", (const char *)(uintptr_t)(a1 + guest_base));
    else if (number == execveat_number)
        snprintf(runtime_head()->execs, sizeof runtime_head()->execs, "%s", (const char *)(uintptr_t)(a2 + guest_base));
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    runtime_close();
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)argc, (void)argv;
    bool arm = strcmp(info->target_name, "aarch64") == 0;
    if (info->system_emulation || (!arm && strcmp(info->target_name, "x86_64") != 0)) {
        fprintf(stderr, "hpcview: the plugin supports qemu-x86_64 and qemu-aarch64, not %s\n", info->target_name);
        return -1;
    }
    decode = arm ? decode_aarch64 : decode_x86_64;
    exec_number = arm ? 221 : 59;
    execveat_number = arm ? 281 : 322;
    if (mmap_store_open(&sites, sizeof(struct site), 1u << 26, NULL, 0, NULL) < 0 || !runtime_open(RAW_QEMU))
        return -1;
    pthread_atfork(runtime_settle, NULL, runtime_forked);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
