/*
 * What `build`, `print` and `init` have in common: operands and options that become a configuration.
 */
#ifndef DRIVER_WANTED_H
#define DRIVER_WANTED_H

#include "driver/driver.h"
#include "metrics/metrics.h"

/* Rows -m, -S, -I, --replace, --title, --debug-dir, -j: what a configuration file can say too. */
extern const struct option_row wanted_rows[];

/* The configuration of the operands (one CONFIG.xml, or measurements) and the options; `command` for messages. The options' strings are
   argv's; call once. */
int wanted_config(struct session *, const char *command, int argc, char **argv, struct config **);

#endif
