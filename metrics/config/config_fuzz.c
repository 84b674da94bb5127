/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a configuration: a configuration, or a message with file and line. Then its title as an option of the
   command line. */
#include "metrics/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

static void check(const struct config *c)
{
    for (size_t i = 0; i < c->metrics.count; i++) {
        const struct config_metric *m = &c->metrics.items[i];
        promise(*m->block || ((m->expr == NULL) != (*m->event == '\0') && *m->name)); /* measured or computed */
    }
}

/* A failure has a message. */
static void said(int status, struct err *err)
{
    promise(status >= 0 || err->msg[0]);
    err->msg[0] = '\0';
}

static void add_options(struct config *c, const char *words)
{
    const char *names[] = {words, NULL};
    struct err err = {0};
    said(config_compare(c, *words ? words : NULL, &err), &err);
    said(config_add_metric(c, words, &err), &err);
    said(config_add_gate(c, words, &err), &err);
    said(config_add_statistics(c, words, &err), &err);
    config_want_statistics(c, names);
    config_add_measurement(c, words);
    config_add_source_path(c, words);
    said(config_add_block(c, words, &err), &err);
    config_add_all_blocks(c);
    config_judge_loops(c, words, words);
    config_list_instructions(c);
    config_set_threads(c, 3);
    config_set_ranks(c, NULL);
    config_ask_llvm(c, NULL);
    config_set_blocks(c, NULL);
    config_set_per_thread(c, true);
    config_set_thread_values(c, true);
    config_set_fold_recursion(c, true);
    for (size_t i = 0; i < config_run_count(c); i++) {
        struct config_recipe r = config_recipe(c, i);
        promise(r.name && r.measurements && r.command && r.folder && r.events && r.host && r.repetitions);
    }
    config_name_runs(c, names);
    size_t runs = config_run_count(c);
    int status = config_leave_out_run(c, 0, &err);
    promise(config_run_count(c) == runs - (status == 0));
    said(status, &err);
    check(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config *c = NULL;
    struct warnings *warnings = warnings_create();
    struct err err = {.others = size % 2 ? warnings_create() : NULL}; /* all errors, or the first */
    if (config_read_bytes(data, size, "dir/fuzz.xml", &c, warnings, &err) < 0) {
        promise(!c && str_starts(err.msg, "dir/fuzz.xml:")); /* every error names the file */
    } else {
        check(c);
        mem_free(config_replaced(c, "/a/b/c"));
        add_options(c, c->title);
    }
    config_free(c);
    warnings_free(warnings);
    warnings_free(err.others);
    return 0;
}
