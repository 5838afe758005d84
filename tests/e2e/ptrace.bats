#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # inner shells expand it; each test is a shell of its own
# The ptrace source itself: it equals BPF, never hangs, leaves nobody stopped, and says whom it
# disturbs.

load helpers

setup_file() {
	make -s -C "$ROOT/tests/work" OUT="$WORK"
}

# Not SOURCE: these are of this source alone.
traced_only() {
	case $SOURCE in
	bpf | ptrace) SOURCE=ptrace ;;
	*) skip "elsewhere: the ptrace source only" ;;
	esac
}

PLAIN=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# state PID: as in /proc/PID/stat; nothing for one that is gone
state() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null || true
}

is_state() {
	[ "$(state "$1")" = "$2" ]
}

tracer_of() {
	awk '$1 == "TracerPid:" { print $2 }' "/proc/$1/status"
}

untraced() {
	[ "$(tracer_of "$1")" -eq 0 ]
}

# kill_tracer PID: and whoever it traced is let go
kill_tracer() {
	kill -9 "$(tracer_of "$1")"
	until_true 5 untraced "$1"
}

has_file() {
	[ -e "$1" ]
}

# ---- it equals BPF --------------------------------------------------------------------------

# What both say of each process of the inner run; a line for each difference.  Before the inner
# command's exec its image is exitmeter's, which counts in the outer run alone.
compare() {
	# shellcheck disable=SC2016
	jq -n --slurpfile outer outer.json --slurpfile inner inner.json -r '
	($outer[0].processes | map({ key: "\(.pid)", value: . }) | from_entries) as $bpf
	| $inner[0].processes[] | . as $p | $bpf["\(.pid)"] as $b
	| if $b == null then "no row in bpf: \(.pid)" else
	    (if .exit_code != $b.exit_code or .exit_signal != $b.exit_signal or .core_dumped != $b.core_dumped
	     then "end of \(.pid) \(.comm): \([.exit_code, .exit_signal]) and \([$b.exit_code, $b.exit_signal])" else empty end),
	    (if .comm != $b.comm or .argv != $b.argv or .ppid != $b.ppid
	     then "name of \(.pid): \([.comm, .argv, .ppid]) and \([$b.comm, $b.argv, $b.ppid])" else empty end),
	    (if .threads != $b.threads or (.execs != $b.execs and .ppid != $inner[0].run.pid)
	     then "threads and execs of \(.pid) \(.comm): \([.threads, .execs]) and \([$b.threads, $b.execs])" else empty end),
	    (if .minor_faults != null and (.minor_faults - $b.minor_faults | fabs) > 8
	     then "faults of \(.pid) \(.comm): \(.minor_faults) and \($b.minor_faults)" else empty end),
	    (if .io.rchar != null and .io.rchar != $b.io.rchar
	     then "io of \(.pid) \(.comm): \(.io.rchar) and \($b.io.rchar)" else empty end),
	    (if (.cpu_seconds - $b.cpu_seconds | fabs) > ([0.002, $b.cpu_seconds * 0.005] | max)
	     then "cpu of \(.pid) \(.comm): \(.cpu_seconds) and \($b.cpu_seconds)" else empty end),
	    (if .peak_rss_exact and $b.peak_rss_exact and .peak_rss_bytes != $b.peak_rss_bytes
	        and (.pid != $inner[0].run.pid or .peak_rss_bytes > $b.peak_rss_bytes)
	     then "peak of \(.pid) \(.comm): \(.peak_rss_bytes) and \($b.peak_rss_bytes)" else empty end),
	    (if .peak_rss_exact != true and .peak_rss_error_bytes != null and $b.peak_rss_bytes != null and $b.peak_rss_exact
	        and ($b.peak_rss_bytes - .peak_rss_bytes | fabs) > .peak_rss_error_bytes
	     then "bound of \(.pid) \(.comm): \(.peak_rss_bytes) +- \(.peak_rss_error_bytes) and \($b.peak_rss_bytes)" else empty end)
	  end' >differences
	cat differences
	[ ! -s differences ]
}

