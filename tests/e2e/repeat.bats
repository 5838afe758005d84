#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# exitmeter -r N: a series of runs in one journal, and what is made of it and of journals put together.

load helpers

# repeat OPTION... -- COMMAND...: a series; leaves status, out, err, runs.json, series.json, run.journal
repeat() {
	status=0
	"$EXITMETER" --source="$SOURCE" --json all.json --journal run.journal "$@" >out 2>err ||
		status=$?
	cat -v err
	[ ! -e all.json ] || split all.json
}

# split FILE: into an array of summaries and the series
split() {
	jq -cs 'map(select(.schema == "exitmeter.summary/1"))' "$1" >runs.json
	jq -c 'select(.schema == "exitmeter.series/1")' "$1" >series.json
}

# report ARGUMENT...: leaves status, out and err
report() {
	status=0
	"$EXITMETER" report "$@" >out 2>err || status=$?
	cat -v err
}

# sql FILE QUERY: rows, columns with | between
sql() {
	/usr/bin/python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row, sep="|")' "$@"
}

is_sql() {
	[ "$(sql "$1" "$2" 2>/dev/null)" = "$3" ]
}

# By python's own statistics, of every figure that the runs tell.
medians_agree() {
	/usr/bin/python3 - runs.json series.json <<-'EOF'
		import json, statistics, sys
		runs = json.load(open(sys.argv[1]))
		figures = json.load(open(sys.argv[2]))["series"]["figures"]
		def of(run, key):
		    for part in (run["run"], run["usage"], run["usage"]["io"], run["host_load"]):
		        if key in part:
		            return part[key]
		    raise SystemExit("no " + key)
		checked = 0
		for key, told in figures.items():
		    values = [v for v in (of(run, key) for run in runs) if v is not None]
		    assert told["runs"] == len(values), (key, told, values)
		    if not values:
		        assert told["median"] is None and told["least"] is None, (key, told)
		        continue
		    median = statistics.median(values)
		    spread = statistics.median(abs(v - median) for v in values)
		    for name, want in (("median", median), ("least", min(values)), ("most", max(values)),
		                       ("median_deviation", spread)):
		        assert abs(told[name] - want) <= 1e-9 * max(1, abs(want)), (key, name, told, want)
		    checked += 1
		print(checked, "figures")
		assert checked >= 5
	EOF
}

@test "repeat: each run is a whole one, in one journal; medians and spread" {
	repeat -r 5 -- "$WORK/hold" populate=20
	same status "$status" 0
	same "summaries" "$(jq length runs.json)" 5
	same "which of how many" "$(jq -c '[.[].run | [.repeat, .repeats]]' runs.json)" \
		'[[1,5],[2,5],[3,5],[4,5],[5,5]]'
	same "ids" "$(jq '[.[].run.id] | unique | length' runs.json)" 5
	same "journal" "$(jq -r 'select(.event | . == "run_start" or . == "summary") | .event' \
		run.journal | paste -sd ' ')" "$(yes 'run_start summary' | head -5 | paste -sd ' ')"
	local i
	for i in 0 1 2 3 4; do
		jq -c ".[$i]" runs.json >sum.json
		identities sum.json
		[ "$SOURCE" = proc ] || exact
	done
	valid sum.json run.journal
	/usr/bin/python3 "$ROOT/tests/e2e/validate.py" "$ROOT/doc/series.schema.json" series.json
	medians_agree
	same "asked for and there" "$(jq -c '.series | [.repeats, (.runs | length)]' series.json)" '[5,5]'
	same "a line each" "$(grep -c '^exitmeter: run [1-5]: ' err)" 5
	same "the medians" "$(grep -c '^exitmeter: 5 runs  *median  *least to most  *median deviation$' err)" 1
	grep -qE '^exitmeter: wall time  +[0-9.]+ m?s' err
	same "nothing but exitmeter's lines" "$(grep -vc '^exitmeter: ' err)" 0
}

