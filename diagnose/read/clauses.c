/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a property. Formulas go to the metrics' engine with a way to say where their characters stand. */
#include "diagnose/read/reader.h"

/* ---- formulas ------------------------------------------------------------------------------------- */

struct formula_text { /* words with blanks as in the file; offsets lead back to them */
    struct buf text;
    struct VEC(size_t) offset; /* by word */
    const struct token *first;
};

static void formula_where(void *ctx, size_t offset, struct buf *out)
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

static void collect(struct asl_reader *r, enum ends ends, struct formula_text *f)
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

static struct expr_input input_of(struct asl_reader *r, struct formula_text *f)
{
    return (struct expr_input){.text = f->text.bytes,
                               .what = f->first->file,
                               .functions = &r->p->definitions,
                               .where = formula_where,
                               .ctx = f};
}

static struct expr *formula(struct asl_reader *r, enum ends ends)
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
int asl_read_let(struct asl_reader *r)
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

/* "or(x, y)" is a function, and an operand. */
static bool begins_operand(const struct token *t)
{
    bool is_function = is(t, "or") && is(&t[1], "(") && !t[1].blank_before;
    return t->kind == TOKEN_NUMBER || t->kind == TOKEN_STRING || is(t, "(") || is(t, "-") || is_function ||
           (t->kind == TOKEN_WORD && !is(t, "AND") && !is(t, "OR") && !is(t, "and") && !is(t, "or"));
}

/* "(id)" before a condition, or before "->". */
static bool has_id(const struct asl_reader *r, bool arrow)
{
    const struct token *t = r->t;
    return is(t, "(") && t[1].kind == TOKEN_WORD && is(&t[2], ")") && (arrow ? is(&t[3], "->") : begins_operand(&t[3]));
}

static int read_conditions(struct asl_reader *r, struct property *p)
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

/* "(id) ->": the following expression applies if that condition holds. */
static int read_guard(struct asl_reader *r, const struct property *p, uint32_t *condition)
{
    *condition = NONE;
    if (!has_id(r, true))
        return 0;
    const struct token *id = &r->t[1];
    for (uint32_t i = 0; i < p->conditions.count; i++)
        if (strcmp(p->conditions.items[i].id, id->text) == 0)
            *condition = i;
    if (*condition == NONE)
        return wrong(r, id, "no condition is named '%.60s'", id->text);
    r->t += 4;
    return 0;
}

