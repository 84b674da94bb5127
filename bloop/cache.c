/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole-binary structure kept between runs, as the XML form in a folder the caller names.
 *
 * The key is the build id and the version of hpcview, so an entry never needs to be checked against the binary's date;
 * a binary without a build id is not cached. The module's name is not part of the key: the copy that is read gets the
 * caller's.
 */
#include "bloop/assemble/assemble.h"

#include <unistd.h>

char *bloop_cache_path(const struct bloop_binary *b, const char *folder, const char *version)
{
    const char *id = bloop_build_id(b);
    if (!*id)
        return NULL;
    return mem_printf("%s/structure/%s-%s.xml", folder, id, version);
}

int bloop_cache_get(const char *path, const char *module, struct scope_tree **tree)
{
    struct err err;
    *tree = NULL;
    if (access(path, R_OK) != 0)
        return 0;
    if (scope_tree_read(path, tree, NULL, &err) < 0)
        return 0; /* damaged: it will be made anew and replaced */
    struct scope_tree *t = *tree;
    if (t->scope_count == 0 || t->scopes[0].kind != SCOPE_MODULE || scope_tree_check(t, NULL) < 0) {
        scope_tree_free(t);
        *tree = NULL;
        return 0;
    }
    t->scopes[0].name = strtab_add(t->strings, module);
    return 1;
}

int bloop_cache_put(const char *path, struct scope_tree *tree, struct err *err)
{
    struct outfile *out;
    char *folder = mem_strndup(path, (size_t)(path_base(path) - path));
    int status = dir_make(folder, err);
    mem_free(folder);
    if (status < 0 || outfile_create(path, &out, err) < 0)
        return -1;
    scope_tree_write(tree, SCOPE_XML, out);
    return outfile_commit(out, err);
}
