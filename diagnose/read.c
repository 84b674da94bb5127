/*
 * Words to properties. The grammar stands in doc/formats/properties.md; formulas go to the metrics' engine with a way to
 * say where their characters stand.
 *
 * What is wrong is noted, and reading goes on behind the next ';' or '}', so that all of it is said at once.
 */
#include "diagnose/diagnose_int.h"

#include <stdarg.h>

enum { TOKENS_MOST = 4 << 20, PROPERTIES_MOST = 100000, NESTED_MOST = 100 };

struct reader {
    struct properties *p;
    const struct token *t;
    struct warnings *problems;
    size_t wrong;
};

static int wrong(struct reader *r, const struct token *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int wrong(struct reader *r, const struct token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *said = mem_vprintf(fmt, args);
    va_end(args);
    problem_at(r->problems, at, "%s", said);
    mem_free(said);
    r->wrong++;
    return -1;
}

static bool is(const struct token *t, const char *text)
{
    return t->kind != TOKEN_END && t->kind != TOKEN_STRING && strcmp(t->text, text) == 0;
}

static bool take(struct reader *r, const char *text)
{
    if (!is(r->t, text))
        return false;
    r->t++;
    return true;
}

static const char *shown(const struct token *t)
{
    return t->kind == TOKEN_END ? "the end of the file" : t->text;
}

static int expect(struct reader *r, const char *text, const char *after)
{
    if (take(r, text))
        return 0;
    return wrong(r, r->t, "'%s' is wanted after %s, not '%.40s'", text, after, shown(r->t));
}

/* A word, or a name in quotes. */
static const char *name(struct reader *r, const char *of_what)
{
    if (r->t->kind == TOKEN_WORD)
        return (r->t++)->text;
    if (r->t->kind == TOKEN_STRING)
        return token_unquoted(r->p->arena, (r->t++)->text);
    wrong(r, r->t, "the name of %s is wanted, not '%.40s'", of_what, shown(r->t));
    return NULL;
}

/* Behind the ';' that ends what went wrong; a '}' stays. */
static void recover(struct reader *r)
{
    for (size_t depth = 0; r->t->kind != TOKEN_END; r->t++) {
        if (is(r->t, "{"))
            depth++;
        if (is(r->t, "}") && depth-- == 0)
            return;
        if (depth == 0 && (is(r->t, ";") || is(r->t, "}"))) {
            r->t++;
            return;
        }
    }
}

/* ---- formulas ------------------------------------------------------------------------------------- */

void formula_where(void *ctx, size_t offset, struct buf *out)
{
    const struct formula_text *f = ctx;
    size_t word = sorted_front(f->offset.count, i, f->offset.items[i] <= offset);
    const struct token *t = f->first + (word ? word - 1 : 0);
    size_t within = word ? offset - f->offset.items[word - 1] : 0, len = strlen(t->text);
    buf_printf(out, "%s:%u:%u", t->file, t->line, t->column + (uint32_t)(within < len ? within : len));
}

/* ASL's operators in capitals are the engine's. */
static const char *engine_word(const struct token *t)
{
    static const char *const words[][2] = {
        {"AND", "and"}, {"OR", "or"}, {"NOT", "not"}, {"MAX", "max"}, {"MIN", "min"}};
    for (size_t i = 0; t->kind == TOKEN_WORD && i < ARRAY_SIZE(words); i++)
        if (strcmp(t->text, words[i][0]) == 0)
            return words[i][1];
    return t->text;
}

enum ends { ENDS_CLAUSE, ENDS_CONDITION /* at OR too */, ENDS_ITEM /* at ',' and ')' too */ };

static bool ends_formula(const struct token *t, enum ends ends, size_t depth)
{
    if (t->kind == TOKEN_END || is(t, ";") || is(t, "{") || is(t, "}"))
        return true;
    if (depth)
        return false;
    return (ends == ENDS_CONDITION && is(t, "OR")) || (ends == ENDS_ITEM && (is(t, ",") || is(t, ")")));
}

static void collect(struct reader *r, enum ends ends, struct formula_text *f)
{
    f->first = r->t;
    for (size_t depth = 0; !ends_formula(r->t, ends, depth); r->t++) {
        depth += is(r->t, "(");
        depth -= depth && is(r->t, ")");
        buf_str(&f->text, r->t->blank_before && f->text.len ? " " : "");
        *vec_push(&f->offset) = f->text.len;
        buf_str(&f->text, engine_word(r->t));
    }
    *vec_push(&f->offset) = f->text.len;
    buf_str(&f->text, "");
}

static void formula_release(struct formula_text *f)
{
    buf_release(&f->text);
    vec_release(&f->offset);
}

static struct expr_input input_of(struct reader *r, struct formula_text *f)
{
    return (struct expr_input){.text = f->text.bytes,
                               .what = f->first->file,
                               .functions = &r->p->definitions,
                               .where = formula_where,
                               .ctx = f};
}

static struct expr *formula(struct reader *r, enum ends ends)
{
    struct formula_text f = {0};
    struct expr *expr = NULL;
    struct err err = {0};
    collect(r, ends, &f);
    struct expr_input in = input_of(r, &f);
    if (expr_parse_input(&in, &expr, &err) < 0) {
        warnings_add(r->problems, "%s", err.msg);
        r->wrong++;
    }
    formula_release(&f);
    return expr;
}

/* LET name = formula; a type before the name, as the papers have it, says nothing to us. */
static int read_let(struct reader *r)
{
    if (r->t->kind == TOKEN_WORD && r->t[1].kind == TOKEN_WORD)
        r->t++;
    const struct token *at = r->t;
    const char *called = name(r, "a definition");
    if (!called || expect(r, "=", "the name of a definition") < 0)
        return -1;
    struct formula_text f = {0};
    struct err err = {0};
    collect(r, ENDS_CLAUSE, &f);
    struct expr_input in = input_of(r, &f);
    int status = expr_define(&r->p->definitions, called, &in, &err);
    if (status < 0 && str_starts(err.msg, f.first->file) && err.msg[strlen(f.first->file)] == ':' &&
        err.msg[strlen(f.first->file) + 1] == ' ')
        wrong(r, at, "%s", err.msg + strlen(f.first->file) + 2); /* about the name, not about the formula */
    else if (status < 0) {
        warnings_add(r->problems, "%s", err.msg);
        r->wrong++;
    }
    formula_release(&f);
    return status < 0 ? -1 : expect(r, ";", "a definition");
}

/* ---- conditions and values ---------------------------------------------------------------------------- */

static bool begins_operand(const struct token *t)
{
    return t->kind == TOKEN_NUMBER || t->kind == TOKEN_STRING || is(t, "(") || is(t, "-") ||
           (t->kind == TOKEN_WORD && !is(t, "AND") && !is(t, "OR") && !is(t, "and") && !is(t, "or"));
}

/* "(id)" before a condition, or before "->". */
static bool has_id(const struct reader *r, bool arrow)
{
    const struct token *t = r->t;
    return is(t, "(") && t[1].kind == TOKEN_WORD && is(&t[2], ")") && (arrow ? is(&t[3], "->") : begins_operand(&t[3]));
}

static int read_conditions(struct reader *r, struct property *p)
{
    do {
        struct condition c = {.id = ""};
        if (has_id(r, false)) {
            c.id = r->t[1].text;
            r->t += 3;
        }
        if (!(c.expr = formula(r, ENDS_CONDITION)))
            return -1;
        *vec_push(&p->conditions) = c;
    } while (take(r, "OR"));
    return 0;
}

static int read_guarded(struct reader *r, struct property *p, struct guarded *g, enum ends ends)
{
    *g = (struct guarded){.condition = NONE};
    if (has_id(r, true)) {
        const struct token *id = &r->t[1];
        for (uint32_t i = 0; i < p->conditions.count; i++)
            if (strcmp(p->conditions.items[i].id, id->text) == 0)
                g->condition = i;
        if (g->condition == NONE)
            return wrong(r, id, "no condition is called '%.60s'", id->text);
        r->t += 4;
    }
    g->expr = formula(r, ends);
    return g->expr ? 0 : -1;
}

/* Is the bracket that opens here closed right before the clause's end? MAX(a, b) * 2 is a formula. */
static bool is_whole_list(const struct token *open)
{
    size_t depth = 0;
    const struct token *t = open;
    for (; t->kind != TOKEN_END && !is(t, ";") && !is(t, "}"); t++) {
        depth += is(t, "(");
        if (is(t, ")") && --depth == 0)
            return is(&t[1], ";");
    }
    return true; /* not closed: the list says so */
}

static int read_values(struct reader *r, struct property *p, void *list)
{
    struct VEC(struct guarded) *values = list;
    struct guarded g;
    int status = 0;
    bool many = is(r->t, "MAX") && is(&r->t[1], "(") && is_whole_list(&r->t[1]);
    r->t += many ? 2 : 0;
    do {
        status = read_guarded(r, p, &g, many ? ENDS_ITEM : ENDS_CLAUSE);
        if (status == 0)
            *vec_push(values) = g;
    } while (status == 0 && many && take(r, ","));
    if (status == 0 && many)
        status = expect(r, ")", "the values of MAX");
    return status;
}

/* ---- the other clauses ------------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    uint32_t kind;
} kind_words[] = {
    {"PROGRAM", 1 << PLACE_PROGRAM}, {"MODULE", 1 << PLACE_MODULE}, {"FILE", 1 << PLACE_FILE},
    {"PROCEDURE", 1 << PLACE_PROC},  {"INLINE", 1 << PLACE_INLINE}, {"LOOP", 1 << PLACE_LOOP},
    {"LINE", 1 << PLACE_LINE},       {"INNERMOST", FOR_INNERMOST},  {"PATH", FOR_PATH},
};

static int read_kind(struct reader *r, uint32_t *kinds)
{
    for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
        if (take(r, kind_words[i].word)) {
            *kinds |= kind_words[i].kind;
            return 0;
        }
    return wrong(
        r, r->t,
        "'%.40s' is no kind of place; there are PROGRAM, MODULE, FILE, PROCEDURE, INLINE, LOOP, INNERMOST, LINE, "
        "PATH and ROWS OF a table",
        shown(r->t));
}

static int read_for(struct reader *r, struct property *p)
{
    p->kinds = 0;
    if (take(r, "ROWS")) {
        if (expect(r, "OF", "ROWS") < 0)
            return -1;
        p->table = name(r, "a table");
        return p->table ? 0 : -1;
    }
    do
        if (read_kind(r, &p->kinds) < 0)
            return -1;
    while (take(r, ","));
    return 0;
}

static int read_text(struct reader *r, struct text *text)
{
    struct buf all = {0};
    const struct token *at = r->t;
    struct err err = {0};
    if (r->t->kind != TOKEN_STRING)
        return wrong(r, r->t, "a text in quotes is wanted, not '%.40s'", shown(r->t));
    for (; r->t->kind == TOKEN_STRING; r->t++) {
        buf_str(&all, all.len && all.bytes[all.len - 1] != ' ' ? " " : "");
        buf_str(&all, token_unquoted(r->p->arena, r->t->text));
    }
    int status = text_parse(r->p->arena, all.bytes, at, &r->p->definitions, text, &err);
    if (status < 0) {
        warnings_add(r->problems, "%s", err.msg);
        r->wrong++;
    }
    buf_release(&all);
    return status;
}

static int read_needs(struct reader *r, struct property *p)
{
    do {
        const char *needed = name(r, "a metric");
        if (!needed)
            return -1;
        *vec_push(&p->needs) = needed;
    } while (take(r, ","));
    return 0;
}

/* WHERE column IS [NOT] "glob|glob" { AND ... } */
static int read_where(struct reader *r, struct property *p)
{
    do {
        struct filter f = {.what = name(r, "a column, or of what a place has")};
        if (!f.what || expect(r, "IS", "the name") < 0)
            return -1;
        f.not = take(r, "NOT");
        if (r->t->kind != TOKEN_STRING)
            return wrong(r, r->t, "a pattern in quotes is wanted after IS, not '%.40s'", shown(r->t));
        f.globs = token_unquoted(r->p->arena, (r->t++)->text);
        *vec_push(&p->filters) = f;
    } while (take(r, "AND"));
    return 0;
}

static int read_refines(struct reader *r, struct property *p)
{
    p->refines_at = r->t;
    p->refines_name = name(r, "a property");
    return p->refines_name ? 0 : -1;
}

static int read_clause(struct reader *r, struct property *p)
{
    static const char *const words[] = {"CONDITION",   "CONFIDENCE", "SEVERITY", "TITLE", "EVIDENCE",
                                        "EXPLANATION", "REMEDY",     "REFINES",  "NEEDS", "FOR",
                                        "WHERE",       "AT",         "TOGETHER"};
    size_t i = 0;
    const struct token *at = r->t;
    while (i < ARRAY_SIZE(words) && !is(r->t, words[i]))
        i++;
    if (i == ARRAY_SIZE(words)) {
        const char *names[ARRAY_SIZE(words) + 1] = {0};
        memcpy(names, words, sizeof words);
        const char *near = at->kind == TOKEN_WORD ? str_nearest(at->text, names) : NULL;
        return wrong(r, at, "'%.40s' begins no part of a property%s%s%s", shown(at), near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "; there are CONDITION, CONFIDENCE, SEVERITY, TITLE, ...");
    }
    r->t++;
    take(r, ":");
    int status = i == 0    ? read_conditions(r, p)
                 : i == 1  ? read_values(r, p, &p->confidences)
                 : i == 2  ? read_values(r, p, &p->severities)
                 : i == 3  ? read_text(r, &p->title)
                 : i == 4  ? read_text(r, &p->evidence)
                 : i == 5  ? read_text(r, &p->explanation)
                 : i == 6  ? read_text(r, &p->remedy)
                 : i == 7  ? read_refines(r, p)
                 : i == 8  ? read_needs(r, p)
                 : i == 9  ? read_for(r, p)
                 : i == 10 ? read_where(r, p)
                 : i == 12 ? !(p->together = true)
                           : ((p->at_column = name(r, "a column")) ? 0 : -1);
    return status < 0 ? -1 : expect(r, ";", at->text);
}

/* ---- properties ------------------------------------------------------------------------------------------ */

/* (LOOP l, PROCEDURE p): a kind of place says for what it is; other types are the papers' and say nothing. */
static int read_context(struct reader *r, struct property *p)
{
    if (!take(r, "("))
        return 0;
    while (!take(r, ")")) {
        const char *type = name(r, "a kind of place");
        if (!type)
            return -1;
        for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
            p->kinds |= strcasecmp(kind_words[i].word, type) == 0 ? kind_words[i].kind : 0;
        if (r->t->kind == TOKEN_WORD)
            r->t++;
        if (!take(r, ",") && !is(r->t, ")"))
            return expect(r, ")", "the context of a property");
    }
    return 0;
}

static void property_release(struct property *p)
{
    struct text *texts[] = {&p->title, &p->evidence, &p->explanation, &p->remedy};
    for (size_t i = 0; i < p->conditions.count; i++)
        expr_free(p->conditions.items[i].expr);
    for (size_t i = 0; i < p->confidences.count; i++)
        expr_free(p->confidences.items[i].expr);
    for (size_t i = 0; i < p->severities.count; i++)
        expr_free(p->severities.items[i].expr);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        for (size_t k = 0; k < texts[i]->count; k++)
            expr_free(texts[i]->items[k].expr);
        vec_release(texts[i]);
    }
    vec_release(&p->conditions);
    vec_release(&p->confidences);
    vec_release(&p->severities);
    vec_release(&p->filters);
    vec_release(&p->needs);
}

