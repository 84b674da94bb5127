/*
 * What a loop's machine code says (the rows of loop_checks, by static loop quality), weighed by the time spent in the
 * loop; and what barriers and waits said that were timed (record --phases).
 */

PROPERTY LoopCheck {
    // Djoudi, Barthou et al., "MAQAO: Modular Assembler Quality Analyzer and Optimizer for Itanium 2", EPIC-4, 2005: properties
    // of loops' code by static analysis, with what each may gain.
    FOR ROWS OF loop_checks;
    LET likely = or(gain, 5); // percent of the loop's cycles; bounds do not say it of every check
    CONDITION: likely > 0 AND share(time) > 0.02;
    CONFIDENCE: confidence;
    SEVERITY: likely * share(time);
    NEEDS: time;
    TITLE: "{check}";
    EVIDENCE: "{found}; the loop has {share(time):%} of the time, of which {likely:.0}% may be gained";
    REMEDY: "{remedy}";
}

PROPERTY TEMPLATE Check<String words, String title> (Row r) {
    FOR ROWS OF loop_checks;
    REFINES LoopCheck;
    WHERE check IS words;
    LET likely = or(gain, 5); // percent of the loop's cycles; bounds do not say it of every check
    CONDITION: likely > 0 AND share(time) > 0.02;
    CONFIDENCE: confidence;
    SEVERITY: likely * share(time);
    NEEDS: time;
    TITLE: title;
    EVIDENCE: "{found}; the loop has {share(time):%} of the time, of which {likely:.0}% may be gained";
    REMEDY: "{remedy}";
}
// Latencies: Fog, "Instruction tables"; 10 to 40 cycles that do not overlap.
PROPERTY Division = Check<"division|int-division|square-root", "Divisions bound the loop">;
// Not vectorized: Maleki et al., "An Evaluation of Vectorizing Compilers", PACT 2011.
PROPERTY NotVectorized = Check<"scalar|partly-vectorized", "Not vectorized, or not in full">;
PROPERTY Reduction = Check<"reduction", "A sum is added up in order, term after term">;
PROPERTY NarrowVectors = Check<"narrow-vectors", "Vectors narrower than the processor's">;
PROPERTY Gather = Check<"gather|scatter|indirect", "Indirect references">;
PROPERTY Branches = Check<"branches|bounds-check", "Branches inside the loop">;
PROPERTY Remainder = Check<"remainder", "The time is in the remainder of a vector loop">;
PROPERTY Versions = Check<"versions", "Versions of the loop, because arrays may overlap">;
PROPERTY Spills = Check<"spill", "More values than registers">;
PROPERTY Conversions = Check<"conversion|float-double", "Conversions between types">;
PROPERTY CallsInLoop = Check<"call", "Calls in the loop">;
PROPERTY Strides = Check<"stride", "References jump over memory">;
PROPERTY Chains = Check<"chain|chain-through-memory", "Each iteration waits for the one before">;
PROPERTY TinyLoop = Check<"tiny", "A tiny body, not unrolled">;
PROPERTY AddressWork = Check<"address-work|address-multiply", "Most instructions only make addresses">;
PROPERTY LockedLoop = Check<"locked", "Atomic operations in the loop">;

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

PROPERTY BarrierOverhead {
    // EPCC OpenMP microbenchmarks (Bull, 1999): a barrier costs a microsecond and more, with nobody late.
    FOR ROWS OF barriers;
    REFINES Parallel;
    CONDITION: overhead > 0.01 * run.seconds * 1e9;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * overhead / (run.seconds * 1e9);
    TITLE: "The {kind} {place} itself takes time";
    EVIDENCE: "{overhead / episodes / 1e3:.1} us from the last arrival to the first that went on, {episodes} times";
    REMEDY: "Have fewer barriers: larger parallel regions, nowait, several loops in one region.";
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
    FOR ROWS OF waits;
    REFINES Parallel;
    CONDITION: waited > 0.01 * run.threads * run.seconds * 1e9;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * waited / (run.threads * run.seconds * 1e9);
    TITLE: "Threads wait ({kind}) at {place}";
    EVIDENCE: "{times} times, {waited / 1e6:.0} ms in all threads together, at most {worst / 1e3:.0} us";
    REMEDY: "Hold the lock for less; guard parts of the data by locks of their own; sum up by thread.";
}
