/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print --by instruction: the machine code of sampled procedures, the costliest procedure first.
 *
 *     heat_solve at heat.c:40 in heat: 94.2% of CYCLES
 *        %  CYCLES  address  loops  instruction              uops  ports    latency
 *                                   heat.c:54  sum += a[i] * b[i];
 *     12.1     121     1184  /      vmovsd (%rdi,%rax,8),%xmm1  1  23b            7
 *     31.0     310     118a  |   *  vfmadd231sd ...             1  01 23b        11
 *      0.4       4     1190  \  ^   jne 0x1184                  1  06
 *
 * Loops are brackets, '>' is the target of a jump inside of the procedure, '^' and 'v' are jumps up and down, '*' is on
 * the longest loop-carried dependency chain.
 */
#include "metrics/report/report.h"

#include <math.h>
#include <stdlib.h>

enum {
    INSN_PROCEDURE,
    INSN_BUILD,
    INSN_ADDRESS,
    INSN_PLACE,
    INSN_FILE,
    INSN_LINE,
    INSN_TEXT,
    INSN_TARGET,
    INSN_LOOP,
    INSN_AROUND,
    INSN_UOPS,
    INSN_PORTS,
    INSN_LATENCY,
    INSN_CHAIN,
    INSN_CORE
};                     /* as instructions.c declares them */
enum { DEEPEST = 12 }; /* loops around each other that have a bracket */

struct code_piece { /* rows of one procedure in one build */
    size_t first, count;
    place_ix procedure;
    double weight;
};

struct loop_rows {
    uint64_t header, around;
    size_t first, last; /* rows that it holds */
    unsigned depth;     /* 0: outermost */
};

struct code {
    const struct view *t;
    const struct table *insns;
    double *values; /* by row and metric */
    struct VEC(struct code_piece) pieces;
    struct VEC(struct loop_rows) loops; /* of the piece that is written */
    uint8_t *led_to;                    /* by row: a jump of its procedure leads to it */
    struct source_text {                /* one file at a time: lines of a procedure are of few */
        uint32_t file;
        struct filemap map;
        bool open;
    } text;
};

static const union table_cell *cells(const struct code *c, size_t row)
{
    return table_row(c->insns, row);
}

static double value_of(const struct code *c, size_t row, size_t metric)
{
    return c->values[row * c->t->e->metric_count + metric];
}

/* ---- what was counted ---------------------------------------------------------------------- */

static void take_values(struct code *c)
{
    const struct experiment *e = c->t->e;
    const struct table *counts = instructions_counts_of(e);
    size_t rows = table_row_count(c->insns), n = e->metric_count;
    double *own = mem_alloc(n * sizeof *own);
    c->values = mem_alloc(rows * n * sizeof *c->values);
    for (size_t i = 0; i < rows * n; i++)
        c->values[i] = NAN;
    for (size_t i = 0; counts && i < table_row_count(counts); i++) {
        const union table_cell *cell = table_row(counts, i);
        if (cell[0].row < rows && cell[1].row < n)
            c->values[cell[0].row * n + cell[1].row] = (double)cell[2].count;
    }
    for (size_t row = 0; row < rows; row++) {
        memcpy(own, c->values + row * n, n * sizeof *own);
        for (size_t m = 0; m < n; m++)
            if (e->metrics[m].formula)
                c->values[row * n + m] = experiment_compute(e, m, own);
    }
    mem_free(own);
}

/* ---- procedures ------------------------------------------------------------------------------ */

static int heaviest_first(const void *a, const void *b)
{
    const struct code_piece *x = a, *y = b;
    return order_of(y->weight, x->weight) ?: order_of(x->first, y->first);
}

static void find_pieces(struct code *c)
{
    const struct view *t = c->t;
    double whole = experiment_value(t->e, t->sort_metric, 0, VALUE_INCLUSIVE);
    size_t rows = table_row_count(c->insns);
    for (size_t from = 0, to; from < rows; from = to) {
        struct code_piece p = {.first = from, .procedure = cells(c, from)[INSN_PROCEDURE].row};
        uint64_t build = cells(c, from)[INSN_BUILD].count;
        for (to = from;
             to < rows && cells(c, to)[INSN_PROCEDURE].row == p.procedure && cells(c, to)[INSN_BUILD].count == build;
             to++)
            if (!isnan(value_of(c, to, t->sort_metric)))
                p.weight += value_of(c, to, t->sort_metric);
        p.count = to - from;
        bool small = t->options->threshold > 0 && !(p.weight >= t->options->threshold / 100 * whole);
        if (!small && p.procedure < t->e->place_count && (!t->in_scope || t->in_scope[p.procedure]))
            *vec_push(&c->pieces) = p;
    }
    vec_sort(&c->pieces, heaviest_first);
    if (t->options->top && t->options->top < c->pieces.count)
        c->pieces.count = t->options->top;
}

