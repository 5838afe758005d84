#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# Attempts in a scheduler's own database (SPEC 1.12 and 1.13): each rule on SQLite and PostgreSQL.

load helpers
load postgres

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	postgres_there || return 0
	# the server's user must reach it, whatever TMPDIR is
	PG_HOME=$(mktemp -d /tmp/exitmeter-pg.XXXXXX)
	chmod 755 "$PG_HOME"
	export PG_HOME PG_BIN
	postgres_start "$PG_HOME/pg"
	export PG_DIR
}

teardown_file() {
	[ -n "${PG_HOME:-}" ] || return 0
	postgres_stop || true
	rm -rf "$PG_HOME"
}

setup() {
	[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	SERVER_PID=
	SHAPE_SEEN=
	ROWS=
	ROWS_OF=
	export XDG_STATE_HOME=$PWD/state
	SPOOL=$XDG_STATE_HOME/exitmeter
}

kinds() {
	echo sqlite
	[ -z "${PG_HOME:-}" ] || echo postgres
}

# ask KIND SQL: the answer of one database, columns separated by |
ask() {
	case $1 in
	sqlite) /usr/bin/python3 -S -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20)
sql = ""
for part in (sys.argv[2] + ";").split(";"):
    sql += part + ";"
    if sqlite3.complete_statement(sql):
        for row in db.execute(sql):
            print("|".join("" if v is None else str(v) for v in row))
        sql = ""
db.commit()' sched.db "$2" ;;
	postgres) psql -X -q -At -v ON_ERROR_STOP=1 "$PG_URL" -c "$2" ;;
	esac
}

# fresh KIND [TYPE]: a scheduler's empty tables, runs of that type; leaves URL
fresh() {
	local run=${2:-bigint}
	case $1 in
	sqlite)
		rm -f sched.db*
		URL=sqlite:sched.db
		ask sqlite "CREATE TABLE attempts (id integer PRIMARY KEY, run $run, pid integer,
			started_at text, ended_at text, peak_rss_bytes integer, cpu_seconds real, peak_cpus real);
			CREATE TABLE starts (run $run, no integer, worker integer)"
		;;
	postgres)
		URL=$PG_URL
		psql -X -q "$URL" -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public' 2>/dev/null
		ask postgres "CREATE TABLE attempts (id bigint PRIMARY KEY, run $run, pid integer,
			started_at timestamptz, ended_at timestamptz, peak_rss_bytes bigint,
			cpu_seconds double precision, peak_cpus double precision);
			CREATE TABLE starts (run $run, no integer, worker integer)"
		;;
	esac
}

# attempt KIND ID RUN PID STARTED [ENDED]: at seconds of the run that BEGAN; there once it has begun
attempt() {
	ROWS+="INSERT INTO attempts (id, run, pid, started_at, ended_at) VALUES ($2, '$3', $4,
		$(moment "$1" "$5"), $(moment "$1" "${6:-NULL}"));"
	[ "$ROWS_OF" = "$1" ] || ROWS_OF=$1
}

# moment KIND SECONDS: that time of the run, as SQL
moment() {
	case $1 in
	sqlite) echo "strftime('%Y-%m-%d %H:%M:%f', $BEGAN + $2, 'unixepoch')" ;;
	postgres) echo "to_timestamp($BEGAN + $2)" ;;
	esac
}

# begun: what attempt told of is in the database; record does it too
begun() {
	SEEN=
	[ -z "$ROWS" ] || {
		local rows=$ROWS
		ROWS=
		ask "$ROWS_OF" "$rows"
	}
}

