// SPDX-License-Identifier: BSD-3-Clause
/* OpenMP in C++, where gcc's marks of statements are others. */
struct atoms {
    int *list;
    double *f;
    void add(int n, const double *buffer);
};
extern "C" int omp_get_thread_num(void) noexcept;

/* The question has no line of its own: what stands there is the brace. */
void atoms::add(int n, const double *buffer)
{
    int i, j;

#pragma omp for schedule(static) /* LOOP depth=1 near=1 */
    for (i = 0; i < n; i++) {
        j = list[i];
        f[j * 3] += buffer[3 * i];
        f[j * 3 + 1] += buffer[3 * i + 1];
        f[j * 3 + 2] += buffer[3 * i + 2];
    }
}

/* The program has asked half of the question itself, and statements without marks follow. */
struct vec {
    double *p;
    double operator[](long i) const { return p[i]; }
};
template <typename V> struct product {
    static double of(double *sums, const V &x, const V &y, unsigned long n)
    {
#pragma omp parallel
        {
            const int own = omp_get_thread_num();

            double s = 0;
            double c = 0;

#pragma omp for nowait /* LOOP depth=1 near=1 */
            for (long i = 0; i < static_cast<long>(n); ++i) {
                double d = x[i] * y[i] - c;
                double t = s + d;
                c = (t - s) - d;
                s = t;
            }
            sums[own] = s;
        }
        return sums[0];
    }
};
double product_of(double *sums, const vec &x, const vec &y, unsigned long n) { return product<vec>::of(sums, x, y, n); }

/* A loop in a macro that calls: all its own code is without marks, and on the line of the call. */
#define FOR_BLOCKS(BODY) \
    _Pragma("omp parallel for") for (int block = 0; block < blocks; block++) { \
        int first = block * size, last = n < first + size ? n : first + size; \
        BODY; \
    }

template <class T> static inline void running_sum(T *out, const T *in, int first, int last, bool back)
{
    T sum = 0;
    if (back)
        for (int i = last - 1; i >= first; i--) /* LOOP depth=1 */
            out[i] = sum = sum + in[i];
    else
        for (int i = first; i < last; i++) /* LOOP depth=1 */
            out[i] = sum = sum + in[i];
}

void sums_of_blocks(double *out, const double *in, int blocks, int size, int n, bool back)
{
    FOR_BLOCKS(running_sum(out, in, first, last, back)) /* LOOP depth=1 */
}
