/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores: of a file, and which one this machine has. */
#include "machines/core.h"

#include "machines/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

const char *const machine_cost_words[COST_KINDS_COUNT + 1] = {
#define KIND(name, word) word,
    COST_KINDS(KIND)
#undef KIND
        NULL};

static int get_number(const struct machine_file *f, const struct xml_event *e, const char *attr, double least,
                      double most, float *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    char *end;
    if (!text)
        return 0;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= least && v <= most)) {
        char right[64];
        snprintf(right, sizeof right, "expected a number from %g to %g", least, most);
        return xml_attr_wrong(e, f->name, attr, text, right, err);
    }
    *to = (float)v;
    return 0;
}

static void get_text(const struct xml_event *e, const char *attr, char *to, size_t room)
{
    const char *text = xml_attr_get(e, attr);
    snprintf(to, room, "%s", text ? text : "");
}

static int get_yes(const struct machine_file *f, const struct xml_event *e, const char *attr, bool *to, struct err *err)
{
    const char *text = xml_attr_get(e, attr);
    if (!text)
        return 0;
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return xml_attr_wrong(e, f->name, attr, text, "expected yes or no", err);
    *to = *text == 'y';
    return 0;
}

/* "015 5 23": for each uop the ports it may take, a hexadecimal digit each. */
static int get_uops(const struct machine_file *f, const struct xml_event *e, const char *attr, uint16_t *to,
                    struct err *err)
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
            return xml_attr_wrong(e, f->name, attr, text, right, err);
        for (; *p && *p != ' '; p++) {
            if (!isxdigit((unsigned char)*p))
                return xml_attr_wrong(e, f->name, attr, text, right, err);
            to[n] |= (uint16_t)(1u << (isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10));
        }
    }
    return 0;
}

static int begin_op(void *ctx, const struct machine_file *f, const struct xml_event *e, struct err *err)
{
    struct machine_core *m = ctx;
    static const char *const known[] = {"kind", "latency",  "chain",    "uops",        "uops-256", "uops-512",
                                        "busy", "busy-256", "busy-512", "per-element", NULL};
    const char *kind = xml_attr_get(e, "kind");
    uint16_t each[UOPS_MAX] = {0};
    size_t k = 0;
    if (strcmp(e->element, "op") != 0)
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> is not allowed in <core>; use <op>", f->name,
                       (unsigned long long)e->line, e->element);
    if (xml_attrs_known(e, f->name, known, err) < 0)
        return -1;
    while (kind && k < COST_KINDS_COUNT && strcmp(machine_cost_words[k], kind) != 0)
        k++;
    if (!kind)
        return err_set(err, ERR_FORMAT, "%s:%llu: <op> needs kind=\"...\"", f->name, (unsigned long long)e->line);
    if (k == COST_KINDS_COUNT) {
        const char *near = str_nearest(kind, machine_cost_words);
        char *right = near ? mem_printf("unknown kind; did you mean '%s'?", near)
                           : mem_strdup("unknown kind (doc/formats/machine.md lists the kinds)");
        int status = xml_attr_wrong(e, f->name, "kind", kind, right, err);
        mem_free(right);
        return status;
    }
    struct cost *c = &m->costs[k];
    if (c->given)
        return xml_attr_wrong(e, f->name, "kind", kind, "this kind is already defined above", err);
    c->given = true;
    if (get_number(f, e, "latency", 0, 1000, &c->latency, err) < 0 ||
        get_number(f, e, "chain", 0, 1000, &c->chain, err) < 0 || get_uops(f, e, "uops", c->uops[0], err) < 0 ||
        get_number(f, e, "busy", 0, 1000, &c->busy[0], err) < 0)
        return -1;
    memcpy(c->uops[1], c->uops[0], sizeof c->uops[0]);
    c->busy[1] = c->busy[0];
    if (get_uops(f, e, "uops-256", c->uops[1], err) < 0 || get_number(f, e, "busy-256", 0, 1000, &c->busy[1], err) < 0)
        return -1;
    memcpy(c->uops[2], c->uops[1], sizeof c->uops[1]);
    c->busy[2] = c->busy[1];
    if (get_uops(f, e, "uops-512", c->uops[2], err) < 0 ||
        get_number(f, e, "busy-512", 0, 1000, &c->busy[2], err) < 0 || get_uops(f, e, "per-element", each, err) < 0)
        return -1;
    c->per_element = each[0];
    return 0;
}

