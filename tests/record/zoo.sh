#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of all kinds, as they are installed: recorded, each writes and ends as it does alone, and has a sound measurement. Those that are not
# here are skipped. Each has a limit on its time: nothing hangs because it is watched. ZOO=all: 100,000 threads, too.
. "$top_srcdir/tests/lib.sh"
need_recording
cd "$scratch" || exit 99
: "${CC:=cc}"
programs=$top_srcdir/tests/record/programs

animal() { # NAME COMMAND...
    animal_name=$1
    shift
    command -v "$1" >/dev/null 2>&1 || {
        skip "$animal_name" "no $1 here"
        return
    }
    alone=0
    timeout 60 "$@" >alone.out 2>alone.err </dev/null || alone=$?
    [ "$alone" -lt 124 ] || {
        skip "$animal_name" "does not work here (status $alone)"
        return
    }
    rm -rf m
    run timeout 120 "$hpcview" record -o m -- "$@"
    check_equal "$animal_name: exit status" "$status" "$alone"
    check_same "$animal_name: output" out alone.out
    grep -v '^hpcview: ' err >own.err
    check_same "$animal_name: errors" own.err alone.err
    run "$hpcview" info m
    check "$animal_name: a sound measurement" test "$status" = 0
}
# made NAME WHAT COMMAND...: builds something first; skipped if it cannot be built here
made() {
    made_name=$1 made_by=$2
    shift 2
    if "$@" >made.log 2>&1; then return 0; fi
    skip "$made_name" "no $made_by here, or it cannot"
    return 1
}

# ---- languages with a virtual machine ------------------------------------------------------------------------
animal "node" node -e 'let x = 0; for (let i = 0; i < 1e7; i++) x += i; console.log(x); process.exit(3)'
animal "node, with workers" node -e 'const { Worker } = require("worker_threads"); let n = 0; for (let i = 0; i < 3; i++) new Worker("let x = 0; for (let i = 0; i < 3e6; i++) x += i", { eval: true }).on("exit", () => { if (++n == 3) console.log("done") })'
animal "Python" python3 -c 'import sys, threading; t = [threading.Thread(target=lambda: sum(range(100000))) for i in range(4)]; [x.start() for x in t]; [x.join() for x in t]; print("done"); sys.exit(4)'
animal "Perl, with a child" perl -e 'my $p = fork; my $x = 0; $x += $_ for 1 .. 300000; exit 0 unless $p; wait; print "$x\n"; exit 6'
animal "a shell's subshells and pipes" sh -c 'for i in 1 2 3; do (exit $i); done; echo $((1 + 1)) | cat; exit 5'
animal "awk" awk 'BEGIN { for (i = 0; i < 300000; i++) x += i; print x; exit 2 }'
animal "Java" java -version
cat >Zoo.java <<'END'
public class Zoo {
    static void work() { long x = 0; for (int i = 0; i < 10000000; i++) x += i ^ (x << 1); if (x == 42) System.out.println(x); }
    public static void main(String[] args) throws Exception {
        Thread[] t = new Thread[4];
        for (int i = 0; i < 4; i++) { t[i] = new Thread(Zoo::work); t[i].start(); }
        for (Thread x : t) x.join();
        try { int[] none = args.length == 0 ? null : new int[1]; none[0] = 1; } catch (NullPointerException e) { System.out.println("caught"); }
        System.exit(5);
    }
}
END
name="Java, with threads and a fault that it handles"
! made "$name" javac javac Zoo.java || animal "$name" java -cp . Zoo
printf 'package main\nimport ("fmt"; "os"; "sync")\nfunc main() { var w sync.WaitGroup; for i := 0; i < 8; i++ { w.Add(1); go func() { x := 0; for k := 0; k < 3000000; k++ { x += k }; w.Done() }() }; w.Wait(); fmt.Println("done"); os.Exit(5) }\n' >zoo.go
! made "Go" go env CGO_ENABLED=1 go build -ldflags=-linkmode=external -o zoo-go zoo.go || animal "Go" ./zoo-go
if made "Go, static" go env CGO_ENABLED=0 go build -o zoo-go-static zoo.go; then
    animal "a shell that starts a static Go program" sh -c './zoo-go-static; exit $?'
    run timeout 60 "$hpcview" record -o static -- ./zoo-go-static
    check "Go, static: it is said that it cannot be recorded" test "$status" != 0
    check_match "Go, static: and why" "$err" "static"
fi
printf 'fn main() { let t: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..3000000u64).sum::<u64>())).collect(); for x in t { println!("{}", x.join().unwrap()); } std::process::exit(5) }\n' >zoo.rs
! made "Rust" rustc rustc -O -o zoo-rust zoo.rs || animal "Rust" ./zoo-rust
if made "Python with numpy" numpy python3 -c 'import numpy'; then
    animal "Python with numpy" python3 -c 'import numpy; a = numpy.ones((300, 300)); print(sum((a @ a)[0]))'
fi
animal "Julia" julia -e 'println(sum(i ^ 2 for i in 1:1000000)); exit(5)'
printf 'program z\n  integer :: n[*]\n  n = this_image()\n  sync all\n  if (this_image() == 1) print *, n[num_images()]\n  sync all\nend program\n' >zoo.f90
name="Fortran's coarrays, one image"
! made "$name" gfortran gfortran -fcoarray=single -o zoo-caf1 zoo.f90 || animal "$name" ./zoo-caf1
name="Fortran's coarrays, two images"
! made "$name" caf caf -o zoo-caf zoo.f90 ||
    animal "$name" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c 'cafrun -n 2 --oversubscribe ./zoo-caf 2>/dev/null'

