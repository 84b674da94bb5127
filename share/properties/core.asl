/*
 * Counters of processor cores. Severity is percent of the run's cycles: the share lost here, times the share of the
 * cycles spent here.
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
    EVIDENCE: "{Part:%} of its pipeline slots; it takes {share(clk):%} of the cycles";
    REMEDY: how;
}
PROPERTY FrontEndBound = TopDown<front_end, 0.15, "Front-end bound: {place}",
    "Compile with a profile (-fprofile-use) for a better code layout, and make hot code smaller (less unrolling and inlining).">;
PROPERTY BadSpeculation = TopDown<bad_speculation, 0.15, "Bad speculation in {place}",
    "Replace unpredictable branches by arithmetic (select, masks), or sort the data by the condition.">;
PROPERTY BackEndBound = TopDown<back_end, 0.20, "Back-end bound: {place}",
    "Measure the refining properties to see whether memory or the core is the limit.">;

PROPERTY TEMPLATE StallCycles<Lost, Limit, Parent, String title, String how> (LOOP l) {
    // The same tree's lower levels: Intel's formulas and thresholds, as above.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES Parent;
    CONDITION: (Lost) / clk > Limit AND share(clk) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * (Lost) / total(clk);
    TITLE: title;
    EVIDENCE: "{(Lost) / clk:%} of its cycles; it takes {share(clk):%} of all cycles";
    REMEDY: how;
}
PROPERTY MemoryStalls = StallCycles<stalls_mem + bound_on_stores, 0.20, BackEndBound, "Memory-bound: {place}",
    "Access memory contiguously, reuse data while they are cached, and make the data smaller.">;
PROPERTY CoreStalls = StallCycles<stalls - stalls_mem, 0.10, BackEndBound, "Core-bound: {place}",
    "Vectorize, use fewer divisions, and shorten chains of dependent operations.">;
PROPERTY FirstLevelStalls = StallCycles<max(stalls_mem - stalls_l1, 0), 0.10, MemoryStalls, "L1-bound: {place} waits for L1 hits",
    "Keep values in registers: loads after stores to the same address, loads across page boundaries and too many loads are slow.">;
PROPERTY SecondLevelStalls = StallCycles<max(stalls_l1 - stalls_l2, 0), 0.05, MemoryStalls, "{place} waits for the L2 cache",
    "Block the loops for the L1 cache.">;
PROPERTY ThirdLevelStalls = StallCycles<max(stalls_l2 - stalls_l3, 0), 0.05, MemoryStalls, "{place} waits for the L3 cache",
    "Block the loops for the L2 cache; look for data shared between threads.">;
PROPERTY DramStalls = StallCycles<stalls_l3, 0.10, MemoryStalls, "{place} waits for main memory",
    "Block for the last-level cache, fuse loops over the same arrays, or prefetch. If the memory bandwidth is exhausted, move fewer bytes.">;
PROPERTY StoreStalls = StallCycles<bound_on_stores, 0.20, MemoryStalls, "{place} waits for stores",
    "Write contiguously, whole cache lines at a time; use streaming stores for data that are not read again.">;
PROPERTY DividerStalls = StallCycles<divider_active, 0.20, CoreStalls, "The divider limits {place}",
    "Multiply by a reciprocal computed once, or compile with -ffast-math if its errors are acceptable.">;

PROPERTY BranchMispredictions {
    // A misprediction costs some 15 to 20 cycles: Fog, "The microarchitecture of Intel, AMD and VIA CPUs".
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: mispredicted * 16 / clk > 0.05;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * mispredicted * 16 / total(clk);
    TITLE: "Mispredicted branches in {place}";
    EVIDENCE: "{mispredicted} mispredictions, about {mispredicted * 16 / clk:%} of its cycles";
    REMEDY: "Move the branch out of the loop, sort the data by the condition, or compute both sides and select.";
}

PROPERTY MispredictionRate {
    REFINES BranchMispredictions;
    // More than one in twenty is bad for any predictor of today: perf's documentation marks 5% red.
    FOR PROCEDURE, LOOP;
    CONDITION: mispredicted / branches > 0.05 AND mispredicted * 16 / clk > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * mispredicted * 16 / total(clk);
    TITLE: "One branch in {branches / mispredicted:.0} mispredicted in {place}";
    EVIDENCE: "{mispredicted} of {branches} branches";
    REMEDY: "Move the branch out of the loop, sort the data by the condition, or compute both sides and select.";
}

PROPERTY MachineClears {
    // Intel's top-down tree below bad speculation: memory ordering, self-modifying code.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES BadSpeculation;
    CONDITION: machine_clears * 30 / clk > 0.05;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * machine_clears * 30 / total(clk);
    TITLE: "Frequent machine clears in {place}";
    EVIDENCE: "{machine_clears} machine clears";
    REMEDY: "Look for threads that write what others read at the same time, denormal numbers, and self-modifying code.";
}

PROPERTY HighCPI {
    // Cycles per instruction: above one, a core of four slots does a quarter of what it could. Intel's VTune flags 1.
    FOR PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: cycles / instructions > 1.5 AND share(cycles) > 0.05;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * share(cycles) * (1 - 1 / (cycles / instructions));
    TITLE: "High CPI ({cycles / instructions:.1}) in {place}";
    EVIDENCE: "{cycles} cycles, {instructions} instructions";
    REMEDY: "Measure stall cycles to see whether it waits for memory, for divisions or for dependent operations.";
}

PROPERTY TEMPLATE CountedMisses<Count, Cost, Part, String title> (LOOP l) {
    // Periscope's miss properties: above 1% of the phase.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    CONDITION: Count * Cost / cycles > Part;
    CONFIDENCE: 0.5;
    SEVERITY: 100 * Count * Cost / total(cycles);
    TITLE: title;
    EVIDENCE: "{Count} misses of {Cost} cycles each, if they do not overlap: {Count * Cost / cycles:%} of its cycles";
    REMEDY: "Access memory contiguously. Then block the loops so that data are reused while cached, or make the data smaller.";
}
PROPERTY FirstLevelDataMisses = CountedMisses<PAPI_L1_DCM, 10, 0.1, "{place} misses the L1 cache">;
PROPERTY SecondLevelDataMisses = CountedMisses<PAPI_L2_DCM, 40, 0.1, "{place} misses the L2 cache">;
PROPERTY ThirdLevelMisses = CountedMisses<PAPI_L3_TCM, 150, 0.1, "{place} misses the last-level cache">;
PROPERTY DataTranslationMisses = CountedMisses<PAPI_TLB_DM, 30, 0.05, "{place} accesses more pages than the TLB holds">;

PROPERTY RemoteMemory {
    // NUMA: Lachaize, Lepers and Quema, "MemProf", USENIX ATC 2012.
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: remote / (remote + local) > 0.2 AND remote * 100 / clk > 0.02;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * remote * 100 / total(clk);
    TITLE: "{place} uses memory of another socket";
    EVIDENCE: "{remote} of {remote + local} loads from memory were remote";
    REMEDY: "Initialize memory in the thread that will use it (first touch); bind threads and memory (numactl, OMP_PROC_BIND).";
}

PROPERTY ArmFrontEnd {
    // Arm Neoverse V1 Core Telemetry Specification: frontend_bound, eight slots a cycle.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET part = STALL_SLOT_FRONTEND / (8 * CPU_CYCLES);
    CONDITION: part > 0.15 AND share(CPU_CYCLES) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * part * share(CPU_CYCLES);
    TITLE: "Front-end bound: {place}";
    EVIDENCE: "{part:%} of its pipeline slots";
    REMEDY: "Compile with a profile (-fprofile-use) for a better code layout, and make hot code smaller.";
}

PROPERTY ArmBackEnd {
    // The same: backend_bound.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET part = STALL_SLOT_BACKEND / (8 * CPU_CYCLES);
    CONDITION: part > 0.2 AND share(CPU_CYCLES) > 0.05;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * part * share(CPU_CYCLES);
    TITLE: "Back-end bound: {place}";
    EVIDENCE: "{part:%} of its pipeline slots";
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
    TITLE: "Bad speculation in {place}";
    EVIDENCE: "{part:%} of its pipeline slots";
    REMEDY: "Replace unpredictable branches by arithmetic (csel), or sort the data by the condition.";
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
PROPERTY StallsOnL1DTLB = Bubble<BE_L1D_FPU_BUBBLE_L1D, "L1 data cache and TLB stalls in {place}">;
PROPERTY StallsOnFPU = Bubble<BE_L1D_FPU_BUBBLE_FPU, "Stalls of the floating point unit in {place}">;
PROPERTY StallsOnRegisters = Bubble<BE_EXE_BUBBLE_GRALL, "Stalls on integer loads in {place}">;
