/* Experiments from drawings, for tests: see drawing.c. */
#ifndef DIAGNOSE_DRAWING_H
#define DIAGNOSE_DRAWING_H

#include "diagnose/diagnose.h"

/* Ends the program with a sentence where the drawing makes no sense. */
struct experiment *drawing_read(const char *text, const char *where);

#endif
