/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the process that precede all counts in the file: collected once, at the start. */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct {
    char command[8192], cwd[4096], machine[256], kernel[256];
    char text[16384]; /* files of /proc and /sys as read */
} environment;

/* The arguments of the command line, those with blanks in quotes. */
static void read_command(void)
{
    ssize_t n = hpcrec_slurp("/proc/self/cmdline", environment.text, sizeof environment.text);
    struct text out = hpcrec_text(environment.command, sizeof environment.command);
    for (ssize_t at = 0; at < n;) {
        const char *word = environment.text + at;
        bool quote = !*word || word[strcspn(word, " \t\n'\"\\$*?")];
        hpcrec_text_str(&out, at ? " " : "");
        hpcrec_text_str(&out, quote ? "'" : "");
        hpcrec_text_str(&out, word);
        hpcrec_text_str(&out, quote ? "'" : "");
        at += (ssize_t)strlen(word) + 1;
    }
}

/* The value of "key<tabs>: value" in environment.text. */
static void cpuinfo_value(const char *key, char *to, size_t size)
{
    const char *line = strstr(environment.text, key), *colon = line ? strchr(line, ':') : NULL;
    struct text out = hpcrec_text(to, size);
    if (!colon)
        return;
    colon += 1 + strspn(colon + 1, " \t");
    hpcrec_text_strn(&out, colon, strcspn(colon, "\n"));
}

static void put_note(struct out *o, uint64_t *count, const char *name, const char *value)
{
    if (!*value)
        return;
    hpcrec_put_string(o, name);
    hpcrec_put_string(o, value);
    ++*count;
}

/* "cache L1 Data": "32K", ... as the kernel says them for the first processor. */
static void put_caches(struct out *o, uint64_t *count)
{
    for (char i = '0'; i < '6'; i++) {
        char path[] = "/sys/devices/system/cpu/cpu0/cache/index?/size", value[64], level[16], type[32], name[80];
        char other[96];
        *strchr(path, '?') = i;
        if (hpcrec_slurp(path, value, sizeof value) <= 0)
            return;
        value[strcspn(value, "\n")] = '\0';
        struct text t = hpcrec_text(other, sizeof other);
        hpcrec_text_strn(&t, path, strlen(path) - 4);
        hpcrec_text_str(&t, "level");
        hpcrec_slurp(other, level, sizeof level);
        level[strcspn(level, "\n")] = '\0';
        t = hpcrec_text(other, sizeof other);
        hpcrec_text_strn(&t, path, strlen(path) - 4);
        hpcrec_text_str(&t, "type");
        hpcrec_slurp(other, type, sizeof type);
        type[strcspn(type, "\n")] = '\0';
        t = hpcrec_text(name, sizeof name);
        hpcrec_text_str(&t, "cache L");
        hpcrec_text_str(&t, level);
        hpcrec_text_str(&t, " ");
        hpcrec_text_str(&t, type);
        put_note(o, count, name, value);
    }
}

static void put_environment(struct out *o, uint64_t *count)
{
    for (const char *name = hpcrec.config.note_env; *name;) {
        char key[256], label[264] = "env:";
        size_t n = strcspn(name, ",");
        struct text t = hpcrec_text(key, sizeof key);
        hpcrec_text_strn(&t, name, n);
        const char *value = getenv(key);
        t = hpcrec_text(label, sizeof label);
        hpcrec_text_str(&t, "env:");
        hpcrec_text_str(&t, key);
        if (value) {
            hpcrec_put_string(o, label);
            hpcrec_put_string(o, value);
            ++*count;
        }
        name += n + (name[n] == ',');
    }
}

/* Of a rank: its program's start and size, and the processors it is bound to. */
static void put_job(struct out *o, uint64_t *count)
{
    char text[256];
    struct text number = hpcrec_text(text, sizeof text);
    if (record_rank() < 0)
        return;
    if (record_ranks() > 0) {
        hpcrec_text_u64(&number, (uint64_t)record_ranks());
        put_note(o, count, FORMAT_NOTE_RANKS, text);
    }
    record_job(text, sizeof text, hpcrec_slurp);
    put_note(o, count, FORMAT_NOTE_JOB, text);
    put_note(o, count, FORMAT_NOTE_CHOSEN, hpcrec.config.ranks);
    hpcrec_slurp("/proc/self/status", environment.text, sizeof environment.text);
    cpuinfo_value("Cpus_allowed_list", text, sizeof text);
    put_note(o, count, "CPUs", text);
}

