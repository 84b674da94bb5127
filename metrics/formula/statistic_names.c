/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of statistics of metrics, in configurations and formulas: mean(CYCLES over threads). */
#include "metrics/formula/formula.h"

static const char *const words[] = {"",          "mean",  "min", "max",   "stddev",
                                    "imbalance", "count", "",    "argmax"}; /* enum statistic */
static const char *const overs[] = {"threads", "ranks", "repetitions"};     /* enum statistic_over */

int statistic_over_parse(const char *word, enum statistic_over *over, struct err *err)
{
    size_t i = str_index(word, overs, ARRAY_SIZE(overs));
    *over = (enum statistic_over)i;
    if (i < ARRAY_SIZE(overs))
        return 0;
    return err_set(err, ERR_USAGE, "statistics are over threads, ranks or repetitions, not over '%s'", word);
}

void statistic_words(struct buf *out, enum statistic s, const char *shown, enum statistic_over over)
{
    buf_printf(out, "%s(%s over %s)", words[s], shown, overs[over]);
}

void statistic_name(struct buf *out, enum statistic s, const char *metric, enum statistic_over over)
{
    struct buf quoted = {0};
    expr_quote_name(&quoted, metric);
    statistic_words(out, s, quoted.bytes, over);
    buf_release(&quoted);
}

bool statistic_parse(const char *name, enum statistic *s, struct buf *metric, enum statistic_over *over)
{
    size_t word = strcspn(name, "("), len = strlen(name);
    *s = STAT_NONE;
    for (enum statistic i = STAT_MEAN; i <= STAT_ARGMAX; i++)
        if (word && strlen(words[i]) == word && strncmp(words[i], name, word) == 0)
            *s = i;
    for (size_t i = 0; *s && i < ARRAY_SIZE(overs); i++) {
        char *end = mem_printf(" over %s)", overs[i]);
        size_t tail = strlen(end);
        bool ends = str_ends(name, end) && len > word + 1 + tail;
        mem_free(end);
        if (!ends)
            continue;
        *over = (enum statistic_over)i;
        const char *from = name + word + 1, *to = name + len - tail;
        bool quoted = to - from > 1 && *from == '"' && to[-1] == '"';
        for (const char *c = from + quoted; c < to - quoted; c++) {
            c += quoted && *c == '\\' && c + 1 < to - quoted;
            buf_char(metric, *c);
        }
        buf_str(metric, "");
        return metric->len > 0;
    }
    return false;
}
