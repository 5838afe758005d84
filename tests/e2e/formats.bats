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

# ---- other tools' forms -------------------------------------------------------------------

@test "formats: what workflow managers and benchmark services read, by their rules" {
	meter --label name=build -- sh -c 'seq 5 | xargs -n1 /bin/true; exit 3'
	for kind in snakemake nextflow benchexec benchmark-action bencher; do
		"$EXITMETER" report run.journal --report="$kind" -o "$kind"
	done
	/usr/bin/python3 - <<-'EOF'
		import json, re
		s = json.load(open("sum.json"))
		u, wall = s["usage"], s["run"]["wall_seconds"]
		mib = 1 << 20

		# Snakemake: a header and a line of tabs, numbers or "-"
		head, line = open("snakemake").read().splitlines()
		row = dict(zip(head.split("\t"), line.split("\t"), strict=True))
		assert list(row) == "s h:m:s max_rss max_vms max_uss max_pss io_in io_out mean_load cpu_time".split()
		assert abs(float(row["s"]) - wall) < 1e-4, row
		assert re.fullmatch(r"0:00:\d\d", row["h:m:s"]), row
		peak = u["peak_rss_bytes"]
		if peak is None:
		    assert row["max_rss"] == "-"
		else:
		    assert abs(float(row["max_rss"]) - peak / mib) <= 0.005, row
		assert row["max_uss"] == "-"
		for key in "max_rss io_in io_out mean_load cpu_time".split():
		    assert re.fullmatch(r"\d+\.\d\d|-", row[key]), (key, row)

		# Nextflow: the version, then name=integer, of memory in KiB and of shares in tenths of a percent
		head, *lines = open("nextflow").read().splitlines()
		assert head == "nextflow.trace/v2"
		trace = dict(l.split("=", 1) for l in lines)
		known = ("realtime %cpu cpu_model rchar wchar syscr syscw read_bytes write_bytes "
		         "%mem vmem rss peak_vmem peak_rss vol_ctxt inv_ctxt").split()
		assert set(trace) <= set(known), trace
		for key, value in trace.items():
		    assert key == "cpu_model" or re.fullmatch(r"\d+", value), (key, value)
		assert int(trace["realtime"]) == int(wall * 1000)
		assert peak is None or int(trace["rss"]) == peak // 1024

		# benchexec: key=value with units
		result = dict(l.split("=", 1) for l in open("benchexec").read().splitlines())
		assert re.fullmatch(r"\d+\.\d+s", result["walltime"])
		assert re.fullmatch(r"\d+B", result["memory"]) if peak else "memory" not in result
		assert result["returnvalue"] == "3" and "exitsignal" not in result

		# customSmallerIsBetter: name, unit and value in each
		entries = json.load(open("benchmark-action"))
		assert "build: CPU time" in [e["name"] for e in entries]
		for e in entries:
		    assert isinstance(e["name"], str) and isinstance(e["unit"], str), e
		    assert isinstance(e["value"], (int, float)), e
		    assert set(e) <= {"name", "unit", "value", "range", "extra"}, e

		# Bencher's metric format: name, measure, value with its bounds
		(name, measures), = json.load(open("bencher")).items()
		assert name == "build"
		assert re.fullmatch(r"[a-z-]+", "".join(measures))
		memory = measures.get("memory", {"value": None})
		assert memory["value"] == peak
		if "lower_value" in memory:
		    assert memory["lower_value"] <= memory["value"] <= memory["upper_value"]
	EOF
}

# terminal WIDTH COMMAND...: what it writes to a terminal that is so wide
terminal() {
	/usr/bin/python3 -c 'import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
os.waitpid(pid, 0)' "$@" | tr -d '\r'
}

