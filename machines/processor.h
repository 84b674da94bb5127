/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processor this machine has, and of which processors a machine file is. */
#ifndef MACHINES_PROCESSOR_H
#define MACHINES_PROCESSOR_H

#include "support/support.h"

struct machine_processors { /* of a machine file */
    char vendor[32];        /* vendor_id, or "CPU implementer" */
    char models[256];       /* x86-64: "25/16-31 25/96": families and models; "": never this machine's */
    char part[32];          /* AArch64: "CPU part" */
    char features[256];     /* words that must all be there */
    char without[128];      /* and none of these: whose model number belies them is another processor */
};

struct processor {
    char *vendor, *model_name;   /* "" if unknown */
    char *features;              /* words */
    char *part;                  /* of AArch64 */
    unsigned family, model;      /* of x86-64 */
    bool has_model, has_several; /* has_several: cores of different parts */
};

int processor_read(const char *cpuinfo, struct processor *, struct err *);
void processor_release(struct processor *);
bool processor_has(const struct processor *, const char *feature);
bool processor_is_one_of(const struct processor *, const struct machine_processors *, bool aarch64);
/* "GenuineIntel, family 6, model 189 (Intel(R) ...)", for messages. */
char *processor_name(const struct processor *);

#endif
