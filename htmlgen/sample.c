/* Experiments made by hand. A maker adds places and the lines' own values; sums upwards follow from them. */
#include "htmlgen/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct maker {
    struct experiment *e;
    struct VEC(struct place) places;
    struct VEC(struct source_file) files;
    struct VEC(struct metric) metrics;
    struct VEC(double) own; /* own[place * stride + metric], NaN: none */
    size_t stride;          /* as many metrics as there may be */
};

enum { FEW_METRICS = 8, MANY_METRICS = 200 };

static struct maker maker_begin(const char *title)
{
    struct maker m = {.e = mem_calloc(1, sizeof(struct experiment)), .stride = FEW_METRICS};
    m.e->strings = strtab_create();
    m.e->title = strtab_add(m.e->strings, title);
    return m;
}

static str_id text(struct maker *m, const char *s)
{
    return strtab_add(m->e->strings, s);
}

static place_ix add(struct maker *m, enum place_kind kind, place_ix parent, const char *name, uint32_t file,
                    uint32_t first, uint32_t last)
{
    *vec_push(&m->places) = (struct place){.kind = (uint8_t)kind,
                                           .parent = parent,
                                           .name = text(m, name),
                                           .full_name = text(m, name),
                                           .file = file,
                                           .line_first = first,
                                           .line_last = last,
                                           .call_file = SOURCE_NONE};
    for (size_t i = 0; i < m->stride; i++)
        *vec_push(&m->own) = NAN;
    return (place_ix)(m->places.count - 1);
}

static place_ix add_loop(struct maker *m, place_ix parent, uint32_t file, uint32_t first, uint32_t last,
                         enum loop_role role, uint32_t k, uint32_t of, uint64_t address)
{
    place_ix ix = add(m, PLACE_LOOP, parent, "", file, first, last);
    m->places.items[ix].role = (uint8_t)role;
    m->places.items[ix].instance = k;
    m->places.items[ix].instances = of;
    m->places.items[ix].address = address;
    return ix;
}

static place_ix add_inline(struct maker *m, place_ix parent, const char *name, uint32_t file, uint32_t first,
                           uint32_t last, uint32_t call_file, uint32_t call_line)
{
    place_ix ix = add(m, PLACE_INLINE, parent, name, file, first, last);
    m->places.items[ix].call_file = call_file;
    m->places.items[ix].call_line = call_line;
    return ix;
}

/* A line with its own values; NAN where a metric has none. */
static void add_line(struct maker *m, place_ix parent, uint32_t file, uint32_t line, double a, double b)
{
    place_ix ix = add(m, PLACE_LINE, parent, "", file, line, line);
    m->own.items[ix * m->stride] = a;
    m->own.items[ix * m->stride + 1] = b;
}

static uint32_t add_file(struct maker *m, const char *name, const char *dir, const char *content)
{
    struct source_file f = {.name = text(m, name), .raw_name = text(m, name), .found = 0};
    if (content) {
        char *path = mem_printf("%s/source-%zu", dir, m->files.count);
        FILE *out = fopen(path, "w");
        if (!out || fputs(content, out) < 0 || fclose(out) != 0) {
            fprintf(stderr, "%s: cannot be written\n", path);
            exit(1);
        }
        f.found = text(m, path);
        mem_free(path);
    }
    *vec_push(&m->files) = f;
    return (uint32_t)(m->files.count - 1);
}

static struct metric *add_metric(struct maker *m, const char *name, const char *shown, const char *unit,
                                 const char *description)
{
    struct metric *metric = vec_push(&m->metrics);
    *metric = (struct metric){.name = text(m, name),
                              .display_name = text(m, shown),
                              .unit = text(m, unit),
                              .description = text(m, description),
                              .percent = true,
                              .display = true,
                              .has_exclusive = true,
                              .summed = true};
    return metric;
}

/* Sums of the measured metrics; `ratio`, when below the count, is the quotient of the first two, as a computed metric
 * is: from the sums. */
static struct experiment *maker_finish(struct maker *m, size_t ratio)
{
    struct experiment *e = m->e;
    size_t n = m->places.count, metrics = m->metrics.count;
    double *own = mem_alloc((n + 1) * sizeof *own);
    e->places = m->places.items;
    e->place_count = n;
    e->files = m->files.items;
    e->file_count = m->files.count;
    e->metrics = m->metrics.items;
    e->metric_count = metrics;
    for (size_t k = 0; k < metrics; k++)
        e->metrics[k].run = e->run_count ? 0 : RUN_NONE;
    experiment_find_same(e);
    experiment_add_tree(e, "scopes", "Scopes", n, NULL, NULL);
    for (size_t k = 0; k < metrics; k++) {
        for (size_t i = 0; i < n; i++)
            own[i] = m->own.items[i * m->stride + k];
        experiment_sum_column(e, TREE_SCOPES, k, own);
    }
    for (enum value_form form = 0; ratio < metrics && form < VALUE_FORMS; form++) {
        for (place_ix i = 0; i < n; i++) {
            double whole = experiment_value(e, 0, i, form);
            own[i] = whole == 0 ? NAN : experiment_value(e, 1, i, form) / whole;
        }
        experiment_set_column(e, TREE_SCOPES, ratio, form, own);
    }
    mem_free(own);
    vec_release(&m->own);
    return e;
}

