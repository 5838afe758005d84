#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# exitmeter report: from a journal the same again; what is cut, malformed or foreign is said.

load helpers

# rerun ARGUMENT...: exitmeter report, its text in err
rerun() {
	status=0
	"$EXITMETER" report "$@" >again.out 2>err || status=$?
	cat -v err
}

# identical [OPTION...]: report makes the summary that the run made, to the byte
identical() {
	rerun run.journal -q --json again.json "$@"
	same status "$status" 0
	same "messages" "$(wc -c <err)" 0
	cmp sum.json again.json
}

@test "report: the JSON is the live run's, byte for byte" {
	meter -i 0.05 -- sh -c "'$WORK/hold' populate=30 burn=200; seq 50 | xargs -n1 /bin/true; sleep 0.3; exit 3"
	identical
	holds "there are marks" '.marks | length > 5' again.json
}

@test "report: after a signal, of the shortest run, with processes that still run" {
	meter -- sh -c 'kill -9 $$'
	identical
	meter -i 0 -- true
	identical
	meter -- sh -c 'sleep 5 & exit 0'
	identical
}

@test "report: with names, arguments and labels of any bytes" {
	local odd
	odd=$(printf 's\xe9\x85\xc3\xa9\x1b"\134')
	cp /bin/true "$odd"
	meter --label 'a"b=c' --label k=1 --label "k=$odd" --run-id "$odd" -- \
		"./$odd" "$odd" '' "$(printf '\xc3\xc2\x85 \xe2\x82\xac \xf0\x9f')" $'\n\t'
	identical
	same "the last label of a name" "$(jq '.run.labels | length' again.json)" 2
}

@test "report: more rows than a summary holds" {
	exits_needed "a row of each"
	meter -i 0.05 -- sh -c 'seq 1600 | xargs -n1 /bin/true'
	identical
	holds "some are left out" '.processes_omitted > 0' again.json
}

@test "report: --all reads every row again, from a file and from a pipe" {
	exits_needed "a row of each"
	meter --all -- sh -c 'seq 1200 | xargs -n1 /bin/true'
	identical --all
	same rows "$(jq '.processes | length' again.json)" 1203
	"$EXITMETER" report - -q --all --json - <run.journal | cmp sum.json -
	"$EXITMETER" report - -q --all --json - < <(cat run.journal) | cmp sum.json -
	rerun run.journal --all
	same "lines of rows" "$(grep -c '(pid [0-9]*[,)]' err)" 1204
}

@test "report: orders, and the text of the live run" {
	status=0
	"$EXITMETER" --source="$SOURCE" -n 7 --sort cpu --json sum.json --journal run.journal -- \
		sh -c 'seq 30 | xargs -n1 /bin/true' 2>live
	rerun -n 7 run.journal --sort=cpu --json again.json
	same status "$status" 0
	cmp live err
	cmp sum.json again.json
}

@test "report: where it goes" {
	local lines
	meter -- true
	rerun run.journal -o text
	same "on stderr" "$(wc -c <err)" 0
	lines=$(grep -c '^exitmeter: ' text)
	within lines "$lines" 2 3
	rerun run.journal -a -o text
	same "lines appended" "$(grep -c '^exitmeter: ' text)" $((2 * lines))
	rerun run.journal --log-fd 1
	same "lines on stdout" "$(grep -c '^exitmeter: ' again.out)" "$lines"
	rerun run.journal -q --json fd:1
	cmp again.out sum.json
	cp run.journal second.journal
	rerun run.journal second.journal --json two.json
	same status "$status" 0
	cat sum.json sum.json | cmp - two.json
	same "lines for two" "$(grep -c '^exitmeter: .*, CPU ' err)" 2
}

@test "report: help and version" {
	rerun --help
	same status "$status" 0
	[ "$(grep -c -- '--json FILE' again.out)" -eq 1 ]
	rerun -V
	same version "$(cat again.out)" "$("$EXITMETER" -V)"
}

# wrong ARGUMENT...: 125 and one line
wrong() {
	rerun "$@"
	same status "$status" 125
	one_line err
	same "bytes on stdout" "$(wc -c <again.out)" 0
}

@test "report: a bad command line, files that cannot be read or written" {
	meter -- true
	wrong
	wrong --no-such-option run.journal
	wrong run.journal -n x
	wrong run.journal --sort size
	wrong run.journal --json - -o -
	wrong run.journal --json
	wrong run.journal --log-fd 99
	wrong run.journal -o no/such/folder/text
	wrong nowhere.journal
	mkdir folder
	wrong folder
	wrong run.journal --json folder
	wrong run.journal -q --json /dev/full
	wrong run.journal -o /dev/full
}

