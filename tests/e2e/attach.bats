#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2119,SC2120
# Attaching to what already runs: whole, nothing twice, nothing touched.

load helpers

teardown() {
	[ -z "$METER_PID" ] || kill -TERM "$METER_PID" 2>/dev/null || true
	[ -z "${TARGET:-}" ] || target_end
}

# target_end: quietly, with all it started
target_end() {
	kill -KILL -- "-$TARGET" 2>/dev/null || true
	wait "$TARGET" 2>/dev/null || true
	TARGET=
}

# target COMMAND...: in a process group of its own, its pid in TARGET
target() {
	setsid "$@" >target.out 2>&1 3>&- &
	until_true 5 eval '[ -n "$(target_of)" ]'
	TARGET=$(target_of)
}

# setsid execs in place unless it leads a group already; either way the session's leader is it
target_of() {
	local pid=$!
	[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] && echo "$pid"
}

# attach OPTION...: until it is over, checked
attach() {
	meter -p "$TARGET" "$@"
	same status "$status" 0
	same mode "$(summary .run.mode)" attach
}

# attach_begin OPTION...: in the background, returns once the tree is in
attach_begin() {
	rm -f run.journal
	meter_background -p "$TARGET" "$@"
	until_true 20 grep -q run_start run.journal
}

# cpu_ns PID...: of all their threads so far, by the processes' own clocks
cpu_ns() {
	/usr/bin/python3 -c '
import sys, time
print(sum(time.clock_gettime_ns((~int(p) << 3) | 2) for p in sys.argv[1:]))' "$@"
}

only_running() {
	# not even the kernel's word makes ptrace faster than a process that ends meanwhile
	local fine='still ran|sampled only'
	[ "$SOURCE" != ptrace ] || fine+='|processes-missed-at-attach'
	holds "no reason but that they run" \
		"[.completeness.reasons[] | select(test(\"$fine\") | not)] == []"
}

@test "attach: a sleeper, detached by --duration, is not touched" {
	local before
	target sleep 60
	before=$(cut -d' ' -f22 "/proc/$TARGET/stat")
	attach --duration 0.3
	holds detached '.run.detached and .run.exit_code == null'
	same pid "$(summary .run.pid)" "$TARGET"
	same command "$(summary '.run.command | join(" ")')" "sleep 60"
	same row "$(row ".pid == $TARGET" '.argv | join(" ")')" "sleep 60"
	holds "started before" ".processes[0].started < 0"
	same initial "$(summary .completeness.initial)" 1
	only_running
	same "the same process" "$(cut -d' ' -f22 "/proc/$TARGET/stat")" "$before"
	same state "$(awk '$1 == "State:" { print $2 }' "/proc/$TARGET/status")" S
}

@test "attach: INT, TERM and HUP detach and report" {
	local signal
	target sleep 60
	for signal in INT TERM HUP; do
		attach_begin
		kill -s "$signal" "$METER_PID"
		meter_wait
		same "status after $signal" "$status" 0
		holds detached .run.detached
		kill -0 "$TARGET"
	done
}

@test "attach: the target's end is the end, with its code" {
	mkfifo go
	target sh -c 'read -r _ <go; exit 7'
	attach_begin
	echo >go
	meter_wait
	same status "$status" 0
	holds "not detached" '.run.detached | not'
	exits_needed "the code"
	same "exit code" "$(summary .run.exit_code)" 7
	same row "$(row ".pid == $TARGET" .exit_code)" 7
	exact
}

@test "attach: --wait-tree waits for the tree" {
	mkfifo go later
	target sh -c 'sh -c "read -r _ <later; exit 5" & read -r _ <go'
	until_true 5 pgrep -P "$TARGET"
	attach_begin --wait-tree
	echo >go
	until_true 10 eval '! kill -0 "$TARGET" 2>/dev/null || grep -q "^State:.Z" "/proc/$TARGET/status"'
	kill -0 "$METER_PID" # it has not left with the target
	echo >later
	meter_wait
	same status "$status" 0
	exits_needed "the tree"
	same running "$(summary .completeness.running_at_end)" 0
	same "the last one's code" "$(row ".pid != $TARGET" .exit_code)" 5
	exact
}

