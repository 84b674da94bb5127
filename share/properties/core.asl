/*
 * What the counters of processor cores say. Severity is percent of the run's cycles: the part lost here, times the
 * share of the cycles that are spent here.
 *
 * The formulas of Intel's top-down method and their thresholds are those that Intel publishes (github.com/intel/perfmon,
 * BSD 3-Clause; see NOTICE) for Skylake servers, four slots a cycle; after Yasin, "A Top-Down Method for Performance
 * Analysis and Counters Architecture", ISPASS 2014. Arm's are from the Neoverse N1 and V1 telemetry specifications.
 */
METRIC clk = "CPU_CLK_UNHALTED.THREAD" | "CPU_CLK_UNHALTED:THREAD" | PAPI_TOT_CYC | "cycles";
METRIC not_delivered = "IDQ_UOPS_NOT_DELIVERED.CORE" | "IDQ_UOPS_NOT_DELIVERED:CORE";
METRIC issued = "UOPS_ISSUED.ANY" | "UOPS_ISSUED:ANY";
METRIC retired = "UOPS_RETIRED.RETIRE_SLOTS" | "UOPS_RETIRED:RETIRE_SLOTS";
METRIC recovery = "INT_MISC.RECOVERY_CYCLES" | "INT_MISC:RECOVERY_CYCLES";
METRIC stalls = "CYCLE_ACTIVITY.STALLS_TOTAL" | "CYCLE_ACTIVITY:STALLS_TOTAL";
METRIC stalls_mem = "CYCLE_ACTIVITY.STALLS_MEM_ANY" | "CYCLE_ACTIVITY:STALLS_MEM_ANY";
METRIC stalls_l1 = "CYCLE_ACTIVITY.STALLS_L1D_MISS" | "CYCLE_ACTIVITY:STALLS_L1D_MISS";
METRIC stalls_l2 = "CYCLE_ACTIVITY.STALLS_L2_MISS" | "CYCLE_ACTIVITY:STALLS_L2_MISS";
METRIC stalls_l3 = "CYCLE_ACTIVITY.STALLS_L3_MISS" | "CYCLE_ACTIVITY:STALLS_L3_MISS";
METRIC bound_on_stores = "EXE_ACTIVITY.BOUND_ON_STORES" | "EXE_ACTIVITY:BOUND_ON_STORES";
METRIC divider_active = "ARITH.DIVIDER_ACTIVE" | "ARITH:DIVIDER_ACTIVE" | "ARITH:FPU_DIV_ACTIVE";
METRIC mispredicted = "BR_MISP_RETIRED.ALL_BRANCHES" | "BR_MISP_RETIRED:ALL_BRANCHES" | PAPI_BR_MSP | "branch-misses";
METRIC machine_clears = "MACHINE_CLEARS.COUNT" | "MACHINE_CLEARS:COUNT";
METRIC branches = "BR_INST_RETIRED.ALL_BRANCHES" | "BR_INST_RETIRED:ALL_BRANCHES" | PAPI_BR_INS | "branches";
METRIC remote = "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM" | "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM";
METRIC local = "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM" | "MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM";

LET slots = 4 * clk;
LET front_end = not_delivered / slots;
LET retiring = retired / slots;
LET bad_speculation = (issued - retired + 4 * recovery) / slots;
LET back_end = 1 - front_end - retiring - bad_speculation;

PROPERTY TEMPLATE TopDown<Part, Limit, String title, String how> (LOOP l) {
    // Yasin, ISPASS 2014; Intel's formulas and thresholds, as above.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: Part > Limit AND share(clk) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * Part * share(clk);
    TITLE: title;
    EVIDENCE: "{Part:%} of the slots there, {share(clk):%} of the cycles";
    REMEDY: how;
}
PROPERTY FrontEndBound = TopDown<front_end, 0.15, "Instructions do not come fast enough in {place}",
    "Make hot code smaller (less unrolling and inlining), and lay it out by profile (-fprofile-use).">;
PROPERTY BadSpeculation = TopDown<bad_speculation, 0.15, "Work is thrown away in {place}",
    "Replace branches that cannot be foreseen by arithmetic (select, masks), or sort the data by them.">;
PROPERTY BackEndBound = TopDown<back_end, 0.20, "Instructions wait for data or units in {place}",
    "See whether it is memory or the core: the finer properties tell.">;

