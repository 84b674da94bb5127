/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels of places, and titles, evidence and remedies with names and numbers filled in (diagnose/read/texts.c). */
#include "diagnose/evaluate/evaluate.h"

#include <ctype.h>
#include <math.h>

/* ---- places ---------------------------------------------------------------------------------------- */

static place_ix around(const struct experiment *e, place_ix place, uint32_t kinds)
{
    while (place != PLACE_NONE && !(1u << e->places[place].kind & kinds))
        place = e->places[place].parent;
    return place;
}

static const char *name_of(const struct experiment *e, place_ix place)
{
    return place == PLACE_NONE ? "" : strtab_get(e->strings, e->places[place].name);
}

static const char *file_of(const struct experiment *e, place_ix place)
{
    uint32_t file = place == PLACE_NONE ? SOURCE_NONE : e->places[place].file;
    return file < e->file_count ? strtab_get(e->strings, e->files[file].name) : "";
}

static void add_position(struct buf *b, const struct experiment *e, place_ix place)
{
    const struct place *p = &e->places[place];
    if (*file_of(e, place) && p->line_first)
        buf_printf(b, "%s:%u", path_base(file_of(e, place)), p->line_first);
    else if (p->line_first)
        buf_printf(b, "line %u", p->line_first);
    else
        buf_printf(b, "%#llx", (unsigned long long)p->address);
}

static void add_label(struct buf *b, const struct experiment *e, place_ix place)
{
    static const char *const roles[] = {"", "vector ", "remainder ", "unrolled "};
    const struct place *p = &e->places[place];
    switch (p->kind) {
    case PLACE_PROGRAM:
        buf_str(b, "the program");
        return;
    case PLACE_MODULE:
        buf_printf(b, "module %s", name_of(e, place));
        return;
    case PLACE_FILE:
        buf_printf(b, "file %s", name_of(e, place));
        return;
    case PLACE_PROC:
        buf_str(b, name_of(e, place));
        return;
    case PLACE_INLINE:
        buf_printf(b, "%s, inlined", name_of(e, place));
        return;
    case PLACE_LOOP:
        buf_printf(b, "%sloop at ", p->role < ARRAY_SIZE(roles) ? roles[p->role] : "");
        break;
    default:
        break;
    }
    add_position(b, e, place);
}

const char *diagnose_place_label(struct arena *arena, const struct experiment *e, place_ix place)
{
    struct buf b = {0};
    if (place == PLACE_NONE || place >= e->place_count)
        return "the program";
    add_label(&b, e, place);
    if (e->places[place].kind > PLACE_PROC) {
        place_ix in = around(e, e->places[place].parent, 1 << PLACE_PROC | 1 << PLACE_INLINE);
        buf_printf(&b, "%s%s", in == PLACE_NONE ? "" : " in ", name_of(e, in));
    }
    const char *label = arena_strdup(arena, b.bytes);
    buf_release(&b);
    return label;
}

enum { FRAMES_SHOWN = 6 };

const char *diagnose_node_label(struct arena *arena, const struct experiment *e, size_t tree, uint32_t node)
{
    struct buf b = {0};
    struct VEC(uint32_t) chain = {0};
    if (tree == TREE_SCOPES)
        return diagnose_place_label(arena, e, node);
    for (uint32_t up = node; up != NODE_NONE; up = experiment_node_parent(e, tree, up)) {
        uint8_t kind = e->places[experiment_node_place(e, tree, up)].kind;
        if (kind == PLACE_PROC || kind == PLACE_LOOP || up == node)
            *vec_push(&chain) = up;
    }
    for (size_t i = chain.count; i-- > 0;) {
        if (i >= FRAMES_SHOWN && i + 1 < chain.count) {
            buf_str(&b, i == chain.count - 2 ? " > ..." : "");
            continue;
        }
        buf_str(&b, i + 1 < chain.count ? " > " : "");
        add_label(&b, e, experiment_node_place(e, tree, chain.items[i]));
    }
    const char *label = arena_strdup(arena, b.bytes ? b.bytes : "");
    vec_release(&chain);
    buf_release(&b);
    return label;
}

/* ---- filling in --------------------------------------------------------------------------------------- */

static void add_number(struct buf *b, double v, const char *format)
{
    if (isnan(v))
        buf_str(b, "?");
    else if (*format == '%')
        buf_printf(b, "%.*f%%", fabs(v) < 0.0995 ? 1 : 0, v * 100);
    else if (*format == '.')
        buf_printf(b, "%.*f", isdigit((unsigned char)format[1]) ? format[1] - '0' : 0, v);
    else if (fabs(v) < 1e15 && v == floor(v))
        buf_printf(b, "%.0f", v);
    else
        buf_printf(b, "%.4g", v);
}

static const struct {
    const char *unit;
    double seconds, in_a_second; /* exact, as 1 / 1e-9 is not */
} times[] = {{"s", 1, 1}, {"ms", 1e-3, 1e3}, {"us", 1e-6, 1e6}, {"ns", 1e-9, 1e9}};

