/*
 * What a loop's machine code says (the rows of loop_checks, by static loop quality), weighed by the time spent in the
 * loop; and what barriers and waits said that were timed (record --phases).
 */

/*
 * What a check may gain follows from bounds, and is known of some of them only. Of the others nothing is known but that they cost something:
 * they are ranked as if that were 5% of the loop, with half of the confidence, and say so.
 */
LET not_estimated_as = 5;
LET always = 1;
/*
 * Only of loops whose lines are known: what helps is to be written there, or where they are compiled. Of stripped libraries, whose
 * loops may wait for other threads, the table loop_checks has all that is to be said.
 */

PROPERTY LoopCheck {
    // Djoudi, Barthou et al., "MAQAO: Modular Assembler Quality Analyzer and Optimizer for Itanium 2", EPIC-4, 2005: properties
    // of loops' code by static analysis, with what each may gain.
    FOR ROWS OF loop_checks;
    WHERE check IS NOT "address-work|tiny|narrow-vectors|remainder|not-optimized"; // which have conditions of their own
    CONDITION: (estimated) or(gain, 0) > 0 AND share(time) > 0.02 AND place.has_source
            OR (not_estimated) or(gain, -1) < 0 AND share(time) > 0.02 AND place.has_source;
    CONFIDENCE: MAX((estimated) -> confidence, (not_estimated) -> confidence / 2);
    SEVERITY: MAX((estimated) -> gain * share(time), (not_estimated) -> not_estimated_as * share(time));
    NEEDS: time;
    TITLE: "{check}";
    EVIDENCE: (estimated) -> "{found}; the loop has {share(time):%} of the time, of which {gain:.0}% may be gained",
              (not_estimated) -> "{found}; the loop has {share(time):%} of the time; what may be gained is not estimated (it is ranked as {not_estimated_as}% of that)";
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
    SEVERITY: 50 * share(time);
    NEEDS: time;
    TITLE: "Compiled without optimization";
    EVIDENCE: "{found}; the loop has {share(time):%} of the time, about half of which optimization saves; what is not in loops gains as well";
    EXPLANATION: "Each variable is loaded before each use and stored after it, and nothing is inlined or vectorized.";
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
    NEEDS: time;
    TITLE: title;
    EVIDENCE: (estimated) -> "{found}; the loop has {share(time):%} of the time, of which {may_gain:.0}% may be gained",
              (not_estimated) -> "{found}; the loop has {share(time):%} of the time; what may be gained is not estimated (it is ranked as {not_estimated_as}% of that)";
    REMEDY: "{remedy}";
}
// Latencies: Fog, "Instruction tables"; 10 to 40 cycles that do not overlap.
PROPERTY Division = Check<"division|int-division|square-root", gain, always, "Divisions bound the loop">;
// Not vectorized: Maleki et al., "An Evaluation of Vectorizing Compilers", PACT 2011.
PROPERTY NotVectorized = Check<"scalar|partly-vectorized", gain, always, "Not vectorized, or not in full">;
// Sums in order: Goldberg, "What Every Computer Scientist Should Know About Floating-Point Arithmetic", 1991.
PROPERTY Reduction = Check<"reduction", gain, always, "A sum is added up in order, term after term">;
// Compilers double the width and stop there where nobody asks for more (-mprefer-vector-width of gcc and clang). Vectors that are put
// together from strided or indirect references gain nothing from being longer.
PROPERTY NarrowVectors = Check<"narrow-vectors", min(gain, 50), or(loop_quality.stride_more, 0) + or(loop_quality.indirect, 0) <= 0, "Vectors narrower than the processor's">;
// A gather costs about as much as its loads: Fog, "Instruction tables"; Intel's optimization manual, 15.16.
PROPERTY Gather = Check<"gather|scatter|indirect", gain, always, "Indirect references">;
// Fog, "Optimizing software in C++", 7.12: branches that go both ways.
PROPERTY Branches = Check<"branches|bounds-check", gain, always, "Branches inside the loop">;
// Versions by test at run time: Alves, Gruber et al., "Runtime Pointer Disambiguation", OOPSLA 2015.
PROPERTY Versions = Check<"versions", gain, always, "Versions of the loop, because arrays may overlap">;
// Spilled values: Djoudi, Barthou et al. (MAQAO), as above.
PROPERTY Spills = Check<"spill", gain, always, "More values than registers">;
// Fog, "Optimizing software in C++", 14.4: mixing float and double.
PROPERTY Conversions = Check<"conversion|float-double", gain, always, "Conversions between types">;
// Calls keep loops from being vectorized: Maleki et al., as above.
PROPERTY CallsInLoop = Check<"call", gain, always, "Calls in the loop">;
// Strides: MAQAO, as above; Drepper, "What Every Programmer Should Know About Memory", 2007, 6.2.
PROPERTY Strides = Check<"stride", gain, always, "References jump over memory">;
// Latency of what is handed on: Fog, "Optimizing subroutines in assembly language", 9.5.
PROPERTY Chains = Check<"chain|chain-through-memory", gain, always, "Each iteration waits for the one before">;
// Lists are read one latency after the other: Drepper, "What Every Programmer Should Know About Memory", 2007, 3.3.2.
PROPERTY ListWalk = Check<"list-walk", gain, always, "A list is followed, element after element">;
// Unrolling gains where instructions are the limit; loops of vectors wait for their loads and stores first: Hofmann et al.,
// "Execution-Cache-Memory Performance Model", 2015.
PROPERTY TinyLoop = Check<"tiny", gain, or(loop_quality.vectorized, 0) <= 0, "A tiny body, not unrolled">;
// MAQAO, as above. Of a loop of several ways, the conditions are the work.
PROPERTY AddressWork = Check<"address-work|address-multiply", gain, or(loop_quality.paths, 1) <= 1, "Most instructions only make addresses">;
// A locked instruction costs some 20 cycles, alone: Fog, "Instruction tables".
PROPERTY LockedLoop = Check<"locked", gain, always, "Atomic operations in the loop">;

