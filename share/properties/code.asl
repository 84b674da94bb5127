/*
 * Problems in the machine code of loops (the rows of loop_checks), weighted by the time spent in the loop; and barriers and
 * waits that were timed (record --phases).
 */

/*
 * The possible gain of a check follows from bounds, and only some checks have one. For the others 0 to 20% of the loop's time is assumed,
 * with half the confidence, and the evidence says so. The lower end of an interval is what is gained if the data come from memory and the
 * trip count is small, where neither is known.
 */
LET not_estimated_as = 20;
LET always = 1;

/*
 * What waiting can cost at all: the part of the CPUs that the threads could use and did not, while the busiest of them worked. Its time is
 * the clock, because other programs slow all threads alike. Time inside runtime libraries and MPI is spinning, not work. With several processes,
 * or if the CPUs are not known, each thread counts as a CPU.
 */
LET could_run = if(run.processes > 1.5, total(count(time over threads)), min(total(count(time over threads)), or(run.processors, total(count(time over threads)))));
LET worked = total(own_time) / total(max(time over threads)) * (1 - or(run.in_runtimes, 0));
LET idle_part = or(max(1 - worked / could_run, 0), 1);
LET may_wait = min(or(run.in_runtimes, 0) + idle_part, 1);
/*
 * Only for loops with known lines, because a remedy is applied to the source or its compilation. For stripped libraries, whose loops
 * may wait for other threads, the table loop_checks has everything.
 */

PROPERTY LoopCheck {
    // Djoudi, Barthou et al., "MAQAO: Modular Assembler Quality Analyzer and Optimizer for Itanium 2", EPIC-4, 2005: properties
    // of loops' code by static analysis, with what each may gain.
    FOR ROWS OF loop_checks;
    WHERE check IS NOT "address-work|tiny|narrow-vectors|remainder|not-optimized|busy-wait|copy|update-in-memory"; // which have conditions of their own
    CONDITION: (estimated) or(gain, 0) > 0 AND share(time) > 0.02 AND place.has_source
            OR (not_estimated) or(gain, -1) < 0 AND share(time) > 0.02 AND place.has_source;
    CONFIDENCE: MAX((estimated) -> confidence, (not_estimated) -> confidence / 2);
    SEVERITY: MAX((estimated) -> gain * share(time), (not_estimated) -> not_estimated_as * share(time));
    LEAST: MAX((estimated) -> or(gain_low, 0) * share(time), (not_estimated) -> 0);
    NEEDS: time;
    TITLE: "{check}";
    EVIDENCE: (estimated) -> "{found}; the loop takes {share(time):%} of the time, of which {or(gain_low, 0):.0} to {gain:.0}% can be saved",
              (not_estimated) -> "{found}; the loop takes {share(time):%} of the time; the possible gain is not estimated (0 to {not_estimated_as}% of this time assumed)";
    REMEDY: "{remedy}";
}

PROPERTY NotOptimized {
    // Hoste and Eeckhout, "COLE: Compiler Optimization Level Exploration", CGO 2008: between no optimization and the first level lies
    // about half of the time, and most of what compilers gain.
    FOR ROWS OF loop_checks;
    WHERE check IS "not-optimized";
    TOGETHER;
    CONDITION: share(time) > 0 AND place.has_source;
    CONFIDENCE: confidence;
    SEVERITY: 90 * share(time);
    LEAST: 40 * share(time);
    NEEDS: time;
    TITLE: "Compiled without optimization";
    EVIDENCE: "{found}; the loop takes {share(time):%} of the time, half of which or more optimization saves; code outside loops gains as well";
    EXPLANATION: "Each variable is loaded before each use and stored after it; nothing is inlined or vectorized.";
    REMEDY: "{remedy}";
}

