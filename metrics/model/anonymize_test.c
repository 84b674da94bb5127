/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a database for strangers: experiment_anonymize and experiment_public_text. */
#include "metrics/model/model.h"
#include "tests/chance.h"
#include "tests/tap.h"

static struct experiment *of_jane(void)
{
    struct experiment *e = mem_calloc(1, sizeof *e);
    e->strings = strtab_create();
    e->title = strtab_add(e->strings, "heat on node7.site.org");
    e->process_count = 2;
    e->run_count = e->file_count = e->place_count = e->metric_count = 1;
    e->runs = mem_calloc(1, sizeof *e->runs);
    e->runs[0].name = strtab_add(e->strings, "heat.node7.4711");
    e->runs[0].command = strtab_add(e->strings, "/home/jane/bin/heat 160000 --key=secret");
    e->runs[0].environment = mem_calloc(2, sizeof *e->runs[0].environment);
    e->runs[0].environment[0] = (struct environment_entry){strtab_add(e->strings, "built the program"),
                                                           strtab_add(e->strings, "GNU C17 -O3 -I/home/jane/include")};
    e->runs[0].environment[1] =
        (struct environment_entry){strtab_add(e->strings, "env:KEY"), strtab_add(e->strings, "secret")};
    e->runs[0].environment_count = 2;
    e->processes = mem_calloc(2, sizeof *e->processes);
    e->processes[0] = (struct hpcprof_process){
        .source_file = strtab_add(e->strings, "heat.node7.4711.hpcprof"),
        .host = strtab_add(e->strings, "node7.site.org"),
        .working_dir = strtab_add(e->strings, "/home/jane/runs"),
        .command = e->runs[0].command,
        .kernel = strtab_add(e->strings, "6.1.0"),
        .pid = 4711,
    };
    e->processes[1] = (struct hpcprof_process){.command = strtab_add(e->strings, "jane -v /home/jane/x"),
                                               .working_dir = strtab_add(e->strings, "/home/mary/runs"),
                                               .kernel = strtab_add(e->strings, "6.1.0-jane")};
    e->files = mem_calloc(1, sizeof *e->files);
    e->files[0].name = strtab_add(e->strings, "/project/x/solver.f90");
    e->files[0].raw_name = strtab_add(e->strings, "/home/joe/src/solver.f90");
    e->places = mem_calloc(1, sizeof *e->places);
    e->places[0] = (struct place){.kind = PLACE_MODULE, .parent = PLACE_NONE};
    e->places[0].name = e->places[0].full_name = strtab_add(e->strings, "/opt/jane/libx.so");
    e->metrics = mem_calloc(1, sizeof *e->metrics);
    e->metrics[0].name = strtab_add(e->strings, "node7 TIME");
    e->metrics[0].formula = strtab_add(e->strings, "run(\"node7\").TIME");
    return e;
}

static void is(const struct experiment *e, str_id id, const char *want)
{
    CHECK_STR(strtab_get(e->strings, id), want);
}

/* Words, paths and similar strings between random characters: the expected output is known for each. */
static void test_by_chance(const struct experiment *e)
{
    static const char before[] = " \t\"'(=:,;<[", behind[] = " \t\"'),;:>]";
    static const char *const of_words[] = {"a", "Z", "0", "9", "_", "\x80", "\xff", "\xc3\x80"};
    static const char *const words[][2] = {
        {"node7", "host"}, {"node7.site.org", "host"}, {"jane", "user"}, {"joe", "user"}, {"anna", "anna"}};
    static const char *const paths[][2] = {{"/home/jane/x.c", "x.c"},
                                           {"/a", "a"},
                                           {"/a/b/", "b"},
                                           {"/a//b//", "b"},
                                           {"/x/node7", "host"},
                                           {"/usr", "usr"},
                                           {"/usr/x/node7.c", "/usr/x/host.c"},
                                           {"/lib/x.so", "/lib/x.so"},
                                           {"/lib64/x.so", "/lib64/x.so"},
                                           {"/proc/1", "/proc/1"},
                                           {"/sys/a", "/sys/a"},
                                           {"/dev/a", "/dev/a"},
                                           {"/", "/"},
                                           {"x/a/b", "x/a/b"},
                                           {"./a/b", "./a/b"}};
    size_t wrong = 0;
    for (int round = 0; round < 400; round++) {
        struct buf text = {0}, want = {0};
        for (int i = 0; i < 12; i++) {
            const char *const *item = below(2) ? words[below(ARRAY_SIZE(words))] : paths[below(ARRAY_SIZE(paths))];
            const char *glued =
                item[0][0] != '/' && item[0][1] != '/' && below(3) == 0 ? of_words[below(ARRAY_SIZE(of_words))] : "";
            bool in_front = below(2);
            char from = before[below(sizeof before - 1)], to = behind[below(sizeof behind - 1)];
            buf_printf(&text, "%c%s%s%s%c", from, in_front ? glued : "", item[0], in_front ? "" : glued, to);
            if (*glued && strchr(item[0], '.') && !in_front && strcmp(item[0], "node7.site.org") == 0)
                buf_printf(&want, "%chost.site.org%s%c", from, glued, to);
            else
                buf_printf(&want, "%c%s%s%s%c", from, in_front ? glued : "", item[*glued == '\0'],
                           in_front ? "" : glued, to);
        }
        char *shown = experiment_public_text(e, text.bytes);
        if (strcmp(shown, want.bytes) != 0 && wrong++ == 0)
            printf("# of     %s\n# got    %s\n# wanted %s\n", text.bytes, shown, want.bytes);
        mem_free(shown);
        buf_release(&text);
        buf_release(&want);
    }
    CHECK_INT(wrong, 0);
}

