/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare - two programs run in turn until it is known whether one is slower, and which loops and functions changed.
 *
 * Knows:    pairs of runs, their statistics, the experiment of all runs, reports for people and code hosts.
 * Does not: start programs (compare_options.run does); options.
 *
 * A pair is a run of the base and a run of the new program, one after the other, in alternating order (A B B A ...): what
 * the machine does meanwhile meets both. Pairs are the units of all statistics, never samples. After some pairs, fewer and
 * fewer of them, the confidence interval of the difference is compared with the threshold; each such look has its share
 * of the 5% of error that all looks together may have.
 *
 * Memory:   a comparison owns its lists.
 * Errors:   a program that fails more often than compare_options.failures.
 * Threads:  none.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "metrics/metrics.h"

enum compare_clock { COMPARE_CPU, COMPARE_WALL, COMPARE_CLOCKS };
enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_SIDES };

struct compare_run {
    double seconds[COMPARE_CLOCKS];
    bool failed; /* the program did; `seconds` is not looked at */
};
struct compare_options {
    double threshold;         /* what matters: 0.02 is 2% */
    enum compare_clock clock; /* that decides */
    unsigned warm_up, most;   /* pairs */
    unsigned failures;        /* runs that may fail */
    double limit;             /* seconds, for everything; 0: none */
    /* Runs one side; `number` counts its runs from 1, 0 is for warming up. -1: it cannot be run at all. */
    int (*run)(void *ctx, enum compare_side, unsigned number, struct compare_run *, struct err *);
    double (*now)(void *ctx);                                 /* seconds */
    void (*report)(void *ctx, unsigned pairs, unsigned most); /* after each pair; may be NULL */
    void *ctx;
};

struct compare_interval { /* mean and 95% interval, over pairs */
    double mean, low, high;
    double spread; /* the standard deviation of one pair */
};
enum compare_verdict { COMPARE_NOT_WORSE, COMPARE_WORSE, COMPARE_UNKNOWN };

struct compare_scope { /* a loop or function, all its copies together */
    place_ix place;
    double seconds[COMPARE_SIDES];      /* mean of a run */
    struct compare_interval difference; /* of seconds */
    double p;
    bool changed; /* with at most 5% of false discoveries among those that are said to have */
};

struct comparison {
    struct VEC(struct compare_pair { struct compare_run side[COMPARE_SIDES]; }) pairs;
    struct compare_interval difference[COMPARE_CLOCKS]; /* of the program, relative to the base */
    enum compare_verdict verdict;
    unsigned failed, looks; /* looks: how many there may be */
    bool out_of_time;
    struct VEC(struct compare_scope) scopes; /* with a share of the time that counts, the largest change first */
};
void comparison_release(struct comparison *);

/* ---- statistics.c -------------------------------------------------------------------------------- */

#define COMPARE_ERROR 0.05 /* of all that is said of one comparison */

/* Student's t: the probability that |t| is at least so large, and the t that is exceeded with probability p. */
double compare_t_probability(double t, unsigned freedom);
double compare_t_quantile(double p, unsigned freedom);
/* Of n values, at the error `alpha`. n < 2: the interval has no limits. */
struct compare_interval compare_interval_of(const double *values, size_t n, double alpha);
/* Is the difference looked at after so many pairs of `most`? How often in all? */
bool compare_looks_after(unsigned pairs, unsigned most);
unsigned compare_look_count(unsigned most);
/* Benjamini and Hochberg: which of the hypotheses may be rejected so that a share q of these is wrong at most. */
void compare_discoveries(const double *p, size_t n, double q, bool *rejected);

/* ---- pairs.c ------------------------------------------------------------------------------------- */

/* Runs pairs until the difference is known to be above or below the threshold, or the limit is reached. */
int compare_measure(const struct compare_options *, struct comparison *, struct err *);
/* The pairs after which it would be known with this spread; 0: never, the difference is the threshold. */
double compare_pairs_needed(const struct comparison *, const struct compare_options *);

/* ---- scopes.c ------------------------------------------------------------------------------------ */

/* Loops and functions of the experiment, whose runs are base and new of each pair in turn. */
void compare_find_scopes(const struct experiment *, struct comparison *);

/* ---- report.c ------------------------------------------------------------------------------------ */

enum compare_format { COMPARE_TEXT, COMPARE_MARKDOWN, COMPARE_JSON, COMPARE_JUNIT, COMPARE_SARIF };
int compare_format_parse(const char *word, enum compare_format *, struct err *);
struct compare_report {
    const char *name[COMPARE_SIDES]; /* commands */
    const char *machine;             /* "2 processors, load 3.4, not pinned" */
    const struct compare_options *options;
    const struct experiment *experiment;
    const struct comparison *comparison;
};
void compare_write(const struct compare_report *, enum compare_format, struct outfile *);

#endif
