/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of `print` for an experiment, compared verbatim: tests/print/print.cases (tests/cases.h). A case has
 *
 *     sample                     heat, facts, memory, waits, two-runs, hostile (tests/fixtures/sample_experiments.c)
 *     drawing                    or see tests/fixtures/outline.c; its source is a.c, without the final newline
 *     by LEVEL [OPTION...]       the rows of a level; format=WORD top=N sort=NAME threshold=N scope=GLOB of=PLACE -diff
 *                                -tree -no-legend; in options '_' is a blank, '~' a '_'
 *     memory KIND [OPTION...]    reference, array, evictor
 *     table NAME [OPTION...]
 *     sources                    messages about sources without text
 *
 * Complete builds: from files in a folder in tests/print/built.cases, from outlines in tests/print/outlines.cases. A
 * case also has
 *
 *     modules                    outlines of the modules (tests/fixtures/experiment_outline.h), each after "= PATH";
 *                                then only sources are read from files
 *     program                    machine code: "procedure NAME", then its bytes, with the instruction after a ';'
 *     code FILE                  another binary, of the tests' sources
 *     samples, samples 2, 3      measurements (tests/fixtures/experiment_outline.h) of the runs a, b and c. PROGRAM,
 *                                OTHER: path and build id
 *     structure, structure 2     structure.xml and structure2.xml
 *     source, source 2, 3        1/a.c, 2/a.c and 3/a.c
 *     config                     contents of the configuration in addition to its runs; "no file": none, only run a; or
 *                                a complete HPCVIEW file
 *     wishes                     command line settings, see wishes[]
 *     database                   a page of the tests' sources instead of these; with damage: OLD|NEW, one per line
 *     warnings, gate, recipes    the warnings; whether a gate's formula is true; how the runs are measured
 *     find RUN OPERAND           the metric denoted by a formula's operand, as seen from the run ("-": from all)
 *     measured                   for each module, the runs that contain it
 *     places, calls, columns     all of each: places and frames with their values, columns with their descriptions
 *     runs, processes            all data about them
 *     anonymous                  from then on, anonymized; public TEXT: the anonymized text
 *     init, wanted               the initial configuration; columns that only diagnoses use
 *
 * Missing parts, and those that are "none", are those of the previous case. In samples, "again" starts a repetition of
 * the run. Options: -arm; -keep: the measurements contain their functions; -gone: the program was removed, or, -moved,
 * is found only by its build id; -rebuilt: it has another build id; -debuginfo: its debug file is stored by its build
 * id; -databases: the runs are databases; -back: the experiment is written as a database and read back.
 */
#include "tests/fixtures/outline.h"
#include "htmlgen/htmlgen.h"
#include "tests/fixtures/sample_experiments.h"
#include "metrics/report/report.h"
#include "tests/fixtures/experiment_outline.h"
#include "tests/cases.h"
#include "tests/chance.h"
#include "tests/elf.h"

#include <math.h>
#include <sys/stat.h>

enum given {
    MODULES,
    PROGRAM,
    CODE,
    SAMPLES,
    SAMPLES_2,
    SAMPLES_3,
    STRUCTURE,
    STRUCTURE_2,
    SOURCE,
    SOURCE_2,
    SOURCE_3,
    CONFIG,
    WISHES,
    DATABASE,
    DAMAGE,
    GIVEN
};
static const char *const given_words[] = {"modules",   "program",     "code",   "samples",  "samples 2", "samples 3",
                                          "structure", "structure 2", "source", "source 2", "source 3",  "config",
                                          "wishes",    "database",    "damage", NULL};

struct at_hand { /* of the case */
    char *drawing, *sample, *folder;
    char *given[GIVEN];
    bool arm, keep, gone, moved, rebuilt, debuginfo, databases, back;
    struct config *config;
    struct experiment *e;
    struct warnings *warnings;
    struct err err; /* the reason if there is no experiment */
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    experiment_free(h->e);
    warnings_free(h->warnings);
    config_free(h->config);
    h->config = NULL;
    h->e = NULL;
    h->warnings = NULL;
    h->err = (struct err){0};
    h->arm = h->keep = h->gone = h->moved = h->rebuilt = h->debuginfo = h->databases = h->back = false;
}

static void take_option(void *ctx, const char *word)
{
    struct at_hand *h = ctx;
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"-arm", &h->arm},         {"-keep", &h->keep},           {"-gone", &h->gone},           {"-moved", &h->moved},
        {"-rebuilt", &h->rebuilt}, {"-debuginfo", &h->debuginfo}, {"-databases", &h->databases}, {"-back", &h->back}};
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].flag = true;
            return;
        }
    exit(99);
}

/* ---- complete builds ---------------------------------------------------------------------------------- */

static const uint8_t build_ids[2][20] = {
    {0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef},
    {0xfe, 0xdc, 0xba}};