# worked_example RUN PID [VARIABLES]: a journal of one run of a split tree, SPEC 1.10: from 0 to 5.5,
# aged at 6, which was half a minute ago
worked_example() {
	BEGAN=$(jq -n 'now - 36 | . * 1000 | floor / 1000')
	jq -nc --argjson at "$BEGAN" --arg run "$1" --argjson pid "$2" --argjson variables "${3:-null}" '
		{event: "run_start", t: 0, source: {}, env: {},
		 run: {id: "whole", pid: 1, started_at: ($at | floor | todate | sub("Z"; "")
			+ "." + ($at * 1000 | round % 1000 + 1000 | tostring[1:]) + "Z")}},
		{event: "run_end", t: 6, run: 1, name: $run, pid: $pid,
		 usage: {peak_rss_process_bytes: 734003200},
		 marks: [[6,-1,0,-1],[5,104857600,0.9,0.9],[4,314572800,2.8,1.9],[3,262144000,4.6,1.8],
			[2,838860800,8.5,3.9],[1,125829120,8.7,0.2],[0.5,-1,9,-1]]}
		| if .event == "run_end" and $variables then .variables = $variables else . end' >run.journal
}

record() {
	begun
	status=0
	"$EXITMETER" record "$@" >out 2>err || status=$?
	cat -v err
}

# recorded OPTION...: into URL, and nothing is said
recorded() {
	record run.journal --to "$URL" "$@"
	same status "$status" 0
	same said "$(wc -c <err)" 0
}

# share KIND ID PEAK CPU CPUS: what is written of one attempt, CPU within half a second:
# what it takes to ask a database is no age that anybody knows
share() {
	if [ "$SEEN" != "$1" ]; then
		ask "$1" "SELECT id, peak_rss_bytes, cpu_seconds, peak_cpus FROM attempts" >shares
		SEEN=$1
	fi
	echo "$1, want $2|$3|$4|$5 of:" && cat shares
	awk -F'|' -v id="$2" -v peak="$3" -v cpu="$4" -v cpus="$5" '
		function close_to(a, b, by) { return a == "" || b == "" ? a == b : a - b <= by && b - a <= by }
		$1 == id { n++; ok = $2 == peak && close_to($3, cpu, 0.5) && close_to($4, cpus, 1e-9) }
		END { exit n != 1 || !ok }' shares
}

untouched() {
	share "$1" "$2" "" "" ""
}

# refused PATTERN OPTION...: one line, status 1, and no share is written
refused() {
	local pattern=$1
	shift
	record run.journal --to "$URL" "$@"
	same status "$status" 1
	one_line err
	# shellcheck disable=SC2053
	[[ $(cat err) == $pattern ]]
}

@test "attempts: PostgreSQL is there to be tested with" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: the test's server is started by root"
	[ -n "${PG_HOME:-}" ]
}

@test "U-90, U-91: each attempt of that run and process has its share; of others, and of what is unknown, nothing" {
	local kind
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 2.5
		attempt "$kind" 2 17 4242 2.5 4.4
		attempt "$kind" 3 17 4242 4.5 4.6
		attempt "$kind" 4 17 4242 4.7
		attempt "$kind" 5 17 4243 0.2 2.5
		attempt "$kind" 6 18 4242 0.2 2.5
		attempt "$kind" 7 17 4242 -14 -4
		recorded --worker 0
		share "$kind" 1 314572800 3.52 1.9
		share "$kind" 2 838860800 4.88 3.9
		share "$kind" 3 125829120 0.02 0.2
		share "$kind" 4 125829120 0.36 0.2
		untouched "$kind" 5
		untouched "$kind" 6
		untouched "$kind" 7
	done
}

@test "U-91: a part that is unknown is NULL; U-74: the only attempt is raised to the largest process" {
	local kind
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 5.1
		attempt "$kind" 2 17 4242 5.3 5.45
		# an attempt that did not begin is none
		ask "$kind" "INSERT INTO attempts (id, run, pid) VALUES (3, 17, 4242)"
		recorded --worker 0
		share "$kind" 1 838860800 8.58 3.9
		share "$kind" 2 "" 0.09 ""
		fresh "$kind"
		attempt "$kind" 1 17 4242 4.5 4.6
		recorded --worker 0
		share "$kind" 1 734003200 0.02 0.2
	done
}

