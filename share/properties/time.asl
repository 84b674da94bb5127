/*
 * Time that clocks and the kernel's counters can show on any machine. Severities are percent of the run: of CPU time or
 * of elapsed time.
 */

HYPOTHESIS CPUBound {
    // Paradyn's Performance Consultant: CPU time above a part of what there was (0.30 of each process; here of the run,
    // for places). Miller et al., "The Paradyn Parallel Performance Measurement Tool", IEEE Computer 28(11), 1995.
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: share(time) > 0.2;
    SEVERITY: 100 * share(time);
    TITLE: "{place} takes {share(time):%} of the CPU time";
}

HYPOTHESIS HotLoop {
    // Sites, loops and calls: the loop-aware search of Moore, Wylie and Miller's successors in Paradyn, Euro-Par 2004.
    REFINES CPUBound;
    FOR INNERMOST;
    CONDITION: share(time) > 0.1;
    SEVERITY: 100 * share(time);
    TITLE: "{place} takes {share(time):%} of the CPU time";
}

HYPOTHESIS OffProcessor {
    // Paradyn: what is not CPU bound waits, for input or for others. The threads' lifetimes are not known one by one, so
    // a short-lived thread looks as if it had waited, and so does one whose processor was busy with other programs: hence
    // the low confidence.
    FOR PROGRAM;
    LET busy = total(cpu_time) / 1s / (run.seconds * run.threads);
    CONDITION: busy < 0.7 AND run.seconds > 0.2;
    CONFIDENCE: 0.1;
    SEVERITY: 100 * (1 - busy);
    TITLE: "Threads are off-CPU {1 - busy:%} of the time";
}

PROPERTY WaitingPlace {
    // Periscope and Paradyn compare wall clock with CPU time of a region; here by samples of both clocks.
    REFINES OffProcessor;
    FOR PROCEDURE, LOOP;
    // Waiting inside of MPI is MessagePassing's, and threads of its libraries sleep all the time.
    LET waits = own_wall / 1s - or(own_cpu_time, 0) / 1s; // a place without CPU time has none, if CPU time was measured: NEEDS
    CONDITION: waits / (own_wall / 1s) > 0.3 AND own_wall > 0.05 * total(own_wall);
    CONFIDENCE: 0.7;
    SEVERITY: 100 * waits / if(run.ranks > 1, run.seconds * run.ranks, total(wall) / 1s);
    NEEDS: wall, cpu_time;
    TITLE: "{place} waits off-CPU";
    EVIDENCE: "{own_wall / 1s:.2} s of wall-clock time, {or(own_cpu_time, 0) / 1s:.2} s of it on a CPU";
    EXPLANATION: "The threads did not run: they blocked in a system call, on a lock or on a message, or other programs used the CPU.";
    REMEDY: "Find what the thread blocks on. Then overlap the wait with other work, wait on several requests at once, or issue fewer, larger requests.";
}

PROPERTY MajorFaults {
    // A page that is read from a disk costs milliseconds. Gorman, "Understanding the Linux Virtual Memory Manager", ch. 4.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = 100 * major_faults * 100us / total(cpu_time);
    CONDITION: major_faults >= 10;
    CONFIDENCE: 0.5;
    SEVERITY: lost;
    TITLE: "{place} waits for pages from disk";
    EXPLANATION: "{major_faults} page faults waited for the disk: a mapped file that was not in memory yet, or memory that was swapped out.";
    REMEDY: "Reduce memory use below the size of the machine's memory. Read files in large pieces or ahead of time (madvise, posix_fadvise).";
}

