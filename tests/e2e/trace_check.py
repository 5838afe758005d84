#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""trace_check - do the events keep the rules of Chrome's trace event format?

usage: trace_check.py TRACE [JOURNAL].  Prints one line a fault; with the journal also whether every
process of it has a track of its own, with its times.
"""
import json
import numbers
import sys
from collections import defaultdict

COMMON = {"ph", "name", "pid", "tid"}
NEEDED = {"X": {"ts", "dur", "cat", "args"}, "C": {"ts", "args"}, "M": {"args"}}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def event_faults(event):
    kind = event.get("ph")
    if kind not in NEEDED:
        yield f"ph {kind!r}"
        return
    keys = set(event)
    if keys != COMMON | NEEDED[kind]:
        yield f"fields {sorted(keys)} of a {kind}"
        return
    for key in ("pid", "tid"):
        if not isinstance(event[key], int) or event[key] < 0:
            yield f"{key} {event[key]!r}"
    for key in {"ts", "dur"} & keys:
        if not is_number(event[key]) or event[key] < 0:
            yield f"{key} {event[key]!r}"
    if not isinstance(event["name"], str) or not isinstance(event["args"], dict):
        yield "a name that is no text, or args that are no object"
    elif kind == "M" and (event["name"] not in METADATA or list(event["args"]) != [METADATA[event["name"]]]):
        yield f"metadata {event['name']} with {event['args']}"
    elif kind == "C" and not (event["args"] and all(is_number(v) for v in event["args"].values())):
        yield f"a counter of {event['args']}"


def nesting_faults(slices):
    """Slices of one thread lie within each other or beside each other."""
    slack = 0.001  # a nanosecond
    open_until = []
    for start, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= start + slack:
            open_until.pop()
        if open_until and end > open_until[-1] + slack:
            yield f"{name!r} at {start} overlaps the slice before"
        open_until.append(end)


def faults(trace):
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        yield "no traceEvents"
        return
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        yield "displayTimeUnit"
    names, slices = defaultdict(list), defaultdict(list)
    for number, event in enumerate(trace["traceEvents"]):
        found = list(event_faults(event))
        yield from (f"event {number}: {fault}" for fault in found)
        if found:
            continue
        if event["name"] == "process_name" and event["ph"] == "M":
            names[event["pid"]].append(event["args"]["name"])
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(
                (event["ts"], event["ts"] + event["dur"], event["name"]))
    for of, found in slices.items():
        if len(names[of[0]]) != 1:
            yield f"process {of[0]} has the names {names[of[0]]}"
        yield from (f"thread {of}: {fault}" for fault in nesting_faults(found))


def journal_faults(trace, journal):
    rows = [line for line in map(json.loads, journal) if line["event"] == "process"]
    found = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "process"]
    if len({e["pid"] for e in found}) != len(found):
        yield "two processes on one track"
    want = sorted((r["pid"], max(r["started"] or 0, 0), r["comm"], r["peak_rss_bytes"]) for r in rows)
    got = sorted((e["args"]["pid"], e["ts"] / 1e6, e["name"], e["args"]["peak_rss_bytes"]) for e in found)
    if len(want) != len(got):
        yield f"{len(got)} processes, not {len(want)}"
    for w, g in zip(want, got):
        if w[0] != g[0] or w[2:] != g[2:] or abs(w[1] - g[1]) > 1e-8:
            yield f"{g}, not {w}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    found = list(faults(trace))
    if len(sys.argv) > 2 and not found:
        with open(sys.argv[2], encoding="utf-8") as file:
            found = list(journal_faults(trace, file))
    print("\n".join(found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
