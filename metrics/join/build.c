/* SPDX-License-Identifier: BSD-3-Clause */
/* From files to an experiment: the runs are read, and the binaries and structure files lent to the join. */
#include "metrics/join/join.h"

#include "filters/filters.h"
#include "phases/phases.h"

#include <sys/stat.h>

static int measurement_read(const struct config *config, const struct config_run *run, const struct progress *progress,
                            struct hpcprof **result, struct warnings *warnings, struct err *err)
{
    struct hpcprof_reading how = {.threads = config->threads,
                                  .summed = true,
                                  .prepare = phases_add_samples,
                                  .progress = progress,
                                  .ranks = config->ranks};
    int status = filters_read_as(run->path, &how, result, warnings, err);
    if (status == 0 && (status = phases_finish(*result, err)) < 0) {
        hpcprof_free(*result);
        *result = NULL;
    }
    if (status == 0) {
        trip_counts_add(*result, config);
        ideal_cycles_add(*result, config, warnings);
    }
    if (status < 0 && *run->where)
        err_in(err, "%s: run '%s'", run->where, run->name);
    return status;
}

/* All missing files are reported before anything is read, which may take long. Names in a configuration are checked
   only when all runs are known. */
static int all_there(const struct config *config, struct err *err)
{
    struct err_gathered errors = config->errors;
    size_t before = errors.count;
    if (config_gather_missing(config, before == 0, &errors, err) < 0)
        return -1;
    return errors.count > before || config->lacks_runs ? err_gathered(&errors, err) : 0;
}

/* If something fails before the errors of the configuration are reported, they are reported. */
static int with_errors_of(const struct config *config, int status, struct err *err)
{
    struct err_gathered errors = config->errors;
    return status < 0 && errors.count && err_gather(&errors, err) ? err_gathered(&errors, err) : status;
}

struct input_list VEC(struct input);

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The run's measurement; one that holds folders 1, 2, ... has as many repetitions. */
static void list_inputs(const struct config_run *run, uint32_t number, struct input_list *inputs)
{
    size_t first = inputs->count;
    for (uint32_t k = 1; k <= LIMIT_RUNS; k++) {
        char *path = mem_printf("%s/%u", run->path, k);
        if (!is_folder(path)) {
            mem_free(path);
            break;
        }
        *vec_push(inputs) = (struct input){.run = number, .path = path, .repetition = k};
    }
    if (inputs->count == first)
        *vec_push(inputs) = (struct input){.run = number, .path = mem_strdup(run->path)};
}

static int read_finished(const struct config *config, const struct config_run *run, uint32_t number,
                         struct structures *structures, struct input *input, struct warnings *warnings, struct err *err)
{
    struct experiment *e = NULL;
    int status = config->reader->read(run->path, &e, warnings, err);
    if (status == 0)
        status = metrics_finished_run(e, run->path, number, structures, &input->profile, &input->threads, err);
    experiment_free(e);
    return status < 0 && *run->where ? err_in(err, "%s: run '%s'", run->where, run->name) : status;
}

static int read_input(const struct config *config, struct input *input, uint32_t number, struct structures *structures,
                      struct kept_functions *kept, const struct progress *progress, struct warnings *warnings,
                      struct err *err)
{
    struct config_run run = config->runs.items[input->run];
    run.path = input->path;
    input->finished = config->reader && config->reader->knows(run.path);
    int status = input->finished ? read_finished(config, &run, number, structures, input, warnings, err)
                                 : measurement_read(config, &run, progress, &input->profile, warnings, err);
    if (status < 0)
        return -1;
    measured_functions_take(input->profile, kept);
    for (size_t k = 0; k < input->profile->count_count; k++)
        input->samples += input->profile->counts[k].samples;
    if (input->profile->count_count == 0)
        warnings_add(warnings, "%s: contains no samples; did the program run long enough?", run.path);
    if (input->finished) { /* nothing in it to be read again */
        mem_free((void *)(uintptr_t)input->path);
        input->path = NULL;
    }
    return 0;
}

static int read_inputs(const struct config *config, struct input_list *inputs, struct structures *structures,
                       const struct progress *progress, struct warnings *warnings, struct err *err)
{
    struct err_gathered errors = {0};
    struct kept_functions kept = {0};
    int status = 0;
    for (size_t i = 0; i < config->runs.count; i++)
        list_inputs(&config->runs.items[i], (uint32_t)i, inputs);
    for (size_t i = 0; i < inputs->count && status == 0; i++) {
        progress_report(progress, "reading measurements", i, inputs->count);
        if (read_input(config, &inputs->items[i], (uint32_t)i, structures, &kept, progress, warnings, err) < 0 &&
            !err_gather(&errors, err))
            status = -1;
    }
    measured_functions_give(&kept, structures);
    progress_report(progress, "reading measurements", inputs->count, inputs->count);
    return status < 0 ? status : err_gathered(&errors, err);
}

int experiment_build(const struct config *config, const struct progress *progress, struct experiment **result,
                     struct warnings *warnings, struct err *err)
{
    struct input_list inputs = {0};
    struct structures *structures = NULL;
    *result = NULL;
    int status = config->runs.count ? 0 : err_set(err, ERR_FORMAT, "no measurements");
    status = with_errors_of(config, status, err);
    if (status == 0)
        status = all_there(config, err);
    if (status == 0)
        status = with_errors_of(config, structures_open(config, progress, &structures, warnings, err), err);
    if (status == 0)
        status = with_errors_of(config, read_inputs(config, &inputs, structures, progress, warnings, err), err);
    if (status == 0) {
        struct structure_source source = structures_source(structures);
        status = experiment_from(config, inputs.items, inputs.count, &source, progress, result, warnings, err);
    }
    structures_free(structures);
    for (size_t i = 0; i < inputs.count; i++) {
        hpcprof_free(inputs.items[i].profile);
        vec_release(&inputs.items[i].threads);
        mem_free((void *)(uintptr_t)inputs.items[i].path);
    }
    vec_release(&inputs);
    return status;
}
