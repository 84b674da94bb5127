/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates: words that are kept, and read again with the arguments for their parameters. */
#include "diagnose/read/reader.h"

enum { TOKENS_MOST = 4 << 20, NESTED_MOST = 100 };

/* Copies words up to the brace that closes the first one. */
static int copy_body(struct asl_reader *r, struct tokens *to)
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

int asl_read_template(struct asl_reader *r)
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
            return wrong(r, at, "the template %s is already defined", t->name);
    return copy_body(r, &t->body);
}

struct arguments {
    const struct token *first[LIMIT_EXPR_PARAMETERS];
    size_t length[LIMIT_EXPR_PARAMETERS], count;
};

/* Moves behind '>'. */
static int read_arguments(struct asl_reader *r, struct arguments *a)
{
    *a = (struct arguments){.count = 0};
    for (;;) {
        if (a->count == LIMIT_EXPR_PARAMETERS)
            return wrong(r, r->t, "a template has at most %d parameters", LIMIT_EXPR_PARAMETERS);
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

/* The template's body with its arguments, as words of its own. */
static const struct token *instance(struct asl_reader *r, const struct template *t, const struct arguments *a)
{
    struct token end = *r->t; /* syntax errors of the template are found here */
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
int asl_read_instance(struct asl_reader *r, struct property *p)
{
    const struct token *at = r->t;
    const char *called = name(r, "a template");
    const struct template *t = NULL;
    struct arguments a;
    if (!called || expect(r, "<", "the name of a template") < 0 || read_arguments(r, &a) < 0)
        return -1;
    for (size_t i = 0; !t && i < r->p->templates.count; i++) /* the first: another one of its name was refused */
        t = strcmp(r->p->templates.items[i]->name, called) == 0 ? r->p->templates.items[i] : NULL;
    if (!t)
        return wrong(r, at, "no template '%.60s' is defined before this", called);
    if (t->parameters.count != a.count)
        return wrong(r, at, "the template %s has %zu parameters, not %zu", t->name, t->parameters.count, a.count);
    if (words_so_far(r->p) > TOKENS_MOST)
        return wrong(r, at, "expanded templates have more than %d words", TOKENS_MOST);
    struct asl_reader inner = {.p = r->p, .t = instance(r, t, &a), .problems = r->problems};
    int status = asl_read_body(&inner, p);
    r->wrong += inner.wrong;
    return status < 0 ? -1 : expect(r, ";", "a property made from a template");
}
