/*
 * Simulated memory (hpcview simulate): tables of references and evictors. Latencies are not known here; a
 * miss of the first level counts 10, of a later one 40, of the last before memory 200 and of a TLB 30 times a hit (Drepper, "What Every
 * Programmer Should Know About Memory", 2007, 3.3), and severity is of the simulated time that this makes.
 */

HYPOTHESIS MemoryBound {
    // Periscope begins its search in memory with misses of the first cache: Gerndt, Fuerlinger and Kereku, ParCo 2005.
    FOR ROWS OF references;
    REFINES HotLoop;
    WHERE level IS "L1*";
    CONDITION: misses / accesses > 0.02;
    SEVERITY: min(100 * 10 * misses / (total(refs) + 10 * total(misses)), or(100 * max(share(time), parent(time) / total(time)), 100)); // no more than the loop's time, if that was measured
    NEEDS: refs;
    TITLE: "{place} misses the L1 cache";
}

PROPERTY TEMPLATE Misses<String levels, Cost, Ratio, String title> (Row r) {
    // Periscope's LC1ReadMissesOverMemRef and its like: a ratio above 1%.
    FOR ROWS OF references;
    REFINES HotLoop;
    WHERE level IS levels;
    CONDITION: misses / accesses > Ratio AND misses > 100;
    CONFIDENCE: 0.5; // the cost of a miss is assumed, not measured
    SEVERITY: min(100 * Cost * misses / (total(refs) + Cost * total(misses)), or(100 * max(share(time), parent(time) / total(time)), 100)); // no more than the loop's time, if that was measured
    LEAST: 0; // misses may overlap, and what one costs is assumed
    NEEDS: refs;
    TITLE: title;
    EVIDENCE: "{misses} of {accesses} accesses to {level} miss ({misses / accesses:%})";
    EXPLANATION: "Each miss waits for the next level, unless several misses overlap.";
    REMEDY: "Access memory contiguously. Then block the loops so that data are reused while cached, or make the data smaller.";
}
PROPERTY FirstLevelMisses = Misses<"L1*", 10, 0.05, "{object} misses the L1 cache at {place}">;
PROPERTY SecondLevelMisses = Misses<"L2*", 40, 0.05, "{object} misses the L2 cache at {place}">;
PROPERTY LastLevelMisses = Misses<"L3*|LLC*", 200, 0.02, "{object} misses the last-level cache at {place}">;
PROPERTY TranslationMisses = Misses<"*TLB*", 30, 0.01, "{object} misses the TLB at {place}">;

PROPERTY LowSpatialUse {
    // MHSim (Mellor-Crummey, Fowler and Whalley, 2001): spatial use is the share of a line's bytes that were accessed before its eviction.
    FOR ROWS OF references;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    LET use = used / (evictions * level.line);
    // Lines invalidated by other threads leave unused, too: that is FalseSharing.
    CONDITION: evictions > 100 AND use < 0.5 AND misses / accesses > 0.05 AND invalidated < 0.5 * misses;
    CONFIDENCE: 0.9;
    SEVERITY: min(100 * 10 * misses * (1 - use) / (total(refs) + 10 * total(misses)), or(100 * max(share(time), parent(time) / total(time)), 100)); // no more than the loop's time, if that was measured
    NEEDS: refs;
    TITLE: "Poor spatial locality: {object} at {place}";
    EVIDENCE: "only {use:%} of each cache line is used: {evictions} lines of {level.line} bytes were evicted; {misses} of {accesses} accesses miss ({misses / accesses:%})";
    EXPLANATION: "The reference loads whole cache lines and uses little of each, because its stride in the innermost loop is large.";
    REMEDY: "Interchange the loops so that the innermost one accesses memory contiguously, or transpose the array. Store data that are used together next to each other.";
}

PROPERTY ConflictMisses {
    // Hill and Smith, "Evaluating Associativity in CPU Caches", 1989: misses a fully associative cache would not have.
    FOR ROWS OF references;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    CONDITION: conflict > 0.3 * misses AND misses / accesses > 0.02;
    CONFIDENCE: 0.8;
    SEVERITY: min(100 * 10 * conflict / (total(refs) + 10 * total(misses)), or(100 * max(share(time), parent(time) / total(time)), 100)); // no more than the loop's time, if that was measured
    NEEDS: refs;
    TITLE: "Cache conflicts of {object} at {place}";
    EVIDENCE: "{conflict} of {misses} misses are conflict misses";
    EXPLANATION: "Many cache lines in use at the same time map to the same few sets, as with distances that are powers of two.";
    REMEDY: "Pad the array's leading dimension by some elements, so that columns start in different sets.";
}

PROPERTY FalseSharing {
    // Torrellas, Lam and Hennessy, "False Sharing and Spatial Locality in Multiprocessor Caches", IEEE ToC 1994.
    FOR ROWS OF references;
    REFINES Parallel;
    WHERE level IS "L1*";
    CONDITION: invalidated > 100 AND invalidated / accesses > 0.005;
    CONFIDENCE: 0.8;
    SEVERITY: min(100 * 60 * invalidated / (total(refs) + 10 * total(misses) + 60 * total(invalidated)), or(100 * max(share(time), parent(time) / total(time)), 100)); // no more than the loop's time, if that was measured
    NEEDS: refs;
    TITLE: "Cache lines of {object} shared between threads, {place}";
    EVIDENCE: "{invalidated} cache lines were invalidated by stores of other threads, in {accesses} accesses";
    EXPLANATION: "A store invalidates the cache line in all other threads' caches, even if they use other bytes of it (false sharing).";
    REMEDY: "Give each thread its own data, at least one cache line (64 bytes) apart; accumulate in local variables and store at the end.";
}

PROPERTY Evictors {
    // MHSim: which reference evicts which.
    FOR ROWS OF evictors;
    REFINES FirstLevelMisses;
    WHERE level IS "L1*";
    AT victim;
    CONDITION: blocks > 0.2 * total(blocks) AND blocks > 1000;
    CONFIDENCE: 0.5;
    SEVERITY: 3 * blocks / total(blocks);
    TITLE: "{evictor_object} at {evictor} evicts {victim_object} at {victim}";
    EVIDENCE: "{blocks} cache lines, {blocks / total(blocks):%} of all evicted lines";
    EXPLANATION: "Both are used in turn and do not fit into the cache together.";
    REMEDY: "Block the loops so that data are reused before they are evicted; split a loop that uses too many arrays.";
}
