/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main program of a fuzz target if libFuzzer is not available: runs it on every file named on the command line, and
 * every file of the folders named there. Each input is copied to memory of exactly its size, so that AddressSanitizer
 * and valgrind detect an access one byte past its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int files;

static void replay_file(const char *path, const struct stat *st)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc((size_t)st->st_size + (st->st_size == 0));
    if (!f || !bytes || fread(bytes, 1, (size_t)st->st_size, f) != (size_t)st->st_size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(f);
    printf("# %s\n", path); /* before the call: the last line names the input that crashed */
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, (size_t)st->st_size);
    free(bytes);
    files++;
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.' && strncmp(e->d_name, "README", 6) != 0;
}

static void replay(const char *path)
{
    struct stat st;
    struct dirent **list;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "%s: not there\n", path);
        exit(1);
    }
    if (!S_ISDIR(st.st_mode)) {
        replay_file(path, &st);
        return;
    }
    int n = scandir(path, &list, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, list[i]->d_name);
        replay(name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d inputs\n", files);
    return files == 0;
}
