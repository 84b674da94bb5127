/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files: <machine>, and its parts, of which one is read. */
#include "machines/file.h"

#include <stdio.h>

struct machine_reader {
    struct machine_file file;
    const struct machine_part *part;
    void *ctx;
    bool in_machine, in_part, had_part;
    unsigned skipping; /* elements open in the part that is not asked for */
};

static int begin_part(struct machine_reader *r, const struct xml_event *e, struct err *err)
{
    bool is_memory = strcmp(e->element, "memory") == 0;
    if (!is_memory && strcmp(e->element, "core") != 0)
        return err_set(err, ERR_FORMAT, "%s:%llu: <%s> has no place in <machine>; <memory> and <core> have",
                       r->file.name, (unsigned long long)e->line, e->element);
    if (strcmp(e->element, r->part->element) != 0) {
        r->skipping = 1;
        return 0;
    }
    if (r->had_part)
        return err_set(err, ERR_FORMAT, "%s:%llu: second <%s>; a machine has only one", r->file.name,
                       (unsigned long long)e->line, e->element);
    r->in_part = r->had_part = true;
    return r->part->begin(r->ctx, &r->file, e, err);
}

static int begin(void *ctx, const struct xml_event *e, struct err *err)
{
    static const char *const known[] = {"name", NULL};
    struct machine_reader *r = ctx;
    if (r->skipping) {
        r->skipping++;
        return 0;
    }
    if (r->in_part)
        return r->part->begin_inner(r->ctx, &r->file, e, err);
    if (r->in_machine)
        return begin_part(r, e, err);
    if (strcmp(e->element, "machine") != 0)
        return err_set(err, ERR_FORMAT, "%s:%llu: this is <%s>, not a <machine>", r->file.name,
                       (unsigned long long)e->line, e->element);
    const char *name = xml_attr_get(e, "name");
    snprintf(r->file.machine, sizeof r->file.machine, "%s", name ? name : "");
    r->in_machine = true;
    return xml_attrs_known(e, r->file.name, known, err);
}

static int end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct machine_reader *r = ctx;
    (void)err;
    if (r->skipping)
        r->skipping--;
    else if (strcmp(e->element, r->part->element) == 0)
        r->in_part = false;
    return 0;
}

int machine_file_parse(const void *bytes, size_t len, const char *name, const struct machine_part *part, void *ctx,
                       struct err *err)
{
    struct machine_reader r = {.file = {.name = name}, .part = part, .ctx = ctx};
    struct xml_handler handler = {begin, end, &r};
    return xml_read(bytes, len, name, &handler, err) < 0 ? -1 : r.had_part;
}
