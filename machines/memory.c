/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of a machine's memory: from a file, this machine's from the kernel, checks, the sentence. */
#include "machines/file.h"
#include "machines/machines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- values of attributes ------------------------------------------------------------ */

/* "32K", "1M", "2G", "4096" */
static bool parse_size(const char *text, uint64_t *to)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long long v = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (errno || *end || v > UINT64_MAX >> shift)
        return false;
    *to = v << shift;
    return true;
}

static int get_number(const struct machine_file *f, const struct xml_event *e, const char *attr, uint64_t most,
                      bool needed, uint64_t *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    if (!text && !needed)
        return 0;
    if (!text)
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> needs %s=\"...\"", f->name, (unsigned long long)e->line,
                       e->element, attr);
    if (!parse_size(text, to) || *to == 0 || *to > most)
        return xml_attr_wrong(e, f->name, attr, text, "expected an integer above 0, optionally followed by K, M or G",
                              err);
    return 0;
}

/* One of `words` (NULL-terminated); its index. */
static int get_word(const struct machine_file *f, const struct xml_event *e, const char *attr, const char *const *words,
                    unsigned *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    struct buf b = {0};
    for (unsigned i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *to = i;
            return 0;
        }
    if (!text)
        return 0;
    for (unsigned i = 0; words[i]; i++)
        buf_printf(&b, "%s%s", i ? " or " : "", words[i]);
    buf_str(&b, " is required");
    int status = xml_attr_wrong(e, f->name, attr, text, b.bytes, err);
    buf_release(&b);
    return status;
}

static const char *const yes_words[] = {"no", "yes", NULL};

static int get_yes(const struct machine_file *f, const struct xml_event *e, const char *attr, bool *to, struct err *err)
{
    unsigned v = *to;
    int status = get_word(f, e, attr, yes_words, &v, err);
    *to = v != 0;
    return status;
}

/* ---- checks ----------------------------------------------------------------------------- */

static bool power_of_two(uint64_t v)
{
    return v && (v & (v - 1)) == 0;
}

static int check_level(const struct machine_level *l, const char *where, struct err *err)
{
    const char *block = l->tlb ? "page" : "line";
    if (!power_of_two(l->line))
        return err_set(err, ERR_FORMAT, "%s: %s: a %s of %u bytes; it must be a power of two", where, l->name, block,
                       l->line);
    if (l->ways == 0 || l->ways > MACHINE_WAYS)
        return err_set(err, ERR_FORMAT, "%s: %s: the number of ways must be 1 to %d", where, l->name, MACHINE_WAYS);
    if (l->size == 0 || l->size % ((uint64_t)l->line * l->ways))
        return err_set(err, ERR_FORMAT, "%s: %s: %llu bytes are not a multiple of %u ways of %u bytes", where, l->name,
                       (unsigned long long)l->size, l->ways, l->line);
    if (l->size / l->line > 1u << 28)
        return err_set(err, ERR_LIMIT, "%s: %s: more than %u cache lines", where, l->name, 1u << 28);
    if (l->replace == MACHINE_PLRU && !power_of_two(l->ways))
        return err_set(err, ERR_FORMAT,
                       "%s: %s: plru uses a tree, so the number of ways must be a power of two, not %u", where, l->name,
                       l->ways);
    if (l->write_through && l->inclusive && l->no_allocate)
        return err_set(err, ERR_FORMAT, "%s: %s: a level that does not allocate stores cannot be inclusive", where,
                       l->name);
    return 0;
}

/* ---- elements --------------------------------------------------------------------------- */

static int get_name(const struct machine_file *f, const struct xml_event *e, struct machine_level *l, struct err *err)
{
    const char *name = xml_attr_get(e, "name");
    if (!name || !*name || strlen(name) >= sizeof l->name)
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> needs a name of 1 to %zu letters", f->name,
                       (unsigned long long)e->line, e->element, sizeof l->name - 1);
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_')
            return xml_attr_wrong(e, f->name, "name", name,
                                  "use letters, digits, '-' and '_': the name becomes part of metric names", err);
    strcpy(l->name, name);
    return 0;
}