@test "repeat: every run has what the first one had: streams, descriptors, signals, privileges" {
	echo one >in
	status=0
	"$EXITMETER" -q -r 3 --source="$SOURCE" -- sh -c '
		read -r line; echo "read $line"; grep -E "^Sig(Blk|Ign|Cgt)|^Cap|^NoNewPrivs" /proc/self/status
		exec ls /proc/self/fd' <in >out 2>err || status=$?
	cat out err
	same status "$status" 0
	same "stdin is shared" "$(grep -c '^read one$' out)" 1
	same "and read once" "$(grep -c '^read $' out)" 2
	grep -v '^read' out | sort | uniq -c | awk '{ print $1 }' | sort -u >counts
	same "the same three times" "$(cat counts)" 3
	# a pipe's reader sees what each run writes
	same "through a pipe" "$("$EXITMETER" -q -r 3 --source="$SOURCE" -- echo x | wc -l)" 3
	# closed ones stay closed
	"$EXITMETER" -q -r 2 --source="$SOURCE" -- sh -c '
		[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/1 ] && echo closed >&2' <&- >&- 2>err
	same "both times" "$(cat err)" "closed
closed"
}

@test "repeat: the status is the first that is not 0, and all runs are made" {
	echo 0 >n
	repeat -r 4 -- sh -c 'n=$(($(cat n) + 1)); echo $n >n; case $n in 2) exit 7;; 3) kill -9 $$;; esac'
	same status "$status" 7
	same "all runs" "$(cat n)" 4
	same "statuses" "$(jq -c '[.series.runs[] | [.exit_code, .exit_signal]]' series.json)" \
		'[[0,null],[7,null],[null,9],[0,null]]'
	grep -q '^exitmeter: run 2: .*, exit 7$' err
	grep -q '^exitmeter: run 3: .*, signal 9$' err
	grep -q '^exitmeter: differs: exit status: 0, 7, signal 9$' err
	repeat -r 3 -- sh -c ./nowhere
	same "a command's own 127" "$status" 127
	same "is a failure like others" "$(jq length runs.json)" 3
	repeat -r 3 -- ./nowhere
	same "not found" "$status" 127
	same "is not tried again" "$(jq length runs.json)" 1
	same "said once" "$(grep -c "cannot run './nowhere'" err)" 1
}

@test "repeat: bad input is one line, and nothing starts" {
	local n
	for n in 0 x -1 "" 2.5 100001 99999999999999999999; do
		meter_raw -r "$n" -- touch started
		same "-r '$n'" "$status" 125
		one_line err
	done
	meter_raw -r 2 -p $$
	same "-p" "$status" 125
	one_line err
	[ ! -e started ]
	meter_raw -r 1 -- true
	same "once" "$status" 0
	same "is no series" "$(jq -s 'length == 1 and (.[0].run | has("repeat") | not)' sum.json)" true
	EXITMETER_DISABLE=1 "$EXITMETER" -r 3 -- echo x >out
	same "switched off it is as if it was not there" "$(cat out)" x
}

@test "repeat: a signal ends the series; what was measured is kept" {
	local signal want
	for signal in TERM HUP; do
		rm -f n
		"$EXITMETER" --source="$SOURCE" -r 50 --json all.json --journal run.journal -- sh -c '
			echo x >>n; [ "$(wc -l <n)" -lt 3 ] || { : >third; exec sleep 20; }' >out 2>err 3>&- &
		METER_PID=$!
		until_true 20 test -e third
		rm third
		kill "-$signal" "$METER_PID"
		want=$((128 + $(kill -l "$signal")))
		status=0
		wait "$METER_PID" || status=$?
		METER_PID=
		cat err
		split all.json
		same "$signal: status" "$status" "$want"
		same "$signal: runs" "$(jq length runs.json)" 3
		grep -q '^exitmeter: 3 of 50 runs ' err
		report run.journal
		same "$signal: the journal is whole" "$status" 0
	done
}