static int begin_core(void *ctx, const struct machine_file *f, const struct xml_event *e, struct err *err)
{
    static const char *const known[] = {
        "name",        "arch",       "vendor", "models",         "part",   "features", "without",
        "issue",       "vector",     "line",   "taken",          "window", "forward",  "forward-stack",
        "load-vector", "moves-free", "fuses",  "splits-indexed", "llvm",   "source",   NULL};
    struct machine_core *m = ctx;
    float issue = 0, vector = 0, line = 64, window = 512;
    m->taken = 1;
    m->forward = m->forward_stack = 4;
    m->load_vector = 5;
    m->moves_free = m->fuses = true;
    if (xml_attrs_known(e, f->name, known, err) < 0 || get_number(f, e, "issue", 1, 32, &issue, err) < 0 ||
        get_number(f, e, "vector", 8, 256, &vector, err) < 0 || get_number(f, e, "line", 16, 4096, &line, err) < 0 ||
        get_number(f, e, "taken", 0, 8, &m->taken, err) < 0 || get_number(f, e, "window", 1, 65536, &window, err) < 0 ||
        get_number(f, e, "forward", 0, 100, &m->forward, err) < 0 ||
        get_number(f, e, "forward-stack", 0, 100, &m->forward_stack, err) < 0 ||
        get_number(f, e, "load-vector", 1, 100, &m->load_vector, err) < 0 ||
        get_yes(f, e, "moves-free", &m->moves_free, err) < 0 || get_yes(f, e, "fuses", &m->fuses, err) < 0 ||
        get_yes(f, e, "splits-indexed", &m->splits_indexed, err) < 0)
        return -1;
    if (issue < 1 || vector < 8)
        return err_set(err, ERR_FORMAT, "%s:%llu: <core> needs issue=\"...\" and vector=\"...\"", f->name,
                       (unsigned long long)e->line);
    m->issue = (uint32_t)issue;
    m->vector = (uint32_t)vector;
    m->line = (uint32_t)line;
    m->window = (uint32_t)window;
    get_text(e, "name", m->core, sizeof m->core);
    get_text(e, "arch", m->arch, sizeof m->arch);
    get_text(e, "vendor", m->processors.vendor, sizeof m->processors.vendor);
    get_text(e, "models", m->processors.models, sizeof m->processors.models);
    get_text(e, "part", m->processors.part, sizeof m->processors.part);
    get_text(e, "features", m->processors.features, sizeof m->processors.features);
    get_text(e, "without", m->processors.without, sizeof m->processors.without);
    get_text(e, "llvm", m->llvm, sizeof m->llvm);
    if (strcmp(m->arch, "x86-64") != 0 && strcmp(m->arch, "aarch64") != 0)
        return xml_attr_wrong(e, f->name, "arch", m->arch, "expected x86-64 or aarch64", err);
    m->aarch64 = m->arch[0] == 'a';
    return 0;
}

/* Elements that a file may omit, because a similar one is there. */
static void fill_in(struct machine_core *m)
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

static int parse(const void *bytes, size_t len, const char *name, struct machine_core **result, struct err *err)
{
    struct machine_core *m = mem_calloc(1, sizeof *m);
    static const struct machine_part part = {"core", begin_core, begin_op};
    *result = NULL;
    int status = machine_file_parse(bytes, len, name, &part, m, err);
    if (status == 0)
        status = err_set(err, ERR_FORMAT,
                         "%s: has no <core>, so it has no costs of instructions (doc/formats/machine.md)", name);
    static const uint8_t needed[] = {COST_INT, COST_BRANCH, COST_LOAD, COST_STORE, COST_FP_ADD, COST_FP_MULTIPLY};
    for (size_t i = 0; status > 0 && i < ARRAY_SIZE(needed); i++)
        if (!m->costs[needed[i]].given)
            status =
                err_set(err, ERR_FORMAT, "%s: its <core> has no <op kind=\"%s\">", name, machine_cost_words[needed[i]]);
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

int machine_core_read(const char *path, const char *dir, struct machine_core **m, struct err *err)
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

void machine_core_free(struct machine_core *m)
{
    mem_free(m);
}

/* ---- this machine -------------------------------------------------------------------- */

/* The file that describes it; NULL: none does. Files without a core, or with errors, cannot be chosen; an unreadable
   one might have been it. */
static int find_core(const char *dir, const struct processor *p, bool aarch64, struct machine_core **found,
                     struct err *err)
{
    struct text_list files = {0};
    int status = dir_list(dir, ".xml", "listing the machine files", &files, err);
    for (size_t i = 0; i < files.count && status == 0 && !*found; i++) {
        struct machine_core *m;
        struct err why = {0};
        if (machine_core_read(files.items[i], NULL, &m, &why) < 0)
            status = why.kind == ERR_SYSTEM ? err_set(err, why.kind, "%s", why.msg) : 0;
        else if (m->aarch64 == aarch64 && processor_is_one_of(p, &m->processors, aarch64))
            *found = m;
        else
            machine_core_free(m);
    }
    text_list_release(&files);
    return status;
}

/* Programs, and virtual machines, may be kept from vectors that the core has. */
static void limit_vectors(struct machine_core *m, const struct processor *p)
{
    uint32_t usable = processor_has(p, "avx512f") ? 64 : processor_has(p, "avx") ? 32 : 16;
    if (!m->aarch64 && m->vector > usable)
        m->vector = usable;
}

static int stand_in(const char *dir, bool aarch64, struct machine_core **core, struct err *err)
{
    if (machine_core_read(aarch64 ? "neoverse-n1" : "skylake-server", dir, core, err) < 0)
        return -1;
    snprintf((*core)->assumed, sizeof(*core)->assumed,
             "%s, because this machine has another architecture than the code; --machine selects another",
             (*core)->core);
    return 0;
}

static int core_of(const struct processor *p, const char *dir, bool aarch64, struct machine_core **core,
                   struct err *err)
{
    if (aarch64 ? !*p->part : !p->has_model)
        return stand_in(dir, aarch64, core, err);
    if (find_core(dir, p, aarch64, core, err) < 0)
        return -1;
    if (!*core) {
        char *name = processor_name(p);
        int status = err_set(err, ERR_UNSUPPORTED,
                             "no machine file describes this machine's processor, %s; --machine names a core to count "
                             "with",
                             name);
        mem_free(name);
        return status;
    }
    limit_vectors(*core, p);
    snprintf((*core)->assumed, sizeof(*core)->assumed, "%s, by the model of this machine's processor", (*core)->core);
    return 0;
}

int machine_core_here(const char *dir, const char *cpuinfo, bool aarch64, struct machine_core **core, struct err *err)
{
    struct processor p;
    *core = NULL;
    if (processor_read(cpuinfo, &p, err) < 0)
        return -1;
    int status = core_of(&p, dir, aarch64, core, err);
    processor_release(&p);
    if (status < 0) {
        machine_core_free(*core);
        *core = NULL;
    }
    return status;
}
