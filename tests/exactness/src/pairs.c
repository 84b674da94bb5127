/* Vector bodies that calculate nothing: numbers are only moved about. See loops.c for the marks. */
struct pair {
    int first, second;
};

void zip(struct pair *restrict to, const int *restrict first, const int *restrict second, long n)
{
    for (long i = 0; i < n; i++) /* LOOP depth=1 */
        to[i] = (struct pair){first[i], second[i]};
}
