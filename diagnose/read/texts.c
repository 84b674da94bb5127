/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Titles, evidence and remedies: text with "{...}" in it. In the braces is a word that every finding has (place, name,
 * file, line, procedure, module, run), a column of the current table, or a formula with a format behind a colon:
 * {share(time):%}, {time / calls:.1}.
 */
#include "diagnose/read/reader.h"

static const char *const words[] = {
    [WORD_PLACE] = "place",         [WORD_NAME] = "name",     [WORD_FILE] = "file", [WORD_LINE] = "line",
    [WORD_PROCEDURE] = "procedure", [WORD_MODULE] = "module", [WORD_RUN] = "run"};

static void string_where(void *ctx, size_t offset, struct buf *out)
{
    const struct token *at = ctx;
    (void)offset;
    buf_printf(out, "%s:%u:%u", at->file, at->line, at->column);
}

static enum text_word word_of(const char *s)
{
    enum text_word word = WORD_PLACE;
    while (word < WORD_NONE && strcmp(words[word], s) != 0)
        word++;
    return word;
}

/* Cuts ":%" or ":.1" off. */
static const char *cut_format(char *inside)
{
    char *colon = strrchr(inside, ':');
    if (!colon || (colon > inside && colon[-1] == ':') || strchr(colon, '"') || strlen(colon) > 3)
        return "";
    *colon = '\0';
    return colon + 1;
}

static int parse_piece(struct arena *arena, const char *inside, size_t len, const struct token *at,
                       const struct expr_functions *functions, struct text *text, struct err *err)
{
    char *formula = arena_strndup(arena, inside, len);
    struct piece *piece = vec_push(text);
    *piece = (struct piece){.formula = formula, .format = cut_format(formula)};
    piece->word = word_of(formula);
    if (piece->word != WORD_NONE)
        return 0;
    struct expr_input in = {
        .text = formula, .what = at->file, .functions = functions, .where = string_where, .ctx = (void *)at};
    return expr_parse_input(&in, &piece->expr, err);
}

int property_text_parse(struct arena *arena, const char *string, const struct token *at,
                        const struct expr_functions *functions, struct text *text, struct err *err)
{
    for (const char *c = string; *c;) {
        size_t n = strcspn(c, "{");
        if (n)
            *vec_push(text) = (struct piece){.literal = arena_strndup(arena, c, n)};
        c += n;
        if (!*c)
            break;
        n = strcspn(c, "}");
        if (!c[n])
            return err_set(err, ERR_FORMAT, "%s:%u:%u: '{' in a text is not closed", at->file, at->line, at->column);
        if (parse_piece(arena, c + 1, n - 1, at, functions, text, err) < 0)
            return -1;
        c += n + 1;
    }
    return 0;
}
