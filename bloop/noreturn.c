/*
 * Which functions never return.
 *
 * First by name. Then the closure: a function never returns if nothing that can be reached in it returns, calls in tail
 * position a function that may return, jumps to an unknown place, or runs out of its end; what follows a call of a
 * function that never returns is not reached by it.
 *
 * The set grows from the names until nothing changes. To do that in little more than one pass over the code, each
 * function that may return keeps one witness: the calls on a short path from its entry to a return. As long as all of
 * these may return, nothing about it has changed; only when one of them turns out not to is the function looked at
 * again. (This is how the "two watched literals" of SAT solvers work.) The result is the least set closed under the
 * rule, so it depends neither on the order of work nor on threads.
 */
#include "bloop/cfg_int.h"

#include <stdlib.h>

/* A function whose witness broke so often is taken to return; bounds the work on code made to be expensive. */
#define LOOKS_MAX 200

/* ---- names ---------------------------------------------------------------------------- */

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

static int compare_names(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
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

static bool is_sanitizer_abort(const char *name)
{
    return (str_starts(name, "__ubsan_handle_") && str_ends(name, "_abort")) ||
           (str_starts(name, "__asan_report_") && !str_ends(name, "_noabort"));
}

/* "abort@plt", "exit@@GLIBC_2.2.5", "exit@GLIBC_2.2.5" */
static bool name_never_returns(const char *link_name)
{
    char name[256];
    size_t n = strcspn(link_name, "@");
    if (n == 0)
        return false;
    if (n >= sizeof name)
        n = sizeof name - 1;
    memcpy(name, link_name, n);
    name[n] = 0;
    if (bsearch(name, exact_names, ARRAY_SIZE(exact_names), sizeof *exact_names, compare_names) != NULL)
        return true;
    if (name[0] != '_' && name[0] != 'r')
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return is_std_throw(name) || is_rust_failure(name) || is_sanitizer_abort(name);
}

bool noreturn_name(const char *link_name)
{
    return name_never_returns(link_name);
}

static bool function_named_so(const struct function_table *t, const struct function *f)
{
    if (name_never_returns(f->link_name))
        return true;
    for (uint32_t i = 0; i < f->alias_count; i++)
        if (name_never_returns(t->aliases[f->aliases_first + i]))
            return true;
    return false;
}

/* ---- one function ------------------------------------------------------------------------ */

struct looker { /* what one thread needs to look at functions */
    struct cfg g;
    struct VEC(uint32_t) reached_from; /* by block */
    struct VEC(uint32_t) queue;
};

static void looker_release(struct looker *l)
{
    cfg_release(&l->g);
    vec_release(&l->reached_from);
    vec_release(&l->queue);
}

static uint32_t tail_callee(const struct cfg_work *w, pos at)
{
    for (size_t i = cfg_call_from(w, at); i < w->calls.count && w->calls.items[i].at == at; i++)
        return w->calls.items[i].callee;
    return FUNCTION_NONE;
}

/* May control leave the function for its caller at the end of this block? */
static bool may_leave(const struct cfg_work *w, const struct cfg_block *b, const uint8_t *noreturn)
{
    const struct term *t = cfg_term_of(w, b);
    if (t == NULL)
        return false;
    switch (t->kind) {
    case INSN_RETURN:
        return true;
    case INSN_BRANCH:
    case INSN_JUMP:
        if (t->tail) {
            uint32_t callee = tail_callee(w, t->at);
            return callee == FUNCTION_NONE || !noreturn[callee];
        }
        return false;
    case INSN_JUMP_INDIRECT: {
        const struct indirect *j = cfg_indirect_at(w, t->at);
        return j == NULL || j->state != INDIRECT_RESOLVED;
    }
    case INSN_BAD:
        return !t->goes_on;
    case INSN_PLAIN: /* runs out of its end */
        return true;
    default:
        return false;
    }
}

/* Appends the callees that must return on a way with fewest blocks from an entry to a block where control may leave.
 * False: no such way. */
static bool find_witness(struct looker *l, const uint8_t *noreturn, struct VEC_u32 *callees)
{
    const struct cfg *g = &l->g;
    const struct cfg_work *w = g->work;
    vec_reserve(&l->reached_from, g->block_count + 1);
    uint32_t *from = l->reached_from.items;
    memset(from, 0xff, g->block_count * sizeof *from);
    l->queue.count = 0;
    for (size_t i = 0; i < g->entry_count; i++)
        if (from[g->entries[i]] == UINT32_MAX) {
            from[g->entries[i]] = g->entries[i];
            *vec_push(&l->queue) = g->entries[i];
        }
    for (size_t done = 0; done < l->queue.count; done++) {
        uint32_t b = l->queue.items[done];
        if (may_leave(w, &g->blocks[b], noreturn)) {
            for (;; b = from[b]) {
                cfg_callees_of(w, &g->blocks[b], noreturn, callees);
                if (from[b] == b)
                    return true;
            }
        }
        for (uint32_t i = 0; i < g->blocks[b].succ_count; i++) {
            uint32_t to = g->succs[g->blocks[b].succ_first + i];
            if (from[to] == UINT32_MAX) {
                from[to] = b;
                *vec_push(&l->queue) = to;
            }
        }
    }
    return g->block_count == 0; /* nothing known of it: may return */
}

/* ---- the closure -------------------------------------------------------------------------- */

struct watch { /* `function` has `callee` in its witness */
    uint32_t function, callee;
};

/* Each chunk makes its own index of all functions, so there are not many; enough for all processors to be busy to the
 * end. */
enum { CHUNKS = 64, CHUNK_LEAST = 256 };
struct closure {
    const struct image *image;
    const struct function_table *table;
    const struct arch *arch;
    uint8_t *noreturn;
    size_t chunk; /* functions of one */
    struct chunk_result {
        struct VEC(struct watch) watches;
        struct VEC(uint32_t) found;
    } * results;
};

/* Looks at one function with what is known of others; false: it never returns. */
static bool look(const struct closure *c, struct looker *l, uint32_t f, struct VEC_u32 *callees)
{
    struct cfg_input in = {.image = c->image,
                           .functions = c->table,
                           .arch = c->arch,
                           .all = c->table,
                           .noreturn = c->noreturn,
                           .function = f};
    callees->count = 0;
    cfg_build(&in, &l->g);
    return find_witness(l, c->noreturn, callees);
}

static bool worth_a_look(const struct closure *c, uint32_t f)
{
    const struct function *fn = &c->table->functions[f];
    return !fn->plt && !fn->ifunc && fn->part_of == FUNCTION_NONE && !c->noreturn[f];
}

static void look_at_chunk(void *ctx, size_t chunk)
{
    struct closure *c = ctx;
    struct chunk_result *r = &c->results[chunk];
    struct looker l = {0};
    struct VEC_u32 callees = {0};
    size_t begin = chunk * c->chunk, end = begin + c->chunk < c->table->count ? begin + c->chunk : c->table->count;
    for (size_t f = begin; f < end; f++) {
        if (!worth_a_look(c, (uint32_t)f))
            continue;
        if (!look(c, &l, (uint32_t)f, &callees))
            *vec_push(&r->found) = (uint32_t)f;
        for (size_t i = 0; i < callees.count; i++)
            *vec_push(&r->watches) = (struct watch){(uint32_t)f, callees.items[i]};
    }
    vec_release(&callees);
    looker_release(&l);
}

struct watch_node {
    uint32_t function, next;
};
struct watch_lists { /* by callee, linked */
    uint32_t *head;
    struct VEC(struct watch_node) nodes;
};

static void watch(struct watch_lists *l, uint32_t function, uint32_t callee)
{
    uint32_t i = (uint32_t)l->nodes.count;
    *vec_push(&l->nodes) = (struct watch_node){function, l->head[callee]};
    l->head[callee] = i;
}

/* From the functions found so far to their callers, as long as there are new ones. */
static void spread(struct closure *c, struct watch_lists *watches, struct VEC_u32 *found)
{
    struct looker l = {0};
    struct VEC_u32 callees = {0};
    uint8_t *looks = mem_calloc(c->table->count + 1, 1);
    for (size_t done = 0; done < found->count; done++) {
        for (uint32_t i = watches->head[found->items[done]]; i != UINT32_MAX;) {
            struct watch_node node = watches->nodes.items[i];
            uint32_t f = node.function;
            i = node.next;
            if (c->noreturn[f] || looks[f] >= LOOKS_MAX)
                continue;
            looks[f]++;
            if (!look(c, &l, f, &callees)) {
                c->noreturn[f] = 1;
                *vec_push(found) = f;
            } else {
                for (size_t k = 0; k < callees.count; k++)
                    watch(watches, f, callees.items[k]);
            }
        }
    }
    mem_free(looks);
    vec_release(&callees);
    looker_release(&l);
}

static void close_over_callers(struct closure *c, unsigned threads)
{
    c->chunk = c->table->count / CHUNKS + 1 > CHUNK_LEAST ? c->table->count / CHUNKS + 1 : CHUNK_LEAST;
    size_t chunks = (c->table->count + c->chunk - 1) / c->chunk;
    c->results = mem_calloc(chunks + 1, sizeof *c->results);
    parallel_for(chunks, threads, look_at_chunk, c);
    struct watch_lists watches = {.head = mem_alloc((c->table->count + 1) * sizeof *watches.head)};
    struct VEC_u32 found = {0};
    memset(watches.head, 0xff, (c->table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < chunks; i++) {
        struct chunk_result *r = &c->results[i];
        for (size_t k = 0; k < r->watches.count; k++)
            watch(&watches, r->watches.items[k].function, r->watches.items[k].callee);
        for (size_t k = 0; k < r->found.count; k++) {
            c->noreturn[r->found.items[k]] = 1;
            *vec_push(&found) = r->found.items[k];
        }
        vec_release(&r->watches);
        vec_release(&r->found);
    }
    spread(c, &watches, &found);
    mem_free(watches.head);
    vec_release(&watches.nodes);
    vec_release(&found);
    mem_free(c->results);
}

/* ---- on demand ------------------------------------------------------------------------------- */

/* How far calls are followed from the functions asked for: a call of what never returns is a few wrappers away from a
   name that says so, and asking for 300 functions must not mean to look at all they reach. */
#define FOLLOW_DEPTH 3
#define FOLLOW_BYTES (4u << 20)

struct follow_list VEC(uint32_t);

static void follow_callees(const struct closure *c, const struct cfg_work *w, uint8_t *depth, uint8_t at_depth,
                           struct follow_list *queue)
{
    for (size_t i = 0; i < w->calls.count && at_depth < FOLLOW_DEPTH; i++) {
        uint32_t callee = w->calls.items[i].callee;
        if (callee == FUNCTION_NONE || depth[callee] != 0 || !worth_a_look(c, callee))
            continue;
        depth[callee] = at_depth + 1;
        *vec_push(queue) = callee;
    }
}

void noreturn_follow(const struct image *image, const struct function_table *table, uint8_t *noreturn,
                     const uint32_t *wanted, size_t count)
{
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    struct watch_lists watches = {.head = mem_alloc((table->count + 1) * sizeof *watches.head)};
    struct VEC_u32 found = {0}, callees = {0};
    struct follow_list queue = {0};
    struct looker l = {0};
    uint8_t *depth = mem_calloc(table->count + 1, 1); /* 0: not seen; 1: asked for */
    uint64_t bytes = 0;
    memset(watches.head, 0xff, (table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < count; i++)
        if (depth[wanted[i]] == 0 && worth_a_look(&c, wanted[i])) {
            depth[wanted[i]] = 1;
            *vec_push(&queue) = wanted[i];
        }
    size_t asked = queue.count;
    for (size_t done = 0; done < queue.count && c.arch != NULL; done++) {
        uint32_t f = queue.items[done];
        if (done >= asked && (bytes += table->functions[f].end - table->functions[f].begin) > FOLLOW_BYTES)
            break;
        if (!look(&c, &l, f, &callees))
            *vec_push(&found) = f;
        for (size_t i = 0; i < callees.count; i++)
            watch(&watches, f, callees.items[i]);
        follow_callees(&c, l.g.work, depth, depth[f], &queue);
    }
    for (size_t i = 0; i < found.count; i++)
        noreturn[found.items[i]] = 1;
    spread(&c, &watches, &found);
    mem_free(watches.head);
    mem_free(depth);
    vec_release(&watches.nodes);
    vec_release(&found);
    vec_release(&callees);
    vec_release(&queue);
    looker_release(&l);
}

uint8_t *noreturn_find(const struct image *image, const struct function_table *table, bool whole, unsigned threads)
{
    uint8_t *noreturn = mem_calloc(table->count + 1, 1);
    for (size_t f = 0; f < table->count; f++)
        noreturn[f] = function_named_so(table, &table->functions[f]);
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    if (whole && c.arch != NULL)
        close_over_callers(&c, threads);
    return noreturn;
}