static int read_common(const struct machine_file *f, const struct xml_event *e, struct machine_level *l,
                       struct err *err)
{
    static const char *const policies[] = {"lru", "plru", "random", NULL};
    unsigned policy = MACHINE_LRU;
    uint64_t ways = 0, latency = 0;
    if (get_name(f, e, l, err) < 0 || get_number(f, e, "ways", MACHINE_WAYS, false, &ways, err) < 0 ||
        get_number(f, e, "latency", 1000000, false, &latency, err) < 0 ||
        get_word(f, e, "policy", policies, &policy, err) < 0 || get_yes(f, e, "shared", &l->shared, err) < 0)
        return -1;
    l->ways = (uint32_t)ways;
    l->latency = (uint32_t)latency;
    l->replace = (uint8_t)policy;
    return 0;
}

static int read_cache(const struct machine_file *f, const struct xml_event *e, struct machine_level *l, struct err *err)
{
    static const char *const known[] = {"name",     "size",      "line",   "ways",    "policy",   "write",
                                        "allocate", "inclusive", "shared", "latency", "prefetch", NULL};
    static const char *const writes[] = {"back", "through", NULL};
    static const char *const prefetches[] = {"none", "next-line", "stride", NULL};
    unsigned through = 0, prefetch = MACHINE_NO_PREFETCH;
    uint64_t line = 64;
    bool allocate = true;
    if (xml_attrs_known(e, f->name, known, err) < 0 || read_common(f, e, l, err) < 0 ||
        get_number(f, e, "size", 1ull << 32, true, &l->size, err) < 0 ||
        get_number(f, e, "line", 1 << 16, false, &line, err) < 0 ||
        get_word(f, e, "write", writes, &through, err) < 0 || get_yes(f, e, "allocate", &allocate, err) < 0 ||
        get_yes(f, e, "inclusive", &l->inclusive, err) < 0 ||
        get_word(f, e, "prefetch", prefetches, &prefetch, err) < 0)
        return -1;
    l->line = (uint32_t)line;
    l->write_through = through != 0;
    l->no_allocate = !allocate;
    l->prefetch = (uint8_t)prefetch;
    return 0;
}

static int read_tlb(const struct machine_file *f, const struct xml_event *e, struct machine_level *l, struct err *err)
{
    static const char *const known[] = {"name", "entries", "page", "ways", "policy", "shared", "latency", NULL};
    uint64_t entries = 0, page = 4096;
    if (xml_attrs_known(e, f->name, known, err) < 0 || read_common(f, e, l, err) < 0 ||
        get_number(f, e, "entries", 1 << 20, true, &entries, err) < 0 ||
        get_number(f, e, "page", 1 << 30, false, &page, err) < 0)
        return -1;
    l->tlb = true;
    l->size = entries * page;
    l->line = (uint32_t)page;
    if (l->ways == 0)
        l->ways = entries <= MACHINE_WAYS ? (uint32_t)entries : 0;
    return 0;
}

static int begin_level(void *ctx, const struct machine_file *f, const struct xml_event *e, struct err *err)
{
    struct machine_memory *m = ctx;
    struct machine_level l = {0};
    bool tlb = strcmp(e->element, "tlb") == 0;
    if (!tlb && strcmp(e->element, "cache") != 0)
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> is not allowed in <memory>; use <cache> and <tlb>", f->name,
                       (unsigned long long)e->line, e->element);
    if (m->level_count == MACHINE_LEVELS)
        return err_set(err, ERR_LIMIT, "%s:%llu: more than %d levels", f->name, (unsigned long long)e->line,
                       MACHINE_LEVELS);
    if ((tlb ? read_tlb : read_cache)(f, e, &l, err) < 0)
        return -1;
    if (l.ways == 0 && l.line && l.size / l.line <= MACHINE_WAYS)
        l.ways = (uint32_t)(l.size / l.line); /* without ways: one set */
    m->levels[m->level_count] = l;
    char *where = mem_printf("%s:%llu", f->name, (unsigned long long)e->line);
    int status = check_level(&l, where, err);
    mem_free(where);
    m->level_count++;
    return status;
}

static int begin_memory(void *ctx, const struct machine_file *f, const struct xml_event *e, struct err *err)
{
    static const char *const known[] = {"latency", NULL};
    struct machine_memory *m = ctx;
    uint64_t latency = 0;
    snprintf(m->name, sizeof m->name, "%s", f->machine);
    if (xml_attrs_known(e, f->name, known, err) < 0 || get_number(f, e, "latency", 1000000, false, &latency, err) < 0)
        return -1;
    m->memory_latency = (uint32_t)latency;
    return 0;
}