# ---- observed by other tools; programs that bypass the C library --------------------------------------------------------
for name in uring traces clones; do $CC -O1 -g -w -o "$name" "$programs/$name.c" || exit 99; done
animal "writes through io_uring" ./uring
animal "a parent that traces its child" ./traces
animal "children by clone3, and a checkpoint that takes its original's place" ./clones
animal "under strace" strace -f -o /dev/null ./clones
# (gdb prints the process id)
animal "under gdb" sh -c '"$@" | sed "s/process [0-9]*//"' sh gdb -q -batch -nx -ex 'set debuginfod enabled off' -ex 'set print inferior-events off' -ex 'set print thread-events off' -ex 'run >gdb.out' -ex 'print $_exitcode' ./clones
loader=$(readelf -l ./clones 2>/dev/null | sed -n 's/.*interpreter: \(.*\)]/\1/p')
animal "started by the dynamic loader as a command" "${loader:-no-loader}" ./clones
check_match "started by the loader: its program has the samples" "$("$hpcview" print --by procedure m 2>/dev/null)" "burn"
animal "addresses as they always were, as loaders of foreign programs want them" setarch "$(uname -m)" -R -L ./clones

# ---- surroundings ------------------------------------------------------------------------------------------------
animal "an environment of 64 kB" env BIG="$(head -c 64000 /dev/zero | tr '\0' x)" sh -c 'exit 9'
animal "an environment of nothing" env -i /bin/sh -c 'echo hi; exit 8'
animal "a session of its own" setsid -w sh -c 'exit 7'
if [ "$(id -u)" = 0 ] && chmod 755 "$scratch" && cp "$(command -v id)" as-nobody && chown nobody as-nobody && chmod 4755 as-nobody; then
    animal "a child with another user's rights" sh -c './as-nobody -u; ./as-nobody -u; exit 3'
fi
animal "a stack without a limit" sh -c 'ulimit -s unlimited; ./clones; exit 4'
animal "a small stack" sh -c 'ulimit -s 256; sleep 0; exit 4'
animal "few descriptors" sh -c 'ulimit -n 16; sleep 0; exit 4'
# LD_PRELOAD of others: allocators, a sanitizer, MPI's library
for library in jemalloc tcmalloc mimalloc asan mpich mpi; do
    found=$(ls /usr/lib/*/lib$library*.so* 2>/dev/null | head -n 1)
    [ $library != asan ] || found=$($CC -print-file-name=libasan.so 2>/dev/null)
    case $found in
    /*) animal "preloaded $library" env ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$found" awk 'BEGIN { for (i = 0; i < 100000; i++) a[i] = i; print length(a) }' ;;
    *) skip "preloaded $library" "it is not installed" ;;
    esac
done

printf '#include <stdlib.h>\nint main(void) { char *volatile p = malloc(8); p[7] = 1; free(p); return 3; }\n' >asan.c
! made "a child built with AddressSanitizer" "$CC" $CC -fsanitize=address -o asan asan.c || animal "a child built with AddressSanitizer" sh -c './asan; exit $?'

# ---- threads, by number and by size ---------------------------------------------------------------------------------
cat >zoo.c <<'END'
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void *wait_for_all(void *p) { pthread_barrier_wait(&barrier); return p; }
static void *nothing(void *p) { return p; }
static void on_fault(int sig) { (void)sig; (void)!write(1, "caught\n", 7); _exit(11); }
static int deeper(volatile int n) { volatile char fill[4096]; fill[0] = 1; return n > 1 << 30 ? 0 : deeper(n + 1) + fill[0]; }
int main(int argc, char **argv)
{
    pthread_attr_t attr;
    pthread_t t[1000];
    int n = argc > 2 ? atoi(argv[2]) : 0, made = 0;
    pthread_attr_init(&attr);
    if (argc > 1 && strcmp(argv[1], "at-once") == 0) {
        pthread_attr_setstacksize(&attr, 65536);
        pthread_barrier_init(&barrier, NULL, n + 1);
        while (made < n && pthread_create(&t[made], &attr, wait_for_all, NULL) == 0)
            made++;
        if (made < n) { printf("%d\n", made); _exit(1); }
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < n; i++)
            pthread_join(t[i], NULL);
    } else if (argc > 1 && strcmp(argv[1], "in-a-row") == 0) {
        pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
        for (; made < n; made++)
            if (pthread_create(t, &attr, nothing, NULL) != 0 || pthread_join(t[0], NULL) != 0)
                return 2;
    } else {
        stack_t s = {.ss_sp = malloc(65536), .ss_size = 65536};
        struct sigaction act = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
        sigaltstack(&s, NULL);
        sigaction(SIGSEGV, &act, NULL);
        return deeper(0);
    }
    printf("%d\n", made);
    return 3;
}
END
$CC -O1 -w -pthread -o zoo zoo.c || exit 99
animal "500 threads at once" ./zoo at-once 500
if [ "${ZOO-}" = all ]; then
    animal "1,000 threads at once" ./zoo at-once 1000
    animal "100,000 threads in a row" ./zoo in-a-row 100000
fi
animal "5,000 threads in a row, with the smallest stacks" ./zoo in-a-row 5000
animal "a handler of its own for SIGSEGV, on a stack of its own" ./zoo fault
done_testing