/* What every property has. */
static void check_property(struct reader *r, struct property *p)
{
    if (p->conditions.count == 0)
        wrong(r, p->at, "the property %s has no CONDITION", p->name);
    if (p->severities.count == 0 && !p->hypothesis)
        wrong(r, p->at, "the property %s has no SEVERITY; percent of the run is wanted", p->name);
    if (p->meta && p->table)
        wrong(r, p->at, "the property %s is of the rows of a table, and cannot combine others", p->name);
    if (p->kinds == 0 && !p->table)
        p->kinds = 1 << PLACE_PROGRAM | 1 << PLACE_PROC | 1 << PLACE_LOOP;
}

/* From the context to the closing brace. */
static int read_body(struct reader *r, struct property *p)
{
    size_t definitions = r->p->definitions.count, before = r->wrong;
    int status = read_context(r, p);
    if (status == 0)
        status = expect(r, "{", "the context of a property");
    if (status < 0)
        return -1;
    while (!is(r->t, "}") && r->t->kind != TOKEN_END) {
        int clause = take(r, "LET") ? read_let(r) : take(r, "IN") ? 0 : read_clause(r, p);
        if (clause == 0 && r->t[-1].kind == TOKEN_SIGN && is(&r->t[-1], ";"))
            while (r->t->kind == TOKEN_WORD && is(&r->t[1], "=") && read_let(r) == 0) /* LET a = 1; b = 2; IN */
                ;
        if (clause < 0)
            recover(r);
    }
    expr_functions_truncate(&r->p->definitions, definitions);
    if (expect(r, "}", "the last part of a property") < 0)
        return -1;
    take(r, ";");
    check_property(r, p);
    return r->wrong == before ? 0 : -1;
}