/* ---- loops and jumps --------------------------------------------------------------------------- */

static struct loop_rows *loop_with(struct code *c, uint64_t header)
{
    for (size_t i = 0; i < c->loops.count; i++)
        if (c->loops.items[i].header == header)
            return &c->loops.items[i];
    return NULL;
}

/* The rows come in their order. A loop that has this one already was come to in a circle, as a damaged database may have. */
static void stretch(struct code *c, size_t row)
{
    uint64_t header = cells(c, row)[INSN_LOOP].count;
    for (struct loop_rows *l; (l = loop_with(c, header)) && (l->first > row || l->last < row); header = l->around) {
        l->first = row < l->first ? row : l->first;
        l->last = row;
    }
}

static void find_depths(struct code *c)
{
    for (size_t i = 0; i < c->loops.count; i++) {
        const struct loop_rows *up = &c->loops.items[i];
        for (unsigned depth = 0; depth < DEEPEST && (up = loop_with(c, up->around)); depth++)
            c->loops.items[i].depth++;
    }
}

static size_t row_at(const struct code *c, const struct code_piece *p, uint64_t address)
{
    size_t low = p->first + sorted_front(p->count, i, cells(c, p->first + i)[INSN_ADDRESS].count < address);
    return low < p->first + p->count && cells(c, low)[INSN_ADDRESS].count == address ? low : SIZE_MAX;
}

static void find_shape(struct code *c, const struct code_piece *p)
{
    c->loops.count = 0;
    for (size_t row = p->first; row < p->first + p->count; row++) {
        const union table_cell *cell = cells(c, row);
        if (cell[INSN_LOOP].count != TABLE_NO_COUNT && !loop_with(c, cell[INSN_LOOP].count))
            *vec_push(&c->loops) = (struct loop_rows){cell[INSN_LOOP].count, cell[INSN_AROUND].count, SIZE_MAX, 0, 0};
        size_t target = row_at(c, p, cell[INSN_TARGET].count);
        if (target != SIZE_MAX)
            c->led_to[target] = 1;
    }
    for (size_t row = p->first; row < p->first + p->count; row++)
        stretch(c, row);
    find_depths(c);
}

/* "|/ "; of the source line before the row: those that continue from the row before. */
static char *brackets_of(const struct code *c, size_t row, bool source)
{
    char text[DEEPEST + 2];
    unsigned depth = 0;
    memset(text, ' ', sizeof text);
    for (size_t i = 0; i < c->loops.count; i++) {
        const struct loop_rows *l = &c->loops.items[i];
        if (row < l->first + source || row > l->last)
            continue;
        text[l->depth] = source ? '|' : l->first == l->last ? '[' : row == l->first ? '/' : row == l->last ? '\\' : '|';
        depth = l->depth + 1 > depth ? l->depth + 1 : depth;
    }
    return mem_strndup(text, depth);
}

static char *marks_of(const struct code *c, const struct code_piece *p, size_t row)
{
    size_t target = row_at(c, p, cells(c, row)[INSN_TARGET].count);
    return mem_printf("%c%c%c", c->led_to[row] ? '>' : ' ',
                      target == SIZE_MAX ? ' '
                      : target <= row    ? '^'
                                         : 'v',
                      cells(c, row)[INSN_CHAIN].count == 1 ? '*' : ' ');
}

/* ---- lines of the source ------------------------------------------------------------------------ */

static bool open_text(struct code *c, uint32_t file)
{
    struct source_text *s = &c->text;
    const struct experiment *e = c->t->e;
    if (s->file == file)
        return s->open;
    if (s->open)
        filemap_release(&s->map);
    struct err ignored;
    const char *found = strtab_get(e->strings, e->files[file].found);
    s->file = file;
    s->open = *found && filemap_open(&s->map, found, &ignored) == 0;
    return s->open;
}