int machine_memory_parse(const void *bytes, size_t len, const char *name, struct machine_memory *m, struct err *err)
{
    static const struct machine_part part = {"memory", begin_memory, begin_level};
    memset(m, 0, sizeof *m);
    if (machine_file_parse(bytes, len, name, &part, m, err) < 0)
        return -1;
    return machine_memory_check(m, name, err);
}

int machine_memory_read(const char *path, const char *dir, struct machine_memory *m, struct err *err)
{
    struct filemap file;
    char *whole;
    int status = filemap_open_named(&file, path, dir, "a machine file", &whole, err);
    if (status == 0) {
        status = machine_memory_parse(file.bytes, file.len, whole, m, err);
        filemap_release(&file);
    }
    mem_free(whole);
    return status;
}

/* ---- the whole machine ------------------------------------------------------------ */

static int check_next(const struct machine_level *l, const struct machine_level *next, const char *where,
                      struct err *err)
{
    if (next->line < l->line)
        return err_set(err, ERR_FORMAT, "%s: %s has lines of %u bytes, and %s after it smaller ones of %u", where,
                       l->name, l->line, next->name, next->line);
    if (l->shared && !next->shared)
        return err_set(err, ERR_FORMAT, "%s: %s is shared, and %s after it is private; private levels come first",
                       where, l->name, next->name);
    if (next->inclusive && next->size < l->size)
        return err_set(err, ERR_FORMAT, "%s: %s includes %s and is smaller", where, next->name, l->name);
    return 0;
}

int machine_memory_check(struct machine_memory *m, const char *where, struct err *err)
{
    uint32_t last[2] = {MACHINE_NO_LEVEL, MACHINE_NO_LEVEL};
    if (m->level_count == 0 || m->level_count > MACHINE_LEVELS)
        return err_set(err, ERR_FORMAT, "%s: expected a <machine> with <memory> of 1 to %d levels", where,
                       MACHINE_LEVELS);
    for (uint32_t i = 0; i < m->level_count; i++) {
        struct machine_level *l = &m->levels[i];
        if (check_level(l, where, err) < 0)
            return -1;
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(m->levels[j].name, l->name) == 0)
                return err_set(err, ERR_FORMAT, "%s: two levels are named %s", where, l->name);
        if (last[l->tlb] != MACHINE_NO_LEVEL) {
            if (check_next(&m->levels[last[l->tlb]], l, where, err) < 0)
                return -1;
            m->levels[last[l->tlb]].next = (uint8_t)i;
        }
        l->next = MACHINE_NO_LEVEL;
        last[l->tlb] = i;
    }
    if (last[0] == MACHINE_NO_LEVEL)
        return err_set(err, ERR_FORMAT, "%s: no <cache>: only TLBs to simulate", where);
    return 0;
}

/* ---- this machine --------------------------------------------------------------------------- */

/* The kernel's value of `key` for cache `index`; "" if it has none. */
static void sys_value(const char *sys, unsigned index, const char *key, char *to, size_t room)
{
    char *path = mem_printf("%s/devices/system/cpu/cpu0/cache/index%u/%s", sys, index, key);
    FILE *f = fopen(path, "r"); /* files of the kernel have no length */
    *to = '\0';
    if (f && fgets(to, (int)room, f))
        to[strcspn(to, "\n")] = '\0';
    if (f)
        fclose(f);
    mem_free(path);
}

static bool sys_level(const char *sys, unsigned index, struct machine_level *l, unsigned *depth)
{
    static const uint32_t usual_latency[] = {0, 4, 14, 50, 80};
    char type[32], text[64];
    uint64_t size = 0, line = 0, ways = 0, level = 0;
    sys_value(sys, index, "type", type, sizeof type);
    sys_value(sys, index, "level", text, sizeof text);
    if (!parse_size(text, &level) || level == 0 || level > 4 || strcmp(type, "Instruction") == 0)
        return false;
    sys_value(sys, index, "size", text, sizeof text);
    parse_size(text, &size);
    sys_value(sys, index, "coherency_line_size", text, sizeof text);
    parse_size(text, &line);
    sys_value(sys, index, "ways_of_associativity", text, sizeof text);
    parse_size(text, &ways);
    if (!size || !line || line > 4096 || !ways || ways > MACHINE_WAYS)
        return false;
    *l = (struct machine_level){.size = size,
                                .line = (uint32_t)line,
                                .ways = (uint32_t)ways,
                                .latency = usual_latency[level],
                                .shared = level > 2};
    snprintf(l->name, sizeof l->name, "L%llu", (unsigned long long)level);
    *depth = (unsigned)level;
    return true;
}

