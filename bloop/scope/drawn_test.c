/* SPDX-License-Identifier: BSD-3-Clause */
/* Random scope trees, against a plain model: an array with a place for each address, and rules tested one by one. */
#include "bloop/scope/scope_int.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPACE = 1 << 10, BASE = 0x1000 };

static struct drawn {
    struct scope_tree *tree;
    struct scope_builder builder;
    bool alike; /* each procedure is of the file it stands in, and statements have lines: all that .hpcstruct can say */
    scope_ix deepest[SPACE];
} d;

/* ---- drawing ---- */

static const char *const names[] = {"f", "g(int, <a> & \"b\")", "operator<", "", "_Z1fv", "dir/x.c", "'apostrophe'"};
static const char *const files[] = {"", "a.c", "b/c.f90", "b/x&y.c", "z<t>.h"}; /* in the order of names */

static str_id any_of(const char *const *texts, uint32_t first, uint32_t count)
{
    return strtab_add(d.tree->strings, texts[first + below(count - first)]);
}

static str_id name(void)
{
    return any_of(names, 0, ARRAY_SIZE(names));
}

static void range(struct scope *s, vaddr begin, vaddr end)
{
    scope_ix index = (scope_ix)(s - d.tree->scopes);
    scope_builder_range(&d.builder, begin, end);
    for (vaddr a = begin; a < end; a++)
        d.deepest[a - BASE] = index;
}

static void draw_lines(struct scope *s)
{
    s->line_first = below(4) || d.alike ? 1 + below(9) : 0;
    s->line_last = s->line_first && (d.alike || below(3) == 0) ? s->line_first : below(2) ? 10 + below(90) : UINT32_MAX;
    if (s->line_first == 0 && below(2))
        s->line_last = 0;
}

static str_id draw_file(str_id around)
{
    return below(3) ? around : any_of(files, 0, ARRAY_SIZE(files));
}

static void draw_call(struct scope *s, str_id file)
{
    s->name = strtab_add(d.tree->strings, names[below(3)]);
    s->short_name = d.alike || below(2) ? s->name : name();
    s->link_name = name();
    s->call_file = draw_file(file);
    s->call_line = below(3) ? below(100) : 0;
}

static void draw_loop(struct scope *s)
{
    static const uint32_t few[] = {1, 2, 3, UINT32_MAX};
    s->entry = below(2) ? BASE + below(SPACE) : random64();
    if (d.alike)
        return;
    s->role = (uint8_t)below(4);
    s->irreducible = below(2);
    s->instances = few[below(4)];
    s->instance = below(2) ? s->instances : 1;
    s->on_line = below(2) ? few[below(4)] : 0;
}

static void draw_inside(str_id file, vaddr begin, vaddr end, unsigned depth);

static void draw_nested(str_id around, vaddr begin, vaddr end, unsigned depth)
{
    struct scope *s = scope_builder_begin(&d.builder, below(2) ? SCOPE_LOOP : SCOPE_INLINE);
    bool is_loop = s->kind == SCOPE_LOOP;
    str_id file = s->file = draw_file(around);
    draw_lines(s);
    if (is_loop)
        draw_loop(s);
    else
        draw_call(s, around);
    vaddr middle = begin + below((uint32_t)(end - begin) + 1), hole = middle < end ? middle + 1 : end;
    if (is_loop && middle > begin)
        range(s, begin, middle);
    if (is_loop && hole < end)
        range(s, hole, end);
    draw_inside(file, begin, middle, depth + 1);
    draw_inside(file, hole, end, depth + 1);
    scope_builder_end(&d.builder);
}

/* Divides [begin, end) into ranges of a few statements, nested scopes, or no scope. */
static void draw_inside(str_id file, vaddr begin, vaddr end, unsigned depth)
{
    enum { PIECES = 12, STATEMENTS = 3 };
    struct addr_range pieces[PIECES];
    uint32_t of[PIECES], count = 0, wide = 1 + (uint32_t)(end - begin) / (2 + below(4));
    bool begun[STATEMENTS] = {false};
    for (vaddr at = begin + below(3); at < end && count < PIECES; at = pieces[count++].end + below(3)) {
        vaddr to = at + 1 + below(wide);
        pieces[count] = (struct addr_range){at, to < end ? to : end};
        of[count] = below(depth < 5 ? 2 * STATEMENTS : STATEMENTS);
        if (count && of[count] == of[count - 1] && pieces[count - 1].end == at)
            of[count] = STATEMENTS; /* (ranges of one scope do not touch) */
    }
    for (uint32_t i = 0; i < count; i++) {
        if (of[i] >= STATEMENTS) {
            if (depth < 5)
                draw_nested(file, pieces[i].begin, pieces[i].end, depth);
        } else if (!begun[of[i]]) {
            struct scope *s = scope_builder_begin(&d.builder, SCOPE_STMT);
            begun[of[i]] = true;
            s->file = draw_file(file);
            draw_lines(s);
            for (uint32_t k = i; k < count; k++)
                if (of[k] == of[i])
                    range(s, pieces[k].begin, pieces[k].end);
            scope_builder_end(&d.builder);
        }
    }
}