static void write_to(const struct at_hand *h, const char *name, const void *bytes, size_t n)
{
    char *path = path_join(h->folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        exit(99);
    mem_free(path);
}

static void write_program(const struct at_hand *h, const char *name, const uint8_t *id)
{
    struct VEC(struct elf_procedure) procedures = {0};
    struct buf code = {0}, file = {0};
    char *copy = mem_strdup(h->given[PROGRAM]), *rest = copy, *line, *end;
    while ((line = strsep(&rest, "\n"))) {
        if (str_starts(line, "procedure "))
            *vec_push(&procedures) = (struct elf_procedure){line + strlen("procedure "), code.len, 0};
        else
            for (line[strcspn(line, ";")] = '\0'; line[strspn(line, " ")]; line = end)
                buf_char(&code, (char)strtoul(line, &end, 16));
    }
    for (size_t i = 0; i < procedures.count; i++)
        procedures.items[i].size =
            (i + 1 < procedures.count ? procedures.items[i + 1].at : code.len) - procedures.items[i].at;
    elf_write(&file,
              &(struct elf_program){h->arm, 0x401000, code.bytes, code.len, procedures.items, procedures.count, id});
    write_to(h, name, file.bytes, file.len);
    vec_release(&procedures);
    buf_release(&code);
    buf_release(&file);
    mem_free(copy);
}

static char *top_file(const char *name)
{
    const char *top = getenv("top_srcdir");
    char *whole = realpath(top ? top : ".", NULL), *path = path_join(whole, name);
    free(whole);
    return path;
}

static char *id_text(size_t which)
{
    struct buf b = {0};
    for (size_t i = 0; i < sizeof build_ids[0]; i++)
        buf_printf(&b, "%02x", build_ids[which][i]);
    return b.bytes;
}

static void write_programs(const struct at_hand *h)
{
    char *id = id_text(0), *kept = path_join(h->folder, id);
    if (h->given[PROGRAM])
        write_program(h, "app", build_ids[0]);
    mkdir(kept, 0777);
    if (h->given[CODE]) {
        char *from = top_file(h->given[CODE]), *to = path_join(h->folder, "code");
        from[strcspn(from, "\n")] = '\0';
        unlink(to);
        if (symlink(from, to) < 0)
            exit(99);
        mem_free(from);
        mem_free(to);
    }
    mem_free(kept);
    mem_free(id);
}

/* After it was measured. */
static void move_program(const struct at_hand *h)
{
    char *id = id_text(0), *kept = mem_printf("%s/%s/executable", h->folder, id), *app = path_join(h->folder, "app"),
         *debug = mem_printf("%s/%s/debuginfo", h->folder, id);
    unlink(kept);
    unlink(debug);
    if ((h->moved || h->debuginfo) && rename(app, h->moved ? kept : debug) < 0)
        exit(99);
    if (h->gone) {
        char *code = path_join(h->folder, "code");
        unlink(app);
        unlink(code);
        mem_free(code);
    }
    if (h->rebuilt)
        write_program(h, "app", build_ids[1]);
    mem_free(app);
    mem_free(debug);
    mem_free(kept);
    mem_free(id);
}

/* Replaces the placeholders of the cases with their values, or vice versa. */
static char *replaced(const struct at_hand *h, const char *text, bool back)
{
    char *id = id_text(0), *program = mem_printf("%s/app#%s", h->folder, id), *code = path_join(h->folder, "code"),
         *top = top_file("");
    const char *const words[][2] = {{"PROGRAM", program}, {"CODE", code}, {"FOLDER", h->folder}, {"SOURCES", top}};
    struct buf b = {0};
    buf_str(&b, "");
    while (*text) {
        size_t i = 0;
        while (i < ARRAY_SIZE(words) && (!*words[i][back] || !str_starts(text, words[i][back])))
            i++;
        if (i == ARRAY_SIZE(words))
            buf_char(&b, *text++);
        else {
            buf_str(&b, words[i][!back]);
            text += strlen(words[i][back]);
        }
    }
    mem_free(id);
    mem_free(program);
    mem_free(code);
    mem_free(top);
    return b.bytes;
}

static void write_one(const struct at_hand *h, const char *path, const char *drawing)
{
    struct err err = {0};
    struct outfile *out;
    struct hpcprof *p = profile_from(drawing);
    if (outfile_create(path, &out, &err) < 0 || hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0 ||
        (h->keep && measurement_keep_functions(path, path, &err) < 0)) {
        printf("# %s\n", err.msg);
        exit(99);
    }
    hpcprof_free(p);
}

/* Terminates the current drawing and returns that of the next repetition; NULL: none. */
static char *next_repetition(char *drawing)
{
    char *next = strstr(drawing, "again\n");
    if (!next)
        return NULL;
    *next = '\0';
    return next + strlen("again\n");
}

/* A file, or a folder of repetitions, each with a file. */
static void write_measurement(const struct at_hand *h, const char *name, enum given which)
{
    char *path = path_join(h->folder, name), *drawing = replaced(h, h->given[which], false), *part = drawing, *next;
    bool repeated = strstr(drawing, "again\n") != NULL;
    dir_remove_tree(path, NULL);
    unlink(path);
    if (repeated)
        mkdir(path, 0777);
    for (unsigned k = 1; part; part = next, k++) {
        char *folder = mem_printf("%s/%u", path, k), *file = path_join(folder, "m.hpcprof");
        next = next_repetition(part);
        if (repeated)
            mkdir(folder, 0777);
        write_one(h, repeated ? file : path, part);
        mem_free(folder);
        mem_free(file);
    }
    mem_free(drawing);
    mem_free(path);
}

static int name_the_runs(struct config *c, const char *names)
{
    char *copy = mem_strdup(names), *rest = copy;
    const char *list[4] = {strsep(&rest, " "), strsep(&rest, " ")};
    config_name_runs(c, list);
    mem_free(copy);
    return 0;
}

static bool is_wish(const char *wish, const char *word)
{
    size_t n = strlen(word);
    return strncmp(wish, word, n) == 0 && (wish[n] == ' ' || wish[n] == '\0');
}

static int take_wish(struct config *c, const char *wish, struct err *err)
{
    static struct blocks *blocks; /* for the whole test: configurations borrow them */
    char *folder = top_file("share/metrics");
    if (!blocks && blocks_read(folder, &blocks, err) < 0)
        exit(99);
    mem_free(folder);
    const char *what = strchr(wish, ' ');
    what = what ? what + 1 : "";
    config_set_blocks(c, blocks);
    if (is_wish(wish, "metric"))
        return config_add_metric(c, what, err);
    if (is_wish(wish, "want"))
        return 0;
    if (is_wish(wish, "machine"))
        return config_judge_loops(c, "/nowhere", what), 0;
    if (is_wish(wish, "gate"))
        return config_add_gate(c, what, err);
    if (is_wish(wish, "block"))
        return config_add_block(c, what, err);
    if (is_wish(wish, "statistics"))
        return config_add_statistics(c, what, err);
    if (is_wish(wish, "compare"))
        return config_compare(c, *what ? what : NULL, err);
    if (is_wish(wish, "without"))
        return config_leave_out_run(c, strtoul(what, NULL, 10), err);
    if (is_wish(wish, "names"))
        return name_the_runs(c, what);
    if (is_wish(wish, "title"))
        return config_set_title(c, what), 0;
    if (is_wish(wish, "replace")) {
        char *in = mem_strdup(what), *out = in;
        strsep(&out, " ");
        config_add_replace(c, in, out);
        mem_free(in);
        return 0;
    }
    if (is_wish(wish, "per thread"))
        return config_set_per_thread(c, true), 0;
    if (is_wish(wish, "thread values"))
        return config_set_thread_values(c, true), 0;
    if (is_wish(wish, "fold recursion"))
        return config_set_fold_recursion(c, true), 0;
    if (is_wish(wish, "all blocks"))
        return config_add_all_blocks(c), 0;
    exit(99);
}

/* -1: a wish is refused. */
static int take_wishes(struct at_hand *h)
{
    char *copy = mem_strdup(h->given[WISHES] ? h->given[WISHES] : ""), *rest = copy, *wish;
    int status = 0;
    while (status == 0 && (wish = strsep(&rest, "\n")))
        status = *wish ? take_wish(h->config, wish, &h->err) : 0;
    mem_free(copy);
    return status;
}

/* The metrics for a diagnosis: "want", followed by one per line. */
static const char *const *wanted_of(char *wishes)
{
    static const char *list[8];
    size_t n = 0;
    for (char *word; (word = strsep(&wishes, "\n")) && n + 1 < ARRAY_SIZE(list);)
        if (str_starts(word, "want "))
            list[n++] = word + strlen("want ");
    list[n] = NULL;
    return n ? list : NULL;
}

/* "= PATH", followed by the outline; "= PATH none": unknown, "= PATH !": unreadable. Modifies the text. */
static void outlines_of(char *text, struct drawn_module *list, size_t most)
{
    size_t n = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        if (!str_starts(line, "= "))
            continue;
        char *what = strchr(line + 2, ' '), *end = text ? strstr(text, "= ") : NULL;
        list[n++] = (struct drawn_module){line + 2, what ? what + 1 : text ? text : ""};
        if (what && *what++ && strcmp(what, "none") == 0)
            list[n - 1].drawing = NULL;
        if (what)
            what[-1] = '\0';
        if (n == most)
            exit(99);
        if (end && end > text)
            end[-1] = '\0';
        text = end;
    }
}