PROPERTY TEMPLATE StallCycles<Lost, Limit, Parent, String title, String how> (LOOP l) {
    // The same tree's lower levels: Intel's formulas and thresholds, as above.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES Parent;
    CONDITION: (Lost) / clk > Limit AND share(clk) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * (Lost) / total(clk);
    TITLE: title;
    EVIDENCE: "{(Lost) / clk:%} of the cycles there, {share(clk):%} of all cycles";
    REMEDY: how;
}
PROPERTY MemoryStalls = StallCycles<stalls_mem + bound_on_stores, 0.20, BackEndBound, "{place} waits for memory",
    "Use data while they are in the caches; go along memory; smaller data.">;
PROPERTY CoreStalls = StallCycles<stalls - stalls_mem, 0.10, BackEndBound, "{place} waits for units of the core",
    "Fewer divisions and long chains of operations that need each other; vectorize.">;
PROPERTY FirstLevelStalls = StallCycles<max(stalls_mem - stalls_l1, 0), 0.10, MemoryStalls, "{place} waits although data are in the first cache",
    "Loads that follow stores to the same place, pages' edges, too many loads: keep values in registers.">;
PROPERTY SecondLevelStalls = StallCycles<max(stalls_l1 - stalls_l2, 0), 0.05, MemoryStalls, "{place} waits for the second cache",
    "Block the loops for the first cache.">;
PROPERTY ThirdLevelStalls = StallCycles<max(stalls_l2 - stalls_l3, 0), 0.05, MemoryStalls, "{place} waits for the third cache",
    "Block the loops for the second cache; look for sharing between threads.">;
PROPERTY DramStalls = StallCycles<stalls_l3, 0.10, MemoryStalls, "{place} waits for main memory",
    "Block for the last cache, fuse loops over the same arrays, prefetch; or the bandwidth is at its end: fewer bytes.">;
PROPERTY StoreStalls = StallCycles<bound_on_stores, 0.20, MemoryStalls, "{place} waits for stores",
    "Write along memory, whole blocks at a time; streaming stores for what is not read again.">;
PROPERTY DividerStalls = StallCycles<divider_active, 0.20, CoreStalls, "The divider is busy in {place}",
    "Multiply by the reciprocal, taken once; -ffast-math where its errors are allowed.">;

PROPERTY BranchMispredictions {
    // A misprediction costs some 15 to 20 cycles: Fog, "The microarchitecture of Intel, AMD and VIA CPUs".
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: mispredicted * 16 / clk > 0.05;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * mispredicted * 16 / total(clk);
    TITLE: "Branches of {place} are foreseen wrongly";
    EVIDENCE: "{mispredicted} mispredictions, about {mispredicted * 16 / clk:%} of the cycles there";
    REMEDY: "Sort the data, take the branch out of the loop, or compute both sides and select.";
}

PROPERTY MispredictionRate {
    REFINES BranchMispredictions;
    // More than one in twenty is bad for any predictor of today: perf's documentation marks 5% red.
    FOR PROCEDURE, LOOP;
    CONDITION: mispredicted / branches > 0.05 AND mispredicted * 16 / clk > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * mispredicted * 16 / total(clk);
    TITLE: "One branch in {branches / mispredicted:.0} of {place} is foreseen wrongly";
    EVIDENCE: "{mispredicted} of {branches} branches";
    REMEDY: "Sort the data, take the branch out of the loop, or compute both sides and select.";
}

PROPERTY MachineClears {
    // Intel's top-down tree below bad speculation: memory ordering, self-modifying code.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES BadSpeculation;
    CONDITION: machine_clears * 30 / clk > 0.05;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * machine_clears * 30 / total(clk);
    TITLE: "The pipeline is cleared often in {place}";
    EVIDENCE: "{machine_clears} machine clears";
    REMEDY: "Threads that write what others read at the same time; denormal numbers; code that changes itself.";
}

PROPERTY HighCPI {
    // Cycles per instruction: above one, a core of four slots does a quarter of what it could. Intel's VTune flags 1.
    FOR PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: cycles / instructions > 1.5 AND share(cycles) > 0.05;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * share(cycles) * (1 - 1 / (cycles / instructions));
    TITLE: "{place} takes {cycles / instructions:.1} cycles for an instruction";
    EVIDENCE: "{cycles} cycles, {instructions} instructions";
    REMEDY: "It waits: for memory, for divisions, for what it computed just before. Count stalls to see which.";
}