PROPERTY TEMPLATE Check<String words, Gain, When, String title> (Row r) {
    FOR ROWS OF loop_checks;
    REFINES LoopCheck;
    WHERE check IS words;
    LET may_gain = Gain;
    CONDITION: (estimated) or(may_gain, 0) > 0 AND share(time) > 0.02 AND place.has_source AND (When)
            OR (not_estimated) or(may_gain, -1) < 0 AND share(time) > 0.02 AND place.has_source AND (When);
    CONFIDENCE: MAX((estimated) -> confidence, (not_estimated) -> confidence / 2);
    SEVERITY: MAX((estimated) -> may_gain * share(time), (not_estimated) -> not_estimated_as * share(time));
    LEAST: MAX((estimated) -> min(or(gain_low, 0), may_gain) * share(time), (not_estimated) -> 0);
    NEEDS: time;
    TITLE: title;
    EVIDENCE: (estimated) -> "{found}; the loop takes {share(time):%} of the time, of which {min(or(gain_low, 0), may_gain):.0} to {may_gain:.0}% can be saved",
              (not_estimated) -> "{found}; the loop takes {share(time):%} of the time; the possible gain is not estimated (0 to {not_estimated_as}% of this time assumed)";
    REMEDY: "{remedy}";
}
// Latencies: Fog, "Instruction tables"; 10 to 40 cycles that do not overlap.
PROPERTY Division = Check<"division|int-division|square-root", gain, always, "Divisions limit the loop">;
// Not vectorized: Maleki et al., "An Evaluation of Vectorizing Compilers", PACT 2011.
PROPERTY NotVectorized = Check<"scalar|partly-vectorized", gain, always, "Not vectorized, or only in part">;
// Sums in order: Goldberg, "What Every Computer Scientist Should Know About Floating-Point Arithmetic", 1991.
PROPERTY Reduction = Check<"reduction|reduction-by-hand", gain, always, "Serial reduction limits the loop">;
// Compilers double the width and stop there unless asked for more (-mprefer-vector-width of gcc and clang). Vectors that are put
// together from strided or indirect references do not gain from being longer.
PROPERTY NarrowVectors = Check<"narrow-vectors", min(gain, 50), or(loop_quality.stride_more, 0) + or(loop_quality.indirect, 0) <= 0, "Vectors narrower than the processor's">;
// A gather costs about as much as its loads: Fog, "Instruction tables"; Intel's optimization manual, 15.16.
PROPERTY Gather = Check<"gather|scatter|indirect", gain, always, "Indirect references">;
// Fog, "Optimizing software in C++", 7.12: branches that go both ways.
PROPERTY Branches = Check<"branches|bounds-check", gain, always, "Branches inside the loop">;
// Versions by test at run time: Alves, Gruber et al., "Runtime Pointer Disambiguation", OOPSLA 2015.
PROPERTY Versions = Check<"versions", gain, always, "Several versions of the loop: arrays may overlap">;
// Spilled values: Djoudi, Barthou et al. (MAQAO), as above.
PROPERTY Spills = Check<"spill", gain, always, "Register spills">;
// Fog, "Optimizing software in C++", 14.4: mixing float and double.
PROPERTY Conversions = Check<"conversion|float-double", gain, always, "Conversions between types">;
// Calls keep loops from being vectorized: Maleki et al., as above.
PROPERTY CallsInLoop = Check<"call", gain, always, "Calls in the loop">;
// Strides: MAQAO, as above; Drepper, "What Every Programmer Should Know About Memory", 2007, 6.2.
PROPERTY Strides = Check<"stride", gain, always, "Strided references">;
// Latency of loop-carried values: Fog, "Optimizing subroutines in assembly language", 9.5.
PROPERTY Chains = Check<"chain|chain-through-memory", gain, always, "Loop-carried dependency limits the loop">;
// Lists are read one latency after the other: Drepper, "What Every Programmer Should Know About Memory", 2007, 3.3.2.
PROPERTY ListWalk = Check<"list-walk", gain, always, "Pointer chasing: loads depend on previous loads">;
// Unrolling gains where instructions are the limit; loops of vectors wait for their loads and stores first: Hofmann et al.,
// "Execution-Cache-Memory Performance Model", 2015.
PROPERTY TinyLoop = Check<"tiny", gain, or(loop_quality.vectorized, 0) <= 0, "Tiny loop body, not unrolled">;
// MAQAO, as above. In a loop with several paths, the conditions are the work.
PROPERTY AddressWork = Check<"address-work|address-multiply", gain, or(loop_quality.paths, 1) <= 1, "Mostly address arithmetic">;
// A locked instruction costs some 20 cycles, alone: Fog, "Instruction tables".
PROPERTY LockedLoop = Check<"locked", gain, always, "Atomic operations in the loop">;