PROPERTY PageFaults {
    // A first touch of a page costs 0.25 us on bare metal to 1 us and more under a hypervisor (lmbench lat_pagefault;
    // McVoy and Staelin, "lmbench", USENIX 1996); half a microsecond is taken.
    FOR PROGRAM, PROCEDURE, LOOP;
    REFINES CPUBound;
    LET lost = faults * 0.5us / total(cpu_time);
    CONDITION: lost > 2%;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * lost;
    TITLE: "Page faults in {place}";
    EVIDENCE: "{faults:.0} page faults, about {faults * 0.5us / 1ms:.0} ms in the kernel";
    EXPLANATION: "The first access to each new page enters the kernel, which clears the page. Memory that is freed and allocated again faults again.";
    REMEDY: "Reuse large blocks instead of freeing and allocating them repeatedly (a pool, or mallopt M_MMAP_THRESHOLD and M_TRIM_THRESHOLD). Then try huge pages (madvise MADV_HUGEPAGE), and initialize memory in parallel.";
}

PROPERTY ContextSwitches {
    // A switch costs 1 to 5 us with what it does to caches. Li, Ding and Shen, "Quantifying the cost of context switch",
    // ExpCS 2007; lmbench lat_ctx.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = switches * 3us / total(cpu_time);
    CONDITION: lost > 1%;
    CONFIDENCE: 0.6;
    SEVERITY: 100 * lost;
    TITLE: "Frequent context switches in {place}";
    EVIDENCE: "{switches:.0} context switches";
    EXPLANATION: "Threads block often and briefly: on locks held for a short time, small messages or small reads.";
    REMEDY: "Do more work between waits, and give each thread its own data instead of sharing it in turns.";
}

PROPERTY Migrations {
    // After a migration caches are cold: Linux takes 0.5 ms as the cost of it (sysctl sched_migration_cost_ns).
    FOR PROGRAM;
    LET lost = migrations * 0.5ms / total(cpu_time);
    CONDITION: lost > 2%;
    CONFIDENCE: 0.4;
    SEVERITY: 100 * lost;
    TITLE: "Threads migrate between CPUs";
    EVIDENCE: "{migrations:.0} migrations";
    REMEDY: "Bind threads to CPUs (OMP_PROC_BIND, taskset), and start at most one thread for each.";
}

// The possible gain in code without source is unknown: assume 5% of its time, as for checks of loops (code.asl).
LET unknown_as = 5;

PROPERTY TEMPLATE WithoutSource<String modules, String others, String why, String how> (MODULE m) {
    // "Where is the source?" is what an analyst asks first: Periscope and HPCToolkit list such modules apart.
    FOR MODULE;
    WHERE name IS modules AND name IS NOT others;
    CONDITION: own_time / total(time) > 0.05 AND place.has_source == 0;
    CONFIDENCE: 0.2;
    SEVERITY: unknown_as * own_time / total(time);
    TITLE: "{name} takes {own_time / total(time):%}, without source lines";
    EVIDENCE: "{own_time} of {total(time)} in code without line numbers; the possible gain is unknown ({unknown_as}% of this time assumed)";
    EXPLANATION: why;
    REMEDY: how;
}
// Runtime libraries of threads are RuntimeLibrary's, and what runs in MPI is MessagePassing's.
PROPERTY NoSource = WithoutSource<"*.so|*.so.*", "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*",
    "Without debug information, code of a library is shown by function at best. You can change how often and why it is called.",
    "Find its callers in the call paths. Install its debug information to see lines.">;
PROPERTY NoLines = WithoutSource<"*", "*.so|*.so.*|*vdso*|[[]*",
    "Without line numbers the program is shown by function at best, and findings about its loops have no place in the source.",
    "Compile it with -g, which does not change its speed, or install its debug information.">;

PROPERTY StartUp {
    // The dynamic linker before main: Drepper, "How To Write Shared Libraries", 2011.
    FOR MODULE;
    TOGETHER;
    WHERE name IS "ld-linux*|ld-*.so*|ld.so*|ld64*";
    CONDITION: share(time) > 0.01;
    SEVERITY: 100 * share(time);
    TITLE: "Start-up: {share(time):%} in the dynamic linker";
    REMEDY: "Do more work in one run. Otherwise link fewer and smaller libraries, or prelink.";
}