@test "formats: tree and table at a terminal: its width, colours where they fit" {
	exits_needed "a row of each"
	[ -e /dev/ptmx ] || skip "elsewhere: no pseudo terminals"
	meter -- sh -c 'seq 30 | xargs -n1 /bin/true; sh -c "ls /nonexistent" "a long argument that is longer than the terminal is wide" 2>/dev/null; exit 0'
	for width in 80 200; do
		for kind in tree table; do
			TERM=xterm CI='' terminal "$width" "$EXITMETER" report run.journal --report="$kind" >shown
			cat shown
			grep $'\e\[31m.*ls /nonexistent' shown >/dev/null
			sed 's/\x1b\[[0-9;]*m//g; /^exitmeter: /d' shown >plain
			[ "$(wc -L <plain)" -le "$width" ]
			head -n1 plain | grep '^ *PID *PPID *PEAK *CPU *START *LIVED *EXIT *COMMAND' >/dev/null
		done
	done
	same "rows of a table" "$(wc -l <plain)" 11
	NO_COLOR=1 TERM=xterm CI='' terminal 80 "$EXITMETER" report run.journal --report=tree >shown
	same "escapes with NO_COLOR" "$(grep -c $'\e' shown)" 0
	TERM=dumb CI='' terminal 80 "$EXITMETER" report run.journal --report=tree >shown
	same "escapes with TERM=dumb" "$(grep -c $'\e' shown)" 0
	"$EXITMETER" report run.journal --report=tree >shown
	same "escapes in a file" "$(grep -c $'\e' shown)" 0
	"$EXITMETER" report run.journal --report=tree --color=always >shown
	[ "$(grep -c $'\e' shown)" -gt 0 ]
	"$EXITMETER" report run.journal --report=tree --all | sed '/^exitmeter: /d' >all
	same "rows of a whole tree" "$(wc -l <all)" $(($(grep -c '"event":"process"' run.journal) + 1))
	# the same right after the run
	run_with --report=tree -n 3 -- sh -c '/bin/true; /bin/false'
	same status "$status" 1
	grep -E '├─true|└─false' err
}

@test "formats: Markdown has a table of figures and one of processes" {
	exits_needed "a row of each"
	meter -- sh -c 'seq 30 | xargs -n1 /bin/true; kill -9 $$'
	"$EXITMETER" report run.journal --markdown >md
	same "heading" "$(grep -c '^### ' md)" 1
	same "rows" "$(grep -c '^| <code>' md)" 10
	grep -F "10 of $(summary .usage.total_processes) processes." md
	awk -F '|' '/^\|/ { if (n && NF != n) exit 1; n = NF } !/^\|/ { n = 0 }' md
	"$EXITMETER" report run.journal --markdown -n 3 --sort start >md
	same "rows" "$(grep -c '^| <code>' md)" 3
	"$EXITMETER" report run.journal --markdown --all >md
	same "rows" "$(grep -c '^| <code>' md)" "$(grep -c '"event":"process"' run.journal)"
}

# ---- trace --------------------------------------------------------------------------------

trace_check() {
	/usr/bin/python3 "$ROOT/tests/e2e/trace_check.py" "$@"
}

# events FILTER: how many events of the trace FILTER selects
events() {
	jq "[.traceEvents[] | select($1)] | length" trace.json
}

@test "trace: a track for each process, counters, phases and attempts, by the format's rules" {
	exits_needed "a row of each"
	run_with -q --trace trace.json --journal run.journal -i 0.05 -- sh -c '
		e=$1
		"$e" span setup
		seq 20 | xargs -n1 /bin/true
		"$e" span work
		"$e" span one -- "$e" span two -- sleep 0.3
		exit 3' sh "$EXITMETER"
	same status "$status" 3
	trace_check trace.json run.journal
	same processes "$(events '.ph == "X" and .cat == "process"')" "$(grep -c '"event":"process"' run.journal)"
	same phases "$(jq -c '[.traceEvents[] | select(.cat == "phase") | .name]' trace.json)" '["setup","work"]'
	same "attempts, beside each other" \
		"$(jq -c '[.traceEvents[] | select(.cat == "attempt") | [.name, .tid]] | sort' trace.json)" '[["one",2],["two",3]]'
	# what is counted is what was sampled
	same "samples" "$(jq -c '[.traceEvents[] | select(.ph == "C" and .name == "processes") | .args.value]' trace.json)" \
		"$(jq -cs '[.[] | select(.event == "sample") | .processes]' run.journal)"
	same "the last thing" "$(jq '[.traceEvents[] | select(.name == "resident memory")] | last.args.value' trace.json)" 0
	same "the run's status" "$(jq '.traceEvents[] | select(.cat == "run") | .args.run.exit_code' trace.json)" 3
	"$EXITMETER" report run.journal --trace again.json -q
	cmp trace.json again.json
	# a journal without its end
	sed '$d' run.journal >cut.journal
	status=0
	"$EXITMETER" report cut.journal --trace cut.json -q || status=$?
	same status "$status" 1
	trace_check cut.json cut.journal
}