/* As files in folders would have it: a run for each drawing of samples, its parts are repetitions. */
static struct experiment *from_outlines(struct at_hand *h)
{
    static const enum given runs[] = {SAMPLES, SAMPLES_2, SAMPLES_3};
    struct drawn_module list[9] = {{NULL, NULL}};
    struct input inputs[9];
    struct experiment *e = NULL;
    char *outlines = replaced(h, h->given[MODULES], false);
    size_t n = 0;
    outlines_of(outlines, list, ARRAY_SIZE(list) - 1);
    for (uint32_t run = 0; run < ARRAY_SIZE(runs) && h->given[runs[run]]; run++) {
        char *drawing = replaced(h, h->given[runs[run]], false), *part = drawing, *next;
        bool repeated = strstr(drawing, "again\n") != NULL;
        for (uint32_t k = 1; part && n < ARRAY_SIZE(inputs); part = next, k++) {
            next = next_repetition(part);
            inputs[n++] = (struct input){.profile = profile_from(part), .run = run, .repetition = repeated ? k : 0};
        }
        mem_free(drawing);
    }
    struct structure_source source = {drawn_scopes, list, NULL};
    experiment_from(h->config, inputs, n, &source, NULL, &e, h->warnings, &h->err);
    while (n > 0)
        hpcprof_free(inputs[--n].profile);
    mem_free(outlines);
    return e;
}

