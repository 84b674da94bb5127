/*
 * Loops of every form that C has, one procedure each. A loop's own line carries "LOOP depth=N", N counted inside its procedure.
 * "near=K": the keyword makes no code (do, for without a condition, a label), so a line up to K further down is right too.
 */
extern int work(int);
extern void use(int);

int for_plain(const int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        sum += a[i] * work(i);
    return sum;
}

int for_sum(const int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        sum += a[i];
    return sum;
}

void for_scale(double *restrict x, const double *restrict y, double f, int n)
{
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        x[i] = f * y[i];
}

void for_alias(double *x, const double *y, double f, int n)
{
    for (int i = 0; i < n; i++) /* LOOP depth=1 */
        x[i] += f * y[i];
}

int while_plain(int n)
{
    int steps = 0;
    while (n != 1) { /* LOOP depth=1 */
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

struct node {
    struct node *next;
    int value;
};

int while_list(const struct node *p)
{
    int sum = 0;
    while (p) { /* LOOP depth=1 */
        sum += p->value;
        p = p->next;
    }
    return sum;
}

int for_list(const struct node *p, int f)
{
    int sum = 0;
    for (; p; p = p->next) /* LOOP depth=1 */
        sum += f * p->value;
    return sum;
}

int do_plain(int n)
{
    int digits = 0;
    do { /* LOOP depth=1 near=1 */
        digits++;
        n /= 10;
    } while (n);
    return digits;
}

int do_call(int n)
{
    int r;
    do { /* LOOP depth=1 near=1 */
        r = work(n);
        use(r);
        n--;
    } while (r > 0 && n);
    return r;
}

int goto_loop(int n)
{
    int sum = 0;
again: /* LOOP depth=1 near=1 */
    sum += work(n);
    if (--n > 0)
        goto again;
    return sum;
}

int forever_break(int n)
{
    int sum = 0;
    for (;;) { /* LOOP depth=1 near=1 */
        int r = work(n++);
        if (r == 0)
            break;
        sum += r;
    }
    return sum;
}

int while_one_return(int n)
{
    while (1) { /* LOOP depth=1 near=1 */
        int r = work(n);
        if (r == 7)
            return n;
        n += r;
    }
}

void never_ends(int n)
{
    for (;;) /* LOOP depth=1 near=1 */
        use(work(n));
}

int early_exits(const int *a, int n, int key)
{
    for (int i = 0; i < n; i++) { /* LOOP depth=1 */
        if (a[i] == key)
            return i;
        if (a[i] > 2 * key)
            break;
        if (a[i] < 0)
            continue;
        use(a[i]);
    }
    return -1;
}

int conditions_on_two_lines(const char *s, int n)
{
    int i = 0;
    while (i < n && /* LOOP depth=1 */
           s[i] != ' ' &&
           s[i] != '\t')
        i++;
    return i;
}

void nest_two(double *a, int n, int m)
{
    for (int i = 0; i < n; i++)     /* LOOP depth=1 */
        for (int j = 0; j < m; j++) /* LOOP depth=2 */
            a[i * m + j] += work(j);
}

void nest_three(double *restrict c, const double *restrict a, const double *restrict b, int n)
{
    for (int i = 0; i < n; i++) {       /* LOOP depth=1 */
        for (int j = 0; j < n; j++) {   /* LOOP depth=2 */
            double s = 0;
            for (int k = 0; k < n; k++) /* LOOP depth=3 */
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
    }
}

void triangle(int *a, int n)
{
    for (int i = 0; i < n; i++) {           /* LOOP depth=1 */
        for (int j = 0; j < n - i - 1; j++) { /* LOOP depth=2 */
            if (a[j] > a[j + 1]) {
                int t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }
        }
    }
}

void two_inner(double *x, double *y, int n)
{
    for (int step = 0; step < n; step++) { /* LOOP depth=1 */
        for (int i = 1; i < n - 1; i++)    /* LOOP depth=2 */
            y[i] = 0.5 * (x[i - 1] + x[i + 1]);
        for (int i = 1; i < n - 1; i++)    /* LOOP depth=2 */
            x[i] = y[i];
        use(step);
    }
}

int while_in_for(const char *s, int n)
{
    int words = 0;
    for (int i = 0; i < n; i++) { /* LOOP depth=1 */
        while (s[i] == ' ')       /* LOOP depth=2 */
            i++;
        if (s[i])
            words++;
        do { /* LOOP depth=2 near=2: the body may become part of the condition */
            i++;
        } while (s[i] && s[i] != ' ');
    }
    return words;
}

int do_in_do(int n)
{
    int m, sum = 0;
    do { /* LOOP depth=1 near=1 */
        m = work(n);
        do { /* LOOP depth=2 near=1 */
            sum += work(m);
            m--;
        } while (m > 0);
        n--;
    } while (n > 0);
    return sum;
}

int switch_in_loop(const unsigned char *code, int n)
{
    int acc = 0;
    for (int pc = 0; pc < n; pc++) { /* LOOP depth=1 */
        switch (code[pc]) {
        case 0:
            return acc;
        case 1:
            acc += work(1);
            break;
        case 2:
            acc *= 3;
            break;
        case 3:
            acc = -acc;
            continue;
        case 4:
            acc ^= 0x55;
            break;
        case 5:
            use(acc);
            break;
        case 6:
            acc = work(acc);
            /* fall through */
        case 7:
            acc++;
            break;
        default:
            use(-1);
        }
    }
    return acc;
}

int loop_in_switch(int kind, int n)
{
    int sum = 0;
    switch (kind) {
    case 0:
        for (int i = 0; i < n; i++) /* LOOP depth=1 */
            sum += work(i);
        break;
    case 1:
        while (n > 0) { /* LOOP depth=1 */
            sum += work(n);
            n -= 2;
        }
        break;
    case 2:
        use(n);
        break;
    case 3:
        sum = n;
        break;
    default:
        do { /* LOOP depth=1 near=1 */
            sum -= work(n);
        } while (n-- > 0);
    }
    return sum;
}

int binary_search(const int *a, int n, int key)
{
    int lo = 0, hi = n;
    while (lo < hi) { /* LOOP depth=1 */
        int mid = lo + (hi - lo) / 2;
        if (a[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int leave_two(const int *a, int n, int m)
{
    for (int i = 0; i < n; i++)         /* LOOP depth=1 */
        for (int j = 0; j < m; j++) {   /* LOOP depth=2 */
            if (a[i * m + j] < 0)
                goto found;
            use(a[i * m + j]);
        }
    return 0;
found:
    return 1;
}

int count_down(const int *a, int n)
{
    int sum = 0;
    for (int i = n - 1; i >= 0; i -= 3) /* LOOP depth=1 */
        sum += a[i] * work(i);
    return sum;
}

unsigned hash_string(const char *s)
{
    unsigned h = 5381;
    for (; *s; s++) /* LOOP depth=1 */
        h = h * 33 + (unsigned char)*s;
    return h;
}

void gather(double *restrict y, const double *restrict a, const int *restrict col, const int *restrict row, const double *restrict x, int n)
{
    for (int i = 0; i < n; i++) {                 /* LOOP depth=1 */
        double s = 0;
        for (int k = row[i]; k < row[i + 1]; k++) /* LOOP depth=2 */
            s += a[k] * x[col[k]];
        y[i] = s;
    }
}

void depth_four(int n)
{
    for (int i = 0; i < n; i++)             /* LOOP depth=1 */
        for (int j = 0; j < i; j++)         /* LOOP depth=2 */
            for (int k = 0; k < j; k++)     /* LOOP depth=3 */
                for (int l = 0; l < k; l++) /* LOOP depth=4 */
                    use(i + j + k + l);
}

int branchy(const int *a, int n, int flag)
{
    int sum = 0;
    for (int i = 0; i < n; i++) { /* LOOP depth=1 */
        if (flag)
            sum += work(a[i]);
        else
            sum -= a[i];
    }
    return sum;
}
/* SPDX-License-Identifier: BSD-3-Clause */
