#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/filters/hpctoolkit-database/ as HPCToolkit's FORMATS.md describes databases of version 4.0.

It shares nothing with the reader, so that the two can be held against each other: hpctoolkit.py FOLDER
"""
import struct
import sys

# Contexts: (id, relation, lexical type, function, (file, line), (module, offset), children)
ENCLOSED, CALL, INLINED = 0, 1, 2
FUNCTION, LOOP, LINE, INSTRUCTION = 0, 1, 2, 3
MODULES = ["/home/me/heat", "/usr/lib/libm.so.6"]
FILES = [("src/home/me/heat.c", 1), ("src/home/me/flux.h", 1), ("[libm.so.6]", 0)]
FUNCTIONS = {  # name: (module, offset, file, line)
    "main": (0, 0x1100, 0, 10),
    "solve": (0, 0x1180, 0, 20),
    "flux": (0, 0, 1, 4),
    "exp [libm.so.6]": (1, 0x2A80, 2, 0),
}
TREE = [
    ("main thread", 1, 1, [
        (2, CALL, FUNCTION, "main", None, None, [
            (3, ENCLOSED, LINE, None, (0, 14), None, [
                (4, CALL, FUNCTION, "solve", None, None, [
                    (5, ENCLOSED, LOOP, None, (0, 22), None, [
                        (6, ENCLOSED, LINE, None, (0, 23), None, [
                            (7, INLINED, FUNCTION, "flux", None, None, [
                                (8, ENCLOSED, LINE, None, (1, 5), None, []),
                            ]),
                        ]),
                        (9, ENCLOSED, LINE, None, (0, 24), None, [
                            (10, CALL, FUNCTION, "exp [libm.so.6]", None, None, [
                                (11, ENCLOSED, LINE, None, (2, 0), None, []),
                            ]),
                        ]),
                    ]),
                ]),
            ]),
        ]),
    ]),
    ("unknown entry", 0, 12, [
        (13, CALL, INSTRUCTION, None, None, (1, 0x2B00), []),
    ]),
]
METRICS = ["CPUTIME (sec)", "PAPI_TOT_CYC"]
# Measured values: (rank, thread): {context: (seconds, cycles)}. Context 14 is an instruction of line 23 that the file
# of contexts omits.
MEASURED = {
    (0, 0): {14: (0.250, 1000), 8: (0.500, 3000), 11: (0.125, 700)},
    (0, 1): {14: (0.125, 500), 13: (0.0625, 40)},
    (1, 0): {8: (0.375, 2000), 9: (0.03125, 5), 3: (0.0, 7)},
}
HIDDEN_PARENT = {14: 6}


class File:
    def __init__(self, kind, sections):
        self.data = bytearray(b"HPCTOOLKIT" + kind + bytes([4, 0]) + bytes(16 * sections))

    def align(self, n=8):
        self.data += bytes(-len(self.data) % n)
        return len(self.data)

    def put(self, fmt, *values):
        at = len(self.data)
        self.data += struct.pack("<" + fmt, *values)
        return at

    def text(self, s):
        at = len(self.data)
        self.data += s.encode() + b"\0"
        return at

    def section(self, index, at, end=None):
        struct.pack_into("<QQ", self.data, 16 + 16 * index, (end or len(self.data)) - at, at)


def write_meta():
    f = File(b"meta", 8)
    # common strings
    begin = len(f.data)
    text = {s: f.text(s) for s in MODULES + [p for p, _ in FILES] + list(FUNCTIONS) + [e[0] for e in TREE]}
    f.section(4, begin)
    # general
    begin = f.align()
    f.put("QQ", begin + 16, begin + 21)
    f.data += b"heat\0" + b"An example\0"
    f.section(0, begin)
    # identifier names
    begin = f.align()
    f.put("QB", begin + 16, 4)
    f.align()
    at = f.put("4Q", 0, 0, 0, 0)
    names = [f.text(s) for s in ("SUMMARY", "NODE", "RANK", "THREAD")]
    struct.pack_into("<4Q", f.data, at, *names)
    f.section(1, begin)
    # metrics
    begin = f.align()
    f.put("QIBBBxQHB", 0, len(METRICS), 32, 16, 24, 0, 2, 16)
    scopes = f.align()
    f.put("QBBxxxxxx", 0, 1, 255)
    f.put("QBBxxxxxx", 0, 2, 255)
    instances = [[f.put("QHxxxxxx", scopes + 16 * k, 2 * m + k) for k in (0, 1)][0] for m in range(len(METRICS))]
    metrics = f.align()
    for m in range(len(METRICS)):
        f.put("QQQHHxxxx", 0, instances[m], 0, 2, 0)
    for m, name in enumerate(METRICS):
        struct.pack_into("<Q", f.data, metrics + 32 * m, f.text(name))
    for k, name in enumerate(("point", "execution")):
        struct.pack_into("<Q", f.data, scopes + 16 * k, f.text(name))
    struct.pack_into("<Q", f.data, begin, metrics)
    struct.pack_into("<Q", f.data, begin + 16, scopes)
    f.section(2, begin)
    # modules, files, functions
    begin = f.align()
    f.put("QIH", begin + 16, len(MODULES), 16)
    f.align()
    modules = [f.put("IxxxxQ", 0, text[m]) for m in MODULES]
    f.section(5, begin)
    begin = f.align()
    f.put("QIH", begin + 16, len(FILES), 16)
    f.align()
    files = [f.put("IxxxxQ", flags, text[p]) for p, flags in FILES]
    f.section(6, begin)
    begin = f.align()
    f.put("QIH", begin + 16, len(FUNCTIONS), 40)
    f.align()
    functions = {n: f.put("QQQQII", text[n], modules[m], off, files[s], line, 0) for n, (m, off, s, line) in FUNCTIONS.items()}
    f.section(7, begin)
    # contexts: children are written before those they are in
    begin = f.align()
    f.put("QHB", 0, len(TREE), 32)

    def contexts(rows):
        rows = [(row, contexts(row[6])) for row in rows]
        at = f.align()
        for (number, relation, kind, function, source, point, _), (child_at, child_size) in rows:
            words, flags = b"", 0
            if function:
                flags |= 1
                words += struct.pack("<Q", functions[function])
            if source:
                flags |= 2
                words += struct.pack("<QI", files[source[0]], source[1])
            if point:
                flags |= 4
                words += bytes(-len(words) % 8) + struct.pack("<QQ", modules[point[0]], point[1])
            words += bytes(-len(words) % 8)
            f.put("QQIBBBBHxxxxxx", child_size, child_at, number, flags, relation, kind, len(words) // 8, 0)
            f.data += words
        return (at, len(f.data) - at) if rows else (0, 0)

    below = [contexts(rows) for _, _, _, rows in TREE]
    entries = f.align()
    for (name, kind, number, _), (at, size) in zip(TREE, below):
        f.put("QQIHxxQ", size, at, number, kind, text[name])
    struct.pack_into("<Q", f.data, begin, entries)
    f.section(3, begin)
    f.data += b"_meta.db"
    return f.data


def parents():
    result = dict(HIDDEN_PARENT)

    def walk(rows, parent):
        for row in rows:
            result[row[0]] = parent
            walk(row[6], row[0])

    for _, _, number, rows in TREE:
        result[number] = 0
        walk(rows, number)
    return result


def values_of(measured):
    """{context: {metric number: value}}, point values where measured, execution values in all that is around."""
    result, parent = {}, parents()
    for context, values in measured.items():
        for m, value in enumerate(values):
            if value == 0:
                continue
            result.setdefault(context, {})[2 * m] = value
            at = context
            while True:
                row = result.setdefault(at, {})
                row[2 * m + 1] = row.get(2 * m + 1, 0) + value
                if at == 0:
                    break
                at = parent[at]
    return result


def write_profile():
    f = File(b"prof", 2)
    everything = {}
    for measured in MEASURED.values():
        for context, values in measured.items():
            old = everything.get(context, (0, 0))
            everything[context] = tuple(a + b for a, b in zip(old, values))
    blocks = []
    for measured in [everything] + list(MEASURED.values()):
        rows = sorted(values_of(measured).items())
        at, n, index = f.align(), 0, []
        for context, values in rows:
            index.append((context, n))
            for metric, value in sorted(values.items()):
                f.put("Hd", metric, value)
                n += 1
        index_at = f.align(4)
        for context, start in index:
            f.put("IQ", context, start)
        blocks.append((n, at, len(index), index_at))
    begin = f.align()
    ids = [0]
    for rank, thread in MEASURED:
        ids.append(f.align())
        f.put("Hxxxxxx", 3)
        f.put("BxHIQ", 1, 1, 0, 0x7F0101)
        f.put("BxHIQ", 2, 0, rank, rank)
        f.put("BxHIQ", 3, 0, thread, thread)
    f.section(1, begin)
    begin = f.align()
    f.put("QIB", begin + 16, len(blocks), 48)
    f.align()
    for k, (n, at, count, index_at) in enumerate(blocks):
        f.put("QQIxxxxQQIxxxx", n, at, count, index_at, ids[k], 1 if k == 0 else 0)
    f.section(0, begin)
    f.data += b"_prof.db"
    return f.data


if __name__ == "__main__":
    for name, data in (("meta.db", write_meta()), ("profile.db", write_profile())):
        with open(sys.argv[1] + "/" + name, "wb") as out:
            out.write(data)