static struct property *new_property(struct reader *r, const struct token *at, const char *called, bool meta,
                                     bool hypothesis)
{
    struct property *p = arena_alloc(r->p->arena, sizeof *p);
    *p = (struct property){.name = called, .at = at, .meta = meta, .hypothesis = hypothesis, .refines = NONE};
    return p;
}

static int keep_property(struct reader *r, struct property *p, int status)
{
    uint32_t known = property_named(r->p, p->name);
    if (status == 0 && known != NONE)
        status = wrong(r, p->at, "there is a property %s already, at %s:%u", p->name, r->p->list.items[known]->at->file,
                       r->p->list.items[known]->at->line);
    if (status == 0 && r->p->list.count == PROPERTIES_MOST)
        status = wrong(r, p->at, "there are more than %d properties", PROPERTIES_MOST);
    if (status < 0) {
        property_release(p);
        return -1;
    }
    *vec_push(&r->p->list) = p;
    return 0;
}

/* ---- templates -------------------------------------------------------------------------------------------- */

/* Copies words up to the brace that closes the first one. */
static int copy_body(struct reader *r, struct tokens *to)
{
    const struct token *begin = r->t;
    size_t depth = 0;
    for (; r->t->kind != TOKEN_END; r->t++) {
        *vec_push(to) = *r->t;
        depth += is(r->t, "{");
        if (is(r->t, "}") && --depth == 0) {
            r->t++;
            *vec_push(to) = (struct token){.text = "", .file = begin->file, .line = r->t->line, .column = r->t->column};
            take(r, ";");
            return 0;
        }
        if (is(r->t, "}") && depth > NESTED_MOST)
            break;
    }
    return wrong(r, begin, "this template is not closed; '}' is missing");
}

