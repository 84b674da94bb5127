# SPDX-License-Identifier: BSD-3-Clause
"""validate.py SCHEMA: is the JSON on the standard input what the schema says? The part of JSON Schema that ours uses; a
keyword that is not known here is an error, so that nothing is passed over."""
import json
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def check(value, schema, root, path):
    """Yields what is wrong."""
    for keyword, wanted in schema.items():
        if keyword in ("$schema", "$id", "$defs", "title", "description", "properties"):
            continue
        if keyword == "$ref":
            yield from check(value, root["$defs"][wanted.rsplit("/", 1)[1]], root, path)
        elif keyword == "oneOf":
            tries = [list(check(value, one, root, path)) for one in wanted]
            if sum(not t for t in tries) != 1:
                yield from min(tries, key=len) or [path + ": is two things"]
        elif keyword == "enum":
            if value not in wanted:
                yield "%s: %r is none of %s" % (path, value, wanted)
        elif keyword == "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            if not any(is_type(value, name) for name in names):
                yield "%s: %r is no %s" % (path, value, " or ".join(names))
        elif keyword == "required":
            for name in wanted:
                if isinstance(value, dict) and name not in value:
                    yield "%s: lacks '%s'" % (path, name)
        elif keyword == "items":
            for i, item in enumerate(value if isinstance(value, list) else []):
                yield from check(item, wanted, root, "%s[%d]" % (path, i))
        elif keyword == "additionalProperties":
            for name, item in (value.items() if isinstance(value, dict) else []):
                known = schema.get("properties", {}).get(name, wanted)
                if known is False:
                    yield "%s: has '%s', which the schema does not know" % (path, name)
                elif known is not True:
                    yield from check(item, known, root, path + "." + name)
        else:
            yield "the schema has '%s', which is not checked here" % keyword


schema = json.load(open(sys.argv[1]))
wrong = list(check(json.load(sys.stdin), schema, schema, "it"))
for sentence in wrong[:20]:
    print(sentence)
sys.exit(1 if wrong else 0)
