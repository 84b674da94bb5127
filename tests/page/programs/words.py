# SPDX-License-Identifier: BSD-3-Clause
"""Counts words and serializes them: functions of Python above native code of re and json."""
import json
import re
import sys


def parse(text):
    return re.findall(r"[a-z]+|\d+", text)


def count(words):
    table = {}
    for word in words:
        table[word] = table.get(word, 0) + 1
    return table


def save(table):
    return len(json.dumps(sorted(table.items())))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    text = " ".join(f"word{i * 7919 % 1000} and {i}" for i in range(5000))
    print(sum(save(count(parse(text))) for _ in range(rounds)))


main()