@test "report: cut off between lines and within one" {
	local rows
	meter -i 0.05 -- sh -c "'$WORK/hold' populate=20; seq 10 | xargs -n1 /bin/true; sleep 0.2; true"
	rows=$(grep -c '"event":"process"' run.journal)
	sed '$d' run.journal >cut.journal
	rerun cut.journal --json again.json
	same status "$status" 1
	valid again.json
	holds "cut off" '.cut_off and (.completeness.exact | not)' again.json
	same reason "$(jq -r '.completeness.reasons[0]' again.json)" "the journal was cut off"
	same rows "$(jq '.processes | length' again.json)" "$rows"
	holds "unknown is null" '.run.exit_code == null and .run.wall_seconds == null
		and .completeness.forks == null and .rusage.maxrss_bytes == null' again.json
	[ "$SOURCE" = proc ] || within "lower" "$(jq .usage.peak_rss_lower_bytes again.json)" $((20 * MIB)) \
		"$(summary .usage.peak_rss_upper_bytes)"
	# what else is known at the end only
	! sums || [ "$(jq .usage.peak_rss_upper_bytes again.json)" -ge "$(summary .usage.peak_rss_lower_bytes)" ]
	same "first line" "$(head -n 1 err)" \
		"exitmeter: the journal was cut off: what follows is what it holds"
	truncate -s -5 cut.journal
	rerun cut.journal --json again.json
	same status "$status" 1
	valid again.json
	same "messages of malformed lines" "$(grep -c cut.journal: err)" 0
	truncate -s -1 run.journal
	rerun run.journal -q --json again.json
	same "only the last newline missing" "$status" 0
	cmp sum.json again.json
}

# capped [OPTION...] -- COMMAND...: a run whose journal may have 30,000 bytes, checked
capped() {
	status=0
	"$EXITMETER" -q --source="$SOURCE" -i 0.01 --json sum.json --journal run.journal --journal-max 30K "$@" \
		>out 2>err 3>&- || status=$?
	cat err
	valid run.journal
}

@test "report: a journal that may have no more" {
	local file where
	exits_needed "a row of each"
	capped -- sh -c "for i in \$(seq 1500); do /bin/true; done; '$WORK/hold' populate=30; exit 3"
	same status "$status" 3
	valid sum.json
	holds "the run itself knows nothing of it" 'has("left_out") | not' sum.json
	where=$(grep -bom1 '{"event":"left_out"' run.journal)
	[ "${where%%:*}" -ge 29000 ] && [ "${where%%:*}" -le 30720 ]
	[ "$(wc -c <run.journal)" -lt $((30 * 1024 + 1100 * 1000)) ]
	rerun run.journal -q --json again.json
	same status "$status" 0
	valid again.json
	one_line err
	same "what is said" "$(sed -n 's/.* \([0-9]*\) processes and [0-9]* samples are not in it: .*/\1/p' err)" \
		"$(jq .left_out.processes again.json)"
	jq -S 'del(.processes, .processes_omitted)' sum.json >want
	jq -S 'del(.processes, .processes_omitted, .left_out)' again.json >got
	cmp want got
	for file in sum.json again.json; do
		jq -c '[.processes | sort_by(-.peak_rss_bytes)[:400][].peak_rss_bytes]' "$file" >"$file.largest"
	done
	cmp sum.json.largest again.json.largest
	holds "every process is a row or counted" '
		(.processes | length) + .processes_omitted == .completeness.exits + .completeness.running_at_end' again.json
	rerun run.journal --all --report=csv -o rows.csv
	same "rows, and those left out" \
		"$(($(tail -n +2 rows.csv | wc -l) + $(jq .left_out.processes again.json)))" "$(jq .completeness.exits sum.json)"
}

@test "report: a journal that may have no more, cut off" {
	exits_needed "a row of each"
	capped -- sh -c 'for i in $(seq 300); do /bin/true; done'
	sed '$d' run.journal >cut.journal
	rerun cut.journal --json again.json
	same status "$status" 1
	valid again.json
	holds "what needs every row is not known" '.cut_off and (.completeness.exact | not) and .left_out.processes >= 0
		and .completeness.exits == null and .usage.total_processes == null and .usage.minor_faults == null
		and .usage.peak_rss_upper_bytes == null and .usage.peak_rss_process_bytes == null
		and .usage.peak_cpus == null and .groups == []' again.json
	same "no largest process" "$(grep -c 'largest process' err)" 0
	[ "$(jq '.usage.peak_rss_lower_bytes // 0' again.json)" -le "$(summary .usage.peak_rss_upper_bytes)" ]
	jq -e --slurpfile sum sum.json '(.usage.cpu_seconds // 0) <= $sum[0].usage.cpu_seconds' again.json
}

