#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is the data in an HTML report that of its journal, and is the page harmless?

page.py PAGE JOURNAL: prints a line for each thing that is wrong.  page.py --data PAGE: its data.
"""
import html.parser
import json
import re
import sys

RUNNING, EXACT, CORE, OOM, CUT = 1, 2, 4, 8, 16


class Page(html.parser.HTMLParser):
    """What a browser sees: its elements, what they may do, the data."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.data, self.inside = [], [], "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.inside = dict(attrs).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data


def events(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event


def us(seconds):
    return None if seconds is None else int(round(seconds * 1e9)) // 1000


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1)


def row_faults(told, row, want):
    at = dict(zip(told["columns"], row))
    flags = at["flags"]
    status = want["exit_code"] if want["exit_signal"] is None else -want["exit_signal"]
    same = {
        "pid": "pid", "ppid": "ppid", "peak": "peak_rss_bytes", "error": "peak_rss_error_bytes",
        "threads": "threads", "execs": "execs", "minor_faults": "minor_faults",
        "major_faults": "major_faults", "voluntary": "voluntary_ctxt_switches",
        "involuntary": "involuntary_ctxt_switches", "inherited": "inherited_rss_bytes",
        "peak_vm": "peak_vm_bytes",
    }
    for key, name in same.items():
        if at[key] != want[name]:
            yield f"{key}: {at[key]}, not {want[name]}"
    for key, name in {"started_us": "started", "ended_us": "ended", "cpu_us": "cpu_seconds",
                      "user_us": "cpu_user_seconds"}.items():
        if not near(at[key], us(want[name])):
            yield f"{key}: {at[key]}, not {want[name]}"
    for key in ("read_bytes", "write_bytes"):
        if at[key] != want["io"][key]:
            yield f"{key}: {at[key]}, not {want['io'][key]}"
    if told["names"][at["name"]] != want["comm"]:
        yield f"name: {told['names'][at['name']]!r}, not {want['comm']!r}"
    if told["sources"][at["peak_source"]] != want["peak_source"]:
        yield f"source: {at['peak_source']}"
    if at["status"] != status:
        yield f"status: {at['status']}, not {status}"
    for bit, name in ((RUNNING, "running"), (EXACT, "peak_rss_exact"), (CORE, "core_dumped"),
                      (OOM, "oom_killed")):
        if bool(flags & bit) != bool(want[name]):
            yield f"{name}: {flags:#x}, not {want[name]}"
    notes = [name for i, name in enumerate(told["notes"]) if flags >> 8 >> i & 1]
    if notes != want.get("notes", []):
        yield f"notes: {notes}, not {want.get('notes')}"
    yield from argument_faults(told, at, want)


def argument_faults(told, at, want):
    if at["arguments"] is None or want["argv"] is None:
        if at["arguments"] is not None or want["argv"] is not None:
            yield "arguments: known and not known"
        return
    got = told["arguments"][at["arguments"]]
    if at["flags"] & CUT and not want.get("argv_truncated"):
        if not "\0".join(want["argv"]).startswith("\0".join(got)):
            yield f"arguments: {got!r} is no beginning of {want['argv']!r}"
        if len("\0".join(want["argv"]).encode()) < 64:
            yield "arguments: short, and cut"
    elif got != want["argv"] and not at["flags"] & CUT:
        yield f"arguments: {got!r}, not {want['argv']!r}"


def faults(text, journal):
    page = Page(text)
    if "<" in page.data:
        yield "a < in the data"
    told = json.loads(page.data)
    want = list(events(journal))
    rows = {}
    for event in want:
        if event.get("event") == "process":
            rows.setdefault((event["pid"], us(event["started"])), event)
    processes = told["processes"]
    at = {name: i for i, name in enumerate(processes["columns"])}
    for row in processes["rows"]:
        key = row[at["pid"]], row[at["started_us"]]
        event = rows.pop(key, None) or rows.pop((key[0], (key[1] or 0) - 1), None)
        if event is None:
            yield f"row {key} is not in the journal, or comes twice"
            continue
        for fault in row_faults(processes, row, event):
            yield f"pid {key[0]}: {fault}"
    if told["others"]["processes"] != len(rows):
        yield f"{told['others']['processes']} others, not {len(rows)}"
    samples = [[e["t"]] + [e.get(c) for c in told["samples"]["columns"][1:]]
               for e in want if e.get("event") == "sample" and "run" not in e]
    if told["samples"]["stride"] == 1 and told["samples"]["points"] != samples:
        yield "samples are not the journal's"
    for event in want:
        if event.get("event") == "summary":
            # how many rows a summary leaves out says nothing of a page
            summary = {k: v for k, v in event.items()
                       if k not in ("event", "t", "processes_omitted")}
            del told["summary"]["processes_omitted"]
            if told["summary"] != summary:
                yield "the summary is not the journal's"
    yield from harm(page)


def harm(page):
    """What could reach for something outside of the page, or run what is not its own."""
    policy = [value for tag, name, value in page.attributes
              if tag == "meta" and name == "content" and "default-src" in value]
    if len(policy) != 1 or "default-src 'none'" not in policy[0] or "unsafe" in policy[0]:
        yield f"policy: {policy}"
    if page.tags.count("script") != 2 or page.tags.count("style") != 1:
        yield f"elements: {page.tags}"
    for tag, name, value in page.attributes:
        if name.startswith("on") or name in ("src", "srcset", "action", "background", "style"):
            yield f"{tag} has {name}"
        if name == "href" and not re.fullmatch("#[a-z]+", value):
            yield f"{tag} leads to {value}"


def main():
    if sys.argv[1] == "--data":
        with open(sys.argv[2], encoding="utf-8") as page:
            print(Page(page.read()).data)
        return 0
    with open(sys.argv[1], encoding="utf-8") as page:
        found = list(faults(page.read(), sys.argv[2]))
    for fault in found[:20]:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