static void add_process(struct maker *m, const char *host, const char *command, uint32_t threads)
{
    m->e->processes = mem_calloc(1, sizeof *m->e->processes);
    m->e->process_count = m->e->run_count = 1;
    m->e->runs = mem_calloc(1, sizeof *m->e->runs);
    *m->e->runs = (struct experiment_run){.name = text(m, "heat"),
                                          .machine = text(m, "AMD EPYC 7763 64-Core Processor"),
                                          .command = text(m, command),
                                          .asked = text(m, "TIME@4000000"),
                                          .process_count = 1};
    *m->e->processes = (struct hpcprof_process){.source_file = text(m, "heat.node7.4711.hpcprof"),
                                                .host = text(m, host),
                                                .command = text(m, command),
                                                .machine = text(m, "AMD EPYC 7763 64-Core Processor"),
                                                .kernel = text(m, "Linux 6.1.0"),
                                                .sampler = text(m, "papi"),
                                                .start_ns = 1767225600000000000ull,
                                                .end_ns = 1767225612500000000ull,
                                                .rank = -1,
                                                .thread_count = threads,
                                                .complete = true};
}

/* ---- heat ---- */

static const char heat_f90[] = "! Heat conduction on an unstructured mesh: the solver.\n"
                               "module heat\n"
                               "  use iso_c_binding, only: c_int, c_double\n"
                               "  implicit none\n"
                               "contains\n"
                               "\n"
                               "  ! y = A x, the matrix in compressed rows: the gather through `col` is what costs.\n"
                               "  subroutine spmv(n, row, col, a, x, y)\n"
                               "    integer(c_int), intent(in) :: n, row(n + 1), col(*)\n"
                               "    real(c_double), intent(in) :: a(*), x(n)\n"
                               "    real(c_double), intent(out) :: y(n)\n"
                               "    integer :: i, k\n"
                               "    real(c_double) :: s\n"
                               "    do i = 1, n\n"
                               "      s = 0.0d0\n"
                               "      do k = row(i), row(i + 1) - 1\n"
                               "        s = s + a(k) * x(col(k))\n"
                               "      end do\n"
                               "      y(i) = s\n"
                               "    end do\n"
                               "  end subroutine spmv\n"
                               "\n"
                               "  pure function dot(n, x, y) result(s)\n"
                               "    integer(c_int), intent(in) :: n\n"
                               "    real(c_double), intent(in) :: x(n), y(n)\n"
                               "    real(c_double) :: s\n"
                               "    integer :: i\n"
                               "    s = 0.0d0\n"
                               "    do i = 1, n\n"
                               "      s = s + x(i) * y(i)\n"
                               "    end do\n"
                               "  end function dot\n"
                               "\n"
                               "  subroutine axpy(n, alpha, x, y)\n"
                               "    integer(c_int), intent(in) :: n\n"
                               "    real(c_double), intent(in) :: alpha, x(n)\n"
                               "    real(c_double), intent(inout) :: y(n)\n"
                               "    integer :: i\n"
                               "    do i = 1, n\n"
                               "      y(i) = y(i) + alpha * x(i)\n"
                               "    end do\n"
                               "  end subroutine axpy\n"
                               "\n"
                               "  ! Conjugate gradients until the residual is below `tol`.\n"
                               "  subroutine cg(n, row, col, a, b, x, tol, iterations) bind(c, name='cg')\n"
                               "    integer(c_int), value :: n\n"
                               "    integer(c_int), intent(in) :: row(n + 1), col(*)\n"
                               "    real(c_double), intent(in) :: a(*), b(n)\n"
                               "    real(c_double), intent(inout) :: x(n)\n"
                               "    real(c_double), value :: tol\n"
                               "    integer(c_int), intent(out) :: iterations\n"
                               "    real(c_double), allocatable :: r(:), p(:), q(:)\n"
                               "    real(c_double) :: alpha, beta, rr, rr_new\n"
                               "    allocate(r(n), p(n), q(n))\n"
                               "    r = b; p = r; rr = dot(n, r, r); iterations = 0\n"
                               "    do while (rr > tol * tol)\n"
                               "      call spmv(n, row, col, a, p, q)\n"
                               "      alpha = rr / dot(n, p, q)\n"
                               "      call axpy(n, alpha, p, x)\n"
                               "      call axpy(n, -alpha, q, r)\n"
                               "      rr_new = dot(n, r, r)\n"
                               "      beta = rr_new / rr\n"
                               "      p = r + beta * p\n"
                               "      rr = rr_new\n"
                               "      iterations = iterations + 1\n"
                               "    end do\n"
                               "  end subroutine cg\n"
                               "end module heat\n";

