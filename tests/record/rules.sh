#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rules of hpcprof/recorder/recorder.h for code in the measured program: it must not use the program's heap or locks, nor print.
. "$top_srcdir/tests/lib.sh"

command -v nm >/dev/null || skip_all "no nm"
cat >"$scratch/forbidden" <<'END'
malloc calloc realloc reallocarray free strdup strndup asprintf posix_memalign aligned_alloc fopen fdopen opendir scandir getline
printf vprintf fprintf vfprintf puts putchar putc fputs fputc fwrite perror stdout stderr syslog __printf_chk __fprintf_chk __vfprintf_chk
pthread_mutex_lock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_cond_wait sem_wait
END
# Forbidden functions that the library imports, on one line.
takes() {
    nm -D --undefined-only "$1" | sed 's/.* //; s/@.*//' >"$scratch/taken"
    tr ' ' '\n' <"$scratch/forbidden" | grep -xFf "$scratch/taken" | sort | paste -sd ' ' -
}

for name in record record-phases simulate simulate-heap; do # (the plugin is in QEMU)
    library=$top_builddir/libhpcview-$name.so
    allowed=
    case $name in record*) allowed=opendir ;; esac # where PAPI is loaded, which uses the heap itself
    [ ! -f "$library" ] || check_equal "libhpcview-$name.so keeps to the rules" "$(takes "$library")" "$allowed"
done

printf '#include <stdio.h>\n#include <stdlib.h>\nvoid *f(void);\nvoid *f(void)\n{\n    puts("x");\n    return malloc(3);\n}\n' >"$scratch/bad.c"
if $CC -shared -fPIC -o "$scratch/bad.so" "$scratch/bad.c" 2>/dev/null; then
    check_equal "what it must see" "$(takes "$scratch/bad.so")" "malloc puts"
fi
done_testing
