/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembly of scopes from hand-made graphs, line rows and inlined calls.
 *
 * A case is a drawing: blocks "begin-end:last_kind>successor,successor", rows "addr line[:column][!][@]" (! starts no
 * statement, @ is of another file; line 0 is compiler-generated), inlined calls "name parent call_line decl_line
 * begin-end". Addresses are hexadecimal below 0x100, the function is [0,0x100). The result is the tree on one line:
 * P{...}, I name@call{...}, L first-last{...}, S line[begin-end].
 */
#include "config.h"
#include "bloop/assemble/assemble_int.h"
#include "tests/fixtures/code_image.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#undef vec_grow_

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

struct drawing {
    const char *name, *blocks, *rows, *inlines, *want;
};

static const struct drawing drawings[] = {
    {"no debug information: loops without lines", "00-10:p>1 10-20:b>2,1 20-30:r", NULL, NULL, "P 0-0{L 0-0{}}"},

    {"for, condition at the top", "00-10:p>1 10-20:b>2,3 20-30:j>1 30-40:r", "00 5 10 6 20 7 28 6 30 9", NULL,
     "P 5-9{S 5[0-10]L 6-7{S 6[10-20][28-30]S 7[20-28]}S 9[30-40]}"},

    {"for, rotated: the body first", "00-10:b>1,2 10-20:b>2,1 20-30:r", "00 5 08 6 10 7 18 6 20 9", NULL,
     "P 5-9{S 5[0-8]S 6[8-10]L 6-7{S 7[10-18]S 6[18-20]}S 9[20-30]}"},

    {"an early exit further down does not give the line", "00-10:p>1 10-20:b>2,4 20-30:b>3,4 30-40:j>1 40-50:r",
     "00 5 10 6 20 7 30 8 38 6 40 9", NULL, "P 5-9{S 5[0-10]L 6-8{S 6[10-20][38-40]S 7[20-30]S 8[30-38]}S 9[40-50]}"},

    {"do while: the body's first statement, not the condition", "00-10:p>1 10-20:b>2,1 20-30:r",
     "00 5 10 7 14 8 18 9 20 11", NULL, "P 5-11{S 5[0-10]L 7-9{S 7[10-14]S 8[14-18]S 9[18-20]}S 11[20-30]}"},

    {"for without end: the smallest statement", "00-10:p>1 10-20:j>1", "00 5 10 8 18 7", NULL,
     "P 5-8{S 5[0-10]L 7-8{S 8[10-18]S 7[18-20]}}"},

    {"a row from the block before says nothing", "00-10:b>1,2 10-20:b>2,1 20-30:r", "00 5 08 3 14 7 18 6 20 9", NULL,
     "P 5-9{S 5[0-8]S 3[8-10]L 6-7{S 3[10-14]S 7[14-18]S 6[18-20]}S 9[20-30]}"},

    {"a statement moved in from outside says nothing", "00-10:b>1,2 10-20:b>2,1 20-30:r",
     "00 5 04 3 08 6:7 10 3 14 7 18 6:7 20 9", NULL,
     "P 5-9{S 5[0-4]S 3[4-8]S 6[8-10]L 6-7{S 3[10-14]S 7[14-18]S 6[18-20]}S 9[20-30]}"},

    {"nor does it in front of a condition at the top", "00-10:p>1 10-20:b>2,3 20-30:j>1 30-40:r",
     "00 3 08 5 10 6 18 3 1c 6 20 7 28 6 30 9", NULL,
     "P 5-9{S 3[0-8]S 5[8-10]L 6-7{S 6[10-18][1c-20][28-30]S 3[18-1c]S 7[20-28]}S 9[30-40]}"},

    {"instructions of line 0 are in no statement", "00-10:b>1,2 10-20:b>2,1 20-30:r", "00 5 08 6 10 0 14 7 18 6 20 9",
     NULL, "P 5-9{S 5[0-8]S 6[8-10]L 6-7{S 7[14-18]S 6[18-20]}S 9[20-30]}"},

    {"a nest of two", "00-10:p>1 10-20:b>2,5 20-30:b>3,4 30-40:j>2 40-50:j>1 50-60:r",
     "00 5 10 6 20 7 30 8 38 7 40 9 48 6 50 10", NULL,
     "P 5-10{S 5[0-10]L 6-9{S 6[10-20][48-50]L 7-8{S 7[20-30][38-40]S 8[30-38]}S 9[40-48]}S 10[50-60]}"},

    {"a loop of an inlined callee is under the call", "00-10:p>1 10-20:b>2,1 20-30:r", "00 5 10 22 18 21 20 9",
     "g - 6 20 10-20", "P 5-9{S 5[0-10]I g@6{L 21-22{S 22[10-18]S 21[18-20]}}S 9[20-30]}"},

    {"a call inlined in a loop is under the loop", "00-10:p>1 10-20:b>2,1 20-30:r", "00 5 10 21 14 7 18 6 20 9",
     "g - 7 20 10-14", "P 5-9{S 5[0-10]L 6-7{I g@7{S 21[10-14]}S 7[14-18]S 6[18-20]}S 9[20-30]}"},

    {"loop, call, loop: in any alternation", "00-10:p>1 10-18:p>2 18-30:b>3,2 30-40:b>4,1 40-50:r",
     "00 5 10 7 18 22 20 21 30 6 40 9", "g - 7 20 18-30",
     "P 5-9{S 5[0-10]L 6-7{S 7[10-18]I g@7{L 21-22{S 22[18-20]S 21[20-30]}}S 6[30-40]}S 9[40-50]}"},

    {"the condition inlined, the body here: the loop is here", "00-10:p>1 10-20:b>2,3 20-30:j>1 30-40:r",
     "00 5 10 21 20 7 30 9", "operator!= - 6 20 10-20",
     "P 5-9{S 5[0-10]L 6-7{I operator!=@6{S 21[10-20]}S 7[20-30]}S 9[30-40]}"},

    {"a callee in a callee", "00-10:p>1 10-20:b>2,1 20-30:r", "00 5 10 32 18 31 20 9", "g - 6 20 10-20 h 0 21 30 10-20",
     "P 5-9{S 5[0-10]I g@6{I h@21{L 31-32{S 32[10-18]S 31[18-20]}}}S 9[20-30]}"},

    {"copies of a call by unrolling are one", "00-10:p>1 10-20:b>2,1 20-30:r", "00 5 10 21 14 21 18 6 20 9",
     "g - 7 20 10-14 g - 7 20 14-18", "P 5-9{S 5[0-10]L 6-7{I g@7{S 21[10-18]}S 6[18-20]}S 9[20-30]}"},

    {"two calls, of which one has no name", "00-20:p>1 20-30:r", "00 5 10 21 14 21 18 7 20 9",
     "g - 7 20 10-14 - - 8 20 14-18",
     "P 5-9{S 5[0-10]I g@7{S 21[10-14]}I (unnamed)@8{S 21[14-18]}S 7[18-20]S 9[20-30]}"},

    {"what was found of others goes with them", "00-20:p>1 20-30:r", "00 5 10 21 18 7 20 9", "- - 8 20 10-18",
     "P 5-9{S 5[0-10]I (unnamed)@8{S 21[10-18]}S 7[18-20]S 9[20-30]}"},

    {"copies of a loop are instances", "00-10:b>1,2 10-20:b>2,1 20-30:b>3,2 30-40:r", "00 6 10 7 18 6 20 7 28 6 30 9",
     NULL, "P 5-9{S 6[0-10]L 6-7 1/2{S 7[10-18]S 6[18-20]}L 6-7 2/2{S 7[20-28]S 6[28-30]}S 9[30-40]}"},

    {"a part that tests the whole loop's condition is not shown",
     "00-10:p>1 10-20:p>2 20-30:b>3,5 30-38:b>2,4 38-40:j>1 40-50:r", "00 5 10 7 20 6 30 8 38 7 40 9", NULL,
     "P 5-9{S 5[0-10]L 6-8{S 7[10-20][38-40]S 6[20-30]S 8[30-38]}S 9[40-50]}"},

    {"code of a caller in a callee's loop", "00-10:p>1 10-20:b>2,1 20-30:r", "00 5 10 22 14 6 18 21 20 9",
     "g - 6 20 10-14 g - 6 20 18-20", "P 5-9{S 5[0-10]I g@6{L 21-22{S 22[10-14]S 6[14-18]S 21[18-20]}}S 9[20-30]}"},

    {"entered at two places: what is a loop without one of them is a part",
     "00-10:b>1,2 10-18:j>3 18-20:p>3 20-28:b>4,5 28-30:b>1,2 30-40:r", "00 5 10 8 18 9 20 10 28 7 30 11", NULL,
     "P 5-11{S 5[0-10]L 7-10{S 8[10-18]S 9[18-20]S 10[20-28]S 7[28-30]}S 11[30-40]}"},

    {"the same, but with a first line of its own: a loop",
     "00-10:b>1,2 10-18:j>3 18-20:p>3 20-28:b>4,5 28-30:b>1,2 30-40:r", "00 5 10 6 18 9 20 10 28 8 30 11", NULL,
     "P 5-11{S 5[0-10]L 6-10{S 6[10-18]L 8-10{S 9[18-20]S 10[20-28]S 8[28-30]}}S 11[30-40]}"},

    {"what is set up for a statement behind the loop does not end it", "00-10:b>1,2 10-20:b>2,1 20-30:r",
     "00 5 08 6 10 7 14 9! 18 6 20 9", NULL, "P 5-9{S 5[0-8]S 6[8-10]L 6-7{S 7[10-14]S 9[14-18]S 6[18-20]}S 9[20-30]}"},

    {"a line that has no statement anywhere may end it", "00-10:b>1,2 10-20:b>2,1 20-30:r",
     "00 5 08 6 10 7 14 8! 18 6 20 9", NULL, "P 5-9{S 5[0-8]S 6[8-10]L 6-8{S 7[10-14]S 8[14-18]S 6[18-20]}S 9[20-30]}"},

    {"unless it is all there is", "00-10:b>1,2 10-20:b>2,1 20-30:r", "00 5 04 7 08 6 10 7:2! 18 6 20 9", NULL,
     "P 5-9{S 5[0-4]S 7[4-8]S 6[8-10]L 6-7{S 7[10-18]S 6[18-20]}S 9[20-30]}"},

    {"a part behind the return has its row: it does not end a loop on one line",
     "00-10:p>1 10-20:b>2,4 20-30:b>3,1 30-40:r 40-50:j>2", "00 5:3 10 6:3 30 9:1! 40 9:1!", NULL,
     "P 5-9{S 5[0-10]L 6-6{S 6[10-30]S 9[40-50]}S 9[30-40]}"},

    {"two loops beside each other on one line, by their columns: no copies", /* for (; 10; 15) 20; for (; 30; 35) 40; */
     "00-10:p>1 10-20:b>2,1 20-30:b>3,2 30-40:r", "00 5 10 8:20 14 8:15 18 8:10 20 8:40 24 8:35 28 8:30 30 9", NULL,
     "P 5-9{S 5[0-10]L 8-8 #1{S 8[10-20]}L 8-8 #2{S 8[20-30]}S 9[30-40]}"},

    {"of two such, the first in two copies, one without its condition",
     "00-10:p>1 10-20:b>2,1 20-30:b>3,2 30-40:b>4,3 40-50:r",
     "00 5 10 8:20 18 8:10 20 8:20 28 8:15 30 8:40 38 8:30 40 9", NULL,
     "P 5-9{S 5[0-10]L 8-8 1/2 #1{S 8[10-20]}L 8-8 2/2 #1{S 8[20-30]}L 8-8 #2{S 8[30-40]}S 9[40-50]}"},

    {"two on one line, with one in each",
     "00-10:p>1 10-20:p>2 20-30:b>3,2 30-40:b>4,1 40-50:p>5 50-60:b>6,5 60-70:b>7,4 70-80:r",
     "00 5 10 8:15 20 8:30 28 8:20 30 8:10 40 8:55 50 8:70 58 8:60 60 8:50 70 9", NULL,
     "P 5-9{S 5[0-10]L 8-8 #1{S 8[10-20][30-40]L 8-8 #1{S 8[20-30]}}L 8-8 #2{S 8[40-50][60-70]L 8-8 #2{S 8[50-60]}}S "
     "9[70-80]}"},

    {"without columns they are copies", "00-10:p>1 10-20:b>2,1 20-30:b>3,2 30-40:r", "00 5 10 8:0 20 8:0 30 9", NULL,
     "P 5-9{S 5[0-10]L 8-8 1/2{S 8[10-20]}L 8-8 2/2{S 8[20-30]}S 9[30-40]}"},

    {"with one column for all they are copies", "00-10:p>1 10-20:b>2,1 20-30:b>3,2 30-40:r", "00 5 10 8:4 20 8:9 30 9",
     NULL, "P 5-9{S 5[0-10]L 8-8 1/2{S 8[10-20]}L 8-8 2/2{S 8[20-30]}S 9[30-40]}"},

    {"two calls in a loop and nothing else: it is where both are called", "00-10:p>1 10-20:p>2 20-30:b>3,1 30-40:r",
     "00 5 10 21 20 31 30 9", "g - 6 20 10-20 h - 7 30 20-30",
     "P 5-9{S 5[0-10]L 6-7{I g@6{S 21[10-20]}I h@7{S 31[20-30]}}S 9[30-40]}"},

    {"the same in a callee", "00-10:p>1 10-20:p>2 20-30:b>3,1 30-40:r", "00 5 10 31 20 41 30 9",
     "g - 6 20 10-30 h 0 21 30 10-20 k 0 22 40 20-30",
     "P 5-9{S 5[0-10]I g@6{L 21-22{I h@21{S 31[10-20]}I k@22{S 41[20-30]}}}S 9[30-40]}"},

    {"two loops in it, each in a call of its own", "00-10:p>1 10-18:p>2 18-20:b>3,2 20-30:b>4,3 30-40:b>5,1 40-50:r",
     "00 5 10 0 18 21 20 31 30 0 40 9", "g - 6 20 18-20 h - 7 30 20-30",
     "P 5-9{S 5[0-10]L 6-7{I g@6{L 21-21{S 21[18-20]}}I h@7{L 31-31{S 31[20-30]}}}S 9[40-50]}"},

    {"two loops in it, both in one call", "00-10:p>1 10-18:p>2 18-20:b>3,2 20-30:b>4,3 30-40:b>5,1 40-50:r",
     "00 5 10 0 18 21 20 24 30 0 40 9", "g - 6 20 18-30",
     "P 5-9{S 5[0-10]I g@6{L 21-24{L 21-21{S 21[18-20]}L 24-24{S 24[20-30]}}}S 9[40-50]}"},

    {"a loop without a condition begins at the mark in front of its first", "00-10:p>1 10-20:j>1",
     "00 5 10 7:5 10 9:9 14 10:9", NULL, "P 5-10{S 5[0-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"not where a loop in front was unrolled: marks of its rounds have marks between", "00-10:p>1 10-20:j>1",
     "00 5 04 7:5 08 8:9 08 7:5 10 7:5 10 9:9 14 10:9", NULL, "P 5-10{S 5[0-4]S 7[4-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"what has no mark is not between", "00-10:p>1 10-20:j>1", "00 5 04 7:5 08 8:9! 08 7:5 10 7:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"nor is a mark of another file", "00-10:p>1 10-20:j>1", "00 5 04 7:5 08 8:9@ 08 7:5 10 7:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"nor are there rounds where another column was marked", "00-10:p>1 10-20:j>1",
     "00 5 04 7:4 08 8:9 08 7:4 10 7:5 10 9:9 14 10:9", NULL, "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"nor where the line between is the loop's", "00-10:p>1 10-20:j>1",
     "00 5 04 7:5 08 9:9 08 7:5 10 7:5 10 9:9 14 10:9", NULL, "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"nor where it is the keyword's own", "00-10:p>1 10-20:j>1", "00 5 04 7:5 08 7:9 08 7:5 10 7:5 10 9:9 14 10:9",
     NULL, "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"a round without a mark is none", "00-10:p>1 10-20:j>1", "00 5 04 7:5! 08 8:9 08 7:6 10 7:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-4]S 7[4-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"a keyword to the right may be right in front", "00-10:p>1 10-20:j>1", "00 5 10 7:12 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 7-10{S 9[10-14]S 10[14-20]}}"},

    {"but not three lines above", "00-10:p>1 10-20:j>1", "00 5 10 6:12 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"to the left it may be there", "00-10:p>1 10-20:j>1", "00 5 10 6:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 6-10{S 9[10-14]S 10[14-20]}}"},

    {"with a statement that is nothing between", "00-10:p>1 10-20:j>1", "00 5 10 6:5 10 8:9 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 6-10{S 9[10-14]S 10[14-20]}}"},

    {"but not with one that is something", "00-10:p>1 10-20:j>1", "00 5 04 8:1 10 6:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-4]S 8[4-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"what has no mark is no keyword", "00-10:p>1 10-20:j>1", "00 5 10 7:5! 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"nor is what is of another file", "00-10:p>1 10-20:j>1", "00 5 10 7:5@ 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"nor what stands at another address", "00-10:p>1 10-20:j>1", "00 5 0c 7:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-c]S 7[c-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"nor what is on the line found", "00-10:p>1 10-20:j>1", "00 5 10 9:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 9-10{S 9[10-14]S 10[14-20]}}"},

    {"nor what is behind it", "00-10:p>1 10-20:j>1", "00 5 10 11:5 10 9:9 14 10:9", NULL,
     "P 5-10{S 5[0-10]L 9-10{S 9[10-14]S 10[14-20]}}"},
};

