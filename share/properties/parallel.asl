/* Threads and ranks: who waits for whom. */

HYPOTHESIS Parallel {
    // ompP normalizes waiting by duration x threads: Fuerlinger and Gerndt, "ompP: A Profiling Tool for OpenMP", 2005.
    FOR PROGRAM;
    CONDITION: run.threads > 1;
    SEVERITY: 0;
    TITLE: "The program has {run.threads} threads";
}

/*
 * Libraries start threads that only wait, launchers are processes of the run, and the first thread of a process often does nothing but hand out
 * work and wait for it: means are over the threads that were ever seen to compute, less one a process where the idlest of several has not a
 * twentieth of the busiest one's time, and over the ranks.
 */
LET seen_to_compute = total(count(time over threads));
LET only_hands_out = seen_to_compute > 2.5 * run.processes AND total(min(time over threads)) < 0.05 * total(max(time over threads));
LET computing = seen_to_compute - or(if(only_hands_out, run.processes, 0), 0);
LET mean_of_threads = mean(time over threads) * run.threads / computing;
LET mean_of_ranks = mean(time over ranks) * run.processes / run.ranks;

PROPERTY LoadImbalance {
    // Waiting summed over threads / (duration x threads); Periscope's imbalance in a parallel region or loop (5%).
    FOR PROCEDURE, LOOP;
    WHERE module IS NOT "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*"; // where threads wait for each other: the outcome, not the cause
    LET waits = max(time over threads) - mean_of_threads;
    CONDITION: waits > 0.1 * mean_of_threads AND count(time over threads) > 1.5 AND computing > 1.5 * run.processes;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * waits / total(max(time over threads));
    TITLE: "Threads have unequal shares of {place}";
    EVIDENCE: "the busiest of {computing} threads has {max(time over threads) / mean_of_threads:.2} times the mean";
    EXPLANATION: "The others wait for the thread with most to do: at the end of the loop, or at the next barrier.";
    REMEDY: "Share the iterations out as they are done (schedule(dynamic) or guided), in smaller pieces, or by their cost.";
}

PROPERTY SerialPart {
    // Amdahl, "Validity of the single processor approach", AFIPS 1967; Periscope's sequential computation in master and
    // single regions.
    FOR PROGRAM, PROCEDURE, LOOP;
    WHERE module IS NOT "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*"; // as above
    LET threads_in_all = total(count(time over threads));
    CONDITION: count(time over threads) < 1.5 AND threads_in_all > 1.5 * run.processes;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * max(time over threads) / total(max(time over threads)) * (1 - 1 / threads_in_all);
    TITLE: "Only one thread works in {place}";
    EVIDENCE: "{max(time over threads) / total(max(time over threads)):%} of the busiest thread's time, and no other of {threads_in_all:.0} threads has anything there";
    EXPLANATION: "While one thread is in serial code the others wait: with n threads the run cannot be faster than this part.";
    REMEDY: "Make the part parallel, or do it while the others compute something else.";
}

PROPERTY FalseParallelism {
    // Threads that never run at the same time: a global lock, or one processor to share. Periscope's critical section serialization.
    // With less than one processor together they wait for something else: input, or a machine that others keep busy.
    FOR PROGRAM;
    LET together = total(cpu_time) / 1s / run.seconds;
    CONDITION: run.threads > 1.5 AND together < 1.1 AND together > 0.7 AND total(count(cpu_time over threads)) > 1.5 AND total(imbalance(cpu_time over threads)) < 0.5 AND run.seconds > 0.2;
    CONFIDENCE: 0.4;
    SEVERITY: 100 * (1 - together / run.threads);
    TITLE: "{run.threads} threads do the work of one";
    EVIDENCE: "{total(cpu_time)} on processors in {run.seconds:.2} s";
    EXPLANATION: "All threads have work, but no two at the same time: they wait for one lock in turn, share one processor, or other programs kept the processors busy.";
    REMEDY: "Look for the lock that all take; look at the processors the program may use (taskset, cgroup), and what else ran on them.";
}

PROPERTY RuntimeLibrary {
    // libgomp and libomp spin in barriers and locks; by module, as distributions strip their functions' names.
    FOR MODULE;
    WHERE name IS "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*";
    CONDITION: share(time) > 0.03;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: "{share(time):%} of the time is spent inside {name}";
    EXPLANATION: "Threads wait there at the ends of parallel loops and at critical sections, spinning; and parallel regions that are too small cost more to start than they do.";
    REMEDY: "Balance the loops, make parallel regions larger, use reductions in place of critical sections.";
}

