# SPDX-License-Identifier: BSD-3-Clause
# HPCVIEW_COMPILER_TAKES(flag): add the flag to HPCVIEW_CFLAGS if the compiler knows it.
AC_DEFUN([HPCVIEW_COMPILER_TAKES], [
  AC_MSG_CHECKING([whether $CC takes $1])
  hpcview_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes]); HPCVIEW_CFLAGS="$HPCVIEW_CFLAGS $1"], [AC_MSG_RESULT([no])])
  CFLAGS=$hpcview_saved_CFLAGS])

# HPCVIEW_LIB(NAME, header, library, function, description)
# A library without pkg-config file that hpcview needs: NAME_LIBS, or its name in $missing.
AC_DEFUN([HPCVIEW_LIB], [
  AC_CHECK_HEADER([$2],
    [AC_CHECK_LIB([$3], [$4], [$1_LIBS=-l$3], [missing="$missing $5"])],
    [missing="$missing $5"])
  AC_SUBST([$1_LIBS])])

# HPCVIEW_DWARF: libdwarf of 2021 (Debian 12: 20210528) or later (0.1.0 and up, where dwarf_finish takes one argument).
# The header is at the top, or in a folder that changed its name with the interface; not every system has the .pc file.
# DWARF_CFLAGS, DWARF_LIBS, LIBDWARF_SINCE_0_1 in config.h, $dwarf_interface for the summary, or libdwarf in $missing.
AC_DEFUN([HPCVIEW_DWARF], [
  AC_REQUIRE([PKG_PROG_PKG_CONFIG])
  AC_MSG_CHECKING([for libdwarf])
  AC_ARG_VAR([DWARF_CFLAGS], [C compiler flags for libdwarf, overriding what is found])
  AC_ARG_VAR([DWARF_LIBS], [linker flags for libdwarf, overriding what is found])
  : ${DWARF_LIBS=-ldwarf}
  dwarf_interface=
  hpcview_saved_CPPFLAGS=$CPPFLAGS
  hpcview_saved_LIBS=$LIBS
  LIBS="$DWARF_LIBS $ELF_LIBS $LIBS"
  AS_IF([test -n "$DWARF_CFLAGS"], [hpcview_try=$DWARF_CFLAGS],
    [hpcview_try="-I/usr/include/libdwarf-2 -I/usr/include/libdwarf-0 -I/usr/include/libdwarf"
     AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists libdwarf],
       [hpcview_try="`$PKG_CONFIG --cflags libdwarf` $hpcview_try"])])
  # all at once is fine: folders that do not exist are passed over
  CPPFLAGS="$hpcview_saved_CPPFLAGS $hpcview_try"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <libdwarf.h>]], [[Dwarf_Debug d = 0; return dwarf_finish(d);]])],
    [dwarf_interface="0.1 and later"
     AC_DEFINE([LIBDWARF_SINCE_0_1], [1], [Define to 1 where dwarf_finish takes one argument (libdwarf 0.1.0 and later).])],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <libdwarf.h>]], [[Dwarf_Debug d = 0; Dwarf_Error e; return dwarf_finish(d, &e);]])],
      [dwarf_interface="until 2021"])])
  CPPFLAGS=$hpcview_saved_CPPFLAGS
  LIBS=$hpcview_saved_LIBS
  AS_IF([test -n "$dwarf_interface"],
    [DWARF_CFLAGS=$hpcview_try
     AC_MSG_RESULT([yes, interface $dwarf_interface])],
    [missing="$missing libdwarf"
     AC_MSG_RESULT([no])])])

# HPCVIEW_OPTIONAL(NAME, name, header, library, function)
# An optional library: --without-name ignores it even if it is installed. Sets NAME_LIBS, HAVE_NAME in config.h, the conditional HAVE_NAME, and have_name for the summary.
AC_DEFUN([HPCVIEW_OPTIONAL], [
  AC_ARG_WITH([$2], [AS_HELP_STRING([--without-$2], [do not use $2 even where it is installed])], [], [with_$2=check])
  have_$2=no
  AS_IF([test "x$with_$2" != xno],
    [AC_CHECK_HEADER([$3],
      [AC_CHECK_LIB([$4], [$5], [have_$2=yes; $1_LIBS=-l$4])])
     AS_IF([test "x$with_$2" = xyes && test "x$have_$2" = xno], [AC_MSG_ERROR([--with-$2 was given, but $2 was not found])])])
  AS_IF([test "x$have_$2" = xyes], [AC_DEFINE([HAVE_$1], [1], [Define to 1 where $2 is used.])])
  AC_SUBST([$1_LIBS])
  AM_CONDITIONAL([HAVE_$1], [test "x$have_$2" = xyes])])