/* The kernel does not list TLBs: at least this size in most processors since 2015. */
static void add_usual_tlbs(struct machine_memory *m)
{
    m->levels[m->level_count++] =
        (struct machine_level){.name = "TLB", .size = 64 * 4096, .line = 4096, .ways = 4, .tlb = true};
    m->levels[m->level_count++] = (struct machine_level){
        .name = "TLB2", .size = 1536 * 4096, .line = 4096, .ways = 12, .tlb = true, .latency = 7};
}

static void usual_caches(struct machine_memory *m)
{
    static const struct machine_level usual[] = {
        {.name = "L1", .size = 32 << 10, .line = 64, .ways = 8, .latency = 4},
        {.name = "L2", .size = 1 << 20, .line = 64, .ways = 16, .latency = 14},
        {.name = "L3", .size = 32 << 20, .line = 64, .ways = 16, .latency = 50, .shared = true},
    };
    snprintf(m->name, sizeof m->name, "usual");
    memcpy(m->levels, usual, sizeof usual);
    m->level_count = ARRAY_SIZE(usual);
}

int machine_memory_here(const char *sys, struct machine_memory *m, struct err *err)
{
    unsigned depth = 0, before = 0;
    memset(m, 0, sizeof *m);
    snprintf(m->name, sizeof m->name, "this machine");
    m->memory_latency = 200;
    for (unsigned index = 0; index < 8; index++) {
        struct machine_level l; /* each is deeper than the one before, the fourth at most */
        if (!sys_level(sys, index, &l, &depth) || depth <= before)
            continue;
        before = depth;
        m->levels[m->level_count++] = l;
    }
    bool known = m->level_count > 0 && machine_memory_check(m, "the kernel's caches", err) == 0;
    if (!known)
        usual_caches(m);
    add_usual_tlbs(m);
    return machine_memory_check(m, m->name, err) < 0 ? -1 : known;
}

/* ---- the sentence ----------------------------------------------------------------------------- */

static void print_size(struct buf *b, uint64_t v)
{
    unsigned shift = v % (1 << 20) == 0 ? 20 : v % 1024 == 0 ? 10 : 0;
    buf_printf(b, "%llu %s", (unsigned long long)(v >> shift), shift == 20 ? "MB" : shift == 10 ? "kB" : "bytes");
}

static void print_cache(const struct machine_level *l, struct buf *b)
{
    print_size(b, l->size);
    buf_printf(b, ", %u %s of %u-byte lines", l->ways, l->ways == 1 ? "way" : "ways", l->line);
}

static void print_tlb(const struct machine_level *l, struct buf *b)
{
    buf_printf(b, "%llu pages of ", (unsigned long long)(l->size / l->line));
    print_size(b, l->line);
    buf_printf(b, ", %u %s", l->ways, l->ways == 1 ? "way" : "ways");
}

void machine_memory_print(const struct machine_memory *m, struct buf *b)
{
    static const char *const policies[] = {"LRU", "tree PLRU", "random"};
    static const char *const prefetches[] = {"", ", next-line prefetcher", ", stride prefetcher"};
    for (uint32_t i = 0; i < m->level_count; i++) {
        const struct machine_level *l = &m->levels[i];
        buf_printf(b, "%s%s: ", i ? "; " : "", l->name);
        (l->tlb ? print_tlb : print_cache)(l, b);
        buf_printf(b, ", %s", policies[l->replace % 3]);
        if (!l->tlb)
            buf_printf(b, ", write-%s%s%s%s", l->write_through ? "through" : "back",
                       l->no_allocate ? ", no allocation by stores" : "", l->inclusive ? ", inclusive" : "",
                       prefetches[l->prefetch % 3]);
        buf_str(b, l->shared ? ", shared" : ", private");
    }
}