@test "U-94: written once, whatever of it was there" {
	local kind
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 2.5
		attempt "$kind" 2 17 4242 2.5
		begun
		ask "$kind" "UPDATE attempts SET peak_cpus = 7 WHERE id = 2"
		recorded --worker 0
		share "$kind" 1 314572800 3.52 1.9
		share "$kind" 2 "" "" 7
		ask "$kind" "UPDATE attempts SET peak_rss_bytes = 5 WHERE id = 1"
		recorded --worker 0
		share "$kind" 1 5 3.52 1.9
	done
}

@test "U-93: only while the start is still the worker's" {
	local kind
	worked_example 17 4242 '{"START_NO":"3"}'
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 2.5
		ask "$kind" "INSERT INTO starts VALUES (17, 2, 9), (17, 3, 8), (18, 3, 9)"
		# another worker's start; one of another run; one that is not there
		recorded --worker 9 --start 3
		recorded --worker 9 --start ENV:START_NO
		recorded --worker 9 --start 4
		untouched "$kind" 1
		ask "$kind" "UPDATE starts SET worker = 9 WHERE run = 17 AND no = 3"
		recorded --worker 9 --start ENV:START_NO
		share "$kind" 1 734003200 3.52 1.9
		# without a fence no table of starts is needed
		ask "$kind" "UPDATE attempts SET peak_rss_bytes = NULL, cpu_seconds = NULL, peak_cpus = NULL"
		ask "$kind" "DROP TABLE starts"
		recorded --worker 0
		share "$kind" 1 734003200 3.52 1.9
		refused '*starts*' --worker 9 --start 3
	done
}

@test "U-93: a start that nobody knows fences: nothing is written, and it is said" {
	local kind variables
	for variables in null '{"START_NO":null}' '{"START_NO":"x"}'; do
		worked_example 17 4242 "$variables"
		for kind in $(kinds); do
			fresh "$kind"
			attempt "$kind" 1 17 4242 0.2 2.5
			record run.journal --to "$URL" --worker 9 --start ENV:START_NO
			same status "$status" 0
			one_line err
			[[ $(cat err) == *"no attempts of run '17': "*START_NO* ]]
			untouched "$kind" 1
		done
	done
	record run.journal --to sqlite:sched.db --worker 9
	same status "$status" 125
	one_line err
}

@test "U-92: no clock of the meter's enters the database: ages of two moments, one share" {
	local kind began
	# a database that is an hour behind: all its times are, and its now
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		began=$BEGAN
		BEGAN=$(jq -n "$BEGAN - 3600")
		attempt "$kind" 1 17 4242 0.2 2.5
		attempt "$kind" 2 17 4242 2.5 4.8
		BEGAN=$began
		case $kind in
		sqlite) echo "SELECT id, (julianday('now', '-1 hour') - julianday(started_at)) * 86400,
			(julianday('now', '-1 hour') - julianday(ended_at)) * 86400 FROM attempts
			WHERE run = :run AND pid = :pid" >select.sql ;;
		postgres) echo "SELECT id, extract(epoch FROM now() - interval '1 hour' - started_at),
			extract(epoch FROM now() - interval '1 hour' - ended_at) FROM attempts
			WHERE run = :run AND pid = :pid" >select.sql ;;
		esac
		recorded --select-sql select.sql
		share "$kind" 1 314572800 3.52 1.9
		share "$kind" 2 838860800 4.96 3.9
	done
}

