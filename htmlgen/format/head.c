/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of the head that are the members of one struct: written and read by the same list. */
#include "htmlgen/format/format.h"

#define METRIC(kind, name)                                                                                             \
    {                                                                                                                  \
#name, FIELD_##kind, offsetof(struct metric, name)                                                             \
    }
const struct field htmlgen_metric_fields[] = {
    METRIC(TEXT, name),    METRIC(TEXT, display_name), METRIC(TEXT, unit),      METRIC(TEXT, description),
    METRIC(TEXT, formula), METRIC(TEXT, event),        METRIC(COUNT, period),   METRIC(FLAG, percent),
    METRIC(FLAG, display), METRIC(FLAG, sort_by),      METRIC(FLAG, estimated), METRIC(FLAG, has_exclusive),
    METRIC(FLAG, summed),  METRIC(INDEX, run),         {NULL, FIELD_TEXT, 0},
};

#define RUN(kind, name) FIELD_##kind, offsetof(struct experiment_run, name)
const struct field htmlgen_run_fields[] = {
    {"name", RUN(TEXT, name)},   {"machine", RUN(TEXT, machine)}, {"command", RUN(COMMAND, command)},
    {"asked", RUN(TEXT, asked)}, {NULL, FIELD_TEXT, 0},
};
const struct field htmlgen_run_processes[] = {
    {"first_process", RUN(SIZE, process_first)},
    {"processes", RUN(SIZE, process_count)},
    {"root", RUN(SIZE, root)},
    {NULL, FIELD_TEXT, 0},
};

#define PROCESS(kind, name) FIELD_##kind, offsetof(struct hpcprof_process, name)
const struct field htmlgen_process_names[] = {
    {"source", PROCESS(BASE_NAME, source_file)},
    {"host", PROCESS(TEXT, host)},
    {"command", PROCESS(COMMAND, command)},
    {"machine", PROCESS(TEXT, machine)},
    {"kernel", PROCESS(TEXT, kernel)},
    {"sampler", PROCESS(TEXT, sampler)},
    {NULL, FIELD_TEXT, 0},
};
const struct field htmlgen_process_fields[] = {
    {"threads", PROCESS(SIZE, thread_count)},
    {"rank", PROCESS(STATUS, rank)},
    {"exit_status", PROCESS(STATUS, exit_status)},
    {"complete", PROCESS(FLAG, complete)},
    {NULL, FIELD_TEXT, 0},
};

static const char *without_folder(const char *command)
{
    size_t word = strcspn(command, " ");
    const char *start = command;
    for (const char *p = command; p < command + word; p++)
        if (*p == '/' && p + 1 < command + word)
            start = p + 1;
    return start;
}

void htmlgen_put_fields(struct jsonout *j, const struct strtab *strings, const struct field *f, const void *from)
{
    for (; f->key; f++) {
        const void *at = (const char *)from + f->offset;
        const uint32_t *word = at;
        switch (f->kind) {
        case FIELD_TEXT:
            json_put_string(j, f->key, strtab_get(strings, *word));
            break;
        case FIELD_COMMAND:
            json_put_string(j, f->key, without_folder(strtab_get(strings, *word)));
            break;
        case FIELD_BASE_NAME:
            json_put_string(j, f->key, path_base(strtab_get(strings, *word)));
            break;
        case FIELD_COUNT:
            json_put_u64(j, f->key, *(const uint64_t *)at);
            break;
        case FIELD_SIZE:
            json_put_u64(j, f->key, *word);
            break;
        case FIELD_INDEX:
            json_put_i64(j, f->key, *word == UINT32_MAX ? -1 : (int64_t)*word);
            break;
        case FIELD_STATUS:
            json_put_i64(j, f->key, *(const int32_t *)at);
            break;
        case FIELD_FLAG:
            json_put_bool(j, f->key, *(const bool *)at);
            break;
        }
    }
}

void htmlgen_get_fields(const struct json *j, json_ix object, struct strtab *strings, const struct field *f, void *to)
{
    for (; f->key; f++) {
        void *at = (char *)to + f->offset;
        json_ix value = json_get(j, object, f->key);
        double number = json_number(j, value);
        uint64_t count = json_count(j, value);
        switch (f->kind) {
        case FIELD_TEXT:
        case FIELD_COMMAND:
        case FIELD_BASE_NAME:
            *(str_id *)at = strtab_add(strings, json_string_of(j, value));
            break;
        case FIELD_COUNT:
            *(uint64_t *)at = count;
            break;
        case FIELD_SIZE:
            *(uint32_t *)at = count < UINT32_MAX ? (uint32_t)count : 0;
            break;
        case FIELD_INDEX:
            *(uint32_t *)at = number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
            break;
        case FIELD_STATUS:
            *(int32_t *)at = number >= 0 && number < INT32_MAX ? (int32_t)number : -1;
            break;
        case FIELD_FLAG:
            *(bool *)at = count != 0;
            break;
        }
    }
}
