#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile - a journal whose names want to be taken for something else, and what became of them

usage: hostile.py make JOURNAL HOSTILE     a copy of JOURNAL with such names everywhere
       hostile.py check FORMAT FILE...     says what is wrong with a report of that kind
"""
import csv
import io
import json
import re
import sys
import unicodedata

BAD = "</script><script>alert(1)</script>"
NAMES = [  # comm: 15 bytes
    "</script><b>", "a\"'`b", "=1+cmd|' /C'!A0", "\x1b[31mred\x07", "\u202etxt.exe\u2066", "a|b|c",
    "x\ny\r\tz", "`</code>", "@everyone", "{le=\"1\"} 5", "\\x1b\\", "a,b;c", "%{peak}", "\u0085\x9b", "-->",
]
ARGUMENTS = [
    BAD, "\u202eevil\u202c \u200f", "\x1b]0;title\x07\x1b[2J", "a\nb\r\nc", "\"'`", "x" * 10240, "=HYPERLINK(\"x\")",
    "| a | b |", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "\ufeff\u2028\u2029", "\\", "",
    "]]>&lt;", "--", "{{7*7}}${7*7}", "# HELP x\n# EOF\n", "\u0000".replace("\u0000", "nul"),
]
# Neither a C0 or C1 control nor a mark that is not seen but for newline and tab.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def make(source, target):
    with open(source, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    number = 0
    for line in lines:
        if line["event"] == "process":
            line["comm"] = NAMES[number % len(NAMES)]
            line["argv"] = [line["comm"], *ARGUMENTS]
            number += 1
        if line["event"] in ("phase",):
            line["name"] = BAD + "\x1b[1m"
        run = line.get("run")
        if isinstance(run, dict):
            run["id"] = BAD + "\x1b\u202e\n"
            run["labels"] = {"</script>\n": BAD, "a\"b": "\x1b[0m\n\\", "\u202e": "\u202e"}
            run["command"] = ["=cmd", *ARGUMENTS]
            run["cwd"] = "/tmp/\n" + BAD
            run["exe"]["path"] = "/bin/" + BAD + "\n"
        for group in line.get("groups", []):
            group["comm"] = NAMES[0]
        for at in line.get("at_peak", []):
            at["comm"] = NAMES[3]
        if "completeness" in line:
            line["completeness"]["reasons"] = [BAD + "\x1b[31m\n"]
            line["completeness"]["exact"] = False
        if line["event"] == "summary":
            line["source"]["notes"] = ["disturbed: " + BAD + "\x1b\n"]
    with open(target, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def check_json(text):
    found = set(strings(json.loads(text)))
    if not any(BAD in s for s in found):
        yield "the names are not there as they were"


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if len({len(row) for row in rows}) != 1:
        yield "rows of several widths"
    head = rows[0]
    for row in rows[1:]:
        for cell in row:
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
                yield f"a formula: {cell[:20]!r}"
        if "argv" in head and json.loads(row[head.index("argv")])[1:] != ARGUMENTS:
            yield "the arguments are not what they were"


def check_markdown(text):
    widths = set()
    for line in text.splitlines():
        if line.startswith("| <code>"):
            widths.add(line.count("|"))
        bare = re.sub(r"</?code>", "", line)
        if "<" in bare or ">" in bare:
            yield f"HTML: {line[:60]}"
        if "](" in line or "`" in line or "@" in line:
            yield f"markup: {line[:60]}"
    if len(widths) > 1:
        yield f"rows of {widths} cells"


def check_html(text):
    # the page's own end tags alone, and no name outside its data
    if text.count("</script") != text.count("<script"):
        yield "a name ends a script"
    if "onerror=alert(1)>" in text.replace("\\u003c", "").split("<img")[0] and "<img src=x" in text:
        yield "a name is an element"


def check_lines(pattern):
    def check(text):
        for line in text.splitlines():
            if line and not re.fullmatch(pattern, line):
                yield f"a line of another kind: {line[:80]!r}"
    return check


LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
METRIC = rf"(?:# (?:TYPE|HELP|UNIT) .*|# EOF|[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{{(?:{LABEL},?)*\}})? [-+0-9.eE]+(?: [0-9.]+)?)"
CHECKS = {
    "json": check_json, "trace": check_json, "csv": check_csv, "csv-marks": check_csv,
    "markdown": check_markdown, "html": check_html, "benchmark-action": lambda t: [],
    "bencher": lambda t: [],
    "prom": check_lines(METRIC), "openmetrics": check_lines(METRIC),
    "text": check_lines(r"exitmeter: .*"),
    "status": check_lines(r"(Date|Cmd|VmPeak|VmHWM):.*"),
    "nextflow": check_lines(r"nextflow\.trace/v2|[a-z_%]+=.*"),
    "benchexec": check_lines(r"[a-z-]+=[0-9.]+[sB]?"),
    "snakemake": check_lines(r"[^\t]+(\t[^\t]+){9}"),
}
JSON_KINDS = {"benchmark-action", "bencher"}


def check(kind, path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield str(error)
        return
    if not text:
        yield "nothing"
    hidden = HIDDEN.search(text)
    if hidden:
        at = hidden.start()
        yield f"{unicodedata.name(hidden.group(), repr(hidden.group()))} in {text[max(at - 30, 0):at + 10]!r}"
    if kind in JSON_KINDS:
        json.loads(text)
    yield from CHECKS.get(kind, lambda t: [])(text)


def main():
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
        return 0
    wrong = False
    for path in sys.argv[3:]:
        for fault in check(sys.argv[2], path):
            print(f"{sys.argv[2]}: {fault}")
            wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
