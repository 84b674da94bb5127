/* SPDX-License-Identifier: BSD-3-Clause */
/* Source text: which files are shown, in which chunk, and why one is not. */
#include "htmlgen/write/write.h"

/* A chunk is loaded when one of its files is shown: small enough to be quick, and few enough that the database stays a
   handful of files. */
enum { CHUNK_BYTES = 2 << 20, CHUNKS_WANTED = 24 };

static const char *name_of(const struct experiment *e, size_t file)
{
    return strtab_get(e->strings, e->files[file].name);
}

/* The size of a file that will be shown, 0 where it will not. */
static size_t judge(const struct experiment *e, size_t file, bool no_sources, struct source_text *text,
                    struct warnings *warnings)
{
    struct filemap map;
    struct err err = {0};
    const char *found = strtab_get(e->strings, e->files[file].found);
    size_t size = 0;
    text->state = SOURCE_MISSING;
    if (found[0] == '\0')
        return 0;
    text->state = SOURCE_LEFT_OUT;
    if (no_sources)
        return 0;
    if (filemap_open(&map, found, &err) < 0) {
        text->state = SOURCE_UNREADABLE;
        warnings_add(warnings, "%s; its text is not in the database", err.msg);
        return 0;
    }
    if (map.len > LIMIT_SOURCE_BYTES) {
        text->state = SOURCE_TOO_LARGE;
        warnings_add(warnings,
                     "%s: has %zu bytes, more than the limit of %u for a source file; its text is not in the database",
                     name_of(e, file), map.len, LIMIT_SOURCE_BYTES);
    } else {
        text->state = SOURCE_TEXT;
        size = map.len;
    }
    filemap_release(&map);
    return size;
}

size_t htmlgen_sources_plan(const struct experiment *e, bool no_sources, struct source_text *texts,
                            struct warnings *warnings)
{
    size_t total = 0;
    size_t *sizes = mem_calloc(e->file_count + 1, sizeof *sizes);
    for (size_t i = 0; i < e->file_count; i++) {
        sizes[i] = judge(e, i, no_sources, &texts[i], warnings);
        if (total + sizes[i] > LIMIT_DATABASE_SOURCE_BYTES) {
            texts[i].state = SOURCE_LEFT_OUT;
            warnings_add(warnings, "the source text exceeds %u bytes; files from %s on are not in the database",
                         LIMIT_DATABASE_SOURCE_BYTES, name_of(e, i));
            sizes[i] = 0;
            no_sources = true;
        }
        total += sizes[i];
    }
    size_t chunk_size = total / CHUNKS_WANTED > CHUNK_BYTES ? total / CHUNKS_WANTED : CHUNK_BYTES;
    size_t chunks = 0, in_chunk = 0;
    for (size_t i = 0; i < e->file_count; i++) {
        if (texts[i].state != SOURCE_TEXT)
            continue;
        if (chunks == 0 || in_chunk >= chunk_size) {
            chunks++;
            in_chunk = 0;
        }
        texts[i].chunk = (uint32_t)(chunks - 1);
        in_chunk += sizes[i];
    }
    mem_free(sizes);
    return chunks;
}

void htmlgen_sources_chunk(const struct experiment *e, struct source_text *texts, size_t chunk, struct buf *text,
                           struct warnings *warnings)
{
    for (size_t i = 0; i < e->file_count; i++) {
        struct filemap map;
        struct err err = {0};
        if (texts[i].state != SOURCE_TEXT || texts[i].chunk != chunk)
            continue;
        texts[i].offset = text->len;
        if (filemap_open(&map, strtab_get(e->strings, e->files[i].found), &err) < 0) {
            texts[i].state = SOURCE_UNREADABLE; /* it was there a moment ago */
            warnings_add(warnings, "%s; its text is not in the database", err.msg);
            continue;
        }
        if (map.len <= LIMIT_SOURCE_BYTES)
            htmlgen_utf8(text, map.bytes, map.len);
        else
            texts[i].state = SOURCE_TOO_LARGE;
        filemap_release(&map);
        texts[i].bytes = text->len - texts[i].offset;
    }
}
