/*
 * Where time goes that clocks and the kernel's counters can show on any machine. The severity of everything is percent
 * of the run: of the processors' time, or of the time that passed.
 */

HYPOTHESIS CPUBound {
    // Paradyn's Performance Consultant: CPU time above a part of what there was (0.30 of each process; here of the run,
    // for places). Miller et al., "The Paradyn Parallel Performance Measurement Tool", IEEE Computer 28(11), 1995.
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: share(time) > 0.2;
    SEVERITY: 100 * share(time);
    TITLE: "{place} takes {share(time):%} of the processors' time";
}

HYPOTHESIS HotLoop {
    // Sites, loops and calls: the loop-aware search of Moore, Wylie and Miller's successors in Paradyn, Euro-Par 2004.
    REFINES CPUBound;
    FOR INNERMOST;
    CONDITION: share(time) > 0.1;
    SEVERITY: 100 * share(time);
    TITLE: "{place} takes {share(time):%} of the processors' time";
}

HYPOTHESIS OffProcessor {
    // Paradyn: what is not CPU bound waits, for input or for others. The threads' lifetimes are not known one by one, so
    // a thread that lived shortly looks as if it had waited, and so does one whose processor others had: hence the
    // confidence.
    FOR PROGRAM;
    LET busy = total(cpu_time) / 1s / (run.seconds * run.threads);
    CONDITION: busy < 0.7 AND run.seconds > 0.2;
    CONFIDENCE: 0.1;
    SEVERITY: 100 * (1 - busy);
    TITLE: "Threads are without a processor {1 - busy:%} of the time";
}

PROPERTY WaitingPlace {
    // Periscope and Paradyn compare wall clock with CPU time of a region; here by samples of both clocks.
    REFINES OffProcessor;
    FOR PROCEDURE, LOOP;
    LET waits = wall / 1s - or(cpu_time, 0) / 1s;
    CONDITION: waits / (wall / 1s) > 0.3 AND share(wall) > 0.05;
    CONFIDENCE: 0.7;
    SEVERITY: 100 * waits / (total(wall) / 1s);
    NEEDS: wall;
    TITLE: "{place} waits";
    EVIDENCE: "{wall / 1s:.2} s passed there, {or(cpu_time, 0) / 1s:.2} s of them on a processor";
    EXPLANATION: "The threads were there without running: a system call that blocks, a lock, a message, or a processor that other programs had.";
    REMEDY: "Look at who is waited for; do something else meanwhile, wait for several things at once, or ask for more at a time.";
}

PROPERTY MajorFaults {
    // A page that is read from a disk costs milliseconds. Gorman, "Understanding the Linux Virtual Memory Manager", ch. 4.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = 100 * major_faults * 100us / total(cpu_time);
    CONDITION: major_faults >= 10;
    CONFIDENCE: 0.5;
    SEVERITY: lost;
    TITLE: "{place} waits for pages from a disk";
    EXPLANATION: "{major_faults} page faults waited for input: a mapped file that is not in memory yet, or memory that was swapped out.";
    REMEDY: "Read files with large reads or ahead of time (madvise, posix_fadvise); use less memory than the machine has.";
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
    EXPLANATION: "Each first touch of a page of new memory goes into the kernel, which clears the page. Memory that is given back and taken again is touched for the first time again.";
    REMEDY: "Keep large blocks instead of freeing and allocating them in turn (mallopt M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, a pool); use huge pages (madvise MADV_HUGEPAGE); touch memory in parallel.";
}

PROPERTY ContextSwitches {
    // A switch costs 1 to 5 us with what it does to caches. Li, Ding and Shen, "Quantifying the cost of context switch",
    // ExpCS 2007; lmbench lat_ctx.
    FOR PROGRAM, PROCEDURE, LOOP;
    LET lost = switches * 3us / total(cpu_time);
    CONDITION: lost > 1%;
    CONFIDENCE: 0.6;
    SEVERITY: 100 * lost;
    TITLE: "{place} gives up its processor often";
    EVIDENCE: "{switches:.0} context switches";
    EXPLANATION: "Threads block again and again for short times: locks that are held shortly, small messages, reads of little at a time.";
    REMEDY: "Make the pieces of work between the waits larger; let threads own what they share by turns.";
}

