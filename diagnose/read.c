/*
 * Words to properties. The grammar stands in doc/formats/properties.md; formulas go to the metrics' engine.
 *
 * What is wrong is noted, and reading goes on behind the next ';' or '}', so that all of it is said at once.
 */
#include "diagnose/read_int.h"

enum { PROPERTIES_MOST = 100000 };

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
/* ---- properties ------------------------------------------------------------------------------------------ */

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

int read_body(struct reader *r, struct property *p)
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
