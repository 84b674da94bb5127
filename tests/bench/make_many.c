/*
 * make_many DIR FILES THREADS ADDRESSES EACH EVENTS [all] - a measurement of many processes, and the structure of
 * their program.
 *
 * DIR/m gets FILES measurement files of THREADS threads; each thread has EACH of the ADDRESSES, drawn from a fixed
 * seed, and of each of these one of the EVENTS (all: of all of them). DIR/app.xml is the structure: a procedure for a
 * hundred addresses, ten loops in each, a line for every address.
 */
#include "hpcprof/hpcprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fail(const char *what)
{
    fprintf(stderr, "make_many: %s\n", what);
    exit(1);
}

enum { BYTES_EACH = 16, IN_LOOP = 10, IN_PROCEDURE = 100 };

static void write_structure(const char *dir, unsigned addresses)
{
    char *path = mem_printf("%s/app.xml", dir);
    FILE *f = fopen(path, "w");
    if (!f)
        fail(path);
    fprintf(f, "<?xml version=\"1.0\"?>\n<PGM version=\"4\"><LM n=\"/opt/app\">\n");
    for (unsigned i = 0; i < addresses; i++) {
        unsigned in_file = i % (100 * IN_PROCEDURE), address = 0x1000 + i * BYTES_EACH;
        if (in_file == 0)
            fprintf(f, "%s<F n=\"src/file%05u.c\">\n", i ? "</L></P></F>\n" : "", i / (100 * IN_PROCEDURE));
        else if (i % IN_PROCEDURE == 0)
            fprintf(f, "</L></P>\n");
        else if (i % IN_LOOP == 0)
            fprintf(f, "</L>\n");
        if (i % IN_PROCEDURE == 0)
            fprintf(f, "<P n=\"procedure_%u\" b=\"%u\" e=\"%u\" a=\"%x\" v=\"%x-%x\">\n", i / IN_PROCEDURE, in_file + 1,
                    in_file + IN_PROCEDURE, address, address, address + IN_PROCEDURE * BYTES_EACH);
        if (i % IN_LOOP == 0)
            fprintf(f, "<L b=\"%u\" e=\"%u\" a=\"%x\" v=\"%x-%x\">\n", in_file + 1, in_file + IN_LOOP, address, address,
                    address + IN_LOOP * BYTES_EACH);
        fprintf(f, "<S b=\"%u\" v=\"%x-%x\"/>\n", in_file + 1, address, address + BYTES_EACH);
    }
    fprintf(f, "</L></P></F></LM></PGM>\n");
    if (fclose(f) != 0)
        fail(path);
    mem_free(path);
}

static struct hpcprof *one_process(unsigned rank, unsigned threads, unsigned addresses, unsigned each, unsigned events,
                                   bool all)
{
    struct hpcprof *p = hpcprof_create();
    uint64_t seed = 88172645463325252ull + rank;
    uint32_t module = hpcprof_add_module(p, "/opt/app", "");
    for (unsigned i = 0; i < events; i++) {
        char name[32];
        snprintf(name, sizeof name, "EVENT_%u", i);
        hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, name), .period = 1000003});
    }
    hpcprof_add_process(p, &(struct hpcprof_process){.command = strtab_add(p->strings, "/opt/app"),
                                                     .pid = 1000 + rank,
                                                     .rank = (int32_t)rank,
                                                     .exit_status = 0,
                                                     .complete = true});
    for (unsigned t = 0; t < threads; t++) {
        uint32_t thread = hpcprof_add_thread(p, &(struct hpcprof_thread){.number = t});
        for (unsigned i = 0; i < each; i++) {
            uint64_t r = next_random(&seed), which = each == addresses ? i : r % addresses;
            struct hpcprof_context c = {
                .parent = HPCPROF_NO_PARENT, .module = module, .address = 0x1000 + which * BYTES_EACH};
            uint32_t context = hpcprof_add_context(p, &c), event = all ? 0 : (uint32_t)(r >> 50) % events;
            for (uint32_t k = event; k < (all ? events : event + 1); k++) {
                uint64_t samples = 1 + (r >> 40) % (20 + k);
                hpcprof_add_count(p, &(struct hpcprof_count){thread, context, k, 0, samples, samples * 1000003});
            }
        }
    }
    hpcprof_finish(p);
    return p;
}

int main(int argc, char **argv)
{
    unsigned n[5];
    struct err err = {0};
    if (argc != 7 && !(argc == 8 && strcmp(argv[7], "all") == 0))
        fail("usage: make_many DIR FILES THREADS ADDRESSES EACH EVENTS [all]");
    for (int i = 0; i < 5; i++)
        if ((n[i] = (unsigned)strtoul(argv[2 + i], NULL, 10)) == 0)
            fail("numbers are 1 or more");
    char *folder = mem_printf("%s/m", argv[1]);
    mkdir(folder, 0777);
    write_structure(argv[1], n[2]);
    for (unsigned i = 0; i < n[0]; i++) {
        struct hpcprof *p = one_process(i, n[1], n[2], n[3], n[4], argc == 8);
        char *path = mem_printf("%s/app.node.%u.%u.hpcprof", folder, 1000 + i, i);
        struct outfile *out;
        if (outfile_create(path, &out, &err) < 0 || hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0)
            fail(err.msg);
        mem_free(path);
        hpcprof_free(p);
    }
    mem_free(folder);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