static const char driver_c[] = "/* Builds a mesh with shuffled vertices and steps the heat equation through time. */\n"
                               "#include <stdio.h>\n"
                               "#include <stdlib.h>\n"
                               "#include \"mesh.h\"\n"
                               "\n"
                               "void cg(int n, const int *row, const int *col, const double *a, const double *b, "
                               "double *x, double tol, int *iterations);\n"
                               "\n"
                               "static void shuffle(int *order, int n)\n"
                               "{\n"
                               "    for (int i = n - 1; i > 0; i--) {\n"
                               "        int k = rand() % (i + 1), t = order[i]; /* a bad generator is good enough */\n"
                               "        order[i] = order[k];\n"
                               "        order[k] = t;\n"
                               "    }\n"
                               "}\n"
                               "\n"
                               "int main(int argc, char **argv)\n"
                               "{\n"
                               "    int steps = argc > 1 ? atoi(argv[1]) : 20, iterations;\n"
                               "    struct mesh *m = mesh_create(400, 400);\n"
                               "    shuffle(m->order, m->n);\n"
                               "    mesh_assemble(m);\n"
                               "    for (int step = 0; step < steps; step++) {\n"
                               "        for (int i = 0; i < m->n; i++)\n"
                               "            m->b[i] = m->x[i] + 0.5 * m->source[i];\n"
                               "        cg(m->n, m->row, m->col, m->a, m->b, m->x, 1e-8, &iterations);\n"
                               "        printf(\"step %d: %d iterations\\n\", step, iterations);\n"
                               "    }\n"
                               "    return 0;\n"
                               "}\n";

static const double PERIOD = 4e6; /* ns a sample */

static void heat_metrics(struct maker *m)
{
    struct metric *t =
        add_metric(m, "TIME", "Task clock", "ns", "Time a thread was running, as the kernel's task clock counts it");
    t->event = text(m, "perf::TASK-CLOCK");
    t->period = 4000000;
    t->sort_by = true;
    struct metric *c = add_metric(m, "L2_MISS", "L2 misses", "misses", "Loads that missed the second-level cache");
    c->event = text(m, "PAPI_L2_DCM");
    c->period = 100003;
    struct metric *r = add_metric(m, "MISS_RATE", "Misses per ns", "misses/ns", "");
    r->formula = text(m, "L2_MISS / TIME");
    r->percent = false;
    r->summed = false;
}

static double ms(double samples)
{
    return samples * PERIOD;
}

static double misses(double samples)
{
    return samples * 100003;
}

static void heat_cg(struct maker *m, place_ix file, uint32_t heat)
{
    place_ix cg = add(m, PLACE_PROC, file, "cg", heat, 45, 68);
    m->places.items[cg].address = 0x1520;
    m->places.items[cg].full_name = text(m, "cg (n, row, col, a, b, x, tol, iterations)");
    place_ix loop = add_loop(m, cg, heat, 56, 67, LOOP_PLAIN, 1, 1, 0x1600);
    place_ix spmv = add_inline(m, loop, "spmv", heat, 8, 21, heat, 57);
    place_ix rows = add_loop(m, spmv, heat, 14, 20, LOOP_PLAIN, 1, 1, 0x1640);
    place_ix inner = add_loop(m, rows, heat, 16, 18, LOOP_VECTOR, 1, 2, 0x1660);
    add_line(m, inner, heat, 16, ms(61), NAN);
    add_line(m, inner, heat, 17, ms(1502), misses(912));
    place_ix rest = add_loop(m, rows, heat, 16, 18, LOOP_REMAINDER, 2, 2, 0x16c0);
    add_line(m, rest, heat, 17, ms(88), misses(51));
    add_line(m, rows, heat, 14, ms(12), NAN);
    add_line(m, rows, heat, 19, ms(40), misses(7));
    place_ix dot = add_inline(m, loop, "dot", heat, 23, 32, heat, 58);
    place_ix dot_loop = add_loop(m, dot, heat, 29, 31, LOOP_VECTOR, 1, 1, 0x1700);
    add_line(m, dot_loop, heat, 30, ms(210), misses(40));
    place_ix axpy = add_inline(m, loop, "axpy", heat, 34, 42, heat, 59);
    add_line(m, add_loop(m, axpy, heat, 39, 41, LOOP_UNROLLED, 1, 1, 0x1780), heat, 40, ms(118), misses(33));
    place_ix axpy2 = add_inline(m, loop, "axpy", heat, 34, 42, heat, 60);
    add_line(m, add_loop(m, axpy2, heat, 39, 41, LOOP_UNROLLED, 1, 1, 0x17c0), heat, 40, ms(121), misses(30));
    place_ix dot2 = add_inline(m, loop, "dot", heat, 23, 32, heat, 61);
    add_line(m, add_loop(m, dot2, heat, 29, 31, LOOP_VECTOR, 1, 1, 0x1800), heat, 30, ms(190), misses(36));
    place_ix update = add_loop(m, loop, heat, 63, 63, LOOP_VECTOR, 1, 1, 0x1840);
    add_line(m, update, heat, 63, ms(142), misses(44));
    add_line(m, cg, heat, 55, ms(3), NAN);
}

