/* Jump tables: dense, with holes, with byte offsets, in a loop, nested, and with the extreme values of an index. */
int f(int), g(int), h(int);

int dense(int x)
{
    switch (x) {
    case 0: return f(1);
    case 1: return g(2);
    case 2: return h(3);
    case 3: return f(4);
    case 4: return g(x) + 5;
    case 5: return h(x) + 6;
    default: return 0;
    }
}

int holes(unsigned char x)
{
    int sum = 0;
    switch (x) {
    case 100: sum = f(x); break;
    case 102: sum = g(x); /* and on */
    case 103: sum += h(x); break;
    case 107: sum = f(3); break;
    case 110: sum = g(4); break;
    case 111: sum = h(5); break;
    case 200: sum = f(6); break;
    }
    return sum;
}

int top_bits(unsigned long x)
{
    switch (x >> 61) {
    case 0: return f(10);
    case 1: return g(11);
    case 2: return h(12);
    case 3: return f(13);
    case 4: return g(14);
    case 5: return h(15);
    case 6: return f(16);
    case 7: return g(17);
    }
    return 0;
}

/* a loop around one table, a loop in one of its cases, and another table in that */
int machine(const unsigned char *code, int n)
{
    int a = 0;
    for (;;) {
        switch (*code++ & 7) {
        case 0: return a;
        case 1: a += f(a); break;
        case 2: a -= g(a); break;
        case 3: a ^= h(a); break;
        case 4:
            for (int i = 0; i < n; i++)
                a += f(i);
            break;
        case 5:
            switch (*code++) {
            case 1: a = f(1); break;
            case 2: a = g(2); break;
            case 3: a = h(3); break;
            case 4: a = f(4); break;
            case 5: a = g(5); break;
            }
            break;
        case 6: code += a; break;
        case 7: a = -a; break;
        }
    }
}

int labels(const unsigned char *code)
{
    static const void *const to[] = {&&end, &&plus, &&minus, &&twice};
    int a = 1;
    goto *to[*code++ & 3];
plus:
    a += f(a);
    goto *to[*code++ & 3];
minus:
    a -= g(a);
    goto *to[*code++ & 3];
twice:
    a *= 2;
    goto *to[*code++ & 3];
end:
    return a;
}
/* SPDX-License-Identifier: BSD-3-Clause */
