#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Chains of inlined calls against llvm-symbolizer's, address by address.

usage: chains.py BINARY STRUCTURE.xml [-n ADDRESSES] [-v]     STRUCTURE.xml: hpcview structure --no-cache -o STRUCTURE.xml BINARY

Takes addresses evenly over the statements of STRUCTURE.xml; of each the line and the lines of the calls down to it, from
the inside out, must be the same. What differs is told apart:

  moved    the loop around it is in another callee: the compiler has moved the instruction into the loop, and the tree, in which
           loops are, shows it there. Its own line and the calls that it does not share with the loop are the same.
  other    a difference that should not be
"""
import json, os, shutil, subprocess, sys
import xml.etree.ElementTree as ET


def statements(path):
    """[(begin, end, lines from the inside out, lines without the calls around the innermost loop)]"""
    found = []

    def walk(element, calls, loop_calls):
        for child in element:
            if child.tag == 'S':
                for part in (child.get('v') or '').split():
                    begin, end = (int(x, 16) for x in part.split('-'))
                    found.append((begin, end, [int(child.get('b'))] + calls, len(calls) - loop_calls))
            elif child.tag == 'A':
                walk(child, [int(child.get('cb') or 0)] + calls, loop_calls)
            elif child.tag == 'P':
                walk(child, [], 0)
            else:
                walk(child, calls, len(calls) if child.tag == 'L' else loop_calls)

    walk(ET.parse(path).getroot(), [], 0)
    return found


def symbolizer():
    names = ['llvm-symbolizer'] + ['llvm-symbolizer-%d' % v for v in range(22, 13, -1)]
    return next((n for n in names if shutil.which(n)), None)


def chains(binary, addresses):
    text = subprocess.run([symbolizer(), '--inlines', '--output-style=JSON', '--obj=' + binary], check=True, text=True,
                          input=''.join('0x%x\n' % a for a in addresses), capture_output=True).stdout
    text = text.strip()
    answers = json.loads(text) if text.startswith('[{"Address') and '\n' not in text else [json.loads(l) for l in text.splitlines()]
    answers = [x for a in answers for x in (a if isinstance(a, list) else [a])]
    return [[f['Line'] for f in a['Symbol']] for a in answers]


def main(args):
    binary, xml = args[:2]
    most = int(args[args.index('-n') + 1]) if '-n' in args else 5000
    if not symbolizer():
        print('no llvm-symbolizer')
        return 77
    all_of = statements(xml)
    step = max(1, len(all_of) // most)
    taken = all_of[::step]
    same = moved = other = 0
    for (begin, _, mine, own), theirs in zip(taken, chains(binary, [t[0] for t in taken])):
        if mine == theirs:
            same += 1
        elif mine[:own + 1] == theirs[:own + 1]:
            moved += 1
        else:
            other += 1
            if '-v' in args:
                print('  0x%x: %s here, %s there' % (begin, mine, theirs))
    print('%s: %d addresses, %d same, %d moved, %d other' % (os.path.basename(binary), len(taken), same, moved, other))
    return other != 0


sys.exit(main(sys.argv[1:]))
