/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words to properties. The grammar stands in doc/formats/properties.md; formulas go to the metrics' engine.
 *
 * An error is noted, and reading goes on behind the next ';' or '}', so that all of them are reported at once.
 */
#include "diagnose/read/reader.h"

enum { PROPERTIES_MOST = 100000 };

/* ---- properties ------------------------------------------------------------------------------------------ */

static struct property *new_property(struct asl_reader *r, const struct token *at, const char *called, bool meta,
                                     bool hypothesis)
{
    struct property *p = arena_alloc(r->p->arena, sizeof *p);
    *p = (struct property){.name = called, .at = at, .meta = meta, .hypothesis = hypothesis, .refines = NONE};
    return p;
}

static int keep_property(struct asl_reader *r, struct property *p, int status)
{
    uint32_t known = properties_find(r->p, p->name);
    if (status == 0 && known != NONE)
        status = wrong(r, p->at, "the property %s is already defined at %s:%u", p->name,
                       r->p->list.items[known]->at->file, r->p->list.items[known]->at->line);
    if (status == 0 && r->p->list.count == PROPERTIES_MOST)
        status = wrong(r, p->at, "more than %d properties", PROPERTIES_MOST);
    if (status < 0) {
        property_release(p);
        return -1;
    }
    *vec_push(&r->p->list) = p;
    return 0;
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static int read_property(struct asl_reader *r, bool meta, bool hypothesis)
{
    if (take(r, "TEMPLATE"))
        return asl_read_template(r);
    const struct token *at = r->t;
    const char *called = name(r, "a property");
    if (!called)
        return -1;
    struct property *p = new_property(r, at, called, meta, hypothesis);
    size_t before = r->wrong;
    int status = take(r, "=") ? asl_read_instance(r, p) : asl_read_body(r, p);
    if (keep_property(r, p, status) == 0 || status == 0)
        return 0;
    /* a body that was read to its end needs no recovery */
    return r->wrong > before && r->t[-1].kind == TOKEN_SIGN && (is(&r->t[-1], "}") || is(&r->t[-1], ";")) ? 0 : -1;
}

static int read_metric(struct asl_reader *r)
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

static int read_table(struct asl_reader *r)
{
    struct table_source s = {.table = name(r, "a table")};
    if (!s.table || expect(r, "FROM", "the name of a table") < 0 || !(s.made_by = name(r, "a command")))
        return -1;
    *vec_push(&r->p->sources) = s;
    return expect(r, ";", "the source of a table");
}

static int read_item(struct asl_reader *r)
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
        return asl_read_let(r);
    wrong(r, r->t, "expected PROPERTY, HYPOTHESIS, METAPROPERTY, METRIC, TABLE or LET, not '%.40s'", shown(r->t));
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
    struct asl_reader r = {.p = p, .t = tokens.items, .problems = problems};
    while (r.t->kind != TOKEN_END) {
        const struct token *before = r.t;
        if (read_item(&r) < 0)
            asl_recover(&r);
        r.t += r.t == before && r.t->kind != TOKEN_END;
    }
}
