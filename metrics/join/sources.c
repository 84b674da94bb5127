/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of modules and files in the tables, and the text of the files on this machine.
 *
 * A shown name must be short, unique, and the same wherever the tree was built and whatever was sampled, so it is cut
 * down from the path:
 *     below a source folder of the configuration   the part below it, after the folder's own name to show if it has one
 *     below the folder of a module's sources       the part below that; where the module does not say which that is,
 *                                                  below the folder common to its files that were sampled
 *     of the system (/usr/include/c++/12/bits/x.h) the last components that tell it from others, two at least
 */
#include "metrics/join/join.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- cutting paths ----------------------------------------------------------------------- */

/* The last n components of a path; all of it but the leading '/' where it has not so many. */
static const char *tail(const char *path, unsigned n)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --n > 0))
        at--;
    return at[0] == '/' ? at + 1 : at;
}

/* "../../src/a.c" says nothing about where ".." is; "src/a.c" is as good. */
static const char *below_here(const char *path)
{
    while (str_starts(path, "../"))
        path += 3;
    while (*path == '/')
        path++;
    return path;
}

/* Gives every name a tail of its path that no other has: longer and longer ones where two are equal. paths[i] are
 * distinct. */
static void make_unique(struct strtab *strings, const char *const *paths, str_id *names, size_t n)
{
    unsigned *components = mem_calloc(n, sizeof *components);
    for (bool again = true; again;) {
        struct hashmap first = {0};
        again = false;
        uint8_t *clash = mem_calloc(n, 1);
        for (size_t i = 0; i < n; i++) {
            uint32_t *slot = hashmap_put(&first, names[i]);
            if (*slot == HASHMAP_NONE)
                *slot = (uint32_t)i;
            else
                clash[i] = clash[*slot] = 1;
        }
        hashmap_release(&first);
        for (size_t i = 0; i < n; i++) {
            if (!clash[i])
                continue;
            if (components[i] == 0) /* begin with one more than the name shows now */
                for (const char *c = strtab_get(strings, names[i]); c; c = strchr(c + 1, '/'))
                    components[i]++;
            /* one more, but in bounds for paths of a thousand components that differ in the first */
            components[i] += components[i] < 16 ? 1 : components[i] / 4;
            str_id longer = strtab_add(strings, tail(paths[i], components[i]));
            again = again || longer != names[i];
            names[i] = longer;
        }
        mem_free(clash);
    }
    /* "/a/b.c" and "a/b.c" have the same tails to the end */
    struct hashmap seen = {0};
    for (size_t i = 0; i < n; i++) {
        str_id plain = names[i];
        for (unsigned k = 2; hashmap_get(&seen, names[i]) != HASHMAP_NONE; k++)
            names[i] = strtab_printf(strings, "%s (%u)", strtab_get(strings, plain), k);
        *hashmap_put(&seen, names[i]) = (uint32_t)i;
    }
    hashmap_release(&seen);
    mem_free(components);
}

/* ---- modules ------------------------------------------------------------------------------ */

void sources_name_modules(struct correlation *c)
{
    size_t n = 0;
    const char **paths = mem_calloc(c->modules.count, sizeof *paths);
    str_id *names = mem_calloc(c->modules.count, sizeof *names);
    for (uint32_t i = 0; i < c->modules.count; i++) {
        if (c->modules.items[i].group != i)
            continue;
        paths[n] = strtab_get(c->strings, c->modules.items[i].path);
        names[n++] = strtab_add(c->strings, correlate_module_name(c, i));
    }
    make_unique(c->strings, paths, names, n);
    n = 0;
    for (uint32_t i = 0; i < c->modules.count; i++) /* the first of a group comes before the others */
        c->modules.items[i].shown =
            c->modules.items[i].group == i ? names[n++] : c->modules.items[c->modules.items[i].group].shown;
    mem_free(paths);
    mem_free(names);
}

/* ---- files --------------------------------------------------------------------------------- */

struct source_root { /* the folder common to a module's own files: path[0..len) */
    const char *path;
    size_t len;
};

static bool absolute_own(const char *path)
{
    return path[0] == '/' && !path_is_of_system(path);
}

static void widen_root(struct source_root *r, const char *path)
{
    if (!r->path)
        *r = (struct source_root){path, (size_t)(strrchr(path, '/') - path) + 1};
    else
        r->len = path_common_folder(r->path, path, r->len);
}