PROPERTY TEMPLATE CountedMisses<Count, Cost, Part, String title> (LOOP l) {
    // Periscope's miss properties: above 1% of the phase.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: Count * Cost / cycles > Part;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * Count * Cost / total(cycles);
    TITLE: title;
    EVIDENCE: "{Count} misses, {Cost} cycles each if nothing else goes on: {Count * Cost / cycles:%} of the cycles there";
    REMEDY: "Use what is in the cache before it goes: go along memory, block the loops, make the data smaller.";
}
PROPERTY FirstLevelDataMisses = CountedMisses<PAPI_L1_DCM, 10, 0.1, "{place} misses the first cache">;
PROPERTY SecondLevelDataMisses = CountedMisses<PAPI_L2_DCM, 40, 0.1, "{place} misses the second cache">;
PROPERTY ThirdLevelMisses = CountedMisses<PAPI_L3_TCM, 150, 0.1, "{place} misses the last cache">;
PROPERTY DataTranslationMisses = CountedMisses<PAPI_TLB_DM, 30, 0.05, "{place} touches more pages than the TLB holds">;

PROPERTY RemoteMemory {
    // NUMA: Lachaize, Lepers and Quema, "MemProf", USENIX ATC 2012.
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: remote / (remote + local) > 0.2 AND remote * 100 / clk > 0.02;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * remote * 100 / total(clk);
    TITLE: "{place} uses the memory of another socket";
    EVIDENCE: "{remote} of {remote + local} loads from memory were remote";
    REMEDY: "Let the thread that will use memory touch it first; bind threads and memory (numactl, OMP_PROC_BIND).";
}

PROPERTY ArmFrontEnd {
    // Arm Neoverse V1 Core Telemetry Specification: frontend_bound, eight slots a cycle.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET part = STALL_SLOT_FRONTEND / (8 * CPU_CYCLES);
    CONDITION: part > 0.15 AND share(CPU_CYCLES) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * part * share(CPU_CYCLES);
    TITLE: "Instructions do not come fast enough in {place}";
    EVIDENCE: "{part:%} of the slots there";
    REMEDY: "Make hot code smaller, and lay it out by profile (-fprofile-use).";
}

PROPERTY ArmBackEnd {
    // The same: backend_bound.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET part = STALL_SLOT_BACKEND / (8 * CPU_CYCLES);
    CONDITION: part > 0.2 AND share(CPU_CYCLES) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * part * share(CPU_CYCLES);
    TITLE: "Instructions wait for data or units in {place}";
    EVIDENCE: "{part:%} of the slots there";
    REMEDY: "Count STALL_BACKEND_MEM to see whether it is memory.";
}

PROPERTY ArmBadSpeculation {
    // The same: bad_speculation = (1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (8 * CPU_CYCLES)).
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET part = (1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (8 * CPU_CYCLES));
    CONDITION: part > 0.15 AND share(CPU_CYCLES) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * part * share(CPU_CYCLES);
    TITLE: "Work is thrown away in {place}";
    EVIDENCE: "{part:%} of the slots there";
    REMEDY: "Replace branches that cannot be foreseen by arithmetic (csel), or sort the data by them.";
}

PROPERTY BackEndStallCycles(Region r) {
    // The stall tree of Itanium 2, as Gerndt, Fuerlinger and Kereku have it ("Periscope: Advanced Techniques for Performance
    // Analysis", ParCo 2005): an example for another machine. Stalls above 10% of the phase.
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: BACK_END_BUBBLE_ALL / total(CPU_CYCLES) > 0.1;
    CONFIDENCE: 1;
    SEVERITY: 100 * BACK_END_BUBBLE_ALL / total(CPU_CYCLES);
    TITLE: "The back end stalls in {place}";
    EVIDENCE: "{BACK_END_BUBBLE_ALL} of {CPU_CYCLES} cycles";
}
PROPERTY TEMPLATE Bubble<Event, String title> (Region r) {
    // The same paper's tree; the events are those of Intel's "Itanium 2 Processor Reference Manual", 2004.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES BackEndStallCycles;
    CONDITION: Event / total(CPU_CYCLES) > 0.05;
    CONFIDENCE: 1;
    SEVERITY: 100 * Event / total(CPU_CYCLES);
    TITLE: title;
    EVIDENCE: "{Event} of {CPU_CYCLES} cycles";
}
PROPERTY StallsOnL1DTLB = Bubble<BE_L1D_FPU_BUBBLE_L1D, "Stalls of the first data cache and its TLB in {place}">;
PROPERTY StallsOnFPU = Bubble<BE_L1D_FPU_BUBBLE_FPU, "Stalls of the floating point unit in {place}">;
PROPERTY StallsOnRegisters = Bubble<BE_EXE_BUBBLE_GRALL, "Integer loads are waited for in {place}">;
