/* planted: Strings; at: upper; set: a; before: -O1 -fno-builtin; after: -O1 -fno-builtin -DAFTER. strlen in the loop's condition. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static void upper(char *s)
{
#ifdef AFTER
    for (size_t i = 0, n = strlen(s); i < n; i++)
#else
    for (size_t i = 0; i < strlen(s); i++)
#endif
        s[i] = (char)toupper((unsigned char)s[i]);
}
int main(void)
{
    static char text[60001];
    for (int r = 0; r < 8; r++) {
        memset(text, 'a' + r, sizeof text - 1);
        upper(text);
    }
    puts(text + 59990);
}
/* SPDX-License-Identifier: BSD-3-Clause */
