#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shared - memory that several processes have at once: shares (--pss)

load helpers

# known WHAT: of the summary a figure, none of the notes says why there is none
known() {
	holds "$1 is known" ".usage.$1 >= 0"
}

# look_reaches BYTES: one sample of the journal so far has that much
look_reaches() {
	[ -n "$(jq -Rc --argjson least "$1" 'fromjson? | select(.event == "sample" and .pss_bytes >= $least)' run.journal)" ]
}

# held_until_seen BYTES CHAIN...: a chain that goes on when a look has come to that
held_until_seen() {
	local least=$1
	shift
	mkfifo told go
	meter_background --pss -- "$WORK/chain" tell=told wait=go "$@"
	read -r _ <told
	until_true 30 look_reaches "$least"
	echo x >go
	meter_wait
}

# sums_are SUM PROCESSES: what counts pages once for each process, of a forked chain
sums_are() {
	local more=$(($2 * 4 * MIB))
	sums || return 0
	within upper "$(summary .usage.peak_rss_upper_bytes)" "$1" $(($1 + more))
	within sum "$(summary .usage.peak_rss_sum_bytes)" "$1" $(($1 + more))
}

@test "pss: L-51, L-52: a chain of forks of 10, 20 and 30 MiB is 60 to 66 MiB" {
	held_until_seen $((60 * MIB)) 10 20 30
	same status "$status" 0
	within pss "$(summary .usage.peak_pss_bytes)" $((60 * MIB)) $((66 * MIB))
	within "the truth" "$(truth pss)" $((60 * MIB)) $((66 * MIB))
	sums_are $((100 * MIB)) 3
	if sums; then
		within lower "$(summary .usage.peak_rss_lower_bytes)" $((60 * MIB)) $((66 * MIB))
	fi
	holds "the price" '.source | .pss_readings >= 1 and .pss_seconds > 0 and .pss_longest_seconds > 0
		and .pss_longest_seconds <= .pss_seconds'
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "pss: CASES 9: five processes that share 200 MiB have 200 MiB" {
	held_until_seen $((200 * MIB)) shared=200 0 0 0 0 0
	within pss "$(summary .usage.peak_pss_bytes)" $((200 * MIB)) $((206 * MIB))
	sums_are $((1000 * MIB)) 5
	"$EXITMETER" report run.journal >text 2>&1
	grep "with shared pages counted once (PSS, sampled)" text
}

@test "pss: a journal that was cut off has the most of its samples" {
	held_until_seen $((60 * MIB)) 10 20 30
	sed '$d' run.journal >cut.journal
	status=0
	"$EXITMETER" report cut.journal -q --json again.json || status=$?
	same status "$status" 1
	valid again.json
	within pss "$(jq .usage.peak_pss_bytes again.json)" $((60 * MIB)) $((66 * MIB))
}

@test "pss: a phase is a look, also where nothing is sampled" {
	export EXITMETER
	meter --pss -i 0 -- "$WORK/hold" touch=40 exec "$EXITMETER" span one
	known peak_pss_bytes
	holds "one look" '.source.pss_readings == 1'
	meter --pss -i 0 -- "$WORK/hold" touch=40
	holds "none" '.usage.peak_pss_bytes == null and .source.pss_readings == 0
		and (.source.notes | any(. == "pss: the run ended before it was looked at"))'
}

@test "pss: not asked for, nothing is read" {
	meter -- true
	holds "unknown" '.usage.peak_pss_bytes == null
		and (.source | .pss_readings == null and .pss_seconds == null and .pss_longest_seconds == null)
		and (.source.notes | map(select(startswith("pss"))) == [])'
}

@test "pss: without /proc it is null, and said" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
	unshare -m true 2>/dev/null || skip "elsewhere: no mounts of one's own"
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	[ "$SOURCE" != ptrace ] || skip "elsewhere: tracing needs /proc"
	unshare -m sh -ec 'mount -t tmpfs none /proc; exec "$@"' sh "$EXITMETER" --source="$SOURCE" \
		--pss --json sum.json -- true 2>err
	holds "null" '.usage.peak_pss_bytes == null and (.source.notes | any(startswith("pss: ")))'
	grep "^exitmeter: pss: " err
}

@test "pss: attached" {
	mkfifo told go
	"$WORK/chain" tell=told wait=go 10 20 30 >out &
	METER_PID=$!
	read -r _ <told
	"$EXITMETER" -q --source="$SOURCE" --pss --duration 0.7 --json sum.json -p "$METER_PID"
	echo x >go
	wait "$METER_PID"
	METER_PID=
	within pss "$(summary .usage.peak_pss_bytes)" $((60 * MIB)) $((66 * MIB))
}
