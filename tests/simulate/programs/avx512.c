int main(void)
{
    __asm__ volatile("vpxorq %%zmm0, %%zmm0, %%zmm0" ::: "memory");
    return 0;
}
