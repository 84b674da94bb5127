/* planted: InputOutput; set: a; before: -O2; after: -O2 -DAFTER. A write for each line. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    int file = open("/dev/null", O_WRONLY);
    char line[64], buffer[1 << 16];
    size_t kept = 0;
    for (int i = 0; i < 1500000; i++) {
        memset(line, 'a' + i % 26, sizeof line);
#ifdef AFTER
        if (kept + sizeof line > sizeof buffer)
            kept = write(file, buffer, kept) < 0;
        memcpy(buffer + kept, line, sizeof line);
        kept += sizeof line;
#else
        kept += write(file, line, sizeof line) > 0;
        (void)buffer;
#endif
    }
    printf("%zu\n", kept);
}
/* SPDX-License-Identifier: BSD-3-Clause */
