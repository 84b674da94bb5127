/* SPDX-License-Identifier: BSD-3-Clause */
/* Remedies for the findings of checks, in terms of the language and the compiler. */
#include "quality/quality_int.h"

enum { LANG_C = 1, LANG_CXX, LANG_FORTRAN };

/* DW_LANG_*; any other is treated as C. */
static int language_of(uint16_t dwarf)
{
    switch (dwarf) {
    case 0x04:
    case 0x1a:
    case 0x21:
    case 0x2b:
        return LANG_CXX;
    case 0x07:
    case 0x08:
    case 0x0e:
    case 0x22:
    case 0x23:
    case 0x2d:
        return LANG_FORTRAN;
    default:
        return LANG_C;
    }
}

struct remedy {
    uint8_t check, language; /* 0: any */
    const char *without;     /* only where the compiler's options are known, and this is not among them */
    const char *with;        /* only where this is among them */
    const char *text;
};

/* The first row that fits. */
static const struct remedy remedies[] = {
    {CHECK_UNOPTIMIZED, 0, NULL, NULL, "compile with -O2, then measure again"},
    {CHECK_SCALAR, 0, "-O3", NULL, "compile with -O3, which vectorizes (-O2 -ftree-vectorize)"},
    {CHECK_SCALAR, LANG_FORTRAN, NULL, NULL,
     "put !$omp simd before the loop (-fopenmp-simd), and let the compiler report why it was not vectorized "
     "(-fopt-info-vec-missed; clang, flang: -Rpass-missed=loop-vectorize)"},
    {CHECK_SCALAR, 0, NULL, NULL,
     "declare pointers restrict if arrays do not overlap, put #pragma omp simd before the loop (-fopenmp-simd), and "
     "let the compiler report why it was not vectorized (-fopt-info-vec-missed; clang: -Rpass-missed=loop-vectorize)"},
    {CHECK_REDUCTION, LANG_FORTRAN, NULL, NULL,
     "allow the sum to be reordered: -ffast-math or -fassociative-math -fno-signed-zeros -fno-trapping-math for this "
     "file, or !$omp simd reduction(+:s)"},
    {CHECK_REDUCTION, 0, NULL, NULL,
     "allow the sum to be reordered: -ffast-math or -fassociative-math -fno-signed-zeros -fno-trapping-math for this "
     "file, or #pragma omp simd reduction(+:s); or sum into several variables"},
    {CHECK_SUMS, 0, NULL, NULL,
     "sum into several variables, which are added up after the loop; compiler options do not help"},
    {CHECK_PARTLY, 0, NULL, NULL,
     "split off the statements that cannot be vectorized into a loop of their own; let the compiler report which these "
     "are (-fopt-info-vec-missed; clang: -Rpass-missed=loop-vectorize)"},
    {CHECK_NARROW, 0, NULL, " -mavx512f",
     "try -mprefer-vector-width=512: compilers use 256 bits by default because wider vectors lower the frequency; "
     "measure both"},
    {CHECK_NARROW, 0, NULL, NULL,
     "compile for this processor (-march=native, or -mcpu=native on AArch64); if you already do, try "
     "-mprefer-vector-width=512"},
    {CHECK_GATHER, 0, NULL, NULL,
     "change the data layout so that the data of one iteration are contiguous; sort or block the indices"},
    {CHECK_SCATTER, 0, NULL, NULL,
     "change the data layout so that the data of one iteration are contiguous; write to a buffer and distribute it "
     "later"},
    {CHECK_STRIDE, LANG_FORTRAN, NULL, NULL,
     "let the innermost loop run over the first subscript: interchange the loops, or the array's dimensions"},
    {CHECK_STRIDE, 0, NULL, NULL,
     "let the innermost loop run over the last subscript: interchange the loops, or use a struct of arrays instead of "
     "an array of structs"},
    {CHECK_INDIRECT, 0, NULL, NULL,
     "sort the indices so that neighbours in memory are used together; copy data once that are gathered repeatedly"},
    {CHECK_CONVERT, 0, NULL, NULL, "use one type: a floating-point counter, or convert the table once before the loop"},
    {CHECK_WIDTH, LANG_FORTRAN, NULL, NULL,
     "write constants in the kind of the variables (1.0_sp), and use one kind for all arrays of a loop"},
    {CHECK_WIDTH, 0, NULL, NULL,
     "write constants in the type of the variables (1.0f), call sqrtf and similar functions, and use one type for all "
     "arrays of a loop"},
    {CHECK_DIVIDE, 0, NULL, NULL,
     "multiply by the reciprocal of a loop-invariant divisor (-freciprocal-math lets the compiler do it); otherwise "
     "divide once for several quotients with a common denominator, or vectorize the loop"},
    {CHECK_ROOT, 0, NULL, NULL,
     "compare squares instead of roots; if lower precision suffices, use -mrecip or an estimate"},
    {CHECK_INT_DIVIDE, 0, NULL, NULL,
     "replace the division by a running counter; otherwise use a constant divisor, or an unsigned division by a power "
     "of two"},
    {CHECK_ADDRESS_MULTIPLY, 0, NULL, NULL,
     "increment the loop counter by the step itself, or use a pointer: the compiler can replace multiplications of an "
     "index of pointer size (size_t) by additions"},
    {CHECK_FMA, 0, NULL, " -mfma",
     "write product and sum in one expression and compile with -ffp-contract=fast, or call fma"},
    {CHECK_FMA, 0, NULL, NULL, "compile for a processor that has it (-mfma, -march=native), with -ffp-contract=fast"},
    {CHECK_CHAIN, 0, NULL, NULL,
     "process several independent rows or outer iterations at a time: interchange the loops, or unroll and jam the "
     "outer loop"},
    {CHECK_LIST, 0, NULL, NULL,
     "store the elements in an array, or consecutive elements next to each other (a pool), or several elements in each "
     "node; prefetch if the order is known, or traverse several lists at a time"},
    {CHECK_STORE_CHAIN, 0, NULL, NULL,
     "keep the value in a variable between iterations; declare arrays that do not overlap (restrict)"},
    {CHECK_ACCUMULATOR, 0, NULL, NULL,
     "accumulate in a local variable and store it after the loop; in threads, keep what different threads write at "
     "least a cache line (64 bytes) apart"},
    {CHECK_COPY, LANG_FORTRAN, NULL, NULL,
     "if the line calls a procedure, its argument is not contiguous and is copied for each call: pass whole columns, "
     "or "
     "declare the dummy argument with assumed shape (:); otherwise let pointers change places"},
    {CHECK_COPY, 0, NULL, NULL, "use the data where they are: pass a pointer or a reference, or swap pointers"},
    {CHECK_SPILL, 0, NULL, NULL, "split the loop to have fewer live values, or unroll it less (-fno-unroll-loops)"},
    {CHECK_INVARIANT, LANG_FORTRAN, NULL, NULL,
     "copy it to a local variable before the loop; arguments without target or pointer are assumed not to overlap"},
    {CHECK_INVARIANT, 0, NULL, NULL, "copy it to a local variable before the loop, or declare the pointers restrict"},
    {CHECK_CALL, LANG_CXX, NULL, NULL,
     "make it inlinable: define it in a header, compile with -flto, declare virtual functions final; for libm, "
     "-ffast-math enables vector versions"},
    {CHECK_CALL, 0, NULL, NULL,
     "make it inlinable: compile with -O3 -flto, or define it where it is called; for libm, -ffast-math enables vector "
     "versions (-fveclib=libmvec with clang)"},
    {CHECK_ADDRESSES, 0, NULL, NULL,
     "unroll the loop (-funroll-loops), use one index for several arrays, and use indices of pointer size"},
    {CHECK_TINY, 0, NULL, NULL,
     "unroll it: -funroll-loops, or #pragma GCC unroll 4 (clang: #pragma clang loop unroll_count(4)) before the loop"},
    {CHECK_REMAINDER, 0, NULL, NULL,
     "make the trip count a multiple of the vector length, pad the arrays, or vectorize the surrounding loop"},
    {CHECK_BRANCHES, 0, NULL, NULL,
     "compute both sides and select, move invariant conditions out of the loop (-funswitch-loops), or process the "
     "cases in separate loops"},
    {CHECK_BOUNDS, LANG_FORTRAN, NULL, NULL, "compile tested code without -fcheck=bounds"},
    {CHECK_BOUNDS, 0, NULL, NULL,
     "check once before the loop with an assertion on its end; use iterators, or unchecked access in tested code"},
    {CHECK_VERSIONS, LANG_FORTRAN, NULL, NULL,
     "declare arrays contiguous (contiguous, explicit shapes), so that one version suffices"},
    {CHECK_VERSIONS, 0, NULL, NULL,
     "declare the pointers restrict, or use #pragma GCC ivdep, so that one version suffices"},
    {CHECK_SPLITS, 0, NULL, NULL,
     "align the arrays to the vector length, and pad rows to a multiple of it; for neighbouring elements, shift in "
     "registers"},
    {CHECK_PAGES, 0, NULL, NULL, "pad the arrays so that their distance is not a multiple of 4096 bytes"},
    {CHECK_MIXED, 0, NULL, NULL,
     "compile everything, including assembly, with the same -march, or call _mm256_zeroupper() in between"},
    {CHECK_X87, 0, NULL, NULL, "use double instead of long double if its precision suffices"},
    {CHECK_LOCKED, 0, NULL, NULL, "accumulate in a thread-local variable and combine at the end"},
    {CHECK_SMALL, 0, NULL, NULL, "load several at a time and extract them, or use vectors (-O3)"},
    {CHECK_PREFETCH, 0, NULL, NULL,
     "prefetch the data of some iterations ahead (__builtin_prefetch), if the samples are at this loop's loads"},
    {CHECK_BUSY_WAIT, 0, NULL, NULL,
     "give the waiting thread work to do meanwhile, or let it sleep (condition variable, std::atomic::wait, futex)"},
};

bool quality_is_fortran(const struct quality_built *built)
{
    return language_of(built->language) == LANG_FORTRAN;
}

const char *quality_remedy(enum quality_check_kind kind, const struct quality_built *built)
{
    int language = language_of(built->language);
    bool knows_flags = strstr(built->producer, " -") != NULL;
    for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
        const struct remedy *r = &remedies[i];
        if (r->check != kind || (r->language && r->language != language))
            continue;
        if (r->without && (!knows_flags || strstr(built->producer, r->without)))
            continue;
        if (r->with && !strstr(built->producer, r->with))
            continue;
        return r->text;
    }
    return "";
}

static const char *const words[] = {
#define WORD(name, word, rule) word,
    QUALITY_CHECK_LIST(WORD)
#undef WORD
};

const char *quality_check_word(enum quality_check_kind kind)
{
    return words[kind];
}
