#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "Whose memory is it": a peak belongs to the image that made it.

load helpers

# true_after HOW UPPER_MIB: a parent with 300 MiB starts true
true_after() {
	meter -- "$WORK/spawner" 300 "$1" true
	exact
	same status "$status" 0
	within "row of true" "$(row '.comm == "true"' .peak_rss_bytes)" $((MIB / 2)) $((3 * MIB))
	within peak "$(summary .usage.peak_rss_bytes)" "$(truth rss)" $(($(truth rss) + 4 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$(truth rss)" $(($2 * MIB))
	within "largest process" "$(summary .usage.peak_rss_process_bytes)" "$(truth rss)" \
		$(($(truth rss) + MIB))
}

@test "case 1: true from a parent of 300 MB, fork+exec" {
	true_after fork 610
}

@test "case 1: true from a parent of 300 MB, vfork+exec" {
	true_after vfork 306
	echo "wait4 says of true what is its parent's"
	[ "$(truth maxrss)" -gt $((299 * MIB)) ]
}

@test "case 1: true from a parent of 300 MB, posix_spawn" {
	true_after spawn 306
	[ "$(truth maxrss)" -gt $((299 * MIB)) ]
}

@test "case 2: a forked child that touches nothing" {
	local child
	meter -- "$WORK/spawner" 300 copy 600
	exact
	child=$(truth child)
	within inherited "$(row ".pid == $child" .inherited_rss_bytes)" $((299 * MIB)) $((304 * MIB))
	within "row in full" "$(row ".pid == $child" .peak_rss_bytes)" $((299 * MIB)) $((304 * MIB))
	within lower "$(summary .usage.peak_rss_lower_bytes)" "$(truth rss)" $((304 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" $((598 * MIB)) $((610 * MIB))
}

@test "case 3: 150 MB touched, then exec of sleep" {
	local off=0
	sums || off=$((2 * $(hwm_slack))) # an image before an exec leaves only the kernel's mark
	meter -- "$WORK/hold" populate=150 print exec sleep 0
	exact
	same processes "$(summary .usage.total_processes)" 1
	within row "$(row '.comm == "sleep"' .peak_rss_bytes)" $(($(truth rss) - off)) $(($(truth rss) + MIB))
	within lower "$(summary .usage.peak_rss_lower_bytes)" $(($(truth rss) - off)) $(($(truth rss) + MIB))
	same "and says so" "$(row true .peak_rss_exact)" "$(sums && echo true || echo false)"
	same execs "$(row true .execs)" 2
	same argv "$(row true '.argv | tojson')" '["sleep","0"]'
}

@test "case 4: a shell that execs and one that forks" {
	local execs forks
	meter -- sh -c "exec '$WORK/hold' populate=60 print"
	exact
	execs=$(summary .usage.peak_rss_process_bytes)
	same processes "$(summary .usage.total_processes)" 1
	within "by exec" "$execs" "$(truth rss)" $(($(truth rss) + MIB / 2))

	meter -- sh -c "'$WORK/hold' populate=60 print; :"
	exact
	forks=$(row '.comm == "hold"' .peak_rss_bytes)
	same processes "$(summary .usage.total_processes)" 2
	within "by fork" "$forks" "$(truth rss)" $(($(truth rss) + MIB / 2))
	within "the tree has the shell on top" "$(summary .usage.peak_rss_lower_bytes)" \
		"$forks" $((forks + 4 * MIB))
	within "the same peak" "$((execs - forks))" $((-MIB / 2)) $((MIB / 2))
}

@test "case 5: four children of 100 MB one after another" {
	meter -- sh -c "for i in 1 2 3 4; do '$WORK/hold' populate=100; done; :"
	exact
	same processes "$(summary .usage.total_processes)" 5
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((100 * MIB)) $((106 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" $((100 * MIB)) $((108 * MIB))
	within sum "$(summary .usage.peak_rss_sum_bytes)" $((400 * MIB)) $((416 * MIB))
}

@test "case 5: four children of 100 MB at once" {
	local truth
	meter -- "$WORK/together" 100 100 100 100
	exact
	truth=$(truth truth)
	lower_is "$truth" $((truth + MIB / 2))
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$truth" $((truth * 103 / 100))
	within sum "$(summary .usage.peak_rss_sum_bytes)" $((400 * MIB)) $((416 * MIB))
}

@test "case 6: the high-water mark reset from inside" {
	[ "$SOURCE" != proc ] || skip "case 6: source proc sees it only by chance"
	meter -i 0.02 -- "$WORK/hold" touch=150 print burn=150 free clearrefs print
	echo "VmHWM forgot it"
	[ "$(truth hwm)" -lt $((10 * MIB)) ]
	within row "$(row true .peak_rss_bytes)" $((150 * MIB)) $((154 * MIB))
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((150 * MIB)) $((154 * MIB))
	holds "a note says so" '.source.notes | length > 0'
}

# burst_between OPTION...: 200 MB touched and freed with no sample in between
burst_between() {
	local slack rss
	slack=$(hwm_slack)
	meter -i 30 "$@" -- "$WORK/hold" touch=200 print free
	exact
	rss=$(sed -n 's/^rss=//p' out | head -n 1)
	within row "$(row true .peak_rss_bytes)" $((rss - slack)) $((rss + slack))
	# only a tick that saw all of it can know better than the mark
	holds "exact if seen, not exact if the mark won" \
		".processes[0] | .peak_rss_exact == false or .peak_rss_bytes == $rss"
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$rss" $((rss + 2 * slack + MIB))
}

@test "case 7: 200 MB touched and freed between two samples" {
	burst_between
}

@test "case 7: the same without a kernel-side tick" {
	burst_between --no-tick
}

@test "case 8: a vfork child that waits before its exec" {
	meter -- "$WORK/spawner" 300 pause 700 true
	exact
	within lower "$(summary .usage.peak_rss_lower_bytes)" "$(truth rss)" $((304 * MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$(truth rss)" $((306 * MIB))
	within "row of true" "$(row '.comm == "true"' .peak_rss_bytes)" $((MIB / 2)) $((3 * MIB))
	faults '.rss_bytes as $rss | select(.event == "sample" and $rss > 306 * 1048576)
		| "a sample counts it twice: \($rss)"' run.journal
	holds "there were samples" '[inputs, .] | map(select(.event == "sample")) | length > 1' \
		run.journal
}

@test "case 8: two processes that share one address space" {
	local child after
	meter -- "$WORK/spawner" 100 clonevm 50
	exact
	child=$(truth child)
	after=$(truth rss_after)
	same processes "$(summary .usage.total_processes)" 2
	within lower "$(summary .usage.peak_rss_lower_bytes)" "$after" $((after + MIB))
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$after" $((after + 2 * MIB))
	same "no image of its own" "$(row ".pid == $child" .peak_rss_bytes)" null
}

@test "case 12: a static program of some 20 pages" {
	local kb
	meter -- "$WORK/tiny-nolibc"
	exact
	kb=$(awk '$1 == "Rss:" { print $2 }' out)
	within "the program's own word" "$((kb * 1024))" $((64 * 1024)) $((256 * 1024))
	same "row, to the page" "$(row true .peak_rss_bytes)" $((kb * 1024))
	within lower "$(summary .usage.peak_rss_lower_bytes)" $((kb * 1024)) $((kb * 1024 + MIB))
}

@test "case 53: a static 32-bit program" {
	local kb
	[ -e "$WORK/tiny-32" ] || skip "elsewhere: the compiler makes no 32-bit programs"
	"$WORK/tiny-32" >/dev/null || skip "elsewhere: the kernel runs no 32-bit programs"
	meter -- "$WORK/tiny-nolibc"
	cp sum.json wide.json
	meter -- "$WORK/tiny-32"
	exact
	kb=$(awk '$1 == "Rss:" { print $2 }' out)
	within "the program's own word" "$((kb * 1024))" $((64 * 1024)) $((256 * 1024))
	same "row, to the page" "$(row true .peak_rss_bytes)" $((kb * 1024))
	same "the rest of the row" \
		"$(summary '.processes[0] | [.peak_rss_exact, .exit_code, .threads, .execs, (.argv | length)]')" \
		"$(jq '.processes[0] | [.peak_rss_exact, .exit_code, .threads, .execs, (.argv | length)]' wide.json)"
	holds "CPU" '.processes[0].cpu_seconds > 0'
}

# ended_by NAME SIGNAL: the child that waiter OUT=NAME saw
ended_by() {
	local pid
	pid=$(truth pid "$1")
	same "wait4: signal" "$(truth signal "$1")" "$2"
	within "$1" "$(row ".pid == $pid" .peak_rss_bytes)" $((200 * MIB)) $((203 * MIB))
	same signal "$(row ".pid == $pid" .exit_signal)" "$2"
	same code "$(row ".pid == $pid" .exit_code)" null
	same core "$(row ".pid == $pid" .core_dumped)" "$([ "$(truth core "$1")" -eq 1 ] && echo true || echo false)"
	[ "$(row ".pid == $pid" .oom_killed)" != true ]
}

@test "case 13: killed at 200 MB, SEGV, abort" {
	local w=$WORK
	meter -- sh -c "'$w/waiter' killed '$w/hold' populate=200 kill=9
		'$w/waiter' segv '$w/hold' populate=200 nodump core segv
		'$w/waiter' abort '$w/hold' populate=200 nodump core abort
		'$w/waiter' term '$w/hold' populate=200 kill=15; :"
	rm -f core*
	exact
	ended_by killed 9
	ended_by segv 11
	ended_by abort 6
	ended_by term 15
}