/* Usually in two parts: the cold one is in the upper half. */
static void draw_procedure(str_id file, vaddr begin, vaddr end)
{
    struct scope *s = scope_builder_begin(&d.builder, SCOPE_PROC);
    vaddr cold = begin + SPACE / 2, cold_end = cold + below((uint32_t)(end - begin));
    bool has_cold = below(2) && cold_end > cold;
    s->name = strtab_add(d.tree->strings, names[below(3)]);
    s->short_name = d.alike || below(2) ? s->name : name();
    s->link_name = below(2) ? s->name : name();
    s->file = d.alike ? file : draw_file(file);
    if (!d.alike) {
        s->origin = name();
        s->outlined = below(2);
    }
    s->entry = d.alike || below(3) ? begin : 0;
    draw_lines(s);
    str_id own = s->file;
    range(s, begin, end);
    if (has_cold)
        range(s, cold, cold_end);
    draw_inside(own, begin, end, 0);
    if (has_cold && below(2))
        draw_inside(own, cold, cold_end, 3);
    scope_builder_end(&d.builder);
}

static void draw(bool alike)
{
    d = (struct drawn){.tree = scope_tree_create(), .alike = alike};
    d.builder.tree = d.tree;
    for (int i = 0; i < SPACE; i++)
        d.deepest[i] = SCOPE_NONE;
    vaddr at = BASE + below(10);
    for (uint32_t modules = below(3); modules > 0; modules--) {
        struct scope *m = scope_builder_begin(&d.builder, SCOPE_MODULE);
        m->name = name();
        m->origin = alike ? 0 : name();
        for (uint32_t file = below(2); file < ARRAY_SIZE(files); file += 1 + below(3)) {
            struct scope *f = scope_builder_begin(&d.builder, SCOPE_FILE);
            str_id id = f->name = f->file = strtab_add(d.tree->strings, files[file]);
            for (uint32_t n = below(3); n > 0 && at < BASE + SPACE / 2 - 64; n--) {
                vaddr end = at + 1 + below(64);
                draw_procedure(id, at, end);
                at = end + below(3);
            }
            scope_builder_end(&d.builder);
        }
        scope_builder_end(&d.builder);
    }
    scope_builder_release(&d.builder);
}

/* ---- looking up ---- */

static bool finds_all(struct scope_tree *t, const scope_ix *deepest)
{
    const struct scope_lookup *l = scope_lookup_get(t);
    size_t changes = 0;
    bool same = scope_tree_find(t, 0) == SCOPE_NONE && scope_tree_find(t, BASE - 1) == SCOPE_NONE &&
                scope_tree_find(t, BASE + SPACE) == SCOPE_NONE && scope_tree_find(t, UINT64_MAX) == SCOPE_NONE;
    for (size_t i = 0; i <= SPACE; i++) {
        scope_ix now = i < SPACE ? deepest[i] : SCOPE_NONE, before = i ? deepest[i - 1] : SCOPE_NONE;
        if (i < SPACE)
            same = same && scope_tree_find(t, BASE + i) == now;
        if (now != before)
            same = same && changes < l->count && l->begins[changes] == BASE + i && l->scopes[changes++] == now;
    }
    return same && changes == l->count;
}

