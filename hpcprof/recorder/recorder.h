/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder - the code of hpcview that lives in the measured program (libhpcview-record.so, libhpcview-record-phases.so,
 * libhpcview-record.a). The part of the simulator that lives there (mhsim/runtime, mhsim/engine) follows the same rules.
 *
 *   program's threads                         helper thread (one, all signals blocked)
 *   kernel ring or signal handler  -- pc -->  drained 20 times a second, placed in (module, address), counted in cells,
 *                                             appended to the file twice a second
 *
 * The rules:
 *  - No heap: memory comes from mmap. Descriptors are kept high and close-on-exec.
 *  - No output: nothing is ever printed. Errors are noted in the measurement (hpcrec_missing).
 *  - No lock of the program's, and one of ours (hpcrec_lock), which guards all tables. Its owner has its signals
 *    blocked meanwhile. It is never held over file output.
 *  - A signal handler of ours only writes into the queues of its thread: no lock, no memory, no system call (but to
 *    read, for a call path, a stack that is not the thread's own).
 *  - Only the helper writes the file. Others ask it to (hpcrec_ask) and wait.
 *  - After fork the child forgets everything and starts anew; a vfork child (our memory, not our process) does nothing:
 *    hpcrec_active() distinguishes them.
 *  - No library but libc, and no folder of hpcview's outside of this one but the numbers of the file (format/format.h).
 *
 * The folders, each using those before it (tests/folders.sh):
 *   base      memory, text, system calls, descriptors, configuration, the state that all share
 *   unwind    call frame information -> callers
 *   output    samples -> modules, contexts, counts -> the file
 *   sampling  perf's ring, PAPI, timers, the signals they use
 *   process   beginning and end, the helper, threads, fork and exec, environment
 *   barriers  barriers and waits, in a library of its own; called through struct barrier_calls
 */
#ifndef HPCPROF_RECORDER_H
#define HPCPROF_RECORDER_H

#include "hpcprof/recorder/protocol.h"

enum {
    EVENTS_MAX = RECORD_EVENTS_MAX,
    DRAIN_MS = 50,       /* how often rings are emptied: 20 times a second */
    PATHS_DRAIN_MS = 20, /* with call paths, for which a sample takes a thousand times the space */
    FLUSH_MS = 500,      /* how often counts go to the file: SIGKILL loses at most that much */
    QUEUE_ENTRIES = 512, /* samples of one thread that signal handlers hold until drained */
    MARKS = 128,         /* region changes of one thread between two drains */
};

#endif
