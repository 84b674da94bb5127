/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching modules of several runs: random ones, against plain rules. */
#include "metrics/ingest/ingest.h"
#include "tests/chance.h"
#include "tests/tap.h"

enum { MODULES = 12, RUNS = 3 };

static const struct {
    const char *path, *name, *library; /* library: of its name, without versions */
} paths[] = {{"/a/solver", "solver", ""},
             {"/b/solver", "solver", ""},
             {"/a/solve2", "solve2", ""},
             {"/a/so", "so", ""},
             {"/a/x", "x", ""},
             {"/a/sx", "sx", ""},
             {"/a/zebra-long", "zebra-long", ""},
             {"/a/libm-2.31.so", "libm-2.31.so", "libm"},
             {"/b/libm.so.6", "libm.so.6", "libm"},
             {"/b/lib3m.so", "lib3m.so", "lib3m"},
             {"/b/libm.sox", "libm.sox", ""},
             {"[vdso]", "[vdso]", ""}};
static const char *const ids[] = {"", "aa", "bb"};

struct drawn {
    unsigned path, id;
    bool role, program, used[RUNS];
    int lines_in, group, version; /* of the requested structure */
};

static struct drawn all[MODULES];
static int count;

static const char *name_of(int i)
{
    return all[i].role ? "a role" : paths[all[i].path].name;
}

/* ---- the rules --------------------------------------------------------------------------------------------- */

/* Are there two modules of the given kind in the same run, as determined by is_one? */
static bool twice_in_a_run(bool (*is_one)(int i, int k), int kind)
{
    for (int run = 0; run < RUNS; run++)
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count; k++)
                if (all[i].used[run] && all[k].used[run] && all[i].lines_in != all[k].lines_in &&
                    is_one(all[i].lines_in, kind) && is_one(all[k].lines_in, kind))
                    return true;
    return false;
}

static bool same_name(int i, int k)
{
    return strcmp(name_of(i), name_of(k)) == 0;
}

static bool alone[MODULES], is_program[MODULES];

static bool similar(int i, int k)
{
    if (is_program[i] || is_program[k])
        return is_program[i] && is_program[k];
    const char *a = all[i].role ? "" : paths[all[i].path].library, *b = all[k].role ? "" : paths[all[k].path].library;
    return alone[i] && alone[k] && *a && strcmp(a, b) == 0;
}

/* Each is of the group of the first of its kind, unless one run has two of that. */
static void group_by(bool (*is_one)(int i, int k))
{
    int was[MODULES];
    for (int i = 0; i < count; i++)
        was[i] = all[i].group;
    for (int i = 0; i < count; i++)
        for (int k = 0; k <= i; k++)
            if (was[i] == all[i].lines_in && is_one(i, k)) {
                all[i].group = twice_in_a_run(is_one, i) ? was[i] : k;
                break;
            }
}

static void want(void)
{
    for (int i = 0; i < count; i++) {
        all[i].lines_in = i;
        for (int k = count; k-- > 0;)
            if (!all[i].id && all[k].id && all[k].path == all[i].path)
                all[i].lines_in = k;
        all[i].group = all[i].lines_in;
    }
    group_by(same_name);
    for (int i = 0; i < count; i++) {
        alone[i] = true;
        is_program[i] = !all[i].role;
        for (int k = 0; k < count; k++) {
            alone[i] = alone[i] && (k == i || (all[k].group != i && all[i].group != k));
            is_program[i] = is_program[i] && (all[k].group != all[i].group || all[k].program);
        }
    }
    group_by(similar);
    for (int i = 0; i < count; i++)
        for (int k = 0; !all[i].id && all[i].lines_in == i && k < count; k++)
            if (all[k].id && all[i].group == all[k].group)
                all[i].lines_in = k;
    for (int i = 0; i < count; i++) {
        all[i].version = 0;
        for (int k = 0; k < all[i].lines_in; k++)
            all[i].version += all[k].lines_in == k && all[k].group == all[all[i].lines_in].group;
    }
}

/* ---- the comparison ---------------------------------------------------------------------------------------- */

static bool is_there(unsigned path, unsigned id)
{
    for (int i = 0; i < count; i++)
        if (all[i].path == path && all[i].id == id)
            return true;
    return false;
}

static void draw(void)
{
    unsigned most = 1 + below(MODULES), of = 1 + below(ARRAY_SIZE(paths)), from = below(ARRAY_SIZE(paths));
    count = 0;
    for (unsigned i = 0; i < most; i++) {
        struct drawn d = {.path = (from + below(of)) % ARRAY_SIZE(paths),
                          .id = below(ARRAY_SIZE(ids)),
                          .role = below(9) == 0,
                          .program = below(4) == 0};
        for (int run = 0; run < RUNS; run++)
            d.used[run] = below(2);
        for (int k = 0; k < count; k++) /* a role is the path's */
            d.role = all[k].path == d.path ? all[k].role : d.role;
        if (!is_there(d.path, d.id))
            all[count++] = d;
    }
}

static bool right(void)
{
    struct strtab *strings = strtab_create();
    struct correlation c;
    bool same = true;
    correlation_init(&c, strings);
    for (int i = 0; i < count; i++)
        *vec_push(&c.modules) = (struct module){.path = strtab_add(strings, paths[all[i].path].path),
                                                .build_id = strtab_add(strings, ids[all[i].id]),
                                                .role = all[i].role ? strtab_add(strings, "a role") : 0,
                                                .program = all[i].program};
    for (int i = 0; i < count * RUNS; i++)
        if (all[i / RUNS].used[i % RUNS])
            *vec_push(&c.uses) = (struct module_use){(uint32_t)(i / RUNS), (uint32_t)(i % RUNS)};
    for (size_t i = c.uses.count; i > 1; i--) { /* in any order */
        struct module_use *a = &c.uses.items[i - 1], *b = &c.uses.items[below((uint32_t)i)], swap = *a;
        *a = *b;
        *b = swap;
    }
    correlate_group_modules(&c);
    for (int i = 0; i < count; i++) {
        const struct module *m = &c.modules.items[i];
        same = same && (int)m->group == all[i].group && (int)m->lines_in == all[i].lines_in &&
               (int)m->version == all[i].version;
    }
    for (int i = 0; i < count && !same; i++)
        printf("# %d %s#%s%s%s in %d%d%d: group %u, not %d, lines in %u, not %d, version %u, not %d\n", i,
               paths[all[i].path].path, ids[all[i].id], all[i].role ? " role" : "", all[i].program ? " program" : "",
               all[i].used[0], all[i].used[1], all[i].used[2], c.modules.items[i].group, all[i].group,
               c.modules.items[i].lines_in, all[i].lines_in, c.modules.items[i].version, all[i].version);
    correlation_release(&c);
    strtab_free(strings);
    return same;
}

int main(void)
{
    unsigned wrong = 0;
    for (int round = 0; round < 20000 && wrong < 3; round++) {
        draw();
        want();
        wrong += !right();
    }
    CHECK_INT(wrong, 0);
    return tap_done();
}
