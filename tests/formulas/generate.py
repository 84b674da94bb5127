#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tests/formulas/cases.txt: formulas and what they give, by an evaluation of its own.

usage: generate.py >cases.txt

A formula is a random tree; its text gets the brackets that the grammar needs and some that it does not, and its value
comes from the tree, never from the text. So the table knows nothing of any parser. The seed is fixed: the same table
each time.
"""
import math
import random

NAMES = {
    "A": 10.0, "B": 4.0, "ZERO": 0.0, "NEG": -2.5, "BIG": 1e300, "NONE": math.nan, "perf::TASK-CLOCK": 100.0,
    "total(A)": 1000.0, "parent(A)": 40.0, "total(NONE)": math.nan, "exclusive(A)": 3.0, "inclusive(B)": 5.0,
    "run(base).A": 12.0, "mean(A over threads)": 2.5, "imbalance(A over ranks)": 0.25, "max(B over repetitions)": 6.0,
    "total(exclusive(A))": 900.0, "NEW.perf::TASK-CLOCK": 90.0, "a run.B": 8.0,
}
TEXT = {  # the first as it is written back
    "perf::TASK-CLOCK": ['"perf::TASK-CLOCK"', "'perf::TASK-CLOCK'"],
    "NEW.perf::TASK-CLOCK": ['"NEW.perf::TASK-CLOCK"', 'NEW."perf::TASK-CLOCK"', "'NEW'.'perf::TASK-CLOCK'"],
    "a run.B": ['"a run.B"', '"a run".B', "'a run'.'B'"],
}
NUMBERS = [("0", 0.0), ("1", 1.0), ("2.5", 2.5), (".5", 0.5), ("1e3", 1e3), ("3e-2", 0.03), ("4k", 4e3), ("2M", 2e6),
           ("1Ki", 1024.0), ("3KiB", 3072.0), ("7MB", 7e6), ("50%", 0.5), ("10ms", 0.01), ("250us", 250e-6), ("2s", 2.0),
           ("5m", 5e-3), ("1GHz", 1e9)]
OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 10)
BINARY = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "^": POWER, "<": COMPARE, "<=": COMPARE, ">": COMPARE,
          ">=": COMPARE, "==": COMPARE, "!=": COMPARE, "and": AND, "or": OR}
ONE = ["sqrt", "log", "exp", "abs", "floor", "ceil", "round"]
MANY = ["min", "max", "sum", "mean", "or"]


def finite(x):
    return x if math.isfinite(x) else math.nan


def of_two(op, a, b):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    try:
        if op == "+": return finite(a + b)
        if op == "-": return finite(a - b)
        if op == "*": return finite(a * b)
        if op == "/": return math.nan if b == 0 else finite(a / b)
        if op == "^":
            x = a ** b
            return finite(x) if isinstance(x, float) else math.nan
    except (OverflowError, ZeroDivisionError):
        return math.nan
    return float({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b,
                  "and": a != 0 and b != 0, "or": a != 0 or b != 0}[op])


def of_one(f, a):
    if math.isnan(a):
        return a
    try:
        if f == "sqrt": return math.sqrt(a)
        if f == "log": return math.log(a)
        if f == "exp": return finite(math.exp(a))
    except (ValueError, OverflowError):
        return math.nan
    if f == "abs": return abs(a)
    if f == "floor": return float(math.floor(a))
    if f == "ceil": return float(math.ceil(a))
    return math.copysign(float(math.floor(abs(a) + 0.5)), a)


def of_many(f, values):
    if f == "or":
        return next((v for v in values if not math.isnan(v)), math.nan)
    if any(map(math.isnan, values)):
        return math.nan
    if f in ("min", "max"):
        return {"min": min, "max": max}[f](values)
    total = values[0]
    for v in values[1:]:
        total = finite(total + v)
    return finite(total / len(values)) if f == "mean" else total


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def blank(self):
        return self.r.choice(["", "", " ", "  "])

    def bracket(self, part, least):
        text, value, binds = part
        if binds < least or self.r.random() < 0.08:
            return "(" + self.blank() + text + self.blank() + ")"
        return text

    def leaf(self):
        if self.r.random() < 0.35:
            text, value = self.r.choice(NUMBERS)
            return text, value, ATOM
        name = self.r.choice(list(NAMES))
        return self.r.choice(TEXT.get(name, [name])), NAMES[name], ATOM

    def tree(self, depth):
        if depth == 0 or self.r.random() < 0.15:
            return self.leaf()
        kind = self.r.random()
        if kind < 0.6:
            op = self.r.choice(list(BINARY))
            a, b, binds = self.tree(depth - 1), self.tree(depth - 1), BINARY[op]
            value = of_two(op, a[1], b[1])
            if op == "^":  # atom [ "^" signed ]
                return self.bracket(a, ATOM) + "^" + self.bracket(b, SIGN), value, POWER
            left = self.bracket(a, binds + 1 if binds == COMPARE else binds)
            right = self.bracket(b, binds + 1)
            gap = " " if op.isalpha() else self.blank()
            return left + gap + op + gap + right, value, binds
        if kind < 0.7:
            a = self.tree(depth - 1)
            return "-" + self.bracket(a, SIGN), -a[1], SIGN
        if kind < 0.76:
            a = self.tree(depth - 1)
            return "not " + self.bracket(a, NOT), math.nan if math.isnan(a[1]) else float(a[1] == 0), NOT
        if kind < 0.86:
            f, a = self.r.choice(ONE), self.tree(depth - 1)
            return f + "(" + a[0] + ")", of_one(f, a[1]), ATOM
        if kind < 0.93:
            c, a, b = (self.tree(depth - 1) for _ in range(3))
            value = c[1] if math.isnan(c[1]) else a[1] if c[1] != 0 else b[1]
            return f"if({c[0]},{self.blank()}{a[0]}, {b[0]})", value, ATOM
        if kind < 0.95:
            return "share(A)", NAMES["A"] / NAMES["total(A)"], ATOM
        f = self.r.choice(MANY)
        parts = [self.tree(depth - 1) for _ in range(self.r.randint(1, 4))]
        return f + "(" + ", ".join(p[0] for p in parts) + ")", of_many(f, [p[1] for p in parts]), ATOM


def shown(x):
    return "missing" if math.isnan(x) else repr(x)


def main():
    maker, seen = Maker(2001), set()
    print("# What formulas give, for whatever computes them: VALUE, a tab, FORMULA. Made by generate.py.")
    print("# A number is right when it is equal or differs in the last digits of a double (pow, exp, log).")
    for name, value in NAMES.items():
        print(f"name\t{shown(value)}\t{TEXT.get(name, [name])[0]}")
    while len(seen) < 3000:
        text, value, _ = maker.tree(maker.r.randint(1, 4))
        # if the result depends on rounding, either is acceptable
        if text in seen or len(text) > 160 or (not math.isnan(value) and 0 < abs(value) < 1e-290):
            continue
        seen.add(text)
        print(f"{shown(value)}\t{text}")


main()