PROPERTY SharedLine {
    // Two threads that write one cache line take it from each other with each store: Torrellas, Lam and Hennessy, "False Sharing
    // and Spatial Locality in Multiprocessor Caches", IEEE ToC 1994. Whether another thread writes next to the variable, the
    // simulation knows (FalseSharing); a local variable helps in any case.
    FOR ROWS OF loop_checks;
    WHERE check IS "update-in-memory";
    CONDITION: (shared) run.threads > 1.5 AND share(time) > 0.02 AND place.has_source
            OR (alone) run.threads < 1.5 AND share(time) > 0.02 AND place.has_source;
    CONFIDENCE: MAX((shared) -> 0.6, (alone) -> confidence);
    SEVERITY: or(gain, not_estimated_as) * share(time);
    LEAST: or(gain_low, 0) * share(time);
    NEEDS: time;
    TITLE: (shared) -> "A variable in memory is updated in each iteration: false sharing is possible",
           (alone) -> "A variable in memory is updated in each iteration";
    EVIDENCE: "{found}; the loop takes {share(time):%} of the time";
    EXPLANATION: (shared) -> "Each load waits for the store before it. If other threads write other variables of the same cache line, each store also waits for the line.",
                 (alone) -> "Each load waits for the store before it.";
    REMEDY: "{remedy}";
}

PROPERTY ArrayCopies {
    // gfortran copies arguments that are not contiguous into a temporary array for each call, and back.
    FOR ROWS OF loop_checks;
    WHERE check IS "copy";
    CONDITION: share(time) > 0.02 AND place.has_source;
    CONFIDENCE: confidence;
    SEVERITY: or(gain, 50) * share(time);
    LEAST: or(gain_low, 0) * share(time);
    NEEDS: time;
    TITLE: "Copying arrays";
    EVIDENCE: "{found}; it takes {share(time):%} of the time, of which {or(gain_low, 0):.0} to {gain:.0}% can be saved";
    EXPLANATION: "The data are the same before and after: compilers make such loops also for arguments and for the results of expressions.";
    REMEDY: "{remedy}";
}

PROPERTY BusyWait {
    // Spinning on a flag: Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors", IEEE TPDS 1990. What
    // the waiting thread could do meanwhile is not known: at most all of its time there.
    FOR ROWS OF loop_checks;
    WHERE check IS "busy-wait";
    CONDITION: share(time) > 0.02;
    CONFIDENCE: confidence;
    SEVERITY: 100 * share(time);
    LEAST: 50 * share(time);
    NEEDS: time;
    TITLE: "Busy waiting on a variable";
    EVIDENCE: "{found}; {share(time):%} of the time is spent there";
    EXPLANATION: "The thread reads one address until another thread, or a device, changes it, and does no work meanwhile.";
    REMEDY: "{remedy}";
}

PROPERTY Remainder {
    // What is left over of a loop of vectors: Maleki et al., as above; and what runs where arrays overlap (Alves, Gruber et al.).
    FOR INNERMOST;
    REFINES NotVectorized;
    WHERE role IS "remainder";
    LET may_gain = 1 - loop_quality.if_vectorized / loop_quality.bound;
    CONDITION: (estimated) or(may_gain, 0) > 0 AND share(time) > 0.02 OR (not_estimated) or(may_gain, -1) < 0 AND share(time) > 0.02;
    CONFIDENCE: MAX((estimated) -> 0.8, (not_estimated) -> 0.4);
    SEVERITY: MAX((estimated) -> 100 * may_gain * share(time), (not_estimated) -> not_estimated_as * share(time));
    LEAST: 0;
    NEEDS: time;
    TITLE: "Scalar remainder of a vectorized loop";
    EVIDENCE: (estimated) -> "this copy of the loop takes {share(time):%} of the time; vectorized it would take {may_gain:%} less",
              (not_estimated) -> "this copy of the loop takes {share(time):%} of the time; the possible gain is not estimated ({not_estimated_as}% of this time assumed)";
    EXPLANATION: "The compiler made a vectorized loop, and this scalar one for the remaining iterations and for arrays that overlap.";
    REMEDY: "Declare pointers restrict, and copy values that the loop reads through a pointer into variables before it. If the trip count is small, make it a multiple of the vector length, pad the arrays, or vectorize the surrounding loop.";
}

/* ---- barriers and waits, timed --------------------------------------------------------------- */

/*
 * Waiting is a share of the run's time, summed as the waiting is: over all threads that came to a barrier, of all ranks, and over at
 * least all ranks, as some may not meet there; and over the threads that computed, or the ranks, for other waits.
 */
LET run_of_barrier = max(or(participants, threads), or(run.ranks, 1)) * run.seconds * 1e9;
LET run_of_threads = min(or(total(count(time over threads)), run.threads), run.threads) * run.seconds * 1e9;
LET run_of_ranks = max(run.ranks, 1) * run.seconds * 1e9;

