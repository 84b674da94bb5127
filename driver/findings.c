/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties and findings, for `diagnose`, `build` and `run`. */
#include "config.h"

#include "driver/findings.h"
#include "htmlgen/htmlgen.h"

#include <stdio.h>

#define USUAL_THRESHOLD 1 /* percent of the run */

static int say_problems(struct session *s, struct warnings *problems)
{
    size_t n = warnings_count(problems);
    for (size_t i = 0; i + 1 < n; i++)
        fprintf(stderr, "hpcview: %s\n", warnings_get(problems, i));
    return n ? err_set(&s->err, ERR_FORMAT, "%s", warnings_get(problems, n - 1)) : 0;
}

int findings_properties(struct session *s, const struct string_list *folders, struct properties **result)
{
    struct properties *p = properties_create();
    struct warnings *problems = warnings_create();
    char *own = driver_share_path("properties");
    int status = properties_add_folder(p, own, problems, &s->err);
    for (size_t i = 0; status == 0 && folders && i < folders->count; i++)
        status = properties_add_folder(p, folders->items[i], problems, &s->err);
    if (status == 0) {
        properties_finish(p, problems);
        status = say_problems(s, problems);
    }
    mem_free(own);
    warnings_free(problems);
    *result = status == 0 ? p : NULL;
    if (status < 0)
        properties_free(p);
    return status;
}

struct properties *findings_properties_unasked(struct session *s)
{
    struct properties *p;
    struct err before = s->err;
    if (findings_properties(s, NULL, &p) == 0)
        return p;
    warnings_add(s->warnings, "nothing was diagnosed: %s", s->err.msg);
    s->err = before;
    return NULL;
}

static int put(struct session *s, struct experiment *e, const struct diagnosis *d)
{
    experiment_forget_wanted(e);
    return diagnosis_add_tables(e, d, &s->err);
}

int findings_add(struct session *s, const struct properties *p, struct experiment *e)
{
    struct diagnose_options options = {.threshold = USUAL_THRESHOLD};
    struct diagnosis *d;
    if (!p)
        return 0;
    if (diagnose(e, p, &options, &d, &s->err) < 0)
        return -1;
    int status = put(s, e, d);
    diagnosis_free(d);
    return status;
}

int findings_database(struct session *s, struct experiment *e, const struct diagnosis *d, const char *path)
{
    struct htmlgen_options options = {.single_file = str_ends(path, ".html")};
    experiment_warn_sources(e, s->warnings);
    if (put(s, e, d) < 0 || htmlgen_write(e, path, &options, s->warnings, &s->err) < 0)
        return -1;
    fprintf(stderr, "hpcview: open %s%s in a browser, or: hpcview open %s\n", path,
            options.single_file ? "" : "/index.html", path);
    return 0;
}
