#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031 # the inner shells expand it; each test is a shell of its own
# What fails beneath exitmeter, and what is done to it while it meters.

load helpers

export FAULT_LIBRARY=${FAULT_LIBRARY:-${EXITMETER%/*}/faults/errno.so}

preloaded() {
	[ -r "$FAULT_LIBRARY" ] || {
		echo "no $FAULT_LIBRARY: make builds it"
		return 1
	}
	[ -z "${EM_SAN:-}" ] || export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0
}

# meter_with VARIABLE=VALUE... -- ARGUMENT...: a run with the library that makes calls fail
meter_with() {
	local settings=()
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	shift
	status=0
	env LD_PRELOAD="$FAULT_LIBRARY" "${settings[@]}" "$EXITMETER" -q --source="$SOURCE" --json sum.json \
		--journal run.journal "$@" >out 2>err 3>&- || status=$?
}

@test "faults: the first calls of each function fail (make check-faults: all of them)" {
	preloaded
	local sources=(--source "$SOURCE")
	[ "$SOURCE" != bpf ] || sources=()
	"$ROOT/tests/faults/run" --seconds 12 "${sources[@]}"
}

@test "faults: every second call is interrupted" {
	preloaded
	local name
	for name in write pread epoll_wait waitid wait4 waitpid poll nanosleep; do
		meter_with EXITMETER_FAULT="$name:1/2:4" EXITMETER_FAULT_TOLD=told -- \
			sh -c '"$0" touch=8 burn=20; "$0" touch=2; exit 7' "$WORK/hold"
		echo "$name"
		same status "$status" 7
		checked
		[ "$SOURCE" = proc ] || exact
	done
}

@test "faults: what the library is told by is not in the command's environment" {
	preloaded
	meter_with EXITMETER_FAULT=malloc:1000000 -- env
	same status "$status" 0
	run ! grep -E '^(LD_PRELOAD|EXITMETER_FAULT)' out
}

# ---- signals ------------------------------------------------------------------------------

stopped() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = T ]
}

@test "a storm of stops and goes while it meters" {
	mkfifo start
	meter_background -- sh -c 'read x <start; i=0; while [ $i -lt 100 ]; do "$0"; i=$((i + 1)); done; exit 7' \
		/bin/true
	until_true 5 test -e run.journal
	echo x >start
	for _ in $(seq 300); do
		kill -STOP "$METER_PID" && kill -CONT "$METER_PID" || break
	done
	meter_wait
	same status "$status" 7
	[ "$SOURCE" = proc ] || exact
	[ "$SOURCE" = proc ] || same processes "$(summary .usage.total_processes)" 101
}

# Its own clock went on meanwhile, the command's times are those of its ends.
@test "stopped for two seconds while its command ends: times are the command's" {
	[ "$SOURCE" = bpf ] || skip "elsewhere: others wait for their children themselves"
	mkfifo go
	meter_background -- sh -c 'read x <go; "$0" touch=8 burn=50; exit 7' "$WORK/hold"
	until_true 5 test -s run.journal
	kill -STOP "$METER_PID"
	until_true 5 stopped "$METER_PID"
	echo x >go
	sleep 2
	kill -CONT "$METER_PID"
	meter_wait
	same status "$status" 7
	exact
	holds "the run's time is its command's" '.run.wall_seconds < 1.5 and .run.wall_seconds >= 0.05'
	holds "each ended when it did" 'all(.processes[]; .ended < 1.5)'
	holds "cores" '.usage.peak_cpus == null or .usage.peak_cpus <= 4'
}

# ---- the wall clock -----------------------------------------------------------------------

@test "steps of the wall clock, an hour at each look: seconds are as they were" {
	preloaded
	local step
	for step in 3600 -3600; do
		meter_with EXITMETER_FAULT_CLOCK="$step" -- -i 0.05 -- sh -c '"$0" idle=300; exit 7' "$WORK/hold"
		same status "$status" 7
		checked
		[ "$SOURCE" = proc ] || exact
		holds "the run's time" '.run.wall_seconds >= 0.3 and .run.wall_seconds < 5'
		holds "each row's" 'all(.processes[]; (.started == null or .started >= 0) and
			(.ended == null or .ended < 5))'
		holds "the age is not the clock's" \
			'(.aged_at[:19] + "Z" | fromdate) - (.run.started_at[:19] + "Z" | fromdate) | . >= 0 and . < 10'
	done
}

# ---- the programs in the kernel -----------------------------------------------------------

# The ids of links that descriptors of process PID hold.
links_of() {
	awk '$1 == "link_id:" { print $2 }' "/proc/$1"/fdinfo/* 2>/dev/null
}

has_links() {
	[ -n "$(links_of "$1")" ]
}

# A raw tracepoint's link has no way to be detached while somebody holds it: the kernel refuses.
@test "links are not detached under our feet" {
	[ "$SOURCE" = bpf ] || skip "elsewhere: needs BPF"
	local bpftool=/usr/sbin/bpftool id asked=0
	[ -x "$bpftool" ] || skip "elsewhere: no bpftool"
	mkfifo go
	meter_background -- sh -c 'read x <go; /bin/true; /bin/true; exit 7'
	until_true 5 has_links "$METER_PID"
	for id in $(links_of "$METER_PID"); do
		asked=$((asked + 1))
		run ! "$bpftool" link detach id "$id"
		[[ $output == *"not supported"* ]]
	done
	echo x >go
	meter_wait
	same status "$status" 7
	exact
	within links "$asked" 4 40
}

# ---- what is full -------------------------------------------------------------------------

@test "full maps: bounds are wide, and nobody is lost silently" {
	[ "$SOURCE" = bpf ] || skip "elsewhere: needs BPF"
	export EXITMETER_TEST_MAP_ENTRIES=8
	meter_raw -- sh -c 'for i in $(seq 30); do "$0" touch=10 idle=300 & done; wait; exit 7' "$WORK/hold"
	same status "$status" 7
	valid sum.json run.journal
	holds "not exact, and why" '.completeness | (.exact | not) and
		(.reasons | any(test("processes-unfollowed|address-spaces-untracked")))'
	holds "nothing bounds those who were not followed" '.usage.peak_rss_upper_bytes == null'
	holds "said in the journal" '[inputs | select(.event == "lost") | .what]
		| any(test("processes-unfollowed|address-spaces-untracked"))' run.journal
}

@test "full disks: journal, summary, page and spool" {
	[ -c /dev/full ] || skip "elsewhere: no /dev/full"
	local option
	for option in --json --journal --html; do
		status=0
		"$EXITMETER" -q --source="$SOURCE" "$option" /dev/full -- sh -c 'exit 7' 2>err 3>&- || status=$?
		same "status with $option" "$status" 7
		[ -s err ]
		same "messages that are not ours" "$(grep -cv '^exitmeter' err)" 0
	done
	mkdir spool
	mount -t tmpfs -o size=4k none spool || skip "elsewhere: no file system can be mounted"
	status=0
	echo old >spool/other
	"$EXITMETER" -q --source="$SOURCE" --to sqlite:/nowhere/x.db --spool spool --json sum.json -- \
		sh -c 'exit 7' 2>err 3>&- || status=$?
	umount spool
	cat err
	same "status with a full spool" "$status" 7
	valid sum.json
	[ -s err ]
}
