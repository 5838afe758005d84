#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# Metrics in files: after a run and from journals, as Prometheus's own tools read them.

load helpers

# value NAME [LABEL...]: of the one sample in run.prom with that name and those labels
value() {
	local name=$1 found
	shift
	found=$(grep "^${name}[{ ]" run.prom || true)
	while [ $# -gt 0 ]; do
		found=$(grep -F "$1" <<<"$found" || true)
		shift
	done
	if [ "$(grep -c . <<<"$found")" -ne 1 ]; then
		echo "$name: not one sample: $found" >&2
		return 1
	fi
	echo "${found##* }"
}

# agrees WHAT VALUE FILTER: as numbers; FILTER of sum.json
agrees() {
	echo "$1: got $2, the summary has $(summary "$3")"
	jq -e --argjson got "$2" "($3) == \$got" sum.json >/dev/null
}

@test "metrics: a text file of a run says what the summary says, and promtool takes it" {
	meter --prom run.prom --label 'job=a "b"' -- sh -c "'$WORK/hold' populate=20 burn=50; exit 3"
	same status "$status" 3
	promtool check metrics <run.prom
	agrees lower "$(value exitmeter_run_peak_rss_bytes 'kind="lower"')" .usage.peak_rss_lower_bytes
	agrees upper "$(value exitmeter_run_peak_rss_bytes 'kind="upper"')" .usage.peak_rss_upper_bytes
	agrees process "$(value exitmeter_run_peak_rss_bytes 'kind="process"')" .usage.peak_rss_process_bytes
	agrees sum "$(value exitmeter_run_peak_rss_bytes 'kind="sum"')" .usage.peak_rss_sum_bytes
	agrees user "$(value exitmeter_run_cpu_seconds_total 'mode="user"')" .usage.cpu_user_seconds
	agrees system "$(value exitmeter_run_cpu_seconds_total 'mode="system"')" .usage.cpu_system_seconds
	agrees wall "$(value exitmeter_run_duration_seconds)" .run.wall_seconds
	agrees processes "$(value exitmeter_run_processes_total)" .usage.total_processes
	agrees lost "$(value exitmeter_events_lost_total)" .completeness.events_lost
	same code "$(value exitmeter_run_exit_status)" 3
	same info "$(value exitmeter_run_info "kernel=\"$(uname -r)\"" 'job="a \"b\""')" 1
	same "what was not asked for" "$(grep -c 'kind="pss"\|kind="cgroup"' run.prom || true)" 0
	same "pids and times" "$(grep -v '^#' run.prom | grep -cE 'pid=|[0-9] [0-9]+(\.[0-9]+)?$' || true)" 0
	mv run.prom live.prom
	"$EXITMETER" report run.journal -q --prom run.prom
	cmp live.prom run.prom
}

@test "metrics: a file is renamed when it is whole, and what fails leaves the one before" {
	local before
	mkdir folder
	echo before >folder/x.prom
	before=$(stat -c %i folder/x.prom)
	chmod 604 folder/x.prom
	(umask 027 && meter --prom folder/x.prom --openmetrics y.om -- true)
	same "rights, of the one before" "$(stat -c %a folder/x.prom)" 604
	same "rights, new" "$(stat -c %a y.om)" 640
	[ "$(stat -c %i folder/x.prom)" != "$before" ]
	same "in the folder" "$(ls -A folder)" x.prom
	cp folder/x.prom kept
	echo garbage >foreign.journal
	status=0
	"$EXITMETER" report foreign.journal -q --prom folder/x.prom 2>err || status=$?
	same status "$status" 1
	cmp kept folder/x.prom
	same "in the folder" "$(ls -A folder)" x.prom
	status=0
	"$EXITMETER" -q --source="$SOURCE" --prom no/such/folder/x.prom -- touch started 2>err || status=$?
	same status "$status" 125
	one_line err
	[ ! -e started ]
	status=0
	"$EXITMETER" report run.journal -q --prom folder 2>err || status=$?
	same status "$status" 125
	one_line err
	"$EXITMETER" report run.journal -q --openmetrics - >out
	same "last line" "$(tail -n 1 out)" "# EOF"
}