@test "repeat: Ctrl-C at a terminal ends the command and the series" {
	status=0
	/usr/bin/python3 - "$EXITMETER" "$SOURCE" <<-'EOF' || status=$?
		import os, pty, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "--source=" + sys.argv[2], "-r", "9", "--json", "all.json",
		                           "sh", "-c", "echo x >>n; test $(wc -l <n) -lt 2 || exec sleep 30"])
		deadline = time.time() + 20
		while time.time() < deadline and not (os.path.exists("n") and open("n").read().count("x") == 2):
		    time.sleep(0.05)
		time.sleep(0.3)
		os.write(fd, b"\x03")
		try:
		    while os.read(fd, 4096):
		        pass
		except OSError:
		    pass
		status = os.waitpid(pid, 0)[1]
		sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
	EOF
	same status "$status" 130
	split all.json
	same "runs" "$(jq -c '[.[].run.exit_signal]' runs.json)" '[null,2]'
}

@test "repeat: names, ids and labels; --all, a list, kinds of report" {
	repeat -r 2 --run-id "a b" --label k=v -- true
	same "ids" "$(jq -c '[.[].run.id]' runs.json)" '["a b-1","a b-2"]'
	same "labels" "$(jq -c '[.[].run.labels.k]' runs.json)" '["v","v"]'
	SLURM_JOB_ID=77 "$EXITMETER" -q --source="$SOURCE" -r 2 --journal 'j%j.%p' -- true
	same "one journal" "$(printf "%s\n" j77.* | wc -l)" 1
	repeat -r 3 -f '%x %{total_processes}' -- sh -c '/bin/true; /bin/true; :'
	same "GNU time's: each" "$(grep -c '^0 [1-9?]$' err)" 3
	same "and nothing else" "$(wc -l <err)" 3
	repeat -r 2 -v -- true
	same "its block" "$(grep -c 'Maximum resident set size' err)" 2
	grep -q '^exitmeter: 2 runs ' err
	exits_needed "rows of short processes"
	repeat -r 2 --report=status -o status -- true
	same "status: each" "$(grep -c '^VmHWM' status)" 2
	repeat -r 2 -n 5 -- sh -c '/bin/true; /bin/true; :'
	same "the processes of each" "$(grep -cE '^exitmeter: .* sh .*\(pid [0-9]+\)$' err)" 4
	grep -q '^exitmeter: 2 runs ' err
	repeat -r 2 --all -- sh -c '/bin/true; /bin/true; :'
	same "all rows" "$(jq -c '[.[].processes | length]' runs.json)" '[3,3]'
	repeat -r 2 -q -- true
	same "quiet" "$(wc -c <err)" 0
	repeat -r 2 -o rep -- true
	repeat -r 2 -o rep -a -- true
	same "appended" "$(grep -c '^exitmeter: 2 runs ' rep)" 2
	"$EXITMETER" --source="$SOURCE" -r 2 --log-fd 7 -- true 7>seven 2>err
	same "a descriptor" "$(grep -c '^exitmeter: 2 runs ' seven)" 1
	"$EXITMETER" -q --source="$SOURCE" -r 2 --json - -- true | jq -s 'map(.schema)' >schemas
	same "JSON on stdout" "$(jq -c . schemas)" \
		'["exitmeter.summary/1","exitmeter.summary/1","exitmeter.series/1"]'
}

@test "repeat: gates hold each run" {
	repeat -r 3 --budget processes=1 -- sh -c 'echo x >>n; [ "$(wc -l <n)" -ne 2 ] || /bin/true; :'
	exits_needed "the number of processes"
	same "over budget in one" "$status" 123
	same "all were made" "$(wc -l <n)" 3
	same "said once" "$(grep -c '^exitmeter: over budget: status 123$' err)" 1
	same "which" "$(jq -c '[.[].budget.exceeded | length > 0]' runs.json | tr -d '\n')" '[true,true,true]'
	rm n all.json
	repeat -r 3 --budget wall=20 -- sh -c 'echo x >>n'
	same "within" "$status" 0
}

@test "repeat: not exact, not started, as one run" {
	meter_raw -r 3 --source=proc --require-exact -- touch started
	same status "$status" 125
	one_line err
	[ ! -e started ]
}

@test "repeat: phases and attempts are each run's own" {
	repeat -r 2 -- sh -c "'$EXITMETER' span one -- true; '$EXITMETER' span two"
	same status "$status" 0
	same "attempts" "$(jq -c '[.[].attempts | map(.id)]' runs.json)" '[["one"],["one"]]'
	same "phases" "$(jq -c '[.[].phases | map(.name)]' runs.json)" '[["two"],["two"]]'
	repeat -r 2 --control unix:sock -- sh -c 'test -S sock'
	same "--control" "$status" 0
}

