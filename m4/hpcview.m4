# HPCVIEW_LIB(NAME, header, library, function, what to call it)
# A library without pkg-config file that hpcview needs: NAME_LIBS, or its name in $missing.
AC_DEFUN([HPCVIEW_LIB], [
  AC_CHECK_HEADER([$2],
    [AC_CHECK_LIB([$3], [$4], [$1_LIBS=-l$3], [missing="$missing $5"])],
    [missing="$missing $5"])
  AC_SUBST([$1_LIBS])])

# HPCVIEW_OPTIONAL(NAME, name, header, library, function)
# A library that may be missing: --without-name means without even where it is installed.
# Sets NAME_LIBS, HAVE_NAME in config.h, the conditional HAVE_NAME, and have_name for the summary.
AC_DEFUN([HPCVIEW_OPTIONAL], [
  AC_ARG_WITH([$2], [AS_HELP_STRING([--without-$2], [do not use $2 even where it is installed])], [], [with_$2=check])
  have_$2=no
  AS_IF([test "x$with_$2" != xno],
    [AC_CHECK_HEADER([$3],
      [AC_CHECK_LIB([$4], [$5], [have_$2=yes; $1_LIBS=-l$4], [], [$6])])
     AS_IF([test "x$with_$2" = xyes && test "x$have_$2" = xno], [AC_MSG_ERROR([--with-$2 was given, but $2 was not found])])])
  AS_IF([test "x$have_$2" = xyes], [AC_DEFINE([HAVE_$1], [1], [Define to 1 where $2 is used.])])
  AC_SUBST([$1_LIBS])
  AM_CONDITIONAL([HAVE_$1], [test "x$have_$2" = xyes])])

AC_DEFUN([HPCVIEW_SUMMARY], [
  AS_IF([test "x$have_papi" = xyes], [papi_says="yes"], [papi_says="no: nothing can be recorded here (record, run, events); databases can be built"])
  AS_IF([test "x$have_capstone" = xyes], [capstone_says="yes"], [capstone_says="no: AArch64 binaries are shown without loops"])
  AS_IF([test "x$have_zstd" = xyes], [zstd_says="yes"], [zstd_says="no: zstd-compressed debug sections are not read"])
  AS_IF([test "x$have_iberty" = xyes], [iberty_says="yes"], [iberty_says="no: C++ and Rust names are shown mangled"])
  AS_IF([test "x$NPM" != xno], [npm_says="$NPM"],
    [AS_IF([test -f "$srcdir/templates/dist/hpcview.js"], [npm_says="no: the page is the ready-made one of the tarball"],
      [npm_says="no: the page cannot be bundled from a git checkout"])])
  AS_IF([test "x$FC" != xno], [fc_says="$FC"], [fc_says="no: the Fortran example is not built or tested"])
  AC_MSG_NOTICE([

  hpcview $PACKAGE_VERSION
    installs under         $prefix
    libxml2, libelf, zlib  yes
    libdwarf               yes ($hpcview_dwarf_api)
    Zydis                  yes
    PAPI                   $papi_says
    capstone               $capstone_says
    libzstd                $zstd_says
    libiberty              $iberty_says
    npm                    $npm_says
    Fortran                $fc_says
    ])])