static struct experiment *built_of(struct at_hand *h, const char *body)
{
    struct experiment *e = NULL;
    char *path = path_join(h->folder, "c.xml"), *machines = top_file("share/machines"),
         *machine = top_file("share/machines/skylake-server.xml"),
         *text =
             str_starts(body, "<HPCVIEW") ? mem_strdup(body) : mem_printf("<hpcview version='1'>%s</hpcview>", body);
    config_free(h->config);
    h->config = NULL;
    int status = 0;
    if (str_starts(body, "no file")) {
        char *a = path_join(h->folder, "a");
        config_add_measurement(h->config = config_create(), a);
        mem_free(a);
    } else {
        write_to(h, "c.xml", text, strlen(text));
        status = config_read(path, &h->config, h->warnings, &h->err);
    }
    if (status == 0)
        config_judge_loops(h->config, machines, machine), config_set_reader(h->config, &htmlgen_reader);
    if (status == 0 && take_wishes(h) == 0) {
        config_list_instructions(h->config);
        char *wishes = mem_strdup(h->given[WISHES] ? h->given[WISHES] : "");
        const char *const *wanted = wanted_of(wishes);
        if (wanted)
            config_want_statistics(h->config, wanted);
        if (h->given[MODULES])
            e = from_outlines(h);
        else
            experiment_build(h->config, NULL, &e, h->warnings, &h->err);
        mem_free(wishes);
        if (e && experiment_check(e, &h->err) < 0)
            printf("not ok - %s\n", h->err.msg);
    }
    mem_free(text);
    mem_free(path);
    mem_free(machines);
    mem_free(machine);
    return e;
}

/* Writes the experiment as a database at the path and, if requested, reads it back. */
static struct experiment *as_database(struct at_hand *h, struct experiment *e, const char *name, bool read)
{
    char *path = path_join(h->folder, name);
    struct experiment *back = NULL;
    if (!e || htmlgen_write(e, path, NULL, NULL, &h->err) < 0 ||
        (read && experiment_read_database(path, &back, h->warnings, &h->err) < 0)) {
        printf("# %s\n", h->err.msg);
        exit(99);
    }
    experiment_free(e);
    mem_free(path);
    return back;
}

/* Each run alone becomes one. */
static void make_databases(struct at_hand *h)
{
    char *wishes = h->given[WISHES];
    h->given[WISHES] = mem_strdup("thread values");
    as_database(h, built_of(h, "<run name='a' measurements='a'/>"), "a.db", false);
    if (h->given[SAMPLES_2])
        as_database(h, built_of(h, "<run name='b' measurements='b'/>"), "b.db", false);
    mem_free(h->given[WISHES]);
    h->given[WISHES] = wishes;
}

/* Creates the program and its measurements, and applies later changes. */
static void write_measured(struct at_hand *h)
{
    write_programs(h);
    write_measurement(h, "a", SAMPLES);
    if (h->given[SAMPLES_2])
        write_measurement(h, "b", SAMPLES_2);
    if (h->databases)
        make_databases(h);
    move_program(h);
}

static struct experiment *built(struct at_hand *h)
{
    static const struct {
        enum given given;
        const char *name;
    } files[] = {{STRUCTURE, "structure.xml"},
                 {STRUCTURE_2, "structure2.xml"},
                 {SOURCE, "1/a.c"},
                 {SOURCE_2, "2/a.c"},
                 {SOURCE_3, "3/a.c"}};
    const char *end = h->databases ? ".db" : "";
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (h->given[files[i].given]) {
            char *whole = replaced(h, h->given[files[i].given], false);
            write_to(h, files[i].name, whole, strlen(whole));
            mem_free(whole);
        } else {
            char *path = path_join(h->folder, files[i].name);
            unlink(path);
            mem_free(path);
        }
    h->warnings = h->err.others = warnings_create();
    if (!h->given[MODULES])
        write_measured(h);
    char *given = replaced(h, h->given[CONFIG] ? h->given[CONFIG] : "", false), *body;
    if (strstr(given, "<run ") || str_starts(given, "no file") || str_starts(given, "<HPCVIEW"))
        body = mem_strdup(given);
    else if (h->given[SAMPLES_2])
        body = mem_printf("<run name='a' measurements='a%s'/><run name='b' measurements='b%s'/>%s%s", end, end,
                          h->given[SAMPLES_3] ? "<run name='c' measurements='c'/>" : "", given);
    else
        body = mem_printf("<run name='a' measurements='a%s'/>%s", end, given);
    struct experiment *e = built_of(h, body);
    mem_free(given);
    mem_free(body);
    return h->back && e ? as_database(h, e, "back.db", true) : e;
}

/* ---- input ----------------------------------------------------------------------------------------------- */

/* The last input given is printed. */
static void take_input(void *ctx, const char *which, const char *text)
{
    struct at_hand *h = ctx;
    for (size_t i = 0; i < GIVEN; i++)
        if (strcmp(which, given_words[i]) == 0) {
            mem_free(h->given[i]);
            h->given[i] = strcmp(text, "none\n") == 0 ? NULL : mem_strdup(text);
            return;
        }
    mem_free(h->drawing);
    mem_free(h->sample);
    h->drawing = *which == 'd' ? mem_strdup(text) : NULL;
    h->sample = *which == 's' ? mem_strndup(text, strcspn(text, "\n")) : NULL;
}

static struct experiment *sample_named(const struct at_hand *h)
{
    static const struct {
        const char *name;
        struct experiment *(*make)(const char *dir);
    } samples[] = {{"heat", sample_heat},   {"facts", sample_facts},       {"memory", sample_memory},
                   {"waits", sample_waits}, {"two-runs", sample_two_runs}, {"hostile", sample_hostile}};
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
        if (strcmp(samples[i].name, h->sample) == 0)
            return samples[i].make(h->folder);
    exit(99);
}