@test "repeat: --control fd: of whoever started it serves each run" {
	mkfifo go told
	cat >outer.py <<-'END'
		import os, subprocess, sys
		r, w = os.pipe(); ar, aw = os.pipe()
		p = subprocess.Popen([sys.argv[1], "-r", "3", "--source=" + sys.argv[2], "--json", "all.json", "--journal",
		    "run.journal", "--control", f"fd:{r},{aw}", "--", "sh", "-c",
		    "ls -l /proc/self/fd >fds; echo x >told; read x <go"], pass_fds=[r, aw])
		open("pipes", "w").write(f"pipe:.{os.fstat(r).st_ino}\npipe:.{os.fstat(aw).st_ino}\n")
		os.close(r); os.close(aw)
		answers = os.fdopen(ar)
		os.write(w, b"phase ")
		for run in "one", "two", "three":
		    open("told").read()
		    # what the run before had half of, then a line each; and half of one for the next
		    for line in [run + "\n", "attempt start 1\n", "bogus\n", "attempt end 1\nphase "]:
		        os.write(w, line.encode())
		        print(answers.readline(), end="", flush=True)
		    open("go", "w").write("x\n")
		sys.exit(p.wait())
	END
	status=0
	/usr/bin/python3 outer.py "$EXITMETER" "$SOURCE" >out 2>err 3>&- || status=$?
	cat err
	same status "$status" 0
	same answers "$(paste -sd, out)" "$(printf 'ack,ack,error not known,ack\n%.0s' 1 2 3 | paste -sd,)"
	split all.json
	same "phases" "$(jq -c '[.[].phases | map(.name)]' runs.json)" '[["one"],["two"],["three"]]'
	same "attempts" "$(jq -c '[.[].attempts | map(.id)]' runs.json)" '[[1],[1],[1]]'
	cat fds
	same "of the command's descriptors" "$(grep -cf pipes fds)" 0
}

@test "repeat: --cgroup: each run has one of its own" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
	repeat -r 3 --cgroup -- sh -c "echo >>ran; exec '$WORK/hold' populate=\$((100 - 30 * \$(wc -l <ran)))"
	same status "$status" 0
	[ "$(jq '.[0].usage.cgroup_peak_bytes' runs.json)" != null ] || skip "elsewhere: cgroups cannot be made here"
	for run in 0 1 2; do
		within "peak of run $run" "$(jq ".[$run].usage.cgroup_peak_bytes" runs.json)" \
			"$(((70 - 30 * run) * MIB))" "$(((82 - 30 * run) * MIB))"
	done
	same "left behind" "$(find /sys/fs/cgroup -name "exitmeter-run-*" 2>/dev/null | grep -c .)" 0
}

@test "repeat: --user: each run is that user's, also in a cgroup" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
	chmod 755 .
	for option in '' --cgroup; do
		rm -f all.json
		repeat -r 3 --user nobody $option -- sh -c 'id -u; id -G; kill -0 "$PPID" 2>/dev/null && echo may'
		same status "$status" 1
		same "whose" "$(sort -u out | paste -sd,)" "$(id -u nobody)$([ "$(id -G nobody)" = "$(id -u nobody)" ] || echo ",$(id -G nobody)")"
		same runs "$(jq length runs.json)" 3
		same "of ids" "$(grep -cx "$(id -u nobody)" out)" 6
		[ "$SOURCE" = proc ] || holds "exact" 'all(.completeness.exact)' runs.json
	done
}

@test "repeat: --energy: each run by its own readings" {
	local zone=sys/class/powercap/intel-rapl:0
	mkdir -p "$zone"
	echo package-0 >"$zone/name"
	echo 262143328850 >"$zone/max_energy_range_uj"
	"$WORK/counters" sys intel-rapl:0=1000+3%262143328850 3>&- &
	METER_PID=$!
	until_true 10 [ -e "$zone/energy_uj" ]
	EXITMETER_TEST_SYSFS=sys repeat -r 3 --energy=rapl -- "$WORK/hold" idle=200
	kill "$METER_PID"
	METER_PID=
	same status "$status" 0
	jq -c '.[].energy' runs.json
	holds "of its own time" 'map(.energy[0]) | all(.status == "live" and .delta_uj > 0 and .delta_uj == .end_uj - .start_uj)
		and .[0].end_uj <= .[1].start_uj and .[1].end_uj <= .[2].start_uj' runs.json
}

