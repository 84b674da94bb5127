/* What to do about what a check has found, in the words of the language and the compiler at hand. */
#include "quality/quality_int.h"

enum { LANG_C = 1, LANG_CXX, LANG_FORTRAN };

/* DW_LANG_*; what is not listed is taken for C. */
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
    {CHECK_UNOPTIMIZED, 0, NULL, NULL, "compile with -O2, and measure again: what is slow then is another matter"},
    {CHECK_SCALAR, 0, "-O3", NULL, "compile with -O3, which vectorizes (-O2 -ftree-vectorize)"},
    {CHECK_SCALAR, LANG_FORTRAN, NULL, NULL,
     "put !$omp simd in front of the loop (-fopenmp-simd), and ask the compiler why it did not vectorize it "
     "(-fopt-info-vec-missed; clang, flang: -Rpass-missed=loop-vectorize)"},
    {CHECK_SCALAR, 0, NULL, NULL,
     "declare pointers restrict where arrays do not overlap, put #pragma omp simd in front of the loop "
     "(-fopenmp-simd), and ask the compiler why it did not vectorize it (-fopt-info-vec-missed; clang: "
     "-Rpass-missed=loop-vectorize)"},
    {CHECK_REDUCTION, LANG_FORTRAN, NULL, NULL,
     "allow the sum to be reordered: -ffast-math or -fassociative-math -fno-signed-zeros -fno-trapping-math for this "
     "file, or !$omp simd reduction(+:s)"},
    {CHECK_REDUCTION, 0, NULL, NULL,
     "allow the sum to be reordered: -ffast-math or -fassociative-math -fno-signed-zeros -fno-trapping-math for this "
     "file, or #pragma omp simd reduction(+:s); or sum into several variables"},
    {CHECK_PARTLY, 0, NULL, NULL,
     "split the loop, so that what cannot be vectorized stands in one of its own; ask the compiler what it is "
     "(-fopt-info-vec-missed; clang: -Rpass-missed=loop-vectorize)"},
    {CHECK_NARROW, 0, NULL, " -mavx512f",
     "-mprefer-vector-width=512: compilers take 256 bits where nothing is said, because wider ones lower the "
     "frequency; "
     "measure both"},
    {CHECK_NARROW, 0, NULL, NULL,
     "compile for this processor (-march=native, or -mcpu=native on AArch64); where that has been done, "
     "-mprefer-vector-width=512"},
    {CHECK_GATHER, 0, NULL, NULL,
     "lay the data out so that one iteration's numbers lie beside each other; sort or block the indices"},
    {CHECK_SCATTER, 0, NULL, NULL,
     "lay the data out so that one iteration's numbers lie beside each other; write into a buffer and distribute it "
     "later"},
    {CHECK_STRIDE, LANG_FORTRAN, NULL, NULL,
     "make the first subscript the one that the innermost loop counts: interchange the loops, or the array's "
     "dimensions"},
    {CHECK_STRIDE, 0, NULL, NULL,
     "make the last subscript the one that the innermost loop counts: interchange the loops; an array for each member "
     "in place of an array of structs"},
    {CHECK_INDIRECT, 0, NULL, NULL,
     "order the indices so that neighbours in memory are used together; what is gathered again and again can be copied "
     "once"},
    {CHECK_CONVERT, 0, NULL, NULL,
     "keep the number in one type: a floating-point counter, or the table converted once before the loop"},
    {CHECK_WIDTH, LANG_FORTRAN, NULL, NULL,
     "write constants in the variables' kind (1.0_sp), and keep the arrays of a loop in one kind"},
    {CHECK_WIDTH, 0, NULL, NULL,
     "write constants in the variables' type (1.0f), call sqrtf and its like, and keep the arrays of a loop in one "
     "type"},
    {CHECK_DIVIDE, 0, NULL, NULL,
     "multiply by the reciprocal, taken once before the loop where the divisor does not change (-freciprocal-math "
     "allows the compiler to)"},
    {CHECK_ROOT, 0, NULL, NULL, "compare squares in place of roots; where less precision does, -mrecip or an estimate"},
    {CHECK_INT_DIVIDE, 0, NULL, NULL,
     "count along in place of dividing; a power of two that the compiler knows, unsigned, or a divisor known when "
     "compiling"},
    {CHECK_ADDRESS_MULTIPLY, 0, NULL, NULL,
     "let the loop count by the step itself, or walk with a pointer: an index of the pointer's size (size_t) can be "
     "replaced by additions"},
    {CHECK_FMA, 0, NULL, " -mfma", "write product and sum in one expression, with -ffp-contract=fast, or call fma"},
    {CHECK_FMA, 0, NULL, NULL, "compile for a processor that has it (-mfma, -march=native), with -ffp-contract=fast"},
    {CHECK_CHAIN, 0, NULL, NULL,
     "work on several independent rows, or iterations of an outer loop, at a time: interchange the loops, or unroll "
     "the outer one and join its bodies"},
    {CHECK_LIST, 0, NULL, NULL,
     "keep what is walked in an array, or elements that follow each other side by side (a pool); several elements in a "
     "node; prefetch ahead where the order is known; or walk several lists at a time"},
    {CHECK_STORE_CHAIN, 0, NULL, NULL,
     "keep the value in a variable from one iteration to the next; where the arrays do not overlap, say so (restrict)"},
    {CHECK_SPILL, 0, NULL, NULL,
     "split the loop so that fewer values live at a time, or unroll it less (-fno-unroll-loops)"},
    {CHECK_INVARIANT, LANG_FORTRAN, NULL, NULL,
     "copy it into a local variable before the loop; arguments without target or pointer are taken not to overlap"},
    {CHECK_INVARIANT, 0, NULL, NULL, "copy it into a local variable before the loop, or declare the pointers restrict"},
    {CHECK_CALL, LANG_CXX, NULL, NULL,
     "let it be inlined: define it in a header, -flto, final for virtual functions; for libm, -ffast-math has versions "
     "for vectors"},
    {CHECK_CALL, 0, NULL, NULL,
     "let it be inlined: -O3 -flto, or its definition where it is called; for libm, -ffast-math has versions for "
     "vectors (-fveclib=libmvec with clang)"},
    {CHECK_ADDRESSES, 0, NULL, NULL,
     "unroll the loop (-funroll-loops), walk several arrays with one index, use indices of the pointer's size"},
    {CHECK_TINY, 0, NULL, NULL,
     "unroll it: -funroll-loops, or #pragma GCC unroll 4 (clang: #pragma clang loop unroll_count(4)) in front of the "
     "loop"},
    {CHECK_REMAINDER, 0, NULL, NULL,
     "make the trip count a multiple of the vectors' length, pad the arrays, or vectorize the loop outside of it"},
    {CHECK_BRANCHES, 0, NULL, NULL,
     "compute both sides and choose, take what does not change out of the loop (-funswitch-loops), or sort the cases "
     "into loops of their own"},
    {CHECK_BOUNDS, LANG_FORTRAN, NULL, NULL, "compile without -fcheck=bounds once it is tested"},
    {CHECK_BOUNDS, 0, NULL, NULL,
     "check once before the loop, with an assertion on its end; use iterators, or unchecked access once it is tested"},
    {CHECK_VERSIONS, LANG_FORTRAN, NULL, NULL,
     "say that arrays are contiguous (contiguous, explicit shapes), so that one version does"},
    {CHECK_VERSIONS, 0, NULL, NULL, "declare the pointers restrict, or #pragma GCC ivdep, so that one version does"},
    {CHECK_SPLITS, 0, NULL, NULL,
     "align the arrays to the vectors' length, and pad rows to a multiple of it; where neighbours are needed, shift in "
     "registers"},
    {CHECK_PAGES, 0, NULL, NULL, "pad the arrays, so that their distance is no multiple of 4096 bytes"},
    {CHECK_MIXED, 0, NULL, NULL,
     "compile everything with the same -march, and assembly too, or call _mm256_zeroupper() in between"},
    {CHECK_X87, 0, NULL, NULL, "use double in place of long double where its precision does"},
    {CHECK_LOCKED, 0, NULL, NULL, "collect in a variable of the thread's own and unite at the end"},
    {CHECK_SMALL, 0, NULL, NULL, "load several at a time and take them apart, or let vectors do it (-O3)"},
    {CHECK_PREFETCH, 0, NULL, NULL,
     "__builtin_prefetch of what will be needed some iterations later, if the samples are in this loop's loads"},
};

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
