#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# exitmeter record: runs in databases, exactly once, and nothing lost when one is down.

load helpers
load postgres

setup_file() {
	postgres_home_start
}

teardown_file() {
	postgres_home_stop
}

setup() {
	[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	SHAPE_SEEN=
	export XDG_STATE_HOME=$PWD/state
	SPOOL=$XDG_STATE_HOME/exitmeter
}

# ask KIND SQL: the answer of one database, columns separated by |
ask() {
	case $1 in
	sqlite) python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("" if v is None else str(v) for v in row))' runs.db "$2" ;;
	postgres) psql -X -q -At -v ON_ERROR_STOP=1 "$PG_URL" -c "$2" ;;
	esac
}

# fresh KIND: an empty database; leaves URL
fresh() {
	case $1 in
	sqlite)
		rm -f runs.db*
		URL=sqlite:runs.db
		;;
	postgres)
		[ -n "${PG_HOME:-}" ] || return 1
		postgres_fresh
		URL=$PG_URL
		;;
	esac
}

kinds() {
	echo sqlite
	[ -z "${PG_HOME:-}" ] || echo postgres
}

record() {
	status=0
	"$EXITMETER" record "$@" >out 2>err || status=$?
	cat -v err
}

# lines_of EVENT N: are there N in the journal?
lines_of() {
	[ "$(jq -c --arg e "$1" 'select(.event == $e)' run.journal 2>/dev/null | wc -l)" -eq "$2" ]
}

# spool_empty, in_runs KIND N: what is waited for
spool_empty() {
	[ "$(spooled)" -eq 0 ]
}

in_runs() {
	[ "$(ask "$1" "SELECT count(*) FROM runs" 2>/dev/null)" = "$2" ]
}

spooled() {
	find "$SPOOL" -name '*.jnl' 2>/dev/null | wc -l
}

@test "record: PostgreSQL is there to be tested with" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: the test's server is started by root"
	[ -n "${PG_HOME:-}" ]
}

@test "record: every process of a run, its marks and its figures, once, however often it is written" {
	local kind
	meter --label a=b --run-id one -i 0.05 -- sh -c 'for i in 1 2 3; do /bin/true; done; sleep 0.2; exit 3'
	for kind in $(kinds); do
		fresh "$kind"
		for _ in 1 2; do
			record run.journal --to "$URL"
			same status "$status" 0
			same "said" "$(wc -c <err)" 0
		done
		same runs "$(ask "$kind" "SELECT count(*) FROM runs")" 1
		same code "$(ask "$kind" "SELECT exit_code FROM runs WHERE id = 'one'")" 3
		same peak "$(ask "$kind" "SELECT peak_rss_bytes FROM runs")" "$(summary .usage.peak_rss_bytes)"
		same total "$(ask "$kind" "SELECT total_processes FROM runs")" "$(summary .usage.total_processes)"
		same rows "$(ask "$kind" "SELECT count(*) FROM processes")" "$(grep -c '"event":"process"' run.journal)"
		same marks "$(ask "$kind" "SELECT count(*) FROM marks")" "$(summary '.marks | length')"
		same "rss at the start is not known" "$(ask "$kind" "SELECT rss_bytes FROM marks WHERE n = 1")" ""
		same shell "$(ask "$kind" "SELECT peak_rss_bytes FROM processes WHERE comm = 'sleep'")" "$(row '.comm == "sleep"' .peak_rss_bytes)"
		same host "$(ask "$kind" "SELECT host FROM env")" "$(uname -n)"
		same label "$(ask "$kind" "SELECT labels FROM runs" | tr -d ' ')" '{"a":"b"}'
		same "of the whole" "$(ask "$kind" "SELECT count(*) FROM processes p JOIN runs r ON r.key = p.run WHERE r.split = 0")" \
			"$(grep -c '"event":"process"' run.journal)"
	done
}

@test "record: names and arguments of any bytes, as parameters" {
	local kind odd
	odd=$(printf "x'); DROP TABLE runs; --\t\\\\N \xe9 \xc3\xa9 \x01 \"quoted\"")
	meter -- sh -c 'exit 0' "$odd"
	for kind in $(kinds); do
		fresh "$kind"
		record run.journal --to "$URL"
		same status "$status" 0
		ask "$kind" "SELECT argv FROM processes WHERE comm = 'sh'" >argv.json
		# as every other reader of the journal sees it
		jq -c . argv.json >got.json
		jq -c 'select(.event == "process") | .argv' run.journal >want.json
		cmp got.json want.json
		same runs "$(ask "$kind" "SELECT count(*) FROM runs")" 1
	done
}