@test "repeat: progress says which run it is" {
	"$EXITMETER" --source="$SOURCE" -q -r 2 --progress=always -- sleep 1.3 2>err
	cat err
	grep -q '^exitmeter: run 1 of 2, 0:01' err
	grep -q '^exitmeter: run 2 of 2, 0:01' err
}

@test "repeat: recorded as runs of their own, at once and from the journal" {
	"$EXITMETER" -q --source="$SOURCE" -r 3 --run-id r --journal run.journal --spool "$PWD/spool" \
		--to "sqlite:$PWD/at-once.db" -- sh -c 'true' 2>err
	cat err
	until_true 20 is_sql at-once.db 'SELECT count(*) FROM runs' 3
	"$EXITMETER" record run.journal --to "sqlite:$PWD/later.db" --spool "$PWD/spool"
	local db
	for db in at-once later; do
		same "$db: ids" "$(sql "$db.db" 'SELECT id FROM runs ORDER BY id' | paste -sd ' ')" \
			'r-1 r-2 r-3'
		same "$db: rows of each" "$(sql "$db.db" 'SELECT count(DISTINCT run) FROM marks')" 3
	done
	# the last one cut off, then whole
	head -n -1 run.journal >cut.journal
	status=0
	"$EXITMETER" record cut.journal --to "sqlite:$PWD/cut.db" --spool "$PWD/spool" || status=$?
	same "taken" "$(sql cut.db 'SELECT id, cut_off FROM runs ORDER BY id' | paste -sd ' ')" \
		'r-1|0 r-2|0 r-3|1'
	"$EXITMETER" record run.journal --to "sqlite:$PWD/cut.db" --spool "$PWD/spool"
	same "whole now" "$(sql cut.db 'SELECT count(*), sum(cut_off) FROM runs')" '3|0'
}

@test "report: a journal of several runs says what it did when it was made" {
	repeat -r 4 -- sh -c '/bin/true; /bin/true; :'
	grep -v '^exitmeter-' err >at-once.text
	report run.journal --json again.json
	same status "$status" 0
	diff at-once.text err
	cmp all.json again.json
	"$EXITMETER" report - <run.journal 2>redirected
	diff err redirected
	mkfifo fifo
	cat run.journal >fifo &
	"$EXITMETER" report - <fifo 2>piped
	diff err piped
	report run.journal --run 3 --json third.json
	same "one of them" "$(jq -c .run third.json)" "$(jq -c '.[2].run' runs.json)"
	same "as a run alone" "$(grep -c ' runs  ' err)" 0
	local id
	id=$(jq -r '.[1].run.id' runs.json)
	report run.journal --run "$id" -q --json second.json
	same "by its id" "$(jq -r .run.repeat second.json)" 2
	report run.journal --run nobody
	same "none" "$status" 1
	one_line err
	report --run 1
	same "of what" "$status" 125
	one_line err
}

@test "report: what is of one run is of the one with the median time" {
	echo 0 >n
	repeat -r 3 -- sh -c 'n=$(($(cat n) + 1)); echo $n >n; case $n in 1) sleep 0.6;; 2) sleep 0.3;; esac'
	report run.journal --csv
	same status "$status" 0
	same "said" "$(grep -c '^exitmeter: run.journal: 3 runs: .* run 2, ' err)" 1
	cp out csv
	report run.journal --run 2 --csv
	diff out csv
	same "said of several only" "$(wc -c <err)" 0
	local kind
	for kind in csv-marks nextflow snakemake benchexec runner tree table; do
		report run.journal --report=$kind
		same "$kind: one document" "$(grep -c 'of one run is of run 2' err)" 1
		cp out one
		report run.journal --run 2 --report=$kind
		diff out one
	done
	report run.journal -q --trace trace.json
	/usr/bin/python3 "$ROOT/tests/e2e/trace_check.py" trace.json ||
		jq -e '.traceEvents | length > 0' trace.json
	jq -e '.traceEvents | length > 0' trace.json
	"$EXITMETER" -q --source="$SOURCE" -r 2 --trace at-once.json -- true 2>err
	jq -e '.traceEvents | length > 0' at-once.json
}

