/*
 * What the simulated memory says (hpcview simulate): tables of references and evictors. Latencies are not known here; a
 * miss of the first level counts 10, of a later one 40, of the last before memory 200 and of a TLB 30 times a hit (Drepper, "What Every
 * Programmer Should Know About Memory", 2007, 3.3), and severity is of the simulated time that this makes.
 */

HYPOTHESIS MemoryBound {
    // Periscope begins its search in memory with misses of the first cache: Gerndt, Fuerlinger and Kereku, ParCo 2005.
    FOR ROWS OF references;
    REFINES HotLoop;
    WHERE level IS "L1*";
    CONDITION: misses / accesses > 0.02;
    SEVERITY: 100 * 10 * misses / (total(refs) + 10 * total(misses));
    TITLE: "{place} misses the first cache";
}

PROPERTY TEMPLATE Misses<String levels, Cost, Ratio, String title> (Row r) {
    // Periscope's LC1ReadMissesOverMemRef and its like: a ratio above 1%.
    FOR ROWS OF references;
    REFINES HotLoop;
    WHERE level IS levels;
    CONDITION: misses / accesses > Ratio AND misses > 100;
    CONFIDENCE: 0.5; // what a miss costs is taken, not measured
    SEVERITY: 100 * Cost * misses / (total(refs) + Cost * total(misses));
    TITLE: title;
    EVIDENCE: "{misses} of {accesses} references that come to {level} miss ({misses / accesses:%})";
    EXPLANATION: "Each miss waits for the next level, unless others are under way at the same time.";
    REMEDY: "Use what is in the cache before it goes: go along memory, block the loops, make the data smaller.";
}
PROPERTY FirstLevelMisses = Misses<"L1*", 10, 0.05, "{object} misses the first cache at {place}">;
PROPERTY SecondLevelMisses = Misses<"L2*", 40, 0.05, "{object} misses the second cache at {place}">;
PROPERTY LastLevelMisses = Misses<"L3*|LLC*", 200, 0.02, "{object} misses the last cache at {place}">;
PROPERTY TranslationMisses = Misses<"*TLB*", 30, 0.01, "{object} misses the TLB at {place}">;

PROPERTY LowSpatialUse {
    // MHSim (Mellor-Crummey, Fowler and Whalley, 2001): spatial use is the part of a block's bytes that were touched before it left.
    FOR ROWS OF references;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    LET use = used / (evictions * level.line);
    // Blocks that other threads take away leave unused, too: that is FalseSharing.
    CONDITION: evictions > 100 AND use < 0.5 AND misses / accesses > 0.05 AND invalidated < 0.5 * misses;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * 10 * misses * (1 - use) / (total(refs) + 10 * total(misses));
    TITLE: "{object} is used badly: {use:%} of each block, at {place}";
    EVIDENCE: "{misses} of {accesses} references miss ({misses / accesses:%}); {evictions} blocks of {level.line} bytes left with {use:%} of them touched";
    EXPLANATION: "The reference jumps over memory: it brings whole blocks in and uses little of each. The stride is that of another loop than the innermost.";
    REMEDY: "Interchange the loops so that the innermost goes along memory; transpose the array; put what is used together side by side.";
}

PROPERTY ConflictMisses {
    // Hill and Smith, "Evaluating Associativity in CPU Caches", 1989: misses a fully associative cache would not have.
    FOR ROWS OF references;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    CONDITION: conflict > 0.3 * misses AND misses / accesses > 0.02;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * 10 * conflict / (total(refs) + 10 * total(misses));
    TITLE: "{object} conflicts with itself or others at {place}";
    EVIDENCE: "{conflict} of {misses} misses are by conflict";
    EXPLANATION: "Many blocks that are in use at the same time fall into the same few sets: distances in memory that are powers of two.";
    REMEDY: "Add some elements to the array's leading dimension, so that columns begin in different sets.";
}

PROPERTY FalseSharing {
    // Torrellas, Lam and Hennessy, "False Sharing and Spatial Locality in Multiprocessor Caches", IEEE ToC 1994.
    FOR ROWS OF references;
    REFINES Parallel;
    WHERE level IS "L1*";
    CONDITION: invalidated > 100 AND invalidated / accesses > 0.005;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * 60 * invalidated / (total(refs) + 10 * total(misses) + 60 * total(invalidated));
    TITLE: "Threads take blocks of {object} from each other at {place}";
    EVIDENCE: "{invalidated} of its blocks were taken by stores of other threads, in {accesses} references";
    EXPLANATION: "A block that one thread writes goes from all others that hold it, also where they use other bytes of it.";
    REMEDY: "Give each thread data of its own, at least a block (64 bytes) apart; write to local variables and store at the end.";
}

PROPERTY Evictors {
    // MHSim: who throws whom out.
    FOR ROWS OF evictors;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    AT victim;
    CONDITION: blocks > 0.2 * total(blocks) AND blocks > 1000;
    CONFIDENCE: 0.5;
    SEVERITY: 3 * blocks / total(blocks);
    TITLE: "{victim_object} at {victim} is thrown out by {evictor_object} at {evictor}";
    EVIDENCE: "{blocks} blocks, {blocks / total(blocks):%} of all that were thrown out";
    EXPLANATION: "Both are in use in turn and do not fit into the cache together.";
    REMEDY: "Block the loops so that what is used again is used before it goes; split the loop where it has too many arrays.";
}