PROPERTY Migrations {
    // After a migration caches are cold: Linux takes 0.5 ms as the cost of it (sysctl sched_migration_cost_ns).
    FOR PROGRAM;
    LET lost = migrations * 0.5ms / total(cpu_time);
    CONDITION: lost > 2%;
    CONFIDENCE: 0.4;
    SEVERITY: 100 * lost;
    TITLE: "Threads move between processors";
    EVIDENCE: "{migrations:.0} migrations";
    REMEDY: "Bind threads to processors (OMP_PROC_BIND, taskset), and start no more threads than there are.";
}

// What code without source may gain is not known: it is ranked as 5% of what it takes, as checks of loops are (code.asl).
LET unknown_as = 5;

PROPERTY TEMPLATE WithoutSource<String modules, String others, String why, String how> (MODULE m) {
    // "Where is the source?" is what an analyst asks first: Periscope and HPCToolkit list such modules apart.
    FOR MODULE;
    WHERE name IS modules AND name IS NOT others;
    CONDITION: share(time) > 0.05 AND place.has_source == 0;
    CONFIDENCE: 0.2;
    SEVERITY: unknown_as * share(time);
    TITLE: "{name} has {share(time):%} of the time and no source here";
    EVIDENCE: "{time} of {total(time)} there, in code without lines; what may be gained is not known (it is ranked as {unknown_as}% of that)";
    EXPLANATION: why;
    REMEDY: how;
}
// Runtime libraries of threads are RuntimeLibrary's, MPI's are MessagePassing's.
PROPERTY NoSource = WithoutSource<"*.so|*.so.*", "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*|libmpi*|libopen-pal*|libopen-rte*|mca_*|libmpich*|libuc[pst].so*|libfabric*|libpsm*",
    "Code of a library without debug information is shown by function at best; why it is called is what can be changed.",
    "Look at its call paths to see who calls it; install its debug information to see its lines.">;
PROPERTY NoLines = WithoutSource<"*", "*.so|*.so.*|*vdso*|[[]*",
    "Without line numbers the program is shown by function at best, and what can be said of its loops cannot be said where they stand.",
    "Compile it with -g, which changes nothing in its speed, or install its debug information.">;

PROPERTY StartUp {
    // The dynamic linker before main: Drepper, "How To Write Shared Libraries", 2011.
    FOR MODULE;
    TOGETHER;
    WHERE name IS "ld-linux*|ld-*.so*|ld.so*|ld64*";
    CONDITION: share(time) > 0.01;
    SEVERITY: 100 * share(time);
    TITLE: "Start-up: {share(time):%} of the time is in the dynamic linker";
    REMEDY: "Link fewer and smaller libraries, prelink, or do more in one run.";
}

PROPERTY Recursion {
    // A call for each small piece of work; deep recursions also touch much stack. Paths show it as a procedure below itself.
    // Much of it is how the work is: trees are walked so. What may be gained is not known.
    FOR PATH;
    WHERE kind IS "procedure";
    CONDITION: path.repeats == 1 AND share(time) > 0.1;
    CONFIDENCE: 0.4;
    SEVERITY: unknown_as * share(time);
    TITLE: "{name} calls itself: {share(time):%} of the time is below such calls";
    EVIDENCE: "{time} of {total(time)}; what may be gained is not known (it is ranked as {unknown_as}% of that)";
    EXPLANATION: "Each call saves and restores registers and cannot be vectorized; where calls do little, small cases are most of them.";
    REMEDY: "Where a call does little: stop the recursion at larger pieces and work on these in loops; turn the last call into a loop.";
}

/* ---- time in functions of known purpose ---------------------------------------------------- */

PROPERTY TEMPLATE TimeIn<String names, String what, String why, String how> (PROCEDURE p) {
    FOR PROCEDURE, INLINE;
    REFINES CPUBound;
    TOGETHER;
    WHERE name IS names;
    CONDITION: share(time) > 0;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: what;
    EXPLANATION: why;
    REMEDY: how;
}