@test "report: Markdown, benchmarks, metrics and a page take all runs" {
	repeat -r 3 --label name=bench -- "$WORK/hold" populate=20
	report run.journal --markdown
	same "one heading" "$(grep -c '^### ' out)" 1
	grep -qE '^\| wall time \| [0-9.]+ (ms|s)' out
	report run.journal --report=benchmark-action
	same "medians" "$(jq -c 'map([.name, .extra])' out)" \
		'[["bench: peak memory","median of 3 runs"],["bench: CPU time","median of 3 runs"],["bench: wall time","median of 3 runs"]]'
	jq -en --slurpfile s series.json --slurpfile b out \
		'$s[0].series.figures.wall_seconds.median == ($b[0][] | select(.unit == "s" and (.name | endswith("wall time"))) | .value)'
	report run.journal --report=bencher
	jq -en --slurpfile s series.json --slurpfile b out '$s[0].series.figures.wall_seconds as $w |
		$b[0].bench["wall-time"] == {value: $w.median, lower_value: $w.least, upper_value: $w.most}'
	report run.journal -q --openmetrics om
	same "each in OpenMetrics" "$(grep -c '^exitmeter_run_duration_seconds{' om)" 3
	report run.journal -q --prom prom
	same "the last in Prometheus's text" "$(grep -c '^exitmeter_run_duration_seconds{' prom)" 1
	report run.journal -q --html page.html
	! grep -q 'built without npm' err || skip "elsewhere: built without npm"
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" --data page.html >data.json
	same "a page of all" "$(jq -c '[.format, .sides[0].runs, (.runs | length)]' data.json)" \
		'["exitmeter.comparison/1",3,3]'
	report run.journal -q --run 1 --html one.html
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" --data one.html | jq -e '.format == "exitmeter.page/1"'
}

@test "report: two series are compared, all runs of each as repeats" {
	exits_needed "the peak of each"
	"$EXITMETER" -q --source="$SOURCE" -r 3 --journal a.journal -- "$WORK/hold" populate=20
	"$EXITMETER" -q --source="$SOURCE" -r 4 --journal b.journal -- "$WORK/hold" populate=60
	report a.journal b.journal
	same status "$status" 0
	grep -qE '^exitmeter: +a.journal \(3 runs\) +b.journal \(4 runs\) +difference$' err
	grep -E '^exitmeter: largest process .*\+4[0-9] MB, \+[0-9.]+ %, noise [0-9.]+ MB$' err
	report -q a.journal b.journal --json all.json
	same "all of both" "$(jq -r .schema all.json | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ')" '2 7'
}

@test "report: journals put behind each other are as many runs" {
	local i
	for i in 1 2 3; do
		"$EXITMETER" -q --source="$SOURCE" --run-id "r$i" --journal "$i.journal" -- sh -c "exit $i" || true
	done
	cat [123].journal >all.journal
	report all.journal --json all.json
	same status "$status" 0
	split all.json
	medians_agree
	same "nobody asked for so many" "$(jq .series.repeats series.json)" null
	grep -q '^exitmeter: 3 runs ' err
	grep -q '^exitmeter: differs: exit status: 1, 2, 3$' err
	# one that was cut off in the middle of a line has its end there
	{ head -c -40 1.journal; cat 2.journal; } >cut.journal
	report cut.journal --json cut.json
	same "cut off" "$status" 1
	split cut.json
	same "which" "$(jq -c '[.series.runs[] | [.id, .cut_off]]' series.json)" '[["r1",true],["r2",false]]'
	same "and no line is malformed" "$(grep -c 'cut.journal:' err)" 0
	grep -q '^exitmeter: run 1: the journal was cut off' err
}