@test "case 31: a target that forks at full speed: the identity holds" {
	local i
	exits_needed "the identity"
	target "$WORK/target" forks 60 counts 0
	for i in 1 2 3 4 5 6 7 8 9 10; do
		attach --duration 0.2
		SHAPE_SEEN=1
		only_running
		holds "it did fork" ".completeness.forks > $(sums && echo 20 || echo 3)"
		# one at a time; more while those that are there are looked for
		within initial "$(summary .completeness.initial)" 1 5
	done
}

@test "case 31: threads and children that are there, baseline subtracted" {
	local child first before after last own slack=1000000
	[ "$SOURCE" = bpf ] || slack=60000000 # clock ticks of each process
	target "$WORK/target" crowd 60
	until_true 5 pgrep -P "$TARGET"
	child=$(pgrep -P "$TARGET")
	sleep 0.5
	first=$(cpu_ns "$TARGET" "$child")
	attach_begin
	before=$(cpu_ns "$TARGET" "$child")
	sleep 1.5
	after=$(cpu_ns "$TARGET" "$child")
	kill -INT "$METER_PID"
	meter_wait
	last=$(cpu_ns "$TARGET" "$child")
	only_running
	same initial "$(summary .completeness.initial)" 2
	same "rows" "$(rows ".pid == $TARGET or .pid == $child" | jq length)" 2
	own=$(summary '.usage.cpu_seconds * 1e9 | round')
	within "cpu" "$own" "$((after - before - slack))" "$((last - first + slack))"
	within "baseline and cpu, against the clock" \
		"$((own + $(summary '.usage.baseline_cpu_seconds * 1e9 | round')))" \
		"$((after - slack))" "$((last + slack))"
	[ "$SOURCE" = proc ] || within "threads at once" "$(summary .usage.max_threads)" 3 100
	if [ "$SOURCE" = bpf ]; then
		holds "threads" ".processes | all(.threads >= 1)"
		within "threads of the crowd" "$(row ".pid == $TARGET" .threads)" 4 100000
	fi
	holds "samples never fall" '([inputs | select(.event == "sample") | .cpu_seconds] | . == sort)' run.journal
}

@test "attach: CPU of a lone spinner since attach, not since its last switch" {
	local first before after last
	exits_needed "exactness"
	target taskset -c 0 "$WORK/burn" 30000
	sleep 1
	first=$(cpu_ns "$TARGET")
	attach_begin
	before=$(cpu_ns "$TARGET")
	sleep 0.8
	after=$(cpu_ns "$TARGET")
	kill -INT "$METER_PID"
	meter_wait
	last=$(cpu_ns "$TARGET")
	within cpu "$(summary '.usage.cpu_seconds * 1e9 | round')" \
		"$((after - before - 10000000))" "$((last - first + 10000000))"
	within "the samples' CPU" "$(jq -s '[.[] | select(.event == "sample") | .cpu_seconds] | last * 1e9 | round' run.journal)" \
		0 "$(summary '.usage.cpu_seconds * 1e9 | round')"
}

@test "attach: memory of before is the lifetime's mark, a rise since is not" {
	exits_needed "memory at the end"
	mkfifo go
	target "$WORK/target" crowd 60
	attach --duration 0.3
	same source "$(row ".pid == $TARGET" .peak_source)" vmhwm-lifetime
	holds "not exact" '.processes | all(.peak_rss_exact | not)'
	target_end
	target sh -c 'read -r _ <go; exec "$0" touch=60 idle=100' "$WORK/hold"
	attach_begin
	echo >go
	meter_wait
	within "peak" "$(row ".pid == $TARGET" .peak_rss_bytes)" $((60 * MIB)) $((64 * MIB))
	holds "a rise since" ".processes[] | select(.pid == $TARGET) | .peak_source != \"vmhwm-lifetime\""
	within "tree" "$(summary .usage.peak_rss_bytes)" $((60 * MIB)) $((64 * MIB))
}