@test "record: of two looks at the same journal the longer one stays" {
	local kind
	meter -- sh -c '/bin/true; /bin/true'
	head -n 3 run.journal >cut.journal
	for kind in $(kinds); do
		fresh "$kind"
		record cut.journal --to "$URL"
		same status "$status" 0
		same "cut off" "$(ask "$kind" "SELECT CASE WHEN cut_off THEN 1 ELSE 0 END FROM runs")" 1
		same "no code" "$(ask "$kind" "SELECT exit_code FROM runs")" ""
		record run.journal --to "$URL"
		same rows "$(ask "$kind" "SELECT count(*) FROM processes")" 3
		record cut.journal --to "$URL"
		same status "$status" 0
		# as many lines, but one of them is none
		sed '2s/.*/{"event":/' run.journal >damaged.journal
		record damaged.journal --to "$URL"
		same status "$status" 1
		same rows "$(ask "$kind" "SELECT count(*) FROM processes")" 3
		same "not cut off" "$(ask "$kind" "SELECT CASE WHEN cut_off THEN 1 ELSE 0 END FROM runs")" 0
	done
}

@test "record: the first of many at once make the tables, and all are written" {
	local kind i pids
	for i in 1 2 3 4 5 6; do
		"$EXITMETER" -q --source="$SOURCE" --run-id "run-$i" --journal "run.$i" -- true
	done
	for kind in $(kinds); do
		for _ in 1 2 3; do
			fresh "$kind"
			pids=()
			for i in 1 2 3 4 5 6; do
				"$EXITMETER" record "run.$i" --to "$URL" 2>>errors &
				pids+=("$!")
			done
			for i in "${pids[@]}"; do
				wait "$i" || true
			done
			cat errors
			same said "$(wc -c <errors)" 0
			same runs "$(ask "$kind" "SELECT count(*) FROM runs WHERE exit_code = 0")" 6
		done
	done
}

@test "record: one run of several journals, a row each" {
	local kind
	for kind in $(kinds); do
		fresh "$kind"
		for _ in 1 2; do
			meter --run-id job -- true
			record run.journal --to "$URL"
		done
		same parts "$(ask "$kind" "SELECT count(DISTINCT part) FROM runs WHERE id = 'job'")" 2
	done
}

@test "record: each run of a split tree has its own row" {
	local kind
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	mkfifo go
	sh -c 'read -r _; for i in 1 2 3; do sh -c "/bin/true; exit $i"; done; read -r _' <>go 3>&- &
	meter_background -p "$!" --split
	until_true 10 lines_of run_start 1
	echo >go
	until_true 10 lines_of run_end 3
	echo >go
	meter_wait
	for kind in $(kinds); do
		fresh "$kind"
		record run.journal --to "$URL"
		same status "$status" 0
		same codes "$(ask "$kind" "SELECT exit_code FROM runs WHERE split > 0 ORDER BY split" | tr '\n' ' ')" "1 2 3 "
		same rows "$(ask "$kind" "SELECT count(*) FROM processes WHERE split > 0")" 6
	done
}

@test "record: --to of a run, with nothing left in the spool" {
	local kind
	for kind in $(kinds); do
		fresh "$kind"
		meter --to "$URL" -- sh -c '/bin/true; exit 7'
		same status "$status" 7
		until_true 20 spool_empty
		same code "$(ask "$kind" "SELECT exit_code FROM runs")" 7
		same rows "$(ask "$kind" "SELECT count(*) FROM processes")" 2
	done
}

@test "record: a database that is down leaves the run as it is, and gets it later" {
	[ -n "${PG_HOME:-}" ] || skip "elsewhere: no PostgreSQL"
	fresh postgres
	postgres_stop
	meter --to "$PG_URL" --to sqlite:runs.db -- sh -c 'exit 4'
	same status "$status" 4
	until_true 20 in_runs sqlite 1
	grep -F "cannot record in $PG_URL: " err
	same spooled "$(spooled)" 1
	record --replay
	same status "$status" 1
	postgres_go
	record --replay --to sqlite:other.db
	same "not owed there" "$(test -e other.db && echo there)" ""
	record --replay
	same status "$status" 0
	same spooled "$(find "$SPOOL" -type f | wc -l)" 0
	same code "$(ask postgres "SELECT exit_code FROM runs")" 4
	same once "$(ask sqlite "SELECT count(*) FROM runs")" 1
}

