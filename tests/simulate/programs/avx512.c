int main(void)
{
    __asm__ volatile("vpxorq %%zmm0, %%zmm0, %%zmm0" ::: "memory");
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