@test "report: the size is that of all runs" {
	exits_needed "a row of each"
	capped -r 3 -- sh -c 'for i in $(seq 60); do /bin/true; done'
	same status "$status" 0
	same "runs with all their figures" "$(grep -c '"event":"summary"' run.journal)" 3
	same "runs that were left out of" "$(jq -s '[.[] | select(.event == "run_start" or .event == "left_out") | .event]
		| join(" ") | [scan("run_start left_out")] | length' run.journal)" 3
	run -125 --separate-stderr "$EXITMETER" --journal run.journal --journal-max 0 -- true
	run -125 --separate-stderr "$EXITMETER" --journal run.journal --journal-max 3x -- true
	run -125 --separate-stderr "$EXITMETER" --journal-max 3M -- true
}

@test "report: malformed lines are named and left out" {
	meter -- sh -c 'true; true; /bin/true'
	{
		sed -n 1,2p run.journal
		printf '{"event":"process","t":0.1,\n\xff\xfe\0\e[31m garbage\n'
		printf '{"event":"process","t":0.1,"pid":1,"comm":"x","threads":-1}\n\n'
		sed -n '3,$p' run.journal
	} >bad.journal
	rerun bad.journal --json again.json
	same status "$status" 1
	valid again.json
	same "lines named" "$(sed -n 's/^exitmeter: bad.journal:\([0-9]*\): .*/\1/p' err | paste -sd' ')" "3 4 5 6"
	same "control bytes on stderr" "$(tr -d '\n' <err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	same usage "$(jq -c .usage again.json)" "$(jq -c .usage sum.json)"
	same exact "$(jq .completeness.exact again.json)" false
	{
		head -n 1 run.journal
		yes x | head -n 100
		sed 1d run.journal
	} >bad.journal
	rerun bad.journal -q
	same status "$status" 1
	same "lines named" "$(wc -l <err)" 21
	same "the last one" "$(tail -n 1 err)" "exitmeter: bad.journal: and 80 more malformed lines"
}

@test "report: a line longer than a MiB" {
	meter -- true
	{
		head -n 1 run.journal
		printf '{"event":"process","x":"'
		head -c 3000000 /dev/zero | tr '\0' x
		printf '"}\n'
		sed 1d run.journal
	} >bad.journal
	rerun bad.journal -q
	same status "$status" 1
	same said "$(cat err)" "exitmeter: bad.journal:2: the line is too long"
}

@test "report: foreign and empty files" {
	printf '{"level":"info","msg":"hello"}\n[1,2]\n' >foreign.journal
	rerun foreign.journal --json again.json
	same status "$status" 1
	one_line err
	same "bytes of JSON" "$(wc -c <again.json)" 0
	: >empty.journal
	rerun empty.journal
	same status "$status" 1
	one_line err
	rerun "$WORK/hold"
	same status "$status" 1
	one_line err
}

# A journal may say anything: nothing of it reaches the terminal as it is.
@test "report: hostile texts" {
	meter -- true
	sed 's/"comm":"true"/"comm":"\\u001b[31m\\u009b"/g; s/"exits":"bpf"/"exits":"\\u001b]0;x\\u0007"/' \
		run.journal >hostile.journal
	rerun hostile.journal -n 5
	same "control bytes" "$(tr -d '\n' <err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	sed '$d' hostile.journal >cut.journal
	rerun cut.journal -n 5
	same "control bytes" "$(tr -d '\n' <err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
}

@test "report: memory does not grow with the rows" {
	local row few many
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: a sanitiser keeps what was freed"
	meter -- true
	row=$(grep '"event":"process"' run.journal | head -n 1)
	{
		head -n 1 run.journal
		yes "$row" | head -n 1000
	} >few.journal
	{
		head -n 1 run.journal
		yes "$row" | head -n 50000
	} >many.journal
	few=$(peak_of few.journal)
	many=$(peak_of many.journal)
	within "many against few" $((many - few)) "-$MIB" "$MIB"
}

# peak_of JOURNAL: bytes that rendering it took at most, by exitmeter's own word
peak_of() {
	"$EXITMETER" -q --source="$SOURCE" --json - -- "$EXITMETER" report "$1" -q --all --json /dev/null |
		jq .rusage.maxrss_bytes
}

@test "a list that the summary need not hold says so, and --all has it" {
	exits_needed "rows"
	meter -- "$WORK/churn" 1200 exec /bin/true
	"$EXITMETER" report run.journal --sort start -n 3 2>out
	same "said" "$(grep -c 'processes [0-9]* are kept, the list is of these (--all has all)' out)" 1
	"$EXITMETER" report run.journal -n 3 2>out
	same "the largest are there" "$(grep -c 'are kept' out)" 0
	"$EXITMETER" report run.journal --all 2>out
	same "all" "$(grep -c 'pid ' out)" 1202
}
