/*
 * What `print` makes of an experiment, to the letter: tests/print/print.cases (tests/cases.h). A case has
 *
 *     sample                     heat, facts, memory, waits, two-runs, hostile (htmlgen/sample.c); or
 *     drawing                    see diagnose/drawing.c
 *     by LEVEL [OPTION...]       the rows of a level; format=WORD top=N sort=NAME threshold=N scope=GLOB of=PLACE -fused
 *                                -tree -no-legend; in options '_' is a blank, '~' a '_'
 *     memory KIND [OPTION...]    reference, array, evictor
 *     table NAME [OPTION...]
 *     sources                    what is told of sources without text
 *
 * and of whole builds, from files in a folder, tests/print/built.cases. A case has, besides what is printed,
 *
 *     program                    machine code: "procedure NAME", then its bytes, with what they are behind a ';'
 *     code FILE                  another binary, of the tests' sources
 *     samples, samples 2         measurements (metrics/test_drawing.h), of the runs a and b. PROGRAM, OTHER: path and build id
 *     structure, structure 2     structure.xml and structure2.xml
 *     source                     a.c
 *     config                     what stands in the configuration besides its runs
 *     warnings                   what is told
 *
 * all of the case before where they are not given, and options: -arm; -keep: the measurements keep their functions; -gone: the program is
 * not there any more, or, -moved, by its build id alone; -rebuilt: it is, with another build id.
 */
#include "diagnose/drawing.h"
#include "htmlgen/sample.h"
#include "metrics/test_drawing.h"
#include "tests/cases.h"
#include "tests/elf.h"

#include <math.h>
#include <sys/stat.h>

enum given { PROGRAM, CODE, SAMPLES, SAMPLES_2, STRUCTURE, STRUCTURE_2, SOURCE, CONFIG, GIVEN };
static const char *const given_words[] = {"program",     "code",   "samples", "samples 2", "structure",
                                          "structure 2", "source", "config",  NULL};

struct at_hand { /* of the case */
    char *drawing, *sample, *folder;
    char *given[GIVEN];
    bool arm, keep, gone, moved, rebuilt;
    struct experiment *e;
    struct warnings *warnings;
    struct err err; /* why there is no experiment */
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    experiment_free(h->e);
    warnings_free(h->warnings);
    h->e = NULL;
    h->warnings = NULL;
    h->err = (struct err){0};
    h->arm = h->keep = h->gone = h->moved = h->rebuilt = false;
}

static void take_option(void *ctx, const char *word)
{
    struct at_hand *h = ctx;
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"-arm", &h->arm}, {"-keep", &h->keep}, {"-gone", &h->gone}, {"-moved", &h->moved}, {"-rebuilt", &h->rebuilt}};
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].flag = true;
            return;
        }
    exit(99);
}

/* ---- whole builds ------------------------------------------------------------------------------------- */

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
    char *id = id_text(0), *kept = mem_printf("%s/%s/executable", h->folder, id), *app = path_join(h->folder, "app");
    unlink(kept);
    if (h->moved && rename(app, kept) < 0)
        exit(99);
    if (h->gone)
        unlink(app);
    if (h->rebuilt)
        write_program(h, "app", build_ids[1]);
    mem_free(app);
    mem_free(kept);
    mem_free(id);
}

/* With the words of the cases for what they mean here, or back. */
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

static void write_measurement(const struct at_hand *h, const char *name, enum given which)
{
    struct err err = {0};
    struct outfile *out;
    char *path = path_join(h->folder, name), *drawing = replaced(h, h->given[which], false);
    struct hpcprof *p = profile_from(drawing);
    if (outfile_create(path, &out, &err) < 0 || hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0 ||
        (h->keep && measurement_keep_functions(path, path, &err) < 0)) {
        printf("# %s\n", err.msg);
        exit(99);
    }
    hpcprof_free(p);
    mem_free(drawing);
    mem_free(path);
}

