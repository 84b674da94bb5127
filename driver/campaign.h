/* Runs that a configuration describes, for `hpcview run CONFIG.xml`. */
#ifndef DRIVER_CAMPAIGN_H
#define DRIVER_CAMPAIGN_H

#include "driver/driver.h"
#include "metrics/metrics.h"

/* Measures the runs that have a command, are for this machine, and are not there (`again`: all), saying on standard error
   how far it is; what fails is said too, and sets *failed. Runs that are not there in the end are left out of the
   configuration; -1: there is none left. */
int campaign_run(struct session *, struct config *, bool again, bool *failed);
/* The same of runs that are not measured yet; `planned`: of those that have a command alone. */
int campaign_leave_out(struct session *, struct config *, bool planned);

#endif