PROPERTY Recursion {
    // A call for each small piece of work; deep recursions also touch much stack. Paths show it as a procedure below itself.
    // Much of it is how the work is: trees are walked so. What may be gained is not known.
    FOR PATH;
    WHERE kind IS "procedure";
    CONDITION: path.repeats == 1 AND share(time) > 0.1;
    CONFIDENCE: 0.4;
    SEVERITY: unknown_as * share(time);
    TITLE: "{name} is recursive: {share(time):%} below recursive calls";
    EVIDENCE: "{time} of {total(time)}; the possible gain is unknown ({unknown_as}% of this time assumed)";
    EXPLANATION: "Each call saves and restores registers and cannot be vectorized. If calls do little work, most of them are small cases.";
    REMEDY: "Stop the recursion at larger pieces and process these in loops; turn a tail call into a loop.";
}

/* ---- time in functions of known purpose ---------------------------------------------------- */

PROPERTY TEMPLATE TimeIn<String names, String what, String why, String how> (PROCEDURE p) {
    FOR PROCEDURE, INLINE;
    REFINES CPUBound;
    TOGETHER;
    WHERE name IS names;
    CONDITION: own_time > 0;
    CONFIDENCE: 0.8;
    SEVERITY: min(110 * own_time / total(time), 100); // and what goes with it: making the call, its arguments
    LEAST: 50 * own_time / total(time);
    TITLE: what;
    EXPLANATION: why;
    REMEDY: how;
}

// The cost of general allocators: Berger, Zorn and McKinley, "Reconsidering Custom Memory Allocation", OOPSLA 2002.
PROPERTY Allocation = TimeIn<"malloc|__libc_malloc*|_int_malloc|malloc_consolidate|free|__libc_free|_int_free*|cfree|calloc|__libc_calloc|realloc|__libc_realloc|_int_realloc|unlink_chunk*|sysmalloc|systrim*|__libc_memalign|posix_memalign|aligned_alloc|operator new*|operator delete*|_Znwm|_Znam|_ZdlPv*|_ZdaPv*|tcache_*|mi_malloc*|je_malloc*|ptmalloc*",
    "Memory allocation and deallocation",
    "The allocator takes locks and searches lists for each block. In a loop this can cost more than the work on the block.",
    "Allocate once outside the loop and reuse the block. Reserve the size of containers in advance, or use a pool or an arena.">;

PROPERTY CompiledPattern {
    // Cox, "Regular Expression Matching Can Be Simple And Fast", 2007: building the automaton costs far more than one match.
    FOR PATH;
    WHERE kind IS "procedure" AND name IS "std::__cxx11::basic_regex<*>::_M_compile|std::__cxx11::basic_regex<*>::basic_regex*|std::__detail::_Compiler<*>::_Compiler*|regcomp|re_compile_internal|pcre_compile*|pcre2_compile*";
    CONDITION: share(time) > 0.02 AND path.repeats == 0;
    CONFIDENCE: 0.8;
    SEVERITY: min(110 * share(time), 100);
    LEAST: 50 * share(time);
    TITLE: "Regular expressions are compiled repeatedly";
    EVIDENCE: "{share(time):%} of the time is spent compiling patterns, in {name} and below";
    EXPLANATION: "Compiling a pattern builds an automaton and allocates memory; a match with it is much cheaper.";
    REMEDY: "Compile each pattern once, outside the loop, and reuse it (a static const object).";
}

// Copying: the traffic is twice the bytes and the store's line is read first. Drepper, "What Every Programmer Should Know
// About Memory", 2007, 6.1.
PROPERTY Copying = TimeIn<"memcpy*|__memcpy*|memmove*|__memmove*|__mempcpy*|memset*|__memset*|bcopy|bzero|_int_memcpy",
    "Copying and clearing memory",
    "memcpy, memmove and memset move data without computing; page faults of new memory also occur in them.",
    "Pass pointers instead of copies, write results directly to their destination, and clear only memory that is not overwritten.">;