/* Arbitrary ranges: of those that contain an address, the one that starts last, and among these the innermost. */
static bool finds_in_a_heap(void)
{
    struct scope_tree *t = scope_tree_create();
    struct scope_builder b = {.tree = t};
    vaddr latest[SPACE] = {0};
    for (int i = 0; i < SPACE; i++)
        d.deepest[i] = SCOPE_NONE;
    for (scope_ix i = 0, count = 1 + below(40); i < count; i++) {
        scope_builder_begin(&b, SCOPE_STMT);
        for (uint32_t n = below(3), from = 0; n > 0; n--) {
            vaddr begin = BASE + (from += 1 + below(SPACE / 4)), end = begin + below(SPACE / 4) - below(8);
            scope_builder_range(&b, begin, end);
            for (vaddr a = begin; a < end && a < BASE + SPACE; a++)
                if (begin >= latest[a - BASE]) {
                    latest[a - BASE] = begin;
                    d.deepest[a - BASE] = i;
                }
        }
        scope_builder_end(&b);
    }
    scope_builder_release(&b);
    bool same = finds_all(t, d.deepest);
    scope_tree_free(t);
    return same;
}

/* ---- rules of a tree ---- */

static vaddr lowest(const struct scope_tree *t, scope_ix s)
{
    const struct scope *scope = &t->scopes[s];
    vaddr least = UINT64_MAX;
    if (scope->kind == SCOPE_PROC)
        return scope->entry ? scope->entry : UINT64_MAX;
    for (uint32_t r = 0; r < scope->range_count; r++)
        least = t->ranges[scope->range_first + r].begin < least ? t->ranges[scope->range_first + r].begin : least;
    for (scope_ix i = s + 1; i < t->scope_count; i++)
        if (t->scopes[i].parent == s)
            least = lowest(t, i) < least ? lowest(t, i) : least;
    return least;
}

static scope_ix module_of(const struct scope_tree *t, scope_ix s)
{
    return t->scopes[s].parent == SCOPE_NONE ? s : module_of(t, t->scopes[s].parent);
}

/* The error in one scope considered alone; NULL: none. */
static const char *wrong_by_itself(const struct scope_tree *t, scope_ix i)
{
    static const char *const may_hold[] = {"F", "P", "ALS", "ALS", "ALS", ""};
    const struct scope *s = &t->scopes[i];
    const str_id ids[] = {s->name, s->short_name, s->link_name, s->origin, s->file, s->call_file};
    if (s->kind > SCOPE_STMT)
        return "no such kind";
    if (s->kind == SCOPE_MODULE ? s->parent != SCOPE_NONE : s->parent >= i)
        return "its parent does not come before it";
    if (s->kind != SCOPE_MODULE && !strchr(may_hold[t->scopes[s->parent].kind], "MFPALS"[s->kind]))
        return "not allowed under its parent";
    if (s->line_last != 0 && s->line_last < s->line_first)
        return "its last line comes before its first";
    if (s->kind == SCOPE_LOOP && (s->instance == 0 || s->instance > s->instances))
        return "its instance number is outside 1 to instances";
    for (size_t k = 0; k < ARRAY_SIZE(ids); k++)
        if (ids[k] >= strtab_count(t->strings))
            return "a string id is outside the string table";
    if ((uint64_t)s->range_first + s->range_count > t->range_count)
        return "its ranges lie outside the pool";
    for (uint32_t r = 0; r < s->range_count; r++) {
        const struct addr_range *own = &t->ranges[s->range_first + r];
        if (own->end <= own->begin)
            return "a range is empty or ends before it begins";
        if (r > 0 && own[-1].end > own->begin)
            return "its ranges overlap or are not in order";
    }
    return NULL;
}

static const char *wrong_order(const struct scope_tree *t, scope_ix i)
{
    const struct scope *s = &t->scopes[i];
    scope_ix before = i;
    while (before-- > 0 && t->scopes[before].parent != s->parent)
        continue;
    if (s->parent == SCOPE_NONE || before == SCOPE_NONE || before >= i || t->scopes[before].parent != s->parent)
        return NULL;
    if (s->kind == SCOPE_FILE)
        return strcmp(strtab_get(t->strings, t->scopes[before].name), strtab_get(t->strings, s->name)) < 0
                   ? NULL
                   : "files are not in the order of their names, or one is repeated";
    vaddr mine = lowest(t, i), others = lowest(t, before);
    return mine != UINT64_MAX && others != UINT64_MAX && others > mine ? "it comes after a scope of higher addresses"
                                                                       : NULL;
}