static struct source_root *module_roots(const struct correlation *c)
{
    struct source_root *roots = mem_calloc(c->modules.count, sizeof *roots);
    for (size_t i = 0; i < c->files.count; i++) {
        const char *path = strtab_get(c->strings, c->files.items[i].name);
        if (absolute_own(path))
            widen_root(&roots[c->file_module.items[i]], path);
    }
    return roots;
}

/* Of modules whose files debug information names: a measurement alone may name any folder. */
static bool *modules_to_trust(const struct correlation *c)
{
    bool *trusted = mem_calloc(c->modules.count, sizeof *trusted);
    memset(trusted, true, c->modules.count);
    for (size_t i = 0; i < c->files.count; i++)
        if (absolute_own(strtab_get(c->strings, c->files.items[i].name)) &&
            !(i < c->file_known.count && c->file_known.items[i]))
            trusted[c->file_module.items[i]] = false;
    return trusted;
}

void sources_keep_folders(const struct correlation *c, struct experiment *e)
{
    struct source_root *roots = module_roots(c);
    bool *trusted = modules_to_trust(c);
    struct VEC(str_id) folders = {0};
    for (size_t i = 0; i < c->modules.count; i++) {
        struct stat st;
        str_id folder = trusted[i] && roots[i].len > 1 ? strtab_addn(e->strings, roots[i].path, roots[i].len - 1) : 0;
        bool again = folder == 0 || stat(strtab_get(e->strings, folder), &st) != 0 || !S_ISDIR(st.st_mode);
        for (size_t k = 0; k < folders.count; k++)
            again = again || folders.items[k] == folder;
        if (!again)
            *vec_push(&folders) = folder;
    }
    e->source_folders = folders.items;
    e->source_folder_count = folders.count;
    mem_free(trusted);
    mem_free(roots);
}

/* An absolute folder with its symbolic links followed, ending in '/'; NULL: not there. */
static char *real_folder(const char *dir)
{
    char *real = realpath(dir, NULL);
    if (!real)
        return NULL;
    char *slashed = mem_printf(strcmp(real, "/") == 0 ? "%s" : "%s/", real);
    free(real);
    return slashed;
}

static str_id name_below_source_path(struct correlation *c, const struct config *config, char *const *folders,
                                     const char *path)
{
    const char *rest = NULL, *view = "";
    size_t longest = 0;
    for (size_t i = 0; i < config->sources.count; i++) {
        const char *candidates[] = {folders[i], NULL};
        char *given = str_ends(config->sources.items[i].dir, "/") ? mem_strdup(config->sources.items[i].dir)
                                                                  : mem_printf("%s/", config->sources.items[i].dir);
        candidates[1] = given;
        for (size_t k = 0; k < ARRAY_SIZE(candidates); k++)
            if (candidates[k] && strlen(candidates[k]) > longest && str_starts(path, candidates[k])) {
                longest = strlen(candidates[k]);
                rest = path + longest;
                view = config->sources.items[i].view;
            }
        mem_free(given);
    }
    if (!rest)
        return 0;
    return *view ? strtab_printf(c->strings, "%s/%s", view, rest) : strtab_add(c->strings, rest);
}

/* The part of an absolute path below the folder of all the sources that its module was made of, or below the first
   around it that contains the path; NULL: its debug information does not have it. Such a name does not depend on the
   samples. Builds of one module may be from several folders. */
static const char *below_sources(const struct correlation *c, uint32_t group, const char *path)
{
    size_t longest = 1;
    for (size_t i = 0; i < c->modules.count; i++) {
        const struct module *m = &c->modules.items[i];
        const char *folder = m->group == group ? strtab_get(c->strings, m->folder) : "";
        size_t len = path_common_folder(folder, path, strlen(folder));
        longest = len > longest ? len : longest;
    }
    return longest > 1 ? path + longest : NULL;
}

void sources_name_files(struct correlation *c, const struct config *config)
{
    size_t n = c->files.count;
    const char **paths = mem_calloc(n, sizeof *paths);
    str_id *names = mem_calloc(n, sizeof *names);
    char **folders = mem_calloc(config->sources.count, sizeof *folders);
    struct source_root *roots = module_roots(c);
    const char *below;
    for (size_t i = 0; i < config->sources.count; i++)
        folders[i] = real_folder(config->sources.items[i].dir);
    for (size_t i = 0; i < n; i++) {
        const char *path = paths[i] = strtab_get(c->strings, c->files.items[i].name);
        const struct source_root *root = &roots[c->file_module.items[i]];
        names[i] = name_below_source_path(c, config, folders, path);
        if (names[i])
            continue;
        if (path[0] != '/')
            names[i] = strtab_add(c->strings, below_here(path));
        else if (absolute_own(path) && (below = below_sources(c, c->file_module.items[i], path)))
            names[i] = strtab_add(c->strings, below);
        else if (absolute_own(path) && root->len > 1)
            names[i] = strtab_add(c->strings, path + root->len);
        else
            names[i] = strtab_add(c->strings, tail(path, 2));
    }
    make_unique(c->strings, paths, names, n);
    for (size_t i = 0; i < n; i++)
        c->files.items[i].name = names[i];
    for (size_t i = 0; i < config->sources.count; i++)
        mem_free(folders[i]);
    mem_free(folders);
    mem_free(roots);
    mem_free(paths);
    mem_free(names);
}

