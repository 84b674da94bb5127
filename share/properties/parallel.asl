/* Threads and ranks that wait for each other. */

HYPOTHESIS Parallel {
    // ompP normalizes waiting by duration x threads: Fuerlinger and Gerndt, "ompP: A Profiling Tool for OpenMP", 2005.
    FOR PROGRAM;
    CONDITION: run.threads > 1;
    SEVERITY: 0;
    TITLE: "The program has {run.threads} threads";
}

/*
 * Libraries start threads that only wait, and the first thread of a process often only distributes work and waits for it. So means are
 * over the threads with any samples, minus one for each process if the idlest of several has less than a twentieth of the busiest one's time.
 */
LET seen_to_compute = total(count(time over threads));
LET only_hands_out = seen_to_compute > 2.5 * run.processes AND total(min(time over threads)) < 0.05 * total(max(time over threads));
LET computing = seen_to_compute - or(if(only_hands_out, run.processes, 0), 0);
LET mean_of_threads = mean(time over threads) * run.threads / computing;

PROPERTY LoadImbalance {
    // Waiting summed over threads / (duration x threads); Periscope's imbalance in a parallel region or loop (5%).
    FOR PROCEDURE, LOOP;
    WHERE module IS NOT "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*"; // where threads wait for each other: the outcome, not the cause
    LET waits = max(time over threads) - mean_of_threads;
    CONDITION: waits > 0.1 * mean_of_threads AND count(time over threads) > 1.5 AND computing > 1.5 * run.processes;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * min(waits / total(max(time over threads)), idle_part);
    NEEDS: time;
    TITLE: "Load imbalance between threads in {place}";
    EVIDENCE: "the busiest of {computing} threads takes {max(time over threads) / mean_of_threads:.2} times the mean";
    EXPLANATION: "The other threads wait for the one with the most work, at the end of the loop or at the next barrier.";
    REMEDY: "Schedule the iterations dynamically (schedule(dynamic) or guided), in smaller pieces, or divide them by cost.";
}

PROPERTY SerialPart {
    // Amdahl, "Validity of the single processor approach", AFIPS 1967; Periscope's sequential computation in master and
    // single regions.
    FOR PROGRAM, PROCEDURE, LOOP;
    WHERE module IS NOT "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*"; // as above
    LET threads_in_all = total(count(time over threads));
    CONDITION: count(time over threads) < 1.5 AND threads_in_all > 1.5 * run.processes AND idle_part > 0.05;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * min(max(time over threads) / total(max(time over threads)) * (1 - 1 / could_run), idle_part);
    LEAST: 50 * max(time over threads) / total(max(time over threads)) * idle_part;
    NEEDS: time;
    TITLE: "{place} runs on one thread";
    EVIDENCE: "{max(time over threads) / total(max(time over threads)):%} of the busiest thread's time, and 0% of the other threads' ({threads_in_all:.0} threads)";
    EXPLANATION: "While one thread runs serial code the others wait. With any number of threads the run takes at least as long as this part.";
    REMEDY: "Parallelize this part, or overlap it with other work of the remaining threads.";
}

PROPERTY FalseParallelism {
    // Threads that never run at the same time: a global lock, or one processor to share. Periscope's critical section serialization.
    // With less than one processor together they wait for something else: input, or a machine that others keep busy.
    FOR PROGRAM;
    LET together = total(cpu_time) / 1s / run.seconds;
    LET ran = total(count(cpu_time over threads)); // libraries of MPI start threads that only sleep
    CONDITION: run.threads > 1.5 AND together < 1.1 AND together > 0.7 AND ran > 1.5 AND total(imbalance(cpu_time over threads)) < 0.5 AND run.seconds > 0.2;
    CONFIDENCE: 0.4;
    SEVERITY: 100 * (1 - together / ran);
    TITLE: "{ran} threads use only one CPU";
    EVIDENCE: "{total(cpu_time)} of CPU time in {run.seconds:.2} s";
    EXPLANATION: "All threads have work, but never two at the same time: they wait for one lock in turn, share one CPU, or other programs keep the CPUs busy.";
    REMEDY: "Check which CPUs the program may use (taskset, cgroup) and what else ran on them. Then look for a lock that all threads take.";
}

PROPERTY RuntimeLibrary {
    // libgomp and libomp spin in barriers and locks; by module, as distributions strip their functions' names.
    FOR MODULE;
    WHERE name IS "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*";
    CONDITION: share(time) > 0.03;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: "{share(time):%} of the time in {name}";
    EXPLANATION: "Threads spin there at the ends of parallel loops and at critical sections; parallel regions that are too small cost more to start than the work they contain.";
    REMEDY: "Balance the parallel loops. Then make parallel regions larger, and use reductions instead of critical sections.";
}