@test "record: killed at any moment, exitmeter too: every run is there once" {
	local kind i pid
	for kind in $(kinds); do
		fresh "$kind"
		rm -rf "$XDG_STATE_HOME"
		for i in $(seq 12); do
			"$EXITMETER" -q --source="$SOURCE" --run-id "run-$i" --to "$URL" -- \
				sh -c '/bin/true; /bin/true' 2>/dev/null &
			pid=$!
			if [ $((i % 3)) -eq 0 ]; then
				python3 -c 'import time,sys; time.sleep(float(sys.argv[1]))' "0.0$i"
				kill -KILL "$pid" 2>/dev/null || true
			fi
			wait "$pid" 2>/dev/null || true
			# and the one that records, before or after it is done
			[ $((i % 4)) -ne 0 ] || kill_recorders "$SPOOL"
		done
		until_true 20 recorders_gone "$SPOOL"
		record --replay
		same status "$status" 0
		same spooled "$(spooled)" 0
		same "every whole run" "$(ask "$kind" "SELECT count(*) FROM runs WHERE id IN ('run-1','run-2','run-4','run-5','run-7','run-8','run-10','run-11')")" 8
		same "none twice" "$(ask "$kind" "SELECT count(*) FROM runs")" "$(ask "$kind" "SELECT count(DISTINCT id) FROM runs")"
		same "with its rows" "$(ask "$kind" "SELECT count(*) FROM processes p JOIN runs r ON r.key = p.run WHERE r.id = 'run-11'")" 3
	done
}

@test "record: a copy of the spool taken at any moment replays to the same runs" {
	local i
	fresh sqlite
	for i in 1 2 3 4 5; do
		"$EXITMETER" -q --source="$SOURCE" --run-id "run-$i" --to "$URL" -- sh -c '/bin/true' &
		cp -r "$SPOOL" "copy-$i" 2>/dev/null || mkdir -p "copy-$i"
		wait "$!"
		cp -r "$SPOOL" "after-$i"
	done
	until_true 20 recorders_gone "$SPOOL"
	record --replay
	for i in copy-* after-*; do
		record --replay --spool "$i"
		same "$i" "$(find "$i" -name '*.jnl' | wc -l)" 0
	done
	same runs "$(ask sqlite "SELECT count(*) FROM runs")" 5
	same whole "$(ask sqlite "SELECT count(*) FROM runs WHERE NOT cut_off AND exit_code = 0")" 5
	same rows "$(ask sqlite "SELECT count(*) FROM processes")" 10
}

@test "record: from a pipe" {
	local text
	fresh sqlite
	meter -- true
	status=0
	"$EXITMETER" record - --to "$URL" <run.journal 2>err || status=$?
	same status "$status" 0
	same runs "$(ask sqlite "SELECT count(*) FROM runs")" 1
	same spooled "$(spooled)" 0
	for text in "" nonsense; do
		status=0
		printf '%s' "$text" | "$EXITMETER" record - --to "$URL" 2>err || status=$?
		same "'$text'" "$status" 1
		one_line err
		same spooled "$(spooled)" 0
	done
}

@test "record: bad input is one line, and the right status" {
	local url
	meter -- true
	record run.journal
	same status "$status" 125
	for url in nonsense sqlite: postgresql://u:secret@h/d 'postgresql://h/d?password=secret' ftp://h/; do
		record run.journal --to "$url"
		same "$url" "$status" 125
		same lines "$(wc -l <err)" 1
		! grep secret err
		meter_raw --to "$url" -- touch ran
		same "$url" "$status" 125
		[ ! -e ran ]
	done
	record run.journal --to sqlite:no/such/folder/x.db
	same status "$status" 1
	same lines "$(wc -l <err)" 1
	echo nonsense >bad.db
	record run.journal --to sqlite:bad.db
	same status "$status" 1
	grep -F "cannot record in sqlite:$PWD/bad.db: file is not a database" err
	echo '{"event":"nothing"}' >foreign.jnl
	record foreign.jnl --to sqlite:runs.db
	same status "$status" 1
	: >empty.jnl
	record empty.jnl --to sqlite:runs.db
	same status "$status" 1
	grep -F "empty.jnl: empty" err
	record missing.jnl --to sqlite:runs.db
	same status "$status" 1
	same runs "$(ask sqlite "SELECT count(*) FROM runs")" 0
}

@test "record: tables of a later version, or somebody else's, are left alone" {
	local kind
	meter -- true
	for kind in $(kinds); do
		fresh "$kind"
		record run.journal --to "$URL"
		case $kind in
		sqlite) python3 -c 'import sqlite3; sqlite3.connect("runs.db").execute("PRAGMA user_version = 99")' ;;
		postgres) ask postgres "UPDATE exitmeter_version SET version = 99" ;;
		esac
		record run.journal --to "$URL"
		same status "$status" 1
		grep -F "its tables are of version 99, this exitmeter knows 1" err
		same lines "$(wc -l <err)" 1
		fresh "$kind"
		case $kind in
		sqlite) python3 -c 'import sqlite3; sqlite3.connect("runs.db").execute("CREATE TABLE runs (a)")' ;;
		postgres) ask postgres "CREATE TABLE runs (a integer)" ;;
		esac
		record run.journal --to "$URL"
		same status "$status" 1
		grep -F "already exists" err
		same lines "$(wc -l <err)" 1
	done
}

