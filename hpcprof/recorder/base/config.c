/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's request: one environment variable (protocol.h). */
#include "hpcprof/recorder/base/state.h"

/* Copies one value, up to a separator, with %XX undone; gives where it stopped. */
static const char *value_into(const char *s, char *to, size_t size)
{
    size_t n = 0;
    while (*s && *s != '\n' && *s != ';') {
        char c = *s++;
        if (c == '%' && s[0] && s[1]) {
            unsigned hi = (unsigned)(s[0] <= '9' ? s[0] - '0' : s[0] - 'A' + 10);
            unsigned lo = (unsigned)(s[1] <= '9' ? s[1] - '0' : s[1] - 'A' + 10);
            c = (char)(hi << 4 | lo);
            s += 2;
        }
        if (n + 1 < size)
            to[n++] = c;
    }
    to[n] = '\0';
    return s;
}

static const char *number_into(const char *s, uint64_t *to)
{
    *to = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        *to = *to * 10 + (uint64_t)(*s - '0');
    return s;
}

static const char *skip_separator(const char *s)
{
    return *s == ';' ? s + 1 : s;
}

static void read_event(struct config *c, const char *s)
{
    if (c->event_count == EVENTS_MAX)
        return;
    struct record_event *e = &c->events[c->event_count++].conf;
    uint64_t kind, type, flags;
    s = skip_separator(value_into(s, e->name, sizeof e->name));
    s = skip_separator(value_into(s, e->description, sizeof e->description));
    s = skip_separator(value_into(s, e->unit, sizeof e->unit));
    s = skip_separator(number_into(s, &e->period));
    s = skip_separator(number_into(s, &e->frequency));
    s = skip_separator(number_into(s, &kind));
    s = skip_separator(number_into(s, &type));
    s = skip_separator(number_into(s, &e->config));
    s = skip_separator(number_into(s, &e->config1));
    s = skip_separator(number_into(s, &e->config2));
    s = skip_separator(number_into(s, &flags));
    value_into(s, e->papi_name, sizeof e->papi_name);
    e->kind = (uint32_t)kind;
    e->type = (uint32_t)type;
    e->flags = (uint32_t)flags;
    if (e->period == 0)
        e->period = 1;
}

static void read_line(struct config *c, const char *key, size_t len, const char *value)
{
    uint64_t n;
    char word[16];
#define KEY(text) (len == sizeof text - 1 && memcmp(key, text, len) == 0)
    number_into(value, &n);
    if (KEY("dir"))
        value_into(value, c->dir, sizeof c->dir);
    else if (KEY("papi"))
        value_into(value, c->papi_library, sizeof c->papi_library);
    else if (KEY("only"))
        value_into(value, c->only, sizeof c->only);
    else if (KEY("ranks"))
        value_into(value, c->ranks, sizeof c->ranks);
    else if (KEY("write"))
        c->write_ns = n;
    else if (KEY("env"))
        value_into(value, c->note_env, sizeof c->note_env);
    else if (KEY("event"))
        read_event(c, value);
    else if (KEY("sampler")) {
        value_into(value, word, sizeof word);
        c->papi = strcmp(word, "papi") == 0;
    } else if (KEY("multiplex"))
        c->multiplex = n != 0;
    else if (KEY("children"))
        c->children = n != 0;
    else if (KEY("paths"))
        c->call_paths = n != 0;
    else if (KEY("paths_max"))
        c->paths_max = n;
    else if (KEY("delay"))
        c->delay_ns = n;
    else if (KEY("duration"))
        c->duration_ns = n;
    else if (KEY("region"))
        value_into(value, c->region, sizeof c->region);
    else if (KEY("region_time"))
        c->region_time = (unsigned)n;
    else if (KEY("phases"))
        c->phases = n != 0;
    else if (KEY("watch"))
        c->watch = n != 0;
    else if (KEY("warn"))
        c->warn_ns = n;
    else if (KEY("notify"))
        value_into(value, c->notify, sizeof c->notify);
    else if (KEY("run"))
        c->run = (unsigned)n;
#undef KEY
}

bool hpcrec_config_read(struct config *c, const char *text)
{
    while (text && *text) {
        const char *equals = strchr(text, '='), *end = strchr(text, '\n');
        if (equals && (!end || equals < end))
            read_line(c, text, (size_t)(equals - text), equals + 1);
        text = end ? end + 1 : NULL;
    }
    return c->dir[0] == '/' && c->event_count > 0;
}
