/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging what ranks have read. Each has merged its part of the files; these measurements travel as measurement files
 * do, each preceded by data that such a file does not have: how much was read, warnings, and the sums by thread that
 * are lost once threads are added up. Added in the order of the files, the result is row by row what one process would
 * have made.
 */
#include "hpcprof/format/tables.h"

struct parts { /* this rank's, and of those it has added */
    const struct ranks *ranks;
    struct hpcprof **whole;
    size_t *used;
    bool summed;
    struct warnings *warnings;
    struct VEC(uint32_t) processes; /* by rank from the own one on: how many are of its files */
};

static void put_text(struct buf *out, const char *text)
{
    buf_text(out, text, strlen(text));
}

static void pack_beside(const struct parts *m, struct buf *out)
{
    const struct hpcprof *p = *m->whole;
    struct hpcprof_share *shares = hpcprof_shares(p);
    buf_uleb(out, *m->used);
    buf_uleb(out, p->rows_read);
    buf_uleb(out, m->processes.count);
    for (size_t i = 0; i < m->processes.count; i++)
        buf_uleb(out, m->processes.items[i]);
    buf_uleb(out, warnings_count(m->warnings));
    for (size_t i = 0; i < warnings_count(m->warnings); i++)
        put_text(out, warnings_get(m->warnings, i));
    for (size_t i = 0; i < p->process_count; i++)
        put_text(out, strtab_get(p->strings, p->processes[i].source_file));
    for (size_t i = 0; i < p->event_count; i++) {
        buf_uleb(out, shares[i].sampled);
        buf_uleb(out, shares[i].counted);
    }
    mem_free(shares);
}

static void pack(void *ctx, struct buf *out)
{
    const struct parts *m = ctx;
    struct buf beside = {0};
    struct outfile *file = outfile_into(out);
    hpcprof_finish(*m->whole);
    pack_beside(m, &beside);
    buf_u64(out, beside.len);
    buf_add(out, beside.bytes, beside.len);
    if ((*m->whole)->process_count)
        hpcprof_write(*m->whole, file, NULL);
    outfile_commit(file, NULL);
    buf_release(&beside);
}

/* The data that precede the measurement `p`; false: truncated. */
static bool unpack_beside(struct parts *m, struct cursor *c, struct hpcprof *p, bool adding)
{
    *m->used = (adding ? *m->used : 0) + cursor_uleb(c);
    p->rows_read = cursor_uleb(c);
    for (uint64_t n = cursor_uleb(c); n > 0 && !c->bad; n--) {
        uint32_t processes = (uint32_t)cursor_uleb(c);
        *vec_push(&m->processes) = processes;
    }
    for (uint64_t n = cursor_uleb(c); n > 0 && !c->bad; n--) {
        size_t len;
        const char *text = cursor_text(c, &len);
        warnings_add(adding ? m->warnings : NULL, "%.*s", (int)len, text ? text : "");
    }
    for (size_t i = 0; i < p->process_count; i++) {
        size_t len;
        const char *text = cursor_text(c, &len);
        p->processes[i].source_file = strtab_addn(p->strings, text, len);
    }
    for (uint32_t i = 0; i < p->event_count && m->summed; i++) {
        uint64_t sampled = cursor_uleb(c), counted = cursor_uleb(c);
        hpcprof_tables_add_share(p, i, (struct hpcprof_share){sampled, counted});
    }
    return !c->bad;
}

static int cut_short(struct err *err)
{
    return err_set(err, ERR_FORMAT, "data from another rank are truncated");
}

static int unpack(struct parts *m, const void *bytes, size_t len, bool adding, struct hpcprof **p, struct err *err)
{
    struct cursor c = cursor_make(bytes, len);
    uint64_t beside_len = cursor_u64(&c);
    const uint8_t *beside = beside_len <= cursor_left(&c) ? cursor_bytes(&c, beside_len) : NULL;
    int status = 0;
    if (!beside)
        return cut_short(err);
    if (cursor_left(&c))
        status = hpcprof_read_bytes(c.p, cursor_left(&c), "another rank's part", p, NULL, err);
    else
        *p = hpcprof_create();
    struct cursor at = cursor_make(beside, beside_len);
    if (status == 0 && !unpack_beside(m, &at, *p, adding)) {
        hpcprof_free(*p);
        status = cut_short(err);
    }
    return status;
}

static int add(void *ctx, const void *bytes, size_t len, struct err *err)
{
    struct parts *m = ctx;
    struct hpcprof *theirs;
    struct err tables = {0};
    if (unpack(m, bytes, len, true, &theirs, err) < 0)
        return -1;
    if (hpcprof_add_all(*m->whole, theirs, m->summed, &tables) < 0)
        warnings_add(m->warnings, "%s", tables.msg);
    hpcprof_free(theirs);
    return 0;
}

static int take(void *ctx, const void *bytes, size_t len, struct err *err)
{
    struct parts *m = ctx;
    struct hpcprof *all;
    m->processes.count = 0;
    if (unpack(m, bytes, len, false, &all, err) < 0)
        return -1;
    for (size_t i = 0; i < m->ranks->me && i < m->processes.count; i++)
        all->processes_before += m->processes.items[i];
    hpcprof_free(*m->whole);
    *m->whole = all;
    return 0;
}

int hpcprof_merge_wholes(const struct ranks *ranks, struct hpcprof **whole, size_t *used, bool summed,
                         struct warnings *w, struct err *err)
{
    struct parts m = {.ranks = ranks, .whole = whole, .used = used, .summed = summed, .warnings = w};
    *vec_push(&m.processes) = (uint32_t)(*whole)->process_count;
    int status = ranks_unite(ranks, &(struct ranks_work){&m, pack, add, take}, err);
    vec_release(&m.processes);
    return status;
}
