/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a property file. Comments are C's two kinds, and '#' at the beginning of a line. */
#include "diagnose/read/tokens.h"

#include <ctype.h>

struct lexer {
    struct arena *arena;
    const char *at, *end, *file;
    uint32_t line, column;
    struct tokens *out;
    struct warnings *problems;
};

void token_problem(struct warnings *problems, const struct token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *said = mem_vprintf(fmt, args);
    va_end(args);
    warnings_add(problems, "%s:%u:%u: %s", at->file, at->line, at->column, said);
    mem_free(said);
}

static char look(const struct lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->at) > ahead ? l->at[ahead] : '\0';
}

static void step(struct lexer *l)
{
    if (*l->at == '\n') {
        l->line++;
        l->column = 1;
    } else
        l->column += ((unsigned char)*l->at & 0xc0) != 0x80;
    l->at++;
}

static struct token here(const struct lexer *l)
{
    return (struct token){.file = l->file, .line = l->line, .column = l->column};
}

static void skip_line(struct lexer *l)
{
    while (l->at < l->end && *l->at != '\n')
        step(l);
}

static void skip_comment(struct lexer *l)
{
    struct token begin = here(l);
    step(l);
    step(l);
    while (l->at < l->end && !(look(l, 0) == '*' && look(l, 1) == '/'))
        step(l);
    if (l->at == l->end) {
        token_problem(l->problems, &begin, "this comment is not closed; '*/' is missing");
        return;
    }
    step(l);
    step(l);
}

/* Moves to the next word; true: there was a gap before it. */
static bool skip_blank(struct lexer *l)
{
    const char *begin = l->at;
    for (;;) {
        char c = look(l, 0);
        if (l->at < l->end && (isspace((unsigned char)c) || c == '\0'))
            step(l);
        else if ((c == '/' && look(l, 1) == '/') || (c == '#' && l->column == 1))
            skip_line(l);
        else if (c == '/' && look(l, 1) == '*')
            skip_comment(l);
        else
            return l->at > begin;
    }
}

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* A ':' continues a name before another one alone: CONDITION: is a word and a sign. */
static void read_word(struct lexer *l)
{
    while (l->at < l->end) {
        char c = *l->at;
        if (c == ':' && look(l, 1) == ':' && starts_word(look(l, 2)))
            step(l);
        else if (!starts_word(c) && !isdigit((unsigned char)c) && c != '.')
            return;
        step(l);
    }
}

static void read_number(struct lexer *l)
{
    while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '.' || *l->at == '%' ||
                              ((*l->at == '+' || *l->at == '-') && (l->at[-1] == 'e' || l->at[-1] == 'E'))))
        step(l);
}

static void read_string(struct lexer *l, const struct token *begin)
{
    char quote = *l->at;
    step(l);
    while (l->at < l->end && *l->at != quote) {
        if (*l->at == '\\' && l->at + 1 < l->end)
            step(l);
        step(l);
    }
    if (l->at == l->end)
        token_problem(l->problems, begin, "the quote %c is not closed", quote);
    else
        step(l);
}

static void read_sign(struct lexer *l)
{
    static const char *const two[] = {"->", "<=", ">=", "==", "!="};
    for (size_t i = 0; i < ARRAY_SIZE(two); i++)
        if (look(l, 0) == two[i][0] && look(l, 1) == two[i][1]) {
            step(l);
            break;
        }
    step(l);
}

static void read_token(struct lexer *l, struct token *t)
{
    const char *begin = l->at;
    char c = *begin;
    if (starts_word(c)) {
        t->kind = TOKEN_WORD;
        read_word(l);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(l, 1)))) {
        t->kind = TOKEN_NUMBER;
        read_number(l);
    } else if (c == '"' || c == '\'') {
        t->kind = TOKEN_STRING;
        read_string(l, t);
    } else {
        t->kind = TOKEN_SIGN;
        read_sign(l);
    }
    t->text = arena_strndup(l->arena, begin, (size_t)(l->at - begin));
}

void tokens_make(struct arena *arena, const char *bytes, size_t len, const char *file, struct tokens *out,
                 struct warnings *problems)
{
    struct lexer l = {.arena = arena,
                      .at = bytes,
                      .end = bytes + len,
                      .file = arena_strdup(arena, file),
                      .line = 1,
                      .column = 1,
                      .out = out,
                      .problems = problems};
    for (;;) {
        bool blank = skip_blank(&l);
        struct token t = here(&l);
        t.blank_before = blank;
        t.text = "";
        if (l.at < l.end)
            read_token(&l, &t);
        *vec_push(out) = t;
        if (t.kind == TOKEN_END)
            return;
    }
}

char *token_unquoted(struct arena *arena, const char *text)
{
    char *plain = arena_strdup(arena, text), *to = plain;
    size_t n = strlen(text);
    size_t end = n > 1 && text[n - 1] == text[0] ? n - 1 : n;
    for (size_t i = 1; i < end; i++) {
        if (text[i] == '\\' && i + 1 < end) {
            i++;
            *to++ = text[i] == 'n' ? '\n' : text[i];
        } else if (text[i] == '\n' || text[i] == '\t' || (text[i] == ' ' && to > plain && to[-1] == ' ')) {
            if (to > plain && to[-1] != ' ') /* a text over several lines is one */
                *to++ = ' ';
        } else
            *to++ = text[i];
    }
    *to = '\0';
    return plain;
}