/* Measured metrics have exclusive values, and all columns are shown; a.c is the source that is given. */
static struct experiment *drawn_one(const struct at_hand *h)
{
    struct experiment *e = outline_read(h->drawing, "a drawing");
    if (h->given[SOURCE]) {
        char *path = path_join(h->folder, "1/a.c");
        write_to(h, "1/a.c", h->given[SOURCE], strlen(h->given[SOURCE]) - 1);
        e->files[0].found = strtab_add(e->strings, path);
        mem_free(path);
    }
    for (size_t m = 0; m < e->metric_count; m++) {
        e->metrics[m].display = e->metrics[m].has_exclusive = true;
        e->metrics[m].percent = e->metrics[m].summed;
    }
    return e;
}

struct to_print {
    struct experiment *e;
    const char *what, *name;
    struct print_options options;
    struct err err;
    int status;
};

static void print_it(void *ctx, struct outfile *out)
{
    static const char *const kinds[] = {"reference", "array", "evictor"};
    struct to_print *p = ctx;
    size_t kind = 0;
    while (kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind], p->name) != 0)
        kind++;
    if (strcmp(p->what, "by") == 0)
        p->status = print_level_parse(p->name, &p->options.level, &p->err) < 0
                        ? -1
                        : experiment_print(p->e, &p->options, out, &p->err);
    else if (strcmp(p->what, "table") == 0)
        p->status = experiment_print_table(p->e, p->name, &p->options, out, &p->err);
    else if (kind < ARRAY_SIZE(kinds))
        p->status = experiment_print_memory(p->e, (enum print_memory)kind, &p->options, out, &p->err);
    else
        exit(99);
}

static void read_option(struct print_options *o, char *word)
{
    char *value = strchr(word, '=');
    for (char *c = value ? value + 1 : word; *c; c++)
        *c = *c == '_' ? ' ' : *c == '~' ? '_' : *c;
    if (str_starts(word, "format="))
        o->format = strcmp(value, "=csv") == 0 ? PRINT_CSV : strcmp(value, "=json") == 0 ? PRINT_JSON : PRINT_TEXT;
    else if (str_starts(word, "top="))
        o->top = strtoul(value + 1, NULL, 10);
    else if (str_starts(word, "threshold="))
        o->threshold = strtod(value + 1, NULL);
    else if (str_starts(word, "sort="))
        o->sort_by = value + 1;
    else if (str_starts(word, "scope="))
        o->scope = value + 1;
    else if (str_starts(word, "of="))
        o->of = value + 1;
    else if (strcmp(word, "-diff") == 0)
        o->diff = true;
    else if (strcmp(word, "-tree") == 0)
        o->tree = true;
    else if (strcmp(word, "-no-legend") == 0)
        o->no_legend = true;
    else
        exit(99);
}

static void say_warnings(const struct warnings *w, struct buf *out)
{
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(out, "%s\n", warnings_get(w, i));
    if (warnings_count(w) == 0)
        buf_str(out, "nothing\n");
}

static void say_sources(const struct experiment *e, struct buf *out)
{
    struct warnings *w = warnings_create();
    experiment_warn_sources(e, w);
    say_warnings(w, out);
    warnings_free(w);
}

static void say_gate(const struct experiment *e, struct buf *out)
{
    struct err err = {0};
    bool holds;
    if (experiment_gate(e, &holds, &err) < 0)
        buf_printf(out, "error: %s\n", err.msg);
    else
        buf_str(out, holds ? "it holds\n" : "it does not hold\n");
}

/* All of them are removed then. */
static void say_wanted(struct experiment *e, struct buf *out)
{
    for (size_t m = e->metric_count - e->wanted_count; m < e->metric_count; m++) {
        buf_printf(out, "%s%s: ", strtab_get(e->strings, e->metrics[m].name), e->metrics[m].display ? " (shown)" : "");
        for (place_ix i = 0; i < e->place_count; i++)
            buf_printf(out, " %g", experiment_value(e, m, i, VALUE_INCLUSIVE));
        buf_str(out, "\n");
    }
    experiment_forget_wanted(e);
}

static void say_found(const struct experiment *e, const char *words, struct buf *out)
{
    const char *formula = strchr(words, ' ') + 1;
    struct expr *expr;
    struct err err = {0};
    uint32_t run = 0;
    while (run < e->run_count &&
           strncmp(words, strtab_get(e->strings, e->runs[run].name), (size_t)(formula - words - 1)) != 0)
        run++;
    if (expr_parse(formula, "formula", &expr, &err) < 0) {
        buf_printf(out, "error: %s\n", err.msg);
        return;
    }
    size_t found = experiment_find_metric(e, run < e->run_count ? run : RUN_NONE, expr_operand(expr, 0));
    buf_printf(out, "%s\n", found == SIZE_MAX ? "none" : strtab_get(e->strings, e->metrics[found].name));
    expr_free(expr);
}

/* For each module, the runs in which it was measured. */
static void say_measured(const struct experiment *e, struct buf *out)
{
    for (place_ix i = 0; i < e->place_count; i++) {
        if (e->places[i].kind != PLACE_MODULE)
            continue;
        buf_printf(out, "%s:", strtab_get(e->strings, e->places[i].name));
        for (uint32_t run = 0; run < e->run_count; run++)
            if (experiment_measured(e, run, i))
                buf_printf(out, " %s", strtab_get(e->strings, e->runs[run].name));
        buf_str(out, "\n");
    }
}

