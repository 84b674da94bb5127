/* Cores: their files, which one this machine has, what makes no sense. The <memory> of a file is the simulator's. */
#include "quality/quality_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

const char *const cost_words[COST_KINDS_COUNT + 1] = {
#define KIND(name, word) word,
    COST_KINDS(KIND)
#undef KIND
        NULL};

struct reader {
    struct quality_machine *machine;
    const char *name;
    bool in_machine, in_core, had_core;
    unsigned skipping; /* elements open inside of what is not ours */
};

static int get_number(const struct reader *r, const struct xml_event *e, const char *attr, double least, double most,
                      float *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    char *end;
    if (!text)
        return 0;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= least && v <= most)) {
        char right[64];
        snprintf(right, sizeof right, "expected a number from %g to %g", least, most);
        return xml_attr_wrong(e, r->name, attr, text, right, err);
    }
    *to = (float)v;
    return 0;
}

static void get_text(const struct xml_event *e, const char *attr, char *to, size_t room)
{
    const char *text = xml_attr_get(e, attr);
    snprintf(to, room, "%s", text ? text : "");
}

static int get_yes(const struct reader *r, const struct xml_event *e, const char *attr, bool *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    if (!text)
        return 0;
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return xml_attr_wrong(e, r->name, attr, text, "expected yes or no", err);
    *to = *text == 'y';
    return 0;
}

/* "015 5 23": for each uop the ports it may take, a hexadecimal digit each. */
static int get_uops(const struct reader *r, const struct xml_event *e, const char *attr, uint16_t *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr), *right = "expected ports, one hexadecimal digit each, for up to 8 uops";
    size_t n = 0;
    if (!text)
        return 0;
    memset(to, 0, UOPS_MAX * sizeof *to);
    for (const char *p = text; *p; n++) {
        while (*p == ' ')
            p++;
        if (n == UOPS_MAX)
            return xml_attr_wrong(e, r->name, attr, text, right, err);
        for (; *p && *p != ' '; p++) {
            if (!isxdigit((unsigned char)*p))
                return xml_attr_wrong(e, r->name, attr, text, right, err);
            to[n] |= (uint16_t)(1u << (isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10));
        }
    }
    return 0;
}

static int begin_op(struct reader *r, const struct xml_event *e, struct err *err)
{
    static const char *const known[] = {"kind", "latency",  "chain",    "uops",        "uops-256", "uops-512",
                                        "busy", "busy-256", "busy-512", "per-element", NULL};
    const char *kind = xml_attr_get(e, "kind");
    uint16_t each[UOPS_MAX] = {0};
    size_t k = 0;
    if (xml_attrs_known(e, r->name, known, err) < 0)
        return -1;
    while (kind && k < COST_KINDS_COUNT && strcmp(cost_words[k], kind) != 0)
        k++;
    if (!kind)
        return err_set(err, ERR_FORMAT, "%s:%llu: <op> needs kind=\"...\"", r->name, (unsigned long long)e->line);
    if (k == COST_KINDS_COUNT) {
        const char *near = str_nearest(kind, cost_words);
        char *right = near ? mem_printf("unknown kind; did you mean '%s'?", near)
                           : mem_strdup("unknown kind (doc/formats/machine.md lists the kinds)");
        int status = xml_attr_wrong(e, r->name, "kind", kind, right, err);
        mem_free(right);
        return status;
    }
    struct cost *c = &r->machine->costs[k];
    if (c->given)
        return xml_attr_wrong(e, r->name, "kind", kind, "this kind is already defined above", err);
    c->given = true;
    if (get_number(r, e, "latency", 0, 1000, &c->latency, err) < 0 ||
        get_number(r, e, "chain", 0, 1000, &c->chain, err) < 0 || get_uops(r, e, "uops", c->uops[0], err) < 0 ||
        get_number(r, e, "busy", 0, 1000, &c->busy[0], err) < 0)
        return -1;
    memcpy(c->uops[1], c->uops[0], sizeof c->uops[0]);
    c->busy[1] = c->busy[0];
    if (get_uops(r, e, "uops-256", c->uops[1], err) < 0 || get_number(r, e, "busy-256", 0, 1000, &c->busy[1], err) < 0)
        return -1;
    memcpy(c->uops[2], c->uops[1], sizeof c->uops[1]);
    c->busy[2] = c->busy[1];
    if (get_uops(r, e, "uops-512", c->uops[2], err) < 0 ||
        get_number(r, e, "busy-512", 0, 1000, &c->busy[2], err) < 0 || get_uops(r, e, "per-element", each, err) < 0)
        return -1;
    c->per_element = each[0];
    return 0;
}

