/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the ranks in a folder are those of one parallel program, and all of them. */
#include "hpcprof/format/tables.h"

#include <stdlib.h>

const char *hpcprof_job(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->note_count; i++)
        if (strcmp(strtab_get(p->strings, p->notes[i].name), FORMAT_NOTE_JOB) == 0)
            return strtab_get(p->strings, p->notes[i].value);
    return "";
}

static void put_range(struct buf *b, size_t from, size_t to)
{
    buf_printf(b, b->len ? ", %zu" : "%zu", from);
    if (to > from)
        buf_printf(b, to > from + 1 ? "-%zu" : ", %zu", to);
}

size_t hpcprof_ranges(const bool *in, size_t ranks, struct buf *b)
{
    enum { BYTES = 200 };
    size_t count = 0;
    for (size_t i = 0, next; i < ranks; i = next) {
        for (next = i + 1; next < ranks && in[next] == in[i];)
            next++;
        if (!in[i])
            continue;
        if (b->len < BYTES)
            put_range(b, i, next - 1);
        count += next - i;
    }
    if (b->len >= BYTES)
        buf_str(b, ", ...");
    return count;
}

/* choice: of the ranks that are recorded; NULL: all are. */
static void warn_missing(const struct hpcprof *p, const char *path, size_t ranks, const char *choice,
                         struct warnings *w)
{
    bool *missing = mem_calloc(ranks, sizeof *missing);
    struct buf text = {0};
    for (size_t i = 0; i < ranks; i++)
        missing[i] = !choice || format_rank_chosen(choice, i, ranks);
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].rank >= 0 && (size_t)p->processes[i].rank < ranks)
            missing[p->processes[i].rank] = false;
    size_t count = hpcprof_ranges(missing, ranks, &text);
    if (count)
        warnings_add(w, "%s: %zu of the %zu ranks are missing: %s", path, count, ranks, text.bytes);
    buf_release(&text);
    mem_free(missing);
}

int hpcprof_check_jobs(const struct hpcprof *p, const char *path, struct warnings *w, struct err *err)
{
    const char *job = hpcprof_job(p), *choice = NULL;
    size_t ranks = 0;
    for (size_t i = 0; i < p->note_count; i++) {
        const char *name = strtab_get(p->strings, p->notes[i].name), *value = strtab_get(p->strings, p->notes[i].value);
        if (strcmp(name, FORMAT_NOTE_JOB) == 0 && strcmp(value, job) != 0)
            return err_set(err, ERR_FORMAT,
                           "%s: contains the ranks of two starts of a program (jobs %s and %s), which cannot be added "
                           "up; keep the files of one of them in this folder",
                           path, job, value);
        if (strcmp(name, FORMAT_NOTE_RANKS) == 0 && strtoul(value, NULL, 10) > ranks)
            ranks = strtoul(value, NULL, 10);
        if (strcmp(name, FORMAT_NOTE_CHOSEN) == 0)
            choice = value;
    }
    if (ranks && ranks <= HPCPROF_RANKS_MOST)
        warn_missing(p, path, ranks, choice, w);
    return 0;
}
