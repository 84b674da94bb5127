/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview open: a database in the user's browser. */
#include "driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The page of a database: the path itself if it is a file, else the index.html in it. Caller frees; NULL with an error. */
static char *page_of(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        err_errno(err, path, "cannot be opened");
        return NULL;
    }
    if (driver_is_measurement(path)) {
        err_set(err, ERR_USAGE, "open: %s is a measurement, not a database; to build one: hpcview build %s", path,
                path);
        return NULL;
    }
    char *page = S_ISDIR(st.st_mode) ? path_join(path, "index.html") : mem_strdup(path);
    if (access(page, R_OK) != 0) {
        err_set(err, ERR_FORMAT, "%s: not a database: no readable index.html in it", path);
        mem_free(page);
        return NULL;
    }
    char *absolute = realpath(page, NULL);
    mem_free(page);
    if (!absolute) {
        err_errno(err, path, "cannot be opened");
        return NULL;
    }
    char *copy = mem_strdup(absolute);
    free(absolute);
    return copy;
}

/* As a URL: special characters are percent-encoded. */
static char *address_of(const char *path)
{
    struct buf url = {0};
    buf_str(&url, "file://");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/-_.~+,@", c))
            buf_char(&url, (char)c);
        else
            buf_printf(&url, "%%%02X", c);
    }
    return url.bytes;
}

/* Runs `program address`; its exit status, or -1 if it cannot be started. quiet: xdg-open lists every browser that it does
   not find. */
static int run_opener(const char *program, const char *address, bool quiet)
{
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        if (quiet)
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        execlp(program, program, address, (char *)NULL);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

/* $BROWSER is the user's choice; the others are the desktops'. */
static bool open_with_any(const char *address)
{
    const char *own = getenv("BROWSER");
    const char *const programs[] = {own ? own : "", "xdg-open", "sensible-browser", "open"};
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        if (*programs[i] && run_opener(programs[i], address, i > 0) == 0)
            return true;
    return false;
}

static int run(struct session *s, int argc, char **argv)
{
    if (argc != 1)
        return err_set(&s->err, ERR_USAGE, "open: usage: hpcview open DB");
    char *page = page_of(argv[0], &s->err);
    if (!page)
        return -1;
    char *address = address_of(page);
    int status = 0;
    if (!open_with_any(address))
        status =
            err_set(&s->err, ERR_SYSTEM,
                    "no browser starts here (tried $BROWSER, xdg-open, sensible-browser, open); open this address in "
                    "one, or copy %s to a machine that has one: %s",
                    argv[0], address);
    mem_free(page);
    mem_free(address);
    return status;
}

const struct command command_open = {
    .name = "open",
    .synopsis = "DB",
    .summary = "open a database in a browser",
    .run = run,
};
