/* SPDX-License-Identifier: BSD-3-Clause */
/* A formula as its files see it: postfix operations over operands. expr_parse.c makes it, expr_eval.c computes with it,
 * expr_names.c knows what names look like. */
#ifndef METRICS_FORMULA_EXPR_INT_H
#define METRICS_FORMULA_EXPR_INT_H

#include "metrics/formula/formula.h"

/* Every operation. Functions: name, minimal and maximal number of operands. Operators: no name. */
#define EXPR_OPS(X)                                                                                                    \
    X(NUMBER, NULL, 0, 0)                                                                                              \
    X(TIME, NULL, 0, 0) /* a number in seconds, to be turned into the unit of the formula's times */                   \
    X(OPERAND, NULL, 0, 0)                                                                                             \
    X(PARAMETER, NULL, 0, 0) /* only in functions that a user defines */                                               \
    X(NEGATE, NULL, 1, 1)                                                                                              \
    X(NOT, NULL, 1, 1)                                                                                                 \
    X(ADD, NULL, 2, 2)                                                                                                 \
    X(SUBTRACT, NULL, 2, 2)                                                                                            \
    X(MULTIPLY, NULL, 2, 2)                                                                                            \
    X(DIVIDE, NULL, 2, 2)                                                                                              \
    X(POWER, NULL, 2, 2)                                                                                               \
    X(LESS, NULL, 2, 2)                                                                                                \
    X(NOT_ABOVE, NULL, 2, 2)                                                                                           \
    X(ABOVE, NULL, 2, 2)                                                                                               \
    X(NOT_BELOW, NULL, 2, 2)                                                                                           \
    X(EQUAL, NULL, 2, 2)                                                                                               \
    X(UNEQUAL, NULL, 2, 2)                                                                                             \
    X(AND, NULL, 2, 2)                                                                                                 \
    X(OR, NULL, 2, 2)                                                                                                  \
    X(MIN, "min", 1, EXPR_MANY)                                                                                        \
    X(MAX, "max", 1, EXPR_MANY)                                                                                        \
    X(SUM, "sum", 1, EXPR_MANY)                                                                                        \
    X(MEAN, "mean", 1, EXPR_MANY)                                                                                      \
    X(SQRT, "sqrt", 1, 1)                                                                                              \
    X(LOG, "log", 1, 1)                                                                                                \
    X(EXP, "exp", 1, 1)                                                                                                \
    X(ABS, "abs", 1, 1)                                                                                                \
    X(FLOOR, "floor", 1, 1)                                                                                            \
    X(CEIL, "ceil", 1, 1)                                                                                              \
    X(ROUND, "round", 1, 1)                                                                                            \
    X(IF, "if", 3, 3)                                                                                                  \
    X(FIRST, "or", 1, EXPR_MANY)

enum { EXPR_MANY = UINT16_MAX };

enum expr_op {
#define X(op, word, least, most) EXPR_##op,
    EXPR_OPS(X)
#undef X
        EXPR_OP_COUNT,
    EXPR_OPEN /* only on the parser's stack: a bracket */
};

struct expr_step {
    uint16_t op; /* enum expr_op */
    uint32_t n;  /* how many values it takes; OPERAND, PARAMETER: which one */
    double number;
};

struct expr {
    struct VEC(struct expr_step) steps;
    struct VEC(struct expr_operand) operands; /* distinct; names are the expression's own */
    size_t depth;                             /* values that wait at once, at most */
    double per_second;                        /* units of the formula's times in a second; 1 */
};

/* Precedence of operators; anything that is not an operator binds most. */
enum {
    EXPR_BINDS_OR = 1,
    EXPR_BINDS_AND,
    EXPR_BINDS_NOT,
    EXPR_BINDS_COMPARISON,
    EXPR_BINDS_SUM,
    EXPR_BINDS_PRODUCT,
    EXPR_BINDS_SIGN,
    EXPR_BINDS_POWER,
    EXPR_BINDS_ATOM
};

/* expr_parse.c */
int expr_op_binds(uint16_t op);
const char *expr_op_sign(uint16_t op); /* of a binary operator */
const char *expr_op_word(uint16_t op); /* of a function, else NULL */
size_t expr_values_taken(const struct expr_step *);

bool expr_is_function(const char *name); /* of the language's own */
/* The formula of a user's function, whose name and parameters are there already. */
int expr_parse_body(const struct expr_function *, const char *text, const char *what, const struct expr_functions *,
                    struct expr **, struct err *);

/* expr_names.c */
bool expr_starts_name(char c);
const char *expr_skip_blanks(const char *);
/* Reads a name at *at and moves *at behind it: bare, quoted, or of such parts, as RUN."perf::TASK-CLOCK". 1: it is
   in `name`, and `quoted` is set if a part was; 0: there is none; -1: the quote at *at is not closed. */
int expr_read_name(const char **at, struct buf *name, bool *quoted);

#endif
