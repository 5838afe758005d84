#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# Databases that stop, recorders and exitmeters that are killed: every run is there exactly once.

load ../e2e/helpers
load ../e2e/postgres

export BATS_TEST_TIMEOUT=900

setup_file() {
	postgres_home_start
}

teardown_file() {
	postgres_home_stop
}

setup() {
	[ -n "${PG_HOME:-}" ] || skip "elsewhere: no PostgreSQL, or not root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	export XDG_STATE_HOME=$PWD/state
	SPOOL=$XDG_STATE_HOME/exitmeter
	mkdir journals
	postgres_fresh
}

# one ID: becomes a run of three processes, recorded, its journal kept
one() {
	exec "$EXITMETER" -q --run-id "$1" --journal "journals/$1" --to "$PG_URL" -- sh -c '/bin/true; /bin/true' 2>/dev/null
}

# at_random MS: some moment before that
at_random() {
	sleep "0.$(printf %03d $((RANDOM % $1)))"
}

ask() {
	psql -X -q -At -v ON_ERROR_STOP=1 "$PG_URL" -c "$1"
}

# agree: what the database has of whole journals is what these have
agree() {
	until_true 60 recorders_gone "$SPOOL"
	"$EXITMETER" record --replay
	same "left in the spool" "$(find "$SPOOL" -type f | wc -l)" 0
	jq -r 'select(.event == "summary") | .run.id' journals/* | sort >whole
	sed 's,^,journals/,' whole | xargs jq -r 'select(.event == "process") |
		"\(input_filename | sub(".*/"; ""))|\(.pid)|\(.comm)|\(.peak_rss_bytes)"' | sort | sha256sum >want
	ask "SELECT r.id || '|' || p.pid || '|' || p.comm || '|' || p.peak_rss_bytes
		FROM processes p JOIN runs r ON r.key = p.run WHERE NOT r.cut_off" | LC_ALL=C sort | sha256sum >got
	echo "whole journals: $(wc -l <whole), runs: $(ask 'SELECT count(*) FROM runs'), cut off: $(ask 'SELECT count(*) FROM runs WHERE cut_off')" >&3
	same "whole runs" "$(ask 'SELECT count(*) FROM runs WHERE NOT cut_off')" "$(wc -l <whole)"
	same "none twice" "$(ask 'SELECT count(*) FROM runs')" "$(ask 'SELECT count(DISTINCT id) FROM runs')"
	cmp want got
}

@test "500 runs end while the database is away for ten seconds" {
	local i away
	for i in $(seq 500); do
		if [ "$i" -eq 200 ]; then
			(
				postgres_stop
				sleep 10 # it is away that long; nothing is waited for
				postgres_go
			) 3>&- 4>&- &
			away=$!
		fi
		(one "run-$i")
	done
	wait "$away"
	agree
	same whole "$(wc -l <whole)" 500
}

@test "a recorder is killed a hundred times" {
	local i
	for i in $(seq 100); do
		one "run-$i" &
		at_random 150
		kill_recorders "$SPOOL"
		wait "$!"
	done
	# and those that bring in what waits
	for i in $(seq 10); do
		"$EXITMETER" record --replay --spool "$SPOOL" 2>/dev/null &
		at_random 80
		kill_recorders "$SPOOL"
		wait "$!" || true
	done
	agree
	same whole "$(wc -l <whole)" 100
}

@test "an exitmeter is killed a hundred times" {
	local i pid
	for i in $(seq 100); do
		one "run-$i" &
		pid=$!
		at_random 80
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
	agree
}
