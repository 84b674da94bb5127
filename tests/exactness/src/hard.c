/* Effects of optimization on loops: each function is named after a former cause of errors. */
enum { N = 200 };
static double x[N][N], y[N][N], z[N][N];

/* Two callees inlined one after the other: a register set up for the second is on the first one's line. */
static void fill(double a[N][N], double b[N][N])
{
    int i, j;
    for (i = 0; i < N; i++)     /* LOOP depth=1 */
        for (j = 0; j < N; j++) /* LOOP depth=2 */
            a[i][j] = b[i][j] = (double)(i + j + (N - 7)) * 10 / N;
}
static void heat(int steps, double a[N][N], double b[N][N])
{
    int t, i, j;
    for (t = 1; t <= steps; t++) {          /* LOOP depth=1 */
        for (i = 1; i < N - 1; i++)         /* LOOP depth=2 */
            for (j = 1; j < N - 1; j++)     /* LOOP depth=3 */
                b[i][j] = 0.125 * (a[i + 1][j] - 2.0 * a[i][j] + a[i - 1][j]) + a[i][j];
        for (i = 1; i < N - 1; i++)         /* LOOP depth=2 */
            for (j = 1; j < N - 1; j++)     /* LOOP depth=3 */
                a[i][j] = 0.125 * (b[i + 1][j] - 2.0 * b[i][j] + b[i - 1][j]) + b[i][j];
    }
}
double two_callees(int steps)
{
    fill(x, y);
    heat(steps, x, y);
    return x[N / 2][N / 2];
}

/* The index of a jump table is loaded from another table. */
static const unsigned char kind[256] = {9, 1, 2, 3, 4, 5, 6, 0, 1, 2};
int table_of_kinds(const unsigned char *p)
{
    int n = 0;
    for (; *p; p++) /* LOOP depth=1 */
        switch (kind[*p]) {
        case 0: n += 3; break;
        case 1: n ^= 5; break;
        case 2: n -= 7; break;
        case 3: n *= 2; break;
        case 4: n |= 9; break;
        case 5: n /= 3; break;
        case 6:
            while (n > 100) /* LOOP depth=2 */
                n -= *p;
            break;
        }
    return n;
}

/* The first statement of the body is moved before the loop, and code from far above into it. */
double far_above(double *restrict a, const double *restrict b, int n, int m, int k)
{
    double scale = 1.0 / (double)(k * k + 1);
    double s = 0;
    if (n > m)
        s += a[0];
    if (n > k)
        s += b[m];
    if (m > k)
        s -= b[k];
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        a[i] += scale * b[i] * k;
    for (int i = 0; i < m; i++) /* LOOP depth=1 */
        s += a[i] * scale;
    return s + z[0][0];
}

/* A loop and its body on one line become a vector body, followed by a second copy that starts on the line above. */
static unsigned short *put_length(unsigned short *op, unsigned short *token, unsigned length)
{
    if (length >= 15) {
        unsigned rest = length - 15;
        *token = 15 << 4;
        for (; rest >= 511; rest -= 511) *op++ = 511; /* LOOP depth=1 */
        *op++ = (unsigned short)rest;
    } else {
        *token = (unsigned short)(length << 4);
    }
    return op;
}
unsigned short *body_on_its_line(unsigned short *op, unsigned literals, unsigned match)
{
    unsigned short *token = op++;
    op = put_length(op, token, literals);
    token = op++;
    return put_length(op, token, match);
}

/* Nested loops of gotos: the labels are far apart, and little of the code is on the lines between. */
int gotos(const unsigned char *p, int n)
{
    int s = 0, k = 0;
again:
    s += p[k];              /* LOOP depth=1 */
    if (s & 1)
        s += 7;
    else if (s & 2)
        s -= 3;
    else if (s & 4)
        s ^= 5;
    else
        s += 1;
    k++;
part:
    s += p[k] * 3;          /* LOOP depth=2 */
    if (s > 100)
        s -= 50;
    else if (s < -100)
        s += 50;
    else if ((s & 7) == 3) {
        k++;
        if (k < n)
            goto part;
    }
    if (k < n)
        goto again;
    return s;
}

