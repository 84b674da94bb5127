/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers as a whole: the phase that each thread is in, beginning and end. */
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/sampling/sampling.h"

struct phases hpcrec_phases;

/* ---- the phase a thread is in, for its samples ------------------------------------------------------------------------ */

static uint32_t region_locked(uint32_t site, uint32_t around)
{
    char name[64];
    sigset_t saved;
    struct text t = hpcrec_text(name, sizeof name);
    hpcrec_text_str(&t, "after barrier ");
    hpcrec_text_u64(&t, hpcrec_phases.sites[site].number);
    hpcrec_lock(&saved);
    uint32_t region = hpcrec_region_row(name, around);
    hpcrec_unlock(&saved);
    return region;
}

static uint32_t region_of(struct phases_thread *t)
{
    struct site *s = &hpcrec_phases.sites[t->phase - 1];
    uint32_t region = atomic_load_explicit(&s->region_row, memory_order_relaxed);
    if (t->user_region == 0 && region)
        return region;
    if (t->region_site != t->phase || t->region_user != t->user_region) {
        t->region = region_locked(t->phase - 1, t->user_region);
        t->region_site = t->phase;
        t->region_user = t->user_region;
    }
    if (t->user_region == 0)
        atomic_store_explicit(&s->region_row, t->region, memory_order_relaxed);
    return t->region;
}

static void mark(struct phases_thread *t)
{
    uint32_t region = t->phase ? region_of(t) : t->user_region;
    if (region != hpcrec_self->region)
        hpcrec_mark_region(hpcrec_self, region);
}

void phases_enter(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    t->begun = begun;
    if (t->phase == site + 1)
        return;
    t->phase = site + 1;
    mark(t);
}

void hpcrec_phases_region(struct thread *t, uint32_t region)
{
    if (!t->phases) {
        hpcrec_mark_region(t, region);
        return;
    }
    t->phases->user_region = region;
    mark(t->phases);
}

uint32_t hpcrec_phases_user_region(const struct thread *t)
{
    return t->phases ? t->phases->user_region : t->region;
}

/* ---- beginning and end --------------------------------------------------------------------------------------------------- */

void hpcrec_phases_begin(void)
{
    struct phases *p = &hpcrec_phases;
    if (!hpcrec.config.phases || p->on)
        return;
    p->on = phases_sites_begin() && phases_cells_begin() && phases_objects_begin();
    if (!p->on)
        hpcrec_missing("out of memory for barriers and phases");
}

void hpcrec_phases_thread_create(struct thread *t)
{
    if (hpcrec_phases.on)
        t->phases = hpcrec_map(sizeof *t->phases);
}

void hpcrec_phases_thread_begin(struct thread *t)
{
    if (t->phases)
        t->phases->begun = phases_now();
}

/* Teams stay: a worker that ends may have led one whose threads still look at it. They are few: a page or two each. */
void hpcrec_phases_thread_discard(struct thread *t)
{
    hpcrec_unmap(t->phases, sizeof *t->phases);
}

bool hpcrec_phases_seen(void)
{
    return hpcrec_phases.on && atomic_load(&hpcrec_phases.site_count) > 0;
}

void hpcrec_phases_forget(void)
{
    struct phases *p = &hpcrec_phases;
    if (p->on) {
        phases_sites_forget();
        phases_cells_forget();
        phases_objects_forget();
    }
    hpcrec_area_free(&p->passages, sizeof(struct passage));
    *p = (struct phases){0};
}
