/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports to an observer of the running program: the launcher, through a named pipe. Lines, fields between tabs:
 *
 *     E  warn  kind  name  module  address  number  threads  phase ns  barrier ns  who came last: "thread 3", "rank 1 thread 3"
 *     P  ...   one rank's passage of a collective: number is of its communicator's, phase ends with its arrival, barrier ns is
 *              what it waited, and who is itself
 *     W  ...   the same of an episode that is not over: 0 for number and phase; barrier ns is the wait so far, and the
 *              thread is one that waits
 */
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/process/process.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct held out = {.fd = -1};

enum { FIELD_BYTES = PIPE_BUF - 500 }; /* the end of a longer path is cut, not the line's */

static void put_field(struct text *t, const char *field)
{
    hpcrec_text_str(t, "\t");
    for (size_t i = 0; field[i] && i < FIELD_BYTES; i++)
        hpcrec_text_strn(t, field[i] == '\t' || field[i] == '\n' ? " " : &field[i], 1);
}

static void put_number(struct text *t, uint64_t n)
{
    hpcrec_text_str(t, "\t");
    hpcrec_text_u64(t, n);
}

static void put_who(struct text *t, uint64_t thread)
{
    hpcrec_text_str(t, "\t");
    if (hpcrec_rank() >= 0) {
        hpcrec_text_str(t, "rank ");
        hpcrec_text_u64(t, (uint64_t)hpcrec_rank());
        hpcrec_text_str(t, " ");
    }
    hpcrec_text_str(t, "thread ");
    hpcrec_text_u64(t, thread);
}

/* A pipe takes a line of this size whole or not at all. */
static void send(const char *what, const struct notice *n, uint64_t phase, uint64_t barrier)
{
    char line[PIPE_BUF];
    uint64_t address = 0;
    const struct site *s = &hpcrec_phases.sites[n->site];
    const struct thread_row *threads = hpcrec.thread_rows.items;
    uint32_t module = s->pc ? hpcrec_maps_find(s->pc, &address) : UINT32_MAX;
    const struct module_row *modules = hpcrec.modules.items;
    struct text t = hpcrec_text(line, sizeof line);
    hpcrec_text_str(&t, what);
    put_number(&t, n->warn);
    put_field(&t, phases_kind_words[s->kind]);
    put_field(&t, s->name);
    put_field(&t, module == UINT32_MAX ? "" : hpcrec_string(modules[module].path));
    put_number(&t, address);
    put_number(&t, n->number);
    put_number(&t, n->threads);
    put_number(&t, phase);
    put_number(&t, barrier);
    put_who(&t, n->last_row < hpcrec.thread_rows.count ? threads[n->last_row].number : 0);
    hpcrec_text_str(&t, "\n");
    if (syscall(SYS_write, out.fd, line, (size_t)(t.at - line)) < 0)
        hpcrec_phases.notices_lost++; /* the reader is too slow */
}

/* Threads that have waited at a barrier for so long: one report each time. */
static void tell_waiting(struct thread *thread, void *now)
{
    struct phases_thread *t = thread->phases;
    uint64_t since = t ? atomic_load_explicit(&t->waits_since, memory_order_acquire) : 0;
    uint32_t site = t ? atomic_load_explicit(&t->waits_at, memory_order_relaxed) : 0;
    uint64_t waited = since && since < *(uint64_t *)now ? *(uint64_t *)now - since : 0;
    bool joined = t && phases_team_has_joined(t);
    if (!hpcrec.config.warn_ns || waited < hpcrec.config.warn_ns || t->warned_since == since || joined ||
        hpcrec_phases.sites[site].kind >= FIRST_WAIT)
        return;
    t->warned_since = since;
    send("W", &(struct notice){.site = site, .last_row = thread->row, .warn = true}, 0, waited);
}

void hpcrec_phases_notify(void)
{
    uint64_t now = phases_now();
    struct phases *p = &hpcrec_phases;
    if (!p->on || !hpcrec.config.notify[0] || hpcrec_held(&out, hpcrec.config.notify, O_WRONLY | O_NONBLOCK) < 0)
        return;
    phases_teams_fold();
    while (p->notice_tail != p->notice_head && phases_trylock()) {
        struct notice n = p->notices[p->notice_tail % NOTICES];
        p->notice_tail++;
        phases_unlock();
        if (n.passage)
            send("P", &n, n.first - n.begin, n.last - n.first);
        else
            send("E", &n, n.last - n.begin, n.last - n.first);
    }
    hpcrec_threads_each(tell_waiting, &now);
}