@test "U-96: tables as a scheduler has them: other names, keys that are words" {
	local kind
	worked_example job/17 4242
	for kind in $(kinds); do
		fresh "$kind" text
		ask "$kind" "CREATE TABLE tries (key text PRIMARY KEY, job text, process integer, since double precision,
			upto double precision, mem bigint, cpu double precision, note text);
			INSERT INTO tries (key, job, process, since, upto) VALUES
			('a:1', 'job/17', 4242, $(jq -n "$BEGAN + 0.2"), $(jq -n "$BEGAN + 2.5")),
			('b''2', 'job/17', 4242, $(jq -n "$BEGAN + 2.5"), NULL)"
		case $kind in
		sqlite) now="(julianday('now') - 2440587.5) * 86400" ;;
		postgres) now="extract(epoch FROM now())" ;;
		esac
		cat >select.sql <<-END
			/* ':pid' */ SELECT key, $now - since, $now - upto -- :run
			FROM tries WHERE job = :run AND process = :pid
		END
		echo "UPDATE tries SET mem = :peak, cpu = :cpu, note = ':id' WHERE key = :id AND mem IS NULL" >update.sql
		recorded --select-sql select.sql --update-sql update.sql
		same first "$(ask "$kind" "SELECT mem, note FROM tries WHERE key = 'a:1'")" '314572800|:id'
		same second "$(ask "$kind" "SELECT mem, note FROM tries WHERE key = 'b''2'")" '838860800|:id'
	done
}

@test "names are parameters, never SQL; of a run that no run can be called nothing is written" {
	local kind odd="17'; DROP TABLE attempts; --"
	worked_example "$odd" 4242
	for kind in $(kinds); do
		fresh "$kind" text
		attempt "$kind" 1 "${odd//\'/\'\'}" 4242 0.2 2.5
		recorded --worker 0
		share "$kind" 1 734003200 3.52 1.9
	done
	[ -n "${PG_HOME:-}" ] || return 0
	fresh postgres
	record run.journal --to "$URL" --worker 0
	same status "$status" 0
	one_line err
	[[ $(cat err) == *'no attempts of run '*'invalid input syntax'* ]]
}

@test "what is wrong with tables or statements is one line, and nothing is written" {
	local kind
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 2.5
		echo "SELECT id, 1 FROM attempts WHERE run = :run AND pid = :pid" >two.sql
		refused '*gives 2 columns*' --select-sql two.sql
		echo "SELECT id, 'x', 'y' FROM attempts WHERE run = :run AND pid = :pid" >words.sql
		refused "*gives 'x', no age*" --select-sql words.sql
		echo "SELECT id, 1, 1 FROM attempts WHERE run = :run AND pid = :pid; DROP TABLE starts" >more.sql
		refused '*' --select-sql more.sql
		ask "$kind" "SELECT * FROM starts"
		echo "UPDATE attempts SET peak_rss_bytes = :peak WHERE id = :id AND x = :nobody" >other.sql
		refused "*':nobody' is no parameter*" --update-sql other.sql
		echo "UPDATE attempts SET peak_rss_bytes = :peak WHERE id = :id" >unfenced.sql
		refused '*:worker and :start are missing*' --update-sql unfenced.sql --worker 9 --start 1
		echo "UPDATE attempts SET peak_rss_bytes = 1 WHERE id = :id" >none.sql
		refused '*:peak, :cpu and :cpus are missing*' --update-sql none.sql
		untouched "$kind" 1
		ask "$kind" "ALTER TABLE attempts RENAME COLUMN peak_cpus TO cores"
		refused '*peak_cpus*' --worker 0
		ask "$kind" "DROP TABLE attempts"
		refused '*attempts*' --worker 0
	done
	record run.journal --to sqlite:not-there.db --worker 0
	same status "$status" 1
	one_line err
	[ ! -e not-there.db ]
	record run.journal --to sqlite:sched.db --select-sql not-there.sql
	same status "$status" 125
	one_line err
}