@test "the same rows, ends, CPU and peaks as bpf, seen in one run" {
	traced_only
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: the BPF source needs root"
	local w=$WORK
	for _ in 1 2 3; do
		status=0
		"$EXITMETER" -q --source=bpf --json outer.json --all -- \
			"$EXITMETER" -q --source=ptrace --json inner.json --all -- sh -c "
			'$w/threads' onebyone 8 20; '$w/threads' leaderfirst 20 7; '$w/threads' nonleader '$w/hold' touch=10 exit=4
			'$w/threads' killed 4 5; '$w/threads' segv 16; '$w/hold' populate=60; '$w/hold' touch=20 kill=9
			'$w/hold' touch=5 abort; '$w/spawner' 30 vfork true; '$w/spawner' 30 fork true; '$w/spawner' 30 spawn true
			'$w/burn' 150; '$w/burn' children 20 5; seq 3000 | sort -rn | tail -n 1; '$w/daemonise' stay 5 2 daemon
			'$w/tiny-nolibc'; exit 3" >out 2>err 3>&- || status=$?
		cat err
		same status "$status" 3
		holds "bpf saw all" .completeness.exact outer.json
		holds "ptrace saw all" .completeness.exact inner.json
		within rows "$(jq '.processes | length' inner.json)" 40 60
		# and nobody but exitmeter and its tracer beside them (a sanitised one has one more)
		same "all of bpf's" "$(jq '[.processes[] | select(.comm | startswith("exitmeter") | not)] | length' outer.json)" \
			"$(jq '.processes | length' inner.json)"
		compare
		within "exact peaks of both" \
			"$(jq '[.processes[] | select(.peak_rss_exact)] | length' inner.json)" 30 60
	done
}

# ---- it never hangs -------------------------------------------------------------------------

# often COUNT STATUS COMMAND...: each run within 10 s, one row
often() {
	local i count=$1 want=$2
	shift 2
	for i in $(seq "$count"); do
		status=0
		timeout -s KILL 10 "$EXITMETER" -q --source=ptrace --json sum.json -- "$@" >out 2>err 3>&- || status=$?
		[ "$status" -eq "$want" ] || same "status of run $i" "$status" "$want"
		jq -e '.completeness | .exact and .exits == 1' sum.json >/dev/null ||
			same "run $i" "$(summary '.completeness | tojson')" "exact, one row"
	done
}

@test "case 24: 200 execs from a thread and with threads" {
	traced_only
	often 100 4 "$WORK/threads" nonleader "$WORK/hold" exit=4
	often 100 0 "$WORK/threads" execstorm 8 2
}

@test "case 24: 200 threaded processes killed" {
	traced_only
	often 200 137 "$WORK/threads" killed 8 1
}

@test "case 24: 200 crashes of 16 threads" {
	traced_only
	ulimit -c 0
	often 200 139 "$WORK/threads" segv 16
}

@test "case 37: a clone storm of four loops, and make -j4" {
	traced_only
	meter -- "$WORK/churn" 2000 jobs=4
	exact
	same processes "$(summary .usage.total_processes)" 2005
	command -v make >/dev/null || skip "elsewhere: no make"
	printf 'all: %s\n%%.it:\n\t@/bin/true\n' "$(seq -s ' ' -f %g.it 200)" >Makefile
	meter -- make -j4 all
	exact
	same "each rule's" "$(summary '[.groups[] | select(.comm == "true") | .processes] | add')" 200
}

# ---- it leaves nobody stopped ---------------------------------------------------------------

