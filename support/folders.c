/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders: making and listing them. (Removing one, and one that appears only when complete, are in files.c with
   incomplete files.) */
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

int dir_make(const char *path, struct err *err)
{
    char *partial = mem_strdup(path);
    int status = 0;
    for (char *p = partial + 1; status == 0; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char separator = *p;
        *p = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            status = err_errno(err, path, "cannot be created");
        *p = separator;
        if (separator == '\0')
            break;
    }
    struct stat st;
    if (status == 0 && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
        status = err_set(err, ERR_SYSTEM, "%s: exists and is not a folder", path);
    mem_free(partial);
    return status;
}

char *dir_unused(const char *program, const char *what, bool (*shared)(const char *path))
{
    const char *const endings[] = {"db", "html", what}; /* the last one is the result */
    struct stat st;
    char *dir = NULL;
    for (unsigned i = 1, taken = 1; taken; i++) {
        taken = 0;
        for (size_t k = 0; k < ARRAY_SIZE(endings); k++) {
            mem_free(dir);
            dir = i == 1 ? mem_printf("hpcview-%s.%s", path_base(program), endings[k])
                         : mem_printf("hpcview-%s-%u.%s", path_base(program), i, endings[k]);
            taken |= lstat(dir, &st) == 0 && !(shared && k == ARRAY_SIZE(endings) - 1 && shared(dir));
        }
    }
    return dir;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int dir_list(const char *path, const char *ending, const char *doing, struct text_list *list, struct err *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return err_errno(err, path, doing);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (str_ends(entry->d_name, ending) && entry->d_name[0] != '.')
            *vec_push(list) = path_join(path, entry->d_name);
    closedir(dir);
    vec_sort(list, by_bytes);
    return 0;
}

void text_list_release(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mem_free(list->items[i]);
    vec_release(list);
}