// Critical sections and locks: ompP and Periscope's CriticalSectionOverhead; Tallent, Mellor-Crummey and Porterfield,
// "Analyzing Lock Contention in Multithreaded Applications", PPoPP 2010.
PROPERTY Locks = TimeIn<"pthread_mutex_*|__pthread_mutex_*|___pthread_mutex_*|__GI___pthread_mutex_*|lll_lock*|__lll_*|__lock_wait*|pthread_spin_*|pthread_rwlock_*|__pthread_rwlock_*|___pthread_rwlock_*|GOMP_critical_*|GOMP_atomic_*|gomp_mutex_lock*|__kmpc_critical*|__kmpc_end_critical*|__kmp_acquire_*|omp_set_lock*|omp_unset_lock*|std::mutex::*",
    "Lock operations",
    "Threads wait for a lock that others hold, or take a lock so often that it costs more than the protected work.",
    "Replace a shared sum by sums for each thread (reduction). Otherwise use a lock for each part of the data, hold locks for less time, or use atomic operations.">;

// Barriers: Periscope's imbalance properties; ompP (Fuerlinger and Gerndt, 2005).
PROPERTY Barriers = TimeIn<"GOMP_barrier*|gomp_barrier_*|gomp_team_barrier*|gomp_team_end|pthread_barrier_wait|__pthread_barrier_wait|___pthread_barrier_wait|__kmp_*barrier*|__kmpc_barrier*|__kmp_wait_*|__kmp_join_*|do_wait|do_spin|kmp_flag_*",
    "Waiting at barriers",
    "The first thread at a barrier waits for the last. Runtime libraries spin while they wait, which counts as CPU time.",
    "Balance the work of the threads (schedule(dynamic), smaller pieces). Then remove barriers (nowait, larger parallel regions).">;

// Small operations: Paradyn's TooManySmallIOOps (below 4096 bytes each).
PROPERTY InputOutput = TimeIn<"read|__read*|__libc_read|__GI___libc_read|__GI___read*|write|__write*|__libc_write|__GI___libc_write|__GI___write*|pread*|pwrite*|__libc_pread*|__libc_pwrite*|readv|writev|lseek*|__lseek*|fsync|__open*|open|open64|__libc_open*|close|__close*|sendto|__libc_send*|recvfrom|__libc_recv*|recvmsg|sendmsg|poll|__poll|epoll_wait|select|__select",
    "System calls for input and output",
    "Each call enters the kernel and costs about a microsecond before it moves a byte; many small pieces multiply this cost.",
    "Read and write at least 64 KiB at a time through a buffer (setvbuf, fread). Map files that are accessed at many positions.">;

// Memory that goes back to the kernel and comes again.
PROPERTY MappingMemory = TimeIn<"mmap|mmap64|__mmap*|__GI___mmap*|munmap|__munmap*|__GI___munmap*|brk|__brk|sbrk|__sbrk|mremap|__mremap|madvise|__madvise|mprotect|__mprotect",
    "Mapping and unmapping memory",
    "Large blocks are mapped and unmapped repeatedly; each time the kernel clears and maps their pages again.",
    "Reuse the blocks, or raise the allocator's thresholds (MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, or mallopt).">;

// Text: formatted input and output cost hundreds of cycles a number.
PROPERTY Formatting = TimeIn<"printf|__printf*|fprintf|vfprintf|__vfprintf*|snprintf|__snprintf*|vsnprintf|__vsnprintf*|sprintf|__printf_fp*|__vfscanf*|vfscanf|__isoc99_*scanf*|__isoc23_*scanf*|strtod*|__strtod*|____strtod*|strtol*|__strtol*|____strtol*|_IO_vf*|hack_digit|__mpn_*|std::num_put*|std::num_get*|std::ostream::*|_gfortrani_*|_gfortran_transfer*",
    "Converting numbers to text and back",
    "Each number is converted digit by digit, which is far slower than writing its bytes.",
    "Write binary data. Otherwise write less often, or fewer digits.">;

