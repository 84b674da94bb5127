/* planted: InputOutput; also: CallsInLoop; by: record; flags: -O2. A system call for each byte. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char c;
    long sum = 0;
    int fd = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 2000000; i++)
        if (read(fd, &c, 1) == 1) /* HERE */
            sum += c + 1;
    printf("%ld\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