static int read_guarded(struct asl_reader *r, struct property *p, struct guarded *g, enum ends ends)
{
    if (read_guard(r, p, &g->condition) < 0)
        return -1;
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

static int read_values(struct asl_reader *r, struct property *p, void *list)
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

static int read_kind(struct asl_reader *r, uint32_t *kinds)
{
    for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
        if (take(r, kind_words[i].word)) {
            *kinds |= kind_words[i].kind;
            return 0;
        }
    return wrong(r, r->t,
                 "unknown kind of place '%.40s'; available: PROGRAM, MODULE, FILE, PROCEDURE, INLINE, LOOP, INNERMOST, "
                 "LINE, PATH, ROWS OF a table",
                 shown(r->t));
}

static int read_for(struct asl_reader *r, struct property *p)
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

/* (LOOP l, PROCEDURE p): a kind of place determines its domain; other types are the papers' and have no effect. */
static int read_context(struct asl_reader *r, struct property *p)
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

/* One text, in as many strings as it likes. */
static int read_strings(struct asl_reader *r, struct text *text)
{
    struct buf all = {0};
    const struct token *at = r->t;
    struct err err = {0};
    if (r->t->kind != TOKEN_STRING)
        return wrong(r, r->t, "expected a quoted text, not '%.40s'", shown(r->t));
    for (; r->t->kind == TOKEN_STRING; r->t++) {
        buf_str(&all, all.len && all.bytes[all.len - 1] != ' ' ? " " : "");
        buf_str(&all, token_unquoted(r->p->arena, r->t->text));
    }
    int status = property_text_parse(r->p->arena, all.bytes, at, &r->p->definitions, text, &err);
    if (status < 0) {
        warnings_add(r->problems, "%s", err.msg);
        r->wrong++;
    }
    buf_release(&all);
    return status;
}

static int read_text(struct asl_reader *r, const struct property *p, struct text *text)
{
    do {
        uint32_t condition;
        size_t first = text->count;
        if (read_guard(r, p, &condition) < 0 || read_strings(r, text) < 0)
            return -1;
        for (size_t i = first; i < text->count; i++)
            text->items[i].condition = condition;
    } while (take(r, ","));
    return 0;
}

static int read_needs(struct asl_reader *r, struct property *p)
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
static int read_where(struct asl_reader *r, struct property *p)
{
    do {
        struct row_filter f = {.what = name(r, "a column, or a property of a place")};
        if (!f.what || expect(r, "IS", "the name") < 0)
            return -1;
        f.not = take(r, "NOT");
        if (r->t->kind != TOKEN_STRING)
            return wrong(r, r->t, "expected a quoted pattern after IS, not '%.40s'", shown(r->t));
        f.globs = token_unquoted(r->p->arena, (r->t++)->text);
        *vec_push(&p->filters) = f;
    } while (take(r, "AND"));
    return 0;
}

static int read_refines(struct asl_reader *r, struct property *p)
{
    p->refines_at = r->t;
    p->refines_name = name(r, "a property");
    return p->refines_name ? 0 : -1;
}

static int read_clause(struct asl_reader *r, struct property *p)
{
    static const char *const words[] = {"CONDITION",   "CONFIDENCE", "SEVERITY", "TITLE", "EVIDENCE",
                                        "EXPLANATION", "REMEDY",     "REFINES",  "NEEDS", "FOR",
                                        "WHERE",       "AT",         "TOGETHER", "LEAST"};
    size_t i = 0;
    const struct token *at = r->t;
    while (i < ARRAY_SIZE(words) && !is(r->t, words[i]))
        i++;
    if (i == ARRAY_SIZE(words)) {
        const char *names[ARRAY_SIZE(words) + 1] = {0};
        memcpy(names, words, sizeof words);
        const char *near = at->kind == TOKEN_WORD ? str_nearest(at->text, names) : NULL;
        return wrong(r, at, "unknown part of a property '%.40s'%s%s%s", shown(at), near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "; available: CONDITION, CONFIDENCE, SEVERITY, TITLE, ...");
    }
    r->t++;
    take(r, ":");
    int status = i == 0    ? read_conditions(r, p)
                 : i == 1  ? read_values(r, p, &p->confidences)
                 : i == 2  ? read_values(r, p, &p->severities)
                 : i == 3  ? read_text(r, p, &p->title)
                 : i == 4  ? read_text(r, p, &p->evidence)
                 : i == 5  ? read_text(r, p, &p->explanation)
                 : i == 6  ? read_text(r, p, &p->remedy)
                 : i == 7  ? read_refines(r, p)
                 : i == 8  ? read_needs(r, p)
                 : i == 9  ? read_for(r, p)
                 : i == 10 ? read_where(r, p)
                 : i == 12 ? !(p->together = true)
                 : i == 13 ? read_values(r, p, &p->leasts)
                           : ((p->at_column = name(r, "a column")) ? 0 : -1);
    return status < 0 ? -1 : expect(r, ";", at->text);
}

/* ---- all of a property -------------------------------------------------------------------------------- */

void asl_recover(struct asl_reader *r)
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

/* Every property's clauses. */
static void check_property(struct asl_reader *r, struct property *p)
{
    if (p->conditions.count == 0)
        wrong(r, p->at, "the property %s has no CONDITION", p->name);
    if (p->severities.count == 0 && !p->hypothesis)
        wrong(r, p->at, "the property %s has no SEVERITY, in percent of the run", p->name);
    if (p->meta && p->table)
        wrong(r, p->at, "the property %s is about rows of a table and cannot combine others", p->name);
    if (p->kinds == 0 && !p->table)
        p->kinds = 1 << PLACE_PROGRAM | 1 << PLACE_PROC | 1 << PLACE_LOOP;
}

int asl_read_body(struct asl_reader *r, struct property *p)
{
    size_t definitions = r->p->definitions.count, before = r->wrong;
    int status = read_context(r, p);
    if (status == 0)
        status = expect(r, "{", "the context of a property");
    if (status < 0)
        return -1;
    while (!is(r->t, "}") && r->t->kind != TOKEN_END) {
        int clause = take(r, "LET") ? asl_read_let(r) : take(r, "IN") ? 0 : read_clause(r, p);
        if (clause == 0 && r->t[-1].kind == TOKEN_SIGN && is(&r->t[-1], ";"))
            while (r->t->kind == TOKEN_WORD && is(&r->t[1], "=") && asl_read_let(r) == 0) /* LET a = 1; b = 2; IN */
                ;
        if (clause < 0)
            asl_recover(r);
    }
    expr_functions_truncate(&r->p->definitions, definitions);
    if (expect(r, "}", "the last part of a property") < 0)
        return -1;
    take(r, ";");
    check_property(r, p);
    return r->wrong == before ? 0 : -1;
}