PROPERTY BarrierImbalance {
    // ompP and Periscope: waiting over duration x threads, above 5%.
    FOR ROWS OF barriers;
    REFINES Parallel;
    CONDITION: episodes > 0 AND idle > 0.01 * run_of_barrier;
    CONFIDENCE: 0.9;
    SEVERITY: min(100 * idle / run_of_barrier, or(100 * may_wait, 100));
    NEEDS: idle;
    TITLE: "Threads wait at the {kind} {place}";
    EVIDENCE: "{episodes} episodes, {idle / 1e6:.0} ms of waiting over all threads";
    EXPLANATION: "The first thread at a barrier waits for the last.";
    REMEDY: "Balance the work of the threads between this barrier and the previous one.";
}

PROPERTY BarrierShare {
    // Barrier time over phase time, both of the wall clock: SBT (2002), its figures 4 and 6.
    FOR ROWS OF barriers;
    REFINES BarrierImbalance;
    CONDITION: episodes > 0 AND barrier > 0.2 * phase AND idle > 0.01 * run_of_barrier;
    CONFIDENCE: 0.9;
    SEVERITY: min(100 * idle / run_of_barrier, or(100 * may_wait, 100));
    NEEDS: idle;
    TITLE: "Long barrier time at the {kind} {place}";
    EVIDENCE: "barrier time (first to last arrival) is {barrier / phase:%} of the phase time, over {episodes} episodes";
    EXPLANATION: "The first thread at a barrier waits for the last.";
    REMEDY: "Balance the work of the threads between this barrier and the previous one.";
}

PROPERTY LateThread {
    // One thread is last more often than by chance (three deviations of a binomial distribution).
    FOR ROWS OF barriers;
    REFINES BarrierShare;
    CONDITION: threads > 1.5 AND episodes >= 5 AND last_share > 75 AND last_share / 100 > 1 / threads + 3 * sqrt((1 - 1 / threads) / threads / episodes);
    CONFIDENCE: 0.95;
    SEVERITY: min(100 * idle / run_of_barrier, or(100 * may_wait, 100));
    NEEDS: idle;
    TITLE: "One thread always late at the {kind} {place}";
    EVIDENCE: "{last_thread} is last in {last_share / 100:%} of {episodes} episodes, in which the others wait {idle / 1e6:.0} ms in total";
    EXPLANATION: "It has more work, or it runs slower: on a CPU that it shares, or that has a lower clock.";
    REMEDY: "Give this thread less work. If its work is the same as the others', check its CPU (pinning, other programs).";
}

PROPERTY SerialPhase {
    // SBT's rule: if one thread's inter-arrival time is about as long as the phase, the others only waited for it.
    FOR ROWS OF barriers;
    REFINES BarrierShare;
    CONDITION: threads > 1.5 AND episodes > 0 AND idle > 0.8 * (threads - 1) * phase;
    CONFIDENCE: 0.95;
    SEVERITY: min(100 * idle / run_of_barrier, or(100 * may_wait, 100));
    NEEDS: idle;
    TITLE: "Serial phase before the {kind} {place}";
    EVIDENCE: "one thread works while the others wait {idle / (threads - 1) / phase:%} of the {phase / 1e6:.0} ms of the phase";
    EXPLANATION: "The phase takes as long as the work that its last thread does alone.";
    REMEDY: "Distribute its work, or let the other threads continue with independent work.";
}

PROPERTY ImbalanceGrows {
    // The same barrier with more threads: SBT compares runs side by side.
    FOR ROWS OF barriers_compared;
    CONDITION: threads > base_threads AND imbalance > base_imbalance + 5 AND (imbalance - base_imbalance) / 100 * phase > 0.01 * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: (imbalance - base_imbalance) * phase / (run.seconds * 1e9);
    TITLE: "Waiting grows with threads at the {kind} {place}";
    EVIDENCE: "waiting is {base_imbalance / 100:%} of the phase with {base_threads} threads, {imbalance / 100:%} with {threads}";
    EXPLANATION: "The work becomes less balanced, or a part of it stays with one thread.";
    REMEDY: "Distribute the work in smaller pieces. Find which thread is last, and what it does alone.";
}

