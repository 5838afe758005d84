#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# Very many at once: threads of one process, generations of a tree, a day of samples.

load helpers

@test "scale: 5,000 threads in one process" {
	exits_needed "one row"
	meter -- "$WORK/scale" threads 5000
	exact
	same status "$status" 0
	same rows "$(summary '.processes | length')" 1
	same threads "$(row true .threads)" 5000
	same "at once" "$(summary .usage.max_threads)" 5000
}

@test "scale: a tree of 500 generations" {
	local truth=$((500 * 256 * 1024))
	exits_needed "a row of each"
	meter --all -- "$WORK/scale" deep 500 256
	exact
	same status "$status" 0
	same processes "$(summary .usage.total_processes)" 500
	same "at once" "$(summary .usage.max_processes)" 500
	same "what they ended with" "$(jq '[.processes[].exit_code] | add' sum.json)" \
		"$(jq -n '[range(2; 501) | . % 256] | add')"
	same "generations" "$(jq '(.processes | map({ key: "\(.pid)", value: .ppid }) | from_entries) as $up
		| [limit(1000; .processes[] | .pid as $p | [$p | recurse($up["\(.)"] // empty)] | length)] | max' sum.json)" 501
	sums || return 0
	within "lower" "$(summary .usage.peak_rss_lower_bytes)" "$truth" "$(summary .usage.peak_rss_upper_bytes)"
	"$EXITMETER" report run.journal --report=tree --all -o tree
	same "lines of the tree" "$(sed '1,/COMMAND$/d' tree | grep -c .)" 500
}