/* The line without its leading blanks; "" if it is not available. */
static char *line_text(struct code *c, uint32_t file, uint64_t line)
{
    enum { SHOWN = 100 };
    if (file >= c->t->e->file_count || !open_text(c, file))
        return mem_strdup("");
    const char *p = (const char *)c->text.map.bytes, *end = p + c->text.map.len, *next;
    for (; line > 1 && p < end && (next = memchr(p, '\n', (size_t)(end - p))); line--)
        p = next + 1;
    if (line > 1 || p == end)
        return mem_strdup("");
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    next = memchr(p, '\n', (size_t)(end - p));
    size_t n = next ? (size_t)(next - p) : (size_t)(end - p);
    return mem_strndup(p, n < SHOWN ? n : SHOWN);
}

/* ---- text --------------------------------------------------------------------------------------- */

static void begin_piece(const struct code *c, const struct code_piece *p, struct buf *b)
{
    const struct experiment *e = c->t->e;
    const struct place *place = &e->places[p->procedure];
    place_ix module = experiment_enclosing(e, p->procedure, PLACE_MODULE);
    double whole = experiment_value(e, c->t->sort_metric, 0, VALUE_INCLUSIVE);
    buf_safe(b, strtab_get(e->strings, place->full_name));
    if (place->file != SOURCE_NONE) {
        buf_str(b, " at ");
        buf_safe(b, strtab_get(e->strings, e->files[place->file].name));
        buf_printf(b, ":%u", place->line_first);
    }
    if (module != PLACE_NONE) {
        buf_str(b, " in ");
        buf_safe(b, strtab_get(e->strings, e->places[module].name));
    }
    if (whole > 0) {
        buf_printf(b, ": %.1f%% of ", 100 * p->weight / whole);
        buf_safe(b, strtab_get(e->strings, e->metrics[c->t->sort_metric].display_name));
    }
    buf_char(b, '\n');
}

/* A row of the source between the instructions: in the column of these. */
static char *source_row(struct code *c, size_t row, const char *before)
{
    const struct experiment *e = c->t->e;
    const union table_cell *cell = cells(c, row);
    if (cell[INSN_LINE].count == TABLE_NO_COUNT)
        return NULL;
    uint32_t file = cell[INSN_FILE].row;
    const char *name = file < e->file_count ? path_base(strtab_get(e->strings, e->files[file].name)) : "another file";
    char *text = line_text(c, file, cell[INSN_LINE].count);
    char *whole = mem_printf("%s:%llu  %s", name, (unsigned long long)cell[INSN_LINE].count, text);
    mem_free(text);
    if (strcmp(whole, before) != 0)
        return whole;
    mem_free(whole);
    return NULL;
}

struct columns_of_code {
    struct text_table table;
    size_t percent, metrics, address, loops, marks, text, uops; /* numbers of columns */
    size_t rows;
};

static void add_cell(struct columns_of_code *o, size_t column, char *text)
{
    print_text_column_add(&o->table.items[column], text);
}

static void begin_columns(const struct code *c, struct columns_of_code *o)
{
    const struct view *t = c->t;
    o->percent = 0;
    print_text_table_add(&o->table, "%", "", false);
    o->metrics = o->table.count;
    for (size_t i = 0; i < t->shown.count; i++)
        print_text_table_add(&o->table, strtab_get(t->e->strings, t->e->metrics[t->shown.items[i]].display_name), "",
                             false);
    o->address = o->table.count;
    print_text_table_add(&o->table, "address", "", false);
    o->loops = o->table.count;
    print_text_table_add(&o->table, "loops", "", true);
    o->marks = o->table.count;
    print_text_table_add(&o->table, "", "", true);
    o->text = o->table.count;
    print_text_table_add(&o->table, "instruction", "", true);
    o->uops = o->table.count;
    print_text_table_add(&o->table, "uops", "", false);
    print_text_table_add(&o->table, "ports", "", true);
    print_text_table_add(&o->table, "latency", "", false);
}