@test "a run alone, from its --to: attempts of its processes, exact where they lived inside" {
	local kind pid
	exits_needed "shares of processes between two samples"
	for kind in $(kinds); do
		fresh "$kind"
		cat >begin.sh <<-'END'
			echo $$ >told
			read -r x <go
			"$WORK/hold" touch=30 exit=0
		END
		rm -f told go
		mkfifo told go
		START_NO=5 "$EXITMETER" -q --source="$SOURCE" --run-id 17 --to "$URL" --worker 2 --start ENV:START_NO \
			-- bash begin.sh 3>&- 2>err &
		METER_PID=$!
		read -r pid <told
		BEGAN=$(jq -n now)
		ask "$kind" "INSERT INTO starts VALUES (17, 5, 2)"
		attempt "$kind" 1 17 "$pid" -1000 0
		attempt "$kind" 2 17 "$pid" 0
		begun
		echo x >go
		wait "$METER_PID"
		METER_PID=
		cat err
		until_true 20 spool_empty
		ask "$kind" "SELECT id, peak_rss_bytes / 1048576 FROM attempts ORDER BY id" >got
		cat got
		sed -n 2p got | grep -qE '^2\|3[0-9]$'
	done
}

spool_empty() {
	[ "$(find "$SPOOL" -name '*.jnl' 2>/dev/null | wc -l)" -eq 0 ]
}

# scheduler.sh: three runs of one process each, which wait at hold1 to hold3, told of in ids
scheduler() {
	rm -f told go hold? ids run.journal
	mkfifo told go hold1 hold2 hold3
	cat >scheduler.sh <<-'END'
		echo $$ >told
		read -r x <go
		for i in 1 2 3; do
			JOB=$i START_NO=$((i + 4)) "$WORK/hold" touch=$((i * 10)) wait=hold$i exit=0 &
			echo "$i $!" >>ids
		done
		wait
		read -r x <go
	END
	bash scheduler.sh 3>&- &
	SCHEDULER=$!
	read -r pid <told
}

written() {
	[ "$(ask "$1" "SELECT count(*) FROM attempts WHERE peak_rss_bytes IS NOT NULL" 2>/dev/null)" = "$2" ]
}

told_are() {
	[ "$(wc -l <ids 2>/dev/null)" = "$1" ]
}

@test "a scheduler that is attached to: each run's attempts as it ends, fenced by its own start" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	local kind i job
	for kind in $(kinds); do
		fresh "$kind"
		scheduler
		meter_background -p "$pid" --split-key ENV:JOB --worker 2 --start ENV:START_NO --to "$URL"
		until_true 10 test -s run.journal
		echo x >go
		until_true 10 told_are 3
		BEGAN=$(jq -n now)
		while read -r i job; do
			attempt "$kind" "$i" "$i" "$job" 0
		done <ids
		begun
		ask "$kind" "INSERT INTO starts VALUES (1, 5, 2), (2, 6, 3), (3, 7, 2)"
		# one after the other, while the scheduler lives
		echo x >hold1
		until_true 20 written "$kind" 1
		kill -0 "$SCHEDULER"
		echo x >hold2
		echo x >hold3
		until_true 20 written "$kind" 2
		kill -0 "$SCHEDULER"
		echo x >go
		meter_wait
		until_true 20 spool_empty
		same "whose it was" "$(ask "$kind" "SELECT id, peak_rss_bytes / 10485760 FROM attempts ORDER BY id" | paste -sd' ')" \
			'1|1 2| 3|3'
		# what the journal holds is enough, later too
		ask "$kind" "UPDATE starts SET worker = 2"
		recorded --worker 2 --start ENV:START_NO
		written "$kind" 3
	done
}

@test "U-97: a database that is down loses nothing and fails nothing: it waits in the spool with its options" {
	[ -n "${PG_HOME:-}" ] || skip "elsewhere: the test's server is started by root"
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	local i job
	fresh postgres
	echo "UPDATE attempts SET peak_rss_bytes = :peak WHERE id = :id AND peak_rss_bytes IS NULL" >update.sql
	scheduler
	echo x >go &
	until_true 10 told_are 3
	BEGAN=$(jq -n now)
	while read -r i job; do
		attempt postgres "$i" "$i" "$job" 0
	done <ids
	begun
	meter_background -p "$pid" --split-key ENV:JOB --to "$URL" --update-sql update.sql
	until_true 10 test -s run.journal
	postgres_stop
	rm update.sql
	echo x >hold1
	echo x >hold2
	until_true 10 ends 2
	# it comes back while others still run: nobody has to ask for it
	postgres_go
	until_true 30 written postgres 2
	postgres_stop
	echo x >hold3
	until_true 10 ends 3
	echo x >go
	meter_wait
	until_true 30 one_spooled
	postgres_go
	record --replay
	same status "$status" 0
	until_true 30 spool_empty
	written postgres 3
}