/* The first statement that starts inside another one of the same module; SCOPE_NONE: none. */
static scope_ix overlapping(const struct scope_tree *t)
{
    scope_ix found = SCOPE_NONE;
    vaddr begin = 0;
    for (scope_ix i = 0; i < t->scope_count; i++)
        for (uint32_t r = 0; t->scopes[i].kind == SCOPE_STMT && r < t->scopes[i].range_count; r++) {
            struct addr_range mine = t->ranges[t->scopes[i].range_first + r];
            bool inside = false;
            for (scope_ix k = 0; k < t->scope_count && !inside; k++)
                for (uint32_t q = 0; t->scopes[k].kind == SCOPE_STMT && q < t->scopes[k].range_count; q++) {
                    struct addr_range other = t->ranges[t->scopes[k].range_first + q];
                    inside |= k != i && module_of(t, k) == module_of(t, i) && other.end > mine.begin &&
                              (other.begin < mine.begin || (other.begin == mine.begin && k < i));
                }
            if (inside && (found == SCOPE_NONE || mine.begin < begin)) {
                found = i;
                begin = mine.begin;
            }
        }
    return found;
}

static bool follows(const struct scope_tree *t, scope_ix i)
{
    scope_ix up = i ? i - 1 : SCOPE_NONE;
    while (i && up != SCOPE_NONE && up != t->scopes[i].parent)
        up = t->scopes[up].parent;
    return i == 0 || up == t->scopes[i].parent;
}

static void put_verdict(struct buf *out, const struct scope_tree *t)
{
    const char *what = NULL;
    scope_ix i = 0;
    for (; i < t->scope_count && !(what = wrong_by_itself(t, i)); i++)
        continue;
    if (!what)
        for (i = 0; i < t->scope_count && follows(t, i); i++)
            continue;
    if (!what && i < t->scope_count)
        what = "it does not follow its parent in document order";
    if (!what)
        for (i = 0; i < t->scope_count && !(what = wrong_order(t, i)); i++)
            continue;
    if (!what && (i = overlapping(t)) != SCOPE_NONE)
        what = "its addresses also belong to another statement";
    buf_str(out, "");
    if (what)
        buf_printf(out, "scope %u (%s): %s", i, scope_kind_name(t->scopes[i].kind), what);
}

/* Some file of the tree; NULL: no file. */
static struct scope *any_file(struct scope_tree *t)
{
    uint32_t n = (uint32_t)t->scope_count, from = below(n), i = 0;
    while (i < n && t->scopes[(from + i) % n].kind != SCOPE_FILE)
        i++;
    return i < n ? &t->scopes[(from + i) % n] : NULL;
}

/* Changes one field. */
static void damage(struct scope_tree *t)
{
    struct scope *s = &t->scopes[below((uint32_t)t->scope_count)];
    const struct scope *other = &t->scopes[below((uint32_t)t->scope_count)];
    uint32_t *const fields[] = {&s->parent,      &s->line_first,  &s->line_last, &s->instance, &s->instances,
                                &s->range_first, &s->range_count, &s->name,      &s->file,     &s->call_file};
    const uint32_t many = below(2) ? UINT32_MAX : (uint32_t)strtab_count(t->strings);
    uint32_t *field = fields[below(ARRAY_SIZE(fields))];
    struct addr_range *of = t->range_count ? &t->ranges[below((uint32_t)t->range_count)] : NULL;
    struct scope *file = any_file(t);
    switch (below(8)) {
    case 0:
        *field += below(2) ? 1 : UINT32_MAX;
        break;
    case 1:
        *field = below(2) ? many : below(3);
        break;
    case 2:
        s->kind = (uint8_t)below(8);
        break;
    case 3:
        s->parent = other->parent;
        break;
    case 4:
        s->entry = below(2) ? other->entry : 0;
        break;
    case 5:
        if (file)
            file->name = file->file = any_file(t)->name;
        break;
    default:
        if (of)
            *(below(2) ? &of->begin : &of->end) += below(2) ? 1 + below(2) : (vaddr)-1 - below(8);
    }
}

static bool judged_alike(const struct scope_tree *t, unsigned *faults)
{
    struct buf want = {0};
    struct err err = {0};
    int status = scope_tree_check(t, &err);
    put_verdict(&want, t);
    bool same = strcmp(err.msg, want.bytes) == 0 && status == (*want.bytes ? -1 : 0);
    *faults += status < 0;
    if (!same)
        printf("# got    %s\n# wanted %s\n", err.msg, want.bytes);
    buf_release(&want);
    return same;
}

/* ---- out and in again ---- */

static char path[] = "/tmp/scope_drawn.XXXXXX";

static void put_file(const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        exit(99);
}

static char *written(struct scope_tree *t, enum scope_format format)
{
    struct buf text = {0};
    struct err err = {0};
    struct outfile *out = outfile_into(&text);
    scope_tree_write(t, format, out);
    if (outfile_commit(out, &err) < 0)
        exit(99);
    return text.bytes;
}