static void add_time(struct buf *b, double seconds)
{
    size_t i = 0;
    while (fabs(seconds) < times[i].seconds && i + 1 < ARRAY_SIZE(times))
        i++;
    buf_printf(b, fabs(seconds) >= 1000 ? "%.0f %s" : "%.3g %s", seconds * times[i].in_a_second, times[i].unit);
}

/* One of the source's unit in seconds; 0: not a time. */
static double seconds_of(const struct experiment *e, const struct source *s)
{
    const char *unit = s->kind == FROM_METRIC ? strtab_get(e->strings, e->metrics[s->metric].unit) : "";
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        if (strcmp(unit, times[i].unit) == 0)
            return times[i].seconds;
    return 0;
}

/* Has a formula the unit of its only operand? It does nothing with it, then. */
static bool is_operand_itself(const struct resolved_expr *x)
{
    static const double some[] = {3, 7.5};
    return expr_name_count(x->expr) == 1 && expr_eval(x->expr, &some[0]) == some[0] &&
           expr_eval(x->expr, &some[1]) == some[1];
}

static void add_value(struct buf *b, struct evaluator *ev, const struct resolved *of, const struct resolved_expr *x,
                      const char *format, uint32_t id)
{
    double value = resolved_value(ev, of, x, id);
    double seconds = !*format && !isnan(value) && is_operand_itself(x) ? seconds_of(ev->e, &x->sources[0]) : 0;
    if (seconds > 0)
        add_time(b, value * seconds);
    else
        add_number(b, value, format);
}

/* "rank 3", "rank 3, thread 1"; false: the row of a table refers to no process that is a rank. */
static bool add_rank(struct buf *b, const struct experiment *e, const struct table *t, uint32_t row)
{
    size_t process = t ? table_column_of(t, "process") : SIZE_MAX, number = t ? table_column_of(t, "number") : SIZE_MAX;
    if (process == SIZE_MAX || number == SIZE_MAX || row >= table_row_count(t) ||
        table_declared(t)->columns[process].type != TABLE_REF || table_row(t, row)[process].row >= e->process_count ||
        e->processes[table_row(t, row)[process].row].rank < 0)
        return false;
    buf_printf(b, "rank %d", (int)e->processes[table_row(t, row)[process].row].rank);
    if (table_row(t, row)[number].count && table_declared(t)->columns[number].type == TABLE_COUNT)
        buf_printf(b, ", thread %llu,", (unsigned long long)table_row(t, row)[number].count);
    return true;
}

static void add_cell(struct buf *b, struct arena *arena, const struct experiment *e, const struct cell_at *at,
                     const char *format)
{
    const struct table *of;
    switch (at->column->type) {
    case TABLE_TEXT:
        buf_str(b, strtab_get(e->strings, at->cell.text));
        return;
    case TABLE_NUMBER:
        add_number(b, at->cell.number, format);
        return;
    case TABLE_REF:
        if (strcmp(at->column->refers, "place") == 0 && at->cell.row < e->place_count) {
            buf_str(b, diagnose_place_label(arena, e, at->cell.row));
            return;
        }
        of = table_list_find(&e->tables, at->column->refers);
        if (add_rank(b, e, of, at->cell.row))
            return;
        for (size_t i = 0; of && i < table_declared(of)->column_count && at->cell.row < table_row_count(of); i++)
            if (table_declared(of)->columns[i].type == TABLE_TEXT) {
                buf_str(b, strtab_get(e->strings, table_row(of, at->cell.row)[i].text));
                return;
            }
        buf_printf(b, "%s %u", at->column->refers, at->cell.row);
        return;
    default:
        add_number(b, (double)at->cell.count, format);
    }
}

static void add_word(struct buf *b, struct arena *arena, const struct evaluator *ev, const struct resolved *of,
                     enum text_word word, uint32_t id)
{
    const struct experiment *e = ev->e;
    place_ix place = domain_place(ev, of->domain, id);
    switch (word) {
    case WORD_PLACE:
        buf_str(b, of->domain->table ? diagnose_place_label(arena, e, place)
                                     : diagnose_node_label(arena, e, of->domain->tree, id));
        return;
    case WORD_NAME:
        buf_str(b, name_of(e, place));
        return;
    case WORD_FILE:
        buf_str(b, file_of(e, place));
        return;
    case WORD_LINE:
        buf_printf(b, "%u", place == PLACE_NONE ? 0 : e->places[place].line_first);
        return;
    case WORD_PROCEDURE:
        buf_str(b, name_of(e, around(e, place, 1 << PLACE_PROC | 1 << PLACE_INLINE)));
        return;
    case WORD_MODULE:
        buf_str(b, name_of(e, around(e, place, 1 << PLACE_MODULE)));
        return;
    default:
        buf_str(b, of->run < e->run_count ? strtab_get(e->strings, e->runs[of->run].name) : "all runs");
    }
}