static int read_template(struct reader *r)
{
    const struct token *at = r->t;
    struct template *t = arena_alloc(r->p->arena, sizeof *t);
    t->name = name(r, "a template");
    if (!t->name || expect(r, "<", "the name of a template") < 0)
        return -1;
    do {
        if (r->t->kind == TOKEN_WORD && r->t[1].kind == TOKEN_WORD) /* a type */
            r->t++;
        const char *parameter = name(r, "a parameter");
        if (!parameter)
            break;
        *vec_push(&t->parameters) = parameter;
    } while (take(r, ","));
    *vec_push(&r->p->templates) = t;
    if (expect(r, ">", "the parameters of a template") < 0)
        return -1;
    for (size_t i = 0; i + 1 < r->p->templates.count; i++)
        if (strcmp(r->p->templates.items[i]->name, t->name) == 0)
            return wrong(r, at, "there is a template %s already", t->name);
    return copy_body(r, &t->body);
}

struct arguments {
    const struct token *first[EXPR_PARAMETERS_MAX];
    size_t length[EXPR_PARAMETERS_MAX], count;
};

/* Moves behind '>'. */
static int read_arguments(struct reader *r, struct arguments *a)
{
    *a = (struct arguments){.count = 0};
    for (;;) {
        if (a->count == EXPR_PARAMETERS_MAX)
            return wrong(r, r->t, "a template has at most %d parameters", EXPR_PARAMETERS_MAX);
        a->first[a->count] = r->t;
        for (size_t depth = 0;
             r->t->kind != TOKEN_END && !is(r->t, ";") && (depth || !(is(r->t, ",") || is(r->t, ">"))); r->t++) {
            depth += is(r->t, "(");
            depth -= depth && is(r->t, ")");
        }
        a->length[a->count] = (size_t)(r->t - a->first[a->count]);
        a->count++;
        if (!take(r, ","))
            return expect(r, ">", "the arguments of a template");
    }
}