static void say_file(struct buf *out, const struct experiment *e, uint32_t file)
{
    if (file != SOURCE_NONE)
        buf_printf(out, " %s", strtab_get(e->strings, e->files[file].name));
}

static void say_place(struct buf *out, const struct experiment *e, place_ix i)
{
    static const char *const kinds[] = {"program", "module", "file", "proc", "inline", "loop", "line"};
    const struct place *p = &e->places[i];
    const char *name = strtab_get(e->strings, p->name), *full = strtab_get(e->strings, p->full_name);
    buf_printf(out, "%s%s%s", kinds[p->kind], *name ? " " : "", name);
    if (strcmp(name, full) != 0)
        buf_printf(out, " (%s)", full);
    say_file(out, e, p->file);
    if (p->line_first || p->line_last)
        buf_printf(out, ":%u-%u", p->line_first, p->line_last);
    if (p->call_line || p->call_file != SOURCE_NONE) {
        buf_str(out, " from");
        say_file(out, e, p->call_file);
        buf_printf(out, ":%u", p->call_line);
    }
    if (p->address)
        buf_printf(out, " @%llx", (unsigned long long)p->address);
    if (p->instances)
        buf_printf(out, " %u/%u #%u", p->instance, p->instances, p->on_line);
    if (p->same != i)
        buf_printf(out, " as %u", p->same);
}

/* The nodes of a tree, with the inclusive and the exclusive value of each column. */
static void say_tree(const struct experiment *e, size_t tree, struct buf *out)
{
    for (uint32_t i = 0; tree != SIZE_MAX && i < e->trees[tree].node_count; i++) {
        for (uint32_t up = experiment_node_parent(e, tree, i); up != NODE_NONE;
             up = experiment_node_parent(e, tree, up))
            buf_char(out, ' ');
        say_place(out, e, experiment_node_place(e, tree, i));
        buf_str(out, " =");
        for (size_t m = 0; m < e->metric_count; m++) {
            draw_value(out, experiment_node_value(e, tree, m, i, VALUE_INCLUSIVE));
            draw_value(out, experiment_node_value(e, tree, m, i, VALUE_EXCLUSIVE));
        }
        buf_char(out, '\n');
    }
}

static void say_calls(const struct experiment *e, struct buf *out)
{
    say_tree(e, experiment_calls(e), out);
}

static void say_places(const struct experiment *e, struct buf *out)
{
    say_tree(e, TREE_SCOPES, out);
}

static void say_words(struct buf *out, const struct experiment *e, const char *what, str_id words)
{
    if (words)
        buf_printf(out, ", %s '%s'", what, strtab_get(e->strings, words));
}

static void say_columns(const struct experiment *e, struct buf *out)
{
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct metric *m = &e->metrics[i];
        const struct {
            const char *word;
            bool is;
        } flags[] = {{"shown", m->display},       {"sorts", m->sort_by},          {"percent", m->percent},
                     {"estimated", m->estimated}, {"of lines", m->has_exclusive}, {"summed", m->summed}};
        buf_printf(out, "%s: %s", strtab_get(e->strings, m->name), strtab_get(e->strings, m->display_name));
        say_words(out, e, "unit", m->unit);
        say_words(out, e, "event", m->event);
        say_words(out, e, "formula", m->formula);
        say_words(out, e, "region", m->region);
        say_words(out, e, "described", m->description);
        buf_printf(out, ", run %s", m->run == RUN_NONE ? "none" : strtab_get(e->strings, e->runs[m->run].name));
        if (m->period)
            buf_printf(out, ", period %llu", (unsigned long long)m->period);
        if (!isnan(m->exact_total))
            buf_printf(out, ", exactly %g", m->exact_total);
        if (m->repetitions)
            buf_printf(out, ", %u times", m->repetitions);
        for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
            if (flags[k].is)
                buf_printf(out, ", %s", flags[k].word);
        buf_char(out, '\n');
    }
}

static void say_runs(const struct experiment *e, struct buf *out)
{
    buf_printf(out, "%s\n", strtab_get(e->strings, e->title));
    for (size_t i = 0; i < e->run_count; i++) {
        const struct experiment_run *r = &e->runs[i];
        buf_printf(out, "%s: processes %u-%u, root %u", strtab_get(e->strings, r->name), r->process_first,
                   r->process_first + r->process_count - 1, r->root);
        say_words(out, e, "machine", r->machine);
        say_words(out, e, "command", r->command);
        say_words(out, e, "asked for", r->asked);
        for (size_t k = 0; k < r->module_count; k++)
            say_words(out, e, "module", r->modules[k]);
        for (size_t k = 0; k < r->environment_count; k++)
            buf_printf(out, ", %s = '%s'", strtab_get(e->strings, r->environment[k].name),
                       strtab_get(e->strings, r->environment[k].value));
        buf_char(out, '\n');
    }
}

static void say_processes(const struct experiment *e, struct buf *out)
{
    for (size_t i = 0; i < e->process_count; i++) {
        const struct hpcprof_process *p = &e->processes[i];
        buf_printf(out, "%s: pid %u, rank %d", strtab_get(e->strings, p->source_file), p->pid, p->rank);
        say_words(out, e, "host", p->host);
        say_words(out, e, "folder", p->working_dir);
        say_words(out, e, "command", p->command);
        say_words(out, e, "machine", p->machine);
        say_words(out, e, "kernel", p->kernel);
        buf_char(out, '\n');
    }
}

