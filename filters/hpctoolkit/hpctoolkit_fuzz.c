/* SPDX-License-Identifier: BSD-3-Clause */
/* The two files of an HPCToolkit database, concatenated: meta.db ends at the first "_meta.db". */
#include "filters/hpctoolkit/hpctoolkit_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char footer[] = "_meta.db";
    static const struct filter_options options;
    const uint8_t *end = size ? memmem(data, size, footer, sizeof footer - 1) : NULL;
    size_t meta = end ? (size_t)(end - data) + sizeof footer - 1 : size / 2;
    struct hpctoolkit_files files = {data, data + meta, meta, size - meta};
    struct filter_input input = {.bytes = data, .len = size, .name = "fuzz", .options = &options};
    struct hpcprof *p = hpcprof_create();
    struct err err = {0};
    if (hpctoolkit_v4(&files, &input, p, NULL, &err) == 0)
        hpcprof_finish(p);
    else if (!str_starts(err.msg, "fuzz"))
        __builtin_trap();
    hpcprof_free(p);
    return 0;
}