// The cost of general allocators: Berger, Zorn and McKinley, "Reconsidering Custom Memory Allocation", OOPSLA 2002.
PROPERTY Allocation = TimeIn<"malloc|__libc_malloc*|_int_malloc|malloc_consolidate|free|__libc_free|_int_free*|cfree|calloc|__libc_calloc|realloc|__libc_realloc|_int_realloc|unlink_chunk*|sysmalloc|systrim*|__libc_memalign|posix_memalign|aligned_alloc|operator new*|operator delete*|_Znwm|_Znam|_ZdlPv*|_ZdaPv*|tcache_*|mi_malloc*|je_malloc*|ptmalloc*",
    "Time goes into allocating and freeing memory",
    "The allocator takes locks and searches lists for each block; in a loop this may cost more than what the block is for.",
    "Allocate once outside of the loop and use the block again; reserve what a container will need; use a pool or an arena.">;

// Copying: the traffic is twice the bytes and the store's line is read first. Drepper, "What Every Programmer Should Know
// About Memory", 2007, 6.1.
PROPERTY Copying = TimeIn<"memcpy*|__memcpy*|memmove*|__memmove*|__mempcpy*|memset*|__memset*|bcopy|bzero|_int_memcpy",
    "Time goes into copying and clearing memory",
    "memcpy, memmove and memset move data without computing; page faults of new memory fall there too.",
    "Pass pointers, write results where they belong, and clear only what is not written anyway.">;

// Critical sections and locks: ompP and Periscope's CriticalSectionOverhead; Tallent, Mellor-Crummey and Porterfield,
// "Analyzing Lock Contention in Multithreaded Applications", PPoPP 2010.
PROPERTY Locks = TimeIn<"pthread_mutex_*|__pthread_mutex_*|___pthread_mutex_*|__GI___pthread_mutex_*|lll_lock*|__lll_*|__lock_wait*|pthread_spin_*|pthread_rwlock_*|__pthread_rwlock_*|___pthread_rwlock_*|GOMP_critical_*|GOMP_atomic_*|gomp_mutex_lock*|__kmpc_critical*|__kmpc_end_critical*|__kmp_acquire_*|omp_set_lock*|omp_unset_lock*|std::mutex::*",
    "Time goes into locks",
    "Threads take a lock that others hold, or take one so often that taking it costs more than what it guards.",
    "Guard less, or less often: a lock for each part of the data, sums by thread that are added up at the end (reduction), atomic operations.">;

// Barriers: Periscope's imbalance properties; ompP (Fuerlinger and Gerndt, 2005).
PROPERTY Barriers = TimeIn<"GOMP_barrier*|gomp_barrier_*|gomp_team_barrier*|gomp_team_end|pthread_barrier_wait|__pthread_barrier_wait|___pthread_barrier_wait|__kmp_*barrier*|__kmpc_barrier*|__kmp_wait_*|__kmp_join_*|do_wait|do_spin|kmp_flag_*",
    "Time goes into waiting at barriers",
    "Who comes first to a barrier waits for the last; runtime libraries spin there, which looks like work to the processor.",
    "Give all threads as much to do (schedule(dynamic), smaller pieces), and have fewer barriers (nowait, larger parallel regions).">;

// Small operations: Paradyn's TooManySmallIOOps (below 4096 bytes each).
PROPERTY InputOutput = TimeIn<"read|__read*|__libc_read|__GI___libc_read|__GI___read*|write|__write*|__libc_write|__GI___libc_write|__GI___write*|pread*|pwrite*|__libc_pread*|__libc_pwrite*|readv|writev|lseek*|__lseek*|fsync|__open*|open|open64|__libc_open*|close|__close*|sendto|__libc_send*|recvfrom|__libc_recv*|recvmsg|sendmsg|poll|__poll|epoll_wait|select|__select",
    "Time goes into system calls for input and output",
    "Each call goes into the kernel and costs about a microsecond before it moves a byte; small pieces multiply that.",
    "Read and write pieces of 64 KiB and more, through a buffer (setvbuf, fread); map files that are read in many places.">;