static void put_notes(struct out *o)
{
    static struct out rows;
    char mhz[32], number[32];
    uint64_t count = 0;
    rows.bytes.count = 0;
    cpuinfo_value("cpu MHz", mhz, sizeof mhz);
    put_note(&rows, &count, "clock MHz", mhz);
    cpu_set_t set;
    struct text t = hpcrec_text(number, sizeof number);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        hpcrec_text_u64(&t, (uint64_t)CPU_COUNT(&set));
    put_note(&rows, &count, "processors usable", number);
    put_caches(&rows, &count);
    if (hpcrec.config.run) {
        t = hpcrec_text(number, sizeof number);
        hpcrec_text_u64(&t, hpcrec.config.run);
        put_note(&rows, &count, "run", number);
    }
    if (hpcrec_kernel_is_hidden())
        put_note(&rows, &count, FORMAT_NOTE_KERNEL,
                 "counted, but not sampled: sampling it needs perf_event_paranoid 1 or less, or root");
    put_environment(&rows, &count);
    put_job(&rows, &count);
    size_t block = hpcrec_block_begin(o, FORMAT_NOTES);
    hpcrec_put_uleb(o, count);
    hpcrec_put(o, rows.bytes.items, rows.bytes.count);
    hpcrec_block_end(o, block);
}

int hpcrec_rank(void)
{
    return record_rank();
}

static void put_events(struct out *o)
{
    size_t block = hpcrec_block_begin(o, FORMAT_EVENTS);
    hpcrec_put_uleb(o, hpcrec.config.event_count);
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        const struct record_event *conf = &hpcrec.config.events[e].conf;
        hpcrec_put_string(o, conf->name);
        hpcrec_put_string(o, conf->description);
        hpcrec_put_string(o, conf->unit);
        hpcrec_put_uleb(o, conf->period);
        hpcrec_put_uleb(o, conf->flags);
    }
    hpcrec_block_end(o, block);
}

/* NAME.HOST.PID[.RANK]; NAME is the program file's, made fit for a file name. */
static void name_file(const char *host)
{
    struct text t = hpcrec_text(hpcrec.file_name, sizeof hpcrec.file_name);
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    const char *base = strrchr(exe, '/');
    base = base ? base + 1 : "unknown";
    size_t len = strcspn(base, " ");
    hpcrec_text_strn(&t, base, len < 80 ? len : 80);
    hpcrec_text_str(&t, ".");
    hpcrec_text_strn(&t, host, strlen(host) < 64 ? strlen(host) : 64);
    hpcrec_text_str(&t, ".");
    hpcrec_text_u64(&t, (uint64_t)atomic_load(&hpcrec.pid));
    if (hpcrec_rank() >= 0) {
        hpcrec_text_str(&t, ".");
        hpcrec_text_u64(&t, (uint64_t)hpcrec_rank());
    }
}

/* Which sampler took the samples; with events of several kinds, all that did. */
static const char *sampler_words(void)
{
    static const char *const words[] = {"timer", "ring", "papi", "ring and papi"};
    unsigned kinds = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        kinds |= hpcrec.config.events[e].conf.kind == RECORD_PERF   ? 1u
                 : hpcrec.config.events[e].conf.kind == RECORD_PAPI ? 2u
                                                                    : 0u;
    return words[kinds];
}

void hpcrec_environment_gather(void)
{
    struct out *o = &hpcrec.head;
    struct utsname u;
    struct text kernel = hpcrec_text(environment.kernel, sizeof environment.kernel);
    memset(&u, 0, sizeof u);
    uname(&u);
    read_command();
    if (syscall(SYS_getcwd, environment.cwd, sizeof environment.cwd) < 0)
        environment.cwd[0] = '\0';
    hpcrec_text_str(&kernel, u.sysname);
    hpcrec_text_str(&kernel, " ");
    hpcrec_text_str(&kernel, u.release);
    hpcrec_slurp("/proc/cpuinfo", environment.text, 4096); /* the first processor; the file is long on large machines */
    cpuinfo_value("model name", environment.machine, sizeof environment.machine);
    if (!environment.machine[0])
        memcpy(environment.machine, u.machine, sizeof u.machine);
    o->bytes.count = 0;
    size_t block = hpcrec_block_begin(o, FORMAT_PROCESS);
    hpcrec_put_string(o, u.nodename);
    hpcrec_put_string(o, environment.command);
    hpcrec_put_string(o, environment.cwd);
    hpcrec_put_string(o, environment.machine);
    hpcrec_put_string(o, environment.kernel);
    hpcrec_put_string(o, sampler_words());
    hpcrec_put_uleb(o, hpcrec.start_ns);
    hpcrec_put_uleb(o, (uint64_t)atomic_load(&hpcrec.pid));
    hpcrec_put_uleb(o, (uint64_t)hpcrec.parent);
    hpcrec_put_uleb(o, (uint64_t)(hpcrec_rank() + 1));
    hpcrec_block_end(o, block);
    put_notes(o);
    put_events(o);
    if (hpcrec.barriers)
        hpcrec.barriers->declare(o);
    name_file(u.nodename);
}