@test "metrics: a run is filled back into a database, every mark with its time" {
	meter -i 0.05 --openmetrics run.om --run-id 'a"b' -- sh -c "'$WORK/hold' populate=20; sleep 0.6"
	promtool tsdb create-blocks-from openmetrics run.om db
	mkdir -p db/wal # it wants one
	promtool tsdb dump db >db.txt
	same marks "$(grep -c '^{__name__="exitmeter_tree_cpu_seconds_total"' db.txt)" "$(summary '.marks | length')"
	same "marks with memory" "$(grep -c '^{__name__="exitmeter_tree_resident_memory_bytes"' db.txt)" \
		"$(summary '[.marks[] | select(.[1] >= 0)] | length')"
	same "largest" \
		"$(awk '/^{__name__="exitmeter_tree_resident_memory_bytes"/ { print $(NF - 1) + 0 }' OFMT=%d db.txt | sort -n | tail -n 1)" \
		"$(summary '[.marks[] | .[1]] | max')"
	same "samples without the run" "$(grep -cvF 'run="a\"b"' db.txt || true)" 0
	# the last mark stands where the summary says
	jq -e --argjson at "$(awk '/^{__name__="exitmeter_tree_cpu_seconds_total"/ { print $NF }' db.txt | tail -n 1)" \
		'(.run.started_at | sub("\\.[0-9]+Z$"; "Z") | fromdate) as $s
		| $at / 1000 - $s - .run.wall_seconds | . > -0.1 and . < 2' sum.json
}

@test "metrics: several journals are one document, of the same command the last run" {
	local i
	for i in 1 2; do
		meter --openmetrics "$i.om" -- sh -c true
		mv run.journal "$i.journal"
		mv sum.json "$i.json"
		SHAPE_SEEN=1
	done
	meter -- sh -c 'true; true'
	"$EXITMETER" report 2.journal run.journal 1.journal -q --prom run.prom --openmetrics all.om
	promtool check metrics <run.prom
	same commands "$(grep -c '^exitmeter_run_info{' run.prom)" 2
	same heads "$(grep -c '^# TYPE exitmeter_run_info ' run.prom)" 1
	agrees "processes of the other" "$(value exitmeter_run_processes_total 'command="sh -c true; true"')" \
		.usage.total_processes
	mv 2.json sum.json
	agrees "wall of the second" "$(value exitmeter_run_duration_seconds 'command="sh -c true"')" .run.wall_seconds
	same "runs back-filled" "$(grep -c '^exitmeter_run_info{' all.om)" 3
	promtool tsdb create-blocks-from openmetrics all.om db
}

@test "metrics: names of any bytes, arguments kept out, a run cut off" {
	local odd
	odd=$(printf 's"\xe9\x85}\x1b\134\n1')
	cp /bin/true "./$odd"
	meter --prom run.prom --openmetrics run.om --label "$odd=$odd" --label pid=1 --label command=x \
		-- "./$odd" "$odd" $'\n# EOF\n' '{a="b"}'
	promtool check metrics <run.prom
	promtool tsdb create-blocks-from openmetrics run.om db
	same "control bytes" "$(tr -d '\n' <run.prom | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	iconv -f utf-8 -t utf-8 run.prom >/dev/null
	value exitmeter_run_exact 'label_pid="1"' 'label_command="x"'
	meter --prom run.prom --no-argv --journal run.journal -- /bin/sh -c 'true secret'
	same "the program's name" "$(value exitmeter_run_exit_status "command=\"$(basename "$(realpath /bin/sh)")\"")" 0
	[[ $(cat run.prom) != *secret* ]]
	sed '$d' run.journal >cut.journal
	status=0
	"$EXITMETER" report cut.journal -q --prom run.prom 2>err || status=$?
	same status "$status" 1
	promtool check metrics <run.prom
	same exact "$(value exitmeter_run_exact)" 0
	same "what only the end tells" "$(grep -cE '^exitmeter_(run_duration|run_exit|events)' run.prom || true)" 0
}