// Memory that goes back to the kernel and comes again.
PROPERTY MappingMemory = TimeIn<"mmap|mmap64|__mmap*|__GI___mmap*|munmap|__munmap*|__GI___munmap*|brk|__brk|sbrk|__sbrk|mremap|__mremap|madvise|__madvise|mprotect|__mprotect",
    "Time goes into getting memory from the kernel and giving it back",
    "Large blocks are mapped and unmapped each time; the pages have to be cleared and entered anew.",
    "Keep the blocks; raise the allocator's thresholds (MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, or mallopt).">;

// Text: formatted input and output cost hundreds of cycles a number.
PROPERTY Formatting = TimeIn<"printf|__printf*|fprintf|vfprintf|__vfprintf*|snprintf|__snprintf*|vsnprintf|__vsnprintf*|sprintf|__printf_fp*|__vfscanf*|vfscanf|__isoc99_*scanf*|__isoc23_*scanf*|strtod*|__strtod*|____strtod*|strtol*|__strtol*|____strtol*|_IO_vf*|hack_digit|__mpn_*|std::num_put*|std::num_get*|std::ostream::*|_gfortrani_*|_gfortran_transfer*",
    "Time goes into turning numbers into text and back",
    "Each number is taken apart digit by digit; for arrays this is far slower than their bytes.",
    "Write binary data, or fewer digits; write less often.">;

// Elementary functions one at a time: vector libraries (libmvec, SVML) compute four to eight at once.
PROPERTY ElementaryFunctions = TimeIn<"exp|__exp*|__ieee754_*|log|__log*|pow|__pow*|sin|__sin*|cos|__cos*|sincos*|__sincos*|tan|__tan*|atan*|__atan*|exp2*|log2*|log10*|expf|logf|powf|sinf|cosf|cbrt|__cbrt|hypot*|__hypot*|erf*|__erf*|tgamma*|lgamma*|fmod|__fmod*|cexp*|csin*",
    "Time goes into elementary functions, one value at a time",
    "exp, log, pow and their like take 20 to 100 cycles a call, and calls keep the loop from being vectorized.",
    "Compile with -ffast-math and a vector library (-mveclibabi, libmvec); tabulate; take common factors out of loops; x*x in place of pow(x, 2).">;

// Sorting through a function pointer: Bentley and McIlroy, "Engineering a Sort Function", 1993.
PROPERTY Sorting = TimeIn<"qsort|__qsort*|msort_with_tmp*|qsort_r|bsearch",
    "Time goes into sorting and searching",
    "A comparison through a pointer is a call for each pair.",
    "Sort once, sort keys in place of records, or use a sort with the comparison inlined (std::sort) or by digits.">;

// Half of a sort's comparisons are foreseen wrongly: Sanders and Winkel, "Super Scalar Sample Sort", ESA 2004.
PROPERTY LibrarySorting = TimeIn<"std::__introsort*|std::__insertion_sort*|std::__adjust_heap*|std::__unguarded_linear_insert*|std::__unguarded_partition*|std::__merge_*|std::__final_insertion_sort*",
    "Time goes into sorting",
    "Each comparison is a branch that goes either way, and large elements are moved each time.",
    "Sort once and keep the order; sort numbers or pointers in place of what they stand for; numbers by digits (radix sort); a part only where that is enough (std::nth_element).">;

// Strings: scans from the begin.
PROPERTY Strings = TimeIn<"strlen*|__strlen*|strcmp*|__strcmp*|strncmp*|__strncmp*|strcpy*|__strcpy*|strcat*|__strcat*|strchr*|__strchr*|strstr*|__strstr*|memcmp*|__memcmp*|memchr*|__memchr*|strdup|__strdup",
    "Time goes into comparing and scanning strings",
    "Strings are scanned to their ends each time; strlen in a loop's condition makes a loop quadratic.",
    "Keep lengths, and compare numbers (interned strings, hashes) in place of texts.">;

// Random numbers with a lock: POSIX rand() and random() share a state.
PROPERTY RandomNumbers = TimeIn<"rand|random|__random*|random_r|drand48|__drand48*|lrand48|erand48",
    "Time goes into random numbers",
    "rand() and random() take a lock for each number, which all threads share.",
    "Give each thread a generator of its own, and draw many numbers at once.">;

// Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 2021, compare speeds.
PROPERTY RandomEngines = TimeIn<"std::mersenne_twister*|std::linear_congruential*|std::subtract_with_carry*|std::uniform_*_distribution*|std::normal_distribution*|std::generate_canonical*|__gnu_cxx::simd_fast_mersenne*",
    "Time goes into random numbers",
    "A Mersenne twister keeps 2.5 KB of state and makes it anew every 624 numbers; distributions may draw and divide several times for each value.",
    "Draw fewer; a generator with little state (xoshiro, PCG) where its quality is enough; make distributions once; where only input is made so, make it once and keep it.">;

// Exceptions: unwinding costs microseconds each.
PROPERTY Exceptions = TimeIn<"_Unwind_*|__gxx_personality*|__cxa_throw|__cxa_allocate_exception|uw_*|_dl_iterate_phdr|dl_iterate_phdr|_Unwind_Find_FDE|search_object|linear_search_fdes|__cxa_begin_catch",
    "Time goes into throwing exceptions",
    "Each throw walks the stack by tables, and takes a lock of the dynamic linker.",
    "Return errors that are usual as values; throw for what is not.">;

PROPERTY Unwinding {
    // The library's functions have no names where distributions strip it, and it does little else: the Itanium C++ ABI's
    // level I, "Exception Handling".
    FOR MODULE;
    REFINES NoSource;
    WHERE name IS "libgcc_s.so*|libunwind.so*";
    CONDITION: share(time) > 0.02;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: "{share(time):%} of the time goes into unwinding the stack, in {name}";
    EXPLANATION: "Each throw walks the stack by tables, frame by frame, twice.";
    REMEDY: "Return errors that are usual as values; throw for what is not.";
}

// Time stamps: a call for each, and a system call where the clock is not in the vdso.
PROPERTY Clocks = TimeIn<"clock_gettime|__clock_gettime*|gettimeofday|__gettimeofday|time|__vdso_*|std::chrono::*now*|omp_get_wtime*|MPI_Wtime",
    "Time goes into asking for the time",
    "The program looks at the clock so often that this itself takes time.",
    "Look at the clock once per many iterations.">;

/* ---- MPI ---------------------------------------------------------------------------------------- */

PROPERTY MessagePassing {
    // What is spent inside MPI: Vetter and McCracken, "Statistical Scalability Analysis of Communication Operations" (mpiP), PPoPP 2001.
    FOR MODULE;
    TOGETHER;
    WHERE name IS "libmpi*|libopen-pal*|libopen-rte*|mca_*|libmpich*|libuc[pst].so*|libfabric*|libpsm*";
    CONDITION: share(time) > 0;
    CONFIDENCE: 0.8;
    SEVERITY: 100 * share(time);
    TITLE: "Time goes into MPI";
    EVIDENCE: "{share(time):%} of the time is in {name}";
    EXPLANATION: "Ranks spin there until messages come and until all others are there; the rest is packing and copying.";
    REMEDY: "See which calls wait (record --phases), balance what is before them, send less often and larger, compute between sending and waiting.";
}

// Periscope's MPI properties have a threshold of 5% of the phase; here any that is above the usual one is said.
PROPERTY CollectiveWaiting = TimeIn<"MPI_All*|PMPI_All*|MPI_Barrier|PMPI_Barrier|MPI_Reduce*|PMPI_Reduce*|MPI_Bcast|PMPI_Bcast|MPI_Gather*|MPI_Scatter*|mca_coll_*|ompi_coll_*|MPIR_*all*|MPIR_*arrier*",
    "Time goes into collective communication",
    "Ranks that come early wait in the collective call, spinning.",
    "Balance what is before it; use fewer, larger or nonblocking collectives.">;
// Late senders and receivers: Wolf and Mohr, "Automatic Performance Analysis of Hybrid MPI/OpenMP Applications", 2003.
PROPERTY PointToPoint = TimeIn<"MPI_Send*|MPI_Recv*|MPI_Wait*|MPI_Isend|MPI_Irecv|PMPI_Send*|PMPI_Recv*|PMPI_Wait*|mca_pml_*|mca_btl_*|MPIDI_*|ompi_request_*|opal_progress*",
    "Time goes into messages",
    "Waiting for messages that come late, or sending many small ones.",
    "Post receives early, put small messages together, compute between sending and waiting.">;