@test "attach: switches, faults and I/O since, against /proc before and after" {
	local status_of_all
	exits_needed "counters"
	# switches PID: of all its threads, as /proc tells
	switches() {
		awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/"$1"/task/*/status
	}
	target "$WORK/hold" touch=2 idle=60000
	status_of_all=$(switches "$TARGET")
	attach --duration 0.5
	within "switches of a sleeper" \
		"$(row ".pid == $TARGET" '.voluntary_ctxt_switches + .involuntary_ctxt_switches')" \
		0 "$(($(switches "$TARGET") - status_of_all))"
	holds "none is negative or huge" '[.processes[] | .minor_faults, .major_faults, .io.rchar,
		.io.syscr, .voluntary_ctxt_switches] | all(. >= 0 and . < 1000000)'
	target_end
	target "$WORK/target" forks 20 counts 100
	attach --duration 1
	within "switches of one that forks and waits" \
		"$(row ".pid == $TARGET" .voluntary_ctxt_switches)" 20 1000
}

@test "attach: what it once had is not the tree's peak since" {
	exits_needed "memory"
	mkfifo go
	target "$WORK/hold" touch=80 free touch=2 tell=go idle=60000
	timeout 10 cat go >/dev/null
	attach --duration 0.4
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((2 * MIB)) $((6 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" $((80 * MIB)) $((90 * MIB))
	within row "$(row ".pid == $TARGET" .peak_rss_bytes)" $((80 * MIB)) $((84 * MIB))
	same source "$(row ".pid == $TARGET" .peak_source)" vmhwm-lifetime
}

@test "case 8: attach: a shared address space counts once" {
	exits_needed "address spaces"
	target "$WORK/spawner" 40 pause 60000 /bin/true
	until_true 5 eval '[ -n "$(pgrep -P $TARGET)" ]'
	attach --duration 0.4
	same initial "$(summary .completeness.initial)" 2
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((40 * MIB)) $((44 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" $((40 * MIB)) $((45 * MIB))
	same notes "$(summary '.source.notes | length')" 0
}

@test "case 22: attach: the leader has ended, a worker runs" {
	target "$WORK/threads" leaderfirst 3000 7
	until_true 5 grep -q '^State:.Z' "/proc/$TARGET/status"
	attach
	exits_needed "the code"
	same "exit code" "$(summary .run.exit_code)" 7
	within "cpu, ms" "$(summary '.usage.cpu_seconds * 1000 | round')" 500 3100
	exact
}

@test "attach: processes that fork their successor and end: what was missed is said" {
	local i
	exits_needed "the identity"
	for i in 1 2 3 4 5; do
		target "$WORK/target" successors 20
		sleep 0.1
		attach --duration 0.3
		SHAPE_SEEN=1
		holds "the chain is followed" '.completeness.forks > 10 and .completeness.running_at_end >= 2'
		# Whatever else was lost on the way is said, and none of it is a record.
		summary '.completeness.reasons'
		same "records lost" "$(summary .completeness.events_lost)" 0
		target_end
	done
}

@test "attach: one's own shell, and exitmeter is not in its tree" {
	cat >script <<-'E'
		"$@" -p $$ --duration 0.4 &
		sleep 0.3
		/bin/true
		wait
	E
	status=0
	bash script "$EXITMETER" -q --source="$SOURCE" --json sum.json --journal run.journal \
		>out 2>err 3>&- || status=$?
	same status "$status" 0
	checked
	same "the shell" "$(summary '[.processes[] | select(.comm == "bash")] | length')" 1
	same "exitmeter" "$(summary '[.processes[] | select(.comm == "exitmeter")] | length')" 0
}

@test "attach: several are one tree, each process once" {
	local outer inner
	target sh -c 'sleep 60 & sleep 61'
	outer=$TARGET
	until_true 5 eval '[ "$(pgrep -P $outer | wc -l)" = 2 ]'
	inner=$(pgrep -P "$outer" | head -n 1)
	meter -p "$outer,$inner,$outer" --duration 0.3
	same status "$status" 0
	same initial "$(summary .completeness.initial)" 3
	same rows "$(summary '.processes | length')" 3
}

@test "attach: bad input: one line, 125, nothing touched" {
	refuse() {
		status=0
		timeout 10 "$EXITMETER" -q "$@" >out 2>err || status=$?
		echo "exitmeter $*"
		same status "$status" 125
		one_line err
	}
	target sleep 60
	refuse -p 0
	refuse -p 1x
	refuse -p ''
	refuse -p "$TARGET,"
	refuse -p -1
	refuse -p 99999999999999999999
	refuse -p "$(cat /proc/sys/kernel/pid_max)" # the first that no process can have
	refuse -p "$TARGET" -- touch marker
	refuse --duration 1 -- touch marker
	refuse -p "$TARGET" --duration 0
	refuse -p "$TARGET" --duration x
	same "started" "$([ -e marker ] && echo yes || echo no)" no
	bash -c 'exec "$0" -q -p $$' "$EXITMETER" >out 2>err && false
	one_line err
	grep -q "exitmeter itself" err
	kill -0 "$TARGET"
}

@test "attach: a kernel thread, a zombie, another user's process" {
	local thread zombie
	thread=$(awk '$2 == "(kthreadd)" { print $1; exit }' /proc/[0-9]*/stat 2>/dev/null || true) # some may be gone
	if [ -n "$thread" ]; then
		run -125 "$EXITMETER" -p "$thread"
		[[ $output == "exitmeter: process $thread is a kernel thread" ]]
	fi
	target sh -c 'sleep 0 & exec sleep 60'
	zombie=$(pgrep -P "$TARGET")
	until_true 5 grep -q '^State:.Z' "/proc/$zombie/status"
	run -125 "$EXITMETER" -p "$zombie"
	[[ $output == "exitmeter: process $zombie has ended already" ]]
	[ "$(id -u)" -eq 0 ] || return 0
	run -125 setpriv --reuid 65534 --regid 65534 --clear-groups "$EXITMETER" -p "$TARGET" --duration 1
	[[ $output == "exitmeter: process $TARGET is another user's:"* ]]
}

