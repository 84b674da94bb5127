/* From files to an experiment: the runs are read, and the binaries and structure files lent to the join. */
#include "metrics/metrics_int.h"

#include "filters/filters.h"
#include "phases/phases.h"

#include <sys/stat.h>

int measurement_read(const struct config *config, const struct config_run *run, const struct progress *progress,
                     struct hpcprof **result, struct warnings *warnings, struct err *err)
{
    struct hpcprof_reading how = {
        .threads = config->threads, .summed = true, .prepare = phases_add_samples, .progress = progress};
    int status = filters_read_as(run->path, &how, result, warnings, err);
    if (status == 0 && (status = phases_finish(*result, err)) < 0) {
        hpcprof_free(*result);
        *result = NULL;
    }
    if (status == 0)
        ideal_add(*result, config, warnings);
    if (status < 0 && *run->where)
        err_in(err, "%s: run '%s'", run->where, run->name);
    return status;
}

static int is_there(const char *path, const char *where, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return 0;
    err_errno(err, path, "cannot be opened");
    return *where ? err_in(err, "%s", where) : -1;
}

/* Before anything is read, which may take long, all files that are not there are named. */
static int all_there(const struct config *config, struct err *err)
{
    struct err_gathered missing = {0};
    for (size_t i = 0; i < config->runs.count; i++)
        if (is_there(config->runs.items[i].path, config->runs.items[i].where, err) < 0 && !err_gather(&missing, err))
            return -1;
    for (size_t i = 0; i < config->structures.count; i++)
        if (is_there(config->structures.items[i], "", err) < 0 && !err_gather(&missing, err))
            return -1;
    return err_gathered(&missing, err);
}

static int read_inputs(const struct config *config, struct input *inputs, const struct progress *progress,
                       struct warnings *warnings, struct err *err)
{
    struct err_gathered errors = {0};
    for (size_t i = 0; i < config->runs.count; i++) {
        progress_report(progress, "reading measurements", i, config->runs.count);
        inputs[i].run = (uint32_t)i;
        inputs[i].path = config->runs.items[i].path;
        if (measurement_read(config, &config->runs.items[i], progress, &inputs[i].profile, warnings, err) < 0) {
            if (!err_gather(&errors, err))
                return -1;
            continue;
        }
        for (size_t k = 0; k < inputs[i].profile->count_count; k++)
            inputs[i].samples += inputs[i].profile->counts[k].samples;
        if (inputs[i].profile->count_count == 0)
            warnings_add(warnings, "%s: holds no samples; did the program run long enough?",
                         config->runs.items[i].path);
    }
    progress_report(progress, "reading measurements", config->runs.count, config->runs.count);
    return err_gathered(&errors, err);
}

int experiment_build(const struct config *config, const struct progress *progress, struct experiment **result,
                     struct warnings *warnings, struct err *err)
{
    size_t n = config->runs.count;
    struct input *inputs = mem_calloc(n + 1, sizeof *inputs);
    struct structures *structures = NULL;
    *result = NULL;
    int status = n ? 0 : err_set(err, ERR_FORMAT, "no measurements are given");
    if (status == 0)
        status = all_there(config, err);
    if (status == 0)
        status = read_inputs(config, inputs, progress, warnings, err);
    if (status == 0)
        status = structures_open(config, progress, &structures, warnings, err);
    if (status == 0) {
        struct structure_source source = structures_source(structures);
        status = experiment_from(config, inputs, n, &source, progress, result, warnings, err);
    }
    structures_free(structures);
    for (size_t i = 0; i < n; i++)
        hpcprof_free(inputs[i].profile);
    mem_free(inputs);
    return status;
}
