/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths as text. */
#include "support/support.h"
#include <sys/stat.h>
#include <unistd.h>

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || dir[0] == '\0')
        return mem_strdup(name);
    return mem_printf(str_ends(dir, "/") ? "%s%s" : "%s/%s", dir, name);
}

/* Length of the last component of out[0..n), without the slash before it. */
static size_t last_component(const char *out, size_t n)
{
    size_t length = 0;
    while (length < n && out[n - length - 1] != '/')
        length++;
    return length;
}

char *path_normal(const char *path)
{
    size_t n = 0, root = path[0] == '/';
    char *out = mem_alloc(strlen(path) + 2);
    if (root)
        out[n++] = '/';
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.') {
            size_t last = last_component(out, n);
            bool stays = last == 2 && memcmp(out + n - 2, "..", 2) == 0;
            if (last && !stays) {
                n -= last;
                if (n > root)
                    n--;
                path += len + (path[len] == '/');
                continue;
            }
            if (root) { /* "/.." is "/" */
                path += len + (path[len] == '/');
                continue;
            }
        }
        if (len && !(len == 1 && path[0] == '.')) {
            if (n > root)
                out[n++] = '/';
            memcpy(out + n, path, len);
            n += len;
        }
        path += len + (path[len] == '/');
    }
    if (n == 0)
        out[n++] = '.';
    out[n] = '\0';
    return out;
}

char *path_search(const char *folders, const char *name)
{
    if (strchr(name, '/'))
        return mem_strdup(name);
    for (const char *at = folders ? folders : "/usr/bin:/bin"; at;) {
        size_t n = strcspn(at, ":");
        char *file = n ? mem_printf("%.*s/%s", (int)n, at, name) : mem_printf("./%s", name);
        struct stat st;
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return file;
        mem_free(file);
        at = at[n] ? at + n + 1 : NULL;
    }
    return NULL;
}

char *path_program(const char *folders, const char *name, struct err *err)
{
    char *file = path_search(folders, name);
    if (!file && access(name, X_OK) == 0)
        err_set(err, ERR_SYSTEM, "%s: not found in PATH; the one in this folder is ./%s", name, name);
    else if (!file)
        err_set(err, ERR_SYSTEM, "%s: not found in PATH", name);
    return file;
}

bool path_is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/", "/lib/", "/lib64/", "/lib32/", "/nix/store/", "/gnu/store/"};
    if (str_starts(path, "/usr/src/") || str_starts(path, "/usr/local/src/"))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        if (str_starts(path, folders[i]))
            return true;
    return false;
}

size_t path_common_folder(const char *a, const char *b, size_t n)
{
    size_t same = 0;
    for (size_t i = 0; i < n && a[i] == b[i]; i++)
        if (a[i] == '/')
            same = i + 1;
    return same;
}
