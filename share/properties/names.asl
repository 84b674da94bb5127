/*
 * Names of metrics and tables. A METRIC is the first of its names that was measured, so that a property about `time` applies to
 * measurements by cycles, by the task clock and by timers.
 */
METRIC time = "perf::TASK-CLOCK" | PAPI_TOT_CYC | CPUTIME | "perf::CPU-CLOCK" | "perf::CYCLES" | "cycles" | "cpu-cycles"
    | "task-clock" | "cpu-clock" | "samples";
// What is not below a call of MPI, where ranks spin until others come; without MPI, the same as time.
METRIC own_time = "perf::TASK-CLOCK outside MPI" | "PAPI_TOT_CYC outside MPI" | "CPUTIME outside MPI"
    | "perf::CPU-CLOCK outside MPI" | "perf::CYCLES outside MPI"
    | "perf::TASK-CLOCK" | PAPI_TOT_CYC | CPUTIME | "perf::CPU-CLOCK"
    | "perf::CYCLES" | "cycles" | "cpu-cycles" | "task-clock" | "cpu-clock" | "samples";
METRIC cpu_time = "perf::TASK-CLOCK" | CPUTIME | "perf::CPU-CLOCK" | "task-clock" | "cpu-clock";
METRIC wall = REALTIME;
METRIC own_wall = "REALTIME outside MPI" | REALTIME;
METRIC own_cpu_time = "perf::TASK-CLOCK outside MPI" | "CPUTIME outside MPI" | "perf::CPU-CLOCK outside MPI"
    | "perf::TASK-CLOCK" | CPUTIME | "perf::CPU-CLOCK" | "task-clock" | "cpu-clock";
METRIC refs = "L1 accesses" | "L1D accesses";
METRIC cycles = PAPI_TOT_CYC | "perf::CYCLES" | "cycles" | "cpu-cycles" | "CPU_CLK_UNHALTED:THREAD" | "CPU_CYCLES";
METRIC instructions = PAPI_TOT_INS | "perf::INSTRUCTIONS" | "instructions" | "INST_RETIRED:ANY" | "INST_RETIRED";
METRIC faults = "perf::PAGE-FAULTS" | "page-faults";
METRIC major_faults = "perf::MAJOR-FAULTS" | "major-faults";
METRIC switches = "perf::CONTEXT-SWITCHES" | "context-switches";
METRIC migrations = "perf::CPU-MIGRATIONS" | "cpu-migrations";

TABLE levels FROM "simulate";
TABLE objects FROM "simulate";
TABLE references FROM "simulate";
TABLE arrays FROM "simulate";
TABLE evictors FROM "simulate";
TABLE array_evictors FROM "simulate";
TABLE loop_quality FROM "quality";
TABLE loop_checks FROM "quality";
TABLE barriers FROM "record --phases";
TABLE barriers_compared FROM "record --phases, twice";
TABLE waits FROM "record --phases";
