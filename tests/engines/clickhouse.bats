#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031,SC2034,SC2154
# exitmeter record into ClickHouse: each run once, whole, and nothing lost when the server is down.

load ../e2e/helpers
load ports
load clickhouse
load ../e2e/recipes

setup_file() {
	CH_HOME=$(mktemp -d /tmp/exitmeter-ch.XXXXXX)
	export CH_HOME
	command -v clickhouse-server >/dev/null || return 0
	clickhouse_start "$CH_HOME/server"
}

teardown_file() {
	[ ! -e "$CH_HOME/server/pid" ] || clickhouse_stop KILL
	rm -rf "$CH_HOME"
}

setup() {
	command -v clickhouse-server >/dev/null || skip "elsewhere: no clickhouse-server"
	[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	SHAPE_SEEN=
	export XDG_STATE_HOME=$PWD/state HOME=$PWD
	SPOOL=$XDG_STATE_HOME/exitmeter
	CH_DB='' clickhouse_ask "DROP DATABASE IF EXISTS runs"
	CH_DB='' clickhouse_ask "CREATE DATABASE runs"
}

record() {
	status=0
	"$EXITMETER" record "$@" >out 2>err || status=$?
	cat -v err
}

# ask SQL: NULL is \N
ask() {
	clickhouse_ask "$1"
}

spooled() {
	find "$SPOOL" -name '*.jnl' 2>/dev/null | wc -l
}

nothing_spooled() {
	[ "$(spooled)" -eq 0 ]
}

# recorders: pids of those that work on this test's spool
recorders() {
	local file
	grep -lF "$SPOOL" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
		[[ $(cat "${file%/*}/comm" 2>/dev/null) != exitmeter-recor ]] || basename "${file%/*}"
	done
}

recorders_gone() {
	[ -z "$(recorders)" ]
}

@test "clickhouse: every process of a run, its marks and its figures, once, however often it is written" {
	meter --label a=b --run-id one -i 0.05 -- sh -c 'for i in 1 2 3; do /bin/true; done; sleep 0.2; exit 3'
	for _ in 1 2; do
		record run.journal --to "$CH_URL"
		same status "$status" 0
		same "said" "$(wc -c <err)" 0
	done
	same runs "$(ask "SELECT count() FROM runs FINAL")" 1
	same code "$(ask "SELECT exit_code FROM runs FINAL WHERE run_id = 'one'")" 3
	same peak "$(ask "SELECT peak_rss_bytes FROM runs FINAL")" "$(summary .usage.peak_rss_bytes)"
	same total "$(ask "SELECT total_processes FROM runs FINAL")" "$(summary .usage.total_processes)"
	same "not known" "$(ask "SELECT peak_pss_bytes, exit_signal FROM runs FINAL")" "$(printf '\\N\t\\N')"
	same label "$(ask "SELECT visitParamExtractString(labels, 'a') FROM runs FINAL")" b
	same start "$(ask "SELECT toUnixTimestamp(started_at) FROM runs FINAL")" \
		"$(date -d "$(summary .run.started_at)" +%s)"
	same rows "$(ask "SELECT count() FROM processes FINAL")" "$(grep -c '"event":"process"' run.journal)"
	same sleep "$(ask "SELECT peak_rss_bytes FROM processes FINAL WHERE comm = 'sleep'")" \
		"$(row '.comm == "sleep"' .peak_rss_bytes)"
	same marks "$(ask "SELECT count() FROM marks FINAL")" "$(summary '.marks | length')"
	same "rss at the start is not known" "$(ask "SELECT rss_bytes FROM marks FINAL WHERE n = 1")" '\N'
	same host "$(ask "SELECT host FROM env FINAL")" "$(uname -n)"
}

@test "clickhouse: written twice at the same time it is there once" {
	local i
	meter -- sh -c '/bin/true; /bin/true'
	for i in 1 2 3 4; do
		"$EXITMETER" record run.journal --to "$CH_URL" 2>"err.$i" &
	done
	for i in 1 2 3 4; do
		wait -n
	done
	cat err.*
	same runs "$(ask "SELECT count() FROM runs FINAL")" 1
	same rows "$(ask "SELECT count() FROM processes FINAL")" 3
	same version "$(ask "SELECT count() FROM exitmeter_version FINAL")" 1
}

@test "clickhouse: names and arguments of any bytes are data" {
	local odd
	odd=$(printf "x'); DROP TABLE runs; --\t\\\\N \xe9 \xc3\xa9 \xf0\x9f\x98\x80 \x01 \"quoted\"")
	meter --run-id "$odd" -- sh -c 'exit 0' "$odd"
	for _ in 1 2; do
		record run.journal --to "$CH_URL"
		same status "$status" 0
	done
	same runs "$(ask "SELECT count() FROM runs FINAL")" 1
	ask "SELECT argv FROM processes FINAL WHERE comm = 'sh' FORMAT JSONEachRow" | jq -c '.argv | fromjson' >got
	jq -c 'select(.event == "process") | .argv' run.journal >want
	cmp got want
	ask "SELECT run_id FROM runs FINAL FORMAT JSONEachRow" | jq .run_id >got
	jq 'select(.event == "run_start") | .run.id' run.journal >want
	cmp got want
}

@test "clickhouse: of two looks at the same journal the longer one stays" {
	local n
	meter -i 0.05 -- sh -c '/bin/true; sleep 0.5; /bin/true'
	for n in 5 3 5 2; do
		head -n "$n" run.journal >cut.journal
		record cut.journal --to "$CH_URL"
		same status "$status" 0
		same lines "$(ask "SELECT lines, cut_off, exit_code FROM runs FINAL")" "$(printf '5\t1\t\\N')"
	done
	for n in run cut run; do
		record "$n.journal" --to "$CH_URL"
		same status "$status" 0
		same "not cut off" "$(ask "SELECT cut_off, exit_code FROM runs FINAL")" "$(printf '0\t0')"
		same rows "$(ask "SELECT count() FROM processes FINAL")" 4
	done
}

rows_left() {
	[ "$(ask "SELECT count() FROM $1 FINAL")" = "$2" ]
}

@test "clickhouse: of marks that a shorter reading had more of, none stays" {
	meter -- sh -c 'sleep 0.1'
	head -n 2 run.journal >cut.journal
	record cut.journal --to "$CH_URL"
	# the shorter reading's own marks and a hundred more, as a run that went on without an end has
	ask "INSERT INTO marks (run_id, part, split, n, age, version)
		SELECT run_id, part, 0, number + 1000, 1, version FROM runs CROSS JOIN (SELECT number FROM numbers(100))"
	rows_left marks "$((100 + $(ask "SELECT count() FROM marks FINAL WHERE n < 1000")))"
	record run.journal --to "$CH_URL"
	same status "$status" 0
	until_true 20 rows_left marks "$(summary '.marks | length')"
}

# lines_of EVENT N: are there N in the journal?
lines_of() {
	[ "$(jq -c --arg e "$1" 'select(.event == $e)' run.journal 2>/dev/null | wc -l)" -eq "$2" ]
}

@test "clickhouse: each run of a split tree has its own row" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	mkfifo go
	sh -c 'read -r _; for i in 1 2 3; do sh -c "/bin/true; exit $i"; done; read -r _' <>go 3>&- &
	meter_background -p "$!" --split
	until_true 20 lines_of run_start 1
	echo >go
	until_true 20 lines_of run_end 3
	echo >go
	meter_wait
	record run.journal --to "$CH_URL"
	same status "$status" 0
	same codes "$(ask "SELECT exit_code FROM runs FINAL WHERE split > 0 ORDER BY split" | tr '\n' ' ')" "1 2 3 "
	same rows "$(ask "SELECT count() FROM processes FINAL WHERE split > 0")" 6
}