static int begin_core(struct reader *r, const struct xml_event *e, struct err *err)
{
    static const char *const known[] = {"name",           "arch",        "vendor", "part",       "features",
                                        "issue",          "vector",      "line",   "taken",      "forward",
                                        "forward-stack",  "load-vector", "window", "moves-free", "fuses",
                                        "splits-indexed", "llvm",        "source", NULL};
    struct quality_machine *m = r->machine;
    float issue = 0, vector = 0, line = 64, window = 512;
    m->taken = 1;
    m->forward = m->forward_stack = 4;
    m->load_vector = 5;
    m->moves_free = m->fuses = true;
    if (r->had_core)
        return err_set(err, ERR_FORMAT, "%s:%llu: second <core>; a machine has only one", r->name,
                       (unsigned long long)e->line);
    if (xml_attrs_known(e, r->name, known, err) < 0 || get_number(r, e, "issue", 1, 32, &issue, err) < 0 ||
        get_number(r, e, "vector", 8, 256, &vector, err) < 0 || get_number(r, e, "line", 16, 4096, &line, err) < 0 ||
        get_number(r, e, "taken", 0, 8, &m->taken, err) < 0 || get_number(r, e, "window", 1, 65536, &window, err) < 0 ||
        get_number(r, e, "forward", 0, 100, &m->forward, err) < 0 ||
        get_number(r, e, "forward-stack", 0, 100, &m->forward_stack, err) < 0 ||
        get_number(r, e, "load-vector", 1, 100, &m->load_vector, err) < 0 ||
        get_yes(r, e, "moves-free", &m->moves_free, err) < 0 || get_yes(r, e, "fuses", &m->fuses, err) < 0 ||
        get_yes(r, e, "splits-indexed", &m->splits_indexed, err) < 0)
        return -1;
    if (issue < 1 || vector < 8)
        return err_set(err, ERR_FORMAT, "%s:%llu: <core> needs issue=\"...\" and vector=\"...\"", r->name,
                       (unsigned long long)e->line);
    m->issue = (uint32_t)issue;
    m->vector = (uint32_t)vector;
    m->line = (uint32_t)line;
    m->window = (uint32_t)window;
    get_text(e, "name", m->core, sizeof m->core);
    get_text(e, "arch", m->arch, sizeof m->arch);
    get_text(e, "vendor", m->vendor, sizeof m->vendor);
    get_text(e, "part", m->part, sizeof m->part);
    get_text(e, "features", m->features, sizeof m->features);
    get_text(e, "llvm", m->llvm, sizeof m->llvm);
    if (strcmp(m->arch, "x86-64") != 0 && strcmp(m->arch, "aarch64") != 0)
        return xml_attr_wrong(e, r->name, "arch", m->arch, "expected x86-64 or aarch64", err);
    m->aarch64 = m->arch[0] == 'a';
    r->in_core = r->had_core = true;
    return 0;
}

static int begin(void *ctx, const struct xml_event *e, struct err *err)
{
    struct reader *r = ctx;
    if (r->skipping) {
        r->skipping++;
        return 0;
    }
    if (!r->in_machine) {
        if (strcmp(e->element, "machine") != 0)
            return err_set(err, ERR_FORMAT, "%s:%llu: this is <%s>, not a <machine>", r->name,
                           (unsigned long long)e->line, e->element);
        r->in_machine = true;
        return 0;
    }
    if (r->in_core) {
        if (strcmp(e->element, "op") != 0)
            return err_set(err, ERR_FORMAT, "%s:%llu: <%s> is not allowed in <core>; use <op>", r->name,
                           (unsigned long long)e->line, e->element);
        return begin_op(r, e, err);
    }
    if (strcmp(e->element, "core") == 0)
        return begin_core(r, e, err);
    r->skipping = 1;
    return 0;
}

