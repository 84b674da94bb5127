/* Experiments made by hand, for the tests of htmlgen and of the page. */
#ifndef HTMLGEN_SAMPLE_H
#define HTMLGEN_SAMPLE_H

#include "metrics/metrics.h"

/* A small program as one would measure it: loops in several instances, inlined calls, a module without debug
   information, a file that was not found, cells without data, a ratio. Writes its source files into the folder `dir`.
 */
struct experiment *sample_heat(const char *dir);
/* The same with a tree of calls and a table of findings. */
struct experiment *sample_facts(const char *dir);
/* The same with what a simulated memory hierarchy says of two of its lines. */
struct experiment *sample_memory(const char *dir);
/* The first example with barriers of two threads and the machine code of a loop. */
struct experiment *sample_waits(const char *dir);
/* Two runs of one program, of which one line got slower, one is new, one is gone and one as it was. */
struct experiment *sample_two_runs(const char *dir);
/* The same kind of thing with names and text that try to become markup or script. */
struct experiment *sample_hostile(const char *dir);
/* About `places` places and `metrics` metrics, made from a fixed seed. Has no source text. */
struct experiment *sample_large(size_t places, size_t metrics);
/* A program in which nothing was measured; or not even that. */
struct experiment *sample_empty(bool with_program);

#endif