PROPERTY Remainder {
    // What is left over of a loop of vectors: Maleki et al., as above; and what runs where arrays overlap (Alves, Gruber et al.).
    FOR INNERMOST;
    REFINES NotVectorized;
    WHERE role IS "remainder";
    LET may_gain = 1 - loop_quality.if_vectorized / loop_quality.bound;
    CONDITION: (estimated) or(may_gain, 0) > 0 AND share(time) > 0.02 OR (not_estimated) or(may_gain, -1) < 0 AND share(time) > 0.02;
    CONFIDENCE: MAX((estimated) -> 0.8, (not_estimated) -> 0.4);
    SEVERITY: MAX((estimated) -> 100 * may_gain * share(time), (not_estimated) -> not_estimated_as * share(time));
    NEEDS: time;
    TITLE: "The time is in the scalar copy of a loop of vectors";
    EVIDENCE: (estimated) -> "this copy of the loop has {share(time):%} of the time; as vectors it would take {may_gain:%} less of it",
              (not_estimated) -> "this copy of the loop has {share(time):%} of the time; what may be gained is not estimated (it is ranked as {not_estimated_as}% of that)";
    EXPLANATION: "The compiler made a loop of vectors, and this one for what is left over, and for arrays that overlap.";
    REMEDY: "Where the loop runs a few times only: make the trip count a multiple of the vectors' length, pad the arrays, or vectorize the loop around it. Where arrays seem to overlap: copy what the loop reads through a pointer into a variable before it, and declare pointers restrict.";
}

/* ---- barriers and waits, timed --------------------------------------------------------------- */

PROPERTY BarrierImbalance {
    // ompP and Periscope: waiting over duration x threads, above 5%.
    FOR ROWS OF barriers;
    REFINES Parallel;
    CONDITION: episodes > 0 AND idle > 0.01 * threads * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * idle / (threads * run.seconds * 1e9);
    TITLE: "Threads wait for the last one at the {kind} {place}";
    EVIDENCE: "{episodes} times, {idle / 1e6:.0} ms in all threads together";
    EXPLANATION: "Who arrives first at a barrier waits until the last is there.";
    REMEDY: "Give all threads as much to do between this barrier and the one before.";
}

PROPERTY BarrierShare {
    // Barrier time over phase time, both of the wall clock: SBT (2002), its figures 4 and 6.
    FOR ROWS OF barriers;
    REFINES BarrierImbalance;
    CONDITION: episodes > 0 AND barrier > 0.2 * phase AND idle > 0.01 * threads * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * idle / (threads * run.seconds * 1e9);
    TITLE: "Much of the phase before the {kind} {place} is waiting";
    EVIDENCE: "from the first arrival to the last {barrier / phase:%} of the phase's time, {episodes} times";
    EXPLANATION: "Who arrives first at a barrier waits until the last is there.";
    REMEDY: "Give all threads as much to do between this barrier and the one before.";
}

