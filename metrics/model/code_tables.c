/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables about machine code: of sampled loops, and of the instructions of sampled procedures. */
#include "metrics/model/model.h"

#define TEXT_COLUMN(word, shown, says)                                                                                 \
    {                                                                                                                  \
        .name = word, .title = shown, .description = says, .type = TABLE_TEXT, .merge = TABLE_LAST                     \
    }
#define NUMBER_COLUMN(word, shown, of, says)                                                                           \
    {                                                                                                                  \
        .name = word, .title = shown, .unit = of, .description = says, .type = TABLE_NUMBER, .merge = TABLE_LAST       \
    }

static const struct table_column quality_columns[] = {
    {.name = "place", .title = "loop", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    TEXT_COLUMN("summary", "summary", "summary of the loop"),
    TEXT_COLUMN("role", "role", "kind of this copy of the source loop"),
    NUMBER_COLUMN("vectorized", "vectorized", "%", "share of packed instructions among those that could be packed"),
    NUMBER_COLUMN("vector_load", "vector loads", "%", "share of packed loads"),
    NUMBER_COLUMN("vector_store", "vector stores", "%", "share of packed stores"),
    NUMBER_COLUMN("vector_add", "vector additions", "%", "share of packed additions and subtractions"),
    NUMBER_COLUMN("vector_multiply", "vector multiplications", "%", "share of packed multiplications"),
    NUMBER_COLUMN("vector_other", "other vector operations", "%", "share of other packed calculations"),
    NUMBER_COLUMN("efficiency", "vector efficiency", "%", "used share of the core's widest vectors"),
    NUMBER_COLUMN("bound", "bound, cycles", NULL,
                  "minimum cycles of an iteration; for long entries if the trip count is unknown"),
    NUMBER_COLUMN("bound_short", "bound, short entries", NULL,
                  "the same for entries of any length, because consecutive entries overlap"),
    NUMBER_COLUMN("trips", "trip count", NULL, "mean iterations of an entry, from callgrind --collect-jumps=yes"),
    NUMBER_COLUMN("ahead", "iterations ahead", "iterations", "how far the core looks ahead while a chain waits"),
    TEXT_COLUMN("bound_by", "bound by", "the limit that determines the bound"),
    NUMBER_COLUMN("front_end", "front end", "cycles", "uops / uops issued per cycle"),
    NUMBER_COLUMN("ports", "ports", "cycles", "calculations"),
    NUMBER_COLUMN("memory", "loads and stores", "cycles", NULL),
    NUMBER_COLUMN("divider", "divider", "cycles", NULL),
    NUMBER_COLUMN("chain", "chain", "cycles", "loop-carried dependency in registers"),
    NUMBER_COLUMN("store_chain", "dependency through memory", "cycles", NULL),
    NUMBER_COLUMN("if_vectorized", "if vectorized", "cycles", "the bound if everything were vectorized"),
    NUMBER_COLUMN("if_clean", "without address arithmetic", "cycles", NULL),
    NUMBER_COLUMN("if_no_chain", "without the dependency", "cycles", NULL),
    NUMBER_COLUMN("if_next", "next limit", "cycles", NULL),
    NUMBER_COLUMN("instructions", "instructions", NULL, "of the shortest path through the loop"),
    NUMBER_COLUMN("uops", "uops", NULL, NULL),
    NUMBER_COLUMN("paths", "ways", NULL, "paths through the loop"),
    NUMBER_COLUMN("elements", "elements per iteration", NULL, "0: unknown"),
    NUMBER_COLUMN("unroll", "unrolled", NULL, "accesses of a stream in an iteration"),
    NUMBER_COLUMN("flops", "flops", NULL, "of an iteration; a multiply-add is two"),
    NUMBER_COLUMN("fma", "multiply-adds", NULL, "multiply-add instructions of an iteration"),
    NUMBER_COLUMN("loaded", "loaded", "bytes", "of an iteration"),
    NUMBER_COLUMN("stored", "stored", "bytes", "of an iteration"),
    NUMBER_COLUMN("intensity", "intensity", "flops/byte", NULL),
    NUMBER_COLUMN("address_share", "address arithmetic", "%",
                  "share of instructions that only compute addresses and conditions"),
    NUMBER_COLUMN("spills", "spills", NULL, NULL),
    NUMBER_COLUMN("calls", "calls", NULL, NULL),
    NUMBER_COLUMN("stride_one", "stride one", NULL, "references"),
    NUMBER_COLUMN("stride_more", "larger strides", NULL, "references"),
    NUMBER_COLUMN("indirect", "indirect", NULL, "references"),
    NUMBER_COLUMN("llvm_mca", "llvm-mca, cycles", "cycles",
                  "cycles of an iteration as simulated by llvm-mca (--llvm-mca)"),
    TEXT_COLUMN("llvm_model", "llvm-mca model", "the model of the core that llvm-mca used"),
    TEXT_COLUMN("machine", "core", "the core of the bounds"),
    TEXT_COLUMN("note", "note", "unknown"),
};
_Static_assert(ARRAY_SIZE(quality_columns) == LOOP_QUALITY_COLUMNS, "as the header says");
const struct table_decl loops_quality_decl = {
    "loop_quality", "Loop quality",
    "Static analysis of the machine code of sampled innermost loops; nothing here is measured.", quality_columns,
    ARRAY_SIZE(quality_columns)};

static const struct table_column check_columns[] = {
    {.name = "place", .title = "loop", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    {.name = "check", .type = TABLE_TEXT, .merge = TABLE_KEY},
    NUMBER_COLUMN("confidence", "confidence", NULL, "0 to 1"),
    NUMBER_COLUMN("gain", "gain at most", "%", "share of the loop's cycles, from the bounds"),
    NUMBER_COLUMN("gain_low", "gain at least", "%",
                  "the same if data come from memory and trip counts are small, unless known"),
    TEXT_COLUMN("found", "found", NULL),
    TEXT_COLUMN("remedy", "remedy", NULL),
    {.name = "line", .type = TABLE_COUNT, .merge = TABLE_LAST},
};
const struct table_decl loops_checks_decl = {"loop_checks", "Loop checks",
                                             "Problems in the machine code of sampled innermost loops.", check_columns,
                                             ARRAY_SIZE(check_columns)};

#define COUNT_COLUMN(word, shown, says)                                                                                \
    {                                                                                                                  \
        .name = word, .title = shown, .description = says, .type = TABLE_COUNT, .merge = TABLE_LAST                    \
    }
static const struct table_column insn_columns[] = {
    {.name = "procedure", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    {.name = "build", .description = "of its module, if two are compared", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "address", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "place", .title = "in", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_LAST},
    {.name = "file", .type = TABLE_REF, .refers = TABLE_FOUND_FILE, .merge = TABLE_LAST},
    COUNT_COLUMN("line", "line", NULL),
    {.name = "text", .title = "instruction", .type = TABLE_TEXT, .merge = TABLE_LAST},
    COUNT_COLUMN("target", "target", "of a jump or call"),
    COUNT_COLUMN("loop", "loop", "header address of the innermost loop around it"),
    COUNT_COLUMN("around", "outer loop", "header address of the next outer loop"),
    {.name = "uops", .description = "as counted by the front end", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "ports", .description = "that each uop can use", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "latency", .unit = "cycles", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    COUNT_COLUMN("chain", "chain", "1: on the longest loop-carried dependency"),
    {.name = "core", .description = "the core of uops, ports and latency", .type = TABLE_TEXT, .merge = TABLE_LAST},
};
_Static_assert(ARRAY_SIZE(insn_columns) == INSTRUCTION_COLUMNS, "as the header says");
const struct table_decl instructions_decl = {TABLE_INSTRUCTIONS, "Instructions",
                                             "Machine code of sampled procedures, with costs from the model.",
                                             insn_columns, ARRAY_SIZE(insn_columns)};

static const struct table_column count_columns[] = {
    {.name = "instruction", .type = TABLE_REF, .refers = TABLE_INSTRUCTIONS, .merge = TABLE_KEY},
    {.name = "metric", .type = TABLE_REF, .refers = "metric", .merge = TABLE_KEY},
    {.name = "value", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
const struct table_decl instructions_counts_decl = {TABLE_INSTRUCTION_COUNTS, "Instruction counts",
                                                    "Counts at each instruction.", count_columns,
                                                    ARRAY_SIZE(count_columns)};

static const struct table *as_declared(const struct experiment *e, const struct table_decl *d)
{
    const struct table *t = table_list_find(&e->tables, d->name);
    return t && table_is(t, d) ? t : NULL;
}

const struct table *instructions_of(const struct experiment *e)
{
    return as_declared(e, &instructions_decl);
}

const struct table *instructions_counts_of(const struct experiment *e)
{
    return as_declared(e, &instructions_counts_decl);
}

enum { LONGEST_INSTRUCTION = 15 };

void experiment_code_of(const struct experiment *e, place_ix procedure, struct experiment_code_list *list)
{
    const struct table *t = instructions_of(e);
    place_ix module = procedure;
    while (module != PLACE_NONE && e->places[module].kind != PLACE_MODULE)
        module = e->places[module].parent;
    size_t first = list->count;
    uint64_t build = TABLE_NO_COUNT;
    for (size_t i = 0; module != PLACE_NONE && t && i < table_row_count(t); i++) {
        const union table_cell *row = table_row(t, i);
        if (row[0].row != procedure || (list->count > first && row[1].count != build))
            continue;
        build = row[1].count;
        uint64_t address = row[2].count;
        struct experiment_code *last = list->count > first ? &list->items[list->count - 1] : NULL;
        if (last && address >= last->to && address - last->to < LONGEST_INSTRUCTION)
            last->to = address + 1;
        else
            *vec_push(list) =
                (struct experiment_code){strtab_get(e->strings, e->places[module].name), address, address + 1};
    }
}
