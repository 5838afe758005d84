#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# Under Slurm: what jobs really used where sampling every 30 s saw nothing, one run of many tasks.

load ../e2e/helpers
load ../e2e/postgres
load ports
load slurm
load ../e2e/recipes

setup_file() {
	ENGINE_HOME=$(mktemp -d /tmp/exitmeter-slurm.XXXXXX)
	chmod 755 "$ENGINE_HOME"
	export ENGINE_HOME
	[ "$(id -u)" -eq 0 ] && slurm_there && postgres_there || return 0
	export PG_BIN
	postgres_start "$ENGINE_HOME/pg"
	export PG_DIR
	slurm_start "$ENGINE_HOME/slurm"
}

teardown_file() {
	slurm_stop "$ENGINE_HOME/slurm"
	[ -z "${PG_DIR:-}" ] || postgres_stop || true
	rm -rf "$ENGINE_HOME"
}

setup() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: the test's servers are started by root"
	[ -n "${SLURM_CONF:-}" ] || skip "elsewhere: no Slurm, munge, MariaDB or PostgreSQL"
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_STATE_HOME=$PWD/state
	SPOOL=$XDG_STATE_HOME/exitmeter
	psql -X -q "$PG_URL" -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public' 2>/dev/null
}

# job ARGUMENT...: of srun, under this test's name; leaves out, err and $status
job() {
	status=0
	srun --overcommit -J "$NAME" "$@" >out 2>err || status=$?
	cat out err
}

postgres_ask() {
	psql -X -q -At -v ON_ERROR_STOP=1 "$PG_URL" -c "$1"
}

sqlite_ask() {
	python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("" if v is None else str(v) for v in row))' runs.db "$1"
}

nothing_spooled() {
	[ -z "$(find "$SPOOL" -name '*.jnl' 2>/dev/null)" ]
}

recorded() {
	until_true 30 nothing_spooled
}

# accounted NAME N: does the accounting have so many steps of jobs of this name, all ended?
accounted() {
	[ "$(sacct -n -P --name="$1" -o JobID,State | grep -c '\.[0-9]*|\(COMPLETED\|FAILED\)')" -eq "$2" ]
}

# max_rss NAME: of its job's one step, as Slurm has it
max_rss() {
	until_true 60 accounted "$1" 1
	sacct -n -P --name="$1" -o JobID,MaxRSS | sed -n 's/^[0-9]*\.[0-9]*|//p'
}

# kib TEXT: 500M, 12K or nothing, as a number
kib() {
	numfmt --from=iec --to-unit=1024 "${1:-0}"
}

# low TEXT BYTES: is what Slurm has nothing, or less than a tenth of it?
low() {
	[ "$(kib "$1")" -lt $(($2 / 10240)) ]
}

@test "slurm: it samples what lives long enough, when told to sample more often" {
	NAME=sampled
	job -n1 --acctg-freq=1 "$WORK/hold" touch=100 idle=4000 exit=0
	same status "$status" 0
	within "KiB" "$(kib "$(max_rss "$NAME")")" $((100 * 1024)) $((140 * 1024))
}

@test "slurm: a job of 500 MB and one second" {
	local theirs ours
	NAME=one-second
	job -n1 "$EXITMETER" --to "$PG_URL" --run-id one -- "$WORK/hold" touch=500 idle=900 exit=0
	same status "$status" 0
	recorded
	ours=$(postgres_ask "SELECT peak_rss_bytes FROM runs WHERE id = 'one' AND exact AND exit_code = 0")
	theirs=$(max_rss "$NAME")
	echo "# MaxRSS '$theirs', peak $ours bytes, exits from $(postgres_ask "SELECT source FROM runs")" >&3
	within peak "$ours" $((500 * MIB)) $((520 * MIB))
	low "$theirs" "$ours"
}

@test "slurm: three short children of 200 MB" {
	local theirs ours to
	for to in "$PG_URL" sqlite:runs.db; do
		NAME=short-${to%%:*}
		job -n1 "$EXITMETER" --to "$to" --run-id short -- sh -c '
			for i in 1 2 3; do "$0" touch=200 idle=200 exit=0; done; exit 3' "$WORK/hold"
		same "status of the command" "$status" 3
		recorded
	done
	ours=$(postgres_ask "SELECT peak_rss_bytes FROM runs WHERE exact AND exit_code = 3")
	theirs=$(max_rss short-postgresql)
	echo "# MaxRSS '$theirs', peak $ours bytes, exits from $(postgres_ask "SELECT source FROM runs")" >&3
	within peak "$ours" $((200 * MIB)) $((220 * MIB))
	same children "$(postgres_ask "SELECT count(*) FROM processes WHERE comm = 'hold' AND peak_rss_bytes BETWEEN 200 * $MIB AND 220 * $MIB")" 3
	low "$theirs" "$ours"
	within "peak in SQLite" "$(sqlite_ask "SELECT peak_rss_bytes FROM runs")" $((200 * MIB)) $((220 * MIB))
	same children "$(sqlite_ask "SELECT count(*) FROM processes WHERE comm = 'hold' AND peak_rss_bytes BETWEEN 200 * $MIB AND 220 * $MIB")" 3
}