@test "record: a spool that others may write to, or that cannot be made, is not used" {
	mkdir -m 777 open
	chmod 777 open
	meter --to sqlite:runs.db --spool open -- sh -c 'exit 5'
	same status "$status" 5
	grep -F "not recorded: the spool cannot be written: others may write there" err
	meter --to sqlite:runs.db --spool /proc/none -- sh -c 'exit 5'
	same status "$status" 5
	same lines "$(wc -l <err)" 1
	ln -s "$PWD/elsewhere" link
	mkdir elsewhere
	meter --to sqlite:runs.db --spool link -- sh -c 'exit 5'
	same status "$status" 5
	same "nothing through a link" "$(find elsewhere -type f | wc -l)" 0
}

@test "record: a run's name of any bytes" {
	local kind
	meter --run-id "$(printf 'a\xff')" -- true
	for kind in $(kinds); do
		fresh "$kind"
		record run.journal --to "$URL"
		same status "$status" 0
		same id "$(ask "$kind" "SELECT id FROM runs")" "$(printf 'a\xc3\xbf')"
	done
}

@test "record: a wrong password, and where the right one comes from" {
	[ -n "${PG_HOME:-}" ] || skip "elsewhere: no PostgreSQL"
	local hba=$PG_DIR/data/pg_hba.conf
	meter -- true
	fresh postgres
	ask postgres "DROP ROLE IF EXISTS guarded; CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'right'"
	sed -i '1i local all guarded scram-sha-256' "$hba"
	ask postgres "SELECT pg_reload_conf()"
	URL="postgresql://guarded@/postgres?host=$PG_DIR"
	echo "*:*:*:guarded:wrong" >pass
	chmod 600 pass
	PGPASSFILE=$PWD/pass record run.journal --to "$URL"
	same status "$status" 1
	grep -F "password authentication failed" err
	same lines "$(wc -l <err)" 1
	run ! grep -F wrong err
	echo "*:*:*:guarded:right" >pass
	PGPASSFILE=$PWD/pass record run.journal --to "$URL"
	same status "$status" 0
	run ! grep -r right run.journal "$XDG_STATE_HOME" err
	same runs "$(ask postgres "SELECT count(*) FROM runs")" 1
}

@test "record: a file that may only be read" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: only root can become another user"
	meter -- true
	fresh sqlite
	record run.journal --to "$URL"
	chmod 644 runs.db*
	sed 's/"id":"[^"]*"/"id":"other"/' run.journal >other.journal
	# where another user gets to; the folder is not his
	local place
	place=$(mktemp -d /tmp/exitmeter-record.XXXXXX)
	cp "$(dirname "$EXITMETER")/exitmeter-record" runs.db other.journal "$place"
	chmod -R a+rX "$place"
	status=0
	(cd "$place" && setpriv --reuid=65534 --clear-groups ./exitmeter-record other.journal --to sqlite:runs.db) 2>err || status=$?
	cp "$place/runs.db" runs.db
	rm -rf "$place"
	cat err
	same status "$status" 1
	one_line err
	same runs "$(ask sqlite "SELECT count(*) FROM runs")" 1
}

# in_small_spool SCRIPT: with a file system of 64 KiB at small
in_small_spool() {
	mkdir -p small
	EXITMETER=$EXITMETER SOURCE=$SOURCE unshare -m sh -c 'mount -t tmpfs -o size=64k,mode=700 none small && eval "$1"' sh "$1"
}

@test "record: the spool's disk is full" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: only root can mount"
	in_small_spool true || skip "elsewhere: nothing can be mounted"
	fresh sqlite
	status=0
	in_small_spool '"$EXITMETER" -q --source="$SOURCE" --run-id full --to sqlite:runs.db --spool small -- \
		sh -c "i=0; while [ \$i -lt 400 ]; do /bin/true; i=\$((i + 1)); done; exit 6"' 2>err || status=$?
	cat err
	same status "$status" 6
	one_line err
	grep -F "cannot write the journal in the spool: No space left on device" err
	# what there was of it is recorded, as cut off
	until_true 20 in_runs sqlite 1
	same "cut off" "$(ask sqlite "SELECT cut_off FROM runs")" 1
}

@test "record: a journal of another version" {
	meter -- true
	fresh sqlite
	sed -i 's,exitmeter.summary/1,exitmeter.summary/9,' run.journal
	record run.journal --to "$URL"
	one_line err
	grep -F "the schema is not exitmeter.summary/1" err
	same "its rows are there" "$(ask sqlite "SELECT count(*) FROM processes")" 1
	same "without its end" "$(ask sqlite "SELECT cut_off FROM runs")" 1
	same status "$status" 1
}
