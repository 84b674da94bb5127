/* Any bytes as a configuration: what is asked for, or a sentence with file and line. */
#include "metrics/metrics_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config *c = NULL;
    struct warnings *warnings = warnings_create();
    struct err err = {.others = size % 2 ? warnings_create() : NULL}; /* all errors, or the first */
    if (config_read_bytes(data, size, "dir/fuzz.xml", &c, warnings, &err) < 0) {
        if (c || !str_starts(err.msg, "dir/fuzz.xml:"))
            __builtin_trap(); /* every error names the file */
    } else {
        for (size_t i = 0; i < c->metrics.count; i++) {
            const struct config_metric *m = &c->metrics.items[i];
            if (*m->block == '\0' && ((m->expr == NULL) == (*m->event == '\0') || *m->name == '\0'))
                __builtin_trap(); /* a metric is measured or computed */
        }
        mem_free(config_replaced(c, "/a/b/c"));
    }
    config_free(c);
    warnings_free(warnings);
    warnings_free(err.others);
    return 0;
}