/* In texts, {P} is a parameter, and so is P in {P / 2}. */
static const char *text_with(struct arena *arena, const char *text, const struct template *t, const struct arguments *a)
{
    struct buf out = {0};
    bool inside = false;
    buf_str(&out, "");
    for (const char *c = text; *c;) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."), which = SIZE_MAX;
        inside = *c == '{' || (inside && *c != '}');
        for (size_t i = 0; inside && n && i < t->parameters.count; i++)
            if (strlen(t->parameters.items[i]) == n && strncmp(t->parameters.items[i], c, n) == 0)
                which = i;
        if (which == SIZE_MAX)
            buf_add(&out, c, n ? n : 1);
        for (size_t i = 0; which != SIZE_MAX && i < a->length[which]; i++) {
            const char *word = a->first[which][i].text;
            for (; *word; word++) /* an argument in quotes: they are of the text now */
                buf_printf(&out, "%s%c", *word == '"' || *word == '\\' ? "\\" : "", *word);
        }
        c += n ? n : 1;
    }
    const char *made = arena_strdup(arena, out.bytes);
    buf_release(&out);
    return made;
}

/* The template's body with the arguments in it, as words of its own. */
static const struct token *instance(struct reader *r, const struct template *t, const struct arguments *a)
{
    struct token end = *r->t; /* whatever the template lacks is missed here */
    struct tokens made = {0};
    for (size_t i = 0; i < t->body.count; i++) {
        struct token word = t->body.items[i];
        size_t which = SIZE_MAX;
        for (size_t k = 0; word.kind == TOKEN_WORD && k < t->parameters.count; k++)
            if (strcmp(t->parameters.items[k], word.text) == 0)
                which = k;
        if (word.kind == TOKEN_STRING)
            word.text = text_with(r->p->arena, word.text, t, a);
        if (which == SIZE_MAX) {
            *vec_push(&made) = word;
            continue;
        }
        for (size_t k = 0; k < a->length[which]; k++) {
            struct token given = a->first[which][k];
            given.blank_before = given.blank_before || (k == 0 && word.blank_before);
            *vec_push(&made) = given;
        }
    }
    end.kind = TOKEN_END;
    *vec_push(&made) = end;
    *vec_push(&r->p->files) = made;
    return made.items;
}

