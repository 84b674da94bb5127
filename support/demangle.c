/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ and Rust names demangled, through libiberty.
 *
 * Mangled names can be made to grow without bound (a substitution that doubles, and again), so what
 * comes out is counted and cut off.  The demanglers used here keep everything on the stack when they
 * hand out their text piece by piece, so leaving them with longjmp loses nothing.
 */
#include "config.h"

#include "support/demangle.h"
#include "support/limits.h"
#include "support/support.h"

#ifdef HAVE_IBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

struct sink {
    struct buf text;
    jmp_buf too_long;
};

static void take(const char *piece, size_t n, void *sink)
{
    struct sink *s = sink;
    if (s->text.len + n > LIMIT_DEMANGLED_BYTES)
        longjmp(s->too_long, 1);
    buf_add(&s->text, piece, n);
}

static bool rust_legacy(const char *name)
{
    size_t n = strlen(name); /* _ZN...17h0123456789abcdefE */
    return n > 20 && name[n - 1] == 'E' && strncmp(name + n - 20, "17h", 3) == 0;
}

static bool demangle(const char *name, struct sink *s)
{
    const int options = DMGL_PARAMS | DMGL_ANSI;
    if (setjmp(s->too_long))
        return false;
    if (name[1] == 'R' || rust_legacy(name)) {
        if (rust_demangle_callback(name, options, take, s))
            return true;
        s->text.len = 0;
    }
    return cplus_demangle_v3_callback(name, options, take, s) != 0;
}
#endif

const char *demangle_full(struct arena *a, const char *link_name)
{
#ifdef HAVE_IBERTY
    size_t n = strlen(link_name), core = strcspn(link_name, "@"); /* "@plt", "@@GLIBCXX_3.4" */
    static const char sub[] = "_GLOBAL__sub_"; /* initializers of a file; the demangler knows "_GLOBAL__I_NAME" */
    bool is_sub = str_starts(link_name, sub);
    if (link_name[0] != '_' || (link_name[1] != 'Z' && link_name[1] != 'R' && !is_sub) || n > LIMIT_MANGLED_BYTES)
        return link_name;
    struct sink s = {0};
    char *name = mem_strndup(link_name, core);
    if (is_sub)
        memmove(name + strlen("_GLOBAL__"), name + strlen(sub), core - strlen(sub) + 1);
    const char *full = link_name;
    if (demangle(name, &s) && s.text.len) {
        buf_str(&s.text, link_name + core);
        full = arena_strndup(a, s.text.bytes, s.text.len);
    }
    mem_free(name);
    buf_release(&s.text);
    return full;
#else
    (void)a;
    return link_name;
#endif
}

/* ---- short names --------------------------------------------------------------- */

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Past "operator<<", "operator()", "operator->": their signs are not brackets. `s` is at "operator". The demangler
   writes "operator< <int>" but "operator-<int>": the longest operator is the right one. */
static const char *skip_operator(const char *s)
{
    static const char *const signs[] = {"\"\" ", "<<=", ">>=", "<=>", "->*", "()", "[]", "->", "++", "--",
                                        "<<",    ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",    "/=",  "%=",  "^=",  "&=",  "|=", "+",  "-",  "*",  "/",
                                        "%",     "^",   "&",   "|",   "~",   "!",  "=",  "<",  ">",  ","};
    s += strlen("operator");
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
        if (str_starts(s, signs[i])) {
            s += strlen(signs[i]);
            return str_starts(s, " <") ? s + 1 : s;
        }
    return s; /* a conversion, "operator new", or a name that goes on */
}

/* "decltype (a+b) f<int>(int)": the first bracket opens no parameters. */
static bool is_of_type(const char *full, const char *bracket)
{
    static const char word[] = "decltype ";
    size_t n = strlen(word);
    return (size_t)(bracket - full) >= n && memcmp(bracket - n, word, n) == 0;
}

static const char anonymous[] = "(anonymous namespace)";

const char *demangle_short(struct arena *a, const char *full)
{
    const char *name = full, *params = NULL, *clone = strstr(full, " [clone "), *s = full;
    if (str_starts(full, "global ")) /* "global constructors keyed to f(int)": they are not f */
        return full;
    size_t depth = 0;
    while (*s && s != clone) {
        if (*s == 'o' && strncmp(s, "operator", 8) == 0 && (s == full || !name_char(s[-1]))) {
            const char *after = skip_operator(s);
            if (depth == 0 && *after == ' ') { /* conversion: "operator unsigned int()": its blanks are part of it */
                while (*after && *after != '(')
                    after++;
            }
            s = after;
            continue;
        }
        char c = *s;
        if (c == '(' && depth == 0 && str_starts(s, anonymous)) {
            s += strlen(anonymous);
            continue;
        }
        if (c == '(' && depth == 0 && !is_of_type(full, s))
            params = s;
        if (c == '(' || c == '<' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == '>' || c == ']' || c == '}') && depth && !(c == '>' && s > full && s[-1] == '-'))
            depth--;
        else if (c == ' ' && depth == 0 && !params)
            name = s + 1; /* before it stood a type: "void f<int>(int)" */
        else if (c == ':' && depth == 0)
            params = params && s[1] == ':' ? NULL : params; /* "f(int)::g": g's parameters count */
        s++;
    }
    if (!params || depth)
        return full;
    /* "void (*f<int>())(char)", a function that returns a pointer to one, stays as it is; and "p.(*T).f", as Go has them */
    if ((*name == '(' && !str_starts(name, anonymous)) || params[1] == '*' || params[1] == '&')
        return full;
    return arena_printf(a, "%.*s%s", (int)(params - name), name, clone ? clone : "");
}