@test "clickhouse: --to of a run; a server that is down leaves the run as it is, and gets it later" {
	meter --run-id up --to "$CH_URL" -- sh -c '/bin/true; exit 7'
	same status "$status" 7
	until_true 30 nothing_spooled
	same code "$(ask "SELECT exit_code FROM runs FINAL")" 7
	clickhouse_stop
	meter --run-id down --to "$CH_URL" -- sh -c 'exit 4'
	same status "$status" 4
	until_true 30 recorders_gone
	same spooled "$(spooled)" 1
	record --replay
	same status "$status" 1
	one_line err
	clickhouse_go
	record --replay
	same status "$status" 0
	same spooled "$(spooled)" 0
	same code "$(ask "SELECT exit_code FROM runs FINAL WHERE run_id = 'down'")" 4
	same runs "$(ask "SELECT count() FROM runs FINAL")" 2
}

@test "clickhouse: recorder and server killed at any moment: after a replay every run is there once, whole" {
	local i p
	for i in $(seq 16); do
		"$EXITMETER" -q --source="$SOURCE" --run-id "run-$i" --to "$CH_URL" -- \
			sh -c '/bin/true; /bin/true' 2>>said
		if [ $((i % 3)) -eq 0 ]; then
			for p in $(recorders); do
				kill -KILL "$p" 2>/dev/null || true
			done
		fi
		if [ $((i % 8)) -eq 4 ]; then
			clickhouse_stop KILL
			clickhouse_go
		fi
	done
	until_true 60 recorders_gone
	record --replay
	same status "$status" 0
	same spooled "$(spooled)" 0
	same runs "$(ask "SELECT count(), uniqExact(run_id), sum(cut_off) FROM runs FINAL")" "$(printf '16\t16\t0')"
	same rows "$(ask "SELECT count(), uniqExact(run_id, n) FROM processes FINAL")" "$(printf '48\t48')"
}

