/* What an experiment may know of machine code, as tables: of sampled loops, and of the instructions of sampled procedures. */
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
    TEXT_COLUMN("summary", "summary", "the loop in one sentence"),
    TEXT_COLUMN("role", "role", "which of one source loop's copies it is"),
    NUMBER_COLUMN("vectorized", "vectorized", "%", "packed instructions of those that could be"),
    NUMBER_COLUMN("vector_load", "vector loads", "%", "of the loads"),
    NUMBER_COLUMN("vector_store", "vector stores", "%", "of the stores"),
    NUMBER_COLUMN("vector_add", "vector additions", "%", "of additions and subtractions"),
    NUMBER_COLUMN("vector_multiply", "vector multiplications", "%", "of multiplications"),
    NUMBER_COLUMN("vector_other", "other vector work", "%", "of other calculations"),
    NUMBER_COLUMN("efficiency", "of widest vectors", "%", "used part of the core's widest vectors"),
    NUMBER_COLUMN(
        "bound", "cycles at least", NULL,
        "of an iteration: what the core allows at best; where it is not known how often the loop goes round, in "
        "long entries"),
    NUMBER_COLUMN("bound_short", "however short", NULL,
                  "the same however few iterations an entry has: then the next ones run beside it, and do not wait"),
    NUMBER_COLUMN("trips", "iterations an entry", NULL, "counted by callgrind --collect-jumps=yes"),
    NUMBER_COLUMN("ahead", "looks ahead", "iterations", "so far the core goes on while a chain waits"),
    TEXT_COLUMN("bound_by", "because of", "the largest of the bounds"),
    NUMBER_COLUMN("front_end", "front end", "cycles", "uops / uops that the core takes in a cycle"),
    NUMBER_COLUMN("ports", "ports", "cycles", "calculations"),
    NUMBER_COLUMN("memory", "loads and stores", "cycles", NULL),
    NUMBER_COLUMN("divider", "divider", "cycles", NULL),
    NUMBER_COLUMN("chain", "chain", "cycles", "values handed from iteration to iteration in registers"),
    NUMBER_COLUMN("store_chain", "chain through memory", "cycles", NULL),
    NUMBER_COLUMN("if_vectorized", "if vectorized", "cycles", "the bound if all was vectorized"),
    NUMBER_COLUMN("if_clean", "without address work", "cycles", NULL),
    NUMBER_COLUMN("if_no_chain", "without the chain", "cycles", NULL),
    NUMBER_COLUMN("if_next", "by the next bound", "cycles", NULL),
    NUMBER_COLUMN("instructions", "instructions", NULL, "of the shortest way through the loop"),
    NUMBER_COLUMN("uops", "uops", NULL, NULL),
    NUMBER_COLUMN("paths", "ways", NULL, "through the loop"),
    NUMBER_COLUMN("elements", "numbers an iteration", NULL, "0: unknown"),
    NUMBER_COLUMN("unroll", "unrolled", NULL, "accesses of a stream in an iteration"),
    NUMBER_COLUMN("flops", "flops", NULL, "of an iteration; a multiply-add is two"),
    NUMBER_COLUMN("fma", "multiply-adds", NULL, "instructions that multiply and add, of an iteration"),
    NUMBER_COLUMN("loaded", "loaded", "bytes", "of an iteration"),
    NUMBER_COLUMN("stored", "stored", "bytes", "of an iteration"),
    NUMBER_COLUMN("intensity", "intensity", "flops/byte", NULL),
    NUMBER_COLUMN("address_share", "address work", "%", "instructions that make addresses and conditions only"),
    NUMBER_COLUMN("spills", "spills", NULL, NULL),
    NUMBER_COLUMN("calls", "calls", NULL, NULL),
    NUMBER_COLUMN("stride_one", "stride one", NULL, "references"),
    NUMBER_COLUMN("stride_more", "larger strides", NULL, "references"),
    NUMBER_COLUMN("indirect", "indirect", NULL, "references"),
    NUMBER_COLUMN("llvm_mca", "by llvm-mca", "cycles", "of an iteration, as llvm-mca simulates it (--llvm-mca)"),
    TEXT_COLUMN("llvm_model", "its model", "of llvm-mca's models of cores the one that was used"),
    TEXT_COLUMN("machine", "core", "whose cycles these are"),
    TEXT_COLUMN("note", "note", "what is not known"),
};
_Static_assert(ARRAY_SIZE(quality_columns) == LOOP_QUALITY_COLUMNS, "as the header says");
const struct table_decl loops_quality_decl = {
    "loop_quality", "Loop quality",
    "What the machine code of sampled innermost loops allows; nothing here is measured.", quality_columns,
    ARRAY_SIZE(quality_columns)};

static const struct table_column check_columns[] = {
    {.name = "place", .title = "loop", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    {.name = "check", .type = TABLE_TEXT, .merge = TABLE_KEY},
    NUMBER_COLUMN("confidence", "confidence", NULL, "0 to 1"),
    NUMBER_COLUMN("gain", "may gain", "%", "of the loop's cycles, by the bounds"),
    TEXT_COLUMN("found", "found", NULL),
    TEXT_COLUMN("remedy", "what to do", NULL),
    {.name = "line", .type = TABLE_COUNT, .merge = TABLE_LAST},
};
const struct table_decl loops_checks_decl = {"loop_checks", "Loop checks",
                                             "What there is to be said of the machine code of sampled innermost loops.",
                                             check_columns, ARRAY_SIZE(check_columns)};

#define COUNT_COLUMN(word, shown, says)                                                                                \
    {                                                                                                                  \
        .name = word, .title = shown, .description = says, .type = TABLE_COUNT, .merge = TABLE_LAST                    \
    }
static const struct table_column insn_columns[] = {
    {.name = "procedure", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    {.name = "build", .description = "of its module, where two are compared", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "address", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "place", .title = "in", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_LAST},
    {.name = "file", .type = TABLE_REF, .refers = TABLE_FOUND_FILE, .merge = TABLE_LAST},
    COUNT_COLUMN("line", "line", NULL),
    {.name = "text", .title = "instruction", .type = TABLE_TEXT, .merge = TABLE_LAST},
    COUNT_COLUMN("target", "target", "of a jump or call"),
    COUNT_COLUMN("loop", "loop", "address of the header of the innermost loop that holds it"),
    COUNT_COLUMN("around", "loop around", "address of the header of the loop around that"),
    {.name = "uops", .description = "as the front end counts", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "ports", .description = "that each part may take", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "latency", .unit = "cycles", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    COUNT_COLUMN("chain", "chain", "1: on the longest chain of values from one iteration to the next"),
    {.name = "core", .description = "whose uops, ports and latency these are", .type = TABLE_TEXT, .merge = TABLE_LAST},
};
_Static_assert(ARRAY_SIZE(insn_columns) == INSTRUCTION_COLUMNS, "as the header says");
const struct table_decl instructions_decl = {TABLE_INSTRUCTIONS, "Instructions",
                                             "The machine code of sampled procedures, and what it costs by the model.",
                                             insn_columns, ARRAY_SIZE(insn_columns)};

static const struct table_column count_columns[] = {
    {.name = "instruction", .type = TABLE_REF, .refers = TABLE_INSTRUCTIONS, .merge = TABLE_KEY},
    {.name = "metric", .type = TABLE_REF, .refers = "metric", .merge = TABLE_KEY},
    {.name = "value", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
const struct table_decl instructions_counts_decl = {TABLE_INSTRUCTION_COUNTS, "Instruction counts",
                                                    "What was measured at each instruction.", count_columns,
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
