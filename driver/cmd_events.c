/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview events: events that can be sampled here, and their default periods. */
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"
#include "metrics/metrics.h"

#include <stdio.h>

static struct settings {
    bool all, blocks;
} opt;

static const struct option_row rows[] = {
    {"metrics", 0, OPT_FLAG, offsetof(struct settings, blocks), NULL,
     "list the metric blocks, and the events with which each is measured here"},
    {"all", 'a', OPT_FLAG, offsetof(struct settings, all), NULL,
     "also list events that do not work here, with the reason"},
    {0},
};

struct listing {
    size_t shown;
};

/* The first sentence of a description is enough for a list. */
static int first_sentence(const char *text)
{
    size_t n = strcspn(text, "\n");
    const char *stop = strstr(text, ". ");
    if (stop && (size_t)(stop - text) < n)
        n = (size_t)(stop - text);
    return n > 90 ? 90 : (int)n;
}

static const char *ways(unsigned ways)
{
    return ways == (HPCPROF_BY_RING | HPCPROF_BY_PAPI) ? "ring, papi"
           : ways == HPCPROF_BY_RING                   ? "ring"
           : ways == HPCPROF_BY_PAPI                   ? "papi"
           : ways                                      ? "timer"
                                                       : "";
}

static void show(void *ctx, const struct hpcprof_event_info *e)
{
    struct listing *l = ctx;
    if (l->shown++ == 0)
        printf("%-28s %12s %-12s %-10s %s\n", "EVENT", "PERIOD", "UNIT", "SAMPLER", "DESCRIPTION");
    printf("%-28s %12llu %-12s %-10s %.*s\n", e->name, (unsigned long long)e->default_period, e->unit, ways(e->ways),
           first_sentence(e->description), e->description);
    if (e->why_not)
        printf("%-28s not here: %s\n", "", e->why_not);
}

static void add_usable(void *ctx, const struct hpcprof_event_info *e)
{
    struct text_list *u = ctx;
    if (!e->why_not)
        *vec_push(u) = mem_strdup(e->name);
}

static void show_event(void *ctx, const char *event)
{
    (void)ctx;
    printf(" %s", event);
}

/* Each block, and the events it would measure. */
static int list_blocks(struct err *err)
{
    struct text_list usable = {0};
    struct blocks *b = NULL;
    char *folder = driver_share_path("metrics");
    int status = blocks_read(folder, &b, err);
    if (status == 0)
        status = hpcprof_list_events(false, NULL, add_usable, &usable, err);
    *vec_push(&usable) = NULL;
    for (size_t i = 0; status == 0 && i < blocks_count(b); i++) {
        struct err why = {0};
        printf("%-14s %s\n%14s", blocks_name(b, i), blocks_title(b, i), "");
        if (blocks_events(b, blocks_name(b, i), (const char *const *)usable.items, show_event, NULL, &why) < 0)
            printf(" not here");
        printf("\n");
    }
    text_list_release(&usable);
    blocks_free(b);
    mem_free(folder);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    struct listing l = {0};
    if (opt.blocks && argc)
        return err_set(&s->err, ERR_USAGE, "events: --metrics lists all metric blocks and takes no pattern");
    if (opt.blocks)
        return list_blocks(&s->err);
    if (argc > 1)
        return err_set(&s->err, ERR_USAGE, "events: more than one pattern: '%s' and '%s'", argv[0], argv[1]);
    if (hpcprof_list_events(opt.all, argv[0], show, &l, &s->err) < 0)
        return -1;
    if (l.shown == 0)
        return err_set(&s->err, ERR_UNSUPPORTED, "no event%s%s%s works here%s", argv[0] ? " that matches '" : "",
                       argv[0] ? argv[0] : "", argv[0] ? "'" : "",
                       opt.all ? "" : "; --all lists the others too, with the reason");
    return 0;
}

static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

const struct command command_events = {
    .name = "events",
    .synopsis = "[--all] [PATTERN] | --metrics",
    .summary = "list the events that can be sampled on this machine",
    .options = tables,
    .run = run,
};
