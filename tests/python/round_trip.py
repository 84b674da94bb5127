# SPDX-License-Identifier: BSD-3-Clause
"""round_trip.py COMMAND MEASUREMENT DATABASE STRUCTURE: the package's tables are those of CSV, cell by cell. Prints TAP."""
import csv
import io
import os
import subprocess
import sys

import hpcview

command, measurement, database, structure = sys.argv[1:]
count = 0


def check(what, holds, why=""):
    global count
    count += 1
    print(f"{'ok' if holds else 'not ok'} {count} - {what}")
    if not holds:
        print(f"# {why}")


def same(text, value):
    if value is None or value == "":
        return text == ""
    return text != "" and float(text) == value if isinstance(value, (int, float)) else text == value


def compare(what, words, option, name, rows):
    printed = subprocess.run([command, "print", option, name, "--format", "csv", *words], capture_output=True, text=True, check=True)
    expected = list(csv.DictReader(io.StringIO(printed.stdout)))
    wrong = [(key, text, row.get(key)) for line, row in zip(expected, rows) for key, text in line.items() if not same(text, row.get(key))]
    check(f"{what}: {name}", expected and len(expected) == len(rows) and not wrong, f"{len(expected)} rows, {len(rows)}; {wrong[:3]}")


for what, path, options in (("measurement", measurement, ["--structure", structure]), ("database", database, [])):
    result = hpcview.open(path, options=options, command=command)
    for level in ("program", "module", "file", "procedure", "loop", "line", "path"):
        compare(what, [*options, path], "--by", level, result.rows(level))
    compare(what, [*options, path], "--table", "placement", result.table("placement"))
    check(f"{what}: metrics", result.metrics()[0]["total"] == result.rows("program")[0][result.metrics()[0]["name"]])
    check(f"{what}: findings", isinstance(result.findings(), list))
try:
    hpcview.open("/nowhere", command=command).rows()
    check("an error is raised", False)
except hpcview.Error as error:
    check("an error is raised", "/nowhere: cannot be opened" in str(error), str(error))
os.environ["HPCVIEW"] = command
check("the command of the environment", hpcview.open(measurement).rows())
try:
    import pandas  # noqa: F401

    check("a DataFrame", len(hpcview.open(measurement).frame("loop")) == len(hpcview.open(measurement).rows("loop")))
except ImportError:
    count += 1
    print(f"ok {count} - a DataFrame # SKIP no pandas here")
print(f"1..{count}")
