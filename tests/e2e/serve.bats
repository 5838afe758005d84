#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# exitmeter serve: runs over HTTP on the loopback, while they go on and afterwards.

load helpers

teardown() {
	local pid
	for pid in ${SERVE_PID:-} ${METER_PID:-}; do
		kill -TERM "$pid" 2>/dev/null || true
	done
}

# serve ARGUMENT...: in the background on a free port; its address in URL, its pid in SERVE_PID
serve() {
	rm -f serve.err # of one before
	"$EXITMETER" serve --listen 0 "$@" 2>serve.err 3>&- &
	SERVE_PID=$!
	until_true 30 grep -qs 'listening on' serve.err
	URL=$(sed -n 's/^exitmeter: listening on //p' serve.err)
}

# stop [SIGNAL]: it ends with 0
stop() {
	kill "-${1:-TERM}" "$SERVE_PID"
	status=0
	wait "$SERVE_PID" || status=$?
	SERVE_PID=
	cat serve.err
	same status "$status" 0
}

# get PATH [CURL OPTION...]: the body in body, the headers in headers, the code in code
get() {
	local path=$1
	shift
	code=$(curl -sS --max-time 20 -o body -D headers -w '%{http_code}' "$@" "$URL$path")
}

# post FILE [CURL OPTION...]: a meter
post() {
	local file=$1
	shift
	get api/worker/exited -H 'Content-Type: application/json' --data-binary "@$file" "$@"
}

# answers CODE [REASON]
answers() {
	echo "$code: $(head -c 300 body)"
	same code "$code" "$1"
	[ $# -lt 2 ] || same reason "$(jq -r .error body)" "$2"
}

# metric NAME: of body
metric() {
	sed -n "s/^$1\({[^}]*}\)\{0,1\} //p" body
}

good() {
	echo '{"run":17,"pid":4711,"worker":3,"start":1,"max_rss":734003200,
		"marks":[[6,-1,0,-1],[5,104857600,0.9,0.9],[0.5,-1,9,-1]]}' >good.json
}

@test "serve: a run that has ended: metrics as promtool takes them, and as JSON" {
	meter --label k=v -- sh -c "'$WORK/hold' populate=20; exit 3"
	serve run.journal
	get metrics
	answers 200
	promtool check metrics <body
	same peak "$(grep 'kind="lower"' body | sed 's/.* //')" "$(summary .usage.peak_rss_lower_bytes)"
	same code "$(metric exitmeter_run_exit_status)" 3
	same "live ones" "$(grep -c '^exitmeter_tree' body || true)" 0
	within "its own memory" "$(metric process_resident_memory_bytes)" "$MIB" $((512 * MIB))
	within "its own descriptors" "$(metric process_open_fds)" 4 64
	get metrics -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
	same "the last line" "$(tail -n 1 body)" "# EOF"
	[[ $(cat headers) == *"application/openmetrics-text; version=1.0.0"* ]]
	same "times" "$(grep -v '^#' body | grep -cE ' [0-9.e+-]+ [0-9.]+$' || true)" 0
	get metrics -I
	answers 200
	get api/runs
	answers 200
	holds state '.runs[0] | .state == "ended" and .exit_code == 3 and .labels == [["k", "v"]]' body
	same "CPU" "$(jq .runs[0].usage.cpu_seconds body)" "$(summary .usage.cpu_seconds)"
	stop INT
}

@test "serve: a run that goes on, from before its journal is there" {
	serve run.journal
	get metrics
	answers 200
	same "runs" "$(grep -c '^exitmeter_run' body || true)" 0
	get api/runs
	same state "$(jq -r .runs[0].state body)" waiting
	mkfifo go
	meter_background -i 0.05 -- sh -c "'$WORK/hold' populate=30 wait=go; exit 4"
	tree_holds() {
		get metrics
		[ "$(metric exitmeter_tree_resident_memory_bytes | head -n 1)" -ge $((30 * MIB)) ] 2>/dev/null
	}
	until_true 30 tree_holds
	same processes "$(metric exitmeter_tree_processes)" 2
	same "what only the end tells" "$(grep -c '^exitmeter_run_exit_status' body || true)" 0
	promtool check metrics <body
	get api/runs
	holds live '.runs[0] | .state == "live" and .now.rss_bytes >= 31457280 and (.series | length) >= 2' body
	echo x >go
	meter_wait
	ended() {
		get metrics
		[ "$(metric exitmeter_run_exit_status)" = 4 ]
	}
	until_true 30 ended
	same "live ones" "$(grep -c '^exitmeter_tree' body || true)" 0
	stop
}