ends() {
	[ "$(grep -c '"event":"run_end"' run.journal)" -eq "$1" ]
}

# The run is over, its recorder has given up, and it is there.
one_spooled() {
	! spool_empty && flock -n "$SPOOL"/*.jnl true
}

recorders() {
	local file
	grep -lF "$SPOOL" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
		[[ $(cat "${file%/*}/comm" 2>/dev/null) != exitmeter-recor ]] || basename "${file%/*}"
	done
}

@test "U-97: a recorder that is killed while runs end: after a replay each share is there once" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	local i job p
	fresh sqlite
	scheduler
	meter_background -p "$pid" --split-key ENV:JOB --worker 0 --to "$URL"
	until_true 10 test -s run.journal
	echo x >go
	until_true 10 told_are 3
	BEGAN=$(jq -n now)
	while read -r i job; do
		attempt sqlite "$i" "$i" "$job" 0
	done <ids
	begun
	echo x >hold1
	until_true 20 written sqlite 1
	for p in $(recorders); do
		kill -KILL "$p" 2>/dev/null || true
	done
	# one that was written is not written again, whatever is there now
	ask sqlite "UPDATE attempts SET peak_rss_bytes = 1 WHERE id = 1"
	echo x >hold2
	echo x >hold3
	until_true 10 ends 3
	echo x >go
	meter_wait
	one_spooled
	record --replay
	same status "$status" 0
	spool_empty
	same shares "$(ask sqlite "SELECT id, peak_rss_bytes / 10485760 FROM attempts ORDER BY id" | paste -sd' ')" \
		'1|0 2|2 3|3'
}

# ---- a server ---------------------------------------------------------------------------------

# server STATUS ANSWER: on a port of its own, in URL; each request is a line of requests
server() {
	cat >server.py <<-'END'
		import gzip, http.server, json, sys, time
		class Handler(http.server.BaseHTTPRequestHandler):
		    protocol_version = "HTTP/1.1"
		    def do_POST(self):
		        at = time.time()
		        body = self.rfile.read(int(self.headers["Content-Length"]))
		        packed = self.headers.get("Content-Encoding")
		        if packed:
		            body = gzip.decompress(body)
		        with open("requests", "a") as f:
		            f.write(json.dumps({"path": self.path, "packed": packed, "at": at, "size": len(body),
		                "auth": self.headers.get("Authorization"), "body": json.loads(body)}) + "\n")
		        answer = sys.argv[2].encode()
		        self.send_response(int(sys.argv[1]))
		        self.send_header("Content-Length", str(len(answer)))
		        self.end_headers()
		        self.wfile.write(answer)
		    def log_message(self, *args):
		        pass
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	server_stop
	rm -f requests port
	mkfifo port
	/usr/bin/python3 -S server.py "$@" >port 3>&- &
	SERVER_PID=$!
	read -r PORT <port
	URL=http://127.0.0.1:$PORT
}

server_stop() {
	[ -z "$SERVER_PID" ] || kill "$SERVER_PID" 2>/dev/null || true
	SERVER_PID=
}

teardown() {
	server_stop
	[ -z "$METER_PID" ] || kill -TERM "$METER_PID" 2>/dev/null || true
	local fifo
	for fifo in *; do
		[ ! -p "$fifo" ] || echo x 1<>"$fifo"
	done
}

@test "U-101: one POST of the meter, ages before the request, from a run and from a split tree" {
	worked_example 17 4242
	server 200 '{"attempts":2}'
	recorded --worker 9 --start 3
	holds "its ages are of the request" '
		.at as $at | .body.marks as $m | ($at - ($m[-1][0] + $m[0][0]) / 2) as $middle | ($m | length) == 7 and
		$m[0][0] - $m[-1][0] > 5.4999 and $m[0][0] - $m[-1][0] < 5.5001 and
		($at - $m[0][0] - '"$BEGAN"' | fabs) < 2' requests
	holds "who" '.path == "/api/worker/exited" and .auth == null and .packed == null and
		(.body | .run == 17 and .pid == 4242 and .worker == 9 and .start == 3 and .max_rss == 734003200
		and .exits == [] and .marks[4][1:] == [838860800, 8.5, 3.9])' requests
	server 200 '{"attempts":2}'
	meter --run-id one -- sh -c 'for i in 1 2 3; do /bin/true; done'
	EXITMETER_TOKEN=secret record run.journal --to "$URL/other?x=1"
	same status "$status" 0
	exits_needed "what is in it"
	holds "of a run alone" '.path == "/other?x=1" and .auth == "Bearer secret" and (.body | .run == "one" and
		.worker == 0 and (.exits | length) == 4 and .max_rss > 0 and (.marks | length) >= 2 and
		all(.exits[]; .[0] >= .[1] and .[2] > 0 and .[3] > 0))' requests
	holds "the pid" ".body.pid == $(summary .run.pid)" requests
}

@test "U-101: at most 4096 processes, the largest by peak and by CPU; packed above 64 KiB" {
	worked_example 17 4242
	jq -c --argjson n 5000 'if .event == "run_start" then ., (range($n) | {event: "process", t: 1, run: 1, pid: (. + 10),
		ppid: 1, comm: "p", argv: null, started: 1, ended: 2, running: false, peak_rss_bytes: (. + 1),
		peak_rss_exact: true, cpu_seconds: (5000 - .) }) else . end' run.journal >more.journal
	server 200 '{"attempts":0}'
	record more.journal --to "$URL"
	same status "$status" 0
	holds "packed" '.packed == "gzip" and .size > 65536' requests
	holds "the largest" '.body.exits | length == 4096 and (map(.[2]) | max == 5000 and min == 1) and
		(map(.[2]) | sort | .[2047] == 2048 and .[2048] == 2953)' requests
}

@test "a refusal is one line with the server's reason; what may be mended stays in the spool" {
	worked_example 17 4242
	server 422 '{"error":"marks: an age is larger\nthan before"}'
	refused '*HTTP 422: marks: an age is larger*'
	server 401 'no token'
	refused '*HTTP 401: no token'
	server 503 ''
	refused '*HTTP 503'
	server 200 '<html>It works'
	refused '*HTTP 200, but no count of attempts: it takes no meters'
	server 200 '{"attempts":-3}'
	refused '*HTTP 200, but no count of attempts: it takes no meters'
	server 503 ''
	# a run is not failed by it, and nothing is lost
	status=0
	"$EXITMETER" --source="$SOURCE" -q --to "$URL" -- sh -c 'exit 3' 2>err || status=$?
	same status "$status" 3
	one_line err
	[[ $(cat err) == *'HTTP 503'* ]]
	until_true 10 one_spooled
	local port=$PORT
	server_stop
	record --replay
	same status "$status" 1
	one_line err
	one_spooled
	sed -i "s/\"127.0.0.1\", 0/\"127.0.0.1\", $port/" server.py
	/usr/bin/python3 -S server.py 200 '{"attempts":1}' >port 3>&- &
	SERVER_PID=$!
	read -r PORT <port
	record --replay
	same status "$status" 0
	spool_empty
	holds "it came once" '.body.pid > 0' requests
	# passwords come from netrc, not from the command line
	echo "machine 127.0.0.1 login me password secret" >.netrc
	chmod 600 .netrc
	HOME=$PWD recorded
	same auth "$(tail -n 1 requests | jq -r .auth)" "Basic $(printf me:secret | base64)"
	record run.journal --to "http://me:secret@127.0.0.1:$PORT"
	same status "$status" 125
	one_line err
	[[ $(cat err) != *secret* ]]
}

# serve OPTION...: exitmeter serve on a port of its own, in URL
serve() {
	server_stop
	rm -f serve.err
	"$EXITMETER" serve --listen 0 "$@" 2>serve.err 3>&- &
	SERVER_PID=$!
	until_true 30 grep -qs 'listening on' serve.err
	SERVED=$(sed -n 's/^exitmeter: listening on //p' serve.err)
}

# posted FILE CODE ANSWER
posted() {
	local code
	code=$(curl -sS --max-time 20 -o body -w '%{http_code}' -H 'Content-Type: application/json' \
		--data-binary "@$1" "${SERVED}api/worker/exited")
	cat body
	same code "$code" "$2"
	# shellcheck disable=SC2053
	[[ $(cat body) == $3 ]]
}

# meter_of WORKER START: the worked example as a worker sends it now
meter_of() {
	jq -nc --argjson worker "$1" --argjson start "$2" --argjson later "$(jq -n "now - $BEGAN - 6")" '
		{run: 17, pid: 4242, worker: $worker, start: $start, max_rss: 734003200,
		 marks: ([[6,-1,0,-1],[5,104857600,0.9,0.9],[4,314572800,2.8,1.9],[3,262144000,4.6,1.8],
			[2,838860800,8.5,3.9],[1,125829120,8.7,0.2],[0.5,-1,9,-1]] | map(.[0] += $later))}' >meter.json
}

@test "U-95: a worker sends its meter to exitmeter serve: in time, twice, late, and after it has lost the run" {
	local kind
	worked_example 17 4242
	for kind in $(kinds); do
		fresh "$kind"
		attempt "$kind" 1 17 4242 0.2 2.5
		attempt "$kind" 2 17 4242 2.5 4.8
		begun
		ask "$kind" "INSERT INTO starts VALUES (17, 2, 9), (17, 3, 8)"
		serve --to "$URL"
		# the run was started anew by another
		meter_of 9 3
		posted meter.json 200 '{"attempts":0}'
		untouched "$kind" 1
		meter_of 9 2
		posted meter.json 200 '{"attempts":2}'
		SEEN=
		share "$kind" 1 314572800 3.52 1.9
		share "$kind" 2 838860800 4.96 3.9
		posted meter.json 200 '{"attempts":0}'
		jq -c '.pid = 4243' meter.json >other.json
		posted other.json 200 '{"attempts":0}'
		jq -c '.run = "none of its"' meter.json >other.json
		posted other.json 200 '{"attempts":0}'
		jq -c '.marks[1][0] = 99999' meter.json >other.json
		posted other.json 400 '*age*'
		# from the journal, through exitmeter's own client
		ask "$kind" "UPDATE attempts SET peak_rss_bytes = NULL, cpu_seconds = NULL, peak_cpus = NULL WHERE id = 2"
		record run.journal --to "$SERVED" --worker 9 --start 2
		same status "$status" 0
		share "$kind" 1 314572800 3.52 1.9
		share "$kind" 2 838860800 4.96 3.9
		# its tables are gone for a while
		ask "$kind" "ALTER TABLE attempts RENAME TO away"
		posted meter.json 503 '*attempts*'
		ask "$kind" "ALTER TABLE away RENAME TO attempts"
		server_answers() { posted meter.json 200 '{"attempts":0}'; }
		until_true 10 server_answers
	done
	status=0
	"$EXITMETER" serve --listen 0 --to http://127.0.0.1:1 2>err || status=$?
	same status "$status" 125
	one_line err
}
