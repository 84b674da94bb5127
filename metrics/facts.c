/*
 * What a run may differ by from another, besides its command and machine: by which compiler, with which options, the code
 * was made that was sampled most (DW_AT_producer of its units), and the environment variables that the recorder noted.
 */
#include "metrics/metrics_int.h"

#define MOST_PROCEDURES 24 /* that are asked for how they were compiled: those with most samples */
#define MOST_COMPILERS  3  /* that are named */

static bool is_among(const char *const *all, size_t n, const char *one)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i], one) == 0)
            return true;
    return false;
}

char *facts_built(struct bloop_binary *binary, struct scope_tree *tree, const struct sampled *sampled,
                  struct warnings *warnings)
{
    struct sampled_procedures procedures = {0};
    char *found[MOST_COMPILERS];
    size_t n = 0;
    struct buf text = {0};
    instructions_choose(tree, sampled, &procedures);
    for (size_t i = 0; i < procedures.count && i < MOST_PROCEDURES && n < MOST_COMPILERS; i++) {
        uint16_t language;
        char *producer = bloop_producer(binary, tree->scopes[procedures.items[i]].entry, &language, warnings);
        if (producer && *producer && !is_among((const char *const *)found, n, producer))
            found[n++] = producer;
        else
            mem_free(producer);
    }
    for (size_t i = 0; i < n; i++) {
        buf_printf(&text, "%s%s", i ? "; " : "", found[i]);
        mem_free(found[i]);
    }
    vec_release(&procedures);
    char *built = n ? mem_strdup(text.bytes) : NULL;
    buf_release(&text);
    return built;
}

struct fact_list VEC(struct experiment_fact);

/* Where processes say different things, one of them is taken, whoever was read first. */
static void add(const struct strtab *strings, struct fact_list *facts, str_id name, str_id value)
{
    for (size_t i = 0; i < facts->count; i++)
        if (facts->items[i].name == name) {
            if (strcmp(strtab_get(strings, value), strtab_get(strings, facts->items[i].value)) < 0)
                facts->items[i].value = value;
            return;
        }
    *vec_push(facts) = (struct experiment_fact){name, value};
}

/* Few: a dozen. */
static void put_in_order(const struct strtab *strings, struct fact_list *facts)
{
    for (size_t i = 1; i < facts->count; i++)
        for (size_t k = i; k > 0 && strcmp(strtab_get(strings, facts->items[k - 1].name),
                                           strtab_get(strings, facts->items[k].name)) > 0;
             k--) {
            struct experiment_fact later = facts->items[k - 1];
            facts->items[k - 1] = facts->items[k];
            facts->items[k] = later;
        }
}

static void take_notes(struct experiment *e, const struct hpcprof *p, struct fact_list *facts)
{
    for (size_t i = 0; i < p->note_count; i++) {
        const char *name = strtab_get(p->strings, p->notes[i].name);
        if (str_starts(name, FACT_ENVIRONMENT) || str_starts(name, FACT_BUILT))
            add(e->strings, facts, strtab_add(e->strings, name),
                strtab_add(e->strings, strtab_get(p->strings, p->notes[i].value)));
    }
}

/* What was run goes by no name: two builds of it have two. */
static const char *name_of(const struct correlation *c, const struct module *m)
{
    return m->program ? "the program" : module_base_name(strtab_get(c->strings, m->path));
}

void facts_take(struct experiment *e, const struct correlation *c, const struct input *inputs, size_t input_count,
                uint32_t run)
{
    struct fact_list facts = {0};
    for (size_t i = 0; i < c->uses.count; i++) {
        const struct module *m = &c->modules.items[c->uses.items[i].module];
        if (c->uses.items[i].run == run && m->built)
            add(e->strings, &facts, strtab_printf(e->strings, FACT_BUILT "%s", name_of(c, m)),
                strtab_add(e->strings, m->built));
    }
    for (size_t i = 0; i < input_count; i++)
        if (inputs[i].run == run)
            take_notes(e, inputs[i].profile, &facts);
    put_in_order(e->strings, &facts);
    e->runs[run].facts = facts.items;
    e->runs[run].fact_count = (uint32_t)facts.count;
}
