/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a property file. */
#ifndef DIAGNOSE_TOKENS_H
#define DIAGNOSE_TOKENS_H

#include "support/support.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING /* in double quotes */, TOKEN_SIGN };
struct token {
    enum token_kind kind;
    bool blank_before;
    const char *text; /* strings: with their quotes, as they stand */
    const char *file;
    uint32_t line, column;
};
struct tokens VEC(struct token);
/* The last one is TOKEN_END. */
void tokens_make(struct arena *, const char *bytes, size_t len, const char *file, struct tokens *,
                 struct warnings *problems);
/* A string's text without quotes. */
char *token_unquoted(struct arena *, const char *text);
void token_problem(struct warnings *, const struct token *, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