@test "case 39: kill -9 of exitmeter in a fork storm, 50 times" {
	traced_only
	local i pid group
	for i in $(seq 50); do
		rm -f started ended stop
		# a session of its own, so that all that is left of it can be found
		setsid "$EXITMETER" -q --source=ptrace -- sh -c "trap 'echo died >ended' EXIT; : >started
			while [ ! -e stop ]; do '$WORK/churn' 30 jobs=2 >churn-said || exit; done; trap '' EXIT; echo well >ended" 3>&- &
		METER_PID=$!
		until_true 10 has_file started
		group=$(ps -o sid= -p "$METER_PID" | tr -d ' ')
		"$WORK/hold" "idle=$((i % 10 * 7))"
		kill -9 "$METER_PID"
		wait "$METER_PID" || true
		METER_PID=
		: >stop
		until_true 10 test -s ended
		same "the job ended, run $i" "$(cat ended)" well
		# nobody of it is stopped
		pid=$(ps -e -o sid=,stat=,pid= | awk -v s="$group" '$1 == s && $2 ~ /^[tT]/ { print $3 }')
		same "stopped" "$pid" ""
	done
}

@test "case 26: exitmeter stopped, the command killed, exitmeter continued" {
	traced_only
	local began
	mkfifo tell
	meter_background -- "$WORK/hold" tell=tell pause
	read -r pid <tell
	kill -STOP "$METER_PID"
	until_true 5 is_state "$METER_PID" T
	kill -9 "$pid"
	began=$EPOCHREALTIME
	kill -CONT "$METER_PID"
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	within "milliseconds" "$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))" 0 1000
	same status "$status" 137
	checked
	same signal "$(summary .run.exit_signal)" 9
	same "what is left" "$(state "$pid")" ""
}

@test "case 38: STOP and CONT of the command; the tree's own wait sees it" {
	traced_only
	mkfifo tell
	meter_background -- "$WORK/hold" tell=tell wait=go exit=6
	mkfifo go
	read -r pid <tell
	kill -STOP "$pid"
	until_true 5 is_state "$pid" t
	same "traced by the tracer" "$(cat "/proc/$(tracer_of "$pid")/comm")" exitmeter-trace
	kill -CONT "$pid"
	until_true 5 is_state "$pid" S
	echo x >go
	meter_wait
	same status "$status" 6
	# a shell with job control hears of its child's stop and of its going on
	meter -- perl -e 'use POSIX ":sys_wait_h"; my $p = fork; if (!$p) { kill STOP => $$; exit 5 }
		waitpid($p, WUNTRACED); print WIFSTOPPED(${^CHILD_ERROR_NATIVE}) ? "stopped\n" : "lost\n";
		kill CONT => $p; waitpid($p, 0); print $? >> 8, "\n"'
	same "what the parent saw" "$(tr '\n' ' ' <out)" "stopped 5 "
	exact
}

@test "attach: a target that is stopped stays so, followed and let go" {
	traced_only
	mkfifo tell go
	"$WORK/hold" tell=tell wait=go exit=0 3>&- &
	read -r pid <tell
	kill -STOP "$pid"
	until_true 5 is_state "$pid" T
	status=0
	"$EXITMETER" -q --source=ptrace --json sum.json -p "$pid" --duration 0.2 2>err 3>&- || status=$?
	cat err
	same status "$status" 0
	same "running" "$(row ".pid == $pid" .running)" true
	same "let go" "$(tracer_of "$pid")" 0
	until_true 5 is_state "$pid" T
	kill -CONT "$pid"
	until_true 5 is_state "$pid" S
	echo x >go
	wait "$pid"
}

@test "attach: one that is traced already is left alone, and it is said" {
	traced_only
	command -v strace >/dev/null || skip "elsewhere: no strace"
	mkfifo tell go
	strace -o /dev/null "$WORK/hold" tell=tell wait=go 3>&- &
	read -r pid <tell
	status=0
	"$EXITMETER" --source=ptrace -p "$pid" --duration 0.2 2>err 3>&- || status=$?
	same status "$status" 125
	one_line err
	holds_text "is traced by process" err
	echo x >go
	wait "$!"
}

holds_text() {
	echo "looked for: $1"
	[ "$(grep -c "$1" "$2")" -gt 0 ]
}