/* Empty statements between the keyword and the first instruction. */
#define NOTHING(x) ((void)0)
int nothing_first(const unsigned char *p, int n)
{
    int s = 0;
    NOTHING(n);
    while (1) {             /* LOOP depth=1 near=3 */
        NOTHING(s);
        NOTHING(p);
        s += *p++;
        if (--n < 0)
            return s;
        s ^= 3;
    }
}

/* clang: in a loop on one line, only setup code has the line of the `for`, and its branch is on the body's line. */
void set_up_in_front(double a[N][N], double b[N][N])
{
    int i, j;
    for (i = 0; i < N; i++)         /* LOOP depth=1 */
        for (j = 0; j < N + 30; j++) /* LOOP depth=2 */
            a[i][j] = (double)((i * j + 1) % N) / N;
    for (i = 0; i < N + 30; i++)    /* LOOP depth=1 */
        for (j = 0; j < N + 20; j++) /* LOOP depth=2 */
            b[i][j] = (double)(i * (j + 1) % (N + 20)) / (N + 20);
}

/* A `do` on one line, preceded by a statement further left: the condition comes after everything else. */
int do_on_one_line(const int *p, int n, int k)
{
    int s = 0;
    for (int i = 0; i < n; i++) {            /* LOOP depth=1 */
        s += p[i];
        do { s ^= p[k]; } while (0 <= --k); /* LOOP depth=2 */
    }
    return s;
}

/* Loads inside the loop for the statement after it do not end the loop: gcc leaves that statement's mark behind,
   without an instruction of its own. Nor do loads of the rest of a statement on two lines. */
struct item {
    struct item *next;
    int key;
};

struct item *join_items(struct item *, struct item *);

struct item *read_for_what_follows(struct item *in)
{
    struct item *a[32] = {0}, *p;
    int i;
    while (in) {                    /* LOOP depth=1 */
        p = in;
        in = in->next;
        p->next = 0;
        for (i = 0; i < 31; i++) {  /* LOOP depth=2 */
            if (a[i] == 0) {
                a[i] = p;
                break;
            } else {
                p = join_items(a[i], p);
                a[i] = 0;
            }
        }
        if (i == 31)
            a[i] = join_items(a[i], p);
    }
    p = a[0];
    for (i = 1; i < 32; i++) {      /* LOOP depth=1 */
        if (a[i] == 0)
            continue;
        p = p ? join_items(p, a[i]) : a[i];
    }
    return p;
}

struct buffer {
    unsigned char *bytes;
    unsigned long used, size;
    struct source {
        const unsigned char *extra;
        unsigned length;
    } *from;
    unsigned long at;
};

void copy_out(unsigned char *, const unsigned char *, unsigned);
void flush_out(struct buffer *);

int rest_over_two_lines(struct buffer *b)
{
    unsigned left = (b->from->length & 0xffff) - (unsigned)b->at;
    while (b->used + left > b->size) { /* LOOP depth=1 */
        unsigned copy = (unsigned)(b->size - b->used);
        copy_out(b->bytes + b->used,
                 b->from->extra + b->at, copy);
        b->used = b->size;
        b->at += copy;
        flush_out(b);
        if (b->used != 0)
            return 1;
        left -= copy;
    }
    copy_out(b->bytes + b->used,
             b->from->extra + b->at, left);
    b->used += left;
    return 0;
}

/* The vector body ends with a branch on the line that the statement begins on. */
void over_lines(double *restrict y, const double *restrict a, const double *restrict b, const double *restrict c,
                const double *x, int first, int n)
{
    double x0 = x[0], x1 = x[1], x2 = x[2];
    int k;
    for (k = first; k < n; k++) /* LOOP depth=1 */
        y[k] = y[k] - x0 * *a++ -
               x1 * *b++ -
               x2 * *c++;
}
/* SPDX-License-Identifier: BSD-3-Clause */