PROPERTY RankImbalance {
    // Load imbalance over processes: DeRose, Homer and Johnson, "Detecting Application Load Imbalance", Euro-Par 2007.
    // Time in MPI is left out: the ranks that wait there are not those with more work.
    // Only for ranks: processes of a compiler driver or of a shell are not expected to be balanced.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET waits = max(own_time over ranks) - mean(own_time over ranks);
    CONDITION: run.ranks > 1.5 AND waits > 0.1 * mean(own_time over ranks) AND count(own_time over ranks) > 1.5;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * waits / total(max(time over ranks));
    TITLE: "Load imbalance between ranks in {place}";
    EVIDENCE: "rank {argmax(own_time over ranks)} takes most, {max(own_time over ranks) / mean(own_time over ranks):.2} times the mean of {run.ranks} ranks";
    EXPLANATION: "The other ranks wait for the slowest one at the next message or collective call.";
    REMEDY: "Divide the data by cost; check whether one machine is slower than the others.";
}

PROPERTY SlowRank {
    // One process far above all others: one bad node, or the rank that does the rest's work. Tallent, Adhianto and Mellor-Crummey,
    // "Scalable Identification of Load Imbalance in Parallel Executions", SC 2010.
    REFINES RankImbalance;
    FOR PROGRAM, PROCEDURE, LOOP;
    LET others = (mean(own_time over ranks) * run.ranks - max(own_time over ranks)) / (run.ranks - 1);
    LET apart = run.ranks > 2.5 AND max(own_time over ranks) > 1.3 * others
        AND stddev(own_time over ranks) < 1.2 * (max(own_time over ranks) - others) * sqrt(run.ranks - 1) / run.ranks;
    CONDITION: (slow) apart AND others > 0 OR (alone) apart AND others <= 0;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * (max(own_time over ranks) - mean(own_time over ranks)) / total(max(time over ranks));
    TITLE: "Rank {argmax(own_time over ranks)} is slowest in {place}";
    EVIDENCE: (slow) -> "rank {argmax(own_time over ranks)} takes {max(own_time over ranks) / others:.2} times as long as the other {run.ranks - 1} ranks on average",
              (alone) -> "only rank {argmax(own_time over ranks)} of {run.ranks} runs it";
    REMEDY: "Compare the ranks (print --per-thread) to see whether this one has more work or a slower machine.";
}

PROPERTY GotSlower {
    // Beyond chance: the statistical error of both counts is compared with the difference.
    // Code that only the new build has costs at most what the scope around it costs more: another compiler or version
    // makes other loops and procedures of the same source. A loop of a new procedure is part of that procedure's finding.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = run(NEW).time - run(BASE).time;
        grown = MIN(lost, parent(run(NEW).time) - parent(run(BASE).time));
    CONDITION: (both) lost > 0.05 * run(NEW).time AND run(BASE).time > 0
        OR (fresh) grown > 0.05 * run(NEW).time AND run(BASE).time <= 0 AND (place.depth < 0.5 OR parent(run(BASE).time) > 0);
    CONFIDENCE: MAX((both) -> 0.9, (fresh) -> 0.4);
    SEVERITY: MAX((both) -> 100 * lost / total(run(NEW).time), (fresh) -> 100 * grown / total(run(NEW).time));
    TITLE: (both) -> "{place} became slower", (fresh) -> "{place} takes time only in the second run";
    EVIDENCE: (both) -> "{run(BASE).time} before, {run(NEW).time} now",
              (fresh) -> "{run(NEW).time}; the code around it took {parent(run(BASE).time)} before and takes {parent(run(NEW).time)} now. It is new, or another compiler inlined or named it differently";
    EXPLANATION: "The second run spends more time there than the first, beyond the statistical error.";
    REMEDY: "Compare the loop and its callers in both builds (hpcview structure).";
}

PROPERTY ScalingLoss {
    // Strong scaling of the same work: the total cost of more threads. Coarfa, Mellor-Crummey et al., "Scalability Analysis
    // of SPMD Codes Using Expectations", ICS 2007.
    REFINES GotSlower;
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = run(NEW).time - run(BASE).time;
    CONDITION: run(NEW).run.threads > run(BASE).run.threads AND lost > 0.05 * run(NEW).time;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * lost / total(run(NEW).time);
    TITLE: "{place} does not scale";
    EVIDENCE: "{run(BASE).time} in total with {run(BASE).run.threads} threads, {run(NEW).time} with {run(NEW).run.threads}";
    EXPLANATION: "The same work takes more CPU time with more threads: they wait, repeat work, or compete for caches and memory bandwidth.";
    REMEDY: "Look for shared resources: locks, barriers, cache lines, memory bandwidth.";
}