# big_journal ROWS: of as many processes, in one run
big_journal() {
	head -n 1 run.journal
	jq -c 'select(.event == "process")' run.journal | head -n 1 |
		python3 -c 'import sys; line = sys.stdin.readline(); [sys.stdout.write(line) for _ in range(int(sys.argv[1]))]' "$1"
	tail -n 1 run.journal
}

@test "clickhouse: a hundred thousand processes in batches, in little memory" {
	meter -- true
	big_journal 100000 >big.journal
	meter --wait-tree -- "$EXITMETER" record big.journal --to "$CH_URL"
	same status "$status" 0
	same rows "$(ask "SELECT count() FROM processes FINAL")" 100000
	# as many inserts as there are MiB of rows, not as rows
	within parts "$(ask "SELECT max(max_block_number) FROM system.parts WHERE database = 'runs' AND table = 'processes'")" 10 200
	if [ -z "${EM_SAN:-}" ]; then
		within memory "$(summary .usage.peak_rss_process_bytes)" "$MIB" $((40 * MIB))
	fi
}

@test "clickhouse: passwords come from the environment or from netrc, and are never seen" {
	local url="$CH_URL?user=meter"
	meter -- true
	record run.journal --to "$url"
	same status "$status" 1
	grep -F "cannot record in $url: Code: 194" err
	one_line err
	CLICKHOUSE_PASSWORD=wrong record run.journal --to "$url"
	same status "$status" 1
	one_line err
	same "seen" "$(grep -c wrong err)" 0
	CLICKHOUSE_PASSWORD=kept record run.journal --to "$url"
	same status "$status" 0
	CLICKHOUSE_USER=meter CLICKHOUSE_PASSWORD=kept record run.journal --to "$CH_URL"
	same status "$status" 0
	echo "machine 127.0.0.1 login meter password kept" >.netrc
	record run.journal --to "$url"
	same status "$status" 0
	record run.journal --to "$CH_URL"
	same status "$status" 0
	sed -i s/kept/lost/ .netrc
	record run.journal --to "$CH_URL"
	same status "$status" 1
	same "seen" "$(grep -c lost err)" 0
	same runs "$(ask "SELECT count() FROM runs FINAL")" 1
}

@test "clickhouse: bad input is one line, and the right status" {
	local url
	meter -- true
	for url in clickhouse+http:// clickhouse+http://h clickhouse+http://h/ clickhouse+http://h/a/b \
		clickhouse+http://u:secret@h/d 'clickhouse+http://h/d?user=u&password=secret' clickhouse://h/d; do
		record run.journal --to "$url"
		same "$url" "$status" 125
		one_line err
		same "seen" "$(grep -c secret err)" 0
	done
	record run.journal --to "$CH_URL" --worker 3
	same "a scheduler's attempts" "$status" 125
	one_line err
	for url in "clickhouse+http://127.0.0.1:$(free_port)/runs" "${CH_URL%/*}/none" "$CH_URL?nonsense=1" \
		clickhouse+http://nowhere.invalid/runs; do
		record run.journal --to "$url"
		same "$url" "$status" 1
		one_line err
		grep -F "cannot record in $url: " err
	done
}

@test "clickhouse: its recipe" {
	recipe_folder
	CH_DB='' clickhouse_ask "DROP DATABASE runs"
	export HTTP=$CH_HTTP DB=$CH_URL
	recipe_run clickhouse
	until_true 30 nothing_spooled
	ask "$(recipe clickhouse-query)" >rows
	cat rows
	grep "$(printf '^hold\t3\t3[0-9]')" rows
}

@test "clickhouse: tables of a later version, or somebody else's, are left alone" {
	meter -- true
	record run.journal --to "$CH_URL"
	ask "INSERT INTO exitmeter_version VALUES (99)"
	record run.journal --to "$CH_URL"
	same status "$status" 1
	grep -F "its tables are of version 99, this exitmeter knows 1" err
	one_line err
	CH_DB='' clickhouse_ask "DROP DATABASE runs"
	CH_DB='' clickhouse_ask "CREATE DATABASE runs"
	ask "CREATE TABLE runs (a Int64) ENGINE = MergeTree ORDER BY a"
	record run.journal --to "$CH_URL"
	same status "$status" 1
	grep -F "Unknown identifier" err
	one_line err
	same columns "$(ask "SELECT count() FROM system.columns WHERE database = 'runs' AND table = 'runs'")" 1
}
