#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""validate.py SCHEMA FILE [SCHEMA FILE]... - is each FILE what its SCHEMA says?

A schema whose name contains "journal" is for NDJSON: every line is one document. Stricter than
JSON readers usually are: no NaN or infinity, no key twice. Prints the first faults, at most ten,
and ends with 1. Of a journal with more than 500 lines the lines in the middle are validated once
per shape (event, keys, types); parsed they are all.
"""
import itertools
import json
import pathlib
import sys

import jsonschema

MANY_LINES = 500
EDGE_LINES = 100
MAX_FAULTS = 10


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def unique_object(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError(f"a key twice among {[k for k, _ in pairs]}")
    return out


def parse(text):
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_object)


def shape(value):
    """What a value looks like to a schema, its event's name included, its numbers not."""
    if isinstance(value, dict):
        return tuple((k, v if k == "event" else shape(v)) for k, v in value.items())
    if isinstance(value, list):
        return ("list", frozenset(shape(v) for v in value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ("number", value < 0)
    return type(value).__name__


def plain(error):
    """The faults behind a oneOf: of the branch that is for this event, if there is one."""
    branches = {}
    for e in error.context or []:
        branches.setdefault(e.schema_path[0], []).append(e)
    for errors in branches.values():
        if not any(list(e.absolute_path)[-1:] == ["event"] for e in errors):
            for e in errors:
                yield from plain(e)
            return
    yield error


def documents(path, lines):
    """Yields (line number, document or exception)."""
    data = path.read_bytes()
    texts = data.split(b"\n")[:-1] if lines else [data]
    if lines and not data.endswith(b"\n"):
        yield len(texts) + 1, ValueError("the last line is cut off")
    many = len(texts) > MANY_LINES
    seen = set()
    for number, text in enumerate(texts, 1):
        try:
            doc = parse(text.decode("utf-8"))
        except ValueError as error:
            yield number, error
            continue
        if many and EDGE_LINES < number <= len(texts) - EDGE_LINES:
            looks = shape(doc)
            if looks in seen:
                continue
            seen.add(looks)
        yield number, doc


def faults(schema_path, path):
    """Yields a line for each fault."""
    schema = parse(schema_path.read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    resolver = jsonschema.RefResolver(schema_path.as_uri(), schema)
    validator = kind(schema, resolver=resolver)
    for number, doc in documents(path, "journal" in schema_path.name):
        where = f"{path.name}:{number}"
        if isinstance(doc, Exception):
            yield f"{where}: {doc}"
            continue
        for top in validator.iter_errors(doc):
            for error in plain(top):
                at = "/".join(map(str, error.absolute_path)) or "top"
                yield f"{where}: at {at}: {error.message[:300]}"


def main():
    paths = [pathlib.Path(arg).resolve() for arg in sys.argv[1:]]
    if not paths or len(paths) % 2:
        sys.exit("usage: validate.py SCHEMA FILE [SCHEMA FILE]...")
    wrong = False
    for schema_path, path in zip(paths[::2], paths[1::2]):
        for line in itertools.islice(faults(schema_path, path), MAX_FAULTS):
            print(line)
            wrong = True
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
