/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of barriers, declared once: the recorder writes them (hpcprof/recorder/barriers/write.c), phases_finish
 * fills the columns that need the whole measurement. Times of episodes are ns since 1970; terms as in SBT (2002):
 *
 *     thread 0   ----a1..........|release         a1 <= ... <= an: arrivals
 *     thread 1   ---------an.....|                barrier time an - a1, idle the sum of (an - ai), overhead release - an
 *                ^ phase begins: an of the barrier before; phase time an - that
 */
#ifndef PHASES_TABLES_H
#define PHASES_TABLES_H

#include "support/table.h"

enum phases_table {
    PHASES_BARRIERS,
    PHASES_THREADS,
    PHASES_WAITS_FOR,
    PHASES_TIMES,
    PHASES_PHASES,
    PHASES_EPISODES,
    PHASES_ARRIVALS,
    PHASES_WAITS,
    PHASES_PASSAGES,
    PHASES_STATES,
    PHASES_RECORDED, /* by the recorder; the others are made while measurements are read */
    PHASES_SAMPLES = PHASES_RECORDED,
    PHASES_PLACES,
    PHASES_TABLES
};

static const struct table_column phases_barrier_columns[] = {
    {.name = "place", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "number", .type = TABLE_COUNT, .merge = TABLE_MIN, .description = "in order of first use"},
    {.name = "episodes", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "passages", .type = TABLE_COUNT, .merge = TABLE_SUM, .description = "of single threads"},
    {.name = "threads", .type = TABLE_COUNT, .merge = TABLE_MAX, .description = "largest number of participants"},
    {.name = "phase",
     .title = "phase time",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "from the last arrival at the previous barrier to the last arrival here"},
    {.name = "barrier",
     .title = "barrier time",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "last arrival minus first arrival"},
    {.name = "idle",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "total time that threads waited for the last"},
    {.name = "overhead",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "from the last arrival to the first departure"},
    {.name = "worst", .title = "longest barrier time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_MAX},
    {.name = "best", .title = "shortest barrier time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_MIN},
    {.name = "longest_phase", .title = "longest phase", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_MAX},
    {.name = "shortest_phase", .title = "shortest phase", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_MIN},
    {.name = "squares",
     .title = "squared barrier times",
     .unit = "ms2",
     .type = TABLE_NUMBER,
     .merge = TABLE_SUM,
     .description = "sum of squares, for the standard deviation"},
    {.name = "broken",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "incomplete episodes: a thread ended inside, or the team was cancelled"},
    {.name = "first", .type = TABLE_TIME, .merge = TABLE_MIN, .description = "first arrival"},
    {.name = "last", .type = TABLE_TIME, .merge = TABLE_MAX, .description = "last arrival"},
    {.name = "after",
     .title = "region after it",
     .type = TABLE_REF,
     .refers = "region",
     .merge = TABLE_LAST,
     .description = "region of the samples between this barrier and the next"},
    {.name = "mean", .title = "mean barrier time", .unit = "ns", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "deviation", .unit = "ns", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "share",
     .title = "barrier of phase",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "barrier time as a share of the phase time"},
    {.name = "imbalance",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_LAST,
     .description = "idle time as a share of all threads' phase time"},
    {.name = "last_thread", .title = "most often last", .type = TABLE_REF, .refers = "thread", .merge = TABLE_LAST},
    {.name = "last_share", .title = "share of episodes", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "participants",
     .type = TABLE_COUNT,
     .merge = TABLE_LAST,
     .description = "threads of all processes that came here at all"},
};

static const struct table_column phases_thread_columns[] = {
    {.name = "barrier", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_KEY},
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "arrivals", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "last", .title = "was last", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "waited", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "busy",
     .title = "until it arrived",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "from the start of the phase to its arrival"},
};

static const struct table_column phases_waits_for_columns[] = {
    {.name = "waiter", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "thread", .title = "for", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "episodes", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "waited", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
};

static const struct table_column phases_time_columns[] = {
    {.name = "barrier", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_KEY},
    {.name = "least",
     .title = "barrier time from",
     .unit = "ns",
     .type = TABLE_COUNT,
     .merge = TABLE_KEY,
     .description = "up to twice as much"},
    {.name = "episodes", .type = TABLE_COUNT, .merge = TABLE_SUM},
};

static const struct table_column phases_phase_columns[] = {
    {.name = "ended", .title = "ended by", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_KEY},
    {.name = "begun", .title = "started by", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_KEY},
    {.name = "episodes", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "phase", .title = "phase time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "barrier", .title = "barrier time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
};

static const struct table_column phases_episode_columns[] = {
    {.name = "barrier", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_LAST},
    {.name = "number", .type = TABLE_COUNT, .merge = TABLE_LAST, .description = "of the barrier's episodes, from 1"},
    {.name = "begin", .title = "phase start", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "first", .title = "first arrival", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "last", .title = "last arrival", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "release", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "phase", .title = "phase time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "barrier_time", .title = "barrier time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "idle", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "threads", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "last_thread", .title = "last thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_LAST},
};

static const struct table_column phases_arrival_columns[] = {
    {.name = "episode", .type = TABLE_REF, .refers = "episodes", .merge = TABLE_LAST},
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_LAST},
    {.name = "order", .type = TABLE_COUNT, .merge = TABLE_LAST, .description = "1: first arrival"},
    {.name = "arrived", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "waited", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_LAST},
};

static const struct table_column phases_wait_columns[] = {
    {.name = "place", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "times", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "waited", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "worst", .title = "longest", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_MAX},
};

static const struct table_column phases_passage_columns[] = {
    {.name = "barrier", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_LAST},
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_LAST},
    {.name = "from", .title = "started by", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_LAST},
    {.name = "group", .title = "communicator", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "ranks", .type = TABLE_COUNT, .merge = TABLE_LAST},
    {.name = "number", .type = TABLE_COUNT, .merge = TABLE_LAST, .description = "of the communicator's collectives"},
    {.name = "begin", .title = "phase start", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "arrived", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "left", .type = TABLE_TIME, .merge = TABLE_LAST},
};

static const struct table_column phases_state_columns[] = {
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "state", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "since", .type = TABLE_TIME, .merge = TABLE_LAST},
    {.name = "place", .title = "last seen at", .type = TABLE_REF, .refers = "context", .merge = TABLE_LAST},
    {.name = "barrier",
     .title = "at or after the barrier",
     .type = TABLE_REF,
     .refers = "barriers",
     .merge = TABLE_LAST},
    {.name = "passed", .title = "barriers passed", .type = TABLE_COUNT, .merge = TABLE_LAST},
};

/* A phase is known by the barrier that began it while it runs; which one will end it is not, and is the one that did most
   often. */
#define PHASES_OF_PHASE                                                                                                \
    {.name = "begun", .title = "started by", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_KEY},             \
    {                                                                                                                  \
        .name = "ended", .title = "ended by", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_LAST,            \
        .description = "most often"                                                                                    \
    }

static const struct table_column phases_sample_columns[] = {
    PHASES_OF_PHASE,
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "event", .type = TABLE_REF, .refers = "event", .merge = TABLE_KEY},
    {.name = "samples", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "value",
     .type = TABLE_COUNT,
     .merge = TABLE_SUM,
     .description = "samples times period of the thread in this phase, including the wait at its end"},
};

