/* SPDX-License-Identifier: BSD-3-Clause */
/* Which core this machine has: by the model of its processor, as /proc/cpuinfo has it. */
#include "machines/core.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/processor_test.XXXXXX";

static char *put_file(const char *name, const char *text)
{
    char *path = path_join(folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

/* The core chosen on such a machine, or the reason for none. */
static char *core_on(const char *dir, const char *cpuinfo, bool aarch64)
{
    struct machine_core *core;
    struct err err = {0};
    char *path = put_file("cpuinfo", cpuinfo);
    int status = machine_core_here(dir, path, aarch64, &core, &err);
    char *text = status < 0 ? mem_strdup(err.msg) : mem_printf("%s (%u)", core->assumed, core->vector);
    CHECK((status < 0) == (core == NULL));
    machine_core_free(core);
    unlink(path);
    mem_free(path);
    return text;
}

static void check_core(const char *dir, const char *cpuinfo, bool aarch64, const char *want)
{
    char *text = core_on(dir, cpuinfo, aarch64);
    CHECK_STR(text, want);
    mem_free(text);
}

/* ---- the files that come with hpcview --------------------------------------------------------------- */

#define X86(vendor, family, model, flags)                                                                              \
    "processor\t: 0\nvendor_id\t: " vendor "\ncpu family\t: " family "\nmodel\t\t: " model                             \
    "\nmodel name\t: A Name\nflags\t\t: fpu sse2 " flags "\n"
#define ARM(implementer, part)                                                                                         \
    "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: " implementer "\nCPU part\t: " part "\n"
#define AVX512   "avx avx2 avx512f avx512bw avx512dq avx512_vbmi2 avx512_bitalg"
#define BY_MODEL ", by the model of this machine's processor "

static const struct {
    const char *cpuinfo, *core;
    bool aarch64;
} known[] = {
    {X86("AuthenticAMD", "23", "49", "avx avx2 clwb rdpid"), "AMD Zen 2" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "23", "113", "avx avx2"), "AMD Zen 2" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "25", "1", "avx avx2 clwb vaes vpclmulqdq"), "AMD Zen 3" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "25", "33", "avx avx2 clwb vaes vpclmulqdq"), "AMD Zen 3" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "25", "80", "avx avx2 clwb vaes vpclmulqdq"), "AMD Zen 3" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "25", "17", AVX512 " avx512_bf16 vaes vpclmulqdq clwb"), "AMD Zen 4" BY_MODEL "(64)", false},
    {X86("AuthenticAMD", "25", "97", AVX512 " avx512_bf16"), "AMD Zen 4" BY_MODEL "(64)", false},
    {X86("AuthenticAMD", "25", "160", AVX512 " avx512_bf16"), "AMD Zen 4" BY_MODEL "(64)", false},
    /* a virtual machine that hides AVX-512: the core is the same, its widest vectors are not */
    {X86("AuthenticAMD", "25", "17", "avx avx2 clwb vaes vpclmulqdq"), "AMD Zen 4" BY_MODEL "(32)", false},
    {X86("AuthenticAMD", "26", "2", AVX512 " avx512_bf16 vaes vpclmulqdq clwb"), "AMD Zen 5" BY_MODEL "(64)", false},
    {X86("AuthenticAMD", "26", "36", AVX512), "AMD Zen 5" BY_MODEL "(64)", false},
    {X86("AuthenticAMD", "26", "68", AVX512), "AMD Zen 5" BY_MODEL "(64)", false},
    {X86("GenuineIntel", "6", "85", "avx avx2 avx512f avx512bw avx512dq"), "Intel Skylake-X" BY_MODEL "(64)", false},
    {X86("GenuineIntel", "6", "158", "avx avx2"), "Intel Skylake-X" BY_MODEL "(32)", false},
    {X86("GenuineIntel", "6", "106", AVX512), "Intel Ice Lake (server)" BY_MODEL "(64)", false},
    {X86("GenuineIntel", "6", "143", AVX512 " avx512_fp16 amx_tile"),
     "Intel Golden Cove (Sapphire Rapids)" BY_MODEL "(64)", false},
    {X86("GenuineIntel", "6", "207", AVX512 " avx512_fp16 amx_tile"),
     "Intel Golden Cove (Sapphire Rapids)" BY_MODEL "(64)", false},
    {X86("GenuineIntel", "6", "183", "avx avx2"), "Intel Golden Cove (Sapphire Rapids)" BY_MODEL "(32)", false},
    {X86("GenuineIntel", "6", "173", AVX512 " avx512_fp16 amx_tile amx_fp16"), "Intel Redwood Cove" BY_MODEL "(64)",
     false},
    {X86("GenuineIntel", "6", "170", "avx avx2"), "Intel Redwood Cove" BY_MODEL "(32)", false},
    {X86("GenuineIntel", "6", "189", "avx avx2"), "Intel Lion Cove" BY_MODEL "(32)", false},
    {X86("GenuineIntel", "6", "198", "avx avx2"), "Intel Lion Cove" BY_MODEL "(32)", false},
    {ARM("0x41", "0xd0c"), "Arm Neoverse N1" BY_MODEL "(16)", true},
    {ARM("0x41", "0xd49"), "Arm Neoverse N2" BY_MODEL "(16)", true},
    {ARM("0x41", "0xd40"), "Arm Neoverse V1" BY_MODEL "(32)", true},
    {ARM("0x41", "0xd4f"), "Arm Neoverse V2" BY_MODEL "(16)", true},
    {ARM("0x46", "0x001"), "Fujitsu A64FX" BY_MODEL "(64)", true},
    {ARM("0x41", "0xd4f") ARM("0x41", "0xd4f"), "Arm Neoverse V2" BY_MODEL "(16)", true},
    /* code for the other kind of processor */
    {ARM("0x41", "0xd0c"),
     "Intel Skylake-X, because this machine has another architecture than the code; --machine selects another (64)",
     false},
    {X86("AuthenticAMD", "26", "2", AVX512),
     "Arm Neoverse N1, because this machine has another architecture than the code; --machine selects another (16)",
     true},
