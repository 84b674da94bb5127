/* What a recorded program says of its barriers while it runs (record --watch, --warn), in words. */
#include "driver/told.h"
#include "driver/lines.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 11, WARNINGS_OF_ONE_PLACE = 10 };

struct place {
    char *text;
    unsigned warnings;
};
static struct VEC(struct place) places;

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

static bool is_watched(const struct told *t, const char *name, const char *place)
{
    for (size_t i = 0; t->watched && t->watched[i]; i++) {
        const char *w = t->watched[i];
        size_t n = strlen(w);
        if (strcmp(w, "all") == 0 || (*name && strcmp(w, name) == 0) ||
            (strncmp(w, place, n) == 0 && (place[n] == ' ' || place[n] == '\0')))
            return true;
    }
    return false;
}

/* How often was warned of this place, this time counted. */
static unsigned warned(const char *place)
{
    for (size_t i = 0; i < places.count; i++)
        if (strcmp(places.items[i].text, place) == 0)
            return ++places.items[i].warnings;
    *vec_push(&places) = (struct place){mem_strdup(place), 1};
    return 1;
}

static double ms(const char *ns)
{
    return strtod(ns, NULL) / 1e6;
}

static void warn(const struct told *t, char what, const char *where, char *fields[FIELDS])
{
    unsigned n = warned(where);
    if (n > WARNINGS_OF_ONE_PLACE)
        return;
    fprintf(t->out, "hpcview: warning: %s: ", where);
    if (what == 'E')
        fprintf(t->out, "episode %s had a barrier time of %.0f ms; %s came last\n", fields[6], ms(fields[9]),
                fields[10]);
    else if (what == 'P')
        fprintf(t->out, "%s waited for %.0f ms\n", fields[10], ms(fields[9]));
    else
        fprintf(t->out, "%s has waited for %.0f ms, and waits on\n", fields[10], ms(fields[9]));
    if (n == WARNINGS_OF_ONE_PLACE)
        fprintf(t->out, "hpcview: warning: %s: of further ones there is no word\n", where);
}

/* Of an episode by its threads, or of one rank's passage: ranks do not know of each other while they run. */
static void say(const struct told *t, char what, const char *where, char *fields[FIELDS])
{
    if (what == 'E')
        fprintf(t->out, "hpcview: %s: episode %s, %s threads: phase %.3f ms, barrier %.3f ms, %s last\n", where,
                fields[6], fields[7], ms(fields[8]), ms(fields[9]), fields[10]);
    else
        fprintf(t->out, "hpcview: %s: collective %s of %s ranks: %s worked %.3f ms, waited %.3f ms\n", where, fields[6],
                fields[7], fields[10], ms(fields[8]), ms(fields[9]));
}

void told_line(void *ctx, char *line)
{
    const struct told *t = ctx;
    char *fields[FIELDS];
    if (!split(line, fields))
        return;
    const char *place = lines_of(fields[4], strtoull(fields[5], NULL, 10));
    char *where = mem_printf("%s%s%s (%s)", fields[3], *fields[3] ? " at " : "", place, fields[2]);
    char what = *fields[0];
    if ((what == 'E' || what == 'P') && is_watched(t, fields[3], place))
        say(t, what, where, fields);
    if (*fields[1] == '1')
        warn(t, what, where, fields);
    fflush(t->out);
    mem_free(where);
}
