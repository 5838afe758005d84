#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# Hook plans, forced: cases 13 and 34; what the running kernel lacks runs in tests/vm.

load helpers

bpf_only() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: the BPF source only"
}

@test "plans: each that this kernel loads, in every way to end" {
	bpf_only
	PATH=$(dirname "$EXITMETER"):$WORK:$PATH run sh "$BATS_TEST_DIRNAME/../vm/plans.sh"
	echo "$output"
	[ "$status" -eq 0 ]
	# The one by rusage works on any kernel, and at least one is exact.
	[[ $output == *"| maxrss | "* ]]
	[ "$(grep -c ': peak: exact' <<<"$output")" -ge 1 ]
}

@test "plans: one that there is not, or that this kernel has not" {
	bpf_only
	status=0
	"$EXITMETER" --source=bpf:no-such-plan -- touch ran 2>err || status=$?
	same status "$status" 125
	one_line err
	grep -F "no plan is named 'no-such-plan' (sched_process_exit+mm, " err
	[ ! -e ran ]
}

@test "plans: bounds are said to be bounds" {
	bpf_only
	meter_raw --source=bpf:maxrss -- "$WORK/hold" touch=30 print exit=3
	holds "a plan of bounds" '.source.hook == "maxrss" and (.completeness.exact | not)
		and (.completeness.reasons | any(test("only bounds of peaks")))'
	same "exact" "$(row '.comm == "hold"' .peak_rss_exact)" false
	within "the bound" "$(truth rss)" \
		"$(row '.comm == "hold"' '.peak_rss_bytes - .peak_rss_error_bytes')" \
		"$(row '.comm == "hold"' '.peak_rss_bytes + .peak_rss_error_bytes')"
	status=0
	"$EXITMETER" --source=bpf:maxrss --require-exact -- touch ran 2>err || status=$?
	same "status with --require-exact" "$status" 125
	[ ! -e ran ]
}