// Elementary functions one at a time: vector libraries (libmvec, SVML) compute four to eight at once.
PROPERTY ElementaryFunctions = TimeIn<"_ZGV*|__svml_*|Sleef_*|amd_v*|exp|__exp*|__ieee754_*|log|__log*|pow|__pow*|sin|__sin*|cos|__cos*|sincos*|__sincos*|tan|__tan*|atan*|__atan*|exp2*|log2*|log10*|expf|logf|powf|sinf|cosf|cbrt|__cbrt|hypot*|__hypot*|erf*|__erf*|tgamma*|lgamma*|fmod|__fmod*|cexp*|csin*",
    "Elementary functions, one value at a time",
    "exp, log, pow and similar functions take 20 to 100 cycles a call, and the calls prevent vectorization of the loop.",
    "Move common factors out of the loop and write x*x instead of pow(x, 2). Then compile with -ffast-math and a vector library (-mveclibabi, libmvec), or use a table.">;

// Sorting through a function pointer: Bentley and McIlroy, "Engineering a Sort Function", 1993.
PROPERTY Sorting = TimeIn<"qsort|__qsort*|msort_with_tmp*|qsort_r|bsearch",
    "Sorting and searching through a comparison function",
    "Each comparison is a call through a pointer.",
    "Sort once and keep the order. Otherwise sort keys instead of records, or use a sort with an inlined comparison (std::sort) or a radix sort.">;

// Half of a sort's comparisons are mispredicted: Sanders and Winkel, "Super Scalar Sample Sort", ESA 2004.
PROPERTY LibrarySorting = TimeIn<"std::__introsort*|std::__insertion_sort*|std::__adjust_heap*|std::__unguarded_linear_insert*|std::__unguarded_partition*|std::__merge_*|std::__final_insertion_sort*",
    "Sorting",
    "Each comparison is an unpredictable branch, and large elements are moved each time.",
    "Sort once and keep the order. Otherwise sort numbers or pointers instead of large elements, use a radix sort for numbers, or sort only the part that is needed (std::nth_element).">;

// Strings: scans from the begin.
PROPERTY Strings = TimeIn<"strlen*|__strlen*|strcmp*|__strcmp*|strncmp*|__strncmp*|strcpy*|__strcpy*|strcat*|__strcat*|strchr*|__strchr*|strstr*|__strstr*|memcmp*|__memcmp*|memchr*|__memchr*|strdup|__strdup",
    "Comparing and scanning strings",
    "Strings are scanned to their end each time; strlen in a loop condition makes the loop quadratic.",
    "Store the lengths, and compare numbers (interned strings, hashes) instead of texts.">;

// Random numbers with a lock: POSIX rand() and random() share a state.
PROPERTY RandomNumbers = TimeIn<"rand|random|__random*|random_r|drand48|__drand48*|lrand48|erand48",
    "Random numbers from the C library",
    "rand() and random() take a lock shared by all threads for each number.",
    "Give each thread its own generator, and generate many numbers at once.">;

// Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 2021, compare speeds.
PROPERTY RandomEngines = TimeIn<"std::mersenne_twister*|std::linear_congruential*|std::subtract_with_carry*|std::uniform_*_distribution*|std::normal_distribution*|std::generate_canonical*|__gnu_cxx::simd_fast_mersenne*",
    "Random number generation",
    "A Mersenne twister recomputes 2.5 KB of state every 624 numbers; distributions can draw and divide several times for each value.",
    "Use a generator with little state (xoshiro, PCG) if its quality suffices, and construct distributions once. If only input is generated, generate it once and store it.">;

