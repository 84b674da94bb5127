/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits TEST ARGS...: runs a test with limits on time and memory, which are generous: they stop tests that hang or use
 * unlimited memory, not slow ones. Leftovers are errors too: a process that still runs, a file in TMPDIR. Errors are
 * printed as TAP's "Bail out!". In C tests, uninitialized memory is filled (glibc), so that reads past the end of a
 * growing array find neither valid pointers nor plausible numbers. The last line is the time that the test took:
 * "# took: 12.3 s, 8.1 s of processors".
 *
 *     TEST_SECONDS     1200        TEST_MEGABYTES     8000, of all its processes together
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MOST = 1 << 16, GRACE_MS = 10000 };

/* ---- processes ---------------------------------------------------------------------------------------------- */

struct process {
    pid_t pid, parent;
    long pages;
    bool ours;
    char name[64];
};
static struct process table[PROCESSES_MOST];
static int table_count;

static bool read_process(const char *number, struct process *p)
{
    char path[300], line[512], *close = NULL;
    snprintf(path, sizeof path, "/proc/%s/stat", number);
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(line, sizeof line, f) && (close = strrchr(line, ')'));
    if (f)
        fclose(f);
    if (!ok)
        return false;
    *p = (struct process){.pid = atoi(number)};
    sscanf(strchr(line, '(') + 1, "%60[^)]", p->name);
    return sscanf(close + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %ld",
                  &p->parent, &p->pages) == 2;
}

static void mark_ours(void)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < table_count; i++)
            for (int k = 0; !table[i].ours && k < table_count; k++)
                if (table[i].parent == getpid() || (table[k].ours && table[k].pid == table[i].parent)) {
                    table[i].ours = more = true;
                    break;
                }
    }
}

/* All our descendants: orphaned ones become our children (PR_SET_CHILD_SUBREAPER). */
static void look(void)
{
    DIR *dir = opendir("/proc");
    table_count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9' && table_count < PROCESSES_MOST &&
            read_process(e->d_name, &table[table_count]))
            table_count++;
    if (dir)
        closedir(dir);
    mark_ours();
}

static long megabytes(void)
{
    long pages = 0;
    for (int i = 0; i < table_count; i++)
        pages += table[i].ours ? table[i].pages : 0;
    return pages / (1 << 20) * sysconf(_SC_PAGESIZE) + pages % (1 << 20) * sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void kill_all(void)
{
    look();
    for (int i = 0; i < table_count; i++)
        if (table[i].ours)
            kill(table[i].pid, SIGKILL);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* ---- time ------------------------------------------------------------------------------------------------------ */

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static long limit(const char *name, long otherwise)
{
    const char *given = getenv(name);
    return given && *given ? atol(given) : otherwise;
}

/* ---- leftovers ------------------------------------------------------------------------------------------------------
 */

static char own_tmp[4096];

/* Files that tools create by themselves: hidden files, caches, browser profiles. */
static bool is_a_tools(const char *name)
{
    static const char *const begin[] = {".",          "node-",    "v8-",    "npm-",    "puppeteer", "playwright",
                                        "com.google", "chromium", "chrome", "firefox", "mozilla",   "rust_moz",
                                        "Temp-",      "ompi",     "mpich",  "vgdb"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(name, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

static bool say_files(void)
{
    bool left = false;
    DIR *dir = opendir(own_tmp);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!is_a_tools(e->d_name)) {
            printf("%s%s", left ? ", " : "Bail out! the test left files behind: ", e->d_name);
            left = true;
        }
    if (left)
        printf("\n");
    if (dir)
        closedir(dir);
    return left;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* A process that is about to end, like a pager's child or one killed by a test, gets a moment. */
static bool say_processes(void)
{
    long until = now_ms() + limit("TEST_GRACE_MS", GRACE_MS);
    while (waitpid(-1, NULL, WNOHANG) >= 0 && now_ms() < until)
        pause_ms(20);
    look();
    bool left = false;
    for (int i = 0; i < table_count; i++)
        if (table[i].ours) {
            printf("%s%s (%d)", left ? ", " : "Bail out! the test left processes behind: ", table[i].name,
                   table[i].pid);
            left = true;
        }
    if (left)
        printf("\n");
    kill_all();
    return left;
}

/* ---- main program
 * --------------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t told_to_end;

static void on_signal(int sig)
{
    told_to_end = sig;
}

/* The test's status; -1: it was ended by us. */
static int watch(pid_t test, long seconds, long most)
{
    int status;
    long begun = now_ms(), looked = begun;
    for (long pause = 2;; pause = pause < 100 ? pause * 2 : 100) {
        pid_t got = waitpid(test, &status, WNOHANG);
        if (got == test)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (told_to_end) {
            kill_all();
            exit(130);
        }
        if (now_ms() - begun > seconds * 1000) {
            printf("Bail out! the test ran for more than %ld seconds\n", seconds);
            return -1;
        }
        if (now_ms() - looked > 1000) {
            look();
            looked = now_ms();
            if (megabytes() > most) {
                printf("Bail out! the test took more than %ld MB\n", most);
                return -1;
            }
        }
        pause_ms(pause);
    }
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void print_time(long begun)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    printf("# took: %.1f s, %.1f s of processors\n", (double)(now_ms() - begun) / 1000,
           seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
}

static void fill_memory(const char *test)
{
    static const char in_c[] = "test"; /* name_test, and the copies that tests/mutation/run makes */
    size_t n = strlen(test);
    if (n >= strlen(in_c) && strcmp(test + n - strlen(in_c), in_c) == 0)
        setenv("MALLOC_PERTURB_", "165", 0);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    if (argc < 2)
        return 2;
    snprintf(own_tmp, sizeof own_tmp, "%s/hpcview-tests.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(own_tmp) || chmod(own_tmp, 0755) < 0 || setenv("TMPDIR", own_tmp, 1) < 0) {
        fprintf(stderr, "limits: %s: %s\n", own_tmp, strerror(errno));
        return 99;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    long begun = now_ms();
    pid_t test = fork();
    if (test == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        fill_memory(argv[1]);
        execvp(argv[1], argv + 1);
        fprintf(stderr, "limits: %s: %s\n", argv[1], strerror(errno));
        _exit(99);
    }
    int status = watch(test, limit("TEST_SECONDS", 1200), limit("TEST_MEGABYTES", 8000));
    if (status < 0)
        kill_all();
    fflush(stdout);
    bool left = status >= 0 && say_processes();
    left = (status >= 0 && !getenv("KEEP") && say_files()) || left;
    if (!getenv("KEEP"))
        nftw(own_tmp, remove_one, 32, FTW_DEPTH | FTW_PHYS);
    print_time(begun);
    return status < 0 || left ? 99 : status;
}
