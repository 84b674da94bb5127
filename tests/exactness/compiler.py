#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The loops of a structure file against the compiler's own: what the blocks of its functions were before they became code.

usage: compiler.py [-v] STRUCTURE.xml DUMP...

DUMP: gcc and gfortran -O0 -g -fdump-tree-optimized-lineno-blocks=FILE, clang -O0 -g -S -emit-llvm -o FILE, one for each
source. Unlike a list of `for` and `do` these know array statements, directives that macros make, templates and gotos.
"invented": of ours the compiler has none; "lost": of the compiler's we have none; "elsewhere": ours begins on no line of
its own, nor where a keyword or directive is. What made those that both have is told from the source; a line of none of
the forms known is a "statement". -v lists all but these. Only procedures of which there is a dump are compared. For
-O0: what is optimized has other blocks.
"""
import collections, os, re, sys
import xml.etree.ElementTree as ET

Loop = collections.namedtuple('Loop', 'first lines inside at')  # (file, line); all of them; loops in it; what to show


# ---- functions as the compiler has them: name -> [{block: (successors, [(file, line)...])}...]

def read_gcc(path, functions):
    block = blocks = None
    for text in open(path, errors='replace'):
        if m := re.match(r';; Function .*?\((\S+?)(?:\.cold)?, funcdef_no', text):
            blocks = {}
            functions[m[1]].append(blocks)
        elif m := re.match(r';;   basic block (\d+),', text):
            block = blocks.setdefault(int(m[1]), ([], []))
            succ = abnormal = False
        elif re.match(r';;    (succ|pred):', text) or (text.startswith(';;     ') and block):
            succ = 'succ:' in text or succ and 'pred:' not in text
            if succ and not abnormal and (m := re.match(r';;\s+(?:succ:)?\s*(\d+)', text)):
                block[0].append(int(m[1]))
        elif '.ABNORMAL_DISPATCHER' in text:  # from there to where setjmp returned: no jump of the function's
            abnormal = True
        elif block and not re.match(r'\s*#', text):  # no PHI: its lines are those of other blocks
            block[1].extend((os.path.basename(f), int(n)) for f, n in re.findall(r'\[([^][:]+):(\d+):\d+\]', text)[:1])


def read_clang(path, functions):
    nodes, users = {}, []
    for text in open(path, errors='replace'):
        if m := re.match(r'define .*?@"?([^"(]+)"?\(', text):
            blocks, block = {}, None
            functions[m[1]].append(blocks)
        elif m := re.match(r'(?:"([^"]+)"|([-\w.$]+)):', text):
            block = blocks.setdefault(m[1] or m[2], ([], []))
        elif m := re.match(r'!(\d+) = (?:distinct )?!DI\w+\((.*)\)', text):
            nodes[m[1]] = dict(re.findall(r'(\w+): "?!?([^,"]*)', m[2]))
        elif text.startswith('  '):
            block = block or blocks.setdefault('entry', ([], []))
            block[0].extend(q or p for q, p in re.findall(r'label %(?:"([^"]+)"|([-\w.$]+))', text))
            if m := re.search(r'!dbg !(\d+)', text):
                block[1].append(m[1])
                users.append(block[1])
    for at in users:
        at[:] = [place_of(nodes, n) if isinstance(n, str) else n for n in at]


def place_of(nodes, number):
    line, scope = nodes[number].get('line', '0'), number
    while 'file' not in nodes[scope]:
        scope = nodes[scope]['scope']
    return os.path.basename(nodes[nodes[scope]['file']]['filename']), int(line)


# ---- loops: strongly connected regions, and those that remain without the back edges to their entries

def components(blocks, within, cut):
    """Tarjan's, without recursion: those of more than one block, and blocks that lead to themselves."""
    index, low, stack, on, found = {}, {}, [], set(), []
    ways = {b: [s for s in blocks[b][0] if s in within and s not in cut] for b in within}
    for root in sorted(within, key=str):
        work = [] if root in index else [(root, iter(ways[root]))]
        while work:
            b, rest = work[-1]
            if b not in index:
                index[b] = low[b] = len(index)
                stack.append(b)
                on.add(b)
            for s in rest:
                if s not in index:
                    work.append((s, iter(ways[s])))
                    break
                if s in on:
                    low[b] = min(low[b], index[s])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[b])
                if low[b] == index[b]:
                    part = stack[stack.index(b):]
                    del stack[-len(part):]
                    on.difference_update(part)
                    if len(part) > 1 or b in ways[b]:
                        found.append(set(part))
    return found


def loops_of(blocks, within=None, cut=frozenset()):
    entered = collections.defaultdict(set)
    for b in blocks:
        for s in blocks[b][0]:
            entered[s].add(b)
    found = []
    for part in components(blocks, set(blocks) if within is None else within, cut):
        heads = {b for b in part if entered[b] - part} or {min(part, key=str)}
        lines = [at for b in part for at in blocks[b][1] if at[1]]
        first = min((at for h in heads for at in blocks[h][1] if at[1]), default=min(lines, default=('?', 0)))
        found.append(Loop(first, set(lines), loops_of(blocks, part, heads | set(cut)), '%s:%d' % first))
    return found


# ---- ours

def our_loops(element, file):
    found = []
    for e in element:
        here = os.path.basename(e.get('f') or '') or file
        inside = our_loops(e, here)
        if e.tag == 'L':
            b, last = int(e.get('b') or 0), int(e.get('e') or e.get('b') or 0)
            at = '%s:%d-%d at %s' % (here, b, last, e.get('a'))
            inside = [Loop((here, b), {(here, n) for n in range(b, last + 1)}, inside, at)]
        found += inside
    return found


