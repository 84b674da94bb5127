# SPDX-License-Identifier: BSD-3-Clause
"""Results of hpcview in Python.

    import hpcview
    result = hpcview.open("hpcview-app.measurements")       # or a database, a configuration, a perf.data
    for row in result.rows("loop")[:5]:
        print(row["file"], row["line"], row["perf::TASK-CLOCK"])
    result.frame("loop")                                     # the same as a pandas DataFrame
    result.table("loop_quality")                             # an auxiliary table
    result.findings()                                        # what 'hpcview diagnose' reports

The numbers are those of `hpcview print --format csv`: the command reads the files, so that there is one reader of them.
Values that were not measured are None, never 0. The environment variable HPCVIEW names the command (default: hpcview in
PATH).
"""

import json
import os
import subprocess

__all__ = ["open", "Error", "Result"]


class Error(Exception):
    """What hpcview printed when it failed."""


def open(*paths, options=(), command=None):  # noqa: A001 (as gzip.open)
    """The result of measurements, or of a database. `options` go to each hpcview command (["--source", "src"])."""
    if not paths:
        raise ValueError("give a measurement folder, a database or a configuration file")
    return Result([os.fspath(p) for p in paths], list(options), command or os.environ.get("HPCVIEW", "hpcview"))


class Result:
    def __init__(self, paths, options, command):
        self._paths, self._options, self._command = paths, options, command
        self._read = {}
        self.warnings = []

    def _json(self, *words):
        """What a command prints as JSON, read once."""
        if words not in self._read:
            argv = [self._command, *words, "--format", "json", *self._options, "--", *self._paths]
            if words[0] == "diagnose":  # there, a program follows "--"
                argv.remove("--")
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
            sentences = [line.removeprefix("hpcview: ") for line in done.stderr.splitlines()]
            if done.returncode != 0:
                raise Error("; ".join(sentences) or f"{self._command}: exit status {done.returncode}")
            for sentence in sentences:
                if sentence.startswith("warning: ") and sentence[9:] not in self.warnings:
                    self.warnings.append(sentence[9:])
            self._read[words] = json.loads(done.stdout)
        return self._read[words]

    def metrics(self):
        """The metrics: name, unit, period, total and others."""
        return self._json("print", "--by", "program")["metrics"]

    def rows(self, by="procedure"):
        """A row for each place: a level of 'hpcview print --by', the most expensive first. The columns are those of CSV:
        METRIC, and METRIC (E) for the exclusive value."""
        printed = self._json("print", "--by", by)
        if "metrics" not in printed:  # barriers and references are tables
            return printed["rows"]
        names = [metric["name"] for metric in printed["metrics"]]
        return [_flat(row, names) for row in printed["rows"]]

    def table(self, name):
        """The rows of an auxiliary table ('hpcview print --table')."""
        return self._json("print", "--table", name)["rows"]

    def findings(self):
        """The performance problems that 'hpcview diagnose' reports, ordered as there."""
        return self._json("diagnose")["findings"]

    def frame(self, by="procedure", table=None):
        """rows(by), or table(table), as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.table(table) if table else self.rows(by))


def _flat(row, names):
    flat = {key: value for key, value in row.items() if key not in ("values", "exclusive")}
    for name in names:
        flat[name] = row.get("values", {}).get(name)
        flat[name + " (E)"] = row.get("exclusive", {}).get(name)
    return flat
