/* A call through a table in the program reads the table, in addition to its writes to the stack. */
static long numbers[64] = {1};

static long up(long i)
{
    return numbers[i % 64] += i;
}

static long down(long i)
{
    return numbers[i % 64] -= i;
}

static long (*table[2])(long) = {up, down};
long (**volatile which)(long) = table;

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 1000; i++)
        sum += which[i % 2](i);
    return sum == 1;
}
/* SPDX-License-Identifier: BSD-3-Clause */