PROPERTY BarrierOverhead {
    // EPCC OpenMP microbenchmarks (Bull, 1999): a barrier costs a microsecond and more, even if no thread is late.
    FOR ROWS OF barriers;
    REFINES Parallel;
    TOGETHER;
    CONDITION: overhead > 0.001 * run.seconds * 1e9;
    CONFIDENCE: 0.8;
    SEVERITY: min(100 * overhead / (run.seconds * 1e9), or(100 * may_wait, 100));
    NEEDS: overhead;
    TITLE: "Barrier overhead, most at the {kind} {place}";
    EVIDENCE: "{overhead / episodes / 1e3:.1} us from the last arrival to the first departure, {episodes} times";
    EXPLANATION: "After the last arrival the runtime must release all threads. If there are more threads than CPUs, or other programs run, some threads must be scheduled first.";
    REMEDY: "Use fewer barriers: larger parallel regions, nowait, several loops in one region. Start no more threads than CPUs.";
}

PROPERTY SmallPhases {
    // Tasks and regions too small: Periscope's OpenMP properties.
    FOR ROWS OF barriers;
    REFINES Parallel;
    CONDITION: episodes > 100 AND phase / episodes < 50000 AND phase > 0.05 * run.seconds * 1e9;
    CONFIDENCE: 0.6;
    SEVERITY: 100 * min(1, 2000 * episodes / phase) * phase / (run.seconds * 1e9);
    TITLE: "Little work between barriers at {place}";
    EVIDENCE: "{phase / episodes / 1e3:.1} us between barriers, {episodes} times";
    REMEDY: "Merge parallel loops so that each does more work; run small ones on one thread (an if clause).";
}

PROPERTY TEMPLATE ThreadsWait<String kinds, String what, String why, String how> (ROW w) {
    // Waiting time by place: Tallent et al., "Analyzing Lock Contention in Multithreaded Applications", PPoPP 2010. The join of
    // the thread that created the others is not a problem, and MPI libraries have threads of their own.
    FOR ROWS OF waits;
    REFINES Parallel;
    WHERE kind IS kinds AND module IS NOT "libmpi*|libopen-*|libpmix*|libmpich*|mca_*";
    CONDITION: waited > 0.01 * run_of_threads;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * waited / run_of_threads;
    NEEDS: waited;
    TITLE: what;
    EVIDENCE: "{times} times, {waited / 1e6:.0} ms over all threads, at most {worst / 1e3:.0} us";
    EXPLANATION: why;
    REMEDY: how;
}
PROPERTY TimedWaits = ThreadsWait<"mutex|rwlock|omp critical|omp lock", "Threads wait ({kind}) at {place}",
    "Another thread holds the lock.",
    "Hold the lock for less time. Use a lock for each part of the data, or a sum for each thread (reduction).">;
PROPERTY SignalWaits = ThreadsWait<"condition|semaphore", "Threads wait for work ({kind}) at {place}",
    "Another thread has not yet produced what this one needs.",
    "Produce it earlier or in smaller pieces, let several threads produce, or start fewer threads that consume.">;
// Periscope's OpenMP task properties; waiting for tasks that others still execute.
PROPERTY TaskWaits = ThreadsWait<"omp taskwait", "Threads wait for tasks ({kind}) at {place}",
    "The thread executes tasks until none are left, then waits for the last ones.",
    "Create more tasks of smaller size, so that idle threads find work, and start the longest ones first.">;
PROPERTY OrderedWaits = ThreadsWait<"omp ordered|omp single copyprivate", "Threads wait for their turn ({kind}) at {place}",
    "Iterations or threads execute this block one after the other.",
    "Move work out of the ordered or single block, or write results by index and combine them after the loop.">;

PROPERTY TEMPLATE RanksWait<String kinds, String what, String why, String how> (ROW w) {
    // Waiting time of calls: Vetter and McCracken (mpiP), PPoPP 2001; Wolf and Mohr, 2003.
    FOR ROWS OF waits;
    REFINES MessagePassing;
    WHERE kind IS kinds;
    CONDITION: waited > 0.01 * run_of_ranks;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * waited / run_of_ranks;
    NEEDS: waited;
    TITLE: what;
    EVIDENCE: "{times} times, {waited / 1e6:.0} ms of {run.seconds:.2} s over {run.ranks} ranks, at most {worst / 1e6:.1} ms";
    EXPLANATION: why;
    REMEDY: how;
}
PROPERTY MessageWaits = RanksWait<"MPI message", "Ranks wait for messages at {place}",
    "The message was sent late, or the receiver of a large message was late.",
    "Find what the partner does meanwhile and balance it. Then post receives early, and compute between sending and waiting.">;
PROPERTY CollectiveWaits = RanksWait<"MPI collective", "Ranks wait in a collective call at {place}",
    "The root, or another rank that the call needs, comes late.",
    "Balance the work before the call. Then use a nonblocking collective and compute meanwhile.">;