static int end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct reader *r = ctx;
    (void)err;
    if (r->skipping)
        r->skipping--;
    else if (strcmp(e->element, "core") == 0)
        r->in_core = false;
    return 0;
}

/* What a file may leave out, because something like it is there. */
static void fill_in(struct quality_machine *m)
{
    static const struct {
        uint8_t kind, like;
    } rows[] = {
        {COST_SHIFT, COST_INT},
        {COST_STORE_INDEXED, COST_STORE},
        {COST_LEA, COST_INT},
        {COST_SELECT, COST_INT},
        {COST_BITS, COST_INT_MULTIPLY},
        {COST_VECTOR_MOVE, COST_VECTOR_LOGIC},
        {COST_VECTOR_SELECT, COST_VECTOR_INT},
        {COST_VECTOR_SHIFT, COST_VECTOR_INT},
        {COST_SHUFFLE_WIDE, COST_SHUFFLE},
        {COST_FP_MINMAX, COST_FP_ADD},
        {COST_FP_COMPARE, COST_FP_ADD},
        {COST_FP_OTHER, COST_FP_MULTIPLY},
        {COST_FP_FMA, COST_FP_MULTIPLY},
        {COST_CONVERT_WIDTH, COST_CONVERT},
        {COST_MASK, COST_INT},
        {COST_X87, COST_FP_ADD},
        {COST_OTHER, COST_INT},
        {COST_CALL, COST_BRANCH},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (!m->costs[rows[i].kind].given)
            m->costs[rows[i].kind] = m->costs[rows[i].like];
}

static int parse(const void *bytes, size_t len, const char *name, struct quality_machine **result, struct err *err)
{
    struct quality_machine *m = mem_calloc(1, sizeof *m);
    struct reader r = {.machine = m, .name = name};
    struct xml_handler handler = {begin, end, &r};
    *result = NULL;
    int status = xml_read(bytes, len, name, &handler, err);
    if (status == 0 && !r.had_core)
        status = err_set(err, ERR_FORMAT,
                         "%s: has no <core>, so it has no costs of instructions (doc/formats/machine.md)", name);
    static const uint8_t needed[] = {COST_INT, COST_BRANCH, COST_LOAD, COST_STORE, COST_FP_ADD, COST_FP_MULTIPLY};
    for (size_t i = 0; status == 0 && i < ARRAY_SIZE(needed); i++)
        if (!m->costs[needed[i]].given)
            status = err_set(err, ERR_FORMAT, "%s: its <core> has no <op kind=\"%s\">", name, cost_words[needed[i]]);
    if (status < 0) {
        mem_free(m);
        return -1;
    }
    fill_in(m);
    char *base = mem_strdup(path_base(name));
    if (str_ends(base, ".xml"))
        base[strlen(base) - 4] = '\0';
    snprintf(m->name, sizeof m->name, "%s", base);
    mem_free(base);
    snprintf(m->assumed, sizeof m->assumed, "%s, as requested", m->core);
    *result = m;
    return 0;
}

int quality_machine_read(const char *path, const char *dir, struct quality_machine **m, struct err *err)
{
    struct filemap file;
    char *whole;
    *m = NULL;
    int status = filemap_open_named(&file, path, dir, "a machine file", &whole, err);
    if (status == 0) {
        status = parse(file.bytes, file.len, whole, m, err);
        filemap_release(&file);
    }
    mem_free(whole);
    return status;
}

void quality_machine_free(struct quality_machine *m)
{
    mem_free(m);
}

/* ---- this machine -------------------------------------------------------------------- */

struct here { /* of /proc/cpuinfo, " words " with a blank on both sides */
    char *features, *vendor, *part;
};

static char *value_of(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, n) == 0 && (line[n] == '\t' || line[n] == ' ' || line[n] == ':')) {
            const char *from = strchr(line, ':');
            if (from)
                return mem_printf(" %.*s ", (int)strcspn(from + 1, "\n"), from + 1);
        }
    return mem_strdup("");
}