/* ---- where the text is ------------------------------------------------------------------------ */

struct indexed { /* a file below a folder searched with its subfolders */
    char *path;
    uint32_t next; /* the next one with the same base name, or UINT32_MAX */
};

struct folder_index {
    struct strtab *names;       /* base names */
    struct VEC(uint32_t) first; /* by name: index into files */
    struct VEC(struct indexed) files;
};

struct pending {
    char *path;
    unsigned depth;
};

static void index_file(struct folder_index *x, const char *path)
{
    str_id name = strtab_add(x->names, path_base(path));
    while (x->first.count <= name)
        *vec_push(&x->first) = UINT32_MAX;
    *vec_push(&x->files) = (struct indexed){mem_strdup(path), x->first.items[name]};
    x->first.items[name] = (uint32_t)(x->files.count - 1);
}

/* Reads a tree without following links to folders, so that it ends; hidden folders (.git) hold no sources. */
static void index_folder(struct folder_index *x, const char *top)
{
    struct VEC(struct pending) folders = {0};
    size_t seen = 0;
    x->names = strtab_create();
    *vec_push(&folders) = (struct pending){mem_strdup(top), 0};
    while (folders.count) {
        struct pending now = folders.items[--folders.count];
        DIR *dir = opendir(now.path);
        struct dirent *entry;
        while (dir && (entry = readdir(dir)) && seen < LIMIT_SOURCE_INDEX) {
            struct stat st;
            if (entry->d_name[0] == '.')
                continue;
            seen++;
            char *path = path_join(now.path, entry->d_name);
            if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && now.depth < LIMIT_SOURCE_DEPTH)
                *vec_push(&folders) = (struct pending){mem_strdup(path), now.depth + 1};
            else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
                index_file(x, path);
            mem_free(path);
        }
        if (dir)
            closedir(dir);
        mem_free(now.path);
    }
    vec_release(&folders);
}

static void index_release(struct folder_index *x)
{
    for (size_t i = 0; i < x->files.count; i++)
        mem_free(x->files.items[i].path);
    vec_release(&x->files);
    vec_release(&x->first);
    strtab_free(x->names);
}

/* The file below the folder that shares the longest end with `path`; of equal ones the shorter path, then the first by
   name: readdir's order must not matter. */
static const char *best_indexed(const struct folder_index *x, const char *path)
{
    const char *best = NULL;
    unsigned most = 0;
    /* a look-up that adds: names not there stay without files */
    str_id name = strtab_add(x->names, path_base(path));
    for (uint32_t i = name < x->first.count ? x->first.items[name] : UINT32_MAX; i != UINT32_MAX;
         i = x->files.items[i].next) {
        const char *candidate = x->files.items[i].path;
        unsigned shared = metrics_path_shared_end(candidate, path);
        bool better = shared > most;
        if (best && shared == most) {
            size_t a = strlen(candidate), b = strlen(best);
            better = a < b || (a == b && strcmp(candidate, best) < 0);
        }
        if (better) {
            best = candidate;
            most = shared;
        }
    }
    return best;
}

static bool readable_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

struct source_finder {
    const struct config *config;
    struct folder_index *indexes; /* one per source folder, made when first needed */
    bool *indexed;
    struct VEC(const char *) working_dirs;
    struct strtab *folders; /* real paths that end in '/' */
    struct hashmap open;    /* those below which texts may be taken, by id; the value is enum who_may */
};

/* ---- what may be read ------------------------------------------------------------------------
 *
 * A measurement comes from others, and its file names may say anything; a database is passed on. So text is taken only
 * from below folders that the user named (source paths, replacements, the current folder), those in which the debug
 * information says that sources are, and the measurement's own. It is the file itself that must lie there, after ".."
 * and symbolic links.
 */

enum who_may {
    ALL_NAMES,
    KNOWN_NAMES /* those in debug information: a measurement gave the folder, not the file */
};