static struct scope_tree *read_again(const char *text)
{
    struct scope_tree *t = NULL;
    struct err err = {0};
    put_file(text, strlen(text));
    if (scope_tree_read(path, &t, NULL, &err) < 0)
        printf("# %s\n", err.msg);
    return t;
}

/* Prints a scope as a line, for .hpcstruct only the properties that it can represent. */
static void put_scope(struct buf *out, const struct scope_tree *t, const struct scope *s, bool all)
{
    const char *const texts[] = {strtab_get(t->strings, s->name),       strtab_get(t->strings, s->link_name),
                                 strtab_get(t->strings, s->file),       strtab_get(t->strings, s->call_file),
                                 strtab_get(t->strings, s->short_name), strtab_get(t->strings, s->origin)};
    for (size_t i = 0; i < (all ? 6 : 4); i++)
        buf_printf(out, "%s|", texts[i]);
    buf_printf(out, "%u %u %u %u", s->kind, s->parent, s->line_first, s->call_line);
    buf_printf(out, " %llx", s->kind == SCOPE_STMT ? 0 : (unsigned long long)s->entry);
    if (all) {
        uint32_t last = s->line_last ? s->line_last : s->line_first;
        buf_printf(out, " %u %u %d %d %u/%u %u", last, s->role, s->irreducible, s->outlined, s->instance, s->instances,
                   s->on_line);
        for (uint32_t r = 0; r < s->range_count; r++)
            buf_printf(out, " %llx-%llx", (unsigned long long)t->ranges[s->range_first + r].begin,
                       (unsigned long long)t->ranges[s->range_first + r].end);
    }
    buf_char(out, '\n');
}

static bool same_trees(const struct scope_tree *a, const struct scope_tree *b, bool all)
{
    struct buf x = {0}, y = {0};
    for (size_t i = 0; i < a->scope_count; i++)
        put_scope(&x, a, &a->scopes[i], all);
    for (size_t i = 0; i < b->scope_count; i++)
        put_scope(&y, b, &b->scopes[i], all);
    buf_str(&x, "");
    buf_str(&y, "");
    bool same = strcmp(x.bytes, y.bytes) == 0;
    if (!same)
        printf("# was\n%s# is\n%s", x.bytes, y.bytes);
    buf_release(&x);
    buf_release(&y);
    return same;
}

/* The last line as derivable from .hpcstruct: that of its contents in the same file, excluding inlined calls. */
static uint32_t last_line(const struct scope_tree *t, scope_ix s)
{
    uint32_t last = t->scopes[s].line_first;
    for (scope_ix i = s + 1; i < t->scope_count && last; i++)
        if (t->scopes[i].parent == s && t->scopes[i].kind != SCOPE_INLINE && t->scopes[i].file == t->scopes[s].file &&
            t->scopes[s].kind >= SCOPE_PROC)
            last = last_line(t, i) > last ? last_line(t, i) : last;
    return last;
}

/* Through either form and back. */
static bool comes_back(enum scope_format format)
{
    char *first = written(d.tree, format);
    struct scope_tree *back = read_again(first);
    bool same = back && same_trees(d.tree, back, format == SCOPE_XML) && finds_all(back, d.deepest);
    char *second = back ? written(back, format) : mem_strdup("");
    same = same && strcmp(first, second) == 0;
    for (scope_ix i = 0; same && format == SCOPE_HPCSTRUCT && i < back->scope_count; i++)
        same = back->scopes[i].line_last == last_line(back, i);
    mem_free(first);
    mem_free(second);
    scope_tree_free(back);
    return same;
}

/* ---- outlines ---- */

static bool holds_loop(const struct scope_tree *t, scope_ix s)
{
    bool holds = t->scopes[s].kind == SCOPE_LOOP;
    for (scope_ix i = s + 1; i < t->scope_count && !holds; i++)
        holds = t->scopes[i].parent == s && holds_loop(t, i);
    return holds;
}

