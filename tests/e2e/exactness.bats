#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# To the page, to the unit, to half a per cent: against the kernel's own word.

load helpers

in_pause() {
	local nr
	read -r nr _ <"/proc/$1/syscall"
	# pause is 34 on x86-64; libc waits in ppoll (73) where a machine has no pause
	[ "$nr" = 34 ] || [ "$nr" = 73 ]
}

@test "case 13: 200 x 1 MiB, read in pause(2) by the test, then SIGKILL: equal to the page" {
	local pid rss
	exits_needed "exact peaks"
	mkfifo tell
	meter_background -- sh -c "'$WORK/hold' chunks=200 tell=tell pause; :"
	read -r pid <tell
	until_true 5 in_pause "$pid"
	rss=$(rollup "$pid")
	kill -KILL "$pid"
	meter_wait
	exact
	within "smaps_rollup" "$rss" $((200 * MIB)) $((203 * MIB))
	same "row" "$(row ".pid == $pid" .peak_rss_bytes)" "$rss"
	same "exact" "$(row ".pid == $pid" .peak_rss_exact)" true
	same "signal" "$(row ".pid == $pid" .exit_signal)" 9
}

# Everything below the waiter, which has its own row: what wait4 counted for it.
below_waiter() {
	jq -r "(.run.pid) as \$root | [.processes[] | select(.pid != \$root) | $1] | add" sum.json
}

@test "case 14: 200 x true against wait4: CPU and minor faults" {
	meter -- "$WORK/waiter" kernel sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
	exact
	same processes "$(summary .usage.total_processes)" 202
	cpu_close cpu "$(below_waiter .cpu_seconds)" "$(truth cpu_us kernel)"
	same "minor faults" "$(below_waiter .minor_faults)" "$(truth minflt kernel)"
	same "major faults" "$(below_waiter .major_faults)" "$(truth majflt kernel)"
}

@test "case 21: minor faults of 1 GiB against wait4" {
	meter -- "$WORK/waiter" kernel "$WORK/hold" populate=900 touch=100
	exact
	cpu_close cpu "$(below_waiter .cpu_seconds)" "$(truth cpu_us kernel)"
	same "minor faults" "$(below_waiter .minor_faults)" "$(truth minflt kernel)"
}

@test "case 22: minor faults of threads, an exec and a kill against wait4" {
	meter -- "$WORK/waiter" kernel sh -c "'$WORK/threads' onebyone 8 2; '$WORK/threads' nonleader true
		'$WORK/threads' killed 4 3; seq 2000 | sort -rn | tail -n 1; :"
	exact
	same "minor faults" "$(below_waiter .minor_faults)" "$(truth minflt kernel)"
	cpu_close cpu "$(below_waiter .cpu_seconds)" "$(truth cpu_us kernel)" 8
}

# 1 sh; 1 onebyone; 1 nonleader; 1 killed; 3 of the pipeline; 3 of the daemon; 1 hold
MIXED_PROCESSES=11
MIXED_THREADS=$((1 + 9 + 2 + 7 + 3 + 3 + 1))

@test "case 24: 20 runs of a mixed load give the same rows and threads" {
	local i
	for i in $(seq 20); do
		meter -- sh -c "'$WORK/threads' onebyone 8 1
			'$WORK/threads' nonleader true
			'$WORK/threads' killed 6 1
			seq 500 | sort -rn | tail -n 1
			'$WORK/daemonise' stay 5 2 daemon
			'$WORK/hold' populate=60; :"
		SHAPE_SEEN=1
		echo "run $i"
		exact
		same processes "$(summary .usage.total_processes)" "$MIXED_PROCESSES"
		same rows "$(summary '.processes | length')" "$MIXED_PROCESSES"
		same threads "$(summary '[.processes[].threads] | add')" "$MIXED_THREADS"
	done
}

@test "case 5: 10 + 20 + 30 MiB at once: lower within 1 %, upper within 3 %" {
	local truth
	for _ in 1 2 3 4 5; do
		meter -- "$WORK/together" 10 20 30
		SHAPE_SEEN=1
		exact
		truth=$(truth truth)
		# a page or two come after the reading: the barrier's write, the way out
		lower_is "$truth" $((truth + MIB / 4))
		within upper "$(summary .usage.peak_rss_upper_bytes)" "$truth" $((truth * 103 / 100))
		sums || continue
		within "who made it" "$(summary '[.at_peak[].rss_bytes] | add')" \
			$((truth * 99 / 100)) $((truth + MIB / 4))
	done
}

@test "case 14: 10,000 execs at full speed" {
	local small large
	meter -- "$WORK/churn" 1000 jobs=2 exec "$WORK/tiny-nolibc"
	exact
	small=$(summary .source.self_peak_rss_bytes)
	meter -- "$WORK/churn" 10000 jobs=2 exec "$WORK/tiny-nolibc"
	exact
	large=$(summary .source.self_peak_rss_bytes)
	same processes "$(summary .usage.total_processes)" 10003
	same lost "$(summary .completeness.events_lost)" 0
	same group "$(summary '.groups[] | select(.comm == "tiny-nolibc") | .processes')" 10000
	# a sanitised exitmeter has its shadow on top
	[ -n "$EM_SAN" ] || within "own memory" "$large" $((MIB / 2)) $((24 * MIB))
	# a sanitiser keeps what was freed: only the plain build can tell
	[ -n "${EM_SAN:-}" ] ||
		within "not more than for 1,000" $((large - small)) $((-24 * MIB)) "$MIB"
	cpu_close cpu "$(summary .usage.cpu_seconds)" \
		"$(summary '.rusage | (.cpu_user_seconds + .cpu_system_seconds) * 1e6 | round')" 20
}

@test "a vfork child's arguments are nobody's memory while it execs in its creator's" {
	local i
	for i in $(seq 60); do
		meter -i 0.01 -- "$WORK/spawner" 40 vfork "$WORK/tiny"
		summary '[.completeness, (.processes[] | select(.comm == "spawner"))] | tojson'
		holds "run $i: the creator's peak" '[.processes[] | select(.comm == "spawner") | .peak_rss_exact] == [true]'
	done
}