static void add_source(struct columns_of_code *o, const struct code *c, size_t row, const char *text)
{
    struct buf safe = {0};
    buf_safe(&safe, text);
    for (size_t i = 0; i < o->table.count; i++)
        if (i == o->loops)
            add_cell(o, i, brackets_of(c, row, true));
        else
            add_cell(o, i, i == o->text ? safe.bytes : mem_strdup(""));
    o->rows++;
}

static void add_insn(struct columns_of_code *o, const struct code *c, const struct code_piece *p, size_t row)
{
    const struct view *t = c->t;
    const struct experiment *e = t->e;
    const union table_cell *cell = cells(c, row);
    double whole = experiment_value(e, t->sort_metric, 0, VALUE_INCLUSIVE), own = value_of(c, row, t->sort_metric);
    add_cell(o, o->percent, isnan(own) || !(whole > 0) ? mem_strdup("") : mem_printf("%.1f", 100 * own / whole));
    for (size_t i = 0; i < t->shown.count; i++) {
        struct print_scale scale = print_metric_scale(e, t->shown.items[i]);
        add_cell(o, o->metrics + i, print_text_scaled(value_of(c, row, t->shown.items[i]), &scale));
    }
    add_cell(o, o->address, mem_printf("%llx", (unsigned long long)cell[INSN_ADDRESS].count));
    add_cell(o, o->loops, brackets_of(c, row, false));
    add_cell(o, o->marks, marks_of(c, p, row));
    struct buf safe = {0};
    buf_str(&safe, "  ");
    buf_safe(&safe, strtab_get(e->strings, cell[INSN_TEXT].text));
    add_cell(o, o->text, safe.bytes);
    add_cell(o, o->uops, print_text_of_value(cell[INSN_UOPS].number));
    add_cell(o, o->uops + 1, mem_strdup(strtab_get(e->strings, cell[INSN_PORTS].text)));
    add_cell(o, o->uops + 2, print_text_of_value(cell[INSN_LATENCY].number));
    o->rows++;
}