/* Programs are not compiled from there, and some files below /proc never end. `real` has no links and no "..". */
static bool never_source(const char *real)
{
    static const char *const folders[] = {"/proc", "/sys", "/dev", "/run", "/etc"};
    bool never = false;
    for (size_t i = 0; i < ARRAY_SIZE(folders) && !never; i++) {
        char *elsewhere = real_folder(folders[i]); /* where it is a link itself */
        never = (str_starts(real, folders[i]) && real[strlen(folders[i])] == '/') ||
                (elsewhere && strcmp(elsewhere, "/") != 0 && str_starts(real, elsewhere));
        mem_free(elsewhere);
    }
    return never;
}

static void open_folder(struct source_finder *f, const char *dir, enum who_may who)
{
    char *real = real_folder(*dir ? dir : ".");
    if (real) {
        uint32_t *slot = hashmap_put(&f->open, strtab_add(f->folders, real));
        *slot = *slot == ALL_NAMES ? ALL_NAMES : who;
    }
    mem_free(real);
}

/* An implicit one: if it were "/", all of the machine would be readable. */
static void open_implied(struct source_finder *f, const char *dir, enum who_may who)
{
    char *real = real_folder(*dir ? dir : ".");
    if (real && strcmp(real, "/") != 0)
        open_folder(f, real, who);
    mem_free(real);
}

