/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest sizes and depths we accept from input, together, each with its reason.
 * Reaching one is ERR_LIMIT (or a warning) that names the limit; never a crash.
 */
#ifndef SUPPORT_LIMITS_H
#define SUPPORT_LIMITS_H

/* clang-format off: each reason is next to its number */
#define LIMIT_WARNINGS          1000         /* more than anyone reads; the rest is counted */
#define LIMIT_STREAM_BYTES      (1u << 30)   /* input from a pipe is held in memory; a larger one can be made a file */
#define LIMIT_PIPE_SECONDS      10           /* until a pipe without a writer is given up */
#define LIMIT_XML_DEPTH         4096         /* scope trees nest a few hundred deep at most */
#define LIMIT_XML_BYTES         (4ull << 30) /* a structure file of the largest binaries is below 1 GiB */
#define LIMIT_CONFIG_BYTES      (16u << 20)  /* written by hand */
#define LIMIT_METRICS           4096         /* columns; a hundred is unreadable */
#define LIMIT_RUNS              4096         /* named in a configuration; each makes columns of its own */
#define LIMIT_EXPR_BYTES        (64 << 10)   /* formulas are read by people */
#define LIMIT_EXPR_DEPTH        1000 /* brackets, and values waiting for an operator: 8 kB of stack in expr_eval */
#define LIMIT_EXPR_PARAMETERS   16   /* of a function or a template; each takes space in all of them */
#define LIMIT_EXPR_FUNCTIONS    1000
#define LIMIT_THREAD_COLUMNS    256          /* columns of a table by thread; more is unreadable */
#define LIMIT_EXPERIMENT_VALUES (1ull << 32) /* columns x places: three bits each before the first value is stored */
#define LIMIT_SOURCE_INDEX      1000000      /* files below a searched source folder */
#define LIMIT_SOURCE_DEPTH      64           /* folders below each other there */
#define LIMIT_EVENTS            4096       /* each is a row in every table to come; real measurements have a handful */
#define LIMIT_THREADS           (1u << 20) /* of one perf recording; a machine of a thousand processors runs fewer */
#define LIMIT_MAPPINGS                                                                                                 \
    (4u << 20) /* of all processes of a perf recording together; of one 65,536, as the kernel's own limit */
#define LIMIT_PATH_DEPTH         1024       /* frames of one call path; perf's default is 127 */
#define LIMIT_JSON_DEPTH         512        /* arrays and objects in each other */
#define LIMIT_JSON_VALUES        (1u << 27) /* 8 GiB of rows; the text of so many is near the limit on files */
#define LIMIT_BLOCK_BYTES        (1u << 30) /* one block of a database after unpacking: 128 million places */
#define LIMIT_IMPORT_BYTES       (4ull << 30) /* another tool's file after unpacking: packed zeros are a thousandth of that */
#define LIMIT_UNPACKED_IN_MEMORY (16u << 20) /* of it; a larger one goes through a temporary file */
#define LIMIT_SOURCE_BYTES       (16u << 20) /* one source file shown in a page */
#define LIMIT_SECTION_BYTES                                                                                            \
    (8ull << 30) /* one decompressed debug section; the largest programs have 2-3 GiB of .debug_info */
#define LIMIT_MANGLED_BYTES         16384 /* a longer symbol is shown as it is: the demangler needs stack in proportion */
#define LIMIT_DEMANGLED_BYTES       65536        /* mangled names can be made to grow exponentially */
#define LIMIT_DATABASE_SOURCE_BYTES (512u << 20) /* all source text in one database: about 100 MB of files */
#define LIMIT_DWARF_DEPTH                                                                                              \
    512 /* scopes and inlined calls nest some dozens deep; each level is walked over once more by its parent */
#define LIMIT_RANGES_OF_ENTRY      (1u << 20)   /* pieces of one procedure, or of one unit */
#define LIMIT_LINE_ROWS            (16u << 20)  /* of one unit; the largest seen have about a million */
#define LIMIT_INLINES_OF_PROCEDURE (1u << 20)   /* the largest seen have some ten thousand */
#define LIMIT_VARIABLES            (1u << 18)   /* of one program's frames and COMMON blocks; a large one has 30,000 */
#define LIMIT_VARIABLES_BYTES      (256u << 20) /* of .debug_info that is searched for them: 10 s */
#define LIMIT_FOLDER_UNITS         4096         /* whose sources say what folder they are in: 40 ms */
#define LIMIT_LOOP_INSTRUCTIONS    16384 /* of one loop that quality/ looks at; unrolled by hand a few thousand */
#define LIMIT_CHILD_BYTES          (256u << 20) /* output of another program; llvm-mca prints some 2 kB a loop */
#define LIMIT_MODEL_LOOPS          1000         /* that llvm-mca is asked about at a time: 4 s */
#define LIMIT_MODEL_INSTRUCTIONS   500          /* of such a loop: it goes through them 84 times, 0.1 s */
#define LIMIT_MODEL_SECONDS        30           /* of all of its processes */
#define LIMIT_IDEAL_BYTES          (8u << 20)   /* of machine code of one module whose ideal cycles are counted: 5 s */
#define LIMIT_LISTED_BYTES         (400u << 10) /* of machine code shown in one database: 100,000 instructions, 1.5 MB */
#define LIMIT_TABLES               256          /* tables of one experiment; a folder has a few */
#define LIMIT_TABLE_COLUMNS        64           /* of such a table; more side by side is unreadable */
#define LIMIT_TABLE_ROWS           (1u << 26)   /* 67 million evictor pairs; 512 MiB a column */
/* clang-format on */

#endif