struct experiment *sample_heat(const char *dir)
{
    struct maker m = maker_begin("heat conduction, 20 steps");
    heat_metrics(&m);
    add_process(&m, "node7", "/home/someone/bin/heat 20", 1);
    uint32_t driver = add_file(&m, "driver.c", dir, driver_c);
    uint32_t heat = add_file(&m, "heat.f90", dir, heat_f90);
    uint32_t mesh = add_file(&m, "mesh.c", dir, NULL);
    add(&m, PLACE_PROGRAM, PLACE_NONE, "heat", SOURCE_NONE, 0, 0);
    place_ix program = add(&m, PLACE_MODULE, 0, "heat", SOURCE_NONE, 0, 0);
    place_ix driver_file = add(&m, PLACE_FILE, program, "driver.c", driver, 0, 0);
    place_ix main_proc = add(&m, PLACE_PROC, driver_file, "main", driver, 17, 31);
    place_ix shuffle = add_inline(&m, main_proc, "shuffle", driver, 8, 15, driver, 21);
    add_line(&m, add_loop(&m, shuffle, driver, 10, 14, LOOP_PLAIN, 1, 1, 0x1180), driver, 11, ms(14), misses(9));
    place_ix steps = add_loop(&m, main_proc, driver, 23, 29, LOOP_PLAIN, 1, 1, 0x1200);
    place_ix fill = add_loop(&m, steps, driver, 24, 25, LOOP_VECTOR, 1, 1, 0x1240);
    m.places.items[fill].irreducible = true;
    add_line(&m, fill, driver, 25, ms(9), misses(4));
    place_ix heat_file = add(&m, PLACE_FILE, program, "heat.f90", heat, 0, 0);
    heat_cg(&m, heat_file, heat);
    place_ix mesh_file = add(&m, PLACE_FILE, program, "mesh.c", mesh, 0, 0);
    place_ix assemble = add(&m, PLACE_PROC, mesh_file, "mesh_assemble", mesh, 80, 140);
    add_line(&m, add_loop(&m, assemble, mesh, 96, 131, LOOP_PLAIN, 1, 1, 0x1300), mesh, 101, ms(77), misses(61));
    place_ix libc = add(&m, PLACE_MODULE, 0, "libc.so.6", SOURCE_NONE, 0, 0);
    place_ix nowhere = add(&m, PLACE_FILE, libc, "", SOURCE_NONE, 0, 0);
    place_ix copy = add(&m, PLACE_PROC, nowhere, "__memset_avx2_unaligned_erms", SOURCE_NONE, 0, 0);
    add_line(&m, copy, SOURCE_NONE, 0, ms(21), NAN);
    place_ix rand_proc = add(&m, PLACE_PROC, nowhere, "random_r", SOURCE_NONE, 0, 0);
    add_line(&m, rand_proc, SOURCE_NONE, 0, ms(5), NAN);
    return maker_finish(&m, 2);
}

/* ---- what else is known of heat ---- */

/* The first place of this name, or of this kind on this line. */
static place_ix place_of(const struct experiment *e, enum place_kind kind, const char *name, uint32_t line)
{
    for (place_ix i = 0; i < e->place_count; i++)
        if (e->places[i].kind == kind && (line == 0 || e->places[i].line_first == line) &&
            strcmp(strtab_get(e->strings, e->places[i].name), name) == 0)
            return i;
    return 0;
}

/* main > cg > mesh_assemble, which nobody calls there: a tree that is not the scopes'. */
static void add_calls(struct experiment *e)
{
    static const char *const names[] = {"main", "cg", "mesh_assemble"};
    uint32_t *parent = mem_calloc(4, sizeof *parent);
    place_ix *place = mem_calloc(4, sizeof *place);
    double own[4] = {NAN, 1e9, 8e9, 1e9};
    parent[0] = NODE_NONE;
    for (uint32_t i = 0; i < 3; i++) {
        parent[i + 1] = i;
        place[i + 1] = place_of(e, PLACE_PROC, names[i], 0);
    }
    experiment_sum_column(e, experiment_add_tree(e, "calls", "Calls", 4, parent, place), 0, own);
}

static void add_findings(struct experiment *e)
{
    static const struct table_column columns[] = {
        {.name = "place", .title = "where", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
        {.name = "property", .title = "what", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "severity", .title = "severity", .type = TABLE_NUMBER, .merge = TABLE_MAX},
        {.name = "evidence", .title = "evidence", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "samples", .title = "samples", .type = TABLE_COUNT, .merge = TABLE_SUM},
    };
    static const struct table_decl findings = {"findings", "Findings", "What is wrong, and where.", columns, 5};
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&e->tables, &findings, e->strings, &t, &err) < 0)
        exit(1);
    place_ix gather = place_of(e, PLACE_LOOP, "", 16), axpy = place_of(e, PLACE_INLINE, "axpy", 0);
    table_add(t, (union table_cell[]){{.row = axpy},
                                      {.text = strtab_add(e->strings, "Called <b>twice</b>")},
                                      {.number = 0.09},
                                      {.text = strtab_add(e->strings, "once would do")},
                                      {.count = TABLE_NO_COUNT}});
    table_add(t, (union table_cell[]){{.row = gather},
                                      {.text = strtab_add(e->strings, "Indirect loads bound the loop")},
                                      {.number = 0.51},
                                      {.text = strtab_add(e->strings, "x(col(k)): its address comes from a load")},
                                      {.count = 1563}});
}

