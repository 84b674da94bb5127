/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as rows of a table. */
#include "driver/driver.h"

#include <stdio.h>
#include <stdlib.h>

const char *const *string_list_array(struct string_list *list)
{
    vec_reserve(list, list->count + 1);
    list->items[list->count] = NULL;
    return list->items;
}

struct string_list string_list_copy(const struct string_list *list)
{
    struct string_list copy = {0};
    for (size_t i = 0; i < list->count; i++)
        *vec_push(&copy) = list->items[i];
    return copy;
}

/* The row, and where its value is. */
static const struct option_row *find(const struct command *cmd, const char *name, size_t len, char letter, void **where)
{
    for (const struct option_table *table = cmd->options; table && table->rows; table++)
        for (const struct option_row *row = table->rows; row->name; row++)
            if (letter ? row->letter == letter : strlen(row->name) == len && memcmp(row->name, name, len) == 0) {
                *where = (char *)table->values + row->at;
                return row;
            }
    return NULL;
}

static int unknown(const struct command *cmd, const struct option_row *others, const char *word, struct err *err)
{
    const char *names[64];
    size_t n = 0;
    if (others && others->type == OPT_OTHERS)
        return err_set(err, ERR_USAGE, "%s: no option '%s'; %s", cmd->name, word, others->help);
    for (const struct option_table *table = cmd->options; table && table->rows; table++)
        for (const struct option_row *row = table->rows; row->name && n < ARRAY_SIZE(names) - 1; row++)
            if (row->type != OPT_OTHERS)
                names[n++] = row->name;
    names[n] = NULL;
    const char *near = word[1] == '-' ? str_nearest(word + 2, names) : NULL;
    if (near)
        return err_set(err, ERR_USAGE, "%s: no option '%s'; did you mean '--%s'?", cmd->name, word, near);
    return err_set(err, ERR_USAGE, "%s: no option '%s'; 'hpcview %s --help' lists them", cmd->name, word, cmd->name);
}

static int store(const struct command *cmd, const struct option_row *row, void *where, const char *value,
                 struct err *err)
{
    char *end;
    switch (row->type) {
    case OPT_OTHERS:
        break;
    case OPT_FLAG:
        *(bool *)where = true;
        return 0;
    case OPT_STRING:
        *(const char **)where = value;
        return 0;
    case OPT_LIST:
        *vec_push((struct string_list *)where) = value;
        return 0;
    case OPT_COUNT: {
        unsigned long n = strtoul(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || n > 1000000000)
            return err_set(err, ERR_USAGE, "%s: --%s needs an integer, not '%s'", cmd->name, row->name, value);
        *(unsigned *)where = (unsigned)n;
        return 0;
    }
    case OPT_SECONDS: {
        double seconds = str_seconds(value);
        if (seconds < 0)
            return err_set(err, ERR_USAGE, "%s: --%s needs a time such as 1.5 (seconds) or 20ms, not '%s'", cmd->name,
                           row->name, value);
        *(double *)where = seconds;
        return 0;
    }
    }
    return 0;
}

/* The value of a row that needs one: the rest of the word, or the next word. */
static int store_value(const struct command *cmd, const struct option_row *row, void *where, const char *value,
                       char **argv, int *used, struct err *err)
{
    if (!value) {
        value = argv[1];
        if (!value)
            return err_set(err, ERR_USAGE, "%s: %s needs an argument: %s", cmd->name, argv[0], row->arg);
        *used = 2;
    }
    return store(cmd, row, where, value, err);
}

/* "-x", "-xvalue", or several flags: "-xyz", "-xyzvalue". */
static int parse_letters(const struct command *cmd, char **argv, int *used, struct err *err)
{
    for (const char *letter = argv[0] + 1; *letter; letter++) {
        void *where;
        const struct option_row *row = find(cmd, NULL, 0, *letter, &where);
        if (!row || row->type == OPT_OTHERS)
            return unknown(cmd, row, argv[0], err);
        if (row->type != OPT_FLAG)
            return store_value(cmd, row, where, letter[1] ? letter + 1 : NULL, argv, used, err);
        store(cmd, row, where, NULL, err);
    }
    return 0;
}

/* "--name" or "--name=value". */
static int parse_name(const struct command *cmd, char **argv, int *used, struct err *err)
{
    const char *word = argv[0], *value = strchr(word, '=');
    void *where;
    const struct option_row *row =
        find(cmd, word + 2, value ? (size_t)(value - word - 2) : strlen(word + 2), 0, &where);
    if (!row || row->type == OPT_OTHERS || (row->type == OPT_FLAG && value))
        return unknown(cmd, row, word, err);
    return row->type == OPT_FLAG ? store(cmd, row, where, NULL, err)
                                 : store_value(cmd, row, where, value ? value + 1 : NULL, argv, used, err);
}

int options_parse(const struct command *cmd, int *argc, char **argv, bool *help, struct err *err)
{
    int operands = 0, i = 0;
    *help = false;
    while (i < *argc) {
        char *word = argv[i];
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (cmd->stops_at_operand)
                break;
            argv[operands++] = word;
            i++;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            *help = true;
            return 0;
        }
        int used = 1;
        if ((word[1] == '-' ? parse_name : parse_letters)(cmd, argv + i, &used, err) < 0)
            return -1;
        i += used;
    }
    while (i < *argc)
        argv[operands++] = argv[i++];
    argv[operands] = NULL;
    *argc = operands;
    return 0;
}

void options_words(const struct command *cmd)
{
    for (const struct option_table *table = cmd->options; table && table->rows; table++)
        for (const struct option_row *row = table->rows; row->name; row++)
            if (row->type != OPT_OTHERS)
                printf("--%s\t%s\n", row->name, row->help);
    printf("--help\tshow this help\n");
}

void options_help(const struct command *cmd)
{
    printf("Usage: hpcview %s %s\n\n%s.\n", cmd->name, cmd->synopsis, cmd->summary);
    for (const struct option_table *table = cmd->options; table && table->rows; table++) {
        printf("\n%s:\n", table->title);
        for (const struct option_row *row = table->rows; row->name; row++) {
            char left[80];
            if (row->type == OPT_OTHERS)
                continue;
            snprintf(left, sizeof left, "  %c%c%s --%s%s%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
                     row->letter ? "," : " ", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
            printf("%-30s %s\n", left, row->help);
        }
    }
    printf("%-30s %s\n", "  -h, --help", "show this help");
}
