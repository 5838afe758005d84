#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # the inner shells expand it; each test is a shell of its own
# exitmeter-probed and whoever attacks it; what is written where others may write (doc/SECURITY.md).
# Each test fails without the defence that it names.

load helpers

UID_PLAIN=65534
UID_OTHER=65533
PLAIN=(setpriv --reuid="$UID_PLAIN" --regid="$UID_PLAIN" --clear-groups)
OTHER=(setpriv --reuid="$UID_OTHER" --regid="$UID_OTHER" --clear-groups)

setup_file() {
	[ -x "$EXITMETER" ] && [ -x "$EXITMETER-probed" ]
	make -s -C "$ROOT/tests/work" OUT="$WORK"
}

setup() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: what the BPF source needs"
	[ "$(id -u)" -eq 0 ] || skip "attacks need two users: run it as root"
	chmod 711 "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	chmod 777 "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return 1
	"${PLAIN[@]}" "$EXITMETER" --version || skip "elsewhere: others may not enter this folder"
	cp "$ROOT/tests/e2e/probed.py" .
	SERVER_PID=
	PIDS=()
	no_leak_check
	export EXITMETER_TEST_CACHE=$PWD/cache
}

teardown() {
	local pid
	for pid in $SERVER_PID "${PIDS[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# served [OPTION...]: exitmeter-probed at ./socket, its pid in SERVER_PID
served() {
	"$EXITMETER-probed" --listen "$PWD/socket" "$@" 2>probed.log 3>&- &
	SERVER_PID=$!
	until_true 30 confined
	same "the socket's mode" "$(stat -c %a socket)" 660
	chmod 666 socket
	export EXITMETER_PROBED=socket # the way to it may not be open to others
}

confined() {
	[ "$(sed -n 's/^Seccomp:\t//p' "/proc/$SERVER_PID/status")" = 2 ]
}

# attacker WHAT [ARGUMENT...]: as the plain user; what it was told in answer
attacker() {
	answer=$("${PLAIN[@]}" /usr/bin/python3 probed.py socket "$@" 3>&-)
	echo "attack: $*: $answer"
	cat probed.log
}

n_sessions() {
	wc -w <"/proc/$SERVER_PID/task/$SERVER_PID/children"
}

no_session() {
	[ "$(n_sessions)" -eq 0 ]
}

one_session() {
	[ "$(n_sessions)" -eq 1 ]
}

# A plain user's run is right, and nobody's session is left.
still_serves() {
	plain --source=probed -- true
	exact
	until_true 10 no_session
}

# is_plain PID: setpriv is through
is_plain() {
	[ "$(stat -c %u "/proc/$1/auxv")" = "$UID_PLAIN" ]
}

# plain [OPTION...] -- COMMAND...: as meter, by the plain user
plain() {
	rm -f sum.json run.journal
	status=0
	"${PLAIN[@]}" "$EXITMETER" -q --json sum.json --journal run.journal "$@" >out 2>err 3>&- || status=$?
	checked
}

# ---- a plain user -------------------------------------------------------------------------

@test "probed: a plain user's run is exact, by default, and says how" {
	served
	plain -- sh -c '"$0" touch=20 burn=60; /bin/true; exit 7' "$WORK/hold"
	same status "$status" 7
	exact
	holds "the source" '.source | .exits == "bpf" and .via == "probed" and .fallback_reason == null
		and .samples == "bpf-tick+proc"'
	holds "the peak" ".usage.peak_rss_process_bytes | . >= 20 * $MIB and . < 30 * $MIB"
	holds "the CPU" '.usage.cpu_seconds | . >= 0.06 and . < 1'
	holds "all that a process has" 'all(.processes[]; .argv != null and .io.rchar != null)'
	until_true 10 no_session
	"${PLAIN[@]}" "$EXITMETER" doctor --json >doctor.json
	holds "doctor" '.source == "bpf" and .via == "probed" and .exact
		and any(.checks[]; .name == "probed" and .ok)' doctor.json
}

@test "probed: what still runs at the end has its figures" {
	served
	plain -- sh -c '"$0" touch=30 idle=20000 & sleep 0.3; kill -0 $!; echo pid=$!' "$WORK/hold"
	PIDS+=("$(truth pid)")
	holds "it runs" '[.processes[] | select(.running)] | length == 1 and
		(.[0] | .comm == "hold" and .peak_rss_bytes >= 30 * '"$MIB"' and .cpu_seconds > 0)'
}

@test "probed: attached to a process of one's own" {
	served
	"${PLAIN[@]}" sh -c 'sleep 0.2; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; /bin/true; done; exec sleep 20' 3>&- &
	PIDS+=($!)
	until_true 10 is_plain "$!"
	plain --source=probed --duration 1 -p "$!"
	holds "it was there, and its children came" '.completeness.initial >= 1 and .completeness.forks >= 4
		and .completeness.events_lost == 0 and .source.via == "probed"'
}

@test "probed: --split is not offered, and the next source is taken" {
	served
	"${PLAIN[@]}" sleep 20 3>&- &
	PIDS+=($!)
	until_true 10 is_plain "$!"
	plain --split --duration 0.2 -p "$!"
	holds "another, and why" '.source.via == null and (.source.fallback_reason | test("not with --split"))'
}

@test "probed: the socket is not for everybody" {
	served
	chmod 660 socket
	run "${PLAIN[@]}" "$EXITMETER" --source=probed -- true
	same status "$status" 125
	[[ $output == *"exitmeter-probed at socket: Permission denied"* ]]
}

@test "probed: it holds two capabilities, and a filter of system calls" {
	served
	local want
	want=$(printf '%016x' $((1 << 39 | 1 << 38)))
	has() {
		same "$2 of $1" "$(sed -n "s/^$2:\t//p" "/proc/$1/status")" "$3"
	}
	"${PLAIN[@]}" /usr/bin/python3 probed.py socket hang opened >pid 3>&- &
	PIDS+=($!)
	until_true 20 one_session
	until_true 20 test -s pid
	local process session
	session=$(cat "/proc/$SERVER_PID/task/$SERVER_PID/children")
	for process in $SERVER_PID ${session% }; do
		has "$process" CapPrm "$want"
		has "$process" CapEff "$want"
		has "$process" CapInh 0000000000000000
		has "$process" CapAmb 0000000000000000
		has "$process" NoNewPrivs 1
		has "$process" Seccomp 2
	done
	has "${session% }" Seccomp_filters 2
	same "dumpable: whose it is" "$(stat -c %u "/proc/$SERVER_PID/environ")" 0
}

@test "probed: without its capabilities it says so and ends" {
	run "${PLAIN[@]}" "$EXITMETER-probed" --listen "$PWD/none"
	same status "$status" 125
	[[ $output == "exitmeter: needs CAP_BPF and CAP_PERFMON"* ]]
	run "$EXITMETER-probed"
	same status "$status" 125
	[[ $output == "exitmeter: no socket: --listen PATH, or from systemd" ]]
}

@test "probed: with capabilities of its own it is started for whom no socket answers" {
	mkdir bin home
	chmod 777 home
	cp "$EXITMETER" "$EXITMETER-probed" bin
	setcap cap_bpf,cap_perfmon=ep bin/exitmeter-probed || skip "elsewhere: no capabilities of files"
	unset EXITMETER_TEST_CACHE
	# types of a kernel that its caller made up would make programs read anywhere
	XDG_CACHE_HOME=$PWD/home EXITMETER_TEST_MAP_ENTRIES=1 EXITMETER=bin/exitmeter plain --source=probed -- sh -c '/bin/true; exit 3'
	same status "$status" 3
	exact
	holds "the source" '.source.via == "probed"'
	same "what it took from its caller's environment" "$(ls -A home)" ""
	# nor limits of its caller's choice
	run timeout 10 "${PLAIN[@]}" bin/exitmeter-probed --listen "$PWD/mine" --per-user 100
	same status "$status" 125
	same "no socket" "$(ls mine 2>/dev/null)" ""
}

# ---- whom one may look at -----------------------------------------------------------------

@test "attack: another user's process, by what the kernel gives for one's own" {
	served
	sleep 60 3>&- &
	PIDS+=($!)
	attacker attach "$!" self
	same answer "$answer" EACCES
	attacker attach child
	same "answer for one's own" "$answer" 0
	still_serves
}

@test "attack: things that prove nothing" {
	served
	sleep 60 3>&- &
	PIDS+=($!)
	local kind
	for kind in file pipe folder stat; do
		attacker with_proof "$!" $kind
		[[ $answer == EACCES || $answer == EXDEV ]]
	done
	for kind in none two; do
		attacker with_proof "$!" $kind
		same "answer to $kind" "$answer" EPROTO
	done
	still_serves
}

@test "attack: what a process gave away before it became another user's" {
	served
	cp "$(command -v sleep)" suid-sleep
	chown "$UID_OTHER" suid-sleep
	chmod 4755 suid-sleep
	attacker before_setuid ./suid-sleep 2
	same answer "$answer" EACCES
	still_serves
}

@test "attack: a process ends, and another's has its number, before it is asked for" {
	served
	answer=$(/usr/bin/python3 probed.py socket stale "$SERVER_PID" $UID_PLAIN before)
	same answer "$answer" EACCES
	still_serves
}

@test "attack: a process ends, and another's has its number, between check and mark" {
	served
	local i
	for i in 1 2 3 4 5; do # it waits for a second only
		answer=$(/usr/bin/python3 probed.py socket stale "$SERVER_PID" $UID_PLAIN between)
		[ "$answer" = ETIMEDOUT ] || break
	done
	same answer "$answer" ESRCH
	still_serves
}

@test "attack: arguments of a program that becomes another user's stay unknown" {
	served
	cp "$(command -v sleep)" suid-sleep
	chown "$UID_OTHER" suid-sleep
	chmod 4755 suid-sleep
	plain --source=probed -- sh -c './suid-sleep 0.1; sleep 0.1'
	same "it is seen, not what it was told" \
		"$(row '.comm == "suid-sleep"' '[.argv, .io.rchar, .exit_code, (.cpu_seconds > 0)] | tojson')" '[null,null,0,true]'
	same "others are" "$(row '.comm == "sleep"' '[.argv[1], (.io.rchar > 0)] | tojson')" '["0.1",true]'
}

# ---- what is handed over ------------------------------------------------------------------

@test "attack: nothing but the ring of one's own tree is handed over, and no address of the kernel" {
	served
	attacker handed_over
	same "what it found" "$answer" "nothing else"
	still_serves
}

@test "attack: records of others do not come" {
	served
	"${OTHER[@]}" sh -c 'while :; do /bin/true; done' 3>&- &
	PIDS+=($!)
	plain --source=probed -- sh -c 'for i in 1 2 3 4 5; do sleep 0.05; done'
	kill "$!"
	exact
	holds "one's own alone" '[.processes[].comm] | unique == ["sh", "sleep"]'
}

# ---- hostile clients ----------------------------------------------------------------------

@test "attack: nonsense" {
	served
	attacker garbage $RANDOM
	same "sessions that came of it" "$answer" 0
	until_true 20 no_session
	still_serves
}

@test "attack: wrong requests end the session, and only that" {
	local kind before
	before=$(ulimit -Sn)
	ulimit -Sn 256
	served
	ulimit -Sn "$before"
	for kind in again unknown short living; do
		attacker requests $kind
		same "$kind" "$answer" $'0\nclosed'
	done
	attacker requests fds # descriptors nobody asked for are closed
	same fds "$answer" $'0\n0'
	still_serves
}

@test "attack: too many sessions; other users have theirs" {
	served --per-user 3
	mkfifo enough
	"${PLAIN[@]}" /usr/bin/python3 probed.py socket sessions 5 <enough >answers 3>&- &
	PIDS+=($!)
	exec 4>enough
	until_true 60 test -s answers
	same "answers" "$(cat answers)" "0 0 0 EUSERS EUSERS"
	plain -- true
	holds "its next run has another source, and says why" '.source.via == null and .completeness.exact
		and (.source.fallback_reason | test("no more sessions for this user"))'
	rm sum.json run.journal
	"${OTHER[@]}" "$EXITMETER" -q --source=probed --json sum.json -- true
	exact
	exec 4>&-
	until_true 10 no_session
	still_serves
}

@test "attack: a client that says nothing, or nothing more" {
	served --silent 1
	local how
	for how in mute opened; do
		"${PLAIN[@]}" /usr/bin/python3 probed.py socket hang $how >pid 3>&- &
		PIDS+=($!)
		until_true 20 one_session
		until_true 20 no_session
	done
}

@test "attack: a client that is killed leaves nothing, though another has its socket" {
	served
	local how
	for how in opened heir; do
		"${PLAIN[@]}" /usr/bin/python3 probed.py socket hang $how >pid 3>&- &
		until_true 20 test -s pid
		one_session
		kill -KILL "$(cat pid)"
		wait "$!" || true
		until_true 10 no_session
		rm pid
	done
}

@test "probed is killed: the command goes on, and the record says what it missed" {
	served
	mkfifo go
	"${PLAIN[@]}" "$EXITMETER" -q --source=probed --json sum.json --journal run.journal -- \
		sh -c '/bin/true; echo up >up; read -r _ <go; /bin/true; exit 9' 2>err 3>&- &
	METER_PID=$!
	until_true 20 test -s up
	until_true 20 one_session
	kill -KILL "$SERVER_PID"
	wait "$SERVER_PID" || true
	until_true 10 programs_gone
	echo x >go
	meter_wait
	same status "$status" 9
	holds "not exact, and why" '(.completeness.exact | not)
		and (.completeness.reasons | any(test("programs-withdrawn")))'
}

programs_gone() {
	[ "$(pgrep -c -f "exitmeter-probed --listen $PWD/socket")" -eq 0 ]
}

# ---- files where others may write ---------------------------------------------------------

@test "attack: a link in a folder that all may write leads nowhere" {
	mkdir shared mine
	chmod 1777 shared
	echo precious >mine/file
	local option
	for option in --json --journal -o --prom --trace; do
		rm -f shared/out
		"${OTHER[@]}" ln -s "$PWD/mine/file" shared/out
		"$EXITMETER" -q $option shared/out -- true || true
		same "$option wrote" "$(cat mine/file)" precious
	done
}

@test "attack: a file that another made first is not written; what is made there is ours alone" {
	mkdir shared
	chmod 1777 shared
	local option
	for option in --json --journal -o --trace; do
		"${OTHER[@]}" sh -c ': >shared/theirs; chmod 666 shared/theirs'
		"$EXITMETER" $option shared/theirs -- true || true
		same "$option wrote" "$(wc -c <shared/theirs)" 0
		(umask 022 && "$EXITMETER" $option shared/new -- true)
		same "$option made" "$(stat -c %a:%u shared/new)" 600:0
		rm -f shared/*
	done
	(umask 022 && "$EXITMETER" -q --json here.json -- true)
	same "elsewhere the umask says" "$(chmod 755 . && rm here.json && umask 022 && "$EXITMETER" -q --json here.json -- true; stat -c %a here.json)" 644
}