static void put_outline(struct buf *out, const struct scope_tree *t, scope_ix i, int depth)
{
    static const char *const roles[] = {"", "  vector", "  remainder", "  unrolled"};
    const struct scope *s = &t->scopes[i], *up = depth ? &t->scopes[s->parent] : s;
    const char *file = strtab_get(t->strings, s->file), *around = strtab_get(t->strings, up->file);
    bool elsewhere = *file && strcmp(file, around) != 0;
    if (s->kind == SCOPE_STMT || (s->kind == SCOPE_INLINE && !holds_loop(t, i)))
        return;
    buf_printf(out, "%*s%s", 2 * depth, "", s->irreducible ? "irreducible " : "");
    if (s->kind == SCOPE_LOOP)
        buf_str(out, "loop");
    else if (s->kind == SCOPE_INLINE)
        buf_printf(out, "inlined %s, called at %u", strtab_get(t->strings, s->short_name), s->call_line);
    else
        buf_str(out, s->kind == SCOPE_FILE && !*file ? "(no source known)" : strtab_get(t->strings, s->name));
    if ((s->kind == SCOPE_PROC || s->kind == SCOPE_LOOP) && s->line_first)
        buf_printf(out, "  %u", s->line_first);
    if ((s->kind == SCOPE_PROC || s->kind == SCOPE_LOOP) && s->line_first && s->line_last > s->line_first)
        buf_printf(out, "-%u", s->line_last);
    if (s->kind == SCOPE_PROC && s->outlined && s->origin)
        buf_printf(out, "  outlined from %s", strtab_get(t->strings, s->origin));
    if ((s->kind == SCOPE_LOOP || s->kind == SCOPE_INLINE) && elsewhere)
        buf_printf(out, " in %s", file);
    if (s->on_line)
        buf_printf(out, "  loop %u of its line", s->on_line);
    buf_str(out, roles[s->role]);
    if (s->instances > 1)
        buf_printf(out, "  %u of %u", s->instance, s->instances);
    if (s->range_count)
        buf_printf(out, "  [0x%llx-0x%llx)", (unsigned long long)t->ranges[s->range_first].begin,
                   (unsigned long long)t->ranges[s->range_first + s->range_count - 1].end);
    if (s->range_count > 1)
        buf_printf(out, " in %u pieces", s->range_count);
    buf_char(out, '\n');
    for (scope_ix k = i + 1; k < t->scope_count; k++)
        if (t->scopes[k].parent == i)
            put_outline(out, t, k, depth + 1);
}

static bool outlined_alike(struct scope_tree *t)
{
    struct buf want = {0};
    char *got = written(t, SCOPE_OUTLINE);
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (t->scopes[i].parent == SCOPE_NONE)
            put_outline(&want, t, i, 0);
    buf_str(&want, "");
    bool same = strcmp(got ? got : "", want.bytes) == 0;
    if (!same)
        printf("# got\n%s# wanted\n%s", got ? got : "", want.bytes);
    buf_release(&want);
    mem_free(got);
    return same;
}

/* ---- valid nesting of elements ---- */

/* Each element inside each other one, in both forms. (With a line: leading code without one is not a separate statement
   in .hpcstruct.) */
static void test_places(bool ours)
{
    static const char *const elements[] = {"LM", "F", "P", "A", "L", "S"};
    static const char *const allowed[] = {"F", "P", "ALS", "ALS", "ALS", ""}, *const at_root = "M";
    static const char *const chains[] = {"",
                                         "<LM n='a'>",
                                         "<LM n='a'><F n='f'>",
                                         "<LM n='a'><F n='f'><P n='p'>",
                                         "<LM n='a'><F n='f'><P n='p'><A n='i'>",
                                         "<LM n='a'><F n='f'><P n='p'><L>",
                                         "<LM n='a'><F n='f'><P n='p'><S l='1'>"};
    static const char *const ends[] = {
        "", "</LM>", "</F></LM>", "</P></F></LM>", "</A></P></F></LM>", "</L></P></F></LM>", "</S></P></F></LM>"};
    const char *root = ours ? "PGM" : "HPCToolkitStructure";
    unsigned wrong = 0;
    for (size_t above = 0; above < ARRAY_SIZE(chains); above++)
        for (size_t kind = 0; kind < ARRAY_SIZE(elements); kind++) {
            struct scope_tree *t = NULL;
            struct err err = {0};
            char *text =
                mem_printf("<%s>%s<%s n='x' l='1'/>%s</%s>", root, chains[above], elements[kind], ends[above], root);
            char *want = mem_printf("%s:1: %s: not allowed here; the order is %s", path, elements[kind],
                                    ours ? "PGM, LM, F, P, then A, L and S" : "LM, F, P, then A, L, S and C");
            bool good = strchr(above ? allowed[above - 1] : at_root, "MFPALS"[kind]);
            put_file(text, strlen(text));
            int status = scope_tree_read(path, &t, NULL, &err);
            size_t count = above + 1 - (above > 4) - (above > 5);
            if (status != (good ? 0 : -1) || (t != NULL) != good || (good && t->scope_count != count) ||
                (!good && strcmp(err.msg, want) != 0)) {
                printf("# %s: %s\n", text, err.msg);
                wrong++;
            }
            scope_tree_free(t);
            mem_free(text);
            mem_free(want);
        }
    CHECK_NAMED(wrong == 0, ours ? "each element in each" : "each element in each, in .hpcstruct");
}