// Exceptions: unwinding costs microseconds each.
PROPERTY Exceptions = TimeIn<"_Unwind_*|__gxx_personality*|__cxa_throw|__cxa_allocate_exception|uw_*|_dl_iterate_phdr|dl_iterate_phdr|_Unwind_Find_FDE|search_object|linear_search_fdes|__cxa_begin_catch",
    "Throwing exceptions",
    "Each throw unwinds the stack with tables and takes a lock of the dynamic linker.",
    "Return expected errors as values; throw only in exceptional cases.">;

PROPERTY Unwinding {
    // The library's functions have no names where distributions strip it, and it does little else: the Itanium C++ ABI's
    // level I, "Exception Handling".
    FOR MODULE;
    REFINES NoSource;
    WHERE name IS "libgcc_s.so*|libunwind.so*";
    CONDITION: share(time) > 0.02;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: "{share(time):%} in {name}, unwinding the stack";
    EXPLANATION: "Each throw unwinds the stack frame by frame, twice.";
    REMEDY: "Return expected errors as values; throw only in exceptional cases.";
}

// Time stamps: a call for each, and a system call where the clock is not in the vdso.
PROPERTY Clocks = TimeIn<"clock_gettime|__clock_gettime*|gettimeofday|__gettimeofday|time|__vdso_*|std::chrono::*now*|omp_get_wtime*|MPI_Wtime",
    "Reading the clock",
    "The program reads the clock so often that the calls themselves take time.",
    "Read the clock once in many iterations.">;

/* ---- MPI ---------------------------------------------------------------------------------------- */

PROPERTY MessagePassing {
    // What is spent inside MPI: Vetter and McCracken, "Statistical Scalability Analysis of Communication Operations" (mpiP), PPoPP 2001.
    // By call paths: whatever a call of MPI does, in its libraries, the C library or the kernel.
    FOR MODULE;
    TOGETHER;
    LET inside = time - or(own_time, 0);
    CONDITION: inside > 0;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * inside / total(time);
    TITLE: "Time inside MPI";
    EVIDENCE: "{inside / total(time):%} of the time is inside MPI, in {name}";
    EXPLANATION: "Ranks spin in MPI until messages arrive or all other ranks enter a collective; the rest is packing and copying.";
    REMEDY: "Find the calls that wait (record --phases). Then balance the work before them, send fewer and larger messages, or compute between sending and waiting.";
}

PROPERTY TEMPLATE TimeInCall<String names, String what, String why, String how> (PATH p) {
    // Periscope's MPI properties have a threshold of 5% of the phase; here the usual threshold applies.
    FOR PATH;
    REFINES MessagePassing;
    WHERE kind IS "procedure" AND name IS names;
    CONDITION: share(time) > 0 AND path.repeats == 0;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: what;
    EVIDENCE: "{name} takes {share(time):%} of the time";
    EXPLANATION: why;
    REMEDY: how;
}
PROPERTY CollectiveWaiting = TimeInCall<"*MPI_All*|*MPI_Barrier|*MPI_Reduce*|*MPI_Bcast|*MPI_Gather*|*MPI_Scatter*|*MPI_Scan|*MPI_Exscan|mpi_all*|mpi_barrier*|mpi_reduce*|mpi_bcast*|mpi_gather*|mpi_scatter*|mpi_scan*|mpi_exscan*",
    "Collective communication",
    "Ranks that enter early wait in the collective call, spinning.",
    "Balance the work before it. Then use fewer, larger or nonblocking collectives.">;
// Late senders and receivers: Wolf and Mohr, "Automatic Performance Analysis of Hybrid MPI/OpenMP Applications", 2003.
PROPERTY PointToPoint = TimeInCall<"*MPI_*end|*MPI_*ecv|*MPI_Sendrecv*|*MPI_Wait*|*MPI_Test*|*MPI_*robe|mpi_*end_|mpi_*ecv_|mpi_sendrecv*|mpi_wait*|mpi_test*|mpi_*robe_",
    "Point-to-point messages",
    "Ranks wait for late messages, or send many small ones.",
    "Post receives early, combine small messages, and compute between sending and waiting.">;
