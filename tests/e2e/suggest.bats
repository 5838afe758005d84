#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# exitmeter suggest and report --from: what databases know of past runs

load helpers
load postgres

setup_file() {
	postgres_home_start
}

teardown_file() {
	postgres_home_stop
}

urls() {
	echo sqlite:runs.db
	[ -z "${PG_HOME:-}" ] || echo "$PG_URL"
}

# of_json FILTER: of the answer
of_json() {
	jq -r "$1" answer.json
}

@test "suggest, report --from and the queries: past runs of two commands on both databases" {
	local url size query largest=0
	export XDG_STATE_HOME=$PWD/state
	for size in 20 60 40; do
		meter_raw --run-id job --label side=before -- "$WORK/hold" populate=$size
		mv run.journal "$size.journal"
		size=$(summary .usage.peak_rss_upper_bytes)
		[ "$size" -lt "$largest" ] || largest=$size
	done
	meter_raw --label side=after -- "$WORK/hold" populate=80
	mv run.journal after.journal
	meter_raw -- sh -c 'exit 3'
	for url in $(urls); do
		"$EXITMETER" record 20.journal 40.journal 60.journal after.journal run.journal --to "$url"

		"$EXITMETER" suggest --from "$url" --command '*populate=[246]0' --json answer.json >out
		same runs "$(of_json .runs)" 3
		same largest "$(of_json .peak_rss_max_bytes)" "$largest"
		within memory "$(of_json .memory_bytes)" "$largest" $((largest * 11 / 10 + MIB))
		grep -F "exitmeter: ask for " out
		"$EXITMETER" suggest --from "$url" --command sh --json - >answer.json
		same failed "$(of_json '"\(.runs) \(.failed)"')" "1 1"

		"$EXITMETER" report --from "$url" --run job --json answer.json 2>err
		same host "$(of_json '.hosts | map("\(.host) \(.journals) \(.processes)") | join(",")')" "$(uname -n) 3 3"
		same "one after the other: no false sum" "$(of_json '.hosts[0].peak_rss_upper_bytes')" "$largest"
		same lines "$(wc -l <err)" 2

		for query in "$ROOT"/doc/queries/*.sql; do
			case $url in
			sqlite:*) python3 -c '
import sqlite3, sys
if sqlite3.sqlite_version_info < (3, 38):
    raise SystemExit("too old")
for row in sqlite3.connect("runs.db").execute(open(sys.argv[1]).read()):
    print(*row, sep="|")' "$query" ;;
			*) psql -X -q -At -v ON_ERROR_STOP=1 "$url" -f "$query" ;;
			esac >"${query##*/}.out"
		done
		same "programs of the runs" "$(grep -c '|hold|' peaks-over-time.sql.out)" 4
		same commands "$(wc -l <sizing.sql.out)" 5
		same "hold grew" "$(cut -d'|' -f1 regressions.sql.out)" hold
		within "by 20 MiB" "$(cut -d'|' -f4 regressions.sql.out)" $((19 * MIB)) $((21 * MIB))
	done
}

@test "suggest, report --from: bad input is one line, and the right status" {
	local status
	for args in "suggest --from sqlite:none.db --command x" "report --from sqlite:none.db --run x"; do
		status=0
		# shellcheck disable=SC2086 # words
		"$EXITMETER" $args 2>err || status=$?
		same "$args" "$status" 1
		one_line err
		[ ! -e none.db ]
	done
	for args in "suggest --from sqlite:x.db" "suggest --command x" "suggest --from x --command y" \
		"report --from sqlite:x.db" "report --run x" "report --from sqlite:x.db --run y --csv" \
		"report --from sqlite:x.db --run y journal"; do
		status=0
		# shellcheck disable=SC2086 # words
		"$EXITMETER" $args 2>err || status=$?
		same "$args" "$status" 125
		one_line err
	done
	echo nonsense >bad.db
	status=0
	"$EXITMETER" suggest --from sqlite:bad.db --command x 2>err || status=$?
	same status "$status" 1
	one_line err
}