@test "attach: the two capabilities are as good as root" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to give up capabilities"
	[ "$SOURCE" = bpf ] || skip "BPF is what they are for"
	target sh -c '/bin/true; sleep 60 & wait'
	setpriv --bounding-set=-all,+bpf,+perfmon --inh-caps=-all "$EXITMETER" -p "$TARGET" \
		--duration 0.4 --json sum.json
	same exits "$(summary .source.exits)" bpf
	same refused "$(summary .source.fallback_reason)" null
	same initial "$(summary .completeness.initial)" 2
}

@test "attach: a plain user's own process, traced or sampled, says so" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to become another"
	target setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60
	chmod 777 .
	setpriv --reuid 65534 --regid 65534 --clear-groups "$EXITMETER" -p "$TARGET" --duration 0.4 \
		--json sum.json 2>err
	cat err
	grep -q '^exitmeter: exits from ptrace, not bpf' err
	same exits "$(summary .source.exits)" ptrace
	no_leak_check
	setpriv --reuid 65534 --regid 65534 --clear-groups "$WORK/refuse" ptrace -- "$EXITMETER" \
		-p "$TARGET" --duration 0.4 --json sum.json 2>err
	cat err
	grep -q '^exitmeter: sampled only' err
	same exits "$(summary .source.exits)" proc
	holds reason '.source.fallback_reason | length > 0'
	same mode "$(summary .run.mode)" attach
}

@test "case 29: a process that vanishes while it is taken in stops nothing" {
	target sh -c 'while :; do sleep 0.001 & sleep 0.002; done'
	for _ in 1 2 3 4 5; do
		attach --duration 0.1
		SHAPE_SEEN=1
		only_running
	done
}