/* ---- attributes ---- */

static struct scope_tree *with_attribute(const char *element, const char *attribute, const char *value, struct err *err)
{
    struct scope_tree *t = NULL;
    char *text =
        mem_printf("<PGM><LM n='a'><F n='f'><P n='p'><%s %s='%s'/></P></F></LM></PGM>", element, attribute, value);
    put_file(text, strlen(text));
    *err = (struct err){0};
    scope_tree_read(path, &t, NULL, err);
    mem_free(text);
    return t;
}

static void draw_text(char *out, size_t room, const char *letters)
{
    size_t n = below((uint32_t)room);
    for (size_t i = 0; i < n; i++)
        out[i] = letters[below((uint32_t)strlen(letters))];
    out[n] = 0;
}

/* Valid and nearly valid lists of ranges: the expected contents, as text and address by address. */
static void draw_list(char *out, size_t room, bool *held)
{
    static const char *const gaps[] = {" ", "  ", "\t", ") [", "} {[", "\n"};
    struct buf list = {0};
    for (uint32_t n = below(6); n > 0; n--) {
        uint32_t begin = below(200), end = begin + 1 + below(20);
        buf_printf(&list, below(2) ? "0x%x-" : below(2) ? "%X-" : "0X%x-", begin);
        buf_printf(&list, below(2) ? "%x" : "0x%X", end);
        buf_str(&list, gaps[below(ARRAY_SIZE(gaps))]);
        for (uint32_t a = begin; a < end; a++)
            held[a] = true;
    }
    buf_str(&list, "");
    snprintf(out, room, "%s", list.bytes);
    if (below(2) && *out)
        out[below((uint32_t)strlen(out))] = "0-x )+g["[below(8)];
    buf_release(&list);
}

static void test_lists(void)
{
    regex_t list;
    unsigned wrong = 0, good = 0, bad = 0;
    if (regcomp(&list, "^[ \t\n{}[)]*((0[xX])?[0-9a-fA-F]{1,16}-(0[xX])?[0-9a-fA-F]{1,16}([ \t\n)}][ \t\n{}[)]*|$))*$",
                REG_EXTENDED | REG_NOSUB) != 0)
        exit(99);
    for (unsigned round = 0; round < 1200; round++) {
        char text[256];
        bool held[1 << 12] = {false}, read[1 << 12] = {false};
        struct err err;
        draw_list(text, sizeof text, held);
        char *now = mem_strdup(text);
        bool right = regexec(&list, text, 0, NULL, 0) == 0;
        memset(held, 0, sizeof held);
        for (char *at = now; right && *(at += strspn(at, " \t\n{}[)"));) {
            unsigned long begin = strtoul(at, &at, 16), end = strtoul(at + 1, &at, 16);
            right = begin < end && end < ARRAY_SIZE(held);
            for (unsigned long a = begin; right && a < end; a++)
                held[a] = true;
        }
        struct scope_tree *t = with_attribute("S", "v", text, &err);
        const char *want = ": S: v is not a list of address ranges like 1180-11a4";
        size_t n = strlen(err.msg), w = strlen(want);
        for (uint32_t r = 0; t && r < t->range_count; r++) {
            for (vaddr a = t->ranges[r].begin; a < t->ranges[r].end && a < ARRAY_SIZE(read); a++)
                read[a] = true;
            wrong += r > 0 && t->ranges[r - 1].end >= t->ranges[r].begin; /* (those that touch are one) */
        }
        good += right;
        bad += !right;
        bool same =
            right ? t && memcmp(held, read, sizeof held) == 0 : !t && n > w && strcmp(err.msg + n - w, want) == 0;
        if (!same && wrong++ < 5)
            printf("# \"%s\" %s: %s\n", text, right ? "is right" : "is wrong", err.msg);
        scope_tree_free(t);
        mem_free(now);
    }
    regfree(&list);
    CHECK(good > 200 && bad > 200);
    CHECK_INT(wrong, 0);
}