# ended ID...: have these jobs?
ended() {
	local id
	for id; do
		[ -z "$(squeue -h -j "$id" 2>/dev/null)" ] || return 1
	done
}

@test "slurm: two jobs of two tasks, on one node and on two, are two runs of two parts" {
	local ids=() i
	recipe_folder
	export DB=$PG_URL
	recipe slurm-job >job.sh
	printf '#!/bin/sh\nexec "$WORK/hold" touch=$((100 + 50 * SLURM_PROCID)) idle=300 exit=0\n' >solve
	chmod +x solve
	for i in 1 2; do
		ids+=("$(sbatch --parsable -N "$i" -o "job.$i" job.sh)")
	done
	until_true 120 ended "${ids[@]}"
	cat job.1 job.2
	recorded
	for i in "${ids[@]}"; do
		same "parts of job $i" "$(postgres_ask "SELECT count(*), count(DISTINCT part) FROM runs WHERE id = '$i' AND exit_code = 0")" "2|2"
		same "their peaks" "$(postgres_ask "SELECT peak_rss_bytes / (10 * $MIB) FROM runs WHERE id = '$i' ORDER BY 1" | tr '\n' ' ')" "10 15 "
		same "a journal for each task" "$(cat "$i.0.journal" "$i.1.journal" | grep -c '"event":"summary"')" 2
		JOB=$i recipe_run slurm-report >"report.$i" 2>&1
		cat "report.$i"
	done
	same "hosts of the first" "$(grep -o 'node[12]' "report.${ids[0]}" | sort -u | wc -l)" 1
	same "hosts of the second" "$(grep -o 'node[12]' "report.${ids[1]}" | sort -u | tr '\n' ' ')" "node1 node2 "
	recipe slurm-query | psql -X -q -At -v ON_ERROR_STOP=1 "$DB" >rows
	cat rows
	same "jobs and tasks of a host" "$(cut -d'|' -f1,3 rows | sort)" \
		"$(printf '%s|2\n%s|1\n%s|1\n' "${ids[0]}" "${ids[1]}" "${ids[1]}" | sort)"
}

@test "slurm: a job that is cancelled is recorded as far as it came" {
	NAME=cancelled
	srun --overcommit -n1 -J "$NAME" "$EXITMETER" -q --to "$PG_URL" --run-id gone --label "job=$NAME" \
		--json sum.json -- "$WORK/hold" touch=100 tell=started pause >out 2>err 3>&- &
	local srun=$!
	mkfifo started
	read -r _ <>started
	scancel --name="$NAME"
	wait "$srun" || true
	cat err
	recorded
	same signal "$(postgres_ask "SELECT exit_signal FROM runs WHERE id = 'gone'")" 15
	within peak "$(postgres_ask "SELECT peak_rss_bytes FROM runs WHERE id = 'gone'")" $((100 * MIB)) $((120 * MIB))
}

@test "slurm: a user without privileges sees the same peak" {
	local home=$ENGINE_HOME/user
	mkdir "$home"
	cp "$EXITMETER" "${EXITMETER%/*}"/exitmeter-record "$WORK/hold" "$home"
	chown -R daemon "$home"
	chmod -R a+rX "$home"
	NAME=plain-user
	cd "$home" || return 1
	setpriv --reuid=daemon --regid=daemon --clear-groups -- env HOME="$home" XDG_STATE_HOME="$home/state" \
		srun --overcommit -n1 -J "$NAME" "$home/exitmeter" --to "sqlite:$home/runs.db" -- \
		"$home/hold" touch=300 idle=200 exit=0 >"$home/out" 2>&1 3>&- || {
		cat "$home/out"
		return 1
	}
	SPOOL=$home/state/exitmeter
	recorded
	echo "# exits from $(sqlite_ask "SELECT source FROM runs")" >&3
	same source "$(sqlite_ask "SELECT source, exact FROM runs")" "ptrace|1"
	within peak "$(sqlite_ask "SELECT peak_rss_bytes FROM runs")" $((300 * MIB)) $((320 * MIB))
}
