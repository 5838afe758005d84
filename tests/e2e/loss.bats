#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "Sources and loss": what is lost is counted, and totals are not lost with it.

load helpers

is_stopped() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = T ]
}

# Stopped while 20,000 processes end, in a ring buffer that holds a few, and no room to keep more.
@test "case 33: 20,000 exits while exitmeter is stopped, ring buffer of 4 KiB" {
	exits_needed "loss of records"
	mkfifo start finish
	EXITMETER_TEST_RING_BYTES=4096 EXITMETER_TEST_MAP_ENTRIES=1024 meter_background -- \
		"$WORK/churn" 20000 vfork jobs=2 big=40 start=start done=finish
	read -r _ <start
	kill -STOP "$METER_PID"
	until_true 5 is_stopped "$METER_PID"
	echo x >start
	read -r _ <finish
	is_stopped "$METER_PID"
	kill -CONT "$METER_PID"
	echo x >finish
	meter_wait

	same status "$status" 0
	same forks "$(summary .completeness.forks)" "$(truth forks)"
	same exits "$(summary .completeness.exits)" $(($(truth forks) + 1))
	within lost "$(summary .completeness.events_lost)" 10000 "$(truth forks)"
	same exact "$(summary .completeness.exact)" false
	holds "the reason" '.completeness.reasons | length > 0'
	same "in the journal" "$(jq -n '[inputs | select(.event == "lost")] | length > 0' run.journal)" true
	# totals
	cpu_close cpu "$(summary .usage.cpu_seconds)" \
		"$(summary '.rusage | (.cpu_user_seconds + .cpu_system_seconds) * 1e6 | round')" 20
	within "largest process" "$(summary .usage.peak_rss_process_bytes)" $((40 * MIB)) $((43 * MIB))
	within peak "$(summary .usage.peak_rss_lower_bytes)" $((40 * MIB)) $((46 * MIB))
	same faults "$(($(summary .usage.minor_faults) >= $(truth minflt)))" 1
	same processes "$(summary .usage.total_processes)" $(($(truth forks) + 1))
}

@test "case 33: 5,000 exits while exitmeter is stopped: no record is lost, wherever they are kept" {
	exits_needed "records"
	[ "$SOURCE" = bpf ] || skip "elsewhere: the ring is the kernel's"
	mkfifo start finish
	EXITMETER_TEST_RING_BYTES=4096 meter_background -- \
		"$WORK/churn" 5000 vfork jobs=2 big=40 start=start done=finish
	read -r _ <start
	kill -STOP "$METER_PID"
	until_true 5 is_stopped "$METER_PID"
	echo x >start
	read -r _ <finish
	kill -CONT "$METER_PID"
	echo x >finish
	meter_wait
	same status "$status" 0
	same exits "$(summary .completeness.exits)" $(($(truth forks) + 1))
	same "exit records lost" "$(summary '.completeness.reasons | map(select(test("^exit-records"))) | length')" 0
	same rows "$(jq -n '[inputs | select(.event == "process" and .running != true)] | length' run.journal)" \
		$(($(truth forks) + 1))
	cpu_close cpu "$(summary .usage.cpu_seconds)" \
		"$(summary '.rusage | (.cpu_user_seconds + .cpu_system_seconds) * 1e6 | round')" 20
}

@test "case 33: 10,000 that live and end at once" {
	exits_needed "records"
	meter -- "$WORK/crowd" 10000
	same status "$status" 0
	exact
	same most "$(summary .usage.max_processes)" 10001
	same exits "$(summary .completeness.exits)" 10001
}

@test "case 33: nothing is lost where the ring is large enough" {
	meter -- "$WORK/churn" 2000 vfork jobs=2
	exact
	same forks "$(summary .completeness.forks)" 2002
	same status "$status" 0
}

# The kernel gives an address space's memory to the next fork while its exec still goes on.
@test "case 37: many pipelines at once stay exact" {
	exits_needed "each of them"
	cat >storm.sh <<-'END'
		for j in 1 2 3 4 5 6 7 8; do
			(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
				seq 20 | sort | tail -n 1 >/dev/null
			done) &
		done
		wait
	END
	meter -- sh storm.sh
	same processes "$(summary .usage.total_processes)" $((1 + 8 + 8 * 20 * 3))
	same repaired "$(summary .completeness.records_repaired)" 0
	exact
}

@test "case 33: a journal on a full disk harms nothing" {
	[ -w /dev/full ] || skip "no /dev/full"
	status=0
	"$EXITMETER" -q --source="$SOURCE" --json sum.json --journal /dev/full -- \
		"$WORK/hold" exit=7 >out 2>err || status=$?
	cat err
	same status "$status" 7
	valid sum.json
	identities sum.json
	same "messages that are not ours" "$(grep -cv '^exitmeter: ' err)" 0
	[ -s err ]
}

@test "--all whose temporary file is full says what it leaves out" {
	exits_needed "rows"
	local done=0
	mkdir small
	mount -t tmpfs -o size=64k none small || skip "elsewhere: no file system can be mounted"
	TMPDIR=$PWD/small "$EXITMETER" -q --all --source="$SOURCE" --json sum.json -- \
		"$WORK/churn" 1500 exec /bin/true 2>err || done=$?
	umount small
	same status "$done" 0
	same "one line" "$(grep -c '^exitmeter: the temporary file for --all failed' err)" 1
	holds "some are left out" '.processes_omitted > 0'
	holds "and all are told of" '(.processes | length) + .processes_omitted == .completeness.exits'
}

@test "case 51: fork and _exit at full speed on one CPU: no record is missing" {
	exits_needed "records"
	meter -- taskset -c 0 "$WORK/churn" 20000
	exact
	same exits "$(summary .completeness.exits)" 20001
	same group "$(summary '.groups[] | select(.comm == "churn") | .processes')" 20001
}
