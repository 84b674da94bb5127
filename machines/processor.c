/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors, as /proc/cpuinfo describes them. */
#include "machines/processor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- this machine's ------------------------------------------------------------------------------- */

/* The first value of the key behind `*from`, which is moved behind it; NULL: there is none. */
static char *next_value(const char **from, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = *from, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *value = memchr(line, ':', (size_t)(end - line));
        bool is_key = strncmp(line, key, n) == 0 && (line[n] == '\t' || line[n] == ' ' || line[n] == ':');
        if (!value || !is_key || line[n + strspn(line + n, "\t ")] != ':')
            continue;
        value += 1 + strspn(value + 1, " ");
        *from = end;
        return mem_strndup(value, value < end ? (size_t)(end - value) : 0);
    }
    return NULL;
}

static char *value_of(const char *text, const char *key)
{
    char *value = next_value(&text, key);
    return value ? value : mem_strdup("");
}

static char *value_of_either(const char *text, const char *key, const char *other)
{
    char *value = value_of(text, key);
    if (*value)
        return value;
    mem_free(value);
    return value_of(text, other);
}

static bool number_of(const char *text, const char *key, unsigned *number)
{
    char *value = value_of(text, key), *end;
    *number = (unsigned)strtoul(value, &end, 0);
    bool is_number = end != value && *end == '\0';
    mem_free(value);
    return is_number;
}

static bool has_several_parts(const char *text, const char *part)
{
    bool several = false;
    for (char *other; !several && (other = next_value(&text, "CPU part"));) {
        several = strcmp(other, part) != 0;
        mem_free(other);
    }
    return several;
}

int processor_read(const char *cpuinfo, struct processor *p, struct err *err)
{
    enum { MOST_BYTES = 4 << 20 };
    struct buf text = {0};
    char part[4096];
    FILE *f = fopen(cpuinfo, "r"); /* files of the kernel have no length */
    if (!f)
        return err_errno(err, cpuinfo, "reading this machine's processor");
    for (size_t n; text.len < MOST_BYTES && (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_add(&text, part, n);
    fclose(f);
    const char *all = text.bytes ? text.bytes : "";
    *p = (struct processor){.vendor = value_of_either(all, "vendor_id", "CPU implementer"),
                            .model_name = value_of(all, "model name"),
                            .features = value_of_either(all, "flags", "Features"),
                            .part = value_of(all, "CPU part")};
    bool has_family = number_of(all, "cpu family", &p->family);
    p->has_model = number_of(all, "model", &p->model) && has_family;
    p->has_several = has_several_parts(all, p->part);
    buf_release(&text);
    return 0;
}

void processor_release(struct processor *p)
{
    mem_free(p->vendor);
    mem_free(p->model_name);
    mem_free(p->features);
    mem_free(p->part);
}

char *processor_name(const struct processor *p)
{
    struct buf b = {0};
    buf_printf(&b, "%s", *p->vendor ? p->vendor : "of an unknown maker");
    if (p->has_model)
        buf_printf(&b, ", family %u, model %u", p->family, p->model);
    if (*p->part)
        buf_printf(&b, ", part %s%s", p->part, p->has_several ? " and others" : "");
    if (*p->model_name)
        buf_printf(&b, " (%s)", p->model_name);
    return b.bytes;
}

/* ---- is it one of these? --------------------------------------------------------------------------- */

/* The next word, with the pointer moved behind it; 0: none. */
static size_t next_word(const char **words, const char **word)
{
    *word = *words + strspn(*words, " ");
    size_t n = strcspn(*word, " ");
    *words = *word + n;
    return n;
}

static bool has_word(const char *words, const char *word, size_t n)
{
    const char *one;
    for (size_t length; (length = next_word(&words, &one)) > 0;)
        if (length == n && memcmp(one, word, n) == 0)
            return true;
    return false;
}

bool processor_has(const struct processor *p, const char *feature)
{
    return has_word(p->features, feature, strlen(feature));
}

/* How many of the words it has, and how many there are. */
static unsigned count_features(const struct processor *p, const char *words, unsigned *all)
{
    unsigned there = 0;
    const char *word;
    *all = 0;
    for (size_t n; (n = next_word(&words, &word)) > 0; ++*all)
        there += has_word(p->features, word, n);
    return there;
}

static bool has_all(const struct processor *p, const char *words)
{
    unsigned all;
    return count_features(p, words, &all) == all;
}

static bool has_any(const struct processor *p, const char *words)
{
    unsigned all;
    return count_features(p, words, &all) > 0;
}

/* "25/16-31" or "6/85" */
static bool is_model(const struct processor *p, const char *text)
{
    char *end;
    unsigned long family = strtoul(text, &end, 0), first = *end == '/' ? strtoul(end + 1, &end, 0) : ULONG_MAX;
    unsigned long last = *end == '-' ? strtoul(end + 1, &end, 0) : first;
    return p->family == family && first <= p->model && p->model <= last;
}

static bool has_model_of(const struct processor *p, const char *models)
{
    const char *word;
    while (p->has_model && next_word(&models, &word) > 0)
        if (is_model(p, word))
            return true;
    return false;
}

bool processor_is_one_of(const struct processor *p, const struct machine_processors *of, bool aarch64)
{
    bool is_named =
        aarch64 ? *of->part && strcmp(of->part, p->part) == 0 && !p->has_several : has_model_of(p, of->models);
    return is_named && (!*of->vendor || strcmp(of->vendor, p->vendor) == 0) && has_all(p, of->features) &&
           !has_any(p, of->without);
}