PROPERTY RankImbalance {
    // Load imbalance over processes: DeRose, Homer and Johnson, "Detecting Application Load Imbalance", Euro-Par 2007.
    // Of ranks: the processes of a compiler's driver or of a shell have no equal shares to have.
    FOR PROGRAM, PROCEDURE, LOOP;
    WHERE module IS NOT "libmpi*|libopen-pal*|libopen-rte*|mca_*|libmpich*|libuc[pst].so*|libfabric*|libpsm*"; // where ranks wait for each other
    LET waits = max(time over ranks) - mean_of_ranks;
    CONDITION: run.ranks > 1.5 AND waits > 0.1 * mean_of_ranks AND count(time over ranks) > 1.5;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * waits / total(max(time over ranks));
    TITLE: "Processes have unequal shares of {place}";
    EVIDENCE: "the busiest of {run.ranks} ranks has {max(time over ranks) / mean_of_ranks:.2} times the mean";
    EXPLANATION: "The others wait for the slowest at the next message or collective call.";
    REMEDY: "Divide the data by cost; look whether one machine is slower than the others.";
}

PROPERTY SlowRank {
    // One process far above all others: one bad node, or the rank that does the rest's work. Tallent, Adhianto and Mellor-Crummey,
    // "Scalable Identification of Load Imbalance in Parallel Executions", SC 2010.
    REFINES RankImbalance;
    FOR PROGRAM, PROCEDURE, LOOP;
    WHERE module IS NOT "libmpi*|libopen-pal*|libopen-rte*|mca_*|libmpich*|libuc[pst].so*|libfabric*|libpsm*"; // as above
    LET others = (mean_of_ranks * run.ranks - max(time over ranks)) / (run.ranks - 1);
        squares = (stddev(time over ranks) * stddev(time over ranks) + mean(time over ranks) * mean(time over ranks)) * run.processes / run.ranks;
        spread = sqrt(max(squares - mean_of_ranks * mean_of_ranks, 0));
    CONDITION: run.ranks > 2.5 AND max(time over ranks) > 1.3 * others
        AND spread < 1.2 * (max(time over ranks) - others) * sqrt(run.ranks - 1) / run.ranks;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * (max(time over ranks) - mean_of_ranks) / total(max(time over ranks));
    TITLE: "One process is slower than all others in {place}";
    EVIDENCE: "it takes {max(time over ranks) / others:.2} times what the others take";
    REMEDY: "Compare the processes (print --per-thread): more work for this one, or the same work on a slower machine?";
}

PROPERTY GotSlower {
    // What chance cannot explain: the error of both counts is held against the difference.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = run(NEW).time - run(BASE).time;
    CONDITION: (both) lost > 0.05 * run(NEW).time AND run(BASE).time > 0 OR (fresh) lost > 0.05 * run(NEW).time AND run(BASE).time <= 0;
    CONFIDENCE: MAX((both) -> 0.9, (fresh) -> 0.4);
    SEVERITY: 100 * lost / total(run(NEW).time);
    TITLE: "{place} takes longer than before";
    EVIDENCE: (both) -> "{run(BASE).time} before, {run(NEW).time} now",
              (fresh) -> "nothing before, {run(NEW).time} now: it is new, or was inlined elsewhere, or called otherwise by another compiler";
    EXPLANATION: "The second run spends more there than the first, by more than sampling explains.";
    REMEDY: "Compare the loop in both builds (hpcview structure), and what calls it.";
}

PROPERTY ScalingLoss {
    // Strong scaling of the same work: what more threads cost in all. Coarfa, Mellor-Crummey et al., "Scalability Analysis
    // of SPMD Codes Using Expectations", ICS 2007.
    REFINES GotSlower;
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = run(NEW).time - run(BASE).time;
    CONDITION: run(NEW).run.threads > run(BASE).run.threads AND lost > 0.05 * run(NEW).time;
    CONFIDENCE: 0.9;
    SEVERITY: 100 * lost / total(run(NEW).time);
    TITLE: "{place} does not scale";
    EVIDENCE: "{run(BASE).time} with {run(BASE).run.threads} threads, {run(NEW).time} in all with {run(NEW).run.threads}";
    EXPLANATION: "The same work takes more processor time with more threads: they wait, they do things twice, or they take caches and memory from each other.";
    REMEDY: "Look at what is shared: locks, barriers, cache lines, memory bandwidth.";
}
