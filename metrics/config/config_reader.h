/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that read a configuration: its elements, and the reader's position. */
#ifndef METRICS_CONFIG_READER_H
#define METRICS_CONFIG_READER_H

#include "metrics/config/config.h"

/* One format of configuration: elements, their parents, their attributes. */
struct config_reader;
struct config_element {
    const char *name, *parent; /* parent NULL: the root */
    const char *attributes;    /* names, a blank between; required ones end in '!' */
    bool text;                 /* may hold text */
    int (*begin)(struct config_reader *, const struct xml_event *, struct err *);
    int (*end)(struct config_reader *, const struct xml_event *, struct err *);
};
extern const struct config_element config_elements[];          /* ours; the last row has a NULL name */
extern const struct config_element config_elements_hpcview3[]; /* the original HPCVIEW's */

struct mathml;
struct config_reader {
    struct config *config;
    const char *name, *folder; /* of the file */
    const struct config_element *elements;
    struct VEC(const struct config_element *) open;
    struct mathml *math; /* of the formula that is being read, or NULL */
    bool in_math;
    struct config_metric metric; /* the one being read */
    bool has_body;               /* it has a FILE, COMPUTE or formula already */
    struct warnings *warnings;
    uint64_t line;
    struct err_gathered errors;
    const char *part;   /* the name of the metric that is being read, as far as it has one */
    bool part_has_runs; /* the current element may be a run, or name one */
    size_t depth,
        failed; /* of open elements; failed: elements this deep or deeper are skipped, until this one ends. 0: no */
};
const char *config_where(struct config_reader *, uint64_t line);
/* <replace> and <REPLACE>: the same attributes in both formats. */
int config_begin_replace(struct config_reader *, const struct xml_event *, struct err *);
const char *config_path(struct config_reader *, const char *path); /* relative to the configuration file */
int config_flag(struct config_reader *, const struct xml_event *, const char *attribute, uint8_t *choice, struct err *);
/* The attribute or "". */
const char *config_attribute(struct config_reader *, const struct xml_event *, const char *name);
/* Begins r->metric; display_name and sort: names of these attributes in this form of the file. */
int config_begin_metric(struct config_reader *, const struct xml_event *, const char *display_name, const char *sort,
                        struct err *);
int config_finish_hpcview3(struct config_reader *, struct err *);
/* Takes the formula in infix for the metric being read. */
int config_take_formula(struct config_reader *, const char *formula, uint64_t line, struct err *);

/* config_read.c */
bool config_is_blank(const char *text);

/* config.c */
int config_add_block_at(struct config *c, const char *name, const char *where, struct err *err);

#endif