static void write_piece(struct code *c, const struct code_piece *p, struct outfile *out)
{
    struct columns_of_code o = {.rows = 0};
    struct buf b = {0};
    char *before = mem_strdup("");
    begin_piece(c, p, &b);
    outfile_write(out, b.bytes, b.len);
    begin_columns(c, &o);
    find_shape(c, p);
    for (size_t row = p->first; row < p->first + p->count; row++) {
        char *source = source_row(c, row, before);
        if (source) {
            add_source(&o, c, row, source);
            mem_free(before);
            before = source;
        }
        add_insn(&o, c, p, row);
    }
    print_text_table_write(&o.table, o.rows, out);
    outfile_write(out, "\n", 1);
    mem_free(before);
    buf_release(&b);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------ */

static void csv_count(struct csvout *out, uint64_t count)
{
    if (count == TABLE_NO_COUNT)
        csv_empty(out);
    else
        csv_u64(out, count);
}

static void csv_string(struct csvout *out, const struct code *c, str_id text)
{
    csv_text(out, strtab_get(c->t->e->strings, text));
}

static str_id module_name(const struct code *c, place_ix procedure)
{
    place_ix module = experiment_enclosing(c->t->e, procedure, PLACE_MODULE);
    return module == PLACE_NONE ? 0 : c->t->e->places[module].name;
}

static str_id file_name(const struct code *c, const union table_cell *cell)
{
    const struct experiment *e = c->t->e;
    return cell[INSN_FILE].row < e->file_count ? e->files[cell[INSN_FILE].row].name : 0;
}

static void csv_row(const struct code *c, size_t row, struct csvout *out)
{
    const struct view *t = c->t;
    const union table_cell *cell = cells(c, row);
    csv_text(out, "instruction");
    csv_string(out, c, module_name(c, cell[INSN_PROCEDURE].row));
    csv_string(out, c, file_name(c, cell));
    csv_count(out, cell[INSN_LINE].count);
    csv_string(out, c, t->e->places[cell[INSN_PROCEDURE].row].name);
    csv_count(out, cell[INSN_ADDRESS].count);
    csv_string(out, c, cell[INSN_TEXT].text);
    csv_count(out, cell[INSN_TARGET].count);
    csv_count(out, cell[INSN_LOOP].count);
    csv_count(out, cell[INSN_AROUND].count);
    csv_double(out, cell[INSN_UOPS].number);
    csv_string(out, c, cell[INSN_PORTS].text);
    csv_double(out, cell[INSN_LATENCY].number);
    csv_count(out, cell[INSN_CHAIN].count);
    for (size_t i = 0; i < t->shown.count; i++)
        csv_double(out, value_of(c, row, t->shown.items[i]));
    csv_end_line(out);
}

static void csv_head(const struct code *c, struct csvout *out)
{
    const struct view *t = c->t;
    buf_str(out->out, "kind,module,file,line,name,address,instruction,target,loop,around,uops,ports,latency,chain");
    out->need_comma = true;
    for (size_t i = 0; i < t->shown.count; i++)
        csv_string(out, c, t->e->metrics[t->shown.items[i]].name);
    csv_end_line(out);
}

static void put_count(struct jsonout *j, const char *key, uint64_t count)
{
    json_key(j, key);
    if (count == TABLE_NO_COUNT)
        json_null(j);
    else
        json_u64(j, count);
}

static void json_text(struct jsonout *j, const struct code *c, const char *key, str_id text)
{
    json_put_string(j, key, strtab_get(c->t->e->strings, text));
}

static void json_row(const struct code *c, size_t row, struct jsonout *j)
{
    const struct view *t = c->t;
    const union table_cell *cell = cells(c, row);
    json_begin_object(j);
    json_text(j, c, "module", module_name(c, cell[INSN_PROCEDURE].row));
    json_text(j, c, "name", t->e->places[cell[INSN_PROCEDURE].row].name);
    json_text(j, c, "file", file_name(c, cell));
    put_count(j, "line", cell[INSN_LINE].count);
    put_count(j, "address", cell[INSN_ADDRESS].count);
    json_text(j, c, "instruction", cell[INSN_TEXT].text);
    put_count(j, "target", cell[INSN_TARGET].count);
    put_count(j, "loop", cell[INSN_LOOP].count);
    put_count(j, "around", cell[INSN_AROUND].count);
    json_put_double(j, "uops", cell[INSN_UOPS].number);
    json_text(j, c, "ports", cell[INSN_PORTS].text);
    json_put_double(j, "latency", cell[INSN_LATENCY].number);
    json_put_bool(j, "chain", cell[INSN_CHAIN].count == 1);
    json_put_object(j, "values");
    for (size_t i = 0; i < t->shown.count; i++)
        json_put_double(j, strtab_get(t->e->strings, t->e->metrics[t->shown.items[i]].name),
                        value_of(c, row, t->shown.items[i]));
    json_end_object(j);
    json_end_object(j);
}

static void write_rows(struct code *c, bool json, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {&b, false};
    struct csvout csv = {&b, false};
    if (json) {
        json_begin_object(&j);
        json_text(&j, c, "title", c->t->e->title);
        json_put_string(&j, "by", "instruction");
        json_put_array(&j, "rows");
    } else
        csv_head(c, &csv);
    for (size_t i = 0; i < c->pieces.count; i++)
        for (size_t k = 0; k < c->pieces.items[i].count; k++)
            if (json)
                json_row(c, c->pieces.items[i].first + k, &j);
            else
                csv_row(c, c->pieces.items[i].first + k, &csv);
    if (json) {
        json_end_array(&j);
        json_end_object(&j);
        buf_char(&b, '\n');
    }
    outfile_take(out, &b);
}

int print_code(const struct view *t, struct outfile *out, struct err *err)
{
    struct code c = {.t = t, .insns = instructions_of(t->e), .text = {.file = SOURCE_NONE}};
    if (!c.insns)
        return err_set(err, ERR_FORMAT,
                       "no instructions to show: no sampled binary is available, or the measurement has lines only");
    take_values(&c);
    find_pieces(&c);
    c.led_to = mem_calloc(table_row_count(c.insns), 1);
    if (t->options->format != PRINT_TEXT)
        write_rows(&c, t->options->format == PRINT_JSON, out);
    for (size_t i = 0; t->options->format == PRINT_TEXT && i < c.pieces.count; i++)
        write_piece(&c, &c.pieces.items[i], out);
    if (c.text.open)
        filemap_release(&c.text.map);
    vec_release(&c.pieces);
    vec_release(&c.loops);
    mem_free(c.values);
    mem_free(c.led_to);
    return 0;
}