static size_t words_so_far(const struct properties *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->files.count; i++)
        n += p->files.items[i].count;
    return n;
}

/* PROPERTY x = name<...>; */
static int read_instance(struct reader *r, struct property *p)
{
    const struct token *at = r->t;
    const char *called = name(r, "a template");
    const struct template *t = NULL;
    struct arguments a;
    if (!called || expect(r, "<", "the name of a template") < 0 || read_arguments(r, &a) < 0)
        return -1;
    for (size_t i = 0; i < r->p->templates.count; i++)
        t = strcmp(r->p->templates.items[i]->name, called) == 0 ? r->p->templates.items[i] : t;
    if (!t)
        return wrong(r, at, "there is no template '%.60s' before this", called);
    if (t->parameters.count != a.count)
        return wrong(r, at, "the template %s has %zu parameters, not %zu", t->name, t->parameters.count, a.count);
    if (words_so_far(r->p) > TOKENS_MOST)
        return wrong(r, at, "templates written out have more than %d words", TOKENS_MOST);
    struct reader inner = {.p = r->p, .t = instance(r, t, &a), .problems = r->problems};
    int status = read_body(&inner, p);
    r->wrong += inner.wrong;
    return status < 0 ? -1 : expect(r, ";", "a property made from a template");
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static int read_property(struct reader *r, bool meta, bool hypothesis)
{
    if (take(r, "TEMPLATE"))
        return read_template(r);
    const struct token *at = r->t;
    const char *called = name(r, "a property");
    if (!called)
        return -1;
    struct property *p = new_property(r, at, called, meta, hypothesis);
    size_t before = r->wrong;
    int status = take(r, "=") ? read_instance(r, p) : read_body(r, p);
    if (keep_property(r, p, status) == 0 || status == 0)
        return 0;
    /* a body that was read to its end needs no recovery */
    return r->wrong > before && r->t[-1].kind == TOKEN_SIGN && (is(&r->t[-1], "}") || is(&r->t[-1], ";")) ? 0 : -1;
}

static int read_metric(struct reader *r)
{
    struct alias a = {.name = name(r, "a metric")};
    int status = a.name ? expect(r, "=", "the name of a metric") : -1;
    while (status == 0) {
        const char *alternative = name(r, "a metric");
        if (!alternative) {
            status = -1;
            break;
        }
        *vec_push(&a.names) = alternative;
        if (!take(r, "|"))
            break;
    }
    if (status == 0)
        status = expect(r, ";", "the metrics it may be");
    if (status < 0) {
        vec_release(&a.names);
        return -1;
    }
    *vec_push(&r->p->aliases) = a;
    return 0;
}

static int read_table(struct reader *r)
{
    struct table_source s = {.table = name(r, "a table")};
    if (!s.table || expect(r, "FROM", "the name of a table") < 0 || !(s.made_by = name(r, "a command")))
        return -1;
    *vec_push(&r->p->sources) = s;
    return expect(r, ";", "where a table is from");
}

static int read_item(struct reader *r)
{
    if (take(r, "PROPERTY"))
        return read_property(r, false, false);
    if (take(r, "HYPOTHESIS"))
        return read_property(r, false, true);
    if (take(r, "METAPROPERTY"))
        return read_property(r, true, false);
    if (take(r, "METRIC"))
        return read_metric(r);
    if (take(r, "TABLE"))
        return read_table(r);
    if (take(r, "LET"))
        return read_let(r);
    wrong(r, r->t, "PROPERTY, HYPOTHESIS, METAPROPERTY, METRIC, TABLE or LET is wanted, not '%.40s'", shown(r->t));
    r->t += is(r->t, "}");
    return -1;
}

void properties_add(struct properties *p, const void *bytes, size_t len, const char *file, struct warnings *problems)
{
    struct tokens tokens = {0};
    if (len > LIMIT_CONFIG_BYTES) {
        warnings_add(problems, "%s:1:1: has more than %u bytes (LIMIT_CONFIG_BYTES)", file, LIMIT_CONFIG_BYTES);
        return;
    }
    tokens_make(p->arena, bytes, len, file, &tokens, problems);
    *vec_push(&p->files) = tokens;
    struct reader r = {.p = p, .t = tokens.items, .problems = problems};
    while (r.t->kind != TOKEN_END) {
        const struct token *before = r.t;
        if (read_item(&r) < 0)
            recover(&r);
        r.t += r.t == before && r.t->kind != TOKEN_END;
    }
}

struct properties *properties_create(void)
{
    struct properties *p = mem_calloc(1, sizeof *p);
    p->arena = arena_create();
    return p;
}

void properties_free(struct properties *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->list.count; i++)
        property_release(p->list.items[i]);
    for (size_t i = 0; i < p->aliases.count; i++)
        vec_release(&p->aliases.items[i].names);
    for (size_t i = 0; i < p->templates.count; i++) {
        vec_release(&p->templates.items[i]->parameters);
        vec_release(&p->templates.items[i]->body);
    }
    for (size_t i = 0; i < p->files.count; i++)
        vec_release(&p->files.items[i]);
    vec_release(&p->list);
    vec_release(&p->aliases);
    vec_release(&p->sources);
    vec_release(&p->templates);
    vec_release(&p->files);
    vec_release(&p->statistics);
    expr_functions_release(&p->definitions);
    arena_free(p->arena);
    mem_free(p);
}