/* A search that went from the program to a loop; what is said last came from what is said before it. */
static void add_search(struct experiment *e)
{
    static const struct table_column columns[] = {
        {.name = "hypothesis", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "place", .title = "focus", .type = TABLE_REF, .refers = "place", .merge = TABLE_LAST},
        {.name = "state", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "value", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "threshold", .unit = "%", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "experiment", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "parent", .title = "from", .type = TABLE_REF, .refers = "search", .merge = TABLE_LAST},
        {.name = "note", .type = TABLE_TEXT, .merge = TABLE_LAST},
    };
    static const struct table_decl search = {"search", "Search for findings", "What was looked for.", columns, 8};
    const struct {
        const char *hypothesis, *state, *note;
        place_ix place;
        double value;
        uint64_t experiment;
        uint32_t parent;
    } steps[] = {{"CPUBound", "true", "", 0, 99, 1, TABLE_NONE},
                 {"HotLoop", "true", "", place_of(e, PLACE_LOOP, "", 16), 51, 2, 0},
                 {"PageFaults", "not measurable", "needs perf::PAGE-FAULTS", 0, (double)NAN, 2, 0},
                 {"Division", "false", "", place_of(e, PLACE_LOOP, "", 16), (double)NAN, 3, 1},
                 {"Parallel", "false", "", 0, (double)NAN, 1, TABLE_NONE},
                 {"Locks", "pruned", "3 places in it", 0, (double)NAN, 2, 4}};
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&e->tables, &search, e->strings, &t, &err) < 0)
        exit(1);
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
        table_add(t, (union table_cell[]){{.text = strtab_add(e->strings, steps[i].hypothesis)},
                                          {.row = steps[i].place},
                                          {.text = strtab_add(e->strings, steps[i].state)},
                                          {.number = steps[i].value},
                                          {.number = 1},
                                          {.count = steps[i].experiment},
                                          {.row = steps[i].parent},
                                          {.text = strtab_add(e->strings, steps[i].note)}});
}

/* Four threads in two processes; the last has nothing to do in cg. */
static void add_thread_values(struct experiment *e)
{
    static const struct table_column columns[] = {
        {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
        {.name = "metric", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "process", .type = TABLE_COUNT, .merge = TABLE_KEY},
        {.name = "thread", .type = TABLE_COUNT, .merge = TABLE_KEY},
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "value", .type = TABLE_NUMBER, .merge = TABLE_SUM},
    };
    static const struct table_decl decl = {"thread_values", "Values by thread", "by place", columns, 6};
    static const double seconds[2][4] = {{3, 2, 4, 1}, {3, 2, 4, 0}};
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&e->tables, &decl, e->strings, &t, &err) < 0)
        exit(1);
    place_ix places[] = {0, place_of(e, PLACE_PROC, "cg", 0)};
    for (uint32_t i = 0; i < 8; i++)
        if (seconds[i / 4][i % 4] > 0)
            table_add(t, (union table_cell[]){{.row = places[i / 4]},
                                              {.text = e->metrics[0].name},
                                              {.count = i % 4 / 2},
                                              {.count = i % 2},
                                              {.text = strtab_add(e->strings, "heat")},
                                              {.number = seconds[i / 4][i % 4] * 1e9}});
}

struct experiment *sample_facts(const char *dir)
{
    struct experiment *e = sample_heat(dir);
    add_calls(e);
    add_findings(e);
    add_search(e);
    add_thread_values(e);
    return e;
}

/* ---- a simulated memory ---- */

static struct table *declared(struct experiment *e, const char *name, const struct table_column *columns, size_t count)
{
    const struct table_decl decl = {name, name, "", columns, count};
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&e->tables, &decl, e->strings, &t, &err) < 0)
        exit(1);
    return t;
}

/* Rows of the tables a simulation measures, of references on x (0) and a heap block (1), at L1 (0) and a TLB (1). */
struct sample_reference {
    place_ix place;
    uint32_t object, level;
    uint64_t counts[7];
};
struct sample_pair {
    place_ix victim;
    uint32_t object;
    place_ix evictor;
    uint32_t by_object, level;
    uint64_t blocks;
};

#define MEMORY_REF(n, to)                                                                                              \
    {                                                                                                                  \
        .name = n, .type = TABLE_REF, .refers = to, .merge = TABLE_KEY                                                 \
    }
#define MEMORY_COUNT(n)                                                                                                \
    {                                                                                                                  \
        .name = n, .type = TABLE_COUNT, .merge = TABLE_SUM                                                             \
    }

static void add_references(struct experiment *e, const struct sample_reference *rows, size_t count)
{
    static const struct table_column columns[] = {MEMORY_REF("reference", "place"),
                                                  MEMORY_REF("object", "objects"),
                                                  MEMORY_REF("level", "levels"),
                                                  MEMORY_COUNT("accesses"),
                                                  MEMORY_COUNT("misses"),
                                                  MEMORY_COUNT("temporal"),
                                                  MEMORY_COUNT("used"),
                                                  MEMORY_COUNT("evictions"),
                                                  MEMORY_COUNT("cold"),
                                                  MEMORY_COUNT("conflict")};
    struct table *t = declared(e, "references", columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < count; i++) {
        union table_cell cells[10] = {{.row = rows[i].place}, {.row = rows[i].object}, {.row = rows[i].level}};
        for (size_t k = 0; k < 7; k++)
            cells[3 + k].count = rows[i].counts[k];
        table_add(t, cells);
    }
}

static void add_pairs(struct experiment *e, const struct sample_pair *rows, size_t count)
{
    static const struct table_column columns[] = {
        MEMORY_REF("victim", "place"),  MEMORY_REF("victim_object", "objects"),
        MEMORY_REF("evictor", "place"), MEMORY_REF("evictor_object", "objects"),
        MEMORY_REF("level", "levels"),  MEMORY_COUNT("blocks"),
        MEMORY_COUNT("invalidated")};
    struct table *t = declared(e, "evictors", columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < count; i++)
        table_add(t, (union table_cell[]){{.row = rows[i].victim},
                                          {.row = rows[i].object},
                                          {.row = rows[i].evictor},
                                          {.row = rows[i].by_object},
                                          {.row = rows[i].level},
                                          {.count = rows[i].blocks},
                                          {.count = 0}});
}