# HPCVIEW_MPI: --with-mpi[=MPICC], only on request. The flags that the compiler command adds are taken from it, so that one MPI's hpcview
# and the other's are built with the same compiler. MPI_CFLAGS, MPI_LIBS, HAVE_MPI in config.h, $have_mpi.
AC_DEFUN([HPCVIEW_MPI], [
  AC_ARG_WITH([mpi], [AS_HELP_STRING([--with-mpi@<:@=MPICC@:>@],
    [mpirun -n N hpcview build: N processes share the reading; MPICC: its compiler command, mpicc.openmpi say (mpicc)])], [], [with_mpi=no])
  have_mpi=no
  AS_IF([test "x$with_mpi" != xno], [
    AS_IF([test "x$with_mpi" = xyes], [AC_PATH_PROGS([MPICC], [mpicc mpicc.mpich mpicc.openmpi], [no])], [MPICC=$with_mpi])
    AC_MSG_CHECKING([what $MPICC adds])
    for hpcview_word in `$MPICC -show 2>/dev/null`; do
      AS_CASE([$hpcview_word],
        [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $hpcview_word"],
        [-L*|-l*|-Wl,-rpath*|-Wl,--enable-new-dtags], [MPI_LIBS="$MPI_LIBS $hpcview_word"])
    done
    AC_MSG_RESULT([$MPI_CFLAGS $MPI_LIBS])
    hpcview_saved_CPPFLAGS=$CPPFLAGS
    hpcview_saved_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $MPI_CFLAGS"
    LIBS="$MPI_LIBS $LIBS"
    AC_MSG_CHECKING([for MPI])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[int t; return MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &t);]])],
      [have_mpi=yes], [AC_MSG_RESULT([no]); AC_MSG_ERROR([--with-mpi was given, but no program that calls MPI can be linked])])
    AC_MSG_RESULT([yes])
    CPPFLAGS=$hpcview_saved_CPPFLAGS
    LIBS=$hpcview_saved_LIBS
    AC_DEFINE([HAVE_MPI], [1], [Define to 1 where hpcview build works on ranks of MPI.])])
  AC_SUBST([MPI_CFLAGS])
  AC_SUBST([MPI_LIBS])])

# HPCVIEW_RESULT(variable, condition, consequence of its absence): "yes", or "no: ...", for the summary.
AC_DEFUN([HPCVIEW_RESULT], [AS_IF([$2], [$1=yes], [$1="no: $3"])])

AC_DEFUN([HPCVIEW_SUMMARY], [
  HPCVIEW_RESULT([papi_result], [test "x$have_papi" = xyes], [events are those of the kernel: times and software counters, no hardware counters by PAPI])
  HPCVIEW_RESULT([capstone_result], [test "x$have_capstone" = xyes], [instructions of AArch64 are shown by their bits and kind, and the tests of their decoding have nothing to compare with])
  HPCVIEW_RESULT([zstd_result], [test "x$have_zstd" = xyes], [zstd-compressed debug sections are not read])
  HPCVIEW_RESULT([iberty_result], [test "x$have_iberty" = xyes], [C++ and Rust names are shown mangled])
  HPCVIEW_RESULT([fc_result], [test "x$FC" != xno], [the Fortran example is not built or tested])
  HPCVIEW_RESULT([cxx_result], [test "x$CXX" != xno], [the C++ example is not built or tested])
  HPCVIEW_RESULT([openmp_result], [test "x$ac_cv_prog_c_openmp" != xunsupported], [the OpenMP example is not built or tested])
  HPCVIEW_RESULT([mpi_result], [test "x$have_mpi" = xyes], [one process builds a database, on all processors of its machine (--with-mpi)])
  AS_IF([test "x$NPM" != xno], [npm_result=yes],
    [test -f "$srcdir/templates/dist/hpcview.js"], [npm_result="no: the page is the ready-made one of the tarball"],
    [npm_result="no: the page cannot be bundled from a git checkout"])
  AC_MSG_NOTICE([

  hpcview $PACKAGE_VERSION, to be installed under $prefix

    libxml2    yes
    libelf     yes
    libdwarf   yes, interface $dwarf_interface
    Zydis      yes
    zlib       yes
    PAPI       $papi_result
    capstone   $capstone_result
    libzstd    $zstd_result
    libiberty  $iberty_result
    MPI        $mpi_result
    npm        $npm_result
    Fortran    $fc_result
    C++        $cxx_result
    OpenMP     $openmp_result
    ])])
