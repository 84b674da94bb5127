/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines about barriers that a program sends while it is recorded (record --watch, --warn), as sentences. */
#include "phases/phases.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 11, WARNINGS_OF_ONE_PLACE = 10 };

/* Cuts the line at its tabs; false: it is not one of ours. */
static bool split(char *line, char *fields[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        char *tab = line ? strchr(line, '\t') : NULL;
        if (!line || (!tab && i + 1 < FIELDS))
            return false;
        if (tab)
            *tab = '\0';
        line = tab ? tab + 1 : NULL;
    }
    return true;
}

static bool is_watched(struct phases_barrier_log *log, const char *name, const char *place)
{
    for (size_t i = 0; log->watched && log->watched[i]; i++) {
        const char *w = log->watched[i];
        size_t n = strlen(w);
        if (strcmp(w, "all") == 0 || (*name && strcmp(w, name) == 0) ||
            (strncmp(w, place, n) == 0 && (place[n] == ' ' || place[n] == '\0')))
            return true;
    }
    return false;
}

/* The number of warnings about this place, including this one. */
static unsigned warned(struct phases_barrier_log *log, const char *place)
{
    for (size_t i = 0; i < log->places.count; i++)
        if (strcmp(log->places.items[i].text, place) == 0)
            return ++log->places.items[i].warnings;
    *vec_push(&log->places) = (struct phases_warned_place){mem_strdup(place), 1};
    return 1;
}

static double ms(const char *ns)
{
    return strtod(ns, NULL) / 1e6;
}

static void warn(struct phases_barrier_log *log, char what, const char *where, char *fields[FIELDS])
{
    unsigned n = warned(log, where);
    if (n > WARNINGS_OF_ONE_PLACE)
        return;
    fprintf(log->out, "hpcview: warning: %s: ", where);
    if (what == 'E')
        fprintf(log->out, "episode %s had a barrier time of %.0f ms; %s was last\n", fields[6], ms(fields[9]),
                fields[10]);
    else if (what == 'P')
        fprintf(log->out, "%s waited for %.0f ms\n", fields[10], ms(fields[9]));
    else
        fprintf(log->out, "%s has been waiting for %.0f ms\n", fields[10], ms(fields[9]));
    if (n == WARNINGS_OF_ONE_PLACE)
        fprintf(log->out, "hpcview: warning: %s: no more warnings for this place\n", where);
}

/* Of an episode by its threads, or of one rank's passage: ranks do not know of each other while they run. */
static void report(struct phases_barrier_log *log, char what, const char *where, char *fields[FIELDS])
{
    if (what == 'E')
        fprintf(log->out, "hpcview: %s: episode %s, %s threads: phase %.3f ms, barrier %.3f ms, %s last\n", where,
                fields[6], fields[7], ms(fields[8]), ms(fields[9]), fields[10]);
    else
        fprintf(log->out, "hpcview: %s: collective %s of %s ranks: %s worked %.3f ms, waited %.3f ms\n", where,
                fields[6], fields[7], fields[10], ms(fields[8]), ms(fields[9]));
}

void phases_barrier_log_line(void *ctx, char *line)
{
    struct phases_barrier_log *log = ctx;
    char *fields[FIELDS];
    if (!split(line, fields))
        return;
    const char *place = log->locate(log->locate_ctx, fields[4], strtoull(fields[5], NULL, 10));
    char *where = mem_printf("%s%s%s (%s)", fields[3], *fields[3] ? " at " : "", place, fields[2]);
    char what = *fields[0];
    if ((what == 'E' || what == 'P') && is_watched(log, fields[3], place))
        report(log, what, where, fields);
    if (*fields[1] == '1')
        warn(log, what, where, fields);
    fflush(log->out);
    mem_free(where);
}

void phases_barrier_log_release(struct phases_barrier_log *log)
{
    for (size_t i = 0; i < log->places.count; i++)
        mem_free(log->places.items[i].text);
    vec_release(&log->places);
}