/* Numbers of lines and instances, by their letters. */
static void test_numbers(void)
{
    regex_t line, instance, address;
    unsigned wrong = 0, good = 0;
    if (regcomp(&line, "^[0-9]+$", REG_EXTENDED) || regcomp(&instance, "^ *[+]?[0-9]+/ *[+]?[0-9]+$", REG_EXTENDED) ||
        regcomp(&address, "^(0[xX])?[0-9a-fA-F]{1,16}$", REG_EXTENDED))
        exit(99);
    static const char *const edges[] = {"0",
                                        "1",
                                        "4294967295",
                                        "4294967296",
                                        "18446744073709551616",
                                        "1/1",
                                        "1/0",
                                        "2/3",
                                        "3/3",
                                        "4/3",
                                        "1/4294967295",
                                        "1/4294967296",
                                        "1/",
                                        "/1",
                                        "0x",
                                        "0xg",
                                        "0123456789abcdef",
                                        "0123456789abcdef0",
                                        "0xFFFFFFFFFFFFFFFF"};
    for (unsigned round = 0; round < 500 + ARRAY_SIZE(edges); round++) {
        char text[32];
        struct err err;
        unsigned long of = 0, n = 0;
        if (round < ARRAY_SIZE(edges))
            snprintf(text, sizeof text, "%s", edges[round]);
        else
            draw_text(text, 6, below(2) ? "0123/" : "01a9/xX-G");
        unsigned long long number = strtoull(text, NULL, 10);
        bool is_line = regexec(&line, text, 0, NULL, 0) == 0 && number <= UINT32_MAX && strlen(text) < 20;
        bool is_instance = regexec(&instance, text, 0, NULL, 0) == 0 && sscanf(text, "%lu/%lu", &of, &n) == 2 &&
                           of >= 1 && of <= n && n <= UINT32_MAX;
        bool is_address = regexec(&address, text, 0, NULL, 0) == 0;
        struct scope_tree *t = with_attribute("L", "o", text, &err);
        bool same = (t != NULL) == is_line && (!t || t->scopes[3].on_line == number);
        scope_tree_free(t);
        t = with_attribute("L", "i", text, &err);
        same = same && (t != NULL) == is_instance &&
               (!t || (t->scopes[3].instance == of && t->scopes[3].instances == n)) &&
               (t || strstr(err.msg, ": L: i is not an instance like 1/2"));
        scope_tree_free(t);
        t = with_attribute("L", "a", text, &err);
        same = same && (t != NULL) == is_address && (!t || t->scopes[3].entry == strtoull(text, NULL, 16)) &&
               (t || strstr(err.msg, ": L: a is not a hexadecimal address"));
        scope_tree_free(t);
        good += is_line + is_instance + is_address;
        if (!same && wrong++ < 5)
            printf("# \"%s\" %d %d %d: %s\n", text, is_line, is_instance, is_address, err.msg);
    }
    regfree(&line);
    regfree(&instance);
    regfree(&address);
    CHECK(good > 100);
    CHECK_INT(wrong, 0);
}

int main(void)
{
    enum { ROUNDS = 300 };
    unsigned found = 0, heaps = 0, judged = 0, faults = 0, back = 0, outlines = 0, round = 0, damages = 0;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) < 0)
        return 99;
    for (; round < ROUNDS && found == round && judged == damages && back == round && outlines == round; round++) {
        unsigned none = 0;
        draw(round % 2);
        found += finds_all(d.tree, d.deepest);
        judged += judged_alike(d.tree, &none) && none == 0;
        damages++;
        outlines += outlined_alike(d.tree);
        back += comes_back(SCOPE_XML) && (!d.alike || comes_back(SCOPE_HPCSTRUCT));
        for (int n = 0; n < 4 && d.tree->scope_count; n++, damages++) {
            damage(d.tree);
            judged += judged_alike(d.tree, &faults);
        }
        heaps += finds_in_a_heap();
        scope_tree_free(d.tree);
    }
    CHECK_INT(found, ROUNDS);
    CHECK_INT(heaps, ROUNDS);
    CHECK_INT(judged, damages);
    CHECK(faults > ROUNDS / 2);
    CHECK_INT(back, ROUNDS);
    CHECK_INT(outlines, ROUNDS);
    test_places(true);
    test_places(false);
    RUN(test_lists);
    RUN(test_numbers);
    unlink(path);
    return tap_done();
}
