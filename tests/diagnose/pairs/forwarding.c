/* planted: StoreForwarding|Chains; set: b; before: -O2 -fno-tree-vectorize -fno-tree-slp-vectorize; after: -O2 -DAFTER. Bytes are stored and read back as a word at once. */
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static unsigned long mix(long n)
{
    unsigned long word = 1;
    volatile unsigned char bytes[8] = {0};
    for (long i = 0; i < n; i++) {
#ifdef AFTER
        word = (word & ~0xfful) | (i & 0xff);
        word = word * 3 + 1;
#else
        bytes[i & 7] = (unsigned char)word;
        word = *(volatile unsigned long *)bytes * 3 + 1;
#endif
    }
    return word + bytes[0];
}
int main(void)
{
    printf("%lu\n", mix(60000000));
}
/* SPDX-License-Identifier: BSD-3-Clause */