static int look_here(const char *cpuinfo, struct here *h, struct err *err)
{
    struct buf text = {0};
    char part[4096];
    FILE *f = fopen(cpuinfo, "r"); /* files of the kernel have no length */
    if (!f)
        return err_errno(err, cpuinfo, "reading this machine's processor");
    for (size_t n; text.len < 1 << 16 && (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_add(&text, part, n);
    fclose(f);
    const char *all = text.bytes ? text.bytes : "";
    h->features = value_of(all, "flags");
    h->vendor = value_of(all, "vendor_id");
    h->part = value_of(all, "CPU part");
    if (!*h->features) {
        mem_free(h->features);
        h->features = value_of(all, "Features");
    }
    buf_release(&text);
    return 0;
}

static void release_here(struct here *h)
{
    mem_free(h->features);
    mem_free(h->vendor);
    mem_free(h->part);
}

static bool has_word(const char *words, const char *word, size_t n)
{
    for (const char *p = words; (p = strchr(p, ' '));) {
        while (*p == ' ')
            p++;
        if (strncmp(p, word, n) == 0 && (p[n] == ' ' || p[n] == '\0'))
            return true;
    }
    return false;
}

/* How well the core fits: 0 not at all, else 1 + how many of the features it asks for. */
static unsigned fit(const struct quality_machine *m, const struct here *h)
{
    unsigned n = 1;
    if (m->vendor[0] && !has_word(h->vendor, m->vendor, strlen(m->vendor)))
        return 0;
    if (m->part[0] && !has_word(h->part, m->part, strlen(m->part)))
        return 0;
    n += m->part[0] ? 100 : 0;
    for (const char *p = m->features; *p;) {
        size_t length = strcspn(p, " ");
        if (length && !has_word(h->features, p, length))
            return 0;
        n += length > 0;
        p += length + strspn(p + length, " ");
    }
    return n;
}

/* The one of the files that fits best, NULL where none does. Those without a core, or with mistakes, are none to choose
   from; one that cannot be read might have been the best. */
static int choose_machine(const char *dir, const struct here *h, bool aarch64, struct quality_machine **best,
                          struct err *err)
{
    struct text_list files = {0};
    unsigned most = 0;
    int status = dir_list(dir, ".xml", "listing the machine files", &files, err);
    for (size_t i = 0; i < files.count && status == 0; i++) {
        struct quality_machine *m;
        struct err why = {0};
        if (quality_machine_read(files.items[i], NULL, &m, &why) < 0) {
            status = why.kind == ERR_SYSTEM ? err_set(err, why.kind, "%s", why.msg) : 0;
            continue;
        }
        unsigned n = m->aarch64 == aarch64 && (m->part[0] || m->features[0]) ? fit(m, h) : 0;
        if (n > most) {
            quality_machine_free(*best);
            *best = m;
            most = n;
        } else
            quality_machine_free(m);
    }
    text_list_release(&files);
    return status;
}

int quality_machine_here(const char *dir, const char *cpuinfo, bool aarch64, struct quality_machine **best,
                         struct err *err)
{
    const char *stands_in = aarch64 ? "neoverse-n1" : "skylake-server";
    struct here h;
    *best = NULL;
    if (look_here(cpuinfo, &h, err) < 0)
        return -1;
    int status = choose_machine(dir, &h, aarch64, best, err);
    bool foreign = aarch64 ? !*h.part : !*h.vendor;
    release_here(&h);
    if (status < 0) {
        quality_machine_free(*best);
        *best = NULL;
        return -1;
    }
    if (*best) {
        snprintf((*best)->assumed, sizeof(*best)->assumed, "%s, from the features of this machine's processor",
                 (*best)->core);
        return 0;
    }
    if (quality_machine_read(stands_in, dir, best, err) < 0)
        return -1;
    snprintf((*best)->assumed, sizeof(*best)->assumed, "%s, %s; --machine selects another", (*best)->core,
             foreign ? "because this machine has another architecture than the code"
                     : "because no machine file matches this machine's processor");
    return 0;
}
