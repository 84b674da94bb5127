/* Counted by gcov: a loop, a branch taken sometimes, one never taken, and a function called often. */
static int sum;

static void add(int n)
{
    if (n % 3 == 0)
        sum += n;
    else
        sum -= 1;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++)
        add(i);
    if (argc > 5)
        sum = argv[1][0];
    return sum == 1;
}
/* SPDX-License-Identifier: BSD-3-Clause */
