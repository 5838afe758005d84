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

# ---- a cgroup of the command's own ---------------------------------------------------------

# own_folder: where a run's cgroup is made, in OWN
own_folder() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
	if grep -q ':memory:' /proc/self/cgroup; then
		OWN=$(findmnt -n -o TARGET,OPTIONS -t cgroup | awk '$2 ~ /(^|,)memory(,|$)/ { print $1; exit }')$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	else
		OWN=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)$(sed -n 's/^0:://p' /proc/self/cgroup)
	fi
	mkdir "$OWN/exitmeter-test-$$" 2>/dev/null || skip "elsewhere: cgroups cannot be made here"
	if [ ! -e "$OWN/exitmeter-test-$$/memory.max" ] && [ ! -e "$OWN/exitmeter-test-$$/memory.limit_in_bytes" ]; then
		rmdir "$OWN/exitmeter-test-$$"
		skip "elsewhere: no memory controller where this runs"
	fi
	rmdir "$OWN/exitmeter-test-$$"
}

# left_of PID: the cgroup that the exitmeter of that pid made
left_of() {
	echo "$OWN/exitmeter-run-$1-0"
}

@test "cgroup: L-51, L-52: of a chain of forks of 10, 20 and 30 MiB the peak is 60 to 66 MiB" {
	own_folder
	meter --cgroup -- "$WORK/chain" 10 20 30
	same status "$status" 0
	within cgroup "$(summary .usage.cgroup_peak_bytes)" $((60 * MIB)) $((66 * MIB))
	sums_are $((100 * MIB)) 3
	holds "no kill" '.run.oom_killed == false and (.source.notes | map(select(startswith("cgroup"))) == [])'
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
	"$EXITMETER" report run.journal >text 2>&1
	grep "in the cgroup, page cache and kernel memory included" text
}

@test "cgroup: page cache is in it, and exitmeter is not" {
	own_folder
	# shellcheck disable=SC2016
	meter --cgroup -- sh -c 'cat /proc/self/cgroup; echo $PPID; grep . "/proc/$PPID/cgroup"; dd if=/dev/zero of=big bs=1M count=40 2>dd'
	grep ':/.*/exitmeter-run-[0-9]*-0$\|:/exitmeter-run-[0-9]*-0$' out
	same "lines with it" "$(grep -c exitmeter-run- out)" 1
	holds "the cache" ".usage.cgroup_peak_bytes >= 40 * $MIB"
	[ ! -e "$(left_of "$(grep '^[0-9]*$' out)")" ]
}

@test "cgroup: what goes on after the command is where it would have been" {
	own_folder
	# shellcheck disable=SC2016
	meter --cgroup -- sh -c 'sleep 60 >/dev/null 2>&1 & echo $! $PPID'
	[ ! -e "$(left_of "$(cut -d' ' -f2 out)")" ]
	cmp "/proc/$(cut -d' ' -f1 out)/cgroup" /proc/self/cgroup
	kill "$(cut -d' ' -f1 out)"
}

@test "cgroup: what a killed exitmeter left the next one removes, once it is empty" {
	local left pid meter
	own_folder
	mkfifo told go
	"$EXITMETER" -q --source="$SOURCE" --cgroup -- "$WORK/hold" tell=told wait=go &
	meter=$!
	read -r pid <told
	left=$(left_of "$meter")
	grep -x "$pid" "$left/cgroup.procs"
	kill -KILL "$meter"
	wait "$meter" || true
	meter_raw --cgroup -- true
	# somebody is in it
	grep -x "$pid" "$left/cgroup.procs"
	echo x >go
	until_true 10 [ ! -e "/proc/$pid" ]
	meter --cgroup -- true
	[ ! -e "$left" ]
}

@test "cgroup: who was killed for want of memory is said with the kernel's evidence" {
	local limited limit
	own_folder
	limited=$OWN/exitmeter-test-$$
	mkdir "$limited"
	limit=$limited/memory.limit_in_bytes
	[ -e "$limit" ] || limit=$limited/memory.max
	echo $((400 * MIB)) >"$limit"
	status=0
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$limited" "$EXITMETER" --source="$SOURCE" \
		--cgroup --json sum.json -- "$WORK/hold" populate=800 2>err || status=$?
	cat err
	until_true 10 rmdir "$limited"
	same status "$status" 137
	holds "said" '.run.oom_killed == true and (.source.notes
		| any(. == "cgroup: processes of it that the OOM killer ended: 1"))'
	within peak "$(summary .usage.cgroup_peak_bytes)" $((100 * MIB)) $((400 * MIB))
	# one killed by somebody else is none
	# shellcheck disable=SC2016
	meter --cgroup -- sh -c 'kill -KILL $$'
	holds "no evidence" '.run.oom_killed == false'
}

@test "cgroup: not to be had, it is null with the reason" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
	chmod 711 . && mkdir -m 777 open && chmod 755 "$BATS_TEST_TMPDIR"
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$EXITMETER" --source=proc --cgroup --json - -- \
		sh -c 'exit 4' >sum.json 2>err || status=$?
	[ "$status" -eq 4 ] || skip "elsewhere: another user may not come here: $(cat err)"
	holds "null" '.usage.cgroup_peak_bytes == null and (.source.notes | any(startswith("cgroup: ")))'
	grep "^exitmeter: cgroup: " err
	meter -- true
	holds "not asked for" '.usage.cgroup_peak_bytes == null and (.source.notes | map(select(startswith("cgroup"))) == [])'
}

@test "cgroup: attaching makes none" {
	run -125 "$EXITMETER" --cgroup -p $$
	same "messages" "$output" "exitmeter: --cgroup is for a command only"
}