/* All strings of several experiments: the output, which must not contain jane. */
static void test_every_text(void)
{
    enum { EACH = 3, TEXTS = 11 };
    struct experiment *e = mem_calloc(1, sizeof *e);
    str_id *texts[EACH][TEXTS], (*modules)[2] = mem_calloc(EACH, sizeof *modules);
    e->strings = strtab_create();
    e->run_count = e->process_count = e->file_count = e->place_count = e->metric_count = EACH;
    e->runs = mem_calloc(EACH, sizeof *e->runs);
    e->processes = mem_calloc(EACH, sizeof *e->processes);
    e->files = mem_calloc(EACH, sizeof *e->files);
    e->places = mem_calloc(EACH, sizeof *e->places);
    e->metrics = mem_calloc(EACH, sizeof *e->metrics);
    for (size_t i = 0; i < EACH; i++) {
        e->runs[i].modules = modules[i];
        e->runs[i].module_count = 2;
        e->processes[i].command = strtab_add(e->strings, "/home/jane/x");
        e->places[i].kind = i == 0 ? PLACE_PROGRAM : i == 1 ? PLACE_FILE : PLACE_PROC;
        str_id *own[] = {&e->runs[i].name,           &e->runs[i].modules[0], &e->runs[i].modules[1],
                         &e->processes[i].kernel,    &e->files[i].name,      &e->metrics[i].name,
                         &e->metrics[i].description, &e->metrics[i].formula, &e->metrics[i].display_name,
                         &e->places[i].name,         &e->places[i].full_name};
        memcpy(texts[i], own, sizeof own);
        for (size_t k = 0; k < TEXTS; k++)
            *own[k] = strtab_printf(e->strings, "jane's %zu of %zu", k, i);
    }
    experiment_anonymize(e);
    for (size_t i = 0; i < EACH; i++)
        for (size_t k = 0; k < TEXTS; k++) {
            bool stays = i == 2 && k >= 9; /* names of procedures do */
            char *want = mem_printf("%s's %zu of %zu", stays ? "jane" : "user", k, i);
            is(e, *texts[i][k], want);
            mem_free(want);
        }
    for (size_t i = 0; i < EACH; i++)
        e->runs[i].modules = NULL;
    mem_free(modules);
    experiment_free(e);
}

int main(void)
{
    static const struct {
        const char *text, *shown;
    } texts[] = {
        {"", ""},
        {"/", "/"},
        {"/home/jane/x.c has no text", "x.c has no text"},
        {"\"/home/jane/x.c\":12: (/scratch/a/b/)", "\"x.c\":12: (b)"},
        {"/usr/lib/libm.so.6 and a/b/c.c", "/usr/lib/libm.so.6 and a/b/c.c"},
        {"on node7, node7.site.org and node70", "on host, host and node70"},
        {"jane's and joe's; janet", "user's and user's; janet"},
        {"file:///home/jane/x", "file:x"},
        {"1 / 2", "1 / 2"},
        {"mary, who only ran it", "user, who only ran it"},
    };
    struct experiment *e = of_jane();
    char *before = experiment_public_text(e, texts[2].text);
    CHECK_STR(before, texts[2].text); /* no change until requested */
    mem_free(before);

    experiment_anonymize(e);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char *shown = experiment_public_text(e, texts[i].text);
        CHECK_STR(shown, texts[i].shown);
        mem_free(shown);
    }
    test_by_chance(e);
    is(e, e->title, "heat on host");
    is(e, e->runs[0].name, "heat.host.4711");
    is(e, e->runs[0].command, "heat");
    CHECK_INT(e->runs[0].environment_count, 1); /* the environment is removed */
    is(e, e->runs[0].environment[0].value, "GNU C17 -O3");
    is(e, e->processes[0].source_file, "process 1");
    is(e, e->processes[0].host, "");
    is(e, e->processes[0].working_dir, "");
    is(e, e->processes[0].command, "heat");
    is(e, e->processes[0].kernel, "6.1.0");
    CHECK_INT(e->processes[0].pid, 0);
    is(e, e->processes[1].source_file, "process 2");
    is(e, e->processes[1].command, "user");
    is(e, e->processes[1].kernel, "6.1.0-user");
    is(e, e->files[0].name, "solver.f90");
    is(e, e->places[0].name, "libx.so");
    is(e, e->metrics[0].name, "host TIME");
    is(e, e->metrics[0].formula, "run(\"host\").TIME"); /* names and references to them stay consistent */
    experiment_free(e);
    RUN(test_every_text);
    return tap_done();
}
