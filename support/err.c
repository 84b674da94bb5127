/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors and warnings. */
#include "support/support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static void err_fill(struct err *e, enum err_kind kind, const char *fmt, va_list args)
{
    if (!e)
        return;
    e->kind = kind;
    vsnprintf(e->msg, sizeof e->msg, fmt, args);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_fill(e, kind, fmt, args);
    va_end(args);
    return -1;
}

int err_in(struct err *e, const char *fmt, ...)
{
    struct err where;
    va_list args;
    if (!e)
        return -1;
    va_start(args, fmt);
    err_fill(&where, e->kind, fmt, args);
    va_end(args);
    size_t used = strlen(where.msg);
    snprintf(where.msg + used, sizeof where.msg - used, ": %.*s", (int)sizeof e->msg, e->msg);
    memcpy(e->msg, where.msg, sizeof e->msg);
    return -1;
}

int err_errno(struct err *e, const char *path, const char *what)
{
    int number = errno;
    return err_set(e, ERR_SYSTEM, "%s: %s: %s", path, what, strerror(number));
}

bool err_gather(struct err_gathered *g, struct err *e)
{
    if (!e || !e->others)
        return false;
    if (g->count++)
        warnings_add(e->others, "%s", g->last);
    if (e->kind == ERR_LIMIT) { /* each error beyond the limit would repeat that */
        g->count = 0;
        return false;
    }
    memcpy(g->last, e->msg, sizeof g->last);
    g->kind = e->kind;
    e->kind = ERR_NONE;
    return true;
}

int err_gathered(const struct err_gathered *g, struct err *e)
{
    if (g->count == 0)
        return 0;
    e->kind = g->kind;
    memcpy(e->msg, g->last, sizeof e->msg);
    return -1;
}

struct warnings {
    pthread_mutex_t lock;
    struct VEC(char *) kept;
    uint64_t dropped;
    char *last; /* the sentence that counts the dropped ones, made when asked for */
};

struct warnings *warnings_create(void)
{
    struct warnings *w = mem_calloc(1, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

void warnings_free(struct warnings *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->kept.count; i++)
        mem_free(w->kept.items[i]);
    vec_release(&w->kept);
    mem_free(w->last);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}

static bool already_said(const struct warnings *w, const char *text)
{
    for (size_t i = 0; i < w->kept.count; i++)
        if (strcmp(w->kept.items[i], text) == 0)
            return true;
    return false;
}

void warnings_add(struct warnings *w, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    if (!w)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&w->lock);
    if (!already_said(w, text)) {
        if (w->kept.count < LIMIT_WARNINGS)
            *vec_push(&w->kept) = mem_strdup(text);
        else
            w->dropped++;
    }
    pthread_mutex_unlock(&w->lock);
}

size_t warnings_count(const struct warnings *w)
{
    return w->kept.count + (w->dropped != 0);
}

const char *warnings_get(const struct warnings *w, size_t i)
{
    if (i < w->kept.count)
        return w->kept.items[i];
    struct warnings *writable = (struct warnings *)w;
    mem_free(writable->last);
    return writable->last = mem_printf("%llu more warnings omitted", (unsigned long long)w->dropped);
}