static void add_levels_and_objects(struct experiment *e, place_ix allocated)
{
    static const struct table_column level_columns[] = {
        {.name = "level", .type = TABLE_TEXT, .merge = TABLE_KEY}, MEMORY_COUNT("line"), MEMORY_COUNT("order")};
    static const struct table_column object_columns[] = {{.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
                                                         MEMORY_REF("where", "place")};
    struct table *levels = declared(e, "levels", level_columns, ARRAY_SIZE(level_columns));
    struct table *objects = declared(e, "objects", object_columns, ARRAY_SIZE(object_columns));
    table_add(levels, (union table_cell[]){{.text = strtab_add(e->strings, "L1")}, {.count = 64}, {.count = 0}});
    table_add(levels, (union table_cell[]){{.text = strtab_add(e->strings, "TLB")}, {.count = 4096}, {.count = 1}});
    table_add(objects, (union table_cell[]){{.text = strtab_add(e->strings, "x")}, {.row = TABLE_NONE}});
    table_add(objects, (union table_cell[]){{.text = strtab_add(e->strings, "heap 1")}, {.row = allocated}});
}

struct experiment *sample_memory(const char *dir)
{
    struct experiment *e = sample_heat(dir);
    place_ix gather = place_of(e, PLACE_LINE, "", 17), dot = place_of(e, PLACE_LINE, "", 30);
    const struct sample_reference references[] = {
        {gather, 0, 0, {1000, 600, 100, 4800, 600, 50, TABLE_NO_COUNT}},
        {gather, 1, 0, {1000, 125, 0, 8000, 125, 125, TABLE_NO_COUNT}},
        {dot, 1, 0, {100, 25, 75, 0, 0, 25, TABLE_NO_COUNT}},
        {gather, 0, 1, {1000, 2, 900, 0, 0, 2, TABLE_NO_COUNT}},
    };
    const struct sample_pair pairs[] = {
        {gather, 0, gather, 0, 0, 150}, {gather, 0, dot, 1, 0, 450}, {gather, 1, dot, 1, 0, 125}};
    add_levels_and_objects(e, place_of(e, PLACE_LINE, "", 55));
    add_references(e, references, ARRAY_SIZE(references));
    add_pairs(e, pairs, ARRAY_SIZE(pairs));
    return e;
}

/* ---- threads that wait, and machine code ---- */

#define SAMPLE_TEXT(n)                                                                                                 \
    {                                                                                                                  \
        .name = n, .type = TABLE_TEXT, .merge = TABLE_KEY                                                              \
    }
#define SAMPLE_NUMBER(n)                                                                                               \
    {                                                                                                                  \
        .name = n, .type = TABLE_NUMBER, .merge = TABLE_MAX                                                            \
    }

static union table_cell text_cell(struct experiment *e, const char *text)
{
    return (union table_cell){.text = strtab_add(e->strings, text)};
}

/* Two barriers of two threads: the first is late for one of them. */
static void add_barriers(struct experiment *e, place_ix first, place_ix second)
{
    static const struct table_column columns[] = {
        MEMORY_REF("place", "place"), SAMPLE_TEXT("name"),        SAMPLE_TEXT("kind"),        MEMORY_COUNT("number"),
        MEMORY_COUNT("episodes"),     MEMORY_COUNT("phase"),      MEMORY_COUNT("barrier"),    SAMPLE_NUMBER("share"),
        SAMPLE_NUMBER("imbalance"),   SAMPLE_TEXT("last_thread"), SAMPLE_NUMBER("last_share")};
    struct table *t = declared(e, "barriers", columns, ARRAY_SIZE(columns));
    const place_ix at[] = {first, second};
    for (uint64_t i = 0; i < 2; i++)
        table_add(t, (union table_cell[]){{.row = at[i]},
                                          text_cell(e, i ? "join" : "barrier"),
                                          text_cell(e, "OpenMP"),
                                          {.count = i},
                                          {.count = 20},
                                          {.count = 900000000},
                                          {.count = i ? 20000000 : 300000000},
                                          {.number = i ? 1.1 : 16.7},
                                          {.number = i ? 2 : 33},
                                          text_cell(e, "thread 1"),
                                          {.number = i ? 50 : 90}});
}

static void add_phase_loops(struct experiment *e, place_ix loop)
{
    static const struct table_column columns[] = {MEMORY_REF("place", "place"),    MEMORY_REF("begun", "barriers"),
                                                  MEMORY_REF("ended", "barriers"), SAMPLE_TEXT("event"),
                                                  SAMPLE_NUMBER("share"),          MEMORY_COUNT("samples")};
    struct table *t = declared(e, "phase_loops", columns, ARRAY_SIZE(columns));
    table_add(t, (union table_cell[]){
                     {.row = loop}, {.row = 1}, {.row = 0}, text_cell(e, "TIME"), {.number = 80}, {.count = 40}});
}

/* Who came when: nanoseconds after the program began. */
static void add_episodes(struct experiment *e)
{
    static const struct table_column episode_columns[] = {MEMORY_REF("barrier", "barriers"), MEMORY_COUNT("begin"),
                                                          MEMORY_COUNT("last")};
    static const struct table_column arrival_columns[] = {MEMORY_REF("episode", "episodes"), SAMPLE_TEXT("thread"),
                                                          MEMORY_COUNT("arrived")};
    static const struct table_column wait_columns[] = {SAMPLE_TEXT("waiter"), SAMPLE_TEXT("thread"),
                                                       MEMORY_COUNT("waited")};
    struct table *episodes = declared(e, "episodes", episode_columns, ARRAY_SIZE(episode_columns));
    struct table *arrivals = declared(e, "arrivals", arrival_columns, ARRAY_SIZE(arrival_columns));
    struct table *waits = declared(e, "waits_for", wait_columns, ARRAY_SIZE(wait_columns));
    for (uint32_t i = 0; i < 2; i++) {
        table_add(episodes, (union table_cell[]){{.row = i}, {.count = i * 1000}, {.count = i * 1000 + 900}});
        for (uint64_t k = 0; k < 2; k++)
            table_add(arrivals, (union table_cell[]){{.row = i},
                                                     text_cell(e, k ? "thread 1" : "thread 0"),
                                                     {.count = i * 1000 + (k ? 900 : 400)}});
    }
    table_add(waits, (union table_cell[]){text_cell(e, "thread 0"), text_cell(e, "thread 1"), {.count = 1000}});
}

/* A loop of three instructions. */
static void add_instructions(struct experiment *e, place_ix procedure, place_ix line)
{
    static const struct table_column columns[] = {
        MEMORY_REF("procedure", "place"), MEMORY_COUNT("address"), MEMORY_REF("place", "place"),
        MEMORY_REF("file", "file"),       MEMORY_COUNT("line"),    SAMPLE_TEXT("text"),
        MEMORY_COUNT("target"),           MEMORY_COUNT("loop"),    MEMORY_COUNT("around")};
    static const struct table_column count_columns[] = {MEMORY_REF("instruction", "instructions"),
                                                        MEMORY_REF("metric", "metric"), SAMPLE_NUMBER("value")};
    static const char *const texts[] = {"vfmadd231sd (%rax,%rdx,8),%xmm1,%xmm0", "inc %rdx", "jne 0x1000"};
    struct table *t = declared(e, "instructions", columns, ARRAY_SIZE(columns));
    struct table *counts = declared(e, "instruction_counts", count_columns, ARRAY_SIZE(count_columns));
    for (uint32_t i = 0; i < 3; i++) {
        table_add(t, (union table_cell[]){{.row = procedure},
                                          {.count = 0x1000 + 4 * i},
                                          {.row = line},
                                          {.row = e->places[line].file},
                                          {.count = e->places[line].line_first},
                                          text_cell(e, texts[i]),
                                          {.count = i == 2 ? 0x1000 : TABLE_NO_COUNT},
                                          {.count = 0x1000},
                                          {.count = TABLE_NO_COUNT}});
        table_add(counts, (union table_cell[]){{.row = i}, {.row = 0}, {.number = (i + 1) * 4e6}});
    }
}

struct experiment *sample_waits(const char *dir)
{
    struct experiment *e = sample_heat(dir);
    place_ix line = place_of(e, PLACE_LINE, "", 17), up = line;
    while (e->places[up].kind != PLACE_PROC)
        up = e->places[up].parent;
    add_barriers(e, line, place_of(e, PLACE_LINE, "", 30));
    add_phase_loops(e, e->places[line].parent);
    add_episodes(e);
    add_instructions(e, up, line);
    return e;
}

/* ---- two runs ---- */

struct experiment *sample_two_runs(const char *dir)
{
    struct maker m = maker_begin("before and after");
    uint32_t file = add_file(&m, "x.c", dir, "int f(void) {\n  slower();\n  fresh();\n  same();\n  gone();\n}\n");
    static const char *const names[] = {"old", "new"};
    m.e->run_count = 2;
    m.e->runs = mem_calloc(2, sizeof *m.e->runs);
    for (size_t k = 0; k < 2; k++) {
        char *name = mem_printf("%s.TIME", names[k]);
        struct metric *t = add_metric(&m, name, name, "ns", "");
        t->event = text(&m, "CLOCK");
        t->period = 1000000;
        t->sort_by = k == 0;
        m.e->runs[k].name = text(&m, names[k]);
        mem_free(name);
    }
    add(&m, PLACE_PROGRAM, PLACE_NONE, "x", SOURCE_NONE, 0, 0);
    place_ix module = add(&m, PLACE_MODULE, 0, "x", SOURCE_NONE, 0, 0);
    place_ix in_file = add(&m, PLACE_FILE, module, "x.c", file, 0, 0);
    place_ix proc = add(&m, PLACE_PROC, in_file, "f", file, 1, 6);
    add_line(&m, proc, file, 2, 400e6, 1000e6);
    add_line(&m, proc, file, 3, NAN, 900e6);
    add_line(&m, proc, file, 4, 800e6, 804e6);
    add_line(&m, proc, file, 5, 800e6, NAN);
    struct experiment *e = maker_finish(&m, SIZE_MAX);
    e->metrics[1].run = 1;
    return e;
}

/* ---- hostile ---- */

#define ATTACK "<script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\">"

struct experiment *sample_hostile(const char *dir)
{
    struct maker m = maker_begin("</title>" ATTACK);
    struct metric *t =
        add_metric(&m, "T" ATTACK, ATTACK " \"onerror=", "</script>" ATTACK, "'\"><svg onload=window.hacked=1>");
    t->event = text(&m, ATTACK);
    t->period = 1;
    struct metric *u = add_metric(&m, "__proto__", "constructor", "", "");
    u->has_exclusive = false;
    add_process(&m, ATTACK, ATTACK " " ATTACK, 1);
    uint32_t bad = add_file(&m, "a" ATTACK ".c", dir,
                            "// " ATTACK "\n</pre></script>" ATTACK "\n\xff\xfe latin \xe9\n\"onerror=\n");
    add(&m, PLACE_PROGRAM, PLACE_NONE, ATTACK, SOURCE_NONE, 0, 0);
    place_ix module = add(&m, PLACE_MODULE, 0, "\"onerror=\"window.hacked=1", SOURCE_NONE, 0, 0);
    place_ix file = add(&m, PLACE_FILE, module, "a" ATTACK ".c", bad, 0, 0);
    place_ix proc = add(&m, PLACE_PROC, file, "</script>" ATTACK, bad, 1, 3);
    add_line(&m, proc, bad, 1, 10, 1);
    add_line(&m, proc, bad, 2, 20, NAN);
    place_ix other = add(&m, PLACE_PROC, file, "bad\xff utf8 \x01 \xe2\x80\xae \xd8\x9c right-to-left", bad, 3, 3);
    add_line(&m, other, bad, 3, 5, NAN);
    /* beyond the end of the text: the file changed after it was compiled */
    add_line(&m, other, bad, 4000000000u, 2, NAN);
    return maker_finish(&m, SIZE_MAX);
}

/* ---- large ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fill_procedure(struct maker *m, place_ix proc, uint32_t file, uint32_t first, uint64_t *seed)
{
    place_ix scopes[6] = {proc};
    int depth = 0;
    uint32_t line = first;
    for (int i = 0; i < 20; i++) {
        uint64_t r = next_random(seed);
        if (r % 5 == 0 && depth < 5) {
            scopes[depth + 1] = r % 3 ? add_loop(m, scopes[depth], file, line, line + 9, LOOP_PLAIN, 1, 1, r >> 40)
                                      : add_inline(m, scopes[depth], "std::vector<double>::operator[]", file, line,
                                                   line + 2, file, line);
            depth++;
        } else if (r % 7 == 1 && depth > 0)
            depth--;
        place_ix ix = add(m, PLACE_LINE, scopes[depth], "", file, line, line);
        for (size_t k = 0; k < m->metrics.count; k++) {
            uint64_t heat = next_random(seed); /* a quarter has no data, most have a few samples, some have many */
            if ((heat & 3) != 0)
                m->own.items[ix * m->stride + k] =
                    (double)((heat >> 2) % 12 == 0 ? (heat >> 8) % 5000 : (heat >> 8) % 20 + 1) * 1000003;
        }
        line += (uint32_t)(r >> 33) % 4;
    }
}