@test "a tracer that is killed: the command goes on, and the record says so" {
	traced_only
	mkfifo tell go
	meter_background -- sh -c "sleep 0 & wait; '$WORK/hold' tell=tell wait=go; exit 8"
	read -r pid <tell
	kill_tracer "$pid"
	echo x >go
	meter_wait
	same status "$status" 8
	holds "not exact" '.completeness.exact | not'
	holds "why" '.completeness.reasons | any(test("tracer-ended-early"))'
	same "ends that nobody saw" "$(row ".pid == $pid" .exit_code)" null
	same "what nobody counted" "$(summary '.usage | [.minor_faults, .voluntary_ctxt_switches, .io.rchar] | @json')" \
		'[null,null,null]'
}

@test "a tracer that is killed: --wait-tree ends all the same" {
	traced_only
	mkfifo tell go
	meter_background --wait-tree -- sh -c "'$WORK/hold' tell=tell wait=go; exit 8"
	read -r pid <tell
	kill_tracer "$pid"
	echo x >go
	meter_wait
	same status "$status" 8
}

@test "case 33: a small ring and exitmeter stopped: rows and lost are all ends" {
	traced_only
	export EXITMETER_TEST_RING_BYTES=16384
	meter_background -- sh -c ": >started; '$WORK/churn' 500 jobs=2; exit 5"
	until_true 10 has_file started
	kill -STOP "$METER_PID"
	"$WORK/hold" idle=300
	kill -CONT "$METER_PID"
	meter_wait
	same status "$status" 5
	holds "some were lost" '.completeness.events_lost > 0'
	same "ends" "$(summary .completeness.exits)" 504
}

# ---- whom it disturbs -----------------------------------------------------------------------

@test "case 38: a setuid program without its privilege is named" {
	traced_only
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to make a setuid program"
	cp "$(command -v id)" own-id
	chmod 4755 own-id
	chmod 777 .
	[ "$("${PLAIN[@]}" ./own-id -u)" = 0 ] || skip "elsewhere: setuid programs do not work in $PWD"
	"${PLAIN[@]}" "$EXITMETER" --source=ptrace --json sum.json -- ./own-id -u >out 2>err
	cat err
	same "its privilege is lost" "$(cat out)" 65534
	holds_text "^exitmeter: disturbed: own-id: .*privilege.*--source=proc" err
	chmod 4711 own-id
	"${PLAIN[@]}" "$EXITMETER" --source=ptrace -- ./own-id -u >out 2>err
	cat err
	holds_text "^exitmeter: disturbed: own-id: .*may not be read.*--source=proc" err
	chmod 4755 own-id
	"${PLAIN[@]}" "$EXITMETER" -q --source=proc -- ./own-id -u >out
	same "under proc it is there" "$(cat out)" 0
	chown 65534 own-id
	chmod 4755 own-id
	rm sum.json # where all may write root does not write another's
	meter -- ./own-id -u
	same "root's tracer keeps it" "$(cat out)" 65534
	holds "and nothing is said" '.source.notes | any(test("disturbed")) | not'
}

@test "case 52: a debugger inside is named" {
	traced_only
	command -v strace >/dev/null || skip "elsewhere: no strace"
	"$EXITMETER" --source=ptrace --json sum.json -- strace -o /dev/null true 2>err >out || true
	cat err
	same "once" "$(grep -c '^exitmeter: disturbed: strace: .*--source=proc' err)" 1
}

