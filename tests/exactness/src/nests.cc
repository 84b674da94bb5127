// SPDX-License-Identifier: BSD-3-Clause
/* Calls that are loops' conditions, and calls of which a rest is in loops behind them. */
#include <cmath>
#include <cstdint>
static inline bool digit(const uint8_t c, uint64_t &i)
{
    const uint8_t d = static_cast<uint8_t>(c - '0');
    if (d > 9) {
        return false;
    }
    i = 10 * i + d;
    return true;
}
uint64_t number(const uint8_t *p)
{
    uint64_t i = 0;
    while (digit(*p, i)) { /* LOOP depth=1 */
        p++;
    }
    return i;
}

static inline void shock(double **z, double **r, int bs, int n, int f)
{
    for (int l = 0; l <= f - 1; ++l)            /* LOOP depth=1 */
        for (int b = 0; b < bs; b++)            /* LOOP depth=2 */
            for (int j = 1; j <= n - 1; ++j)    /* LOOP depth=3 */
                z[l][bs * j + b] = r[l][bs * j + b] * 0.5;
}
int path(double **out, double **z, double **r, double **fac, double *drift, int bs, int n, int f, double dt)
{
    int i, j, l;
    double s = std::sqrt(dt), t;
    shock(z, r, bs, n, f);
    for (int b = 0; b < bs; b++) {                      /* LOOP depth=1 */
        for (j = 1; j <= n - 1; ++j) {                  /* LOOP depth=2 */
            for (l = 0; l <= n - (j + 1); ++l) {        /* LOOP depth=3 */
                t = 0;
                for (i = 0; i <= f - 1; ++i) {          /* LOOP depth=4 */
                    t += fac[i][l] * z[i][bs * j + b];
                }
                out[j][bs * l + b] = out[j - 1][bs * (l + 1) + b] + drift[l] * dt + s * t;
            }
        }
    }
    return 1;
}
