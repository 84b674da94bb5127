/* SPDX-License-Identifier: BSD-3-Clause */
/* An experiment as a table: text for people, CSV and JSON for programs. */
#include "metrics/report/report.h"

#include <stdlib.h>

const struct print_level_row print_levels[] = {
    [PRINT_PROGRAM] = {"program", PLACE_PROGRAM, false},
    [PRINT_MODULE] = {"module", PLACE_MODULE, false},
    [PRINT_FILE] = {"file", PLACE_FILE, false},
    [PRINT_PROC] = {"procedure", PLACE_PROC, false},
    [PRINT_LOOP] = {"loop", PLACE_LOOP, true},
    [PRINT_LINE] = {"line", PLACE_LINE, false},
    [PRINT_FUNCTION] = {"function", PLACE_PROC, false},
    [PRINT_PATH] = {"path", PLACE_PROGRAM, true},
    [PRINT_CALLER] = {"caller", PLACE_PROGRAM, false},
    [PRINT_CALLS] = {"calls", PLACE_PROGRAM, true},
    [PRINT_INSTRUCTION] = {"instruction", PLACE_LINE, false},
};

bool print_is_tree(const struct view *t)
{
    return t->options->level >= PRINT_PATH;
}

int print_level_parse(const char *word, enum print_level *level, struct err *err)
{
    static const char *const of_tables[] = {"barrier", "phase", "reference", "array", "evictor"}; /* the driver's */
    const char *words[ARRAY_SIZE(print_levels) + ARRAY_SIZE(of_tables) + 1] = {NULL};
    memcpy(words + ARRAY_SIZE(print_levels), of_tables, sizeof of_tables);
    for (size_t i = 0; i < ARRAY_SIZE(print_levels); i++) {
        words[i] = print_levels[i].word;
        if (strcmp(word, print_levels[i].word) == 0) {
            *level = (enum print_level)i;
            return 0;
        }
    }
    const char *near = str_nearest(word, words);
    if (near)
        return err_set(err, ERR_USAGE, "unknown level '%s'; did you mean '%s'?", word, near);
    return err_set(err, ERR_USAGE,
                   "unknown level '%s'; available: program, module, file, procedure, loop, line, function, "
                   "instruction, path, caller, calls, barrier, phase, reference, array, evictor",
                   word);
}

/* ---- all of it -------------------------------------------------------------------------------- */

int experiment_print(const struct experiment *e, const struct print_options *options, struct outfile *out,
                     struct err *err)
{
    struct view t = {.e = e, .options = options};
    for (size_t i = 0; i < e->metric_count; i++)
        if (e->metrics[i].display)
            *vec_push(&t.shown) = i;
    int status = print_choose_order(&t, err);
    if (status == 0 && options->scope)
        print_find_scope(&t);
    if (status == 0 && options->tree) {
        print_legend(&t, out);
        print_tree(&t, print_whole(&t), out);
    } else if (status == 0 && options->level == PRINT_INSTRUCTION) {
        if (options->format == PRINT_TEXT)
            print_legend(&t, out);
        status = print_code(&t, out, err);
    } else if (status == 0) {
        print_find_surroundings(t.e, &t.module_name, &t.procedure);
        if (options->level == PRINT_PATH)
            status = print_rows_of_paths(&t, err);
        else if (options->level == PRINT_CALLER)
            status = print_rows_of_callers(&t, err);
        else if (options->level == PRINT_CALLS)
            status = print_rows_of_calls(&t, err);
        else if (options->level == PRINT_LINE || options->level == PRINT_FUNCTION ||
                 (options->level == PRINT_LOOP && options->diff))
            print_merged_rows(&t);
        else
            print_rows_of_places(&t);
        print_drop_empty_rows(&t);
        if (!print_is_tree(&t))
            print_drop_small_rows(&t);
        if (t.rows.count && !print_is_tree(&t)) /* qsort needs an array even for no elements */
            qsort_r(t.rows.items, t.rows.count, sizeof *t.rows.items, print_compare_rows, &t);
        struct difference d;
        t.compared = options->diff && options->format == PRINT_TEXT && print_difference(&t, &d) != SIZE_MAX;
        if (t.compared)
            print_fold_noise(&t);
        if (options->top && options->top < t.rows.count)
            t.rows.count = options->top;
        if (status < 0)
            ; /* there is nothing to write */
        else if (t.compared)
            print_diff(&t, out);
        else if (options->format == PRINT_TEXT)
            print_text(&t, out);
        else if (options->format == PRINT_CSV)
            print_csv(&t, out);
        else
            print_json(&t, out);
    }
    mem_free(t.module_name);
    mem_free(t.procedure);
    mem_free(t.in_scope);
    vec_release(&t.rows);
    vec_release(&t.values);
    vec_release(&t.shown);
    return status;
}