@test "case 52: a program with LeakSanitizer is let go and sampled" {
	traced_only
	cat >leakfree.c <<-'E2'
		#include <stdlib.h>
		#include <string.h>
		#include <stdio.h>
		int main(void)
		{
			char *volatile p = malloc(20 << 20);
			memset(p, 1, 20 << 20);
			getchar();
			free(p);
			return 9;
		}
	E2
	gcc -fsanitize=address -o leakfree leakfree.c 2>err || skip "elsewhere: no -fsanitize=address ($(head -n 1 err))"
	mkfifo go
	exec 8<>go
	meter_background -i 0.05 -- sh -c './leakfree <go; echo $?; true; exit 4'
	seen() { grep -qE '"rss_bytes":(2[4-9]|[3-9][0-9])[0-9]{6}' run.journal; } # with the shell above it
	until_true 20 seen
	echo x >&8
	meter_wait
	same status "$status" 4
	same "its own status" "$(cat out)" 9
	holds "named" '.source.notes | any(test("leakfree"))'
	# the leak check is a process of its own, which may be seen as well
	within "sampled" "$(rows '.comm == "leakfree"' | jq 'map(.peak_rss_bytes // 0) | max')" \
		$((20 * MIB)) $((60 * MIB))
	same "not exact" "$(summary .completeness.exact)" false
}

# ---- the choice -----------------------------------------------------------------------------

@test "auto: a plain user gets ptrace, and why not bpf is said" {
	traced_only
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: becomes another user"
	chmod 777 .
	"${PLAIN[@]}" "$EXITMETER" --json sum.json -- sh -c 'true; exit 0' 2>err
	cat err
	same source "$(summary .source.exits)" ptrace
	holds exact .completeness.exact
	holds "stops and their time" '.source | .stops > 0 and .stopped_seconds > 0'
	[[ $(head -n 1 err) == "exitmeter: exits from ptrace, not bpf: bpf() refused"* ]]
	"${PLAIN[@]}" "$EXITMETER" -q --require-exact -- true
	EXITMETER_SOURCE=proc "${PLAIN[@]}" "$EXITMETER" -q --json sum.json -- true
	same "by the environment" "$(summary .source.exits)" proc
	EXITMETER_SOURCE=proc "${PLAIN[@]}" "$EXITMETER" -q --source=ptrace --json sum.json -- true
	same "the option goes first" "$(summary .source.exits)" ptrace
	status=0
	EXITMETER_SOURCE=nothing "$EXITMETER" -- true 2>err || status=$?
	same status "$status" 125
	one_line err
}

@test "auto: without ptrace either proc, and both reasons are said" {
	traced_only
	no_leak_check
	chmod 777 .
	"$WORK/refuse" ptrace -- true 2>err || skip "elsewhere: no seccomp filters ($(cat err))"
	status=0
	"${PLAIN[@]}" "$WORK/refuse" ptrace -- "$EXITMETER" --json sum.json -- sh -c 'exit 7' 2>err || status=$?
	cat err
	same status "$status" 7
	same source "$(summary .source.exits)" proc
	holds "both" '.source.fallback_reason | test("bpf\\(\\) refused") and test("ptrace.. refused: a seccomp filter")'
	[[ $(head -n 1 err) == "exitmeter: sampled only, no exit records: bpf() refused"* ]]
	status=0
	"${PLAIN[@]}" "$WORK/refuse" ptrace -- "$EXITMETER" --require-exact -- touch started 2>err || status=$?
	same status "$status" 125
	one_line err
	[ ! -e started ]
}

@test "attach: a child that is traced already is said to be why" {
	traced_only
	command -v strace || skip "elsewhere: strace is not installed"
	local parent child tracer
	mkfifo go
	sh -c '"$WORK/hold" wait=go & echo $! >child; wait' 3>&- &
	parent=$!
	until_true 10 has_file child
	child=$(cat child)
	strace -o /dev/null -p "$child" 2>/dev/null 3>&- &
	tracer=$!
	until_true 10 eval '[ "$(tracer_of "$child")" -ne 0 ]'
	status=0
	"$EXITMETER" --source=ptrace -p "$parent" --duration 0.2 -q --json sum.json 2>err || status=$?
	cat err
	if [ "$status" -eq 125 ]; then
		same "one line" "$(wc -l <err)" 1
		holds_text "^exitmeter: no source: ptrace.. refused: a process of the tree is .*traced; would allow it: " err
	else
		holds "it is said" '.completeness.exact == false'
	fi
	kill "$tracer"
	echo x >go
	wait "$parent"
}