static void say_public(const struct experiment *e, const char *text, struct buf *out)
{
    char *public = experiment_public_text(e, text);
    buf_printf(out, "%s\n", public);
    mem_free(public);
}

static void say_recipes(const struct config *c, struct buf *out)
{
    for (size_t i = 0; c && i < config_run_count(c); i++) {
        struct config_recipe r = config_recipe(c, i);
        buf_printf(out,
                   "%s at %s, %s: '%s' in '%s' with '%s', events '%s', threads '%s', host '%s', repetitions '%s'%s\n",
                   r.name, r.measurements, r.where, r.command, r.folder, r.environment, r.events, r.threads, r.host,
                   r.repetitions, r.no_call_paths ? ", no paths" : "");
    }
}

static void write_init(void *ctx, struct outfile *out)
{
    struct at_hand *h = ctx;
    char *path = path_join(h->folder, "start.xml");
    if (config_write_start(h->config, path, NULL, out, h->warnings, &h->err) < 0)
        printf("# %s\n", h->err.msg);
    mem_free(path);
}

static struct experiment *read_page(struct at_hand *h)
{
    struct filemap map;
    struct experiment *e = NULL;
    char *path = top_file(h->given[DATABASE]), *damage = mem_strdup(h->given[DAMAGE] ? h->given[DAMAGE] : ""),
         *rest = damage, *old;
    path[strcspn(path, "\n")] = '\0';
    if (filemap_open(&map, path, &h->err) < 0)
        exit(99);
    char *page = mem_strndup((const char *)map.bytes, map.len);
    while ((old = strsep(&rest, "\n"))) {
        char *new = strchr(old, '|'), *at;
        if (!new)
            continue;
        *new ++ = '\0';
        if (!(at = strstr(page, old)))
            exit(99);
        char *changed = mem_printf("%.*s%s%s", (int)(at - page), page, new, at + strlen(old));
        mem_free(page);
        page = changed;
    }
    h->warnings = warnings_create();
    experiment_read_page(page, strlen(page), "page.html", &e, h->warnings, &h->err);
    filemap_release(&map);
    mem_free(page);
    mem_free(path);
    mem_free(damage);
    return e;
}

static void make_experiment(struct at_hand *h)
{
    if (h->given[DATABASE]) {
        h->e = read_page(h);
        return;
    }
    if (h->given[SAMPLES]) {
        h->e = built(h);
        return;
    }
    h->e = h->sample ? sample_named(h) : drawn_one(h);
    formulas_from_texts(h->e); /* as a database's are */
    for (size_t m = 0; m < h->e->metric_count; m++)
        h->e->metrics[m].exact_total = NAN;
}

/* Replaces the folder's name in messages. */
static void put_back(const struct at_hand *h, struct buf *out)
{
    char *text = replaced(h, out->bytes ? out->bytes : "", true);
    out->len = 0;
    buf_str(out, text);
    mem_free(text);
}

static void print_words(struct at_hand *h, const char *what, struct buf *out)
{
    struct to_print p = {.e = h->e};
    char *words = mem_strdup(what), *rest = words;
    p.what = strsep(&rest, " ");
    p.name = strsep(&rest, " ");
    for (char *word; (word = strsep(&rest, " "));)
        read_option(&p.options, word);
    cases_written(out, print_it, &p);
    if (p.status > 0)
        buf_printf(out, "status %d\n", p.status);
    if (p.status < 0) {
        out->len = 0;
        buf_printf(out, "error: %s\n", p.err.msg);
    }
    mem_free(words);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    struct at_hand *h = ctx;
    if (!h->e && !h->err.msg[0])
        make_experiment(h);
    if (strcmp(what, "recipes") == 0)
        say_recipes(h->config, out);
    else if (strcmp(what, "warnings") == 0)
        say_warnings(h->warnings, out);
    else if (!h->e)
        buf_printf(out, "error: %s\n", h->err.msg);
    else if (strcmp(what, "sources") == 0)
        say_sources(h->e, out);
    else if (strcmp(what, "gate") == 0)
        say_gate(h->e, out);
    else if (str_starts(what, "find "))
        say_found(h->e, what + strlen("find "), out);
    else if (strcmp(what, "measured") == 0)
        say_measured(h->e, out);
    else if (strcmp(what, "places") == 0)
        say_places(h->e, out);
    else if (strcmp(what, "calls") == 0)
        say_calls(h->e, out);
    else if (strcmp(what, "columns") == 0)
        say_columns(h->e, out);
    else if (strcmp(what, "runs") == 0)
        say_runs(h->e, out);
    else if (strcmp(what, "processes") == 0)
        say_processes(h->e, out);
    else if (strcmp(what, "anonymous") == 0)
        experiment_anonymize(h->e);
    else if (str_starts(what, "public "))
        say_public(h->e, what + strlen("public "), out);
    else if (strcmp(what, "wanted") == 0)
        say_wanted(h->e, out);
    else if (strcmp(what, "init") == 0)
        cases_written(out, write_init, h);
    else
        print_words(h, what, out);
    if (h->given[SAMPLES])
        put_back(h, out);
}

