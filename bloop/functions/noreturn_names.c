/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions that never return, of several languages. */
#include "bloop/functions/functions.h"

#include <stdlib.h>

/* sorted; without PLT suffix and version */
static const char *const exact_names[] = {
    "Perl_croak",
    "Perl_croak_memory_wrap",
    "Perl_croak_no_modify",
    "Perl_croak_nocontext",
    "Perl_croak_sv",
    "Perl_croak_xs_usage",
    "Py_Exit",
    "Py_FatalError",
    "_Exit",
    "_Py_FatalErrorFunc",
    "_Unwind_Resume",
    "_Z9qBadAllocv",
    "_ZNK14QMessageLogger5fatalEPKcz",
    "_ZSt10unexpectedv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt9terminatev",
    "__assert",
    "__assert_fail",
    "__assert_func",
    "__assert_perror_fail",
    "__assert_rtn",
    "__chk_fail",
    "__clang_call_terminate",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_terminate",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_length",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__libc_fatal",
    "__libc_start_main",
    "__longjmp_chk",
    "__msan_warning_noreturn",
    "__rg_oom",
    "__rust_alloc_error_handler",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "_exit",
    "_gfortran_abort",
    "_gfortran_error_stop_numeric",
    "_gfortran_error_stop_string",
    "_gfortran_exit_i4",
    "_gfortran_exit_i8",
    "_gfortran_os_error",
    "_gfortran_os_error_at",
    "_gfortran_runtime_error",
    "_gfortran_runtime_error_at",
    "_gfortran_stop_numeric",
    "_gfortran_stop_string",
    "_longjmp",
    "abort",
    "caml_failwith",
    "caml_invalid_argument",
    "caml_raise",
    "err",
    "errx",
    "exit",
    "g_abort",
    "g_assertion_message",
    "g_assertion_message_expr",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "runtime.fatalpanic",
    "runtime.fatalthrow",
    "runtime.goexit0",
    "runtime.gopanic",
    "runtime.throw",
    "rust_begin_unwind",
    "rust_panic",
    "siglongjmp",
    "terminate",
    "thrd_exit",
    "verr",
    "verrx",
};

static const char *const prefixes[] = {
    "_ZN4core9panicking", /* Rust, the names of before 2025 */
    "_ZN4core6option13expect_failed",
    "_ZN4core6option13unwrap_failed",
    "_ZN4core6result13unwrap_failed",
    "_ZN4core3str16slice_error_fail",
    "_ZN4core4cell22panic_already_borrowed",
    "_ZN4core4cell30panic_already_mutably_borrowed",
    "_ZN3std9panicking11begin_panic",
    "_ZN3std9panicking20rust_panic_with_hook",
    "_ZN3std9panicking13panic_display",
    "_ZN3std7process4exit",
    "_ZN3std7process5abort",
    "_ZN5alloc7raw_vec17capacity_overflow",
    "_ZN5alloc7raw_vec12handle_error",
    "_ZN5alloc5alloc18handle_alloc_error",
    "_ZN5boost15throw_exception",
    "_ZN4llvm18report_fatal_error",
    "_ZN4llvm22report_bad_alloc_error",
    "_ZN4llvm25llvm_unreachable_internal",
    "runtime.panic",
    "runtime.goPanic",
};

/* A name up to its version or "@plt". */
struct bare_name {
    const char *begin;
    size_t length;
};

static int compare_names(const void *key, const void *item)
{
    const struct bare_name *name = key;
    const char *known = *(const char *const *)item;
    int order = strncmp(name->begin, known, name->length);
    return order == 0 && known[name->length] ? -1 : order;
}

/* std::__throw_length_error(char const*): _ZSt20__throw_length_errorPKc; libc++ has it in an inline namespace or a
 * class. */
static bool is_std_throw(const char *name)
{
    return (str_starts(name, "_ZSt") || str_starts(name, "_ZNSt3__") || str_starts(name, "_ZNKSt3__")) &&
           strstr(name, "__throw_") != NULL;
}

/* core::slice::index::slice_end_index_len_fail and its kin; all of core::panicking in the names of 2025 (_R...) */
static bool is_rust_failure(const char *name)
{
    if (str_starts(name, "_R"))
        return strstr(name, "4core9panicking") != NULL || strstr(name, "18handle_alloc_error") != NULL ||
               strstr(name, "17capacity_overflow") != NULL || strstr(name, "unwrap_failed") != NULL ||
               strstr(name, "expect_failed") != NULL;
    return str_starts(name, "_ZN4core5slice") && strstr(name, "_fail17h") != NULL;
}

static bool bare_ends(const struct bare_name *name, const char *end)
{
    size_t n = strlen(end);
    return name->length >= n && strncmp(name->begin + name->length - n, end, n) == 0;
}

static bool is_sanitizer_abort(const struct bare_name *name)
{
    return (str_starts(name->begin, "__ubsan_handle_") && bare_ends(name, "_abort")) ||
           (str_starts(name->begin, "__asan_report_") && !bare_ends(name, "_noabort"));
}

/* "abort@plt", "exit@@GLIBC_2.2.5", "exit@GLIBC_2.2.5". Of any length: those of C++ have types in them. */
bool noreturn_name(const char *link_name)
{
    const struct bare_name name = {link_name, strcspn(link_name, "@")};
    if (bsearch(&name, exact_names, ARRAY_SIZE(exact_names), sizeof *exact_names, compare_names) != NULL)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (str_starts(link_name, prefixes[i]))
            return true;
    return is_std_throw(link_name) || is_rust_failure(link_name) || is_sanitizer_abort(&name);
}

bool function_noreturn_by_name(const struct function_table *t, const struct function *f)
{
    if (noreturn_name(f->link_name))
        return true;
    for (uint32_t i = 0; i < f->alias_count; i++)
        if (noreturn_name(t->aliases[f->aliases_first + i]))
            return true;
    return false;
}