static struct experiment *built(struct at_hand *h)
{
    static const struct {
        enum given given;
        const char *name;
    } files[] = {{STRUCTURE, "structure.xml"}, {STRUCTURE_2, "structure2.xml"}, {SOURCE, "a.c"}};
    struct config *config = NULL;
    struct experiment *e = NULL;
    char *body = replaced(h, h->given[CONFIG] ? h->given[CONFIG] : "", false), *path = path_join(h->folder, "c.xml"),
         *machines = top_file("share/machines"), *machine = top_file("share/machines/skylake-server.xml");
    char *text = mem_printf("<hpcview version='1'><run name='a' measurements='a.hpcprof'/>%s%s</hpcview>",
                            h->given[SAMPLES_2] ? "<run name='b' measurements='b.hpcprof'/>" : "", body);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (h->given[files[i].given]) {
            char *whole = replaced(h, h->given[files[i].given], false);
            write_to(h, files[i].name, whole, strlen(whole));
            mem_free(whole);
        }
    write_programs(h);
    write_measurement(h, "a.hpcprof", SAMPLES);
    if (h->given[SAMPLES_2])
        write_measurement(h, "b.hpcprof", SAMPLES_2);
    move_program(h);
    h->warnings = h->err.others = warnings_create();
    if (config_read_bytes(text, strlen(text), path, &config, h->warnings, &h->err) == 0) {
        config_judge_loops(config, machines, machine);
        config_list_instructions(config);
        experiment_build(config, NULL, &e, h->warnings, &h->err);
        if (e && experiment_check(e, &h->err) < 0)
            exit(99);
    }
    config_free(config);
    mem_free(body);
    mem_free(text);
    mem_free(path);
    mem_free(machines);
    mem_free(machine);
    return e;
}

/* ---- what is given --------------------------------------------------------------------------------------- */

/* The one that is given is what is printed. */
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

/* Measured metrics have exclusive values, and all columns are shown. */
static struct experiment *drawn_one(const struct at_hand *h)
{
    struct experiment *e = drawing_read(h->drawing, "a drawing");
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
    else if (strcmp(word, "-fused") == 0)
        o->fused = true;
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

static void make_experiment(struct at_hand *h)
{
    if (h->given[SAMPLES]) {
        h->e = built(h);
        return;
    }
    h->e = h->sample ? sample_named(h) : drawn_one(h);
    formulas_from_texts(h->e); /* as a database's are */
    for (size_t m = 0; m < h->e->metric_count; m++)
        h->e->metrics[m].exact_total = NAN;
}

/* What is said without the folder's name. */
static void put_back(const struct at_hand *h, struct buf *out)
{
    char *text = replaced(h, out->bytes ? out->bytes : "", true);
    out->len = 0;
    buf_str(out, text);
    mem_free(text);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    struct at_hand *h = ctx;
    struct to_print p = {0};
    char *words = mem_strdup(what), *rest = words;
    if (!h->e && !h->err.msg[0])
        make_experiment(h);
    if (!h->e || strcmp(what, "sources") == 0 || strcmp(what, "warnings") == 0) {
        if (strcmp(what, "warnings") == 0)
            say_warnings(h->warnings, out);
        else if (h->e)
            say_sources(h->e, out);
        else
            buf_printf(out, "error: %s\n", h->err.msg);
        put_back(h, out);
        mem_free(words);
        return;
    }
    p.e = h->e;
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
    if (h->given[SAMPLES])
        put_back(h, out);
    mem_free(words);
}

int main(void)
{
    static const char *const inputs[] = {"sample", "drawing", NULL};
    char folder[] = "/tmp/print_test.XXXXXX";
    struct at_hand h = {.folder = mkdtemp(folder)};
    struct cases print = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}},
                 builds = {given_words, begin, take_option, take_input, make_output, &h, NULL, {0}};
    if (!h.folder)
        return 1;
    cases_run(&print, "tests/print/print.cases");
    cases_run(&builds, "tests/print/built.cases");
    dir_remove_tree(folder, NULL);
    mem_free(h.drawing);
    mem_free(h.sample);
    for (size_t i = 0; i < GIVEN; i++)
        mem_free(h.given[i]);
    return tap_done();
}
