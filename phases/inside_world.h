/* Put in front of what these tests are made of: the clock is the test's own. */
#ifndef PHASES_INSIDE_WORLD_H
#define PHASES_INSIDE_WORLD_H

#include <time.h>

int world_clock_gettime(clockid_t, struct timespec *);
#define clock_gettime world_clock_gettime

#endif
