/* Loops of a macro are all on one line. gcc moves a part of an exchange past the `return`, where the row of the
   procedure's end is still in effect: the loops end on their line. */
#define PARTITION(base, low, high)                    \
    {                                                 \
        long *left = (low), *right = (high), *mid;    \
        while (left <= right) {                       \
            mid = left + ((right - left) >> 1);       \
            if (*mid < *left)                         \
                mid = left;                           \
            if (*right < *mid)                        \
                mid = right;                          \
            do {                                      \
                while (*left < *mid)                  \
                    left++;                           \
                while (*mid < *right)                 \
                    right--;                          \
                if (left < right) {                   \
                    long t = *left;                   \
                    *left = *right;                   \
                    *right = t;                       \
                    if (mid == left)                  \
                        mid = right;                  \
                    else if (mid == right)            \
                        mid = left;                   \
                    left++;                           \
                    right--;                          \
                } else if (left == right) {           \
                    left++;                           \
                    right--;                          \
                    break;                            \
                }                                     \
            } while (left <= right);                  \
            left = (base);                            \
        }                                             \
    }

void behind_return(long *base, long n)
{
    PARTITION(base, base, base + n) /* LOOP depth=1 */
}
/* SPDX-License-Identifier: BSD-3-Clause */
