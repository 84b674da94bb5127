#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often hpcview compare is wrong: trials.py HPCVIEW [--slower PERCENT] [--times N] [--pairs N] [--rounds N]

The base and itself (--slower 0), or a program in which one loop of ten takes longer by PERCENT of the run (ten.c). For trials
under load, start something on all processors first."""
import argparse, json, os, subprocess, sys, tempfile

p = argparse.ArgumentParser()
p.add_argument('hpcview')
p.add_argument('--slower', type=int, default=0)
p.add_argument('--times', type=int, default=60)
p.add_argument('--pairs', type=int, default=20)
p.add_argument('--rounds', type=int, default=100)
p.add_argument('--event', default='perf::TASK-CLOCK@500000')
a = p.parse_args()
hpcview, source = os.path.abspath(a.hpcview), os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ten.c')
statuses, pairs, differ, places, named, wrong, failed = {}, 0, 0, 0, 0, 0, 0
with tempfile.TemporaryDirectory() as folder:
    for name, slower in (('base', 0), ('new', a.slower)):
        subprocess.run(['cc', '-O1', '-g', f'-DSLOWER={slower}', '-o', f'{folder}/{name}', source], check=True)
    for i in range(a.times):
        r = subprocess.run([hpcview, 'compare', '-e', a.event, '--pairs', str(a.pairs), '-f', 'json', '--', './base', str(a.rounds), '--',
                            './new', str(a.rounds)], cwd=folder, capture_output=True, text=True)
        if r.returncode not in (0, 3, 4):
            failed += 1
            print(r.stderr, file=sys.stderr)
            continue
        report = json.loads(r.stdout)
        statuses[report['verdict']] = statuses.get(report['verdict'], 0) + 1
        pairs += len(report['pairs'])
        differ += report['cpu']['low'] > 0 or report['cpu']['high'] < 0
        changed = [s['scope'] for s in report['scopes'] if s['changed']]
        places += bool(changed)
        named += any('third' in s for s in changed)
        wrong += any('third' not in s and 'main' not in s for s in changed)
        print(i, report['sentence'], *changed, sep='; ', flush=True)
print(f'{a.times} comparisons, slower by {a.slower}%: {statuses}, {pairs / a.times:.1f} pairs; the program differs in {differ}, '
      f'some scope in {places}, the right one in {named}, a wrong one in {wrong}; {failed} failed')
