/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that make columns: columns.c, which makes them, and the needs of each kind of
   column. */
#ifndef METRICS_INGEST_COLUMNS_INT_H
#define METRICS_INGEST_COLUMNS_INT_H

#include "metrics/ingest/ingest.h"

struct run_event {        /* an event of a run, in any measurement of the run */
    uint32_t run, number; /* number: its place in the run's first measurement that has it */
    str_id name, description, unit;
    str_id said; /* display name; in full if it would be ambiguous */
    uint64_t period;
    unsigned flags;
};

struct maker {
    const struct config *config;
    const struct input *inputs;
    size_t input_count;
    struct strtab *strings;
    struct columns *columns;
    struct VEC(struct run_event) events;
    struct VEC(const char *) failed; /* names of metrics that have an error: formulas with them do not report a
                                        second one */
    struct err_gathered errors;
    struct err *err;
};

/* columns_measured.c */
void columns_collect_events(struct maker *m);
const char *columns_short_event(const char *event);
void columns_name_events(struct maker *m);
bool columns_event_is(const struct maker *m, const struct run_event *e, const char *name);
str_id columns_name_in_run(struct maker *m, uint32_t run, const char *name);
uint32_t columns_add_measured(struct maker *m, str_id name, const struct run_event *e, const char *where);
int columns_add_every_event(struct maker *m);
void columns_take_settings(struct maker *m, uint32_t column, const struct config_metric *given, str_id display_name);
int columns_take_metric(struct maker *m, const struct config_metric *given, str_id name);
int columns_add_configured(struct maker *m, const struct config_metric *given);

/* columns_statistics.c */
uint32_t columns_add_statistic(struct maker *m, str_id name, enum statistic which, uint32_t base,
                               enum statistic_over over);
uint32_t columns_operand_statistic(struct maker *m, const char *name, uint32_t run);
void columns_add_every_statistic(struct maker *m, enum statistic_over over);
uint32_t columns_statistic(struct maker *m, const struct expr_operand *o, uint32_t run);
void columns_add_wanted(struct maker *m);

/* columns_computed.c */
uint32_t columns_operand(struct maker *m, const char *name, uint32_t run);
int columns_add_computed_in(struct maker *m, const struct config_metric *given, uint32_t run);
bool columns_need_failed(const struct maker *m, const struct expr *expr);
int columns_add_computed(struct maker *m, const struct config_metric *given);
size_t columns_add_block(struct maker *m, const char *name);
int columns_add_named_block(struct maker *m, const struct config_metric *given, struct warnings *warnings);

/* columns_compared.c */
void columns_add_spreads(struct maker *m);
void columns_add_comparisons(struct maker *m, struct warnings *warnings);

/* columns_of_loops.c */
uint32_t columns_operand_loop_property(struct maker *m, const char *name);
int columns_add_loop_properties(struct maker *m);

#endif
