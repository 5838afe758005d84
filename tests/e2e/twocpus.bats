#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "Two processors at once, and from outside": values a tick old, and what others change.

load helpers

setup() {
	exits_needed "kernel-side sums"
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	[ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	SHAPE_SEEN=
}

@test "case 47: 64 MB handed over between two CPUs, never resident twice" {
	local truth
	for _ in 1 2 3; do
		meter -- "$WORK/handover" 25 64
		SHAPE_SEEN=1
		exact
		truth=$(truth truth)
		within lower "$(summary .usage.peak_rss_lower_bytes)" $((truth * 80 / 100)) $((truth + MIB / 2))
		within upper "$(summary .usage.peak_rss_upper_bytes)" "$truth" $(($(truth both) + 4 * MIB))
	done
}

@test "case 48: a burst on one CPU at the end of a process on the other" {
	local truth
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		meter -- "$WORK/burst" 16
		SHAPE_SEEN=1
		exact
		truth=$(truth truth)
		within upper "$(summary .usage.peak_rss_upper_bytes)" "$truth" $((truth + 4 * MIB))
		within lower "$(summary .usage.peak_rss_lower_bytes)" $((17 * MIB)) $((truth + MIB / 2))
	done
}

changed_from_outside() {
	sums || return 0 # between two samples nobody sees it; the bounds hold all the same
	holds "the record says so" '.source.notes | map(tostring) | any(contains("changed-from-outside"))'
}

@test "case 49: a sleeping process's mapped file is truncated while another grows" {
	local truth
	meter -- "$WORK/outside" truncate file 100 900
	truth=$(truth truth)
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((truth * 95 / 100)) $((truth + MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$truth" $(($(truth apart) + 4 * MIB))
	changed_from_outside
}

@test "case 49: process_vm_writev into a sleeper" {
	local truth
	meter -- "$WORK/outside" write 50 900
	truth=$(truth truth)
	within upper "$(summary .usage.peak_rss_upper_bytes)" $((truth - MIB / 4)) $((truth + 4 * MIB))
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((50 * MIB)) $((truth + MIB / 2))
	changed_from_outside
}

@test "case 50: a thread still grows while another execs" {
	local truth off=0
	sums || off=$(hwm_slack) # an image before an exec leaves only the kernel's mark
	for _ in 1 2 3 4 5; do
		meter -- "$WORK/threads" growexec 32 true
		SHAPE_SEEN=1
		exact
		truth=$(truth truth)
		same comm "$(row true .comm)" true
		within row "$(row true .peak_rss_bytes)" $((truth - off)) $((truth + MIB / 2))
		within lower "$(summary .usage.peak_rss_lower_bytes)" $((truth - 2 * off)) $((truth + MIB / 2))
	done
}