static const struct table_column phases_place_columns[] = {
    PHASES_OF_PHASE,
    {.name = "place", .title = "loop or procedure", .type = TABLE_REF, .refers = "context.loop", .merge = TABLE_KEY},
    {.name = "event", .type = TABLE_REF, .refers = "event", .merge = TABLE_KEY},
    {.name = "samples", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "value", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "share",
     .title = "of the phase",
     .unit = "%",
     .type = TABLE_NUMBER,
     .merge = TABLE_SUM,
     .description = "relative to the counts of all threads in the phase"},
};

#define PHASES_COLUMNS(array) array, sizeof array / sizeof *array
/* In the order of enum phases_table; a table comes after those it refers to. */
static const struct table_decl phases_tables[PHASES_TABLES] = {
    {"barriers", "Barriers", "phases and the barriers that end them, one row for each place",
     PHASES_COLUMNS(phases_barrier_columns)},
    {"barrier_threads", "Threads at barriers", "arrivals of each thread at each barrier",
     PHASES_COLUMNS(phases_thread_columns)},
    {"waits_for", "Waiting by last thread", "time that threads waited at barriers, by the last thread",
     PHASES_COLUMNS(phases_waits_for_columns)},
    {"barrier_times", "Barrier times", "histogram of barrier times", PHASES_COLUMNS(phases_time_columns)},
    {"phases", "Phases", "by the barriers before and after", PHASES_COLUMNS(phases_phase_columns)},
    {"episodes", "Episodes", "single episodes of barriers: the longest of each, and a sample of the rest",
     PHASES_COLUMNS(phases_episode_columns)},
    {"arrivals", "Arrivals", "arrivals in the recorded episodes", PHASES_COLUMNS(phases_arrival_columns)},
    {"waits", "Waits", "waits for locks, conditions, threads and messages, by place",
     PHASES_COLUMNS(phases_wait_columns)},
    {"passages", "Collectives by rank", "single MPI collectives of each rank", PHASES_COLUMNS(phases_passage_columns)},
    {"thread_states", "Threads' states", "state of each thread when the measurement was last written",
     PHASES_COLUMNS(phases_state_columns)},
    {"phase_samples", "Samples in phases", "counts of each thread in each phase",
     PHASES_COLUMNS(phases_sample_columns)},
    {"phase_loops", "Loops in phases", "time in each phase, by innermost loop", PHASES_COLUMNS(phases_place_columns)},
};

/* The region of samples taken after barrier N: this and N. */
#define PHASES_REGION "after barrier "

#endif