static void open_folder_of(struct source_finder *f, const char *file)
{
    char *dir = mem_strndup(file, (size_t)(path_base(file) - file));
    open_implied(f, dir, ALL_NAMES);
    mem_free(dir);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A program's own sources lie below one folder; headers of the system lie in many, each by itself. */
static void open_debug_folders(struct source_finder *f, const struct correlation *c)
{
    struct source_root *roots = mem_calloc(c->modules.count, sizeof *roots);
    for (size_t i = 0; i < c->files.count; i++) {
        const char *path = strtab_get(c->strings, c->files.items[i].raw_name);
        if (path[0] != '/' || i >= c->file_known.count || !c->file_known.items[i])
            continue;
        open_folder_of(f, path);
        if (!path_is_of_system(path))
            widen_root(&roots[c->file_module.items[i]], path);
    }
    for (size_t i = 0; i < c->modules.count; i++)
        if (roots[i].path) {
            char *dir = mem_strndup(roots[i].path, roots[i].len);
            open_implied(f, dir, ALL_NAMES);
            mem_free(dir);
        }
    mem_free(roots);
}

static void open_folders(struct source_finder *f, const struct correlation *c, const struct input *inputs,
                         size_t input_count)
{
    open_implied(f, ".", ALL_NAMES);
    for (size_t i = 0; i < f->config->sources.count; i++)
        open_folder(f, f->config->sources.items[i].dir, ALL_NAMES);
    for (size_t i = 0; i < f->config->replaces.count; i++)
        open_folder(f, f->config->replaces.items[i].out, ALL_NAMES);
    for (size_t i = 0; i < input_count && inputs[i].run < f->config->runs.count; i++) {
        const char *path = f->config->runs.items[inputs[i].run].path;
        if (is_folder(path))
            open_implied(f, path, ALL_NAMES);
        else
            open_folder_of(f, path);
    }
    open_debug_folders(f, c);
    for (size_t i = 0; i < f->working_dirs.count; i++)
        open_implied(f, f->working_dirs.items[i], KNOWN_NAMES);
}

/* Is the file below an open folder? Hidden folders and files there (.git, .ssh) hold no sources, unless one is itself
   open. */
static bool below_open_folder(const struct source_finder *f, const char *real, bool known)
{
    for (size_t n = strlen(real); n > 0; n--) {
        if (real[n - 1] != '/')
            continue;
        if (real[n] == '.')
            return false;
        uint32_t who = hashmap_get(&f->open, strtab_addn(f->folders, real, n));
        if (who == ALL_NAMES || (who == KNOWN_NAMES && known))
            return true;
    }
    return false;
}

static bool may_be_source(const struct source_finder *f, const char *path, bool known)
{
    if (!readable_file(path))
        return false;
    char *real = realpath(path, NULL);
    bool may = real && !never_source(real) && below_open_folder(f, real, known);
    free(real);
    return may;
}

/* dir/a/b/c.f90, dir/b/c.f90, dir/c.f90: the first that is there; caller frees; NULL: none. */
static char *below_folder(const struct source_finder *f, const char *dir, const char *path, bool known)
{
    for (const char *rest = path; rest; rest = strchr(rest, '/')) {
        while (*rest == '/')
            rest++;
        char *candidate = path_join(*dir ? dir : ".", rest);
        if (*rest && strcmp(rest, "..") != 0 && !str_starts(rest, "../") && may_be_source(f, candidate, known))
            return candidate;
        mem_free(candidate);
    }
    return NULL;
}

static char *find_below_paths(struct source_finder *f, const char *path, bool known)
{
    char *found = below_folder(f, ".", path, known);
    for (size_t i = 0; !found && i < f->config->sources.count; i++) {
        const struct config_path *source = &f->config->sources.items[i];
        found = below_folder(f, source->dir, path, known);
        if (!source->subfolders)
            continue;
        if (!f->indexed[i])
            index_folder(&f->indexes[i], source->dir);
        f->indexed[i] = true;
        /* with subfolders: a longer shared end deeper down beats the first hit */
        const char *best = best_indexed(&f->indexes[i], path);
        if (best && may_be_source(f, best, known) &&
            (!found || metrics_path_shared_end(best, path) > metrics_path_shared_end(found, path))) {
            mem_free(found);
            found = mem_strdup(best);
        }
    }
    return found;
}

/* `known`: structure names it too. */
static char *find_one(struct source_finder *f, const char *raw, bool known)
{
    char *found = NULL;
    if (raw[0] == '/' && may_be_source(f, raw, known))
        return mem_strdup(raw);
    char *replaced = config_replaced(f->config, raw);
    if (strcmp(replaced, raw) != 0 && may_be_source(f, replaced, known))
        return replaced;
    for (size_t i = 0; !found && raw[0] != '/' && i < f->working_dirs.count; i++) {
        char *candidate = path_join(f->working_dirs.items[i], raw);
        if (may_be_source(f, candidate, known))
            found = candidate;
        else
            mem_free(candidate);
    }
    if (!found)
        found = find_below_paths(f, replaced, known);
    mem_free(replaced);
    return found;
}

/* The last line of each file that has samples. */
static uint32_t *last_lines(const struct correlation *c)
{
    uint32_t *last = mem_calloc(c->files.count, sizeof *last);
    for (size_t i = 0; i < c->places.count; i++) {
        const struct place *p = &c->places.items[i];
        if (p->kind == PLACE_LINE && p->file != SOURCE_NONE && p->line_first > last[p->file])
            last[p->file] = p->line_first;
    }
    return last;
}

/* A file that shares only its base name with the one searched for may be another program's "main.c"; one that is too
   short for the samples certainly is. */
static bool too_short(const char *found, const char *raw, uint32_t last_line)
{
    struct filemap map;
    uint32_t lines = 1;
    if (metrics_path_shared_end(found, raw) > 1 || filemap_open(&map, found, NULL) < 0)
        return false;
    for (size_t i = 0; i + 1 < map.len && lines < last_line; i++)
        lines += map.bytes[i] == '\n';
    filemap_release(&map);
    return lines < last_line;
}

void sources_find(struct correlation *c, const struct config *config, const struct input *inputs, size_t input_count)
{
    struct source_finder f = {.config = config,
                              .folders = strtab_create(),
                              .indexes = mem_calloc(config->sources.count, sizeof *f.indexes),
                              .indexed = mem_calloc(config->sources.count, sizeof *f.indexed)};
    uint32_t *last = last_lines(c);
    for (size_t i = 0; i < input_count; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; k < p->process_count; k++) {
            const char *dir = strtab_get(p->strings, p->processes[k].working_dir);
            bool again = *dir == '\0';
            for (size_t w = 0; w < f.working_dirs.count && !again; w++)
                again = strcmp(f.working_dirs.items[w], dir) == 0;
            if (!again && f.working_dirs.count < 16) /* a job of thousands of ranks has one or a few */
                *vec_push(&f.working_dirs) = dir;
        }
    }
    open_folders(&f, c, inputs, input_count);
    for (size_t i = 0; i < c->files.count; i++) {
        const char *raw = strtab_get(c->strings, c->files.items[i].raw_name);
        char *found = find_one(&f, raw, i < c->file_known.count && c->file_known.items[i]);
        bool fits = found && !too_short(found, raw, last[i]);
        c->files.items[i].found = strtab_add(c->strings, fits ? found : "");
        mem_free(found);
    }
    mem_free(last);
    for (size_t i = 0; i < config->sources.count; i++)
        if (f.indexed[i])
            index_release(&f.indexes[i]);
    mem_free(f.indexes);
    mem_free(f.indexed);
    vec_release(&f.working_dirs);
    hashmap_release(&f.open);
    strtab_free(f.folders);
}