/* Long names are shortened to the first 42 and the last 18 characters, whatever their size in bytes. */
static void test_long_names(void)
{
    static const char *const letters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x94\xbd"};
    size_t wrong = 0;
    for (uint32_t round = 0; round < 2000; round++) {
        struct buf name = {0}, want = {0};
        const char *of[150];
        size_t n = round < 150 ? round : below(150);
        buf_str(&name, "");
        buf_str(&want, "");
        for (size_t i = 0; i < n; i++)
            buf_str(&name, of[i] = letters[below(ARRAY_SIZE(letters))]);
        for (size_t i = 0; i < n; i++)
            if (n <= 64 || i < 42 || i >= n - 18)
                buf_str(&want, of[i]);
            else if (i == 42)
                buf_str(&want, "...");
        char *text = print_text_of_name(name.bytes);
        wrong += strcmp(text, want.bytes) != 0;
        mem_free(text);
        buf_release(&name);
        buf_release(&want);
    }
    CHECK_INT(wrong, 0);
}

/* Whole numbers to the last digit, others with six. */
static void test_numbers(void)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{NAN, ""},
                   {0, "0"},
                   {-3, "-3"},
                   {1234567, "1234567"},
                   {0x1p53 - 1, "9007199254740991"},
                   {0x1p53, "9.0072e+15"},
                   {-0x1p53, "-9.0072e+15"},
                   {1 - 0x1p53, "-9007199254740991"},
                   {1234567.5, "1.23457e+06"},
                   {0.125, "0.125"},
                   {1e300, "1e+300"},
                   {INFINITY, "inf"}};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        char *text = print_text_of_value(numbers[i].value);
        CHECK_STR(text, numbers[i].text);
        mem_free(text);
    }
}

/* More rows than are written at once: each is present, in order. */
static void test_many_rows(void)
{
    enum { ROWS = 6000 };
    struct buf drawing = {0}, places = {0}, table = {0}, got = {0};
    buf_str(&drawing, "metric t 1 ns TIME\nMODULE prog\n FILE a.c\n");
    buf_str(&places, "kind,module,file,line,name,TIME\n");
    buf_str(&table, "n,what\n");
    for (unsigned i = 0; i < ROWS; i++) {
        buf_printf(&drawing, "  PROC p%u %u\n   LINE %u t=%u\n", i, i + 1, i + 1, ROWS - i);
        buf_printf(&places, "procedure,prog,a.c,%u,p%u,%u\n", i + 1, i, ROWS - i);
        buf_printf(&table, "%u,text of row %u\n", i, i);
    }
    buf_str(&drawing, "table many n:count what:text\n");
    for (unsigned i = 0; i < ROWS; i++)
        buf_printf(&drawing, "row %u text_of_row_%u\n", i, i);
    struct at_hand h = {.drawing = drawing.bytes};
    struct to_print p = {.what = "by", .name = "procedure", .options = {.format = PRINT_CSV}};
    p.e = drawn_one(&h);
    cases_written(&got, print_it, &p);
    CHECK(strcmp(got.bytes, places.bytes) == 0);
    got.len = 0;
    p.what = "table";
    p.name = "many";
    cases_written(&got, print_it, &p);
    CHECK(strcmp(got.bytes, table.bytes) == 0);
    experiment_free(p.e);
    buf_release(&drawing);
    buf_release(&places);
    buf_release(&table);
    buf_release(&got);
}

static void test_csv_texts(void)
{
    static const char *const texts[][2] = {{"", ""},
                                           {"a b", "a b"},
                                           {"a,b", "\"a,b\""},
                                           {"\"", "\"\"\"\""},
                                           {"a\nb", "\"a\nb\""},
                                           {"\r", "\"\r\""},
                                           {"a\"b\"", "\"a\"\"b\"\"\""},
                                           {"'", "'"},
                                           {";", ";"},
                                           {"\t", "\t"}};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct buf b = {0};
        struct csvout c = {.out = &b};
        buf_str(&b, "");
        csv_text(&c, texts[i][0]);
        CHECK_STR(b.bytes, texts[i][1]);
        buf_release(&b);
    }
}

int main(void)
{
    static const char *const inputs[] = {"sample", "drawing", "source", NULL};
    char folder[] = "/tmp/print_test.XXXXXX";
    struct at_hand h = {.folder = mkdtemp(folder)};
    struct cases print = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}},
                 builds = {given_words, begin, take_option, take_input, make_output, &h, NULL, {0}}, outlines = builds;
    if (!h.folder)
        return 1;
    for (char digit = '1'; digit <= '3'; digit++) {
        char *of_sources = mem_printf("%s/%c", folder, digit);
        mkdir(of_sources, 0777);
        mem_free(of_sources);
    }
    RUN(test_long_names);
    RUN(test_numbers);
    RUN(test_csv_texts);
    RUN(test_many_rows);
    cases_run(&print, "tests/print/print.cases");
    cases_run(&builds, "tests/print/built.cases");
    for (size_t i = 0; i < GIVEN; i++) {
        mem_free(h.given[i]);
        h.given[i] = NULL;
    }
    cases_run(&outlines, "tests/print/outlines.cases");
    dir_remove_tree(folder, NULL);
    mem_free(h.drawing);
    mem_free(h.sample);
    for (size_t i = 0; i < GIVEN; i++)
        mem_free(h.given[i]);
    return tap_done();
}