struct experiment *sample_large(size_t places, size_t metrics)
{
    struct maker m = maker_begin("a large program");
    m.stride = metrics < MANY_METRICS ? metrics : MANY_METRICS;
    uint64_t seed = 88172645463325252ull;
    char name[120];
    for (size_t k = 0; k < metrics && k < MANY_METRICS; k++) {
        snprintf(name, sizeof name, "EVENT_%zu", k);
        struct metric *metric = add_metric(&m, name, name, "events", "");
        metric->period = 1000003;
        metric->event = metric->name;
        metric->sort_by = k == 0;
    }
    add(&m, PLACE_PROGRAM, PLACE_NONE, "large", SOURCE_NONE, 0, 0);
    place_ix module = 0, file_place = 0;
    uint32_t file = 0;
    for (size_t procs = 0; m.places.count < places; procs++) {
        if (procs % 4000 == 0) {
            snprintf(name, sizeof name, "lib%zu.so", procs / 4000);
            module = add(&m, PLACE_MODULE, 0, name, SOURCE_NONE, 0, 0);
        }
        if (procs % 40 == 0) {
            snprintf(name, sizeof name, "src/part%zu/unit%zu.cpp", procs / 400, procs / 40);
            file = add_file(&m, name, NULL, NULL);
            file_place = add(&m, PLACE_FILE, module, name, file, 0, 0);
        }
        snprintf(name, sizeof name, "solver::Kernel<%zu>::apply_%llx", procs % 97,
                 (unsigned long long)next_random(&seed) >> 40);
        uint32_t first = (uint32_t)(procs % 40) * 60 + 1;
        place_ix proc = add(&m, PLACE_PROC, file_place, name, file, first, first + 59);
        fill_procedure(&m, proc, file, first, &seed);
    }
    return maker_finish(&m, SIZE_MAX);
}

/* ---- empty ---- */

struct experiment *sample_empty(bool with_program)
{
    struct maker m = maker_begin("nothing");
    if (with_program) {
        add_metric(&m, "T", "T", "ns", "");
        add(&m, PLACE_PROGRAM, PLACE_NONE, "nothing", SOURCE_NONE, 0, 0);
    }
    return maker_finish(&m, SIZE_MAX);
}