@test "trace: pids that come again have tracks of their own" {
	exits_needed "a row of each"
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: ns_last_pid needs root"
	run_with -q --trace trace.json --journal run.journal -- "$WORK/samepid" last 3
	trace_check trace.json run.journal
	same "rows of the pid" "$(events '.cat == "process" and .args.pid == '"$(truth pid)")" 3
	same "tracks" "$(jq '[.traceEvents[] | select(.cat == "process" and .args.pid == '"$(truth pid)"') | .pid]
		| unique | length' trace.json)" 3
}

@test "trace: of what was there before it was attached to nothing lies before the start" {
	exits_needed "a row of each"
	"$WORK/hold" tell=go pause >/dev/null 3>&- &
	target=$!
	run_with -q -p "$target" --duration 0.3 --trace trace.json --journal run.journal
	kill "$target"
	trace_check trace.json run.journal
	same "it" "$(events ".cat == \"process\" and .args.pid == $target and .ts == 0 and .args.running")" 1
}

# ---- hostile names ------------------------------------------------------------------------

@test "hostile names: </script>, quotes, control characters, 10 KB, direction marks, in every format" {
	exits_needed "a row of each"
	local kind hostile="$ROOT/tests/e2e/hostile.py" kinds
	run_with -q --journal run.journal -- sh -c '"$1" span x; seq 20 | xargs -n1 /bin/true' sh "$EXITMETER"
	/usr/bin/python3 "$hostile" make run.journal hostile.journal
	status=0
	"$EXITMETER" --report=? true 2>kinds || status=$?
	kinds=$(sed "s/^exitmeter: report '?': //; s/,//g" kinds)
	for kind in $kinds; do
		[ "$kind" != none ] || continue
		"$EXITMETER" report hostile.journal --report="$kind" --all -o "report.$kind" 2>err
		same "messages" "$(wc -c <err)" 0
		/usr/bin/python3 "$hostile" check "$kind" "report.$kind"
	done
	within "kinds" "$(wc -w <<<"$kinds")" 13 99
	# each output with a file of its own
	"$EXITMETER" report --help | sed -nE 's/^ +--(trace|html|prom|openmetrics) FILE .*/\1/p' >outputs
	within "outputs" "$(wc -l <outputs)" 3 4
	while read -r kind; do
		"$EXITMETER" report hostile.journal -q "--$kind" "out.$kind" 2>err || grep 'built without' err
		[ ! -s "out.$kind" ] || /usr/bin/python3 "$hostile" check "$kind" "out.$kind"
	done <outputs
	trace_check out.trace
	"$EXITMETER" report hostile.journal -q --json out.json
	/usr/bin/python3 "$hostile" check json out.json
	for kind in '%C' '%{run.id}|%{run.labels}|%{run.cwd}'; do
		"$EXITMETER" report hostile.journal -f "$kind" -o out.time
		/usr/bin/python3 "$hostile" check time out.time
	done
	"$EXITMETER" report hostile.journal -v -o out.verbose
	/usr/bin/python3 "$hostile" check verbose out.verbose
	same "lines of a block" "$(grep -c $'^\t' out.verbose)" 23
	for kind in tree table; do
		TERM=xterm CI='' NO_COLOR=1 terminal 80 "$EXITMETER" report hostile.journal --report="$kind" >"report.$kind"
		/usr/bin/python3 "$hostile" check "$kind" "report.$kind"
		sed '/^exitmeter: /d' "report.$kind" >plain
		[ "$(wc -L <plain)" -le 80 ]
	done
}

@test "outputs: host, process, job and task in their names" {
	local host
	host=$(uname -n)
	SLURM_JOB_ID=7 SLURM_PROCID=2 run_with -o 'text-%j.%t' --json '%h-%p.json' --journal '%%j' \
		--trace 'trace-%t' --prom '%j.prom' -- true
	same files "$(find . -maxdepth 1 -type f ! -name out ! -name err | sed 's,^./,,' | sort | xargs)" \
		"$(printf '%s\n' %j 7.prom "$(ls "$host"-*.json)" text-7.2 trace-2 | sort | xargs)"
	[[ $(ls "$host"-*.json) =~ -[0-9]+\.json$ ]]
	valid ./*.json
}