@test "serve: a folder's journals, come, cut off, malformed, written anew and gone" {
	meter --run-id one -- true
	serve .
	get api/runs
	same runs "$(jq -r '[.runs[].id] | join(" ")' body)" one
	cp run.journal other.journal
	sed -i 's/"id":"one"/"id":"two"/' other.journal
	sed '$d' run.journal | sed 's/"id":"one"/"id":"cut"/' >cut.journal
	touch -d '1 hour ago' cut.journal
	echo garbage >foreign.journal
	get api/runs
	same states "$(jq -r '[.runs[] | "\(.id // .journal) \(.state)"] | sort | join(", ")' body)" \
		"cut silent, foreign.journal waiting, one ended, two ended"
	get metrics
	promtool check metrics <body
	[[ $(cat serve.err) == *"foreign.journal:1: not JSON"* ]]
	SHAPE_SEEN=1
	meter --run-id three -- true
	rm other.journal cut.journal foreign.journal
	get api/runs
	same runs "$(jq -r '[.runs[].id] | join(" ")' body)" three
	stop
}

@test "serve: the page asks nobody else, and names are only text" {
	local odd
	odd=$(printf '<script>alert(1)</script>\x1b[31m\xff')
	cp /bin/true true
	meter --label "$odd=$odd" -- ./true "$odd"
	serve run.journal
	get ""
	answers 200
	[[ $(cat headers) == *"Content-Security-Policy: default-src 'none'; script-src 'nonce-"* ]]
	same "other addresses" "$(grep -oE '(https?:)?//[a-z0-9.]+' body | grep -v '^http://www.w3.org' || true)" ""
	same "markup from text" "$(grep -cE 'innerHTML|insertAdjacent|document\.write' body || true)" 0
	same nonces "$(grep -o 'nonce="[0-9a-f]*"' body | sort -u | wc -l)" 1
	mv body first
	get ""
	run ! cmp -s first body
	get api/runs
	valid_json=$(jq -r '.runs[0].command[1]' body)
	[[ $valid_json == *"<script>"* ]]
	same "control bytes" "$(tr -d '\n' <body | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	stop
}

@test "serve: paths, methods, types: a reason for each refusal" {
	serve
	good
	get healthz
	answers 200
	get nowhere
	answers 404 "there is nothing at this path"
	get metrics -X POST -d x
	answers 405
	[[ $(cat headers) == *"Allow: GET, HEAD"* ]]
	get api/worker/exited
	answers 405
	get api/worker/exited -d @good.json
	answers 415 "Content-Type is not application/json"
	post good.json -H 'Content-Encoding: br'
	answers 415
	post good.json
	answers 503 "no database is configured to record meters in"
	gzip -c good.json >good.gz
	post good.gz -H 'Content-Encoding: gzip'
	answers 503
	post good.json -H 'Content-Encoding: gzip'
	answers 400 "the body is no gzip, or cut off"
	same "what was logged" "$(wc -l <serve.err)" 1
	stop
}

@test "serve: U-103 a meter that is not whole is refused whole" {
	serve
	good
	bad() {
		jq -c "$1" good.json >bad.json
		post bad.json
		answers 400 "$2"
	}
	head -c 60 good.json >bad.json
	post bad.json
	answers 400
	sed 's/0.9,0.9/NaN,0.9/' good.json >bad.json
	post bad.json
	answers 400 "marks is not JSON"
	bad '.marks = [range(2000) | [1, -1, 0, -1]]' "marks: more marks than a meter keeps"
	bad '.marks[1][0] = 7' "marks: an age is larger than the one before"
	bad 'del(.worker)' "worker is missing"
	bad '.exits = [range(5000) | [2, 1, 0, 0]]' "more than 4096 exits"
	post good.json
	answers 503
	stop
}

@test "serve: a body of 1 GB is not read, however it comes" {
	serve
	good
	truncate -s 1G huge.json
	get api/worker/exited -H 'Content-Type: application/json' -X POST -T huge.json
	answers 413 "the body is larger than 1048576 bytes"
	head -c 2000000 /dev/zero | tr '\0' ' ' >large.json
	get api/worker/exited -H 'Content-Type: application/json' -H 'Transfer-Encoding: chunked' -X POST -T large.json
	answers 413 "the body is larger than 1048576 bytes"
	head -c 50000000 huge.json | gzip -1 >bomb.gz
	post bomb.gz -H 'Content-Encoding: gzip'
	answers 413 "the body is larger than 1048576 bytes"
	# chunks without end: the connection is closed
	run ! curl -sS --max-time 20 -o body -H 'Content-Type: application/json' \
		-H 'Transfer-Encoding: chunked' -X POST -T huge.json "${URL}api/worker/exited"
	get metrics
	within "its own memory" "$(metric process_resident_memory_bytes)" "$MIB" $((${EM_SAN:+15}1 * 64 * MIB))
	get "$(head -c 40000 /dev/zero | tr '\0' a)"
	[ "$code" -ge 400 ]
	get healthz
	answers 200
	stop
}

@test "serve: who does not know the token sees nothing of a run" {
	meter -- true
	good
	echo 'secret-of-ours' >token
	chmod 600 token
	serve run.journal --token-file token
	for path in metrics api/runs nowhere; do
		get "$path"
		answers 401
		get "$path" -H 'Authorization: Bearer secret-of-others'
		answers 401
	done
	[[ $(cat headers) == *"WWW-Authenticate: Bearer"* ]]
	post good.json
	answers 401
	get healthz
	answers 200
	get ""
	answers 200
	get metrics -H 'Authorization: Bearer secret-of-ours'
	answers 200
	post good.json -H 'Authorization: Bearer secret-of-ours'
	answers 503
	same "the token on standard error" "$(grep -c secret serve.err || true)" 0
	stop
	EXITMETER_TOKEN=other serve run.journal
	get metrics
	answers 401
	get metrics -H 'Authorization: Bearer other'
	answers 200
	stop
}

@test "serve: connections that say nothing keep nobody out for good" {
	local fds=() fd port i
	serve
	port=${URL##*:}
	port=${port%/}
	for ((i = 0; i < 80; i++)); do
		exec {fd}<>"/dev/tcp/127.0.0.1/$port"
		fds+=("$fd")
	done
	for fd in "${fds[@]}"; do
		exec {fd}>&-
	done
	get healthz
	answers 200
	stop
}

# handed_over ARGUMENT...: with a listening socket as descriptor 3, as a service manager does it
handed_over() {
	/usr/bin/python3 - "$@" <<'PY' 2>serve.err 3>&- &
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1], sys.argv[1:])
PY
	SERVE_PID=$!
	until_true 30 grep -qs 'listening on' serve.err
	URL=$(sed -n 's/^exitmeter: listening on //p' serve.err)
}

@test "serve: a socket that a service manager opened" {
	handed_over "$(dirname "$EXITMETER")/exitmeter-serve"
	get healthz
	answers 200
	same "addresses" "$(grep -c 'listening on' serve.err)" 1
	stop
}

@test "serve: a bad command line, an address in use, journals that cannot be read" {
	local port
	wrong() {
		status=0
		"$EXITMETER" serve "$@" >out 2>err || status=$?
		same status "$status" 125
		one_line err
	}
	wrong --no-such-option
	wrong --listen
	wrong --listen nowhere.invalid:x
	wrong --listen ::1:9477
	wrong --listen 70000
	wrong --listen 192.0.2.1:0
	mkfifo pipe
	wrong pipe --listen 0
	wrong --token-file nowhere --listen 0
	: >empty
	chmod 600 empty
	wrong --token-file empty --listen 0
	EXITMETER_TOKEN='a b' wrong --listen 0
	serve
	port=${URL##*:}
	wrong --listen "${port%/}"
	stop
	"$EXITMETER" serve --help | grep -c -- '--listen ADDR'
	serve --listen '*:0'
	[[ $(cat serve.err) == *"is open to others and asks for no token"* ]]
	stop
}
