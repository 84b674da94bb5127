#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is a file what the published description of its format says? One line of totals, or what is wrong.

    formats.py pprof FILE         the fields of profile.proto (github.com/google/pprof, proto/profile.proto), on the wire
    formats.py speedscope FILE    the rules of https://www.speedscope.app/file-format-schema.json

Both also hold what the descriptions say in words: numbers that point to something point to something that is there.
"""
import gzip
import json
import sys


def need(holds, what):
    if not holds:
        sys.exit("wrong: " + what)


# ---- pprof: message -> field -> (name, type); a list is repeated, a type that is a message's name is one -------------
STRING_INDEX, NUMBER, STRING = "index", "number", "string"
SCHEMA = {
    "Profile": {
        1: ("sample_type", ["ValueType"]), 2: ("sample", ["Sample"]), 3: ("mapping", ["Mapping"]),
        4: ("location", ["Location"]), 5: ("function", ["Function"]), 6: ("string_table", [STRING]),
        7: ("drop_frames", STRING_INDEX), 8: ("keep_frames", STRING_INDEX), 9: ("time_nanos", NUMBER),
        10: ("duration_nanos", NUMBER), 11: ("period_type", "ValueType"), 12: ("period", NUMBER),
        13: ("comment", [STRING_INDEX]), 14: ("default_sample_type", STRING_INDEX), 15: ("doc_url", STRING_INDEX)},
    "ValueType": {1: ("type", STRING_INDEX), 2: ("unit", STRING_INDEX)},
    "Sample": {1: ("location_id", [NUMBER]), 2: ("value", [NUMBER]), 3: ("label", ["Label"])},
    "Label": {1: ("key", STRING_INDEX), 2: ("str", STRING_INDEX), 3: ("num", NUMBER), 4: ("num_unit", STRING_INDEX)},
    "Mapping": {
        1: ("id", NUMBER), 2: ("memory_start", NUMBER), 3: ("memory_limit", NUMBER), 4: ("file_offset", NUMBER),
        5: ("filename", STRING_INDEX), 6: ("build_id", STRING_INDEX), 7: ("has_functions", NUMBER),
        8: ("has_filenames", NUMBER), 9: ("has_line_numbers", NUMBER), 10: ("has_inline_frames", NUMBER)},
    "Location": {
        1: ("id", NUMBER), 2: ("mapping_id", NUMBER), 3: ("address", NUMBER), 4: ("line", ["Line"]),
        5: ("is_folded", NUMBER)},
    "Line": {1: ("function_id", NUMBER), 2: ("line", NUMBER), 3: ("column", NUMBER)},
    "Function": {
        1: ("id", NUMBER), 2: ("name", STRING_INDEX), 3: ("system_name", STRING_INDEX),
        4: ("filename", STRING_INDEX), 5: ("start_line", NUMBER)},
}


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number is cut short")
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def message(data, kind, indices):
    result = {name: [] if isinstance(type_, list) else None for name, type_ in SCHEMA[kind].values()}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        field, wire = key >> 3, key & 7
        need(field in SCHEMA[kind], "%s has no field %d" % (kind, field))
        name, declared = SCHEMA[kind][field]
        type_ = declared[0] if isinstance(declared, list) else declared
        numeric = type_ in (STRING_INDEX, NUMBER)
        need(wire == 2 or (wire == 0 and numeric), "%s.%s has wire type %d" % (kind, name, wire))
        number, at = varint(data, at)
        values = [number]
        if wire == 2:
            body, at = data[at:at + number], at + number
            need(at <= len(data), "%s.%s is cut short" % (kind, name))
            if not numeric:
                values = [body.decode() if type_ == STRING else message(body, type_, indices)]
            else:
                need(isinstance(declared, list), "%s.%s is no list" % (kind, name))
                values, inside = [], 0
                while inside < len(body):
                    number, inside = varint(body, inside)
                    values.append(number)
        if type_ == STRING_INDEX:
            indices.extend(values)
        if isinstance(declared, list):
            result[name].extend(values)
        else:
            result[name] = values[-1]
    return result


def ids(rows, kind):
    found = [row["id"] for row in rows]
    need(all(found) and len(set(found)) == len(found), "ids of a %s are 0 or twice there" % kind)
    return set(found)


def pprof(path):
    data, indices = open(path, "rb").read(), []
    need(data[:2] == b"\x1f\x8b", "it is not packed with gzip")
    p = message(gzip.decompress(data), "Profile", indices)
    strings = p["string_table"]
    need(strings and strings[0] == "", "the first string is not empty")
    need(all(i < len(strings) for i in indices), "an index of a string is beyond the table")
    functions, mappings, locations = (ids(p[k], k) for k in ("function", "mapping", "location"))
    for location in p["location"]:
        need((location["mapping_id"] or 0) in mappings | {0}, "a location's mapping is not there")
        need(all(line["function_id"] in functions for line in location["line"]), "a line's function is not there")
    totals = [0] * len(p["sample_type"])
    need(totals, "there is no sample type")
    for sample in p["sample"]:
        need(len(sample["value"]) == len(totals), "a sample has other values than there are types")
        need(sample["location_id"] and all(i in locations for i in sample["location_id"]), "a sample's location is not there")
        totals = [a + b for a, b in zip(totals, sample["value"])]
    default = p["default_sample_type"] or 0
    need(default == 0 or default in [t["type"] for t in p["sample_type"]], "the default is no sample type")
    print(",".join("%s=%d" % (strings[t["type"] or 0], v) for t, v in zip(p["sample_type"], totals)))


# ---- speedscope ------------------------------------------------------------------------------------------------------
def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def has(x, where, required, optional={}):
    need(isinstance(x, dict), where + " is no object")
    for key, holds in required.items():
        need(key in x, "%s lacks '%s'" % (where, key))
        need(holds(x[key]), "%s: '%s' is of another type" % (where, key))
    for key, holds in optional.items():
        need(key not in x or holds(x[key]), "%s: '%s' is of another type" % (where, key))


def is_text(x):
    return isinstance(x, str)


def is_list(x):
    return isinstance(x, list)


UNITS = ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")


def speedscope(path):
    doc = json.load(open(path, encoding="utf-8"))
    has(doc, "the file",
        {"$schema": lambda x: x == "https://www.speedscope.app/file-format-schema.json", "shared": lambda x: isinstance(x, dict),
         "profiles": is_list},
        {"name": is_text, "exporter": is_text, "activeProfileIndex": is_number})
    has(doc["shared"], "shared", {"frames": is_list})
    frames = doc["shared"]["frames"]
    for frame in frames:
        has(frame, "a frame", {"name": is_text}, {"file": is_text, "line": is_number, "col": is_number})
    totals = []
    for p in doc["profiles"]:
        has(p, "a profile", {"type": lambda x: x in ("sampled", "evented"), "name": is_text, "unit": lambda x: x in UNITS,
                             "startValue": is_number, "endValue": is_number})
        if p["type"] == "sampled":
            has(p, "a sampled profile", {"samples": is_list, "weights": is_list})
            need(len(p["samples"]) == len(p["weights"]), "there are other weights than samples")
            need(all(is_list(s) and all(isinstance(i, int) and 0 <= i < len(frames) for i in s) for s in p["samples"]),
                 "a sample's frame is not there")
            need(all(map(is_number, p["weights"])), "a weight is no number")
            need(p["startValue"] + sum(p["weights"]) == p["endValue"], "the weights do not end at endValue")
            totals.append("%s=%d" % (p["name"], sum(p["weights"])))
        else:
            has(p, "an evented profile", {"events": is_list})
            stack, at = [], p["startValue"]
            for e in p["events"]:
                has(e, "an event", {"type": lambda x: x in ("O", "C"), "frame": lambda x: 0 <= x < len(frames), "at": is_number})
                need(e["at"] >= at, "events go back")
                at = e["at"]
                if e["type"] == "O":
                    stack.append(e["frame"])
                else:
                    need(stack and stack.pop() == e["frame"], "a frame is closed that is not the last one open")
            need(not stack, "a frame stays open")
            totals.append(p["name"])
    need(0 <= doc.get("activeProfileIndex", 0) < max(1, len(doc["profiles"])), "the active profile is not there")
    print(",".join(totals))


{"pprof": pprof, "speedscope": speedscope}[sys.argv[1]](sys.argv[2])