/* Compiler output, and its unrolled loops. */
static const struct {
    const char *producer;
    struct drawing drawing;
} of_compilers[] = {
    {"GNU C17 12.2.0",
     {"four of each statement in a round: unrolled", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7 unrolled{S 7[10-14][18-1c][20-24][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"what stands in front of the loop is not in it", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 08 8 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-8]S 8[8-10]L 6-7 unrolled{S 7[10-14][18-1c][20-24][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S "
      "9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor is what has no mark", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 22 8! 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7 unrolled{S 7[10-14][18-1c][20-22][28-2c]S 6[14-18][1c-20][24-28][2c-30]S 8[22-24]}S "
      "9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor what is of another file", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 22 8@ 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7 unrolled{S 7[10-14][18-1c][20-22][28-2c]S 6[14-18][1c-20][24-28][2c-30]S 8[22-24]}S "
      "9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor the compiler's", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 22 0 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7 unrolled{S 7[10-14][18-1c][20-22][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor what a callee does", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 22 21 24 6:3 28 7:2 2c 6:3 30 9", "g - 7 20 22-24",
      "P 5-9{S 5[0-10]L 6-7 unrolled{S 7[10-14][18-1c][20-22][28-2c]S 6[14-18][1c-20][24-28][2c-30]I g@7{S "
      "21[22-24]}}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"a statement of its own that is there once: not unrolled", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 22 8 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-8{S 7[10-14][18-1c][20-22][28-2c]S 6[14-18][1c-20][24-28][2c-30]S 8[22-24]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor with a copy less of a statement", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 1c 6:3 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7{S 7[10-14][20-24][28-2c]S 6[14-20][24-28][2c-30]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor with one less of its control", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7{S 7[10-14][18-24][28-2c]S 6[14-18][24-28][2c-30]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor with one of them in another column", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:4 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7{S 7[10-14][18-1c][20-24][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S 9[30-40]}"}},

    {"GNU C17 12.2.0",
     {"nor where all of it is on one line", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 6:2 14 6:3 18 6:2 1c 6:3 20 6:2 24 6:3 28 6:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-6{S 6[10-30]}S 9[30-40]}"}},

    {"clang version 14",
     {"clang does not tell", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7{S 7[10-14][18-1c][20-24][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S 9[30-40]}"}},

    {NULL,
     {"who says nothing does not", "00-10:p>1 10-30:b>2,1 30-40:r",
      "00 5 10 7:2 14 6:3 18 7:2 1c 6:3 20 7:2 24 6:3 28 7:2 2c 6:3 30 9", NULL,
      "P 5-9{S 5[0-10]L 6-7{S 7[10-14][18-1c][20-24][28-2c]S 6[14-18][1c-20][24-28][2c-30]}S 9[30-40]}"}},
};

/* ---- memory with an inaccessible page after it ---- */

static bool exact; /* allocations from now on are of this kind */

static struct block {
    uint8_t *end;
    size_t room;
    bool taken;
} memory[1024];

static struct block *block_of(const void *p)
{
    for (struct block *b = memory; b < memory + ARRAY_SIZE(memory) && b->end; b++)
        if (b->taken && (const uint8_t *)p <= b->end && (const uint8_t *)p >= b->end - b->room)
            return b;
    return NULL;
}

void *world_get(size_t bytes, bool cleared)
{
    struct block *b = memory;
    if (!exact)
        return cleared ? (mem_calloc)(1, bytes) : (mem_alloc)(bytes);
    while (b < memory + ARRAY_SIZE(memory) && b->end && (b->taken || b->room < bytes))
        b++;
    if (b == memory + ARRAY_SIZE(memory))
        exit(99);
    if (!b->end) {
        b->room = guarded_whole(2 * bytes + 1);
        uint8_t *p = guarded_get(b->room);
        if (!p)
            exit(99);
        b->end = p + b->room;
    }
    b->taken = true;
    return memset(b->end - bytes, cleared ? 0 : 0x5a, bytes);
}

void world_free(void *p)
{
    struct block *b = p ? block_of(p) : NULL;
    if (b)
        b->taken = false;
    else
        (mem_free)(p);
}

/* Allocates exactly the requested size; growing keeps the end in place and moves the start back. */
void *world_grow(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    struct block *b = items ? block_of(items) : NULL;
    size_t before = *capacity * item_size, now = wanted * item_size;
    if (items ? !b : !exact)
        return vec_grow_(items, capacity, wanted, item_size);
    *capacity = wanted;
    if (b && now <= b->room)
        return memmove(b->end - now, items, before);
    uint8_t *more = world_get(now, false);
    if (items)
        memcpy(more, items, before);
    world_free(items);
    return more;
}

static struct guarded_room lent[12];

/* Borrowed data without room after it: the debug information, */
static struct debug_function guarded_debug(struct debug_function d)
{
    d.rows = guarded_copy(&lent[0], d.rows, d.row_count * sizeof *d.rows);
    d.inlines = guarded_copy(&lent[1], d.inlines, d.inline_count * sizeof *d.inlines);
    d.ranges = guarded_copy(&lent[2], d.ranges, d.range_count * sizeof *d.ranges);
    d.files = guarded_copy(&lent[3], d.files, d.file_count * sizeof *d.files);
    return d;
}

/* the graph, */
static struct cfg guarded_cfg(struct cfg c)
{
    c.blocks = guarded_copy(&lent[6], c.blocks, c.block_count * sizeof *c.blocks);
    c.succs = guarded_copy(&lent[7], c.succs, c.succ_count * sizeof *c.succs);
    c.entries = guarded_copy(&lent[8], c.entries, c.entry_count * sizeof *c.entries);
    return c;
}

/* and its loops. */
static struct loop_forest guarded_forest(struct loop_forest f, size_t blocks)
{
    f.loops = guarded_copy(&lent[9], f.loops, f.loop_count * sizeof *f.loops);
    f.block_loop = guarded_copy(&lent[10], f.block_loop, blocks * sizeof *f.block_loop);
    f.idom = guarded_copy(&lent[11], f.idom, blocks * sizeof *f.idom);
    return f;
}

/* ---- reading a drawing ---- */

static uint8_t kind_of(char c)
{
    return c == 'b' ? INSN_BRANCH : c == 'j' ? INSN_JUMP : c == 'r' ? INSN_RETURN : INSN_PLAIN;
}

static void read_blocks(const char *s, struct cfg *cfg)
{
    cfg->blocks = mem_calloc(64, sizeof *cfg->blocks);
    cfg->succs = mem_calloc(64, sizeof *cfg->succs);
    cfg->entries = mem_calloc(1, sizeof *cfg->entries);
    cfg->entry_count = 1;
    while (*s) {
        struct cfg_block *b = &cfg->blocks[cfg->block_count++];
        char *end;
        b->begin = strtoul(s, &end, 16);
        b->end = strtoul(end + 1, &end, 16);
        b->last_kind = kind_of(end[1]);
        b->succ_first = (uint32_t)cfg->succ_count;
        s = end + 2;
        while (*s == '>' || *s == ',') {
            cfg->succs[cfg->succ_count++] = (uint32_t)strtoul(s + 1, &end, 10);
            b->succ_count++;
            s = end;
        }
        s += strspn(s, " ");
    }
}

static void read_rows(const char *s, struct debug_function *d)
{
    d->rows = mem_calloc(64, sizeof *d->rows);
    while (*s) {
        struct line_row *r = &d->rows[d->row_count++];
        char *end;
        *r = (struct line_row){.addr = strtoul(s, &end, 16), .is_stmt = true};
        r->line = (uint32_t)strtoul(end, &end, 10);
        /* one column per line and kind of use would be too much for a drawing; the columns in the `for` line differ as
         * in real code */
        r->column = (uint16_t)(r->line == 6 ? r->addr + 1 : 1);
        if (*end == ':')
            r->column = (uint16_t)strtoul(end + 1, &end, 10);
        if (*end == '!')
            r->is_stmt = false, end++;
        if (*end == '@')
            r->file = 1, end++;
        s = end + strspn(end, " ");
    }
}

static void read_inlines(const char *s, struct debug_function *d)
{
    char name[32], parent[8];
    unsigned call, decl, begin, stop;
    int used;
    d->inlines = mem_calloc(16, sizeof *d->inlines);
    d->ranges = mem_calloc(16, sizeof *d->ranges);
    while (s && sscanf(s, " %31s %7s %u %u %x-%x%n", name, parent, &call, &decl, &begin, &stop, &used) == 6) {
        d->ranges[d->inline_count] = (struct addr_range){begin, stop};
        d->inlines[d->inline_count] =
            (struct inline_call){.parent = *parent == '-' ? INLINE_NONE : (uint32_t)atoi(parent),
                                 .name = mem_strdup(strcmp(name, "-") != 0 ? name : ""),
                                 .link_name = "",
                                 .decl_line = decl,
                                 .call_line = call,
                                 .range_first = (uint32_t)d->inline_count,
                                 .range_count = 1};
        d->range_count = ++d->inline_count;
        s += used;
    }
}

/* ---- writing the answer ---- */

static void put(struct buf *out, const struct function_scopes *f)
{
    uint32_t open[64], depth = 0;
    for (uint32_t i = 0; i < f->scopes.count; i++) {
        const struct scope *s = &f->scopes.items[i];
        while (depth && open[depth - 1] != s->parent)
            depth--, buf_char(out, '}');
        switch (s->kind) {
        case SCOPE_PROC:
            buf_printf(out, "P %u-%u{", s->line_first, s->line_last);
            break;
        case SCOPE_INLINE:
            buf_printf(out, "I %s@%u{", strtab_get(f->strings, s->name), s->call_line);
            break;
        case SCOPE_LOOP:
            buf_printf(out, "L %u-%u", s->line_first, s->line_last);
            if (s->instances > 1)
                buf_printf(out, " %u/%u", s->instance, s->instances);
            if (s->on_line)
                buf_printf(out, " #%u", s->on_line);
            if (s->role == LOOP_UNROLLED)
                buf_str(out, " unrolled");
            buf_char(out, '{');
            break;
        default:
            buf_printf(out, "S %u", s->line_first);
            for (uint32_t r = 0; r < s->range_count; r++)
                buf_printf(out, "[%llx-%llx]", (unsigned long long)f->ranges.items[s->range_first + r].begin,
                           (unsigned long long)f->ranges.items[s->range_first + r].end);
        }
        if (s->kind != SCOPE_STMT)
            open[depth++] = i;
    }
    while (depth)
        depth--, buf_char(out, '}');
}

/* Without a section there are no bytes to read. */
static const struct image no_bytes = {.arch = ARCH_X86_64, .path = "none", .build_id = ""};
static const struct image *image = &no_bytes;

/* Shared by all: state kept between functions must not affect the next one. */
static struct assembler *assembler;

static void test_drawing(const struct drawing *c, const char *producer)
{
    static const char *const files[] = {"a.c", "b.c"};
    struct function function = {.begin = 0, .end = 0x100, .link_name = "f", .part_of = FUNCTION_NONE};
    struct function_table table = {.functions = &function, .count = 1};
    struct addr_range part = {0, 0x100};
    struct cfg cfg = {0};
    struct loop_forest forest = {0};
    struct debug_function d = {.name = "f",
                               .link_name = "",
                               .comp_dir = "",
                               .files = files,
                               .file_count = ARRAY_SIZE(files),
                               .decl_line = 5,
                               .producer = producer};
    struct function_scopes out = {0};
    struct buf text = {0};
    read_blocks(c->blocks, &cfg);
    read_rows(c->rows ? c->rows : "", &d);
    read_inlines(c->inlines, &d);
    loop_forest_find(&cfg, &forest);
    const struct debug_function debug = guarded_debug(d);
    const struct cfg graph = guarded_cfg(cfg);
    const struct loop_forest loops = guarded_forest(forest, cfg.block_count);
    const struct assemble_input in = {image,         &table, 0, &part, 1, &graph, &loops, c->rows ? &debug : NULL,
                                      FUNCTION_NONE, NULL};
    assemble_function(assembler, &in, &out);
    put(&text, &out);
    if (!tap_result(strcmp(text.bytes, c->want) == 0, c->name, __FILE__, __LINE__))
        printf("# got    %s\n# wanted %s\n", text.bytes, c->want);
    for (size_t i = 0; i < d.inline_count; i++)
        mem_free((char *)d.inlines[i].name);
    mem_free(d.inlines);
    mem_free(d.ranges);
    mem_free(d.rows);
    mem_free(cfg.blocks);
    mem_free(cfg.succs);
    mem_free(cfg.entries);
    buf_release(&text);
    loop_forest_release(&forest);
    function_scopes_release(&out);
}

/* ---- several loops on one line ---- */

static unsigned draw(uint64_t *random, unsigned n);

/* A loop that starts after all loops to its left have ended is a separate source loop. Overlapping ones are copies of
   one loop, as are all if any of them has a single column, or if none are side by side. */
static void test_beside(uint64_t seed)
{
    enum { MOST_LOOPS = 7 };
    unsigned n = 2 + draw(&seed, MOST_LOOPS - 1), left[MOST_LOOPS], right[MOST_LOOPS], thing[MOST_LOOPS], things = 0;
    struct buf blocks = {0}, rows = {0}, want = {0};
    bool told = true;
    buf_str(&blocks, "00-10:p>1");
    buf_str(&rows, "00 5");
    for (unsigned i = 0; i < n; i++) {
        unsigned begin = 16 * (i + 1);
        left[i] = 1 + draw(&seed, 20);
        right[i] = left[i] + (draw(&seed, 20) ? 1 + draw(&seed, 6) : 0);
        told = told && left[i] < right[i];
        buf_printf(&blocks, " %x-%x:b>%u,%u", begin, begin + 16, i + 2, i + 1);
        buf_printf(&rows, " %x 8:%u %x 8:%u", begin, right[i], begin + 8, left[i]);
    }
    buf_printf(&blocks, " %x-%x:r", 16 * (n + 1), 16 * (n + 2));
    buf_printf(&rows, " %x 9", 16 * (n + 1));
    for (unsigned column = 1; column <= 20; column++) {
        bool begins = false, inside = false;
        for (unsigned i = 0; i < n; i++) {
            begins |= left[i] == column;
            inside |= left[i] < column && column <= right[i];
        }
        things += begins && !inside;
        for (unsigned i = 0; i < n; i++)
            thing[i] = left[i] == column ? things : thing[i];
    }
    buf_str(&want, "P 5-9{S 5[0-10]");
    for (unsigned i = 0; i < n; i++) {
        unsigned copies = 0, number = 0;
        for (unsigned k = 0; k < n; k++) {
            copies += !told || thing[k] == thing[i];
            number += k <= i && (!told || thing[k] == thing[i]);
        }
        buf_str(&want, "L 8-8");
        if (copies > 1)
            buf_printf(&want, " %u/%u", number, copies);
        if (told && things > 1)
            buf_printf(&want, " #%u", thing[i]);
        buf_printf(&want, "{S 8[%x-%x]}", 16 * (i + 1), 16 * (i + 2));
    }
    buf_printf(&want, "S 9[%x-%x]}", 16 * (n + 1), 16 * (n + 2));
    buf_char(&blocks, '\0');
    buf_char(&rows, '\0');
    buf_char(&want, '\0');
    test_drawing(&(struct drawing){"loops beside each other on one line, drawn by chance", blocks.bytes, rows.bytes,
                                   NULL, want.bytes},
                 NULL);
    buf_release(&blocks);
    buf_release(&rows);
    buf_release(&want);
}

/* ---- names ---- */

static const struct {
    const char *symbol, *debug_name;
    uint16_t language;
    const char *name, *short_name, *origin; /* short_name "": the name */
    bool outlined;
} names[] = {
    {"main", NULL, 0, "main", "main", "", false},
    {"", NULL, 0, "function at 0x0", "function at 0x0", "", false},
    {"puts@plt", NULL, 0, "puts@plt", "puts@plt", "", false},
    {"memcpy@@GLIBC_2.14", NULL, 0, "memcpy", "memcpy", "", false},
    {"_ZN4heat5solveEi", "solve", 0x21, "heat::solve(int)", "heat::solve", "", false},
    {"_ZN4heat5solveEi.constprop.0", "solve", 0x21, "heat::solve(int) [clone .constprop.0]",
     "heat::solve [clone .constprop.0]", "heat::solve(int)", false},
    {"copy.isra.0", "copy", 0x1d, "copy [clone .isra.0]", "copy [clone .isra.0]", "copy", false},
    {"copy.part.3.avx2", "copy", 0x1d, "copy [clone .part.3.avx2]", "copy [clone .part.3.avx2]", "copy", false},
    {"relax._omp_fn.0", "relax._omp_fn.0", 0x1d, "relax [OpenMP region 0]", "relax [OpenMP region 0]", "relax", true},
    {".omp_outlined..3", ".omp_outlined.", 0x1d, "[OpenMP region 3]", "[OpenMP region 3]", "", true},
    {"relax.omp_outlined", "relax.omp_outlined", 0x1d, "relax [OpenMP region]", "relax [OpenMP region]", "relax", true},
    {"__heat_MOD_solve", "heat::solve", 0x08, "heat::solve", "heat::solve", "", false},
    {"__heat_MOD_solve", NULL, 0, "heat::solve", "heat::solve", "", false},
    {"daxpy_", "daxpy", 0x22, "daxpy", "daxpy", "", false},
    {"daxpy_", NULL, 0, "daxpy_", "daxpy_", "", false},
    {"MAIN__", "heat", 0x08, "heat", "heat", "", false},
    {"__m_MOD_x", NULL, 0, "m::x", "m::x", "", false},
    {"__m_MOD_", NULL, 0, "__m_MOD_", "__m_MOD_", "", false},
    {"___MOD_x", NULL, 0, "___MOD_x", "___MOD_x", "", false},
    {"_m_MOD_x", NULL, 0, "_m_MOD_x", "_m_MOD_x", "", false},
    {"f_", "f", 0x07, "f", "f", "", false},
    {"f_", "f", 0x0e, "f", "f", "", false},
    {"f_", "f", 0x23, "f", "f", "", false},
    {"f_", "f", 0x2d, "f", "f", "", false},
    {"m::s._omp_fn.0", "m::s::__m_MOD_s._omp_fn.0", 0x07, "m::s [OpenMP region 0]", "", "m::s", true},
    {"__m_MOD_s._omp_fn.0", "m::s::__m_MOD_s._omp_fn.0", 0x0e, "m::s [OpenMP region 0]", "", "m::s", true},
    {"__m_MOD_s._omp_fn.0", "m::s::__m_MOD_s._omp_fn.0", 0x22, "m::s [OpenMP region 0]", "", "m::s", true},
    {"__m_MOD_s._omp_fn.0", "m::s::__m_MOD_s._omp_fn.0", 0x23, "m::s [OpenMP region 0]", "", "m::s", true},
    {"__m_MOD_s._omp_fn.0", "m::s::__m_MOD_s._omp_fn.0", 0x2d, "m::s [OpenMP region 0]", "", "m::s", true},
    {"__m_MOD_s._omp_fn.0", "m::t::__m_MOD_s._omp_fn.0", 0x1d, "m::s [OpenMP region 0]", "", "m::s", true},
    {"chosen", "written", 0x1d, "written", "", "", false},
    {"chosen._omp_fn.0", "written", 0x1d, "chosen [OpenMP region 0]", "", "chosen", true},
    {"chosen.isra.0", "written", 0x1d, "written [clone .isra.0]", "", "written", false},
    {"", "written", 0x1d, "written", "", "", false},
    {"", "written._omp_fn.4", 0x1d, "written [OpenMP region 4]", "", "written", true},
    {"f._omp_cpyfn.12", NULL, 0, "f [OpenMP region 12]", "", "f", true},
    {"f.omp_outlined_debug__", NULL, 0, "f [OpenMP region]", "", "f", true},
    {"f.omp_outlined_debug__.7", NULL, 0, "f [OpenMP region 7]", "", "f", true},
    {".omp_outlined._debug__.5", NULL, 0, "[OpenMP region 5]", "", "", true},
    {".omp_outlined.", "f", 0x1d, "[OpenMP region]", "", "", true},
    {"f._omp_fn.0.constprop.3", NULL, 0, "f [OpenMP region 0]", "", "f", true},
    {"f@plt", NULL, 0, "f@plt", "f@plt", "", false},
    {"f@GLIBC_2.2.5", NULL, 0, "f", "f", "", false},
    {"@f", NULL, 0, "@f", "@f", "", false},
    {"f.constprop.0.isra.1", NULL, 0, "f [clone .constprop.0.isra.1]", "", "f", false},
    {"f.isra.1.constprop.0", NULL, 0, "f [clone .isra.1.constprop.0]", "", "f", false},
    {".isra.0", NULL, 0, ".isra.0", "", "", false},
    {"f.cold", NULL, 0, "f [clone .cold]", "", "f", false},
    {"f.lto_priv.3", NULL, 0, "f [clone .lto_priv.3]", "", "f", false},
    {"f.llvm.77", NULL, 0, "f [clone .llvm.77]", "", "f", false},
    {"f.avx512f", NULL, 0, "f [clone .avx512f]", "", "f", false},
    {"f.sse4.2", NULL, 0, "f [clone .sse4.2]", "", "f", false},
    {"f.arch_haswell", NULL, 0, "f [clone .arch_haswell]", "", "f", false},
    {"f.default.1", NULL, 0, "f [clone .default.1]", "", "f", false},
    {"f.resolver", NULL, 0, "f [clone .resolver]", "", "f", false},
    {"f.simdclone.0", NULL, 0, "f [clone .simdclone.0]", "", "f", false},
    {"f.localalias", NULL, 0, "f [clone .localalias]", "", "f", false},
    {"f.nonvirt", NULL, 0, "f [clone .nonvirt]", "", "f", false},
    {"f.clone.2", NULL, 0, "f [clone .clone.2]", "", "f", false},
    {"main.f", NULL, 0, "main.f", "", "", false},
    {"f.part.0@@V1", NULL, 0, "f [clone .part.0@@V1]", "", "f", false},
    {"__heat_MOD_solve._omp_fn.1", "__heat_MOD_solve._omp_fn.1", 0x08, "heat::solve [OpenMP region 1]",
     "heat::solve [OpenMP region 1]", "heat::solve", true},
};

static void test_names(void)
{
    struct addr_range part = {0, 0x10};
    struct cfg cfg = {0};
    struct loop_forest forest = {0};
    struct assembler *a = assembler_create();
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
#ifndef HAVE_IBERTY
        if (str_starts(names[i].symbol, "_Z")) {
            SKIP(names[i].symbol, "built without libiberty");
            continue;
        }
#endif
        struct function function = {.begin = 0, .end = 0x10, .link_name = names[i].symbol, .part_of = FUNCTION_NONE};
        struct function_table table = {.functions = &function, .count = 1};
        struct debug_function d = {
            .name = names[i].debug_name, .link_name = "", .comp_dir = "", .language = names[i].language};
        struct function_scopes out = {0};
        const struct assemble_input in = {image,         &table, 0, &part, 1, &cfg, &forest, d.name ? &d : NULL,
                                          FUNCTION_NONE, NULL};
        assemble_function(a, &in, &out);
        const struct scope *s = &out.scopes.items[0];
        CHECK_STR(strtab_get(out.strings, s->name), names[i].name);
        CHECK_STR(strtab_get(out.strings, s->short_name), *names[i].short_name ? names[i].short_name : names[i].name);
        CHECK_STR(strtab_get(out.strings, s->origin), names[i].origin);
        CHECK_INT(s->outlined, names[i].outlined);
        function_scopes_release(&out);
    }
    assembler_free(a);
}

/* ---- programs made from seeds ----
 *
 * A random source of loops, conditions and inlined calls is lowered to blocks and rows as compilers do: loops rotated or
 * not, with their body duplicated or next to a copy of themselves, left early, entered in the middle; with noise:
 * instructions that are moved, lack a statement's mark, or have no line.
 *
 * Programs with code consist of x86-64 instructions, so that cfg.c finds the graph and the calls: with packed arithmetic,
 * calls (of OpenMP's runtime, of noreturn functions, with landing pads), cold parts, dead code, conditions without a
 * line, OpenMP worksharing loops, several loops on one line, and all kinds of line table rows.
 *
 * Invariants: each instruction is in exactly one statement, that of its row, and in a loop if its block is in one.
 * Without noise, the `for`s are loops at their own lines, nested as in the source. The exact results are in made.trees,
 * those of later programs as one digest per SHEET programs; GOLDEN=write rewrites it: review the difference.
 */

enum { MADE = 0x40000000, PROGRAMS = 64, SHEET = 64, SHEETS = 40, MOST = 4096 };
enum { CODED = 2000, CODED_SHOWN = 12, CODED_SHEET = 25 }; /* programs with code */
enum { TEXT = 0x1000, COLD = 0x40000, CALLED = 0x80000, MOST_BYTES = 1 << 16 };

/* Contiguous code and its rows. */
struct text {
    vaddr begin, at;
    uint8_t bytes[MOST_BYTES];
    struct line_row rows[MOST];
    size_t row_count;
};

struct made {
    uint64_t shape, noise; /* two streams of random numbers: a copy of a body has the same shape but its own noise */
    bool noisy;
    struct cfg cfg;
    struct debug_function debug;
    struct {
        uint32_t from, label;
    } edges[MOST];
    uint32_t edge_count, label_count, label_block[MOST];
    uint32_t line, inlined, depth;
    uint32_t for_depth[MOST]; /* by line of the procedure itself: nesting depth of its `for`, counting itself */
    vaddr at;

    /* With code. */
    uint64_t code; /* a third random stream; 0: no code, each instruction has four bytes */
    struct text *texts;
    bool cold;   /* in the second of them */
    bool silent; /* conditions have no line of their own */
    bool packed; /* so is most arithmetic */
    bool long_done;
    bool no_columns;
    unsigned nest; /* how many loops and calls are still to be put into each other */
    vaddr label_at[MOST];
    struct {
        vaddr at; /* of the distance */
        uint32_t label;
    } jumps[MOST];
    size_t jump_count;
    struct addr_range spans[MOST][2]; /* by inlined call */
};

static unsigned draw(uint64_t *random, unsigned n)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*random >> 33) % n;
}

static struct cfg_block *current(struct made *m)
{
    return &m->cfg.blocks[m->cfg.block_count - 1];
}

static uint32_t new_label(struct made *m)
{
    return m->label_count++;
}

static void edge_to(struct made *m, uint32_t label)
{
    m->edges[m->edge_count].from = (uint32_t)m->cfg.block_count - 1;
    m->edges[m->edge_count++].label = label;
}

static struct line_row *new_row(struct made *m, uint32_t line, unsigned column, bool marked)
{
    struct text *t = m->code ? &m->texts[m->cold] : NULL;
    struct line_row *r = t ? &t->rows[t->row_count] : &m->debug.rows[m->debug.row_count];
    if (t)
        t->row_count++;
    m->debug.row_count++;
    *r = (struct line_row){.addr = m->at,
                           .file = m->inlined == INLINE_NONE ? 0 : 1,
                           .line = line,
                           .column = (uint16_t)(m->no_columns ? 0 : column),
                           .is_stmt = marked};
    return r;
}

/* The program has reached its planned size. */
static bool is_full(const struct made *m)
{
    return m->debug.row_count > MOST / 8;
}

/* One in n, of a program with code. */
static bool once_in(struct made *m, unsigned n)
{
    return m->code && draw(&m->code, n) == 0;
}

static void put_bytes(struct made *m, const char *bytes, size_t n)
{
    struct text *t = &m->texts[m->cold];
    memcpy(t->bytes + (m->at - t->begin), bytes, n);
    m->at += n;
}

/* Appends the other text; the copy continues where it was. */
static void change_text(struct made *m)
{
    m->texts[m->cold].at = m->at;
    m->cold = !m->cold;
    m->at = m->texts[m->cold].at;
}

static void place(struct made *m, uint32_t label);

static void put_jump(struct made *m, uint32_t label, bool always)
{
    put_bytes(m, always ? "\xe9" : "\x0f\x84", always ? 1 : 2);
    m->jumps[m->jump_count].at = m->at;
    m->jumps[m->jump_count++].label = label;
    put_bytes(m, "\0\0\0\0", 4);
    if (always && once_in(m, 8)) { /* unreachable code, padding, and bytes that are neither */
        unsigned first = draw(&m->code, 2), n = 1 + draw(&m->code, 7);
        put_bytes(m, &"\x90\x48\x01\xd8\x06\x0f\xaf\xc3"[first], n);
    }
}

/* Called functions by address; sorted, 16 bytes each. */
static const char *const called[] = {
    "abort",
    "work",
    "omp_get_num_threads",
    "omp_get_thread_num",
    "GOMP_loop_dynamic_start",
    "GOMP_loop_dynamic_next",
    "GOMP_loop",
    "GOMP_loop_guided_next",
    "omp_get_thread_limit",
};
enum { ABORT, WORK, ASKS_MANY, ASKS_OWN, LOOP_START, LOOP_NEXT };

static void put_call(struct made *m, unsigned whom)
{
    int32_t distance = (int32_t)(CALLED + 16 * whom - (m->at + 5));
    put_bytes(m, "\xe8", 1);
    put_bytes(m, (const char *)&distance, 4); /* (x86-64's order of bytes is that of the machines that build this) */
}

static void emit(struct made *m, uint32_t line, unsigned column, bool marked);

/* (At most one number is drawn per argument list, because the order of evaluation is unspecified.) */
static void emit_mostly_marked(struct made *m, uint32_t line, unsigned column)
{
    emit(m, line, column, draw(&m->code, 4) > 0);
}

/* A row without an instruction. */
static void put_mark(struct made *m, uint32_t line, unsigned column)
{
    struct line_row *r = new_row(m, line, column, draw(&m->code, 6) > 0);
    r->discriminator = (uint16_t)draw(&m->code, 2);
}

/* A call; it may throw, which is caught elsewhere. */
static void call_somebody(struct made *m)
{
    vaddr at = m->at;
    put_call(m, draw(&m->code, 16) ? draw(&m->code, 4) ? WORK : draw(&m->code, ARRAY_SIZE(called)) : ABORT);
    if (m->cold || test_site_count == ARRAY_SIZE(test_sites) || draw(&m->code, 4))
        return;
    uint32_t back = new_label(m);
    place(m, back);
    change_text(m);
    test_sites[test_site_count++] = (struct call_site){at, at + 5, m->at};
    emit_mostly_marked(m, m->line + draw(&m->code, 3), 5);
    put_jump(m, back, true);
    change_text(m);
}

static void calculate(struct made *m)
{
    static const struct {
        const char *bytes;
        unsigned n;
    } kinds[] = {{"\x98", 1},
                 {"\x48\x01\xd8", 3},
                 {"\x0f\xaf\xc3", 3},
                 {"\xf2\x0f\x58\xc1", 4},
                 {"\x66\x0f\x6f\x07", 4},
                 {"\x0f\x1f\x40\x00", 4},
                 {"\x66\x0f\x70\xc1\x1b", 5},
                 {"\x66\x0f\xfe\xc1", 4},
                 {"\x0f\x59\xc1", 3}};
    unsigned what = draw(&m->code, 32), kind = what % 5;
    if (once_in(m, 200))
        put_bytes(m, "\xf3\x90", 2); /* it waits */
    if (what == 31)
        kind = 5; /* no more than padding */
    else if (m->packed && what > 8)
        kind = 6 + what % 3;
    else if (what == 30)
        kind = 6 + draw(&m->code, 3);
    put_bytes(m, kinds[kind].bytes, kinds[kind].n);
    if (once_in(m, 16))
        call_somebody(m);
}

/* Statement marks without an instruction, and other rows that a line table may contain. */
static void add_marks(struct made *m, uint32_t line)
{
    while (once_in(m, 8) && line > 3) {
        unsigned column = 1 + draw(&m->code, 9);
        put_mark(m, line - draw(&m->code, 3), column);
    }
    if (once_in(m, 600) && !m->long_done) { /* a long block */
        static const unsigned lengths[] = {17, 65, 258, 514, 1026};
        unsigned n = lengths[draw(&m->code, 5)];
        n -= draw(&m->code, 4);
        m->long_done = true;
        for (unsigned i = 0; i < n; i++) {
            new_row(m, line + i % 3, 5, i % 3 == 0);
            put_bytes(m, "\x90", 1);
        }
    }
}

/* One instruction; `line` 0: the compiler's. */
static void emit(struct made *m, uint32_t line, unsigned column, bool marked)
{
    if (m->code)
        add_marks(m, line);
    struct line_row *r = new_row(m, line, column, marked);
    if (!m->code) {
        m->at += 4;
        current(m)->end = m->at;
        return;
    }
    r->discriminator = once_in(m, 6);
    if (once_in(m, 60))
        r->file = draw(&m->code, 3) ? 2 : DEBUG_NO_FILE;
    calculate(m);
}

/* The contents of a line, and what the compiler added or removed. */
static void statement(struct made *m, uint32_t line, unsigned column)
{
    unsigned what = m->noisy ? draw(&m->noise, 24) : 24;
    if (what == 0)
        emit(m, line + 1 + draw(&m->noise, 4), 3, false);
    else if (what == 1 && line > 3) {
        bool marked = draw(&m->noise, 2);
        emit(m, line - 1 - draw(&m->noise, 3), 3, marked);
    } else if (what == 2)
        emit(m, 0, 0, false);
    else if (what == 3)
        emit(m, line + 40, 1, false);
    emit(m, line, column, what != 4);
    if (what == 5)
        emit(m, line, column + 2, false);
}

static void place(struct made *m, uint32_t label)
{
    struct cfg_block *last = m->cfg.block_count ? current(m) : NULL;
    m->label_block[label] = (uint32_t)m->cfg.block_count;
    m->label_at[label] = m->at;
    if (m->code)
        return;
    if (last && last->last_kind != INSN_JUMP && last->last_kind != INSN_RETURN)
        edge_to(m, label);
    m->cfg.blocks[m->cfg.block_count++] = (struct cfg_block){.begin = m->at, .end = m->at, .last_kind = INSN_PLAIN};
}

static void branch(struct made *m, uint32_t line, unsigned column, uint32_t label, bool always)
{
    if (!m->silent)
        statement(m, line, column);
    if (m->code) {
        put_jump(m, label, always);
        return;
    }
    current(m)->last_kind = always ? INSN_JUMP : INSN_BRANCH;
    edge_to(m, label);
    place(m, new_label(m));
}

static void statements(struct made *, unsigned depth);

static void condition(struct made *m, unsigned depth)
{
    uint32_t other = new_label(m), end = new_label(m), line = m->line++;
    branch(m, line, 9, other, false);
    if (once_in(m, 8)) { /* it returns, often on a line that is the procedure's end */
        uint32_t end_line = once_in(m, 2) ? line + 1 : line + 30;
        emit_mostly_marked(m, end_line, 1 + 4 * draw(&m->code, 2));
        put_bytes(m, "\xc3", 1);
        place(m, other);
        place(m, end);
        return;
    }
    if (!m->cold && once_in(m, 3)) { /* rarely taken, and put elsewhere */
        place(m, end);
        change_text(m);
        place(m, other);
        statements(m, depth - 1);
        put_jump(m, end, true);
        change_text(m);
        return;
    }
    statements(m, depth - 1);
    if (draw(&m->shape, 2)) {
        branch(m, m->line - 1, 5, end, true);
        place(m, other);
        statements(m, depth - 1);
    } else {
        place(m, other);
    }
    place(m, end);
}

/* Correct and incorrect debug information of a call. */
static void odd_call(struct made *m, struct inline_call *c)
{
    static const char *const callees[] = {"", ".omp_outlined_debug__", ".omp_outlined.", "ns::g", "g"},
                             *const link_names[] = {"link_g", "", "link_h"};
    if (once_in(m, 4))
        c->name = callees[draw(&m->code, ARRAY_SIZE(callees))];
    if (once_in(m, 4))
        c->link_name = link_names[draw(&m->code, ARRAY_SIZE(link_names))];
    if (once_in(m, 16))
        c->decl_file = draw(&m->code, 5);
    if (once_in(m, 16))
        c->decl_line = draw(&m->code, 2) * (c->decl_line + 1);
    if (once_in(m, 16))
        c->call_file = draw(&m->code, 4);
    if (once_in(m, 16))
        c->call_line = draw(&m->code, 2) * (c->call_line + 1);
    c->call_column = once_in(m, 4);
    unsigned further = draw(&m->code, 64);
    c->entry = further < 32 ? 0 : m->at + (further < 48 ? 0 : further - 48);
}

static void call(struct made *m, unsigned depth)
{
    uint32_t line = m->line, index = (uint32_t)m->debug.inline_count++, around = m->inlined;
    vaddr begin = m->at, cold = m->code ? m->texts[1].at : 0;
    m->debug.inlines[index] = (struct inline_call){.parent = around,
                                                   .name = draw(&m->shape, 2) ? "g" : "h",
                                                   .link_name = "",
                                                   .decl_file = 1,
                                                   .decl_line = 200 + 100 * (m->line % 8),
                                                   .call_file = around == INLINE_NONE ? 0 : 1,
                                                   .call_line = line,
                                                   .range_first = index,
                                                   .range_count = 1};
    if (m->code)
        odd_call(m, &m->debug.inlines[index]);
    m->line = m->debug.inlines[index].decl_line + 1;
    m->inlined = index;
    statements(m, depth - 1);
    m->inlined = around;
    m->line = line + 1;
    if (m->at == begin)
        emit(m, line, 5, true);
    m->spans[index][0] = (struct addr_range){begin, m->at};
    m->spans[index][1] = (struct addr_range){cold, m->code && !m->cold ? m->texts[1].at : cold};
}

/* The body, once or twice, with exits and back edges before its end. */
static void body(struct made *m, unsigned depth, uint32_t again, uint32_t out)
{
    uint64_t shape = m->shape;
    uint32_t line = m->line;
    unsigned copies = draw(&m->noise, 5) == 0 ? 2 : 1;
    if (once_in(m, 12)) /* unrolled */
        copies = 3 + draw(&m->code, 3);
    if (m->nest)
        copies = 1;
    for (unsigned i = 0; i < copies && (i == 0 || !m->code || !is_full(m)); i++) {
        m->shape = shape;
        m->line = line;
        statements(m, depth - 1);
        if (draw(&m->shape, 6) == 0)
            branch(m, m->line++, 9, out, false);
        if (draw(&m->shape, 6) == 0)
            branch(m, m->line++, 9, again, false);
        statements(m, draw(&m->shape, 2));
    }
}

static void for_loop(struct made *m, unsigned depth)
{
    uint32_t head = new_label(m), step = new_label(m), out = new_label(m), line = m->line++;
    unsigned form = draw(&m->noise, 3); /* condition first; rotated; rotated behind a guard */
    bool silent = m->silent;
    m->silent = once_in(m, 4);
    m->depth++;
    if (m->inlined == INLINE_NONE && !m->code)
        m->for_depth[line] = m->depth;
    statement(m, line, 10);
    if (form == 2)
        branch(m, line, 17, out, false);
    if (form == 0) {
        place(m, head);
        branch(m, line, 17, out, false);
    } else {
        place(m, head);
    }
    if (form && once_in(m, 4)) /* what clang sets up for the condition */
        new_row(m, line, 3, true);
    body(m, depth, step, out);
    place(m, step);
    if (!m->silent)
        statement(m, line, 24);
    branch(m, line, 17, head, form == 0);
    place(m, out);
    m->depth--;
    m->silent = silent;
}

/* do-while, and without a condition. */
static void other_loop(struct made *m, unsigned depth)
{
    uint32_t head = new_label(m), step = new_label(m), out = new_label(m);
    bool endless = draw(&m->shape, 2);
    m->depth++;
    if (draw(&m->noise, 3) == 0) /* the keyword itself */
        emit(m, m->line, 3, true);
    m->line++;
    if (draw(&m->noise, 8) == 0) /* by an entry into its middle */
        branch(m, m->line, 3, step, false);
    if (once_in(m, 4)) { /* clang -O0 adds a jump to the following code, on the line of the keyword */
        new_row(m, m->line - 1 - draw(&m->code, 2), 3, true);
        put_jump(m, head, true);
    }
    place(m, head);
    for (unsigned i = 2; m->code && i-- > 0;) /* the keyword, and empty statements after it */
        if (once_in(m, 3))
            put_mark(m, m->line - i, 3 + 2 * draw(&m->code, 2));
    body(m, depth, step, out);
    place(m, step);
    if (endless)
        branch(m, m->line++, 9, out, false);
    statement(m, m->line, 5);
    branch(m, m->line, 12, head, endless);
    m->line++;
    place(m, out);
    m->depth--;
}

static void loop(struct made *m, unsigned depth)
{
    uint64_t shape = m->shape;
    uint32_t line = m->line;
    unsigned copies = draw(&m->noise, 4) == 0 ? 2 : 1;
    bool packed = m->packed;
    if (once_in(m, 8))
        copies = 3;
    if (m->nest)
        copies = 1;
    for (unsigned i = 0; i < copies && (i == 0 || !m->code || !is_full(m)); i++) {
        m->shape = shape;
        m->line = line;
        m->packed = once_in(m, i ? 8 : 3);
        if (draw(&m->shape, 3))
            for_loop(m, depth);
        else
            other_loop(m, depth);
    }
    m->packed = packed;
}

/* Several loops on one line, side by side or not separated by column. */
static void loops_on_line(struct made *m)
{
    unsigned column = 5, n = 1 + draw(&m->code, 3);
    bool packed = m->packed;
    for (unsigned i = 0; i < n; i++) {
        uint32_t head = new_label(m), out = new_label(m);
        m->packed = once_in(m, 3);
        if (once_in(m, 2))
            emit_mostly_marked(m, m->line - draw(&m->code, 2), column);
        if (once_in(m, 4))
            put_jump(m, out, false);
        place(m, head);
        for (unsigned k = 1 + draw(&m->code, 3); k; k--)
            emit_mostly_marked(m, m->line, column + 8 + draw(&m->code, 8));
        if (once_in(m, 2))
            emit_mostly_marked(m, m->line, column + draw(&m->code, 20));
        put_jump(m, head, false);
        place(m, out);
        column += 8 * draw(&m->code, 4);
    }
    m->packed = packed;
    m->line++;
}

/* A query of OpenMP's runtime, on its own line or on that of the preceding code. */
static void ask(struct made *m, uint32_t directive, unsigned whom)
{
    const uint32_t lines[] = {directive, directive + 1, 5};
    if (once_in(m, 2))
        put_mark(m, lines[draw(&m->code, 3)], 9);
    put_call(m, whom);
}

/* Threads that take one round more step aside. */
static void step_aside(struct made *m, uint32_t line)
{
    uint32_t aside = new_label(m), join = new_label(m);
    bool elsewhere = !m->cold && draw(&m->code, 2);
    put_jump(m, elsewhere ? aside : join, false);
    if (elsewhere) {
        place(m, join);
        change_text(m);
    }
    place(m, aside);
    emit_mostly_marked(m, line, 9);
    if (elsewhere) {
        put_jump(m, join, true);
        change_text(m);
    } else {
        place(m, join);
    }
}

/* A loop that OpenMP shares out: its directive, perhaps something of the program's, its `for`. */
static void shared_loop(struct made *m, unsigned depth)
{
    uint32_t directive = m->line, head = new_label(m), again = new_label(m), step = new_label(m), out = new_label(m);
    bool dynamic = once_in(m, 3), own_first = once_in(m, 2), silent = m->silent;
    m->line += 1 + draw(&m->shape, 2);
    uint32_t line = m->line++;
    if (once_in(m, 3))
        emit(m, directive - 1, 5, true);
    ask(m, directive, dynamic ? LOOP_START : own_first ? ASKS_OWN : ASKS_MANY);
    if (!dynamic) {
        if (once_in(m, 2))
            emit_mostly_marked(m, once_in(m, 2) ? directive : line, 9);
        ask(m, directive, own_first ? ASKS_MANY : ASKS_OWN);
        if (once_in(m, 2))
            step_aside(m, once_in(m, 2) ? directive : line);
    }
    if (once_in(m, 2))
        emit_mostly_marked(m, once_in(m, 2) ? directive : line, 9);
    if (once_in(m, 2))
        put_jump(m, out, false);
    place(m, again);
    if (dynamic && once_in(m, 2))
        emit_mostly_marked(m, directive, 9);
    place(m, head);
    m->silent = !once_in(m, 4);
    body(m, depth, step, out);
    place(m, step);
    branch(m, line, 17, head, false);
    if (dynamic) {
        ask(m, directive, LOOP_NEXT);
        put_jump(m, again, false);
    }
    m->silent = silent;
    place(m, out);
}

static void coded(struct made *m, unsigned depth)
{
    unsigned what = draw(&m->code, 3);
    if (what == 0)
        loops_on_line(m);
    else if (what == 1)
        shared_loop(m, depth);
    else
        loop(m, depth);
}

static void statements(struct made *m, unsigned depth)
{
    if (m->nest) {
        m->nest--;
        if (once_in(m, 2))
            call(m, 1);
        else
            loop(m, 1);
        return;
    }
    for (unsigned n = 1 + draw(&m->shape, 3); n; n--) {
        unsigned what = draw(&m->shape, 8);
        if (what < 4 || depth == 0 || is_full(m))
            statement(m, m->line++, 5);
        else if (once_in(m, 3))
            coded(m, depth);
        else if (what < 6)
            loop(m, depth);
        else if (what < 7)
            condition(m, depth);
        else
            call(m, depth);
    }
}

static void list_ranges(struct made *m)
{
    struct debug_function *d = &m->debug;
    for (size_t i = 0; i < d->inline_count; i++) {
        d->inlines[i].range_first = (uint32_t)d->range_count;
        d->inlines[i].range_count = m->spans[i][1].begin < m->spans[i][1].end ? 2 : 1;
        for (uint32_t k = 0; k < d->inlines[i].range_count; k++)
            d->ranges[d->range_count++] = m->spans[i][k];
    }
}

static void made_finish(struct made *m)
{
    list_ranges(m);
    if (m->code)
        return;
    for (uint32_t b = 0; b < m->cfg.block_count; b++) {
        m->cfg.blocks[b].succ_first = (uint32_t)m->cfg.succ_count;
        for (uint32_t i = 0; i < m->edge_count; i++)
            if (m->edges[i].from == b)
                m->cfg.succs[m->cfg.succ_count++] = m->label_block[m->edges[i].label];
        m->cfg.blocks[b].succ_count = (uint32_t)m->cfg.succ_count - m->cfg.blocks[b].succ_first;
    }
    m->cfg.entry_count = 1;
}

/* Fills in jump distances, and merges all rows into one list. */
static void finish_code(struct made *m)
{
    m->texts[m->cold].at = m->at;
    for (size_t i = 0; i < m->jump_count; i++) {
        vaddr at = m->jumps[i].at;
        struct text *t = &m->texts[at >= COLD];
        int32_t distance = (int32_t)(m->label_at[m->jumps[i].label] - (at + 4));
        memcpy(t->bytes + (at - t->begin), &distance, 4);
    }
    m->debug.row_count = 0;
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < m->texts[k].row_count; i++)
            m->debug.rows[m->debug.row_count++] = m->texts[k].rows[i];
}

/* Unusual features of whole procedures. */
static void begin_code(struct made *m, uint64_t random)
{
    static const char *const producers[] = {NULL, "", "clang version 14.0.6", "GNU C17 12.2.0 -O3",
                                            "GNU Fortran2008 12.2.0"};
    m->code = random * 2654435761u + 1;
    m->texts = mem_calloc(2, sizeof *m->texts);
    m->texts[0].begin = m->texts[0].at = m->at = TEXT;
    m->texts[1].begin = m->texts[1].at = COLD;
    test_site_count = 0;
    m->debug.producer = producers[draw(&m->code, ARRAY_SIZE(producers))];
    if (once_in(m, 4))
        m->debug.link_name = "linked_f";
    if (once_in(m, 8))
        m->debug.decl_file = draw(&m->code, 4);
    if (once_in(m, 8))
        m->debug.decl_line = 4 * draw(&m->code, 3);
    if (once_in(m, 8)) /* of the code before the procedure */
        new_row(m, 3, 1, true)->addr -= 8;
    if (once_in(m, 8))
        calculate(m); /* before the first row */
    m->no_columns = once_in(m, 10);
    if (once_in(m, 16))
        m->nest = 10 + draw(&m->code, 5) * 60;
}

static struct made *make(uint64_t seed, bool with_code)
{
    struct made *m = mem_calloc(1, sizeof *m);
    static const char *const files[] = {"a.c", "b.h"};
    m->shape = seed / 2 + 1;
    m->noise = seed + 77;
    m->noisy = seed % 2;
    m->at = MADE;
    m->line = 6;
    m->inlined = INLINE_NONE;
    m->cfg.blocks = mem_calloc(MOST, sizeof *m->cfg.blocks);
    m->cfg.succs = mem_calloc(MOST, sizeof *m->cfg.succs);
    m->cfg.entries = mem_calloc(1, sizeof *m->cfg.entries);
    m->debug = (struct debug_function){
        .name = "f", .link_name = "", .comp_dir = "", .files = files, .file_count = 2, .decl_line = 5};
    m->debug.rows = mem_calloc(2 * MOST, sizeof *m->debug.rows);
    m->debug.inlines = mem_calloc(MOST, sizeof *m->debug.inlines);
    m->debug.ranges = mem_calloc(2 * MOST, sizeof *m->debug.ranges);
    if (with_code)
        begin_code(m, seed);
    place(m, new_label(m));
    for (unsigned n = draw(&m->noise, 3); n; n--) /* clang's prologue has two rows */
        emit(m, m->line - 1, 1, true);
    struct line_row *rows = with_code ? m->texts[0].rows : m->debug.rows;
    rows[m->debug.row_count ? m->debug.row_count - 1 : 0].prologue_end = m->debug.row_count > 0;
    statements(m, 4);
    emit(m, m->line, 1, true);
    if (with_code) {
        put_bytes(m, "\xc3", 1);
        finish_code(m);
    } else {
        current(m)->last_kind = INSN_RETURN;
    }
    made_finish(m);
    return m;
}

static void made_free(struct made *m)
{
    mem_free(m->texts);
    mem_free(m->cfg.blocks);
    mem_free(m->cfg.succs);
    mem_free(m->cfg.entries);
    mem_free(m->debug.rows);
    mem_free(m->debug.inlines);
    mem_free(m->debug.ranges);
    mem_free(m);
}

/* Number of statements that contain the instruction; the last one is returned in `found`. */
static unsigned statements_at(const struct function_scopes *f, vaddr at, const struct scope **found)
{
    unsigned n = 0;
    for (size_t i = 0; i < f->scopes.count; i++)
        for (uint32_t r = 0; f->scopes.items[i].kind == SCOPE_STMT && r < f->scopes.items[i].range_count; r++) {
            const struct addr_range *a = &f->ranges.items[f->scopes.items[i].range_first + r];
            if (at >= a->begin && at < a->end) {
                *found = &f->scopes.items[i];
                n++;
            }
        }
    return n;
}

static unsigned loops_around(const struct function_scopes *f, const struct scope *s)
{
    unsigned n = 0;
    for (; s->parent != SCOPE_NONE; s = &f->scopes.items[s->parent])
        n += f->scopes.items[s->parent].kind == SCOPE_LOOP;
    return n;
}

/* The number of instructions that are not where they should be. */
static unsigned misplaced(const struct made *m, const struct loop_forest *forest, const struct function_scopes *f)
{
    unsigned wrong = 0;
    uint32_t block = 0;
    for (size_t i = 0; i < m->debug.row_count; i++) {
        const struct line_row *r = &m->debug.rows[i];
        const struct scope *s = NULL;
        unsigned n = statements_at(f, r->addr, &s), loops = 0;
        while (m->cfg.blocks[block].end <= r->addr)
            block++;
        for (uint32_t l = forest->block_loop[block]; l != LOOP_NONE; l = forest->loops[l].parent)
            loops++;
        if (n != (r->line != 0) ||
            (n && (s->line_first != r->line || strcmp(strtab_get(f->strings, s->file), m->debug.files[r->file]) != 0)))
            wrong++;
        else if (n && ((loops > 0) != (loops_around(f, s) > 0) || loops_around(f, s) > loops))
            wrong++;
    }
    return wrong;
}

struct found_loops {
    unsigned all, lost; /* not at their line, or in too few or too many others */
};

static void count_loops(const struct made *m, const struct function_scopes *f, struct found_loops *loops)
{
    for (uint32_t line = 1; line < m->line; line++) {
        bool found = false;
        for (size_t i = 0; i < f->scopes.count && !found; i++) {
            const struct scope *s = &f->scopes.items[i];
            found = s->kind == SCOPE_LOOP && s->line_first == line && loops_around(f, s) + 1 == m->for_depth[line];
        }
        loops->all += m->for_depth[line] > 0;
        loops->lost += m->for_depth[line] > 0 && !found;
    }
}

/* The tree on one line, a statement as its line and how many instructions (of `size` bytes) it has. */
static void put_made(struct buf *out, const struct function_scopes *f, unsigned size)
{
    uint32_t open[256], depth = 0;
    for (uint32_t i = 0; i < f->scopes.count; i++) {
        const struct scope *s = &f->scopes.items[i];
        vaddr bytes = 0;
        while (depth && open[depth - 1] != s->parent)
            depth--, buf_char(out, '}');
        for (uint32_t r = 0; r < s->range_count; r++)
            bytes += f->ranges.items[s->range_first + r].end - f->ranges.items[s->range_first + r].begin;
        if (s->kind == SCOPE_STMT)
            buf_printf(out, " %u:%u", s->line_first, (unsigned)bytes / size);
        else if (s->kind == SCOPE_INLINE)
            buf_printf(out, " %s@%u{", strtab_get(f->strings, s->name), s->call_line);
        else
            buf_printf(out, "%s%u-%u", s->kind == SCOPE_LOOP ? " L" : "P", s->line_first, s->line_last);
        if (s->kind == SCOPE_LOOP && s->instances > 1)
            buf_printf(out, " %u/%u", s->instance, s->instances);
        if (s->kind == SCOPE_LOOP || s->kind == SCOPE_PROC)
            buf_char(out, '{');
        if (s->kind != SCOPE_STMT)
            open[depth++] = i;
    }
    while (depth)
        depth--, buf_char(out, '}');
    buf_char(out, '\n');
}

/* Prints all details of the function. */
static void put_whole(struct buf *out, const struct function_scopes *f)
{
    for (size_t i = 0; i < f->scopes.count; i++) {
        const struct scope *s = &f->scopes.items[i];
        const str_id words[] = {s->name, s->short_name, s->link_name, s->origin, s->file, s->call_file};
        buf_printf(out, "%u %u%u%u^%d", s->kind, s->role, s->irreducible, s->outlined, (int)s->parent);
        for (size_t k = 0; k < ARRAY_SIZE(words); k++)
            buf_printf(out, " '%s'", strtab_get(f->strings, words[k]));
        buf_printf(out, " @%u %u-%u #%u %llx %u/%u", s->call_line, s->line_first, s->line_last, s->on_line,
                   (unsigned long long)s->entry, s->instance, s->instances);
        for (uint32_t r = 0; r < s->range_count; r++)
            buf_printf(out, " %llx-%llx", (unsigned long long)f->ranges.items[s->range_first + r].begin,
                       (unsigned long long)f->ranges.items[s->range_first + r].end);
        buf_char(out, '\n');
    }
}

/* The number of instructions with a row that are not in one statement of its line and file, by blocks. */
static unsigned misplaced_code(const struct made *m, const struct cfg *cfg, const struct function_scopes *f)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < m->debug.row_count; i++) {
        const struct line_row *r = &m->debug.rows[i];
        const struct scope *s = NULL;
        bool reached = false, last = i + 1 == m->debug.row_count || r[1].addr > r->addr;
        for (size_t b = 0; b < cfg->block_count; b++)
            reached |= cfg->blocks[b].begin <= r->addr && r->addr < cfg->blocks[b].end;
        if (!reached || !last)
            continue;
        bool there = r->line && r->file != DEBUG_NO_FILE;
        const char *file = r->file < m->debug.file_count ? m->debug.files[r->file] : "";
        unsigned n = statements_at(f, r->addr, &s);
        wrong += n != there || (n && (s->line_first != r->line || strcmp(strtab_get(f->strings, s->file), file) != 0));
    }
    return wrong;
}

static bool has_line(const struct source_line *lines, size_t n, const struct source_line *line)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= assemble_by_line(&lines[i], line) == 0;
    return found;
}

/* All lines with statements, each once: of the last row at an address, if it begins a statement and is more than
   padding at the start of its block; and lines with calls of callees that have such lines. Returns the number of
   surplus and missing lines. */
static size_t wrong_lines(struct assembler *a, const struct made *m, const struct cfg *cfg)
{
    struct VEC(struct source_line) lines = {0};
    const struct debug_function *d = &m->debug;
    size_t wrong = 0;
    for (size_t b = 0; b < cfg->block_count; b++)
        for (size_t i = 0; i < d->row_count; i++) {
            const struct line_row *r = &d->rows[i];
            const struct cfg_block *block = &cfg->blocks[b];
            vaddr end = i + 1 < d->row_count && r[1].addr < block->end ? r[1].addr : block->end;
            struct source_line line = {assemble_inlined_at(a, r->addr), assemble_file(a, r->file), r->line};
            if (r->addr < block->begin || r->addr >= block->end || end == r->addr)
                continue;
            size_t avail;
            struct insn insn;
            const uint8_t *bytes = image_bytes(a->in->image, r->addr, &avail);
            arch_get(ARCH_X86_64)->decode(bytes, avail, r->addr, &insn);
            if (r->addr == block->begin && insn.kind == INSN_PADDING && insn.length == end - r->addr)
                continue;
            if (r->is_stmt && line.line && line.file && !has_line(lines.items, lines.count, &line))
                *vec_push(&lines) = line;
        }
    for (size_t i = 0; i < lines.count; i++) {
        uint32_t call = lines.items[i].inlined;
        const struct inline_call *c = call == INLINE_NONE ? NULL : &d->inlines[call];
        struct source_line line =
            c ? (struct source_line){a->inline_parent.items[call], assemble_file(a, c->call_file), c->call_line}
              : (struct source_line){0};
        if (c && line.line && line.file && !has_line(lines.items, lines.count, &line))
            *vec_push(&lines) = line;
    }
    for (size_t i = 0; i < lines.count; i++)
        wrong += !has_line(a->lines.items, a->lines.count, &lines.items[i]);
    for (size_t i = 1; i < a->lines.count; i++)
        wrong += assemble_by_line(&a->lines.items[i - 1], &a->lines.items[i]) >= 0;
    wrong += lines.count != a->lines.count;
    vec_release(&lines);
    return wrong;
}

static const struct { /* the name of a procedure, and its origin if the name does not contain it */
    const char *name, *from;
} coded_names[] = {{"f", NULL},
                   {"f._omp_fn.0", NULL},
                   {".omp_outlined..1", NULL},
                   {".omp_outlined..1", "origin.isra.0"},
                   {"f.part.0", NULL},
                   {"", NULL},
                   {"_omp_fn", NULL}};

/* The program of a seed, from its bytes. Prints its results, in full or on one line; returns the number of misplaced
   instructions. */
static unsigned test_coded(uint64_t seed, struct assembler *a, bool shown, struct buf *text)
{
    struct made *m = make(seed, true);
    size_t name = draw(&m->code, ARRAY_SIZE(coded_names));
    bool cold = m->texts[1].at > COLD;
    struct function functions[2 + ARRAY_SIZE(called) + 1] = {
        {.begin = TEXT,
         .end = m->texts[0].at,
         .link_name = coded_names[name].name,
         .part_of = FUNCTION_NONE,
         .sized = true},
        {.begin = COLD, .end = m->texts[1].at, .link_name = "f.cold", .part_of = 0, .sized = true}};
    uint8_t noreturn[ARRAY_SIZE(functions)] = {0};
    size_t count = 1 + cold;
    noreturn[count + ABORT] = 1;
    for (size_t i = 0; i <= ARRAY_SIZE(called); i++) {
        const char *who = i < ARRAY_SIZE(called) ? called[i] : coded_names[name].from ? coded_names[name].from : "";
        functions[count++] = (struct function){.begin = CALLED + 16 * i,
                                               .end = CALLED + 16 * i + 16,
                                               .link_name = who,
                                               .part_of = FUNCTION_NONE,
                                               .sized = true};
    }
    struct image_section sections[2] = {{.name = ".text",
                                         .alloc = true,
                                         .exec = true,
                                         .addr = TEXT,
                                         .bytes = guarded_copy(&lent[4], m->texts[0].bytes, m->texts[0].at - TEXT),
                                         .size = m->texts[0].at - TEXT},
                                        {.name = ".cold",
                                         .alloc = true,
                                         .exec = true,
                                         .addr = COLD,
                                         .bytes = guarded_copy(&lent[5], m->texts[1].bytes, m->texts[1].at - COLD),
                                         .size = m->texts[1].at - COLD}};
    const struct image im = {
        .arch = ARCH_X86_64, .path = "/lib/libgomp.so.1", .build_id = "", .sections = sections, .section_count = 2};
    const struct function_table table = {.functions = functions, .count = count, .image = &im};
    const struct addr_range parts[] = {{TEXT, m->texts[0].at}, {COLD, m->texts[1].at}};
    const struct cfg_input input = {
        .image = &im, .functions = &table, .arch = arch_get(ARCH_X86_64), .noreturn = noreturn};
    const struct debug_function origin = {.name = "origin", .link_name = "", .comp_dir = ""};
    const struct debug_function debug = guarded_debug(m->debug);
    struct cfg cfg = {0};
    struct loop_forest forest = {0};
    struct function_scopes out = {0};
    cfg_build(&input, &cfg);
    loop_forest_find(&cfg, &forest);
    const struct cfg graph = guarded_cfg(cfg);
    const struct loop_forest loops = guarded_forest(forest, cfg.block_count);
    const struct assemble_input in = {.image = &im,
                                      .functions = &table,
                                      .parts = parts,
                                      .part_count = 1 + cold,
                                      .cfg = &graph,
                                      .forest = &loops,
                                      .debug = once_in(m, 24) ? NULL : &debug,
                                      .outlined_from = coded_names[name].from ? (uint32_t)count - 1 : FUNCTION_NONE,
                                      .outlined_from_debug = &origin};
    assemble_function(a, &in, &out);
    unsigned wrong = in.debug ? misplaced_code(m, &cfg, &out) : 0;
    if (in.debug && forest.loop_count && seed % 4 == 0)
        wrong += wrong_lines(a, m, &cfg) != 0;
    if (shown)
        put_made(text, &out, 1);
    else
        put_whole(text, &out);
    if (seed % 8 == 0) { /* earlier work of the assembler has no effect on it */
        struct function_scopes again = {0};
        struct buf first = {0}, second = {0};
        exact = true;
        struct assembler *other = assembler_create();
        assemble_function(other, &in, &again);
        exact = false;
        put_whole(&first, &out);
        put_whole(&second, &again);
        wrong += first.len != second.len || memcmp(first.bytes, second.bytes, first.len) != 0;
        assembler_free(other);
        function_scopes_release(&again);
        buf_release(&first);
        buf_release(&second);
    }
    cfg_release(&cfg);
    loop_forest_release(&forest);
    function_scopes_release(&out);
    made_free(m);
    return wrong;
}

static unsigned test_made(uint64_t seed, struct assembler *a, struct found_loops *loops, struct buf *text)
{
    struct made *m = make(seed, false);
    struct function function = {.begin = MADE, .end = m->at, .link_name = "f", .part_of = FUNCTION_NONE};
    struct function_table table = {.functions = &function, .count = 1};
    struct addr_range part = {MADE, m->at};
    struct loop_forest forest = {0};
    struct function_scopes out = {0};
    loop_forest_find(&m->cfg, &forest);
    const struct debug_function debug = guarded_debug(m->debug);
    const struct cfg graph = guarded_cfg(m->cfg);
    const struct loop_forest lent_loops = guarded_forest(forest, graph.block_count);
    const struct assemble_input in = {image, &table, 0, &part, 1, &graph, &lent_loops, &debug, FUNCTION_NONE, NULL};
    assemble_function(a, &in, &out);
    unsigned wrong = misplaced(m, &forest, &out);
    if (!m->noisy)
        count_loops(m, &out, loops);
    put_made(text, &out, 4);
    loop_forest_release(&forest);
    function_scopes_release(&out);
    made_free(m);
    return wrong;
}

static void compare_trees(const char *path, const struct buf *text)
{
    struct filemap map;
    struct err err;
    const char *at = text->bytes, *golden = getenv("GOLDEN");
    if (golden && strcmp(golden, "write") == 0) {
        FILE *f = fopen(path, "w");
        if (!f || fwrite(text->bytes, 1, text->len, f) != text->len || fclose(f) != 0)
            exit(99);
    }
    if (filemap_open(&map, path, &err) < 0) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    const char *want = (const char *)map.bytes, *end = want + map.len;
    for (unsigned number = 0; *at; number++) {
        size_t n = strcspn(at, "\n") + 1, k = 0;
        while (want + k < end && want[k++] != '\n')
            ;
        char *name = mem_printf("line %u of what comes of programs", number + 1);
        if (!tap_result(n == k && memcmp(at, want, n) == 0, name, __FILE__, __LINE__))
            printf("# got    %.*s# wanted %.*s", (int)n, at, (int)k, want);
        mem_free(name);
        at += n;
        want += k;
    }
    filemap_release(&map);
}

/* Adds a digest line for the text since the last one. */
static void close_sheet(struct buf *sheet, struct buf *text, const char *what, uint64_t last)
{
    if (sheet->len)
        buf_printf(text, "%sup to %u: %016llx\n", what, (unsigned)last,
                   (unsigned long long)hash_bytes(sheet->bytes, sheet->len, 0));
    sheet->len = 0;
}

static void test_programs(void)
{
    struct buf text = {0}, sheet = {0};
    struct found_loops loops = {0, 0};
    unsigned wrong = 0;
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "bloop/assemble/made.trees");
    struct assembler *a = assembler_create();
    for (uint64_t seed = 0; seed < SHEETS * SHEET; seed++) {
        unsigned n = test_made(seed, a, &loops, seed < PROGRAMS ? &text : &sheet);
        if (n && wrong++ < 3)
            printf("# program %u: %u instructions are not where they should be\n", (unsigned)seed, n);
        if ((seed + 1) % SHEET == 0)
            close_sheet(&sheet, &text, "", seed);
    }
    for (uint64_t seed = 0; seed < CODED; seed++) {
        unsigned n = test_coded(seed, a, seed < CODED_SHOWN, seed < CODED_SHOWN ? &text : &sheet);
        if (n && wrong++ < 3)
            printf("# program %u with code: %u instructions are not where they should be\n", (unsigned)seed, n);
        if ((seed + 1) % CODED_SHEET == 0)
            close_sheet(&sheet, &text, "with code, ", seed);
    }
    buf_release(&sheet);
    CHECK_INT(wrong, 0);
    printf("# %u of %u loops are not where the source has them\n", loops.lost, loops.all);
    CHECK_NAMED(loops.lost * 25 < loops.all, "96 % of the loops are where the source has them");
    buf_str(&text, "");
    compare_trees(path, &text);
    assembler_free(a);
    buf_release(&text);
    mem_free(path);
}

int main(void)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a); /* uninitialized memory is not zero */
#endif
    exact = true;
    assembler = assembler_create();
    for (size_t i = 0; i < ARRAY_SIZE(drawings); i++)
        test_drawing(&drawings[i], NULL);
    for (size_t i = 0; i < ARRAY_SIZE(of_compilers); i++)
        test_drawing(&of_compilers[i].drawing, of_compilers[i].producer);
    for (uint64_t seed = 0; seed < 300; seed++)
        test_beside(seed);
    assembler_free(assembler);
    exact = false;
    RUN(test_names);
    RUN(test_programs);
    return tap_done();
}