@test "report: the second run cut off, or damaged: the others are whole" {
	repeat -r 3 -- sh -c '/bin/true; /bin/true; :'
	cp runs.json whole.json
	local start
	start=$(grep -n '"run_start"' run.journal | sed -n 3p | cut -d: -f1)
	head -n $((start)) run.journal >cut.journal
	head -c 25 <(tail -n +$((start + 1)) run.journal) >>cut.journal
	report cut.journal --json all.json
	same "cut off" "$status" 1
	split all.json
	same "which" "$(jq -c 'map(.cut_off // false)' runs.json)" '[false,false,true]'
	same "the others" "$(jq -c '.[:2]' runs.json)" "$(jq -c '.[:2]' whole.json)"
	same "no fault" "$(grep -c 'cut.journal:' err)" 0
	sed "${start}i \\\\x01 garbage" run.journal >bad.journal
	report bad.journal --json all.json
	same "damaged" "$status" 1
	same "its line" "$(grep -c "^exitmeter: bad.journal:$start: not JSON" err)" 1
	split all.json
	same "exact" "$(jq -c '[.[].completeness.exact]' runs.json)" \
		"$(jq -c '[.[].completeness.exact] | .[1] = false' whole.json)"
	same "all rows" "$(jq -c '[.[].processes | length]' runs.json)" "$(jq -c '[.[].processes | length]' whole.json)"
}

@test "repeat: exitmeter is killed in the second run: the first is whole, the last marked" {
	"$EXITMETER" -q --source="$SOURCE" -r 9 --journal run.journal -- sh -c '
		echo x >>n; [ "$(wc -l <n)" -lt 2 ] || { : >second; exec sleep 3; }' 2>err 3>&- &
	METER_PID=$!
	until_true 20 test -e second
	until_true 20 sh -c '[ "$(grep -c run_start run.journal)" = 2 ]'
	kill -KILL "$METER_PID"
	wait "$METER_PID" || true
	METER_PID=
	report run.journal --json all.json
	same status "$status" 1
	split all.json
	same "runs" "$(jq -c '[.series.runs[].cut_off]' series.json)" '[false,true]'
	same "of so many" "$(jq .series.repeats series.json)" 9
	grep -q '^exitmeter: 2 of 9 runs ' err
	same "no more are made" "$(wc -l <n)" 2
}

@test "repeat: the live journal: serve tells of the newest run" {
	command -v curl >/dev/null || skip "elsewhere: no curl"
	repeat -r 2 --run-id s -- sh -c 'true'
	"$EXITMETER" serve --listen 0 run.journal 2>serve.err 3>&- &
	METER_PID=$!
	until_true 20 grep -qs 'listening on' serve.err
	curl -sSf --max-time 20 "$(sed -n 's/^exitmeter: listening on //p' serve.err)api/runs" >served
	same "the newest" "$(jq -c '[.runs[] | [.id, .state]]' served)" '[["s-2","ended"]]'
	kill "$METER_PID"
	wait "$METER_PID" || true
	METER_PID=
}

@test "report: a hostile journal of several runs is safe in text and JSON" {
	local esc
	esc=$(printf '\033]0;x\007')
	"$EXITMETER" -q --source="$SOURCE" -r 2 --label "k=$esc" --run-id "$esc</script>" \
		--journal run.journal -- sh -c "exit 3" "$esc" || true
	sed 's/"run":{"id":"[^"]*-2"/"run":{"id":"\\u001b]0;y\\u0007"/; 0,/"exits":"bpf"/s//"exits":"\\u001b[2J"/' \
		run.journal >hostile.journal
	report hostile.journal --json all.json
	same "no control characters" "$(LC_ALL=C grep -c '[[:cntrl:]]' err)" 0
	jq empty all.json
	# numbers that do not fit
	sed 's/"repeats":2/"repeats":99999999999999999999/' run.journal >big.journal
	report big.journal
	same "malformed" "$status" 1
	grep -q 'big.journal:1: repeats is not a count or null' err
	sed 's/"repeat":1,"repeats":2/"repeat":0,"repeats":0/' run.journal >zero.journal
	report zero.journal
	same "a series that is none" "$status" 0
}
