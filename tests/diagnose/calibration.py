#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the planted problem found, is anything else claimed, and is the predicted gain what the change brings?

usage: calibration.py HPCVIEW [--set a|b|all] [--only NAME,...] [--rounds N]

Each file of tests/diagnose/pairs is a program before and after a change: flags of both are in its first line, with the
property that should be found ("planted"), what must not be claimed ("false": more than 10% of the run) and, where the
finding should name a procedure, which ("at"). Both are run in turn, before, after, after, before; serial programs are
compared by processor time, others by wall-clock time. Prints a table and its summary; fails only on its own errors.
"""
import argparse, csv, io, os, re, resource, statistics, subprocess, sys, tempfile, time

PAIRS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs")
COMPILERS = {".c": ["gcc"], ".cpp": ["g++"], ".f90": ["gfortran", "-cpp"]}
CLAIM = 10  # percent of the run from which a false finding counts


def header(path):
    with open(path) as f:
        words = f.readline()
    fields = dict(re.findall(r"(planted|false|set|before|after|by|at): ([^;]*?)(?=;|\. )", words))
    fields.setdefault("by", "record")
    fields["alternatives"] = [p for p in fields.get("planted", "none").split("|") if p != "none"]
    return fields


def build(path, flags, out):
    compiler = COMPILERS[os.path.splitext(path)[1]]
    subprocess.run([*compiler, "-g", *flags.split(), "-o", out, path, "-lm"], check=True, stderr=subprocess.DEVNULL)


def seconds(program, parallel):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall if parallel else after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured_gain(before, after, parallel, rounds):
    times = {before: [], after: []}
    for _ in range(rounds):
        for program in (before, after, after, before):
            times[program].append(seconds(program, parallel))
    return 1 - statistics.median(times[after]) / statistics.median(times[before])


def findings(hpcview, fields, program, folder):
    measurement = os.path.join(folder, "m")
    subprocess.run(["rm", "-rf", measurement])
    subprocess.run([hpcview, *fields["by"].split(), "-o", measurement, "--", program], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run([hpcview, "diagnose", "--format", "csv", measurement], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def percent(finding, *names):
    for name in names:
        if finding.get(name, "") != "":
            return float(finding[name])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hpcview")
    parser.add_argument("--set", default="a", choices=["a", "b", "all"])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    rows, held, inside, errors = [], 0, 0, []
    print(f"{'program':20} {'rank':>4} {'predicted':>13} {'gain':>6}  {'first finding':22} false")
    for name in sorted(os.listdir(PAIRS)):
        path, stem = os.path.join(PAIRS, name), os.path.splitext(name)[0]
        fields = header(path)
        if arguments.only and stem not in arguments.only.split(","):
            continue
        if not arguments.only and arguments.set not in ("all", fields["set"]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            before, after = os.path.join(folder, stem), os.path.join(folder, stem + ".after")
            build(path, fields["before"], before)
            build(path, fields["after"], after)
            found = findings(arguments.hpcview, fields, before, folder)
            parallel = "-pthread" in fields["before"] or "-fopenmp" in fields["before"]
            gain = 100 * measured_gain(before, after, parallel, arguments.rounds)
        planted = fields["alternatives"]
        rank = next((i for i, f in enumerate(found, 1) if f["property"] in planted and
                     (not fields.get("at") or re.search(fields["at"], " ".join(f.values()), re.I))), None)
        false = [f"{f['property']} {f['severity']}%" for f in found
                 if f["property"] in fields.get("false", "").split("|") and float(f["severity"]) > CLAIM]
        interval = None
        if rank:
            f = found[rank - 1]
            interval = percent(f, "gain_low", "severity"), percent(f, "gain_high", "severity")
        good = (rank or 9) <= 2 if planted else not false
        rows.append((stem, good, bool(false)))
        first = found[0]["property"] + " " + found[0]["severity"] if found else "-"
        shown = f"{interval[0]:.0f} to {interval[1]:.0f}" if interval else "-"
        print(f"{stem:20} {rank or '-':>4} {shown:>13} {gain:6.1f}  {first:22} {', '.join(false)}", flush=True)
        if interval:
            inside += interval[0] - 2 <= gain <= interval[1] + 2
            errors.append(abs((interval[0] + interval[1]) / 2 - gain) / max(abs(gain), 5))
            held += 1
    print(f"\n{sum(r[1] for r in rows)} of {len(rows)} as planned, {sum(r[2] for r in rows)} with a false finding above {CLAIM}%")
    if held:
        print(f"gain inside its interval (2 points allowed): {inside} of {held}; median relative error of the middle {statistics.median(errors):.2f}")


if __name__ == "__main__":
    main()