# ---- compared

def whole(loops):
    return [x for l in loops for x in [l] + whole(l.inside)]


def shape(loop):
    return '(' + ''.join(sorted(map(shape, loop.inside))) + ')'


def alike(ours, theirs):
    if ours.first[0] != theirs.first[0] and theirs.lines:
        return 0
    return (1 + 2 * (ours.first == theirs.first) + (ours.first in theirs.lines) +
            2 * (shape(ours) == shape(theirs)) +
            2 * len(ours.lines & theirs.lines) / len(ours.lines | theirs.lines))


def unmatched(ours, theirs, pairs):
    """Loops beside each other: pairs of those that are most alike, then of those inside of these; and what is left."""
    left, right, wrong = list(ours), list(theirs), []
    while left and right:
        score, i, k = max((alike(o, t), -i, -k) for i, o in enumerate(left) for k, t in enumerate(right))
        if not score:
            break
        pairs.append((left.pop(-i), right.pop(-k)))
        wrong += unmatched(pairs[-1][0].inside, pairs[-1][1].inside, pairs)
    return wrong + [('invented', x) for x in whole(left)] + [('lost', x) for x in whole(right)]


SOURCES = {}


def text_of(place, paths):
    path = next((p for p in paths if os.path.basename(p) == place[0]), '')
    if path not in SOURCES:
        SOURCES[path] = open(path, errors='replace').read().split('\n') if os.path.exists(path) else []
    return SOURCES[path][place[1] - 1] if 0 < place[1] <= len(SOURCES[path]) else ''


REASONS = (
    ('directive', r'^\s*#\s*pragma|^\s*[!c]\$(omp|acc)|_Pragma|\b(\w*(OMP|PARALLEL|SIMD)\w*|parallel_for\w*)\s*(\(|$)'),
    ('keyword', r'\b(for|while|do|dowhile)\b|^\s*\d*\s*do\d'),
    ('label or goto', r'\bgo\s?to\b|^\s*\w+\s*:(?!:)|^\s*\d+\s'),
)
FORTRAN = (
    ('input, output', r'\b(write|read|print)\b'),
    ('array statement', r'\(.*:.*\)|\[.*\]|\b(sum|product|matmul|spread|reshape|transpose|merge|pack|dot_product|norm2|'
                        r'(max|min)(val|loc)|any|all|count|forall|where|allocate|random_number)\b'),
    ('call', r'\bcall\b'),
    ('assignment', r'='),
)
C = (
    ('macro', r'\b[A-Z][A-Z0-9_]{2,}\b'),
    ('initializer, array of objects', r'\bnew\b|\bdelete\b|[{}]|\w\[|=|\w+\s+\w+[;(]'),
)


def reason_of(loop, theirs, paths):
    """What the source has where the loop begins, ours or theirs; a `do` may have no code, and stand above."""
    fortran = re.search(r'\.f\d*$', loop.first[0], re.I)
    above = (loop.first[0], loop.first[1] - 1)
    texts = [text_of(place, paths) for place in (loop.first, theirs.first, above)]
    if not any(texts[:2]):
        return 'no source here'
    for name, pattern in REASONS + (FORTRAN if fortran else C):
        if any(re.search(pattern, t, re.I if fortran else 0) for t in texts[:2 + (name == 'keyword')]):
            return name
    return 'statement'


def compared(procedure, file, candidates):
    """Of several functions of this name that which fits best: what is wrong, and pairs."""
    ours, results = our_loops(procedure, os.path.basename(file)), []
    for blocks in candidates:
        pairs = []
        wrong = unmatched(ours, loops_of(blocks), pairs)
        results.append((len(wrong), len(results), wrong, pairs))
    return min(results)[2:]


def main(arguments):
    verbose = arguments[:1] == ['-v']
    structure, *dumps = arguments[verbose:]
    functions = collections.defaultdict(list)
    for path in dumps:
        (read_clang if path.endswith('.ll') else read_gcc)(path, functions)
    counts, reasons = collections.Counter(), collections.Counter()
    tree = ET.parse(structure)
    paths = [''] + [f.get('n') for f in tree.iter('F')] + [e.get('f') for e in tree.iter() if e.get('f')]
    for file in tree.iter('F'):
        for p in file.iter('P'):
            name = p.get('ln') or p.get('n')
            if name not in functions:
                continue
            wrong, pairs = compared(p, file.get('n'), functions[name])
            paths[0] = file.get('n')  # of several files of one name this one
            counts['procedures'] += 1
            counts['loops'] += len(pairs)
            for o, t in pairs:
                reason = reason_of(o, t, paths)
                reasons[reason] += 1
                if o.first not in t.lines and reason not in ('keyword', 'directive'):
                    wrong.append(('elsewhere', o))
            for kind, loop in wrong:
                counts[kind] += 1
                if verbose:
                    print('   ', kind, name, loop.at, '|', text_of(loop.first, paths).strip()[:90])
    kinds = 'procedures', 'loops', 'lost', 'invented', 'elsewhere'
    print('%d procedures, %d loops of both; lost %d, invented %d, elsewhere %d; made by' %
          tuple(counts[k] for k in kinds), ', '.join('%s %d' % r for r in reasons.most_common()))


if __name__ == '__main__':
    main(sys.argv[1:])