#define REFUSED(processor)                                                                                             \
    "no machine file describes this machine's processor, " processor "; --machine names a core to count with"
    /* unknown ones have no model, whatever features they share with known ones */
    {X86("AuthenticAMD", "27", "0", AVX512 " avx512_bf16 vaes vpclmulqdq clwb rdpid"),
     REFUSED("AuthenticAMD, family 27, model 0 (A Name)"), false},
    {X86("AuthenticAMD", "23", "1", "avx avx2"), REFUSED("AuthenticAMD, family 23, model 1 (A Name)"), false},
    {X86("GenuineIntel", "6", "204", "avx avx2"), REFUSED("GenuineIntel, family 6, model 204 (A Name)"), false},
    {X86("GenuineIntel", "25", "17", AVX512), REFUSED("GenuineIntel, family 25, model 17 (A Name)"), false},
    /* a virtual machine calls a Sapphire Rapids a Rocket Lake */
    {X86("GenuineIntel", "6", "167", AVX512 " avx512_fp16 amx_tile"),
     REFUSED("GenuineIntel, family 6, model 167 (A Name)"), false},
    {ARM("0x41", "0xd84"), REFUSED("0x41, part 0xd84"), true},
    {ARM("0x42", "0xd0c"), REFUSED("0x42, part 0xd0c"), true},
    /* large and small cores: it is unknown on which a loop runs */
    {ARM("0x41", "0xd0c") ARM("0x41", "0xd05"), REFUSED("0x41, part 0xd0c and others"), true},
};

static void check_known(void)
{
    const char *top = getenv("top_srcdir");
    char *dir = path_join(top ? top : ".", "share/machines");
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        check_core(dir, known[i].cpuinfo, known[i].aarch64, known[i].core);
    mem_free(dir);
}

/* ---- processors in a machine file ---------------------------------------------------------------------- */

static void put_core(const char *name, const char *attributes)
{
    char *file = mem_printf("cores/%s.xml", name);
    char *text = mem_printf("<machine><core name=\"The %s\" issue=\"4\" vector=\"16\" arch=\"x86-64\" %s>"
                            "<op kind=\"int\"/><op kind=\"branch\"/><op kind=\"load\"/><op kind=\"store\"/>"
                            "<op kind=\"fp-add\"/><op kind=\"fp-multiply\"/></core></machine>",
                            name, attributes);
    mem_free(put_file(file, text));
    mem_free(text);
    mem_free(file);
}

static void check_rules(void)
{
    struct machine_core *core;
    struct err err = {0};
    char *dir = path_join(folder, "cores");
    CHECK(mkdir(dir, 0700) == 0);
    put_core("a", "vendor=\"Maker\" models=\"6/1 6/3-5 7/0x10\"");
    put_core("b", "vendor=\"Maker\" models=\"6/9\" features=\"f1  f2\" without=\"f3 f4\"");
    put_core("c", "models=\"6/9\" features=\"f5\"");
    put_core("d", "vendor=\"Maker\" features=\"f1\""); /* of no model: only by its name */
    put_core("e", "models=\"6/2\" issue=\"twice\"");   /* invalid: no core to choose */
#define MAKER(family, model, flags) X86("Maker", family, model, flags)
#define NONE(family, model)         REFUSED("Maker, family " family ", model " model " (A Name)")
    check_core(dir, MAKER("6", "1", ""), false, "The a" BY_MODEL "(16)");
    check_core(dir, MAKER("6", "2", ""), false, NONE("6", "2"));
    check_core(dir, MAKER("6", "3", ""), false, "The a" BY_MODEL "(16)");
    check_core(dir, MAKER("6", "5", ""), false, "The a" BY_MODEL "(16)");
    check_core(dir, MAKER("6", "6", ""), false, NONE("6", "6"));
    check_core(dir, MAKER("7", "1", ""), false, NONE("7", "1"));
    check_core(dir, MAKER("7", "16", ""), false, "The a" BY_MODEL "(16)");
    check_core(dir, MAKER("6", "9", "f2 f1"), false, "The b" BY_MODEL "(16)");
    check_core(dir, MAKER("6", "9", "f1 f22"), false, NONE("6", "9"));
    check_core(dir, MAKER("6", "9", "f1 f2 f4"), false, NONE("6", "9"));
    check_core(dir, MAKER("6", "9", "f5 f4"), false, "The c" BY_MODEL "(16)");
    check_core(dir, X86("Other", "6", "1", "f1"), false, REFUSED("Other, family 6, model 1 (A Name)"));
    check_core(dir, "model name : Named so\nmodel : 1\ncpu family : 6\n", false,
               REFUSED("of an unknown maker, family 6, model 1 (Named so)"));
    CHECK_INT(machine_core_here(dir, "/nowhere", false, &core, &err), -1);
    CHECK(core == NULL);
    CHECK_STR(err.msg, "/nowhere: reading this machine's processor: No such file or directory");
    for (const char *name = "abcde"; *name; name++) {
        char *path = mem_printf("%s/%c.xml", dir, *name);
        unlink(path);
        mem_free(path);
    }
    rmdir(dir);
    mem_free(dir);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return tap_done();
    check_known();
    check_rules();
    rmdir(folder);
    return tap_done();
}