PROPERTY LateThread {
    // One thread last each time, more often than chance would have it (three deviations of a binomial distribution).
    FOR ROWS OF barriers;
    REFINES BarrierShare;
    CONDITION: threads > 1.5 AND episodes >= 5 AND last_share > 75 AND last_share / 100 > 1 / threads + 3 * sqrt((1 - 1 / threads) / threads / episodes);
    CONFIDENCE: 0.95;
    SEVERITY: 100 * idle / (threads * run.seconds * 1e9);
    TITLE: "One thread is nearly always the last at the {kind} {place}";
    EVIDENCE: "the same one in {last_share / 100:%} of {episodes} episodes, in which the others wait {idle / 1e6:.0} ms together";
    EXPLANATION: "It has more to do each time, or it runs slower: on a processor that it shares, or that is clocked lower.";
    REMEDY: "Give this thread less; where its work is the same, look at its processor (pinning, other programs).";
}

PROPERTY SerialPhase {
    // SBT's rule: where one thread's inter-arrival time is about as long as the phase, the others only waited for it.
    FOR ROWS OF barriers;
    REFINES BarrierShare;
    CONDITION: threads > 1.5 AND episodes > 0 AND idle > 0.8 * (threads - 1) * phase;
    CONFIDENCE: 0.95;
    SEVERITY: 100 * idle / (threads * run.seconds * 1e9);
    TITLE: "One thread works before the {kind} {place} while all others wait";
    EVIDENCE: "the others wait {idle / (threads - 1) / phase:%} of the phase's {phase / 1e6:.0} ms";
    EXPLANATION: "The phase is as long as what its last thread does alone.";
    REMEDY: "Share its work out, or let the others go on with something that does not need it.";
}

PROPERTY ImbalanceGrows {
    // The same barrier with more threads: SBT compares runs side by side.
    FOR ROWS OF barriers_compared;
    CONDITION: threads > base_threads AND imbalance > base_imbalance + 5 AND (imbalance - base_imbalance) / 100 * phase > 0.01 * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: (imbalance - base_imbalance) * phase / (run.seconds * 1e9);
    TITLE: "With more threads more of the time goes into waiting at the {kind} {place}";
    EVIDENCE: "waiting is {base_imbalance / 100:%} of the phase with {base_threads} threads, {imbalance / 100:%} with {threads}";
    EXPLANATION: "The shares of work become less equal, or a part of it stays with one thread.";
    REMEDY: "Share the work out in smaller pieces; look which thread is last, and what it does alone.";
}

PROPERTY BarrierOverhead {
    // EPCC OpenMP microbenchmarks (Bull, 1999): a barrier costs a microsecond and more, with nobody late.
    FOR ROWS OF barriers;
    REFINES Parallel;
    TOGETHER;
    CONDITION: overhead > 0.001 * run.seconds * 1e9;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * overhead / (run.seconds * 1e9);
    TITLE: "Barriers themselves take time, the {kind} {place} most";
    EVIDENCE: "{overhead / episodes / 1e3:.1} us there from the last arrival to the first that went on, {episodes} times";
    EXPLANATION: "All are there and have to be told so; where threads are more than processors, or other programs run, some have to be given one first.";
    REMEDY: "Have fewer barriers: larger parallel regions, nowait, several loops in one region; no more threads than processors.";
}

PROPERTY SmallPhases {
    // Tasks and regions too small: Periscope's OpenMP properties.
    FOR ROWS OF barriers;
    REFINES Parallel;
    CONDITION: episodes > 100 AND phase / episodes < 50000 AND phase > 0.05 * run.seconds * 1e9;
    CONFIDENCE: 0.6;
    SEVERITY: 100 * min(1, 2000 * episodes / phase) * phase / (run.seconds * 1e9);
    TITLE: "There is little work between barriers at {place}";
    EVIDENCE: "{phase / episodes / 1e3:.1} us between, {episodes} times";
    REMEDY: "Join parallel loops, so that each does more; run small ones by one thread (an if clause).";
}

PROPERTY TimedWaits {
    // Lock contention by waiting time: Tallent et al., PPoPP 2010.
    // That the thread which made the others waits for their end is no fault of theirs.
    FOR ROWS OF waits;
    REFINES Parallel;
    WHERE kind IS NOT "join";
    CONDITION: waited > 0.01 * run.threads * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * waited / (run.threads * run.seconds * 1e9);
    TITLE: "Threads wait ({kind}) at {place}";
    EVIDENCE: "{times} times, {waited / 1e6:.0} ms in all threads together, at most {worst / 1e3:.0} us";
    REMEDY: "Hold the lock for less; guard parts of the data by locks of their own; sum up by thread.";
}
