#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# exitmeter report of several journals: what differs between them, and how far their figures do.

load helpers

# run_of NAME SIDE MIB [OPTION...]: a run whose peak is known
run_of() {
	local name=$1 side=$2 mib=$3
	shift 3
	"$EXITMETER" -q --source="$SOURCE" --label "side=$side" --journal "$name.journal" "$@" -- \
		"$WORK/hold" populate="$mib"
}

# compared ARGUMENT...: the comparison's lines of the text
compared() {
	status=0
	"$EXITMETER" report "$@" 2>err || status=$?
	cat -v err
}

# line NAME: of the figures
line() {
	grep "^exitmeter: $1  " err
}

@test "compare: two runs: the command that differs, the figures and their difference" {
	exits_needed "the peak of each"
	run_of a old 20
	run_of b new 60
	compared a.journal b.journal
	same status "$status" 0
	same "reports of each" "$(grep -c '^exitmeter: peak .*, CPU ' err)" 2
	grep -q '^exitmeter: differs: command: .*populate=20 | .*populate=60$' err
	same "nothing but exitmeter's lines" "$(grep -vc '^exitmeter: ' err)" 0
	line "largest process" | grep -E ' 2[0-9] MB +6[0-9] MB +\+4[0-9] MB, \+[0-9.]+ %$'
	line "processes" | grep -E ' 1 +1 +none$'
	compared a.journal a.journal
	same "the same twice" "$(grep -c '^exitmeter: same machine, command' err)" 1
	compared a.journal
	same "one is not compared" "$(grep -c 'differ' err)" 0
}

@test "compare: repeats: medians, their noise, and what is apart" {
	exits_needed "the peak of each"
	local i
	for i in 1 2 3; do
		run_of "a$i" old 20
		run_of "b$i" new 60 --label "i=$i"
	done
	compared --by side a?.journal b?.journal
	same status "$status" 0
	grep -qE '^exitmeter: +old \(3 runs\) +new \(3 runs\) +difference$' err
	line "largest process" | grep -E '\+4[0-9] MB, \+[0-9.]+ %, noise [0-9.]+ MB$'
	line "processes" | grep -E ' 1 +1 +none$'
	compared --by i b?.journal a1.journal
	same "other sides" "$(grep -c ' difference$' err)" 3
	compared --by side a?.journal
	same "a side alone" "$(grep -c '^exitmeter: *old (3 runs)$' err)" 1
}

@test "compare: a page of several runs, with nothing in it that is not text" {
	exits_needed "the peak of each"
	local name='</script><b>'
	run_of a "$name" 20
	run_of b new 60
	status=0
	"$EXITMETER" report -q --by side a.journal b.journal --html page.html 2>err || status=$?
	cat err
	! grep -q 'built without npm' err || skip "elsewhere: built without npm"
	same status "$status" 0
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" --data page.html >data.json
	same "a side's name" "$(jq -r '.sides[0].name' data.json)" "$name"
	same "runs" "$(jq -c '[.runs[].side]' data.json)" '[0,1]'
	jq -e --argjson mib "$MIB" '.figures[] | select(.name == "largest process") | .sides |
		.[0].median >= 20 * $mib and .[1].median >= 60 * $mib and .[1].by > 39 * $mib
		and .[1].noise == null' data.json
	jq -e '[.facts[] | select(.differs) | .name] | index("command") != null' data.json
	/usr/bin/python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import page
wrong = list(page.harm(page.Page(open("page.html").read()))); print(wrong); sys.exit(bool(wrong))' \
		"$ROOT/tests/e2e"
}

@test "compare: as Markdown, after the runs' own" {
	exits_needed "the peak of each"
	run_of a 'o|ld`' 20
	run_of b new 60
	compared --by side --markdown a.journal b.journal -o out.md
	cat out.md
	same "runs and comparison" "$(grep -c '^### ' out.md)" 3
	grep -qF '| figure | <code>o&#124;ld&#96;</code> | <code>new</code> | difference |' out.md
	grep -qE '^\| largest process \| 2[0-9] MB \| 6[0-9] MB \| \+4[0-9] MB, \+[0-9.]+ % \|$' out.md
	same "cells in each row of figures" \
		"$(sed -n '/^| figure/,$p' out.md | awk -F'|' '{ print NF }' | sort -u)" 6
}

@test "compare: of one that cannot be read the others are compared" {
	run_of a old 20
	run_of b new 60
	compared a.journal nowhere.journal b.journal
	same status "$status" 125
	same "compared" "$(grep -c '^exitmeter: differs: command' err)" 1
	compared -q a.journal b.journal
	same "quiet" "$(wc -c <err)" 0
	compared -o text a.journal b.journal
	same "goes where the report goes" "$(grep -c '^exitmeter: differs: command' text)" 1
	same "on stderr" "$(wc -c <err)" 0
}

# at_width COLUMNS COMMAND...: on a terminal of that width; what it shows as "shown"
at_width() {
	/usr/bin/python3 - "$@" >shown <<-'PY'
		import fcntl, os, pty, struct, sys, termios
		pid, fd = pty.fork()
		if pid == 0:
		    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
		    os.execvp(sys.argv[2], sys.argv[2:])
		shown = b""
		try:
		    while data := os.read(fd, 65536):
		        shown += data
		except OSError:
		    pass
		os.waitpid(pid, 0)
		sys.stdout.write(shown.decode().replace("\r\n", "\n"))
	PY
	cat shown
}

@test "compare: what is compared fits the terminal" {
	exits_needed "the peak of each"
	local long columns i
	long=$(printf 'x%.0s' {1..90})
	mkdir "$long"
	for i in 1 2 3; do
		run_of "a$i" old 20 --label "long=$long"
		run_of "b$i" new 60 --label "long=y$long"
	done
	cp a1.journal "$long/a.journal"
	cp b1.journal "$long/b.journal"
	for columns in 70 80 200; do
		at_width "$columns" "$EXITMETER" report --by side a?.journal b?.journal
		sed '1,/^exitmeter: differs/d; /^exitmeter: peak/d' shown | awk -v n="$columns" 'length($0) > n { exit 1 }'
		same "$columns: the figures" "$(grep -c '^exitmeter: largest process ' shown)" 1
		at_width "$columns" "$EXITMETER" report "$long/a.journal" "$long/b.journal"
		sed -n '/: A: /,$p; /differs/,$p' shown | awk -v n="$columns" 'length($0) > n { exit 1 }'
		grep -E '^exitmeter: largest process .*\+[0-9.]+ %' shown
	done
	at_width 80 "$EXITMETER" report "$long/a.journal" "$long/b.journal"
	grep -E '^exitmeter: +A +B +difference$' shown
	same "what A is" "$(grep -c '^exitmeter: A: ' shown)" 1
	at_width 200 "$EXITMETER" report --by side a?.journal b?.journal
	grep -E '^exitmeter: largest process +2[0-9] MB .*noise ' shown
	at_width 80 "$EXITMETER" -r 3 --source="$SOURCE" -- "$WORK/hold" populate=20
	grep -E ' runs? +median ' shown | awk 'length($0) > 80 { exit 1 }'
	sed -n '/ median /,$p' shown | awk 'length($0) > 80 { exit 1 }'
}