static void add_piece(struct buf *b, struct evaluator *ev, struct arena *arena, const struct resolved *of,
                      const struct piece *piece, const struct resolved_expr *expr, uint32_t id)
{
    struct cell_at at;
    if (piece->literal) {
        buf_str(b, piece->literal);
        return;
    }
    if (!piece->expr) {
        add_word(b, arena, ev, of, piece->word, id);
        return;
    }
    const struct source *s = &expr->sources[0];
    bool one = expr_name_count(expr->expr) == 1 && strcmp(expr_name(expr->expr, 0), piece->formula) == 0;
    if (one && s->kind == FROM_ROW && s->at == EXPR_HERE &&
        diagnose_cell_on_path(of->domain->table, s->through, s->columns, s->column_count, id, &at))
        add_cell(b, arena, ev->e, &at, piece->format);
    else if (one && (s->kind == FROM_NOTHING || s->kind == FROM_ROW))
        return; /* a column that the table, or the row, does not have */
    else
        add_value(b, ev, of, expr, piece->format, id);
}

static bool is_said(const struct evaluator *ev, const struct resolved *of, const struct piece *piece, uint32_t id)
{
    if (piece->condition == NONE)
        return true;
    double truth = resolved_value(ev, of, &of->conditions.items[piece->condition], id);
    return !isnan(truth) && truth != 0;
}

const char *resolved_text(struct evaluator *ev, struct arena *arena, const struct resolved *of, int which, uint32_t id)
{
    const struct property *p = of->property;
    const struct text *texts[] = {&p->title, &p->evidence, &p->explanation, &p->remedy};
    struct buf b = {0};
    size_t first = 0;
    for (int i = 0; i < which; i++)
        first += texts[i]->count;
    buf_str(&b, "");
    for (size_t i = 0; i < texts[which]->count; i++)
        if (is_said(ev, of, &texts[which]->items[i], id))
            add_piece(&b, ev, arena, of, &texts[which]->items[i], &of->pieces.items[first + i], id);
    const char *filled = arena_strdup(arena, b.bytes);
    buf_release(&b);
    return filled;
}

/* ---- evidence --------------------------------------------------------------------------------------------- */

/* Formulas put names with signs into quotes; sentences do not. */
static void add_unquoted(struct buf *b, const char *name)
{
    for (; *name; name++)
        if (*name != '"')
            buf_char(b, *name);
}

static void add_operand(struct buf *b, struct evaluator *ev, const struct resolved *of, const struct resolved_expr *x,
                        size_t k, uint32_t id, struct strtab *said)
{
    const struct source *s = &x->sources[k];
    struct buf name = {0};
    double value;
    expr_operand_text(expr_operand(x->expr, k), &name);
    size_t before = strtab_count(said);
    bool known = strtab_add(said, name.bytes) < before;
    buf_release(&name);
    resolved_operand_values(ev, of, s, &id, 1, &value);
    if (known || isnan(value) || s->kind == FROM_PLACE)
        return;
    struct expr_operand plain = *expr_operand(x->expr, k);
    if (s->kind == FROM_METRIC) /* called as it was measured; a statistic's own column says which it is */
        plain.name = (char *)strtab_get(ev->e->strings,
                                        ev->e->metrics[s->error_metric != SIZE_MAX ? s->error_metric : s->metric].name);
    if (s->kind == FROM_METRIC && s->error_metric == SIZE_MAX && plain.statistic != EXPR_STAT_SUM)
        plain.statistic = EXPR_NO_STATISTIC;
    expr_operand_text(&plain, &name);
    buf_str(b, b->len ? ", " : "");
    add_unquoted(b, name.bytes);
    buf_release(&name);
    buf_char(b, ' ');
    double seconds = seconds_of(ev->e, s);
    if (seconds > 0)
        add_time(b, value * seconds);
    else
        add_number(b, value, "");
    if (s->kind != FROM_METRIC)
        return;
    const char *unit = strtab_get(ev->e->strings, ev->e->metrics[s->metric].unit);
    uint64_t period = ev->e->metrics[s->metric].period;
    buf_printf(b, "%s%s", *unit && seconds == 0 ? " " : "", seconds == 0 ? unit : "");
    if (period && s->at == EXPR_HERE)
        buf_printf(b, " (%.0f samples)", value / (double)period);
}

const char *resolved_evidence(struct evaluator *ev, struct arena *arena, const struct resolved *of,
                              const struct candidate *c)
{
    struct buf b = {0};
    struct strtab *said = strtab_create();
    buf_str(&b, "");
    const struct resolved_expr *condition = &of->conditions.items[c->condition];
    for (size_t k = 0; k < expr_name_count(condition->expr); k++)
        add_operand(&b, ev, of, condition, k, c->id, said);
    for (size_t i = 0; i < of->severities.count; i++)
        for (size_t k = 0; k < expr_name_count(of->severities.items[i].expr); k++)
            add_operand(&b, ev, of, &of->severities.items[i], k, c->id, said);
    const char *text = arena_strdup(arena, b.bytes);
    strtab_free(said);
    buf_release(&b);
    return text;
}
