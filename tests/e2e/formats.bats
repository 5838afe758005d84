#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# What exitmeter-report makes, after a run and from a journal.

load helpers

# run_with OPTION... -- COMMAND...: a run whose report is of a kind; out, err and status
run_with() {
	status=0
	"$EXITMETER" --source="$SOURCE" "$@" >out 2>err 3>&- || status=$?
	cat -v err
}

# column NAME FILE: of a CSV, a value a line
column() {
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2], newline="")):
    print(row[sys.argv[1]])' "$1" "$2"
}

@test "formats: CSV after the run, with a temporary journal: every process, the command's status" {
	exits_needed "a row of each"
	mkdir tmp
	TMPDIR=$PWD/tmp run_with --report=csv -- sh -c '/bin/true; echo said; exit 3'
	same status "$status" 3
	same "the command's output" "$(cat out)" said
	same "left in TMPDIR" "$(find tmp -mindepth 1)" ""
	same names "$(column comm err | sort | xargs)" "sh true"
	same codes "$(column exit_code err | sort | xargs)" "0 3"
}

@test "formats: CSV has every row that the journal has, more than a summary holds" {
	exits_needed "a row of each"
	run_with --report=csv --journal run.journal -o run.csv -- sh -c 'seq 1100 | xargs -n1 /bin/true'
	same status "$status" 0
	same "on stderr" "$(wc -c <err)" 0
	same rows "$(column pid run.csv | wc -l)" "$(grep -c '"event":"process"' run.journal)"
	"$EXITMETER" report run.journal --csv | cmp run.csv -
	"$EXITMETER" report - --report=csv < <(cat run.journal) | cmp run.csv -
	jq -r 'select(.event == "process") | .peak_rss_bytes // ""' run.journal >want
	column peak_rss_bytes run.csv | cmp want -
	jq -rc 'select(.event == "process") | .argv // ""' run.journal >want
	column argv run.csv | cmp want -
}

@test "formats: marks as CSV: seconds since the start, what is not known is empty" {
	meter -- sleep 0.6
	"$EXITMETER" report run.journal --report=csv-marks >marks.csv
	same header "$(head -n1 marks.csv)" at,rss_bytes,cpu_seconds,cpus
	same first "$(sed -n 2p marks.csv)" 0,,0,
	same marks "$(sed 1d marks.csv | wc -l)" "$(summary '.marks | length')"
	same "memory" "$(column rss_bytes marks.csv | xargs)" \
		"$(summary '[.marks[] | .[1] | select(. >= 0)] | join(" ")')"
	jq -e --argjson last "$(column at marks.csv | tail -n1)" \
		'.run.wall_seconds - $last | fabs < 0.5' sum.json
}

@test "formats: the journal may be a pipe or standard output, and is then whole too" {
	run_with --report=csv --journal - -o run.csv -- true
	mv out all.journal
	valid all.journal
	same "lines of the journal's end" "$(grep -c '"event":"summary"' all.journal)" 1
	"$EXITMETER" report all.journal --csv | cmp run.csv -
	# a reader that goes away takes the journal with it, not the report
	status=0
	"$EXITMETER" --source="$SOURCE" --report=csv -o run.csv --journal >(:) -- \
		sh -c 'sleep 0.3; exit 4' 2>err || status=$?
	same status "$status" 4
	[ "$(column comm run.csv | grep -c '^sh$')" -ge 1 ]
}

@test "formats: exitmeter-report is missing: one line, text instead, the command's status" {
	mkdir alone
	ln "$EXITMETER" alone/exitmeter || cp "$EXITMETER" alone/exitmeter
	[ ! -e /usr/local/libexec/exitmeter/exitmeter-report ] || skip "elsewhere: one is installed"
	echo before >kept.json
	status=0
	alone/exitmeter --source="$SOURCE" --report=csv --trace kept.json -- sh -c 'exit 5' 2>err ||
		status=$?
	cat err
	same status "$status" 5
	same "what it says" "$(grep -c 'exitmeter-report: not installed' err)" 1
	same "text" "$(grep -c '^exitmeter: .*CPU ' err)" 1
	same "the other file is as it was" "$(cat kept.json)" before
}

@test "formats: a file that cannot be written holds the start; one that fails later does not" {
	run_with --report=csv --trace no/such/folder -- touch ran
	same status "$status" 125
	one_line err
	[ ! -e ran ]
	run_with --report=nothing -- touch ran
	same status "$status" 125
	one_line err
	run_with --trace - --json - -- touch ran
	same status "$status" 125
	[ ! -e ran ]
	run_with -q --trace /dev/full -- sh -c 'exit 6'
	same status "$status" 6
	one_line err
}

@test "formats: --report=none" {
	run_with --report=none -- true
	same "bytes" "$(cat err out | wc -c)" 0
}
